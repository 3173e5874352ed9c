/* What `heddle-suite cycles` says that a launch does, against what the emulator counts of it: the steps of
 * suites/cycles.def are arithmetic on the source of the kernels, the counts come from their PTX. */
#include "suites/cycles.h"

#include "cuda/device.h"
#include "emu/counts.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LAUNCHES = 1024 };

struct seen {
    unsigned launches;
    struct emu_events of[MOST_LAUNCHES];
};

static void add(void *self, const char *kernel, const struct emu_launch *l,
                const struct emu_report *e)
{
    struct seen *s = self;
    (void)kernel;
    (void)l;
    cr_assert(s->launches < MOST_LAUNCHES);
    s->of[s->launches++] = e->counts->phases[0].total;
}

struct line {
    char group[32], name[32], kernel[64];
    unsigned grid, block, n, k, size, steps, launch;
    double cycles;
};

/* Runs a group; calls `check` with each line and what was counted of its launch. */
static unsigned each_of(const char *group,
                        void (*check)(const struct line *l, const struct emu_events *e))
{
    static struct seen seen;
    char text[256];
    unsigned lines = 0;
    FILE *f = tmpfile();
    seen.launches = 0;
    cuda_device_configure(&(struct emu_config){.count = true, .threads = 1});
    cuda_device_watch(&(struct cuda_watch){.self = &seen, .after = add, .quiet = true});
    cr_assert(cycles_csv(group, f));
    rewind(f);
    while (fgets(text, sizeof text, f)) {
        struct line l = {0};
        if (sscanf(text, "%31[^,],%31[^,],%63[^,],%u,%u,%u,%u,%u,%u,%u,%lf", l.group, l.name,
                   l.kernel, &l.grid, &l.block, &l.n, &l.k, &l.size, &l.steps, &l.launch,
                   &l.cycles) != 11)
            continue;
        cr_assert_str_eq(l.group, group);
        cr_assert(l.launch < seen.launches);
        check(&l, &seen.of[l.launch]);
        lines++;
    }
    (void)fclose(f);
    cuda_device_watch(NULL);
    cuda_device_reset();
    return lines;
}

/* No fewer instructions than steps; loops, and moves of packed numbers (fma_f16), add less than four for each. */
static void steps_are_instructions(const struct line *l, const struct emu_events *e)
{
    const double steps = (double)l->n * l->steps * l->grid * l->block,
                 all = (double)e->thread_instructions;
    cr_expect(all > steps && all < steps * 5, "%s: %g of %g", l->name, steps, all);
    cr_expect(l->cycles > 0, "%s", l->name);
}

/* 32 lanes, each at the k-th word after the one before, in 32 banks. */
static void conflicts_are_passes(const struct line *l, const struct emu_events *e)
{
    const unsigned stride_power = l->k & -l->k; /* the power of two in it */
    const double warps = l->block / 32.0, loads = (double)l->n * l->steps * warps,
                 passes = (double)e->access[EMU_SHARED][EMU_LOADS].passes;
    cr_expect_float_eq(passes, loads * (stride_power > 32 ? 32 : stride_power), 0.5,
                       "%s: %g passes", l->name, passes);
}

/* Loads of 8 or 16 bytes: 32 warps of an H200 took so many times 32 cycles for each, one a cycle and pass. */
static void passes_are_those_of_an_h200(const struct line *l, const struct emu_events *e)
{
    static const struct {
        const char *group, *name;
        unsigned passes;
    } of[] = {
        {"shared_64", "busy_1", 2},   {"shared_64", "busy_2", 4},   {"shared_64", "busy_8", 16},
        {"shared_64", "busy_32", 32}, {"shared_64", "lanes_2", 1},  {"shared_64", "lanes_4", 1},
        {"shared_64", "lanes_16", 1}, {"shared_64", "lanes_32", 1}, {"shared_128", "busy_1", 4},
        {"shared_128", "busy_2", 8},  {"shared_128", "busy_8", 32}, {"shared_128", "busy_32", 32},
        {"shared_128", "lanes_2", 2}, {"shared_128", "lanes_4", 1}, {"shared_128", "lanes_8", 1},
        {"shared_128", "lanes_32", 1}};
    const double loads = l->n * l->steps * (l->block / 32.0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(of[i].group, l->group) == 0 && strcmp(of[i].name, l->name) == 0)
            cr_expect_float_eq((double)e->access[EMU_SHARED][EMU_LOADS].passes,
                               loads * of[i].passes, 0.5, "%s %s: %g passes a load", l->group,
                               l->name, (double)e->access[EMU_SHARED][EMU_LOADS].passes / loads);
}

static void nothing(const struct line *l, const struct emu_events *e)
{
    (void)l;
    (void)e;
}

Test(cycles, steps_are_what_is_counted)
{
    cr_expect(each_of("latency", steps_are_instructions) > 50);
    cr_expect(each_of("shared", conflicts_are_passes) == 11);
    cr_expect(each_of("shared_64", passes_are_those_of_an_h200) == 16);
    cr_expect(each_of("shared_128", passes_are_those_of_an_h200) == 16);
}

/* A row whose kernel needs memory that is filled is not run on what another one left there. */
Test(cycles, a_group_alone_has_its_setup)
{
    cr_expect(each_of("flag", nothing) == 2);
}

Test(cycles, an_unknown_group_is_refused)
{
    FILE *f = tmpfile();
    cr_expect(!cycles_csv("nothing", f));
    (void)fclose(f);
}
