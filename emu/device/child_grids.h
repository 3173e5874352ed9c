/* emu/device/child_grids.h: dynamic parallelism: grids that a kernel launches itself (CUDA 12:
 * "CDP2").
 *
 * A kernel requests a parameter buffer, fills it, and launches. Launches, copies and fills wait
 * until their parent grid has ended. Then they are carried out one by one, by CTA and within a CTA
 * in the order of issue, each with all its own child grids; those of the tail-launch stream come
 * last. That is one of the orders that streams allow, and it is deterministic: kernels that launch
 * grids run their CTAs serialised, and their warps are not in lockstep.
 *
 * A kernel that was compiled by CUDA 11 or earlier may wait (cudaDeviceSynchronize): the grids that its CTA has launched so far, but
 * for tail launches, then run at once, nested in the call, while all of its own grid stands still. It sees their memory. There is
 * one running grid for each level of the tree; what the grids above have launched is put aside. An order has
 * another one for the nested grids (emu_order.nested) and chooses their sequence. Observers, too, may have others for these
 * (emu_observer.nested): with those that cannot, and under orders that cannot, such a kernel faults.
 *
 * An order may choose another one (emu_order.choose_grid): streams of one CTA, streams of different CTAs and fire-and-forget
 * launches are free of each other. If a kernel makes streams wait for events, its grids keep the order of issue. A stream is
 * identified by its handle; NULL, the legacy and the per-thread one count as one. */
#ifndef HEDDLE_EMU_DEVICE_CHILD_GRIDS_H
#define HEDDLE_EMU_DEVICE_CHILD_GRIDS_H

#include "emu/counts.h"
#include "emu/order.h"
#include "emu/sched/control.h"

enum {
    GRIDS_DEPTH = EMU_MOST_NESTED, /* of grids that are launched by grids, tail launches included */
    GRIDS_PENDING = 2048,  /* launches that have not ended; copies and fills count as well */
    GRIDS_PARAMS = 4096,   /* bytes of parameters */
    GRIDS_FREE_STREAM = 4, /* cudaStreamFireAndForget: grids in it are free of all others */
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
    u64 stream;                 /* handle; GRIDS_FREE_STREAM: of none, done whenever one likes */
    struct emu_nesting nesting; /* for the timing model; without number */
    u32 number;                 /* check_grids.h */
    char by[200];               /* the thread that issued it */
};

struct grid_buffer { /* a parameter buffer */
    u64 address;
    struct emu_kernel *kernel; /* NULL: known when cudaLaunchDevice is called */
    u32 grid[3], block[3], shared;
};

struct grids {               /* of one launch by the host */
    struct grid_task *tasks; /* of the grid that runs */
    size_t count, cap;
    struct grid_buffer *buffers;
    size_t buffer_count, buffer_cap;
    u32 pending, depth; /* depth of the grid that runs, 0: the host's */
    u64 handles;        /* streams and events created so far */
    bool event_waits;   /* the grid that runs has made a stream wait for an event */
    /* For the timing model: grids that have begun, the number of the one that runs, its waits. */
    u32 begun, running;
    struct emu_grid_wait *waits;
    size_t wait_count, wait_cap;
    /* launch.c: carries out tasks, and the grids that they launch, in the middle of the grid that runs. The fault that ended
     * it; EMU_OK: none. */
    struct emu_fault (*run_nested)(struct grids *q, const struct grid_task *tasks, size_t count);
    struct check_grids *check; /* NULL: races between grids are not looked for */
};

/* A call of the device runtime, by one lane. `arg`: its numbers, `dim`: its dim3s, in their order.
 * false: a fault was raised. */
bool grids_call(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
                enum runtime_call call, const u64 arg[6], const u32 dim[2][3], u64 *value);
struct emu_order;
/* Takes the tasks of the grid that has ended, in the order in which they are to be carried out, which `o` (NULL: nobody)
 * may choose. To be freed with grids_drop. */
struct grid_task *grids_take(struct grids *q, const struct emu_order *o, size_t *count);
void grids_drop(struct grid_task *tasks, size_t count);
/* At the end of the launch: buffers that were never launched. */
void grids_end(struct grids *q, struct mem *m);

/* launch.c: the kernel whose address this is; NULL: it is none. */
struct emu_kernel *grids_kernel(const struct emu_machine *m, u64 address);
/* Whether a launch of it can be made; NULL, or why not: `*error` is what CUDA calls that, 0:
 * nothing, since Heddle cannot run it. */
const char *grids_check(const struct emu_machine *m, struct emu_kernel *k, const u32 grid[3],
                        const u32 block[3], u32 shared, u32 *error);

#endif
