/* Copies that nobody waits for until later: cp.async and its groups, bulk copies and the mbarriers that they end in.
 *
 * The trace does not say which mbarrier an instruction names. The batches of a CTA are identified by their order:
 * what is copied after the n-th expect_tx, or before the n-th cp.async.mbarrier.arrive of each warp, is what each
 * warp's n-th try_wait waits for. That is right for pipelines of any depth, whose stages are filled in turn. */
#include "model/timing_internal.h"

#include "ptx/isa.h"

#include <string.h>

enum { GROUPS = 8, BATCHES = 16 };

enum step { NONE, COPY, COMMIT, WAIT, WAIT_ALL, BULK_COPY, EXPECT, ARRIVE, TRY };

struct timing_copies { /* of a warp */
    struct timing_access open, group[GROUPS], older;
    uint32_t committed, arrivals, waits;
    uint32_t batch; /* one more than that it sleeps for; 0: it does not */
    double held,
        woken; /* when it could go on otherwise; when it was to, the last time that it was woken */
};
struct timing_batches { /* of a CTA */
    struct timing_access batch[BATCHES];
    uint32_t begun, filled; /* how many; of which something was copied */
};

static bool is_named(const struct ptx_op *op, const char *with)
{
    return strncmp(op->form->name, with, strlen(with)) == 0;
}

static uint8_t step_of(const struct ptx_op *op)
{
    if (!op) return NONE;
    if (is_named(op, "mbarrier.try_wait")) return TRY;
    if (is_named(op, "mbarrier.") && strstr(op->form->name, "expect_tx")) return EXPECT;
    if (!is_named(op, "cp.async")) return NONE;
    if (is_named(op, "cp.async.mbarrier.arrive")) return ARRIVE;
    if (is_named(op, "cp.async.commit_group")) return COMMIT;
    if (is_named(op, "cp.async.wait_group")) return WAIT;
    if (is_named(op, "cp.async.wait_all")) return WAIT_ALL;
    if (!is_named(op, "cp.async.bulk")) return COPY;
    return ptx_op_has(op, "mbarrier::complete_tx::bytes") ? BULK_COPY : NONE;
}

bool timing_async_steps(const struct emu_trace *t, uint8_t *steps)
{
    bool copies = false;
    for (uint32_t i = 0; i < t->inst_count; i++) {
        steps[i] = step_of(t->insts[i].op);
        copies |= steps[i] == COPY || steps[i] == BULK_COPY;
    }
    return copies;
}

size_t timing_async_size(size_t *of_cta)
{
    *of_cta = sizeof(struct timing_batches);
    return sizeof(struct timing_copies);
}

void timing_async_place(const struct timing *c, uint32_t slot)
{
    c->batches[slot] = (struct timing_batches){0};
    memset(c->copies + (size_t)slot * c->warps_per_cta, 0, c->warps_per_cta * sizeof *c->copies);
}

static void later(struct timing_access *a, struct timing_access than)
{
    if (than.done > a->done) *a = than;
}

/* Something more of batch n: those who sleep for it go on when it is there. */
static void fill(struct timing *c, uint32_t slot, uint32_t n, struct timing_access a)
{
    struct timing_batches *b = &c->batches[slot];
    struct timing_access *batch = &b->batch[n % BATCHES];
    if (n >= b->filled) *batch = a, b->filled = n + 1;
    else later(batch, a);
    for (uint32_t k = 0; k < c->warps_per_cta; k++) {
        struct timing_copies *s = &c->copies[slot * c->warps_per_cta + k];
        struct timing_warp *w = &c->warps[slot * c->warps_per_cta + k];
        if (s->batch != n + 1) continue;
        const double ready = *w->ready;
        if (ready < TIMING_NEVER && (ready < s->woken || ready > s->woken))
            s->batch = 0; /* it went on */
        else {
            timing_release_warp(c, w, s->held, batch->done, (enum timing_part)batch->part);
            s->woken = *w->ready;
        }
    }
}

static struct timing_access wait_group(const struct timing_copies *s, uint32_t pending)
{
    struct timing_access a = s->older;
    for (uint32_t n = s->committed > GROUPS ? s->committed - GROUPS : 0; n + pending < s->committed;
         n++)
        later(&a, s->group[n % GROUPS]);
    return a;
}

static void commit(struct timing_copies *s)
{
    struct timing_access *g = &s->group[s->committed++ % GROUPS];
    if (s->committed > GROUPS) later(&s->older, *g);
    *g = s->open;
    s->open = (struct timing_access){0};
}

struct timing_access timing_async(struct timing *c, struct timing_warp *w, uint32_t inst,
                                  struct timing_access done)
{
    struct timing_copies *s = &c->copies[timing_warp_index(c, w)];
    struct timing_batches *b = &c->batches[w->cta];
    struct timing_access all = {0};
    switch (c->code.steps[inst]) {
    case COPY: later(&s->open, done); break;
    case COMMIT: commit(s); break;
    case WAIT: return wait_group(s, c->t->insts[inst].pending);
    case WAIT_ALL:
        all = wait_group(s, 0);
        later(&all, s->open);
        return all;
    case BULK_COPY: fill(c, w->cta, b->begun ? b->begun - 1 : 0, done); break;
    case EXPECT: b->begun++; break;
    case ARRIVE:
        later(&s->open,
              (struct timing_access){1, TIMING_BARRIER}); /* of what was copied, or nothing */
        fill(c, w->cta, s->arrivals++, s->open);
        break;
    case TRY:
        if (s->waits < b->filled && s->waits + BATCHES >= b->filled)
            all = b->batch[s->waits % BATCHES];
        s->waits++;
        break;
    default: break;
    }
    return all;
}

void timing_async_sleep(struct timing *c, struct timing_warp *w, uint32_t inst)
{
    struct timing_copies *s = &c->copies[timing_warp_index(c, w)];
    s->batch = 0;
    if (c->hooks || c->code.steps[inst] != TRY || s->waits <= c->batches[w->cta].filled) return;
    s->batch = s->waits, s->held = *w->ready;
    *w->ready = TIMING_NEVER;
}

bool timing_async_wake(struct timing *c, uint32_t slot, double now)
{
    bool any = false;
    for (uint32_t k = 0; k < c->warps_per_cta; k++) {
        struct timing_warp *w = &c->warps[slot * c->warps_per_cta + k];
        struct timing_copies *s = &c->copies[slot * c->warps_per_cta + k];
        if (!w->live || !s->batch || *w->ready != TIMING_NEVER) continue;
        s->batch = 0;
        timing_release_warp(c, w, s->held, now, TIMING_BARRIER);
        any = true;
    }
    return any;
}
