/* Reads the operand column of a row for an opcode: flags, base, count and gates (the notation is in isa.h). */
#include "base/arena.h"
#include "ptx/isa_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool skip(const char **p, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(*p, text, n) != 0) return false;
    *p += n;
    return true;
}

static enum ptx_type wide(enum ptx_type t)
{
    switch (t) {
    case PTX_u8: return PTX_u16;
    case PTX_u16: return PTX_u32;
    case PTX_u32: return PTX_u64;
    case PTX_s8: return PTX_s16;
    case PTX_s16: return PTX_s32;
    case PTX_s32: return PTX_s64;
    case PTX_b16: return PTX_b32;
    case PTX_b32: return PTX_b64;
    case PTX_b64: return PTX_b128;
    case PTX_f16: return PTX_f32;
    case PTX_f32: return PTX_f64;
    default: return PTX_NO_TYPE;
    }
}

/* The register type that holds a piece of a matrix of T. */
static enum ptx_type piece(enum ptx_type t)
{
    switch (t) {
    case PTX_f16: return PTX_f16x2;
    case PTX_bf16: return PTX_bf16x2;
    case PTX_tf32:
    case PTX_f32:
    case PTX_f64:
    case PTX_s32: return t;
    default: return PTX_b32;
    }
}

bool ptx_op_matrix(const struct ptx_op *op, unsigned *m, unsigned *n, unsigned *k)
{
    *m = *n = *k = 0;
    for (const char *p = op->text, *end = p + op->text_length; p < end; p++)
        if (*p == '.' && p[1] == 'm' && isdigit((unsigned char)p[2]) &&
            sscanf(p, ".m%un%uk%u", m, n, k) >= 2)
            return true;
    return false;
}

/* The dimensions of the opcode's geometry word, 0: it has none. `index`: its first coordinate is an
 * array index; `cube`: it is a cube; `extra`: it takes one more coordinate than it has dimensions. */
static unsigned geometry(const struct ptx_op *op, bool *index, bool *cube, bool *extra)
{
    static const struct {
        const char *word;
        unsigned dims;
        bool index, cube, extra;
    } words[] = {{"1d", 1, false, false, false}, {"2d", 2, false, false, false},
                 {"3d", 3, false, false, false}, {"4d", 4, false, false, false},
                 {"5d", 5, false, false, false}, {"a1d", 1, true, false, true},
                 {"a2d", 2, true, false, true},  {"cube", 3, false, true, false},
                 {"acube", 3, true, true, true}, {"2dms", 2, false, false, true},
                 {"a2dms", 2, true, false, true}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_op_has(op, words[i].word)) {
            *index = words[i].index;
            *cube = words[i].cube;
            *extra = words[i].extra;
            return words[i].dims;
        }
    return 0;
}

/* How long the vectors of a texture or tensor instruction are: what ptxas takes for each geometry. */
static const char *geometry_count(char what, const struct ptx_op *op, struct ptx_shape *s)
{
    bool index, cube, extra;
    unsigned dims = geometry(op, &index, &cube, &extra);
    if (!dims) return "a geometry count without a geometry word";
    unsigned exact = 0, least = dims;
    switch (what) {
    case 'G':
        least = dims + extra;
        if (index) s->flags |= PTX_LEADING_U32;
        break;
    case 'O': break;
    case 'D': exact = dims == 3 ? 4 : dims; break;
    case 'N': exact = dims; break;
    case 'I': exact = dims > 2 ? dims - 2 : 0; break;
    default: break;
    }
    if (exact) {
        s->counts[s->count_n++] = (uint16_t)exact;
        return NULL;
    }
    for (unsigned n = 1; n <= 4; n *= 2)
        if (n >= least) s->counts[s->count_n++] = (uint16_t)n;
    if (s->counts[0] == 1) s->counts[s->count_n++] = 0; /* braces are optional */
    return NULL;
}

/* The number of the opcode's x1 ... x128 word, 1 if it has none. */
static unsigned repeat(const struct ptx_op *op)
{
    unsigned n = 1;
    for (const char *p = op->text, *end = p + op->text_length; p < end; p++)
        if (*p == '.' && p[1] == 'x' && isdigit((unsigned char)p[2])) sscanf(p, ".x%u", &n);
    return n;
}

/* T, T2, P3, W or a type's name. NULL: what is wrong. */
static const char *read_type(const char **p, const struct ptx_op *op, struct ptx_shape *s,
                             enum ptx_type *element)
{
    const char *from = *p;
    while (isalnum((unsigned char)**p) || **p == '_') ++*p;
    size_t n = (size_t)(*p - from);
    char c = from[0];
    if (n >= 1 && n <= 2 && (c == 'T' || c == 'P' || c == 'W') &&
        (n == 1 || (from[1] >= '1' && from[1] <= '8'))) {
        size_t i = n == 2 ? (size_t)(from[1] - '1') : 0;
        enum ptx_type t = i < op->type_count ? op->type[i] : PTX_NO_TYPE;
        *element = t;
        if (c == 'W') t = wide(t);
        if (c == 'P') {
            t = piece(t);
            s->flags |= PTX_PIECE;
        }
        s->type = (uint8_t)t;
        return t == PTX_NO_TYPE ? "a type that the opcode does not have" : NULL;
    }
    *element = ptx_type_find(from, n);
    s->flags |= PTX_FIXED;
    s->type = (uint8_t)*element;
    return *element ? NULL : "a base that is no type";
}

/* The part of an operand behind `*`. `fits` becomes false if the opcode cannot have this vector. */
static const char *read_count(const char **p, const struct ptx_op *op, struct ptx_shape *s,
                              enum ptx_type element, bool *fits)
{
    unsigned m, n, k;
    if (**p == 'V') {
        ++*p;
        s->counts[s->count_n++] = op->vec > 1 ? op->vec : 0;
        if (op->vec * ptx_types[s->type].bits > 128) *fits = false;
        return NULL;
    }
    if (**p == 'L') {
        ++*p;
        s->counts[s->count_n++] = op->vec;
        if (op->vec * ptx_types[s->type].bits != 256) *fits = false;
        return NULL;
    }
    if (**p && strchr("GODNI", **p)) return geometry_count(*(*p)++, op, s);
    unsigned factor = 0;
    const char *q = *p;
    while (isdigit((unsigned char)*q)) factor = factor * 10 + (unsigned)(*q++ - '0');
    if (*q == 'X') {
        *p = q + 1;
        s->counts[s->count_n++] = (uint16_t)(repeat(op) * (factor ? factor : 1));
        return NULL;
    }
    if (**p == 'm' || **p == 'n') {
        if (!ptx_op_matrix(op, &m, &n, &k)) return "a matrix count without a shape word";
        unsigned area = skip(p, "mn") ? m * n : skip(p, "mk") ? m * k : skip(p, "nk") ? n * k : 0;
        unsigned half = skip(p, "/2") ? 2 : 1;
        unsigned threads = m == 64 ? 128 : 32;
        unsigned bits = element == PTX_f64 ? 64 : 32;
        s->counts[s->count_n++] = (uint16_t)(area * ptx_types[element].bits / threads / bits /
                                             half);
        return NULL;
    }
    do {
        if (!isdigit((unsigned char)**p) || s->count_n == 4) return "a count";
        char *end;
        unsigned long c = strtoul(*p, &end, 10);
        s->counts[s->count_n++] = (uint16_t)c;
        *p = end;
    } while (**p == '|' && isdigit((unsigned char)(*p)[1]) && ++*p);
    if (s->counts[0] == 1 && s->count_n > 1 && s->count_n < 4)
        s->counts[s->count_n++] = 0; /* braces are optional */
    return NULL;
}

static const char *read_bracket(const char **p, const struct ptx_op *op, struct ptx_shape *s,
                                bool *fits)
{
    static const struct {
        const char *word;
        enum ptx_base base;
    } bases[] = {{"tex", PTX_BASE_TEX},    {"surf", PTX_BASE_SURF},      {"map", PTX_BASE_MAP},
                 {"texref", PTX_BASE_REF}, {"samplerref", PTX_BASE_REF}, {"surfref", PTX_BASE_REF},
                 {"tmem", PTX_BASE_TMEM}};
    s->base = PTX_BASE_ADDR;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        size_t n = strlen(bases[i].word);
        if (strncmp(*p, bases[i].word, n) == 0 && ((*p)[n] == ' ' || (*p)[n] == ']')) {
            s->base = (uint8_t)bases[i].base;
            if (s->base == PTX_BASE_REF) s->type = (uint8_t)ptx_type_find(*p, n);
            *p += n;
            break;
        }
    }
    if (s->base == PTX_BASE_ADDR) {
        while (**p != ']') {
            size_t n = strcspn(*p, "|]");
            enum ptx_space space = isa_space_find(*p, n);
            if (space == PTX_SPACE_COUNT) return "a state space";
            s->spaces |= (uint16_t)(1u << space);
            *p += n;
            if (**p == '|') ++*p;
        }
        ++*p;
        if (**p == 'u') {
            s->flags |= PTX_UNIFIED;
            ++*p;
        }
        return NULL;
    }
    if (**p == ' ') {
        ++*p;
        enum ptx_type element;
        if (strncmp(*p, "u32+", 4) == 0) {
            s->flags |= PTX_LEADING_U32;
            *p += 4;
        }
        const char *wrong = read_type(p, op, s, &element);
        if (wrong) return wrong;
        if (**p == '*') {
            ++*p;
            wrong = read_count(p, op, s, element, fits);
            if (wrong) return wrong;
        }
    }
    if (**p != ']') return "a bracket that does not close";
    ++*p;
    return NULL;
}

static const char *read_range(const char **p, struct ptx_shape *s)
{
    char *q;
    s->low = strtoll(*p, &q, 0);
    if (*q == '|') { /* (4|8|16) */
        s->values[s->value_n++] = (int16_t)s->low;
        while (*q == '|' && s->value_n < sizeof s->values / sizeof *s->values)
            s->values[s->value_n++] = (int16_t)strtoll(q + 1, &q, 0);
        *p = q + 1;
        return *q == ')' ? NULL : "a list of values";
    }
    if (*q != ':') return "a range";
    s->high = strtoll(q + 1, &q, 0);
    s->step = 1;
    if (*q == '/') s->step = strtoll(q + 1, &q, 0);
    else if (*q == '^') s->step = 0, q++;
    if (*q != ')' || s->step < 0) return "a range";
    s->flags |= PTX_RANGE;
    *p = q + 1;
    return NULL;
}

/* An operand's `:71/60`. */
static const char *read_gate(const struct ptx_isa *isa, const char **p, const char *what)
{
    struct gate g = isa_take_gate(p);
    return isa ? isa_gate_text(isa, g, what) : NULL;
}

static void read_flags(const char **p, struct ptx_shape *s)
{
    static const struct {
        char c;
        uint16_t flag;
    } flags[] = {{'=', PTX_WRITTEN}, {'#', PTX_CONSTANT},  {'$', PTX_REGISTER},  {'~', PTX_WIDE},
                 {'%', PTX_SPECIAL}, {'_', PTX_SINKABLE},  {'!', PTX_NEGATABLE}, {'-', PTX_MINUS},
                 {'&', PTX_NAMED},   {'.', PTX_SELECTABLE}};
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            if (**p == flags[i].c) {
                if (**p == '.' && s->flags & PTX_SELECTABLE) s->flags |= PTX_SIMD;
                s->flags |= flags[i].flag;
                ++*p;
                more = true;
            }
    }
}

/* One operand up to the comma behind it. `present` becomes false if its @word is not there. */
static const char *read_operand(const struct ptx_isa *isa, const char **p, const struct ptx_op *op,
                                struct ptx_shape *s, bool *present, bool *fits)
{
    read_flags(p, s);
    const char *wrong = NULL;
    enum ptx_type element = PTX_NO_TYPE;
    if (s->flags & PTX_SINKABLE && (!**p || strchr(",@:", **p))) s->base = PTX_BASE_SINK;
    else if (skip(p, "[")) wrong = read_bracket(p, op, s, fits);
    else if (skip(p, "label")) s->base = PTX_BASE_LABEL;
    else if (skip(p, "call")) s->base = PTX_BASE_CALL;
    else if (skip(p, "targets")) s->base = PTX_BASE_TARGETS;
    else wrong = read_type(p, op, s, &element);
    if (!wrong && skip(p, "(")) wrong = read_range(p, s);
    if (!wrong && skip(p, "*")) wrong = read_count(p, op, s, element, fits);
    if (!wrong && skip(p, "||pred")) s->flags |= PTX_SECOND | PTX_SECOND_NEEDED;
    if (!wrong && skip(p, "|pred")) s->flags |= PTX_SECOND;
    if (!wrong && skip(p, "|_pred")) s->flags |= PTX_SECOND | PTX_SECOND_SINK;
    if (!wrong && s->flags & PTX_SECOND) s->second_gate = read_gate(isa, p, "a second result");
    if (!wrong && skip(p, "@")) {
        const char *from = *p;
        while (isalnum((unsigned char)**p) || **p == ':' || **p == '_') ++*p;
        struct arena *scratch = arena_new();
        *present = ptx_op_has(op, arena_copy(scratch, from, (size_t)(*p - from)));
        arena_free(scratch);
    }
    if (!wrong && skip(p, "?")) s->flags |= PTX_OPTIONAL;
    if (!wrong) s->gate = read_gate(isa, p, "this operand");
    return wrong;
}

/* Fills the op's shapes. NULL: fine; else what is wrong with the row. */
const char *isa_read_operands(const struct ptx_isa *isa, struct ptx_op *op, bool *fits)
{
    struct ptx_shape shapes[MAX_SHAPES];
    size_t n = 0, min = 0;
    *fits = true;
    for (const char *p = op->form->opnds; *p;) {
        if (n == MAX_SHAPES) return "too many operands";
        bool present = true;
        shapes[n] = (struct ptx_shape){0};
        const char *wrong = read_operand(isa, &p, op, &shapes[n], &present, fits);
        if (wrong) return wrong;
        if (present) n++;
        min += present && !(shapes[n - 1].flags & PTX_OPTIONAL);
        if (*p == ',') p++;
        else if (*p) return "an operand that goes on";
        while (*p == ' ') p++;
    }
    struct ptx_shape *own = arena_array(isa->arena, struct ptx_shape, n);
    memcpy(own, shapes, n * sizeof *own);
    op->shapes = own;
    op->shape_count = (uint8_t)n;
    op->shape_min = (uint8_t)min;
    return NULL;
}
