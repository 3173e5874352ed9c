/* Functions -> micro-operations: blocks, rows, guards. The other files of this folder: rules of instruction families;
 * operands.c lowers operands, registers.c assigns rows to registers, flow.c lowers branches and calls. */
#define _GNU_SOURCE /* strdup */
#include "emu/lower/lower.h"

#include "base/arena.h"
#include "emu/device/image.h"
#include "emu/lower/context.h"
#include "ptx/accuracy.h"
#include "ptx/cfg.h"
#include "ptx/flow.h"
#include "ptx/form.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules -------------------------------------------------------------------------------------- */

static const struct lower_rule *rule_of(unsigned form)
{
    static const struct lower_rule *const families[] = {
        lower_int_rules,   lower_float_rules,   lower_half_rules,   lower_cvt_rules,
        lower_video_rules, lower_move_rules,    lower_memory_rules, lower_atomic_rules,
        lower_async_rules, lower_texture_rules, lower_warp_rules,   lower_matrix_rules,
        lower_sync_rules,  lower_control_rules};
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const struct lower_rule *r = families[f]; r->fn; r++)
            if (r->form == form) return r;
    return NULL;
}

/* The rule of each form, NULL if there is none. Found once in a process, by whichever thread lowers first. */
static const struct lower_rule *rules[PTX_FORM_COUNT];
static pthread_once_t rules_found = PTHREAD_ONCE_INIT;

static void find_rules(void)
{
    for (unsigned f = 0; f < PTX_FORM_COUNT; f++) rules[f] = rule_of(f);
}

bool lower_knows(unsigned form)
{
    pthread_once(&rules_found, find_rules);
    return rules[form] != NULL;
}

/* ---- rows --------------------------------------------------------------------------------------- */

unsigned lower_type_bytes(unsigned type)
{
    if (type == PTX_pred) return 4;
    unsigned bits = ptx_types[type].bits;
    return bits <= 16 ? 2 : bits <= 32 ? 4 : bits <= 64 ? 8 : 16;
}

static u32 *top_of(struct lower *L, unsigned bytes)
{
    struct emu_frame *f = &L->code->frame;
    return bytes >= 8 ? &f->r64 : bytes == 4 ? &f->r32 : &f->r16;
}

u32 lower_new_rows(struct lower *L, unsigned bytes, u32 n)
{
    u32 *top = top_of(L, bytes), row = *top;
    u32 size = bytes == 16 ? 2 * lower_row_size(8) : lower_row_size(bytes);
    if (row > UINT32_MAX / 2 - n * size) {
        L->too_large = true;
        return 0;
    }
    *top += n * size;
    return row;
}

u32 lower_temp(struct lower *L, unsigned bytes)
{
    unsigned class = bytes == 16 ? 3 : bytes == 8 ? 2 : bytes == 4 ? 1 : 0;
    struct lower_pool *p = &L->temps[class];
    if (p->used == p->count) {
        p->rows = arena_grow(L->scratch, p->rows, p->count, &p->cap, p->count + 1, sizeof *p->rows);
        p->rows[p->count++] = lower_new_rows(L, bytes, 1);
    }
    return p->rows[p->used++];
}

u32 lower_fill_row(struct lower *L, u8 kind, u64 bits, unsigned bytes, bool is_pred)
{
    struct emu_fill *fills = L->fills.list;
    for (u32 i = L->fills.head[(bits ^ bytes * 7 ^ kind) % LOWER_HASH]; i;
         i = L->fills.next[i - 1]) {
        struct emu_fill *f = &fills[i - 1];
        if (f->kind == kind && f->bits == bits && f->width == bytes && f->is_pred == is_pred)
            return f->row;
    }
    size_t n = L->fills.count;
    L->fills.list = arena_grow(L->arena, L->fills.list, n, &L->fills.cap, n + 1,
                               sizeof *L->fills.list);
    L->fills.next = arena_grow(L->scratch, L->fills.next, n, &L->fills.next_cap, n + 1,
                               sizeof(u32));
    L->fills.list[n] = (struct emu_fill){lower_new_rows(L, bytes, 1), (u8)bytes, kind, is_pred,
                                         bits};
    u32 *head = &L->fills.head[(bits ^ bytes * 7 ^ kind) % LOWER_HASH];
    L->fills.next[n] = *head;
    *head = ++L->fills.count;
    return L->fills.list[n].row;
}

u32 lower_constant(struct lower *L, u64 bits, unsigned bytes)
{
    if (bytes < 8) bits &= ((u64)1 << bytes * 8) - 1;
    if (L->code->is_entry) return lower_fill_row(L, FILL_BITS, bits, bytes, false);
    u32 row = lower_temp(L, bytes);
    struct emu_uop *u = lower_emit(L, UOP_fill, row, 0, 0, 0);
    u->imm = (i64)bits;
    u->x = (u8)bytes;
    return row;
}

u32 lower_data(const struct lower *L)
{
    return L->rule->data;
}

u32 lower_site(struct lower *L, enum emu_site_kind kind, unsigned space)
{
    struct emu_program *p = L->program;
    if (!p->site_count) p->site_count = 1; /* site 0 is nobody's */
    L->driver->sites = arena_grow(L->arena, L->driver->sites, p->site_count, &L->driver->site_cap,
                                  p->site_count + 1, sizeof *L->driver->sites);
    L->driver->sites[p->site_count] = (struct emu_site_of){
        .pc = p->place_count - 1, .kind = (u8)kind, .space = (u8)space};
    return p->site_count++;
}

void lower_site_op(struct lower *L, u32 site, unsigned op)
{
    L->driver->sites[site].op = (u8)op;
}

void *lower_alloc(struct lower *L, size_t bytes)
{
    return arena_alloc(L->arena, bytes);
}

bool lower_refuse(struct lower *L, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    L->refusal = arena_copy(L->arena, text, strlen(text));
    return false;
}

bool lower_result_dead(const struct lower *L, const struct ptx_inst *i)
{
    if (i->count && i->opnds[0].kind == PTX_OPND_SINK) return true;
    for (u32 k = 0; k < L->known.dead_count; k++)
        if (L->known.dead[k] == L->stmt) return true;
    (void)i;
    return false;
}

void lower_is_timed(struct lower *L)
{
    L->program->timed = true;
}

bool lower_is_kernel(const struct lower *L)
{
    return L->code->is_entry;
}

emu_op *lower_handler(const struct lower *L, unsigned id)
{
    return L->ops[id];
}

unsigned lower_watched(const struct lower *L)
{
    return L->watched;
}

u32 lower_carry(struct lower *L)
{
    return L->regs[L->flow->reg_count - 1].row;
}

struct emu_uop *lower_emit(struct lower *L, unsigned id, u32 d, u32 a, u32 b, u32 c)
{
    L->out.uops = arena_grow(L->scratch, L->out.uops, L->out.count, &L->out.cap, L->out.count + 1,
                             sizeof *L->out.uops);
    L->out.at = arena_grow(L->scratch, L->out.at, L->out.count, &L->out.at_cap, L->out.count + 1,
                           sizeof *L->out.at);
    struct lower_at *at = &L->out.at[L->out.count];
    at->stmt = L->stmt;
    for (int k = 0; k < 4; k++) at->temps[k] = (u32)L->temps[k].used;
    struct emu_uop *u = &L->out.uops[L->out.count++];
    *u = (struct emu_uop){
        .run = L->ops[id], .d = d, .a = a, .b = b, .c = c, .id = (u16)id, .pc = L->pc};
    return u;
}

/* ---- the text, block by block --------------------------------------------------------------------- */

static bool has_elements(const struct ptx_opnd *o)
{
    return o->kind == PTX_OPND_BRACKET || o->kind == PTX_OPND_PAIR;
}

/* Whether an operand, or a coordinate or result in it, is a vector register without a component. */
static bool names_vector(const struct ptx_opnd *o)
{
    if (o->kind == PTX_OPND_REG) return o->sym->vec > 1 && !o->sel;
    for (u32 k = 0; has_elements(o) && k < o->count; k++)
        if (names_vector(&o->elem[k])) return true;
    return false;
}

static struct ptx_opnd spelled_operand(struct lower *L, const struct ptx_opnd *from)
{
    struct ptx_opnd o = *from;
    if (!names_vector(from)) return o;
    const bool inside = has_elements(from);
    o.count = inside ? from->count : from->sym->vec;
    o.elem = arena_array(L->scratch, struct ptx_opnd, o.count);
    if (!inside) o.kind = PTX_OPND_VEC;
    for (u32 k = 0; k < o.count; k++) {
        o.elem[k] = inside ? spelled_operand(L, &from->elem[k]) : *from;
        if (!inside) o.elem[k].sel = (u8)(PTX_SEL_X + k);
    }
    return o;
}

/* The instruction with vector registers written as the vectors of their components. */
static const struct ptx_inst *spelled_out(struct lower *L, const struct ptx_inst *i,
                                          struct ptx_inst *plain)
{
    bool any = false;
    for (u32 k = 0; k < i->count; k++) any |= names_vector(&i->opnds[k]);
    if (!any) return i;
    *plain = *i;
    plain->opnds = arena_array(L->scratch, struct ptx_opnd, i->count);
    for (u32 k = 0; k < i->count; k++) plain->opnds[k] = spelled_operand(L, &i->opnds[k]);
    return plain;
}

/* Whether an instruction is one of the whole warp, CTA barriers aside. */
static bool meets_lanes(const struct ptx_inst *i)
{
    if (!ptx_op_has(i->op, "sync") || !(i->op->form->effects & (PTX_LANES | PTX_BARRIER)))
        return false;
    enum ptx_form form = ptx_op_form(i->op);
    return form != PTX_F_bar_sync && form != PTX_F_bar_cta_sync && form != PTX_F_barrier_sync &&
           form != PTX_F_barrier_cta_sync;
}

/* Independent thread scheduling: before such an instruction the lanes that its member mask names come
 * together. The mask is the last operand, or stands for all where there is none. */
static void lower_meeting(struct lower *L, const struct ptx_inst *i)
{
    bool masked = i->op->form->unit == PTX_UNIT_WARP || ptx_op_form(i->op) == PTX_F_bar_warp_sync;
    u32 mask = masked ? lower_source(L, &i->opnds[i->count - 1], PTX_u32)
                      : lower_constant(L, ~0u, 4);
    lower_emit(L, UOP_meet, 0, mask, 0, 0);
}

static void lower_inst(struct lower *L, const struct ptx_inst *i)
{
    for (int c = 0; c < 4; c++) L->temps[c].used = 0;
    if (!i->op) return;
    enum ptx_form form = ptx_op_form(i->op);
    L->rule = rules[form];
    struct ptx_inst plain;
    if (i->op->form->unit != PTX_UNIT_CTRL) i = spelled_out(L, i, &plain);
    L->refusal = NULL;
    L->bad_operand = false;
    if (lower_flow_inst(L, i))
        return; /* branches, calls, exits look after their guards themselves */
    bool waits = i->op->form->unit == PTX_UNIT_SYNC || (L->its && meets_lanes(i));
    size_t guard = SIZE_MAX, skip = waits ? lower_open_skip(L, i) : SIZE_MAX;
    if (i->guard && !waits) {
        struct emu_uop *u = lower_emit(L, UOP_guard, 0, L->regs[i->guard->id].row, 0, 0);
        u->x = i->guard_not;
        u->site = lower_site(L, SITE_GUARD, 0);
        guard = L->out.count - 1;
    }
    bool meets = L->its && meets_lanes(i);
    if (meets) lower_meeting(L, i);
    size_t before = L->out.count;
    bool ok = false;
    if (ptx_forms[form].refused) {
        lower_refuse(L, "'%s' is not executed: %s", i->op->text, ptx_forms[form].refused);
    } else if (!L->rule) {
        lower_refuse(L, "'%.*s' is not executed yet", (int)i->op->text_length, i->op->text);
    } else {
        ok = L->rule->fn(L, i) && !L->bad_operand;
    }
    if (!ok) {
        L->out.count = before;
        if (!L->refusal)
            lower_refuse(L, "'%.*s' is not executed", (int)i->op->text_length, i->op->text);
        struct emu_uop *u = lower_emit(L, UOP_unsupported, 0, 0, 0, 0);
        u->ext = L->refusal;
    }
    if (meets) lower_emit(L, UOP_met, 0, 0, 0, 0);
    if (guard != SIZE_MAX) {
        lower_emit(L, UOP_unguard, 0, 0, 0, 0);
        L->out.uops[guard].imm = (i64)L->out.count;
        lower_fix(L, guard, LOWER_FIX_UOP);
    }
    lower_meet_behind(L, skip);
}

void lower_fix(struct lower *L, size_t uop, unsigned kind)
{
    L->out.fixes = arena_grow(L->scratch, L->out.fixes, L->out.fix_count, &L->out.fix_cap,
                              L->out.fix_count + 1, sizeof *L->out.fixes);
    L->out.fixes[L->out.fix_count++] = (struct lower_fixup){uop, kind};
}

u32 lower_open_block(struct lower *L)
{
    struct emu_program *p = L->program;
    struct emu_uop *u = lower_emit(L, UOP_block, 0, 0, 0, 0);
    u->pc = p->place_count; /* its first instruction */
    u->site = p->block_count;
    u->x = 1; /* cleared below where no lanes meet */
    L->out.head = (u32)(L->out.count - 1);
    L->driver->blocks = arena_grow(L->arena, L->driver->blocks, p->block_count,
                                   &L->driver->block_cap, p->block_count + 1,
                                   sizeof *L->driver->blocks);
    L->driver->blocks[p->block_count++] = (struct emu_block_mix){p->place_count, 0};
    return L->out.head;
}

void lower_close_block(struct lower *L)
{
    struct emu_block_mix *b = &L->driver->blocks[L->program->block_count - 1];
    b->count = L->program->place_count - b->first_pc;
    L->out.uops[L->out.head].imm = b->count;
}

static const char *file_name(const struct lower *L, u32 index)
{
    const struct ptx_module *m = L->image->program->modules[L->code->module];
    for (size_t k = 0; k < m->item_count; k++)
        if (m->items[k].kind == PTX_ITEM_FILE && m->items[k].file->index == index)
            return arena_copy(L->arena, m->items[k].file->name, m->items[k].file->name_length);
    return NULL;
}

/* Calls of a header's functions are named by the kernel's line. */
static void name_source(const struct lower *L, const struct ptx_loc *loc, struct emu_place_of *q)
{
    const struct ptx_loc *outer = loc, *own = loc;
    while (outer->in) outer = outer->in;
    while (own->file != outer->file) own = own->in;
    q->source_line = own->line;
    q->source_file = file_name(L, own->file);
    if (own == loc) return;
    q->from_line = loc->line;
    q->from_file = file_name(L, loc->file);
}

/* The shared variable that the statement at hand accesses, if it is known and static. */
static void name_shared(const struct lower *L, struct emu_place_of *q)
{
    const struct ptx_var *v = L->known.shared_bases[L->stmt];
    const uint64_t size = v ? ptx_var_size(v) : 0;
    if (!size || size > UINT32_MAX || v->linkage == PTX_LINK_EXTERN) return;
    q->shared_at = image_shared_offset(L->layout, L->code->module, v->sym);
    q->shared_size = q->shared_at == UINT32_MAX ? 0 : (u32)size;
    q->shared_name = v->sym->name->text;
    q->shared_name_length = v->sym->name->length;
}

static void add_place(struct lower *L, const struct ptx_inst *i, const struct ptx_loc *loc)
{
    struct emu_program *p = L->program;
    L->driver->places = arena_grow(L->arena, L->driver->places, p->place_count,
                                   &L->driver->place_cap, p->place_count + 1,
                                   sizeof *L->driver->places);
    struct emu_place_of *q = &L->driver->places[p->place_count];
    *q = (struct emu_place_of){
        .at = i->at, .block = p->block_count - 1, .inst = i, .code = L->code};
    if (loc) name_source(L, loc, q);
    q->dead_result = lower_result_dead(L, i);
    name_shared(L, q);
    if (ptx_inst_accuracy(i).kind != PTX_EXACT) {
        if (!L->known.influence) L->known.influence = ptx_flow_influence(L->scratch, L->flow);
        q->influence = L->known.influence[L->stmt];
    }
    L->pc = p->place_count++;
}

static void lower_blocks(struct lower *L)
{
    const struct ptx_cfg *g = L->cfg;
    const struct ptx_loc *loc = NULL;
    L->out.block_uop = arena_array(L->scratch, u32, g->count);
    for (u32 b = 0; b < g->code_count; b++) {
        if (!ptx_cfg_reachable(g, b)) continue;
        L->block = b;
        L->stmt = g->blocks[b].first;
        L->out.block_uop[b] = lower_open_block(L);
        for (u32 s = g->blocks[b].first; s < g->blocks[b].end; s++) {
            const struct ptx_stmt *t = &L->body->stmts[s];
            if (t->kind == PTX_STMT_LOC) loc = t->loc;
            if (t->kind != PTX_STMT_INST) continue;
            L->stmt = s;
            add_place(L, t->inst, loc);
            if (L->watched & LOWER_ISSUES) lower_emit(L, UOP_issue, 0, 0, 0, 0);
            if (L->known.skip[s] || !L->known.needed[s]) continue;
            lower_late_before(L, s);
            lower_inst(L, t->inst);
        }
        lower_late_before(L, g->blocks[b].end);
        lower_close_block(L);
        /* Where control falls into the next block of the text nothing is needed, unless it is not there. */
        const struct ptx_block *k = &g->blocks[b];
        if (k->leave == PTX_LEAVE_RETURN && k->term == PTX_NONE) lower_jump(L, g->exit);
        if (k->term == PTX_NONE && k->succ_count == 1 && g->succs[k->succ] != b + 1)
            lower_jump(L, g->succs[k->succ]);
    }
    L->out.block_uop[g->exit] = (u32)L->out.count;
    lower_emit(L, UOP_leave, 0, 0, 0, 0);
}

/* Block numbers -> pointers. */
static void resolve(struct lower *L)
{
    struct emu_code *c = L->code;
    c->uops = arena_array(L->arena, struct emu_uop, L->out.count);
    memcpy(c->uops, L->out.uops, L->out.count * sizeof *c->uops);
    c->uop_count = (u32)L->out.count;
    c->leave = &c->uops[c->uop_count - 1];
    bool *meets = arena_array(L->scratch, bool, L->out.count);
    for (size_t i = 0; i < L->out.fix_count; i++) {
        struct emu_uop *u = &c->uops[L->out.fixes[i].uop];
        unsigned kind = L->out.fixes[i].kind;
        if (kind & LOWER_FIX_UOP) u->target = &c->uops[u->imm];
        if (kind & LOWER_FIX_TARGET) u->target = &c->uops[L->out.block_uop[u->imm]];
        if (kind & LOWER_FIX_JOIN) {
            u32 j = L->out.block_uop[u->e];
            u->join = &c->uops[j];
            meets[j] = true;
        }
        if (kind & LOWER_FIX_BRX) {
            struct brx_desc *t = (struct brx_desc *)(uintptr_t)u->ext;
            for (u32 k = 0; k < t->count; k++)
                t->targets[k] = &c->uops[L->out.block_uop[(uintptr_t)t->targets[k]]];
            u32 j = L->out.block_uop[u->e];
            u->target = &c->uops[j];
            meets[j] = true;
        }
        if (kind & LOWER_FIX_CALL) {
            struct call_desc *d = (struct call_desc *)(uintptr_t)u->ext;
            d->back = &c->uops[(uintptr_t)d->back];
            meets[(size_t)(d->back - c->uops)] = true;
        }
        if (kind & LOWER_FIX_JOIN_UOP) {
            u->join = &c->uops[u->e];
            meets[u->e] = true;
        }
    }
    for (u32 i = 0; i < c->uop_count; i++)
        if (c->uops[i].id == UOP_block) c->uops[i].x = meets[i];
}

static void lower_func(struct lower_driver *D, struct emu_code *c, struct arena *scratch)
{
    struct lower lower = {.driver = D,
                          .arena = D->arena,
                          .scratch = scratch,
                          .image = D->image,
                          .program = D->program,
                          .layout = D->layout,
                          .code = c,
                          .func = c->func,
                          .body = c->func->body,
                          .ops = D->ops,
                          .watched = D->watched,
                          .its = D->its},
                 *L = &lower;
    L->cfg = ptx_cfg_new(scratch, c->func);
    L->flow = ptx_flow_new(scratch, L->cfg);
    L->known.needed = ptx_flow_needed(scratch, L->flow, true);
    L->known.shared_bases = ptx_flow_shared_bases(scratch, L->flow);
    struct ptx_live *live = ptx_live_new(scratch, L->flow, NULL);
    L->known.dead_count = ptx_live_dead_atoms(scratch, live, &L->known.dead);
    c->reads_undefined = live->in[0].regs || live->in[0].preds;
    L->known.skip = arena_array(scratch, bool, L->body->count + 1);
    L->fills.head = arena_array(scratch, u32, LOWER_HASH);
    L->locals.head = arena_array(scratch, u32, LOWER_HASH);
    lower_find_locals(L);
    lower_find_registers(L);
    lower_find_late(L);
    lower_passes(L);
    lower_blocks(L);
    resolve(L);
    lower_live_rows(L);
    c->fills = L->fills.list;
    c->fill_count = L->fills.count;
    if (L->too_large)
        D->failed = arena_printf(
            D->arena, "'%s' needs too many registers or too much .local memory", c->name);
}

/* The most stack that a chain of calls takes. Recursion, or calls by address: as much as allowed. */
enum { DEEP = 64 };
static void find_depth(struct emu_program *p)
{
    struct emu_frame sum = {0};
    for (u32 i = 0; i < p->code_count; i++) {
        const struct emu_frame *f = &p->codes[i]->frame;
        sum.r16 += f->r16, sum.r32 += f->r32, sum.r64 += f->r64, sum.local += f->local;
    }
    p->deepest = sum; /* enough for any chain without recursion */
    if (!p->recursive) return;
    const struct emu_frame *k = &p->codes[0]->frame;
    p->deepest.r16 = k->r16 + (sum.r16 - k->r16) * DEEP;
    p->deepest.r32 = k->r32 + (sum.r32 - k->r32) * DEEP;
    p->deepest.r64 = k->r64 + (sum.r64 - k->r64) * DEEP;
    u64 local = k->local + (u64)(sum.local - k->local) * DEEP;
    p->deepest.local = (u32)(local < MEM_MAX_LOCAL ? local : MEM_MAX_LOCAL);
}

/* Whether lanes of a warp may wait for each other by it: by what an atomic returns, a strong load, a fence, an mbarrier,
 * a pause, or a barrier that counts lanes. */
static bool may_wait(const struct ptx_inst *i)
{
    const struct ptx_op *op = i->op;
    if (!op) return false;
    const u32 effects = op->form->effects;
    const char *name = op->form->name;
    return (effects & PTX_ATOMIC && strncmp(name, "atom", 4) == 0) ||
           (op->form->unit == PTX_UNIT_MEM && effects & PTX_READS && ptx_op_is_strong(op)) ||
           (effects & PTX_FENCE && !(effects & PTX_BARRIER)) ||
           (effects & PTX_BARRIER && strncmp(name, "barrier", 7) == 0 &&
            !ptx_op_has(op, "aligned")) ||
           strncmp(name, "mbarrier.t", 10) == 0 || strcmp(name, "nanosleep") == 0;
}

/* emu_program.yields: whether they may in any of the functions. */
static bool lanes_may_wait(const struct ptx_reach *reach)
{
    for (size_t k = 0; k < reach->count; k++) {
        const struct ptx_body *b = reach->funcs[k].func->body;
        for (size_t s = 0; b && s < b->count; s++)
            if (b->stmts[s].kind == PTX_STMT_INST && may_wait(b->stmts[s].inst)) return true;
    }
    return false;
}

struct emu_program *lower_program(struct arena *a, struct image *im, struct ptx_reach *reach,
                                  emu_op *const *ops, unsigned watched,
                                  enum emu_divergence divergence, char **why)
{
    pthread_once(&rules_found, find_rules);
    struct emu_program *p = arena_alloc(a, sizeof *p);
    struct lower_driver D = {
        .arena = a, .image = im, .program = p, .ops = ops, .watched = (u8)watched};
    p->yields = divergence == EMU_YIELD && lanes_may_wait(reach);
    D.its = divergence == EMU_ITS || p->yields;
    D.layout = image_shared_new(im, a, reach, why);
    if (!D.layout) return NULL;
    p->shared_static = D.layout->size;
    p->shared_dynamic = D.layout->dynamic;
    p->code_count = (u32)reach->count;
    p->codes = arena_array(a, struct emu_code *, reach->count);
    p->number_count = im->func_count;
    p->by_number = arena_array(a, struct emu_code *, p->number_count);
    for (size_t i = 0; i < reach->count; i++) {
        struct emu_code *c = p->codes[i] = arena_alloc(a, sizeof *c);
        c->func = reach->funcs[i].func;
        c->module = (u32)reach->funcs[i].module;
        c->name = arena_copy(a, c->func->sym->name->text, c->func->sym->name->length);
        c->is_entry = i == 0;
        c->number = image_func_number(im, reach->funcs[i].module, reach->funcs[i].func);
        p->by_number[c->number] = c;
    }
    lower_place_module_locals(&D);
    for (u32 i = 0; i < p->code_count && !D.failed; i++) {
        struct arena *scratch = arena_new();
        lower_func(&D, p->codes[i], scratch);
        arena_free(scratch);
    }
    if (D.failed) {
        *why = strdup(D.failed);
        return NULL;
    }
    lower_link_calls(&D);
    p->places = D.places;
    p->blocks = D.blocks;
    p->sites = D.sites;
    if (!p->site_count) p->site_count = 1;
    for (u32 k = 0; k < p->code_count; k++) /* a last block may be empty */
        for (u32 i = 0; i < p->codes[k]->uop_count; i++)
            if (p->codes[k]->uops[i].pc >= p->place_count)
                p->codes[k]->uops[i].pc = p->place_count ? p->place_count - 1 : 0;
    find_depth(p);
    return p;
}
