/* determinism/race/race.h: an observer that finds data races.
 *
 *     struct race *r = race_new();
 *     ... emu_launch with race_observer(r) among its observers; its report has findings (EMU_RACE)
 *     race_free(r);
 *
 * A race is defined by the PTX memory consistency model: two accesses of a byte, one of them a
 * write, that are neither ordered by causality order nor morally strong. Whether two accesses are
 * ordered does not depend on which came first, so one run finds a race whichever way it went. Only
 * one thing depends on the run: an acquire is ordered after a release if it has read the released
 * value. The algorithm is FastTrack with the scopes of PTX (detector.h).
 *
 * The detector treats every lane as a thread of its own. It knows barriers of CTAs (also named
 * ones, and bar.arrive), of warps and of clusters, release and acquire patterns with their scopes,
 * cp.async and bulk copies with their groups and mbarriers. The end of a launch orders everything.
 * It checks global and shared memory, byte by byte. A .nc load races with every write of the launch
 * to its bytes, because its cache is not coherent.
 *
 * Limitations. Two fence.sc do not order each other. Textures need proxy fences of their own, and
 * bulk copies need one for what another CTA stored: neither is checked. For each byte at most 15
 * unordered strong writes are kept, and 4,111 reads (history.h). A launch with more than 67 million events (one for each warp,
 * instruction and epoch) is not checked further; that is a finding. So is one whose vector clocks
 * have more than a gigabyte, if condensing them does not help (vclock.h). docs/races.md has examples. */
#ifndef HEDDLE_DETERMINISM_RACE_RACE_H
#define HEDDLE_DETERMINISM_RACE_RACE_H

#include <stdint.h>

struct emu_observer;
struct race;

struct race *race_new(void);
void race_free(struct race *r); /* NULL is allowed */
const struct emu_observer *race_observer(struct race *r);

struct race_limits {
    uint64_t events, clock_bytes;
};
void race_limit(struct race *r, struct race_limits l); /* for tests: lower limits */
/* How often the last launch, with the grids that it waited for, had more clocks than the limit and condensed them. Then it
 * may have missed races between accesses with many critical sections in between (vclock.h); that is no finding. */
uint64_t race_condensed(const struct race *r);

#endif
