#include "model/shared_stores.h"

#include "emu/trace.h"
#include "model/timing_internal.h"

#include <stdlib.h>

typedef uint32_t u32;

enum {
    ENTRIES = 1 << 12,
    MANY = UINT16_MAX,
    FEW = 8 /* stores to a sector that do not count: at the edges of tiles each SM makes one */
};
struct entry {       /* a line, with its four sectors */
    u32 line;        /* and one; 0: none */
    uint16_t sm[4];  /* that stores to it, and one; 0: none yet; MANY */
    float stores[4]; /* by all */
};

/* Stores of the SM to the line's sectors, those to be counted: also earlier ones, when a sector begins to count. */
static double store(struct entry *e, const struct trace_line *n, u32 sm)
{
    double counted = 0;
    for (u32 s = 0; s < 4; s++) {
        if (!(n->sectors >> s & 1)) continue;
        const bool counts = e->sm[s] == MANY && e->stores[s] >= FEW;
        e->stores[s]++;
        if (!e->sm[s]) e->sm[s] = (uint16_t)(sm + 1);
        else if (e->sm[s] != sm + 1) e->sm[s] = MANY;
        if (e->sm[s] == MANY && e->stores[s] >= FEW) counted += counts ? 1 : (double)e->stores[s];
    }
    return counted;
}

double shared_stores(const struct emu_counts *c)
{
    const struct emu_trace *t = c->trace;
    struct entry *all = timing_calloc(ENTRIES, sizeof *all);
    double shared = 0, stored = 0;
    for (u32 k = 0; k < t->cta_count; k++) {
        const struct trace_cta *cta = t->ctas[k];
        const u32 sm = trace_sm_of(t->sms, t->recorded_sms, cta->linear);
        for (u32 i = 0; i < cta->line_count; i++) {
            const struct trace_line *n = &cta->lines[i];
            if (n->how != COUNT_STORE) continue;
            struct entry *e = &all[timing_hash(n->line) % ENTRIES];
            stored += timing_popcount(n->sectors);
            if (!e->line) e->line = n->line + 1;
            if (e->line == n->line + 1) shared += store(e, n, sm);
        }
    }
    free(all);
    return stored > 0 ? shared / stored * (double)c->phases[0].total.cache.l2_stores : 0;
}
