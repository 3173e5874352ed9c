/* emu/report.h: between a launch that has ended and what it reports (counts.c, emu.c). */
#ifndef HEDDLE_EMU_REPORT_H
#define HEDDLE_EMU_REPORT_H

#include "emu/counts.h"
#include "emu/launch.h"

struct arena;

struct emu_counts *emu_counts_make(struct arena *a, const struct emu_machine *m,
                                   const struct emu_gpu *gpu, const struct emu_occupancy *occupancy,
                                   const struct launch_counts *c);

#endif
