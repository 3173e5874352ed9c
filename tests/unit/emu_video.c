/* The video instructions: every spelling of every form with selectors of all kinds, against the pseudo-code of the
 * PTX ISA ("Video Instructions") written out on 128-bit integers. */
#include "tests/support/batch.h"
#include "tests/support/forms.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
typedef __int128 wide;

static const uint64_t edges[] = {0,          1,          31,         32,         33,
                                 0x7f,       0x80,       0xff,       0x7fff,     0x8000,
                                 0xffff,     0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
                                 0x807f01ff, 0x01fe8081, 0x7fff8000};

enum kind { VADD, VSUB, VABSDIFF, VMIN, VMAX, VSHL, VSHR, VMAD, VSET, VAVRG };

struct spelled {
    char opcode[64];
    enum kind kind;
    unsigned parts; /* 0: scalar, 2, 4 */
    bool signed_d, signed_a, signed_b;
    char sel_a[8], sel_b[8], sel_d[8]; /* as they are written, without the dot */
    bool minus_a, minus_b, minus_c;
    bool merge; /* a destination selector, four operands */
};

static bool has(const struct spelled *s, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = s->opcode; (p = strstr(p, word)); p++)
        if (p > s->opcode && p[-1] == '.' && (p[n] == '.' || !p[n])) return true;
    return false;
}

static wide clamp(wide x, unsigned bits, bool sign)
{
    wide most = ((wide)1 << (sign ? bits - 1 : bits)) - 1, least = sign ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

static unsigned bits_of(const char *sel)
{
    return *sel == 'b' ? 8 : *sel == 'h' ? 16 : 32;
}
static unsigned place_of(const char *sel)
{
    return *sel ? bits_of(sel) * (unsigned)(sel[1] - '0') : 0;
}
static wide extended(uint64_t field, unsigned bits, bool sign)
{
    field &= ((uint64_t)1 << bits) - 1;
    return sign && field >> (bits - 1) ? (wide)field - ((wide)1 << bits) : (wide)field;
}
/* A number cut to n bits of two's complement. */
static wide wrapped(wide x, unsigned bits)
{
    return extended((uint64_t)x, bits, true);
}

static bool compared(const struct spelled *s, wide a, wide b)
{
    return has(s, "eq")   ? a == b
           : has(s, "ne") ? a != b
           : has(s, "lt") ? a < b
           : has(s, "le") ? a <= b
           : has(s, "gt") ? a > b
                          : a >= b;
}

static wide primary(const struct spelled *s, wide a, wide b)
{
    switch (s->kind) {
    case VADD: return a + b;
    case VSUB: return a - b;
    case VABSDIFF: return a < b ? b - a : a - b;
    case VMIN: return a < b ? a : b;
    case VMAX: return a > b ? a : b;
    case VSET: return compared(s, a, b);
    case VAVRG: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VSHL:
    case VSHR:
        b = has(s, "wrap") ? b & 31 : b > 32 ? 32 : b;
        return s->kind == VSHL ? (wide)((unsigned __int128)a << b) : a >> b;
    default: return 0;
    }
}

static uint64_t scalar(const struct batch_case *c, const uint64_t *in)
{
    const struct spelled *s = c->about;
    wide a = extended(in[0] >> place_of(s->sel_a), bits_of(s->sel_a), s->signed_a);
    wide b = extended(in[1] >> place_of(s->sel_b), bits_of(s->sel_b), s->signed_b);
    wide tmp = primary(s, a, b), third = extended(in[2], 32, s->signed_d);
    if (has(s, "sat")) tmp = clamp(tmp, bits_of(s->sel_d), s->signed_d);
    tmp = wrapped(tmp, 33);
    if (has(s, "add")) tmp += third;
    if (has(s, "min")) tmp = tmp < third ? tmp : third;
    if (has(s, "max")) tmp = tmp > third ? tmp : third;
    if (!s->merge) return (uint32_t)tmp;
    uint32_t mask = (uint32_t)(((uint64_t)1 << bits_of(s->sel_d)) - 1) << place_of(s->sel_d);
    return ((uint32_t)tmp << place_of(s->sel_d) & mask) | ((uint32_t)in[2] & ~mask);
}

static uint64_t vmad(const struct batch_case *c, const uint64_t *in)
{
    const struct spelled *s = c->about;
    wide a = extended(in[0] >> place_of(s->sel_a), bits_of(s->sel_a), s->signed_a);
    wide b = extended(in[1] >> place_of(s->sel_b), bits_of(s->sel_b), s->signed_b);
    bool minus = s->minus_a != s->minus_b;
    bool is_signed = s->signed_a || s->signed_b || minus || s->minus_c;
    wide tmp = a * b;
    uint32_t third = (uint32_t)in[2];
    int lsb = 0;
    if (has(s, "po")) lsb = 1;
    else if (minus) tmp = ~tmp, lsb = 1;
    else if (s->minus_c) third = ~third, lsb = 1;
    tmp += extended(third, 32, is_signed) + lsb;
    if (has(s, "shr7")) tmp >>= 7;
    if (has(s, "shr15")) tmp >>= 15;
    if (has(s, "sat")) tmp = clamp(tmp, 32, is_signed);
    return (uint32_t)tmp;
}

static uint64_t simd(const struct batch_case *c, const uint64_t *in)
{
    const struct spelled *s = c->about;
    unsigned bits = 32 / s->parts;
    uint64_t both = (uint64_t)(uint32_t)in[1] << 32 | (uint32_t)in[0];
    uint32_t low = bits == 16 ? 0xffff : 0xff, d = has(s, "add") ? (uint32_t)in[2] : 0;
    for (unsigned i = 0; i < s->parts; i++) {
        unsigned from_a = i, from_b = s->parts + i;
        if (*s->sel_a) from_a = (unsigned)(s->sel_a[s->parts - i] - '0');
        if (*s->sel_b) from_b = (unsigned)(s->sel_b[s->parts - i] - '0');
        wide a = extended(both >> bits * from_a, bits, s->signed_a);
        wide b = extended(both >> bits * from_b, bits, s->signed_b);
        wide t = primary(s, a, b);
        if (has(s, "sat")) t = clamp(t, bits, s->signed_d);
        bool on = !*s->sel_d || strchr(s->sel_d, (char)('0' + i));
        if (has(s, "add")) d += on ? (uint32_t)t : 0;
        else d |= (on ? (uint32_t)t & low : (uint32_t)in[2] >> bits * i & low) << bits * i;
    }
    return d;
}

/* ---- the forms ----------------------------------------------------------------------------------------- */

static const struct family {
    const char *name;
    enum kind kind;
    unsigned parts;
} families[] = {{"vadd", VADD, 0},          {"vsub", VSUB, 0},          {"vabsdiff", VABSDIFF, 0},
                {"vmin", VMIN, 0},          {"vmax", VMAX, 0},          {"vshl", VSHL, 0},
                {"vshr", VSHR, 0},          {"vmad", VMAD, 0},          {"vset", VSET, 0},
                {"vadd2", VADD, 2},         {"vsub2", VSUB, 2},         {"vavrg2", VAVRG, 2},
                {"vabsdiff2", VABSDIFF, 2}, {"vmin2", VMIN, 2},         {"vmax2", VMAX, 2},
                {"vset2", VSET, 2},         {"vadd4", VADD, 4},         {"vsub4", VSUB, 4},
                {"vavrg4", VAVRG, 4},       {"vabsdiff4", VABSDIFF, 4}, {"vmin4", VMIN, 4},
                {"vmax4", VMAX, 4},         {"vset4", VSET, 4}};

static const struct family *family_of(size_t form)
{
    for (size_t i = 0; i < COUNT(families); i++)
        if (strcmp(families[i].name, ptx_forms[form].name) == 0) return &families[i];
    return NULL;
}

struct building {
    struct batch *batch;
    const struct family *family;
    enum ptx_form form;
    unsigned turn;
};

static void add_case(struct building *w, const struct spelled *s)
{
#define DOT(sel) *(sel) ? "." : "", sel
    struct spelled *k = malloc(sizeof *k);
    *k = *s;
    bool third = strstr(ptx_forms[w->form].id, "_merge") || strstr(ptx_forms[w->form].id, "_m") ||
                 strstr(ptx_forms[w->form].id, "_op") || s->parts || s->kind == VMAD;
    k->merge = third && !s->parts && *s->sel_d;
    struct batch_case *c = batch_add(w->batch, 'r',
                                     s->parts          ? simd
                                     : s->kind == VMAD ? vmad
                                                       : scalar,
                                     0, 0, "%s %%ro%s%s, %s%%r1%s%s, %s%%r2%s%s%s%s", s->opcode,
                                     DOT(s->sel_d), s->minus_a ? "-" : "", DOT(s->sel_a),
                                     s->minus_b ? "-" : "", DOT(s->sel_b),
                                     !third       ? ""
                                     : s->minus_c ? ", -"
                                                  : ", ",
                                     third ? "%r3" : "");
    c->about = k;
#undef DOT
}

static const char *const sels[] = {"", "b0", "b1", "b2", "b3", "h0", "h1"};

/* Source selectors in turn, so that over the spellings each meets each. */
static void each_selector(struct building *w, struct spelled *s)
{
    for (unsigned i = 0; i < 7; i++) {
        strcpy(s->sel_a, sels[i]);
        strcpy(s->sel_b, sels[(i * 3 + w->turn) % 7]);
        add_case(w, s);
    }
    w->turn++;
}

static void each_simd(struct building *w, struct spelled *s)
{
    unsigned n = s->parts, masks = (1u << n) - 1;
    for (unsigned mask = 0; mask <= masks; mask++) {
        char *d = s->sel_d;
        *d = 0;
        if (mask) *d++ = n == 2 ? 'h' : 'b';
        for (unsigned i = n; mask && i-- > 0;)
            if (mask >> i & 1) *d++ = (char)('0' + i);
        *d = 0;
        for (int k = 0; k < 2; k++) {
            char *sel = k ? s->sel_b : s->sel_a;
            *sel = 0;
            if (!mask) continue; /* the defaults */
            *sel++ = n == 2 ? 'h' : 'b';
            for (unsigned i = 0; i < n; i++) *sel++ = (char)('0' + batch_random() % (2 * n));
            *sel = 0;
        }
        add_case(w, s);
    }
}

static void spelling(void *self, const struct ptx_op *op)
{
    struct building *w = self;
    struct spelled s = {.kind = w->family->kind, .parts = w->family->parts};
    snprintf(s.opcode, sizeof s.opcode, "%.*s", (int)op->text_length, op->text);
    bool set = s.kind == VSET;
    s.signed_d = !set && op->type[0] == PTX_s32;
    s.signed_a = op->type[set ? 0 : 1] == PTX_s32;
    s.signed_b = op->type[set ? 1 : 2] == PTX_s32;
    if (s.parts) each_simd(w, &s);
    else if (s.kind == VMAD) {
        for (int signs = 0; signs < (has(&s, "po") ? 1 : 5); signs++) {
            s.minus_a = signs == 1 || signs == 3;
            s.minus_b = signs == 2 || signs == 3;
            s.minus_c = signs == 4;
            each_selector(w, &s);
        }
    } else if (strstr(ptx_forms[w->form].opnds, "=.")) { /* merges */
        for (unsigned d = 1; d < 7; d++) {
            strcpy(s.sel_d, sels[d]);
            each_selector(w, &s);
        }
    } else each_selector(w, &s);
}

Test(emu_video, every_form_has_a_reference)
{
    for (size_t f = 0; f < PTX_FORM_COUNT; f++)
        cr_expect(ptx_forms[f].unit != PTX_UNIT_VIDEO || ptx_forms[f].refused || family_of(f),
                  "%s: '%s' is not tested here", ptx_forms[f].id, ptx_forms[f].name);
}

static void run(unsigned parts)
{
    for (size_t f = 0; f < PTX_FORM_COUNT; f++) {
        const struct family *family = family_of(f);
        if (ptx_forms[f].unit != PTX_UNIT_VIDEO || !family || family->parts != parts) continue;
        struct batch b = {.target = "sm_90"};
        batch_rows(&b, edges, COUNT(edges), 200, 32);
        struct building w = {.batch = &b, .family = family, .form = (enum ptx_form)f};
        cr_expect(form_spellings(w.form, "90", spelling, &w) > 0, "%s is spelled in no way",
                  ptx_forms[f].id);
        size_t count = b.count;
        const void **about = malloc(count * sizeof *about);
        for (size_t i = 0; i < count; i++) about[i] = b.cases[i].about;
        batch_run(&b);
        for (size_t i = 0; i < count; i++) free((void *)(uintptr_t)about[i]);
        free(about);
    }
}

Test(emu_video, scalar)
{
    run(0);
}
Test(emu_video, halves)
{
    run(2);
}
Test(emu_video, bytes)
{
    run(4);
}
