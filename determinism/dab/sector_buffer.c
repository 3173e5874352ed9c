/* A fast path of DAB's atomic buffer: entries by sectors of memory, for launches with deferred reductions
 * (emu/speculate/deferred.h). In these no events are counted, all reductions are of words of 4 or 8 bytes, and the
 * entries of a sector share one transaction: so the order of entries of different words does not matter.
 *
 * A record has entries of one sector and one kind, at most one of each word. An entry that must stay after another
 * entry of its word, and cannot be fused with that entry, goes to a later record. flush_at_once.c executes records. */
#include "base/rng.h"
#include "determinism/dab/internal.h"
#include "emu/atomic.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 16, WORD = 4 };
static_assert(sizeof(struct dab_sector) == 48, "nothing in between");

static inline uint32_t hash(uint64_t sector)
{
    return (uint32_t)((sector * RNG_STEP) >> 32);
}

/* Where the index has a sector, or would: there is the record that none is, and it is said to be of that sector. The host
 * need not guess whether it is there. */
static inline uint32_t find_place(const struct dab_index *x, struct dab_sector *records,
                                  uint64_t sector)
{
    const uint32_t last = x->slots - 1;
    const uint32_t *const table = x->table;
    uint32_t i = hash(sector) & last;
    records[0].sector = sector;
    while (records[table[i]].sector != sector) i = (i + 1) & last;
    return i;
}

static void *resize(void *p, size_t size)
{
    p = realloc(p, size);
    if (!p) abort();
    return p;
}

static void clear_index(struct dab_index *x)
{
    const struct dab_buffer *const b = x->of;
    if (x->slots < FEW * b->sector_count) memset(x->table, 0, x->slots * sizeof *x->table);
    else
        for (uint32_t i = 1; i <= b->sector_count; i++) {
            /* every record's place, or one that was emptied before and stopped the search */
            uint32_t p = hash(b->sectors[i].sector) & (x->slots - 1);
            for (; x->table[p]; p = (p + 1) & (x->slots - 1)) x->table[p] = 0;
        }
    x->of = NULL;
}

/* For the lanes of a warp, and one more that is written to in vain, in the buffer and its index. */
static void reserve(struct dab_buffer *b, struct dab_index *x)
{
    if (b->sector_count + LANES > b->sector_cap) {
        b->sector_cap = b->sector_cap ? 2 * b->sector_cap : 4 * LANES;
        b->sectors = resize(b->sectors, (1 + b->sector_cap) * sizeof *b->sectors);
    }
    if (x->of == b && x->slots >= 2 * b->sector_cap) return;
    if (x->of) clear_index(x);
    if (x->slots < 2 * b->sector_cap) {
        x->slots = 2 * b->sector_cap;
        x->table = resize(x->table, x->slots * sizeof *x->table);
        memset(x->table, 0, x->slots * sizeof *x->table);
    }
    x->of = b;
    for (uint32_t i = 1; i <= b->sector_count; i++)
        x->table[find_place(x, b->sectors, b->sectors[i].sector)] = i;
}

/* Where the lanes of a warp go. */
struct lanes {
    const struct emu_access *a;
    struct dab_record is; /* a new one of their kind, without entries */
    uint32_t count;
    uint32_t free;  /* entries that may be added */
    uint32_t fresh; /* have an entry of their own, with their operand in it; */
    uint32_t fused; /* so many others are to be fused */
    void *with[LANES];
    const void *operands[LANES];
};

static uint32_t bits_of(uint64_t address, uint32_t width)
{
    return ((1u << width / WORD) - 1) << address % DAB_SECTOR / WORD;
}

/* Whether there is no entry: then there is now, with the operand in it. */
static inline __attribute__((always_inline)) uint32_t
put_word(struct dab_sector *r, uint64_t address, const uint8_t *operand, uint32_t width)
{
    const uint32_t offset = address % DAB_SECTOR, bit = offset / WORD, has = r->is.has,
                   is_fresh = ~(has >> bit) & 1;
    uint64_t mine = 0, there = 0;
    memcpy(&mine, operand, width);
    memcpy(&there, r->data + offset, width);
    mine ^= (mine ^ there) & ((uint64_t)is_fresh - 1);
    memcpy(r->data + offset, &mine, width);
    r->is.has = (uint8_t)(has | bits_of(address, width));
    return is_fresh;
}

/* All is of one kind, which fuses. Nothing here waits for another lane, and the host need not guess which of them are in
 * new records, or fused. */
static inline __attribute__((always_inline)) void
add_same_kind(struct dab_buffer *b, struct dab_index *x, struct lanes *l, uint32_t width)
{
    const uint32_t lanes = l->count, most = l->free;
    const uint64_t *const addresses = l->a->address;
    const uint8_t *operand = l->a->data;
    const struct dab_record is = l->is;
    struct dab_sector *const records = b->sectors;
    uint32_t *const table = x->table;
    uint32_t next = b->sector_count + 1, fresh = 0, fused = 0;
    for (uint32_t lane = 0; lane < lanes; lane++, operand += width) {
        const uint64_t address = addresses[lane], sector = address / DAB_SECTOR;
        const uint32_t i = find_place(x, records, sector), there = table[i],
                       is_new = -(uint32_t)!there, at = there | (next & is_new);
        struct dab_sector *const r = &records[at];
        records[next].sector = sector;
        records[next].is = is;
        table[i] = at;
        next -= is_new;
        const uint32_t is_fresh = put_word(r, address, operand, width);
        fresh |= is_fresh << lane;
        l->with[fused] = r->data + address % DAB_SECTOR;
        l->operands[fused] = operand;
        fused += is_fresh ^ 1;
        if (lane >= most + fused) break;
    }
    b->sector_count = next - 1;
    l->fresh = fresh;
    l->fused = fused;
}

/* Of the sector's records the one for a lane's entry: that of the entry it is fused with, or one in which nothing is of its
 * word, nor behind it. NULL: a new one. */
static struct dab_sector *record_for(const struct dab_buffer *b, const struct lanes *l,
                                     uint32_t latest, uint32_t bits, bool fuses)
{
    struct dab_sector *fits = NULL;
    for (uint32_t i = latest; i; i = b->sectors[i].is.before) {
        struct dab_sector *const r = &b->sectors[i];
        if (r->is.has & bits) return fuses && r->is.kind == l->is.kind ? r : fits;
        if (r->is.kind == l->is.kind) fits = r;
        if (!fuses) break;
    }
    return fits;
}

static void add_any_kind(struct dab_buffer *b, const struct dab_index *x, struct lanes *l,
                         bool fuses)
{
    const uint32_t width = l->a->width;
    for (uint32_t lane = 0; lane < l->count; lane++) {
        const uint64_t address = l->a->address[lane], sector = address / DAB_SECTOR;
        const uint32_t i = find_place(x, b->sectors, sector), latest = x->table[i];
        struct dab_sector *r = record_for(b, l, latest, bits_of(address, width), fuses);
        if (!r) {
            r = &b->sectors[++b->sector_count];
            r->sector = sector;
            r->is = l->is;
            r->is.before = latest;
            x->table[i] = b->sector_count;
        }
        const uint8_t *const operand = l->a->data + (size_t)lane * width;
        if (width == 4 ? put_word(r, address, operand, 4) : put_word(r, address, operand, 8)) {
            l->fresh |= 1u << lane;
            if (lane >= l->free + l->fused) break;
            continue;
        }
        l->with[l->fused] = r->data + address % DAB_SECTOR;
        l->operands[l->fused++] = operand;
    }
}

/* The last first: of a word it is in the latest record that has it, and a record that has nothing left is the last. */
static void remove_words(struct dab_buffer *b, const struct dab_index *x, const struct lanes *l)
{
    for (uint32_t left = l->fresh, lane; left; left &= ~(1u << lane)) {
        lane = LANES - 1 - (uint32_t)__builtin_clz(left);
        const uint64_t address = l->a->address[lane];
        const uint32_t i = find_place(x, b->sectors, address / DAB_SECTOR),
                       bits = bits_of(address, l->a->width);
        struct dab_sector *r = &b->sectors[x->table[i]];
        while (!(r->is.has & bits)) r = &b->sectors[r->is.before];
        r->is.has &= (uint8_t)~bits;
        if (r->is.has) continue;
        x->table[i] = r->is.before;
        b->sector_count--;
    }
}

bool dab_sectors_add(struct dab_buffer *b, struct dab_index *x, const struct emu_access *a,
                     uint32_t most, bool fuse)
{
    const bool fuses = fuse && a->op != ATOMIC_INC && a->op != ATOMIC_DEC;
    struct lanes l;
    l.a = a;
    l.is = (struct dab_record){.kind = dab_kind_of(a->op, a->type), .width = a->width};
    l.count = emu_lanes_of(a->lanes);
    l.free = b->count && b->count <= most ? most - b->count : l.count;
    l.fresh = l.fused = 0;
    if (b->count && !fuse ? b->count + l.count > most : !fuses && l.count > l.free) return false;
    if (!b->count) b->kind = l.is.kind;
    reserve(b, x);
    const bool alike = b->kind == l.is.kind;
    if (!fuses || !alike || b->mixed) add_any_kind(b, x, &l, fuses);
    else if (a->width == 4) add_same_kind(b, x, &l, 4);
    else add_same_kind(b, x, &l, 8);
    const uint32_t more = emu_lanes_of(l.fresh);
    if (more > l.free) {
        remove_words(b, x, &l);
        return false;
    }
    b->mixed |= !fuses || !alike;
    b->count += more;
    if (l.fused) atomic_function_each(a->op, a->type)(l.with, l.operands, l.fused);
    return true;
}

void dab_sectors_clear(struct dab_buffer *b, struct dab_index *x)
{
    if (x->of == b) clear_index(x);
    b->count = b->sector_count = 0;
    b->mixed = false;
}
