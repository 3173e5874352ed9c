/* emu/sched/launch.h: between emu/device/launch.c, which checks a launch, and launch.c, which runs it. */
#ifndef HEDDLE_EMU_SCHED_LAUNCH_H
#define HEDDLE_EMU_SCHED_LAUNCH_H

#include "emu/ops/exec.h"

struct arena;

struct launch_counts { /* of a launch, by SM */
    u32 sms;
    struct emu_site **sites;               /* by SM, then site; NULL: the SM ran nothing */
    struct emu_block_count **blocks;       /* likewise */
    u64 *ctas;                             /* by SM */
    u64 instructions, thread_instructions; /* of warps, of threads */
    u64 busy_waits; /* turns that ended since a group went round a loop and nothing had changed */
    struct arena *arena;
};
void launch_counts_add(struct launch_counts *out, u32 sm, const struct emu_site *sites,
                       const struct emu_block_count *blocks, const struct emu_program *p);

/* Runs it to the end. */
void launch_run(struct emu_machine *m, const struct emu_config *config, struct arena *arena,
                u32 threads, struct emu_fault *fault, struct launch_counts *counts);

/* An access outside of all allocations whose nearest one was freed is an access to freed memory; all other faults are of
 * the kind that they have. */
enum emu_fault_kind launch_kind_of_fault(const struct emu_machine *m, const struct emu_fault *f);
/* Fills in place and text of a fault whose kind, CTA and thread are known. */
void launch_describe_fault(const struct emu_machine *m, u32 pc, struct emu_fault *f,
                           const char *what, struct arena *arena);
/* Adds an instruction's place and text in two lines, and puts its lines into *f. */
struct buf;
/* "function (file:line, from header:line): instruction", as lists of suppressions have it. */
void launch_name_place(struct buf *b, const struct emu_machine *m, u32 pc);
void launch_describe_place(struct buf *b, const struct emu_machine *m, u32 pc, struct emu_fault *f);
/* The indices of a thread, by its number in a CTA. */
void launch_thread_of(const struct emu_machine *m, u32 cta, u32 thread, u32 cta_index[3],
                      u32 thread_index[3]);
/* Ends a launch that does not come to an end (EMU_LIMIT: `limit` instructions, 0: a time; EMU_DEADLOCK), and
 * says where the CTA's warps stand. */
void launch_raise_stop(struct emu_group *g, enum emu_fault_kind kind, u64 limit);

/* emu/device/heap.c: the guest's malloc and free. Only where CTAs run in turn. 0: the heap is used up. */
u64 launch_heap_alloc(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u64 size);
/* false: a fault was raised. */
bool launch_heap_free(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u64 address);

#endif
