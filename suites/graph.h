/* suites/graph.h: directed graphs in compressed sparse rows, generated from a seed or read from a file.
 *
 *     char error[300];
 *     struct graph *g = graph_read("foldoc.mtx.gz", error, sizeof error);
 *     if (!g) fprintf(stderr, "%s\n", error);          // foldoc.mtx.gz:14: node 13357 of 13356
 *     for (size_t i = g->row[v]; i < g->row[v + 1]; i++) visit(g->column[i]);
 *     graph_free(g);
 *
 * A file may be compressed by gzip. Its text determines the format:
 *   %%MatrixMarket matrix coordinate, pattern|real|integer, general|symmetric: entry (i, j) is an edge i -> j
 *   DIMACS shortest paths: "p sp NODES EDGES", lines "a FROM TO WEIGHT"
 *   DIMACS colouring: "p edge|col NODES EDGES", lines "e A B": an edge either way
 *   Rodinia's BFS: NODES, NODES lines "FIRST_EDGE EDGES", the source, EDGES, lines "TO WEIGHT"
 *   METIS, DIMACS-10: NODES EDGES [FORMAT [WEIGHTS]], then for each node a line with its neighbours, from 1 on
 *   edge list: lines "FROM TO" or "FROM TO WEIGHT", nodes from 0, '#' or '%' comments
 * Edges of a row keep their order; loops and repeated edges are kept. */
#ifndef HEDDLE_SUITES_GRAPH_H
#define HEDDLE_SUITES_GRAPH_H

#include <stddef.h>
#include <stdint.h>

enum { GRAPH_MAX_NODES = 1 << 28 };
#define GRAPH_MAX_EDGES UINT32_C(0x7fffffff)

struct graph {
    uint32_t nodes, edges;
    uint32_t *row;    /* nodes + 1 offsets into column */
    uint32_t *column; /* destinations of the edges */
    float *weight;    /* weights of the edges; NULL: the file has none */
    uint32_t source;  /* Rodinia's format: the source of the search; else 0 */
};

/* Reads a file. NULL: `error` is a message "path:line: text". */
struct graph *graph_read(const char *path, char *error, size_t error_size);
void graph_free(struct graph *g); /* NULL is allowed */

/* A random graph: both ends of each edge are uniformly distributed. nodes > 0. */
struct graph *graph_uniform(uint32_t nodes, uint32_t edges, uint64_t seed);
/* The same with each edge in both directions: 2 * edges in all. */
struct graph *graph_undirected(uint32_t nodes, uint32_t edges, uint64_t seed);
/* 2^scale nodes, of which few have most of the edges (R-MAT: 57, 19, 19 and 5 per cent). */
struct graph *graph_rmat(unsigned scale, uint32_t edges, uint64_t seed);
/* A graph like that of web pages: r nodes have a larger out-degree than edges / 2 / sqrt(nodes * r), and r nodes have a
 * larger in-degree than edges / 3 / cbrt(nodes * r * r). */
struct graph *graph_web(uint32_t nodes, uint32_t edges, uint64_t seed);

/* For workloads: the graph of the file that the run names; else R-MAT with about `edges` edges, 2^small_scale nodes
 * for a small run and 2^(small_scale + 4) for others. The end of the run frees the graph. */
struct suite_context;
struct graph *graph_for(struct suite_context *ctx, unsigned small_scale, size_t edges);

#endif
