/* Each access of global memory as records of a file (access_trace.h). */
#define _POSIX_C_SOURCE 200809L
#include "determinism/record/access_trace.h"

#include "determinism/record/accelsim_trace.h"
#include "determinism/record/event_trace.h"
#include "emu/atomic.h"
#include "emu/machine_code.h"
#include "emu/order.h"
#include "emu/trace_events.h"
#include "ptx/ptx.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const access_trace_format_names[] = {"memtrace1", "memtrace3", "accelsim", "hdt"};
const char *const access_trace_space_names[] = {"global", "shared", "local"};
const struct access_trace_filter access_trace_all = {.launch = {0, UINT32_MAX},
                                                     .cta = {0, UINT32_MAX}};

enum {
    RECORD_BYTES = 24,
    MARK_KERNEL = 0x00, /* marks of version 3 */
    MARK_RUN = 0xfe,
    MARK_RECORD = 0xff,
    FILE_BUFFER = 1 << 20
};
static const uint8_t v3_head[] = {0x1a, 'C', 'U', 'D', 'A', 'T', 'R', 'A', 'C', 'E'};

struct trace_record {
    uint64_t address;
    uint32_t sm, x, size;
    uint16_t y, z;
    uint8_t kind;
};

struct stream_file {
    uint32_t stream;
    char *path;
    FILE *file; /* NULL: it could not be opened */
    bool begun; /* it has a launch */
    struct stream_file *next;
};

struct access_trace {
    struct emu_observer observer;
    char *path;
    enum access_trace_format format;
    struct access_trace_filter filter;
    struct accelsim_trace *accelsim; /* of that format; then all else is unused */
    struct event_trace *events;      /* likewise, of "hdt" */
    uint32_t launches;               /* that have begun */
    uint32_t stream;
    struct stream_file *files, *now;
    struct recorded { /* a launch */
        const char *kernel;
        uint32_t grid[3];
        bool off; /* it is not recorded */
    } l,
        outer
            [EMU_MOST_NESTED]; /* outer: launches that stand still, as CTAs of theirs wait for grids */
    size_t depth;
    /* The CTA of the last access: its index and SM. */
    uint32_t cta, cta_index[3];
    bool cta_known;
    /* Of version 3: `run` records with adjacent addresses that begin with `first`. 0: none. */
    struct trace_record first;
    uint32_t run;
    char *wrong; /* the first error; NULL: none */
};

/* ---- bytes --------------------------------------------------------------------------------------- */

static void put_u64(uint8_t *to, uint64_t value)
{
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static void put_u16(uint8_t *to, uint32_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static void fail(struct access_trace *t, const char *path, int error)
{
    if (t->wrong) return;
    const char *why = strerror(error);
    const size_t size = strlen(path) + strlen(why) + 8;
    t->wrong = malloc(size);
    if (!t->wrong) abort();
    (void)snprintf(t->wrong, size, "'%s': %s", path, why);
}

static void write_bytes(struct access_trace *t, const void *bytes, size_t size)
{
    FILE *const f = t->now ? t->now->file : NULL;
    if (f && !t->wrong && fwrite(bytes, 1, size, f) != size) fail(t, t->now->path, errno);
}

/* The three words of figure 5.2. */
static void words_of(const struct trace_record *r, uint64_t *sm, uint64_t *address, uint64_t *cta)
{
    *sm = (uint64_t)r->sm << 32 | (uint64_t)r->kind << 28 | (r->size & 0xfffffff);
    *address = r->address;
    *cta = (uint64_t)r->x << 32 | (uint64_t)r->y << 16 | r->z;
}

static void write_run(struct access_trace *t)
{
    uint8_t bytes[1 + RECORD_BYTES + 2];
    uint64_t sm, address, cta;
    if (!t->run) return;
    words_of(&t->first, &sm, &address, &cta);
    bytes[0] = t->run == 1 ? MARK_RECORD : MARK_RUN;
    put_u64(bytes + 1, sm);
    put_u64(bytes + 9, address);
    put_u64(bytes + 17, cta);
    put_u16(bytes + 25, t->run);
    write_bytes(t, bytes, t->run == 1 ? 1 + RECORD_BYTES : sizeof bytes);
    t->run = 0;
}

/* `count` records from *r on, with adjacent addresses. */
static void add_v3(struct access_trace *t, const struct trace_record *r, uint32_t count)
{
    const struct trace_record *f = &t->first;
    if (t->run && t->run + count <= UINT16_MAX &&
        r->address == f->address + (uint64_t)f->size * t->run && r->kind == f->kind &&
        r->size == f->size && r->x == f->x && r->y == f->y && r->z == f->z && r->sm == f->sm) {
        t->run += count;
        return;
    }
    write_run(t);
    t->first = *r;
    t->run = count;
}

/* "Stored in LSB order" (section 5.1.2): the least significant of the 192 bits first. */
static void add_thesis(struct access_trace *t, const struct trace_record *r)
{
    uint8_t bytes[RECORD_BYTES];
    uint64_t sm, address, cta;
    words_of(r, &sm, &address, &cta);
    put_u64(bytes, cta);
    put_u64(bytes + 8, address);
    put_u64(bytes + 16, sm);
    write_bytes(t, bytes, sizeof bytes);
}

/* ---- files --------------------------------------------------------------------------------------- */

static char *path_of(const struct access_trace *t)
{
    const size_t size = strlen(t->path) + 16;
    char *path = malloc(size);
    if (!path) abort();
    const char *name = strrchr(t->path, '/'), *dot = strrchr(name ? name : t->path, '.');
    const size_t stem = dot && dot != t->path ? (size_t)(dot - t->path) : strlen(t->path);
    if (!t->stream) (void)snprintf(path, size, "%s", t->path);
    else (void)snprintf(path, size, "%.*s-%u%s", (int)stem, t->path, t->stream, t->path + stem);
    return path;
}

static struct stream_file *file_of_stream(struct access_trace *t)
{
    struct stream_file *f = t->files;
    while (f && f->stream != t->stream) f = f->next;
    if (f) return f;
    f = calloc(1, sizeof *f);
    if (!f) abort();
    *f = (struct stream_file){.stream = t->stream, .path = path_of(t), .next = t->files};
    t->files = f;
    f->file = fopen(f->path, "wbe");
    if (!f->file) fail(t, f->path, errno);
    else (void)setvbuf(f->file, NULL, _IOFBF, FILE_BUFFER);
    return f;
}

static void write_head(struct access_trace *t, const char *kernel)
{
    const size_t length = strlen(kernel) < UINT16_MAX ? strlen(kernel) : UINT16_MAX;
    const bool first = !t->now->begun;
    t->now->begun = true;
    if (t->format == ACCESS_TRACE_THESIS) {
        static const uint8_t head[] = {RECORD_BYTES, '\n'};
        if (first) write_bytes(t, head, sizeof head);
        write_bytes(t, kernel, length);
        write_bytes(t, "\n", 1);
        return;
    }
    uint8_t bytes[3] = {MARK_KERNEL};
    if (first) write_bytes(t, v3_head, sizeof v3_head);
    put_u16(bytes + 1, (uint32_t)length);
    write_bytes(t, bytes, sizeof bytes);
    write_bytes(t, kernel, length);
}

/* ---- the observer -------------------------------------------------------------------------------- */

/* Table 5.1 of the thesis. PTX has no subtraction (4): compilers add the negative. Version 3 has one kind for all. */
static uint8_t kind_of(const struct access_trace *t, const struct emu_access *a)
{
    static const uint8_t kinds[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = 3,  [ATOMIC_ADD_FTZ] = 3, [ATOMIC_EXCH] = 5, [ATOMIC_MIN] = 6,
        [ATOMIC_MAX] = 7,  [ATOMIC_INC] = 8,     [ATOMIC_DEC] = 9,  [ATOMIC_CAS] = 10,
        [ATOMIC_AND] = 11, [ATOMIC_OR] = 12,     [ATOMIC_XOR] = 13};
    const bool thesis = t->format == ACCESS_TRACE_THESIS;
    if (a->kind <= EMU_STORE) return (uint8_t)(thesis + (a->kind == EMU_STORE));
    return thesis ? kinds[a->op] : 2;
}

static void access_trace_on_access(void *self, const struct emu_access *a)
{
    static const uint8_t spaces[] = {PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_LOCAL};
    struct access_trace *t = self;
    if (t->l.off || a->space != spaces[t->filter.space] || a->retry) return;
    if (a->who->cta < t->filter.cta[0] || a->who->cta > t->filter.cta[1]) return;
    if (!t->cta_known || t->cta != a->who->cta) {
        t->cta = a->who->cta;
        t->cta_index[0] = t->cta % t->l.grid[0];
        t->cta_index[1] = t->cta / t->l.grid[0] % t->l.grid[1];
        t->cta_index[2] = t->cta / t->l.grid[0] / t->l.grid[1];
        t->cta_known = true;
    }
    struct trace_record r = {.sm = a->who->sm,
                             .x = t->cta_index[0],
                             .y = (uint16_t)t->cta_index[1],
                             .z = (uint16_t)t->cta_index[2],
                             .size = (uint32_t)a->width * a->count,
                             .kind = kind_of(t, a)};
    if (a->contiguous && t->format == ACCESS_TRACE_V3) {
        r.address = a->address[0];
        add_v3(t, &r, 32);
        return;
    }
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        r.address = a->contiguous ? a->address[0] + (uint64_t)lane * r.size : a->address[lane];
        if (t->format == ACCESS_TRACE_THESIS) add_thesis(t, &r);
        else add_v3(t, &r, 1);
    }
}

static void begin_launch(struct access_trace *t, uint32_t number, const char *kernel,
                         const uint32_t grid[3])
{
    memcpy(t->l.grid, grid, sizeof t->l.grid);
    t->l.kernel = kernel;
    t->cta_known = false;
    t->l.off = number < t->filter.launch[0] || number > t->filter.launch[1];
    if (t->l.off) return;
    t->now = file_of_stream(t);
    write_head(t, kernel);
}

static void access_trace_on_begin(void *self, struct emu_machine *m)
{
    struct access_trace *t = self;
    begin_launch(t, t->launches++, emu_machine_kernel(m), emu_machine_size(m).grid);
}

void access_trace_launch(struct access_trace *t, const struct trace_launch *l)
{
    access_trace_stream(t, l->stream);
    if (t->accelsim) accelsim_trace_launch(t->accelsim, l);
    else begin_launch(t, l->number, l->kernel, l->grid);
}

static void access_trace_on_end(void *self)
{
    static const uint8_t end_of_trace[RECORD_BYTES];
    struct access_trace *t = self;
    if (t->l.off) return;
    write_run(t);
    if (t->format == ACCESS_TRACE_THESIS) write_bytes(t, end_of_trace, sizeof end_of_trace);
}

/* The formats have one kernel after the other. So the part of a kernel in front of a wait, the grids that it waits for, and the part
 * behind the wait are one after the other, and the kernel's name stands in front of both parts. */
static const struct emu_observer *access_trace_on_nested(void *self)
{
    struct access_trace *t = self;
    if (t->depth == EMU_MOST_NESTED) abort();
    access_trace_on_end(t);
    t->outer[t->depth++] = t->l;
    return &t->observer;
}

static void access_trace_on_resumed(void *self)
{
    struct access_trace *t = self;
    t->l = t->outer[--t->depth];
    t->cta_known = false;
    if (!t->l.off) write_head(t, t->l.kernel);
}

/* ---- life ---------------------------------------------------------------------------------------- */

struct access_trace *access_trace_new(const char *path, enum access_trace_format format,
                                      const struct access_trace_filter *filter)
{
    struct access_trace *t = calloc(1, sizeof *t);
    if (!t) abort();
    t->path = strdup(path);
    if (!t->path) abort();
    t->format = format;
    t->filter = *filter;
    if (format == ACCESS_TRACE_ACCELSIM)
        t->accelsim = accelsim_trace_new(path, filter->launch[0], filter->launch[1]);
    if (format == ACCESS_TRACE_EVENTS)
        t->events = event_trace_new(path, filter->launch[0], filter->launch[1]);
    t->observer = (struct emu_observer){.self = t,
                                        .ignores_data = true,
                                        .nested = access_trace_on_nested,
                                        .resumed = access_trace_on_resumed,
                                        .begin = access_trace_on_begin,
                                        .access = access_trace_on_access,
                                        .end = access_trace_on_end};
    return t;
}

void access_trace_stream(struct access_trace *t, uint32_t stream)
{
    t->stream = stream;
    if (t->accelsim) accelsim_trace_stream(t->accelsim, stream);
    if (t->events) event_trace_stream(t->events, stream);
}

const struct emu_observer *access_trace_observer(struct access_trace *t)
{
    if (t->events) return event_trace_observer(t->events);
    return t->accelsim ? accelsim_trace_observer(t->accelsim) : &t->observer;
}

const char *access_trace_end(struct access_trace *t)
{
    static _Thread_local char text[4096];
    for (struct stream_file *f; (f = t->files);) {
        t->files = f->next;
        if (f->file && fclose(f->file) != 0) fail(t, f->path, errno);
        free(f->path);
        free(f);
    }
    if (t->accelsim) t->wrong = accelsim_trace_end(t->accelsim);
    if (t->events) t->wrong = event_trace_end(t->events);
    const bool wrong = t->wrong;
    if (wrong) (void)snprintf(text, sizeof text, "%s", t->wrong);
    free(t->wrong);
    free(t->path);
    free(t);
    return wrong ? text : NULL;
}
