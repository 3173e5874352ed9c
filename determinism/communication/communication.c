/* The observer, which updates shadow memory, readers and edges at each access (communication.h). */
#include "determinism/communication/communication.h"

#include "determinism/communication/edges.h"
#include "determinism/communication/readers.h"
#include "determinism/communication/shadow.h"

#include "emu/emu.h"
#include "emu/memory.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

struct atomic_word {    /* a word that atomics of this launch have accessed */
    uint64_t word;      /* 1 + offset / 4; 0: free */
    uint64_t before[4]; /* the bytes' writers before the first of them */
    uint32_t node;      /* COMMUNICATION_SEVERAL: of several nodes */
    uint8_t bytes;      /* a bit for each */
    uint8_t loaded;     /* those of them that the node had loaded before */
};

struct superstep { /* a launch that runs, or stands still as CTAs of it wait for grids */
    struct readers readers;
    struct open_edges edges;
    struct atomic_word *atomics; /* an open hash table */
    size_t atomic_count, atomic_cap;
    struct shadow *marks,
        own_marks; /* whose marks: the first step's are those of the one shadow of writers */
    uint32_t number, threads, warps; /* number: as slots number launches, from 1 */
    bool running;
    bool waited; /* some CTA has waited for grids */
};

struct communication {
    enum communication_unit unit;
    struct emu_observer observer;
    struct emu_memory_observer memory;
    struct shadow shadow;
    struct edges edges;
    struct superstep *steps[EMU_MOST_NESTED + 1],
        *step; /* step: steps[depth], of the launch that runs */
    size_t depth;
    bool nested; /* launches may have ended in another order than they began */
    char **kernels;
    size_t kernel_count, kernel_cap;
    struct communication_launch *launches;
    size_t launch_count, launch_cap;
    uint32_t stream;
    uint64_t unseen, most_memory;
    struct communication_result result;
    struct communication_launch *result_launches;
};

static struct communication_launch *now(struct communication *c)
{
    return &c->launches[c->step->number - 1];
}

/* As slots number launches: from 1. */
static uint32_t now_number(const struct communication *c)
{
    return c->step->number;
}

static uint32_t nodes_of_cta(const struct communication *c, const struct superstep *s)
{
    return c->unit == COMMUNICATION_THREAD ? s->threads
           : c->unit == COMMUNICATION_WARP ? s->warps
                                           : 1;
}

/* ---- what is overwritten ---------------------------------------------------------------------- */

static void add_lost(const struct communication *c, struct communication_launch *launches,
                     uint64_t slot, uint32_t bytes)
{
    const uint32_t launch = slot_launch(slot);
    if (!launch) return;
    for (size_t i = 0; i <= c->depth; i++)
        if (c->steps[i]->running && launch == c->steps[i]->number) return;
    launches[launch - 1].written += bytes;
    if (!(slot & SLOT_READ)) launches[launch - 1].never_read += bytes;
}

static void lost(void *self, uint64_t slot, uint32_t bytes)
{
    struct communication *c = self;
    add_lost(c, c->launches, slot, bytes);
}

/* CTAs that wait, and have read these bytes, will read others there. */
static void forget_reads(struct communication *c, uint64_t offset, uint64_t size)
{
    for (size_t i = 0; i < c->depth; i++)
        for (struct reader *r = c->steps[i]->readers.live; r; r = r->next)
            reader_forget(r, nodes_of_cta(c, c->steps[i]), offset, size);
}

static void put(struct communication *c, uint64_t offset, uint64_t size, uint64_t slot)
{
    if (c->depth) forget_reads(c, offset, size);
    shadow_write(&c->shadow, offset, size, slot, lost, c);
}

/* ---- what is read ----------------------------------------------------------------------------- */

/* A node has read these bytes. They are one transfer, and `stride` lies between the last word of the transfer before
 * and the first of this one; 0: there is none. */
static void add_edge(struct communication *c, uint64_t slot, uint32_t to, uint64_t offset,
                     uint64_t size, uint64_t stride)
{
    struct open_edge *e = edges_open(&c->step->edges, slot, to);
    struct communication_pair *p = edges_pair(&c->edges, c->launches[slot_launch(slot) - 1].kernel,
                                              now(c)->kernel);
    uint64_t first = 0, second = 0;
    const uint64_t words = (offset + size + 3) / 4 - offset / 4;
    e->bytes += size;
    e->transfers++;
    shadow_mark(c->step->marks, offset, size, &first, &second);
    p->point_to_point += first - second;
    p->scatter += size - (first - second);
    p->strides[2] += words - 1;
    if (stride) p->strides[size_class(stride, COMMUNICATION_SIZES)]++;
    now(c)->communicated += size;
}

/* The parts of what was written before the launch. `to`: the reading node. true: it is communicated. */
static bool add_read(struct communication *c, uint64_t slot, uint32_t to, uint64_t size)
{
    struct communication_launch *l = now(c);
    const uint32_t launch = slot_launch(slot);
    if (launch == now_number(c)) {
        if (slot_node(slot) != to) l->inside += size;
        return false;
    }
    l->read += size;
    if (!launch) {
        if (slot == SLOT_HOST) l->from_host += size;
        else l->initial += size;
        return false;
    }
    if (slot_node(slot) == to && to != COMMUNICATION_SEVERAL && c->unit != COMMUNICATION_KERNEL) {
        l->stays += size;
        const struct communication_launch *w = &c->launches[launch - 1];
        if (memcmp(w->grid, l->grid, sizeof l->grid) != 0 || w->nodes != l->nodes)
            edges_open(&c->step->edges, slot, to)->bytes += size;
        return false;
    }
    return true;
}

/* The CTA has ended: its runs become edges. */
static void end_reader(struct communication *c, struct reader *r)
{
    const uint32_t first = c->unit == COMMUNICATION_KERNEL ? 0 : r->cta * nodes_of_cta(c, c->step);
    const struct read_run *last = NULL;
    reader_sort(r);
    for (size_t i = 0; i < r->run_count; i++) {
        const struct read_run *x = &r->runs[i];
        if (!add_read(c, x->slot, first + x->local, x->size)) continue;
        const bool same = last && last->local == x->local && last->slot == x->slot;
        const uint64_t stride = same ? x->offset / 4 - (last->offset + last->size - 1) / 4 : 0;
        add_edge(c, x->slot, first + x->local, x->offset, x->size, 4 * stride);
        last = x;
    }
    reader_release(&c->step->readers, r);
}

/* ---- atomics ---------------------------------------------------------------------------------- */

static size_t atomic_place(const struct superstep *s, uint64_t word)
{
    size_t i = (size_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (s->atomic_cap - 1);
    while (s->atomics[i].word && s->atomics[i].word != word) i = (i + 1) & (s->atomic_cap - 1);
    return i;
}

static void grow_atomics(struct superstep *s)
{
    struct atomic_word *const old = s->atomics;
    const size_t count = s->atomic_cap;
    s->atomic_cap = count ? 2 * count : 64;
    s->atomics = calloc(s->atomic_cap, sizeof *s->atomics);
    if (!s->atomics) abort();
    for (size_t i = 0; i < count; i++)
        if (old[i].word) s->atomics[atomic_place(s, old[i].word)] = old[i];
    free(old);
}

/* The launch ends: each word was read once. What the word's only node had loaded already counts (end_reader). */
static void end_atomic(struct communication *c, const struct atomic_word *w)
{
    const uint32_t bytes = w->bytes & ~(w->node == COMMUNICATION_SEVERAL ? 0u : w->loaded);
    const uint64_t offset = (w->word - 1) * 4;
    now(c)->atomic_words++;
    if (w->node == COMMUNICATION_SEVERAL) now(c)->several_words++;
    for (uint32_t b = 0, n; b < 4; b += n) {
        n = 1;
        if (!(bytes >> b & 1)) continue;
        while (b + n < 4 && bytes >> (b + n) & 1 && w->before[b + n] == w->before[b]) n++;
        if (slot_launch(w->before[b]) == now_number(c)) continue;
        if (add_read(c, w->before[b], w->node, n))
            add_edge(c, w->before[b], w->node, offset + b, n, 0);
    }
}

/* Grids that a CTA has waited for have written it. */
static bool is_overwritten(struct communication *c, const struct atomic_word *w)
{
    for (uint32_t b = 0; b < 4; b++)
        if (w->bytes >> b & 1 &&
            slot_launch(shadow_byte(&c->shadow, (w->word - 1) * 4 + b)) != now_number(c))
            return true;
    return false;
}

/* Of the node that executes an atomic: its CTA and its number there. */
struct atomic_node {
    uint32_t cta, local, node;
};

static void add_atomic_word(struct communication *c, uint64_t offset, uint32_t size,
                            const struct atomic_node *by)
{
    const uint64_t word = offset / 4 + 1;
    struct superstep *s = c->step;
    if (2 * (s->atomic_count + 1) > s->atomic_cap) grow_atomics(s);
    struct atomic_word *w = &s->atomics[atomic_place(s, word)];
    if (s->waited && w->word && is_overwritten(c, w)) { /* it is read again */
        end_atomic(c, w);
        *w = (struct atomic_word){.word = word, .node = by->node};
    }
    if (!w->word) {
        s->atomic_count++;
        w->word = word;
        w->node = by->node;
    } else if (w->node != by->node) w->node = COMMUNICATION_SEVERAL;
    const uint32_t wanted = ((1u << size) - 1) << offset % 4;
    const struct reader *r = wanted & ~w->bytes ? reader_find(&c->step->readers, by->cta) : NULL;
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t b = (uint32_t)(offset % 4) + i;
        if (w->bytes >> b & 1) continue;
        w->before[b] = shadow_byte(&c->shadow, offset + i) & ~SLOT_READ;
        w->bytes |= (uint8_t)(1u << b);
        if (r && reader_has(r, by->local, offset + i)) w->loaded |= (uint8_t)(1u << b);
    }
    put(c, offset, size, slot_of(now_number(c), w->node));
}

static void add_atomic(struct communication *c, uint64_t offset, uint32_t size,
                       const struct atomic_node *by)
{
    for (uint32_t n; size; offset += n, size -= n) {
        n = 4 - (uint32_t)(offset % 4);
        if (n > size) n = size;
        add_atomic_word(c, offset, n, by);
    }
}

static int by_word(const void *x, const void *y)
{
    const struct atomic_word *a = x, *b = y;
    return a->word < b->word ? -1 : a->word > b->word;
}

static void end_atomics(struct communication *c)
{
    struct superstep *s = c->step;
    size_t n = 0;
    for (size_t i = 0; i < s->atomic_cap; i++)
        if (s->atomics[i].word) s->atomics[n++] = s->atomics[i];
    if (n) qsort(s->atomics, n, sizeof *s->atomics, by_word);
    for (size_t i = 0; i < n; i++) end_atomic(c, &s->atomics[i]);
    if (n) memset(s->atomics, 0, s->atomic_cap * sizeof *s->atomics);
    s->atomic_count = 0;
}

/* ---- the observer: accesses ------------------------------------------------------------------- */

static void add_range(struct communication *c, const struct emu_access *a, uint32_t lane,
                      uint64_t offset, uint32_t size, struct reader **r)
{
    const uint32_t cta = a->who->cta, w = a->who->warp;
    const uint32_t local = c->unit == COMMUNICATION_THREAD ? w * 32 + lane
                           : c->unit == COMMUNICATION_WARP ? w
                                                           : 0;
    if (a->kind == EMU_LOAD) {
        if (!*r) *r = reader_of(&c->step->readers, c->unit == COMMUNICATION_KERNEL ? 0 : cta);
        reader_add(&c->step->readers, *r, &c->shadow, now_number(c), local, offset, size);
        return;
    }
    const bool one = c->unit == COMMUNICATION_KERNEL;
    const uint32_t node = one ? 0 : cta * nodes_of_cta(c, c->step) + local;
    if (a->kind == EMU_STORE) put(c, offset, size, slot_of(now_number(c), node));
    else add_atomic(c, offset, size, &(struct atomic_node){one ? 0 : cta, local, node});
}

static void communication_on_access(void *self, const struct emu_access *a)
{
    struct communication *c = self;
    if (a->space != PTX_SPACE_GLOBAL || !a->lanes) return;
    const uint32_t size = (uint32_t)a->width * a->count;
    const uint64_t total = (uint64_t)size * (uint32_t)__builtin_popcount(a->lanes);
    struct reader *r = NULL;
    if (a->kind != EMU_STORE) now(c)->loaded += total;
    if (a->kind != EMU_LOAD) now(c)->stored += total;
    const bool joins = c->unit != COMMUNICATION_THREAD;
    if (joins && a->contiguous && a->kind <= EMU_STORE) {
        add_range(c, a, 0, a->address[0] - MEM_GLOBAL, 32 * size, &r);
        return;
    }
    for (uint32_t m = a->lanes; m;) { /* adjacent lanes with adjacent bytes together */
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint64_t from = a->address[lane] - MEM_GLOBAL;
        uint32_t n = size;
        m &= m - 1;
        while (joins && a->kind <= EMU_STORE && m) {
            const uint64_t next = a->address[__builtin_ctz(m)] - MEM_GLOBAL;
            if (next == from + n) n += size;
            else if (next != from || n != size) break;
            m &= m - 1;
        }
        add_range(c, a, lane, from, n, &r);
    }
}

static void communication_on_sync(void *self, const struct emu_sync *s)
{
    struct communication *c = self;
    if (s->kind != EMU_SYNC_CTA_EXIT || c->unit == COMMUNICATION_KERNEL) return;
    struct reader *r = c->step->readers.live;
    while (r && r->cta != s->who->cta) r = r->next;
    if (r) end_reader(c, r);
}

/* ---- the observer: launches ------------------------------------------------------------------- */

static uint32_t kernel_number(struct communication *c, const char *name)
{
    for (size_t i = 0; i < c->kernel_count; i++)
        if (strcmp(c->kernels[i], name) == 0) return (uint32_t)i;
    if (c->kernel_count == c->kernel_cap) {
        c->kernel_cap = c->kernel_cap ? 2 * c->kernel_cap : 16;
        c->kernels = realloc((void *)c->kernels, c->kernel_cap * sizeof *c->kernels);
        if (!c->kernels) abort();
    }
    const size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    if (!copy) abort();
    memcpy(copy, name, size);
    c->kernels[c->kernel_count] = copy;
    return (uint32_t)c->kernel_count++;
}

void communication_begin(struct communication *c, const char *kernel, const uint32_t grid[3],
                         const uint32_t block[3])
{
    struct communication_launch l = {.kernel = kernel_number(c, kernel), .stream = c->stream};
    const uint32_t threads = block[0] * block[1] * block[2];
    if (c->launch_count == c->launch_cap) {
        c->launch_cap = c->launch_cap ? 2 * c->launch_cap : 64;
        c->launches = realloc(c->launches, c->launch_cap * sizeof *c->launches);
        if (!c->launches) abort();
    }
    struct superstep *s = c->step;
    s->threads = threads;
    s->warps = (threads + 31) / 32;
    memcpy(l.grid, grid, sizeof l.grid);
    memcpy(l.block, block, sizeof l.block);
    l.nodes = c->unit == COMMUNICATION_KERNEL ? 1
                                              : grid[0] * grid[1] * grid[2] * nodes_of_cta(c, s);
    c->launches[c->launch_count++] = l;
    s->number = (uint32_t)c->launch_count;
    s->running = true;
    s->waited = false;
}

static void communication_on_begin(void *self, struct emu_machine *m)
{
    const struct emu_extent x = emu_machine_extent(m);
    uint32_t grid[3], block[3];
    emu_machine_thread(m, x.ctas - 1, x.threads - 1, grid, block); /* the last one's indices */
    for (int i = 0; i < 3; i++) grid[i]++, block[i]++;
    communication_begin(self, emu_machine_kernel(m), grid, block);
}

static uint64_t memory_used(const struct communication *c)
{
    uint64_t sum = shadow_memory(&c->shadow) + edges_memory(&c->edges) +
                   c->launch_cap * sizeof *c->launches;
    for (size_t i = 0; i <= EMU_MOST_NESTED && c->steps[i]; i++) {
        const struct superstep *s = c->steps[i];
        sum += s->readers.most_memory + s->edges.cap * sizeof *s->edges.list +
               s->atomic_cap * sizeof *s->atomics + shadow_memory(&s->own_marks);
    }
    return sum;
}

static void communication_on_end(void *self)
{
    struct communication *c = self;
    while (c->step->readers.live)
        end_reader(c, c->step->readers.live); /* also of CTAs that a fault ended */
    end_atomics(c);
    edges_end_launch(&c->edges, &c->step->edges, c->launches, now_number(c) - 1, c->unit);
    shadow_forget_marks(c->step->marks);
    c->step->running = false;
    const uint64_t memory = memory_used(c);
    if (memory > c->most_memory) c->most_memory = memory;
}

static void step_down(struct communication *c, size_t depth)
{
    if (depth > EMU_MOST_NESTED) abort();
    c->depth = depth;
    if (!c->steps[depth]) {
        struct superstep *s = c->steps[depth] = calloc(1, sizeof *s);
        if (!s) abort();
        s->marks = depth ? &s->own_marks : &c->shadow;
    }
    c->step = c->steps[depth];
}

/* The grids that a CTA waits for are supersteps of their own, in the middle of the one that waits. */
static const struct emu_observer *communication_on_nested(void *self)
{
    struct communication *c = self;
    c->step->waited = c->nested = true;
    step_down(c, c->depth + 1);
    return &c->observer;
}

static void communication_on_resumed(void *self)
{
    struct communication *c = self;
    c->step = c->steps[--c->depth];
}

/* ---- the host --------------------------------------------------------------------------------- */

static void host_write(void *self, uint64_t to, uint64_t size)
{
    put(self, to - MEM_GLOBAL, size, SLOT_HOST);
}

static void to_host(void *self, uint64_t offset, uint32_t size, uint64_t slot)
{
    struct communication *c = self;
    (void)offset;
    if (slot_launch(slot)) c->launches[slot_launch(slot) - 1].to_host += size;
}

static void host_read(void *self, uint64_t from, uint64_t size)
{
    struct communication *c = self;
    shadow_read(&c->shadow, from - MEM_GLOBAL, size, 0, to_host, c);
}

struct copying {
    struct communication *c;
    uint64_t distance; /* from source to destination, modulo 2^64 */
};

static void copy_part(void *self, uint64_t offset, uint32_t size, uint64_t slot)
{
    const struct copying *x = self;
    put(x->c, offset + x->distance, size, slot);
}

static void host_copy(void *self, uint64_t to, uint64_t from, uint64_t size)
{
    struct copying x = {self, to - from};
    if (to != from) shadow_read(&x.c->shadow, from - MEM_GLOBAL, size, 0, copy_part, &x);
}

static void host_release(void *self, uint64_t address, uint64_t size)
{
    struct communication *c = self;
    uint64_t offset = address - MEM_GLOBAL;
    for (uint64_t n; size; offset += n, size -= n) { /* chunks that do not exist need nothing */
        n = SHADOW_CHUNK - offset % SHADOW_CHUNK;
        if (n > size) n = size;
        const uint64_t i = offset >> SHADOW_CHUNK_BITS;
        if (i < c->shadow.chunk_count && c->shadow.chunks[i]) put(c, offset, n, SLOT_INITIAL);
    }
}

static void host_shares(void *self, uint64_t address, uint64_t size)
{
    struct communication *c = self;
    (void)address;
    c->unseen += size;
}

/* ---- the whole -------------------------------------------------------------------------------- */

struct communication *communication_new(enum communication_unit unit)
{
    struct communication *c = calloc(1, sizeof *c);
    if (!c) abort();
    c->unit = unit;
    step_down(c, 0);
    c->observer = (struct emu_observer){.self = c,
                                        .ignores_data = true,
                                        .nested = communication_on_nested,
                                        .resumed = communication_on_resumed,
                                        .begin = communication_on_begin,
                                        .access = communication_on_access,
                                        .sync = communication_on_sync,
                                        .end = communication_on_end};
    c->memory = (struct emu_memory_observer){.self = c,
                                             .write = host_write,
                                             .read = host_read,
                                             .copy = host_copy,
                                             .release = host_release,
                                             .shares = host_shares};
    return c;
}

void communication_free(struct communication *c)
{
    if (!c) return;
    shadow_free(&c->shadow);
    for (size_t i = 0; i <= EMU_MOST_NESTED && c->steps[i]; i++) {
        struct superstep *s = c->steps[i];
        readers_free(&s->readers);
        shadow_free(&s->own_marks);
        free(s->edges.list);
        free(s->atomics);
        free(s);
    }
    edges_free(&c->edges);
    for (size_t i = 0; i < c->kernel_count; i++) free(c->kernels[i]);
    free((void *)c->kernels);
    free(c->launches);
    free(c->result_launches);
    free(c);
}

const struct emu_observer *communication_observer(struct communication *c)
{
    return &c->observer;
}

const struct emu_memory_observer *communication_memory_observer(struct communication *c)
{
    return &c->memory;
}

void communication_stream(struct communication *c, uint32_t stream)
{
    c->stream = stream;
}

static int by_kernels(const void *x, const void *y)
{
    const struct communication_pair *a = x, *b = y;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

/* What is left in memory was never overwritten. */
struct leaving {
    const struct communication *c;
    struct communication_launch *launches;
    uint64_t words;
};

static void add_left(void *self, uint64_t slot, uint32_t bytes)
{
    struct leaving *x = self;
    x->words += slot ? bytes : 0; /* bytes, until the end */
    add_lost(x->c, x->launches, slot, bytes);
}

const struct communication_result *communication_result(struct communication *c)
{
    const size_t size = c->launch_count * sizeof *c->launches;
    c->result_launches = realloc(c->result_launches, size + 1);
    if (!c->result_launches) abort();
    if (size) memcpy(c->result_launches, c->launches, size);
    struct leaving x = {c, c->result_launches, 0};
    shadow_all(&c->shadow, add_left, &x);
    if (c->nested) edges_sort(&c->edges);
    if (c->edges.pair_count)
        qsort(c->edges.pairs, c->edges.pair_count, sizeof *c->edges.pairs, by_kernels);
    c->result = (struct communication_result){.unit = c->unit,
                                              .kernels = (const char *const *)c->kernels,
                                              .kernel_count = c->kernel_count,
                                              .launches = c->result_launches,
                                              .launch_count = c->launch_count,
                                              .pairs = c->edges.pairs,
                                              .pair_count = c->edges.pair_count,
                                              .edges = c->edges.list,
                                              .edge_count = c->edges.count,
                                              .edges_dropped = c->edges.dropped,
                                              .unseen = c->unseen,
                                              .words = x.words / 4,
                                              .memory = c->most_memory};
    return &c->result;
}
