#include "cli/lapse.h"

#include "base/arena.h"
#include "base/buf.h"
#include "emu/trace_file.h"
#include "session/event_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When launch `number` begins. false: no timeline has it. */
static bool begin_of(const struct lapse_source *run, uint32_t number, double *begin)
{
    for (size_t i = 0, n = 0; i < run->operation_count; i++)
        if (run->operations[i].kind == OPERATION_LAUNCH && n++ == number)
            return *begin = run->operations[i].begin, true;
    return false;
}

void lapse_operation_name(const struct lapse_source *run, const struct event_operation *o,
                          size_t launches, char *name, size_t size)
{
    static const char *const names[OPERATION_KINDS] = {"launch", "fill or copy inside the device",
                                                       "copy to the device", "copy to the host",
                                                       "wait"};
    if (o->kind == OPERATION_LAUNCH && launches < run->launch_count)
        (void)snprintf(name, size, "%s", run->launches[launches].kernel);
    else if (!o->bytes) (void)snprintf(name, size, "%s", names[o->kind]);
    else (void)snprintf(name, size, "%s, %" PRIu64 " bytes", names[o->kind], o->bytes);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

uint32_t *lapse_streams(const struct lapse_source *run, size_t *count)
{
    uint32_t *streams = calloc(run->operation_count + 1, sizeof *streams);
    size_t n = 0;
    if (!streams) abort();
    for (size_t i = 0; i < run->operation_count; i++)
        if (run->operations[i].kind != OPERATION_WAIT) streams[n++] = run->operations[i].stream;
    qsort(streams, n, sizeof *streams, by_number);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || streams[i] != streams[i - 1]) streams[(*count)++] = streams[i];
    return streams;
}

static bool one_launch(struct lapse_launch *l, const struct lapse_sink *const *sinks, size_t count)
{
    struct time_lapse lapse = {.interval = l->run->interval, .wants_issues = l->run->issues};
    struct launch_estimate estimate;
    struct lapse_whole whole;
    const bool ok = launch_estimate_lapse(l->counts, l->run->all_sms, &lapse, &whole, &estimate);
    l->estimate = &estimate, l->lapse = &lapse, l->whole = &whole;
    for (size_t i = 0; ok && i < count; i++)
        if (sinks[i]->launch) sinks[i]->launch(sinks[i]->self, l);
    if (ok) l->begin += estimate.seconds, l->number++;
    (void)begin_of(l->run, l->number, &l->begin);
    l->estimate = NULL, l->lapse = NULL, l->whole = NULL;
    time_lapse_free(&lapse);
    return ok;
}

const char *lapse_read(const struct lapse_source *run, const struct lapse_sink *const *sinks,
                       size_t count, size_t *launches)
{
    FILE *f = fopen(run->trace, "rb");
    if (!f) return strerror(errno);
    struct arena *arena = arena_new();
    struct trace_file in = {.file = f, .arena = arena};
    struct lapse_launch l = {.run = run};
    (void)begin_of(run, 0, &l.begin);
    for (size_t i = 0; i < count; i++)
        if (sinks[i]->begin) sinks[i]->begin(sinks[i]->self, run);
    while ((l.counts = trace_file_next(&in))) (void)one_launch(&l, sinks, count);
    for (size_t i = 0; i < count; i++)
        if (sinks[i]->end) sinks[i]->end(sinks[i]->self, run);
    *launches = l.number;
    (void)fclose(f);
    arena_free(arena);
    return in.why;
}

void lapse_put_ticks(struct buf *out, uint64_t ticks)
{
    char digits[16];
    buf_printf(out, "%" PRIu64, ticks / LAPSE_TICKS);
    uint64_t rest = ticks % LAPSE_TICKS;
    if (!rest) return;
    int n = 0;
    for (; rest; rest %= LAPSE_TICKS) { /* 1/1024 has ten digits */
        rest *= 10;
        digits[n++] = (char)('0' + rest / LAPSE_TICKS);
    }
    buf_putc(out, '.');
    buf_add(out, digits, (size_t)n);
}

void lapse_put_json(struct buf *out, const char *text)
{
    buf_putc(out, '"');
    for (const char *p = text ? text : ""; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') buf_printf(out, "\\%c", c);
        else if (c < 32 || c == '<' || c == '>' || c == '&' || c == 127)
            buf_printf(out, "\\u%04x", c);
        else buf_putc(out, (char)c);
    }
    buf_putc(out, '"');
}

const char *lapse_column_name(unsigned column)
{
    static const char *const names[] = {"instructions", "l1_hits", "l1_misses", "resident"};
    return column < TIMING_PARTS ? timing_part_name((enum timing_part)column)
                                 : names[column - TIMING_PARTS];
}
