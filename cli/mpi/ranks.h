/* cli/mpi/ranks.h: the ranks of an MPI job as workers of a sweep.
 *
 * Rank 0 reads the plan, deals cells and writes the journal. Each other rank is a worker: it reads the same plan, proves
 * with a digest that its plan, inputs and Heddle are those of rank 0, and runs the cells it is sent as processes of its
 * host. A cell's crash costs the cell, not the rank.
 *
 * Open MPI without fault tolerance ends the whole job when a rank dies; then the same command goes on with the journal.
 * Under `mpirun --enable-recovery` the job lives on: rank 0 deals the cells of a rank again from which it has heard
 * nothing for `lost_after` seconds, and workers end when they hear nothing from rank 0. For this each rank sends a
 * message four times in that time. Time during which the rank itself was stopped does not count. */
#ifndef HEDDLE_CLI_MPI_RANKS_H
#define HEDDLE_CLI_MPI_RANKS_H

#include "cli/sweep_workers.h"

enum { RANK_TAG = 27 };

enum rank_kind {
    RANK_START,  /* from rank 0: compare the digest, and begin. `n`: processes at a time */
    RANK_CELL,   /* from rank 0: run a cell */
    RANK_DRAIN,  /* from rank 0: give back the cells that have not begun */
    RANK_END,    /* from rank 0: the sweep is over. `n`: ranks that were lost */
    RANK_READY,  /* from a worker: the digests are equal */
    RANK_OTHER,  /* from a worker: they are not, and it runs nothing */
    RANK_RESULT, /* from a worker: a cell has ended */
    RANK_BACK,   /* from a worker: a cell that it has not begun */
    RANK_ALIVE   /* from either */
};

/* All ranks have the same program, so that the structure is sent as it lies in memory. */
struct rank_message {
    uint32_t kind, n;
    uint64_t cell; /* index in rank 0's list */
    double lost_after;
    bool ships;                 /* of RANK_START: inputs are sent (cli/mpi/ship.h) */
    struct sweep_cell what;     /* of RANK_CELL; its pointers mean nothing */
    struct sweep_record record; /* of RANK_RESULT */
    uint8_t digest[32];         /* of RANK_START */
    char host[64];              /* of RANK_READY and RANK_OTHER */
};

/* What the worker and rank 0 must have in common: plan, inputs, Heddle. false after a message. */
bool ranks_digest(const struct sweep_plan *p, const char *program, uint8_t digest[32]);

/* Does not wait for the rank. */
void rank_send(int to, const struct rank_message *m);
/* Waits until all that was sent has arrived, at most so long. */
void ranks_flush(double seconds);
/* The next message that is there; the rank it comes from, below 0: there is none. */
int rank_receive(struct rank_message *m);

/* Seconds of silence, counted while this rank itself was running. */
struct silence {
    double seconds, before;
};
/* Adds the time since the last call, but at most a second of it. */
void silence_grow(struct silence *s, double now);

/* Rank 0's workers: all other ranks. */
struct sweep_workers *ranks_deal(const struct sweep_cell *cells, size_t count,
                                 const uint8_t digest[32], unsigned jobs, double lost_after,
                                 bool ships);
/* How many of them are lost now. */
unsigned ranks_lost(void);
/* Ends all other ranks, if nobody has done so yet: sweep_workers.free() does. */
void ranks_end(void);

/* A worker, until rank 0 ends it. `read` reads the plan, once rank 0 has read it without an error; its exit code.
 * Returns how many ranks were lost; below 0: rank 0 was. */
int ranks_work(int (*read)(void *self, struct sweep_plan **plan), void *self, const char *program,
               double lost_after);

#endif
