#include "cli/watch_report.h"

#include "base/arena.h"
#include "base/buf.h"
#include "cli/job.h"
#include "cli/json.h"
#include "cli/report.h"
#include "session/event_stream.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_EVENTS = 1 << 20 }; /* of one document */

static void report_write(void *self, const struct write *e);

bool watch_report_read(struct watch_report *w, struct run_options *o, struct report *r)
{
    *w = (struct watch_report){.arena = o->arena, .diags = &o->diags, .report = r};
    bool ok = true;
    for (size_t i = 0; i < o->count; i++)
        if (o->list[i].id == OPTION_WATCH) {
            w->list = arena_grow(w->arena, w->list, w->count, &w->cap, w->count + 1,
                                 sizeof *w->list);
            ok &= watch_place_read(&w->list[w->count++], o->list[i].value, w->diags);
        }
    if (!w->count) return ok;
    w->writes = writes_new(report_write, w);
    w->place_of = arena_array(o->arena, size_t, w->count);
    if (r->json) w->events = json_array();
    return ok;
}

void watch_report_free(struct watch_report *w)
{
    writes_free(w->writes);
    json_decref(w->events);
}

const struct emu_observer *watch_report_observer(const struct watch_report *w)
{
    return w && w->writes ? writes_observer(w->writes) : NULL;
}

/* ---- finding ---------------------------------------------------------------------------------------------- */

static bool find(const struct watch_place *x, struct emu *e, const struct job *job,
                 struct watch_range *t)
{
    size_t from = 0;
    for (size_t i = 0; job && i < job->buffer_count; i++) {
        const struct job_buffer *b = job->buffers[i];
        if (!watch_place_has_name(x, b->name) && !watch_place_has_name(x, b->number)) continue;
        *t = (struct watch_range){b->address, b->count * b->type->bytes, b->type};
        return true;
    }
    return watch_place_find(x, e, &from, t);
}

bool watch_report_find(struct watch_report *w, struct emu *e, const struct job *job)
{
    bool ok = true;
    struct watch_range t;
    for (size_t i = 0; i < w->count; i++) {
        if (w->list[i].found || !find(&w->list[i], e, job, &t)) continue;
        w->place_of[writes_places(w->writes)] = i;
        ok &= watch_place_begin(&w->list[i], &t, w->writes, w->diags);
    }
    return ok;
}

void watch_report_check_found(struct watch_report *w, struct emu *e)
{
    for (size_t i = 0; i < w->count; i++)
        if (!w->list[i].found) watch_place_report_missing(&w->list[i], e, w->diags);
}

/* ---- reporting ---------------------------------------------------------------------------------------------- */

static void print(struct watch_report *w, const struct watch_place *x, const struct write *e)
{
    struct buf b = {0};
    watch_place_print(x, e, &b);
    report_printed(w->report, b.data, b.size);
    buf_free(&b);
}

static json_t *three(const uint32_t d[3])
{
    return json_pack("[iii]", (int)d[0], (int)d[1], (int)d[2]);
}

static json_t *event(const char *label, const struct value_type *type, const struct write *e)
{
    const bool inside = e->kind != WRITE_BY_HOST;
    char address[32];
    snprintf(address, sizeof address, "0x%" PRIx64, e->address);
    json_t *o = json_object();
    json_object_set_new(o, "where", json_text(label));
    json_object_set_new(o, "address", json_string(address));
    json_object_set_new(o, "type", json_string(type->name));
    json_object_set_new(o, "before", json_value(type, value_load(type, e->before)));
    json_object_set_new(o, "after", json_value(type, value_load(type, e->after)));
    json_object_set_new(o, "kind", json_string(write_kind_names[e->kind]));
    json_object_set_new(o, "op", e->op ? json_string(e->op) : json_null());
    json_object_set_new(o, "kernel", json_text(e->kernel));
    json_object_set_new(o, "launch", json_integer((json_int_t)e->launch));
    json_object_set_new(o, "cta", inside ? three(e->cta) : json_null());
    json_object_set_new(o, "thread", inside && e->thread_known ? three(e->thread) : json_null());
    json_object_set_new(o, "function", inside ? json_text(e->where.function) : json_null());
    json_object_set_new(o, "line", inside ? json_integer(e->where.line) : json_null());
    const bool source = inside && e->where.source_file;
    json_object_set_new(o, "source_file", source ? json_text(e->where.source_file) : json_null());
    json_object_set_new(o, "source_line",
                        source ? json_integer(e->where.source_line) : json_null());
    return o;
}

static void keep(struct watch_report *w, const char *label, const struct value_type *type,
                 const struct write *e)
{
    if (json_array_size(w->events) < MOST_EVENTS)
        json_array_append_new(w->events, event(label, type, e));
    else w->left_out++;
}

static void report_write(void *self, const struct write *e)
{
    struct watch_report *w = self;
    struct watch_place *x = &w->list[w->place_of[e->place]];
    struct buf label = {0};
    x->seen++;
    if (!w->events) {
        print(w, x, e);
        return;
    }
    watch_place_label(x, e->element, &label);
    keep(w, label.data, x->type, e);
    buf_free(&label);
}

void watch_report_add_event(struct watch_report *w, const struct event *e)
{
    const struct event_write *x = &e->write;
    if (e->kind == EVENT_WRITES_LEFT_OUT) w->left_out += e->count;
    if (e->kind != EVENT_WRITE || !w->events) return;
    const struct value_type *type = value_type_find(x->type, strlen(x->type));
    if (!type || x->kind > WRITE_BY_HOST) return;
    struct write one = {.address = x->address,
                        .before = (const uint8_t *)&x->before,
                        .after = (const uint8_t *)&x->after,
                        .kind = (enum write_kind)x->kind,
                        .op = x->op,
                        .kernel = x->kernel,
                        .launch = x->launch,
                        .thread_known = x->known,
                        .where = {.function = x->function ? x->function : "",
                                  .line = x->line,
                                  .source_line = x->source_line,
                                  .source_file = x->source_file}};
    memcpy(one.cta, x->cta, sizeof one.cta);
    memcpy(one.thread, x->thread, sizeof one.thread);
    keep(w, x->label, type, &one);
}

void watch_report_print(const struct watch_report *w)
{
    for (size_t i = 0; w && i < w->count; i++)
        if (w->list[i].found && !w->list[i].seen)
            printf("%.*s: no write\n", (int)w->list[i].where.length, w->list[i].where.text);
}

json_t *watch_report_json(const struct watch_report *w)
{
    return w && w->events ? json_incref(w->events) : NULL;
}
