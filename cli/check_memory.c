/* Compares all memory of two runs. */
#define _GNU_SOURCE
#include "cli/check_difference.h"

#include "base/arena.h"
#include "determinism/record/snapshot.h"

#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

static bool same_allocations(const struct snapshot *x, const struct snapshot *y)
{
    if (x->count != y->count) return false;
    for (size_t i = 0; i < x->count; i++)
        if (x->list[i].address != y->list[i].address || x->list[i].size != y->list[i].size)
            return false;
    return true;
}

static void differ(struct check_difference *p, const struct snapshot_allocation *a, uint64_t at,
                   const unsigned char *x, const unsigned char *y, size_t left)
{
    struct part_word *w = p->word_count ? &p->words[p->word_count - 1] : NULL;
    const uint64_t address = a->address + at,
                   word = address / LAST_WRITERS_WORD * LAST_WRITERS_WORD;
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

static void compare_one(const struct snapshot *const both[2], const int files[2], size_t i,
                        struct check_difference *p)
{
    static unsigned char x[PIECE], y[PIECE];
    const struct snapshot_allocation *a = &both[0]->list[i];
    for (uint64_t at = 0; at < a->size; at += PIECE) {
        const size_t n = a->size - at < PIECE ? (size_t)(a->size - at) : PIECE;
        if (pread(files[0], x, n, (off_t)(a->place + at)) != (ssize_t)n ||
            pread(files[1], y, n, (off_t)(both[1]->list[i].place + at)) != (ssize_t)n)
            return;
        if (memcmp(x, y, n) == 0) continue;
        for (size_t k = 0; k < n; k++)
            if (x[k] != y[k]) differ(p, a, at + k, x + k, y + k, n - k);
    }
}

bool part_compare(struct arena *a, const struct snapshot *const both[2], const int files[2],
                  struct check_difference *p)
{
    p->words = arena_array(a, struct part_word, MOST_WORDS);
    p->kind = DIFFER_MEMORY;
    if (same_allocations(both[0], both[1])) {
        for (size_t i = 0; i < both[0]->count; i++) compare_one(both, files, i, p);
        if (p->differing) return true;
    } else {
        p->kind = DIFFER_ALLOCATIONS;
        return true;
    }
    p->kind = DIFFER_PRINTED;
    p->side[0].printed = both[0]->printed;
    p->side[1].printed = both[1]->printed;
    return strcmp(both[0]->printed, both[1]->printed) != 0;
}
