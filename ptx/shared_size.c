/* The static shared memory of a kernel: variables that are declared in the body of the kernel or of a function that it
 * reaches, and variables of the module that such a body names. ptxas allows 48 KiB on every target; a launch may ask for
 * more as dynamic shared memory. */
#include "base/arena.h"
#include "base/diag.h"
#include "ptx/parser.h"

enum { LIMIT = 48 << 10 };

struct reach { /* of one kernel */
    struct arena *arena;
    const struct ptx_sym **list; /* functions and shared variables, each once */
    size_t count, cap;
};

static const struct ptx_func *with_body(const struct ptx_func *f)
{
    if (f->alias_of) f = f->alias_of;
    return f->definition ? f->definition : f;
}

static void add_name(struct reach *r, const struct ptx_sym *sym)
{
    const bool shared = sym->kind == PTX_SYM_VAR && sym->space == PTX_SPACE_SHARED;
    if (!shared && sym->kind != PTX_SYM_FUNC) return;
    for (size_t i = 0; i < r->count; i++)
        if (r->list[i] == sym) return;
    r->list = arena_grow(r->arena, r->list, r->count, &r->cap, r->count + 1, sizeof *r->list);
    r->list[r->count++] = sym;
}

static void add_operand(struct reach *r, const struct ptx_opnd *o)
{
    switch ((enum ptx_opnd_kind)o->kind) {
    case PTX_OPND_SYM: add_name(r, o->sym); break;
    case PTX_OPND_ADDR: add_operand(r, &o->elem[0]); break;
    case PTX_OPND_BRACKET:
    case PTX_OPND_VEC:
    case PTX_OPND_LIST:
    case PTX_OPND_PAIR:
        for (uint32_t i = 0; i < o->count; i++) add_operand(r, &o->elem[i]);
        break;
    default: break;
    }
}

static void add_body(struct reach *r, const struct ptx_body *b)
{
    for (size_t i = 0; b && i < b->count; i++) {
        const struct ptx_stmt *s = &b->stmts[i];
        if (s->kind == PTX_STMT_VAR) add_name(r, s->var->sym);
        for (unsigned k = 0; s->kind == PTX_STMT_INST && k < s->inst->count; k++)
            add_operand(r, &s->inst->opnds[k]);
    }
}

static uint64_t grown(uint64_t size, const struct ptx_var *v)
{
    const uint64_t align = ptx_var_align(v);
    size = (size + align - 1) / align * align;
    return __builtin_add_overflow(size, ptx_var_size(v), &size) ? UINT64_MAX / 2 : size;
}

/* Bytes of the variables of a kernel, as they are laid out one behind the other. */
static uint64_t kernel_size(const struct ptx_func *kernel)
{
    struct reach r = {.arena = arena_new()};
    uint64_t size = 0;
    add_body(&r, kernel->body);
    for (size_t i = 0; i < r.count; i++) /* the list grows meanwhile */
        if (r.list[i]->kind == PTX_SYM_FUNC) add_body(&r, with_body(r.list[i]->func)->body);
        else size = grown(size, r.list[i]->var);
    arena_free(r.arena);
    return size;
}

/* Whether all shared variables of the module together fit, as nearly always. */
static bool all_fit(const struct ptx_module *m)
{
    uint64_t size = 0;
    for (size_t i = 0; i < m->var_count; i++)
        if (m->vars[i]->sym->space == PTX_SPACE_SHARED) size = grown(size, m->vars[i]);
    for (size_t i = 0; i < m->func_count; i++) {
        const struct ptx_body *b = with_body(m->funcs[i])->body;
        for (size_t k = 0; b && k < b->count; k++)
            if (b->stmts[k].kind == PTX_STMT_VAR && b->stmts[k].var->sym->space == PTX_SPACE_SHARED)
                size = grown(size, b->stmts[k].var);
    }
    return size <= LIMIT;
}

void ptx_check_shared(const struct ptx_module *m)
{
    if (all_fit(m)) return;
    for (size_t i = 0; i < m->func_count; i++) {
        const struct ptx_func *f = with_body(m->funcs[i]);
        const uint64_t size = f->is_entry ? kernel_size(f) : 0;
        if (size > LIMIT)
            diag_error(m->diags, f->sym->at, f->sym->name->length,
                       "the shared variables of kernel '%.*s' take %llu bytes: limit %d; ask for "
                       "more as dynamic shared memory (.extern .shared)",
                       (int)f->sym->name->length, f->sym->name->text, (unsigned long long)size,
                       LIMIT);
    }
}
