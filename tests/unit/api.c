/* heddle.h as a stranger would use it, with no other header of Heddle. Leaks show in sanitized builds. */
#define _GNU_SOURCE /* popen */
#include "heddle.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static const char text[] = HEAD
    ".extern .func later(.param .b32 a);\n"
    ".global .align 16 .v2 .f32 table[3];\n"
    ".const .u8 bytes[] = {1, 2, 3};\n"
    ".extern .shared .b8 dynamic[];\n"
    ".shared .u64 fixed[8];\n"
    ".func helper()\n{\n\tret;\n}\n"
    ".visible .entry kernel(.param .u64 p, .param .u8 q, .param .align 8 .b8 r[12])\n{\n"
    "\t.reg .pred %p<2>;\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<3>;\n\t.local .b8 buffer[40];\n\t.shared .u32 own[2];\n"
    "\tld.param.u64 %rd1, [p];\nouter:\ninner:\n\tld.global.u32 %r1, [%rd1];\n\tadd.u32 %r2, %r1, 1;\n"
    "\tst.shared.u32 [fixed], %r2;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra inner;\n\tsetp.ne.u32 %p1, %r2, 0;\n"
    "\t@%p1 bra outer;\n\tatom.global.add.u32 %r3, [%rd1], 1;\n\tbar.sync 0;\n\tcall helper;\n"
    "\t{ .param .b32 a; st.param.b32 [a], %r3; call later, (a); }\n\tret;\n}\n";

static struct heddle_module *read_text(const char *ptx, const struct heddle_options *options)
{
    return heddle_module_read("api.ptx", ptx, strlen(ptx), options);
}

Test(api, what_a_module_says)
{
    struct heddle_module *m = read_text(text, NULL);
    cr_assert(heddle_module_ok(m), "%s", heddle_module_messages_text(m));
    cr_expect(!heddle_module_unreadable(m));
    cr_expect(strcmp(heddle_module_name(m), "api.ptx") == 0);
    cr_expect(heddle_module_ptx_version(m) == 80);
    cr_expect(strcmp(heddle_module_target(m), "sm_80") == 0);
    cr_expect(heddle_module_address_size(m) == 64);
    cr_expect(heddle_module_message_count(m) == 0);
    cr_expect(strcmp(heddle_module_messages_text(m), "") == 0);
    cr_expect(heddle_module_error_count(m) == 0 && heddle_module_warning_count(m) == 0);
    heddle_module_free(m);
}

Test(api, targets)
{
    static const char *const targets[][2] = {
        {"sm_90a", "9.0"}, {"sm_100f", "9.0"}, {"sm_52", "9.0"}, {"sm_20", "2.0"}};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char ptx[80];
        snprintf(ptx, sizeof ptx, ".version %s\n.target %s\n", targets[i][1], targets[i][0]);
        struct heddle_module *m = read_text(ptx, NULL);
        cr_expect(heddle_module_ok(m), "%s", heddle_module_messages_text(m));
        cr_expect(strcmp(heddle_module_target(m), targets[i][0]) == 0, "%s",
                  heddle_module_target(m));
        cr_expect(heddle_module_address_size(m) == 32);
        heddle_module_free(m);
    }
}

static const struct {
    const char *name;
    struct heddle_function is;
} functions[] = {
    {"later", {.line = 4}},
    {"helper", {.is_defined = true, .line = 9, .instructions = 1, .blocks = 1, .registers = 1}},
    {"kernel",
     {.is_kernel = true,
      .is_defined = true,
      .line = 13,
      .instructions = 14,
      .blocks = 5,
      .loops = 2,
      .loop_depth = 2,
      .shared_bytes = 72,
      .local_bytes = 40,
      .param_bytes = 28,
      .calls = 2,
      .barriers = 1,
      .atomics = 1,
      .branches = 2}},
};

static void check_functions(struct heddle_module *m)
{
    enum { COUNT = sizeof functions / sizeof *functions };
    cr_assert(heddle_module_function_count(m) == COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        struct heddle_function f = heddle_module_function(m, i), want = functions[i].is;
        const char *name = functions[i].name;
        cr_expect(strcmp(f.name, name) == 0, "%s", f.name);
        cr_expect(f.is_kernel == want.is_kernel && f.is_defined == want.is_defined, "%s", name);
#define SAME(field)                                                                                \
    cr_expect(f.field == want.field, "%s: " #field " is %llu", name, (unsigned long long)f.field)
        SAME(line);
        SAME(instructions);
        SAME(blocks);
        SAME(loops);
        SAME(loop_depth);
        SAME(shared_bytes);
        SAME(local_bytes);
        SAME(param_bytes);
        SAME(calls);
        SAME(barriers);
        SAME(atomics);
        SAME(branches);
#undef SAME
        uint64_t sum = 0;
        for (size_t u = 0; u < HEDDLE_UNIT_COUNT; u++) sum += f.by_unit[u];
        cr_expect(sum == f.instructions, "%s: the units add up to %llu", name,
                  (unsigned long long)sum);
        cr_expect((f.registers > 0) == f.is_defined && f.registers >= f.pressure,
                  "%s: %u registers", name, f.registers);
    }
}

Test(api, functions)
{
    struct heddle_module *m = read_text(text, NULL);
    check_functions(m);
    check_functions(m);
    heddle_module_free(m);
}

Test(api, units_have_names)
{
    for (size_t u = 0; u < HEDDLE_UNIT_COUNT; u++) {
        cr_assert(heddle_unit_name(u) && *heddle_unit_name(u));
        for (size_t v = 0; v < u; v++)
            cr_expect(strcmp(heddle_unit_name(u), heddle_unit_name(v)) != 0);
    }
}

Test(api, variables)
{
    static const struct heddle_variable want[] = {
        {"table", "global", 24, 16, false, false},
        {"bytes", "const", 3, 1, false, true},
        {"dynamic", "shared", 0, 1, true, false},
        {"fixed", "shared", 64, 8, false, false},
    };
    struct heddle_module *m = read_text(text, NULL);
    cr_assert(heddle_module_variable_count(m) == sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct heddle_variable v = heddle_module_variable(m, i);
        cr_expect(strcmp(v.name, want[i].name) == 0 && strcmp(v.space, want[i].space) == 0,
                  "%s in %s", v.name, v.space);
        cr_expect(v.size == want[i].size && v.align == want[i].align, "%s: %llu bytes at %llu",
                  v.name, (unsigned long long)v.size, (unsigned long long)v.align);
        cr_expect(v.is_extern == want[i].is_extern &&
                      v.has_initial_value == want[i].has_initial_value,
                  "%s", v.name);
    }
    heddle_module_free(m);
}

/* ---- messages ---------------------------------------------------------------------------------- */

Test(api, messages)
{
    struct heddle_module *m = read_text(
        HEAD ".entry k()\n{\n\tbar.sync 99;\n\taddd.u32 1;\n\tret;\n}\n", NULL);
    static const struct heddle_message want[] = {
        {HEDDLE_ERROR, 6, 11, 2, "operand 1 of 'bar.sync' must lie in 0 to 15"},
        {HEDDLE_ERROR, 7, 2, 4, "unknown instruction 'addd'"},
        {HEDDLE_NOTE, 7, 2, 4, "did you mean 'add'?"},
    };
    cr_expect(!heddle_module_ok(m) && !heddle_module_unreadable(m));
    cr_expect(heddle_module_error_count(m) == 2);
    cr_assert(heddle_module_message_count(m) == sizeof want / sizeof *want);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct heddle_message g = heddle_module_message(m, i);
        cr_expect(g.severity == want[i].severity && g.line == want[i].line &&
                      g.column == want[i].column && g.length == want[i].length,
                  "message %zu: %d at %u:%u of %u", i, (int)g.severity, g.line, g.column, g.length);
        cr_expect(strcmp(g.text, want[i].text) == 0, "'%s'", g.text);
    }
    const char *all = heddle_module_messages_text(m);
    cr_expect(strncmp(all, "api.ptx:6:11: error: operand 1 of", 33) == 0, "%s", all);
    heddle_module_free(m);
}

Test(api, max_errors)
{
    char ptx[4000] = HEAD ".entry k() {\n";
    for (int i = 0; i < 70; i++) strcat(ptx, "addd.u32 1;\n");
    strcat(ptx, "}\n");
    static const struct {
        unsigned most; /* 1000: no options */
        size_t errors;
    } cases[] = {{1000, 50}, {0, 70}, {1, 1}, {7, 7}, {70, 70}, {71, 70}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct heddle_options how = {.max_errors = cases[i].most};
        struct heddle_module *m = read_text(ptx, cases[i].most == 1000 ? NULL : &how);
        size_t errors = 0;
        for (size_t k = 0; k < heddle_module_message_count(m); k++)
            errors += heddle_module_message(m, k).severity == HEDDLE_ERROR;
        cr_expect(errors == cases[i].errors, "at most %u: %zu", cases[i].most, errors);
        cr_expect(heddle_module_error_count(m) >= errors);
        cr_expect(!strstr(heddle_module_messages_text(m), "stopped after") ==
                      (cases[i].errors == 70 && cases[i].most != 70),
                  "at most %u", cases[i].most);
        heddle_module_free(m);
    }
}

/* A module with errors can be asked anything. */
Test(api, broken_modules_answer)
{
    static const char *const broken[] = {"",
                                         "\0",
                                         "nonsense",
                                         ".version 8.0",
                                         HEAD "}",
                                         HEAD ".entry k() {",
                                         HEAD ".entry k() { foo; }",
                                         HEAD ".func f(); .global .u32 g[",
                                         HEAD
                                         ".entry k() { .reg .b32 x; mov.b32 x, y; bra z; @p ret; }",
                                         HEAD ".entry k(.param .u32 k){ret;} .entry k(){ret;}"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        for (int lazy = 0; lazy < 2; lazy++) {
            struct heddle_options how = {.max_errors = 50, .lazy = lazy};
            struct heddle_module *m = read_text(broken[i], &how),
                                 *same = read_text(broken[i], &how);
            (void)heddle_module_target(m);
            for (size_t k = 0; k < heddle_module_function_count(m); k++) {
                (void)heddle_module_function(m, k);
                free(heddle_function_graph(m, k, true));
            }
            for (size_t k = 0; k < heddle_module_variable_count(m); k++)
                (void)heddle_module_variable(m, k);
            cr_expect(!heddle_module_ok(m) || lazy, "'%s'", broken[i]);
            cr_expect(heddle_module_ok(m) || heddle_module_message_count(m) > 0, "'%s'", broken[i]);
            for (size_t k = 0; k < heddle_module_message_count(m); k++) {
                struct heddle_message g = heddle_module_message(m, k);
                cr_expect(g.line >= 1 && g.column >= 1 && *g.text, "'%s'", broken[i]);
            }
            heddle_program_free(heddle_program_link(&same, 1));
            heddle_module_free(m);
            heddle_module_free(same);
        }
}

/* ---- files, options, ownership ----------------------------------------------------------------- */

Test(api, unreadable_files)
{
    static const char *const paths[] = {"tests/no/such/file.ptx", "tests", ""};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct heddle_module *m = heddle_module_read_file(paths[i], NULL);
        cr_expect(heddle_module_unreadable(m) && !heddle_module_ok(m), "%s", paths[i]);
        cr_expect(heddle_module_error_count(m) == 1 && heddle_module_message_count(m) == 1);
        struct heddle_message g = heddle_module_message(m, 0);
        cr_expect(g.line == 0 && g.column == 0 && strstr(g.text, "cannot read"));
        cr_expect(strstr(heddle_module_messages_text(m), "error: cannot read: "));
        cr_expect(heddle_module_function_count(m) == 0 && heddle_module_variable_count(m) == 0);
        cr_expect(strcmp(heddle_module_target(m), "") == 0 && heddle_module_ptx_version(m) == 0);
        char *printed = heddle_module_print(m);
        cr_expect(printed && !*printed);
        free(printed);
        cr_expect(!heddle_module_difference(m, m));
        heddle_module_free(m);
    }
}

Test(api, files_read_like_text)
{
    struct heddle_module *f = heddle_module_read_file("tests/corpus/hand/functions.ptx", NULL);
    cr_assert(heddle_module_ok(f), "%s", heddle_module_messages_text(f));
    char *printed = heddle_module_print(f);
    struct heddle_module *t = read_text(printed, NULL);
    cr_expect(!heddle_module_difference(f, t) && !heddle_module_difference(t, f));
    free(printed);
    heddle_module_free(f);
    heddle_module_free(t);
}

Test(api, nuls_at_the_end_are_dropped)
{
    static const char padded[] = HEAD ".entry k() { ret; }\0\0\0\0";
    struct heddle_module *m = heddle_module_read("nul", padded, sizeof padded, NULL);
    cr_expect(heddle_module_ok(m), "%s", heddle_module_messages_text(m));
    heddle_module_free(m);
    static const char within[] = HEAD "\0 .entry k() { ret; }";
    m = heddle_module_read("nul", within, sizeof within - 1, NULL);
    cr_expect(!heddle_module_ok(m));
    heddle_module_free(m);
}

/* The caller's text and name may go away once the module is read. */
Test(api, text_is_copied)
{
    for (int lazy = 0; lazy < 2; lazy++) {
        char *mine = malloc(sizeof text - 1), name[] = "mine";
        memcpy(mine, text, sizeof text - 1);
        struct heddle_options how = {.max_errors = 50, .lazy = lazy};
        struct heddle_module *m = heddle_module_read(name, mine, sizeof text - 1, &how);
        memset(mine, '!', sizeof text - 1);
        free(mine);
        memset(name, '!', 4);
        cr_expect(strcmp(heddle_module_name(m), "mine") == 0);
        check_functions(m);
        heddle_module_free(m);
    }
}

/* What was asked before stays as it was. */
Test(api, strings_live_as_long_as_the_module)
{
    struct heddle_module *m = read_text(text, NULL);
    struct heddle_function f = heddle_module_function(m, 2);
    struct heddle_variable v = heddle_module_variable(m, 0);
    const char *target = heddle_module_target(m);
    for (int i = 0; i < 1000; i++) {
        (void)heddle_module_function(m, 1);
        (void)heddle_module_variable(m, 1);
    }
    free(heddle_module_print(m));
    cr_expect(strcmp(f.name, "kernel") == 0 && strcmp(v.name, "table") == 0 &&
              strcmp(target, "sm_80") == 0);
    heddle_module_free(m);
    heddle_module_free(NULL);
}

Test(api, lazy)
{
    static const char ptx[] = HEAD
        ".entry good() { ret; }\n.entry bad() { foo; }\n.entry unclosed() { ret; }\n";
    struct heddle_options how = {.max_errors = 50, .lazy = true};
    struct heddle_module *m = read_text(ptx, &how);
    cr_expect(heddle_module_ok(m), "%s", heddle_module_messages_text(m));
    cr_expect(heddle_module_function_count(m) == 3);
    cr_expect(heddle_module_function(m, 0).instructions == 1);
    cr_expect(heddle_module_ok(m));
    struct heddle_function bad = heddle_module_function(m, 1);
    cr_expect(bad.instructions == 0 && strcmp(bad.name, "bad") == 0);
    cr_expect(!heddle_module_ok(m) && heddle_module_error_count(m) == 1);
    (void)heddle_module_function(m, 1);
    cr_expect(heddle_module_error_count(m) == 1, "the body is read twice");
    heddle_module_free(m);
    m = read_text(text, &how);
    check_functions(m);
    heddle_module_free(m);
}

/* A lazy module prints and compares as an eager one does. */
Test(api, lazy_and_eager_are_equal)
{
    struct heddle_options how = {.max_errors = 50, .lazy = true};
    struct heddle_module *lazy = read_text(text, &how), *eager = read_text(text, NULL);
    const char *difference = heddle_module_difference(lazy, eager);
    cr_expect(!difference, "%s", difference);
    heddle_module_free(lazy);
    lazy = read_text(text, &how);
    char *a = heddle_module_print(lazy), *b = heddle_module_print(eager);
    cr_expect(strcmp(a, b) == 0, "%s", a);
    free(a);
    free(b);
    heddle_module_free(lazy);
    heddle_module_free(eager);
}

Test(api, forms)
{
    cr_expect(heddle_form_count() > 500);
    size_t refused = 0;
    for (size_t i = 0; i < heddle_form_count(); i++) {
        struct heddle_form f = heddle_form(i);
        cr_expect(f.name && *f.name && f.modifiers && f.operands && f.target && f.unit && *f.unit,
                  "form %zu", i);
        cr_expect(f.since >= 10 && f.since <= 99, "%s: since %d", f.name, f.since);
        cr_expect(!f.refused || *f.refused);
        refused += f.refused != NULL;
    }
    cr_expect(refused > 0 && refused < heddle_form_count() / 2);
}

Test(api, version)
{
    int parts[3], end = 0;
    cr_expect(sscanf(heddle_version(), "%d.%d.%d%n", &parts[0], &parts[1], &parts[2], &end) == 3 &&
                  !heddle_version()[end],
              "%s", heddle_version());
}

/* ---- threads, other languages ------------------------------------------------------------------ */

static void *one_thread(void *arg)
{
    size_t *instructions = arg;
    for (int i = 0; i < 20; i++) {
        struct heddle_module *m = heddle_module_read_file("tests/corpus/hand/integers.ptx", NULL);
        char *printed = heddle_module_print(m);
        *instructions += heddle_module_ok(m) ? heddle_module_function(m, 0).instructions : 0;
        *instructions += strlen(printed) + heddle_form_count();
        free(printed);
        heddle_module_free(m);
    }
    return NULL;
}

Test(api, modules_in_several_threads)
{
    pthread_t threads[4];
    size_t results[4] = {0};
    for (int i = 0; i < 4; i++)
        cr_assert(pthread_create(&threads[i], NULL, one_thread, &results[i]) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 1; i < 4; i++) cr_expect(results[i] == results[0] && results[0] > 0);
}

/* The header alone, with every warning, in each language and standard that a compiler is there for. */
Test(api, the_header_compiles_alone, .timeout = 120)
{
    static const struct {
        const char *compiler, *flags;
    } ways[] = {{"gcc", "-x c -std=c11"},
                {"gcc", "-x c -std=c99"},
                {"clang", "-x c -std=c11 -Weverything -Wno-padded"},
                {"g++", "-x c++ -std=c++98 -Wno-long-long"},
                {"g++", "-x c++ -std=c++20"},
                {"clang++", "-x c++ -std=c++17"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char command[512];
        snprintf(command, sizeof command, "command -v %s >/dev/null", ways[i].compiler);
        if (system(command) != 0) continue;
        snprintf(
            command, sizeof command,
            "%s %s -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror -fsyntax-only -Iinclude -",
            ways[i].compiler, ways[i].flags);
        if (strstr(ways[i].flags, "c++")) /* not a word of C++ */
            *strstr(command, "-Wstrict-prototypes") = ' ',
                             memset(strstr(command, " Wstrict-prototypes"), ' ', 19);
        FILE *f = popen(command, "w");
        cr_assert(f);
        fputs(
            "#include \"heddle.h\"\nint main(void)\n{\n    struct heddle_module *m = heddle_module_read_file(\"k\", 0);\n"
            "    int bad = !heddle_module_ok(m);\n    heddle_module_free(m);\n    return bad;\n}\n",
            f);
        cr_expect(pclose(f) == 0, "%s", command);
    }
}
