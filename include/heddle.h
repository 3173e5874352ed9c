/* heddle.h: the public C interface of libheddle: PTX modules, running kernels, findings, estimates of cycles, watched
 * memory, recordings, and checks of determinism. examples/ has a program for each of the last five.
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
 * Errors in the input are messages of the module, never a crash; running out of memory aborts.
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

struct heddle_module; /* a PTX module: its text, and what was understood of it */

struct heddle_options {
    unsigned max_errors; /* stop after this many errors; 0: never. Default: 50 */
    bool lazy;           /* read no function bodies until they are asked for; default: false, every
                          * body is read and checked */
    bool
        simt_deadlock; /* also warn of loops in which lanes of a warp may wait for each other for ever, where they
                          * reconverge on a SIMT stack; not with `lazy` */
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
    unsigned threads; /* host threads of a launch; 0: one for each core */
    /* How a warp executes lanes that diverged: on a SIMT stack, which they leave where the lanes that run only wait for
     * others of their warp (modules and GPUs from sm_70 on); with independent thread scheduling from the beginning; or on
     * the stack alone, where such a kernel deadlocks. Not both. */
    bool independent_threads;
    bool strict_stack;
    bool no_speculation; /* every access under the order; the same results, slower */
    bool
        continue_after_faults; /* wrong loads give 0, wrong stores are dropped: findings, not faults */
    bool check_memory;         /* find leaks and wrong frees, never use an address twice */
    bool check_init;           /* find reads of memory that nothing wrote */
    bool check_bounds;         /* find accesses that leave their __shared__ variable */
    bool check_sync;           /* find shuffles and votes whose lanes are elsewhere */
    bool check_race;           /* find data races: unordered accesses (slower) */
    bool check_atomicity;      /* find memory that a kernel accesses both by atomics and plainly */
    bool check_api;            /* of CUDA programs: find calls that fail */
    bool count;                /* count events: heddle_device_count, heddle_device_counts */
    bool caches;               /* with count: also what hits in L1 and L2 */
    bool trace;  /* count with caches, and keep what a model of time needs of the last launch */
    bool phases; /* with count: also by phase, of orders that have some */
    const char *
        gpu; /* that CTAs are placed on: a name of heddle_gpu() or a file's, see heddle_gpu_check(); NULL: "v100" */
    const char
        *order;    /* memory order, as in "random:strategy=pct": heddle_order(); NULL: "native" */
    uint64_t seed; /* of an order that draws by chance */
    const char *suppress; /* findings that are not reported: a file, "none"; NULL: those known */
    uint64_t max_instructions; /* warp instructions of a launch; 0: no limit */
    double timeout;            /* seconds of a launch; 0: none */
    uint64_t memory;           /* bytes of device memory; 0: 8 GiB */
    const char *files;         /* DIR or DIR:ro: kernels may use its files (docs/files.md) */
    uint64_t files_bytes;      /* that kernels may write there; 0: 256 MiB */
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
 * device. false: a module has errors, or they do not fit together: heddle_device_error says why. */
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
        text; /* of the fault, of what the checks found, and notes: lines; "" if there is nothing. Until the next launch */
    size_t findings;   /* of the checks */
    size_t suppressed; /* and those that are not reported */
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

/* ---- findings ------------------------------------------------------------------------------------
 *
 *     struct heddle_device *d = heddle_device_new(&(struct heddle_device_options){.check_race = true});
 *     ... heddle_device_launch(d, ...) ...
 *     for (size_t i = 0; i < heddle_device_finding_count(d); i++) {
 *         struct heddle_finding f = heddle_device_finding(d, i);
 *         printf("%s, %llu times, line %u and line %u\n", f.name, (unsigned long long)f.count, f.line, f.line2);
 *     }
 *
 * A finding is what a check reports; the launch goes on. A fault ends the launch: there is at most one, the first by
 * CTA. examples/findings.c is a whole program. */

enum heddle_finding_kind {
    HEDDLE_NO_FAULT,
    HEDDLE_BAD_LAUNCH,  /* sizes or parameters of the launch itself; nothing ran */
    HEDDLE_UNSUPPORTED, /* an instruction that Heddle does not execute was reached */
    HEDDLE_OUT_OF_BOUNDS,
    HEDDLE_MISALIGNED,
    HEDDLE_READ_ONLY,   /* a store to constant memory or parameters */
    HEDDLE_WRONG_SPACE, /* a generic address outside of the state space that the instruction names */
    HEDDLE_FREED,       /* an access to memory that was released */
    HEDDLE_UNINITIALISED, /* check_init: a read of bytes that nothing wrote */
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
    HEDDLE_BAD_ORDER,       /* the memory order cannot continue: a recording is of something else */
    HEDDLE_BAD_FILE         /* a file that the kernel has changed cannot be written */
};
/* "out of bounds"; "" for HEDDLE_NO_FAULT. The text lives as long as the program. */
const char *heddle_finding_name(enum heddle_finding_kind kind);

struct heddle_finding {
    enum heddle_finding_kind kind;
    const char *name; /* heddle_finding_name(kind) */
    uint64_t count;   /* how often it occurred at this instruction or pair of instructions */
    uint32_t line;    /* of the PTX; 0: about no instruction */
    uint32_t line2;   /* of the other access of a race or of mixed atomicity; else 0 */
    const char *source_file, *source_file2; /* of these lines, from .loc; NULL: unknown */
    uint32_t source_line, source_line2;     /* 0: unknown */
    const char *text;                       /* the first occurrence in words, several lines */
};
/* Findings of the last launch, in the order in which they were first found. Their texts are valid until the next
 * launch or until the device is freed. */
size_t heddle_device_finding_count(const struct heddle_device *d);
/* i < heddle_device_finding_count(d); else kind is HEDDLE_NO_FAULT. */
struct heddle_finding heddle_device_finding(const struct heddle_device *d, size_t i);

struct heddle_fault {
    enum heddle_finding_kind kind; /* HEDDLE_NO_FAULT: the launch ran to its end */
    const char *name;
    uint32_t cta[3], thread[3]; /* of the first thread, in the order of execution, that failed */
    uint32_t line;              /* of the PTX; 0: none */
    const char *source_file;    /* from .loc; NULL: unknown */
    uint32_t source_line;       /* 0: unknown */
    uint64_t address;           /* of a memory fault: device address; else 0 */
    uint32_t size;              /* bytes of that access */
    const char *text;           /* the whole message; "" without a fault */
};
/* Of the last launch; texts as above. */
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
    const char *name; /* "dram", "issue", ...; NULL behind the last */
    double cycles;
};
struct heddle_estimate {
    char kernel[256], gpu[64];
    uint32_t grid[3], block[3];
    uint32_t ctas_per_sm, warps_per_sm; /* resident at once */
    double cycles, seconds;             /* of the GPU */
    double low,
        high; /* cycles: 8 of 10 launches lie so around their estimates; 0: unknown (gpudet, dab) */
    struct heddle_estimate_part parts[HEDDLE_ESTIMATE_PARTS]; /* their cycles add up to `cycles` */
    const char *bound; /* the name of the part that dominates */
    double ipc;        /* thread instructions per cycle of the whole GPU */
    double intensity;  /* roofline: warp instructions per byte of DRAM; 0: no byte was moved */
    double performance,
        roof; /* warp instructions per cycle: estimated, and the most that the roofline allows */
    uint64_t warp_instructions, thread_instructions;
    unsigned warnings; /* bits; heddle_estimate_warning() has a sentence for each */
};
/* Of grid i of the last launch: 0 is the launch itself, the others are grids that it launched. Estimates are not kept:
 * each call computes. false: there is no such grid, options.trace was off, or the launch was watched or checked (it has no
 * trace then). */
bool heddle_device_estimate(struct heddle_device *d, size_t i, struct heddle_estimate *out);
/* What a bit of `warnings` says about the estimate, bit = 1, 2, 4, ...; NULL: no such bit. */
const char *heddle_estimate_warning(unsigned bit);

/* ---- watched memory ------------------------------------------------------------------------------
 *
 *     heddle_device_watch(d, counter, 4, 1, print, NULL);     // one word
 *     ... launches: print(NULL, &w) is called for each write to it ...
 *
 * Writes are reported in the order in which other threads can see them, also those that a memory order delays.
 * examples/watch.c is a whole program. */

enum heddle_write_kind {
    HEDDLE_WRITE_STORE,
    HEDDLE_WRITE_ATOMIC,    /* an atomic that returns the old value */
    HEDDLE_WRITE_REDUCTION, /* one that returns nothing */
    HEDDLE_WRITE_COPY,      /* an asynchronous copy */
    HEDDLE_WRITE_BY_HOST    /* by the host, or by the device runtime, between launches */
};
struct heddle_write {
    enum heddle_write_kind kind;
    uint64_t address, element;     /* of the element; its index, from 0 on */
    uint32_t width;                /* bytes of the element */
    const uint8_t *before, *after; /* these bytes; valid during the call */
    const char *operation;         /* of atomics and reductions: "add"; else NULL */
    const char *kernel;            /* HEDDLE_WRITE_BY_HOST: of the launch that follows */
    uint64_t launch;               /* its number among the watched launches, from 1 on */
    bool thread_known;             /* else cta and thread are not valid */
    uint32_t cta[3], thread[3];
    uint32_t line, source_line; /* of the PTX and of the source; 0: unknown */
    const char *source_file;    /* NULL: unknown */
};
/* Reports each write to `count` elements of `width` bytes from `address` on, from the next launch on. `width`: 1 to 16.
 * Several places may be watched; they share one callback, the last one given. false: nothing is watched, since the
 * bytes are not all of one allocation or variable, or all places together have more than 64 MiB. No function of the
 * device may be called from the callback. */
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
 * A recording holds every decision of a seeded order, so that a run can be repeated by another version of Heddle and
 * with other seeds. examples/record.c is a whole program. */

/* Each returns false if it cannot: heddle_device_error says why. Recording wants an order that draws by the seed and
 * computes on the host thread of the launch ("random"); gpudet and dab repeat by their seed alone. */
bool heddle_device_record(struct heddle_device *d, const char *path);
bool heddle_device_replay(struct heddle_device *d, const char *path);
/* Ends what one of these began, and closes the file. false: it could not be written, or the launches were not those of
 * the recording: heddle_device_error says why. true if nothing was begun. heddle_device_free ends it, too. Memory that
 * nothing has written stays filled as in the first recording that the device replayed: replay each on a device of its own. */
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
 * heddle_check runs a function under several memory orders and seeds, compares the digests, and gives the verdict of
 * `heddle check`. examples/check.c is a whole program. */

enum { HEDDLE_CHECK_ORDERS = 16 };
enum heddle_verdict {
    HEDDLE_VERDICT_FAILED, /* a run failed */
    HEDDLE_VERDICT_BROKEN_PROMISE, /* an order gave several results although it guarantees one: an error of Heddle */
    HEDDLE_VERDICT_RACY,
    HEDDLE_VERDICT_VARIES, /* native runs differ: the program reads a clock, or the host decides */
    HEDDLE_VERDICT_NONDETERMINISTIC,
    HEDDLE_VERDICT_SOME, /* one result under each order that guarantees one, not under all orders */
    HEDDLE_VERDICT_DETERMINISTIC,
    HEDDLE_VERDICT_UNKNOWN /* nothing was run */
};
struct heddle_check_outcome { /* of one run */
    uint64_t digest;          /* of what counts as the result */
    bool failed;              /* a fault or wrong results */
    size_t races, mixed;      /* findings HEDDLE_RACE and HEDDLE_MIXED_ATOMICITY */
    size_t suppressed;        /* findings that were left out (options.suppress) */
};
struct heddle_check_options {
    const char *const *orders; /* NULL: random, gpudet and dab */
    size_t order_count;        /* at most HEDDLE_CHECK_ORDERS - 1 */
    unsigned runs; /* of each order, with seeds from first_seed on; 0: 20. Native runs twice */
    uint64_t first_seed;
    const struct heddle_device_options *
        device; /* of each run, but for order, seed, check_race and check_atomicity; NULL: defaults */
};
struct heddle_check_order {
    const char *order;
    unsigned runs, results,
        failed; /* results: different digests among the runs that did not fail */
};
struct heddle_check_result {
    enum heddle_verdict verdict;
    const char *name;    /* "deterministic" */
    size_t races, mixed; /* of the native run with race detection */
    struct heddle_check_order orders[HEDDLE_CHECK_ORDERS]; /* native first */
    size_t order_count;
    /* With 95 % confidence, a result of the first order behind native that no run has shown is less probable than
     * this: 1 - 0.05^(1/runs). */
    double unseen;
};
/* Calls run(self, options) for each run, one after the other. The first native run has race and atomicity checks on.
 * An order that is no order (heddle_order_check) gives HEDDLE_VERDICT_UNKNOWN. */
struct heddle_check_result
heddle_check(const struct heddle_check_options *options,
             struct heddle_check_outcome (*run)(void *self, const struct heddle_device_options *),
             void *self);
/* Findings of a kind in the device's last launch: for heddle_check_outcome. */
size_t heddle_device_findings_of(const struct heddle_device *d, enum heddle_finding_kind kind);

/* ---- the instruction set ----------------------------------------------------------------------- */

struct heddle_form {
    const char *name;      /* "add" */
    const char *modifiers; /* "{.rn|.rz}{.ftz}(.f32|.f64)": {} may be left out, () is a choice */
    const char *operands;  /* in the notation of ptx/isa.h */
    int since;             /* the PTX ISA version it came with, times ten */
    const char *target;    /* "70", "90a", ""; see ptx/isa.h */
    const char *unit;
    const char *refused; /* why Heddle does not execute it; NULL: it does */
    /* What the ISA leaves to the hardware: "2 ulp". NULL: the form has one right result. */
    const char *inexact;
};
size_t heddle_form_count(void);
struct heddle_form heddle_form(size_t i);

#ifdef __cplusplus
}
#endif

#endif
