/* cli/communication.h: `heddle communication`. communication.c runs the target and prints tables;
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
    const char *from; /* path of a trace file instead of a target; NULL: none */
    enum format format;
    enum communication_unit unit;
    const char *graph, *matrix; /* paths of output files; NULL: not asked for */
    uint32_t devices[MOST_PARTITIONS];
    size_t device_counts; /* number of elements of `devices` */
    enum partition_by by;
    bool by_given;
    double bandwidth; /* bandwidth of a link in bytes/s; 0: not given */
};

/* The name of a unit: "CTA", "warp", ...; or its plural. */
const char *communication_unit_name(enum communication_unit u, bool plural);
/* The lower end of the class with the median of a histogram whose classes are powers of two; 0: the histogram is empty. */
uint64_t communication_median(const uint64_t *classes, size_t count);

void communication_print_json(const struct communication_call *c,
                              const struct communication_result *r);

/* Writes the graph as GraphML, or in Graphviz's language if the name ends with ".dot" or ".gv". Nodes are those of the
 * kernels; edges are summed over all launches. */
void communication_write_graph(FILE *f, const char *name, const struct communication_result *r);
/* Writes heat maps as SVG: a panel for each pair of kernels. */
void communication_write_matrix(FILE *f, const struct communication_result *r);

struct partition { /* a partition of the nodes to `devices` devices */
    uint32_t devices;
    uint64_t supersteps;      /* number of supersteps in which bytes cross between devices */
    uint64_t bytes, crossing; /* all bytes, also those that stay in a node; those that cross */
    uint64_t several;         /* bytes from or to atomics of several nodes, assigned to no device */
    uint64_t most;            /* the most bytes that cross in one superstep */
    uint64_t most_device;     /* the most bytes that one device sends and receives in all */
    double seconds;           /* time of transfers over links; 0: no bandwidth is given */
    struct partition_superstep {
        uint32_t launch; /* the launch that reads */
        uint64_t crossing, most_device;
    } * list;
    size_t count;
};
/* Computes a partition. false after a message: METIS is not available. */
bool communication_partition(const struct communication_call *c,
                             const struct communication_result *r, uint32_t devices,
                             struct partition *out);

#endif
