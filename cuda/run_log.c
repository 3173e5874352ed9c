/* The launches of an account, in the order in which they were asked for. */
#include "cuda/run_log.h"

#include "determinism/record/run_log.h"

#include <stdlib.h>

struct ledger_entry {
    struct ledger_entry *next;
    uint64_t number, digest;
    const char *name; /* of a kernel: it lives as long as its module */
    struct stamp *stamp;
    bool blank, done;
};

static struct {
    struct ledger_entry *first, **last;
    uint64_t count;
    bool blank; /* one was told so, and memory not since */
} ledger;       /* the driver's lock guards it */

static bool changes_memory(const struct work *w)
{
    return w->type != CU_GRAPH_NODE_TYPE_EMPTY && w->type != CU_GRAPH_NODE_TYPE_HOST &&
           w->type != CU_GRAPH_NODE_TYPE_WAIT_EVENT && w->type != CU_GRAPH_NODE_TYPE_EVENT_RECORD;
}

/* Whether all that has been asked for is before it. */
static bool is_behind_all(const struct stamp *stamp)
{
    for (struct object *o = driver.all_objects[OBJECT_STREAM - OBJECT_CONTEXT]; o; o = o->next) {
        const struct stamp *other = ((const struct CUstream_st *)o)->stamp;
        if (other && other != stamp && !stamp_is_before(other, stamp)) return false;
    }
    return true;
}

struct ledger_entry *ledger_submit(const struct work *w, struct stamp *stamp)
{
    if (!driver.account || !stamp || !changes_memory(w)) return NULL;
    for (struct ledger_entry *e = ledger.first; e; e = e->next)
        e->blank |= !stamp_is_before(e->stamp, stamp);
    if (w->type != CU_GRAPH_NODE_TYPE_KERNEL && w->type != CU_GRAPH_NODE_TYPE_GRAPH) return NULL;
    struct ledger_entry *e = calloc(1, sizeof *e);
    if (!e) abort();
    *e = (struct ledger_entry){
        .number = ledger.count++,
        .name = w->type == CU_GRAPH_NODE_TYPE_KERNEL ? w->kernel.function->name : "a graph",
        .stamp = stamp_retain(stamp),
        .blank = !is_behind_all(stamp)};
    if (!ledger.first) ledger.last = &ledger.first;
    *ledger.last = e;
    ledger.last = &e->next;
    return e;
}

void ledger_done(struct ledger_entry *e)
{
    if (!e) return;
    e->digest = account_digest(driver.account, driver.emu, e->number);
    e->done = true;
}

void ledger_wait(void)
{
    const struct stamp *host = unordered_host();
    while (ledger.first && ledger.first->done && stamp_is_before(ledger.first->stamp, host)) {
        struct ledger_entry *e = ledger.first;
        account_launch(driver.account, e->name, e->blank ? 0 : e->digest);
        ledger.blank |= e->blank;
        ledger.first = e->next;
        stamp_release(e->stamp);
        free(e);
    }
    if (!ledger.blank || ledger.first || driver.busy_count || !host || !is_behind_all(host)) return;
    ledger.blank = false;
    account_launch(driver.account, "a wait for all streams",
                   account_digest(driver.account, driver.emu, ledger.count++));
}

void ledger_drop(void)
{
    while (ledger.first) {
        struct ledger_entry *e = ledger.first;
        ledger.first = e->next;
        stamp_release(e->stamp);
        free(e);
    }
    memset(&ledger, 0, sizeof ledger);
}
