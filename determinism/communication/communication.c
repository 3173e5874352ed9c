/* The observer: from accesses to the shadow, to readers and edges (communication.h). */
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

struct communication {
    enum communication_unit unit;
    struct emu_observer observer;
    struct emu_memory_observer memory;
    struct shadow shadow;
    struct readers readers;
    struct edges edges;
    struct atomic_word *atomics; /* an open hash table */
    size_t atomic_count, atomic_cap;
    char **kernels;
    size_t kernel_count, kernel_cap;
    struct communication_launch *launches;
    size_t launch_count, launch_cap;
    uint32_t stream, threads, warps;
    bool running;
    uint64_t unseen, most_memory;
    struct communication_result result;
    struct communication_launch *result_launches;
};

static struct communication_launch *now(struct communication *c)
{
    return &c->launches[c->launch_count - 1];
}

/* As slots number launches: from 1. */
static uint32_t now_number(const struct communication *c)
{
    return (uint32_t)c->launch_count;
}

/* ---- what is overwritten ---------------------------------------------------------------------- */

static void add_lost(const struct communication *c, struct communication_launch *launches,
                     uint64_t slot, uint32_t bytes)
{
    const uint32_t launch = slot_launch(slot);
    if (!launch || (c->running && launch == now_number(c))) return;
    launches[launch - 1].written += bytes;
    if (!(slot & SLOT_READ)) launches[launch - 1].never_read += bytes;
}

static void lost(void *self, uint64_t slot, uint32_t bytes)
{
    struct communication *c = self;
    add_lost(c, c->launches, slot, bytes);
}

static void put(struct communication *c, uint64_t offset, uint64_t size, uint64_t slot)
{
    shadow_write(&c->shadow, offset, size, slot, lost, c);
}

/* ---- what is read ----------------------------------------------------------------------------- */

/* A node has read these bytes. They are one transfer, and `stride` lies between the last word of the transfer before
 * and the first of this one; 0: there is none. */
static void add_edge(struct communication *c, uint64_t slot, uint32_t to, uint64_t offset,
                     uint64_t size, uint64_t stride)
{
    struct open_edge *e = edges_open(&c->edges, slot, to);
    struct communication_pair *p = edges_pair(&c->edges, c->launches[slot_launch(slot) - 1].kernel,
                                              now(c)->kernel);
    uint64_t first = 0, second = 0;
    const uint64_t words = (offset + size + 3) / 4 - offset / 4;
    e->bytes += size;
    e->transfers++;
    shadow_mark(&c->shadow, offset, size, &first, &second);
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
            edges_open(&c->edges, slot, to)->bytes += size;
        return false;
    }
    return true;
}

static uint32_t nodes_of_cta(const struct communication *c)
{
    return c->unit == COMMUNICATION_THREAD ? c->threads
           : c->unit == COMMUNICATION_WARP ? c->warps
                                           : 1;
}

/* The CTA has ended: its runs become edges. */
static void end_reader(struct communication *c, struct reader *r)
{
    const uint32_t first = c->unit == COMMUNICATION_KERNEL ? 0 : r->cta * nodes_of_cta(c);
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
    reader_release(&c->readers, r);
}

/* ---- atomics ---------------------------------------------------------------------------------- */

static size_t atomic_place(const struct communication *c, uint64_t word)
{
    size_t i = (size_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (c->atomic_cap - 1);
    while (c->atomics[i].word && c->atomics[i].word != word) i = (i + 1) & (c->atomic_cap - 1);
    return i;
}

static void grow_atomics(struct communication *c)
{
    struct atomic_word *const old = c->atomics;
    const size_t count = c->atomic_cap;
    c->atomic_cap = count ? 2 * count : 64;
    c->atomics = calloc(c->atomic_cap, sizeof *c->atomics);
    if (!c->atomics) abort();
    for (size_t i = 0; i < count; i++)
        if (old[i].word) c->atomics[atomic_place(c, old[i].word)] = old[i];
    free(old);
}

/* Of the node that executes an atomic: its CTA and its number there. */
struct atomic_node {
    uint32_t cta, local, node;
};

static void add_atomic_word(struct communication *c, uint64_t offset, uint32_t size,
                            const struct atomic_node *by)
{
    const uint64_t word = offset / 4 + 1;
    if (2 * (c->atomic_count + 1) > c->atomic_cap) grow_atomics(c);
    struct atomic_word *w = &c->atomics[atomic_place(c, word)];
    if (!w->word) {
        c->atomic_count++;
        w->word = word;
        w->node = by->node;
    } else if (w->node != by->node) w->node = COMMUNICATION_SEVERAL;
    const uint32_t wanted = ((1u << size) - 1) << offset % 4;
    const struct reader *r = wanted & ~w->bytes ? reader_find(&c->readers, by->cta) : NULL;
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

static int by_word(const void *x, const void *y)
{
    const struct atomic_word *a = x, *b = y;
    return a->word < b->word ? -1 : a->word > b->word;
}

static void end_atomics(struct communication *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->atomic_cap; i++)
        if (c->atomics[i].word) c->atomics[n++] = c->atomics[i];
    if (n) qsort(c->atomics, n, sizeof *c->atomics, by_word);
    for (size_t i = 0; i < n; i++) end_atomic(c, &c->atomics[i]);
    if (n) memset(c->atomics, 0, c->atomic_cap * sizeof *c->atomics);
    c->atomic_count = 0;
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
        if (!*r) *r = reader_of(&c->readers, c->unit == COMMUNICATION_KERNEL ? 0 : cta);
        reader_add(&c->readers, *r, &c->shadow, now_number(c), local, offset, size);
        return;
    }
    const bool one = c->unit == COMMUNICATION_KERNEL;
    const uint32_t node = one ? 0 : cta * nodes_of_cta(c) + local;
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
    struct reader *r = c->readers.live;
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

static void communication_on_begin(void *self, struct emu_machine *m)
{
    struct communication *c = self;
    const struct emu_extent x = emu_machine_extent(m);
    struct communication_launch l = {.kernel = kernel_number(c, emu_machine_kernel(m)),
                                     .stream = c->stream};
    if (c->launch_count == c->launch_cap) {
        c->launch_cap = c->launch_cap ? 2 * c->launch_cap : 64;
        c->launches = realloc(c->launches, c->launch_cap * sizeof *c->launches);
        if (!c->launches) abort();
    }
    c->threads = x.threads;
    c->warps = (x.threads + 31) / 32;
    emu_machine_thread(m, x.ctas - 1, x.threads - 1, l.grid, l.block); /* the last one's indices */
    for (int i = 0; i < 3; i++) l.grid[i]++, l.block[i]++;
    l.nodes = c->unit == COMMUNICATION_KERNEL ? 1 : x.ctas * nodes_of_cta(c);
    c->launches[c->launch_count++] = l;
    c->running = true;
}

static uint64_t memory_used(const struct communication *c)
{
    return shadow_memory(&c->shadow) + c->readers.most_memory + edges_memory(&c->edges) +
           c->atomic_cap * sizeof *c->atomics + c->launch_cap * sizeof *c->launches;
}

static void communication_on_end(void *self)
{
    struct communication *c = self;
    while (c->readers.live) end_reader(c, c->readers.live); /* also of CTAs that a fault ended */
    end_atomics(c);
    edges_end_launch(&c->edges, c->launches, c->launch_count, c->unit);
    shadow_forget_marks(&c->shadow);
    c->running = false;
    const uint64_t memory = memory_used(c);
    if (memory > c->most_memory) c->most_memory = memory;
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
    c->observer = (struct emu_observer){.self = c,
                                        .ignores_data = true,
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
    readers_free(&c->readers);
    edges_free(&c->edges);
    for (size_t i = 0; i < c->kernel_count; i++) free(c->kernels[i]);
    free((void *)c->kernels);
    free(c->atomics);
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
