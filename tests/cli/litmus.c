/* `heddle run suite:litmus --table`. */
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cli_litmus, .init = command_set_up, .fini = command_tear_down, .timeout = 120);

/* The sum of the counts in front of ":>" and "*>". */
static unsigned long sum_of_states(const char *text)
{
    unsigned long sum = 0;
    for (const char *p = text; (p = strstr(p, "> ")); p++) {
        const char *line = p;
        while (line > text && line[-1] != '\n') line--;
        sum += strtoul(line, NULL, 10);
    }
    return sum;
}

Test(cli_litmus, prints_each_outcome_with_its_count)
{
    char *out = command_heddle("run suite:litmus:MP+rlx@grid --table --seeds 300", 0);
    cr_expect(strstr(out, "Test MP+rlx@grid Allowed\n"), "%s", out);
    cr_expect(strstr(out, "W.rlx.gpu x 1; W.rlx.gpu y 1 || R.rlx.gpu y; R.rlx.gpu x\n"), "%s", out);
    cr_expect(strstr(out, "*> 1 0, x=1 y=1"), "%s", out);
    cr_expect_eq(sum_of_states(out), 300, "%s", out);
    cr_expect(strstr(out, "Observation MP+rlx@grid Sometimes "), "%s", out);
    free(out);
}

/* Lustig, Sahasrabuddhe, Giroux, ASPLOS 2019: release and acquire of the GPU's scope forbid it, of the CTA's do not. */
Test(cli_litmus, says_what_the_model_allows)
{
    char *out = command_heddle("run 'suite:litmus:MP+rel+acq*@grid' --table --seeds 100", 0);
    cr_expect(strstr(out, "Test MP+rel+acq@grid Forbidden\n"), "%s", out);
    cr_expect(strstr(out, "Observation MP+rel+acq@grid Never 0 100\n"), "%s", out);
    cr_expect(strstr(out, "Test MP+rel+acq.cta@grid Allowed\n"), "%s", out);
    cr_expect(strstr(out, "2 tests, 100 seeds from 0 on, order random: no outcome"), "%s", out);
    free(out);
}

/* Store buffering is what TSO adds to SC (Owens, Sarkar, Sewell, TPHOLs 2009); message passing it does not break. */
Test(cli_litmus, compares_with_the_model_of_the_order)
{
    char *tso = command_heddle("run suite:litmus:SB+rlx@grid --table --order random:model=tso", 0);
    cr_expect(strstr(tso, "Test SB+rlx@grid Allowed\n"), "%s", tso);
    free(tso);
    tso = command_heddle("run suite:litmus:MP+rlx@grid --table --order random:model=tso", 0);
    cr_expect(strstr(tso, "Test MP+rlx@grid Forbidden\n"), "%s", tso);
    cr_expect(strstr(tso, "total store order"), "%s", tso);
    free(tso);
    char *sc = command_heddle("run suite:litmus:SB+rlx@grid --table --order random:model=sc", 0);
    cr_expect(strstr(sc, "Test SB+rlx@grid Forbidden\n"), "%s", sc);
    free(sc);
}

Test(cli_litmus, a_seed_repeats_its_outcome)
{
    char *all = command_heddle("run suite:litmus:MP+weak@grid --table --seeds 200", 0), args[128];
    const char *weak = strstr(all, "*> 1 0, x=1 y=1"),
               *seed = weak ? strstr(weak, "first seed ") : NULL;
    cr_assert(seed, "%s", all);
    snprintf(args, sizeof args, "run suite:litmus:MP+weak@grid --table --seeds 1 --seed %lu",
             strtoul(seed + strlen("first seed "), NULL, 10));
    char *one = command_heddle(args, 0);
    cr_expect(strstr(one, "       1 *> 1 0, x=1 y=1"), "%s", one);
    free(one);
    free(all);
}

Test(cli_litmus, searches_all_choices)
{
    char *out = command_heddle("run suite:litmus:SB+rlx@grid --table --exhaustive", 0);
    cr_expect(strstr(out, "Histogram (4 states of 4 that"), "%s", out);
    cr_expect(strstr(out, "Search complete after "), "%s", out);
    cr_expect(strstr(out, "1 searches were complete, 0 stopped"), "%s", out);
    free(out);
    out = command_heddle("run suite:litmus:SB+rlx@grid --table --exhaustive --seeds 3", 0);
    cr_expect(strstr(out, "Search stopped after 3 runs: there may be other outcomes"), "%s", out);
    cr_expect(strstr(out, "0 searches were complete, 1 stopped"), "%s", out);
    free(out);
}

Test(cli_litmus, runs_a_test_that_is_given)
{
    char *out = command_heddle(
        "run 'suite:litmus:W.rlx x 1; F.sc.gpu; R.rlx y || W.rlx y 1; F.sc.gpu; R.rlx x' "
        "--table --exhaustive",
        0);
    cr_expect(strstr(out, "Test given@grid Forbidden"), "%s", out);
    cr_expect(strstr(out, "Histogram (3 states of 3 that"), "%s", out);
    free(out);
    free(command_heddle("run 'suite:litmus:W x 1 || Q y' --table", 2));
}

Test(cli_litmus, wrong_calls)
{
    free(command_heddle("run suite:litmus --exhaustive", 2));
    free(command_heddle("run suite:litmus:INC --table --exhaustive --order gpudet", 2));
    free(command_heddle("run suite:litmus", 2));
    free(command_heddle("run suite:litmus --seeds 5", 2));
    free(command_heddle("run suite:litmus --table --seeds 0", 2));
    free(command_heddle("run suite:litmus:XY --table", 2));
    free(command_heddle("run suite:litmus:INC --table --seeds 1", 0));
    free(command_heddle("run suite:saxpy --table", 2));
    free(command_heddle("run suite:litmus --table --format=json", 2));
}
