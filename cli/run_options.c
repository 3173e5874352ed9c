/* Reads the command line of `heddle run` and `heddle check` (cli/run_options.h).
 *
 * The two tables of options come first; --help, the reference page, manual pages and the completion of bash are made from
 * them. The rows of settings have no texts, which are in session/settings.def. run_options_read() writes the words into one
 * line, which messages quote, finds the row of each option, and checks whether the kind of target (run_target_kind) allows
 * it. Values are parsed later: settings by run_options_settings() in cli/settings.c, others by the command. */
#define _GNU_SOURCE
#include "cli/run_options.h"

#include "cli/terminal.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/compile.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KERNELS = TARGET_PTX,
    JOBS = TARGET_PTX | TARGET_JOB,
};

const struct command_option run_options_table[] = {
    {.section = "Settings, for every kind of target",
     .name = "gpu",
     .id = OPTION_SETTING,
     .targets = TARGET_ANY},
    {.name = "memory", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "threads", .id = OPTION_SETTING, .targets = TARGET_ANY, .one_run = true},
    {.name = "order", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "seed", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "divergence", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "speculate", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "on-fault", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "check", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "suppress", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "max-instructions", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "timeout", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "files", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "files-bytes", .id = OPTION_SETTING, .targets = TARGET_ANY},
    {.name = "require-supported",
     .help =
         "Fail (status 1) if a program called a function of CUDA that Heddle does not have. Otherwise the call "
         "returns an error, and the end of the run lists it.",
     .id = OPTION_REQUIRE_SUPPORTED,
     .targets = TARGET_PROGRAM},
    {.section = "Output",
     .name = "format",
     .argument = "text|json",
     .standard = "text",
     .help = "json: one document (docs/run-json.md).",
     .id = OPTION_FORMAT,
     .targets = TARGET_ANY},
    {.name = "quiet",
     .help = "Print only what kernels print, and errors.",
     .id = OPTION_QUIET,
     .targets = TARGET_ANY},
    {.name = "counts", .id = OPTION_COUNTS, .targets = TARGET_ANY, .one_run = true},
    {.name = "profile",
     .help =
         "Print the source lines that cost most: share and number of warp instructions, active "
         "lanes, divergent "
         "branches, sectors per access and the share of their bytes that was requested, L1 hits, "
         "and bank-conflict "
         "passes per access of shared memory.",
     .id = OPTION_PROFILE,
     .targets = TARGET_ANY,
     .one_run = true},
    {.name = "fidelity",
     .help =
         "Print how many of the executed instructions have one right result, and for each other opcode and special "
         "register what PTX allows and whether its results may reach control flow, an address or "
         "synchronisation. 'heddle check' prints it of its first native run.",
     .id = OPTION_FIDELITY,
     .targets = TARGET_ANY},
    {.name = "locks",
     .help =
         "Print the words of memory that threads contend for by compare-and-swap, exchange or ticket: attempts that fail, "
         "acquisitions, the share of instructions that spin, and the most threads that wait at once (docs/run.md).",
     .id = OPTION_LOCKS,
     .targets = TARGET_ANY,
     .one_run = true},
    {.name = "watch", .id = OPTION_WATCH, .targets = TARGET_ANY, .repeated = true, .one_run = true},
    {.name = "record", .id = OPTION_RECORD, .targets = TARGET_ANY, .one_run = true},
    {.name = "replay", .id = OPTION_REPLAY, .targets = TARGET_ANY, .one_run = true},
    {.section = "Data distribution, of kernel files, jobs and workloads",
     .name = "memory-map",
     .argument = "MAP",
     .help =
         "Count sectors of global memory that are in another partition than the CTA that "
         "accesses them. interleave:BYTES: addresses in turn; block: each allocation in equal "
         "parts; blockcyclic:BYTES: each allocation in turn; FILE.yaml: by allocation. There are no caches, and "
         "execution does not change (docs/run.md).",
     .id = OPTION_MEMORY_MAP,
     .targets = TARGET_KERNELS,
     .one_run = true},
    {.name = "distribute",
     .argument = "nearest|round-robin",
     .standard = "nearest",
     .help = "With --memory-map: a CTA runs beside the partition that holds most sectors of its "
             "accesses, or CTAs go to the partitions in turn.",
     .id = OPTION_DISTRIBUTE,
     .targets = TARGET_KERNELS,
     .one_run = true},
    {.name = "partitions",
     .argument = "N",
     .standard = "4",
     .help = "With --memory-map: the partitions, at most 1024.",
     .id = OPTION_PARTITIONS,
     .targets = TARGET_KERNELS,
     .one_run = true},
    {.name = "topology",
     .argument = "crossbar|mesh|htree",
     .help =
         "With --memory-map: count hops between the partition of a CTA and that of a sector, and bytes of each link: one hop in a "
         "crossbar, steps in a square mesh, edges of a tree with four branches at each node. With 'heddle estimate' hops take time, but for "
         "those of a crossbar, which is the network of every estimate.",
     .id = OPTION_TOPOLOGY,
     .targets = TARGET_KERNELS,
     .one_run = true},
    {.name = "hop-cycles",
     .argument = "N",
     .standard = "5",
     .help =
         "With --topology and 'heddle estimate': cycles of the network's clock that a hop takes. 5 are the latency of the "
         "network in the GPUDet thesis (table 5.2).",
     .id = OPTION_HOP_CYCLES,
     .targets = TARGET_KERNELS,
     .one_run = true},
    {.section = "The launch of a kernel file",
     .name = "kernel",
     .argument = "NAME",
     .help = "The kernel. Needed if the file has several.",
     .id = OPTION_KERNEL,
     .targets = KERNELS},
    {.name = "grid",
     .argument = "X[,Y[,Z]]",
     .standard = "1",
     .help = "CTAs of the grid.",
     .id = OPTION_GRID,
     .targets = KERNELS},
    {.name = "block",
     .argument = "X[,Y[,Z]]",
     .standard = "1",
     .help = "Threads of a CTA.",
     .id = OPTION_BLOCK,
     .targets = KERNELS},
    {.name = "cluster",
     .argument = "X[,Y[,Z]]",
     .help = "CTAs of a cluster.",
     .id = OPTION_CLUSTER,
     .targets = KERNELS},
    {.name = "shared",
     .argument = "BYTES",
     .standard = "0",
     .help = "Dynamic shared memory of a CTA.",
     .id = OPTION_SHARED,
     .targets = KERNELS},
    {.name = "cooperative",
     .help = "A cooperative launch: barriers of the whole grid work.",
     .id = OPTION_COOPERATIVE,
     .targets = KERNELS},
    {.name = "arg",
     .argument = "VALUE",
     .help = "An argument; once for each parameter, in order.\n"
             "  42, -1, 0x10        an integer of the parameter's size\n"
             "  f32:1.5, s32:-3     a number of a type: u8 s8 u16 s16 u32 s32 u64 s64\n"
             "                      f16 bf16 f32 f64\n"
             "  buf:f32[1024]=iota  a buffer filled with a PATTERN; its name is its\n"
             "                      number among the arguments, from 1\n"
             "  y=buf:f32[1024]     the same, with the name y",
     .id = OPTION_ARG,
     .targets = KERNELS,
     .repeated = true},
    {.section = "Expected results, of kernel files and jobs",
     .name = "expect",
     .argument = "BUFFER=PATTERN",
     .help = "What the buffer must hold in the end. PATTERN is zero, iota, iota(START, STEP), "
             "const(N), random(SEED), "
             "file(PATH) or list(N, N, ...), or digest(N) of the buffer's bytes. file() and list() "
             "need no count, as "
             "in buf:u8[]=file(in.bin). May be given several times.",
     .id = OPTION_EXPECT,
     .targets = JOBS,
     .repeated = true},
    {.name = "tolerance",
     .argument = "T[,T...]",
     .standard = "none",
     .help = "For every --expect: abs=X, rel=X or ulp=N. A number may differ by any of them.",
     .id = OPTION_TOLERANCE,
     .targets = JOBS},
    {.name = "dump",
     .argument = "BUFFER=FILE",
     .help = "Write the buffer's bytes to a file. May be given several times.",
     .id = OPTION_DUMP,
     .targets = JOBS,
     .repeated = true,
     .one_run = true},
    {.section = "Inputs of workloads",
     .name = "data-seed",
     .argument = "N",
     .standard = "1",
     .help = "Seed of the inputs, as for 'heddle suite run'.",
     .id = OPTION_SEED,
     .targets = TARGET_SUITE},
    {.name = "graph",
     .argument = "FILE",
     .help = "The input of workloads on graphs, as for 'heddle suite run'.",
     .id = OPTION_GRAPH,
     .targets = TARGET_SUITE},
    {.name = "table",
     .help =
         "Of suite:litmus[:PATTERN]: run litmus tests and print the outcomes of each with their counts, as "
         "litmus7 does, and whether PTX's memory model allows them. PATTERN selects tests by name: MP, "
         "'*+rel+acq@block' (default: '*@grid'), or is a test itself: 'W x 1; R y || W y 1; R x'. The order is random, unless --order names another one.",
     .id = OPTION_TABLE,
     .targets = TARGET_SUITE,
     .one_run = true},
    {.name = "seeds",
     .argument = "N",
     .standard = "1000",
     .help = "With --table: how many seeds, from --seed on.",
     .id = OPTION_SEEDS,
     .targets = TARGET_SUITE,
     .one_run = true},
    {.name = "exhaustive",
     .help =
         "With --table: make all choices of the order random, depth first, in place of seeds; --seeds limits the runs of each "
         "test, and the table says whether that was enough.",
     .id = OPTION_EXHAUSTIVE,
     .targets = TARGET_SUITE,
     .one_run = true},
};

/* What `heddle check` has beside these, or in their place. */
const struct command_option check_options_table[] = {
    {.name = "order",
     .argument = "ORDER[,ORDER...]",
     .standard = "all but native",
     .help = "The orders. One with options is one element, as in "
             "random:strategy=pct,random:strategy=lag.",
     .id = OPTION_ORDERS,
     .targets = TARGET_ANY},
    {.name = "runs",
     .argument = "N",
     .standard = "20",
     .help = "Runs under each order.",
     .id = OPTION_RUNS,
     .targets = TARGET_ANY},
    {.name = "chance",
     .argument = "PERCENT",
     .standard = "none",
     .help =
         "In place of --runs: under an order that guarantees nothing, as many runs as show each other result "
         "whose probability is at least PERCENT. (--chance 1% takes 299 runs.)",
     .id = OPTION_CHANCE,
     .targets = TARGET_ANY},
    {.name = "confidence",
     .argument = "PERCENT",
     .standard = "95%",
     .help = "How sure that is to be, and what is said about results that were not seen.",
     .id = OPTION_CONFIDENCE,
     .targets = TARGET_ANY},
    {.name = "seed",
     .argument = "N",
     .standard = "1",
     .help = "Seed of the first run. The others follow.",
     .id = OPTION_FIRST_SEED,
     .targets = TARGET_ANY},
    {.name = "check",
     .argument = "CHECK[,CHECK...]",
     .standard = "none",
     .help =
         "Also check each run for memory, init, sync, bounds or api errors, as for 'heddle run'.",
     .id = OPTION_CHECK,
     .targets = TARGET_ANY},
    {.name = "stop",
     .argument = "many|different|never",
     .standard = "many",
     .help =
         "When to stop running under an order that guarantees nothing: after 8 different results "
         "(many), after 2 "
         "(different), or after all runs (never). An order that guarantees one result makes all "
         "runs.",
     .id = OPTION_STOP,
     .targets = TARGET_ANY},
    {.name = "jobs",
     .argument = "N",
     .standard = "one for each core",
     .help = "Processes at a time, each with one run.",
     .id = OPTION_JOBS,
     .targets = TARGET_ANY},
    {.name = "run-timeout",
     .argument = "SECONDS",
     .standard = "none",
     .help = "End a run after that time, with all processes that it started; it counts as failed. "
             "(--timeout ends a "
             "launch, not a program that hangs on the host.)",
     .id = OPTION_RUN_TIMEOUT,
     .targets = TARGET_ANY},
    {.name = "float",
     .argument = "PLACE=TYPE",
     .standard = "as it was last written",
     .help =
         "The type of the values that are compared at PLACE: f16, bf16, f32 or f64. PLACE is the "
         "name of an "
         "allocation, or an address in it. May be given several times.",
     .id = OPTION_FLOAT,
     .targets = TARGET_ANY,
     .repeated = true},
    {.name = "ignore-output",
     .argument = "REGEX",
     .standard = "lines with a time or a rate",
     .help =
         "Leave lines that match REGEX (POSIX, extended) out when the output of a program is compared, besides lines "
         "that seem to contain a time or a rate. May be given several times.",
     .id = OPTION_IGNORE_OUTPUT,
     .targets = TARGET_PROGRAM,
     .repeated = true},
    {.name = "exhaustive",
     .help =
         "Make all choices of the order random, depth first, in place of seeds: for small kernels a proof that there is one "
         "result, or all results. Says so if the limits (--runs, then 100000 by default; --search-time) come first.",
     .id = OPTION_SEARCH,
     .targets = TARGET_KERNELS},
    {.name = "search-time",
     .argument = "SECONDS",
     .standard = "60",
     .help = "With --exhaustive: begin no run after that time.",
     .id = OPTION_SEARCH_TIME,
     .targets = TARGET_KERNELS},
    {.name = "color",
     .argument = "auto|always|never",
     .standard = "auto",
     .help = TERMINAL_COLOUR_HELP,
     .id = OPTION_COLOUR,
     .targets = TARGET_ANY},
    {.name = "recordings",
     .argument = "DIRECTORY",
     .help =
         "With --exhaustive: write a recording of the first run of each result there, for 'heddle run --replay'.",
     .id = OPTION_RECORDINGS,
     .targets = TARGET_KERNELS},
    {.name = "no-race",
     .help =
         "Make no runs that look for data races, reads of memory that nothing wrote and wrong synchronisation.",
     .id = OPTION_NO_RACE,
     .targets = TARGET_ANY},
    {.name = "no-init",
     .help =
         "Do not make the native run with --check init,sync, which looks for reads of memory that nothing wrote and for "
         "wrong synchronisation.",
     .id = OPTION_NO_INIT,
     .targets = TARGET_ANY},
    {.name = "race-runs",
     .argument = "N",
     .standard = "3",
     .help =
         "Look for data races in N runs under random, too, besides a native one. Each has --check "
         "race,atomicity, which is several times slower. They end with the first that finds races.",
     .id = OPTION_RACE_RUNS,
     .targets = TARGET_ANY},
    {.name = "quiet",
     .help = "Print only the table, failures and the verdict.",
     .id = OPTION_QUIET,
     .targets = TARGET_ANY},
    {.name = "format",
     .argument = "text|json|github",
     .standard = "text",
     .help = "json: one document (docs/check-json.md). github: annotations of races, faults and "
             "writes for GitHub "
             "Actions.",
     .id = OPTION_FORMAT,
     .targets = TARGET_ANY},
    {.name = "junit",
     .argument = "FILE",
     .help = "Also write a report in JUnit's XML format to FILE, with one test for each order.",
     .id = OPTION_JUNIT,
     .targets = TARGET_ANY},
};

_Static_assert(sizeof run_options_table == RUN_OPTION_COUNT * sizeof *run_options_table &&
                   sizeof check_options_table == CHECK_OPTION_COUNT * sizeof *check_options_table,
               "cli/run_options.h: RUN_OPTION_COUNT, CHECK_OPTION_COUNT");
enum { ALL_COUNT = RUN_OPTION_COUNT + CHECK_OPTION_COUNT };

static bool is(struct piece p, const char *word)
{
    return strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

/* The options that the command has, those of `check` first; NULL: it does not take this one. */
static const struct command_option *option_at(const struct run_options *o, size_t i)
{
    if (i < CHECK_OPTION_COUNT) return o->check ? &check_options_table[i] : NULL;
    const struct command_option *k = &run_options_table[i - CHECK_OPTION_COUNT];
    return o->check && k->one_run ? NULL : k;
}

static bool is_flag(const struct command_option *o)
{
    return !command_option_full(o).argument;
}

static const struct command_option *option_find(const struct run_options *o, struct piece name)
{
    for (size_t i = 0; i < ALL_COUNT; i++)
        if (option_at(o, i) && is(name, option_at(o, i)->name)) return option_at(o, i);
    return NULL;
}

/* Returns the option that was meant; NULL: it is not known. */
static const struct command_option *unknown(struct run_options *o, struct piece word,
                                            struct piece name)
{
    struct text_nearest near = {.text = name.text, .length = name.length};
    diag_error(&o->diags, word.at, word.length, "unknown option '%.*s'", (int)word.length,
               word.text);
    for (size_t i = 0; o->check && i < RUN_OPTION_COUNT; i++) {
        const struct command_option *k = &run_options_table[i];
        if (!k->one_run || !is(name, k->name)) continue;
        diag_note(&o->diags, word.at, word.length, "--%s is an option of 'heddle run'", k->name);
        return k;
    }
    for (size_t i = 0; i < ALL_COUNT; i++)
        if (option_at(o, i)) text_nearest_try(&near, option_at(o, i)->name);
    if (!near.best) return NULL;
    diag_note(&o->diags, word.at, word.length, "did you mean '--%s'?", near.best);
    return option_find(o, (struct piece){near.best, (uint32_t)strlen(near.best), 0});
}

/* "--name value" or "--name=value"; returns how many words it is. */
static int read_option(struct run_options *o, const struct piece *words, int count)
{
    struct piece word = words[0], name = {word.text + 2, word.length - 2, word.at + 2}, value = {0};
    const char *equals = memchr(name.text, '=', name.length);
    if (equals) {
        uint32_t n = (uint32_t)(equals - name.text);
        value = (struct piece){equals + 1, name.length - n - 1, name.at + n + 1};
        name.length = n;
    }
    const struct command_option *k = word.text[1] == '-' ? option_find(o, name) : NULL;
    if (!k) { /* with the value that it would have, which is no target */
        k = unknown(o, word, name);
        return 1 + (k && !is_flag(k) && !equals && count > 1 && *words[1].text != '-');
    }
    bool is_next_word = !is_flag(k) && !equals;
    if (is_next_word && count < 2) {
        diag_error(&o->diags, word.at, word.length, "--%s wants a value", k->name);
        return 1;
    }
    if (is_flag(k) && equals)
        diag_error(&o->diags, value.at, value.length, "--%s takes no value", k->name);
    if (is_next_word) value = words[1];
    o->list = arena_grow(o->arena, o->list, o->count, &o->cap, o->count + 1, sizeof *o->list);
    o->list[o->count++] = (struct run_option){(enum run_option_id)k->id, name, value};
    return 1 + is_next_word;
}

static void add_word(struct buf *line, char before, const char *word, struct piece *where)
{
    *where = (struct piece){.at = (uint32_t)line->size + 1, .length = (uint32_t)strlen(word)};
    buf_printf(line, "%c%s", before, word);
}

/* The command line as one text, and where its words are in it: those that were typed in its first line, the others in a
 * second one. */
static struct piece *words_of(struct run_options *o, int argc, char **argv)
{
    struct piece *words = arena_array(o->arena, struct piece, (size_t)argc + 1);
    struct buf line = {0};
    buf_puts(&line, "heddle");
    add_word(&line, ' ', argv[0], &words[0]);
    for (int i = 1 + o->added; i < argc; i++) add_word(&line, ' ', argv[i], &words[i]);
    const uint32_t typed = (uint32_t)line.size;
    for (int i = 1; i <= o->added; i++) add_word(&line, i > 1 ? ' ' : '\n', argv[i], &words[i]);
    const char *text = arena_copy(o->arena, line.data, line.size);
    for (int i = 0; i < argc; i++) words[i].text = text + words[i].at;
    o->source = (struct source){"command line", text, (uint32_t)line.size};
    o->typed = typed;
    o->diags = (struct diags){.arena = o->arena, .source = &o->source, .max_errors = 20};
    buf_free(&line);
    return words;
}

/* A program, or an executable script that runs one. */
static bool is_program(struct piece target)
{
    char path[4096], head[4] = "";
    struct stat s;
    if (target.length >= sizeof path) return false;
    snprintf(path, sizeof path, "%.*s", (int)target.length, target.text);
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode)) return false;
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f) (void)fclose(f);
    if (n < sizeof head) return false;
    return memcmp(head, "\177ELF", 4) == 0 ||
           (memcmp(head, "#!", 2) == 0 && access(path, X_OK) == 0);
}

enum run_target run_target_kind(struct piece target)
{
    char path[4096];
    if (target.length >= 6 && memcmp(target.text, "suite:", 6) == 0) return TARGET_SUITE;
    if (target.length > 4 && memcmp(target.text + target.length - 4, ".yml", 4) == 0)
        return TARGET_JOB;
    if (target.length > 5 && memcmp(target.text + target.length - 5, ".yaml", 5) == 0)
        return TARGET_JOB;
    const char *name = target.length < sizeof path ? path : "";
    snprintf(path, sizeof path, "%.*s", (int)target.length, target.text);
    return compile_is_source(name) || is_program(target) ? TARGET_PROGRAM : TARGET_PTX;
}

bool run_is_program(const char *word)
{
    return run_target_kind((struct piece){word, (uint32_t)strlen(word), 0}) == TARGET_PROGRAM;
}

/* Whether the target is a file that is not there. */
static bool is_missing(struct piece target)
{
    char path[4096];
    if (target.length >= sizeof path || (target.length == 1 && *target.text == '-')) return false;
    snprintf(path, sizeof path, "%.*s", (int)target.length, target.text);
    return run_target_kind(target) == TARGET_PTX && access(path, F_OK) != 0;
}

static void check_targets(struct run_options *o)
{
    static const char *const names[] = {[TARGET_PTX] = "a kernel file",
                                        [TARGET_JOB] = "a job file",
                                        [TARGET_SUITE] = "a workload",
                                        [TARGET_PROGRAM] = "a program"};
    for (size_t i = 0; i < o->count; i++) {
        const struct run_option *x = &o->list[i];
        const struct command_option *k = option_find(o, x->name);
        if (!(k->targets & o->kind))
            diag_error(&o->diags, x->name.at, x->name.length, "--%s cannot be used with %s%s",
                       k->name, names[o->kind], k->id == OPTION_WATCH ? " yet" : "");
        for (size_t j = 0; j < i && !k->repeated; j++)
            if (option_find(o, o->list[j].name) == k) {
                diag_error(&o->diags, x->name.at, x->name.length, "--%s is given twice", k->name);
                break;
            }
    }
}

const struct run_option *run_option_find(const struct run_options *o, enum run_option_id id)
{
    for (size_t i = o->count; i-- > 0;)
        if (o->list[i].id == id) return &o->list[i];
    return NULL;
}

/* The first words behind a program are its own. One that is an option of this command may be a mistake. */
static void warn_of_arguments(const struct run_options *o, const struct piece *words, int count)
{
    bool value = false; /* the word may belong to the one before */
    for (int i = 0; i < count; i++) {
        const struct piece w = words[i];
        const bool option = w.length > 2 && memcmp(w.text, "--", 2) == 0;
        if (!option && !value) return;
        const char *equals = memchr(w.text, '=', w.length);
        const struct piece name = {w.text + 2, (uint32_t)(equals ? equals - w.text : w.length) - 2,
                                   0};
        value = option && !equals;
        if (!option || !option_find(o, name)) continue;
        fprintf(
            stderr,
            "heddle %s: warning: --%.*s is behind the program's name and is passed to the "
            "program; options of heddle are before it. Write 'heddle %s [options] -- PROGRAM' if "
            "the program has such an option.\n",
            o->command, (int)name.length, name.text, o->command);
        return;
    }
}

bool run_options_read(struct run_options *o, int argc, char **argv)
{
    struct piece *words = words_of(o, argc, argv);
    bool ended = false; /* by "--": the next word is the target, whatever it looks like */
    o->command = argv[0];
    for (int i = 1; i < argc;) {
        if (!ended && is(words[i], "--")) {
            ended = true;
            i++;
            continue;
        }
        if (!ended && words[i].length > 1 && *words[i].text == '-') {
            i += read_option(o, &words[i], argc - i);
            continue;
        }
        if (o->target.text) {
            diag_error(&o->diags, words[i].at, words[i].length,
                       "there is one target at most: unexpected '%.*s'", (int)words[i].length,
                       words[i].text);
            if (is_missing(o->target)) {
                diag_note(&o->diags, o->target.at, o->target.length, "there is no file '%.*s'",
                          (int)o->target.length, o->target.text);
                break; /* it may be a program, and what follows its arguments */
            }
        } else {
            o->target = words[i];
            o->kind = run_target_kind(o->target);
            o->rest = i;
            if (o->kind == TARGET_PROGRAM) {
                if (!ended) warn_of_arguments(o, &words[i + 1], argc - i - 1);
                break;
            }
        }
        i++;
    }
    if (!o->target.text)
        diag_error(
            &o->diags, o->typed, 0,
            "the target is missing: a kernel file (.ptx), a job file (.yaml), suite:NAME, or a program");
    else check_targets(o);
    o->quiet = run_option_find(o, OPTION_QUIET) != NULL;
    const struct run_option *f = o->check ? NULL : run_option_find(o, OPTION_FORMAT);
    o->json = f && f->value.length == 4 && memcmp(f->value.text, "json", 4) == 0;
    if (f && !o->json && (f->value.length != 4 || memcmp(f->value.text, "text", 4) != 0))
        diag_error(&o->diags, f->value.at, f->value.length, "--format is text or json, not '%.*s'",
                   (int)f->value.length, f->value.text);
    return !o->diags.errors;
}
