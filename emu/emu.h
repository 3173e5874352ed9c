/* emu/emu.h: a device that runs PTX kernels.
 *
 *     struct emu *e = emu_new(&(struct emu_config){.threads = 2});
 *     struct emu_image *im = emu_load(e, modules, count, &why);       // ptx modules, linked
 *     struct emu_kernel *k = emu_kernel_find(im, "saxpy");
 *     uint64_t x = emu_alloc(e, n * 4, "x");                          // a device address
 *     emu_copy_in(e, x, host_x, n * 4);
 *     struct emu_launch l = {.grid = {g, 1, 1}, .block = {256, 1, 1}, .params = p, .params_size = s};
 *     struct emu_report *r = emu_launch(e, k, &l);                    // runs to its end
 *     if (r->fault.kind) puts(r->fault.text);
 *     emu_copy_out(e, host_x, x, n * 4);
 *
 * Callers: library/, cuda/, calibrate/ and the tests. One thread at a time may use a device (callers lock). A launch
 * uses config.threads host threads internally.
 *
 * Invariants. Results and counts of a launch depend on the modules, the launch, memory and the configuration; never on
 * time, host addresses, the host's vector width or the compiler, and on the number of host threads only where CTAs race
 * through plain loads and stores. The guest is untrusted: whatever a module does, it accesses only device memory.
 *
 * In other headers: the interfaces of observers and orders (emu/order.h), counts (emu/counts.h), traces (emu/trace.h),
 * GPUs (emu/gpu.h). */
#ifndef HEDDLE_EMU_EMU_H
#define HEDDLE_EMU_EMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu;
struct emu_image;  /* linked modules, loaded: their variables have addresses */
struct emu_kernel; /* a kernel (.entry) of an image */
struct ptx_module;
struct cta_arena;
struct guest_files;

/* ---- the device
 * -------------------------------------------------------------------------------- */

enum emu_divergence {
    EMU_STACK, /* SIMT stack: diverged lanes reconverge at the immediate post-dominator */
    EMU_ITS,   /* independent thread scheduling: every lane makes progress */
    /* EMU_STACK until the running lanes only wait for other lanes, then EMU_ITS for their CTA. EMU_STACK for modules
     * and GPUs before sm_70, and under orders that need the stack. */
    EMU_YIELD,
};

/* checks in addition to bounds, alignment and spaces, which are always on */
enum emu_check {
    /* Released addresses are not reused, so any use of them is found. Wrong calls of the guest's free are findings, and
     * the launch continues. */
    EMU_CHECK_MEMORY = 1,
    EMU_CHECK_INIT = 2, /* reads of bytes that were never written */
    /* barriers that only some threads of a CTA reach; shuffles and masks that name absent lanes */
    EMU_CHECK_SYNC = 4,
    /* Flags for callers. emu/ ignores the following flags except BOUNDS: observers make these checks, and emu/ reports
     * their findings. */
    EMU_CHECK_RACE = 8,       /* determinism/race/race.h */
    EMU_CHECK_ATOMICITY = 16, /* determinism/race/atomicity.h */
    EMU_CHECK_API = 32,       /* cuda/: calls that fail */
    EMU_CHECK_BOUNDS = 64,    /* accesses that leave their __shared__ variable */
};

enum emu_isa { EMU_ISA_BEST, EMU_ISA_PORTABLE, EMU_ISA_AVX2, EMU_ISA_AVX512 };

struct emu_config {
    uint64_t memory;  /* bytes of device memory; 0: 8 GiB (host pages are allocated when touched) */
    unsigned threads; /* host threads of a launch; 0: one for each core */
    unsigned group_warps; /* warps of a CTA that run in lockstep: 1, 2 or 4; 0: 4 */
    unsigned sms;         /* SMs on which CTAs are placed; 0: as many as the GPU has */
    enum emu_divergence divergence;
    enum emu_isa isa; /* host instruction set, for tests; results are the same */
    unsigned checks;  /* enum emu_check */
    bool
        no_speculation; /* run each launch under its order or observers, without speculation (emu/order_fast.h) */
    /* Loads and stores outside of allocations, misaligned ones, and stores to read-only memory are findings, not
     * faults: a load gives 0, a store is dropped. Other instructions still fault. */
    bool continue_after_faults;
    bool count;  /* count events: emu_report.counts */
    bool caches; /* with count: also count hits in L1 and L2 (emu/measure/cache.h) */
    /* Implies count and caches, and records emu_counts.trace (emu/trace.h). Bytes that the host copies to the device
     * are then in L2. */
    bool trace;
    bool phases; /* with count: count by phase, for orders with phases */
    /* Suppression list (emu/suppress.h): a file, or "none". NULL: the built-in list. The caller has checked that the
     * file can be read. */
    const char *suppress;
    uint64_t max_instructions; /* limit of warp instructions of a launch; 0: none */
    double timeout;            /* limit of seconds of a launch; 0: none */
    /* emu/files.h; owned by the caller. NULL: kernels have no files */
    struct guest_files *files;
    uint64_t heap;             /* bytes for device-side malloc; 0: 8 MiB */
    const struct emu_gpu *gpu; /* for counts: occupancy, caches (emu/gpu.h); NULL: a V100 */
    /* order of launches that name none (emu/order.h); NULL: native */
    const struct emu_order *order;
    /* Memory for CTAs that outlives the device (emu/cta_arena.h); one device at a time may use it. NULL: the device has
     * its own. */
    struct cta_arena *cta_arena;
    /* Receives the text that the guest prints, in the order of the CTAs. NULL: standard output. */
    void (*print)(void *self, const char *text, size_t length);
    void *print_self;
    /* Called a few times a second during a launch, by the thread that launched; NULL: never. */
    void (*progress)(void *self, uint64_t warp_instructions, double seconds);
    void *progress_self;
};

/* Never NULL: aborts with a message if the host cannot reserve the address range. The config is
 * copied. */
struct emu *emu_new(const struct emu_config *config);
void emu_free(struct emu *e); /* NULL is allowed */

/* ---- memory -------------------------------------------------------------------------------------
 * Device addresses are in one reserved range (emu/memory.h has its map). They differ from host
 * pointers, except for memory that the host shares. */

/* The address of `size` zeroed bytes, aligned to 256; 0 if memory is exhausted or size is 0. `name`
 * is copied and appears in reports ("x", "cudaMalloc at saxpy.cu:12"). */
uint64_t emu_alloc(struct emu *e, uint64_t size, const char *name);
/* As emu_alloc, for memory that the host uses, too, at emu_bytes. The host address equals the device address if the
 * host does not use it otherwise; emu_unify ensures that. Released by emu_release. */
uint64_t emu_alloc_shared(struct emu *e, uint64_t size, const char *name);
/* Reserves the range of device addresses in the host's address space. For one device of a process, before its first
 * allocation: the call may move the range (emu/memory.h). false: the host uses some of the addresses. */
bool emu_unify(struct emu *e);
/* whether it is in the range of device addresses */
bool emu_in_range(const struct emu *e, uint64_t address);
/* Gives host memory a device address. The memory must stay there until the address is released. */
uint64_t emu_adopt(struct emu *e, void *host, uint64_t size, const char *name);
/* false: `address` is not the start of a live allocation. */
bool emu_release(struct emu *e, uint64_t address);
/* `by` names the releasing call in reports, as "cudaFree #2"; it is copied. */
bool emu_release_by(struct emu *e, uint64_t address, const char *by);

/* Sets whether kernels may access the memory shared with the host that begins at `address`; initially they may. */
void emu_set_access(struct emu *e, uint64_t address, bool access);
/* Reserved addresses without memory (emu/memory.h); emu_map backs parts of them with host
 * memory. */
uint64_t emu_reserve(struct emu *e, uint64_t size, uint64_t align, uint64_t at, const char *name);
bool emu_unreserve(struct emu *e, uint64_t address);
bool emu_map(struct emu *e, uint64_t address, void *host, uint64_t size, bool read_only,
             const char *name);
bool emu_unmap(struct emu *e, uint64_t address, const char *by);

/* Whether all `size` bytes are in one live allocation or variable, or in several adjacent ones. If not, the copies
 * below return false and copy nothing. */
bool emu_has(const struct emu *e, uint64_t address, uint64_t size);
bool emu_copy_in(struct emu *e, uint64_t to, const void *from, uint64_t size);
bool emu_copy_out(struct emu *e, void *to, uint64_t from, uint64_t size);
bool emu_copy(struct emu *e, uint64_t to, uint64_t from, uint64_t size);
/* Brings these bytes of global memory into the modelled L2, as emu_copy_in does. For emu_copy from memory that the host
 * shares. */
void emu_in_l2(struct emu *e, uint64_t to, uint64_t size);
bool emu_fill(struct emu *e, uint64_t to, const void *pattern, unsigned width, uint64_t count);

/* Observes the host's accesses to device memory, for analyses that follow data through a program
 * (determinism/communication/communication.h). Callbacks precede the copy, and are called only for copies that
 * succeed. */
struct emu_memory_observer {
    void *self;
    void (*write)(void *self, uint64_t to, uint64_t size);  /* emu_copy_in, emu_fill */
    void (*read)(void *self, uint64_t from, uint64_t size); /* emu_copy_out */
    void (*copy)(void *self, uint64_t to, uint64_t from, uint64_t size);
    void (*release)(void *self, uint64_t address, uint64_t size);
    /* From now on the host can read and write these bytes without a call. */
    void (*shares)(void *self, uint64_t address, uint64_t size);
};
/* Sets the memory observer; the structure is copied. NULL: none. */
void emu_observe_memory(struct emu *e, const struct emu_memory_observer *o);

/* With EMU_CHECK_INIT: the number of bytes that were never written, and in *first the address of the first of these. 0:
 * all bytes were written, or not all are in live allocations. */
uint64_t emu_unwritten(const struct emu *e, uint64_t address, uint64_t size, uint64_t *first);
/* A host pointer to the bytes, valid until the allocation is released. NULL: not all bytes are in one live
 * allocation. */
void *emu_bytes(struct emu *e, uint64_t address, uint64_t size);

struct emu_allocation {
    uint64_t address, size;
    const char *name;
    bool constant;  /* the guest may not write it */
    bool read_only; /* neither the guest nor a copy may write it */
    bool live;      /* false: it was released */
};
/* The allocation that contains the address, or else the nearest one. false: there are no allocations. */
bool emu_allocation_near(const struct emu *e, uint64_t address, struct emu_allocation *out);
/* Describes the address relative to that allocation, as faults do: one or more lines. */
void emu_describe(const struct emu *e, uint64_t address, char *out, size_t size);
size_t emu_allocation_count(const struct emu *e);                       /* live ones */
struct emu_allocation emu_allocation_at(const struct emu *e, size_t i); /* by address */
uint64_t emu_memory_used(const struct emu *e);
/* Sets the heap size of device-side malloc, from the next launch on. false: larger than device memory. */
bool emu_heap_limit(struct emu *e, uint64_t bytes);
struct mem *emu_memory(struct emu *e); /* global memory, for emu/texture.h */
/* Findings of kind EMU_LEAK: allocations that are still live, merged by the source position or name of the allocation.
 * guest_only: only those of device-side malloc. Valid until the next call. */
struct emu_finding;
const struct emu_finding *emu_leaks(struct emu *e, bool guest_only, size_t *count);

/* A 64-bit hash of the addresses and bytes of all live allocations and variables. The same on every
 * host. */
uint64_t emu_digest(struct emu *e);
/* A digest of the files that kernels have changed; 0: none (guest_files_digest). */
uint64_t emu_files_digest(const struct emu *e);

/* ---- modules
 * ----------------------------------------------------------------------------------- */

/* Links the modules and gives their variables addresses and initial values. A body is parsed and lowered when a kernel
 * that calls it is first launched. NULL: failed; `*why` is the reason, which the caller frees. */
struct emu_image *emu_load(struct emu *e, struct ptx_module *const *modules, size_t count,
                           char **why);
void emu_unload(struct emu_image *im);
struct emu_kernel *emu_kernel_find(struct emu_image *im, const char *name); /* NULL: none */
size_t emu_kernel_count(const struct emu_image *im);
struct emu_kernel *emu_kernel_at(struct emu_image *im, size_t i);
const char *emu_kernel_name(const struct emu_kernel *k);

struct emu_param { /* a parameter of a kernel */
    const char *name;
    uint32_t offset, size, align;
};
size_t emu_param_count(const struct emu_kernel *k);
struct emu_param emu_param_at(const struct emu_kernel *k, size_t i);
uint32_t emu_params_size(const struct emu_kernel *k); /* bytes of the packed parameters */

struct emu_kernel_info {
    uint32_t registers;               /* per thread, estimated (ptx/flow.h) */
    uint32_t shared, local, constant; /* bytes, static */
    uint32_t max_threads;             /* .maxntid, .reqntid; else 1024 */
    uint32_t required_block[3];       /* .reqntid; 0: any */
    uint32_t cluster[3];              /* .reqnctapercluster; 0: any */
    /* .maxntid, .reqntid or .maxnreg is given: ptxas keeps within the limit */
    bool registers_bounded;
    int ptx_version, target; /* 90, 75 */
};
/* false: the kernel cannot be lowered; a launch reports the reason. */
bool emu_kernel_info(struct emu_kernel *k, struct emu_kernel_info *out);
/* Whether an SM of the device's GPU has too few registers for a CTA of `threads` threads. Since
 * emu_kernel_info.registers is an estimate, the result is true only if 7/8 of that number do not fit either, and never
 * for a kernel whose directives bound its registers. */
bool emu_kernel_lacks_registers(struct emu_kernel *k, uint32_t threads);

struct emu_variable {
    const char *name;
    uint64_t address, size;
    bool managed; /* the host shares it */
};
size_t
emu_variable_count(const struct emu_image *im); /* Module-scope variables have the first indices. */
struct emu_variable emu_variable_at(const struct emu_image *im, size_t i);
/* A module variable by name: its address, 0 if there is none; `size` may be NULL. */
uint64_t emu_variable(struct emu_image *im, const char *name, uint64_t *size);

/* ---- launching
 * --------------------------------------------------------------------------------- */

struct emu_launch {
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* CTAs; 0: as the kernel declares, else no cluster */
    uint32_t shared;     /* dynamic shared memory, bytes */
    const void *params;  /* packed at the offsets of emu_param */
    uint32_t params_size;
    /* grid-wide barriers work: %envreg1 and %envreg2 have their workspace */
    bool cooperative;
    const struct emu_order *order;               /* NULL: native (emu/order.h) */
    const struct emu_observer *const *observers; /* emu/order.h */
    size_t observer_count;
};

enum emu_fault_kind {
    EMU_OK,
    EMU_BAD_LAUNCH,  /* wrong sizes or parameters of the launch; no thread ran */
    EMU_UNSUPPORTED, /* an instruction that Heddle does not execute was reached */
    EMU_OUT_OF_BOUNDS,
    EMU_MISALIGNED,
    EMU_READ_ONLY,   /* a store to constant memory or parameters */
    EMU_WRONG_SPACE, /* a generic address outside of the state space that the instruction names */
    EMU_FREED,       /* an access to released memory */
    EMU_UNINITIALISED,
    EMU_TRAP,
    EMU_ASSERT,   /* __assertfail */
    EMU_BAD_CALL, /* an indirect call or branch to an address without code */
    EMU_STACK_OVERFLOW,
    EMU_BARRIER,   /* barrier misuse: wrong thread counts, lanes that cannot arrive */
    EMU_BAD_LANES, /* shuffles and votes with absent lanes */
    EMU_DEADLOCK,  /* no thread can run */
    EMU_LIMIT,     /* max_instructions, timeout */
    EMU_DOUBLE_FREE,
    EMU_BAD_FREE, /* free of an address that malloc did not return */
    EMU_LEAK,
    EMU_RACE,
    EMU_MIXED,     /* atomic and plain accesses of the same bytes */
    EMU_BAD_ORDER, /* the order reports an error: a recording of another run */
    EMU_BAD_FILE,  /* a file that the kernel has changed cannot be written (emu/files.h) */
    EMU_FAULT_COUNT
};
const char *emu_fault_name(enum emu_fault_kind kind); /* "out of bounds" */

struct emu_fault {
    enum emu_fault_kind kind;
    uint32_t cta[3], thread[3]; /* first thread that failed, in schedule order */
    uint32_t line;              /* PTX line; 0: none */
    const char *source_file;    /* from .loc; NULL: unknown */
    uint32_t source_line;
    uint64_t address;
    uint32_t size;    /* bytes of the access */
    bool is_offset;   /* `address` is an offset in .shared, .local or parameters */
    const char *text; /* the whole message, several lines */
};

/* a finding of config.checks or of an observer; merged by instruction */
struct emu_finding {
    enum emu_fault_kind kind; /* UNINITIALISED, BAD_LANES, DOUBLE_FREE, BAD_FREE, RACE, MIXED */
    uint64_t count;
    uint32_t line;  /* PTX line */
    uint32_t line2; /* RACE, MIXED: PTX line of the other access; else 0 */
    /* source files of these lines, from .loc; NULL: unknown */
    const char *source_file, *source_file2;
    uint32_t source_line, source_line2;
    const char *text; /* describes the first occurrence, several lines */
};

/* How a launch was executed; the results are the same. JSON and text output have these names. */
enum emu_execution {
    EMU_NATIVE,  /* "native": without an order */
    EMU_ORDERED, /* "ordered": each access under the order */
    /* "rolled back": speculated, rolled back, then executed under the order or with its observers */
    EMU_ROLLED_BACK,
    EMU_CONFLICT_FREE, /* "conflict-free": speculated; no warps conflicted */
    /* "deferred reductions": speculated without conflicts; the log of reductions was replayed under the order */
    EMU_DEFERRED_REDUCTIONS,
    EMU_EXECUTION_COUNT
};
const char *emu_execution_name(enum emu_execution e);

/* of the device's last launch; valid until the next launch */
struct emu_report {
    struct emu_fault fault;             /* the fault that ended the launch; kind EMU_OK: none */
    const struct emu_finding *findings; /* findings of config.checks and observers */
    size_t finding_count;
    size_t suppressed; /* findings that the suppression list left out */
    uint64_t warp_instructions, thread_instructions; /* PTX instructions */
    enum emu_execution execution; /* of the grid itself, not of its child grids */
    /* Counts of the grid and, linked by `next`, of its child grids: emu/counts.h. NULL without config.count. */
    const struct emu_counts *counts;
    double seconds; /* wall-clock time; the only member that depends on the host */
};
const struct emu_report *emu_launch(struct emu *e, struct emu_kernel *k,
                                    const struct emu_launch *launch);

#endif
