/* suites/measure.h: how long a device takes for the workloads' launches, as CSV that `heddle calibrate` reads.
 *
 *     struct suite_measure m = {.options = {.size = SUITE_SMALL, .seed = 1}, .runs = 5};
 *     suite_measure_begin(&m, stdout);                             // the device, its clock, what a launch costs
 *     suite_measure(&m, suite_find("saxpy"), stdout);              // a row for each launch
 *
 * Each workload runs once to be warm and then `runs` times; of each launch the median of these counts. Time is that
 * between two events less that of a kernel that does nothing, cycles are that times the SMs' clock. */
#ifndef HEDDLE_SUITES_MEASURE_H
#define HEDDLE_SUITES_MEASURE_H

#include "suites/suite.h"

#include <stdio.h>

struct suite_measure {
    struct suite_options options;
    unsigned runs;
    /* suite_measure_begin has found: */
    double mhz;      /* of the SMs */
    double overhead; /* seconds between events around a launch that does nothing */
};

/* false, with a message on standard error: there is no device, or a call fails. */
bool suite_measure_begin(struct suite_measure *m, FILE *out);
bool suite_measure(const struct suite_measure *m, const struct suite_workload *w, FILE *out);

#endif
