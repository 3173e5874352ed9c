/* cli/placement_report.h: `heddle run --memory-map MAP`: local and remote sectors of a distributed memory
 * (determinism/placement/placement.h). Of a run that is estimated hops take time instead (struct timing_hops). */
#ifndef HEDDLE_CLI_PLACEMENT_REPORT_H
#define HEDDLE_CLI_PLACEMENT_REPORT_H

#include "library/device.h"
#include "model/timing.h"

#include "determinism/placement/placement.h"

#include <jansson.h>
#include <stdbool.h>

struct run_options;

struct placement_report {    /* zeros: nothing is counted */
    bool estimates;          /* set by the caller: launches are estimated */
    struct timing_hops hops; /* of these */
    enum placement_topology network;
    struct placement *placement;
    struct device_watch watch; /* for the launches */
    const struct emu_observer **list;
    const char *map, *distribute, *topology; /* topology: NULL: none was given */
    unsigned long partitions;
};

/* false after an error in o->diags. */
bool placement_report_read(struct placement_report *p, struct run_options *o);
void placement_report_free(struct placement_report *p);

void placement_report_print(const struct placement_report *p);   /* NULL is allowed */
json_t *placement_report_json(const struct placement_report *p); /* NULL: nothing was counted */

#endif
