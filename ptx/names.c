/* The parser's access to tokens, names, and scopes. */
#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "ptx/parser.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- tokens ------------------------------------------------------------------------------------ */

const char *ptx_text(const struct ptx_parser *p, uint32_t at)
{
    return p->m->source->text + at;
}

void ptx_advance(struct ptx_parser *p)
{
    p->last_end = p->t.at + p->t.length;
    bool bad_run = false;
    for (;;) {
        if (diags_full(p->d)) p->gave_up = true;
        p->t = ptx_lex(p->lex);
        if (p->gave_up) p->t = (struct ptx_token){TOK_END, 0, p->m->source->length, 0};
        switch (p->t.kind) {
        case TOK_BAD_BYTE:
            if (!bad_run)
                diag_error(p->d, p->t.at, 1, "unexpected byte 0x%02x", (unsigned char)p->t.c);
            bad_run = true;
            p->bad_end = p->t.at + 1;
            continue;
        case TOK_BAD_COMMENT:
            diag_error(p->d, p->t.at, 2, "comment does not end");
            ptx_lexer_seek(p->lex, p->m->source->length);
            continue;
        case TOK_BAD_STRING:
            diag_error(p->d, p->t.at, 1, "string does not end");
            p->t.kind = TOK_STRING;
            return;
        case TOK_BAD_NUMBER:
            diag_error(p->d, p->t.at, p->t.length, "malformed number '%.*s'",
                       p->t.length < 80 ? (int)p->t.length : 80, ptx_text(p, p->t.at));
            return;
        case TOK_WORD:
        case TOK_DOTS:
            if (p->t.length > PTX_MAX_NAME) {
                diag_error(p->d, p->t.at, 1, "name too long: limit %d bytes", PTX_MAX_NAME);
                p->t.length = PTX_MAX_NAME;
            }
            return;
        default: return;
        }
    }
}

bool ptx_at_punct(const struct ptx_parser *p, char c)
{
    return p->t.kind == TOK_PUNCT && p->t.c == c;
}

bool ptx_take_punct(struct ptx_parser *p, char c)
{
    if (!ptx_at_punct(p, c)) return false;
    ptx_advance(p);
    return true;
}

void ptx_unexpected(struct ptx_parser *p, const char *expected)
{
    if (p->t.kind == TOK_BAD_NUMBER || (p->bad_end && p->t.at == p->bad_end))
        return; /* said already: what stands before it is no token */
    if (p->t.kind == TOK_END)
        diag_error(p->d, p->t.at, 0, "expected %s, the file ends here", expected);
    else
        diag_error(p->d, p->t.at, p->t.length, "expected %s before '%.*s'", expected,
                   p->t.length < 60 ? (int)p->t.length : 60, ptx_text(p, p->t.at));
}

bool ptx_expect(struct ptx_parser *p, char c, const char *where)
{
    if (ptx_take_punct(p, c)) return true;
    char text[128];
    snprintf(text, sizeof text, "'%c' %s", c, where);
    ptx_unexpected(p, text);
    return false;
}

uint32_t ptx_dot_word(const struct ptx_parser *p, const char **text)
{
    if (p->t.kind != TOK_DOTS) return 0;
    *text = ptx_text(p, p->t.at) + 1;
    uint32_t n = 0;
    while (n + 1 < p->t.length && (*text)[n] != '.') n++;
    return n;
}

uint32_t ptx_at_dot(const struct ptx_parser *p, const char *word)
{
    const char *text;
    uint32_t n = ptx_dot_word(p, &text);
    return n && strlen(word) == n && memcmp(text, word, n) == 0 ? n + 1 : 0;
}

void ptx_drop_dot(struct ptx_parser *p)
{
    const char *text;
    uint32_t n = ptx_dot_word(p, &text) + 1;
    if (n >= p->t.length) {
        ptx_advance(p);
        return;
    }
    p->last_end = p->t.at + n;
    p->t.at += n;
    p->t.length -= n;
}

bool ptx_take_dot(struct ptx_parser *p, const char *word)
{
    if (!ptx_at_dot(p, word)) return false;
    ptx_drop_dot(p);
    return true;
}

/* Whether the current token is the first on its line: a `}` there ends a scope, elsewhere it is more
 * likely the end of an operand. */
static bool first_on_line(const struct ptx_parser *p)
{
    const char *text = p->m->source->text;
    for (uint32_t i = p->t.at; i > 0; i--) {
        if (text[i - 1] == '\n') return true;
        if (text[i - 1] != ' ' && text[i - 1] != '\t') return false;
    }
    return true;
}

void ptx_resync(struct ptx_parser *p)
{
    for (; p->t.kind != TOK_END; ptx_advance(p)) {
        if (ptx_at_punct(p, '}') && (first_on_line(p) || p->t.at >= p->func->body_end)) return;
        if (ptx_at_punct(p, ';')) {
            ptx_advance(p);
            return;
        }
    }
}

/* ---- names ------------------------------------------------------------------------------------- */

static uint32_t hash_bytes(const char *text, uint32_t n)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h ^ h >> 15;
}

static void rehash(struct ptx_parser *p)
{
    struct ptx_name **old = p->names;
    size_t n = old ? p->name_mask + 1 : 0, size = n ? 2 * n : 256;
    p->names = arena_array(p->arena, struct ptx_name *, size);
    p->name_mask = size - 1;
    for (size_t i = 0; i < n; i++) {
        if (!old[i]) continue;
        size_t h = old[i]->hash & p->name_mask;
        while (p->names[h]) h = (h + 1) & p->name_mask;
        p->names[h] = old[i];
    }
}

struct ptx_name *ptx_intern(struct ptx_parser *p, const char *text, uint32_t length)
{
    if (p->name_count * 2 >= p->name_mask) rehash(p);
    uint32_t hash = hash_bytes(text, length);
    size_t h = hash & p->name_mask;
    for (struct ptx_name *n; (n = p->names[h]); h = (h + 1) & p->name_mask)
        if (n->hash == hash && n->length == length && memcmp(n->text, text, length) == 0) return n;
    struct ptx_name *n = arena_alloc(p->arena, sizeof *n);
    n->text = text;
    n->length = length;
    n->hash = hash;
    p->names[h] = n;
    p->name_count++;
    return n;
}

static struct ptx_name *note(struct ptx_parser *p, const char *word, uint32_t a, uint32_t b,
                             uint32_t c)
{
    char key[64];
    int n = snprintf(key, sizeof key, "%s %x %x %x", word, a, b, c); /* no name has blanks */
    struct ptx_name *name = ptx_intern(p, key, (uint32_t)n);
    if (name->text == key) name->text = arena_copy(p->arena, key, (size_t)n);
    return name;
}

bool ptx_note(struct ptx_parser *p, const char *word, uint32_t a, uint32_t b, uint32_t c,
              const void *about)
{
    struct ptx_name *name = note(p, word, a, b, c);
    bool first = !name->noted;
    name->noted = true;
    name->about = about;
    return first;
}

const void *ptx_noted(struct ptx_parser *p, const char *word, uint32_t a, uint32_t b, uint32_t c)
{
    const struct ptx_name *name = note(p, word, a, b, c);
    return name->noted ? name->about : NULL;
}

const char *ptx_sym_kind_name(const struct ptx_sym *sym)
{
    switch ((enum ptx_sym_kind)sym->kind) {
    case PTX_SYM_REG: return "register";
    case PTX_SYM_RANGE: return "register range";
    case PTX_SYM_VAR: return sym->space == PTX_SPACE_PARAM ? "parameter" : "variable";
    case PTX_SYM_FUNC: return sym->func && sym->func->is_entry ? "kernel" : "function";
    case PTX_SYM_LABEL: return "label";
    case PTX_SYM_PROTO: return "call prototype";
    case PTX_SYM_TARGETS: return "target list";
    case PTX_SYM_SREG: return "special register";
    }
    return "symbol";
}

struct ptx_sym *ptx_sym_new(struct ptx_parser *p, enum ptx_sym_kind kind, struct ptx_name *name,
                            uint32_t at)
{
    struct ptx_sym *s = arena_alloc(p->arena, sizeof *s);
    s->kind = (uint8_t)kind;
    s->name = name;
    s->at = at;
    s->vec = 1;
    return s;
}

/* `%r12` is 12 of `%r`; false if the name is not of that kind. */
static bool split_member(const struct ptx_name *n, uint32_t *prefix, uint32_t *index)
{
    uint32_t i = n->length;
    while (i > 0 && n->text[i - 1] >= '0' && n->text[i - 1] <= '9') i--;
    if (i == n->length || i == 0) return false;
    uint32_t v = 0; /* wraps, as in ptxas */
    for (uint32_t j = i; j < n->length; j++) v = v * 10 + (uint32_t)(n->text[j] - '0');
    *prefix = i;
    *index = v;
    return true;
}

static void bind(struct ptx_parser *p, struct ptx_sym *sym, struct ptx_scope *scope)
{
    struct ptx_sym **slot = sym->kind == PTX_SYM_RANGE ? &sym->name->range : &sym->name->sym;
    sym->scope = scope->serial;
    sym->outer = *slot;
    *slot = sym;
    sym->next = scope->syms;
    scope->syms = sym;
    if (sym->kind == PTX_SYM_REG && p->body) {
        struct ptx_body *b = p->body;
        b->regs = arena_grow(p->arena, b->regs, b->reg_count, &b->reg_cap, b->reg_count + 1,
                             sizeof *b->regs);
        sym->id = (uint32_t)b->reg_count;
        b->regs[b->reg_count++] = sym;
    }
}

static void report_again(struct ptx_parser *p, const struct ptx_sym *sym,
                         const struct ptx_sym *first)
{
    diag_error(p->d, sym->at, sym->name->length, "'%.*s' is declared twice", (int)sym->name->length,
               sym->name->text);
    if (first->at)
        diag_note(p->d, first->at, first->name->length, "the first declaration, a %s, is here",
                  ptx_sym_kind_name(first));
}

/* The prefixes of special registers that end in a number. */
static bool is_sreg_prefix(const struct ptx_name *n)
{
    static const char *const prefixes[] = {"%pm", "%envreg", "%clock", "%reserved_smem_offset_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strlen(prefixes[i]) == n->length && memcmp(prefixes[i], n->text, n->length) == 0)
            return true;
    return false;
}

/* Whether the scope that a symbol was declared in is still open. */
static bool visible(const struct ptx_parser *p, const struct ptx_sym *sym)
{
    for (unsigned d = p->depth + 1; d-- > 0;)
        if (p->scopes[d].serial == sym->scope) return true;
    return false;
}

bool ptx_declare(struct ptx_parser *p, struct ptx_sym *sym)
{
    struct ptx_scope *scope = &p->scopes[p->depth];
    struct ptx_name *n = sym->name;
    const struct ptx_sym *old = sym->kind == PTX_SYM_RANGE ? n->range : n->sym;
    uint32_t prefix, index;
    bool label = sym->kind == PTX_SYM_LABEL && old && old->kind == PTX_SYM_REG && old->range;
    if (old && old->scope == scope->serial && !label) {
        report_again(p, sym, old);
        return false;
    }
    bool is_value = sym->kind == PTX_SYM_REG || sym->kind == PTX_SYM_VAR;
    if (is_value && split_member(n, &prefix, &index)) {
        const struct ptx_sym *range = ptx_intern(p, n->text, prefix)->range;
        if (range && range->scope == scope->serial && index < range->id) {
            report_again(p, sym, range);
            return false;
        }
    }
    for (struct ptx_sym *s = sym->kind == PTX_SYM_RANGE ? n->numbered : NULL; s; s = s->sibling)
        if (s->scope == scope->serial && split_member(s->name, &prefix, &index) &&
            index < sym->id) {
            report_again(p, sym, s);
            return false;
        }
    if (is_value && split_member(n, &prefix, &index)) {
        struct ptx_name *base = ptx_intern(p, n->text, prefix);
        while (base->numbered && !visible(p, base->numbered))
            base->numbered = base->numbered->sibling;
        sym->sibling = base->numbered;
        base->numbered = sym;
    }
    if (!is_value && sym->kind != PTX_SYM_RANGE && split_member(n, &prefix, &index))
        p->ranges_hide |= n->text[0] == '%' || ptx_intern(p, n->text, prefix)->range != NULL;
    if (sym->kind == PTX_SYM_RANGE && (p->depth > 1 || n->text[0] != '%' || is_sreg_prefix(n)))
        p->ranges_hide = true;
    bind(p, sym, scope);
    return true;
}

void ptx_note_range(struct ptx_parser *p, const struct ptx_name *n)
{
    uint32_t prefix, index;
    if (!split_member(n, &prefix, &index)) return;
    const struct ptx_sym *r = ptx_intern(p, n->text, prefix)->range;
    if (r && r->id)
        diag_note(p->d, r->at, r->name->length, "these registers go from %.*s0 to %.*s%u",
                  (int)r->name->length, r->name->text, (int)r->name->length, r->name->text,
                  r->id - 1);
}

struct ptx_sym *ptx_lookup(struct ptx_parser *p, struct ptx_name *n)
{
    struct ptx_sym *sym = n->sym;
    /* Bodies are read after the whole module level: what is declared behind this one is not known. */
    while (sym && sym->scope == 0 && p->func && sym->at > p->func->head_end) sym = sym->outer;
    if (sym && !p->ranges_hide) return sym;
    /* Not met yet, or perhaps hidden by a range that was declared in a scope further in. */
    uint32_t prefix, index;
    if (!split_member(n, &prefix, &index)) return sym;
    struct ptx_sym *range = ptx_intern(p, n->text, prefix)->range;
    while (range && index >= range->id) range = range->outer;
    bool label = sym && (sym->kind == PTX_SYM_LABEL || sym->kind == PTX_SYM_PROTO ||
                         sym->kind == PTX_SYM_TARGETS); /* a register of the same scope wins */
    if (!range || (sym && (label ? sym->scope > range->scope : sym->scope >= range->scope)))
        return sym;
    bool plain = n->text[prefix] != '0' || n->length - prefix == 1;
    if (!plain || n->length - prefix > 9) { /* %r01 is %r1 */
        const char *text = arena_printf(p->arena, "%.*s%u", (int)prefix, n->text, index);
        struct ptx_name *member = ptx_intern(p, text, (uint32_t)strlen(text));
        if (member != n) return ptx_lookup(p, member);
    }
    struct ptx_sym *reg = ptx_sym_new(p, PTX_SYM_REG, n, range->at);
    reg->type = range->type;
    reg->vec = range->vec;
    reg->range = range;
    unsigned depth = p->depth;
    while (depth > 0 && p->scopes[depth].serial != range->scope) depth--;
    bind(p, reg, &p->scopes[depth]);
    return reg;
}

/* ---- scopes ------------------------------------------------------------------------------------ */

bool ptx_scope_open(struct ptx_parser *p, uint32_t at)
{
    if (p->depth >= PTX_MAX_NESTING) {
        diag_error(p->d, at, 1, "scopes nest too deeply: limit %d", PTX_MAX_NESTING);
        return false;
    }
    p->scopes[++p->depth] = (struct ptx_scope){.serial = ++p->serials, .at = at};
    return true;
}

static void resolve(struct ptx_parser *p, struct ptx_pending *w, struct ptx_sym *sym)
{
    struct ptx_opnd *o = w->opnd;
    struct ptx_name *name = o->name;
    if (sym->kind != w->kind)
        diag_error(p->d, o->at, name->length, "'%.*s' is a %s, expected a %s", (int)name->length,
                   name->text, ptx_sym_kind_name(sym),
                   ptx_sym_kind_name(&(struct ptx_sym){.kind = (uint8_t)w->kind}));
    o->sym = sym;
}

static void report_undeclared(struct ptx_parser *p, const struct ptx_scope *scope,
                              const struct ptx_pending *w)
{
    const struct ptx_name *n = w->opnd->name;
    diag_error(p->d, w->opnd->at, w->opnd->length, "undeclared %s '%.*s'",
               ptx_sym_kind_name(&(struct ptx_sym){.kind = (uint8_t)w->kind}), (int)n->length,
               n->text);
    const struct ptx_sym *close = NULL;
    size_t least = 3, looked = 0;
    for (const struct ptx_sym *s = scope->syms; s && looked < 10000; s = s->next, looked++) {
        if (s->kind != w->kind) continue;
        size_t d = text_distance(n->text, n->length, s->name->text, s->name->length);
        if (d >= least) continue;
        least = d;
        close = s;
    }
    if (close)
        diag_note(p->d, close->at, close->name->length, "did you mean '%.*s'?",
                  (int)close->name->length, close->name->text);
}

/* Labels may be used before they stand: when a scope ends, what it uses and has is joined, the rest
 * is left to the scope around it, and in the end reported. */
void ptx_scope_close(struct ptx_parser *p)
{
    assert(p->depth > 0);
    struct ptx_scope *scope = &p->scopes[p->depth];
    struct ptx_scope *outer = p->depth > 1 ? scope - 1 : NULL;
    for (struct ptx_pending *w = scope->pending, *next; w; w = next) {
        next = w->next;
        struct ptx_sym *sym = w->opnd->name->sym;
        if (sym && sym->scope == scope->serial) {
            resolve(p, w, sym);
        } else if (outer) {
            w->next = outer->pending;
            outer->pending = w;
        } else {
            report_undeclared(p, scope, w);
        }
    }
    for (struct ptx_sym *s = scope->syms; s; s = s->next) {
        struct ptx_sym **slot = s->kind == PTX_SYM_RANGE ? &s->name->range : &s->name->sym;
        /* A range's members come into being late, so a name's meanings need not end in the order in
         * which they began. */
        while (*slot && *slot != s) slot = &(*slot)->outer;
        if (*slot) *slot = s->outer;
    }
    p->depth--;
}

void ptx_pend(struct ptx_parser *p, struct ptx_opnd *opnd, enum ptx_sym_kind kind)
{
    struct ptx_pending *w = arena_alloc(p->arena, sizeof *w);
    w->opnd = opnd;
    w->kind = kind;
    w->next = p->scopes[p->depth].pending;
    p->scopes[p->depth].pending = w;
}

/* ---- special registers ------------------------------------------------------------------------- */

static void declare_sreg(struct ptx_parser *p, const char *text, enum ptx_type type, int narrowest,
                         int vec, int since, int sm)
{
    if (since > p->m->version || sm > p->m->target.sm) return;
    struct ptx_name *n = ptx_intern(p, text, (uint32_t)strlen(text));
    struct ptx_sym *s = ptx_sym_new(p, PTX_SYM_SREG, n, 0);
    s->type = (uint8_t)type;
    s->vec = (uint8_t)vec;
    s->space = (uint8_t)narrowest;
    bind(p, s, &p->scopes[0]);
}

void ptx_declare_sregs(struct ptx_parser *p)
{
#define SREG(name, type, narrowest, vec, since, sm)                                                \
    declare_sreg(p, name, PTX_##type, narrowest, vec, since, sm);
#define SREG_SET(prefix, count, type, narrowest, vec, since, sm)                                   \
    for (int i = 0; i < count; i++)                                                                \
        declare_sreg(p, arena_printf(p->arena, "%s%d", prefix, i), PTX_##type, narrowest, vec,     \
                     since, sm);
#include "ptx/sregs.def"
}
