/* Warps over time as a Kanata log, version 4, for the pipeline viewer Konata (its docs/kanata-log-format.md).
 *
 * A row ("instruction") is a warp, its thread the SM. Its stages in lane 0 are what it waits for, by the names of the
 * parts of an estimate ("dram", "barrier"), "unit" while the unit is taken, and "issue", whose tooltip is the line of the
 * instruction. "end": it has issued its last instruction, and the CTA waits for what is under way, or for other warps.
 * Times are the model's, rounded down to cycles; a stage that begins in the cycle in which the next one does is left out.
 * Launches follow each other. Runs with more issues than the lapse keeps end with the last that was kept: then their
 * warps are not retired but flushed. */
#include "cli/lapse_outputs.h"

#include "base/buf.h"

#include <inttypes.h>
#include <stdlib.h>

enum event_kind { ROW, STAGE, RETIRE };
enum { STAGE_UNIT = TIMING_PARTS, STAGE_ISSUE, STAGE_END };

struct konata_event {
    uint64_t cycle;
    size_t issue; /* of STAGE_ISSUE */
    uint32_t row; /* of the launch */
    uint8_t kind, stage;
    bool flushed; /* of RETIRE */
};

struct konata_log {
    struct konata_event *list;
    size_t count, cap;
    uint32_t first;  /* rows of the launches before */
    uint64_t cycles; /* likewise */
    uint64_t now, retired;
};

static struct konata_event *add(struct konata_log *k, uint32_t row, enum event_kind kind,
                                double cycle)
{
    if (k->count == k->cap) {
        k->cap = k->cap ? 2 * k->cap : 4096;
        k->list = realloc(k->list, k->cap * sizeof *k->list);
        if (!k->list) abort();
    }
    struct konata_event *e = &k->list[k->count++];
    *e = (struct konata_event){.cycle = (uint64_t)cycle, .row = row, .kind = (uint8_t)kind};
    return e;
}

static void add_stage(struct konata_log *k, uint32_t row, unsigned stage, double from, double to,
                      size_t issue)
{
    if ((uint64_t)to <= (uint64_t)from) return;
    struct konata_event *e = add(k, row, STAGE, from);
    e->stage = (uint8_t)stage;
    e->issue = issue;
}

/* By cycle, and of one cycle as a row needs it: in its order of events. */
static int by_time(const void *x, const void *y)
{
    const struct konata_event *a = x, *b = y;
    if (a->cycle != b->cycle) return a->cycle < b->cycle ? -1 : 1;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return a->issue < b->issue ? -1 : a->issue > b->issue;
}

/* All events of a launch. rows[i]: the first row of CTA i. */
static void collect(struct konata_log *k, const struct time_lapse *t, const uint32_t *rows,
                    uint32_t row_count)
{
    double last = t->cycles, *const at = calloc(row_count + 1u, sizeof *at);
    if (!at) abort();
    if (t->issues_left_out) last = 0;
    for (size_t i = 0; t->issues_left_out && i < t->issue_count; i++)
        if (t->issues[i].end > last) last = t->issues[i].end;
    for (size_t i = 0; i < t->cta_count; i++)
        for (uint32_t w = 0; w < t->ctas[i].warps && t->ctas[i].begin <= last; w++) {
            (void)add(k, rows[i] + w, ROW, t->ctas[i].begin);
            at[rows[i] + w] = t->ctas[i].begin;
        }
    for (size_t i = 0; i < t->issue_count; i++) {
        const struct lapse_issue *s = &t->issues[i];
        const uint32_t row = rows[s->cta] + s->warp;
        add_stage(k, row, s->part, at[row], s->ready, i);
        add_stage(k, row, STAGE_UNIT, s->ready > at[row] ? s->ready : at[row], s->begin, i);
        add_stage(k, row, STAGE_ISSUE, s->begin, s->end < s->begin + 1 ? s->begin + 1 : s->end, i);
        at[row] = s->end < s->begin + 1 ? s->begin + 1 : s->end;
    }
    for (size_t i = 0; i < t->cta_count; i++)
        for (uint32_t w = 0; w < t->ctas[i].warps && t->ctas[i].begin <= last; w++) {
            const uint32_t row = rows[i] + w;
            const bool flushed = t->ctas[i].end < t->ctas[i].begin || t->ctas[i].end > last;
            double end = flushed ? last : t->ctas[i].end;
            if (end < at[row]) end = at[row];
            add_stage(k, row, STAGE_END, at[row], end, t->issue_count);
            add(k, row, RETIRE, end)->flushed = flushed;
        }
    free(at);
}

static const char *stage_name(unsigned stage)
{
    return stage == STAGE_UNIT    ? "unit"
           : stage == STAGE_ISSUE ? "issue"
           : stage == STAGE_END   ? "end"
                                  : timing_part_name((enum timing_part)stage);
}

static void put_row(struct buf *b, const struct lapse_launch *l, uint32_t id, size_t cta,
                    uint32_t warp)
{
    const struct lapse_cta *c = &l->lapse->ctas[cta];
    const uint32_t sm = l->lapse->sm_names[c->sm];
    buf_printf(b, "I\t%u\t%u\t%u\n", id, id, sm);
    buf_printf(b, "L\t%u\t0\tCTA %u, warp %u\n", id, c->linear, warp);
    buf_printf(b, "L\t%u\t1\tlaunch %u, SM %u, slot %u\n", id, l->number, sm, c->slot);
}

static void put_issue(struct buf *b, const struct lapse_launch *l, uint32_t id, size_t issue)
{
    const struct emu_instruction *in =
        &l->counts->instructions[l->lapse->issues[issue].instruction];
    buf_printf(b, "L\t%u\t2\tPTX line %u", id, in->line);
    if (in->source_line) buf_printf(b, ", source line %u", in->source_line);
    buf_puts(b, "\n");
}

/* cta_of[row]: the CTA of a row. */
static void put_events(struct lapse_file *f, struct konata_log *k, const struct lapse_launch *l,
                       const uint32_t *rows, const uint32_t *cta_of)
{
    struct buf b = {0};
    for (size_t i = 0; i < k->count; i++) {
        const struct konata_event *e = &k->list[i];
        const uint32_t id = k->first + e->row;
        const uint64_t cycle = k->cycles + e->cycle;
        if (cycle > k->now) buf_printf(&b, "C\t%" PRIu64 "\n", cycle - k->now);
        k->now = cycle;
        if (e->kind == ROW) put_row(&b, l, id, cta_of[e->row], e->row - rows[cta_of[e->row]]);
        if (e->kind == STAGE) buf_printf(&b, "S\t%u\t0\t%s\n", id, stage_name(e->stage));
        if (e->kind == STAGE && e->stage == STAGE_ISSUE) put_issue(&b, l, id, e->issue);
        if (e->kind == RETIRE)
            buf_printf(&b, "R\t%u\t%" PRIu64 "\t%d\n", id, k->retired++, e->flushed);
        if (b.size > 1 << 16) lapse_file_add(f, &b);
    }
    lapse_file_add(f, &b);
}

static void launch(void *self, const struct lapse_launch *l)
{
    struct lapse_file *f = self;
    const struct time_lapse *t = l->lapse;
    struct konata_log k = {.first = f->items, .cycles = (uint64_t)f->at, .now = (uint64_t)f->at};
    uint32_t count = 0, *rows = calloc(t->cta_count + 1, sizeof *rows);
    for (size_t i = 0; rows && i < t->cta_count; count += t->ctas[i++].warps) rows[i] = count;
    uint32_t *cta_of = calloc(count + 1u, sizeof *cta_of);
    if (!rows || !cta_of) abort();
    for (uint32_t i = 0; i < t->cta_count; i++)
        for (uint32_t w = 0; w < t->ctas[i].warps; w++) cta_of[rows[i] + w] = i;
    k.retired = f->items;
    if (!f->written) {
        struct buf head = {0};
        buf_puts(&head, "Kanata\t0004\nC=\t0\n");
        lapse_file_add(f, &head);
    }
    if (t->issues_left_out)
        fprintf(stderr,
                "heddle report: --konata has the first %zu issues of launch %u; %" PRIu64
                " are left out\n",
                t->issue_count, l->number, t->issues_left_out);
    collect(&k, t, rows, count);
    if (k.count) qsort(k.list, k.count, sizeof *k.list, by_time);
    put_events(f, &k, l, rows, cta_of);
    f->items += count;
    f->at = (double)k.now;
    free(rows);
    free(cta_of);
    free(k.list);
}

struct lapse_sink lapse_konata(struct lapse_file *f)
{
    return (struct lapse_sink){.self = f, .launch = launch};
}
