/* Which bytes operations touch (cuda/touched.h), held against an array of bytes. */
#include "cuda/touched.h"

#include "emu/order.h"
#include "ptx/ptx.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { SPACE = 3 * 4096, BASE = 0x10000, TIMES = 400, AREA = 512 };

static uint64_t state;
static uint32_t below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(state >> 33) % n;
}

struct plain { /* of each byte: ways, by bit */
    uint8_t ways[SPACE];
};

static void note(struct plain *p, uint64_t address, uint32_t size, enum touched_how how)
{
    for (uint32_t i = 0; i < size; i++) p->ways[address - BASE + i] |= (uint8_t)(1u << how);
}

/* A warp's access, about the first `size_of_area` bytes: side by side, strided, or anywhere, whose addresses were looked at or not. */
static void touch(struct touched *t, struct plain *p, uint32_t size_of_area)
{
    const uint32_t kind = below(4), way = below(4), width = 1u << below(4), count = 1u << below(3),
                   size = width * count;
    uint64_t at[32], differ = 0;
    uint32_t rows = 0;
    const uint64_t from = BASE + below(size_of_area) / size * size, step = way == 0   ? size
                                                                           : way == 1 ? 2 * size
                                                                           : way == 2 ? 0
                                                                                      : 1;
    const uint32_t lanes = way == 0 || below(2) ? ~0u : 1 + below(UINT32_MAX - 1);
    for (uint32_t l = 0; l < 32; l++) {
        at[l] = from + l * step;
        if (way == 3) at[l] = BASE + below(size_of_area);
    }
    for (uint32_t l = 0; l < 32; l++)
        if (lanes >> l & 1) {
            differ |= at[l] ^ at[__builtin_ctz(lanes)];
            if (at[l] + size > BASE + SPACE) return;
            rows |= 1u << at[l] / 128 % 32;
        }
    if (differ >= 4096 || (differ | at[__builtin_ctz(lanes)]) & (size - 1)) rows = 0;
    const enum touched_how how = (enum touched_how)kind;
    const bool reads = how == TOUCHED_READ || how == TOUCHED_STRONG_READ;
    const struct emu_access a = {.kind = reads                  ? EMU_LOAD
                                         : how == TOUCHED_WRITE ? EMU_STORE
                                                                : EMU_RED,
                                 .flags = how == TOUCHED_STRONG_READ ? EMU_RELAXED : 0,
                                 .space = PTX_SPACE_GLOBAL,
                                 .width = (uint8_t)width,
                                 .count = (uint8_t)count,
                                 .contiguous = way == 0,
                                 .lanes = lanes,
                                 .common_bits = below(2) ? ~differ : 0,
                                 .rows = below(2) ? rows : 0,
                                 .address = at};
    const struct emu_observer *const o = touched_observer(t);
    if (way == 0 && below(2)) o->footprint(o->self, at[0], 32 * (uint64_t)size, a.kind, a.flags);
    else o->access(o->self, &a);
    for (uint32_t l = 0; l < 32; l++)
        if (lanes >> l & 1) note(p, at[l], size, how);
}

/* One of them writes, and one of them weakly. */
static bool meet(uint8_t a, uint8_t b)
{
    static const struct {
        enum touched_how how;
        bool writes, weak;
    } ways[] = {{TOUCHED_READ, false, true},
                {TOUCHED_STRONG_READ, false, false},
                {TOUCHED_WRITE, true, true},
                {TOUCHED_ATOMIC, true, false}};
    bool any = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
            any |= a >> ways[i].how & b >> ways[k].how & 1 && (ways[i].writes || ways[k].writes) &&
                   (ways[i].weak || ways[k].weak);
    return any;
}

Test(touched, finds_the_lowest_byte_that_two_operations_touch)
{
    static struct plain x, y;
    unsigned met = 0;
    for (state = 0; state < TIMES;) {
        const uint64_t seed = state;
        struct touched *one = touched_new(), *other = touched_new();
        struct touched_meeting m;
        x = y = (struct plain){0};
        for (uint32_t n = 1 + below(4); n--;) touch(one, &x, SPACE - 32 * 64);
        for (uint32_t n = 1 + below(4); n--;) touch(other, &y, SPACE - 32 * 64);
        if (below(2)) {
            const uint32_t from = below(SPACE - 100);
            touched_range(other, BASE + from, 100, TOUCHED_WRITE);
            note(&y, BASE + from, 100, TOUCHED_WRITE);
        }
        uint32_t at = 0;
        while (at < SPACE && !meet(x.ways[at], y.ways[at])) at++;
        const bool found = touched_meet(one, other, &m);
        cr_assert(found == (at < SPACE), "seed %llu", (unsigned long long)seed);
        if (found) {
            met++;
            cr_assert(eq(u64, m.address, BASE + at), "seed %llu", (unsigned long long)seed);
            cr_assert(x.ways[at] >> m.one & 1 && y.ways[at] >> m.other & 1);
        }
        touched_free(one);
        touched_free(other);
        state = seed + 1;
    }
    cr_assert(met > TIMES / 4 && met < TIMES);
}

Test(touched, knows_every_byte_of_many_touches)
{
    static struct plain x;
    unsigned met = 0, tried = 0;
    for (uint64_t seed = 0; seed < 2 * TIMES; seed++) {
        struct touched *one = touched_new();
        struct touched_meeting m;
        state = seed;
        x = (struct plain){0};
        for (uint32_t n = 1 + below(16); n--;) touch(one, &x, AREA);
        for (uint32_t n = 0; n < 200; n++, tried++) {
            struct touched *byte = touched_new();
            const uint32_t at = below(2 * AREA);
            touched_range(byte, BASE + at, 1, TOUCHED_WRITE);
            const bool found = touched_meet(one, byte, &m);
            cr_assert(found == (x.ways[at] != 0), "seed %llu, byte %u", (unsigned long long)seed,
                      at);
            met += found;
            touched_free(byte);
        }
        touched_free(one);
    }
    cr_assert(met > tried / 4 && met < tried * 3 / 4, "%u of %u", met, tried);
}
