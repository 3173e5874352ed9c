/* heddle trace record|info|check|dump: files of traces (emu/trace_file.h). */
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
#include <unistd.h>

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
    {.name = "launch",
     .argument = "N[-M]",
     .standard = "all",
     .help = "Record these launches alone, from 0. Not for hdt.",
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

/* "3" or "3-7". */
static bool read_range(struct estimate_call *c, const char *option, const char *text,
                       uint32_t to[2])
{
    char first[16];
    unsigned long a, b;
    const char *dash = strchr(text, '-');
    snprintf(first, sizeof first, "%.*s", dash ? (int)(dash - text) : (int)strlen(text), text);
    if (!option_number(c->command, option, first, UINT32_MAX - 1, &a)) return false;
    b = a;
    if (dash && !option_number(c->command, option, dash + 1, UINT32_MAX - 1, &b)) return false;
    if (b < a)
        return usage_error(c->command, "%s: '%s' ends before it begins", option, text), false;
    to[0] = (uint32_t)a, to[1] = (uint32_t)b;
    return true;
}

static bool set_launch(struct estimate_call *c, const char *value)
{
    struct record_call *r = c->self;
    r->filters = true;
    return read_range(c, "--launch", value, r->filter.launch);
}

static bool set_cta(struct estimate_call *c, const char *value)
{
    struct record_call *r = c->self;
    r->filters = r->filters_accesses = true;
    return read_range(c, "--cta", value, r->filter.cta);
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
    if (r->filters && hdt)
        return usage_error(c->command, "--launch, --cta and --space are for --format memtrace1, "
                                       "memtrace3 and accelsim: an estimate needs all launches");
    if (r->filters_accesses && accelsim)
        return usage_error(c->command,
                           "--cta and --space are not for accelsim: Accel-Sim needs all "
                           "instructions of all CTAs");
    return EXIT_FINE;
}

static const struct estimate_option record_added[] = {{"--output", set_output, false},
                                                      {"-o", set_output, false},
                                                      {"--format", set_format, false},
                                                      {"--launch", set_launch, false},
                                                      {"--cta", set_cta, false},
                                                      {"--space", set_space, false},
                                                      {NULL, NULL, false}};

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
    if (status == EXIT_FINE && !hdt) {
        arena_free(arena);
        return finish_output(c.command,
                             trace_accesses(call.format, &call.filter, output, argc, argv));
    }
    if (status == EXIT_FINE && unlink(output) != 0 && errno != ENOENT)
        status = usage_error(c.command, "cannot replace '%s': %s", output, strerror(errno));
    c.traces = output;
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
        "With --format memtrace1 or memtrace3 all accesses of global memory are recorded, one by one, with accelsim all "
        "instructions; nothing is estimated, and --gpu is as for 'heddle run'.\n"
        "The other options are those of 'heddle run'. The output of the target goes to standard error.",
    .options = record_options,
    .option_count = sizeof record_options / sizeof *record_options,
    .also = &command_run,
    .exit_status = "  0  success; otherwise as for 'heddle run'",
    .examples =
        "  heddle trace record --gpu gv100 --output app.hdt ./app 4096\n"
        "  heddle trace record --format memtrace3 --launch 3-7 --cta 0-15 -o app.trc ./app 4096",
    .run = trace_record,
};

/* ---- reading ------------------------------------------------------------------------------------------------- */

/* Each launch of the files goes to `each`. */
static int
read_files(const char *command, int argc, char **argv,
           void (*each)(void *self, const struct trace_file *, const struct emu_counts *),
           void (*end)(void *self, const char *path, const struct trace_file *), void *self)
{
    int status = EXIT_FINE;
    if (argc < 2) return usage_error(command, "no file");
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) return usage_error(command, "cannot read '%s': %s", argv[i], strerror(errno));
        struct trace_file in = {.file = f, .arena = arena_new()};
        for (const struct emu_counts *c; (c = trace_file_next(&in));)
            if (each) each(self, &in, c);
        if (in.why) {
            fprintf(stderr, "heddle %s: '%s': %s, after %" PRIu64 " whole frames\n", command,
                    argv[i], in.why, in.frames);
            status = EXIT_INPUT;
        } else if (end) end(self, argv[i], &in);
        (void)fclose(f);
        arena_free(in.arena);
    }
    return status;
}

struct sums {
    uint64_t launches, ctas, instructions, recorded;
};

static void print_launch(void *self, const struct trace_file *in, const struct emu_counts *c)
{
    struct sums *s = self;
    const struct emu_trace *t = c->trace;
    if (!in->launch) {
        printf("run: %s\n", in->run ? in->run : "");
        printf("%6s  %-28s %-10s %-12s %12s %10s %14s %14s\n", "launch", "kernel", "gpu", "order",
               "CTAs", "traced", "instructions", "recorded");
    }
    printf("%6u  %-28.28s %-10s %-12s %12" PRIu64 " %10u %14" PRIu64 " %14" PRIu64 "\n", in->launch,
           c->kernel, c->gpu->name, c->order, c->ctas, t->cta_count + t->heavy_count,
           c->phases[0].total.warp_instructions, t->recorded);
    s->launches++;
    s->ctas += t->cta_count + t->heavy_count;
    s->instructions += c->phases[0].total.warp_instructions;
    s->recorded += t->recorded;
}

static void print_sums(void *self, const char *path, const struct trace_file *in)
{
    const struct sums *s = self;
    printf("%s: %" PRIu64 " launches, %" PRIu64 " CTAs, %" PRIu64 " frames, %" PRIu64
           " bytes (%" PRIu64 " decompressed)",
           path, s->launches, s->ctas, in->frames, in->bytes, in->full);
    if (s->recorded)
        printf(", %.2f bytes for each recorded warp instruction",
               (double)in->bytes / (double)s->recorded);
    printf("\n");
}

static int trace_info(int argc, char **argv)
{
    struct sums s = {0};
    return finish_output("trace info",
                         read_files("trace info", argc, argv, print_launch, print_sums, &s));
}

const struct command command_trace_info = {
    .name = "trace info",
    .summary = "list the launches of trace files",
    .usage = "trace info FILE...",
    .description =
        "Prints each launch: kernel, GPU, order, CTAs, how many of them were traced, the warp instructions of the "
        "launch and those that were recorded; and how large the file is.",
    .exit_status =
        "  0  success\n  1  a file is damaged\n  2  a wrong call, or a file that cannot be read",
    .examples = "  heddle trace info app.hdt",
    .run = trace_info,
};

static void print_whole(void *self, const char *path, const struct trace_file *in)
{
    (void)self;
    printf("%s: %" PRIu64 " frames are whole\n", path, in->frames);
}

static int trace_check(int argc, char **argv)
{
    return finish_output("trace check",
                         read_files("trace check", argc, argv, NULL, print_whole, NULL));
}

const struct command command_trace_check = {
    .name = "trace check",
    .summary = "check that trace files are whole",
    .usage = "trace check FILE...",
    .description =
        "Reads each file to its end: checksums, the number of CTAs of each launch, and every number that "
        "is an index or a size.",
    .exit_status =
        "  0  all are whole\n  1  a file is cut off or damaged\n  2  a wrong call, or a file that cannot be read",
    .examples = "  heddle trace check app.hdt",
    .run = trace_check,
};

/* ---- dump ------------------------------------------------------------------------------------------------------ */

static const struct command_option dump_options[] = {
    {.name = "launch", .argument = "N", .help = "Only this launch of each run, from 0.", .id = 'l'},
    {.name = "cta", .argument = "N", .help = "Only this CTA, by its linear index.", .id = 'c'},
    {.name = "warp", .argument = "N", .help = "Only this warp of each CTA.", .id = 'w'},
};

struct dump {
    unsigned long launch, cta, warp;
};
#define ALL (~0ul)

static void print_access(const struct emu_trace *t, const struct trace_cta *c,
                         const uint32_t *words)
{
    static const char *const spaces[] = {"", "global", "shared", "local"};
    const uint32_t tag = words[0] & 3, inst = t->site_inst[words[0] >> 2],
                   size = words[tag == TRACE_SHARED ? 1 : 2];
    const struct ptx_op *op = t->insts[inst].op;
    printf("    %-6s %.*s lanes=%u", spaces[tag], op ? (int)op->text_length : 0, op ? op->text : "",
           TRACE_SIZE_LANES(size));
    if (tag == TRACE_SHARED) printf(" passes=%u", TRACE_SIZE_N(size));
    for (uint32_t i = 0; tag != TRACE_SHARED && i < TRACE_SIZE_N(size); i++) {
        const struct trace_line *n = &c->lines[words[1] + i];
        printf(" 0x%" PRIx64 "/%x", (uint64_t)n->line * 128, n->sectors);
    }
    printf("\n");
}

static void print_warp(const struct emu_trace *t, const struct trace_cta *c, uint32_t warp)
{
    const struct trace_warp *w = &c->warps[warp];
    printf("  warp %u: %" PRIu64 " instructions, %u recorded\n", warp, w->instructions,
           w->recorded);
    for (uint32_t at = 0; at < w->count;) {
        const uint32_t *words = w->words + at;
        if ((words[0] & 3) != TRACE_BLOCK) {
            print_access(t, c, words);
            at += 1 + trace_access_words(words);
            continue;
        }
        const struct trace_block *b = &t->blocks[TRACE_BLOCK_OF(words[0])];
        printf("    block %u: %u instructions", TRACE_BLOCK_OF(words[0]), b->count);
        if (TRACE_LEVEL_OF(words[0])) printf(", level %u", TRACE_LEVEL_OF(words[0]));
        printf("\n");
        at++;
    }
}

static void dump_launch(void *self, const struct trace_file *in, const struct emu_counts *c)
{
    const struct dump *d = self;
    const struct emu_trace *t = c->trace;
    if (d->launch != ALL && d->launch != in->launch) return;
    printf("launch %u: %s, %s, %s\n", in->launch, c->kernel, c->gpu->name, c->order);
    for (uint32_t i = 0; i < t->cta_count + t->heavy_count; i++) {
        const struct trace_cta *cta = i < t->cta_count ? t->ctas[i] : t->heavy[i - t->cta_count];
        if (d->cta != ALL && d->cta != cta->linear) continue;
        printf(" CTA %u%s\n", cta->linear, i < t->cta_count ? "" : ", heavy");
        for (uint32_t w = 0; w < cta->warp_count; w++)
            if (d->warp == ALL || d->warp == w) print_warp(t, cta, w);
    }
}

static int trace_dump(int argc, char **argv)
{
    struct words w = {.command = &command_trace_dump, .argc = argc, .argv = argv};
    struct dump d = {ALL, ALL, ALL};
    for (int id; (id = words_next(&w));) {
        unsigned long *to = id == 'l' ? &d.launch : id == 'c' ? &d.cta : &d.warp;
        if (!option_number("trace dump",
                           id == 'l'   ? "--launch"
                           : id == 'c' ? "--cta"
                                       : "--warp",
                           w.value, UINT32_MAX, to))
            return EXIT_USAGE;
    }
    if (w.wrong) return EXIT_USAGE;
    return finish_output("trace dump",
                         read_files("trace dump", w.operands + 1, argv, dump_launch, NULL, &d));
}

const struct command command_trace_dump = {
    .name = "trace dump",
    .summary = "print traces as text",
    .usage = "trace dump [options] FILE...",
    .description =
        "Prints what each traced warp did, in its order: the blocks that it entered, and its accesses to memory, "
        "each with the active lanes and, for each line of 128 bytes, its address and the mask of its sectors.",
    .options = dump_options,
    .option_count = sizeof dump_options / sizeof *dump_options,
    .exit_status =
        "  0  success\n  1  a file is damaged\n  2  a wrong call, or a file that cannot be read",
    .examples = "  heddle trace dump --launch 0 --cta 0 app.hdt",
    .run = trace_dump,
};
