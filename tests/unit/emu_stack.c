/* .local memory of other kinds: alloca, variables of modules, and the parameters of old kernels. */
#include "tests/support/emu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char head[] = ".version 8.0\n.target sm_75\n.address_size 64\n";

/* Each call takes 24 KiB of 64: a loop of calls only works if they are given back, also by lanes that
 * return early, from inside a nested call. Addresses are aligned as asked for. */
Test(emu_stack, alloca_is_given_back_on_return)
{
    char ptx[4096];
    snprintf(
        ptx, sizeof ptx,
        "%s"
        ".func (.param .b32 r) taker(.param .b32 n)\n{\n"
        " .reg .b64 %%d<3>; .reg .b32 %%r<4>; .reg .pred %%p;\n .param .b32 q; .param .b32 m;\n"
        " ld.param.b32 %%r1, [n];\n alloca.u64 %%d1, 24576, 64;\n"
        " and.b64 %%d2, %%d1, 63; cvt.u32.u64 %%r3, %%d2; st.local.u32 [%%d1+24572], %%r1;\n"
        " st.param.b32 [r], %%r3;\n and.b32 %%r2, %%r1, 1; setp.eq.u32 %%p, %%r2, 0; @%%p ret;\n"
        " sub.u32 %%r2, %%r1, 1; st.param.b32 [m], %%r2; call (q), taker, (m);\n"
        " ld.param.b32 %%r2, [q]; ld.local.u32 %%r1, [%%d1+24572];\n"
        " shl.b32 %%r1, %%r1, 8; or.b32 %%r2, %%r2, %%r1; or.b32 %%r2, %%r2, %%r3;\n"
        " st.param.b32 [r], %%r2; ret;\n}\n"
        ".visible .entry k(.param .u64 out)\n{\n"
        " .reg .b64 %%d<3>; .reg .b32 %%r<5>; .reg .pred %%p;\n .param .b32 n; .param .b32 r;\n"
        " ld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, 0; mov.u32 %%r3, 0;\n"
        "again:\n st.param.b32 [n], %%r1; call (r), taker, (n); ld.param.b32 %%r4, [r];\n"
        " add.u32 %%r3, %%r3, %%r4; add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p, %%r2, 50; @%%p bra "
        "again;\n"
        " mad.wide.u32 %%d1, %%r1, 4, %%d1; st.global.u32 [%%d1], %%r3; ret;\n}\n",
        head);
    for (int its = 0; its < 2; its++) {
        uint32_t out[70];
        struct emu_run r = {
            .ptx = ptx, .block = 70, .config.divergence = its ? EMU_ITS : EMU_STACK};
        r.args[0] = emu_out(&r, out, sizeof out);
        cr_assert(emu_run(&r), "%s", r.fault);
        for (uint32_t i = 0; i < 70; i++)
            cr_expect(out[i] == (i & 1 ? 50 * (i << 8) : 0), "%u: %x", i, out[i]);
    }
}

Test(emu_stack, a_kernel_that_takes_too_much_gets_a_message)
{
    char ptx[1024];
    uint32_t out[1];
    snprintf(ptx, sizeof ptx,
             "%s.visible .entry k(.param .u64 out)\n{\n .reg .b64 %%d<3>;\n"
             " alloca.u64 %%d1, 40000; st.local.u32 [%%d1], 1; alloca.u64 %%d2, 40000;\n"
             " st.local.u32 [%%d2], 1; ret;\n}\n",
             head);
    struct emu_run r = {.ptx = ptx, .once = true};
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_expect(!emu_run(&r) && r.kind == EMU_STACK_OVERFLOW, "%s", r.fault);
}

/* Every function means the same variable, and every thread has its own. */
Test(emu_stack, variables_of_modules)
{
    uint32_t out[64];
    struct emu_run r = {
        .block = 64,
        .ptx =
            ".version 2.3\n.target sm_20\n.address_size 64\n.local .align 8 .b8 pad[20];\n"
            ".local .u32 x[4];\n"
            ".func bump() { .reg .u64 %d; .reg .u32 %r; .local .u32 own; st.local.u32 [own], 9;\n"
            " ld.local.u32 %r, [x+8]; add.u32 %r, %r, 1; st.local.u32 [x+8], %r;\n"
            " mov.u64 %d, x; ld.local.u32 %r, [%d+8]; add.u32 %r, %r, 100; st.local.u32 [%d+8], %r;\n"
            " ret; }\n"
            ".func twice() { .local .u32 own[5]; st.local.u32 [own+16], 7; call bump; call bump; ret; }\n"
            ".entry k(.param .u64 out)\n{\n"
            " .reg .u64 %d<3>; .reg .u32 %r<4>; .local .u32 own; .reg .u64 %a;\n"
            " mov.u32 %r1, %tid.x; st.local.u32 [own], 5; st.local.u32 [x+8], %r1; call twice;\n"
            " cvta.local.u64 %a, x; ld.u32 %r2, [%a+8]; ld.local.u32 %r3, [own];\n"
            " mad.lo.u32 %r2, %r3, 1000, %r2;\n ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 4;\n"
            " add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r2; ret;\n}\n"};
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 64; i++) cr_expect(out[i] == 5202 + i, "%u: %u", i, out[i]);
}

/* PTX before 1.4: parameters stand in the body; addresses have 32 bits. */
Test(emu_stack, kernels_that_declare_parameters_in_their_body)
{
    uint32_t out[2];
    struct emu_run r = {.ptx = ".version 1.3\n.target sm_10\n.entry k\n{\n .param .u32 out;\n"
                               " .param .u16 h;\n .reg .u32 $r<4>; .reg .f32 $f1; .reg .u16 $h;\n"
                               " .param .f32 v;\n"
                               " ld.param.u32 $r1, [out]; ld.param.f32 $f1, [v];\n"
                               " ld.param.u16 $h, [h]; cvt.u32.u16 $r2, $h;\n"
                               " st.global.f32 [$r1], $f1; st.global.u32 [$r1+4], $r2; exit;\n}\n"};
    r.args[0] = emu_out(&r, out, sizeof out);
    r.args[1] = 0xabcd;
    r.args[2] = 0x3f800000;
    cr_assert(emu_run(&r), "%s", r.fault);
    cr_expect(out[0] == 0x3f800000 && out[1] == 0xabcd, "%x %x", out[0], out[1]);
}
