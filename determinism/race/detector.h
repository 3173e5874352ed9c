/* determinism/race/detector.h: the race detector's view of a launch, between race.c (accesses), sync.c (what orders them) and
 * launch.c (what there is of it).
 *
 * A thread's time is a number that moves on whenever it lets others know of what it did: at barriers, fences,
 * releases. All of a CTA move to the same time when all of them pass a barrier, so what has an earlier
 * time is known to all (`base`); likewise for the lanes of a warp. What else a thread knows stands in its
 * *mind*, which most threads do not have. */
#ifndef HEDDLE_DETERMINISM_RACE_DETECTOR_H
#define HEDDLE_DETERMINISM_RACE_DETECTOR_H

#include "determinism/race/deferred_list.h"
#include "determinism/race/history.h"
#include "determinism/race/race.h"
#include "determinism/race/vclock.h"
#include "emu/atomic.h" /* LANES, enum emu_atomic */
#include "emu/order.h"

enum { WARPS = 32, BARRIERS = 16, RECENT = 32, AGAIN = 256 };
enum { LEARNED = 4, CLOCKS_MOST = 5000000 };
enum { LEVELS = 3 }; /* of scopes: CTA, cluster, GPU; the system is no more than that */

struct release_fence {
    uint8_t scope;
    struct clock *news;       /* what it let be known, once somebody asked: */
    struct clock *know;       /* this, */
    uint32_t when, warp, cta; /* and these times of the thread, its warp and CTA; 0: no fence */
};

struct mind {           /* of a thread, beyond what the bases say */
    struct clock *know; /* NULL: what the CTA knows */
    struct clock *
        seen[LEVELS]; /* released, read by strong reads, not acquired: a fence may yet. All of it */
    uint32_t seen_chain[LEVELS]; /* is what was read last of this chain; 0: it is more */
    /* What strong reads of all scopes read last is not yet in seen[LEVELS - 1]: released in these chains of flags, */
    struct clock *learned[LEARNED];
    uint32_t chain[LEARNED];
    uint8_t taken; /* those that a fence has acquired since; by bit */
    uint8_t
        before; /* those that the last fence acquired, so that what it let be known has them; by bit */
    struct clock *replaced[LEARNED]; /* likewise, but no more among the learned */
    uint32_t turn;
    bool fenced; /* there was a release fence, the last of which was: */
    struct release_fence fence;
    struct release_fence *wider; /* by level: fences before it that reach further; or NULL */
};

struct copies {            /* asynchronous, that a warp has not waited for */
    struct events *events; /* that the event is of */
    uint32_t event, lanes, group;
    bool bulk, read;
};

enum {
    PROXY_FENCES = 4
}; /* that are remembered of a thread: it may be behind barriers that others are not */

struct warp {
    uint32_t when[LANES];
    uint32_t base;  /* what its lanes did before is known to all of them */
    uint32_t since; /* the CTA's base when this was last looked at */
    uint32_t exist;
    bool even;         /* all its lanes are at one time; else perhaps not */
    bool moved;        /* there were fences of proxies, or groups of copies */
    struct mind *mind; /* of each lane; NULL: none has any */
    uint32_t proxy_fence[PROXY_FENCES]
                        [LANES]; /* when each last fenced the proxies, and before that, */
    uint32_t proxy_base[LANES];  /* and the CTA's base when it last did */
    uint32_t groups[2][LANES];   /* committed: of cp.async, of bulk copies */
    struct copies *copies;
    uint32_t copy_count, copy_cap;
    uint64_t copy_serial; /* of the last one: its warp instruction, */
    uint32_t copy_event;
    struct events *copy_events;
    struct recent { /* events that are not old: by place */
        uint32_t pc, cta, when, mask, event;
        uint8_t kind, space;
    } recent[RECENT];
};

enum {
    NEAR,
    FAR,
    SIDES
}; /* who arrives: threads of the mbarrier's CTA, of others in the cluster */
struct mbarrier {
    uint32_t offset, phase; /* phases that are complete */
    struct clock *arrived[SIDES], *done[SIDES];
};

/* What was released at a place: by whom, and who may acquire it. By level: of the CTA `id`, the cluster `id`,
 * of all. */
struct flag {
    uint64_t address; /* 0: free */
    uint32_t id[2];
    struct clock *released[LEVELS];
    uint32_t
        chain[LEVELS]; /* as long as it is the same, what was released has all that it had before */
    uint32_t
        next; /* of global memory: in the list, of the same word, or of those that are vacant */
};
struct flag_places { /* those of global memory; pages say where */
    struct flag *list;
    uint32_t count, cap, vacant;
};
struct flags { /* by address; open */
    struct flag *list;
    uint32_t count, cap; /* cap: a power of two, or 0 */
};

/* What a thread released at a place by operations: its later strong writes there let that be known, whoever wrote
 * in between. */
struct own {
    uint64_t address;      /* 0: free */
    uint32_t home, thread; /* home: in whose shared memory; UINT32_MAX: global */
    struct clock *released[LEVELS];
};
struct owns { /* of a CTA's threads; open */
    struct own *list;
    uint32_t count, cap; /* cap: a power of two, or 0 */
};

struct cta {
    uint32_t index, cluster;
    uint32_t base, top; /* top: the latest time that a thread of it has */
    struct clock *know;
    bool gone; /* some of its threads ended before a barrier of all others: */
    uint32_t present[WARPS];
    uint32_t
        *left; /* by thread that ended: up to where all know what it did. NULL: nobody's gone */
    struct {
        struct clock *arrived;
        uint32_t waiting[WARPS], count;
        bool only_arrived; /* some do not wait */
    } barriers[BARRIERS];
    uint32_t met; /* those at which somebody waits, or has arrived; the others are zeros */
    struct warp *warps;
    struct shadow shared;
    struct events events; /* of shared memory */
    struct notes notes;
    struct flags flags;
    struct owns owns;
    struct mbarrier *mbarriers;
    uint32_t mbarrier_count, mbarrier_cap;
    struct cta *next; /* of those that are resident */
};

struct group {            /* a cluster, at its barrier */
    uint32_t index, left; /* left: CTAs that have not ended */
    struct clock *arrived, *done;
    struct group *next;
};

struct again {     /* a finding that was told of already, */
    uint64_t more; /* and happened so often since its report was asked */
    uint32_t pc, pc2;
    bool known; /* that it was; else the rest is nothing */
};

struct race {
    struct emu_observer observer;
    struct emu_machine *machine;
    struct emu_extent extent;
    struct clock_tree tree;
    uint32_t warps; /* of a CTA */
    struct shadow global;
    struct events events;
    struct notes notes;
    struct again again[AGAIN];
    bool *eager;          /* by place: what it reads is not put off, as it is written soon */
    struct cta then;      /* of an access that was put off: as it was, as far as it matters, */
    struct warp its_warp; /* and the warp, which is */
    uint32_t its_number;
    struct flag_places places;
    struct flags
        late; /* of global memory: as they were before strong stores that the order still keeps back */
    struct cta *ctas, *spare; /* the last used one first */
    uint32_t cta_count;       /* both */
    struct group *groups;
    uint32_t turn;
    uint32_t chains; /* of flags, so far */
    bool copies;     /* there may be asynchronous ones */
    uint32_t
        lowest; /* level that is kept: where no instruction names a scope below the GPU, only that of all */
    bool mapped;
    struct race_limits limits;
    uint64_t happened; /* events of the launch so far, of all memories */
    bool given_up;     /* it had more than the limits allow, and is looked at no further */
};

/* launch.c: the CTA of that index, which begins when it is first named. */
struct cta *race_cta_slow(struct race *r, uint32_t index);
static inline struct cta *race_cta(struct race *r, uint32_t index)
{
    return r->ctas && r->ctas->index == index ? r->ctas : race_cta_slow(r, index);
}
void race_move_on(const struct cta *c, struct warp *w);
static inline struct warp *race_warp(const struct cta *c,
                                     uint32_t warp) /* with its times as they are now */
{
    struct warp *w = &c->warps[warp];
    if (w->since != c->base) race_move_on(c, w);
    return w;
}
void race_begin_minds(struct warp *w);
static inline struct mind *race_mind(struct warp *w, uint32_t lane) /* makes one if there is none */
{
    if (!w->mind) race_begin_minds(w);
    return &w->mind[lane];
}
static inline struct clock *mind_know(const struct cta *c, const struct warp *w, uint32_t lane)
{
    return w->mind && w->mind[lane].know ? w->mind[lane].know : c->know;
}

/* sync.c */
void race_sync(void *self, const struct emu_sync *s);
void race_cta_end(struct race *r, struct cta *c);
/* A strong access of one lane to what may be a flag, which is `f` or none so far; after it was looked at as an access.
 * `writes`: it is no load, nor does it fail. */
void race_flag(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
               const struct emu_access *a, bool writes, struct flag *f, struct cta *home,
               uint64_t address);
/* The lanes whose access is a compare-and-swap that finds something else: no write. */
uint32_t race_failing(const struct emu_access *a);
struct mbarrier *race_mbarrier(struct race *r, struct cta *home, uint32_t offset, uint32_t *slot);

/* release.c. `home`: whose shared memory the place is in; NULL: global. The flag of a place, or NULL */
struct flag *race_flag_at(struct race *r, const struct cta *home, uint64_t address);
/* Of global memory, in that page. */
static inline struct flag *race_flag_in(const struct race *r, const struct page *p,
                                        uint64_t address)
{
    const uint32_t word = (uint32_t)(address % PAGE) / 4;
    if (!(p->flagged >> word / ROW_WORDS & 1)) return NULL;
    for (uint32_t i = p->flags[word]; i; i = r->places.list[i].next)
        if (r->places.list[i].address == address) return &r->places.list[i];
    return NULL;
}
/* Where there was none. It may move others. NULL: no memory is there. */
struct flag *race_begin_flag(struct race *r, struct cta *home, uint64_t address);
void race_end_flag(struct race *r, struct cta *home, struct flag *f);
/* A weak store: what was released there is no more. */
void race_unflag(struct race *r, struct cta *home, uint64_t address);
/* The host begins to read where the flag of global memory is; or if it has read that, the flag. */
void race_flag_ahead(const struct race *r, const struct page *p, uint64_t address, bool was_read);
void race_flags_clear(struct race *r, struct flags *f);
void race_flags_forget(
    struct race *r); /* those of global memory, when there are no clocks any more */
/* What the flag was, or would have been, before a strong store that the order still keeps back; or NULL. */
const struct flag *race_late_flag(const struct race *r, uint64_t address);
void race_add_late(struct race *r, const struct flag *was);
/* Bytes of a store that the order kept back are in memory now. */
void race_drained(void *self, const struct emu_drained *s);

/* report.c: the launch is too much. */
void race_give_up(struct race *r);
/* Reports say how often what was told of happened since. */
void race_count_reports(struct race *r);

/* race.c: of the observer. */
void race_access(void *self, const struct emu_access *a);
/* An access to global or shared memory, or to an mbarrier, that releases and acquires nothing. */
void race_look(struct race *r, const struct emu_access *a);

#endif
