/* The visualizer log of GPGPU-Sim, which AerialVision reads (bin/aerialvision.py FILE.log.gz).
 *
 * For each interval there are lines "name: values". A vector has a value for each SM. GPGPU-Sim's names are kept
 * where Heddle has the same thing: globalcyclecount (cycles of the launch so far), globaltotinsncount and
 * shaderwarpinsncount (of the launch so far), WarpIssueSlotBreakdown (scheduler cycles of the interval: those that
 * wait, those that issue), WarpDivergenceBreakdown (scheduler cycles of the interval without a warp, those that wait for a
 * result, those that wait for a unit; then warp instructions with 1 to 4, ... 29 to 32 active lanes), Ltworeadhit and Ltworeadmiss (sectors of the interval), dramutil (percent of the interval
 * in which the channel moves data), ctas_completed. globaltotinsncount has warp instructions; GPGPU-Sim counts those
 * of threads, also in globalinsncount, which is therefore absent. */
#include "cli/lapse_outputs.h"

#include "base/buf.h"
#include "model/config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

static void put_divergence(struct buf *b, const struct time_lapse *t, uint32_t interval)
{
    uint64_t idle = 0, result = 0, unit = 0;
    for (uint32_t sm = 0; sm < t->sms; sm++) {
        const uint64_t *row = time_lapse_sm(t, interval, sm);
        unit += row[TIMING_UNIT];
        for (int p = TIMING_LATENCY; p < TIMING_PARTS; p++)
            if (p <= TIMING_ATOMIC) result += row[p];
            else idle += row[p];
    }
    buf_printf(b, "WarpDivergenceBreakdown: %" PRIu64 " %" PRIu64 " %" PRIu64, idle / LAPSE_TICKS,
               result / LAPSE_TICKS, unit / LAPSE_TICKS);
    for (int k = 0; k < LAPSE_LANE_BINS; k++)
        buf_printf(b, " %" PRIu64, time_lapse_lanes(t, interval)[k] / LAPSE_TICKS);
    buf_puts(b, "\n");
}

static void put_interval(struct buf *b, const struct lapse_launch *l, uint32_t i, uint64_t *issued,
                         uint64_t *total)
{
    const struct time_lapse *t = l->lapse;
    uint64_t hits = 0, misses = 0, busy = 0, waits = 0, ended = 0;
    const double end = (i + 1) * t->interval < t->cycles ? (i + 1) * t->interval : t->cycles;
    for (uint32_t sm = 0; sm < t->sms; sm++) {
        const uint64_t *row = time_lapse_sm(t, i, sm);
        issued[sm] += row[LAPSE_ISSUED];
        *total += row[LAPSE_ISSUED];
        busy += row[TIMING_ISSUE];
        for (int p = 0; p < TIMING_PARTS; p++) waits += p == TIMING_ISSUE ? 0 : row[p];
    }
    for (uint32_t s = 0; s < t->slices; s++) {
        const uint64_t *row = time_lapse_slice(t, i, s);
        misses += row[LAPSE_L2_MISSES];
        hits += row[LAPSE_L2_SECTORS] > row[LAPSE_L2_MISSES]
                    ? row[LAPSE_L2_SECTORS] - row[LAPSE_L2_MISSES]
                    : 0;
    }
    for (size_t k = 0; k < t->cta_count; k++) ended += t->ctas[k].end >= 0 && t->ctas[k].end <= end;
    for (uint32_t c = 0; c < t->channels; c++) {
        const double each = t->interval * config_dram_rate(l->counts->gpu) / t->channels;
        buf_printf(b, "dramutil: %u %.0f\n", c,
                   each > 0 ? 100 * (double)time_lapse_channels(t, i)[c] / LAPSE_TICKS / each : 0);
    }
    if (t->lanes) put_divergence(b, t, i);
    buf_puts(b, "WarpIssueSlotBreakdown:");
    buf_printf(b, " %" PRIu64 " %" PRIu64 "\n", waits / LAPSE_TICKS, busy / LAPSE_TICKS);
    buf_puts(b, "shaderwarpinsncount: ");
    for (uint32_t sm = 0; sm < t->sms; sm++) buf_printf(b, " %" PRIu64, issued[sm] / LAPSE_TICKS);
    buf_printf(b, "\nctas_completed: %" PRIu64 "\n", ended);
    buf_printf(b, "Ltworeadmiss: %" PRIu64 "\nLtworeadhit: %" PRIu64 "\n", misses / LAPSE_TICKS,
               hits / LAPSE_TICKS);
    buf_printf(b, "globalcyclecount: %.0f\nglobaltotinsncount: %" PRIu64 "\n", end,
               *total / LAPSE_TICKS);
}

/* Adds bytes, or the end (`last`), to the compressed file. */
static void deflate_to(struct lapse_file *f, struct buf *plain, bool last)
{
    z_stream *z = f->own;
    unsigned char piece[1 << 14];
    z->next_in = (unsigned char *)plain->data, z->avail_in = (uInt)plain->size;
    do {
        struct buf out = {0};
        z->next_out = piece, z->avail_out = sizeof piece;
        (void)deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
        buf_add(&out, (char *)piece, sizeof piece - z->avail_out);
        lapse_file_add(f, &out);
    } while (!z->avail_out);
    buf_free(plain);
}

static void launch(void *self, const struct lapse_launch *l)
{
    struct lapse_file *f = self;
    uint64_t total = 0, *issued = calloc(l->lapse->sms + 1, sizeof *issued);
    if (!issued) abort();
    for (uint32_t i = 0; i < l->lapse->intervals; i++) {
        struct buf b = {0};
        put_interval(&b, l, i, issued, &total);
        deflate_to(f, &b, false);
    }
    free(issued);
}

struct lapse_sink lapse_aerialvision(struct lapse_file *f)
{
    z_stream *z = calloc(1, sizeof *z);
    if (!z || deflateInit2(z, 6, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) abort();
    f->own = z;
    return (struct lapse_sink){.self = f, .launch = launch};
}

void lapse_aerialvision_end(struct lapse_file *f)
{
    struct buf none = {0};
    if (!f->own) return;
    deflate_to(f, &none, true);
    (void)deflateEnd(f->own);
    free(f->own);
    f->own = NULL;
}
