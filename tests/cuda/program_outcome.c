/* What a CUDA program's run comes to: exit status and last lines, whether or not the program looks at errors. */
#include "tests/support/programs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* ---- modules that are rejected --------------------------------------------------------------------------- */

/* It looks at no error, and ends with status 0. `frobnicate` is no instruction of PTX. */
#define LOADS(options)                                                                             \
    "static const char ptx[] = \".version 7.0\\n.target sm_75\\n.address_size 64\\n\"\n"           \
    "    \".visible .entry k()\\n{\\n frobnicate.u32 1; ret;\\n}\\n\";\n"                          \
    "int main(void)\n{\n"                                                                          \
    "    CUcontext c; CUmodule m; static char log[1000];\n"                                        \
    "    CUjit_option names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};\n"  \
    "    void *values[] = {log, (void *)sizeof log};\n"                                            \
    "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0);\n"                                                \
    "    printf(\"%d\\n\", cuModuleLoadDataEx(&m, ptx, " options "));\n"                           \
    "    return 0;\n}\n"

Test(program_outcome, a_rejected_module_is_no_success, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", LOADS("0, NULL, NULL"));
    cr_expect_eq(sh("'%s' run ./app", heddle), 1, "%s", said.data);
    expect_output("frobnicate");
    expect_output("218\n"); /* CUDA_ERROR_INVALID_PTX */
    expect_output("0 findings, 1 rejected modules\n");
    cr_expect_eq(sh("'%s' run --format json ./app 2>/dev/null", heddle), 1, "%s", said.data);
    expect_output("\"status\": \"bad input\"");
    expect_output("frobnicate");
    cr_expect_eq(sh("'%s' check --runs 2 ./app", heddle), 1, "%s", said.data);
    expect_output("frobnicate");
}

Test(program_outcome, a_program_may_ask_why_its_module_is_rejected, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", LOADS("2, names, values"));
    cr_expect_eq(sh("'%s' run ./app", heddle), 0, "%s", said.data);
    expect_output("218\n");
    expect_output("0 findings\n");
}

/* ---- what it prints ---------------------------------------------------------------------------------------- */

Test(program_outcome, nothing_printed_is_lost_in_json, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", "int main(void)\n{\n    fwrite(\"x\\0y\\377\\n\", 1, 5, stdout);\n"
                           "    return cuInit(0);\n}\n");
    cr_expect_eq(sh("'%s' run --format json ./app", heddle), 0, "%s", said.data);
    expect_output("\"printed\": \"x\\u0000y?\\n\"");
}

/* ---- its locale --------------------------------------------------------------------------------------------- */

/* In a locale with a decimal comma numbers of PTX, of settings and of JSON have their point. */
Test(program_outcome, does_not_depend_on_the_locale, .init = program_start_runs,
     .fini = program_stop)
{
    if (sh("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8") != 0)
        cr_skip_test("no locale with a comma can be made here");
    build_on_driver(
        "app",
        "#include <locale.h>\n"
        "static const char ptx[] = \".version 7.0\\n.target sm_75\\n.address_size 64\\n\"\n"
        "    \".visible .entry k(.param .u64 a)\\n{\\n .reg .b64 %rd; .reg .f64 %d;\\n\"\n"
        "    \" ld.param.u64 %rd, [a];\\n mov.f64 %d, 1.5;\\n st.global.f64 [%rd], %d;\\n ret;\\n}\\n\";\n"
        "int main(void)\n{\n"
        "    CUcontext c; CUmodule m; CUfunction k; CUdeviceptr p; double d;\n"
        "    void *params[] = {&p};\n"
        "    if (!setlocale(LC_ALL, \"de_DE.UTF-8\")) return 9;\n"
        "    if (cuInit(0) || cuCtxCreate(&c, NULL, 0, 0) || cuMemAlloc(&p, 8) ||\n"
        "        cuModuleLoadData(&m, ptx) || cuModuleGetFunction(&k, m, \"k\") ||\n"
        "        cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, params, 0) || cuMemcpyDtoH(&d, p, 8)) return 8;\n"
        "    printf(\"%g\\n\", d);\n"
        "    return 0;\n}\n");
    cr_expect_eq(sh("LOCPATH=$PWD '%s' run --quiet --timeout 60.5 --counts c.json ./app", heddle),
                 0, "%s", said.data);
    cr_expect_str_eq(said.data, "1,5\n");
    cr_expect_eq(sh("grep -c '\"simd_efficiency\": 0.03125' c.json"), 0, "%s", said.data);
}

/* ---- launches without an end ------------------------------------------------------------------------------- */

/* As with kernel files: 5, but 3 where another launch has faulted. The argument: how many launches have an address. */
Test(program_outcome, a_launch_without_an_end_has_its_own_status, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver(
        "app",
        "static const char ptx[] = \".version 7.0\\n.target sm_75\\n.address_size 64\\n\"\n"
        "    \".visible .entry spin()\\n{\\nL: bra L;\\n}\\n\"\n"
        "    \".visible .entry far()\\n{\\n.reg .b64 %d;\\nmov.u64 %d, 8; st.global.u32 [%d], 1; ret;\\n}\\n\";\n"
        "int main(int argc, char **argv)\n{\n"
        "    for (int i = 1; i < argc; i++) {\n"
        "        CUcontext c; CUmodule m; CUfunction k;\n"
        "        if (cuInit(0) || cuCtxCreate(&c, NULL, 0, 0) || cuModuleLoadData(&m, ptx) ||\n"
        "            cuModuleGetFunction(&k, m, argv[i])) return 9;\n"
        "        cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, NULL, 0);\n"
        "        cuCtxSynchronize(); cuCtxDestroy(c);\n"
        "    }\n"
        "    return 0;\n}\n");
    cr_expect_eq(sh("'%s' run --max-instructions 1000 ./app spin", heddle), 5, "%s", said.data);
    cr_expect_eq(sh("'%s' run --max-instructions 1000 --format json ./app spin", heddle), 5, "%s",
                 said.data);
    expect_output("\"status\": \"no end\"");
    cr_expect_eq(sh("'%s' run --max-instructions 1000 ./app far", heddle), 3, "%s", said.data);
    cr_expect_eq(sh("HEDDLE_MAX_INSTRUCTIONS=1000 LD_LIBRARY_PATH='%s' ./app spin", libraries), 5,
                 "%s", said.data);
}

/* ---- programs without a device ----------------------------------------------------------------------------- */

Test(program_outcome, files_of_a_program_without_cuda_are_missed, .init = program_start_runs,
     .fini = program_stop)
{
    static const char *const options[] = {"--counts c.json", "--order random --record r.hdr",
                                          "--watch 0x100"};
    build_on_driver("app", "int main(void)\n{\n    return 0;\n}\n");
    cr_expect_eq(sh("'%s' run ./app", heddle), 0, "%s", said.data);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        cr_expect_eq(sh("'%s' run %s ./app", heddle, options[i]), 1, "%s", said.data);
        expect_output("'./app' has made no use of CUDA: nothing was done for --");
    }
}

/* ---- whose options they are -------------------------------------------------------------------------------- */

/* Prints its arguments. */
static const char arguments[] =
    "int main(int argc, char **argv)\n{\n"
    "    CUcontext c; CUdeviceptr p; unsigned n = 1;\n"
    "    for (int i = 1; i < argc; i++) printf(\"[%s]\", argv[i]);\n"
    "    printf(\"\\n\");\n"
    "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0); cuMemAlloc(&p, 4); cuMemcpyHtoD(p, &n, 4);\n"
    "    return 0;\n}\n";

Test(program_outcome, options_behind_the_program_are_its_own, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", arguments);
    cr_expect_eq(sh("'%s' run ./app --seed 7", heddle), 0, "%s", said.data);
    expect_output("heddle run: warning: --seed is behind the program's name");
    expect_output("[--seed][7]\n");
    cr_expect_eq(sh("'%s' run ./app -v --own 3 --check=race", heddle), 0, "%s", said.data);
    cr_expect_eq(times("warning"), 0, "%s", said.data); /* -v is none of Heddle's */
    cr_expect_eq(sh("'%s' run ./app --own 3 --check=race", heddle), 0, "%s", said.data);
    expect_output("warning: --check is behind");
    cr_expect_eq(sh("'%s' run --quiet -- ./app --seed 7", heddle), 0, "%s", said.data);
    cr_expect_str_eq(said.data, "[--seed][7]\n");
    cr_expect_eq(sh("'%s' run --quiet ./app -- x", heddle), 0, "%s", said.data);
    cr_expect_str_eq(said.data, "[--][x]\n");
    (void)sh("'%s' check ./app --runs 200", heddle);
    expect_output("heddle check: warning: --runs is behind");
    cr_expect_eq(sh("'%s' run -- --quiet", heddle), 2, "%s", said.data);
    cr_expect_eq(times("warning"), 0, "%s", said.data);
}

/* ---- without the command line ------------------------------------------------------------------------------ */

/* CTAs write their number to one word; `astray` writes to address 8. The argument names the kernel. */
static const char launches[] =
    "static const char ptx[] = \".version 7.0\\n.target sm_75\\n.address_size 64\\n\"\n"
    "    \".visible .entry last(.param .u64 out)\\n{\\n .reg .b32 %r1; .reg .b64 %rd1;\\n\"\n"
    "    \" ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; st.global.u32 [%rd1], %r1; ret;\\n}\\n\"\n"
    "    \".visible .entry first(.param .u64 out)\\n{\\n .reg .pred %p; .reg .b32 %r1; .reg .b64 %rd1;\\n\"\n"
    "    \" ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; setp.ne.u32 %p, %r1, 0; @%p ret;\\n\"\n"
    "    \" st.global.u32 [%rd1], %r1; ret;\\n}\\n\"\n"
    "    \".visible .entry astray(.param .u64 out)\\n{\\n .reg .b64 %rd1; mov.u64 %rd1, 8;\\n\"\n"
    "    \" st.global.u32 [%rd1], 1; ret;\\n}\\n\";\n"
    "static void bye(void) { printf(\"bye\\n\"); }\n"
    "int main(int argc, char **argv)\n{\n"
    "    CUcontext c; CUmodule m; CUfunction f; CUdeviceptr p;\n"
    "    atexit(bye);\n"
    "    cuInit(0); cuCtxCreate(&c, NULL, 0, 0); cuModuleLoadData(&m, ptx); cuMemAlloc(&p, 4);\n"
    "    cuModuleGetFunction(&f, m, argv[1]);\n"
    "    cuLaunchKernel(f, 4, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL);\n"
    "    cuCtxSynchronize();\n"
    "    printf(\"done\\n\");\n"
    "    return argc > 2 ? atoi(argv[2]) : 0;\n}\n";

/* Line and status are those of `heddle run`; of the line only the time differs. */
static void same_end(const char *check, const char *kernel, int own, int want)
{
    char line[200];
    cr_expect_eq(sh("'%s' run --threads 1 %s%s ./app %s %d", heddle, *check ? "--check " : "",
                    check, kernel, own),
                 want, "%s", said.data);
    const char *last = strstr(said.data, "heddle: 1 launches, ");
    cr_assert(last, "%s", said.data);
    snprintf(line, sizeof line, "%.*s", (int)(strstr(last, "thread instructions") - last), last);
    const char *end = strstr(last, " ms; ");
    cr_assert(end, "%s", said.data);
    char rest[200];
    snprintf(rest, sizeof rest, "%s", end);
    cr_expect_eq(sh("HEDDLE_THREADS=1 HEDDLE_CHECK=%s LD_LIBRARY_PATH='%s' ./app %s %d", check,
                    libraries, kernel, own),
                 want, "%s", said.data);
    expect_output(line);
    expect_output(rest);
    cr_expect(times("done\n") == 1 && times("bye\n") == 1, "%s", said.data);
}

Test(program_outcome, is_the_same_without_the_command_line, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", launches);
    same_end("race", "last", 0, 3);
    same_end("race", "first", 0, 0);
    same_end("race", "first", 9, 9);
    same_end("", "astray", 0, 3);
    cr_expect_eq(sh("LD_LIBRARY_PATH='%s' ./app first 5", libraries), 5);
    cr_expect_str_eq(said.data, "done\nbye\n");
}

/* ---- functions that Heddle does not have ------------------------------------------------------------------- */

/* Asks for memory of another process, in the way of the headers, and goes on. */
static const char absent[] =
    "CUresult cuIpcGetMemHandle(void *, CUdeviceptr);\n"
    "int main(void)\n{\n"
    "    char handle[64]; CUresult (*encode)(void);\n"
    "    cuInit(0);\n"
    "    cuGetProcAddress(\"cuTensorMapEncodeTiled\", (void **)&encode, 12000, 0, NULL);\n"
    "    printf(\"%d %d\\n\", cuIpcGetMemHandle(handle, 8), encode());\n"
    "    return 0;\n}\n";

Test(program_outcome, functions_that_are_not_there_may_be_a_failure, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", absent);
    cr_expect_eq(sh("'%s' run ./app", heddle), 0, "%s", said.data);
    expect_output("801 801\n");
    expect_output(
        "heddle: cuIpcGetMemHandle was called and is not supported yet: keep allocations");
    expect_output(
        "heddle: cuTensorMapEncodeTiled was called and is not supported yet: use a path ");
    cr_expect_eq(sh("'%s' run --require-supported ./app", heddle), 1, "%s", said.data);
    cr_expect_eq(sh("'%s' run --require-supported --format json ./app 2>/dev/null", heddle), 1);
    expect_output("\"status\": \"bad input\"");
    build_on_driver("app", arguments);
    cr_expect_eq(sh("'%s' run --require-supported ./app", heddle), 0, "%s", said.data);
}
