/* Device memory: where blocks lie, what is found, what a digest sees. */
#include "emu/memory.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static uint64_t take(struct mem *m, uint64_t size)
{
    return mem_alloc(m, size, 1, "b", false, false);
}

static uint8_t *at(const struct mem *m, uint64_t address)
{
    return mem_base(m) + (address - MEM_GLOBAL);
}

Test(memory, first_blocks)
{
    struct mem *m = mem_new(MIB);
    uint64_t a = mem_alloc(m, 100, 1, "a", true, true), b = take(m, 256), c = take(m, 1);
    cr_expect(a == 0x20000000 && b == 0x20000200 && c == 0x20000400);
    const struct mem_block *k = mem_find(m, a, 1);
    cr_assert(k);
    cr_expect(k->address == a && k->size == 100 && strcmp(k->name, "a") == 0 && k->serial == 1);
    cr_expect(k->constant && k->variable && k->live);
    k = mem_find(m, c, 1);
    cr_expect(k && k->serial == 3 && !k->constant && !k->variable);
    cr_expect(mem_count(m) == 3 && mem_used(m) == 357);
    for (uint64_t i = 0; i < 256; i++) cr_expect(at(m, b)[i] == 0);
    mem_free(m);
    mem_free(NULL);
}

Test(memory, a_name_is_copied)
{
    struct mem *m = mem_new(MIB);
    char name[] = "first";
    uint64_t a = mem_alloc(m, 1, 1, name, false, false), b = mem_alloc(m, 1, 1, NULL, false, false);
    strcpy(name, "other");
    cr_expect(strcmp(mem_find(m, a, 1)->name, "first") == 0);
    cr_expect(strcmp(mem_find(m, b, 1)->name, "") == 0);
    mem_release(m, a);
    cr_expect(strcmp(mem_near(m, a)->name, "first") == 0);
    mem_free(m);
}

/* What is found for an access to blocks at 0x20000000 (100 bytes) and 0x20000200 (16 bytes). */
static const struct {
    uint64_t address, size;
    int block; /* -1: none */
} accesses[] = {
    {0x20000000, 1, 0},
    {0x20000000, 100, 0},
    {0x20000000, 101, -1},
    {0x20000063, 1, 0},
    {0x20000063, 2, -1},
    {0x20000064, 1, -1},
    {0x20000064, 0, 0},
    {0x20000065, 0, -1},
    {0x200000ff, 1, -1},
    {0x20000200, 16, 1},
    {0x2000020f, 1, 1},
    {0x20000210, 1, -1},
    {0x20000000, 0x210, -1},
    {0x20000000, UINT64_MAX, -1},
    {0x20000001, UINT64_MAX, -1},
    {0x1fffffff, 1, -1},
    {0x1fffffff, 2, -1},
    {0, 1, -1},
    {0, 0, -1},
    {UINT64_MAX, 1, -1},
    {UINT64_MAX, UINT64_MAX, -1},
};

Test(memory, find)
{
    struct mem *m = mem_new(MIB);
    cr_expect(!mem_find(m, MEM_GLOBAL, 0) && !mem_near(m, MEM_GLOBAL) && !mem_at(m, 0));
    uint64_t block[2] = {take(m, 100), take(m, 16)};
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        const struct mem_block *b = mem_find(m, accesses[i].address, accesses[i].size);
        cr_expect(accesses[i].block < 0 ? !b : b && b->address == block[accesses[i].block],
                  "access %zu", i);
    }
    mem_free(m);
}

Test(memory, what_cannot_be_had)
{
    struct mem *m = mem_new(MIB);
    cr_expect(take(m, 0) == 0);
    cr_expect(take(m, MIB + 1) == 0);
    cr_expect(take(m, UINT64_MAX) == 0);
    cr_expect(take(m, UINT64_MAX - 255) == 0);
    cr_expect(mem_alloc(m, 1, UINT64_C(1) << 63, "b", false, false) == 0);
    cr_expect(mem_alloc(m, 1, UINT64_C(1) << 31, "b", false, false) == 0);
    uint64_t a = take(m, MIB);
    cr_expect(a == MEM_GLOBAL);
    memset(at(m, a), 1, MIB);
    cr_expect(take(m, 1) == 0);
    cr_expect(!mem_release(m, a + 1) && !mem_release(m, 0) && mem_release(m, a));
    cr_expect(!mem_release(m, a));
    cr_expect(mem_count(m) == 0 && mem_used(m) == 0);
    cr_expect(take(m, MIB) == a);
    mem_free(m);
    m = mem_new(0);
    cr_expect(take(m, 1) == 0);
    mem_free(m);
}

Test(memory, alignment)
{
    struct mem *m = mem_new(4 * GIB);
    take(m, 1);
    static const uint64_t aligns[] = {1, 256, 512, 4096, 65536, UINT64_C(1) << 31};
    for (size_t i = 0; i < sizeof aligns / sizeof *aligns; i++) {
        uint64_t a = mem_alloc(m, 10, aligns[i], "b", false, false);
        cr_expect(a && a % aligns[i] == 0, "%zu", i);
        at(m, a)[9] = 1;
    }
    cr_expect(take(m, 1) == 0x20000000 + 0x800, "the first gap");
    mem_free(m);
}

Test(memory, reused_memory_is_zero)
{
    struct mem *m = mem_new(64 * MIB);
    static const uint64_t sizes[] = {1, 255, 4096, 65535, 65536, 65537, 200000, 9 * MIB + 7};
    take(m, 300); /* so that blocks begin within a page */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t a = take(m, sizes[i]), behind = take(m, 8);
        memset(at(m, a), 0xa5, sizes[i]);
        memset(at(m, behind), 0x5a, 8);
        cr_assert(mem_release(m, a));
        uint64_t b = take(m, sizes[i]);
        cr_expect(a == b, "%zu", i);
        for (uint64_t k = 0; k < sizes[i]; k++) cr_assert(at(m, b)[k] == 0, "%zu", i);
        for (uint64_t k = 0; k < 8; k++) cr_assert(at(m, behind)[k] == 0x5a, "%zu", i);
    }
    mem_free(m);
}

/* ---- against a plain list ---------------------------------------------------------------------- */

enum { MOST = 400 };
struct plain {
    struct {
        uint64_t address, size;
    } blocks[MOST];
    size_t count;
};

static uint64_t plain_alloc(struct plain *p, uint64_t memory, uint64_t size, uint64_t align)
{
    uint64_t from = MEM_GLOBAL, address = 0;
    size_t i = 0;
    for (; i < p->count; i++) { /* a gap must fit the block however it is aligned */
        if (from + size + (align - 256) + 256 <= p->blocks[i].address) break;
        from = (p->blocks[i].address + p->blocks[i].size + 256 + 255) / 256 * 256;
    }
    address = (from + align - 1) / align * align;
    if (address + size > MEM_GLOBAL + memory) return 0;
    memmove(&p->blocks[i + 1], &p->blocks[i], (p->count - i) * sizeof *p->blocks);
    p->blocks[i].address = address;
    p->blocks[i].size = size;
    p->count++;
    return address;
}

static uint32_t random_of(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

Test(memory, first_fit_as_a_plain_list_has_it)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const uint64_t memory = seed % 2 ? 300000 : 4 * MIB;
        struct mem *m = mem_new(memory);
        static struct plain p;
        p.count = 0;
        uint64_t state = seed, used = 0;
        for (int n = 0; n < 4000; n++) {
            if (p.count == MOST - 1 || (p.count && random_of(&state, 5) < 2)) {
                size_t i = random_of(&state, (uint32_t)p.count);
                used -= p.blocks[i].size;
                cr_assert(mem_release(m, p.blocks[i].address));
                memmove(&p.blocks[i], &p.blocks[i + 1], (p.count - i - 1) * sizeof *p.blocks);
                p.count--;
            } else {
                uint64_t size = 1 + random_of(&state, random_of(&state, 4) ? 600 : 30000);
                uint64_t align = UINT64_C(256) << (random_of(&state, 4) ? 0 : random_of(&state, 6));
                uint64_t want = plain_alloc(&p, memory, size, align);
                uint64_t got = mem_alloc(m, size, align, "b", false, false);
                cr_assert(got == want, "seed %d step %d: %llx, not %llx", (int)seed, n,
                          (unsigned long long)got, (unsigned long long)want);
                used += got ? size : 0;
            }
            cr_assert(mem_count(m) == p.count && mem_used(m) == used);
            if (n % 50) continue;
            for (size_t i = 0; i < p.count; i++) {
                const struct mem_block *b = mem_at(m, i);
                cr_assert(b && b->address == p.blocks[i].address && b->size == p.blocks[i].size);
                cr_assert(mem_find(m, b->address + b->size - 1, 1) == b);
                cr_assert(mem_find(m, b->address + b->size, 1) != b);
            }
            cr_assert(!mem_at(m, p.count));
        }
        mem_free(m);
    }
}

/* Would take minutes if allocating or releasing looked at every block. */
Test(memory, many_blocks, .timeout = 30)
{
    enum { COUNT = 100000 };
    struct mem *m = mem_new(GIB);
    static uint64_t block[COUNT];
    for (size_t i = 0; i < COUNT; i++) cr_assert((block[i] = take(m, 300)));
    for (size_t i = 0; i < COUNT; i += 2) cr_assert(mem_release(m, block[i]));
    for (size_t i = 0; i < COUNT; i += 2) { /* none of the gaps fits this one, each fits the next */
        cr_assert(take(m, 700) > block[COUNT - 1]);
        cr_assert(take(m, 300) == block[i]);
    }
    for (size_t i = 0; i < COUNT; i++) cr_assert(mem_find(m, block[i] + 299, 1));
    for (size_t i = 0; i < COUNT; i++) cr_assert(mem_alloc(m, 1, 2048, "b", false, false));
    for (size_t i = COUNT; i-- > 0;) cr_assert(mem_release(m, block[i]));
    mem_free(m);
}

/* ---- reports ----------------------------------------------------------------------------------- */

Test(memory, near)
{
    struct mem *m = mem_new(64 * MIB);
    uint64_t a = take(m, 100), b = take(m, 4096), c = take(m, 100);
    cr_expect(mem_near(m, a + 50)->address == a);
    cr_expect(mem_near(m, a + 100)->address == a, "just behind");
    cr_expect(mem_near(m, b - 1)->address == b, "just before");
    cr_expect(mem_near(m, 0)->address == a && mem_near(m, UINT64_MAX)->address == c);
    mem_release(m, b);
    const struct mem_block *k = mem_near(m, b + 1000);
    cr_expect(k->address == b && !k->live && k->serial == 2);
    cr_expect(mem_near(m, b)->address == b && mem_near(m, b + 4095)->address == b);
    cr_expect(mem_near(m, a + 100)->address == a && mem_near(m, c - 1)->address == c);
    uint64_t d = take(m, 1000); /* where b was */
    cr_expect(d == b);
    k = mem_near(m, d + 999);
    cr_expect(k->live && k->serial == 4);
    k = mem_near(m, d + 1000);
    cr_expect(k->live && k->serial == 4, "an overrun of the new block, no use of the old");
    k = mem_near(m, d + 2000);
    cr_expect(!k->live && k->serial == 2);
    mem_release(m, d);
    cr_expect(mem_near(m, d + 999)->serial == 4, "the last that was there");
    cr_expect(mem_near(m, d + 1000)->serial == 2);
    mem_release(m, a);
    mem_release(m, c);
    cr_expect(mem_near(m, c)->serial == 3 && !mem_near(m, c)->live);
    cr_expect(!mem_near(m, c + MIB), "nothing is alive");
    mem_free(m);
}

Test(memory, old_releases_are_forgotten)
{
    struct mem *m = mem_new(64 * MIB);
    uint64_t a = take(m, 10000), b = take(m, 10);
    mem_release(m, a);
    for (int i = 0; i < 4095; i++) mem_release(m, take(m, 10));
    cr_expect(!mem_near(m, a + 5000)->live);
    mem_release(m, take(m, 10));
    cr_expect(mem_near(m, a + 5000)->address == b);
    cr_expect(!mem_near(m, a)->live && mem_near(m, a)->serial == 4098);
    mem_free(m);
}

/* ---- the digest -------------------------------------------------------------------------------- */

Test(memory, digest_sees_every_byte)
{
    struct mem *m = mem_new(MIB), *other = mem_new(2 * MIB);
    cr_expect(mem_digest(m) == mem_digest(other));
    for (int i = 0; i < 2; i++) {
        take(i ? other : m, 100);
        take(i ? other : m, 9001);
    }
    cr_expect(mem_digest(m) == mem_digest(other));
    const struct mem_block *b = mem_at(m, 1);
    for (uint64_t k = 0; k < b->size; k++) at(m, b->address)[k] = (uint8_t)(k * k + 3 * k);
    memcpy(at(other, b->address), at(m, b->address), b->size);
    uint64_t digest = mem_digest(m);
    cr_expect(digest == mem_digest(other));
    for (uint64_t k = 0; k < b->size; k++) {
        at(m, b->address)[k] ^= (uint8_t)(1 << k % 8);
        cr_expect(mem_digest(m) != digest, "byte %d", (int)k);
        at(m, b->address)[k] ^= (uint8_t)(1 << k % 8);
    }
    cr_expect(mem_digest(m) == digest);
    for (uint64_t k = 0; k < 256; k++) at(m, b->address)[b->size + k] = 0xff;
    cr_expect(mem_digest(m) == digest, "bytes that belong to no block");
    uint8_t *p = at(m, b->address), swap[32];
    for (uint64_t k = 0; k + 64 <= b->size; k += 32) { /* order matters */
        memcpy(swap, p + k, 32);
        memcpy(p + k, p + k + 32, 32);
        memcpy(p + k + 32, swap, 32);
        cr_expect(memcmp(p + k, p + k + 32, 32) == 0 || mem_digest(m) != digest);
        memcpy(p + k + 32, p + k, 32);
        memcpy(p + k, swap, 32);
    }
    cr_expect(mem_digest(m) == digest);
    mem_free(m);
    mem_free(other);
}

Test(memory, digest_sees_where_blocks_are)
{
    struct mem *m[4];
    static const uint64_t sizes[4][3] = {
        {100, 100, 0}, {100, 101, 0}, {100, 100, 100}, {1, 1000, 100}};
    for (int i = 0; i < 4; i++) {
        m[i] = mem_new(MIB);
        for (int k = 0; k < 3; k++) take(m[i], sizes[i][k]);
    }
    mem_release(m[3], mem_at(m[3], 1)->address);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++) cr_expect(mem_digest(m[i]) != mem_digest(m[k]), "%d %d", i, k);
    for (int i = 0; i < 4; i++) mem_free(m[i]);
}

Test(memory, digest_of_zeros_does_not_depend_on_who_touched_them)
{
    struct mem *m = mem_new(64 * MIB), *other = mem_new(64 * MIB);
    uint64_t a = take(m, 32 * MIB), b = take(other, 32 * MIB);
    at(m, a)[10 * MIB] = 1;
    memset(at(other, b), 7, 32 * MIB);
    memset(at(other, b), 0, 32 * MIB);
    at(other, b)[10 * MIB] = 1;
    cr_expect(mem_digest(m) == mem_digest(other));
    mem_release(m, a);
    mem_release(other, b);
    cr_expect(mem_digest(m) == mem_digest(other));
    cr_expect(take(m, 32 * MIB) == a && take(other, 32 * MIB) == b);
    cr_expect(mem_digest(m) == mem_digest(other));
    mem_free(m);
    mem_free(other);
}

/* Written plainly after the comment in emu/device/memory_digest.c. */
static uint64_t plain_step(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9fb21c651e98df25u;
    return h ^ h >> 32;
}

static uint64_t plain_digest(const struct mem *m)
{
    uint64_t h = 0x48656464;
    for (size_t i = 0; i < mem_count(m); i++) {
        const struct mem_block *b = mem_at(m, i);
        h = plain_step(plain_step(h, b->address), b->size);
        for (uint64_t from = b->address; from < b->address + b->size;) {
            uint64_t to = (from / 4096 + 1) * 4096, lane[4] = {1, 2, 3, 4};
            if (to > b->address + b->size) to = b->address + b->size;
            bool any = false;
            uint64_t whole = (to - from) / 32 * 4; /* words that go round the lanes */
            for (uint64_t w = 0; w * 8 < to - from; w++) {
                uint64_t word = 0;
                for (uint64_t k = 0; k < 8 && w * 8 + k < to - from; k++)
                    word |= (uint64_t)at(m, from)[w * 8 + k] << 8 * k;
                any |= word != 0;
                uint64_t *l = &lane[w < whole ? w % 4 : 0];
                *l = plain_step(*l, word);
            }
            uint64_t chunk = lane[0];
            for (int k = 1; k < 4; k++) chunk = plain_step(chunk, lane[k]);
            if (any) h = plain_step(plain_step(h, from), chunk);
            from = to;
        }
    }
    h = plain_step(h, mem_count(m)) + 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

Test(memory, digest_as_defined)
{
    struct mem *m = mem_new(4 * MIB);
    uint64_t state = 5;
    for (uint32_t i = 0; i < 60; i++) {
        uint64_t size = 1 + random_of(&state, 20000), a = take(m, size);
        for (uint64_t k = 0; i % 3 && k < size; k++)
            at(m, a)[k] = k / 5000 % 2 ? 0 : (uint8_t)random_of(&state, 256);
    }
    cr_expect(mem_digest(m) == plain_digest(m));
    cr_expect(mem_digest(m) == UINT64_C(0x9bff705b4debf887), "%llx",
              (unsigned long long)mem_digest(m));
    mem_free(m);
}

/* ---- bytes that were written ------------------------------------------------------------------- */

Test(memory, written_bits)
{
    struct mem *m = mem_new(64 * MIB);
    cr_expect(!mem_written_bits(m));
    mem_mark_written(m, take(m, 10), 10);
    mem_free(m);
    m = mem_new(64 * MIB);
    mem_track(m);
    uint8_t *bits = mem_written_bits(m);
    cr_assert(bits);
    uint64_t a = take(m, MIB);
    static const struct {
        uint64_t from, size;
    } marks[] = {{0, 0}, {0, 1},  {7, 1},  {7, 2},    {8, 8},
                 {3, 4}, {1, 30}, {0, 64}, {5, 1000}, {MIB - 1, 1}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        mem_mark_written(m, a + marks[i].from, marks[i].size);
        for (uint64_t k = 0; k < 2048; k++) {
            uint64_t byte = i == 9 ? MIB - 2048 + k : k;
            bool want = byte >= marks[i].from && byte < marks[i].from + marks[i].size;
            cr_expect((bits[byte / 8] >> byte % 8 & 1) == want, "%zu: byte %d", i, (int)byte);
        }
        mem_release(m, a);
        cr_expect(take(m, MIB) == a);
    }
    for (uint64_t k = 0; k < MIB / 8; k++) cr_assert(bits[k] == 0);
    mem_mark_written(m, a, MIB);
    for (uint64_t k = 0; k < MIB / 8; k++) cr_assert(bits[k] == 0xff);
    mem_free(m);
}

/* ---- what the host shares ------------------------------------------------------------------------------- */

static int *pointer(uint64_t address)
{
    return (int *)(uintptr_t)address;
}

Test(memory, shared_blocks_are_at_their_own_addresses)
{
    struct mem *m = mem_new(16 * MIB);
    cr_assert(mem_unify(m) && mem_unify(m));
    uint64_t own = take(m, 100), a = mem_alloc_shared(m, 5000, "a", false),
             b = mem_alloc_shared(m, 8, "b", true), after = take(m, 100);
    cr_expect(a == 0x20010000 && b == 0x20020000 && after == 0x20000200 && own == 0x20000000);
    cr_expect(mem_find(m, a + 4999, 1)->host == (uint8_t *)pointer(a) + 0 &&
              mem_bytes(m, a + 10) == (uint8_t *)pointer(a) + 10);
    cr_expect(!mem_find(m, a, 5001) && mem_find(m, b, 8)->variable);
    uint64_t before = mem_digest(m);
    *pointer(a + 4996) = 7;
    cr_expect(*pointer(b) == 0 && mem_digest(m) != before);
    *pointer(a + 4996) = 0;
    cr_expect(mem_digest(m) == before);
    cr_expect(mem_bytes(m, own) == at(m, own) && mem_bytes(m, after) == at(m, after));
    *pointer(a) = 9;
    cr_expect(mem_release(m, a) && !mem_release(m, a) && mem_near(m, a)->size == 5000);
    uint64_t again = mem_alloc_shared(m, 1 * MIB, "c", false), c = take(m, 60000);
    cr_expect(c == 0x20000400 && again == 0x20030000 && *pointer(again) == 0);
    /* Addresses that are taken: memory is behind them, and if that is taken as well, it works, elsewhere. */
    if (SANITIZED) { /* the second place is AddressSanitizer's own: its shadow begins at 0x7fff8000 */
        mem_free(m);
        return;
    }
    struct mem *second = mem_new(16 * MIB), *other = mem_new(16 * MIB);
    cr_assert(mem_unify(second));
    const uint64_t moved = take(second, 9), shared = mem_alloc_shared(second, 4, "s", false);
    cr_expect(moved == 0x80000000 && shared == 0x80010000);
    *at(second, moved) = *pointer(shared) = 5;
    cr_expect(mem_find(second, shared, 4)->host == (uint8_t *)pointer(shared));
    cr_expect(take(second, 15 * MIB) == 0x80010200 && !take(second, 1 * MIB));
    cr_expect(!mem_unify(other));
    uint64_t d = mem_alloc_shared(other, 4, "d", false);
    cr_assert(d == 0x20000000);
    uint8_t *bytes = mem_find(other, d, 4)->host;
    cr_expect(bytes != (uint8_t *)pointer(d) && bytes != at(other, d));
    bytes[3] = 1;
    mem_free(m);
    mem_free(second);
    cr_expect(mem_release(other, d) && mem_unify(other));
    mem_free(other);
}

Test(memory, adopted_blocks_stay_where_they_are)
{
    struct mem *m = mem_new(16 * MIB), *n = mem_new(16 * MIB);
    char *memory = calloc(3, 4096), *from = memory + (-(uintptr_t)memory & 4095) + 24;
    uint64_t own = take(m, 100), a = mem_adopt(m, from, 5000, "a"), after = take(m, 100);
    cr_expect(own == 0x20000000 && a == 0x20001018 && after == 0x20000200);
    cr_expect(mem_find(m, a, 5000)->host == (uint8_t *)from && !mem_find(m, a - 1, 1));
    from[4999] = 3;
    cr_expect(*mem_bytes(m, a + 4999) == 3);
    cr_expect(mem_release(m, a) && from[4999] == 3);
    cr_expect(mem_adopt(m, from, 5000, "a") == a);
    /* the same digest as memory of the device's own with the same bytes, at the same address */
    uint64_t theirs = take(n, 100), shared = mem_alloc_shared(n, 5000, "a", false);
    cr_expect(theirs == own && mem_digest(m) != mem_digest(n));
    cr_expect(mem_release(n, shared) && mem_adopt(n, from, 5000, "x") == a &&
              take(n, 100) == after);
    cr_expect(mem_digest(m) == mem_digest(n));
    mem_free(m);
    mem_free(n);
    free(memory);
}

Test(memory, what_the_host_shares_counts_as_written)
{
    struct mem *m = mem_new(MIB);
    char own[64];
    mem_track(m);
    uint64_t a = mem_alloc_shared(m, 10, "a", false), b = mem_adopt(m, own, 64, "b");
    const uint8_t *bits = mem_written_bits(m);
    cr_expect(bits[(a - MEM_GLOBAL) / 8] == 0xff && bits[(a - MEM_GLOBAL) / 8 + 1] == 3);
    cr_expect(bits[(b + 8 - MEM_GLOBAL) / 8] == 0xff);
    mem_free(m);
}
