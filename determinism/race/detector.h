/* determinism/race/detector.h: the state of the race detector during a launch, private to
 * determinism/race/.
 *
 * The algorithm is FastTrack (Flanagan and Freund, PLDI 2009, section 3), adapted to the thread
 * hierarchy and to the scopes of PTX (PTX ISA, "Memory Consistency Model").
 *
 * Epochs. Every thread (lane) counts its epoch: it goes up when the thread publishes what it did,
 * at barriers, fences and releases. When all threads of a CTA have passed a barrier, all get one
 * new epoch, the *barrier epoch* of the CTA: each of them knows all that the others did before it.
 * Warps have a barrier epoch, too (__syncwarp). So two accesses inside a CTA are mostly ordered by
 * a comparison of two numbers, without a vector clock.
 *
 * Vector clocks. What a thread knows beyond the barrier epochs is a vector clock (vclock.h): of the
 * CTA, for what all its threads know, or of the thread (struct thread_vc), which most threads do
 * not have.
 *
 * Synchronisation. A *flag* is a byte address at which a thread has released something, the
 * counterpart of FastTrack's lock L. It has one vector clock for each level of scope (CTA, cluster,
 * GPU). A strong read of it observes these clocks; with .acquire it joins them into the thread's
 * clock at once, and without, the next acquire fence does (PTX: "release and acquire patterns"). A
 * strong write replaces the clocks by those of the writer, and a read-modify-write adds to them.
 *
 * Observation order. A strong read orders the write that it has read, and no more, before what
 * follows it (cells.h, "observation order").
 *
 * Files: race.c checks accesses against the shadow memory (history.h) with the rules of cells.h;
 * deferred.c puts off checks; sync.c has barriers, fences, releases, acquires, asynchronous copies
 * and mbarriers; release.c finds flags; launch.c begins and ends launches and CTAs; report.c writes
 * findings. */
#ifndef HEDDLE_DETERMINISM_RACE_DETECTOR_H
#define HEDDLE_DETERMINISM_RACE_DETECTOR_H

#include "determinism/race/deferred_list.h"
#include "determinism/race/history.h"
#include "determinism/race/race.h"
#include "determinism/race/vclock.h"
#include "emu/atomic.h" /* LANES, enum emu_atomic */
#include "emu/order.h"

enum { WARPS = 32, BARRIERS = 16, RECENT = 32, REPORTED_PAIRS = 256 };
enum { LATEST_CHAINS = 4, VCLOCK_BYTES_MOST = 1 << 30 };
enum { LEVELS = 3 }; /* of scopes: CTA, cluster, GPU. With one GPU, .sys is .gpu */

struct release_fence {
    uint8_t scope;
    struct vclock *published; /* the clock that it publishes; made from the rest on demand */
    struct vclock *vc;        /* the thread's clock then */
    /* The thread's epoch and the barrier epochs of its warp and CTA then. epoch 0: no fence. */
    uint32_t epoch, warp_epoch, cta_epoch;
};

/* What a thread knows beyond the barrier epochs of its warp and CTA. */
struct thread_vc {
    struct vclock *vc; /* all that happened before its next access. NULL: that of its CTA */
    /* By level: the clocks that strong reads have observed and that an acquire fence would join. At
     * the level of the GPU the clocks in `latest` are not in it yet. */
    struct vclock *observed[LEVELS];
    uint32_t observed_chain[LEVELS]; /* all of it is of this chain (struct flag); 0: of several */
    struct vclock *latest[LATEST_CHAINS];
    uint32_t chain[LATEST_CHAINS]; /* of `latest` */
    uint8_t acquired;              /* mask of `latest`: a fence has acquired them */
    uint8_t before_fence; /* mask of `latest`: the last fence acquired and so publishes them */
    struct vclock *replaced_before_fence[LATEST_CHAINS]; /* likewise, but no longer in `latest` */
    uint32_t next_slot;
    bool has_replaced; /* there are some in replaced_before_fence */
    bool fenced;       /* the thread has executed a release fence; `fence` is the last one */
    struct release_fence fence;
    struct release_fence *wider; /* by level: earlier fences of wider scope; or NULL */
};

struct pending_copy {      /* asynchronous copies that lanes of a warp have not waited for */
    struct events *events; /* the memory of the event */
    uint32_t event, lanes, group;
    bool bulk, read;
};

enum {
    PROXY_FENCES = 4
}; /* of a thread that are kept: other threads may know of earlier ones only */

struct warp {
    uint32_t epoch[LANES];
    uint32_t barrier_epoch;      /* all its lanes know what its lanes did in earlier epochs */
    uint32_t cta_epoch;          /* the CTA's barrier epoch that its epochs are brought up to */
    uint32_t members;            /* mask of lanes that are threads */
    bool same_epoch;             /* all lanes are at one epoch. false: unknown */
    bool async_used;             /* there were proxy fences or groups of copies */
    struct thread_vc *thread_vc; /* by lane; NULL: no lane has any */
    uint32_t proxy_fence[PROXY_FENCES][LANES]; /* epochs of the last proxy fences, newest first */
    uint32_t proxy_cta_epoch[LANES];           /* the CTA's barrier epoch at the last one */
    uint32_t groups[2][LANES];                 /* committed groups: of cp.async, of bulk copies */
    struct pending_copy *copies;
    uint32_t copy_count, copy_cap;
    uint64_t copy_serial; /* of the last asynchronous instruction: emu_warp.serial, */
    uint32_t copy_event;  /* its event, */
    struct events *copy_events;
    struct recent { /* a cache of the warp's last events, by instruction */
        uint32_t pc, cta, epoch, mask, event;
        uint8_t kind, space;
    } recent[RECENT];
};

enum { SAME_CTA, OTHER_CTA, SIDES }; /* of arrivals, relative to the CTA of the mbarrier */
struct mbarrier {
    uint32_t offset, phase; /* phase: number of complete phases */
    struct vclock *arrived[SIDES], *done[SIDES];
};

struct narrow_levels { /* of a flag */
    struct vclock *released[LEVELS - 1];
    uint32_t chain[LEVELS - 1];
    uint32_t id[LEVELS - 1]; /* the CTA and the cluster of the last release */
    uint32_t vacant;         /* the number of the next unused one */
};
/* The flags of global memory. Each line of shadow memory with a flag (struct page) has one for each word, so that nothing has to be
 * read to find it; those of further bytes of a word are linked. */
struct flag_pool {
    struct word *list; /* also shadow.words */
    uint32_t count, vacant;
};
struct narrow_pool {
    struct narrow_levels *list; /* [0] is empty */
    uint32_t count, vacant;
};
enum { FLAGS_MOST = 1 << 28 }; /* 8 GiB of addresses, and 10 GiB for narrow levels */
struct placed_flag {
    uint64_t address; /* 0: unused */
    struct flag flag;
};
struct flags { /* hash table by address */
    struct placed_flag *list;
    uint32_t count, cap; /* cap: a power of two, or 0 */
};

/* What a thread released at an address by release operations. Its later strong writes to it
 * continue the release, whoever writes in between (PTX: "release pattern"). */
struct own_release {
    uint64_t address;      /* 0: unused */
    uint32_t home, thread; /* home: the CTA of the shared memory; UINT32_MAX: global */
    struct vclock *released[LEVELS];
};
struct own_releases { /* of a CTA's threads: hash table */
    struct own_release *list;
    uint32_t count, cap; /* cap: a power of two, or 0 */
};

struct cta {
    uint32_t index, cluster;
    uint32_t barrier_epoch;  /* all its threads know what its threads did in earlier epochs */
    uint32_t latest_epoch;   /* of its threads */
    struct vclock *vc;       /* what all its threads know of other CTAs */
    bool has_early_exits;    /* threads ended before a barrier that all others passed: */
    uint32_t present[WARPS]; /* masks of the lanes that passed the last one */
    uint32_t
        *exit_epoch; /* by thread that ended: all know what it did in earlier epochs. Or NULL */
    struct {         /* bar.sync, bar.arrive */
        struct vclock *arrived;
        uint32_t waiting[WARPS], count;
        bool only_arrived; /* some threads arrive without waiting */
    } barriers[BARRIERS];
    uint32_t active_barriers; /* mask of those with arrivals; the others are all zeros */
    struct warp *warps;
    struct shadow shared;
    struct events events; /* in shared memory */
    struct deferred_list deferred;
    struct flags flags;
    struct own_releases own_releases;
    struct mbarrier *mbarriers;
    uint32_t mbarrier_count, mbarrier_cap;
    struct cta *next;
};

struct cluster_state { /* the barrier of a cluster */
    uint32_t index, ctas_left;
    struct vclock *arrived, *done;
    struct cluster_state *next;
};

struct reported_pair { /* two instructions that race: a cache in front of emu_machine_is_reported */
    uint64_t uncounted; /* races of this pair that are not yet in the report's count */
    uint32_t pc, pc2;
    bool known; /* the pair is in the report; otherwise the entry is unused */
};

struct race {
    struct emu_observer observer;
    struct emu_machine *machine;
    struct emu_extent extent;
    struct vclock_store vclocks;
    uint32_t warps; /* of a CTA */
    struct shadow global;
    struct events events; /* in global memory */
    struct deferred_list deferred;
    struct reported_pair reported[REPORTED_PAIRS];
    bool *never_defer; /* by instruction: its reads are soon overwritten */
    /* A deferred access is replayed with a copy of the state that it had: of its CTA and warp what
     * the check needs. */
    struct cta replay_cta;
    struct warp replay_warp;
    uint32_t replay_warp_number;
    struct flag_pool flag_pool;
    struct narrow_pool narrow_pool;
    struct flags before_buffered; /* flags of global memory as they were before a buffered store */
    struct cta *ctas, *spare;     /* resident ones, the last used one first; unused ones */
    uint32_t cta_count;           /* of both lists */
    struct cluster_state *clusters;
    uint32_t prune_counter;
    uint32_t chains;    /* of flags, so far */
    uint32_t condensed; /* how often the clocks were condensed in this launch */
    bool has_copies;    /* the kernel has asynchronous copies */
    uint32_t
        lowest_level; /* that is tracked: GPU only, where no instruction names a narrower scope */
    bool mapped;
    struct race_limits limits;
    uint64_t event_count; /* of the launch so far, in all memories */
    struct race *nested;  /* of the grids that a launch waits for; NULL: there were none yet */
    bool gave_up;         /* the launch exceeded a limit; its accesses are no longer checked */
};

/* launch.c: the CTA of that index; creates it at its first event. */
struct cta *race_cta_slow(struct race *r, uint32_t index);
static inline struct cta *race_cta(struct race *r, uint32_t index)
{
    return r->ctas && r->ctas->index == index ? r->ctas : race_cta_slow(r, index);
}
void race_sync_epochs(const struct cta *c, struct warp *w);
static inline struct warp *race_warp(const struct cta *c,
                                     uint32_t warp) /* its epochs are current */
{
    struct warp *w = &c->warps[warp];
    if (w->cta_epoch != c->barrier_epoch) race_sync_epochs(c, w);
    return w;
}
void race_begin_thread_vcs(struct warp *w);
static inline struct thread_vc *race_thread_vc(struct warp *w, uint32_t lane) /* creates it */
{
    if (!w->thread_vc) race_begin_thread_vcs(w);
    return &w->thread_vc[lane];
}
static inline struct vclock *thread_vclock(const struct cta *c, const struct warp *w, uint32_t lane)
{
    return w->thread_vc && w->thread_vc[lane].vc ? w->thread_vc[lane].vc : c->vc;
}

/* sync.c */
void race_sync(void *self, const struct emu_sync *s);
void race_cta_end(struct race *r, struct cta *c);
/* The synchronisation of one lane's strong access to `address`. `f`: the flag there, or NULL. What a
 * read acquires happened before the access itself: so before its check. */
void race_sync_read(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
                    const struct emu_access *a, const struct flag *f, const struct cta *home,
                    uint64_t address);
/* That of a write, after its check. It is no compare-and-swap that fails. */
void race_sync_write(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
                     const struct emu_access *a, struct flag *f, struct cta *home,
                     uint64_t address);
/* The same of `own`, a strong write of a word to a flag of global memory without .release, where all scopes are .gpu or wider, no store is
 * buffered and no thread of the CTA has released with .release. */
void race_sync_word(struct race *r, const struct cta *c, const struct warp *w, uint32_t lane,
                    const struct emu_access *a, struct flag *f, tag own);
/* The lanes of a compare-and-swap that fail: they write nothing. */
uint32_t race_failing(const struct emu_access *a);
struct mbarrier *race_mbarrier(struct race *r, struct cta *home, uint32_t offset, uint32_t *slot);

/* release.c. `home`: the CTA whose shared memory the address is in; NULL: global memory. */
struct flag *race_flag_at(struct race *r, const struct cta *home, uint64_t address); /* or NULL */
/* In global memory, in that page. */
static inline struct flag *race_flag_in(const struct race *r, const struct page *p,
                                        uint64_t address)
{
    if (!(p->flagged >> (uint32_t)(address % PAGE) / 4 / LINE_WORDS & 1)) return NULL;
    for (struct flag *f = &shadow_word(&r->global, p, address)->flag;;
         f = &r->flag_pool.list[f->next].flag) {
        if (f->byte == 1 + address % 4) return f;
        if (!f->next) return NULL;
    }
}
/* What was released at the flag at a level, and its chain there. */
static inline struct vclock **race_released(const struct race *r, struct flag *f, uint32_t level)
{
    return level == LEVELS - 1 ? &f->released : &r->narrow_pool.list[f->narrow].released[level];
}
static inline uint32_t *race_chain(const struct race *r, struct flag *f, uint32_t level)
{
    return level == LEVELS - 1 ? &f->chain : &r->narrow_pool.list[f->narrow].chain[level];
}
/* Where there is none. May move other flags. NULL: there is no memory. */
struct flag *race_add_flag(struct race *r, struct cta *home, uint64_t address);
/* The flag at that address. Likewise. */
void race_remove_flag(struct race *r, struct cta *home, struct flag *f, uint64_t address);
/* After a weak store to it: removes the flag, if any. */
void race_clear_flag(struct race *r, struct cta *home, uint64_t address);
void race_flags_clear(struct race *r, struct flags *f);
/* Drops the flags of global memory when the clocks have been cleared. */
void race_flags_forget(struct race *r);
/* The flag as it was before a strong store that the order still buffers; or NULL. */
const struct flag *race_flag_before_buffered(const struct race *r, uint64_t address);
/* A copy, with references of its own to clocks. */
struct flag race_copy_flag(struct race *r, const struct flag *f);
void race_save_flag(struct race *r, const struct flag *was, uint64_t address);
/* emu_observer.drained: the bytes of a buffered store are in memory now. */
void race_drained(void *self, const struct emu_drained *s);

/* `home`: the CTA of the shared memory, UINT32_MAX: global. NULL: the thread has released nothing there. */
const struct own_release *race_own_release(const struct own_releases *o, uint64_t address,
                                           uint32_t home, uint32_t thread);
/* Stores what the thread has released at the address, at levels up to `level`. It includes all that
 * it released there before. */
void race_keep_release(struct race *r, struct own_releases *o, uint64_t address, uint32_t home,
                       uint32_t thread, struct vclock *released, uint32_t level);
void race_clear_releases(struct race *r, struct own_releases *o);

/* report.c: the launch exceeds a limit: no further checks. */
void race_give_up(struct race *r);
/* The clocks are too large: condenses them, or gives up. */
__attribute__((cold)) void race_shrink_clocks(struct race *r);
/* Moves the counts of r->reported into the report. */
void race_count_reports(struct race *r);

/* race.c */
void race_access(void *self, const struct emu_access *a); /* emu_observer.access */
/* Checks an access to global memory, shared memory or an mbarrier, without synchronisation. */
void race_check(struct race *r, const struct emu_access *a);

#endif
