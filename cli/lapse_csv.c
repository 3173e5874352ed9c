/* The time lapse as CSV: for each run, launch and interval a row for each SM, L2 slice and DRAM channel that had
 * anything to do, and a row with the sums of the launch. Cycles are exact: the rows of an SM sum to its row "all". */
#include "cli/lapse_outputs.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

static void put_start(struct buf *b, const struct lapse_launch *l, const char *kind, uint32_t index,
                      int64_t interval)
{
    buf_printf(b, "%u,%s,%s,%u,%s,%s,%u,", l->run->number, l->counts->gpu->name,
               l->run->order ? l->run->order : l->counts->order, l->number, l->counts->kernel, kind,
               index);
    if (interval < 0) buf_puts(b, "all,");
    else buf_printf(b, "%.0f,", (double)interval * l->lapse->interval);
}

static void put_sm(struct buf *b, const struct lapse_launch *l, uint32_t sm, int64_t interval,
                   const uint64_t *row)
{
    put_start(b, l, "sm", l->lapse->sm_names[sm], interval);
    for (unsigned k = 0; k < LAPSE_SM_COLUMNS; k++) {
        lapse_put_ticks(b, row[k]);
        buf_putc(b, ',');
    }
    buf_puts(b, ",,\n");
}

static void put_memory(struct buf *b, const struct lapse_launch *l, const char *kind,
                       uint32_t index, int64_t interval, uint64_t sectors, uint64_t misses,
                       uint64_t waited)
{
    put_start(b, l, kind, index, interval);
    for (unsigned k = 0; k < LAPSE_SM_COLUMNS; k++) buf_putc(b, ',');
    lapse_put_ticks(b, sectors);
    buf_putc(b, ',');
    lapse_put_ticks(b, misses);
    buf_putc(b, ',');
    lapse_put_ticks(b, waited);
    buf_putc(b, '\n');
}

static bool any(const uint64_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (row[i]) return true;
    return false;
}

static void put_sms(struct buf *b, const struct lapse_launch *l)
{
    const struct time_lapse *t = l->lapse;
    for (uint32_t sm = 0; sm < t->sms; sm++) {
        uint64_t sum[LAPSE_SM_COLUMNS] = {0};
        for (uint32_t i = 0; i < t->intervals; i++) {
            const uint64_t *row = time_lapse_sm(t, i, sm);
            for (unsigned k = 0; k < LAPSE_SM_COLUMNS; k++) sum[k] += row[k];
            if (any(row, LAPSE_SM_COLUMNS)) put_sm(b, l, sm, i, row);
        }
        put_sm(b, l, sm, -1, sum);
    }
}

static void put_slices(struct buf *b, const struct lapse_launch *l)
{
    const struct time_lapse *t = l->lapse;
    for (uint32_t s = 0; s < t->slices; s++) {
        uint64_t sum[LAPSE_SLICE_COLUMNS] = {0};
        for (uint32_t i = 0; i < t->intervals; i++) {
            const uint64_t *row = time_lapse_slice(t, i, s);
            for (unsigned k = 0; k < LAPSE_SLICE_COLUMNS; k++) sum[k] += row[k];
            if (any(row, LAPSE_SLICE_COLUMNS)) put_memory(b, l, "l2", s, i, row[0], row[1], row[2]);
        }
        put_memory(b, l, "l2", s, -1, sum[0], sum[1], sum[2]);
    }
}

static void put_channels(struct buf *b, const struct lapse_launch *l)
{
    const struct time_lapse *t = l->lapse;
    for (uint32_t c = 0; c < t->channels; c++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < t->intervals; i++) {
            const uint64_t sectors = time_lapse_channels(t, i)[c];
            sum += sectors;
            if (sectors) put_memory(b, l, "dram", c, i, sectors, 0, 0);
        }
        put_memory(b, l, "dram", c, -1, sum, 0, 0);
    }
}

static void launch(void *self, const struct lapse_launch *l)
{
    struct lapse_file *f = self;
    struct buf b = {0};
    put_sms(&b, l);
    put_slices(&b, l);
    put_channels(&b, l);
    lapse_file_add(f, &b);
}

struct lapse_sink lapse_csv(struct lapse_file *f)
{
    struct buf b = {0};
    buf_puts(&b, "run,gpu,order,launch,kernel,unit,index,cycle,");
    for (unsigned k = 0; k < LAPSE_SM_COLUMNS; k++) buf_printf(&b, "%s,", lapse_column_name(k));
    buf_puts(&b, "sectors,misses,waited\n");
    lapse_file_add(f, &b);
    return (struct lapse_sink){.self = f, .launch = launch};
}
