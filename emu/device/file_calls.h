/* emu/device/file_calls.h: the calls of include/heddle/device_io.h. */
#ifndef HEDDLE_EMU_DEVICE_FILE_CALLS_H
#define HEDDLE_EMU_DEVICE_FILE_CALLS_H

#include "emu/sched/control.h"

/* A call by one lane. `arg`: its arguments. *value: the result; below 0: an error. false: a fault was raised, because a
 * buffer is not in memory. Observers are notified of accesses to buffers as plain accesses of the lane. */
bool file_call(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
               enum runtime_call call, const u64 arg[4], u64 *value);

#endif
