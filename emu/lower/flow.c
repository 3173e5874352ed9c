/* Branches, calls and exits, which depend on basic blocks; also barriers, which do not. */
#include "emu/lower/context.h"

#include "base/arena.h"
#include "emu/atomic.h"
#include "emu/device/image.h"
#include "ptx/cfg.h"
#include "ptx/flow.h"
#include "ptx/form.h"
#include "ptx/link.h"

#include <string.h>

void lower_jump(struct lower *L, u32 block)
{
    struct emu_uop *u = lower_emit(L, UOP_jump, 0, 0, 0, 0);
    u->imm = block;
    lower_fix(L, L->out.count - 1, LOWER_FIX_TARGET);
}

/* The block where lanes meet again that part at the end of this one. */
static u32 join_of(const struct lower *L)
{
    u32 b = L->cfg->blocks[L->block].rejoin;
    if (b == PTX_NONE || b >= L->cfg->code_count || !ptx_cfg_reachable(L->cfg, b))
        return L->cfg->exit;
    return b;
}

static u32 target_of(const struct lower *L, const struct ptx_opnd *o)
{
    return ptx_cfg_block_of(L->cfg, o->sym->id);
}

/* Whether nothing but the end of the kernel stands there. */
static bool is_end(const struct lower *L, u32 block)
{
    if (block >= L->cfg->code_count) return true;
    const struct ptx_block *b = &L->cfg->blocks[block];
    const struct ptx_stmt *stmts = L->cfg->func->body->stmts;
    for (u32 s = b->first; s < b->end; s++)
        if (stmts[s].kind == PTX_STMT_INST && s != b->term) return false;
    return b->leave & (PTX_LEAVE_RETURN | PTX_LEAVE_EXIT);
}

struct way {               /* from a block to another one */
    bool arrives, barrier; /* it does come there; on its way is a barrier of the CTA */
};

/* Not seen behind many blocks. */
static struct way way_to(const struct lower *L, u32 from, u32 to)
{
    enum { MOST = 64 };
    const struct ptx_cfg *g = L->cfg;
    struct way way = {0};
    u32 seen[MOST] = {from}, count = 1;
    for (u32 at = 0; at < count; at++) {
        way.arrives |= seen[at] == to;
        if (seen[at] == to || seen[at] == g->exit) continue;
        const struct ptx_block *b = &g->blocks[seen[at]];
        for (u32 s = b->first; s < b->end; s++) {
            const struct ptx_stmt *stmt = &g->func->body->stmts[s];
            way.barrier |= stmt->kind == PTX_STMT_INST && stmt->inst->op &&
                           stmt->inst->op->form->effects & PTX_BARRIER;
        }
        for (u32 k = 0; k < b->succ_count; k++) {
            const u32 next = g->succs[b->succ + k];
            u32 i = 0;
            while (i < count && seen[i] != next) i++;
            if (i == count && count == MOST) return (struct way){true, false};
            if (i == count) seen[count++] = next;
        }
    }
    return way;
}

/* Whether lanes that branch should go first: to the end of the kernel, while the others come to a barrier, which does not
 * wait for threads that have ended ("if (...) { ...; return; } __syncthreads();"). *join: where all meet again; it is the
 * end, too, if only those that branch come to it. */
static bool branches_first(const struct lower *L, u32 target, u32 *join)
{
    if (!L->cfg->func->is_entry || (*join != target && !is_end(L, *join))) return false;
    const struct way others = way_to(L, L->block + 1, *join);
    const bool ends = is_end(L, *join);
    if (!others.barrier || (!ends && others.arrives)) return false;
    if (way_to(L, target, ends ? *join : L->cfg->exit).barrier) return false;
    if (!ends) *join = L->cfg->exit;
    return true;
}

static void branch_to(struct lower *L, const struct ptx_inst *i, u32 block)
{
    if (!i->guard) {
        lower_jump(L, block);
        return;
    }
    u32 site = lower_site(L, SITE_BRANCH, 0);
    struct emu_uop *u = lower_emit(L, i->guard_not ? UOP_branch_if_not : UOP_branch, 0,
                                   L->regs[i->guard->id].row, 0, 0);
    u->imm = block;
    u->e = join_of(L);
    u->y = branches_first(L, block, &u->e);
    u->site = site;
    lower_fix(L, L->out.count - 1, LOWER_FIX_TARGET | LOWER_FIX_JOIN);
}

size_t lower_open_skip(struct lower *L, const struct ptx_inst *i)
{
    if (!i->guard) return SIZE_MAX;
    u32 site = lower_site(L, SITE_OTHER, 0);
    struct emu_uop *u = lower_emit(L, i->guard_not ? UOP_branch : UOP_branch_if_not, 0,
                                   L->regs[i->guard->id].row, 0, 0);
    u->site = site;
    return L->out.count - 1;
}

/* A block that counts nothing: where lanes meet that parted at a skip or in a call by address. */
static u32 meeting(struct lower *L)
{
    struct emu_uop *u = lower_emit(L, UOP_block, 0, 0, 0, 0);
    u->site = L->program->block_count - 1;
    u->y = 1;
    return (u32)(L->out.count - 1);
}

static void close_skip(struct lower *L, size_t skip, u32 at)
{
    if (skip == SIZE_MAX) return;
    L->out.uops[skip].imm = at;
    L->out.uops[skip].e = at;
    lower_fix(L, skip, LOWER_FIX_UOP | LOWER_FIX_JOIN_UOP);
}

/* What is skipped leads elsewhere: lanes that are off go on behind it, and all meet where the block's do. */
static void pass_over(struct lower *L, size_t skip)
{
    if (skip == SIZE_MAX) return;
    L->out.uops[skip].imm = (i64)L->out.count;
    L->out.uops[skip].e = join_of(L);
    lower_fix(L, skip, LOWER_FIX_UOP | LOWER_FIX_JOIN);
}

void lower_meet_behind(struct lower *L, size_t skip)
{
    if (skip != SIZE_MAX) close_skip(L, skip, meeting(L));
}

static void lower_brx(struct lower *L, const struct ptx_inst *i)
{
    size_t skip = lower_open_skip(L, i);
    const struct ptx_targets *t = i->opnds[1].sym->targets;
    struct brx_desc *d = lower_alloc(L, sizeof *d);
    d->count = t->count;
    d->targets = lower_alloc(L, t->count * sizeof *d->targets);
    for (u32 k = 0; k < t->count; k++)
        d->targets[k] = (const struct emu_uop *)(uintptr_t)target_of(L, &t->labels[k]);
    u32 index = lower_source(L, &i->opnds[0], PTX_u32);
    struct emu_uop *u = lower_emit(L, UOP_brx, 0, index, 0, 0);
    u->ext = d;
    u->e = join_of(L);
    lower_fix(L, L->out.count - 1, LOWER_FIX_BRX);
    pass_over(L, skip);
}

/* ---- calls -------------------------------------------------------------------------------------- */

static struct pass pass_of_local(struct lower *L, const struct ptx_var *v)
{
    return (struct pass){.local = lower_local_offset(L, v->sym), .size = (u32)ptx_var_size(v)};
}

static struct pass pass_of_reg(struct lower *L, const struct ptx_sym *s)
{
    return (struct pass){.in_reg = true,
                         .row_bytes = L->regs[s->id].bytes,
                         .count = s->vec,
                         .row = L->regs[s->id].row};
}

static struct pass *passes_of(struct lower *L, struct ptx_var **vars, u32 count)
{
    struct pass *list = lower_alloc(L, count * sizeof *list);
    for (u32 k = 0; k < count; k++) {
        if (vars[k]->in_reg) {
            for (size_t r = 0; r < L->body->reg_count; r++)
                if (L->body->regs[r]->name == vars[k]->sym->name &&
                    L->body->regs[r]->at == vars[k]->sym->at)
                    list[k] = pass_of_reg(L, L->body->regs[r]);
        } else list[k] = pass_of_local(L, vars[k]);
    }
    return list;
}

void lower_passes(struct lower *L)
{
    if (L->code->is_entry) return;
    const struct ptx_proto *p = &L->func->proto;
    struct code_passes *c = lower_alloc(L, sizeof *c);
    c->params = passes_of(L, p->params, p->param_count);
    c->param_count = p->param_count;
    c->results = passes_of(L, p->rets, p->ret_count);
    c->result_count = p->ret_count;
    L->code->passes = c;
}

/* What stands in the parentheses of a call: registers, constants, or .param variables. */
static struct pass pass_of_opnd(struct lower *L, const struct ptx_opnd *o, const struct ptx_var *v)
{
    if (o->kind == PTX_OPND_REG) return pass_of_reg(L, o->sym);
    if (o->kind == PTX_OPND_SYM && o->sym->kind == PTX_SYM_VAR &&
        o->sym->space == PTX_SPACE_PARAM &&
        !(L->code->is_entry && o->sym->var->role == PTX_PARAM_KERNEL))
        return pass_of_local(L, o->sym->var);
    unsigned type = v->sym->type;
    return (struct pass){.in_reg = true,
                         .row_bytes = (u8)lower_type_bytes(type),
                         .count = 1,
                         .row = lower_source(L, o, type)};
}

/* A result that nobody wants. */
static struct pass pass_of_sink(struct lower *L, const struct ptx_var *v)
{
    const unsigned bytes = lower_type_bytes(v->sym->type);
    return (struct pass){.in_reg = true,
                         .row_bytes = (u8)bytes,
                         .count = v->sym->vec,
                         .row = v->sym->vec > 1 ? lower_new_rows(L, bytes, v->sym->vec)
                                                : lower_temp(L, bytes)};
}

static enum runtime_call runtime_of(const struct ptx_name *n)
{
    static const struct {
        const char *name;
        enum runtime_call call;
    } known[] = {
        {"vprintf", RUNTIME_VPRINTF},
        {"malloc", RUNTIME_MALLOC},
        {"free", RUNTIME_FREE},
        {"__assertfail", RUNTIME_ASSERTFAIL},
        /* Of CUDA 11 and earlier alone; CUDA 11.6 and later call the second to avoid a warning. */
        {"cudaDeviceSynchronize", RUNTIME_SYNCHRONISE},
        {"__cudaDeviceSynchronizeDeprecationAvoidance", RUNTIME_SYNCHRONISE},
        {PTX_FILE_CALLS "open", RUNTIME_FILE_OPEN},
        {PTX_FILE_CALLS "read", RUNTIME_FILE_READ},
        {PTX_FILE_CALLS "write", RUNTIME_FILE_WRITE},
        {PTX_FILE_CALLS "pread", RUNTIME_FILE_PREAD},
        {PTX_FILE_CALLS "pwrite", RUNTIME_FILE_PWRITE},
        {PTX_FILE_CALLS "lseek", RUNTIME_FILE_SEEK},
        {PTX_FILE_CALLS "size", RUNTIME_FILE_SIZE},
        {PTX_FILE_CALLS "close", RUNTIME_FILE_CLOSE},
        {PTX_FILE_CALLS "unlink", RUNTIME_FILE_UNLINK}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strlen(known[k].name) == n->length && memcmp(known[k].name, n->text, n->length) == 0)
            return known[k].call;
    /* The device runtime's: "__cudaCDP2NAME" as nvcc 12 and later say, "cudaNAME" before; behind some of
     * them "_ptsz", which means another default stream, and here the same. */
    static const struct {
        const char *name;
        enum runtime_call call;
    } grids[] = {{"GetParameterBuffer", RUNTIME_PARAMETERS},
                 {"GetParameterBufferV2", RUNTIME_PARAMETERS_2},
                 {"LaunchDevice", RUNTIME_LAUNCH},
                 {"LaunchDeviceV2", RUNTIME_LAUNCH_2},
                 {"GetLastError", RUNTIME_LAST_ERROR},
                 {"PeekAtLastError", RUNTIME_PEEK_ERROR},
                 {"StreamCreateWithFlags", RUNTIME_STREAM_CREATE},
                 {"StreamDestroy", RUNTIME_STREAM_DESTROY},
                 {"StreamWaitEvent", RUNTIME_STREAM_WAIT},
                 {"EventCreateWithFlags", RUNTIME_EVENT_CREATE},
                 {"EventRecord", RUNTIME_EVENT_RECORD},
                 {"EventRecordWithFlags", RUNTIME_EVENT_RECORD},
                 {"EventDestroy", RUNTIME_EVENT_DESTROY},
                 {"GetDevice", RUNTIME_GET_DEVICE},
                 {"GetDeviceCount", RUNTIME_GET_DEVICE_COUNT},
                 {"Malloc", RUNTIME_CUDA_MALLOC},
                 {"Free", RUNTIME_CUDA_FREE},
                 {"MemcpyAsync", RUNTIME_MEMCPY},
                 {"MemsetAsync", RUNTIME_MEMSET},
                 {"GraphSetConditional", RUNTIME_SET_CONDITIONAL}};
    static const char *const prefixes[] = {"__cudaCDP2", "cuda"};
    for (size_t p = 0; p < 2; p++) {
        size_t skip = strlen(prefixes[p]), length = n->length;
        if (length < skip || memcmp(n->text, prefixes[p], skip) != 0) continue;
        if (length > 5 && memcmp(n->text + length - 5, "_ptsz", 5) == 0) length -= 5;
        for (size_t k = 0; k < sizeof grids / sizeof *grids; k++)
            if (strlen(grids[k].name) == length - skip &&
                memcmp(grids[k].name, n->text + skip, length - skip) == 0)
                return grids[k].call;
    }
    return RUNTIME_UNKNOWN;
}

static void lower_call(struct lower *L, const struct ptx_inst *i)
{
    struct ptx_call call = ptx_inst_call(i);
    size_t skip = lower_open_skip(L, i);
    struct call_desc *d = lower_alloc(L, sizeof *d);
    const struct ptx_proto *p = call.proto;
    u32 args = call.arguments ? call.arguments->count : 0,
        results = call.results ? call.results->count : 0;
    if (p && args > p->param_count) args = p->param_count;
    if (p && results > p->ret_count) results = p->ret_count;
    d->args = lower_alloc(L, args * sizeof *d->args);
    d->results = lower_alloc(L, results * sizeof *d->results);
    for (u32 k = 0; k < args && p; k++)
        d->args[k] = pass_of_opnd(L, &call.arguments->elem[k], p->params[k]);
    for (u32 k = 0; k < results && p; k++) {
        if (call.results->elem[k].kind == PTX_OPND_SINK)
            d->results[k] = pass_of_sink(L, p->rets[k]);
        else d->results[k] = pass_of_opnd(L, &call.results->elem[k], p->rets[k]);
    }
    d->arg_count = args;
    d->result_count = results;
    struct emu_uop *u;
    bool goes = false;
    if (call.func) {
        const struct ptx_func *f = call.func->alias_of ? call.func->alias_of : call.func;
        struct ptx_place at = image_func_at(L->image,
                                            image_func_number(L->image, L->code->module, f));
        d->name = arena_copy(L->arena, f->sym->name->text, f->sym->name->length);
        d->function = image_func_number(L->image, L->code->module, f);
        d->runtime = runtime_of(f->sym->name);
        /* NVIDIA's device runtime, linked in, is PTX on what only its driver has: Heddle's is in its place. */
        const bool launches = d->runtime >= RUNTIME_GRIDS && d->runtime < RUNTIME_UNKNOWN;
        /* Those of include/heddle/device_io.h have a body for GPUs. */
        const bool files = d->runtime >= RUNTIME_FILES && d->runtime < RUNTIME_GRIDS;
        if (!at.func || !at.func->is_defined || launches || files) {
            if (d->runtime == RUNTIME_UNKNOWN) {
                u = lower_emit(L, UOP_unsupported, 0, 0, 0, 0);
                u->ext = arena_printf(
                    L->arena, "call of '%s', which no module defines%s", d->name,
                    strstr(d->name, "DeviceSynchronize")
                        ? "; the grids that a kernel of CUDA 12 or later launches run when it has ended, so it cannot wait for them"
                    : strncmp(d->name, "cuda", 4) == 0 || strncmp(d->name, "__cuda", 6) == 0
                        ? "; Heddle's device runtime does not have it"
                        : "");
            } else {
                L->program->talks |= d->runtime == RUNTIME_MALLOC || d->runtime == RUNTIME_FREE ||
                                     d->runtime >= RUNTIME_FILES;
                L->program->has_files |= files;
                L->program->launches |= d->runtime >= RUNTIME_GRIDS;
                u = lower_emit(L, UOP_call_runtime, 0, 0, 0, 0);
                u->ext = d;
            }
        } else {
            u = lower_emit(L, UOP_call, 0, 0, 0, 0);
            u->ext = d;
            goes = true;
        }
    } else {
        unsigned bytes = call.callee->kind == PTX_OPND_REG ? L->regs[call.callee->sym->id].bytes
                                                           : 8;
        u32 row = lower_source(L, call.callee, bytes == 8 ? PTX_u64 : PTX_u32);
        u = lower_emit(L, UOP_call_indirect, 0, row, 0, 0);
        u->x = (u8)bytes;
        u->ext = d;
        L->program->recursive = true;
        goes = true;
    }
    size_t at = L->out.count - 1;
    if (goes) lower_close_block(L); /* the callee's blocks come between */
    u32 back = goes ? lower_open_block(L) : meeting(L);
    if (goes) {
        d->back = (const struct emu_uop *)(uintptr_t)back;
        lower_fix(L, at, LOWER_FIX_CALL);
    }
    if (p && p->noreturn) {
        lower_jump(L, L->cfg->exit);
        pass_over(L, skip);
    } else close_skip(L, skip, back);
}

/* ---- the rest ----------------------------------------------------------------------------------- */

bool lower_flow_inst(struct lower *L, const struct ptx_inst *i)
{
    switch (ptx_op_form(i->op)) {
    case PTX_F_bra: branch_to(L, i, target_of(L, &i->opnds[0])); return true;
    case PTX_F_brx_idx: lower_brx(L, i); return true;
    case PTX_F_call: lower_call(L, i); return true;
    case PTX_F_ret:
        if (!L->code->is_entry) {
            branch_to(L, i, L->cfg->exit);
            return true;
        }
        /* a thread that returns from its kernel ends */
        __attribute__((fallthrough));
    case PTX_F_exit: {
        struct emu_uop *u = lower_emit(L, UOP_exit, 0, i->guard ? L->regs[i->guard->id].row : 0, 0,
                                       0);
        u->x = i->guard ? i->guard_not ? 2 : 1 : 0;
        return true;
    }
    default: return false;
    }
}

static bool lower_trap(struct lower *L, const struct ptx_inst *i)
{
    (void)i;
    lower_emit(L, UOP_trap, 0, 0, 0, 0)->x = (u8)lower_data(L);
    return true;
}

static bool lower_alloca(struct lower *L, const struct ptx_inst *i)
{
    unsigned type = i->op->type[0];
    u32 kind = lower_data(L), row = 0;
    if (kind != 1) row = lower_source(L, &i->opnds[kind == 0 ? 1 : 0], type);
    struct lower_dest d = {0};
    if (kind != 2) d = lower_dest(L, &i->opnds[0], type);
    struct emu_uop *u = lower_emit(L, UOP_alloca, d.row, row, 0, 0);
    u->x = (u8)kind;
    u->y = (u8)lower_type_bytes(type);
    u->e = kind == 0 && i->count > 2 ? (u32)i->opnds[2].bits : 16;
    if (u->e < 16) u->e = 16;
    L->program->uses_alloca = true;
    if (!L->code->is_entry && !L->code->stack_word) {
        L->code->stack_word = L->code->frame.local ? L->code->frame.local : 16;
        L->code->frame.local = L->code->stack_word + 16;
    }
    if (kind != 2) lower_finish(L, &d);
    return true;
}

const struct lower_rule lower_control_rules[] = {{PTX_F_alloca, lower_alloca, 0},
                                                 {PTX_F_stacksave, lower_alloca, 1},
                                                 {PTX_F_stackrestore, lower_alloca, 2},
                                                 {PTX_F_trap, lower_trap, 0},
                                                 {PTX_F_brkpt, lower_trap, 1},
                                                 /* looked after above */
                                                 {PTX_F_bra, lower_trap, 0},
                                                 {PTX_F_brx_idx, lower_trap, 0},
                                                 {PTX_F_call, lower_trap, 0},
                                                 {PTX_F_ret, lower_trap, 0},
                                                 {PTX_F_exit, lower_trap, 0},
                                                 {0, NULL, 0}};

/* bar: a barrier row, b thread count row (y: there is one), c predicate row, d result; x: enum bar_kind */
static bool lower_bar(struct lower *L, const struct ptx_inst *i)
{
    u32 kind = lower_data(L), at = 0;
    const char *mods = i->op->text;
    bool has_result = kind == BAR_POPC || kind == BAR_AND;
    if (kind == BAR_AND && ptx_op_has(i->op, "or")) kind = BAR_OR;
    (void)mods;
    struct lower_dest d = {0};
    if (has_result) d = lower_dest(L, &i->opnds[at++], kind == BAR_POPC ? PTX_u32 : PTX_pred);
    u32 id = lower_source(L, &i->opnds[at++], PTX_u32), threads = 0, value = 0;
    bool counted = i->count > at + (has_result ? 1u : 0u);
    if (counted) threads = lower_source(L, &i->opnds[at++], PTX_u32);
    if (has_result) value = lower_predicate(L, &i->opnds[at]);
    struct emu_uop *u = lower_emit(L, UOP_bar, d.row, id, threads, value);
    u->x = (u8)kind;
    u->y = counted;
    L->program->uses_barriers = true;
    if (has_result) lower_finish(L, &d);
    return true;
}

static bool lower_bar_warp(struct lower *L, const struct ptx_inst *i)
{
    u32 mask = lower_source(L, &i->opnds[0], PTX_u32);
    lower_emit(L, UOP_bar_warp, 0, mask, 0, 0);
    return true;
}

static bool lower_cluster(struct lower *L, const struct ptx_inst *i)
{
    struct emu_uop *u = lower_emit(L, lower_data(L) ? UOP_cluster_wait : UOP_cluster_arrive, 0, 0,
                                   0, 0);
    u->x = ptx_op_has(i->op, "relaxed");
    return true;
}

#define BARS(id, kind)                                                                             \
    {PTX_F_bar_##id, lower_bar, kind}, {PTX_F_bar_cta_##id, lower_bar, kind},                      \
        {PTX_F_barrier_##id, lower_bar, kind},                                                     \
    {                                                                                              \
        PTX_F_barrier_cta_##id, lower_bar, kind                                                    \
    }
const struct lower_rule lower_sync_rules[] = {BARS(sync, BAR_SYNC),
                                              BARS(arrive, BAR_ARRIVE),
                                              BARS(red_count, BAR_POPC),
                                              BARS(red_count_n, BAR_POPC),
                                              BARS(red_pred, BAR_AND),
                                              BARS(red_pred_n, BAR_AND),
                                              {PTX_F_bar_warp_sync, lower_bar_warp, 0},
                                              {PTX_F_barrier_cluster_arrive, lower_cluster, 0},
                                              {PTX_F_barrier_cluster_wait, lower_cluster, 1},
                                              {0, NULL, 0}};
#undef BARS

/* Resolves which function each call goes to, and finds whether functions call themselves. */
static void link_callees(struct lower_driver *D)
{
    struct emu_program *p = D->program;
    bool *edge = arena_array(D->arena, bool, (size_t)p->code_count * p->code_count);
    for (u32 k = 0; k < p->code_count; k++) {
        struct emu_code *c = p->codes[k];
        for (u32 i = 0; i < c->uop_count; i++) {
            if (c->uops[i].id != UOP_call) continue;
            struct call_desc *d = (struct call_desc *)(uintptr_t)c->uops[i].ext;
            d->callee = p->by_number[d->function];
            for (u32 j = 0; j < p->code_count; j++)
                if (p->codes[j] == d->callee) edge[k * p->code_count + j] = true;
        }
    }
    if (p->code_count > 256) {
        p->recursive = true;
        return;
    }
    for (u32 m = 0; m < p->code_count; m++)
        for (u32 a = 0; a < p->code_count; a++)
            for (u32 b = 0; edge[a * p->code_count + m] && b < p->code_count; b++)
                edge[a * p->code_count + b] |= edge[m * p->code_count + b];
    for (u32 a = 0; a < p->code_count; a++) p->recursive |= edge[a * p->code_count + a];
}

/* What the accesses of a program say about each other, as far as the instructions before this one. */
struct accesses {
    bool
        deferred; /* reductions whose order matters: they wait for their CTA's turn (emu_defer_red) */
    bool at_once;          /* plain accesses of global memory, perhaps of the same bytes */
    unsigned first_kind;   /* operation and type of the first atomic of global memory; 0: none */
    unsigned first_shared; /* and of the first of shared memory */
};

static bool returns_a_value(const struct emu_place_of *q)
{
    return strncmp(q->inst->op->form->name, "atom", 4) == 0 && !q->dead_result;
}

/* Whether CTAs may wait for each other by this instruction: a fence, a strong access or an atomic that returns. */
static void note_communication(struct emu_program *p, const struct emu_place_of *q, bool shared)
{
    const struct ptx_op *op = q->inst->op;
    const u32 effects = op->form->effects;
    if (op->form->unit == PTX_UNIT_SYNC && effects & PTX_FENCE && !(effects & PTX_BARRIER) &&
        op->form->name[0] != 'c')
        p->talks = true; /* fences */
    if (op->form->unit == PTX_UNIT_MEM && !shared && ptx_op_is_strong(op)) {
        p->talks = true;
        p->timed |= effects & PTX_READS;
    }
    if (effects & PTX_ATOMIC && !shared && returns_a_value(q)) p->talks = true;
}

/* Whether accesses of shared memory give the same result in any order. */
static void note_shared(struct emu_program *p, const struct emu_place_of *q, unsigned kind,
                        struct accesses *a)
{
    const struct ptx_op *op = q->inst->op;
    if (op->form->unit == PTX_UNIT_MEM && ptx_op_is_strong(op)) p->shared_commutes = false;
    if (!(op->form->effects & PTX_ATOMIC)) return;
    p->shared_commutes &= !returns_a_value(q) && (!a->first_shared || kind == a->first_shared) &&
                          atomic_commutes(lower_atomic_op(op), op->type[0]);
    a->first_shared = kind;
}

static void note_global(struct emu_program *p, const struct ptx_op *op, unsigned kind,
                        struct accesses *a)
{
    const bool global = op->space == PTX_SPACE_GLOBAL || op->space == PTX_SPACE_GENERIC ||
                        ptx_op_has(op, "global");
    if (op->form->effects & PTX_ATOMIC) {
        p->mixes |= a->first_kind && kind != a->first_kind;
        a->first_kind = kind;
        a->deferred |= p->mixes || !atomic_commutes(lower_atomic_op(op), op->type[0]);
    } else {
        a->at_once |= op->form->effects & (PTX_READS | PTX_WRITES) && global &&
                      !ptx_op_has(op, "nc");
    }
}

/* Resolves calls, and finds what the scheduler needs to know of the whole program: recursion, and whether CTAs may
 * wait for each other or must run in turn. */
void lower_link_calls(struct lower_driver *D)
{
    struct emu_program *p = D->program;
    link_callees(D);
    struct accesses a = {0};
    p->shared_commutes = true;
    for (u32 i = 0; i < p->place_count; i++) {
        const struct emu_place_of *q = &D->places[i];
        const struct ptx_op *op = q->inst->op;
        if (!op) continue;
        const bool shared = op->space == PTX_SPACE_SHARED || op->space == PTX_SPACE_SHARED_CLUSTER;
        const unsigned kind = op->form->effects & PTX_ATOMIC
                                  ? 1 + lower_atomic_op(op) * PTX_TYPE_COUNT + op->type[0]
                                  : 0;
        note_communication(p, q, shared);
        if (shared || op->space == PTX_SPACE_GENERIC) note_shared(p, q, kind, &a);
        if (!shared || !kind) note_global(p, op, kind, &a);
    }
    /* A CTA that reads or writes the bytes of deferred reductions must run in turn. */
    p->talks |= a.deferred && a.at_once;
    p->combines = a.first_kind && !a.deferred && !p->talks;
}
