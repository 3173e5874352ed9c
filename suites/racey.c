/* racey: signatures that depend on the order of every access. No run has the right ones; what holds in any
 * order is that each word was made by some thread whole, which its lowest byte shows. */
#include "suites/suite.h"

enum { CELLS = 64, THREADS = 128 };

static uint32_t word(uint32_t x)
{
    x &= ~UINT32_C(255);
    return x | x * UINT32_C(0x9e3779b1) >> 24;
}

static void check(struct suite_context *ctx, const char *what, const uint32_t *got, size_t n,
                  uint32_t *signature)
{
    for (size_t i = 0; i < n; i++) {
        if (got[i] != word(got[i]))
            suite_fail(ctx, "%s[%zu] is 0x%08x, which no thread wrote", what, i, got[i]);
        *signature = (*signature << 5 | *signature >> 27) * UINT32_C(0x9e3779b1) ^ got[i];
    }
}

/* An array of cells for each `per_array` threads, or as many arrays as `arrays` says if that is not 0. */
static void racey(struct suite_context *ctx, const char *kernel, uint32_t per_array,
                  uint32_t arrays)
{
    uint32_t blocks = (uint32_t)suite_pick(ctx, 32, 512, 1024);
    uint32_t steps = (uint32_t)suite_pick(ctx, 16, 400, 2000), threads = blocks * THREADS;
    size_t cells = (size_t)CELLS * (arrays ? arrays : threads / per_array);
    uint32_t *cell = suite_host(ctx, uint32_t, cells), signature = 0;
    uint32_t *of_thread = suite_host(ctx, uint32_t, threads);
    struct suite_random r = suite_random(ctx->seed);
    for (size_t i = 0; i < cells; i++) cell[i] = word((uint32_t)suite_random_u64(&r));
    CUdeviceptr dc = suite_upload(ctx, cell, cells * sizeof *cell);
    CUdeviceptr ds = suite_alloc(ctx, threads * sizeof *of_thread);
    suite_launch(ctx, suite_kernel(ctx, kernel), suite_1d(blocks), suite_1d(THREADS), 0, &steps,
                 &dc, &ds);
    suite_read(ctx, cell, dc, cells * sizeof *cell);
    suite_read(ctx, of_thread, ds, threads * sizeof *of_thread);
    check(ctx, "signature", of_thread, threads, &signature);
    check(ctx, "cell", cell, cells, &signature);
    suite_note(ctx, "signature %08x", signature);
}

void suite_run_racey_global(struct suite_context *ctx)
{
    racey(ctx, "racey_global", 0, 1);
}

void suite_run_racey_shared(struct suite_context *ctx)
{
    racey(ctx, "racey_shared", THREADS, 0);
}

void suite_run_racey_lanes(struct suite_context *ctx)
{
    racey(ctx, "racey_lanes", 32, 0);
}

void suite_run_racey_warps(struct suite_context *ctx)
{
    racey(ctx, "racey_warps", 0, 32);
}
