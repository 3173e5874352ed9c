/* The workloads in other orders than native: a test's own adversary chooses places and warps by seed, and keeps
 * stores back until a fence. Every workload must pass whatever it does, and those that are there for their
 * order must show it. */
#include "cuda/device.h"
#include "emu/order.h"
#include "ptx/ptx.h"
#include "suites/suite.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELD = 128 };

struct held { /* a store of one lane that nobody sees yet */
    uint32_t cta, warp, size;
    uint64_t address;
    uint8_t data[64];
};

struct adversary {
    struct emu_order order;
    struct suite_random r;
    struct emu_machine *m;
    bool late; /* keeps stores back */
    size_t count;
    struct held held[HELD];
    uint64_t digest;
};

static void release(struct adversary *a, size_t i)
{
    emu_machine_store(a->m, a->held[i].address, a->held[i].data, a->held[i].size);
    a->held[i] = a->held[--a->count];
}

/* What the warp holds, of it what overlaps; size 0: all. */
static void release_of(struct adversary *a, const struct emu_warp *who, uint64_t address,
                       uint32_t size)
{
    for (size_t i = a->count; i-- > 0;) {
        const struct held *h = &a->held[i];
        if (h->cta == who->cta && h->warp == who->warp &&
            (!size || (h->address < address + size && address < h->address + h->size)))
            release(a, i);
    }
}

static void begin(void *self, struct emu_machine *m)
{
    ((struct adversary *)self)->m = m;
}

static int pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct adversary *a = self;
    (void)ready;
    *burst = 1 + suite_random_below(&a->r, 20);
    if (a->count && suite_random_below(&a->r, 8) == 0)
        release(a, suite_random_below(&a->r, (uint32_t)a->count));
    return (int)suite_random_below(&a->r, (uint32_t)count);
}

static int place(void *self, uint32_t cta, const uint32_t *free_slots, size_t count)
{
    struct adversary *a = self;
    (void)cta, (void)free_slots;
    return (int)suite_random_below(&a->r, (uint32_t)count);
}

static enum emu_verdict on_access(void *self, const struct emu_access *x)
{
    struct adversary *a = self;
    uint32_t size = (uint32_t)x->width * x->count;
    if (!a->late || x->space != PTX_SPACE_GLOBAL) return EMU_PROCEED;
    if (x->flags & EMU_RELEASE) release_of(a, x->who, 0, 0);
    for (unsigned lane = 0; lane < 32; lane++)
        if (x->lanes >> lane & 1) release_of(a, x->who, x->address[lane], size);
    if (x->kind != EMU_STORE || x->flags & EMU_RELEASE) return EMU_PROCEED;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(x->lanes >> lane & 1)) continue;
        release_of(a, x->who, x->address[lane], size); /* of a lane before it */
        if (a->count == HELD) release(a, suite_random_below(&a->r, HELD));
        struct held *h = &a->held[a->count++];
        *h = (struct held){x->who->cta, x->who->warp, size, x->address[lane], {0}};
        memcpy(h->data, x->data + (size_t)64 * lane, size);
    }
    return EMU_DONE;
}

static enum emu_verdict on_sync(void *self, const struct emu_sync *s)
{
    struct adversary *a = self;
    if (s->kind != EMU_SYNC_WARP_EXIT && s->kind != EMU_SYNC_CTA_EXIT && s->who)
        release_of(a, s->who, 0, 0);
    return EMU_PROCEED;
}

static bool idle(void *self)
{
    struct adversary *a = self;
    bool any = a->count > 0;
    while (a->count) release(a, a->count - 1);
    return any;
}

static void before(void *self, const char *kernel, struct emu_launch *launch)
{
    struct adversary *a = self;
    (void)kernel;
    launch->order = &a->order;
}

static void after(void *self, const char *kernel, const struct emu_launch *launch,
                  const struct emu_report *report)
{
    struct adversary *a = self;
    (void)kernel, (void)launch, (void)report;
    a->digest = a->digest * UINT64_C(0x100000001b3) + emu_digest(cuda_device_emu());
}

static struct suite_result run(const char *name, uint64_t seed, bool late, uint64_t *out)
{
    struct adversary *a = calloc(1, sizeof *a);
    cr_assert(a);
    a->late = late;
    a->r = suite_random(seed);
    a->order = (struct emu_order){.self = a,
                                  .begin = begin,
                                  .pick = pick,
                                  .place = place,
                                  .access = on_access,
                                  .sync = on_sync,
                                  .idle = idle};
    cuda_device_configure(&(struct emu_config){.threads = 1, .timeout = 60});
    cuda_device_watch(&(struct cuda_watch){.self = a, .before = before, .after = after});
    struct suite_result r = suite_run(suite_find(name), &(struct suite_options){.seed = 1});
    cuda_device_watch(NULL);
    cuda_device_reset();
    *out = a->digest;
    free(a);
    return r;
}

/* One result in every order, or several. */
static const struct {
    const char *name;
    bool several;
} rows[] = {
    {"append", true},         {"bfs_fixed", false},     {"bfs_parent", true},
    {"bfs_racy", true},       {"bfs_sparse", true},     {"centrality", true},
    {"conv_gradient", true},  {"index_add", true},      {"litmus_block", true},
    {"litmus_grid", true},    {"order_exchange", true}, {"order_mixed", true},
    {"pagerank", true},       {"racey_global", true},   {"racey_shared", true},
    {"racey_warps", true},    {"scatter_last", true},   {"segment_sum", true},
    {"sum_atomic", true},     {"sum_lock", false},      {"sum_lock_backoff", false},
    {"sum_lock_test", false}, {"sum_tree", false},      {"racey_lanes", false},
};

Test(suites_orders, workloads_pass_in_any_order, .timeout = 300)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t digests[2];
        bool same = true;
        for (unsigned k = 0; k < 2; k++) {
            struct suite_result r = run(rows[i].name, 1 + k, k == 1, &digests[k]);
            cr_expect(r.passed, "%s: %s", rows[i].name, r.message);
            same &= digests[k] == digests[0];
        }
        cr_expect(same != rows[i].several, "%s", rows[i].name);
    }
}

/* Stores that come late show what fences are for, and that no weak outcome is allowed with them. */
Test(suites_orders, litmus_shows_late_stores, .timeout = 60)
{
    uint64_t digest;
    unsigned mp = 0, sb = 0;
    struct suite_result r = run("litmus_grid", 5, true, &digest);
    cr_expect(r.passed &&
              sscanf(r.message, "weak outcomes without fences: mp %u, sb %u", &mp, &sb) == 2);
    cr_expect(mp > 0 && sb > 0, "%s", r.message);
    r = run("litmus_grid", 5, false, &digest);
    cr_expect(r.passed &&
              sscanf(r.message, "weak outcomes without fences: mp %u, sb %u", &mp, &sb) == 2);
    cr_expect(mp == 0 && sb == 0, "%s", r.message);
}
