/* Carries the communication of CTAs from the process that runs kernels to the command line (communication_log.h). */
#define _POSIX_C_SOURCE 200809L
#include "session/communication_log.h"

#include "base/arena.h"
#include "session/event_stream.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

unsigned communication_log_wish(enum communication_unit unit)
{
    return EVENTS_COMMUNICATION | (unsigned)unit * EVENTS_COMMUNICATION_UNIT;
}

struct communication *communication_log_open(const struct event_stream *s)
{
    if (!event_stream_wants(s, EVENTS_COMMUNICATION)) return NULL;
    unsigned unit = 0;
    for (unsigned bit = 1; bit < 4; bit *= 2)
        if (event_stream_wants(s, bit * EVENTS_COMMUNICATION_UNIT)) unit |= bit;
    return communication_new((enum communication_unit)unit);
}

void communication_log_end(struct communication *c, struct event_stream *s)
{
    const struct event_attachment at = event_stream_attach(s);
    const int copy = dup(at.file);
    FILE *f = copy >= 0 ? fdopen(copy, "r+b") : NULL;
    if (f) {
        const bool ok = fseeko(f, (off_t)at.offset, SEEK_SET) == 0 && communication_write(c, f);
        if (!ok)
            (void)ftruncate(copy, (off_t)at.offset); /* no memory: it is as if there were none */
        (void)fclose(f);
    }
    communication_free(c);
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
