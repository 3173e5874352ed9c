/* cli/placement_report.h: `heddle run --memory-map MAP`: counts local and remote sectors of a distributed memory
 * (determinism/placement/placement.h). In a run for `heddle estimate` hops take time instead (struct timing_hops). */
#ifndef HEDDLE_CLI_PLACEMENT_REPORT_H
#define HEDDLE_CLI_PLACEMENT_REPORT_H

#include "library/device.h"
#include "model/timing.h"

#include "determinism/placement/placement.h"

#include <jansson.h>
#include <stdbool.h>

struct run_options;

struct placement_report {    /* zeros: nothing is counted */
    bool estimates;          /* set by the caller: the run's launches are estimated */
    struct timing_hops hops; /* used if `estimates` is set */
    enum placement_topology network;
    struct placement *placement;
    struct device_watch watch; /* adds the observer to launches */
    const struct emu_observer **list;
    const char *map, *distribute, *topology; /* values of the options; topology NULL: not given */
    unsigned long partitions;
};

/* Reads the options. false after an error in o->diags. */
bool placement_report_read(struct placement_report *p, struct run_options *o);
void placement_report_free(struct placement_report *p);

void placement_report_print(const struct placement_report *p);   /* NULL is allowed */
json_t *placement_report_json(const struct placement_report *p); /* NULL: nothing was counted */

#endif
