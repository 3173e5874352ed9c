/* What observers get where warps run in lockstep: the same as of warps that run one at a time. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/arena.h"
#include "base/diag.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "ptx/ptx.h"
#include "tests/support/emu.h"

#include <string.h>

enum { WORDS = 1024, BLOCK = 200, GRID = 3 };

struct heard { /* sums, in which no order is seen; by warp in order: `last` */
    uint64_t accesses, syncs, sum;
    uint64_t last[GRID][32];
    unsigned alternations; /* times that another warp was reported than before */
    uint32_t before;
};

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static void tell(struct heard *h, const struct emu_warp *who, uint64_t what)
{
    uint64_t *last = &h->last[who->cta][who->warp];
    *last = mix(*last, what);
    h->alternations += h->before != who->warp;
    h->before = who->warp;
}

static void access(void *self, const struct emu_access *a)
{
    struct heard *h = self;
    uint64_t what = mix(mix(mix(a->kind, a->space), a->pc), a->lanes);
    uint64_t differ = 0;
    for (uint32_t l = 0; l < 32; l++) {
        if (!(a->lanes >> l & 1)) continue;
        what = mix(what, a->address[l]);
        differ |= a->address[l] ^ a->address[__builtin_ctz(a->lanes)];
        if (a->contiguous)
            cr_assert(eq(u64, a->address[l], a->address[0] + l * a->width * a->count));
    }
    cr_assert(eq(u64, differ & a->common_bits, 0));
    h->accesses++;
    tell(h, a->who, what);
}

static void sync(void *self, const struct emu_sync *s)
{
    struct heard *h = self;
    const bool of_cta = s->kind == EMU_SYNC_BARRIER_DONE || s->kind == EMU_SYNC_CTA_START ||
                        s->kind == EMU_SYNC_CTA_EXIT || s->kind == EMU_SYNC_WARP_EXIT;
    h->syncs++;
    if (!of_cta) tell(h, s->who, mix(mix(s->kind, s->lanes), s->pc));
}

/* Its warps part at a branch, at an end, and where one of them names another allocation. */
static const char body[] =
    ".reg .pred %p; .reg .b32 %r<10>; .reg .b64 %rd<10>; .shared .b32 tile[256];\n"
    "ld.param.u64 %rd0, [p]; ld.param.u64 %rd8, [q];\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.s32 %r2, %r1, 200, %r0;\n"
    "mul.wide.u32 %rd1, %r2, 4; add.s64 %rd2, %rd0, %rd1;\n"
    "ld.global.u32 %r3, [%rd2];\n"
    "mov.u32 %r5, tile; shl.b32 %r4, %r0, 2; add.u32 %r4, %r4, %r5;\n"
    "st.shared.u32 [%r4], %r3;\n"
    "bar.sync 0;\n"
    "xor.b32 %r6, %r4, 4; ld.shared.u32 %r7, [%r6];\n"
    "setp.lt.u32 %p, %r0, 40; @%p bra more;\n"
    "add.u32 %r7, %r7, 1;\n"
    "bar.warp.sync 0xffffffff;\n"
    "red.global.add.u32 [%rd0+3600], %r7;\n"
    "setp.gt.u32 %p, %r0, 150; @%p exit;\n"
    "more: st.global.u32 [%rd2], %r7;\n"
    "fence.acq_rel.gpu;\n"
    "setp.gt.u32 %p, %r0, 70; selp.b64 %rd3, %rd8, %rd0, %p; add.s64 %rd4, %rd3, %rd1;\n"
    "ld.global.u32 %r8, [%rd4];\n"
    "atom.global.cas.b32 %r9, [%rd0+3604], %r8, %r7;\n"
    "st.global.u32 [%rd2], %r9;\n"
    "ret;\n";

static struct heard run(uint32_t group, uint32_t *words)
{
    struct heard h = {0};
    struct arena *arena = arena_new();
    const char *text = emu_ptx(".param .u64 p, .param .u64 q", body);
    struct source source = {"test.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(m && ptx_module_check(m));
    struct emu *e = emu_new(&(struct emu_config){.group_warps = group});
    char *why = NULL;
    struct emu_image *im = emu_load(e, &m, 1, &why);
    cr_assert(im != NULL, "%s", why);
    const uint64_t params[2] = {emu_alloc(e, WORDS * 4, "p"), emu_alloc(e, WORDS * 4, "q")};
    for (uint32_t i = 0; i < WORDS; i++) words[i] = i * i;
    emu_copy_in(e, params[0], words, WORDS * 4);
    emu_copy_in(e, params[1], words, WORDS * 4);
    const struct emu_observer o = {
        .self = &h, .ignores_data = true, .access = access, .sync = sync};
    const struct emu_observer *list[] = {&o};
    const struct emu_launch l = {.grid = {GRID, 1, 1},
                                 .block = {BLOCK, 1, 1},
                                 .params = params,
                                 .params_size = sizeof params,
                                 .observers = list,
                                 .observer_count = 1};
    const struct emu_report *r = emu_launch(e, emu_kernel_at(im, 0), &l);
    cr_assert(eq(int, (int)r->fault.kind, EMU_OK));
    emu_copy_out(e, words, params[0], WORDS * 4);
    emu_unload(im);
    emu_free(e);
    ptx_module_end(m);
    arena_free(arena);
    return h;
}

Test(lockstep, tells_of_each_warp_what_it_does_by_itself)
{
    static uint32_t alone[WORDS], together[WORDS];
    const struct heard a = run(1, alone), b = run(0, together);
    cr_assert(eq(u64, b.accesses, a.accesses));
    cr_assert(eq(u64, b.syncs, a.syncs));
    for (uint32_t c = 0; c < GRID; c++)
        for (uint32_t w = 0; w < 32; w++)
            cr_expect(eq(u64, b.last[c][w], a.last[c][w]), "CTA %u, warp %u", c, w);
    cr_expect(b.alternations > 2 * a.alternations, "%u, %u", b.alternations, a.alternations);
    for (uint32_t i = 0; i < 200 * GRID; i++)
        if (i % 200 > 150) cr_expect(eq(u32, alone[i], together[i])); /* the others met atomics */
    cr_expect(eq(u32, alone[900], together[900]));
}
