/* Operands of instructions: registers, special registers, literals, addresses as rows; and results. */
#include "emu/lower/context.h"

#include "emu/device/image.h"

#include <stdlib.h>
#include <string.h>

/* ---- special registers ---------------------------------------------------------------------------- */

int lower_special_of(const struct ptx_sym *s, unsigned component)
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

unsigned lower_component_of(const struct ptx_opnd *o)
{
    return o->sel >= PTX_SEL_X && o->sel <= PTX_SEL_W ? (unsigned)(o->sel - PTX_SEL_X) : 0u;
}

/* A row of the special register in its own width. */
static u32 special_row(struct lower *L, const struct ptx_sym *s, unsigned component)
{
    int special = lower_special_of(s, component);
    unsigned bytes = lower_type_bytes(s->type);
    bool is_pred = s->type == PTX_pred;
    L->program->reserves |= special >= SPECIAL_RESERVED_SMEM_BEGIN &&
                            special <= SPECIAL_RESERVED_SMEM_1;
    if (special < SPECIAL_CLOCK && L->code->is_entry)
        return lower_fill_row(L, FILL_SPECIAL, (u64)special, bytes, is_pred);
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
    return r->row + (s->vec > 1 ? component * lower_row_size(r->bytes == 16 ? 8 : r->bytes) : 0);
}

/* The handler that keeps the low `to` bytes of `from`, which are more. */
static unsigned cut_op(unsigned from, unsigned to)
{
    return to == 4 ? UOP_cut_u32_u64 : from == 8 ? UOP_cut_u16_u64 : UOP_cut_u16_u32;
}

/* The handler that extends `from` bytes to `to`, which are more, 8 at most. */
static unsigned stretch_op(unsigned from, unsigned to, bool sign)
{
    if (from == 4) return sign ? UOP_ext_i32_u64 : UOP_ext_u32_u64;
    if (to == 4) return sign ? UOP_ext_i16_u32 : UOP_ext_u16_u32;
    return sign ? UOP_ext_i16_u64 : UOP_ext_u16_u64;
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
    lower_emit(L, cut_op(from, to), d, row, 0, 0);
    return d;
}

/* A register narrower than the type asked for is zero- or sign-extended: only special registers and
 * addresses come to this. */
static u32 stretch(struct lower *L, u32 row, unsigned from, unsigned to, bool sign)
{
    if (from >= to || to > 8) return row;
    u32 d = lower_temp(L, to);
    lower_emit(L, stretch_op(from, to, sign), d, row, 0, 0);
    return d;
}

/* A literal as bits of a type. */
static u64 literal(const struct ptx_opnd *o, unsigned type)
{
    u64 bits = o->bits;
    if (o->kind == PTX_OPND_INT) return bits; /* where a float stands, too, it is its bits */
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
    if (ptx_types[type].bits == 16) return 0; /* the checker takes no such literals */
    f = (float)x;
    u32 b;
    memcpy(&b, &f, sizeof b);
    return b;
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
    for (u32 i = L->locals.head[s->at % LOWER_HASH]; i; i = L->locals.list[i - 1].next)
        if (L->locals.list[i - 1].sym == s) return L->locals.list[i - 1].offset;
    return 0;
}

/* register+constant as an operand: ptxas makes an addition of it. */
static u32 sum_with_offset(struct lower *L, const struct ptx_opnd *o, unsigned type)
{
    struct ptx_opnd plain = *o;
    plain.offset = 0;
    unsigned bytes = lower_type_bytes(type);
    u32 row = lower_source(L, &plain, type), sum = lower_temp(L, bytes);
    unsigned id = bytes == 8 ? UOP_add_u64 : bytes == 4 ? UOP_add_u32 : UOP_add_u16;
    lower_emit(L, id, sum, row, lower_constant(L, (u64)o->offset, bytes), 0);
    return sum;
}

/* Bytes from the name of name[register + constant]: a row of 32 bits. */
static u32 subscript(struct lower *L, const struct ptx_opnd *o)
{
    const struct ptx_opnd *r = &o->elem[1];
    struct ptx_opnd index = *r;
    index.offset = 0;
    bool sign = lower_type_signed(r->sym->type) && ptx_types[r->sym->type].bits < 32;
    u32 row = lower_source(L, &index, sign ? PTX_s32 : PTX_u32), step = 0;
    if (o->offset) {
        u32 sum = lower_temp(L, 4);
        lower_emit(L, UOP_add_u32, sum, row, lower_constant(L, (u32)o->offset, 4), 0);
        row = sum;
    }
    while (1u << step < ptx_var_step(o->elem[0].sym->var)) step++;
    if (!step) return row;
    u32 bytes = lower_temp(L, 4);
    lower_emit(L, UOP_shl_u32, bytes, row, lower_constant(L, step, 4), 0);
    return bytes;
}

/* mov x, name[register + constant] */
static u32 element_address(struct lower *L, const struct ptx_opnd *o, unsigned bytes)
{
    u32 base = lower_source(L, &o->elem[0], bytes == 8 ? PTX_u64 : PTX_u32);
    u32 offset = stretch(L, subscript(L, o), 4, bytes, false), sum = lower_temp(L, bytes);
    lower_emit(L, bytes == 8 ? UOP_add_u64 : UOP_add_u32, sum, base, offset, 0);
    return sum;
}

u32 lower_source(struct lower *L, const struct ptx_opnd *o, unsigned type)
{
    unsigned bytes = lower_type_bytes(type);
    if (type == PTX_pred) return lower_predicate(L, o);
    switch (o->kind) {
    case PTX_OPND_REG: {
        if (o->offset && !o->sel) return sum_with_offset(L, o, type);
        const struct lower_reg *r = reg_of(L, o->sym);
        u32 row = reg_row(L, o->sym, lower_component_of(o));
        if (r->bytes == bytes && ptx_types[type].bits >= 16) return row;
        return r->bytes < bytes ? stretch(L, row, r->bytes, bytes, lower_type_signed(type))
                                : cut(L, row, r->bytes, type);
    }
    case PTX_OPND_SREG: {
        unsigned from = lower_type_bytes(o->sym->type);
        u32 row = special_row(L, o->sym, lower_component_of(o));
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
                struct emu_uop *u = lower_emit(L, UOP_fill, row + i * lower_row_size(8), 0, 0, 0);
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
            return lower_constant(L, address + (u64)ptx_opnd_offset(o), bytes);
        u32 row = lower_temp(L, bytes);
        struct emu_uop *u = lower_emit(L, UOP_local_address, row, 0, 0, 0);
        u->imm = (i64)(address + (u64)ptx_opnd_offset(o));
        u->x = (u8)bytes;
        return row;
    }
    case PTX_OPND_ADDR:
        if (o->indexed && o->count > 1 && (bytes == 4 || bytes == 8))
            return element_address(L, o, bytes);
        break;
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
              : o->kind == PTX_OPND_REG ? reg_row(L, o->sym, lower_component_of(o))
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
    u32 row = reg_row(L, o->sym, lower_component_of(o));
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
        lower_emit(L, cut_op(from, to), d->real, d->row, 0, 0);
        return;
    }
    if (to == 16) {
        u32 low = from == 8 ? d->row : stretch(L, d->row, from, 8, sign);
        lower_emit(L, UOP_copy_u64, d->real, low, 0, 0);
        struct emu_uop *u = lower_emit(L, sign ? UOP_sign_u64 : UOP_fill,
                                       d->real + lower_row_size(8), low, 0, 0);
        u->x = 8;
        return;
    }
    lower_emit(L, stretch_op(from, to, sign), d->real, d->row, 0, 0);
}

struct lower_address lower_address(struct lower *L, const struct ptx_opnd *o, unsigned space)
{
    const bool by_register = o->indexed && o->count > 1; /* name[register + constant] */
    const struct ptx_opnd *e = ptx_opnd_base(o);
    struct lower_address a = {.space = (u8)space, .offset = by_register ? 0 : ptx_opnd_offset(o)};
    if (o->kind != PTX_OPND_ADDR && !o->indexed) {
        lower_refuse(L, "address expected");
        return a;
    }
    if (space == PTX_SPACE_PARAM && !L->code->is_entry) a.space = PTX_SPACE_LOCAL;
    if (e->kind == PTX_OPND_SYM || e->kind == PTX_OPND_LABEL) {
        u64 address;
        unsigned own;
        (void)symbol_address(L, e->sym, &address, &own);
        a.offset += (i64)address;
        if (a.space == PTX_SPACE_GENERIC || own == PTX_SPACE_LOCAL) a.space = (u8)own;
        if (own == PTX_SPACE_LOCAL)
            a.is_local_param = e->sym->space == PTX_SPACE_PARAM || e->sym->scope;
        if (by_register) {
            a.bytes = 4;
            a.row = subscript(L, o);
            if (a.is_local_param && !L->code->is_entry) {
                u32 base = lower_temp(L, 4), sum = lower_temp(L, 4);
                lower_emit(L, UOP_local_address, base, 0, 0, 0)->x = 4;
                lower_emit(L, UOP_add_u32, sum, base, a.row, 0);
                a.row = sum;
            }
            a.is_local_param = false;
        }
        return a;
    }
    if (e->kind == PTX_OPND_INT) return a; /* its value is the offset already */
    struct ptx_opnd base = *e;             /* the offset is a.offset */
    if (e->kind == PTX_OPND_REG) base.offset = 0;
    a.row = lower_source(L, &base,
                         e->kind == PTX_OPND_REG && reg_of(L, e->sym)->bytes == 8 ? PTX_u64
                         : e->kind == PTX_OPND_SREG && lower_type_bytes(e->sym->type) == 8
                             ? PTX_u64
                             : PTX_u32);
    a.bytes = e->kind == PTX_OPND_REG && reg_of(L, e->sym)->bytes == 8 ? 8 : 4;
    return a;
}
