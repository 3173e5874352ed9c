/* Variables and functions of linked modules: numbers, addresses, initial values, layouts.
 *
 * Initial values are converted as ptxas does it: an integer gives its low bytes; a decimal or 0d number is rounded to
 * .f32 where the element has 4 bytes and else gives the low bytes of the double; 0f gives its 4 bytes as they are,
 * zeros behind. An element that is wider than its value is filled with zeros. Lists differ from ptxas: if an inner list
 * is too short, its remaining elements are zero, as the PTX ISA says (5.4.4 Initializers); ptxas 13.0 fills them with
 * the next list's values. */
#include "emu/device/image.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "emu/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- from pointers to numbers ------------------------------------------------------------------ */

struct image_map {
    struct arena *arena;
    struct {
        const void *key;
        uint32_t value;
    } * slots;
    size_t count, mask; /* mask + 1 slots, 0: none yet */
};

enum { NOWHERE = UINT32_MAX };

static struct image_map *map_new(struct arena *arena)
{
    struct image_map *map = arena_alloc(arena, sizeof *map);
    map->arena = arena;
    return map;
}

/* The order of slots depends on addresses of the host: it is never walked but to grow. */
static size_t slot_of(const struct image_map *map, const void *key)
{
    size_t h = (size_t)(((uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & map->mask;
    while (map->slots[h].key && map->slots[h].key != key) h = (h + 1) & map->mask;
    return h;
}

static uint32_t map_get(const struct image_map *map, const void *key)
{
    if (!map->slots) return NOWHERE;
    size_t h = slot_of(map, key);
    return map->slots[h].key ? map->slots[h].value : NOWHERE;
}

static void map_set(struct image_map *map, const void *key, uint32_t value)
{
    if (!map->slots || (map->count + 1) * 2 > map->mask) {
        struct image_map old = *map;
        size_t size = old.slots ? 2 * (old.mask + 1) : 64;
        map->slots = arena_alloc_n(map->arena, size, sizeof *map->slots);
        map->mask = size - 1;
        for (size_t i = 0; old.slots && i <= old.mask; i++)
            if (old.slots[i].key) map->slots[slot_of(map, old.slots[i].key)] = old.slots[i];
    }
    size_t h = slot_of(map, key);
    if (!map->slots[h].key) map->count++;
    map->slots[h].key = key;
    map->slots[h].value = value;
}

/* ---- messages ---------------------------------------------------------------------------------- */

/* Gives `*why` a report at a place of a module; without one the text alone. */
__attribute__((format(printf, 5, 6))) static bool complain(char **why, const struct ptx_module *m,
                                                           uint32_t at, uint32_t length,
                                                           const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct buf b = {0};
    if (m) {
        struct arena *scratch = arena_new();
        struct diags d = {.arena = scratch, .source = m->source};
        diag_error(&d, at, length, "%s", text);
        diags_render(&d, &b);
        arena_free(scratch);
    } else {
        buf_printf(&b, "%s\n", text);
    }
    *why = b.data;
    return false;
}

/* A name for %.*s. */
static int shown(const struct ptx_name *n)
{
    return n->length < 200 ? (int)n->length : 200;
}

/* ---- what names mean --------------------------------------------------------------------------- */

/* NULL: no module defines it. */
static const struct ptx_var *resolve_var(const struct image *im, size_t *module,
                                         const struct ptx_var *v)
{
    if (v->linkage != PTX_LINK_EXTERN && v->linkage != PTX_LINK_WEAK &&
        v->linkage != PTX_LINK_COMMON)
        return v;
    const struct ptx_def *d = ptx_program_find(im->program, v->sym->name);
    if (d && d->var) {
        *module = d->module;
        return d->var;
    }
    return v->linkage == PTX_LINK_EXTERN ? NULL : v;
}

/* As ptx_program_reach does it. A function that nobody defines stands for itself. */
static struct ptx_func *resolve_func(const struct image *im, size_t *module, struct ptx_func *f)
{
    if (f->alias_of) f = f->alias_of;
    if (!f->is_defined || f->linkage == PTX_LINK_WEAK) {
        const struct ptx_def *d = ptx_program_find(im->program, f->sym->name);
        if (d && d->func) {
            *module = d->module;
            f = d->func->alias_of ? d->func->alias_of : d->func;
        }
    }
    return f->definition ? f->definition : f;
}

static bool is_opaque(const struct ptx_var *v)
{
    return ptx_types[v->sym->type].kind == PTX_OPAQUE || v->sym->space == PTX_SPACE_TEX;
}

static bool is_placed(const struct ptx_var *v)
{
    return v->sym->space == PTX_SPACE_GLOBAL || v->sym->space == PTX_SPACE_CONST ||
           v->sym->space == PTX_SPACE_TEX;
}

const struct image_var *image_var(const struct image *im, size_t module, const struct ptx_sym *sym)
{
    if (sym->kind != PTX_SYM_VAR || !is_placed(sym->var)) return NULL;
    const struct ptx_var *v = resolve_var(im, &module, sym->var);
    uint32_t i = v ? map_get(im->var_map, v) : NOWHERE;
    return i == NOWHERE ? NULL : &im->vars[i];
}

uint32_t image_func_number(const struct image *im, size_t module, const struct ptx_func *func)
{
    return map_get(im->func_map, resolve_func(im, &module, (struct ptx_func *)func));
}

struct ptx_place image_func_at(const struct image *im, uint64_t number)
{
    return number < im->func_count ? im->funcs[number] : (struct ptx_place){0, NULL};
}

uint64_t image_address(const struct image *im, size_t module, const struct ptx_sym *sym)
{
    if (sym->kind == PTX_SYM_FUNC) {
        uint32_t number = image_func_number(im, module, sym->func);
        return number == NOWHERE ? 0 : MEM_CODE + UINT64_C(16) * number;
    }
    const struct image_var *v = image_var(im, module, sym);
    return v ? v->address : 0;
}

static bool is_called(const struct ptx_name *n, const char *name, size_t length)
{
    return n->length == length && memcmp(n->text, name, length) == 0;
}

const struct image_var *image_var_find(const struct image *im, const char *name)
{
    size_t length = strlen(name);
    const struct image_var *own = NULL;
    for (size_t i = 0; i < im->var_count; i++) {
        const struct ptx_var *v = im->vars[i].var;
        if (!is_called(v->sym->name, name, length)) continue;
        if (v->linkage != PTX_LINK_NONE) return &im->vars[i];
        if (!own) own = &im->vars[i];
    }
    return own;
}

uint32_t image_kernel_find(const struct image *im, const char *name)
{
    size_t length = strlen(name);
    uint32_t own = NOWHERE;
    for (uint32_t i = 0; i < im->func_count; i++) {
        const struct ptx_func *f = im->funcs[i].func;
        if (!f->is_entry || !f->is_defined || !is_called(f->sym->name, name, length)) continue;
        if (f->linkage != PTX_LINK_NONE) return i;
        if (own == NOWHERE) own = i;
    }
    return own;
}

/* ---- loading ----------------------------------------------------------------------------------- */

/* Links, and fails with the reports that this adds. */
static bool link_modules(struct image *im, struct ptx_module *const *modules, size_t count,
                         char **why)
{
    struct before {
        size_t count;
        unsigned errors;
    } *before = arena_array(im->arena, struct before, count);
    for (size_t i = 0; i < count; i++)
        before[i] = (struct before){modules[i]->diags->count, modules[i]->diags->errors};
    im->program = ptx_link(im->arena, modules, count);
    struct buf b = {0};
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        struct diags *d = modules[i]->diags;
        if (d->errors == before[i].errors) continue;
        ok = false;
        struct diags added = {.arena = im->arena,
                              .source = d->source,
                              .list = d->list + before[i].count,
                              .count = d->count - before[i].count};
        diags_render(&added, &b);
    }
    if (!ok && !b.size) buf_puts(&b, "the modules do not fit together\n");
    *why = b.data;
    return ok;
}

static bool number_functions(struct image *im, char **why)
{
    size_t cap = 0;
    for (size_t i = 0; i < im->program->count; i++) {
        struct ptx_module *m = im->program->modules[i];
        for (size_t k = 0; k < m->func_count; k++) {
            size_t module = i;
            struct ptx_func *f = resolve_func(im, &module, m->funcs[k]);
            if (map_get(im->func_map, f) != NOWHERE) continue;
            if (im->func_count == (MEM_GLOBAL - MEM_CODE) / 16)
                return complain(why, m, f->sym->at, f->sym->name->length, "too many functions");
            im->funcs = arena_grow(im->arena, im->funcs, im->func_count, &cap, im->func_count + 1u,
                                   sizeof *im->funcs);
            map_set(im->func_map, f, im->func_count);
            im->funcs[im->func_count++] = (struct ptx_place){module, f};
        }
    }
    return true;
}

/* Of several .common variables the one with an initial value is meant, if there is one. As nvlink has
 * it, no other may be larger, and no two may have one. */
static bool choose_commons(struct image *im, char **why)
{
    for (size_t i = 0; i < im->program->count; i++) {
        struct ptx_module *m = im->program->modules[i];
        for (size_t k = 0; k < m->var_count; k++) {
            struct ptx_var *v = m->vars[k];
            const struct ptx_name *n = v->sym->name;
            if (v->linkage != PTX_LINK_COMMON || !v->init) continue;
            const struct ptx_def *found = ptx_program_find(im->program, n);
            if (!found || !found->var || found->var == v || found->var->linkage != PTX_LINK_COMMON)
                continue;
            struct ptx_def *d = &im->program->defs[found - im->program->defs];
            const char *other = im->program->modules[d->module]->source->name;
            if (d->var->init)
                return complain(why, m, v->sym->at, n->length,
                                "'%.*s' has an initial value in %s already", shown(n), n->text,
                                other);
            if (ptx_var_size(d->var) > ptx_var_size(v))
                return complain(why, m, v->sym->at, n->length,
                                "'%.*s' has an initial value, and is larger in %s", shown(n),
                                n->text, other);
            d->var = v;
            d->module = i;
        }
    }
    return true;
}

static uint64_t placed_size(const struct ptx_var *v)
{
    uint64_t size = ptx_var_size(v);
    if (is_opaque(v)) { /* a saturated size stays too large */
        uint64_t element = ptx_types[v->sym->type].bits / 8;
        size = size == UINT64_MAX ? size : size / element;
        if (__builtin_mul_overflow(size, (uint64_t)IMAGE_HANDLE, &size)) size = UINT64_MAX;
    }
    return size ? size : 1;
}

/* The last of im->vars is this one. */
static void add_variable(struct image *im, size_t module, const struct ptx_var *v)
{
    map_set(im->var_map, v, (uint32_t)im->var_count);
    im->vars = arena_grow(im->arena, im->vars, im->var_count, &im->var_cap, im->var_count + 1,
                          sizeof *im->vars);
    im->vars[im->var_count++] = (struct image_var){
        .var = v,
        .name = arena_copy(im->arena, v->sym->name->text, v->sym->name->length),
        .size = placed_size(v),
        .align = ptx_var_align(v),
        .module = (uint32_t)module};
}

static bool allocate(struct image *im, struct image_var *v, char **why)
{
    const struct ptx_sym *sym = v->var->sym;
    v->address = v->var->managed
                     ? mem_alloc_shared(im->mem, v->size, v->name, true)
                     : mem_alloc(im->mem, v->size, v->align, v->name,
                                 sym->space == PTX_SPACE_CONST || is_opaque(v->var), true);
    if (!v->address)
        return complain(why, im->program->modules[v->module], sym->at, sym->name->length,
                        "device memory is too small for %llu bytes of '%.*s': %llu are in use",
                        (unsigned long long)v->size, shown(sym->name), sym->name->text,
                        (unsigned long long)mem_used(im->mem));
    mem_mark_written(im->mem, v->address, v->size);
    return true;
}

/* ---- initial values ---------------------------------------------------------------------------- */

struct writer {
    const struct image *im;
    const struct image_var *v;
    uint8_t *to; /* v->size bytes */
    uint64_t
        stride[PTX_MAX_DIMS + 2]; /* bytes from one element of a dimension to the next; behind the
                                       * last dimension those of a vector's elements */
    char **why;
};

static void put_low(uint8_t *to, uint64_t width, uint64_t bits)
{
    for (uint64_t i = 0; i < width; i++) to[i] = (uint8_t)(i < 8 ? bits >> 8 * i : 0);
}

static uint64_t float_bits(const struct ptx_init *i, uint64_t width)
{
    if (i->literal == PTX_OPND_F32 || width != 4) return i->bits;
    double d;
    memcpy(&d, &i->bits, sizeof d);
    float f = (float)d;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static bool address_bits(const struct writer *w, const struct ptx_init *i, uint64_t width,
                         uint64_t *bits)
{
    const struct ptx_module *m = w->im->program->modules[w->v->module];
    const struct ptx_name *n = i->sym->name;
    uint64_t address = image_address(w->im, w->v->module, i->sym);
    if (!address && i->sym->kind == PTX_SYM_VAR && !is_placed(i->sym->var))
        return complain(w->why, m, i->at, 1, "'%.*s' is a .%s variable: its address is no constant",
                        shown(n), n->text, ptx_space_name((enum ptx_space)i->sym->space));
    if (!address)
        return complain(w->why, m, i->at, 1, "no module defines '%.*s'", shown(n), n->text);
    if (!i->mask && width < 8 && address >> 8 * width)
        return complain(w->why, m, i->at, 1, "the address of '%.*s', 0x%llx, does not fit .%s",
                        shown(n), n->text, (unsigned long long)address,
                        ptx_types[w->v->var->sym->type].name);
    *bits = address + (uint64_t)i->offset; /* wraps */
    if (i->mask) *bits = *bits >> (i->mask - 1) & 0xff;
    return true;
}

/* Writes a value for dimension `dim` at an offset. Nests as deep as dimensions. */
static bool write_init(const struct writer *w, const struct ptx_init *i, unsigned dim,
                       uint64_t offset)
{
    const struct ptx_var *v = w->v->var;
    uint64_t width = ptx_types[v->sym->type].bits / 8u, bits = 0;
    if (i->kind == PTX_INIT_FIELDS) return true;
    if (i->kind == PTX_INIT_LIST) {
        bool fits = dim <= v->dim_count;
        uint64_t left = fits ? (w->v->size - offset) / w->stride[dim] : 0;
        if (i->count > left)
            return complain(w->why, w->im->program->modules[w->v->module], i->at, 1,
                            "more than %llu values", (unsigned long long)left);
        for (size_t k = 0; k < i->count; k++)
            if (!write_init(w, &i->items[k], dim + 1, offset + k * w->stride[dim])) return false;
        return true;
    }
    if (is_opaque(v) || width > w->v->size - offset)
        return complain(w->why, w->im->program->modules[w->v->module], i->at, 1,
                        "'%.*s' cannot have this initial value", shown(v->sym->name),
                        v->sym->name->text);
    if (i->kind == PTX_INIT_SYM) {
        if (!address_bits(w, i, width, &bits)) return false;
    } else {
        bits = i->kind == PTX_INIT_FLOAT ? float_bits(i, width) : i->bits;
    }
    put_low(w->to + offset, width, bits);
    return true;
}

static bool initialise(const struct image *im, const struct image_var *v, char **why)
{
    if (!v->var->init) return true;
    struct writer w = {.im = im, .v = v, .to = mem_bytes(im->mem, v->address), .why = why};
    unsigned dim = v->var->dim_count;
    w.stride[dim] = is_opaque(v->var) ? IMAGE_HANDLE : ptx_types[v->var->sym->type].bits / 8u;
    uint64_t size = w.stride[dim] * v->var->sym->vec; /* all of them fit: v->size does */
    for (; dim > 0; dim--) {
        w.stride[dim - 1] = size;
        size *= v->var->dims[dim - 1];
    }
    return write_init(&w, v->var->init, 0, 0);
}

static bool place_variables(struct image *im, char **why)
{
    for (size_t i = 0; i < im->program->count; i++) {
        struct ptx_module *m = im->program->modules[i];
        for (size_t k = 0; k < m->var_count; k++) {
            size_t module = i;
            const struct ptx_var *v = is_placed(m->vars[k]) ? resolve_var(im, &module, m->vars[k])
                                                            : NULL;
            if (!v) continue;
            if (map_get(im->var_map, v) == NOWHERE) add_variable(im, module, v);
            struct image_var *placed = &im->vars[map_get(im->var_map, v)];
            uint32_t align = ptx_var_align(m->vars[k]);
            if (align > placed->align) placed->align = align;
        }
    }
    for (size_t i = 0; i < im->var_count; i++)
        if (!allocate(im, &im->vars[i], why)) return false;
    for (size_t i = 0; i < im->var_count; i++) /* which may be addresses of others */
        if (!initialise(im, &im->vars[i], why)) return false;
    return true;
}

bool image_place(struct image *im, size_t module, const struct ptx_var *v, char **why)
{
    if (!is_placed(v) || resolve_var(im, &module, v) != v || map_get(im->var_map, v) != NOWHERE)
        return true;
    add_variable(im, module, v);
    struct image_var *placed = &im->vars[im->var_count - 1];
    return allocate(im, placed, why) && initialise(im, placed, why);
}

const char *image_var_fields(const struct image_var *v, size_t element, size_t *length)
{
    const struct ptx_init *i = v->var->init;
    uint64_t below = v->size / IMAGE_HANDLE;
    if (!i || !is_opaque(v->var) || element >= below) return NULL;
    for (unsigned dim = 0; i->kind == PTX_INIT_LIST && dim < v->var->dim_count; dim++) {
        below /= v->var->dims[dim];
        size_t k = element / below;
        if (k >= i->count) return NULL;
        i = &i->items[k];
        element %= below;
    }
    if (i->kind != PTX_INIT_FIELDS || element) return NULL;
    *length = i->count;
    return i->text;
}

struct image *image_new(struct mem *mem, struct ptx_module *const *modules, size_t count,
                        char **why)
{
    struct arena *arena = arena_new();
    struct image *im = arena_alloc(arena, sizeof *im);
    im->arena = arena;
    im->mem = mem;
    im->shared_limit = MEM_MAX_SHARED;
    im->func_map = map_new(arena);
    im->var_map = map_new(arena);
    *why = NULL;
    if (link_modules(im, modules, count, why) && number_functions(im, why) &&
        choose_commons(im, why) && place_variables(im, why))
        return im;
    image_free(im);
    return NULL;
}

void image_free(struct image *im)
{
    if (!im) return;
    for (size_t i = 0; i < im->var_count; i++)
        if (im->vars[i].address) mem_release(im->mem, im->vars[i].address);
    arena_free(im->arena);
}

/* ---- shared memory of a kernel ----------------------------------------------------------------- */

struct shared_entry {
    const struct ptx_var *var; /* the definition; of dynamic memory the declaration */
    size_t module;
    bool dynamic;
};

struct collector {
    const struct image *im;
    struct arena *arena;
    struct image_map *seen;
    struct shared_entry *list;
    size_t count, cap;
};

static void collect(struct collector *c, size_t module, const struct ptx_opnd *o)
{
    switch ((enum ptx_opnd_kind)o->kind) {
    case PTX_OPND_SYM: {
        if (o->sym->kind != PTX_SYM_VAR || o->sym->space != PTX_SPACE_SHARED) break;
        const struct ptx_var *v = resolve_var(c->im, &module, o->sym->var);
        bool dynamic = !v;
        if (dynamic) v = o->sym->var;
        if (map_get(c->seen, v) != NOWHERE) break;
        map_set(c->seen, v, 0);
        c->list = arena_grow(c->arena, c->list, c->count, &c->cap, c->count + 1, sizeof *c->list);
        c->list[c->count++] = (struct shared_entry){v, module, dynamic};
        break;
    }
    case PTX_OPND_ADDR: collect(c, module, &o->elem[0]); break;
    case PTX_OPND_BRACKET:
    case PTX_OPND_VEC:
    case PTX_OPND_LIST:
    case PTX_OPND_PAIR:
        for (uint32_t i = 0; i < o->count; i++) collect(c, module, &o->elem[i]);
        break;
    default: break;
    }
}

/* Module variables before those of bodies, then by module and place. Variables of one range have one
 * place: a0, a1 ... a10 are ordered by their names. */
static int by_declaration(const void *x, const void *y)
{
    const struct shared_entry *a = x, *b = y;
    const struct ptx_sym *s = a->var->sym, *t = b->var->sym;
    if (!s->scope != !t->scope) return s->scope ? 1 : -1;
    if (a->module != b->module) return a->module < b->module ? -1 : 1;
    if (s->at != t->at) return s->at < t->at ? -1 : 1;
    if (s->name->length != t->name->length) return s->name->length < t->name->length ? -1 : 1;
    return memcmp(s->name->text, t->name->text, s->name->length);
}

static uint64_t align_up(uint64_t v, uint64_t align)
{
    return (v + align - 1) & ~(align - 1);
}

struct image_shared *image_shared_new(const struct image *im, struct arena *arena,
                                      const struct ptx_reach *reach, char **why)
{
    struct collector c = {.im = im, .arena = arena, .seen = map_new(arena)};
    for (size_t i = 0; i < reach->count; i++) {
        const struct ptx_body *b = reach->funcs[i].func->body;
        for (size_t k = 0; b && k < b->count; k++)
            for (unsigned n = 0; b->stmts[k].kind == PTX_STMT_INST && n < b->stmts[k].inst->count;
                 n++)
                collect(&c, reach->funcs[i].module, &b->stmts[k].inst->opnds[n]);
    }
    if (c.count) qsort(c.list, c.count, sizeof *c.list, by_declaration);

    struct image_shared *s = arena_alloc(arena, sizeof *s);
    s->vars = arena_array(arena, struct image_shared_var, c.count);
    s->count = c.count;
    s->image = im;
    s->map = c.seen;
    const uint32_t limit = im->shared_limit;
    uint64_t size = 0, align = 16;
    for (size_t i = 0; i < c.count; i++) {
        struct image_shared_var *v = &s->vars[i];
        *v = (struct image_shared_var){.var = c.list[i].var, .align = ptx_var_align(c.list[i].var)};
        map_set(s->map, v->var, (uint32_t)i);
        if (c.list[i].dynamic) {
            s->has_dynamic = true;
            if (v->align > align) align = v->align;
            continue;
        }
        v->size = ptx_var_size(v->var);
        size = align_up(size, v->align);
        v->offset = (uint32_t)size;
        if (size > limit || v->size > limit - size) {
            const struct ptx_sym *sym = v->var->sym;
            complain(why, im->program->modules[c.list[i].module], sym->at, sym->name->length,
                     "shared memory is too small for %llu bytes of '%.*s': %llu of %u are in use",
                     (unsigned long long)v->size, shown(sym->name), sym->name->text,
                     (unsigned long long)size, limit);
            return NULL;
        }
        size += v->size;
    }
    s->size = (uint32_t)size;
    s->dynamic = (uint32_t)align_up(size, align);
    if (s->dynamic > limit) {
        complain(why, NULL, 0, 0,
                 "shared memory of %u bytes has no place aligned to %llu for dynamic variables",
                 limit, (unsigned long long)align);
        return NULL;
    }
    for (size_t i = 0; i < c.count; i++)
        if (c.list[i].dynamic) s->vars[i].offset = s->dynamic;
    return s;
}

uint32_t image_shared_offset(const struct image_shared *s, size_t module, const struct ptx_sym *sym)
{
    if (sym->kind != PTX_SYM_VAR || sym->space != PTX_SPACE_SHARED) return NOWHERE;
    const struct ptx_var *v = resolve_var(s->image, &module, sym->var);
    uint32_t i = map_get(s->map, v ? v : sym->var);
    return i == NOWHERE ? NOWHERE : s->vars[i].offset;
}

/* ---- parameters -------------------------------------------------------------------------------- */

bool image_params_layout(struct arena *arena, struct ptx_var *const *vars, size_t count,
                         uint32_t limit, struct image_params *out, char **why)
{
    *out = (struct image_params){.list = arena_array(arena, struct image_param, count),
                                 .count = (uint32_t)count,
                                 .align = 1};
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ptx_var *v = vars[i];
        const struct ptx_type_info *type = &ptx_types[v->sym->type];
        uint64_t natural = type->kind == PTX_PRED ? 4 : type->bits / 8u * v->sym->vec;
        uint64_t size = type->kind == PTX_PRED ? 4 : ptx_var_size(v);
        uint64_t align = v->align > natural ? v->align : natural ? natural : 1;
        end = align_up(end, align);
        out->list[i] = (struct image_param){v, (uint32_t)end, (uint32_t)size, (uint32_t)align};
        if (end > limit || size > limit - end)
            return complain(why, NULL, 0, 0,
                            "parameter '%.*s' ends behind byte %u, which is the limit",
                            shown(v->sym->name), v->sym->name->text, limit);
        end += size;
        if (align > out->align) out->align = (uint32_t)align;
    }
    out->size = (uint32_t)end;
    return true;
}
