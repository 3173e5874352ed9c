/* Options of dab, and the names of what it counts. */
#define _GNU_SOURCE
#include "determinism/dab/internal.h"
#include "determinism/orders.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const levels[] = {"scheduler", "warp", NULL};
static const char *const rules[] = {"gwat", "gtar", "gtrr", "srr", "any", NULL};
static const char *const distributions[] = {"fixed", "any", NULL};
static const char *const queues[] = {"own", "l2", NULL};

#define OPTION(name, field, text, ...)                                                             \
    {                                                                                              \
        name, text, offsetof(struct dab_options, field), __VA_ARGS__                               \
    }
#define NUMBER(low, high, usual) .least = (low), .most = (high), .preset = (usual)
#define SWITCH(usual) .words = order_off_on, .preset = (usual)

enum { ENTRIES = 64, WARP_ENTRIES = 32 };

const struct order_option dab_option_list[DAB_OPTIONS] = {
    OPTION("level", level, "who has a buffer: each warp scheduler of an SM, or each warp",
           .words = levels),
    OPTION(
        "scheduler", scheduler,
        "in which order warps fill it: greedy with an atomic token; greedy, then atomics in rounds; greedy up to "
        "the first atomics, then strict round robin; strict round robin; as they come, which breaks the guarantee",
        .words = rules),
    OPTION("entries", entries, "of a buffer, each for a lane's reduction",
           NUMBER(1, 65536, ENTRIES)),
    OPTION("fusion", fusion, "reductions of one kind to one address share an entry", SWITCH(1)),
    OPTION("coalescing", coalescing,
           "a buffer's entries of one 32-byte sector go in one transaction", SWITCH(1)),
    OPTION("offset", offset, "SMs of even number flush from their 33rd entry on", SWITCH(0)),
    OPTION("sms", sms, "gating: CTAs go to the first so many SMs; 0: to all", NUMBER(0, 65536, 0)),
    OPTION(
        "batches", batches,
        "a scheduler does all atomics of one batch of CTAs before any of the next; off breaks the guarantee",
        SWITCH(1)),
    OPTION("sms-per-cluster", sms_per_cluster, "of the GPU: they share a way into the network",
           NUMBER(1, 65536, 2)),
    OPTION("partitions", partitions, "of memory, in turn every 256 bytes", NUMBER(1, 1024, 24)),
    OPTION(
        "reorder", reorder,
        "partitions carry out a flush in turn of the SMs; off: as it arrives, which breaks the guarantee (nr)",
        SWITCH(1)),
    OPTION("overlap", overlap,
           "a flush may begin before the last one has arrived, with reorder=off (nr-of)",
           SWITCH(0)),
    OPTION("independent", independent,
           "a cluster flushes as soon as it is full, whatever others do, with reorder=off (nr-cif)",
           SWITCH(0)),
    OPTION("distribution", distribution,
           "CTA c goes to slot c modulo slots; or anywhere, which breaks the guarantee",
           .words = distributions),
    OPTION(
        "queue", queue,
        "where what comes before its turn waits: in buffers of the partition's own, or in L2, from "
        "which a line goes for each (of estimates alone)",
        .words = queues),
    OPTION(
        "ahead", ahead,
        "srr, gtrr: warps execute before their turn what no other warp can observe without a data "
        "race; off: slower, with the same results for programs without data races",
        SWITCH(1)),
};

char *dab_conflict(const void *options)
{
    const struct dab_options *o = options;
    const char *what = NULL;
    if (o->level == DAB_WARP && o->scheduler)
        what =
            "level=warp has no scheduler rule: each warp fills its own buffer; leave out scheduler";
    if (o->level == DAB_WARP && o->entries < WARP_ENTRIES)
        what = "level=warp needs entries=32 or more: one for each lane";
    if (o->level == DAB_WARP && !o->batches)
        what = "level=warp has no batches: each warp fills its own buffer; leave out batches=off";
    if (o->offset && o->entries <= ATOMIC_BUFFER_OFFSET)
        what = "offset=on flushes from the 33rd entry on: it needs entries=33 or more";
    if (!o->reorder && o->queue)
        what = "queue=l2 is for what waits for its turn, and with reorder=off nothing does: leave "
               "out one of them";
    if (o->distribution && !o->batches)
        what = "distribution=any has no batches to switch off: leave out batches=off";
    if (o->distribution && o->sms)
        what = "sms deals CTAs to some SMs and distribution=any deals none: leave out one of them";
    if (o->reorder && o->overlap)
        what = "overlap=on (nr-of) is without order at partitions: add reorder=off";
    if (o->reorder && o->independent)
        what = "independent=on (nr-cif) is without order at partitions: add reorder=off";
    return what ? strdup(what) : NULL;
}

enum order_promise dab_promise(const void *options)
{
    const struct dab_options *o = options;
    const bool kept = o->scheduler != DAB_ANY && o->batches && o->reorder && !o->distribution;
    return kept ? ORDER_WEAK : ORDER_NO_PROMISE;
}

const char *const dab_number_names[DAB_NUMBERS] = {
    "dab.flushes.full",      "dab.flushes.atom", "dab.flushes.fence",  "dab.flushes.barrier",
    "dab.flushes.exit",      "dab.reductions",   "dab.entries",        "dab.fused",
    "dab.transactions",      "dab.coalesced",    "dab.pre_flush",      "dab.early",
    "dab.waiting_most",      "dab.waits.turn",   "dab.ordered.rounds", "dab.ordered.accesses",
    "dab.waits.shared_turn",
};
