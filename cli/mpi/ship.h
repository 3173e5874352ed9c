/* cli/mpi/ship.h: the inputs of a sweep, sent once to each host (`heddle-mpi --ship`).
 *
 * The plan, its kernels, programs and GPU files, and the files that its `inputs` names go from rank 0 to one worker of
 * each host, which keeps them in $TMPDIR (/tmp) in `heddle-inputs-UID/DIGEST`, a folder named by their contents. All
 * workers of the host then work in that folder, so that the plan's relative paths mean the copies. A host that has the
 * folder from an earlier sweep, unchanged, is sent nothing.
 *
 *     rank 0                                         a worker
 *     ship_begin();                                  ship_begin();
 *     s = ship_read(plan);                           (waits for RANK_START)
 *     ... RANK_START to all ...
 *     ship_send(s); ship_free(s);                    ship_receive();
 *
 * Inputs are named by paths below the current folder. */
#ifndef HEDDLE_CLI_MPI_SHIP_H
#define HEDDLE_CLI_MPI_SHIP_H

#include "cli/sweep.h"

/* All ranks call it, once: finds the workers that receive for their hosts. */
void ship_begin(void);

struct shipment;
/* What is to be sent. NULL after a message: an input cannot be read, or its path leaves the current folder. */
struct shipment *ship_read(const struct sweep_plan *p);
/* Sends to each host what it lacks, and says to how many. A host that cannot keep it says so itself, and its workers take no part. */
void ship_send(const struct shipment *s);
void ship_free(struct shipment *s);

/* A worker: its host has the inputs, and the current folder is theirs. false after a message. */
bool ship_receive(void);

#endif
