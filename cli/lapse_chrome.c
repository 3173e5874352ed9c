/* Writes CTAs, modes, launches and counters as JSON for chrome://tracing ("Trace Event Format"): an array of events in
 * microseconds. A run is a process, as in cli/lapse_perfetto.c. */
#include "cli/lapse_outputs.h"

#include "base/buf.h"
#include "session/event_stream.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LAUNCHES = 1, MODES, HOST = 8, TO_DEVICE, TO_HOST, SLOTS = 16, STREAMS = 1 << 24 };

static void put_item(struct lapse_file *f, struct buf *b)
{
    struct buf line = {0};
    buf_puts(&line, f->items++ ? ",\n" : "[\n");
    buf_add(&line, b->data, b->size);
    buf_free(b);
    lapse_file_add(f, &line);
}

static double microseconds(const struct lapse_launch *l, double cycles)
{
    return l->begin * 1e6 + cycles / l->counts->gpu->core_mhz;
}

static void put_name(struct lapse_file *f, const struct lapse_source *run, const char *what,
                     uint32_t thread, const char *name)
{
    struct buf b = {0};
    buf_printf(&b, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what,
               run->number + 1, thread);
    lapse_put_json(&b, name);
    buf_puts(&b, "}}");
    put_item(f, &b);
}

static void put_slice(struct lapse_file *f, const struct lapse_launch *l, uint32_t thread,
                      const char *name, double begin, double end)
{
    struct buf b = {0};
    buf_puts(&b, "{\"ph\":\"X\",\"name\":");
    lapse_put_json(&b, name);
    buf_printf(&b, ",\"pid\":%u,\"tid\":%u,\"ts\":%.4f,\"dur\":%.4f}", l->run->number + 1, thread,
               microseconds(l, begin), microseconds(l, end) - microseconds(l, begin));
    put_item(f, &b);
}

static void put_counters(struct lapse_file *f, const struct lapse_launch *l)
{
    const struct time_lapse *t = l->lapse;
    for (uint32_t i = 0; i < t->intervals; i++) {
        uint64_t issued = 0, dram = 0;
        struct buf b = {0};
        for (uint32_t k = 0; k < t->sms; k++) issued += time_lapse_sm(t, i, k)[LAPSE_ISSUED];
        for (uint32_t k = 0; k < t->channels; k++) dram += time_lapse_channels(t, i)[k];
        buf_printf(&b,
                   "{\"ph\":\"C\",\"name\":\"sums of intervals\",\"pid\":%u,\"tid\":0,\"ts\":%.4f,"
                   "\"args\":{\"warp instructions\":%" PRIu64 ",\"DRAM sectors\":%" PRIu64 "}}",
                   l->run->number + 1, microseconds(l, i * t->interval), issued / LAPSE_TICKS,
                   dram / LAPSE_TICKS);
        put_item(f, &b);
    }
}

static void launch(void *self, const struct lapse_launch *l)
{
    struct lapse_file *f = self;
    const struct time_lapse *t = l->lapse;
    char name[64];
    put_slice(f, l, LAUNCHES, l->counts->kernel, 0, t->cycles);
    for (size_t i = 0; i < t->span_count; i++)
        if (t->spans[i].sm == 0)
            put_slice(f, l, MODES, lapse_mode_name(t->spans[i].mode), t->spans[i].begin,
                      t->spans[i].end);
    for (size_t i = 0; i < t->cta_count; i++) {
        const struct lapse_cta *c = &t->ctas[i];
        const uint32_t thread = SLOTS + t->sm_names[c->sm] * 64 + c->slot;
        if (c->end < c->begin) continue;
        snprintf(name, sizeof name, "SM %u, slot %u", t->sm_names[c->sm], c->slot);
        put_name(f, l->run, "thread_name", thread, name);
        snprintf(name, sizeof name, "CTA %u", c->linear);
        put_slice(f, l, thread, name, c->begin, c->end);
    }
    put_counters(f, l);
}

static void put_operation(struct lapse_file *f, const struct lapse_source *run, uint32_t thread,
                          const struct event_operation *o, const char *name)
{
    struct buf b = {0};
    buf_puts(&b, "{\"ph\":\"X\",\"name\":");
    lapse_put_json(&b, name);
    buf_printf(&b, ",\"pid\":%u,\"tid\":%u,\"ts\":%.4f,\"dur\":%.4f}", run->number + 1, thread,
               o->begin * 1e6, (o->end - o->begin) * 1e6);
    put_item(f, &b);
}

/* What the host submits, as a mark. */
static void put_submission(struct lapse_file *f, const struct lapse_source *run,
                           const struct event_operation *o, const char *name)
{
    struct buf b = {0};
    buf_puts(&b, "{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    lapse_put_json(&b, name);
    buf_printf(&b, ",\"pid\":%u,\"tid\":%u,\"ts\":%.4f}", run->number + 1, HOST,
               o->submitted * 1e6);
    put_item(f, &b);
}

static void put_operations(struct lapse_file *f, const struct lapse_source *run)
{
    size_t launches = 0, streams;
    uint32_t *const stream = lapse_streams(run, &streams);
    char name[80];
    put_name(f, run, "thread_name", HOST, "host");
    put_name(f, run, "thread_name", TO_DEVICE, "copies to the device");
    put_name(f, run, "thread_name", TO_HOST, "copies to the host");
    for (size_t i = 0; i < streams; i++) {
        snprintf(name, sizeof name, stream[i] ? "stream %u" : "default stream", stream[i]);
        put_name(f, run, "thread_name", STREAMS + stream[i], name);
    }
    free(stream);
    for (size_t i = 0; i < run->operation_count; i++) {
        const struct event_operation *o = &run->operations[i];
        lapse_operation_name(run, o, launches, name, sizeof name);
        launches += o->kind == OPERATION_LAUNCH;
        if (o->kind == OPERATION_WAIT) {
            put_operation(f, run, HOST, o, name);
            continue;
        }
        put_submission(f, run, o, name);
        put_operation(f, run, STREAMS + o->stream, o, name);
        if (o->kind == OPERATION_TO_DEVICE) put_operation(f, run, TO_DEVICE, o, name);
        if (o->kind == OPERATION_TO_HOST) put_operation(f, run, TO_HOST, o, name);
    }
}

static void begin(void *self, const struct lapse_source *run)
{
    struct lapse_file *f = self;
    char name[256];
    snprintf(name, sizeof name, "%s%s%s", run->gpu ? run->gpu : run->trace, run->order ? ", " : "",
             run->order ? run->order : "");
    put_name(f, run, "process_name", 0, name);
    put_name(f, run, "thread_name", LAUNCHES, "launches");
    put_name(f, run, "thread_name", MODES, "modes");
    if (run->operation_count) put_operations(f, run);
}

struct lapse_sink lapse_chrome(struct lapse_file *f)
{
    return (struct lapse_sink){.self = f, .begin = begin, .launch = launch};
}

void lapse_chrome_end(struct lapse_file *f)
{
    struct buf b = {0};
    buf_puts(&b, f->items ? "\n]\n" : "[]\n");
    lapse_file_add(f, &b);
}
