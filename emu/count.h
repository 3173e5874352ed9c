/* emu/count.h: what happened in a launch. */
#ifndef HEDDLE_EMU_COUNT_H
#define HEDDLE_EMU_COUNT_H

#include "emu/exec.h"

struct arena;

/* One warp's access to memory: counts sectors and lines, or passes over the banks of shared memory.
 * `follow`: the addresses of the lanes follow each other; `same`: all are one. */
void emu_count_access(struct emu_group *g, const struct emu_uop *in, const u64 *at, u32 mask,
                      u32 size, bool follow, bool same, u32 space);

struct launch_counts;
void emu_count_report(struct emu_report *r, const struct launch_counts *c,
                      const struct emu_machine *m, struct arena *arena);

#endif
