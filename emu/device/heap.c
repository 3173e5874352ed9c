/* The heap of the guest's malloc and free: blocks of global memory with the position in the code that allocated them.
 * Programs that use the heap run their CTAs on one host thread (emu/lower/flow.c). */
#include "emu/sched/launch.h"

#include "base/diag.h"
#include "emu/device/check.h"
#include "emu/device/image.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 300 };

static void name_place(const struct emu_machine *m, u32 pc, char out[TEXT])
{
    struct emu_place_of *p = &m->program->places[pc];
    const struct source *s = m->image->program->modules[p->code->module]->source;
    if (!p->line) p->line = source_place(s, p->at).line;
    int n = snprintf(out, TEXT, "%s:%u in %s", s->name, p->line, p->code->name);
    if (p->source_file && n > 0 && n < TEXT)
        snprintf(out + n, (size_t)(TEXT - n), " (%s:%u)", p->source_file, p->source_line);
}

static void name_thread(const struct emu_group *g, u32 w, u32 lane, char out[TEXT])
{
    u32 cta[3], t[3];
    const struct emu_machine *m = g->worker->machine;
    launch_thread_of(m, g->cta->linear, (g->first + w) * LANES + lane, cta, t);
    snprintf(out, TEXT, "thread (%u,%u,%u) of CTA (%u,%u,%u) of kernel '%s'", t[0], t[1], t[2],
             cta[0], cta[1], cta[2], m->program->codes[0]->name);
}

u64 launch_heap_alloc(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u64 size)
{
    const struct emu_machine *m = g->worker->machine;
    char at[TEXT], by[TEXT];
    if (!size || size > m->heap.size || *m->heap.used > m->heap.size - size) return 0;
    name_place(m, in->pc, at);
    name_thread(g, w, lane, by);
    u64 a = mem_alloc_heap(m->mem, size, at, by);
    if (a) *m->heap.used += size;
    return a;
}

static bool refuse(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u64 address)
{
    const struct emu_machine *m = g->worker->machine;
    const struct mem_block *b = address >= MEM_GLOBAL ? mem_near(m->mem, address) : NULL;
    bool twice = b && !b->live && b->at && b->address == address;
    enum emu_fault_kind kind = twice ? EMU_DOUBLE_FREE : EMU_BAD_FREE;
    char what[TEXT];
    u32 cta[3], thread[3];
    snprintf(what, sizeof what, "free of 0x%llx, which %s", (unsigned long long)address,
             twice ? "is free already" : "malloc did not give");
    if (!m->heap.survives_bad_frees) {
        emu_raise(g, in, kind, w, lane, address, 0, "%s", what);
        return false;
    }
    launch_thread_of(m, g->cta->linear, (g->first + w) * LANES + lane, cta, thread);
    check_add(m->check, m, kind, in->pc, cta, thread, address, what);
    return true;
}

bool launch_heap_free(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u64 address)
{
    struct emu_machine *m = g->worker->machine;
    const struct mem_block *b = mem_find(m->mem, address, 1);
    if (!b || b->address != address || !b->at) return refuse(g, in, w, lane, address);
    char at[TEXT], by[TEXT], whole[2 * TEXT + 16];
    name_place(m, in->pc, at);
    name_thread(g, w, lane, by);
    snprintf(whole, sizeof whole, "free at %s by %s", at, by);
    *m->heap.used -= b->size;
    memset(g->worker->bounds, 0, m->program->site_count * sizeof *g->worker->bounds);
    return mem_release_by(m->mem, address, whole);
}
