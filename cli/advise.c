/* heddle advise TARGET: which lines of a program's kernels access memory in a way that costs cycles, and how many a
 * rewrite would save: the launch's trace is executed again with better accesses of that line (model/what_if.h). */
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/estimate.h"
#include "cli/json.h"

#include "base/arena.h"
#include "emu/counts.h"
#include "emu/trace_file.h"
#include "model/launch_estimate.h"
#include "model/what_if.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST = 1 /* percent of all cycles: less is not worth a line */, CANDIDATES = 64 };

static const struct command_option options[] = {
    {.name = "gpu",
     .argument = "NAME",
     .standard = "titanv",
     .help = "The GPU, as for 'heddle estimate'.",
     .id = 1},
    {.name = "from",
     .argument = "FILE",
     .help = "A trace file ('heddle trace record') instead of a target.",
     .id = 1},
    {.name = "format",
     .argument = "table|json",
     .standard = "table",
     .help = "json: docs/formats.md.",
     .id = 1},
};

struct advice { /* for one line of one kernel, summed over its launches */
    const char *kernel, *file;
    uint32_t line;
    uint8_t change; /* enum what_if_change */
    struct what_if_counted counted;
    double saved; /* cycles */
};
struct advices {
    struct arena *arena;
    struct advice *list;
    size_t count, cap;
    double cycles; /* of all launches */
    const char *gpu;
};

/* ---- candidates ------------------------------------------------------------------------------------------------ */

/* What could be better about the instruction: WHAT_IF_SAME if nothing. */
static uint8_t change_of(const struct emu_instruction *i)
{
    const double least = (double)i->bytes / EMU_SECTOR_BYTES;
    if (i->collisions) return WHAT_IF_SHARED;
    if (i->accesses && (double)i->sectors > 1.25 * least && i->sectors > i->accesses)
        return WHAT_IF_COALESCED;
    if (i->shared && (double)i->passes > 1.25 * (double)i->shared) return WHAT_IF_UNBANKED;
    return WHAT_IF_SAME;
}

static const char *file_of(const struct emu_instruction *i)
{
    return i->file && i->source_line ? i->file : i->module;
}

static uint32_t line_of(const struct emu_instruction *i)
{
    return i->file && i->source_line ? i->source_line : i->line;
}

static struct advice *advice_of(struct advices *a, const char *kernel,
                                const struct emu_instruction *i, uint8_t change)
{
    for (size_t k = 0; k < a->count; k++)
        if (a->list[k].change == change && a->list[k].line == line_of(i) &&
            strcmp(a->list[k].file, file_of(i)) == 0 && strcmp(a->list[k].kernel, kernel) == 0)
            return &a->list[k];
    a->list = arena_grow(a->arena, a->list, a->count, &a->cap, a->count + 1, sizeof *a->list);
    a->list[a->count] = (struct advice){
        .kernel = kernel, .file = file_of(i), .line = line_of(i), .change = change};
    return &a->list[a->count++];
}

/* The line's instructions of this change, in `changes`; of atomics, those of all lines, since they wait for each other.
 * false: an earlier instruction had them. */
static bool choose_line(const struct emu_counts *c, size_t first, uint8_t change, uint8_t *changes)
{
    memset(changes, WHAT_IF_SAME, c->instruction_count);
    for (size_t k = 0; k < c->instruction_count; k++) {
        const struct emu_instruction *x = &c->instructions[first], *y = &c->instructions[k];
        const bool line = line_of(x) == line_of(y) && strcmp(file_of(x), file_of(y)) == 0,
                   same = change_of(y) == change && (line || change == WHAT_IF_SHARED);
        if (same && k < first) return false;
        if (same) changes[k] = change;
    }
    return true;
}

static void advise_launch(struct advices *a, const struct emu_counts *c)
{
    struct launch_estimate t;
    uint8_t *changes = calloc(c->instruction_count + 1, 1);
    if (!changes) abort();
    if (launch_estimate_of(c, &t)) {
        a->cycles += t.cycles;
        for (size_t i = 0, tried = 0; i < c->instruction_count && tried < CANDIDATES; i++) {
            struct what_if_counted counted;
            const uint8_t change = change_of(&c->instructions[i]);
            if (change == WHAT_IF_SAME || !choose_line(c, i, change, changes)) continue;
            const double cycles = what_if_cycles(c, changes, &counted);
            tried++;
            if (cycles <= 0 || counted.after >= counted.before) continue;
            struct advice *x = advice_of(a, c->kernel, &c->instructions[i], change);
            x->saved += t.cycles - cycles;
            x->counted.accesses += counted.accesses;
            x->counted.before += counted.before;
            x->counted.after += counted.after;
        }
    }
    free(changes);
}

static int most_first(const void *a, const void *b)
{
    const struct advice *x = a, *y = b;
    return x->saved != y->saved ? (x->saved < y->saved) - (x->saved > y->saved)
                                : (x->line > y->line) - (x->line < y->line);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static const char *const names[WHAT_IF_CHANGES] = {"", "coalesce", "bank-conflicts", "atomics"};
static const char *const units[WHAT_IF_CHANGES] = {"", "sectors", "passes", "rounds"};
static const char *const texts[WHAT_IF_CHANGES] = {
    "",
    "Lanes of a warp access addresses that lie in many sectors, and each sector of 32 bytes is moved for a few of them: let "
    "consecutive lanes access consecutive addresses, by another layout or through a tile in shared memory.",
    "Lanes of a warp access different words of one bank of shared memory, which serves them one after another: pad the "
    "rows of the array by one element, or swizzle its columns.",
    "Lanes of a warp change one address by atomics, which L2 carries out one after another: add up in registers or in "
    "shared memory first, and do one atomic for each CTA. The saving is that of all such lines of the kernel."};

static bool is_worth_it(const struct advices *a, const struct advice *x)
{
    return x->saved * 100 >= LEAST * a->cycles;
}

static void print_table(const struct advices *a)
{
    size_t shown = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct advice *x = &a->list[i];
        if (!is_worth_it(a, x)) continue;
        printf("%s:%u, %s: up to %.0f of %.0f cycles (%.0f %%)\n", x->file, x->line, x->kernel,
               x->saved, a->cycles, 100 * x->saved / a->cycles);
        printf("  %.1f %s for each access, %.1f would do\n",
               (double)x->counted.before / (double)x->counted.accesses, units[x->change],
               (double)x->counted.after / (double)x->counted.accesses);
        printf("  %s\n", texts[x->change]);
        shown++;
    }
    if (!shown)
        printf(
            "nothing to gain from other accesses to memory: less than %d %% of the cycles for each line\n",
            LEAST);
}

static void print_json(const struct advices *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->count; i++) {
        const struct advice *x = &a->list[i];
        if (!is_worth_it(a, x)) continue;
        json_array_append_new(
            list, json_pack("{sososisssfsIsIsIssss}", "kernel", json_text(x->kernel), "file",
                            json_text(x->file), "line", (int)x->line, "advice", names[x->change],
                            "saved_cycles", x->saved, "accesses", (json_int_t)x->counted.accesses,
                            "before", (json_int_t)x->counted.before, "after",
                            (json_int_t)x->counted.after, "unit", units[x->change], "text",
                            texts[x->change]));
    }
    json_t *d = json_pack("{sssisssfso}", "format", "heddle-advice", "version", 1, "gpu", a->gpu,
                          "cycles", a->cycles, "advice", list);
    (void)json_dumpf(d, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    printf("\n");
    json_decref(d);
}

/* ---- the command --------------------------------------------------------------------------------------------------- */

static bool set_from(struct estimate_call *c, const char *value)
{
    const char **from = c->self;
    if (*from) return usage_error("advise", "--from is given twice"), false;
    *from = value;
    return true;
}

static int read_file(const char *path, struct advices *a)
{
    FILE *f = fopen(path, "rb");
    if (!f) return usage_error("advise", "cannot read '%s': %s", path, strerror(errno));
    struct trace_file in = {.file = f, .arena = a->arena};
    for (const struct emu_counts *c; (c = trace_file_next(&in));) {
        a->gpu = c->gpu->name;
        advise_launch(a, c);
    }
    (void)fclose(f);
    if (in.why) fprintf(stderr, "heddle advise: '%s': %s\n", path, in.why);
    return in.why ? EXIT_INPUT : EXIT_FINE;
}

static int run_and_read(struct estimate_call *c, struct advices *a)
{
    struct estimates unused;
    const char *folder = getenv("TMPDIR");
    char *path = arena_printf(c->arena, "%s/heddle-advise-XXXXXX",
                              folder && *folder ? folder : "/tmp");
    const int file = mkstemp(path);
    if (file < 0) return usage_error("advise", "cannot write '%s': %s", path, strerror(errno));
    (void)close(file);
    c->traces = path;
    int status = estimate_run(c, c->gpus[0], "native", &unused);
    if (status == EXIT_FINE) status = read_file(path, a);
    (void)unlink(path);
    return status;
}

static int judge(const struct estimate_call *c, const char *from)
{
    if (from && c->target) return usage_error("advise", "--from takes no target");
    if (!from && !c->target) return usage_error("advise", "no target");
    if (c->gpu_count > 1 || c->order_count || c->traces)
        return usage_error("advise", "one GPU, without --order and --traces");
    if (c->format == FORMAT_CSV)
        return usage_error("advise", "--format is table or json, not 'csv'");
    return EXIT_FINE;
}

static int advise(int argc, char **argv)
{
    static const struct estimate_option added[] = {{"--from", set_from, false},
                                                   {NULL, NULL, false}};
    struct arena *arena = arena_new();
    const char *from = NULL;
    struct estimate_call c = {.arena = arena, .command = "advise", .added = added, .self = &from};
    struct advices a = {.arena = arena, .gpu = ""};
    int status = estimate_read_call(&c, argc, argv) ? judge(&c, from) : c.status;
    if (status == EXIT_FINE) status = from ? read_file(from, &a) : run_and_read(&c, &a);
    if (status == EXIT_FINE) {
        if (a.count) qsort(a.list, a.count, sizeof *a.list, most_first);
        if (c.format == FORMAT_JSON) print_json(&a);
        else print_table(&a);
    }
    arena_free(arena);
    return finish_output("advise", status);
}

const struct command command_advise = {
    .name = "advise",
    .summary = "name the lines whose accesses to memory cost cycles, and what a rewrite would save",
    .usage = "advise [options] TARGET [ARGUMENTS]\nadvise [options] --from FILE",
    .description =
        "Runs TARGET (as for 'heddle estimate') and looks for lines that access global memory with more sectors than "
        "their bytes need, shared memory with bank conflicts, or one address by atomics of several lanes. For each, the "
        "timing model executes the trace again with better accesses of this line alone. The difference of the two "
        "estimates is what a rewrite saves at most: instructions that it adds are not counted. Lines that would save "
        "less than 1 % of all cycles are left out.\n"
        "The other options are those of 'heddle run'. The output of the target goes to standard error.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .also = &command_run,
    .exit_status = "  0  success; otherwise as for 'heddle run'",
    .examples =
        "  heddle advise suite:transpose_naive --gpu gv100\n  heddle advise --from app.hdt --format json",
    .run = advise,
};
