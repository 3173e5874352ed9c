/* determinism/placement/placement.h: which sectors of global memory are in the partition of the CTA that accesses them, for
 * a memory that is distributed over partitions with SMs beside them (Archaeopteryx, NUMA).
 *
 *     struct placement_options o = {.map = PLACEMENT_BLOCK, .partitions = 4, .nearest = true};
 *     struct placement *p = placement_new(&o);
 *     launch.observers = (const struct emu_observer *[]){placement_observer(p)};
 *     placement_device(p, emu);                     // before each launch: whose allocations they are
 *     ... launches ...
 *     printf("%llu of %llu are remote\n", placement_counts(p)->remote, ...);
 *
 * A launch is executed as ever: this only counts. A warp's access to global memory counts each 32-byte sector that it
 * touches once; there is no cache. Callers: cli/placement_report.h. */
#ifndef HEDDLE_DETERMINISM_PLACEMENT_H
#define HEDDLE_DETERMINISM_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* which partition holds an address */
enum placement_map {
    PLACEMENT_INTERLEAVE,   /* address / grain, modulo the partitions */
    PLACEMENT_BLOCK,        /* each allocation in as many equal parts as there are partitions */
    PLACEMENT_BLOCK_CYCLIC, /* each allocation in grains, dealt in turn */
    PLACEMENT_FIXED,        /* of a rule: one partition */
};

/* of the network between partitions */
enum placement_topology {
    PLACEMENT_CROSSBAR, /* one hop from each to each */
    /* Rows of ceil(sqrt(partitions)) partitions, one after the other: hops are steps to a neighbour. */
    PLACEMENT_MESH,
    /* A tree with four branches at each node, partitions at its leaves: one hop for each edge. */
    PLACEMENT_HTREE,
};

/* Where bytes of an allocation are, in place of where placement_options.map puts them. Rules of one allocation do not overlap
 * (placement_rules_overlap). */
struct placement_rule {
    const char *allocation; /* its name as reports have it */
    uint64_t from,
        to; /* bytes from its begin; to: the first behind them. Multiples of 32, or UINT64_MAX */
    enum placement_map map; /* of the whole allocation, whatever the range is */
    uint64_t grain;
    uint32_t partition; /* of FIXED */
};

struct placement_options {
    enum placement_map map;
    uint64_t grain;                     /* bytes; of BLOCK: not used */
    const struct placement_rule *rules; /* the caller's, who keeps them */
    size_t rule_count;
    uint32_t partitions; /* 1 to PLACEMENT_MOST */
    /* A CTA runs in the partition that holds most of the sectors that it accesses, the lowest of several. false: in
     * partition `CTA modulo partitions`. */
    bool nearest;
    enum placement_topology topology;
};
enum { PLACEMENT_MOST = 1024, PLACEMENT_HOPS = 63 /* of a mesh of 32 x 32: at most 62 */ };

/* Reads "interleave:256", "block", "blockcyclic:64K". NULL, or what is wrong with it. */
const char *placement_read_map(const char *text, struct placement_options *out);
/* Likewise "crossbar", "mesh", "htree". */
const char *placement_read_topology(const char *text, struct placement_options *out);
/* Whether two rules are for a byte. */
bool placement_rules_overlap(const struct placement_rule *a, const struct placement_rule *b);
/* From one partition to another. */
uint32_t placement_hops(const struct placement_options *o, uint32_t from, uint32_t to);

struct placement_counts {
    uint64_t local, remote; /* sectors, of all launches that have ended */
    uint64_t
        hops[PLACEMENT_HOPS]; /* these by hops from the CTA to the partition; hops[0] is local */
    uint64_t left_out;        /* of launches with too many CTAs to count */
};

struct emu;
struct emu_observer;
struct placement;
struct placement *placement_new(const struct placement_options *o);
void placement_free(struct placement *p); /* NULL is allowed */
void placement_device(struct placement *p, const struct emu *e);
/* The partition of a device address, by what is allocated now; of what is not in an allocation: any. */
uint32_t placement_partition(struct placement *p, uint64_t address);
const struct emu_observer *placement_observer(struct placement *p);
const struct placement_counts *placement_counts(const struct placement *p);

/* The allocation of a rule that no launch has accessed, as there may be none of that name; NULL: all rules were used. */
const char *placement_unused(const struct placement *p);

/* A link of the network, and what crosses it in both directions: 32 bytes for each sector of another partition than the CTA's.
 *   crossbar   `a`: the link between that partition and the crossbar
 *   mesh       between the neighbours `a` and `b`; a sector goes along a row first, as far as there are partitions, then along a column
 *   htree      between node `a` of level `level` (0: partitions) and the node above it, a / 4 */
struct placement_link {
    uint32_t level, a, b;
    uint64_t bytes;
};
/* All links that something has crossed, the one with most bytes first; of equal ones by level, a, b. malloc'd, the caller's. */
struct placement_link *placement_links(const struct placement *p, size_t *count);

#endif
