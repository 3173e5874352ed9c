/* Reads and writes, liveness, dead atomics, the estimate of registers: hand cases, and random
 * functions against a search for a path to a read. */
#include "base/rng.h"
#include "ptx/flow.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEAD                                                                                       \
    ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .func stop () .noreturn;\n"           \
    ".global .u32 mem[1000000];\n"

static unsigned pick(uint64_t *state, unsigned n)
{
    return (unsigned)(rng_next(state) % n);
}

struct case_live {
    struct buf text;
    struct parsed *p;
    struct ptx_flow *f;
    struct ptx_live *live;
};

/* Function f of the text, which is taken over. */
static struct case_live live_of(struct buf text)
{
    struct case_live c = {.text = text, .p = parse_text("test", text.data, text.size)};
    cr_assert(c.p->ok, "%s", first_error(c.p));
    struct arena *a = c.p->arena;
    c.f = ptx_flow_new(a, ptx_cfg_new(a, ptx_module_find(c.p->module, "f")));
    c.live = ptx_live_new(a, c.f, NULL);
    return c;
}

static struct case_live live_of_body(const char *body)
{
    struct buf b = {0};
    buf_printf(&b,
               HEAD
               ".global .texref t;\n.func (.reg .u32 z) g (.reg .u32 x, .reg .u64 y) { ret; }\n"
               ".func h (.param .u32 x) { ret; }\n"
               ".entry f (.param .u32 n)\n{\n"
               ".reg .pred p, q, s; .reg .b32 a, b, c, d; .reg .u64 l, m, k; .reg .f32 e;\n"
               ".reg .v2 .u32 v; .reg .v4 .f32 w; .reg .b16 i, j; .reg .b128 o;\n"
               ".reg .f32 f<32>; .param .u32 z;\n%s\n}\n",
               body);
    return live_of(b);
}

static void done(struct case_live *c)
{
    parsed_free(c->p);
    buf_free(&c->text);
}

/* The n-th instruction's statement. */
static uint32_t inst(const struct case_live *c, unsigned n)
{
    const struct ptx_body *body = c->f->func->body;
    for (uint32_t s = 0; s < body->count; s++)
        if (body->stmts[s].kind == PTX_STMT_INST && n-- == 0) return s;
    cr_assert(false, "no such instruction");
    return 0;
}

/* ---- uses -------------------------------------------------------------------------------------- */

/* A read is the register's name, in brackets if it is an address, behind @ if it is the guard; a write
 * stands behind =, or ~ if it keeps something of the old value. The carry flag is CC. */
static const struct {
    const char *text, *uses;
} use_rows[] = {
    {"add.u32 a, b, c;", "b c =a"},
    {"add.u32 a, a, a;", "a a =a"},
    {"add.u32 a, b, 1;", "b =a"},
    {"@p add.u32 a, b, c;", "@p b c ~a"},
    {"@!p mov.u32 a, %tid.x;", "@p ~a"},
    {"setp.lt.and.s32 p|q, a, b, !s;", "a b s =p =q"},
    {"ld.global.u32 a, [l+4];", "[l] =a"},
    {"ld.global.v2.u32 {a, b}, [l];", "[l] =a =b"},
    {"ld.global.v2.u32 v, [l];", "[l] =v"},
    {"st.global.v2.u32 [l], {a, b};", "[l] a b"},
    {"ld.param.u32 a, [n];", "=a"},
    {"mov.u32 v.x, a;", "a ~v"},
    {"mov.u32 a, v.y;", "v =a"},
    {"mov.v2.u32 v, {a, b};", "a b =v"},
    {"mov.b64 l, {a, b};", "a b =l"},
    {"mov.b64 {a, b}, l;", "l =a =b"},
    {"mov.b64 {a, _}, l;", "l =a"},
    {"atom.global.add.u32 a, [l], b;", "[l] b =a"},
    {"atom.global.add.u32 _, [l], b;", "[l] b"},
    {"red.global.add.u32 [l], b;", "[l] b"},
    {"shfl.sync.up.b32 a|p, b, 1, 0, -1;", "b =a =p"},
    {"tex.2d.v4.f32.f32 {f0, f1, f2, f3}, [t, {f4, f5}];", "f4 f5 =f0 =f1 =f2 =f3"},
    {"tex.2d.v4.f32.f32 w, [l, {f4, f5}];", "l f4 f5 =w"},
    {"call (a), g, (b, l);", "b l =a"},
    {"@p call (a), g, (b, l);", "@p b l ~a"},
    {"call (_), g, (b, 2);", "b"},
    {"call h, (z);", ""},
    {"P: .callprototype (.reg .u32 x) _ (.reg .u32 y); call (a), l, (b), P;", "l b =a"},
    {"add.cc.u32 a, b, c;", "b c =a =CC"},
    {"addc.u32 a, b, c;", "b c CC =a"},
    {"addc.cc.u32 a, b, c;", "b c CC =a =CC"},
    {"madc.lo.cc.u32 a, b, c, d;", "b c d CC =a =CC"},
    {"madc.hi.u32 a, b, c, d;", "b c d CC =a"},
    {"mad.lo.cc.u32 a, b, c, d;", "b c d =a =CC"},
    {"sub.cc.u32 a, b, c;", "b c =a =CC"},
    {"@p sub.cc.u32 a, b, c;", "@p b c ~a ~CC"},
    {"bar.sync a, b;", "a b"},
    {"@p bra L; L:", "@p"},
    {"T: .branchtargets L; brx.idx a, T; L:", "a"},
    {"vadd.u32.u32.u32 a.h0, b, c, d;", "b c d =a"},
    {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {f0, f1, f2, f3}, l, m, p, 1, 1;",
     "f0 f1 f2 f3 l m p =f0 =f1 =f2 =f3"},
};

Test(live, uses_of_instructions)
{
    for (size_t i = 0; i < sizeof use_rows / sizeof *use_rows; i++) {
        struct case_live c = live_of_body(use_rows[i].text);
        uint32_t s = inst(&c, 0);
        struct buf have = {0};
        buf_puts(&have, "");
        for (uint32_t u = c.f->use_at[s]; u < c.f->use_at[s + 1]; u++) {
            const struct ptx_use *use = &c.f->uses[u];
            const struct ptx_name *name = NULL;
            if (use->reg < c.f->reg_count - 1) name = c.f->func->body->regs[use->reg]->name;
            if (have.size) buf_putc(&have, ' ');
            buf_puts(&have, use->how & PTX_USE_GUARD ? "@" : use->how & PTX_USE_ADDRESS ? "[" : "");
            buf_puts(&have, use->how & PTX_USE_KILL ? "=" : use->how & PTX_USE_WRITE ? "~" : "");
            buf_add(&have, name ? name->text : "CC", name ? name->length : 2);
            if (use->how & PTX_USE_ADDRESS) buf_putc(&have, ']');
        }
        const char *text = have.data ? have.data : "";
        cr_expect(strcmp(text, use_rows[i].uses) == 0, "%s: %s, not %s", use_rows[i].text, text,
                  use_rows[i].uses);
        buf_free(&have);
        done(&c);
    }
}

/* ---- hand cases -------------------------------------------------------------------------------- */

static bool dead(const struct case_live *c, unsigned n)
{
    uint32_t s = inst(c, n);
    for (uint32_t u = c->f->use_at[s]; u < c->f->use_at[s + 1]; u++)
        if (c->f->uses[u].how & PTX_USE_WRITE && !(c->live->fate[u] & PTX_FATE_DEAD)) return false;
    return true;
}

Test(live, a_guarded_write_keeps_the_old_value)
{
    struct case_live c = live_of_body("mov.u32 a, 1; @p mov.u32 a, 2; st.global.u32 [l], a; ret;");
    cr_expect(not(dead(&c, 0)));
    done(&c);
    c = live_of_body("mov.u32 a, 1; mov.u32 a, 2; st.global.u32 [l], a; ret;");
    cr_expect(dead(&c, 0));
    done(&c);
}

Test(live, writing_a_component_keeps_the_others)
{
    struct case_live c = live_of_body(
        "mov.v2.u32 v, {a, b}; mov.u32 v.x, 2; st.global.u32 [l], v.y;");
    cr_expect(not(dead(&c, 0)));
    done(&c);
}

Test(live, the_carry_flag_is_a_register)
{
    struct case_live c = live_of_body(
        "add.cc.u32 a, b, c; addc.u32 d, b, c; st.global.u32 [l], d;");
    uint32_t last = c.f->use_at[inst(&c, 0) + 1] - 1;
    cr_expect(eq(u32, c.f->uses[last].reg, c.f->reg_count - 1));
    cr_expect(eq(u8, c.live->fate[last], 0));
    done(&c);
    c = live_of_body("add.cc.u32 a, b, c; add.cc.u32 d, b, c; st.global.u32 [l], d;");
    cr_expect(dead(&c, 0));
    done(&c);
}

Test(live, results_in_registers_are_read_on_return)
{
    struct buf b = {0};
    buf_puts(&b, HEAD ".func (.reg .u32 r) f (.reg .u32 x) { .reg .pred p; add.u32 r, x, 1;\n"
                      "@p trap; add.u32 r, r, x; @!p ret; mov.u32 r, 0; trap; }\n");
    struct case_live c = live_of(b);
    cr_expect(not(dead(&c, 0)));
    cr_expect(not(dead(&c, 2)));
    cr_expect(dead(&c, 4)); /* a trap returns nothing */
    cr_expect(eq(u32, c.f->param_count, 1));
    cr_expect(eq(u32, c.f->result_count, 1));
    done(&c);
}

Test(live, width_of_registers)
{
    struct case_live c = live_of_body("mov.b128 o, {l, m}; mov.f32 w.x, e; mov.u32 v.x, a;"
                                      "mov.b16 i, j; mov.pred p, q; add.cc.u32 a, b, c;");
    static const struct {
        unsigned inst, regs, preds;
    } rows[] = {{0, 4, 0}, {1, 4, 0}, {2, 2, 0}, {3, 1, 0}, {4, 0, 1}, {5, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) { /* of the last write */
        uint32_t reg = c.f->uses[c.f->use_at[inst(&c, rows[i].inst) + 1] - 1].reg;
        struct ptx_pressure width = ptx_flow_width(c.f, reg);
        cr_expect(width.regs == rows[i].regs && width.preds == rows[i].preds, "row %zu", i);
    }
    done(&c);
}

Test(live, pressure_of_straight_code)
{
    /* l and m (4), then a and b as well, then only a sum. */
    struct case_live c = live_of_body(
        "ld.param.u64 l, [n]; add.u64 m, l, 8; ld.global.u32 a, [l];"
        "ld.global.u32 b, [m]; add.u32 a, a, b; st.global.u32 [m], a;");
    cr_expect(eq(u32, c.live->most.regs, 4));
    cr_expect(eq(u32, c.live->most.preds, 0));
    done(&c);
}

Test(live, dead_atomics)
{
    struct case_live c = live_of_body(
        "atom.global.add.u32 a, [l], 1;\n"                  /* 0: overwritten */
        "atom.global.add.u32 a, [l], 1;\n"                  /* 1: read */
        "atom.global.add.u32 _, [l], a;\n"                  /* 2: dropped */
        "red.global.add.u32 [l], a;\n"                      /* 3: no atom */
        "@p atom.global.exch.b32 b, [l], a;\n"              /* 4: may keep b, which is read */
        "atom.global.add.v2.f32 {f0, f1}, [l], {f2, f3};\n" /* 5: one half is read */
        "atom.global.add.v2.f32 {f4, f5}, [l], {f2, f3};\n" /* 6: none is */
        "st.global.u32 [l], b; st.global.f32 [l], f1;\n"
        "atom.shared.cas.b32 c, [d], a, b; ret;\n"); /* 9 */
    uint32_t *stmts, n = ptx_live_dead_atoms(c.p->arena, c.live, &stmts);
    static const unsigned want[] = {0, 2, 6, 9};
    cr_assert(eq(u32, n, 4));
    for (unsigned i = 0; i < 4; i++) cr_expect(eq(u32, stmts[i], inst(&c, want[i])));
    done(&c);
}

Test(live, needed_instructions)
{
    struct case_live c = live_of_body(
        "ld.global.u32 a, [l];\n"                                           /* 0: only for 1 */
        "add.u32 b, a, 1;\n"                                                /* 1: for nobody */
        "ld.volatile.global.u32 c, [l];\n"                                  /* 2: an effect */
        "mov.u32 d, 1;\n"                                                   /* 3: for 4 */
        "st.global.u32 [l], d;\n"                                           /* 4 */
        "add.cc.u32 b, a, c; addc.u32 b, a, c;\n"                           /* 5, 6: for nobody */
        "loop: add.u32 a, a, 1; setp.eq.u32 p, c, 0; @p bra loop; ret;\n"); /* 7: for itself */
    static const bool want[] = {false, false, true, true, true, false,
                                false, false, true, true, true};
    bool *needed = ptx_flow_needed(c.p->arena, c.f, false);
    for (unsigned i = 0; i < sizeof want; i++)
        cr_expect(needed[inst(&c, i)] == want[i], "instruction %u", i);
    cr_expect(not(needed[0])); /* a declaration */
    struct ptx_live *live = ptx_live_new(c.p->arena, c.f, needed);
    cr_expect(eq(u32, live->most.regs, 4)); /* l, and c beside d */
    done(&c);
}

/* ---- random functions -------------------------------------------------------------------------- */

static void write_function(uint64_t *rng, struct buf *b)
{
    unsigned blocks = 1 + pick(rng, 9);
    static const char *const words[] = {"a", "b", "c", "d"}, *const longs[] = {"l", "m"};
    buf_puts(b, HEAD ".func (.reg .u32 a) f (.reg .u64 m)\n{\n"
                     ".reg .pred p, q; .reg .u32 b, c, d; .reg .u64 l; .reg .v2 .u32 v;\n"
                     "all: .branchtargets L0");
    for (unsigned i = 1; i < blocks; i++) buf_printf(b, ", L%u", i);
    buf_puts(b, ";\n");
    for (unsigned i = 0; i < blocks; i++) {
        buf_printf(b, "L%u:\n", i);
        for (unsigned k = pick(rng, 4); k > 0; k--) {
            static const char *const guards[] = {"", "", "", "@p ", "@!q "};
            const char *x = words[pick(rng, 4)], *y = words[pick(rng, 4)], *z = words[pick(rng, 4)];
            const char *g = guards[pick(rng, 5)], *l = longs[pick(rng, 2)];
            switch (pick(rng, 9)) {
            case 0: buf_printf(b, "%sadd.u32 %s, %s, %s;\n", g, x, y, z); break;
            case 1: buf_printf(b, "%smov.u32 %s, 1;\n", g, x); break;
            case 2: buf_printf(b, "%ssetp.eq.u32 p|q, %s, %s;\n", g, x, y); break;
            case 3: buf_printf(b, "%smov.b64 %s, {%s, %s};\n", g, l, x, y); break;
            case 4: buf_printf(b, "%smov.b64 {%s, %s}, %s;\n", g, x, y, l); break;
            case 5: buf_printf(b, "%smov.u32 v.%c, %s;\n", g, "xy"[pick(rng, 2)], x); break;
            case 6: buf_printf(b, "%smov.u32 %s, v.%c;\n", g, x, "xy"[pick(rng, 2)]); break;
            case 7: buf_printf(b, "%saddc.cc.u32 %s, %s, %s;\n", g, x, y, z); break;
            case 8: buf_printf(b, "%sst.global.u32 [%s], %s;\n", g, l, x); break;
            }
        }
        switch (pick(rng, 8)) {
        case 0: buf_printf(b, "bra L%u;\n", pick(rng, blocks)); break;
        case 1: buf_printf(b, "@q brx.idx %s, all;\n", words[pick(rng, 4)]); break;
        case 2: buf_puts(b, pick(rng, 2) ? "@p ret;\n" : "ret;\n"); break;
        case 3: buf_puts(b, pick(rng, 2) ? "@p exit;\n" : "trap;\n"); break;
        case 4:
        case 5:
        case 6: buf_printf(b, "@!p bra L%u;\n", pick(rng, blocks)); break;
        default: break;
        }
    }
    buf_puts(b, "}\n");
}

/* Whether statement s reads (writes wholly) a register. */
static bool does(const struct ptx_flow *f, uint32_t s, uint32_t reg, unsigned how)
{
    for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++)
        if (f->uses[u].reg == reg && f->uses[u].how & how) return true;
    return false;
}

enum { STATEMENTS = 128 };

/* Whether a walk from just behind statement s (or, with `at`, from before it) comes to a read of the
 * register before a write of all of it. */
static bool slow_live(const struct ptx_flow *f, uint32_t s, bool at, uint32_t reg, uint32_t block)
{
    const struct ptx_cfg *g = f->cfg;
    bool seen[STATEMENTS] = {0}; /* blocks whose start was reached */
    uint32_t stack[STATEMENTS], depth = 0;
    bool returns = false;
    if (!at) s++;
    for (;;) {
        bool stopped = false;
        for (; s < g->blocks[block].end && !stopped; s++) {
            if (does(f, s, reg, PTX_USE_READ)) return true;
            stopped = does(f, s, reg, PTX_USE_KILL);
        }
        if (!stopped) {
            returns |= (g->blocks[block].leave & PTX_LEAVE_RETURN) != 0;
            for (uint32_t i = 0; i < g->blocks[block].succ_count; i++) {
                uint32_t y = g->succs[g->blocks[block].succ + i];
                if (seen[y]) continue;
                seen[y] = true;
                stack[depth++] = y;
            }
        }
        if (depth == 0) break;
        block = stack[--depth];
        s = g->blocks[block].first;
    }
    for (uint32_t i = 0; returns && i < f->result_count; i++)
        if (f->results[i] == reg) return true;
    return false;
}

static struct ptx_pressure slow_pressure(const struct ptx_flow *f, uint32_t s, bool at,
                                         uint32_t block)
{
    struct ptx_pressure p = {0, 0};
    for (uint32_t r = 0; r < f->reg_count; r++) {
        bool is = slow_live(f, s, at, r, block);
        /* What is written for nothing takes a register as well. */
        for (uint32_t u = f->use_at[s]; !at && !is && u < f->use_at[s + 1]; u++)
            is = f->uses[u].reg == r && f->uses[u].how & PTX_USE_WRITE;
        struct ptx_pressure width = ptx_flow_width(f, r);
        p.regs += is ? width.regs : 0;
        p.preds += is ? width.preds : 0;
    }
    return p;
}

static void check_block(const struct case_live *c, uint32_t b, uint64_t seed,
                        struct ptx_pressure *most)
{
    const struct ptx_flow *f = c->f;
    const struct ptx_block *block = &f->cfg->blocks[b];
    struct ptx_pressure in = {0, 0}, out = {0, 0};
    for (uint32_t r = 0; r < f->reg_count; r++) {
        struct ptx_pressure width = ptx_flow_width(f, r);
        if (slow_live(f, block->first, true, r, b)) {
            in.regs += width.regs;
            in.preds += width.preds;
        }
        if (slow_live(f, block->end, true, r, b)) {
            out.regs += width.regs;
            out.preds += width.preds;
        }
    }
    cr_expect(in.regs == c->live->in[b].regs && in.preds == c->live->in[b].preds,
              "seed %llu: live into block %u", (unsigned long long)seed, b);
    cr_expect(out.regs == c->live->out[b].regs && out.preds == c->live->out[b].preds,
              "seed %llu: live out of block %u", (unsigned long long)seed, b);
    for (uint32_t s = block->first; s < block->end; s++) {
        for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++) {
            const struct ptx_use *use = &f->uses[u];
            bool is = slow_live(f, s, false, use->reg, b), again = false;
            bool killed = does(f, s, use->reg, PTX_USE_KILL);
            for (uint32_t v = u + 1; v < f->use_at[s + 1]; v++)
                again |= f->uses[v].reg == use->reg &&
                         (f->uses[v].how ^ use->how) != PTX_USE_READ &&
                         !((f->uses[v].how ^ use->how) & (PTX_USE_READ | PTX_USE_WRITE));
            unsigned want = use->how & PTX_USE_READ
                                ? (!again && (killed || !is) ? PTX_FATE_LAST : 0)
                                : (!is || (again && killed) ? PTX_FATE_DEAD : 0);
            cr_expect(
                c->live->fate[u] == want, "seed %llu: statement %u, register %.*s: %u, not %u",
                (unsigned long long)seed, s,
                use->reg < f->reg_count - 1 ? (int)f->func->body->regs[use->reg]->name->length : 2,
                use->reg < f->reg_count - 1 ? f->func->body->regs[use->reg]->name->text : "CC",
                c->live->fate[u], want);
        }
        if (!ptx_cfg_reachable(f->cfg, b)) continue;
        for (int at = 0; at < 2; at++) {
            struct ptx_pressure p = slow_pressure(f, s, at, b);
            if (p.regs > most->regs) most->regs = p.regs;
            if (p.preds > most->preds) most->preds = p.preds;
        }
    }
}

Test(live, random_functions_agree_with_slow_answers)
{
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        uint64_t rng = seed;
        struct buf b = {0};
        write_function(&rng, &b);
        struct case_live c = live_of(b);
        struct ptx_pressure most = {0, 0};
        cr_assert(c.f->func->body->count < STATEMENTS);
        for (uint32_t i = 0; i < c.f->cfg->code_count; i++) check_block(&c, i, seed, &most);
        cr_expect(c.live->most.regs == most.regs, "seed %llu: at most %u live, not %u",
                  (unsigned long long)seed, most.regs, c.live->most.regs);
        cr_expect(c.live->most.preds == most.preds, "seed %llu", (unsigned long long)seed);
        done(&c);
    }
}

/* ---- registers per thread ---------------------------------------------------------------------- */

static struct ptx_registers registers_of(const struct case_live *c, const char *name)
{
    struct ptx_registers *r = ptx_registers_estimate(c->p->arena, c->p->module);
    for (size_t i = 0; i < c->p->module->func_count; i++) { /* as of one function alone */
        const struct ptx_registers one = ptx_registers_of(c->p->module->funcs[i]);
        cr_expect(
            one.registers == r[i].registers && one.own == r[i].own && one.limit == r[i].limit &&
                one.known == r[i].known && one.spills == r[i].spills,
            "function %zu: %u registers alone, %u in the module", i, one.registers, r[i].registers);
    }
    for (size_t i = 0; i < c->p->module->func_count; i++)
        if (c->p->module->funcs[i]->sym->name->length == strlen(name) &&
            memcmp(c->p->module->funcs[i]->sym->name->text, name, strlen(name)) == 0)
            return r[i];
    cr_assert(false, "no function %s", name);
    return r[0];
}

Test(registers, a_kernel_needs_what_its_callees_need)
{
    struct buf b = {0};
    buf_puts(&b, HEAD ".func a (); .func c () { call a, (); ret; }\n"
                      ".func a () { .reg .u64 l<33>; .reg .u32 x; mov.u32 x, %tid.x;\n");
    for (int i = 0; i < 32; i++)
        buf_printf(&b, "ld.volatile.global.u64 l%d, [mem+%d];\n", i, 8 * i);
    for (int i = 0; i < 32; i++)
        buf_printf(&b, "st.volatile.global.u64 [mem+%d], l%d;\n", 8 * i, i);
    buf_puts(&b, "call c, (); ret; }\n" /* recursion */
                 ".entry f () { call c, (); ret; }\n"
                 ".entry k () .maxnreg 40 { call c, (); ret; }\n"
                 ".entry e () { call stop, (); }\n"
                 ".entry n () { ret; }\n");
    struct case_live c = live_of(b);
    struct ptx_registers a = registers_of(&c, "a"), f = registers_of(&c, "f"),
                         k = registers_of(&c, "k"), e = registers_of(&c, "e"),
                         n = registers_of(&c, "n");
    cr_expect(ge(u32, a.registers, 68));
    cr_expect(eq(u32, f.registers, a.registers));
    cr_expect(lt(u32, f.own, 16));
    cr_expect(eq(u32, k.registers, 40));
    cr_expect(eq(u32, k.limit, 40));
    cr_expect(eq(u32, e.registers, 24)); /* code we do not see */
    cr_expect(lt(u32, n.registers, 8));
    cr_expect(a.known && n.known && !registers_of(&c, "stop").known);
    done(&c);
}

Test(registers, launch_bounds_leave_less)
{
    struct buf b = {0};
    buf_puts(&b, HEAD ".entry f () .maxntid 512, 1, 1 .minnctapersm 4 { ret; }\n"
                      ".entry g () .reqntid 1024 { ret; }\n.entry h () .maxntid 33 { ret; }\n");
    struct case_live c = live_of(b);
    cr_expect(eq(u32, registers_of(&c, "f").limit, 32));
    cr_expect(eq(u32, registers_of(&c, "g").limit, 64));
    cr_expect(eq(u32, registers_of(&c, "h").limit, 255));
    done(&c);
}

Test(registers, what_needs_no_register_costs_none)
{
    /* Sixteen parameters and constants, all live from the start, but constants of arithmetic. */
    struct buf b = {0};
    buf_puts(&b, HEAD ".entry f (.param .u32 n, .param .u64 o) { .reg .u32 r<17>, s; .reg .u64 l;\n"
                      "ld.param.u64 l, [o]; mov.u32 s, %tid.x;\n");
    for (int i = 0; i < 16; i++) buf_printf(&b, "ld.param.u32 r%d, [n];\n", i);
    for (int i = 0; i < 16; i++) buf_printf(&b, "add.u32 s, s, r%d;\n", i);
    buf_puts(&b, "st.global.u32 [l], s; ret; }\n");
    struct case_live c = live_of(b);
    cr_expect(ge(u32, c.live->most.regs, 19));
    cr_expect(le(u32, registers_of(&c, "f").registers, 8));
    done(&c);
}

/* ---- large functions --------------------------------------------------------------------------- */

/* Everything about a function, and how long it takes. */
static struct case_live live_of_large(struct buf b, const char *what)
{
    struct case_live c = {.text = b, .p = parse_text("large", b.data, b.size)};
    cr_assert(c.p->ok, "%s", first_error(c.p));
    struct arena *a = c.p->arena;
    clock_t from = clock();
    c.f = ptx_flow_new(a, ptx_cfg_new(a, ptx_module_find(c.p->module, "f")));
    c.live = ptx_live_new(a, c.f, NULL);
    ptx_registers_estimate(a, c.p->module);
    double seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
    cr_expect(seconds < 20, "%s: %g s", what, seconds);
    return c;
}

Test(live, many_registers_through_many_blocks_are_quick)
{
    enum { REGS = 100000, BLOCKS = 10000 };
    struct buf b = {0};
    buf_printf(&b, HEAD ".entry f () { .reg .pred p; .reg .u32 r<%d>;\n", REGS);
    for (int i = 0; i < REGS; i++) buf_printf(&b, "mov.u32 r%d, %%clock;\n", i);
    for (int i = 0; i < BLOCKS; i++) buf_printf(&b, "L%d: @p bra L%d;\n", i, i / 2);
    for (int i = 0; i < REGS; i++) buf_printf(&b, "st.global.u32 [mem+%d], r%d;\n", 4 * i, i);
    buf_puts(&b, "ret; }\n");
    struct case_live c = live_of_large(b, "wide");
    cr_expect(eq(u32, c.live->most.regs, REGS));
    done(&c);
}

Test(live, a_long_ladder_is_quick)
{
    enum { BLOCKS = 30000 };
    struct buf b = {0};
    buf_printf(&b, HEAD ".entry f () { .reg .pred p; .reg .u32 r<%d>;\n", BLOCKS + 1);
    for (int i = 0; i < BLOCKS; i++)
        buf_printf(&b, "L%d: add.u32 r%d, r%d, r%d; @p bra L%d;\n", i, i + 1, i, i / 2,
                   i + 2 < BLOCKS ? i + 2 : i / 2 * 2);
    buf_printf(&b, "st.global.u32 [mem], r%d; ret; }\n", BLOCKS);
    struct case_live c = live_of_large(b, "ladder");
    done(&c);
}

Test(live, a_long_block_is_quick)
{
    enum { INSTS = 300000 };
    struct buf b = {0};
    buf_puts(&b, HEAD ".entry f () { .reg .u32 r<1000>; .reg .u64 l;\n");
    for (int i = 0; i < INSTS; i++)
        if (i % 3) buf_printf(&b, "add.u32 r%d, r%d, r%d;\n", i % 997, i * 7 % 997, i % 991);
        else buf_printf(&b, "ld.global.u32 r%d, [l];\n", i % 997);
    buf_puts(&b, "st.global.u32 [mem], r1; ret; }\n");
    struct case_live c = live_of_large(b, "block");
    done(&c);
}
