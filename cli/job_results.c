/* The results of a job: compares them, writes them to files, prints them. */
#include "cli/job_run.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/replace.h"
#include "cli/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

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
        runner_wrong_in(r, e->diags,
                        input && e->pattern.kind != PATTERN_FILE ? EXIT_INPUT : EXIT_USAGE);
    }
    buf_free(&why);
    return ok;
}

bool runner_check(struct runner *r, const struct job_expectation *e)
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
    if (!compare_all(r, e, &c->comparison)) {
        r->report->comparison_count--; /* nothing was compared */
        return false;
    }
    if (!c->comparison.mismatches) return true;
    struct buf text = {0};
    comparison_print(&c->comparison, c->name, &text);
    report_fail(r->report, EXIT_DIFFERS, "%s", text.data);
    buf_free(&text);
    return true;
}

bool runner_dump(struct runner *r, const struct job_dump *d)
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
    runner_wrong_in(r, d->diags, EXIT_USAGE);
    return false;
}

void runner_show(struct runner *r)
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
