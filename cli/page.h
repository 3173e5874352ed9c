/* cli/page.h: the HTML page of `heddle report`: one file with all data, styles and scripts in it.
 *
 *     struct page page = {.target = "suite:bfs", .arena = a};
 *     struct lapse_sink sink = page_sink(&page);
 *     ... lapse_read(...) for each run ...
 *     bool ok = page_write(&page, file);
 *
 * The data are one JSON document (docs/formats.md, "heddle-report"), compressed by gzip and written as base64, which the
 * page's script decompresses. So no text of a guest stands in the HTML: kernel names, file names and source lines
 * become text nodes. The page itself is cli/page/ (HTML, CSS, JavaScript), which the build turns into text. */
#ifndef HEDDLE_CLI_PAGE_H
#define HEDDLE_CLI_PAGE_H

#include "cli/lapse.h"

#include "base/buf.h"

#include <stdio.h>

struct advices;
struct arena;

enum {
    PAGE_LAPSES = 12 /* of a run: the longest launches have time lapses, the others numbers only */
};

struct page_launch {
    struct buf numbers, lapse; /* JSON; lapse empty: left out */
    double cycles;
};
struct page_run {
    struct lapse_source source;
    struct buf head;
    struct buf advice;       /* JSON; empty: under an order, which advice does not know */
    struct advices *advices; /* while the run is read; NULL: likewise */
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
    const char **files; /* sources that launches name */
    size_t file_count, file_cap;
};

struct lapse_sink page_sink(struct page *p);
/* The document, as `heddle report --format=json` prints it. */
void page_json(struct page *p, struct buf *out);
void page_put_base64(struct buf *b, const unsigned char *at, size_t n);
bool page_write(struct page *p, FILE *to);
void page_free(struct page *p);

/* Made by the build from the files of cli/page/. */
extern const char page_html[], page_css[], page_js[];
/* Likewise of third_party/uplot/: uPlot, which draws charts, and its licence. */
extern const char uplot_js[], uplot_css[], uplot_license[];

#endif
