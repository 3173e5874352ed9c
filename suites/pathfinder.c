/* pathfinder: at most 20 rows a launch. Large runs go down the same wall several times. */
#include "suites/suite.h"

enum { BLOCK = 256, ROWS = 20 };

void suite_run_pathfinder(struct suite_context *ctx)
{
    int columns = (int)suite_pick(ctx, 8000, 65000, 65000);
    int rows = (int)suite_pick(ctx, 50, 810, 810);
    size_t times = suite_pick(ctx, 1, 1, 10), n = (size_t)columns, bytes = n * sizeof(int);
    struct suite_random r = suite_random(ctx->seed);
    int *wall = suite_host(ctx, int, n *(size_t)rows);
    uint32_t *a = suite_host(ctx, uint32_t, n), *b = suite_host(ctx, uint32_t, n);
    for (size_t i = 0; i < n * (size_t)rows; i++) wall[i] = (int)suite_random_below(&r, 10);
    CUdeviceptr dw = suite_upload(ctx, wall, bytes * (size_t)rows);
    CUdeviceptr from = suite_alloc(ctx, bytes), to = suite_alloc(ctx, bytes);
    CUfunction f = suite_kernel(ctx, "pathfinder");
    for (; times > 0; times--)
        for (int row = 0; row < rows; row += ROWS) {
            int now = rows - row < ROWS ? rows - row : ROWS;
            CUdeviceptr part = dw + (size_t)row * bytes;
            unsigned blocks = (unsigned)suite_blocks(n, (size_t)(BLOCK - 2 * now));
            suite_launch(ctx, f, suite_1d(blocks), suite_1d(BLOCK), 0, &now, &columns, &part, &from,
                         &to);
            CUdeviceptr device = from;
            from = to;
            to = device;
            for (int k = row; k < row + now; k++) {
                for (size_t x = 0; x < n; x++) {
                    uint32_t best = a[x];
                    if (x > 0 && a[x - 1] < best) best = a[x - 1];
                    if (x + 1 < n && a[x + 1] < best) best = a[x + 1];
                    b[x] = best + (uint32_t)wall[(size_t)k * n + x];
                }
                uint32_t *host = a;
                a = b;
                b = host;
            }
        }
    suite_read(ctx, b, from, bytes);
    suite_verify_u32(ctx, "cost", b, a, n);
}
