/* Prints the document of `heddle check --format=json` (docs/check-json.md). */
#include "cli/check_difference.h"
#include "cli/fidelity.h"
#include "cli/json.h"
#include "cli/run.h"

#include "base/arena.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { VERSION = 7 };

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_text(text) : json_null();
}

static json_t *line_or_null(uint32_t line)
{
    return line ? json_integer(line) : json_null();
}

static json_t *seed_of(const struct check *c, const struct check_row *row, size_t run)
{
    return row->reference ? json_null() : json_count(check_seed(c, run));
}

static json_t *results(const struct check *c, const struct check_row *row)
{
    json_t *list = json_array();
    for (size_t k = 0; k < row->class_count; k++) {
        const struct check_class *x = &row->classes[k];
        const struct check_run *r = &row->runs[x->first];
        json_t *o = json_object(), *seeds = json_array();
        for (size_t i = 0; i < row->wanted && !row->reference; i++)
            if (row->runs[i].state == RUN_ENDED && !check_run_failed(&row->runs[i]) &&
                row->runs[i].id == r->id)
                json_array_append_new(seeds, seed_of(c, row, i));
        json_object_set_new(o, "runs", json_count(x->count));
        json_object_set_new(o, "seeds", seeds);
        json_object_set_new(o, "launches", json_count(r->launch_count));
        json_object_set_new(o, "digest", json_hex(r->id));
        json_object_set_new(o, "memory_digest", json_hex(r->memory));
        json_object_set_new(o, "read_back_digest",
                            c->request.options->kind == TARGET_SUITE ? json_hex(r->read_back)
                                                                     : json_null());
        json_object_set_new(o, "replay", json_text(check_command(c, row, x->first)));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *failures(const struct check *c, const struct check_row *row)
{
    json_t *list = json_array();
    for (size_t i = 0; i < row->wanted; i++) {
        const struct check_run *r = &row->runs[i];
        if (!check_run_failed(r)) continue;
        json_t *o = json_object();
        json_object_set_new(o, "seed", seed_of(c, row, i));
        json_object_set_new(o, "exit_status",
                            check_run_lost(r) ? json_null() : json_integer(r->status));
        json_object_set_new(o, "fault", text_or_null(r->fault.kind));
        json_object_set_new(o, "kernel", text_or_null(r->fault.kernel));
        json_object_set_new(o, "line", line_or_null(r->fault.line));
        json_object_set_new(o, "source_file", text_or_null(r->fault.source_file));
        json_object_set_new(o, "source_line", line_or_null(r->fault.source_line));
        json_object_set_new(o, "messages", json_text(r->messages));
        json_object_set_new(o, "replay", json_text(check_command(c, row, i)));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *dimensions(const uint32_t d[3])
{
    json_t *list = json_array();
    for (int i = 0; i < 3; i++) json_array_append_new(list, json_integer(d[i]));
    return list;
}

static json_t *writer(const struct check_difference *p, int i)
{
    const struct last_writer *w = &p->side[i].writer;
    if (!p->side[i].known || !w->launch) return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "launch", json_integer(w->launch));
    json_object_set_new(o, "cta", dimensions(w->cta));
    json_object_set_new(o, "thread", w->thread_known ? dimensions(w->thread) : json_null());
    json_object_set_new(o, "atomic", text_or_null(w->op));
    json_object_set_new(o, "type", text_or_null(w->type));
    json_object_set_new(o, "function", text_or_null(w->function));
    json_object_set_new(o, "line", line_or_null(w->line));
    json_object_set_new(o, "source_file", text_or_null(w->source_file));
    json_object_set_new(o, "source_line", line_or_null(w->source_line));
    return o;
}

static json_t *side(const struct check *c, const struct check_difference *p, int i)
{
    json_t *o = json_object();
    json_object_set_new(o, "order", json_text(p->side[i].row->order));
    json_object_set_new(o, "seed", seed_of(c, p->side[i].row, p->side[i].run));
    json_object_set_new(o, "value", text_or_null(p->side[i].value));
    json_object_set_new(o, "writer", writer(p, i));
    json_object_set_new(o, "writer_known", json_boolean(p->side[i].known));
    return o;
}

static json_t *floats(const struct check_difference *p)
{
    const struct float_difference *f = &p->floats;
    if (!p->has_floats) return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "elements", json_count(f->elements));
    json_object_set_new(o, "all", json_boolean(!p->more_words));
    json_object_set_new(o, "max_ulp", f->ulp == UINT64_MAX ? json_null() : json_count(f->ulp));
    json_object_set_new(o, "max_relative",
                        isfinite(f->relative) ? json_real(f->relative) : json_null());
    json_object_set_new(o, "order_of_additions", json_boolean(f->order_only));
    return o;
}

static json_t *difference(const struct check *c, const struct check_difference *p)
{
    static const char *const kinds[] = {
        [DIFFER_MEMORY] = "memory",    [DIFFER_ALLOCATIONS] = "allocations",
        [DIFFER_PRINTED] = "printed",  [DIFFER_LAUNCHES] = "launches",
        [DIFFER_BACK] = "copied back", [DIFFER_UNKNOWN] = "unknown",
        [DIFFER_FILES] = "files",
    };
    if (!p) return json_null();
    json_t *o = json_object(), *sides = json_array();
    const bool memory = p->kind == DIFFER_MEMORY;
    json_object_set_new(o, "kind", json_string(kinds[p->kind]));
    json_object_set_new(o, "launch", *p->kernel ? json_count(p->launch + 1) : json_null());
    json_object_set_new(o, "kernel", text_or_null(p->kernel));
    json_object_set_new(o, "address", memory ? json_hex(p->address) : json_null());
    json_object_set_new(o, "allocation", memory ? json_text(p->allocation) : json_null());
    json_object_set_new(o, "offset", memory ? json_count(p->offset) : json_null());
    json_object_set_new(o, "type", p->type ? json_string(p->type->name) : json_null());
    json_object_set_new(o, "index", p->type ? json_count(p->offset / p->type->bytes) : json_null());
    json_object_set_new(o, "bytes", memory ? json_count(p->differing) : json_null());
    json_object_set_new(o, "floats", floats(p));
    for (int i = 0; i < 2; i++) json_array_append_new(sides, side(c, p, i));
    json_object_set_new(o, "runs", sides);
    const struct check_cause *cause = check_cause(c, p);
    json_object_set_new(o, "cause", cause ? json_string(cause->name) : json_null());
    return o;
}

static json_t *order(const struct check *c, const struct check_row *row)
{
    static const char *const promises[] = {
        [ORDER_NO_PROMISE] = "none", [ORDER_WEAK] = "weak", [ORDER_STRONG] = "strong"};
    json_t *o = json_object();
    const bool one = row->class_count == 1 && !row->failed && !row->reference;
    json_object_set_new(o, "order", json_text(row->order));
    json_object_set_new(o, "reference", json_boolean(row->reference));
    json_object_set_new(o, "guarantee", json_string(promises[row->promise]));
    json_object_set_new(o, "runs", json_count(row->ended));
    json_object_set_new(o, "stopped", text_or_null(row->stopped));
    json_object_set_new(o, "distinct", json_count(row->class_count));
    json_object_set_new(o, "distinct_at_the_end", json_count(row->last_count));
    json_object_set_new(
        o, "unseen_probability",
        one ? json_real(verdict_unseen(check_row_evidence(row), c->request.confidence))
            : json_null());
    json_object_set_new(o, "executions",
                        row->executions ? json_count(row->executions) : json_null());
    json_object_set_new(o, "conflict_free", json_boolean(row->conflict_free));
    json_object_set_new(o, "results", results(c, row));
    json_object_set_new(o, "failed", failures(c, row));
    json_object_set_new(o, "suppressed", json_count(row->suppressed));
    json_object_set_new(o, "first_difference", difference(c, row->difference));
    return o;
}

static const char *kind_name(enum emu_fault_kind kind)
{
    switch (kind) {
    case EMU_RACE: return "race";
    case EMU_MIXED: return "mixed";
    case EMU_UNINITIALISED: return "uninitialised";
    default: return "synchronisation";
    }
}

static json_t *findings(const struct check *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->races.finding_count; i++) {
        const struct check_finding *f = &c->races.findings[i];
        json_t *o = json_object(), *places = json_array();
        for (int k = 0; k < 2; k++) {
            json_t *place = json_object();
            json_object_set_new(place, "line", line_or_null(k ? f->line2 : f->line));
            json_object_set_new(place, "source_file",
                                text_or_null(k ? f->source_file2 : f->source_file));
            json_object_set_new(place, "source_line",
                                line_or_null(k ? f->source_line2 : f->source_line));
            json_array_append_new(places, place);
        }
        json_object_set_new(o, "kind", json_string(kind_name(f->kind)));
        json_object_set_new(o, "count", json_count(f->count));
        json_object_set_new(o, "places", places);
        json_object_set_new(o, "text", json_text(f->text));
        json_object_set_new(o, "replay", json_text(check_races_command(c, f->run)));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *output(const struct check *c)
{
    static const char *const kinds[] = {[OUTPUT_NOT_COMPARED] = "not compared",
                                        [OUTPUT_SAME] = "same",
                                        [OUTPUT_VARIES] = "varies by itself",
                                        [OUTPUT_DIFFERS] = "differs"};
    return json_string(kinds[c->output.kind]);
}

void check_print_json(const struct check *c)
{
    json_t *o = json_object(), *target = json_object(), *orders = json_array();
    const struct check_run *lost = check_races_lost(c);
    json_object_set_new(target, "kind", json_string(run_target_name(c->request.options->kind)));
    json_object_set_new(target, "name", json_text(c->request.name));
    for (size_t i = 0; i < c->row_count; i++) json_array_append_new(orders, order(c, &c->rows[i]));
    json_object_set_new(o, "version", json_integer(VERSION));
    json_object_set_new(o, "target", target);
    json_object_set_new(o, "verdict", json_string(verdict_name(c->verdict)));
    json_object_set_new(o, "exit_status", json_integer(c->status));
    json_object_set_new(o, "confidence", json_real(c->request.confidence));
    json_object_set_new(o, "interrupted", json_boolean(c->interrupted));
    json_object_set_new(o, "orders", orders);
    json_object_set_new(o, "races_looked_for", json_boolean(c->races.examined > 0));
    json_object_set_new(o, "race_runs", json_count(c->races.examined));
    json_object_set_new(o, "search_failed", lost ? json_text(lost->messages) : json_null());
    json_object_set_new(o, "races", json_count(c->facts.races));
    json_object_set_new(o, "mixed", json_count(c->facts.mixed));
    json_object_set_new(o, "init_sync_looked_for", json_boolean(c->races.init_examined));
    json_object_set_new(o, "uninitialised", json_count(c->races.uninitialised));
    json_object_set_new(o, "misused_synchronisation", json_count(c->races.misused));
    json_object_set_new(o, "findings", findings(c));
    json_object_set_new(o, "suppressed",
                        json_count(c->races.suppressed + c->races.init_suppressed));
    json_object_set_new(o, "output", output(c));
    if (c->rows[0].runs[0].fidelity)
        json_object_set_new(o, "fidelity", fidelity_json(c->rows[0].runs[0].fidelity));
    json_object_set_new(o, "exhaustive", json_null());
    json_dumpf(o, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(o);
}
