/* Memory for CTAs: consecutive blocks of a range of host addresses, allocated from its beginning by each launch. */
#define _GNU_SOURCE /* madvise */
#include "emu/cta_arena.h"

#include "base/pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PIECE = 64 << 20,      /* bytes of addresses at least */
    MOST_KEPT = 256 << 20, /* bytes written to, of all pieces */
    SMALL = 1 << 20, /* bytes up to which it is quicker to clear them than to give them back */
    PAGE = 4096,
};

struct piece {
    uint8_t *base;
    size_t size, used,
        written; /* `written`: from the beginning up to here launches before may have */
    struct piece *next;
};
struct cta_arena {
    struct piece *first, *last; /* `last` is being cut up, those before it are full */
    struct cta_arena *beside;   /* NULL: nobody has asked */
    pthread_mutex_t lock;       /* of cta_arena_take */
};

static size_t up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static struct piece *piece_new(size_t size)
{
    struct piece *p = calloc(1, sizeof *p);
    if (!p) abort();
    p->size = up(size > PIECE ? size : PIECE, PAGE);
    p->base = pages_new(p->size, PAGES_DENSE);
    return p;
}

static void piece_free(struct piece *p)
{
    pages_free(p->base, p->size);
    free(p);
}

struct cta_arena *cta_arena_new(void)
{
    struct cta_arena *r = calloc(1, sizeof *r);
    if (!r) abort();
    pthread_mutex_init(&r->lock, NULL);
    r->first = r->last = piece_new(PIECE);
    return r;
}

void cta_arena_free(struct cta_arena *r)
{
    if (!r) return;
    cta_arena_free(r->beside);
    for (struct piece *p = r->first, *next; p; p = next) next = p->next, piece_free(p);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

struct cta_arena *cta_arena_sibling(struct cta_arena *r)
{
    if (!r->beside) r->beside = cta_arena_new();
    return r->beside;
}

struct cta_block cta_arena_take(struct cta_arena *r, size_t size)
{
    size = up(size, CTA_ARENA_ALIGN);
    pthread_mutex_lock(&r->lock);
    if (r->last->size - r->last->used < size) {
        struct piece *next = r->last->next;
        if (!next || next->size < size) {
            next = piece_new(size);
            next->next = r->last->next;
            r->last->next = next;
        }
        r->last = next;
    }
    struct piece *p = r->last;
    uint8_t *const at = p->base + p->used;
    p->used += size;
    pthread_mutex_unlock(&r->lock);
    return (struct cta_block){at, at + size, p->base + p->written};
}

/* Pages become zeros that the host gives when somebody asks for them. */
static void forget(uint8_t *p, size_t size)
{
    if (size && madvise(p, size, MADV_DONTNEED)) memset(p, 0, size);
}

void cta_block_clear(const struct cta_block *r, void *part, size_t size)
{
    uint8_t *const p = part;
    if (p >= r->clean) return;
    if ((size_t)(r->clean - p) < size) size = (size_t)(r->clean - p);
    if (size <= SMALL) {
        memset(p, 0, size);
        return;
    }
    const size_t head = (PAGE - (uintptr_t)p % PAGE) % PAGE, tail = (size - head) % PAGE;
    memset(p, 0, head);
    forget(p + head, size - head - tail);
    memset(p + size - tail, 0, tail);
}

void cta_arena_reset(struct cta_arena *r)
{
    size_t kept = 0;
    for (struct piece *p = r->first, **at = &r->first; p; p = *at) {
        if (p->written < p->used) p->written = p->used;
        p->used = 0;
        if (p->size > PIECE && p != r->first) {
            *at = p->next;
            piece_free(p);
            continue;
        }
        size_t keep = MOST_KEPT - kept < p->written ? MOST_KEPT - kept : up(p->written, PAGE);
        if (keep < p->written) {
            forget(p->base + keep, up(p->written - keep, PAGE));
            p->written = keep;
        }
        kept += up(p->written, PAGE);
        at = &p->next;
    }
    r->last = r->first;
}
