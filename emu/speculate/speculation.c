/* Whether a launch is speculated, and the run itself (speculation.h). conflict_free.c finds conflicts and rolls back.
 *
 * A kernel is speculated until two of its launches had conflicts. A run of a launch is repeated if it found sites that
 * need tags, at most MOST_TRIES times. The sites that need tags are stored with the kernel, so that later launches
 * begin with them. */
#include "emu/speculate/speculation.h"

#include "base/arena.h"
#include "emu/atomic.h"
#include "emu/device/device.h"
#include "emu/ops/memops.h"
#include "emu/order_fast.h"
#include "emu/speculate/conflict_free.h"
#include "emu/speculate/deferred.h"

enum {
    MOST_CONFLICTS = 2, /* launches of a kernel with conflicts; then it is not tried again */
    MOST_TRIES = 8      /* runs of one launch */
};

/* Whether the kernel's reductions must be deferred (they do not commute), and whether they can be: strong accesses would
 * need a place among them, and the lanes of a brx.idx or an indirect call run in an order in which other warps of the
 * group take part. */
static void classify_reductions(struct emu_kernel *k, const struct emu_program *p)
{
    k->needs_log = false;
    k->may_defer = true;
    for (u32 c = 0; c < p->code_count; c++)
        for (u32 i = 0; i < p->codes[c]->uop_count; i++) {
            const struct emu_uop *const u = &p->codes[c]->uops[i];
            const struct atomic_desc *const a = u->ext;
            const struct mem_desc *const v = u->ext;
            if (u->id == UOP_red_tagged) k->needs_log |= !atomic_commutes(a->op, a->type);
            if (u->id == UOP_ld_tagged || u->id == UOP_st_tagged)
                k->may_defer &= !(v->flags & EMU_RELAXED);
            if (u->id == UOP_brx || u->id == UOP_call_indirect) k->may_defer = false;
        }
}

/* Whether the launch has no order and all its observers can do without launches that are free of conflicts. *footprint:
 * the observer that is given the byte ranges of such a launch, or NULL. */
static bool observers_allow(const struct emu_launch *l, const struct emu_observer **footprint)
{
    *footprint = NULL;
    for (size_t i = 0; i < l->observer_count; i++) {
        const struct emu_observer *o = l->observers[i];
        if (!o->skips_conflict_free || (o->footprint && *footprint)) return false;
        if (o->footprint) *footprint = o;
    }
    return l->observer_count && !l->order;
}

bool speculation_applies(const struct emu *e, struct emu_kernel *k, const struct emu_launch *l,
                         unsigned wants)
{
    const struct emu_observer *footprint;
    const bool by_thread = observers_allow(l, &footprint);
    return !e->config.no_speculation && !e->config.continue_after_faults &&
           (wants & EMU_SKIP_IF_CONFLICT_FREE ||
            (by_thread && !e->config.count && emu_kernel_plain(k))) &&
           k->may_be_conflict_free && k->conflicts[by_thread] < MOST_CONFLICTS &&
           e->config.divergence != EMU_ITS &&
           !(e->config.checks & (EMU_CHECK_INIT | EMU_CHECK_SYNC | EMU_CHECK_BOUNDS));
}

/* The order is given the rest of the log; commit: the run was free of conflicts. */
static void end_log(struct emu *e, struct deferred_log *log, const struct emu_launch *l,
                    bool commit)
{
    if (!log || deferred_log_end(log, commit)) return;
    e->report.fault = (struct emu_fault){.kind = EMU_DEADLOCK};
    e->report.fault.text = arena_printf(e->launch_arena, "%s: order %s does not get on\n",
                                        emu_fault_name(EMU_DEADLOCK), l->order->name);
}

enum emu_execution speculation_run(struct emu *e, struct emu_kernel *k, const struct emu_machine *m,
                                   struct launch_counts *counts)
{
    const struct emu_observer *footprint;
    const bool by_thread = observers_allow(m->launch, &footprint);
    if (!speculation_applies(e, k, m->launch, m->steps.wants) || m->cluster_size > 1 ||
        (u64)m->cta_count * m->warps_per_cta > UINT32_MAX / (4 * LANES))
        return EMU_NATIVE;
    struct emu_launch l = *m->launch;
    l.order = NULL;
    l.observer_count = 0;
    struct emu_machine n = *m;
    n.launch = &l;
    n.program = emu_kernel_program(k, LOWER_TAGGED);
    if (!n.program || (!k->tagged_sites && !emu_kernel_timeless(n.program))) {
        k->may_be_conflict_free = false;
        return EMU_NATIVE;
    }
    if (!k->tagged_sites) classify_reductions(k, n.program);
    /* No CTA sees what another one does, or the run is rolled back: several host threads may run them. */
    struct emu_program independent = *n.program;
    independent.talks = false;
    n.program = &independent;
    /* The replay of a log does not keep up with several host threads that fill it. */
    const u32 threads = footprint || k->needs_log ? 1 : e->config.threads;
    n.steps.watched = n.steps.issues = n.threads.yields = false;
    n.steps.wants = 0;
    n.steps.step = EMU_STEP_BLOCK;
    n.group_warps = e->config.group_warps;
    n.speculation = &conflict_free_speculation;
    if (!k->tagged_sites)
        k->tagged_sites = arena_array(k->image->arena, u8, n.program->site_count + TAG_KINDS);
    if (k->needs_log && !(k->may_defer && m->steps.wants & EMU_DEFER_REDUCTIONS)) return EMU_NATIVE;
    for (u32 i = 0; i < MOST_TRIES; i++) {
        struct emu_fault fault = {.kind = EMU_OK};
        struct deferred_log *const log = k->needs_log ? deferred_log_new(m, &e->config) : NULL;
        if (k->needs_log && !log) break;
        struct arena *a = arena_new();
        n.conflict_free = conflict_free_new(&n, k->tagged_sites, by_thread, footprint, log);
        launch_run(&n, &e->config, a, threads, &fault, counts);
        arena_free(a);
        /* Host threads may notice too late that they have reached the limit together. */
        const bool over = e->config.max_instructions &&
                          n.spent + counts->instructions > e->config.max_instructions;
        const enum conflict_free_result end = conflict_free_end(n.conflict_free,
                                                                fault.kind != EMU_OK || over);
        end_log(e, log, m->launch, end == CONFLICT_FREE_COMMITTED);
        cta_arena_reset(e->cta_arena);
        if (end == CONFLICT_FREE_COMMITTED)
            return log ? EMU_DEFERRED_REDUCTIONS : EMU_CONFLICT_FREE;
        counts->instructions = counts->thread_instructions = 0;
        if (end == CONFLICT_FREE_FAILED) break;
    }
    k->conflicts[by_thread]++;
    return EMU_ROLLED_BACK;
}
