/* Reads lines `name = value` of GPGPU-Sim; the lines of a launch begin with `kernel_name`. */
#include "calibrate/rows_add.h"

#include "base/arena.h"
#include "base/diag.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum stat {
    CYCLES,
    OCCUPANCY,
    PER_LAUNCH, /* those before are of the launch, the others sums of all launches so far */
    INSTRUCTIONS = PER_LAUNCH,
    LOADS,
    STORES,
    L1_READS,
    L1_WRITES,
    L2_READS,
    L2_ALL,
    DRAM_READS,
    DRAM_WRITES,
    STATS
};

static const char *const names[STATS] = {
    [CYCLES] = "gpu_sim_cycle",
    [OCCUPANCY] = "gpu_occupancy",
    [INSTRUCTIONS] = "gpgpu_n_tot_w_icount",
    [LOADS] = "gpgpu_n_load_insn",
    [STORES] = "gpgpu_n_store_insn",
    [L1_READS] = "Total_core_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS]",
    [L1_WRITES] = "Total_core_cache_stats_breakdown[GLOBAL_ACC_W][TOTAL_ACCESS]",
    [L2_READS] = "L2_cache_stats_breakdown[GLOBAL_ACC_R][TOTAL_ACCESS]",
    [L2_ALL] = "L2_total_cache_accesses",
    [DRAM_READS] = "total dram reads",
    [DRAM_WRITES] = "total dram writes"};

struct launch {
    bool open;
    uint32_t at, line;
    const char *kernel;
    bool has[STATS];
    double value[STATS];
    double ctas, registers; /* 0: the log does not say */
};

struct shape { /* of a kernel: that of its launch that was pushed last */
    const char *kernel;
    double ctas, registers;
};

struct log {
    struct rows *rows;
    struct diags *d;
    const char *run;
    uint32_t launches;
    double clusters, cores; /* SMs; 0: the log does not say */
    double before[STATS];
    struct launch now;
    struct shape *shapes;
    size_t shape_count, shape_cap;
};

/* The text behind `name` and " = ", if the line begins so. */
static const char *behind(const char *line, const char *name)
{
    const size_t n = strlen(name);
    if (strncmp(line, name, n) != 0) return NULL;
    line += n;
    while (*line == ' ' || *line == '\t') line++;
    if (*line++ != '=') return NULL;
    while (*line == ' ' || *line == '\t') line++;
    return line;
}

static double difference(const struct log *l, enum stat s)
{
    return l->now.value[s] - l->before[s];
}

/* What no log says: how much of the time SMs had work, by CTAs dealt in turn. */
static void place(const struct emu_gpu *g, const struct launch *n, struct counters *c)
{
    const double most = ceil(n->ctas / g->sms);
    c->share = n->ctas / (most * g->sms);
    c->placed = true;
}

static void take_counters(const struct log *l, struct row *row)
{
    const struct emu_gpu *g = l->rows->gpu;
    const struct launch *n = &l->now;
    const double sectors = g->l1_sector > 32 ? g->l1_sector / 32.0 : 1;
    struct counters *c = &row->counters;
    c->warps = n->value[OCCUPANCY] / 100 * g->warps;
    c->registers = n->registers;
    c->instructions = difference(l, INSTRUCTIONS);
    c->load_requests = difference(l, LOADS) / 32;
    c->store_requests = difference(l, STORES) / 32;
    c->load_sectors = difference(l, L1_READS) * sectors;
    c->store_sectors = difference(l, L1_WRITES) * sectors;
    c->l2_load_sectors = difference(l, L2_READS);
    c->l2_sectors = difference(l, L2_ALL);
    c->dram_sectors = difference(l, DRAM_READS) + difference(l, DRAM_WRITES);
    place(g, n, c);
}

static const char *lacks(const struct launch *n)
{
    for (int s = 0; s < STATS; s++)
        if (!n->has[s]) return names[s];
    return n->ctas < 1        ? "gridDim of the kernel that was pushed"
           : n->registers < 1 ? "regs of the kernel"
                              : NULL;
}

static void end_launch(struct log *l)
{
    struct launch *n = &l->now;
    if (!n->open) return;
    n->open = false;
    if (!n->has[CYCLES]) {
        diag_error(l->d, n->at, 0, "the launch of '%s' has no gpu_sim_cycle: did it end?",
                   n->kernel);
        return;
    }
    struct row row = {.kernel = n->kernel,
                      .file = l->d->source->name,
                      .line = n->line,
                      .run = l->run,
                      .launch = l->launches++,
                      .lacks = lacks(n),
                      .counters = {.cycles = n->value[CYCLES]}};
    if (!row.lacks) take_counters(l, &row);
    (void)rows_add(l->rows, l->d, n->at, l->run, strcspn(l->run, " "), row);
    for (int s = PER_LAUNCH; s < STATS; s++)
        if (n->has[s]) l->before[s] = n->value[s];
}

/* Of the kernel; a new one if there is none. */
static struct shape *shape_of(struct log *l, const char *kernel, size_t length)
{
    for (size_t i = 0; i < l->shape_count; i++)
        if (strlen(l->shapes[i].kernel) == length &&
            memcmp(l->shapes[i].kernel, kernel, length) == 0)
            return &l->shapes[i];
    l->shapes = arena_grow(l->rows->arena, l->shapes, l->shape_count, &l->shape_cap,
                           l->shape_count + 1, sizeof *l->shapes);
    l->shapes[l->shape_count] = (struct shape){
        .kernel = arena_copy(l->rows->arena, kernel, length)};
    return &l->shapes[l->shape_count++];
}

static void begin_launch(struct log *l, const char *kernel, uint32_t at, uint32_t line)
{
    end_launch(l);
    const struct shape *shape = shape_of(l, kernel, strcspn(kernel, " \t\r"));
    l->now = (struct launch){.open = true,
                             .at = at,
                             .line = line,
                             .kernel = shape->kernel,
                             .ctas = shape->ctas,
                             .registers = shape->registers};
}

/* `whole`: a line ends behind it; the file does, if it was cut short. */
static void take_stat(struct log *l, const char *line, uint32_t at, bool whole)
{
    for (int s = 0; s < STATS; s++) {
        const char *value = behind(line, names[s]);
        char *end;
        if (!value) continue;
        const double x = strtod(value, &end);
        const bool before = s >= PER_LAUNCH && x < l->before[s];
        if (!whole)
            diag_error(l->d, at, (uint32_t)strlen(line),
                       "the log ends within a line: is there more of it?");
        else if (end == value || !isfinite(x) || x < 0)
            diag_error(l->d, at, (uint32_t)strlen(line), "%s is a number that is not negative",
                       names[s]);
        else if (before)
            diag_error(l->d, at, (uint32_t)strlen(line),
                       "%s is less than after the launch before, but it is a sum of all: is this "
                       "one run?",
                       names[s]);
        else l->now.value[s] = x, l->now.has[s] = true;
    }
}

/* "GPGPU-Sim PTX: pushing kernel '_Z1k' to stream 0, gridDim= (16,1,1) blockDim = (128,1,1)", and the shape of its
 * CTAs: "GPGPU-Sim PTX: Kernel '_Z1k' : regs=10, lmem=0, smem=0, cmem=380". */
static void take_shape(struct log *l, const char *line)
{
    const char *name = strchr(line, '\''), *grid = strstr(line, "gridDim="),
               *registers = strstr(line, ": regs=");
    const size_t length = name ? strcspn(name + 1, "'") : 0;
    double x, y, z;
    if (!length) return;
    if (grid && sscanf(grid, "gridDim= (%lf,%lf,%lf)", &x, &y, &z) == 3)
        shape_of(l, name + 1, length)->ctas = x * y * z;
    if (registers && sscanf(registers, ": regs=%lf", &x) == 1)
        shape_of(l, name + 1, length)->registers = x;
}

/* "-gpgpu_n_clusters   40 # number of processing clusters" */
static void take_option(struct log *l, const char *line, uint32_t at)
{
    const struct emu_gpu *g = l->rows->gpu;
    if (sscanf(line, "-gpgpu_n_clusters %lf", &l->clusters) != 1 &&
        sscanf(line, "-gpgpu_n_cores_per_cluster %lf", &l->cores) != 1)
        return;
    if (l->clusters > 0 && l->cores > 0 && l->clusters * l->cores != g->sms)
        diag_error(l->d, at, (uint32_t)strlen(line), "the log is of %g SMs, a %s has %u",
                   l->clusters * l->cores, g->title, g->sms);
}

static void take_line(struct log *l, char *line, uint32_t at, uint32_t number, bool whole)
{
    while (isspace((unsigned char)*line)) line++, at++;
    const char *kernel = behind(line, "kernel_name");
    if (kernel) begin_launch(l, kernel, at, number);
    else if (*line == '-') take_option(l, line, at);
    else if (strncmp(line, "GPGPU-Sim PTX:", 14) == 0) take_shape(l, line);
    else if (l->now.open) take_stat(l, line, at, whole);
}

void rows_gpgpusim(struct rows *rows, struct diags *d)
{
    const struct source *s = d->source;
    struct log l = {.rows = rows, .d = d, .run = rows_stem(rows, s->name)};
    uint32_t number = 0;
    for (uint32_t at = 0; at < s->length && d->errors < ROWS_MOST_ERRORS;) {
        const char *end = memchr(s->text + at, '\n', s->length - at);
        const uint32_t to = end ? (uint32_t)(end - s->text) : s->length;
        char line[512];
        const uint32_t n = to - at < sizeof line ? to - at : sizeof line - 1;
        memcpy(line, s->text + at, n);
        line[n] = 0;
        take_line(&l, line, at, ++number, end != NULL);
        at = to + 1;
    }
    end_launch(&l);
    if (!l.launches && !d->errors)
        diag_error(d, 0, 0, "no launch: a log of GPGPU-Sim has 'kernel_name = ...' for each");
}
