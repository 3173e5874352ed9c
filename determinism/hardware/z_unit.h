/* determinism/hardware/z_unit.h: the Z unit of a memory partition, which commits GPUDet's stores (thesis, section
 * 4.4.3): a request buffer, and a Z cache of depths whose lines are locked while a request works on them.
 *
 *     double start = z_unit_admit(u, now);                  // the request buffer has a free entry
 *     struct z_lookup z = z_unit_lookup(u, chunk, start);   // from when on the line is this request's
 *     if (!z.hit) z.start += ...;                           // the depths are fetched
 *     z_unit_complete(u, z.line, start, z.start + 1);       // compared and written
 *
 * Requests must be made in ascending order of time. The caller supplies the durations of a fetch and a comparison: the
 * order uses cycles of the unit, the timing model cycles of the SM. This file models only times, not the depths
 * themselves. */
#ifndef HEDDLE_DETERMINISM_HARDWARE_Z_UNIT_H
#define HEDDLE_DETERMINISM_HARDWARE_Z_UNIT_H

#include <stdbool.h>
#include <stdint.h>

struct zcache_line {
    uint64_t chunk;
    double used;    /* time of its last request */
    double free_at; /* the line is locked until this time */
    bool valid;
};
struct z_unit {
    struct zcache_line *lines; /* by set and way */
    uint32_t sets, ways;
    /* The request buffer: completion times of its requests, from `head` on, in the order in which their entries become
     * free. The array has space for twice the largest number of requests. */
    double *done;
    uint32_t head, count, requests;
    /* Entries become free in the order in which they were taken; false: when their requests are done. */
    bool in_order;
};
struct z_lookup {
    struct zcache_line *line;
    double start; /* time when the line is unlocked */
    bool hit;
    bool blocked; /* the request had to wait for a lock */
    bool evicted; /* another chunk's depths were in the line */
};

void z_unit_init(struct z_unit *u, uint32_t cache_bytes, uint32_t ways, uint32_t requests,
                 bool in_order);
void z_unit_reset(struct z_unit *u); /* empty, at time 0 */
void z_unit_free(struct z_unit *u);

/* The time, from `now` on, at which the request buffer has a free entry. */
static inline double z_unit_admit(struct z_unit *u, double now)
{
    if (u->count < u->requests) return now;
    const double first = u->done[u->head++];
    u->count--;
    return first > now ? first : now;
}

/* The chunk's line of the Z cache. On a miss the least recently used unlocked line is replaced; if all are locked, the
 * line that is unlocked first. */
struct z_lookup z_unit_lookup(struct z_unit *u, uint64_t chunk, double now);

/* The request that looked the line up at time `used` is done, and the line is unlocked, at time `done`. */
void z_unit_complete(struct z_unit *u, struct zcache_line *l, double used, double done);

#endif
