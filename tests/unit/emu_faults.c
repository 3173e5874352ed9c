/* Faults and findings: each kind of them, in each state space, with the place and the cause in its text. */
#include "emu/gpu.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A kernel of one parameter p, the address of 60 bytes, 'buffer'. The instruction in question stands alone on
 * line LINE. */
enum { LINE = 16 };
static const char *kernel(const char *before, const char *instruction)
{
    static char text[1 << 14];
    snprintf(
        text, sizeof text,
        ".version 8.7\n.target sm_90\n.address_size 64\n.file 1 \"saxpy.cu\"\n"
        ".const .align 16 .b32 c[4] = {1, 2, 3, 4};\n.shared .align 16 .b8 s[128];\n"
        ".extern .shared .b8 more[];\n.global .align 16 .b8 g[32];\n"
        ".func f()\n{ ret; }\n"
        ".visible .entry k(.param .u64 p)\n{ .reg .b64 %%d<8>; .reg .b32 %%r<8>; .reg .pred %%p<4>;\n"
        ".local .align 16 .b8 l[48]; ld.param.u64 %%d1, [p]; mov.u32 %%r1, %%tid.x;\n%s\n"
        ".loc 1 12 3\n%s\n" /* what is loaded is used: a load that nobody needs is not made */
        "xor.b32 %%r2, %%r2, %%r3; xor.b32 %%r4, %%r4, %%r5; xor.b32 %%r2, %%r2, %%r4;\n"
        "xor.b64 %%d2, %%d2, %%d3; cvt.u32.u64 %%r3, %%d2; xor.b32 %%r2, %%r2, %%r3;\n"
        "st.global.u32 [g], %%r2;\nEND:\nret;\n}\n",
        before, instruction);
    return text;
}

static const struct {
    const char *before, *instruction;
    enum emu_fault_kind kind;
    const char *text; /* part of the message; NULL: only the kind */
    const char *near; /* another part */
} faults[] = {
    /* global memory, and through generic addresses */
    {"", "st.global.u32 [%d1+60], %r1;", EMU_OUT_OF_BOUNDS, "write of 4 bytes at 0x200",
     "0 bytes behind the end of 'buffer' (60 bytes at 0x2"},
    {"", "st.u32 [%d1+64], %r1;", EMU_OUT_OF_BOUNDS, "write of 4 bytes",
     "4 bytes behind the end of 'buffer'"},
    {"", "ld.global.u32 %r2, [%d1+-4];", EMU_OUT_OF_BOUNDS, "read of 4 bytes",
     "4 bytes before 'buffer'"},
    {"", "ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%d1+48];", EMU_OUT_OF_BOUNDS, "read of 16 bytes",
     "48 bytes into 'buffer' (60 bytes"},
    {"", "ld.global.v2.b64 {%d2,%d3}, [%d1+48];", EMU_OUT_OF_BOUNDS, "read of 16 bytes",
     "48 bytes into"},
    {"", "ld.global.nc.u64 %d2, [%d1+64];", EMU_OUT_OF_BOUNDS, "read of 8 bytes", "'buffer'"},
    {"", "ld.global.b8 %r2, [g+32];", EMU_OUT_OF_BOUNDS, "read of 1 byte",
     "behind the end of 'g' (32 bytes"},
    {"", "atom.global.add.u32 %r2, [%d1+60], 1;", EMU_OUT_OF_BOUNDS, "4 bytes", "'buffer'"},
    {"", "red.global.add.u32 [%d1+60], 1;", EMU_OUT_OF_BOUNDS, "4 bytes", "'buffer'"},
    {"mov.u64 %d2, 0;", "ld.u32 %r2, [%d2];", EMU_OUT_OF_BOUNDS, "read of 4 bytes at 0x0", NULL},
    {"mov.u64 %d2, 0;", "ld.global.u32 %r2, [%d2];", EMU_OUT_OF_BOUNDS, "read of 4 bytes at 0x0",
     NULL},
    {"mov.u64 %d2, -4;", "st.u32 [%d2], 0;", EMU_OUT_OF_BOUNDS,
     "write of 4 bytes at 0xfffffffffffffffc", NULL},
    {"mov.u64 %d2, -4;", "st.global.u32 [%d2], 0;", EMU_OUT_OF_BOUNDS,
     "write of 4 bytes at 0xfffffffffffffffc", NULL},
    {"mov.u64 %d2, 0x7fffffffffff0000;", "ld.global.u64 %d2, [%d2];", EMU_OUT_OF_BOUNDS,
     "read of 8", NULL},
    {"mov.u64 %d2, 0x0ffffff8;", "ld.u64 %d3, [%d2];", EMU_OUT_OF_BOUNDS, "read of 8", NULL},
    {"mov.u64 %d2, f;", "ld.u32 %r2, [%d2];", EMU_OUT_OF_BOUNDS, NULL, NULL},
    /* shared */
    {"", "ld.shared.u32 %r2, [s+128];", EMU_OUT_OF_BOUNDS,
     "read of 4 bytes at offset 128 of 128 bytes of .shared memory", NULL},
    {"mov.u32 %r2, -4;", "st.shared.u32 [%r2], 0;", EMU_OUT_OF_BOUNDS, "write of 4 bytes",
     ".shared memory"},
    {"mov.u64 %d2, more; cvta.shared.u64 %d2, %d2;", "ld.u32 %r2, [%d2];", EMU_OUT_OF_BOUNDS,
     "of .shared memory", NULL},
    {"", "atom.shared.add.u32 %r2, [s+128], 1;", EMU_OUT_OF_BOUNDS, ".shared memory", NULL},
    /* local */
    {"mov.u64 %d2, l;", "st.local.u32 [%d2+48], 0;", EMU_OUT_OF_BOUNDS,
     "write of 4 bytes at offset", ".local memory"},
    {"mov.u64 %d2, l; cvta.local.u64 %d2, %d2;", "ld.u64 %d3, [%d2+48];", EMU_OUT_OF_BOUNDS,
     "read of 8 bytes at offset", ".local memory"},
    {"mov.u32 %r2, -8;", "ld.local.u32 %r3, [%r2];", EMU_OUT_OF_BOUNDS, NULL, ".local memory"},
    /* parameters and constants */
    {"cvta.param.u64 %d2, p;", "ld.u64 %d3, [%d2+8];", EMU_OUT_OF_BOUNDS,
     "read of 8 bytes at offset 8 of 8", NULL},
    {"", "ld.const.u32 %r2, [c+16];", EMU_OUT_OF_BOUNDS, "read of 4 bytes",
     "0 bytes behind the end of 'c' (16 bytes"},
    {"mov.u64 %d2, c;", "st.global.u32 [%d2], 1;", EMU_READ_ONLY, "write to constant memory",
     "0 bytes into 'c' (16 bytes"},
    {"mov.u64 %d2, c; cvta.const.u64 %d2, %d2;", "st.u32 [%d2+4], 1;", EMU_READ_ONLY,
     "write to constant memory", "4 bytes into 'c'"},
    {"mov.u64 %d2, c;", "atom.global.add.u32 %r2, [%d2], 1;", EMU_READ_ONLY, "constant", "'c'"},
    {"cvta.param.u64 %d2, p;", "st.u32 [%d2], 1;", EMU_READ_ONLY, "parameter", NULL},
    /* alignment */
    {"", "ld.global.u32 %r2, [%d1+2];", EMU_MISALIGNED, "read of 4 bytes at 0x",
     "no multiple of 4"},
    {"", "st.global.u64 [%d1+4], %d1;", EMU_MISALIGNED, "write of 8 bytes", "no multiple of 8"},
    {"", "ld.v4.u32 {%r2,%r3,%r4,%r5}, [%d1+8];", EMU_MISALIGNED, "read of 16 bytes",
     "no multiple of 16"},
    {"", "ld.shared.u16 %r2, [s+1];", EMU_MISALIGNED, "read of 2 bytes", "no multiple of 2"},
    {"mov.u64 %d2, l;", "st.local.u64 [%d2+4], %d2;", EMU_MISALIGNED, "write of 8 bytes",
     "no multiple of 8"},
    {"", "ld.const.u64 %d2, [c+4];", EMU_MISALIGNED, "read of 8 bytes", "no multiple of 8"},
    {"", "red.global.add.u64 [%d1+4], %d1;", EMU_MISALIGNED, "8 bytes", "no multiple of 8"},
    {"", "atom.shared.cas.b32 %r2, [s+6], 0, 1;", EMU_MISALIGNED, "4 bytes", "no multiple of 4"},
    /* the wrong space */
    {"mov.u64 %d2, l; cvta.local.u64 %d2, %d2;", "mbarrier.init.b64 [%d2], 1;", EMU_WRONG_SPACE,
     NULL, NULL},
    /* stops */
    {"", "trap;", EMU_TRAP, "trap: trap", NULL},
    {"", "brkpt;", EMU_TRAP, "trap: brkpt", NULL},
    {"", "bar.sync %r1;", EMU_BARRIER, "lanes of a warp name different barriers", NULL},
    {"P: .callprototype _ (); mov.u64 %d2, 77;", "call %d2, P;", EMU_BAD_CALL,
     "indirect call of 0x4d", NULL},
    {"mov.u64 %d2, 70000;", "alloca.u64 %d3, %d2;", EMU_STACK_OVERFLOW, "alloca of 70000 bytes",
     NULL},
    {"", "wgmma.fence.sync.aligned;", EMU_UNSUPPORTED, NULL, NULL},
};

/* What every message has: kernel, CTA, thread, line, text of the line, source line. */
static void expect_place(const char *text, const char *instruction)
{
    char line[300], place[40];
    snprintf(place, sizeof place, "at test.ptx:%d:1 in k (saxpy.cu:12)\n", LINE);
    snprintf(line, sizeof line, "     %s\n", instruction);
    cr_expect(strstr(text, place), "%s: no '%s' in\n%s", instruction, place, text);
    cr_expect(strstr(text, line), "no '%s' in\n%s", line, text);
    cr_expect(strstr(text, "  by thread (") && strstr(text, " of kernel 'k'\n"), "%s", text);
}

Test(emu_faults, each_says_what_and_where)
{
    for (size_t i = 0; i < COUNT(faults); i++) {
        uint8_t buffer[60] = {0};
        const char *instruction = faults[i].instruction;
        if (faults[i].kind == EMU_UNSUPPORTED) continue;
        struct emu_run r = {
            .ptx = kernel(faults[i].before, instruction), .kernel = "k", .grid = 3, .block = 40};
        r.args[0] = emu_inout(&r, buffer, sizeof buffer);
        cr_expect(!emu_run(&r), "%s: no fault", instruction);
        cr_expect(r.kind == faults[i].kind, "%s: %s, not %s\n%s", instruction,
                  emu_fault_name(r.kind), emu_fault_name(faults[i].kind), r.fault);
        if (!r.kind) continue;
        expect_place(r.fault, instruction);
        size_t n = strlen(emu_fault_name(r.kind));
        cr_expect(strncmp(r.fault, emu_fault_name(r.kind), n) == 0 && r.fault[n] == ':', "%s",
                  r.fault);
        cr_expect(!faults[i].text || strstr(r.fault, faults[i].text), "no '%s' in\n%s",
                  faults[i].text, r.fault);
        cr_expect(!faults[i].near || strstr(r.fault, faults[i].near), "no '%s' in\n%s",
                  faults[i].near, r.fault);
        cr_expect(r.where.line == LINE && r.where.source_line == 12, "%u %u", r.where.line,
                  r.where.source_line);
        cr_expect(r.where.cta[0] == 0 && r.where.thread[0] < 2, "%s", r.fault);
    }
}

/* The lane, warp and CTA that the fault is of, in three dimensions. */
Test(emu_faults, name_the_thread)
{
    struct emu_run r = {
        .ptx = kernel("mov.u32 %r2, %tid.z; mov.u32 %r3, %tid.y; mov.u32 %r4, %ctaid.y;\n"
                      "setp.eq.u32 %p1, %r1, 3; setp.eq.and.u32 %p1, %r2, 2, %p1;"
                      "setp.eq.and.u32 %p1, %r3, 4, %p1; setp.eq.and.u32 %p1, %r4, 1, %p1;",
                      "@%p1 trap;"),
        .kernel = "k",
        .grid = 2,
        .grid_yz = {2, 2},
        .block = 5,
        .block_yz = {6, 3}};
    uint8_t buffer[60] = {0};
    r.args[0] = emu_inout(&r, buffer, sizeof buffer);
    cr_assert(!emu_run(&r));
    cr_expect(strstr(r.fault, "by thread (3,4,2) of CTA (0,1,0) of kernel 'k'"), "%s", r.fault);
    cr_expect(r.where.thread[0] == 3 && r.where.thread[1] == 4 && r.where.thread[2] == 2);
    cr_expect(r.where.cta[0] == 0 && r.where.cta[1] == 1 && r.where.cta[2] == 0);
}

Test(emu_faults, nothing_behind_the_fault_is_done)
{
    uint32_t out[16] = {0};
    struct emu_run r = {.ptx = emu_ptx(".param .u64 p",
                                       ".reg .b64 %d<3>; ld.param.u64 %d1, [p];\n"
                                       "st.global.u32 [%d1], 1; trap; st.global.u32 [%d1+4], 1;"),
                        .block = 32};
    r.args[0] = emu_inout(&r, out, sizeof out);
    cr_expect(!emu_run(&r) && r.kind == EMU_TRAP);
    cr_expect(out[0] == 1 && out[1] == 0);
}

Test(emu_faults, what_is_not_executed_says_why)
{
    struct emu_run r = {
        .ptx = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
               "setmaxnreg.inc.sync.aligned.u32 64;\nret;\n}\n",
        .kernel = "k",
        .block = 32};
    bool refused = false; /* whichever refused form is first */
    for (size_t f = 0; f < PTX_FORM_COUNT; f++) refused |= ptx_forms[f].refused != NULL;
    cr_assert(refused);
    bool ok = emu_run(&r);
    cr_expect(!ok && r.kind == EMU_UNSUPPORTED && strstr(r.fault, "is not executed"), "%s",
              r.fault);
    cr_expect(r.where.line == 6, "%u", r.where.line);
}

Test(emu_faults, assertions_say_what_failed)
{
    static const char ptx[] =
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".global .align 1 .b8 m[6] = {120, 32, 60, 32, 49, 0};\n.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n"
        ".global .align 1 .b8 fn[3] = {107, 107, 0};\n"
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
        ".visible .entry k()\n{\n.reg .b64 %d<4>; .reg .pred %p; .reg .b32 %r;\nmov.u32 %r, %tid.x; setp.ne.u32 %p, %r, 33;\n"
        "@%p bra END;\ncvta.global.u64 %d1, m; cvta.global.u64 %d2, file; cvta.global.u64 %d3, fn;\n"
        "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;\n"
        "st.param.b64 [a], %d1; st.param.b64 [b], %d2; st.param.b32 [c], 42; st.param.b64 [d], %d3; st.param.b64 [e], 1;\n"
        "call __assertfail, (a, b, c, d, e); }\nEND:\nret;\n}\n";
    struct emu_run r = {.ptx = ptx, .kernel = "k", .block = 64};
    cr_expect(!emu_run(&r) && r.kind == EMU_ASSERT, "%s", r.fault);
    cr_expect(strstr(r.fault, "a.cu:42: kk: Assertion `x < 1' failed."), "%s", r.fault);
    cr_expect(strstr(r.fault, "by thread (33,0,0)"), "%s", r.fault);
}

Test(emu_faults, limits)
{
    static const char forever[] =
        ".reg .b64 %r; .reg .pred %p; mov.u64 %r, 0;\nL:\nadd.u64 %r, %r, 1;\nsetp.ne.u64 %p, %r, 0;\n@%p bra L;\ntrap;\n";
    struct emu_run r = {.ptx = emu_ptx("", forever), .block = 32, .once = true};
    r.config.max_instructions = 100000;
    cr_expect(!emu_run(&r) && r.kind == EMU_LIMIT, "%s", r.fault);
    cr_expect(
        strstr(r.fault, "limit reached: the kernel did not end within 100000 warp instructions"),
        "%s", r.fault);
    struct emu_run t = {.ptx = emu_ptx("", forever), .block = 32, .once = true};
    t.config.timeout = 0.05;
    cr_expect(!emu_run(&t) && t.kind == EMU_LIMIT, "%s", t.fault);
    cr_expect(strstr(t.fault, "did not end within the time allowed"), "%s", t.fault);
    /* one that ends is not stopped, but within the limit: 2 + 3 x 1000 instructions */
    static const char loop[] =
        ".reg .b64 %r; .reg .pred %p; mov.u64 %r, 0;\nL:\nadd.u64 %r, %r, 1;\nsetp.ne.u64 %p, %r, 1000;\n@%p bra L;\nret;\n";
    for (unsigned most = 3001; most <= 3002; most++) {
        struct emu_run s = {.ptx = emu_ptx("", loop), .block = 32, .once = true};
        s.config.max_instructions = most;
        cr_expect(emu_run(&s) == (most == 3002) && (s.kind == EMU_LIMIT) == (most == 3001), "%s",
                  s.fault);
        cr_expect(most == 3002 || strstr(s.fault, "took 3002 warp instructions, more than 3001"),
                  "%s", s.fault);
    }
    struct emu_run e = {.ptx = emu_ptx("", "ret;"), .grid = 100, .block = 32};
    e.config.max_instructions = 100000;
    cr_expect(emu_run(&e), "%s", e.fault);
}

/* ---- memory that was released ------------------------------------------------------------------------------- */

static const char heap[] =
    ".version 8.7\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func free(.param .b64 a);\n"
    ".visible .entry k(.param .u32 what)\n{\n.reg .b64 %d<4>; .reg .b32 %r<4>; .reg .pred %p<4>;\n"
    "ld.param.u32 %r1, [what]; setp.eq.u32 %p1, %r1, 1; setp.eq.u32 %p2, %r1, 2;\n"
    "{ .param .b64 a; .param .b64 r; st.param.b64 [a], 100; call (r), malloc, (a); ld.param.b64 %d1, [r]; }\n"
    "{ .param .b64 a; st.param.b64 [a], %d1; call free, (a); }\n"
    "@%p1 bra TWICE; @!%p2 ret;\nld.u32 %r2, [%d1+8]; st.u32 [%d1], %r2; ret;\n"
    "TWICE:\n{ .param .b64 a; st.param.b64 [a], %d1; call free, (a); }\nret;\n}\n";

Test(emu_faults, use_after_free)
{
    for (unsigned what = 0; what < 3; what++) {
        struct emu_run r = {.ptx = heap, .kernel = "k", .block = 1, .args = {what}};
        bool ok = emu_run(&r);
        cr_expect(ok == (what == 0), "%s", r.fault);
        if (what == 1)
            cr_expect(r.kind == EMU_DOUBLE_FREE && strstr(r.fault, "which is free already") &&
                          strstr(r.fault, "released by free at test.ptx:11 in k"),
                      "%s", r.fault);
        if (what == 2) {
            cr_expect(r.kind == EMU_FREED, "%s", r.fault);
            cr_expect(strncmp(r.fault, "use after free: read of 4 bytes at 0x", 37) == 0, "%s",
                      r.fault);
            cr_expect(strstr(r.fault, "8 bytes into 'malloc' (100 bytes at 0x"), "%s", r.fault);
            cr_expect(strstr(r.fault, ", released)"), "%s", r.fault);
        }
    }
}

/* ---- launches by hand --------------------------------------------------------------------------------------- */

struct device {
    struct parsed *module;
    struct emu *emu;
    struct emu_image *image;
    struct emu_kernel *kernel;
};
static struct device open_device(const char *ptx)
{
    struct device d = {.module = parse_text("test.ptx", ptx, strlen(ptx))};
    cr_assert(d.module->ok, "%s", first_error(d.module));
    d.emu = emu_new(&(struct emu_config){.threads = 1});
    char *why = NULL;
    d.image = emu_load(d.emu, &d.module->module, 1, &why);
    cr_assert(d.image, "%s", why);
    d.kernel = emu_kernel_at(d.image, 0);
    return d;
}
static void close_device(struct device *d)
{
    emu_unload(d->image);
    emu_free(d->emu);
    parsed_free(d->module);
}

Test(emu_faults, memory_that_the_host_released)
{
    struct device d = open_device(kernel("", "ld.global.u32 %r2, [%d1+8];"));
    uint64_t first = emu_alloc(d.emu, 256, "first"), x = emu_alloc(d.emu, 256, "x");
    cr_assert(first && emu_release(d.emu, x));
    cr_expect(!emu_release(d.emu, x) && !emu_release(d.emu, x + 4) && !emu_release(d.emu, 0));
    const struct emu_report *r = emu_launch(
        d.emu, d.kernel,
        &(struct emu_launch){
            .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &x, .params_size = 8});
    cr_expect(r->fault.kind == EMU_FREED && r->fault.address == x + 8 && r->fault.size == 4, "%s",
              r->fault.text);
    cr_expect(strncmp(r->fault.text, "use after free: ", 16) == 0, "%s", r->fault.text);
    cr_expect(strstr(r->fault.text, "8 bytes into 'x' (256 bytes at 0x"), "%s", r->fault.text);
    cr_expect(strstr(r->fault.text, ", released)"), "%s", r->fault.text);
    cr_expect(strcmp(r->fault.source_file, "saxpy.cu") == 0 && r->fault.source_line == 12);
    close_device(&d);
}

/* A function of a header is inlined: the kernel's own line is named, and the header's behind it. */
Test(emu_faults, places_that_are_inlined)
{
    static const struct {
        const char *places, *file, *text;
        unsigned line;
    } cases[] = {
        {".loc 1 12 3", "a.cu", " in k (a.cu:12)\n", 12},
        {".loc 2 84 5, function_name k0, inlined_at 1 3 3", "a.cu", " (a.cu:3, from b.hpp:84)\n",
         3},
        {".loc 2 84 5, function_name k0, inlined_at 1 3 3\n"
         ".loc 3 7 1, function_name k0, inlined_at 2 84 5",
         "a.cu", " (a.cu:3, from c.hpp:7)\n", 3},
        {".loc 1 40 5, function_name k0, inlined_at 1 3 3", "a.cu", " in k (a.cu:40)\n", 40},
        {".loc 1 40 5, function_name k0, inlined_at 1 3 3\n"
         ".loc 2 84 5, function_name k0, inlined_at 1 40 5",
         "a.cu", " (a.cu:40, from b.hpp:84)\n", 40},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 ".version 8.7\n.target sm_90\n.address_size 64\n"
                 ".file 1 \"a.cu\"\n.file 2 \"b.hpp\"\n.file 3 \"c.hpp\"\n"
                 ".visible .entry k()\n{\n .reg .b64 %%d; mov.u64 %%d, 8;\n"
                 ".loc 1 3 3\n%s\n st.global.u32 [%%d], 1;\nk0: ret;\n}\n",
                 cases[i].places);
        struct device d = open_device(text);
        const struct emu_report *r = emu_launch(
            d.emu, d.kernel, &(struct emu_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}});
        cr_expect_eq(r->fault.kind, EMU_OUT_OF_BOUNDS);
        cr_expect_str_eq(r->fault.source_file, cases[i].file);
        cr_expect_eq(r->fault.source_line, cases[i].line);
        cr_expect(strstr(r->fault.text, cases[i].text), "%zu: %s", i, r->fault.text);
        close_device(&d);
    }
}

/* A CTA's shared memory, static and dynamic, is limited by the GPU. */
Test(emu_faults, shared_memory_of_each_gpu)
{
    static const struct {
        const char *gpu;
        uint32_t statically, dynamically;
        const char *text; /* NULL: the launch works */
    } cases[] = {
        {"v100", 1024, (96 << 10) - 1024, NULL},
        {"v100", 1024, (96 << 10) - 1023, "98305 bytes of shared memory: a CTA on GPU v100 has"},
        {"h100", 1024, (227 << 10) - 1024, NULL},
        {"h100", 1024, (227 << 10) - 1023, "a CTA on GPU h100 has at most 232448"},
        {"quadrofx5800", 16 << 10, 0, NULL},
        {"quadrofx5800", (16 << 10) + 1, 0, "shared memory is too small for 16385 bytes of 's'"},
        {"gtx480", 48 << 10, 1,
         "49153 bytes of shared memory: a CTA on GPU gtx480 has at most 49152"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[400], *why = NULL;
        snprintf(text, sizeof text,
                 ".version 8.7\n.target sm_90\n.address_size 64\n.shared .b8 s[%u];\n"
                 ".visible .entry k()\n{ .reg .b32 %%r; ld.shared.b8 %%r, [s]; ret; }\n",
                 cases[i].statically);
        struct parsed *m = parse_text("test.ptx", text, strlen(text));
        struct emu *e = emu_new(
            &(struct emu_config){.threads = 1, .gpu = emu_gpu_find(cases[i].gpu)});
        struct emu_image *im = emu_load(e, &m->module, 1, &why);
        cr_assert(im, "%s", why);
        const struct emu_launch l = {
            .grid = {1, 1, 1}, .block = {32, 1, 1}, .shared = cases[i].dynamically};
        const struct emu_report *r = emu_launch(e, emu_kernel_at(im, 0), &l);
        cr_expect(r->fault.kind == (cases[i].text ? EMU_BAD_LAUNCH : EMU_OK), "%zu", i);
        cr_expect(!cases[i].text || strstr(r->fault.text, cases[i].text), "%zu: %s", i,
                  r->fault.text);
        emu_unload(im);
        emu_free(e);
        parsed_free(m);
    }
}

Test(emu_faults, launches_that_cannot_be)
{
    static const char plain[] =
        ".version 8.7\n.target sm_90\n.address_size 64\n.shared .b8 s[1024];\n"
        ".visible .entry k(.param .u64 p)\n%s\n{ .reg .b32 %%r; ld.shared.b8 %%r, [s]; ret; }\n";
    static const struct {
        const char *directives;
        struct emu_launch launch;
        const char *text; /* NULL: it can be */
    } cases[] = {
        {"", {.grid = {1, 1, 1}, .block = {1024, 1, 1}, .params_size = 8}, NULL},
        {"", {.grid = {1, 0, 1}, .block = {32, 1, 1}, .params_size = 8}, "no dimension may be 0"},
        {"", {.grid = {1, 1, 1}, .block = {32, 1, 0}, .params_size = 8}, "no dimension may be 0"},
        {"",
         {.grid = {1, 65536, 1}, .block = {32, 1, 1}, .params_size = 8},
         "2147483647 x 65535 x 65535"},
        {"",
         {.grid = {1, 1, 1}, .block = {1, 1, 65}, .params_size = 8},
         "at most 1024 x 1024 x 64"},
        {"",
         {.grid = {1, 1, 1}, .block = {1025, 1, 1}, .params_size = 8},
         "at most 1024 x 1024 x 64"},
        {"",
         {.grid = {1, 1, 1}, .block = {32, 33, 1}, .params_size = 8},
         "1056 threads: kernel 'k' takes at most 1024"},
        {"",
         {.grid = {65535, 65535, 65535}, .block = {32, 1, 1}, .params_size = 8},
         "CTAs is too large"},
        {"",
         {.grid = {1, 1, 1}, .block = {32, 1, 1}, .params_size = 4},
         "takes 8 bytes of parameters, not 4"},
        {"",
         {.grid = {3, 1, 1}, .block = {32, 1, 1}, .params_size = 8, .cluster = {2, 1, 1}},
         "do not fill the grid"},
        {"",
         {.grid = {32, 1, 1}, .block = {32, 1, 1}, .params_size = 8, .cluster = {32, 1, 1}},
         "clusters of 32"},
        {"",
         {.grid = {8, 8, 1}, .block = {32, 1, 1}, .params_size = 8, .cluster = {8, 4, 1}},
         "clusters of 32 CTAs: at most 16"},
        {".reqntid 64",
         {.grid = {1, 1, 1}, .block = {32, 1, 1}, .params_size = 8},
         "needs 64 x 1 x 1"},
        {".reqntid 64", {.grid = {1, 1, 1}, .block = {64, 1, 1}, .params_size = 8}, NULL},
        {".maxntid 64",
         {.grid = {1, 1, 1}, .block = {65, 1, 1}, .params_size = 8},
         "65 threads: kernel 'k' takes at most 64"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[1000];
        snprintf(text, sizeof text, plain, cases[i].directives);
        struct device d = open_device(text);
        uint64_t param = 0;
        struct emu_launch l = cases[i].launch;
        l.params = &param;
        const struct emu_report *r = emu_launch(d.emu, d.kernel, &l);
        cr_expect(r->fault.kind == (cases[i].text ? EMU_BAD_LAUNCH : EMU_OK), "%zu: %s", i,
                  r->fault.text ? r->fault.text : "");
        cr_expect(!cases[i].text || (r->fault.text && strstr(r->fault.text, cases[i].text) &&
                                     strncmp(r->fault.text, "impossible launch: ", 19) == 0),
                  "%zu: no '%s' in %s", i, cases[i].text, r->fault.text);
        close_device(&d);
    }
}

/* ---- deadlocks ------------------------------------------------------------------------------------------------- */

/* A CTA that counts while it waits does not do nothing, though its registers are the same after every round: the
 * other one waits for the count. */
Test(emu_faults, counting_in_memory_is_no_deadlock)
{
    static const char *const counts[] = {
        "atom.global.add.u32 %r2, [%d1], 1; mov.u32 %r2, 0;", /* the result is dead */
        "atom.global.add.u32 %r2, [%d1], 1; min.u32 %r2, %r2, 0;",
        "atom.global.inc.u32 %r2, [%d1], -1; and.b32 %r2, %r2, 0;",
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i += THINNED) {
        char body[1024];
        uint32_t words[2] = {0};
        snprintf(
            body, sizeof body,
            ".reg .b64 %%d<4>; .reg .b32 %%r<9>; .reg .pred %%p<3>;\n"
            "ld.param.u64 %%d1, [p]; mov.u32 %%r1, %%ctaid.x; setp.ne.u32 %%p1, %%r1, 0;\n"
            "@%%p1 bra other;\n"
            "again: %s\n"
            "ld.volatile.global.u32 %%r3, [%%d1+4]; setp.eq.u32 %%p2, %%r3, 0; @%%p2 bra again;\n"
            "mov.u32 %%r2, 7; st.global.u32 [%%d1], %%r2; ret;\n"
            "other: ld.volatile.global.u32 %%r4, [%%d1]; setp.lt.u32 %%p2, %%r4, 2000000;\n"
            "selp.u32 %%r4, 0, 1, %%p2; @%%p2 bra other;\n"
            "st.volatile.global.u32 [%%d1+4], 1; ret;",
            counts[i]);
        struct emu_run r = {.ptx = emu_ptx(".param .u64 p", body),
                            .grid = 2,
                            .block = 1,
                            .once = true,
                            .in_turn = true};
        r.args[0] = emu_inout(&r, words, sizeof words);
        cr_expect(emu_run(&r), "%s: %s", counts[i], r.fault);
        cr_expect(words[0] == 7 && words[1] == 1, "%u %u", words[0], words[1]);
    }
}

/* Nor does one that waits for a time. */
Test(emu_faults, looking_at_a_clock_is_no_deadlock)
{
    static const char body[] =
        ".reg .b64 %d<4>; .reg .pred %p<2>;\n"
        "again: mov.u64 %d1, %clock64; setp.lt.u64 %p1, %d1, 20000000; mov.u64 %d1, 0; @%p1 bra again;\n"
        "ret;";
    struct emu_run r = {
        .ptx = emu_ptx("", body), .grid = 1, .block = 1, .once = true, .in_turn = true};
    cr_expect(emu_run(&r), "%s", r.fault);
}

/* Waits as CUDA's library has them: they pause by how long it has been. */
#define PAUSING_WAIT                                                                               \
    "mov.u64 %d2, %globaltimer;\n"                                                                 \
    "again: ld.volatile.global.u32 %r2, [%d1]; setp.ne.u32 %p1, %r2, 0; @%p1 bra end;\n"           \
    "mov.u64 %d3, %globaltimer; sub.s64 %d3, %d3, %d2;\n"                                          \
    "setp.lt.s64 %p2, %d3, 40000; @%p2 bra again;\n"                                               \
    "setp.lt.s64 %p2, %d3, 4000000; @%p2 bra pause; nanosleep.u32 1000000; bra again;\n"           \
    "pause: shr.u64 %d3, %d3, 2; cvt.u32.u64 %r3, %d3; nanosleep.u32 %r3; bra again;\n"            \
    "end: st.global.u32 [%d1+4], 1; ret;\n"
#define WAIT_REGISTERS                                                                             \
    ".reg .b64 %d<5>; .reg .b32 %r<9>; .reg .pred %p<3>; ld.param.u64 %d1, [p];\n"                 \
    "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra other;\n"

static bool wait_ends(const char *body, unsigned grid, uint32_t words[2])
{
    struct emu_run r = {.ptx = emu_ptx(".param .u64 p", body),
                        .grid = grid,
                        .block = 32,
                        .once = true,
                        .in_turn = true};
    r.args[0] = emu_inout(&r, words, 8);
    const bool ended = emu_run(&r);
    cr_expect(ended || r.kind == EMU_DEADLOCK, "%s", r.fault);
    return ended;
}

Test(emu_faults, who_looks_at_a_clock_may_wait_for_ever, .timeout = 120)
{
    uint32_t words[2] = {0};
    if (!SANITIZED) cr_expect(!wait_ends(WAIT_REGISTERS "other:" PAUSING_WAIT, 1, words));
    cr_expect(!wait_ends(WAIT_REGISTERS "other:" PAUSING_WAIT, 3, words));
}

/* Somebody comes when it is time. */
Test(emu_faults, who_looks_at_a_clock_may_wait_for_one_who_does, .timeout = 120)
{
    static const char *const times[] = {
        "mov.u64 %d2, %clock64;\n"
        "wait: mov.u64 %d3, %clock64; sub.u64 %d3, %d3, %d2; setp.lt.u64 %p2, %d3, 3000000000; @%p2 bra wait;\n",
        "mov.u32 %r4, %clock;\n"
        "wait: mov.u32 %r5, %clock; sub.u32 %r5, %r5, %r4; setp.lt.s32 %p2, %r5, 1000000000; @%p2 bra wait;\n",
        "mov.u32 %r4, 0; mov.u64 %d2, %globaltimer;\n" /* it counts meanwhile */
        "wait: add.u32 %r4, %r4, 1; mov.u64 %d3, %globaltimer; sub.u64 %d3, %d3, %d2;\n"
        "setp.lt.u64 %p2, %d3, 100000000; @%p2 bra wait;\n"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i += THINNED) {
        char body[2048];
        uint32_t words[2] = {0};
        snprintf(body, sizeof body, "%s%sst.volatile.global.u32 [%%d1], 1; ret;\nother: %s",
                 WAIT_REGISTERS, times[i], PAUSING_WAIT);
        cr_expect(wait_ends(body, 2, words) && words[1] == 1, "%zu", i);
    }
}

/* A wait that is given up in the end, and what is measured of one: not much longer than it was to be. */
Test(emu_faults, a_clock_is_put_on_no_further_than_somebody_waits, .timeout = 120)
{
    uint32_t words[2] = {0};
    cr_expect(wait_ends(
        WAIT_REGISTERS
        "other: mov.u64 %d2, %clock64;\n"
        "again: mov.u64 %d3, %clock64; sub.u64 %d3, %d3, %d2; ld.volatile.global.u32 %r2, [%d1];\n"
        "setp.ne.u32 %p1, %r2, 0; @%p1 ret; setp.lt.u64 %p2, %d3, 1000000000; @%p2 bra again;\n"
        "cvt.u32.u64 %r2, %d3; st.global.u32 [%d1+4], %r2; ret;",
        1, words));
    cr_expect(words[1] >= 1000000000 && words[1] <= 2100000000, "%u", words[1]);
}

/* Nor does a warp whose wait is over, and that tells others to go on, whoever it is that comes to the barrier, and
 * after however many turns: the last one may be just before the others are looked at. */
Test(emu_faults, a_wait_that_is_over_is_no_deadlock, .timeout = 120)
{
    static const char body[] =
        ".shared .b64 bar; .reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<6>;\n"
        "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [roles]; ld.param.u32 %r2, [delay];\n"
        "mov.u32 %r3, %tid.x; setp.eq.u32 %p1, %r3, 0; mov.u32 %r4, bar;\n"
        "@%p1 mbarrier.init.shared.b64 [%r4], 1;\n"
        "bar.sync 0; shr.u32 %r5, %r3, 5; shl.b32 %r5, %r5, 2; shr.u32 %r1, %r1, %r5;\n"
        "and.b32 %r1, %r1, 3; setp.eq.u32 %p2, %r1, 1; setp.eq.u32 %p3, %r1, 2;\n"
        "@%p2 bra waits; @%p3 bra comes;\n"
        "spins: ld.volatile.global.u32 %r6, [%d1]; setp.eq.u32 %p4, %r6, 0; @%p4 bra spins;\n"
        "st.volatile.global.u32 [%d1+4], 1; ret;\n"
        "comes: sub.u32 %r2, %r2, 1; setp.ne.u32 %p4, %r2, 0; @%p4 bra comes;\n"
        "and.b32 %r7, %r3, 31; setp.eq.u32 %p5, %r7, 0;\n"
        "@%p5 mbarrier.arrive.shared.b64 %d2, [%r4]; mov.u64 %d2, 0; bra end;\n"
        "waits: mbarrier.try_wait.parity.shared.b64 %p4, [%r4], 0; selp.u32 %r6, 1, 0, %p4;\n"
        "st.volatile.global.u32 [%d1], %r6; @!%p4 bra waits;\n"
        "end: ld.volatile.global.u32 %r6, [%d1+4]; setp.eq.u32 %p4, %r6, 0; @%p4 bra end; ret;";
    static const unsigned roles[] = {0x210, 0x120, 0x201, 0x102, 0x021, 0x012};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        for (uint64_t delay = 240000; delay < 300000; delay += 10000) {
            uint32_t words[2] = {0};
            struct emu_run r = {
                .ptx = emu_ptx(".param .u64 p, .param .u32 roles, .param .u32 delay", body),
                .grid = 1,
                .block = 96,
                .once = true,
                .in_turn = true};
            r.args[0] = emu_inout(&r, words, sizeof words);
            r.args[1] = roles[i];
            r.args[2] = delay;
            cr_expect(emu_run(&r), "%x, %u: %s", roles[i], (unsigned)delay, r.fault);
        }
}

Test(emu_faults, a_deadlock_names_the_lines)
{
    /* lines 9-11 spin, the lane that has the lock waits at line 12 */
    static const char body[] =
        ".reg .u64 %d<3>; .reg .u32 %r<6>; .reg .pred %p1;\n"
        "ld.param.u64 %d1, [lock];\n\n"
        "again:\natom.global.cas.b32 %r1, [%d1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
        "@%p1 bra again;\natom.global.exch.b32 %r4, [%d1], 0;\nret;\n";
    uint32_t lock = 0;
    struct emu_run r = {.ptx = emu_ptx(".param .u64 lock", body), .block = 32, .once = true};
    r.args[0] = emu_inout(&r, &lock, sizeof lock);
    cr_expect(!emu_run(&r) && r.kind == EMU_DEADLOCK, "%s", r.fault);
    cr_expect(strncmp(r.fault, "deadlock: no warp will ever go on; warp 0 at line ", 50) == 0, "%s",
              r.fault);
    cr_expect(strstr(r.fault, "(lanes wait at line 13)"), "%s", r.fault);
    cr_expect(strstr(r.fault, "--divergence=its"), "%s", r.fault);
    cr_expect(r.where.line >= 9 && r.where.line <= 12, "%u", r.where.line);
    r.config.divergence = EMU_ITS;
    lock = 0;
    cr_expect(emu_run(&r), "%s", r.fault);
}

Test(emu_faults, a_lock_that_nobody_gives_back)
{
    static const char body[] =
        ".reg .u64 %d<3>; .reg .u32 %r<6>; .reg .pred %p1;\nld.param.u64 %d1, [lock];\n"
        "again:\natom.global.cas.b32 %r1, [%d1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
        "@%p1 bra again;\nret;\n";
    for (unsigned its = 0; its < 2; its++) {
        uint32_t lock = 0;
        struct emu_run r = {
            .ptx = emu_ptx(".param .u64 lock", body), .block = 64, .grid = 3, .once = true};
        r.config.divergence = its ? EMU_ITS : EMU_STACK;
        r.args[0] = emu_inout(&r, &lock, sizeof lock);
        cr_expect(!emu_run(&r) && r.kind == EMU_DEADLOCK, "its %u: %s", its, r.fault);
        cr_expect(!its || !strstr(r.fault, "--divergence"), "%s", r.fault);
    }
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

Test(emu_faults, reads_of_what_nobody_wrote)
{
    static const struct {
        const char *before, *instruction, *text, *near;
    } cases[] = {
        {"", "ld.global.u32 %r2, [%d1+8];", "read of 4 bytes of global memory at 0x",
         "8 bytes into 'buffer' (60 bytes"},
        {"", "ld.u64 %d2, [%d1+16];", "read of 8 bytes of global memory at 0x",
         "16 bytes into 'buffer'"},
        {"", "ld.shared.v2.u32 {%r2,%r3}, [s+8];", "read of 8 bytes of shared memory at 0x8", NULL},
        {"", "atom.shared.add.u32 %r2, [s+12], 1;", "4 bytes of shared memory", NULL},
        {"st.shared.u8 [s+4], 0;", "ld.shared.u32 %r2, [s+4];", "read of 4 bytes of shared memory",
         NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t out[60];
        struct emu_run r = {.ptx = kernel(cases[i].before, cases[i].instruction),
                            .kernel = "k",
                            .grid = 2,
                            .block = 33,
                            .once = true,
                            .config = {.checks = EMU_CHECK_INIT}};
        r.args[0] = emu_out(&r, out, sizeof out);
        cr_expect(emu_run(&r), "%s", r.fault); /* the launch goes on */
        cr_expect(r.findings == 1 && r.finding_kind == EMU_UNINITIALISED, "%s: %zu findings",
                  cases[i].instruction, r.findings);
        if (!r.findings) continue;
        cr_expect(strncmp(r.finding, "uninitialised: ", 15) == 0, "%s", r.finding);
        cr_expect(strstr(r.finding, cases[i].text) && strstr(r.finding, "that nothing wrote"), "%s",
                  r.finding);
        cr_expect(!cases[i].near || strstr(r.finding, cases[i].near), "no '%s' in\n%s",
                  cases[i].near, r.finding);
        cr_expect(strstr(r.finding, "by thread (0,0,0) of CTA (0,0,0) of kernel 'k'"), "%s",
                  r.finding);
        cr_expect_eq(r.finding_line, LINE);
        cr_expect(strncmp(cases[i].instruction, "ld", 2) != 0 || r.finding_count == 66, "%s: %llu",
                  cases[i].instruction, (unsigned long long)r.finding_count);
        expect_place(r.finding, cases[i].instruction);
    }
}

Test(emu_faults, reads_of_what_somebody_wrote)
{
    static const char *const cases[][2] = {
        {"st.global.u32 [%d1], 0;", "ld.global.u32 %r2, [%d1];"},
        {"st.u8 [%d1+7], 0;", "ld.u8 %r2, [%d1+7];"},
        {"st.shared.v2.u32 [s], {%r1,%r1};", "ld.shared.u64 %d2, [s];"},
        {"st.shared.u32 [s], 0; cvta.shared.u64 %d2, %d1; mov.u64 %d2, s; cvta.shared.u64 %d2, %d2;",
         "ld.u32 %r2, [%d2];"},
        {"", "ld.const.u32 %r2, [c];"},
        {"st.local.u32 [l], 1;", "ld.local.u32 %r2, [l];"},
        {"red.global.add.u32 [g], 1;", "ld.global.u32 %r2, [g];"},
        {"", "ld.global.u8 %r2, [g+5];"},
        {"mov.u32 %r3, s; cp.async.ca.shared.global [%r3], [g], 4; cp.async.wait_all;",
         "ld.shared.u32 %r2, [s];"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t out[60];
        struct emu_run r = {.ptx = kernel(cases[i][0], cases[i][1]),
                            .kernel = "k",
                            .grid = 2,
                            .block = 33,
                            .once = true,
                            .config = {.checks = EMU_CHECK_INIT}};
        r.args[0] = emu_out(&r, out, sizeof out);
        cr_expect(emu_run(&r), "%s", r.fault);
        cr_expect(r.findings == 0, "%s: %s", cases[i][1], r.finding);
        /* what the host copied in is written */
        uint8_t in[60] = {0};
        struct emu_run h = {.ptx = kernel("", "ld.global.u32 %r2, [%d1+56];"),
                            .kernel = "k",
                            .once = true,
                            .config = {.checks = EMU_CHECK_INIT}};
        h.args[0] = emu_in(&h, in, sizeof in);
        cr_expect(emu_run(&h) && h.findings == 0, "%s", h.finding);
    }
}

/* Shared memory of the cluster: what a bulk copy or another CTA writes, in whose CTA it is. */
Test(emu_faults, shared_memory_written_from_afar)
{
    static const char body[] =
        "ld.param.u64 %%d1, [out]; mov.u32 %%r3, s; mov.u32 %%r4, bar; mov.u32 %%r5, %%cluster_ctarank;\n"
        "xor.b32 %%r6, %%r5, %d; mapa.shared::cluster.u32 %%r7, %%r3, %%r6;\n"
        "setp.eq.u32 %%p1, %%r5, 0;\n@!%%p1 bra NEAR;\nst.shared::cluster.u32 [%%r7+64], %%r5;\n"
        "mbarrier.init.shared.b64 [%%r4], 1; fence.mbarrier_init.release.cluster;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%%r4], 64;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r3], [%%d1], 64, [%%r4];\n"
        "WAIT: mbarrier.try_wait.parity.shared.b64 %%p2, [%%r4], 0;\n@!%%p2 bra WAIT;\nld.shared.u32 %%r2, [%%r3+60];\n"
        "NEAR: barrier.cluster.arrive; barrier.cluster.wait;\n"
        "@!%%p1 ld.shared.u32 %%r2, [%%r3+64];\nst.global.u32 [%%d1], %%r2;\nbarrier.cluster.arrive; barrier.cluster.wait; ret;\n";
    for (int far = 0; far < 2; far++) {
        char text[2000];
        uint8_t in[64] = {0};
        int at = sprintf(text, ".reg .b64 %%d<2>; .reg .b32 %%r<8>; .reg .pred %%p<3>;\n"
                               ".shared .align 16 .b8 s[128]; .shared .align 8 .b8 bar[8];\n");
        sprintf(text + at, body, far);
        struct emu_run r = {.ptx = emu_ptx(".param .u64 out", text),
                            .grid = 2,
                            .block = 1,
                            .cluster = 2,
                            .once = true,
                            .config = {.checks = EMU_CHECK_INIT}};
        r.args[0] = emu_in(&r, in, sizeof in);
        cr_expect(emu_run(&r), "%s", r.fault);
        cr_expect((r.findings == 0) == (far == 1), "%s", r.finding);
    }
}

Test(emu_faults, lanes_that_are_elsewhere)
{
    static const char *const cases[][2] = {
        {"shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffffffff;",
         "lanes 0xfffff000 of member mask 0xffffffff are elsewhere; lanes 0x00000fff are here"},
        {"vote.sync.ballot.b32 %r2, %p1, 0x1fff;", "lanes 0x00001000 of member mask 0x00001fff"},
        {"match.any.sync.b32 %r2, %r1, 0xffffffff;", "lanes 0xfffff000"},
        {"redux.sync.add.s32 %r2, %r1, 0xffffffff;", "lanes 0xfffff000"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (unsigned check = 0; check < 2; check++) {
            uint8_t out[60] = {0};
            struct emu_run r = {
                .ptx = kernel("setp.lt.u32 %p1, %r1, 12; @!%p1 bra END;", cases[i][0]),
                .kernel = "k",
                .block = 64,
                .once = true,
                .config = {.checks = check ? EMU_CHECK_SYNC : 0}};
            r.args[0] = emu_inout(&r, out, sizeof out);
            cr_expect(emu_run(&r), "%s", r.fault);
            cr_expect(r.findings == check, "%s: %zu findings", cases[i][0], r.findings);
            if (!r.findings) continue;
            cr_expect(r.finding_kind == EMU_BAD_LANES &&
                      strncmp(r.finding, "bad lanes: ", 11) == 0);
            cr_expect(strstr(r.finding, cases[i][1]), "%s", r.finding);
            expect_place(r.finding, cases[i][0]);
        }
    /* lanes that have ended are not missed */
    struct emu_run r = {
        .ptx = emu_ptx(
            "",
            ".reg .b32 %r<3>; .reg .pred %p; mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, 12;\n@%p exit;\n"
            "shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffffffff;"),
        .block = 64,
        .once = true,
        .config = {.checks = EMU_CHECK_SYNC}};
    cr_expect(emu_run(&r) && r.findings == 0, "%s", r.finding);
}

/* A fault below shared memory says the offset, and nothing of allocations in global memory, where the number would lie. */
Test(emu_faults, offsets_below_shared_memory)
{
    uint32_t out[9];
    struct emu_run r = {.block = 32};
    r.ptx = emu_ptx(".param .u64 out",
                    ".shared .b32 s[1409]; .reg .b32 %a; .reg .b64 %o;\n"
                    "ld.param.u64 %o, [out]; mov.u32 %a, s; sub.u32 %a, %a, 468;\n"
                    "st.shared.u32 [%a], %a; ret;");
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_expect(!emu_run(&r) && r.kind == EMU_OUT_OF_BOUNDS, "%s", r.fault);
    cr_expect(strstr(r.fault, "write of 4 bytes at offset -468 of 5636 bytes of .shared memory"),
              "%s", r.fault);
    cr_expect(!strstr(r.fault, "behind the end") && !strstr(r.fault, "bytes before"), "%s",
              r.fault);
}

/* Who polls memory that nobody of the launch writes gets a message that names it, and who else could write it. */
Test(emu_faults, a_deadlock_names_what_is_polled)
{
    static const char *const polls[] = {"ld.volatile.global.u32 %v, [%o+4];",
                                        "ld.acquire.gpu.u32 %v, [%o+4];",
                                        "atom.global.or.b32 %v, [%o+4], 0;"};
    for (size_t i = 0; i < sizeof polls / sizeof *polls; i++) {
        uint32_t out[4] = {0};
        char body[300];
        snprintf(body, sizeof body,
                 ".reg .b32 %%v; .reg .b64 %%o; .reg .pred %%p;\nld.param.u64 %%o, [out];\n"
                 "L: %s setp.eq.u32 %%p, %%v, 0; @%%p bra L;\nst.global.u32 [%%o], 42; ret;",
                 polls[i]);
        struct emu_run r = {.ptx = emu_ptx(".param .u64 out", body), .block = 1, .once = true};
        r.args[0] = emu_inout(&r, out, sizeof out);
        cr_expect(!emu_run(&r) && r.kind == EMU_DEADLOCK, "%s", r.fault);
        cr_expect(strstr(r.fault, "polls 4 bytes at 0x20000004, which no warp of the launch"),
                  "%s: %s", polls[i], r.fault);
        cr_expect(strstr(r.fault, "  4 bytes into '") && strstr(r.fault, "another stream"),
                  "%s: %s", polls[i], r.fault);
    }
}

/* A generic atomic on .local memory, which libcu++ emits for automatic variables, does what it says; it is a finding. */
Test(emu_faults, atomics_on_local_memory)
{
    static const struct {
        const char *atomic, *type;
        uint64_t was, operand, result, after;
    } cases[] = {
        {"atom.add.acq_rel.cta.u64 %r, [%a], %v", "u64", 5, 3, 5, 8},
        {"atom.add.u32 %q, [%a], %w; cvt.u64.u32 %r, %q", "u32", 5, 3, 5, 8},
        {"atom.exch.b64 %r, [%a], %v", "b64", 5, 3, 5, 3},
        {"atom.cas.b32 %q, [%a], 5, %w; cvt.u64.u32 %r, %q", "u32", 5, 3, 5, 3},
        {"red.add.u32 [%a], %w; mov.u64 %r, 0", "u32", 5, 3, 0, 8},
        {"atom.min.s32 %q, [%a], %w; cvt.u64.u32 %r, %q", "u32", 5, 3, 5, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t out[64 * 2];
        char body[900];
        snprintf(
            body, sizeof body,
            ".local .align 8 .b64 l[2]; .reg .b64 %%a, %%r, %%v, %%o, %%t; .reg .b32 %%w, %%q, %%i;\n"
            "ld.param.u64 %%o, [out]; mov.u32 %%i, %%tid.x; mad.wide.u32 %%o, %%i, 16, %%o;\n"
            "mov.u64 %%t, %llu; st.local.u64 [l+8], %%t; mov.u64 %%v, %llu; mov.u32 %%w, %llu;\n"
            "mov.u64 %%r, 0; mov.u32 %%q, 0;\n"
            "mov.u64 %%a, l; cvta.local.u64 %%a, %%a; add.u64 %%a, %%a, 8;\n%s;\n"
            "ld.local.u64 %%v, [l+8]; st.global.v2.u64 [%%o], {%%r, %%v}; ret;",
            (unsigned long long)cases[i].was, (unsigned long long)cases[i].operand,
            (unsigned long long)cases[i].operand, cases[i].atomic);
        struct emu_run r = {.ptx = emu_ptx(".param .u64 out", body), .block = 64, .mixes = true};
        r.args[0] = emu_out(&r, out, sizeof out);
        cr_assert(emu_run(&r), "%s: %s", cases[i].atomic, r.fault);
        for (int t = 0; t < 64; t++)
            cr_expect(out[2 * t] == cases[i].result && out[2 * t + 1] == cases[i].after,
                      "%s lane %d: %llu, %llu", cases[i].atomic, t, (unsigned long long)out[2 * t],
                      (unsigned long long)out[2 * t + 1]);
        r.config.checks = EMU_CHECK_MEMORY;
        r.once = true;
        cr_assert(emu_run(&r), "%s: %s", cases[i].atomic, r.fault);
        cr_expect(r.findings == 1 && r.finding_kind == EMU_WRONG_SPACE && r.finding_count == 64,
                  "%s: %zu", cases[i].atomic, r.findings);
    }
}
