/* heddle trace info|check|dump: prints or checks the contents of files of traces (emu/trace_file.h). */
#include "cli/command.h"
#include "cli/file_steps.h"

#include "base/arena.h"
#include "emu/order.h"
#include "emu/trace.h"
#include "emu/trace_events.h"
#include "emu/trace_file.h"
#include "heddle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct reading { /* of one file after the other */
    const char *command;
    struct trace_events_sink sink;
    /* All that a file has, or NULL. */
    void (*each)(void *self, const struct trace_file *, const struct emu_counts *);
    void (*end)(void *self, const char *path, const struct trace_file *);
    /* From the index at the end of the file. false: the file is read from its begin. */
    bool (*by_index)(void *self, const char *path, struct trace_file *, const struct trace_index *);
    void *self;
    const struct trace_file **now; /* where the file being read is known; NULL: nowhere */
};

static int read_file(const struct reading *r, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return usage_error(r->command, "cannot read '%s': %s", path, strerror(errno));
    struct trace_file in = {.file = f, .arena = arena_new(), .sink = &r->sink};
    struct file_steps steps = {.all = 0};
    if (!r->each) file_steps_begin(&steps, &in); /* the others print while they read */
    if (r->now) *r->now = &in;
    bool empty = false;
    const struct trace_index *index = r->by_index ? trace_index_read(&in) : NULL;
    if (!in.why && !(index && r->by_index(r->self, path, &in, index))) {
        for (const struct emu_counts *c; (c = trace_file_next(&in));)
            if (r->each) r->each(r->self, &in, c);
        empty = !in.why && !in.frames;
        if (!in.why && !empty && r->end) r->end(r->self, path, &in);
    }
    file_steps_end(&steps);
    if (in.why)
        fprintf(stderr, "heddle %s: '%s': %s, after %" PRIu64 " whole frames\n", r->command, path,
                in.why, in.frames);
    const bool cut = !in.why && !r->by_index && in.promised && !in.indexed;
    if (cut)
        fprintf(stderr,
                "heddle %s: '%s': its index is missing: it is cut off, or the recording did not "
                "end. The launches in it are whole\n",
                r->command, path);
    if (empty) fprintf(stderr, "heddle %s: '%s' is empty\n", r->command, path);
    (void)fclose(f);
    arena_free(in.arena);
    return in.why || cut || empty ? EXIT_INPUT : EXIT_FINE;
}

static int read_files(const struct reading *r, int argc, char **argv)
{
    int status = EXIT_FINE;
    if (argc < 2) return finish_output(r->command, usage_error(r->command, "no file"));
    for (int i = 1; i < argc && status != EXIT_USAGE; i++) {
        const int one = read_file(r, argv[i]);
        if (one) status = one;
    }
    return finish_output(r->command, status);
}

/* ---- info ------------------------------------------------------------------------------------------------------ */

struct info { /* of the file that is read */
    uint64_t launches, ctas, instructions, recorded;
    const struct trace_file *in;
    const char *run; /* whose launches are listed; NULL: none */
};

static void print_row(struct info *s, const struct trace_file *in,
                      const struct trace_index_entry *e)
{
    const char *const run = in->run;
    if (!s->run || !run || strcmp(s->run, run) != 0 || !e->launch) {
        printf("run: %s\n", run ? run : "");
        if (in->origin) printf("recorded by Heddle %s\n", in->origin->version);
        for (size_t i = 0; in->origin && i < in->origin->input_count; i++)
            printf("sha256 %s  %s\n", in->origin->inputs[i].digest, in->origin->inputs[i].file);
        printf("%6s  %-28s %-10s %-12s %12s %10s %14s %14s\n", "launch", "kernel", "gpu", "order",
               "CTAs", "traced", "instructions", "recorded");
    }
    s->run = run ? run : "";
    printf("%6u  %-28.28s %-10s %-12s %12" PRIu64 " %10" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n",
           e->launch, e->kernel, e->events ? "-" : e->gpu, e->events ? "(addresses)" : e->order,
           e->ctas, e->traced, e->instructions, e->recorded);
    s->launches++;
    s->ctas += e->traced;
    s->instructions += e->instructions;
    s->recorded += e->recorded;
}

static void info_launch(void *self, const struct trace_file *in, const struct emu_counts *c)
{
    const struct emu_trace *t = c->trace;
    print_row(self, in,
              &(struct trace_index_entry){.launch = in->launch,
                                          .kernel = c->kernel,
                                          .gpu = c->gpu->name,
                                          .order = c->order,
                                          .ctas = c->ctas,
                                          .traced = t->cta_count + t->heavy_count,
                                          .instructions = c->phases[0].total.warp_instructions,
                                          .recorded = t->recorded});
}

static void info_events(void *self, const struct trace_launch *l,
                        const struct trace_events_sums *sums)
{
    struct info *s = self;
    const uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    print_row(s, s->in,
              &(struct trace_index_entry){.events = true,
                                          .launch = l->number,
                                          .kernel = l->kernel,
                                          .ctas = ctas,
                                          .traced = ctas,
                                          .instructions = sums->instructions,
                                          .recorded = sums->instructions});
}

static void print_sums(struct info *s, const char *path, uint64_t frames, uint64_t bytes)
{
    printf("%s: %" PRIu64 " launches, %" PRIu64 " CTAs, %" PRIu64 " frames, %" PRIu64 " bytes",
           path, s->launches, s->ctas, frames, bytes);
    if (s->recorded)
        printf(", %.2f bytes for each recorded warp instruction",
               (double)bytes / (double)s->recorded);
    printf("\n");
    *s = (struct info){.in = s->in};
}

static void info_end(void *self, const char *path, const struct trace_file *in)
{
    print_sums(self, path, in->frames, in->bytes);
}

/* The run of a launch, which is read only where it is another one. */
static bool info_by_index(void *self, const char *path, struct trace_file *in,
                          const struct trace_index *x)
{
    struct info *s = self;
    uint64_t run = 0;
    for (size_t i = 0; i < x->count; i++) {
        const struct trace_index_entry *e = &x->list[i];
        if (e->run != run && !trace_file_seek(in, e)) return true;
        run = e->run;
        print_row(s, in, e);
    }
    const bool known = fseek(in->file, 0, SEEK_END) == 0;
    print_sums(s, path, x->frames + 2, known ? (uint64_t)ftell(in->file) : x->bytes);
    return true;
}

static int trace_info(int argc, char **argv)
{
    struct info s = {0};
    const struct reading r = {.command = "trace info",
                              .sink = {.self = &s, .end = info_events},
                              .each = info_launch,
                              .end = info_end,
                              .by_index = info_by_index,
                              .self = &s,
                              .now = &s.in};
    return read_files(&r, argc, argv);
}

const struct command command_trace_info = {
    .name = "trace info",
    .summary = "list the launches of trace files",
    .usage = "trace info FILE...",
    .description =
        "Prints which Heddle recorded it, the SHA-256 of the files that its command line named, and each launch: kernel, "
        "GPU, order, CTAs, how many of them were traced, the warp instructions of the launch and those that were recorded; "
        "and how large the file is. Of a file with an index only that is read.",
    .exit_status =
        "  0  success\n  1  a file is damaged\n  2  a wrong call, or a file that cannot be read",
    .examples = "  heddle trace info app.hdt",
    .run = trace_info,
};

/* ---- check ----------------------------------------------------------------------------------------------------- */

static void print_whole(void *self, const char *path, const struct trace_file *in)
{
    (void)self;
    if (in->promised && !in->indexed) return;
    printf("%s: %" PRIu64 " frames are whole\n", path, in->frames);
}

static int trace_check(int argc, char **argv)
{
    const struct reading r = {.command = "trace check", .end = print_whole};
    return read_files(&r, argc, argv);
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
    bool any; /* some launch was printed */
    /* Of events: */
    struct emu_observer observer;
    const struct trace_launch *now; /* NULL: it is not printed */
    uint32_t at_cta, at_warp;
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
        if (TRACE_IDLE_OF(words[0])) printf(", %u lanes", 32 - TRACE_IDLE_OF(words[0]));
        printf("\n");
        at++;
    }
}

static void dump_launch(void *self, const struct trace_file *in, const struct emu_counts *c)
{
    struct dump *d = self;
    const struct emu_trace *t = c->trace;
    if (d->launch != ALL && d->launch != in->launch) return;
    d->any = true;
    printf("launch %u: %s, %s, %s\n", in->launch, c->kernel, c->gpu->name, c->order);
    for (uint32_t i = 0; i < t->cta_count + t->heavy_count; i++) {
        const struct trace_cta *cta = i < t->cta_count ? t->ctas[i] : t->heavy[i - t->cta_count];
        if (d->cta != ALL && d->cta != cta->linear) continue;
        printf(" CTA %u%s\n", cta->linear, i < t->cta_count ? "" : ", heavy");
        for (uint32_t w = 0; w < cta->warp_count; w++)
            if (d->warp == ALL || d->warp == w) print_warp(t, cta, w);
    }
}

static void dump_begin(void *self, const struct trace_launch *l)
{
    struct dump *d = self;
    const bool all = d->launch == ALL;
    d->now = all || d->launch == l->number ? l : NULL;
    d->at_cta = d->at_warp = UINT32_MAX;
    d->any |= d->now != NULL;
    if (d->now)
        printf("launch %u: %s, every instruction, in the order in which warps issued them\n",
               l->number, l->kernel);
}

static const struct emu_observer *dump_observer(void *self)
{
    struct dump *d = self;
    return d->now ? &d->observer : NULL;
}

/* false: the warp is not printed. */
static bool enter(struct dump *d, const struct emu_warp *who)
{
    if ((d->cta != ALL && d->cta != who->cta) || (d->warp != ALL && d->warp != who->warp))
        return false;
    if (d->at_cta != who->cta || d->at_warp != who->warp)
        printf(" CTA %u, warp %u\n", who->cta, who->warp);
    d->at_cta = who->cta, d->at_warp = who->warp;
    return true;
}

static void dump_issue(void *self, const struct emu_warp *who, uint32_t pc, uint32_t lanes)
{
    struct dump *d = self;
    if (!enter(d, who)) return;
    const struct ptx_op *op = d->now->insts[pc].op;
    printf("    %u %.*s lanes=%08x\n", pc, op ? (int)op->text_length : 0, op ? op->text : "",
           lanes);
}

static void dump_access(void *self, const struct emu_access *a)
{
    struct dump *d = self;
    static const char *const kinds[] = {"load", "store", "atomic", "reduction"};
    if (!enter(d, a->who)) return;
    const uint32_t bytes = (uint32_t)a->width * a->count;
    printf("      %s of %u bytes:", kinds[a->kind], bytes);
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        printf(" 0x%" PRIx64, a->contiguous ? a->address[0] + (uint64_t)l * bytes : a->address[l]);
    }
    printf("\n");
}

/* The CTA of that linear index, if the launch has it. */
static void dump_ctas(struct dump *d, struct trace_file *in, const struct trace_index_entry *e)
{
    bool found = false;
    for (uint64_t k = 0; k < e->traced && !in->why; k++) {
        if (e->cta[k].linear != d->cta) continue;
        const struct emu_counts *c = trace_file_cta(in, e, k);
        if (c) dump_launch(d, in, c);
        found = true;
    }
    d->any |= !found;
    if (!found) printf("launch %u: %s, %s, %s\n", e->launch, e->kernel, e->gpu, e->order);
}

/* One launch or one CTA of a file with an index: nothing else is read, but for the events of a launch, which are all read. */
static bool dump_by_index(void *self, const char *path, struct trace_file *in,
                          const struct trace_index *x)
{
    struct dump *d = self;
    (void)path;
    if (d->launch == ALL && d->cta == ALL) return false;
    in->one = true;
    for (size_t i = 0; i < x->count && !in->why; i++) {
        const struct trace_index_entry *e = &x->list[i];
        if (d->launch != ALL && e->launch != d->launch) continue;
        if (d->cta != ALL && e->cta) dump_ctas(d, in, e);
        else if (trace_file_seek(in, e)) {
            const struct emu_counts *c = trace_file_next(in);
            if (c) dump_launch(self, in, c);
        }
    }
    return true;
}

static int trace_dump(int argc, char **argv)
{
    struct words w = {.command = &command_trace_dump, .argc = argc, .argv = argv};
    struct dump d = {.launch = ALL, .cta = ALL, .warp = ALL};
    d.observer = (struct emu_observer){.self = &d, .issue = dump_issue, .access = dump_access};
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
    const struct reading r = {.command = "trace dump",
                              .sink = {.self = &d, .begin = dump_begin, .observer = dump_observer},
                              .each = dump_launch,
                              .by_index = dump_by_index,
                              .self = &d};
    const int status = read_files(&r, w.operands + 1, argv);
    if (status != EXIT_FINE || d.any || d.launch == ALL) return status;
    fprintf(stderr, "heddle trace dump: there is no launch %lu\n", d.launch);
    return EXIT_INPUT;
}

const struct command command_trace_dump = {
    .name = "trace dump",
    .summary = "print traces as text",
    .usage = "trace dump [options] FILE...",
    .description =
        "Prints what each traced warp did, in its order: the blocks that it entered, and its accesses to memory, "
        "each with the active lanes and, for each line of 128 bytes, its address and the mask of its sectors. Of a file "
        "with addresses (trace record --addresses): each instruction with its lanes, each access with the address of each lane.",
    .options = dump_options,
    .option_count = sizeof dump_options / sizeof *dump_options,
    .exit_status =
        "  0  success\n  1  a file is damaged, or has no such launch\n  2  a wrong call, or a file that cannot be read",
    .examples = "  heddle trace dump --launch 0 --cta 0 app.hdt",
    .run = trace_dump,
};
