/* Locks: a warp that takes one waits until the warp that has it lets it go.
 *
 * A trace has locks that were taken without contention: the emulator continues with other warps only after many
 * instructions. A GPU's warps are in each other's way. So a compare-and-swap that succeeds takes a lock if the same warp
 * stores to its line, or has an atomic there that is no attempt, before the next one on the element. While
 * the warp has the lock, others that would take it do not issue. Which of them is next follows from their times.
 *
 * So does an exchange, in a kernel that polls (ptx/polling.h), if its result is read: one that finds the lock taken writes
 * the value that is there, and one that takes it another. Exchanges that nobody reads release locks, and all exchanges those
 * that a compare-and-swap has taken.
 *
 * Those that would take it try again and again. Each lane that fails occupies the slice of the lock (atomic.attempt). A warp
 * tries again once its attempt is back, so the slice is always busy where n lanes take longer than a round trip, and a request
 * that arrives waits for n * attempt - trip cycles: the length of the queue in a closed system with one server (Little's law).
 * This holds up the warp that has the lock: its accesses to the slice, among them the one that releases the lock, and its
 * fences, which are done when all slices have answered (assumed: on an H200 a fence takes as long as a load from L2). Requests
 * of others to the slice are not held up. Which of those that wait is next follows from the queue, so it takes the lock without
 * another wait.
 *
 * Only instructions that stand for themselves take locks: what a window stands for has no order among warps. */
#include "model/timing_internal.h"

#include "emu/trace.h"

typedef uint32_t u32;

enum {
    LOCKS = 1 << 10, /* slots, by a hash of the element: one that others use is not modelled */
    AHEAD = 1 << 12  /* words of the trace in which the release is looked for */
};

struct timing_lock {
    u32 element, owner; /* and one each; 0: none, free */
    u32 lanes;          /* that wait for it */
    bool by_exchange;   /* the owner has taken it so */
};

static u32 slice_of(const struct timing *c, const struct timing_lock *l)
{
    return timing_slice_of(&c->mem.l2_map, (l->element - 1) / 32);
}

static void add_attempts(struct timing *c, struct timing_lock *l, u32 lanes)
{
    if (!c->mem.attempts) return;
    l->lanes += lanes;
    c->mem.attempts[slice_of(c, l)] += lanes;
}

static double queue(const struct timing *c, u32 lanes)
{
    const struct timing_machine *m = c->m;
    return fmax(0, lanes * m->atomic.attempt - (m->l1.latency + m->l2_latency + m->atomic.latency));
}

double timing_lock_queue(const struct timing *c, const struct timing_warp *w, u32 slice)
{
    return w->holds && c->mem.attempts ? queue(c, c->mem.attempts[slice]) : 0;
}

double timing_lock_queues(const struct timing *c, const struct timing_warp *w)
{
    u32 most = 0;
    if (!w->holds || !c->mem.attempts || !c->mem.lock_waiters) return 0;
    for (u32 s = 0; s < c->m->slices; s++)
        if (c->mem.attempts[s] > most) most = c->mem.attempts[s];
    return queue(c, most);
}

static struct timing_lock *lock_of(const struct timing *c, u32 element)
{
    struct timing_lock *l = &c->mem.locks[timing_hash(element) & (LOCKS - 1)];
    if (!l->element) l->element = element + 1;
    return l->element == element + 1 ? l : NULL;
}

static bool is_global(const u32 *word)
{
    return (*word & 3) == TRACE_GLOBAL;
}

bool timing_may_take_lock(const struct emu_trace *t, uint32_t inst)
{
    const struct trace_inst *i = &t->insts[inst];
    if (!i->op || !(i->op->form->effects & PTX_ATOMIC)) return false;
    return ptx_op_has(i->op, "cas") || (t->polls && ptx_op_has(i->op, "exch") && !i->dead_result);
}

/* Other accesses may name elements, too (enum trace_handoff). */
static bool is_attempt(const struct timing *c, const u32 *word)
{
    return is_global(word) && c->code.insts[c->t->site_inst[*word >> 2]].locks;
}

/* The element that the lanes of an access change by an attempt; of several the first. UINT32_MAX: none. */
static u32 swapped(const struct timing *c, const u32 *word)
{
    if (!is_attempt(c, word) || !(word[2] & TRACE_ELEMENTS)) return UINT32_MAX;
    for (u32 l = 0; l < TRACE_SIZE_LANES(word[2]); l++)
        if (word[3 + l] & TRACE_SWAPPED) return word[3 + l] & ~TRACE_SWAPPED;
    return UINT32_MAX;
}

static bool is_exchange(const struct timing *c, const u32 *word)
{
    return c->code.insts[c->t->site_inst[*word >> 2]].by_exchange;
}

/* Whether the access may release a lock on the line that was taken by an exchange, or a compare-and-swap. */
static bool writes_line(const struct timing *c, const struct timing_warp *w, const u32 *word,
                        u32 line, bool by_exchange)
{
    if (!is_global(word)) return false;
    if (is_attempt(c, word) && (by_exchange || !is_exchange(c, word))) return false;
    for (u32 i = 0; i < TRACE_SIZE_N(word[2]); i++) {
        const struct trace_line *n = &w->cta_trace->lines[word[1] + i];
        if (n->line == line && (n->how == COUNT_STORE || n->how == COUNT_ATOMIC)) return true;
    }
    return false;
}

/* Whether the warp writes to the element's line before it exchanges the element again. */
static bool is_released(const struct timing *c, const struct timing_warp *w, u32 element)
{
    const u32 *words = w->trace->words, end = w->trace->count;
    const bool by_exchange = is_exchange(c, words + w->at);
    u32 at = w->at + 1 + trace_access_words(words + w->at);
    for (const u32 stop = at + AHEAD; at < end && at < stop; at++) {
        if ((words[at] & 3) == TRACE_BLOCK) continue;
        if (writes_line(c, w, words + at, element / 32, by_exchange)) return true;
        if (swapped(c, words + at) == element) return false;
        at += trace_access_words(words + at);
    }
    return false;
}

/* The lock that the warp's next access takes. A warp that waits asks each time that the lock is released. */
static u32 lock_taken(const struct timing *c, struct timing_warp *w)
{
    if (w->attempt == w->at + 1) return w->takes;
    const u32 element = swapped(c, w->trace->words + w->at);
    w->attempt = w->at + 1;
    w->takes = element != UINT32_MAX && is_released(c, w, element) ? element : UINT32_MAX;
    return w->takes;
}

bool timing_lock_waits(struct timing *c, struct timing_warp *w)
{
    const u32 *word = w->trace->words + w->at;
    if (w->fold > 1 || w->at >= w->trace->count || !timing_is_access_of(c->t, *word, w->inst))
        return false;
    const u32 element = lock_taken(c, w);
    if (element == UINT32_MAX) return false;
    struct timing_lock *l = lock_of(c, element);
    if (!l || w->holds == l) return false; /* the warp's own lock: this releases it */
    c->out->locks = true;
    if (l->owner && l->owner != timing_warp_index(c, w) + 1) {
        w->awaits = l;
        add_attempts(c, l, TRACE_SIZE_LANES(word[2]));
        c->mem.lock_waiters++;
        timing_set_add(c->mem.lock_waits, timing_warp_index(c, w));
        return true;
    }
    l->owner = timing_warp_index(c, w) + 1;
    l->by_exchange = is_exchange(c, word);
    w->holds = l;
    return false;
}

static void let_go(struct timing *c, struct timing_lock *l, double when)
{
    l->owner = 0;
    if (l->lanes) c->mem.attempts[slice_of(c, l)] -= l->lanes;
    l->lanes = 0;
    const u32 all = c->sms * c->warps_per_sm;
    for (u32 k = 0; (k = timing_set_next(c->mem.lock_waits, k, all)) < all; k++) {
        struct timing_warp *w = &c->warps[k];
        if (w->awaits != l) continue;
        w->awaits = NULL;
        c->mem.lock_waiters--;
        timing_set_remove(c->mem.lock_waits, k);
        timing_release_warp(c, w, when, when, TIMING_ATOMIC);
        w->part = TIMING_ATOMIC;
    }
}

void timing_lock_written(struct timing *c, struct timing_warp *w, const u32 *word, double done)
{
    struct timing_lock *l = w->holds;
    if (!l || !writes_line(c, w, word, (l->element - 1) / 32, l->by_exchange)) return;
    w->holds = NULL;
    let_go(c, l, done);
}

void timing_lock_ended(struct timing *c, struct timing_warp *w, double now)
{
    if (w->holds) let_go(c, w->holds, now);
    w->holds = NULL;
}

bool timing_lock_unblock(struct timing *c, double now)
{
    const bool any = c->mem.lock_waiters;
    for (u32 k = 0; k < LOCKS && c->mem.lock_waiters; k++)
        if (c->mem.locks[k].owner) let_go(c, &c->mem.locks[k], now);
    return any;
}

void timing_prepare_locks(struct timing *c)
{
    bool any = false;
    for (u32 i = 0; i < c->t->inst_count && !c->hooks; i++) {
        if (!timing_may_take_lock(c->t, i)) continue;
        any = c->code.insts[i].locks = true;
        c->code.insts[i].by_exchange = ptx_op_has(c->t->insts[i].op, "exch");
    }
    if (!any) return;
    c->mem.locks = timing_take(&c->storage, LOCKS, sizeof *c->mem.locks);
    c->mem.lock_waits = timing_take(&c->storage, c->sms * c->warps_per_sm / 64 + 1,
                                    sizeof(uint64_t));
    if (c->m->atomic.attempt > 0)
        c->mem.attempts = timing_take(&c->storage, c->m->slices, sizeof *c->mem.attempts);
}
