/* Runs the tests. If all of them were to run, each form that is not refused must have been executed. */
#include "tests/support/executed_forms.h"
#include "tests/support/runner.h"

#include <getopt.h>
#include <stdlib.h>

static const char usage[] =
    "usage: run [--filter 'GROUP/NAME'] [--jobs N] [--list] [--verbose] [--times FILE]\n"
    "    --filter   of the tests those whose GROUP/NAME matches, as by bash with extglob\n"
    "    --jobs     tests at a time; by default as many as there are cores\n"
    "    --list     only print their names\n"
    "    --verbose  also name the tests that pass\n"
    "    --times    write seconds of processor time, of real time, and the name of each test\n";

int main(int argc, char **argv)
{
    static const struct option table[] = {
        {"filter", required_argument, NULL, 'f'}, {"jobs", required_argument, NULL, 'j'},
        {"list", no_argument, NULL, 'l'},         {"verbose", no_argument, NULL, 'v'},
        {"times", required_argument, NULL, 't'},  {0},
    };
    struct tests_options options = {0};
    for (int c; (c = getopt_long(argc, argv, "f:j:lvt:", table, NULL)) != -1;) {
        if (c == 'f') options.pattern = optarg;
        if (c == 'j') options.jobs = strtoul(optarg, NULL, 10);
        if (c == 'l') options.list = true;
        if (c == 'v') options.verbose = true;
        if (c == 't') options.times = fopen(optarg, "w");
        if (c == '?' || (c == 't' && !options.times)) {
            fputs(usage, stderr);
            return 2;
        }
    }
    const bool all = !options.pattern && !options.list;
    if (all) ran_begin();
    const struct tests_result r = tests_run(&options);
    if (options.list) return 0;
    printf(
        "[====] Synthesis: Tested: %zu | Passing: %zu | Failing: %zu | Crashing: %zu | Skipped: %zu\n",
        r.tested, r.passing, r.failing, r.crashing, r.skipped);
    if (options.times) fclose(options.times);
    const bool executed = !all || ran_end();
    return r.failing || !executed;
}
