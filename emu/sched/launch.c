/* A launch: CTAs on host threads.
 *
 * Native order. CTAs are taken in linear order, and each runs to its end: its groups run one after another, each until
 * it waits or has used up its budget. A CTA that does not end may wait for another CTA that has not begun: then the
 * next CTA begins, too, and the host thread alternates between them.
 *
 * Several host threads take CTAs from one counter, many at a time, since moving the counter's cache line between host
 * cores would take longer than a short CTA. This is done only for programs whose CTAs cannot communicate
 * (emu_program.talks). Printed text, and reductions whose order matters, stay in an outbox until all earlier CTAs have
 * ended. So results do not depend on the number of host threads. */
#define _GNU_SOURCE
#include "emu/sched/launch_context.h"

#include "base/arena.h"
#include "emu/sched/combine.h"
#include "emu/sched/control.h"
#include "emu/sched/notify.h"
#include "emu/sched/yield.h"
#include "emu/speculate/speculation.h"
#include "emu/trace.h"

#include <stdlib.h>
#include <time.h>

enum {
    TURN_ITS = 1 << 9,  /* TURN_LENGTH with independent thread scheduling */
    FIRST_SLICE = 8,    /* of a turn, before it is looked at whether the warp goes round */
    ROUND = 8,          /* blocks of a loop that waits */
    PATIENCE = 16,      /* turns of a CTA before the next one is begun beside it */
    PATIENCE_TALKS = 1, /* likewise where CTAs may wait for each other */
    PATIENCE_YIELD = 4, /* turns in which the same lanes wait on the stack (yield.h) */
    MOST_BATCH = 64,    /* CTAs that a host thread takes at once: a word of ctx->ended */
    BATCHES = 8,        /* into which each host thread's share of what is left is cut */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void launch_tell_cta(const struct emu_machine *m, const struct emu_cta *c, u8 kind)
{
    if (m->steps.watched)
        emu_notify_cta(m, &(struct emu_warp){c->linear, 0, c->sm, c->slot, 0, false, 0}, kind);
}

enum progress { ENDED, RAN, STUCK, FAILED };

static bool late(const struct launch_context *ctx)
{
    return ctx->deadline > 0 && now() > ctx->deadline;
}

bool launch_run_group(struct host_worker *h, struct emu_group *g)
{
    const bool waited = g->state == GROUP_WAIT;
    const struct emu_uop *in = g->pc, *const from = in;
    const u64 before = g->instructions;
    g->state = GROUP_READY;
    if (h->livelock) livelock_run(h->livelock, g);
    else if (!(g->polling.returned && h->elides_busy_waits && h->ctx->m->speculation->run(g)))
        while (in) in = in->run(g, in);
    h->instructions += g->instructions - before;
    const bool ran = !(waited && g->state == GROUP_WAIT && g->pc == from &&
                       g->instructions == before);
    const bool stays = g->state == GROUP_WAIT || g->state == GROUP_BARRIER ||
                       (g->state == GROUP_READY && g->budget <= 0);
    if (g->cta->its && g->warps == 1 && g->depth && stays) emu_its_part(g);
    if (g->state == GROUP_DONE) {
        emu_notify_exits(g);
        g->cta->running--;
        emu_barrier_check(g->cta);
    }
    return ran;
}

/* Whether the group comes back to where it is. What it does is of its turn, of which so much is left. */
static bool comes_back(struct host_worker *h, struct emu_group *g, i64 *left)
{
    const struct emu_uop *const from = g->pc;
    for (u32 n = 0; *left > 0 && n < ROUND; n++) {
        g->budget = 1;
        launch_run_group(h, g);
        *left -= 1 - g->budget;
        if (g->state != GROUP_READY) return false;
        if (g->pc == from) return true;
    }
    return false;
}

/* Whether nothing has changed then. */
static bool waits_for_others(struct host_worker *h, struct emu_group *g, i64 *left)
{
    const u64 first = deadlock_glance(g);
    if (!comes_back(h, g, left) || deadlock_glance(g) != first) return false;
    const u64 state = deadlock_state(g);
    return comes_back(h, g, left) && deadlock_state(g) == state;
}

/* A turn. Where CTAs may wait for each other one that goes round ends early: its rounds take time, and are counted. */
static bool run_for_a_turn(struct host_worker *h, struct emu_group *g)
{
    const struct emu_machine *m = h->ctx->m;
    const bool its = g->cta->its;
    if (its || !m->program->talks) {
        g->budget = its ? TURN_ITS : TURN_LENGTH;
        return launch_run_group(h, g);
    }
    i64 left = TURN_LENGTH;
    bool ran = false;
    for (i64 slice = FIRST_SLICE;; slice *= 4) {
        g->budget = slice < left ? slice : left;
        left -= g->budget;
        ran |= launch_run_group(h, g);
        left += g->budget;
        if (g->state != GROUP_READY || left <= 0) return ran;
        if (waits_for_others(h, g, &left)) {
            if (yield_is_due(g, true, PATIENCE_YIELD)) return ran;
            atomic_fetch_add(&h->ctx->busy_waits, 1);
            return ran;
        }
        if (g->state != GROUP_READY || left <= 0) return ran;
    }
}

/* One turn for each group of a CTA. */
static enum progress run_turn(struct host_worker *h, struct slot *p)
{
    struct emu_cta *c = &p->cta;
    bool ran = false;
    deliver_wait(h, p);
    deliver_count_for(h, p);
    for (u32 k = 0; k < c->group_count; k++) {
        struct emu_group *g = &c->groups[c->group_at[k]];
        if (g->state != GROUP_READY && g->state != GROUP_WAIT) continue;
        if (late(h->ctx)) return RAN;
        ran |= run_for_a_turn(h, g);
        if (g->state == GROUP_FAULT) return FAILED;
        if (g->state == GROUP_READY) yield_is_due(g, false, PATIENCE_YIELD);
        const bool parted = g->depth && g->state != GROUP_BARRIER && g->state != GROUP_DONE;
        if (g->state == GROUP_SPLIT) {
            emu_group_split(g);
            k--; /* its first warp again */
        } else if (g->warps > 1 && parted && (g->state == GROUP_WAIT || p->turns > 2 || c->its))
            emu_group_split(g);
    }
    p->turns++;
    if (p->turns_of.cta) {
        for (u32 k = 0; k < c->group_count; k++)
            trace_turns_look(&p->turns_of, &c->groups[c->group_at[k]]);
        trace_turns_go(&p->turns_of, &p->port);
    }
    if (!c->running) return ENDED;
    return ran ? RAN : STUCK;
}

/* All groups of the CTA wait at barriers that cannot be completed. */
static void stuck_at_barriers(struct slot *p)
{
    struct emu_cta *c = &p->cta;
    for (u32 k = 0; k < c->group_count; k++) {
        struct emu_group *g = &c->groups[c->group_at[k]];
        if (g->state != GROUP_BARRIER) continue;
        struct emu_barrier *b = &c->barriers[g->barrier];
        u32 w = 0;
        while (w + 1 < g->warps && !g->exec[w]) w++;
        emu_raise(g, g->pc, EMU_BARRIER, w, g->exec[w] ? (u32)__builtin_ctz(g->exec[w]) : 0, 0, 0,
                  "barrier %u: %u threads wait, and no other can come%s", g->barrier, b->arrived,
                  g->alive[w] & ~g->exec[w]
                      ? "; lanes of the same warp wait elsewhere (see --divergence=its)"
                      : "");
        return;
    }
}

static bool only_barriers(const struct slot *p)
{
    for (u32 k = 0; k < p->cta.group_count; k++) {
        u32 s = p->cta.groups[p->cta.group_at[k]].state;
        if (s != GROUP_BARRIER && s != GROUP_DONE) return false;
    }
    return true;
}

void launch_stop(struct slot *p, enum emu_fault_kind kind)
{
    struct emu_group *g = &p->cta.groups[p->cta.group_at[0]];
    if (kind == EMU_DEADLOCK && only_barriers(p)) stuck_at_barriers(p);
    else launch_raise_stop(g, kind, host_worker_of(g)->ctx->limit);
}

struct trace_cta *launch_trace_of(struct host_worker *h, u32 linear)
{
    const struct emu_machine *m = h->ctx->m;
    return m->trace ? trace_begin(m->trace, m, linear) : NULL;
}

static struct slot *admit_one(struct host_worker *h, u32 linear, u32 sm)
{
    struct slot *p = h->spare;
    if (p) h->spare = p->next;
    else p = slot_new(h);
    p->trace = launch_trace_of(h, linear);
    slot_begin(h, p, linear, sm);
    p->next = NULL;
    *h->last = p;
    h->last = &p->next;
    return p;
}

/* How many CTAs (clusters) a host thread takes of those from `next` on. A power of two that never grows during a launch, so
 * that a batch begins at a multiple of its size. One at a time where CTAs that run ahead of their turn leave things for later:
 * these take memory. */
static u32 batch_size(const struct launch_context *ctx, u32 next, u32 count)
{
    const u32 share = next < count ? (count - next) / (ctx->worker_count * BATCHES) : 0;
    u32 n = 1;
    if (ctx->worker_count == 1 || atomic_load(&ctx->in_turn)) return 1;
    while (2 * n <= share && 2 * n <= MOST_BATCH) n *= 2;
    return n;
}

/* The next CTA (cluster) for the host thread. false: there is none. */
static bool take_next(struct host_worker *h, u32 count, u32 *number)
{
    struct launch_context *ctx = h->ctx;
    if (h->batch == h->batch_end) {
        unsigned next = atomic_load(&ctx->next);
        u32 n;
        do n = batch_size(ctx, next, count);
        while (next < count && !atomic_compare_exchange_weak(&ctx->next, &next, next + n));
        if (next >= count) return false;
        h->batch = next;
        h->batch_end = next + n;
    }
    *number = h->batch++;
    return true;
}

/* Begins the next CTA, or the CTAs of the next cluster. false: there is none. */
static bool admit(struct host_worker *h)
{
    struct launch_context *ctx = h->ctx;
    const struct emu_machine *m = ctx->m;
    u32 number;
    if (!take_next(h, m->cta_count / m->cluster_size, &number)) return false;
    if (m->cluster_size == 1) {
        if (number > atomic_load(&ctx->stop_at)) return false;
        launch_tell_cta(m, &admit_one(h, number, number % m->sms)->cta, EMU_SYNC_CTA_START);
        return true;
    }
    struct slot *slots[MOST_CLUSTER];
    for (u32 r = 0; r < m->cluster_size; r++)
        slots[r] = admit_one(h, slot_of_cluster(m, number, r), number % m->sms);
    slot_join_cluster(slots, m);
    for (u32 r = 0; r < m->cluster_size; r++)
        launch_tell_cta(m, &slots[r]->cta, EMU_SYNC_CTA_START);
    return true;
}

/* Whether the CTA may be put away: with a cluster, only when all of it has ended. */
static bool whole_cluster_ended(const struct slot *p)
{
    for (u32 r = 0; r < p->cta.cluster_size; r++)
        if (p->cta.cluster_size > 1 && p->cta.cluster[r]->running) return false;
    return true;
}

static void remove_slot(struct host_worker *h, struct slot **at)
{
    struct slot *p = *at;
    *at = p->next;
    if (h->last == &p->next) h->last = at;
    p->next = h->spare;
    h->spare = p;
}

/* A CTA has failed. Those that may wait for it must not fail in its stead: all of its cluster, or all that
 * there are where CTAs may wait for each other (then there is one host thread). */
static void give_up_on(struct host_worker *h, struct slot *p)
{
    for (u32 r = 0; r < p->cta.cluster_size; r++) p->cta.cluster[r]->failed = true;
    if (h->ctx->m->program->talks) atomic_store(&h->ctx->give_up, true);
}

static void report_progress(struct launch_context *ctx, u64 spent)
{
    double t = now();
    if (t - ctx->reported < 0.2) return;
    ctx->reported = t;
    ctx->config->progress(ctx->config->progress_self, spent, t - ctx->started);
}

bool launch_over_limit(struct host_worker *h)
{
    struct launch_context *ctx = h->ctx;
    if (!ctx->limit && !ctx->config->progress) return late(ctx);
    u64 spent = atomic_fetch_add(&ctx->spent, h->instructions) + h->instructions;
    h->instructions = 0;
    if (ctx->config->progress && h == ctx->workers) report_progress(ctx, spent);
    return (ctx->limit && spent > ctx->limit) || late(ctx);
}

/* What one pass over the resident CTAs of a worker found. */
struct slots_pass {
    bool ran, impatient, removed;
};

/* The launch takes more instructions or time than it may: the first worker that sees it stops it. */
static bool stopped_by_limit(struct host_worker *h)
{
    struct launch_context *ctx = h->ctx;
    if (!launch_over_limit(h) || !h->resident) return false;
    pthread_mutex_lock(&ctx->lock);
    const bool first = !atomic_exchange(&ctx->give_up, true);
    pthread_mutex_unlock(&ctx->lock);
    if (first) launch_stop(h->resident, EMU_LIMIT);
    return true;
}

static void note_cta_end(struct host_worker *h, struct slot *p)
{
    if (p->turns != UINT32_MAX) {
        launch_tell_cta(h->ctx->m, &p->cta, EMU_SYNC_CTA_EXIT);
        if (h->ctas) h->ctas[p->cta.sm]++;
        deliver_ended(h, p);
    }
    p->turns = UINT32_MAX;
}

/* Runs a turn of a CTA. true: its slot is to be removed. */
static bool run_slot(struct host_worker *h, struct slot *p, u32 patience, struct slots_pass *pass)
{
    enum progress progress = p->cta.running ? run_turn(h, p) : ENDED;
    if (!p->cta.running) progress = ENDED;
    if (progress == FAILED) {
        give_up_on(h, p);
        return true;
    }
    if (progress == ENDED) {
        note_cta_end(h, p);
        const bool remove = whole_cluster_ended(p);
        pass->ran |= remove;
        return remove;
    }
    if (progress == STUCK && only_barriers(p)) {
        if (yield_stuck(&p->cta)) {
            pass->ran = true;
            return false;
        }
        launch_stop(p, EMU_DEADLOCK);
        return true;
    }
    pass->ran |= progress == RAN;
    pass->impatient &= p->turns >= patience;
    return false;
}

static struct slots_pass run_resident(struct host_worker *h, u32 patience)
{
    struct launch_context *ctx = h->ctx;
    struct slots_pass pass = {.impatient = true};
    for (struct slot **at = &h->resident; *at;) {
        struct slot *p = *at;
        const bool void_since_fault = /* an earlier CTA has failed */
            p->cta.failed || p->cta.linear > atomic_load(&ctx->stop_at);
        if (!void_since_fault && p != h->resident && deliver_is_full(ctx)) break;
        if (void_since_fault || run_slot(h, p, patience, &pass)) {
            remove_slot(h, at);
            pass.removed = true;
        } else at = &p->next;
    }
    return pass;
}

/* Whether lanes of the resident CTAs that waited on stacks can run now (yield.h). */
static bool yield_resident(struct host_worker *h)
{
    bool any = false;
    for (struct slot *p = h->resident; p; p = p->next) any |= yield_stuck(&p->cta);
    return any;
}

/* After a pass in which no CTA came or left. true: the resident CTAs can never end. */
static bool stopped_by_deadlock(struct host_worker *h, bool ran)
{
    if (!h->resident) return false;
    if (ran && ++h->passes % 16 == 0 && deadlock_proved(h)) {
        if (yield_resident(h) || deadlock_time_out(h)) return false;
        atomic_store(&h->ctx->is_deadlock, true);
        atomic_store(&h->ctx->give_up, true);
        return true;
    }
    if (ran || yield_resident(h) || deadlock_time_out(h)) return false;
    launch_stop(h->resident, EMU_DEADLOCK);
    return true;
}

static void *work(void *arg)
{
    struct host_worker *h = arg;
    struct launch_context *ctx = h->ctx;
    u32 patience = ctx->m->program->talks || ctx->m->cluster_size > 1 ? PATIENCE_TALKS : PATIENCE;
    h->last = &h->resident;
    bool more = true;
    while (!atomic_load(&ctx->give_up)) {
        if (!h->resident && !(more && (more = admit(h)))) break;
        if (stopped_by_limit(h)) break;
        const struct slots_pass pass = run_resident(h, patience);
        if (pass.removed || !pass.impatient) continue;
        combine_flush(h->worker.combine);
        if (more && !deliver_is_full(ctx) && (more = admit(h))) continue;
        if (stopped_by_deadlock(h, pass.ran)) break;
    }
    combine_flush(h->worker.combine);
    deliver_publish_ended(h);
    launch_over_limit(h);
    atomic_fetch_add(&ctx->epoch, 1);
    atomic_store(&h->stuck, WORKER_ENDED);
    if (atomic_load(&ctx->is_deadlock) && h->resident) launch_stop(h->resident, EMU_DEADLOCK);
    return NULL;
}

static void gather(struct launch_context *ctx, struct launch_counts *out)
{
    const struct emu_program *p = ctx->m->program;
    out->ctas = arena_array(out->arena, u64, ctx->m->sms);
    for (u32 t = 0; t < ctx->worker_count; t++)
        for (u32 sm = 0; sm < ctx->m->sms; sm++) {
            struct emu_site *s = ctx->workers[t].sites ? ctx->workers[t].sites[sm] : NULL;
            if (!s) continue;
            launch_counts_add(out, sm, s, ctx->workers[t].blocks[sm], p);
            out->ctas[sm] += ctx->workers[t].ctas[sm];
            free(s);
            free(ctx->workers[t].blocks[sm]);
        }
}

/* Host threads look at the limit now and then. A launch that has ended since is over it, too. */
static void judge_total(const struct launch_context *ctx, struct emu_fault *fault)
{
    const u64 spent = atomic_load(&ctx->spent);
    if (!ctx->limit || spent <= ctx->limit) return;
    *fault = (struct emu_fault){
        .kind = EMU_LIMIT,
        .text = arena_printf(
            ctx->arena, "limit reached: the kernel took %llu warp instructions, more than %llu\n",
            (unsigned long long)spent, (unsigned long long)ctx->limit)};
}

void launch_run(struct emu_machine *m, const struct emu_config *config, struct arena *arena,
                u32 threads, struct emu_fault *fault, struct launch_counts *counts)
{
    struct launch_context ctx = {
        .m = m, .config = config, .limit = config->max_instructions, .arena = arena};
    pthread_mutex_init(&ctx.lock, NULL);
    pthread_mutex_init(&ctx.turn, NULL);
    atomic_init(&ctx.stop_at, UINT32_MAX);
    atomic_init(&ctx.deliver, 0);
    atomic_init(&ctx.epoch, 1);
    ctx.deadline = m->deadline;
    atomic_init(&ctx.spent, m->spent);
    if (config->progress) ctx.started = ctx.reported = now();
    ctx.ended = arena_array(arena, atomic_ullong, m->cta_count / 64 + 1);
    u32 clusters = m->cta_count / m->cluster_size;
    if (m->program->talks || m->steps.watched || threads < 1) threads = 1;
    if (threads > clusters) threads = clusters;
    ctx.worker_count = threads;
    ctx.at_once = m->program->talks || m->launch->order;
    /* A speculation that has something to do when CTAs have ended (the log of deferred reductions) has one host thread. */
    atomic_init(&ctx.in_turn, m->caches || m->trace ||
                                  (threads == 1 && m->speculation && m->speculation->ctas_ended));
    m->threads.parallel = threads > 1;
    m->context = &ctx;
    ctx.workers = arena_array(arena, struct host_worker, threads);
    pthread_t *ids = arena_array(arena, pthread_t, threads);
    for (u32 t = 0; t < threads; t++) {
        struct host_worker *h = &ctx.workers[t];
        h->ctx = &ctx;
        h->worker.machine = m;
        h->worker.bounds = arena_array(arena, struct emu_bound, m->program->site_count);
        if (m->speculation && m->speculation->thread_begins)
            m->speculation->thread_begins(&h->worker);
        if (m->threads.parallel && m->program->combines)
            h->worker.combine = arena_array(arena, struct combine, 1);
        if (config->count) {
            h->sites = arena_array(arena, struct emu_site *, m->sms);
            h->blocks = arena_array(arena, struct emu_block_count *, m->sms);
            h->ctas = arena_array(arena, u64, m->sms);
            h->worker.who = arena_alloc(arena, m->shared_size / 4 + 1);
        }
        arena_alloc(arena, LINE_PAIR); /* before the next host thread's */
    }
    u32 started = 0; /* beside this thread */
    for (u32 t = 1; t < threads; t++, started++)
        if (pthread_create(&ids[t], NULL, work, &ctx.workers[t]) != 0) break;
    if (m->launch->order) ordered_run(&ctx.workers[0]);
    else work(&ctx.workers[0]);
    for (u32 t = 1; t <= started; t++) pthread_join(ids[t], NULL);
    for (u32 t = 0; t < threads; t++) {
        struct host_worker *h = &ctx.workers[t];
        atomic_fetch_add(&ctx.spent, h->instructions);
        for (struct slot *p = h->resident, *next; p; p = next) next = p->next, slot_destroy(p);
        for (struct slot *p = h->spare, *next; p; p = next) next = p->next, slot_destroy(p);
    }
    deliver_end(&ctx);
    if (config->count) gather(&ctx, counts);
    counts->instructions = atomic_load(&ctx.spent) - m->spent;
    counts->busy_waits = atomic_load(&ctx.busy_waits);
    counts->thread_instructions = 0;
    for (u32 t = 0; t < threads; t++)
        counts->thread_instructions += ctx.workers[t].worker.thread_instructions;
    *fault = ctx.fault;
    if (fault->kind == EMU_OK) judge_total(&ctx, fault);
    pthread_mutex_destroy(&ctx.lock);
    pthread_mutex_destroy(&ctx.turn);
}
