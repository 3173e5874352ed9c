/* determinism/communication/edges.h: the edges of the running launch, and their sums when it ends. */
#ifndef HEDDLE_DETERMINISM_COMMUNICATION_EDGES_H
#define HEDDLE_DETERMINISM_COMMUNICATION_EDGES_H

#include "determinism/communication/communication.h"
#include "determinism/communication/shadow.h"

struct open_edge { /* an edge of the running launch */
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

/* The pair of two kernels; created if it does not exist. Valid until the next call. */
struct communication_pair *edges_pair(struct edges *e, uint32_t from, uint32_t to);
/* The edge from the writer of a slot to node `to`; created if it does not exist. Valid until the next call. */
struct open_edge *edges_open(struct open_edges *o, uint64_t from, uint32_t to);
/* Ends the launch with that index: adds its edges to the pairs and the list. */
void edges_end_launch(struct edges *e, struct open_edges *o,
                      const struct communication_launch *launches, size_t index,
                      enum communication_unit unit);
/* Sorts the list by to_launch, from_launch, from, to: needed if launches ended in another order than they began. */
void edges_sort(struct edges *e);
void edges_free(struct edges *e);
uint64_t edges_memory(const struct edges *e);

/* The class of a size: 0 for 1, 1 for 2 and 3, 2 for 4 to 7, ... */
static inline unsigned size_class(uint64_t n, unsigned classes)
{
    const unsigned c = n ? 63 - (unsigned)__builtin_clzll(n) : 0;
    return c < classes ? c : classes - 1;
}

#endif
