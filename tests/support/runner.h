/* tests/support/runner.h: runs the tests of the program. */
#ifndef HEDDLE_TESTS_SUPPORT_RUNNER_H
#define HEDDLE_TESTS_SUPPORT_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tests_options {
    const char *pattern; /* of GROUP/NAME, as of bash with extglob; NULL: all */
    size_t jobs;         /* tests at a time; 0: as many as there are cores */
    bool list;           /* only print their names */
    bool disabled;       /* also those that are disabled */
    bool verbose;        /* also name those that pass */
    FILE *
        times; /* NULL, or takes a line for each: seconds of processor time, with that of processes it started
                            and waited for, and of real time, and its name */
};

struct tests_result {
    size_t tested, passing, failing /* with those that crash */, crashing, skipped;
};

/* Prints what fails. */
struct tests_result tests_run(const struct tests_options *options);

#endif
