#include "model/schedule.h"

#include "model/timing_internal.h"
#include "ptx/isa.h"

#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

enum {
    WINDOW = SCHEDULE_WINDOW,
    /* Cycles until another instruction can use the result. Assumed: only which is longer matters. */
    AFTER_DRAM = 300,
    AFTER_SHARED = 25,
    AFTER_UNIT = 20,
    AFTER_ALU = 5,
};

/* ---- what waits for what ------------------------------------------------------------------------------- */

enum memory {
    MEMORY_GLOBAL,
    MEMORY_SHARED,
    MEMORY_LOCAL,
    MEMORIES
}; /* that have nothing in common */

struct access {
    bool loads, stores;
    bool fixed; /* keeps its place among all accesses */
    bool from[MEMORIES];
};

static struct access access_of(const struct ptx_op *op)
{
    static const char *const strong[] = {"volatile", "relaxed", "acquire", "release", "mmio"};
    struct access a = {false};
    const u32 effects = op ? op->form->effects : PTX_EFFECT;
    a.fixed = effects & (PTX_ATOMIC | PTX_FENCE | PTX_BARRIER | PTX_LANES | PTX_EFFECT | PTX_FLOW);
    if (!op) return a;
    for (size_t i = 0; i < sizeof strong / sizeof *strong; i++)
        a.fixed |= ptx_op_has(op, strong[i]);
    a.fixed |= op->text_length > 3 && memcmp(op->text, "cp.", 3) == 0; /* asynchronous copies */
    if (ptx_op_has(op, "param") || ptx_op_has(op, "const") || ptx_op_has(op, "nc")) return a;
    a.loads = effects & PTX_READS, a.stores = effects & PTX_WRITES;
    const bool shared = ptx_op_has(op, "shared") || ptx_op_has(op, "shared::cta"),
               local = ptx_op_has(op, "local"), global = ptx_op_has(op, "global");
    a.from[MEMORY_GLOBAL] = !shared && !local;
    a.from[MEMORY_SHARED] = !global && !local;
    a.from[MEMORY_LOCAL] = !global && !shared;
    return a;
}

static u32 after(const struct ptx_op *op)
{
    if (!op) return AFTER_ALU;
    if (op->form->effects & (PTX_READS | PTX_ATOMIC)) {
        if (ptx_op_has(op, "param") || ptx_op_has(op, "const")) return AFTER_SHARED;
        return ptx_op_has(op, "shared") || ptx_op_has(op, "shared::cta") ? AFTER_SHARED
                                                                         : AFTER_DRAM;
    }
    switch (op->form->unit) {
    case PTX_UNIT_IDIV:
    case PTX_UNIT_FP64:
    case PTX_UNIT_SFU:
    case PTX_UNIT_CVT:
    case PTX_UNIT_TENSOR:
    case PTX_UNIT_WARP: return AFTER_UNIT;
    default: return AFTER_ALU;
    }
}

static bool conflict(const struct access *a, const struct access *b)
{
    const bool some = b->loads || b->stores || b->fixed;
    if (a->fixed) return some;
    if (b->fixed) return a->loads || a->stores;
    if (!(a->stores && some) && !(a->loads && b->stores)) return false;
    for (int m = 0; m < MEMORIES; m++)
        if (a->from[m] && b->from[m]) return true;
    return false;
}

struct edge { /* `to` issues so many cycles later, at the earliest */
    u32 to, cycles, next;
};

struct node { /* an instruction */
    struct access access;
    u32 first;   /* of its edges, and one; 0: there is none */
    u32 waits;   /* for so many that are not in order yet */
    u32 height;  /* cycles from its issue to the end of the block */
    u32 begins;  /* at the earliest */
    u32 uses[3]; /* nodes of loads, and one */
    bool is_load, used, done;
};

struct list { /* of what is being put in order: a window of a block */
    const struct emu_trace *t;
    const struct trace_inst *inst;
    u32 count;
    struct node node[WINDOW];
    struct edge *edges;
    u32 edge_count, edge_capacity;
    u32 *writer,
        *seen; /* by register: the node that wrote it last, the first that names it; and one */
};

static void wait_for(struct list *l, u32 from, u32 to, u32 cycles)
{
    if (l->edge_count == l->edge_capacity) {
        l->edge_capacity = l->edge_capacity ? 2 * l->edge_capacity : 4 * WINDOW;
        l->edges = realloc(l->edges, l->edge_capacity * sizeof *l->edges);
        if (!l->edges) abort();
    }
    l->edges[l->edge_count++] = (struct edge){to, cycles, l->node[from].first};
    l->node[from].first = l->edge_count;
    l->node[to].waits++;
}

static bool reads(const struct list *l, u32 n, u32 reg)
{
    const struct trace_inst *i = &l->inst[n];
    for (u32 k = 0; k < i->reads; k++)
        if (l->t->regs[i->reg + k] == reg) return true;
    return false;
}

static void wait_for_registers(struct list *l, u32 n)
{
    const struct trace_inst *i = &l->inst[n];
    if (i->reads + i->writes == 0) return; /* a kernel without registers has no list of them */
    const u32 *regs = l->t->regs + i->reg;
    u32 loads = 0;
    for (u32 k = 0; k < i->reads; k++) {
        const u32 from = l->writer[regs[k]];
        if (!l->seen[regs[k]]) l->seen[regs[k]] = n + 1;
        if (!from) continue;
        wait_for(l, from - 1, n, after(l->inst[from - 1].op));
        if (l->node[from - 1].is_load && loads < 3) l->node[n].uses[loads++] = from;
    }
    for (u32 k = i->reads; k < i->reads + i->writes; k++) {
        const u32 from = l->writer[regs[k]], seen = l->seen[regs[k]];
        if (from && from != n + 1) wait_for(l, from - 1, n, 1);
        for (u32 r = from > seen ? from : seen; r && r - 1 < n; r++)
            if (reads(l, r - 1, regs[k])) wait_for(l, r - 1, n, 0);
        if (!seen) l->seen[regs[k]] = n + 1;
        l->writer[regs[k]] = n + 1;
    }
}

static void wait_for_memory(struct list *l, u32 n)
{
    const struct ptx_op *op = l->inst[n].op;
    const bool flow = !op || op->form->effects & PTX_FLOW;
    for (u32 k = n; k--;) {
        if (flow || conflict(&l->node[k].access, &l->node[n].access)) wait_for(l, k, n, 1);
        if (!flow && l->node[k].access.fixed && l->node[n].access.fixed) break;
    }
}

static void take_window(struct list *l, u32 first, u32 count)
{
    l->inst = l->t->insts + first;
    l->count = count;
    l->edge_count = 0;
    for (u32 n = 0; n < count; n++) {
        const struct ptx_op *op = l->inst[n].op;
        l->node[n] = (struct node){.access = access_of(op)};
        l->node[n].is_load = l->node[n].access.loads && l->inst[n].writes;
        wait_for_registers(l, n);
        wait_for_memory(l, n);
    }
    for (u32 n = 0; n < count; n++)
        for (u32 k = 0; k < l->inst[n].reads + l->inst[n].writes; k++) {
            const u32 reg = l->t->regs[l->inst[n].reg + k];
            l->writer[reg] = l->seen[reg] = 0;
        }
    for (u32 n = count; n--;) {
        struct node *x = &l->node[n];
        x->height = after(l->inst[n].op);
        for (u32 e = x->first; e; e = l->edges[e - 1].next) {
            const struct edge *edge = &l->edges[e - 1];
            const u32 height = edge->cycles + l->node[edge->to].height;
            if (height > x->height) x->height = height;
        }
    }
}

/* ---- the order ------------------------------------------------------------------------------------------- */

/* The node to be next at that time, which goes on until there is one. */
static u32 next_of(const struct list *l, u32 *now, u32 loads)
{
    for (;;) {
        u32 best = WINDOW, soonest = UINT32_MAX;
        for (u32 n = 0; n < l->count; n++) {
            const struct node *x = &l->node[n];
            if (x->done || x->waits) continue;
            if (x->is_load && loads >= SCHEDULE_LOADS) continue;
            if (x->begins > *now) soonest = x->begins < soonest ? x->begins : soonest;
            else if (best == WINDOW || x->height > l->node[best].height) best = n;
        }
        if (best < WINDOW) return best;
        if (soonest == UINT32_MAX) loads = 0; /* nothing but loads is left that could be next */
        else *now = soonest;
    }
}

/* order[k]: the instruction of the window, from 0, that is its k-th. */
static void put_in_order(struct list *l, u32 *order)
{
    u32 now = 0, loads = 0;
    for (u32 k = 0; k < l->count; k++, now++) {
        const u32 n = next_of(l, &now, loads);
        struct node *x = &l->node[n];
        x->done = true;
        order[k] = n;
        loads += x->is_load;
        for (u32 i = 0; i < 3 && x->uses[i]; i++) {
            struct node *load = &l->node[x->uses[i] - 1];
            loads -= !load->used;
            load->used = true;
        }
        for (u32 e = x->first; e; e = l->edges[e - 1].next) {
            const struct edge *edge = &l->edges[e - 1];
            struct node *to = &l->node[edge->to];
            to->waits--;
            if (now + edge->cycles > to->begins) to->begins = now + edge->cycles;
        }
    }
}

/* ---- traces ------------------------------------------------------------------------------------------------ */

struct moved {
    u32 *place;   /* by instruction: where it is now */
    u8 *accesses; /* by block: some of its accesses are in another order */
};

static void put_code_in_order(const struct emu_trace *t, struct trace_inst *insts, struct moved *m)
{
    struct list *l = timing_calloc(1, sizeof *l);
    u32 order[WINDOW];
    l->t = t;
    l->writer = timing_calloc(t->reg_count, sizeof(u32));
    l->seen = timing_calloc(t->reg_count, sizeof(u32));
    for (u32 i = 0; i < t->inst_count; i++) m->place[i] = i;
    for (u32 b = 0; b < t->block_count; b++) {
        const struct trace_block *block = &t->blocks[b];
        for (u32 first = 0; first < block->count; first += WINDOW) {
            const u32 at = block->first + first, left = block->count - first;
            u32 last = 0;
            take_window(l, at, left < WINDOW ? left : WINDOW);
            put_in_order(l, order);
            for (u32 k = 0; k < l->count; k++) {
                insts[at + k] = t->insts[at + order[k]];
                m->place[at + order[k]] = at + k;
                if (!insts[at + k].op ||
                    !(insts[at + k].op->form->effects & (PTX_READS | PTX_WRITES | PTX_ATOMIC)))
                    continue;
                m->accesses[b] |= order[k] < last;
                last = order[k];
            }
        }
    }
    free(l->writer);
    free(l->seen);
    free(l->edges);
    free(l);
}

struct place_of { /* where a block's words have the accesses of an instruction */
    u32 at, count;
};

/* The accesses of a block, words[0 .. count), in the order of their instructions. `of`: zeros, as many as the block
 * has instructions. */
static void put_accesses(const struct emu_trace *t, const struct moved *m,
                         const struct trace_block *block, const u32 *words, u32 count,
                         struct place_of *of, u32 *to)
{
    for (u32 at = 0; at < count;) {
        struct place_of *p = &of[m->place[t->site_inst[words[at] >> 2]] - block->first];
        const u32 size = 1 + trace_access_words(words + at);
        if (!p->count) p->at = at;
        p->count += size;
        at += size;
    }
    for (u32 k = 0; k < block->count; k++) {
        if (of[k].count) memcpy(to, words + of[k].at, of[k].count * sizeof *to);
        to += of[k].count;
        of[k].count = 0;
    }
}

/* What a warp with independent lanes did in between may stand among them. */
static bool all_of_block(const struct emu_trace *t, const struct moved *m,
                         const struct trace_block *block, const u32 *words, u32 count)
{
    for (u32 at = 0; at < count; at += 1 + trace_access_words(words + at)) {
        const u32 inst = t->site_inst[words[at] >> 2];
        if (inst >= t->inst_count || m->place[inst] - block->first >= block->count) return false;
    }
    return true;
}

struct reordering {
    const struct emu_trace *t;
    const struct moved *m;
    struct place_of *of; /* for the accesses of a block */
};

static u32 put_warp(void *self, const struct trace_warp *w, u32 *to)
{
    const struct reordering *r = self;
    const struct emu_trace *t = r->t;
    const struct moved *m = r->m;
    if (w->count) memcpy(to, w->words, w->count * sizeof *to);
    for (u32 at = 0; at < w->count;) {
        const u32 word = w->words[at++], begin = at;
        if ((word & 3) != TRACE_BLOCK) {
            at += trace_access_words(w->words + at - 1);
            continue;
        }
        while (at < w->count && (w->words[at] & 3) != TRACE_BLOCK)
            at += 1 + trace_access_words(w->words + at);
        const u32 number = TRACE_BLOCK_OF(word);
        const struct trace_block *block = &t->blocks[number];
        if (m->accesses[number] && all_of_block(t, m, block, w->words + begin, at - begin))
            put_accesses(t, m, block, w->words + begin, at - begin, r->of, to + begin);
    }
    return w->count;
}

void schedule_rewrite(struct emu_trace *trace, void *owned[4],
                      u32 (*put)(void *self, const struct trace_warp *w, u32 *to), void *self)
{
    const struct trace_cta *const *from = trace->ctas;
    u64 words = 0, warps = 0;
    for (u32 k = 0; k < trace->cta_count; k++) {
        warps += from[k]->warp_count;
        for (u32 w = 0; w < from[k]->warp_count; w++) words += from[k]->warps[w].count;
    }
    struct trace_cta *ctas = timing_calloc(trace->cta_count, sizeof *ctas);
    const struct trace_cta **list = timing_calloc(trace->cta_count, sizeof *list);
    struct trace_warp *warp = timing_calloc(warps, sizeof *warp);
    u32 *to = timing_calloc(words, sizeof *to);
    owned[0] = ctas, owned[1] = list, owned[2] = warp, owned[3] = to;
    for (u32 k = 0; k < trace->cta_count; k++) {
        ctas[k] = *from[k];
        ctas[k].warps = warp;
        list[k] = &ctas[k];
        for (u32 w = 0; w < ctas[k].warp_count; w++, warp++) {
            *warp = from[k]->warps[w];
            warp->words = to;
            warp->count = put(self, &from[k]->warps[w], to);
            to += warp->count;
        }
    }
    trace->ctas = list;
}

void schedule_take(const struct emu_trace *t, struct schedule *s)
{
    struct trace_inst *insts = timing_calloc(t->inst_count, sizeof *insts);
    struct moved m = {timing_calloc(t->inst_count, sizeof(u32)), timing_calloc(t->block_count, 1)};
    u32 *site_inst = timing_calloc(t->site_count, sizeof *site_inst), most = 0;
    if (t->inst_count) memcpy(insts, t->insts, t->inst_count * sizeof *insts);
    put_code_in_order(t, insts, &m);
    for (u32 i = 0; i < t->site_count; i++)
        site_inst[i] = t->site_inst[i] < t->inst_count ? m.place[t->site_inst[i]] : t->site_inst[i];
    for (u32 b = 0; b < t->block_count; b++)
        if (t->blocks[b].count > most) most = t->blocks[b].count;
    struct reordering r = {t, &m, timing_calloc(most, sizeof(struct place_of))};
    *s = (struct schedule){.trace = *t, .owned = {[4] = insts, [5] = site_inst}};
    schedule_rewrite(&s->trace, s->owned, put_warp, &r);
    s->trace.insts = insts;
    s->trace.site_inst = site_inst;
    free(r.of);
    free(m.place);
    free(m.accesses);
}

void schedule_free(struct schedule *s)
{
    for (size_t i = 0; i < sizeof s->owned / sizeof *s->owned; i++) free(s->owned[i]);
}
