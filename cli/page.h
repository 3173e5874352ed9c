/* cli/page.h: the HTML page of `heddle report`: one file with all data, styles and scripts in it.
 *
 *     struct page page = {.target = "suite:bfs", .arena = a};
 *     struct lapse_sink sink = page_sink(&page);
 *     ... lapse_read(...) for each run ...
 *     bool ok = page_write(&page, file);
 *
 * The data are one JSON document (docs/formats.md, "heddle-report"), compressed by gzip and encoded as base64, which the
 * page's script decompresses. So the HTML contains no text of a guest: kernel names, file names and source lines become
 * text nodes. cli/page/ has the HTML, CSS and JavaScript of the page; the build compiles these files into the program. */
#ifndef HEDDLE_CLI_PAGE_H
#define HEDDLE_CLI_PAGE_H

#include "cli/lapse.h"

#include "base/buf.h"

#include <stdio.h>

struct advices;
struct arena;

enum {
    PAGE_LAPSES = 12 /* only so many launches of a run, the longest ones, have time lapses */
};

struct page_launch {
    struct buf numbers, lapse; /* JSON; lapse empty: no time lapse */
    double cycles;
};
struct page_run {
    struct lapse_source source;
    struct buf head;
    struct buf advice; /* JSON; empty: the run is under an order, for which there is no advice */
    struct advices *advices; /* while the run is read; NULL: there is no advice */
    struct page_launch *launches;
    size_t count, cap;
};
struct page {
    struct arena *arena;
    const char *target, *command; /* as the user wrote them */
    /* JSON documents of `heddle check`, `heddle run --check race` and `heddle communication`; NULL: not asked for */
    const char *check, *races, *communication;
    struct page_run *runs;
    size_t count, cap;
    const char **files; /* source files that launches name */
    size_t file_count, file_cap;
};

struct lapse_sink page_sink(struct page *p);
/* Appends the document that `heddle report --format=json` prints. */
void page_json(struct page *p, struct buf *out);
void page_put_base64(struct buf *b, const unsigned char *at, size_t n);
bool page_write(struct page *p, FILE *to);
void page_free(struct page *p);

/* The build generates these from the files of cli/page/. */
extern const char page_html[], page_css[], page_js[];
/* Generated from third_party/uplot/: uPlot, which draws charts, and its licence. */
extern const char uplot_js[], uplot_css[], uplot_license[];

#endif
