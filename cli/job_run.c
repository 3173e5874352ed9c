/* Runs a job: modules, buffers, steps, and then what should have come of them. */
#include "cli/job.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "cli/progress.h"
#include "cli/replace.h"
#include "cli/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 16,       /* elements in host memory at a time */
    MOST_STEPS = 10000000, /* of a job, loops and all: hours */
};

struct runner {
    struct job *job;
    struct report *report;
    struct heddle_device *device;
    struct heddle_module **modules;
    unsigned char *got, *want; /* CHUNK elements each */
    uint64_t steps;            /* done, and rounds of loops */
    bool outside;              /* what is wrong is a file or memory, not what the job says */
};

/* Prints what is in some diags; the exit code. */
static int wrong_in(struct runner *r, struct diags *d, int status)
{
    struct buf text = {0};
    diags_render(d, &text);
    report_say(r->report, text.data ? text.data : "");
    buf_free(&text);
    if (!r->report->status) r->report->status = status;
    return r->report->status;
}

static int wrong(struct runner *r, int status)
{
    return wrong_in(r, r->job->diags, status);
}

static int bad_input(struct runner *r)
{
    return wrong(r, r->job->from_file && !r->outside ? EXIT_INPUT : EXIT_USAGE);
}

/* ---- modules and buffers ------------------------------------------------------------------------- */

static bool load(struct runner *r)
{
    struct job *job = r->job;
    bool ok = true;
    r->modules = arena_array(job->arena, struct heddle_module *, job->module_count);
    for (size_t i = 0; i < job->module_count; i++) {
        struct heddle_module *m = heddle_module_read_file(job->modules[i].path, NULL);
        r->modules[i] = m;
        report_say(r->report, heddle_module_messages_text(m));
        if (heddle_module_ok(m)) continue;
        ok = false;
        if (heddle_module_unreadable(m) || !r->report->status)
            r->report->status = heddle_module_unreadable(m) ? EXIT_USAGE : EXIT_INPUT;
    }
    if (!ok) return false;
    r->device = heddle_device_new(&job->device);
    if (heddle_device_load(r->device, r->modules, job->module_count)) return true;
    report_fail(r->report, EXIT_INPUT, "heddle run: %s\n", heddle_device_error(r->device));
    return false;
}

/* How many elements it has, if it does not say itself. */
static bool count(struct runner *r, struct job_buffer *b, uint64_t variable_size)
{
    struct diags *d = r->job->diags;
    uint64_t own = 0;
    if (b->variable) {
        own = variable_size / b->type->bytes;
        if (!b->count && variable_size % b->type->bytes == 0) b->count = own;
        if (b->count && b->count <= own) return true;
        diag_error(d, b->where.at, b->where.length,
                   "the variable '%s' has %" PRIu64 " bytes: no array of %" PRIu64 " %s",
                   b->variable, variable_size, b->count, b->type->name);
        return false;
    }
    bool has = pattern_count(&b->fill, b->type, &own);
    if (!b->count && has) b->count = own;
    if (b->count) return true;
    r->outside = b->fill.kind == PATTERN_FILE;
    diag_error(d, b->where.at, b->where.length, "how many elements? '%s' has no count of its own%s",
               b->label, b->fill.kind == PATTERN_FILE ? ": the file is empty, or not there" : "");
    return false;
}

static bool place(struct runner *r, struct job_buffer *b)
{
    uint64_t size = 0;
    struct diags *d = r->job->diags;
    if (b->variable) {
        b->address = heddle_device_variable(r->device, b->variable, &size);
        if (!b->address) {
            diag_error(d, b->where.at, b->where.length, "no module has a variable '%s'",
                       b->variable);
            return false;
        }
    }
    if (!count(r, b, size)) return false;
    if (b->variable) return true;
    b->address = heddle_device_alloc(r->device, b->count * b->type->bytes, b->label);
    if (b->address) return true;
    r->outside = true;
    diag_error(d, b->where.at, b->where.length,
               "out of device memory: '%s' wants %" PRIu64 " bytes; the memory setting has more",
               b->label, b->count * b->type->bytes);
    return false;
}

static bool fill(struct runner *r, struct job_buffer *b, const struct pattern *p, uint64_t first,
                 uint64_t n)
{
    struct filler f;
    struct buf why = {0};
    unsigned size = b->type->bytes;
    bool ok = filler_open(&f, p, b->type, n, &why);
    for (uint64_t i = 0, k; ok && i < n; i += k) {
        k = n - i < CHUNK ? n - i : CHUNK;
        ok = filler_next(&f, r->want, k, &why);
        if (ok &&
            !heddle_device_write(r->device, b->address + (first + i) * size, r->want, k * size)) {
            buf_printf(&why, "'%s' cannot be written", b->label);
            ok = false;
        }
    }
    filler_close(&f);
    r->outside = p->kind == PATTERN_FILE;
    if (!ok)
        diag_error(r->job->diags, p->where.at, p->where.length, "%s", why.data ? why.data : "?");
    buf_free(&why);
    return ok;
}

/* ---- steps --------------------------------------------------------------------------------------- */

/* Where in the job file the launch stands, behind the report of its fault. */
static void say_where(struct runner *r, const struct job_step *s)
{
    if (!r->job->from_file) return;
    diag_note(r->job->diags, s->where.at, s->where.length, "launched here");
    wrong(r, r->report->status);
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
    struct launch_record record = {.kernel = s->kernel_name,
                                   .shared = s->shared,
                                   .warp_instructions = run.warp_instructions,
                                   .thread_instructions = run.thread_instructions,
                                   .findings = run.findings,
                                   .fault = run.fault ? run.kind : NULL,
                                   .line = run.line,
                                   .limit = run.limit,
                                   .text = run.text,
                                   .seconds = run.seconds};
    memcpy(record.grid, s->grid, sizeof record.grid);
    memcpy(record.block, s->block, sizeof record.block);
    memcpy(record.cluster, s->cluster, sizeof record.cluster);
    if (r->report->progress)
        progress_launch(r->report->progress, run.warp_instructions, run.seconds);
    report_launch(r->report, &record);
    if (run.fault) say_where(r, s);
    return !run.fault;
}

static bool copy(struct runner *r, const struct job_step *s)
{
    uint64_t size = s->from->count * s->from->type->bytes, piece = (uint64_t)CHUNK * 8;
    if (size != s->buffer->count * s->buffer->type->bytes) {
        diag_error(r->job->diags, s->where.at, s->where.length,
                   "'%s' has %" PRIu64 " bytes, '%s' has %" PRIu64 ": a copy wants the same",
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
        if (fill(r, s->buffer, &s->fill, s->first, n)) return true;
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
    wrong(r, EXIT_LIMIT);
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
               "'%s' did not become what ends this loop in %" PRIu64 " rounds", s->until->name,
               s->repeat);
    wrong(r, EXIT_LIMIT);
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

/* ---- results ------------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits, over the bytes as they lie in memory */
static uint64_t digest(struct runner *r, const struct job_buffer *b)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325), size = b->count * b->type->bytes;
    for (uint64_t i = 0, n; i < size; i += n) {
        n = size - i < (uint64_t)CHUNK * 8 ? size - i : (uint64_t)CHUNK * 8;
        if (!heddle_device_read(r->device, r->got, b->address + i, n)) return 0;
        for (uint64_t k = 0; k < n; k++) h = (h ^ r->got[k]) * UINT64_C(0x100000001b3);
    }
    return h;
}

static bool compare_all(struct runner *r, const struct job_expectation *e, struct comparison *c)
{
    const struct job_buffer *b = e->buffer;
    struct filler f;
    struct buf why = {0};
    bool ok = filler_open(&f, &e->pattern, b->type, b->count, &why);
    for (uint64_t i = 0, n; ok && i < b->count; i += n) {
        n = b->count - i < CHUNK ? b->count - i : CHUNK;
        ok = filler_next(&f, r->want, n, &why) &&
             heddle_device_read(r->device, r->got, b->address + i * b->type->bytes,
                                n * b->type->bytes);
        if (ok) compare(c, r->got, r->want, n);
    }
    filler_close(&f);
    if (!ok) {
        diag_error(e->diags, e->pattern.where.at, e->pattern.where.length, "%s",
                   why.data ? why.data : "cannot be compared");
        bool input = e->diags == r->job->diags && r->job->from_file;
        wrong_in(r, e->diags, input && e->pattern.kind != PATTERN_FILE ? EXIT_INPUT : EXIT_USAGE);
    }
    buf_free(&why);
    return ok;
}

static bool check(struct runner *r, const struct job_expectation *e)
{
    struct shown_comparison *c = report_add_comparison(r->report);
    c->name = e->buffer->name;
    c->by_digest = e->by_digest;
    if (e->by_digest) {
        c->got = digest(r, e->buffer);
        c->want = e->digest;
        if (c->got != c->want)
            report_fail(r->report, EXIT_DIFFERS,
                        "%s: digest is 0x%016" PRIx64 ", expected 0x%016" PRIx64 "\n", c->name,
                        c->got, c->want);
        return true;
    }
    c->comparison = (struct comparison){.type = e->buffer->type, .tolerance = e->tolerance};
    if (!compare_all(r, e, &c->comparison)) return false;
    if (!c->comparison.mismatches) return true;
    struct buf text = {0};
    comparison_print(&c->comparison, c->name, &text);
    report_fail(r->report, EXIT_DIFFERS, "%s", text.data);
    buf_free(&text);
    return true;
}

static bool dump(struct runner *r, const struct job_dump *d)
{
    struct replacement file;
    uint64_t size = d->buffer->count * d->buffer->type->bytes, most = (uint64_t)CHUNK * 8;
    bool ok = replacement_open(&file, d->path);
    for (uint64_t i = 0, n; ok && i < size; i += n) {
        n = size - i < most ? size - i : most;
        ok = heddle_device_read(r->device, r->got, d->buffer->address + i, n) &&
             fwrite(r->got, 1, n, file.out) == n;
    }
    if (replacement_close(&file, ok)) return true;
    diag_error(d->diags, d->where.at, d->where.length, "cannot write '%s': %s", d->path,
               strerror(errno));
    wrong_in(r, d->diags, EXIT_USAGE);
    return false;
}

static void show(struct runner *r)
{
    for (size_t i = 0; i < r->job->buffer_count; i++) {
        const struct job_buffer *b = r->job->buffers[i];
        struct shown_buffer *s = report_add_buffer(r->report);
        s->name = b->name;
        s->label = b->label;
        s->type = b->type;
        s->count = b->count;
        if (r->report->json) s->digest = digest(r, b);
        for (uint64_t k = 0; k < b->count && k < sizeof s->first / sizeof *s->first; k++) {
            unsigned char bytes[8] = {0};
            (void)heddle_device_read(r->device, bytes, b->address + k * b->type->bytes,
                                     b->type->bytes);
            s->first[k] = value_load(b->type, bytes);
        }
    }
    r->report->digest = heddle_device_digest(r->device);
    r->report->has_digest = true;
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

static void run(struct runner *r)
{
    struct job *job = r->job;
    bool ok = true;
    if (!load(r)) return;
    for (size_t i = 0; ok && i < job->buffer_count; i++) ok = place(r, job->buffers[i]);
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
        if (b->variable || b->fill.kind != PATTERN_ZERO) ok = fill(r, b, &b->fill, 0, b->count);
    }
    if (!ok) {
        bad_input(r);
        return;
    }
    if (!steps(r, job->steps)) return;
    for (size_t i = 0; i < job->expectation_count; i++)
        if (!check(r, &job->expectations[i])) return;
    for (size_t i = 0; i < job->dump_count; i++)
        if (!dump(r, &job->dumps[i])) return;
    show(r);
    if (job->device.check_memory) tell_leaks(r);
}

int job_run(struct job *job, struct report *report)
{
    struct runner r = {.job = job, .report = report};
    r.got = arena_alloc(job->arena, (size_t)CHUNK * 8);
    r.want = arena_alloc(job->arena, (size_t)CHUNK * 8);
    run(&r);
    heddle_device_free(r.device);
    for (size_t i = 0; r.modules && i < job->module_count; i++) heddle_module_free(r.modules[i]);
    return report->status;
}
