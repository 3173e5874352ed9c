/* cli/sweep_workers.h: the interface of workers, which run the cells of a sweep.
 *
 * sweep_run() assigns cells to *workers*: processes of this host (sweep_processes.c), or the ranks of an MPI job
 * (cli/mpi/deal.c). A rank runs its cells with the workers of its own host.
 *
 *     struct sweep_workers *w = sweep_processes(&options);
 *     while (cells are left or w->busy(w)) {
 *         while (w->free_slots(w) && there is a cell) w->begin(w, cell);
 *         w->wait(w, 0.2, ended, self);
 *     }
 *     w->free(w);
 */
#ifndef HEDDLE_CLI_SWEEP_WORKERS_H
#define HEDDLE_CLI_SWEEP_WORKERS_H

#include "cli/processes.h"
#include "cli/sweep.h"

/* Called when a cell has ended. x NULL: the cell has not run, because its worker was lost or asked to stop; another may run it. */
typedef void sweep_ended(void *self, const struct sweep_cell *c, const struct sweep_record *x);

struct sweep_workers {
    /* The number of cells that can begin now. */
    size_t (*free_slots)(struct sweep_workers *w);
    /* The number of cells that have begun and not ended. */
    size_t (*busy)(struct sweep_workers *w);
    /* Begins a cell, whose memory must stay valid until it has ended. Returns NULL, or an error message. */
    const char *(*begin)(struct sweep_workers *w, const struct sweep_cell *c);
    /* Sleeps until a cell has ended or a signal was delivered, at most so many seconds; calls `ended` for ended cells. */
    void (*wait)(struct sweep_workers *w, double seconds, sweep_ended *ended, void *self);
    /* Begins no more cells; running ones continue. Cells that wait at a worker are returned as not run. */
    void (*drain)(struct sweep_workers *w);
    /* Ends the workers. */
    void (*free)(struct sweep_workers *w);
};

/* ---- processes of this host (sweep_processes.c) ------------------------------------------------ */

struct sweep_processes {
    const struct sweep_plan *plan;
    const char *program; /* path of the heddle program */
    unsigned jobs;       /* number of concurrent processes */
    const char *counts;  /* as in struct sweep_run */
    bool (*keep)(void *self, const struct sweep_cell *c, const struct json_t *printed);
    void *self;
};
/* Copies the options; the objects that they point to must stay valid. */
struct sweep_workers *sweep_processes(const struct sweep_processes *options);

#endif
