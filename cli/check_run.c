/* Reads the result of a run from the events of its process. */
#include "cli/check.h"

#include "base/arena.h"
#include "base/buf.h"
#include "cli/cli.h"

#include <string.h>

enum { MOST_MESSAGES = 1 << 16 };

bool check_run_failed(const struct check_run *r)
{
    return check_run_lost(r) || (r->state == RUN_ENDED && r->status != EXIT_FINE);
}

static const char *text_or_none(const char *text)
{
    return text ? text : "";
}

static void add_finding(struct arena *a, struct check_run *r, size_t *cap,
                        const struct event_finding *e)
{
    const struct emu_finding *f = &e->found;
    const bool kept = f->kind == EMU_RACE || f->kind == EMU_MIXED || f->kind == EMU_UNINITIALISED ||
                      f->kind == EMU_BAD_LANES || f->kind == EMU_BARRIER;
    if (!kept) return;
    r->findings = arena_grow(a, r->findings, r->finding_count, cap, r->finding_count + 1,
                             sizeof *r->findings);
    r->findings[r->finding_count++] = (struct check_finding){
        .kind = f->kind,
        .count = f->count,
        .line = f->line,
        .line2 = f->line2,
        .source_line = f->source_line,
        .source_line2 = f->source_line2,
        .source_file = text_or_none(f->source_file),
        .source_file2 = text_or_none(f->source_file2),
        .kernel = text_or_none(e->kernel),
        .text = text_or_none(f->text)};
}

static void add_digest(struct arena *a, struct check_run *r, size_t *cap,
                       const struct event_digest *e)
{
    r->launches = arena_grow(a, r->launches, r->launch_count, cap, r->launch_count + 1,
                             sizeof *r->launches);
    r->launches[r->launch_count++] = (struct check_launch){e->memory, text_or_none(e->kernel)};
}

static void end_launch(struct check_run *r, const struct launch_record *l)
{
    r->gone = r->going;
    r->going = NULL;
    r->over++;
    if (!l->fault || *r->fault.kind) return; /* the first fault is reported */
    r->fault = (struct check_fault){.kind = emu_fault_name(l->fault),
                                    .kernel = text_or_none(l->kernel),
                                    .source_file = text_or_none(l->source_file),
                                    .line = l->fault_line,
                                    .source_line = l->source_line,
                                    .limit = launch_record_endless(l)};
}

/* Of several processes of a run; the sequence of their ends makes no difference. */
static uint64_t mix_execution(uint64_t one, uint64_t other)
{
    if (one <= ORDER_CONFLICT_FREE) return other;
    return other == ORDER_CONFLICT_FREE ? one : (one + other) | 2;
}

/* Digests of one of the run's processes. */
static void add_end(struct check_run *r, const struct event_end_digests *e, uint64_t *printed)
{
    if (e->other_launches && r->launch_count) /* as if they were one with the last */
        r->launches[r->launch_count - 1].digest = e->other_launches;
    if (e->execution) r->execution = mix_execution(r->execution, e->execution);
    r->memory += e->memory;
    r->read_back += e->copied;
    *printed += e->printed;
}

/* The bytes of the stream, which are the arena's. */
static struct event_reader open_reader(struct arena *a, const struct event_stream *events)
{
    struct buf bytes = {0};
    struct event_reader r = event_reader_open(events, &bytes);
    if (r.left) r.at = arena_copy(a, r.at, r.left);
    buf_free(&bytes);
    return r;
}

bool check_run_read(struct arena *a, const struct event_stream *events, struct check_run *out)
{
    size_t launch_cap = 0, finding_cap = 0;
    struct event_reader reader = open_reader(a, events);
    const struct event_totals *totals = event_stream_totals(events);
    uint64_t printed = 0;
    bool ended = false;
    struct buf said = {0};
    *out = (struct check_run){.fault = {"", "", "", 0, 0, false},
                              .found = totals->findings,
                              .suppressed = totals->suppressed,
                              .absent = totals->absent,
                              .status = totals->no_device  ? EXIT_USAGE
                                        : totals->rejected ? EXIT_INPUT
                                                           : EXIT_FINE};
    for (struct event e; event_next(&reader, &e);) switch (e.kind) {
        case EVENT_LAUNCH_BEGIN: out->going = e.text; break;
        case EVENT_LAUNCH: end_launch(out, &e.launch); break;
        case EVENT_DIGEST: add_digest(a, out, &launch_cap, &e.digest); break;
        case EVENT_FINDING: add_finding(a, out, &finding_cap, &e.finding); break;
        case EVENT_MESSAGE:
            if (said.size < MOST_MESSAGES) buf_puts(&said, e.text);
            break;
        case EVENT_END_DIGESTS: add_end(out, &e.end, &printed); break;
        case EVENT_FIDELITY:
            if (!out->fidelity) out->fidelity = emu_fidelity_new();
            emu_fidelity_add_line(out->fidelity, &e.fidelity);
            break;
        case EVENT_STATUS:
            out->status = (int)e.count;
            ended = true;
            break;
        default: break;
        }
    out->messages = arena_copy(a, said.data ? said.data : "", said.size);
    buf_free(&said);
    out->last = run_log_mix_digest(run_log_mix_digest(out->memory, printed), out->read_back);
    out->id = out->last;
    for (size_t i = 0; i < out->launch_count; i++)
        out->id = run_log_mix_digest(out->id, out->launches[i].digest);
    return ended;
}

size_t check_runs_differ_at(const struct check_run *a, const struct check_run *b)
{
    for (size_t i = 0; i < a->launch_count && i < b->launch_count; i++)
        if (a->launches[i].digest != b->launches[i].digest) return i;
    if (a->launch_count != b->launch_count)
        return a->launch_count < b->launch_count ? a->launch_count : b->launch_count;
    return a->last == b->last ? SIZE_MAX : a->launch_count;
}
