/* heddle compare TARGET: prints estimates for several GPUs and orders side by side, relative to the first one. */
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/estimate.h"
#include "cli/json.h"
#include "cli/terminal.h"

#include "base/arena.h"
#include "emu/gpu.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static const struct command_option options[] = {
    {.name = "gpu",
     .argument = "NAME[,NAME...]",
     .standard = "titanv",
     .help = "The GPUs: names of 'heddle gpus', or files.",
     .id = 1},
    {.name = "order",
     .argument = "ORDER[,ORDER...]",
     .standard = "native,gpudet,dab",
     .help = "Orders with their options.",
     .id = 1},
    {.name = "format",
     .argument = "table|json|csv",
     .standard = "table",
     .help = "csv: a row for each GPU, order and kernel, and one without a kernel for all.",
     .id = 1},
    {.name = "coefficients", .argument = "FILE", .help = "As for 'heddle estimate'.", .id = 1},
    COLOUR_OPTION,
};

enum { MOST_RUNS = MOST_GPUS * MOST_ORDERS, BAR = 60 };

/* What time goes by with, as the papers' figures have it: GPUDet's modes, DAB's overheads. */
static const struct mode {
    const char *name;
    char mark; /* in bars */
    int part;  /* enum timing_part; -1: all others, parallel mode */
    enum terminal_colour colour;
} modes[] = {
    {"parallel", '#', -1, TERMINAL_BLUE},         {"quantum", '.', TIMING_QUANTUM, TERMINAL_ORANGE},
    {"log", 'l', TIMING_LOG, TERMINAL_YELLOW},    {"commit", 'c', TIMING_COMMIT, TERMINAL_PURPLE},
    {"serial", 's', TIMING_SERIAL, TERMINAL_RED}, {"turns", 't', TIMING_TURN, TERMINAL_SKY},
    {"full", 'f', TIMING_FULL, TERMINAL_GREEN},   {"flush", '=', TIMING_FLUSH, TERMINAL_PINK}};
enum { MODES = sizeof modes / sizeof *modes };

struct kernel { /* launches of one name, of all runs */
    const char *name;
    size_t launches[MOST_RUNS];
    struct launch_estimate sum[MOST_RUNS];
};
struct comparison {
    struct arena *arena;
    struct estimates *runs;
    size_t count, base; /* base: the run that is 1 */
    struct kernel *kernels;
    size_t kernel_count, kernel_cap;
};

static double cycles_of(const struct launch_estimate *t, const struct mode *m)
{
    if (m->part >= 0) return t->part[m->part];
    double rest = t->cycles;
    for (int i = 0; i < MODES; i++)
        if (modes[i].part >= 0) rest -= t->part[modes[i].part];
    return rest > 0 ? rest : 0;
}

static double normal(const struct launch_estimate *t, const struct launch_estimate *base)
{
    return base->seconds > 0 ? t->seconds / base->seconds : 0;
}

/* ---- by kernel --------------------------------------------------------------------------------------------- */

static struct kernel *kernel_of(struct comparison *c, const char *name)
{
    for (size_t i = 0; i < c->kernel_count; i++)
        if (strcmp(c->kernels[i].name, name) == 0) return &c->kernels[i];
    c->kernels = arena_grow(c->arena, c->kernels, c->kernel_count, &c->kernel_cap,
                            c->kernel_count + 1, sizeof *c->kernels);
    c->kernels[c->kernel_count] = (struct kernel){.name = name};
    return &c->kernels[c->kernel_count++];
}

static void add_up(struct comparison *c)
{
    for (size_t r = 0; r < c->count; r++)
        for (size_t i = 0; i < c->runs[r].count; i++) {
            const struct launch_estimate *t = &c->runs[r].list[i];
            struct kernel *k = kernel_of(c, t->kernel);
            k->launches[r]++;
            launch_estimate_add(&k->sum[r], t, c->runs[r].gpu);
        }
}

/* ---- text --------------------------------------------------------------------------------------------------- */

static bool is_used(const struct comparison *c, int mode)
{
    for (size_t r = 0; r < c->count; r++)
        if (cycles_of(&c->runs[r].total, &modes[mode]) > 0) return true;
    return false;
}

static void print_row(const struct comparison *c, const char *name, size_t launches, size_t run,
                      const struct launch_estimate *t, const struct launch_estimate *base)
{
    const struct estimates *e = &c->runs[run];
    printf("%-24.24s %8zu %-10s %-20s %13.0f %12.2f %10.3f", name, launches, e->gpu->name, e->order,
           t->cycles, t->seconds * 1e6, normal(t, base));
    for (int m = 0; m < MODES; m++)
        if (is_used(c, m))
            printf(" %8.3f",
                   t->cycles > 0 ? cycles_of(t, &modes[m]) / t->cycles * normal(t, base) : 0);
    printf("\n");
}

static void put_marks(const struct mode *m, int count)
{
    if (terminal_colours()) terminal_bar(m->colour, m->mark, count);
    else
        while (count-- > 0) putchar(m->mark);
}

/* A character for each part of the time, the longest bar BAR of them. */
static void print_bar(const struct estimates *e, const struct launch_estimate *base, double most)
{
    double done = 0;
    int at = 0;
    printf("%-10s %-20s |", e->gpu->name, e->order);
    for (int m = 0; m < MODES; m++) {
        done += cycles_of(&e->total, &modes[m]) / e->total.cycles * normal(&e->total, base);
        const int end = (int)(done / most * BAR + 0.5);
        put_marks(&modes[m], end - at);
        if (end > at) at = end;
    }
    printf(" %.2f\n", normal(&e->total, base));
}

static void print_table(const struct comparison *c)
{
    const struct estimates *base = &c->runs[c->base];
    double most = 0;
    unsigned warnings = 0;
    printf("%-24s %8s %-10s %-20s %13s %12s %10s", "kernel", "launches", "gpu", "order", "cycles",
           "us", "time");
    for (int m = 0; m < MODES; m++)
        if (is_used(c, m)) printf(" %8s", modes[m].name);
    printf("\n");
    for (size_t k = 0; c->kernel_count > 1 && k < c->kernel_count; k++)
        for (size_t r = 0; r < c->count; r++)
            print_row(c, c->kernels[k].name, c->kernels[k].launches[r], r, &c->kernels[k].sum[r],
                      &c->kernels[k].sum[c->base]);
    for (size_t r = 0; r < c->count; r++) {
        const struct launch_estimate *t = &c->runs[r].total;
        print_row(c, c->kernel_count > 1 ? "all" : c->kernels[0].name, c->runs[r].count, r, t,
                  &base->total);
        if (normal(t, &base->total) > most) most = normal(t, &base->total);
        warnings |= t->warnings;
    }
    printf("time: that of %s, %s is 1\n\n", base->gpu->name, base->order);
    for (size_t r = 0; r < c->count; r++) print_bar(&c->runs[r], &base->total, most);
    printf("%30s", "");
    for (int m = 0; m < MODES; m++)
        if (is_used(c, m)) {
            printf("  ");
            put_marks(&modes[m], 1);
            printf(" %s", modes[m].name);
        }
    printf("\n");
    for (unsigned bit = 1; bit < 1u << LAUNCH_WARNINGS; bit *= 2)
        if (warnings & bit) printf("note: %s\n", launch_warning_text(bit));
}

/* ---- CSV, JSON ------------------------------------------------------------------------------------------------ */

static void print_csv_row(const struct comparison *c, const char *kernel, size_t launches,
                          size_t run, const struct launch_estimate *t,
                          const struct launch_estimate *base)
{
    printf("%s,%s,%s,%zu,%.1f,%.6g,%.6g", c->runs[run].gpu->name, c->runs[run].order, kernel,
           launches, t->cycles, t->seconds, normal(t, base));
    for (int m = 0; m < MODES; m++) printf(",%.1f", cycles_of(t, &modes[m]));
    printf("\n");
}

/* The rows without a kernel are of all. */
static void print_csv(const struct comparison *c)
{
    printf("gpu,order,kernel,launches,cycles,seconds,time");
    for (int m = 0; m < MODES; m++) printf(",%s", modes[m].name);
    printf("\n");
    for (size_t r = 0; r < c->count; r++) {
        for (size_t k = 0; k < c->kernel_count; k++)
            print_csv_row(c, c->kernels[k].name, c->kernels[k].launches[r], r,
                          &c->kernels[k].sum[r], &c->kernels[k].sum[c->base]);
        print_csv_row(c, "", c->runs[r].count, r, &c->runs[r].total, &c->runs[c->base].total);
    }
}

static json_t *json_of(size_t launches, const struct launch_estimate *t,
                       const struct launch_estimate *base)
{
    json_t *o = json_pack("{sIsfsfsf}", "launches", (json_int_t)launches, "cycles", t->cycles,
                          "seconds", t->seconds, "time", normal(t, base)),
           *parts = json_object();
    for (int m = 0; m < MODES; m++)
        json_object_set_new(parts, modes[m].name, json_real(cycles_of(t, &modes[m])));
    json_object_set_new(o, "modes", parts);
    return o;
}

static void print_json(const struct comparison *c)
{
    const struct estimates *base = &c->runs[c->base];
    json_t *runs = json_array();
    for (size_t r = 0; r < c->count; r++) {
        json_t *kernels = json_array();
        for (size_t k = 0; k < c->kernel_count; k++) {
            json_t *one = json_of(c->kernels[k].launches[r], &c->kernels[k].sum[r],
                                  &c->kernels[k].sum[c->base]);
            json_object_set_new(one, "kernel", json_text(c->kernels[k].name));
            json_array_append_new(kernels, one);
        }
        json_array_append_new(
            runs, json_pack("{sssssoso}", "gpu", c->runs[r].gpu->name, "order", c->runs[r].order,
                            "total", json_of(c->runs[r].count, &c->runs[r].total, &base->total),
                            "kernels", kernels));
    }
    json_t *document = json_pack("{sssis{ssss}so}", "format", "heddle-compare", "version", 1,
                                 "base", "gpu", base->gpu->name, "order", base->order, "runs",
                                 runs);
    (void)json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    printf("\n");
    json_decref(document);
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

/* Native on the first GPU, or else what is first. */
static size_t base_of(const struct comparison *c)
{
    for (size_t r = 0; r < c->count; r++)
        if (c->runs[r].gpu == c->runs[0].gpu && strcmp(c->runs[r].order, "native") == 0) return r;
    return 0;
}

static int run_all(struct comparison *c, struct estimate_call *call)
{
    int status = EXIT_FINE;
    const size_t all = call->gpu_count * call->order_count;
    struct steps steps;
    c->runs = arena_array(c->arena, struct estimates, all);
    steps_begin(&steps, "runs");
    for (size_t g = 0; g < call->gpu_count; g++)
        for (size_t o = 0; o < call->order_count && status == EXIT_FINE; o++) {
            steps_tell(&steps, c->count, all);
            status = estimate_run(call, call->gpus[g], call->orders[o], &c->runs[c->count++]);
        }
    steps_end(&steps);
    return status;
}

static int compare(int argc, char **argv)
{
    static const char *const usual[] = {"native", "gpudet", "dab"};
    static void (*const print[])(const struct comparison *) = {
        [FORMAT_TABLE] = print_table, [FORMAT_JSON] = print_json, [FORMAT_CSV] = print_csv};
    struct arena *arena = arena_new();
    struct estimate_call call = {.arena = arena, .command = "compare"};
    struct comparison c = {.arena = arena};
    int status = estimate_read_call(&call, argc, argv) ? EXIT_FINE : call.status;
    if (status == EXIT_FINE && call.traces)
        status = usage_error(
            "compare",
            "--traces is an option of 'heddle estimate', which takes one order at a time");
    if (!call.order_count) {
        memcpy(call.orders, usual, sizeof usual);
        call.order_count = sizeof usual / sizeof *usual;
    }
    if (status == EXIT_FINE) status = estimate_coefficients(&call);
    if (status == EXIT_FINE) status = run_all(&c, &call);
    if (status == EXIT_FINE) {
        c.base = base_of(&c);
        add_up(&c);
        print[call.format](&c);
    }
    arena_free(arena);
    return finish_output("compare", status);
}

const struct command command_compare = {
    .name = "compare",
    .summary = "compare estimates for several GPUs and orders",
    .usage = "compare [options] TARGET [ARGUMENTS]",
    .description =
        "Runs TARGET (as for 'heddle estimate') once for each GPU and order, and prints the time "
        "of its kernels "
        "relative to that in the native order on the first GPU: parallel execution, and what "
        "GPUDet or DAB add "
        "(docs/estimate.md), as numbers and as bars.\n"
        "The other options are those of 'heddle run'. The output of the target goes to standard "
        "error.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .also = &command_run,
    .exit_status = "  0  success; otherwise as for 'heddle run'",
    .examples = "  heddle compare --gpu titanv suite:histogram_global",
    .run = compare,
};
