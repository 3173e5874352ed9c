/* heddle trace convert: converts a file of traces to another format, without running the target. */
#include "cli/command.h"
#include "cli/file_steps.h"
#include "cli/trace_accesses.h"

#include "base/arena.h"
#include "determinism/record/access_trace.h"
#include "emu/order.h"
#include "emu/trace_events.h"
#include "emu/trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct command_option convert_options[] = {
    {.name = "output", .argument = "FILE", .help = "The file; of accelsim the folder.", .id = 'o'},
    {.name = "format",
     .argument = "memtrace1|memtrace3|accelsim|hdt",
     .help = "As for 'heddle trace record'. hdt: the whole launches again, with an index.",
     .id = 'f'},
    {.name = "launch",
     .argument = "N[-M]",
     .standard = "all",
     .help = "These launches alone, from 0.",
     .id = 'l'},
    {.name = "cta",
     .argument = "N[-M]",
     .standard = "all",
     .help = "The accesses of these CTAs alone, by linear index. For memtrace1 and memtrace3.",
     .id = 'c'},
    {.name = "space",
     .argument = "global|shared|local",
     .standard = "global",
     .help = "The accesses of this state space. For memtrace1 and memtrace3.",
     .id = 's'},
};

struct convert {
    const char *input, *output, *format;
    struct access_trace_filter filter;
    bool filters_accesses;
    struct access_trace *accesses; /* NULL: the format is hdt */
    /* Of hdt: */
    struct trace_file *in;
    struct trace_writer out;
    struct trace_events *events;
    struct emu_observer observer;
    const char *run; /* that was written last; NULL: none */
    bool failed, on; /* on: the launch is written */
};

static bool is_chosen(const struct convert *c, uint32_t launch)
{
    return launch >= c->filter.launch[0] && launch <= c->filter.launch[1];
}

/* ---- to hdt ---------------------------------------------------------------------------------------------------- */

static void write_run(struct convert *c)
{
    if (c->in->run == c->run) return;
    c->run = c->in->run;
    const struct trace_origin none = {.run = c->run};
    c->failed |= !trace_file_origin(&c->out, c->in->origin ? c->in->origin : &none);
}

static void begin(void *self, const struct trace_launch *l)
{
    struct convert *c = self;
    if (c->accesses) {
        access_trace_launch(c->accesses, l);
        return;
    }
    c->on = is_chosen(c, l->number);
    if (!c->on) return;
    write_run(c);
    trace_events_begin(c->events, l);
    c->out.code = 0; /* its code holds no more */
}

static const struct emu_observer *observer(void *self)
{
    struct convert *c = self;
    if (c->accesses) return access_trace_observer(c->accesses);
    return c->on ? &c->observer : NULL;
}

static void copy_issue(void *self, const struct emu_warp *who, uint32_t pc, uint32_t lanes)
{
    trace_events_issue(((struct convert *)self)->events, who, pc, lanes);
}

static void copy_access(void *self, const struct emu_access *a)
{
    trace_events_access(((struct convert *)self)->events, a);
}

static void copy_sync(void *self, const struct emu_sync *s)
{
    trace_events_cta_exit(((struct convert *)self)->events, s->who);
}

static void copy_end(void *self)
{
    trace_events_end(((struct convert *)self)->events);
}

static int convert_to_hdt(struct convert *c)
{
    FILE *f = fopen(c->output, "w+b");
    if (!f)
        return usage_error("trace convert", "cannot write '%s': %s", c->output, strerror(errno));
    c->out = (struct trace_writer){.file = f, .promises = true};
    c->events = trace_events_new(f);
    c->observer = (struct emu_observer){
        .self = c, .issue = copy_issue, .access = copy_access, .sync = copy_sync, .end = copy_end};
    for (const struct emu_counts *l; (l = trace_file_next(c->in));) {
        if (!is_chosen(c, c->in->launch)) continue;
        write_run(c);
        c->failed |= !trace_file_add(&c->out, l);
    }
    c->failed |= !trace_events_free(c->events);
    size_t launches;
    c->failed |= !trace_index_add(f, &launches);
    c->failed |= fclose(f) != 0;
    if (c->failed)
        fprintf(stderr, "heddle trace convert: '%s' could not be written whole\n", c->output);
    return c->failed || c->in->why ? EXIT_INPUT : EXIT_FINE;
}

/* ---- to the formats of other tools ----------------------------------------------------------------------------- */

static int convert_accesses(struct convert *c, enum access_trace_format format)
{
    c->accesses = access_trace_new(c->output, format, &c->filter);
    uint64_t without = 0;
    while (trace_file_next(c->in)) without++;
    const char *why = access_trace_end(c->accesses);
    if (why) {
        fprintf(stderr, "heddle trace convert: cannot write %s\n", why);
        return EXIT_INPUT;
    }
    if (c->in->why) return EXIT_INPUT;
    if (without)
        fprintf(
            stderr,
            "heddle trace convert: %" PRIu64 " of %" PRIu64
            " launches of '%s' have no addresses of lanes: an estimate's trace has basic blocks and lines of "
            "128 bytes of some CTAs. Record with 'heddle trace record --addresses'\n",
            without, without + c->in->events, c->input);
    return without || !c->in->events ? EXIT_INPUT : EXIT_FINE;
}

static int convert(struct convert *c)
{
    int format = 0;
    while (format < ACCESS_TRACE_FORMATS &&
           strcmp(c->format, access_trace_format_names[format]) != 0)
        format++;
    if (format == ACCESS_TRACE_FORMATS)
        return usage_error("trace convert",
                           "--format is memtrace1, memtrace3, accelsim or hdt, not '%s'",
                           c->format);
    if (c->filters_accesses && format != ACCESS_TRACE_THESIS && format != ACCESS_TRACE_V3)
        return usage_error("trace convert", "--cta and --space are for memtrace1 and memtrace3");
    if (strcmp(c->input, c->output) == 0)
        return usage_error("trace convert", "the output is the input");
    FILE *f = fopen(c->input, "rb");
    if (!f) return usage_error("trace convert", "cannot read '%s': %s", c->input, strerror(errno));
    const struct trace_events_sink sink = {.self = c, .begin = begin, .observer = observer};
    struct trace_file in = {.file = f, .arena = arena_new(), .sink = &sink};
    c->in = &in;
    struct file_steps steps;
    file_steps_begin(&steps, &in);
    const int status = format == ACCESS_TRACE_EVENTS
                           ? convert_to_hdt(c)
                           : convert_accesses(c, (enum access_trace_format)format);
    file_steps_end(&steps);
    if (in.why)
        fprintf(stderr, "heddle trace convert: '%s': %s; the launches before are converted\n",
                c->input, in.why);
    (void)fclose(f);
    arena_free(in.arena);
    c->in = NULL;
    return status;
}

static bool read_space(const char *value, struct access_trace_filter *f)
{
    for (int i = 0; i < ACCESS_TRACE_SPACES; i++)
        if (strcmp(value, access_trace_space_names[i]) == 0) return f->space = (uint8_t)i, true;
    (void)usage_error("trace convert", "--space is global, shared or local, not '%s'", value);
    return false;
}

static bool read_option(struct convert *c, int id, const char *value)
{
    switch (id) {
    case 'o': c->output = value; return true;
    case 'f': c->format = value; return true;
    case 'l': return trace_read_range("trace convert", "--launch", value, c->filter.launch);
    case 'c':
        c->filters_accesses = true;
        return trace_read_range("trace convert", "--cta", value, c->filter.cta);
    default: c->filters_accesses = true; return read_space(value, &c->filter);
    }
}

static int trace_convert(int argc, char **argv)
{
    struct words w = {.command = &command_trace_convert, .argc = argc, .argv = argv};
    struct convert c = {.filter = access_trace_all};
    for (int id; (id = words_next(&w));)
        if (!read_option(&c, id, w.value)) return EXIT_USAGE;
    if (w.wrong) return EXIT_USAGE;
    if (w.operands != 1) return usage_error("trace convert", "one file, not %d", w.operands);
    if (!c.format || !c.output)
        return usage_error("trace convert", "--format and --output are needed");
    c.input = argv[1];
    return finish_output("trace convert", convert(&c));
}

const struct command command_trace_convert = {
    .name = "trace convert",
    .summary = "convert a trace file to another format",
    .usage = "trace convert [options] FILE",
    .description =
        "Writes what 'heddle trace record --addresses' recorded in the format of another tool, without another run. Under an "
        "order the bytes are those of 'heddle trace record --format'; natively the warps' accesses may be in another "
        "sequence (docs/formats.md). Launches on CUDA stream N are in FILE-N.\n"
        "With --format hdt the whole launches of FILE are written again, with an index: of a file of an older version, or of "
        "one that was cut off.\n"
        "A file without addresses cannot be converted to memtrace1, memtrace3 and accelsim.",
    .options = convert_options,
    .option_count = sizeof convert_options / sizeof *convert_options,
    .exit_status =
        "  0  success\n  1  FILE is damaged or has no addresses, or the output could not be written\n  2  a wrong call, or a file that cannot be read",
    .examples = "  heddle trace record --addresses --output app.hdt ./app 4096\n"
                "  heddle trace convert app.hdt --format memtrace3 --output app.trc",
    .run = trace_convert,
};
