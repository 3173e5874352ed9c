/* emu/sched/control.h: what calls, tables of branches and barriers are, for their handlers. */
#ifndef HEDDLE_EMU_SCHED_CONTROL_H
#define HEDDLE_EMU_SCHED_CONTROL_H

#include "emu/ops/exec.h"

struct brx_desc { /* brx.idx */
    u32 count;
    const struct emu_uop **targets;
};

/* A value that is handed over: either a register's row or bytes of the .local frame. */
struct pass {
    bool in_reg;
    u8 row_bytes; /* in_reg: 2, 4, 8; 16: two rows */
    u8 count;     /* in_reg: components of a vector, whose rows lie one behind the other; else 1 */
    u32 row;
    u32 local, size; /* otherwise */
};

enum runtime_call {
    RUNTIME_NONE,
    RUNTIME_VPRINTF,
    RUNTIME_MALLOC,
    RUNTIME_FREE,
    RUNTIME_ASSERTFAIL,
    RUNTIME_FILES, /* from here on: emu/device/file_calls.c */
    RUNTIME_FILE_OPEN = RUNTIME_FILES,
    RUNTIME_FILE_READ,
    RUNTIME_FILE_WRITE,
    RUNTIME_FILE_PREAD,
    RUNTIME_FILE_PWRITE,
    RUNTIME_FILE_SEEK,
    RUNTIME_FILE_SIZE,
    RUNTIME_FILE_CLOSE,
    RUNTIME_FILE_UNLINK,
    RUNTIME_GRIDS, /* from here on: emu/device/child_grids.c */
    RUNTIME_PARAMETERS = RUNTIME_GRIDS,
    RUNTIME_PARAMETERS_2,
    RUNTIME_LAUNCH,
    RUNTIME_LAUNCH_2,
    RUNTIME_LAST_ERROR,
    RUNTIME_PEEK_ERROR,
    RUNTIME_STREAM_CREATE,
    RUNTIME_STREAM_DESTROY,
    RUNTIME_STREAM_WAIT,
    RUNTIME_EVENT_CREATE,
    RUNTIME_EVENT_RECORD,
    RUNTIME_EVENT_DESTROY,
    RUNTIME_GET_DEVICE,
    RUNTIME_GET_DEVICE_COUNT,
    RUNTIME_CUDA_MALLOC,
    RUNTIME_CUDA_FREE,
    RUNTIME_MEMCPY,
    RUNTIME_MEMSET,
    RUNTIME_SET_CONDITIONAL,
    RUNTIME_SYNCHRONISE,
    RUNTIME_UNKNOWN
};

struct call_desc {
    const struct emu_code *callee; /* NULL: by address, in uop->a (r64, or r32 if x is 4) */
    u32 function;                  /* number of the callee, until it is lowered */
    enum runtime_call runtime;
    const char *name;
    struct pass *args, *results;
    u32 arg_count, result_count;
    const struct emu_uop *back; /* where the callers goes on: a block uop */
};

struct code_passes { /* how a function gets and gives its values */
    struct pass *params, *results;
    u32 param_count, result_count;
};

enum bar_kind { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };

/* Ends lanes that do not run and have nothing before them but the end of the kernel. */
void emu_end_idle(struct emu_group *g);

/* emu/ops/access.c: a function with alloca is entered by the lanes that run, and left by those of the mask. */
void emu_stack_enter(struct emu_group *g);
void emu_stack_leave(struct emu_group *g, const u32 mask[GROUP]);

/* emu/ops/async.c: whether a group that waits there may go on with a false answer. */
bool emu_may_time_out(const struct emu_uop *in);

/* cta.c: space for `need` entries of the group's stack; those that are there stay. */
void emu_stack_reserve(struct emu_group *g, u32 need);

/* The lanes that wait on the group's stack while others of their warp run: those of the first warp that has such. 0: no lane
 * waits. (control.c) */
u32 emu_waiting_lanes(const struct emu_group *g);

/* The groups that wait at a barrier which is complete are made ready. */
void emu_barrier_check(struct emu_cta *cta);

#endif
