/* The communication of CTAs, from the process that runs to the one that asked (communication_log.h). */
#define _POSIX_C_SOURCE 200809L
#include "session/communication_log.h"

#include "base/arena.h"
#include "emu/emu.h"
#include "session/event_stream.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct communication_log {
    struct communication *communication;
    const struct emu_observer **list;
};

unsigned communication_log_wish(enum communication_unit unit)
{
    return EVENTS_COMMUNICATION | (unsigned)unit * EVENTS_COMMUNICATION_UNIT;
}

struct communication_log *communication_log_open(const struct event_stream *s)
{
    if (!event_stream_wants(s, EVENTS_COMMUNICATION)) return NULL;
    unsigned unit = 0;
    for (unsigned bit = 1; bit < 4; bit *= 2)
        if (event_stream_wants(s, bit * EVENTS_COMMUNICATION_UNIT)) unit |= bit;
    struct communication_log *log = calloc(1, sizeof *log);
    if (!log) abort();
    log->communication = communication_new((enum communication_unit)unit);
    return log;
}

void communication_log_device(struct communication_log *log, struct emu *e)
{
    if (log) emu_observe_memory(e, communication_memory_observer(log->communication));
}

void communication_log_join(struct communication_log *log, struct emu_launch *l)
{
    if (!log) return;
    log->list = realloc((void *)log->list, (l->observer_count + 1) * sizeof *log->list);
    if (!log->list) abort();
    for (size_t i = 0; i < l->observer_count; i++) log->list[i] = l->observers[i];
    log->list[l->observer_count++] = communication_observer(log->communication);
    l->observers = log->list;
}

void communication_log_stream(struct communication_log *log, uint32_t stream)
{
    if (log) communication_stream(log->communication, stream);
}

void communication_log_end(struct communication_log *log, struct event_stream *s)
{
    if (!log) return;
    const struct event_attachment at = event_stream_attach(s);
    const int copy = dup(at.file);
    FILE *f = copy >= 0 ? fdopen(copy, "r+b") : NULL;
    if (f) {
        const bool ok = fseeko(f, (off_t)at.offset, SEEK_SET) == 0 &&
                        communication_write(log->communication, f);
        if (!ok)
            (void)ftruncate(copy, (off_t)at.offset); /* no memory: it is as if there were none */
        (void)fclose(f);
    }
    communication_free(log->communication);
    free((void *)log->list);
    free(log);
}

const struct communication_result *communication_log_read(struct arena *a,
                                                          const struct event_stream *s)
{
    struct event_attachment at;
    struct stat st;
    if (!event_stream_attachment(s, &at) || fstat(at.file, &st) != 0 ||
        (uint64_t)st.st_size <= at.offset)
        return NULL;
    const size_t size = (size_t)((uint64_t)st.st_size - at.offset);
    char *bytes = arena_alloc(a, size);
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(at.file, bytes + done, size - done, (off_t)(at.offset + done));
        if (n <= 0) return NULL;
        done += (size_t)n;
    }
    return communication_read(a, bytes, size);
}
