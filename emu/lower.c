/* Functions -> micro-operations: blocks, rows, guards, operands. The families (lower_*.c) know the
 * instructions, lower_flow.c branches and calls.
 *
 * Rows. A register that is written once, by a move of something that does not change (a constant, a
 * kernel parameter, a special register, another such register), is no row of its own but that thing's
 * (`alias`). The others share rows where their lives do not overlap: a register lives from its first to
 * its last place in the text, longer where control goes back over it. Parting lanes do no harm to that,
 * since they write to columns of their own. */
#define _GNU_SOURCE /* strdup */
#include "emu/lower.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "emu/flow.h"
#include "emu/image.h"
#include "ptx/cfg.h"
#include "ptx/flow.h"

#include <assert.h>
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

static const struct lower_rule *rules[PTX_FORM_COUNT];
static bool rules_ready;

/* Called under the launch's lock or before there are threads. */
static void find_rules(void)
{
    if (rules_ready) return;
    for (unsigned f = 0; f < PTX_FORM_COUNT; f++) rules[f] = rule_of(f);
    rules_ready = true;
}

bool lower_knows(unsigned form)
{
    find_rules();
    return rules[form] != NULL;
}

/* ---- rows --------------------------------------------------------------------------------------- */

unsigned lower_type_bytes(unsigned type)
{
    if (type == PTX_pred) return 4;
    unsigned bits = ptx_types[type].bits;
    return bits <= 16 ? 2 : bits <= 32 ? 4 : bits <= 64 ? 8 : 16;
}

static u32 row_size(unsigned bytes)
{
    return ROW * bytes;
}

static u32 *top_of(struct lower *L, unsigned bytes)
{
    struct emu_frame *f = &L->code->frame;
    return bytes >= 8 ? &f->r64 : bytes == 4 ? &f->r32 : &f->r16;
}

static u32 new_rows(struct lower *L, unsigned bytes, u32 n)
{
    u32 *top = top_of(L, bytes), row = *top;
    u32 size = bytes == 16 ? 2 * row_size(8) : row_size(bytes);
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
        p->rows[p->count++] = new_rows(L, bytes, 1);
    }
    return p->rows[p->used++];
}

static u32 fill_row(struct lower *L, u8 kind, u64 bits, unsigned bytes, bool is_pred)
{
    struct emu_fill *fills = L->fills;
    for (u32 i = L->fill_head[(bits ^ bytes * 7 ^ kind) % LOWER_HASH]; i; i = L->fill_next[i - 1]) {
        struct emu_fill *f = &fills[i - 1];
        if (f->kind == kind && f->bits == bits && f->width == bytes && f->is_pred == is_pred)
            return f->row;
    }
    size_t n = L->fill_count;
    L->fills = arena_grow(L->arena, L->fills, n, &L->fill_cap, n + 1, sizeof *L->fills);
    L->fill_next = arena_grow(L->scratch, L->fill_next, n, &L->fill_next_cap, n + 1, sizeof(u32));
    L->fills[n] = (struct emu_fill){new_rows(L, bytes, 1), (u8)bytes, kind, is_pred, bits};
    u32 *head = &L->fill_head[(bits ^ bytes * 7 ^ kind) % LOWER_HASH];
    L->fill_next[n] = *head;
    *head = ++L->fill_count;
    return L->fills[n].row;
}

u32 lower_constant(struct lower *L, u64 bits, unsigned bytes)
{
    if (bytes < 8) bits &= ((u64)1 << bytes * 8) - 1;
    if (L->code->is_entry) return fill_row(L, FILL_BITS, bits, bytes, false);
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
    for (u32 k = 0; k < L->dead_count; k++)
        if (L->dead[k] == L->stmt) return true;
    (void)i;
    return false;
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
    L->uops = arena_grow(L->scratch, L->uops, L->uop_count, &L->uop_cap, L->uop_count + 1,
                         sizeof *L->uops);
    L->at = arena_grow(L->scratch, L->at, L->uop_count, &L->at_cap, L->uop_count + 1,
                       sizeof *L->at);
    struct lower_at *at = &L->at[L->uop_count];
    at->stmt = L->stmt;
    for (int k = 0; k < 4; k++) at->temps[k] = (u32)L->temps[k].used;
    struct emu_uop *u = &L->uops[L->uop_count++];
    *u = (struct emu_uop){
        .run = L->ops[id], .d = d, .a = a, .b = b, .c = c, .id = (u16)id, .pc = L->pc};
    return u;
}

/* ---- special registers ---------------------------------------------------------------------------- */

static int special_of(const struct ptx_sym *s, unsigned component)
{
    static const struct {
        const char *name;
        int first, components;
    } names[] = {
        {"%tid", SPECIAL_TID_X, 3},
        {"%ntid", SPECIAL_NTID_X, 3},
        {"%ctaid", SPECIAL_CTAID_X, 3},
        {"%nctaid", SPECIAL_NCTAID_X, 3},
        {"%laneid", SPECIAL_LANEID, 0},
        {"%warpid", SPECIAL_WARPID, 0},
        {"%nwarpid", SPECIAL_NWARPID, 0},
        {"%smid", SPECIAL_SMID, 0},
        {"%nsmid", SPECIAL_NSMID, 0},
        {"%gridid", SPECIAL_GRIDID, 0},
        {"%lanemask_eq", SPECIAL_LANEMASK_EQ, 0},
        {"%lanemask_le", SPECIAL_LANEMASK_LE, 0},
        {"%lanemask_lt", SPECIAL_LANEMASK_LT, 0},
        {"%lanemask_ge", SPECIAL_LANEMASK_GE, 0},
        {"%lanemask_gt", SPECIAL_LANEMASK_GT, 0},
        {"%clusterid", SPECIAL_CLUSTERID_X, 3},
        {"%nclusterid", SPECIAL_NCLUSTERID_X, 3},
        {"%cluster_ctaid", SPECIAL_CLUSTER_CTAID_X, 3},
        {"%cluster_nctaid", SPECIAL_CLUSTER_NCTAID_X, 3},
        {"%cluster_ctarank", SPECIAL_CLUSTER_CTARANK, 0},
        {"%cluster_nctarank", SPECIAL_CLUSTER_NCTARANK, 0},
        {"%is_explicit_cluster", SPECIAL_EXPLICIT_CLUSTER, 0},
        {"%total_smem_size", SPECIAL_TOTAL_SMEM, 0},
        {"%aggr_smem_size", SPECIAL_AGGR_SMEM, 0},
        {"%dynamic_smem_size", SPECIAL_DYNAMIC_SMEM, 0},
        {"%reserved_smem_offset_begin", SPECIAL_RESERVED_SMEM_BEGIN, 0},
        {"%reserved_smem_offset_end", SPECIAL_RESERVED_SMEM_END, 0},
        {"%reserved_smem_offset_cap", SPECIAL_RESERVED_SMEM_CAP, 0},
        {"%reserved_smem_offset_0", SPECIAL_RESERVED_SMEM_0, 0},
        {"%reserved_smem_offset_1", SPECIAL_RESERVED_SMEM_1, 0},
        {"%clock", SPECIAL_CLOCK, 0},
        {"%clock_hi", SPECIAL_CLOCK_HI, 0},
        {"%clock64", SPECIAL_CLOCK64, 0},
        {"%globaltimer", SPECIAL_TIMER, 0},
        {"%globaltimer_lo", SPECIAL_TIMER_LO, 0},
        {"%globaltimer_hi", SPECIAL_TIMER_HI, 0},
    };
    const struct ptx_name *n = s->name;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i].name) != n->length || memcmp(names[i].name, n->text, n->length) != 0)
            continue;
        if (!names[i].components) return names[i].first;
        return component < 3 ? names[i].first + (int)component : SPECIAL_ZERO;
    }
    if (n->length > 7 && memcmp(n->text, "%envreg", 7) == 0)
        return SPECIAL_ENVREG + atoi(n->text + 7) % 32;
    return SPECIAL_ZERO; /* performance counters */
}

static unsigned component_of(const struct ptx_opnd *o)
{
    return o->sel >= PTX_SEL_X && o->sel <= PTX_SEL_W ? (unsigned)(o->sel - PTX_SEL_X) : 0u;
}

/* A row of the special register in its own width. */
static u32 special_row(struct lower *L, const struct ptx_sym *s, unsigned component)
{
    int special = special_of(s, component);
    unsigned bytes = lower_type_bytes(s->type);
    bool is_pred = s->type == PTX_pred;
    L->program->reserves |= special >= SPECIAL_RESERVED_SMEM_BEGIN &&
                            special <= SPECIAL_RESERVED_SMEM_1;
    if (special < SPECIAL_CLOCK && L->code->is_entry)
        return fill_row(L, FILL_SPECIAL, (u64)special, bytes, is_pred);
    u32 row = lower_temp(L, bytes);
    struct emu_uop *u = lower_emit(L, UOP_special, row, 0, 0, 0);
    u->imm = special;
    u->x = (u8)bytes;
    return row;
}

/* ---- operands ------------------------------------------------------------------------------------- */

static struct lower_reg *reg_of(struct lower *L, const struct ptx_sym *s)
{
    return &L->regs[s->id];
}

/* The row of a register or of one component of a vector register. */
static u32 reg_row(struct lower *L, const struct ptx_sym *s, unsigned component)
{
    const struct lower_reg *r = reg_of(L, s);
    return r->row + (s->vec > 1 ? component * row_size(r->bytes == 16 ? 8 : r->bytes) : 0);
}

/* A row of `from` bytes cut to a type: the low bits, bytes extended in 16 bits. */
static u32 cut(struct lower *L, u32 row, unsigned from, unsigned type)
{
    unsigned bits = ptx_types[type].bits, to = lower_type_bytes(type);
    if (to > 8) return row;
    if (from == 16) from = 8; /* the low half's row */
    if (bits < 16 && bits >= 8) {
        u32 d = lower_temp(L, 2);
        unsigned id = lower_type_signed(type) ? from == 8   ? UOP_cut_i8_u64
                                                : from == 4 ? UOP_cut_i8_u32
                                                            : UOP_cut_i8_u16
                      : from == 8             ? UOP_cut_u8_u64
                      : from == 4             ? UOP_cut_u8_u32
                                              : UOP_cut_u8_u16;
        lower_emit(L, id, d, row, 0, 0);
        return d;
    }
    if (from <= to) return row;
    u32 d = lower_temp(L, to);
    lower_emit(L,
               to == 4     ? UOP_cut_u32_u64
               : from == 8 ? UOP_cut_u16_u64
                           : UOP_cut_u16_u32,
               d, row, 0, 0);
    return d;
}

/* A register narrower than the type asked for is zero- or sign-extended: only special registers and
 * addresses come to this. */
static u32 stretch(struct lower *L, u32 row, unsigned from, unsigned to, bool sign)
{
    if (from >= to || to > 8) return row;
    u32 d = lower_temp(L, to);
    unsigned id = from == 2 ? to == 4 ? sign ? UOP_ext_i16_u32 : UOP_ext_u16_u32
                              : sign  ? UOP_ext_i16_u64
                                      : UOP_ext_u16_u64
                  : sign    ? UOP_ext_i32_u64
                            : UOP_ext_u32_u64;
    lower_emit(L, id, d, row, 0, 0);
    return d;
}

static u32 f16_bits(double x);

/* A literal as bits of a type. */
static u64 literal(const struct ptx_opnd *o, unsigned type)
{
    u64 bits = o->bits;
    bool is_float = ptx_types[type].kind == PTX_FLOAT;
    if (o->kind == PTX_OPND_INT) {
        if (!is_float) return bits;
        return bits; /* an integer where a float stands is its bits */
    }
    double x;
    float f;
    if (o->kind == PTX_OPND_F32) {
        u32 b = (u32)bits;
        if (ptx_types[type].bits != 64) return b;
        memcpy(&f, &b, sizeof f);
        x = f;
        memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    memcpy(&x, &bits, sizeof x);
    if (ptx_types[type].bits == 64) return bits;
    if (ptx_types[type].bits == 16) return f16_bits(x);
    f = (float)x;
    u32 b;
    memcpy(&b, &f, sizeof b);
    return b;
}

static u32 f16_bits(double x)
{
    (void)x;
    return 0; /* the checker takes no float literals for half precision */
}

/* The address of a symbol, as a number, in the space of the symbol; false: it is known only at run
 * time, as `*local` bytes from the function's .local frame. */
static bool symbol_address(struct lower *L, const struct ptx_sym *s, u64 *address, unsigned *space)
{
    *space = PTX_SPACE_GENERIC;
    *address = 0;
    if (s->kind == PTX_SYM_FUNC) {
        *address = image_address(L->image, L->code->module, s);
        return true;
    }
    if (s->kind != PTX_SYM_VAR) return true;
    *space = s->space;
    switch (s->space) {
    case PTX_SPACE_SHARED:
        *address = image_shared_offset(L->layout, L->code->module, s);
        return true;
    case PTX_SPACE_LOCAL:
        if (s->scope) break;
        for (size_t i = 0; i < L->driver->module_local_count; i++)
            if (L->driver->module_locals[i].sym == s) *address = L->driver->module_locals[i].offset;
        return true;
    case PTX_SPACE_PARAM:
        if (L->code->is_entry && s->var->role == PTX_PARAM_KERNEL) {
            *address = lower_local_offset(L, s);
            return true;
        }
        *space = PTX_SPACE_LOCAL;
        break;
    default: *address = image_address(L->image, L->code->module, s); return true;
    }
    *address = lower_local_offset(L, s);
    return L->code->is_entry; /* whose frame begins at 0 */
}

u32 lower_local_offset(struct lower *L, const struct ptx_sym *s)
{
    for (u32 i = L->local_head[s->at % LOWER_HASH]; i; i = L->locals[i - 1].next)
        if (L->locals[i - 1].sym == s) return L->locals[i - 1].offset;
    return 0;
}

u32 lower_source(struct lower *L, const struct ptx_opnd *o, unsigned type)
{
    unsigned bytes = lower_type_bytes(type);
    if (type == PTX_pred) return lower_predicate(L, o);
    switch (o->kind) {
    case PTX_OPND_REG: {
        const struct lower_reg *r = reg_of(L, o->sym);
        u32 row = reg_row(L, o->sym, component_of(o));
        if (r->bytes == bytes && ptx_types[type].bits >= 16) return row;
        return r->bytes < bytes ? stretch(L, row, r->bytes, bytes, lower_type_signed(type))
                                : cut(L, row, r->bytes, type);
    }
    case PTX_OPND_SREG: {
        unsigned from = lower_type_bytes(o->sym->type);
        u32 row = special_row(L, o->sym, component_of(o));
        return from < bytes ? stretch(L, row, from, bytes, false) : cut(L, row, from, type);
    }
    case PTX_OPND_INT:
    case PTX_OPND_FLOAT:
    case PTX_OPND_F32:
    case PTX_OPND_F64: {
        u64 bits = literal(o, type);
        if (bytes == 16) {
            u32 row = lower_temp(L, 16);
            for (u32 i = 0; i < 2; i++) {
                struct emu_uop *u = lower_emit(L, UOP_fill, row + i * row_size(8), 0, 0, 0);
                u->imm = i ? (i64)bits >> 63 : (i64)bits;
                u->x = 8;
            }
            return row;
        }
        if (ptx_types[type].bits == 8)
            bits = lower_type_signed(type) ? (u64)(i64)(i8)(bits & 0xff) : bits & 0xff;
        return lower_constant(L, bits, bytes);
    }
    case PTX_OPND_SYM:
    case PTX_OPND_LABEL: {
        u64 address;
        unsigned space;
        if (!o->sym) break;
        if (symbol_address(L, o->sym, &address, &space))
            return lower_constant(L, address + (u64)o->offset, bytes);
        u32 row = lower_temp(L, bytes);
        struct emu_uop *u = lower_emit(L, UOP_local_address, row, 0, 0, 0);
        u->imm = (i64)(address + (u64)o->offset);
        u->x = (u8)bytes;
        return row;
    }
    default: break;
    }
    lower_refuse(L, "operand of an unexpected kind");
    L->bad_operand = true;
    return lower_temp(L, bytes);
}

u32 lower_predicate(struct lower *L, const struct ptx_opnd *o)
{
    if (o->kind == PTX_OPND_INT)
        return lower_constant(L, (o->bits != 0) != o->negated ? ~(u64)0 : 0, 4);
    u32 row = o->kind == PTX_OPND_SREG  ? special_row(L, o->sym, 0)
              : o->kind == PTX_OPND_REG ? reg_row(L, o->sym, component_of(o))
                                        : lower_temp(L, 4);
    if (!o->negated) return row;
    u32 d = lower_temp(L, 4);
    lower_emit(L, UOP_not_pred, d, row, 0, 0);
    return d;
}

struct lower_dest lower_dest(struct lower *L, const struct ptx_opnd *o, unsigned type)
{
    unsigned bytes = lower_type_bytes(type);
    struct lower_dest d = {.opnd = o, .type = type};
    if (o->kind != PTX_OPND_REG) {
        d.row = lower_temp(L, bytes);
        return d;
    }
    const struct lower_reg *r = reg_of(L, o->sym);
    u32 row = reg_row(L, o->sym, component_of(o));
    if (r->bytes == bytes) {
        d.row = row;
        return d;
    }
    d.widen = true;
    d.real = row;
    d.row = lower_temp(L, bytes);
    return d;
}

void lower_finish(struct lower *L, const struct lower_dest *d)
{
    if (!d->widen) return;
    unsigned from = lower_type_bytes(d->type), to = reg_of(L, d->opnd->sym)->bytes;
    bool sign = lower_type_signed(d->type);
    if (from > to) { /* a narrower register keeps the low bits */
        lower_emit(L,
                   to == 4     ? UOP_cut_u32_u64
                   : from == 8 ? UOP_cut_u16_u64
                               : UOP_cut_u16_u32,
                   d->real, d->row, 0, 0);
        return;
    }
    if (to == 16) {
        u32 low = from == 8 ? d->row : stretch(L, d->row, from, 8, sign);
        lower_emit(L, UOP_copy_u64, d->real, low, 0, 0);
        struct emu_uop *u = lower_emit(L, sign ? UOP_sign_u64 : UOP_fill, d->real + row_size(8),
                                       low, 0, 0);
        u->x = 8;
        return;
    }
    unsigned id = from == 2 ? to == 4 ? sign ? UOP_ext_i16_u32 : UOP_ext_u16_u32
                              : sign  ? UOP_ext_i16_u64
                                      : UOP_ext_u16_u64
                  : sign    ? UOP_ext_i32_u64
                            : UOP_ext_u32_u64;
    lower_emit(L, id, d->real, d->row, 0, 0);
}

struct lower_address lower_address(struct lower *L, const struct ptx_opnd *o, unsigned space)
{
    struct lower_address a = {.space = (u8)space, .offset = o->offset};
    const struct ptx_opnd *e = &o->elem[0];
    if (o->kind != PTX_OPND_ADDR) {
        lower_refuse(L, "address expected");
        return a;
    }
    if (space == PTX_SPACE_PARAM && !L->code->is_entry) a.space = PTX_SPACE_LOCAL;
    if (e->kind == PTX_OPND_SYM || e->kind == PTX_OPND_LABEL) {
        u64 address;
        unsigned own;
        bool fixed = symbol_address(L, e->sym, &address, &own);
        a.offset += (i64)address;
        if (a.space == PTX_SPACE_GENERIC || own == PTX_SPACE_LOCAL) a.space = (u8)own;
        if (own == PTX_SPACE_LOCAL)
            a.is_local_param = e->sym->space == PTX_SPACE_PARAM || e->sym->scope;
        (void)fixed;
        if (o->indexed && o->count > 1) { /* name[register + offset] */
            const struct ptx_opnd *r = &o->elem[1];
            a.bytes = (u8)reg_of(L, r->sym)->bytes;
            a.row = reg_row(L, r->sym, component_of(r));
            if (a.is_local_param && !L->code->is_entry) {
                u32 base = lower_temp(L, a.bytes), sum = lower_temp(L, a.bytes);
                struct emu_uop *u = lower_emit(L, UOP_local_address, base, 0, 0, 0);
                u->x = a.bytes;
                lower_emit(L, a.bytes == 8 ? UOP_add_u64 : UOP_add_u32, sum, base, a.row, 0);
                a.row = sum;
            }
            a.is_local_param = false;
        }
        return a;
    }
    if (e->kind == PTX_OPND_INT) return a; /* its value is the offset already */
    a.row = lower_source(L, e,
                         e->kind == PTX_OPND_REG && reg_of(L, e->sym)->bytes == 8 ? PTX_u64
                         : e->kind == PTX_OPND_SREG && lower_type_bytes(e->sym->type) == 8
                             ? PTX_u64
                             : PTX_u32);
    a.bytes = e->kind == PTX_OPND_REG && reg_of(L, e->sym)->bytes == 8 ? 8 : 4;
    return a;
}

/* ---- what registers are ------------------------------------------------------------------------- */

/* Whether control that reaches statement b has passed statement a. */
static bool passed(const struct lower *L, u32 a, u32 b)
{
    u32 p = ptx_cfg_block_of(L->cfg, a), q = ptx_cfg_block_of(L->cfg, b);
    if (!ptx_cfg_reachable(L->cfg, p) || !ptx_cfg_reachable(L->cfg, q)) return false;
    return p == q ? a < b : ptx_cfg_dominates(L->cfg, p, q);
}

static bool is_identity(const struct ptx_inst *i)
{
    switch (ptx_op_form(i->op)) {
    case PTX_F_mov:
    case PTX_F_mov_f: return true;
    case PTX_F_cvta:
    case PTX_F_cvta_to: return i->op->space == PTX_SPACE_GLOBAL || i->op->space == PTX_SPACE_CONST;
    default: return false;
    }
}

static void find_aliases(struct lower *L)
{
    const struct ptx_flow *f = L->flow;
    const struct ptx_stmt *stmts = L->body->stmts;
    u32 n = f->reg_count;
    u32 *writes = arena_array(L->scratch, u32, n), *where = arena_array(L->scratch, u32, n);
    bool *once = arena_array(L->scratch, bool, n); /* every read comes after the one write */
    for (u32 s = 0; s < L->body->count; s++)
        for (u32 u = f->use_at[s]; u < f->use_at[s + 1]; u++)
            if (f->uses[u].how & PTX_USE_WRITE) {
                writes[f->uses[u].reg] += f->uses[u].how & PTX_USE_KILL ? 1 : 2;
                where[f->uses[u].reg] = s;
            }
    for (u32 i = 0; i < f->param_count; i++) writes[f->params[i]] += 2;
    for (u32 i = 0; i < f->result_count; i++) writes[f->results[i]] += 2;
    for (u32 r = 0; r < n; r++) once[r] = writes[r] == 1;
    for (u32 s = 0; s < L->body->count; s++)
        for (u32 u = f->use_at[s]; u < f->use_at[s + 1]; u++) {
            u32 r = f->uses[u].reg;
            if (once[r] && !(f->uses[u].how & PTX_USE_WRITE) && !passed(L, where[r], s))
                once[r] = false;
        }
    for (u32 s = 0; s < L->body->count; s++) {
        if (stmts[s].kind != PTX_STMT_INST) continue;
        const struct ptx_inst *i = stmts[s].inst;
        if (!i->op || i->guard || i->count < 2 || i->opnds[0].kind != PTX_OPND_REG ||
            i->opnds[0].sel)
            continue;
        struct ptx_sym *d = i->opnds[0].sym;
        if (d->vec > 1 || writes[d->id] != 1) continue;
        struct lower_reg *r = &L->regs[d->id];
        const struct ptx_opnd *o = &i->opnds[1];
        unsigned type = i->op->type[0], bytes = lower_type_bytes(type);
        if (bytes != r->bytes || bytes > 8) continue;
        enum ptx_form form = ptx_op_form(i->op);
        if (is_identity(i)) {
            if (o->kind == PTX_OPND_REG) {
                struct ptx_sym *from = o->sym;
                if (from->vec > 1 || o->sel || L->regs[from->id].bytes != bytes ||
                    !once[from->id] || !once[d->id] || from->id == d->id)
                    continue;
                r->alias = from->id + 1;
            } else if (L->code->is_entry) { /* its row can be made at once */
                if (o->kind == PTX_OPND_SREG &&
                    (special_of(o->sym, component_of(o)) >= SPECIAL_CLOCK ||
                     lower_type_bytes(o->sym->type) != bytes))
                    continue;
                if (o->kind != PTX_OPND_SREG && o->kind != PTX_OPND_INT &&
                    o->kind != PTX_OPND_FLOAT && o->kind != PTX_OPND_F32 &&
                    o->kind != PTX_OPND_F64 && o->kind != PTX_OPND_SYM)
                    continue;
                r->row = lower_source(L, o, type);
                r->fixed = true;
            }
        } else if (L->code->is_entry && (form == PTX_F_ld) && i->op->space == PTX_SPACE_PARAM &&
                   ptx_types[type].bits >= 16 && i->opnds[0].kind == PTX_OPND_REG) {
            if (o->kind != PTX_OPND_ADDR || o->elem[0].kind != PTX_OPND_SYM || o->indexed) continue;
            const struct ptx_sym *p = o->elem[0].sym;
            if (p->kind != PTX_SYM_VAR || p->space != PTX_SPACE_PARAM ||
                p->var->role != PTX_PARAM_KERNEL)
                continue;
            i64 at = (i64)lower_local_offset(L, p) + o->offset;
            if (at < 0 || at % bytes || (u64)at + bytes > L->params_size) continue;
            r->row = fill_row(L, FILL_PARAM, (u64)at, bytes, false);
            r->fixed = true;
        }
        if (r->alias || r->fixed) L->skip[s] = true;
    }
    for (u32 r = 0; r < n; r++) /* to the end of each chain */
        while (L->regs[r].alias && L->regs[L->regs[r].alias - 1].alias)
            L->regs[r].alias = L->regs[L->regs[r].alias - 1].alias;
}

/* From first to last place, and over what control goes back over. */
static void find_lives(struct lower *L)
{
    const struct ptx_flow *f = L->flow;
    const struct ptx_cfg *g = L->cfg;
    u32 n = f->reg_count;
    struct lower_reg *regs = L->regs;
    for (u32 r = 0; r < n; r++) regs[r].first = UINT32_MAX;
    u32 *def = arena_array(L->scratch, u32, n);     /* the first place, if it is a whole write */
    bool *clean = arena_array(L->scratch, bool, n); /* ... that all other places come after */
    for (int pass = 0; pass < 2; pass++)
        for (u32 s = 0; s < L->body->count; s++) {
            for (int writing = 0; writing < 2; writing++)
                for (u32 u = f->use_at[s]; u < f->use_at[s + 1]; u++) {
                    bool write = f->uses[u].how & PTX_USE_WRITE;
                    if (write != (writing == 1)) continue;
                    u32 r = f->uses[u].reg;
                    if (regs[r].alias) r = regs[r].alias - 1;
                    if (pass == 1) {
                        if (clean[r] && s != def[r] && !passed(L, def[r], s)) clean[r] = false;
                        continue;
                    }
                    if (regs[r].first == UINT32_MAX) {
                        regs[r].first = s;
                        def[r] = s;
                        clean[r] = f->uses[u].how & PTX_USE_KILL;
                    }
                    regs[r].last = s;
                }
        }
    for (u32 i = 0; i < f->param_count; i++)
        regs[f->params[i]].first = 0, regs[f->params[i]].last = UINT32_MAX;
    for (u32 i = 0; i < f->result_count; i++)
        regs[f->results[i]].first = 0, regs[f->results[i]].last = UINT32_MAX;
    /* Ways back: from the end of block b to the beginning of an earlier one. */
    struct back {
        u32 from, to;
    } *backs = NULL;
    size_t count = 0, cap = 0;
    for (u32 b = 0; b < g->code_count; b++) {
        if (!ptx_cfg_reachable(g, b)) continue;
        for (u32 e = 0; e < g->blocks[b].succ_count; e++) {
            u32 t = g->succs[g->blocks[b].succ + e];
            if (t >= g->code_count) { /* a hub: its targets may lie anywhere before */
                if (t != g->exit) {
                    backs = arena_grow(L->scratch, backs, count, &cap, count + 1, sizeof *backs);
                    backs[count++] = (struct back){g->blocks[g->code_count - 1].end, 0};
                }
                continue;
            }
            if (t > b) continue;
            backs = arena_grow(L->scratch, backs, count, &cap, count + 1, sizeof *backs);
            backs[count++] = (struct back){g->blocks[b].end, g->blocks[t].first};
        }
    }
    for (bool changed = count > 0; changed;) {
        changed = false;
        for (u32 r = 0; r < n; r++) {
            struct lower_reg *x = &regs[r];
            if (x->first == UINT32_MAX || x->alias || x->fixed) continue;
            for (size_t k = 0; k < count; k++) {
                u32 lo = backs[k].to, hi = backs[k].from;
                if (x->last < lo || x->first > hi || (x->first <= lo && x->last >= hi)) continue;
                if (clean[r] && x->first >= lo) { /* made anew each time round */
                    if (def[r] == x->first) continue;
                }
                if (x->first > lo) x->first = lo;
                if (x->last < hi) x->last = hi;
                changed = true;
            }
        }
    }
}

static int by_first(const void *a, const void *b)
{
    const struct lower_reg *const *p = a, *const *q = b;
    if ((*p)->first != (*q)->first) return (*p)->first < (*q)->first ? -1 : 1;
    return *p < *q ? -1 : 1;
}

static void give_rows(struct lower *L)
{
    u32 n = L->flow->reg_count;
    struct lower_reg **order = arena_array(L->scratch, struct lower_reg *, n);
    u32 count = 0;
    for (u32 r = 0; r < n; r++) {
        struct lower_reg *x = &L->regs[r];
        if (x->alias || x->fixed || x->first == UINT32_MAX) continue;
        if (x->vec > 1 || x->bytes == 16) x->row = new_rows(L, x->bytes, x->vec);
        else order[count++] = x;
    }
    qsort(order, count, sizeof *order, by_first);
    struct {
        u32 *rows;
        size_t count, cap;
    } spare[3] = {0};
    struct lower_reg **live = arena_array(L->scratch, struct lower_reg *, count);
    u32 live_count = 0;
    for (u32 i = 0; i < count; i++) {
        struct lower_reg *x = order[i];
        u32 kept = 0;
        for (u32 k = 0; k < live_count; k++) {
            if (live[k]->last >= x->first) {
                live[kept++] = live[k];
                continue;
            }
            int c = live[k]->bytes == 8 ? 2 : live[k]->bytes == 4 ? 1 : 0;
            spare[c].rows = arena_grow(L->scratch, spare[c].rows, spare[c].count, &spare[c].cap,
                                       spare[c].count + 1, sizeof(u32));
            spare[c].rows[spare[c].count++] = live[k]->row;
        }
        live_count = kept;
        int c = x->bytes == 8 ? 2 : x->bytes == 4 ? 1 : 0;
        x->row = spare[c].count ? spare[c].rows[--spare[c].count] : new_rows(L, x->bytes, 1);
        live[live_count++] = x;
    }
    for (u32 r = 0; r < n; r++)
        if (L->regs[r].alias) L->regs[r].row = L->regs[L->regs[r].alias - 1].row;
}

/* .local variables and .param variables of a function and its calls: offsets in the .local frame. Of a
 * kernel's parameters: in the parameter block. */
static void add_local(struct lower *L, const struct ptx_sym *s, u32 offset)
{
    L->locals = arena_grow(L->scratch, L->locals, L->local_count, &L->local_cap, L->local_count + 1,
                           sizeof *L->locals);
    u32 *head = &L->local_head[s->at % LOWER_HASH];
    L->locals[L->local_count] = (struct lower_local){s, offset, *head};
    *head = (u32)++L->local_count;
}

static void place_local(struct lower *L, const struct ptx_var *v, u64 *top)
{
    u64 align = ptx_var_align(v), size = ptx_var_size(v);
    if (align < 4) align = 4;
    *top = (*top + align - 1) / align * align;
    if (size > MEM_MAX_LOCAL || *top + size > MEM_MAX_LOCAL) {
        L->too_large = true;
        return;
    }
    add_local(L, v->sym, (u32)*top);
    *top += size;
}

struct ptx_var **lower_kernel_params(struct arena *a, const struct ptx_func *f, size_t *count)
{
    const struct ptx_proto *p = &f->proto;
    size_t n = f->body ? f->body->count : 0;
    struct ptx_var **list = arena_array(a, struct ptx_var *, p->param_count + n);
    *count = 0;
    for (u32 i = 0; i < p->param_count; i++) list[(*count)++] = p->params[i];
    for (size_t s = 0; s < n; s++)
        if (f->body->stmts[s].kind == PTX_STMT_VAR &&
            f->body->stmts[s].var->role == PTX_PARAM_KERNEL)
            list[(*count)++] = f->body->stmts[s].var;
    return list;
}

/* Variables of modules in .local (PTX before 3.0): every thread has its own, before the kernel's frame. */
static void place_module_locals(struct lower_driver *D)
{
    u64 top = 0;
    for (size_t i = 0; i < D->image->program->count; i++) {
        const struct ptx_module *m = D->image->program->modules[i];
        for (size_t k = 0; k < m->var_count; k++) {
            const struct ptx_var *v = m->vars[k];
            if (v->sym->space != PTX_SPACE_LOCAL) continue;
            u64 align = ptx_var_align(v) < 4 ? 4 : ptx_var_align(v), size = ptx_var_size(v);
            top = (top + align - 1) / align * align;
            if (size > MEM_MAX_LOCAL || top + size > MEM_MAX_LOCAL) {
                D->failed = "the .local variables of its modules are too large";
                return;
            }
            D->module_locals = arena_grow(D->arena, D->module_locals, D->module_local_count,
                                          &D->module_local_cap, D->module_local_count + 1,
                                          sizeof *D->module_locals);
            D->module_locals[D->module_local_count++] = (struct lower_local){v->sym, (u32)top, 0};
            top += size;
        }
    }
    D->module_local = (top + 15) / 16 * 16;
}

static void find_locals(struct lower *L)
{
    const struct ptx_proto *p = &L->func->proto;
    u64 top = L->code->is_entry ? L->driver->module_local : 0;
    if (L->code->is_entry) {
        struct image_params q;
        char *why = NULL;
        size_t count;
        struct ptx_var **params = lower_kernel_params(L->scratch, L->func, &count);
        if (!image_params_layout(L->scratch, params, count, MEM_MAX_PARAMS, &q, &why)) {
            L->driver->failed = arena_printf(L->arena, "%s", why);
            free(why);
            return;
        }
        for (u32 i = 0; i < q.count; i++) add_local(L, q.list[i].var->sym, q.list[i].offset);
        L->params_size = q.size;
    } else {
        for (u32 i = 0; i < p->ret_count; i++)
            if (!p->rets[i]->in_reg) place_local(L, p->rets[i], &top);
        for (u32 i = 0; i < p->param_count; i++)
            if (!p->params[i]->in_reg) place_local(L, p->params[i], &top);
    }
    for (size_t s = 0; s < L->body->count; s++) {
        const struct ptx_stmt *t = &L->body->stmts[s];
        if (t->kind != PTX_STMT_VAR) continue;
        if (t->var->role == PTX_PARAM_KERNEL) continue;
        if (t->var->sym->space == PTX_SPACE_LOCAL || t->var->sym->space == PTX_SPACE_PARAM)
            place_local(L, t->var, &top);
        char *why = NULL;
        if (!image_place(L->image, L->code->module, t->var, &why)) {
            L->driver->failed = arena_printf(L->driver->arena, "%s", why);
            free(why);
        }
    }
    L->code->frame.local = (u32)((top + 15) / 16 * 16);
}

static void find_registers(struct lower *L)
{
    u32 n = L->flow->reg_count;
    L->regs = arena_array(L->scratch, struct lower_reg, n);
    for (u32 r = 0; r + 1 < n; r++) {
        const struct ptx_sym *s = L->body->regs[r];
        L->regs[r].bytes = (u8)lower_type_bytes(s->type);
        L->regs[r].vec = s->vec ? s->vec : 1;
    }
    L->regs[n - 1] = (struct lower_reg){.bytes = 4, .vec = 1};
    find_aliases(L);
    find_lives(L);
    give_rows(L);
}

/* ---- the text, block by block --------------------------------------------------------------------- */

/* The instruction with vector registers written as the vectors of their components. */
static const struct ptx_inst *spelled_out(struct lower *L, const struct ptx_inst *i,
                                          struct ptx_inst *plain)
{
    bool any = false;
    for (u32 k = 0; k < i->count; k++)
        any |= i->opnds[k].kind == PTX_OPND_REG && i->opnds[k].sym->vec > 1 && !i->opnds[k].sel;
    if (!any) return i;
    *plain = *i;
    plain->opnds = arena_array(L->scratch, struct ptx_opnd, i->count);
    for (u32 k = 0; k < i->count; k++) {
        struct ptx_opnd *o = &plain->opnds[k];
        *o = i->opnds[k];
        if (o->kind != PTX_OPND_REG || o->sym->vec <= 1 || o->sel) continue;
        struct ptx_opnd *elem = arena_array(L->scratch, struct ptx_opnd, o->sym->vec);
        for (u32 c = 0; c < o->sym->vec; c++) {
            elem[c] = *o;
            elem[c].sel = (u8)(PTX_SEL_X + c);
        }
        o->kind = PTX_OPND_VEC;
        o->count = o->sym->vec;
        o->elem = elem;
    }
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
        guard = L->uop_count - 1;
    }
    bool meets = L->its && meets_lanes(i);
    if (meets) lower_meeting(L, i);
    size_t before = L->uop_count;
    bool ok = false;
    if (ptx_forms[form].refused) {
        lower_refuse(L, "'%s' is not executed: %s", i->op->text, ptx_forms[form].refused);
    } else if (!L->rule) {
        lower_refuse(L, "'%.*s' is not executed yet", (int)i->op->text_length, i->op->text);
    } else {
        ok = L->rule->fn(L, i) && !L->bad_operand;
    }
    if (!ok) {
        L->uop_count = before;
        if (!L->refusal)
            lower_refuse(L, "'%.*s' is not executed", (int)i->op->text_length, i->op->text);
        struct emu_uop *u = lower_emit(L, UOP_unsupported, 0, 0, 0, 0);
        u->ext = L->refusal;
    }
    if (meets) lower_emit(L, UOP_met, 0, 0, 0, 0);
    if (guard != SIZE_MAX) {
        lower_emit(L, UOP_unguard, 0, 0, 0, 0);
        L->uops[guard].imm = (i64)L->uop_count;
        lower_fix(L, guard, LOWER_FIX_UOP);
    }
    lower_meet_behind(L, skip);
}

void lower_fix(struct lower *L, size_t uop, unsigned kind)
{
    L->fixes = arena_grow(L->scratch, L->fixes, L->fix_count, &L->fix_cap, L->fix_count + 1,
                          sizeof *L->fixes);
    L->fixes[L->fix_count++] = (struct lower_fixup){uop, kind};
}

u32 lower_open_block(struct lower *L)
{
    struct emu_program *p = L->program;
    struct emu_uop *u = lower_emit(L, UOP_block, 0, 0, 0, 0);
    u->pc = p->place_count; /* its first instruction */
    u->site = p->block_count;
    u->x = 1; /* cleared below where no lanes meet */
    L->head = (u32)(L->uop_count - 1);
    L->driver->blocks = arena_grow(L->arena, L->driver->blocks, p->block_count,
                                   &L->driver->block_cap, p->block_count + 1,
                                   sizeof *L->driver->blocks);
    L->driver->blocks[p->block_count++] = (struct emu_block_mix){p->place_count, 0};
    return L->head;
}

void lower_close_block(struct lower *L)
{
    struct emu_block_mix *b = &L->driver->blocks[L->program->block_count - 1];
    b->count = L->program->place_count - b->first_pc;
    L->uops[L->head].imm = b->count;
}

static const char *file_name(const struct lower *L, u32 index)
{
    const struct ptx_module *m = L->image->program->modules[L->code->module];
    for (size_t k = 0; k < m->item_count; k++)
        if (m->items[k].kind == PTX_ITEM_FILE && m->items[k].file->index == index)
            return arena_copy(L->arena, m->items[k].file->name, m->items[k].file->name_length);
    return NULL;
}

/* Calls of a header's functions are told at the kernel's line. */
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
    L->pc = p->place_count++;
}

static void lower_blocks(struct lower *L)
{
    const struct ptx_cfg *g = L->cfg;
    const struct ptx_loc *loc = NULL;
    L->block_uop = arena_array(L->scratch, u32, g->count);
    for (u32 b = 0; b < g->code_count; b++) {
        if (!ptx_cfg_reachable(g, b)) continue;
        L->block = b;
        L->stmt = g->blocks[b].first;
        L->block_uop[b] = lower_open_block(L);
        for (u32 s = g->blocks[b].first; s < g->blocks[b].end; s++) {
            const struct ptx_stmt *t = &L->body->stmts[s];
            if (t->kind == PTX_STMT_LOC) loc = t->loc;
            if (t->kind != PTX_STMT_INST) continue;
            L->stmt = s;
            add_place(L, t->inst, loc);
            if (L->watched & LOWER_ISSUES) lower_emit(L, UOP_issue, 0, 0, 0, 0);
            if (L->skip[s] || !L->needed[s]) continue;
            lower_inst(L, t->inst);
        }
        lower_close_block(L);
        /* Where control falls into the next block of the text nothing is needed, unless it is not there. */
        const struct ptx_block *k = &g->blocks[b];
        if (k->leave == PTX_LEAVE_RETURN && k->term == PTX_NONE) lower_jump(L, g->exit);
        if (k->term == PTX_NONE && k->succ_count == 1 && g->succs[k->succ] != b + 1)
            lower_jump(L, g->succs[k->succ]);
    }
    L->block_uop[g->exit] = (u32)L->uop_count;
    lower_emit(L, UOP_leave, 0, 0, 0, 0);
}

/* Block numbers -> pointers. */
static void resolve(struct lower *L)
{
    struct emu_code *c = L->code;
    c->uops = arena_array(L->arena, struct emu_uop, L->uop_count);
    memcpy(c->uops, L->uops, L->uop_count * sizeof *c->uops);
    c->uop_count = (u32)L->uop_count;
    c->leave = &c->uops[c->uop_count - 1];
    bool *meets = arena_array(L->scratch, bool, L->uop_count);
    for (size_t i = 0; i < L->fix_count; i++) {
        struct emu_uop *u = &c->uops[L->fixes[i].uop];
        unsigned kind = L->fixes[i].kind;
        if (kind & LOWER_FIX_UOP) u->target = &c->uops[u->imm];
        if (kind & LOWER_FIX_TARGET) u->target = &c->uops[L->block_uop[u->imm]];
        if (kind & LOWER_FIX_JOIN) {
            u32 j = L->block_uop[u->e];
            u->join = &c->uops[j];
            meets[j] = true;
        }
        if (kind & LOWER_FIX_BRX) {
            struct brx_desc *t = (struct brx_desc *)(uintptr_t)u->ext;
            for (u32 k = 0; k < t->count; k++)
                t->targets[k] = &c->uops[L->block_uop[(uintptr_t)t->targets[k]]];
            u32 j = L->block_uop[u->e];
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
    L->needed = ptx_flow_needed(scratch, L->flow);
    struct ptx_live *live = ptx_live_new(scratch, L->flow, NULL);
    L->dead_count = ptx_live_dead_atoms(scratch, live, &L->dead);
    c->reads_undefined = live->in[0].regs || live->in[0].preds;
    L->skip = arena_array(scratch, bool, L->body->count + 1);
    L->fill_head = arena_array(scratch, u32, LOWER_HASH);
    L->local_head = arena_array(scratch, u32, LOWER_HASH);
    find_locals(L);
    find_registers(L);
    lower_passes(L);
    lower_blocks(L);
    resolve(L);
    lower_live_rows(L);
    c->fills = L->fills;
    c->fill_count = L->fill_count;
    if (L->too_large)
        D->failed = arena_printf(
            D->arena, "'%s' needs too many registers or too much .local memory", c->name);
}

/* The most room that a chain of calls takes. Recursion, or calls by address: as much as allowed. */
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

struct emu_program *lower_program(struct arena *a, struct image *im, struct ptx_reach *reach,
                                  emu_op *const *ops, unsigned watched, bool its, char **why)
{
    find_rules();
    struct emu_program *p = arena_alloc(a, sizeof *p);
    struct lower_driver D = {
        .arena = a, .image = im, .program = p, .ops = ops, .watched = (u8)watched, .its = its};
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
    place_module_locals(&D);
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
