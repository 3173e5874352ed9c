#define _GNU_SOURCE /* memfd_create */
#include "session/event_stream.h"

#include "base/buf.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x746e657665646568) /* "hedevent" */
enum { VERSION = 9 };                      /* to be changed with struct head and struct event */

struct head { /* at the file's beginning, mapped by each process */
    uint64_t magic;
    uint32_t version, sizes; /* sizes: sizes_digest() */
    uint32_t wanted;         /* enum events_wanted */
    uint64_t attachment;     /* where it begins; 0: there is none */
    struct event_totals totals;
};

struct event_stream {
    int file;
    struct head *head;
};

/* ---- how events are written ------------------------------------------------------------------ */

/* Behind each event's structure are its texts: a length of 32 bits, which counts the NUL, 0 for
 * NULL, and the bytes. */
enum { MOST_TEXTS = 6 };
static const struct layout {
    size_t size;                     /* of the structure */
    size_t count, texts[MOST_TEXTS]; /* where in struct event there are pointers to texts */
} layouts[EVENT_KINDS] = {
#define AT(field) offsetof(struct event, field)
    [EVENT_LAUNCH] = {sizeof(struct launch_record),
                      3,
                      {AT(launch.kernel), AT(launch.source_file), AT(launch.fault_text)}},
    [EVENT_MESSAGE] = {sizeof(char *), 1, {AT(text)}},
    [EVENT_PROFILE_LINE] = {sizeof(struct emu_profile_line), 1, {AT(line.file)}},
    [EVENT_FIDELITY] = {sizeof(struct emu_fidelity_line),
                        3,
                        {AT(fidelity.name), AT(fidelity.text), AT(fidelity.result)}},
    [EVENT_LOCK] = {sizeof(struct lock_row),
                    4,
                    {AT(lock.kernel), AT(lock.allocation), AT(lock.function),
                     AT(lock.source_file)}},
    [EVENT_LOCK_INSTRUCTIONS] = {sizeof(uint64_t), 0, {0}},
    [EVENT_WRITE] = {sizeof(struct event_write),
                     6,
                     {AT(write.label), AT(write.type), AT(write.op), AT(write.kernel),
                      AT(write.function), AT(write.source_file)}},
    [EVENT_WRITES_LEFT_OUT] = {sizeof(uint64_t), 0, {0}},
    [EVENT_ESTIMATE] = {sizeof(struct launch_estimate), 0, {0}},
    [EVENT_LAUNCH_BEGIN] = {sizeof(char *), 1, {AT(text)}},
    [EVENT_FINDING] = {sizeof(struct event_finding),
                       4,
                       {AT(finding.kernel), AT(finding.found.source_file),
                        AT(finding.found.source_file2), AT(finding.found.text)}},
    [EVENT_DIGEST] = {sizeof(struct event_digest), 1, {AT(digest.kernel)}},
    [EVENT_END_DIGESTS] = {sizeof(struct event_end_digests), 0, {0}},
    [EVENT_STATUS] = {sizeof(uint64_t), 0, {0}},
    [EVENT_TASK] = {sizeof(struct event_task), 0, {0}},
    [EVENT_PLACE] = {sizeof(uint64_t), 0, {0}},
    [EVENT_TIMELINE] = {sizeof(struct event_timeline), 0, {0}},
    [EVENT_OPERATION] = {sizeof(struct event_operation), 0, {0}},
#undef AT
};
/* Of the sizes of all events' structures. */
static uint32_t sizes_digest(void)
{
    uint32_t digest = EVENT_KINDS;
    for (size_t i = 0; i < EVENT_KINDS; i++) digest = digest * 31 + (uint32_t)layouts[i].size;
    return digest;
}
enum { BODY = offsetof(struct event, count) }; /* of all members of the union */

struct frame {
    uint32_t kind, size; /* size: of all that follows */
};

static const char *text_at(const struct event *e, size_t at)
{
    const char *text;
    memcpy(&text, (const char *)e + at, sizeof text);
    return text;
}

static void set_text(struct event *e, size_t at, const char *text)
{
    memcpy((char *)e + at, &text, sizeof text);
}

void event_write(struct event_stream *s, const struct event *event)
{
    if (!s) return;
    const struct layout *layout = &layouts[event->kind];
    struct event e = *event;
    struct frame frame = {.kind = e.kind};
    struct buf b = {0};
    if (e.kind == EVENT_LAUNCH) { /* mean nothing to others */
        e.launch.findings = NULL;
        e.launch.counts = NULL;
    }
    buf_add(&b, (const char *)&frame, sizeof frame);
    buf_add(&b, (const char *)&e + BODY, layout->size);
    for (size_t i = 0; i < layout->count; i++) {
        const char *text = text_at(&e, layout->texts[i]);
        const uint32_t size = text ? (uint32_t)strlen(text) + 1 : 0;
        buf_add(&b, (const char *)&size, sizeof size);
        if (text) buf_add(&b, text, size);
    }
    frame.size = (uint32_t)(b.size - sizeof frame);
    memcpy(b.data, &frame, sizeof frame);
    for (size_t done = 0; done < b.size;) {
        const ssize_t n = write(s->file, b.data + done, b.size - done);
        if (n <= 0) break;
        done += (size_t)n;
    }
    buf_free(&b);
}

void event_write_fidelity(struct event_stream *s, struct emu_fidelity *f)
{
    size_t n;
    if (!f) return;
    const struct emu_fidelity_line all = emu_fidelity_all(f), *lines = emu_fidelity_lines(f, &n);
    event_write(s, &(struct event){.kind = EVENT_FIDELITY, .fidelity = all});
    for (size_t i = 0; i < n; i++)
        event_write(s, &(struct event){.kind = EVENT_FIDELITY, .fidelity = lines[i]});
}

/* Its pointers, from what stands behind its structure. */
static bool read_texts(struct event *e, const struct layout *layout, const char *at, size_t left)
{
    for (size_t i = 0; i < layout->count; i++) {
        uint32_t size;
        if (left < sizeof size) return false;
        memcpy(&size, at, sizeof size);
        at += sizeof size;
        left -= sizeof size;
        if (size > left || (size && at[size - 1])) return false;
        set_text(e, layout->texts[i], size ? at : NULL);
        at += size;
        left -= size;
    }
    return true;
}

bool event_next(struct event_reader *r, struct event *out)
{
    struct frame frame;
    if (r->left < sizeof frame) return false;
    memcpy(&frame, r->at, sizeof frame);
    if (frame.kind >= EVENT_KINDS || frame.size > r->left - sizeof frame) return false;
    const struct layout *layout = &layouts[frame.kind];
    const char *body = r->at + sizeof frame;
    if (frame.size < layout->size) return false;
    memset(out, 0, sizeof *out);
    out->kind = (enum event_kind)frame.kind;
    memcpy((char *)out + BODY, body, layout->size);
    if (!read_texts(out, layout, body + layout->size, frame.size - layout->size)) return false;
    r->at = body + frame.size;
    r->left -= sizeof frame + frame.size;
    return true;
}

/* ---- the stream ------------------------------------------------------------------------------ */

static struct event_stream *on_file(int file)
{
    struct head *head = mmap(NULL, sizeof *head, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (head == MAP_FAILED) return NULL;
    struct event_stream *s = calloc(1, sizeof *s);
    if (!s) abort();
    *s = (struct event_stream){file, head};
    return s;
}

struct event_stream *event_stream_new(void)
{
    const struct head head = {.magic = MAGIC, .version = VERSION, .sizes = sizes_digest()};
    const int file = memfd_create("heddle-events", MFD_CLOEXEC);
    struct event_stream *s = NULL;
    if (file >= 0 && write(file, &head, sizeof head) == (ssize_t)sizeof head) s = on_file(file);
    if (!s && file >= 0) (void)close(file);
    return s;
}

struct event_stream *event_stream_open(const char *number)
{
    struct head head;
    char *end;
    const long file = number && *number >= '0' && *number <= '9' ? strtol(number, &end, 10) : -1;
    if (file < 0 || file > INT_MAX || *end) return NULL;
    if (pread((int)file, &head, sizeof head, 0) != (ssize_t)sizeof head || head.magic != MAGIC ||
        head.version != VERSION || head.sizes != sizes_digest())
        return NULL;
    return on_file((int)file);
}

void event_stream_close(struct event_stream *s)
{
    if (!s) return;
    (void)munmap(s->head, sizeof *s->head);
    (void)close(s->file);
    free(s);
}

void event_stream_want(struct event_stream *s, unsigned wanted)
{
    s->head->wanted |= wanted;
}

bool event_stream_wants(const struct event_stream *s, unsigned wanted)
{
    return s && s->head->wanted & wanted;
}

bool event_stream_pass_on(const struct event_stream *s)
{
    char number[16];
    if (fcntl(s->file, F_SETFD, 0) != 0) return false;
    snprintf(number, sizeof number, "%d", s->file);
    return setenv(EVENT_STREAM_VARIABLE, number, 1) == 0;
}

struct event_reader event_reader_open(const struct event_stream *s, struct buf *bytes)
{
    return event_reader_continue(s, bytes, 0);
}

struct event_reader event_reader_continue(const struct event_stream *s, struct buf *bytes,
                                          uint64_t skip)
{
    char piece[1 << 16];
    const uint64_t end = s->head->attachment ? s->head->attachment : UINT64_MAX;
    uint64_t at = sizeof *s->head + skip;
    bytes->size = 0;
    while (at < end) {
        const size_t most = end - at < sizeof piece ? (size_t)(end - at) : sizeof piece;
        const ssize_t n = pread(s->file, piece, most, (off_t)at);
        if (n <= 0) break;
        buf_add(bytes, piece, (size_t)n);
        at += (uint64_t)n;
    }
    return (struct event_reader){bytes->data, bytes->size};
}

struct event_attachment event_stream_attach(struct event_stream *s)
{
    enum { PAGE = 4096 };
    const uint64_t end = (uint64_t)lseek(s->file, 0, SEEK_END);
    s->head->attachment = (end + PAGE - 1) / PAGE * PAGE;
    return (struct event_attachment){s->file, s->head->attachment};
}

bool event_stream_attachment(const struct event_stream *s, struct event_attachment *out)
{
    *out = (struct event_attachment){s->file, s->head->attachment};
    return s->head->attachment != 0;
}

struct event_totals *event_stream_totals(const struct event_stream *s)
{
    static struct event_totals nobodys;
    return s ? &s->head->totals : &nobodys;
}

/* Other processes of the stream add to the same totals. (clang-tidy does not see that *total is written.) */
static void add(uint64_t *total, uint64_t n) // NOLINT(readability-non-const-parameter)
{
    if (n) (void)__atomic_fetch_add(total, n, __ATOMIC_RELAXED);
}

void event_totals_add(struct event_totals *t, const struct launch_record *l)
{
    add(&t->launches, 1);
    add(&t->faults, l->fault != EMU_OK);
    add(&t->endless, launch_record_endless(l));
    add(&t->suppressed, l->suppressed);
    add(&t->warp_instructions, l->warp_instructions);
    add(&t->thread_instructions, l->thread_instructions);
    add(&t->nanoseconds, (uint64_t)(l->seconds * 1e9));
}

void event_totals_print(const struct event_totals *t, FILE *out)
{
    fprintf(out,
            "heddle: %llu launches, %llu warp instructions, %llu thread instructions, %.3f ms; "
            "%llu faults, %llu findings",
            (unsigned long long)t->launches, (unsigned long long)t->warp_instructions,
            (unsigned long long)t->thread_instructions, (double)t->nanoseconds / 1e6,
            (unsigned long long)t->faults, (unsigned long long)t->findings);
    if (t->suppressed) fprintf(out, ", %llu suppressed", (unsigned long long)t->suppressed);
    if (t->rejected) fprintf(out, ", %llu rejected modules", (unsigned long long)t->rejected);
    fprintf(out, "\n");
}
