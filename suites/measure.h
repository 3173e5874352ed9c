/* suites/measure.h: measures the time of the workloads' launches on a device, as CSV for `heddle calibrate`.
 *
 *     struct suite_measure m = {.options = {.size = SUITE_SMALL, .seed = 1}, .runs = 5};
 *     suite_measure_begin(&m, stdout);                             // the device, its clock, the cost of a launch
 *     suite_measure(&m, suite_find("saxpy"), stdout);              // a row for each launch
 *
 * Each workload runs once to warm up and then `runs` times; the result is the median of each launch. The time of a launch
 * is the time between two events minus that of an empty kernel; cycles are that time times the SMs' clock. */
#ifndef HEDDLE_SUITES_MEASURE_H
#define HEDDLE_SUITES_MEASURE_H

#include "suites/suite.h"

#include <stdio.h>

struct suite_measure {
    struct suite_options options;
    unsigned runs;
    /* Set by suite_measure_begin(): */
    double mhz;      /* clock of the SMs in MHz */
    double overhead; /* seconds between events around a launch of an empty kernel */
};

/* false, with a message on standard error: there is no device, or a call fails. */
bool suite_measure_begin(struct suite_measure *m, FILE *out);
bool suite_measure(const struct suite_measure *m, const struct suite_workload *w, FILE *out);

#endif
