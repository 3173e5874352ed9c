/* Writes the graph of `heddle communication` as GraphML and Graphviz, and the matrix as SVG. */
#include "cli/communication.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- edges, summed over launches --------------------------------------------------------------- */

struct sum_edge {
    uint32_t from_kernel, from, to_kernel, to;
    uint64_t bytes, supersteps;
};

static int by_ends(const void *x, const void *y)
{
    return memcmp(
        x, y, offsetof(struct sum_edge, bytes)); /* for equality; the order is that of the host */
}

static int by_numbers(const void *x, const void *y)
{
    const uint32_t *a = x, *b = y;
    for (int i = 0; i < 4; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* The count of them; *out belongs to the caller. */
static size_t sum_edges(const struct communication_result *r, struct sum_edge **out)
{
    struct sum_edge *list = calloc(r->edge_count + 1, sizeof *list);
    size_t n = 0, kept = 0;
    if (!list) abort();
    for (size_t i = 0; i < r->edge_count; i++) {
        const struct communication_edge *e = &r->edges[i];
        if (e->from == e->to && r->unit != COMMUNICATION_KERNEL && e->to != COMMUNICATION_SEVERAL)
            continue;
        list[n++] = (struct sum_edge){r->launches[e->from_launch].kernel,
                                      e->from,
                                      r->launches[e->to_launch].kernel,
                                      e->to,
                                      e->bytes,
                                      1};
    }
    if (n) qsort(list, n, sizeof *list, by_numbers);
    for (size_t i = 0; i < n; i++) {
        if (kept && by_ends(&list[kept - 1], &list[i]) == 0) {
            list[kept - 1].bytes += list[i].bytes;
            list[kept - 1].supersteps++;
        } else list[kept++] = list[i];
    }
    *out = list;
    return kept;
}

/* ---- text -------------------------------------------------------------------------------------- */

static void put_escaped(FILE *f, const char *text)
{
    for (; *text; text++) {
        if (*text == '&') fputs("&amp;", f);
        else if (*text == '<') fputs("&lt;", f);
        else if (*text == '>') fputs("&gt;", f);
        else if (*text == '"') fputs("&quot;", f);
        else if ((unsigned char)*text < ' ') fputc('?', f);
        else fputc(*text, f);
    }
}

static void put_id(FILE *f, uint32_t kernel, uint32_t node)
{
    if (node == COMMUNICATION_SEVERAL) fprintf(f, "k%u_several", kernel);
    else fprintf(f, "k%u_%u", kernel, node);
}

/* ---- graphs ------------------------------------------------------------------------------------ */

struct graph_node {
    uint32_t kernel, node;
};

static int by_node(const void *x, const void *y)
{
    const struct graph_node *a = x, *b = y;
    if (a->kernel != b->kernel) return a->kernel < b->kernel ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* The ends of all edges, each once. */
static size_t nodes_of(const struct sum_edge *e, size_t n, struct graph_node **out)
{
    struct graph_node *list = calloc(2 * n + 1, sizeof *list);
    size_t kept = 0;
    if (!list) abort();
    for (size_t i = 0; i < n; i++) {
        list[2 * i] = (struct graph_node){e[i].from_kernel, e[i].from};
        list[2 * i + 1] = (struct graph_node){e[i].to_kernel, e[i].to};
    }
    if (n) qsort(list, 2 * n, sizeof *list, by_node);
    for (size_t i = 0; i < 2 * n; i++)
        if (!kept || by_node(&list[kept - 1], &list[i]) != 0) list[kept++] = list[i];
    *out = list;
    return kept;
}

static void put_node_name(FILE *f, const struct communication_result *r, const struct graph_node *n)
{
    put_escaped(f, r->kernels[n->kernel]);
    if (n->node == COMMUNICATION_SEVERAL) fputs(" several", f);
    else if (r->unit != COMMUNICATION_KERNEL) fprintf(f, " %u", n->node);
}

static void write_dot(FILE *f, const struct communication_result *r, const struct sum_edge *e,
                      size_t count, const struct graph_node *nodes, size_t node_count)
{
    fprintf(f, "digraph communication {\n  node [shape=box];\n");
    for (size_t i = 0; i < node_count; i++) {
        fprintf(f, "  ");
        put_id(f, nodes[i].kernel, nodes[i].node);
        fprintf(f, " [label=\"");
        put_node_name(f, r, &nodes[i]);
        fprintf(f, "\"];\n");
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(f, "  ");
        put_id(f, e[i].from_kernel, e[i].from);
        fprintf(f, " -> ");
        put_id(f, e[i].to_kernel, e[i].to);
        fprintf(f, " [label=\"%" PRIu64 "\", supersteps=%" PRIu64 "];\n", e[i].bytes,
                e[i].supersteps);
    }
    fprintf(f, "}\n");
}

static void write_graphml(FILE *f, const struct communication_result *r, const struct sum_edge *e,
                          size_t count, const struct graph_node *nodes, size_t node_count)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
          "  <key id=\"kernel\" for=\"node\" attr.name=\"kernel\" attr.type=\"string\"/>\n"
          "  <key id=\"index\" for=\"node\" attr.name=\"index\" attr.type=\"string\"/>\n"
          "  <key id=\"bytes\" for=\"edge\" attr.name=\"bytes\" attr.type=\"long\"/>\n"
          "  <key id=\"supersteps\" for=\"edge\" attr.name=\"supersteps\" attr.type=\"long\"/>\n"
          "  <graph edgedefault=\"directed\">\n",
          f);
    for (size_t i = 0; i < node_count; i++) {
        fprintf(f, "    <node id=\"");
        put_id(f, nodes[i].kernel, nodes[i].node);
        fprintf(f, "\"><data key=\"kernel\">");
        put_escaped(f, r->kernels[nodes[i].kernel]);
        fprintf(f, "</data><data key=\"index\">");
        if (nodes[i].node == COMMUNICATION_SEVERAL) fprintf(f, "several");
        else fprintf(f, "%u", nodes[i].node);
        fprintf(f, "</data></node>\n");
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(f, "    <edge source=\"");
        put_id(f, e[i].from_kernel, e[i].from);
        fprintf(f, "\" target=\"");
        put_id(f, e[i].to_kernel, e[i].to);
        fprintf(f,
                "\"><data key=\"bytes\">%" PRIu64 "</data><data key=\"supersteps\">%" PRIu64
                "</data></edge>\n",
                e[i].bytes, e[i].supersteps);
    }
    fputs("  </graph>\n</graphml>\n", f);
}

static bool ends(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

void communication_write_graph(FILE *f, const char *name, const struct communication_result *r)
{
    struct sum_edge *e;
    struct graph_node *nodes;
    const size_t count = sum_edges(r, &e), node_count = nodes_of(e, count, &nodes);
    const bool dot = ends(name, ".dot") || ends(name, ".gv");
    (dot ? write_dot : write_graphml)(f, r, e, count, nodes, node_count);
    free(nodes);
    free(e);
}

/* ---- the matrix -------------------------------------------------------------------------------- */

enum { BINS = 512, LEVELS = 8, SIDE = 512, MARGIN = 48, TOP = 40, MOST_PANELS = 64 };

struct panel {
    uint32_t from_kernel, to_kernel;
    uint32_t rows, columns; /* nodes: writers, readers */
    uint32_t row_bins, column_bins;
    uint64_t *bins; /* bytes */
    uint64_t most;
};

static uint32_t most_nodes(const struct communication_result *r, uint32_t kernel)
{
    uint32_t most = 1;
    for (size_t i = 0; i < r->launch_count; i++)
        if (r->launches[i].kernel == kernel && r->launches[i].nodes > most)
            most = r->launches[i].nodes;
    return most;
}

static void fill(struct panel *p, const struct sum_edge *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (e[i].from_kernel != p->from_kernel || e[i].to_kernel != p->to_kernel ||
            e[i].from == COMMUNICATION_SEVERAL || e[i].to == COMMUNICATION_SEVERAL)
            continue;
        const uint64_t row = (uint64_t)e[i].from * p->row_bins / p->rows,
                       column = (uint64_t)e[i].to * p->column_bins / p->columns;
        uint64_t *bin = &p->bins[row * p->column_bins + column];
        *bin += e[i].bytes;
        if (*bin > p->most) p->most = *bin;
    }
}

/* 1 to LEVELS, by the logarithm; 0: nothing. */
static int level(uint64_t bytes, uint64_t most)
{
    if (!bytes) return 0;
    if (most < 2) return LEVELS;
    const double share = log2((double)bytes) / log2((double)most);
    const int l = 1 + (int)(share * (LEVELS - 1) + 0.5);
    return l > LEVELS ? LEVELS : l;
}

static void write_panel(FILE *f, const struct communication_result *r, const struct panel *p,
                        double left)
{
    const double w = (double)SIDE / p->column_bins, h = (double)SIDE / p->row_bins;
    fprintf(f, "<g transform=\"translate(%g %d)\">\n<text x=\"0\" y=\"-8\">", left, TOP);
    put_escaped(f, r->kernels[p->from_kernel]);
    fputs(" \xe2\x86\x92 ", f);
    put_escaped(f, r->kernels[p->to_kernel]);
    fprintf(
        f,
        "</text>\n<rect width=\"%d\" height=\"%d\" class=\"frame\"/>\n"
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">read by %s 0 to %u</text>\n"
        "<text transform=\"translate(-8 %d) rotate(-90)\" text-anchor=\"middle\">written by %s 0 to "
        "%u</text>\n",
        SIDE, SIDE, SIDE / 2, SIDE + 16, communication_unit_name(r->unit, false), p->columns - 1,
        SIDE / 2, communication_unit_name(r->unit, false), p->rows - 1);
    for (uint32_t y = 0; y < p->row_bins; y++)
        for (uint32_t x = 0, n; x < p->column_bins;
             x += n) { /* equal ones side by side are one rectangle */
            const uint64_t *row = &p->bins[(size_t)y * p->column_bins];
            const int l = level(row[x], p->most);
            for (n = 1; x + n < p->column_bins && level(row[x + n], p->most) == l;) n++;
            if (l)
                fprintf(f, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" class=\"l%d\"/>\n",
                        x * w, y * h, n * w, h, l);
        }
    fprintf(f, "<text x=\"0\" y=\"%d\">darkest: %" PRIu64 " bytes; logarithmic</text>\n</g>\n",
            SIDE + 32, p->most);
}

static size_t make_panels(const struct communication_result *r, const struct sum_edge *e, size_t n,
                          struct panel *panels)
{
    size_t count = 0;
    for (size_t i = 0; i < r->pair_count && count < MOST_PANELS; i++) {
        struct panel p = {.from_kernel = r->pairs[i].from, .to_kernel = r->pairs[i].to};
        p.rows = most_nodes(r, p.from_kernel);
        p.columns = most_nodes(r, p.to_kernel);
        p.row_bins = p.rows < BINS ? p.rows : BINS;
        p.column_bins = p.columns < BINS ? p.columns : BINS;
        p.bins = calloc((size_t)p.row_bins * p.column_bins, sizeof *p.bins);
        if (!p.bins) abort();
        fill(&p, e, n);
        if (p.most) panels[count++] = p;
        else free(p.bins);
    }
    return count;
}

void communication_write_matrix(FILE *f, const struct communication_result *r)
{
    static const char *const colours[LEVELS] = {"#dbe9f6", "#bad6eb", "#89bedc", "#539ecd",
                                                "#2b7bba", "#0b559f", "#08306b", "#041a3b"};
    struct sum_edge *e;
    struct panel panels[MOST_PANELS];
    const size_t n = sum_edges(r, &e), count = make_panels(r, e, n, panels);
    const size_t shown = count ? count : 1;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<style>.frame{fill:#fff;stroke:#888}",
            shown * (SIDE + MARGIN) + MARGIN, SIDE + TOP + 48);
    for (int l = 0; l < LEVELS; l++) fprintf(f, ".l%d{fill:%s}", l + 1, colours[l]);
    fprintf(f, "</style>\n<title>Bytes that %s pass on, by writer and reader</title>\n",
            communication_unit_name(r->unit, true));
    for (size_t i = 0; i < count; i++) {
        write_panel(f, r, &panels[i], (double)MARGIN / 2 + (double)(i * (SIDE + MARGIN)));
        free(panels[i].bins);
    }
    if (!count) fprintf(f, "<text x=\"24\" y=\"40\">nothing is passed on</text>\n");
    fprintf(f, "</svg>\n");
    free(e);
}
