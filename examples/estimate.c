/* An estimate of cycles: what a kernel would take on a TITAN V, and why.
 *
 *     make
 *     cc -Iinclude examples/estimate.c build/gcc-release/libheddle.a -lpcre2-8 -lzstd -lpthread -lm -o estimate
 *     ./estimate suites/ptx
 */
#include "heddle.h"

#include <stdio.h>
#include <string.h>

enum { N = 1 << 16 };

int main(int argc, char **argv)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/saxpy.ptx", argc > 1 ? argv[1] : "suites/ptx");
    struct heddle_module *m = heddle_module_read_file(path, NULL);
    struct heddle_device *d = heddle_device_new(&(struct heddle_device_options){
        .count = true, .caches = true, .trace = true, .gpu = "titanv"});
    if (!heddle_module_ok(m) || !heddle_device_load(d, &m, 1)) {
        fprintf(stderr, "%s%s\n", heddle_module_messages_text(m), heddle_device_error(d));
        return 1;
    }
    const float a = 2;
    uint64_t args[] = {N, 0, heddle_device_alloc(d, N * 4, "x"),
                       heddle_device_alloc(d, N * 4, "y")};
    memcpy(&args[1], &a, sizeof a);
    const struct heddle_run run = heddle_device_launch(d, "saxpy", (uint32_t[]){N / 256, 1, 1},
                                                       (uint32_t[]){256, 1, 1}, 0, args, 4);
    struct heddle_estimate e;
    if (run.fault || !heddle_device_estimate(d, 0, &e)) {
        fprintf(stderr, "no estimate: %s\n", run.text);
        return 1;
    }
    printf("%s on %s: %.0f cycles [%.0f, %.0f], bound by %s\n", e.kernel, e.gpu, e.cycles, e.low,
           e.high, e.bound);
    double sum = 0;
    for (size_t i = 0; e.parts[i].name; i++) sum += e.parts[i].cycles;
    printf("the parts add up to %.0f cycles\n", sum);
    for (unsigned bit = 1; bit; bit <<= 1)
        if (e.warnings & bit) printf("note: %s\n", heddle_estimate_warning(bit));
    heddle_device_free(d);
    heddle_module_free(m);
    return 0;
}
