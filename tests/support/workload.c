#include "tests/support/workload.h"

#include "cuda/device.h"
#include "determinism/orders.h"
#include "emu/counts.h"
#include "emu/emu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    uint64_t *digest, *executions;
};

static void after(void *self, const char *kernel, const struct emu_launch *launch,
                  const struct emu_report *report)
{
    const struct seen *s = self;
    (void)kernel, (void)launch;
    *s->digest = *s->digest * UINT64_C(0x100000001b3) + emu_digest(cuda_device_emu());
    if (s->executions) s->executions[report->execution]++;
}

static struct suite_result run_order(const char *name, const struct emu_order *order,
                                     unsigned threads, bool count, bool speculate,
                                     struct cuda_watch watch)
{
    cuda_device_configure(&(struct emu_config){.threads = threads,
                                               .timeout = 300,
                                               .count = count,
                                               .no_speculation = !speculate,
                                               .order = order});
    cuda_device_watch(&watch);
    struct suite_result r = suite_run(suite_find(name), &(struct suite_options){.seed = 1});
    cuda_device_watch(NULL);
    cuda_device_reset();
    return r;
}

static struct suite_result run(const char *name, const char *order, uint64_t seed, unsigned threads,
                               bool count, bool speculate, struct cuda_watch watch)
{
    char *why;
    struct orders *o = orders_new(order, seed, &why);
    cr_assert(o, "%s", why);
    struct suite_result r = run_order(name, orders_get(o), threads, count, speculate, watch);
    orders_free(o);
    return r;
}

struct suite_result workload_run_order(const char *name, const struct emu_order *order,
                                       uint64_t *digest, uint64_t executions[EMU_EXECUTION_COUNT])
{
    struct seen seen = {digest, executions};
    *digest = 0;
    return run_order(name, order, 1, false, true,
                     (struct cuda_watch){.self = &seen, .after = after});
}

struct suite_result workload_run(const char *name, const char *order, uint64_t seed,
                                 uint64_t *digest)
{
    return workload_run_with(name, order, seed, true, digest, NULL);
}

struct suite_result workload_run_with(const char *name, const char *order, uint64_t seed,
                                      bool speculate, uint64_t *digest,
                                      uint64_t executions[EMU_EXECUTION_COUNT])
{
    struct seen seen = {digest, executions};
    *digest = 0;
    return run(name, order, seed, 1, false, speculate,
               (struct cuda_watch){.self = &seen, .after = after});
}

struct suite_result workload_run_on(unsigned threads, const char *name, const char *order,
                                    uint64_t seed, uint64_t *digest,
                                    uint64_t executions[EMU_EXECUTION_COUNT])
{
    struct seen seen = {digest, executions};
    *digest = 0;
    return run(name, order, seed, threads, false, true,
               (struct cuda_watch){.self = &seen, .after = after});
}

bool workload_is_one(const char *name, const char *order, uint64_t seeds)
{
    uint64_t first = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        uint64_t digest;
        struct suite_result r = workload_run(name, order, seed, &digest);
        cr_expect(r.passed, "%s, %s, seed %u: %s", name, order, (unsigned)seed, r.message);
        if (seed == 1) first = digest;
        if (digest != first) return false;
    }
    return true;
}

struct count {
    const char *name;
    uint64_t value;
};

static void add_up(void *self, const char *kernel, const struct emu_launch *launch,
                   const struct emu_report *report)
{
    struct count *c = self;
    (void)kernel, (void)launch;
    for (size_t i = 0; i < report->counts->number_count; i++)
        if (strcmp(report->counts->numbers[i].name, c->name) == 0)
            c->value += report->counts->numbers[i].value;
}

uint64_t workload_count(const char *name, const char *order, const char *number)
{
    struct count c = {.name = number};
    const struct suite_result r = run(name, order, 1, 1, true, true,
                                      (struct cuda_watch){.self = &c, .after = add_up});
    cr_expect(r.passed, "%s, %s: %s", name, order, r.message);
    return c.value;
}

uint64_t workload_seeds(uint64_t usual)
{
    const char *more = getenv("HEDDLE_SEEDS");
    return more ? strtoull(more, NULL, 10) : usual;
}

bool workload_waits_long(const char *name)
{
    static const char *const names[] = {
        "bank", "cloth", "cloth_opt", "sum_lock", "sum_lock_backoff", "sum_lock_test"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}
