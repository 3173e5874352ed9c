/* Files of a CUDA program's run: outputs that cannot be written, programs that change their folder, and processes that a
 * program makes by fork(). */
#include "tests/support/programs.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Two launches of a kernel of three instructions. The first argument says what comes before ("before", chdir) or between
 * them: "after" (chdir) or "fork" (a process that ends by exit()). */
static const char app[] =
    "#include <unistd.h>\n#include <sys/wait.h>\n"
    "static const char ptx[] = \".version 7.0\\n.target sm_75\\n.address_size 64\\n\"\n"
    "    \".visible .entry k(.param .u64 a)\\n{\\n .reg .b64 %rd;\\n\"\n"
    "    \" ld.param.u64 %rd, [a];\\n st.global.u32 [%rd], 7;\\n ret;\\n}\\n\";\n"
    "int main(int argc, char **argv)\n{\n"
    "    CUcontext c; CUmodule m; CUfunction k; CUdeviceptr p;\n"
    "    const char *how = argc > 1 ? argv[1] : \"\";\n"
    "    void *params[] = {&p};\n"
    "    if (!strcmp(how, \"before\") && chdir(\"else\")) return 9;\n"
    "    if (cuInit(0) || cuCtxCreate(&c, NULL, 0, 0) || cuMemAlloc(&p, 4) ||\n"
    "        cuModuleLoadData(&m, ptx) || cuModuleGetFunction(&k, m, \"k\")) return 8;\n"
    "    if (cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, params, 0) || cuCtxSynchronize()) return 7;\n"
    "    if (!strcmp(how, \"after\") && chdir(\"else\")) return 9;\n"
    "    if (!strcmp(how, \"fork\")) {\n"
    "        const int child = fork();\n"
    "        if (!child) exit(0);\n"
    "        if (waitpid(child, NULL, 0) != child) return 6;\n"
    "    }\n"
    "    if (cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, params, 0) || cuCtxSynchronize()) return 7;\n"
    "    return 0;\n}\n";

Test(program_files, an_output_that_cannot_be_written_is_no_success, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", app);
    cr_expect_eq(sh("'%s' run --profile ./app >/dev/full", heddle), 2, "%s", said.data);
    expect_output("cannot write the output: No space left on device");
    cr_expect_eq(sh("'%s' run --format json ./app >/dev/full", heddle), 2, "%s", said.data);
    cr_assert_eq(sh("ln -s /dev/full full && ln -s /proc/self/fd/1 out"), 0);
    cr_expect_eq(sh("'%s' run --counts full ./app", heddle), 2, "%s", said.data);
    expect_output("full': No space left on device");
    cr_expect_eq(sh("'%s' run --order random --record full ./app", heddle), 2, "%s", said.data);
    expect_output("the recording could not be written");
    cr_expect_eq(sh("HEDDLE_COUNTS=full LD_LIBRARY_PATH='%s' ./app", libraries), 2, "%s",
                 said.data);
    cr_expect_eq(sh("'%s' trace record -o full ./app", heddle), 2, "%s", said.data);
    /* Links are not replaced, and what they name is written as it is: no regular file, or the output. */
    cr_expect_eq(sh("'%s' run --quiet --counts out ./app | grep -c '\"kernel\"'", heddle), 0, "%s",
                 said.data);
    cr_expect_eq(
        sh("'%s' run --quiet --counts out ./app >text && grep -c '\"kernel\"' text", heddle), 0,
        "%s", said.data);
    cr_expect_eq(sh("test -L full && test -L out"), 0);
    cr_expect_eq(sh("echo old >name && ln -s name link && '%s' run --quiet --counts link ./app && "
                    "test -L link && grep -c '\"kernel\"' name",
                    heddle),
                 0, "%s", said.data);
}

Test(program_files, are_where_the_command_was_given, .init = program_start_runs,
     .fini = program_stop)
{
    static const char *const when[] = {"before", "after"};
    build_on_driver("app", app);
    cr_assert_eq(sh("mkdir else files && touch known"), 0);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(sh("'%s' run --counts c.json --suppress known --files files ./app %s && "
                        "'%s' run --order random --record r.hdr ./app %s && "
                        "'%s' run --replay r.hdr ./app %s && "
                        "'%s' trace record -o t.hdt ./app %s && "
                        "'%s' trace record --addresses -o a.hdt ./app %s && "
                        "rm c.json r.hdr t.hdt a.hdt && rmdir else && mkdir else",
                        heddle, when[i], heddle, when[i], heddle, when[i], heddle, when[i], heddle,
                        when[i]),
                     0, "%s: %s", when[i], said.data);
    }
}

/* The process that the program made has a copy of all that is open, and must not write it a second time. */
Test(program_files, are_not_written_by_a_process_of_fork, .init = program_start_runs,
     .fini = program_stop)
{
    build_on_driver("app", app);
    cr_expect_eq(sh("'%s' run --format json --profile ./app fork 2>/dev/null", heddle), 0, "%s",
                 said.data);
    cr_expect_eq(times("\"warp_instructions\": 2,"), 3, "%s", said.data); /* of each line, not 3 */
    cr_expect_eq(sh("'%s' run --check memory ./app fork", heddle), 3, "%s", said.data);
    expect_output("0 faults, 1 findings");
    cr_expect_eq(sh("'%s' run --order random --record r.hdr ./app fork && "
                    "'%s' run --replay r.hdr ./app fork",
                    heddle, heddle),
                 0, "%s", said.data);
    cr_expect_eq(sh("'%s' run --quiet --counts c.json ./app fork && cat c.json", heddle), 0, "%s",
                 said.data);
    cr_expect_eq(times("\"kernel\": \"k\""), 2, "%s", said.data);
    cr_expect_eq(times("\"schema\""), 1, "%s", said.data);
}
