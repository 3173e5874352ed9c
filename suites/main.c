/* heddle-suite: the workloads as a program of their own, on whatever libcuda.so.1 the system finds: a
 * GPU's, or Heddle's (LD_LIBRARY_PATH). Writes a CSV line for each run.
 *
 *     heddle-suite list
 *     heddle-suite run [NAME ...] [--size=small|medium|large] [--seed=N] [--graph=FILE] [--repeat=N]
 *     heddle-suite measure ...                        likewise: what `heddle measure` calls (suites/measure.h)
 *     heddle-suite bench                              the rates of `heddle bench` as CSV (suites/micro.h)
 *     heddle-suite cycles [GROUP]                     cycles of instructions, loads, atomics, ... (suites/cycles.h)
 *
 * Exit code: 0 all passed, 1 one did not, 2 wrong usage. */
#include "suites/cycles.h"
#include "suites/measure.h"
#include "suites/micro.h"
#include "suites/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEASURED_RUNS = 5, MOST_RUNS = 1000 };

static int usage(const char *what, const char *argument)
{
    if (what) fprintf(stderr, "heddle-suite: %s '%s'\n", what, argument);
    fprintf(stderr,
            "usage: heddle-suite list|bench|cycles [GROUP]\n"
            "       heddle-suite run|measure [NAME ...] [--size=small|medium|large] [--seed=N]\n"
            "                        [--graph=FILE] [--repeat=N]\n");
    return 2;
}

static bool number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool option(const char *a, struct suite_options *o, uint64_t *repeat)
{
    if (strncmp(a, "--size=", 7) == 0) return suite_size_read(a + 7, &o->size);
    if (strncmp(a, "--seed=", 7) == 0) return number(a + 7, &o->seed);
    if (strncmp(a, "--repeat=", 9) == 0) return number(a + 9, repeat);
    if (strncmp(a, "--graph=", 8) != 0) return false;
    o->graph = a + 8;
    return true;
}

static void list(void)
{
    for (size_t i = 0; i < suite_count(); i++)
        printf("%-18s %s\n", suite_at(i)->name, suite_at(i)->summary);
}

static void header(void)
{
    char name[256] = "?";
    CUdevice device;
    int version = 0;
    if (cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS)
        cuDeviceGetName(name, sizeof name, device);
    cuDriverGetVersion(&version);
    printf("# device %s, driver API %d.%d\n", name, version / 1000, version % 1000 / 10);
    printf("workload,size,seed,passed,launches,kernel_seconds,seconds,message\n");
}

/* A CSV field: quoted, quotes doubled. */
static void field(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"') putchar('"');
        putchar(*text == '\n' ? ' ' : *text);
    }
    putchar('"');
}

/* The workloads that are named, or else all. */
static bool is_wanted(const struct suite_workload *w, const struct suite_options *o, char **words)
{
    bool named = false;
    for (; *words; words++) {
        if (**words == '-') continue;
        if (strcmp(*words, w->name) == 0) return true;
        named = true;
    }
    return !named && (!o->graph || w->wants_graph);
}

static bool measure(const struct suite_options *o, uint64_t runs, char **words)
{
    struct suite_measure m = {.options = *o, .runs = (unsigned)runs};
    if (!suite_measure_begin(&m, stdout)) return false;
    bool ok = true;
    for (size_t i = 0; i < suite_count(); i++)
        if (is_wanted(suite_at(i), o, words)) ok &= suite_measure(&m, suite_at(i), stdout);
    return ok;
}

/* What went wrong with a workload; both together are STATUS_FAILED. */
enum { STATUS_FAILED = 1, STATUS_BAD_INPUT = 2 };
static int run(const struct suite_workload *w, const struct suite_options *o)
{
    struct suite_result r = suite_run(w, o);
    printf("%s,%s,%llu,%s,%u,%.6f,%.6f,", w->name, suite_size_name(o->size),
           (unsigned long long)o->seed, r.passed ? "yes" : "no", r.launches, r.kernel_seconds,
           r.seconds);
    field(r.message);
    putchar('\n');
    (void)fflush(stdout);
    return r.passed ? 0 : r.bad_input ? STATUS_BAD_INPUT : STATUS_FAILED;
}

int main(int argc, char **argv)
{
    struct suite_options o = {.size = SUITE_SMALL, .seed = 1};
    uint64_t repeat = 0;
    int status = 0;
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        list();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "bench") == 0) return micro_csv(stdout) ? 0 : 1;
    if ((argc == 2 || argc == 3) && strcmp(argv[1], "cycles") == 0)
        return cycles_csv(argv[2], stdout) ? 0 : 1;
    const bool measures = argc > 1 && strcmp(argv[1], "measure") == 0;
    if (argc < 2 || (!measures && strcmp(argv[1], "run") != 0)) return usage(NULL, NULL);
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], "--", 2) == 0 ? !option(argv[i], &o, &repeat) : !suite_find(argv[i]))
            return usage(*argv[i] == '-' ? "cannot use" : "there is no workload", argv[i]);
    if (repeat > MOST_RUNS) return usage("too many runs", "--repeat");
    if (measures) return measure(&o, repeat ? repeat : MEASURED_RUNS, argv + 2) ? 0 : 1;
    header();
    for (size_t i = 0; i < suite_count(); i++)
        for (uint64_t k = 0; is_wanted(suite_at(i), &o, argv + 2) && k < (repeat ? repeat : 1); k++)
            status |= run(suite_at(i), &o);
    return status > STATUS_BAD_INPUT ? STATUS_FAILED : status;
}
