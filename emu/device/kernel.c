/* Images, their kernels and variables. A kernel's code is lowered when a launch first needs it. */
#define _GNU_SOURCE /* strdup */
#include "emu/device/device.h"
#include "emu/gpu.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/flow.h"
#include "ptx/link.h"

#include <stdlib.h>
#include <string.h>

struct emu_image *emu_load(struct emu *e, struct ptx_module *const *modules, size_t count,
                           char **why)
{
    struct image *im = image_new(e->mem, modules, count, why);
    if (!im) return NULL;
    im->shared_limit = emu_gpu_shared_limit(e->gpu);
    struct arena *a = arena_new();
    struct emu_image *image = arena_alloc(a, sizeof *image);
    image->arena = a;
    image->emu = e;
    image->image = im;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) n += modules[i]->func_count;
    image->kernels = arena_array(a, struct emu_kernel, n);
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < modules[i]->func_count; f++) {
            struct ptx_func *func = modules[i]->funcs[f];
            if (func->definition) func = func->definition;
            if (!func->is_entry || !func->is_defined) continue;
            struct emu_kernel *k = &image->kernels[image->kernel_count];
            *k = (struct emu_kernel){.image = image, .func = func, .module = (u32)i};
            k->name = arena_copy(a, func->sym->name->text, func->sym->name->length);
            /* Before PTX 1.4 they stand in the body. */
            if (modules[i]->version < 14) ptx_func_parse(modules[i], func);
            size_t params;
            struct ptx_var **vars = lower_kernel_params(a, func, &params);
            if (!image_params_layout(a, vars, params, MEM_MAX_PARAMS, &k->params, &k->failed) &&
                !k->failed)
                k->failed = strdup("its parameters cannot be laid out");
            image->kernel_count++;
        }
    return image;
}

void emu_unload(struct emu_image *im)
{
    if (!im) return;
    for (size_t i = 0; i < im->kernel_count; i++) free(im->kernels[i].failed);
    image_free(im->image);
    arena_free(im->arena);
}

struct emu_kernel *emu_kernel_find(struct emu_image *im, const char *name)
{
    for (size_t i = 0; i < im->kernel_count; i++)
        if (strcmp(im->kernels[i].name, name) == 0) return &im->kernels[i];
    return NULL;
}

size_t emu_kernel_count(const struct emu_image *im)
{
    return im->kernel_count;
}

struct emu_kernel *emu_kernel_at(struct emu_image *im, size_t i)
{
    return &im->kernels[i];
}

const char *emu_kernel_name(const struct emu_kernel *k)
{
    return k->name;
}

size_t emu_param_count(const struct emu_kernel *k)
{
    return k->params.count;
}

struct emu_param emu_param_at(const struct emu_kernel *k, size_t i)
{
    const struct image_param *p = &k->params.list[i];
    struct arena *a = k->image->arena;
    return (struct emu_param){arena_copy(a, p->var->sym->name->text, p->var->sym->name->length),
                              p->offset, p->size, p->align};
}

uint32_t emu_params_size(const struct emu_kernel *k)
{
    return k->params.size;
}

/* CUDA guarantees the progress of every lane to what is compiled for, and runs on, sm_70 and later. */
static enum emu_divergence divergence_of(const struct emu_kernel *k)
{
    enum { VOLTA = 70 };
    const struct emu *e = k->image->emu;
    const struct ptx_module *m = k->image->image->program->modules[k->module];
    const bool progress = m->target.sm >= VOLTA && e->gpu->capability >= VOLTA;
    return e->config.divergence == EMU_YIELD && !progress ? EMU_STACK : e->config.divergence;
}

struct emu_program *emu_kernel_program(struct emu_kernel *k, unsigned watched)
{
    if (k->program[watched] || k->failed) return k->program[watched];
    struct emu_image *im = k->image;
    struct ptx_reach reach = ptx_program_reach(im->image->program, k->module, k->func);
    if (!reach.ok) {
        struct ptx_module *m = im->image->program->modules[k->module];
        struct buf b = {0};
        diags_render(m->diags, &b);
        k->failed = b.size ? strdup(b.data) : strdup("a function that it calls is not defined");
        buf_free(&b);
        return NULL;
    }
    return k->program[watched] = lower_program(im->arena, im->image, &reach, im->emu->handlers.ops,
                                               watched, divergence_of(k), &k->failed);
}

enum emu_step emu_launch_step(const struct emu_launch *l, bool its)
{
    if (!l->order || !l->order->pick) return EMU_STEP_BLOCK;
    if (its && l->order->step == EMU_STEP_BLOCK) return EMU_STEP_INSTRUCTION;
    return (enum emu_step)l->order->step;
}

/* Whether it accesses memory as the first `count` of these do, if at all. */
static bool accesses_like(const struct ptx_inst *i, size_t count)
{
    static const char *const plain[] = {"ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix"};
    if (!i->op || !(i->op->form->effects & (PTX_READS | PTX_WRITES | PTX_ATOMIC))) return true;
    const char *name = i->op->form->name;
    for (size_t k = 0; k < count; k++)
        if (strcmp(name, plain[k]) == 0) return true;
    return false;
}
enum { PLAIN = 7, MARKED = 5 };

/* Whether it is an atomic or a reduction of the CTA's scope, perhaps of global memory. */
static bool is_narrow_atomic(const struct ptx_inst *i)
{
    return i->op && i->op->form->effects & PTX_ATOMIC && ptx_op_has(i->op, "cta") &&
           !ptx_op_has(i->op, "shared");
}

bool emu_kernel_reads_clock(const struct emu_program *p)
{
    for (u32 c = 0; c < p->code_count; c++) {
        const struct emu_code *code = p->codes[c];
        for (u32 i = 0; i < code->uop_count; i++)
            if (code->uops[i].id == UOP_special) return true;
        for (u32 i = 0; i < code->fill_count; i++)
            if (code->fills[i].kind == FILL_SPECIAL && code->fills[i].bits == SPECIAL_SMID)
                return true;
    }
    return false;
}

bool emu_kernel_timeless(const struct emu_program *p)
{
    return !p->timed && !emu_kernel_reads_clock(p);
}

/* One that is there; NULL: none is. */
static struct emu_program *lowered(const struct emu_kernel *k)
{
    for (unsigned w = 0; w < LOWER_WAYS; w++)
        if (k->program[w]) return k->program[w];
    return NULL;
}

bool emu_kernel_plain(struct emu_kernel *k)
{
    if (k->looked) return k->plain;
    const struct ptx_reach r = ptx_program_reach(k->image->image->program, k->module, k->func);
    k->looked = true;
    k->plain = k->may_be_conflict_free = r.ok && !r.runtime;
    for (size_t f = 0; r.ok && f < r.count; f++) {
        const struct ptx_body *b = r.funcs[f].func->body;
        for (size_t s = 0; s < b->count; s++)
            if (b->stmts[s].kind == PTX_STMT_INST) {
                k->plain &= accesses_like(b->stmts[s].inst, PLAIN);
                k->may_be_conflict_free &= accesses_like(b->stmts[s].inst, MARKED);
                k->has_narrow_atomics |= is_narrow_atomic(b->stmts[s].inst);
            }
    }
    const struct emu_program *const p = lowered(k);
    k->may_be_conflict_free &= !p || emu_kernel_timeless(p);
    return k->plain;
}

unsigned emu_kernel_lowering(const struct emu_launch *l, unsigned wants, bool its)
{
    const struct emu_order *o = l->order;
    unsigned w = 0;
    if (o) w |= LOWER_WATCHED;
    if (wants & EMU_WANT_LOADS) w |= LOWER_LOADS;
    if (wants & EMU_WANT_STORES) w |= LOWER_STORES;
    if (wants & EMU_WANT_SHARED) w |= LOWER_SHARED;
    if (wants & EMU_WANT_LATE_LOADS) w |= LOWER_LATE;
    if (o && emu_launch_step(l, its) == EMU_STEP_INSTRUCTION) w |= LOWER_ISSUES;
    for (size_t i = 0; i < l->observer_count; i++) {
        w |= LOWER_WATCHED | LOWER_LOADS | LOWER_STORES | LOWER_NEAR;
        if (l->observers[i]->issue) w |= LOWER_ISSUES;
    }
    return w;
}

/* One that is there, or the one that launches will want: what it observes does not matter. */
static struct emu_program *any_program_of(struct emu_kernel *k)
{
    const struct emu_config *c = &k->image->emu->config;
    struct emu_program *const p = lowered(k);
    return p ? p
             : emu_kernel_program(k, emu_kernel_lowering(&(struct emu_launch){.order = c->order},
                                                         c->order ? c->order->wants : 0,
                                                         c->divergence == EMU_ITS));
}

static const struct ptx_directive *directive(const struct emu_kernel *k, const char *word)
{
    for (const struct ptx_directive *d = k->func->directives; d; d = d->next)
        if (strcmp(d->word, word) == 0) return d;
    return NULL;
}

static u64 product(const struct ptx_directive *d)
{
    u64 n = 1;
    for (u32 i = 0; i < d->count && i < 3; i++) n *= d->value[i];
    return n;
}

bool emu_kernel_info(struct emu_kernel *k, struct emu_kernel_info *out)
{
    const struct ptx_module *m = k->image->image->program->modules[k->module];
    *out = (struct emu_kernel_info){
        .max_threads = 1024, .ptx_version = m->version, .target = m->target.sm};
    const struct emu_program *p = any_program_of(k);
    if (!p) return false;
    const struct ptx_directive *d = directive(k, "reqntid");
    for (u32 i = 0; d && i < 3; i++) out->required_block[i] = i < d->count ? (u32)d->value[i] : 1;
    if (!d) d = directive(k, "maxntid");
    if (d && product(d) < 1024) out->max_threads = (u32)product(d);
    out->registers_bounded = d || directive(k, "maxnreg");
    if ((d = directive(k, "reqnctapercluster")))
        for (u32 i = 0; i < 3; i++) out->cluster[i] = i < d->count ? (u32)d->value[i] : 1;
    out->shared = p->shared_static;
    out->local = p->codes[0]->frame.local;
    if (!k->registers) k->registers = ptx_registers_of(k->func).registers;
    out->registers = k->registers;
    for (size_t i = 0; i < k->image->image->var_count; i++)
        if (k->image->image->vars[i].var->sym->space == PTX_SPACE_CONST)
            out->constant += (u32)k->image->image->vars[i].size;
    return true;
}

bool emu_kernel_lacks_registers(struct emu_kernel *k, uint32_t threads)
{
    struct emu_kernel_info info;
    const struct emu_gpu *g = k->image->emu->gpu;
    if (!emu_kernel_info(k, &info)) return false;
    /* What a thread has at most (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"); the
     * compiler spills the others. */
    const u32 most = g->capability < 20    ? 124
                     : g->capability <= 30 ? 63
                                           : 255,
              few = info.registers - info.registers / 8, own = few < most ? few : most;
    const struct emu_occupancy o = emu_occupancy(g, threads, own, 0);
    return !info.registers_bounded && !o.ctas && o.limit == EMU_LIMIT_REGISTERS;
}

size_t emu_variable_count(const struct emu_image *im)
{
    return im->image->var_count;
}

struct emu_variable emu_variable_at(const struct emu_image *im, size_t i)
{
    const struct image_var *v = &im->image->vars[i];
    return (struct emu_variable){v->name, v->address, v->size, v->var->managed};
}

uint64_t emu_variable(struct emu_image *im, const char *name, uint64_t *size)
{
    const struct image_var *v = image_var_find(im->image, name);
    if (v && size) *size = v->size;
    return v ? v->address : 0;
}
