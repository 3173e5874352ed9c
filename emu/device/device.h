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

struct handlers { /* functions compiled for one host instruction set */
    emu_op *const *ops;
    const struct emu_counting *counting;
};
/* The handlers for an instruction set, or for the next lesser one that this host and this build have. */
struct handlers device_handlers(enum emu_isa isa);

struct emu {
    struct emu_config config;
    struct mem *mem;
    struct cta_arena *cta_arena;
    struct handlers handlers;
    const struct emu_gpu *gpu;
    struct cache **l1;          /* L1 of each SM */
    struct cache *l2;           /* NULL: not used yet */
    struct arena *launch_arena; /* of the last launch */
    u8 *params;      /* parameters of the last grid, MEM_MAX_PARAMS + 64 bytes; NULL: no grid yet */
    u32 params_used; /* number of bytes after which `params` has only zeros */
    struct trace_arena traces; /* of the last launch; cta_arena NULL: tracing was never requested */
    struct arena *leak_arena;  /* memory of the result of the last emu_leaks */
    struct emu_report report;
    u64 grids, heap_used;
    u32 sms;
    struct suppressions *suppressions;          /* NULL: all checks are off */
    struct emu_memory_observer memory_observer; /* all callbacks NULL: no observer */
};

struct emu_kernel {
    struct emu_image *image;
    struct ptx_func *func;
    u32 module;
    const char *name;
    struct image_params params;
    struct emu_program *program[LOWER_WAYS]; /* NULL: not lowered yet */
    char *failed;                            /* why it cannot be lowered */
    u32 registers;
    bool ran;                /* the kernel has been launched before */
    bool looked, plain;      /* plain: emu_launch_traits.lane_accesses_only, valid if `looked` */
    bool has_narrow_atomics; /* likewise, after emu_kernel_plain */
    bool
        may_be_conflict_free; /* conflict-free speculation is possible (emu/speculate/conflict_free.h) */
    u32 conflicts[2];         /* failed speculations: by conflicts between warps, between threads */
    /* sites that need tags, by site of the program that is lowered with LOWER_TAGGED */
    u8 *tagged_sites;
    bool needs_log; /* the kernel has reductions whose order matters */
    /* All other events that are ordered with these reductions can go into the log of emu/speculate/deferred.h. */
    bool may_defer;
};

struct emu_image {
    struct emu *emu;
    struct arena *arena;
    struct image *image;
    struct emu_kernel *kernels;
    size_t kernel_count;
};

/* Frees the report, counts and traces of the last launch. */
void emu_drop_launch(struct emu *e);

/* The unit of bursts. With independent thread scheduling, lanes become contexts of their own at the end of a turn
 * (emu/sched/its.c), so a turn must not end after every burst. */
enum emu_step emu_launch_step(const struct emu_launch *l, bool its);
/* How a launch's kernels are lowered: the events that its order and observers need (enum
 * lower_watch). */
unsigned emu_kernel_lowering(const struct emu_launch *l, unsigned wants, bool its);
/* The kernel's code for such a lowering, made when it is first needed and owned by the image. NULL: k->failed is the
 * reason. */
struct emu_program *emu_kernel_program(struct emu_kernel *k, unsigned watched);
/* emu_launch_traits.lane_accesses_only. Also sets k->may_be_conflict_free, as far as the kernel is lowered. */
bool emu_kernel_plain(struct emu_kernel *k);
/* Whether the execution of a warp depends on memory only: not on a clock, the place of its CTA, or the timing of its
 * atomics and strong loads. The result does not depend on the lowering. */
bool emu_kernel_timeless(const struct emu_program *p);
/* Whether the kernel reads a clock, another special register that changes during the launch, or %smid. */
bool emu_kernel_reads_clock(const struct emu_program *p);

#endif
