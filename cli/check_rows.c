/* The orders of a check: when an order has enough runs, and how its results are classified and judged. */
#include "cli/check.h"

#include "base/arena.h"
#include "cli/check_output.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 8, ENOUGH_FAILED = 3 };

static size_t distinct(const struct check_row *row, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < i && (check_run_failed(&row->runs[k]) || row->runs[k].id != row->runs[i].id))
            k++;
        count += k == i && !check_run_failed(&row->runs[i]);
    }
    return count;
}

/* The first n runs are known: whether they are enough. */
static const char *enough(const struct check *c, const struct check_row *row, size_t n)
{
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) failed += check_run_failed(&row->runs[i]);
    if (failed >= ENOUGH_FAILED && failed == n)
        return arena_printf(c->arena, "all of %zu runs failed", n);
    if (row->promise != ORDER_NO_PROMISE || c->request.stop == STOP_NEVER) return NULL;
    size_t results = distinct(row, n);
    if (results >= (c->request.stop == STOP_MANY ? MANY : 2))
        return arena_printf(c->arena, "%zu results in %zu runs are enough", results, n);
    return NULL;
}

void check_row_look(const struct check *c, struct check_row *row)
{
    for (size_t n = row->ended; n < row->wanted; n = row->ended) {
        if (row->runs[n].state < RUN_ENDED) return;
        row->ended = n + 1;
        if (row->ended == row->wanted) return;
        row->stopped = enough(c, row, row->ended);
        if (row->stopped) row->wanted = row->ended;
    }
}

static int by_count(const void *a, const void *b)
{
    const struct check_class *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many executions the runs that ended well were. */
static void count_executions(struct arena *a, struct check_row *row)
{
    uint64_t *of = arena_array(a, uint64_t, row->wanted + 1);
    size_t n = 0;
    row->executions = 0;
    row->conflict_free = false;
    for (size_t i = 0; i < row->wanted; i++) {
        const struct check_run *r = &row->runs[i];
        if (r->state != RUN_ENDED || check_run_failed(r)) continue;
        if (r->execution == ORDER_EXECUTION_UNKNOWN) return;
        of[n++] = r->execution;
    }
    if (!n) return;
    qsort(of, n, sizeof *of, by_number);
    for (size_t i = 0; i < n; i++) row->executions += !i || of[i] != of[i - 1];
    row->conflict_free = of[n - 1] == ORDER_CONFLICT_FREE;
}

/* All runs have ended: results and failures. */
static void sum_up(struct arena *a, struct check_row *row)
{
    size_t last = 0;
    row->classes = arena_array(a, struct check_class, row->wanted + 1);
    row->class_count = row->last_count = row->failed = row->ended = 0;
    row->suppressed = 0;
    uint64_t *lasts = arena_array(a, uint64_t, row->wanted + 1);
    for (size_t i = 0; i < row->wanted; i++) {
        const struct check_run *r = &row->runs[i];
        row->ended += r->state >= RUN_ENDED;
        row->failed += check_run_failed(r);
        row->suppressed += r->suppressed;
        if (r->state != RUN_ENDED || check_run_failed(r)) continue;
        size_t k = 0;
        while (k < row->class_count && row->runs[row->classes[k].first].id != r->id) k++;
        if (k == row->class_count) row->classes[row->class_count++].first = i;
        row->classes[k].count++;
        for (k = 0; k < last && lasts[k] != r->last;) k++;
        if (k == last) lasts[last++] = r->last;
    }
    row->last_count = last;
    qsort(row->classes, row->class_count, sizeof *row->classes, by_count);
    count_executions(a, row);
}

const struct check_run *check_bad_call(const struct check *c)
{
    const struct check_run *r = &c->rows[0].runs[0];
    const bool bad = r->state == RUN_ENDED && (r->status == EXIT_INPUT || r->status == EXIT_USAGE);
    return bad ? r : NULL;
}

/* ---- the verdict ------------------------------------------------------------------------------------ */

static int failure(const struct check_run *r)
{
    return r->state == RUN_DIED ? EXIT_FAULT : r->status;
}

static int first_failure(const struct check_row *row)
{
    for (size_t i = 0; i < row->wanted; i++)
        if (check_run_failed(&row->runs[i])) return failure(&row->runs[i]);
    return EXIT_FINE;
}

static int status_of(const struct check *c)
{
    bool free_order = false; /* one that promises nothing was asked for */
    switch (c->verdict) {
    case VERDICT_FAILED:
        for (size_t i = 0; i < c->row_count; i++)
            if (c->rows[i].failed) return first_failure(&c->rows[i]);
        return check_races_lost(c) ? failure(check_races_lost(c)) : EXIT_FAULT;
    case VERDICT_BROKEN_PROMISE: return EXIT_BROKEN_PROMISE;
    case VERDICT_RACY: return EXIT_RACY;
    case VERDICT_UNDEFINED: return EXIT_UNDEFINED;
    case VERDICT_VARIES:
    case VERDICT_NONDETERMINISTIC: return EXIT_NONDETERMINISTIC;
    case VERDICT_SOME:
        for (size_t i = 0; i < c->row_count; i++)
            free_order |= c->rows[i].promise == ORDER_NO_PROMISE;
        return free_order ? EXIT_NONDETERMINISTIC : EXIT_FINE;
    default: return EXIT_FINE;
    }
}

void check_judge(struct check *c)
{
    struct verdict_order *orders = arena_array(c->arena, struct verdict_order, c->row_count);
    const struct check_row *reference = &c->rows[0];
    check_races_sum_up(c);
    const struct check_run *native = c->races.runs;
    c->facts.looked = c->races.ended && native->state == RUN_ENDED && !*native->fault.kind;
    for (size_t i = 0; i < c->races.finding_count; i++) {
        const enum emu_fault_kind kind = c->races.findings[i].kind;
        c->facts.races += kind == EMU_RACE;
        c->facts.mixed += kind == EMU_MIXED;
        c->races.uninitialised += kind == EMU_UNINITIALISED;
        c->races.misused += kind == EMU_BAD_LANES || kind == EMU_BARRIER;
    }
    c->facts.suppressed = c->races.suppressed;
    for (size_t i = 0; i < c->row_count; i++) {
        struct check_row *row = &c->rows[i];
        sum_up(c->arena, row);
        orders[i] = (struct verdict_order){.promise = row->promise,
                                           .runs = row->ended,
                                           .results = row->class_count,
                                           .failed = row->failed,
                                           .reference = row->reference};
        if (row->class_count && reference->class_count)
            orders[i].common = row->runs[row->classes[0].first].id ==
                               reference->runs[reference->classes[0].first].id;
    }
    c->facts.varies = c->rows[0].class_count > 1;
    c->verdict = verdict_of(orders, c->row_count, &c->facts);
    const bool worse = c->verdict == VERDICT_FAILED || c->verdict == VERDICT_BROKEN_PROMISE ||
                       c->verdict == VERDICT_RACY || c->verdict == VERDICT_UNKNOWN;
    if (!worse && (c->races.uninitialised || c->races.misused)) c->verdict = VERDICT_UNDEFINED;
    check_output_compare(c);
    const bool output_differs = c->output.kind == OUTPUT_DIFFERS;
    if ((c->verdict == VERDICT_DETERMINISTIC && output_differs) ||
        (c->verdict == VERDICT_SOME && c->output.breaks_guarantee))
        c->verdict = VERDICT_NONDETERMINISTIC;
    const bool good = c->verdict == VERDICT_DETERMINISTIC || c->verdict == VERDICT_SOME;
    if (good && check_races_lost(c)) c->verdict = VERDICT_FAILED;
    if (c->interrupted && (c->verdict == VERDICT_DETERMINISTIC || c->verdict == VERDICT_SOME))
        c->verdict = VERDICT_UNKNOWN; /* what is missing might have shown more */
    c->status = c->interrupted ? EXIT_INTERRUPTED : status_of(c);
}
