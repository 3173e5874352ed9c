/* `heddle run --fidelity` and `heddle isa --inexact`: which executed instructions have one right result. */
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

static void write_kernel(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/k.ptx", command_folder);
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(kernel, f) >= 0 && fclose(f) == 0);
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
