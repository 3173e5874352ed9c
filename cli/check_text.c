/* Prints the result of `heddle check` as text. */
#include "cli/check_difference.h"
#include "cli/check_output.h"
#include "cli/cli.h"
#include "cli/fidelity.h"
#include "cli/terminal.h"

#include "base/arena.h"
#include "base/buf.h"

#include <string.h>

enum { CLASSES_SHOWN = 8, LINES_SHOWN = 12 };

static void indent(const char *text, size_t most)
{
    for (size_t n = 0; *text; n++) {
        size_t length = strcspn(text, "\n");
        if (n == most) {
            printf("  ...\n");
            return;
        }
        printf("  %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static void print_suppressed(const char *where, uint64_t count)
{
    if (count)
        printf("%s: %llu finding%s suppressed\n", where, (unsigned long long)count,
               count == 1 ? "" : "s");
}

static void print_table(const struct check *c)
{
    size_t width = strlen("order");
    for (size_t i = 0; i < c->row_count; i++)
        if (strlen(c->rows[i].order) > width) width = strlen(c->rows[i].order);
    printf("%-*s  %6s  %7s  %10s  %6s  %s\n", (int)width, "order", "runs", "results", "at the end",
           "failed", "first differs at");
    for (size_t i = 0; i < c->row_count; i++) {
        const struct check_row *row = &c->rows[i];
        printf("%-*s  %6zu  %7zu  %10zu  %6zu", (int)width, row->order, row->ended,
               row->class_count, row->last_count, row->failed);
        if (row->difference && *row->difference->kernel)
            printf("  launch %zu (%s)", row->difference->launch + 1, row->difference->kernel);
        printf("\n");
    }
    if (c->races.ended)
        printf("races: %zu, atomic and plain accesses of the same memory: %zu, in %zu run%s that "
               "looked for them\n",
               c->facts.races, c->facts.mixed, c->races.examined,
               c->races.examined == 1 ? "" : "s");
    print_suppressed("races and such accesses", c->facts.suppressed);
    if (c->races.init_examined)
        printf(
            "reads of memory that nothing wrote: %zu, wrong synchronisation: %zu, in a native run "
            "that looked for them\n",
            c->races.uninitialised, c->races.misused);
    print_suppressed("such reads and wrong synchronisation", c->races.init_suppressed);
    for (size_t i = 0; i < c->row_count; i++)
        print_suppressed(c->rows[i].order, c->rows[i].suppressed);
}

/* Of each order its runs: a colour and a letter for each result, the most frequent first; failed ones and those behind the
 * last letter at the end. On a terminal alone: the table says the same. */
static void print_bars(const struct check *c)
{
    enum { BAR = 60 };
    static const struct {
        enum terminal_colour colour;
        char mark;
    } results[] = {{TERMINAL_BLUE, 'a'}, {TERMINAL_ORANGE, 'b'}, {TERMINAL_GREEN, 'c'},
                   {TERMINAL_PINK, 'd'}, {TERMINAL_SKY, 'e'},    {TERMINAL_YELLOW, 'f'}};
    enum { SHOWN = sizeof results / sizeof *results };
    size_t width = 0;
    if (!terminal_colours()) return;
    for (size_t i = 0; i < c->row_count; i++)
        if (strlen(c->rows[i].order) > width) width = strlen(c->rows[i].order);
    for (size_t i = 0; i < c->row_count; i++) {
        const struct check_row *row = &c->rows[i];
        size_t done = 0;
        int at = 0;
        if (!row->ended) continue;
        printf("%-*s |", (int)width, row->order);
        for (size_t k = 0; k <= SHOWN + 1; k++) {
            size_t here = k < SHOWN && k < row->class_count ? row->classes[k].count : 0;
            for (size_t r = SHOWN; k == SHOWN && r < row->class_count; r++)
                here += row->classes[r].count;
            if (k > SHOWN) here = row->failed;
            done += here;
            const int end = (int)((double)done / (double)row->ended * BAR + 0.5);
            terminal_bar(k < SHOWN    ? results[k].colour
                         : k == SHOWN ? TERMINAL_GREY
                                      : TERMINAL_RED,
                         k < SHOWN    ? results[k].mark
                         : k == SHOWN ? '+'
                                      : 'x',
                         end - at);
            if (end > at) at = end;
        }
        printf(" %zu result%s\n", row->class_count, row->class_count == 1 ? "" : "s");
    }
}

/* Of an order with several results: what that means for its promise. */
static void print_guarantee(const struct check *c, const struct check_row *row)
{
    if (c->facts.varies) return;
    const struct verdict_order o = {.promise = row->promise, .results = row->class_count};
    if (verdict_broken(&o, &c->facts))
        printf("%s guarantees one result, but gave several: this is a bug of Heddle\n", row->order);
    else if (row->promise == ORDER_WEAK)
        printf("%s guarantees one result for programs without races and without atomic and plain "
               "accesses of the same memory: %s\n",
               row->order,
               c->facts.races        ? "this program has races, see below"
               : c->facts.mixed      ? "this program has such accesses, see below"
               : c->facts.suppressed ? "this program has some, which are suppressed"
                                     : "they were not looked for, or not in all launches");
}

/* Of an order with one result: how sure that is. */
static void print_one_result(const struct check *c, const struct check_row *row)
{
    printf("%s: %zu run%s gave one result", row->order, row->ended, row->ended == 1 ? "" : "s");
    if (row->conflict_free) {
        printf("; all launches were free of conflicts, so that for this input the order of "
               "accesses makes no difference\n");
        return;
    }
    const size_t evidence = check_row_evidence(row);
    if (row->executions)
        printf(" in %zu different execution%s", evidence, evidence == 1 ? "" : "s");
    printf("; another whose probability is above %.2g%% would have shown with %g%% confidence\n",
           100 * verdict_unseen(evidence, c->request.confidence), 100 * c->request.confidence);
}

/* What is sure and what is not. */
static void print_certainty(const struct check *c)
{
    if (c->facts.varies)
        printf(
            "the native runs differ, although Heddle decides everything alike in them: the program "
            "itself varies, by the time, random numbers, files or the timing of its threads\n");
    for (size_t i = 0; i < c->row_count; i++) {
        const struct check_row *row = &c->rows[i];
        if (row->class_count > 1) print_guarantee(c, row);
        if (row->stopped) printf("%s: stopped, %s\n", row->order, row->stopped);
        if (row->reference || row->class_count != 1 || row->failed) continue;
        print_one_result(c, row);
    }
    if (c->request.no_race) printf("races were not looked for\n");
    else if (c->races.ended && c->races.runs->state == RUN_ENDED && *c->races.runs->fault.kind)
        printf("races were looked for only until the kernel '%s' ended early (%s)\n",
               c->races.runs->fault.kernel, c->races.runs->fault.kind);
    if (c->interrupted) printf("interrupted: not all runs were made\n");
}

static void print_results(const struct check *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        const struct check_row *row = &c->rows[i];
        if (row->class_count < 2 || c->facts.varies) continue;
        printf("\n%s, %zu results:\n", row->order, row->class_count);
        for (size_t k = 0; k < row->class_count && k < CLASSES_SHOWN; k++)
            printf("%6zu x  %s\n", row->classes[k].count,
                   check_command(c, row, row->classes[k].first));
        if (row->class_count > CLASSES_SHOWN)
            printf("        ... and %zu more\n", row->class_count - CLASSES_SHOWN);
    }
}

/* ---- where results differ --------------------------------------------------------------------------- */

static const char *side_name(const struct check *c, const struct check_difference *p, int i)
{
    if (p->side[i].row->reference) return p->side[i].row->order;
    return arena_printf(c->arena, "%s seed %llu", p->side[i].row->order,
                        (unsigned long long)check_seed(c, p->side[i].run));
}

char *check_writer_text(struct arena *a, const struct check_difference *p, int side)
{
    const struct last_writer *w = &p->side[side].writer;
    if (!p->side[side].known)
        return arena_printf(a, p->side[side].row->reference
                                   ? "the last writer is unknown: native runs change when observed"
                                   : "the last writer is unknown");
    if (!w->launch) return arena_printf(a, "no kernel wrote it");
    const char *what = w->reduces ? arena_printf(a, "atomic %s.%s", w->op, w->type)
                       : *w->type ? arena_printf(a, "store.%s", w->type)
                                  : "a store";
    const char *thread = w->thread_known ? arena_printf(a, "thread (%u,%u,%u) of ", w->thread[0],
                                                        w->thread[1], w->thread[2])
                                         : "";
    const char *source = w->source_file
                             ? arena_printf(a, " (%s:%u)", w->source_file, w->source_line)
                             : "";
    const char *when = w->launch - 1 == p->launch ? ""
                                                  : arena_printf(a, " in launch %u", w->launch);
    return arena_printf(a, "last written by %s, %sCTA (%u,%u,%u), %s line %u%s%s", what, thread,
                        w->cta[0], w->cta[1], w->cta[2], w->function, w->line, source, when);
}

static void print_memory(const struct check *c, const struct check_difference *p)
{
    printf("  0x%llx, ", (unsigned long long)p->address);
    if (p->type)
        printf("element %llu (%s%s) ", (unsigned long long)(p->offset / p->type->bytes),
               p->type->name, p->guessed ? ", as it was last written" : "");
    printf("%llu bytes into '%s', is the first that differs:\n", (unsigned long long)p->offset,
           p->allocation);
    for (int i = 0; i < 2; i++) {
        printf("    %s: %s\n", side_name(c, p, i), p->side[i].value);
        printf("      %s\n", check_writer_text(c->arena, p, i));
    }
    printf("  %llu byte%s of memory differ%s\n", (unsigned long long)p->differing,
           p->differing == 1 ? "" : "s", p->differing == 1 ? "s" : "");
    if (!p->has_floats) return;
    const struct float_difference *f = &p->floats;
    printf("  %s%llu number%s differ%s by ", p->more_words ? "of those looked at " : "",
           (unsigned long long)f->elements, f->elements == 1 ? "" : "s",
           f->elements == 1 ? "s" : "");
    if (f->ulp == UINT64_MAX) printf("being a NaN or not");
    else printf("at most %llu ulp, %.2g of the value", (unsigned long long)f->ulp, f->relative);
    printf("%s\n", f->order_only ? ": consistent with another order of additions" : "");
}

static void print_printed(const struct check *c, const struct check_difference *p)
{
    const char *x = p->side[0].printed, *y = p->side[1].printed;
    size_t line = 1, begin = 0;
    for (size_t i = 0; x[i] && x[i] == y[i]; i++)
        if (x[i] == '\n') line++, begin = i + 1;
    printf("  line %zu of what kernels print is the first that differs:\n", line);
    for (int i = 0; i < 2; i++)
        printf("    %s: %.*s\n", side_name(c, p, i), (int)strcspn(p->side[i].printed + begin, "\n"),
               p->side[i].printed + begin);
}

/* Once for all rows with the same cause. */
static void print_cause(const struct check *c, const struct check_difference *p)
{
    const struct check_cause *cause = check_cause(c, p);
    for (const struct check_row *row = c->rows; row->difference != p; row++)
        if (row->difference && check_cause(c, row->difference) == cause) return;
    if (cause) printf("  likely cause: %s\n  usual remedy: %s\n", cause->what, cause->remedy);
    else if (!c->facts.looked)
        printf("  the cause is unknown: races were not looked for in all launches\n");
}

static void print_differences(const struct check *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        const struct check_difference *p = c->rows[i].difference;
        if (!p) continue;
        printf("\n%s and %s differ ", side_name(c, p, 0), side_name(c, p, 1));
        if (p->kind == DIFFER_LAUNCHES) {
            printf("after launch %zu: one launches '%s', the other does not\n", p->launch,
                   p->kernel);
            print_cause(c, p);
            continue;
        }
        if (p->kind == DIFFER_BACK) printf("in what is copied to the host\n");
        else printf("in launch %zu (%s)\n", p->launch + 1, p->kernel);
        if (p->kind == DIFFER_MEMORY) print_memory(c, p);
        else if (p->kind == DIFFER_PRINTED) print_printed(c, p);
        else if (p->kind == DIFFER_FILES) printf("  the files that kernels wrote differ\n");
        else if (p->kind == DIFFER_ALLOCATIONS) printf("  their allocations differ\n");
        else if (p->kind == DIFFER_UNKNOWN)
            printf("  where is unknown: the runs gave other results when repeated\n");
        print_cause(c, p);
    }
}

static void print_failures(const struct check *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        const struct check_row *row = &c->rows[i];
        for (size_t k = 0; k < row->wanted; k++) {
            if (!check_run_failed(&row->runs[k])) continue;
            printf("\n%s: %zu of %zu runs failed, the first of them\n  %s\n", row->order,
                   row->failed, row->ended, check_command(c, row, k));
            indent(row->runs[k].messages, LINES_SHOWN);
            break;
        }
    }
    const struct check_run *lost = check_races_lost(c);
    if (lost) {
        const size_t run = (size_t)(lost - c->races.runs);
        printf("\nthe run that looks for %s failed\n  %s\n",
               run == CHECK_INIT_RUN ? "reads of memory that nothing wrote" : "races",
               check_races_command(c, run));
        indent(lost->messages, LINES_SHOWN);
    }
}

static void print_findings(const struct check *c)
{
    for (size_t i = 0; i < c->races.finding_count; i++) {
        const struct check_finding *f = &c->races.findings[i];
        printf("\n%s", f->text);
        if (f->count > 1)
            printf("  ... and %llu more of %s\n", (unsigned long long)f->count - 1,
                   f->line2 ? "these instructions" : "this instruction");
        if (f->run >= CHECK_RANDOM_RUNS)
            printf("  not in the native run, but in\n  %s\n", check_races_command(c, f->run));
    }
}

/* Orders that promise one result and kept it, as in "gpudet, dab". */
static const char *kept(const struct check *c)
{
    const char *list = "";
    for (size_t i = 1; i < c->row_count; i++)
        if (c->rows[i].promise != ORDER_NO_PROMISE && c->rows[i].class_count == 1)
            list = arena_printf(c->arena, "%s%s%s", list, *list ? ", " : "", c->rows[i].order);
    return list;
}

static void print_verdict(const struct check *c)
{
    const bool good = c->verdict == VERDICT_DETERMINISTIC || c->verdict == VERDICT_SOME;
    bool several = false;
    for (size_t i = 0; i < c->row_count; i++) several |= c->rows[i].class_count > 1;
    printf("%s: ", c->request.name);
    terminal_begin(good ? TERMINAL_GREEN : TERMINAL_RED);
    switch (c->verdict) {
    case VERDICT_SOME: printf("deterministic under %s only\n", kept(c)); break;
    case VERDICT_RACY:
        printf("racy, %s\n", several ? "nondeterministic" : "with one result in all runs");
        break;
    case VERDICT_UNDEFINED:
        printf("undefined behaviour: it %s%s%s, %s\n",
               c->races.uninitialised ? "reads memory that nothing wrote" : "",
               c->races.uninitialised && c->races.misused ? " and " : "",
               c->races.misused ? "misuses synchronisation" : "",
               several ? "nondeterministic" : "with one result in all runs");
        break;
    case VERDICT_DETERMINISTIC:
        printf("deterministic (one result under every order tried)\n");
        break;
    case VERDICT_BROKEN_PROMISE: printf("broken guarantee: this is a bug of Heddle\n"); break;
    default: printf("%s\n", verdict_name(c->verdict)); break;
    }
    terminal_end();
}

void check_print_text(const struct check *c)
{
    print_table(c);
    print_bars(c);
    check_output_print(c, false);
    print_certainty(c);
    print_failures(c);
    if (!c->request.quiet) {
        print_findings(c);
        print_differences(c);
        check_output_print(c, true);
        print_results(c);
        fidelity_print(c->rows[0].runs[0].fidelity);
        printf("\n");
    }
    print_verdict(c);
}
