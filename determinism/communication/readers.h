/* determinism/communication/readers.h: the bytes that the nodes of a running launch have read.
 *
 * A resident CTA has a *reader*: a set of the bytes that its nodes have read in this launch (blocks of 256 bytes, a bit
 * for each byte), and a list of *runs*, the ranges that were read for the first time, with their writers. When the CTA
 * ends, the runs are sorted by node, writer and address, and given to the edges. */
#ifndef HEDDLE_DETERMINISM_COMMUNICATION_READERS_H
#define HEDDLE_DETERMINISM_COMMUNICATION_READERS_H

#include "determinism/communication/shadow.h"

struct read_run {
    uint64_t offset; /* distance from MEM_GLOBAL, bytes */
    uint64_t slot;   /* the writer, without SLOT_READ */
    uint32_t size;
    uint32_t local; /* number of the reading node in its CTA */
};

enum { READ_BLOCK = 256 };
struct read_block {
    uint64_t key; /* 0: free */
    uint64_t seen[READ_BLOCK / 64];
};

struct reader {
    struct reader *next;
    uint32_t cta;
    struct read_block *blocks; /* an open hash table */
    size_t block_count, block_cap;
    struct read_run *runs;
    size_t run_count, run_cap;
    size_t recent[4]; /* runs that were added or extended last */
    unsigned next_recent;
};

struct readers {
    struct reader *live, *spare;
    uint64_t memory, most_memory; /* bytes of host memory: now, and at most */
};

/* The reader of a CTA. NULL: the CTA has read nothing. */
struct reader *reader_find(struct readers *all, uint32_t cta);
/* The reader of a CTA; created if it does not exist. */
struct reader *reader_of(struct readers *all, uint32_t cta);
/* Adds the bytes that the node reads for the first time to the runs. */
void reader_add(struct readers *all, struct reader *r, struct shadow *s, uint32_t now,
                uint32_t local, uint64_t offset, uint64_t size);
/* Child grids that the CTA waits for have written these bytes: later reads of them by any of its `nodes` nodes count
 * again. */
void reader_forget(struct reader *r, uint32_t nodes, uint64_t offset, uint64_t size);
/* Whether the node has read the byte. */
bool reader_has(const struct reader *r, uint32_t local, uint64_t offset);
/* Sorts the runs by node, writer and address, and joins adjacent ranges. */
void reader_sort(struct reader *r);
void reader_release(struct readers *all, struct reader *r);
void readers_free(struct readers *all);

#endif
