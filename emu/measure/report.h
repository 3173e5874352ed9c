/* emu/measure/report.h: the computation of a launch's report after it has ended (counts.c, emu/device/launch.c). */
#ifndef HEDDLE_EMU_MEASURE_REPORT_H
#define HEDDLE_EMU_MEASURE_REPORT_H

#include "emu/counts.h"
#include "emu/sched/launch.h"

struct arena;

struct emu_counts *emu_counts_make(struct arena *a, const struct emu_machine *m,
                                   const struct emu_gpu *gpu, const struct emu_occupancy *occupancy,
                                   const struct launch_counts *c);

struct launch_mix; /* for each basic block: the kinds of its instructions */
struct launch_mix *launch_mixes(struct arena *a, const struct emu_program *p);
/* Adds the counters of an SM's blocks and sites to *e. */
void launch_add_sm(struct emu_events *e, const struct emu_program *p,
                   const struct launch_mix *mixes, const struct emu_site *sites,
                   const struct emu_block_count *blocks);
void emu_events_add(struct emu_events *to, const struct emu_events *from);

/* phases.c */
struct launch_phases *launch_phases_new(struct arena *a, const struct emu_program *p, u32 sms);
/* Returns the list of phases. `sm`: total counts of each SM; counts that are not yet attributed to a phase belong to
 * the last one. NULL: the order named no phase. */
struct emu_phase *launch_phases_list(struct launch_phases *p, const struct emu_events *sm,
                                     size_t *count);

#endif
