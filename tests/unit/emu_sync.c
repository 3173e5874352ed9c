/* Barriers, mbarriers, fences and hints: every spelling of every form does what its plain form does. */
#define _GNU_SOURCE
#include "tests/support/emu.h"
#include "tests/support/forms.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 96 };

static struct emu_run run_text(const char *body, uint32_t *out)
{
    static char text[1 << 14];
    snprintf(
        text, sizeof text,
        ".version 8.8\n.target sm_90\n.address_size 64\n.global .align 128 .b8 g[256];\n.global .align 128 .b8 gone[128];\n.const .b32 c[4];\n"
        ".visible .entry k(.param .u64 p)\n{\n.shared .align 16 .b32 s[96];\n.shared .align 8 .b64 m;\n"
        ".reg .b32 %%t, %%w, %%r<8>;\n.reg .b64 %%o, %%d<7>;\n.reg .pred %%p<6>;\n"
        "ld.param.u64 %%o, [p];\nmov.u32 %%t, %%tid.x;\nshr.u32 %%w, %%t, 5;\nmad.wide.u32 %%o, %%t, 4, %%o;\n"
        "mov.u32 %%r1, s;\nmad.lo.u32 %%r1, %%t, 4, %%r1;\nmov.u32 %%r2, s;\nsub.u32 %%r3, 95, %%t;\n"
        "mad.lo.u32 %%r2, %%r3, 4, %%r2;\nmov.u32 %%r7, 0;\n%s\nst.global.u32 [%%o], %%r7;\nret;\n}\n",
        body);
    struct emu_run r = {.ptx = text, .kernel = "k", .block = BLOCK};
    memset(out, 0xee, BLOCK * sizeof *out);
    r.args[0] = emu_inout(&r, out, BLOCK * sizeof *out);
    emu_run(&r);
    return r;
}

/* ---- barriers of a CTA ----------------------------------------------------------------------------------- */

static void barrier(void *self, const struct ptx_op *op)
{
    size_t *count = self;
    char body[1000], name[64];
    snprintf(name, sizeof name, "%.*s", (int)op->text_length, op->text);
    bool red = strstr(name, ".red."), arrive = strstr(name, ".arrive"),
         popc = strstr(name, ".popc"), or = strstr(name, ".or"),
         counted = strstr(op->form->id, "_n") || arrive;
    if (arrive)
        snprintf(
            body, sizeof body,
            "setp.eq.u32 %%p1, %%w, 1;\n@%%p1 bra TAKE;\nst.shared.u32 [%%r1], %%t;\n%s 5, 96;\nbra END;\n"
            "TAKE:\nbarrier.sync 5, 96;\nld.shared.u32 %%r7, [%%r2+128];\nEND:\n",
            name);
    else if (red)
        snprintf(
            body, sizeof body,
            "st.shared.u32 [%%r1], %%t;\nrem.u32 %%r4, %%t, 3;\nsetp.eq.u32 %%p1, %%r4, 0;\n"
            "%s %s, 5%s, %%p1;\n%sld.shared.u32 %%r4, [%%r2];\nmad.lo.u32 %%r7, %%r7, 1000, %%r4;\n",
            name, popc ? "%r7" : "%p2", counted ? ", 96" : "",
            popc ? "" : "selp.b32 %r7, 1, 2, %p2;\n");
    else
        snprintf(body, sizeof body,
                 "st.shared.u32 [%%r1], %%t;\n%s 5%s;\nld.shared.u32 %%r7, [%%r2];\n", name,
                 *count % 2 ? ", 96" : "");
    uint32_t out[BLOCK];
    struct emu_run r = run_text(body, out);
    cr_expect(!r.fault[0], "%s: %s", name, r.fault);
    for (uint32_t t = 0; t < BLOCK && !r.fault[0]; t++) {
        uint32_t want = 95 - t;
        if (red) want += 1000 * (popc ? 32 : or ? 1 : 2);
        if (arrive) want = t / 32 == 1 ? 95 - t + 32 : 0;
        cr_expect(out[t] == want, "%s: thread %u has %u, not %u", name, t, out[t], want);
    }
    ++*count;
}

Test(emu_sync, barriers_of_every_spelling)
{
    size_t count = 0;
    for (size_t f = 0; f < PTX_FORM_COUNT; f++) {
        const char *id = ptx_forms[f].id;
        if ((strncmp(id, "bar_", 4) != 0 && strncmp(id, "barrier_", 8) != 0) ||
            strstr(id, "warp") || strstr(id, "cluster"))
            continue;
        cr_expect(form_spellings((enum ptx_form)f, "90", barrier, &count) > 0, "%s", id);
    }
    cr_expect(count >= 30, "%zu", count);
}

/* ---- mbarriers --------------------------------------------------------------------------------------------- */

/* One thread. Each step leaves a digit in %r7: whether phase 0 is complete. */
#define LOOK                                                                                       \
    "mbarrier.test_wait.parity.shared.b64 %%p1, [%%r5], 0;\nselp.b32 %%r4, 1, 0, %%p1;\n"          \
    "mad.lo.u32 %%r7, %%r7, 10, %%r4;\n"

static void arrival(void *self, const struct ptx_op *op)
{
    size_t *count = self;
    char name[96], call[200], body[2000];
    snprintf(name, sizeof name, "%.*s", (int)op->text_length, op->text);
    bool drop = strstr(name, "arrive_drop"), tx = strstr(name, "expect_tx"),
         far = strstr(name, "shared::cluster"), none = strstr(name, "noComplete");
    bool generic = !strstr(name, ".shared");
    snprintf(call, sizeof call, "%s %s, [%s]%s;\n", name, far ? "_" : "%d2",
             far       ? "%r6"
             : generic ? "%d3"
                       : "%r5",
             tx     ? ", 16"
             : none ? ", 1"
                    : "");
    /* 2 arrivals are expected; this is the first one, a plain one follows, and the bytes if any */
    snprintf(
        body, sizeof body,
        "setp.ne.u32 %%p5, %%t, 0;\n@%%p5 bra END;\nmov.u32 %%r5, m;\nmapa.shared::cluster.u32 %%r6, %%r5, 0;\n"
        "mov.u64 %%d3, m;\ncvta.shared.u64 %%d3, %%d3;\nmbarrier.init.shared.b64 [%%r5], 2;\nmov.u32 %%r7, 7;\n"
        "%s" LOOK "mbarrier.arrive.shared.b64 %%d1, [%%r5];\n" LOOK
        "%s" LOOK /* then the next phase: after a drop one arrival completes it */
        "mbarrier.arrive.shared.b64 %%d1, [%%r5];\nmbarrier.test_wait.parity.shared.b64 %%p1, [%%r5], 1;\n"
        "selp.b32 %%r4, 1, 0, %%p1;\nmad.lo.u32 %%r7, %%r7, 10, %%r4;\nEND:\n",
        call, tx ? "mbarrier.complete_tx.shared.b64 [%r5], 16;\n" : "");
    uint32_t out[BLOCK], want = ((7 * 10 + 0) * 10 + (tx ? 0 : 1)) * 10 + 1;
    want = want * 10 + (drop ? 1 : 0);
    struct emu_run r = run_text(body, out);
    cr_expect(!r.fault[0], "%s: %s", name, r.fault);
    cr_expect(out[0] == want, "%s: %u, not %u", name, out[0], want);
    ++*count;
}

Test(emu_sync, arrivals_of_every_spelling)
{
    size_t count = 0;
    for (size_t f = 0; f < PTX_FORM_COUNT; f++)
        if (strncmp(ptx_forms[f].id, "mbarrier_arrive", 15) == 0)
            cr_expect(form_spellings((enum ptx_form)f, "90", arrival, &count) > 0, "%s",
                      ptx_forms[f].id);
    cr_expect(count >= 28, "%zu", count);
}

static void waiting(void *self, const struct ptx_op *op)
{
    size_t *count = self;
    char name[96], body[2000];
    snprintf(name, sizeof name, "%.*s", (int)op->text_length, op->text);
    const char *which = strstr(name, "parity") ? "0" : "%d1",
               *at = strstr(name, ".shared") ? "%r5" : "%d3";
    snprintf(
        body, sizeof body,
        "setp.ne.u32 %%p5, %%t, 0;\n@%%p5 bra END;\nmov.u32 %%r5, m;\nmov.u64 %%d3, m;\ncvta.shared.u64 %%d3, %%d3;\n"
        "mbarrier.init.shared.b64 [%%r5], 2;\nmbarrier.arrive.shared.b64 %%d1, [%%r5];\n"
        "%s%s %%p1, [%s], %s;\n%smbarrier.arrive.shared.b64 %%d2, [%%r5];\n%s %%p2, [%s], %s;\n"
        "selp.b32 %%r3, 10, 20, %%p1;\nselp.b32 %%r4, 1, 2, %%p2;\nadd.u32 %%r7, %%r3, %%r4;\nEND:\n",
        /* one that may sleep would, until the end of time */
        strstr(name, "try") ? "mbarrier.test_wait.shared.b64 %p1, [%r5], %d1;\n//" : "", name, at,
        which, "", name, at, which);
    uint32_t out[BLOCK];
    struct emu_run r = run_text(body, out);
    cr_expect(!r.fault[0], "%s: %s", name, r.fault);
    cr_expect(out[0] == 21, "%s: %u", name, out[0]);
    ++*count;
}

Test(emu_sync, waits_of_every_spelling)
{
    size_t count = 0;
    for (size_t f = 0; f < PTX_FORM_COUNT; f++)
        if (strstr(ptx_forms[f].id, "mbarrier_t"))
            cr_expect(form_spellings((enum ptx_form)f, "90", waiting, &count) > 0, "%s",
                      ptx_forms[f].id);
    cr_expect(count >= 24, "%zu", count);
}

/* ---- fences, hints, addresses --------------------------------------------------------------------------------- */

/* With which operands a form stands; NULL: not here. */
static const char *operands_of(const struct ptx_form_info *f)
{
    static const struct {
        const char *id, *operands;
    } others[] = {{"applypriority", " [%d4], 128"},
                  {"prefetch", " [%d4]"},
                  {"prefetch_evict", " [%d4]"},
                  {"prefetch_map", " [%d5]"},
                  {"prefetchu", " [%d5]"},
                  {"discard", " [%d6], 128"},
                  {"createpolicy_range", " %d3, [%d4], 256, 512"},
                  {"createpolicy_cvt", " %d3, 5"},
                  {"griddep_launch", ""},
                  {"griddep_wait", ""},
                  {"membar", ""},
                  {"membar_proxy", ""},
                  {"bulk_prefetch", " [%d4], 128"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i].id, f->id) == 0) return others[i].operands;
    if (strncmp(f->id, "fence", 5) == 0) return *f->opnds ? " [%d4], 128" : "";
    return NULL;
}
static void hint(void *self, const struct ptx_op *op)
{
    size_t *count = self;
    char body[1000];
    const char *operands = operands_of(op->form);
    if (memmem(op->text, op->text_length, ".local", 6)) operands = " [0]";
    snprintf(
        body, sizeof body,
        "mov.u64 %%d4, g;\nmov.u64 %%d5, g;\ncvta.global.u64 %%d5, %%d5;\nmov.u64 %%d6, gone;\nst.shared.u32 [%%r1], %%t;\nbar.sync 0;\n%.*s%s;\n"
        "ld.shared.u32 %%r7, [%%r2];\n",
        (int)op->text_length, op->text, operands);
    if (memmem(op->text, op->text_length, "cache_hint", 10)) return;
    if (memmem(op->text, op->text_length, ".local", 6)) return;
    if (memmem(op->text, op->text_length, ".param", 6)) return; /* there is no map among them */
    uint32_t out[BLOCK];
    struct emu_run r = run_text(body, out);
    cr_expect(!r.fault[0], "%.*s: %s", (int)op->text_length, op->text, r.fault);
    for (uint32_t t = 0; t < BLOCK && !r.fault[0]; t++) cr_expect_eq(out[t], 95 - t);
    ++*count;
}
Test(emu_sync, fences_and_hints_change_nothing)
{
    size_t count = 0;
    for (size_t f = 0; f < PTX_FORM_COUNT; f++)
        if (operands_of(&ptx_forms[f]) && !ptx_forms[f].refused)
            form_spellings((enum ptx_form)f, "90", hint, &count);
    cr_expect(count >= 40, "%zu", count);
}

/* Addresses of 32 bits: what is shared lies in its window, and belongs to the one CTA of its cluster. */
Test(emu_sync, windows_by_32_bits)
{
    static const char body[] =
        "mov.u64 %d1, s;\ncvta.shared.u64 %d2, %d1;\ncvt.u32.u64 %r4, %d2;\n"
        "isspacep.shared %p1, %r4;\nselp.b32 %r7, 1, 0, %p1;\n"
        "isspacep.local %p1, %r4;\nselp.b32 %r5, 2, 0, %p1;\nor.b32 %r7, %r7, %r5;\n"
        "isspacep.global %p1, %r4;\nselp.b32 %r5, 4, 0, %p1;\nor.b32 %r7, %r7, %r5;\n"
        ".local .b32 l[4];\nmov.u64 %d1, l;\ncvta.local.u64 %d2, %d1;\ncvt.u32.u64 %r4, %d2;\n"
        "isspacep.local %p1, %r4;\nselp.b32 %r5, 8, 0, %p1;\nor.b32 %r7, %r7, %r5;\n"
        "isspacep.shared %p1, %r4;\nselp.b32 %r5, 16, 0, %p1;\nor.b32 %r7, %r7, %r5;\n";
    uint32_t out[BLOCK];
    struct emu_run r = run_text(body, out);
    cr_assert(!r.fault[0], "%s", r.fault);
    for (uint32_t t = 0; t < BLOCK; t += 31) cr_expect(out[t] == 9, "%x", out[t]);
}

/* Each CTA of a cluster asks for the rank behind the addresses of all, in two ways of writing them. */
Test(emu_sync, ranks_of_addresses)
{
    static const char text[] =
        ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".shared .b32 s[4];\n.reg .b32 %t, %c, %r<8>;\n.reg .b64 %o, %d<6>;\nld.param.u64 %o, [p];\n"
        "mov.u32 %t, %tid.x;\nmov.u32 %c, %ctaid.x;\nmad.lo.u32 %r1, %c, 4, %t;\nmad.wide.u32 %o, %r1, 4, %o;\n"
        "mov.u32 %r2, s;\nmapa.shared::cluster.u32 %r3, %r2, %t;\ngetctarank.shared::cluster.u32 %r4, %r3;\n"
        "mov.u64 %d1, s;\nmapa.shared::cluster.u64 %d2, %d1, %t;\ngetctarank.shared::cluster.u64 %r5, %d2;\n"
        "cvta.shared.u64 %d3, %d1;\nmapa.u64 %d4, %d3, %t;\ngetctarank.u64 %r6, %d4;\n"
        "getctarank.u64 %r7, %d3;\nmad.lo.u32 %r4, %r4, 10, %r5;\nmad.lo.u32 %r4, %r4, 10, %r6;\n"
        "mad.lo.u32 %r4, %r4, 10, %r7;\nst.global.u32 [%o], %r4;\nret;\n}\n";
    uint32_t out[16];
    struct emu_run r = {.ptx = text, .grid = 4, .block = 4, .cluster = 4};
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 16; i++)
        cr_expect(out[i] == i % 4 * 1110 + i / 4, "thread %u of CTA %u: %u", i % 4, i / 4, out[i]);
}

/* PTX ISA, isspacep: .shared is .shared::cta, the memory of the own CTA; .shared::cluster is that of all its CTAs. Thread t
 * asks about its CTA's s, and about that of CTA t. */
Test(emu_sync, whose_shared_memory_it_is)
{
    static const char text[] =
        ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
        ".shared .b32 s[4];\n.reg .b32 %t, %c, %r<8>;\n.reg .b64 %o, %d<6>;\n.reg .pred %p<7>;\nld.param.u64 %o, [p];\n"
        "mov.u32 %t, %tid.x;\nmov.u32 %c, %ctaid.x;\nmad.lo.u32 %r1, %c, 4, %t;\nmad.wide.u32 %o, %r1, 4, %o;\n"
        "mov.u64 %d1, s;\ncvta.shared.u64 %d2, %d1;\nmapa.u64 %d3, %d2, %t;\n"
        "isspacep.shared %p1, %d2;\nisspacep.shared::cta %p2, %d2;\nisspacep.shared::cluster %p3, %d2;\n"
        "isspacep.shared %p4, %d3;\nisspacep.shared::cta %p5, %d3;\nisspacep.shared::cluster %p6, %d3;\n"
        "selp.b32 %r2, 1, 0, %p1;\n@%p2 or.b32 %r2, %r2, 2;\n@%p3 or.b32 %r2, %r2, 4;\n"
        "@%p4 or.b32 %r2, %r2, 8;\n@%p5 or.b32 %r2, %r2, 16;\n@%p6 or.b32 %r2, %r2, 32;\n"
        "st.global.u32 [%o], %r2;\nret;\n}\n";
    uint32_t out[16];
    struct emu_run r = {.ptx = text, .grid = 4, .block = 4, .cluster = 4};
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 16; i++)
        cr_expect(out[i] == (i % 4 == i / 4 ? 63 : 39), "thread %u of CTA %u: %u", i % 4, i / 4,
                  out[i]);
}

/* An address of each window: what isspacep says of it, and the way there and back. */
Test(emu_sync, windows_of_the_generic_space)
{
    static const char *const names[] = {"global", "shared",      "local",          "const",
                                        "param",  "shared::cta", "shared::cluster"};
    static const char *const addresses[] = {
        "mov.u64 %d1, g; cvta.global.u64 %d2, %d1; cvta.to.global.u64 %d3, %d2;",
        "mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; cvta.to.shared.u64 %d3, %d2;",
        ".local .b32 l[4]; mov.u64 %d1, l; cvta.local.u64 %d2, %d1; cvta.to.local.u64 %d3, %d2;",
        "mov.u64 %d1, c; cvta.const.u64 %d2, %d1; cvta.to.const.u64 %d3, %d2;",
        "mov.u64 %d1, p; cvta.param.u64 %d2, %d1; cvta.to.param.u64 %d3, %d2;",
        "mov.u64 %d2, 0; mov.u64 %d1, 0; mov.u64 %d3, 0;"};
    for (size_t a = 0; a < sizeof addresses / sizeof *addresses; a++) {
        char body[2000];
        size_t n = (size_t)snprintf(
            body, sizeof body, "%s\nsetp.eq.u64 %%p1, %%d1, %%d3;\nselp.b32 %%r7, 1, 0, %%p1;\n",
            addresses[a]);
        for (size_t k = 0; k < 7; k++)
            n += (size_t)snprintf(
                body + n, sizeof body - n,
                "isspacep.%s %%p2, %%d2;\nselp.b32 %%r4, %u, 0, %%p2;\nor.b32 %%r7, %%r7, %%r4;\n",
                names[k], 2u << k);
        uint32_t out[BLOCK];
        struct emu_run r = run_text(body, out);
        cr_assert(!r.fault[0], "%s: %s", addresses[a], r.fault);
        /* the window of parameters lies within that of .global */
        uint32_t want = 1 | (a < 5 ? 2u << a : 0) | (a == 1 ? 2u << 5 | 2u << 6 : 0) |
                        (a == 4 ? 2 : 0);
        for (uint32_t t = 0; t < BLOCK; t += 31)
            cr_expect(out[t] == want, "%s: %x, not %x", addresses[a], out[t], want);
    }
}
