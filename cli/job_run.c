/* Runs a job: loads modules, fills buffers, executes steps, and checks expectations. */
#include "cli/job_run.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "cli/placement_report.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/report.h"
#include "cli/watch_report.h"
#include "emu/emu.h"

#include "library/device.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_STEPS = 10000000 }; /* of a job, loops and all: hours */

/* Prints what is in some diags; the exit code. */
int runner_wrong_in(struct runner *r, struct diags *d, int status)
{
    struct buf text = {0};
    diags_render(d, &text);
    report_say(r->report, text.data ? text.data : "");
    buf_free(&text);
    if (!r->report->status) r->report->status = status;
    return r->report->status;
}

int runner_wrong(struct runner *r, int status)
{
    return runner_wrong_in(r, r->job->diags, status);
}

/* As the job or its surroundings are to blame. */
static int bad_input(struct runner *r)
{
    return runner_wrong(r, r->job->from_file && !r->outside ? EXIT_INPUT : EXIT_USAGE);
}

static bool load(struct runner *r)
{
    struct job *job = r->job;
    bool ok = true;
    r->modules = arena_array(job->arena, struct heddle_module *, job->module_count);
    for (size_t i = 0; i < job->module_count; i++) {
        struct heddle_module *m = job->modules[i].ready;
        if (!m) m = heddle_module_read_file(job->modules[i].path, NULL);
        r->modules[i] = m;
        report_say(r->report, heddle_module_messages_text(m));
        if (heddle_module_ok(m)) continue;
        ok = false;
        if (heddle_module_unreadable(m) || !r->report->status)
            r->report->status = heddle_module_unreadable(m) ? EXIT_USAGE : EXIT_INPUT;
    }
    if (!ok) return false;
    r->device = heddle_device_new(&job->device);
    const struct placement_report *placement = r->report->placement;
    device_watch(r->device,
                 placement && placement->placement ? &placement->watch : r->report->watch);
    device_set_run_observer(r->device, r->report->run_observer);
    if (heddle_device_load(r->device, r->modules, job->module_count)) return true;
    report_fail(r->report, EXIT_INPUT, "heddle run: %s\n", heddle_device_error(r->device));
    return false;
}

/* Where in the job file the launch stands, behind the report of its fault. */
static void say_where(struct runner *r, const struct job_step *s)
{
    if (!r->job->from_file) return;
    diag_note(r->job->diags, s->where.at, s->where.length, "launched here");
    runner_wrong(r, r->report->status);
}

static bool launch(struct runner *r, const struct job_step *s)
{
    struct heddle_launch l = {.kernel = s->kernel_name,
                              .shared = s->shared,
                              .cooperative = s->cooperative,
                              .args = s->bits,
                              .arg_count = s->arg_count};
    memcpy(l.grid, s->grid, sizeof l.grid);
    memcpy(l.block, s->block, sizeof l.block);
    memcpy(l.cluster, s->cluster, sizeof l.cluster);
    struct heddle_run run = heddle_device_run(r->device, &l);
    if (r->report->progress)
        progress_launch(r->report->progress, run.warp_instructions, run.seconds);
    report_launch(r->report, device_launched(r->device), run.text);
    if (run.fault) say_where(r, s);
    return !run.fault;
}

static bool copy(struct runner *r, const struct job_step *s)
{
    uint64_t size = s->from->count * s->from->type->bytes, piece = (uint64_t)CHUNK * 8;
    if (size != s->buffer->count * s->buffer->type->bytes) {
        diag_error(r->job->diags, s->where.at, s->where.length,
                   "'%s' has %" PRIu64 " bytes, '%s' has %" PRIu64 ": a copy needs equal sizes",
                   s->from->name, size, s->buffer->name, s->buffer->count * s->buffer->type->bytes);
        bad_input(r);
        return false;
    }
    for (uint64_t i = 0, n; i < size; i += n) {
        n = size - i < piece ? size - i : piece;
        if (!heddle_device_read(r->device, r->got, s->from->address + i, n) ||
            !heddle_device_write(r->device, s->buffer->address + i, r->got, n)) {
            report_fail(r->report, EXIT_FAULT, "heddle run: cannot copy '%s' to '%s'\n",
                        s->from->name, s->buffer->name);
            return false;
        }
    }
    return true;
}

static bool set(struct runner *r, const struct job_step *s)
{
    uint64_t own = 0, all = s->buffer->count, n = s->count;
    if (!n && s->fill.kind == PATTERN_LIST && pattern_count(&s->fill, s->buffer->type, &own))
        n = own;
    if (s->first < all && n <= all - s->first) {
        if (!n) n = all - s->first;
        if (runner_fill(r, s->buffer, &s->fill, s->first, n)) return true;
        bad_input(r);
        return false;
    }
    diag_error(r->job->diags, s->where.at, s->where.length,
               "elements %" PRIu64 " to %" PRIu64 " are not in '%s', which has %" PRIu64, s->first,
               s->first + (n ? n - 1 : 0), s->buffer->name, all);
    bad_input(r);
    return false;
}

static bool steps(struct runner *r, const struct job_step *s);

static bool too_many(struct runner *r, const struct job_step *s)
{
    if (r->steps++ < MOST_STEPS) return false;
    diag_error(r->job->diags, s->where.at, s->where.length, "a job ends after %d steps",
               MOST_STEPS);
    runner_wrong(r, EXIT_LIMIT);
    return true;
}

/* Whether the element that ends a loop has its value. */
static bool reached(struct runner *r, const struct job_step *s, bool *is)
{
    const struct job_buffer *b = s->until;
    unsigned char bytes[8];
    if (s->until_index < b->count &&
        heddle_device_read(r->device, bytes, b->address + s->until_index * b->type->bytes,
                           b->type->bytes)) {
        *is = value_load(b->type, bytes) == s->until_bits;
        return true;
    }
    diag_error(r->job->diags, s->where.at, s->where.length,
               "there is no element %" PRIu64 " in '%s', which has %" PRIu64, s->until_index,
               b->name, b->count);
    bad_input(r);
    return false;
}

static bool loop(struct runner *r, const struct job_step *s)
{
    for (uint64_t i = 0; i < s->repeat; i++) {
        bool is = false;
        if (too_many(r, s) || !steps(r, s->body)) return false;
        if (s->until && !reached(r, s, &is)) return false;
        if (is) return true;
    }
    if (!s->until) return true;
    diag_error(r->job->diags, s->where.at, s->where.length,
               "'%s' did not get the value that ends this loop within %" PRIu64 " iterations",
               s->until->name, s->repeat);
    runner_wrong(r, EXIT_LIMIT);
    return false;
}

static bool steps(struct runner *r, const struct job_step *s)
{
    for (; s; s = s->next) {
        if (too_many(r, s)) return false;
        bool ok = s->kind == JOB_LAUNCH ? launch(r, s)
                  : s->kind == JOB_SET  ? set(r, s)
                  : s->kind == JOB_COPY ? copy(r, s)
                                        : loop(r, s);
        if (!ok) return false;
    }
    return true;
}

/* The job's own buffers are released first: what is left is what kernels took. */
static void tell_leaks(struct runner *r)
{
    size_t leaks;
    for (size_t i = 0; i < r->job->buffer_count; i++)
        if (!r->job->buffers[i]->variable)
            heddle_device_release(r->device, r->job->buffers[i]->address);
    report_say(r->report, heddle_device_leaks(r->device, &leaks));
    if (leaks && !r->report->status) r->report->status = EXIT_FAULT;
}

/* What --watch names must be there before anything runs. */
static bool watch(struct runner *r)
{
    struct watch_report *w = r->report->watches;
    const struct emu_observer *o = w ? watch_report_observer(w) : NULL;
    if (!o) return true;
    if (watch_report_find(w, device_emu(r->device), r->job))
        watch_report_check_found(w, device_emu(r->device));
    if (w->diags->errors) {
        runner_wrong_in(r, w->diags, EXIT_USAGE);
        return false;
    }
    device_observe(r->device, o);
    return true;
}

static void run(struct runner *r)
{
    struct job *job = r->job;
    bool ok = true;
    settings_to_device(&job->settings, &job->device);
    if (!load(r) || !recording_begin(r->report->recording, &job->device)) return;
    device_set_order(r->device, recording_order(r->report->recording));
    for (size_t i = 0; ok && i < job->buffer_count; i++) ok = runner_place(r, job->buffers[i]);
    if (!ok) {
        bad_input(r);
        return;
    }
    if (!job_bind(job, r->device, r->modules)) {
        bad_input(r);
        return;
    }
    for (size_t i = 0; ok && i < job->buffer_count; i++) {
        struct job_buffer *b = job->buffers[i];
        if (!b->filled) continue;
        if (b->variable || b->fill.kind != PATTERN_ZERO)
            ok = runner_fill(r, b, &b->fill, 0, b->count);
    }
    if (!ok) {
        bad_input(r);
        return;
    }
    if (!watch(r)) return;
    if (!steps(r, job->steps)) return;
    for (size_t i = 0; i < job->expectation_count; i++)
        if (!runner_check(r, &job->expectations[i])) return;
    for (size_t i = 0; i < job->dump_count && !r->report->watch; i++)
        if (!runner_dump(r, &job->dumps[i])) return;
    runner_show(r);
    if (job->device.check_memory) tell_leaks(r);
}

int job_run(struct job *job, struct report *report)
{
    struct runner r = {.job = job, .report = report};
    r.got = arena_alloc(job->arena, (size_t)CHUNK * 8);
    r.want = arena_alloc(job->arena, (size_t)CHUNK * 8);
    run(&r);
    heddle_device_free(r.device);
    for (size_t i = 0; r.modules && i < job->module_count; i++)
        if (!job->modules[i].ready) heddle_module_free(r.modules[i]);
    return report->status;
}
