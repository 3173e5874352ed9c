/* The instruction table: every row can be read and reached, opcodes find their rows, and what is
 * wrong with an opcode is said. */
#include "emu/lower/lower.h"
#include "ptx/form.h"
#include "tests/support/forms.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(isa, every_row_reads)
{
    struct arena *a = arena_new();
    const char *wrong = ptx_isa_self_check(a);
    cr_expect(!wrong, "%s", wrong);
    arena_free(a);
}

/* ---- opcodes and what they resolve to ---------------------------------------------------------- */

/* "sm_90a" as numbers. */
static struct ptx_isa *isa_for(struct arena *a, unsigned version, const char *target)
{
    char *end;
    unsigned long sm = strtoul(target, &end, 10);
    return ptx_isa_new(a, (uint16_t)version, (uint16_t)sm, *end);
}

/* "u32 f16": the types of an op, a dash for one that is left out. */
static const char *types_of(struct arena *a, const struct ptx_op *op)
{
    const char *text = "";
    for (unsigned i = 0; i < op->type_count; i++)
        text = arena_printf(a, "%s%s%s", text, i ? " " : "",
                            op->type[i] ? ptx_types[op->type[i]].name : "-");
    return text;
}

static const struct {
    unsigned version;
    const char *target, *text;
    const char *form; /* its id; NULL: refused */
    const char *types;
    uint8_t space, vec;
} opcodes[] = {
    {90, "90", "add.u32", "add_int", "u32", 0, 1},
    {90, "90", "add.s64", "add_int", "s64", 0, 1},
    {90, "90", "add.b32", NULL, "", 0, 0},
    {90, "90", "add", NULL, "", 0, 0},
    {90, "90", "add.sat.s32", "add_sat", "s32", 0, 1},
    {90, "90", "add.s32.sat", "add_sat", "s32", 0, 1}, /* modifiers stand in any order */
    {90, "90", "add.sat.u32", NULL, "", 0, 0},
    {90, "90", "add.rn.ftz.sat.f32", "add_f32", "f32", 0, 1},
    {90, "90", "add.f32.sat.rn.ftz", "add_f32", "f32", 0, 1},
    {90, "90", "add.ftz.f32.sat", "add_f32", "f32", 0, 1},
    {90, "90", "add.rn.rn.f32", NULL, "", 0, 0},
    {90, "90", "add.rn.rz.f32", NULL, "", 0, 0},
    {90, "90", "add.u32.u32", NULL, "", 0, 0},
    {90, "90", "ADD.u32", NULL, "", 0, 0},
    {90, "90", "add.U32", NULL, "", 0, 0},
    {90, "90", "ad.u32", NULL, "", 0, 0},
    {90, "90", "addx.u32", NULL, "", 0, 0},
    {90, "90", "add..u32", NULL, "", 0, 0},
    {90, "90", "add.u32.", NULL, "", 0, 0},
    {90, "90", ".add.u32", NULL, "", 0, 0},
    {90, "90", "", NULL, "", 0, 0},
    {90, "90", ".", NULL, "", 0, 0},
    {90, "90", "mul.lo.u32", "mul_lo", "u32", 0, 1}, /* what belongs to the name does not move */
    {90, "90", "mul.u32.lo", NULL, "", 0, 0},
    {90, "90", "mul.u32", NULL, "", 0, 0},
    {90, "90", "mul.lo.f32", NULL, "", 0, 0},
    {90, "90", "mul.rn.f32", "mul_f32", "f32", 0, 1},
    {90, "90", "mul.wide.s16", "mul_wide", "s16", 0, 1},
    {90, "90", "mul.wide.u64", NULL, "", 0, 0},
    {90, "90", "dp4a.u32.s32", "dp4a", "u32 s32", 0,
     1}, /* types are distinguished by their place */
    {90, "90", "dp4a.s32.u32", "dp4a", "s32 u32", 0, 1},
    {90, "90", "dp4a.s32", NULL, "", 0, 0},
    {90, "90", "cvt.rn.f16.f32", "cvt_f16_f32", "f16 f32", 0, 1},
    {90, "90", "cvt.f32.f16", "cvt_f32_f16", "f32 f16", 0, 1},
    {90, "90", "cvt.f16.rn.f32", "cvt_f16_f32", "f16 f32", 0, 1},
    {90, "90", "cvt.f16.f32", NULL, "", 0, 0},
    {90, "90", "cvt.rni.s32.f32", "cvt_i_f32", "s32 f32", 0, 1},
    {90, "90", "cvt.rn.s32.f32", NULL, "", 0, 0},
    {90, "90", "cvt.u64.u32", "cvt_int", "u64 u32", 0, 1},
    {90, "90", "cvt.u64", NULL, "", 0, 0},
    {90, "90", "cvt.pack.sat.s16.s32", "cvt_pack", "s16 s32", 0, 1},
    {90, "90", "setp.lt.and.f32", "setp_f32", "f32", 0, 1},
    {90, "90", "setp.and.lt.f32", "setp_f32", "f32", 0, 1},
    {90, "90", "setp.lo.s32", NULL, "", 0, 0},
    {90, "90", "setp.lo.u32", "setp_u", "u32", 0, 1},
    {90, "90", "setp.lt.b32", NULL, "", 0, 0},
    {90, "90", "ld.global.u32", "ld", "u32", PTX_SPACE_GLOBAL, 1},
    {90, "90", "ld.u32", "ld", "u32", PTX_SPACE_GENERIC, 1},
    {90, "90", "ld.param.b64", "ld", "b64", PTX_SPACE_PARAM, 1},
    {90, "90", "ld.const.f64", "ld", "f64", PTX_SPACE_CONST, 1},
    {90, "90", "ld.local.v2.f32", "ld", "f32", PTX_SPACE_LOCAL, 2},
    {90, "90", "ld.shared.v4.u32", "ld", "u32", PTX_SPACE_SHARED, 4},
    {90, "90", "ld.shared::cta.u32", "ld", "u32", PTX_SPACE_SHARED, 1},
    {90, "90", "ld.shared::cluster.u32", "ld", "u32", PTX_SPACE_SHARED_CLUSTER, 1},
    {90, "90", "ld.v4.global.u32", "ld", "u32", PTX_SPACE_GLOBAL, 4},
    {90, "90", "ld.v4.u64", NULL, "", 0, 0}, /* more than 128 bits */
    {90, "90", "ld.v2.b128", NULL, "", 0, 0},
    {90, "90", "ld.global.nc.v2.f64", "ld_nc", "f64", PTX_SPACE_GLOBAL, 2},
    {90, "90", "ld.nc.u32", NULL, "", 0, 0},
    {90, "90", "ld.global.L1::evict_last.u32", "ld_global", "u32", PTX_SPACE_GLOBAL, 1},
    {90, "90", "ld.shared.L1::evict_last.u32", NULL, "", 0, 0},
    {90, "90", "ld.acquire.gpu.global.u32", "ld_order_global", "u32", PTX_SPACE_GLOBAL, 1},
    {90, "90", "ld.acquire.u32", NULL, "", 0, 0},
    {90, "90", "ld.release.gpu.u32", NULL, "", 0, 0},
    {90, "90", "st.release.gpu.u32", "st_order", "u32", PTX_SPACE_GENERIC, 1},
    {90, "90", "st.const.u32", NULL, "", 0, 0},
    {90, "90", "st.acquire.gpu.u32", NULL, "", 0, 0},
    {90, "90", "atom.global.add.f32", "atom_add_global", "f32", PTX_SPACE_GLOBAL, 1},
    {90, "90", "atom.shared.add.u32", "atom_add", "u32", PTX_SPACE_SHARED, 1},
    {90, "90", "atom.local.add.u32", NULL, "", 0, 0},
    {90, "90", "atom.add.s64", NULL, "", 0, 0},
    {90, "90", "mov.v2.u32", "mov_vec", "u32", 0, 2},
    {90, "90", "mov.pred", "mov_pred", "pred", 0, 1},
    {90, "90", "bra.uni", "bra", "", 0, 1},
    {90, "90", "bra.foo", NULL, "", 0, 0},
    {90, "90", "ret", "ret", "", 0, 1},
    {90, "90", "ret.u32", NULL, "", 0, 0},
    {90, "90", "bar.sync", "bar_sync", "", 0, 1},
    {90, "90", "bar", NULL, "", 0, 0},
    {90, "90", "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "mma_m8n8k4_f32",
     "f32 f16 f16 f32", 0, 1},
    {90, "90", "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32", "mma_m8n8k4_f32",
     "f32 f16 f16 f32", 0, 1},
    {90, "90", "mma.sync.aligned.m8n8k4.row.f32.f16.f16.f32", NULL, "", 0, 0},

    /* version and target, of a form and of a word */
    {60, "70", "shfl.sync.up.b32", "shfl_sync", "b32", 0, 1},
    {50, "70", "shfl.sync.up.b32", NULL, "", 0, 0},
    {60, "20", "shfl.sync.up.b32", NULL, "", 0, 0},
    {63, "60", "shfl.up.b32", "shfl", "b32", 0, 1},
    {64, "60", "shfl.up.b32", "shfl_late", "b32", 0, 1},
    {64, "70", "shfl.up.b32", NULL, "", 0, 0},
    {62, "70", "ld.global.b128", NULL, "", 0, 0},
    {83, "70", "ld.global.b128", "ld", "b128", PTX_SPACE_GLOBAL, 1},
    {83, "60", "ld.global.b128", NULL, "", 0, 0},
    {77, "90", "ld.shared::cta.u32", NULL, "", 0, 0},
    {78, "80", "ld.shared::cluster.u32", NULL, "", 0, 0},
    {41, "35", "tex.1d.v4.f16.f32", NULL, "", 0, 0},
    {80, "90a", "wgmma.fence.sync.aligned", "wgmma_fence", "", 0, 1},
    {80, "90", "wgmma.fence.sync.aligned", NULL, "", 0, 0},
    {90, "100a", "wgmma.fence.sync.aligned", NULL, "", 0, 0},
    {86, "100a", "cvt.rz.ue8m0x2.bf16x2", "cvt_ue8m0_b", "ue8m0x2 bf16x2", 0, 1},
    {86, "100f", "cvt.rz.ue8m0x2.bf16x2", "cvt_ue8m0_b", "ue8m0x2 bf16x2", 0, 1},
    {86, "103f", "cvt.rz.ue8m0x2.bf16x2", "cvt_ue8m0_b", "ue8m0x2 bf16x2", 0, 1},
    {86, "100", "cvt.rz.ue8m0x2.bf16x2", NULL, "", 0, 0},
    {86, "90a", "cvt.rz.ue8m0x2.bf16x2", NULL, "", 0, 0},
    {10, "13", "popc.b32", NULL, "", 0, 0},
    {20, "13", "popc.b32", NULL, "", 0, 0},
    {20, "20", "popc.b32", "popc", "b32", 0, 1},
};

Test(isa, opcodes_find_their_rows)
{
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        struct arena *a = arena_new();
        const char *text = opcodes[i].text;
        uint32_t n = (uint32_t)strlen(text);
        struct ptx_isa *isa = isa_for(a, opcodes[i].version, opcodes[i].target);
        const struct ptx_op *op = ptx_isa_find(isa, text, n);
        bool good = op && !op->gate;
        if (!opcodes[i].form) {
            struct ptx_explanation x = ptx_isa_explain(isa, text, n);
            cr_expect(!good, "%s for sm_%s is %s", text, opcodes[i].target,
                      good ? op->form->id : "");
            cr_expect(good || (x.message && *x.message), "%s: no message", text);
            cr_expect(good || x.from + x.length <= n, "%s: marks %u, %u", text, x.from, x.length);
        } else {
            cr_expect(good, "%s: %s", text, op ? op->gate : "no such form");
            if (good) {
                cr_expect(strcmp(op->form->id, opcodes[i].form) == 0, "%s is %s, not %s", text,
                          op->form->id, opcodes[i].form);
                cr_expect(strcmp(types_of(a, op), opcodes[i].types) == 0, "%s has types %s", text,
                          types_of(a, op));
                cr_expect(op->space == opcodes[i].space, "%s: space %d", text, op->space);
                cr_expect(op->vec == opcodes[i].vec, "%s: vector of %d", text, op->vec);
                cr_expect(op->text_length == n && memcmp(op->text, text, n) == 0);
                cr_expect(op == ptx_isa_find(isa, text, n), "%s is resolved twice", text);
            }
        }
        arena_free(a);
    }
}

/* ---- every row is the meaning of some opcode --------------------------------------------------- */

/* Appends ".word" for the alternative at p, behind its dot: of a group the word number `pick`, or its
 * first if it has not so many. Gates are left out. */
static void add_word(struct buf *b, const char *p, size_t pick)
{
    const char *words = form_group_words(p, form_word_length(p));
    for (const char *q = words; q && (p = q, pick > 0); pick--)
        if (!(q = strchr(q, ' ')) || !*++q) p = words, q = NULL;
    buf_putc(b, '.');
    buf_add(b, p, form_word_length(p));
}

/* name + the first choice of each slot that is not optional, or (`all`) of every slot; of the last slot
 * the choice number `pick`. */
static void spell(struct buf *b, const struct ptx_form_info *f, bool all, size_t pick)
{
    b->size = 0;
    buf_puts(b, f->name);
    for (const char *p = f->mods; *p;) {
        bool optional = *p == '{';
        const char *first = p + optional + 1;
        p += optional;
        do p += 1 + strcspn(p + 1, ".{}|"); /* over one alternative, its gate with it */
        while (*p == '|' && p++);
        p += optional;
        if (!optional || all) add_word(b, first, *p ? 0 : pick);
    }
}

/* Whether the op or one of the same spelling is this form, and the module may use it. */
static bool has_form(const struct ptx_op *op, size_t form)
{
    for (; op; op = op->next)
        if (!op->gate && op->form == &ptx_forms[form]) return true;
    return false;
}

Test(isa, every_row_is_reached)
{
    static const char *const more[] = {"121a", "120a", "110a", "103a", "100a",
                                       "90a",  "90",   "60",   "13",   "10"};
    struct buf b = {0};
    for (size_t i = 0; i < PTX_FORM_COUNT; i++) {
        const struct ptx_form_info *f = &ptx_forms[i];
        unsigned last = f->since >> 8, version = last                     ? last
                                                 : (f->since & 0xff) > 90 ? f->since & 0xff
                                                                          : 90;
        bool found = false;
        char own[16];
        snprintf(own, sizeof own, "%.*s", (int)strcspn(f->sm, " "),
                 f->sm[0] == '<' ? "60"
                 : f->sm[0]      ? f->sm
                                 : "90");
        for (size_t k = 0; k <= sizeof more / sizeof *more && !found; k++) {
            struct arena *a = arena_new();
            struct ptx_isa *isa = isa_for(a, version, k ? more[k - 1] : own);
            for (size_t pick = 0; pick < 4 && !found; pick++)
                for (int all = 0; all < 2 && !found; all++) {
                    spell(&b, f, all, pick);
                    found = has_form(ptx_isa_find(isa, b.data, (uint32_t)b.size), i);
                }
            arena_free(a);
        }
        spell(&b, f, false, 0);
        cr_expect(found, "%s: '%s' does not lead to it", f->id, b.data);
    }
    buf_free(&b);
}

/* ---- what is wrong with an opcode -------------------------------------------------------------- */

static const struct {
    const char *text, *marked;  /* the part the message is about */
    const char *message, *note; /* parts of them; note NULL: none is asked for */
} mistakes[] = {
    {"addd.u32", "addd", "unknown instruction 'addd'", "did you mean 'add'"},
    {"movv.u32", "movv", "unknown instruction 'movv'", "'mov'"},
    {"zzzzzzz.u32", "zzzzzzz", "unknown instruction 'zzzzzzz'", NULL},
    {"add.b32", ".b32", "'add' has no form for type '.b32'", "a form of it: add"},
    {"add.foo.u32", ".foo", "'add' has no modifier '.foo'", "a form of it: add"},
    {"add.sat.u32", ".sat", "'add.sat.u32' does not take '.sat'", "add.sat.s32"},
    {"add.rn.u32", ".rn", "does not take '.rn'", "add{.rn|.rz|.rm|.rp}"},
    {"mvo.u32", "mvo", "unknown instruction 'mvo'", "'mov'"},
    {"mul.u32", ".u32", "'mul' has no form for type '.u32'",
     "did you mean 'mul.hi', 'mul.lo', 'mul.wide'?"},
    {"mad.u32", ".u32", "'mad' has no form for type '.u32'",
     "did you mean 'mad.hi', 'mad.lo', 'mad.wide'?"},
    {"bfe", "bfe", "needs a type: .u32 .u64 .s32 .s64", NULL},
    {"mul24.u32", "mul24.u32", "'mul24.u32' is no form of 'mul24'", "mul24.hi mul24.lo"},
    {"add", "add", "needs a type", NULL},
    {"cvt.f16.f32", "cvt.f16.f32", "needs a rounding modifier: .rn .rz", NULL},
    {"setp.u32", "setp.u32", "needs a comparison: .eq .ne", NULL},
    {"ld.shared.v4.u64", "ld.shared.v4.u64", "128 bits", NULL},
    {"add..u32", "add..u32", "malformed", NULL},
    {"atom.global.add", "atom.global.add", "needs a type", NULL},
};

static const struct {
    unsigned version;
    const char *target, *text, *message;
} gates[] = {
    {50, "70", "shfl.sync.up.b32", "needs PTX ISA version 6.0, the module says 5.0"},
    {60, "20", "shfl.sync.up.b32", "needs target sm_30 or higher, the module is for sm_20"},
    {90, "90", "wgmma.fence.sync.aligned", "needs target sm_90a, the module is for sm_90"},
    {86, "90a", "cvt.rz.ue8m0x2.bf16x2",
     "needs one of the targets sm_100f 110f 120f, the module is for sm_90a"},
    {64, "70", "shfl.up.b32", "needs a target below sm_70"},
    {77, "90", "ld.shared::cta.u32", "'shared::cta' needs PTX ISA version 7.8"},
};

Test(isa, mistakes_are_explained)
{
    struct arena *a = arena_new();
    struct ptx_isa *isa = isa_for(a, 90, "90");
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const char *text = mistakes[i].text, *want = mistakes[i].note;
        struct ptx_explanation x = ptx_isa_explain(isa, text, (uint32_t)strlen(text));
        cr_expect(x.length == strlen(mistakes[i].marked) &&
                      memcmp(text + x.from, mistakes[i].marked, x.length) == 0,
                  "%s: marks '%.*s'", text, (int)x.length, text + x.from);
        cr_expect(strstr(x.message, mistakes[i].message), "%s: '%s'", text, x.message);
        cr_expect(!want || (x.note && strstr(x.note, want)), "%s: note '%s'", text,
                  x.note ? x.note : "");
    }
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) {
        const char *text = gates[i].text;
        isa = isa_for(a, gates[i].version, gates[i].target);
        struct ptx_explanation x = ptx_isa_explain(isa, text, (uint32_t)strlen(text));
        cr_expect(strstr(x.message, gates[i].message), "%s: '%s'", text, x.message);
    }
    arena_free(a);
}

/* ---- names ------------------------------------------------------------------------------------- */

Test(isa, types_are_found_by_name)
{
    for (int t = 1; t < PTX_TYPE_COUNT; t++) {
        size_t n = strlen(ptx_types[t].name);
        cr_expect(ptx_type_find(ptx_types[t].name, n) == (enum ptx_type)t, "%s", ptx_types[t].name);
    }
    static const char *const none[] = {"", "u", "u33", "U32", "f", "u32x", "predi", ".u32"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect(!ptx_type_find(none[i], strlen(none[i])), "'%s' is a type", none[i]);
}

Test(isa, knows_first_words)
{
    static const struct {
        const char *text;
        bool is;
    } names[] = {{"ld", true},       {"mul", true},  {"mul.wide", true}, {"cp", true},
                 {"cp.async", true}, {"l", false},   {"mu", false},      {"mulx", false},
                 {"", false},        {"ld.", false}, {"bar", true},      {"cvta", true},
                 {"u32", false},     {"$L_1", false}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_expect(ptx_isa_is_name(names[i].text, (uint32_t)strlen(names[i].text)) == names[i].is,
                  "%s", names[i].text);
}

/* Uniformity (ptx/uniform.c) and late loads (emu/lower/late.c) trust what a row says of itself. The names are those of the
 * PTX ISA's sections on memory, textures, control flow, synchronisation, warps and matrices. */
Test(isa, rows_that_only_compute_depend_on_no_other_lane)
{
    static const char *const others[] = {
        "shfl", "vote", "match", "redux",   "activemask", "elect",     "movmatrix",     "ldmatrix",
        "mma",  "wmma", "wgmma", "tcgen05", "bar",        "barrier",   "mbarrier",      "ld",
        "st",   "ldu",  "atom",  "red",     "multimem",   "cp",        "prefetch",      "tex",
        "tld4", "suld", "sust",  "sured",   "membar",     "fence",     "bra",           "brx",
        "call", "ret",  "exit",  "trap",    "alloca",     "nanosleep", "griddepcontrol"};
    unsigned computing = 0;
    for (int f = 0; f < PTX_FORM_COUNT; f++) {
        const struct ptx_form_info *i = &ptx_forms[f];
        const size_t first = strcspn(i->name, ".");
        const bool is = ptx_form_computes((enum ptx_form)f);
        computing += is;
        if (is) {
            cr_expect(!(i->effects & ~PTX_EFFECT) && !strstr(i->mods, ".sync"), "%s", i->id);
            cr_expect(i->cost != PTX_COST_SHUFFLE && i->cost != PTX_COST_MEMORY &&
                          i->cost != PTX_COST_BARRIER && i->cost != PTX_COST_CONTROL,
                      "%s", i->id);
        }
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (strlen(others[k]) == first && strncmp(i->name, others[k], first) == 0)
                cr_expect(!is, "%s depends on more than its lane's operands", i->id);
        if (!i->refused && i->unit == PTX_UNIT_WARP)
            cr_expect(i->effects & PTX_LANES, "%s: a row of the warp's unit says LANES", i->id);
    }
    cr_expect(computing > 300, "%u rows compute", computing);
}

Test(isa, ops_know_which_accesses_may_be_passed)
{
    struct arena *a = arena_new();
    static const struct {
        const char *text;
        bool load, store, strong;
    } rows[] = {
        {"ld.u32", true, false, false},
        {"ld.global.nc.u32", false, false, false},
        {"ld.relaxed.gpu.global.u32", true, false, true},
        {"ld.acquire.gpu.global.u32", false, false, true},
        {"ld.volatile.shared.u32", true, false, true},
        {"ld.mmio.relaxed.sys.global.u32", false, false, true},
        {"ldu.global.u32", false, false, false},
        {"st.v2.u32", false, true, false},
        {"st.relaxed.cta.shared.u32", false, true, true},
        {"st.release.sys.u32", false, false, true},
        {"st.volatile.u32", false, true, true},
        {"st.mmio.relaxed.sys.u32", false, false, true},
        {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32", false, false, false},
        {"atom.add.u32", false, false, false},
        {"fence.sc.gpu", false, false, true},
        {"add.u32", false, false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct ptx_op *op = ptx_isa_find(isa_for(a, 90, "90"), rows[i].text,
                                               (uint32_t)strlen(rows[i].text));
        cr_assert(op, "%s", rows[i].text);
        cr_expect(ptx_op_is_passing_load(op) == rows[i].load, "%s", rows[i].text);
        cr_expect(ptx_op_is_passing_store(op) == rows[i].store, "%s", rows[i].text);
        cr_expect(ptx_op_is_strong(op) == rows[i].strong, "%s", rows[i].text);
    }
    arena_free(a);
}

Test(isa, ops_know_their_words)
{
    struct arena *a = arena_new();
    const char *text = "ld.global.L1::evict_last.v4.u32";
    const struct ptx_op *op = ptx_isa_find(isa_for(a, 90, "90"), text, (uint32_t)strlen(text));
    cr_assert(op);
    static const struct {
        const char *word;
        bool has;
    } words[] = {{"ld", true},  {"global", true}, {"L1::evict_last", true}, {"v4", true},
                 {"u32", true}, {"L1", false},    {"evict_last", false},    {"v", false},
                 {"u3", false}, {"", false},      {"u32 ", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        cr_expect(ptx_op_has(op, words[i].word) == words[i].has, "%s", words[i].word);
    arena_free(a);
}

/* ---- every form that is not refused is executed ---------------------------------------------------------------- */

Test(emu, every_accepted_form_has_a_rule)
{
    for (unsigned f = 0; f < PTX_FORM_COUNT; f++)
        if (!ptx_forms[f].refused)
            cr_expect(lower_knows(f), "%s: '%s%s' has no rule in emu/lower/", ptx_forms[f].id,
                      ptx_forms[f].name, ptx_forms[f].mods);
}
