/* Blocks, dominators, rejoining and loops: hand cases, and random functions against answers found the
 * slow way, by taking nodes away and looking what can still be reached. */
#include "ptx/cfg.h"
#include "base/rng.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n.extern .func stop () .noreturn;\n"

static unsigned pick(uint64_t *state, unsigned n)
{
    return (unsigned)(rng_next(state) % n);
}

struct case_cfg {
    struct buf text;
    struct parsed *p;
    struct ptx_cfg *g;
};

/* The graph of function f; takes the text over. */
static struct case_cfg cfg_of(struct buf text)
{
    struct parsed *p = parse_text("test", text.data, text.size);
    cr_assert(p->ok, "%s", first_error(p));
    return (struct case_cfg){text, p, ptx_cfg_new(p->arena, ptx_module_find(p->module, "f"))};
}

static void done(struct case_cfg *c)
{
    parsed_free(c->p);
    buf_free(&c->text);
}

static struct case_cfg cfg_of_body(const char *body)
{
    struct buf b = {0};
    buf_printf(&b, HEAD ".entry f (.param .u32 n)\n{\n.reg .pred %%p<8>; .reg .u32 %%r<8>;\n%s}\n",
               body);
    return cfg_of(b);
}

static struct case_cfg cfg_of_text(const char *text)
{
    struct buf b = {0};
    buf_printf(&b, HEAD "%s", text);
    return cfg_of(b);
}

/* The block of label `name`. */
static uint32_t at(const struct case_cfg *c, const char *name)
{
    const struct ptx_body *body = c->g->func->body;
    for (uint32_t s = 0; s < body->count; s++)
        if (body->stmts[s].kind == PTX_STMT_LABEL &&
            body->stmts[s].sym->name->length == strlen(name) &&
            memcmp(body->stmts[s].sym->name->text, name, strlen(name)) == 0)
            return ptx_cfg_block_of(c->g, s);
    cr_assert(false, "no label %s", name);
    return 0;
}

/* ---- hand cases -------------------------------------------------------------------------------- */

Test(cfg, empty_body_returns)
{
    struct case_cfg c = cfg_of_body("");
    cr_expect(eq(u32, c.g->code_count, 1));
    cr_expect(eq(u32, c.g->blocks[0].succ_count, 1));
    cr_expect(eq(u32, c.g->blocks[0].ipdom, c.g->exit));
    cr_expect(eq(u32, c.g->blocks[0].leave, PTX_LEAVE_RETURN));
    done(&c);
}

Test(cfg, diamond)
{
    struct case_cfg c = cfg_of_body(
        "@%p1 bra B; A: mov.u32 %r1, 1; bra.uni C; B: mov.u32 %r1, 2; C: ret;");
    const struct ptx_cfg *g = c.g;
    cr_assert(eq(u32, g->code_count, 4)); /* nothing branches to A: it still starts a block here */
    uint32_t b = at(&c, "B"), m = at(&c, "C");
    cr_expect(eq(u32, g->succs[g->blocks[0].succ], b));
    cr_expect(eq(u32, g->succs[g->blocks[0].succ + 1], 1)); /* falling through comes last */
    cr_expect(eq(u32, g->blocks[0].ipdom, m));
    cr_expect(eq(u32, g->blocks[0].rejoin, m));
    cr_expect(eq(u32, g->blocks[m].idom, 0));
    cr_expect(eq(u32, g->blocks[m].pred_count, 2));
    done(&c);
}

Test(cfg, unreferenced_labels_start_no_block)
{
    struct case_cfg c = cfg_of_body(
        "mov.u32 %r1, 1; X: mov.u32 %r2, 1; Y: Z: ret; W: .reg .u32 %q;");
    cr_expect(eq(u32, c.g->code_count, 1));
    cr_expect(eq(u32, c.g->blocks[0].end, (uint32_t)c.g->func->body->count));
    done(&c);
}

Test(cfg, code_behind_a_jump_is_kept_as_unreachable)
{
    struct case_cfg c = cfg_of_body("bra E; mov.u32 %r1, 1; E: ret;");
    cr_assert(eq(u32, c.g->code_count, 3));
    cr_expect(not(ptx_cfg_reachable(c.g, 1)));
    cr_expect(eq(u32, c.g->blocks[1].ipdom, 2));
    cr_expect(eq(u32, c.g->blocks[1].idom, PTX_NONE));
    done(&c);
}

Test(cfg, guarded_ends_fall_through)
{
    struct case_cfg c = cfg_of_body(
        "@%p1 ret; @%p2 exit; @!%p3 trap; @%p4 call stop, (); mov.u32 %r1, 1;");
    const struct ptx_cfg *g = c.g;
    cr_assert(eq(u32, g->code_count, 5));
    static const uint8_t leave[] = {PTX_LEAVE_RETURN, PTX_LEAVE_EXIT, PTX_LEAVE_ABORT,
                                    PTX_LEAVE_ABORT, PTX_LEAVE_RETURN};
    for (uint32_t b = 0; b < 5; b++) {
        cr_expect(eq(u8, g->blocks[b].leave, leave[b]));
        cr_expect(eq(u32, g->succs[g->blocks[b].succ], g->exit));
        cr_expect(eq(u32, g->blocks[b].ipdom, g->exit));
        cr_expect(eq(u32, g->blocks[b].rejoin, b < 4 ? b + 1 : g->exit));
    }
    done(&c);
}

Test(cfg, exits_inside_do_not_hold_up_rejoining)
{
    struct case_cfg c = cfg_of_body("@%p1 bra Y; @%p2 bra X; exit; X: mov.u32 %r1, 1; Y: ret;");
    cr_expect(eq(u32, c.g->blocks[0].ipdom, c.g->exit));
    cr_expect(eq(u32, c.g->blocks[0].rejoin, at(&c, "Y")));
    cr_expect(eq(u32, c.g->blocks[1].rejoin, at(&c, "X")));
    done(&c);
}

Test(cfg, calls_that_return_end_nothing)
{
    struct case_cfg c = cfg_of_text(
        ".func g () { ret; }\n"
        ".func f () { .reg .u64 %d; call g, (); call stop, (); call g, (); ret; }\n");
    cr_assert(eq(u32, c.g->code_count, 2));
    cr_expect(not(ptx_cfg_reachable(c.g, 1)));
    done(&c);
}

Test(cfg, indirect_calls_may_not_return_either)
{
    struct case_cfg c = cfg_of_text(
        ".func f () { .reg .u64 %d; P: .callprototype _ () .noreturn; call %d, (), P; ret; }\n");
    cr_assert(eq(u32, c.g->code_count, 2));
    cr_expect(eq(u8, c.g->blocks[0].leave, PTX_LEAVE_ABORT));
    done(&c);
}

Test(cfg, an_endless_loop_has_post_dominators)
{
    struct case_cfg c = cfg_of_body("L: @%p1 bra B; mov.u32 %r1, 1; B: mov.u32 %r2, 1; bra L;");
    const struct ptx_cfg *g = c.g;
    uint32_t l = at(&c, "L");
    cr_expect(eq(u32, g->blocks[l].ipdom, g->exit));
    cr_expect(eq(u32, g->blocks[l + 1].ipdom, at(&c, "B")));
    cr_expect(eq(u32, g->blocks[at(&c, "B")].ipdom, l));
    cr_expect(g->blocks[0].endless);
    cr_expect(not(ptx_cfg_reachable(g, g->exit)));
    done(&c);
}

Test(cfg, brx_goes_to_each_target_once)
{
    struct case_cfg c = cfg_of_body("T: .branchtargets A, B, A, C; brx.idx %r1, T;\n"
                                    "A: mov.u32 %r2, 1; B: mov.u32 %r2, 2; C: ret;");
    cr_expect(eq(u32, c.g->count, c.g->code_count + 1));
    cr_expect(eq(u32, c.g->blocks[0].succ_count, 3));
    cr_expect(eq(u32, c.g->blocks[0].ipdom, at(&c, "C")));
    done(&c);
}

Test(cfg, a_shared_target_list_is_spread_out)
{
    struct case_cfg c = cfg_of_body("T: .branchtargets A, B;\n"
                                    "@%p1 bra S; brx.idx %r1, T; S: @%p2 brx.idx %r2, T;\n"
                                    "A: mov.u32 %r2, 1; B: ret;");
    const struct ptx_cfg *g = c.g;
    cr_assert(eq(u32, g->count, g->code_count + 1));
    cr_expect(eq(u32, g->blocks[1].succ_count, 2));
    cr_expect(eq(u32, g->blocks[2].succ_count, 2)); /* one of the targets is what follows */
    cr_expect(eq(u32, g->succs[g->blocks[2].succ + 1], at(&c, "A")));
    cr_expect(eq(u32, g->blocks[1].ipdom, at(&c, "B")));
    cr_expect(eq(u32, g->blocks[at(&c, "A")].idom, 0));
    done(&c);
}

Test(cfg, nested_loops)
{
    struct case_cfg c = cfg_of_body(
        "O: mov.u32 %r1, 1; I: @%p3 bra S; mov.u32 %r3, 1; S: @%p1 bra I;\n"
        "J: @%p4 bra J; @%p2 bra O; ret;");
    const struct ptx_cfg *g = c.g;
    cr_assert(eq(u32, g->loop_count, 3));
    uint32_t o = g->blocks[at(&c, "O")].loop, i = g->blocks[at(&c, "I")].loop,
             j = g->blocks[at(&c, "J")].loop;
    cr_expect(eq(u32, g->loops[o].depth, 1));
    cr_expect(eq(u32, g->loops[i].depth, 2));
    cr_expect(eq(u32, g->loops[i].parent, o));
    cr_expect(eq(u32, g->loops[j].parent, o));
    cr_expect(eq(u32, g->loops[i].blocks, 3));
    cr_expect(eq(u32, g->loops[j].blocks, 1));
    cr_expect(eq(u32, g->loops[o].blocks, 6));
    cr_expect(eq(u32, g->irreducible_count, 0));
    done(&c);
}

Test(cfg, a_cycle_with_two_entries_is_irreducible)
{
    struct case_cfg c = cfg_of_body("@%p1 bra B; A: mov.u32 %r1, 1; B: @%p2 bra A; ret;");
    cr_expect(eq(u32, c.g->loop_count, 0));
    cr_expect(eq(u32, c.g->irreducible_count, 1));
    cr_expect(c.g->blocks[at(&c, "A")].irreducible);
    cr_expect(c.g->blocks[at(&c, "B")].irreducible);
    cr_expect(not(c.g->blocks[0].irreducible));
    done(&c);
}

/* ---- random functions -------------------------------------------------------------------------- */

enum { MOST = 14, NODES = MOST + 1 }; /* blocks; and the exit, node n */

struct model { /* what the text says, built beside it */
    unsigned n;
    bool kernel;
    bool edge[NODES][NODES];
    uint8_t leave[NODES];
};

static void write_function(uint64_t *rng, bool hubs, struct model *m, struct buf *b)
{
    *m = (struct model){.n = 1 + pick(rng, MOST), .kernel = pick(rng, 2)};
    unsigned n = m->n, lists = 1 + pick(rng, 2);
    bool list[2][NODES] = {{0}};
    buf_printf(b, HEAD "%s f ()\n{\n.reg .pred %%p; .reg .u32 %%r;\n",
               m->kernel ? ".entry" : ".func");
    buf_puts(b, "all: .branchtargets L0"); /* so that each label starts a block */
    for (unsigned i = 1; i < n; i++) buf_printf(b, ", L%u", i);
    for (unsigned l = 0; l < lists; l++) {
        buf_printf(b, ";\nT%u: .branchtargets ", l);
        unsigned again = pick(rng, n);
        for (unsigned k = 0; hubs && k < PTX_CFG_SHARED / 2 + 1; k++) buf_printf(b, "L%u, ", again);
        if (hubs) list[l][again] = true;
        for (unsigned k = 1 + pick(rng, 4); k > 0; k--) {
            unsigned to = pick(rng, n);
            list[l][to] = true;
            buf_printf(b, "L%u%s", to, k > 1 ? ", " : "");
        }
    }
    buf_puts(b, ";\nbra L0;\n");
    /* Node 0 of the model is L0; the block with `bra L0` stands before it. */
    for (unsigned i = 0; i < n; i++) {
        buf_printf(b, "L%u: add.u32 %%r, %%r, 1; ", i);
        bool guard = pick(rng, 3) > 0, falls = guard;
        const char *g = guard ? (pick(rng, 2) ? "@%p " : "@!%p ") : "";
        unsigned what = pick(rng, 20);
        if (what < 9) {
            unsigned to = pick(rng, 3) ? pick(rng, n)
                          : i + 1 < n  ? i + 1 + pick(rng, n - i - 1)
                                       : i;
            buf_printf(b, "%sbra%s L%u;\n", g, pick(rng, 2) ? ".uni" : "", to);
            m->edge[i][to] = true;
        } else if (what < 12) {
            unsigned l = pick(rng, lists);
            buf_printf(b, "%sbrx.idx %%r, T%u;\n", g, l);
            for (unsigned to = 0; to < n; to++) m->edge[i][to] |= list[l][to];
        } else if (what < 16) {
            unsigned way = pick(rng, 4);
            static const char *const text[] = {"ret", "exit", "trap", "call stop, ()"};
            static const uint8_t leave[] = {PTX_LEAVE_RETURN, PTX_LEAVE_EXIT, PTX_LEAVE_ABORT,
                                            PTX_LEAVE_ABORT};
            buf_printf(b, "%s%s;\n", g, text[way]);
            m->edge[i][n] = true;
            m->leave[i] = leave[way];
        } else {
            buf_puts(b, "\n");
            falls = true;
        }
        if (falls) {
            m->edge[i][i + 1] = true;
            if (i + 1 == n) m->leave[i] |= PTX_LEAVE_RETURN;
        }
    }
    buf_puts(b, "}\n");
}

/* What `from` reaches when `without` is taken away (NODES: nothing). */
static void reach(const bool edge[NODES][NODES], unsigned nodes, unsigned from, unsigned without,
                  bool *seen)
{
    memset(seen, 0, NODES);
    if (from == without) return;
    unsigned stack[NODES], depth = 0;
    stack[depth++] = from;
    seen[from] = true;
    while (depth) {
        unsigned x = stack[--depth];
        for (unsigned y = 0; y < nodes; y++)
            if (edge[x][y] && y != without && !seen[y]) {
                seen[y] = true;
                stack[depth++] = y;
            }
    }
}

/* dom[a][b]: every way from the root to b passes a; b can be reached. */
static void slow_dominators(const bool edge[NODES][NODES], unsigned nodes, unsigned root,
                            bool dom[NODES][NODES])
{
    bool all[NODES], some[NODES];
    memset(dom, 0, sizeof(bool[NODES][NODES]));
    reach(edge, nodes, root, NODES, all);
    for (unsigned a = 0; a < nodes; a++) {
        reach(edge, nodes, root, a, some);
        for (unsigned b = 0; b < nodes; b++) dom[a][b] = all[b] && !some[b];
    }
}

/* The strict dominator of b that all others dominate. */
static unsigned slow_idom(bool dom[NODES][NODES], unsigned nodes, unsigned b)
{
    for (unsigned a = 0; a < nodes; a++) {
        bool nearest = a != b && dom[a][b];
        for (unsigned c = 0; nearest && c < nodes; c++)
            if (c != b && dom[c][b] && !dom[c][a]) nearest = false;
        if (nearest) return a;
    }
    return NODES;
}

static void turn(const bool edge[NODES][NODES], unsigned nodes, bool back[NODES][NODES])
{
    for (unsigned x = 0; x < nodes; x++)
        for (unsigned y = 0; y < nodes; y++) back[y][x] = edge[x][y];
}

/* Model node to block (behind the first, which only jumps), and back. */
static uint32_t block_of(const struct ptx_cfg *g, const struct model *m, unsigned node)
{
    return node == NODES ? PTX_NONE : node == m->n ? g->exit : node + 1;
}

static void check_edges(const struct ptx_cfg *g, const struct model *m, uint64_t seed)
{
    for (unsigned x = 0; x < m->n; x++) {
        const struct ptx_block *b = &g->blocks[x + 1];
        bool have[NODES] = {0};
        for (uint32_t i = 0; i < b->succ_count; i++) {
            uint32_t y = g->succs[b->succ + i];
            const struct ptx_block *hub = &g->blocks[y];
            if (y < g->code_count) have[y - 1] = true;
            else if (y == g->exit) have[m->n] = true;
            else
                for (uint32_t j = 0; j < hub->succ_count; j++)
                    have[g->succs[hub->succ + j] - 1] = true;
        }
        for (unsigned y = 0; y <= m->n; y++)
            cr_expect(have[y] == m->edge[x][y], "seed %llu: edge L%u -> L%u",
                      (unsigned long long)seed, x, y);
        cr_expect(b->leave == m->leave[x], "seed %llu: leave L%u", (unsigned long long)seed, x);
    }
}

static void check_dominators(const struct ptx_cfg *g, const struct model *m, uint64_t seed)
{
    bool dom[NODES][NODES], seen[NODES];
    unsigned nodes = m->n + 1;
    reach(m->edge, nodes, 0, NODES, seen);
    slow_dominators(m->edge, nodes, 0, dom);
    for (unsigned b = 0; b < nodes; b++) {
        uint32_t block = block_of(g, m, b);
        cr_expect(ptx_cfg_reachable(g, block) == seen[b], "seed %llu: L%u reachable",
                  (unsigned long long)seed, b);
        if (!seen[b]) continue;
        uint32_t want = b == 0 ? 0 : block_of(g, m, slow_idom(dom, nodes, b));
        cr_expect(g->blocks[block].idom == want, "seed %llu: idom of L%u is %u, not %u",
                  (unsigned long long)seed, b, want, g->blocks[block].idom);
        for (unsigned a = 0; a < nodes; a++)
            if (seen[a])
                cr_expect(ptx_cfg_dominates(g, block_of(g, m, a), block) == dom[a][b],
                          "seed %llu: L%u dominates L%u", (unsigned long long)seed, a, b);
    }
}

/* The model with the ends of endless parts joined to the exit. */
static void end_endless(const struct model *m, bool edge[NODES][NODES], bool *endless)
{
    bool from[NODES][NODES];
    memcpy(edge, m->edge, sizeof m->edge);
    for (unsigned x = 0; x <= m->n; x++) reach(m->edge, m->n + 1, x, NODES, from[x]);
    for (unsigned x = 0; x <= m->n; x++) {
        endless[x] = x < m->n && !from[x][m->n];
        bool first = endless[x]; /* of a set that control cannot leave */
        for (unsigned y = 0; y < m->n; y++)
            if (from[x][y] && (!from[y][x] || y < x)) first = false;
        if (first) edge[x][m->n] = true;
    }
}

static void check_post_dominators(const struct ptx_cfg *g, const struct model *m, uint64_t seed)
{
    bool edge[NODES][NODES] = {{0}}, back[NODES][NODES], dom[NODES][NODES], endless[NODES];
    bool kept[NODES][NODES] = {{0}}, within[NODES], some[NODES], seen[NODES];
    unsigned nodes = m->n + 1;
    end_endless(m, edge, endless);
    turn(edge, nodes, back);
    slow_dominators(back, nodes, m->n, dom);
    unsigned ipdom[NODES];
    for (unsigned b = 0; b < m->n; b++) {
        ipdom[b] = slow_idom(dom, nodes, b);
        uint32_t want = block_of(g, m, ipdom[b]);
        cr_expect(g->blocks[b + 1].ipdom == want, "seed %llu: ipdom of L%u is %u, not %u",
                  (unsigned long long)seed, b, want, g->blocks[b + 1].ipdom);
        cr_expect(g->blocks[b + 1].endless == endless[b]);
        for (unsigned a = 0; a < nodes; a++)
            cr_expect(ptx_cfg_post_dominates(g, block_of(g, m, a), b + 1) == dom[a][b]);
    }
    /* Rejoining: only what reaches a return (a kernel's last), and only by such ways. */
    reach(m->edge, nodes, 0, NODES, seen);
    memset(within, 0, sizeof within);
    unsigned wanted = PTX_LEAVE_RETURN | (m->kernel ? PTX_LEAVE_EXIT : 0u);
    bool any = false, main_exit[NODES] = {0};
    for (unsigned b = m->n; b-- > 0;) {
        if (!(m->leave[b] & wanted) || !seen[b] || (m->kernel && any)) continue;
        any = main_exit[b] = true;
        reach(back, nodes, b, m->n, some);
        for (unsigned x = 0; x < m->n; x++) within[x] |= some[x];
    }
    within[m->n] = any;
    for (unsigned x = 0; x < nodes; x++)
        for (unsigned y = 0; y < nodes; y++)
            kept[y][x] = m->edge[x][y] && within[x] && within[y] && (y < m->n || main_exit[x]);
    slow_dominators(kept, nodes, m->n, dom);
    for (unsigned b = 0; b < m->n; b++) {
        uint32_t want = block_of(g, m, within[b] ? slow_idom(dom, nodes, b) : ipdom[b]);
        cr_expect(g->blocks[b + 1].rejoin == want, "seed %llu: rejoin of L%u is %u, not %u",
                  (unsigned long long)seed, b, want, g->blocks[b + 1].rejoin);
    }
}

static void check_loops(const struct ptx_cfg *g, const struct model *m, uint64_t seed)
{
    bool dom[NODES][NODES], seen[NODES], body[NODES][NODES] = {{0}}, rest[NODES][NODES];
    bool cyclic[NODES][NODES];
    unsigned n = m->n, depth[NODES] = {0}, loops = 0;
    slow_dominators(m->edge, n + 1, 0, dom);
    reach(m->edge, n + 1, 0, NODES, seen);
    bool back[NODES][NODES];
    turn(m->edge, n + 1, back);
    memcpy(rest, m->edge, sizeof rest);
    for (unsigned h = 0; h < n; h++) {
        bool header = false;
        for (unsigned t = 0; t < n; t++) {
            if (!seen[t] || !m->edge[t][h] || !dom[h][t]) continue;
            header = true;
            rest[t][h] = false;
            body[h][h] = true;
            bool some[NODES];
            reach(back, n + 1, t, h, some);
            for (unsigned x = 0; x < n; x++) body[h][x] |= some[x] && seen[x];
        }
        loops += header;
        for (unsigned x = 0; x < n; x++) depth[x] += body[h][x];
    }
    cr_expect(g->loop_count == loops, "seed %llu: %u loops, not %u", (unsigned long long)seed,
              loops, g->loop_count);
    for (unsigned x = 0; x < n; x++) {
        uint32_t l = g->blocks[x + 1].loop, have = l == PTX_NONE ? 0 : g->loops[l].depth;
        cr_expect(have == depth[x], "seed %llu: depth of L%u", (unsigned long long)seed, x);
    }
    for (uint32_t l = 0; l < g->loop_count; l++) {
        unsigned h = g->loops[l].header - 1, size = 0;
        for (unsigned x = 0; x < n; x++) {
            size += body[h][x];
            cr_expect(ptx_cfg_in_loop(g, l, x + 1) == body[h][x],
                      "seed %llu: L%u in the loop of L%u", (unsigned long long)seed, x, h);
        }
        cr_expect(g->loops[l].blocks == size, "seed %llu: size of the loop of L%u",
                  (unsigned long long)seed, h);
    }
    for (unsigned x = 0; x < n; x++)
        for (unsigned y = 0; y < n; y++)
            if (!seen[x] || !seen[y]) rest[x][y] = false;
    for (unsigned x = 0; x < n; x++) reach(rest, n, x, NODES, cyclic[x]);
    for (unsigned x = 0; x < n; x++) {
        bool want = false;
        for (unsigned y = 0; y < n; y++) want |= x != y && cyclic[x][y] && cyclic[y][x];
        cr_expect(g->blocks[x + 1].irreducible == want, "seed %llu: L%u irreducible",
                  (unsigned long long)seed, x);
    }
}

static uint32_t check_random(uint64_t seed, bool hubs)
{
    uint64_t rng = seed;
    struct buf text = {0};
    struct model m;
    write_function(&rng, hubs, &m, &text);
    struct case_cfg c = cfg_of(text);
    cr_assert(c.g->code_count == m.n + 1, "seed %llu: %u blocks", (unsigned long long)seed,
              c.g->code_count);
    check_edges(c.g, &m, seed);
    check_dominators(c.g, &m, seed);
    check_post_dominators(c.g, &m, seed);
    if (!hubs) check_loops(c.g, &m, seed);
    uint32_t have = c.g->exit - c.g->code_count;
    done(&c);
    return have;
}

Test(cfg, random_functions_agree_with_slow_answers)
{
    for (uint64_t seed = 1; seed <= 4000; seed++) check_random(seed, false);
}

Test(cfg, hubs_change_nothing_about_dominance)
{
    uint32_t hubs = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) hubs += check_random(seed, true);
    cr_expect(hubs > 10);
}

/* ---- large functions --------------------------------------------------------------------------- */

enum { LARGE = 100000 };

/* Builds the graph and reports if that takes long. */
static struct case_cfg cfg_of_large(struct buf text, const char *what)
{
    struct parsed *p = parse_text(what, text.data, text.size);
    cr_assert(p->ok, "%s", first_error(p));
    clock_t from = clock();
    struct case_cfg c = {text, p, ptx_cfg_new(p->arena, ptx_module_find(p->module, "f"))};
    double seconds = (double)(clock() - from) / CLOCKS_PER_SEC;
    cr_expect(seconds < 5, "%s: %g s for %u blocks", what, seconds, c.g->code_count);
    return c;
}

static void begin(struct buf *b)
{
    buf_puts(b, HEAD ".entry f ()\n{\n.reg .pred %p; .reg .u32 %r;\n");
}

Test(cfg, large_ladder_is_quick)
{
    /* Each rung can go down either side, and up again: many levels of dominators, no structure. */
    struct buf b = {0};
    begin(&b);
    for (unsigned i = 0; i < LARGE; i++)
        buf_printf(&b, "L%u: @%%p bra L%u;\n", i, i + 3 < LARGE ? i + 3 : 0);
    buf_puts(&b, "ret;\n}\n");
    struct case_cfg c = cfg_of_large(b, "ladder");
    done(&c);
}

Test(cfg, large_irreducible_graph_is_quick)
{
    struct buf b = {0};
    uint64_t rng = 7;
    begin(&b);
    for (unsigned i = 0; i < LARGE; i++)
        buf_printf(&b, "L%u: @%%p bra L%u;\n", i, pick(&rng, LARGE));
    buf_puts(&b, "ret;\n}\n");
    struct case_cfg c = cfg_of_large(b, "random");
    cr_expect(c.g->irreducible_count > 0);
    done(&c);
}

Test(cfg, deep_loop_nest_is_quick)
{
    struct buf b = {0};
    begin(&b);
    for (unsigned i = 0; i < LARGE / 2; i++) buf_printf(&b, "L%u: add.u32 %%r, %%r, 1;\n", i);
    for (unsigned i = LARGE / 2; i-- > 0;) buf_printf(&b, "@%%p bra L%u;\n", i);
    buf_puts(&b, "ret;\n}\n");
    struct case_cfg c = cfg_of_large(b, "loop nest");
    cr_expect(eq(u32, c.g->loop_count, LARGE / 2));
    cr_expect(eq(u32, c.g->loops[LARGE / 2 - 1].depth, LARGE / 2));
    done(&c);
}

Test(cfg, long_chain_back_and_forth_is_quick)
{
    /* Bad for iterated data flow: a two-way chain entered at its end. */
    struct buf b = {0};
    begin(&b);
    buf_printf(&b, "@%%p bra L%u;\n", LARGE - 1);
    for (unsigned i = 0; i < LARGE; i++) buf_printf(&b, "L%u: @%%p bra L%u;\n", i, i ? i - 1 : 0);
    buf_puts(&b, "ret;\n}\n");
    struct case_cfg c = cfg_of_large(b, "chain");
    done(&c);
}

Test(cfg, many_brx_of_one_large_list_are_quick)
{
    struct buf b = {0};
    begin(&b);
    buf_puts(&b, "T: .branchtargets L0");
    for (unsigned i = 1; i < LARGE; i++) buf_printf(&b, ", L%u", i);
    buf_puts(&b, ";\n");
    for (unsigned i = 0; i < LARGE; i++) buf_printf(&b, "L%u: @%%p brx.idx %%r, T;\n", i);
    buf_puts(&b, "ret;\n}\n");
    struct case_cfg c = cfg_of_large(b, "switches");
    cr_expect(c.g->edge_count < 4 * LARGE);
    done(&c);
}
