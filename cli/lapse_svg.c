/* The time lapse as a figure for papers: of each run its longest launch, all below each other on one axis of time. A
 * panel has a row for each SM, darker where it issued more instructions per cycle, and a vertical line where a quantum
 * begins, as figures 5.1 to 5.4 of Jooybar's thesis; red marks above are commit modes and flushes. Below is what
 * schedulers did, stacked. */
#include "cli/lapse_outputs.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 60, WIDTH = 880, TALLEST = 320, STACK = 90, GAP = 44, COLUMNS = 440, SHADES = 32 };

struct panel {
    struct buf body; /* with the top of the panel at 0 */
    double cycles, height;
};
struct figure {
    struct panel *panels; /* one for each run */
    uint32_t count;
    double longest;
};

static const char *colour_of(int part)
{
    static const char *const colours[TIMING_PARTS] = {
        [TIMING_ISSUE] = "#0072b2",  [TIMING_UNIT] = "#56b4e9",    [TIMING_LATENCY] = "#88ccee",
        [TIMING_L1] = "#117733",     [TIMING_L2] = "#999933",      [TIMING_DRAM] = "#d55e00",
        [TIMING_SHARED] = "#44aa99", [TIMING_ATOMIC] = "#cc79a7",  [TIMING_BARRIER] = "#f0e442",
        [TIMING_FETCH] = "#aa4499",  [TIMING_IDLE] = "#dddddd",    [TIMING_START] = "#bbbbbb",
        [TIMING_LOG] = "#ddcc77",    [TIMING_QUANTUM] = "#e69f00", [TIMING_COMMIT] = "#882255",
        [TIMING_SERIAL] = "#cc3311", [TIMING_TURN] = "#ddaa33",    [TIMING_FULL] = "#ee8866",
        [TIMING_FLUSH] = "#aa3377"};
    return colours[part];
}

static void put_text(struct buf *b, double x, double y, const char *anchor, const char *text)
{
    buf_printf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *text; text++)
        if (*text == '<') buf_puts(b, "&lt;");
        else if (*text == '&') buf_puts(b, "&amp;");
        else if ((unsigned char)*text >= 32) buf_putc(b, *text);
    buf_puts(b, "</text>\n");
}

/* Instructions per cycle of the SM in the intervals of a column. */
static double issued_in(const struct time_lapse *t, uint32_t sm, uint32_t from, uint32_t to)
{
    uint64_t sum = 0;
    for (uint32_t i = from; i < to; i++) sum += time_lapse_sm(t, i, sm)[LAPSE_ISSUED];
    return (double)sum / ((to - from) * t->interval * LAPSE_TICKS);
}

static uint32_t columns_of(const struct time_lapse *t)
{
    return t->intervals < COLUMNS ? t->intervals : COLUMNS;
}

static uint32_t first_of(const struct time_lapse *t, uint32_t column)
{
    return (uint32_t)((uint64_t)column * t->intervals / columns_of(t));
}

/* Neighbours of one shade are one rectangle. `scale`: pixels of a cycle, to be set when all runs are known, so
 * coordinates are cycles here. */
static void put_cells(struct buf *b, const struct time_lapse *t, double height)
{
    const uint32_t n = columns_of(t);
    double most = 0;
    for (uint32_t sm = 0; sm < t->sms; sm++)
        for (uint32_t x = 0; x < n; x++)
            most = fmax(most, issued_in(t, sm, first_of(t, x), first_of(t, x + 1)));
    for (uint32_t sm = 0; sm < t->sms; sm++) {
        for (uint32_t x = 0, end; x < n; x = end) {
            const int shade = (int)(SHADES * issued_in(t, sm, first_of(t, x), first_of(t, x + 1)) /
                                        (most > 0 ? most : 1) +
                                    0.5);
            for (end = x + 1;
                 end < n &&
                 shade == (int)(SHADES * issued_in(t, sm, first_of(t, end), first_of(t, end + 1)) /
                                    (most > 0 ? most : 1) +
                                0.5);)
                end++;
            if (!shade) continue;
            buf_printf(
                b,
                "<rect x=\"%.0f\" y=\"%.2f\" width=\"%.0f\" height=\"%.2f\" fill=\"#%02x%02x%02x\"/>\n",
                first_of(t, x) * t->interval, sm * height / t->sms,
                (first_of(t, end) - first_of(t, x)) * t->interval, height / t->sms,
                255 - shade * 247 / SHADES, 255 - shade * 226 / SHADES, 255 - shade * 167 / SHADES);
        }
    }
}

static void put_stack(struct buf *b, const struct time_lapse *t, double top)
{
    const uint32_t n = columns_of(t);
    for (uint32_t x = 0; x < n; x++) {
        uint64_t sum[TIMING_PARTS] = {0}, all = 0;
        double y = top + STACK;
        for (uint32_t i = first_of(t, x); i < first_of(t, x + 1); i++)
            for (uint32_t sm = 0; sm < t->sms; sm++)
                for (int p = 0; p < TIMING_PARTS; p++) sum[p] += time_lapse_sm(t, i, sm)[p];
        for (int p = 0; p < TIMING_PARTS; p++) all += sum[p];
        for (int p = 0; p < TIMING_PARTS && all; p++) {
            const double h = STACK * (double)sum[p] / (double)all;
            if (h < 0.05) continue;
            y -= h;
            buf_printf(b,
                       "<rect x=\"%.0f\" y=\"%.2f\" width=\"%.0f\" height=\"%.2f\" fill=\"%s\"/>\n",
                       first_of(t, x) * t->interval, y,
                       (first_of(t, x + 1) - first_of(t, x)) * t->interval, h, colour_of(p));
        }
    }
}

static void put_modes(struct buf *b, const struct time_lapse *t)
{
    for (size_t i = 0; i < t->span_count; i++) {
        const struct lapse_span *s = &t->spans[i];
        if (s->mode == LAPSE_PARALLEL || s->sm) continue;
        buf_printf(b, "<rect x=\"%.1f\" y=\"-6\" width=\"%.1f\" height=\"5\" fill=\"%s\"/>\n",
                   s->begin, fmax(s->end - s->begin, t->cycles / WIDTH / 2),
                   colour_of(s->mode == LAPSE_COMMIT   ? TIMING_COMMIT
                             : s->mode == LAPSE_SERIAL ? TIMING_SERIAL
                                                       : TIMING_FLUSH));
    }
}

/* A line for each begin of a parallel mode; of those that would touch, the first. */
static void put_quanta(struct buf *b, const struct time_lapse *t, double height)
{
    double last = -INFINITY;
    for (size_t i = 0; i < t->span_count; i++) {
        const struct lapse_span *s = &t->spans[i];
        if (s->mode != LAPSE_PARALLEL || s->begin - last < 2 * t->cycles / WIDTH) continue;
        last = s->begin;
        buf_printf(b,
                   "<path d=\"M%.1f 0v%.1f\" stroke=\"#cc3311\" stroke-width=\"0.6\" "
                   "vector-effect=\"non-scaling-stroke\"/>\n",
                   s->begin, height);
    }
}

static void launch(void *self, const struct lapse_launch *l)
{
    struct figure *f = ((struct lapse_file *)self)->own;
    struct panel *p = &f->panels[f->count - 1];
    const struct time_lapse *t = l->lapse;
    char title[512];
    if (t->cycles <= p->cycles || !t->intervals) return;
    buf_free(&p->body);
    const double height = fmin(TALLEST, fmax(60, 6.0 * t->sms));
    p->cycles = t->cycles, p->height = height + STACK + GAP + 24;
    if (t->cycles > f->longest) f->longest = t->cycles;
    snprintf(title, sizeof title, "%s, %s: %s, launch %u, %.0f cycles, %u of %u SMs",
             l->counts->gpu->name, l->run->order ? l->run->order : l->counts->order,
             l->counts->kernel, l->number, l->estimate->cycles, t->sms, l->counts->sms);
    put_text(&p->body, 0, -12, "start", title);
    put_text(&p->body, -8, height / 2, "end", "SMs");
    put_text(&p->body, -8, height + 10 + STACK / 2.0, "end", "parts");
    buf_puts(&p->body, "<g transform=\"scale(@,1)\" shape-rendering=\"crispEdges\">\n");
    put_modes(&p->body, t);
    put_cells(&p->body, t, height);
    put_quanta(&p->body, t, height);
    put_stack(&p->body, t, height + 10);
    buf_puts(&p->body, "</g>\n");
}

static void begin(void *self, const struct lapse_source *run)
{
    struct figure *f = ((struct lapse_file *)self)->own;
    (void)run;
    f->panels = realloc(f->panels, (f->count + 1) * sizeof *f->panels);
    if (!f->panels) abort();
    f->panels[f->count++] = (struct panel){.cycles = 0};
}

struct lapse_sink lapse_svg(struct lapse_file *f)
{
    f->own = calloc(1, sizeof(struct figure));
    if (!f->own) abort();
    return (struct lapse_sink){.self = f, .begin = begin, .launch = launch};
}

static void put_axis(struct buf *b, double longest, double y)
{
    double step = pow(10, floor(log10(longest / 8)));
    while (longest / step > 10) step *= longest / step > 50 ? 5 : 2;
    for (int k = 0; k * step <= longest; k++) {
        const double x = k * step;
        char text[32];
        snprintf(text, sizeof text, "%.0f", x);
        buf_printf(b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#888\"/>\n",
                   LEFT + x * WIDTH / longest, LEFT + x * WIDTH / longest, y, y + 4);
        put_text(b, LEFT + x * WIDTH / longest, y + 16, "middle", text);
    }
    put_text(b, LEFT + WIDTH, y + 32, "end", "cycles of the SM");
}

static void put_legend(struct buf *b, double y)
{
    for (int p = 0; p < TIMING_PARTS; p++) {
        const int line = p / 8;
        const double x = LEFT + p % 8 * 112, row = y + line * 16;
        buf_printf(b, "<rect x=\"%.0f\" y=\"%.0f\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", x,
                   row, colour_of(p));
        put_text(b, x + 14, row + 9, "start", timing_part_name((enum timing_part)p));
    }
}

void lapse_svg_end(struct lapse_file *f)
{
    struct figure *g = f->own;
    struct buf b = {0};
    if (!g) return;
    double y = 36;
    for (uint32_t i = 0; i < g->count; i++) y += g->panels[i].height;
    buf_printf(
        &b,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
        "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        LEFT + WIDTH + 20, y + 90);
    y = 36;
    for (uint32_t i = 0; i < g->count; i++) {
        struct panel *p = &g->panels[i];
        if (!p->body.size) continue;
        buf_printf(&b, "<g transform=\"translate(%d,%.0f)\">\n", LEFT, y);
        char *scale = strchr(p->body.data, '@'); /* kernels' names have none */
        while (scale && strncmp(scale - 6, "scale(@,1)", 10) != 0) scale = strchr(scale + 1, '@');
        if (scale) {
            buf_add(&b, p->body.data, (size_t)(scale - p->body.data));
            buf_printf(&b, "%.9g%s", WIDTH / g->longest, scale + 1);
        }
        buf_puts(&b, "</g>\n");
        y += p->height;
        buf_free(&p->body);
    }
    if (g->longest > 0) put_axis(&b, g->longest, y - GAP);
    put_legend(&b, y);
    buf_puts(&b, "</svg>\n");
    lapse_file_add(f, &b);
    free(g->panels);
    free(g);
    f->own = NULL;
}
