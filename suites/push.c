/* PageRank and betweenness by pushing. All that is added up is positive, so no order of the additions can
 * take a result farther from the exact one than the roundings, one by one, allow. */
#include "suites/graph.h"
#include "suites/suite.h"

#include <math.h>
#include <string.h>

#define NONE UINT32_MAX

/* The edges turned around. */
static void turn(const struct graph *g, uint32_t *row, uint32_t *column)
{
    memset(row, 0, (g->nodes + (size_t)2) * sizeof *row);
    uint32_t *next = row + 1; /* becomes the row's end while it is filled */
    for (size_t i = 0; i < g->edges; i++) next[g->column[i] + (size_t)1]++;
    for (size_t v = 1; v <= g->nodes; v++) next[v] += next[v - 1];
    for (uint32_t v = 0; v < g->nodes; v++)
        for (size_t i = g->row[v]; i < g->row[v + 1]; i++) column[next[g->column[i]]++] = v;
}

static uint32_t most(const uint32_t *row, uint32_t nodes)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < nodes; v++)
        if (row[v + 1] - row[v] > n) n = row[v + 1] - row[v];
    return n;
}

/* Each result has passed through that many roundings at most, each of 2^-24 of it, and a little more. */
static void verify(struct suite_context *ctx, const char *what, const float *got,
                   const double *want, size_t n, double roundings)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double off = fabs((double)got[i] - want[i]);
        if (!(off <= ldexp(roundings, -24) * 1.5 * want[i]))
            suite_fail(ctx, "%s[%zu] is %.9g, should be near %.9g", what, i, (double)got[i],
                       want[i]);
        if (want[i] > 0 && off / want[i] > worst) worst = off / want[i];
    }
    suite_note(ctx, "at most %.3g of a result from the exact ones", worst);
}

struct device_graph {
    struct graph *g;
    uint32_t *back_row, *back_column;
    CUdeviceptr row, column, back, back_columns;
    unsigned blocks;
    double in, out; /* the most edges into a node and out of one */
};

static struct device_graph upload(struct suite_context *ctx, struct graph *g)
{
    struct device_graph d = {0};
    d.g = g;
    d.blocks = (unsigned)suite_blocks(g->nodes, 256);
    d.back_row = suite_host(ctx, uint32_t, g->nodes + (size_t)2);
    d.back_column = suite_host(ctx, uint32_t, g->edges);
    turn(g, d.back_row, d.back_column);
    d.row = suite_upload(ctx, g->row, (g->nodes + (size_t)1) * sizeof *g->row);
    d.column = suite_upload(ctx, g->column, g->edges * sizeof *g->column);
    d.back = suite_upload(ctx, d.back_row, (g->nodes + (size_t)1) * sizeof *d.back_row);
    d.back_columns = suite_upload(ctx, d.back_column, g->edges * sizeof *d.back_column);
    d.in = most(d.back_row, g->nodes);
    d.out = most(g->row, g->nodes);
    return d;
}

static struct device_graph start(struct suite_context *ctx, size_t edges_of_node)
{
    return upload(ctx, graph_for(ctx, 13, edges_of_node << suite_pick(ctx, 13, 17, 17)));
}

static void free_graph(void *g)
{
    graph_free(g);
}

/* The graphs of DAB's table II. They are not shipped: these have the same numbers of nodes and edges, and are
 * generated. `near` of 1000 edges go to one of the next `reach` nodes, the others anywhere: the more do, the more levels a
 * search has. These numbers were chosen so that atomics per instruction come near those of the table, where uniform graphs do not.
 * Products that are bought together (amazon0302) are neighbours in both directions. */
static const struct paper_graph {
    uint32_t nodes, edges, near, reach;
    uint32_t sources; /* that betweenness is computed from: nodes 0, 1, 2... */
    bool back;        /* half of the near edges go to one of the nodes before */
    bool web;         /* graph_web() with a site, see make_site() */
} paper_graphs[] = {
    {1024, 131072, 0, 0, 4, false, false},      {2048, 1048576, 0, 0, 2, false, false},
    {10617, 72176, 996, 64, 2, false, false},   {13356, 120238, 999, 64, 2, false, false},
    {262111, 1234877, 999, 32, 1, true, false}, {325557, 3216152, 0, 0, 1, false, true},
    {299067, 1955352, 0, 0, 1, false, false},
};

/* Of the crawl cnr-2000 nodes 0 to 4 reach only 311 nodes, in nine levels. So the first nodes link to each other alone:
 * each to two others, which make a tree of nine levels, and to nodes before it. */
static void make_site(struct graph *g, struct suite_random *r)
{
    enum { SITE = 311, CHILDREN = 2 };
    for (uint32_t v = 0; v < SITE && v < g->nodes; v++)
        for (uint32_t i = 0; i < g->row[v + 1] - g->row[v]; i++) {
            const uint32_t child = CHILDREN * v + 1 + i;
            g->column[g->row[v] + i] = i < CHILDREN && child < SITE ? child
                                                                    : suite_random_below(r, v + 1);
        }
}

static struct graph *paper_graph(struct suite_context *ctx, const struct paper_graph *p)
{
    struct suite_random r = suite_random(ctx->seed + 1);
    struct graph *g = (p->web ? graph_web : graph_uniform)(p->nodes, p->edges, ctx->seed);
    if (!g) suite_fail(ctx, "out of memory");
    suite_at_end(ctx, free_graph, g);
    for (uint32_t v = 0; v < g->nodes && p->near; v++)
        for (size_t i = g->row[v]; i < g->row[v + 1]; i++)
            if (suite_random_below(&r, 1000) < p->near) {
                const uint32_t way = 1 + suite_random_below(&r, p->reach);
                const bool back = p->back && i % 2;
                g->column[i] = (v + (back ? g->nodes - way : way)) % g->nodes;
            }
    if (p->web) make_site(g, &r);
    return g;
}

static struct graph *graph_of_paper(struct suite_context *ctx, size_t which)
{
    return ctx->graph ? graph_for(ctx, 13, 0) : paper_graph(ctx, &paper_graphs[which]);
}

void suite_run_pagerank(struct suite_context *ctx)
{
    enum { COAUTHORS = 6 };
    /* the named input: the graph of DAB's table II */
    struct device_graph d = suite_has_input(ctx) ? upload(ctx, graph_of_paper(ctx, COAUTHORS))
                                                 : start(ctx, 8);
    struct graph *g = d.g;
    size_t bytes = g->nodes * sizeof(float), rounds = suite_pick(ctx, 2, 20, 200);
    float *rank = suite_host(ctx, float, g->nodes);
    double *want = suite_host(ctx, double, g->nodes), *next = suite_host(ctx, double, g->nodes);
    for (uint32_t v = 0; v < g->nodes; v++) {
        rank[v] = 1 / (float)g->nodes;
        want[v] = (double)rank[v];
    }
    CUdeviceptr dr = suite_upload(ctx, rank, bytes), dn = suite_alloc(ctx, bytes);
    for (size_t i = 0; i < rounds; i++) {
        suite_launch(ctx, suite_kernel(ctx, "rank_push"), suite_1d(d.blocks), suite_1d(256), 0,
                     &g->nodes, &d.row, &d.column, &dr, &dn);
        suite_launch(ctx, suite_kernel(ctx, "rank_damp"), suite_1d(d.blocks), suite_1d(256), 0,
                     &g->nodes, &dr, &dn);
        memset(next, 0, g->nodes * sizeof *next);
        for (uint32_t v = 0; v < g->nodes; v++)
            for (size_t e = g->row[v]; e < g->row[v + 1]; e++)
                next[g->column[e]] += want[v] / (g->row[v + 1] - g->row[v]);
        for (uint32_t v = 0; v < g->nodes; v++)
            want[v] = (double)0.15F / g->nodes + (double)0.85F * next[v];
    }
    suite_read(ctx, rank, dr, bytes);
    verify(ctx, "rank", rank, want, g->nodes, (double)rounds * (d.in + 5));
}

struct centrality {
    uint32_t *distance, *order; /* here, from one source */
    double *paths, *depends, *score;
    uint32_t levels;
};

/* Adds what the shortest paths from one source give. */
static void reference(const struct graph *g, struct centrality *c, uint32_t source)
{
    size_t from = 0, to = 0;
    memset(c->distance, 0xff, g->nodes * sizeof *c->distance);
    memset(c->paths, 0, g->nodes * sizeof *c->paths);
    memset(c->depends, 0, g->nodes * sizeof *c->depends);
    c->distance[source] = 0;
    c->paths[source] = 1;
    c->order[to++] = source;
    while (from < to) {
        uint32_t v = c->order[from++];
        for (size_t i = g->row[v]; i < g->row[v + 1]; i++) {
            uint32_t w = g->column[i];
            if (c->distance[w] == NONE) {
                c->distance[w] = c->distance[v] + 1;
                c->order[to++] = w;
            }
            if (c->distance[w] == c->distance[v] + 1) c->paths[w] += c->paths[v];
        }
    }
    if (c->distance[c->order[to - 1]] > c->levels) c->levels = c->distance[c->order[to - 1]];
    while (to-- > 1) {
        uint32_t v = c->order[to];
        for (size_t i = g->row[v]; i < g->row[v + 1]; i++) {
            uint32_t w = g->column[i];
            if (c->distance[w] == c->distance[v] + 1)
                c->depends[v] += c->paths[v] / c->paths[w] * (1 + c->depends[w]);
        }
        c->score[v] += c->depends[v];
    }
}

void suite_run_centrality(struct suite_context *ctx)
{
    struct device_graph d = start(ctx, 4);
    struct graph *g = d.g;
    size_t n = g->nodes, bytes = n * sizeof(uint32_t), sources = suite_pick(ctx, 2, 8, 80);
    struct centrality c = {.distance = suite_host(ctx, uint32_t, n),
                           .order = suite_host(ctx, uint32_t, n),
                           .paths = suite_host(ctx, double, n),
                           .depends = suite_host(ctx, double, n),
                           .score = suite_host(ctx, double, n)};
    float *score = suite_host(ctx, float, n);
    struct suite_random r = suite_random(ctx->seed + 2);
    CUdeviceptr distance = suite_alloc(ctx, bytes), found = suite_alloc(ctx, bytes);
    CUdeviceptr paths = suite_alloc(ctx, bytes), depends = suite_alloc(ctx, bytes);
    CUdeviceptr dscore = suite_alloc(ctx, bytes), over = suite_alloc(ctx, sizeof(uint32_t));
    for (size_t i = 0; i < sources; i++) {
        uint32_t source = suite_random_below(&r, g->nodes), zero = 0, level = 0, more = 1;
        for (int tries = 0; tries < 64 && g->row[source] == g->row[source + 1]; tries++)
            source = suite_random_below(&r, g->nodes);
        float one = 1;
        suite_check(ctx, cuMemsetD32(distance, NONE, n));
        suite_zero(ctx, found, bytes);
        suite_zero(ctx, paths, bytes);
        suite_zero(ctx, depends, bytes);
        suite_write(ctx, distance + source * sizeof zero, &zero, sizeof zero);
        suite_write(ctx, paths + source * sizeof one, &one, sizeof one);
        for (level = 0; more; level++) {
            if (level > g->nodes) suite_fail(ctx, "the search does not end");
            suite_zero(ctx, over, sizeof more);
            suite_launch(ctx, suite_kernel(ctx, "paths_push"), suite_1d(d.blocks), suite_1d(256), 0,
                         &g->nodes, &d.row, &d.column, &level, &distance, &found, &paths);
            suite_launch(ctx, suite_kernel(ctx, "paths_settle"), suite_1d(d.blocks), suite_1d(256),
                         0, &g->nodes, &level, &distance, &found, &over);
            suite_read(ctx, &more, over, sizeof more);
        }
        while (--level > 0)
            suite_launch(ctx, suite_kernel(ctx, "depends_push"), suite_1d(d.blocks), suite_1d(256),
                         0, &g->nodes, &d.back, &d.back_columns, &level, &distance, &paths,
                         &depends, &dscore);
        reference(g, &c, source);
    }
    suite_read(ctx, score, dscore, bytes);
    /* A number of paths passes through an addition for each edge of each level, what depends on a node
     * likewise, with two such numbers and three operations at each level. */
    verify(ctx, "score", score, c.score, n,
           (double)c.levels * (2 * c.levels * d.in + d.out + 4) + (double)sources);
}

void suite_run_betweenness(struct suite_context *ctx)
{
    const size_t which = suite_input(ctx);
    struct device_graph d = upload(ctx, graph_of_paper(ctx, which));
    struct graph *g = d.g;
    const size_t n = g->nodes, bytes = n * sizeof(uint32_t);
    const uint32_t sources = paper_graphs[which].sources < g->nodes ? paper_graphs[which].sources
                                                                    : g->nodes;
    struct centrality c = {.distance = suite_host(ctx, uint32_t, n),
                           .order = suite_host(ctx, uint32_t, n),
                           .paths = suite_host(ctx, double, n),
                           .depends = suite_host(ctx, double, n),
                           .score = suite_host(ctx, double, n)};
    float *score = suite_host(ctx, float, n);
    CUdeviceptr distance = suite_alloc(ctx, bytes), paths = suite_alloc(ctx, bytes);
    CUdeviceptr depends = suite_alloc(ctx, bytes), dscore = suite_alloc(ctx, bytes);
    CUdeviceptr more_at = suite_alloc(ctx, sizeof(int));
    for (uint32_t source = 0; source < sources; source++) {
        const float one = 1;
        int level = 0, more = 1, zero = 0;
        suite_check(ctx, cuMemsetD32(distance, NONE, n)); /* -1 */
        suite_zero(ctx, paths, bytes);
        suite_zero(ctx, depends, bytes);
        suite_write(ctx, distance + source * sizeof zero, &zero, sizeof zero);
        suite_write(ctx, paths + source * sizeof one, &one, sizeof one);
        for (level = 0; more; level++) {
            if ((uint32_t)level > g->nodes) suite_fail(ctx, "the search does not end");
            suite_zero(ctx, more_at, sizeof more);
            suite_launch(ctx, suite_kernel(ctx, "between_forward"), suite_1d(d.blocks),
                         suite_1d(256), 0, &g->nodes, &d.row, &d.column, &level, &distance, &paths,
                         &more_at);
            suite_read(ctx, &more, more_at, sizeof more);
        }
        while (--level > 0)
            suite_launch(ctx, suite_kernel(ctx, "between_back"), suite_1d(d.blocks), suite_1d(256),
                         0, &g->nodes, &d.back, &d.back_columns, &level, &distance, &paths,
                         &depends);
        suite_launch(ctx, suite_kernel(ctx, "between_add"), suite_1d(d.blocks), suite_1d(256), 0,
                     &g->nodes, &source, &depends, &dscore);
        reference(g, &c, source);
    }
    suite_read(ctx, score, dscore, bytes);
    verify(ctx, "score", score, c.score, n,
           (double)c.levels * (2 * c.levels * d.in + d.out + 5) + (double)sources);
}
