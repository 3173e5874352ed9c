/* What lanes share: hand cases, and random kernels that are run, lane by lane, to see whether what is
 * said of their registers holds. */
#include "base/rng.h"
#include "ptx/flow.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"

static unsigned pick(uint64_t *state, unsigned n)
{
    return (unsigned)(rng_next(state) % n);
}

struct case_uniform {
    struct buf text;
    struct parsed *p;
    struct ptx_flow *f;
    struct ptx_uniform *u;
};

/* Function f of the text, which is taken over. */
static struct case_uniform uniform_of(struct buf text)
{
    struct case_uniform c = {.text = text, .p = parse_text("test", text.data, text.size)};
    cr_assert(c.p->ok, "%s", first_error(c.p));
    struct arena *a = c.p->arena;
    c.f = ptx_flow_new(a, ptx_cfg_new(a, ptx_module_find(c.p->module, "f")));
    c.u = ptx_uniform_new(a, c.f);
    return c;
}

static struct case_uniform uniform_of_body(const char *directives, const char *body)
{
    struct buf b = {0};
    buf_printf(
        &b,
        HEAD ".global .texref t;\n.shared .u32 sh[64];\n.const .u32 co[64];\n"
             ".func (.param .u32 r) g () { ret; }\n"
             ".entry f (.param .u32 n, .param .u64 o) %s\n{\n"
             ".reg .pred p, q, s; .reg .b32 a, b, c, d, i, x; .reg .u64 l, m, k; .reg .f32 e;\n"
             ".reg .u16 h; .reg .v4 .u32 v; .reg .f32 f<8>; .local .u32 lo[4]; .param .u32 back;\n"
             "%s\n}\n",
        directives, body);
    return uniform_of(b);
}

static void done(struct case_uniform *c)
{
    parsed_free(c->p);
    buf_free(&c->text);
}

/* "grid", "cta", "warp", "*4" for a stride of 4, "varying"; `?` if rows are assumed, `~` no wrapping. */
static const char *spelled(struct ptx_variation v)
{
    static char text[64];
    static const char *const names[] = {"grid", "cta", "warp", NULL, "varying"};
    if (v.spread == PTX_SPREAD_AFFINE) snprintf(text, sizeof text, "*%lld", (long long)v.stride);
    else snprintf(text, sizeof text, "%s", names[v.spread]);
    if (v.assumes & PTX_ASSUMES_ROWS) strcat(text, "?");
    if (v.assumes & PTX_ASSUMES_NO_WRAP) strcat(text, "~");
    return text;
}

/* What the last instruction that writes something writes first. */
static struct ptx_variation last_written(const struct case_uniform *c)
{
    uint32_t found = PTX_NONE;
    for (size_t s = 0; s < c->f->func->body->count; s++)
        for (uint32_t u = c->f->use_at[s + 1]; u-- > c->f->use_at[s];)
            if (c->f->uses[u].how & PTX_USE_WRITE) found = u;
    cr_assert(ne(u32, found, PTX_NONE));
    return c->u->uses[found];
}

/* ---- one result -------------------------------------------------------------------------------- */

static const struct {
    const char *body, *want; /* of the last write */
} value_rows[] = {
    {"mov.u32 a, 5;", "grid"},
    {"mov.u32 a, %ntid.x;", "grid"},
    {"mov.u32 a, %ctaid.y;", "cta"},
    {"mov.u32 a, %warpid;", "warp"},
    {"mov.u32 a, %laneid;", "*1"},
    {"mov.u32 a, %tid.x;", "*1?"},
    {"mov.u32 a, %tid.y;", "warp?"},
    {"mov.u32 a, %clock;", "varying"},
    {"mov.u32 a, %lanemask_lt;", "varying"},
    {"mov.v4.u32 v, %tid;", "varying"},
    {"mov.v4.u32 v, %ctaid;", "cta"},
    {"mov.v4.u32 v, %ctaid; mov.u32 a, v.x;", "cta"},
    {"mov.v4.u32 v, %ctaid; mov.u32 v.x, %laneid;", "varying"},
    {"add.u32 a, b, 1;", "grid"}, /* b was never written */
    {"mov.u32 a, %laneid; add.u32 a, a, 7;", "*1"},
    {"mov.u32 a, %laneid; mov.u32 b, %ctaid.x; add.u32 a, b, a;", "*1"},
    {"mov.u32 a, %laneid; sub.u32 a, 7, a;", "*-1"},
    {"mov.u32 a, %laneid; mov.u32 b, %tid.x; sub.u32 a, a, b;", "warp?"},
    {"mov.u32 a, %laneid; neg.s32 a, a;", "*-1"},
    {"mov.u32 a, %laneid; shl.b32 a, a, 4;", "*16"},
    {"mov.u32 a, %laneid; shl.b32 a, a, 31;", "*-2147483648"},
    {"mov.u32 a, %laneid; shl.b32 a, a, 32;", "varying"},
    {"mov.u32 a, %laneid; mul.lo.u32 a, a, 12;", "*12"},
    {"mov.u32 a, %laneid; mul.lo.u32 a, a, 0;", "warp"},
    {"mov.u32 a, %laneid; mov.u32 b, 3; mul.lo.u32 a, b, a;", "*3"},
    {"mov.u32 a, %laneid; mov.u32 b, %ctaid.x; mul.lo.u32 a, b, a;", "varying"},
    {"mov.u32 a, %ctaid.x; mov.u32 b, %ntid.x; mov.u32 c, %tid.x; mad.lo.u32 a, a, b, c;", "*1?"},
    {"mov.u32 a, %laneid; mul.wide.u32 l, a, 8;", "*8~"},
    {"mov.u32 a, %laneid; mad.wide.s32 l, a, -8, k;", "*-8~"},
    {"mov.u32 a, %laneid; cvt.u64.u32 l, a;", "*1~"},
    {"mov.u32 a, %laneid; cvt.u64.u32 l, a; shl.b64 l, l, 2; add.s64 m, k, l;", "*4~"},
    {"mov.u32 a, %laneid; cvt.s32.u32 b, a;", "*1"},
    {"mov.u32 a, 4294967295; cvt.u64.u32 l, a; mov.u32 b, %laneid; cvt.u64.u32 k, b; mul.lo.u64 k, k, l;",
     "*4294967295~"},
    {"mov.u32 a, 4294967295; cvt.s64.s32 l, a; mov.u32 b, %laneid; cvt.u64.u32 k, b; mul.lo.u64 k, k, l;",
     "*-1~"},
    {"mov.u32 a, %laneid; and.b32 a, a, 1;", "varying"},
    {"mov.u32 a, %laneid; setp.lt.u32 p, a, 5;", "varying"},
    {"mov.u32 a, %ctaid.x; setp.lt.u32 p|q, a, 5;", "cta"},
    {"mov.u32 a, %laneid; cvt.rn.f32.u32 e, a;", "varying"},
    {"mov.u32 a, %ctaid.x; cvt.rn.f32.u32 e, a;", "cta"},
    {"mov.u64 l, 0; isspacep.shared p, l;",
     "cta"}, /* its answer is another one in each CTA of a cluster */
    {"mov.u32 a, %laneid; cvt.u64.u32 l, a; isspacep.shared p, l;", "varying"},
    {"mov.u32 a, %laneid; add.u32 b, a, 3; setp.eq.u32 p, c, 5; selp.b32 d, a, b, p;", "*1"},
    {"mov.u32 a, %laneid; setp.eq.u32 p, a, 5; selp.b32 d, 1, 2, p;", "varying"},
    {"mov.u32 a, %ctaid.x; setp.eq.u32 p, a, 5; selp.b32 d, 1, 2, p;", "cta"},
    {"mov.u32 a, %laneid; add.cc.u32 b, a, 1; addc.u32 c, 0, 0;", "varying"},
    {"mov.u32 a, %ctaid.x; add.cc.u32 b, a, 1; addc.u32 c, 0, 0;", "cta"},
    /* Addresses and loads. */
    {"mov.u64 l, co;", "grid"},
    {"ld.param.u64 l, [o]; cvta.to.global.u64 l, l;", "grid"},
    {"mov.u32 a, %laneid; ld.param.u32 b, [n];", "grid"},
    {"ld.param.u64 l, [o]; ld.global.u32 a, [l];", "warp"},
    {"ld.param.u64 l, [o]; ld.global.nc.u32 a, [l];", "grid"},
    {"ld.param.u64 l, [o]; ldu.global.u32 a, [l];", "grid"},
    {"ld.param.u64 l, [o]; ld.u32 a, [l];", "warp"},
    {"ld.param.u64 l, [o]; ld.volatile.global.u32 a, [l];", "varying"},
    {"ld.param.u64 l, [o]; ld.relaxed.gpu.global.u32 a, [l];", "varying"},
    {"ld.const.u32 a, [co+4];", "grid"},
    {"mov.u32 a, %ctaid.x; cvt.u64.u32 l, a; ld.const.u32 a, [l];", "cta"},
    {"mov.u32 a, %laneid; cvt.u64.u32 l, a; ld.const.u32 a, [l];", "varying"},
    {"ld.shared.u32 a, [sh];", "warp"},
    {"ld.local.u32 a, [lo];", "varying"},
    {"mov.u64 l, lo; cvta.local.u64 l, l; ld.u32 a, [k];", "varying"},
    {"tex.2d.v4.f32.f32 {f0, f1, f2, f3}, [t, {f4, f5}];", "warp"},
    {"call (back), g, (); ld.param.u32 a, [back];", "varying"},
    /* Lanes among themselves. */
    {"ld.param.u64 l, [o]; atom.global.add.u32 a, [l], 1;", "varying"},
    {"mov.u32 a, %laneid; setp.lt.u32 p, a, 9; vote.sync.ballot.b32 b, p, -1;", "warp"},
    {"mov.u32 a, %laneid; setp.lt.u32 p, a, 9; vote.sync.any.pred q, p, a;", "varying"},
    {"activemask.b32 a;", "warp"},
    {"mov.u32 a, %laneid; redux.sync.add.u32 b, a, -1;", "warp"},
    {"mov.u32 a, %laneid; match.all.sync.b32 b|p, a, -1;", "warp"},
    {"mov.u32 a, %laneid; match.any.sync.b32 b, a, -1;", "varying"},
    {"mov.u32 a, %laneid; shfl.sync.idx.b32 b, a, 0, 31, -1;", "warp"},
    {"mov.u32 a, %laneid; shfl.sync.idx.b32 b, a, 0, 0x1c1f, -1;", "varying"},
    {"mov.u32 a, %laneid; shfl.sync.idx.b32 b, a, a, 31, -1;", "varying"},
    {"mov.u32 a, %laneid; shfl.sync.bfly.b32 b, a, 1, 31, -1;", "varying"},
    {"mov.u32 a, %ctaid.x; shfl.sync.bfly.b32 b, a, 1, 31, -1;", "warp"},
    {"mov.u32 a, %laneid; setp.lt.u32 p, a, 9; bar.red.popc.u32 b, 0, p;", "cta"},
    {"elect.sync _|p, -1;", "varying"},
    {"elect.sync a|p, -1;", "warp"},
    /* Guards. */
    {"mov.u32 a, %laneid; setp.lt.u32 p, a, 9; mov.u32 b, 1; @p mov.u32 b, 2;", "varying"},
    {"mov.u32 a, %ctaid.x; setp.lt.u32 p, a, 9; mov.u32 b, 1; @p mov.u32 b, 2;", "cta"},
    {"mov.u32 a, %laneid; mov.u32 b, a; setp.lt.u32 p, c, 9; @p add.u32 b, a, 1;", "*1"},
    /* Ways that meet. */
    {"mov.u32 a, %laneid; setp.lt.u32 p, a, 9; mov.u32 b, 1; @p bra L; mov.u32 b, 2; L: add.u32 c, b, 1;",
     "varying"},
    {"mov.u32 a, %ctaid.x; setp.lt.u32 p, a, 9; mov.u32 b, 1; @p bra L; mov.u32 b, 2; L: add.u32 c, b, 1;",
     "cta"},
    {"mov.u32 a, %laneid; setp.lt.u32 p, a, 9; mov.u32 b, 1; @p bra L; add.u32 d, b, 2; L: add.u32 c, b, 1;",
     "grid"},
    {"mov.u32 a, %laneid; setp.lt.u32 p, a, 9; mov.u32 b, 1; @p exit; mov.u32 b, 2; add.u32 c, b, 1;",
     "grid"},
    {"mov.u32 a, %laneid; setp.lt.u32 p, a, 9; mov.u32 i, 0; @p bra E;\n"
     "H: add.u32 i, i, 1; setp.lt.u32 q, i, 9; @q bra H; E: ret; add.u32 c, i, 0;",
     "grid"},
    {"mov.u32 a, %laneid; setp.lt.u32 p, a, 9; mov.u32 i, 0; @p bra E;\n"
     "H: add.u32 i, i, 1; setp.lt.u32 q, i, 9; @q bra H; add.u32 c, i, 0; E: ret;",
     "grid"},
    {"mov.u32 a, %laneid; mov.u32 i, 0;\n"
     "H: add.u32 i, i, 1; add.u32 x, i, 5; setp.lt.u32 q, i, a; @q bra H; ret;",
     "varying"},
    {"mov.u32 a, %laneid; mov.u32 i, 0;\n"
     "H: add.u32 i, i, 1; setp.lt.u32 q, i, a; @q bra H; add.u32 x, i, 5;",
     "varying"},
    {"mov.u32 a, %laneid; mov.u32 i, 0;\n"
     "H: add.u32 i, i, 1; mov.u32 d, 7; setp.lt.u32 q, i, a; @q bra H; add.u32 x, d, 5;",
     "grid"},
    {"mov.u32 a, %ctaid.x; mov.u32 i, 0;\n"
     "H: add.u32 i, i, 1; setp.lt.u32 q, i, a; @q bra H; add.u32 x, i, 5;",
     "cta"},
};

Test(uniform, results)
{
    for (size_t i = 0; i < sizeof value_rows / sizeof *value_rows; i++) {
        struct case_uniform c = uniform_of_body("", value_rows[i].body);
        const char *have = spelled(last_written(&c));
        cr_expect(strcmp(have, value_rows[i].want) == 0, "%s: %s, not %s", value_rows[i].body, have,
                  value_rows[i].want);
        cr_expect(not(c.u->coarse));
        done(&c);
    }
}

Test(uniform, the_shape_of_a_cta_may_be_known)
{
    static const struct {
        const char *directives, *reg, *want;
    } rows[] = {
        {".reqntid 64, 4, 1", "%tid.x", "*1"},    {".reqntid 64, 4, 1", "%tid.y", "warp"},
        {".reqntid 64, 4, 1", "%tid.z", "grid"},  {".reqntid 50", "%tid.x", "*1"},
        {".reqntid 50", "%tid.y", "grid"},        {".reqntid 16, 16", "%tid.x", "varying"},
        {".reqntid 16, 16", "%tid.y", "varying"}, {".maxntid 64", "%tid.x", "*1?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[64];
        snprintf(body, sizeof body, "mov.u32 a, %s;", rows[i].reg);
        struct case_uniform c = uniform_of_body(rows[i].directives, body);
        const char *have = spelled(last_written(&c));
        cr_expect(strcmp(have, rows[i].want) == 0, "%s %s: %s, not %s", rows[i].directives,
                  rows[i].reg, have, rows[i].want);
        done(&c);
    }
    struct case_uniform c = uniform_of_body(
        ".reqntid 8, 8", "mov.u32 a, %laneid; mov.u32 b, %ntid.x; mul.lo.u32 a, a, b;");
    cr_expect(eq(str, (char *)spelled(last_written(&c)), "*8"));
    done(&c);
}

Test(uniform, inside_a_loop_that_lanes_leave_one_by_one_the_counter_is_shared)
{
    struct case_uniform c = uniform_of_body(
        "",
        "mov.u32 a, %laneid; mov.u32 i, 0; H: add.u32 i, i, 1; setp.lt.u32 q, i, a; @q bra H; ret;");
    const struct ptx_body *body = c.f->func->body;
    for (size_t s = 0; s < body->count; s++)
        if (body->stmts[s].kind == PTX_STMT_INST && body->stmts[s].inst->op->form->name[0] == 'a')
            for (uint32_t u = c.f->use_at[s]; u < c.f->use_at[s + 1]; u++)
                cr_expect(eq(u8, c.u->uses[u].spread, PTX_SPREAD_GRID));
    uint32_t loop = c.f->cfg->loops[0].header;
    cr_expect(eq(u8, c.u->branch[loop], PTX_SPREAD_VARYING));
    done(&c);
}

Test(uniform, branches)
{
    struct case_uniform c = uniform_of_body(
        "",
        "mov.u32 a, %laneid; mov.u32 b, %ctaid.x; setp.lt.u32 p, a, 9; setp.lt.u32 q, b, 9;\n"
        "@p bra A; @q bra A; @s bra A; T: .branchtargets A, B; brx.idx a, T; A: bra B; B: ret;");
    static const uint8_t want[] = {PTX_SPREAD_VARYING, PTX_SPREAD_CTA,  PTX_SPREAD_GRID,
                                   PTX_SPREAD_VARYING, PTX_SPREAD_GRID, PTX_SPREAD_GRID};
    cr_assert(eq(u32, c.f->cfg->code_count, 6));
    for (unsigned i = 0; i < 6; i++) cr_expect(eq(u8, c.u->branch[i], want[i]));
    done(&c);
}

Test(uniform, parameters_of_functions_vary)
{
    struct buf b = {0};
    buf_puts(&b, HEAD ".func (.reg .u32 r) f (.reg .u32 x) { add.u32 r, x, 1; ret; }\n");
    struct case_uniform c = uniform_of(b);
    cr_expect(eq(str, (char *)spelled(last_written(&c)), "varying"));
    done(&c);
}

/* ---- random kernels, run ----------------------------------------------------------------------- */

enum { LANES = 32, WARPS = 2, CTAS = 2, REGS = 5, PREDS = 2, INSTS = 64, STEPS = 400 };

enum act {
    MOV,
    CONST,
    LANE,
    TID,
    CTA,
    NTID,
    WARP_ID,
    ADD,
    SUB,
    MUL3,
    SHL2,
    MUL,
    SELP,
    SETP,
    BALLOT,
    FIRST,
    BRA,
    BRX,
    EXIT,
    RET,
    ACTS
};

struct step {
    enum act act;
    int d, a, b; /* registers; of CONST, a is the value */
    int guard;   /* 0 none, 1 @p, 2 @!p, 3 @q, 4 @!q */
    int target;  /* BRA: block; BRX: with `other` */
    int other;
    uint32_t stmt; /* once read */
};

struct program {
    int blocks, count;
    int first[16]; /* of each block; first[blocks] is the end */
    struct step steps[INSTS];
};

static void write_program(uint64_t *rng, struct program *p, struct buf *b)
{
    static const char *const guards[] = {"", "@p0 ", "@!p0 ", "@p1 ", "@!p1 "};
    static const char *const sources[] = {[LANE] = "%laneid",
                                          [TID] = "%tid.x",
                                          [CTA] = "%ctaid.x",
                                          [NTID] = "%ntid.x",
                                          [WARP_ID] = "%warpid"};
    static const struct step start[] = {
        /* so that there is something to decide by */
        {.act = LANE, .d = 0},
        {.act = CTA, .d = 1},
        {.act = WARP_ID, .d = 2},
        {.act = CONST, .d = 3, .a = 9},
        {.act = SETP, .d = 0, .a = 0, .b = 3},
        {.act = SETP, .d = 1, .a = 1, .b = 4},
    };
    *p = (struct program){.blocks = 1 + (int)pick(rng, 9)};
    buf_puts(b, HEAD ".entry f () {\n.reg .pred p<2>; .reg .u32 r<5>;\n");
    for (int i = 0; i < p->blocks; i++) {
        buf_printf(b, "all%d: .branchtargets L%d;\n", i, i); /* so that each label starts a block */
        p->first[i] = p->count;
        buf_printf(b, "L%d:\n", i);
        for (int k = i ? 1 + (int)pick(rng, 3) : 6; k > 0; k--) {
            struct step *s = &p->steps[p->count++];
            *s = (struct step){.act = (enum act)pick(rng, BRA),
                               .d = (int)pick(rng, REGS),
                               .a = (int)pick(rng, REGS),
                               .b = (int)pick(rng, REGS)};
            if (pick(rng, 4) == 0) s->act = pick(rng, 2) ? CONST : ADD;
            s->guard = pick(rng, 4) ? 0 : 1 + (int)pick(rng, 4);
            if (s->act == SETP) s->d = (int)pick(rng, PREDS);
            if (s->act == CONST) s->a = (int)pick(rng, 20);
            if (i == 0) *s = start[6 - k];
            buf_puts(b, guards[s->guard]);
            switch (s->act) {
            case MOV: buf_printf(b, "mov.u32 r%d, r%d;\n", s->d, s->a); break;
            case CONST: buf_printf(b, "mov.u32 r%d, %d;\n", s->d, s->a); break;
            case LANE:
            case TID:
            case CTA:
            case NTID:
            case WARP_ID: buf_printf(b, "mov.u32 r%d, %s;\n", s->d, sources[s->act]); break;
            case ADD: buf_printf(b, "add.u32 r%d, r%d, r%d;\n", s->d, s->a, s->b); break;
            case SUB: buf_printf(b, "sub.u32 r%d, r%d, r%d;\n", s->d, s->a, s->b); break;
            case MUL3: buf_printf(b, "mul.lo.u32 r%d, r%d, 3;\n", s->d, s->a); break;
            case SHL2: buf_printf(b, "shl.b32 r%d, r%d, 2;\n", s->d, s->a); break;
            case MUL: buf_printf(b, "mul.lo.u32 r%d, r%d, r%d;\n", s->d, s->a, s->b); break;
            case SELP:
                buf_printf(b, "selp.u32 r%d, r%d, r%d, p%d;\n", s->d, s->a, s->b, s->a % PREDS);
                break;
            case SETP: buf_printf(b, "setp.lt.u32 p%d, r%d, r%d;\n", s->d, s->a, s->b); break;
            case BALLOT:
                buf_printf(b, "vote.sync.ballot.b32 r%d, p%d, -1;\n", s->d, s->a % PREDS);
                break;
            case FIRST:
                buf_printf(b, "shfl.sync.idx.b32 r%d, r%d, 3, 31, -1;\n", s->d, s->a);
                break;
            default: break;
            }
        }
        struct step *s = &p->steps[p->count];
        unsigned what = pick(rng, 24);
        if (what < 2) continue; /* falls into the next */
        p->count++;
        *s = (struct step){.act = what < 20 ? BRA : what < 22 ? BRX : what == 22 ? EXIT : RET};
        int ahead = i + 1 < p->blocks ? i + 1 + (int)pick(rng, (unsigned)(p->blocks - i - 1)) : i;
        s->target = pick(rng, 3) ? ahead : (int)pick(rng, (unsigned)p->blocks);
        s->other = (int)pick(rng, (unsigned)p->blocks);
        s->a = (int)pick(rng, REGS);
        s->guard = pick(rng, 6) ? 1 + (int)pick(rng, 4) : 0;
        if (s->act == BRX) buf_printf(b, "T%d: .branchtargets L%d, L%d;\n", i, s->target, s->other);
        buf_puts(b, guards[s->guard]);
        if (s->act == BRA) buf_printf(b, "bra L%d;\n", s->target);
        else if (s->act == BRX) buf_printf(b, "brx.idx r%d, T%d;\n", s->a, i);
        else buf_puts(b, s->act == EXIT ? "exit;\n" : "ret;\n");
    }
    p->first[p->blocks] = p->count;
    buf_puts(b, "}\n");
}

struct once { /* what a use held in each warp, for statements that ran once in each */
    uint32_t value[CTAS * WARPS], runs[CTAS * WARPS];
};

struct run {
    const struct case_uniform *c;
    struct program *p;
    uint64_t seed;
    uint32_t r[REGS][LANES], pred[PREDS];
    unsigned cta, warp;
    struct once *once; /* by use */
    uint32_t checks;
};

/* Whether what is said of a use holds for what the active lanes have there. */
static void check_use(struct run *x, uint32_t use, const uint32_t *value, uint32_t active)
{
    struct ptx_variation v = x->c->u->uses[use];
    unsigned first = (unsigned)__builtin_ctz(active);
    struct once *o = &x->once[use];
    unsigned who = x->cta * WARPS + x->warp;
    o->value[who] = value[first];
    o->runs[who]++;
    for (unsigned l = first; l < LANES; l++) {
        if (!(active >> l & 1) || v.spread == PTX_SPREAD_VARYING) continue;
        uint32_t want = value[first];
        if (v.spread == PTX_SPREAD_AFFINE) want += (uint32_t)v.stride * (l - first);
        x->checks++;
        if (value[l] == want) continue;
        cr_expect(false, "seed %llu: use %u is said to be %s: lane %u has %u, lane %u %u",
                  (unsigned long long)x->seed, use, spelled(v), first, value[first], l, value[l]);
    }
}

static void check_statement(struct run *x, const struct step *s, uint32_t active, bool writes)
{
    const struct ptx_flow *f = x->c->f;
    for (uint32_t u = f->use_at[s->stmt]; u < f->use_at[s->stmt + 1]; u++) {
        const struct ptx_use *use = &f->uses[u];
        if (!(use->how & PTX_USE_WRITE) == writes) continue;
        const struct ptx_name *n = f->func->body->regs[use->reg]->name;
        int k = n->text[1] - '0';
        uint32_t bits[LANES];
        for (int l = 0; l < LANES; l++)
            bits[l] = n->text[0] == 'p' ? x->pred[k] >> l & 1 : x->r[k][l];
        check_use(x, u, bits, active);
    }
}

/* One instruction for the lanes that are active; those it branches for come back. */
static uint32_t run_step(struct run *x, const struct step *s, uint32_t active)
{
    check_statement(x, s, active, false);
    uint32_t on = active, out[LANES], bits = 0;
    if (s->guard) on &= s->guard % 2 ? x->pred[(s->guard - 1) / 2] : ~x->pred[(s->guard - 1) / 2];
    if (s->act >= BRA) return on;
    for (unsigned l = 0; l < LANES; l++) {
        uint32_t a = x->r[s->a % REGS][l], b = x->r[s->b][l], v = 0;
        uint32_t p = x->pred[s->a % PREDS] >> l & 1;
        switch (s->act) {
        case MOV: v = a; break;
        case CONST: v = (uint32_t)s->a; break;
        case LANE: v = l; break;
        case TID: v = x->warp * LANES + l; break;
        case CTA: v = x->cta; break;
        case NTID: v = WARPS * LANES; break;
        case WARP_ID: v = x->warp; break;
        case ADD: v = a + b; break;
        case SUB: v = a - b; break;
        case MUL3: v = a * 3; break;
        case SHL2: v = a << 2; break;
        case MUL: v = a * b; break;
        case SELP: v = p ? a : b; break;
        case SETP: v = a < b; break;
        case BALLOT: v = x->pred[s->a % PREDS] & on; break;
        case FIRST: v = x->r[s->a][on >> 3 & 1 ? 3 : on ? (unsigned)__builtin_ctz(on) : 0]; break;
        default: break;
        }
        out[l] = v;
        bits |= (v & 1) << l;
    }
    if (s->act == SETP) x->pred[s->d] = (x->pred[s->d] & ~on) | (bits & on);
    else
        for (int l = 0; l < LANES; l++)
            if (on >> l & 1) x->r[s->d][l] = out[l];
    check_statement(x, s, active, true);
    return 0;
}

struct entry { /* of the stack of lanes that wait for each other */
    uint32_t block, until, lanes;
};

static void run_warp(struct run *x)
{
    const struct ptx_cfg *g = x->c->f->cfg;
    struct entry stack[512];
    int depth = 0, steps = 0;
    memset(x->r, 0, sizeof x->r);
    memset(x->pred, 0, sizeof x->pred);
    stack[depth++] = (struct entry){0, g->exit, UINT32_MAX};
    uint32_t gone = 0;
    while (depth && steps++ < STEPS) {
        struct entry *top = &stack[depth - 1];
        uint32_t lanes = top->lanes & ~gone, b = top->block;
        if (b == top->until || b == g->exit || !lanes) {
            if (b == g->exit && b != top->until) gone |= lanes;
            depth--;
            continue;
        }
        /* The block's steps; block 0 of the graph holds the first of the program as well. */
        uint32_t next[LANES];
        for (int l = 0; l < LANES; l++) next[l] = b + 1 < g->code_count ? b + 1 : g->exit;
        for (int i = 0; i < x->p->count; i++) {
            struct step *s = &x->p->steps[i];
            if (s->stmt < g->blocks[b].first || s->stmt >= g->blocks[b].end) continue;
            uint32_t taken = run_step(x, s, lanes);
            for (int l = 0; s->act >= BRA && l < LANES; l++) {
                if (!(taken >> l & 1)) continue;
                int to = s->act == BRX && x->r[s->a][l] % 2 ? s->other : s->target;
                next[l] = s->act >= EXIT ? g->exit
                                         : ptx_cfg_block_of(g, x->p->steps[x->p->first[to]].stmt);
            }
        }
        bool one = true;
        unsigned first = (unsigned)__builtin_ctz(lanes);
        for (int l = 0; l < LANES; l++)
            if (lanes >> l & 1 && next[l] != next[first]) one = false;
        if (one) {
            top->block = next[first];
            continue;
        }
        uint32_t meet = g->blocks[b].rejoin, left = lanes;
        top->block = meet;
        if (depth > 470) return;
        while (left) {
            first = (unsigned)__builtin_ctz(left);
            uint32_t same = 0;
            for (unsigned l = first; l < LANES; l++)
                if (left >> l & 1 && next[l] == next[first]) same |= 1u << l;
            stack[depth++] = (struct entry){next[first], meet, same};
            left &= ~same;
        }
    }
}

static uint32_t check_random(uint64_t seed)
{
    uint64_t rng = seed;
    struct program p;
    struct buf text = {0};
    write_program(&rng, &p, &text);
    struct case_uniform c = uniform_of(text);
    const struct ptx_flow *f = c.f;
    int n = 0;
    for (uint32_t s = 0; s < f->func->body->count; s++)
        if (f->func->body->stmts[s].kind == PTX_STMT_INST) p.steps[n++].stmt = s;
    cr_assert(n == p.count);
    struct run x = {.c = &c, .p = &p, .seed = seed};
    x.once = calloc(f->use_count + 1, sizeof *x.once);
    for (x.cta = 0; x.cta < CTAS; x.cta++)
        for (x.warp = 0; x.warp < WARPS; x.warp++) run_warp(&x);
    for (uint32_t u = 0; u < f->use_count; u++) {
        struct ptx_variation v = c.u->uses[u];
        for (unsigned i = 0; i < CTAS * WARPS; i++)
            for (unsigned j = 0; j < i; j++) {
                bool all = v.spread == PTX_SPREAD_GRID ||
                           (v.spread == PTX_SPREAD_CTA && i / WARPS == j / WARPS);
                if (!all || x.once[u].runs[i] != 1 || x.once[u].runs[j] != 1) continue;
                if (x.once[u].value[i] == x.once[u].value[j]) continue;
                cr_expect(false,
                          "seed %llu: use %u is said to be %s: warps %u and %u have %u and %u",
                          (unsigned long long)seed, u, spelled(v), j, i, x.once[u].value[j],
                          x.once[u].value[i]);
            }
    }
    uint32_t checks = x.checks;
    free(x.once);
    done(&c);
    return checks;
}

Test(uniform, random_kernels_do_as_is_said)
{
    uint32_t checks = 0;
    for (uint64_t seed = 1; seed <= 1500 / THINNED; seed++) checks += check_random(seed);
    cr_expect(checks > 250000 / THINNED, "%u checks", checks);
}

/* ---- large functions --------------------------------------------------------------------------- */

static struct case_uniform uniform_of_large(struct buf b, const char *what)
{
    struct case_uniform c = {.text = b, .p = parse_text(what, b.data, b.size)};
    cr_assert(c.p->ok, "%s", first_error(c.p));
    struct arena *a = c.p->arena;
    c.f = ptx_flow_new(a, ptx_cfg_new(a, ptx_module_find(c.p->module, "f")));
    clock_t from = clock();
    c.u = ptx_uniform_new(a, c.f);
    double seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
    cr_expect(seconds < 20, "%s: %g s", what, seconds);
    return c;
}

Test(uniform, many_ifs_in_a_row_are_quick)
{
    struct buf b = {0};
    buf_puts(&b, HEAD ".entry f () { .reg .pred p; .reg .u32 a, b, c; mov.u32 a, %laneid;\n");
    for (int i = 0; i < 100000; i++)
        buf_printf(&b, "setp.lt.u32 p, a, %d; @p bra L%d; add.u32 b, b, 1; L%d:\n", i, i, i);
    buf_puts(&b, "add.u32 c, b, 1; ret; }\n");
    struct case_uniform c = uniform_of_large(b, "ifs");
    cr_expect(not(c.u->coarse));
    cr_expect(eq(str, (char *)spelled(last_written(&c)), "varying"));
    done(&c);
}

Test(uniform, tangled_functions_are_given_up_in_time)
{
    struct buf b = {0};
    buf_puts(&b, HEAD ".entry f () { .reg .pred p; .reg .u32 a, b, c; mov.u32 a, %laneid;\n");
    for (int i = 0; i < 30000; i++)
        buf_printf(&b, "L%d: setp.lt.u32 p, a, %d; add.u32 b, b, 1; @p bra L%d;\n", i, i, i / 2);
    buf_puts(&b, "add.u32 c, b, 1; ret; }\n");
    struct case_uniform c = uniform_of_large(b, "tangle");
    cr_expect(c.u->coarse);
    cr_expect(eq(str, (char *)spelled(last_written(&c)), "varying"));
    done(&c);
}

Test(uniform, deep_nests_are_quick)
{
    struct buf b = {0};
    buf_puts(&b, HEAD ".entry f () { .reg .pred p, q; .reg .u32 a, b, c; mov.u32 a, %laneid;\n"
                      "setp.lt.u32 p, a, 7;\n");
    for (int i = 0; i < 50000; i++) buf_printf(&b, "L%d: add.u32 b, b, 1;\n", i);
    for (int i = 50000; i-- > 0;) buf_printf(&b, "@q bra L%d;\n", i);
    buf_puts(&b, "add.u32 c, b, 1; ret; }\n");
    struct case_uniform c = uniform_of_large(b, "nest");
    done(&c);
}
