/* How fast the front end reads: lex + parse + check of a corpus, on one core, and the memory it takes.
 *     frontend [-n RUNS] FILE...
 * Files are read once; a run reads every one of them into an arena of its own. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "base/arena.h"
#include "base/diag.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct text {
    struct source source;
    size_t footprint;
};

static bool read_file(const char *path, struct text *t)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return false;
    }
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = malloc((size_t)n + 1);
    bool ok = text && fread(text, 1, (size_t)n, f) == (size_t)n;
    t->source = (struct source){path, text, (uint32_t)n};
    fclose(f);
    return ok;
}

static bool read_module(struct text *t)
{
    struct arena *a = arena_new();
    struct diags d = {.arena = a, .source = &t->source, .max_errors = 5};
    struct ptx_module *m = ptx_module_parse(a, &t->source, &d);
    bool ok = ptx_module_check(m);
    ptx_module_end(m);
    t->footprint = arena_footprint(a);
    arena_free(a);
    return ok;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int runs = 15, first = 1;
    if (argc > 2 && strcmp(argv[1], "-n") == 0) {
        runs = atoi(argv[2]);
        first = 3;
    }
    int count = argc - first;
    if (count < 1 || runs < 1) {
        fprintf(stderr, "usage: frontend [-n RUNS] FILE...\n");
        return 2;
    }
    struct text *texts = calloc((size_t)count, sizeof *texts);
    double *rates = calloc((size_t)runs, sizeof *rates), bytes = 0, footprint = 0, worst = 0;
    for (int i = 0; i < count; i++) {
        if (!read_file(argv[first + i], &texts[i])) return 2;
        if (!read_module(&texts[i])) {
            fprintf(stderr, "%s has errors\n", argv[first + i]);
            return 1;
        }
        bytes += texts[i].source.length;
        footprint += (double)texts[i].footprint;
        double ratio = (double)texts[i].footprint / texts[i].source.length;
        if (texts[i].source.length > 100000 && ratio > worst) worst = ratio;
    }
    for (int r = 0; r < runs; r++) {
        double start = now();
        for (int i = 0; i < count; i++) read_module(&texts[i]);
        rates[r] = bytes / (now() - start) / 1e6;
    }
    qsort(rates, (size_t)runs, sizeof *rates, by_value);
    printf("front end: lex + parse + check of %d files, %.1f MB, one core, %d runs\n", count,
           bytes / 1e6, runs);
    printf("  speed   median %.1f MB/s (from %.1f to %.1f)\n", rates[runs / 2], rates[0],
           rates[runs - 1]);
    printf("  memory  %.1f x the text (the worst file above 100 kB: %.1f x)\n", footprint / bytes,
           worst);
    return 0;
}
