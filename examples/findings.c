/* Findings and faults as structures: a kernel with data races, and one that reads behind the end of its buffer.
 *
 *     make
 *     cc -Iinclude examples/findings.c build/gcc-release/libheddle.a -lpcre2-8 -lzstd -lpthread -lm -o findings
 *     ./findings suites/ptx
 */
#include "heddle.h"

#include <stdio.h>
#include <string.h>

enum { N = 1000 };

static struct heddle_module *read_module(const char *folder, const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    struct heddle_module *m = heddle_module_read_file(path, NULL);
    fputs(heddle_module_messages_text(m), stderr);
    return m;
}

static void races(const char *folder)
{
    struct heddle_module *m = read_module(folder, "racey.ptx");
    struct heddle_device *d = heddle_device_new(
        &(struct heddle_device_options){.check_race = true});
    if (!heddle_module_ok(m) || !heddle_device_load(d, &m, 1))
        fputs(heddle_device_error(d), stderr);
    const uint64_t cells = heddle_device_alloc(d, 64 * 4, "cells"),
                   signatures = heddle_device_alloc(d, 256 * 4, "signatures");
    const uint64_t args[] = {4, cells, signatures};
    heddle_device_launch(d, "racey_global", (uint32_t[]){1, 1, 1}, (uint32_t[]){256, 1, 1}, 0, args,
                         3);
    const size_t n = heddle_device_findings_of(d, HEDDLE_RACE);
    printf("%s of racey_global: %s\n", n == 1 ? "a race" : "races", n ? "found" : "none");
    for (size_t i = 0; i < 1 && i < heddle_device_finding_count(d); i++) {
        const struct heddle_finding f = heddle_device_finding(d, i);
        printf("%s between %s:%u and %s:%u\n", f.name, f.source_file, f.source_line, f.source_file2,
               f.source_line2);
    }
    heddle_device_free(d);
    heddle_module_free(m);
}

static void fault(const char *folder)
{
    struct heddle_module *m = read_module(folder, "saxpy.ptx");
    struct heddle_device *d = heddle_device_new(NULL);
    if (!heddle_module_ok(m) || !heddle_device_load(d, &m, 1))
        fputs(heddle_device_error(d), stderr);
    const float a = 2;
    uint64_t args[] = {1024, 0, heddle_device_alloc(d, N * 4, "x"),
                       heddle_device_alloc(d, N * 4, "y")};
    memcpy(&args[1], &a, sizeof a);
    heddle_device_launch(d, "saxpy", (uint32_t[]){4, 1, 1}, (uint32_t[]){256, 1, 1}, 0, args, 4);
    const struct heddle_fault f = heddle_device_fault(d);
    printf("%s by thread %u of CTA %u at %s:%u, %u bytes\n", f.name, f.thread[0], f.cta[0],
           f.source_file, f.source_line, f.size);
    heddle_device_free(d);
    heddle_module_free(m);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "suites/ptx";
    races(folder);
    fault(folder);
    return 0;
}
