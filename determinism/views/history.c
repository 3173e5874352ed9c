/* Histories of sectors: a direct-mapped table. */
#include "determinism/views/history.h"

#include <stdlib.h>
#include <string.h>

void histories_begin(struct histories *all)
{
    if (!all->table && !(all->table = malloc(HISTORY_COUNT * sizeof *all->table))) abort();
    histories_drop_all(all, 0);
    all->lost = 0;
    all->replaced = false;
}

void histories_free(struct histories *all)
{
    if (all->table) histories_drop_all(all, 0);
    free(all->table);
    publication_pool_free(&all->pool);
}

static void clear(struct histories *all, uint32_t index, uint64_t now)
{
    struct history *h = &all->table[index];
    for (uint32_t i = 0; i < h->count; i++) {
        if (!h->messages[i].published) continue;
        publication_release(&all->pool, h->messages[i].published);
        all->lost = now;
    }
    all->keys[index] = 0;
    all->used--;
}

struct history *histories_add(struct histories *all, uint64_t key, uint64_t now)
{
    const uint32_t i = histories_index(key);
    struct history *h = &all->table[i];
    if (all->keys[i]) {
        clear(all, i, now);
        all->replaced = true;
    }
    all->keys[i] = key;
    all->used++;
    h->count = 1;
    struct message *base = &h->messages[0];
    *base = (struct message){.writer = HISTORY_NOBODY, .bytes = UINT32_MAX};
    if (all->lost) { /* it may have had publications */
        struct shared_view *narrow = shared_view_new(&all->pool);
        view_add_all(&narrow->view, all->lost);
        base->published = publication_new(&all->pool);
        publication_begin(base->published,
                          (struct published){.is_anyones = true, .narrow = narrow});
    }
    return h;
}

void histories_drop(struct histories *all, uint64_t key, uint64_t now)
{
    const uint32_t i = histories_index(key);
    if (all->keys[i] == key) clear(all, i, now);
}

void histories_drop_all(struct histories *all, uint64_t now)
{
    for (uint32_t i = 0; all->used && i < HISTORY_COUNT; i++)
        if (all->keys[i]) clear(all, i, now);
}

/* The base becomes the sector after the oldest message, and publishes what both did. */
static void fold(struct histories *all, struct history *h)
{
    struct message *base = &h->messages[0], *oldest = &h->messages[1];
    memcpy(base->data, oldest->data, SECTOR_BYTES);
    if (!base->published) base->published = oldest->published;
    else if (oldest->published) {
        if (base->published->refs > 1) {
            struct publication *own = publication_new(&all->pool);
            publication_add_all(&all->pool, own, base->published);
            publication_release(&all->pool, base->published);
            base->published = own;
        }
        publication_add_all(&all->pool, base->published, oldest->published);
        publication_release(&all->pool, oldest->published);
    }
    memmove(oldest, oldest + 1, (--h->count - 1) * sizeof *oldest);
}

struct message *history_push(struct histories *all, struct history *h,
                             const uint8_t memory[SECTOR_BYTES])
{
    memcpy(h->messages[h->count - 1].data, memory, SECTOR_BYTES);
    if (h->count == HISTORY_DEPTH) fold(all, h);
    struct message *m = &h->messages[h->count++];
    memset(m, 0, offsetof(struct message, data));
    return m;
}

struct message *history_insert(struct history *h, uint32_t at)
{
    struct message *m = &h->messages[at];
    memmove(m + 1, m, (h->count++ - at) * sizeof *m);
    memset(m, 0, offsetof(struct message, data));
    memcpy(m->data, m[-1].data, SECTOR_BYTES);
    return m;
}
