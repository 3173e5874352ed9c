/* determinism/hardware/z_unit.h: the Z unit of a memory partition, which commits GPUDet's stores (thesis, section
 * 4.4.3): a request buffer, and a Z cache of depths whose lines are locked while a request works on them.
 *
 *     double start = z_unit_admit(u, now);                  // the request buffer has a free entry
 *     struct z_lookup z = z_unit_lookup(u, chunk, start);   // from when on the line is this request's
 *     if (!z.hit) z.start += ...;                           // the depths are fetched
 *     z_unit_complete(u, z.line, start, z.start + 1);       // compared and written
 *
 * Requests come in ascending order of time. Whoever asks says what a fetch and a comparison take: the order counts
 * cycles of the unit, the timing model takes those of the SM. Depths themselves are not here: only the time matters. */
#ifndef HEDDLE_DETERMINISM_HARDWARE_Z_UNIT_H
#define HEDDLE_DETERMINISM_HARDWARE_Z_UNIT_H

#include <stdbool.h>
#include <stdint.h>

struct zcache_line {
    uint64_t chunk;
    double used;    /* when it was asked for last */
    double free_at; /* it is locked until then */
    bool valid;
};
struct z_unit {
    struct zcache_line *lines; /* by set and way */
    uint32_t sets, ways;
    /* The request buffer: when the requests in it are done, from `head` on, in the order in which their entries become
     * free. It has space for twice as many as there can be. */
    double *done;
    uint32_t head, count, requests;
    bool
        in_order; /* entries become free in the order in which they were taken; else as requests are done */
};
struct z_lookup {
    struct zcache_line *line;
    double start; /* when it is not locked any more */
    bool hit;
    bool blocked; /* it had to wait for a lock */
    bool evicted; /* another chunk's depths were in the line */
};

void z_unit_init(struct z_unit *u, uint32_t cache_bytes, uint32_t ways, uint32_t requests,
                 bool in_order);
void z_unit_reset(struct z_unit *u); /* empty, at time 0 */
void z_unit_free(struct z_unit *u);

/* When the request buffer has a free entry, from `now` on. */
static inline double z_unit_admit(struct z_unit *u, double now)
{
    if (u->count < u->requests) return now;
    const double first = u->done[u->head++];
    u->count--;
    return first > now ? first : now;
}

/* The chunk's line of the Z cache. On a miss the least recently used line that is not locked becomes the chunk's; if
 * all are locked, the one that is free first. */
struct z_lookup z_unit_lookup(struct z_unit *u, uint64_t chunk, double now);

/* The request that asked for the line at `used` is done, and the line unlocked, at `done`. */
void z_unit_complete(struct z_unit *u, struct zcache_line *l, double used, double done);

#endif
