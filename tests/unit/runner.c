/* The runner of the tests (tests/support/runner.c): each way in which a test may end, by tests that only this one runs. */
#define _GNU_SOURCE
#include "tests/support/runner.h"

#include <criterion/criterion.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int stage;
static void enter(void)
{
    stage = 1;
}
static void leave(void)
{
    if (stage != 2) abort();
}
TestSuite(runner_examples, .init = enter, .fini = leave);

#define EXAMPLE(name, ...) Test(runner_examples, name, .disabled = true, __VA_ARGS__)
EXAMPLE(is_set_up_and_passes, .timeout = 60)
{
    cr_assert_eq(stage++, 1);
}
EXAMPLE(goes_on_behind_what_was_expected, .timeout = 60)
{
    stage = 2;
    cr_expect_eq(stage, 3, "first of %d", stage);
    cr_expect(stage == 2, "holds");
    cr_expect(stage == 4, "second");
}
EXAMPLE(ends_where_what_is_asserted_fails, .timeout = 60)
{
    stage = 2;
    cr_assert_str_eq("this", "that");
    abort();
}
EXAMPLE(ends_too_early, .timeout = 60)
{
    exit(0);
}
EXAMPLE(ends_with_an_error, .timeout = 60)
{
    exit(3);
}
EXAMPLE(is_killed, .timeout = 60)
{
    raise(SIGKILL);
}
EXAMPLE(takes_too_long, .timeout = 0.01)
{
    for (;;) pause();
}
EXAMPLE(is_skipped, .timeout = 60)
{
    cr_skip_test("without %s", "reason");
}
EXAMPLE(fails_and_is_skipped, .timeout = 60)
{
    cr_expect(false, "before it");
    cr_skip_test("no %s", "matter");
}

Test(runner, notices_each_way_to_fail)
{
    FILE *f = tmpfile();
    cr_assert(f);
    const int before = dup(STDERR_FILENO);
    dup2(fileno(f), STDERR_FILENO);
    const struct tests_result r = tests_run(
        &(struct tests_options){.pattern = "runner_examples/*", .disabled = true, .jobs = 2});
    dup2(before, STDERR_FILENO);
    char text[8192] = "";
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    cr_expect(r.tested == 10 && r.passing == 1 && r.failing == 8 && r.crashing == 4 &&
                  r.skipped == 1,
              "%zu tested, %zu passing, %zu failing, %zu crashing, %zu skipped", r.tested,
              r.passing, r.failing, r.crashing, r.skipped);
    if (r.failing != 8)
        abort(); /* a runner that missed failed assertions would miss this one, too */
    static const char *const said[] = {
        "first of 2",
        "second",
        "[FAIL] runner_examples::goes_on_behind_what_was_expected: (",
        "[FAIL] runner_examples::ends_where_what_is_asserted_fails: (",
        "runner_examples::ends_too_early: the process ended with status 0",
        "runner_examples::ends_with_an_error: the process ended with status 3",
        "runner_examples::is_killed: caught signal 9",
        "[FAIL] runner_examples::takes_too_long: (",
        "runner_examples::takes_too_long: timed out after 0.01 s",
        "[SKIP] runner_examples::is_skipped: without reason",
        "before it",
        "[FAIL] runner_examples::fails_and_is_skipped: (",
        "of 12",
        "actual: 5",
        "expected: 7",
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        cr_expect(strstr(text, said[i]), "'%s' is not in:\n%s", said[i], text);
    cr_expect(!strstr(text, "holds") && !strstr(text, "is_set_up"), "%s", text);
}

Test(runner, runs_what_the_pattern_names)
{
    const struct tests_options all = {.pattern = "runner_examples/*"},
                               some = {.pattern = "@(runner_examples/is_set*|nothing/*)",
                                       .disabled = true},
                               others = {.pattern = "runner/!(runs*)", .list = true};
    cr_expect(tests_run(&all).tested == 0, "disabled tests");
    cr_expect(tests_run(&some).passing == 1);
    cr_expect(tests_run(&others).tested == 1);
}

/* The other kind of assertions. */
#include <criterion/new/assert.h>
EXAMPLE(shows_operands, .timeout = 60)
{
    stage = 2;
    cr_expect(eq(int, 5, 7), "of %d", 12);
}
