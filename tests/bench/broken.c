/* How many seeds of `random` it takes to a wrong result of each broken program, by strategy, and how many launches on a GPU: the
 * table of docs/orders.md.
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

/* A column of the table: tries to a wrong result. */
struct column {
    double logs; /* sum of the logarithms */
    unsigned missed;
};

static void print_cell(struct column *c, uint64_t wrong, uint64_t tries)
{
    const double each = (double)tries / (double)(wrong ? wrong : 1);
    c->logs += log(each);
    c->missed += !wrong;
    if (wrong) printf(" %.3g |", each);
    else printf(" – |");
}

int main(int argc, char **argv)
{
    const uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    struct broken_bench *b = broken_bench_new();
    struct broken_measured gpu;
    struct column column[STRATEGIES + 2] = {0};
    if (!broken_read_measured("tests/broken/h200.tsv", &gpu)) return 1;
    printf("| program |");
    for (int s = 0; s < STRATEGIES; s++) printf(" %s |", strategies[s]);
    printf(" H200 | H200, busy |\n|---|");
    for (int s = 0; s < STRATEGIES + 2; s++) printf("---|");
    printf("\n");
    for (size_t i = 0; i < broken_count; i++) {
        printf("| %s |", broken_programs[i].kernel);
        for (int s = 0; s < STRATEGIES; s++) {
            char order[64];
            snprintf(order, sizeof order, "random:strategy=%s", strategies[s]);
            print_cell(&column[s], broken_count_wrong(b, i, order, seeds), seeds);
        }
        print_cell(&column[STRATEGIES], gpu.alone[i], gpu.launches);
        print_cell(&column[STRATEGIES + 1], gpu.beside[i], gpu.launches);
        printf("\n");
        fflush(stdout);
    }
    printf("| **geometric mean** |");
    for (int s = 0; s < STRATEGIES + 2; s++)
        printf(" **%.2f** |", exp(column[s].logs / (double)broken_count));
    printf("\n| not found |");
    for (int s = 0; s < STRATEGIES + 2; s++) printf(" %u |", column[s].missed);
    printf("\n");
    broken_bench_free(b);
    return 0;
}
