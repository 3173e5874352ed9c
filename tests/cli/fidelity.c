/* --fidelity of `heddle run`, `check` and `estimate`, and `heddle isa --inexact`: which executed instructions have one right
 * result, and what the others may reach. */
#include "tests/support/command.h"

#include "include/heddle.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(fidelity, .init = command_set_up, .fini = command_tear_down);

/* 64 threads; the sine is executed by the 16 of them below 16 alone. 12 instructions each, and its own. */
static const char kernel[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<4>; .reg .f32 %f<5>; .reg .b64 %d<3>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\n"
    "add.u64 %d1, %d1, %d2;\ncvt.rn.f32.u32 %f1, %r1;\nex2.approx.ftz.f32 %f2, %f1;\n"
    "ex2.approx.ftz.f32 %f2, %f2;\ndiv.rn.f32 %f3, %f1, 0f40400000;\nmov.u32 %r2, %clock;\n"
    "setp.lt.u32 %p, %r1, 16;\n@%p sin.approx.f32 %f3, %f3;\nst.global.f32 [%d1], %f3;\nret;\n}\n";

static void write_text(const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/k.ptx", command_folder);
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void write_kernel(void)
{
    write_text(kernel);
}

static long long number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static void expect_line(const json_t *lines, size_t i, const char *name, const char *result,
                        long long threads)
{
    const json_t *l = json_array_get(lines, i);
    cr_assert(l);
    cr_expect_str_eq(json_string_value(json_object_get(l, "instruction")), name);
    cr_expect_str_eq(json_string_value(json_object_get(l, "result")), result);
    cr_expect(json_string_length(json_object_get(l, "difference")) > 0);
    cr_expect_eq(number(l, "thread_instructions"), threads, "%s", name);
}

Test(fidelity, counts_what_ptx_leaves_open)
{
    int status;
    write_kernel();
    char *text = command_output(
        "%p run %s/k.ptx --block 64 --arg 'buf:f32[64]' --fidelity --format=json", &status);
    json_t *o = json_loads(text, 0, NULL);
    cr_assert(status == 0 && o, "%s", text);
    const json_t *f = json_object_get(o, "fidelity"), *lines = json_object_get(f, "inexact");
    cr_expect_eq(number(f, "thread_instructions"), 64 * 12 + 16);
    cr_expect_eq(number(f, "exact"), 64 * 9);
    cr_assert_eq(json_array_size(lines), 3);
    expect_line(lines, 0, "ex2.approx.ftz.f32", "approximate", 128);
    expect_line(lines, 1, "%clock", "left open", 64);
    expect_line(lines, 2, "sin.approx.f32", "approximate", 16);
    json_decref(o);
    free(text);
    text = command_output("%p run %s/k.ptx --block 64 --arg 'buf:f32[64]' --fidelity", &status);
    cr_expect(
        strstr(text, "fidelity: 576 of 784 thread instructions have one right result (73.47 %)"),
        "%s", text);
    free(text);
}

/* The report of a command that prints JSON. */
static json_t *document(const char *command)
{
    int status;
    char *text = command_output(command, &status);
    json_t *o = json_loads(text, 0, NULL);
    cr_assert(status == 0 && o, "%s", text);
    free(text);
    return o;
}

Test(fidelity, check_and_estimate_say_the_same)
{
    int status;
    write_kernel();
    json_t *run = document(
               "%p run %s/k.ptx --block 64 --arg 'buf:f32[64]' --fidelity --format=json"),
           *check = document("%p check %s/k.ptx --block 64 --arg 'buf:f32[64]' --fidelity --runs 1 "
                             "--race-runs 0 --format=json"),
           *estimate = document("%p estimate --gpu titanv %s/k.ptx --block 64 --arg 'buf:f32[64]' "
                                "--fidelity --format=json");
    json_t *want = json_object_get(run, "fidelity"),
           *gpu = json_array_get(json_object_get(estimate, "gpus"), 0);
    cr_assert(want);
    cr_expect(json_equal(want, json_object_get(check, "fidelity")));
    cr_expect(json_equal(want, json_object_get(gpu, "fidelity")));
    static const char *const commands[] = {"check", "estimate"};
    for (int i = 0; i < 2; i++) {
        char line[256];
        snprintf(line, sizeof line, "%%p %s %%s/k.ptx --block 64 --arg 'buf:f32[64]' --fidelity%s",
                 commands[i], i ? "" : " --runs 1 --race-runs 0");
        char *text = command_output(line, &status);
        cr_expect(status == 0 && strstr(text, "fidelity: 576 of 784 thread instructions have one "
                                              "right result (73.47 %)"),
                  "%s", text);
        cr_expect(strstr(text, "may reach: memory\n"), "%s", text);
        free(text);
    }
    json_decref(run);
    json_decref(check);
    json_decref(estimate);
    free(command_output(
        "%p estimate %s/k.ptx --block 64 --arg 'buf:f32[64]' --fidelity --format=csv", &status));
    cr_expect_eq(status, 2);
    free(command_output("%p estimate --from %s/none.hdt --fidelity", &status));
    cr_expect_eq(status, 2);
    free(command_output("%p check %s/k.ptx --block 64 --arg 'buf:f32[64]' --fidelity --exhaustive",
                        &status));
    cr_expect_eq(status, 2);
}

/* ---- what an inexact result may reach ---------------------------------------------------------------- */

/* %f2 is not exact, %r3 is 0 but made from it, %p1 is false but made from it; %d1 is the buffer of 32 words. */
#define BEGIN                                                                                      \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                                              \
    ".func take(.param .f32 x)\n{\nret;\n}\n"                                                      \
    ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %%r<9>; .reg .f32 %%f<9>; .reg .b64 %%d<9>;" \
    " .reg .pred %%p<5>;\nld.param.u64 %%d1, [out];\nmov.u32 %%r1, %%tid.x;\n"                     \
    "cvt.rn.f32.u32 %%f1, %%r1;\nmov.u32 %%r4, 0;\nmov.f32 %%f4, 0f00000000;\n"
#define ZERO "cvt.rzi.u32.f32 %r3, %f2;\nand.b32 %r3, %r3, 0;\n"
#define FALSE "setp.lt.f32 %p1, %f2, 0f00000000;\n"
#define AT "mul.wide.u32 %d2, %r3, 4;\nadd.u64 %d2, %d1, %d2;\n"
static const struct {
    const char *what, *body, *reaches; /* names, joined by a comma */
} ways[] = {
    {"nothing", ZERO, ""},
    {"a branch", FALSE "@%p1 bra L;\nL:\n", "control flow"},
    {"a guard", FALSE "@%p1 mov.u32 %r4, 1;\n", "control flow"},
    {"the index of a branch", ZERO "T: .branchtargets A, B;\nbrx.idx %r3, T;\nA:\nB:\n",
     "control flow"},
    {"an address", ZERO AT "ld.global.u32 %r4, [%d2];\n", "address"},
    {"an address that a predicate selects",
     FALSE "selp.b32 %r3, 4, 0, %p1;\n" AT "ld.global.u32 %r4, [%d2];\n", "address"},
    {"an address through a vector",
     ZERO "mov.b64 %d3, {%r3, %r4};\nadd.u64 %d2, %d1, %d3;\n"
          "ld.global.u32 %r4, [%d2];\n",
     "address"},
    {"a stored value", "st.global.f32 [%d1], %f2;\n", "memory"},
    {"a stored value and its address", ZERO AT "st.global.f32 [%d2], %f2;\n", "address,memory"},
    {"an argument", "{ .param .f32 a; st.param.f32 [a], %f2; call take, (a); }\n", "memory"},
    {"the operand of an atomic, not its result",
     "atom.global.add.f32 %f5, [%d1], %f2;\nsetp.gt.f32 %p2, %f5, 0f00000000;\n@%p2 bra L;\nL:\n",
     "memory"},
    {"the number of a barrier", ZERO "bar.sync %r3;\n", "synchronisation"},
    {"a mask of lanes",
     ZERO "or.b32 %r3, %r3, 0xffffffff;\nshfl.sync.idx.b32 %r4, %r1, 0, 31, %r3;\n",
     "synchronisation"},
    {"a branch by another lane's value",
     "mov.b32 %r3, %f2;\nshfl.sync.idx.b32 %r4, %r3, 0, 31, 0xffffffff;\n"
     "setp.eq.u32 %p2, %r4, 0;\n@%p2 bra L;\nL:\n",
     "control flow"},
    {"a branch by a reduction of a barrier",
     FALSE "bar.red.or.pred %p2, 0, %p1;\n@%p2 bra L;\nL:\n", "control flow"},
    {"a loop that ends by a sum",
     "L:\nadd.u32 %r4, %r4, 1;\nsetp.gt.f32 %p2, %f4, 0f42C80000;\n@%p2 bra M;\n"
     "add.f32 %f4, %f4, %f2;\nbra L;\nM:\n",
     "control flow"},
    {"a value that is overwritten before the branch",
     "mov.f32 %f3, %f2;\nmov.f32 %f6, 0f00000000;\nsetp.gt.f32 %p2, %f6, %f4;\n@%p2 bra L;\nL:\n",
     ""},
};

Test(fidelity, an_inexact_result_is_followed_through_registers)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char text[2048], head[1024], got[128] = "";
        snprintf(head, sizeof head, BEGIN);
        snprintf(text, sizeof text, "%sex2.approx.f32 %%f2, %%f1;\n%sret;\n}\n", head,
                 ways[i].body);
        write_text(text);
        json_t *o = document(
                   "%p run %s/k.ptx --block 32 --arg 'buf:f32[32]' --fidelity --format=json"),
               *lines = json_object_get(json_object_get(o, "fidelity"), "inexact"),
               *reaches = json_object_get(json_array_get(lines, 0), "may_reach");
        cr_assert(json_is_array(reaches), "%s", ways[i].what);
        for (size_t k = 0; k < json_array_size(reaches); k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", k ? "," : "",
                     json_string_value(json_array_get(reaches, k)));
        cr_expect_str_eq(got, ways[i].reaches, "%s: %s", ways[i].what, got);
        json_decref(o);
    }
}

/* A word of PTX itself says of an opcode that it approximates; integer and logic forms never do. */
Test(fidelity, every_approximation_of_the_isa_is_listed)
{
    static const char *const exact[] = {"integer", "integer multiply", "integer divide",
                                        "memory",  "atomic",           "convert"};
    size_t approximations = 0;
    for (size_t i = 0; i < heddle_form_count(); i++) {
        const struct heddle_form f = heddle_form(i);
        if (strstr(f.modifiers, ".approx")) {
            cr_expect(f.inexact, "%s%s", f.name, f.modifiers);
            approximations++;
        }
        for (size_t k = 0; k < sizeof exact / sizeof *exact; k++)
            cr_expect(strcmp(f.unit, exact[k]) != 0 || !f.inexact, "%s%s", f.name, f.modifiers);
        if (strcmp(f.name, "mma") == 0 && strstr(f.modifiers, ".s32.")) cr_expect(!f.inexact);
        if (strcmp(f.name, "mma") == 0 && strstr(f.modifiers, ".f16.f16")) cr_expect(f.inexact);
    }
    cr_expect(approximations >= 14);
}
