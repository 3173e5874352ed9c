#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "cli/report.h"

#include "base/arena.h"
#include "cli/counts.h"
#include "cli/locks_report.h"
#include "cli/placement_report.h"
#include "cli/progress.h"
#include "cli/watch_report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void report_begin(struct report *r)
{
    r->started = now();
}

void report_say(struct report *r, const char *text)
{
    if (!*text) return;
    buf_puts(&r->messages, text);
    if (r->watch) return;
    progress_clear(r->progress);
    (void)fflush(stdout);
    (void)fputs(text, stderr);
}

void report_fail(struct report *r, int status, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!r->status) r->status = status;
    report_say(r, text);
}

static bool alike(const struct launch_record *a, const struct launch_record *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 && a->shared == b->shared;
}

static struct launch_row *row_of(struct report *r, const struct launch_record *launch)
{
    for (size_t i = 0; i < r->row_count; i++)
        if (alike(&r->rows[i].first, launch)) return &r->rows[i];
    r->rows = arena_grow(r->arena, r->rows, r->row_count, &r->row_cap, r->row_count + 1,
                         sizeof *r->rows);
    struct launch_row *row = &r->rows[r->row_count++];
    *row = (struct launch_row){.first = *launch};
    row->first.kernel = arena_copy(r->arena, launch->kernel, strlen(launch->kernel));
    return row;
}

void report_launch(struct report *r, const struct launch_record *launch, const char *text)
{
    if (text) report_say(r, text);
    counts_launch(r->counts, launch->counts, launch->fault == EMU_OK);
    if (!launch->fault || launch->warp_instructions) { /* else it could not begin */
        struct launch_row *row = row_of(r, launch);
        row->launches++;
        row->warp_instructions += launch->warp_instructions;
        row->thread_instructions += launch->thread_instructions;
        row->executions[launch->execution]++;
        row->findings += launch->finding_count;
        row->suppressed += launch->suppressed;
        row->seconds += launch->seconds;
    }
    if (launch->fault && !r->fault.kernel) {
        r->fault = *launch;
        r->fault.kernel = arena_copy(r->arena, launch->kernel, strlen(launch->kernel));
        if (!text) text = launch->fault_text;
        r->fault.fault_text = arena_copy(r->arena, text, strlen(text));
    }
    int status = launch->fault           ? launch_record_endless(launch) ? EXIT_LIMIT : EXIT_FAULT
                 : launch->finding_count ? EXIT_FAULT
                                         : EXIT_FINE;
    if (!r->status) r->status = status;
}

struct shown_buffer *report_add_buffer(struct report *r)
{
    r->buffers = arena_grow(r->arena, r->buffers, r->buffer_count, &r->buffer_cap,
                            r->buffer_count + 1, sizeof *r->buffers);
    struct shown_buffer *b = &r->buffers[r->buffer_count++];
    *b = (struct shown_buffer){0};
    return b;
}

struct shown_comparison *report_add_comparison(struct report *r)
{
    r->comparisons = arena_grow(r->arena, r->comparisons, r->comparison_count, &r->comparison_cap,
                                r->comparison_count + 1, sizeof *r->comparisons);
    struct shown_comparison *c = &r->comparisons[r->comparison_count++];
    *c = (struct shown_comparison){0};
    return c;
}

void report_printed(void *self, const char *text, size_t length)
{
    struct report *r = self;
    progress_clear(r->progress);
    if (r->json) buf_add(&r->printed, text, length);
    else (void)fwrite(text, 1, length, stdout);
}

/* ---- text --------------------------------------------------------------------------------------- */

static void print_row(const struct launch_row *row)
{
    const struct launch_record *l = &row->first;
    printf("%s: ", l->kernel);
    if (row->launches > 1) printf("%" PRIu64 " launches of ", row->launches);
    printf("%ux%ux%u CTAs of %ux%ux%u threads, %" PRIu64 " warp instructions, %" PRIu64
           " thread instructions, %.3f ms, %.2f billion/s",
           l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
           row->warp_instructions, row->thread_instructions, row->seconds * 1e3,
           (double)row->thread_instructions * 1e-9 / (row->seconds > 0 ? row->seconds : 1));
    if (row->suppressed) printf("; %" PRIu64 " findings suppressed", row->suppressed);
    printf("\n");
}

static void print_buffer(const struct shown_buffer *b)
{
    struct buf line = {0};
    for (uint64_t i = 0; i < b->count && i < sizeof b->first / sizeof *b->first; i++) {
        buf_putc(&line, ' ');
        value_print(b->type, b->first[i], &line);
    }
    printf("  %s:%s%s\n", b->label, line.data ? line.data : "",
           b->count > sizeof b->first / sizeof *b->first ? " ..." : "");
    buf_free(&line);
}

static void print_text(const struct report *r)
{
    if (r->fault.kernel) return;
    for (size_t i = 0; i < r->row_count; i++) print_row(&r->rows[i]);
    for (size_t i = 0; i < r->buffer_count; i++) print_buffer(&r->buffers[i]);
    if (r->has_digest) printf("  digest %016" PRIx64 "\n", r->digest);
    size_t good = 0;
    for (size_t i = 0; i < r->comparison_count; i++) {
        const struct shown_comparison *c = &r->comparisons[i];
        good += c->by_digest ? c->got == c->want : !c->comparison.mismatches;
    }
    if (r->comparison_count)
        printf("%zu of %zu expectation%s met\n", good, r->comparison_count,
               r->comparison_count == 1 ? "" : "s");
    if (r->note) printf("%s\n", r->note);
    watch_report_print(r->watches);
    placement_report_print(r->placement);
    locks_report_print(r->locks);
    counts_print(r->counts);
}

const char *report_status_name(int status)
{
    switch (status) {
    case EXIT_FINE: return "passed";
    case EXIT_INPUT: return "bad input";
    case EXIT_FAULT: return "fault";
    case EXIT_DIFFERS: return "differs";
    case EXIT_LIMIT: return "no end";
    default: return "bad call";
    }
}

int report_end(struct report *r)
{
    progress_clear(r->progress);
    if (r->json) report_print_json(r, now() - r->started);
    else if (!r->quiet) print_text(r);
    buf_free(&r->messages);
    buf_free(&r->printed);
    return finish_output("run", r->status);
}
