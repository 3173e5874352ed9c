/* CTAs, modes, launches and counters for ui.perfetto.dev: a sequence of TracePackets, protobuf written by hand.
 *
 * Field numbers are those of Perfetto's trace_packet.proto, track_event.proto and track_descriptor.proto (perfetto.dev,
 * "Synthetic track events"). A run is a process. Its threads are the launches, the modes of the order, and each slot
 * of each SM for CTAs; its counters are means of intervals. Of CUDA programs there are the host, each stream, and the copies
 * of each direction, too. Time is in nanoseconds of estimated time, rounded. */
#include "cli/lapse_outputs.h"

#include "base/buf.h"
#include "session/event_stream.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { /* field numbers */
       TRACE_PACKET = 1,
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE = 10,
       PACKET_EVENT = 11,
       PACKET_DESCRIPTOR = 60,
       DESCRIPTOR_UUID = 1,
       DESCRIPTOR_NAME = 2,
       DESCRIPTOR_PROCESS = 3,
       DESCRIPTOR_THREAD = 4,
       DESCRIPTOR_PARENT = 5,
       DESCRIPTOR_COUNTER = 8,
       COUNTER_UNIT_NAME = 6,
       PROCESS_PID = 1,
       PROCESS_NAME = 6,
       THREAD_PID = 1,
       THREAD_TID = 2,
       THREAD_NAME = 5,
       EVENT_TYPE = 9,
       EVENT_TRACK = 11,
       EVENT_NAME = 23,
       EVENT_DOUBLE = 44,
       EVENT_FLOW = 47
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum {
    TRACK_PROCESS,
    TRACK_LAUNCHES,
    TRACK_MODES,
    TRACK_COUNTERS,
    TRACK_HOST = 8,
    TRACK_TO_DEVICE,
    TRACK_TO_HOST,
    TRACK_SLOTS = 16,
    TRACK_STREAMS = 1 << 24
};

/* ---- protobuf ------------------------------------------------------------------------------------------------- */

static void put_varint(struct buf *b, uint64_t x)
{
    for (; x >= 128; x >>= 7) buf_putc(b, (char)(x | 128));
    buf_putc(b, (char)x);
}

static void put_number(struct buf *b, unsigned field, uint64_t x)
{
    put_varint(b, field << 3);
    put_varint(b, x);
}

static void put_bytes(struct buf *b, unsigned field, const char *text, size_t n)
{
    put_varint(b, field << 3 | 2);
    put_varint(b, n);
    buf_add(b, text, n);
}

static void put_text(struct buf *b, unsigned field, const char *text)
{
    put_bytes(b, field, text, strlen(text));
}

static void put_fixed(struct buf *b, unsigned field, const void *x)
{
    uint64_t bits;
    memcpy(&bits, x, sizeof bits);
    put_varint(b, field << 3 | 1);
    for (int i = 0; i < 8; i++) buf_putc(b, (char)(bits >> 8 * i));
}

static void put_message(struct buf *b, unsigned field, struct buf *message)
{
    put_bytes(b, field, message->data ? message->data : "", message->size);
    buf_free(message);
}

/* ---- packets --------------------------------------------------------------------------------------------------- */

/* Tracks are numbered by run and by what they show, so that they have the same number in every launch. */
static uint64_t track_of(const struct lapse_source *run, uint32_t which)
{
    return (uint64_t)(run->number + 1) << 32 | which;
}

static void put_packet(struct lapse_file *f, struct buf *packet)
{
    struct buf b = {0};
    put_number(packet, PACKET_SEQUENCE, 1);
    put_message(&b, TRACE_PACKET, packet);
    lapse_file_add(f, &b);
}

static void describe(struct lapse_file *f, const struct lapse_source *run, uint32_t which,
                     const char *name, const char *unit)
{
    struct buf packet = {0}, track = {0}, part = {0};
    put_number(&track, DESCRIPTOR_UUID, track_of(run, which));
    if (which == TRACK_PROCESS) {
        put_number(&part, PROCESS_PID, run->number + 1);
        put_text(&part, PROCESS_NAME, name);
        put_message(&track, DESCRIPTOR_PROCESS, &part);
    } else if (unit) {
        put_number(&track, DESCRIPTOR_PARENT, track_of(run, TRACK_PROCESS));
        put_text(&track, DESCRIPTOR_NAME, name);
        put_text(&part, COUNTER_UNIT_NAME, unit);
        put_message(&track, DESCRIPTOR_COUNTER, &part);
    } else {
        put_number(&part, THREAD_PID, run->number + 1);
        put_number(&part, THREAD_TID, which);
        put_text(&part, THREAD_NAME, name);
        put_number(&track, DESCRIPTOR_PARENT, track_of(run, TRACK_PROCESS));
        put_message(&track, DESCRIPTOR_THREAD, &part);
    }
    put_message(&packet, PACKET_DESCRIPTOR, &track);
    put_packet(f, &packet);
}

static uint64_t nanoseconds(const struct lapse_launch *l, double cycles)
{
    const double seconds = l->begin + cycles / (l->counts->gpu->core_mhz * 1e6);
    return (uint64_t)(seconds * 1e9 + 0.5);
}

static void put_event(struct lapse_file *f, uint64_t when, int type, uint64_t track,
                      const char *name, double value, uint64_t flow)
{
    struct buf packet = {0}, event = {0};
    put_number(&packet, PACKET_TIMESTAMP, when);
    put_number(&event, EVENT_TYPE, (uint64_t)type);
    put_number(&event, EVENT_TRACK, track);
    if (name) put_text(&event, EVENT_NAME, name);
    if (type == COUNTER) put_fixed(&event, EVENT_DOUBLE, &value);
    if (flow) put_fixed(&event, EVENT_FLOW, &flow);
    put_message(&packet, PACKET_EVENT, &event);
    put_packet(f, &packet);
}

static uint64_t rounded(double seconds)
{
    return (uint64_t)(seconds * 1e9 + 0.5);
}

static void put_operation(struct lapse_file *f, const struct lapse_source *run, uint32_t which,
                          const struct event_operation *o, const char *name, uint64_t flow)
{
    put_event(f, rounded(o->begin), SLICE_BEGIN, track_of(run, which), name, 0, flow);
    put_event(f, rounded(o->end), SLICE_END, track_of(run, which), NULL, 0, 0);
}

static void put_slice(struct lapse_file *f, const struct lapse_launch *l, uint32_t which,
                      const char *name, double begin, double end, uint64_t flow)
{
    const uint64_t track = track_of(l->run, which);
    put_event(f, nanoseconds(l, begin), SLICE_BEGIN, track, name, 0, flow);
    put_event(f, nanoseconds(l, end), SLICE_END, track, NULL, 0, 0);
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* An arrow goes from the launch to the first CTA of each SM. */
static void put_ctas(struct lapse_file *f, const struct lapse_launch *l, uint64_t flow)
{
    const struct time_lapse *t = l->lapse;
    const uint32_t *grid = l->counts->grid;
    char name[64];
    uint32_t slots = 0;
    for (size_t i = 0; i < t->cta_count; i++)
        if (t->ctas[i].slot >= slots) slots = t->ctas[i].slot + 1;
    for (size_t i = 0; i < t->cta_count; i++) {
        const struct lapse_cta *c = &t->ctas[i];
        const uint32_t x = c->linear % grid[0], y = c->linear / grid[0] % grid[1],
                       z = c->linear / grid[0] / grid[1],
                       which = TRACK_SLOTS + t->sm_names[c->sm] * 64 + c->slot;
        if (c->end < c->begin) continue;
        snprintf(name, sizeof name, "SM %u, slot %u", t->sm_names[c->sm], c->slot);
        describe(f, l->run, which, name, NULL);
        snprintf(name, sizeof name, "CTA (%u,%u,%u)", x, y, z);
        put_slice(f, l, which, name, c->begin, c->end, c->slot == 0 && i < t->sms ? flow : 0);
    }
}

static void put_counters(struct lapse_file *f, const struct lapse_launch *l)
{
    const struct time_lapse *t = l->lapse;
    for (uint32_t i = 0; i <= t->intervals; i++) {
        uint64_t issued = 0, resident = 0, l2 = 0, dram = 0;
        const bool last = i == t->intervals;
        for (uint32_t k = 0; !last && k < t->sms; k++) {
            issued += time_lapse_sm(t, i, k)[LAPSE_ISSUED];
            resident += time_lapse_sm(t, i, k)[LAPSE_WARP_TICKS];
        }
        for (uint32_t k = 0; !last && k < t->slices; k++)
            l2 += time_lapse_slice(t, i, k)[LAPSE_L2_SECTORS];
        for (uint32_t k = 0; !last && k < t->channels; k++) dram += time_lapse_channels(t, i)[k];
        const double gigabytes = 32 * l->counts->gpu->core_mhz * 1e-3 / (t->interval * LAPSE_TICKS),
                     values[] = {(double)issued / (t->interval * LAPSE_TICKS),
                                 (double)resident / (t->interval * LAPSE_TICKS),
                                 (double)l2 * gigabytes, (double)dram * gigabytes};
        for (uint32_t k = 0; k < 4; k++)
            put_event(f, nanoseconds(l, i * t->interval), COUNTER,
                      track_of(l->run, TRACK_COUNTERS + k), NULL, values[k], 0);
    }
}

static void launch(void *self, const struct lapse_launch *l)
{
    struct lapse_file *f = self;
    const uint64_t flow = track_of(l->run, 0) ^ (l->number + 1);
    put_slice(f, l, TRACK_LAUNCHES, l->counts->kernel, 0, l->lapse->cycles, flow);
    for (size_t i = 0; i < l->lapse->span_count; i++) {
        const struct lapse_span *s = &l->lapse->spans[i];
        if (s->sm == 0) put_slice(f, l, TRACK_MODES, lapse_mode_name(s->mode), s->begin, s->end, 0);
    }
    put_ctas(f, l, flow);
    put_counters(f, l);
}

/* The host's submissions and waits, each stream, and the copies of each direction. An arrow goes from the submission to the
 * operation. */
static void put_operations(struct lapse_file *f, const struct lapse_source *run)
{
    char name[80];
    size_t launches = 0, streams;
    uint32_t *const stream = lapse_streams(run, &streams);
    describe(f, run, TRACK_HOST, "host", NULL);
    describe(f, run, TRACK_TO_DEVICE, "copies to the device", NULL);
    describe(f, run, TRACK_TO_HOST, "copies to the host", NULL);
    for (size_t i = 0; i < streams; i++) {
        snprintf(name, sizeof name, stream[i] ? "stream %u" : "default stream", stream[i]);
        describe(f, run, TRACK_STREAMS + stream[i], name, NULL);
    }
    free(stream);
    for (size_t i = 0; i < run->operation_count; i++) {
        const struct event_operation *o = &run->operations[i];
        const uint64_t flow = track_of(run, TRACK_HOST) ^ (uint64_t)(i + 1) << 40;
        lapse_operation_name(run, o, launches, name, sizeof name);
        launches += o->kind == OPERATION_LAUNCH;
        if (o->kind == OPERATION_WAIT) {
            put_operation(f, run, TRACK_HOST, o, name, 0);
            continue;
        }
        put_event(f, rounded(o->submitted), INSTANT, track_of(run, TRACK_HOST), name, 0, flow);
        put_operation(f, run, TRACK_STREAMS + o->stream, o, name, flow);
        if (o->kind == OPERATION_TO_DEVICE) put_operation(f, run, TRACK_TO_DEVICE, o, name, 0);
        if (o->kind == OPERATION_TO_HOST) put_operation(f, run, TRACK_TO_HOST, o, name, 0);
    }
}

static void begin(void *self, const struct lapse_source *run)
{
    struct lapse_file *f = self;
    char name[256];
    snprintf(name, sizeof name, "%s%s%s", run->gpu ? run->gpu : run->trace, run->order ? ", " : "",
             run->order ? run->order : "");
    describe(f, run, TRACK_PROCESS, name, NULL);
    describe(f, run, TRACK_LAUNCHES, "launches", NULL);
    describe(f, run, TRACK_MODES, "modes", NULL);
    describe(f, run, TRACK_COUNTERS, "warp instructions", "per cycle");
    describe(f, run, TRACK_COUNTERS + 1, "resident warps", "warps");
    describe(f, run, TRACK_COUNTERS + 2, "L2", "GB/s");
    describe(f, run, TRACK_COUNTERS + 3, "DRAM", "GB/s");
    if (run->operation_count) put_operations(f, run);
}

struct lapse_sink lapse_perfetto(struct lapse_file *f)
{
    return (struct lapse_sink){.self = f, .begin = begin, .launch = launch};
}
