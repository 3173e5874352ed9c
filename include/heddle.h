/* heddle.h: the public C interface of libheddle: PTX modules, running kernels, findings, estimates of cycles, watched
 * memory, recordings, and checks of determinism. examples/ has a program for findings, estimates, watched memory,
 * recordings and checks.
 *
 *     struct heddle_module *m = heddle_module_read_file("kernel.ptx", NULL);
 *     if (!heddle_module_ok(m)) fputs(heddle_module_messages_text(m), stderr);
 *     for (size_t i = 0; i < heddle_module_function_count(m); i++) {
 *         struct heddle_function f = heddle_module_function(m, i);
 *         printf("%s: %llu instructions\n", f.name, (unsigned long long)f.instructions);
 *     }
 *     heddle_module_free(m);
 *
 * Ownership: every `const char *` belongs to the object that returned it and lives as long as that object. Functions
 * that return `char *` give the text to the caller, who passes it to free().
 * Threads: different threads may use different objects at once; one thread at a time may use one object.
 * Errors in the input become messages of the module, never a crash. If the host's memory is exhausted, the process
 * aborts.
 *
 * Not in this interface, and private to Heddle's own sources: memory orders and observers written by others (emu/order.h,
 * docs/orders.md), textures, streams, graphs and the CUDA driver API (link libcuda.so.1 instead), job files,
 * calibration (`heddle calibrate`), and the reports of `heddle check` about the first difference of two runs. Their
 * names and structures change without notice. */
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

struct heddle_module; /* a PTX module: its text and the parsed form of it */

struct heddle_options {
    unsigned max_errors; /* parsing stops after this many errors; 0: no limit. Default: 50 */
    /* A function body is parsed when it is first needed. Default: false, every body is parsed and checked. */
    bool lazy;
    /* Also warn of loops in which lanes of a warp may wait for each other for ever if they reconverge on a SIMT stack.
     * No effect with `lazy`. */
    bool simt_deadlock;
};

/* Parses and checks PTX text of `length` bytes. NULs at its end, as fat binaries have, are ignored. The text is copied;
 * messages use `name`. options may be NULL. Never returns NULL. */
struct heddle_module *heddle_module_read(const char *name, const char *text, size_t length,
                                         const struct heddle_options *options);

/* As heddle_module_read, for a file; "-" is the standard input. If the file cannot be read, the module's only message
 * says so, and heddle_module_unreadable returns true. */
struct heddle_module *heddle_module_read_file(const char *path,
                                              const struct heddle_options *options);

void heddle_module_free(struct heddle_module *m); /* NULL is allowed */

/* Whether the module has no errors. Of a module with errors only the messages may be used. */
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
    uint32_t line, column; /* counted from 1; columns in bytes; 0: no position */
    uint32_t length;       /* bytes of the marked text, from the column on */
    const char *text;
};

size_t heddle_module_message_count(struct heddle_module *m);
/* Messages are sorted by position in the text; a note follows its error. i < heddle_module_message_count(m). */
struct heddle_message heddle_module_message(struct heddle_module *m, size_t i);

/* All messages as a compiler prints them, each with its source line and a caret; "": no messages. */
const char *heddle_module_messages_text(struct heddle_module *m);

/* Total numbers of errors and of warnings, those beyond max_errors included. */
unsigned heddle_module_error_count(const struct heddle_module *m);
unsigned heddle_module_warning_count(const struct heddle_module *m);

/* ---- functions and variables of a module ------------------------------------------------------- */

enum { HEDDLE_UNIT_COUNT = 18 };
/* The name of a class of functional units: "integer", "memory", ...; unit < HEDDLE_UNIT_COUNT. */
const char *heddle_unit_name(size_t unit);

struct heddle_function {
    const char *name;
    bool is_kernel, is_defined;
    uint32_t line;         /* line of the definition or declaration */
    uint64_t instructions; /* instructions in the body */
    uint64_t by_unit[HEDDLE_UNIT_COUNT];
    uint64_t blocks, loops; /* reachable basic blocks; natural loops */
    uint32_t loop_depth;    /* the deepest nesting of loops */
    uint32_t pressure;      /* the most 32-bit registers that are live at one point */
    uint32_t predicates;    /* the most predicates that are live at one point */
    /* Estimate of the registers per thread that ptxas assigns, callees included (of a lazy module: the callees parsed
     * so far). */
    uint32_t registers;
    uint64_t shared_bytes; /* static shared memory that the body names, bytes */
    uint64_t local_bytes;  /* .local variables, bytes */
    uint64_t param_bytes;  /* parameters of a kernel with their alignment, bytes */
    uint64_t calls, barriers, atomics;
    /* atom instructions whose result is not used (reductions) */
    uint64_t dead_atomics;
    /* conditional branches; those at which lanes of a warp may diverge */
    uint64_t branches, divergent_branches;
    uint64_t refused; /* instructions that Heddle checks but does not execute */
};

size_t heddle_module_function_count(const struct heddle_module *m);
/* Functions are numbered in order of declaration. Parses the body if the module is lazy. Without a body all counts are
 * 0. */
struct heddle_function heddle_module_function(struct heddle_module *m, size_t i);

struct heddle_variable {
    const char *name, *space; /* "global", "const", "shared" */
    uint64_t size, align;     /* bytes; size 0: an array without a size */
    bool is_extern, has_initial_value;
};
size_t heddle_module_variable_count(const struct heddle_module *m);
struct heddle_variable heddle_module_variable(struct heddle_module *m, size_t i);

/* The module as PTX text. Parsing that text gives an equal module. */
char *heddle_module_print(struct heddle_module *m);

/* NULL: the modules are equal except for white space, comments and source positions. Otherwise a text that says where
 * they first differ. */
const char *heddle_module_difference(struct heddle_module *a, struct heddle_module *b);

/* The control-flow graph of function i in Graphviz's language: basic blocks, edges, reconvergence points and loops.
 * `instructions`: the blocks contain the text of their instructions. */
char *heddle_function_graph(struct heddle_module *m, size_t i, bool instructions);

/* ---- programs of several modules --------------------------------------------------------------- */

struct heddle_program; /* modules that were linked by name */

/* Links modules, which must live as long as the program. Of lazy modules only functions that a kernel reaches are
 * parsed. Never returns NULL; the program's messages list link errors. */
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
 * One thread at a time may use a device. The results of a launch do not depend on the number of host threads, the
 * host's instruction set, or the compiler. */

struct heddle_device;

struct heddle_device_options {
    unsigned threads; /* host threads of a launch; 0: one for each core */
    /* How a warp executes lanes that diverged. Both false: on a SIMT stack; where the running lanes only wait for other
     * lanes of their warp, the CTA switches to independent thread scheduling (modules and GPUs from sm_70 on).
     * independent_threads: with independent thread scheduling from the beginning. strict_stack: always on the stack,
     * where such a kernel deadlocks. At most one of the two may be set. */
    bool independent_threads;
    bool strict_stack;
    bool no_speculation; /* the order decides every access; same results, slower */
    /* A wrong load gives 0, a wrong store is dropped; both are findings, not faults. */
    bool continue_after_faults;
    bool check_memory;    /* find leaks and wrong frees; do not reuse addresses */
    bool check_init;      /* find reads of memory that was never written */
    bool check_bounds;    /* find accesses that leave their __shared__ variable */
    bool check_sync;      /* find shuffles and votes that name absent lanes */
    bool check_race;      /* find data races: unordered accesses (slower) */
    bool check_atomicity; /* find memory that has both atomic and plain accesses */
    bool check_api;       /* find CUDA API calls that fail */
    bool count;           /* count events: heddle_device_count, heddle_device_counts */
    bool caches;          /* with count: also count hits in L1 and L2 */
    /* Implies count and caches; keeps a trace of the last launch for heddle_device_estimate. */
    bool trace;
    bool phases; /* with count: count by phase, for orders with phases */
    /* The GPU on which CTAs are placed: a name of heddle_gpu() or of a file, see heddle_gpu_check(). NULL: "v100". */
    const char *gpu;
    /* Memory order with its options, as in "random:strategy=pct": heddle_order(). NULL: "native". */
    const char *order;
    uint64_t seed; /* seed of the order's random choices */
    /* Suppression list, which names findings that are not reported: a file, or "none". NULL: the built-in list. */
    const char *suppress;
    uint64_t max_instructions; /* limit of warp instructions of a launch; 0: none */
    double timeout;            /* limit of seconds of a launch; 0: none */
    uint64_t memory;           /* bytes of device memory; 0: 8 GiB */
    /* DIR or DIR:ro: kernels may use the files in this directory (docs/files.md). NULL: none. */
    const char *files;
    uint64_t files_bytes; /* limit of bytes that kernels write to files; 0: 256 MiB */
    /* Receives the text that kernels print. NULL: standard output. */
    void (*print)(void *self, const char *text, size_t length);
    void *print_self;
    /* Called repeatedly during a launch, by the thread that launched, with the warp instructions and seconds so far.
     * The callback must not call functions of the device. NULL: none. */
    void (*progress)(void *self, uint64_t warp_instructions, double seconds);
    void *progress_self;
};

struct heddle_device *
heddle_device_new(const struct heddle_device_options *options); /* NULL: defaults */
void heddle_device_free(struct heddle_device *d);               /* NULL is allowed */

/* Links the modules, which must live as long as the device, and gives their variables addresses. May be called once for
 * each device. false: a module has errors, or linking failed; heddle_device_error says why. */
bool heddle_device_load(struct heddle_device *d, struct heddle_module *const *modules,
                        size_t count);
const char *heddle_device_error(const struct heddle_device *d);

/* Allocates zeroed memory and returns its device address, which is a number and no host pointer. 0: device memory is
 * exhausted. `name` appears in messages. */
uint64_t heddle_device_alloc(struct heddle_device *d, uint64_t size, const char *name);
/* false: `address` is not the start of an allocation, or the allocation was released before; heddle_device_error says
 * which. */
bool heddle_device_release(struct heddle_device *d, uint64_t address);
/* Lists the allocations of heddle_device_alloc and of the kernels' malloc that were not released, as lines of text,
 * merged by name or source position; "": none. Valid until the next call. `count` may be NULL. */
const char *heddle_device_leaks(struct heddle_device *d, size_t *count);
/* Copies between host and device memory. false: not all bytes are in one allocation or variable; nothing was copied. */
bool heddle_device_write(struct heddle_device *d, uint64_t to, const void *from, uint64_t size);
bool heddle_device_read(struct heddle_device *d, void *to, uint64_t from, uint64_t size);
/* The address of a module variable; 0: no such variable. `size` may be NULL. */
uint64_t heddle_device_variable(struct heddle_device *d, const char *name, uint64_t *size);
/* A 64-bit hash of the addresses and bytes of all live allocations and variables. */
uint64_t heddle_device_digest(struct heddle_device *d);

/* The number of a kernel's parameters (SIZE_MAX: no such kernel), and the size of parameter i in bytes. */
size_t heddle_device_param_count(struct heddle_device *d, const char *kernel);
uint32_t heddle_device_param_size(struct heddle_device *d, const char *kernel, size_t i);

struct heddle_run {
    bool fault;       /* the launch ended at a fault, or could not begin */
    const char *kind; /* kind of the fault: "out of bounds"; "": no fault */
    uint32_t line;    /* PTX line of the fault; 0: none */
    bool limit;       /* the fault is max_instructions, timeout or a deadlock */
    /* Lines of text about the fault, the findings, and notes; "": none. Valid until the next launch. */
    const char *text;
    size_t findings;   /* number of findings of the checks */
    size_t suppressed; /* findings that the suppression list left out */
    uint64_t warp_instructions, thread_instructions;
    double seconds; /* wall-clock time */
};
/* args[i] holds parameter i in its low bytes. For a parameter of more than 8 bytes, args[i] is the host address of its
 * bytes. */
struct heddle_run heddle_device_launch(struct heddle_device *d, const char *kernel,
                                       const uint32_t grid[3], const uint32_t block[3],
                                       uint32_t shared, const uint64_t *args, size_t arg_count);

/* As heddle_device_launch, with all properties of a launch; 0 is the default of each. */
struct heddle_launch {
    const char *kernel;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* CTAs of a cluster; 0: as the kernel declares, else none */
    uint32_t shared;     /* dynamic shared memory, bytes */
    bool cooperative;    /* grid-wide barriers work */
    const uint64_t *args;
    size_t arg_count;
};
struct heddle_run heddle_device_run(struct heddle_device *d, const struct heddle_launch *launch);

/* The value of a counter of the last launch, grids that the kernel launched included. `name`:
 * "memory.global.load.sectors"; docs/counts.md lists the counters. false: no such counter, or the launch was not
 * counted. */
bool heddle_device_count(struct heddle_device *d, const char *name, uint64_t *value);
/* All counters as a JSON document (docs/counts.md). The caller frees the text. NULL: the launch was not counted. */
char *heddle_device_counts(struct heddle_device *d);

/* Counters by line, over all launches of the device with `count`. Lines are source lines where .loc names them, else
 * PTX lines. The line with the most warp instructions comes first. */
struct heddle_line {
    const char *file; /* valid until the next call */
    uint32_t line;
    uint64_t warp_instructions, thread_instructions;
    uint64_t divergent; /* branches at which lanes of a warp diverged */
    /* global memory: warp accesses; bytes requested; 32-byte sectors */
    uint64_t accesses, bytes, sectors;
    uint64_t shared_accesses, passes; /* shared memory: warp accesses; passes over the banks */
    uint64_t collisions;              /* atomics: lanes whose address an earlier lane has */
    uint64_t l1_sectors, l1_hits;     /* with `caches` */
    uint64_t l2_sectors, l2_hits;     /* loads, with `caches` */
};
size_t heddle_device_line_count(struct heddle_device *d);
struct heddle_line heddle_device_line(struct heddle_device *d, size_t i);

struct heddle_gpu {
    const char *name, *title; /* "v100", "Tesla V100" */
    uint32_t capability;      /* compute capability times ten */
    uint32_t sms;
};
/* Memory orders. The text form of an order is its name followed by options that differ from their presets, each after a
 * colon: "random:strategy=pct:late-stores=off". */
struct heddle_order {
    const char *name, *what;
    size_t option_count;
};
struct heddle_order_option {
    const char *name, *what;
    const char *values; /* "off, on", "1 to 65536"; valid until the thread's next call */
    const char *preset; /* likewise */
};
size_t heddle_order_count(void);
struct heddle_order heddle_order(size_t i);
struct heddle_order_option heddle_order_option(size_t order, size_t i);
/* An error message about the text form of an order, which the caller frees. NULL: the text is valid. */
char *heddle_order_check(const char *order);

size_t heddle_gpu_count(void);
struct heddle_gpu heddle_gpu(size_t i);
/* Error messages, as lines, about the name of a GPU; the caller frees them. NULL: the name is valid. A name with a '.'
 * or a '/' names a file: GPGPU-Sim's gpgpusim.config if the name ends in ".config", else YAML (docs/model.md). If a
 * device's options name an invalid GPU, heddle_device_load fails and heddle_device_error has these messages. */
char *heddle_gpu_check(const char *gpu);

/* ---- findings ------------------------------------------------------------------------------------
 *
 *     struct heddle_device *d = heddle_device_new(&(struct heddle_device_options){.check_race = true});
 *     ... heddle_device_launch(d, ...) ...
 *     for (size_t i = 0; i < heddle_device_finding_count(d); i++) {
 *         struct heddle_finding f = heddle_device_finding(d, i);
 *         printf("%s, %llu times, line %u and line %u\n", f.name, (unsigned long long)f.count, f.line, f.line2);
 *     }
 *
 * A finding is an error that a check reports; the launch continues. A fault ends the launch. A launch has at most one
 * fault, the first in the order of CTAs. examples/findings.c is a whole program. */

enum heddle_finding_kind {
    HEDDLE_NO_FAULT,
    HEDDLE_BAD_LAUNCH,  /* wrong sizes or parameters of the launch; no thread ran */
    HEDDLE_UNSUPPORTED, /* an instruction that Heddle does not execute was reached */
    HEDDLE_OUT_OF_BOUNDS,
    HEDDLE_MISALIGNED,
    HEDDLE_READ_ONLY,   /* a store to constant memory or parameters */
    HEDDLE_WRONG_SPACE, /* a generic address outside of the state space that the instruction names */
    HEDDLE_FREED,       /* an access to memory that was released */
    HEDDLE_UNINITIALISED, /* check_init: a read of bytes that were never written */
    HEDDLE_TRAP,
    HEDDLE_ASSERT,   /* the kernel called assert() with a false condition */
    HEDDLE_BAD_CALL, /* an indirect call or branch without a valid target */
    HEDDLE_STACK_OVERFLOW,
    HEDDLE_BARRIER,   /* wrong thread counts, or lanes that can never arrive */
    HEDDLE_BAD_LANES, /* check_sync: a shuffle or vote that names absent lanes */
    HEDDLE_DEADLOCK,
    HEDDLE_LIMIT, /* max_instructions or timeout */
    HEDDLE_DOUBLE_FREE,
    HEDDLE_BAD_FREE, /* of an address that malloc did not return */
    HEDDLE_LEAK,
    HEDDLE_RACE,            /* check_race: two accesses that are not ordered (a data race) */
    HEDDLE_MIXED_ATOMICITY, /* check_atomicity: atomic and plain accesses of the same bytes */
    HEDDLE_BAD_ORDER,       /* the memory order cannot continue: a recording is of other launches */
    HEDDLE_BAD_FILE         /* a file that the kernel has changed cannot be written */
};
/* "out of bounds"; "" for HEDDLE_NO_FAULT. The text is a constant. */
const char *heddle_finding_name(enum heddle_finding_kind kind);

struct heddle_finding {
    enum heddle_finding_kind kind;
    const char *name; /* heddle_finding_name(kind) */
    uint64_t count;   /* occurrences at this instruction or pair of instructions */
    uint32_t line;    /* PTX line; 0: the finding is about no instruction */
    uint32_t line2;   /* race, mixed atomicity: PTX line of the other access; else 0 */
    /* source files of these lines, from .loc; NULL: unknown */
    const char *source_file, *source_file2;
    uint32_t source_line, source_line2; /* 0: unknown */
    const char *text;                   /* describes the first occurrence, several lines */
};
/* The number of findings of the last launch. Findings are numbered in the order in which they were first found. Their
 * texts are valid until the next launch or until the device is freed. */
size_t heddle_device_finding_count(const struct heddle_device *d);
/* For i >= heddle_device_finding_count(d) the finding's kind is HEDDLE_NO_FAULT. */
struct heddle_finding heddle_device_finding(const struct heddle_device *d, size_t i);

struct heddle_fault {
    enum heddle_finding_kind kind; /* HEDDLE_NO_FAULT: the launch ran to its end */
    const char *name;
    uint32_t cta[3], thread[3]; /* the first thread that failed, in order of execution */
    uint32_t line;              /* PTX line; 0: none */
    const char *source_file;    /* from .loc; NULL: unknown */
    uint32_t source_line;       /* 0: unknown */
    uint64_t address;           /* memory fault: device address of the access; else 0 */
    uint32_t size;              /* bytes of that access */
    const char *text;           /* the whole message; "" without a fault */
};
/* The fault of the last launch. Texts are valid as long as those of findings. */
struct heddle_fault heddle_device_fault(const struct heddle_device *d);

/* ---- estimates -----------------------------------------------------------------------------------
 *
 *     struct heddle_device_options o = {.count = true, .caches = true, .trace = true, .gpu = "titanv"};
 *     ... a launch on heddle_device_new(&o) ...
 *     struct heddle_estimate e;
 *     if (heddle_device_estimate(d, 0, &e)) printf("%.0f cycles, bound by %s\n", e.cycles, e.bound);
 *
 * docs/estimate.md describes the model and its errors; examples/estimate.c is a whole program. */

enum { HEDDLE_ESTIMATE_PARTS = 24 };
struct heddle_estimate_part {
    const char *name; /* "dram", "issue", ...; NULL after the last part */
    double cycles;
};
struct heddle_estimate {
    char kernel[256], gpu[64];
    uint32_t grid[3], block[3];
    uint32_t ctas_per_sm, warps_per_sm; /* resident at once */
    double cycles, seconds;             /* of the GPU */
    /* Bounds of the cycles: 8 of 10 measured launches lie within such bounds of their estimates. 0: unknown (gpudet,
     * dab). */
    double low, high;
    /* the cycles of all parts add up to `cycles` */
    struct heddle_estimate_part parts[HEDDLE_ESTIMATE_PARTS];
    const char *bound; /* name of the dominating part */
    double ipc;        /* thread instructions per cycle of the whole GPU */
    double intensity;  /* roofline: warp instructions per byte of DRAM; 0: no byte was moved */
    double performance,
        roof; /* warp instructions per cycle: estimated, and the most that the roofline allows */
    uint64_t warp_instructions, thread_instructions;
    unsigned warnings; /* bits; heddle_estimate_warning() has a sentence for each */
};
/* Estimates grid i of the last launch. Grid 0 is the launch itself, the others are grids that its kernel launched. Each
 * call computes the estimate anew. false: no such grid, options.trace was off, or the launch was watched or checked and
 * so has no trace. */
bool heddle_device_estimate(struct heddle_device *d, size_t i, struct heddle_estimate *out);
/* A sentence for a bit of `warnings`, bit = 1, 2, 4, ...; NULL: no such bit. */
const char *heddle_estimate_warning(unsigned bit);

/* ---- watched memory ------------------------------------------------------------------------------
 *
 *     heddle_device_watch(d, counter, 4, 1, print, NULL);     // one word
 *     ... launches: print(NULL, &w) is called for each write to it ...
 *
 * Writes are reported in the order in which they become visible to other threads, also where a memory order delays
 * them. examples/watch.c is a whole program. */

enum heddle_write_kind {
    HEDDLE_WRITE_STORE,
    HEDDLE_WRITE_ATOMIC,    /* an atomic that returns the old value */
    HEDDLE_WRITE_REDUCTION, /* an atomic that returns nothing */
    HEDDLE_WRITE_COPY,      /* an asynchronous copy */
    HEDDLE_WRITE_BY_HOST    /* a write by the host or the device runtime, between launches */
};
struct heddle_write {
    enum heddle_write_kind kind;
    uint64_t address, element; /* device address of the element; its index, from 0 on */
    uint32_t width;            /* bytes of the element */
    /* the element's bytes before and after the write; valid during the call */
    const uint8_t *before, *after;
    const char *operation; /* atomics and reductions: "add"; else NULL */
    const char *kernel;    /* HEDDLE_WRITE_BY_HOST: kernel of the next launch */
    uint64_t launch;       /* number of the launch among the watched ones, from 1 on */
    bool thread_known;     /* false: cta and thread are not valid */
    uint32_t cta[3], thread[3];
    uint32_t line, source_line; /* PTX line and source line; 0: unknown */
    const char *source_file;    /* NULL: unknown */
};
/* Reports each write to `count` elements of `width` bytes from `address` on, from the next launch on. `width`: 1 to 16.
 * Several ranges may be watched; they share one callback, that of the latest call. false: the range is not watched,
 * because its bytes are not all in one allocation or variable, or all ranges together have more than 64 MiB. The
 * callback must not call functions of the device. */
bool heddle_device_watch(struct heddle_device *d, uint64_t address, uint32_t width, uint64_t count,
                         void (*written)(void *self, const struct heddle_write *w), void *self);

/* ---- recordings ----------------------------------------------------------------------------------
 *
 *     heddle_device_record(d, "run.rec");      // before the first launch, options.order = "random"
 *     ... launches ...
 *     heddle_device_recording_end(d);
 *
 *     heddle_device_replay(other, "run.rec");  // the same launches then make the same decisions
 *
 * A recording holds every decision of a seeded order, so that another version of Heddle can repeat the run, whatever
 * the seed. examples/record.c is a whole program. */

/* Begin a recording or a replay. false: failed; heddle_device_error says why. Recording needs an order that makes
 * random choices and runs on the host thread of the launch ("random"). Runs under gpudet and dab can be repeated by
 * their seed alone. */
bool heddle_device_record(struct heddle_device *d, const char *path);
bool heddle_device_replay(struct heddle_device *d, const char *path);
/* Ends the recording or replay and closes the file. false: the file could not be written, or the launches differ from
 * those of the recording; heddle_device_error says why. true also if none had begun. heddle_device_free ends it, too.
 * Unwritten memory keeps the contents of the first recording that the device replayed: replay each recording on a
 * device of its own. */
bool heddle_device_recording_end(struct heddle_device *d);

/* ---- checks of determinism -----------------------------------------------------------------------
 *
 *     static struct heddle_check_outcome once(void *self, const struct heddle_device_options *options)
 *     {
 *         struct heddle_device *d = heddle_device_new(options);
 *         ... load, allocate, launch ...
 *         struct heddle_check_outcome o = {.digest = heddle_device_digest(d), .failed = run.fault};
 *         o.races = heddle_device_findings_of(d, HEDDLE_RACE);
 *         heddle_device_free(d);
 *         return o;
 *     }
 *     struct heddle_check_result r = heddle_check(NULL, once, NULL);
 *     puts(r.name);                                              // "nondeterministic"
 *
 * heddle_check runs a function under several memory orders and seeds, compares the digests, and returns the verdict of
 * `heddle check`. examples/check.c is a whole program. */

enum { HEDDLE_CHECK_ORDERS = 16 };
enum heddle_verdict {
    HEDDLE_VERDICT_FAILED, /* a run failed */
    /* an order gave several results although it guarantees one: a defect of Heddle */
    HEDDLE_VERDICT_BROKEN_PROMISE,
    HEDDLE_VERDICT_RACY,
    /* native runs differ: the program reads a clock, or depends on the host */
    HEDDLE_VERDICT_VARIES,
    HEDDLE_VERDICT_NONDETERMINISTIC,
    HEDDLE_VERDICT_SOME, /* one result under each order that guarantees one, not under all orders */
    HEDDLE_VERDICT_DETERMINISTIC,
    HEDDLE_VERDICT_UNKNOWN /* no run took place */
};
struct heddle_check_outcome { /* outcome of one run */
    uint64_t digest;          /* digest of the memory that counts as the result */
    bool failed;              /* a fault or wrong results */
    size_t races, mixed;      /* findings HEDDLE_RACE and HEDDLE_MIXED_ATOMICITY */
    size_t suppressed;        /* findings that the suppression list left out (options.suppress) */
};
struct heddle_check_options {
    const char *const *orders; /* NULL: random, gpudet and dab */
    size_t order_count;        /* at most HEDDLE_CHECK_ORDERS - 1 */
    /* Runs of each order, with seeds from first_seed on; 0: 20. The native order runs twice. */
    unsigned runs;
    uint64_t first_seed;
    /* Options of each run; heddle_check sets order, seed, check_race and check_atomicity. NULL: defaults. */
    const struct heddle_device_options *device;
};
struct heddle_check_order {
    const char *order;
    /* `results`: the number of different digests among the runs that did not fail */
    unsigned runs, results, failed;
};
struct heddle_check_result {
    enum heddle_verdict verdict;
    const char *name;    /* "deterministic" */
    size_t races, mixed; /* findings of the native run with race detection */
    struct heddle_check_order orders[HEDDLE_CHECK_ORDERS]; /* native first */
    size_t order_count;
    /* Upper bound, with 95 % confidence, of the probability that a run under the first order after native has a result
     * that no run has shown: 1 - 0.05^(1/runs). */
    double unseen;
};
/* Calls run(self, options) for each run, one after the other. The first native run has race and atomicity checks on. If
 * an order's text is invalid (heddle_order_check), the verdict is HEDDLE_VERDICT_UNKNOWN. */
struct heddle_check_result
heddle_check(const struct heddle_check_options *options,
             struct heddle_check_outcome (*run)(void *self, const struct heddle_device_options *),
             void *self);
/* The number of findings of a kind in the device's last launch, for heddle_check_outcome. */
size_t heddle_device_findings_of(const struct heddle_device *d, enum heddle_finding_kind kind);

/* ---- the instruction set ----------------------------------------------------------------------- */

struct heddle_form {
    const char *name;      /* "add" */
    const char *modifiers; /* "{.rn|.rz}{.ftz}(.f32|.f64)": {} is optional, () is a choice */
    const char *operands;  /* in the notation of ptx/isa.h */
    int since;             /* PTX ISA version that introduced the form, times ten */
    const char *target;    /* "70", "90a", ""; see ptx/isa.h */
    const char *unit;
    const char *refused; /* why Heddle does not execute the form; NULL: it does */
    /* The freedom that the ISA leaves to hardware: "2 ulp". NULL: the form has exactly one correct result. */
    const char *inexact;
};
size_t heddle_form_count(void);
struct heddle_form heddle_form(size_t i);

#ifdef __cplusplus
}
#endif

#endif
