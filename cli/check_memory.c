/* All memory of a run in a file, and two of them compared. The file has the list of allocations, then, from a page
 * on, their bytes; pages of zeros are holes. */
#define _GNU_SOURCE
#include "cli/check_part.h"
#include "cli/check_record.h"

#include "base/arena.h"
#include "base/buf.h"
#include "emu/emu.h"

#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PIECE = 1 << 16 };

struct part_snapshot {
    int file;
    uint64_t digest, data; /* data: where the bytes begin */
    size_t count;
    struct part_allocation {
        uint64_t address, size, offset;
        const char *name;
    } * list;
    const char *printed;
};

static uint64_t round_up(uint64_t n)
{
    return (n + PAGE - 1) / PAGE * PAGE;
}

static void put(struct buf *b, uint64_t n)
{
    buf_add(b, (const char *)&n, sizeof n);
}

static bool zeros(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i]) return false;
    return true;
}

void part_write_snapshot(struct emu *e, const struct buf *printed, uint64_t digest, int file)
{
    struct buf b = {0};
    uint64_t offset = 0;
    size_t n = emu_allocation_count(e);
    put(&b, RECORD_BEGIN);
    put(&b, digest);
    put(&b, n);
    for (size_t i = 0; i < n; i++) {
        const struct emu_allocation a = emu_allocation_at(e, i);
        put(&b, a.address);
        put(&b, a.size);
        put(&b, offset);
        buf_add(&b, a.name ? a.name : "", (a.name ? strlen(a.name) : 0) + 1);
        offset += round_up(a.size);
    }
    buf_add(&b, printed->data ? printed->data : "", printed->size);
    buf_putc(&b, '\0');
    uint64_t at = round_up(b.size);
    if (ftruncate(file, (off_t)(at + offset)) != 0) _exit(1);
    if (pwrite(file, b.data, b.size, 0) != (ssize_t)b.size) _exit(1);
    for (size_t i = 0; i < n; i++) {
        const struct emu_allocation a = emu_allocation_at(e, i);
        const unsigned char *bytes = emu_bytes(e, a.address, a.size);
        for (uint64_t k = 0; bytes && k < a.size; k += PAGE) {
            size_t size = a.size - k < PAGE ? (size_t)(a.size - k) : PAGE;
            if (zeros(bytes + k, size)) continue;
            if (pwrite(file, bytes + k, size, (off_t)(at + k)) != (ssize_t)size) _exit(1);
        }
        at += round_up(a.size);
    }
    buf_free(&b);
}

struct part_snapshot *part_read_snapshot(struct arena *a, int file)
{
    struct part_snapshot *s = arena_array(a, struct part_snapshot, 1);
    uint64_t head[3];
    s->file = file;
    if (file < 0 || pread(file, head, sizeof head, 0) != (ssize_t)sizeof head ||
        head[0] != RECORD_BEGIN)
        return NULL;
    s->digest = head[1];
    s->count = (size_t)head[2];
    s->list = arena_array(a, struct part_allocation, s->count);
    /* Numbers and names, read a piece at a time. */
    struct buf text = {0};
    char piece[PIECE];
    uint64_t at = sizeof head;
    size_t done = 0, used = 0;
    bool printed = false;
    while (!printed) {
        ssize_t got = pread(file, piece, sizeof piece, (off_t)at);
        if (got <= 0) break;
        buf_add(&text, piece, (size_t)got);
        at += (uint64_t)got;
        while (done <= s->count) {
            const size_t numbers = done < s->count ? 24 : 0;
            if (text.size < used + numbers) break;
            const char *nul = memchr(text.data + used + numbers, 0, text.size - used - numbers);
            if (!nul) break;
            const char *from = text.data + used + numbers;
            const char *copy = arena_copy(a, from, (size_t)(nul - from));
            if (done < s->count) {
                struct part_allocation *x = &s->list[done];
                memcpy(&x->address, text.data + used, 8);
                memcpy(&x->size, text.data + used + 8, 8);
                memcpy(&x->offset, text.data + used + 16, 8);
                x->name = copy;
            } else {
                s->printed = copy;
                printed = true;
            }
            used = (size_t)(nul - text.data) + 1;
            done++;
        }
    }
    buf_free(&text);
    s->data = round_up(sizeof head + used);
    return printed ? s : NULL;
}

uint64_t part_digest(const struct part_snapshot *s)
{
    return s->digest;
}

static bool same_allocations(const struct part_snapshot *x, const struct part_snapshot *y)
{
    if (x->count != y->count) return false;
    for (size_t i = 0; i < x->count; i++)
        if (x->list[i].address != y->list[i].address || x->list[i].size != y->list[i].size)
            return false;
    return true;
}

static void differ(struct check_parting *p, const struct part_allocation *a, uint64_t at,
                   const unsigned char *x, const unsigned char *y, size_t left)
{
    struct part_word *w = p->word_count ? &p->words[p->word_count - 1] : NULL;
    const uint64_t address = a->address + at, word = address / WRITERS_WORD * WRITERS_WORD;
    if (!p->differing++) {
        p->address = address;
        p->allocation = a->name;
        p->size = a->size;
        p->offset = at;
    }
    if (w && w->address == word) return;
    if (p->word_count == MOST_WORDS) {
        p->more_words = true;
        return;
    }
    /* Allocations are aligned, and so are pieces: 8 bytes lie in one piece, but at the end. */
    const size_t back = (size_t)(address % 8);
    const size_t n = left + back < 8 ? left + back : 8;
    w = &p->words[p->word_count++];
    w->address = word;
    memcpy(w->bytes[0], x - back, n);
    memcpy(w->bytes[1], y - back, n);
}

static void compare_one(const struct part_snapshot *const both[2], size_t i,
                        struct check_parting *p)
{
    static unsigned char x[PIECE], y[PIECE];
    const struct part_allocation *a = &both[0]->list[i];
    for (uint64_t at = 0; at < a->size; at += PIECE) {
        const size_t n = a->size - at < PIECE ? (size_t)(a->size - at) : PIECE;
        if (pread(both[0]->file, x, n, (off_t)(both[0]->data + a->offset + at)) != (ssize_t)n ||
            pread(both[1]->file, y, n, (off_t)(both[1]->data + both[1]->list[i].offset + at)) !=
                (ssize_t)n)
            return;
        if (memcmp(x, y, n) == 0) continue;
        for (size_t k = 0; k < n; k++)
            if (x[k] != y[k]) differ(p, a, at + k, x + k, y + k, n - k);
    }
}

bool part_compare(struct arena *a, const struct part_snapshot *const both[2],
                  struct check_parting *p)
{
    p->words = arena_array(a, struct part_word, MOST_WORDS);
    p->kind = PART_MEMORY;
    if (same_allocations(both[0], both[1])) {
        for (size_t i = 0; i < both[0]->count; i++) compare_one(both, i, p);
        if (p->differing) return true;
    } else {
        p->kind = PART_ALLOCATIONS;
        return true;
    }
    p->kind = PART_PRINTED;
    p->side[0].printed = both[0]->printed;
    p->side[1].printed = both[1]->printed;
    return strcmp(both[0]->printed, both[1]->printed) != 0;
}
