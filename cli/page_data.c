/* Makes the JSON document of a page. Whole numbers and sums of cycles are exact. The values of a heat map are quantised to
 * one byte for each cell and encoded as base64, with the value that 255 stands for. */
#include "cli/page.h"

#include "cli/advise.h"

#include "base/arena.h"
#include "emu/gpu.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void page_put_base64(struct buf *b, const unsigned char *at, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const unsigned x = (unsigned)at[i] << 16 | (left > 1 ? (unsigned)at[i + 1] << 8 : 0) |
                           (left > 2 ? at[i + 2] : 0);
        buf_putc(b, digits[x >> 18]);
        buf_putc(b, digits[x >> 12 & 63]);
        buf_putc(b, left > 1 ? digits[x >> 6 & 63] : '=');
        buf_putc(b, left > 2 ? digits[x & 63] : '=');
    }
}

static void put_key(struct buf *b, const char *key)
{
    buf_printf(b, "%s\"%s\":", b->size && !strchr("{[", b->data[b->size - 1]) ? "," : "", key);
}

static void put_real(struct buf *b, const char *key, double x)
{
    put_key(b, key);
    buf_printf(b, "%.10g", x);
}

static void put_whole(struct buf *b, const char *key, uint64_t x)
{
    put_key(b, key);
    buf_printf(b, "%" PRIu64, x);
}

static void put_string(struct buf *b, const char *key, const char *text)
{
    put_key(b, key);
    lapse_put_json(b, text);
}

/* ---- cells of a heat map --------------------------------------------------------------------------------- */

struct cells { /* a number for each row and interval */
    const struct time_lapse *lapse;
    uint32_t rows;
    double (*value)(const struct time_lapse *l, uint32_t interval, uint32_t row, unsigned which);
    unsigned which;
    const uint64_t *ticks; /* row after row, in place of `value`; NULL: there are none */
};

static double of_sm(const struct time_lapse *l, uint32_t interval, uint32_t sm, unsigned which)
{
    return (double)time_lapse_sm(l, interval, sm)[which] / (l->interval * LAPSE_TICKS);
}

/* Active lanes of an instruction, in the mean; 0 where none is issued. */
static double lanes_of_sm(const struct time_lapse *l, uint32_t interval, uint32_t sm,
                          unsigned which)
{
    const uint64_t *x = time_lapse_sm(l, interval, sm);
    (void)which;
    return x[LAPSE_ISSUED] ? (double)x[LAPSE_THREADS] / (double)x[LAPSE_ISSUED] : 0;
}

static double of_slice(const struct time_lapse *l, uint32_t interval, uint32_t slice,
                       unsigned which)
{
    return (double)time_lapse_slice(l, interval, slice)[which] / (l->interval * LAPSE_TICKS);
}

static double of_channel(const struct time_lapse *l, uint32_t interval, uint32_t channel,
                         unsigned which)
{
    (void)which;
    return (double)time_lapse_channels(l, interval)[channel] / (l->interval * LAPSE_TICKS);
}

static double value_of(const struct cells *c, uint32_t interval, uint32_t row)
{
    const struct time_lapse *l = c->lapse;
    if (!c->ticks) return c->value(l, interval, row, c->which);
    return (double)c->ticks[(size_t)row * l->intervals + interval] / (l->interval * LAPSE_TICKS);
}

/* {"most": what 255 stands for, "cells": row after row}; nothing where all are 0. */
static void put_cells(struct buf *b, const char *key, const struct cells *c)
{
    const struct time_lapse *l = c->lapse;
    const size_t n = (size_t)c->rows * l->intervals;
    unsigned char *cells = malloc(n + 1);
    double most = 0;
    if (!cells) abort();
    for (uint32_t i = 0; i < l->intervals; i++)
        for (uint32_t r = 0; r < c->rows; r++) {
            const double x = value_of(c, i, r);
            if (x > most) most = x;
        }
    for (uint32_t r = 0; most > 0 && r < c->rows; r++)
        for (uint32_t i = 0; i < l->intervals; i++)
            cells[(size_t)r * l->intervals + i] = (unsigned char)(255 * value_of(c, i, r) / most +
                                                                  0.5);
    if (most > 0) {
        put_key(b, key);
        buf_puts(b, "{");
        put_real(b, "most", most);
        put_whole(b, "rows", c->rows);
        put_key(b, "cells");
        buf_putc(b, '"');
        page_put_base64(b, cells, n);
        buf_puts(b, "\"}");
    }
    free(cells);
}

/* ---- the time lapse of a launch ---------------------------------------------------------------------------- */

/* Sums over all SMs by interval. */
static void put_sums(struct buf *b, const struct time_lapse *l)
{
    put_key(b, "sums");
    buf_putc(b, '{');
    for (unsigned k = 0; k < LAPSE_SM_COLUMNS; k++) {
        uint64_t any = 0;
        const size_t before = b->size;
        put_key(b, lapse_column_name(k));
        buf_putc(b, '[');
        for (uint32_t i = 0; i < l->intervals; i++) {
            uint64_t sum = 0;
            for (uint32_t sm = 0; sm < l->sms; sm++) sum += time_lapse_sm(l, i, sm)[k];
            any |= sum;
            if (i) buf_putc(b, ',');
            lapse_put_ticks(b, sum);
        }
        buf_putc(b, ']');
        if (!any) b->size = before;
    }
    buf_putc(b, '}');
}

static void put_memory_sums(struct buf *b, const struct time_lapse *l)
{
    static const char *const names[] = {"l2_sectors", "l2_misses", "dram_sectors"};
    for (unsigned k = 0; k < 3; k++) {
        put_key(b, names[k]);
        buf_putc(b, '[');
        for (uint32_t i = 0; i < l->intervals; i++) {
            uint64_t sum = 0;
            for (uint32_t s = 0; k < 2 && s < l->slices; s++) sum += time_lapse_slice(l, i, s)[k];
            for (uint32_t s = 0; k == 2 && s < l->channels; s++)
                sum += time_lapse_channels(l, i)[s];
            if (i) buf_putc(b, ',');
            lapse_put_ticks(b, sum);
        }
        buf_putc(b, ']');
    }
}

/* Warp instructions by active lanes: 1 to 4, 5 to 8, ... 29 to 32; for each a list by interval. */
static void put_lane_bins(struct buf *b, const struct time_lapse *l)
{
    put_key(b, "lane_bins");
    buf_putc(b, '[');
    for (unsigned k = 0; l->lanes && k < LAPSE_LANE_BINS; k++) {
        buf_puts(b, k ? ",[" : "[");
        for (uint32_t i = 0; i < l->intervals; i++) {
            if (i) buf_putc(b, ',');
            lapse_put_ticks(b, time_lapse_lanes(l, i)[k]);
        }
        buf_putc(b, ']');
    }
    buf_putc(b, ']');
}

static void put_events(struct buf *b, const struct time_lapse *l)
{
    enum { MOST = 20000 };
    put_key(b, "ctas");
    buf_putc(b, '[');
    for (size_t i = 0; i < l->cta_count && i < MOST; i++)
        buf_printf(b, "%s[%u,%u,%.2f,%.2f]", i ? "," : "", l->ctas[i].linear, l->ctas[i].sm,
                   l->ctas[i].begin, l->ctas[i].end);
    buf_putc(b, ']');
    put_whole(b, "cta_count", l->cta_count);
    put_key(b, "modes");
    buf_putc(b, '[');
    for (size_t i = 0; i < l->span_count && i < MOST; i++)
        buf_printf(b, "%s[\"%s\",%u,%u,%.2f,%.2f]", i ? "," : "", lapse_mode_name(l->spans[i].mode),
                   l->spans[i].sm, l->spans[i].sms, l->spans[i].begin, l->spans[i].end);
    buf_putc(b, ']');
    put_whole(b, "mode_count", l->span_count + l->spans_left_out);
}

/* ---- hot lines over time ----------------------------------------------------------------------------------- */

enum { HOT_LINES = 64 };
struct hot_line { /* a source line, or one of the PTX where there is none */
    const char *file;
    uint32_t line;
    uint64_t issued; /* times LAPSE_TICKS */
};
struct hot_lines {
    struct hot_line *list; /* those with most issues, in the order of the source */
    uint32_t count;
    uint64_t *issued; /* of each, by interval */
};

static struct hot_line place_of(const struct lapse_launch *x, size_t i)
{
    const struct emu_instruction *n = &x->counts->instructions[i];
    if (n->file && n->source_line) return (struct hot_line){n->file, n->source_line, 0};
    return (struct hot_line){n->module ? n->module : "", n->line, 0};
}

static int hot_by_place(const void *a, const void *b)
{
    const struct hot_line *x = a, *y = b;
    const int files = strcmp(x->file, y->file);
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

static int hot_first(const void *a, const void *b)
{
    const struct hot_line *x = a, *y = b;
    return x->issued != y->issued ? (x->issued < y->issued) - (x->issued > y->issued)
                                  : hot_by_place(a, b);
}

static void find_hot_lines(struct hot_lines *h, const struct lapse_launch *x)
{
    const struct time_lapse *l = x->lapse;
    h->list = calloc((size_t)l->instructions + 1, sizeof *h->list);
    if (!h->list) abort();
    for (uint32_t k = 0; k < l->instructions; k++) {
        h->list[k] = place_of(x, k);
        for (uint32_t i = 0; i < l->intervals; i++) h->list[k].issued += time_lapse_issues(l, i)[k];
    }
    qsort(h->list, l->instructions, sizeof *h->list, hot_by_place);
    for (uint32_t k = 0; k < l->instructions; k++) {
        const uint32_t n = h->count;
        if (n && hot_by_place(&h->list[n - 1], &h->list[k]) == 0)
            h->list[n - 1].issued += h->list[k].issued;
        else h->list[h->count++] = h->list[k];
    }
    qsort(h->list, h->count, sizeof *h->list, hot_first);
    if (h->count > HOT_LINES) h->count = HOT_LINES;
    while (h->count && !h->list[h->count - 1].issued) h->count--;
    qsort(h->list, h->count, sizeof *h->list, hot_by_place);
}

static void count_hot_lines(struct hot_lines *h, const struct lapse_launch *x)
{
    const struct time_lapse *l = x->lapse;
    h->issued = calloc((size_t)h->count * l->intervals + 1, sizeof *h->issued);
    if (!h->issued) abort();
    for (uint32_t k = 0; k < l->instructions && h->count; k++) {
        const struct hot_line own = place_of(x, k),
                              *hot = bsearch(&own, h->list, h->count, sizeof own, hot_by_place);
        if (!hot) continue;
        uint64_t *to = h->issued + (size_t)(hot - h->list) * l->intervals;
        for (uint32_t i = 0; i < l->intervals; i++) to[i] += time_lapse_issues(l, i)[k];
    }
}

static void put_hot_lines(struct buf *b, const struct hot_lines *h)
{
    put_key(b, "hot_lines");
    buf_putc(b, '[');
    for (uint32_t k = 0; k < h->count; k++) {
        if (k) buf_putc(b, ',');
        buf_putc(b, '{');
        put_string(b, "file", h->list[k].file);
        put_whole(b, "line", h->list[k].line);
        put_key(b, "issued");
        lapse_put_ticks(b, h->list[k].issued);
        buf_putc(b, '}');
    }
    buf_putc(b, ']');
}

static void put_lapse(struct buf *b, const struct lapse_launch *x)
{
    const struct time_lapse *l = x->lapse;
    buf_putc(b, '{');
    put_real(b, "interval", l->interval);
    put_key(b, "coarser");
    buf_puts(b, l->coarser ? "true" : "false");
    put_whole(b, "intervals", l->intervals);
    put_real(b, "cycles", l->cycles);
    put_real(b, "scale", x->whole->scale);
    put_real(b, "drain", x->whole->drain);
    put_whole(b, "schedulers", l->schedulers);
    put_key(b, "sms");
    buf_putc(b, '[');
    for (uint32_t sm = 0; sm < l->sms; sm++) buf_printf(b, "%s%u", sm ? "," : "", l->sm_names[sm]);
    buf_putc(b, ']');
    put_sums(b, l);
    put_memory_sums(b, l);
    put_lane_bins(b, l);
    struct hot_lines hot = {0};
    find_hot_lines(&hot, x);
    count_hot_lines(&hot, x);
    put_hot_lines(b, &hot);
    put_key(b, "maps");
    buf_putc(b, '{');
    for (unsigned k = 0; k < LAPSE_SM_COLUMNS; k++)
        put_cells(b, lapse_column_name(k), &(struct cells){l, l->sms, of_sm, k, NULL});
    put_cells(b, "lanes", &(struct cells){l, l->sms, lanes_of_sm, 0, NULL});
    put_cells(b, "l2_sectors", &(struct cells){l, l->slices, of_slice, LAPSE_L2_SECTORS, NULL});
    put_cells(b, "l2_misses", &(struct cells){l, l->slices, of_slice, LAPSE_L2_MISSES, NULL});
    put_cells(b, "l2_queue", &(struct cells){l, l->slices, of_slice, LAPSE_L2_WAITED, NULL});
    put_cells(b, "dram_sectors", &(struct cells){l, l->channels, of_channel, 0, NULL});
    put_cells(b, "lines", &(struct cells){l, hot.count, NULL, 0, hot.issued});
    buf_putc(b, '}');
    free(hot.list);
    free(hot.issued);
    put_events(b, l);
    buf_putc(b, '}');
}

/* ---- lines of the source ------------------------------------------------------------------------------------- */

struct line { /* sums over the instructions of one line */
    const char *file;
    uint32_t line;
    uint64_t warp, thread, divergent, accesses, bytes, sectors, shared, passes, collisions, l1,
        l1_hits;
    uint64_t ticks[TIMING_PARTS];
};

static int by_place(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    const int files = strcmp(x->file, y->file);
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

static struct line line_of(const struct lapse_launch *x, size_t i)
{
    const struct emu_instruction *n = &x->counts->instructions[i];
    const bool source = n->file && n->source_line;
    struct line l = {.file = source      ? n->file
                             : n->module ? n->module
                                         : "",
                     .line = source ? n->source_line : n->line,
                     .warp = n->warp,
                     .thread = n->thread,
                     .divergent = n->divergent,
                     .accesses = n->accesses,
                     .bytes = n->bytes,
                     .sectors = n->sectors,
                     .shared = n->shared,
                     .passes = n->passes,
                     .collisions = n->collisions,
                     .l1 = n->cache.l1,
                     .l1_hits = n->cache.l1_hits};
    memcpy(l.ticks, x->lapse->line_ticks + i * TIMING_PARTS, sizeof l.ticks);
    return l;
}

static void add_line(struct line *to, const struct line *x)
{
    to->warp += x->warp, to->thread += x->thread, to->divergent += x->divergent;
    to->accesses += x->accesses, to->bytes += x->bytes, to->sectors += x->sectors;
    to->shared += x->shared, to->passes += x->passes, to->collisions += x->collisions;
    to->l1 += x->l1, to->l1_hits += x->l1_hits;
    for (int p = 0; p < TIMING_PARTS; p++) to->ticks[p] += x->ticks[p];
}

static void put_line(struct buf *b, const struct line *l)
{
    buf_putc(b, '{');
    put_string(b, "file", l->file);
    put_whole(b, "line", l->line);
    const struct {
        const char *key;
        uint64_t x;
    } all[] = {{"warp", l->warp},
               {"thread", l->thread},
               {"divergent", l->divergent},
               {"accesses", l->accesses},
               {"bytes", l->bytes},
               {"sectors", l->sectors},
               {"shared", l->shared},
               {"passes", l->passes},
               {"collisions", l->collisions},
               {"l1", l->l1},
               {"l1_hits", l->l1_hits}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].x) put_whole(b, all[i].key, all[i].x);
    put_key(b, "parts");
    buf_putc(b, '{');
    for (int p = 0; p < TIMING_PARTS; p++) {
        if (!l->ticks[p]) continue;
        put_key(b, timing_part_name((enum timing_part)p));
        lapse_put_ticks(b, l->ticks[p]);
    }
    buf_puts(b, "}}");
}

static void name_file(struct page *p, const char *file)
{
    for (size_t i = 0; i < p->file_count; i++)
        if (strcmp(p->files[i], file) == 0) return;
    p->files = arena_grow(p->arena, p->files, p->file_count, &p->file_cap, p->file_count + 1,
                          sizeof *p->files);
    p->files[p->file_count++] = arena_copy(p->arena, file, strlen(file));
}

static void put_lines(struct page *p, struct buf *b, const struct lapse_launch *x)
{
    const size_t n = x->counts->instruction_count;
    struct line *all = calloc(n + 1, sizeof *all);
    size_t count = 0;
    if (!all) abort();
    for (size_t i = 0; i < n; i++)
        if (x->counts->instructions[i].warp) all[count++] = line_of(x, i);
    qsort(all, count, sizeof *all, by_place);
    put_key(b, "lines");
    buf_putc(b, '[');
    for (size_t i = 0; i < count;) {
        struct line sum = all[i];
        size_t k = i + 1;
        for (; k < count && by_place(&all[i], &all[k]) == 0; k++) add_line(&sum, &all[k]);
        if (i) buf_putc(b, ',');
        put_line(b, &sum);
        name_file(p, sum.file);
        i = k;
    }
    buf_putc(b, ']');
    free(all);
}

/* ---- launches ------------------------------------------------------------------------------------------------- */

static void put_size(struct buf *b, const char *key, const uint32_t n[3])
{
    put_key(b, key);
    buf_printf(b, "[%u,%u,%u]", n[0], n[1], n[2]);
}

static void put_parts(struct buf *b, const struct launch_estimate *t)
{
    put_key(b, "parts");
    buf_putc(b, '{');
    for (int p = 0; p < TIMING_PARTS; p++)
        if (t->part[p] > 0) put_real(b, timing_part_name((enum timing_part)p), t->part[p]);
    buf_putc(b, '}');
    put_key(b, "units");
    buf_putc(b, '{');
    for (int u = 0; u < TIMING_UNITS; u++)
        if (t->by_unit[u] > 0) put_real(b, timing_unit_name((enum timing_unit)u), t->by_unit[u]);
    buf_putc(b, '}');
}

static void put_occupancy(struct buf *b, const struct emu_counts *c)
{
    put_key(b, "occupancy");
    buf_putc(b, '{');
    put_whole(b, "ctas", c->occupancy.ctas);
    put_whole(b, "warps", c->occupancy.warps);
    put_whole(b, "registers", c->occupancy.registers);
    put_whole(b, "shared", c->shared);
    put_string(b, "limit", emu_limit_name(c->occupancy.limit));
    put_whole(b, "waves", c->waves);
    put_whole(b, "most_warps", c->gpu->warps);
    buf_putc(b, '}');
}

static void put_numbers(struct buf *b, const struct emu_counts *c)
{
    put_key(b, "order_numbers");
    buf_putc(b, '{');
    for (size_t i = 0; i < c->number_count; i++) {
        put_key(b, "");
        b->size -= 3; /* "": */
        lapse_put_json(b, c->numbers[i].name);
        buf_printf(b, ":%" PRIu64, c->numbers[i].value);
    }
    buf_putc(b, '}');
}

static void put_launch(struct page *p, struct buf *b, const struct lapse_launch *x)
{
    const struct launch_estimate *t = x->estimate;
    const struct emu_counts *c = x->counts;
    buf_putc(b, '{');
    put_whole(b, "number", x->number);
    put_string(b, "kernel", c->kernel);
    put_size(b, "grid", c->grid);
    put_size(b, "block", c->block);
    put_string(b, "execution", c->execution);
    put_real(b, "cycles", t->cycles);
    put_real(b, "us", t->seconds * 1e6);
    put_real(b, "begin_us", x->begin * 1e6);
    if (t->high > 0) {
        put_real(b, "low", t->low);
        put_real(b, "high", t->high);
    }
    put_string(b, "most", timing_part_name(t->bound));
    put_real(b, "ipc", t->ipc);
    put_whole(b, "warp_instructions", t->warp_instructions);
    put_whole(b, "thread_instructions", t->thread_instructions);
    put_real(b, "dram_bytes", t->dram_bytes);
    put_real(b, "intensity", t->roofline.intensity);
    put_real(b, "performance", t->roofline.performance);
    put_real(b, "roof", t->roofline.roof);
    put_parts(b, t);
    put_occupancy(b, c);
    put_numbers(b, c);
    put_key(b, "warnings");
    buf_putc(b, '[');
    for (unsigned bit = 1, n = 0; bit < 1u << LAUNCH_WARNINGS; bit *= 2)
        if (t->warnings & bit) {
            if (n++) buf_putc(b, ',');
            lapse_put_json(b, launch_warning_text(bit));
        }
    buf_putc(b, ']');
    put_lines(p, b, x);
}

static void launch(void *self, const struct lapse_launch *x)
{
    struct page *p = self;
    struct page_run *r = &p->runs[p->count - 1];
    r->launches = arena_grow(p->arena, r->launches, r->count, &r->cap, r->count + 1,
                             sizeof *r->launches);
    struct page_launch *l = &r->launches[r->count++];
    *l = (struct page_launch){.cycles = x->estimate->cycles};
    if (r->count == 1) {
        const struct emu_gpu *g = x->counts->gpu;
        put_string(&r->head, "order", r->source.order ? r->source.order : x->counts->order);
        if (!r->source.gpu) put_string(&r->head, "file", r->source.trace);
        put_string(&r->head, "gpu", g->name);
        put_string(&r->head, "title", g->title);
        put_whole(&r->head, "sms", x->counts->sms);
        put_real(&r->head, "mhz", g->core_mhz);
    }
    if (strcmp(x->counts->order, "native") == 0) {
        if (!r->advices) r->advices = arena_alloc(p->arena, sizeof *r->advices);
        r->advices->arena = p->arena;
        advices_add_launch(r->advices, x->counts);
    }
    put_launch(p, &l->numbers, x);
    put_lapse(&l->lapse, x);
}

static void begin(void *self, const struct lapse_source *run)
{
    struct page *p = self;
    p->runs = arena_grow(p->arena, p->runs, p->count, &p->cap, p->count + 1, sizeof *p->runs);
    p->runs[p->count++] = (struct page_run){.source = *run};
}

static int longest_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Only the longest launches keep their time lapse. */
static void end(void *self, const struct lapse_source *run)
{
    struct page *p = self;
    struct page_run *r = &p->runs[p->count - 1];
    (void)run;
    if (r->advices) { /* it names texts of the file that is being read */
        advices_sort(r->advices);
        advices_put_json(r->advices, &r->advice);
        r->advices = NULL;
    }
    if (r->count <= PAGE_LAPSES) return;
    double *cycles = malloc(r->count * sizeof *cycles);
    if (!cycles) abort();
    for (size_t i = 0; i < r->count; i++) cycles[i] = r->launches[i].cycles;
    qsort(cycles, r->count, sizeof *cycles, longest_first);
    const double least = cycles[PAGE_LAPSES - 1];
    size_t kept = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->launches[i].cycles < least || kept++ >= PAGE_LAPSES) buf_free(&r->launches[i].lapse);
    free(cycles);
}

struct lapse_sink page_sink(struct page *p)
{
    return (struct lapse_sink){p, begin, launch, end};
}

/* ---- the document ---------------------------------------------------------------------------------------------- */

/* The lines of a source file as a list; nothing where it cannot be read. */
static void put_file(struct buf *b, const char *path)
{
    enum { MOST = 4 << 20 };
    struct buf text = {0};
    if (buf_add_file(&text, path, MOST) && text.data && !memchr(text.data, 0, text.size)) {
        put_key(b, "");
        b->size -= 3;
        lapse_put_json(b, path);
        buf_puts(b, ":[");
        char *line = text.data;
        for (size_t n = 0; line; n++) {
            char *next = strchr(line, '\n');
            if (next) *next++ = '\0';
            if (n) buf_putc(b, ',');
            lapse_put_json(b, line);
            line = next && *next ? next : NULL;
        }
        buf_putc(b, ']');
    }
    buf_free(&text);
}

static void put_run(struct buf *b, const struct page_run *r)
{
    buf_putc(b, '{');
    buf_add(b, r->head.data ? r->head.data : "", r->head.size);
    if (r->advice.size) {
        put_key(b, "advice");
        buf_add(b, r->advice.data, r->advice.size);
    }
    put_key(b, "launches");
    buf_putc(b, '[');
    for (size_t i = 0; i < r->count; i++) {
        const struct page_launch *l = &r->launches[i];
        if (i) buf_putc(b, ',');
        buf_add(b, l->numbers.data, l->numbers.size);
        put_key(b, "lapse");
        if (l->lapse.size) buf_add(b, l->lapse.data, l->lapse.size);
        else buf_puts(b, "null");
        buf_putc(b, '}');
    }
    buf_puts(b, "]}");
}

void page_json(struct page *p, struct buf *out)
{
    buf_putc(out, '{');
    put_string(out, "format", "heddle-report");
    put_whole(out, "version", 1);
    put_string(out, "heddle", HEDDLE_VERSION);
    put_string(out, "target", p->target);
    put_string(out, "command", p->command);
    put_key(out, "runs");
    buf_putc(out, '[');
    for (size_t i = 0; i < p->count; i++) {
        if (i) buf_putc(out, ',');
        put_run(out, &p->runs[i]);
    }
    buf_putc(out, ']');
    put_key(out, "files");
    buf_putc(out, '{');
    for (size_t i = 0; i < p->file_count; i++) put_file(out, p->files[i]);
    buf_putc(out, '}');
    if (p->check) {
        put_key(out, "check");
        buf_puts(out, p->check);
    }
    if (p->races) {
        put_key(out, "races");
        buf_puts(out, p->races);
    }
    if (p->communication) {
        put_key(out, "communication");
        buf_puts(out, p->communication);
    }
    buf_putc(out, '}');
}

void page_free(struct page *p)
{
    for (size_t r = 0; r < p->count; r++) {
        buf_free(&p->runs[r].head);
        buf_free(&p->runs[r].advice);
        for (size_t i = 0; i < p->runs[r].count; i++) {
            buf_free(&p->runs[r].launches[i].numbers);
            buf_free(&p->runs[r].launches[i].lapse);
        }
    }
}
