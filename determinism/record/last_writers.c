/* Last writers of some words of global memory. When the order drains a store, it reports the store's issuer and
 * address; the lane and the type come from a hash table of buffered stores, in which later entries may replace earlier
 * ones. */
#include "determinism/record/last_writers.h"

#include "base/arena.h"
#include "emu/atomic.h"
#include "ptx/ptx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERED_SLOTS = 1 << 18, NEAR = 8, NO_THREAD = 255 };

struct mark { /* a write, as long as its launch runs */
    uint32_t cta, pc;
    uint8_t warp, lane, type, op;
    bool made, reduces;
};

struct buffered {
    uint64_t address, serial;
    uint32_t cta, warp, launch;
    uint8_t lane, type;
};

struct byte {
    struct mark mark;
    struct last_writer last;
};

struct last_writers {
    struct emu_observer observer;
    struct arena *arena;
    struct emu_machine *machine;
    uint64_t *words;
    size_t count;
    struct word_writes *sums;
    struct byte *bytes; /* of all words */
    struct buffered *buffered;
    uint32_t launches, launch; /* launch: the number of the one that runs */
    struct running {
        struct emu_machine *machine;
        uint32_t launch;
    } outer[EMU_MOST_NESTED]; /* launches that stand still, as CTAs of theirs wait for grids */
    size_t depth;
};

/* The first word that ends behind the address. */
static size_t word_from(const struct last_writers *w, uint64_t address)
{
    size_t low = 0, high = w->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (w->words[middle] + LAST_WRITERS_WORD > address) high = middle;
        else low = middle + 1;
    }
    return low;
}

static bool touches(const struct last_writers *w, uint64_t address, uint32_t size)
{
    if (address > w->words[w->count - 1] + LAST_WRITERS_WORD || address + size <= w->words[0])
        return false;
    size_t i = word_from(w, address);
    return i < w->count && w->words[i] < address + size;
}

static void put(struct last_writers *w, uint64_t address, uint32_t size, const struct mark *mark)
{
    for (size_t i = word_from(w, address); i < w->count && w->words[i] < address + size; i++)
        for (unsigned b = 0; b < LAST_WRITERS_WORD; b++) {
            const uint64_t at = w->words[i] + b;
            if (at >= address && at < address + size)
                w->bytes[i * LAST_WRITERS_WORD + b].mark = *mark;
        }
}

/* The one of that key; else where it may go, which another may lose. */
static struct buffered *buffered_at(struct last_writers *w, const struct buffered *key)
{
    const uint64_t h = (key->address ^ key->serial << 20 ^ (uint64_t)key->cta << 40 ^ key->warp) *
                       UINT64_C(0x9e3779b97f4a7c15);
    struct buffered *vacant = NULL;
    for (uint32_t i = 0; i < NEAR; i++) {
        struct buffered *x = &w->buffered[((h >> 40) + i) & (BUFFERED_SLOTS - 1)];
        if (x->launch == key->launch && x->address == key->address && x->serial == key->serial &&
            x->cta == key->cta && x->warp == key->warp)
            return x;
        if (!vacant && x->launch != key->launch) vacant = x;
    }
    return vacant ? vacant : &w->buffered[(h >> 40) & (BUFFERED_SLOTS - 1)];
}

static double size_of(unsigned type, const uint8_t *data)
{
    float f;
    double d;
    uint16_t h;
    switch (type) {
    case PTX_f32: memcpy(&f, data, sizeof f); return fabs((double)f);
    case PTX_f64: memcpy(&d, data, sizeof d); return fabs(d);
    case PTX_f16:
        memcpy(&h, data, sizeof h);
        if (!(h >> 10 & 31)) return ldexp(h & 1023, -24);
        return ldexp(1024 + (h & 1023), (h >> 10 & 31) - 25);
    case PTX_bf16: {
        memcpy(&h, data, sizeof h);
        uint32_t bits = (uint32_t)h << 16;
        memcpy(&f, &bits, sizeof f);
        return fabs((double)f);
    }
    default: return 0;
    }
}

/* An element of `size` bytes is written; `added`: by an addition of that much. */
static void count_element(struct last_writers *w, uint64_t address, uint32_t size, uint8_t type,
                          const double *added)
{
    for (size_t i = word_from(w, address); i < w->count && w->words[i] < address + size; i++) {
        struct word_writes *s = &w->sums[i];
        s->type = ptx_types[type].name;
        if (added) s->adds++, s->size += *added;
        else s->others++;
    }
}

static void count_lane(struct last_writers *w, const struct emu_access *a, uint32_t lane)
{
    const bool reduces = a->kind == EMU_RED || a->kind == EMU_ATOMIC;
    const bool add = reduces && a->data && (a->op == ATOMIC_ADD || a->op == ATOMIC_ADD_FTZ) &&
                     (a->type == PTX_f32 || a->type == PTX_f64 || a->type == PTX_f16 ||
                      a->type == PTX_bf16);
    for (uint32_t k = 0; k < a->count; k++) {
        const uint32_t at = k * a->width;
        const double size = add ? size_of(a->type, a->data + (size_t)a->stride * lane + at) : 0;
        count_element(w, a->address[lane] + at, a->width, a->type, add ? &size : NULL);
    }
}

static void last_writers_on_access(void *self, const struct emu_access *a)
{
    struct last_writers *w = self;
    if (a->kind == EMU_LOAD || a->space != PTX_SPACE_GLOBAL) return;
    const uint32_t size = (uint32_t)a->width * a->count;
    const bool reduces = a->kind == EMU_RED || a->kind == EMU_ATOMIC;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        if (!touches(w, a->address[l], size)) continue;
        const struct mark mark = {.cta = a->who->cta,
                                  .pc = a->pc,
                                  .warp = (uint8_t)a->who->warp,
                                  .lane = (uint8_t)l,
                                  .type = a->type,
                                  .op = a->op,
                                  .made = true,
                                  .reduces = reduces};
        count_lane(w, a, l);
        if (!a->buffered) {
            put(w, a->address[l], size, &mark);
            continue;
        }
        for (size_t i = word_from(w, a->address[l]);
             i < w->count && w->words[i] < a->address[l] + size; i++) {
            const struct buffered key = {.address = w->words[i],
                                         .serial = a->who->serial,
                                         .cta = a->who->cta,
                                         .warp = a->who->warp,
                                         .launch = w->launch,
                                         .lane = (uint8_t)l,
                                         .type = a->type};
            *buffered_at(w, &key) = key;
        }
    }
}

static void drained(void *self, const struct emu_drained *s)
{
    struct last_writers *w = self;
    if (!touches(w, s->address, s->size)) return;
    for (size_t i = word_from(w, s->address); i < w->count && w->words[i] < s->address + s->size;
         i++) {
        const struct buffered key = {.address = w->words[i],
                                     .serial = s->by.serial,
                                     .cta = s->by.cta,
                                     .warp = s->by.warp,
                                     .launch = w->launch};
        const struct buffered *h = buffered_at(w, &key);
        const bool known = h->launch == key.launch && h->address == key.address &&
                           h->serial == key.serial && h->cta == key.cta && h->warp == key.warp;
        const struct mark mark = {.cta = s->by.cta,
                                  .pc = s->by.pc,
                                  .warp = (uint8_t)s->by.warp,
                                  .lane = s->by.lane ? (uint8_t)(s->by.lane - 1)
                                          : known    ? h->lane
                                                     : NO_THREAD,
                                  .type = s->reduces ? s->type
                                          : known    ? h->type
                                                     : (uint8_t)PTX_NO_TYPE,
                                  .op = s->reduces ? s->op : 0,
                                  .made = true,
                                  .reduces = s->reduces};
        const uint64_t from = s->address > w->words[i] ? s->address : w->words[i];
        const uint64_t end = s->address + s->size < w->words[i] + LAST_WRITERS_WORD
                                 ? s->address + s->size
                                 : w->words[i] + LAST_WRITERS_WORD;
        put(w, from, (uint32_t)(end - from), &mark);
    }
}

static void last_writers_on_begin(void *self, struct emu_machine *m)
{
    struct last_writers *w = self;
    w->machine = m;
    w->launch = ++w->launches;
    if (!w->depth) memset(w->sums, 0, w->count * sizeof *w->sums);
}

static const char *copy(struct last_writers *w, const char *text)
{
    return text ? arena_copy(w->arena, text, strlen(text)) : NULL;
}

static const char *op_name(unsigned op)
{
    static const char *const names[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = "add", [ATOMIC_ADD_FTZ] = "add", [ATOMIC_MIN] = "min", [ATOMIC_MAX] = "max",
        [ATOMIC_INC] = "inc", [ATOMIC_DEC] = "dec",     [ATOMIC_AND] = "and", [ATOMIC_OR] = "or",
        [ATOMIC_XOR] = "xor", [ATOMIC_EXCH] = "exch",   [ATOMIC_CAS] = "cas"};
    return op < ATOMIC_COUNT ? names[op] : "";
}

static void last_writers_on_end(void *self)
{
    struct last_writers *w = self;
    for (size_t i = 0; i < w->count * LAST_WRITERS_WORD; i++) {
        struct mark *m = &w->bytes[i].mark;
        struct last_writer *last = &w->bytes[i].last;
        if (!m->made) continue;
        const struct emu_location place = emu_machine_location(w->machine, m->pc);
        *last = (struct last_writer){.launch = w->launch,
                                     .thread_known = m->lane != NO_THREAD,
                                     .reduces = m->reduces,
                                     .op = m->reduces ? op_name(m->op) : NULL,
                                     .type = m->type ? ptx_types[m->type].name : "",
                                     .line = place.line,
                                     .source_line = place.source_line,
                                     .function = copy(w, place.function),
                                     .source_file = copy(w, place.source_file)};
        emu_machine_thread(w->machine, m->cta, m->warp * 32u + (m->lane != NO_THREAD ? m->lane : 0),
                           last->cta, last->thread);
        m->made = false;
    }
}

/* It observes them itself. What was written so far has the launch that stands still as its own. */
static const struct emu_observer *last_writers_on_nested(void *self)
{
    struct last_writers *w = self;
    if (w->depth == EMU_MOST_NESTED) abort();
    last_writers_on_end(w);
    w->outer[w->depth++] = (struct running){w->machine, w->launch};
    return &w->observer;
}

static void last_writers_on_resumed(void *self)
{
    struct last_writers *w = self;
    w->machine = w->outer[--w->depth].machine;
    w->launch = w->outer[w->depth].launch;
}

struct last_writers *last_writers_new(const uint64_t *words, size_t n)
{
    struct last_writers *w = calloc(1, sizeof *w);
    if (!w || !n) abort();
    w->arena = arena_new();
    w->words = arena_array(w->arena, uint64_t, n);
    memcpy(w->words, words, n * sizeof *words);
    w->count = n;
    w->sums = arena_array(w->arena, struct word_writes, n);
    w->bytes = arena_array(w->arena, struct byte, n * LAST_WRITERS_WORD);
    w->buffered = arena_array(w->arena, struct buffered, BUFFERED_SLOTS);
    w->observer = (struct emu_observer){.self = w,
                                        .nested = last_writers_on_nested,
                                        .resumed = last_writers_on_resumed,
                                        .begin = last_writers_on_begin,
                                        .access = last_writers_on_access,
                                        .drained = drained,
                                        .end = last_writers_on_end};
    return w;
}

void last_writers_free(struct last_writers *w)
{
    if (w) arena_free(w->arena);
    free(w);
}

const struct emu_observer *last_writers_observer(struct last_writers *w)
{
    return &w->observer;
}

const struct last_writer *last_writers_of_byte(struct last_writers *w, uint64_t address)
{
    const size_t i = word_from(w, address);
    return &w->bytes[i * LAST_WRITERS_WORD + (address - w->words[i])].last;
}

const struct word_writes *last_writers_words(const struct last_writers *w)
{
    return w->sums;
}

size_t last_writers_count(const struct last_writers *w)
{
    return w->count;
}
