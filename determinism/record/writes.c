/* The observer of determinism/record/writes.h.
 *
 * The emulator calls an observer before it executes an access. So the observer keeps a copy of the watched bytes and
 * applies the stores and atomics of the lanes to that copy, one lane after another. The copy extends to multiples of 16
 * bytes, so that it holds the whole element of any atomic. A store that the order buffers is kept in a list, by lane,
 * until the order drains it. At the end of a launch the copy is compared with memory (writes_missed()). */
#include "determinism/record/writes.h"

#include "emu/atomic.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum {
    COPY_ALIGN = 16, /* bytes that the copy's ends are multiples of */
    /* More than these: the oldest are forgotten. An order may drop a store that is overwritten. */
    MOST_BUFFERED = 1 << 16,
};

const char *const write_kind_names[] = {"store", "atomic", "reduction", "copy", "between launches"};

struct watched_range {
    uint64_t address, count;
    uint32_t width;
    uint64_t from, size; /* of the copy */
    uint8_t *copy;
    bool read; /* the copy holds what memory did */
};

struct buffered_write { /* one lane's write in the order's store buffer */
    struct emu_issuer by;
    uint32_t lane;
    uint8_t kind; /* enum write_kind */
    uint64_t address;
    uint32_t size;
    uint64_t left; /* which of its bytes were not shown yet */
    uint8_t data[64];
};

struct writes {
    struct emu_observer observer;
    void (*report)(void *self, const struct write *);
    void *self;
    struct emu_machine *m; /* of the launch that runs */
    struct running {
        struct emu_machine *m;
        uint64_t launch;
    } outer[EMU_MOST_NESTED]; /* launches that stand still, as CTAs of theirs wait for grids */
    size_t depth;
    struct watched_range *places;
    size_t count, cap;
    uint64_t bytes, launch, launches, missed; /* launch: the number of the one that runs */
    uint64_t low, high;                       /* all places lie in here */
    struct buffered_write *buffered;          /* by age */
    size_t buffered_count, buffered_cap;
    struct emu_issuer last_issuer; /* of the access that was added last, */
    uint64_t last_address;         /* its first lane's address */
};

static const char *op_name(unsigned op)
{
    static const char *const names[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = "add", [ATOMIC_ADD_FTZ] = "add", [ATOMIC_MIN] = "min", [ATOMIC_MAX] = "max",
        [ATOMIC_INC] = "inc", [ATOMIC_DEC] = "dec",     [ATOMIC_AND] = "and", [ATOMIC_OR] = "or",
        [ATOMIC_XOR] = "xor", [ATOMIC_EXCH] = "exch",   [ATOMIC_CAS] = "cas",
    };
    return op < ATOMIC_COUNT ? names[op] : "?";
}

static bool touches(const struct writes *w, uint64_t address, uint32_t size)
{
    return address < w->high && address + size > w->low;
}

/* ---- one write ------------------------------------------------------------------------------- */

struct by { /* who and how */
    struct emu_issuer issuer;
    uint32_t lane; /* UINT32_MAX: nobody knows */
    enum write_kind kind;
    const char *op;
};

static void report_element(struct writes *w, const struct watched_range *p, uint64_t element,
                           const uint8_t *before, const struct by *by)
{
    const uint64_t address = p->address + element * p->width;
    struct write x = {.place = (size_t)(p - w->places),
                      .element = element,
                      .address = address,
                      .width = p->width,
                      .before = before,
                      .after = p->copy + (address - p->from),
                      .kind = by->kind,
                      .op = by->op,
                      .kernel = emu_machine_kernel(w->m),
                      .launch = w->launch};
    if (by->kind != WRITE_BY_HOST) {
        x.thread_known = by->lane != UINT32_MAX;
        x.warp = by->issuer.warp;
        x.where = emu_machine_location(w->m, by->issuer.pc);
        emu_machine_thread(w->m, by->issuer.cta, x.warp * 32 + (x.thread_known ? by->lane : 0),
                           x.cta, x.thread);
    }
    w->report(w->self, &x);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The bytes change to `data` in the copy of one place, element by element. */
static void put(struct writes *w, struct watched_range *p, uint64_t address, const uint8_t *data,
                uint64_t size, const struct by *by)
{
    const uint64_t end = p->address + p->count * p->width, edge = p->from + p->size;
    for (uint64_t n; size && address < edge; address += n, data += n, size -= n) {
        uint8_t *at = p->copy + (address - p->from), before[WRITES_MOST_WIDTH];
        if (address < p->from) {
            n = least(size, p->from - address);
        } else if (address < p->address || address >= end) { /* beside what is watched */
            n = least(size, (address < end ? p->address : edge) - address);
            memcpy(at, data, n);
        } else {
            const uint64_t inside = (address - p->address) % p->width;
            n = least(size, p->width - inside);
            memcpy(before, at - inside, p->width);
            memcpy(at, data, n);
            report_element(w, p, (address - p->address) / p->width, before, by);
        }
    }
}

static void store(struct writes *w, uint64_t address, const uint8_t *data, uint32_t size,
                  const struct by *by)
{
    for (size_t i = 0; i < w->count; i++) {
        struct watched_range *p = &w->places[i];
        if (address < p->from + p->size && address + size > p->from)
            put(w, p, address, data, size, by);
    }
}

/* An atomic of one element, which lies in the copy of any place that it touches. */
static void reduce(struct writes *w, uint64_t address, uint32_t width, unsigned op, unsigned type,
                   const uint8_t *operand, const struct by *by)
{
    const bool cas = op == ATOMIC_CAS;
    for (size_t i = 0; i < w->count; i++) {
        struct watched_range *p = &w->places[i];
        if (address < p->from || address + width > p->from + p->size) continue;
        uint8_t now[16];
        memcpy(now, p->copy + (address - p->from), width);
        if (cas && memcmp(now, operand, width) != 0) continue;
        atomic_apply(op, type, now, cas ? operand + 32 : operand, cas ? operand : NULL, NULL);
        put(w, p, address, now, width, by);
    }
}

/* ---- buffered writes ------------------------------------------------------------------------- */

static bool same_issuer(const struct emu_issuer *a, const struct emu_issuer *b)
{
    return a->cta == b->cta && a->warp == b->warp && a->pc == b->pc && a->serial == b->serial;
}

static void drop_buffered(struct writes *w, size_t i)
{
    memmove(&w->buffered[i], &w->buffered[i + 1], (--w->buffered_count - i) * sizeof *w->buffered);
}

static uint8_t kind_of(const struct emu_access *a)
{
    return a->flags & EMU_ASYNC && a->kind == EMU_STORE ? WRITE_COPY
           : a->kind == EMU_STORE                       ? WRITE_STORE
           : a->kind == EMU_RED                         ? WRITE_RED
                                                        : WRITE_ATOMIC;
}

static void buffer_write(struct writes *w, const struct emu_access *a)
{
    const uint32_t size = (uint32_t)a->width * a->count;
    const struct emu_issuer by = emu_issuer(a);
    const uint64_t at = a->address[__builtin_ctz(a->lanes)];
    if (same_issuer(&by, &w->last_issuer) && at == w->last_address) return;
    w->last_issuer = by;
    w->last_address = at;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        if (!touches(w, a->address[l], size)) continue;
        if (w->buffered_count == MOST_BUFFERED) drop_buffered(w, 0);
        if (w->buffered_count == w->buffered_cap) {
            w->buffered_cap = w->buffered_cap ? 2 * w->buffered_cap : 64;
            w->buffered = realloc(w->buffered, w->buffered_cap * sizeof *w->buffered);
            if (!w->buffered) abort();
        }
        struct buffered_write *n = &w->buffered[w->buffered_count++];
        *n = (struct buffered_write){.by = by,
                                     .lane = l,
                                     .kind = kind_of(a),
                                     .address = a->address[l],
                                     .size = size,
                                     .left = size == 64 ? ~UINT64_C(0) : (UINT64_C(1) << size) - 1};
        memcpy(n->data, a->data + a->stride * l,
               a->op == ATOMIC_CAS && a->kind != EMU_STORE ? 64 : size);
    }
}

/* The buffered write of these bytes, preferably one whose data are the same. Marks the bytes as
 * drained. */
static bool find_buffered(struct writes *w, const struct emu_issuer *by, uint64_t address,
                          const uint8_t *data, uint32_t size, struct by *out)
{
    size_t best = w->buffered_count;
    for (size_t i = 0; i < w->buffered_count; i++) {
        const struct buffered_write *n = &w->buffered[i];
        if (!same_issuer(&n->by, by) || n->address > address ||
            address + size > n->address + n->size || !(n->left >> (address - n->address) & 1))
            continue;
        if (best == w->buffered_count) best = i;
        if (memcmp(n->data + (address - n->address), data, size) != 0) continue;
        best = i;
        break;
    }
    if (best == w->buffered_count) return false;
    struct buffered_write *n = &w->buffered[best];
    out->lane = n->lane;
    out->kind = (enum write_kind)n->kind;
    for (uint32_t b = 0; b < size; b++) n->left &= ~(UINT64_C(1) << (address - n->address + b));
    if (!n->left) drop_buffered(w, best);
    return true;
}

static void drained(void *self, const struct emu_drained *s)
{
    struct writes *w = self;
    if (!touches(w, s->address, s->size)) return;
    if (s->now && s->now->kind != EMU_LOAD) {
        const struct emu_issuer by = emu_issuer(s->now);
        if (same_issuer(&by, &s->by)) buffer_write(w, s->now);
    }
    struct by by = {.issuer = s->by, .lane = s->by.lane - 1u};
    if (s->reduces) {
        by.op = op_name(s->op);
        by.kind = s->by.kind == EMU_ATOMIC ? WRITE_ATOMIC : WRITE_RED;
        if (!s->by.lane) find_buffered(w, &s->by, s->address, s->data, s->size, &by);
        reduce(w, s->address, s->size, s->op, s->type, s->data, &by);
        return;
    }
    for (uint32_t o = 0, n; o < s->size; o += n) { /* bytes of several lanes may be shown at once */
        by.lane = UINT32_MAX;
        by.kind = WRITE_STORE;
        for (n = s->size - o; n; n--)
            if (find_buffered(w, &s->by, s->address + o, s->data + o, n, &by)) break;
        if (!n) n = s->size - o;
        store(w, s->address + o, s->data + o, n, &by);
    }
}

/* ---- accesses -------------------------------------------------------------------------------- */

static void writes_on_access(void *self, const struct emu_access *a)
{
    struct writes *w = self;
    const uint32_t size = (uint32_t)a->width * a->count;
    if (a->kind == EMU_LOAD || a->space != PTX_SPACE_GLOBAL) return;
    bool any = false;
    for (uint32_t m = a->lanes; m && !any; m &= m - 1)
        any = touches(w, a->address[__builtin_ctz(m)], size);
    if (!any) return;
    if (a->buffered) {
        buffer_write(w, a);
        return;
    }
    struct by by = {.issuer = emu_issuer(a), .kind = (enum write_kind)kind_of(a)};
    if (a->kind != EMU_STORE) by.op = op_name(a->op);
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        by.lane = (uint32_t)__builtin_ctz(m);
        const uint64_t at = a->address[by.lane];
        const uint8_t *data = a->data + a->stride * by.lane;
        if (!touches(w, at, size)) continue;
        if (a->kind == EMU_STORE) store(w, at, data, size, &by);
        else
            for (uint32_t e = 0; e < a->count; e++)
                reduce(w, at + e * a->width, a->width, a->op, a->type, data + e * a->width, &by);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Memory as it is; zeros where there is none. */
static void read_memory(const struct writes *w, uint64_t address, uint8_t *to, uint64_t size)
{
    const uint64_t half = size / 2;
    if (emu_machine_load(w->m, address, to, size) || !half) return;
    read_memory(w, address, to, half);
    read_memory(w, address + half, to + half, size - half);
}

static void compare(struct writes *w, struct watched_range *p, bool report)
{
    uint8_t *now = malloc(p->size);
    if (!now) abort();
    read_memory(w, p->from, now, p->size);
    for (uint64_t e = 0; p->read && e < p->count; e++) {
        const uint64_t o = p->address + e * p->width - p->from;
        uint8_t before[WRITES_MOST_WIDTH];
        if (memcmp(p->copy + o, now + o, p->width) == 0) continue;
        memcpy(before, p->copy + o, p->width);
        memcpy(p->copy + o, now + o, p->width);
        if (report) report_element(w, p, e, before, &(struct by){.kind = WRITE_BY_HOST});
        else w->missed++;
    }
    memcpy(p->copy, now, p->size);
    p->read = true;
    free(now);
}

static void writes_on_begin(void *self, struct emu_machine *m)
{
    struct writes *w = self;
    w->m = m;
    w->launch = ++w->launches;
    w->buffered_count = 0;
    w->last_issuer = (struct emu_issuer){.serial = UINT64_MAX};
    for (size_t i = 0; i < w->count; i++) compare(w, &w->places[i], true);
}

static void writes_on_end(void *self)
{
    struct writes *w = self;
    for (size_t i = 0; i < w->count; i++) compare(w, &w->places[i], false);
}

/* It observes them itself. What the launch that stands still has written is in memory. */
static const struct emu_observer *writes_on_nested(void *self)
{
    struct writes *w = self;
    if (w->depth == EMU_MOST_NESTED) abort();
    w->outer[w->depth++] = (struct running){w->m, w->launch};
    return &w->observer;
}

static void writes_on_resumed(void *self)
{
    struct writes *w = self;
    w->m = w->outer[--w->depth].m;
    w->launch = w->outer[w->depth].launch;
    w->last_issuer = (struct emu_issuer){.serial = UINT64_MAX};
    for (size_t i = 0; i < w->count; i++) compare(w, &w->places[i], true); /* copies and fills */
}

struct writes *writes_new(void (*report)(void *self, const struct write *), void *self)
{
    struct writes *w = calloc(1, sizeof *w);
    if (!w) abort();
    w->report = report;
    w->self = self;
    w->low = UINT64_MAX;
    w->observer = (struct emu_observer){.self = w,
                                        .nested = writes_on_nested,
                                        .resumed = writes_on_resumed,
                                        .begin = writes_on_begin,
                                        .access = writes_on_access,
                                        .drained = drained,
                                        .end = writes_on_end};
    return w;
}

void writes_free(struct writes *w)
{
    if (!w) return;
    for (size_t i = 0; i < w->count; i++) free(w->places[i].copy);
    free(w->places);
    free(w->buffered);
    free(w);
}

bool writes_add(struct writes *w, uint64_t address, uint32_t width, uint64_t count)
{
    const uint64_t most = WRITES_MOST_BYTES - w->bytes;
    if (!count || !width || width > WRITES_MOST_WIDTH || count > most / width) return false;
    if (address >= UINT64_MAX - 2 * (uint64_t)WRITES_MOST_BYTES) return false;
    if (w->count == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 8;
        w->places = realloc(w->places, w->cap * sizeof *w->places);
        if (!w->places) abort();
    }
    struct watched_range *p = &w->places[w->count++];
    *p = (struct watched_range){.address = address, .count = count, .width = width};
    p->from = address / COPY_ALIGN * COPY_ALIGN;
    p->size = (address + count * width + COPY_ALIGN - 1) / COPY_ALIGN * COPY_ALIGN - p->from;
    p->copy = calloc(1, p->size);
    if (!p->copy) abort();
    w->bytes += count * width;
    if (p->from < w->low) w->low = p->from;
    if (p->from + p->size > w->high) w->high = p->from + p->size;
    return true;
}

void writes_end(struct writes *w, size_t place)
{
    struct watched_range *p = &w->places[place];
    w->bytes -= p->count * p->width;
    free(p->copy);
    *p = (struct watched_range){.address = p->address, .width = p->width, .from = p->from};
}

size_t writes_places(const struct writes *w)
{
    return w->count;
}

const struct emu_observer *writes_observer(struct writes *w)
{
    return &w->observer;
}

uint64_t writes_missed(const struct writes *w)
{
    return w->missed;
}
