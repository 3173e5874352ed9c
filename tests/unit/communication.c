/* Which CTAs pass data to which (determinism/communication/communication.h): patterns whose answer is derived on paper,
 * and random kernels against a reference that keeps the whole log of accesses. */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/rng.h"
#include "determinism/communication/communication.h"
#include "determinism/orders.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "ptx/ptx.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a device with the observer ---------------------------------------------------------------- */

struct bench {
    struct arena *arena;
    struct ptx_module *module;
    struct emu *emu;
    struct emu_image *image;
    struct communication *c;
    const struct emu_observer *list[2];
    size_t observers;
    const struct emu_order *order;
};

static void set_up(struct bench *b, const char *text, enum communication_unit unit)
{
    char *why = NULL;
    b->arena = arena_new();
    static struct source source;
    source = (struct source){"test.ptx", text, (uint32_t)strlen(text)};
    static struct diags diags; /* bodies are parsed when a kernel is first launched */
    diags = (struct diags){.arena = b->arena, .source = &source};
    b->module = ptx_module_parse(b->arena, &source, &diags);
    cr_assert(ptx_module_check(b->module));
    b->emu = emu_new(&(struct emu_config){.max_instructions = 100000000, .sms = 4});
    b->image = emu_load(b->emu, &b->module, 1, &why);
    cr_assert(b->image, "%s", why);
    b->c = communication_new(unit);
    emu_observe_memory(b->emu, communication_memory_observer(b->c));
    b->list[0] = communication_observer(b->c);
    b->observers = 1;
}

static void launch(struct bench *b, uint32_t x, uint32_t y, uint32_t z, uint32_t block,
                   const uint64_t *args, uint32_t count)
{
    struct emu_launch l = {.grid = {x, y, z},
                           .block = {block, 1, 1},
                           .params = args,
                           .params_size = count * 8,
                           .order = b->order,
                           .observers = b->list,
                           .observer_count = b->observers};
    const struct emu_report *r = emu_launch(b->emu, emu_kernel_at(b->image, 0), &l);
    cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
}

static void tear_down(struct bench *b)
{
    communication_free(b->c);
    emu_unload(b->image);
    emu_free(b->emu);
    ptx_module_end(b->module);
    arena_free(b->arena);
}

/* ---- known patterns ---------------------------------------------------------------------------- */

/* Thread i stores to out[i] the sum of in[map[k * i]] to in[map[k * i + k - 1]]. */
static const char move[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry move(.param .u64 in, .param .u64 out, .param .u64 map, .param .u64 k)\n{\n"
    ".reg .pred %p; .reg .b32 %r<12>; .reg .b64 %d<12>;\n"
    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u64 %d3, [map]; ld.param.u32 %r1, [k];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %ctaid.z;\n"
    "mov.u32 %r5, %nctaid.y; mad.lo.u32 %r3, %r4, %r5, %r3;\n"
    "mov.u32 %r5, %nctaid.x; mad.lo.u32 %r2, %r3, %r5, %r2;\n"
    "mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r2, %r2, %r5, %r6;\n"
    "mul.wide.u32 %d4, %r2, 4; add.u64 %d2, %d2, %d4;\n"
    "mul.lo.u32 %r7, %r2, %r1; mul.wide.u32 %d4, %r7, 4; add.u64 %d3, %d3, %d4;\n"
    "mov.u32 %r8, 0; mov.u32 %r9, 0;\n"
    "next: setp.ge.u32 %p, %r9, %r1; @%p bra done;\n"
    "ld.global.u32 %r10, [%d3]; mul.wide.u32 %d5, %r10, 4; add.u64 %d5, %d1, %d5;\n"
    "ld.global.u32 %r11, [%d5]; add.u32 %r8, %r8, %r11;\n"
    "add.u64 %d3, %d3, 4; add.u32 %r9, %r9, 1; bra next;\n"
    "done: st.global.u32 [%d2], %r8; ret;\n}\n";

struct pattern {
    uint32_t grid[3], block, k; /* k: words that a thread reads */
    /* The j-th word that the thread of a CTA reads. */
    uint32_t (*reads)(const struct pattern *p, uint32_t cta, uint32_t thread, uint32_t j);
};

enum { STEPS = 3 };

static uint32_t ctas_of(const struct pattern *p)
{
    return p->grid[0] * p->grid[1] * p->grid[2];
}

/* STEPS launches between two buffers; nothing is passed on in the first one, which reads what the host wrote. */
static const struct communication_result *run(struct bench *b, const struct pattern *p)
{
    const uint32_t n = ctas_of(p) * p->block, k = p->k;
    uint32_t *map = calloc((size_t)n * k, 4), *zero = calloc(n, 4);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < k; j++) {
            map[i * k + j] = p->reads(p, i / p->block, i % p->block, j);
            cr_assert_lt(map[i * k + j], n);
        }
    uint64_t x = emu_alloc(b->emu, 4 * n, "x"), y = emu_alloc(b->emu, 4 * n, "y"),
             m = emu_alloc(b->emu, 4 * n * k, "map");
    emu_copy_in(b->emu, x, zero, 4 * n);
    emu_copy_in(b->emu, m, map, 4 * n * k);
    for (int i = 0; i < STEPS; i++)
        launch(b, p->grid[0], p->grid[1], p->grid[2], p->block,
               (uint64_t[]){i % 2 ? y : x, i % 2 ? x : y, m, k}, 4);
    free(map);
    free(zero);
    return communication_result(b->c);
}

static uint64_t reads_in(const struct communication_result *r, uint64_t bytes[4])
{
    uint64_t read = 0;
    memset(bytes, 0, 4 * sizeof *bytes);
    for (size_t i = 0; i < r->launch_count; i++) {
        const struct communication_launch *l = &r->launches[i];
        read += l->read;
        bytes[0] += l->communicated;
        bytes[1] += l->stays;
        bytes[2] += l->from_host;
        bytes[3] += l->initial;
        cr_expect_eq(l->read, l->communicated + l->stays + l->from_host + l->initial);
    }
    return read;
}

/* What each of STEPS - 1 supersteps has. */
struct answer {
    uint64_t edges, bytes, scatter, gather, near_1;
};

static void expect(const struct pattern *p, const char *name, const struct answer *want)
{
    struct bench b = {0};
    uint64_t parts[4], listed = 0;
    set_up(&b, move, COMMUNICATION_CTA);
    const struct communication_result *r = run(&b, p);
    const uint64_t steps = STEPS - 1;
    cr_assert_eq(r->launch_count, STEPS);
    cr_assert_eq(r->pair_count, 1, "%s", name);
    const struct communication_pair *x = r->pairs;
    cr_expect_eq(x->supersteps, steps, "%s", name);
    cr_expect_eq(x->edges, steps * want->edges, "%s: %lu edges", name, (unsigned long)x->edges);
    cr_expect_eq(x->bytes, steps * want->bytes, "%s: %lu bytes", name, (unsigned long)x->bytes);
    cr_expect_eq(x->scatter, steps * want->scatter, "%s: %lu scattered", name,
                 (unsigned long)x->scatter);
    cr_expect_eq(x->point_to_point + x->scatter, x->bytes, "%s", name);
    cr_expect_eq(x->gather, steps * want->gather, "%s: %lu gathered", name,
                 (unsigned long)x->gather);
    cr_expect_eq(x->near_1, steps * want->near_1, "%s: %lu to neighbours", name,
                 (unsigned long)x->near_1);
    const uint64_t n = ctas_of(p);
    cr_expect_eq(x->possible, steps * n * (n - 1), "%s", name);
    for (size_t i = 0; i < r->edge_count; i++) listed += r->edges[i].bytes;
    cr_expect_eq(listed, x->bytes, "%s", name);
    (void)reads_in(r, parts);
    cr_expect_eq(parts[0], x->bytes, "%s", name);
    cr_expect_eq(r->launches[0].communicated, 0, "%s", name);
    cr_expect_eq(r->launches[0].written, 4 * n * p->block, "%s", name);
    tear_down(&b);
}

static uint32_t reads_ring(const struct pattern *p, uint32_t cta, uint32_t thread, uint32_t j)
{
    (void)j;
    return (cta + ctas_of(p) - 1) % ctas_of(p) * p->block + thread;
}

/* CTA c takes from its children 2c + 1 and 2c + 2; those without children from themselves. */
static uint32_t reads_tree(const struct pattern *p, uint32_t cta, uint32_t thread, uint32_t j)
{
    const uint32_t child = 2 * cta + 1 + j;
    return (child < ctas_of(p) ? child : cta) * p->block + thread;
}

static uint32_t reads_all(const struct pattern *p, uint32_t cta, uint32_t thread, uint32_t j)
{
    (void)cta, (void)thread;
    return j % (ctas_of(p) * p->block);
}

/* A row of threads, 3 points; both ends read themselves. */
static uint32_t reads_halo_1(const struct pattern *p, uint32_t cta, uint32_t thread, uint32_t j)
{
    const uint32_t n = ctas_of(p) * p->block, i = cta * p->block + thread;
    return j == 0 ? i : j == 1 ? (i ? i - 1 : i) : i + 1 < n ? i + 1 : i;
}

/* One thread is a CTA is a cell; 2 * dimensions neighbours; cells at the border read themselves. */
static uint32_t reads_halo_3(const struct pattern *p, uint32_t cta, uint32_t thread, uint32_t j)
{
    (void)thread;
    uint32_t at[3] = {cta % p->grid[0], cta / p->grid[0] % p->grid[1],
                      cta / p->grid[0] / p->grid[1]};
    const uint32_t axis = j / 2;
    if (j % 2 ? at[axis] + 1 < p->grid[axis] : at[axis] > 0) at[axis] += j % 2 ? 1 : ~0u;
    return (at[2] * p->grid[1] + at[1]) * p->grid[0] + at[0];
}

/* Each cell reads its left and upper neighbour, as a table of a recurrence does. */
static uint32_t reads_wave(const struct pattern *p, uint32_t cta, uint32_t thread, uint32_t j)
{
    return reads_halo_3(p, cta, thread, 2 * j);
}

Test(communication, ring)
{
    /* 8 edges of 64 words; the one from CTA 7 to CTA 0 is no neighbour's. */
    expect(&(struct pattern){{8, 1, 1}, 64, 1, reads_ring}, "ring",
           &(struct answer){8, 8 * 256, 0, 0, 7 * 256});
}

Test(communication, tree)
{
    /* 15 nodes have 14 edges; each inner node gathers from two; only 0 to 1 has a distance of 1. */
    expect(&(struct pattern){{15, 1, 1}, 32, 2, reads_tree}, "tree",
           &(struct answer){14, 14 * 128, 0, 14 * 128, 128});
}

Test(communication, all_to_all)
{
    /* 6 * 5 edges of a CTA's 32 words; all are read by five others, and each reader has five sources. */
    expect(&(struct pattern){{6, 1, 1}, 32, 6 * 32, reads_all}, "all to all",
           &(struct answer){30, 30 * 128, 30 * 128, 30 * 128, 10 * 128});
}

Test(communication, halo_in_one_dimension)
{
    /* 16 CTAs have 15 boundaries with 4 bytes each way: the 30 edges and 120 bytes of the specification. The two CTAs at
     * the ends have one source only. */
    expect(&(struct pattern){{16, 1, 1}, 256, 3, reads_halo_1}, "1-D",
           &(struct answer){30, 120, 0, 112, 120});
}

Test(communication, halo_in_two_dimensions)
{
    /* 5 x 4 cells: 4*4 + 5*3 = 31 neighbouring pairs, 62 edges of 4 bytes. Each cell is read by at least two others and
     * reads from at least two. Neighbours by index: those in x, 2 * 16 edges. */
    expect(&(struct pattern){{5, 4, 1}, 1, 4, reads_halo_3}, "2-D",
           &(struct answer){62, 62 * 4, 62 * 4, 62 * 4, 32 * 4});
}

Test(communication, halo_in_three_dimensions)
{
    /* 4 x 3 x 2: pairs 3*3*2 + 4*2*2 + 4*3*1 = 18 + 16 + 12 = 46; in x 18. */
    expect(&(struct pattern){{4, 3, 2}, 1, 6, reads_halo_3}, "3-D",
           &(struct answer){92, 92 * 4, 92 * 4, 92 * 4, 36 * 4});
}

Test(communication, wavefront)
{
    /* 5 x 4 cells: 31 edges. The right column and the lower row are read once: of the others 4*3 = 12 cells are read
     * twice, 24 edges. In the upper row and the left column there is one source: 4*3 = 12 cells gather two. */
    expect(&(struct pattern){{5, 4, 1}, 1, 2, reads_wave}, "wavefront",
           &(struct answer){31, 31 * 4, 24 * 4, 24 * 4, 16 * 4});
}

/* Rows of 256-byte CTAs read with a stride of 32 bytes from the neighbour: 8 transfers of a word. */
static uint32_t reads_strided(const struct pattern *p, uint32_t cta, uint32_t thread, uint32_t j)
{
    (void)j;
    return (cta + 1) % ctas_of(p) * p->block + thread / 8 * 8;
}

Test(communication, strides_and_transfers)
{
    struct bench b = {0};
    set_up(&b, move, COMMUNICATION_CTA);
    const struct communication_result *r = run(&b,
                                               &(struct pattern){{4, 1, 1}, 64, 1, reads_strided});
    const struct communication_pair *x = r->pairs;
    cr_expect_eq(x->edges, 2 * 4);
    cr_expect_eq(x->bytes, 2 * 4 * 8 * 4);
    cr_expect_eq(x->transfers, 2 * 4 * 8);
    cr_expect_eq(x->strides[5], 2 * 4 * 7, "32 bytes: class 5; %lu", (unsigned long)x->strides[5]);
    cr_expect_eq(x->sizes[5], 2 * 4, "edges of 32 bytes");
    cr_expect_eq(r->launches[0].never_read, 4 * 56 * 4, "56 of 64 words of each CTA");
    tear_down(&b);
}

Test(communication, granularity)
{
    /* The 1-D halo again, 2 CTAs of 64 threads: between 128 threads 127 boundaries, between 4 warps 3. */
    static const struct {
        enum communication_unit unit;
        uint64_t edges, bytes;
    } rows[] = {{COMMUNICATION_THREAD, 254, 254 * 4},
                {COMMUNICATION_WARP, 6, 6 * 4},
                {COMMUNICATION_CTA, 2, 2 * 4},
                {COMMUNICATION_KERNEL, 1, 128 * 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b = {0};
        set_up(&b, move, rows[i].unit);
        const struct communication_result *r = run(
            &b, &(struct pattern){{2, 1, 1}, 64, 3, reads_halo_1});
        cr_assert_eq(r->pair_count, 1);
        cr_expect_eq(r->pairs->edges, 2 * rows[i].edges, "%zu: %lu edges", i,
                     (unsigned long)r->pairs->edges);
        cr_expect_eq(r->pairs->bytes, 2 * rows[i].bytes, "%zu: %lu bytes", i,
                     (unsigned long)r->pairs->bytes);
        tear_down(&b);
    }
}

Test(communication, memory)
{
    /* Two buffers of 131,072 words, and a map of three times as many. */
    struct bench b = {0};
    set_up(&b, move, COMMUNICATION_CTA);
    const struct communication_result *r = run(
        &b, &(struct pattern){{512, 1, 1}, 256, 3, reads_halo_1});
    cr_expect_eq(r->words, 5 * 512 * 256, "%lu words", (unsigned long)r->words);
    cr_expect_leq(r->memory, 12 * r->words, "%.2f bytes a word",
                  (double)r->memory / (double)r->words);
    cr_log_info("%.2f bytes a word", (double)r->memory / (double)r->words);
    tear_down(&b);
}

Test(communication, orders_and_seeds_make_no_difference)
{
    static const char *const orders[] = {NULL,
                                         "random:strategy=uniform",
                                         "random:strategy=pct",
                                         "random:strategy=farthest",
                                         "gpudet",
                                         "dab"};
    struct communication_pair first = {0};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (uint64_t seed = 1; seed <= (i ? 3 : 1); seed++) {
            struct bench b = {0};
            char *why = NULL;
            struct orders *o = orders_new(orders[i], seed, &why);
            set_up(&b, move, COMMUNICATION_CTA);
            b.order = orders_get(o);
            const struct communication_result *r = run(
                &b, &(struct pattern){{16, 1, 1}, 64, 3, reads_halo_1});
            cr_assert_eq(r->pair_count, 1);
            if (!i) first = *r->pairs;
            cr_expect_arr_eq(r->pairs, &first, sizeof first, "%s", orders[i]);
            tear_down(&b);
            orders_free(o);
        }
}

/* ---- random kernels against the whole log -------------------------------------------------------- */

enum { BYTES = 2048, LAUNCHES = 4, NODES = 8, MOST_LOG = 1 << 16 };

struct version {
    uint32_t launch, node; /* launch 0: node 1 is the host, node 0 nobody */
};

struct logged {
    uint8_t kind;
    uint32_t cta, offset, size;
};

struct reference {
    uint64_t base;
    struct logged log[MOST_LOG]; /* of the launch that runs */
    size_t count;
    struct version bytes[BYTES];
    struct communication_launch launches[LAUNCHES + 1];
    uint32_t launch;
    /* By (writer's launch, writer, reader; NODES: several), of the launch that ends. */
    bool moved[LAUNCHES + 1][NODES + 1][NODES + 1][BYTES];
    uint64_t edge_bytes, edges, scatter, gather, point_to_point;
    bool has_read[NODES + 1][BYTES]; /* what was written before the launch; loads and atomics */
};

static void log_access(void *self, const struct emu_access *a)
{
    struct reference *r = self;
    for (uint32_t l = 0; l < 32; l++) {
        if (a->space != PTX_SPACE_GLOBAL || !(a->lanes >> l & 1)) continue;
        cr_assert_lt(r->count, MOST_LOG);
        r->log[r->count++] = (struct logged){a->kind, a->who->cta,
                                             (uint32_t)(a->address[l] - r->base),
                                             (uint32_t)a->width * a->count};
    }
}

static void reference_read(struct reference *r, struct version v, uint32_t to, uint32_t at)
{
    struct communication_launch *l = &r->launches[r->launch];
    if (r->has_read[to][at]) return;
    r->has_read[to][at] = true;
    l->read++;
    if (!v.launch && v.node) l->from_host++;
    else if (!v.launch) l->initial++;
    else if (v.node == to && to != NODES) l->stays++;
    else {
        l->communicated++;
        r->moved[v.launch][v.node][to][at] = true;
    }
}

static uint32_t atomic_node[BYTES / 4]; /* 0: none; node + 1 */
static bool atomic_byte[BYTES];
static struct version atomic_before[BYTES];

static void reference_atomic(struct reference *r, const struct logged *x)
{
    for (uint32_t at = x->offset; at < x->offset + x->size; at++)
        if (!atomic_byte[at]) {
            atomic_byte[at] = true;
            atomic_before[at] = r->bytes[at];
        }
    for (uint32_t w = x->offset / 4; w <= (x->offset + x->size - 1) / 4; w++) {
        if (!atomic_node[w]) atomic_node[w] = x->cta + 1;
        else if (atomic_node[w] != x->cta + 1) atomic_node[w] = NODES + 1;
    }
    for (uint32_t at = x->offset; at < x->offset + x->size; at++)
        r->bytes[at] = (struct version){r->launch, atomic_node[at / 4] - 1};
}

/* What was logged, one byte after the other. */
static void replay_log(struct reference *r)
{
    static bool seen[NODES][BYTES];
    struct communication_launch *l = &r->launches[r->launch];
    memset(seen, 0, sizeof seen);
    memset(atomic_node, 0, sizeof atomic_node);
    memset(atomic_byte, 0, sizeof atomic_byte);
    memset(r->moved, 0, sizeof r->moved);
    memset(r->has_read, 0, sizeof r->has_read);
    for (size_t i = 0; i < r->count; i++) {
        const struct logged *x = &r->log[i];
        if (x->kind != EMU_STORE) l->loaded += x->size;
        if (x->kind != EMU_LOAD) l->stored += x->size;
        if (x->kind == EMU_ATOMIC || x->kind == EMU_RED) reference_atomic(r, x);
        for (uint32_t at = x->offset; at < x->offset + x->size; at++) {
            if (x->kind == EMU_STORE) r->bytes[at] = (struct version){r->launch, x->cta};
            if (x->kind != EMU_LOAD || seen[x->cta][at]) continue;
            seen[x->cta][at] = true;
            const struct version v = r->bytes[at];
            if (v.launch != r->launch) reference_read(r, v, x->cta, at);
            else if (v.node != x->cta) l->inside++;
        }
    }
    for (uint32_t at = 0; at < BYTES; at++) {
        if (atomic_byte[at] && atomic_before[at].launch != r->launch)
            reference_read(r, atomic_before[at], atomic_node[at / 4] - 1, at);
        if (at % 4 == 0 && atomic_node[at / 4]) l->atomic_words++;
        if (at % 4 == 0 && atomic_node[at / 4] == NODES + 1) l->several_words++;
    }
    r->count = 0;
}

/* Sums over what was moved. */
static void add_up(struct reference *r)
{
    uint64_t of[LAUNCHES + 1][NODES + 1][NODES + 1] = {0};
    for (uint32_t at = 0; at < BYTES; at++) {
        uint64_t readers = 0;
        for (uint32_t v = 1; v < r->launch; v++)
            for (uint32_t a = 0; a <= NODES; a++)
                for (uint32_t b = 0; b <= NODES; b++) {
                    readers += r->moved[v][a][b][at];
                    of[v][a][b] += r->moved[v][a][b][at];
                }
        if (readers == 1) r->point_to_point++;
        else r->scatter += readers;
    }
    for (uint32_t b = 0; b <= NODES; b++) {
        uint64_t sources = 0, bytes = 0;
        for (uint32_t v = 1; v < r->launch; v++)
            for (uint32_t a = 0; a <= NODES; a++) {
                sources += of[v][a][b] > 0;
                bytes += of[v][a][b];
            }
        r->edges += sources;
        r->edge_bytes += bytes;
        if (sources > 1) r->gather += bytes;
    }
}

/* Accesses at addresses that depend on the thread. */
static void put_random_kernel(char *to, size_t size, uint64_t *g)
{
    static const char *const ops[] = {"ld.global.u8 %h, [%d2];",
                                      "ld.global.u16 %h, [%d2];",
                                      "ld.global.u32 %r1, [%d2];",
                                      "ld.global.v2.u32 {%r1, %r2}, [%d2];",
                                      "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d2];",
                                      "st.global.u8 [%d2], 1;",
                                      "st.global.u16 [%d2], 1;",
                                      "st.global.u32 [%d2], %r9;",
                                      "st.global.u64 [%d2], %d9;",
                                      "st.global.v4.u32 [%d2], {%r9, %r9, %r9, %r9};",
                                      "atom.global.add.u32 %r1, [%d2], 1;",
                                      "red.global.add.u32 [%d2], 1;",
                                      "red.global.add.u64 [%d2], 1;",
                                      "atom.global.add.noftz.f16x2 %r1, [%d2], %r9;"};
    static const uint32_t widths[] = {1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 4, 4, 8, 4};
    size_t n = (size_t)snprintf(
        to, size,
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b16 %%h; .reg .b32 %%r<16>; .reg .b64 %%d<10>;\n"
        "ld.param.u64 %%d1, [p]; mov.u32 %%r9, %%ctaid.x; mov.u32 %%r10, %%tid.x;\n"
        "mov.u64 %%d9, 7; mad.lo.u32 %%r9, %%r9, 64, %%r10;\n");
    const uint32_t count = 3 + (uint32_t)(rng_next(g) % 10);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t o = (uint32_t)(rng_next(g) % (sizeof ops / sizeof *ops)),
                       step = (uint32_t)(rng_next(g) % 4 ? 1 : rng_next(g) % 37),
                       first = (uint32_t)(rng_next(g) % 999);
        n += (size_t)snprintf(to + n, size - n,
                              "mad.lo.u32 %%r11, %%r9, %u, %u; rem.u32 %%r11, %%r11, %u;\n"
                              "mul.wide.u32 %%d2, %%r11, %u; add.u64 %%d2, %%d1, %%d2;\n%s\n",
                              step, first, BYTES / widths[o], widths[o], ops[o]);
    }
    snprintf(to + n, size - n, "ret;\n}\n");
}

static void host_step(struct bench *b, struct reference *r, uint64_t *g)
{
    static uint8_t some[BYTES];
    const uint32_t size = 1 + (uint32_t)(rng_next(g) % 200),
                   to = (uint32_t)(rng_next(g) % (BYTES - size)),
                   from = (uint32_t)(rng_next(g) % (BYTES - size));
    if (rng_next(g) % 2) {
        cr_assert(emu_copy_in(b->emu, r->base + to, some, size));
        for (uint32_t i = 0; i < size; i++) r->bytes[to + i] = (struct version){0, 1};
    } else if (to + size <= from || from + size <= to) {
        cr_assert(emu_copy(b->emu, r->base + to, r->base + from, size));
        memcpy(&r->bytes[to], &r->bytes[from], size * sizeof *r->bytes);
    }
    cr_assert(emu_copy_out(b->emu, some, r->base + from, size));
    for (uint32_t i = 0; i < size; i++)
        if (r->bytes[from + i].launch) r->launches[r->bytes[from + i].launch].to_host++;
}

static void compare(const struct reference *want, const struct communication_result *r,
                    uint64_t seed)
{
    uint64_t bytes = 0, edges = 0, scatter = 0, gather = 0, single = 0;
    cr_assert_eq(r->launch_count, LAUNCHES);
    for (size_t i = 0; i < LAUNCHES; i++) {
        const struct communication_launch *a = &r->launches[i], *b = &want->launches[i + 1];
        const uint64_t got[] = {a->loaded,       a->stored,        a->read,    a->communicated,
                                a->stays,        a->from_host,     a->initial, a->inside,
                                a->atomic_words, a->several_words, a->to_host},
                       all[] = {b->loaded,       b->stored,        b->read,    b->communicated,
                                b->stays,        b->from_host,     b->initial, b->inside,
                                b->atomic_words, b->several_words, b->to_host};
        for (size_t k = 0; k < sizeof got / sizeof *got; k++)
            cr_expect_eq(got[k], all[k], "seed %lu, launch %zu, number %zu: %lu, not %lu",
                         (unsigned long)seed, i, k, (unsigned long)got[k], (unsigned long)all[k]);
    }
    for (size_t i = 0; i < r->pair_count; i++) {
        bytes += r->pairs[i].bytes;
        edges += r->pairs[i].edges;
        scatter += r->pairs[i].scatter;
        gather += r->pairs[i].gather;
        single += r->pairs[i].point_to_point;
    }
    cr_expect_eq(bytes, want->edge_bytes, "seed %lu", (unsigned long)seed);
    cr_expect_eq(edges, want->edges, "seed %lu: %lu edges, not %lu", (unsigned long)seed,
                 (unsigned long)edges, (unsigned long)want->edges);
    cr_expect_eq(scatter, want->scatter, "seed %lu", (unsigned long)seed);
    cr_expect_eq(single, want->point_to_point, "seed %lu", (unsigned long)seed);
    cr_expect_eq(gather, want->gather, "seed %lu", (unsigned long)seed);
}

Test(communication, random_kernels_agree_with_a_log_of_all_accesses)
{
    static struct reference r;
    static char text[1 << 14];
    for (uint64_t seed = 1; seed <= 200 / THINNED; seed++) {
        uint64_t g = seed;
        struct bench b = {0};
        memset(&r, 0, sizeof r);
        put_random_kernel(text, sizeof text, &g);
        set_up(&b, text, COMMUNICATION_CTA);
        r.base = emu_alloc(b.emu, BYTES, "bytes");
        const struct emu_observer logs = {.self = &r, .access = log_access, .ignores_data = true};
        b.list[b.observers++] = &logs;
        for (r.launch = 1; r.launch <= LAUNCHES; r.launch++) {
            launch(&b, 1 + (uint32_t)(rng_next(&g) % NODES), 1, 1,
                   1 + (uint32_t)(rng_next(&g) % 64), &r.base, 1);
            replay_log(&r);
            add_up(&r);
            host_step(&b, &r, &g);
        }
        compare(&r, communication_result(b.c), seed);
        tear_down(&b);
    }
}
