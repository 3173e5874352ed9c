/* Kernels made from bytes: kernel.h says how. */
#include "tests/fuzz/kernel.h"

#include "base/arena.h"
#include "base/buf.h"
#include "ptx/ptx.h"
#include "tests/support/forms.h"

#include <string.h>

enum {
    REGS = 12,   /* of each class */
    LABELS = 6,  /* of each function */
    MOST = 48,   /* statements of a function */
    DEEP = 4,    /* loops in loops */
    OWN = 64,    /* bytes of each thread in a space */
    VECTOR = 40, /* registers of a vector */
};

struct gen {
    struct arena *arena;
    struct fuzz_bytes *in;
    struct buf *out;
    enum fuzz_kind kind;
    struct ptx_isa *isa;
    unsigned version, sm;
    bool independent; /* .texmode_independent */
    int function;     /* -1: the kernel */
    unsigned labels, depth, lists;
    bool alloca;
};

unsigned fuzz_byte(struct fuzz_bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

unsigned fuzz_below(struct fuzz_bytes *b, unsigned n)
{
    unsigned v = fuzz_byte(b);
    if (n > 256) v = v << 8 | fuzz_byte(b);
    return v % n;
}

static unsigned below(struct gen *g, unsigned n)
{
    return fuzz_below(g->in, n);
}
/* Whether one of n. What is rare is also what does not happen where the bytes have ended. */
static bool rarely(struct gen *g, unsigned n)
{
    return below(g, n) == n - 1;
}
#define PICK(g, array) ((array)[below((g), sizeof(array) / sizeof *(array))])

/* ---- opcodes ----------------------------------------------------------------------------------- */

/* Appends `.word` for one of the alternatives from p on, which stand behind their dots. */
static void add_word(struct gen *g, struct buf *b, const char *p)
{
    const char *words[80];
    size_t count = 0;
    for (;;) {
        size_t n = form_word_length(p);
        const char *group = form_group_words(p, n);
        if (!group) words[count++] = p;
        for (const char *q = group; q && count < 80;) {
            words[count++] = q;
            q = strchr(q, ' ');
            if (q) q++;
        }
        p += strcspn(p, ".{}|");
        if (*p != '|' || count >= 80) break;
        p += 2;
    }
    p = words[below(g, (unsigned)count)];
    buf_putc(b, '.');
    buf_add(b, p, form_word_length(p));
}

static void spell(struct gen *g, const struct ptx_form_info *f, struct buf *b)
{
    b->size = 0;
    buf_puts(b, f->name);
    for (const char *p = f->mods; *p;) {
        bool optional = *p == '{';
        const char *first = p + optional + 1;
        p += optional;
        do p += 1 + strcspn(p + 1, ".{}|"); /* over one alternative, its gate with it */
        while (*p == '|' && p++);
        p += optional;
        if (!optional || below(g, 3) == 1) add_word(g, b, first);
    }
}

static bool is_named(const struct ptx_form_info *f, const char *start)
{
    return strncmp(f->name, start, strlen(start)) == 0;
}

/* What reaches further than a thread's own bytes, or tells the time. */
static bool reaches_out(const struct ptx_form_info *f)
{
    static const char *const names[] = {
        "cp.",           "mbarrier",   "wmma.load", "wmma.store",
        "ldmatrix",      "stmatrix",   "st.async",  "red.async",
        "sust",          "sured",      "suld",      "atom",
        "mapa",          "bar.arrive", "barrier.",  "bar.cta.arrive",
        "activemask",    "elect",      "alloca",    "getctarank",
        "isspacep",      "trap",       "brkpt",     "istypep",
        "tex",           "tld4",       "multimem",  "bar",
        "griddepcontrol"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(f, names[i])) return true;
    return false;
}

static const struct ptx_op *choose_op(struct gen *g)
{
    static const uint8_t units[] = {
        PTX_UNIT_MEM,  PTX_UNIT_MEM,  PTX_UNIT_IALU,   PTX_UNIT_IMUL, PTX_UNIT_IDIV, PTX_UNIT_FP16,
        PTX_UNIT_FP32, PTX_UNIT_FP64, PTX_UNIT_SFU,    PTX_UNIT_CVT,  PTX_UNIT_MOVE, PTX_UNIT_VIDEO,
        PTX_UNIT_ATOM, PTX_UNIT_TEX,  PTX_UNIT_TENSOR, PTX_UNIT_WARP, PTX_UNIT_SYNC, PTX_UNIT_CTRL,
        PTX_UNIT_MISC, PTX_UNIT_WARP, PTX_UNIT_MOVE,   PTX_UNIT_IALU};
    static uint16_t forms[PTX_UNIT_COUNT][PTX_FORM_COUNT], counts[PTX_UNIT_COUNT];
    if (!counts[0])
        for (unsigned f = 0; f < PTX_FORM_COUNT; f++) {
            unsigned u = ptx_forms[f].unit;
            forms[u][counts[u]++] = (uint16_t)f;
        }
    struct buf b = {0};
    const struct ptx_op *op = NULL;
    for (int tries = 0; tries < 8; tries++) {
        unsigned unit = PICK(g, units);
        const struct ptx_form_info *f = &ptx_forms[forms[unit][below(g, counts[unit])]];
        if (f->refused && !rarely(g, 64)) continue;
        if (g->kind == FUZZ_OWN && reaches_out(f)) continue;
        spell(g, f, &b);
        op = ptx_isa_find(g->isa, b.data, (uint32_t)b.size);
        if (op && !op->gate) break;
        op = NULL;
    }
    buf_free(&b);
    return op;
}

/* ---- operands ---------------------------------------------------------------------------------- */

static char class_of_bits(unsigned bits)
{
    return bits == 1    ? 'p'
           : bits <= 8  ? 'c'
           : bits <= 16 ? 'h'
           : bits <= 32 ? 'r'
           : bits <= 64 ? 'l'
                        : 'q';
}

/* A literal of a type, or 0 if it has none. */
static bool literal(struct gen *g, unsigned type)
{
    const struct ptx_type_info *t = &ptx_types[type];
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xffffffffffffffff};
    static const uint64_t floats[] = {0,          0x80000000, 0x3f800000, 0xbf000000,
                                      0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
                                      0x00000001, 0x7f7fffff, 0x4f000000, 0x5f000000};
    static const uint64_t doubles[] = {0,
                                       0x8000000000000000,
                                       0x3ff0000000000000,
                                       0xbfe0000000000000,
                                       0x7ff0000000000000,
                                       0x7ff8000000000001,
                                       1,
                                       0x7fefffffffffffff,
                                       0x43e0000000000000,
                                       0x41f0000000000000};
    if (type == PTX_f32) buf_printf(g->out, "0f%08x", (unsigned)PICK(g, floats));
    else if (type == PTX_f64) buf_printf(g->out, "0d%016llx", (unsigned long long)PICK(g, doubles));
    else if (t->kind <= PTX_BITS && t->bits <= 64 && t->bits >= 8) {
        uint64_t v = PICK(g, edges);
        if (t->bits < 64) v &= (UINT64_C(1) << t->bits) - 1;
        buf_printf(g->out, "%llu", (unsigned long long)v);
    } else return false;
    return true;
}

static void ranged(struct gen *g, const struct ptx_shape *s)
{
    if (s->value_n) {
        buf_printf(g->out, "%d", s->values[below(g, s->value_n)]);
        return;
    }
    if (!s->step) { /* powers of two */
        int64_t v = s->low;
        for (unsigned n = below(g, 5); n && v * 2 <= s->high; n--) v *= 2;
        buf_printf(g->out, "%lld", (long long)v);
        return;
    }
    int64_t steps = (s->high - s->low) / s->step, n = below(g, 256);
    if (rarely(g, 16)) n = steps - n;
    if (n > steps || n < 0) n = steps;
    if (n > 4 && below(g, 4) < 3) n %= 5;
    buf_printf(g->out, "%lld", (long long)(s->low + n * s->step));
}

static void special(struct gen *g, unsigned bits)
{
    static const char *const r32[] = {"%tid.x",    "%tid.y",       "%ntid.x",      "%laneid",
                                      "%warpid",   "%nwarpid",     "%ctaid.y",     "%ctaid.x",
                                      "%nctaid.x", "%lanemask_lt", "%lanemask_ge", "%lanemask_eq",
                                      "%ntid.z",   "%nsmid",       "%lanemask_le", "%lanemask_gt",
                                      "%envreg1",  "%envreg31",    "%pm3",         "%nctaid.z"};
    static const char *const racy[] = {"%clock", "%clock_hi", "%globaltimer_lo", "%smid",
                                       "%total_smem_size"};
    static const char *const r64[] = {"%gridid", "%pm0_64"};
    if (bits == 64)
        buf_puts(g->out, g->kind == FUZZ_ANY && rarely(g, 3) ? "%clock64" : PICK(g, r64));
    else if (bits == 32)
        buf_puts(g->out, g->kind == FUZZ_ANY && rarely(g, 4) ? PICK(g, racy) : PICK(g, r32));
    else if (bits == 1)
        buf_puts(g->out, g->version >= 78 && g->sm >= 90 ? "%is_explicit_cluster" : "%p0");
    else buf_puts(g->out, "%h0");
}

static void selector(struct gen *g, const struct ptx_shape *s, const struct ptx_op *op)
{
    const char *name = op->form->name;
    bool bytes = name[strlen(name) - 1] == '4';
    if (!(s->flags & PTX_SIMD)) {
        buf_printf(g->out, ".%s%u", below(g, 2) ? "b" : "h", below(g, 2));
        return;
    }
    if (s->flags & PTX_WRITTEN) {
        static const char *const halves[] = {".h0", ".h1", ".h10"};
        static const char *const lanes[] = {".b0", ".b3", ".b10", ".b210", ".b3210", ".b31"};
        buf_puts(g->out, bytes ? PICK(g, lanes) : PICK(g, halves));
        return;
    }
    if (bytes) buf_printf(g->out, ".b%u%u%u%u", below(g, 8), below(g, 8), below(g, 8), below(g, 8));
    else buf_printf(g->out, ".h%u%u", below(g, 4), below(g, 4));
}

/* The class of the registers that an operand may be. */
static char class_of(struct gen *g, const struct ptx_shape *s)
{
    unsigned bits = ptx_types[s->type].bits;
    if (ptx_types[s->type].kind == PTX_OPAQUE) bits = 64;
    char class = class_of_bits(bits);
    if (s->flags & PTX_WIDE && class != 'q' && class != 'p' && (rarely(g, 4) || class == 'c'))
        class = "hrl"[bits <= 16 ? below(g, 3) : bits <= 32 ? 1 + below(g, 2) : 2];
    return class;
}

/* One register or constant. `first` + `k`: which register of a vector. */
static void element(struct gen *g, const struct ptx_op *op, const struct ptx_shape *s, char class,
                    unsigned k, unsigned first, bool vector)
{
    bool written = s->flags & PTX_WRITTEN;
    unsigned bits = ptx_types[s->type].bits;
    if (!written && s->flags & PTX_RANGE && (s->flags & PTX_CONSTANT || below(g, 4) < 3)) {
        ranged(g, s);
        return;
    }
    if (!written && s->value_n) {
        ranged(g, s);
        return;
    }
    if (!written && s->flags & PTX_CONSTANT && class != 'p') {
        if (!literal(g, s->type)) buf_puts(g->out, "0");
        return;
    }
    if (!written && !(s->flags & (PTX_REGISTER | PTX_PIECE | PTX_RANGE)) && rarely(g, 5) &&
        literal(g, s->type))
        return;
    if (!written && s->flags & PTX_SPECIAL && below(g, 4) == 1) {
        special(g, bits);
        return;
    }
    if (!written && s->flags & PTX_NAMED && g->kind == FUZZ_ANY && !vector && bits == 64 &&
        rarely(g, 8)) {
        static const char *const names[] = {"gm", "cm",    "sm",    "lm", "f0",
                                            "f1", "lm+32", "gm+16", "dyn"};
        buf_puts(g->out, PICK(g, names));
        return;
    }
    bool pred_source = !written && class == 'p';
    if ((pred_source || s->flags & PTX_NEGATABLE) && !written && rarely(g, 4))
        buf_putc(g->out, '!');
    if (s->flags & PTX_MINUS && rarely(g, 4)) buf_putc(g->out, '-');
    if (written && s->flags & PTX_SINKABLE && !vector && rarely(g, 16)) {
        buf_putc(g->out, '_');
        return;
    }
    unsigned count = class == 'q' ? 4 : vector ? VECTOR : REGS;
    buf_printf(g->out, "%%%c%u", class, vector ? (first + k) % count : below(g, count));
    if (s->flags & PTX_SELECTABLE && below(g, 3) == 1) selector(g, s, op);
}

static void value(struct gen *g, const struct ptx_op *op, const struct ptx_shape *s)
{
    unsigned n = s->count_n ? s->counts[below(g, s->count_n)] : 0;
    if (n && op->form->unit == PTX_UNIT_MOVE && op->vec > 1 &&
        (!(s->flags & PTX_WRITTEN) || below(g, 2))) {
        buf_printf(g->out, "v%u%c%u", n, class_of_bits(ptx_types[s->type].bits), below(g, 2));
        return;
    }
    char class = class_of(g, s);
    if (!n) element(g, op, s, class, 0, 0, false);
    else {
        unsigned first = below(g, VECTOR);
        buf_putc(g->out, '{');
        for (unsigned k = 0; k < n; k++) {
            if (k) buf_puts(g->out, ", ");
            struct ptx_shape e = *s;
            if (s->flags & PTX_LEADING_U32) e.type = k ? s->type : PTX_u32;
            element(g, op, &e, k || !(s->flags & PTX_LEADING_U32) ? class : 'r', k, first, true);
        }
        buf_putc(g->out, '}');
    }
    if (s->flags & PTX_SECOND && !s->second_gate && (s->flags & PTX_SECOND_NEEDED || below(g, 2)))
        buf_printf(g->out, "|%%p%u", below(g, REGS));
}

static const char *base_of(struct gen *g, unsigned space)
{
    switch (space) {
    case PTX_SPACE_CONST: return "%ac";
    case PTX_SPACE_GLOBAL: return "%ag";
    case PTX_SPACE_LOCAL: return "%al";
    case PTX_SPACE_SHARED: return "%as";
    case PTX_SPACE_SHARED_CLUSTER: return "%as";
    case PTX_SPACE_PARAM: return g->function < 0 ? "p0" : "x";
    default: return "%ax";
    }
}

static void address(struct gen *g, const struct ptx_op *op, const struct ptx_shape *s)
{
    unsigned space = op->space;
    if (s->spaces) {
        unsigned n = below(g, (unsigned)__builtin_popcount(s->spaces)), m = s->spaces;
        while (n--) m &= m - 1;
        space = (unsigned)__builtin_ctz(m);
    }
    bool param = space == PTX_SPACE_PARAM;
    const char *base = base_of(g, space);
    if (param && op->form->effects & PTX_WRITES) base = "out";
    if (g->kind == FUZZ_ANY) {
        static const char *const named[PTX_SPACE_COUNT] = {[PTX_SPACE_CONST] = "cm",
                                                           [PTX_SPACE_GLOBAL] = "gm",
                                                           [PTX_SPACE_LOCAL] = "lm",
                                                           [PTX_SPACE_SHARED] = "sm"};
        if (named[space] && rarely(g, 4)) base = named[space];
        else if (!param && rarely(g, 16)) {
            buf_printf(g->out, "[%%l%u", below(g, REGS));
            base = NULL;
        }
        if (space == PTX_SPACE_LOCAL && rarely(g, 16)) {
            buf_printf(g->out, "%s%u]", base ? "[" : "+", below(g, 1024));
            return;
        }
    }
    if (base) buf_printf(g->out, "[%s", base);
    unsigned offset = 0;
    if (param) offset = below(g, 2) ? 0 : 8;
    else if (g->kind == FUZZ_OWN) offset = 16 * below(g, 4); /* 16 bytes at most */
    else if (below(g, 2)) offset = 16 * below(g, 8);
    else if (rarely(g, 8)) offset = below(g, 1024);
    if (param && g->function >= 0) offset = 0;
    if (offset) buf_printf(g->out, "+%u", offset);
    buf_putc(g->out, ']');
}

static void coordinates(struct gen *g, const struct ptx_op *op, const struct ptx_shape *s)
{
    static const char *const names[] = {"tex", "tex1"};
    bool surface = s->base == PTX_BASE_SURF;
    if (rarely(g, 8)) buf_printf(g->out, "[%%l%u, ", below(g, REGS));
    else if (surface) buf_puts(g->out, "[sur, ");
    else buf_printf(g->out, "[%s, ", PICK(g, names));
    if (g->independent && s->base == PTX_BASE_TEX) buf_puts(g->out, "sam, ");
    struct ptx_shape only = *s;
    only.flags |= PTX_REGISTER;
    value(g, op, &only);
    buf_putc(g->out, ']');
}

/* A label, most often one that is yet to come, or loops would hardly end. The last one stands at the end. */
static unsigned label(struct gen *g)
{
    return rarely(g, 16) ? below(g, LABELS) : g->labels + below(g, LABELS - g->labels);
}

/* false: not of this kind of kernel. */
static bool operand(struct gen *g, const struct ptx_op *op, const struct ptx_shape *s)
{
    switch (s->base) {
    case PTX_BASE_VALUE: value(g, op, s); return true;
    case PTX_BASE_ADDR: address(g, op, s); return true;
    case PTX_BASE_LABEL: buf_printf(g->out, "L%u", label(g)); return true;
    case PTX_BASE_TEX:
    case PTX_BASE_SURF:
    case PTX_BASE_MAP: coordinates(g, op, s); return true;
    case PTX_BASE_REF:
        if (s->type == PTX_samplerref && !g->independent) return false;
        buf_puts(g->out, s->type == PTX_surfref  ? "[sur]"
                         : s->type == PTX_texref ? "[tex]"
                                                 : "[sam]");
        return true;
    case PTX_BASE_TMEM: buf_printf(g->out, "[%%r%u]", below(g, REGS)); return true;
    case PTX_BASE_SINK: buf_puts(g->out, "_"); return true;
    default: return false;
    }
}

static void guard(struct gen *g)
{
    if (below(g, 4) == 1) buf_printf(g->out, "@%s%%p%u ", below(g, 2) ? "!" : "", below(g, REGS));
}

static void instruction(struct gen *g)
{
    const struct ptx_op *op = choose_op(g);
    if (!op) return;
    size_t start = g->out->size;
    bool loud = is_named(op->form, "trap") || is_named(op->form, "brkpt") ||
                is_named(op->form, "exit") || is_named(op->form, "ret");
    if (loud) buf_printf(g->out, "@%s%%p%u ", below(g, 2) ? "!" : "", below(g, REGS));
    else guard(g);
    buf_add(g->out, op->text, op->text_length);
    unsigned n = op->shape_count;
    while (n > op->shape_min && below(g, 2)) n--;
    for (unsigned i = 0, written = 0; i < op->shape_count; i++) {
        const struct ptx_shape *s = &op->shapes[i];
        if (s->flags & PTX_OPTIONAL && (s->gate || i >= n)) continue;
        buf_puts(g->out, written++ ? ", " : " ");
        if (!operand(g, op, s)) {
            g->out->size = start;
            return;
        }
    }
    buf_puts(g->out, ";\n");
}

/* ---- statements -------------------------------------------------------------------------------- */

static void statements(struct gen *g, unsigned n);

static void loop(struct gen *g)
{
    unsigned d = g->depth, l = g->lists++;
    if (d >= DEEP) return;
    buf_printf(g->out, "and.b32 %%n%u, %%r%u, %u;\nA%u:\n", d, below(g, REGS), below(g, 8), l);
    g->depth++;
    statements(g, 1 + below(g, 6));
    g->depth--;
    buf_printf(g->out,
               "B%u: sub.s32 %%n%u, %%n%u, 1; setp.ge.s32 %%p%u, %%n%u, 0; @%%p%u bra A%u;\n", l, d,
               d, d, d, d, l);
}

static void if_else(struct gen *g)
{
    unsigned l = g->lists++;
    if (g->depth >= DEEP) return;
    g->depth++;
    buf_printf(g->out, "@%s%%p%u bra A%u;\n", below(g, 2) ? "!" : "", below(g, REGS), l);
    statements(g, 1 + below(g, 5));
    if (below(g, 2)) {
        buf_printf(g->out, "bra B%u;\nA%u:\n", l, l);
        statements(g, 1 + below(g, 4));
        buf_printf(g->out, "B%u:\n", l);
    } else buf_printf(g->out, "A%u:\n", l);
    g->depth--;
}

static void table(struct gen *g)
{
    unsigned l = g->lists++, n = 1 + below(g, 4);
    buf_printf(g->out, "T%u: .branchtargets ", l);
    for (unsigned i = 0; i < n; i++) buf_printf(g->out, "%sL%u", i ? ", " : "", label(g));
    buf_puts(g->out, ";\n");
    if (!rarely(g, 32)) {
        buf_printf(g->out, "rem.u32 %%m, %%r%u, %u;\n", below(g, REGS), n + 1);
        buf_printf(g->out, "setp.lt.u32 %%p11, %%m, %u;\n@%%p11 brx.idx%s %%m, T%u;\n", n,
                   rarely(g, 6) ? ".uni" : "", l);
    } else {
        guard(g);
        buf_printf(g->out, "brx.idx %%r%u, T%u;\n", below(g, REGS), l);
    }
}

static void call(struct gen *g)
{
    static const char *const runtime[] = {"malloc", "free", "vprintf"};
    unsigned f = below(g, 2), l = g->lists++;
    if (g->function >= 0 && !rarely(g, 16)) { /* most often no recursion */
        if (g->function == 0) return;
        f = 0;
    }
    buf_puts(g->out, "{\n");
    if (g->kind == FUZZ_ANY && rarely(g, 3)) {
        const char *name = PICK(g, runtime);
        unsigned r = below(g, REGS);
        buf_puts(g->out, ".param .b64 a; .param .b64 b; .param .b64 c; .param .b32 d;\n");
        if (name[0] == 'm')
            buf_printf(g->out,
                       "and.b64 %%t, %%l%u, 4095;\nst.param.b64 [a], %%t;\ncall (c), malloc, (a);\n"
                       "ld.param.b64 %%l%u, [c];\n",
                       r, below(g, REGS));
        else if (name[0] == 'f')
            buf_printf(g->out, "st.param.b64 [a], %%l%u;\ncall free, (a);\n", r);
        else
            buf_printf(g->out,
                       "mov.u64 %%t, text%u;\ncvta.global.u64 %%t, %%t;\nst.param.b64 [a], %%t;\n"
                       "mov.u64 %%t, lm;\ncvta.local.u64 %%t, %%t;\nst.param.b64 [b], %%t;\n"
                       "call (d), vprintf, (a, b);\n",
                       below(g, 2));
    } else {
        buf_puts(
            g->out,
            ".param .align 16 .b8 a[16]; .param .align 16 .b8 c[16]; .param .align 16 .b8 v[32];\n");
        buf_printf(g->out, "st.param.b64 [a], %%l%u;\n", below(g, REGS));
        buf_printf(g->out, "st.param.v2.b64 [v+16], {%%l%u, %%l%u};\n", below(g, REGS),
                   below(g, REGS));
        if (below(g, 4) == 1) {
            unsigned other = below(g, 2);
            buf_printf(
                g->out,
                "P%u: .callprototype (.param .align 16 .b8 _[16]) _ (.param .align 16 .b8 _[16], .param .align 16 .b8 _[32]);\n"
                "mov.u64 %%t, f%u; @%%p%u mov.u64 %%t, f%u;\n",
                l, f, below(g, REGS), other);
            if (rarely(g, 16)) buf_printf(g->out, "mov.u64 %%t, %%l%u;\n", below(g, REGS));
            guard(g);
            buf_printf(g->out, "call (c), %%t, (a, v), P%u;\n", l);
        } else {
            if (g->function >= 0 || rarely(g, 4)) buf_printf(g->out, "@%%p%u ", below(g, REGS));
            buf_printf(g->out, "call (c), f%u, (a, v);\n", f);
        }
        buf_printf(g->out, "ld.param.b32 %%r%u, [c];\n", below(g, REGS));
    }
    buf_puts(g->out, "}\n");
}

static void bend_address(struct gen *g)
{
    static const char *const bases[] = {"gm", "gm", "sm", "lm", "cm"};
    static const char *const regs[] = {"%ag", "%ag", "%as", "%al", "%ac"};
    static const char *const spaces[] = {"global", "global", "shared", "local", "const"};
    static const unsigned sizes[] = {4096, 4096, 1024, 128, 64};
    unsigned k = below(g, 5);
    if (g->kind == FUZZ_OWN) { /* only what the generic address is of */
        k = below(g, 4);
        if (k == 3) k = 2;
        buf_printf(g->out, "cvta.%s.u64 %%ax, %s;\n", spaces[k], regs[k]);
        return;
    }
    if (below(g, 4) < 3) {
        buf_printf(g->out, "cvt.u64.u32 %%t, %%r%u;\nand.b64 %%t, %%t, %u;\n", below(g, REGS),
                   (sizes[k] - 1) & ~15u);
        buf_printf(g->out, "mov.u64 %s, %s;\nadd.u64 %s, %s, %%t;\n", regs[k], bases[k], regs[k],
                   regs[k]);
    } else if (rarely(g, 3))
        buf_printf(g->out, "add.u64 %s, %s, %%l%u;\n", regs[k], regs[k], below(g, REGS));
    buf_printf(g->out, "cvta.%s.u64 %%ax, %s;\n", spaces[k], regs[k]);
}

static void statements(struct gen *g, unsigned n)
{
    for (unsigned i = 0; i < n && g->in->at < g->in->end; i++) {
        unsigned kind = below(g, 64);
        if (kind < 48) instruction(g);
        else if (kind < 51) loop(g);
        else if (kind < 55) if_else(g);
        else if (kind < 56) table(g);
        else if (kind < 59) call(g);
        else if (kind < 62) bend_address(g);
        else if (kind < 63) {
            guard(g);
            buf_printf(g->out, "bra L%u;\n", label(g));
        } else if (g->kind == FUZZ_ANY) buf_puts(g->out, "bar.sync 0;\n");
        if (g->labels < LABELS - 1 && !g->depth && rarely(g, 8))
            buf_printf(g->out, "L%u:\n", g->labels++);
    }
}

/* ---- functions --------------------------------------------------------------------------------- */

static void registers(struct gen *g)
{
    buf_puts(
        g->out,
        ".reg .pred %p<40>; .reg .b8 %c<40>; .reg .b16 %h<40>; .reg .b32 %r<40>; .reg .b64 %l<40>;\n"
        ".reg .b32 %n<4>, %m; .reg .b64 %t, %ag, %as, %al, %ac, %ax;\n");
    if (g->version >= 83 && g->sm >= 70) buf_puts(g->out, ".reg .b128 %q<4>;\n");
    buf_puts(
        g->out,
        ".reg .v2 .b16 v2h<2>; .reg .v4 .b16 v4h<2>; .reg .v2 .b32 v2r<2>; .reg .v4 .b32 v4r<2>;\n"
        ".reg .v2 .b64 v2l<2>; .local .align 16 .b8 lm[256];\n"
        "mov.u32 %r3, %tid.z;\nmov.u32 %r4, %ntid.y;\nmov.u32 %r5, %tid.y;\n"
        "mad.lo.u32 %r3, %r3, %r4, %r5;\nmov.u32 %r0, %tid.x;\nmov.u32 %r5, %ntid.x;\n"
        "mad.lo.u32 %r0, %r3, %r5, %r0;\nmul.lo.u32 %r5, %r5, %r4;\nmov.u32 %r4, %ntid.z;\n"
        "mul.lo.u32 %r5, %r5, %r4;\nmov.u32 %r3, %ctaid.z;\nmov.u32 %r4, %nctaid.y;\n"
        "mov.u32 %r6, %ctaid.y;\nmad.lo.u32 %r3, %r3, %r4, %r6;\nmov.u32 %r1, %ctaid.x;\n"
        "mov.u32 %r4, %nctaid.x;\nmad.lo.u32 %r1, %r3, %r4, %r1;\nmov.u32 %r4, 0;\n"
        "mad.lo.u32 %r2, %r1, %r5, %r0; // %r0, %r1, %r2: thread, CTA, both, as numbers\n"
        "mov.u32 %r3, %laneid;\n");
    if (g->kind == FUZZ_OWN)
        buf_printf(g->out,
                   "mul.wide.u32 %%ag, %%r2, %u;\nmov.u64 %%t, gm;\nadd.u64 %%ag, %%ag, %%t;\n"
                   "mul.wide.u32 %%as, %%r0, %u;\nmov.u64 %%t, sm;\nadd.u64 %%as, %%as, %%t;\n",
                   OWN, OWN);
    else
        buf_puts(g->out, "and.b32 %r4, %r0, 31;\nmul.wide.u32 %t, %r4, 16;\nmov.u64 %ag, gm;\n"
                         "add.u64 %ag, %ag, %t;\nmov.u64 %as, sm;\nadd.u64 %as, %as, %t;\n");
    buf_puts(g->out,
             "mov.u64 %al, lm;\nmov.u64 %ac, cm;\ncvta.global.u64 %ax, %ag;\n"
             "cvt.u16.u32 %h1, %r0;\nmov.u32 %r5, 0x3f800000;\nmov.u64 %l5, 0x3ff0000000000000;\n"
             "mov.u32 %r6, 0xffffffff;\nmov.u32 %r7, %lanemask_lt;\n"
             "setp.lt.u32 %p1, %r3, 7;\nsetp.eq.u32 %p2, %r1, 0;\nsetp.gt.u32 %p3, %r0, 40;\n"
             "setp.ne.u32 %p4, %r3, %r2;\nmul.wide.u32 %l4, %r2, 0x9e3779b1;\n");
}

static void function(struct gen *g, int f)
{
    g->function = f;
    g->labels = 0;
    if (f < 0)
        buf_puts(g->out,
                 ".visible .entry k(.param .align 16 .b8 p0[16], .param .b64 p1, .param .b64 p2, "
                 ".param .align 16 .b8 p3[32])\n{\n");
    else
        buf_printf(
            g->out,
            ".func (.param .align 16 .b8 out[16]) f%d(.param .align 16 .b8 x[16], .param .align 16 .b8 y[32])\n{\n",
            f);
    registers(g);
    if (f < 0)
        buf_puts(g->out,
                 "ld.param.u64 %l0, [p0];\nld.param.u64 %l1, [p1];\nld.param.u64 %l2, [p2];\n"
                 "ld.param.v2.u64 {%l6, %l7}, [p3+16];\n");
    else
        buf_puts(g->out, "ld.param.u64 %l0, [x];\nld.param.v2.u64 {%l6, %l7}, [y+16];\n"
                         "setp.lt.u64 %p5, %l6, 100;\n");
    statements(g, f < 0 ? MOST : 6);
    while (g->labels < LABELS) buf_printf(g->out, "L%u:\n", g->labels++);
    if (f >= 0) buf_puts(g->out, "st.param.b32 [out], %r4;\n");
    else if (g->kind == FUZZ_ANY) buf_puts(g->out, "st.global.v2.u64 [gm+32], {%l3, %l4};\n");
    else
        buf_puts(
            g->out,
            "st.global.v4.u32 [%ag], {%r1, %r4, %r8, %r9};\nst.global.v2.u64 [%ag+16], {%l3, %l8};\n"
            "st.global.v4.b16 [%ag+32], {%h0, %h1, %h2, %h3};\n");
    buf_puts(g->out, "ret;\n}\n");
}

void fuzz_kernel(struct arena *a, struct fuzz_bytes *b, enum fuzz_kind kind, struct buf *out)
{
    static const struct {
        unsigned version, sm;
        char suffix;
    } targets[] = {{87, 90, 0}, {87, 90, 0}, {87, 90, 0},   {87, 90, 0},    {87, 90, 0},
                   {63, 61, 0}, {60, 70, 0}, {87, 90, 'a'}, {87, 100, 'a'}, {75, 80, 0}};
    struct gen g = {.arena = a, .in = b, .out = out, .kind = kind};
    unsigned t = below(&g, sizeof targets / sizeof *targets);
    g.version = targets[t].version;
    g.sm = targets[t].sm;
    g.independent = rarely(&g, 4);
    g.isa = ptx_isa_new(a, (uint16_t)g.version, (uint16_t)g.sm, targets[t].suffix);
    buf_printf(out, ".version %u.%u\n.target sm_%u%.1s%s\n.address_size 64\n", g.version / 10,
               g.version % 10, g.sm, &targets[t].suffix,
               g.independent ? ", texmode_independent" : "");
    buf_puts(
        out,
        ".global .align 128 .b8 gm[32768];\n.const .align 16 .b8 cm[256] = {1, 2, 3, 250};\n"
        ".shared .align 128 .b8 sm[8192];\n.extern .shared .align 16 .b8 dyn[];\n"
        ".global .texref tex, tex1;\n.global .surfref sur;\n.global .align 1 .b8 text0[8] = "
        "{37, 100, 32, 37, 115, 10, 0};\n.global .align 1 .b8 text1[8] = {37, 42, 46, 56, 102, 10, 0};\n"
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
        ".visible .entry empty() { ret; }\n");
    if (g.independent)
        buf_puts(out, ".global .samplerref sam = { filter_mode = linear, addr_mode_0 = wrap };\n");
    for (int f = 0; f < 2; f++)
        buf_printf(
            out,
            ".func (.param .align 16 .b8 out[16]) f%d(.param .align 16 .b8 x[16], .param .align 16 .b8 y[32]);\n",
            f);
    for (int f = 0; f < 2; f++) function(&g, f);
    function(&g, -1);
}
