/* Flow of control: blocks, branches, guards, calls, exits, on the SIMT stack of a group.
 *
 * `join` is the block where the running path ends: the block where the diverged lanes reconverge. A branch at which
 * lanes diverge pushes two entries: the other path and, below it, all lanes, which resume at the reconvergence point.
 * Lanes that branch directly to the reconvergence point are removed from exec; the entry below contains them. */
#include "emu/sched/control.h"

#include "emu/measure/count.h"
#include "emu/measure/trace_turns.h"
#include "emu/trace.h"

#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

void emu_set_exec(struct emu_group *g, const u32 mask[GROUP])
{
    g->worker->machine->counting->spread_masks(g, mask);
}

u32 emu_waiting_lanes(const struct emu_group *g)
{
    for (u32 w = 0; w < g->warps; w++)
        if (g->alive[w] & ~g->exec[w]) return g->alive[w] & ~g->exec[w];
    return 0;
}

static struct emu_entry *push(struct emu_group *g, u8 kind, const struct emu_uop *pc,
                              const u32 *mask)
{
    if (g->depth == g->stack_cap) emu_stack_reserve(g, g->depth + 1);
    struct emu_entry *e = &g->stack[g->depth++];
    memcpy(e->mask, mask, sizeof e->mask);
    e->kind = kind;
    e->pc = pc;
    e->join = g->join;
    e->code = g->code;
    return e;
}

/* The lanes of `mask` that are still alive; returns whether there are any. */
static bool living(const struct emu_group *g, u32 *mask)
{
    u32 any = 0;
    for (u32 w = 0; w < g->warps; w++) any |= mask[w] &= g->alive[w];
    return any != 0;
}

static void enter_frame(struct emu_group *g, const struct emu_code *code, bool up)
{
    const struct emu_frame *f = up ? &g->code->frame : &code->frame;
    if (up) {
        g->files.top16 += f->r16, g->files.top32 += f->r32, g->files.top64 += f->r64,
            g->files.top_local += f->local;
        struct emu_frame *used = &g->cta->used;
        if (used->r16 < g->files.top16 + code->frame.r16)
            used->r16 = g->files.top16 + code->frame.r16;
        if (used->r32 < g->files.top32 + code->frame.r32)
            used->r32 = g->files.top32 + code->frame.r32;
        if (used->r64 < g->files.top64 + code->frame.r64)
            used->r64 = g->files.top64 + code->frame.r64;
        if (used->local < g->files.top_local + code->frame.local)
            used->local = g->files.top_local + code->frame.local;
    } else {
        g->files.top16 -= f->r16, g->files.top32 -= f->r32, g->files.top64 -= f->r64,
            g->files.top_local -= f->local;
    }
    g->r16 = g->files.bundle16 + g->files.top16;
    g->r32 = g->files.bundle32 + g->files.top32;
    g->r64 = g->files.bundle64 + g->files.top64;
    g->local = g->files.bundle_local + (size_t)g->files.top_local * ROW;
    g->code = code;
}

static const struct emu_uop *return_from(struct emu_group *g);

/* Goes on with the topmost entry that has lanes; NULL: the group is done. */
const struct emu_uop *emu_group_resume(struct emu_group *g)
{
    while (g->depth) {
        struct emu_entry *e = &g->stack[g->depth - 1];
        bool any = living(g, e->mask);
        if (e->kind == ENTRY_CALL && any)
            return return_from(g); /* they wait at the function's end */
        g->depth--;
        g->join = e->join;
        if (e->kind == ENTRY_CALL) enter_frame(g, e->code, false);
        if (!any) continue;
        emu_set_exec(g, e->mask);
        return e->pc;
    }
    static const u32 none[GROUP];
    emu_set_exec(g, none);
    g->state = GROUP_DONE;
    return NULL;
}

static void trace_blocks(const struct emu_group *g, const struct emu_uop *in)
{
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        if (g->worker->turns)
            trace_turns_block(g->worker->turns, g->first + w, (u32)in->imm,
                              emu_lanes_of(g->alive[w]));
        trace_block(g->worker->trace, g->first + w, in->site, (u32)in->imm,
                    32 - emu_lanes_of(g->exec[w]));
    }
}

const struct emu_uop *emu_op_block(struct emu_group *g, const struct emu_uop *in)
{
    if (in->x)
        while (g->join == in) { /* the lanes that came this way wait for the rest */
            struct emu_entry *e = &g->stack[--g->depth];
            g->join = e->join;
            if (!living(g, e->mask)) continue;
            emu_set_exec(g, e->mask);
            if (e->kind == ENTRY_PATH) return e->pc;
        }
    if (g->budget <= 0) {
        g->pc = in;
        g->state = GROUP_READY;
        return NULL;
    }
    i64 n = in->imm * g->warp_count;
    g->budget -= n;
    g->instructions += (u64)n;
    g->worker->thread_instructions += (u64)in->imm * g->lane_count;
    struct emu_block_count *count = g->worker->blocks;
    if (count && in->imm) {
        count[in->site].warps += g->warp_count;
        count[in->site].lanes += g->lane_count;
        if (g->worker->trace) trace_blocks(g, in);
    }
    return in + 1;
}

const struct emu_uop *emu_op_jump(struct emu_group *g, const struct emu_uop *in)
{
    (void)g;
    return in->target;
}

/* Lanes in `taken` go to in->target, the others to the next; both sets have lanes. */
static const struct emu_uop *part(struct emu_group *g, const struct emu_uop *in, const u32 *taken,
                                  const struct emu_uop *target, const struct emu_uop *next,
                                  const struct emu_uop *join)
{
    u32 rest[GROUP] = {0}, other[GROUP];
    for (u32 w = 0; w < g->warps; w++) rest[w] = g->exec[w] & ~taken[w];
    if (g->worker->sites && in->site) {
        struct emu_site *s = &g->worker->sites[in->site];
        for (u32 w = 0; w < g->warps; w++) s->extra += rest[w] && taken[w];
    }
    if (g->join != join) {
        push(g, ENTRY_REJOIN, join, g->exec);
        g->join = join;
    }
    if (target == join) {
        emu_set_exec(g, rest);
        return next;
    }
    memcpy(other, taken, sizeof other);
    if (next != join) push(g, ENTRY_PATH, target, other);
    else {
        emu_set_exec(g, other);
        return target;
    }
    emu_set_exec(g, rest);
    return next;
}

/* Of each warp the lanes that have the predicate in the row. */
static inline void masks_of(const struct emu_group *g, u32 row, u32 mask[GROUP])
{
    g->worker->machine->counting->masks_of((const u32 *)(const void *)(g->r32 + row), g->warps,
                                           mask);
}

static inline const struct emu_uop *branch(struct emu_group *g, const struct emu_uop *in, u32 flip)
{
    u32 taken[GROUP], any = 0, left = 0;
    if (g->worker->sites && in->site) {
        g->worker->sites[in->site].warps += g->warp_count;
        g->worker->sites[in->site].lanes += g->lane_count;
    }
    if (g->full) {
        const u32 *p = (const u32 *)(const void *)(g->r32 + in->a);
        if (!g->worker->machine->counting->words_differ(p, g->warps * LANES, p[0]))
            return p[0] ^ flip ? in->target : in + 1;
    }
    masks_of(g, in->a, taken);
    for (u32 w = 0; w < g->warps; w++) {
        taken[w] = (taken[w] ^ flip) & g->exec[w];
        any |= taken[w];
        left |= g->exec[w] & ~taken[w];
    }
    for (u32 w = g->warps; w < GROUP; w++) taken[w] = 0;
    if (!any) return in + 1;
    if (!left) return in->target;
    if (in->y) { /* those that branch go first */
        u32 rest[GROUP] = {0};
        for (u32 w = 0; w < g->warps; w++) rest[w] = g->exec[w] & ~taken[w];
        return part(g, in, rest, in + 1, in->target, in->join);
    }
    return part(g, in, taken, in->target, in + 1, in->join);
}

const struct emu_uop *emu_op_branch(struct emu_group *g, const struct emu_uop *in)
{
    return branch(g, in, 0);
}
const struct emu_uop *emu_op_branch_if_not(struct emu_group *g, const struct emu_uop *in)
{
    return branch(g, in, ~0u);
}

const struct emu_uop *emu_op_brx(struct emu_group *g, const struct emu_uop *in)
{
    const struct brx_desc *t = in->ext;
    u32 same[GROUP] = {0}, rest = 0, index = 0;
    bool first = true;
    const u32 *p = (const u32 *)(const void *)(g->r32 + in->a);
    for (u32 w = 0; w < g->warps; w++)
        for (u32 l = 0; l < LANES; l++) {
            if (!(g->exec[w] >> l & 1)) continue;
            u32 i = p[w * LANES + l];
            if (i >= t->count)
                return emu_raise(g, in, EMU_BAD_CALL, w, l, i, 0, "brx.idx: index %u of %u targets",
                                 i, t->count);
            if (first) index = i;
            first = false;
            if (i == index) same[w] |= 1u << l;
            else rest = 1;
        }
    if (!rest) return t->targets[index];
    /* The first lane's target now; the others come back to this instruction. */
    const struct emu_uop *join = (const struct emu_uop *)in->target;
    u32 others[GROUP] = {0};
    for (u32 w = 0; w < g->warps; w++) others[w] = g->exec[w] & ~same[w];
    if (g->join != join) {
        push(g, ENTRY_REJOIN, join, g->exec);
        g->join = join;
    }
    push(g, ENTRY_PATH, in, others);
    emu_set_exec(g, same);
    return t->targets[index];
}

const struct emu_uop *emu_op_guard(struct emu_group *g, const struct emu_uop *in)
{
    u32 on[GROUP] = {0}, any = 0, flip = in->x ? ~0u : 0;
    masks_of(g, in->a, on);
    for (u32 w = 0; w < g->warps; w++) any |= on[w] = (on[w] ^ flip) & g->exec[w];
    if (g->worker->sites && in->site) {
        struct emu_site *s = &g->worker->sites[in->site];
        for (u32 w = 0; w < g->warps; w++) {
            s->warps += on[w] != 0;
            s->lanes += emu_lanes_of(on[w]);
        }
    }
    if (!any) return in->target;
    memcpy(g->guard_saved, g->exec, sizeof g->guard_saved);
    emu_set_exec(g, on);
    return in + 1;
}

const struct emu_uop *emu_op_unguard(struct emu_group *g, const struct emu_uop *in)
{
    emu_set_exec(g, g->guard_saved);
    return in + 1;
}

static void end_lanes(struct emu_group *g, const u32 *go)
{
    for (u32 w = 0; w < g->warps; w++) {
        g->cta->living -= emu_lanes_of(go[w]);
        g->alive[w] &= ~go[w];
        if (!g->shares_warp) g->exist[w] = g->alive[w]; /* don't-cares from now on */
    }
}

/* Whether nothing but the end of the kernel stands there. */
static bool is_end(const struct emu_entry *e)
{
    const struct emu_uop *in = e->pc;
    if (!e->code->is_entry || e->kind == ENTRY_CALL) return false;
    if (in->id == UOP_block) in++;
    if (in->id == UOP_issue) in++;
    return (in->id == UOP_exit && !in->x) || in->id == UOP_leave;
}

void emu_end_idle(struct emu_group *g)
{
    u32 ahead[GROUP], idle[GROUP] = {0}, any = 0;
    memcpy(ahead, g->exec, sizeof ahead);
    for (u32 i = g->depth; i--;) {
        const struct emu_entry *e = &g->stack[i];
        const bool ends = is_end(e);
        for (u32 w = 0; w < g->warps; w++) {
            if (ends) any |= idle[w] |= e->mask[w] & g->alive[w] & ~ahead[w];
            ahead[w] |= e->mask[w];
        }
    }
    if (!any) return;
    end_lanes(g, idle);
    memcpy(ahead, g->exec, sizeof ahead);
    emu_set_exec(g, ahead);
}

/* The lanes that run end; the group goes on with what is left, NULL: nothing. */
static const struct emu_uop *exit_lanes(struct emu_group *g)
{
    end_lanes(g, g->exec);
    return emu_group_resume(g);
}

/* x: under predicate a (1: as it is, 2: negated), lanes that are off go on. */
const struct emu_uop *emu_op_exit(struct emu_group *g, const struct emu_uop *in)
{
    if (!in->x) return exit_lanes(g);
    u32 go[GROUP] = {0}, stay[GROUP] = {0}, any = 0, left = 0, flip = in->x == 2 ? ~0u : 0;
    masks_of(g, in->a, go);
    for (u32 w = 0; w < g->warps; w++) {
        any |= go[w] = (go[w] ^ flip) & g->exec[w];
        left |= stay[w] = g->exec[w] & ~go[w];
    }
    if (!any) return in + 1;
    if (!left) return exit_lanes(g);
    end_lanes(g, go);
    emu_set_exec(g, stay);
    return in + 1;
}

/* ---- calls ------------------------------------------------------------------------------------ */

static void copy_row(struct emu_group *g, u8 *to, const u8 *from, u32 bytes)
{
    for (u32 w = 0; w < g->warps; w++, to += LANES * bytes, from += LANES * bytes) {
        if (g->exec[w] == ~0u) memcpy(to, from, LANES * bytes);
        else
            for (u32 m = g->exec[w]; m; m &= m - 1) {
                const u32 l = (u32)__builtin_ctz(m);
                memcpy(to + l * bytes, from + l * bytes, bytes);
            }
    }
}

/* One value from where the caller has it to where the callee wants it, or back. The frame pointers
 * given are those of the two functions. */
struct frame_at {
    u8 *r16, *r32, *r64, *local;
};
static struct frame_at frame_of(const struct emu_group *g)
{
    return (struct frame_at){g->r16, g->r32, g->r64, g->local};
}
static u8 *pass_row(const struct frame_at *f, const struct pass *p)
{
    return (p->row_bytes >= 8 ? f->r64 : p->row_bytes == 4 ? f->r32 : f->r16) + p->row;
}
static void hand_over(struct emu_group *g, const struct frame_at *to, const struct pass *t,
                      const struct frame_at *from, const struct pass *f)
{
    if (t->in_reg && f->in_reg) {
        u32 n = t->row_bytes == 16 ? 2 : t->count, bytes = t->row_bytes == 16 ? 8 : t->row_bytes;
        if (f->row_bytes != t->row_bytes || f->count != t->count) return;
        for (u32 i = 0; i < n; i++)
            copy_row(g, pass_row(to, t) + i * ROW * bytes, pass_row(from, f) + i * ROW * bytes,
                     bytes);
    } else if (!t->in_reg && !f->in_reg) {
        u32 size = t->size < f->size ? t->size : f->size;
        for (u32 i = 0; i < (size + 3) / 4; i++)
            copy_row(g, to->local + (size_t)(t->local / 4 + i) * ROW * 4,
                     from->local + (size_t)(f->local / 4 + i) * ROW * 4, 4);
    } else { /* a register on one side: its bytes, word by word */
        const struct pass *reg = t->in_reg ? t : f, *mem = t->in_reg ? f : t;
        u8 *row = pass_row(t->in_reg ? to : from, reg);
        u8 *local = (t->in_reg ? from : to)->local;
        u32 bytes = reg->row_bytes == 16 ? 8 : reg->row_bytes;
        u32 size = mem->size < reg->row_bytes ? mem->size : reg->row_bytes;
        if (size == 4 && bytes == 4 && mem->local % 4 == 0) { /* they lie alike */
            local += (size_t)mem->local * ROW;
            copy_row(g, t->in_reg ? row : local, t->in_reg ? local : row, 4);
            return;
        }
        for (u32 w = 0; w < g->warps; w++)
            for (u32 l = 0; l < LANES; l++) {
                if (!(g->exec[w] >> l & 1)) continue;
                u32 e = w * LANES + l;
                for (u32 i = 0; i < size; i++) {
                    u8 *r = row + (i / bytes) * ROW * 8 + e * bytes + i % bytes;
                    u8 *m = local + ((size_t)((mem->local + i) / 4) * ROW + e) * 4 +
                            (mem->local + i) % 4;
                    if (t->in_reg) *r = *m;
                    else *m = *r;
                }
            }
    }
}

static const struct emu_uop *enter(struct emu_group *g, const struct emu_uop *in,
                                   const struct call_desc *c, const struct emu_code *callee)
{
    const struct emu_frame *deepest = &g->worker->machine->program->deepest, *own = &g->code->frame,
                           *f = &callee->frame;
    if (g->files.top16 + own->r16 + f->r16 > deepest->r16 ||
        g->files.top32 + own->r32 + f->r32 > deepest->r32 ||
        g->files.top64 + own->r64 + f->r64 > deepest->r64 ||
        g->files.top_local + own->local + f->local > deepest->local) {
        u32 w = 0;
        while (!g->exec[w]) w++;
        return emu_raise(g, in, EMU_STACK_OVERFLOW, w, (u32)__builtin_ctz(g->exec[w]), 0, 0,
                         "call of '%s': the stack is full", callee->name);
    }
    struct frame_at caller = frame_of(g);
    push(g, ENTRY_CALL, in, g->exec);
    enter_frame(g, callee, true);
    struct frame_at inside = frame_of(g);
    const struct code_passes *p = callee->passes;
    for (u32 i = 0; i < c->arg_count && i < p->param_count; i++)
        hand_over(g, &inside, &p->params[i], &caller, &c->args[i]);
    if (callee->stack_word) emu_stack_enter(g);
    g->join = callee->leave;
    return callee->uops;
}

const struct emu_uop *emu_op_call(struct emu_group *g, const struct emu_uop *in)
{
    const struct call_desc *c = in->ext;
    return enter(g, in, c, c->callee);
}

const struct emu_uop *emu_op_call_indirect(struct emu_group *g, const struct emu_uop *in)
{
    const struct call_desc *c = in->ext;
    const struct emu_program *program = g->worker->machine->program;
    u32 same[GROUP] = {0}, others[GROUP] = {0}, rest = 0, fw = 0, fl = 0;
    u64 target = 0;
    bool first = true;
    for (u32 w = 0; w < g->warps; w++) {
        const u32 on = g->exec[w];
        if (!on) continue;
        if (first) {
            fw = w, fl = (u32)__builtin_ctz(on);
            target = emu_get(g, in->x, in->a, w, fl);
            first = false;
        }
        u32 alike = 0;
        for (u32 l = 0; l < LANES; l++)
            alike |= (u32)(emu_get(g, in->x, in->a, w, l) == target) << l;
        same[w] = alike & on;
        rest |= others[w] = on & ~alike;
    }
    u64 number = (target - MEM_CODE) / 16;
    if (target < MEM_CODE || target % 16 || number >= program->number_count ||
        !program->by_number[number] || program->by_number[number]->is_entry)
        return emu_raise(g, in, EMU_BAD_CALL, fw, fl, target, 0,
                         "indirect call of 0x%llx: no function", (unsigned long long)target);
    const struct emu_code *callee = program->by_number[number];
    const struct code_passes *p = callee->passes;
    if (p->param_count != c->arg_count || p->result_count != c->result_count)
        return emu_raise(g, in, EMU_BAD_CALL, fw, fl, target, 0,
                         "indirect call of '%s' with other parameters than it has", callee->name);
    if (rest) {
        if (g->join != c->back) {
            push(g, ENTRY_REJOIN, c->back, g->exec);
            g->join = c->back;
        }
        push(g, ENTRY_PATH, in, others);
        emu_set_exec(g, same);
    }
    return enter(g, in, c, callee);
}

/* The lanes of the call that is topmost on the stack, as far as they live, get the results, and go on. */
static const struct emu_uop *return_from(struct emu_group *g)
{
    struct emu_entry *e = &g->stack[--g->depth];
    const struct code_passes *p = g->code->passes;
    const struct call_desc *c = e->pc->ext;
    struct frame_at inside = frame_of(g);
    g->join = e->join;
    living(g, e->mask);
    if (g->code->stack_word) emu_stack_leave(g, e->mask);
    enter_frame(g, e->code, false);
    struct frame_at caller = frame_of(g);
    emu_set_exec(g, e->mask);
    for (u32 i = 0; i < c->result_count && i < p->result_count; i++)
        hand_over(g, &caller, &c->results[i], &inside, &p->results[i]);
    return c->back;
}

/* The end of a function: lanes that parted inside meet, and the caller goes on. */
const struct emu_uop *emu_op_leave(struct emu_group *g, const struct emu_uop *in)
{
    (void)in;
    if (g->code->is_entry) return exit_lanes(g);
    for (struct emu_entry *e; (e = &g->stack[g->depth - 1])->kind != ENTRY_CALL;) {
        g->depth--;
        g->join = e->join;
        if (!living(g, e->mask)) continue;
        emu_set_exec(g, e->mask);
        if (e->kind == ENTRY_PATH) return e->pc;
    }
    return return_from(g);
}

const struct emu_uop *emu_op_trap(struct emu_group *g, const struct emu_uop *in)
{
    u32 w = 0;
    while (!g->exec[w]) w++;
    return emu_raise(g, in, EMU_TRAP, w, (u32)__builtin_ctz(g->exec[w]), 0, 0, "%s",
                     in->x ? "brkpt" : "trap");
}

const struct emu_uop *emu_op_unsupported(struct emu_group *g, const struct emu_uop *in)
{
    u32 w = 0;
    while (!g->exec[w]) w++;
    return emu_raise(g, in, EMU_UNSUPPORTED, w, (u32)__builtin_ctz(g->exec[w]), 0, 0, "%s",
                     (const char *)in->ext);
}

/* ---- special registers that change ---------------------------------------------------------------- */

const struct emu_uop *emu_op_special(struct emu_group *g, const struct emu_uop *in)
{
    if (in->imm >= SPECIAL_CLOCK) {
        const u64 clock = g->worker->clocks_stand ? g->clock_at : emu_clock(g);
        const bool high = in->imm == SPECIAL_CLOCK_HI || in->imm == SPECIAL_TIMER_HI;
        g->worker->machine->counting->fill_row(g, in->x, in->d, high ? clock >> 32 : clock);
        return in + 1;
    }
    for (u32 w = 0; w < g->warps; w++)
        for (u32 m = g->exec[w]; m; m &= m - 1) {
            const u32 l = (u32)__builtin_ctz(m);
            emu_put(g, in->x, in->d, w, l, emu_special_value(g, w, l, (u32)in->imm));
        }
    return in + 1;
}
