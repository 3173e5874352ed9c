/* The digest of global memory.
 *
 * Bytes are hashed as little-endian words of 8 bytes, in chunks that end where 4096 divides the address. Words are
 * distributed round robin over four lanes; words after the last whole 32 bytes go to the first lane. Each step is
 * invertible, so chunks that differ in one word have different hashes. A chunk of zeros adds nothing: pages that were
 * never touched need not be read. */
#define _GNU_SOURCE /* pread */
#include "emu/unwritten.h"

#include "base/rng.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 4096 }; /* the unit, by guest address */

static uint64_t step(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9fb21c651e98df25);
    return h ^ h >> 32;
}

static uint64_t word_at(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/* Hash of a chunk; 0: it is all zeros. */
static uint64_t hash_chunk(const uint8_t *p, size_t size)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, any = 0;
    for (; size >= 32; size -= 32, p += 32) {
        uint64_t w = word_at(p), x = word_at(p + 8), y = word_at(p + 16), z = word_at(p + 24);
        any |= w | x | y | z;
        a = step(a, w);
        b = step(b, x);
        c = step(c, y);
        d = step(d, z);
    }
    uint8_t tail[32] = {0};
    memcpy(tail, p, size);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t w = word_at(tail + i);
        any |= w;
        a = step(a, w);
    }
    if (!any) return 0;
    uint64_t h = step(step(step(a, b), c), d);
    return h ? h : 1;
}

struct pages { /* which host pages hold something, asked for a window at a time */
    int file;  /* /proc/self/pagemap; -1: not known, so all of them */
    uint64_t page, window;
    uint64_t entries[512];
};

static bool touched(struct pages *p, const uint8_t *at)
{
    uint64_t n = (uintptr_t)at / p->page, window = n / 512 + 1;
    if (p->file < 0) return true;
    if (window != p->window) {
        p->window = window;
        if (pread(p->file, p->entries, sizeof p->entries, (off_t)((window - 1) * 512 * 8)) !=
            (ssize_t)sizeof p->entries) {
            close(p->file);
            p->file = -1;
            return true;
        }
    }
    return p->entries[n % 512] >> 62; /* present, or swapped out */
}

/* The bytes of a piece of a block, those that nothing wrote as zeros: `p` itself, or copied to `to`. */
static const uint8_t *written_bytes(const struct mem *m, uint64_t address, const uint8_t *p,
                                    size_t size, uint8_t *to)
{
    const uint8_t *const bits = mem_written_bits(m);
    const uint64_t from = address - MEM_GLOBAL;
    bool all = from % 8 == 0 && size % 8 == 0;
    for (size_t i = 0; all && i < size / 8; i++) all = bits[from / 8 + i] == 0xff;
    if (all) return p;
    for (size_t i = 0; i < size; i++) to[i] = mem_is_written(m, address + i) ? p[i] : 0;
    return to;
}

void mem_digested_bytes(const struct mem *m, uint64_t address, uint8_t *to, size_t size)
{
    const struct mem_block *b = mem_find(m, address, size);
    const uint8_t *p = b ? b->host + (address - b->address) : NULL;
    if (p && mem_fills(m) && b->kind == MEM_OWN) p = written_bytes(m, address, p, size, to);
    if (p && p != to) memcpy(to, p, size);
}

/* What is the host's may be a file's, whose pages are not all here. */
static uint64_t digest_block(const struct mem *m, const struct mem_block *b, uint64_t h,
                             struct pages *pages)
{
    uint8_t bytes[CHUNK];
    h = step(step(h, b->address), b->size);
    uint64_t end = b->kind == MEM_RESERVED ? b->address : b->address + b->size;
    for (uint64_t at = b->address, next; at < end; at = next) {
        next = (at | (CHUNK - 1)) + 1;
        if (next > end) next = end;
        const uint8_t *p = b->host + (at - b->address);
        if (b->kind != MEM_ADOPTED && !touched(pages, p)) continue;
        if (mem_fills(m) && b->kind == MEM_OWN)
            p = written_bytes(m, at, p, (size_t)(next - at), bytes);
        uint64_t chunk = hash_chunk(p, (size_t)(next - at));
        if (chunk) h = step(step(h, at), chunk);
    }
    return h;
}

uint64_t mem_digest(const struct mem *m)
{
    struct pages pages = {.page = (uint64_t)sysconf(_SC_PAGESIZE)};
    /* A page of the host holds whole chunks, so the page of a chunk's first byte is all its pages. */
    pages.file = pages.page % CHUNK ? -1 : open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    /* This page surely holds something; a host that denies it is not to be believed. */
    if (pages.file >= 0 && !touched(&pages, (const uint8_t *)&pages)) {
        close(pages.file);
        pages.file = -1;
    }
    uint64_t h = UINT64_C(0x48656464);
    for (size_t i = 0; i < mem_count(m); i++) h = digest_block(m, mem_at(m, i), h, &pages);
    if (pages.file >= 0) close(pages.file);
    return rng_mix(step(h, mem_count(m)) + RNG_STEP);
}
