/* DAB's atomic buffer with fusion (MICRO 2020, sections IV-B and IV-E).
 *
 * Entries are found by their block of memory. A block has the size of the entries if all have the same size, else 16
 * bytes; no entry is in two blocks. A reduction is fused with an earlier one of the same address, operation and type,
 * unless an entry of another kind that overlaps both was added between them: then the order of the three matters. add,
 * min, max, and, or, xor and exch fuse; of two exch the later one remains. inc, dec and compare-and-swap depend on the
 * contents of memory and do not fuse.
 *
 * dab.c adds entries and clears buffers; flush.c reads them. */
#include "base/rng.h"
#include "determinism/dab/internal.h"
#include "emu/atomic.h"

#include <stdlib.h>
#include <string.h>

enum { WIDEST = 4, FEW = 16, NEW_VALUE = 32 }; /* WIDEST: 16 bytes */

static bool can_fuse(uint8_t op)
{
    return op != ATOMIC_INC && op != ATOMIC_DEC && op != ATOMIC_CAS;
}

static uint32_t hash(uint64_t place)
{
    return (uint32_t)((place * RNG_STEP) >> 32);
}

static uint32_t home_of(const struct dab_buffer *b, uint64_t address)
{
    return hash(address >> b->grain) & (b->slots - 1);
}

static uint32_t find_place(const struct dab_buffer *b, uint64_t address)
{
    uint32_t i = home_of(b, address);
    while (b->table[i] && (b->entries[b->table[i] - 1].address ^ address) >> b->grain)
        i = (i + 1) & (b->slots - 1);
    return i;
}

/* The entry that a reduction is fused with; DAB_NONE: it needs one of its own, and *unlike says whether it
 * overlaps one of another kind. *place: where the table has what lies there. */
static int32_t find_fusion(const struct dab_buffer *b, const struct emu_access *a, uint64_t address,
                           uint32_t *place, bool *order_matters)
{
    const uint32_t size = (uint32_t)a->width * a->count;
    *order_matters = false;
    *place = find_place(b, address);
    for (int32_t i = (int32_t)b->table[*place] - 1; i >= 0; i = b->entries[i].before) {
        const struct dab_entry *e = &b->entries[i];
        if (e->address >= address + size || address >= e->address + (uint32_t)e->width * e->count)
            continue;
        const bool same = e->address == address && e->op == a->op && e->type == a->type &&
                          e->count == a->count;
        *order_matters = !same || !can_fuse(a->op) || a->op == ATOMIC_EXCH;
        return same && can_fuse(a->op) ? i : DAB_NONE;
    }
    return DAB_NONE;
}

static void *resize(void *p, size_t size)
{
    p = realloc(p, size);
    if (!p) abort();
    return p;
}

/* Finds all entries anew. */
static void fill_table(struct dab_buffer *b)
{
    memset(b->table, 0, b->slots * sizeof *b->table);
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t at = find_place(b, b->entries[i].address);
        b->entries[i].before = (int32_t)b->table[at] - 1;
        b->table[at] = i + 1;
    }
}

/* Memory for the lanes of a warp, `size` bytes each. */
static void reserve(struct dab_buffer *b, uint32_t size, bool wide)
{
    const uint32_t grain = (uint32_t)__builtin_ctz(size);
    const bool regrain = b->count && grain != b->grain && b->grain != WIDEST;
    if (!b->count) b->grain = grain;
    else if (regrain) b->grain = WIDEST;
    if (b->count + LANES > b->cap) {
        b->cap = b->cap ? 2 * b->cap : 2 * LANES;
        b->entries = resize(b->entries, b->cap * sizeof *b->entries);
        if (b->wide) b->wide = resize(b->wide, b->cap * sizeof *b->wide);
    }
    if (wide && !b->wide) b->wide = resize(NULL, b->cap * sizeof *b->wide);
    if (b->issuer_count == b->issuer_cap) {
        b->issuer_cap = b->issuer_cap ? 2 * b->issuer_cap : 8;
        b->issuers = resize(b->issuers, b->issuer_cap * sizeof *b->issuers);
    }
    const bool grows = b->slots < 2 * b->cap;
    if (grows) {
        b->slots = 2 * b->cap;
        b->table = resize(b->table, b->slots * sizeof *b->table);
    }
    if (grows || regrain) fill_table(b);
}

static void fuse_into(const struct dab_buffer *b, struct dab_entry *e, atomic_fn *apply,
                      const uint8_t *operand)
{
    uint8_t *data = dab_data(b, e);
    for (uint32_t k = 0; k < e->count; k++)
        apply(data + k * e->width, operand + k * e->width, NULL, NULL);
}

static void set_kind(const struct dab_buffer *b, struct dab_entry *e, const struct emu_access *a)
{
    e->op = a->op;
    e->type = a->type;
    e->width = a->width;
    e->count = a->count;
    e->issuer = b->issuer_count;
    e->before = DAB_NONE;
}

/* An entry without data. */
static void append(struct dab_buffer *b, const struct emu_access *a, uint64_t address,
                   uint32_t place)
{
    struct dab_entry *e = &b->entries[b->count];
    set_kind(b, e, a);
    e->address = address;
    e->before = (int32_t)b->table[place] - 1;
    b->table[place] = ++b->count;
}

/* `place`: of the entries from `count` on. */
static void remove_entries(struct dab_buffer *b, uint32_t count, const uint32_t *place)
{
    while (b->count > count) {
        const struct dab_entry *e = &b->entries[--b->count];
        b->table[place[b->count - count]] = (uint32_t)(e->before + 1);
    }
}

static void fill(const struct dab_buffer *b, struct dab_entry *e, const uint8_t *operand)
{
    const uint32_t size = (uint32_t)e->width * e->count;
    uint8_t *data = dab_data(b, e);
    if (size == 4) memcpy(data, operand, 4);
    else memcpy(data, operand, size);
    if (e->op == ATOMIC_CAS) memcpy(data + NEW_VALUE, operand + NEW_VALUE, size);
}

static bool is_same_kind(const struct dab_entry *e, const struct emu_access *a)
{
    return e->op == a->op && e->type == a->type && e->width == a->width && e->count == a->count;
}

/* Whether all that there is and comes is of one kind that fuses, and of one word or two: what meets at an address is one
 * entry, and none overlaps another. */
static bool all_fuse(const struct dab_buffer *b, const struct emu_access *a)
{
    if (a->count != 1 || (a->width != 4 && a->width != 8)) return false;
    if (!can_fuse(a->op) || a->op == ATOMIC_EXCH) return false;
    return !b->count || (!b->mixed && is_same_kind(b->entries, a));
}

/* Where the table has each lane's address, or would, and what is there; returns those that have no entry. Nothing here
 * waits for another lane, and the host need not guess which they are. */
static uint32_t find_lanes(const struct dab_buffer *b, const struct emu_access *a,
                           uint32_t place[LANES], uint32_t entry[LANES])
{
    const uint32_t last = b->slots - 1, grain = b->grain;
    const uint32_t *const table = b->table;
    const struct dab_entry *const entries = b->entries;
    uint32_t missing = 0;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        const uint64_t address = a->address[l];
        uint32_t i = hash(address >> grain) & last, there = table[i];
        while ((entries[there - (there != 0)].address ^ address) & -(uint64_t)(there != 0)) {
            i = (i + 1) & last;
            there = table[i];
        }
        place[l] = i;
        entry[l] = there;
        missing |= (uint32_t)!there << l;
    }
    return missing;
}

/* dab_buffer_add's, where it is simple. */
static bool add_fusing(struct dab_buffer *b, const struct emu_access *a, uint32_t most)
{
    const uint32_t before = b->count, last = b->slots - 1;
    uint32_t place[LANES], entry[LANES], at[LANES], again = 0;
    void *with[LANES];
    const void *from[LANES];
    uint32_t missing = find_lanes(b, a, place, entry), fuses = a->lanes & ~missing;
    for (; missing; missing &= missing - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(missing);
        const uint64_t address = a->address[l];
        uint32_t i = place[l];
        while (b->table[i] && b->entries[b->table[i] - 1].address != address) i = (i + 1) & last;
        if ((entry[l] = b->table[i])) { /* of a lower lane */
            fuses |= 1u << l;
            continue;
        }
        if (b->count == most) {
            while (b->count > before) b->table[at[--b->count - before]] = 0;
            return false;
        }
        struct dab_entry *const e = &b->entries[b->count];
        at[b->count - before] = i;
        b->table[i] = ++b->count;
        e->address = address;
        set_kind(b, e, a);
        fill(b, e, a->data + (size_t)a->stride * l);
    }
    for (; fuses; fuses &= fuses - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(fuses);
        with[again] = b->entries[entry[l] - 1].data;
        from[again++] = a->data + (size_t)a->stride * l;
    }
    if (again) atomic_function_each(a->op, a->type)(with, from, again);
    return true;
}

bool dab_buffer_add(struct dab_buffer *b, const struct emu_access *a, uint32_t most, bool fuse,
                    uint32_t *fused)
{
    const uint32_t before = b->count, need = (uint32_t)__builtin_popcount(a->lanes);
    const bool order_mattered = b->order_matters;
    int32_t with[LANES];
    uint32_t at[LANES]; /* the places of new entries */
    if (atomic_buffer_fits(before, before + need, most)) most = before + need;
    else if (!fuse) return false;
    reserve(b, (uint32_t)a->width * a->count, dab_is_wide(a->op, (uint32_t)a->width * a->count));
    if (fuse && all_fuse(b, a)) {
        if (!add_fusing(b, a, most)) return false;
        if (b->count > before) b->issuers[b->issuer_count++] = emu_issuer(a);
        *fused = need - (b->count - before);
        return true;
    }
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        uint32_t place;
        bool order_matters;
        with[l] = find_fusion(b, a, a->address[l], &place, &order_matters);
        if (with[l] >= 0 && fuse) continue;
        if (b->count == most) {
            remove_entries(b, before, at);
            b->order_matters = order_mattered;
            return false;
        }
        with[l] = DAB_NONE;
        b->order_matters |= order_matters;
        at[b->count - before] = place;
        append(b, a, a->address[l], place);
    }
    atomic_fn *const apply = atomic_function(a->op, a->type);
    uint32_t own = before;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        const uint8_t *operand = a->data + (size_t)a->stride * l;
        if (with[l] >= 0) fuse_into(b, &b->entries[with[l]], apply, operand);
        else fill(b, &b->entries[own++], operand);
    }
    b->mixed |= before && !is_same_kind(b->entries, a);
    if (b->count > before) b->issuers[b->issuer_count++] = emu_issuer(a);
    *fused = need - (b->count - before);
    return true;
}

void dab_buffer_clear(struct dab_buffer *b)
{
    if (b->slots < FEW * b->count) memset(b->table, 0, b->slots * sizeof *b->table);
    else
        for (uint32_t i = 0; i < b->count; i++) {
            /* every entry's place, or one that was emptied before and stopped the search */
            uint32_t p = home_of(b, b->entries[i].address);
            for (; b->table[p]; p = (p + 1) & (b->slots - 1)) b->table[p] = 0;
        }
    b->count = b->issuer_count = 0;
    b->order_matters = b->mixed = false;
}

uint32_t dab_next_holding(const struct dab_store *s, uint32_t at, uint32_t until)
{
    while (at < until) {
        const uint64_t rest = s->holding[at / 64] >> at % 64;
        if (rest) at += (uint32_t)__builtin_ctzll(rest);
        if (rest) break;
        at = (at | 63) + 1;
    }
    return at < until ? at : until;
}

static void *copy_of(const void *p, size_t size)
{
    return p ? memcpy(resize(NULL, size ? size : 1), p, size) : NULL;
}

struct dab_buffer *dab_buffer_copy(const struct dab_buffer *b)
{
    struct dab_buffer *c = copy_of(b, sizeof *b);
    c->entries = copy_of(b->entries, b->count * sizeof *b->entries);
    c->wide = copy_of(b->wide, b->count * sizeof *b->wide);
    c->issuers = copy_of(b->issuers, b->issuer_count * sizeof *b->issuers);
    c->table = NULL;
    c->sectors = NULL;
    return c;
}

void dab_buffer_free(struct dab_buffer *b)
{
    free(b->entries);
    free(b->wide);
    free(b->issuers);
    free(b->table);
    free(b->sectors);
    *b = (struct dab_buffer){0};
}
