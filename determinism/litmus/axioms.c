/* The axioms of PTX's memory model, of TSO and of SC, over all candidate executions of a litmus test.
 *
 * Relations are matrices of bits: row a has bit b if a is related to b. */
#include "determinism/litmus/axioms.h"
#include <string.h>

enum { EVENTS = 32, NOBODY = 255, MOST_CANDIDATES = 100000 };
typedef uint32_t rel[EVENTS];

struct event {
    uint8_t thread, location, value;
    int16_t from, result;
    bool reads, writes, fence, sc, arrives, waits, strong, acquires, releases, adds, reduces;
    uint8_t scope, barrier; /* which barrier of its thread */
};
struct execution {
    const struct litmus *t;
    enum axioms_model model;
    struct axioms_set *out, *racy; /* racy: of executions with a data race; NULL: they are in out */
    bool by_base, races;           /* axioms_races; the execution that was judged last */
    struct event e[EVENTS];
    uint32_t n, reads[EVENTS], read_count, fences[EVENTS], fence_count;
    uint32_t writes[LITMUS_LOCATIONS][EVENTS], write_count[LITMUS_LOCATIONS];
    rel po, strong;            /* program order; morally strong */
    uint32_t rf[EVENTS];       /* by read: the write */
    uint32_t position[EVENTS]; /* of a write among those of its location; of a fence.sc among all */
    uint8_t old[EVENTS], written[EVENTS]; /* values */
    bool overflow;
};

static bool has(const rel r, uint32_t a, uint32_t b)
{
    return r[a] >> b & 1;
}

static void close(rel r, uint32_t n) /* transitively */
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++)
            if (has(r, i, k)) r[i] |= r[k];
}

static bool cyclic(const rel r, uint32_t n)
{
    rel c;
    uint32_t on_cycle = 0;
    memcpy(c, r, sizeof c);
    close(c, n);
    for (uint32_t i = 0; i < n; i++) on_cycle += has(c, i, i);
    return on_cycle;
}

/* ---- events ------------------------------------------------------------------------------------ */

static struct event *add_event(struct execution *x, uint32_t thread)
{
    struct event *e = &x->e[x->n++];
    *e = (struct event){.thread = (uint8_t)thread, .location = NOBODY, .from = -1, .result = -1};
    return e;
}

static void add_op(struct execution *x, uint32_t thread, const struct litmus_op *op,
                   uint8_t *barriers)
{
    struct event *e = add_event(x, thread);
    if (op->kind == LITMUS_BARRIER) { /* it releases, then it acquires */
        e->arrives = true;
        e->barrier = *barriers;
        e = add_event(x, thread);
        e->waits = true;
        e->barrier = (*barriers)++;
        return;
    }
    e->strong = op->strength != LITMUS_WEAK;
    e->scope = op->scope;
    e->fence = op->kind == LITMUS_FENCE;
    e->sc = e->fence && op->strength == LITMUS_SC;
    e->acquires = e->fence || op->strength == LITMUS_ACQUIRE || op->strength == LITMUS_ACQ_REL;
    e->releases = e->fence || op->strength == LITMUS_RELEASE || op->strength == LITMUS_ACQ_REL;
    if (e->fence) return;
    e->location = op->location;
    e->value = op->value;
    e->from = op->from;
    e->result = op->result;
    e->reads = op->kind != LITMUS_STORE;
    e->writes = op->kind != LITMUS_LOAD;
    e->reduces = op->kind == LITMUS_REDUCE;
    e->adds = op->kind == LITMUS_ADD || op->kind == LITMUS_REDUCE;
}

/* Each of the two is strong, and its scope includes the other's thread. */
static bool scopes_include(const struct execution *x, const struct event *a, const struct event *b)
{
    const bool cta = x->t->cta[a->thread] == x->t->cta[b->thread];
    return a->strong && b->strong &&
           (cta || (a->scope >= EMU_SCOPE_GPU && b->scope >= EMU_SCOPE_GPU));
}

static bool build(struct execution *x)
{
    const struct litmus *t = x->t;
    for (uint32_t l = 0; l < t->locations; l++) { /* the initial writes come first */
        struct event *e = add_event(x, NOBODY);
        e->location = (uint8_t)l;
        e->writes = true;
    }
    for (uint32_t i = 0; i < t->threads; i++) {
        uint8_t barriers = 0;
        for (uint32_t k = 0; k < t->count[i]; k++) {
            if (x->n + 2 > EVENTS) return false;
            add_op(x, i, &t->ops[i][k], &barriers);
        }
    }
    for (uint32_t a = 0; a < x->n; a++) {
        const struct event *e = &x->e[a];
        if (e->reads) x->reads[x->read_count++] = a;
        if (e->sc) x->fences[x->fence_count++] = a;
        if (e->writes) x->writes[e->location][x->write_count[e->location]++] = a;
        for (uint32_t b = 0; b < x->n; b++) {
            const struct event *f = &x->e[b];
            const bool first = e->thread == NOBODY || f->thread == NOBODY,
                       same = e->thread == f->thread,
                       memory = e->location != NOBODY && f->location != NOBODY;
            if (e->thread == NOBODY ? f->thread != NOBODY : same && a < b) x->po[a] |= 1u << b;
            if (a == b || (memory && e->location != f->location)) continue;
            if (first || same || scopes_include(x, e, f)) x->strong[a] |= 1u << b;
        }
    }
    return true;
}

/* ---- values: no value out of thin air ------------------------------------------------------------ */

static bool values(struct execution *x)
{
    bool known[EVENTS] = {false};
    for (uint32_t round = 0; round <= x->n; round++)
        for (uint32_t a = 0; a < x->n; a++) {
            const struct event *e = &x->e[a];
            if (known[a] || (e->reads && !known[x->rf[a]])) continue;
            uint8_t v = e->value;
            if (e->from >= 0) { /* of an earlier event of the thread */
                uint32_t of = x->n, n = (uint32_t)e->from;
                for (uint32_t b = 0; b < a; b++)
                    if (x->e[b].thread == e->thread && x->e[b].result >= 0 && n-- == 0) of = b;
                if (of == x->n || !known[of]) continue;
                v = x->old[of];
            }
            if (e->reads) x->old[a] = x->written[x->rf[a]];
            x->written[a] = (uint8_t)((e->adds ? v + x->old[a] : v) & 15);
            known[a] = true;
        }
    for (uint32_t a = 0; a < x->n; a++)
        if (!known[a]) return false; /* reads-from and dependencies have a cycle */
    return true;
}

/* ---- PTX ----------------------------------------------------------------------------------------- */

/* Observation order: a write and a read, or through atomics. */
static void observation(const struct execution *x, rel obs)
{
    memset(obs, 0, sizeof(rel));
    for (uint32_t i = 0; i < x->read_count; i++) {
        const uint32_t r = x->reads[i], w = x->rf[r];
        if (has(x->strong, w, r)) obs[w] |= 1u << r;
    }
    close(obs, x->n); /* what is both read and write is an atomic */
}

/* Whether `first` begins a release pattern whose strong write is w. */
static bool is_release_pattern(const struct execution *x, uint32_t first, uint32_t w)
{
    const struct event *f = &x->e[first], *e = &x->e[w];
    if (!f->releases || !e->writes || !e->strong) return false;
    return first == w || (has(x->po, first, w) && f->thread == e->thread &&
                          (f->fence || f->location == e->location));
}

/* PTX 8.8: a reduction reads, but this read forms no acquire pattern with a later fence. */
static bool is_acquire_pattern(const struct execution *x, uint32_t r, uint32_t last)
{
    const struct event *f = &x->e[last], *e = &x->e[r];
    if (!f->acquires || !e->reads || !e->strong || e->reduces) return false;
    return last == r || (has(x->po, r, last) && f->thread == e->thread &&
                         (f->fence || f->location == e->location));
}

static bool synchronizes(const struct execution *x, const rel obs, uint32_t a, uint32_t b)
{
    const struct event *e = &x->e[a], *f = &x->e[b];
    if (e->sc && f->sc && has(x->strong, a, b) && x->position[a] < x->position[b]) return true;
    if (e->arrives && f->waits && e->barrier == f->barrier &&
        x->t->cta[e->thread] == x->t->cta[f->thread])
        return true;
    if (!e->releases || !f->acquires || e->thread == f->thread || !has(x->strong, a, b))
        return false;
    for (uint32_t w = a; w < x->n && x->e[w].thread == e->thread; w++)
        for (uint32_t r = 0; is_release_pattern(x, a, w) && r <= b; r++)
            if (has(obs, w, r) && is_acquire_pattern(x, r, b)) return true;
    return false;
}

/* Causality order: base causality order, and observation followed by base causality order. A
 * reduction is no read operation: observation goes through it, but does not end in it. */
static void causality(const struct execution *x, rel base, rel cause)
{
    rel obs;
    observation(x, obs);
    memcpy(base, x->po, sizeof(rel));
    for (uint32_t a = x->t->locations; a < x->n; a++)
        for (uint32_t b = x->t->locations; b < x->n; b++)
            if (a != b && synchronizes(x, obs, a, b)) base[a] |= 1u << b;
    close(base, x->n);
    memcpy(cause, base, sizeof(rel));
    for (uint32_t a = 0; a < x->n; a++)
        for (uint32_t z = 0; z < x->n; z++)
            if (has(obs, a, z) && !x->e[z].reduces) cause[a] |= base[z];
}

/* Coherence order as far as it is determined: morally strong writes, and those in causality order. false: it contradicts
 * causality order. */
static bool coherence(const struct execution *x, const rel cause, rel co)
{
    memset(co, 0, sizeof(rel));
    for (uint32_t l = 0; l < x->t->locations; l++)
        for (uint32_t i = 0; i < x->write_count[l]; i++)
            for (uint32_t k = 0; k < x->write_count[l]; k++) {
                const uint32_t a = x->writes[l][i], b = x->writes[l][k];
                const bool before = x->position[a] < x->position[b];
                if (a != b && has(cause, a, b) && !before) return false;
                if (before && (has(x->strong, a, b) || has(cause, a, b))) co[a] |= 1u << b;
            }
    close(co, x->n);
    return true;
}

/* reads-from and from-read, of what is not one and the same atomic */
static void reads(const struct execution *x, const rel co, rel rf, rel fr)
{
    memset(rf, 0, sizeof(rel));
    memset(fr, 0, sizeof(rel));
    for (uint32_t i = 0; i < x->read_count; i++) {
        const uint32_t r = x->reads[i], w = x->rf[r];
        rf[w] |= 1u << r;
        fr[r] = co[w] & ~(1u << r);
    }
}

static bool is_atomic(const struct execution *x, const rel co)
{
    for (uint32_t i = 0; i < x->read_count; i++) {
        const uint32_t a = x->reads[i];
        for (uint32_t w = 0; x->e[a].writes && w < x->n; w++)
            if (w != a && has(x->strong, a, w) && has(co, x->rf[a], w) && has(co, w, a))
                return false;
    }
    return true;
}

static bool has_race(const struct execution *x, const rel cause)
{
    for (uint32_t a = x->t->locations; a < x->n; a++)
        for (uint32_t b = x->t->locations; b < x->n; b++) {
            const struct event *e = &x->e[a], *f = &x->e[b];
            if (e->location == NOBODY || e->location != f->location || e->thread == f->thread ||
                !(e->writes || f->writes))
                continue;
            if (!has(x->strong, a, b) && !has(cause, a, b) && !has(cause, b, a)) return true;
        }
    return false;
}

static bool ptx_allows(struct execution *x)
{
    rel base, cause, co, rf, fr, order = {0};
    causality(x, base, cause);
    for (uint32_t a = 0; a < x->n; a++)
        if (x->e[a].sc && has(cause, a, a)) return false; /* Fence-SC */
    if (!coherence(x, cause, co)) return false;
    reads(x, co, rf, fr);
    if (!is_atomic(x, co)) return false;
    for (uint32_t a = 0; a < x->n; a++) /* SC-per-Location */
        for (uint32_t b = 0; b < x->n; b++) {
            const bool same = x->e[a].location == x->e[b].location && x->e[a].location != NOBODY;
            const bool com = has(rf, a, b) || has(co, a, b) || has(fr, a, b);
            if (same && a != b && (has(x->po, a, b) || (com && has(x->strong, a, b))))
                order[a] |= 1u << b;
        }
    if (cyclic(order, x->n)) return false;
    for (uint32_t a = 0; a < x->n;
         a++) /* Causality: reads-from or from-read against causality order */
        for (uint32_t b = 0; b < x->n; b++)
            if ((has(rf, a, b) || has(fr, a, b)) && has(cause, b, a)) return false;
    x->races = has_race(x, x->by_base ? base : cause);
    return true;
}

/* ---- SC and TSO ------------------------------------------------------------------------------------ */

/* Whether program order keeps a before b: TSO alone lets a load pass an earlier store. */
static bool kept(const struct execution *x, uint32_t a, uint32_t b)
{
    const struct event *e = &x->e[a], *f = &x->e[b];
    if (x->model == AXIOMS_TSO && ((e->fence && !e->sc) || (f->fence && !f->sc)))
        return false; /* a fence.acq_rel keeps no more than program order does */
    if (x->model == AXIOMS_SC || e->reads || f->writes || e->location == NOBODY ||
        f->location == NOBODY)
        return true;
    for (uint32_t k = a + 1; k < b; k++)
        if (x->e[k].sc || x->e[k].arrives || (x->e[k].reads && x->e[k].writes)) return true;
    return false;
}

static bool interleaves(const struct execution *x)
{
    rel all = {0}, place = {0}, co = {0}, rf, fr;
    for (uint32_t l = 0; l < x->t->locations; l++)
        for (uint32_t i = 0; i < x->write_count[l]; i++)
            for (uint32_t k = 0; k < x->write_count[l]; k++)
                if (x->position[x->writes[l][i]] < x->position[x->writes[l][k]])
                    co[x->writes[l][i]] |= 1u << x->writes[l][k];
    reads(x, co, rf, fr);
    for (uint32_t a = 0; a < x->n; a++)
        for (uint32_t b = 0; b < x->n; b++) {
            const bool com = has(rf, a, b) || has(co, a, b) || has(fr, a, b);
            const bool same = x->e[a].location == x->e[b].location && x->e[a].location != NOBODY;
            const bool own = x->e[a].thread == x->e[b].thread && has(rf, a, b); /* forwarded */
            const bool meet = x->e[a].arrives && x->e[b].waits &&
                              x->e[a].barrier == x->e[b].barrier &&
                              x->t->cta[x->e[a].thread] == x->t->cta[x->e[b].thread];
            if (meet || (has(x->po, a, b) && kept(x, a, b)) ||
                (com && !(own && x->model == AXIOMS_TSO)))
                all[a] |= 1u << b;
            if (com || (same && has(x->po, a, b))) place[a] |= 1u << b;
        }
    return !cyclic(all, x->n) && !cyclic(place, x->n);
}

/* ---- all executions ---------------------------------------------------------------------------------- */

static void judge(struct execution *x)
{
    uint64_t outcome = 0;
    for (uint32_t i = 0; i < x->read_count; i++) {
        const struct event *e = &x->e[x->reads[i]];
        if (e->result >= 0) outcome |= (uint64_t)x->old[x->reads[i]] << 4 * e->result;
    }
    for (uint32_t l = 0; l < x->t->locations; l++) {
        uint32_t last = x->writes[l][0];
        for (uint32_t i = 1; i < x->write_count[l]; i++)
            if (x->position[x->writes[l][i]] > x->position[last]) last = x->writes[l][i];
        outcome |= (uint64_t)x->written[last] << 4 * (x->t->reads + l);
    }
    if (axioms_has(x->out, outcome) && (!x->racy || axioms_has(x->racy, outcome))) return;
    if (x->model == AXIOMS_PTX ? ptx_allows(x) : interleaves(x))
        x->overflow |= !axioms_add(x->racy && x->races ? x->racy : x->out, outcome);
}

static void order_from(struct execution *x, uint32_t location);
/* Every order of list[at..count) in turn. */
static void permute(struct execution *x, uint32_t *list, uint32_t count, uint32_t at,
                    uint32_t location)
{
    if (at >= count) {
        order_from(x, location);
        return;
    }
    for (uint32_t i = at; i < count; i++) {
        const uint32_t chosen = list[i];
        list[i] = list[at], list[at] = chosen;
        x->position[chosen] = at;
        permute(x, list, count, at + 1, location);
        list[at] = list[i], list[i] = chosen;
    }
}

/* Orders the writes of the locations from this one on, then the fences. The first write is the initial one. */
static void order_from(struct execution *x, uint32_t location)
{
    if (location < x->t->locations)
        permute(x, x->writes[location], x->write_count[location], 1, location + 1);
    else if (location == x->t->locations) permute(x, x->fences, x->fence_count, 0, location + 1);
    else judge(x);
}

/* Chooses what the reads from this one on read from. */
static void read_from(struct execution *x, uint32_t read)
{
    if (read == x->read_count) {
        if (values(x)) order_from(x, 0);
        return;
    }
    const uint32_t r = x->reads[read];
    const uint8_t location = x->e[r].location;
    for (uint32_t i = 0; i < x->write_count[location]; i++) {
        x->rf[r] = x->writes[location][i];
        if (x->rf[r] != r) read_from(x, read + 1);
    }
}

/* How many executions there are to judge. */
static double candidates(const struct execution *x)
{
    double n = 1;
    for (uint32_t i = 0; i < x->read_count; i++)
        n *= x->write_count[x->e[x->reads[i]].location] - x->e[x->reads[i]].writes;
    for (uint32_t l = 0; l < x->t->locations; l++)
        for (uint32_t i = 2; i < x->write_count[l]; i++) n *= i;
    for (uint32_t i = 2; i <= x->fence_count; i++) n *= i;
    return n;
}

bool axioms_allowed(const struct litmus *t, enum axioms_model model, struct axioms_set *out)
{
    struct execution x = {.t = t, .model = model, .out = out};
    out->count = 0;
    if (!build(&x) || candidates(&x) > MOST_CANDIDATES) return false;
    read_from(&x, 0);
    return !x.overflow;
}

bool axioms_races(const struct litmus *t, bool by_base, struct axioms_set *clean,
                  struct axioms_set *racy)
{
    struct execution x = {
        .t = t, .model = AXIOMS_PTX, .out = clean, .racy = racy, .by_base = by_base};
    clean->count = racy->count = 0;
    if (!build(&x) || candidates(&x) > MOST_CANDIDATES) return false;
    read_from(&x, 0);
    return !x.overflow;
}
