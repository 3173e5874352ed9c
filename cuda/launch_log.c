/* Writes the launches to the run log, in the order in which the program submitted them (cuda/launch_log.h). */
#include "cuda/launch_log.h"

#include "session/run_log.h"

#include <stdlib.h>

struct launch_log_entry {
    struct launch_log_entry *next;
    uint64_t number, digest;
    const char *name; /* of a kernel: it lives as long as its module */
    struct stamp *stamp;
    bool blank, done;
};

static struct {
    struct launch_log_entry *first, **last;
    uint64_t count;
    bool blank; /* an entry without a digest was written, and no digest of memory since */
} pending;      /* the driver's lock guards it */

static bool changes_memory(const struct work *w)
{
    return w->type != CU_GRAPH_NODE_TYPE_EMPTY && w->type != CU_GRAPH_NODE_TYPE_HOST &&
           w->type != CU_GRAPH_NODE_TYPE_WAIT_EVENT && w->type != CU_GRAPH_NODE_TYPE_EVENT_RECORD;
}

/* Whether all that has been asked for is before it. */
static bool is_behind_all(const struct stamp *stamp)
{
    for (struct object *o = driver.objects.all[OBJECT_STREAM - OBJECT_CONTEXT]; o; o = o->next) {
        const struct stamp *other = ((const struct CUstream_st *)o)->stamp;
        if (other && other != stamp && !stamp_is_before(other, stamp)) return false;
    }
    return true;
}

struct launch_log_entry *launch_log_submit(const struct work *w, struct stamp *stamp)
{
    if (!driver.reports.run_log || !stamp || !changes_memory(w)) return NULL;
    for (struct launch_log_entry *e = pending.first; e; e = e->next)
        e->blank |= !stamp_is_before(e->stamp, stamp);
    if (w->type != CU_GRAPH_NODE_TYPE_KERNEL && w->type != CU_GRAPH_NODE_TYPE_GRAPH) return NULL;
    struct launch_log_entry *e = calloc(1, sizeof *e);
    if (!e) abort();
    *e = (struct launch_log_entry){
        .number = pending.count++,
        .name = w->type == CU_GRAPH_NODE_TYPE_KERNEL ? w->kernel.function->name : "a graph",
        .stamp = stamp_retain(stamp),
        .blank = !is_behind_all(stamp)};
    if (!pending.first) pending.last = &pending.first;
    *pending.last = e;
    pending.last = &e->next;
    return e;
}

void launch_log_done(struct launch_log_entry *e)
{
    if (!e) return;
    e->digest = run_log_digest(driver.reports.run_log, driver.emu, e->number);
    e->done = true;
}

void launch_log_wait(void)
{
    const struct stamp *host = unordered_host();
    while (pending.first && pending.first->done && stamp_is_before(pending.first->stamp, host)) {
        struct launch_log_entry *e = pending.first;
        run_log_launch(driver.reports.run_log, e->name, e->blank ? 0 : e->digest);
        pending.blank |= e->blank;
        pending.first = e->next;
        stamp_release(e->stamp);
        free(e);
    }
    if (!pending.blank || pending.first || driver.queues.busy_count || !host ||
        !is_behind_all(host))
        return;
    pending.blank = false;
    run_log_launch(driver.reports.run_log, "a wait for all streams",
                   run_log_digest(driver.reports.run_log, driver.emu, pending.count++));
}

void launch_log_drop(void)
{
    while (pending.first) {
        struct launch_log_entry *e = pending.first;
        pending.first = e->next;
        stamp_release(e->stamp);
        free(e);
    }
    memset(&pending, 0, sizeof pending);
}
