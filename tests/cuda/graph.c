/* Graphs: readers of every format, what is wrong with bad files, generators. */
#define _GNU_SOURCE
#include "suites/graph.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char path[64], error[512];

static const char *write_file(const char *text, size_t size, bool zipped)
{
    strcpy(path, "/tmp/heddle-graph-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    if (zipped) {
        gzFile z = gzdopen(fd, "wb");
        gzwrite(z, text, (unsigned)size);
        gzclose(z);
    } else {
        cr_assert(write(fd, text, size) == (ssize_t)size);
        close(fd);
    }
    return path;
}

static struct graph *read_text(const char *text, bool zipped)
{
    error[0] = '\0';
    struct graph *g = graph_read(write_file(text, strlen(text), zipped), error, sizeof error);
    unlink(path);
    return g;
}

/* "0:1,2 1:0*2.5": rows with their edges, *weight */
static const char *shown(const struct graph *g)
{
    static char text[1000];
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t v = 0; v < g->nodes; v++) {
        n += (size_t)sprintf(text + n, "%s%u:", v ? " " : "", v);
        for (size_t i = g->row[v]; i < g->row[v + 1]; i++) {
            n += (size_t)sprintf(text + n, "%s%u", i > g->row[v] ? "," : "", g->column[i]);
            if (g->weight) n += (size_t)sprintf(text + n, "*%g", (double)g->weight[i]);
        }
    }
    return text;
}

static const struct {
    const char *text, *want;
} good[] = {
    {"0 2\n2 1\n0 1\n", "0:2,1 1: 2:1"},
    {"# a comment\n\n0\t1  \r\n# another\n1 0", "0:1 1:0"},
    {"% weights\n0 1 0.5\n1 0 -2e3\n", "0:1*0.5 1:0*-2000"},
    {"3 3 1\n", "0: 1: 2: 3:3*1"},
    {"%%MatrixMarket matrix coordinate pattern general\n% c\n3 3 2\n1 3\n3 2\n", "0:2 1: 2:1"},
    {"%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 4.5\n2 1 -1\n3 2 7\n",
     "0:0*4.5,1*-1 1:0*-1,2*7 2:1*7"},
    {"%%MatrixMarket MATRIX Coordinate Integer General\n2 2 1\n2 2 9\n", "0: 1:1*9"},
    {"%%MatrixMarket matrix coordinate pattern general\n0 0 0\n", ""},
    {"c hello\nc\np sp 3 2\na 1 3 10\nc in between\na 3 1 20\n", "0:2*10 1: 2:0*20"},
    {"p edge 3 2\ne 1 2\ne 3 3\n", "0:1 1:0 2:2"},
    {"c colours\np col 2 1\nn 1 7\ne 1 2\n", "0:1 1:0"},
    {"2\n0 2\n2 1\n\n1\n\n3\n1 5\n0 6\n1 7\n", "0:1*5,0*6 1:1*7"},
    /* METIS manual, figure 2: (a) unweighted, (b) weights of edges, (c) of nodes and edges, (d) three of each node */
    {"% figure 2 (a)\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n",
     "0:4,2,1 1:0,2,3 2:4,3,1,0 3:1,2,5,6 4:0,2,5 5:4,3,6 6:5,3"},
    {"3 2 001\n2 1\n1 1 3 2.5\n% a comment\n2 2.5\n", "0:1*1 1:0*1,2*2.5 2:1*2.5"},
    {"3 2 011\n4 2 1\n2 1 1 3 2\n5 2 2\n", "0:1*1 1:0*1,2*2 2:1*2"},
    {"3 1 010 3\n1 2 0 3\n0 2 2\n4 1 1 1\n", "0:2 1: 2:0"},
    {"3 1\n3\n\n1", "0:2 1: 2:0"},
    {"2 1 100\n7 2\n9 1\n\n", "0:1 1:0"},
};

Test(graph, reads_every_format)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        for (int zipped = 0; zipped < 2; zipped++) {
            struct graph *g = read_text(good[i].text, zipped);
            cr_expect(g, "row %zu: %s", i, error);
            if (g)
                cr_expect(strcmp(shown(g), good[i].want) == 0, "row %zu: '%s' is not '%s'", i,
                          shown(g), good[i].want);
            if (g) cr_expect(g->row[g->nodes] == g->edges && g->row[0] == 0);
            graph_free(g);
        }
}

Test(graph, rodinia_has_a_source)
{
    struct graph *g = read_text("2\n0 1\n1 0\n1\n1\n1 5\n", false);
    cr_assert(g, "%s", error);
    cr_expect(g->source == 1);
    graph_free(g);
}

/* What follows the path in the message. */
static const struct {
    const char *text, *want;
} bad[] = {
    {"", ":1: the file is empty"},
    {"# only\n# comments\n", ":3: the file holds no edges"},
    {"hello\n", ":1: no graph begins with 'hello'"},
    {"0 1\n1 x\n", ":2: want a node, found 'x'"},
    {"0 1\n1\n", ":2: want a node, found ''"},
    {"0 1\n1 2 3\n", ":2: '3' is too much"},
    {"0 1 2\n\n1 2\n", ":3: want a weight, found ''"},
    {"0 1\n-1 2\n", ":2: want a node, found '-1 2'"},
    {"0 1\n0 1x\n", ":2: want a node, found '1x'"},
    {"0 268435456\n", ":1: a node 268435456 is more than 268435455"},
    {"0 99999999999999999999\n", ":1: a node is too large"},
    {"%%MatrixMarket matrix array real general\n", ":1: want 'matrix coordinate'"},
    {"%%MatrixMarket matrix coordinate complex general\n",
     ":1: want pattern, real or integer, found 'complex general'"},
    {"%%MatrixMarket matrix coordinate real hermitian\n",
     ":1: want general or symmetric, found 'hermitian'"},
    {"%%MatrixMarket matrix coordinate real general\n% c\n", ":3: the file ends before its sizes"},
    {"%%MatrixMarket matrix coordinate real general\n2 3 1\n",
     ":2: 2 rows and 3 columns: a graph's matrix is square"},
    {"%%MatrixMarket matrix coordinate real general\n2 2\n",
     ":2: want the number of entries, found ''"},
    {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n",
     ":4: the file ends before its last entry"},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n1 2\n",
     ":4: more lines than entries"},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n0 1\n",
     ":3: node 0 is not one of 1 to 2"},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n",
     ":3: node 3 is not one of 1 to 2"},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", ":3: '1' is too much"},
    {"c x\n", ":2: the file ends before a line 'p'"},
    {"p max 3 2\n", ":1: want 'p sp', 'p edge' or 'p col'"},
    {"p sp 2 1\ne 1 2\n", ":2: want a line 'a', found 'e 1 2'"},
    {"p sp 2 1\na 1 2\n", ":2: want a weight, found ''"},
    {"p sp 2 2\na 1 2 3\n", ":3: 1 arcs, should be 2"},
    {"p sp 2 1\na 1 3 1\n", ":2: node 3 is not one of 1 to 2"},
    {"2\n0 1\n", ":3: the file ends before its last node"},
    {"2\n0 1\n5 0\n", ":3: node 1 begins at edge 5, should at 1"},
    {"1\n0 1\n1\n", ":3: node 1 is not one of 0 to 0"},
    {"1\n0 1\n0\n2\n", ":4: 2 edges, but the nodes have 1"},
    {"1\n0 1\n0\n1\n", ":5: the file ends before its last edge"},
    {"1\n0 1\n0\n1\n0 1\n0 1\n", ":6: more lines than edges"},
    {"300000000\n", ":1: the number of nodes 300000000 is more than 268435456"},
};

Test(graph, says_what_is_wrong_and_where)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct graph *g = read_text(bad[i].text, i % 2);
        cr_expect(!g, "row %zu is read", i);
        cr_expect(strncmp(error, path, strlen(path)) == 0 &&
                      strcmp(error + strlen(path), bad[i].want) == 0,
                  "row %zu: '%s'", i, error);
        graph_free(g);
    }
}

/* An edge list may begin as a METIS file does; its name decides then. */
Test(graph, metis_files_that_are_damaged)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"3 2\n2\n", ":3: the file ends before node 3"},
        {"3 2\n2\n1 4\n2\n", ":3: node 4 is not one of 1 to 3"},
        {"3 2\n2\n1 x\n2\n", ":3: want a number, found 'x'"},
        {"3 2\n2\n1\n2\n", ":4: 3 entries, should be twice 2 edges"},
        {"3 2 1\n2\n1 3\n2\n", ":2: an edge has no weight"},
        {"3 2 10\n2 2\n\n1 2\n", ":3: node 2 has not all of its weights"},
        {"3 2\n2\n1 \033[31m\n2\n", ":3: want a number, found '?[31m'"},
    };
    char name[] = "/tmp/heddle-damaged.graph";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        FILE *f = fopen(name, "w");
        cr_assert(f);
        fputs(rows[i].text, f);
        fclose(f);
        cr_expect(!graph_read(name, error, sizeof error), "row %zu is read", i);
        cr_expect_str_eq(error + strlen(name), rows[i].want, "row %zu: '%s'", i, error);
    }
    unlink(name);
}

Test(graph, refuses_long_lines_and_broken_files)
{
    static char line[5000];
    memset(line, '1', sizeof line - 1);
    cr_expect(!read_text(line, false));
    cr_expect(strstr(error, ":1: a line of more than 4094 bytes"), "%s", error);
    cr_expect(!graph_read("/nonexistent/graph", error, sizeof error));
    cr_expect(strcmp(error, "/nonexistent/graph: No such file or directory") == 0, "%s", error);
    static const char broken[] = "\x1f\x8b\x08\0\0\0\0\0\0\3nonsense";
    cr_expect(!graph_read(write_file(broken, sizeof broken - 1, false), error, sizeof error));
    unlink(path);
    cr_expect(strstr(error, path) && strchr(error + strlen(path), ':'), "%s", error);
}

/* A truncated gzip stream: whatever was read, it is an error. */
Test(graph, refuses_truncated_gzip)
{
    char data[20000];
    size_t n = 0;
    for (unsigned i = 0; n < sizeof data - 40; i++)
        n += (size_t)sprintf(data + n, "%u %u\n", i * 2654435761u % 1000, i * 40503u % 1000);
    write_file(data, n, true);
    cr_assert(truncate(path, 3000) == 0);
    cr_expect(!graph_read(path, error, sizeof error));
    unlink(path);
    cr_expect(strstr(error, "unexpected end of file"), "%s", error);
}

/* Cutting and changing bytes of good files ends in a graph or a message. */
Test(graph, survives_mutations)
{
    uint64_t state = 1;
    char text[400];
    for (unsigned round = 0; round < 4000; round++) {
        const char *from = good[round % (sizeof good / sizeof *good)].text;
        size_t n = strlen(from);
        memcpy(text, from, n + 1);
        for (unsigned k = 0; k < 1 + round % 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            text[(state >> 33) % n] = "0123456789 \n\t.-ep%#cax"[(state >> 50) % 22];
        }
        struct graph *g = read_text(text, false);
        cr_expect((g != NULL) != (error[0] != '\0'));
        graph_free(g);
    }
}

Test(graph, generators_depend_on_the_seed_alone)
{
    struct graph *a = graph_rmat(8, 2000, 7), *b = graph_rmat(8, 2000, 7),
                 *c = graph_rmat(8, 2000, 8);
    cr_expect(a->nodes == 256 && a->edges == 2000);
    cr_expect(memcmp(a->column, b->column, 2000 * sizeof *a->column) == 0);
    cr_expect(memcmp(a->column, c->column, 2000 * sizeof *a->column) != 0);
    uint32_t most = 0, degree;
    for (uint32_t v = 0; v < a->nodes; v++)
        if ((degree = a->row[v + 1] - a->row[v]) > most) most = degree;
    cr_expect(most > 60, "the richest node has %u edges", most);
    struct graph *u = graph_uniform(100, 5000, 7);
    cr_expect(u->nodes == 100 && u->row[100] == 5000);
    for (uint32_t i = 0; i < u->edges; i++) cr_assert(u->column[i] < 100);
    struct graph *w = graph_undirected(100, 500, 7);
    unsigned there[100][100] = {{0}};
    cr_expect(w->nodes == 100 && w->edges == 1000 && w->row[100] == 1000);
    for (uint32_t v = 0; v < 100; v++)
        for (uint32_t i = w->row[v]; i < w->row[v + 1]; i++) there[v][w->column[i]]++;
    for (uint32_t v = 0; v < 100; v++)
        for (uint32_t k = 0; k < 100; k++) cr_expect(there[v][k] == there[k][v]);
    graph_free(a);
    graph_free(b);
    graph_free(c);
    graph_free(u);
    graph_free(w);
}

static int falling(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

/* The r-th most edges out of a node and into one, as graph.h has them: integrals of the density of ranks u^2 and u^3, a
 * tenth at most from them at ranks where chance is small. */
Test(graph, pages_have_degrees_by_powers_of_their_rank)
{
    enum { NODES = 50000, EDGES = 500000 };
    struct graph *g = graph_web(NODES, EDGES, 3);
    uint32_t *out = calloc(NODES, sizeof *out), *in = calloc(NODES, sizeof *in);
    cr_expect(g->nodes == NODES && g->edges == EDGES && g->row[NODES] == EDGES);
    for (uint32_t v = 0; v < NODES; v++) out[v] = g->row[v + 1] - g->row[v];
    for (uint32_t i = 0; i < EDGES; i++) in[g->column[i]]++;
    qsort(out, NODES, sizeof *out, falling);
    qsort(in, NODES, sizeof *in, falling);
    for (uint32_t rank = 20; rank <= 500; rank *= 5) {
        const double is_out = out[rank], is_in = in[rank];
        const double r = rank + 0.5;
        cr_expect(fabs(is_out / (EDGES / 2.0 / sqrt(NODES * r)) - 1) < 0.1, "%u: %g", rank, is_out);
        cr_expect(fabs(is_in / (EDGES / 3.0 / cbrt(NODES * r * r)) - 1) < 0.1, "%u: %g", rank,
                  is_in);
    }
    free(out);
    free(in);
    graph_free(g);
}
