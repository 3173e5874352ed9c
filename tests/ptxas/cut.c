/* Small modules cut out of large ones: a few statements around an instruction whose form was not seen
 * before, with the declarations they need. Functions that are called keep their head and lose their
 * body. Labels that are branched to stand at the end. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/lex.h"
#include "tests/ptxas/diff.h"

#include <string.h>

enum { WINDOW = 2 }; /* statements on either side of the one a window is about */

static void add_base(struct corpus *c, const char *text, size_t n, const char *origin,
                     const char *focus)
{
    struct source source = {origin, text, (uint32_t)n};
    struct pieces p = {0};
    struct buf b = {0};
    pieces_lex(c->arena, &source, &p); /* blanks as a mutant will have them */
    pieces_render(p.v, p.n, &b);
    bool new = b.size <= MODULE_MAX &&words_add(c->arena, &c->texts, b.data, b.size);
    buf_free(&b);
    if (!new) return;
    c->bases = arena_grow(c->arena, c->bases, c->base_n, &c->base_cap, c->base_n + 1,
                          sizeof *c->bases);
    c->bases[c->base_n++] = (struct base){c->texts.v[c->texts.n - 1], origin, focus, false, false};
}

/* One character for what an operand is. */
static char operand_kind(const struct piece *p, struct span o)
{
    const struct piece *f = &p[o.from];
    switch (f->kind) {
    case TOK_WORD:
        if (f->c == '_' && f->length == 1) return '_';
        if (f->c == '%') return memchr(f->text, '.', f->length) ? '.' : 'r';
        return 'n';
    case TOK_INT: return 'i';
    case TOK_FLOAT: return 'f';
    case TOK_HEX_F32: return 's';
    case TOK_HEX_F64: return 'd';
    default: return f->c;
    }
}

static void signature(const struct piece *p, const struct stmt *s, bool old, struct buf *out)
{
    out->size = 0;
    buf_add(out, p[s->op].text, p[s->op].length);
    buf_puts(out, old ? " old " : " ");
    for (size_t i = 0; i < s->operands && i < 8; i++) buf_putc(out, operand_kind(p, s->operand[i]));
}

static void learn_words(struct corpus *c, const struct piece *op)
{
    if (!words_add(c->arena, &c->forms, op->text, op->length)) return;
    uint32_t n = piece_stem(op);
    words_add(c->arena, &c->ops, op->text, n);
    for (uint32_t from = n + 1; from < op->length;) {
        const char *dot = memchr(op->text + from, '.', op->length - from);
        uint32_t to = dot ? (uint32_t)(dot - op->text) : op->length;
        words_add(c->arena, &c->mods, op->text + from, to - from);
        from = to + 1;
    }
}

/* A file while modules are cut out of it. */
struct cut {
    struct corpus *corpus;
    const char *name;
    struct pieces p;
    struct stmts items;
    struct words names; /* of items */
    size_t *item_of;    /* by index of the name: the last item with it */
    bool old;           /* PTX before 6.0 */
};

enum part_kind { PART_CODE, PART_LABEL, PART_DECL, PART_REG, PART_SKIP };
struct part {     /* of a function's body: a statement or a whole inner scope */
    uint8_t kind; /* enum part_kind */
    size_t from, to;
    bool wanted;
};

static void emit(struct buf *out, const struct piece *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (i == from) buf_putc(out, '\n');
        else if (p[i].lead)
            buf_putc(out, p[i].lead == '\n' && i + 1 < to && p[i].kind == TOK_WORD ? '\n' : ' ');
        buf_add(out, p[i].text, p[i].length);
    }
}

/* Marks the parts and items that the wanted ones name, until nothing is new. */
static void close_over(struct cut *u, struct part *parts, size_t part_n, const struct words *local,
                       const size_t *part_of, bool *items, size_t head)
{
    struct piece *p = u->p.v;
    struct arena *a = u->corpus->arena;
    struct span *work = arena_array(a, struct span, part_n + u->items.n + 2);
    size_t n = 0;
    work[n++] = (struct span){u->items.v[head].from, u->items.v[head].to};
    for (size_t i = 0; i < part_n; i++)
        if (parts[i].wanted) work[n++] = (struct span){parts[i].from, parts[i].to};
    while (n) {
        struct span s = work[--n];
        for (size_t i = s.from; i < s.to; i++) {
            if (p[i].kind != TOK_WORD) continue;
            uint32_t length = piece_stem(&p[i]);
            size_t k = words_find(local, p[i].text, length);
            if (k != SIZE_MAX) {
                struct part *part = &parts[part_of[k]];
                if (part->wanted) continue;
                part->wanted = true;
                if (part->kind != PART_LABEL) work[n++] = (struct span){part->from, part->to};
                continue;
            }
            k = words_find(&u->names, p[i].text, length);
            if (k == SIZE_MAX) continue;
            for (size_t j = 0; j < u->items.n; j++) { /* all with that name: declarations too */
                struct stmt *it = &u->items.v[j];
                if (items[j] || !it->op) continue;
                if (p[it->op].length != p[u->items.v[u->item_of[k]].op].length ||
                    memcmp(p[it->op].text, p[i].text, length) != 0)
                    continue;
                items[j] = true;
                work[n++] = (struct span){it->from, it->to};
            }
        }
    }
}

static void emit_module(struct cut *u, const bool *items, size_t head, const struct part *parts,
                        size_t part_n, size_t from, size_t to, struct buf *out)
{
    struct piece *p = u->p.v;
    out->size = 0;
    for (size_t i = 0; i < u->items.n; i++) {
        const struct stmt *it = &u->items.v[i];
        if (it->kind != ST_HEADER && !items[i] && i != head) continue;
        emit(out, p, it->from, it->to);
        if (it->kind != ST_HEAD || piece_is(&p[it->to - 1], ';')) continue;
        if (i != head) {
            bool noreturn = false;
            for (size_t k = it->from; k < it->to; k++)
                noreturn |= piece_is_text(&p[k], ".noreturn");
            buf_puts(out, noreturn ? " { exit; }" : " { ret; }");
            continue;
        }
        buf_puts(out, "\n{");
        for (size_t k = 0; k < part_n; k++)
            if ((parts[k].kind == PART_REG) ||
                (parts[k].wanted && parts[k].kind == PART_DECL && (k < from || k >= to)))
                emit(out, p, parts[k].from, parts[k].to);
        for (size_t k = from; k < to; k++)
            if (parts[k].kind != PART_SKIP && parts[k].kind != PART_REG)
                emit(out, p, parts[k].from, parts[k].to);
        for (size_t k = 0; k < part_n; k++)
            if (parts[k].wanted && parts[k].kind == PART_LABEL && (k < from || k >= to))
                emit(out, p, parts[k].from, parts[k].to);
        buf_puts(out, to - from == part_n ? "\n}" : "\nret;\n}");
    }
    buf_putc(out, '\n');
}

/* The statements of the body at [open, close], inner scopes as one part each. */
static struct part *split_body(struct cut *u, size_t open, size_t close, size_t *count,
                               struct words *local, size_t **part_of)
{
    struct arena *a = u->corpus->arena;
    struct piece *p = u->p.v;
    struct part *parts = NULL;
    size_t n = 0, cap = 0, of_cap = 0;
    *part_of = NULL;
    for (size_t i = open + 1; i < close;) {
        struct stmt s;
        size_t from = i, name = 0;
        i = stmt_read(p, close, i, &s);
        struct part part = {.kind = PART_CODE, .from = from};
        if (s.kind == ST_OPEN) {
            i = pieces_closing(p, close, from) + 1;
        } else if (s.kind == ST_LABEL) {
            name = from;
            part.kind = PART_LABEL;
            if (i < close && p[i].kind == TOK_DOTS &&
                (piece_is_text(&p[i], ".callprototype") || piece_is_text(&p[i], ".calltargets") ||
                 piece_is_text(&p[i], ".branchtargets"))) {
                i = pieces_find(p, close, i, ';') + 1;
                part.kind = PART_DECL;
            }
        } else if (s.kind == ST_DECL) {
            part.kind = piece_is_text(&p[from], ".reg") ? PART_REG : PART_DECL;
            if (part.kind == PART_DECL)
                for (size_t k = from; k < s.to && !name; k++)
                    if (p[k].kind == TOK_WORD) name = k;
        } else if (s.kind == ST_LINE) {
            part.kind = PART_SKIP;
        }
        if (i > close) i = close;
        part.to = i;
        parts = arena_grow(a, parts, n, &cap, n + 1, sizeof *parts);
        if (name && words_add(a, local, p[name].text, piece_stem(&p[name]))) {
            *part_of = arena_grow(a, *part_of, local->n - 1, &of_cap, local->n, sizeof **part_of);
            (*part_of)[local->n - 1] = n;
        }
        parts[n++] = part;
    }
    *count = n;
    return parts;
}

static void cut_function(struct cut *u, size_t head)
{
    struct corpus *c = u->corpus;
    struct piece *p = u->p.v;
    const struct stmt *h = &u->items.v[head];
    size_t open = h->to, close = pieces_closing(p, u->p.n, open), part_n;
    struct words local = {0};
    size_t *part_of;
    struct part *parts = split_body(u, open, close, &part_n, &local, &part_of);
    bool *items = arena_array(c->arena, bool, u->items.n);
    struct buf text = {0}, key = {0};
    if (close > open && close - open < WHOLE_MAX / 3 && h->op &&
        words_add(c->arena, &c->functions, p[h->op].text, p[h->op].length)) {
        for (size_t i = 0; i < part_n; i++) parts[i].wanted = parts[i].kind != PART_SKIP;
        close_over(u, parts, part_n, &local, part_of, items, head);
        emit_module(u, items, head, parts, part_n, 0, part_n, &text);
        if (text.size <= WHOLE_MAX) add_base(c, text.data, text.size, u->name, NULL);
    }
    for (size_t i = 0; i < part_n; i++) {
        if (parts[i].kind != PART_CODE) continue;
        const char *focus = NULL;
        for (size_t k = parts[i].from; k < parts[i].to;) {
            struct stmt s;
            k = stmt_read(p, parts[i].to, k, &s);
            if (s.kind != ST_INST) continue;
            learn_words(c, &p[s.op]);
            signature(p, &s, u->old, &key);
            if (words_find(&c->seen, key.data, key.size) == SIZE_MAX && !focus)
                focus = arena_copy(c->arena, p[s.op].text, p[s.op].length);
        }
        if (!focus) continue;
        size_t from = i, to = i + 1;
        for (unsigned k = 0; k < WINDOW && from > 0; k++) from--;
        for (unsigned k = 0; k < WINDOW && to < part_n; k++) to++;
        if (parts[i].to - parts[i].from > 120) { /* a long scope stands alone */
            from = i;
            to = i + 1;
        }
        memset(items, 0, u->items.n * sizeof *items);
        for (size_t k = 0; k < part_n; k++)
            parts[k].wanted = k >= from && k < to && parts[k].kind != PART_SKIP;
        close_over(u, parts, part_n, &local, part_of, items, head);
        emit_module(u, items, head, parts, part_n, from, to, &text);
        if (text.size > MODULE_MAX) continue;
        add_base(c, text.data, text.size, u->name, focus);
        for (size_t j = from; j < to; j++)
            for (size_t k = parts[j].from; k < parts[j].to;) {
                struct stmt s;
                k = stmt_read(p, parts[j].to, k, &s);
                if (s.kind != ST_INST) continue;
                signature(p, &s, u->old, &key);
                words_add(c->arena, &c->seen, key.data, key.size);
            }
    }
    buf_free(&text);
    buf_free(&key);
}

void corpus_add_file(struct corpus *c, const char *path)
{
    size_t size;
    char *text = diff_read_file(c->arena, path, &size);
    struct source source = {path, text, (uint32_t)size};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct cut u = {.corpus = c, .name = arena_copy(c->arena, name, strlen(name))};
    pieces_lex(c->arena, &source, &u.p);
    for (size_t i = 0; i < u.p.n; i++)
        if (u.p.v[i].length < 24) words_add(c->arena, &c->tokens, u.p.v[i].text, u.p.v[i].length);
    if (size <= WHOLE_MAX) add_base(c, text, size, u.name, NULL);
    size_t of_cap = 0;
    for (size_t i = 0; i < u.p.n;) {
        struct stmt s;
        i = stmt_read_item(u.p.v, u.p.n, i, &s);
        u.items.v = arena_grow(c->arena, u.items.v, u.items.n, &u.items.cap, u.items.n + 1,
                               sizeof *u.items.v);
        if (s.op) {
            const struct piece *word = &u.p.v[s.op];
            if (words_add(c->arena, &u.names, word->text, word->length))
                u.item_of = arena_grow(c->arena, u.item_of, u.names.n - 1, &of_cap, u.names.n,
                                       sizeof *u.item_of);
            u.item_of[words_find(&u.names, word->text, word->length)] = u.items.n;
        }
        if (s.kind == ST_HEADER && piece_is_text(&u.p.v[s.from], ".version") && s.from + 1 < u.p.n)
            u.old = u.p.v[s.from + 1].c < '6';
        u.items.v[u.items.n++] = s;
        if (s.kind == ST_HEAD && i < u.p.n && piece_is(&u.p.v[i], '{'))
            i = pieces_closing(u.p.v, u.p.n, i) + 1;
    }
    for (size_t i = 0; i < u.items.n; i++) {
        const struct stmt *s = &u.items.v[i];
        if (s->kind == ST_HEAD && s->to < u.p.n && piece_is(&u.p.v[s->to], '{'))
            cut_function(&u, i);
    }
}
