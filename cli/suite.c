/* heddle suite list|run: the workloads that come with Heddle. */
#include "cli/cli.h"

#include "suites/suite.h"

#include <stdlib.h>
#include <string.h>

int cmd_suite_list(int argc, char **argv)
{
    if (argc > 1) return usage_error("suite list", "unexpected argument '%s'", argv[1]);
    for (size_t i = 0; i < suite_count(); i++)
        printf("%-18s %s\n", suite_at(i)->name, suite_at(i)->summary);
    return finish_output("suite list", EXIT_FINE);
}

/* One workload; returns whether it passed. */
static bool run_one(const struct suite_workload *w, const struct suite_options *o)
{
    struct suite_result r = suite_run(w, o);
    printf("%-18s %-7s %-6s %3u launch%s %9.2f ms in kernels %9.2f ms in all%s%s\n", w->name,
           suite_size_name(o->size), r.passed ? "passed" : "FAILED", r.launches,
           r.launches == 1 ? "  " : "es", r.kernel_seconds * 1e3, r.seconds * 1e3,
           r.message[0] ? "  " : "", r.message);
    fflush(stdout);
    return r.passed;
}

int cmd_suite_run(int argc, char **argv)
{
    static const char command[] = "suite run";
    struct suite_options o = {.size = SUITE_SMALL, .seed = 1};
    unsigned passed = 0, ran = 0, named = 0;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        unsigned long n;
        if (strncmp(a, "--size=", 7) == 0 || (strcmp(a, "--size") == 0 && i + 1 < argc)) {
            const char *size = a[6] ? a + 7 : argv[++i];
            if (!suite_size_read(size, &o.size))
                return usage_error(command, "--size is small, medium or large, not '%s'", size);
        } else if (strncmp(a, "--data-seed=", 12) == 0) {
            if (!option_number(command, "--data-seed", a + 12, ~0ul, &n)) return EXIT_USAGE;
            o.seed = n;
        } else if (strncmp(a, "--graph=", 8) == 0) o.graph = a + 8;
        else if (a[0] == '-') return usage_error(command, "unknown option '%s'", a);
        else if (!suite_find(a))
            return usage_error(command,
                               "there is no workload '%s' ('heddle suite list' names them)", a);
        else named++;
    }
    for (size_t k = 0; k < suite_count(); k++) {
        bool wanted = !named;
        for (int i = 1; i < argc; i++) wanted |= suite_find(argv[i]) == suite_at(k);
        if (!wanted) continue;
        ran++;
        passed += run_one(suite_at(k), &o);
    }
    printf("%u of %u passed\n", passed, ran);
    return finish_output(command, passed == ran ? EXIT_FINE : EXIT_INPUT);
}
