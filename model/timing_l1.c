/* L1 of the SMs in the timing model: which sectors it has, and when they came.
 *
 * The lines of an SM are found by a table of chains, so that a set may have any number of ways: of Volta's L1 each of 4 sets
 * has up to 256 (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018), and GPGPU-Sim's
 * SM7_TITANV has one set of all lines. A set replaces the line that was used least recently, or any: Jia et al. found that
 * Volta does not replace the least recently used one, and not which rule it has. */
#include "model/timing_internal.h"

#include <string.h>

typedef uint32_t u32;
typedef uint8_t u8;

#define NONE UINT32_MAX

/* Its chain; in its set, the lines that were used after and before it. Numbers of lines are of the SM. */
struct timing_l1_line {
    struct timing_line line;
    u32 chained, newer, older;
};
struct timing_l1_set {
    u32 count, newest, oldest;
};

void timing_l1_prepare(struct timing *c, uint32_t bytes)
{
    struct timing_l1_state *l = &c->mem.l1;
    const u32 lines = bytes / 128 ? bytes / 128 : 1;
    l->sets = lines / c->m->l1.ways ? lines / c->m->l1.ways : 1;
    l->ways = lines / l->sets; /* what shared memory takes, it takes of each set */
    l->by_sets = timing_divisor(l->sets);
    if (c->m->l1.half) l->ways = (l->ways + 1) / 2;
    l->lines = l->sets * l->ways;
    for (l->chains = 1; l->chains < l->lines;) l->chains *= 2;
    l->evicted = timing_take(&c->storage, c->sms, sizeof *l->evicted);
    l->seen = timing_take(&c->storage, c->sms, sizeof *l->seen);
    l->chain = timing_take_raw(&c->storage, (size_t)c->sms * l->chains, sizeof *l->chain);
    l->set = timing_take_raw(&c->storage, (size_t)c->sms * l->sets, sizeof *l->set);
    l->line = timing_take_raw(&c->storage, (size_t)c->sms * l->lines, sizeof *l->line);
}

void timing_empty_l1(struct timing *c)
{
    memset(c->mem.l1.seen, 0, c->sms * sizeof *c->mem.l1.seen);
}

static void empty(const struct timing_l1_state *l, u32 sm)
{
    memset(l->chain + (size_t)sm * l->chains, 0xff, l->chains * sizeof *l->chain);
    for (u32 s = 0; s < l->sets; s++)
        l->set[(size_t)sm * l->sets + s] = (struct timing_l1_set){0, NONE, NONE};
    l->seen[sm] = true;
}

/* Fermi's: bits 7 to 11 of the address, with bits 13, 14, 15, 17 and 19 added modulo 2; of 64 sets, bit 12 chooses the half
 * (Nugteren et al., "A Detailed GPU Cache Model Based on Reuse Distance Theory", HPCA 2014, measured on a GTX 470;
 * `H` in the configurations of GPGPU-Sim). `line`: of 128 bytes. */
static u32 fermi_set(u32 line, u32 sets)
{
    const u32 low = line & 31,
              high = (line >> 6 & 7) | (line >> 10 & 1) << 3 | (line >> 12 & 1) << 4;
    return (low ^ high) | (sets == 64 ? (line >> 5 & 1) << 5 : 0);
}

static u32 set_of(const struct timing *c, u32 line)
{
    const u32 sets = c->mem.l1.sets;
    if (c->m->l1.fermi && (sets == 32 || sets == 64)) return fermi_set(line, sets);
    return timing_remainder(c->m->l1.hashed ? timing_hash(line) : line, c->mem.l1.by_sets);
}

static u32 chain_of(const struct timing_l1_state *l, u32 sm, u32 line)
{
    return sm * l->chains + (timing_hash(line) >> 7 & (l->chains - 1));
}

/* Takes a line out of the order of its set. */
static void unlink_line(struct timing_l1_set *set, struct timing_l1_line *all, u32 i)
{
    const u32 newer = all[i].newer, older = all[i].older;
    if (newer == NONE) set->newest = older;
    else all[newer].older = older;
    if (older == NONE) set->oldest = newer;
    else all[older].newer = newer;
}

static void put_newest(struct timing_l1_set *set, struct timing_l1_line *all, u32 i)
{
    all[i].newer = NONE, all[i].older = set->newest;
    if (set->newest != NONE) all[set->newest].newer = i;
    else set->oldest = i;
    set->newest = i;
}

struct timing_line *timing_l1_find(const struct timing *c, uint32_t sm, uint32_t line)
{
    const struct timing_l1_state *l = &c->mem.l1;
    if (!l->seen[sm]) return NULL;
    struct timing_l1_line *all = l->line + (size_t)sm * l->lines;
    u32 i = l->chain[chain_of(l, sm, line)];
    while (i != NONE && all[i].line.tag != line) i = all[i].chained;
    if (i == NONE) return NULL;
    if (c->m->l1.random) return &all[i].line; /* in no order */
    struct timing_l1_set *set = &l->set[(size_t)sm * l->sets + i / l->ways];
    if (set->newest != i) unlink_line(set, all, i), put_newest(set, all, i);
    return &all[i].line;
}

/* A line leaves: the one that was used least recently, or any. */
static u32 evict(const struct timing *c, u32 sm, struct timing_l1_set *set,
                 struct timing_l1_line *all)
{
    const struct timing_l1_state *l = &c->mem.l1;
    u32 i = set->oldest;
    if (c->m->l1.random) {
        const u32 of_set = (u32)(set - (l->set + (size_t)sm * l->sets));
        i = of_set * l->ways + timing_hash(l->evicted[sm]++) % l->ways;
    }
    u32 *at = &l->chain[chain_of(l, sm, all[i].line.tag)];
    while (*at != i) at = &all[*at].chained;
    *at = all[i].chained;
    if (!c->m->l1.random) unlink_line(set, all, i);
    return i;
}

struct timing_line *timing_l1_take(const struct timing *c, uint32_t sm, uint32_t line)
{
    const struct timing_l1_state *l = &c->mem.l1;
    struct timing_line *had = timing_l1_find(c, sm, line);
    if (had) return had;
    if (!l->seen[sm]) empty(l, sm);
    struct timing_l1_line *all = l->line + (size_t)sm * l->lines;
    const u32 s = set_of(c, line), chain = chain_of(l, sm, line);
    struct timing_l1_set *set = &l->set[(size_t)sm * l->sets + s];
    const u32 i = set->count < l->ways ? s * l->ways + set->count++ : evict(c, sm, set, all);
    all[i].line = (struct timing_line){.tag = line};
    all[i].chained = l->chain[chain];
    l->chain[chain] = i;
    if (!c->m->l1.random) put_newest(set, all, i);
    return &all[i].line;
}

void timing_fill_l1(const struct timing *c, uint32_t sm, uint32_t line, double now)
{
    *timing_l1_take(c, sm, line) = (struct timing_line){line, 15, now, now};
}
