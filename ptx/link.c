#include "ptx/link.h"

#include "base/arena.h"
#include "base/diag.h"
#include "ptx/cfg.h"

#include <string.h>

static bool same(const struct ptx_name *a, const struct ptx_name *b)
{
    return a->hash == b->hash && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static bool is_file_call(const struct ptx_name *name)
{
    const size_t n = sizeof PTX_FILE_CALLS - 1;
    return name->length > n && memcmp(name->text, PTX_FILE_CALLS, n) == 0;
}

bool ptx_runtime_has(const struct ptx_name *name)
{
    static const char *const names[] = {"vprintf", "malloc", "free", "__assertfail"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == name->length && memcmp(names[i], name->text, name->length) == 0)
            return true;
    /* Device-side launches call into the device runtime library, and this one (libcudadevrt.a) into the driver: by names
     * that begin with "cnp" until CUDA 11. */
    return is_file_call(name) || (name->length > 4 && memcmp(name->text, "cuda", 4) == 0) ||
           (name->length > 6 && memcmp(name->text, "__cuda", 6) == 0) ||
           (name->length > 3 && memcmp(name->text, "cnp", 3) == 0 && name->text[3] >= 'A' &&
            name->text[3] <= 'Z');
}

static struct ptx_def *slot(const struct ptx_program *p, const struct ptx_name *name)
{
    size_t h = name->hash & p->mask;
    while (p->defs[h].name && !same(p->defs[h].name, name)) h = (h + 1) & p->mask;
    return &p->defs[h];
}

const struct ptx_def *ptx_program_find(const struct ptx_program *p, const struct ptx_name *name)
{
    const struct ptx_def *d = slot(p, name);
    return d->name ? d : NULL;
}

static uint8_t linkage(const struct ptx_def *d)
{
    return d->func ? d->func->linkage : d->var->linkage;
}

static void report(struct ptx_program *p, size_t module, const struct ptx_sym *sym,
                   const char *what, size_t other)
{
    diag_error(p->modules[module]->diags, sym->at, sym->name->length, "'%.*s' %s %s",
               (int)sym->name->length, sym->name->text, what, p->modules[other]->source->name);
}

static bool same_shape(const struct ptx_def *a, const struct ptx_def *b)
{
    if (a->func && b->func)
        return a->func->is_entry == b->func->is_entry &&
               ptx_proto_equal(&a->func->proto, &b->func->proto);
    if (a->func || b->func) return false;
    const struct ptx_var *x = a->var, *y = b->var;
    if (x->sym->space != y->sym->space) return false;
    if (x->sym->type != y->sym->type || x->sym->vec != y->sym->vec || x->dim_count != y->dim_count)
        return false;
    for (unsigned i = 0; i < x->dim_count; i++)
        if (x->dims[i] != y->dims[i] && x->dims[i] && y->dims[i]) return false;
    return true;
}

/* Enters a definition, or weighs it against the one that is there. */
static void define(struct ptx_program *p, struct ptx_def d)
{
    struct ptx_def *old = slot(p, d.name);
    const struct ptx_sym *sym = d.func ? d.func->sym : d.var->sym;
    if (!old->name) {
        *old = d;
        p->def_count++;
        return;
    }
    if (!same_shape(old, &d) &&
        !(linkage(old) == PTX_LINK_COMMON && linkage(&d) == PTX_LINK_COMMON)) {
        report(p, d.module, sym, "is declared otherwise in", old->module);
        return;
    }
    uint8_t have = linkage(old), come = linkage(&d);
    if (have == PTX_LINK_VISIBLE && come == PTX_LINK_VISIBLE) {
        report(p, d.module, sym, "is defined already in", old->module);
    } else if (come == PTX_LINK_VISIBLE && have != PTX_LINK_VISIBLE) {
        *old = d;
    } else if (have == PTX_LINK_COMMON && come == PTX_LINK_COMMON) {
        if (ptx_var_size(d.var) > ptx_var_size(old->var)) *old = d;
    }
}

static bool is_shared_name(uint8_t linkage)
{
    return linkage == PTX_LINK_VISIBLE || linkage == PTX_LINK_WEAK || linkage == PTX_LINK_COMMON;
}

struct ptx_program *ptx_link(struct arena *arena, struct ptx_module *const *modules, size_t count)
{
    struct ptx_program *p = arena_alloc(arena, sizeof *p);
    p->arena = arena;
    p->count = count;
    p->modules = arena_array(arena, struct ptx_module *, count);
    size_t names = 1;
    for (size_t i = 0; i < count; i++) {
        p->modules[i] = modules[i];
        names += modules[i]->func_count + modules[i]->var_count;
    }
    size_t size = 16;
    while (size < 2 * names) size *= 2;
    p->mask = size - 1;
    p->defs = arena_array(arena, struct ptx_def, size);
    for (size_t i = 0; i < count; i++) {
        struct ptx_module *m = modules[i];
        if (m->address_size != modules[0]->address_size)
            diag_error(m->diags, 0, 0, "%d-bit addresses, %s has %d-bit ones", m->address_size,
                       modules[0]->source->name, modules[0]->address_size);
        for (size_t k = 0; k < m->func_count; k++) {
            struct ptx_func *f = m->funcs[k];
            if ((f->is_defined || f->alias_of) && is_shared_name(f->linkage))
                define(p, (struct ptx_def){f->sym->name, i, f, NULL});
        }
        for (size_t k = 0; k < m->var_count; k++) {
            struct ptx_var *v = m->vars[k];
            if (is_shared_name(v->linkage)) define(p, (struct ptx_def){v->sym->name, i, NULL, v});
        }
    }
    /* What is only declared must agree with what is defined elsewhere. */
    for (size_t i = 0; i < count; i++) {
        struct ptx_module *m = modules[i];
        for (size_t k = 0; k < m->func_count; k++) {
            struct ptx_func *f = m->funcs[k];
            struct ptx_def here = {f->sym->name, i, f, NULL};
            const struct ptx_def *d = f->is_defined ? NULL : ptx_program_find(p, here.name);
            if (d && !same_shape(d, &here))
                report(p, i, f->sym, "is declared otherwise in", d->module);
        }
        for (size_t k = 0; k < m->var_count; k++) {
            struct ptx_var *v = m->vars[k];
            struct ptx_def here = {v->sym->name, i, NULL, v};
            const struct ptx_def *d = v->linkage == PTX_LINK_EXTERN ? ptx_program_find(p, here.name)
                                                                    : NULL;
            if (d && !same_shape(d, &here))
                report(p, i, v->sym, "is declared otherwise in", d->module);
        }
    }
    return p;
}

/* ---- what can be reached ----------------------------------------------------------------------- */

struct visit {
    struct ptx_program *p;
    struct ptx_reach reach;
    size_t cap;
    const void **seen; /* hash set */
    size_t seen_count, seen_mask;
    struct {
        size_t module;
        struct ptx_var *var;
    } * vars; /* named so far */
    size_t var_count, var_cap;
    bool anywhere; /* something calls an address, and does not say which there may be */
};

static bool insert(struct visit *v, const void *key)
{
    if (++v->seen_count * 2 > v->seen_mask) {
        const void **old = v->seen;
        size_t n = old ? v->seen_mask + 1 : 0, size = n ? 2 * n : 64;
        v->seen = arena_array(v->p->arena, const void *, size);
        v->seen_mask = size - 1;
        for (size_t i = 0; i < n; i++) {
            if (!old[i]) continue;
            size_t h = (size_t)((uintptr_t)old[i] >> 4) & v->seen_mask;
            while (v->seen[h]) h = (h + 1) & v->seen_mask;
            v->seen[h] = old[i];
        }
    }
    /* The set is only asked whether it has something; its order by address is never seen. */
    size_t h = (size_t)((uintptr_t)key >> 4) & v->seen_mask;
    for (; v->seen[h]; h = (h + 1) & v->seen_mask)
        if (v->seen[h] == key) return false;
    v->seen[h] = key;
    return true;
}

static void visit_func(struct visit *v, size_t module, struct ptx_func *f, uint32_t at)
{
    if (f->alias_of) f = f->alias_of;
    v->reach.runtime |= is_file_call(f->sym->name);
    if (!f->is_defined || f->linkage == PTX_LINK_WEAK) {
        const struct ptx_def *d = ptx_program_find(v->p, f->sym->name);
        if (d && d->func) {
            module = d->module;
            f = d->func->alias_of ? d->func->alias_of : d->func;
        } else if (f->is_defined) {
            /* weak, and the only one */
        } else if (!ptx_runtime_has(f->sym->name)) {
            if (insert(v, f)) {
                v->reach.ok = false;
                diag_error(v->p->modules[module]->diags, at, f->sym->name->length,
                           "no module defines '%.*s'", (int)f->sym->name->length,
                           f->sym->name->text);
            }
            return;
        } else {
            v->reach.runtime = true;
            return;
        }
    }
    if (f->definition) f = f->definition;
    if (!insert(v, f) || (f->is_entry && v->reach.count)) return;
    v->reach.funcs = arena_grow(v->p->arena, v->reach.funcs, v->reach.count, &v->cap,
                                v->reach.count + 1, sizeof *v->reach.funcs);
    v->reach.funcs[v->reach.count++] = (struct ptx_place){module, f};
}

static void visit_init(struct visit *v, size_t module, const struct ptx_init *i);

static void visit_var(struct visit *v, size_t module, struct ptx_var *var, uint32_t at)
{
    bool elsewhere = var->linkage == PTX_LINK_EXTERN;
    if (elsewhere || var->linkage == PTX_LINK_WEAK || var->linkage == PTX_LINK_COMMON) {
        const struct ptx_def *d = ptx_program_find(v->p, var->sym->name);
        if (d && d->var) {
            module = d->module;
            var = d->var;
        } else if (elsewhere &&
                   var->sym->space != PTX_SPACE_SHARED) { /* .extern .shared: sized by the launch */
            if (insert(v, var)) {
                v->reach.ok = false;
                diag_error(v->p->modules[module]->diags, at, var->sym->name->length,
                           "no module defines '%.*s'", (int)var->sym->name->length,
                           var->sym->name->text);
            }
            return;
        }
    }
    if (!insert(v, var)) return;
    v->vars = arena_grow(v->p->arena, v->vars, v->var_count, &v->var_cap, v->var_count + 1,
                         sizeof *v->vars);
    v->vars[v->var_count].module = module;
    v->vars[v->var_count++].var = var;
}

static void visit_sym(struct visit *v, size_t module, const struct ptx_sym *sym, uint32_t at)
{
    if (sym->kind == PTX_SYM_FUNC) visit_func(v, module, sym->func, at);
    else if (sym->kind == PTX_SYM_VAR && sym->space != PTX_SPACE_PARAM && sym->scope == 0)
        visit_var(v, module, sym->var, at);
}

static void visit_init(struct visit *v, size_t module, const struct ptx_init *i)
{
    if (i->kind == PTX_INIT_SYM) visit_sym(v, module, i->sym, i->at);
    for (size_t k = 0; i->kind == PTX_INIT_LIST && k < i->count; k++)
        visit_init(v, module, &i->items[k]); /* as deep as dimensions */
}

static void visit_opnd(struct visit *v, size_t module, const struct ptx_opnd *o)
{
    switch ((enum ptx_opnd_kind)o->kind) {
    case PTX_OPND_SYM: visit_sym(v, module, o->sym, o->at); break;
    case PTX_OPND_ADDR: visit_opnd(v, module, &o->elem[0]); break;
    case PTX_OPND_BRACKET:
    case PTX_OPND_VEC:
    case PTX_OPND_LIST:
    case PTX_OPND_PAIR:
        for (uint32_t i = 0; i < o->count; i++) visit_opnd(v, module, &o->elem[i]);
        break;
    default: break;
    }
}

static void visit_body(struct visit *v, struct ptx_place at)
{
    struct ptx_module *m = v->p->modules[at.module];
    if (!ptx_func_parse(m, at.func)) v->reach.ok = false;
    const struct ptx_func *f = at.func;
    for (size_t i = 0; f->body && i < f->body->count; i++) {
        const struct ptx_stmt *s = &f->body->stmts[i];
        if (s->kind == PTX_STMT_INST) {
            if (ptx_inst_is_call(s->inst)) {
                const struct ptx_call call = ptx_inst_call(s->inst);
                v->anywhere |= !call.func && !call.listed;
            }
            for (unsigned k = 0; k < s->inst->count; k++)
                visit_opnd(v, at.module, &s->inst->opnds[k]);
        } else if (s->kind == PTX_STMT_TARGETS)
            for (uint32_t k = 0; k < s->sym->targets->count; k++)
                visit_opnd(v, at.module, &s->sym->targets->labels[k]);
    }
}

/* Addresses of functions that an operand takes. */
static void visit_taken(struct visit *v, size_t module, const struct ptx_opnd *o)
{
    if (o->kind == PTX_OPND_SYM && o->sym->kind == PTX_SYM_FUNC)
        visit_func(v, module, o->sym->func, o->at);
}

/* Another kernel may have left an address in memory: of a class with virtual functions, or of what it chose. */
static void visit_addresses(struct visit *v)
{
    for (size_t m = 0; m < v->p->count; m++) {
        const struct ptx_module *module = v->p->modules[m];
        for (size_t i = 0; i < module->var_count; i++)
            if (module->vars[i]->init) visit_init(v, m, module->vars[i]->init);
        for (size_t i = 0; i < module->func_count; i++) {
            struct ptx_func *f = module->funcs[i];
            if (f->definition) f = f->definition;
            if (!f->is_defined || !ptx_func_parse(v->p->modules[m], f)) continue;
            for (size_t k = 0; f->body && k < f->body->count; k++) {
                const struct ptx_stmt *s = &f->body->stmts[k];
                if (s->kind != PTX_STMT_INST || ptx_inst_is_call(s->inst)) continue;
                for (unsigned n = 0; n < s->inst->count; n++) visit_taken(v, m, &s->inst->opnds[n]);
            }
        }
    }
}

struct ptx_reach ptx_program_reach(struct ptx_program *p, size_t module, struct ptx_func *func)
{
    struct visit v = {.p = p, .reach.ok = true};
    visit_func(&v, module, func, func->sym->at);
    size_t next_func = 0, next_var = 0;
    bool all = false;
    while (next_func < v.reach.count || next_var < v.var_count || (v.anywhere && !all)) {
        if (next_func == v.reach.count && next_var == v.var_count) {
            all = true;
            visit_addresses(&v);
        } else if (next_func < v.reach.count) {
            visit_body(&v, v.reach.funcs[next_func++]);
        } else {
            const struct ptx_var *var = v.vars[next_var].var;
            if (var->init) visit_init(&v, v.vars[next_var].module, var->init);
            next_var++;
        }
    }
    return v.reach;
}

/* ---- a module by itself -------------------------------------------------------------------------- */

/* The diagnostic of the function, if it is missing. */
static bool is_there(struct ptx_module *m, const struct ptx_opnd *o)
{
    const struct ptx_sym *sym = o->sym;
    if (o->kind != PTX_OPND_SYM || sym->kind != PTX_SYM_FUNC) return true;
    const struct ptx_func *f = sym->func;
    if (f->is_defined || f->definition || f->alias_of || ptx_runtime_has(sym->name)) return true;
    diag_error(m->diags, o->at, sym->name->length, "no module defines '%.*s'",
               (int)sym->name->length, sym->name->text);
    return false;
}

static bool is_closed(struct ptx_module *m, const struct ptx_func *f)
{
    bool all = true;
    for (size_t i = 0; f->body && i < f->body->count; i++) {
        const struct ptx_stmt *s = &f->body->stmts[i];
        for (unsigned k = 0; s->kind == PTX_STMT_INST && k < s->inst->count; k++)
            all &= is_there(m, &s->inst->opnds[k]);
    }
    return all;
}

/* A variable that nobody defines becomes the module's own, with zero in it, as ptxas "ignores the extern qualifier". An array
 * without a size cannot, whether something names it or not; `.extern .shared` is sized by the launch. */
static bool own_variable(struct ptx_module *m, struct ptx_var *v)
{
    const struct ptx_sym *sym = v->sym;
    const bool here = sym->space == PTX_SPACE_GLOBAL || (sym->space == PTX_SPACE_CONST && !v->bank);
    if (v->linkage != PTX_LINK_EXTERN || sym->var != v || !here ||
        ptx_types[sym->type].kind == PTX_OPAQUE)
        return true;
    if (ptx_var_size(v)) {
        v->linkage = PTX_LINK_VISIBLE;
        return true;
    }
    diag_error(m->diags, sym->at, sym->name->length, "no module defines '%.*s', which has no size",
               (int)sym->name->length, sym->name->text);
    return false;
}

bool ptx_module_close(struct ptx_module *m)
{
    bool all = true;
    for (size_t i = 0; i < m->var_count; i++) all &= own_variable(m, m->vars[i]);
    for (size_t i = 0; i < m->func_count; i++) {
        struct ptx_func *f = m->funcs[i];
        if (f->is_defined && ptx_func_parse(m, f)) all &= is_closed(m, f);
    }
    return all;
}
