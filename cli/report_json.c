/* Prints the document of `heddle run --format=json` (docs/run-json.md). Only its member `time` differs between two equal
 * runs. */
#include "cli/counts.h"
#include "cli/fidelity.h"
#include "cli/json.h"
#include "cli/locks_report.h"
#include "cli/placement_report.h"
#include "cli/report.h"
#include "cli/watch_report.h"

#include <stdlib.h>

enum { VERSION = 1 };

static json_t *dimensions(const uint32_t d[3])
{
    json_t *list = json_array();
    for (int i = 0; i < 3; i++) json_array_append_new(list, json_integer(d[i]));
    return list;
}

static json_t *executions(const struct launch_row *r)
{
    json_t *o = json_object();
    for (int i = 0; i < EMU_EXECUTION_COUNT; i++)
        if (r->executions[i])
            json_object_set_new(o, emu_execution_name((enum emu_execution)i),
                                json_count(r->executions[i]));
    return o;
}

static json_t *row(const struct launch_row *r)
{
    json_t *o = json_object();
    json_object_set_new(o, "kernel", json_text(r->first.kernel));
    json_object_set_new(o, "grid", dimensions(r->first.grid));
    json_object_set_new(o, "block", dimensions(r->first.block));
    json_object_set_new(o, "cluster",
                        r->first.cluster[0] ? dimensions(r->first.cluster) : json_null());
    json_object_set_new(o, "shared", json_integer(r->first.shared));
    json_object_set_new(o, "launches", json_count(r->launches));
    json_object_set_new(o, "warp_instructions", json_count(r->warp_instructions));
    json_object_set_new(o, "thread_instructions", json_count(r->thread_instructions));
    json_object_set_new(o, "execution", executions(r));
    json_object_set_new(o, "findings", json_count(r->findings));
    json_object_set_new(o, "suppressed", json_count(r->suppressed));
    return o;
}

static json_t *fault(const struct launch_record *f)
{
    if (!f->kernel) return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "kind", json_text(emu_fault_name(f->fault)));
    json_object_set_new(o, "kernel", json_text(f->kernel));
    json_object_set_new(o, "line", f->fault_line ? json_integer(f->fault_line) : json_null());
    json_object_set_new(o, "text", json_text(f->fault_text));
    return o;
}

static json_t *buffer(const struct shown_buffer *b)
{
    json_t *o = json_object(), *first = json_array();
    for (uint64_t i = 0; i < b->count && i < sizeof b->first / sizeof *b->first; i++)
        json_array_append_new(first, json_value(b->type, b->first[i]));
    json_object_set_new(o, "name", json_text(b->name));
    json_object_set_new(o, "type", json_string(b->type->name));
    json_object_set_new(o, "count", json_count(b->count));
    json_object_set_new(o, "first", first);
    json_object_set_new(o, "digest", json_hex(b->digest));
    return o;
}

static json_t *expectation(const struct shown_comparison *s)
{
    json_t *o = json_object();
    const struct comparison *c = &s->comparison;
    bool met = s->by_digest ? s->got == s->want : !c->mismatches;
    json_object_set_new(o, "buffer", json_text(s->name));
    json_object_set_new(o, "met", json_boolean(met));
    if (s->by_digest) {
        json_object_set_new(o, "digest", json_hex(s->got));
        json_object_set_new(o, "expected_digest", json_hex(s->want));
        return o;
    }
    json_t *first = json_array();
    for (uint64_t i = 0; i < c->mismatches && i < MISMATCHES_SHOWN; i++) {
        json_t *m = json_object();
        struct buf difference = {0};
        mismatch_difference(c->type, &c->first[i], &difference);
        json_object_set_new(m, "index", json_count(c->first[i].index));
        json_object_set_new(m, "got", json_value(c->type, c->first[i].got));
        json_object_set_new(m, "expected", json_value(c->type, c->first[i].want));
        json_object_set_new(m, "difference", json_string(difference.data));
        json_array_append_new(first, m);
        buf_free(&difference);
    }
    json_object_set_new(o, "compared", json_count(c->count));
    json_object_set_new(o, "mismatches", json_count(c->mismatches));
    json_object_set_new(o, "first", first);
    return o;
}

static json_t *times(const struct report *r, double seconds)
{
    json_t *o = json_object(), *list = json_array();
    double kernels = 0;
    for (size_t i = 0; i < r->row_count; i++) {
        json_array_append_new(list, json_real(r->rows[i].seconds));
        kernels += r->rows[i].seconds;
    }
    json_object_set_new(o, "seconds", json_real(seconds));
    json_object_set_new(o, "kernel_seconds", json_real(kernels));
    json_object_set_new(o, "launch_seconds", list); /* one for each of `launches` */
    return o;
}

void report_print_json(const struct report *r, double seconds)
{
    json_t *o = json_object(), *target = json_object(), *launches = json_array();
    json_t *buffers = json_array(), *expectations = json_array();
    json_object_set_new(target, "kind", json_string(r->kind));
    json_object_set_new(target, "name", json_text(r->name));
    for (size_t i = 0; i < r->row_count; i++) json_array_append_new(launches, row(&r->rows[i]));
    for (size_t i = 0; i < r->buffer_count; i++)
        json_array_append_new(buffers, buffer(&r->buffers[i]));
    for (size_t i = 0; i < r->comparison_count; i++)
        json_array_append_new(expectations, expectation(&r->comparisons[i]));
    json_object_set_new(o, "version", json_integer(VERSION));
    json_object_set_new(o, "target", target);
    const bool failed = !r->status && r->program_status;
    json_object_set_new(o, "status",
                        json_string(failed ? "program failed" : report_status_name(r->status)));
    json_object_set_new(o, "exit_status", json_integer(failed ? r->program_status : r->status));
    json_object_set_new(o, "launches", launches);
    json_object_set_new(o, "fault", fault(&r->fault));
    json_object_set_new(o, "buffers", buffers);
    json_object_set_new(o, "expectations", expectations);
    json_object_set_new(o, "memory_digest", r->has_digest ? json_hex(r->digest) : json_null());
    json_object_set_new(o, "read_back_digest", r->note ? json_hex(r->read_back) : json_null());
    if (counts_profiling(r->counts))
        json_object_set_new(o, "profile", counts_profile_json(r->counts));
    if (r->counts && r->counts->fidelity)
        json_object_set_new(o, "fidelity", fidelity_json(r->counts->fidelity));
    json_t *writes = watch_report_json(r->watches);
    if (writes) {
        json_object_set_new(o, "writes", writes);
        json_object_set_new(o, "writes_left_out", json_count(r->watches->left_out));
    }
    json_t *placement = placement_report_json(r->placement);
    if (placement) json_object_set_new(o, "placement", placement);
    if (r->locks) json_object_set_new(o, "locks", locks_report_json(r->locks));
    json_object_set_new(o, "note", r->note ? json_text(r->note) : json_null());
    json_object_set_new(o, "printed",
                        json_bytes(r->printed.data ? r->printed.data : "", r->printed.size));
    json_object_set_new(o, "messages", json_text(r->messages.data ? r->messages.data : ""));
    json_object_set_new(o, "time", times(r, seconds));
    json_dumpf(o, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(o);
}
