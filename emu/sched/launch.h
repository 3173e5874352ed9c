/* emu/sched/launch.h: the interface between emu/device/launch.c, which checks a launch, and launch.c, which runs it. */
#ifndef HEDDLE_EMU_SCHED_LAUNCH_H
#define HEDDLE_EMU_SCHED_LAUNCH_H

#include "emu/ops/exec.h"

struct arena;

struct launch_counts { /* the counters of a launch, by SM */
    u32 sms;
    /* counters by SM, then site; NULL: no CTA ran on the SM */
    struct emu_site **sites;
    struct emu_block_count **blocks;       /* likewise */
    u64 *ctas;                             /* CTAs that ran on each SM */
    u64 instructions, thread_instructions; /* warp instructions; thread instructions */
    u64 busy_waits; /* turns that ended because a group repeated a loop and nothing had changed */
    struct arena *arena;
};
void launch_counts_add(struct launch_counts *out, u32 sm, const struct emu_site *sites,
                       const struct emu_block_count *blocks, const struct emu_program *p);

/* Runs the launch to its end. */
void launch_run(struct emu_machine *m, const struct emu_config *config, struct arena *arena,
                u32 threads, struct emu_fault *fault, struct launch_counts *counts);

/* An access outside of all allocations whose nearest one was freed is an access to freed memory; for all other faults
 * the result is f->kind. */
enum emu_fault_kind launch_kind_of_fault(const struct emu_machine *m, const struct emu_fault *f);
/* Sets source position and text of a fault whose kind, CTA and thread are known. */
void launch_describe_fault(const struct emu_machine *m, u32 pc, struct emu_fault *f,
                           const char *what, struct arena *arena);
/* launch_name_place appends the position of an instruction in one line; launch_describe_place appends its position and
 * text in two lines, and stores the line numbers in *f. */
struct buf;
/* The format of suppression lists: "function (file:line, from header:line): instruction". */
void launch_name_place(struct buf *b, const struct emu_machine *m, u32 pc);
void launch_describe_place(struct buf *b, const struct emu_machine *m, u32 pc, struct emu_fault *f);
/* The indices of a CTA and of a thread, from their linear numbers. */
void launch_thread_of(const struct emu_machine *m, u32 cta, u32 thread, u32 cta_index[3],
                      u32 thread_index[3]);
/* Raises the fault of a launch that does not end. EMU_LIMIT: `limit` instructions, 0: the limit of time. EMU_DEADLOCK.
 * The report lists the positions of the CTA's warps. */
void launch_raise_stop(struct emu_group *g, enum emu_fault_kind kind, u64 limit);

/* emu/device/heap.c: the guest's malloc and free. Only in launches that run CTAs one after another. 0: the heap is
 * exhausted. */
u64 launch_heap_alloc(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u64 size);
/* false: a fault was raised. */
bool launch_heap_free(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u64 address);

#endif
