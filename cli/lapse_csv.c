/* The time lapse as CSV: for each run, launch and interval a row for each SM, L2 slice and DRAM channel that had
 * anything to do, for each number of active lanes that had instructions (unit "lanes", index 4: 1 to 4 lanes, 8: 5 to 8), and a row with the sums of the launch. Cycles are exact: the rows of an SM sum to its row "all". */
#include "cli/lapse_outputs.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

/* What the rows of a launch have in common. */
struct rows {
    struct lapse_file *file;
    struct buf *out; /* on its way to the file: 100 MB of rows must not lie in memory at once */
    const struct lapse_launch *of;
    struct buf start;  /* "run,gpu,order,launch,kernel," */
    uint64_t interval; /* cycles: a whole number */
};

/* "sm,3,1024," The longest row has LAPSE_SM_COLUMNS numbers and two more. */
enum { PIECE_BYTES = 1 << 16, MOST_ROW = (LAPSE_SM_COLUMNS + 8) * (LAPSE_TICKS_TEXT + 1) };
static char *start_text(char *to, const struct rows *r, const char *kind, uint32_t index,
                        int64_t interval)
{
    while (*kind) *to++ = *kind++;
    *to++ = ',';
    to = lapse_number_text(to, index);
    *to++ = ',';
    if (interval >= 0) to = lapse_number_text(to, (uint64_t)interval * r->interval);
    else *to++ = 'a', *to++ = 'l', *to++ = 'l';
    *to++ = ',';
    return to;
}

static void put_row(const struct rows *r, char *row, char *end)
{
    *end++ = '\n';
    buf_add(r->out, r->start.data, r->start.size);
    buf_add(r->out, row, (size_t)(end - row));
    if (r->out->size > PIECE_BYTES) lapse_file_add(r->file, r->out);
}

static void put_sm(const struct rows *r, uint32_t sm, int64_t interval, const uint64_t *numbers)
{
    char row[MOST_ROW], *to = start_text(row, r, "sm", r->of->lapse->sm_names[sm], interval);
    for (unsigned k = 0; k < LAPSE_SM_COLUMNS; k++) {
        to = lapse_ticks_text(to, numbers[k]);
        *to++ = ',';
    }
    *to++ = ',', *to++ = ',';
    put_row(r, row, to);
}

static void put_memory(const struct rows *r, const char *kind, uint32_t index, int64_t interval,
                       uint64_t sectors, uint64_t misses, uint64_t waited)
{
    char row[MOST_ROW], *to = start_text(row, r, kind, index, interval);
    for (unsigned k = 0; k < LAPSE_SM_COLUMNS; k++) *to++ = ',';
    to = lapse_ticks_text(to, sectors);
    *to++ = ',';
    to = lapse_ticks_text(to, misses);
    *to++ = ',';
    put_row(r, row, lapse_ticks_text(to, waited));
}

static bool any(const uint64_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (row[i]) return true;
    return false;
}

static void put_sms(const struct rows *r)
{
    const struct time_lapse *t = r->of->lapse;
    for (uint32_t sm = 0; sm < t->sms; sm++) {
        uint64_t sum[LAPSE_SM_COLUMNS] = {0};
        for (uint32_t i = 0; i < t->intervals; i++) {
            const uint64_t *row = time_lapse_sm(t, i, sm);
            for (unsigned k = 0; k < LAPSE_SM_COLUMNS; k++) sum[k] += row[k];
            if (any(row, LAPSE_SM_COLUMNS)) put_sm(r, sm, i, row);
        }
        put_sm(r, sm, -1, sum);
    }
}

static void put_slices(const struct rows *r)
{
    const struct time_lapse *t = r->of->lapse;
    for (uint32_t s = 0; s < t->slices; s++) {
        uint64_t sum[LAPSE_SLICE_COLUMNS] = {0};
        for (uint32_t i = 0; i < t->intervals; i++) {
            const uint64_t *row = time_lapse_slice(t, i, s);
            for (unsigned k = 0; k < LAPSE_SLICE_COLUMNS; k++) sum[k] += row[k];
            if (any(row, LAPSE_SLICE_COLUMNS)) put_memory(r, "l2", s, i, row[0], row[1], row[2]);
        }
        put_memory(r, "l2", s, -1, sum[0], sum[1], sum[2]);
    }
}

static void put_channels(const struct rows *r)
{
    const struct time_lapse *t = r->of->lapse;
    for (uint32_t c = 0; c < t->channels; c++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < t->intervals; i++) {
            const uint64_t sectors = time_lapse_channels(t, i)[c];
            sum += sectors;
            if (sectors) put_memory(r, "dram", c, i, sectors, 0, 0);
        }
        put_memory(r, "dram", c, -1, sum, 0, 0);
    }
}

static void put_lane_row(const struct rows *r, unsigned bin, int64_t interval, uint64_t issued)
{
    char row[MOST_ROW], *to = start_text(row, r, "lanes", (bin + 1) * LAPSE_BIN_LANES, interval);
    for (unsigned k = 0; k < LAPSE_SM_COLUMNS; k++) {
        if (k == LAPSE_ISSUED) to = lapse_ticks_text(to, issued);
        *to++ = ',';
    }
    *to++ = ',', *to++ = ',';
    put_row(r, row, to);
}

static void put_lanes(const struct rows *r)
{
    const struct time_lapse *t = r->of->lapse;
    for (unsigned bin = 0; t->lanes && bin < LAPSE_LANE_BINS; bin++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < t->intervals; i++) {
            const uint64_t issued = time_lapse_lanes(t, i)[bin];
            sum += issued;
            if (issued) put_lane_row(r, bin, i, issued);
        }
        put_lane_row(r, bin, -1, sum);
    }
}

static void launch(void *self, const struct lapse_launch *l)
{
    struct lapse_file *f = self;
    struct buf b = {0};
    struct rows r = {.file = f, .out = &b, .of = l, .interval = (uint64_t)l->lapse->interval};
    buf_printf(&r.start, "%u,%s,%s,%u,%s,", l->run->number, l->counts->gpu->name,
               l->run->order ? l->run->order : l->counts->order, l->number, l->counts->kernel);
    put_sms(&r);
    put_slices(&r);
    put_channels(&r);
    put_lanes(&r);
    buf_free(&r.start);
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
