/* emu/sched/control.h: descriptions of calls, branch tables and barriers, for their handlers. */
#ifndef HEDDLE_EMU_SCHED_CONTROL_H
#define HEDDLE_EMU_SCHED_CONTROL_H

#include "emu/ops/exec.h"

struct brx_desc { /* brx.idx */
    u32 count;
    const struct emu_uop **targets;
};

/* The location of an argument or result of a call: rows of a register, or bytes of the .local frame. */
struct pass {
    bool in_reg;
    u8 row_bytes; /* in_reg: 2, 4, 8; 16: two rows */
    u8 count;     /* in_reg: components of a vector, in adjacent rows; else 1 */
    u32 row;
    u32 local, size; /* !in_reg: offset in the .local frame; bytes */
};

enum runtime_call {
    RUNTIME_NONE,
    RUNTIME_VPRINTF,
    RUNTIME_MALLOC,
    RUNTIME_FREE,
    RUNTIME_ASSERTFAIL,
    RUNTIME_FILES, /* this and the next calls: emu/device/file_calls.c */
    RUNTIME_FILE_OPEN = RUNTIME_FILES,
    RUNTIME_FILE_READ,
    RUNTIME_FILE_WRITE,
    RUNTIME_FILE_PREAD,
    RUNTIME_FILE_PWRITE,
    RUNTIME_FILE_SEEK,
    RUNTIME_FILE_SIZE,
    RUNTIME_FILE_CLOSE,
    RUNTIME_FILE_UNLINK,
    RUNTIME_GRIDS, /* this and the next calls: emu/device/child_grids.c */
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
    /* NULL: indirect call; its address is in row uop->a (r64, or r32 if x is 4) */
    const struct emu_code *callee;
    u32 function; /* number of the callee, used until it is lowered */
    enum runtime_call runtime;
    const char *name;
    struct pass *args, *results;
    u32 arg_count, result_count;
    const struct emu_uop *back; /* the block micro-operation where the caller resumes */
};

struct code_passes { /* locations of a function's parameters and results */
    struct pass *params, *results;
    u32 param_count, result_count;
};

enum bar_kind { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };

/* Ends inactive lanes whose next instruction is the end of the kernel. */
void emu_end_idle(struct emu_group *g);

/* emu/ops/access.c: the active lanes enter a function with alloca; the lanes of the mask leave it. */
void emu_stack_enter(struct emu_group *g);
void emu_stack_leave(struct emu_group *g, const u32 mask[GROUP]);

/* emu/ops/async.c: whether the wait of a group at this instruction may time out with result false. */
bool emu_may_time_out(const struct emu_uop *in);

/* cta.c: makes space for `need` entries in the group's SIMT stack; existing entries stay. */
void emu_stack_reserve(struct emu_group *g, u32 need);

/* The lanes of the first warp of the group with lanes that wait on the SIMT stack while others of the warp run. 0: no
 * lane waits. (control.c) */
u32 emu_waiting_lanes(const struct emu_group *g);

/* Makes the groups that wait at complete barriers ready. */
void emu_barrier_check(struct emu_cta *cta);

#endif
