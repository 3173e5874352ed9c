/* Prints a module as PTX text. The text parses to an equal module (ptx_module_difference). */
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/ptx.h"

#include <inttypes.h>
#include <string.h>

static void put_name(struct buf *b, const struct ptx_name *n)
{
    buf_add(b, n->text, n->length);
}

static void indent(struct buf *b, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++) buf_putc(b, '\t');
}

/* Decimal numbers come out as 0d: exact, and valid wherever a decimal is. */
static void put_constant(struct buf *b, uint8_t kind, uint64_t bits)
{
    switch (kind) {
    case PTX_OPND_INT: buf_printf(b, "%" PRId64, (int64_t)bits); break;
    case PTX_OPND_F32: buf_printf(b, "0f%08" PRIx64, bits); break;
    default: buf_printf(b, "0d%016" PRIx64, bits); break;
    }
}

static void put_offset(struct buf *b, int64_t offset)
{
    if (offset) buf_printf(b, "+%" PRId64, offset);
}

/* ---- declarations ------------------------------------------------------------------------------ */

static void put_linkage(struct buf *b, uint8_t linkage)
{
    static const char *const words[] = {"", ".extern ", ".visible ", ".weak ", ".common "};
    buf_puts(b, words[linkage]);
}

static void put_init(struct buf *b, const struct ptx_init *i)
{
    switch ((enum ptx_init_kind)i->kind) {
    case PTX_INIT_LIST:
        buf_putc(b, '{');
        for (size_t k = 0; k < i->count; k++) {
            if (k) buf_puts(b, ", ");
            put_init(b, &i->items[k]); /* nests at most PTX_MAX_DIMS + 1 deep */
        }
        buf_putc(b, '}');
        break;
    case PTX_INIT_INT: put_constant(b, PTX_OPND_INT, i->bits); break;
    case PTX_INIT_FLOAT: put_constant(b, i->literal, i->bits); break;
    case PTX_INIT_FIELDS:
        buf_putc(b, '{');
        buf_add(b, i->text, i->count);
        buf_putc(b, '}');
        break;
    case PTX_INIT_SYM:
        if (i->mask) buf_printf(b, "0x%" PRIx64 "(", UINT64_C(0xff) << (i->mask - 1));
        if (i->generic) buf_puts(b, "generic(");
        put_name(b, i->sym->name);
        if (i->generic) buf_putc(b, ')');
        put_offset(b, i->offset);
        if (i->mask) buf_putc(b, ')');
        break;
    }
}

static void put_spec(struct buf *b, const struct ptx_var *v)
{
    if (v->align) buf_printf(b, ".align %u ", v->align);
    if (v->managed) buf_puts(b, ".attribute(.managed) ");
    if (v->has_unified)
        buf_printf(b, ".attribute(.unified(%" PRIu64 ", %" PRIu64 ")) ", v->unified[0],
                   v->unified[1]);
    if (v->sym->vec > 1) buf_printf(b, ".v%d ", v->sym->vec);
    buf_printf(b, ".%s ", ptx_types[v->sym->type].name);
}

static void put_dims(struct buf *b, const struct ptx_var *v)
{
    for (unsigned i = 0; i < v->dim_count; i++) {
        if (v->dims[i]) buf_printf(b, "[%" PRIu64 "]", v->dims[i]);
        else buf_puts(b, "[]");
    }
}

static void put_var(struct buf *b, const struct ptx_var *v)
{
    put_linkage(b, v->linkage);
    buf_printf(b, ".%s", ptx_space_name((enum ptx_space)v->sym->space));
    if (v->bank) buf_printf(b, "[%d]", v->bank - 1);
    buf_putc(b, ' ');
    put_spec(b, v);
    put_name(b, v->sym->name);
    put_dims(b, v);
    if (v->init) {
        buf_puts(b, " = ");
        put_init(b, v->init);
    }
    buf_puts(b, ";\n");
}

static void put_param(struct buf *b, const struct ptx_var *v)
{
    buf_puts(b, v->in_reg ? ".reg " : ".param ");
    put_spec(b, v);
    if (v->is_ptr) {
        buf_puts(b, ".ptr ");
        if (v->ptr_space) buf_printf(b, ".%s ", ptx_space_name((enum ptx_space)v->ptr_space));
        if (v->ptr_align) buf_printf(b, ".align %u ", v->ptr_align);
    }
    put_name(b, v->sym->name);
    put_dims(b, v);
}

static void put_params(struct buf *b, struct ptx_var **list, unsigned n, bool lines)
{
    buf_putc(b, '(');
    for (unsigned i = 0; i < n; i++) {
        buf_puts(b, lines ? (i ? ",\n\t" : "\n\t") : (i ? ", " : ""));
        put_param(b, list[i]);
    }
    buf_puts(b, lines && n ? "\n)" : ")");
}

static void put_directive(struct buf *b, const struct ptx_directive *d)
{
    buf_printf(b, ".%s", d->word);
    if (d->text) {
        buf_puts(b, " \"");
        buf_add(b, d->text, d->text_length);
        buf_puts(b, "\";");
        return;
    }
    for (unsigned i = 0; i < d->count; i++)
        buf_printf(b, "%s%" PRIu64, i ? ", " : " ", d->value[i]);
}

/* ---- statements -------------------------------------------------------------------------------- */

void ptx_selector_text(const struct ptx_opnd *o, char *text)
{
    static const char *const names[] = {"", "x", "y", "z", "w", "b0", "b1", "b2", "b3", "h0", "h1"};
    if (o->sel == PTX_SEL_SIMD) {
        memcpy(text, &o->offset, 8);
        text[7] = '\0';
    } else {
        memcpy(text, names[o->sel], strlen(names[o->sel]) + 1);
    }
}

static void put_opnd(struct buf *b, const struct ptx_opnd *o);

static void put_list(struct buf *b, const struct ptx_opnd *o, char open, char close)
{
    buf_putc(b, open);
    for (uint32_t i = 0; i < o->count; i++) {
        if (i) buf_puts(b, ", ");
        put_opnd(b, &o->elem[i]); /* nests at most PTX_MAX_NESTING deep */
    }
    buf_putc(b, close);
}

static void put_opnd(struct buf *b, const struct ptx_opnd *o)
{
    char selector[8];
    switch ((enum ptx_opnd_kind)o->kind) {
    case PTX_OPND_REG:
    case PTX_OPND_SREG:
        if (o->negated) buf_putc(b, o->sym->type == PTX_pred ? '!' : '-');
        put_name(b, o->sym->name);
        ptx_selector_text(o, selector);
        if (selector[0]) buf_printf(b, ".%s", selector);
        if (o->sel != PTX_SEL_SIMD) put_offset(b, o->offset);
        break;
    case PTX_OPND_INT:
    case PTX_OPND_FLOAT:
    case PTX_OPND_F32:
    case PTX_OPND_F64: put_constant(b, o->kind, o->bits); break;
    case PTX_OPND_SYM:
        put_name(b, o->sym->name);
        if (o->indexed) buf_printf(b, "[%" PRId64 "]", o->offset);
        else put_offset(b, o->offset);
        break;
    case PTX_OPND_LABEL: put_name(b, o->name); break;
    case PTX_OPND_ADDR:
        buf_putc(b, '[');
        if (o->indexed) { /* name[register+4] */
            b->size--;
            put_name(b, o->elem[0].sym->name);
            buf_putc(b, '[');
            put_opnd(b, &o->elem[1]);
        } else {
            put_opnd(b, &o->elem[0]);
        }
        buf_putc(b, ']');
        if (o->unified) buf_puts(b, ".unified");
        break;
    case PTX_OPND_BRACKET: put_list(b, o, '[', ']'); break;
    case PTX_OPND_VEC: put_list(b, o, '{', '}'); break;
    case PTX_OPND_LIST: put_list(b, o, '(', ')'); break;
    case PTX_OPND_PAIR:
        put_opnd(b, &o->elem[0]);
        buf_putc(b, '|');
        put_opnd(b, &o->elem[1]);
        break;
    case PTX_OPND_SINK: buf_putc(b, '_'); break;
    }
}

void ptx_print_inst(const struct ptx_inst *i, struct buf *b)
{
    if (i->guard) {
        buf_puts(b, i->guard_not ? "@!" : "@");
        put_name(b, i->guard->name);
        buf_putc(b, ' ');
    }
    buf_add(b, i->op->text, i->op->text_length);
    for (unsigned k = 0; k < i->count; k++) {
        buf_puts(b, k ? ", " : " ");
        put_opnd(b, &i->opnds[k]);
    }
    buf_putc(b, ';');
}

static void put_loc(struct buf *b, const struct ptx_loc *l)
{
    buf_printf(b, ".loc %u %u %u", l->file, l->line, l->column);
    if (l->function) {
        buf_puts(b, ", function_name ");
        put_name(b, l->function);
        if (l->function_offset) buf_printf(b, "+%" PRIu64, l->function_offset);
    }
    if (l->inlined) buf_printf(b, ", inlined_at %u %u %u", l->in_file, l->in_line, l->in_column);
    buf_putc(b, '\n');
}

static void put_proto(struct buf *b, const struct ptx_sym *sym)
{
    const struct ptx_proto *q = sym->proto;
    put_name(b, sym->name);
    buf_puts(b, ": .callprototype ");
    if (q->ret_count) {
        put_params(b, q->rets, q->ret_count, false);
        buf_putc(b, ' ');
    }
    buf_puts(b, "_ ");
    put_params(b, q->params, q->param_count, false);
    for (const struct ptx_directive *d = q->directives; d; d = d->next) {
        buf_putc(b, ' ');
        put_directive(b, d);
    }
    buf_puts(b, ";\n");
}

static void put_targets(struct buf *b, const struct ptx_sym *sym)
{
    const struct ptx_targets *t = sym->targets;
    put_name(b, sym->name);
    buf_puts(b, t->calls ? ": .calltargets " : ": .branchtargets ");
    for (uint32_t i = 0; i < t->count; i++) {
        if (i) buf_puts(b, ", ");
        put_opnd(b, &t->labels[i]);
    }
    buf_puts(b, ";\n");
}

static void put_stmt(struct buf *b, const struct ptx_stmt *s, unsigned depth)
{
    if (s->kind != PTX_STMT_LABEL) indent(b, depth);
    switch ((enum ptx_stmt_kind)s->kind) {
    case PTX_STMT_INST:
        ptx_print_inst(s->inst, b);
        buf_putc(b, '\n');
        break;
    case PTX_STMT_LABEL:
        put_name(b, s->sym->name);
        buf_puts(b, ":\n");
        break;
    case PTX_STMT_REG:
        buf_puts(b, ".reg ");
        if (s->sym->vec > 1) buf_printf(b, ".v%d ", s->sym->vec);
        buf_printf(b, ".%s ", ptx_types[s->sym->type].name);
        put_name(b, s->sym->name);
        if (s->sym->kind == PTX_SYM_RANGE) buf_printf(b, "<%u>", s->sym->id);
        buf_puts(b, ";\n");
        break;
    case PTX_STMT_VAR: put_var(b, s->var); break;
    case PTX_STMT_OPEN: buf_puts(b, "{\n"); break;
    case PTX_STMT_CLOSE: buf_puts(b, "}\n"); break;
    case PTX_STMT_LOC: put_loc(b, s->loc); break;
    case PTX_STMT_PRAGMA:
        put_directive(b, s->directive);
        buf_putc(b, '\n');
        break;
    case PTX_STMT_PROTO: put_proto(b, s->sym); break;
    case PTX_STMT_TARGETS: put_targets(b, s->sym); break;
    }
}

static void put_func(struct buf *b, const struct ptx_func *f)
{
    put_linkage(b, f->linkage);
    buf_puts(b, f->is_entry ? ".entry " : ".func ");
    if (f->has_unified)
        buf_printf(b, ".attribute(.unified(%" PRIu64 ", %" PRIu64 ")) ", f->unified[0],
                   f->unified[1]);
    if (f->proto.ret_count) {
        put_params(b, f->proto.rets, f->proto.ret_count, false);
        buf_putc(b, ' ');
    }
    put_name(b, f->sym->name);
    if (f->has_param_list) put_params(b, f->proto.params, f->proto.param_count, true);
    for (const struct ptx_directive *d = f->directives; d; d = d->next) {
        buf_putc(b, '\n');
        put_directive(b, d);
    }
    if (!f->body_at) {
        buf_puts(b, ";\n");
        return;
    }
    buf_puts(b, "\n{\n");
    unsigned depth = 1;
    for (size_t i = 0; f->body && i < f->body->count; i++) {
        const struct ptx_stmt *s = &f->body->stmts[i];
        if (s->kind == PTX_STMT_CLOSE) depth--;
        put_stmt(b, s, depth);
        if (s->kind == PTX_STMT_OPEN) depth++;
    }
    buf_puts(b, "}\n");
}

/* ---- the module -------------------------------------------------------------------------------- */

static void put_item(struct buf *b, const struct ptx_module *m, const struct ptx_item *item)
{
    switch ((enum ptx_item_kind)item->kind) {
    case PTX_ITEM_VAR: put_var(b, item->var); break;
    case PTX_ITEM_FUNC:
        buf_putc(b, '\n');
        put_func(b, item->func);
        break;
    case PTX_ITEM_FILE:
        buf_printf(b, ".file %u \"", item->file->index);
        buf_add(b, item->file->name, item->file->name_length);
        buf_putc(b, '"');
        if (item->file->has_time)
            buf_printf(b, ", %" PRIu64 ", %" PRIu64, item->file->time, item->file->size);
        buf_putc(b, '\n');
        break;
    case PTX_ITEM_SECTION:
        buf_puts(b, ".section ");
        buf_add(b, item->section->name, item->section->name_length);
        buf_puts(b, " {");
        buf_add(b, m->source->text + item->section->from, item->section->to - item->section->from);
        buf_puts(b, "}\n");
        break;
    case PTX_ITEM_PRAGMA:
        put_directive(b, item->pragma);
        buf_putc(b, '\n');
        break;
    case PTX_ITEM_ALIAS:
        buf_puts(b, ".alias ");
        put_name(b, item->alias->alias->name);
        buf_puts(b, ", ");
        put_name(b, item->alias->aliasee->name);
        buf_puts(b, ";\n");
        break;
    case PTX_ITEM_RAW:
        buf_add(b, m->source->text + item->raw->from, item->raw->to - item->raw->from);
        buf_putc(b, '\n');
        break;
    }
}

void ptx_print(const struct ptx_module *m, struct buf *b)
{
    buf_printf(b, ".version %d.%d\n.target sm_%d%.1s%s%s%s\n", m->version / 10, m->version % 10,
               m->target.sm, m->target.suffix ? &m->target.suffix : "",
               m->target.texmode_independent ? ", texmode_independent" : "",
               m->target.debug ? ", debug" : "",
               m->target.map_f64_to_f32 ? ", map_f64_to_f32" : "");
    if (m->address_size_given) buf_printf(b, ".address_size %d\n", m->address_size);
    for (size_t i = 0; i < m->item_count; i++) put_item(b, m, &m->items[i]);
}
