/* A device: memory, images, kernels, and the checks before a launch. */
#define _GNU_SOURCE
#include "emu/emu.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "emu/apart.h"
#include "emu/cache.h"
#include "emu/check.h"
#include "emu/count.h"
#include "emu/grids.h"
#include "emu/image.h"
#include "emu/launch.h"
#include "emu/lower.h"
#include "emu/report.h"
#include "emu/rooms.h"
#include "emu/suppress.h"
#include "emu/trace.h"
#include "ptx/flow.h"
#include "ptx/link.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct handlers { /* compiled for one host instruction set */
    emu_op *const *ops;
    const struct emu_counting *counting;
};

struct emu {
    struct emu_config config;
    struct mem *mem;
    struct rooms *rooms;
    struct handlers handlers;
    const struct emu_gpu *gpu;
    struct cache **l1;          /* by SM */
    struct cache *l2;           /* NULL: not used yet */
    struct arena *launch_arena; /* of the last launch */
    struct trace_room traces;   /* likewise; without rooms: it was never asked for */
    struct arena *leak_arena;   /* of the last emu_leaks */
    struct emu_report report;
    u64 grids, heap_used;
    u32 sms;
    struct suppressions *suppressions; /* NULL: nothing is looked for */
};

struct emu_kernel {
    struct emu_image *image;
    struct ptx_func *func;
    u32 module;
    const char *name;
    struct image_params params;
    struct emu_program *program[LOWER_WAYS]; /* NULL: not lowered yet */
    char *failed;                            /* why it cannot be */
    u32 registers;
    bool ran;           /* a launch of it has */
    bool looked, plain; /* plain: emu_prospect's, once it has been looked at */
    bool apart;         /* its warps may be apart (apart.h), */
    u32 met[2];         /* in so many launches they were not; and its threads */
    u8 *marked;         /* by site of the program that is lowered with LOWER_APART */
};

struct emu_image {
    struct emu *emu;
    struct arena *arena;
    struct image *image;
    struct emu_kernel *kernels;
    size_t kernel_count;
};

enum { DEFAULT_HEAP = 8 << 20 };
#define DEFAULT_MEMORY ((u64)8 << 30)

static struct handlers choose_handlers(enum emu_isa isa)
{
#if defined __x86_64__
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi2");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512cd");
    if (avx512 && (isa == EMU_ISA_BEST || isa == EMU_ISA_AVX512))
        return (struct handlers){emu_ops_avx512, &emu_counting_avx512};
    if (avx2 && isa != EMU_ISA_PORTABLE) return (struct handlers){emu_ops_avx2, &emu_counting_avx2};
#else
    (void)isa;
#endif
    return (struct handlers){emu_ops_portable, &emu_counting_portable};
}

struct emu *emu_new(const struct emu_config *config)
{
    struct emu *e = calloc(1, sizeof *e);
    if (!e) abort();
    if (config) e->config = *config;
    struct emu_config *c = &e->config;
    if (c->trace) c->count = c->caches = true;
    if (!c->memory) c->memory = DEFAULT_MEMORY;
    if (!c->threads) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        c->threads = n > 0 ? (unsigned)n : 1;
    }
    if (c->group_warps != 1 && c->group_warps != 2) c->group_warps = GROUP;
    e->gpu = c->gpu ? c->gpu : emu_gpu_find(NULL);
    e->sms = c->sms ? c->sms : e->gpu->sms;
    if (c->checks) e->suppressions = suppressions_read(c->suppress, &(char *){NULL});
    e->mem = mem_new(c->memory);
    e->rooms = c->rooms ? c->rooms : rooms_new();
    e->handlers = choose_handlers(c->isa);
    if (c->checks & EMU_CHECK_INIT) mem_track(e->mem);
    /* Also for races: what one thread frees and another is given is not raced for. */
    if (c->checks & (EMU_CHECK_MEMORY | EMU_CHECK_RACE)) mem_keep_apart(e->mem);
    return e;
}

static void drop_launch(struct emu *e)
{
    if (e->traces.rooms) trace_room_leave(&e->traces);
    arena_free(e->launch_arena);
}

void emu_free(struct emu *e)
{
    if (!e) return;
    drop_launch(e);
    for (u32 sm = 0; e->l1 && sm < e->sms; sm++) cache_free(e->l1[sm]);
    free(e->l1);
    cache_free(e->l2);
    arena_free(e->leak_arena);
    suppressions_free(e->suppressions);
    mem_free(e->mem);
    if (!e->config.rooms) rooms_free(e->rooms);
    free(e);
}

/* ---- memory --------------------------------------------------------------------------------------- */

uint64_t emu_alloc(struct emu *e, uint64_t size, const char *name)
{
    return mem_alloc(e->mem, size, MEM_ALIGN, name ? name : "allocation", false, false);
}

bool emu_unify(struct emu *e)
{
    return mem_unify(e->mem);
}

bool emu_in_range(const struct emu *e, uint64_t address)
{
    return address >= MEM_GLOBAL && address - MEM_GLOBAL < mem_space(e->mem);
}

uint64_t emu_alloc_shared(struct emu *e, uint64_t size, const char *name)
{
    return mem_alloc_shared(e->mem, size, name, false);
}

uint64_t emu_adopt(struct emu *e, void *host, uint64_t size, const char *name)
{
    return mem_adopt(e->mem, host, size, name);
}

bool emu_release(struct emu *e, uint64_t address)
{
    return emu_release_by(e, address, NULL);
}

bool emu_release_by(struct emu *e, uint64_t address, const char *by)
{
    const struct mem_block *b = mem_find(e->mem, address, 1);
    return b && b->address == address && !b->variable && !b->at &&
           mem_release_by(e->mem, address, by);
}

void emu_describe(const struct emu *e, uint64_t address, char *out, size_t size)
{
    struct buf b = {0};
    mem_describe(e->mem, address, &b);
    snprintf(out, size, "%s", b.data ? b.data : "");
    buf_free(&b);
}

void *emu_bytes(struct emu *e, uint64_t address, uint64_t size)
{
    const struct mem_block *b = mem_find(e->mem, address, size ? size : 1);
    return b ? b->host + (address - b->address) : NULL;
}

/* What the host copies in goes through L2 and stays there. */
static void fill_l2(struct emu *e, u64 to, u64 size)
{
    if (!e->config.trace || to < MEM_GLOBAL) return;
    if (!e->l2) e->l2 = cache_new(e->gpu->l2, e->gpu->l2_ways);
    const u32 first = emu_sector_of(to), last = emu_sector_of(to + size - 1);
    e->handlers.counting->fill(e->l2, first, last);
}

uint64_t emu_reserve(struct emu *e, uint64_t size, uint64_t align, uint64_t at, const char *name)
{
    return mem_reserve(e->mem, size, align, at, name);
}

bool emu_unreserve(struct emu *e, uint64_t address)
{
    return mem_release(e->mem, address);
}

bool emu_map(struct emu *e, uint64_t address, void *host, uint64_t size, bool read_only,
             const char *name)
{
    return mem_map(e->mem, address, host, size, read_only, name);
}

bool emu_unmap(struct emu *e, uint64_t address, const char *by)
{
    return mem_unmap(e->mem, address, by);
}

/* The bytes at an address, and how many of `size` lie side by side; NULL: none. */
static u8 *part_at(const struct emu *e, u64 address, u64 size, u64 *n)
{
    const struct mem_block *b = mem_find(e->mem, address, 1);
    *n = 0;
    if (!b) return NULL;
    const u64 rest = b->size - (address - b->address);
    *n = rest < size ? rest : size;
    return b->host + (address - b->address);
}

bool emu_has(const struct emu *e, uint64_t address, uint64_t size)
{
    for (u64 n = 0; size; address += n, size -= n)
        if (!part_at(e, address, size, &n)) return false;
    return true;
}

/* And a copy may write them. */
static bool may_write(const struct emu *e, u64 address, u64 size)
{
    for (u64 n = 0; size; address += n, size -= n)
        if (!part_at(e, address, size, &n) || mem_find(e->mem, address, 1)->read_only) return false;
    return true;
}

bool emu_copy_in(struct emu *e, uint64_t to, const void *from, uint64_t size)
{
    if (!may_write(e, to, size)) return false;
    mem_mark_written(e->mem, to, size);
    for (u64 done = 0, n = 0; done < size; done += n) {
        u8 *p = part_at(e, to + done, size - done, &n);
        memcpy(p, (const u8 *)from + done, n);
    }
    if (size) fill_l2(e, to, size);
    return true;
}

bool emu_copy_out(struct emu *e, void *to, uint64_t from, uint64_t size)
{
    if (!emu_has(e, from, size)) return false;
    for (u64 done = 0, n = 0; done < size; done += n) {
        const u8 *p = part_at(e, from + done, size - done, &n);
        memcpy((u8 *)to + done, p, n);
    }
    return true;
}

bool emu_copy(struct emu *e, uint64_t to, uint64_t from, uint64_t size)
{
    if (!may_write(e, to, size) || !emu_has(e, from, size)) return false;
    mem_mark_written(e->mem, to, size);
    for (u64 done = 0, n = 0, m = 0; done < size; done += n) {
        u8 *p = part_at(e, to + done, size - done, &m);
        const u8 *q = part_at(e, from + done, m, &n);
        memmove(p, q, n);
    }
    return true;
}

bool emu_fill(struct emu *e, uint64_t to, const void *pattern, unsigned width, uint64_t count)
{
    if (!count || !width) return true;
    if (count > UINT64_MAX / width || !may_write(e, to, count * width)) return false;
    mem_mark_written(e->mem, to, count * width);
    for (u64 done = 0, n = 0; done < count * width;
         done += n) { /* parts are multiples of any width */
        u8 *p = part_at(e, to + done, count * width - done, &n);
        if (width == 1) memset(p, *(const u8 *)pattern, n);
        else
            for (u64 i = 0; i < n; i += width) memcpy(p + i, pattern, width);
    }
    return true;
}

static struct emu_allocation allocation(const struct mem_block *b)
{
    return (struct emu_allocation){b->address,  b->size,      b->name,
                                   b->constant, b->read_only, b->live};
}

bool emu_allocation_near(const struct emu *e, uint64_t address, struct emu_allocation *out)
{
    const struct mem_block *b = mem_near(e->mem, address);
    if (b) *out = allocation(b);
    return b != NULL;
}

size_t emu_allocation_count(const struct emu *e)
{
    return mem_count(e->mem);
}

struct emu_allocation emu_allocation_at(const struct emu *e, size_t i)
{
    return allocation(mem_at(e->mem, i));
}

struct mem *emu_memory(struct emu *e)
{
    return e->mem;
}

bool emu_heap_limit(struct emu *e, uint64_t bytes)
{
    if (bytes > mem_size(e->mem)) return false;
    e->config.heap = bytes ? bytes : 1; /* 0 would be the default */
    return true;
}

uint64_t emu_memory_used(const struct emu *e)
{
    return mem_used(e->mem);
}

/* Blocks that one place allocated are one finding. */
static bool same_place(const struct mem_block *a, const struct mem_block *b)
{
    return a->at && b->at ? strcmp(a->at, b->at) == 0
                          : !a->at && !b->at && strcmp(a->name, b->name) == 0;
}

const struct emu_finding *emu_leaks(struct emu *e, bool guest_only, size_t *count)
{
    arena_free(e->leak_arena);
    struct arena *a = e->leak_arena = arena_new();
    size_t blocks = mem_count(e->mem), n = 0, cap = 0;
    struct leak {
        const struct mem_block *first;
        u64 count, bytes;
    } *leaks = NULL;
    for (size_t i = 0, k; i < blocks; i++) {
        const struct mem_block *b = mem_at(e->mem, i);
        if (b->variable || b->constant || b->kind == MEM_RESERVED || (guest_only && !b->at))
            continue;
        for (k = 0; k < n && !same_place(leaks[k].first, b); k++) {
        }
        if (k == n) {
            leaks = arena_grow(a, leaks, n, &cap, n + 1, sizeof *leaks);
            leaks[n++] = (struct leak){.first = b};
        }
        leaks[k].count++;
        leaks[k].bytes += b->size;
    }
    struct emu_finding *list = arena_array(a, struct emu_finding, n + 1);
    for (size_t k = 0; k < n; k++) {
        const struct mem_block *b = leaks[k].first;
        struct buf text = {0};
        buf_printf(&text, "leak: '%s', %llu bytes at 0x%llx, was not released\n", b->name,
                   (unsigned long long)b->size, (unsigned long long)b->address);
        if (b->at) buf_printf(&text, "    allocated at %s by %s\n", b->at, b->by ? b->by : "?");
        if (leaks[k].count > 1)
            buf_printf(&text, "    ... and %llu more from there, %llu bytes in all\n",
                       (unsigned long long)leaks[k].count - 1, (unsigned long long)leaks[k].bytes);
        list[k] = (struct emu_finding){
            .kind = EMU_LEAK, .count = leaks[k].count, .text = arena_copy(a, text.data, text.size)};
        buf_free(&text);
    }
    *count = n;
    return list;
}

uint64_t emu_digest(struct emu *e)
{
    return mem_digest(e->mem);
}

/* ---- images --------------------------------------------------------------------------------------- */

struct emu_image *emu_load(struct emu *e, struct ptx_module *const *modules, size_t count,
                           char **why)
{
    struct image *im = image_new(e->mem, modules, count, why);
    if (!im) return NULL;
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

/* The kernel's code, made when it is first needed; NULL: k->failed says why. */
static struct emu_program *program_of(struct emu_kernel *k, unsigned watched)
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
                                               watched, im->emu->config.divergence == EMU_ITS,
                                               &k->failed);
}

/* What bursts are counted in. Lanes that wait become contexts of their own where a turn ends (its.c): not after
 * every burst. */
static enum emu_step step_of(const struct emu_launch *l, bool its)
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

/* emu_prospect.plain */
static bool is_plain(struct emu_kernel *k)
{
    if (k->looked) return k->plain;
    const struct ptx_reach r = ptx_program_reach(k->image->image->program, k->module, k->func);
    k->looked = true;
    k->plain = k->apart = r.ok && !r.runtime;
    for (size_t f = 0; k->plain && f < r.count; f++) {
        const struct ptx_body *b = r.funcs[f].func->body;
        for (size_t s = 0; s < b->count; s++)
            if (b->stmts[s].kind == PTX_STMT_INST) {
                k->plain &= accesses_like(b->stmts[s].inst, PLAIN);
                k->apart &= accesses_like(b->stmts[s].inst, MARKED);
            }
    }
    return k->plain;
}

/* What the launch's order wants to hear of. */
static unsigned wants_of(const struct emu_launch *l, struct emu_kernel *k)
{
    const struct emu_order *o = l->order;
    if (!o || !o->wants_of) return o ? o->wants : 0;
    const struct emu_prospect next = {.counted = k->image->emu->config.count,
                                      .watched = l->observer_count || o->shown,
                                      .plain = is_plain(k)};
    return o->wants_of(o->self, &next);
}

/* How a launch's kernels are lowered: what its order and observers want to be told (enum lower_watch). */
static unsigned told_of(const struct emu_launch *l, unsigned wants, bool its)
{
    const struct emu_order *o = l->order;
    unsigned w = 0;
    if (o) w |= LOWER_WATCHED;
    if (wants & EMU_WANT_LOADS) w |= LOWER_LOADS;
    if (wants & EMU_WANT_STORES) w |= LOWER_STORES;
    if (o && step_of(l, its) == EMU_STEP_INSTRUCTION) w |= LOWER_ISSUES;
    for (size_t i = 0; i < l->observer_count; i++) {
        w |= LOWER_WATCHED | LOWER_LOADS | LOWER_STORES | LOWER_NEAR;
        if (l->observers[i]->issue) w |= LOWER_ISSUES;
    }
    return w;
}

/* One that is there, or the one that launches will want: what it tells of does not matter. */
static struct emu_program *any_program_of(struct emu_kernel *k)
{
    const struct emu_config *c = &k->image->emu->config;
    for (unsigned w = 0; w < LOWER_WAYS; w++)
        if (k->program[w]) return k->program[w];
    return program_of(k, told_of(&(struct emu_launch){.order = c->order},
                                 c->order ? c->order->wants : 0, c->divergence == EMU_ITS));
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

/* ---- launching ------------------------------------------------------------------------------------ */

static const struct emu_report *refuse(struct emu *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const struct emu_report *refuse(struct emu *e, const char *format, ...)
{
    char text[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    e->report.fault.kind = EMU_BAD_LAUNCH;
    e->report.fault.text = arena_printf(e->launch_arena, "%s: %s\n", emu_fault_name(EMU_BAD_LAUNCH),
                                        text);
    return &e->report;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What shared memory leaves of L1 on an SM that is as full as it can be. */
static struct caches *caches_new(struct emu *e, const struct emu_machine *m,
                                 const struct emu_occupancy *o, struct arena *a)
{
    struct caches *c = arena_alloc(a, sizeof *c);
    const u32 used = o->ctas * m->shared_size, left = e->gpu->l1 > used ? e->gpu->l1 - used : 0;
    if (!e->l1) e->l1 = calloc(e->sms, sizeof(struct cache *));
    if (!e->l1) abort();
    if (!e->l2) e->l2 = cache_new(e->gpu->l2, e->gpu->l2_ways);
    *c = (struct caches){.gpu = e->gpu,
                         .l1_bytes = e->gpu->unified ? left : e->gpu->l1,
                         .sms = m->sms,
                         .l1 = e->l1,
                         .l1_begun = arena_array(a, bool, m->sms),
                         .l2 = e->l2,
                         .sm = arena_array(a, struct cache_events, m->sms),
                         .site = arena_array(a, struct cache_events, m->program->site_count),
                         .site_count = m->program->site_count,
                         .carry_out = m->counting->carry_out};
    return c;
}

static const u32 most_grid[3] = {INT32_MAX, 65535, 65535}, most_block[3] = {1024, 1024, 64};

struct whole { /* a launch by the host, and all that its kernels launch */
    struct grids grids;
    struct check check;
    double deadline; /* 0: none */
    u64 warp_instructions, thread_instructions;
    const struct emu_counts **last_counts; /* where the next grid's go */
};

/* What a warp sees depends on nothing but memory: on no clock, and not on where its CTA is, nor when its atomics come. */
static bool is_timeless(const struct emu_program *p)
{
    for (u32 c = 0; c < p->code_count; c++) {
        const struct emu_code *code = p->codes[c];
        for (u32 i = 0; i < code->uop_count; i++)
            if (code->uops[i].id == UOP_special || code->uops[i].id == UOP_atom_watched)
                return false;
        for (u32 i = 0; i < code->fill_count; i++)
            if (code->fills[i].kind == FILL_SPECIAL && code->fills[i].bits == SPECIAL_SMID)
                return false;
    }
    return true;
}

enum { MOST_MET = 2, MOST_TRIES = 8 };

/* Whether its observers need not hear of a launch whose threads are apart; if so, who is told of bytes. */
static bool only_meetings(const struct emu_launch *l, const struct emu_observer **told)
{
    *told = NULL;
    for (size_t i = 0; i < l->observer_count; i++) {
        const struct emu_observer *o = l->observers[i];
        if (!o->meetings || (o->bytes && *told)) return false;
        if (o->bytes) *told = o;
    }
    return l->observer_count && !l->order;
}

/* Whether it is worth while to see if the launch's warps are apart, or its threads, as far as its kernel and the device
 * go. */
static bool may_be_apart(const struct emu *e, struct emu_kernel *k, const struct emu_launch *l,
                         unsigned wants)
{
    const struct emu_observer *told;
    const bool by_thread = only_meetings(l, &told);
    return (wants & EMU_WANT_MEETINGS || (by_thread && !e->config.count && is_plain(k))) &&
           k->apart && k->met[by_thread] < MOST_MET && e->config.divergence != EMU_ITS &&
           !(e->config.checks & (EMU_CHECK_INIT | EMU_CHECK_SYNC));
}

/* Whether the launch has been carried out without its order, because its warps are apart, or without its observers,
 * because its threads are. */
static bool run_apart(struct emu *e, struct emu_kernel *k, const struct emu_machine *m,
                      struct launch_counts *counts)
{
    const struct emu_observer *told;
    const bool by_thread = only_meetings(m->launch, &told);
    if (!may_be_apart(e, k, m->launch, m->wants) || m->cluster_size > 1 ||
        (u64)m->cta_count * m->warps_per_cta > UINT32_MAX / (4 * LANES))
        return false;
    struct emu_launch l = *m->launch;
    l.order = NULL;
    l.observer_count = 0;
    struct emu_machine n = *m;
    n.launch = &l;
    n.program = program_of(k, LOWER_APART);
    if (!n.program || (!k->marked && !is_timeless(n.program))) return k->apart = false;
    n.watched = n.issues = false;
    n.wants = 0;
    n.step = EMU_STEP_BLOCK;
    n.group_warps = e->config.group_warps;
    if (!k->marked)
        k->marked = arena_array(k->image->arena, u8, n.program->site_count + APART_KINDS);
    for (u32 i = 0; i < MOST_TRIES; i++) {
        struct emu_fault fault = {.kind = EMU_OK};
        struct arena *a = arena_new();
        n.apart = apart_new(&n, k->marked, by_thread, told);
        launch_run(&n, &e->config, a, 1, &fault, counts);
        arena_free(a);
        const enum apart_end end = apart_end(n.apart, fault.kind != EMU_OK);
        rooms_leave(e->rooms);
        if (end == APART_DONE) return true;
        counts->instructions = counts->thread_instructions = 0;
        if (end == APART_NOT) break;
    }
    k->met[by_thread]++;
    return false;
}

static bool is_blind(const struct emu_launch *l)
{
    for (size_t i = 0; i < l->observer_count; i++)
        if (!l->observers[i]->blind) return false;
    return true;
}

/* Bytes of shared memory that a CTA has as its own. */
static u64 own_shared(const struct emu_program *p, u32 dynamic)
{
    return dynamic ? (u64)p->shared_dynamic + dynamic : p->shared_static;
}

static u32 with_reserved(const struct emu_program *p, u32 own)
{
    return p->reserves ? (own + 15) / 16 * 16 + MEM_RESERVED_SHARED : own;
}

static const struct emu_report *launch_grid(struct emu *e, struct emu_kernel *k,
                                            const struct emu_launch *l, struct whole *all,
                                            struct arena *a)
{
    const bool watched = l->order || l->observer_count;
    const bool its = e->config.divergence == EMU_ITS;
    const unsigned wants = wants_of(l, k), told = told_of(l, wants, its);
    /* It may be that no other is needed. */
    struct emu_program *program = program_of(
        k, may_be_apart(e, k, l, wants) && !e->config.count ? LOWER_APART : told);
    struct emu_kernel_info info;
    if (!program || !emu_kernel_info(k, &info))
        return refuse(e, "kernel '%s': %s", k->name, k->failed);
    u64 threads = 1, ctas = 1;
    for (int i = 0; i < 3; i++) {
        if (l->grid[i] == 0 || l->grid[i] > most_grid[i])
            return refuse(e, "grid of %u x %u x %u CTAs: %s", l->grid[0], l->grid[1], l->grid[2],
                          l->grid[i] ? "at most 2147483647 x 65535 x 65535"
                                     : "no dimension may be 0");
        if (l->block[i] == 0 || l->block[i] > most_block[i])
            return refuse(e, "block of %u x %u x %u threads: %s", l->block[0], l->block[1],
                          l->block[2],
                          l->block[i] ? "at most 1024 x 1024 x 64" : "no dimension may be 0");
        threads *= l->block[i];
        ctas *= l->grid[i];
    }
    if (threads > info.max_threads)
        return refuse(e, "block of %llu threads: kernel '%s' takes at most %u",
                      (unsigned long long)threads, k->name, info.max_threads);
    if (info.required_block[0])
        for (int i = 0; i < 3; i++)
            if (l->block[i] != info.required_block[i])
                return refuse(e, "block of %u x %u x %u threads: kernel '%s' needs %u x %u x %u",
                              l->block[0], l->block[1], l->block[2], k->name,
                              info.required_block[0], info.required_block[1],
                              info.required_block[2]);
    if (ctas > UINT32_MAX / 2)
        return refuse(e, "grid of %llu CTAs is too large", (unsigned long long)ctas);
    if (l->params_size != k->params.size)
        return refuse(e, "kernel '%s' takes %u bytes of parameters, not %u", k->name,
                      k->params.size, l->params_size);
    const u64 shared = own_shared(program, l->shared);
    if (shared > MEM_MAX_SHARED)
        return refuse(e, "%llu bytes of shared memory: at most %d", (unsigned long long)shared,
                      MEM_MAX_SHARED);
    struct emu_machine m = {.emu = e,
                            .check = &all->check,
                            .grids = &all->grids,
                            .loaded = k->image,
                            .deadline = all->deadline,
                            .spent = all->warp_instructions,
                            .program = program,
                            .launch = l,
                            .mem = e->mem,
                            .rooms = e->rooms,
                            .image = k->image->image,
                            .params_size = l->params_size,
                            .threads_per_cta = (u32)threads,
                            .warps_per_cta = (u32)(threads + LANES - 1) / LANES,
                            .cta_count = (u32)ctas,
                            .shared_size = with_reserved(program, (u32)shared),
                            .shared_own = (u32)shared,
                            .grid_id = ++e->grids,
                            .sms = e->sms,
                            .heap_used = &e->heap_used,
                            .heap_size = e->config.heap ? e->config.heap : DEFAULT_HEAP,
                            .survives_bad_frees = (e->config.checks & EMU_CHECK_MEMORY) != 0,
                            .its = its,
                            .watched = watched,
                            .blind = is_blind(l),
                            .issues = l->order ? step_of(l, its) == EMU_STEP_INSTRUCTION
                                               : told & LOWER_ISSUES,
                            .step = (u8)step_of(l, its),
                            .wants = wants,
                            .counting = e->handlers.counting};
    m.group_warps = l->order || !m.blind || told & LOWER_ISSUES || m.its || program->launches
                        ? 1
                        : e->config.group_warps;
    m.cluster_size = 1;
    for (int i = 0; i < 3; i++) {
        m.cluster[i] = l->cluster[0] ? l->cluster[i] : info.cluster[0] ? info.cluster[i] : 1;
        if (!m.cluster[i]) m.cluster[i] = 1;
    }
    for (u32 i = 0; i < 3; i++) {
        m.explicit_cluster |= l->cluster[0] || info.cluster[0];
        if (m.cluster[i] > 16 || l->grid[i] % m.cluster[i])
            return refuse(e, "clusters of %u x %u x %u CTAs do not fill the grid", m.cluster[0],
                          m.cluster[1], m.cluster[2]);
        m.cluster_size *= m.cluster[i];
    }
    if (m.cluster_size > 16) return refuse(e, "clusters of %u CTAs: at most 16", m.cluster_size);
    m.params = arena_alloc(a, MEM_MAX_PARAMS + 64);
    if (l->params_size) memcpy(m.params, l->params, l->params_size);
    if (l->cooperative) {
        static const u32 workspace[2] = {8, 0};
        m.grid_workspace = emu_alloc(e, 8, "workspace of a cooperative launch");
        emu_copy_in(e, m.grid_workspace, workspace, sizeof workspace);
    }
    struct emu_occupancy occupancy = emu_occupancy(e->gpu, m.threads_per_cta, info.registers,
                                                   m.shared_own);
    if (e->config.count && e->config.caches) m.caches = caches_new(e, &m, &occupancy, a);
    struct launch_counts *counts = arena_alloc(a, sizeof *counts);
    counts->arena = a;
    counts->sms = e->sms;
    m.slots_per_sm = occupancy.ctas ? occupancy.ctas : 1;
    m.schedulers = e->gpu->schedulers;
    m.narrow_banks = e->gpu->shared_banks < LANES;
    if (l->order && l->order->stack_only && m.its)
        return refuse(
            e,
            "order %s cannot follow lanes that go their own ways: use --divergence=stack, or another order",
            l->order->name);
    if (l->order && m.cluster_size > m.slots_per_sm * m.sms)
        return refuse(e, "clusters of %u CTAs: the GPU has room for %u CTAs", m.cluster_size,
                      m.slots_per_sm * m.sms);
    if (e->config.count && e->config.phases && l->order)
        m.phases = launch_phases_new(a, program, e->sms);
    if (e->config.trace && !l->observer_count && !its) {
        m.trace = arena_alloc(e->launch_arena, sizeof *m.trace);
        if (!e->traces.rooms) trace_room_begin(&e->traces, rooms_beside(e->rooms));
        trace_plan(m.trace, &e->traces, &m);
        if (!program->traced) program->traced = trace_code_new(k->image->arena, program);
    }
    if (!run_apart(e, k, &m, counts)) {
        m.program = program_of(k, told);
        if (!m.program) return refuse(e, "kernel '%s': %s", k->name, k->failed);
        for (size_t i = 0; i < l->observer_count; i++)
            if (l->observers[i]->begin) l->observers[i]->begin(l->observers[i]->self, &m);
        launch_run(&m, &e->config, a, e->config.threads, &e->report.fault, counts);
        for (size_t i = 0; i < l->observer_count; i++)
            if (l->observers[i]->end) l->observers[i]->end(l->observers[i]->self);
    }
    rooms_leave(e->rooms);
    if (m.grid_workspace) emu_release(e, m.grid_workspace);
    all->warp_instructions += counts->instructions;
    all->thread_instructions += counts->thread_instructions;
    if (e->config.count) {
        struct emu_counts *c = emu_counts_make(e->launch_arena, &m, e->gpu, &occupancy, counts);
        if (m.trace) {
            struct emu_trace *trace = trace_end(e->launch_arena, m.trace, &m);
            trace->again = k->ran;
            c->trace = trace;
        }
        k->ran = true;
        *all->last_counts = c;
        all->last_counts = &c->next;
    }
    return &e->report;
}

static u64 digest_of(u64 h, const void *data, size_t n)
{
    const u8 *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

void emu_machine_identity(struct emu_machine *m, struct emu_identity *out)
{
    const struct emu_launch *l = m->launch;
    const struct ptx_program *p = m->image->program;
    const u64 start = UINT64_C(0xcbf29ce484222325);
    *out = (struct emu_identity){.kernel = emu_machine_kernel(m),
                                 .gpu = m->emu->gpu->name,
                                 .shared = l->shared,
                                 .sms = m->sms,
                                 .slots = m->sms * m->slots_per_sm,
                                 .cooperative = l->cooperative,
                                 .its = m->its,
                                 .program = start,
                                 .params = digest_of(start, l->params, l->params_size),
                                 .memory = emu_digest(m->emu)};
    memcpy(out->grid, l->grid, sizeof out->grid);
    memcpy(out->block, l->block, sizeof out->block);
    memcpy(out->cluster, m->cluster, sizeof out->cluster);
    for (size_t i = 0; i < p->count; i++) {
        const struct source *s = p->modules[i]->source;
        out->program = digest_of(out->program, s->text, s->length);
    }
}

/* ---- grids that kernels launch --------------------------------------------------------------------- */

struct emu_kernel *grids_kernel(const struct emu_machine *m, u64 address)
{
    if (address < MEM_CODE || address % 16) return NULL;
    const struct ptx_func *func = image_func_at(m->image, (address - MEM_CODE) / 16).func;
    if (func && func->definition) func = func->definition;
    for (size_t i = 0; func && i < m->loaded->kernel_count; i++)
        if (m->loaded->kernels[i].func == func) return &m->loaded->kernels[i];
    return NULL;
}

const char *grids_check(const struct emu_machine *m, struct emu_kernel *k, const u32 grid[3],
                        const u32 block[3], u32 shared, u32 *error)
{
    enum { INVALID_CONFIGURATION = 9 }; /* cudaErrorInvalidConfiguration */
    struct emu_kernel_info info;
    *error = 0;
    const struct emu_program *p = program_of(k, told_of(m->launch, m->wants, m->its));
    if (!p || !emu_kernel_info(k, &info)) return k->failed;
    if (k->params.size > GRIDS_PARAMS) return "a kernel with more than 4096 bytes of parameters";
    bool ok = true;
    u64 threads = 1, ctas = 1;
    for (int i = 0; i < 3; i++) {
        ok &= grid[i] && grid[i] <= most_grid[i] && block[i] && block[i] <= most_block[i];
        ok &= !info.required_block[0] || block[i] == info.required_block[i];
        ok &= !info.cluster[i] || grid[i] % info.cluster[i] == 0;
        threads *= block[i];
        ctas *= grid[i];
    }
    ok = ok && threads <= info.max_threads && ctas <= UINT32_MAX / 2;
    ok &= own_shared(p, shared) <= MEM_MAX_SHARED;
    *error = ok ? 0 : INVALID_CONFIGURATION;
    return ok ? NULL : "an impossible configuration";
}

static bool run_tasks(struct emu *e, const struct emu_launch *host, struct whole *all);

/* false: the launch ends here, with a fault. */
static bool run_task(struct emu *e, const struct grid_task *t, const struct emu_launch *host,
                     struct whole *all)
{
    struct emu_fault *f = &e->report.fault;
    struct arena *a = arena_new(), *whole = e->launch_arena;
    if (t->kernel) {
        struct emu_launch l = {.shared = t->shared,
                               .params = t->params,
                               .params_size = t->kernel->params.size,
                               .order = host->order,
                               .observers = host->observers,
                               .observer_count = host->observer_count};
        memcpy(l.grid, t->grid, sizeof l.grid);
        memcpy(l.block, t->block, sizeof l.block);
        launch_grid(e, t->kernel, &l, all, a);
    } else if (!(t->fills ? emu_fill(e, t->to, &t->value, 1, t->size)
                          : emu_copy(e, t->to, t->from, t->size))) {
        u64 at = emu_bytes(e, t->to, t->size) ? t->from : t->to;
        struct buf where = {0};
        mem_describe(e->mem, at, &where);
        *f = (struct emu_fault){.kind = EMU_OUT_OF_BOUNDS, .address = at};
        f->text = arena_printf(
            whole, "%s: %s of %llu bytes at 0x%llx by the device runtime\n%s",
            emu_fault_name(f->kind), t->fills ? "cudaMemsetAsync" : "cudaMemcpyAsync",
            (unsigned long long)t->size, (unsigned long long)at, where.data ? where.data : "");
        buf_free(&where);
    }
    bool ok = f->kind == EMU_OK;
    if (!ok) f->text = arena_printf(whole, "%s  launched by %s\n", f->text, t->by);
    arena_free(a);
    return ok && run_tasks(e, host, all);
}

/* What the grid that has just ended launched, each with what it launches. As deep as GRIDS_DEPTH. */
static bool run_tasks(struct emu *e, const struct emu_launch *host, struct whole *all)
{
    size_t n;
    if (!all->grids.count) return true;
    struct grid_task *tasks = grids_take(&all->grids, &n);
    bool ok = true;
    all->grids.depth++;
    for (size_t i = 0; i < n && ok; i++) {
        ok = run_task(e, &tasks[i], host, all);
        all->grids.pending--;
    }
    all->grids.depth--;
    grids_drop(tasks, n);
    return ok;
}

const struct emu_report *emu_launch(struct emu *e, struct emu_kernel *k, const struct emu_launch *l)
{
    double start = seconds();
    drop_launch(e);
    struct arena *a = e->launch_arena = arena_new();
    e->report = (struct emu_report){0};
    struct whole all = {.check = {.arena = a, .suppressions = e->suppressions},
                        .last_counts = &e->report.counts,
                        .deadline = e->config.timeout > 0 ? start + e->config.timeout : 0};
    struct emu_launch watched_launch = *l;
    if (!l->order && e->config.order) {
        watched_launch.order = e->config.order;
        l = &watched_launch;
    }
    /* The checks that watch are observers before the caller's own. */
    if (e->config.checks & EMU_CHECK_INIT) {
        const struct emu_observer **list = arena_array(a, const struct emu_observer *,
                                                       l->observer_count + 1);
        list[0] = check_init_observer(check_init_new(a, &all.check));
        for (size_t i = 0; i < l->observer_count; i++) list[i + 1] = l->observers[i];
        watched_launch.observers = list;
        watched_launch.observer_count++;
        l = &watched_launch;
    }
    launch_grid(e, k, l, &all, a);
    if (e->report.fault.kind == EMU_OK) run_tasks(e, l, &all);
    grids_end(&all.grids, e->mem);
    e->report.suppressed = check_suppress(&all.check);
    e->report.findings = all.check.list;
    e->report.finding_count = all.check.count;
    e->report.warp_instructions = all.warp_instructions;
    e->report.thread_instructions = all.thread_instructions;
    e->report.seconds = seconds() - start;
    return &e->report;
}

const char *emu_uop_name(unsigned id)
{
    static const char *const names[UOP_COUNT] = {
#define LANE1(name, ...) [UOP_##name] = #name,
#define LANE2(name, ...) [UOP_##name] = #name,
#define LANE3(name, ...) [UOP_##name] = #name,
#define FAST(name) [UOP_##name] = #name,
#define WARP(name) [UOP_##name] = #name,
#include "emu/uops.def"
    };
    return id < UOP_COUNT && names[id] ? names[id] : "?";
}
