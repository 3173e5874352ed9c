/* Bins of 2^n ticks, merged in pairs when the run is longer than all of them. */
#include "model/issue_bins.h"

#include <string.h>

typedef uint64_t u64;

void issue_bins_begin(struct issue_bins *b)
{
    *b = (struct issue_bins){.shift = ISSUE_TICK_BITS};
}

static void halve(struct issue_bins *b)
{
    for (unsigned i = 0; i < ISSUE_BINS / 2; i++)
        b->ticks[i] = b->ticks[2 * i] + b->ticks[2 * i + 1];
    memset(b->ticks + ISSUE_BINS / 2, 0, sizeof b->ticks / 2);
    b->shift++;
}

void issue_bins_add_span(struct issue_bins *b, u64 from, u64 to)
{
    if (to <= from) return;
    while ((to - 1) >> b->shift >= ISSUE_BINS) halve(b);
    for (u64 bin = from >> b->shift; from < to; bin++) {
        const u64 behind = (bin + 1) << b->shift, end = behind < to ? behind : to;
        b->ticks[bin] += end - from;
        from = end;
    }
}

void issue_bins_columns(const struct issue_bins *b, double cycles, uint32_t schedulers,
                        uint16_t share[ISSUE_COLUMNS])
{
    const double width = cycles * (1 << ISSUE_TICK_BITS) /
                         ISSUE_COLUMNS, /* of a column, in ticks */
        each = (double)((u64)1 << b->shift);
    for (unsigned k = 0; k < ISSUE_COLUMNS; k++) {
        const double from = k * width, to = from + width;
        double busy = 0;
        for (unsigned i = (unsigned)(from / each); i < ISSUE_BINS && i * each < to; i++) {
            const double low = i * each > from ? i * each : from,
                         high = (i + 1) * each < to ? (i + 1) * each : to;
            if (high > low) busy += (double)b->ticks[i] * ((high - low) / each);
        }
        const double part = width > 0 && schedulers ? busy / (width * schedulers) : 0;
        share[k] = (uint16_t)((part < 1 ? part : 1) * UINT16_MAX + 0.5);
    }
}
