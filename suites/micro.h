/* suites/micro.h: how many operations of one kind a device executes in a second: instructions of a class, launches,
 * barriers, calls, branches, memory requests (section VI-A of the paper on Archaeopteryx). The same kernels run on
 * whatever libcuda.so.1 there is.
 *
 *     struct micro_device d;
 *     if (!micro_begin(&d)) puts(d.message);
 *     for (size_t i = 0; i < micro_count(); i++) {
 *         struct micro_result r = micro_run(&d, micro_at(i), 0.02);
 *         if (!*r.message) printf("%s: %g per second\n", micro_at(i)->name, r.rate);
 *     }
 *     micro_end(&d);
 *
 * Callers: `heddle bench` and heddle-suite. Rates are of the host's wall clock, from the first launch of a batch to
 * cuCtxSynchronize. */
#ifndef HEDDLE_SUITES_MICRO_H
#define HEDDLE_SUITES_MICRO_H

#include "suites/suite.h"

#include <stdio.h>

struct micro_rate {
    const char *group, *name;   /* "instructions", "int" */
    const char *file, *kernel;  /* suites/ptx/FILE.ptx */
    const char *unit;           /* what is counted: "fma.rn.f32" */
    unsigned grid, block, n, k; /* of a launch: its CTAs, their threads, the kernel's arguments */
    double operations;          /* that one launch executes */
    /* The same operations in C, by one thread of the host: out has 2^22 words. NULL: there is no such thing. */
    void (*native)(unsigned *out, unsigned threads, unsigned n, unsigned k);
    /* What most of the time goes to, where it is not to instructions of whole warps: so the rate of thread instructions cannot be
     * held against that of other programs. NULL: nothing of the kind. */
    const char *besides;
};
size_t micro_count(void);
const struct micro_rate *micro_at(size_t i);

struct micro_device {
    CUcontext context;
    CUmodule modules[2]; /* micro, micro_nested; NULL: the driver does not load it */
    CUdeviceptr memory;
    char name[256];    /* of the device */
    char message[256]; /* why a call failed; "" if none did */
    char nested[256];  /* why the second module is not there */
};
bool micro_begin(struct micro_device *d); /* false: d->message says why; nothing is left */
void micro_end(struct micro_device *d);

struct micro_result {
    double rate;       /* operations per second: of the fastest of five batches */
    double seconds;    /* of that batch */
    unsigned launches; /* of a batch */
    char message[256]; /* why there is no rate; "" if there is one */
};
/* Batches take at least `seconds` each. */
struct micro_result micro_run(struct micro_device *d, const struct micro_rate *r, double seconds);
/* One launch, to its end: false after an error, which `why` describes. */
bool micro_launch(struct micro_device *d, const struct micro_rate *r, char why[256]);
/* Of the native twin, likewise in operations per second; 0: it has none. `out`: 2^22 words. */
double micro_native(const struct micro_rate *r, unsigned *out, double seconds);

/* The table as CSV, which --beside of `heddle bench` reads: "group,name,unit,rate". */
bool micro_csv(FILE *out);

#endif
