/* emu/device/child_grids.h: grids that a kernel launches itself (dynamic parallelism, as of CUDA 12: "CDP2").
 *
 * A kernel asks for a buffer of parameters, fills it, and launches; the launch, and copies and fills
 * likewise, waits until the grid that asked for it has ended. Then they are carried out one by one, by
 * CTA and within a CTA in the order they were issued, each with all that it launched itself; last come
 * those of the tail-launch stream. That is one of the orders that streams allow, and the same each time: programs
 * that launch run their CTAs in turn, and warps are not in lockstep. */
#ifndef HEDDLE_EMU_DEVICE_CHILD_GRIDS_H
#define HEDDLE_EMU_DEVICE_CHILD_GRIDS_H

#include "emu/sched/control.h"

enum {
    GRIDS_DEPTH = 24,     /* of grids that are launched by grids, tail launches included */
    GRIDS_PENDING = 2048, /* launches that have not ended; copies and fills count as well */
    GRIDS_PARAMS = 4096,  /* bytes of parameters */
};

struct emu_kernel;

struct grid_task {             /* what waits for the end of a grid */
    struct emu_kernel *kernel; /* NULL: a copy or a fill */
    u32 grid[3], block[3], shared;
    u8 *params; /* malloc'd, GRIDS_PARAMS bytes */
    u64 to, from, size;
    bool fills, tail;
    u8 value;
    u32 cta;
    char by[200]; /* who asked for it */
};

struct grid_buffer { /* parameters that are being filled in */
    u64 address;
    struct emu_kernel *kernel; /* NULL: cudaLaunchDevice will say */
    u32 grid[3], block[3], shared;
};

struct grids {               /* of one launch by the host */
    struct grid_task *tasks; /* of the grid that runs */
    size_t count, cap;
    struct grid_buffer *buffers;
    size_t buffer_count, buffer_cap;
    u32 pending, depth; /* depth of the grid that runs, 0: the host's */
    u64 handles;        /* streams and events that were made */
};

/* A call of the device runtime, by one lane. `arg`: its numbers, `dim`: its dim3s, in their order. false: a
 * fault was raised. */
bool grids_call(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
                enum runtime_call call, const u64 arg[6], const u32 dim[2][3], u64 *value);
/* Takes the tasks of the grid that has ended, in their order. To be freed with grids_drop. */
struct grid_task *grids_take(struct grids *q, size_t *count);
void grids_drop(struct grid_task *tasks, size_t count);
/* At the end of the launch: buffers that were never launched. */
void grids_end(struct grids *q, struct mem *m);

/* launch.c: the kernel whose address this is; NULL: it is none. */
struct emu_kernel *grids_kernel(const struct emu_machine *m, u64 address);
/* Whether a launch of it can be made; NULL, or why not: `*error` is what CUDA calls that, 0: nothing, since
 * Heddle cannot run it. */
const char *grids_check(const struct emu_machine *m, struct emu_kernel *k, const u32 grid[3],
                        const u32 block[3], u32 shared, u32 *error);

#endif
