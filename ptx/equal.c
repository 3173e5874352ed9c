/* Compares two modules: everything except source places, comments and blanks. */
#include "base/arena.h"
#include "base/diag.h"
#include "ptx/ptx.h"

#include <ctype.h>
#include <string.h>

struct compare {
    struct arena *arena;
    const struct ptx_module *a, *b;
    const char *difference; /* the first one found */
};

/* Records a difference and returns false. */
static bool differ(struct compare *c, const char *what, const struct ptx_name *near)
{
    if (!c->difference)
        c->difference = near ? arena_printf(c->arena, "%s of '%.*s'", what, (int)near->length,
                                            near->text)
                             : what;
    return false;
}

static bool same_bytes(const char *a, size_t an, const char *b, size_t bn)
{
    return an == bn && (an == 0 || memcmp(a, b, an) == 0);
}

static bool same_name(const struct ptx_name *a, const struct ptx_name *b)
{
    return (!a && !b) || (a && b && same_bytes(a->text, a->length, b->text, b->length));
}

/* Symbols are the same if they are declared alike, under one name: their declarations are compared
 * where they stand. */
static bool same_sym(const struct ptx_sym *a, const struct ptx_sym *b)
{
    if (!a || !b) return a == b;
    return same_name(a->name, b->name) && a->kind == b->kind && a->type == b->type &&
           a->vec == b->vec && a->space == b->space && a->id == b->id;
}

static bool same_init(const struct ptx_init *a, const struct ptx_init *b)
{
    if (!a || !b) return a == b;
    if (a->kind != b->kind || a->generic != b->generic || a->mask != b->mask) return false;
    switch ((enum ptx_init_kind)a->kind) {
    case PTX_INIT_LIST:
        if (a->count != b->count) return false;
        for (size_t i = 0; i < a->count; i++)
            if (!same_init(&a->items[i], &b->items[i])) return false;
        return true;
    case PTX_INIT_SYM: return same_name(a->sym->name, b->sym->name) && a->offset == b->offset;
    case PTX_INIT_FLOAT:
        /* A decimal literal is printed as 0d with the same bits. */
        return a->bits == b->bits && (a->literal == PTX_OPND_F32) == (b->literal == PTX_OPND_F32);
    case PTX_INIT_INT: return a->bits == b->bits;
    case PTX_INIT_FIELDS: return same_bytes(a->text, a->count, b->text, b->count);
    }
    return false;
}

static bool same_var(struct compare *c, const struct ptx_var *a, const struct ptx_var *b)
{
    const struct ptx_name *n = a->sym->name;
    if (!same_sym(a->sym, b->sym)) return differ(c, "declaration", n);
    if (a->linkage != b->linkage) return differ(c, "linkage", n);
    if (a->align != b->align || a->managed != b->managed || a->in_reg != b->in_reg ||
        a->has_unified != b->has_unified || a->unified[0] != b->unified[0] ||
        a->unified[1] != b->unified[1])
        return differ(c, "alignment or attributes", n);
    if (a->is_ptr != b->is_ptr || a->ptr_space != b->ptr_space || a->ptr_align != b->ptr_align ||
        a->bank != b->bank || a->role != b->role)
        return differ(c, "space", n);
    if (a->dim_count != b->dim_count ||
        (a->dim_count && memcmp(a->dims, b->dims, a->dim_count * sizeof *a->dims) != 0))
        return differ(c, "dimensions", n);
    return same_init(a->init, b->init) || differ(c, "initial value", n);
}

static bool same_vars(struct compare *c, struct ptx_var **a, unsigned na, struct ptx_var **b,
                      unsigned nb)
{
    if (na != nb) return differ(c, "number of parameters", na ? a[0]->sym->name : NULL);
    for (unsigned i = 0; i < na; i++)
        if (!same_var(c, a[i], b[i])) return false;
    return true;
}

static bool same_directives(const struct ptx_directive *a, const struct ptx_directive *b)
{
    for (; a && b; a = a->next, b = b->next) {
        if (strcmp(a->word, b->word) != 0 || a->count != b->count ||
            memcmp(a->value, b->value, sizeof a->value) != 0 ||
            !same_bytes(a->text, a->text_length, b->text, b->text_length))
            return false;
    }
    return a == b;
}

static bool same_proto(struct compare *c, const struct ptx_proto *a, const struct ptx_proto *b)
{
    return a->noreturn == b->noreturn && same_directives(a->directives, b->directives) &&
           same_vars(c, a->rets, a->ret_count, b->rets, b->ret_count) &&
           same_vars(c, a->params, a->param_count, b->params, b->param_count);
}

static bool same_opnd(const struct ptx_opnd *a, const struct ptx_opnd *b)
{
    uint8_t ka = a->kind == PTX_OPND_FLOAT ? PTX_OPND_F64 : a->kind;
    uint8_t kb = b->kind == PTX_OPND_FLOAT ? PTX_OPND_F64 : b->kind;
    if (ka != kb || a->sel != b->sel || a->negated != b->negated || a->indexed != b->indexed ||
        a->unified != b->unified)
        return false;
    switch ((enum ptx_opnd_kind)ka) {
    case PTX_OPND_REG:
    case PTX_OPND_SREG:
    case PTX_OPND_SYM: return same_sym(a->sym, b->sym) && a->offset == b->offset;
    case PTX_OPND_LABEL: return same_name(a->name, b->name) && same_sym(a->sym, b->sym);
    case PTX_OPND_INT:
    case PTX_OPND_FLOAT:
    case PTX_OPND_F32:
    case PTX_OPND_F64: return a->bits == b->bits;
    case PTX_OPND_ADDR:
        return a->offset == b->offset && same_opnd(&a->elem[0], &b->elem[0]) &&
               (!a->indexed || same_opnd(&a->elem[1], &b->elem[1]));
    case PTX_OPND_BRACKET:
    case PTX_OPND_VEC:
    case PTX_OPND_LIST:
    case PTX_OPND_PAIR:
        if (a->count != b->count) return false;
        for (uint32_t i = 0; i < a->count; i++)
            if (!same_opnd(&a->elem[i], &b->elem[i])) return false;
        return true;
    case PTX_OPND_SINK: return true;
    }
    return false;
}

static bool same_op(const struct ptx_op *a, const struct ptx_op *b)
{
    if (!a || !b) return a == b;
    return a->form == b->form && same_bytes(a->text, a->text_length, b->text, b->text_length);
}

static bool same_inst(const struct ptx_inst *a, const struct ptx_inst *b)
{
    if (!same_op(a->op, b->op) || !same_sym(a->guard, b->guard) || a->guard_not != b->guard_not ||
        a->count != b->count)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (!same_opnd(&a->opnds[i], &b->opnds[i])) return false;
    return true;
}

static bool same_loc(const struct ptx_loc *a, const struct ptx_loc *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column &&
           a->inlined == b->inlined && a->in_file == b->in_file && a->in_line == b->in_line &&
           a->in_column == b->in_column && same_name(a->function, b->function) &&
           a->function_offset == b->function_offset;
}

static bool same_targets(const struct ptx_targets *a, const struct ptx_targets *b)
{
    if (a->calls != b->calls || a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!same_opnd(&a->labels[i], &b->labels[i])) return false;
    return true;
}

static bool same_stmt(struct compare *c, const struct ptx_stmt *a, const struct ptx_stmt *b)
{
    if (a->kind != b->kind) return false;
    switch ((enum ptx_stmt_kind)a->kind) {
    case PTX_STMT_INST: return same_inst(a->inst, b->inst);
    case PTX_STMT_LABEL:
    case PTX_STMT_REG: return same_sym(a->sym, b->sym);
    case PTX_STMT_VAR: return same_var(c, a->var, b->var);
    case PTX_STMT_OPEN:
    case PTX_STMT_CLOSE: return true;
    case PTX_STMT_LOC: return same_loc(a->loc, b->loc);
    case PTX_STMT_PRAGMA: return same_directives(a->directive, b->directive);
    case PTX_STMT_PROTO:
        return same_sym(a->sym, b->sym) && same_proto(c, a->sym->proto, b->sym->proto);
    case PTX_STMT_TARGETS:
        return same_sym(a->sym, b->sym) && same_targets(a->sym->targets, b->sym->targets);
    }
    return false;
}

static bool same_body(struct compare *c, const struct ptx_func *f, const struct ptx_func *g)
{
    const struct ptx_body *a = f->body, *b = g->body;
    if (!a || !b) return a == b || differ(c, "body", f->sym->name);
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        if (same_stmt(c, &a->stmts[i], &b->stmts[i])) continue;
        struct place pa = source_place(c->a->source, a->stmts[i].at);
        struct place pb = source_place(c->b->source, b->stmts[i].at);
        return differ(c,
                      arena_printf(c->arena, "the statement at %u:%u and at %u:%u", pa.line,
                                   pa.column, pb.line, pb.column),
                      f->sym->name);
    }
    return a->count == b->count || differ(c, "number of statements", f->sym->name);
}

static bool same_func(struct compare *c, const struct ptx_func *a, const struct ptx_func *b)
{
    const struct ptx_name *n = a->sym->name;
    if (!same_name(n, b->sym->name) || a->is_entry != b->is_entry) return differ(c, "head", n);
    if (a->linkage != b->linkage || a->has_param_list != b->has_param_list ||
        a->has_unified != b->has_unified || a->unified[0] != b->unified[0] ||
        a->unified[1] != b->unified[1])
        return differ(c, "linkage or attributes", n);
    if (!same_directives(a->directives, b->directives)) return differ(c, "directives", n);
    return same_proto(c, &a->proto, &b->proto) && same_body(c, a, b);
}

/* The text of a section but for its blanks. */
static bool same_blanked(const struct compare *c, const struct ptx_section *a,
                         const struct ptx_section *b)
{
    const char *p = c->a->source->text + a->from, *pe = c->a->source->text + a->to;
    const char *q = c->b->source->text + b->from, *qe = c->b->source->text + b->to;
    for (;;) {
        while (p < pe && isspace((unsigned char)*p)) p++;
        while (q < qe && isspace((unsigned char)*q)) q++;
        if (p == pe || q == qe) return p == pe && q == qe;
        if (*p++ != *q++) return false;
    }
}

static bool same_item(struct compare *c, const struct ptx_item *a, const struct ptx_item *b)
{
    if (a->kind != b->kind) return differ(c, "kind of a module item", NULL);
    switch ((enum ptx_item_kind)a->kind) {
    case PTX_ITEM_VAR: return same_var(c, a->var, b->var);
    case PTX_ITEM_FUNC: return same_func(c, a->func, b->func);
    case PTX_ITEM_FILE:
        return (a->file->index == b->file->index && a->file->has_time == b->file->has_time &&
                a->file->time == b->file->time && a->file->size == b->file->size &&
                same_bytes(a->file->name, a->file->name_length, b->file->name,
                           b->file->name_length)) ||
               differ(c, ".file", NULL);
    case PTX_ITEM_SECTION:
        return (same_bytes(a->section->name, a->section->name_length, b->section->name,
                           b->section->name_length) &&
                same_blanked(c, a->section, b->section)) ||
               differ(c, ".section", NULL);
    case PTX_ITEM_PRAGMA:
        return same_bytes(a->pragma->text, a->pragma->text_length, b->pragma->text,
                          b->pragma->text_length) ||
               differ(c, ".pragma", NULL);
    case PTX_ITEM_ALIAS:
        return (same_sym(a->alias->alias, b->alias->alias) &&
                same_sym(a->alias->aliasee, b->alias->aliasee)) ||
               differ(c, ".alias", NULL);
    case PTX_ITEM_RAW:
        return same_bytes(c->a->source->text + a->raw->from, a->raw->to - a->raw->from,
                          c->b->source->text + b->raw->from, b->raw->to - b->raw->from) ||
               differ(c, "debug line", NULL);
    }
    return false;
}

const char *ptx_module_difference(const struct ptx_module *a, const struct ptx_module *b)
{
    struct compare c = {a->arena, a, b, NULL};
    if (a->version != b->version) return ".version";
    if (a->target.sm != b->target.sm || a->target.suffix != b->target.suffix ||
        a->target.texmode_independent != b->target.texmode_independent ||
        a->target.debug != b->target.debug || a->target.map_f64_to_f32 != b->target.map_f64_to_f32)
        return ".target";
    if (a->address_size != b->address_size || a->address_size_given != b->address_size_given)
        return ".address_size";
    for (size_t i = 0; i < a->item_count && i < b->item_count; i++)
        if (!same_item(&c, &a->items[i], &b->items[i]))
            return c.difference ? c.difference : "a module item";
    return a->item_count == b->item_count ? NULL : "number of module items";
}
