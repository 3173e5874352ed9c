#include "tests/workload.h"

#include "cuda/device.h"
#include "determinism/orders.h"
#include "emu/emu.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void after(void *self, const char *kernel, const struct emu_launch *launch,
                  const struct emu_report *report)
{
    uint64_t *digest = self;
    (void)kernel, (void)launch, (void)report;
    *digest = *digest * UINT64_C(0x100000001b3) + emu_digest(cuda_device_emu());
}

struct suite_result workload_run(const char *name, const char *order, uint64_t seed,
                                 uint64_t *digest)
{
    char *why;
    struct orders *o = orders_new(order, seed, &why);
    cr_assert(o, "%s", why);
    *digest = 0;
    cuda_device_configure(
        &(struct emu_config){.threads = 1, .timeout = 60, .order = orders_get(o)});
    cuda_device_watch(&(struct cuda_watch){.self = digest, .after = after});
    struct suite_result r = suite_run(suite_find(name), &(struct suite_options){.seed = 1});
    cuda_device_watch(NULL);
    cuda_device_reset();
    orders_free(o);
    return r;
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

uint64_t workload_seeds(uint64_t usual)
{
    const char *more = getenv("HEDDLE_SEEDS");
    return more ? strtoull(more, NULL, 10) : usual;
}
