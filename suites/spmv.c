/* Sparse matrix times vector: the matrix is a graph with weights. */
#include "suites/graph.h"
#include "suites/suite.h"

#include <math.h>

static float row_scalar(const struct graph *g, const float *value, const float *x, size_t r)
{
    float sum = 0;
    for (size_t i = g->row[r]; i < g->row[r + 1]; i++) sum = fmaf(value[i], x[g->column[i]], sum);
    return sum;
}

static float row_vector(const struct graph *g, const float *value, const float *x, size_t r)
{
    float part[32] = {0};
    for (size_t i = g->row[r]; i < g->row[r + 1]; i++) {
        float *sum = &part[(i - g->row[r]) % 32];
        *sum = fmaf(value[i], x[g->column[i]], *sum);
    }
    for (size_t d = 16; d > 0; d /= 2)
        for (size_t t = 0; t < d; t++) part[t] += part[t + d];
    return part[0];
}

static void spmv(struct suite_context *ctx, const char *kernel, unsigned threads_per_row,
                 float (*of_row)(const struct graph *, const float *, const float *, size_t))
{
    struct graph *g = graph_for(ctx, 14, (size_t)16 << suite_pick(ctx, 14, 18, 18));
    size_t launches = suite_pick(ctx, 1, threads_per_row == 1 ? 20 : 2,
                                 threads_per_row == 1 ? 200 : 20);
    struct suite_random r = suite_random(ctx->seed + 1);
    float *value = suite_host(ctx, float, g->edges), *x = suite_host(ctx, float, g->nodes);
    float *want = suite_host(ctx, float, g->nodes), *got = suite_host(ctx, float, g->nodes);
    for (size_t i = 0; i < g->edges; i++)
        value[i] = g->weight ? g->weight[i] : suite_random_float(&r) - 0.5F;
    for (size_t i = 0; i < g->nodes; i++) x[i] = suite_random_float(&r);
    CUdeviceptr row = suite_upload(ctx, g->row, ((size_t)g->nodes + 1) * sizeof *g->row);
    CUdeviceptr column = suite_upload(ctx, g->column, g->edges * sizeof *g->column);
    CUdeviceptr dv = suite_upload(ctx, value, g->edges * sizeof *value);
    CUdeviceptr dx = suite_upload(ctx, x, g->nodes * sizeof *x);
    CUdeviceptr dy = suite_alloc(ctx, g->nodes * sizeof *got);
    CUfunction f = suite_kernel(ctx, kernel);
    unsigned blocks = (unsigned)suite_blocks((size_t)g->nodes * threads_per_row, 256);
    for (size_t i = 0; i < launches; i++)
        suite_launch(ctx, f, suite_1d(blocks), suite_1d(256), 0, &g->nodes, &row, &column, &dv, &dx,
                     &dy);
    for (size_t i = 0; i < g->nodes; i++) want[i] = of_row(g, value, x, i);
    suite_read(ctx, got, dy, g->nodes * sizeof *got);
    suite_verify_f32(ctx, "y", got, want, g->nodes);
}

void suite_run_spmv_scalar(struct suite_context *ctx)
{
    spmv(ctx, "spmv_scalar", 1, row_scalar);
}

void suite_run_spmv_vector(struct suite_context *ctx)
{
    spmv(ctx, "spmv_vector", 32, row_vector);
}
