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
 * The observer only counts; it does not change the execution. A warp's access to global memory counts each 32-byte
 * sector that it touches once; there is no cache. Callers: cli/placement_report.h. */
#ifndef HEDDLE_DETERMINISM_PLACEMENT_H
#define HEDDLE_DETERMINISM_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* which partition holds an address */
enum placement_map {
    PLACEMENT_INTERLEAVE, /* address / grain, modulo the partitions */
    /* each allocation is divided into as many equal parts as there are partitions */
    PLACEMENT_BLOCK,
    /* each allocation is divided into grains, which are assigned round robin */
    PLACEMENT_BLOCK_CYCLIC,
    PLACEMENT_FIXED, /* for rules: one partition */
};

/* topology of the network between partitions */
enum placement_topology {
    PLACEMENT_CROSSBAR, /* one hop between any two partitions */
    /* Rows of ceil(sqrt(partitions)) partitions; a hop is a step to a neighbour. */
    PLACEMENT_MESH,
    /* A tree with four branches at each node, partitions at its leaves: one hop for each edge. */
    PLACEMENT_HTREE,
};

/* The placement of bytes of one allocation, in place of placement_options.map. Rules of one allocation must not overlap
 * (placement_rules_overlap). */
struct placement_rule {
    const char *allocation; /* name of the allocation in reports */
    /* Range of offsets in the allocation, without `to`. Multiples of 32, or UINT64_MAX. */
    uint64_t from, to;
    enum placement_map map; /* applies to the whole allocation, independent of the range */
    uint64_t grain;
    uint32_t partition; /* FIXED: the partition */
};

struct placement_options {
    enum placement_map map;
    uint64_t grain;                     /* bytes; not used with BLOCK */
    const struct placement_rule *rules; /* owned by the caller */
    size_t rule_count;
    uint32_t partitions; /* 1 to PLACEMENT_MOST */
    /* A CTA runs in the partition that holds most of the sectors that it accesses; of several, in the lowest. false: in
     * partition `CTA modulo partitions`. */
    bool nearest;
    enum placement_topology topology;
};
enum { PLACEMENT_MOST = 1024, PLACEMENT_HOPS = 63 /* a mesh of 32 x 32 has at most 62 */ };

/* Reads "interleave:256", "block", "blockcyclic:64K". NULL: success; else an error message. */
const char *placement_read_map(const char *text, struct placement_options *out);
/* Likewise "crossbar", "mesh", "htree". */
const char *placement_read_topology(const char *text, struct placement_options *out);
/* Whether the ranges of two rules overlap. */
bool placement_rules_overlap(const struct placement_rule *a, const struct placement_rule *b);
/* The number of hops from one partition to another. */
uint32_t placement_hops(const struct placement_options *o, uint32_t from, uint32_t to);

struct placement_counts {
    uint64_t local, remote; /* sectors accessed in all launches that have ended */
    /* These sectors by the number of hops from the CTA to the partition; hops[0] is `local`. */
    uint64_t hops[PLACEMENT_HOPS];
    uint64_t left_out; /* sectors of launches with too many CTAs to count */
};

struct emu;
struct emu_observer;
struct placement;
struct placement *placement_new(const struct placement_options *o);
void placement_free(struct placement *p); /* NULL is allowed */
void placement_device(struct placement *p, const struct emu *e);
/* The partition of a device address in the current allocations. For an address outside of allocations: any
 * partition. */
uint32_t placement_partition(struct placement *p, uint64_t address);
const struct emu_observer *placement_observer(struct placement *p);
const struct placement_counts *placement_counts(const struct placement *p);

/* The allocation name of a rule that no access matched; there may be no such allocation. NULL: all rules were used. */
const char *placement_unused(const struct placement *p);

/* A link of the network, and the bytes that cross it in both directions: 32 for each sector in another partition than
 * the CTA.
 *   crossbar   `a`: the link between that partition and the crossbar
 *   mesh       between the neighbours `a` and `b`; a sector goes along a row first, as far as there are partitions, then along a column
 *   htree      between node `a` of level `level` (0: partitions) and the node above it, a / 4 */
struct placement_link {
    uint32_t level, a, b;
    uint64_t bytes;
};
/* All links with traffic, sorted by bytes, the most first, then by level, a, b. The caller frees the malloc'd array. */
struct placement_link *placement_links(const struct placement *p, size_t *count);

#endif
