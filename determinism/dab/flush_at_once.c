/* A fast path of DAB: a flush at once, if no observer and no counter depends on arrival times (dab_net.at_once).
 *
 * The order in which partitions execute a flush follows from the buffers alone (determinism/hardware/flush.h). So the
 * reductions are sorted into that order and applied or, if all are of one commutative kind, applied unsorted. The
 * adversary draws the same random numbers as for the arrivals, so its later choices are the same. In a launch with
 * deferred reductions (emu/speculate/deferred.h) entries are kept by sectors of memory (sector_buffer.c). */
#include "determinism/dab/net.h"
#include "emu/atomic.h"

#include <string.h>

enum { WORD_BATCH = 128, PREFETCH = 8 };

/* ---- all at once -------------------------------------------------------------------------------------- */

/* Whether all entries are of one kind. */
static bool are_alike(const struct dab_net *n)
{
    const struct dab_entry *one = n->sent_buffer[0].from->entries;
    bool same = true;
    for (uint32_t i = 0; same && i < n->sent_count; i++) {
        const struct dab_buffer *b = n->sent_buffer[i].from;
        same = !b->mixed && b->entries->op == one->op && b->entries->type == one->type &&
               b->entries->width == one->width;
    }
    return same;
}

/* How many transactions the buffer makes. */
static uint32_t count_sectors(struct dab_net *n, const struct dab_buffer *b)
{
    uint32_t count = 0;
    if (!n->options->coalescing) return b->count;
    dab_net_clear_sectors(n, b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        bool is_new;
        dab_net_find_sector(n, b->entries[i].address, &is_new);
        count += is_new;
    }
    return count;
}

static void forget_places(struct dab_net *n)
{
    n->place_count = 0;
    n->first = dab_net_grow(n->first, 0, &n->first_cap, sizeof *n->first);
    n->first[0] = 0;
}

/* There are so many more at that place of queues. */
static inline void add_to_place(struct dab_net *n, uint32_t place, uint32_t count)
{
    if (place >= n->place_count) {
        n->first = dab_net_grow(n->first, place + 1, &n->first_cap, sizeof *n->first);
        for (; n->place_count <= place; n->place_count++) n->first[n->place_count + 1] = 0;
    }
    n->first[place + 1] += count;
}

/* Likewise. queue: of its SM by partition how many there are; of each entry from `at` on its transaction's place
 * there is noted, and of each place how many elements it has. */
static uint32_t pack(struct dab_net *n, const struct sent_buffer *s, uint32_t *partition_queue,
                     uint32_t at)
{
    const struct dab_buffer *const b = s->from;
    const uint32_t begin = dab_net_first_entry(n, s->sm, b);
    uint32_t *const place = n->place + at;
    uint32_t transactions = 0, last = 0;
    uint64_t sector = 0; /* of the entry before */
    const bool coalesces = n->options->coalescing;
    dab_net_clear_sectors(n, b->count);
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t e = i + begin < b->count ? i + begin : i + begin - b->count;
        const uint64_t address = b->entries[e].address;
        if (!coalesces || !i || address / DAB_SECTOR != sector) {
            bool is_new = true;
            struct sector_slot *f = coalesces ? dab_net_find_sector(n, address, &is_new) : NULL;
            last = is_new ? partition_queue[dab_net_partition_of(n, address)]++ : f->is;
            if (f) f->is = last;
            transactions += is_new;
            sector = address / DAB_SECTOR;
        }
        place[e] = last;
        add_to_place(n, last, b->entries[e].count);
    }
    return transactions;
}

/* What the adversary draws while they arrive, one of an SM by chance after the other. */
static void draw_arrivals(struct dab_net *n)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < n->active_count; i++) total += n->left[i];
    rng_below(n->random, total + 1); /* when the last pre-flush message comes */
    uint64_t random = *n->random;
    uint32_t active = n->active_count, *const left = n->left;
    while (active > 1) {
        const uint32_t i = rng_below(&random, active);
        if (!--left[i]) left[i] = left[--active];
    }
    *n->random = random;
}

/* Returns how many there are. */
static uint32_t add_elements(struct emu_reduction *to, const struct dab_buffer *b,
                             struct dab_entry *e)
{
    const uint8_t *data = dab_data(b, e);
    for (uint32_t k = 0; k < e->count; k++)
        to[k] = (struct emu_reduction){e->address + k * e->width, data + k * e->width, e->op,
                                       e->type};
    return e->count;
}

/* Where the elements of each place begin. Returns how many there are. */
static uint32_t find_firsts(struct dab_net *n)
{
    for (uint32_t p = 0; p < n->place_count; p++) n->first[p + 1] += n->first[p];
    return n->first[n->place_count];
}

/* Places in the queues one after the other, of each the SMs in turn: so partitions would do it. */
static void apply_by_partition(struct dab_net *n)
{
    const uint32_t total = find_firsts(n);
    n->list = dab_net_grow(n->list, total, &n->list_cap, sizeof *n->list);
    for (uint32_t i = 0, at = 0; i < n->sent_count; at += n->sent_buffer[i++].from->count) {
        struct dab_buffer *b = n->sent_buffer[i].from;
        const uint32_t begin = dab_net_first_entry(n, n->sent_buffer[i].sm, b);
        for (uint32_t k = 0; k < b->count; k++) {
            const uint32_t e = k + begin < b->count ? k + begin : k + begin - b->count;
            uint32_t *const to = &n->first[n->place[at + e]];
            *to += add_elements(n->list + *to, b, &b->entries[e]);
        }
    }
    emu_machine_reduce_all(n->m, n->list, total);
}

static void apply_commutative(struct dab_net *n)
{
    for (uint32_t i = 0; i < n->sent_count; i++) {
        struct dab_buffer *b = n->sent_buffer[i].from;
        const struct dab_entry *one = b->entries;
        uint32_t total = 0;
        if (one->count == 1) { /* and of 8 bytes at most */
            emu_machine_reduce_each(n->m, one->op, one->type, &one->address, one->data, sizeof *one,
                                    b->count);
            continue;
        }
        n->list = dab_net_grow(n->list, b->count * one->count, &n->list_cap, sizeof *n->list);
        for (uint32_t e = 0; e < b->count; e++)
            total += add_elements(n->list + total, b, &b->entries[e]);
        emu_machine_reduce_all(n->m, n->list, total);
    }
}

static void flush_entries(struct dab_net *n)
{
    const struct dab_entry *const one = n->sent_buffer[0].from->entries;
    const bool alike = are_alike(n), commute = alike && atomic_commutes(one->op, one->type);
    uint32_t *const partition_queue = commute ? NULL : n->queued;
    uint32_t sm = NONE, entries = 0;
    for (uint32_t i = 0; i < n->sent_count; i++) entries += n->sent_buffer[i].from->count;
    if (partition_queue)
        n->place = dab_net_grow(n->place, entries, &n->place_cap, sizeof *n->place);
    forget_places(n);
    for (uint32_t i = 0, at = 0; i < n->sent_count; at += n->sent_buffer[i++].from->count) {
        if (n->sent_buffer[i].sm != sm) {
            sm = n->sent_buffer[i].sm;
            n->left[n->active_count++] = 0;
            if (partition_queue)
                memset(partition_queue, 0, n->options->partitions * sizeof *partition_queue);
        }
        n->left[n->active_count - 1] += partition_queue
                                            ? pack(n, &n->sent_buffer[i], partition_queue, at)
                                            : count_sectors(n, n->sent_buffer[i].from);
    }
    draw_arrivals(n);
    n->active_count = 0;
    if (commute) apply_commutative(n);
    else apply_by_partition(n);
}

/* ---- by sectors: each one is a transaction, or goes with that of the one before it ---------------------- */

/* Words of one kind that are to be done. */
struct word_batch {
    uint16_t kind;
    uint32_t count;
    void *memory[WORD_BATCH]; /* on the host */
    const void *operands[WORD_BATCH];
};

static void apply_words(struct word_batch *s)
{
    if (s->count)
        atomic_function_each(dab_op_of(s->kind), dab_type_of(s->kind))(s->memory, s->operands,
                                                                       s->count);
    s->count = 0;
}

/* Where on the host the bytes of an address are; NULL: they are gone. */
static inline void *host_of(struct dab_net *n, struct emu_host_range *m, uint64_t address,
                            uint32_t size)
{
    const bool is_there = m->size >= size && address - m->low <= m->size - size;
    if (!is_there && !emu_machine_allocation(n->m, address, size, m)) return NULL;
    return m->host + (address - m->low);
}

static void add_words(struct dab_net *n, struct word_batch *s, struct emu_host_range *m,
                      const struct dab_sector *r)
{
    const uint32_t size = r->is.width, bits = (1u << size / 4) - 1;
    if (s->kind != r->is.kind || s->count > WORD_BATCH - DAB_SECTOR / 4) apply_words(s);
    s->kind = r->is.kind;
    for (uint32_t left = r->is.has, k; left; left &= ~(bits << k)) {
        k = (uint32_t)__builtin_ctz(left);
        void *const to = host_of(n, m, r->sector * DAB_SECTOR + k * 4, size);
        if (!to) continue;
        __builtin_prefetch(to, 1);
        s->memory[s->count] = to;
        s->operands[s->count++] = r->data + k * 4;
    }
}

/* In the order in which partitions would do it, into n->order. Returns how many there are. */
static uint32_t sort_sectors(struct dab_net *n)
{
    uint32_t sm = NONE, total = 0;
    for (uint32_t i = 0; i < n->sent_count; i++) total += n->sent_buffer[i].from->sector_count;
    n->place = dab_net_grow(n->place, total, &n->place_cap, sizeof *n->place);
    n->order = dab_net_grow(n->order, total, &n->order_cap, sizeof *n->order);
    forget_places(n);
    for (uint32_t i = 0, at = 0; i < n->sent_count; at += n->sent_buffer[i++].from->sector_count) {
        const struct dab_buffer *const b = n->sent_buffer[i].from;
        if (n->sent_buffer[i].sm != sm)
            memset(n->queued, 0, n->options->partitions * sizeof *n->queued);
        sm = n->sent_buffer[i].sm;
        for (uint32_t k = 0; k < b->sector_count; k++) {
            const struct dab_sector *const r = &b->sectors[1 + k];
            n->place[at + k] = r->is.before
                                   ? n->place[at + r->is.before - 1]
                                   : n->queued[dab_net_partition_of(n, r->sector * DAB_SECTOR)]++;
            add_to_place(n, n->place[at + k], 1);
        }
    }
    find_firsts(n);
    for (uint32_t i = 0, at = 0; i < n->sent_count; at += n->sent_buffer[i++].from->sector_count)
        for (uint32_t k = 0; k < n->sent_buffer[i].from->sector_count; k++)
            n->order[n->first[n->place[at + k]]++] = &n->sent_buffer[i].from->sectors[1 + k];
    return total;
}

/* Whether all are of one kind that may come in any order. */
static bool sectors_commute(const struct dab_net *n)
{
    const uint16_t kind = n->sent_buffer[0].from->kind;
    bool same = atomic_commutes(dab_op_of(kind), dab_type_of(kind));
    for (uint32_t i = 0; same && i < n->sent_count; i++)
        same = !n->sent_buffer[i].from->mixed && n->sent_buffer[i].from->kind == kind;
    return same;
}

static void flush_sectors(struct dab_net *n)
{
    struct emu_host_range memory = {0};
    struct word_batch some;
    some.kind = 0;
    some.count = 0;
    if (sectors_commute(n)) {
        for (uint32_t i = 0; i < n->sent_count; i++)
            for (uint32_t k = 0; k < n->sent_buffer[i].from->sector_count; k++)
                add_words(n, &some, &memory, &n->sent_buffer[i].from->sectors[1 + k]);
    } else {
        const uint32_t count = sort_sectors(n);
        for (uint32_t i = 0; i < count; i++) {
            if (i + PREFETCH < count) __builtin_prefetch(n->order[i + PREFETCH]);
            add_words(n, &some, &memory, n->order[i]);
        }
    }
    apply_words(&some);
}

void dab_net_flush_at_once(struct dab_net *n)
{
    if (n->by_sector) flush_sectors(n);
    else flush_entries(n);
}
