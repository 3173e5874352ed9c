/* Graphs: generators and readers. The only user of zlib. */
#include "suites/graph.h"

#include "suites/suite.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- edges to rows ---------------------------------------------------------------------------------------- */

struct edges { /* in order of arrival */
    uint32_t *from, *to;
    float *weight; /* NULL: none has one */
    size_t count, cap;
};

static void edges_free(struct edges *e)
{
    free(e->from);
    free(e->to);
    free(e->weight);
}

static bool grow(struct edges *e, bool weighted)
{
    size_t cap = e->cap ? 2 * e->cap : 1024;
    uint32_t *from = realloc(e->from, cap * sizeof *from);
    if (from) e->from = from;
    uint32_t *to = realloc(e->to, cap * sizeof *to);
    if (to) e->to = to;
    float *weight = weighted ? realloc(e->weight, cap * sizeof *weight) : NULL;
    if (weight) e->weight = weight;
    if (!from || !to || (weighted && !weight)) return false;
    e->cap = cap;
    return true;
}

void graph_free(struct graph *g)
{
    if (!g) return;
    free(g->row);
    free(g->column);
    free(g->weight);
    free(g);
}

/* A stable sort by source. NULL: out of memory. */
static struct graph *build(uint32_t nodes, const struct edges *e)
{
    struct graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->nodes = nodes;
    g->edges = (uint32_t)e->count;
    g->row = calloc((size_t)nodes + 2, sizeof *g->row);
    g->column = malloc((e->count + 1) * sizeof *g->column);
    if (e->weight) g->weight = malloc((e->count + 1) * sizeof *g->weight);
    if (!g->row || !g->column || (e->weight && !g->weight)) {
        graph_free(g);
        return NULL;
    }
    uint32_t *next = g->row + 1; /* becomes the row's end while it is filled */
    for (size_t i = 0; i < e->count; i++) next[(size_t)e->from[i] + 1]++;
    for (size_t i = 1; i <= nodes; i++) next[i] += next[i - 1];
    for (size_t i = 0; i < e->count; i++) {
        uint32_t at = next[e->from[i]]++;
        g->column[at] = e->to[i];
        if (g->weight) g->weight[at] = e->weight[i];
    }
    return g;
}

/* ---- generators -------------------------------------------------------------------------------------------- */

static struct graph *generate(uint32_t nodes, uint32_t count, uint64_t seed, bool both_ways,
                              void (*edge)(struct suite_random *r, uint32_t nodes, uint32_t *from,
                                           uint32_t *to))
{
    struct suite_random r = suite_random(seed);
    size_t all = both_ways ? 2 * (size_t)count : count;
    struct edges e = {.from = malloc((all + 1) * sizeof *e.from),
                      .to = malloc((all + 1) * sizeof *e.to),
                      .count = all};
    if (!e.from || !e.to) abort();
    for (size_t i = 0; i < count; i++) edge(&r, nodes, &e.from[i], &e.to[i]);
    for (size_t i = count; i < all; i++) {
        e.from[i] = e.to[i - count];
        e.to[i] = e.from[i - count];
    }
    struct graph *g = build(nodes, &e);
    if (!g) abort();
    edges_free(&e);
    return g;
}

static void uniform_edge(struct suite_random *r, uint32_t nodes, uint32_t *from, uint32_t *to)
{
    *from = suite_random_below(r, nodes);
    *to = suite_random_below(r, nodes);
}

struct graph *graph_uniform(uint32_t nodes, uint32_t edges, uint64_t seed)
{
    return generate(nodes, edges, seed, false, uniform_edge);
}

struct graph *graph_undirected(uint32_t nodes, uint32_t edges, uint64_t seed)
{
    return generate(nodes, edges, seed, true, uniform_edge);
}

/* Each bit of both ends chooses a quarter of the adjacency matrix. Then the names are scattered, so that
 * the rich nodes do not lie together. */
static void rmat_edge(struct suite_random *r, uint32_t nodes, uint32_t *from, uint32_t *to)
{
    uint32_t x = 0, y = 0;
    uint64_t bits = 0;
    for (uint32_t bit = 1, k = 0; bit < nodes; bit <<= 1, k++) {
        if (k % 4 == 0) bits = suite_random_u64(r);
        uint32_t part = (uint32_t)(bits >> 16 * (k % 4) & 0xffff);
        if (part >= 49807) x |= bit; /* 57 per cent neither, 19 y, 19 x, 5 both */
        if ((part >= 37356 && part < 49807) || part >= 62259) y |= bit;
    }
    *from = x * UINT32_C(0x9e3779b1) & (nodes - 1); /* an odd factor: a permutation */
    *to = y * UINT32_C(0x9e3779b1) & (nodes - 1);
}

struct graph *graph_rmat(unsigned scale, uint32_t edges, uint64_t seed)
{
    return generate(UINT32_C(1) << scale, edges, seed, false, rmat_edge);
}

/* Ranks u^2 and u^3 of a uniform u, scattered over the nodes by two primes. */
static void web_edge(struct suite_random *r, uint32_t nodes, uint32_t *from, uint32_t *to)
{
    const double u = (double)suite_random_float(r), v = (double)suite_random_float(r);
    const uint64_t out = (uint64_t)(nodes * u * u), in = (uint64_t)(nodes * v * v * v);
    *from = (uint32_t)((out * 2147483647 + nodes / 2) % nodes);
    *to = (uint32_t)((in * 1000003 + nodes / 3) % nodes);
}

struct graph *graph_web(uint32_t nodes, uint32_t edges, uint64_t seed)
{
    return generate(nodes, edges, seed, false, web_edge);
}

static void free_graph(void *g)
{
    graph_free(g);
}

struct graph *graph_for(struct suite_context *ctx, unsigned small_scale, size_t edges)
{
    struct graph *g;
    if (ctx->graph) {
        char error[512];
        g = graph_read(ctx->graph, error, sizeof error);
        if (!g) suite_bad_input(ctx, error);
        suite_at_end(ctx, free_graph, g);
        if (!g->nodes || !g->edges) suite_fail(ctx, "%s: the graph has no edges", ctx->graph);
        return g;
    }
    g = graph_rmat(small_scale + (ctx->size == SUITE_SMALL ? 0 : 4), (uint32_t)edges, ctx->seed);
    suite_at_end(ctx, free_graph, g);
    return g;
}

/* ---- reading lines --------------------------------------------------------------------------------------------- */

enum { LINE = 4096 };

struct reader {
    gzFile file;
    const char *path;
    size_t line;
    char text[LINE]; /* the line, without its end */
    struct edges edges;
    uint32_t *degree; /* Rodinia's: of each node */
    char *error;
    size_t error_size;
    jmp_buf failed;
};

static void fail(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
static void fail(struct reader *r, const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c; c++) /* a quoted piece of the file may hold any bytes */
        if (*c < ' ' || *c > '~') *c = '?';
    snprintf(r->error, r->error_size, "%s:%zu: %s", r->path, r->line, text);
    longjmp(r->failed, 1);
}

/* The next line; false at the end. */
static bool next_any(struct reader *r)
{
    r->line++;
    if (!gzgets(r->file, r->text, sizeof r->text)) {
        int code;
        const char *why = gzerror(r->file, &code);
        if (code != Z_OK && code != Z_STREAM_END)
            fail(r, "%s", code == Z_ERRNO ? strerror(errno) : why);
        return false;
    }
    size_t n = strlen(r->text);
    if (n == sizeof r->text - 1 && r->text[n - 1] != '\n')
        fail(r, "a line of more than %d bytes", LINE - 2);
    while (n && (r->text[n - 1] == '\n' || r->text[n - 1] == '\r')) r->text[--n] = '\0';
    return true;
}

static const char *skip(const char *p)
{
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* The next line that is not empty and does not begin with one of `comments`. */
static bool next_line(struct reader *r, const char *comments)
{
    while (next_any(r)) {
        const char *p = skip(r->text);
        if (*p && !strchr(comments, *p)) return true;
    }
    return false;
}

static void need_line(struct reader *r, const char *comments, const char *what)
{
    if (!next_line(r, comments)) fail(r, "the file ends before %s", what);
}

static uint64_t number(struct reader *r, const char **p, const char *what, uint64_t most)
{
    const char *s = skip(*p);
    uint64_t n = 0;
    if (*s < '0' || *s > '9') fail(r, "want %s, found '%.40s'", what, s);
    for (; *s >= '0' && *s <= '9'; s++) {
        n = n * 10 + (uint64_t)(*s - '0');
        if (n > UINT64_C(1) << 48) fail(r, "%s is too large", what);
    }
    if (*s && *s != ' ' && *s != '\t') fail(r, "want %s, found '%.40s'", what, skip(*p));
    if (n > most)
        fail(r, "%s %llu is more than %llu", what, (unsigned long long)n, (unsigned long long)most);
    *p = s;
    return n;
}

static float real(struct reader *r, const char **p, const char *what)
{
    const char *s = skip(*p);
    char *end;
    double d = strtod(s, &end);
    if (end == s || (*end && *end != ' ' && *end != '\t'))
        fail(r, "want %s, found '%.40s'", what, s);
    *p = end;
    return (float)d;
}

static void end_of_line(struct reader *r, const char *p)
{
    p = skip(p);
    if (*p) fail(r, "'%.40s' is too much", p);
}

static uint32_t node_in(struct reader *r, const char **p, uint32_t nodes, uint32_t base)
{
    uint64_t n = number(r, p, "a node", GRAPH_MAX_NODES);
    if (n < base || n - base >= nodes)
        fail(r, "node %llu is not one of %u to %llu", (unsigned long long)n, base,
             (unsigned long long)nodes + base - 1);
    return (uint32_t)n - base;
}

static void add(struct reader *r, uint32_t from, uint32_t to, bool weighted, float weight)
{
    struct edges *e = &r->edges;
    if (e->count == GRAPH_MAX_EDGES) fail(r, "more than %u edges", GRAPH_MAX_EDGES);
    if (e->count == e->cap && !grow(e, weighted)) fail(r, "out of memory");
    e->from[e->count] = from;
    e->to[e->count] = to;
    if (weighted) e->weight[e->count] = weight;
    e->count++;
}

static bool word(const char **p, const char *want)
{
    const char *s = skip(*p);
    size_t n = strcspn(s, " \t");
    if (n != strlen(want)) return false;
    for (size_t i = 0; i < n; i++) /* Matrix Market does not mind case */
        if ((s[i] | 0x20) != (want[i] | 0x20)) return false;
    *p = s + n;
    return true;
}

/* ---- formats ----------------------------------------------------------------------------------------------------- */

static uint32_t read_matrix_market(struct reader *r)
{
    const char *p = r->text + strlen("%%MatrixMarket");
    if (!word(&p, "matrix") || !word(&p, "coordinate")) fail(r, "want 'matrix coordinate'");
    bool pattern = word(&p, "pattern");
    if (!pattern && !word(&p, "real") && !word(&p, "integer"))
        fail(r, "want pattern, real or integer, found '%.40s'", skip(p));
    bool symmetric = word(&p, "symmetric");
    if (!symmetric && !word(&p, "general"))
        fail(r, "want general or symmetric, found '%.40s'", skip(p));
    end_of_line(r, p);
    need_line(r, "%", "its sizes");
    p = r->text;
    uint32_t rows = (uint32_t)number(r, &p, "the number of rows", GRAPH_MAX_NODES);
    uint32_t columns = (uint32_t)number(r, &p, "the number of columns", GRAPH_MAX_NODES);
    uint64_t entries = number(r, &p, "the number of entries", GRAPH_MAX_EDGES);
    end_of_line(r, p);
    if (rows != columns)
        fail(r, "%u rows and %u columns: a graph's matrix is square", rows, columns);
    for (uint64_t i = 0; i < entries; i++) {
        need_line(r, "%", "its last entry");
        p = r->text;
        uint32_t from = node_in(r, &p, rows, 1), to = node_in(r, &p, rows, 1);
        float weight = pattern ? 0 : real(r, &p, "a value");
        end_of_line(r, p);
        add(r, from, to, !pattern, weight);
        if (symmetric && from != to) add(r, to, from, !pattern, weight);
    }
    if (next_line(r, "%")) fail(r, "more lines than entries");
    return rows;
}

static uint32_t read_dimacs(struct reader *r)
{
    while (skip(r->text)[0] == 'c') need_line(r, "c", "a line 'p'");
    const char *p = skip(r->text);
    if (!word(&p, "p")) fail(r, "want a line 'p', found '%.40s'", p);
    bool arcs = word(&p, "sp");
    if (!arcs && !word(&p, "edge") && !word(&p, "col") && !word(&p, "edges"))
        fail(r, "want 'p sp', 'p edge' or 'p col'");
    uint32_t nodes = (uint32_t)number(r, &p, "the number of nodes", GRAPH_MAX_NODES);
    uint64_t count = number(r, &p, "the number of edges", GRAPH_MAX_EDGES), seen = 0;
    end_of_line(r, p);
    while (next_line(r, "c")) {
        p = skip(r->text);
        if (!arcs && *p == 'n') continue; /* a colour or weight of a node */
        if (!word(&p, arcs ? "a" : "e"))
            fail(r, "want a line '%s', found '%.40s'", arcs ? "a" : "e", p);
        uint32_t from = node_in(r, &p, nodes, 1), to = node_in(r, &p, nodes, 1);
        float weight = arcs ? real(r, &p, "a weight") : 0;
        end_of_line(r, p);
        add(r, from, to, arcs, weight);
        if (!arcs && from != to) add(r, to, from, false, 0);
        seen++;
    }
    /* Colouring files often count each edge twice, or not: their number is not checked. */
    if (arcs && seen != count)
        fail(r, "%llu arcs, should be %llu", (unsigned long long)seen, (unsigned long long)count);
    return nodes;
}

static uint32_t read_rodinia(struct reader *r, uint32_t *source)
{
    const char *p = r->text;
    uint32_t nodes = (uint32_t)number(r, &p, "the number of nodes", GRAPH_MAX_NODES);
    uint64_t first = 0;
    size_t cap = 0;
    end_of_line(r, p);
    for (uint32_t i = 0; i < nodes; i++) {
        need_line(r, "", "its last node");
        if (i == cap) {
            cap = cap ? 2 * cap : 1024;
            uint32_t *more = realloc(r->degree, cap * sizeof *more);
            if (!more) fail(r, "out of memory");
            r->degree = more;
        }
        p = r->text;
        uint64_t at = number(r, &p, "a first edge", GRAPH_MAX_EDGES);
        r->degree[i] = (uint32_t)number(r, &p, "a number of edges", GRAPH_MAX_EDGES);
        end_of_line(r, p);
        if (at != first)
            fail(r, "node %u begins at edge %llu, should at %llu", i, (unsigned long long)at,
                 (unsigned long long)first);
        first += r->degree[i];
    }
    need_line(r, "", "the source");
    p = r->text;
    *source = node_in(r, &p, nodes, 0);
    end_of_line(r, p);
    need_line(r, "", "the number of edges");
    p = r->text;
    uint64_t count = number(r, &p, "the number of edges", GRAPH_MAX_EDGES);
    end_of_line(r, p);
    if (count != first)
        fail(r, "%llu edges, but the nodes have %llu", (unsigned long long)count,
             (unsigned long long)first);
    for (uint32_t i = 0; i < nodes; i++)
        for (uint32_t k = 0; k < r->degree[i]; k++) {
            need_line(r, "", "its last edge");
            p = r->text;
            uint32_t to = node_in(r, &p, nodes, 0);
            float weight = real(r, &p, "a weight");
            end_of_line(r, p);
            add(r, i, to, true, weight);
        }
    if (next_line(r, "")) fail(r, "more lines than edges");
    return nodes;
}

static uint32_t read_edge_list(struct reader *r)
{
    uint32_t nodes = 0;
    bool first = true, weighted = false;
    do {
        const char *p = r->text;
        uint32_t from = (uint32_t)number(r, &p, "a node", GRAPH_MAX_NODES - 1);
        uint32_t to = (uint32_t)number(r, &p, "a node", GRAPH_MAX_NODES - 1);
        if (first) weighted = *skip(p) != '\0';
        first = false;
        float weight = weighted ? real(r, &p, "a weight") : 0;
        end_of_line(r, p);
        add(r, from, to, weighted, weight);
        if (from >= nodes) nodes = from + 1;
        if (to >= nodes) nodes = to + 1;
    } while (next_line(r, "#%"));
    return nodes;
}

/* ---- METIS and DIMACS-10 ------------------------------------------------------------------------------------------
 * The header is "NODES EDGES [FORMAT [WEIGHTS]]". Line i behind it has the neighbours of node i, from 1 on; each edge
 * stands at both of its ends. FORMAT has three digits: node sizes, node weights, edge weights. A line may be empty and
 * of any length; lines that begin with '%' are comments. (METIS 5.1 manual, section 4.1.1.) */

struct metis {
    uint32_t nodes;
    uint64_t edges;
    unsigned before; /* numbers in front of a node's neighbours */
    bool weighted;
};

/* false: the line is no such header. */
static bool metis_header(const char *p, struct metis *h)
{
    uint64_t n[4] = {0};
    unsigned count = 0;
    for (p = skip(p); *p; p = skip(p)) {
        if (count == 4 || *p < '0' || *p > '9') return false;
        for (; *p >= '0' && *p <= '9'; p++)
            if ((n[count] = n[count] * 10 + (uint64_t)(*p - '0')) > UINT64_C(1) << 40) return false;
        if (*p && *p != ' ' && *p != '\t') return false;
        count++;
    }
    const bool format = n[2] % 10 <= 1 && n[2] / 10 % 10 <= 1 && n[2] <= 111;
    if (count < 2 || !n[0] || n[0] > GRAPH_MAX_NODES || n[1] > GRAPH_MAX_EDGES / 2 || !format ||
        n[3] > 64)
        return false;
    const bool node_weights = n[2] / 10 % 10;
    *h = (struct metis){.nodes = (uint32_t)n[0],
                        .edges = n[1],
                        .before = (n[2] >= 100) +
                                  (node_weights ? count == 4 ? (unsigned)n[3] : 1 : 0),
                        .weighted = n[2] % 10};
    return true;
}

/* The next number of the line: 1; its end: 0; the end of the file: -1. Anything else fails. `word` keeps what was read
 * for the message. */
static int metis_next(struct reader *r, double *value)
{
    char word[40];
    size_t n = 0;
    int c = gzgetc(r->file);
    while (c == ' ' || c == '\t' || c == '\r') c = gzgetc(r->file);
    if (c == '\n') return 0;
    if (c == -1) return -1;
    for (; c != -1 && c != ' ' && c != '\t' && c != '\r' && c != '\n'; c = gzgetc(r->file))
        if (n < sizeof word - 1) word[n++] = (char)c;
    word[n] = '\0';
    if (c != -1) gzungetc(c, r->file);
    char *end;
    *value = strtod(word, &end);
    if (*end || word[0] < '0' || word[0] > '9') fail(r, "want a number, found '%s'", word);
    return 1;
}

/* Passes a comment. false: the line is none, and nothing was read. */
static bool metis_comment(struct reader *r)
{
    int c = gzgetc(r->file);
    if (c != '%') {
        if (c != -1) gzungetc(c, r->file);
        return false;
    }
    while (c != '\n' && c != -1) c = gzgetc(r->file);
    return true;
}

/* Whether the rest of the file is what such a header announces: a line for each node, two entries for each edge. The
 * file stands behind its first line then as before. */
static bool metis_fits(struct reader *r, const struct metis *h)
{
    const z_off_t here = gztell(r->file);
    uint64_t lines = 0, words = 0, blank = 0;
    bool plain = true;
    int c = gzgetc(r->file);
    while (plain && c != -1) {
        bool any = false;
        if (c == '%') {
            while (c != '\n' && c != -1) c = gzgetc(r->file);
            if (c == '\n') c = gzgetc(r->file);
            continue;
        }
        for (bool in = false; plain && c != '\n' && c != -1; c = gzgetc(r->file)) {
            const bool space = c == ' ' || c == '\t' || c == '\r';
            plain = space || c == '.' || (c >= '0' && c <= '9');
            words += !space && !in;
            in = !space;
            any |= in;
        }
        blank = any ? 0 : blank + 1;
        lines++;
        if (c == '\n') c = gzgetc(r->file);
    }
    if (gzseek(r->file, here, SEEK_SET) < 0) fail(r, "cannot read the file again");
    const uint64_t want = 2 * h->edges * (h->weighted ? 2 : 1) + (uint64_t)h->before * h->nodes;
    return plain && lines >= h->nodes && lines - h->nodes <= blank && words == want;
}

static uint32_t read_metis(struct reader *r, const struct metis *h)
{
    double value;
    for (uint32_t i = 0; i < h->nodes; i++) {
        do r->line++;
        while (metis_comment(r));
        for (unsigned k = 0; k < h->before; k++)
            if (metis_next(r, &value) != 1) fail(r, "node %u has not all of its weights", i + 1);
        for (int more; (more = metis_next(r, &value)) != 0;) {
            if (more < 0 && i + 1 < h->nodes) fail(r, "the file ends before node %u", i + 2);
            if (more < 0) break;
            if (value < 1 || value > h->nodes || value != (double)(uint32_t)value)
                fail(r, "node %.10g is not one of 1 to %u", value, h->nodes);
            const uint32_t to = (uint32_t)value - 1;
            if (h->weighted && metis_next(r, &value) != 1) fail(r, "an edge has no weight");
            add(r, i, to, h->weighted, h->weighted ? (float)value : 0);
        }
    }
    if (r->edges.count != 2 * h->edges)
        fail(r, "%llu entries, should be twice %llu edges", (unsigned long long)r->edges.count,
             (unsigned long long)h->edges);
    return h->nodes;
}

/* Whether the file's name says what it is: "NAME.graph", "NAME.metis", perhaps with ".gz" behind it. */
static bool metis_named(const char *path)
{
    size_t n = strlen(path);
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0) n -= 3;
    return n > 6 &&
           (memcmp(path + n - 6, ".graph", 6) == 0 || memcmp(path + n - 6, ".metis", 6) == 0);
}

/* The words of a line, up to 3. */
static unsigned columns(const char *p)
{
    unsigned n = 0;
    for (p = skip(p); *p && n < 3; p = skip(p + strcspn(p, " \t"))) n++;
    return n;
}

static uint32_t read_any(struct reader *r, uint32_t *source)
{
    if (!next_any(r)) fail(r, "the file is empty");
    if (strncmp(r->text, "%%MatrixMarket", 14) == 0) return read_matrix_market(r);
    const char *p = skip(r->text);
    if ((!*p || strchr("#%", *p)) && !next_line(r, "#%")) fail(r, "the file holds no edges");
    p = skip(r->text);
    if ((*p == 'c' || *p == 'p') && (!p[1] || p[1] == ' ' || p[1] == '\t')) return read_dimacs(r);
    if (*p < '0' || *p > '9') fail(r, "no graph begins with '%.40s'", p);
    if (columns(p) == 1) return read_rodinia(r, source);
    struct metis h;
    if (metis_header(p, &h) && (metis_named(r->path) || metis_fits(r, &h)))
        return read_metis(r, &h);
    return read_edge_list(r);
}

struct graph *graph_read(const char *path, char *error, size_t error_size)
{
    struct graph *volatile g = NULL;
    struct reader *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->path = path;
    r->error = error;
    r->error_size = error_size;
    errno = 0;
    r->file = gzopen(path, "rb");
    if (!r->file) {
        snprintf(error, error_size, "%s: %s", path, errno ? strerror(errno) : "out of memory");
        free(r);
        return NULL;
    }
    gzbuffer(r->file, 1 << 17);
    if (setjmp(r->failed) == 0) {
        uint32_t source = 0, nodes = read_any(r, &source);
        g = build(nodes, &r->edges);
        if (!g) fail(r, "out of memory");
        g->source = source;
    }
    edges_free(&r->edges);
    free(r->degree);
    gzclose_r(r->file);
    free(r);
    return g;
}
