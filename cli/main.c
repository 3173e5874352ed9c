/* The command line: finds the command, and what all commands share. */
#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include "cli/cli.h"

#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct command {
    const char *name, *word; /* "ptx", "check" */
    const char *summary;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"run", NULL, "run a kernel, a job file, a workload or a CUDA program", cmd_run,
     "usage: heddle run TARGET [options]\n"
     "       heddle run [options] PROGRAM [arguments]\n"
     "\n"
     "TARGET is a kernel file (FILE.ptx, '-' is standard input); a job file (FILE.yaml, FILE.yml), as\n"
     "docs/job-files.md says; or suite:NAME[:SIZE], a workload of 'heddle suite list'.\n"
     "\n"
     "PROGRAM is an executable on CUDA's shared runtime (nvcc -cudart shared; 11, 12, 13) or the driver\n"
     "API, or a source FILE.cu, of which nvcc makes one first (NVCC names another, NVCC_APPEND_FLAGS is\n"
     "read). It runs on Heddle's; what stands behind it is its own. Options 'of all' go with it. The exit\n"
     "status is the program's, or 3.\n"
     "\n"
     "One launch of a kernel file:\n"
     "  --kernel NAME           which (needed if the file has several)\n"
     "  --grid X[,Y[,Z]]        CTAs (default 1)\n"
     "  --block X[,Y[,Z]]       threads of a CTA (default 1)\n"
     "  --cluster X[,Y[,Z]]     CTAs of a cluster\n"
     "  --shared BYTES          dynamic shared memory\n"
     "  --cooperative           barriers of the whole grid work\n"
     "  --arg VALUE             an argument; once for each parameter, in order:\n"
     "                            42, -1, 0x10          an integer of the parameter's size\n"
     "                            f32:1.5, s32:-3       a number of a type: u8 s8 u16 s16 u32 s32 u64\n"
     "                                                  s64 f16 bf16 f32 f64\n"
     "                            buf:f32[1024]=iota    a buffer, filled with a pattern; it is called\n"
     "                                                  by its number among the arguments, from 1\n"
     "                            y=buf:f32[1024]       the same, called y\n"
     "\n"
     "What should come of it, also of a job:\n"
     "  --expect BUFFER=PATTERN what the buffer must hold in the end, or digest(N)\n"
     "  --tolerance T           of each --expect given: abs=X, rel=X, ulp=N, several with commas; a\n"
     "                          number may be off by any of them (default: not at all)\n"
     "  --dump BUFFER=FILE      write the buffer's bytes to a file\n"
     "\n"
     "PATTERN is zero, iota, iota(START, STEP), const(N), random(SEED), file(PATH) or list(N, N, ...).\n"
     "file() and list() need no count, as in buf:u8[]=file(in.bin).\n"
     "\n"
     "Of workloads:\n"
     "  --data-seed N, --graph FILE  the inputs, as for 'heddle suite run'\n"
     "\n"
     "Of all:\n"
     "  --threads N             host threads (default: one for each core; the same results, but for\n"
     "                          programs whose CTAs race: there, 1 gives one and the same)\n"
     "  --order ORDER           what happens first where hardware is free to choose: a name and, each\n"
     "                          behind a colon, options ('heddle orders' lists all). native (default):\n"
     "                          always the same; random: by chance, as PTX's memory model allows\n"
     "                          (one host thread, slower); random:strategy=pct\n"
     "  --seed N                of an order with chance (default 0): the same run for the same number\n"
     "  --divergence stack|its  lanes that part wait for each other where their ways meet, or\n"
     "                          make progress one by one (independent thread scheduling)\n"
     "  --check memory,init,sync  also find what malloc gave and nobody freed, wrong frees, any use\n"
     "                          of released memory; reads of memory that nothing wrote; shuffles\n"
     "                          and votes whose lanes are elsewhere. (Bounds, alignment, spaces\n"
     "                          are always checked, released memory until it is used again.)\n"
     "                          all: these three\n"
     "  --check race,atomicity  also find accesses that race by PTX's memory model, with both places;\n"
     "                          memory that one kernel accesses both by atomics and plainly, for\n"
     "                          which DAB promises nothing\n"
     "  --suppress FILE         count what this list has (README), and do not tell of it, as of what\n"
     "                          is known of NVIDIA's headers; none: tell of all\n"
     "  --check api             of programs: also find calls of the CUDA API that fail, with the\n"
     "                          program's stack (its lines if it was built with -g)\n"
     "  --max-instructions N    end a launch after N warp instructions\n"
     "  --timeout SECONDS       end a launch after that time\n"
     "  --memory BYTES          of the device, as in 512M or 8G (default 8G)\n"
     "  --counts FILE           write all counts of each launch to FILE as JSON: docs/counts.md\n"
     "  --profile               show the lines that cost most: share and number of warp instructions,\n"
     "                          active lanes, divergent branches, sectors for an access and how much\n"
     "                          of them was asked for, hits in L1, passes for a shared access\n"
     "  --record FILE           write all that the order (--order random) decides to FILE\n"
     "  --replay FILE           the same run again, of the same program, inputs, GPU and divergence\n"
     "  --watch WHERE           print every write to WHERE in the order in which others can see them, with\n"
     "                          both values, thread and line; may be given again. WHERE is an address\n"
     "                          (0x...), or the name of a buffer, a module variable, or an allocation as\n"
     "                          reports name it ('cuMemAlloc #3'); behind it [INDEX] or [FIRST..LAST],\n"
     "                          and :TYPE where it is not a buffer's type, or u32\n"
     "  --gpu NAME|FILE         that CTAs and caches are placed on, and that a program asks for\n"
     "                          (default v100, of a program h100; a wrong name lists them); a file\n"
     "                          as 'heddle gpus' reads it\n"
     "  --format text|json      json: one document, as docs/run-json.md says\n"
     "  --quiet                 print only what kernels print, and errors\n"
     "\n"
     "exit status: 0 fine; 1 errors in the file; 2 a wrong call, a file that cannot be read or\n"
     "written, or no memory; 3 a kernel faulted or cannot be launched so, or a check found something;\n"
     "4 results are not as expected; 5 a kernel or a loop did not come to an end. The first that\n"
     "happens counts.\n"
     "\n"
     "example: heddle run suites/ptx/saxpy.ptx --grid 4 --block 256 --arg 1000 --arg f32:2 \\\n"
     "             --arg 'buf:f32[1000]=iota' --arg 'y=buf:f32[1000]=const(1)' \\\n"
     "             --expect 'y=iota(1, 2)'\n"},
    {"check", NULL, "run a target under many seeds and orders: is it deterministic?", cmd_check,
     "usage: heddle check TARGET [options]\n"
     "       heddle check [options] PROGRAM [arguments]\n"
     "\n"
     "Runs the TARGET, as 'heddle run' takes it with its options (none of --dump, --counts,\n"
     "--profile, --threads is one), once natively and then under several orders with seeds 1, 2, ...\n"
     "each. Compared are, after every launch, all allocations and variables and what kernels printed,\n"
     "and in the end what was copied back.\n"
     "\n"
     "A PROGRAM runs natively twice: what varies by itself cannot be judged. It fails if its exit\n"
     "status is not 0. What it prints is not compared.\n"
     "\n"
     "  --order LIST            orders, with commas; one with options is one element, as in\n"
     "                          random:strategy=pct,random:strategy=lag (default: all but native)\n"
     "  --runs N                of each order (default 20)\n"
     "  --seed N                of the first run (default 1); the others follow\n"
     "  --stop WHEN             an order that promises nothing is done after 8 results (many, the\n"
     "                          default), after 2 (different), or after all its runs (never). Orders\n"
     "                          that promise one result make all runs\n"
     "  --jobs N                processes, each with a run (default: one for each core)\n"
     "  --run-timeout SECONDS   end a run after that time, with all processes it has started; it counts\n"
     "                          as failed (default: none; --timeout ends a launch, not a program that\n"
     "                          hangs on the host)\n"
     "  --float PLACE=TYPE      what is compared there is f16, bf16, f32 or f64; PLACE is the name of an\n"
     "                          allocation, or an address in it (default: as it was last written)\n"
     "  --no-race               do not look for races; else that is one more native run with\n"
     "                          --check race,atomicity, which take as long as 'heddle run' says\n"
     "  --quiet                 only the table, failures and the verdict\n"
     "  --format text|json|github  json: one document (docs/check-json.md); github: annotations of\n"
     "                          races, faults and writers for GitHub Actions\n"
     "  --junit FILE            also write FILE for what reads JUnit's XML: a test for each order\n"
     "\n"
     "exit status: 0 one result under every order tried, or under those asked for, all of which promise\n"
     "it; 1 errors in the file; 2 a wrong call; 3, 4, 5 a run failed, as of 'heddle run'; 6 results\n"
     "differ; 7 there are data races; 8 an order broke its promise: a bug of Heddle\n"
     "\n"
     "example: heddle check suite:histogram_global --runs 10\n"},
    {"suite", "list", "list the workloads that come with Heddle", cmd_suite_list,
     "usage: heddle suite list\n"},
    {"suite", "run", "run workloads and compare with the host's results", cmd_suite_run,
     "usage: heddle suite run [NAME...] [options]\n"
     "\n"
     "Runs the workloads (all, if none is named), each verified against a computation on the host.\n"
     "\n"
     "  --size small|medium|large   about 10 million, 1 and 10 thousand million thread instructions\n"
     "  --data-seed N               of the inputs (default 1)\n"
     "  --order ORDER, --seed N     as of 'heddle run'; each workload begins with the seed\n"
     "  --graph FILE                a graph: .gr, .mtx, .col, edge list or Rodinia's, also gzip-compressed;\n"
     "                              without a NAME those run that want one\n"
     "\n"
     "exit status: 0 all passed, 1 one did not, 2 wrong usage\n"},
    {"ptx", "check", "say what is wrong with PTX files", cmd_ptx_check,
     "usage: heddle ptx check [options] FILE...\n"
     "\n"
     "Reads every function of every FILE ('-': standard input) and reports errors as a\n"
     "compiler does, with line, column and a caret.\n"
     "\n"
     "  --format=text|json  json: one document with all messages on standard output\n"
     "  --max-errors=N      errors reported for a file (default 50, 0: all)\n"
     "  --link              the FILEs are one program (nvcc -rdc): also join their names, and\n"
     "                      report what does not fit together or is missing\n"
     "  --quiet             no summary\n"
     "\n"
     "exit status: 0 no errors, 1 errors, 2 a file cannot be read\n"},
    {"ptx", "print", "print a module as normalised PTX", cmd_ptx_print,
     "usage: heddle ptx print FILE\n"
     "\n"
     "Prints text that reads back to an equal module: comments dropped, constant expressions\n"
     "computed, one declaration a line.\n"
     "\n"
     "  --verify            print nothing; read the text back and compare (exit status 1: differs)\n"},
    {"ptx", "stats", "count instructions, registers, memory, blocks, loops", cmd_ptx_stats,
     "usage: heddle ptx stats [--format=text|json] FILE...\n"
     "\n"
     "For each function: instructions by class, an estimate of the registers per thread that\n"
     "ptxas would assign, static shared and local memory, basic blocks, loops, calls, barriers,\n"
     "atomics.\n"},
    {"ptx", "cfg", "draw a function's control flow (Graphviz)", cmd_ptx_cfg,
     "usage: heddle ptx cfg FILE --kernel NAME\n"
     "\n"
     "Prints the control-flow graph for dot(1): blocks with their instructions, solid edges for\n"
     "jumps, dashed ones to where the lanes of a warp meet again; loop headers are shaded,\n"
     "branches at which lanes can part are red.\n"
     "\n"
     "  --kernel NAME       the kernel or function (needed if the module has several)\n"
     "  --brief             leave the instructions out\n"
     "\n"
     "example: heddle ptx cfg k.ptx --kernel saxpy | dot -Tsvg > k.svg\n"},
    {"isa", NULL, "list the instruction forms that are known", cmd_isa,
     "usage: heddle isa [options] [NAME]\n"
     "\n"
     "The coverage table: every form of the PTX ISA with its modifiers and types, the PTX version\n"
     "and target it needs, and whether it is one that Heddle executes (accepted) or refuses\n"
     "by name. Both kinds are read and checked. With NAME only the\n"
     "forms of that instruction ('heddle isa mma').\n"
     "\n"
     "  --format=text|json  json: one document\n"
     "  --refused           only forms that are refused, with the reason\n"},
    {"estimate", NULL, "estimate how many cycles launches take on a GPU, and why", cmd_estimate,
     "usage: heddle estimate [options] TARGET [ARGUMENTS]\n"
     "\n"
     "Runs TARGET (as of 'heddle run': a kernel file, a job file, suite:NAME[:SIZE], or a program) and says how\n"
     "long each launch would take on a GPU: cycles and time, what the SMs' schedulers would spend them with,\n"
     "instructions per cycle, and where the launch stands under the roofline.\n"
     "\n"
     "  --gpu NAME[,NAME...]      the GPU (default titanv; 'heddle gpus' lists them), or a file as 'heddle\n"
     "                            gpus' reads it; of several, each after the other, and their totals\n"
     "                            beside each other\n"
     "  --order ORDER             native (default), gpudet, dab or random, with options as of 'heddle orders':\n"
     "                            what the mechanism would take on the GPU\n"
     "  --format=table|json|csv   csv: a row for each launch, one for all (docs/estimate.md)\n"
     "  --coefficients FILE       what 'heddle calibrate --traces' wrote for one of the GPUs, instead of what\n"
     "                            is built in\n"
     "  --traces FILE             add the launches' traces to FILE, for 'heddle calibrate --traces'\n"
     "\n"
     "Other options are those of 'heddle run'. What the target prints goes to standard error.\n"
     "\n"
     "For gv100 the times were fitted to cycles of the GPU (v100: the same chip), for titanv and gtx480 to\n"
     "those of a detailed simulator; for other GPUs they follow from the configuration alone. 8 of 10\n"
     "launches that were measured lay in the interval (docs/estimate.md).\n"
     "\n"
     "exit status: 0 fine; else as 'heddle run'\n"},
    {"compare", NULL, "estimates for several GPUs and orders side by side", cmd_compare,
     "usage: heddle compare [options] TARGET [ARGUMENTS]\n"
     "\n"
     "Runs TARGET (as of 'heddle estimate') once for each GPU and order, and says how long its kernels would\n"
     "take, in parts of what they take in the native order on the first GPU: parallel, and what GPUDet or DAB\n"
     "add (docs/estimate.md), as numbers and as bars.\n"
     "\n"
     "  --gpu NAME[,NAME...]      the GPUs (default titanv)\n"
     "  --order ORDER[,ORDER...]  orders with their options (default native,gpudet,dab)\n"
     "  --format=table|json|csv   csv: a row for each GPU, order and kernel, and one without for all\n"
     "  --coefficients FILE       as of 'heddle estimate'\n"
     "\n"
     "Other options are those of 'heddle run'. What the target prints goes to standard error.\n"
     "\n"
     "exit status: 0 fine; else as 'heddle run'\n"},
    {"orders", NULL, "list the memory orders and their options", cmd_orders,
     "usage: heddle orders [options] [NAME]\n"
     "\n"
     "Each order (with NAME only that) with its options, their presets and values. They are written\n"
     "behind colons, as in random:strategy=pct:late-stores=off.\n"
     "\n"
     "  --format=text|json  json: one document\n"},
    {"calibrate", NULL, "fit the model's weights to measured launches", cmd_calibrate,
     "usage: heddle calibrate FILE.csv... --gpu NAME [options]\n"
     "\n"
     "Reads launches with their counters and measured cycles, fits the weights of the model to them\n"
     "with GSL, and reports how far estimates lie from what was measured: of each application by a\n"
     "fit without its launches. A FILE is Heddle's own CSV, 'ncu --csv' (--page raw, or --metrics with a\n"
     "line for each), a sheet of Nsight Compute's metrics, or what GPGPU-Sim printed; docs/model.md has\n"
     "the columns.\n"
     "\n"
     "With --traces the numbers of the per-warp clock are fitted, by which 'heddle estimate' goes: the\n"
     "launches that were measured are run once ('heddle estimate --traces') and carried out again on\n"
     "other numbers. Only their cycles are needed then (columns program, args, launch, kernel, cycles).\n"
     "\n"
     "  --gpu NAME              what was measured: of 'heddle gpus', or a file\n"
     "  --output FILE           write what was found with the figures of its fit (YAML)\n"
     "  --traces FILE           (as often as needed) the traces of the launches: fit the clock\n"
     "  --start FILE            the clock's numbers before any cycles are seen, as far as they are known;\n"
     "                          the others are as the configuration says\n"
     "  --where COLUMN=VALUE    only lines of the CSV that have this value there\n"
     "  --plot FILE.svg         draw estimated over measured cycles (needs gnuplot)\n"
     "  --csv FILE              write what was read as Heddle's own CSV\n"
     "  --predict               fit nothing: estimate the launches by the weights that are built in,\n"
     "                          as CSV, with an 80 % interval, what binds each, the share of its\n"
     "                          roofline, and in what it is outside the launches that were fitted\n"
     "  --allow-undetermined    let numbers of which the data say nothing stay what was thought before\n"
     "\n"
     "exit status: 0 fine; 1 a file has errors, or its launches do not determine a weight; 2 a wrong\n"
     "call, or a file that cannot be read or written\n"
     "\n"
     "example: heddle calibrate calibrate/data/gv100.csv --gpu gv100 --output gv100.yaml\n"
     "example: heddle estimate --gpu titanv --traces runs.traces ./saxpy 4096\n"
     "         heddle calibrate cycles.csv --gpu titanv --traces runs.traces --output titanv.yaml\n"
     "         heddle estimate --gpu titanv --coefficients titanv.yaml ./other\n"},
    {"measure", NULL, "measure the workloads on an NVIDIA GPU", cmd_measure,
     "usage: heddle measure [NAME...] [options]\n"
     "\n"
     "Runs the workloads (all, if none is named; 'heddle suite list') on this machine's GPU, through its\n"
     "driver's libcuda.so.1, and prints as CSV how many cycles each launch took, with the device, driver,\n"
     "clock and date above. 'heddle calibrate --traces' reads that (docs/model.md).\n"
     "\n"
     "  --size small|medium|large   of the inputs (default small)\n"
     "  --repeat N                  runs after one that is not counted, of which the median is taken\n"
     "                              (default 5)\n"
     "  --data-seed N               of the inputs (default 1)\n"
     "  --graph FILE                as of 'heddle suite run'\n"
     "  --output FILE               write the CSV there\n"
     "  --driver FILE               the driver's libcuda.so.1, if the system does not find it\n"
     "\n"
     "exit status: 0 fine; 1 there is no driver or no device, or a workload did not pass; 2 a wrong call\n"
     "\n"
     "example: heddle measure --output mine.csv\n"
     "         heddle estimate --gpu v100 --traces mine.traces suite:saxpy:small   # and the others\n"
     "         heddle calibrate mine.csv --gpu v100 --traces mine.traces --output mine.yaml\n"},
    {"gpus", NULL, "list the GPUs that are known, show all numbers of one", cmd_gpus,
     "usage: heddle gpus [NAME|FILE]\n"
     "\n"
     "Without a name, lists the GPUs that --gpu takes. With one, prints its numbers as YAML, with the\n"
     "source of each: a file to start from for a GPU of your own.\n"
     "\n"
     "FILE has a '.' or a '/': YAML like that, or GPGPU-Sim's gpgpusim.config (*.config). It is read\n"
     "strictly, and printed as YAML.\n"
     "\n"
     "exit status: 0 fine; 1 the file has errors; 2 a wrong call, or a file that cannot be read\n"},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* "ptx check" */
static const char *full_name(const struct command *c, char name[static 32])
{
    snprintf(name, 32, "%s%s%s", c->name, c->word ? " " : "", c->word ? c->word : "");
    return name;
}

static void print_commands(FILE *out, const char *family)
{
    char name[32];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!family || strcmp(commands[i].name, family) == 0)
            fprintf(out, "  heddle %-12s %s\n", full_name(&commands[i], name), commands[i].summary);
}

static void print_help(FILE *out)
{
    fprintf(out, "usage: heddle COMMAND [options] ...\n"
                 "\n"
                 "Heddle reads and runs PTX, the assembly language of NVIDIA GPUs, without a GPU.\n"
                 "\n");
    print_commands(out, NULL);
    fprintf(out, "\n"
                 "  heddle help COMMAND      how to use one of them (also: heddle COMMAND --help)\n"
                 "  heddle --version\n");
}

/* Of commands of two words. */
static void print_family(FILE *out, const char *family)
{
    fprintf(out, "usage: heddle %s COMMAND [options] ...\n\n", family);
    print_commands(out, family);
    fprintf(out, "\n  heddle %s COMMAND --help   how to use one of them\n", family);
}

/* Whether commands of two words begin so. */
static bool is_family(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].word && strcmp(commands[i].name, name) == 0) return true;
    return false;
}

/* `word` is NULL where there is none. */
static int no_command(const char *name, const char *word)
{
    char given[80], names[COMMAND_COUNT][32];
    const bool both = word && is_family(name);
    snprintf(given, sizeof given, "%s%s%s", name, both ? " " : "", both ? word : "");
    struct text_nearest near = {.text = given, .length = strlen(given)};
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        text_nearest_try(&near, full_name(&commands[i], names[i]));
    fprintf(stderr, "heddle: there is no command '%s'", given);
    if (near.best) fprintf(stderr, "; did you mean '%s'?", near.best);
    fprintf(stderr, "\nTry 'heddle --help'.\n");
    return EXIT_USAGE;
}

int usage_error(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "heddle %s: ", command);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nTry 'heddle %s --help'.\n", command);
    va_end(args);
    return EXIT_USAGE;
}

const char *option_value(char **argv, int *i, const char *name)
{
    const size_t n = strlen(name);
    if (!argv[*i] || strncmp(argv[*i], name, n) != 0) return NULL;
    if (argv[*i][n] == '=') return argv[*i] + n + 1;
    const char *next = argv[*i][n] ? NULL : argv[*i + 1];
    if (next) ++*i;
    return next;
}

int bad_option(const char *command, const char *word, const char *options)
{
    const size_t length = strcspn(word, "=");
    char names[256], *rest = names;
    snprintf(names, sizeof names, "%s", options);
    struct text_nearest near = {.text = word, .length = length};
    for (const char *name; (name = strtok_r(NULL, " ", &rest));) {
        text_nearest_try(&near, name);
        if (strlen(name) == length && strncmp(word, name, length) == 0)
            return usage_error(command, word[length] ? "%s takes no value" : "%s wants a value",
                               name);
    }
    return usage_error(command, "unknown option '%s'%s%s%s", word,
                       near.best ? "; did you mean '" : "", near.best ? near.best : "",
                       near.best ? "'?" : "");
}

bool option_number(const char *command, const char *option, const char *text, unsigned long most,
                   unsigned long *out)
{
    char *end;
    errno = 0;
    *out = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *out <= most) return true;
    usage_error(command, "%s wants a number from 0 to %lu, not '%s'", option, most, text);
    return false;
}

bool option_format(const char *command, const char *text, bool *json)
{
    *json = strcmp(text, "json") == 0;
    if (*json || strcmp(text, "text") == 0) return true;
    usage_error(command, "--format is text or json, not '%s'", text);
    return false;
}

bool can_read(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    const bool can = getc(f) != EOF || !ferror(f);
    const int why = errno;
    (void)fclose(f);
    errno = why;
    return can;
}

struct heddle_module *load_module(const char *path, int *status)
{
    struct heddle_module *m = heddle_module_read_file(path, NULL);
    if (heddle_module_ok(m)) return m;
    fputs(heddle_module_messages_text(m), stderr);
    *status = heddle_module_unreadable(m) ? EXIT_USAGE : EXIT_INPUT;
    heddle_module_free(m);
    return NULL;
}

int finish_output(const char *command, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    fprintf(stderr, "heddle %s: cannot write the output: %s\n", command, strerror(errno));
    return EXIT_USAGE;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

static const struct command *find_command(const char *name, const char *word)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const struct command *c = &commands[i];
        if (strcmp(name, c->name) == 0 && (!c->word || (word && strcmp(word, c->word) == 0)))
            return c;
    }
    return NULL;
}

/* heddle help run, heddle help ptx check, heddle help ptx; argv ends with NULL. */
static int help_of(char **argv)
{
    const struct command *c = find_command(argv[0], argv[1]);
    if (c) fputs(c->help, stdout);
    else if (is_family(argv[0]) && !argv[1]) print_family(stdout, argv[0]);
    else return no_command(argv[0], argv[1]);
    return finish_output("help", EXIT_FINE);
}

static int dispatch(int argc, char **argv)
{
    const struct command *c = find_command(argv[0], argv[1]);
    if (c) {
        const int used = c->word != NULL;
        if (!wants_help(argc - used, argv + used)) return c->run(argc - used, argv + used);
        fputs(c->help, stdout);
        return finish_output(c->name, EXIT_FINE);
    }
    if (is_family(argv[0]) && argc > 1 && wants_help(2, argv)) {
        print_family(stdout, argv[0]);
        return finish_output(argv[0], EXIT_FINE);
    }
    if (!is_family(argv[0]) || argc > 1) return no_command(argv[0], argv[1]);
    print_family(stderr, argv[0]);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("heddle %s\n", heddle_version());
        return finish_output("--version", EXIT_FINE);
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2) return help_of(argv + 2);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return finish_output("--help", EXIT_FINE);
    }
    return dispatch(argc - 1, argv + 1);
}
