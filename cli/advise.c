/* heddle advise TARGET: prints lines of a program's kernels for which a rewrite would save cycles, and the saving: the
 * timing model executes the launch's trace with better accesses or fuller warps (cli/advise_find.c). */
#define _GNU_SOURCE
#include "cli/advise.h"
#include "cli/command.h"
#include "cli/estimate.h"
#include "cli/file_steps.h"

#include "base/arena.h"
#include "emu/counts.h"
#include "emu/trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    struct file_steps steps;
    file_steps_begin(&steps, &in);
    for (const struct emu_counts *c; (c = trace_file_next(&in));) {
        a->gpu = c->gpu->name;
        advices_add_launch(a, c);
    }
    file_steps_end(&steps);
    (void)fclose(f);
    if (in.why) fprintf(stderr, "heddle advise: '%s': %s\n", path, in.why);
    else if (!a->launches)
        fprintf(stderr, "heddle advise: there is no launch with a trace%s\n",
                in.events ? ": the file was recorded with --addresses" : "");
    return in.why || !a->launches ? EXIT_INPUT : EXIT_FINE;
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
    c->traces_only = true;
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
        advices_sort(&a);
        if (c.format == FORMAT_JSON) advices_print_json(&a);
        else advices_print(&a);
    }
    arena_free(arena);
    return finish_output("advise", status);
}

const struct command command_advise = {
    .name = "advise",
    .summary = "name the lines that cost cycles, and what a rewrite would save",
    .usage = "advise [options] TARGET [ARGUMENTS]\nadvise [options] --from FILE",
    .description =
        "Runs TARGET (as for 'heddle estimate') and looks for lines that access global memory with more sectors than "
        "their bytes need, that load words again that another load of the CTA has, that load words side by side one by "
        "one, for bank conflicts of shared memory, atomics of several lanes or warps on one address, warps with idle "
        "lanes, SMs without CTAs, and registers or shared memory that limit the CTAs of an SM. For each, the timing "
        "model executes the trace again without it. The difference of the two estimates is what a rewrite saves at "
        "most: instructions that it adds are not counted. What would save less than 1 % of all cycles is left out.\n"
        "The other options are those of 'heddle run'. The output of the target goes to standard error.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .also = &command_run,
    .exit_status = "  0  success; otherwise as for 'heddle run'",
    .examples =
        "  heddle advise suite:transpose_naive --gpu gv100\n  heddle advise --from app.hdt --format json",
    .run = advise,
};
