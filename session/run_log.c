/* The log of a run of `heddle check`, on both sides of its event stream (session/run_log.h). */
#define _GNU_SOURCE
#include "session/run_log.h"

#include "base/buf.h"
#include "determinism/orders.h"
#include "determinism/record/last_writers.h"
#include "determinism/record/snapshot.h"
#include "emu/device_order.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

uint64_t run_log_mix_digest(uint64_t digest, uint64_t next)
{
    digest = (digest ^ next) * UINT64_C(0x9fb21c651e98df25);
    return digest ^ digest >> 29;
}

/* ---- tasks ------------------------------------------------------------------------------------------- */

void run_log_ask(struct event_stream *s, const struct run_log_task *t)
{
    if (t->work == RUN_LOG_WRITE_EVENTS) {
        event_stream_want(s, EVENTS_RUN_LOG);
        return;
    }
    event_stream_want(s, EVENTS_TASK);
    event_write(s, &(struct event){.kind = EVENT_TASK,
                                   .task = {.work = t->work,
                                            .launch = t->launch,
                                            .first = t->first,
                                            .place_count = t->place_count}});
    for (size_t i = 0; i < t->place_count; i++)
        event_write(s, &(struct event){.kind = EVENT_PLACE, .count = t->places[i]});
}

/* The first event of the stream, and the places behind it. false: it is no task. */
static bool read_task(struct event_reader r, struct run_log_task *out, uint64_t **places)
{
    struct event e;
    if (!event_next(&r, &e) || e.kind != EVENT_TASK || e.task.work > RUN_LOG_WRITE_LAST_WRITERS)
        return false;
    const size_t count = (size_t)e.task.place_count;
    *places = calloc(count + 1, sizeof **places);
    if (!*places) abort();
    *out = (struct run_log_task){.work = (enum run_log_work)e.task.work,
                                 .launch = e.task.launch,
                                 .first = e.task.first,
                                 .places = *places,
                                 .place_count = count};
    for (size_t i = 0; i < count; i++) {
        if (!event_next(&r, &e) || e.kind != EVENT_PLACE) return false;
        (*places)[i] = e.count;
    }
    return true;
}

/* ---- a run ------------------------------------------------------------------------------------------- */

struct run_log {
    struct run_log_task task;
    uint64_t *places; /* the task's */
    struct event_stream *events;
    pid_t process; /* that opened the log */
    size_t launches;
    struct buf text;                        /* all that was printed */
    uint64_t memory, printed, copied, rest; /* digests */
    const struct emu_order *order;          /* that the last launch named; NULL: the device's */
    uint64_t execution;                     /* so far */
    struct last_writers *writers;           /* NULL: nobody asked */
    const struct emu_observer *observers[8];
};

static uint64_t digest_on(uint64_t digest, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t word;
    for (; size >= sizeof word; size -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        digest = run_log_mix_digest(digest, word);
    }
    for (; size; size--) digest = run_log_mix_digest(digest, *p++);
    return digest;
}

struct run_log *run_log_open(struct event_stream *s)
{
    struct buf bytes = {0};
    struct run_log_task task = {.work = RUN_LOG_WRITE_EVENTS};
    uint64_t *places = NULL;
    if (!event_stream_wants(s, EVENTS_RUN_LOG | EVENTS_TASK)) return NULL;
    if (event_stream_wants(s, EVENTS_TASK)) {
        const bool asked = read_task(event_reader_open(s, &bytes), &task, &places);
        buf_free(&bytes);
        if (!asked) {
            free(places);
            return NULL;
        }
    }
    struct run_log *log = calloc(1, sizeof *log);
    if (!log) abort();
    log->task = task;
    log->places = places;
    log->events = s;
    log->process = getpid();
    if (task.work == RUN_LOG_WRITE_LAST_WRITERS)
        log->writers = last_writers_new(places, task.place_count);
    return log;
}

bool run_log_writes_events(const struct run_log *log)
{
    return log->task.work == RUN_LOG_WRITE_EVENTS;
}

static void write_event(const struct run_log *log, const struct event *e)
{
    if (run_log_writes_events(log)) event_write(log->events, e);
}

void run_log_begin_launch(struct run_log *log, const char *kernel, struct emu_launch *launch)
{
    enum { MOST = sizeof log->observers / sizeof *log->observers };
    write_event(log, &(struct event){.kind = EVENT_LAUNCH_BEGIN, .text = kernel});
    log->order = launch->order;
    if (!log->writers || launch->observer_count + 1 > MOST) return;
    for (size_t i = 0; i < launch->observer_count; i++) log->observers[i] = launch->observers[i];
    log->observers[launch->observer_count] = last_writers_observer(log->writers);
    launch->observers = log->observers;
    launch->observer_count++;
}

void run_log_printed(struct run_log *log, const char *text, size_t size)
{
    buf_add(&log->text, text, size);
    for (size_t i = 0; i < size; i++) /* whatever the pieces: byte for byte */
        log->printed = (log->printed ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
}

void run_log_copied(struct run_log *log, const void *bytes, size_t size)
{
    log->copied += digest_on(size, bytes, size);
}

void run_log_message(struct run_log *log, const char *text)
{
    write_event(log, &(struct event){.kind = EVENT_MESSAGE, .text = text});
}

/* The launch after which the task is to stop has ended. */
static void stop(struct run_log *log, struct emu *e, uint64_t digest)
{
    const struct run_log_task *t = &log->task;
    const struct event_attachment a = event_stream_attach(log->events);
    const bool ok = t->work == RUN_LOG_WRITE_SNAPSHOT
                        ? snapshot_write(e, &log->text, digest, a.file, a.offset)
                        : last_writers_write(log->writers, t->first, digest, a.file, a.offset);
    _exit(!ok);
}

void run_log_report(struct run_log *log, const struct launch_record *l)
{
    write_event(log, &(struct event){.kind = EVENT_LAUNCH, .launch = *l});
    for (size_t i = 0; i < l->finding_count; i++)
        write_event(log,
                    &(struct event){.kind = EVENT_FINDING,
                                    .finding = {.kernel = l->kernel, .found = l->findings[i]}});
}

uint64_t run_log_digest(struct run_log *log, struct emu *e, uint64_t launch)
{
    log->memory = emu_digest(e);
    log->execution = orders_execution(log->order ? log->order : emu_device_order(e));
    const uint64_t files = emu_files_digest(e);
    if (files) log->memory = run_log_mix_digest(log->memory, files);
    const uint64_t digest = run_log_mix_digest(log->memory, log->printed);
    if (!run_log_writes_events(log) && launch == log->task.launch) stop(log, e, digest);
    return digest;
}

void run_log_launch(struct run_log *log, const char *kernel, uint64_t digest)
{
    if (!run_log_writes_events(log)) return;
    if (log->launches++ < RUN_LOG_MOST_LAUNCHES)
        event_write(log->events, &(struct event){.kind = EVENT_DIGEST,
                                                 .digest = {.kernel = kernel, .memory = digest}});
    else log->rest = run_log_mix_digest(log->rest, digest);
}

void run_log_host_finding(struct run_log *log, enum emu_fault_kind kind, const char *text)
{
    write_event(log,
                &(struct event){
                    .kind = EVENT_FINDING,
                    .finding = {.kernel = "", .found = {.kind = kind, .count = 1, .text = text}}});
}

void run_log_end_launch(struct run_log *log, struct emu *e, const struct launch_record *l)
{
    const uint64_t digest = run_log_digest(log, e, log->launches);
    if (!run_log_writes_events(log)) log->launches++;
    run_log_launch(log, l->kernel, digest);
    run_log_report(log, l);
}

void run_log_end(struct run_log *log)
{
    if (!log) return;
    if (log->process == getpid())
        write_event(log, &(struct event){.kind = EVENT_END_DIGESTS,
                                         .end = {.other_launches = log->rest,
                                                 .memory = log->memory,
                                                 .printed = log->printed,
                                                 .copied = log->copied,
                                                 .execution = log->execution}});
    last_writers_free(log->writers);
    buf_free(&log->text);
    free(log->places);
    free(log);
}
