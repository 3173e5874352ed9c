/* determinism/communication/edges.h: the edges of the launch that runs, and what is summed up of them when it ends. */
#ifndef HEDDLE_DETERMINISM_COMMUNICATION_EDGES_H
#define HEDDLE_DETERMINISM_COMMUNICATION_EDGES_H

#include "determinism/communication/communication.h"
#include "determinism/communication/shadow.h"

struct open_edge { /* of the launch that runs */
    uint64_t from; /* slot of the writer; 0: free */
    uint32_t to;
    uint64_t bytes, transfers;
};

struct open_edges {
    struct open_edge *list; /* an open hash table */
    size_t count, cap;
};

struct edges { /* the result so far */
    struct communication_pair *pairs;
    size_t pair_count, pair_cap, last_pair;
    struct communication_edge *list;
    size_t count, cap;
    uint64_t dropped;
};

/* The pair of two kernels, made if need be. Valid until the next call. */
struct communication_pair *edges_pair(struct edges *e, uint32_t from, uint32_t to);
/* The edge from the writer of that slot to node `to`. Valid until the next call. */
struct open_edge *edges_open(struct open_edges *o, uint64_t from, uint32_t to);
/* The launch of that index ends: its edges go into pairs and list. */
void edges_end_launch(struct edges *e, struct open_edges *o,
                      const struct communication_launch *launches, size_t index,
                      enum communication_unit unit);
/* The list is sorted by to_launch, from_launch, from, to again: needed if launches ended in another order than they began. */
void edges_sort(struct edges *e);
void edges_free(struct edges *e);
uint64_t edges_memory(const struct edges *e);

/* The class of a size: 0 of 1, 1 of 2 and 3, 2 of 4 to 7, ... */
static inline unsigned size_class(uint64_t n, unsigned classes)
{
    const unsigned c = n ? 63 - (unsigned)__builtin_clzll(n) : 0;
    return c < classes ? c : classes - 1;
}

#endif
