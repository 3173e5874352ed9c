/* Begin and end of the operations of streams on the estimated GPU (cuda/timeline.h). */
#include "cuda/timeline.h"

#include "emu/gpu.h"

void timeline_step(struct timeline *t, double from)
{
    t->at = from;
}

/* The engine takes it when it is free. */
static void take(struct timeline *t, enum timeline_engine e, double seconds,
                 enum operation_kind kind, uint64_t bytes)
{
    if (t->free_at[e] > t->at) t->at = t->free_at[e];
    if (t->log)
        t->log(&(struct event_operation){.kind = kind,
                                         .stream = t->stream,
                                         .submitted = t->submitted,
                                         .begin = t->at,
                                         .end = t->at + seconds,
                                         .bytes = bytes});
    t->at += seconds;
    t->free_at[e] = t->at;
    t->sums.busy[e] += seconds;
    if (t->at > t->sums.seconds) t->sums.seconds = t->at;
}

void timeline_launch(struct timeline *t, double seconds)
{
    take(t, TIMELINE_SMS, seconds, OPERATION_LAUNCH, 0);
    t->sums.launches++;
}

void timeline_copy(struct timeline *t, const struct emu_gpu *g, uint64_t bytes,
                   enum timeline_engine e)
{
    if (e == TIMELINE_SMS) {
        take(t, e, (double)bytes / (g->dram_bandwidth * 1e9), OPERATION_INSIDE, bytes);
        return;
    }
    t->sums.copies[e]++;
    t->sums.bytes[e] += bytes;
    if (g->link_bandwidth > 0)
        take(t, e, (double)bytes / (g->link_bandwidth * 1e9) + g->link_latency * 1e-6,
             e == TIMELINE_TO_DEVICE ? OPERATION_TO_DEVICE : OPERATION_TO_HOST, bytes);
    else t->sums.untimed = 1;
}

double timeline_done(const struct timeline *t)
{
    return t->at;
}

void timeline_wait(struct timeline *t, double until)
{
    if (until <= t->host) return;
    if (t->log)
        t->log(&(struct event_operation){
            .kind = OPERATION_WAIT, .submitted = t->host, .begin = t->host, .end = until});
    t->host = until;
}
