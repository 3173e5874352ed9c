/* model/clock_file.h: the clock's numbers as files; fits of them. */
#define _GNU_SOURCE
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "emu/counts.h"
#include "model/clock_file.h"
#include "model/launch_time.h"
#include "tests/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_text(struct arena *a, const char *text, struct clock_fit *fit, struct buf *said)
{
    struct source *source = arena_array(a, struct source, 1);
    *source = (struct source){"numbers.yaml", text, (uint32_t)strlen(text)};
    struct diags d = {.arena = a, .source = source};
    const bool ok = clock_file_read(&d, NULL, fit);
    if (said) diags_render(&d, said);
    return ok;
}

Test(clock_file, what_is_left_out_is_as_the_configuration_says)
{
    struct arena *a = arena_new();
    struct clock_fit fit;
    struct clock_machine alone;
    machine_configured(emu_gpu_find("v100"), &alone);
    cr_assert(
        read_text(a, "# a comment\ngpu: v100\nmachine:\n  l2_latency: 200 # cycles\n", &fit, NULL));
    cr_expect(eq(dbl, fit.machine.l2_latency, 200));
    cr_expect(eq(dbl, fit.machine.dram_latency, alone.dram_latency));
    cr_expect(eq(dbl, fit.machine.latency[CLASS_IMAD], alone.latency[CLASS_IMAD]));
    cr_expect(fit.measured == NULL);
    arena_free(a);
}

Test(clock_file, what_is_written_reads_back)
{
    for (size_t i = 0; i < clock_fit_total; i++) {
        struct arena *a = arena_new();
        struct buf text = {0}, again = {0};
        struct clock_fit fit;
        clock_file_write(&text, &clock_fits[i]);
        cr_assert(read_text(a, text.data, &fit, NULL), "%s", clock_fits[i].gpu);
        clock_file_write(&again, &fit);
        cr_expect(eq(str, text.data, again.data));
        cr_expect(eq(dbl, fit.machine.dram_interval, clock_fits[i].machine.dram_interval));
        cr_expect(fit.machine.hashed == clock_fits[i].machine.hashed);
        buf_free(&text), buf_free(&again);
        arena_free(a);
    }
}

/* The table that is built in is made by a script that knows little of the format. */
Test(clock_file, files_say_what_is_built_in)
{
    cr_assert(clock_fit_total >= 2);
    for (size_t i = 0; i < clock_fit_total; i++) {
        struct arena *a = arena_new();
        struct buf why = {0}, own = {0}, built = {0};
        char path[100];
        snprintf(path, sizeof path, "model/clocks/%s.yaml", clock_fits[i].gpu);
        const struct clock_fit *fit = clock_file_load(path, NULL, a, &why);
        cr_assert(fit != NULL, "%s", why.data);
        clock_file_write(&own, fit);
        clock_file_write(&built, &clock_fits[i]);
        cr_expect(eq(str, own.data, built.data));
        cr_expect(fit->low > 0 && fit->low < 1 && fit->high > 1);
        cr_expect(fit->alone_low > 0 && fit->alone_low < 1 && fit->alone_high > 1);
        for (int f = 0; f < LAUNCH_FEATURES; f++) cr_expect(fit->least[f] <= fit->most[f]);
        buf_free(&own), buf_free(&built);
        arena_free(a);
    }
}

Test(clock_file, broken_files_are_refused_with_place_and_reason)
{
    static const char *const cases[][2] = {
        {"", "numbers.yaml:1:1: error: there is nothing in this file"},
        {"machine:\n  branch: 5\n", "numbers.yaml:1:1: error: the first key is gpu"},
        {"gpu: titan\n", "numbers.yaml:1:6: error: no GPU is called 'titan'"},
        {"gpu: v100\nmachine:\n  l2_latenzy: 5\n",
         "numbers.yaml:3:3: error: 'l2_latenzy' is no key of machine"},
        {"gpu: v100\nmachine:\n  l2_latenzy: 5\n", "did you mean 'l2_latency'?"},
        {"gpu: v100\nmachines:\n  branch: 5\n",
         "numbers.yaml:3:3: error: 'machines' is no section"},
        {"gpu: v100\nmachine:\n  l2_latency: nan\n",
         "numbers.yaml:3:15: error: l2_latency is a finite number, not 'nan'"},
        {"gpu: v100\nmachine:\n  l2_latency: 0\n",
         "numbers.yaml:3:15: error: l2_latency is a number from 1 to 1e+06, not 0"},
        {"gpu: v100\nmachine:\n  banks: 1.5\n",
         "error: banks is a whole number from 1 to 64, not 1.5"},
        {"gpu: v100\nmachine:\n  hashed: 1\n", "error: hashed is yes or no, not '1'"},
        {"gpu: v100\nmachine:\n  branch: 1\n  branch: 1\n",
         "numbers.yaml:4:3: error: branch is said twice"},
        {"gpu: v100\nmachine:\n  branch\n", "numbers.yaml:3:3: error: a line is 'key: value'"},
        {"gpu: v100\nmachine:\n  slices: 7\n  channels: 2\n",
         "7 slices are not as many for each of 2 channels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *a = arena_new();
        struct buf said = {0};
        struct clock_fit fit;
        cr_expect(not(read_text(a, cases[i][0], &fit, &said)), "case %zu", i);
        cr_expect(said.data && strstr(said.data, cases[i][1]), "case %zu: %s", i, said.data);
        buf_free(&said);
        arena_free(a);
    }
}
