/* Counts by phase: an order that ends phases at odd moments, on workloads. Whatever the moments, phases add up to
 * what is counted without any. */
#include "cuda/device.h"
#include "emu/counts.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "suites/suite.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

struct beat { /* an order: a phase ends every so many picks */
    struct emu_machine *m;
    unsigned every, picks;
    uint64_t odd, even; /* phases that it ended, */
    uint64_t noted_odd, noted_even;
    struct emu_events sum;
    uint64_t launches, most_phases;
};

static void begin(void *self, struct emu_machine *m)
{
    struct beat *b = self;
    b->m = m;
}

static int pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct beat *b = self;
    (void)ready;
    *burst = 3;
    if (b->every && ++b->picks % b->every == 0) {
        const bool odd = b->picks / b->every % 2;
        emu_machine_phase(b->m, odd ? "odd" : "even");
        if (odd) b->odd++;
        else b->even++;
    }
    return (int)(count - 1);
}

static void numbers_of(void *self, void (*tell)(void *to, const char *name, uint64_t value),
                       void *to)
{
    const struct beat *b = self;
    tell(to, "beat.odd", b->odd);
    tell(to, "beat.none", 0);
}

static void add(struct emu_events *to, const struct emu_events *from)
{
    for (size_t i = 0; i < sizeof *to / sizeof(uint64_t); i++)
        ((uint64_t *)(void *)to)[i] += ((const uint64_t *)(const void *)from)[i];
}

static void after(void *self, const char *kernel, const struct emu_launch *l,
                  const struct emu_report *r)
{
    struct beat *b = self;
    (void)kernel, (void)l;
    b->launches++;
    if (b->most_phases < r->counts->phase_count) b->most_phases = r->counts->phase_count;
    for (size_t i = 0; i < r->counts->phase_count; i++) {
        const struct emu_phase *p = &r->counts->phases[i];
        struct emu_events sms = {0};
        for (uint32_t s = 0; s < r->counts->sms; s++) add(&sms, &p->sm[s]);
        cr_expect(!memcmp(&sms, &p->total, sizeof sms), "%s: the SMs make up the total", p->name);
        add(&b->sum, &p->total);
        if (strcmp(p->name, "odd") == 0) b->noted_odd += p->times;
        else if (strcmp(p->name, "even") == 0) b->noted_even += p->times;
        else cr_expect_str_eq(p->name, "beat");
    }
}

static void run(const char *name, struct beat *b)
{
    const struct emu_order order = {.self = b, .name = "beat", .begin = begin, .pick = pick};
    cuda_device_configure(&(struct emu_config){
        .threads = 1, .count = true, .caches = true, .phases = true, .order = &order});
    cuda_device_watch(&(struct cuda_watch){.self = b, .after = after});
    struct suite_result r = suite_run(suite_find(name), &(struct suite_options){.seed = 1});
    cuda_device_watch(NULL);
    cuda_device_reset();
    cr_expect(r.passed, "%s: %s", name, r.message);
}

Test(emu_phases, add_up_to_the_launch)
{
    static const char *const names[] = {"bfs_fixed", "histogram_shared", "spmv_scalar"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i += THINNED) {
        struct beat whole = {0};
        run(names[i], &whole);
        cr_expect(whole.most_phases == 1 && whole.sum.warp_instructions > 0);
        for (unsigned every = SANITIZED ? 1266 : 211; every < 9000; every *= SANITIZED ? 36 : 6) {
            struct beat parts = {.every = every};
            run(names[i], &parts);
            cr_expect(parts.odd > 0, "%s", names[i]);
            cr_expect(parts.noted_odd == parts.odd && parts.noted_even == parts.even, "%s",
                      names[i]);
            cr_expect(!memcmp(&whole.sum, &parts.sum, sizeof whole.sum), "%s, every %u: %llu, %llu",
                      names[i], every, (unsigned long long)whole.sum.guarded_off,
                      (unsigned long long)parts.sum.guarded_off);
        }
    }
}

static uint64_t sum_of(const struct emu_run *r, const char *name)
{
    uint64_t sum = 0;
    size_t i;
    json_t *j = json_loads(r->counts, 0, NULL), *p;
    cr_assert(j, "%s", r->counts);
    json_array_foreach(json_object_get(j, "phases"), i, p)
        sum += (uint64_t)json_integer_value(json_object_get(json_object_get(p, "counts"), name));
    json_decref(j);
    return sum;
}

/* A phase may end between two guarded instructions of a block. */
Test(emu_phases, split_blocks)
{
    uint32_t words[64] = {0};
    const char *body =
        ".reg .b64 %d<3>; .reg .b32 %r<4>; .reg .pred %p<3>;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 10;\n"
        "@%p1 add.u32 %r1, %r1, 1; @!%p1 add.u32 %r1, %r1, 2; @%p1 add.u32 %r1, %r1, 3;\n"
        "@!%p1 add.u32 %r1, %r1, 4; @%p1 add.u32 %r1, %r1, 5; st.global.u32 [%d1], %r1; ret;";
    struct beat b = {.every = 1};
    const struct emu_order order = {
        .self = &b, .name = "beat", .begin = begin, .pick = pick, .numbers = numbers_of};
    struct emu_run r = {
        .ptx = emu_ptx(".param .u64 p", body), .grid = 1, .block = 64, .once = true};
    r.config = (struct emu_config){.count = true, .phases = true, .order = &order};
    r.args[0] = emu_inout(&r, words, sizeof words);
    cr_assert(emu_run(&r), "%s", r.fault);
    cr_expect(b.odd + b.even > 4 && strstr(r.counts, "\"times\": "));
    cr_expect_eq(sum_of(&r, "instructions.guarded_off"), 3 * 54 + 2 * 10);
    cr_expect_eq(sum_of(&r, "instructions.thread"), 64 * 10);
    char numbers[64];
    snprintf(numbers, sizeof numbers, "\"order_counts\": {\"beat.odd\": %u}", (unsigned)b.odd);
    cr_expect(strstr(r.counts, numbers), "%s", numbers); /* what is 0 is left out */
    cr_expect(strstr(r.counts, "\"order\": \"beat\""));
}
