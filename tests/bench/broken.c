/* How many seeds of `random` it takes to a wrong result of each broken program, by strategy: the table of docs/orders.md.
 *
 *     broken [SEEDS]      Markdown on standard output; SEEDS: of each cell (1000) */
#include "tests/support/broken.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const strategies[] = {"any", "uniform",  "pct",      "bursty",
                                         "lag", "farthest", "conflicts"};
enum { STRATEGIES = sizeof strategies / sizeof *strategies };

int main(int argc, char **argv)
{
    const uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    struct broken_bench *b = broken_bench_new();
    double logs[STRATEGIES] = {0};
    unsigned missed[STRATEGIES] = {0};
    printf("| program |");
    for (int s = 0; s < STRATEGIES; s++) printf(" %s |", strategies[s]);
    printf("\n|---|");
    for (int s = 0; s < STRATEGIES; s++) printf("---|");
    printf("\n");
    for (size_t i = 0; i < broken_count; i++) {
        printf("| %s |", broken_programs[i].kernel);
        for (int s = 0; s < STRATEGIES; s++) {
            char order[64];
            snprintf(order, sizeof order, "random:strategy=%s", strategies[s]);
            const uint64_t wrong = broken_count_wrong(b, i, order, seeds);
            const double each = (double)seeds / (double)(wrong ? wrong : 1);
            logs[s] += log(each);
            missed[s] += !wrong;
            if (wrong) printf(" %.3g |", each);
            else printf(" – |");
        }
        printf("\n");
        fflush(stdout);
    }
    printf("| **geometric mean** |");
    for (int s = 0; s < STRATEGIES; s++) printf(" **%.2f** |", exp(logs[s] / (double)broken_count));
    printf("\n| not found |");
    for (int s = 0; s < STRATEGIES; s++) printf(" %u |", missed[s]);
    printf("\n");
    broken_bench_free(b);
    return 0;
}
