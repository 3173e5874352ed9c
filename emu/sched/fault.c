/* Faults of a launch. If several CTAs raise faults, the launch reports that of the CTA with the lowest index.
 * emu_fault_name() has the name of each kind, launch_kind_of_fault() determines whether an address was freed, and
 * launch_describe_fault() writes the report: kernel, thread, line, and the allocation that mem_describe() names. */
#define _GNU_SOURCE
#include "emu/sched/launch_context.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "emu/device/check.h"
#include "emu/device/image.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *emu_execution_name(enum emu_execution e)
{
    static const char *const names[EMU_EXECUTION_COUNT] = {
        [EMU_NATIVE] = "native",
        [EMU_ORDERED] = "ordered",
        [EMU_ROLLED_BACK] = "rolled back",
        [EMU_CONFLICT_FREE] = "conflict-free",
        [EMU_DEFERRED_REDUCTIONS] = "deferred reductions"};
    return names[e];
}

const char *emu_fault_name(enum emu_fault_kind kind)
{
    static const char *const names[EMU_FAULT_COUNT] = {"no fault",
                                                       "impossible launch",
                                                       "unsupported instruction",
                                                       "out of bounds",
                                                       "misaligned",
                                                       "read-only memory",
                                                       "wrong state space",
                                                       "use after free",
                                                       "uninitialised",
                                                       "trap",
                                                       "assertion failed",
                                                       "bad call",
                                                       "stack overflow",
                                                       "barrier",
                                                       "bad lanes",
                                                       "deadlock",
                                                       "limit reached",
                                                       "double free",
                                                       "invalid free",
                                                       "leak",
                                                       "race",
                                                       "atomic and plain access",
                                                       "order",
                                                       "file"};
    return kind < EMU_FAULT_COUNT ? names[kind] : "?";
}

static void put_source(struct buf *b, const struct emu_place_of *p)
{
    if (!p->source_file) return;
    buf_printf(b, " (%s:%u", p->source_file, p->source_line);
    if (p->from_file) buf_printf(b, ", from %s:%u", p->from_file, p->from_line);
    buf_puts(b, ")");
}

static void put_instruction(struct buf *b, const struct emu_machine *m,
                            const struct emu_place_of *p)
{
    const struct source *s = m->image->program->modules[p->code->module]->source;
    const char *text = s->text + p->at;
    u32 n = 0;
    while (p->at + n < s->length && text[n] != '\n' && n < 200) n++;
    buf_add(b, text, n);
}

void launch_describe_place(struct buf *b, const struct emu_machine *m, u32 pc, struct emu_fault *f)
{
    const struct emu_place_of *p = &m->program->places[pc];
    const struct ptx_module *module = m->image->program->modules[p->code->module];
    struct place at = source_place(module->source, p->at);
    f->line = at.line;
    f->source_file = p->source_file;
    f->source_line = p->source_line;
    buf_printf(b, "  at %s:%u:%u in %s", module->source->name, at.line, at.column, p->code->name);
    put_source(b, p);
    buf_puts(b, "\n     ");
    put_instruction(b, m, p);
    buf_puts(b, "\n");
}

void launch_name_place(struct buf *b, const struct emu_machine *m, u32 pc)
{
    const struct emu_place_of *p = &m->program->places[pc];
    buf_puts(b, p->code->name);
    put_source(b, p);
    buf_puts(b, ": ");
    put_instruction(b, m, p);
}

static bool is_about_memory(const struct emu_fault *f)
{
    return f->address >= MEM_GLOBAL && !f->is_offset &&
           (f->kind == EMU_OUT_OF_BOUNDS || f->kind == EMU_READ_ONLY || f->kind == EMU_FREED ||
            f->kind == EMU_MISALIGNED || f->kind == EMU_UNINITIALISED ||
            f->kind == EMU_DOUBLE_FREE || f->kind == EMU_BAD_FREE);
}

enum emu_fault_kind launch_kind_of_fault(const struct emu_machine *m, const struct emu_fault *f)
{
    if (f->kind != EMU_OUT_OF_BOUNDS || !is_about_memory(f)) return f->kind;
    const struct mem_block *near = mem_near(m->mem, f->address);
    return near && !near->live ? EMU_FREED : f->kind;
}

void launch_describe_fault(const struct emu_machine *m, u32 pc, struct emu_fault *f,
                           const char *what, struct arena *arena)
{
    struct buf b = {0};
    buf_printf(&b, "%s: %s\n", emu_fault_name(f->kind), what);
    launch_describe_place(&b, m, pc, f);
    buf_printf(&b, "  by thread (%u,%u,%u) of CTA (%u,%u,%u) of kernel '%s'\n", f->thread[0],
               f->thread[1], f->thread[2], f->cta[0], f->cta[1], f->cta[2],
               m->program->codes[0]->name);
    if (is_about_memory(f)) mem_describe(m->mem, f->address, &b);
    f->text = arena_copy(arena, b.data, b.size);
    buf_free(&b);
}

static bool may_be_its(const struct emu_machine *m)
{
    return !m->threads.its && !(m->launch->order && m->launch->order->stack_only);
}

void launch_raise_stop(struct emu_group *g, enum emu_fault_kind kind, u64 limit)
{
    const struct emu_cta *c = g->cta;
    for (u32 k = 0; k < c->group_count; k++) /* one that stands somewhere */
        if (c->groups[c->group_at[k]].state != GROUP_DONE) {
            g = &c->groups[c->group_at[k]];
            break;
        }
    u32 w = 0;
    while (w + 1 < g->warps && !g->exec[w]) w++;
    struct buf b = {0};
    bool waiting = false; /* lanes on a stack while others of their warp run */
    for (u32 k = 0; k < c->group_count && k < 8; k++) {
        const struct emu_group *o = &c->groups[c->group_at[k]];
        if (o->state == GROUP_DONE || !o->pc) continue;
        const struct emu_machine *m = g->worker->machine;
        const struct emu_place_of *p = &m->program->places[o->pc->pc];
        struct place at = source_place(m->image->program->modules[p->code->module]->source, p->at);
        buf_printf(&b, "%s warp %u at line %u%s", b.size ? "," : "", o->first, at.line,
                   o->state == GROUP_BARRIER ? " (at a barrier)" : "");
        for (u32 d = o->depth; d-- > 0 && o->stack[d].kind != ENTRY_CALL;)
            if (o->stack[d].kind == ENTRY_REJOIN) {
                p = &m->program->places[o->stack[d].pc->pc];
                at = source_place(m->image->program->modules[p->code->module]->source, p->at);
                buf_printf(&b, " (lanes wait at line %u)", at.line);
                break;
            }
        /* Also in the functions that called the one at hand. */
        for (u32 i = 0; i < o->warps; i++)
            waiting |= o->state == GROUP_READY && o->exec[i] && o->alive[i] & ~o->exec[i];
    }
    char what[80];
    if (kind == EMU_DEADLOCK) snprintf(what, sizeof what, "no warp will ever go on");
    else if (limit)
        snprintf(what, sizeof what, "the kernel did not end within %llu warp instructions",
                 (unsigned long long)limit);
    else snprintf(what, sizeof what, "the kernel did not end within the time allowed");
    if (waiting && may_be_its(g->worker->machine))
        buf_puts(&b,
                 "\n  lanes that run may wait for lanes of their own warp: --divergence=its lets "
                 "both go on");
    if (kind == EMU_DEADLOCK) deadlock_describe_polled(&b, c);
    emu_raise(g, g->pc, kind, w, g->exec[w] ? (u32)__builtin_ctz(g->exec[w]) : 0, 0, 0, "%s;%s",
              what, b.data ? b.data : "");
    buf_free(&b);
}

static u32 lowest(atomic_uint *at, u32 value)
{
    u32 old = atomic_load(at);
    while (value < old && !atomic_compare_exchange_weak(at, &old, value)) {
    }
    return old;
}

const struct emu_uop *emu_raise(struct emu_group *g, const struct emu_uop *in,
                                enum emu_fault_kind kind, u32 w, u32 lane, u64 address, u32 size,
                                const char *format, ...)
{
    char what[1500];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    struct launch_context *ctx = host_worker_of(g)->ctx;
    g->state = GROUP_FAULT;
    g->pc = in;
    u32 cta = g->cta->linear;
    lowest(&ctx->stop_at, cta);
    pthread_mutex_lock(&ctx->lock);
    if (!ctx->fault.kind || cta < ctx->fault_cta) {
        ctx->fault_cta = cta;
        struct emu_fault *f = &ctx->fault;
        *f = (struct emu_fault){.kind = kind,
                                .address = address,
                                .size = size,
                                .is_offset = g->worker->faults_at_offset};
        for (u32 i = 0; i < 3; i++) {
            f->cta[i] = g->cta->index[i];
            f->thread[i] = (u32)emu_special_value(g, w, lane, SPECIAL_TID_X + i);
        }
        if (ctx->m->conflict_free) atomic_store(&ctx->give_up, true); /* it is rolled back */
        else {
            f->kind = launch_kind_of_fault(ctx->m, f);
            launch_describe_fault(ctx->m, in->pc, f, what, ctx->arena);
        }
    }
    pthread_mutex_unlock(&ctx->lock);
    return NULL;
}

bool emu_goes_on(struct emu_group *g, const struct emu_uop *in, enum emu_fault_kind kind, u32 w,
                 u32 lane, u64 address, const char *what)
{
    struct launch_context *ctx = host_worker_of(g)->ctx;
    u32 thread[3];
    /* speculation_run() leaves such launches alone; other launches that speculate are rolled back when they fault. */
    if (!ctx->config->continue_after_faults || ctx->m->speculation) return false;
    for (u32 i = 0; i < 3; i++) thread[i] = (u32)emu_special_value(g, w, lane, SPECIAL_TID_X + i);
    pthread_mutex_lock(&ctx->lock);
    check_add(ctx->m->check, ctx->m, kind, in->pc, g->cta->index, thread,
              g->worker->faults_at_offset ? 0 : address, what);
    pthread_mutex_unlock(&ctx->lock);
    return true;
}

void emu_note_sync(struct emu_group *g, const struct emu_uop *in, u32 w, u32 mask)
{
    struct launch_context *ctx = host_worker_of(g)->ctx;
    if (!(ctx->config->checks & EMU_CHECK_SYNC)) return;
    u32 away = mask & g->alive[w] & ~g->exec[w], thread[3];
    for (u32 i = 0; i < 3; i++)
        thread[i] = (u32)emu_special_value(g, w, (u32)__builtin_ctz(g->exec[w]), SPECIAL_TID_X + i);
    char what[160];
    snprintf(what, sizeof what,
             "lanes 0x%08x of member mask 0x%08x are elsewhere; lanes 0x%08x are here", away, mask,
             g->exec[w]);
    pthread_mutex_lock(&ctx->lock);
    check_add(ctx->m->check, ctx->m, EMU_BAD_LANES, in->pc, g->cta->index, thread, 0, what);
    pthread_mutex_unlock(&ctx->lock);
}

void emu_note_undefined(struct emu_group *g, const struct emu_uop *in, unsigned check,
                        enum emu_fault_kind kind, u32 w, u32 lane, u64 address, const char *what)
{
    struct launch_context *ctx = host_worker_of(g)->ctx;
    u32 thread[3];
    if (!(ctx->config->checks & check)) return;
    for (u32 i = 0; i < 3; i++) thread[i] = (u32)emu_special_value(g, w, lane, SPECIAL_TID_X + i);
    pthread_mutex_lock(&ctx->lock);
    check_add(ctx->m->check, ctx->m, kind, in->pc, g->cta->index, thread, address, what);
    pthread_mutex_unlock(&ctx->lock);
}

void launch_thread_of(const struct emu_machine *m, u32 cta, u32 thread, u32 cta_index[3],
                      u32 thread_index[3])
{
    const u32 *grid = m->launch->grid, *block = m->launch->block;
    cta_index[0] = cta % grid[0], cta_index[1] = cta / grid[0] % grid[1],
    cta_index[2] = cta / grid[0] / grid[1];
    thread_index[0] = thread % block[0], thread_index[1] = thread / block[0] % block[1];
    thread_index[2] = thread / block[0] / block[1];
}
