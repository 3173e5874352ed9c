/* The public interface over base/ and ptx/. */
#include "heddle.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/accuracy.h"
#include "ptx/cfg.h"
#include "ptx/flow.h"
#include "ptx/link.h"
#include "ptx/ptx.h"
#include "ptx/simt_deadlock.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static_assert((int)HEDDLE_UNIT_COUNT == (int)PTX_UNIT_COUNT,
              "heddle.h says how many units there are");

enum { DEFAULT_MAX_ERRORS = 50 };

struct heddle_module {
    struct arena *arena;
    struct source source;
    struct diags diags;
    struct ptx_module *ptx; /* NULL: unreadable */
    struct buf messages;
    const char *target;
    struct ptx_registers *registers; /* by function; NULL until asked for */
    size_t bodies, estimated;        /* bodies that were read: now, and for `registers` */
};

const char *heddle_version(void)
{
    return HEDDLE_VERSION;
}

const char *heddle_unit_name(size_t unit)
{
    return ptx_unit_name((enum ptx_unit)unit);
}

/* ---- modules ----------------------------------------------------------------------------------- */

static struct heddle_module *new_module(const char *name, const struct heddle_options *options)
{
    struct arena *a = arena_new();
    struct heddle_module *m = arena_alloc(a, sizeof *m);
    m->arena = a;
    m->source.name = arena_copy(a, name, strlen(name));
    m->source.text = "";
    m->diags = (struct diags){.arena = a, .source = &m->source};
    m->diags.max_errors = options ? options->max_errors : DEFAULT_MAX_ERRORS;
    m->target = "";
    return m;
}

/* `text` is in the module's arena or lives as long. */
static void read_text(struct heddle_module *m, const char *text, size_t length,
                      const struct heddle_options *options)
{
    while (length > 0 && text[length - 1] == '\0') length--;
    m->source.text = text;
    if (length > PTX_MAX_TEXT) {
        diag_error(&m->diags, 0, 0, "file too large: limit %d bytes", PTX_MAX_TEXT);
        return;
    }
    m->source.length = (uint32_t)length;
    m->ptx = ptx_module_parse(m->arena, &m->source, &m->diags);
    m->target = arena_printf(m->arena, "sm_%u%.1s", m->ptx->target.sm,
                             m->ptx->target.suffix ? &m->ptx->target.suffix : "");
    if (options && options->lazy) return;
    if (ptx_module_check(m->ptx) && options && options->simt_deadlock)
        (void)ptx_simt_deadlock(m->ptx);
    ptx_module_end(m->ptx);
}

struct heddle_module *heddle_module_read(const char *name, const char *text, size_t length,
                                         const struct heddle_options *options)
{
    struct heddle_module *m = new_module(name, options);
    while (length > 0 && text[length - 1] == '\0') length--; /* they are not copied, either */
    read_text(m, length <= PTX_MAX_TEXT ? arena_copy(m->arena, text, length) : text, length,
              options);
    return m;
}

/* The whole of a stream, in the arena; NULL: errno says why not. */
static char *read_stream(struct arena *a, FILE *f, size_t *length)
{
    char *text = NULL;
    size_t cap = 0, n;
    *length = 0;
    do {
        text = arena_grow(a, text, *length, &cap, *length + (1 << 16), 1);
        n = fread(text + *length, 1, cap - *length, f);
        *length += n;
    } while (n > 0 && *length <= PTX_MAX_TEXT);
    return ferror(f) ? NULL : text;
}

struct heddle_module *heddle_module_read_file(const char *path,
                                              const struct heddle_options *options)
{
    bool standard_input = strcmp(path, "-") == 0;
    struct heddle_module *m = new_module(standard_input ? "standard input" : path, options);
    errno = 0;
    FILE *f = standard_input ? stdin : fopen(path, "rb");
    size_t length = 0;
    char *text = f ? read_stream(m->arena, f, &length) : NULL;
    int why = errno;
    if (f && !standard_input) fclose(f);
    if (text) read_text(m, text, length, options);
    else diag_error(&m->diags, 0, 0, "cannot read: %s", strerror(why));
    return m;
}

void heddle_module_free(struct heddle_module *m)
{
    if (!m) return;
    if (m->ptx) ptx_module_end(m->ptx);
    buf_free(&m->messages);
    arena_free(m->arena);
}

bool heddle_module_ok(const struct heddle_module *m)
{
    return m->diags.errors == 0;
}

/* For heddle_device.c. */
struct ptx_module *heddle_module_ptx(struct heddle_module *m);
struct ptx_module *heddle_module_ptx(struct heddle_module *m)
{
    return m->ptx;
}

bool heddle_module_unreadable(const struct heddle_module *m)
{
    return !m->ptx;
}

const char *heddle_module_name(const struct heddle_module *m)
{
    return m->source.name;
}

int heddle_module_ptx_version(const struct heddle_module *m)
{
    return m->ptx ? m->ptx->version : 0;
}

const char *heddle_module_target(const struct heddle_module *m)
{
    return m->target;
}

int heddle_module_address_size(const struct heddle_module *m)
{
    return m->ptx ? m->ptx->address_size : 0;
}

/* ---- messages ---------------------------------------------------------------------------------- */

size_t heddle_module_message_count(struct heddle_module *m)
{
    diags_sort(&m->diags);
    return m->diags.count;
}

struct heddle_message heddle_module_message(struct heddle_module *m, size_t i)
{
    diags_sort(&m->diags);
    assert(i < m->diags.count);
    const struct diag *d = &m->diags.list[i];
    struct heddle_message g = {.severity = (enum heddle_severity)d->kind, .text = d->text};
    if (!m->ptx) return g;
    struct place p = source_place(&m->source, d->at);
    g.line = p.line;
    g.column = p.column;
    g.length = d->length;
    return g;
}

const char *heddle_module_messages_text(struct heddle_module *m)
{
    m->messages.size = 0;
    if (m->ptx) diags_render(&m->diags, &m->messages);
    else
        for (size_t i = 0; i < m->diags.count; i++)
            buf_printf(&m->messages, "%s: error: %s\n", m->source.name, m->diags.list[i].text);
    if (m->diags.max_errors && m->diags.errors >= m->diags.max_errors)
        buf_printf(&m->messages, "%s: stopped after %u errors\n", m->source.name,
                   m->diags.max_errors);
    return m->messages.size ? m->messages.data : "";
}

unsigned heddle_module_error_count(const struct heddle_module *m)
{
    return m->diags.errors;
}

unsigned heddle_module_warning_count(const struct heddle_module *m)
{
    return m->diags.warnings;
}

/* ---- what a module holds ----------------------------------------------------------------------- */

static const char *name_text(struct arena *a, const struct ptx_name *n)
{
    return arena_copy(a, n->text, n->length);
}

size_t heddle_module_function_count(const struct heddle_module *m)
{
    return m->ptx ? m->ptx->func_count : 0;
}

/* The head that has the body, if one has. */
static struct ptx_func *function(struct heddle_module *m, size_t i)
{
    assert(i < heddle_module_function_count(m));
    struct ptx_func *f = m->ptx->funcs[i];
    if (f->definition) f = f->definition;
    m->bodies += !f->body;
    ptx_func_parse(m->ptx, f);
    return f;
}

/* What a lazy module has left out so far. */
static void read_bodies(struct heddle_module *m)
{
    for (size_t i = 0; i < heddle_module_function_count(m); i++) function(m, i);
}

/* Static shared memory that the instructions of a body name. */
static void add_shared(struct arena *scratch, const struct ptx_opnd *o,
                       const struct ptx_var ***seen, size_t *count, size_t *cap)
{
    switch ((enum ptx_opnd_kind)o->kind) {
    case PTX_OPND_SYM: {
        const struct ptx_sym *s = o->sym;
        if (s->kind != PTX_SYM_VAR || s->space != PTX_SPACE_SHARED || s->scope != 0) return;
        for (size_t i = 0; i < *count; i++)
            if ((*seen)[i] == s->var) return;
        *seen = arena_grow(scratch, *seen, *count, cap, *count + 1, sizeof **seen);
        (*seen)[(*count)++] = s->var;
        return;
    }
    case PTX_OPND_ADDR:
    case PTX_OPND_BRACKET:
    case PTX_OPND_VEC:
    case PTX_OPND_LIST:
        for (uint32_t i = 0; i < (o->kind == PTX_OPND_ADDR ? 1 : o->count); i++)
            add_shared(scratch, &o->elem[i], seen, count, cap);
        return;
    default: return;
    }
}

static void count_statements(struct arena *scratch, const struct ptx_body *body,
                             struct heddle_function *out)
{
    const struct ptx_var **shared = NULL;
    size_t shared_count = 0, cap = 0;
    for (size_t s = 0; s < body->count; s++) {
        const struct ptx_stmt *st = &body->stmts[s];
        if (st->kind == PTX_STMT_VAR) {
            uint64_t size = ptx_var_size(st->var);
            if (st->var->sym->space == PTX_SPACE_LOCAL) out->local_bytes += size;
            if (st->var->sym->space == PTX_SPACE_SHARED) out->shared_bytes += size;
        }
        if (st->kind != PTX_STMT_INST) continue;
        const struct ptx_inst *in = st->inst;
        const struct ptx_form_info *form = in->op->form;
        out->instructions++;
        out->by_unit[form->unit]++;
        out->calls += ptx_inst_is_call(in);
        out->barriers += (form->effects & PTX_BARRIER) != 0;
        out->atomics += (form->effects & PTX_ATOMIC) != 0;
        out->branches += in->guard && (form->effects & PTX_FLOW);
        out->refused += form->refused != NULL;
        for (unsigned k = 0; k < in->count; k++)
            add_shared(scratch, &in->opnds[k], &shared, &shared_count, &cap);
    }
    for (size_t i = 0; i < shared_count; i++) out->shared_bytes += ptx_var_size(shared[i]);
}

static uint64_t param_bytes(const struct ptx_proto *q)
{
    uint64_t size = 0;
    for (unsigned i = 0; i < q->param_count; i++) {
        uint64_t align = ptx_var_align(q->params[i]);
        size = (size + align - 1) / align * align + ptx_var_size(q->params[i]);
    }
    return size;
}

/* Whether lanes of a warp may leave a block for different ones. */
static bool may_part(const struct ptx_cfg *g, const struct ptx_uniform *u, uint32_t block)
{
    return ptx_cfg_reachable(g, block) && u->branch[block] > PTX_SPREAD_WARP;
}

static void analyse(struct arena *scratch, const struct ptx_func *f, struct heddle_function *out)
{
    const struct ptx_cfg *g = ptx_cfg_new(scratch, f);
    for (uint32_t b = 0; b < g->code_count; b++) out->blocks += ptx_cfg_reachable(g, b);
    out->loops = g->loop_count;
    for (uint32_t i = 0; i < g->loop_count; i++)
        if (g->loops[i].depth > out->loop_depth) out->loop_depth = g->loops[i].depth;
    const struct ptx_flow *flow = ptx_flow_new(scratch, g);
    uint32_t *dead;
    out->dead_atomics = ptx_live_dead_atoms(scratch, ptx_live_new(scratch, flow, NULL), &dead);
    const struct ptx_uniform *uniform = ptx_uniform_new(scratch, flow);
    for (uint32_t b = 0; b < g->code_count; b++) out->divergent_branches += may_part(g, uniform, b);
}

/* For all functions at once, as callees count for their callers. */
static const struct ptx_registers *registers(struct heddle_module *m)
{
    if (!m->registers || m->estimated != m->bodies)
        m->registers = ptx_registers_estimate(m->arena, m->ptx);
    m->estimated = m->bodies;
    return m->registers;
}

struct heddle_function heddle_module_function(struct heddle_module *m, size_t i)
{
    struct ptx_func *f = function(m, i);
    struct heddle_function out = {
        .name = name_text(m->arena, f->sym->name),
        .is_kernel = f->is_entry,
        .is_defined = f->is_defined,
        .line = source_place(&m->source, f->at).line,
        .param_bytes = f->is_entry ? param_bytes(&f->proto) : 0,
    };
    if (!f->body || !heddle_module_ok(m)) return out;
    struct arena *scratch = arena_new();
    count_statements(scratch, f->body, &out);
    analyse(scratch, f, &out);
    arena_free(scratch);
    const struct ptx_registers *r = &registers(m)[i];
    out.registers = r->registers;
    out.pressure = r->live.regs;
    out.predicates = r->live.preds;
    return out;
}

size_t heddle_module_variable_count(const struct heddle_module *m)
{
    return m->ptx ? m->ptx->var_count : 0;
}

struct heddle_variable heddle_module_variable(struct heddle_module *m, size_t i)
{
    assert(i < heddle_module_variable_count(m));
    const struct ptx_var *v = m->ptx->vars[i];
    return (struct heddle_variable){
        .name = name_text(m->arena, v->sym->name),
        .space = ptx_space_name((enum ptx_space)v->sym->space),
        .size = ptx_var_size(v),
        .align = ptx_var_align(v),
        .is_extern = v->linkage == PTX_LINK_EXTERN,
        .has_initial_value = v->init != NULL,
    };
}

/* The text of a buf as the caller's own. */
static char *give(struct buf *b)
{
    buf_add(b, "", 0); /* a NUL even if nothing was added */
    return b->data;
}

char *heddle_module_print(struct heddle_module *m)
{
    struct buf b = {0};
    read_bodies(m);
    if (m->ptx) ptx_print(m->ptx, &b);
    return give(&b);
}

const char *heddle_module_difference(struct heddle_module *a, struct heddle_module *b)
{
    if (!a->ptx || !b->ptx) return a->ptx == b->ptx ? NULL : "one cannot be read";
    read_bodies(a);
    read_bodies(b);
    return ptx_module_difference(a->ptx, b->ptx);
}

/* ---- graphs ------------------------------------------------------------------------------------ */

/* A record label's text: its special characters escaped, lines flush left. */
static void add_label(struct buf *b, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strchr("\"\\{}<>|", text[i])) buf_putc(b, '\\');
        buf_putc(b, text[i]);
    }
}

static void add_block(struct buf *b, const struct ptx_cfg *g, uint32_t i, bool instructions)
{
    enum { MOST = 40 }; /* instructions shown of a block */
    const struct ptx_block *k = &g->blocks[i];
    bool header = k->loop != PTX_NONE && g->loops[k->loop].header == i;
    unsigned count = 0;
    struct buf text = {0};
    for (uint32_t s = k->first; s < k->end; s++) {
        const struct ptx_stmt *st = &g->func->body->stmts[s];
        text.size = 0;
        if (st->kind == PTX_STMT_LABEL) {
            if (s == k->first) {
                add_label(b, st->sym->name->text, st->sym->name->length);
                buf_puts(b, ":\\l");
            }
            continue;
        }
        if (st->kind != PTX_STMT_INST) continue;
        if (++count > MOST || !instructions) continue;
        ptx_print_inst(st->inst, &text);
        add_label(b, text.data, text.size);
        buf_puts(b, "\\l");
    }
    if (!instructions) buf_printf(b, "%u instructions\\l", count);
    else if (count > MOST) buf_printf(b, "... %u more\\l", count - MOST);
    buf_free(&text);
    buf_puts(b, "\"");
    if (header) buf_puts(b, ", style=filled, fillcolor=lightblue");
    if (!ptx_cfg_reachable(g, i)) buf_puts(b, ", style=dashed, fontcolor=gray");
    buf_puts(b, "];\n");
}

char *heddle_function_graph(struct heddle_module *m, size_t i, bool instructions)
{
    struct ptx_func *f = function(m, i);
    struct buf b = {0};
    buf_puts(&b, "digraph \"");
    add_label(&b, f->sym->name->text, f->sym->name->length);
    buf_puts(&b, "\" {\n    node [shape=box, fontname=monospace];\n");
    if (f->body && heddle_module_ok(m)) {
        struct arena *scratch = arena_new();
        const struct ptx_cfg *g = ptx_cfg_new(scratch, f);
        const struct ptx_uniform *u = ptx_uniform_new(scratch, ptx_flow_new(scratch, g));
        for (uint32_t k = 0; k < g->count; k++) {
            if (k < g->code_count) {
                buf_printf(&b, "    b%u [%slabel=\"", k, may_part(g, u, k) ? "color=red, " : "");
                add_block(&b, g, k, instructions);
            } else {
                buf_printf(&b, "    b%u [shape=circle, label=\"%s\"];\n", k,
                           k == g->exit ? "end" : "");
            }
        }
        for (uint32_t k = 0; k < g->count; k++) {
            const struct ptx_block *from = &g->blocks[k];
            for (uint32_t s = 0; s < from->succ_count; s++)
                buf_printf(&b, "    b%u -> b%u;\n", k, g->succs[from->succ + s]);
            if (from->succ_count > 1 && from->rejoin != PTX_NONE)
                buf_printf(&b, "    b%u -> b%u [style=dashed, color=gray, constraint=false];\n", k,
                           from->rejoin);
        }
        arena_free(scratch);
    }
    buf_puts(&b, "}\n");
    return give(&b);
}

/* ---- programs ---------------------------------------------------------------------------------- */

struct heddle_program {
    struct arena *arena;
    struct heddle_module **modules;
    size_t count;
    struct ptx_program *ptx;
    struct buf messages;
};

struct heddle_program *heddle_program_link(struct heddle_module *const *modules, size_t count)
{
    struct arena *a = arena_new();
    struct heddle_program *p = arena_alloc(a, sizeof *p);
    struct ptx_module **ptx = arena_array(a, struct ptx_module *, count);
    p->arena = a;
    p->modules = arena_array(a, struct heddle_module *, count);
    p->count = count;
    for (size_t i = 0; i < count; i++) {
        p->modules[i] = modules[i];
        ptx[i] = modules[i]->ptx;
    }
    if (!heddle_program_ok(p)) return p;
    p->ptx = ptx_link(a, ptx, count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < ptx[i]->func_count; k++)
            if (ptx[i]->funcs[k]->is_entry && ptx[i]->funcs[k]->is_defined)
                ptx_program_reach(p->ptx, i, ptx[i]->funcs[k]);
    return p;
}

void heddle_program_free(struct heddle_program *p)
{
    if (!p) return;
    buf_free(&p->messages);
    arena_free(p->arena);
}

bool heddle_program_ok(const struct heddle_program *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (!heddle_module_ok(p->modules[i])) return false;
    return true;
}

const char *heddle_program_messages_text(struct heddle_program *p)
{
    p->messages.size = 0;
    for (size_t i = 0; i < p->count; i++)
        buf_puts(&p->messages, heddle_module_messages_text(p->modules[i]));
    return p->messages.size ? p->messages.data : "";
}

/* ---- the instruction set ----------------------------------------------------------------------- */

size_t heddle_form_count(void)
{
    return PTX_FORM_COUNT;
}

struct heddle_form heddle_form(size_t i)
{
    assert(i < PTX_FORM_COUNT);
    const struct ptx_form_info *f = &ptx_forms[i];
    return (struct heddle_form){
        .name = f->name,
        .modifiers = ptx_form_modifiers((enum ptx_form)i),
        .operands = f->opnds,
        .since = f->since & 0xff,
        .target = f->sm,
        .unit = ptx_unit_name((enum ptx_unit)f->unit),
        .refused = f->refused,
        .inexact = ptx_form_accuracy((enum ptx_form)i).text,
    };
}
