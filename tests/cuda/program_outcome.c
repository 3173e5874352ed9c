/* What a CUDA program's run comes to: exit status and last lines, whether or not the program looks at errors. */
#include "tests/support/programs.h"

#include <criterion/criterion.h>

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
