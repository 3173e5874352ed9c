/* The labelled kernels for a race detector: that the table, the marks and the files fit, and that every
 * kernel runs. */
#include "tests/support/races.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(races, every_kernel_has_its_marks)
{
    for (size_t i = 0; i < race_case_count; i++) {
        const struct race_case *c = &race_cases[i];
        struct race_file f = race_file(c);
        cr_expect(!f.wrong, "%s, kernel %s: no such kernel, or its marks", f.path, c->kernel);
        cr_expect((f.count > 0) == c->racy, "%s, kernel %s: %zu races", f.path, c->kernel, f.count);
        race_file_free(&f);
        for (size_t k = 0; k < i; k++)
            cr_expect(strcmp(race_cases[k].kernel, c->kernel) != 0, "two kernels %s", c->kernel);
    }
}

/* Adds up the marks and entries that stand in a file, which the rows must name all. */
static void count_file(const char *path, void *arg)
{
    size_t length, *counts = arg;
    char *text = read_file(path, &length);
    struct parsed *p = parse_text(path, text, length);
    cr_expect(p->ok, "%s: %s", path, first_error(p));
    parsed_free(p);
    for (const char *at = text; (at = strstr(at, ".entry")); at++) counts[0]++;
    for (const char *at = text; (at = strstr(at, "// race")); at++) counts[1]++;
    free(text);
}

Test(races, every_kernel_is_in_the_table)
{
    size_t counts[2] = {0, 0}, lines = 0;
    cr_expect(each_file("tests/races", ".ptx", count_file, counts) > 0);
    cr_expect(counts[0] == race_case_count, "%zu kernels, %zu rows", counts[0], race_case_count);
    for (size_t i = 0; i < race_case_count; i++) {
        struct race_file f = race_file(&race_cases[i]);
        uint32_t seen[2 * RACE_PAIRS];
        size_t n = 0;
        for (size_t k = 0; k < 2 * f.count; k++) {
            uint32_t line = k % 2 ? f.pairs[k / 2].second : f.pairs[k / 2].first;
            size_t j = 0;
            while (j < n && seen[j] != line) j++;
            if (j == n) seen[n++] = line;
        }
        lines += n;
        race_file_free(&f);
    }
    cr_expect(counts[1] == lines, "%zu marks, %zu of kernels in the table", counts[1], lines);
}

Test(races, every_kernel_runs, .timeout = 60)
{
    static uint8_t memory[RACE_MEMORY];
    for (size_t i = 0; i < race_case_count; i++) {
        const struct race_case *c = &race_cases[i];
        struct race_file f = race_file(c);
        for (int its = 0; its < 2; its++) {
            struct emu_run r = {.ptx = f.text,
                                .kernel = c->kernel,
                                .grid = c->grid,
                                .block = c->block,
                                .once = true};
            r.config.divergence = its ? EMU_ITS : 0;
            r.config.timeout = 10;
            memset(memory, 0, sizeof memory);
            r.args[0] = emu_inout(&r, memory, sizeof memory);
            for (uint32_t k = 0; k < c->launches; k++)
                cr_expect(emu_run(&r), "%s, kernel %s: %s", f.path, c->kernel, r.fault);
        }
        race_file_free(&f);
    }
}
