/* What a report says of the streams of a program. */
#define _GNU_SOURCE
#include "tests/support/programs.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two copies in each of 70 streams, and a launch, without which there is nothing to estimate. */
static const char many_streams[] =
    "static const char ptx[] = \".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry k() { ret; }\\n\";\n"
    "int main(void)\n{\n"
    "    CUcontext c; CUdeviceptr p; CUmodule m; CUfunction f; CUstream s[70]; unsigned n = 1;\n"
    "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0); cuMemAlloc(&p, 4);\n"
    "    cuModuleLoadData(&m, ptx); cuModuleGetFunction(&f, m, \"k\");\n"
    "    cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);\n"
    "    for (int i = 0; i < 70; i++) cuStreamCreate(&s[i], 0);\n"
    "    for (int i = 0; i < 140; i++) cuMemcpyHtoDAsync(p, &n, 4, s[i % 70]);\n"
    "    return cuCtxSynchronize();\n}\n";

static size_t found(const char *file, const char *text)
{
    char path[200];
    size_t length, n = 0;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    char *all = read_file(path, &length), *at = all;
    while ((at = memmem(at, length - (size_t)(at - all), text, strlen(text)))) n++, at++;
    free(all);
    return n;
}

Test(program_timeline, each_stream_is_described_once, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", many_streams);
    cr_assert_eq(sh("'%s' report --gpu gv100 --chrome-trace t.json --perfetto t.pf ./app", heddle),
                 0, "%s", said.data);
    cr_expect_eq(found("t.json", "\"stream 63\""), 1);
    cr_expect_eq(found("t.json", "\"stream 65\""), 1);
    cr_expect_eq(found("t.json", "\"stream 70\""), 1);
    cr_expect_eq(found("t.json", "\"copy to the device"),
                 3 * 140); /* submitted, on its stream, by direction */
    cr_expect_eq(found("t.pf", "stream 63"), 1);
    cr_expect_eq(found("t.pf", "stream 70"), 1);
}
