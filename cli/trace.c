/* heddle trace record: writes files of traces (emu/trace_file.h). */
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/estimate.h"
#include "cli/trace_accesses.h"

#include "base/arena.h"
#include "determinism/record/access_trace.h"
#include "emu/trace.h"
#include "emu/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- record ------------------------------------------------------------------------------------------------ */

static const struct command_option record_options[] = {
    {.name = "output",
     .argument = "FILE",
     .standard = "trace.hdt; trace.trc; traces",
     .help = "The file; of accelsim the folder. One that is there is replaced.",
     .id = 1},
    {.name = "format",
     .argument = "hdt|memtrace1|memtrace3|accelsim",
     .standard = "hdt",
     .help =
         "hdt: what 'heddle estimate --from' reads. memtrace1, memtrace3: a record of 24 bytes for each access of a "
         "lane to global memory, as the tracers of Rieber's thesis write. Launches on CUDA stream N are in FILE-N. "
         "accelsim: a folder of traces for Accel-Sim, from PTX (docs/formats.md).",
     .id = 1},
    {.name = "addresses",
     .help =
         "Of hdt: record every instruction and the address of each lane, of all CTAs, instead of what an estimate "
         "needs. 'heddle trace convert' makes the other formats of it.",
     .id = 1},
    {.name = "launch",
     .argument = "N[-M]",
     .standard = "all",
     .help = "Record these launches alone, from 0. Of hdt with --addresses.",
     .id = 1},
    {.name = "cta",
     .argument = "N[-M]",
     .standard = "all",
     .help =
         "Record the accesses of these CTAs alone, by linear index from 0. For memtrace1 and memtrace3.",
     .id = 1},
    {.name = "space",
     .argument = "global|shared|local",
     .standard = "global",
     .help = "Record the accesses of this state space. For memtrace1 and memtrace3.",
     .id = 1},
    {.name = "gpu",
     .argument = "NAME",
     .standard = "titanv",
     .help = "The GPU whose SMs and caches the traces are for, as for 'heddle estimate'.",
     .id = 1},
    {.name = "order",
     .argument = "ORDER",
     .standard = "native",
     .help = "As for 'heddle estimate'.",
     .id = 1},
};

struct record_call {
    const char *output, *format; /* NULL: not given */
    struct access_trace_filter filter;
    bool addresses;
    bool filters, filters_accesses; /* --launch, --cta or --space; --cta or --space */
};

static bool set_output(struct estimate_call *c, const char *value)
{
    struct record_call *r = c->self;
    if (r->output) return usage_error(c->command, "--output is given twice"), false;
    r->output = value;
    return true;
}

static bool set_format(struct estimate_call *c, const char *value)
{
    struct record_call *r = c->self;
    r->format = value;
    return true;
}

static bool set_addresses(struct estimate_call *c, const char *value)
{
    struct record_call *r = c->self;
    (void)value;
    return r->addresses = true;
}

/* "3" or "3-7". */
bool trace_read_range(const char *command, const char *option, const char *text, uint32_t to[2])
{
    char first[16];
    unsigned long a, b;
    const char *dash = strchr(text, '-');
    snprintf(first, sizeof first, "%.*s", dash ? (int)(dash - text) : (int)strlen(text), text);
    if (!option_number(command, option, first, UINT32_MAX - 1, &a)) return false;
    b = a;
    if (dash && !option_number(command, option, dash + 1, UINT32_MAX - 1, &b)) return false;
    if (b < a) return usage_error(command, "%s: '%s' ends before it begins", option, text), false;
    to[0] = (uint32_t)a, to[1] = (uint32_t)b;
    return true;
}

static bool set_launch(struct estimate_call *c, const char *value)
{
    struct record_call *r = c->self;
    r->filters = true;
    return trace_read_range(c->command, "--launch", value, r->filter.launch);
}

static bool set_cta(struct estimate_call *c, const char *value)
{
    struct record_call *r = c->self;
    r->filters = r->filters_accesses = true;
    return trace_read_range(c->command, "--cta", value, r->filter.cta);
}

static bool set_space(struct estimate_call *c, const char *value)
{
    struct record_call *r = c->self;
    r->filters = r->filters_accesses = true;
    for (int i = 0; i < ACCESS_TRACE_SPACES; i++)
        if (strcmp(value, access_trace_space_names[i]) == 0)
            return r->filter.space = (uint8_t)i, true;
    return usage_error(c->command, "--space is global, shared or local, not '%s'", value), false;
}

static int judge_filters(const struct estimate_call *c, const struct record_call *r, bool hdt,
                         bool accelsim)
{
    if (r->addresses && !hdt)
        return usage_error(c->command, "--addresses is for --format hdt: the others have them");
    if (r->filters && hdt && !r->addresses)
        return usage_error(c->command, "--launch, --cta and --space are for --format memtrace1, "
                                       "memtrace3 and accelsim: an estimate needs all launches");
    if (r->filters_accesses && hdt)
        return usage_error(c->command,
                           "--cta and --space are not for hdt: with --addresses it has "
                           "all CTAs and spaces, of which 'heddle trace convert' chooses");
    if (r->filters_accesses && accelsim)
        return usage_error(c->command,
                           "--cta and --space are not for accelsim: Accel-Sim needs all "
                           "instructions of all CTAs");
    return EXIT_FINE;
}

static const struct estimate_option record_added[] = {
    {"--output", set_output, false}, {"-o", set_output, false},
    {"--format", set_format, false}, {"--addresses", set_addresses, true},
    {"--launch", set_launch, false}, {"--cta", set_cta, false},
    {"--space", set_space, false},   {NULL, NULL, false}};

static int trace_record(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct record_call call = {.filter = access_trace_all};
    struct estimate_call c = {
        .arena = arena, .command = "trace record", .added = record_added, .self = &call};
    struct estimates e;
    int status = estimate_read_call(&c, argc, argv) ? EXIT_FINE : c.status;
    const bool hdt = !call.format || strcmp(call.format, "hdt") == 0;
    const bool accelsim = call.format && strcmp(call.format, "accelsim") == 0;
    const char *output = call.output ? call.output
                         : hdt       ? "trace.hdt"
                         : accelsim  ? "traces"
                                     : "trace.trc";
    if (status == EXIT_FINE && !c.target) status = usage_error(c.command, "no target");
    else if (status == EXIT_FINE && (c.gpu_count > 1 || c.order_count > 1))
        status = usage_error(c.command, "one GPU and one order: a trace is for these");
    else if (status == EXIT_FINE && c.traces)
        status = usage_error(c.command, "--traces is for 'heddle estimate'");
    if (status == EXIT_FINE) status = judge_filters(&c, &call, hdt, accelsim);
    if (status == EXIT_FINE && (!hdt || call.addresses)) {
        c.index = true;
        const struct trace_origin origin = estimate_origin(&c);
        status = trace_accesses(hdt ? "hdt" : call.format, &call.filter, output, &origin, argc,
                                argv);
        arena_free(arena);
        return finish_output(c.command, status);
    }
    FILE *f = status == EXIT_FINE ? fopen(output, "wb") : NULL; /* traces are added to it */
    if (status == EXIT_FINE && (!f || fclose(f) != 0))
        status = usage_error(c.command, "cannot write '%s': %s", output, strerror(errno));
    c.traces = output;
    c.index = c.traces_only = true;
    if (status == EXIT_FINE)
        status = estimate_run(&c, c.gpus[0], c.order_count ? c.orders[0] : "native", &e);
    arena_free(arena);
    return finish_output("trace record", status);
}

const struct command command_trace_record = {
    .name = "trace record",
    .summary = "record the traces of a run's launches",
    .usage = "trace record [options] TARGET [ARGUMENTS]",
    .description =
        "Runs TARGET (as for 'heddle estimate') and writes the trace of each launch to a file: the basic blocks that "
        "each traced warp entered, and the lines that its accesses touched (docs/formats.md). 'heddle estimate --from' "
        "and 'heddle report --from' read it, as does 'heddle calibrate --traces'.\n"
        "With --addresses it has every instruction and address instead, for 'heddle trace convert'.\n"
        "With --format memtrace1 or memtrace3 all accesses of global memory are recorded, one by one, with accelsim all "
        "instructions; nothing is estimated, and --gpu is as for 'heddle run'.\n"
        "The other options are those of 'heddle run'. The output of the target goes to standard error.",
    .options = record_options,
    .option_count = sizeof record_options / sizeof *record_options,
    .also = &command_run,
    .exit_status = "  0  success; otherwise as for 'heddle run'",
    .examples =
        "  heddle trace record --gpu gv100 --output app.hdt ./app 4096\n"
        "  heddle trace record --addresses --output app.hdt ./app 4096\n"
        "  heddle trace record --format memtrace3 --launch 3-7 --cta 0-15 -o app.trc ./app 4096",
    .run = trace_record,
};
