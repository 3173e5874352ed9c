/* emu/machine_code.h: the code of a running launch, for observers: its instructions by pc, in the form of traces. */
#ifndef HEDDLE_EMU_MACHINE_CODE_H
#define HEDDLE_EMU_MACHINE_CODE_H

#include "emu/trace.h"

struct emu_machine;

/* insts[pc] is the instruction of emu_observer.issue and emu_access.pc. To be called from begin() of an observer; valid
 * as long as the module is loaded. */
const struct trace_code *emu_machine_code(struct emu_machine *m);

/* The sizes of a launch: grid, block, and bytes of shared memory of a CTA. */
struct emu_machine_size {
    uint32_t grid[3], block[3], shared;
};
struct emu_machine_size emu_machine_size(const struct emu_machine *m);

#endif
