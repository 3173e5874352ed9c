/* A check of determinism: a sum by atomicAdd of floats, whose result depends on the order of the additions.
 *
 *     make
 *     cc -Iinclude examples/check.c build/gcc-release/libheddle.a -lpcre2-8 -lzstd -lpthread -lm -o check
 *     ./check suites/ptx
 */
#include "heddle.h"

#include <stdio.h>

enum { N = 2048 };

static struct heddle_check_outcome once(void *self, const struct heddle_device_options *options)
{
    struct heddle_module *m = self;
    struct heddle_device *d = heddle_device_new(options);
    float in[N];
    for (int i = 0; i < N; i++) in[i] = 1 / (float)(i + 1);
    if (!heddle_device_load(d, &m, 1)) fputs(heddle_device_error(d), stderr);
    const uint64_t args[] = {N, heddle_device_alloc(d, sizeof in, "in"),
                             heddle_device_alloc(d, 4, "sum")};
    heddle_device_write(d, args[1], in, sizeof in);
    const struct heddle_run run = heddle_device_launch(d, "sum_atomic", (uint32_t[]){N / 256, 1, 1},
                                                       (uint32_t[]){256, 1, 1}, 0, args, 3);
    const struct heddle_check_outcome o = {
        .digest = heddle_device_digest(d),
        .failed = run.fault,
        .races = heddle_device_findings_of(d, HEDDLE_RACE),
        .mixed = heddle_device_findings_of(d, HEDDLE_MIXED_ATOMICITY),
        .suppressed = run.suppressed};
    heddle_device_free(d);
    return o;
}

int main(int argc, char **argv)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/sum.ptx", argc > 1 ? argv[1] : "suites/ptx");
    struct heddle_module *m = heddle_module_read_file(path, NULL);
    if (!heddle_module_ok(m)) {
        fputs(heddle_module_messages_text(m), stderr);
        return 1;
    }
    const struct heddle_check_result r = heddle_check(&(struct heddle_check_options){.runs = 10},
                                                      once, m);
    printf("%s, %zu races\n", r.name, r.races);
    for (size_t i = 0; i < r.order_count; i++)
        printf("%-8s %2u runs, %s\n", r.orders[i].order, r.orders[i].runs,
               r.orders[i].results == 1 ? "one result" : "several results");
    heddle_module_free(m);
    return 0;
}
