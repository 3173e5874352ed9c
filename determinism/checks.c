/* The race detector and the check of strong atomicity as observers of a launch (determinism/checks.h). */
#include "determinism/checks.h"

#include "determinism/race/atomicity.h"
#include "determinism/race/race.h"

#include "emu/emu.h"
#include "emu/order.h"

#include <stdlib.h>

struct checks {
    struct race *race;
    struct atomicity *atomicity;
    const struct emu_observer **list;
};

/* HEDDLE_RACE_CLOCKS: bytes of clocks, for tests. */
static struct race *new_race(void)
{
    struct race *r = race_new();
    const char *bytes = getenv("HEDDLE_RACE_CLOCKS");
    if (bytes) race_limit(r, (struct race_limits){UINT32_MAX, strtoull(bytes, NULL, 10)});
    return r;
}

struct checks *checks_new(unsigned checks)
{
    if (!(checks & (EMU_CHECK_RACE | EMU_CHECK_ATOMICITY))) return NULL;
    struct checks *c = calloc(1, sizeof *c);
    if (!c) abort();
    if (checks & EMU_CHECK_RACE) c->race = new_race();
    if (checks & EMU_CHECK_ATOMICITY) c->atomicity = atomicity_new();
    return c;
}

void checks_free(struct checks *c)
{
    if (!c) return;
    race_free(c->race);
    atomicity_free(c->atomicity);
    free((void *)c->list);
    free(c);
}

void checks_join(struct checks *c, struct emu_launch *l)
{
    if (!c) return;
    size_t n = 0;
    c->list = realloc((void *)c->list, (l->observer_count + 2) * sizeof *c->list);
    if (!c->list) abort();
    for (; n < l->observer_count; n++) c->list[n] = l->observers[n];
    if (c->race) c->list[n++] = race_observer(c->race);
    if (c->atomicity) c->list[n++] = atomicity_observer(c->atomicity);
    l->observers = c->list;
    l->observer_count = n;
}

const char *checks_note(const struct checks *c)
{
    if (!c || !c->race || !race_condensed(c->race)) return NULL;
    return "note: so many critical sections that the race detector condensed what they ordered: races between accesses "
           "with many of them in between may have been missed\n";
}
