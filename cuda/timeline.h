/* cuda/timeline.h: for `heddle estimate`, when each operation of the program's streams would begin and end on the GPU.
 *
 *     timeline_step(&t, from);         // an operation begins, not before the time `from`
 *     timeline_launch(&t, seconds);    // the parts of the operation: launches, copies
 *     timeline_copy(&t, bytes, TIMELINE_TO_DEVICE);
 *     double end = timeline_done(&t);
 *
 * Three engines work concurrently: the SMs (launches, fills, copies inside the device), and one engine for copies in each
 * direction. An operation begins when the earlier operations of its stream and those that it waits for have ended, its
 * engine is free, and the host has submitted it. The host itself takes no time; it waits where the program waits.
 *
 * Simplifications: launches of different streams execute one after the other, and so do the nodes of a graph; copies of
 * pageable memory are as fast as those of pinned memory; accesses to memory that host and device share take no extra time. */
#ifndef HEDDLE_CUDA_TIMELINE_H
#define HEDDLE_CUDA_TIMELINE_H

#include "session/event_stream.h"

#include <stdint.h>

struct emu_gpu;

struct timeline { /* times are in seconds since the creation of the device */
    double host;  /* the host's time: operations that it submits now do not begin before */
    double free_at[TIMELINE_ENGINES]; /* when each engine becomes free */
    double at;                        /* during a step: the end of the parts so far */
    struct event_timeline sums;       /* for the report; sums.seconds: the end of all operations */
    /* Called for each operation and wait; NULL: not called. */
    void (*log)(const struct event_operation *o);
    uint32_t stream;  /* stream of the step; 0: the default stream */
    double submitted; /* when the host submitted the step */
};

void timeline_step(struct timeline *t, double from);
void timeline_launch(struct timeline *t, double seconds);
/* Adds a copy over the link. TIMELINE_SMS: a copy inside the device or a fill, which reads and writes `bytes` in all. */
void timeline_copy(struct timeline *t, const struct emu_gpu *g, uint64_t bytes,
                   enum timeline_engine e);
double timeline_done(const struct timeline *t);
/* The host has waited until this time. */
void timeline_wait(struct timeline *t, double until);

#endif
