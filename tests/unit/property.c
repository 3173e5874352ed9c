/* Random programs: the emulator, in every way that it can run them, against the oracle.
 *
 * A program is made from a seed: registers of all widths that start with edge values of the thread's own,
 * then statements, then all registers are stored. Statements nest: branches, loops, calls, brx.idx.
 * Threads only write their own slots of memory; what they read of others lies between barriers.
 *
 *     HEDDLE_PROGRAMS=20000 build/gcc-release/tests/run -f property       more of them
 *     HEDDLE_SEED=123 ...                                                         this one alone
 *
 * A program that fails is cut down statement by statement as long as it fails in the same way. */
#include "base/rng.h"
#include "tests/oracles/oracle.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PROGRAMS = 200, /* of a test without HEDDLE_PROGRAMS */
    IN = 40,        /* 64-bit words that a thread starts from */
    OUT = 64,       /* bytes / 8 that its registers take */
    SLOTS = 8,      /* 64-bit words of its own in .global; half as many in .shared */
    TABLE = 64,     /* 32-bit words */
    PARTS = 6,
};

/* ---- a program as a tree ------------------------------------------------------------------------ */

struct list {
    struct node **items;
    size_t count, cap;
};
struct node { /* text[0] body[0] text[1] body[1] ... text[parts] */
    const char *text[PARTS + 1];
    struct list body[PARTS];
    unsigned parts;
    bool off;                 /* cut out */
    const struct node *stand; /* ... but for this body's statements: a body of it, or NULL */
    int kept;                 /* which body stands for it; -1: none */
};
struct function {
    const char *head, *tail;
    struct list body;
};
struct program {
    struct arena *arena;
    uint64_t seed, state;
    struct function functions[6]; /* the last one is the kernel */
    unsigned function_count;
    unsigned grid, block[2], threads; /* threads: of all CTAs */
    bool own_slots; /* a thread's slots lie side by side, not one thread's by the next one's */
    unsigned labels, depth; /* of nesting */
    unsigned size;
    /* where statements may jump to: labels of what is around, innermost last */
    unsigned ends[16], end_count;
    unsigned writing; /* the function that is being made */
    struct emu_config config;
};

static uint64_t random64(struct program *p)
{
    return rng_next(&p->state);
}
static unsigned below(struct program *p, unsigned n)
{
    return (unsigned)(random64(p) % n);
}
static bool chance(struct program *p, unsigned percent)
{
    return below(p, 100) < percent;
}
#define PICK(p, array) ((array)[below(p, sizeof(array) / sizeof *(array))])

static char *text(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static char *text(struct program *p, const char *format, ...)
{
    char b[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(b, sizeof b, format, args);
    va_end(args);
    return arena_copy(p->arena, b, strlen(b));
}

static struct node *add(struct program *p, struct list *l)
{
    struct node *n = arena_alloc(p->arena, sizeof *n);
    l->items = arena_grow(p->arena, l->items, l->count, &l->cap, l->count + 1, sizeof *l->items);
    l->items[l->count++] = n;
    n->kept = -1;
    return n;
}

static void render_list(const struct list *l, struct buf *b)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct node *n = l->items[i];
        if (n->off && n->kept < 0) continue;
        for (unsigned k = 0; k <= n->parts; k++) {
            if (!n->off) buf_puts(b, n->text[k]);
            if (k < n->parts && (!n->off || n->kept == (int)k)) render_list(&n->body[k], b);
        }
    }
}

static char *render(const struct program *p)
{
    struct buf b = {0};
    buf_puts(&b, ".version 8.7\n.target sm_90\n.address_size 64\n");
    buf_puts(&b, ".const .align 4 .b32 ctable[64] = {");
    for (unsigned i = 0; i < TABLE; i++) buf_printf(&b, "%s%u", i ? ", " : "", i * 2654435761u);
    buf_puts(&b, "};\n.global .align 8 .b8 gtable[256] = {");
    for (unsigned i = 0; i < 256; i++) buf_printf(&b, "%s%u", i ? ", " : "", i * 73 % 256);
    buf_puts(&b, "};\n.global .b64 gin, gmem;\n");
    buf_printf(&b, ".shared .align 16 .b8 shared[%u];\n", 32 * p->block[0] * p->block[1]);
    for (unsigned f = 0; f < p->function_count; f++) {
        buf_puts(&b, p->functions[f].head);
        render_list(&p->functions[f].body, &b);
        buf_puts(&b, p->functions[f].tail);
    }
    return b.data;
}

/* ---- operands ----------------------------------------------------------------------------------- */

enum { NP = 6, NH = 6, NR = 10, NL = 6, NF = 5, ND = 4, NC = 3 };

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 31,
                                 32,
                                 33,
                                 63,
                                 64,
                                 65,
                                 0x7f,
                                 0x80,
                                 0xff,
                                 0x7fff,
                                 0x8000,
                                 0xffff,
                                 0x10000,
                                 0x7fffffff,
                                 0x80000000,
                                 0x80000001,
                                 0xffffffff,
                                 0xfffffffe,
                                 0x100000000,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xffffffffffffffff,
                                 0xfffffffffffffff0,
                                 0x00ff00ff00ff00ff,
                                 0x0123456789abcdef};
static const uint32_t floats[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x3fc00000, 0x40200000,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0x00000001, 0x807fffff,
    0x00800000, 0x7f7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x5f800000,
    0x4b800001, 0x42fe0000, 0xc3000000, 0x477fff00, 0x3eaaaaab, 0x501502f9, 0x33000000};
static const uint64_t doubles[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
    0x3fe0000000000000, 0x4004000000000000, 0x7ff0000000000000, 0xfff0000000000000,
    0x7ff8000000000000, 0xfff8000000012345, 0x7ff0000000000001, 0x0000000000000001,
    0x800fffffffffffff, 0x7fefffffffffffff, 0x41e0000000000000, 0x41f0000000000000,
    0x43e0000000000000, 0x43f0000000000000, 0xc3e0000000000000, 0x3fd5555555555555,
    0x36a0000000000000, 0x47efffffe0000000, 0x47effffff0000000, 0x4340000000000001};

static uint64_t edge(struct program *p)
{
    return chance(p, 70) ? PICK(p, edges) : random64(p) >> below(p, 64);
}

/* A register of so many bits; class 'f' and 'd' are floats. */
static const char *reg(struct program *p, char class)
{
    switch (class) {
    case 'p': return text(p, "%%p%u", below(p, NP));
    case 'h': return text(p, "%%h%u", below(p, NH));
    case 'r': return text(p, "%%r%u", below(p, NR));
    case 'l': return text(p, "%%l%u", below(p, NL));
    case 'f': return text(p, "%%f%u", below(p, NF));
    case 'd': return text(p, "%%d%u", below(p, ND));
    default: return text(p, "%%c%u", below(p, NC));
    }
}
static char class_of(const char *type)
{
    if (type[0] == 'f') return type[1] == '3' ? 'f' : 'd';
    return type[1] == '8' ? 'c' : type[1] == '1' ? 'h' : type[1] == '3' ? 'r' : 'l';
}
static unsigned bits_of(const char *type)
{
    return (unsigned)atoi(type + 1);
}
static const char *dest(struct program *p, const char *type)
{
    return reg(p, class_of(type));
}
/* A source: a register, often; a constant. */
static const char *source(struct program *p, const char *type)
{
    if (chance(p, 75)) return reg(p, class_of(type));
    if (type[0] == 'f' && type[1] == '3') {
        uint32_t b = chance(p, 70) ? PICK(p, floats) : (uint32_t)random64(p);
        return text(p, "0f%08x", b);
    }
    if (type[0] == 'f') {
        uint64_t b = chance(p, 70) ? PICK(p, doubles) : random64(p);
        return text(p, "0d%016llx", (unsigned long long)b);
    }
    uint64_t v = edge(p);
    if (bits_of(type) < 64) v &= (UINT64_C(1) << bits_of(type)) - 1;
    if (chance(p, 30) && bits_of(type) == 32) return text(p, "%d", (int)(uint32_t)v);
    return text(p, "0x%llx", (unsigned long long)v);
}
static const char *register_source(struct program *p, const char *type)
{
    return reg(p, class_of(type));
}
static const char *guard(struct program *p)
{
    if (!chance(p, 25)) return "";
    return text(p, "@%s%s ", chance(p, 50) ? "!" : "", reg(p, 'p'));
}
static const char *maybe(struct program *p, unsigned percent, const char *word)
{
    return chance(p, percent) ? word : "";
}

/* ---- single instructions ------------------------------------------------------------------------ */

static const char *const int_types[] = {"u16", "s16", "u32", "s32", "u64", "s64"};
static const char *const words32[] = {"u32", "s32"};
static const char *const words[] = {"u32", "s32", "u64", "s64"};
static const char *const bit_types[] = {"b16", "b32", "b64"};
static const char *const int8_types[] = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
static const char *const float_types[] = {"f32", "f64"};

static const char *operation(struct program *p)
{
    const char *t, *g = guard(p), *d;
    switch (below(p, 34)) {
    case 0:
    case 1:
    case 2: {
        static const char *const names[] = {"add", "sub", "mul.lo", "mul.hi", "min", "max"};
        t = PICK(p, int_types);
        return text(p, "%s%s.%s %s, %s, %s;\n", g, PICK(p, names), t, dest(p, t), source(p, t),
                    source(p, t));
    }
    case 3: {
        static const char *const names[] = {"mad.lo", "mad.hi", "sad"};
        t = PICK(p, int_types);
        return text(p, "%s%s.%s %s, %s, %s, %s;\n", g, PICK(p, names), t, dest(p, t), source(p, t),
                    source(p, t), source(p, t));
    }
    case 4: {
        t = PICK(p, int_types);
        const char *b = t[1] == '1' ? "%yh" : t[1] == '3' ? "%yr" : "%yl";
        return text(p, "or.b%s %s, %s, 1;\n%s%s.%s %s, %s, %s;\n", t + 1, b, register_source(p, t),
                    g, chance(p, 50) ? "div" : "rem", t, dest(p, t), source(p, t), b);
    }
    case 5:
        t = text(p, "s%s", PICK(p, int_types) + 1);
        return text(p, "%s%s.%s %s, %s;\n", g, chance(p, 50) ? "abs" : "neg", t, dest(p, t),
                    source(p, t));
    case 6:
    case 7: {
        static const char *const names[] = {"and", "or", "xor", "not", "cnot"};
        t = PICK(p, bit_types);
        unsigned k = below(p, 5);
        if (k > 2) return text(p, "%s%s.%s %s, %s;\n", g, names[k], t, dest(p, t), source(p, t));
        return text(p, "%s%s.%s %s, %s, %s;\n", g, names[k], t, dest(p, t), source(p, t),
                    source(p, t));
    }
    case 8:
        t = chance(p, 50) ? PICK(p, bit_types) : PICK(p, int_types);
        return text(p, "%s%s.%s %s, %s, %s;\n", g, t[0] == 'b' && chance(p, 50) ? "shl" : "shr", t,
                    dest(p, t), source(p, t), source(p, "u32"));
    case 9: {
        static const char *const names[] = {
            "popc.b",           "clz.b", "bfind.u", "bfind.s", "bfind.shiftamt.u",
            "bfind.shiftamt.s", "brev.b"};
        unsigned k = below(p, 7);
        const char *bits = chance(p, 50) ? "32" : "64";
        t = text(p, "u%s", bits);
        return text(p, "%s%s%s %s, %s;\n", g, names[k], bits, dest(p, k == 6 ? t : "u32"),
                    source(p, t));
    }
    case 10:
        t = PICK(p, words);
        return text(p, "%sbfe.%s %s, %s, %u, %u;\n", g, t, dest(p, t), source(p, t), below(p, 80),
                    below(p, 80));
    case 11:
        t = chance(p, 50) ? "b32" : "b64";
        if (chance(p, 50))
            return text(p, "%sbfi.%s %s, %s, %s, %s, %s;\n", g, t, dest(p, t), source(p, t),
                        source(p, t), reg(p, 'r'), reg(p, 'r'));
        return text(p, "%sbfi.%s %s, %s, %s, %u, %u;\n", g, t, dest(p, t), source(p, t),
                    source(p, t), below(p, 70), below(p, 70));
    case 12: {
        static const char *const types[] = {"u16", "s16", "u32", "s32"};
        t = PICK(p, types);
        const char *w = t[1] == '1' ? "u32" : "u64";
        if (chance(p, 50))
            return text(p, "%smul.wide.%s %s, %s, %s;\n", g, t, dest(p, w), source(p, t),
                        source(p, t));
        return text(p, "%smad.wide.%s %s, %s, %s, %s;\n", g, t, dest(p, w), source(p, t),
                    source(p, t), source(p, w));
    }
    case 13: {
        static const char *const names[] = {"mul24.lo.u32", "mul24.lo.s32", "mul24.hi.u32",
                                            "mul24.hi.s32"};
        if (chance(p, 50))
            return text(p, "%s%s %s, %s, %s;\n", g, PICK(p, names), reg(p, 'r'), source(p, "u32"),
                        source(p, "u32"));
        static const char *const mads[] = {"mad24.lo.u32", "mad24.lo.s32",     "mad24.hi.u32",
                                           "mad24.hi.s32", "mad24.hi.sat.s32", "mad.hi.sat.s32"};
        return text(p, "%s%s %s, %s, %s, %s;\n", g, PICK(p, mads), reg(p, 'r'), source(p, "u32"),
                    source(p, "u32"), source(p, "u32"));
    }
    case 14: {
        static const char *const names[] = {"dp4a", "dp2a.lo", "dp2a.hi"};
        return text(p, "%s%s.%s.%s %s, %s, %s, %s;\n", g, PICK(p, names), PICK(p, words32),
                    PICK(p, words32), reg(p, 'r'), source(p, "u32"), source(p, "u32"),
                    source(p, "u32"));
    }
    case 15:
        if (chance(p, 50))
            return text(p, "%slop3.b32 %s, %s, %s, %s, %u;\n", g, reg(p, 'r'), source(p, "b32"),
                        source(p, "b32"), source(p, "b32"), below(p, 256));
        return text(p, "%sshf.%s.%s.b32 %s, %s, %s, %s;\n", g, chance(p, 50) ? "l" : "r",
                    chance(p, 50) ? "wrap" : "clamp", reg(p, 'r'), source(p, "b32"),
                    source(p, "b32"), source(p, "u32"));
    case 16: {
        static const char *const modes[] = {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"};
        return text(p, "%sprmt.b32%s %s, %s, %s, %s;\n", g, PICK(p, modes), reg(p, 'r'),
                    source(p, "b32"), source(p, "b32"), source(p, "b32"));
    }
    case 17: /* chains of carries */
        t = PICK(p, words);
        switch (below(p, 3)) {
        case 0:
            return text(p, "add.cc.%s %s, %s, %s;\n%saddc.cc.%s %s, %s, %s;\naddc.%s %s, %s, %s;\n",
                        t, dest(p, t), source(p, t), source(p, t), g, t, dest(p, t), source(p, t),
                        source(p, t), t, dest(p, t), source(p, t), source(p, t));
        case 1:
            return text(p, "sub.cc.%s %s, %s, %s;\n%ssubc.cc.%s %s, %s, %s;\nsubc.%s %s, %s, %s;\n",
                        t, dest(p, t), source(p, t), source(p, t), g, t, dest(p, t), source(p, t),
                        source(p, t), t, dest(p, t), source(p, t), source(p, t));
        default:
            return text(p,
                        "mad.lo.cc.%s %s, %s, %s, %s;\n%smadc.hi.cc.%s %s, %s, %s, %s;\n"
                        "madc.lo.%s %s, %s, %s, %s;\n",
                        t, dest(p, t), source(p, t), source(p, t), source(p, t), g, t, dest(p, t),
                        source(p, t), source(p, t), source(p, t), t, dest(p, t), source(p, t),
                        source(p, t), source(p, t));
        }
    case 18:
        return text(p, "%s%s.sat.s32 %s, %s, %s;\n", g, chance(p, 50) ? "add" : "sub", reg(p, 'r'),
                    source(p, "s32"), source(p, "s32"));
    case 19:
    case 20: {
        static const char *const compare[] = {"eq", "ne", "lt", "le", "gt", "ge"};
        static const char *const bools[] = {"and", "or", "xor"};
        t = chance(p, 80) ? PICK(p, int_types) : PICK(p, bit_types);
        const char *c = t[0] == 'b'                    ? chance(p, 50) ? "eq" : "ne"
                        : t[0] == 'u' && chance(p, 20) ? chance(p, 50) ? "lo" : "hs"
                                                       : PICK(p, compare);
        const char *to = chance(p, 70)   ? reg(p, 'p')
                         : chance(p, 50) ? text(p, "%%p%u|%%p%u", below(p, 3), 3 + below(p, 3))
                                         : text(p, "_|%s", reg(p, 'p'));
        if (chance(p, 70))
            return text(p, "%ssetp.%s.%s %s, %s, %s;\n", g, c, t, to, source(p, t), source(p, t));
        return text(p, "%ssetp.%s.%s.%s %s, %s, %s, %s%s;\n", g, c, PICK(p, bools), t, to,
                    source(p, t), source(p, t), maybe(p, 50, "!"), reg(p, 'p'));
    }
    case 21: {
        static const char *const compare[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                              "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
        t = PICK(p, float_types);
        return text(p, "%ssetp.%s%s.%s %s, %s, %s;\n", g, PICK(p, compare),
                    t[1] == '3' ? maybe(p, 30, ".ftz") : "", t, reg(p, 'p'), source(p, t),
                    source(p, t));
    }
    case 22: {
        static const char *const compare[] = {"eq", "ne", "lt", "le", "gt", "ge"};
        t = chance(p, 50) ? PICK(p, int_types) : PICK(p, float_types);
        d = chance(p, 50) ? "u32" : chance(p, 50) ? "s32" : "f32";
        return text(p, "%sset.%s.%s.%s %s, %s, %s;\n", g, PICK(p, compare), d, t, dest(p, d),
                    source(p, t), source(p, t));
    }
    case 23:
        t = chance(p, 60) ? PICK(p, int_types) : PICK(p, float_types);
        if (chance(p, 60))
            return text(p, "%sselp.%s %s, %s, %s, %s%s;\n", g, t, dest(p, t), source(p, t),
                        source(p, t), "", reg(p, 'p'));
        d = chance(p, 50) ? "s32" : "f32";
        return text(p, "%sslct%s.%s.%s %s, %s, %s, %s;\n", g,
                    d[0] == 'f' ? maybe(p, 30, ".ftz") : "", t, d, dest(p, t), source(p, t),
                    source(p, t), source(p, d));
    case 24: {
        static const char *const special[] = {
            "%tid.x",  "%ntid.x",      "%ctaid.x",     "%nctaid.x",    "%laneid",
            "%warpid", "%lanemask_lt", "%lanemask_ge", "%lanemask_eq", "%tid.y"};
        switch (below(p, 6)) {
        case 0: return text(p, "%smov.u32 %s, %s;\n", g, reg(p, 'r'), PICK(p, special));
        case 1:
            return text(p, "%smov.b64 {%%r%u, %%r%u}, %s;\n", g, below(p, 5), 5 + below(p, 5),
                        reg(p, 'l'));
        case 2:
            return text(p, "%smov.b64 %s, {%s, %s};\n", g, reg(p, 'l'), reg(p, 'r'), reg(p, 'r'));
        case 3:
            return text(p, "%smov.b32 %s, {%s, %s};\n", g, reg(p, 'r'), reg(p, 'h'), reg(p, 'h'));
        case 4:
            return text(p, "%smov.b32 {%%h%u, %%h%u}, %s;\n", g, below(p, 3), 3 + below(p, 3),
                        reg(p, 'r'));
        default:
            return text(p, "%smov.b64 {%%h0, %%h%u, %%h%u, %%h5}, %s;\n", g, 1 + below(p, 2),
                        3 + below(p, 2), reg(p, 'l'));
        }
    }
    case 25:
        switch (below(p, 4)) {
        case 0: return text(p, "%smov.b32 %s, %s;\n", g, reg(p, 'r'), reg(p, 'f'));
        case 1: return text(p, "%smov.b32 %s, %s;\n", g, reg(p, 'f'), reg(p, 'r'));
        case 2: return text(p, "%smov.b64 %s, %s;\n", g, reg(p, 'd'), reg(p, 'l'));
        default:
            t = PICK(p, bit_types);
            return text(p, "%smov.%s %s, %s;\n", g, t, dest(p, t), source(p, t));
        }
    case 26: {
        static const char *const names[] = {"and", "or", "xor"};
        if (chance(p, 30)) return text(p, "%snot.pred %s, %s;\n", g, reg(p, 'p'), reg(p, 'p'));
        if (chance(p, 20)) return text(p, "%smov.pred %s, %s;\n", g, reg(p, 'p'), reg(p, 'p'));
        return text(p, "%s%s.pred %s, %s, %s;\n", g, PICK(p, names), reg(p, 'p'), reg(p, 'p'),
                    reg(p, 'p'));
    }
    case 27: {
        static const char *const names[] = {"add", "sub", "mul", "min", "max"};
        unsigned k = below(p, 5);
        t = PICK(p, float_types);
        bool f32 = t[1] == '3';
        return text(p, "%s%s%s%s%s.%s %s, %s, %s;\n", g, names[k], k < 3 ? maybe(p, 50, ".rn") : "",
                    f32 ? maybe(p, 30, ".ftz") : "", f32 && k < 3 ? maybe(p, 20, ".sat") : "", t,
                    dest(p, t), source(p, t), source(p, t));
    }
    case 28:
        t = PICK(p, float_types);
        return text(p, "%sfma.rn%s%s.%s %s, %s, %s, %s;\n", g,
                    t[1] == '3' ? maybe(p, 30, ".ftz") : "",
                    t[1] == '3' ? maybe(p, 20, ".sat") : "", t, dest(p, t), source(p, t),
                    source(p, t), source(p, t));
    case 29: {
        static const char *const names[] = {"abs", "neg", "sqrt.rn", "rcp.rn"};
        t = PICK(p, float_types);
        unsigned k = below(p, 5);
        const char *ftz = t[1] == '3' ? maybe(p, 30, ".ftz") : "";
        if (k == 4)
            return text(p, "%sdiv.rn%s.%s %s, %s, %s;\n", g, ftz, t, dest(p, t), source(p, t),
                        source(p, t));
        return text(p, "%s%s%s.%s %s, %s;\n", g, names[k], ftz, t, dest(p, t), source(p, t));
    }
    case 30: {
        static const char *const kinds[] = {"finite",     "infinite", "number",
                                            "notanumber", "normal",   "subnormal"};
        t = PICK(p, float_types);
        if (chance(p, 50))
            return text(p, "%stestp.%s.%s %s, %s;\n", g, PICK(p, kinds), t, reg(p, 'p'),
                        source(p, t));
        return text(p, "%scopysign.%s %s, %s, %s;\n", g, t, dest(p, t), source(p, t), source(p, t));
    }
    default: { /* cvt; results and sources may be wider registers */
        static const char *const to_int[] = {"rni", "rzi", "rmi", "rpi"}, *const to_float[] = {
                                                                              "rn", "rz", "rm",
                                                                              "rp"};
        const char *s;
        d = PICK(p, int8_types);
        s = PICK(p, int8_types);
        unsigned k = below(p, 4);
        if (k == 0) { /* integers */
            unsigned to = bits_of(d), from = bits_of(s);
            bool sat = chance(p, 30) && (to < from || d[0] != s[0]) &&
                       !(d[0] == 's' && s[0] == 'u' && to > from);
            char dc = class_of(d), sc = class_of(s);
            if (chance(p, 30) || dc == 'c')
                dc = to > 32 ? 'l' : chance(p, 50) ? 'r' : to > 16 ? 'r' : 'h';
            if (chance(p, 30)) sc = from > 32 ? 'l' : chance(p, 50) ? 'r' : from > 16 ? 'r' : 'h';
            return text(p, "%scvt%s.%s.%s %s, %s;\n", g, sat ? ".sat" : "", d, s, reg(p, dc),
                        reg(p, sc));
        }
        if (k == 1) {
            t = PICK(p, float_types);
            char dc = class_of(d);
            if (dc == 'c' || chance(p, 20)) dc = bits_of(d) > 32 ? 'l' : 'r';
            return text(p, "%scvt.%s%s.%s.%s %s, %s;\n", g, PICK(p, to_int),
                        t[1] == '3' ? maybe(p, 30, ".ftz") : "", d, t, reg(p, dc), source(p, t));
        }
        if (k == 2) {
            t = PICK(p, float_types);
            char sc = class_of(s);
            if (chance(p, 20)) sc = bits_of(s) > 32 ? 'l' : 'r';
            return text(p, "%scvt.%s%s.%s.%s %s, %s;\n", g, PICK(p, to_float), maybe(p, 10, ".sat"),
                        t, s, dest(p, t), reg(p, sc));
        }
        switch (below(p, 4)) {
        case 0:
            return text(p, "%scvt.rn%s%s.f32.f64 %s, %s;\n", g, maybe(p, 30, ".ftz"),
                        maybe(p, 10, ".sat"), reg(p, 'f'), source(p, "f64"));
        case 1:
            return text(p, "%scvt%s%s.f64.f32 %s, %s;\n", g, maybe(p, 30, ".ftz"),
                        maybe(p, 10, ".sat"), reg(p, 'd'), source(p, "f32"));
        case 2:
            return text(p, "%scvt.%s%s.f32.f32 %s, %s;\n", g, PICK(p, to_int), maybe(p, 30, ".ftz"),
                        reg(p, 'f'), source(p, "f32"));
        default:
            return text(p, "%scvt.%s.f64.f64 %s, %s;\n", g, PICK(p, to_int), reg(p, 'd'),
                        source(p, "f64"));
        }
    }
    }
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* What is loaded or stored, `bytes` in all, and how it is called. */
static const char *piece(struct program *p, bool store, unsigned bytes, const char **type)
{
    static const char *const types1[] = {"u8", "s8", "b8"}, *const types2[] = {"u16", "s16", "b16"},
                             *const types4[] = {"u32", "s32", "b32", "f32"},
                             *const types8[] = {"u64", "s64", "b64", "f64"};
    unsigned n = bytes == 16                  ? chance(p, 50) ? 2 : 4
                 : chance(p, 30) && bytes > 1 ? bytes > 3 && chance(p, 50) ? 4 : 2
                                              : 1;
    unsigned each = bytes / n;
    const char *t = each == 1   ? PICK(p, types1)
                    : each == 2 ? PICK(p, types2)
                    : each == 4 ? PICK(p, types4)
                                : PICK(p, types8);
    *type = n == 1 ? text(p, "%s", t) : text(p, "v%u.%s", n, t);
    char class = class_of(t);
    /* a register may be wider */
    if (class != 'f' && class != 'd' && chance(p, 30))
        class = each == 8 || chance(p, 30) ? 'l' : 'r';
    if (n == 1) return store ? reg(p, class) : reg(p, class);
    unsigned most = class == 'p'   ? NP
                    : class == 'h' ? NH
                    : class == 'r' ? NR
                    : class == 'l' ? NL
                    : class == 'f' ? NF
                    : class == 'd' ? ND
                                   : NC;
    struct buf b = {0};
    unsigned first = below(p, most);
    for (unsigned k = 0; k < n; k++) {
        if (!store && k >= most) { /* a register may be there only once */
            buf_printf(&b, "%s_", k ? ", " : "{");
            continue;
        }
        buf_printf(&b, "%s%%%c%u", k ? ", " : "{", class, (first + k) % most);
    }
    buf_puts(&b, "}");
    char *s = arena_copy(p->arena, b.data, b.size);
    buf_free(&b);
    return s;
}

static const char *memory(struct program *p)
{
    const char *g = guard(p), *type, *what;
    bool store = chance(p, 50), kernel = p->writing + 1 == p->function_count;
    unsigned bytes = 1u << below(p, 4), where = below(p, 9), offset;
    switch (where) {
    case 0:
    case 1: { /* the thread's own slots in .global */
        unsigned stride = p->own_slots ? 8 : 8 * p->threads;
        if (p->own_slots && chance(p, 20)) bytes = 16;
        what = piece(p, store, bytes, &type);
        if (chance(p, 50)) { /* a slot that differs by thread */
            offset = below(p, 8) / bytes * bytes % 8;
            unsigned mask = bytes == 16 ? SLOTS - 2 : SLOTS - 1;
            const char *space = chance(p, 30) ? "" : ".global";
            const char *access = store
                                     ? text(p, "st%s.%s [%%a0+%u], %s", space, type, offset, what)
                                     : text(p, "ld%s.%s %s, [%%a0+%u]", space, type, what, offset);
            return text(p, "and.b32 %%x0, %s, %u;\nmad.wide.u32 %%a0, %%x0, %u, %%own;\n%s%s;\n",
                        reg(p, 'r'), mask, stride, g, access);
        }
        offset = stride * (bytes == 16 ? 2 * below(p, SLOTS / 2) : below(p, SLOTS)) +
                 below(p, 8) / bytes * bytes % 8;
        return store ? text(p, "%sst.global.%s [%%own+%u], %s;\n", g, type, offset, what)
                     : text(p, "%sld.global.%s %s, [%%own+%u];\n", g, type, what, offset);
    }
    case 2:
    case 3: { /* in .shared */
        if (chance(p, 20)) bytes = 16;
        what = piece(p, store, bytes, &type);
        offset = below(p, 32) / bytes * bytes;
        if (chance(p, 30)) /* through a generic address */
            return store ? text(p, "%sst.%s [%%gshared+%u], %s;\n", g, type, offset, what)
                         : text(p, "%sld.%s %s, [%%gshared+%u];\n", g, type, what, offset);
        if (chance(p, 30)) {
            const char *access = store ? text(p, "st.shared.%s [%%x0], %s", type, what)
                                       : text(p, "ld.shared.%s %s, [%%x0]", type, what);
            return text(p, "and.b32 %%x0, %s, %u;\nadd.u32 %%x0, %%x0, %%sown;\n%s%s;\n",
                        reg(p, 'r'), 31 & ~(bytes - 1), g, access);
        }
        return store ? text(p, "%sst.shared.%s [%%sown+%u], %s;\n", g, type, offset, what)
                     : text(p, "%sld.shared.%s %s, [%%sown+%u];\n", g, type, what, offset);
    }
    case 4:
    case 5: { /* in .local */
        if (chance(p, 20)) bytes = 16;
        what = piece(p, store, bytes, &type);
        offset = below(p, 64) / bytes * bytes;
        if (chance(p, 40))
            return store ? text(p, "%sst.local.%s [own+%u], %s;\n", g, type, offset, what)
                         : text(p, "%sld.local.%s %s, [own+%u];\n", g, type, what, offset);
        bool generic = chance(p, 50);
        const char *access = store ? text(p, "st%s.%s [%%a0], %s", generic ? "" : ".local", type,
                                          what)
                                   : text(p, "ld%s.%s %s, [%%a0]", generic ? "" : ".local", type,
                                          what);
        return text(
            p, "and.b32 %%x0, %s, %u;\ncvt.u64.u32 %%a0, %%x0;\nadd.u64 %%a0, %%a0, %%%s;\n%s%s;\n",
            reg(p, 'r'), 63 & ~(bytes - 1), generic ? "glocal" : "llocal", g, access);
    }
    case 6: /* tables, anywhere */
        what = piece(p, false, bytes = 1u << below(p, 3), &type);
        store = chance(p, 50); /* which */
        if (chance(p, 50))
            return text(p,
                        "and.b32 %%x0, %s, %u;\nmov.u64 %%a0, %s;\ncvt.u64.u32 %%a1, %%x0;\n"
                        "add.u64 %%a0, %%a0, %%a1;\n%sld.%s.%s %s, [%%a0];\n",
                        reg(p, 'r'), 255 & ~(bytes - 1), store ? "gtable" : "ctable", g,
                        store ? "global" : "const", type, what);
        offset = below(p, 256) / bytes * bytes;
        return text(p, "%sld.%s.%s %s, [%s+%u];\n", g, store ? "global" : "const", type, what,
                    store ? "gtable" : "ctable", offset);
    case 7: /* words that other threads start from, too */
        what = piece(p, false, bytes, &type);
        return text(
            p,
            "rem.u32 %%x0, %s, %u;\nmad.wide.u32 %%a0, %%x0, 8, %%in;\n%sld.global%s.%s %s, [%%a0+%u];\n",
            reg(p, 'r'), p->threads * IN, g, maybe(p, 30, ".nc"), type, what,
            below(p, 8) / bytes * bytes % 8);
    default:
        if (!kernel) return operation(p);
        what = piece(p, false, 8, &type);
        return text(p, "%sld.param.%s %s, [word];\n", g, type, what);
    }
}

/* ---- statements that nest ------------------------------------------------------------------------ */

static void statements(struct program *p, struct list *l, unsigned n);

static unsigned label(struct program *p)
{
    return p->labels++;
}

static void inside(struct program *p, struct list *l, unsigned n, unsigned end)
{
    if (end && p->end_count < 16) p->ends[p->end_count++] = end;
    else end = 0;
    p->depth++;
    statements(p, l, n);
    p->depth--;
    if (end) p->end_count--;
}

static void if_else(struct program *p, struct list *l, unsigned n)
{
    struct node *s = add(p, l);
    unsigned e = label(p), other = label(p);
    const char *c = reg(p, 'p'), *sign = maybe(p, 50, "!");
    if (chance(p, 40)) { /* without else */
        s->parts = 1;
        s->text[0] = text(p, "@%s%s bra L%u;\n", sign, c, e);
        s->text[1] = text(p, "L%u:\n", e);
        inside(p, &s->body[0], n, chance(p, 50) ? e : 0);
        return;
    }
    s->parts = 2;
    s->text[0] = text(p, "@%s%s bra L%u;\n", sign, c, other);
    s->text[1] = text(p, "bra%s L%u;\nL%u:\n", maybe(p, 30, ".uni"), e, other);
    s->text[2] = text(p, "L%u:\n", e);
    inside(p, &s->body[0], n / 2, chance(p, 50) ? e : 0);
    inside(p, &s->body[1], n / 2, chance(p, 50) ? e : 0);
}

static void loop(struct program *p, struct list *l, unsigned n)
{
    struct node *s = add(p, l);
    unsigned top = label(p), end = label(p), next = label(p), middle = label(p), d = p->depth;
    const char *trips = text(p, "and.b32 %%n%u, %s, %u;\n", d, reg(p, 'r'), chance(p, 70) ? 3 : 7);
    switch (below(p, 3)) {
    case 0: /* tested at the end */
        s->parts = 1;
        s->text[0] = text(p, "%sL%u:\n", trips, top);
        s->text[1] = text(
            p,
            "L%u:\nadd.s32 %%n%u, %%n%u, -1;\nsetp.ge.s32 %%q%u, %%n%u, 0;\n@%%q%u bra L%u;\nL%u:\n",
            next, d, d, d, d, d, top, end);
        break;
    case 1: /* tested at the top */
        s->parts = 1;
        s->text[0] = text(
            p, "%smov.u32 %%m%u, 0;\nL%u:\nsetp.ge.u32 %%q%u, %%m%u, %%n%u;\n@%%q%u bra L%u;\n",
            trips, d, top, d, d, d, d, end);
        s->text[1] = text(p, "L%u:\nadd.u32 %%m%u, %%m%u, 1;\nbra L%u;\nL%u:\n", next, d, d, top,
                          end);
        break;
    default: /* entered in two places */
        s->parts = 2;
        s->text[0] = text(p, "%s@%s%s bra L%u;\nL%u:\n", trips, maybe(p, 50, "!"), reg(p, 'p'),
                          middle, top);
        s->text[1] = text(p, "L%u:\n", middle);
        s->text[2] = text(
            p,
            "L%u:\nadd.s32 %%n%u, %%n%u, -1;\nsetp.ge.s32 %%q%u, %%n%u, 0;\n@%%q%u bra L%u;\nL%u:\n",
            next, d, d, d, d, d, top, end);
        break;
    }
    for (unsigned k = 0; k < s->parts; k++) {
        if (p->end_count < 15) p->ends[p->end_count++] = next;
        inside(p, &s->body[k], n / s->parts, end);
        p->end_count--;
    }
}

static void choose(struct program *p, struct list *l, unsigned n)
{
    struct node *s = add(p, l);
    unsigned ways = 2 + below(p, 3), end = label(p), at[5];
    for (unsigned k = 0; k < ways; k++) at[k] = label(p);
    struct buf b = {0};
    unsigned list = label(p);
    buf_printf(&b, "and.b32 %%x0, %s, 3;\nT%u: .branchtargets ", reg(p, 'r'), list);
    for (unsigned k = 0; k < 4; k++) {
        unsigned to = below(p, ways + 1);
        buf_printf(&b, "%sL%u", k ? ", " : "", to == ways ? end : at[to]);
    }
    const char *g = chance(p, 20) ? text(p, "@%s%s ", maybe(p, 50, "!"), reg(p, 'p')) : "";
    buf_printf(&b, ";\n%sbrx.idx %%x0, T%u;\nL%u:\n", g, list, at[0]);
    s->parts = ways;
    s->text[0] = arena_copy(p->arena, b.data, b.size);
    buf_free(&b);
    for (unsigned k = 1; k < ways; k++)
        s->text[k] = chance(p, 30) ? text(p, "L%u:\n", at[k])
                                   : text(p, "bra L%u;\nL%u:\n", end, at[k]);
    s->text[ways] = text(p, "L%u:\n", end);
    for (unsigned k = 0; k < ways; k++) inside(p, &s->body[k], n / ways, chance(p, 50) ? end : 0);
}

/* ---- functions ------------------------------------------------------------------------------------ */

/* What functions take and give. All with an even number are alike, so that they can be called by address. */
static const struct {
    const char *head, *begin, *end, *declare, *before, *call, *after;
} signatures[] = {
    {"(.param .b32 out) f%u (.param .b32 x, .param .b64 y)",
     "ld.param.u32 %r0, [x];\nld.param.u64 %l0, [y];\n", "st.param.b32 [out], %r1;\n",
     ".param .b32 a, b_;\n.param .b64 b;\n.param .b32 c;\n",
     "st.param.b32 [a], %s;\nst.param.b64 [b], %s;\n", "(c), %s, (a, b)",
     "ld.param.b32 %s, [c];\n"},
    {"(.param .align 8 .b8 out[24]) f%u (.param .align 8 .b8 x[24], .param .b16 y, .param .f32 z)",
     "ld.param.v2.u32 {%r0, %r1}, [x];\nld.param.u64 %l0, [x+8];\nld.param.f64 %d0, [x+16];\n"
     "ld.param.u16 %h0, [y];\nld.param.f32 %f0, [z];\n",
     "st.param.b32 [out+4], %r2;\nst.param.b64 [out+8], %l0;\nst.param.b16 [out+18], %h1;\n"
     "st.param.b8 [out+23], %r0;\n",
     ".param .align 8 .b8 a[24];\n.param .b16 b;\n.param .f32 z;\n.param .align 8 .b8 c[24];\n",
     "st.param.b32 [a], %s;\nst.param.b64 [a+8], %s;\nst.param.b32 [a+4], %%r2;\nst.param.f64 [a+16], %%d1;\n"
     "st.param.b16 [b], %%h2;\nst.param.f32 [z], %%f1;\n",
     "(c), %s, (a, b, z)",
     "ld.param.b32 %s, [c+4];\nld.param.u16 %%h3, [c+18];\nld.param.u8 %%r3, [c+23];\n"},
    {"(.reg .b32 out) f%u (.reg .b32 x, .reg .b64 y, .reg .f32 z)",
     "mov.b32 %r0, x;\nmov.b64 %l0, y;\nmov.b32 %r2, z;\n", "mov.b32 out, %r1;\n", "",
     "mov.b32 %%yr, %s;\nmov.b64 %%yl, %s;\n", "(%%xr), %s, (%%yr, %%yl, 0f3f800000)",
     "mov.b32 %s, %%xr;\n"},
};
enum { SIGNATURES = sizeof signatures / sizeof *signatures };

static unsigned signature_of(unsigned f)
{
    return f % 2 == 0 ? 0 : 1 + f / 2 % 2;
}

static void call(struct program *p, struct list *l)
{
    bool kernel = p->writing + 1 == p->function_count;
    bool again = !kernel && chance(p, 25); /* itself, as deep as %depth says */
    if (!again && !p->writing) return;
    unsigned f = again ? p->writing : below(p, p->writing), s = signature_of(f);
    struct node *n = add(p, l);
    struct buf b = {0};
    unsigned skip = label(p);
    const char *g = chance(p, 20) ? text(p, "@%s%s ", maybe(p, 50, "!"), reg(p, 'p')) : "";
    buf_puts(&b, "{\n");
    buf_puts(&b, signatures[s].declare);
    if (again)
        buf_printf(&b,
                   "setp.eq.u32 %%qq, %%depth, 0;\n@%%qq bra L%u;\nadd.u32 %%x1, %%depth, -1;\n",
                   skip);
    else buf_puts(&b, "and.b32 %x1, %r0, 3;\n");
    /* the low bits of the 64-bit parameter are the depth */
    buf_printf(
        &b,
        "mov.b64 %%a0, %s;\nshl.b64 %%a0, %%a0, 2;\ncvt.u64.u32 %%a1, %%x1;\nor.b64 %%a0, %%a0, %%a1;\n",
        reg(p, 'l'));
    buf_printf(&b, signatures[s].before, reg(p, 'r'), "%a0");
    if (!again && s == 0 && chance(p, 40)) {
        unsigned other = below(p, p->writing);
        if (other % 2) other = f;
        unsigned proto = label(p);
        buf_printf(&b,
                   "P%u: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n"
                   "mov.u64 %%a0, f%u;\nmov.u64 %%a1, f%u;\n@%s mov.u64 %%a0, %%a1;\n%scall ",
                   proto, f, other, reg(p, 'p'), g);
        buf_printf(&b, signatures[s].call, "%a0");
        buf_printf(&b, ", P%u;\n", proto);
    } else {
        buf_printf(&b, "%scall ", g);
        buf_printf(&b, signatures[s].call, text(p, "f%u", f));
        buf_puts(&b, ";\n");
    }
    /* a result that is not there, where the guard was off, must not be read */
    if (g[0]) buf_puts(&b, "{\n}\n");
    if (!g[0]) buf_printf(&b, signatures[s].after, reg(p, 'r'));
    if (again) buf_printf(&b, "L%u:\n", skip);
    buf_puts(&b, "}\n");
    n->text[0] = arena_copy(p->arena, b.data, b.size);
    buf_free(&b);
}

/* ---- what stands where ------------------------------------------------------------------------------ */

static void exchange(struct program *p, struct list *l)
{
    struct node *n = add(p, l);
    unsigned by = 1 + below(p, 200), threads = p->block[0] * p->block[1];
    if (chance(p, 30)) {
        static const char *const kinds[] = {"popc.u32 %xr", "and.pred %qq", "or.pred %qq"};
        unsigned k = below(p, 3);
        n->text[0] = text(p, "%s.red.%s, %u, %s;\n%s", chance(p, 50) ? "bar" : "barrier", kinds[k],
                          below(p, 16), reg(p, 'p'),
                          k == 0 ? text(p, "mov.u32 %s, %%xr;\n", reg(p, 'r'))
                                 : text(p, "mov.pred %s, %%qq;\n", reg(p, 'p')));
        return;
    }
    n->text[0] = text(
        p,
        "st.shared.u32 [%%sown+%u], %s;\nbar.sync %u;\nadd.u32 %%x0, %%linear, %u;\n"
        "rem.u32 %%x0, %%x0, %u;\nmov.u32 %%x1, shared;\nmad.lo.u32 %%x0, %%x0, 32, %%x1;\n"
        "ld.shared.u32 %s, [%%x0+%u];\nbarrier.sync 0;\n",
        (by % 8) * 4, reg(p, 'r'), by % 16, by, threads, reg(p, 'r'), (by % 8) * 4);
}

static void statement(struct program *p, struct list *l)
{
    bool kernel = p->writing + 1 == p->function_count;
    unsigned kind = below(p, 100), depth_left = 2 + below(p, 8);
    if (p->depth >= 4 && kind >= 60 && kind < 86) kind = 0;
    if (kind < 40) add(p, l)->text[0] = operation(p);
    else if (kind < 60) add(p, l)->text[0] = memory(p);
    else if (kind < 70) if_else(p, l, depth_left);
    else if (kind < 77) loop(p, l, depth_left);
    else if (kind < 80) choose(p, l, depth_left);
    else if (kind < 86) call(p, l);
    else if (kind < 92) { /* out of what is around, however far */
        if (p->end_count)
            add(p, l)->text[0] = text(p, "@%s%s bra L%u;\n", maybe(p, 50, "!"), reg(p, 'p'),
                                      p->ends[below(p, p->end_count)]);
    } else if (kind < 95 && p->depth) {
        if (chance(p, 30))
            add(p, l)->text[0] = text(p, "@%s%s exit;\n", maybe(p, 50, "!"), reg(p, 'p'));
        else add(p, l)->text[0] = text(p, "@%s%s ret;\n", maybe(p, 50, "!"), reg(p, 'p'));
    } else if (kernel && !p->depth) exchange(p, l);
    else add(p, l)->text[0] = operation(p);
}

static void statements(struct program *p, struct list *l, unsigned n)
{
    for (unsigned i = 0; i < n; i++) statement(p, l);
}

static const char registers[] =
    "{\n.reg .pred %p<6>, %q<8>, %qq;\n.reg .b16 %h<6>, %yh;\n.reg .b32 %r<10>, %x<4>, %n<8>, %m<8>, %xr, %yr;\n"
    ".reg .b32 %linear, %index, %sown, %depth;\n.reg .b64 %l<6>, %a<4>, %own, %in, %out, %gshared, %glocal, %llocal, %yl;\n"
    ".reg .f32 %f<5>;\n.reg .f64 %d<4>;\n.reg .b8 %c<3>;\n.local .align 16 .b8 own[64];\n";

/* Registers from the thread's words at %in; functions start from their parameters and the words of lane 0. */
static void begin(struct program *p, struct buf *b)
{
    unsigned at = 0;
    for (unsigned i = 0; i < NR; i++, at++)
        buf_printf(b, "ld.global.u32 %%r%u, [%%a3+%u];\n", i, 8 * at);
    for (unsigned i = 0; i < NL; i++, at++)
        buf_printf(b, "ld.global.u64 %%l%u, [%%a3+%u];\n", i, 8 * at);
    for (unsigned i = 0; i < NH; i++, at++)
        buf_printf(b, "ld.global.u16 %%h%u, [%%a3+%u];\n", i, 8 * at);
    for (unsigned i = 0; i < NF; i++, at++)
        buf_printf(b, "ld.global.f32 %%f%u, [%%a3+%u];\n", i, 8 * at);
    for (unsigned i = 0; i < ND; i++, at++)
        buf_printf(b, "ld.global.f64 %%d%u, [%%a3+%u];\n", i, 8 * at);
    for (unsigned i = 0; i < NC; i++, at++)
        buf_printf(b, "ld.global.b8 %%c%u, [%%a3+%u];\n", i, 8 * at);
    for (unsigned i = 0; i < NP; i++, at++)
        buf_printf(b, "ld.global.u32 %%x0, [%%a3+%u];\nsetp.lt.s32 %%p%u, %%x0, %u;\n",
                   8 * (at % IN), i, i == 5 ? 0 : 1000);
    (void)p;
    buf_puts(b, "mov.u32 %xr, 0;\nmov.pred %qq, 0;\n");
    buf_puts(
        b,
        "mov.u32 %yr, 0;\nmov.u64 %yl, 0;\nmov.u64 %llocal, own;\ncvta.local.u64 %glocal, %llocal;\n");
    for (unsigned i = 0; i < 64; i += 16)
        buf_printf(b, "st.local.v2.b64 [own+%u], {%%l0, %%l1};\n", i);
}

static void where(struct program *p, struct buf *b)
{
    buf_puts(b, "mov.u32 %linear, %tid.x;\nmov.u32 %x0, %tid.y;\nmov.u32 %x1, %ntid.x;\n"
                "mad.lo.u32 %linear, %x0, %x1, %linear;\nmov.u32 %x0, %ctaid.x;\n");
    buf_printf(b, "mad.lo.u32 %%index, %%x0, %u, %%linear;\n", p->block[0] * p->block[1]);
    buf_puts(
        b,
        "mov.u32 %sown, shared;\nmad.lo.u32 %sown, %linear, 32, %sown;\ncvt.u64.u32 %a0, %sown;\n"
        "cvta.shared.u64 %gshared, %a0;\n");
}

static void make_function(struct program *p, unsigned f)
{
    struct function *x = &p->functions[f];
    struct buf b = {0};
    p->writing = f;
    p->end_count = p->depth = 0;
    bool kernel = f + 1 == p->function_count;
    if (kernel) {
        buf_printf(
            &b,
            ".visible .entry k(.param .u64 pin, .param .u64 pmem, .param .u64 pout, .param .u64 word)\n%s",
            registers);
        where(p, &b);
        buf_puts(
            &b, "ld.param.u64 %in, [pin];\nld.param.u64 %own, [pmem];\nld.param.u64 %out, [pout];\n"
                "st.global.u64 [gin], %in;\nst.global.u64 [gmem], %own;\n");
        buf_printf(
            &b,
            "mad.wide.u32 %%own, %%index, %u, %%own;\nmad.wide.u32 %%out, %%index, %u, %%out;\n"
            "mad.wide.u32 %%a3, %%index, %u, %%in;\n",
            p->own_slots ? SLOTS * 8 : 8, OUT * 8, IN * 8);
        begin(p, &b);
        buf_puts(&b, "mov.u32 %depth, 0;\n");
    } else {
        unsigned s = signature_of(f);
        buf_puts(&b, ".func ");
        buf_printf(&b, signatures[s].head, f);
        buf_puts(&b, "\n");
        buf_puts(&b, registers);
        buf_puts(&b, "ld.global.u64 %in, [gin];\n");
        where(p, &b);
        buf_puts(&b, "ld.global.u64 %own, [gmem];\n");
        buf_printf(&b, "mad.wide.u32 %%own, %%index, %u, %%own;\n", p->own_slots ? SLOTS * 8 : 8);
        buf_printf(&b, "mad.wide.u32 %%a3, %%index, %u, %%in;\n", IN * 8);
        begin(p, &b);
        buf_puts(&b, signatures[s].begin);
        buf_puts(&b, "cvt.u32.u64 %depth, %l0;\nand.b32 %depth, %depth, 3;\n");
        buf_puts(&b, signatures[s].end); /* in case it returns early */
    }
    x->head = arena_copy(p->arena, b.data, b.size);
    b.size = 0;
    statements(p, &x->body, kernel ? p->size : 3 + below(p, 10));
    if (kernel) {
        unsigned at = 0;
        for (unsigned i = 0; i < NL; i++, at += 8)
            buf_printf(&b, "st.global.u64 [%%out+%u], %%l%u;\n", at, i);
        for (unsigned i = 0; i < ND; i++, at += 8)
            buf_printf(&b, "st.global.f64 [%%out+%u], %%d%u;\n", at, i);
        for (unsigned i = 0; i < NR; i++, at += 4)
            buf_printf(&b, "st.global.u32 [%%out+%u], %%r%u;\n", at, i);
        for (unsigned i = 0; i < NF; i++, at += 4)
            buf_printf(&b, "st.global.f32 [%%out+%u], %%f%u;\n", at, i);
        for (unsigned i = 0; i < NH; i++, at += 2)
            buf_printf(&b, "st.global.u16 [%%out+%u], %%h%u;\n", at, i);
        for (unsigned i = 0; i < NC; i++, at += 1)
            buf_printf(&b, "st.global.u8 [%%out+%u], %%c%u;\n", at, i);
        for (unsigned i = 0; i < NP; i++, at += 1)
            buf_printf(&b, "selp.u32 %%x0, 1, 0, %%p%u;\nst.global.u8 [%%out+%u], %%x0;\n", i, at);
        at = (at + 7) & ~7u;
        for (unsigned i = 0; i < 64; i += 8, at += 8) /* the .local array */
            buf_printf(&b, "ld.local.u64 %%a0, [own+%u];\nst.global.u64 [%%out+%u], %%a0;\n", i,
                       at);
        for (unsigned i = 0; i < 32; i += 8, at += 8)
            buf_printf(&b, "ld.shared.u64 %%a0, [%%sown+%u];\nst.global.u64 [%%out+%u], %%a0;\n", i,
                       at);
        if (at > OUT * 8) abort();
    } else buf_puts(&b, signatures[signature_of(f)].end);
    buf_puts(&b, "ret;\n}\n");
    x->tail = arena_copy(p->arena, b.data, b.size);
    buf_free(&b);
}

static void make(struct program *p, uint64_t seed)
{
    static const unsigned blocks[][2] = {{1, 1},   {31, 1}, {33, 1}, {97, 1}, {128, 1},
                                         {250, 1}, {13, 5}, {64, 1}, {160, 1}};
    *p = (struct program){.arena = arena_new(), .seed = seed, .state = seed * 1000003, .labels = 1};
    memcpy(p->block, PICK(p, blocks), sizeof p->block);
    p->grid = 1 + below(p, 3);
    p->threads = p->grid * p->block[0] * p->block[1];
    p->own_slots = chance(p, 50);
    p->size = 5 + below(p, 30);
    p->function_count = 1 + below(p, 5);
    for (unsigned f = 0; f < p->function_count; f++) make_function(p, f);
    p->config.threads = 1 + below(p, 2);
    p->config.count = chance(p, 30);
    if (chance(p, 20)) p->config.checks = EMU_CHECK_INIT; /* a watched launch: other handlers */
    if (chance(p, 20)) p->config.divergence = EMU_ITS;
}

/* ---- running ---------------------------------------------------------------------------------------- */

struct outcome {
    enum { SAME, DISCARDED, REFUSED, FAULTED, DIFFERENT } kind;
    char what[2400];
};

static size_t in_size(const struct program *p)
{
    return (size_t)p->threads * IN * 8;
}
static size_t mem_size(const struct program *p)
{
    return (size_t)p->threads * SLOTS * 8;
}
static size_t out_size(const struct program *p)
{
    return (size_t)p->threads * OUT * 8;
}

static uint64_t *starts(const struct program *p)
{
    struct program r = {.state = p->seed ^ 0x5eed};
    uint64_t *in = malloc(in_size(p));
    bool alike = chance(&r, 20); /* lanes that start alike stay together longer */
    for (unsigned t = 0; t < p->threads; t++)
        for (unsigned i = 0; i < IN; i++) {
            uint64_t v = edge(&r);
            if (i >= NR + NL + NH && i < NR + NL + NH + NF)
                v = chance(&r, 70) ? PICK(&r, floats) : v;
            if (i >= NR + NL + NH + NF && i < NR + NL + NH + NF + ND)
                v = chance(&r, 70) ? PICK(&r, doubles) : v;
            in[t * IN + i] = alike && t ? in[i] : v;
        }
    return in;
}

static struct outcome check(const struct program *p)
{
    struct outcome r = {SAME, ""};
    char *ptx = render(p);
    uint64_t *in = starts(p), word = 0x8877665544332211;
    uint8_t *mem[2], *out[2];
    for (int k = 0; k < 2; k++) {
        mem[k] = malloc(mem_size(p)), out[k] = malloc(out_size(p));
        memset(mem[k], 0x5a, mem_size(p)), memset(out[k], 0xa5, out_size(p));
    }
    struct parsed *m = parse_text("program.ptx", ptx, strlen(ptx));
    struct oracle o = {.module = m->module,
                       .kernel = "k",
                       .grid = {p->grid, 1, 1},
                       .block = {p->block[0], p->block[1], 1},
                       .most_steps = 20000};
    o.args[0] = oracle_buffer(&o, in, in_size(p));
    o.args[1] = oracle_buffer(&o, mem[0], mem_size(p));
    o.args[2] = oracle_buffer(&o, out[0], out_size(p));
    o.args[3] = word;
    if (!m->ok) {
        struct buf b = {0};
        diags_render(&m->diags, &b);
        r.kind = REFUSED;
        snprintf(r.what, sizeof r.what, "%s", b.data);
        buf_free(&b);
    } else if (!oracle_run(&o)) {
        r.kind = strstr(o.why, "does not end") || strstr(o.why, "too deep") ? DISCARDED : REFUSED;
        snprintf(r.what, sizeof r.what, "the oracle: %s", o.why);
    } else {
        struct emu_run e = {.ptx = ptx,
                            .kernel = "k",
                            .grid = p->grid,
                            .block = p->block[0],
                            .block_yz = {p->block[1], 1}};
        e.config = p->config;
        e.args[0] = emu_in(&e, in, in_size(p));
        e.args[1] = emu_inout(&e, mem[1], mem_size(p));
        e.args[2] = emu_inout(&e, out[1], out_size(p));
        e.args[3] = word;
        if (!emu_run(&e)) {
            r.kind = e.kind ? FAULTED : DIFFERENT;
            snprintf(r.what, sizeof r.what, "%s", e.fault);
        } else
            for (int k = 0; k < 2 && !r.kind; k++) {
                const uint8_t *want = k ? mem[0] : out[0], *got = k ? mem[1] : out[1];
                size_t n = k ? mem_size(p) : out_size(p), at = 0;
                while (at < n && want[at] == got[at]) at++;
                if (at == n) continue;
                r.kind = DIFFERENT;
                at &= ~(size_t)7;
                snprintf(r.what, sizeof r.what,
                         "%s: bytes %zu of thread %zu are %016llx, not %016llx",
                         k ? "slots" : "registers", k ? at : at % (OUT * 8), k ? 0 : at / (OUT * 8),
                         (unsigned long long)*(const uint64_t *)(const void *)(got + at),
                         (unsigned long long)*(const uint64_t *)(const void *)(want + at));
            }
    }
    oracle_end(&o);
    parsed_free(m);
    free(in), free(ptx);
    for (int k = 0; k < 2; k++) free(mem[k]), free(out[k]);
    return r;
}

/* Whether the program still fails so with the node as it now is; else it is as it was. */
static bool still(struct program *p, int kind)
{
    return (int)check(p).kind == kind;
}

static bool cut(struct program *p, struct list *l, int kind)
{
    bool any = false;
    for (size_t n = l->count > 3 ? l->count / 2 : 1; n; n /= 2) /* many at once, then one by one */
        for (size_t i = 0; i + n <= l->count; i += n) {
            bool was[4096] = {0}, all = true;
            if (n > 4096) continue;
            for (size_t k = 0; k < n; k++) {
                was[k] = l->items[i + k]->off && l->items[i + k]->kept < 0;
                all &= was[k];
            }
            if (all) continue;
            bool off[4096];
            int kept[4096];
            for (size_t k = 0; k < n; k++) {
                off[k] = l->items[i + k]->off, kept[k] = l->items[i + k]->kept;
                l->items[i + k]->off = true, l->items[i + k]->kept = -1;
            }
            if (still(p, kind)) any = true;
            else
                for (size_t k = 0; k < n; k++)
                    l->items[i + k]->off = off[k], l->items[i + k]->kept = kept[k];
        }
    for (size_t i = 0; i < l->count; i++) {
        struct node *n = l->items[i];
        if (n->off && n->kept < 0) continue;
        for (unsigned k = 0; k < n->parts && !n->off; k++) {
            n->off = true, n->kept = (int)k;
            if (still(p, kind)) any = true;
            else n->off = false, n->kept = -1;
        }
        for (unsigned k = 0; k < n->parts; k++)
            if (!n->off || n->kept == (int)k) any |= cut(p, &n->body[k], kind);
    }
    return any;
}

static void minimise(struct program *p, int kind)
{
    for (int round = 0; round < 5; round++) {
        bool any = false;
        for (unsigned f = p->function_count; f-- > 0;) any |= cut(p, &p->functions[f].body, kind);
        if (!any) break;
    }
}

static bool try(uint64_t seed, bool talk)
{
    struct program p;
    make(&p, seed);
    struct outcome r = check(&p);
    bool ok = r.kind == SAME || r.kind == DISCARDED;
    if (!ok) {
        fprintf(stderr, "HEDDLE_SEED=%llu: %s\n", (unsigned long long)seed, r.what);
        if (r.kind != REFUSED) minimise(&p, r.kind);
        r = check(&p);
        char *ptx = render(&p);
        fprintf(stderr, "%s\n%s\ngrid %u, block %u x %u, slots %s\n", ptx, r.what, p.grid,
                p.block[0], p.block[1], p.own_slots ? "side by side" : "by turns");
        free(ptx);
    } else if (talk) {
        char *ptx = render(&p);
        fprintf(stderr, "%s\n%s\n", ptx, r.what);
        free(ptx);
    }
    arena_free(p.arena);
    return ok;
}

Test(property, random_programs_do_what_the_oracle_says)
{
    const char *seed = getenv("HEDDLE_SEED"), *count = getenv("HEDDLE_PROGRAMS"),
               *from = getenv("HEDDLE_FROM");
    if (seed) {
        cr_assert(try(strtoull(seed, NULL, 0), true));
        return;
    }
    uint64_t n = count ? strtoull(count, NULL, 0) : PROGRAMS,
             first = from ? strtoull(from, NULL, 0) : 1, failed = 0;
    for (uint64_t i = first; i < first + n && failed < 5; i++) failed += !try(i, false);
    cr_assert(failed == 0, "%llu programs fail", (unsigned long long)failed);
}
