/* The data that the nodes of a running launch have read (readers.h). */
#include "determinism/communication/readers.h"

#include <stdlib.h>
#include <string.h>

struct reader *reader_find(struct readers *all, uint32_t cta)
{
    struct reader **at = &all->live, *r;
    for (; (r = *at); at = &r->next)
        if (r->cta == cta) {
            *at = r->next; /* to the front */
            r->next = all->live;
            return all->live = r;
        }
    return NULL;
}

struct reader *reader_of(struct readers *all, uint32_t cta)
{
    struct reader *r = reader_find(all, cta);
    if (r) return r;
    if ((r = all->spare)) all->spare = r->next;
    else if (!(r = calloc(1, sizeof *r))) abort();
    r->cta = cta;
    r->next = all->live;
    return all->live = r;
}

static void account(struct readers *all, size_t more)
{
    all->memory += more;
    if (all->memory > all->most_memory) all->most_memory = all->memory;
}

/* ---- the set of bytes ------------------------------------------------------------------------- */

static size_t place_of(const struct reader *r, uint64_t key)
{
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (r->block_cap - 1);
    while (r->blocks[i].key && r->blocks[i].key != key) i = (i + 1) & (r->block_cap - 1);
    return i;
}

static void grow_blocks(struct readers *all, struct reader *r)
{
    struct read_block *const old = r->blocks;
    const size_t count = r->block_cap;
    r->block_cap = count ? 2 * count : 64;
    r->blocks = calloc(r->block_cap, sizeof *r->blocks);
    if (!r->blocks) abort();
    for (size_t i = 0; i < count; i++)
        if (old[i].key) r->blocks[place_of(r, old[i].key)] = old[i];
    free(old);
    account(all, (r->block_cap - count) * sizeof *r->blocks);
}

static struct read_block *block_of(struct readers *all, struct reader *r, uint32_t local,
                                   uint64_t offset)
{
    const uint64_t key = (offset / READ_BLOCK << 10 | local) + 1;
    if (2 * (r->block_count + 1) > r->block_cap) grow_blocks(all, r);
    struct read_block *b = &r->blocks[place_of(r, key)];
    if (!b->key) {
        b->key = key;
        r->block_count++;
    }
    return b;
}

bool reader_has(const struct reader *r, uint32_t local, uint64_t offset)
{
    if (!r->block_cap) return false;
    const uint64_t key = (offset / READ_BLOCK << 10 | local) + 1;
    const uint64_t at = offset % READ_BLOCK;
    return r->blocks[place_of(r, key)].seen[at / 64] >> at % 64 & 1; /* of a free one: no bits */
}

void reader_forget(struct reader *r, uint32_t nodes, uint64_t offset, uint64_t size)
{
    if (!r->block_count) return;
    for (const uint64_t end = offset + size; offset < end;) {
        const uint64_t edge = (offset / READ_BLOCK + 1) * READ_BLOCK,
                       stop = end < edge ? end : edge;
        for (uint32_t local = 0; local < nodes; local++) {
            struct read_block *b = &r->blocks[place_of(r, (offset / READ_BLOCK << 10 | local) + 1)];
            for (uint64_t o = offset; b->key && o < stop; o++)
                b->seen[o % READ_BLOCK / 64] &= ~(UINT64_C(1) << o % 64);
        }
        offset = stop;
    }
}

/* ---- runs ------------------------------------------------------------------------------------- */

struct adding {
    struct readers *all;
    struct reader *reader;
    uint32_t local;
};

static void add_run(void *self, uint64_t offset, uint32_t size, uint64_t slot)
{
    const struct adding *a = self;
    struct reader *r = a->reader;
    for (unsigned i = 0; i < 4; i++) {
        if (r->recent[i] >= r->run_count) continue;
        struct read_run *x = &r->runs[r->recent[i]];
        if (x->offset + x->size != offset || x->slot != slot || x->local != a->local ||
            x->size > UINT32_MAX - size)
            continue;
        x->size += size;
        return;
    }
    if (r->run_count == r->run_cap) {
        const size_t cap = r->run_cap ? 2 * r->run_cap : 64;
        r->runs = realloc(r->runs, cap * sizeof *r->runs);
        if (!r->runs) abort();
        account(a->all, (cap - r->run_cap) * sizeof *r->runs);
        r->run_cap = cap;
    }
    r->recent[r->next_recent++ % 4] = r->run_count;
    r->runs[r->run_count++] = (struct read_run){offset, slot, size, a->local};
}

/* Bits `from` to `from + n` - 1 of a word. */
static uint64_t bits(uint64_t from, uint64_t n)
{
    return (n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0)) << from;
}

void reader_add(struct readers *all, struct reader *r, struct shadow *s, uint32_t now,
                uint32_t local, uint64_t offset, uint64_t size)
{
    struct adding a = {all, r, local};
    const uint64_t end = offset + size;
    uint64_t begin = offset; /* what is new since here has not been added yet */
    while (offset < end) {
        uint64_t *const seen = block_of(all, r, local, offset)->seen;
        const uint64_t edge = (offset / READ_BLOCK + 1) * READ_BLOCK,
                       stop = end < edge ? end : edge;
        while (offset < stop) {
            uint64_t *const at = &seen[offset % READ_BLOCK / 64];
            const uint64_t bit = offset % 64;
            const uint64_t n = stop - offset < 64 - bit ? stop - offset : 64 - bit;
            const uint64_t m = bits(bit, n), old = *at & m;
            *at |= m;
            for (uint64_t o = old; o;) { /* ranges that were read before */
                const uint64_t first = (uint64_t)__builtin_ctzll(o);
                const uint64_t rest = ~(o >> first);
                const uint64_t length = rest ? (uint64_t)__builtin_ctzll(rest) : 64;
                const uint64_t from = offset - bit + first;
                if (from > begin) shadow_read(s, begin, from - begin, now, add_run, &a);
                begin = from + length;
                o &= ~bits(first, length);
            }
            offset += n;
        }
    }
    if (end > begin) shadow_read(s, begin, end - begin, now, add_run, &a);
}

static int by_node(const void *x, const void *y)
{
    const struct read_run *a = x, *b = y;
    if (a->local != b->local) return a->local < b->local ? -1 : 1;
    if (a->slot != b->slot) return a->slot < b->slot ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void reader_sort(struct reader *r)
{
    size_t n = 0;
    bool sorted = true;
    for (size_t i = 1; i < r->run_count; i++) sorted &= by_node(&r->runs[i - 1], &r->runs[i]) < 0;
    if (!sorted) qsort(r->runs, r->run_count, sizeof *r->runs, by_node);
    for (size_t i = 1; i < r->run_count; i++) {
        struct read_run *last = &r->runs[n];
        const struct read_run *x = &r->runs[i];
        if (x->local == last->local && x->slot == last->slot &&
            x->offset == last->offset + last->size && last->size <= UINT32_MAX - x->size)
            last->size += x->size;
        else r->runs[++n] = *x;
    }
    if (r->run_count) r->run_count = n + 1;
}

/* ---- the end of a CTA ------------------------------------------------------------------------- */

enum { MOST_KEPT = 1 << 12 }; /* blocks of a spare reader's table */

void reader_release(struct readers *all, struct reader *r)
{
    struct reader **at = &all->live;
    while (*at != r) at = &(*at)->next;
    *at = r->next;
    if (r->block_cap > MOST_KEPT) {
        all->memory -= r->block_cap * sizeof *r->blocks;
        free(r->blocks);
        r->blocks = NULL;
        r->block_cap = 0;
    } else if (r->block_count) memset(r->blocks, 0, r->block_cap * sizeof *r->blocks);
    r->block_count = r->run_count = 0;
    r->next = all->spare;
    all->spare = r;
}

static void free_list(struct reader *r)
{
    for (struct reader *next; r; r = next) {
        next = r->next;
        free(r->blocks);
        free(r->runs);
        free(r);
    }
}

void readers_free(struct readers *all)
{
    free_list(all->live);
    free_list(all->spare);
    *all = (struct readers){0};
}
