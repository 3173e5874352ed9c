/* Finds the likely cause of a difference between two results of `heddle check` (struct check_cause). */
#include "cli/check_difference.h"

#include <string.h>

static const struct check_cause
    additions =
        {"order of additions", "the order of floating-point additions",
         "add in a fixed order (in each CTA a tree, then the sums of the CTAs), or compare with a tolerance"},
    uninitialised = {"uninitialised memory", "a read of memory that nothing wrote",
                     "write the memory before it is read: cudaMemset, or a store"},
    race = {"race", "a data race",
            "order the accesses by a barrier, a fence and an atomic, or make both atomics"},
    mixed =
        {"mixed accesses", "atomic and plain accesses of the same memory",
         "make all accesses of one kernel atomic, or put a barrier or the end of a launch between them"},
    atomics =
        {"order of atomics",
         "the order in which atomics or volatile accesses of several threads take effect",
         "take the place of an element from the thread's number instead of a counter, sort what was appended, or "
         "reduce with an operation whose order makes no difference"},
    prints = {"order of prints", "the order in which threads print",
              "print from one thread, or sort the lines"},
    writes = {"order of file writes", "the order in which threads write to files",
              "give each thread its own place in the file (hd_pwrite), or write from one thread"};

static bool is_sum(const struct check_difference *p)
{
    return p->kind == DIFFER_MEMORY && p->has_floats && p->floats.order_only;
}

/* Of such accesses only an order that buffers reductions makes several results. */
static bool breaks_weak_guarantee(const struct check_difference *p)
{
    const struct check_row *row = p->side[0].row;
    return row == p->side[1].row && row->promise == ORDER_WEAK;
}

/* Only under `random` memory that nothing wrote holds other bytes than zeros. */
static bool of_random(const struct check_difference *p)
{
    return strncmp(p->side[0].row->order, "random", 6) == 0 ||
           strncmp(p->side[1].row->order, "random", 6) == 0;
}

const struct check_cause *check_cause(const struct check *c, const struct check_difference *p)
{
    if (c->facts.varies || p->kind == DIFFER_UNKNOWN) return NULL;
    if (is_sum(p)) return &additions;
    if (c->facts.races) return &race;
    if (c->races.uninitialised && of_random(p)) return &uninitialised;
    if (p->kind == DIFFER_PRINTED) return &prints;
    if (p->kind == DIFFER_FILES) return &writes;
    if (c->facts.mixed && breaks_weak_guarantee(p)) return &mixed;
    /* What is free of races depends on atomics and other strong accesses alone. */
    return c->facts.looked && !c->facts.suppressed ? &atomics : NULL;
}
