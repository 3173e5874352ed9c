/* emu/profile.h: counters by source line, summed over any number of launches.
 *
 *     struct emu_profile *p = emu_profile_new();
 *     emu_profile_add(p, report->counts);                       // after each launch
 *     size_t n;
 *     const struct emu_profile_line *l = emu_profile_lines(p, &n);   // the costliest first
 *     emu_profile_free(p);
 *
 * Lines are those of the source where .loc names them, else those of the PTX. */
#ifndef HEDDLE_EMU_PROFILE_H
#define HEDDLE_EMU_PROFILE_H

#include "emu/counts.h"

struct emu_profile_line {
    const char *file; /* source file or, without .loc, PTX file */
    uint32_t line;
    uint64_t warp, thread; /* instructions; all counters as in struct emu_instruction */
    uint64_t divergent, accesses, bytes, sectors, shared, passes, collisions;
    struct cache_events cache;
};

struct emu_profile;
struct emu_profile *emu_profile_new(void);
void emu_profile_free(struct emu_profile *p); /* NULL is allowed */
void emu_profile_add(struct emu_profile *p, const struct emu_counts *c);
void emu_profile_add_lines(struct emu_profile *p, const struct emu_profile_line *list, size_t n);
/* Lines are sorted by warp instructions, the most first; lines that were never executed are left out. Valid until the
 * next call. */
const struct emu_profile_line *emu_profile_lines(struct emu_profile *p, size_t *count);

#endif
