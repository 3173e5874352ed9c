/* heddle communication TARGET: runs the target in another process with the observer of
 * determinism/communication/communication.h, and prints the result. */
#define _GNU_SOURCE
#include "cli/communication.h"

#include "base/replace.h"
#include "cli/command.h"
#include "cli/file_steps.h"
#include "cli/observed_run.h"

#include "base/arena.h"
#include "base/buf.h"
#include "determinism/communication/communication.h"
#include "emu/trace_events.h"
#include "emu/trace_file.h"
#include "session/communication_log.h"
#include "session/event_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct command_option options[] = {
    {.name = "granularity",
     .argument = "thread|warp|cta|kernel",
     .standard = "cta",
     .help = "What communicates. With kernel, all that one launch writes and a later one reads.",
     .id = 1},
    {.name = "format",
     .argument = "table|json|csv",
     .standard = "table",
     .help = "csv: a row for each edge between two nodes in two launches (docs/communication.md).",
     .id = 1},
    {.name = "graph",
     .argument = "FILE",
     .help =
         "Also write the graph to FILE: as Graphviz if its name ends with .dot or .gv, otherwise as GraphML.",
     .id = 1},
    {.name = "matrix",
     .argument = "FILE",
     .help =
         "Also write who reads from whom to FILE, as an SVG with a heat map for each pair of kernels.",
     .id = 1},
    {.name = "partition",
     .argument = "N[,N...]",
     .help =
         "Distribute the CTAs of each launch to N devices, and say how many bytes cross from one to another.",
     .id = 1},
    {.name = "by",
     .argument = "linear|x|y|z|metis",
     .standard = "linear",
     .help =
         "With --partition: what is cut into N ranges of equal length: the linear index of a CTA, or one of its "
         "coordinates. metis: the METIS library (libmetis5) chooses the parts so that few bytes cross.",
     .id = 1},
    {.name = "from",
     .argument = "FILE",
     .help =
         "A file of 'heddle trace record --addresses' instead of a target. Nothing is run. It has no copies of the host: "
         "what these wrote counts as initial, what they read as never read.",
     .id = 1},
    {.name = "link-bandwidth",
     .argument = "BYTES/s",
     .help =
         "With --partition: also the time that a device needs to send and receive, as in 25GB/s or 32e9. Only "
         "bandwidth counts, no latency.",
     .id = 1},
};

/* ---- the command line ------------------------------------------------------------------------------------ */

static int choose(const char *option, const char *const *names, int count, const char *text)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], text) == 0) return i;
    struct buf list = {0};
    for (int i = 0; i < count; i++)
        buf_printf(&list, "%s%s", !i ? "" : i + 1 < count ? ", " : " or ", names[i]);
    usage_error("communication", "%s is %s, not '%s'", option, list.data, text);
    buf_free(&list);
    return -1;
}

static bool set_unit(struct communication_call *c, const char *text)
{
    static const char *const names[] = {"kernel", "cta", "warp", "thread"};
    const int i = choose("--granularity", names, 4, text);
    if (i >= 0) c->unit = (enum communication_unit)i;
    return i >= 0;
}

static bool set_format(struct communication_call *c, const char *text)
{
    static const char *const names[] = {"table", "json", "csv"};
    const int i = choose("--format", names, 3, text);
    if (i >= 0) c->format = (enum format)i;
    return i >= 0;
}

static bool set_by(struct communication_call *c, const char *text)
{
    static const char *const names[] = {"linear", "x", "y", "z", "metis"};
    const int i = choose("--by", names, 5, text);
    if (i >= 0) c->by = (enum partition_by)i;
    c->by_given = true;
    return i >= 0;
}

static bool set_graph(struct communication_call *c, const char *text)
{
    c->graph = text;
    return true;
}

static bool set_matrix(struct communication_call *c, const char *text)
{
    c->matrix = text;
    return true;
}

static bool set_partition(struct communication_call *c, const char *text)
{
    for (const char *at = text;; at++) {
        char *end;
        const unsigned long n = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (n < 1 || n > MOST_DEVICES || (*end && *end != ',')) {
            usage_error("communication",
                        "--partition takes numbers of devices from 1 to %d, not '%s'", MOST_DEVICES,
                        text);
            return false;
        }
        if (c->device_counts == MOST_PARTITIONS) {
            usage_error("communication", "--partition takes at most %d numbers", MOST_PARTITIONS);
            return false;
        }
        c->devices[c->device_counts++] = (uint32_t)n;
        if (!*end) return true;
        at = end;
    }
}

/* "25GB/s", "32e9" */
static bool set_bandwidth(struct communication_call *c, const char *text)
{
    static const char units[] = "kMGT";
    char *end;
    c->bandwidth = *text >= '0' && *text <= '9' ? strtod(text, &end) : 0;
    const bool begins = c->bandwidth >= 1 && c->bandwidth < 1e18;
    const char *unit = begins && *end ? strchr(units, *end) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++) c->bandwidth *= 1000;
        end++;
    }
    if (begins && (!*end || strcmp(end, "B/s") == 0)) return true;
    usage_error("communication", "--link-bandwidth is bytes/s as in 25GB/s or 32e9, not '%s'",
                text);
    return false;
}

static bool set_from(struct communication_call *c, const char *text)
{
    c->from = text;
    return true;
}

static bool read_call(struct communication_call *c, int argc, char **argv,
                      struct observed_words *words)
{
    static const struct {
        const char *name;
        bool (*set)(struct communication_call *, const char *);
    } own[] = {{"--granularity", set_unit},
               {"--format", set_format},
               {"--graph", set_graph},
               {"--matrix", set_matrix},
               {"--partition", set_partition},
               {"--by", set_by},
               {"--link-bandwidth", set_bandwidth},
               {"--from", set_from}};
    for (int i = 1; i < argc && argv[i]; i++) {
        const char *value = NULL;
        for (size_t k = 0; !value && k < sizeof own / sizeof *own; k++) {
            value = option_value(argv, &i, own[k].name);
            if (value && !own[k].set(c, value)) return false;
        }
        if (!value && argv[i]) observed_words_add(words, argc, argv, &i);
    }
    c->target = c->from ? c->from : words->target;
    if (c->from && words->count > 2) { /* the command and --quiet */
        usage_error("communication", "--from takes no target and no options of 'heddle run'");
        return false;
    }
    if (c->bandwidth > 0 && !c->device_counts) {
        usage_error("communication", "--link-bandwidth needs --partition");
        return false;
    }
    if (c->by_given && !c->device_counts) {
        usage_error("communication", "--by needs --partition");
        return false;
    }
    if (c->device_counts && c->unit != COMMUNICATION_CTA) {
        usage_error("communication", "--partition distributes CTAs: leave --granularity away");
        return false;
    }
    return true;
}

/* ---- the run --------------------------------------------------------------------------------------------- */

/* The exit code; *out: what the run has reported, NULL if it has not. */
static int run(const struct communication_call *c, const struct observed_words *words,
               const struct communication_result **out)
{
    struct event_stream *events = event_stream_new();
    if (!events) return usage_error("communication", "no memory: %s", strerror(errno));
    event_stream_want(events, communication_log_wish(c->unit));
    const int status = observed_run("communication", words, events);
    *out = communication_log_read(c->arena, events);
    event_stream_close(events);
    if (status == EXIT_FINE && (!*out || !(*out)->launch_count)) {
        fprintf(stderr,
                "heddle communication: there was no launch, or the program ended without exit()\n");
        return EXIT_INPUT;
    }
    return status;
}

static void file_begin(void *self, const struct trace_launch *l)
{
    communication_stream(self, l->stream);
    communication_begin(self, l->kernel, l->grid, l->block);
}

static const struct emu_observer *file_observer(void *self)
{
    return communication_observer(self);
}

/* The same of a trace file. What *out names is of `to`. */
static int read_trace(const struct communication_call *c, struct communication *to,
                      const struct communication_result **out)
{
    const struct trace_events_sink sink = {
        .self = to, .begin = file_begin, .observer = file_observer};
    struct trace_file in = {.file = fopen(c->from, "rb"), .arena = c->arena, .sink = &sink};
    if (!in.file)
        return usage_error("communication", "cannot read '%s': %s", c->from, strerror(errno));
    struct file_steps steps;
    size_t without = 0;
    file_steps_begin(&steps, &in);
    while (trace_file_next(&in)) without++;
    file_steps_end(&steps);
    (void)fclose(in.file);
    if (in.why) fprintf(stderr, "heddle communication: '%s': %s\n", c->from, in.why);
    else if (without || !in.events)
        fprintf(stderr,
                "heddle communication: '%s' has %s without addresses: record it with --addresses\n",
                c->from, without ? "launches" : "no launch, or ones");
    *out = in.events ? communication_result(to) : NULL;
    return in.why || without || !in.events ? EXIT_INPUT : EXIT_FINE;
}

/* ---- printing -------------------------------------------------------------------------------------------- */

const char *communication_unit_name(enum communication_unit u, bool plural)
{
    static const char *const names[][2] = {
        {"kernel", "kernels"}, {"CTA", "CTAs"}, {"warp", "warps"}, {"thread", "threads"}};
    return names[u][plural];
}

uint64_t communication_median(const uint64_t *classes, size_t count)
{
    uint64_t all = 0, below = 0;
    for (size_t i = 0; i < count; i++) all += classes[i];
    for (size_t i = 0; i < count && all; i++)
        if ((below += classes[i]) * 2 >= all) return UINT64_C(1) << i;
    return 0;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Sums over the launches of each kernel. */
static void print_kernels(const struct communication_result *r)
{
    printf("%-24s %8s %8s %12s %12s %12s  %% of read: %6s %6s %6s %7s  %10s %10s\n", "kernel",
           "launches", communication_unit_name(r->unit, true), "loaded", "stored", "read", "others",
           "stays", "host", "initial", "inside", "never read");
    for (uint32_t k = 0; k < r->kernel_count; k++) {
        struct communication_launch all = {0};
        size_t count = 0;
        for (size_t i = 0; i < r->launch_count; i++) {
            const struct communication_launch *l = &r->launches[i];
            if (l->kernel != k) continue;
            count++;
            if (l->nodes > all.nodes) all.nodes = l->nodes;
            all.loaded += l->loaded;
            all.stored += l->stored;
            all.read += l->read;
            all.communicated += l->communicated;
            all.stays += l->stays;
            all.from_host += l->from_host;
            all.initial += l->initial;
            all.inside += l->inside;
            all.never_read += l->never_read;
        }
        printf("%-24.24s %8zu %8u %12" PRIu64 " %12" PRIu64 " %12" PRIu64
               "             %6.1f %6.1f %6.1f %7.1f  %10" PRIu64 " %10" PRIu64 "\n",
               r->kernels[k], count, all.nodes, all.loaded, all.stored, all.read,
               percent(all.communicated, all.read), percent(all.stays, all.read),
               percent(all.from_host, all.read), percent(all.initial, all.read), all.inside,
               all.never_read);
    }
}

static void print_pair(const char *name, const struct communication_pair *p)
{
    printf("%-34s %6" PRIu64 " %12" PRIu64 " %9" PRIu64
           "              %6.1f %7.1f %6.1f %7.1f %6.1f %6.1f  %8.4f %8" PRIu64 " %6" PRIu64 "\n",
           name, p->supersteps, p->bytes, p->edges, percent(p->point_to_point, p->bytes),
           percent(p->scatter, p->bytes), percent(p->gather, p->bytes),
           percent(p->reductions, p->bytes), percent(p->near_1, p->bytes),
           percent(p->near_8, p->bytes), p->possible ? (double)p->edges / (double)p->possible : 0,
           communication_median(p->sizes, COMMUNICATION_SIZES),
           communication_median(p->strides, COMMUNICATION_SIZES));
}

/* What is printed of a pair. */
static void add_pair(struct communication_pair *to, const struct communication_pair *p)
{
    to->supersteps += p->supersteps;
    to->bytes += p->bytes;
    to->edges += p->edges;
    to->possible += p->possible;
    to->point_to_point += p->point_to_point;
    to->scatter += p->scatter;
    to->gather += p->gather;
    to->reductions += p->reductions;
    to->near_1 += p->near_1;
    to->near_8 += p->near_8;
    for (int i = 0; i < COMMUNICATION_SIZES; i++) {
        to->sizes[i] += p->sizes[i];
        to->strides[i] += p->strides[i];
    }
}

static void print_pairs(const struct communication_result *r)
{
    struct communication_pair all = {0};
    printf("%-34s %6s %12s %9s  %% of bytes: %6s %7s %6s %7s %6s %6s  %8s %8s %6s\n",
           "written by -> read by", "steps", "bytes", "edges", "p2p", "scatter", "gather",
           "atomics", "+-1", "+-8", "density", "transfer", "stride");
    for (size_t i = 0; i < r->pair_count; i++) {
        const struct communication_pair *p = &r->pairs[i];
        char name[80];
        if (!p->bytes) continue;
        snprintf(name, sizeof name, "%.15s -> %.15s", r->kernels[p->from], r->kernels[p->to]);
        print_pair(name, p);
        add_pair(&all, p);
    }
    print_pair("all", &all);
}

static void print_totals(const struct communication_result *r)
{
    uint64_t loaded = 0, stored = 0, communicated = 0, atomics = 0, several = 0;
    for (size_t i = 0; i < r->launch_count; i++) {
        loaded += r->launches[i].loaded;
        stored += r->launches[i].stored;
        communicated += r->launches[i].communicated;
        atomics += r->launches[i].atomic_words;
        several += r->launches[i].several_words;
    }
    printf("%zu launches, %" PRIu64 " bytes communicated, %.3f bytes stored for each loaded\n",
           r->launch_count, communicated, loaded ? (double)stored / (double)loaded : 0);
    if (atomics)
        printf("synchronisation: atomics on %" PRIu64
               " words (summed over launches), of several %s on %" PRIu64 "\n",
               atomics, communication_unit_name(r->unit, true), several);
    if (r->unseen)
        printf(
            "note: the host can write %" PRIu64
            " bytes of shared memory (managed, pinned, mapped) unseen: reads of these may name an older writer, or none\n",
            r->unseen);
}

static void print_table(const struct communication_call *c, const struct communication_result *r)
{
    printf("%s: %s that pass data on, between launches\n", c->target,
           communication_unit_name(r->unit, true));
    print_kernels(r);
    print_pairs(r);
    print_totals(r);
    if (c->from)
        printf(
            "note: the file has no copies of the host: what these wrote counts as initial, what they read as never read\n");
}

/* Edges; their launches are numbered from 0. */
static void print_csv(const struct communication_result *r)
{
    printf(
        "from_launch,from_kernel,from_stream,from,to_launch,to_kernel,to_stream,to,bytes,transfers\n");
    for (size_t i = 0; i < r->edge_count; i++) {
        const struct communication_edge *e = &r->edges[i];
        const struct communication_launch *from = &r->launches[e->from_launch],
                                          *to = &r->launches[e->to_launch];
        if (e->from == e->to && r->unit != COMMUNICATION_KERNEL && e->to != COMMUNICATION_SEVERAL)
            continue;
        printf("%u,%s,%u,", e->from_launch, r->kernels[from->kernel], from->stream);
        if (e->from == COMMUNICATION_SEVERAL) printf("several");
        else printf("%u", e->from);
        printf(",%u,%s,%u,", e->to_launch, r->kernels[to->kernel], to->stream);
        if (e->to == COMMUNICATION_SEVERAL) printf("several");
        else printf("%u", e->to);
        printf(",%" PRIu64 ",%" PRIu64 "\n", e->bytes, e->transfers);
    }
}

static void print_partitions(const struct communication_call *c, const struct partition *p)
{
    static const char *const ways[] = {"linear index", "x", "y", "z", "METIS"};
    printf("CTAs on several devices, by %s:\n%8s %14s %14s %9s %14s %16s%s\n", ways[c->by],
           "devices", "bytes", "crossing", "% remote", "most in a step", "most of a device",
           c->bandwidth > 0 ? "       seconds" : "");
    for (size_t i = 0; i < c->device_counts; i++) {
        printf("%8u %14" PRIu64 " %14" PRIu64 " %9.2f %14" PRIu64 " %16" PRIu64, p[i].devices,
               p[i].bytes, p[i].crossing, percent(p[i].crossing, p[i].bytes), p[i].most,
               p[i].most_device);
        if (c->bandwidth > 0) printf(" %13.6g", p[i].seconds);
        printf("\n");
    }
    if (c->device_counts && p[0].several)
        printf(
            "note: %" PRIu64
            " bytes pass through atomics of several CTAs, whose memory has no device: they are in no column\n",
            p[0].several);
}

static int write_file(const char *path, const char *name, const struct communication_result *r)
{
    struct replacement f;
    bool ok = replacement_open(&f, path);
    if (ok && name) communication_write_graph(f.out, name, r);
    else if (ok) communication_write_matrix(f.out, r);
    ok = ok && !ferror(f.out);
    if (replacement_close(&f, ok)) return EXIT_FINE;
    return usage_error("communication", "cannot write '%s': %s", path, strerror(errno));
}

static int print(const struct communication_call *c, const struct communication_result *r)
{
    struct partition parts[MOST_PARTITIONS];
    const bool needs_edges = c->graph || c->matrix || c->device_counts || c->format == FORMAT_CSV;
    if (needs_edges && r->edges_dropped) {
        fprintf(
            stderr,
            "heddle communication: there are more than %" PRIu64
            " edges: use --granularity=kernel, or leave away what needs each of them (--format=csv, --graph, "
            "--matrix, --partition)\n",
            COMMUNICATION_MOST_EDGES);
        return EXIT_LIMIT;
    }
    for (size_t i = 0; i < c->device_counts; i++)
        if (!communication_partition(c, r, c->devices[i], &parts[i])) return EXIT_USAGE;
    if (c->format == FORMAT_JSON) communication_print_json(c, r);
    else if (c->format == FORMAT_CSV) print_csv(r);
    else {
        print_table(c, r);
        if (c->device_counts) print_partitions(c, parts);
    }
    int status = EXIT_FINE;
    if (c->graph) status = write_file(c->graph, c->graph, r);
    if (c->matrix && !status) status = write_file(c->matrix, NULL, r);
    return status;
}

static int communication(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct communication_call c = {.arena = arena, .unit = COMMUNICATION_CTA};
    struct observed_words words;
    observed_words_begin(&words, arena_array(arena, char *, (size_t)argc + 2), "communication");
    const struct communication_result *r = NULL;
    int status = EXIT_USAGE;
    if (read_call(&c, argc, argv, &words)) {
        struct communication *of_file = c.from ? communication_new(c.unit) : NULL;
        status = c.from ? read_trace(&c, of_file, &r) : run(&c, &words, &r);
        if (status != EXIT_FINE && r)
            fprintf(stderr,
                    "heddle communication: %s: what follows is of the launches until then\n",
                    c.from ? "the file is damaged" : "the run failed");
        const int printed = r ? print(&c, r) : EXIT_FINE;
        if (status == EXIT_FINE) status = printed;
        communication_free(of_file);
    }
    arena_free(arena);
    return finish_output("communication", status);
}

const struct command command_communication = {
    .name = "communication",
    .summary = "find which CTAs pass data to which, across launches",
    .usage = "communication [options] TARGET [ARGUMENTS]\n"
             "communication [options] --from FILE",
    .description =
        "Runs TARGET (as for 'heddle run': a kernel file, a job file, suite:NAME[:SIZE], or a CUDA program) and "
        "follows each byte of global memory from the CTA that wrote it last to the CTAs of later launches that read "
        "it. A launch is a superstep; what one CTA writes and another one reads in a later superstep is communicated. "
        "Prints for each kernel where what it reads comes from, and for each pair of kernels how much is passed on, "
        "between how many CTAs, point to point or scattered, gathered or not, how far, and in which pieces.\n"
        "The answer is whether a program can be divided among several GPUs, and what would cross the links "
        "(--partition).\n"
        "The other options are those of 'heddle run'. The output of the target goes to standard error.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .also = &command_run,
    .exit_status =
        "  0  success\n  5  there are too many edges for what was asked\n  otherwise as for 'heddle run'",
    .examples =
        "  heddle communication suite:stencil_2d --matrix stencil.svg\n"
        "  heddle communication suite:stencil_2d --partition 2,4,8 --link-bandwidth 25GB/s\n"
        "  heddle communication --from app.hdt",
    .run = communication,
};
