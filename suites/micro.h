/* suites/micro.h: microbenchmarks: operations of one kind that a device executes per second: instructions of a class,
 * launches, barriers, calls, branches, memory requests (section VI-A of the paper on Archaeopteryx). The same kernels run
 * on any libcuda.so.1.
 *
 *     struct micro_device d;
 *     if (!micro_begin(&d)) puts(d.message);
 *     for (size_t i = 0; i < micro_count(); i++) {
 *         struct micro_result r = micro_run(&d, micro_at(i), 0.02);
 *         if (!*r.message) printf("%s: %g per second\n", micro_at(i)->name, r.rate);
 *     }
 *     micro_end(&d);
 *
 * Callers: `heddle bench` and heddle-suite. Rates are by the host's wall clock, from the first launch of a batch to the
 * return of cuCtxSynchronize(). */
#ifndef HEDDLE_SUITES_MICRO_H
#define HEDDLE_SUITES_MICRO_H

#include "suites/suite.h"

#include <stdio.h>

struct micro_rate {
    const char *group, *name;   /* "instructions", "int" */
    const char *file, *kernel;  /* suites/ptx/FILE.ptx */
    const char *unit;           /* the counted operation: "fma.rn.f32" */
    unsigned grid, block, n, k; /* a launch: CTAs, threads of a CTA, the kernel's arguments */
    double operations;          /* number of operations of one launch */
    /* The same operations in C, by one thread of the host; `out` has 2^22 words. NULL: none. */
    void (*native)(unsigned *out, unsigned threads, unsigned n, unsigned k);
    /* If most of the time is not spent on instructions of full warps: what it is spent on. The rate of thread instructions is
     * not comparable to that of other programs then. NULL: comparable. */
    const char *besides;
};
size_t micro_count(void);
const struct micro_rate *micro_at(size_t i);

struct micro_device {
    CUcontext context;
    CUmodule modules[2]; /* micro, micro_nested; NULL: the driver cannot load it */
    CUdeviceptr memory;
    char name[256];    /* name of the device */
    char message[256]; /* why a call failed; "" if none did */
    char nested[256];  /* why the second module was not loaded */
};
bool micro_begin(struct micro_device *d); /* false: error in d->message; nothing to end */
void micro_end(struct micro_device *d);

struct micro_result {
    double rate;       /* operations per second of the fastest of five batches */
    double seconds;    /* duration of that batch */
    unsigned launches; /* number of launches of a batch */
    char message[256]; /* why there is no rate; "" if there is one */
};
/* Measures a rate. Each batch takes at least `seconds`. */
struct micro_result micro_run(struct micro_device *d, const struct micro_rate *r, double seconds);
/* Makes one launch and waits for its end; false after an error, which `why` describes. */
bool micro_launch(struct micro_device *d, const struct micro_rate *r, char why[256]);
/* Operations per second of the native function; 0: there is none. `out`: 2^22 words. */
double micro_native(const struct micro_rate *r, unsigned *out, double seconds);

/* The table as CSV, which --beside of `heddle bench` reads: "group,name,unit,rate". */
bool micro_csv(FILE *out);

#endif
