/* The interpreter of tests/oracles/oracle.h. */
#include "tests/oracles/oracle.h"

#include "ptx/cfg.h"
#include "ptx/ptx.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 u128;
typedef __int128 i128;

enum { STACK = 1 << 16, DEEPEST = 60, SHARED = 1 << 16 };

/* Where the spaces lie for generic addresses. */
#define AT_SHARED UINT64_C(0x0100000000000000)
#define AT_LOCAL UINT64_C(0x0200000000000000)
#define AT_PARAM UINT64_C(0x0300000000000000)
#define AT_CODE UINT64_C(0x0400000000000000)
#define AT_BUFFER UINT64_C(0x0500000000000000) /* each one 2^40 bytes further */

struct oracle_var { /* of the module */
    const struct ptx_sym *sym;
    uint64_t address;
};

struct slot { /* a variable in a frame */
    const struct ptx_sym *sym;
    uint64_t at;
};
struct frame {
    const struct ptx_func *func;
    u128 *regs; /* four components for each */
    struct slot *slots;
    size_t slot_count, pc;
    uint64_t base, top; /* in the thread's stack */
    bool carry;
    const struct ptx_inst *call; /* that it goes on behind */
};
struct thread {
    struct oracle *o;
    uint32_t tid[3], linear, ctaid[3];
    struct frame frames[DEEPEST];
    int depth; /* the running one */
    uint8_t *stack, *shared;
    const uint8_t *params;
    bool ended, waits;
    const struct ptx_inst *barrier;
    uint64_t steps;
};

uint64_t oracle_buffer(struct oracle *o, void *bytes, size_t size)
{
    uint64_t address = AT_BUFFER + ((uint64_t)o->buffer_count << 40);
    o->buffers[o->buffer_count++] = (struct oracle_buffer){address, size, bytes, false};
    return address;
}

static bool fail(struct thread *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct thread *t, const char *format, ...)
{
    if (t->o->why[0]) return false;
    va_list args;
    va_start(args, format);
    vsnprintf(t->o->why, sizeof t->o->why, format, args);
    va_end(args);
    return false;
}

static bool is_named(const struct ptx_name *n, const char *text)
{
    return n->length == strlen(text) && memcmp(n->text, text, n->length) == 0;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

static unsigned width_of(unsigned type)
{
    return type == PTX_pred ? 1 : ptx_types[type].bits;
}
static bool is_signed(unsigned type)
{
    return ptx_types[type].kind == PTX_SINT;
}
static bool is_float(unsigned type)
{
    return ptx_types[type].kind == PTX_FLOAT;
}
static u128 low(u128 x, unsigned bits)
{
    return bits >= 128 ? x : x & (((u128)1 << bits) - 1);
}
/* The number that the bits stand for. */
static i128 number(u128 x, unsigned bits, bool sign)
{
    x = low(x, bits);
    if (sign && bits < 128 && x >> (bits - 1) & 1) return (i128)x - ((i128)1 << bits);
    return (i128)x;
}
static float f32_of(u128 x)
{
    uint32_t b = (uint32_t)x;
    float f;
    memcpy(&f, &b, sizeof f);
    return f;
}
static double f64_of(u128 x)
{
    uint64_t b = (uint64_t)x;
    double d;
    memcpy(&d, &b, sizeof d);
    return d;
}
static u128 bits32(float f)
{
    uint32_t b;
    memcpy(&b, &f, sizeof b);
    return b;
}
static u128 bits64(double d)
{
    uint64_t b;
    memcpy(&b, &d, sizeof b);
    return b;
}

static float flush(float x, bool ftz)
{
    return ftz && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

/* Results of f32: every NaN is the one that hardware gives. */
static u128 single(float x, bool ftz, bool sat)
{
    x = flush(x, ftz);
    if (sat) x = isnan(x) || x <= 0 ? 0.0f : x > 1 ? 1.0f : x;
    return isnan(x) ? 0x7fffffffu : bits32(x);
}
/* Of f64: the first NaN among the operands, quiet. */
static u128 twice(double r, const double *from, int n)
{
    if (!isnan(r)) return bits64(r);
    for (int i = 0; i < n; i++)
        if (isnan(from[i])) return bits64(from[i]) | UINT64_C(0x0008000000000000);
    return UINT64_C(0xfff8000000000000);
}

/* ---- operands ----------------------------------------------------------------------------------- */

static struct frame *now(struct thread *t)
{
    return &t->frames[t->depth];
}

static u128 special(struct thread *t, const struct ptx_sym *s, unsigned c)
{
    const struct oracle *o = t->o;
    const struct ptx_name *n = s->name;
    uint32_t lane = t->linear % 32;
    if (c > 2) return 0;
    if (is_named(n, "%tid")) return t->tid[c];
    if (is_named(n, "%ntid")) return o->block[c];
    if (is_named(n, "%ctaid")) return t->ctaid[c];
    if (is_named(n, "%nctaid")) return o->grid[c];
    if (is_named(n, "%laneid")) return lane;
    if (is_named(n, "%warpid")) return t->linear / 32;
    if (is_named(n, "%nwarpid")) return (o->block[0] * o->block[1] * o->block[2] + 31) / 32;
    if (is_named(n, "%lanemask_eq")) return (u128)1 << lane;
    if (is_named(n, "%lanemask_lt")) return ((u128)1 << lane) - 1;
    if (is_named(n, "%lanemask_le")) return ((u128)2 << lane) - 1;
    if (is_named(n, "%lanemask_gt")) return low(~(((u128)2 << lane) - 1), 32);
    if (is_named(n, "%lanemask_ge")) return low(~(((u128)1 << lane) - 1), 32);
    fail(t, "special register %.*s", (int)n->length, n->text);
    return 0;
}

/* Where a variable lies, as the instructions of its own space name it. */
static u128 place_of(struct thread *t, const struct ptx_sym *s)
{
    if (s->kind == PTX_SYM_FUNC) {
        const struct ptx_func *f = s->func->definition ? s->func->definition : s->func;
        for (size_t i = 0; i < t->o->module->func_count; i++) {
            const struct ptx_func *g = t->o->module->funcs[i];
            if ((g->definition ? g->definition : g) == f) return AT_CODE + 16 * i;
        }
    }
    const struct frame *f = now(t);
    for (size_t i = 0; i < f->slot_count; i++)
        if (f->slots[i].sym == s) return f->slots[i].at;
    for (unsigned i = 0; i < t->o->var_count; i++)
        if (t->o->vars[i].sym == s) return t->o->vars[i].address;
    fail(t, "no variable '%.*s'", (int)s->name->length, s->name->text);
    return 0;
}

static unsigned component(const struct ptx_opnd *o)
{
    return o->sel >= PTX_SEL_X && o->sel <= PTX_SEL_W ? o->sel - PTX_SEL_X : 0;
}

/* The operand's bits as the type has them. */
static u128 value(struct thread *t, const struct ptx_opnd *o, unsigned type);

/* name[constant], name[register + constant]: 32 bits that wrap, times the bytes of the scalar type. */
static u128 element_of(struct thread *t, const struct ptx_opnd *o)
{
    const struct ptx_sym *sym = o->kind == PTX_OPND_ADDR ? o->elem[0].sym : o->sym;
    uint32_t i = (uint32_t)o->offset;
    if (o->kind == PTX_OPND_ADDR) {
        struct ptx_opnd index = o->elem[1];
        index.offset = 0;
        i += (uint32_t)value(t, &index, index.sym->type);
    }
    u128 a = place_of(t, sym) + i * (ptx_types[sym->type].bits / 8);
    return sym->space == PTX_SPACE_GLOBAL || sym->space == PTX_SPACE_CONST ? a : (uint32_t)a;
}

static u128 value(struct thread *t, const struct ptx_opnd *o, unsigned type)
{
    unsigned bits = width_of(type);
    switch (o->kind) {
    case PTX_OPND_REG: {
        u128 x = now(t)->regs[o->sym->id * 4 + component(o)];
        if (type == PTX_pred) return (x & 1) ^ o->negated;
        return low(o->sel ? x : x + (u128)(i128)o->offset, bits);
    }
    case PTX_OPND_SREG: return low(special(t, o->sym, component(o)), bits);
    case PTX_OPND_INT:
        if (type == PTX_pred) return (o->bits != 0) ^ o->negated;
        return low((u128)(i128)(int64_t)o->bits, bits);
    case PTX_OPND_FLOAT: return type == PTX_f32 ? bits32((float)f64_of(o->bits)) : o->bits;
    case PTX_OPND_F32: return type == PTX_f64 ? bits64(f32_of(o->bits)) : o->bits;
    case PTX_OPND_F64: return type == PTX_f32 ? bits32((float)f64_of(o->bits)) : o->bits;
    case PTX_OPND_SYM:
        if (o->indexed) return low(element_of(t, o), bits);
        return low(place_of(t, o->sym) + (u128)(i128)o->offset, bits);
    case PTX_OPND_ADDR: return low(element_of(t, o), bits);
    default: fail(t, "operand of kind %u", o->kind); return 0;
    }
}

/* Into a register, which may be wider than the type. */
static void put(struct thread *t, const struct ptx_opnd *o, unsigned type, u128 x)
{
    if (o->kind == PTX_OPND_SINK) return;
    if (o->kind != PTX_OPND_REG) {
        fail(t, "result of kind %u", o->kind);
        return;
    }
    unsigned to = width_of(o->sym->type);
    x = low(x, width_of(type));
    if (is_signed(type)) x = (u128)number(x, width_of(type), true);
    now(t)->regs[o->sym->id * 4 + component(o)] = low(x, to);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static uint8_t *memory(struct thread *t, unsigned space, uint64_t a, uint64_t size)
{
    if (space == PTX_SPACE_SHARED) a += AT_SHARED;
    if (space == PTX_SPACE_LOCAL) a += AT_LOCAL;
    if (space == PTX_SPACE_PARAM) a += t->depth == 0 && a >= AT_PARAM ? 0 : AT_LOCAL;
    if (a % (size > 16 ? 16 : size)) {
        fail(t, "misaligned");
        return NULL;
    }
    if (a - AT_SHARED < SHARED && a - AT_SHARED + size <= SHARED)
        return t->shared + (a - AT_SHARED);
    if (a - AT_LOCAL < STACK && a - AT_LOCAL + size <= STACK) return t->stack + (a - AT_LOCAL);
    if (a - AT_PARAM < 4096 && a - AT_PARAM + size <= 4096)
        return (uint8_t *)(uintptr_t)t->params + (a - AT_PARAM);
    for (unsigned i = 0; i < t->o->buffer_count; i++) {
        const struct oracle_buffer *b = &t->o->buffers[i];
        if (a >= b->address && a - b->address < b->size && b->size - (a - b->address) >= size)
            return b->bytes + (a - b->address);
    }
    fail(t, "out of bounds: %llx", (unsigned long long)a);
    return NULL;
}

/* A load, a store, or what else has an address: [register + offset], [name + offset], name[register]. */
static uint64_t address_of(struct thread *t, const struct ptx_opnd *o, unsigned *space)
{
    const struct ptx_opnd *e = o->kind == PTX_OPND_ADDR ? &o->elem[0] : o;
    u128 a;
    if (e->kind == PTX_OPND_SYM && *space == PTX_SPACE_GENERIC && e->sym->kind == PTX_SYM_VAR)
        *space = e->sym->space;
    if (o->indexed) a = element_of(t, o);
    else if (e->kind == PTX_OPND_INT) a = (u128)(i128)o->offset;
    else if (e->kind == PTX_OPND_REG) {
        struct ptx_opnd base = *e;
        base.offset = 0;
        a = value(t, &base, ptx_types[e->sym->type].bits == 32 ? PTX_u32 : PTX_u64) +
            (u128)(i128)o->offset;
    } else if (e->kind == PTX_OPND_SYM) a = place_of(t, e->sym) + (u128)(i128)o->offset;
    else fail(t, "address of kind %u", e->kind), a = 0;
    if (*space == PTX_SPACE_SHARED_CLUSTER) *space = PTX_SPACE_SHARED;
    return (uint64_t)a;
}

static bool access_memory(struct thread *t, const struct ptx_inst *i, bool store)
{
    const struct ptx_opnd *v = &i->opnds[store ? 1 : 0], *to = &i->opnds[store ? 0 : 1];
    unsigned type = i->op->type[0], size = width_of(type) / 8, space = i->op->space;
    uint64_t a = address_of(t, to, &space);
    uint32_t n = v->kind == PTX_OPND_VEC ? v->count : 1;
    uint8_t *p = memory(t, space, a, (uint64_t)size * n);
    if (!p) return false;
    for (uint32_t k = 0; k < n; k++) {
        const struct ptx_opnd *e = v->kind == PTX_OPND_VEC ? &v->elem[k] : v;
        u128 x = 0;
        if (store) {
            if (e->kind == PTX_OPND_SINK) continue;
            x = value(t, e, type);
            memcpy(p + k * size, &x, size);
        } else {
            memcpy(&x, p + k * size, size);
            put(t, e, type, x);
        }
    }
    return true;
}

/* ---- integers ----------------------------------------------------------------------------------- */

static bool has(const struct ptx_inst *i, const char *word)
{
    return ptx_op_has(i->op, word);
}

static i128 clamp(i128 x, unsigned bits, bool sign)
{
    i128 most = ((i128)1 << (sign ? bits - 1 : bits)) - 1, least = sign ? -most - 1 : 0;
    return x > most ? most : x < least ? least : x;
}

static bool compare(const struct ptx_inst *i, int order, bool unordered)
{
    static const struct {
        const char *name;
        bool less, same, more, nan;
    } all[] = {{"eq", 0, 1, 0, 0},  {"ne", 1, 0, 1, 0},  {"lt", 1, 0, 0, 0},  {"le", 1, 1, 0, 0},
               {"gt", 0, 0, 1, 0},  {"ge", 0, 1, 1, 0},  {"lo", 1, 0, 0, 0},  {"ls", 1, 1, 0, 0},
               {"hi", 0, 0, 1, 0},  {"hs", 0, 1, 1, 0},  {"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1},
               {"ltu", 1, 0, 0, 1}, {"leu", 1, 1, 0, 1}, {"gtu", 0, 0, 1, 1}, {"geu", 0, 1, 1, 1},
               {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (has(i, all[k].name))
            return unordered   ? all[k].nan
                   : order < 0 ? all[k].less
                   : order > 0 ? all[k].more
                               : all[k].same;
    return false;
}

static bool compared(struct thread *t, const struct ptx_inst *i, unsigned type)
{
    u128 a = value(t, &i->opnds[1], type), b = value(t, &i->opnds[2], type);
    if (is_float(type)) {
        double x = type == PTX_f32 ? flush(f32_of(a), has(i, "ftz")) : f64_of(a);
        double y = type == PTX_f32 ? flush(f32_of(b), has(i, "ftz")) : f64_of(b);
        return compare(i, x < y ? -1 : x > y, isnan(x) || isnan(y));
    }
    i128 x = number(a, width_of(type), is_signed(type)),
         y = number(b, width_of(type), is_signed(type));
    return compare(i, x < y ? -1 : x > y, false);
}

static bool joined(struct thread *t, const struct ptx_inst *i, bool c)
{
    if (i->count < 4) return c;
    bool p = value(t, &i->opnds[3], PTX_pred);
    return has(i, "and") ? c && p : has(i, "or") ? c || p : c != p;
}

static void do_setp(struct thread *t, const struct ptx_inst *i)
{
    bool c = compared(t, i, i->op->type[0]);
    const struct ptx_opnd *d = &i->opnds[0];
    bool p = joined(t, i, c), q = joined(t, i, !c);
    if (d->kind == PTX_OPND_PAIR) {
        put(t, &d->elem[0], PTX_pred, p);
        put(t, &d->elem[1], PTX_pred, q);
    } else put(t, d, PTX_pred, p);
}

/* add, sub, mul, mad, all with or without carry. */
static void do_sum(struct thread *t, const struct ptx_inst *i, const char *name)
{
    unsigned type = i->op->type[0], bits = width_of(type);
    bool sign = is_signed(type), wide = has(i, "wide");
    bool is_mul = name[0] == 'm', sub = name[0] == 's', has_carry = strchr(name, 'c') != NULL;
    u128 sum, c;
    if (strncmp(name, "mad", 3) == 0) has_carry = name[3] == 'c';
    if (is_mul) {
        i128 a = number(value(t, &i->opnds[1], type), bits, sign);
        i128 b = number(value(t, &i->opnds[2], type), bits, sign);
        u128 p = (u128)a * (u128)b;
        u128 part = wide ? p : has(i, "hi") ? p >> bits : p;
        unsigned result = wide ? 2 * bits : bits;
        if (name[1] == 'u') {
            put(t, &i->opnds[0], wide ? bits == 16 ? PTX_b32 : PTX_b64 : type, part);
            return;
        }
        unsigned wide_type = bits == 16 ? sign ? PTX_s32 : PTX_u32 : sign ? PTX_s64 : PTX_u64;
        c = value(t, &i->opnds[3], wide ? wide_type : type);
        if (has(i, "sat")) {
            i128 x = number(part, bits, sign) + number(c, bits, sign) +
                     (has_carry && now(t)->carry);
            put(t, &i->opnds[0], type, (u128)clamp(x, bits, sign));
            return;
        }
        sum = low(part, result) + low(c, result) + (has_carry && now(t)->carry);
        if (has(i, "cc")) now(t)->carry = sum >> result & 1;
        put(t, &i->opnds[0], wide ? wide_type : type, sum);
        return;
    }
    u128 a = value(t, &i->opnds[1], type), b = value(t, &i->opnds[2], type);
    bool in = has_carry ? now(t)->carry : sub;
    if (has(i, "sat")) {
        i128 x = number(a, bits, sign), y = number(b, bits, sign);
        put(t, &i->opnds[0], type, (u128)clamp(sub ? x - y - !in : x + y + in, bits, sign));
        return;
    }
    sum = sub ? a - b - !in : a + b + in;
    /* A borrow runs through all higher bits, and is no carry. */
    if (has(i, "cc")) now(t)->carry = (sum >> bits & 1) ^ sub;
    put(t, &i->opnds[0], type, sum);
}

static u128 permute(const struct ptx_inst *i, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t all = (uint64_t)b << 32 | a;
    uint32_t d = 0, s = c & 3;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t from, byte;
        bool fill = false;
        if (has(i, "f4e")) from = s + k;
        else if (has(i, "b4e")) from = (s + 8 - k) % 8;
        else if (has(i, "rc8")) from = s;
        else if (has(i, "ecl")) from = k < s ? s : k;
        else if (has(i, "ecr")) from = k < s ? k : s;
        else if (has(i, "rc16")) from = (s & 1) * 2 + k % 2;
        else from = c >> 4 * k & 7, fill = c >> (4 * k + 3) & 1;
        byte = all >> 8 * from & 0xff;
        if (fill) byte = byte & 0x80 ? 0xff : 0;
        d |= byte << 8 * k;
    }
    return d;
}

static bool do_integer(struct thread *t, const struct ptx_inst *i, const char *name)
{
    unsigned type = i->op->type[0], bits = width_of(type);
    bool sign = is_signed(type);
    const struct ptx_opnd *d = &i->opnds[0];
    u128 v[4] = {0};
    i128 n[4] = {0};
    for (uint32_t k = 1; k < i->count && k < 4; k++)
        if (i->opnds[k].kind != PTX_OPND_VEC) {
            v[k] = value(t, &i->opnds[k], type);
            n[k] = number(v[k], bits, sign);
        }
#define IS(text) (strcmp(name, text) == 0)
    if (IS("sad")) put(t, d, type, (u128)(n[1] > n[2] ? n[1] - n[2] : n[2] - n[1]) + v[3]);
    else if (IS("div") || IS("rem")) {
        if (!n[2]) return fail(t, "division by zero");
        put(t, d, type, (u128)(IS("div") ? n[1] / n[2] : n[1] % n[2]));
    } else if (IS("abs")) put(t, d, type, (u128)(n[1] < 0 ? -n[1] : n[1]));
    else if (IS("neg")) put(t, d, type, (u128)-n[1]);
    else if (IS("min")) put(t, d, type, n[1] < n[2] ? v[1] : v[2]);
    else if (IS("max")) put(t, d, type, n[1] > n[2] ? v[1] : v[2]);
    else if (IS("and")) put(t, d, type, v[1] & v[2]);
    else if (IS("or")) put(t, d, type, v[1] | v[2]);
    else if (IS("xor")) put(t, d, type, v[1] ^ v[2]);
    else if (IS("not")) put(t, d, type, ~v[1]);
    else if (IS("cnot")) put(t, d, type, v[1] == 0);
    else if (IS("popc") || IS("clz") || IS("bfind") || IS("brev")) {
        unsigned count = 0, zeros = 0;
        u128 back = 0, x = IS("bfind") && n[1] < 0 ? ~v[1] : v[1];
        int top = -1;
        for (unsigned b = 0; b < bits; b++)
            if (x >> b & 1) count++, top = (int)b, back |= (u128)1 << (bits - 1 - b);
        zeros = bits - 1 - (unsigned)top;
        if (has(i, "shiftamt") && top >= 0) top = (int)bits - 1 - top;
        if (IS("brev")) put(t, d, type, back);
        else put(t, d, PTX_u32, IS("popc") ? count : IS("clz") ? zeros : (u128)top);
    } else if (IS("bfe")) {
        unsigned at = (unsigned)value(t, &i->opnds[2], PTX_u32) & 255,
                 len = (unsigned)value(t, &i->opnds[3], PTX_u32) & 255;
        unsigned s = at + len - 1 < bits - 1 ? at + len - 1 : bits - 1;
        bool fill = sign && len && v[1] >> s & 1;
        u128 r = 0;
        for (unsigned b = 0; b < bits; b++)
            if (b < len && at + b < bits ? v[1] >> (at + b) & 1 : fill) r |= (u128)1 << b;
        put(t, d, type, r);
    } else if (IS("bfi")) {
        unsigned at = (unsigned)value(t, &i->opnds[3], PTX_u32) & 255,
                 len = (unsigned)value(t, &i->opnds[4], PTX_u32) & 255;
        u128 r = v[2];
        for (unsigned b = 0; b < len && at + b < bits; b++)
            r = (r & ~((u128)1 << (at + b))) | (v[1] >> b & 1) << (at + b);
        put(t, d, type, r);
    } else if (IS("lop3")) {
        u128 r = 0;
        for (unsigned b = 0; b < 32; b++) {
            unsigned k = (v[1] >> b & 1) << 2 | (v[2] >> b & 1) << 1 | (v[3] >> b & 1);
            r |= (u128)(i->opnds[4].bits >> k & 1) << b;
        }
        put(t, d, type, r);
    } else if (IS("shf.l") || IS("shf.r")) {
        unsigned c = (unsigned)v[3], by = has(i, "wrap") ? c & 31 : c > 32 ? 32 : c;
        uint64_t both = (uint64_t)v[2] << 32 | (uint64_t)v[1];
        put(t, d, type, IS("shf.r") ? both >> by : (u128)both << by >> 32);
    } else if (IS("shl") || IS("shr")) {
        u128 by = value(t, &i->opnds[2], PTX_u32);
        if (by > bits) by = bits;
        put(t, d, type, IS("shl") ? v[1] << by : (u128)(n[1] >> by));
    } else if (IS("prmt"))
        put(t, d, type, permute(i, (uint32_t)v[1], (uint32_t)v[2], (uint32_t)v[3]));
    else if (IS("mul24.lo") || IS("mul24.hi") || IS("mad24.lo") || IS("mad24.hi")) {
        i128 p = number(v[1], 24, sign) * number(v[2], 24, sign);
        u128 r = name[6] == 'h' ? (u128)p >> 16 : (u128)p;
        if (name[1] == 'a' && has(i, "sat")) r = (u128)clamp(number(r, 32, sign) + n[3], 32, sign);
        else if (name[1] == 'a') r += v[3];
        put(t, d, type, r);
    } else if (IS("dp4a") || IS("dp2a.lo") || IS("dp2a.hi")) {
        unsigned other = i->op->type[1];
        u128 a = value(t, &i->opnds[1], PTX_b32), b = value(t, &i->opnds[2], PTX_b32);
        i128 sum = (i128)value(t, &i->opnds[3], PTX_b32);
        for (unsigned k = 0; k < (name[2] == '4' ? 4u : 2u); k++)
            sum += name[2] == '4'
                       ? number(a >> 8 * k, 8, sign) * number(b >> 8 * k, 8, is_signed(other))
                       : number(a >> 16 * k, 16, sign) *
                             number(b >> (8 * k + (name[5] == 'h' ? 16 : 0)), 8, is_signed(other));
        put(t, d, PTX_u32, (u128)sum);
    } else return fail(t, "'%s' is unknown", name);
    return true;
}

/* ---- floats ------------------------------------------------------------------------------------- */

/* The lesser; a NaN loses, -0 is less than +0. */
static double lesser(double a, double b)
{
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    if (a == 0 && b == 0) return signbit(a) ? a : b;
    return a < b ? a : b;
}

static bool do_float(struct thread *t, const struct ptx_inst *i, const char *name)
{
    unsigned type = i->op->type[0];
    bool ftz = has(i, "ftz"), sat = has(i, "sat"), is32 = type == PTX_f32;
    double x[3] = {0};
    u128 v[3] = {0};
    for (uint32_t k = 1; k < i->count && k < 4; k++) {
        v[k - 1] = value(t, &i->opnds[k], type);
        x[k - 1] = is32 ? flush(f32_of(v[k - 1]), ftz) : f64_of(v[k - 1]);
    }
    if (has(i, "rz") || has(i, "rm") || has(i, "rp")) return fail(t, "rounding of %s", i->op->text);
    float a = (float)x[0], b = (float)x[1], c = (float)x[2], r = 0;
    double w = 0;
    int from = 2;
    if (IS("add")) r = a + b, w = x[0] + x[1];
    else if (IS("sub")) r = a - b, w = x[0] - x[1];
    else if (IS("mul")) r = a * b, w = x[0] * x[1];
    else if (IS("div")) r = a / b, w = x[0] / x[1];
    else if (IS("rcp")) r = 1 / a, w = 1 / x[0], from = 1;
    else if (IS("sqrt")) r = sqrtf(a), w = sqrt(x[0]), from = 1;
    else if (IS("fma") || IS("mad")) r = fmaf(a, b, c), w = fma(x[0], x[1], x[2]), from = 3;
    else if (IS("min")) w = lesser(x[0], x[1]), r = (float)w;
    else if (IS("max")) w = -lesser(-x[0], -x[1]), r = (float)w;
    else if (IS("abs") && !is32) w = isnan(x[0]) ? x[0] : fabs(x[0]);
    else if (IS("abs")) r = fabsf(a);
    else if (IS("neg")) r = -a;
    else return fail(t, "'%s' is unknown", name);
    if (!is32 && (IS("neg") || IS("abs"))) { /* only the sign changes */
        u128 top = (u128)1 << 63;
        put(t, &i->opnds[0], type, IS("neg") ? v[0] ^ top : bits64(w));
        return true;
    }
    put(t, &i->opnds[0], type, is32 ? single(r, ftz, sat) : twice(w, x, from));
    return true;
}

/* ---- conversions -------------------------------------------------------------------------------- */

/* A whole number as a float of `digits` binary digits, rounded as the instruction says: exact, since
 * the number is cut to so many digits and those that go are looked at. */
static double float_of(const struct ptx_inst *i, i128 n, int digits)
{
    bool negative = n < 0;
    u128 m = negative ? (u128)-n : (u128)n;
    int by = 0;
    while (m >> by >> digits) by++;
    u128 cut = m >> by, rest = m - (cut << by), half = by ? (u128)1 << (by - 1) : 0;
    bool up = false;
    if (has(i, "rn")) up = by && (rest > half || (rest == half && cut & 1));
    if (has(i, "rp")) up = rest && !negative;
    if (has(i, "rm")) up = rest && negative;
    double r = ldexp((double)(uint64_t)(cut + up), by);
    return negative ? -r : r;
}

static double integral(const struct ptx_inst *i, double x)
{
    return has(i, "rni")   ? nearbyint(x)
           : has(i, "rzi") ? trunc(x)
           : has(i, "rmi") ? floor(x)
           : has(i, "rpi") ? ceil(x)
                           : x;
}

static bool do_cvt(struct thread *t, const struct ptx_inst *i)
{
    unsigned to = i->op->type[0], from = i->op->type[1], bits = width_of(to);
    u128 v = value(t, &i->opnds[1], from);
    bool ftz = has(i, "ftz"), sat = has(i, "sat");
    if (!is_float(from)) {
        i128 n = number(v, width_of(from), is_signed(from));
        if (!is_float(to)) v = (u128)(sat ? clamp(n, bits, is_signed(to)) : n);
        else if (to == PTX_f32) v = single((float)float_of(i, n, 24), false, sat);
        else if (to == PTX_f64) {
            double w = float_of(i, n, 53);
            v = bits64(sat ? w <= 0 ? 0 : w > 1 ? 1 : w : w);
        } else return fail(t, "cvt to half");
        put(t, &i->opnds[0], to, v);
        return true;
    }
    if (width_of(from) == 16 || (is_float(to) && bits == 16)) return fail(t, "cvt of half");
    double x = from == PTX_f32 ? flush(f32_of(v), ftz) : f64_of(v);
    if (!is_float(to)) {
        if (isnan(x)) v = from == PTX_f64 || bits == 64 ? (u128)1 << (bits - 1) : 0;
        else {
            x = integral(i, x);
            i128 n = x > 1e30 ? (i128)1 << 100 : x < -1e30 ? -((i128)1 << 100) : (i128)x;
            v = (u128)clamp(n, bits, is_signed(to));
        }
        put(t, &i->opnds[0], to, v);
        return true;
    }
    double y = integral(i, x);
    if (to == PTX_f32) {
        if (from == PTX_f64 && !has(i, "rn")) return fail(t, "rounding of %s", i->op->text);
        v = single((float)y, ftz, sat);
    } else if (sat) v = isnan(y) || y <= 0 ? 0 : bits64(y > 1 ? 1 : y);
    else if (isnan(y) && from == PTX_f32)
        v = (v & 0x80000000u) << 32 | (v & 0x7fffffu) << 29 | UINT64_C(0x7ff8000000000000);
    else v = twice(y, &y, 1);
    put(t, &i->opnds[0], to, v);
    return true;
}

/* ---- moves -------------------------------------------------------------------------------------- */

static void do_mov(struct thread *t, const struct ptx_inst *i)
{
    const struct ptx_opnd *d = &i->opnds[0], *s = &i->opnds[1];
    unsigned type = i->op->type[0], bits = width_of(type);
    unsigned of[] = {PTX_b8, PTX_b16, PTX_b32, PTX_b64};
    if (i->op->vec > 1) {
        for (uint32_t k = 0; k < d->count; k++)
            put(t, &d->elem[k], type, value(t, &s->elem[k], type));
        return;
    }
    u128 x = 0;
    if (s->kind == PTX_OPND_VEC) {
        unsigned part = bits / s->count;
        for (uint32_t k = 0; k < s->count; k++)
            x |= value(t, &s->elem[k],
                       of[part == 8    ? 0
                          : part == 16 ? 1
                          : part == 32 ? 2
                                       : 3])
                 << part * k;
    } else x = value(t, s, type);
    if (d->kind != PTX_OPND_VEC) {
        put(t, d, type, x);
        return;
    }
    unsigned part = bits / d->count;
    for (uint32_t k = 0; k < d->count; k++)
        put(t, &d->elem[k], of[part == 8 ? 0 : part == 16 ? 1 : part == 32 ? 2 : 3], x >> part * k);
}

/* From a space's own addresses to generic ones and back. */
static void do_cvta(struct thread *t, const struct ptx_inst *i, bool back)
{
    unsigned space = i->op->space, type = i->op->type[0];
    u128 a = value(t, &i->opnds[1], type);
    u128 base = space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER ? AT_SHARED
                : space == PTX_SPACE_LOCAL                                     ? AT_LOCAL
                                                                               : 0;
    put(t, &i->opnds[0], type, back ? a - base : a + base);
}

static bool do_choice(struct thread *t, const struct ptx_inst *i, const char *name)
{
    unsigned type = i->op->type[0];
    bool first;
    if (IS("selp")) first = value(t, &i->opnds[3], PTX_pred);
    else if (i->op->type[1] == PTX_s32)
        first = number(value(t, &i->opnds[3], PTX_s32), 32, true) >= 0;
    else first = flush(f32_of(value(t, &i->opnds[3], PTX_f32)), has(i, "ftz")) >= 0;
    put(t, &i->opnds[0], type, value(t, &i->opnds[first ? 1 : 2], type));
    return true;
}

static bool do_testp(struct thread *t, const struct ptx_inst *i)
{
    unsigned type = i->op->type[0];
    u128 v = value(t, &i->opnds[1], type);
    int class = type == PTX_f32 ? fpclassify(f32_of(v)) : fpclassify(f64_of(v));
    bool r = has(i, "finite")       ? class != FP_NAN && class != FP_INFINITE
             : has(i, "infinite")   ? class == FP_INFINITE
             : has(i, "number")     ? class != FP_NAN
             : has(i, "notanumber") ? class == FP_NAN
             : has(i, "normal")     ? class == FP_NORMAL || class == FP_ZERO
                                    : class == FP_SUBNORMAL;
    put(t, &i->opnds[0], PTX_pred, r);
    return true;
}

static bool do_predicate(struct thread *t, const struct ptx_inst *i, const char *name)
{
    bool a = value(t, &i->opnds[1], PTX_pred), b = i->count > 2 && value(t, &i->opnds[2], PTX_pred);
    put(t, &i->opnds[0], PTX_pred,
        IS("and")   ? a && b
        : IS("or")  ? a || b
        : IS("xor") ? a != b
        : IS("not") ? !a
                    : a);
    return true;
}

/* ---- calls -------------------------------------------------------------------------------------- */

static uint64_t up(uint64_t n, uint64_t align)
{
    return (n + align - 1) / align * align;
}

static void add_slot(struct frame *f, const struct ptx_var *v, uint64_t *top)
{
    uint64_t align = ptx_var_align(v) < 16 ? 16 : ptx_var_align(v);
    *top = up(*top, align);
    f->slots = realloc(f->slots, (f->slot_count + 1) * sizeof *f->slots);
    f->slots[f->slot_count++] = (struct slot){v->sym, *top};
    *top += ptx_var_size(v);
}

static bool enter(struct thread *t, const struct ptx_func *func, const struct ptx_inst *call)
{
    if (t->depth + 1 == DEEPEST) return fail(t, "calls too deep");
    uint64_t top = t->depth < 0 ? 0 : now(t)->top;
    struct frame *f = &t->frames[++t->depth];
    *f = (struct frame){.func = func, .call = call, .base = top};
    f->regs = calloc(func->body->reg_count * 4 + 4, sizeof *f->regs);
    uint64_t param = AT_PARAM;
    for (uint32_t k = 0; k < func->proto.param_count; k++) {
        const struct ptx_var *v = func->proto.params[k];
        if (v->in_reg) continue;
        if (t->depth > 0) {
            add_slot(f, v, &top);
            continue;
        }
        uint64_t size = ptx_var_size(v);
        param = up(param, ptx_var_align(v));
        f->slots = realloc(f->slots, (f->slot_count + 1) * sizeof *f->slots);
        f->slots[f->slot_count++] = (struct slot){v->sym, param};
        param += size;
    }
    for (uint32_t k = 0; k < func->proto.ret_count; k++)
        if (!func->proto.rets[k]->in_reg) add_slot(f, func->proto.rets[k], &top);
    for (size_t s = 0; s < func->body->count; s++) {
        const struct ptx_stmt *st = &func->body->stmts[s];
        if (st->kind == PTX_STMT_VAR &&
            (st->var->sym->space == PTX_SPACE_LOCAL || st->var->sym->space == PTX_SPACE_PARAM))
            add_slot(f, st->var, &top);
    }
    if (top > STACK) return fail(t, "stack is full");
    f->top = top;
    if (t->depth > 0) memset(t->stack + f->base, 0, f->top - f->base);
    return true;
}

/* A register that is a parameter or result has no operand: found by its declaration. */
static u128 *formal_register(struct frame *f, const struct ptx_var *v)
{
    for (size_t r = 0; r < f->func->body->reg_count; r++) {
        const struct ptx_sym *s = f->func->body->regs[r];
        if (s->name == v->sym->name && s->at == v->sym->at) return &f->regs[s->id * 4];
    }
    static u128 nobody;
    return &nobody;
}

/* One value from one frame to another: `opnd` is in the caller's, `formal` in the callee's. */
static void pass(struct thread *t, int caller, int callee, const struct ptx_opnd *opnd,
                 const struct ptx_var *formal, bool back)
{
    int depth = t->depth;
    uint8_t bytes[STACK] = {0};
    uint64_t size = ptx_var_size(formal);
    if (size > 4096) {
        fail(t, "parameter too large");
        return;
    }
    if (formal->sym->type == PTX_pred) size = 1;
    t->depth = back ? callee : caller;
    for (int side = 0; side < 2; side++) {
        bool inside = t->depth == callee;
        uint8_t *at = NULL;
        u128 x = 0;
        if (inside && formal->in_reg) {
            u128 *r = formal_register(now(t), formal);
            if (side == 0) memcpy(bytes, r, sizeof *r);
            else {
                memcpy(&x, bytes, sizeof x);
                *r = low(x, width_of(formal->sym->type));
            }
        } else if (inside) at = t->stack + (uint64_t)place_of(t, formal->sym);
        else if (opnd->kind == PTX_OPND_SYM && opnd->sym->kind == PTX_SYM_VAR)
            at = t->stack + (uint64_t)place_of(t, opnd->sym);
        else if (side == 0) {
            x = value(t, opnd, formal->sym->type);
            memcpy(bytes, &x, sizeof x);
        } else {
            memcpy(&x, bytes, sizeof x);
            put(t, opnd, formal->sym->type, x);
        }
        if (at && side == 0) memcpy(bytes, at, size);
        if (at && side == 1) memcpy(at, bytes, size);
        t->depth = back ? caller : callee;
    }
    t->depth = depth;
}

static bool do_call(struct thread *t, const struct ptx_inst *i)
{
    struct ptx_call c = ptx_inst_call(i);
    const struct ptx_func *f = c.func;
    if (!f) {
        u128 a = value(t, c.callee, width_of(c.callee->sym->type) == 32 ? PTX_u32 : PTX_u64);
        uint64_t k = ((uint64_t)a - AT_CODE) / 16;
        if (k >= t->o->module->func_count) return fail(t, "call of no function");
        f = t->o->module->funcs[k];
        if (f->definition) f = f->definition;
    }
    if (!f->is_defined || !f->body) return fail(t, "call of a function without body");
    if (!enter(t, f, i)) return false;
    for (uint32_t k = 0; c.arguments && k < c.arguments->count; k++)
        pass(t, t->depth - 1, t->depth, &c.arguments->elem[k], f->proto.params[k], false);
    return true;
}

static void leave(struct thread *t)
{
    struct frame *f = now(t);
    if (t->depth > 0) {
        struct ptx_call c = ptx_inst_call(f->call);
        for (uint32_t k = 0; c.results && k < c.results->count; k++)
            pass(t, t->depth - 1, t->depth, &c.results->elem[k], f->func->proto.rets[k], true);
    }
    free(f->regs);
    free(f->slots);
    if (--t->depth < 0) t->ended = true;
}

/* ---- one instruction ---------------------------------------------------------------------------- */

static bool do_inst(struct thread *t, const struct ptx_inst *i)
{
    const char *name = i->op->form->name;
    unsigned type = i->op->type_count ? i->op->type[0] : 0;
    if (i->guard && (now(t)->regs[i->guard->id * 4] & 1) == i->guard_not) return true;
    if (IS("bra")) {
        now(t)->pc = i->opnds[0].sym->id;
        return true;
    }
    if (IS("brx.idx")) {
        const struct ptx_targets *all = i->opnds[1].sym->targets;
        u128 k = value(t, &i->opnds[0], PTX_u32);
        if (k >= all->count) return fail(t, "brx.idx");
        now(t)->pc = all->labels[(uint32_t)k].sym->id;
        return true;
    }
    if (IS("call")) return do_call(t, i);
    if (IS("ret")) {
        leave(t);
        return true;
    }
    if (IS("exit")) {
        while (!t->ended) {
            free(now(t)->regs);
            free(now(t)->slots);
            t->ended = --t->depth < 0;
        }
        return true;
    }
    if (IS("ld") || IS("st") || IS("ldu")) return access_memory(t, i, name[0] == 's');
    if (IS("bar") || IS("barrier") || IS("bar.red") || IS("barrier.red")) {
        t->waits = true;
        t->barrier = i;
        return true;
    }
    if (IS("cvt")) return do_cvt(t, i);
    if (IS("cvta") || IS("cvta.to")) {
        do_cvta(t, i, name[4] == '.');
        return true;
    }
    if (IS("setp")) {
        do_setp(t, i);
        return true;
    }
    if (IS("set")) {
        bool r = joined(t, i, compared(t, i, i->op->type[1]));
        put(t, &i->opnds[0], type, !r ? 0 : type == PTX_f32 ? bits32(1) : 0xffffffffu);
        return true;
    }
    if (IS("selp") || IS("slct")) return do_choice(t, i, name);
    if (IS("testp")) return do_testp(t, i);
    if (IS("copysign")) {
        u128 top = (u128)1 << (width_of(type) - 1);
        put(t, &i->opnds[0], type,
            (value(t, &i->opnds[1], type) & top) | (value(t, &i->opnds[2], type) & ~top));
        return true;
    }
    if (type == PTX_pred) return do_predicate(t, i, name);
    if (IS("mov")) {
        do_mov(t, i);
        return true;
    }
    if (is_float(type)) return do_float(t, i, name);
    if (strncmp(name, "add", 3) == 0 || strncmp(name, "sub", 3) == 0 ||
        strncmp(name, "mul.", 4) == 0 || strncmp(name, "mad.", 4) == 0 ||
        strncmp(name, "madc.", 5) == 0) {
        do_sum(t, i, name);
        return true;
    }
    return do_integer(t, i, name);
}

/* Until it ends or waits. */
static bool run(struct thread *t)
{
    uint64_t most = t->o->most_steps ? t->o->most_steps : 10000000;
    while (!t->ended && !t->waits && !t->o->why[0]) {
        struct frame *f = now(t);
        if (f->pc >= f->func->body->count) {
            leave(t);
            continue;
        }
        const struct ptx_stmt *s = &f->func->body->stmts[f->pc++];
        if (s->kind != PTX_STMT_INST) continue;
        if (t->steps++ == most) return fail(t, "does not end");
        if (!do_inst(t, s->inst)) {
            if (!t->o->why[0]) fail(t, "%s", s->inst->op->text);
            return false;
        }
    }
    return !t->o->why[0];
}

/* All threads that have not ended wait: gives what a reduction gives, and lets them go. */
static bool pass_barrier(struct thread *all, uint32_t n)
{
    uint32_t count = 0, on = 0;
    for (uint32_t k = 0; k < n; k++) {
        struct thread *t = &all[k];
        if (!t->waits) continue;
        count++;
        if (strstr(t->barrier->op->form->name, ".red"))
            on += (uint32_t)value(t, &t->barrier->opnds[t->barrier->count - 1], PTX_pred);
    }
    for (uint32_t k = 0; k < n; k++) {
        struct thread *t = &all[k];
        if (!t->waits) continue;
        t->waits = false;
        if (!strstr(t->barrier->op->form->name, ".red")) continue;
        if (has(t->barrier, "popc")) put(t, &t->barrier->opnds[0], PTX_u32, on);
        else put(t, &t->barrier->opnds[0], PTX_pred, has(t->barrier, "and") ? on == count : on > 0);
    }
    return count > 0;
}

static bool run_cta(struct oracle *o, const struct ptx_func *k, const uint32_t *ctaid,
                    const uint8_t *params)
{
    uint32_t n = o->block[0] * o->block[1] * o->block[2];
    struct thread *all = calloc(n, sizeof *all);
    uint8_t *shared = calloc(1, SHARED);
    for (uint32_t i = 0; i < n; i++) {
        struct thread *t = &all[i];
        t->o = o;
        t->linear = i;
        t->tid[0] = i % o->block[0], t->tid[1] = i / o->block[0] % o->block[1];
        t->tid[2] = i / o->block[0] / o->block[1];
        memcpy(t->ctaid, ctaid, sizeof t->ctaid);
        t->shared = shared;
        t->stack = calloc(1, STACK);
        t->params = params;
        t->depth = -1;
        enter(t, k, NULL);
    }
    do {
        for (uint32_t i = 0; i < n && !o->why[0]; i++) run(&all[i]);
    } while (!o->why[0] && pass_barrier(all, n));
    for (uint32_t i = 0; i < n; i++) {
        for (int d = 0; d <= all[i].depth; d++)
            free(all[i].frames[d].regs), free(all[i].frames[d].slots);
        free(all[i].stack);
    }
    free(shared);
    free(all);
    return !o->why[0];
}

/* ---- the module's variables ---------------------------------------------------------------------- */

static void initialise(const struct ptx_init *x, unsigned type, uint8_t **p, const uint8_t *end)
{
    unsigned size = width_of(type) / 8;
    if (x->kind == PTX_INIT_LIST) {
        for (size_t i = 0; i < x->count; i++) initialise(&x->items[i], type, p, end);
        return;
    }
    uint64_t bits = x->bits;
    if (x->kind == PTX_INIT_FLOAT && type == PTX_f32 && x->literal != PTX_OPND_F32) {
        float f = (float)f64_of(bits);
        bits = (uint64_t)bits32(f);
    }
    if (*p + size <= end) memcpy(*p, &bits, size);
    *p += size;
}

static void place_variables(struct oracle *o)
{
    uint64_t shared = 0;
    o->vars = calloc(o->module->var_count + 1024, sizeof *o->vars);
    for (size_t i = 0; i < o->module->var_count; i++) {
        const struct ptx_var *v = o->module->vars[i];
        uint64_t size = ptx_var_size(v);
        struct oracle_var *x = &o->vars[o->var_count++];
        x->sym = v->sym;
        if (v->sym->space == PTX_SPACE_SHARED) {
            x->address = up(shared, 16);
            shared = x->address + size;
            continue;
        }
        uint8_t *bytes = calloc(1, size + 1), *p = bytes;
        x->address = oracle_buffer(o, bytes, size);
        o->buffers[o->buffer_count - 1].owned = true;
        if (v->init) initialise(v->init, v->sym->type, &p, bytes + size);
    }
    for (size_t f = 0; f < o->module->func_count; f++) { /* .shared variables of bodies */
        const struct ptx_func *g = o->module->funcs[f];
        if (g->definition) g = g->definition;
        for (size_t s = 0;
             g->body && s < g->body->count && o->var_count < o->module->var_count + 1000; s++) {
            const struct ptx_stmt *st = &g->body->stmts[s];
            if (st->kind != PTX_STMT_VAR || st->var->sym->space != PTX_SPACE_SHARED) continue;
            o->vars[o->var_count++] = (struct oracle_var){st->var->sym, shared = up(shared, 16)};
            shared += ptx_var_size(st->var);
        }
    }
}

bool oracle_run(struct oracle *o)
{
    o->why[0] = '\0';
    const struct ptx_func *k = ptx_module_find(o->module, o->kernel);
    if (k && k->definition) k = k->definition;
    if (!k || !k->body) {
        snprintf(o->why, sizeof o->why, "no kernel");
        return false;
    }
    place_variables(o);
    uint8_t *params = calloc(1, 4096);
    uint64_t at = 0;
    for (uint32_t i = 0; i < k->proto.param_count && i < 16; i++) {
        uint64_t size = ptx_var_size(k->proto.params[i]);
        at = up(at, ptx_var_align(k->proto.params[i]));
        if (at + size <= 4096) memcpy(params + at, &o->args[i], size < 8 ? size : 8);
        at += size;
    }
    bool ok = true;
    for (uint32_t c = 0; ok && c < o->grid[0] * o->grid[1] * o->grid[2]; c++) {
        uint32_t id[3] = {c % o->grid[0], c / o->grid[0] % o->grid[1], c / o->grid[0] / o->grid[1]};
        ok = run_cta(o, k, id, params);
    }
    free(params);
    return ok;
}

void oracle_end(struct oracle *o)
{
    for (unsigned i = 0; i < o->buffer_count; i++)
        if (o->buffers[i].owned) free(o->buffers[i].bytes);
    free(o->vars);
    o->vars = NULL;
    o->var_count = o->buffer_count = 0;
}
