/* Two threads that use the C library at the same time, each with modules and devices of its own, to be run under
 * ThreadSanitizer: heddle.h promises that different objects may be used by different threads at once. Both threads
 * begin together, so that everything that the library prepares at its first use is reached by both. Each compares
 * what its kernels computed with what it computes itself. */
#define _POSIX_C_SOURCE 200809L /* barriers */
#include "heddle.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USERS = 2, CTAS = 12, THREADS = 64, N = CTAS * THREADS };

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry sum(.param .u64 at, .param .u64 total, .param .u32 factor)\n{\n"
    " .shared .align 4 .u32 part;\n .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<5>;\n"
    " ld.param.u64 %rd1, [at]; ld.param.u64 %rd2, [total]; ld.param.u32 %r1, [factor];\n"
    " mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
    " mad.lo.u32 %r5, %r3, %r4, %r2; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3;\n"
    " setp.eq.u32 %p, %r2, 0; @%p st.shared.u32 [part], 0; bar.sync 0;\n"
    " ld.global.u32 %r6, [%rd4]; mul.lo.u32 %r7, %r6, %r1; st.global.u32 [%rd4], %r7;\n"
    " red.shared.add.u32 [part], %r7; bar.sync 0;\n"
    " @!%p bra done;\n ld.shared.u32 %r8, [part]; red.global.add.u32 [%rd2], %r8;\n"
    "done:\n ret;\n}\n"
    /* floats, whose sum dab defers: small integers, so that their order makes no difference */
    ".visible .entry add(.param .u64 at, .param .u64 total)\n{\n"
    " .reg .b32 %r<5>; .reg .f32 %f; .reg .b64 %rd<5>;\n"
    " ld.param.u64 %rd1, [at]; ld.param.u64 %rd2, [total];\n"
    " mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
    " mad.lo.u32 %r1, %r3, %r4, %r2; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3;\n"
    " cvt.rn.f32.u32 %f, %r1; red.global.add.f32 [%rd2], %f; st.global.f32 [%rd4], %f; ret;\n}\n";

static const char bad[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".entry k()\n{\n .reg .b32 %r1;\n add.u33 %r1, %r1, 1;\n ret;\n}\n";

#define TRUE(that)                                                                                 \
    do {                                                                                           \
        if (!(that)) {                                                                             \
            fprintf(stderr, "library.c:%d: not true: %s\n", __LINE__, #that);                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Every round has options of its own; two threads do different rounds at any time. */
static const struct heddle_device_options rounds[] = {
    {.threads = 3, .memory = 64 << 20},
    {.threads = 3, .memory = 64 << 20, .order = "random", .seed = 5},
    {.threads = 3, .memory = 64 << 20, .order = "gpudet"},
    {.threads = 3, .memory = 64 << 20, .order = "dab"},
    {.threads = 3, .memory = 64 << 20, .independent_threads = true},
    {.threads = 2,
     .memory = 64 << 20,
     .check_memory = true,
     .check_init = true,
     .check_race = true},
    {.threads = 2, .memory = 64 << 20, .order = "random:strategy=pct", .check_race = true},
    {.threads = 3,
     .memory = 64 << 20,
     .count = true,
     .caches = true,
     .trace = true,
     .gpu = "titanv"},
    {.threads = 3, .memory = 64 << 20, .gpu = "h100"},
};
enum { ROUNDS = sizeof rounds / sizeof *rounds };

static void read_modules(unsigned user)
{
    struct heddle_module *m = heddle_module_read("bad.ptx", bad, strlen(bad), NULL);
    TRUE(!heddle_module_ok(m));
    TRUE(strstr(heddle_module_messages_text(m), "u33") != NULL);
    heddle_module_free(m);
    m = heddle_module_read("sum.ptx", ptx, strlen(ptx), &(struct heddle_options){.lazy = user % 2});
    TRUE(heddle_module_ok(m));
    TRUE(heddle_module_function(m, 0).barriers == 2);
    char *text = heddle_module_print(m), *graph = heddle_function_graph(m, 0, true);
    struct heddle_module *again = heddle_module_read("again.ptx", text, strlen(text), NULL);
    TRUE(!heddle_module_difference(m, again));
    free(text), free(graph);
    heddle_module_free(again), heddle_module_free(m);
}

static void read_lists(void)
{
    for (size_t i = 0; i < heddle_order_count(); i++)
        for (size_t k = 0; k < heddle_order(i).option_count; k++)
            TRUE(heddle_order_option(i, k).values[0]);
    char *wrong = heddle_order_check("random:strategy=none");
    TRUE(wrong != NULL);
    free(wrong);
    wrong = heddle_gpu_check("no such GPU");
    TRUE(wrong != NULL);
    free(wrong);
}

static void run(unsigned user, const struct heddle_device_options *o)
{
    struct heddle_module *m = heddle_module_read("sum.ptx", ptx, strlen(ptx), NULL);
    struct heddle_device *d = heddle_device_new(o);
    TRUE(heddle_device_load(d, &m, 1));
    const uint64_t at = heddle_device_alloc(d, N * 4, "values"),
                   total = heddle_device_alloc(d, 4, "total");
    uint32_t values[N], sum = 0, expected = 0;
    for (uint32_t i = 0; i < N; i++) values[i] = i + user;
    TRUE(heddle_device_write(d, at, values, sizeof values));
    TRUE(heddle_device_write(d, total, &sum, sizeof sum));
    const uint32_t grid[] = {CTAS, 1, 1}, block[] = {THREADS, 1, 1};
    for (uint32_t factor = 2; factor < 4; factor++) {
        struct heddle_run r = heddle_device_launch(d, "sum", grid, block, 0,
                                                   (uint64_t[]){at, total, factor}, 3);
        TRUE(!r.fault && r.findings == 0);
        for (uint32_t i = 0; i < N; i++) expected += values[i] *= factor;
    }
    const uint64_t floats = heddle_device_alloc(d, N * 4, "floats"),
                   float_total = heddle_device_alloc(d, 4, "float total");
    const float zero = 0;
    float f = 0;
    TRUE(heddle_device_write(d, float_total, &zero, sizeof zero));
    struct heddle_run r = heddle_device_launch(d, "add", grid, block, 0,
                                               (uint64_t[]){floats, float_total}, 2);
    TRUE(!r.fault && r.findings == 0);
    TRUE(heddle_device_read(d, &f, float_total, sizeof f));
    TRUE(f == N * (N - 1) / 2);
    uint32_t got[N];
    TRUE(heddle_device_read(d, got, at, sizeof got));
    TRUE(memcmp(got, values, sizeof got) == 0);
    TRUE(heddle_device_read(d, &sum, total, sizeof sum));
    TRUE(sum == expected);
    TRUE(heddle_device_digest(d) == heddle_device_digest(d));
    struct heddle_estimate e;
    TRUE(heddle_device_estimate(d, 0, &e) == o->trace);
    if (o->trace) TRUE(e.cycles > 0);
    char *counts = heddle_device_counts(d);
    TRUE((counts != NULL) == o->count);
    free(counts);
    heddle_device_free(d);
    heddle_module_free(m);
}

static pthread_barrier_t begin;

static void *use(void *number)
{
    const unsigned user = *(const unsigned *)number;
    pthread_barrier_wait(&begin);
    read_modules(user);
    read_lists();
    for (unsigned i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&begin);
        run(user, &rounds[(i + user * (ROUNDS / 2)) % ROUNDS]);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[USERS];
    unsigned numbers[USERS];
    pthread_barrier_init(&begin, NULL, USERS);
    for (unsigned i = 0; i < USERS; i++) {
        numbers[i] = i;
        TRUE(pthread_create(&threads[i], NULL, use, &numbers[i]) == 0);
    }
    for (unsigned i = 0; i < USERS; i++) TRUE(pthread_join(threads[i], NULL) == 0);
    puts("ok");
    return 0;
}
