#include "cli/watches.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/job.h"
#include "cli/json.h"
#include "cli/report.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_EVENTS = 1 << 20 }; /* of one document */

static bool is(struct piece p, const char *word)
{
    return word && strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

static bool is_address(struct piece p)
{
    return p.length > 2 && memcmp(p.text, "0x", 2) == 0;
}

/* ---- reading -------------------------------------------------------------------------------------------- */

static struct piece cut(struct piece p, uint32_t from, uint32_t to)
{
    return (struct piece){p.text + from, to - from, p.at + from};
}

static bool read_index(struct watches *w, struct watch *x, struct piece p)
{
    uint32_t dots = 0;
    while (dots + 2 <= p.length && memcmp(p.text + dots, "..", 2) != 0) dots++;
    const bool range = dots + 2 <= p.length;
    x->indexed = true;
    if (!number_read(w->diags, "--watch", cut(p, 0, range ? dots : p.length), UINT64_MAX / 64,
                     &x->first))
        return false;
    x->last = x->first;
    if (!range) return true;
    const struct piece last = cut(p, dots + 2, p.length);
    if (!number_read(w->diags, "--watch", last, UINT64_MAX / 64, &x->last)) return false;
    if (x->last >= x->first) return true;
    diag_error(w->diags, p.at, p.length, "a range is FIRST..LAST, both included");
    return false;
}

static bool read_watch(struct watches *w, struct piece p)
{
    w->list = arena_grow(w->arena, w->list, w->count, &w->cap, w->count + 1, sizeof *w->list);
    struct watch *x = &w->list[w->count++];
    *x = (struct watch){.where = p};
    uint32_t end = p.length;
    for (uint32_t i = end; i-- > 0 && p.text[i] != ']';)
        if (p.text[i] == ':') {
            x->type = value_type_find(p.text + i + 1, end - i - 1);
            if (!x->type) {
                diag_error(w->diags, p.at + i + 1, end - i - 1, "'%.*s' is no type: %s",
                           (int)(end - i - 1), p.text + i + 1, value_type_names());
                return false;
            }
            end = i;
            break;
        }
    if (end && p.text[end - 1] == ']') {
        uint32_t open = end - 1;
        while (open && p.text[open] != '[') open--;
        if (p.text[open] == '[') {
            if (!read_index(w, x, cut(p, open + 1, end - 1))) return false;
            end = open;
        }
    }
    x->name = cut(p, 0, end);
    if (!end) diag_error(w->diags, p.at, p.length, "--watch wants ADDRESS or NAME, [INDEX], :TYPE");
    if (!end) return false;
    return !is_address(x->name) ||
           number_read(w->diags, "--watch", x->name, UINT64_MAX / 2, &x->address);
}

static void tell(void *self, const struct write *e);

bool watches_read(struct watches *w, struct run_options *o, struct report *r)
{
    *w = (struct watches){.arena = o->arena, .diags = &o->diags, .report = r};
    bool ok = true;
    for (size_t i = 0; i < o->count; i++)
        if (o->list[i].id == OPTION_WATCH) ok &= read_watch(w, o->list[i].value);
    if (!w->count) return ok;
    w->writes = writes_new(tell, w);
    w->place_of = arena_array(o->arena, size_t, w->count);
    if (r->json) w->events = json_array();
    return ok;
}

void watches_free(struct watches *w)
{
    writes_free(w->writes);
    json_decref(w->events);
}

const struct emu_observer *watches_observer(const struct watches *w)
{
    return w && w->writes ? writes_observer(w->writes) : NULL;
}

/* ---- finding ---------------------------------------------------------------------------------------------- */

struct target {
    uint64_t address, size;
    const struct value_type *type;
};

static bool find(const struct watch *x, struct emu *e, const struct job *job, struct target *t)
{
    for (size_t i = 0; job && i < job->buffer_count; i++) {
        const struct job_buffer *b = job->buffers[i];
        if (!is(x->name, b->name) && !is(x->name, b->number)) continue;
        *t = (struct target){b->address, b->count * b->type->bytes, b->type};
        return true;
    }
    struct emu_allocation a;
    if (is_address(x->name)) {
        if (!emu_allocation_near(e, x->address, &a) || !a.live || x->address < a.address ||
            x->address - a.address >= a.size)
            return false;
        *t = (struct target){x->address, a.size - (x->address - a.address), NULL};
        return true;
    }
    for (size_t i = 0; i < emu_allocation_count(e); i++) {
        a = emu_allocation_at(e, i);
        if (!is(x->name, a.name)) continue;
        *t = (struct target){a.address, a.size, NULL};
        return true;
    }
    return false;
}

static bool begin(struct watches *w, struct watch *x, const struct target *t)
{
    const struct piece p = x->where;
    if (!x->type) x->type = t->type ? t->type : value_type_find("u32", 3);
    const uint64_t count = t->size / x->type->bytes;
    x->found = true;
    x->address = t->address;
    if (!x->indexed && !is_address(x->name)) x->last = count ? count - 1 : 0;
    if (x->last >= count) {
        diag_error(w->diags, p.at, p.length,
                   "element %" PRIu64 " is not in '%.*s', which has %" PRIu64 " of type %s",
                   x->last, (int)x->name.length, x->name.text, count, x->type->name);
        return false;
    }
    w->place_of[w->places++] = (size_t)(x - w->list);
    if (writes_add(w->writes, t->address + x->first * x->type->bytes, x->type->bytes,
                   x->last - x->first + 1))
        return true;
    diag_error(w->diags, p.at, p.length, "all that is watched has at most %d MiB",
               WRITES_MOST_BYTES >> 20);
    return false;
}

bool watches_find(struct watches *w, struct emu *e, const struct job *job)
{
    bool ok = true;
    struct target t;
    for (size_t i = 0; i < w->count; i++)
        if (!w->list[i].found && find(&w->list[i], e, job, &t)) ok &= begin(w, &w->list[i], &t);
    return ok;
}

void watches_missing(struct watches *w, struct emu *e)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct watch *x = &w->list[i];
        if (x->found) continue;
        struct text_nearest near = {.text = x->name.text, .length = x->name.length};
        for (size_t k = 0; e && k < emu_allocation_count(e); k++)
            text_nearest_try(&near, emu_allocation_at(e, k).name);
        if (is_address(x->name))
            diag_error(w->diags, x->where.at, x->where.length,
                       "nothing was allocated at %.*s when a kernel ran", (int)x->name.length,
                       x->name.text);
        else
            diag_error(w->diags, x->where.at, x->where.length,
                       "nothing to watch is called '%.*s': a buffer, a module variable or an "
                       "allocation as reports name it",
                       (int)x->name.length, x->name.text);
        if (near.best && !is_address(x->name))
            diag_note(w->diags, x->where.at, x->where.length, "did you mean '%s'?", near.best);
    }
}

/* ---- telling ---------------------------------------------------------------------------------------------- */

/* "cost[17]": as it was given, with the element's own index. */
static void print_label(const struct watch *x, uint64_t element, struct buf *b)
{
    buf_add(b, x->name.text, x->name.length);
    if (x->last || x->indexed) buf_printf(b, "[%" PRIu64 "]", x->first + element);
}

static void print(struct watches *w, const struct watch *x, const struct write *e)
{
    struct buf b = {0};
    print_label(x, e->element, &b);
    buf_puts(&b, ": ");
    value_print(x->type, value_load(x->type, e->before), &b);
    buf_puts(&b, " -> ");
    value_print(x->type, value_load(x->type, e->after), &b);
    if (e->kind == WRITE_BETWEEN)
        buf_printf(&b, ", by the host before launch %" PRIu64 " of kernel '%s'\n", e->launch,
                   e->kernel);
    else {
        buf_printf(&b, ", %s%s%s by ", write_kind_names[e->kind], e->op ? " " : "",
                   e->op ? e->op : "");
        if (e->known) buf_printf(&b, "thread (%u,%u,%u)", e->thread[0], e->thread[1], e->thread[2]);
        else buf_printf(&b, "warp %u", e->warp);
        buf_printf(&b, " of CTA (%u,%u,%u), launch %" PRIu64 " of kernel '%s', ", e->cta[0],
                   e->cta[1], e->cta[2], e->launch, e->kernel);
        if (strcmp(e->where.function, e->kernel) != 0)
            buf_printf(&b, "function '%s', ", e->where.function);
        buf_printf(&b, "PTX line %u", e->where.line);
        if (e->where.source_file)
            buf_printf(&b, " (%s:%u)", e->where.source_file, e->where.source_line);
        buf_putc(&b, '\n');
    }
    report_printed(w->report, b.data, b.size);
    buf_free(&b);
}

static json_t *three(const uint32_t d[3])
{
    return json_pack("[iii]", (int)d[0], (int)d[1], (int)d[2]);
}

static json_t *event(const struct watch *x, const struct write *e)
{
    const bool inside = e->kind != WRITE_BETWEEN;
    struct buf label = {0};
    print_label(x, e->element, &label);
    char address[32];
    snprintf(address, sizeof address, "0x%" PRIx64, e->address);
    json_t *o = json_object();
    json_object_set_new(o, "where", json_text(label.data));
    json_object_set_new(o, "address", json_string(address));
    json_object_set_new(o, "type", json_string(x->type->name));
    json_object_set_new(o, "before", json_value(x->type, value_load(x->type, e->before)));
    json_object_set_new(o, "after", json_value(x->type, value_load(x->type, e->after)));
    json_object_set_new(o, "kind", json_string(write_kind_names[e->kind]));
    json_object_set_new(o, "op", e->op ? json_string(e->op) : json_null());
    json_object_set_new(o, "kernel", json_text(e->kernel));
    json_object_set_new(o, "launch", json_integer((json_int_t)e->launch));
    json_object_set_new(o, "cta", inside ? three(e->cta) : json_null());
    json_object_set_new(o, "thread", inside && e->known ? three(e->thread) : json_null());
    json_object_set_new(o, "function", inside ? json_text(e->where.function) : json_null());
    json_object_set_new(o, "line", inside ? json_integer(e->where.line) : json_null());
    const bool source = inside && e->where.source_file;
    json_object_set_new(o, "source_file", source ? json_text(e->where.source_file) : json_null());
    json_object_set_new(o, "source_line",
                        source ? json_integer(e->where.source_line) : json_null());
    buf_free(&label);
    return o;
}

static void tell(void *self, const struct write *e)
{
    struct watches *w = self;
    struct watch *x = &w->list[w->place_of[e->place]];
    x->seen++;
    if (!w->events) print(w, x, e);
    else if (json_array_size(w->events) < MOST_EVENTS)
        json_array_append_new(w->events, event(x, e));
    else w->left_out++;
}

void watches_print(const struct watches *w)
{
    for (size_t i = 0; w && i < w->count; i++)
        if (!w->list[i].seen)
            printf("%.*s: no write\n", (int)w->list[i].where.length, w->list[i].where.text);
}

json_t *watches_json(const struct watches *w)
{
    return w && w->events ? json_incref(w->events) : NULL;
}
