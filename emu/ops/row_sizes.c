/* The sizes of the rows that an operation reads and writes, from its lane types, for code that analyses operations
 * (emu/sched/prefetch.c, emu/progress/busy_wait.c). Operations that are not in the LANE tables have zeros. */
#include "emu/ops/exec.h"

const u8 emu_row_sizes[UOP_COUNT][4] = {
#define LANE1(name, D, A, ...) [UOP_##name] = {sizeof(D), sizeof(A)},
#define LANE2(name, D, A, B, ...) [UOP_##name] = {sizeof(D), sizeof(A), sizeof(B)},
#define LANE3(name, D, A, B, C, ...) [UOP_##name] = {sizeof(D), sizeof(A), sizeof(B), sizeof(C)},
#include "emu/ops/uops.def"
};
