/* The observer of launches that the command line asks for (session/run_observer.h). */
#define _POSIX_C_SOURCE 200809L
#include "session/run_observer.h"

#include "determinism/communication/communication.h"
#include "determinism/locks/locks.h"
#include "determinism/record/access_trace.h"
#include "emu/emu.h"
#include "session/communication_log.h"
#include "session/event_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCESS_TRACE_VARIABLE                                                                      \
    "HEDDLE_ACCESS_TRACE" /* "memtrace3,0-9,0-4294967295,0:/path": launches, CTAs, space */

struct run_observer {
    struct event_stream *events;
    struct communication *communication; /* NULL: not wanted */
    struct access_trace *accesses;       /* likewise */
    struct locks *locks;                 /* likewise */
    bool launched, refused;              /* refused: another process writes the file */
    const struct emu_observer **list;
};

static const char *name_of(const char *text, enum access_trace_format *format)
{
    for (int i = 0; i < ACCESS_TRACE_FORMATS; i++) {
        const size_t length = strlen(access_trace_format_names[i]);
        if (strncmp(text, access_trace_format_names[i], length) != 0) continue;
        *format = (enum access_trace_format)i;
        return text + length;
    }
    return NULL;
}

bool run_observer_want_accesses(struct event_stream *s, const char *format,
                                const struct access_trace_filter *f, const char *path)
{
    enum access_trace_format known;
    const char *end = name_of(format, &known);
    if (!end || *end) return false;
    const size_t size = strlen(format) + strlen(path) + 64;
    char *value = malloc(size);
    if (!value) abort();
    (void)snprintf(value, size, "%s,%u-%u,%u-%u,%u:%s", format, f->launch[0], f->launch[1],
                   f->cta[0], f->cta[1], f->space, path);
    (void)setenv(ACCESS_TRACE_VARIABLE, value, 1);
    free(value);
    event_stream_want(s, EVENTS_ACCESSES);
    return true;
}

static struct access_trace *open_accesses(const struct event_stream *s)
{
    const char *text = getenv(ACCESS_TRACE_VARIABLE);
    enum access_trace_format format;
    if (!event_stream_wants(s, EVENTS_ACCESSES) || !text) return NULL;
    struct access_trace_filter f = access_trace_all;
    const char *end = name_of(text, &format), *path = end ? strchr(end, ':') : NULL;
    if (!path || sscanf(end, ",%u-%u,%u-%u,%hhu:", &f.launch[0], &f.launch[1], &f.cta[0], &f.cta[1],
                        &f.space) != 5)
        return NULL;
    return access_trace_new(path + 1, format, &f);
}

struct run_observer *run_observer_open(struct event_stream *s)
{
    struct communication *communication = communication_log_open(s);
    struct access_trace *accesses = open_accesses(s);
    struct locks *locks = event_stream_wants(s, EVENTS_LOCKS) ? locks_new() : NULL;
    if (!communication && !accesses && !locks) return NULL;
    struct run_observer *o = calloc(1, sizeof *o);
    if (!o) abort();
    *o = (struct run_observer){
        .events = s, .communication = communication, .accesses = accesses, .locks = locks};
    return o;
}

void run_observer_device(struct run_observer *o, struct emu *e)
{
    if (o && o->communication)
        emu_observe_memory(e, communication_memory_observer(o->communication));
    if (o && o->locks) locks_device(o->locks, e);
}

/* One process alone writes the files: the first that launches a kernel. */
static bool may_write(struct run_observer *o)
{
    if (o->launched) return !o->refused;
    o->launched = true;
    o->refused = event_stream_totals(o->events)->access_traces++ != 0;
    if (o->refused) {
        fprintf(stderr, "heddle: the accesses of a further process are not recorded\n");
        event_stream_totals(o->events)->bad_recording++;
    }
    return !o->refused;
}

void run_observer_join(struct run_observer *o, struct emu_launch *l)
{
    if (!o) return;
    o->list = realloc((void *)o->list, (l->observer_count + 3) * sizeof *o->list);
    if (!o->list) abort();
    size_t n = l->observer_count;
    for (size_t i = 0; i < n; i++) o->list[i] = l->observers[i];
    if (o->communication) o->list[n++] = communication_observer(o->communication);
    if (o->accesses && may_write(o)) o->list[n++] = access_trace_observer(o->accesses);
    if (o->locks) o->list[n++] = locks_observer(o->locks);
    l->observers = o->list;
    l->observer_count = n;
}

void run_observer_stream(struct run_observer *o, uint32_t stream)
{
    if (o && o->communication) communication_stream(o->communication, stream);
    if (o && o->accesses) access_trace_stream(o->accesses, stream);
}

static void write_locks(struct locks *k, struct event_stream *s)
{
    size_t n;
    const struct lock_row *rows = locks_rows(k, &n);
    for (size_t i = 0; i < n; i++)
        event_write(s, &(struct event){.kind = EVENT_LOCK, .lock = rows[i]});
    event_write(
        s, &(struct event){.kind = EVENT_LOCK_INSTRUCTIONS, .count = locks_thread_instructions(k)});
    locks_free(k);
}

void run_observer_end(struct run_observer *o, struct event_stream *s)
{
    if (!o) return;
    if (o->communication) communication_log_end(o->communication, s);
    if (o->locks) write_locks(o->locks, s);
    const char *why = o->accesses ? access_trace_end(o->accesses) : NULL;
    if (why) {
        fprintf(stderr, "heddle: cannot write %s\n", why);
        event_stream_totals(s)->bad_recording++;
    }
    free((void *)o->list);
    free(o);
}
