/* What `heddle bench` says that a launch counts, against what the emulator counts of it: the table of suites/micro.def
 * is arithmetic on the source of the kernels, the counts come from their PTX. */
#include "suites/micro.h"

#include "cuda/device.h"
#include "emu/counts.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <string.h>

struct seen { /* of one launch, with the grids that it launches */
    struct emu_events total;
    unsigned grids;
};

static void add(void *self, const char *kernel, const struct emu_launch *l,
                const struct emu_report *e)
{
    struct seen *s = self;
    (void)kernel;
    (void)l;
    s->grids = 0;
    s->total = e->counts->phases[0].total;
    for (const struct emu_counts *c = e->counts; c; c = c->next) s->grids++;
}

/* The operations of the rate among those counts; 0: the counts do not distinguish them. */
static double counted(const struct micro_rate *r, const struct seen *s)
{
    const struct emu_events *e = &s->total;
    const struct {
        const char *name;
        double value;
    } of[] = {
        {"ctas", (double)e->ctas},
        {"host", 1},
        {"nested_1", s->grids - 1},
        {"nested_8", s->grids - 1},
        {"nested_24", s->grids - 1},
        {"cta_32", (double)e->barriers},
        {"cta_128", (double)e->barriers / 4},
        {"cta_1024", (double)e->barriers / 32},
        {"direct", (double)e->calls * 32},
        {"indirect", (double)e->calls * 32},
        {"recursive", (double)e->calls * 32},
        {"coalesced", (double)e->access[EMU_GLOBAL][EMU_LOADS].thread},
        {"strided", (double)e->access[EMU_GLOBAL][EMU_LOADS].thread},
        {"random", (double)e->access[EMU_GLOBAL][EMU_LOADS].thread},
        {"shared", (double)e->access[EMU_SHARED][EMU_LOADS].thread},
        {"shared_conflict", (double)e->access[EMU_SHARED][EMU_LOADS].thread},
        {"constant", (double)e->access[EMU_CONSTANT][EMU_LOADS].thread},
        {"atomic_same", (double)e->access[EMU_GLOBAL][EMU_ATOMICS].thread},
        {"atomic_own", (double)e->access[EMU_GLOBAL][EMU_ATOMICS].thread},
        {"sfu", (double)e->unit_thread[PTX_UNIT_SFU]},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(of[i].name, r->name) == 0) return of[i].value;
    return 0;
}

Test(micro, table_agrees_with_what_is_counted)
{
    struct seen seen;
    struct micro_device d;
    cuda_device_configure(&(struct emu_config){.count = true, .threads = 1});
    cuda_device_watch(&(struct cuda_watch){.self = &seen, .after = add, .quiet = true});
    cr_assert(micro_begin(&d), "%s", d.message);
    for (size_t i = 0; i < micro_count(); i += THINNED) {
        const struct micro_rate *r = micro_at(i);
        char why[256] = "";
        cr_assert(micro_launch(&d, r, why), "%s.%s: %s", r->group, r->name, why);
        const double got = counted(r, &seen);
        if (got > 0)
            cr_expect_float_eq(got, r->operations, 0.5, "%s.%s: %g operations are counted, not %g",
                               r->group, r->name, got, r->operations);
        /* Of instructions there are no fewer than the operations; loops add less than a half. */
        const double all = (double)seen.total.thread_instructions;
        if (strcmp(r->group, "instructions") == 0)
            cr_expect(all > r->operations && all < r->operations * 1.5, "%s: %g of %g", r->name,
                      r->operations, all);
    }
    micro_end(&d);
    cuda_device_watch(NULL);
    cuda_device_reset();
}
