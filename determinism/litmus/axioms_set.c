/* Sets of outcomes. */
#include "determinism/litmus/axioms.h"

#include <string.h>

bool axioms_add(struct axioms_set *s, uint64_t outcome)
{
    size_t at = 0;
    while (at < s->count && s->outcome[at] < outcome) at++;
    if (at < s->count && s->outcome[at] == outcome) return true;
    if (s->count == AXIOMS_OUTCOMES) return false;
    memmove(s->outcome + at + 1, s->outcome + at, (s->count++ - at) * sizeof outcome);
    s->outcome[at] = outcome;
    return true;
}

bool axioms_has(const struct axioms_set *s, uint64_t outcome)
{
    size_t at = 0;
    while (at < s->count && s->outcome[at] < outcome) at++;
    return at < s->count && s->outcome[at] == outcome;
}
