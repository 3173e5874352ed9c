/* emu/device/child_grids.h: dynamic parallelism: grids that a kernel launches itself (CUDA 12:
 * "CDP2").
 *
 * A kernel requests a parameter buffer, fills it, and launches. Launches, copies and fills wait until their parent grid
 * has ended. Then they are executed one by one, by CTA and within a CTA in the order of issue, each with all its own
 * child grids; those of the tail-launch stream are last. That is one of the orders that streams allow, and it is
 * deterministic: kernels that launch grids run their CTAs serialised, and their warps do not run in lockstep.
 *
 * A kernel that was compiled by CUDA 11 or earlier may wait (cudaDeviceSynchronize): the grids that its CTA has
 * launched so far, except tail launches, then run at once, nested in the call, while its own grid is suspended. The
 * kernel then sees their writes. There is one running grid for each level of the tree; pending launches of the grids
 * above are saved. An order supplies another order for the nested grids (emu_order.nested) and chooses their sequence.
 * Observers may supply other observers for them (emu_observer.nested). With observers or orders that do not, such a
 * kernel faults.
 *
 * An order may choose another sequence (emu_order.choose_grid): different streams of one CTA, streams of different CTAs
 * and fire-and-forget launches are unordered. If a kernel makes streams wait for events, its grids keep the order of
 * issue. A stream is identified by its handle; NULL, the legacy stream and the per-thread stream count as one. */
#ifndef HEDDLE_EMU_DEVICE_CHILD_GRIDS_H
#define HEDDLE_EMU_DEVICE_CHILD_GRIDS_H

#include "emu/counts.h"
#include "emu/order.h"
#include "emu/sched/control.h"

enum {
    GRIDS_DEPTH = EMU_MOST_NESTED, /* most levels of grids, tail launches included */
    GRIDS_PENDING = 2048,  /* most launches that have not ended; copies and fills count, too */
    GRIDS_PARAMS = 4096,   /* bytes of parameters */
    GRIDS_FREE_STREAM = 4, /* cudaStreamFireAndForget: its grids are unordered with all others */
};

struct emu_kernel;

struct grid_task { /* a launch, copy or fill that waits for the end of its parent grid */
    struct emu_kernel *kernel; /* NULL: a copy or a fill */
    u32 grid[3], block[3], shared;
    u8 *params; /* malloc'd, GRIDS_PARAMS bytes */
    u64 to, from, size;
    bool fills, tail;
    u8 value;
    u32 cta;
    u64 stream;                 /* handle; GRIDS_FREE_STREAM: no stream, not ordered */
    struct emu_nesting nesting; /* for the timing model; `number` is not set */
    u32 number;                 /* check_grids.h */
    char by[200];               /* the thread that issued it */
};

struct grid_buffer { /* a parameter buffer */
    u64 address;
    struct emu_kernel *kernel; /* NULL: known only when cudaLaunchDevice is called */
    u32 grid[3], block[3], shared;
};

struct grids {               /* the child grids of one launch by the host */
    struct grid_task *tasks; /* tasks of the running grid */
    size_t count, cap;
    struct grid_buffer *buffers;
    size_t buffer_count, buffer_cap;
    u32 pending, depth; /* depth: that of the running grid; 0: launched by the host */
    u64 handles;        /* streams and events created so far */
    bool event_waits;   /* the running grid has made a stream wait for an event */
    /* For the timing model: number of grids that have begun, number of the running grid, its waits. */
    u32 begun, running;
    struct emu_grid_wait *waits;
    size_t wait_count, wait_cap;
    /* launch.c: executes tasks, and the grids that they launch, while the running grid is suspended. Returns the fault;
     * EMU_OK: none. */
    struct emu_fault (*run_nested)(struct grids *q, const struct grid_task *tasks, size_t count);
    struct check_grids *check; /* NULL: races between grids are not checked */
};

/* A call of the device runtime, by one lane. `arg`: its scalar arguments, `dim`: its dim3 arguments, in their order.
 * false: a fault was raised. */
bool grids_call(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
                enum runtime_call call, const u64 arg[6], const u32 dim[2][3], u64 *value);
struct emu_order;
/* Returns the tasks of the grid that has ended, in the order of execution, which `o` may choose (NULL: no order). The
 * caller frees them with grids_drop. */
struct grid_task *grids_take(struct grids *q, const struct emu_order *o, size_t *count);
void grids_drop(struct grid_task *tasks, size_t count);
/* To be called at the end of the launch: frees parameter buffers that were never launched. */
void grids_end(struct grids *q, struct mem *m);

/* launch.c: the kernel at this address; NULL: none. */
struct emu_kernel *grids_kernel(const struct emu_machine *m, u64 address);
/* NULL: the kernel can be launched with these sizes. Otherwise an error message; *error: CUDA's error code, or 0 if
 * Heddle cannot run the launch. */
const char *grids_check(const struct emu_machine *m, struct emu_kernel *k, const u32 grid[3],
                        const u32 block[3], u32 shared, u32 *error);

#endif
