/* Shuffles, votes, matches and reductions of a warp, against the ISA's pseudo-code done lane by lane. */
#include "tests/support/emu.h"

#include "emu/lower/lower.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 100, PADDED = 128 }; /* the last warp has four lanes */

static uint32_t next_random(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*s >> 32);
}

/* Loads a, b, c, m of each thread into %r1 .. %r4; q is true where the word `on` is not zero. Stores what
 * the body leaves in %r5 and, as 0 or 1, %p1. */
static const char *kernel(const char *version, const char *target, const char *body)
{
    static char text[1 << 14];
    snprintf(
        text, sizeof text,
        ".version %s\n.target %s\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 m,\n"
        "                  .param .u64 on, .param .u64 d, .param .u64 p)\n{\n"
        ".reg .b32 %%r<20>;\n.reg .b64 %%rd<20>;\n.reg .pred %%p<4>, q, all;\n"
        "ld.param.u64 %%rd0, [a];\nld.param.u64 %%rd1, [b];\nld.param.u64 %%rd2, [c];\n"
        "ld.param.u64 %%rd3, [m];\nld.param.u64 %%rd4, [on];\nld.param.u64 %%rd5, [d];\n"
        "ld.param.u64 %%rd6, [p];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd9, %%r0, 4;\n"
        "add.s64 %%rd0, %%rd0, %%rd9;\nadd.s64 %%rd1, %%rd1, %%rd9;\nadd.s64 %%rd2, %%rd2, %%rd9;\n"
        "add.s64 %%rd3, %%rd3, %%rd9;\nadd.s64 %%rd4, %%rd4, %%rd9;\nadd.s64 %%rd5, %%rd5, %%rd9;\n"
        "add.s64 %%rd6, %%rd6, %%rd9;\nld.global.u32 %%r1, [%%rd0];\nld.global.u32 %%r2, [%%rd1];\n"
        "ld.global.u32 %%r3, [%%rd2];\nld.global.u32 %%r4, [%%rd3];\nld.global.u32 %%r6, [%%rd4];\n"
        "setp.ne.u32 q, %%r6, 0;\nmov.u32 %%r5, 0x12345678;\nsetp.ne.u32 %%p1, %%r5, %%r5;\n"
        "%s\n"
        "st.global.u32 [%%rd5], %%r5;\nselp.u32 %%r7, 1, 0, %%p1;\nst.global.u32 [%%rd6], %%r7;\n"
        "ret;\n}\n",
        version, target, body);
    return text;
}

struct lanes { /* what the threads get, and what they leave */
    uint32_t a[PADDED], b[PADDED], c[PADDED], m[PADDED], on[PADDED], d[PADDED], p[PADDED];
};

static void run_at(const char *version, const char *target, const char *body, struct lanes *x)
{
    struct emu_run r = {.ptx = kernel(version, target, body), .grid = 1, .block = THREADS};
    r.args[0] = emu_in(&r, x->a, sizeof x->a);
    r.args[1] = emu_in(&r, x->b, sizeof x->b);
    r.args[2] = emu_in(&r, x->c, sizeof x->c);
    r.args[3] = emu_in(&r, x->m, sizeof x->m);
    r.args[4] = emu_in(&r, x->on, sizeof x->on);
    r.args[5] = emu_out(&r, x->d, sizeof x->d);
    r.args[6] = emu_out(&r, x->p, sizeof x->p);
    cr_assert(emu_run(&r), "%s\n%s", body, r.fault);
}

static void run(const char *body, struct lanes *x)
{
    run_at("8.7", "sm_90", body, x);
}

static void fill(struct lanes *x, uint64_t seed)
{
    memset(x, 0, sizeof *x);
    for (int t = 0; t < THREADS; t++) {
        x->a[t] = next_random(&seed);
        x->b[t] = next_random(&seed);
        x->c[t] = next_random(&seed);
        x->m[t] = ~0u;
        x->on[t] = next_random(&seed) & 1;
    }
}

/* Lanes of thread t's warp that exist and, if asked for, are on. */
static uint32_t here(const struct lanes *x, int t, bool guarded)
{
    uint32_t mask = 0;
    for (int l = 0; l < 32; l++)
        if (t / 32 * 32 + l < THREADS && (!guarded || x->on[t / 32 * 32 + l])) mask |= 1u << l;
    return mask;
}

/* ---- shfl ---------------------------------------------------------------------------------------- */

static const char *const modes[] = {"up", "down", "bfly", "idx"};

static void expect_shfl(const struct lanes *x, int mode, bool guarded, const char *body)
{
    for (int t = 0; t < THREADS; t++) {
        uint32_t d = 0x12345678, p = 0;
        uint32_t exec = here(x, t, guarded);
        if (!guarded || x->on[t]) {
            int lane = t % 32, bval = x->b[t] & 0x1f, cval = x->c[t] & 0x1f,
                seg = x->c[t] >> 8 & 0x1f;
            int max_lane = (lane & seg) | (cval & ~seg & 0x1f), min_lane = lane & seg, j = 0;
            bool pval = false;
            switch (mode) {
            case 0: j = lane - bval, pval = j >= max_lane; break;
            case 1: j = lane + bval, pval = j <= max_lane; break;
            case 2: j = lane ^ bval, pval = j <= max_lane; break;
            case 3: j = min_lane | (bval & ~seg), pval = j <= max_lane; break;
            }
            if (!pval || !(exec >> j & 1)) j = lane;
            d = x->a[t / 32 * 32 + j];
            p = pval;
        }
        cr_expect_eq(x->d[t], d, "%s thread %d: %x, not %x", body, t, x->d[t], d);
        cr_expect_eq(x->p[t], p, "%s thread %d: predicate", body, t);
    }
}

Test(emu_warp, shfl_of_registers)
{
    for (int mode = 0; mode < 4; mode++)
        for (int guarded = 0; guarded < 2; guarded++) {
            struct lanes x;
            fill(&x, (uint64_t)mode);
            char body[200];
            snprintf(body, sizeof body, "%s shfl.sync.%s.b32 %%r5|%%p1, %%r1, %%r2, %%r3, -1;",
                     guarded ? "@q" : "", modes[mode]);
            run(body, &x);
            expect_shfl(&x, mode, guarded, body);
        }
}

Test(emu_warp, shfl_of_constants)
{
    static const uint32_t bs[] = {0, 1, 4, 16, 21, 31, 35},
                          cs[] = {0x1f, 0, 0x1c1f, 0x181f, 0x1e00, 7, 0xa0b};
    uint64_t seed = 5;
    for (int mode = 0; mode < 4; mode++)
        for (size_t i = 0; i < sizeof bs / sizeof *bs; i++) {
            struct lanes x;
            fill(&x, next_random(&seed));
            uint32_t c = cs[next_random(&seed) % (sizeof cs / sizeof *cs)];
            bool guarded = next_random(&seed) & 1, direct = next_random(&seed) & 1;
            for (int t = 0; t < THREADS; t++) x.b[t] = bs[i], x.c[t] = c;
            char body[300];
            if (direct)
                snprintf(body, sizeof body,
                         "%s shfl.sync.%s.b32 %%r5|%%p1, %%r1, %u, 0x%x, 0xffffffff;",
                         guarded ? "@q" : "", modes[mode], bs[i], c);
            else
                snprintf(body, sizeof body,
                         "mov.u32 %%r10, %u;\nmov.u32 %%r11, 0x%x;\nmov.u32 %%r12, -1;\n"
                         "%s shfl.sync.%s.b32 %%r5|%%p1, %%r1, %%r10, %%r11, %%r12;",
                         bs[i], c, guarded ? "@q" : "", modes[mode]);
            run(body, &x);
            expect_shfl(&x, mode, guarded, body);
        }
}

Test(emu_warp, shfl_forms)
{
    struct lanes x;
    fill(&x, 77);
    for (int t = 0; t < THREADS; t++) x.b[t] = 3, x.c[t] = 0x1f;
    run("shfl.sync.down.b32 %r5, %r1, 3, 31, -1;\nsetp.le.u32 %p1, 0, 0;", &x); /* no predicate */
    for (int t = 0; t < THREADS; t++) {
        int j = t % 32 + 3 < 32 && t + 3 < THREADS ? t + 3 : t;
        cr_expect_eq(x.d[t], x.a[j], "thread %d", t);
    }
    run("shfl.sync.down.b32 %r5|_, %r1, %r2, 31, -1;\nsetp.le.u32 %p1, 0, 0;", &x);
    for (int t = 0; t < THREADS; t++) {
        int j = t % 32 + 3 < 32 && t + 3 < THREADS ? t + 3 : t;
        cr_expect_eq(x.d[t], x.a[j], "thread %d", t);
    }
    run_at("6.3", "sm_70", "shfl.down.b32 %r5|%p1, %r1, %r2, 31;", &x);
    expect_shfl(&x, 1, false, "before .sync");
    run_at("8.0", "sm_60", "@q shfl.down.b32 %r5|%p1, %r1, 3, 31;", &x);
    expect_shfl(&x, 1, true, "before .sync, late");
    /* result and source are one register */
    run("mov.u32 %r5, %r1;\nshfl.sync.down.b32 %r5|%p1, %r5, %r2, 31, -1;", &x);
    expect_shfl(&x, 1, false, "in place");
}

/* ---- votes --------------------------------------------------------------------------------------- */

/* The member masks of x->m; bit 0 of a is the source predicate. */
static void expect_vote(const struct lanes *x, const char *what, bool guarded, bool negated,
                        const char *body)
{
    for (int t = 0; t < THREADS; t++) {
        uint32_t part = here(x, t, guarded) & x->m[t], yes = 0, d = 0x12345678, p = 0;
        for (int l = 0; l < 32; l++)
            if (part >> l & 1) yes |= ((x->a[t / 32 * 32 + l] & 1) ^ negated) << l;
        if (!guarded || x->on[t]) {
            if (!strcmp(what, "ballot")) d = yes;
            else {
                int n = __builtin_popcount(yes), of = __builtin_popcount(part);
                p = !strcmp(what, "all")   ? n == of
                    : !strcmp(what, "any") ? n > 0
                                           : n == 0 || n == of;
            }
        }
        cr_expect_eq(x->d[t], d, "%s thread %d: %x, not %x", body, t, x->d[t], d);
        cr_expect_eq(x->p[t], p, "%s thread %d: predicate %u, not %u", body, t, x->p[t], p);
    }
}

Test(emu_warp, votes)
{
    static const char *const kinds[] = {"all", "any", "uni", "ballot"};
    for (int kind = 0; kind < 4; kind++)
        for (int way = 0; way < 16; way++) {
            struct lanes x;
            fill(&x, (uint64_t)(kind * 16 + way));
            bool guarded = way & 1, negated = way & 2, rows = way & 4;
            for (int t = 0; t < THREADS; t++) {
                if (way & 8) x.a[t] = t < 64; /* the same in a warp */
                if (rows) x.m[t] = t % 32 < 16 ? 0xffffu : t < 40 ? 0xffff0000u : 0xf0f00000u;
                else if (!guarded) x.m[t] = 0xffffffff;
            }
            char body[300];
            const char *mask = rows ? "%r4" : "0xffffffff";
            snprintf(
                body, sizeof body,
                "and.b32 %%r8, %%r1, 1;\nsetp.ne.u32 %%p2, %%r8, 0;\n%s vote.sync.%s %s, %s%%p2, %s;",
                guarded ? "@q" : "",
                kind == 3   ? "ballot.b32"
                : kind == 0 ? "all.pred"
                : kind == 1 ? "any.pred"
                            : "uni.pred",
                kind == 3 ? "%r5" : "%p1", negated ? "!" : "", mask);
            run(body, &x);
            expect_vote(&x, kinds[kind], guarded, negated, body);
        }
}

Test(emu_warp, votes_before_sync)
{
    struct lanes x;
    fill(&x, 9);
    const char *head = "and.b32 %r8, %r1, 1;\nsetp.ne.u32 %p2, %r8, 0;\n";
    static const char *const kinds[] = {"all", "any", "uni"};
    for (int k = 0; k < 3; k++) {
        char body[200];
        snprintf(body, sizeof body, "%s@q vote.%s.pred %%p1, !%%p2;", head, kinds[k]);
        run_at("6.0", "sm_60", body, &x);
        expect_vote(&x, kinds[k], true, true, body);
        run_at("7.0", "sm_60", body, &x);
        expect_vote(&x, kinds[k], true, true, body);
    }
    char body[200];
    snprintf(body, sizeof body, "%svote.ballot.b32 %%r5, %%p2;", head);
    run_at("6.0", "sm_60", body, &x);
    expect_vote(&x, "ballot", false, false, body);
    run_at("7.0", "sm_60", body, &x);
    expect_vote(&x, "ballot", false, false, body);
}

Test(emu_warp, activemask_of_parted_lanes)
{
    struct lanes x;
    fill(&x, 3);
    run("@q activemask.b32 %r5;", &x);
    for (int t = 0; t < THREADS; t++)
        cr_expect_eq(x.d[t], x.on[t] ? here(&x, t, true) : 0x12345678, "thread %d: %x", t, x.d[t]);
    run("@q bra L;\nactivemask.b32 %r5;\nbra M;\nL: mov.u32 %r5, 7;\nM:", &x);
    for (int t = 0; t < THREADS; t++)
        cr_expect_eq(x.d[t], x.on[t] ? 7 : here(&x, t, false) & ~here(&x, t, true), "thread %d: %x",
                     t, x.d[t]);
}

Test(emu_warp, ended_lanes_are_not_waited_for)
{
    struct lanes x;
    fill(&x, 4);
    run("and.b32 %r8, %r1, 1;\nsetp.ne.u32 %p2, %r8, 0;\n@q exit;\nvote.sync.ballot.b32 %r5, %p2, -1;\n"
        "shfl.sync.idx.b32 %r9, %r5, 0, 31, -1;",
        &x);
    for (int t = 0; t < THREADS; t++) {
        uint32_t part = here(&x, t, false) & ~here(&x, t, true), yes = 0;
        for (int l = 0; l < 32; l++)
            if (part >> l & 1) yes |= (x.a[t / 32 * 32 + l] & 1) << l;
        cr_expect_eq(x.d[t], x.on[t] ? 0 : yes, "thread %d: %x, not %x", t, x.d[t], yes);
    }
}

Test(emu_warp, elect_takes_the_lowest)
{
    for (int way = 0; way < 8; way++) {
        struct lanes x;
        fill(&x, (uint64_t)way);
        bool guarded = way & 1, rows = way & 2, sink = way & 4;
        if (rows)
            for (int t = 0; t < THREADS; t++) x.m[t] = t % 32 < 8 ? 0xffu : 0xffffff00u;
        char body[200];
        snprintf(body, sizeof body, "%s elect.sync %s|%%p1, %s;", guarded ? "@q" : "",
                 sink ? "_" : "%r5", rows ? "%r4" : "-1");
        run(body, &x);
        for (int t = 0; t < THREADS; t++) {
            uint32_t part = here(&x, t, guarded) & x.m[t], lowest = 0;
            while (lowest < 32 && !(part >> lowest & 1)) lowest++;
            bool takes = !guarded || x.on[t];
            cr_expect_eq(x.d[t], takes && !sink ? lowest : 0x12345678, "%s thread %d: %u", body, t,
                         x.d[t]);
            cr_expect_eq(x.p[t], takes && (uint32_t)t % 32 == lowest, "%s thread %d: predicate",
                         body, t);
        }
    }
}

/* ---- match, redux -------------------------------------------------------------------------------- */

Test(emu_warp, matches)
{
    for (int way = 0; way < 64; way++) {
        struct lanes x;
        fill(&x, (uint64_t)way);
        bool guarded = way & 1, rows = way & 2, all = way & 4, wide = way & 8, equal = way & 16;
        int form = way & 32 ? 1 : 0; /* which results */
        for (int t = 0; t < THREADS; t++) {
            x.a[t] = x.a[t] % 3 * 0x1000001;
            x.b[t] = x.b[t] % 2;
            if (equal) x.a[t] = t < 64, x.b[t] = 0;
            if (rows) x.m[t] = t % 32 < 16 ? 0x0000ffffu : 0xffff0000u;
        }
        char body[300];
        snprintf(body, sizeof body,
                 "mov.b64 %%rd10, {%%r1, %%r2};\n%s match.%s.sync.%s %s, %s, %s;",
                 guarded ? "@q" : "", all ? "all" : "any", wide ? "b64" : "b32",
                 all ? form ? "_|%p1" : "%r5|%p1" : "%r5", wide ? "%rd10" : "%r1",
                 rows ? "%r4" : "0xffffffff");
        run(body, &x);
        for (int t = 0; t < THREADS; t++) {
            uint32_t part = here(&x, t, guarded) & x.m[t], same = 0;
            for (int l = 0; l < 32; l++) {
                int u = t / 32 * 32 + l;
                if (part >> l & 1 && x.a[u] == x.a[t] && (!wide || x.b[u] == x.b[t]))
                    same |= 1u << l;
            }
            bool takes = !guarded || x.on[t];
            uint32_t d = all ? same == part ? part : 0 : same;
            cr_expect_eq(x.d[t], takes && !(all && form) ? d : 0x12345678,
                         "%s thread %d: %x, not %x", body, t, x.d[t], d);
            cr_expect_eq(x.p[t], takes && all && same == part, "%s thread %d: predicate", body, t);
        }
    }
}

Test(emu_warp, reductions)
{
    static const char *const ops[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                      "max.s32", "and.b32", "or.b32",  "xor.b32"};
    for (int op = 0; op < 9; op++)
        for (int way = 0; way < 4; way++) {
            struct lanes x;
            fill(&x, (uint64_t)(op * 4 + way));
            bool guarded = way & 1, rows = way & 2;
            for (int t = 0; t < THREADS; t++) {
                if (op == 6) x.a[t] |= 0xfff0ff00;
                if (op == 7) x.a[t] &= 0x0001f0f0;
                if (rows) x.m[t] = t % 32 < 4 ? 0xfu : t % 32 < 20 ? 0x000ffff0u : 0xfff00000u;
            }
            char body[200];
            snprintf(body, sizeof body, "%s redux.sync.%s %%r5, %%r1, %s;", guarded ? "@q" : "",
                     ops[op], rows ? "%r4" : "0xffffffff");
            run(body, &x);
            for (int t = 0; t < THREADS; t++) {
                uint32_t part = here(&x, t, guarded) & x.m[t];
                int64_t r = 0;
                bool first = true;
                for (int l = 0; l < 32; l++) {
                    if (!(part >> l & 1)) continue;
                    uint32_t v = x.a[t / 32 * 32 + l];
                    int64_t s = ops[op][4] == 's' ? (int64_t)(int32_t)v : (int64_t)v;
                    if (first) r = s;
                    else if (op < 2) r += s;
                    else if (op < 4) r = s < r ? s : r;
                    else if (op < 6) r = s > r ? s : r;
                    else if (op == 6) r &= s;
                    else if (op == 7) r |= s;
                    else r ^= s;
                    first = false;
                }
                bool takes = !guarded || x.on[t];
                cr_expect_eq(x.d[t], takes ? (uint32_t)r : 0x12345678, "%s thread %d: %x, not %x",
                             body, t, x.d[t], (uint32_t)r);
            }
        }
}

Test(emu_warp, nothing_happens)
{
    struct lanes x;
    fill(&x, 1);
    run("nanosleep.u32 100;\n@q nanosleep.u32 %r1;\npmevent 3;\npmevent.mask 0xff;\nmov.u32 %r5, %r1;",
        &x);
    for (int t = 0; t < THREADS; t++) cr_expect_eq(x.d[t], x.a[t]);
}

Test(emu_warp, every_form_is_known)
{
    for (unsigned f = 0; f < PTX_FORM_COUNT; f++) {
        const struct ptx_form_info *i = &ptx_forms[f];
        bool ours = i->unit == PTX_UNIT_WARP || i->unit == PTX_UNIT_TENSOR ||
                    !strcmp(i->name, "nanosleep") || !strncmp(i->name, "pmevent", 7);
        if (ours && !i->refused) cr_expect(lower_knows(f), "%s", i->id);
    }
}
