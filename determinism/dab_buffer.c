/* Buffers of dab.
 *
 * Entries are found by the 16 bytes of memory that they lie in, which none crosses. A reduction is fused with an
 * earlier one of the same address, operation and type unless one of another kind that overlaps both came between:
 * then the order of the three counts. What fuses: add, min, max, and, or, xor, and exch, of which the later one
 * stays. inc, dec and compare-and-swap depend on what memory holds and stay apart. */
#include "determinism/dab_parts.h"
#include "emu/atomic.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE = 16 };

static bool can_fuse(uint8_t op)
{
    return op != ATOMIC_INC && op != ATOMIC_DEC && op != ATOMIC_CAS;
}

static uint32_t place_of(const struct dab_buffer *b, uint64_t address)
{
    const uint64_t place = address / PLACE;
    uint32_t i = (uint32_t)((place * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (b->slots - 1);
    while (b->table[i] && b->entries[b->table[i] - 1].address / PLACE != place)
        i = (i + 1) & (b->slots - 1);
    return i;
}

/* The entry that a reduction is fused with; DAB_NONE: it needs one of its own, and *unlike says whether it
 * overlaps one of another kind. */
static int32_t partner(const struct dab_buffer *b, const struct emu_access *a, uint64_t address,
                       bool *unlike)
{
    const uint32_t size = (uint32_t)a->width * a->count;
    *unlike = false;
    if (!b->slots) return DAB_NONE;
    for (int32_t i = (int32_t)b->table[place_of(b, address)] - 1; i >= 0;
         i = b->entries[i].before) {
        const struct dab_entry *e = &b->entries[i];
        if (e->address >= address + size || address >= e->address + (uint32_t)e->width * e->count)
            continue;
        const bool same = e->address == address && e->op == a->op && e->type == a->type &&
                          e->count == a->count;
        *unlike = !same || !can_fuse(a->op) || a->op == ATOMIC_EXCH;
        return same && can_fuse(a->op) ? i : DAB_NONE;
    }
    return DAB_NONE;
}

bool dab_buffer_fits(const struct dab_buffer *b, const struct emu_access *a, uint32_t most,
                     bool fuse)
{
    uint32_t need = (uint32_t)__builtin_popcount(a->lanes);
    if (b->count + need <= most || !b->count) return true;
    if (!fuse) return false;
    need = 0;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)];
        bool unlike, own = partner(b, a, at, &unlike) == DAB_NONE;
        for (uint32_t k = a->lanes; own && can_fuse(a->op) && (k & -k) != (m & -m); k &= k - 1)
            own = a->address[__builtin_ctz(k)] != at;
        need += own;
    }
    return b->count + need <= most;
}

static void grow(struct dab_buffer *b)
{
    b->cap = b->cap ? 2 * b->cap : 64;
    b->entries = realloc(b->entries, b->cap * sizeof *b->entries);
    free(b->table);
    b->slots = 4 * b->cap;
    b->table = calloc(b->slots, sizeof *b->table);
    if (!b->entries || !b->table) abort();
    for (uint32_t i = 0; i < b->count; i++) b->table[place_of(b, b->entries[i].address)] = i + 1;
}

static void fuse_into(struct dab_entry *e, const uint8_t *operand)
{
    for (uint32_t k = 0; k < e->count; k++)
        atomic_apply(e->op, e->type, e->data + k * e->width, operand + k * e->width, NULL, NULL);
}

uint32_t dab_buffer_add(struct dab_buffer *b, const struct emu_access *a, bool fuse)
{
    uint32_t fused = 0;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m), size = (uint32_t)a->width * a->count;
        const uint8_t *operand = a->data + (size_t)a->stride * l;
        bool unlike;
        const int32_t with = partner(b, a, a->address[l], &unlike);
        if (with >= 0 && fuse) {
            fuse_into(&b->entries[with], operand);
            fused++;
            continue;
        }
        b->unlike |= unlike;
        if (b->count == b->cap) grow(b);
        struct dab_entry *e = &b->entries[b->count];
        *e = (struct dab_entry){.address = a->address[l],
                                .op = a->op,
                                .type = a->type,
                                .width = a->width,
                                .count = a->count,
                                .by = emu_author(a)};
        memcpy(e->data, operand, size);
        if (a->op == ATOMIC_CAS) memcpy(e->data + 16, operand + 32, size);
        uint32_t *place = &b->table[place_of(b, e->address)];
        e->before = (int32_t)*place - 1;
        *place = ++b->count;
    }
    return fused;
}

void dab_buffer_clear(struct dab_buffer *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        /* every entry's place, or one that was emptied before and stopped the search */
        uint32_t p = (uint32_t)((b->entries[i].address / PLACE * UINT64_C(0x9e3779b97f4a7c15)) >>
                                32) &
                     (b->slots - 1);
        for (; b->table[p]; p = (p + 1) & (b->slots - 1)) b->table[p] = 0;
    }
    b->count = 0;
    b->unlike = false;
}

void dab_buffer_free(struct dab_buffer *b)
{
    free(b->entries);
    free(b->table);
    *b = (struct dab_buffer){0};
}
