/* What the papers on GPUDet and DAB say of kinds of programs (docs/claims.md): those of it that are cheap to count. */
#include "tests/support/support.h"
#include "tests/support/workload.h"

#include <criterion/criterion.h>

static const char base[] = "gpudet:bta=off:dwp=off";

/* Thesis, figure 4.2: which reason ends most parallel modes. */
Test(claims, reasons_that_end_quanta)
{
    static const struct {
        const char *workload, *reason;
    } rows[] = {
        {"hotspot", "gpudet.end.barrier"},   {"stencil_3d", "gpudet.end.barrier"},
        {"mandelbrot", "gpudet.end.limit"},  {"spmv_vector", "gpudet.end.exit"},
        {"hash_probe", "gpudet.end.atomic"}, {"histogram_global", "gpudet.end.atomic"},
        {"srad", "gpudet.end.barrier"},
    };
    static const char *const reasons[] = {"gpudet.end.barrier", "gpudet.end.limit",
                                          "gpudet.end.exit", "gpudet.end.atomic"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i += THINNED) {
        const uint64_t most = workload_count(rows[i].workload, base, rows[i].reason);
        uint64_t all = 0;
        for (size_t k = 0; k < 4; k++) all += workload_count(rows[i].workload, base, reasons[k]);
        cr_expect(2 * most > all, "%s", rows[i].workload);
    }
}

/* 6.2.1: 3.8 times fewer quanta with BTA where barriers end them; 6.2.3: 6.1 times less serial mode. */
Test(claims, what_gpudet_gains)
{
    cr_expect(workload_count("hotspot", base, "gpudet.quanta") >
              3 * workload_count("hotspot", "gpudet", "gpudet.quanta"));
    cr_expect(workload_count("hash_probe", "gpudet:serial=warp", "gpudet.serial.rounds") >
              6 * workload_count("hash_probe", "gpudet", "gpudet.serial.rounds"));
}

/* 6.3.2: larger filters have fewer searches in vain; 256 bits are enough where logs are short. */
Test(claims, sizes_of_bloom_filters)
{
    const uint64_t small = workload_count("transpose_naive", "gpudet:bloom=128",
                                          "gpudet.bloom.false"),
                   large = workload_count("transpose_naive", "gpudet:bloom=1024",
                                          "gpudet.bloom.false");
    cr_expect(small > 10 * large && small > 0);
    cr_expect_eq(workload_count("stencil_3d", "gpudet:bloom=256", "gpudet.bloom.false"), 0);
    cr_expect_gt(workload_count("stencil_3d", "gpudet:bloom=256", "gpudet.bloom.queries"), 0);
}

/* DAB, VI-B: lanes of a convolution add to words side by side, eight to a sector; those of a graph do not. */
Test(claims, what_coalescing_gains)
{
    static const char off[] = "dab:coalescing=off", on[] = "dab", number[] = "dab.transactions";
    cr_expect_eq(workload_count("conv_gradient", off, number),
                 8 * workload_count("conv_gradient", on, number));
    cr_expect(workload_count("pagerank", off, number) < 2 * workload_count("pagerank", on, number));
}
