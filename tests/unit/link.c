/* Several modules as one program: whose definition a name means, what clashes, what is reached. */
#include "ptx/link.h"
#include "heddle.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

enum { MOST = 3 };

/* Up to three modules without their heads, linked; then all that kernels of the first module reach, as
 * "module:name" in order. */
static const struct program {
    const char *what, *modules[MOST];
    const char *errors[MOST]; /* part of a message of each; NULL: it has none */
    const char *reached;      /* NULL: linking fails already */
    bool missing;             /* something reached is not there, or has errors */
} programs[] = {
    {"one module", {".func f(){ret;} .entry k(){call f; ret;}"}, {0}, "0:k 0:f", false},
    {"nothing called", {".func f(){ret;} .entry k(){ret;}"}, {0}, "0:k", false},
    {"order of calls",
     {".func g(){ret;} .func f(){call g; ret;} .entry k(){call f; call g; ret;}"},
     {0},
     "0:k 0:f 0:g",
     false},
    {"recursion",
     {".func g(); .func f(){call g; ret;} .func g(){call f; ret;} .entry k(){call f; ret;}"},
     {0},
     "0:k 0:f 0:g",
     false},
    {"function of another module",
     {".extern .func f(); .entry k(){call f; ret;}", ".visible .func f(){ret;}"},
     {0},
     "0:k 1:f",
     false},
    {"the definition first",
     {".extern .func f(); .entry k(){call f; ret;}", ".visible .func f(){ret;}"},
     {0},
     "0:k 1:f",
     false},
    {"there and back",
     {".extern .func f(); .visible .func g(){ret;} .entry k(){call f; ret;}",
      ".extern .func g(); .visible .func f(){call g; ret;}"},
     {0},
     "0:k 1:f 0:g",
     false},
    {"through a third module",
     {".extern .func f(); .entry k(){call f; ret;}",
      ".extern .func g(); .visible .func f(){call g; ret;}", ".visible .func g(){ret;}"},
     {0},
     "0:k 1:f 2:g",
     false},
    {"a name without linkage is its module's own",
     {".extern .func f(); .func g(){ret;} .entry k(){call f; call g; ret;}",
      ".func g(){ret;} .visible .func f(){call g; ret;}"},
     {0},
     "0:k 1:f 0:g 1:g",
     false},
    {"it does not serve others",
     {".extern .func f(); .entry k(){call f; ret;}", ".func f(){ret;}"},
     {"no module defines 'f'"},
     "0:k",
     true},
    {"weak serves",
     {".extern .func f(); .entry k(){call f; ret;}", ".weak .func f(){ret;}"},
     {0},
     "0:k 1:f",
     false},
    {"visible beats weak",
     {".extern .func f(); .entry k(){call f; ret;}", ".weak .func f(){ret;}",
      ".visible .func f(){ret;}"},
     {0},
     "0:k 2:f",
     false},
    {"visible beats weak before it",
     {".extern .func f(); .entry k(){call f; ret;}", ".visible .func f(){ret;}",
      ".weak .func f(){ret;}"},
     {0},
     "0:k 1:f",
     false},
    {"the first of two weak ones",
     {".extern .func f(); .entry k(){call f; ret;}", ".weak .func f(){ret;}",
      ".weak .func f(){ret;}"},
     {0},
     "0:k 1:f",
     false},
    {"visible elsewhere beats its own weak one",
     {".weak .func f(){ret;} .entry k(){call f; ret;}", ".visible .func f(){ret;}"},
     {0},
     "0:k 1:f",
     false},
    {"two definitions",
     {".visible .func f(){ret;} .entry k(){ret;}", ".visible .func f(){ret;}"},
     {NULL, "'f' is defined already in m0.ptx"},
     NULL,
     false},
    {"two variables",
     {".visible .global .u32 g; .entry k(){ret;}", ".visible .global .u32 g;"},
     {NULL, "'g' is defined already in m0.ptx"},
     NULL,
     false},
    {"two kernels",
     {".visible .entry k(){ret;}", ".visible .entry k(){ret;}"},
     {NULL, "'k' is defined already in m0.ptx"},
     NULL,
     false},
    {"function and variable",
     {".visible .func f(){ret;} .entry k(){ret;}", ".visible .global .u32 f;"},
     {NULL, "'f' is declared otherwise in m0.ptx"},
     NULL,
     false},
    {"a prototype that differs",
     {".extern .func f(.param .b32 a); .entry k(){ret;}", ".visible .func f(.param .b64 a){ret;}"},
     {"'f' is declared otherwise in m1.ptx"},
     NULL,
     false},
    {"number of parameters",
     {".extern .func f(.param .b32 a); .entry k(){ret;}", ".visible .func f(){ret;}"},
     {"'f' is declared otherwise in m1.ptx"},
     NULL,
     false},
    {"result",
     {".extern .func (.param .b32 r) f(); .entry k(){ret;}", ".visible .func f(){ret;}"},
     {"'f' is declared otherwise in m1.ptx"},
     NULL,
     false},
    {"weak ones that differ",
     {".weak .func f(){ret;} .entry k(){ret;}", ".weak .func f(.param .b32 a){ret;}"},
     {NULL, "'f' is declared otherwise in m0.ptx"},
     NULL,
     false},
    {"names of parameters may differ",
     {".extern .func f(.param .b32 a); .entry k(){{.param .b32 x; call f, (x);} ret;}",
      ".visible .func f(.param .b32 b){ret;}"},
     {0},
     "0:k 1:f",
     false},
    {"type of a variable",
     {".extern .global .u32 g; .entry k(){ret;}", ".visible .global .u64 g;"},
     {"'g' is declared otherwise in m1.ptx"},
     NULL,
     false},
    {"size of a variable",
     {".extern .global .u32 g[4]; .entry k(){ret;}", ".visible .global .u32 g[5];"},
     {"'g' is declared otherwise in m1.ptx"},
     NULL,
     false},
    {"space of a variable",
     {".extern .global .u32 g; .entry k(){ret;}", ".visible .const .u32 g;"},
     {"'g' is declared otherwise in m1.ptx"},
     NULL,
     false},
    {"unsized fits any size",
     {".extern .global .u32 g[]; .entry k(){.reg .u64 a; mov.u64 a, g; ret;}",
      ".visible .global .u32 g[5];"},
     {0},
     "0:k",
     false},
    {"common ones join",
     {".common .global .u32 g; .entry k(){ret;}", ".common .global .u32 g;"},
     {0},
     "0:k",
     false},
    {"nobody defines it",
     {".extern .func f(); .entry k(){call f; ret;}"},
     {"no module defines 'f'"},
     "0:k",
     true},
    {"nobody needs it",
     {".extern .func f(); .func g(){call f; ret;} .entry k(){ret;}"},
     {0},
     "0:k",
     false},
    {"a variable that nobody defines",
     {".extern .global .u32 g; .entry k(){.reg .u64 a; mov.u64 a, g; ret;}"},
     {"no module defines 'g'"},
     "0:k",
     true},
    {"a variable that nobody needs",
     {".extern .global .u32 g; .entry k(){ret;}"},
     {0},
     "0:k",
     false},
    {"shared memory that the launch gives",
     {".extern .shared .b8 s[]; .entry k(){.reg .u64 a; mov.u64 a, s; ret;}"},
     {0},
     "0:k",
     false},
    {"what the runtime has",
     {".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p);\n"
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
      ".entry k(){{.param .b64 a,b,d,e; .param .b32 c,r; call (r), vprintf, (a, b); call (a), malloc, (b);\n"
      "call free, (a); call __assertfail, (a, b, c, d, e);} ret;}"},
     {0},
     "0:k",
     false},
    {"the device runtime of CUDA 11 as nvlink finds it: over calls that the driver has",
     {".extern .func (.param .b32 r) cudaDeviceSynchronize();\n"
      ".entry k(){{.param .b32 r; call (r), cudaDeviceSynchronize, ();} ret;}",
      ".extern .func (.param .b32 r) cnpSynchronize();\n"
      ".visible .func (.param .b32 r) cudaDeviceSynchronize(){.reg .b32 v; .param .b32 e;\n"
      "call (e), cnpSynchronize, (); ld.param.b32 v, [e]; st.param.b32 [r], v; ret;}"},
     {0},
     "0:k 1:cudaDeviceSynchronize",
     false},
    {"a name that only begins like the driver's",
     {".extern .func cnpx(); .entry k(){call cnpx; ret;}"},
     {"no module defines 'cnpx'"},
     "0:k",
     true},
    {"a name that begins alike",
     {".extern .func vprintfx(); .entry k(){call vprintfx; ret;}"},
     {"no module defines 'vprintfx'"},
     "0:k",
     true},
    {"an alias",
     {".visible .func f(){ret;} .visible .func a(); .alias a, f; .entry k(){call a; ret;}"},
     {0},
     "0:k 0:f",
     false},
    {"an alias of another module",
     {".extern .func a(); .entry k(){call a; ret;}",
      ".visible .func f(){ret;} .visible .func a(); .alias a, f;"},
     {0},
     "0:k 1:f",
     false},
    {"an address that is taken",
     {".func f(){ret;} .entry k(){.reg .u64 a; mov.u64 a, f; ret;}"},
     {0},
     "0:k 0:f",
     false},
    {"a function in an initial value",
     {".func f(){ret;} .func g(){ret;} .global .u64 t[2] = {f, g}; .func h(){ret;}\n"
      ".entry k(){.reg .u64 a; ld.global.u64 a, [t]; ret;}"},
     {0},
     "0:k 0:f 0:g",
     false},
    {"only if the variable is named",
     {".func f(){ret;} .global .u64 t[1] = {f}; .entry k(){ret;}"},
     {0},
     "0:k",
     false},
    {"variables that name variables",
     {".func f(){ret;} .global .u64 t = f; .global .u64 u = t; .global .u64 v = u;\n"
      ".entry k(){.reg .u64 a; ld.global.u64 a, [v]; ret;}"},
     {0},
     "0:k 0:f",
     false},
    {"an initial value in another module",
     {".extern .global .u64 t; .entry k(){.reg .u64 a; ld.global.u64 a, [t]; ret;}",
      ".func f(){ret;} .visible .global .u64 t = f;"},
     {0},
     "0:k 1:f",
     false},
    {"call targets",
     {".func f(){ret;} .func g(){ret;} .entry k(){.reg .u64 a; t: .calltargets f, g; call a, (), t; ret;}"},
     {0},
     "0:k 0:f 0:g",
     false},
    {"an address that another kernel, or a variable, may have left in memory",
     {".func f(){ret;} .func g(){ret;} .func h(){ret;} .func i(){call h; ret;} .global .u64 t[2] = {0, f};\n"
      ".entry other(){.reg .u64 a; mov.u64 a, g; call h; ret;}\n"
      ".entry k(){.reg .u64 a; p: .callprototype _ (); ld.global.u64 a, [a]; call a, (), p; ret;}"},
     {0},
     "0:k 0:f 0:g",
     false},
    {"a body with errors that is not reached",
     {".func f(){foo;} .entry k(){ret;}"},
     {0},
     "0:k",
     false},
    {"a body with errors that is reached",
     {".func f(){foo;} .entry k(){call f; ret;}"},
     {"unknown instruction 'foo'"},
     "0:k 0:f",
     true},
    {"errors in another module's body",
     {".extern .func f(); .entry k(){call f; ret;}", ".visible .func f(){foo;}"},
     {NULL, "unknown instruction 'foo'"},
     "0:k 1:f",
     true},
};

static bool has_message(const struct parsed *p, const char *part)
{
    for (size_t i = 0; i < p->diags.count; i++)
        if (strstr(p->diags.list[i].text, part)) return true;
    return false;
}

/* A module whose head only is read. */
static struct parsed *read_head(const char *name, const char *head, const char *text)
{
    struct parsed *p = calloc(1, sizeof *p);
    p->arena = arena_new();
    size_t n = strlen(head) + strlen(text);
    char *whole = arena_alloc(p->arena, n + 1);
    snprintf(whole, n + 1, "%s%s", head, text);
    p->source = (struct source){arena_printf(p->arena, "%s", name), whole, (uint32_t)n};
    p->diags = (struct diags){.arena = p->arena, .source = &p->source};
    p->module = ptx_module_parse(p->arena, &p->source, &p->diags);
    return p;
}

/* The head with the body. */
static struct ptx_func *whole(struct ptx_func *f)
{
    return f->definition ? f->definition : f;
}

Test(link, programs)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *t = &programs[i];
        struct parsed *m[MOST];
        struct ptx_module *modules[MOST];
        size_t n = 0;
        for (; n < MOST && t->modules[n]; n++) {
            char name[16];
            snprintf(name, sizeof name, "m%zu.ptx", n);
            m[n] = read_head(name, HEAD, t->modules[n]);
            modules[n] = m[n]->module;
            cr_assert(m[n]->diags.errors == 0, "%s: %s", t->what, first_error(m[n]));
        }
        struct arena *a = arena_new();
        struct ptx_program *p = ptx_link(a, modules, n);
        unsigned errors = 0;
        for (size_t k = 0; k < n; k++) errors += m[k]->diags.errors;
        cr_expect((errors > 0) == !t->reached, "%s: %u errors by linking", t->what, errors);
        if (t->reached) {
            struct ptx_func *kernel = ptx_module_find(modules[0], "k");
            cr_assert(kernel, "%s", t->what);
            struct ptx_reach r = ptx_program_reach(p, 0, kernel);
            const char *got = "";
            for (size_t k = 0; k < r.count; k++) {
                const struct ptx_name *name = r.funcs[k].func->sym->name;
                got = arena_printf(a, "%s%s%zu:%.*s", got, k ? " " : "", r.funcs[k].module,
                                   (int)name->length, name->text);
                cr_expect(t->missing || whole(r.funcs[k].func)->body, "%s: no body", t->what);
            }
            cr_expect(strcmp(got, t->reached) == 0, "%s: reaches %s", t->what, got);
            cr_expect(r.ok == !t->missing, "%s: %s", t->what,
                      r.ok ? "fine" : "something is missing");
            /* What is not reached is not read, but where any address may be called. */
            const bool all = strstr(t->modules[0], ".callprototype") != NULL;
            for (size_t k = 0; k < n; k++)
                for (size_t f = 0; f < modules[k]->func_count; f++) {
                    bool is = false;
                    for (size_t q = 0; q < r.count; q++)
                        is |= whole(r.funcs[q].func) == whole(modules[k]->funcs[f]);
                    cr_expect(is || all || !whole(modules[k]->funcs[f])->body, "%s: reads too much",
                              t->what);
                }
        }
        for (size_t k = 0; k < n; k++) {
            if (t->errors[k])
                cr_expect(has_message(m[k], t->errors[k]), "%s: module %zu says '%s'", t->what, k,
                          first_error(m[k]));
            else
                cr_expect(m[k]->diags.errors == 0, "%s: module %zu says '%s'", t->what, k,
                          first_error(m[k]));
            cr_expect(m[k]->diags.errors <= 1, "%s: module %zu has %u errors", t->what, k,
                      m[k]->diags.errors);
            ptx_module_end(modules[k]);
        }
        arena_free(a);
        for (size_t k = 0; k < n; k++) parsed_free(m[k]);
    }
}

/* Where a name of each kind comes from. */
Test(link, find_says_whose_it_is)
{
    struct parsed *m[2] = {
        read_head(
            "m0", HEAD,
            ".extern .func f(); .extern .global .u32 g; .extern .func none(); .func own(){ret;}"
            ".common .global .u32 c[2]; .visible .global .u32 v;"),
        read_head("m1", HEAD,
                  ".visible .func f(){ret;} .weak .global .u32 g; .common .global .u32 c[4];")};
    struct ptx_module *modules[2] = {m[0]->module, m[1]->module};
    struct arena *a = arena_new();
    struct ptx_program *p = ptx_link(a, modules, 2);
    static const struct {
        const char *name;
        int module; /* -1: nobody */
    } names[] = {{"f", 1}, {"none", -1}, {"own", -1}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct ptx_def *d = ptx_program_find(
            p, ptx_module_find(modules[0], names[i].name)->sym->name);
        cr_expect((d ? (int)d->module : -1) == names[i].module, "%s", names[i].name);
        cr_expect(!d || (d->func && !d->var));
    }
    static const int owner[] = {1, 1, 0}; /* g, the larger c, v */
    for (size_t i = 0; i < modules[0]->var_count; i++) {
        const struct ptx_def *d = ptx_program_find(p, modules[0]->vars[i]->sym->name);
        cr_assert(d && d->var && !d->func, "variable %zu", i);
        cr_expect((int)d->module == owner[i], "variable %zu is of module %zu", i, d->module);
    }
    for (size_t i = 0; i < 2; i++) {
        cr_expect(m[i]->diags.errors == 0, "%s", first_error(m[i]));
        ptx_module_end(modules[i]);
    }
    arena_free(a);
    for (size_t i = 0; i < 2; i++) parsed_free(m[i]);
}

/* A search reports what is missing where it is named. */
Test(link, missing_names_have_places)
{
    struct parsed *m = read_head(
        "m0", HEAD, ".extern .func f();\n.entry k()\n{\n\tcall f;\n\tcall f;\n\tret;\n}");
    struct arena *a = arena_new();
    struct ptx_program *p = ptx_link(a, &m->module, 1);
    ptx_program_reach(p, 0, ptx_module_find(m->module, "k"));
    ptx_program_reach(p, 0, ptx_module_find(m->module, "k"));
    cr_assert(m->diags.count > 0);
    struct place at = source_place(&m->source, m->diags.list[0].at);
    cr_expect(at.line == 7 && at.column == 7, "%u:%u", at.line, at.column);
    ptx_module_end(m->module);
    arena_free(a);
    parsed_free(m);
}

Test(link, many_modules)
{
    enum { COUNT = 300 };
    static struct parsed *m[COUNT];
    static struct ptx_module *modules[COUNT];
    for (size_t i = 0; i < COUNT; i++) { /* a chain of calls through all modules */
        char name[16], text[160];
        snprintf(name, sizeof name, "m%zu", i);
        snprintf(text, sizeof text,
                 ".extern .func f%zu(); .visible .func f%zu(){call f%zu; ret;} .entry k%zu(){ret;}",
                 (i + 1) % COUNT, i, (i + 1) % COUNT, i);
        m[i] = read_head(name, HEAD, text);
        modules[i] = m[i]->module;
    }
    struct arena *a = arena_new();
    struct ptx_program *p = ptx_link(a, modules, COUNT);
    struct ptx_reach r = ptx_program_reach(p, 7, ptx_module_find(modules[7], "f7"));
    cr_expect(r.ok && r.count == COUNT);
    for (size_t i = 0; i < r.count; i++) cr_expect(r.funcs[i].module == (i + 7) % COUNT);
    arena_free(a);
    for (size_t i = 0; i < COUNT; i++) {
        ptx_module_end(modules[i]);
        parsed_free(m[i]);
    }
}

/* ---- heddle.h ---------------------------------------------------------------------------------- */

static const struct {
    const char *what, *head[2], *text[2];
    bool lazy, ok;
    const char *message;
} public_programs[] = {
    {"fits",
     {HEAD, HEAD},
     {".extern .func f(); .entry k(){call f; ret;}", ".visible .func f(){ret;}"},
     false,
     true,
     ""},
    {"lazily",
     {HEAD, HEAD},
     {".extern .func f(); .entry k(){call f; ret;}", ".visible .func f(){ret;}"},
     true,
     true,
     ""},
    {"missing",
     {HEAD, HEAD},
     {".extern .func f(); .entry k(){call f; ret;}", ""},
     true,
     false,
     "m0.ptx:4:36: error: no module defines 'f'"},
    {"clash",
     {HEAD, HEAD},
     {".visible .func f(){ret;}", ".visible .func f(){ret;}"},
     true,
     false,
     "m1.ptx:4:16: error: 'f' is defined already in m0.ptx"},
    {"errors that nobody reaches",
     {HEAD, HEAD},
     {".func f(){foo;} .entry k(){ret;}", ""},
     true,
     true,
     ""},
    {"errors that a kernel reaches",
     {HEAD, HEAD},
     {".func f(){foo;} .entry k(){call f; ret;}", ""},
     true,
     false,
     "m0.ptx:4:11: error: unknown instruction 'foo'"},
    {"reached in the second module",
     {HEAD, HEAD},
     {"", ".func f(){foo;} .entry k(){call f; ret;}"},
     true,
     false,
     "m1.ptx:4:11: error: unknown instruction 'foo'"},
    {"a module with errors", {HEAD, HEAD}, {"nonsense", ""}, false, false, "m0.ptx:4:1: error:"},
    {"address sizes",
     {HEAD, ".version 8.0\n.target sm_80\n.address_size 32\n"},
     {"", ""},
     false,
     false,
     "32-bit addresses, m0.ptx has 64-bit ones"},
    {"versions and targets may differ",
     {HEAD, ".version 7.0\n.target sm_75\n.address_size 64\n"},
     {"", ""},
     false,
     true,
     ""},
};

Test(link, through_the_public_header)
{
    for (size_t i = 0; i < sizeof public_programs / sizeof *public_programs; i++) {
        struct heddle_module *m[2];
        struct heddle_options how = {.max_errors = 50, .lazy = public_programs[i].lazy};
        for (int k = 0; k < 2; k++) {
            struct buf b = {0};
            buf_printf(&b, "%s%s", public_programs[i].head[k], public_programs[i].text[k]);
            m[k] = heddle_module_read(k ? "m1.ptx" : "m0.ptx", b.data, b.size, &how);
            buf_free(&b);
        }
        struct heddle_program *p = heddle_program_link(m, 2);
        const char *messages = heddle_program_messages_text(p);
        cr_expect(heddle_program_ok(p) == public_programs[i].ok, "%s: %s", public_programs[i].what,
                  messages);
        cr_expect(public_programs[i].ok ? !*messages
                                        : strstr(messages, public_programs[i].message) != NULL,
                  "%s: says %s", public_programs[i].what, messages);
        heddle_program_free(p);
        for (int k = 0; k < 2; k++) heddle_module_free(m[k]);
    }
    struct heddle_program *none = heddle_program_link(NULL, 0);
    cr_expect(heddle_program_ok(none) && !*heddle_program_messages_text(none));
    heddle_program_free(none);
    heddle_program_free(NULL);
}
