#define _POSIX_C_SOURCE 200809L
/* What an H200 showed of litmus tests (tests/hardware/h200.litmus, which tests/hardware/record_litmus.c writes) against what the
 * axioms of PTX allow. */
#include "determinism/litmus/axioms.h"
#include "determinism/litmus/litmus.h"
#include "tests/support/random_litmus.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool find(const char *name, struct litmus *t)
{
    unsigned long seed;
    char of[LITMUS_NAME];
    if (sscanf(name, "random%lu", &seed) == 1) {
        *t = random_litmus(seed);
        return true;
    }
    for (size_t s = 0; s < litmus_shape_count; s++)
        for (int how = 0; how < LITMUS_VARIANTS; how++)
            for (int where = 0; where < LITMUS_PLACEMENTS; where++) {
                litmus_name(of, s, (enum litmus_variant)how, (enum litmus_placement)where);
                if (strcmp(of, name) != 0) continue;
                *t = litmus_of_shape(s, (enum litmus_variant)how, (enum litmus_placement)where);
                return true;
            }
    return false;
}

/* A weak load behind an acquire of the same location that gives an older value: the loads of one thread of random53 are
 * R x; R.acq.cta x; R x, and the third had the value of the first. docs/hardware.md. */
static const char known[] = "random53";

Test(h200, shows_only_outcomes_that_the_axioms_allow)
{
    FILE *f = fopen("tests/hardware/h200.litmus", "r");
    cr_assert(f);
    char *line = NULL;
    size_t size = 0, tests = 0, forbidden = 0;
    struct axioms_set *allowed = malloc(sizeof *allowed);
    cr_assert(allowed);
    while (getline(&line, &size, f) > 0) {
        if (*line == '#') continue;
        struct litmus t;
        const char *name = strtok(line, " \n");
        cr_assert(find(name, &t), "no test %s", name);
        tests++;
        if (!axioms_allowed(&t, AXIOMS_PTX, allowed)) continue; /* too large for the enumerator */
        for (const char *p; (p = strtok(NULL, " \n"));) {
            const uint64_t outcome = strtoull(p, NULL, 16);
            if (axioms_has(allowed, outcome)) continue;
            forbidden++;
            cr_expect(!strcmp(name, known), "%s: outcome %llx", name, (unsigned long long)outcome);
        }
    }
    cr_expect(tests > 1300 && forbidden == 4, "%zu tests, %zu", tests, forbidden);
    free(allowed);
    free(line);
    fclose(f);
}
