/* suites/suite.h: workloads. Each workload is host code in C on the CUDA driver API, and a kernel file.
 *
 *     struct suite_options o = {.size = SUITE_SMALL, .seed = 1};
 *     struct suite_result r = suite_run(suite_find("saxpy"), &o);
 *     printf("%s: %s\n", "saxpy", r.passed ? "passed" : r.message);
 *
 * A workload generates its inputs from a seed, runs its kernels and compares their results with a simple
 * computation on the host, bit by bit. It uses only the driver API, so the same code runs on a GPU
 * (suites/main.c). suites/kernels/NAME.cu has the kernels; nvcc compiles them to suites/ptx/NAME.ptx
 * (suites/generate.sh), which is compiled into the program. */
#ifndef HEDDLE_SUITES_SUITE_H
#define HEDDLE_SUITES_SUITE_H

#include "cuda/cuda_api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum suite_size { /* about 10 million, 1 thousand million, 10 thousand million thread instructions */
                  SUITE_SMALL,
                  SUITE_MEDIUM,
                  SUITE_LARGE
};
const char *suite_size_name(enum suite_size size); /* "small" */
bool suite_size_read(const char *text, enum suite_size *out);

struct suite_context;
struct suite_workload {
    const char *name, *summary;
    const char *ptx; /* name of the kernel file: "reduce" for suites/ptx/reduce.ptx */
    void (*run)(struct suite_context *ctx);
    /* The parts of suite_options.input: names separated by '|'; "edges=" takes a number; "": no inputs. */
    const char *inputs;
    bool wants_graph; /* the workload takes suite_options.graph */
};

size_t suite_count(void);
const struct suite_workload *suite_at(size_t i);           /* in order of name */
const struct suite_workload *suite_find(const char *name); /* NULL: none */
const char *suite_ptx(const char *file); /* the text of a kernel file; NULL: no such file */

struct suite_dim {
    unsigned x, y, z;
};

struct suite_launched {
    const char *kernel;
    struct suite_dim grid, block;
    unsigned shared;
    double seconds; /* between events around the launch */
};

struct suite_options {
    enum suite_size size;
    uint64_t seed; /* seed of the inputs */
    /* One of the workload's named inputs, or numbers ("n=4096"); NULL: the input of this size. */
    const char *input;
    const char
        *graph; /* path of a graph, for workloads that take one; NULL: generated from the seed */
    /* Called after each launch; NULL: not called. */
    void (*launched)(void *self, const struct suite_launched *l);
    void *launched_self;
};

struct suite_result {
    bool passed;
    bool bad_input;     /* the run did not begin: a file that the options name is damaged */
    CUresult error;     /* error of the driver call that failed; CUDA_SUCCESS: none */
    char message[1024]; /* why the run did not pass; else a note, or "" */
    uint64_t digest;    /* 64-bit FNV-1a of all bytes read back from the device, in order */
    unsigned launches;
    double kernel_seconds; /* between events around each launch */
    double seconds;        /* wall-clock time of the whole run */
};

/* Reads the text behind "NAME:": a size, or an input of this workload, which has at most one of its names, and numbers, in any
 * order ("cnv2_1", "n=4096", "cnv2_1:images=16"). Numbers are from 1 to 2^28. The options point into the text. false: the
 * workload has no such input. */
bool suite_input_read(const struct suite_workload *w, const char *text, struct suite_options *out);

/* Initialises CUDA if necessary, and runs the workload in a new context on device 0. */
struct suite_result suite_run(const struct suite_workload *w, const struct suite_options *options);

/* ---- for workloads ------------------------------------------------------------------------------
 * These functions do not return after an error: the run ends, and its resources are freed. */

struct suite_context {
    enum suite_size size;
    uint64_t seed;
    const char *graph;
    struct suite_run *run; /* private to suite.c */
};

/* The number that the run gives for a key of the workload's inputs ("edges=42000"); 0: none. */
size_t suite_number(const struct suite_context *ctx, const char *key);
/* The number of elements that the run gives (n=COUNT); else one of three by the size of the run. */
size_t suite_count_of(const struct suite_context *ctx, size_t small, size_t medium, size_t large);
bool suite_has_input(const struct suite_context *ctx); /* whether the run names an input */
/* The index of the named input that the run uses; 0 if the run names none. */
size_t suite_input(const struct suite_context *ctx);
/* One of three, by the size of the run. */
size_t suite_pick(const struct suite_context *ctx, size_t small, size_t medium, size_t large);

void suite_fail(struct suite_context *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
/* Fails because of a file that the options name. */
void suite_bad_input(struct suite_context *ctx, const char *why) __attribute__((noreturn));
void suite_note(struct suite_context *ctx, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Zeroed host memory until the run ends. */
#define suite_host(ctx, type, n) ((type *)suite_host_bytes((ctx), (n), sizeof(type)))
void *suite_host_bytes(struct suite_context *ctx, size_t n, size_t size);
/* free_it(p) is called when the run ends. */
void suite_at_end(struct suite_context *ctx, void (*free_it)(void *p), void *p);

CUdeviceptr suite_alloc(struct suite_context *ctx, size_t bytes); /* zeroed */
CUdeviceptr suite_upload(struct suite_context *ctx, const void *data, size_t bytes);
void suite_write(struct suite_context *ctx, CUdeviceptr to, const void *data, size_t bytes);
void suite_read(struct suite_context *ctx, void *to, CUdeviceptr from, size_t bytes);
void suite_zero(struct suite_context *ctx, CUdeviceptr to, size_t bytes);
void suite_release(struct suite_context *ctx, CUdeviceptr address);

/* Writes a variable of the kernel file. */
void suite_constant(struct suite_context *ctx, const char *name, const void *data, size_t bytes);

CUfunction suite_kernel(struct suite_context *ctx, const char *name);

static inline struct suite_dim suite_1d(unsigned x)
{
    return (struct suite_dim){x, 1, 1};
}
static inline struct suite_dim suite_2d(unsigned x, unsigned y)
{
    return (struct suite_dim){x, y, 1};
}
/* suite_launch(ctx, f, suite_1d(blocks), suite_1d(256), 0, &n, &x): a pointer to each argument, which
 * must have the type of the kernel's parameter. */
#define suite_launch(ctx, f, grid, block, shared, ...)                                             \
    suite_launch_params((ctx), (f), (grid), (block), (shared), (void *[]){__VA_ARGS__})
void suite_launch_params(struct suite_context *ctx, CUfunction f, struct suite_dim grid,
                         struct suite_dim block, unsigned shared, void **params);

/* Makes any other call of the driver API; fails if it returns an error. */
#define suite_check(ctx, call) suite_check_result((ctx), (call), #call)
void suite_check_result(struct suite_context *ctx, CUresult r, const char *call);

/* Compare arrays, floats by their bits; fail at the first element that differs. */
void suite_verify_u32(struct suite_context *ctx, const char *what, const uint32_t *got,
                      const uint32_t *want, size_t n);
void suite_verify_f32(struct suite_context *ctx, const char *what, const float *got,
                      const float *want, size_t n);

static inline size_t suite_blocks(size_t n, size_t per_block)
{
    return (n + per_block - 1) / per_block;
}

/* splitmix64 */
struct suite_random {
    uint64_t state;
};
struct suite_random suite_random(uint64_t seed);
uint64_t suite_random_u64(struct suite_random *r);
uint32_t suite_random_below(struct suite_random *r, uint32_t n); /* n > 0 */
float suite_random_float(struct suite_random *r);                /* in [0, 1), 24 bits */

/* The workloads' run functions, for suite.c. */
#define WORKLOAD(name, ptx, graph, inputs, summary)                                                \
    void suite_run_##name(struct suite_context *ctx);
#include "suites/workloads.def"
#undef WORKLOAD

#endif
