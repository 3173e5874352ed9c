/* Parses declarations: variables, registers, parameters, initialisers. */
#include "base/arena.h"
#include "base/diag.h"
#include "ptx/parser.h"

#include <assert.h>
#include <string.h>

uint32_t ptx_var_step(const struct ptx_var *v)
{
    return ptx_types[v->sym->type].bits / 8;
}

int64_t ptx_opnd_offset(const struct ptx_opnd *o)
{
    if (o->kind != PTX_OPND_SYM || !o->indexed) return o->offset;
    uint32_t bytes = (uint32_t)o->offset * ptx_var_step(o->sym->var);
    bool far = o->sym->space == PTX_SPACE_GLOBAL || o->sym->space == PTX_SPACE_CONST;
    return far ? (int64_t)bytes : (int64_t)(int32_t)bytes;
}

uint32_t ptx_var_align(const struct ptx_var *v)
{
    uint32_t natural = ptx_types[v->sym->type].bits / 8u * v->sym->vec;
    return v->align ? v->align : natural ? natural : 1;
}

uint32_t ptx_param_align(const struct ptx_var *v)
{
    uint32_t natural = ptx_types[v->sym->type].bits / 8u * v->sym->vec;
    return v->align > natural ? v->align : natural ? natural : 1;
}

uint64_t ptx_var_size(const struct ptx_var *v)
{
    uint64_t size = (uint64_t)ptx_types[v->sym->type].bits / 8 * v->sym->vec;
    for (unsigned i = 0; i < v->dim_count; i++)
        if (__builtin_mul_overflow(size, v->dims[i], &size)) return UINT64_MAX;
    return size;
}

static bool needs(struct ptx_parser *p, uint32_t at, uint32_t length, const char *what, int version,
                  int sm)
{
    if (p->m->version >= version && p->m->target.sm >= sm) return true;
    diag_error(p->d, at, length, "%s needs PTX ISA version %d.%d and target sm_%d", what,
               version / 10, version % 10, sm);
    return false;
}

/* A literal or WARP_SZ: the places where PTX takes no expression. */
static bool plain_uint(struct ptx_parser *p, uint64_t *v, const char *what)
{
    if (p->t.kind != TOK_INT && !(p->t.kind == TOK_WORD && p->t.length == 7 &&
                                  memcmp(ptx_text(p, p->t.at), "WARP_SZ", 7) == 0)) {
        ptx_unexpected(p, what);
        return false;
    }
    struct ptx_token t = p->t;
    if (t.kind == TOK_INT) {
        /* The expression reader would go on behind the literal; only the literal is wanted. */
        struct ptx_value value;
        if (!ptx_const_literal(p, &value)) return false;
        *v = value.bits;
        return true;
    }
    *v = 32;
    ptx_advance(p);
    return true;
}

static bool parse_align(struct ptx_parser *p, uint32_t *align)
{
    uint64_t v;
    uint32_t at = p->t.at;
    if (!plain_uint(p, &v, "an alignment in bytes")) return false;
    if (v == 0 || (v & (v - 1)) || v > UINT32_C(1) << 31) {
        diag_error(p->d, at, p->last_end - at,
                   "alignment must be a power of two from 1 to 2147483648");
        return false;
    }
    *align = (uint32_t)v;
    return true;
}

struct ptx_spec { /* what stands before the names of a declaration */
    enum ptx_space space;
    uint8_t type, vec;
    uint32_t align, type_at;
    bool managed, has_unified, kernel;
    uint8_t bank;
    uint64_t unified[2];
};

/* .attribute(.managed) .attribute(.unified(a, b)) */
static bool parse_attribute(struct ptx_parser *p, struct ptx_spec *s)
{
    if (!ptx_expect(p, '(', "behind .attribute")) return false;
    do {
        uint32_t at = p->t.at;
        if (ptx_take_dot(p, "managed")) {
            s->managed = true;
            if (s->space != PTX_SPACE_GLOBAL) {
                diag_error(p->d, at, 8, ".managed needs a variable in .global");
                return false;
            }
            if (!needs(p, at, 8, ".managed", 40, 30)) return false;
        } else if (ptx_take_dot(p, "unified")) {
            s->has_unified = true;
            if (s->space != PTX_SPACE_GLOBAL) {
                diag_error(p->d, at, 8, ".unified needs a variable in .global");
                return false;
            }
            if (!needs(p, at, 8, ".unified", 80, 90)) return false;
            if (!ptx_expect(p, '(', "behind .unified") ||
                !ptx_const_uint(p, &s->unified[0], "an identifier") ||
                !ptx_expect(p, ',', "between the identifiers of .unified") ||
                !ptx_const_uint(p, &s->unified[1], "an identifier") ||
                !ptx_expect(p, ')', "at the end of .unified"))
                return false;
        } else {
            ptx_unexpected(p, ".managed or .unified");
            return false;
        }
    } while (ptx_take_punct(p, ','));
    return ptx_expect(p, ')', "at the end of .attribute");
}

/* A type word that may stand in a declaration. */
static bool parse_type(struct ptx_parser *p, uint8_t *type)
{
    const char *text;
    uint32_t n = ptx_dot_word(p, &text);
    enum ptx_type t = n ? ptx_type_find(text, n) : PTX_NO_TYPE;
    if (t == PTX_NO_TYPE) {
        ptx_unexpected(p, "a type");
        return false;
    }
    uint32_t at = p->t.at;
    if (ptx_types[t].kind == PTX_PACK) {
        diag_error(p->d, at, n + 1, ".%s is a type of instructions only, no variable can have it",
                   ptx_types[t].name);
        return false;
    }
    struct {
        enum ptx_type type;
        uint16_t version, sm;
    } since[] = {{PTX_f16, 10, 10},    {PTX_f16x2, 42, 53},      {PTX_b128, 83, 70},
                 {PTX_texref, 15, 10}, {PTX_samplerref, 15, 10}, {PTX_surfref, 15, 10}};
    for (size_t i = 0; i < sizeof since / sizeof *since; i++)
        if (since[i].type == t &&
            !needs(p, at, n + 1, arena_printf(p->arena, ".%s", ptx_types[t].name), since[i].version,
                   since[i].sm))
            return false;
    ptx_drop_dot(p);
    *type = (uint8_t)t;
    return true;
}

/* [.align N | .attribute(...)]... [.v2|.v4] .type */
static bool parse_spec(struct ptx_parser *p, struct ptx_spec *s)
{
    s->vec = 1;
    for (;;) {
        uint32_t at = p->t.at;
        if (ptx_take_dot(p, "align")) {
            if (!parse_align(p, &s->align)) return false;
        } else if (ptx_take_dot(p, "attribute")) {
            if (!parse_attribute(p, s)) return false;
        } else if (ptx_at_dot(p, "v2") || ptx_at_dot(p, "v4")) {
            s->vec = ptx_at_dot(p, "v2") ? 2 : 4;
            ptx_drop_dot(p);
            s->type_at = p->t.at;
            if (!parse_type(p, &s->type)) return false;
            if (ptx_types[s->type].kind == PTX_PRED || ptx_types[s->type].kind == PTX_OPAQUE) {
                diag_error(p->d, at, p->last_end - at, "no vectors of .%s",
                           ptx_types[s->type].name);
                return false;
            }
            if (s->vec * ptx_types[s->type].bits > 128) {
                diag_error(p->d, at, p->last_end - at, "a vector holds at most 128 bits");
                return false;
            }
            return true;
        } else {
            s->type_at = at;
            return parse_type(p, &s->type);
        }
    }
}

bool ptx_name_allowed(const char *text, uint32_t length)
{
    static const char *const reserved[] = {"_", "WARP_SZ", "inlined_at", "function_name"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strlen(reserved[i]) == length && memcmp(text, reserved[i], length) == 0) return false;
    return !memchr(text, '.', length);
}

bool ptx_parse_name(struct ptx_parser *p, struct ptx_name **name, uint32_t *at)
{
    if (p->t.kind != TOK_WORD || !ptx_name_allowed(ptx_text(p, p->t.at), p->t.length)) {
        ptx_unexpected(p, "a name");
        return false;
    }
    *at = p->t.at;
    *name = ptx_intern(p, ptx_text(p, p->t.at), p->t.length);
    ptx_advance(p);
    return true;
}

/* [4][8], the first may be empty. */
static bool parse_dims(struct ptx_parser *p, struct ptx_var *v)
{
    uint64_t dims[PTX_MAX_DIMS];
    uint32_t start = p->t.at;
    while (ptx_take_punct(p, '[')) {
        if (v->dim_count == PTX_MAX_DIMS) {
            diag_error(p->d, p->t.at, 1, "too many dimensions: limit %d", PTX_MAX_DIMS);
            return false;
        }
        uint64_t n = 0;
        uint32_t at = p->t.at;
        if (v->dim_count > 0 || !ptx_at_punct(p, ']')) {
            if (!plain_uint(p, &n, "an array size")) return false;
            if (n == 0 && v->dim_count > 0) {
                diag_error(p->d, at, p->last_end - at, "only the first dimension may be empty");
                return false;
            }
        }
        dims[v->dim_count++] = n;
        if (!ptx_expect(p, ']', "behind the array size")) return false;
    }
    if (v->dim_count) {
        v->dims = arena_array(p->arena, uint64_t, v->dim_count);
        memcpy(v->dims, dims, v->dim_count * sizeof *dims);
        uint64_t size = 1;
        for (unsigned i = v->dims[0] ? 0 : 1; i < v->dim_count; i++)
            if (__builtin_mul_overflow(size, v->dims[i], &size)) {
                diag_error(p->d, start, p->last_end - start, "array too large: limit 2^64 bytes");
                return false;
            }
    }
    return true;
}

/* ---- initialisers ------------------------------------------------------------------------------ */

static struct ptx_sym *init_symbol(struct ptx_parser *p)
{
    struct ptx_name *name;
    uint32_t at;
    if (!ptx_parse_name(p, &name, &at)) return NULL;
    struct ptx_sym *sym = ptx_lookup(p, name);
    if (!sym || (sym->kind != PTX_SYM_VAR && sym->kind != PTX_SYM_FUNC)) {
        if (!sym)
            diag_error(p->d, at, name->length, "undeclared variable '%.*s'", (int)name->length,
                       name->text);
        else
            diag_error(p->d, at, name->length, "a %s cannot be an initial value",
                       ptx_sym_kind_name(sym));
        return NULL;
    }
    if (!needs(p, at, name->length, "an address as initial value", 21,
               sym->kind == PTX_SYM_FUNC ? 20 : 10))
        return NULL;
    if (sym->kind == PTX_SYM_FUNC && sym->func->is_entry &&
        !needs(p, at, name->length, "a kernel's address as initial value", 31, 35))
        return NULL;
    if (sym->kind == PTX_SYM_VAR && sym->space != PTX_SPACE_GLOBAL &&
        sym->space != PTX_SPACE_CONST) {
        diag_error(p->d, at, name->length,
                   "only addresses of .global and .const variables can be initial values");
        return NULL;
    }
    return sym;
}

/* name[+offset] or generic(name)[+offset] */
static bool init_address(struct ptx_parser *p, struct ptx_init *i)
{
    i->kind = PTX_INIT_SYM;
    uint32_t start = p->t.at;
    if (p->t.length == 7 && memcmp(ptx_text(p, p->t.at), "generic", 7) == 0) {
        i->generic = true;
        ptx_advance(p);
        if (!needs(p, start, 7, "generic()", 31, 10)) return false;
        if (!ptx_expect(p, '(', "behind generic")) return false;
    }
    uint32_t at = p->t.at;
    if (!(i->sym = init_symbol(p))) return false;
    if (i->generic && i->sym->kind == PTX_SYM_FUNC) {
        diag_error(p->d, at, i->sym->name->length, "generic() takes a variable, not a function");
        return false;
    }
    if (i->generic && !ptx_expect(p, ')', "at the end of generic")) return false;
    if (ptx_take_punct(p, '+')) {
        struct ptx_value v;
        at = p->t.at;
        if (!ptx_const_expr(p, &v)) return false;
        if (v.is_float) {
            diag_error(p->d, at, p->last_end - at, "expected an integer offset");
            return false;
        }
        if (i->sym->kind == PTX_SYM_FUNC) {
            diag_error(p->d, at, p->last_end - at, "no offset may follow a function");
            return false;
        }
        i->offset = (int64_t)v.bits;
    }
    return true;
}

static bool mismatch(struct ptx_parser *p, uint32_t at, const struct ptx_var *v, const char *what)
{
    diag_error(p->d, at, p->last_end > at ? p->last_end - at : 1, "%s cannot initialise .%s", what,
               ptx_types[v->sym->type].name);
    return false;
}

static bool init_scalar(struct ptx_parser *p, const struct ptx_var *v, struct ptx_init *i)
{
    enum ptx_type type = (enum ptx_type)v->sym->type;
    enum ptx_type_kind kind = (enum ptx_type_kind)ptx_types[type].kind;
    uint32_t at = p->t.at;
    bool warp_sz = p->t.length == 7 && p->t.kind == TOK_WORD &&
                   memcmp(ptx_text(p, at), "WARP_SZ", 7) == 0;
    if (p->t.kind == TOK_WORD && !warp_sz) {
        if (!init_address(p, i)) return false;
        if (type != PTX_u32 && type != PTX_u64) return mismatch(p, at, v, "an address");
        return true;
    }
    if (ptx_at_punct(p, '{')) {
        diag_error(p->d, at, 1, "expected a value of .%s, not a list", ptx_types[type].name);
        return false;
    }
    struct ptx_value value;
    bool literal = p->t.kind == TOK_INT;
    if (!ptx_const_expr(p, &value)) return false;
    if (literal && !value.is_float &&
        ptx_at_punct(p, '(')) { /* 0xff00(name): a byte of an address */
        unsigned bit = 0;
        while (bit < 64 && value.bits != UINT64_C(0xff) << bit) bit += 8;
        if (bit == 64) {
            diag_error(p->d, at, p->last_end - at,
                       "a mask selects one whole byte: 0xff, 0xff00 ...");
            return false;
        }
        ptx_advance(p);
        bool ok;
        if (!needs(p, at, p->last_end - at, "a byte of an address", 71, 10)) return false;
        bool number = p->t.kind != TOK_WORD ||
                      (p->t.length == 7 && !memcmp(ptx_text(p, p->t.at), "WARP_SZ", 7));
        if (!number) {
            ok = init_address(p, i);
            i->mask = (uint8_t)(bit + 1);
        } else {
            ok = ptx_const_expr(p, &value);
            if (ok && value.is_float) {
                diag_error(p->d, at, p->last_end - at, "a mask takes an integer");
                return false;
            }
            i->kind = PTX_INIT_INT;
            i->bits = value.bits >> bit & 0xff;
            if (kind == PTX_UINT || kind == PTX_SINT || kind == PTX_BITS) type = PTX_u8;
        }
        if (!ok || !ptx_expect(p, ')', "at the end of the masked address")) return false;
        if (type != PTX_u8 && type != PTX_u32 && type != PTX_u64)
            return mismatch(p, at, v, "a byte of an address");
        return true;
    }
    if (type == PTX_f16 || type == PTX_f16x2 || kind == PTX_OPAQUE || kind == PTX_PRED)
        return mismatch(p, at, v, "a constant");
    if (value.is_float ? kind != PTX_FLOAT && kind != PTX_BITS : kind == PTX_FLOAT)
        return mismatch(p, at, v, value.is_float ? "a floating-point constant" : "an integer");
    i->kind = value.is_float ? PTX_INIT_FLOAT : PTX_INIT_INT;
    i->literal = value.kind;
    i->bits = value.bits;
    return true;
}

/* { width = 5, filter_mode = nearest }: the fields are checked for their names, and kept as text. */
static bool init_fields(struct ptx_parser *p, enum ptx_type type, struct ptx_init *i)
{
    static const struct {
        const char *name;
        unsigned types; /* 1 .texref, 2 .samplerref, 4 .surfref */
    } fields[] = {{"width", 5},
                  {"height", 5},
                  {"depth", 5},
                  {"channel_data_type", 5},
                  {"channel_order", 5},
                  {"normalized_coords", 1},
                  {"array_size", 5},
                  {"num_mipmap_levels", 1},
                  {"num_samples", 1},
                  {"memory_layout", 4},
                  {"addr_mode_0", 3},
                  {"addr_mode_1", 3},
                  {"addr_mode_2", 3},
                  {"filter_mode", 3},
                  {"force_unnormalized_coords", 2}};
    unsigned mine = type == PTX_texref ? 1 : type == PTX_samplerref ? 2 : 4;
    static const char *const values[] = {
        "wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border", "nearest", "linear"};
    uint32_t from = p->t.at + 1;
    i->kind = PTX_INIT_FIELDS;
    i->text = ptx_text(p, from);
    if (!ptx_expect(p, '{', "before the fields")) return false;
    while (!ptx_at_punct(p, '}')) {
        bool known = false;
        for (size_t k = 0; p->t.kind == TOK_WORD && k < sizeof fields / sizeof *fields; k++)
            known |= fields[k].types & mine && strlen(fields[k].name) == p->t.length &&
                     memcmp(fields[k].name, ptx_text(p, p->t.at), p->t.length) == 0;
        if (!known) {
            ptx_unexpected(p, "a field such as width or filter_mode");
            return false;
        }
        ptx_advance(p);
        if (!ptx_expect(p, '=', "behind the field")) return false;
        known = false;
        for (size_t k = 0; p->t.kind == TOK_WORD && k < sizeof values / sizeof *values; k++)
            known |= strlen(values[k]) == p->t.length &&
                     memcmp(values[k], ptx_text(p, p->t.at), p->t.length) == 0;
        struct ptx_value v;
        if (known) ptx_advance(p);
        else if (!ptx_const_expr(p, &v)) return false;
        if (!ptx_take_punct(p, ',')) break;
        if (ptx_at_punct(p, '}')) {
            ptx_unexpected(p, "a field");
            return false;
        }
    }
    i->count = p->t.at - from;
    return ptx_expect(p, '}', "behind the fields");
}

/* Tables of numbers are most of some modules. Plain decimals of an integer type, each with a comma
 * and another digit behind it, are taken here without the token pattern. Leaves the first value that
 * is not of this kind as the current token. */
static void init_decimals(struct ptx_parser *p, struct ptx_init *list, size_t *cap, uint64_t limit)
{
    const char *text = p->m->source->text, *end = text + p->m->source->length;
    const char *at = text + p->t.at;
    for (;;) {
        const char *q = at;
        uint64_t v = 0;
        while (q < end && *q >= '0' && *q <= '9' && q - at < 18)
            v = v * 10 + (uint64_t)(*q++ - '0');
        bool octal = *at == '0' && q - at > 1;
        const char *next = q;
        if (next < end && *next == ',') next++;
        while (next < end && (*next == ' ' || *next == '\n')) next++;
        bool plain = q > at && q < end && *q == ',' && !octal && next < end && *next >= '0' &&
                     *next <= '9' && (limit == 0 || list->count + 1 < limit);
        if (!plain) break;
        list->items = arena_grow(p->arena, list->items, list->count, cap, list->count + 1,
                                 sizeof *list->items);
        list->items[list->count++] = (struct ptx_init){
            .kind = PTX_INIT_INT, .at = (uint32_t)(at - text), .bits = v};
        at = next;
    }
    if (at == text + p->t.at) return;
    ptx_lexer_seek(p->lex, (uint32_t)(at - text));
    ptx_advance(p);
}

/* The value for dimensions dim... of v; behind the last one comes a vector or a scalar. */
static bool init_value(struct ptx_parser *p, struct ptx_var *v, unsigned dim, struct ptx_init *i)
{
    i->at = p->t.at;
    bool vector = dim == v->dim_count && v->sym->vec > 1;
    if (dim == v->dim_count && ptx_types[v->sym->type].kind == PTX_OPAQUE)
        return init_fields(p, (enum ptx_type)v->sym->type, i);
    if (dim == v->dim_count && !vector) return init_scalar(p, v, i);
    if (dim > v->dim_count) return init_scalar(p, v, i);
    if (!ptx_at_punct(p, '{')) {
        /* ptxas takes a list that is flat where lists of lists are wanted for too long a list. */
        ptx_unexpected(p, "'{'");
        return false;
    }
    ptx_advance(p);
    uint64_t limit = vector ? v->sym->vec : v->dims[dim];
    if (vector) limit = v->sym->vec;
    bool unsized = !vector && limit == 0;
    size_t cap = 0;
    i->kind = PTX_INIT_LIST;
    enum ptx_type_kind type = (enum ptx_type_kind)ptx_types[v->sym->type].kind;
    bool numbers = dim + 1 == v->dim_count && v->sym->vec == 1 &&
                   (type == PTX_UINT || type == PTX_SINT || type == PTX_BITS);
    if (!ptx_at_punct(p, '}') || unsized || vector) {
        do {
            if (numbers && p->t.kind == TOK_INT) init_decimals(p, i, &cap, limit);
            if (!unsized && i->count == limit) {
                diag_error(p->d, p->t.at, p->t.length, "more than %llu values",
                           (unsigned long long)limit);
                return false;
            }
            i->items = arena_grow(p->arena, i->items, i->count, &cap, i->count + 1,
                                  sizeof *i->items);
            struct ptx_init *item = &i->items[i->count++];
            *item = (struct ptx_init){0};
            if (!init_value(p, v, vector ? v->dim_count + 1u : dim + 1, item)) return false;
        } while (ptx_take_punct(p, ','));
    }
    uint32_t close = p->t.at;
    if (!ptx_expect(p, '}', "at the end of the list")) return false;
    if (vector && i->count != limit) {
        diag_error(p->d, close, 1, "a vector of %llu has %zu values", (unsigned long long)limit,
                   i->count);
        return false;
    }
    if (unsized) v->dims[0] = i->count;
    return true;
}

/* ---- variables --------------------------------------------------------------------------------- */

static bool same_shape(const struct ptx_var *a, const struct ptx_var *b)
{
    if (a->sym->type != b->sym->type || a->sym->vec != b->sym->vec || a->dim_count != b->dim_count)
        return false;
    for (unsigned i = 0; i < a->dim_count; i++)
        if (a->dims[i] != b->dims[i] && !(i == 0 && (a->dims[0] == 0 || b->dims[0] == 0)))
            return false;
    return true;
}

/* A second declaration of a module variable: fine if one of the two is .extern. */
static bool redeclare(struct ptx_parser *p, struct ptx_var *v, struct ptx_var *old, uint32_t at)
{
    struct ptx_name *n = v->sym->name;
    const char *wrong = NULL;
    if (!same_shape(v, old)) wrong = "is declared again with another type";
    else if (v->linkage != PTX_LINK_EXTERN && old->linkage != PTX_LINK_EXTERN)
        wrong = "is defined twice";
    else if (old->linkage == PTX_LINK_EXTERN && v->linkage == PTX_LINK_NONE)
        wrong = "was declared .extern, so its definition must be .visible or .weak";
    if (wrong) {
        diag_error(p->d, at, n->length, "'%.*s' %s", (int)n->length, n->text, wrong);
        diag_note(p->d, old->sym->at, n->length, "the first declaration is here");
        return false;
    }
    if (v->linkage != PTX_LINK_EXTERN) { /* the definition is what the name means from now on */
        struct ptx_sym *sym = old->sym;
        sym->space = v->sym->space;
        sym->var = v;
        v->sym = sym;
        for (size_t i = 0; i < p->m->var_count; i++)
            if (p->m->vars[i] == old) p->m->vars[i] = v;
    } else {
        v->sym = old->sym;
    }
    return true;
}

static bool check_space(struct ptx_parser *p, const struct ptx_spec *s, const struct ptx_name *n,
                        uint32_t at)
{
    enum ptx_type_kind kind = (enum ptx_type_kind)ptx_types[s->type].kind;
    if (kind == PTX_PRED) {
        diag_error(p->d, at, n->length, "a predicate lives in a register (.reg .pred)");
        return false;
    }
    if (s->space == PTX_SPACE_TEX && s->type != PTX_u32 && s->type != PTX_u64) {
        diag_error(p->d, at, n->length, ".tex variables are .u32 or .u64");
        return false;
    }
    if (s->space == PTX_SPACE_PARAM && !ptx_at_punct(p, '[') &&
        (s->vec > 1 || kind == PTX_OPAQUE || s->type == PTX_f16x2)) {
        diag_error(p->d, at, n->length, "no %s.%s in .param", s->vec > 1 ? "vectors of " : "",
                   ptx_types[s->type].name);
        return false;
    }
    if (s->space == PTX_SPACE_PARAM && s->align > 128 && !s->kernel) {
        diag_error(p->d, at, n->length, "a parameter is aligned to 128 bytes at most");
        return false;
    }
    if (kind == PTX_OPAQUE) {
        bool independent = p->m->target.texmode_independent;
        if (s->space != PTX_SPACE_GLOBAL || p->depth > 0) {
            diag_error(p->d, at, n->length, ".%s variables must be in .global at module level",
                       ptx_types[s->type].name);
            return false;
        }
        if (s->type == PTX_samplerref && !independent) {
            diag_error(p->d, at, n->length, ".samplerref needs .target texmode_independent");
            return false;
        }
    }
    return true;
}

static struct ptx_var *new_var(struct ptx_parser *p, const struct ptx_spec *s,
                               struct ptx_name *name, uint32_t at)
{
    struct ptx_var *v = arena_alloc(p->arena, sizeof *v);
    struct ptx_sym *sym = ptx_sym_new(p, PTX_SYM_VAR, name, at);
    sym->type = s->type;
    sym->vec = s->vec;
    sym->space = (uint8_t)s->space;
    sym->var = v;
    v->sym = sym;
    v->align = s->align;
    v->managed = s->managed;
    v->has_unified = s->has_unified;
    v->bank = s->bank;
    /* Before PTX 1.4 a kernel declares its parameters in its body. */
    bool old = p->func && p->func->is_entry && p->m->version < 14;
    v->role = PTX_PARAM_NONE;
    if (s->space == PTX_SPACE_PARAM && p->body) v->role = old ? PTX_PARAM_KERNEL : PTX_PARAM_LOCAL;
    v->unified[0] = s->unified[0];
    v->unified[1] = s->unified[1];
    return v;
}

static void add_var(struct ptx_parser *p, struct ptx_var *v, bool first)
{
    struct ptx_module *m = p->m;
    if (p->body) {
        struct ptx_body *b = p->body;
        b->stmts = arena_grow(p->arena, b->stmts, b->count, &b->cap, b->count + 1,
                              sizeof *b->stmts);
        b->stmts[b->count++] = (struct ptx_stmt){.kind = PTX_STMT_VAR, .at = v->sym->at, .var = v};
        return;
    }
    m->items = arena_grow(p->arena, m->items, m->item_count, &m->item_cap, m->item_count + 1,
                          sizeof *m->items);
    m->items[m->item_count++] = (struct ptx_item){.kind = PTX_ITEM_VAR, .at = v->sym->at, .var = v};
    if (first) {
        m->vars = arena_grow(p->arena, m->vars, m->var_count, &m->var_cap, m->var_count + 1,
                             sizeof *m->vars);
        m->vars[m->var_count++] = v;
    }
}

/* `<N>` behind a name. */
static bool parse_range(struct ptx_parser *p, uint32_t *count, bool *ranged)
{
    *count = 0;
    *ranged = false;
    if (!ptx_take_punct(p, '<')) return true;
    uint64_t n;
    uint32_t at = p->t.at;
    if (!plain_uint(p, &n, "how many")) return false;
    if (n > UINT32_MAX) {
        diag_error(p->d, at, p->last_end - at, "range too large: limit %u", UINT32_MAX);
        return false;
    }
    *count = (uint32_t)n;
    *ranged = true;
    return ptx_expect(p, '>', "behind the count");
}

static bool declare_var(struct ptx_parser *p, struct ptx_var *v)
{
    struct ptx_sym *old = v->sym->name->sym;
    bool first = true;
    if (old && old->kind == PTX_SYM_VAR && p->depth == 0) {
        if (!redeclare(p, v, old->var, v->sym->at)) return false;
        first = false;
    } else if (!ptx_declare(p, v->sym)) {
        return false;
    }
    add_var(p, v, first);
    return true;
}

static bool parse_declarator(struct ptx_parser *p, const struct ptx_spec *s,
                             enum ptx_linkage linkage)
{
    struct ptx_name *name;
    uint32_t at, range;
    bool ranged;
    if (!ptx_parse_name(p, &name, &at) || !check_space(p, s, name, at)) return false;
    struct ptx_var *v = new_var(p, s, name, at);
    v->linkage = (uint8_t)linkage;
    if (!parse_range(p, &range, &ranged)) return false;
    if (ranged) { /* a<4> declares a0 ... a3 */
        if (range > 4096) {
            diag_error(p->d, at, name->length, "range of variables too large: limit 4096");
            return false;
        }
        for (uint32_t i = 0; i < range; i++) {
            const char *text = arena_printf(p->arena, "%.*s%u", (int)name->length, name->text, i);
            struct ptx_var *member = new_var(p, s, ptx_intern(p, text, (uint32_t)strlen(text)), at);
            member->linkage = (uint8_t)linkage;
            if (!declare_var(p, member)) return false;
        }
        return true;
    }
    if (!parse_dims(p, v)) return false;
    if (ptx_at_punct(p, '=')) {
        uint32_t eq = p->t.at;
        ptx_advance(p);
        if (s->space != PTX_SPACE_GLOBAL && s->space != PTX_SPACE_CONST) {
            diag_error(p->d, eq, 1, "a .%s variable cannot have an initial value",
                       ptx_space_name(s->space));
            return false;
        }
        if (linkage == PTX_LINK_EXTERN) {
            diag_error(p->d, eq, 1, "an .extern variable cannot have an initial value");
            return false;
        }
        v->init = arena_alloc(p->arena, sizeof *v->init);
        if (!init_value(p, v, 0, v->init)) return false;
    }
    if (s->space == PTX_SPACE_TEX && v->dim_count) {
        diag_error(p->d, at, name->length, ".tex variables are no arrays");
        return false;
    }
    if (v->dim_count && v->dims[0] == 0 && linkage != PTX_LINK_EXTERN) {
        diag_error(p->d, at, name->length, "array '%.*s' needs a size", (int)name->length,
                   name->text);
        return false;
    }
    return declare_var(p, v);
}

/* .align or .attribute before the space: kept for ptx_parse_variable. */
bool ptx_parse_early_spec(struct ptx_parser *p)
{
    struct ptx_spec *s = arena_alloc(p->arena, sizeof *s);
    s->space = PTX_SPACE_GLOBAL; /* so that .managed passes; only .global may have it in any case */
    while (ptx_at_dot(p, "align") || ptx_at_dot(p, "attribute")) {
        bool align = ptx_at_dot(p, "align") != 0;
        ptx_drop_dot(p);
        if (align ? !parse_align(p, &s->align) : !parse_attribute(p, s)) return false;
    }
    p->early = s;
    return true;
}

bool ptx_parse_variable(struct ptx_parser *p, enum ptx_space space, enum ptx_linkage linkage,
                        uint32_t at)
{
    struct ptx_spec s = p->early ? *p->early : (struct ptx_spec){0};
    s.space = space;
    if (space == PTX_SPACE_CONST && p->m->version < 22 && ptx_take_punct(p, '[')) {
        uint64_t bank;
        if (!plain_uint(p, &bank, "a constant bank")) return false;
        if (bank > 10) {
            diag_error(p->d, at, 1, "constant banks go from 0 to 10");
            return false;
        }
        if (!needs(p, at, 6, "a constant bank", 15, 10)) return false;
        if (bank && linkage != PTX_LINK_EXTERN) {
            diag_error(p->d, at, 6, "banks from 1 on are for .extern arrays");
            return false;
        }
        s.bank = (uint8_t)(bank + 1);
        if (!ptx_expect(p, ']', "behind the bank")) return false;
    }
    if (!parse_spec(p, &s)) return false;
    if (s.managed && space != PTX_SPACE_GLOBAL) {
        diag_error(p->d, at, 1, ".managed needs a variable in .global");
        return false;
    }
    if (p->depth == 0 && space == PTX_SPACE_LOCAL && p->m->version >= 30) {
        diag_error(p->d, at, 6, ".local variables belong into a function");
        return false;
    }
    if (linkage == PTX_LINK_COMMON && space != PTX_SPACE_GLOBAL) {
        diag_error(p->d, at, 7, ".common variables must be in .global");
        return false;
    }
    if (ptx_take_punct(p, ';')) return true; /* a declaration of nothing */
    do {
        if (!parse_declarator(p, &s, linkage)) return false;
    } while (ptx_take_punct(p, ','));
    return ptx_expect(p, ';', "at the end of the declaration");
}

/* ---- registers --------------------------------------------------------------------------------- */

bool ptx_parse_registers(struct ptx_parser *p, uint32_t at)
{
    struct ptx_spec s = {.space = PTX_SPACE_REG};
    (void)at;
    if (!parse_spec(p, &s)) return false;
    if (ptx_types[s.type].kind == PTX_OPAQUE) {
        diag_error(p->d, s.type_at, p->last_end - s.type_at, "a register cannot be a .%s",
                   ptx_types[s.type].name);
        return false;
    }
    if (ptx_take_punct(p, ';')) return true;
    do {
        struct ptx_name *name;
        uint32_t name_at, range;
        bool ranged;
        if (!ptx_parse_name(p, &name, &name_at) || !parse_range(p, &range, &ranged)) return false;
        if (ptx_at_punct(p, '[') || ptx_at_punct(p, '=')) {
            diag_error(p->d, p->t.at, 1, "a register cannot %s",
                       ptx_at_punct(p, '[') ? "be an array" : "have an initial value");
            return false;
        }
        struct ptx_sym *sym = ptx_sym_new(p, ranged ? PTX_SYM_RANGE : PTX_SYM_REG, name, name_at);
        sym->type = s.type;
        sym->vec = s.vec;
        sym->id = range;
        if (!ptx_declare(p, sym)) return false;
        struct ptx_body *b = p->body;
        b->stmts = arena_grow(p->arena, b->stmts, b->count, &b->cap, b->count + 1,
                              sizeof *b->stmts);
        b->stmts[b->count++] = (struct ptx_stmt){.kind = PTX_STMT_REG, .at = name_at, .sym = sym};
    } while (ptx_take_punct(p, ','));
    return ptx_expect(p, ';', "at the end of the declaration");
}

/* ---- parameters -------------------------------------------------------------------------------- */

/* .ptr [.space] [.align N] behind a kernel parameter's type */
static bool parse_ptr(struct ptx_parser *p, struct ptx_var *v)
{
    v->is_ptr = true;
    if (!needs(p, p->last_end - 4, 4, ".ptr", 22, 10)) return false;
    static const struct {
        const char *word;
        enum ptx_space space;
    } spaces[] = {{"const", PTX_SPACE_CONST},
                  {"global", PTX_SPACE_GLOBAL},
                  {"local", PTX_SPACE_LOCAL},
                  {"shared", PTX_SPACE_SHARED}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (!v->ptr_space && ptx_take_dot(p, spaces[i].word))
            v->ptr_space = (uint8_t)spaces[i].space;
    if (ptx_take_dot(p, "align") && !parse_align(p, &v->ptr_align)) return false;
    return true;
}

static struct ptx_var *parse_param(struct ptx_parser *p, bool kernel)
{
    struct ptx_spec s = {.space = PTX_SPACE_PARAM, .kernel = kernel};
    uint32_t start = p->t.at;
    bool in_reg = false;
    if (ptx_at_dot(p, "align")) {
        ptx_drop_dot(p);
        if (!parse_align(p, &s.align)) return NULL;
    }
    if (ptx_take_dot(p, "reg")) in_reg = true;
    else if (!ptx_take_dot(p, "param")) {
        ptx_unexpected(p, kernel ? ".param" : ".param or .reg");
        return NULL;
    }
    if (kernel && in_reg) {
        diag_error(p->d, start, 4, "a kernel's parameters must be in .param");
        return NULL;
    }
    if (!parse_spec(p, &s)) return NULL;
    if (in_reg) s.space = PTX_SPACE_REG;
    if (kernel && ptx_take_dot(p, "align") && !parse_align(p, &s.align)) return NULL;
    struct ptx_var probe = {0};
    uint32_t ptr_at = p->t.at;
    if (ptx_take_dot(p, "ptr")) {
        if (!parse_ptr(p, &probe)) return NULL;
        if (!kernel) {
            diag_error(p->d, ptr_at, 4, ".ptr is for the parameters of kernels");
            return NULL;
        }
    }
    enum ptx_type_kind kind = (enum ptx_type_kind)ptx_types[s.type].kind;
    if (kind == PTX_PRED && !in_reg) {
        diag_error(p->d, s.type_at, p->last_end - s.type_at,
                   "a predicate cannot be passed in .param");
        return NULL;
    }
    if (in_reg && kind == PTX_OPAQUE) {
        diag_error(p->d, s.type_at, p->last_end - s.type_at, "a register cannot be a .%s",
                   ptx_types[s.type].name);
        return NULL;
    }
    struct ptx_name *name;
    uint32_t at;
    if ((p->func || kernel) && p->t.kind == TOK_WORD && p->t.length == 1 && p->t.c == '_') {
        at = p->t.at; /* nameless, in a prototype or where a kernel does not use it */
        name = ptx_intern(p, ptx_text(p, at), 1);
        ptx_advance(p);
    } else if (!ptx_parse_name(p, &name, &at)) {
        return NULL;
    }
    bool reference = kernel && kind == PTX_OPAQUE; /* a kernel may take a texture reference */
    if (reference && s.type == PTX_samplerref && !p->m->target.texmode_independent) {
        diag_error(p->d, at, name->length, ".samplerref needs .target texmode_independent");
        return NULL;
    }
    if (!in_reg && !reference && !check_space(p, &s, name, at)) return NULL;
    struct ptx_var *v = new_var(p, &s, name, at);
    if (in_reg) {
        v->sym->kind = PTX_SYM_REG;
        v->sym->range = NULL;
    } else {
        v->role = kernel ? PTX_PARAM_KERNEL : PTX_PARAM_INPUT;
    }
    v->is_ptr = probe.is_ptr;
    v->ptr_space = probe.ptr_space;
    v->ptr_align = probe.ptr_align;
    v->in_reg = in_reg;
    if (!parse_dims(p, v)) return NULL;
    if (in_reg && v->dim_count) {
        diag_error(p->d, at, name->length, "a .reg parameter cannot be an array");
        return NULL;
    }
    if (v->dim_count > 1) {
        diag_error(p->d, at, name->length, "an array parameter has one dimension");
        return NULL;
    }
    if (v->dim_count && v->dims[0] == 0 && kernel) {
        diag_error(p->d, at, name->length, "a kernel's array parameter needs a size");
        return NULL;
    }
    if (v->dim_count && v->dims[0] == 0 &&
        !needs(p, at, name->length, "an array parameter without a size", 51, 30))
        return NULL;
    return v;
}

bool ptx_parse_param_list(struct ptx_parser *p, bool kernel, struct ptx_var ***list,
                          uint16_t *count)
{
    size_t cap = 0;
    if (!ptx_expect(p, '(', "before the parameters")) return false;
    if (ptx_take_punct(p, ')')) return true;
    do {
        if (*count == PTX_MAX_PARAMS) {
            diag_error(p->d, p->t.at, 1, "too many parameters: limit %d", PTX_MAX_PARAMS);
            return false;
        }
        struct ptx_var *v = parse_param(p, kernel);
        if (!v) return false;
        *list = arena_grow(p->arena, *list, *count, &cap, (size_t)*count + 1, sizeof **list);
        (*list)[(*count)++] = v;
    } while (ptx_take_punct(p, ','));
    return ptx_expect(p, ')', "at the end of the parameters");
}
