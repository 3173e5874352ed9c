/* heddle bench: measures the emulator's rates of single kinds of operations (suites/micro.h), and prints them beside those
 * of native C, of another device, or of an earlier build. */
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/json.h"

#include "cuda/device.h"
#include "determinism/orders.h"
#include "suites/micro.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char command[] = "bench";

/* Thread instructions per second of GPGPU-Sim 4.2 in functional mode (docs/bench.md). */
#define GPGPU_SIM 0.0103e9

enum { VERSION = 1, MOST_RATES = 64, DRIFT = 20 };

static const struct command_option options[] = {
    {.name = "threads",
     .argument = "N",
     .standard = "1",
     .help = "Host threads. Launches under an order or a check use one.",
     .id = 't'},
    {.name = "mode",
     .argument = "plain|counts|caches|random|gpudet|dab|race",
     .standard = "plain",
     .help = "What the kernels run with: nothing, counts, counts and caches, an order, the race "
             "detector.",
     .id = 'm'},
    {.name = "beside",
     .argument = "FILE",
     .help = "Compare with the rates of FILE: what 'heddle-suite bench' wrote on a GPU, or "
             "'heddle bench --format=csv' of an earlier build. Rates that differ by more than "
             "20 percent are named; the exit status stays 0.",
     .id = 'b'},
    {.name = "format",
     .argument = "text|csv|json",
     .standard = "text",
     .help = "csv: a line for each rate, as --beside reads it.",
     .id = 'f'},
    {.name = "json", .help = "The same as --format=json.", .id = 'j'},
};

enum format { TEXT, CSV, JSON };

struct rate {
    const struct micro_rate *of;
    struct micro_result measured;
    uint64_t thread_instructions; /* of one launch, with what it launches */
    double native, beside;        /* per second; 0: there is none */
};

struct bench {
    const char *mode, *beside;
    unsigned long threads;
    enum format format;
    bool wanted[MOST_RATES];
    struct rate rates[MOST_RATES];
    size_t count;
    uint64_t counted; /* thread instructions of the launches since the last reset */
};

/* ---- what is asked for ----------------------------------------------------------------------------------- */

static const char *const modes[] = {"plain", "counts", "caches", "random", "gpudet", "dab", "race"};

static bool is_mode(const char *text)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(text, modes[i]) == 0) return true;
    usage_error(command, "--mode is plain, counts, caches, random, gpudet, dab or race, not '%s'",
                text);
    return false;
}

static bool read_format(const char *text, enum format *out)
{
    static const char *const names[] = {"text", "csv", "json"};
    for (size_t i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (enum format)i;
            return true;
        }
    usage_error(command, "--format is text, csv or json, not '%s'", text);
    return false;
}

/* Marks the rates of a group ("memory") or one of them ("memory.random"). false after a message. */
static bool want(struct bench *b, const char *name)
{
    bool any = false;
    for (size_t i = 0; i < micro_count(); i++) {
        const struct micro_rate *r = micro_at(i);
        const size_t group = strlen(r->group);
        if (strcmp(name, r->group) != 0 &&
            !(strncmp(name, r->group, group) == 0 && name[group] == '.' &&
              strcmp(name + group + 1, r->name) == 0))
            continue;
        b->wanted[i] = any = true;
    }
    if (!any)
        usage_error(command,
                    "there is no rate '%s': instructions, launches, barriers, calls, branches, "
                    "memory, or one of these, as memory.random",
                    name);
    return any;
}

static bool read_options(struct bench *b, int argc, char **argv)
{
    struct words w = {.command = &command_bench, .argc = argc, .argv = argv};
    for (int id; (id = words_next(&w));) {
        if (id == 't' && !option_number(command, "--threads", w.value, 1024, &b->threads))
            return false;
        if (id == 'm' && !is_mode(b->mode = w.value)) return false;
        if (id == 'f' && !read_format(w.value, &b->format)) return false;
        if (id == 'j') b->format = JSON;
        if (id == 'b') b->beside = w.value;
    }
    if (w.wrong) return false;
    if (!b->threads) {
        usage_error(command, "--threads is at least 1");
        return false;
    }
    for (int i = 1; i <= w.operands; i++)
        if (!want(b, argv[i])) return false;
    for (size_t i = 0; !w.operands && i < micro_count(); i++) b->wanted[i] = true;
    return true;
}

/* ---- rates of another device or build -------------------------------------------------------------------- */

/* A line "group,name,unit,rate,..."; other lines are skipped. */
static void take_line(struct bench *b, char *line)
{
    char *rest = line;
    const char *group = strsep(&rest, ","), *name = strsep(&rest, ",");
    (void)strsep(&rest, ",");
    const char *rate = strsep(&rest, ",");
    for (size_t i = 0; name && rate && i < b->count; i++) {
        struct rate *r = &b->rates[i];
        if (strcmp(r->of->group, group) == 0 && strcmp(r->of->name, name) == 0)
            r->beside = strtod(rate, NULL);
    }
}

/* false after a message. */
static bool read_beside(struct bench *b)
{
    char *line = NULL;
    size_t size = 0;
    bool any = false;
    FILE *f = can_read(b->beside) ? fopen(b->beside, "r") : NULL;
    if (!f) {
        usage_error(command, "cannot read '%s': %s", b->beside, strerror(errno));
        return false;
    }
    while (getline(&line, &size, f) > 0) {
        any |= strncmp(line, "group,name,unit,rate", 20) == 0;
        take_line(b, line);
    }
    free(line);
    (void)fclose(f);
    if (!any)
        usage_error(command,
                    "'%s' has no line 'group,name,unit,rate': write it with "
                    "'heddle bench --format=csv' or 'heddle-suite bench'",
                    b->beside);
    return any;
}

/* ---- measuring --------------------------------------------------------------------------------------------- */

/* cuda_watch.after */
static void add_instructions(void *self, const char *kernel, const struct emu_launch *l,
                             const struct emu_report *e)
{
    struct bench *b = self;
    (void)kernel;
    (void)l;
    b->counted += e->thread_instructions;
}

static struct emu_config config_of(const struct bench *b, const struct emu_order *order)
{
    const bool caches = strcmp(b->mode, "caches") == 0;
    return (struct emu_config){.threads = (unsigned)b->threads,
                               .order = order,
                               .count = caches || strcmp(b->mode, "counts") == 0,
                               .caches = caches,
                               .checks = strcmp(b->mode, "race") == 0 ? EMU_CHECK_RACE : 0};
}

/* Measures all that is wanted. false after a message. */
static bool measure(struct bench *b)
{
    enum { WORDS = 1 << 22 };
    struct micro_device d;
    unsigned *words = malloc(WORDS * sizeof *words);
    if (!words) abort();
    /* Pages that nobody has written would all be the host's one page of zeros. */
    memset(words, 1, WORDS * sizeof *words);
    cuda_device_watch(&(struct cuda_watch){.self = b, .after = add_instructions, .quiet = true});
    const bool ok = micro_begin(&d);
    if (!ok) fprintf(stderr, "heddle bench: %s\n", d.message);
    for (size_t i = 0; ok && i < b->count; i++) {
        struct rate *r = &b->rates[i];
        char why[256];
        b->counted = 0;
        if (micro_launch(&d, r->of, why)) r->thread_instructions = b->counted;
        r->measured = micro_run(&d, r->of, 0.02);
        r->native = micro_native(r->of, words, 0.02);
    }
    if (ok) micro_end(&d);
    cuda_device_watch(NULL);
    free(words);
    return ok;
}

static bool measure_in_mode(struct bench *b)
{
    char *why = NULL;
    const bool ordered = strcmp(b->mode, "random") == 0 || strcmp(b->mode, "gpudet") == 0 ||
                         strcmp(b->mode, "dab") == 0;
    struct orders *orders = ordered ? orders_new(b->mode, 0, &why) : NULL;
    free(why); /* the names of orders above are right */
    const struct emu_config config = config_of(b, orders_get(orders));
    cuda_device_configure(&config);
    const bool ok = measure(b);
    cuda_device_reset();
    orders_free(orders);
    return ok;
}

/* ---- printing ---------------------------------------------------------------------------------------------- */

static double per_second(const struct rate *r)
{
    return *r->measured.message ? 0 : r->measured.rate;
}

/* Thread instructions in a second. */
static double instruction_rate(const struct rate *r)
{
    return (double)r->thread_instructions / r->of->operations * per_second(r);
}

/* "12.3" or "-", behind a blank. */
static void print_ratio(double part, double whole, int width)
{
    if (part > 0 && whole > 0) printf(" %*.3g", width, part / whole);
    else printf(" %*s", width, "-");
}

static void print_notes(const struct bench *b)
{
    bool any = false;
    for (size_t i = 0; i < b->count; i++) {
        const struct rate *r = &b->rates[i];
        if (!r->of->besides || *r->measured.message) continue;
        if (!any) puts("*: the time goes to more than instructions of whole warps:");
        any = true;
        printf("   %s.%s: %s\n", r->of->group, r->of->name, r->of->besides);
    }
}

static void print_text(const struct bench *b)
{
    printf("%-28s %-16s %12s %8s %10s %10s%s\n", "rate", "operation", "million/s", "Gti/s",
           "GPGPU-Sim", "of native", b->beside ? "  of beside" : "");
    for (size_t i = 0; i < b->count; i++) {
        const struct rate *r = &b->rates[i];
        char name[64];
        snprintf(name, sizeof name, "%s.%s", r->of->group, r->of->name);
        if (*r->measured.message) {
            printf("%-28s %-16s %s\n", name, r->of->unit, r->measured.message);
            continue;
        }
        printf("%-28s %-16s %12.4g %8.3g", name, r->of->unit, per_second(r) * 1e-6,
               instruction_rate(r) * 1e-9);
        printf(" %8.0fx%s", instruction_rate(r) / GPGPU_SIM, r->of->besides ? "*" : " ");
        print_ratio(per_second(r), r->native, 9);
        if (b->beside) print_ratio(per_second(r), r->beside, 10);
        putchar('\n');
    }
    print_notes(b);
}

static void print_csv(const struct bench *b)
{
    printf("# heddle %s, mode %s, %lu host thread%s\n", HEDDLE_VERSION, b->mode, b->threads,
           b->threads == 1 ? "" : "s");
    puts("group,name,unit,rate,thread_instructions,native");
    for (size_t i = 0; i < b->count; i++) {
        const struct rate *r = &b->rates[i];
        printf("%s,%s,%s,%.6g,%.6g,%.6g\n", r->of->group, r->of->name, r->of->unit, per_second(r),
               instruction_rate(r), r->native);
    }
}

/* A number, or null for one that is not there. */
static json_t *number(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static void print_json(const struct bench *b)
{
    json_t *list = json_array();
    for (size_t i = 0; i < b->count; i++) {
        const struct rate *r = &b->rates[i];
        json_t *o = json_pack(
            "{ss, ss, ss, ss, sf, so, so, so, so, so}", "group", r->of->group, "name", r->of->name,
            "kernel", r->of->kernel, "operation", r->of->unit, "operations", r->of->operations,
            "thread_instructions", json_count(r->thread_instructions), "per_second",
            number(per_second(r)), "instructions_per_second", number(instruction_rate(r)),
            "native_per_second", number(r->native), "beside_per_second", number(r->beside));
        if (*r->measured.message) json_object_set_new(o, "error", json_text(r->measured.message));
        json_array_append_new(list, o);
    }
    json_t *root = json_pack("{ss, si, ss, si, so}", "format", "heddle-bench", "version", VERSION,
                             "mode", b->mode, "threads", (int)b->threads, "rates", list);
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(root);
}

/* Names the rates that differ from those beside by more than DRIFT percent. */
static void print_drift(const struct bench *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct rate *r = &b->rates[i];
        const double change = r->beside > 0 ? (per_second(r) / r->beside - 1) * 100 : 0;
        if (change > DRIFT || change < -DRIFT)
            fprintf(stderr, "heddle bench: %s.%s: %.4g million %s/s, %+.0f percent of %s\n",
                    r->of->group, r->of->name, per_second(r) * 1e-6, r->of->unit, change,
                    b->beside);
    }
}

static int bench(int argc, char **argv)
{
    struct bench b = {.mode = "plain", .threads = 1};
    if (!read_options(&b, argc, argv)) return EXIT_USAGE;
    for (size_t i = 0; i < micro_count() && b.count < MOST_RATES; i++)
        if (b.wanted[i]) b.rates[b.count++].of = micro_at(i);
    if (b.beside && !read_beside(&b)) return EXIT_USAGE;
    if (!measure_in_mode(&b)) return EXIT_INPUT;
    if (b.format == JSON) print_json(&b);
    else if (b.format == CSV) print_csv(&b);
    else print_text(&b);
    if (b.beside) print_drift(&b);
    int status = EXIT_FINE;
    for (size_t i = 0; i < b.count; i++)
        if (*b.rates[i].measured.message) status = EXIT_INPUT;
    return finish_output(command, status);
}

const struct command command_bench = {
    .name = "bench",
    .summary = "measure how fast Heddle is: instructions, launches, barriers, calls, branches, "
               "memory",
    .usage = "bench [NAME...] [options]",
    .description =
        "Runs kernels that do one kind of operation each and prints how many of them are executed "
        "in a second of the host's time: in the fastest of five batches of 20 ms or more. NAME is a "
        "group (instructions, launches, barriers, calls, branches, memory) or one rate "
        "(memory.random); without one, all are measured.\n"
        "Gti/s is the rate of thread instructions, 10^9 per second; 'GPGPU-Sim' is that divided by 0.0103, "
        "which that simulator reached in functional mode in the mean (docs/bench.md). 'of native' is the rate "
        "divided by that of the same operations in C on one core of the host, with its vector "
        "instructions; launches and barriers have no such twin. heddle-suite "
        "measures the same kernels on a GPU ('heddle-suite bench').",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status = "  0  success\n  1  a rate could not be measured\n  2  a wrong call",
    .examples = "  heddle bench memory\n"
                "  heddle bench --mode gpudet --format=csv >gpudet.csv\n"
                "  heddle bench --beside tests/bench/micro.txt",
    .run = bench,
};
