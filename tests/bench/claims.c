/* What the papers say of GPUDet and DAB, counted here: `make claims`. docs/claims.md holds the two against each
 * other.
 *
 *     claims [ends|barriers|search|bloom|serial|atomics|flushes|results [RUNS]]
 *
 * Workloads are small. gpudet runs on a GTX 480 (thesis, table 5.2), dab on a TITAN V (paper, table I). */
#define _GNU_SOURCE
#include "base/arena.h"
#include "base/diag.h"
#include "cuda/device.h"
#include "determinism/orders.h"
#include "emu/counts.h"
#include "emu/emu.h"
#include "ptx/ptx.h"
#include "suites/graph.h"
#include "suites/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts of a run -------------------------------------------------------------------------------- */

enum { MOST = 64 };
struct tally {
    double warp, thread; /* instructions */
    char names[MOST][32];
    double values[MOST];
    size_t count;
};

/* Of several launches the sum; the longest log of any. */
static void add(struct tally *t, const char *name, double value)
{
    const bool most = strcmp(name, "gpudet.log.longest") == 0;
    size_t i = 0;
    while (i < t->count && strcmp(t->names[i], name) != 0) i++;
    if (i == MOST) abort();
    if (i == t->count) snprintf(t->names[t->count++], sizeof *t->names, "%s", name);
    if (!most) t->values[i] += value;
    else if (value > t->values[i]) t->values[i] = value;
}

static double of(const struct tally *t, const char *name)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->names[i], name) == 0) return t->values[i];
    return 0;
}

static void after(void *self, const char *kernel, const struct emu_launch *l,
                  const struct emu_report *report)
{
    struct tally *t = self;
    (void)kernel, (void)l;
    t->warp += (double)report->warp_instructions;
    t->thread += (double)report->thread_instructions;
    for (size_t i = 0; i < report->counts->number_count; i++)
        add(t, report->counts->numbers[i].name, (double)report->counts->numbers[i].value);
}

static struct orders *order_of(const char *text, uint64_t seed)
{
    char *why = NULL;
    struct orders *o = orders_new(text, seed, &why);
    if (o) return o;
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static struct tally run(const char *workload, const char *order)
{
    struct tally t = {0};
    struct orders *o = order_of(order, 1);
    cuda_device_configure(
        &(struct emu_config){.threads = 1,
                             .count = true,
                             .order = orders_get(o),
                             .gpu = emu_gpu_find(*order == 'g' ? "gtx480" : "titanv")});
    cuda_device_watch(&(struct cuda_watch){.self = &t, .after = after});
    const struct suite_result r = suite_run(suite_find(workload),
                                            &(struct suite_options){.seed = 1});
    cuda_device_watch(NULL);
    cuda_device_reset();
    orders_free(o);
    if (!r.passed) fprintf(stderr, "%s, %s: %s\n", workload, order, r.message);
    return t;
}

/* ---- GPUDet ----------------------------------------------------------------------------------------- */

static const char *const ends[] = {"limit", "atomic", "fence", "strong", "barrier",
                                   "exit",  "wait",   "log",   "runtime"};
enum { ENDS = sizeof ends / sizeof *ends };

static double end_of(const struct tally *t, size_t i)
{
    char name[32];
    snprintf(name, sizeof name, "gpudet.end.%s", ends[i]);
    return of(t, name);
}

static double all_ends(const struct tally *t)
{
    double n = 0;
    for (size_t i = 0; i < ENDS; i++) n += end_of(t, i);
    return n;
}

static void claim_ends(int runs)
{
    static const char *const works[] = {"aes",        "bfs_racy",   "bfs_sparse", "bfs_parent",
                                        "mandelbrot", "hotspot",    "stencil_3d", "pathfinder",
                                        "hash_chain", "hash_probe", "centrality", "sum_atomic"};
    (void)runs;
    printf("Ends of parallel modes, %% (figure 4.2: quantum 200, no BTA, no DWP)\n%-12s", "");
    for (size_t i = 0; i < ENDS; i++) printf(" %7s", ends[i]);
    printf("\n");
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        const struct tally t = run(works[w], "gpudet:bta=off:dwp=off");
        printf("%-12s", works[w]);
        for (size_t i = 0; i < ENDS; i++) printf(" %7.1f", 100 * end_of(&t, i) / all_ends(&t));
        printf("\n");
    }
}

static void claim_barriers(int runs)
{
    static const char *const works[] = {"aes",        "hotspot",       "stencil_3d",
                                        "pathfinder", "nbody",         "scan_blocks",
                                        "sgemm_16",   "reduce_shared", "conv_gradient"};
    (void)runs;
    printf("Quanta without BTA and with it (4.2.1), and instructions of a warp in one\n"
           "%-14s %8s %8s %8s %14s %14s\n",
           "", "without", "with", "ratio", "at 200", "at 1000");
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        const struct tally off = run(works[w], "gpudet:bta=off"), on = run(works[w], "gpudet"),
                           more = run(works[w], "gpudet:bta=off:quantum=1000");
        printf("%-14s %8.0f %8.0f %8.2f %14.1f %14.1f\n", works[w], of(&off, "gpudet.quanta"),
               of(&on, "gpudet.quanta"), of(&off, "gpudet.quanta") / of(&on, "gpudet.quanta"),
               off.warp / all_ends(&off), more.warp / all_ends(&more));
    }
}

static void claim_search(int runs)
{
    static const char *const works[] = {"bfs_racy", "bfs_sparse"}, *const sizes[] = {"100", "200",
                                                                                     "600", "1000",
                                                                                     "10000"};
    (void)runs;
    printf("Thread instructions of searches by quantum, %% more than at 200 (6.3.1)\n%-12s", "");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) printf(" %8s", sizes[i]);
    printf("\n");
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        const double base = run(works[w], "gpudet").thread;
        printf("%-12s", works[w]);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char order[64];
            snprintf(order, sizeof order, "gpudet:quantum=%s", sizes[i]);
            printf(" %8.2f", 100 * (run(works[w], order).thread / base - 1));
        }
        printf("\n");
    }
}

static void claim_bloom(int runs)
{
    static const char *const works[] = {"bfs_racy",   "bfs_sparse", "bfs_parent",
                                        "stencil_2d", "stencil_3d", "scatter_last",
                                        "hash_chain", "centrality", "transpose_naive"},
                             *const bits[] = {"128", "256", "512", "1024"};
    (void)runs;
    printf(
        "Loads that search a log in vain, in 1000 queries, by bits of the filter; entries that a query\n"
        "walks at 256 bits and at 65536; the longest log (figure 6.6)\n%-16s",
        "");
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) printf(" %8s", bits[i]);
    printf(" %8s %8s %8s\n", "walk", "ideal", "longest");
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        double walked = 0;
        printf("%-16s", works[w]);
        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
            char order[64];
            snprintf(order, sizeof order, "gpudet:bloom=%s", bits[i]);
            const struct tally t = run(works[w], order);
            printf(" %8.2f", 1000 * of(&t, "gpudet.bloom.false") / of(&t, "gpudet.bloom.queries"));
            if (i == 1) walked = of(&t, "gpudet.log.walked") / of(&t, "gpudet.bloom.queries");
        }
        const struct tally t = run(works[w], "gpudet:bloom=65536");
        printf(" %8.3f %8.3f %8.0f\n", walked,
               of(&t, "gpudet.log.walked") / of(&t, "gpudet.bloom.queries"),
               of(&t, "gpudet.log.longest"));
    }
}

static void claim_serial(int runs)
{
    static const char *const works[] = {"hash_chain", "hash_probe", "histogram_global",
                                        "centrality", "sum_atomic", "conv_gradient"};
    (void)runs;
    printf("Turns in serial mode: of warps, of SMs (figure 6.4)\n%-18s %10s %10s %8s\n", "",
           "W-Ser", "CU-Ser", "ratio");
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        const struct tally warps = run(works[w], "gpudet:serial=warp"),
                           sms = run(works[w], "gpudet");
        const double a = of(&warps, "gpudet.serial.rounds"), b = of(&sms, "gpudet.serial.rounds");
        printf("%-18s %10.0f %10.0f %8.2f\n", works[w], a, b, a / b);
    }
}

/* ---- DAB -------------------------------------------------------------------------------------------- */

static void claim_atomics(int runs)
{
    static const char *const works[] = {"centrality",  "pagerank",  "conv_gradient",   "sum_atomic",
                                        "segment_sum", "index_add", "histogram_global"};
    (void)runs;
    printf("Atomics in 1000 instructions (tables II, III)\n");
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        const struct tally t = run(works[w], "dab");
        printf("%-18s %8.2f\n", works[w], 1000 * of(&t, "dab.reductions") / t.thread);
    }
}

static void claim_flushes(int runs)
{
    static const char *const works[] = {"centrality", "pagerank", "conv_gradient", "sum_atomic",
                                        "index_add"},
                             *const orders[] = {"dab:fusion=off:coalescing=off",
                                                "dab:fusion=off",
                                                "dab:coalescing=off",
                                                "dab",
                                                "dab:entries=32",
                                                "dab:entries=256",
                                                "dab:level=warp"};
    (void)runs;
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        printf("%-34s %10s %10s %10s %8s\n", works[w], "reductions", "entries", "transact.",
               "flushes");
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
            const struct tally t = run(works[w], orders[i]);
            double flushes = 0;
            for (size_t k = 0; k < t.count; k++)
                if (strncmp(t.names[k], "dab.flushes.", 12) == 0) flushes += t.values[k];
            printf("  %-32s %10.0f %10.0f %10.0f %8.0f\n", orders[i], of(&t, "dab.reductions"),
                   of(&t, "dab.entries"), of(&t, "dab.transactions"), flushes);
        }
    }
}

/* ---- figure 1.1 ------------------------------------------------------------------------------------- */

enum { NODES = 65536, LEAST = 24000, STEP = 6000, MOST_EDGES = 36000, MOST_RUNS = 500 };

/* Marks what can be reached from a node; how much that is. */
static size_t reach(const struct graph *g, uint32_t from, bool *seen, uint32_t *queue)
{
    size_t head = 0, tail = 0;
    queue[tail++] = from;
    seen[from] = true;
    while (head < tail) {
        const uint32_t v = queue[head++];
        for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
            if (!seen[g->column[e]]) {
                seen[g->column[e]] = true;
                queue[tail++] = g->column[e];
            }
    }
    return tail;
}

/* A node of the largest part. */
static uint32_t in_largest(const struct graph *g)
{
    bool *seen = calloc(NODES, sizeof *seen);
    uint32_t *queue = malloc(NODES * sizeof *queue), best = 0;
    size_t most = 0;
    if (!seen || !queue) abort();
    for (uint32_t v = 0; v < NODES; v++) {
        const size_t n = seen[v] ? 0 : reach(g, v, seen, queue);
        if (n > most) most = n, best = v;
    }
    free(seen);
    free(queue);
    return best;
}

struct device {
    struct emu *e;
    struct emu_kernel *kernel;
    uint64_t row, column, active, visited, cost, over;
};

/* The digest of the costs that a search from there leaves. */
static uint64_t search(struct device *d, uint32_t source, const struct emu_order *order)
{
    static uint32_t costs[NODES];
    const uint32_t none = UINT32_MAX, zero = 0, one = 1;
    emu_fill(d->e, d->active, &zero, 4, NODES);
    emu_fill(d->e, d->visited, &zero, 4, NODES);
    emu_fill(d->e, d->cost, &none, 4, NODES);
    emu_copy_in(d->e, d->active + 4 * (uint64_t)source, &one, 4);
    emu_copy_in(d->e, d->visited + 4 * (uint64_t)source, &one, 4);
    emu_copy_in(d->e, d->cost + 4 * (uint64_t)source, &zero, 4);
    struct {
        uint32_t nodes;
        uint64_t row, column, active, visited, cost, over;
    } params = {NODES, d->row, d->column, d->active, d->visited, d->cost, d->over};
    for (uint32_t over = 1; over;) {
        emu_copy_in(d->e, d->over, &zero, 4);
        const struct emu_launch l = {.grid = {NODES / 256, 1, 1},
                                     .block = {256, 1, 1},
                                     .params = &params,
                                     .params_size = sizeof params,
                                     .order = order};
        if (emu_launch(d->e, d->kernel, &l)->fault.kind != EMU_OK) abort();
        emu_copy_out(d->e, &over, d->over, 4);
    }
    emu_copy_out(d->e, costs, d->cost, sizeof costs);
    uint64_t digest = 0;
    for (uint32_t v = 0; v < NODES; v++) digest = (digest ^ costs[v]) * UINT64_C(0x100000001b3);
    return digest;
}

static unsigned results(struct device *d, uint32_t edges, const char *text, int runs)
{
    uint64_t digests[MOST_RUNS];
    unsigned different = 0;
    struct graph *g = graph_undirected(NODES, edges, edges);
    const uint32_t source = in_largest(g);
    emu_copy_in(d->e, d->row, g->row, (NODES + 1) * sizeof *g->row);
    emu_copy_in(d->e, d->column, g->column, g->edges * sizeof *g->column);
    for (int i = 0; i < runs; i++) {
        struct orders *o = order_of(text, (uint64_t)i + 1);
        digests[i] = search(d, source, orders_get(o));
        orders_free(o);
        int k = 0;
        while (digests[k] != digests[i]) k++;
        different += k == i;
    }
    graph_free(g);
    return different;
}

static void claim_results(int runs)
{
    struct arena *arena = arena_new();
    const char *text = suite_ptx("bfs");
    struct source source = {"bfs.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    char *why = NULL;
    struct device d = {.e = emu_new(&(struct emu_config){.gpu = emu_gpu_find("gtx480")})};
    struct emu_image *image = ptx_module_check(m) ? emu_load(d.e, &m, 1, &why) : NULL;
    if (!image) abort();
    d.kernel = emu_kernel_find(image, "bfs_racy");
    d.row = emu_alloc(d.e, (NODES + 1) * 4, "row");
    d.column = emu_alloc(d.e, (uint64_t)MOST_EDGES * 8, "column");
    d.active = emu_alloc(d.e, NODES * 4, "active");
    d.visited = emu_alloc(d.e, NODES * 4, "visited");
    d.cost = emu_alloc(d.e, NODES * 4, "cost");
    d.over = emu_alloc(d.e, 4, "over");
    printf("Different results of %d searches of one graph, by edges (figure 1.1)\n%8s %8s %8s\n",
           runs, "edges", "random", "gpudet");
    for (uint32_t edges = LEAST; edges <= MOST_EDGES; edges += STEP) {
        printf("%8u %8u", edges, results(&d, edges, "random", runs));
        printf(" %8u\n", results(&d, edges, "gpudet", runs < 5 ? runs : 5));
        fflush(stdout);
    }
    emu_unload(image);
    emu_free(d.e);
    ptx_module_end(m);
    arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*show)(int runs);
    } claims[] = {{"ends", claim_ends},       {"barriers", claim_barriers},
                  {"search", claim_search},   {"bloom", claim_bloom},
                  {"serial", claim_serial},   {"atomics", claim_atomics},
                  {"flushes", claim_flushes}, {"results", claim_results}};
    const int runs = argc > 2 ? atoi(argv[2]) : 20;
    if (runs < 1 || runs > MOST_RUNS) return 2;
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        if (argc > 1 && strcmp(argv[1], claims[i].name) != 0) continue;
        claims[i].show(runs);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
