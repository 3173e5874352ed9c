/* What `heddle check` prints for people. */
#include "cli/check.h"
#include "cli/cli.h"

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

static void print_table(const struct check *c)
{
    size_t width = strlen("order");
    for (size_t i = 0; i < c->row_count; i++)
        if (strlen(c->rows[i].order) > width) width = strlen(c->rows[i].order);
    printf("%-*s  %6s  %7s  %10s  %6s  %s\n", (int)width, "order", "runs", "results", "at the end",
           "failed", "first parts at");
    for (size_t i = 0; i < c->row_count; i++) {
        const struct check_row *row = &c->rows[i];
        printf("%-*s  %6zu  %7zu  %10zu  %6zu", (int)width, row->order, row->ended,
               row->class_count, row->last_count, row->failed);
        printf("\n");
    }
    if (!c->no_race && c->race.state >= RUN_ENDED)
        printf("races: %zu, atomic and plain accesses of the same memory: %zu\n", c->facts.races,
               c->facts.mixed);
}

/* What is sure and what is not. */
static void print_certainty(const struct check *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        const struct check_row *row = &c->rows[i];
        if (row->stopped) printf("%s: stopped, %s\n", row->order, row->stopped);
        if (row->reference || row->class_count != 1 || row->failed) continue;
        printf(
            "%s: %zu run%s gave one result; another whose probability is above %.2g%% would have "
            "shown with 95%% confidence\n",
            row->order, row->ended, row->ended == 1 ? "" : "s", 100 * verdict_unseen(row->ended));
    }
    if (c->no_race) printf("races were not looked for\n");
    if (c->interrupted) printf("interrupted: not all runs were made\n");
}

static void print_results(const struct check *c)
{
    for (size_t i = 0; i < c->row_count; i++) {
        const struct check_row *row = &c->rows[i];
        if (row->class_count < 2) continue;
        printf("\n%s, %zu results:\n", row->order, row->class_count);
        for (size_t k = 0; k < row->class_count && k < CLASSES_SHOWN; k++)
            printf("%6zu x  %s\n", row->classes[k].count,
                   check_command(c, row, row->classes[k].first));
        if (row->class_count > CLASSES_SHOWN)
            printf("        ... and %zu more\n", row->class_count - CLASSES_SHOWN);
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
    if (c->race.state == RUN_DIED) {
        printf("\nthe search for races failed\n");
        indent(c->race.messages, LINES_SHOWN);
    }
}

static void print_findings(const struct check *c)
{
    for (size_t i = 0; i < c->race.finding_count; i++) {
        const struct check_finding *f = &c->race.findings[i];
        printf("\n%s", f->text);
        if (f->count > 1)
            printf("  ... and %llu more of these instructions\n", (unsigned long long)f->count - 1);
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
    bool several = false;
    for (size_t i = 0; i < c->row_count; i++) several |= c->rows[i].class_count > 1;
    printf("%s: ", c->name);
    switch (c->verdict) {
    case VERDICT_SOME: printf("deterministic under %s only\n", kept(c)); break;
    case VERDICT_RACY:
        printf("racy, %s\n", several ? "nondeterministic" : "with one result in all runs");
        break;
    case VERDICT_DETERMINISTIC:
        printf("deterministic (one result under every order tried)\n");
        break;
    case VERDICT_BROKEN_PROMISE: printf("broken promise: this is a bug of Heddle\n"); break;
    default: printf("%s\n", verdict_name(c->verdict)); break;
    }
}

void check_print_text(const struct check *c)
{
    print_table(c);
    print_certainty(c);
    print_failures(c);
    print_findings(c);
    print_results(c);
    if (!c->quiet) printf("\n");
    print_verdict(c);
}
