/* determinism/race/race.h: an observer that finds data races.
 *
 *     struct race *r = race_new();
 *     ... emu_launch with race_observer(r) among its observers; findings are in its report (EMU_RACE)
 *     race_free(r);
 *
 * A race is what PTX's memory consistency model calls one: two accesses of a byte, one of them a write, that
 * causality does not order and that are not morally strong. Whether they are ordered does not depend on which
 * came first: so one run finds a race whichever way it falls. What run time does decide is whether an acquire
 * read what was released: only then the two are ordered.
 *
 * Every lane is a thread of its own. Known are barriers of CTAs (also named ones, and arrivals), warps and
 * clusters, release and acquire patterns with their scopes, cp.async and bulk copies with their groups and
 * mbarriers. The end of a launch orders all. Looked at are global and shared memory, a byte at a time. A load by .nc
 * races with all that the launch has written there: no order helps it.
 *
 * Not known: the order that two fence.sc have among themselves; that textures want fences of their own
 * proxies, and bulk copies of what another CTA stored. Of accesses to one place that nothing orders, as many
 * are remembered as HISTORY in history.h says, so a race with one of very many readers may go unseen where all
 * of those remembered are ordered with the write. A launch that needs more than 67 million events, one for each
 * warp, instruction and time between barriers, or more than 5 million sets of what threads know of others, a
 * gigabyte, is looked at no further, which is a finding. */
#ifndef HEDDLE_DETERMINISM_RACE_RACE_H
#define HEDDLE_DETERMINISM_RACE_RACE_H

#include <stdint.h>

struct emu_observer;
struct race;

struct race *race_new(void);
void race_free(struct race *r); /* NULL is allowed */
const struct emu_observer *race_observer(struct race *r);

struct race_limits {
    uint64_t events, clocks;
};
void race_limit(struct race *r, struct race_limits l); /* for tests: less than it has */

#endif
