/* A recording: one run of a seeded order, and the same run again on a device with another seed.
 *
 *     make
 *     cc -Iinclude examples/record.c build/gcc-release/libheddle.a -lpcre2-8 -lzstd -lpthread -lm -o record
 *     ./record suites/ptx run.rec
 */
#include "heddle.h"

#include <stdio.h>

enum { THREADS = 256, STEPS = 20 };

/* Runs a kernel with data races; its result depends on the order of its threads. */
static uint64_t run(const char *ptx, uint64_t seed, const char *record, const char *replay)
{
    struct heddle_module *m = heddle_module_read_file(ptx, NULL);
    struct heddle_device *d = heddle_device_new(
        &(struct heddle_device_options){.order = "random", .seed = seed});
    if (!heddle_module_ok(m) || !heddle_device_load(d, &m, 1))
        fputs(heddle_device_error(d), stderr);
    const uint64_t args[] = {STEPS, heddle_device_alloc(d, THREADS * 4, "cells"),
                             heddle_device_alloc(d, THREADS * 4, "signatures")};
    if ((record && !heddle_device_record(d, record)) ||
        (replay && !heddle_device_replay(d, replay)))
        fprintf(stderr, "%s\n", heddle_device_error(d));
    heddle_device_launch(d, "racey_global", (uint32_t[]){1, 1, 1}, (uint32_t[]){THREADS, 1, 1}, 0,
                         args, 3);
    if (!heddle_device_recording_end(d)) fprintf(stderr, "%s\n", heddle_device_error(d));
    const uint64_t digest = heddle_device_digest(d);
    heddle_device_free(d);
    heddle_module_free(m);
    return digest;
}

int main(int argc, char **argv)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/racey.ptx", argc > 1 ? argv[1] : "suites/ptx");
    const char *file = argc > 2 ? argv[2] : "run.rec";
    const uint64_t first = run(path, 1, file, NULL), other = run(path, 2, NULL, NULL),
                   again = run(path, 2, NULL, file);
    printf("seed 2 gives %s\n", other == first ? "the same result" : "another result");
    printf("the recording of seed 1 gives %s\n",
           again == first ? "the same result" : "another result");
    return again != first;
}
