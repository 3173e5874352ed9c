/* emu/device/device.h: the structures of a device, an image and a kernel, shared by device.c,
 * kernel.c and launch.c. */
#ifndef HEDDLE_EMU_DEVICE_DEVICE_H
#define HEDDLE_EMU_DEVICE_DEVICE_H

#include "emu/cta_arena.h"
#include "emu/device/image.h"
#include "emu/emu.h"
#include "emu/lower/lower.h"
#include "emu/order.h"
#include "emu/sched/launch.h"
#include "emu/trace.h"

struct handlers { /* compiled for one host instruction set */
    emu_op *const *ops;
    const struct emu_counting *counting;
};
/* Those for an instruction set, or the next lesser one that this host and this build have. */
struct handlers device_handlers(enum emu_isa isa);

struct emu {
    struct emu_config config;
    struct mem *mem;
    struct cta_arena *cta_arena;
    struct handlers handlers;
    const struct emu_gpu *gpu;
    struct cache **l1;          /* by SM */
    struct cache *l2;           /* NULL: not used yet */
    struct arena *launch_arena; /* of the last launch */
    u8 *params;      /* of the last grid, MEM_MAX_PARAMS + 64 bytes; NULL: there was none */
    u32 params_used; /* behind these bytes they are zeros */
    struct trace_arena traces; /* likewise; no cta_arena: tracing was never requested */
    struct arena *leak_arena;  /* of the last emu_leaks */
    struct emu_report report;
    u64 grids, heap_used;
    u32 sms;
    struct suppressions *suppressions;          /* NULL: no check is on */
    struct emu_memory_observer memory_observer; /* without callbacks: none */
};

struct emu_kernel {
    struct emu_image *image;
    struct ptx_func *func;
    u32 module;
    const char *name;
    struct image_params params;
    struct emu_program *program[LOWER_WAYS]; /* NULL: not lowered yet */
    char *failed;                            /* why it cannot be */
    u32 registers;
    bool ran;                /* a launch of it has */
    bool looked, plain;      /* plain: emu_launch_traits's, once it has been looked at */
    bool has_narrow_atomics; /* likewise, after emu_kernel_plain */
    bool
        may_be_conflict_free; /* conflict-free speculation is possible (emu/speculate/conflict_free.h) */
    u32 conflicts[2];         /* launches in which it failed: between warps, between threads */
    u8 *tagged_sites;         /* by site of the program that is lowered with LOWER_TAGGED */
    bool needs_log;           /* it has reductions whose order counts, */
    bool
        may_defer; /* and nothing else that would have a place among them but what emu/speculate/deferred.h has */
};

struct emu_image {
    struct emu *emu;
    struct arena *arena;
    struct image *image;
    struct emu_kernel *kernels;
    size_t kernel_count;
};

/* Forgets the last launch: its report, counts and traces. */
void emu_drop_launch(struct emu *e);

/* The unit of bursts. With independent thread scheduling, waiting lanes become contexts of their
 * own at the end of a turn (emu/sched/its.c), so not after every burst. */
enum emu_step emu_launch_step(const struct emu_launch *l, bool its);
/* How a launch's kernels are lowered: the events that its order and observers need (enum
 * lower_watch). */
unsigned emu_kernel_lowering(const struct emu_launch *l, unsigned wants, bool its);
/* The kernel's code for that, made when it is first needed and owned by the image. NULL: k->failed
 * has the reason. */
struct emu_program *emu_kernel_program(struct emu_kernel *k, unsigned watched);
/* emu_launch_traits.plain; afterwards k->may_be_conflict_free is known, too, as far as the kernel
 * is lowered. */
bool emu_kernel_plain(struct emu_kernel *k);
/* What a warp sees depends on nothing but memory: on no clock, and not on where its CTA is, nor on
 * when its atomics and strong loads come. It is the same however the kernel is lowered. */
bool emu_kernel_timeless(const struct emu_program *p);
/* Whether it reads a clock or another register that changes while it runs, or the number of its SM. */
bool emu_kernel_reads_clock(const struct emu_program *p);

#endif
