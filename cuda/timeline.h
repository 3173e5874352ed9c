/* cuda/timeline.h: when each operation of the program's streams would be done on the GPU, with `heddle estimate`.
 *
 *     timeline_step(&t, &from);        // an operation begins that may not begin before `from`
 *     timeline_launch(&t, seconds);    // what it does: launches, copies
 *     timeline_copy(&t, bytes, TIMELINE_TO_DEVICE);
 *     double end = timeline_done(&t);
 *
 * Three engines work side by side: the SMs (launches, fills, copies inside the device), and one for copies in each
 * direction. An operation begins when those before it in its stream, those that it waits for and its engine are done, and
 * not before the host has submitted it. The host itself takes no time; it waits where the program waits.
 *
 * Simplified: launches of different streams are one after the other; the nodes of a graph, too; copies of pageable memory
 * are as fast as those of pinned memory; memory that the host and the device share costs nothing. */
#ifndef HEDDLE_CUDA_TIMELINE_H
#define HEDDLE_CUDA_TIMELINE_H

#include "session/event_stream.h"

#include <stdint.h>

struct emu_gpu;

struct timeline { /* seconds since the device began */
    double host;  /* operations that are submitted now do not begin before this */
    double free_at[TIMELINE_ENGINES];
    double at;                  /* in a step: when what was reported so far is done */
    struct event_timeline sums; /* for the report; sums.seconds: the end of all */
    /* Called for each operation and wait. NULL: nobody wants to know. */
    void (*log)(const struct event_operation *o);
    uint32_t stream;  /* of the step */
    double submitted; /* likewise, when the host did */
};

void timeline_step(struct timeline *t, double from);
void timeline_launch(struct timeline *t, double seconds);
/* A copy over the link; TIMELINE_SMS: inside the device or a fill, of which `bytes` are read and written. */
void timeline_copy(struct timeline *t, const struct emu_gpu *g, uint64_t bytes,
                   enum timeline_engine e);
double timeline_done(const struct timeline *t);
/* The program has waited for what is done then. */
void timeline_wait(struct timeline *t, double until);

#endif
