/* determinism/communication/communication.h: an observer that finds which CTAs pass data to which
 * through global memory, across launches.
 *
 *     struct communication *c = communication_new(COMMUNICATION_CTA);
 *     emu_observe_memory(e, communication_memory_observer(c));   // copies of the host
 *     ... launches with communication_observer(c) among their observers
 *     const struct communication_result *r = communication_result(c);
 *     communication_free(c);
 *
 * The model is that of Rieber's thesis (chapters 4 and 6). Each launch is a *superstep*. A byte is *communicated*
 * when CTA A wrote it in one launch, and CTA B != A reads it in a later launch, with no write in between. The edge from
 * A to B counts the byte once for each superstep, however often B reads it. Only global memory counts.
 *
 * Each byte that a CTA reads and that was written before the launch is counted once, as one of: communicated, *stays*
 * (the same CTA index wrote it), from the host, or initial (never written: variables of modules and zeroed
 * allocations). So these four add up to communication_launch.read. Bytes whose first read by a CTA in a launch returns
 * the value that another CTA wrote in the same launch are `inside`: CUDA orders such an access only by atomics, fences
 * or grid barriers. (Later reads of the byte in that launch are not examined.)
 *
 * Atomics and reductions read and write. All atomics of one launch on a word are one read and one write: by the CTA
 * that executed them, or by COMMUNICATION_SEVERAL if several CTAs did. So the result does not depend on the order of
 * these CTAs. A store counts when it is issued. For programs without data races the result is therefore the same under
 * every order and seed.
 *
 * A copy from device to device also copies the writers of the bytes. A released allocation is initial again. Direct
 * writes of the host to managed, pinned or mapped memory are not observed: `unseen` is the number of bytes that they
 * may affect.
 *
 * Memory: 9 bytes for each word (4 bytes) of the pages that are touched, 32 more for words whose bytes have different
 * writers, and while a launch runs the bytes that each resident CTA has read. Edges take 32 bytes each; beyond
 * COMMUNICATION_MOST_EDGES further ones are summed up but not listed. */
#ifndef HEDDLE_DETERMINISM_COMMUNICATION_H
#define HEDDLE_DETERMINISM_COMMUNICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct emu_memory_observer;
struct emu_observer;

/* The kind of nodes of the communication graph: a row of the dimension vectors of thesis eq. 4.1. With KERNEL all
 * threads of a launch are node 0, and bytes that launch i writes and launch j > i reads are communicated. */
enum communication_unit {
    COMMUNICATION_KERNEL,
    COMMUNICATION_CTA,
    COMMUNICATION_WARP,
    COMMUNICATION_THREAD,
};

#define COMMUNICATION_SEVERAL                                                                      \
    UINT32_C(0x7fffffff) /* in place of a node: atomics of several nodes */
#define COMMUNICATION_MOST_EDGES (UINT64_C(1) << 24)

enum {
    COMMUNICATION_SIZES = 40,   /* classes of sizes: class i has 2^i .. 2^(i+1)-1 */
    COMMUNICATION_DEGREES = 24, /* likewise for degrees */
};

struct communication_launch { /* a superstep; all in bytes unless it says otherwise */
    uint32_t kernel;          /* index of communication_result.kernels */
    uint32_t stream;          /* number of the CUDA stream; 0: the default, or unknown */
    uint32_t grid[3], block[3];
    uint32_t nodes;          /* nodes of the graph: CTAs, warps or threads; 1 with KERNEL */
    uint64_t loaded, stored; /* bytes of all accesses; atomics count in both */
    /* Read by a node at least once in this launch, and written before it: */
    uint64_t read;
    uint64_t communicated, stays, from_host, initial; /* the parts of `read` */
    /* read bytes that another node wrote in this launch */
    uint64_t inside;
    uint64_t atomic_words,
        several_words; /* words with atomics; those with atomics of several nodes */
    uint64_t to_host;  /* bytes written in this launch and later copied to the host */
    uint64_t written;  /* bytes that the launch has written when it ends */
    /* Bytes of `written` that no later launch and no copy reads before they are overwritten. */
    uint64_t never_read;
};

/* From node `from` of one launch to node `to` of a later one. Equal nodes: bytes that stay, if the grids or blocks of
 * the launches differ, so that equal indices need not mean the same place; sums of pairs do not include these bytes. */
struct communication_edge {
    uint32_t from_launch, from, to_launch, to; /* launches: indices of the list */
    uint64_t bytes;
    uint64_t transfers; /* ranges of adjacent bytes */
};

struct communication_pair { /* all communication from one kernel's launches to another's */
    uint32_t from, to;      /* kernels */
    uint64_t supersteps;    /* pairs of launches with communication */
    uint64_t bytes, edges, transfers;
    uint64_t possible; /* pairs of different nodes in those supersteps */
    /* Thesis 6.2.1. One reader: point-to-point; several: scatter. Both add up to `bytes`. */
    uint64_t point_to_point, scatter;
    /* part of `bytes`: to nodes that read from at least two nodes in that superstep */
    uint64_t gather;
    uint64_t reductions; /* part of `bytes`: written or read by atomics of several nodes */
    /* Bytes whose nodes' linear indices differ by 1, by at most 8, by at most grid.x of the reader. */
    uint64_t near_1, near_8, near_row;
    uint64_t sizes[COMMUNICATION_SIZES];   /* edges by bytes (thesis: transfer size) */
    uint64_t strides[COMMUNICATION_SIZES]; /* words of an edge by the distance to the next one */
    uint64_t in_degree[COMMUNICATION_DEGREES];  /* nodes by the nodes that they read from */
    uint64_t out_degree[COMMUNICATION_DEGREES]; /* nodes by the nodes that read from them */
};

struct communication_result {
    enum communication_unit unit;
    const char *const *kernels;
    size_t kernel_count;
    struct communication_launch *launches;
    size_t launch_count;
    struct communication_pair *pairs; /* sorted by `from`, then `to` */
    size_t pair_count;
    struct communication_edge *edges; /* sorted by to_launch, from_launch, from, to */
    size_t edge_count;
    uint64_t edges_dropped; /* edges beyond COMMUNICATION_MOST_EDGES */
    uint64_t unseen;        /* bytes that the host can write without being observed */
    /* `words`: words with a known writer at the end; `memory`: most bytes that the observer used */
    uint64_t words, memory;
};

struct communication *communication_new(enum communication_unit unit);
void communication_free(struct communication *c); /* NULL is allowed */
const struct emu_observer *communication_observer(struct communication *c);
const struct emu_memory_observer *communication_memory_observer(struct communication *c);
/* Begins a launch that is read from a file instead of executed: calls of the observer's access, sync and end follow. */
void communication_begin(struct communication *c, const char *kernel, const uint32_t grid[3],
                         const uint32_t block[3]);
/* Sets the stream of the launches from now on. */
void communication_stream(struct communication *c, uint32_t stream);
/* To be called between launches; valid until the next launch or copy. */
const struct communication_result *communication_result(struct communication *c);

/* Writes the result to a file, which another process of the same build reads. */
bool communication_write(struct communication *c, FILE *f);
/* Reads such a file; the result is allocated in the arena. NULL: invalid contents. */
struct arena;
const struct communication_result *communication_read(struct arena *a, const void *bytes,
                                                      size_t size);

#endif
