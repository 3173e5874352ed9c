/* Writes the outputs of `heddle reproduce`: index.html, claims.csv, claims.md, a file of data and a figure for each item.
 * Equal numbers give equal bytes. */
#define _GNU_SOURCE
#include "cli/reproduce.h"

#include "base/replace.h"
#include "cli/chart.h"
#include "cli/cli.h"

#include "base/buf.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void put_number(struct buf *b, double x)
{
    if (isnan(x)) return;
    buf_printf(b, fabs(x) >= 1000 ? "%.0f" : fabs(x) < 10 ? "%.3g" : "%.4g", x);
}

static void put_spread(struct buf *b, const struct reproduce_result *x)
{
    if (x->least > x->most) return;
    put_number(b, x->least);
    buf_puts(b, "..");
    put_number(b, x->most);
}

/* A text with the numbers of its formulas, to be freed. */
static char *filled(const struct reproduce *r, const struct reproduce_item *i, const char *text)
{
    struct buf b = {0};
    for (struct piece before, formula; *text;) {
        reproduce_text_take(&text, &before, &formula);
        buf_add(&b, before.text, before.length);
        if (!formula.length) continue;
        const double x = reproduce_formula(r, i, formula, REPRODUCE_NO_TARGET, REPRODUCE_MEDIAN);
        if (isnan(x)) buf_puts(&b, "(failed)");
        else put_number(&b, x);
    }
    buf_putc(&b, '\0');
    return b.data;
}

static bool write_text(const struct reproduce *r, const char *folder, const char *name,
                       const char *suffix, const struct buf *text)
{
    char path[4096];
    struct replacement f;
    snprintf(path, sizeof path, "%s/%s", r->folder, folder);
    if (*folder && mkdir(path, 0777) != 0 && errno != EEXIST) {
        usage_error("reproduce", "cannot make '%s': %s", path, strerror(errno));
        return false;
    }
    snprintf(path, sizeof path, "%s/%s%s%s%s", r->folder, folder, *folder ? "/" : "", name, suffix);
    const bool opened = replacement_open(&f, path);
    const bool ok = opened && fwrite(text->data, 1, text->size, f.out) == text->size;
    if (replacement_close(&f, ok) && ok) return true;
    usage_error("reproduce", "cannot write '%s': %s", path, strerror(errno));
    return false;
}

/* ---- claims.csv --------------------------------------------------------------------------------------- */

static void put_csv(struct buf *b, const char *text)
{
    buf_putc(b, '"');
    for (; *text; text++) {
        if (*text == '"') buf_putc(b, '"');
        buf_putc(b, *text);
    }
    buf_putc(b, '"');
}

static const char claims_head[] = "id,paper,ours,spread,ratio,verdict,why\n";

bool reproduce_is_recorded(const char *csv)
{
    return strncmp(csv, claims_head, strlen(claims_head)) == 0;
}

static void claims_csv(const struct reproduce *r, struct buf *b)
{
    buf_puts(b, claims_head);
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; r->items[i].chosen && k < r->items[i].claim_count; k++) {
            const struct reproduce_item *item = &r->items[i];
            const struct reproduce_claim *c = &item->claims[k];
            const struct reproduce_result x = reproduce_judge(r, item, c);
            buf_printf(b, "%s/%s,%s,", item->id, c->name, c->paper);
            put_number(b, x.ours);
            buf_putc(b, ',');
            put_spread(b, &x);
            buf_putc(b, ',');
            put_number(b, reproduce_ratio(c, x.ours));
            buf_printf(b, ",%s,", reproduce_verdict_names[x.verdict]);
            char *why = filled(r, item, x.verdict == VERDICT_YES ? "" : c->why);
            put_csv(b, why);
            free(why);
            buf_putc(b, '\n');
        }
}

/* ---- data --------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of all numbers that runs of the item have, sorted; for free(). */
static const char **names_of(const struct reproduce *r, const struct reproduce_item *i,
                             size_t *count)
{
    json_t *all = json_object();
    const char *name;
    json_t *x;
    *count = 0;
    for (uint32_t t = 0; t < i->target_count; t++)
        for (uint32_t k = 0; k < i->targets[t].input_count; k++)
            for (uint32_t o = 0; o < i->order_count; o++)
                for (size_t s = 0; s < i->orders[o].seed_count; s++)
                    json_object_update_missing(
                        all, (json_t *)reproduce_numbers(r, i, t, k, o, i->orders[o].seeds[s]));
    const char **names = calloc(json_object_size(all) + 1, sizeof *names);
    if (!names) abort();
    json_object_foreach(all, name, x)
    {
        /* the names belong to the runs' objects as well, whose keys are copies */
        names[(*count)++] = strdup(name);
    }
    json_decref(all);
    qsort(names, *count, sizeof *names, by_name);
    return names;
}

static void data_row(const struct reproduce *r, const struct reproduce_item *i, uint32_t t,
                     uint32_t input, uint32_t o, size_t s, const char **names, size_t n,
                     struct buf *b)
{
    const struct sweep_plan *p = &r->plan;
    const json_t *x = reproduce_numbers(r, i, t, input, o, i->orders[o].seeds[s]);
    put_csv(b, i->targets[t].name);
    buf_printf(b, ",%s,%s,%" PRIu64 ",%s", p->targets[i->targets[t].inputs[input]].name,
               p->orders[i->orders[o].order], i->orders[o].seeds[s], p->gpus[i->gpu]);
    for (size_t k = 0; k < n; k++) {
        const json_t *v = json_object_get(x, names[k]);
        buf_putc(b, ',');
        if (json_is_string(v)) buf_puts(b, json_string_value(v));
        else if (v) buf_printf(b, "%.10g", json_number_value(v));
    }
    buf_putc(b, '\n');
}

static bool write_data(const struct reproduce *r, const struct reproduce_item *i)
{
    struct buf b = {0};
    size_t n;
    const char **names = names_of(r, i, &n);
    buf_puts(&b, "name,target,order,seed,gpu");
    for (size_t k = 0; k < n; k++) buf_printf(&b, ",%s", names[k]);
    buf_putc(&b, '\n');
    for (uint32_t t = 0; t < i->target_count; t++)
        for (uint32_t k = 0; k < i->targets[t].input_count; k++)
            for (uint32_t o = 0; o < i->order_count; o++)
                for (size_t s = 0; s < i->orders[o].seed_count; s++)
                    data_row(r, i, t, k, o, s, names, n, &b);
    const bool ok = write_text(r, "data", i->id, ".csv", &b);
    for (size_t k = 0; k < n; k++) free((char *)names[k]);
    free(names);
    buf_free(&b);
    return ok;
}

/* ---- index.html --------------------------------------------------------------------------------------- */

static const char page_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>heddle reproduce</title>\n"
    "<style>\nbody{font:15px/1.45 sans-serif;margin:24px auto;max-width:1100px;padding:0 12px}\n"
    "table{border-collapse:collapse;margin:8px 0}td,th{border:1px solid #ccc;padding:3px 8px;text-align:left;"
    "vertical-align:top}\ntd.n{text-align:right}\n.yes{background:#cde8cf}.no{background:#fbe3b5}"
    ".sign,.failed{background:#f6c6c0}\nfigure{margin:8px 0;overflow-x:auto}\n</style></head><body>\n"
    "<h1>The papers on GPUDet and DAB, run again</h1>\n";

static void html_claim(const struct reproduce *r, const struct reproduce_item *i,
                       const struct reproduce_claim *c, struct buf *b)
{
    const struct reproduce_result x = reproduce_judge(r, i, c);
    const char *verdict = reproduce_verdict_names[x.verdict];
    buf_printf(b, "<tr><td>%s</td><td>", c->name);
    chart_escape(b, c->says);
    buf_puts(b, "</td><td class=\"n\">");
    chart_escape(b, c->paper);
    buf_puts(b, "</td><td class=\"n\">");
    put_number(b, x.ours);
    buf_puts(b, "</td><td class=\"n\">");
    put_spread(b, &x);
    buf_printf(b, "</td><td class=\"%s\">%s</td><td>", verdict, verdict);
    char *why = filled(r, i, x.verdict == VERDICT_YES ? "" : c->why);
    chart_escape(b, why);
    free(why);
    buf_puts(b, "</td></tr>\n");
}

static void html_table(const struct reproduce *r, const struct reproduce_item *i, struct buf *b)
{
    buf_puts(b, "<table><tr><th></th>");
    for (size_t s = 0; s < i->series_count; s++) {
        buf_puts(b, "<th>");
        chart_escape(b, i->series[s].name);
        buf_puts(b, "</th>");
    }
    buf_puts(b, "</tr>\n");
    for (uint32_t t = 0; t < i->target_count; t++) {
        buf_puts(b, "<tr><td>");
        chart_escape(b, i->targets[t].name);
        buf_puts(b, "</td>");
        for (size_t s = 0; s < i->series_count; s++) {
            buf_puts(b, "<td class=\"n\">");
            put_number(b, reproduce_formula(r, i, i->series[s].formula, t, REPRODUCE_MEDIAN));
            buf_puts(b, "</td>");
        }
        buf_puts(b, "</tr>\n");
    }
    buf_puts(b, "</table>\n");
}

/* "AES is aes_columns, HT is hash_chain.": which workload stands for which program. */
static void put_targets(const struct reproduce *r, const struct reproduce_item *i, struct buf *b)
{
    if (!i->target_count) return;
    buf_printf(b, "GPU: %s. Workloads: ", r->plan.gpus[i->gpu]);
    for (size_t t = 0; t < i->target_count; t++) {
        const struct reproduce_target *x = &i->targets[t];
        const char *name = r->plan.targets[*x->inputs].name;
        chart_escape(b, x->name);
        buf_printf(b, " is %s", strncmp(name, "suite:", 6) == 0 ? name + 6 : name);
        if (x->input_count > 1) buf_printf(b, " and %u more", x->input_count - 1);
        buf_puts(b, t + 1 < i->target_count ? ", " : ".\n");
    }
}

static void html_item(const struct reproduce *r, const struct reproduce_item *i, struct buf *b)
{
    buf_printf(b, "<h2 id=\"%s\">", i->id);
    chart_escape(b, i->title);
    buf_puts(b, "</h2>\n<p>");
    chart_escape(b, i->place);
    buf_printf(b, ". <a href=\"data/%s.csv\">Data</a>.</p>\n<p>", i->id);
    char *text = filled(r, i, i->text);
    chart_escape(b, text);
    free(text);
    buf_puts(b, "</p>\n");
    put_targets(r, i, b);
    if (i->series_count) {
        buf_puts(b, "<figure>\n");
        reproduce_svg(r, i, b);
        buf_puts(b, "</figure>\n");
        html_table(r, i, b);
    }
    for (size_t k = 0; k < i->lapse_count; k++)
        buf_printf(b, "<figure>\n%s</figure>\n", i->lapses[k].svg ? i->lapses[k].svg : "");
    if (!i->claim_count) return;
    buf_puts(b, "<table><tr><th>Claim</th><th>The paper says</th><th>Paper</th><th>Here</th>"
                "<th>Of one seed</th><th>Verdict</th><th>Why</th></tr>\n");
    for (size_t k = 0; k < i->claim_count; k++) html_claim(r, i, &i->claims[k], b);
    buf_puts(b, "</table>\n");
}

/* ---- claims.md ---------------------------------------------------------------------------------------- */

/* A field of a table of Markdown. */
static void put_markdown(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (strchr("|<>*_", *text)) buf_putc(b, '\\');
        buf_putc(b, *text);
    }
}

static void markdown_item(const struct reproduce *r, const struct reproduce_item *i, struct buf *b)
{
    bool any = false;
    buf_printf(b, "\n## %s (%s)\n\n`heddle reproduce %s`\n", i->title, i->place, i->id);
    char *text = filled(r, i, i->text);
    if (*text) buf_printf(b, "\n%s\n", text);
    free(text);
    if (i->target_count) buf_putc(b, '\n');
    put_targets(r, i, b);
    if (i->series_count) buf_printf(b, "\n![%s](figures/%s.svg)\n", i->title, i->id);
    for (size_t k = 0; k < i->lapse_count; k++)
        buf_printf(b, "\n![%s: %s](figures/%s-%s.svg)\n", i->title, i->lapses[k].name, i->id,
                   i->lapses[k].name);
    if (!i->claim_count) return;
    buf_puts(
        b,
        "\n| Claim | The paper says | Paper | Here | Of one seed | Verdict |\n|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < i->claim_count; k++) {
        const struct reproduce_claim *c = &i->claims[k];
        const struct reproduce_result x = reproduce_judge(r, i, c);
        buf_printf(b, "| %s | ", c->name);
        put_markdown(b, c->says);
        buf_puts(b, " | ");
        put_markdown(b, c->paper);
        buf_puts(b, " | ");
        put_number(b, x.ours);
        buf_puts(b, " | ");
        put_spread(b, &x);
        buf_printf(b, " | %s |\n", reproduce_verdict_names[x.verdict]);
    }
    for (size_t k = 0; k < i->claim_count; k++) {
        const struct reproduce_claim *c = &i->claims[k];
        if (!*c->why || reproduce_judge(r, i, c).verdict == VERDICT_YES) continue;
        char *why = filled(r, i, c->why);
        buf_printf(b, "%s* %s: %s\n", any ? "" : "\n", c->name, why);
        free(why);
        any = true;
    }
}

static void count_verdicts(const struct reproduce *r, size_t counts[VERDICTS])
{
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; r->items[i].chosen && k < r->items[i].claim_count; k++)
            counts[reproduce_judge(r, &r->items[i], &r->items[i].claims[k]).verdict]++;
}

static void put_summary(const struct reproduce *r, struct buf *b)
{
    size_t counts[VERDICTS] = {0};
    count_verdicts(r, counts);
    buf_printf(
        b, "%zu of %zu claims: yes; %zu: no, %zu: the other sign, %zu: failed", counts[VERDICT_YES],
        counts[VERDICT_YES] + counts[VERDICT_NO] + counts[VERDICT_SIGN] + counts[VERDICT_FAILED],
        counts[VERDICT_NO], counts[VERDICT_SIGN], counts[VERDICT_FAILED]);
}

static const char markdown_head[] =
    "# GPUDet and DAB: what their papers claim, and what Heddle measures\n\n"
    "`heddle reproduce` writes this page (`make claims`). It compares `--order gpudet` ([gpudet.md](gpudet.md)) and\n"
    "`--order dab` ([dab.md](dab.md)) with the papers that proposed them:\n\n"
    "* GPUDet: H. Jooybar, master's thesis, University of British Columbia, 2013 (and ASPLOS 2013);\n"
    "* DAB: Y. H. Chou and others, *Deterministic Atomic Buffering*, MICRO 2020.\n\n"
    "Both papers report times of a simulator, which is not public. The times here are estimates of Heddle's timing model\n"
    "([estimate.md](estimate.md)); nothing was fitted to the papers' results. The workloads are those of\n"
    "[workloads.md](workloads.md), not the programs of the papers; each section names them. NONDET, a GPU without an order, is\n"
    "the median of seeds 1 to 5 of `random:strategy=uniform`; \"of one seed\" is the range when each seed stands alone.\n\n"
    "A ratio of times agrees (*yes*) if its overhead or gain, the ratio less 1, is within a third of the paper's; a\n"
    "number that the paper gives as a range or bound agrees inside of it; counts agree within 10 %, with other\n"
    "tolerances where noted. *sign*: the paper has a gain where Heddle has a loss, or the reverse. *no*: the sign agrees,\n"
    "the size does not.\n\n";

/* ---- all ---------------------------------------------------------------------------------------------- */

/* figures/ITEM.svg and figures/ITEM-NAME.svg */
static bool write_figures(const struct reproduce *r, const struct reproduce_item *item)
{
    struct buf svg = {0};
    bool ok = true;
    reproduce_svg(r, item, &svg);
    if (svg.size) ok = write_text(r, "figures", item->id, ".svg", &svg);
    for (size_t k = 0; k < item->lapse_count && ok; k++) {
        const struct reproduce_lapse *l = &item->lapses[k];
        char suffix[120];
        buf_free(&svg);
        buf_puts(&svg, l->svg ? l->svg : "");
        snprintf(suffix, sizeof suffix, "-%s.svg", l->name);
        if (svg.size) ok = write_text(r, "figures", item->id, suffix, &svg);
    }
    buf_free(&svg);
    return ok;
}

bool reproduce_write(const struct reproduce *r)
{
    struct buf csv = {0}, html = {0}, markdown = {0};
    bool ok = true;
    claims_csv(r, &csv);
    buf_puts(&html, page_head);
    buf_puts(&html, "<p>");
    put_summary(r, &html);
    buf_puts(&html, ". <a href=\"claims.csv\">claims.csv</a></p>\n");
    buf_puts(&markdown, markdown_head);
    put_summary(r, &markdown);
    buf_puts(&markdown, ".\n");
    for (size_t i = 0; i < r->count && ok; i++) {
        const struct reproduce_item *item = &r->items[i];
        if (!item->chosen) continue;
        html_item(r, item, &html);
        markdown_item(r, item, &markdown);
        ok = write_figures(r, item) && write_data(r, item);
    }
    buf_puts(&html, "</body></html>\n");
    ok = ok && write_text(r, "", "claims", ".csv", &csv) &&
         write_text(r, "", "claims", ".md", &markdown) &&
         write_text(r, "", "index", ".html", &html);
    buf_free(&csv);
    buf_free(&html);
    buf_free(&markdown);
    return ok;
}

void reproduce_print(const struct reproduce *r)
{
    struct buf b = {0};
    buf_printf(&b, "%-40s %10s %8s %14s  %s\n", "", "paper", "here", "of one seed", "verdict");
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; r->items[i].chosen && k < r->items[i].claim_count; k++) {
            const struct reproduce_item *item = &r->items[i];
            const struct reproduce_claim *c = &item->claims[k];
            const struct reproduce_result x = reproduce_judge(r, item, c);
            struct buf ours = {0}, spread = {0};
            char name[200];
            buf_puts(&ours, "");
            buf_puts(&spread, "");
            put_number(&ours, x.ours);
            put_spread(&spread, &x);
            snprintf(name, sizeof name, "%s/%s", item->id, c->name);
            buf_printf(&b, "%-40s %10s %8s %14s  %s\n", name, c->paper, ours.data, spread.data,
                       reproduce_verdict_names[x.verdict]);
            buf_free(&ours);
            buf_free(&spread);
        }
    put_summary(r, &b);
    buf_putc(&b, '\n');
    fputs(b.data, stdout);
    buf_free(&b);
}
