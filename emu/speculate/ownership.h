/* emu/speculate/ownership.h: the ownership tags of a conflict-free run (conflict_free.h), for conflict_free.c and for the
 * handlers of tagged loads, stores and reductions (simd_ownership.c).
 *
 * Several host threads may run the CTAs. Each has tags of its own (struct conflict_free), which need no atomic operations.
 * They share struct conflict_free_run, with a record of each allocation:
 *
 *  - how the threads have used the allocation: a thread that uses it in a new way sees at once whether another one has
 *    used it in a way that does not go with that (uses_conflict);
 *  - which chunks are in an undo log: the thread that changes a chunk first saves it, and others wait until it has. So a
 *    chunk is saved once, as it was before the launch.
 *
 * When all threads have ended, merge.c compares the tags of each word. A CTA runs on one thread from its beginning to its
 * end, so two threads conflict exactly where the tags of one thread would have shown it. Until then a load may see what
 * another thread's conflicting store has left, which any order might also show it: the run is rolled back. */
#ifndef HEDDLE_EMU_SPECULATE_OWNERSHIP_H
#define HEDDLE_EMU_SPECULATE_OWNERSHIP_H

#include "emu/speculate/conflict_free.h"

#include <pthread.h>
#include <stdatomic.h>

struct emu_observer;

/* A tag says who was at a word: nobody (0); one warp, which is not known; several warps, all of which loaded it;
 * reductions of one kind that may come in any order; or one warp (or thread), which has loaded it or, if the tag is
 * odd, also stored to it.
 * Tags of shared memory have the number of the phase, in which they were made, above TAG_BITS: a barrier of the
 * CTA begins another phase, and tags of earlier ones do not count. */
enum {
    TAG_SOMEBODY = 1, /* has stored to it */
    TAG_SEVERAL = 2,
    TAG_REDUCED = 3, /* twice the kind more */
    TAG_FIRST = 128, /* the first warp, or thread; */
    TAG_NEXT = 2,    /* of the next one so much more */
    TAG_BITS = 12,
    TAG_PHASES = 1 << 20,
    TAG_WORD = 4,
    TAG_WORDS = LANES / 2, /* of a chunk: rows of tiles are often half a warp's */
    TAG_CHUNK = TAG_WORDS * TAG_WORD,
};
/* A chunk has one tag, if each access loaded or stored all of it. Or it has TAG_ONCE and a bit for each word from the
 * second one on: the word was stored to once, and nothing else was done there. Tags of words would take more memory, and
 * most words need none. If anything else is done there, the bits do not suffice, and the launch begins again without such
 * chunks. Or, with TAG_BY_WORDS, its words have tags. TAG_ONCE is odd, as the tags of changes are: the undo log has kept
 * what was there. */
#define TAG_ONCE 0xc0000001
#define TAG_BY_WORDS (UINT32_MAX - 1)

/* How the host threads have used an allocation: loads without tags, anything with tags, changes, reductions of one kind
 * without tags (above USE_BITS: their tag), reductions that wait in the log. */
enum {
    USE_LOADED = 1,
    USE_TAGGED = 2,
    USE_STORED = 4,
    USE_REDUCED = 8,
    USE_LOGGED = 16,
    USE_BITS = 8
};
/* Whether these uses need tags that are missing. */
static inline bool uses_conflict(u32 uses)
{
    return (uses & USE_LOADED && uses & USE_STORED) ||
           (uses & USE_REDUCED && uses & (USE_LOADED | USE_STORED | USE_TAGGED));
}

struct allocation_record { /* of an allocation, for all host threads */
    u64 low, high;
    u8 *host;
    atomic_uint uses;
    bool kept; /* all of it is in an undo log; under conflict_free_run.replay */
    /* Two bits for each chunk: a thread has undertaken to save it, and it has. NULL: there is one host thread. */
    _Atomic u64 *saved;
};

struct tagged_allocation {
    u64 low, high;
    u8 *host;
    struct allocation_record *record;
    u32 *tags;               /* by word, where of_chunk says so */
    u32 *of_chunk;           /* by chunk; NULL: there are none yet */
    bool stored, *loaded_by; /* loaded_by: sites whose loads, or reductions, were not tagged */
    u32 reduced; /* not 0: all that was done there are reductions that would leave this tag */
    bool loaded; /* by any of these */
    bool logged; /* some wait in the log */
};

/* What is done in a phase: loads without tags, and with; reductions without; what is tagged and changes something. */
enum { TAG_LOADED = 1, TAG_LOOKED = 2, TAG_ADDED = 4, TAG_CHANGED = 8 };
struct tagged_shared {       /* a CTA's */
    u32 *tags, *tags_memory; /* the memory has the words of a warp more on either side */
    u32 cta, phase;
    u32 *seen;     /* by site: the last phase in which it loaded without tags */
    u32 had;       /* in this phase: TAG_LOADED, ... */
    u32 kind;      /* of the reductions without tags, what would be their tag */
    u32 here;      /* warps that have been there in this phase, a bit each */
    u32 alive[32]; /* of each warp, when the phase began */
    struct tagged_shared *next;
};

struct footprint_run { /* a run of bytes that the observer has not got yet */
    u64 from, to;
    u8 kind, flags; /* EMU_LOAD, ...; enum emu_access_flag */
};
enum { TAG_ALLOCATIONS = 64 };
struct conflict_free { /* of a host thread */
    struct conflict_free_run *run;
    u32 thread; /* its number */
    const struct emu_machine *m;
    bool by_thread;                      /* tags are of threads, not of warps */
    const struct emu_observer *observer; /* who gets the footprint; NULL: nobody */
    struct deferred_log *log;            /* NULL: what changes memory does so */
    struct footprint_run *footprints;    /* by site; likewise */
    u8 *tagged;                          /* by site; then, of shared memory, TAG_LOADS, ... */
    struct tagged_allocation **of_site;  /* which it has been in last */
    bool *is_free;                       /* by site: a load that needs no tags */
    struct tagged_allocation *list[TAG_ALLOCATIONS];
    u32 count;
    struct tagged_shared *shared; /* of all places for CTAs */
    bool failed, learnt;
    bool once;  /* chunks may have TAG_ONCE, */
    bool doubt; /* and one of these was looked at whose bits do not suffice */
    struct undo_block *undo;
};

struct conflict_free_run { /* what its host threads share */
    const struct emu_machine *m;
    u8 *tagged; /* as in struct conflict_free; each thread has a copy, and these are joined at the end */
    bool by_thread;
    const struct emu_observer *observer; /* then there is one host thread */
    struct deferred_log *log;
    struct conflict_free **threads;
    u32 thread_count;
    pthread_mutex_t lock; /* of the list of records */
    struct allocation_record *list[TAG_ALLOCATIONS];
    u32 count;
    pthread_mutex_t
        replay;   /* the thread that has it gives the order the log of CTAs that have ended */
    u32 replayed; /* the first so many */
    atomic_size_t undo_bytes;
};

/* Where the bytes are; NULL: not all of them are in one that may be accessed so. */
struct tagged_allocation *tagged_find(struct conflict_free *p, u32 site, u64 address, u32 size,
                                      bool write);
void tagged_make_tags(struct conflict_free *p, struct tagged_allocation *b);
/* Nobody has been there: the first one reduces. If it is small it is kept as it is, and others of that kind need no
 * tags, until somebody does anything else. */
void tagged_only_reduce(struct conflict_free *p, struct tagged_allocation *b, u32 tag);
/* Somebody changes what is there, for the first time, or does what its reductions do not bear. */
void tagged_change(struct conflict_free *p, struct tagged_allocation *b);
/* The first of its reductions goes into the log. */
void tagged_log(struct tagged_allocation *b);
/* It is loaded by this site without tags. */
void tagged_load_free(struct conflict_free *p, struct tagged_allocation *b, u32 site);
/* Notifies the observer. */
void footprint_report(const struct conflict_free *p, const struct footprint_run *t);
/* Keeps what is there, as far as it is in the allocation; `offset`: of a chunk. */
void undo_log_save(struct conflict_free *p, const struct allocation_record *b, u64 offset,
                   u32 size);
/* The host threads have ended: joins the sites that each has tagged, and, if the run has not failed yet, compares the tags
 * of words. Whether it has failed then. merge.c */
bool tags_conflict(struct conflict_free_run *run, bool failed);
/* The tags of the CTA's shared memory. */
struct tagged_shared *tagged_shared_of(struct conflict_free *p, struct emu_cta *c);
/* Something is done for the first time in the phase. If that may meet what is not tagged the launch begins again. */
void tagged_shared_used(struct conflict_free *p, const struct tagged_shared *s);

#endif
