/* Checks the operands of an instruction against the forms of its opcode, and chooses the form that fits. */
#include "base/arena.h"
#include "base/diag.h"
#include "ptx/parser.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- what fits what ---------------------------------------------------------------------------- */

bool ptx_type_is_int(enum ptx_type t)
{
    return ptx_types[t].kind == PTX_UINT || ptx_types[t].kind == PTX_SINT;
}

/* PTX ISA, "Type Checking Rules": the size must agree; integer types agree with each other and with
 * .b types, a floating type with itself and .b types; a .f16x2 register serves as a .b32 one. Loads,
 * stores and conversions take wider registers by the same rule. Packed types live in .b registers. */
bool ptx_type_fits(enum ptx_type wanted, enum ptx_type reg, bool wide)
{
    const struct ptx_type_info *w = &ptx_types[wanted], *r = &ptx_types[reg];
    if (wanted == PTX_NO_TYPE) return false;
    if (w->kind == PTX_PRED || r->kind == PTX_PRED) return w->kind == r->kind;
    if (w->kind == PTX_OPAQUE) return r->kind == PTX_BITS ? r->bits == 64 : reg == PTX_u64;
    if (wide ? r->bits < w->bits : r->bits != w->bits) return false;
    switch ((enum ptx_type_kind)w->kind) {
    case PTX_UINT:
    case PTX_SINT: return ptx_type_is_int(reg) || r->kind == PTX_BITS || reg == PTX_f16x2;
    case PTX_BITS: return true;
    case PTX_FLOAT: return reg == wanted || r->kind == PTX_BITS;
    case PTX_PACK:
        return r->kind == PTX_BITS ||
               ((wanted == PTX_u16x2 || wanted == PTX_s16x2) && reg == PTX_f16x2);
    default: return false;
    }
}

enum why { /* an operand does not fit its shape */
           FITS,
           WRONG_KIND,     /* another kind of operand is expected */
           WRONG_TYPE,     /* a register of another type */
           WRONG_CONSTANT, /* a constant of the wrong kind */
           WRONG_COUNT,    /* a vector of another length */
           WRONG_SPACE,    /* an address in another state space */
           NO_CONSTANT,    /* must be a register */
           NEED_CONSTANT,  /* must be a constant */
           OUT_OF_RANGE,
           NO_SPECIAL, /* a special register cannot stand here */
           NO_SINK,
           NO_NEGATION,
           NO_SELECTOR,
           NO_ADDRESS, /* a variable's address cannot stand here */
           UNDECLARED,
           NOT_WRITABLE,
           SHORT_ADDRESS, /* 32 bits for an address of 64 */
           NO_GENERIC,    /* no generic addresses before sm_20 */
           GATED,         /* the version or target does not have it */
           NO_ARRAY,      /* an index behind something else */
           NO_SAMPLER,    /* texmode_independent needs one */
           FUNC_OFFSET,   /* f+4 */
           FUNC_NO_ABI,   /* the address of a function, where there is no ABI */
           PARAM_ADDRESS, /* the address of a .param variable of the body */
           PARAM_WRITE,   /* st.param to an input */
           PARAM_READ,    /* ld.param from a result */
           PARAM_GUARDED, /* @p st.param of an argument */
           IMMEDIATE,     /* [16] outside .local */
           MIXED,         /* elements of a vector differ */
           NO_SECOND,     /* no |q */
           NEED_SECOND,   /* |q is missing */
           ADDRESS_TYPE,  /* a register that cannot be an address */
};

/* Whether an instruction that reaches these spaces may name a variable of that one. */
static bool space_allows(uint16_t spaces, enum ptx_space have)
{
    if (spaces & 1u << have) return true;
    if (have == PTX_SPACE_SHARED && spaces & 1u << PTX_SPACE_SHARED_CLUSTER) return true;
    return spaces & 1u << PTX_SPACE_GENERIC &&
           (have == PTX_SPACE_GLOBAL || have == PTX_SPACE_SHARED || have == PTX_SPACE_LOCAL);
}

struct fit { /* what an operand is held against beside its shape */
    const struct ptx_module *m;
    const struct ptx_func *func;
    const struct ptx_op *op;
    const struct ptx_inst *inst;
    bool without_abi; /* struct ptx_parser */
};

struct verdict {
    enum why why;
    const struct ptx_opnd *opnd; /* the part it is about */
};

static struct verdict bad(enum why why, const struct ptx_opnd *o)
{
    return (struct verdict){why, o};
}

static struct verdict fit_constant(const struct ptx_shape *s, const struct ptx_opnd *o)
{
    const struct ptx_type_info *t = &ptx_types[s->type];
    if (s->flags & PTX_WRITTEN) return bad(NOT_WRITABLE, o);
    if (s->flags & PTX_REGISTER) return bad(NO_CONSTANT, o);
    switch (o->kind) {
    case PTX_OPND_INT:
        if (t->kind == PTX_FLOAT || t->kind == PTX_PACK || t->kind == PTX_OPAQUE)
            return bad(WRONG_CONSTANT, o);
        for (unsigned i = 0; s->value_n && i <= s->value_n; i++) {
            if (i == s->value_n) return bad(OUT_OF_RANGE, o);
            if ((int64_t)o->bits == s->values[i]) break;
        }
        if (s->flags & PTX_RANGE) {
            int64_t v = (int64_t)o->bits;
            if (v < s->low || v > s->high || (s->step ? (v - s->low) % s->step : v & (v - 1)))
                return bad(OUT_OF_RANGE, o);
        }
        return bad(FITS, o);
    case PTX_OPND_F32:
    case PTX_OPND_F64:
        if (s->type == PTX_f32 || s->type == PTX_f64) return bad(FITS, o);
        if (t->kind == PTX_BITS && t->bits == (o->kind == PTX_OPND_F32 ? 32 : 64))
            return bad(FITS, o);
        return bad(WRONG_CONSTANT, o);
    default: /* a decimal */
        return bad(s->type == PTX_f32 || s->type == PTX_f64 || s->type == PTX_b64 ? FITS
                                                                                  : WRONG_CONSTANT,
                   o);
    }
}

/* Video instructions. A scalar one takes one byte or half; a SIMD one, whose name ends in 2 or 4, as
 * many, of results the highest first. */
static bool selector_fits(const struct fit *c, const struct ptx_shape *s, const struct ptx_opnd *o)
{
    if (!(s->flags & PTX_SIMD)) return o->sel != PTX_SEL_SIMD;
    const char *name = c->op->form->name;
    char lanes = name[strlen(name) - 1], kind = lanes == '2' ? 'h' : 'b', text[8];
    ptx_selector_text(o, text);
    size_t n = strlen(text) - 1;
    if (text[0] != kind) return false;
    if (!(s->flags & PTX_WRITTEN)) {
        for (size_t i = 1; i <= n; i++)
            if (text[i] > (lanes == '2' ? '3' : '7')) return false;
        return n == (lanes == '2' ? 2u : 4u);
    }
    for (size_t i = 1; i <= n; i++)
        if (text[i] >= lanes || (i > 1 && text[i] >= text[i - 1])) return false;
    return true;
}

static struct verdict fit_register(const struct fit *c, const struct ptx_shape *s,
                                   const struct ptx_opnd *o, unsigned vec)
{
    const struct ptx_sym *r = o->sym;
    if (s->flags & PTX_CONSTANT) return bad(NEED_CONSTANT, o);
    if (o->negated) {
        bool predicate = r->type == PTX_pred;
        if (s->flags & PTX_WRITTEN) return bad(NO_NEGATION, o);
        if (predicate ? ptx_types[s->type].kind != PTX_PRED : !(s->flags & PTX_MINUS))
            return bad(NO_NEGATION, o);
    }
    unsigned have = r->vec;
    if (o->sel != PTX_SEL_NONE) {
        if (o->sel >= PTX_SEL_B0) {
            if (!(s->flags & PTX_SELECTABLE) || !selector_fits(c, s, o)) return bad(NO_SELECTOR, o);
        } else {
            if (have == 1) return bad(NO_SELECTOR, o);
            have = 1; /* .z of a .v2 too, as ptxas has it */
        }
    }
    if (have != vec) return bad(WRONG_COUNT, o);
    if (r->type == PTX_f16x2 && s->flags & PTX_FIXED && ptx_type_is_int((enum ptx_type)s->type))
        return bad(WRONG_TYPE, o);
    return bad(ptx_type_fits(s->type, r->type, s->flags & PTX_WIDE) ? FITS : WRONG_TYPE, o);
}

static struct verdict fit_special(const struct fit *c, const struct ptx_shape *s,
                                  const struct ptx_opnd *o, unsigned vec)
{
    const struct ptx_type_info *t = &ptx_types[s->type];
    unsigned have = o->sym->vec;
    if (s->flags & PTX_WRITTEN) return bad(NOT_WRITABLE, o);
    if (!(s->flags & PTX_SPECIAL)) return bad(NO_SPECIAL, o);
    if (o->negated && o->sym->type != PTX_pred) return bad(NO_NEGATION, o);
    if (o->sel != PTX_SEL_NONE) {
        if (have == 1 || o->sel >= PTX_SEL_B0) return bad(NO_SELECTOR, o);
        have = 1;
    }
    if (have != vec) return bad(WRONG_COUNT, o);
    if (o->sym->type == PTX_pred) return bad(t->kind == PTX_PRED ? FITS : WRONG_TYPE, o);
    bool integer = t->kind == PTX_UINT || t->kind == PTX_SINT || t->kind == PTX_BITS;
    unsigned most = ptx_types[o->sym->type].bits;
    if (!integer || t->bits > most) return bad(WRONG_TYPE, o);
    if (strcmp(c->op->form->name, "cvt") == 0) return bad(FITS, o); /* it converts */
    if (t->bits < o->sym->space) return bad(WRONG_TYPE, o);
    if (t->bits < most && t->kind == PTX_SINT && t->bits == 16) return bad(WRONG_TYPE, o);
    return bad(FITS, o);
}

/* An operand of the instruction, not an element of a list. */
static bool is_whole_operand(const struct fit *c, const struct ptx_opnd *o)
{
    for (unsigned i = 0; i < c->inst->count; i++)
        if (o == &c->inst->opnds[i]) return true;
    return false;
}

/* ptxas takes the name of a function in place of a register in arithmetic, stores and atomics. */
static bool takes_function(const struct fit *c, const struct ptx_shape *s, const struct ptx_opnd *o)
{
    const enum ptx_unit unit = (enum ptx_unit)c->op->form->unit;
    if (!is_whole_operand(c, o) || o->sym->kind != PTX_SYM_FUNC || o->indexed ||
        s->flags & PTX_REGISTER)
        return false;
    if (unit != PTX_UNIT_IALU && unit != PTX_UNIT_IMUL && unit != PTX_UNIT_CVT &&
        !(c->op->form->effects & (PTX_WRITES | PTX_ATOMIC)))
        return false;
    return ptx_types[s->type].bits >= 32 && !(s->flags & (PTX_FIXED | PTX_CONSTANT));
}

/* The name of a function, where an address may stand. */
static struct verdict fit_function(const struct fit *c, const struct ptx_opnd *o)
{
    if (o->offset) return bad(FUNC_OFFSET, o);
    if (c->op->space && strcmp(c->op->form->name, "cvta") == 0) return bad(WRONG_SPACE, o);
    if (c->without_abi) return bad(FUNC_NO_ABI, o);
    if (c->m->version < 21 || (o->sym->func->is_entry && c->m->target.sm < 35))
        return bad(NO_ADDRESS, o);
    return bad(FITS, o);
}

static struct verdict fit_named(const struct fit *c, const struct ptx_shape *s,
                                const struct ptx_opnd *o)
{
    const struct ptx_type_info *t = &ptx_types[s->type];
    const struct ptx_sym *sym = o->sym;
    if (sym->kind == PTX_SYM_RANGE) return bad(UNDECLARED, o);
    if (s->flags & PTX_WRITTEN) return bad(NOT_WRITABLE, o);
    if (!(s->flags & PTX_NAMED) && !takes_function(c, s, o)) return bad(NO_ADDRESS, o);
    if (t->bits < 16 || t->bits > 64 || t->kind == PTX_FLOAT || t->kind == PTX_PACK ||
        t->kind == PTX_PRED)
        return bad(WRONG_TYPE, o);
    if (sym->kind == PTX_SYM_VAR && sym->space == PTX_SPACE_GLOBAL && t->bits == 32 &&
        c->m->address_size == 64)
        return bad(SHORT_ADDRESS, o);
    if (o->indexed && (sym->kind != PTX_SYM_VAR || !sym->var->dim_count)) return bad(NO_ARRAY, o);
    if (sym->kind == PTX_SYM_FUNC) return fit_function(c, o);
    if (sym->kind == PTX_SYM_VAR) {
        if (sym->var->role == PTX_PARAM_LOCAL) return bad(PARAM_ADDRESS, o);
        if (c->op->space &&
            !space_allows((uint16_t)(1u << c->op->space), (enum ptx_space)sym->space))
            return bad(WRONG_SPACE, o);
    }
    return bad(FITS, o);
}

static bool is_index(const struct ptx_sym *r)
{
    return ptx_type_is_int((enum ptx_type)r->type) || ptx_types[r->type].kind == PTX_BITS;
}

/* register+constant in place of a register, which ptxas adds. */
static bool fits_sum(const struct fit *c, const struct ptx_shape *s, const struct ptx_opnd *o)
{
    const unsigned no = PTX_WRITTEN | PTX_CONSTANT | PTX_PIECE;
    return is_whole_operand(c, o) && !o->sel && !o->negated && !(s->flags & no) &&
           o->sym->vec == 1 && is_index(o->sym) && ptx_types[o->sym->type].bits >= 16 &&
           ptx_types[o->sym->type].bits <= 64 && ptx_types[s->type].kind != PTX_FLOAT;
}

/* mov x, name[register + constant] */
static struct verdict fit_element(const struct fit *c, const struct ptx_shape *s,
                                  const struct ptx_opnd *o)
{
    if (!o->indexed || strcmp(c->op->form->name, "mov") != 0) return bad(WRONG_KIND, o);
    if (!is_index(o->elem[1].sym)) return bad(ADDRESS_TYPE, &o->elem[1]);
    struct ptx_opnd name = o->elem[0];
    name.indexed = true;
    struct verdict v = fit_named(c, s, &name);
    return bad(v.why, v.why == FITS ? o : &o->elem[0]);
}

/* One register, constant or name. */
static struct verdict fit_scalar(const struct fit *c, const struct ptx_shape *s,
                                 const struct ptx_opnd *o, unsigned vec)
{
    switch ((enum ptx_opnd_kind)o->kind) {
    case PTX_OPND_REG:
        if (o->offset && o->sel != PTX_SEL_SIMD && !fits_sum(c, s, o)) return bad(WRONG_KIND, o);
        return fit_register(c, s, o, vec);
    case PTX_OPND_SREG: return fit_special(c, s, o, vec);
    case PTX_OPND_INT:
    case PTX_OPND_FLOAT:
    case PTX_OPND_F32:
    case PTX_OPND_F64: return vec > 1 ? bad(WRONG_COUNT, o) : fit_constant(s, o);
    case PTX_OPND_SYM: return vec > 1 ? bad(WRONG_COUNT, o) : fit_named(c, s, o);
    case PTX_OPND_ADDR: return vec > 1 ? bad(WRONG_KIND, o) : fit_element(c, s, o);
    case PTX_OPND_SINK: return bad(s->flags & PTX_SINKABLE ? FITS : NO_SINK, o);
    case PTX_OPND_LABEL: return bad(o->sym ? WRONG_KIND : UNDECLARED, o);
    default: return bad(WRONG_KIND, o);
    }
}

static bool count_allowed(const struct ptx_shape *s, uint32_t n)
{
    for (unsigned i = 0; i < s->count_n; i++)
        if (s->counts[i] == n) return true;
    return false;
}

enum nature { NEUTRAL, INTEGER, FLOATING, PAIR, NEITHER };

static enum nature nature_of(const struct ptx_opnd *e)
{
    switch ((enum ptx_opnd_kind)e->kind) {
    case PTX_OPND_REG:
        if (e->sym->type == PTX_f16x2) return PAIR;
        switch ((enum ptx_type_kind)ptx_types[e->sym->type].kind) {
        case PTX_BITS: return NEUTRAL;
        case PTX_UINT:
        case PTX_SINT: return INTEGER;
        case PTX_FLOAT: return FLOATING;
        default: return NEITHER;
        }
    case PTX_OPND_SINK: return NEUTRAL;
    case PTX_OPND_SREG:
    case PTX_OPND_INT: return INTEGER;
    case PTX_OPND_FLOAT:
    case PTX_OPND_F32:
    case PTX_OPND_F64: return FLOATING;
    default: return NEITHER;
    }
}

/* Vectors of floating-point numbers are loaded into integer registers, too, and stored from them. (So says ptxas.) */
static struct ptx_shape moved_bits(const struct fit *c, const struct ptx_shape *s,
                                   const struct ptx_opnd *r)
{
    struct ptx_shape bits = *s;
    const char *name = c->op->form->name;
    const bool moves = c->op->form->unit == PTX_UNIT_MEM &&
                       (memcmp(name, "ld", 2) == 0 || memcmp(name, "st", 2) == 0);
    if (!moves || ptx_types[s->type].bits != ptx_types[r->sym->type].bits) return bits;
    if (s->type == PTX_f32) bits.type = PTX_b32;
    if (s->type == PTX_f64) bits.type = PTX_b64;
    return bits;
}

/* The elements of a list are one value: registers of one size, not integers beside floats. With a .b
 * register or a _ in it the list is of bits and fits any type of its size. (So says ptxas.) */
static struct verdict fit_elements(const struct fit *c, const struct ptx_shape *s,
                                   const struct ptx_opnd *o)
{
    const struct ptx_opnd *first = NULL;
    enum nature nature = NEUTRAL;
    bool neutral = false, written = s->flags & PTX_WRITTEN;
    bool sinkable = written && (s->flags & PTX_SINKABLE ||
                                (o->count > 1 && c->op->form->unit != PTX_UNIT_TENSOR));
    for (uint32_t i = 0; i < o->count; i++) {
        const struct ptx_opnd *e = &o->elem[i];
        enum nature its = nature_of(e);
        if (e->kind == PTX_OPND_SINK && !sinkable) return bad(NO_SINK, e);
        if (e->kind == PTX_OPND_SREG &&
            (written || (c->op->form->unit != PTX_UNIT_MEM && c->op->form->unit != PTX_UNIT_MOVE)))
            return bad(NO_SPECIAL, e);
        if (its == NEITHER) return fit_scalar(c, s, e, 1);
        if (its == NEUTRAL) neutral = true;
        else if (nature == NEUTRAL) nature = its;
        else if (nature != its) return bad(MIXED, e);
        if (e->kind != PTX_OPND_REG) continue;
        if (!first) first = e;
        else if (ptx_types[first->sym->type].bits != ptx_types[e->sym->type].bits)
            return bad(MIXED, e);
    }
    for (uint32_t i = 0; i < o->count; i++) {
        const struct ptx_opnd *e = &o->elem[i];
        if (e->kind == PTX_OPND_SINK || (e->kind == PTX_OPND_SREG && neutral)) continue;
        struct ptx_shape element = e->kind == PTX_OPND_REG ? moved_bits(c, s, e) : *s;
        element.flags |= PTX_SPECIAL;
        if (neutral && first) { /* of bits, and as wide as its registers */
            unsigned bits = ptx_types[s->type].bits;
            element.type = bits == 8     ? PTX_b8
                           : bits == 16  ? PTX_b16
                           : bits == 32  ? PTX_b32
                           : bits == 128 ? PTX_b128
                                         : PTX_b64;
            bool number = e->kind != PTX_OPND_REG;
            if (number && (s->flags & (PTX_REGISTER | PTX_WRITTEN))) return bad(NO_CONSTANT, e);
            if (number) continue;
        }
        struct verdict v = fit_scalar(c, &element, e, 1);
        if (v.why != FITS) return v;
    }
    return bad(first || !written ? FITS : NO_SINK, o);
}

static struct verdict fit_vector(const struct fit *c, const struct ptx_shape *s,
                                 const struct ptx_opnd *o)
{
    const struct ptx_form_info *form = c->op->form;
    /* {r} is r for loads, stores and moves of bits. */
    bool move = form->unit == PTX_UNIT_TENSOR ||
                (strcmp(form->name, "mov") == 0 && ptx_types[s->type].kind == PTX_BITS);
    bool plain = s->count_n ? count_allowed(s, 0) && !(form->effects & PTX_ATOMIC) : move;
    if (!(plain && o->count == 1) && !count_allowed(s, o->count)) return bad(WRONG_COUNT, o);
    return fit_elements(c, s, o);
}

static struct verdict fit_value(const struct fit *c, const struct ptx_shape *s,
                                const struct ptx_opnd *o)
{
    if (o->kind == PTX_OPND_VEC) return fit_vector(c, s, o);
    if (s->count_n == 0 || count_allowed(s, 0)) {
        struct verdict v = fit_scalar(c, s, o, 1);
        if (v.why == FITS || s->count_n == 0) return v;
    }
    /* A vector register in place of a list. */
    if (o->kind == PTX_OPND_REG || o->kind == PTX_OPND_SREG) {
        struct verdict v = bad(WRONG_COUNT, o);
        struct ptx_shape bits = moved_bits(c, s, o);
        for (unsigned i = 0; i < s->count_n; i++)
            if (s->counts[i] > 1 && o->sym->vec == s->counts[i] && !o->sel)
                v = fit_scalar(c, &bits, o, s->counts[i]);
        return v;
    }
    if (s->count_n == 1 && s->counts[0] == 0) return fit_scalar(c, s, o, 1);
    if (o->kind == PTX_OPND_SINK) return bad(s->flags & PTX_SINKABLE ? FITS : NO_SINK, o);
    return bad(o->kind == PTX_OPND_LABEL && !o->sym ? UNDECLARED : WRONG_COUNT, o);
}

/* ---- addresses --------------------------------------------------------------------------------- */

/* A function's parameters: inputs are read, results written; what a call takes is written once and
 * for all lanes. */
static enum why fit_param(const struct fit *c, const struct ptx_var *v)
{
    bool writes = (c->op->form->effects & (PTX_WRITES | PTX_READS)) == PTX_WRITES;
    bool reads = (c->op->form->effects & (PTX_WRITES | PTX_READS)) == PTX_READS;
    if (writes && (v->role == PTX_PARAM_KERNEL || v->role == PTX_PARAM_INPUT)) return PARAM_WRITE;
    if (reads && v->role == PTX_PARAM_RESULT) return PARAM_READ;
    if ((writes || reads) && c->inst->guard && v->role == PTX_PARAM_LOCAL) return PARAM_GUARDED;
    return FITS;
}

static struct verdict fit_address(const struct fit *c, const struct ptx_shape *s,
                                  const struct ptx_opnd *o)
{
    uint16_t spaces = s->spaces;
    if (!spaces) spaces = (uint16_t)(1u << c->op->space);
    if (spaces == 1u << PTX_SPACE_GENERIC && c->m->target.sm < 20) return bad(NO_GENERIC, o);
    const struct ptx_opnd *base = o;
    if (o->kind == PTX_OPND_ADDR && o->indexed && !is_index(o->elem[1].sym))
        return bad(ADDRESS_TYPE, &o->elem[1]);
    if (o->kind == PTX_OPND_ADDR) base = &o->elem[0];
    else if (!(o->kind == PTX_OPND_SYM && o->indexed))
        return bad(o->kind == PTX_OPND_LABEL && !o->sym ? UNDECLARED : WRONG_KIND, o);
    if (o->unified && !(s->flags & PTX_UNIFIED)) return bad(WRONG_KIND, o);
    switch ((enum ptx_opnd_kind)base->kind) {
    case PTX_OPND_REG: {
        enum ptx_type t = (enum ptx_type)base->sym->type;
        if (base->sym->vec > 1 || base->sel) return bad(ADDRESS_TYPE, base);
        if (base->negated) return bad(NO_NEGATION, base);
        if (!ptx_type_is_int(t) && ptx_types[t].kind != PTX_BITS) return bad(ADDRESS_TYPE, base);
        if (ptx_types[t].bits > 64) return bad(ADDRESS_TYPE, base);
        bool far = spaces & (1u << PTX_SPACE_GLOBAL | 1u << PTX_SPACE_GENERIC);
        if (far && !s->spaces && ptx_types[t].bits == 32 && c->m->address_size == 64 &&
            c->op->form->unit != PTX_UNIT_TENSOR && ptx_op_form(c->op) != PTX_F_cp_async_arrive)
            return bad(SHORT_ADDRESS, base);
        return bad(FITS, o);
    }
    case PTX_OPND_SYM: {
        const struct ptx_sym *sym = base->sym;
        bool index = o->indexed || base->indexed;
        if (index && (sym->kind != PTX_SYM_VAR || !sym->var->dim_count)) return bad(NO_ARRAY, base);
        if (index && strcmp(c->op->form->name, "ld") != 0 && strcmp(c->op->form->name, "st") != 0)
            return bad(WRONG_KIND, base);
        if (sym->kind != PTX_SYM_VAR || ptx_types[sym->type].kind == PTX_OPAQUE)
            return bad(WRONG_KIND, base);
        if (sym->space == PTX_SPACE_PARAM) {
            enum why why = fit_param(c, sym->var);
            if (why != FITS) return bad(why, base);
        }
        return bad(space_allows(spaces, (enum ptx_space)sym->space) ? FITS : WRONG_SPACE, base);
    }
    case PTX_OPND_INT: return bad(spaces == 1u << PTX_SPACE_LOCAL ? FITS : IMMEDIATE, base);
    case PTX_OPND_SREG:
        return bad(ptx_types[base->sym->type].bits >= 32 && base->sym->vec == 1 ? FITS
                                                                                : ADDRESS_TYPE,
                   base);
    default: return bad(WRONG_KIND, base);
    }
}

/* ---- textures, surfaces, tensor maps ----------------------------------------------------------- */

static struct verdict fit_handle(const struct ptx_opnd *o, uint8_t kinds)
{
    if (o->kind == PTX_OPND_LABEL && !o->sym) return bad(UNDECLARED, o);
    if (o->kind == PTX_OPND_SYM && o->sym->kind == PTX_SYM_VAR) {
        if (o->offset || o->indexed) return bad(WRONG_KIND, o);
        if (o->sym->space == PTX_SPACE_TEX) return bad(kinds & 1 ? FITS : WRONG_KIND, o);
        unsigned bit = o->sym->type == PTX_texref       ? 1
                       : o->sym->type == PTX_samplerref ? 2
                       : o->sym->type == PTX_surfref    ? 4
                                                        : 0;
        return bad(kinds & bit ? FITS : WRONG_KIND, o);
    }
    if (o->kind != PTX_OPND_REG || o->offset) return bad(WRONG_KIND, o);
    return bad(ptx_type_fits(PTX_u64, o->sym->type, false) ? FITS : WRONG_TYPE, o);
}

static struct verdict fit_coordinates(const struct fit *c, const struct ptx_shape *s,
                                      const struct ptx_opnd *o)
{
    struct ptx_shape all = *s;
    all.base = PTX_BASE_VALUE;
    if (o->kind != PTX_OPND_VEC && o->kind != PTX_OPND_REG) return bad(WRONG_KIND, o);
    if (!(s->flags & PTX_LEADING_U32) || o->kind != PTX_OPND_VEC) return fit_value(c, &all, o);
    if (!count_allowed(s, o->count)) return bad(WRONG_COUNT, o);
    for (uint32_t i = 0; i < o->count; i++) {
        struct ptx_shape e = all;
        e.count_n = 0;
        if (i == 0) e.type = PTX_u32;
        struct verdict v = fit_scalar(c, &e, &o->elem[i], 1);
        if (v.why != FITS) return v;
    }
    return bad(FITS, o);
}

/* What may stand for [texref] and its like; in unified mode a sampler's fields are the texref's. */
static uint8_t reference_kinds(const struct fit *c, enum ptx_type type)
{
    if (type == PTX_texref) return 1;
    if (type == PTX_surfref) return 4;
    return c->m->target.texmode_independent ? 2 : 1;
}

static struct verdict fit_bracket(const struct fit *c, const struct ptx_shape *s,
                                  const struct ptx_opnd *o)
{
    if (s->base == PTX_BASE_REF || s->base == PTX_BASE_TMEM) {
        if (o->kind != PTX_OPND_ADDR) return bad(WRONG_KIND, o);
        const struct ptx_opnd *e = &o->elem[0];
        if (s->base == PTX_BASE_REF)
            return fit_handle(e, reference_kinds(c, (enum ptx_type)s->type));
        if (e->kind != PTX_OPND_REG) return bad(WRONG_KIND, e);
        return bad(ptx_type_fits(PTX_u32, e->sym->type, false) ? FITS : WRONG_TYPE, e);
    }
    if (o->kind != PTX_OPND_BRACKET) return bad(WRONG_KIND, o);
    const struct ptx_opnd *e = o->elem;
    if (s->base == PTX_BASE_MAP) {
        if (o->count != 2) return bad(WRONG_KIND, o);
        if (e[0].offset || e[0].indexed) return bad(WRONG_KIND, &e[0]);
        struct ptx_opnd map = e[0], address = {.kind = PTX_OPND_ADDR,
                                               .at = map.at,
                                               .length = map.length,
                                               .elem = &map};
        struct ptx_shape where = {.spaces = 1u << PTX_SPACE_GLOBAL};
        struct verdict v = fit_address(c, &where, &address);
        if (v.why != FITS) return bad(v.why, &e[0]);
        return fit_coordinates(c, s, &e[1]);
    }
    bool sampler = o->count == 3 && s->base == PTX_BASE_TEX;
    if (o->count != 2 && !sampler) return bad(WRONG_KIND, o);
    struct verdict v = fit_handle(&e[0], s->base == PTX_BASE_TEX ? 1 : 4);
    bool named = e[0].kind == PTX_OPND_SYM;
    if (v.why == FITS && sampler) v = fit_handle(&e[1], c->m->target.texmode_independent ? 2 : 3);
    else if (v.why == FITS && named && s->base == PTX_BASE_TEX && c->m->target.texmode_independent)
        return bad(NO_SAMPLER, o);
    return v.why == FITS ? fit_coordinates(c, s, &e[o->count - 1]) : v;
}

/* ---- a whole instruction ----------------------------------------------------------------------- */

static struct verdict fit_operand(const struct fit *c, const struct ptx_shape *s,
                                  const struct ptx_opnd *o)
{
    switch ((enum ptx_base)s->base) {
    case PTX_BASE_VALUE:
        if (o->kind == PTX_OPND_PAIR) {
            if (!(s->flags & PTX_SECOND)) return bad(NO_SECOND, o);
            struct verdict v = fit_value(c, s, &o->elem[0]);
            if (v.why != FITS) return v;
            if (s->second_gate) return bad(GATED, o);
            if (o->elem[0].kind == PTX_OPND_SINK && o->elem[1].kind == PTX_OPND_SINK)
                return bad(NO_SINK, o);
            struct ptx_shape second = {.type = PTX_pred, .flags = PTX_WRITTEN};
            if (s->flags & PTX_SECOND_SINK) second.flags |= PTX_SINKABLE;
            return fit_value(c, &second, &o->elem[1]);
        }
        if (s->flags & PTX_SECOND_NEEDED) return bad(NEED_SECOND, o);
        return fit_value(c, s, o);
    case PTX_BASE_ADDR: return fit_address(c, s, o);
    case PTX_BASE_LABEL:
        if (o->kind != PTX_OPND_LABEL) return bad(WRONG_KIND, o);
        if (o->sel) return bad(NO_SELECTOR, o);
        return bad(!o->sym || o->sym->kind == PTX_SYM_LABEL ? FITS : WRONG_KIND, o);
    case PTX_BASE_TARGETS:
        if (o->kind != PTX_OPND_LABEL) return bad(WRONG_KIND, o);
        if (!o->sym) return bad(UNDECLARED, o);
        return bad(o->sym->kind == PTX_SYM_TARGETS && !o->sym->targets->calls ? FITS : WRONG_KIND,
                   o);
    case PTX_BASE_CALL: return bad(FITS, o);
    case PTX_BASE_SINK: return bad(o->kind == PTX_OPND_SINK ? FITS : WRONG_KIND, o);
    default: return fit_bracket(c, s, o);
    }
}

struct misfit {
    struct verdict verdict;
    size_t index; /* of the operand; the operand count if one is missing or too many */
    const struct ptx_shape *shape;
};

static bool is_call(const struct ptx_op *op)
{
    return op->shape_count && op->shapes[op->shape_count - 1].base == PTX_BASE_CALL;
}

/* Operand after operand; a shape that may be left out is stepped over if the operand does not fit. */
static bool fit_op(const struct fit *c, struct misfit *m)
{
    const struct ptx_op *op = c->op;
    const struct ptx_inst *inst = c->inst;
    size_t k = 0, needed = 0;
    if (is_call(op)) return true;
    if (inst->count == 2 && inst->opnds[0].kind == PTX_OPND_VEC && !op->vec &&
        inst->opnds[1].kind == PTX_OPND_VEC && strcmp(op->form->name, "mov") == 0) {
        *m = (struct misfit){bad(WRONG_KIND, &inst->opnds[1]), 1, &op->shapes[1]};
        return false;
    }
    for (size_t i = 0; i < inst->count; i++, k++) {
        m->index = i;
        m->shape = NULL;
        for (;; k++) {
            if (k >= op->shape_count) return false;
            const struct ptx_shape *s = &op->shapes[k];
            struct verdict v = fit_operand(c, s, &inst->opnds[i]);
            if (v.why == FITS && s->gate) v.why = GATED;
            if (v.why == FITS) {
                needed += !(s->flags & PTX_OPTIONAL);
                break;
            }
            if (!m->shape) {
                m->shape = s;
                m->verdict = v;
            }
            if (!(s->flags & PTX_OPTIONAL)) return false;
        }
    }
    m->index = inst->count;
    m->shape = NULL;
    return needed == op->shape_min;
}

/* "a register or constant of .u32" */
static void describe_shape(const struct ptx_shape *s, char *out, size_t n)
{
    const char *type = ptx_types[s->type].name;
    switch ((enum ptx_base)s->base) {
    case PTX_BASE_ADDR: snprintf(out, n, "an address in brackets"); return;
    case PTX_BASE_LABEL: snprintf(out, n, "a label"); return;
    case PTX_BASE_CALL: snprintf(out, n, "a function"); return;
    case PTX_BASE_TARGETS: snprintf(out, n, "the name of a .branchtargets list"); return;
    case PTX_BASE_TEX: snprintf(out, n, "[texture, {coordinates}]"); return;
    case PTX_BASE_SURF: snprintf(out, n, "[surface, {coordinates}]"); return;
    case PTX_BASE_MAP: snprintf(out, n, "[tensor map, {coordinates}]"); return;
    case PTX_BASE_REF: snprintf(out, n, "[texture, sampler or surface]"); return;
    case PTX_BASE_SINK: snprintf(out, n, "'_'"); return;
    case PTX_BASE_TMEM: snprintf(out, n, "[tensor memory address]"); return;
    case PTX_BASE_VALUE: break;
    }
    const char *what = s->flags & PTX_CONSTANT                   ? "a constant"
                       : s->flags & (PTX_WRITTEN | PTX_REGISTER) ? "a register"
                                                                 : "a register or constant";
    if (s->count_n && s->counts[0] > 0)
        snprintf(out, n, "{%u registers} of .%s", s->counts[0], type);
    else snprintf(out, n, "%s of .%s", what, type);
}

static void report_undeclared(struct ptx_parser *p, const struct ptx_opnd *o)
{
    diag_error(p->d, o->at, o->length, "undeclared name '%.*s'",
               o->length < 60 ? (int)o->length : 60, ptx_text(p, o->at));
    if (o->kind == PTX_OPND_LABEL) ptx_note_range(p, o->name);
}

static void report(struct ptx_parser *p, const struct ptx_inst *inst, const struct ptx_op *op,
                   const struct misfit *m)
{
    const char *name = op->text;
    int length = (int)op->text_length;
    if (m->index >= inst->count || !m->shape) {
        const struct ptx_opnd *extra = m->index < inst->count ? &inst->opnds[m->index] : NULL;
        char takes[64];
        if (op->shape_min == op->shape_count) snprintf(takes, sizeof takes, "%d", op->shape_count);
        else snprintf(takes, sizeof takes, "%d to %d", op->shape_min, op->shape_count);
        diag_error(p->d, extra ? extra->at : inst->at, extra ? extra->length : op->text_length,
                   "'%.*s' takes %s operand%s, this has %d", length, name, takes,
                   op->shape_count == 1 && op->shape_min == 1 ? "" : "s", inst->count);
        if (!extra && m->index < op->shape_count) {
            char wanted[96];
            describe_shape(&op->shapes[m->index], wanted, sizeof wanted);
            diag_note(p->d, inst->at, op->text_length, "next would be %s", wanted);
        }
        return;
    }
    const struct ptx_opnd *o = m->verdict.opnd;
    char wanted[96];
    describe_shape(m->shape, wanted, sizeof wanted);
    const char *type = ptx_types[m->shape->type].name;
    const struct ptx_sym *sym = o->kind == PTX_OPND_REG || o->kind == PTX_OPND_SREG ||
                                        o->kind == PTX_OPND_SYM
                                    ? o->sym
                                    : NULL;
    int n = o->length < 60 ? (int)o->length : 60;
    const char *text = ptx_text(p, o->at);
    size_t k = m->index + 1;
    uint32_t at = o->at, len = o->length;
    switch (m->verdict.why) {
    case WRONG_TYPE:
        diag_error(p->d, at, len, "'%.*s' wants %s as operand %zu, '%.*s' is .%s", length, name,
                   wanted, k, n, text, sym ? ptx_types[sym->type].name : "?");
        if (sym && sym->at && sym->kind == PTX_SYM_REG)
            diag_note(p->d, sym->range ? sym->range->at : sym->at, sym->name->length,
                      "'%.*s' is declared here", (int)sym->name->length, sym->name->text);
        return;
    case WRONG_CONSTANT:
        diag_error(p->d, at, len, "'%.*s' wants %s as operand %zu, this is %s", length, name,
                   wanted, k, o->kind == PTX_OPND_INT ? "an integer" : "a floating-point constant");
        return;
    case WRONG_COUNT:
        if (o->kind == PTX_OPND_VEC)
            diag_error(p->d, at, len, "'%.*s' wants %s as operand %zu, this list has %u", length,
                       name, wanted, k, o->count);
        else diag_error(p->d, at, len, "'%.*s' wants %s as operand %zu", length, name, wanted, k);
        return;
    case WRONG_SPACE:
        diag_error(p->d, at, len, "'%.*s' reaches .%s, '%.*s' is in .%s", length, name,
                   ptx_space_name((enum ptx_space)op->space), n, text,
                   sym ? ptx_space_name((enum ptx_space)sym->space) : "?");
        if (sym && sym->at)
            diag_note(p->d, sym->at, sym->name->length, "'%.*s' is declared here",
                      (int)sym->name->length, sym->name->text);
        return;
    case NO_CONSTANT:
        diag_error(p->d, at, len, "operand %zu of '%.*s' must be a register of .%s", k, length,
                   name, type);
        return;
    case NEED_CONSTANT:
        diag_error(p->d, at, len, "operand %zu of '%.*s' must be a constant", k, length, name);
        return;
    case OUT_OF_RANGE:
        if (m->shape->value_n) {
            char list[64];
            size_t used = 0;
            for (unsigned i = 0; i < m->shape->value_n && used + 8 < sizeof list; i++)
                used += (size_t)snprintf(list + used, sizeof list - used, "%s%d", i ? ", " : "",
                                         m->shape->values[i]);
            diag_error(p->d, at, len, "operand %zu of '%.*s' must be one of %s", k, length, name,
                       list);
        } else if (m->shape->step == 0)
            diag_error(p->d, at, len,
                       "operand %zu of '%.*s' must be a power of two from %lld to %lld", k, length,
                       name, (long long)m->shape->low, (long long)m->shape->high);
        else if (m->shape->step > 1)
            diag_error(p->d, at, len,
                       "operand %zu of '%.*s' must be a multiple of %lld from %lld to %lld", k,
                       length, name, (long long)m->shape->step, (long long)m->shape->low,
                       (long long)m->shape->high);
        else
            diag_error(p->d, at, len, "operand %zu of '%.*s' must lie in %lld to %lld", k, length,
                       name, (long long)m->shape->low, (long long)m->shape->high);
        return;
    case NO_SPECIAL:
        diag_error(p->d, at, len, "'%.*s' cannot read a special register; use mov first", length,
                   name);
        return;
    case NO_SINK:
        diag_error(p->d, at, len, "'_' cannot stand for operand %zu of '%.*s'", k, length, name);
        return;
    case NO_NEGATION:
        diag_error(p->d, at, len, "operand %zu of '%.*s' cannot be negated", k, length, name);
        return;
    case NO_SELECTOR:
        diag_error(p->d, at, len, "'%.*s' has no such component here", n, text);
        return;
    case NO_ADDRESS:
        diag_error(p->d, at, len, "'%.*s' cannot take the address of '%.*s'; use mov first", length,
                   name, n, text);
        return;
    case UNDECLARED: report_undeclared(p, o); return;
    case NOT_WRITABLE:
        diag_error(p->d, at, len, "operand %zu of '%.*s' is written and must be a register", k,
                   length, name);
        return;
    case NO_SECOND: diag_error(p->d, at, len, "'%.*s' has no second result", length, name); return;
    case FUNC_NO_ABI:
        diag_error(p->d, at, len,
                   "a module in which a function has several results cannot take the address of a "
                   "function: return them in one .param array");
        return;
    case FUNC_OFFSET: diag_error(p->d, at, len, "no offset may follow a function"); return;
    case SHORT_ADDRESS:
        diag_error(p->d, at, len,
                   "an address in .global or a generic one has 64 bits in this module");
        return;
    case NO_GENERIC:
        diag_error(p->d, at, len, "'%.*s' without a state space needs target sm_20", length, name);
        return;
    case GATED:
        diag_error(p->d, at, len, "'%.*s': %s", length, name,
                   m->shape->second_gate ? m->shape->second_gate : m->shape->gate);
        return;
    case NO_ARRAY: diag_error(p->d, at, len, "'%.*s' is no array", n, text); return;
    case NO_SAMPLER:
        diag_error(p->d, at, len, "texmode_independent needs [texture, sampler, {coordinates}]");
        return;
    case PARAM_ADDRESS:
        diag_error(p->d, at, len, "'%.*s' is a parameter for a call and has no address", n, text);
        return;
    case PARAM_WRITE:
        diag_error(p->d, at, len, "'%.*s' is an input of this function and cannot be written", n,
                   text);
        return;
    case PARAM_READ:
        diag_error(p->d, at, len, "'%.*s' is a result of this function and cannot be read", n,
                   text);
        return;
    case PARAM_GUARDED:
        diag_error(p->d, at, len, "a call's parameters cannot be accessed under a predicate");
        return;
    case IMMEDIATE:
        diag_error(p->d, at, len, "a constant address is possible in .local only");
        return;
    case MIXED:
        diag_error(p->d, at, len, "the registers of a vector must be of one size and kind");
        return;
    case NEED_SECOND:
        diag_error(p->d, at, len, "'%.*s' has two results: a|p", length, name);
        return;
    case ADDRESS_TYPE:
        diag_error(p->d, at, len, "'%.*s' is .%s and cannot be an address", n, text,
                   sym ? ptx_types[sym->type].name : "?");
        return;
    default:
        diag_error(p->d, at, len, "'%.*s' wants %s as operand %zu", length, name, wanted, k);
        return;
    }
}

/* Labels are resolved when their scope ends. */
static void pend_labels(struct ptx_parser *p, struct ptx_inst *inst, const struct ptx_op *op)
{
    for (size_t i = 0; i < inst->count && i < op->shape_count; i++) {
        struct ptx_opnd *o = &inst->opnds[i];
        if (o->kind != PTX_OPND_LABEL || o->sym) continue;
        if (op->shapes[i].base == PTX_BASE_LABEL) ptx_pend(p, o, PTX_SYM_LABEL);
    }
}

void ptx_check_inst(struct ptx_parser *p, struct ptx_inst *inst, const struct ptx_op *ops)
{
    struct misfit best = {0}, m;
    const struct ptx_op *best_op = NULL;
    for (const struct ptx_op *op = ops; op; op = op->next) {
        m = (struct misfit){0};
        struct fit c = {p->m, p->func, op, inst, p->without_abi};
        if (fit_op(&c, &m)) {
            inst->op = op;
            if (is_call(op)) ptx_check_call(p, inst);
            else pend_labels(p, inst, op);
            return;
        }
        if (!best_op || m.index > best.index) {
            best = m;
            best_op = op;
        }
    }
    report(p, inst, best_op, &best);
}
