/* The last writer of each byte (shadow.h). */
#include "determinism/communication/shadow.h"

#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

void shadow_free(struct shadow *s)
{
    for (size_t i = 0; i < s->chunk_count; i++) pages_free(s->chunks[i], sizeof **s->chunks);
    free((void *)s->chunks);
    free(s->records);
    *s = (struct shadow){0};
}

struct shadow_chunk *shadow_chunk_new(struct shadow *s, uint64_t offset)
{
    const uint64_t i = offset >> SHADOW_CHUNK_BITS;
    if (i >= s->chunk_count) {
        const size_t count = i + 1 > 2 * s->chunk_count ? i + 1 : 2 * s->chunk_count;
        struct shadow_chunk **more = realloc((void *)s->chunks, count * sizeof *more);
        if (!more) abort();
        memset((void *)(more + s->chunk_count), 0, (count - s->chunk_count) * sizeof *more);
        s->chunks = more;
        s->chunk_count = count;
    }
    return s->chunks[i] = pages_new(sizeof **s->chunks, PAGES_SPARSE);
}

/* ---- words whose bytes have different writers ------------------------------------------------- */

static uint64_t record_new(struct shadow *s, uint64_t slot)
{
    uint32_t i = s->free_record;
    if (i) s->free_record = (uint32_t)s->records[--i][0];
    else {
        if (s->record_count == s->record_cap) {
            s->record_cap = s->record_cap ? 2 * s->record_cap : 256;
            s->records = realloc(s->records, s->record_cap * sizeof *s->records);
            if (!s->records) abort();
        }
        i = s->record_count++;
    }
    for (int b = 0; b < 4; b++) s->records[i][b] = slot;
    return SLOT_SPLIT << 32 | i;
}

static void record_free(struct shadow *s, uint32_t i)
{
    s->records[i][0] = s->free_record;
    s->free_record = i + 1;
}

/* One slot again, if all four are alike. */
static void record_join(struct shadow *s, uint64_t *slot)
{
    const uint32_t i = (uint32_t)*slot;
    const uint64_t *r = s->records[i];
    if (r[0] != r[1] || r[0] != r[2] || r[0] != r[3]) return;
    *slot = r[0];
    record_free(s, i);
}

uint64_t shadow_byte(struct shadow *s, uint64_t offset)
{
    const uint64_t slot = *shadow_slot(s, offset);
    return slot_is_split(slot) ? s->records[(uint32_t)slot][offset % 4] : slot;
}

/* ---- writes ----------------------------------------------------------------------------------- */

static void touch(struct shadow *s, struct shadow_chunk *c, uint64_t offset)
{
    const uint64_t page = offset % SHADOW_CHUNK / SHADOW_PAGE;
    if (c->touched[page / 64] >> page % 64 & 1) return;
    c->touched[page / 64] |= UINT64_C(1) << page % 64;
    s->pages++;
}

/* A word whose bytes have different writers. */
static void lose_word(struct shadow *s, uint64_t slot, shadow_lost *lost, void *self)
{
    for (int b = 0; b < 4; b++) lost(self, s->records[(uint32_t)slot][b], 1);
    record_free(s, (uint32_t)slot);
}

/* Bytes of one word, not all of them. */
static void write_bytes(struct shadow *s, uint64_t *slot, uint32_t first, uint32_t count,
                        uint64_t by, shadow_lost *lost, void *self)
{
    if (*slot == by) {
        lost(self, by, count);
        return;
    }
    if (!slot_is_split(*slot)) *slot = record_new(s, *slot);
    uint64_t *r = s->records[(uint32_t)*slot];
    for (uint32_t b = first; b < first + count; b++) {
        lost(self, r[b], 1);
        r[b] = by;
    }
    record_join(s, slot);
}

void shadow_write(struct shadow *s, uint64_t offset, uint64_t size, uint64_t slot,
                  shadow_lost *lost, void *self)
{
    const uint64_t end = offset + size;
    uint64_t before = SLOT_INITIAL; /* words with this slot were replaced, of so many bytes */
    uint32_t bytes = 0;
    while (offset < end) {
        struct shadow_chunk *c = shadow_chunk(s, offset);
        touch(s, c, offset);
        const uint64_t edge = offset / SHADOW_PAGE * SHADOW_PAGE + SHADOW_PAGE;
        const uint64_t stop = end < edge ? end : edge;
        while (offset < stop) {
            uint64_t *at = &c->slots[offset % SHADOW_CHUNK / 4];
            const uint32_t first = (uint32_t)(offset % 4);
            if (!first && stop - offset >= 4) {
                if (slot_is_split(*at)) lose_word(s, *at, lost, self);
                else if (*at != before || bytes >= UINT32_MAX / 2) {
                    if (bytes) lost(self, before, bytes);
                    before = *at;
                    bytes = 4;
                } else bytes += 4;
                *at = slot;
                offset += 4;
                continue;
            }
            const uint32_t left = 4 - first;
            const uint32_t n = stop - offset < left ? (uint32_t)(stop - offset) : left;
            write_bytes(s, at, first, n, slot, lost, self);
            offset += n;
        }
    }
    if (bytes) lost(self, before, bytes);
}

/* ---- reads ------------------------------------------------------------------------------------ */

void shadow_read(struct shadow *s, uint64_t offset, uint64_t size, uint32_t now, shadow_part *part,
                 void *self)
{
    const uint64_t end = offset + size;
    uint64_t from = offset, last = 0;
    while (offset < end) {
        uint64_t *at = shadow_slot(s, offset);
        const uint32_t b = (uint32_t)(offset % 4);
        uint64_t n = 4 - b;
        if (slot_is_split(*at)) {
            at = &s->records[(uint32_t)*at][b];
            n = 1;
        }
        if (n > end - offset) n = end - offset;
        const uint64_t slot = *at & ~SLOT_READ;
        if (slot == *at && slot_launch(slot) != now && slot_launch(slot)) *at |= SLOT_READ;
        if (offset > from && (slot != last || offset - from >= UINT32_MAX / 2)) {
            part(self, from, (uint32_t)(offset - from), last);
            from = offset;
        }
        last = slot;
        offset += n;
    }
    if (offset > from) part(self, from, (uint32_t)(offset - from), last);
}

/* ---- marks ------------------------------------------------------------------------------------ */

void shadow_mark(struct shadow *s, uint64_t offset, uint64_t size, uint64_t *first,
                 uint64_t *second)
{
    const uint64_t end = offset + size;
    while (offset < end) {
        struct shadow_chunk *c = shadow_chunk(s, offset);
        const uint64_t inside = offset % SHADOW_CHUNK, i = inside / 64, bit = inside % 64;
        const uint64_t n = end - offset < 64 - bit ? end - offset : 64 - bit;
        const uint64_t m = (n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0)) << bit;
        *first += (uint64_t)__builtin_popcountll(m & ~c->read_once[i]);
        *second += (uint64_t)__builtin_popcountll(m & c->read_once[i] & ~c->read_again[i]);
        c->read_again[i] |= m & c->read_once[i];
        c->read_once[i] |= m;
        c->marked[inside / SHADOW_PAGE / 64] |= UINT64_C(1) << inside / SHADOW_PAGE % 64;
        c->is_marked = true;
        offset += n;
    }
}

void shadow_forget_marks(struct shadow *s)
{
    for (size_t i = 0; i < s->chunk_count; i++) {
        struct shadow_chunk *c = s->chunks[i];
        if (!c || !c->is_marked) continue;
        for (size_t p = 0; p < SHADOW_CHUNK / SHADOW_PAGE; p++) {
            if (!(c->marked[p / 64] >> p % 64 & 1)) continue;
            memset(&c->read_once[p * SHADOW_PAGE / 64], 0, SHADOW_PAGE / 8);
            memset(&c->read_again[p * SHADOW_PAGE / 64], 0, SHADOW_PAGE / 8);
        }
        memset(c->marked, 0, sizeof c->marked);
        c->is_marked = false;
    }
}

void shadow_all(struct shadow *s, shadow_lost *lost, void *self)
{
    for (size_t i = 0; i < s->chunk_count; i++) {
        const struct shadow_chunk *c = s->chunks[i];
        for (size_t w = 0; c && w < SHADOW_WORDS; w++) {
            const uint64_t slot = c->slots[w];
            if (w % (SHADOW_PAGE / 4) == 0) {
                const size_t p = w / (SHADOW_PAGE / 4);
                if (!(c->touched[p / 64] >> p % 64 & 1)) {
                    w += SHADOW_PAGE / 4 - 1;
                    continue;
                }
            }
            if (!slot_is_split(slot)) lost(self, slot, 4);
            else
                for (int b = 0; b < 4; b++) lost(self, s->records[(uint32_t)slot][b], 1);
        }
    }
}

uint64_t shadow_memory(const struct shadow *s)
{
    return s->pages * (SHADOW_PAGE * 2 + SHADOW_PAGE / 4) + s->record_cap * sizeof *s->records +
           s->chunk_count * sizeof *s->chunks;
}
