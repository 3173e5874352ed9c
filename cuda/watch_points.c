#define _GNU_SOURCE
#include "cuda/watch_points.h"

#include "cuda/driver.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "determinism/record/watch_places.h"
#include "session/event_stream.h"

#include <stdlib.h>
#include <string.h>

struct observed { /* a place of `writes` */
    size_t watch;
    uint64_t address;
};

static struct {
    struct arena *arena; /* as long as the process */
    struct source source;
    struct diags diags;
    struct watch_place *list;
    size_t count, cap;
    struct observed *places;
    size_t place_count, place_cap;
    struct writes *writes; /* NULL: nothing is watched */
    const struct emu_observer **observers;
    uint64_t sent;
} state;

static void say_diags(void)
{
    struct buf b = {0};
    diags_render(&state.diags, &b);
    driver_say("heddle: %s", b.data ? b.data : "");
    buf_free(&b);
    state.diags.count = state.diags.errors = state.diags.warnings = 0;
}

static bool by_events(void)
{
    return event_stream_wants(driver.reports.events, EVENTS_LAUNCHES);
}

/* The bits of an element of at most 8 bytes. */
static uint64_t bits_of(const uint8_t *bytes, uint32_t width)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, width < sizeof bits ? width : sizeof bits);
    return bits;
}

static void send_event(const char *label, const char *type, const struct write *w)
{
    struct event e = {.kind = EVENT_WRITE,
                      .write = {.address = w->address,
                                .before = bits_of(w->before, w->width),
                                .after = bits_of(w->after, w->width),
                                .launch = w->launch,
                                .kind = w->kind,
                                .known = w->thread_known,
                                .line = w->where.line,
                                .source_line = w->where.source_line,
                                .label = label,
                                .type = type,
                                .op = w->op,
                                .kernel = w->kernel,
                                .function = w->where.function,
                                .source_file = w->where.source_file}};
    memcpy(e.write.cta, w->cta, sizeof w->cta);
    memcpy(e.write.thread, w->thread, sizeof w->thread);
    event_write(driver.reports.events, &e);
}

static void report_write(void *self, const struct write *e)
{
    struct watch_place *x = &state.list[state.places[e->place].watch];
    struct buf b = {0};
    (void)self;
    x->seen++;
    if (by_events()) {
        watch_place_label(x, e->element, &b);
        if (state.sent++ < EVENTS_MOST_WRITES) send_event(b.data, x->type->name, e);
    } else {
        watch_place_print(x, e, &b);
        driver_say("heddle: %s", b.data);
    }
    buf_free(&b);
}

bool watch_points_read(const char *list)
{
    struct arena *a = state.arena = arena_new();
    const size_t n = strlen(list);
    bool ok = true;
    state.source = (struct source){"HEDDLE_WATCH", arena_copy(a, list, n), (uint32_t)n};
    state.diags = (struct diags){.arena = a, .source = &state.source};
    for (size_t at = 0, length; at <= n; at += length + 1) {
        const char *text = state.source.text + at;
        length = strcspn(text, ",");
        state.list = arena_grow(a, state.list, state.count, &state.cap, state.count + 1,
                                sizeof *state.list);
        ok &= watch_place_read(&state.list[state.count++],
                               (struct piece){text, (uint32_t)length, (uint32_t)at}, &state.diags);
    }
    if (ok) state.writes = writes_new(report_write, NULL);
    else say_diags();
    return ok;
}

static bool is_observed(size_t watch, uint64_t address)
{
    for (size_t i = 0; i < state.place_count; i++)
        if (state.places[i].watch == watch && state.places[i].address == address) return true;
    return false;
}

/* What was freed may be another's by now. */
static void drop(void)
{
    for (size_t i = 0; i < state.place_count; i++) {
        struct observed *p = &state.places[i];
        const struct watch_place *x = &state.list[p->watch];
        struct emu_allocation a;
        if (!p->address || watch_place_is_address(x)) continue;
        if (emu_allocation_near(driver.emu, p->address, &a) && a.live && a.address == p->address &&
            watch_place_has_name(x, a.name))
            continue;
        writes_end(state.writes, i);
        p->address = 0;
    }
}

static void find(size_t i)
{
    struct watch_place *x = &state.list[i];
    struct watch_range t;
    for (size_t from = 0; watch_place_find(x, driver.emu, &from, &t);) {
        if (is_observed(i, t.address)) continue;
        state.places = arena_grow(state.arena, state.places, state.place_count, &state.place_cap,
                                  state.place_count + 1, sizeof *state.places);
        state.places[writes_places(state.writes)] = (struct observed){i, t.address};
        if (watch_place_begin(x, &t, state.writes, &state.diags)) {
            state.place_count = writes_places(state.writes);
            continue;
        }
        say_diags();
        event_stream_totals(driver.reports.events)->bad_watch++;
        x->indexed = true; /* it is said once: it means nothing any more */
        x->name.length = 0;
        return;
    }
}

void watch_points_join(struct emu_launch *l)
{
    if (!state.writes || driver.reports.run_log) return;
    drop();
    for (size_t i = 0; i < state.count; i++)
        if (state.list[i].name.length) find(i);
    state.observers = realloc((void *)state.observers,
                              (l->observer_count + 1) * sizeof *state.observers);
    if (!state.observers) abort();
    for (size_t i = 0; i < l->observer_count; i++) state.observers[i] = l->observers[i];
    state.observers[l->observer_count++] = writes_observer(state.writes);
    l->observers = state.observers;
}

void watch_points_end(void)
{
    if (!state.writes || driver.reports.run_log) return;
    for (size_t i = 0; i < state.count; i++) {
        const struct watch_place *x = &state.list[i];
        if (!x->name.length) continue;
        if (!x->found) {
            watch_place_report_missing(x, driver.emu, &state.diags);
            event_stream_totals(driver.reports.events)->bad_watch++;
        } else if (!x->seen && !by_events()) {
            driver_say("heddle: %.*s: no write\n", (int)x->where.length, x->where.text);
        }
    }
    if (state.diags.errors) say_diags();
    if (state.sent > EVENTS_MOST_WRITES)
        event_write(driver.reports.events,
                    &(struct event){.kind = EVENT_WRITES_LEFT_OUT,
                                    .count = state.sent - EVENTS_MOST_WRITES});
    state.writes = NULL; /* it is said once */
}
