/* cli/communication.h: what `heddle communication` asks and prints. communication.c runs the target and prints tables;
 * communication_json.c, communication_graph.c and communication_partition.c print the same result in other forms. */
#ifndef HEDDLE_CLI_COMMUNICATION_H
#define HEDDLE_CLI_COMMUNICATION_H

#include "cli/estimate.h"
#include "determinism/communication/communication.h"

#include <stdio.h>

enum { MOST_PARTITIONS = 16, MOST_DEVICES = 4096 };

enum partition_by { BY_LINEAR, BY_X, BY_Y, BY_Z, BY_METIS };

struct communication_call {
    struct arena *arena;
    const char *target;
    const char *from; /* a trace file in place of the target; NULL: none */
    enum format format;
    enum communication_unit unit;
    const char *graph, *matrix; /* files; NULL: not asked for */
    uint32_t devices[MOST_PARTITIONS];
    size_t device_counts; /* of that list */
    enum partition_by by;
    bool by_given;
    double bandwidth; /* bytes/s of a link; 0: not given */
};

/* "CTA", "warp"...; and in the plural */
const char *communication_unit_name(enum communication_unit u, bool plural);
/* The lower end of the class that holds the median of a histogram by powers of two; 0: it is empty. */
uint64_t communication_median(const uint64_t *classes, size_t count);

void communication_print_json(const struct communication_call *c,
                              const struct communication_result *r);

/* GraphML, or Graphviz if the name ends with ".dot" or ".gv". Nodes are those of the kernels; edges are summed over all
 * launches. */
void communication_write_graph(FILE *f, const char *name, const struct communication_result *r);
/* Heat maps as SVG: a panel for each pair of kernels. */
void communication_write_matrix(FILE *f, const struct communication_result *r);

struct partition { /* nodes on so many devices */
    uint32_t devices;
    uint64_t supersteps;      /* in which bytes cross */
    uint64_t bytes, crossing; /* communicated or staying, and those from one device to another */
    uint64_t several;         /* from or to atomics of several nodes: on no device */
    uint64_t most;            /* the most that crosses in one superstep */
    uint64_t most_device;     /* the most that one device sends and receives, over all supersteps */
    double seconds;           /* over the links; 0: no bandwidth is given */
    struct partition_superstep {
        uint32_t launch; /* that reads */
        uint64_t crossing, most_device;
    } * list;
    size_t count;
};
/* false after a message: METIS is not there. */
bool communication_partition(const struct communication_call *c,
                             const struct communication_result *r, uint32_t devices,
                             struct partition *out);

#endif
