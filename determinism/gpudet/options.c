/* Options of gpudet and the names of its counts. */
#define _GNU_SOURCE
#include "base/buf.h"
#include "determinism/gpudet/internal.h"

#include <string.h>

static const char *const steps[] = {"block", "instruction", NULL};
static const char *const commits[] = {"zbuffer", "locks", NULL};
static const char *const losers[] = {"lock", "skip", NULL};
static const char *const serials[] = {"cu", "warp", "any", NULL};
static const char *const shareds[] = {"ordered", "any", NULL};
static const char *const distributions[] = {"deterministic", "any", NULL};

#define NUMBER(field, low, high, usual, text)                                                      \
    {                                                                                              \
        .name = #field, .what = text, .offset = offsetof(struct gpudet_options, field),            \
        .least = low, .most = high, .preset = usual                                                \
    }
#define SWITCH(field, text)                                                                        \
    {                                                                                              \
        .name = #field, .what = text, .offset = offsetof(struct gpudet_options, field),            \
        .words = order_off_on, .preset = 1                                                         \
    }
#define CHOICE(field, list, text)                                                                  \
    {                                                                                              \
        .name = #field, .what = text, .offset = offsetof(struct gpudet_options, field),            \
        .words = list, .preset = 0                                                                 \
    }
enum { ZCACHE = 16384, WAYS = 4, REQUESTS = 16 };

const struct order_option gpudet_option_list[GPUDET_OPTIONS] = {
    NUMBER(quantum, 1, 1000000, 200, "instructions of a warp after which its parallel mode ends"),
    CHOICE(step, steps,
           "where that is: at the end of a basic block, or at the very instruction (slower)"),
    SWITCH(bta, "a CTA whose warps have all come to a barrier goes on in the same quantum"),
    SWITCH(dwp, "CTAs are dealt to slots beforehand, and begin as soon as their slot is free"),
    SWITCH(buffer,
           "stores go into the warp's buffer; off: to memory at once, which breaks the guarantee"),
    NUMBER(log, 64, 1000000, 1024,
           "entries of a store buffer: a warp's parallel mode ends when it is full"),
    NUMBER(bloom, 8, 65536, 1024, "bits of a store buffer's Bloom filter"),
    NUMBER(subarrays, 1, 8, 4, "parts of the Bloom filter, each with a hash function"),
    CHOICE(commit, commits, "how stores reach memory: by Z units, or under locks"),
    NUMBER(overlap, 1, 1000000, 1,
           "commit=locks: entries of a warp that are committed at a time (of estimates alone)"),
    CHOICE(
        losers, losers,
        "commit=locks: a store that one of a smaller depth covers takes the lock to find that out, or "
        "is skipped, as the lock's word has the depth (of estimates alone)"),
    SWITCH(depth, "of each byte the store of the smallest depth stays; off: the last that arrives, "
                  "which breaks the guarantee"),
    NUMBER(partitions, 1, 64, 6, "of memory, each with a Z unit"),
    NUMBER(zcache, 128, 1 << 20, ZCACHE, "bytes of a Z unit's cache, in lines of 128"),
    NUMBER(ways, 1, 64, WAYS, "of that cache"),
    NUMBER(requests, 1, 1024, REQUESTS, "that a Z unit works on at a time"),
    NUMBER(fetch, 0, 10000, 100,
           "cycles until what the Z cache lacks is there; of a lock's atomic"),
    NUMBER(barrier, 0, 1000000, 0,
           "cycles of the SMs' clock that each barrier between modes takes (of estimates alone)"),
    CHOICE(
        serial, serials,
        "atomics: one compute unit after another, one warp after another, or as they arrive, which "
        "breaks the guarantee"),
    CHOICE(
        shared, shareds,
        "warps that share memory run one after another, or as the adversary wants, which gives the "
        "promise up for races there"),
    CHOICE(distribution, distributions,
           "slots for CTAs are fixed, or the adversary's choice, which breaks the guarantee"),
};

/* What is given of store buffers and of commits, which there are not with buffer=off: its name, or NULL. */
static const char *of_buffers(const struct gpudet_options *o)
{
    static const char *const names[] = {"log",     "bloom",  "subarrays", "commit",
                                        "overlap", "losers", "depth",     "partitions",
                                        "zcache",  "ways",   "requests",  "fetch"};
    for (size_t i = 0; i < GPUDET_OPTIONS; i++) {
        const struct order_option *x = &gpudet_option_list[i];
        uint32_t value;
        memcpy(&value, (const char *)o + x->offset, sizeof value);
        for (size_t k = 0; k < sizeof names / sizeof *names && value != x->preset; k++)
            if (strcmp(names[k], x->name) == 0) return x->name;
    }
    return NULL;
}

char *gpudet_conflict(const void *options)
{
    const struct gpudet_options *o = options;
    const char *const nothing = o->buffer ? NULL : of_buffers(o);
    const char *what = NULL;
    if (o->bloom % o->subarrays)
        what = "bloom is divided into subarrays of equal size: make it a multiple of their number";
    if (o->zcache % (GPUDET_CHUNK * o->ways))
        what = "zcache has sets of as many lines of 128 bytes as ways says: make it a multiple of "
               "128 * ways";
    if (o->commit == GPUDET_LOCKS && (o->ways != WAYS || o->requests != REQUESTS))
        what = "ways and requests are of Z units, which commit=locks does without";
    if (o->commit != GPUDET_LOCKS && (o->overlap != 1 || o->losers != GPUDET_TAKE_LOCK))
        what = "overlap and losers are of commit=locks";
    if (o->distribution == GPUDET_ANY && !o->dwp)
        what = "distribution=any lets CTAs begin at any time: leave out dwp=off";
    if (nothing) {
        struct buf why = {0};
        buf_printf(&why, "with buffer=off there is no log and nothing to commit: leave out %s",
                   nothing);
        return why.data;
    }
    return what ? strdup(what) : NULL;
}

enum order_promise gpudet_promise(const void *options)
{
    const struct gpudet_options *o = options;
    const bool kept = o->buffer && o->depth && o->serial != GPUDET_SERIAL_ANY &&
                      o->shared != GPUDET_ANY && o->distribution != GPUDET_ANY;
    return kept ? ORDER_STRONG : ORDER_NO_PROMISE;
}

void gpudet_numbers(void *self, void (*add)(void *to, const char *name, uint64_t value), void *to)
{
    const struct gpudet_counts *n = &((const struct gpudet *)self)->n;
    static const char *const ends[] = {
#define END(ID, name) "gpudet.end." #name,
        GPUDET_ENDS(END)
#undef END
    };
    add(to, "gpudet.quanta", n->quanta);
    for (int i = 0; i < GPUDET_END_COUNT; i++) add(to, ends[i], n->end[i]);
    add(to, "gpudet.barriers.passed", n->passed);
    add(to, "gpudet.barriers.held", n->held);
    add(to, "gpudet.bloom.queries", n->queries);
    add(to, "gpudet.bloom.hits", n->hits);
    add(to, "gpudet.bloom.false", n->false_hits);
    add(to, "gpudet.log.walked", n->walked);
    add(to, "gpudet.log.entries", n->entries);
    add(to, "gpudet.log.longest", n->longest);
    add(to, "gpudet.zbuffer.hits", n->z_hits);
    add(to, "gpudet.zbuffer.misses", n->z_misses);
    add(to, "gpudet.zbuffer.evictions", n->z_evictions);
    add(to, "gpudet.zbuffer.blocked", n->z_blocked);
    add(to, "gpudet.zbuffer.full", n->z_full);
    add(to, "gpudet.locks.taken", n->locks);
    add(to, "gpudet.locks.spins", n->spins);
    add(to, "gpudet.serial.quanta", n->serial);
    add(to, "gpudet.serial.atomics", n->atomics);
    add(to, "gpudet.serial.reductions", n->reductions);
    add(to, "gpudet.serial.rounds", n->rounds);
}
