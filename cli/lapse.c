#include "cli/lapse.h"

#include "cli/file_steps.h"

#include "base/arena.h"
#include "base/buf.h"
#include "emu/trace_file.h"
#include "model/estimate_cache.h"
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

/* What launches gave that may come again: solvers launch the same kernels hundreds of times. As in estimates, launches
 * are alike that estimate_cache_key() says are. A lapse has up to 20 MB. */
enum { KEPT = 4 };
struct known {
    struct buf key;
    bool ok;
    struct launch_estimate estimate;
    struct time_lapse lapse;
    struct lapse_whole whole;
};

static void forget(struct known *k)
{
    buf_free(&k->key);
    time_lapse_free(&k->lapse);
    *k = (struct known){0};
}

static const struct known *known_of(struct known *all, size_t *next, const struct lapse_launch *l)
{
    struct buf key = {0};
    estimate_cache_key(&key, l->counts);
    for (size_t i = 0; i < KEPT; i++)
        if (all[i].key.data && all[i].key.size == key.size &&
            memcmp(all[i].key.data, key.data, key.size) == 0) {
            buf_free(&key);
            return &all[i];
        }
    struct known *k = &all[(*next)++ % KEPT];
    buf_free(&k->key);
    k->key = key;
    time_lapse_clear(&k->lapse);
    k->lapse.interval = l->run->interval, k->lapse.wants_issues = l->run->issues;
    k->ok = launch_estimate_lapse(l->counts, l->run->all_sms, &k->lapse, &k->whole, &k->estimate);
    return k;
}

static void one_launch(struct lapse_launch *l, const struct known *k,
                       const struct lapse_sink *const *sinks, size_t count)
{
    l->estimate = &k->estimate, l->lapse = &k->lapse, l->whole = &k->whole;
    for (size_t i = 0; k->ok && i < count; i++)
        if (sinks[i]->launch) sinks[i]->launch(sinks[i]->self, l);
    if (k->ok) l->begin += k->estimate.seconds, l->number++;
    (void)begin_of(l->run, l->number, &l->begin);
    l->estimate = NULL, l->lapse = NULL, l->whole = NULL;
}

const char *lapse_read(const struct lapse_source *run, const struct lapse_sink *const *sinks,
                       size_t count, size_t *launches)
{
    FILE *f = fopen(run->trace, "rb");
    if (!f) return strerror(errno);
    struct arena *arena = arena_new();
    struct trace_file in = {.file = f, .arena = arena};
    struct lapse_launch l = {.run = run};
    struct known known[KEPT] = {0};
    size_t next = 0;
    (void)begin_of(run, 0, &l.begin);
    for (size_t i = 0; i < count; i++)
        if (sinks[i]->begin) sinks[i]->begin(sinks[i]->self, run);
    struct file_steps steps;
    file_steps_begin(&steps, &in);
    while ((l.counts = trace_file_next(&in)))
        one_launch(&l, known_of(known, &next, &l), sinks, count);
    file_steps_end(&steps);
    for (size_t i = 0; i < KEPT; i++) forget(&known[i]);
    for (size_t i = 0; i < count; i++)
        if (sinks[i]->end) sinks[i]->end(sinks[i]->self, run);
    *launches = l.number;
    (void)fclose(f);
    arena_free(arena);
    return in.why;
}

char *lapse_number_text(char *to, uint64_t x)
{
    char digits[20];
    int n = 0;
    do digits[n++] = (char)('0' + x % 10);
    while (x /= 10);
    while (n) *to++ = digits[--n];
    return to;
}

char *lapse_ticks_text(char *to, uint64_t ticks)
{
    to = lapse_number_text(to, ticks / LAPSE_TICKS);
    uint64_t rest = ticks % LAPSE_TICKS;
    if (!rest) return to;
    *to++ = '.';
    for (; rest; rest %= LAPSE_TICKS) { /* 1/1024 has ten digits */
        rest *= 10;
        *to++ = (char)('0' + rest / LAPSE_TICKS);
    }
    return to;
}

void lapse_put_ticks(struct buf *out, uint64_t ticks)
{
    char text[LAPSE_TICKS_TEXT];
    buf_add(out, text, (size_t)(lapse_ticks_text(text, ticks) - text));
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
    static const char *const names[] = {"instructions", "thread_instructions", "l1_hits",
                                        "l1_misses", "resident"};
    return column < TIMING_PARTS ? timing_part_name((enum timing_part)column)
                                 : names[column - TIMING_PARTS];
}
