/* emu/speculate/ownership.h: the ownership tags of a conflict-free run (conflict_free.h), for conflict_free.c and for the
 * handlers of tagged loads, stores and reductions (simd_ownership.c).
 *
 * Several host threads may run the CTAs. Each thread has its own tags (struct conflict_free), which need no atomic
 * operations. The threads share struct conflict_free_run, with a record of each allocation:
 *
 *  - how the threads have used the allocation: a thread that uses it in a new way detects at once whether another
 *    thread has used it in an incompatible way (uses_conflict);
 *  - which chunks are in an undo log: the first thread that changes a chunk saves it, and others wait for that. So a
 *    chunk is saved once, with its contents before the launch.
 *
 * When all threads have ended, merge.c compares the tags of each word. A CTA runs on one thread from its beginning to
 * its end, so this finds exactly the conflicts that the tags of a single thread would show. Until then a load may
 * return the value of another thread's conflicting store, as it may under an order; the run is rolled back. */
#ifndef HEDDLE_EMU_SPECULATE_OWNERSHIP_H
#define HEDDLE_EMU_SPECULATE_OWNERSHIP_H

#include "emu/speculate/conflict_free.h"

#include <pthread.h>
#include <stdatomic.h>

struct emu_observer;

/* A tag says which accesses a word had: none (0); a store by one unknown warp; loads by several warps; reductions of
 * one commutative kind; or loads by one warp (with by_thread: thread) and, if the tag is odd, also its stores. Tags of
 * shared memory have the number of their phase above TAG_BITS: a barrier of the CTA begins a new phase, and tags of
 * earlier phases are void. */
enum {
    TAG_SOMEBODY = 1, /* an unknown warp has stored to the word */
    TAG_SEVERAL = 2,
    TAG_REDUCED = 3, /* plus twice the kind of the reductions */
    TAG_FIRST = 128, /* tag of the first warp (thread) */
    TAG_NEXT = 2,    /* difference from one warp (thread) to the next */
    TAG_BITS = 12,
    TAG_PHASES = 1 << 20,
    TAG_WORD = 4,
    TAG_WORDS = LANES / 2, /* words of a chunk: rows of tiles often have half a warp's words */
    TAG_CHUNK = TAG_WORDS * TAG_WORD,
};
/* A chunk has one tag if each access loaded or stored all of it. Or it has TAG_ONCE and a bit for each word from the
 * second one on: the word was stored to once and not accessed otherwise. Tags of words would take more memory, and most
 * words need none. If such a word is accessed again, the bits do not suffice, and the launch begins again without
 * TAG_ONCE. Or the chunk has TAG_BY_WORDS, and its words have tags. TAG_ONCE is odd, like the tags of stores: the undo
 * log has the chunk's previous contents. */
#define TAG_ONCE 0xc0000001
#define TAG_BY_WORDS (UINT32_MAX - 1)

/* How the host threads have used an allocation: loads without tags, accesses with tags, changes, reductions of one kind
 * without tags (their tag is above USE_BITS), reductions in the log. */
enum {
    USE_LOADED = 1,
    USE_TAGGED = 2,
    USE_STORED = 4,
    USE_REDUCED = 8,
    USE_LOGGED = 16,
    USE_BITS = 8
};
/* Whether the combination of these uses needs tags that are missing. */
static inline bool uses_conflict(u32 uses)
{
    return (uses & USE_LOADED && uses & USE_STORED) ||
           (uses & USE_REDUCED && uses & (USE_LOADED | USE_STORED | USE_TAGGED));
}

struct allocation_record { /* the state of an allocation that all host threads share */
    u64 low, high;
    u8 *host;
    atomic_uint uses;
    bool kept; /* all of the allocation is in an undo log; protected by conflict_free_run.replay */
    /* Two bits for each chunk: a thread has begun to save it; it has been saved. NULL: there is one host thread. */
    _Atomic u64 *saved;
};

struct tagged_allocation {
    u64 low, high;
    u8 *host;
    struct allocation_record *record;
    u32 *tags;               /* tag of each word, in chunks with TAG_BY_WORDS */
    u32 *of_chunk;           /* tag of each chunk; NULL: no tags yet */
    bool stored, *loaded_by; /* loaded_by: sites whose loads or reductions had no tags */
    u32 reduced;             /* not 0: all accesses were reductions that would leave this tag */
    bool loaded;             /* some site of loaded_by has loaded from the allocation */
    bool logged;             /* some reductions of the allocation are in the log */
};

/* Accesses in a phase: loads without tags; loads with tags; reductions without tags; changes with tags. */
enum { TAG_LOADED = 1, TAG_LOOKED = 2, TAG_ADDED = 4, TAG_CHANGED = 8 };
struct tagged_shared {       /* the tags of a CTA's shared memory */
    u32 *tags, *tags_memory; /* tags_memory also has the words of one warp on either side */
    u32 cta, phase;
    u32 *seen;     /* for each site: the last phase in which it loaded without tags */
    u32 had;       /* accesses in this phase: TAG_LOADED, ... */
    u32 kind;      /* the tag that the reductions without tags would leave */
    u32 here;      /* mask of the warps that have accessed shared memory in this phase */
    u32 alive[32]; /* live lanes of each warp when the phase began */
    struct tagged_shared *next;
};

struct footprint_run { /* a range of bytes that was not yet reported to the observer */
    u64 from, to;
    u8 kind, flags; /* EMU_LOAD, ...; enum emu_access_flag */
};
enum { TAG_ALLOCATIONS = 64 };
struct conflict_free { /* state of a host thread */
    struct conflict_free_run *run;
    u32 thread; /* number of the host thread */
    const struct emu_machine *m;
    bool by_thread;                      /* tags identify threads instead of warps */
    const struct emu_observer *observer; /* receives the footprint; NULL: none */
    struct deferred_log *log;            /* NULL: reductions are executed at once */
    struct footprint_run *footprints;    /* by site; NULL: no observer */
    u8 *tagged;                          /* as in conflict_free_new */
    struct tagged_allocation **of_site;  /* by site: the allocation that the site accessed last */
    bool *is_free;                       /* by site: its loads need no tags */
    struct tagged_allocation *list[TAG_ALLOCATIONS];
    u32 count;
    struct tagged_shared *shared; /* list for all slots of CTAs */
    bool failed, learnt;
    bool once;  /* chunks may have TAG_ONCE */
    bool doubt; /* a chunk with TAG_ONCE was accessed again, so its bits may not suffice */
    struct undo_block *undo;
};

struct conflict_free_run { /* data that the host threads share */
    const struct emu_machine *m;
    /* as in conflict_free_new; each thread has a copy, and the copies are joined at the end */
    u8 *tagged;
    bool by_thread;
    const struct emu_observer *observer; /* not NULL: there is one host thread */
    struct deferred_log *log;
    struct conflict_free **threads;
    u32 thread_count;
    pthread_mutex_t lock; /* protects the list of records */
    struct allocation_record *list[TAG_ALLOCATIONS];
    u32 count;
    /* the thread that holds it replays the log of CTAs that have ended */
    pthread_mutex_t replay;
    u32 replayed; /* number of first CTAs whose log was replayed */
    atomic_size_t undo_bytes;
};

/* The allocation that contains the bytes. NULL: not all bytes are in one allocation that permits the access. */
struct tagged_allocation *tagged_find(struct conflict_free *p, u32 site, u64 address, u32 size,
                                      bool write);
void tagged_make_tags(struct conflict_free *p, struct tagged_allocation *b);
/* The first access of the allocation is a reduction. A small allocation goes into the undo log as a whole; reductions
 * of the same kind then need no tags until there is another access. */
void tagged_only_reduce(struct conflict_free *p, struct tagged_allocation *b, u32 tag);
/* The allocation is changed for the first time, or has its first access that conflicts with its reductions. */
void tagged_change(struct conflict_free *p, struct tagged_allocation *b);
/* The first reduction of the allocation goes into the log. */
void tagged_log(struct tagged_allocation *b);
/* The site loads from the allocation without tags. */
void tagged_load_free(struct conflict_free *p, struct tagged_allocation *b, u32 site);
/* Reports the range to the observer. */
void footprint_report(const struct conflict_free *p, const struct footprint_run *t);
/* Saves `size` bytes from `offset` on, limited to the allocation. `offset`: offset of a chunk in the allocation. */
void undo_log_save(struct conflict_free *p, const struct allocation_record *b, u64 offset,
                   u32 size);
/* merge.c. To be called when the host threads have ended: joins their tagged sites and, if the run has not failed yet,
 * compares the tags of words. Whether the run has failed. */
bool tags_conflict(struct conflict_free_run *run, bool failed);
/* The tags of the CTA's shared memory. */
struct tagged_shared *tagged_shared_of(struct conflict_free *p, struct emu_cta *c);
/* To be called at the first access of its kind in the phase. If the access may conflict with accesses without tags, the
 * launch begins again. */
void tagged_shared_used(struct conflict_free *p, const struct tagged_shared *s);

#endif
