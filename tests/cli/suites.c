/* Every workload passes, in small; and what a workload reports when it does not. */
#define _GNU_SOURCE
#include "cuda/device.h"
#include "determinism/orders.h"
#include "suites/suite.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct totals {
    uint64_t launches, instructions;
};

static void count(void *self, const char *kernel, const struct emu_launch *launch,
                  const struct emu_report *report)
{
    struct totals *t = self;
    (void)kernel, (void)launch;
    t->launches++;
    t->instructions += report->thread_instructions;
}

/* With two host threads, counts on, and a limit that ends what would hang. */
static struct suite_result run(const char *name, struct emu_config config, struct totals *t)
{
    *t = (struct totals){0, 0};
    config.count = true;
    if (!config.timeout) config.timeout = 60;
    cuda_device_configure(&config);
    cuda_device_watch(&(struct cuda_watch){.self = t, .after = count});
    struct suite_result r = suite_run(suite_find(name),
                                      &(struct suite_options){.size = SUITE_SMALL, .seed = 3});
    cuda_device_reset();
    return r;
}

Test(suites, every_workload_passes, .timeout = 300)
{
    for (size_t i = 0; i < suite_count(); i++) {
        struct totals t;
        const char *name = suite_at(i)->name;
        struct suite_result r = run(name, (struct emu_config){.threads = 2}, &t);
        cr_expect(r.passed, "%s: %s", name, r.message);
        cr_expect(r.launches == t.launches && t.launches > 0);
        /* In ticket most of the time is waiting, of which there may be none: each of 3,200 threads executes 38 instructions
         * beside those of the one that takes its warp's ticket. */
        const uint64_t least = strcmp(name, "ticket") == 0 ? 3200 * 38 : 500000;
        cr_expect(t.instructions > least && t.instructions < 100000000, "%s: %llu instructions",
                  name, (unsigned long long)t.instructions);
    }
}

/* Inputs by name: each is verified by the host like the sizes. Nodes and edges of graphs are those of DAB's table II. */
Test(suites, named_inputs_pass, .timeout = 300)
{
    static const struct {
        const char *workload, *input;
    } cases[] = {{"sum_atomic", "n=257"},
                 {"sum_lock", "n=300"},
                 {"sum_lock_test", "n=1"},
                 {"sum_lock_backoff", "n=129"},
                 {"betweenness", "1k"},
                 {"betweenness", "fa"},
                 {"betweenness", "fol"},
                 {"betweenness", "cnr"},
                 {"bank", "published"},
                 {"cloth", "plain"},
                 {"cloth_opt", "plain"},
                 {"hash_chain", "plain"},
                 {"conv_filter", "cnv2_3"},
                 {"conv_filter", "cnv3_1"},
                 {"conv_filter", "cnv4_2"},
                 {"pagerank", "coa"},
                 {"bfs_sparse", "edges=3000"},
                 {"bfs_sparse", "graph=2:edges=41000"},
                 {"conv_filter", "images=2"},
                 {"conv_filter", "cnv4_1:images=2"},
                 {"conv_filter", "cnv3_1:images=2"}, /* a CTA's pixels lie in both */
                 {"aes_columns", "blocks=16448"},
                 {"coulomb", "ispass"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += THINNED) {
        const struct suite_workload *w = suite_find(cases[i].workload);
        struct suite_options o = {.size = SUITE_SMALL, .seed = 3};
        cr_assert(suite_input_read(w, cases[i].input, &o), "%s", cases[i].input);
        cuda_device_configure(&(struct emu_config){.threads = 2, .timeout = 60});
        const struct suite_result r = suite_run(w, &o);
        cuda_device_reset();
        cr_expect(r.passed, "%s:%s: %s", cases[i].workload, cases[i].input, r.message);
    }
    struct suite_options o = {0};
    cr_expect(suite_input_read(suite_find("saxpy"), "large", &o) && o.size == SUITE_LARGE);
    static const char *const wrong[] = {"",     "n=",   "n=0",          "n=x",
                                        "n=4x", "n=-1", "n=9999999999", "1k"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect(!suite_input_read(suite_find("sum_lock"), wrong[i], &o), "%s", wrong[i]);
    cr_expect(!suite_input_read(suite_find("betweenness"), "1", &o));
    cr_expect(!suite_input_read(suite_find("betweenness"), "1k|2k", &o));
    cr_expect(!suite_input_read(suite_find("saxpy"), "n=4", &o));
    static const char *const wrong_layers[] = {
        "cnv2_1:cnv2_2", "images=1:cnv5_1", "cnv2_1:", "cnv2_1:small", ":cnv2_1", "images"};
    for (size_t i = 0; i < sizeof wrong_layers / sizeof *wrong_layers; i++)
        cr_expect(!suite_input_read(suite_find("conv_filter"), wrong_layers[i], &o), "%s",
                  wrong_layers[i]);
    static const char *const wrong_graphs[] = {"edges",           "edges=1:",       ":edges=1",
                                               "edges=1:edges=2", "graph=1:small",  "nodes=10",
                                               "edges=1|2",       "edges=1:graph=0"};
    for (size_t i = 0; i < sizeof wrong_graphs / sizeof *wrong_graphs; i++)
        cr_expect(!suite_input_read(suite_find("bfs_sparse"), wrong_graphs[i], &o), "%s",
                  wrong_graphs[i]);
}

static uint64_t digest_of(const char *workload, const char *input)
{
    const struct suite_workload *w = suite_find(workload);
    struct suite_options o = {.seed = 1};
    cr_assert(suite_input_read(w, input, &o), "%s", input);
    cuda_device_configure(&(struct emu_config){.threads = 1, .timeout = 60});
    const struct suite_result r = suite_run(w, &o);
    cuda_device_reset();
    cr_assert(r.passed, "%s: %s", input, r.message);
    return r.digest;
}

/* Figure 1.1's graphs: each number of edges and each graph is another one; the sequence of the keys does not matter. */
Test(suites, numbers_choose_the_graph)
{
    const uint64_t one = digest_of("bfs_sparse", "edges=40000:graph=1");
    cr_expect_eq(one, digest_of("bfs_sparse", "graph=1:edges=40000"));
    cr_expect_eq(one, digest_of("bfs_sparse", "edges=40000"));
    cr_expect_neq(one, digest_of("bfs_sparse", "edges=40000:graph=2"));
    cr_expect_neq(one, digest_of("bfs_sparse", "edges=40001:graph=1"));
    cr_expect_eq(digest_of("bfs_sparse", "graph=1"), digest_of("bfs_sparse", "edges=42000"));
    const uint64_t parents = digest_of("bfs_parent", "graph65536");
    cr_expect_eq(parents, digest_of("bfs_parent", "graph65536:graph=1"));
    cr_expect_neq(parents, digest_of("bfs_parent", "graph65536:graph=2"));
    cr_expect_eq(parents, digest_of("bfs_parent", "graph=1"));
}

/* Locks by acquire and release protect plain accesses also where stores are late and loads stale. */
Test(suites, plain_accesses_under_locks_pass_in_random_orders, .timeout = 300)
{
    static const char *const cases[][2] = {{"hash_chain", "plain"}, {"cloth_opt", "plain"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            const struct suite_workload *w = suite_find(cases[i][0]);
            char *why = NULL;
            struct orders *order = orders_new("random", seed, &why);
            struct suite_options o = {.seed = 1};
            cr_assert(order && suite_input_read(w, cases[i][1], &o));
            cuda_device_configure(
                &(struct emu_config){.threads = 1, .timeout = 120, .order = orders_get(order)});
            const struct suite_result r = suite_run(w, &o);
            cuda_device_reset();
            orders_free(order);
            cr_expect(r.passed, "%s, seed %d: %s", w->name, (int)seed, r.message);
        }
}

Test(suites, every_workload_passes_with_independent_threads, .timeout = 300)
{
    for (size_t i = 0; i < suite_count(); i += THINNED) {
        struct totals t;
        const char *name = suite_at(i)->name;
        struct suite_result r = run(name, (struct emu_config){.threads = 1, .divergence = EMU_ITS},
                                    &t);
        cr_expect(r.passed, "%s: %s", name, r.message);
    }
}

/* CTAs of these tell each other things by plain loads and stores, in no order that PTX would give them. */
static bool races(const char *name)
{
    static const char *const names[] = {"betweenness",  "bfs_parent",  "bfs_racy",    "bfs_sparse",
                                        "racey_global", "racey_warps", "scatter_last"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static void digest(void *self, const char *kernel, const struct emu_launch *launch,
                   const struct emu_report *report)
{
    uint64_t *all = self;
    (void)kernel, (void)launch, (void)report;
    *all = *all * UINT64_C(0x100000001b3) + emu_digest(cuda_device_emu());
}

Test(suites, results_do_not_depend_on_the_number_of_host_threads, .timeout = 300)
{
    for (size_t i = 0; i < suite_count(); i += THINNED) {
        const char *name = suite_at(i)->name;
        uint64_t digests[3] = {0};
        if (races(name)) continue;
        for (unsigned k = 0; k < 3; k++) {
            cuda_device_configure(&(struct emu_config){.threads = 1u << k, .timeout = 60});
            cuda_device_watch(&(struct cuda_watch){.self = &digests[k], .after = digest});
            suite_run(suite_at(i), &(struct suite_options){.size = SUITE_SMALL, .seed = 3});
            cuda_device_reset();
        }
        cr_expect(digests[0] == digests[1] && digests[0] == digests[2], "%s", name);
    }
    cuda_device_watch(NULL);
}

/* How many warps go in lockstep changes the order of warps, and nothing else. */
Test(suites, racey_shows_the_order_of_warps)
{
    static const struct {
        const char *name;
        bool differs;
    } rows[] = {{"racey_global", true},
                {"racey_shared", true},
                {"racey_warps", true},
                {"racey_lanes", false},
                {"sum_lock", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t digests[2] = {0};
        for (unsigned k = 0; k < 2; k++) {
            cuda_device_configure(&(struct emu_config){.threads = 1, .group_warps = k ? 4 : 1});
            cuda_device_watch(&(struct cuda_watch){.self = &digests[k], .after = digest});
            suite_run(suite_find(rows[i].name), &(struct suite_options){.seed = 3});
            cuda_device_reset();
        }
        cr_expect((digests[0] != digests[1]) == rows[i].differs, "%s", rows[i].name);
    }
    cuda_device_watch(NULL);
}

Test(suites, the_table_is_in_order_and_complete)
{
    for (size_t i = 0; i < suite_count(); i++) {
        const struct suite_workload *w = suite_at(i);
        cr_expect(!i || strcmp(suite_at(i - 1)->name, w->name) < 0);
        cr_expect(suite_find(w->name) == w);
        const char *text = suite_ptx(w->ptx);
        cr_assert(text && strstr(text, ".version") && strstr(text, ".target sm_75"), "%s", w->ptx);
    }
    cr_expect(!suite_find("none") && !suite_ptx("none"));
}

/* The least that holds: other seeds give other inputs, the same seed the same. */
Test(suites, inputs_depend_on_the_seed)
{
    struct suite_random a = suite_random(1), b = suite_random(1), c = suite_random(2);
    uint64_t x = suite_random_u64(&a);
    cr_expect(x == 0x910a2dec89025cc1, "splitmix64 of seed 1: %llx", (unsigned long long)x);
    cr_expect(x == suite_random_u64(&b) && x != suite_random_u64(&c));
    for (int i = 0; i < 1000; i++) {
        cr_assert(suite_random_below(&a, 7) < 7);
        float f = suite_random_float(&a);
        cr_assert(f >= 0 && f < 1);
    }
}

/* The harness notices: a launch that is cut short fails the workload, and all of its memory goes back. */
Test(suites, a_failed_launch_is_reported)
{
    struct totals t;
    cuda_device_configure(&(struct emu_config){.threads = 1, .max_instructions = 100});
    cuda_device_watch(&(struct cuda_watch){.quiet = true});
    struct suite_result r = suite_run(suite_find("saxpy"),
                                      &(struct suite_options){.size = SUITE_SMALL, .seed = 1});
    cr_expect(!r.passed && r.error == CUDA_ERROR_LAUNCH_TIMEOUT, "%s", r.message);
    cr_expect(strcmp(r.message,
                     "cuLaunchKernel: CUDA_ERROR_LAUNCH_TIMEOUT (the launch timed out and "
                     "was terminated)") == 0,
              "%s", r.message);
    cr_expect(emu_allocation_count(cuda_device_emu()) == 0);
    r = suite_run(suite_find("saxpy"), &(struct suite_options){.seed = 1, .graph = "x"});
    cr_expect(strcmp(r.message, "'saxpy' takes no graph") == 0, "%s", r.message);
    r = suite_run(suite_find("spmv_scalar"), &(struct suite_options){.seed = 1, .graph = "/none"});
    cr_expect(strcmp(r.message, "/none: No such file or directory") == 0, "%s", r.message);
    r = run("saxpy", (struct emu_config){.threads = 1, .memory = 1 << 20}, &t);
    cr_expect(!r.passed && r.error == CUDA_ERROR_OUT_OF_MEMORY, "%s", r.message);
}

/* Breaks the result of a launch behind the workload's back, in byte *self of a word. */
static void spoil(void *self, const char *kernel, const struct emu_launch *launch,
                  const struct emu_report *report)
{
    const size_t *byte = self;
    (void)kernel, (void)launch, (void)report;
    struct emu *e = cuda_device_emu();
    for (size_t i = 0; i < emu_allocation_count(e); i++) {
        struct emu_allocation a = emu_allocation_at(e, i);
        unsigned char *p = emu_bytes(e, a.address, a.size);
        if (p && !a.constant) p[a.size / 2 + *byte] ^= 0x40;
    }
}

Test(suites, a_wrong_bit_is_noticed, .timeout = 300)
{
    /* Sums of floats in any order have only bounds, so there it is a bit of the exponent. */
    static const struct {
        size_t byte;
        const char *names[19];
    } rows[] = {
        {0,
         {"saxpy", "sgemm_16", "aes", "nbody", "hotspot", "scan_blocks", "mandelbrot",
          "reduce_shuffle", "bank", "transpose_tiled", "spmv_vector", "racey_global",
          "racey_shared", "order_exchange", "order_mixed", "append", "scatter_last", "sum_lock"}},
        {0, {"coulomb", "euler", "libor", "srad"}},
        {3, {"index_add", "segment_sum", "conv_gradient", "pagerank"}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (const char *const *name = rows[k].names; *name; name++) {
            size_t byte = rows[k].byte;
            cuda_device_configure(&(struct emu_config){.threads = 1});
            cuda_device_watch(&(struct cuda_watch){.self = &byte, .after = spoil});
            struct suite_result r = suite_run(
                suite_find(*name), &(struct suite_options){.size = SUITE_SMALL, .seed = 1});
            cr_expect(!r.passed && r.error == CUDA_SUCCESS, "%s", *name);
        }
    struct suite_options published = {.seed = 1};
    size_t byte = 0;
    cr_assert(suite_input_read(suite_find("bank"), "published", &published));
    cuda_device_configure(&(struct emu_config){.threads = 1});
    cuda_device_watch(&(struct cuda_watch){.self = &byte, .after = spoil});
    cr_expect(!suite_run(suite_find("bank"), &published).passed);
    cuda_device_watch(NULL);
}

/* The same behind the last of the six launches of a cloth: a bit of a lock would make the next one wait for ever. */
static void spoil_last(void *self, const char *kernel, const struct emu_launch *launch,
                       const struct emu_report *report)
{
    unsigned *launches = self;
    size_t byte = 0;
    if (++*launches == 6) spoil(&byte, kernel, launch, report);
}

Test(suites, a_wrong_bit_of_a_cloth_is_noticed, .timeout = 120)
{
    static const char *const names[] = {"cloth", "cloth_opt"};
    for (size_t k = 0; k < 2; k++) {
        unsigned launches = 0;
        cuda_device_configure(&(struct emu_config){.threads = 1});
        cuda_device_watch(&(struct cuda_watch){.self = &launches, .after = spoil_last});
        struct suite_result r = suite_run(suite_find(names[k]), &(struct suite_options){.seed = 1});
        cr_expect(launches == 6 && !r.passed && r.error == CUDA_SUCCESS, "%s", r.message);
    }
    cuda_device_watch(NULL);
}

/* Values and derivatives of libor, as its second kernel leaves them. */
enum { LIBOR_PATHS = 256 };
struct libor_result {
    float value[LIBOR_PATHS], shift[LIBOR_PATHS];
    unsigned found; /* arrays */
};

static void copy_libor(void *self, const char *kernel, const struct emu_launch *launch,
                       const struct emu_report *report)
{
    struct libor_result *r = self;
    (void)launch, (void)report;
    if (strcmp(kernel, "libor_greeks") != 0) return;
    struct emu *e = cuda_device_emu();
    for (size_t i = 0; i < emu_allocation_count(e); i++) {
        struct emu_allocation a = emu_allocation_at(e, i);
        if (a.constant || !a.live || a.size != sizeof r->value) continue;
        const void *bytes = emu_bytes(e, a.address, a.size);
        const unsigned n = r->found++;
        if (n < 2) memcpy(n == 0 ? r->value : r->shift, bytes, a.size);
    }
}

/* The discounted value of a path in double, all initial rates being `first`; suites/kernels/libor.cu has the model. */
static double libor_path(unsigned path, double first)
{
    enum { RATES = 80, STEPS = 40 };
    static const unsigned maturity[] = {4, 8, 20, 28, 40};
    double rate[RATES], bond[STEPS], annuity[STEPS], value = 0;
    for (unsigned i = 0; i < RATES; i++) rate[i] = first;
    for (unsigned n = 0; n < STEPS; n++) {
        uint32_t h = 1 + path * 0x9e3779b9U + n * 0x85ebca6bU; /* data seed 1 */
        h = (h ^ h >> 16) * 0x7feb352dU;
        h = (h ^ h >> 15) * 0x846ca68bU;
        h ^= h >> 16;
        const double z = ((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24) - 510.0) / 147.8;
        double drift = 0;
        for (unsigned i = n + 1; i < RATES; i++) {
            const double sigma = 0.2 + 0.001 * ((i - n - 1) % 7);
            drift += 0.25 * sigma * rate[i] / (1 + 0.25 * rate[i]);
            rate[i] *= exp(0.25 * sigma * drift + sigma * (0.5 * z - 0.125 * sigma));
        }
    }
    double b = 1, sum = 0;
    for (unsigned n = 0; n < STEPS; n++) {
        b /= 1 + 0.25 * rate[STEPS + n];
        sum += 0.25 * b;
        bond[n] = b;
        annuity[n] = sum;
    }
    for (unsigned i = 0; i < 15; i++) {
        const unsigned m = maturity[i / 3] - 1;
        const double swap = bond[m] + (0.045 + 0.005 * (i % 3)) * annuity[m] - 1;
        if (swap < 0) value -= 100 * swap;
    }
    for (unsigned n = 0; n < STEPS; n++) value /= 1 + 0.25 * rate[n];
    return value;
}

/* The workload's host computes the derivatives as its kernel does; here they are differences. */
Test(suites, libor_derivatives_are_those_of_the_values)
{
    static struct libor_result got;
    cuda_device_configure(&(struct emu_config){.threads = 1});
    cuda_device_watch(&(struct cuda_watch){.self = &got, .after = copy_libor});
    const struct suite_result r = suite_run(suite_find("libor"),
                                            &(struct suite_options){.seed = 1});
    cuda_device_watch(NULL);
    cr_assert(r.passed && got.found == 2, "%s, %u arrays", r.message, got.found);
    unsigned worth = 0;
    for (unsigned p = 0; p < LIBOR_PATHS; p++) {
        const double h = 1e-6, below = libor_path(p, 0.05 - h), above = libor_path(p, 0.05 + h);
        cr_expect_float_eq((double)got.value[p], (below + above) / 2, 1e-3 + 1e-4 * above,
                           "value of path %u", p);
        const double slope = (above - below) / (2 * h);
        cr_expect_float_eq((double)got.shift[p], slope, 0.1 + 1e-3 * fabs(slope),
                           "derivative of path %u: %g, not %g", p, (double)got.shift[p], slope);
        worth += above > 0;
    }
    cr_expect(worth > LIBOR_PATHS / 8, "%u paths are worth something", worth);
}

Test(suites, bfs_takes_a_graph)
{
    struct suite_result r;
    cuda_device_configure(&(struct emu_config){.threads = 1});
    char path[] = "/tmp/heddle-graph-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    cr_assert(f);
    for (unsigned i = 0; i < 500; i++) fprintf(f, "%u %u\n%u %u\n", i, i + 1, i + 1, i / 2);
    fclose(f);
    r = suite_run(suite_find("bfs_fixed"), &(struct suite_options){.seed = 1, .graph = path});
    cr_expect(r.passed, "%s", r.message);
    unlink(path);
}
