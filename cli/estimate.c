/* heddle estimate TARGET: the target is run in another process, once for each GPU, and says of each launch how long it
 * takes; here that is printed. */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/run.h"
#include "cli/run_options.h"

#include "base/arena.h"
#include "emu/gpu.h"
#include "model/config.h"
#include "model/launch_time.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_GPUS = 32 };
enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

struct estimates { /* of the target on one GPU */
    const struct emu_gpu *gpu;
    struct launch_time *list;
    size_t count, cap;
    struct launch_time total; /* sums; without kernel, grid and block */
    double bytes;             /* of DRAM */
};

struct estimate_call {
    struct arena *arena;
    char **words; /* for `heddle run`, NULL behind them; room for two more */
    int word_count;
    int options_end; /* where more options may be put: before the target */
    const struct emu_gpu *gpus[MOST_GPUS];
    size_t gpu_count;
    enum format format;
};

/* ---- the command line ------------------------------------------------------------------------------------ */

static bool add_gpus(struct estimate_call *c, const char *text)
{
    while (*text) {
        const size_t n = strcspn(text, ",");
        const struct emu_gpu *g = emu_gpu_find(arena_copy(c->arena, text, n));
        if (!g) {
            usage_error("estimate", "no GPU is called '%.*s': 'heddle gpus' lists them", (int)n,
                        text);
            return false;
        }
        if (c->gpu_count == MOST_GPUS) {
            usage_error("estimate", "at most %d GPUs", MOST_GPUS);
            return false;
        }
        c->gpus[c->gpu_count++] = g;
        text += n + (text[n] == ',');
    }
    return true;
}

static bool set_format(struct estimate_call *c, const char *text)
{
    static const char *const names[] = {"table", "json", "csv"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            c->format = (enum format)i;
            return true;
        }
    usage_error("estimate", "--format is table, json or csv, not '%s'", text);
    return false;
}

static bool set_order(struct estimate_call *c, const char *text)
{
    (void)c;
    if (strcmp(text, "native") == 0) return true;
    usage_error("estimate", "of order '%s' no cycles can be estimated, only of native", text);
    return false;
}

/* The value of the option at argv[*at], which is "--name value" or "--name=value"; NULL: it is another one. *at moves to its
 * last word. */
static const char *value_of(char **argv, int argc, int *at, const char *name)
{
    const size_t n = strlen(name);
    if (!argv[*at] || strncmp(argv[*at], name, n) != 0) return NULL;
    if (argv[*at][n] == '=') return argv[*at] + n + 1;
    if (argv[*at][n] || *at + 1 >= argc) return NULL;
    return argv[++*at];
}

/* Own options are taken out, the others are for `heddle run`. */
static bool read_call(struct estimate_call *c, int argc, char **argv)
{
    static const struct {
        const char *name;
        bool (*set)(struct estimate_call *, const char *);
    } own[] = {{"--gpu", add_gpus}, {"--format", set_format}, {"--order", set_order}};
    c->words = arena_array(c->arena, char *, (size_t)argc + 4);
    c->words[c->word_count++] = (char *)"run";
    c->words[c->word_count++] = (char *)"--quiet";
    c->words[c->word_count++] = NULL; /* --gpu=NAME */
    for (int i = 1; i < argc && argv[i]; i++) {
        const char *value = NULL;
        for (size_t k = 0; !value && k < sizeof own / sizeof *own; k++) {
            value = value_of(argv, argc, &i, own[k].name);
            if (value && !own[k].set(c, value)) return false;
        }
        if (value || !argv[i] || strcmp(argv[i], "--quiet") == 0) continue;
        c->words[c->word_count++] = argv[i];
        const struct piece word = {argv[i], (uint32_t)strlen(argv[i]), 0};
        if (*argv[i] == '-' || run_target_kind(word) != TARGET_PROGRAM) continue;
        while (++i < argc) c->words[c->word_count++] = argv[i];
    }
    return c->gpu_count || add_gpus(c, "titanv");
}

/* ---- the runs -------------------------------------------------------------------------------------------- */

/* Of all launches together. */
static void add_roofline(struct estimates *e, const struct launch_time *t)
{
    struct launch_time *all = &e->total;
    const double slots = (double)e->gpu->schedulers * e->gpu->issue * e->gpu->sms,
                 rate = config_dram_rate(e->gpu) * 32; /* bytes a cycle */
    if (t->intensity > 0) e->bytes += (double)t->warp_instructions / t->intensity;
    all->performance = (double)all->warp_instructions / all->cycles;
    all->intensity = e->bytes > 0 ? (double)all->warp_instructions / e->bytes : 0;
    all->roof = e->bytes > 0 && rate * all->intensity < slots ? rate * all->intensity : slots;
}

static void add(struct estimate_call *c, struct estimates *e, const struct launch_time *t)
{
    struct launch_time *all = &e->total;
    e->list = arena_grow(c->arena, e->list, e->count, &e->cap, e->count + 1, sizeof *e->list);
    e->list[e->count++] = *t;
    all->cycles += t->cycles, all->seconds += t->seconds;
    all->low += t->low, all->high += t->high;
    all->warp_instructions += t->warp_instructions;
    all->thread_instructions += t->thread_instructions;
    all->warnings |= t->warnings;
    for (int p = 0; p < CLOCK_PARTS; p++) all->part[p] += t->part[p];
    all->bound = launch_bound(all);
    all->ipc = (double)all->thread_instructions / all->cycles;
    add_roofline(e, t);
}

/* Runs the target; the exit code. */
static int run_on(struct estimate_call *c, struct estimates *e)
{
    char path[] = "/tmp/heddle-estimate-XXXXXX";
    int status = 0;
    const int fd = mkstemp(path);
    if (fd < 0) return usage_error("estimate", "cannot write '%s': %s", path, strerror(errno));
    (void)close(fd);
    char *gpu = arena_printf(c->arena, "--gpu=%s", e->gpu->name);
    c->words[2] = gpu;
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
        status = run_command(c->word_count, c->words, path);
        (void)fflush(NULL);
        _exit(status);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    FILE *f = fopen(path, "r");
    struct launch_time t;
    while (f && launch_time_read(f, &t)) add(c, e, &t);
    if (f) (void)fclose(f);
    (void)unlink(path);
    if (child < 0) return usage_error("estimate", "cannot start another process");
    if (!WIFEXITED(status)) return EXIT_FAULT;
    if (WEXITSTATUS(status) == EXIT_FINE && !e->count) {
        fprintf(stderr,
                "heddle estimate: no launch could be estimated: there was none, or it was not "
                "traced (checks that watch and --divergence=its leave no trace)\n");
        return EXIT_INPUT;
    }
    return WEXITSTATUS(status);
}

/* ---- printing -------------------------------------------------------------------------------------------- */

static void print_size(const uint32_t n[3])
{
    char text[40];
    if (n[1] == 1 && n[2] == 1) snprintf(text, sizeof text, "%u", n[0]);
    else if (n[2] == 1) snprintf(text, sizeof text, "%ux%u", n[0], n[1]);
    else snprintf(text, sizeof text, "%ux%ux%u", n[0], n[1], n[2]);
    printf(" %10s", text);
}

static void print_numbers(const struct launch_time *t)
{
    char interval[48] = "";
    if (t->high > 0) snprintf(interval, sizeof interval, "%.0f-%.0f", t->low, t->high);
    printf(" %12.0f %10.2f %17s %8.1f  %-9s", t->cycles, t->seconds * 1e6, interval, t->ipc,
           launch_part_name(t->bound));
    for (int p = 0; p < CLOCK_PARTS; p++) printf(" %5.1f", 100 * t->part[p] / t->cycles);
    printf("\n");
}

/* Where all launches stand under the roofline. */
static void print_roofline(const struct launch_time *t)
{
    printf("roofline: %.2f warp instructions/cycle, %.0f %% of the %.2f that are possible",
           t->performance, 100 * t->performance / t->roof, t->roof);
    if (t->intensity > 0) printf(" at %.3g for each byte of DRAM", t->intensity);
    printf("\n");
}

static void print_table(const struct estimates *e)
{
    printf("%s: %s, %u SMs, %.0f MHz\n", e->gpu->name, e->gpu->title, e->gpu->sms,
           e->gpu->core_mhz);
    printf("%-28s %10s %10s %12s %10s %17s %8s  %-9s", "kernel", "grid", "block", "cycles", "us",
           "8 of 10 within", "IPC", "most");
    for (int p = 0; p < CLOCK_PARTS; p++) printf(" %5.5s", launch_part_name((enum clock_part)p));
    printf("  %% of cycles\n");
    for (size_t i = 0; i < e->count; i++) {
        const struct launch_time *t = &e->list[i];
        printf("%-28.28s", t->kernel);
        print_size(t->grid);
        print_size(t->block);
        print_numbers(t);
    }
    if (e->count > 1) {
        printf("%-28s %10s %10s", "all", "", "");
        print_numbers(&e->total);
    }
    print_roofline(&e->total);
    for (unsigned bit = 1; bit < 1u << LAUNCH_WARNINGS; bit *= 2)
        if (e->total.warnings & bit) printf("note: %s\n", launch_warning_text(bit));
}

/* Totals beside each other; the first is 1. */
static void print_comparison(const struct estimates *e, size_t count)
{
    printf("%-12s %14s %12s %8s %8s\n", "gpu", "cycles", "us", "cycles", "time");
    for (size_t i = 0; i < count; i++)
        printf("%-12s %14.0f %12.2f %8.3f %8.3f\n", e[i].gpu->name, e[i].total.cycles,
               e[i].total.seconds * 1e6, e[i].total.cycles / e[0].total.cycles,
               e[i].total.seconds / e[0].total.seconds);
}

static void print_csv(const struct estimates *e, size_t count)
{
    printf("gpu,launch,kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z,cycles,seconds,low,high,"
           "warp_instructions,thread_instructions,ipc,intensity,performance,roof,most,warnings");
    for (int p = 0; p < CLOCK_PARTS; p++) printf(",%s", launch_part_name((enum clock_part)p));
    printf("\n");
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < e[k].count; i++) {
            const struct launch_time *t = &e[k].list[i];
            printf("%s,%zu,%s,%u,%u,%u,%u,%u,%u,%.1f,%.6g,%.1f,%.1f,%" PRIu64 ",%" PRIu64
                   ",%.4f,%.6g,%.4f,%.4f,%s,%u",
                   e[k].gpu->name, i, t->kernel, t->grid[0], t->grid[1], t->grid[2], t->block[0],
                   t->block[1], t->block[2], t->cycles, t->seconds, t->low, t->high,
                   t->warp_instructions, t->thread_instructions, t->ipc, t->intensity,
                   t->performance, t->roof, launch_part_name(t->bound), t->warnings);
            for (int p = 0; p < CLOCK_PARTS; p++) printf(",%.1f", t->part[p]);
            printf("\n");
        }
}

static json_t *json_of(const struct launch_time *t, bool total)
{
    json_t *o = json_object(), *parts = json_object(), *warnings = json_array();
    if (!total) {
        json_object_set_new(o, "kernel", json_text(t->kernel));
        json_object_set_new(o, "grid",
                            json_pack("[iii]", (int)t->grid[0], (int)t->grid[1], (int)t->grid[2]));
        json_object_set_new(
            o, "block", json_pack("[iii]", (int)t->block[0], (int)t->block[1], (int)t->block[2]));
        json_object_set_new(o, "resident_ctas", json_integer(t->ctas));
        json_object_set_new(o, "resident_warps", json_integer(t->warps));
    }
    if (t->intensity > 0) json_object_set_new(o, "intensity", json_real(t->intensity));
    json_object_set_new(o, "performance", json_real(t->performance));
    json_object_set_new(o, "roof", json_real(t->roof));
    json_object_set_new(o, "cycles", json_real(t->cycles));
    json_object_set_new(o, "seconds", json_real(t->seconds));
    if (t->high > 0) json_object_set_new(o, "interval", json_pack("[ff]", t->low, t->high));
    json_object_set_new(o, "warp_instructions", json_integer((json_int_t)t->warp_instructions));
    json_object_set_new(o, "thread_instructions", json_integer((json_int_t)t->thread_instructions));
    json_object_set_new(o, "ipc", json_real(t->ipc));
    json_object_set_new(o, "most", json_string(launch_part_name(t->bound)));
    for (int p = 0; p < CLOCK_PARTS; p++)
        json_object_set_new(parts, launch_part_name((enum clock_part)p), json_real(t->part[p]));
    json_object_set_new(o, "parts", parts);
    for (unsigned bit = 1; bit < 1u << LAUNCH_WARNINGS; bit *= 2)
        if (t->warnings & bit)
            json_array_append_new(warnings, json_string(launch_warning_text(bit)));
    json_object_set_new(o, "warnings", warnings);
    return o;
}

static void print_json(const struct estimates *e, size_t count)
{
    json_t *all = json_array();
    for (size_t k = 0; k < count; k++) {
        json_t *launches = json_array();
        for (size_t i = 0; i < e[k].count; i++)
            json_array_append_new(launches, json_of(&e[k].list[i], false));
        json_array_append_new(all, json_pack("{sssoso}", "gpu", e[k].gpu->name, "total",
                                             json_of(&e[k].total, true), "launches", launches));
    }
    json_t *document = json_pack("{sssissso}", "format", "heddle-estimate", "version", 1, "order",
                                 "native", "gpus", all);
    (void)json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    printf("\n");
    json_decref(document);
}

int cmd_estimate(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct estimate_call c = {.arena = arena};
    struct estimates all[MOST_GPUS] = {0};
    int status = EXIT_FINE;
    if (!read_call(&c, argc, argv)) status = EXIT_USAGE;
    for (size_t i = 0; i < c.gpu_count && status == EXIT_FINE; i++) {
        all[i].gpu = c.gpus[i];
        status = run_on(&c, &all[i]);
        if (status == EXIT_FINE && c.format == FORMAT_TABLE) print_table(&all[i]);
    }
    if (status == EXIT_FINE && c.format == FORMAT_TABLE && c.gpu_count > 1)
        print_comparison(all, c.gpu_count);
    if (status == EXIT_FINE && c.format == FORMAT_CSV) print_csv(all, c.gpu_count);
    if (status == EXIT_FINE && c.format == FORMAT_JSON) print_json(all, c.gpu_count);
    arena_free(arena);
    return finish_output("estimate", status);
}
