#include "determinism/hardware/z_unit.h"

#include "determinism/hardware/write_log.h"

#include <stdlib.h>
#include <string.h>

void z_unit_init(struct z_unit *u, uint32_t cache_bytes, uint32_t ways, uint32_t requests,
                 bool in_order)
{
    const uint32_t lines = cache_bytes / WRITE_LOG_CHUNK;
    *u = (struct z_unit){
        .sets = lines / ways, .ways = ways, .requests = requests, .in_order = in_order};
    u->lines = calloc(lines, sizeof *u->lines);
    u->done = calloc(2 * (size_t)requests, sizeof *u->done);
    if (!u->lines || !u->done) abort();
}

void z_unit_reset(struct z_unit *u)
{
    memset(u->lines, 0, (size_t)u->sets * u->ways * sizeof *u->lines);
    u->head = u->count = 0;
}

void z_unit_free(struct z_unit *u)
{
    free(u->lines);
    free(u->done);
}

struct z_lookup z_unit_lookup(struct z_unit *u, uint64_t chunk, double now)
{
    struct zcache_line *const set = u->lines + chunk % u->sets * u->ways, *oldest = NULL,
                              *first = set;
    struct z_lookup found = {.start = now};
    for (uint32_t i = 0; i < u->ways; i++) {
        struct zcache_line *l = &set[i];
        if (l->valid && l->chunk == chunk) {
            found.line = l;
            found.hit = true;
            found.blocked = l->free_at > now;
            if (found.blocked) found.start = l->free_at;
            return found;
        }
        if (l->free_at < first->free_at) first = l;
        if (l->free_at <= now && (!oldest || l->used < oldest->used)) oldest = l;
    }
    if (!oldest) {
        found.blocked = true;
        found.start = first->free_at;
        oldest = first;
    }
    found.evicted = oldest->valid;
    *oldest = (struct zcache_line){.chunk = chunk, .valid = true};
    found.line = oldest;
    return found;
}

void z_unit_complete(struct z_unit *u, struct zcache_line *l, double used, double done)
{
    l->used = used;
    l->free_at = done;
    if (u->head == u->requests) {
        memcpy(u->done, u->done + u->head, u->count * sizeof *u->done);
        u->head = 0;
    }
    double *at = u->done + u->head + u->count++;
    for (; !u->in_order && at > u->done + u->head && at[-1] > done; at--) *at = at[-1];
    *at = done;
}
