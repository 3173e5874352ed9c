/* A launch: y = a x + y on 1000 elements, with a search for data races.
 *
 *     make
 *     cc -Iinclude examples/launch.c build/gcc-release/libheddle.a -lpcre2-8 -lzstd -lpthread -lm -o launch
 *     ./launch suites/ptx
 */
#include <heddle.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/saxpy.ptx", argc > 1 ? argv[1] : "suites/ptx");
    struct heddle_module *module = heddle_module_read_file(path, NULL);
    if (!heddle_module_ok(module)) {
        fputs(heddle_module_messages_text(module), stderr);
        return 1;
    }
    struct heddle_device *device = heddle_device_new(
        &(struct heddle_device_options){.check_race = true});
    if (!heddle_device_load(device, &module, 1)) {
        fputs(heddle_device_error(device), stderr);
        return 1;
    }
    float x[1000], y[1000], a = 2;
    for (int i = 0; i < 1000; i++) x[i] = (float)i, y[i] = 1;
    uint64_t args[4] = {1000, 0, heddle_device_alloc(device, sizeof x, "x"),
                        heddle_device_alloc(device, sizeof y, "y")};
    memcpy(&args[1], &a, sizeof a); /* a parameter lies in the low bytes of its argument */
    heddle_device_write(device, args[2], x, sizeof x);
    heddle_device_write(device, args[3], y, sizeof y);
    struct heddle_run run = heddle_device_launch(device, "saxpy", (uint32_t[3]){4, 1, 1},
                                                 (uint32_t[3]){256, 1, 1}, 0, args, 4);
    fputs(run.text, stderr); /* the fault, and the findings of the checks */
    heddle_device_read(device, y, args[3], sizeof y);
    printf("%llu warp instructions, y[999] = %g\n", (unsigned long long)run.warp_instructions,
           (double)y[999]);
    heddle_device_free(device);
    heddle_module_free(module);
    return run.fault;
}
