/* heddle.h: the public C interface of libheddle.
 *
 *     struct heddle_module *m = heddle_module_read_file("kernel.ptx", NULL);
 *     if (!heddle_module_ok(m)) fputs(heddle_module_messages_text(m), stderr);
 *     for (size_t i = 0; i < heddle_module_function_count(m); i++) {
 *         struct heddle_function f = heddle_module_function(m, i);
 *         printf("%s: %llu instructions\n", f.name, (unsigned long long)f.instructions);
 *     }
 *     heddle_module_free(m);
 *
 * Ownership: every `const char *` belongs to the object it was asked of and lives as long. Functions
 * that return `char *` give the text to the caller, who passes it to free().
 * Threads: different objects may be used by different threads at once; one object by one at a time.
 * Errors in the input are messages of the module, never a crash; running out of memory aborts. */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
const char *heddle_version(void);

/* ---- modules ----------------------------------------------------------------------------------- */

struct heddle_module; /* a PTX module: its text, and what was understood of it */

struct heddle_options {
    unsigned max_errors; /* stop after this many errors; 0: never. Default: 50 */
    bool lazy;           /* read no function bodies until they are asked for; default: false, every
                          * body is read and checked */
};

/* Reads and checks PTX text of `length` bytes (NULs at its end, as fat binaries have, are dropped).
 * The text is copied; `name` is used in messages. options may be NULL. Never returns NULL. */
struct heddle_module *heddle_module_read(const char *name, const char *text, size_t length,
                                         const struct heddle_options *options);

/* The same for a file; "-" is the standard input. A file that cannot be read gives a module whose only
 * message says so (heddle_module_unreadable). */
struct heddle_module *heddle_module_read_file(const char *path,
                                              const struct heddle_options *options);

void heddle_module_free(struct heddle_module *m); /* NULL is allowed */

/* Whether there were no errors. Only such a module may be used further than its messages. */
bool heddle_module_ok(const struct heddle_module *m);
bool heddle_module_unreadable(const struct heddle_module *m);

const char *heddle_module_name(const struct heddle_module *m);
int heddle_module_ptx_version(const struct heddle_module *m);    /* 90 for PTX ISA 9.0 */
const char *heddle_module_target(const struct heddle_module *m); /* "sm_90a" */
int heddle_module_address_size(const struct heddle_module *m);   /* 32 or 64 */

/* ---- messages ---------------------------------------------------------------------------------- */

enum heddle_severity { HEDDLE_ERROR, HEDDLE_WARNING, HEDDLE_NOTE };

struct heddle_message {
    enum heddle_severity severity;
    uint32_t line, column; /* from 1, columns in bytes; 0: about no place */
    uint32_t length;       /* bytes marked from there on */
    const char *text;
};

size_t heddle_module_message_count(struct heddle_module *m);
/* In order of place, notes behind their error. i < heddle_module_message_count(m). */
struct heddle_message heddle_module_message(struct heddle_module *m, size_t i);

/* All of them as a compiler prints them, each with its line and a caret; "" if there are none. */
const char *heddle_module_messages_text(struct heddle_module *m);

/* Errors and warnings in all, also those beyond max_errors. */
unsigned heddle_module_error_count(const struct heddle_module *m);
unsigned heddle_module_warning_count(const struct heddle_module *m);

/* ---- what a module holds ----------------------------------------------------------------------- */

enum { HEDDLE_UNIT_COUNT = 18 };
/* "integer", "memory", ...: the class of functional unit, unit < HEDDLE_UNIT_COUNT. */
const char *heddle_unit_name(size_t unit);

struct heddle_function {
    const char *name;
    bool is_kernel, is_defined;
    uint32_t line;         /* of its definition or declaration */
    uint64_t instructions; /* in its body */
    uint64_t by_unit[HEDDLE_UNIT_COUNT];
    uint64_t blocks, loops; /* basic blocks that can be reached; natural loops */
    uint32_t loop_depth;    /* the deepest nesting of loops */
    uint32_t pressure;      /* most 32-bit registers that live at one point */
    uint32_t predicates;    /* most predicates that live at one point */
    uint32_t registers;     /* estimate of the registers per thread that ptxas assigns,
                                     * with those of callees (lazy: of the callees read so far) */
    uint64_t shared_bytes;  /* static shared memory it names */
    uint64_t local_bytes;   /* .local variables */
    uint64_t param_bytes;   /* of a kernel: its parameters with their alignment */
    uint64_t calls, barriers, atomics;
    uint64_t dead_atomics;                 /* atom whose result is not used: reductions */
    uint64_t branches, divergent_branches; /* conditional; those that lanes of a warp may part at */
    uint64_t refused; /* instructions that Heddle checks but does not execute */
};

size_t heddle_module_function_count(const struct heddle_module *m);
/* In order of declaration. Reads the body of a lazy module; all counts are 0 if there is none. */
struct heddle_function heddle_module_function(struct heddle_module *m, size_t i);

struct heddle_variable {
    const char *name, *space; /* "global", "const", "shared" */
    uint64_t size, align;     /* bytes; size 0: an array without a size */
    bool is_extern, has_initial_value;
};
size_t heddle_module_variable_count(const struct heddle_module *m);
struct heddle_variable heddle_module_variable(struct heddle_module *m, size_t i);

/* The module as PTX text that reads back to an equal module. */
char *heddle_module_print(struct heddle_module *m);

/* NULL if two modules say the same but for blanks, comments and places; else where they part. */
const char *heddle_module_difference(struct heddle_module *a, struct heddle_module *b);

/* The control-flow graph of function i in Graphviz's language: blocks with their instructions,
 * edges, reconvergence points and loops. `instructions`: with the text of the blocks. */
char *heddle_function_graph(struct heddle_module *m, size_t i, bool instructions);

/* ---- programs of several modules --------------------------------------------------------------- */

struct heddle_program; /* modules that were linked by name */

/* Links modules, which must live as long as the program. Lazy modules stay so: only functions that a
 * kernel reaches are read. Never returns NULL; its messages say what does not fit together. */
struct heddle_program *heddle_program_link(struct heddle_module *const *modules, size_t count);
void heddle_program_free(struct heddle_program *p);
bool heddle_program_ok(const struct heddle_program *p);
const char *heddle_program_messages_text(struct heddle_program *p);

/* ---- running kernels ---------------------------------------------------------------------------
 *
 *     struct heddle_device *d = heddle_device_new(NULL);
 *     if (!heddle_device_load(d, &m, 1)) fputs(heddle_device_error(d), stderr);
 *     uint64_t x = heddle_device_alloc(d, n * 4, "x");
 *     heddle_device_write(d, x, host, n * 4);
 *     uint64_t args[] = {x, n};                                   // one for each parameter
 *     struct heddle_run r = heddle_device_launch(d, "kernel", (uint32_t[]){g, 1, 1},
 *                                                (uint32_t[]){256, 1, 1}, 0, args, 2);
 *     if (r.fault) fputs(r.text, stderr);
 *
 * A device is used by one thread at a time. What a launch computes does not depend on the number of host
 * threads, the host's instruction set, or the compiler. */

struct heddle_device;

struct heddle_device_options {
    unsigned threads;         /* host threads of a launch; 0: one for each core */
    bool independent_threads; /* independent thread scheduling instead of a SIMT stack */
    bool check_memory;        /* find leaks and wrong frees, never use an address twice */
    bool check_init;          /* find reads of memory that nothing wrote */
    bool check_sync;          /* find shuffles and votes whose lanes are elsewhere */
    bool check_race;          /* find data races: accesses that nothing orders (slower) */
    bool check_atomicity;     /* find memory that a kernel accesses both by atomics and plainly */
    bool check_api;           /* of CUDA programs: find calls that fail */
    bool count;               /* count events: heddle_device_count, heddle_device_counts */
    bool caches;              /* with count: also what hits in L1 and L2 */
    bool trace;  /* count with caches, and keep what a model of time needs of the last launch */
    bool phases; /* with count: also by phase, of orders that have some */
    const char *
        gpu; /* that CTAs are placed on: a name of heddle_gpu() or a file's, see heddle_gpu_check(); NULL: "v100" */
    const char
        *order;    /* memory order, as in "random:strategy=pct": heddle_order(); NULL: "native" */
    uint64_t seed; /* of an order that draws by chance */
    const char *suppress;      /* findings that are not told: a file, "none"; NULL: those known */
    uint64_t max_instructions; /* warp instructions of a launch; 0: no limit */
    double timeout;            /* seconds of a launch; 0: none */
    uint64_t memory;           /* bytes of device memory; 0: 8 GiB */
    /* What kernels print; NULL: standard output. */
    void (*print)(void *self, const char *text, size_t length);
    void *print_self;
    /* Called now and then during a launch, by the thread that launched, with what ran so far; no
     * functions of the device in here. NULL: none. */
    void (*progress)(void *self, uint64_t warp_instructions, double seconds);
    void *progress_self;
};

struct heddle_device *
heddle_device_new(const struct heddle_device_options *options); /* NULL: defaults */
void heddle_device_free(struct heddle_device *d);               /* NULL is allowed */

/* Links the modules and gives their variables addresses; they must live as long as the device. Once for a
 * device. false: heddle_device_error says why. */
bool heddle_device_load(struct heddle_device *d, struct heddle_module *const *modules,
                        size_t count);
const char *heddle_device_error(const struct heddle_device *d);

/* Device addresses are numbers, not pointers. 0: no memory is left. The bytes are zero. */
uint64_t heddle_device_alloc(struct heddle_device *d, uint64_t size, const char *name);
/* false: it is no allocation, or was released before; heddle_device_error says which. */
bool heddle_device_release(struct heddle_device *d, uint64_t address);
/* What is still allocated by heddle_device_alloc or a kernel's malloc, as lines, merged by name or place;
 * "" if nothing is. Good until the next call. `count` may be NULL. */
const char *heddle_device_leaks(struct heddle_device *d, size_t *count);
/* false, and nothing copied: the bytes are not all of one allocation or variable. */
bool heddle_device_write(struct heddle_device *d, uint64_t to, const void *from, uint64_t size);
bool heddle_device_read(struct heddle_device *d, void *to, uint64_t from, uint64_t size);
/* A module variable's address, 0 if there is none; `size` may be NULL. */
uint64_t heddle_device_variable(struct heddle_device *d, const char *name, uint64_t *size);
/* A number that changes with any byte of the device's memory. */
uint64_t heddle_device_digest(struct heddle_device *d);

/* A kernel's parameters: how many, SIZE_MAX: there is no such kernel; and the bytes of one. */
size_t heddle_device_param_count(struct heddle_device *d, const char *kernel);
uint32_t heddle_device_param_size(struct heddle_device *d, const char *kernel, size_t i);

struct heddle_run {
    bool fault;       /* the launch ended early, or could not begin */
    const char *kind; /* of the fault: "out of bounds"; "" if there is none */
    uint32_t line;    /* of the PTX where it is; 0: none */
    bool limit;       /* because of max_instructions, timeout or a deadlock */
    const char *
        text; /* of the fault, and of what the checks found: lines; "" if there is nothing. Until the next launch */
    size_t findings;   /* of the checks */
    size_t suppressed; /* and those that are not told */
    uint64_t warp_instructions, thread_instructions;
    double seconds; /* wall-clock time */
};
/* args[i] holds parameter i in its low bytes; one of more than 8 bytes is taken from the address in args[i]. */
struct heddle_run heddle_device_launch(struct heddle_device *d, const char *kernel,
                                       const uint32_t grid[3], const uint32_t block[3],
                                       uint32_t shared, const uint64_t *args, size_t arg_count);

/* The same with all that a launch may say; what is left 0 is as above. */
struct heddle_launch {
    const char *kernel;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* CTAs of a cluster; 0: none, or as the kernel says */
    uint32_t shared;     /* dynamic shared memory, bytes */
    bool cooperative;    /* barriers of the whole grid work */
    const uint64_t *args;
    size_t arg_count;
};
struct heddle_run heddle_device_run(struct heddle_device *d, const struct heddle_launch *launch);

/* What the last launch counted, by name ("memory.global.load.sectors"; docs/counts.md has them all), with grids
 * that the kernel launched itself. false: there is no such number, or nothing was counted. */
bool heddle_device_count(struct heddle_device *d, const char *name, uint64_t *value);
/* All of it as a JSON document (docs/counts.md), to be freed by the caller; NULL: nothing was counted. */
char *heddle_device_counts(struct heddle_device *d);

/* The same by line, over all launches of the device with `count`: those of the source that .loc names, else
 * of the PTX; the line with most warp instructions first. */
struct heddle_line {
    const char *file; /* good until the next call */
    uint32_t line;
    uint64_t warp_instructions, thread_instructions;
    uint64_t divergent;                /* branches where lanes of a warp went different ways */
    uint64_t accesses, bytes, sectors; /* of global memory: by warp; asked for; 32 bytes each */
    uint64_t shared_accesses, passes;  /* of shared memory: by warp; passes over its banks */
    uint64_t collisions;               /* of atomics: lanes whose address an earlier lane had */
    uint64_t l1_sectors, l1_hits;      /* with `caches` */
    uint64_t l2_sectors, l2_hits;      /* loads, likewise */
};
size_t heddle_device_line_count(struct heddle_device *d);
struct heddle_line heddle_device_line(struct heddle_device *d, size_t i);

struct heddle_gpu {
    const char *name, *title; /* "v100", "Tesla V100" */
    uint32_t capability;      /* compute capability times ten */
    uint32_t sms;
};
/* Memory orders. One is said in one word: its name and, each behind a colon, options that differ from their
 * presets: "random:strategy=pct:late-stores=off". */
struct heddle_order {
    const char *name, *what;
    size_t option_count;
};
struct heddle_order_option {
    const char *name, *what;
    const char *values; /* "off, on", "1 to 65536"; good until the next call by the thread */
    const char *preset; /* likewise */
};
size_t heddle_order_count(void);
struct heddle_order heddle_order(size_t i);
struct heddle_order_option heddle_order_option(size_t order, size_t i);
/* What is wrong with such a word, to be freed by the caller; NULL: nothing. */
char *heddle_order_check(const char *order);

size_t heddle_gpu_count(void);
struct heddle_gpu heddle_gpu(size_t i);
/* What is wrong with the name of a GPU, as lines, to be freed by the caller; NULL: nothing. One with a '.' or a '/'
 * names a file: GPGPU-Sim's gpgpusim.config if it ends in ".config", else YAML (docs/model.md). A device whose
 * options name a wrong one loads nothing: heddle_device_error says this. */
char *heddle_gpu_check(const char *gpu);

/* ---- the instruction set ----------------------------------------------------------------------- */

struct heddle_form {
    const char *name;      /* "add" */
    const char *modifiers; /* "{.rn|.rz}{.ftz}(.f32|.f64)": {} may be left out, () is a choice */
    const char *operands;  /* in the notation of ptx/isa.h */
    int since;             /* the PTX ISA version it came with, times ten */
    const char *target;    /* "70", "90a", ""; see ptx/isa.h */
    const char *unit;
    const char *refused; /* why Heddle does not execute it; NULL: it does */
};
size_t heddle_form_count(void);
struct heddle_form heddle_form(size_t i);

#ifdef __cplusplus
}
#endif

#endif
