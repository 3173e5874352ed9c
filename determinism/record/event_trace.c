/* Every instruction and access as frames of a file of traces (event_trace.h). */
#define _POSIX_C_SOURCE 200809L
#include "determinism/record/event_trace.h"

#include "base/buf.h"
#include "emu/order.h"
#include "emu/trace_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct event_trace {
    struct emu_observer observer;
    char *path;
    FILE *file; /* NULL: it could not be opened */
    struct trace_events *events;
    uint32_t first, last, launch, stream;
    bool on; /* the launch is written */
    uint8_t *own;
    int error; /* 0: none */
};

static void event_trace_on_begin(void *self, struct emu_machine *m)
{
    struct event_trace *t = self;
    const uint32_t number = t->launch++;
    t->on = t->file && number >= t->first && number <= t->last;
    if (!t->on) return;
    free(t->own);
    const struct trace_launch l = trace_launch_of(m, number, t->stream, &t->own);
    trace_events_begin(t->events, &l);
}

static void event_trace_on_issue(void *self, const struct emu_warp *who, uint32_t pc,
                                 uint32_t lanes)
{
    struct event_trace *t = self;
    if (t->on) trace_events_issue(t->events, who, pc, lanes);
}

static void event_trace_on_access(void *self, const struct emu_access *a)
{
    struct event_trace *t = self;
    if (t->on) trace_events_access(t->events, a);
}

static void event_trace_on_sync(void *self, const struct emu_sync *s)
{
    struct event_trace *t = self;
    if (t->on && s->kind == EMU_SYNC_CTA_EXIT) trace_events_cta_exit(t->events, s->who);
}

static void event_trace_on_end(void *self)
{
    struct event_trace *t = self;
    if (t->on) trace_events_end(t->events);
    if (t->file && ferror(t->file) && !t->error) t->error = errno ? errno : EIO;
    t->on = false;
}

struct event_trace *event_trace_new(const char *path, uint32_t first, uint32_t last)
{
    struct event_trace *t = calloc(1, sizeof *t);
    if (!t || !(t->path = strdup(path))) abort();
    t->first = first, t->last = last;
    t->observer = (struct emu_observer){
        .self = t,
        .ignores_data = true,
        .not_nested = "with addresses in a trace: it holds one launch after the other. Leave out "
                      "--addresses, or use --format=memtrace3",
        .begin = event_trace_on_begin,
        .issue = event_trace_on_issue,
        .access = event_trace_on_access,
        .sync = event_trace_on_sync,
        .end = event_trace_on_end};
    t->file = fopen(path, "abe");
    if (!t->file) t->error = errno;
    else t->events = trace_events_new(t->file);
    return t;
}

void event_trace_stream(struct event_trace *t, uint32_t stream)
{
    t->stream = stream;
}

const struct emu_observer *event_trace_observer(struct event_trace *t)
{
    return &t->observer;
}

char *event_trace_end(struct event_trace *t)
{
    struct buf b = {0};
    if (t->events && !trace_events_free(t->events) && !t->error) t->error = errno ? errno : EIO;
    if (t->file && fclose(t->file) != 0 && !t->error) t->error = errno;
    if (t->error) buf_printf(&b, "'%s': %s", t->path, strerror(t->error));
    free(t->own);
    free(t->path);
    free(t);
    return b.data;
}
