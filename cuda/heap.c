/* The heap of the library (cuda/heap.h): blocks of size classes in runs of pages, all in one range of addresses. */
#define _GNU_SOURCE
#include "cuda/heap.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 1 << 12, QUIET = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

/* The functions of the library are these (Makefile), so the system is asked directly. */
static void *map(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    const long p = syscall(SYS_mmap, at, size, protection, flags, file, offset);
    return (void *)p; // NOLINT(performance-no-int-to-ptr): it is one
}

static void lock(atomic_flag *l)
{
    for (unsigned spins = 1; atomic_flag_test_and_set_explicit(l, memory_order_acquire); spins++)
        if (spins % 64 == 0) sched_yield();
}

static void unlock(atomic_flag *l)
{
    atomic_flag_clear_explicit(l, memory_order_release);
}

/* ---- runs of pages --------------------------------------------------------------------------------------- */

struct page_run { /* nobody's pages */
    char *at;
    size_t size;
};
enum { RUNS = 1 << 16 };

static struct {
    atomic_flag lock;
    bool begun;
    char *from, *to;       /* the range; both NULL: the system gave none */
    struct page_run *runs; /* by address, none beside the other; at the range's start */
    size_t count;
} range = {.lock = ATOMIC_FLAG_INIT};

static bool commit(void *at, size_t size, int protection)
{
    return map(at, size, protection, QUIET | MAP_FIXED, -1, 0) == at;
}

/* As large as the system allows: addresses cost nothing. */
static void begin(void)
{
    const size_t table = RUNS * sizeof(struct page_run);
    range.begun = true;
    for (size_t size = (size_t)1 << 42; size >= (size_t)1 << 30; size /= 2) {
        char *at = map(NULL, size, PROT_NONE, QUIET, -1, 0);
        if (at == MAP_FAILED) continue;
        if (!commit(at, table, PROT_READ | PROT_WRITE)) return;
        range.from = at;
        range.to = at + size;
        range.runs = (struct page_run *)(void *)at;
        range.runs[range.count++] = (struct page_run){at + table, size - table};
        return;
    }
}

static bool is_in_range(const void *p)
{
    const char *at = p;
    return at >= range.from && at < range.to;
}

static void remove_run(size_t i)
{
    range.count--;
    memmove(&range.runs[i], &range.runs[i + 1], (range.count - i) * sizeof *range.runs);
}

static void *take(size_t size)
{
    for (size_t i = 0; i < range.count; i++) {
        struct page_run *r = &range.runs[i];
        if (r->size < size) continue;
        void *at = r->at;
        r->at += size;
        r->size -= size;
        if (!r->size) remove_run(i);
        return at;
    }
    return NULL;
}

static void give(char *at, size_t size)
{
    size_t i = 0, n = range.count;
    while (i < n) /* the first behind it */
        if (range.runs[(i + n) / 2].at < at) i = (i + n) / 2 + 1;
        else n = (i + n) / 2;
    const bool before = i && range.runs[i - 1].at + range.runs[i - 1].size == at;
    const bool behind = i < range.count && at + size == range.runs[i].at;
    if (before) {
        range.runs[i - 1].size += size;
        if (!behind) return;
        range.runs[i - 1].size += range.runs[i].size;
        remove_run(i);
    } else if (behind) {
        range.runs[i].at = at;
        range.runs[i].size += size;
    } else if (range.count < RUNS) { /* else it is lost */
        memmove(&range.runs[i + 1], &range.runs[i], (range.count - i) * sizeof *range.runs);
        range.runs[i] = (struct page_run){at, size};
        range.count++;
    }
}

static size_t whole_pages(size_t size)
{
    return (size + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* Zeros; NULL: there are none. */
static void *pages(size_t size, int protection)
{
    if (size > SIZE_MAX - PAGE) return NULL;
    lock(&range.lock);
    if (!range.begun) begin();
    void *at = take(whole_pages(size));
    if (at && !commit(at, whole_pages(size), protection)) {
        give(at, whole_pages(size));
        at = NULL;
    }
    unlock(&range.lock);
    if (at) return at;
    at = map(NULL, size, protection, QUIET, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

void *heap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    if (at || !(flags & MAP_ANONYMOUS) || !(flags & MAP_PRIVATE) || flags & MAP_FIXED || !size)
        return map(at, size, protection, flags, file, offset);
    void *p = pages(size, protection);
    if (p) return p;
    errno = ENOMEM;
    return MAP_FAILED;
}

int heap_munmap(void *at, size_t size)
{
    if (!is_in_range(at)) return (int)syscall(SYS_munmap, at, size);
    const bool ok = commit(at, whole_pages(size), PROT_NONE);
    lock(&range.lock);
    if (ok) give(at, whole_pages(size));
    unlock(&range.lock);
    return ok ? 0 : -1;
}

/* ---- blocks ------------------------------------------------------------------------------------------------ */

enum {
    ALIGN = 16,
    SMALL_CLASSES = 16,                   /* of 16, 32, ... 256 bytes */
    STEPS = 4,                            /* classes of each power of two above */
    LARGEST = 4 << 20,                    /* of a class: what is larger has pages of its own */
    CLASSES = SMALL_CLASSES + STEPS * 14, /* from 2^8 to 2^22 */
    PIECE = 1 << 16,                      /* bytes that are cut up at a time */
    SHARDS = 8,                           /* so that threads seldom meet */
    OWN_PAGES = CLASSES,
};
static_assert((1 << 8) << 14 == LARGEST, "the last class is the largest");

struct block {             /* in front of each */
    uint16_t class, shard; /* OWN_PAGES: it has some; to which it goes back */
    uint32_t shift;        /* bytes between its start and this, for an alignment */
    size_t size;           /* that fits into it */
};
static_assert(sizeof(struct block) == ALIGN, "what follows is aligned");

struct spare {
    struct spare *next;
};

static struct shard {
    alignas(64) atomic_flag lock;
    struct spare *spare[CLASSES];
    char *piece; /* what is being cut up */
    size_t left;
} shards[SHARDS];

static struct shard *own_shard(void)
{
    static atomic_uint threads;
    static _Thread_local unsigned number; /* 0: none yet */
    if (!number) number = 1 + atomic_fetch_add(&threads, 1);
    return &shards[number % SHARDS];
}

static unsigned class_of(size_t size)
{
    if (size <= (size_t)ALIGN * SMALL_CLASSES) return size ? (unsigned)((size - 1) / ALIGN) : 0;
    const unsigned power = 63U - (unsigned)__builtin_clzll(size - 1);
    return SMALL_CLASSES + STEPS * (power - 8) + (unsigned)((size - 1) >> (power - 2)) % STEPS;
}

static size_t size_of(unsigned class)
{
    if (class < SMALL_CLASSES) return (size_t)ALIGN * (class + 1);
    const unsigned power = 8 + (class - SMALL_CLASSES) / STEPS;
    return ((size_t)1 << power) + ((size_t)((class - SMALL_CLASSES) % STEPS + 1) << (power - 2));
}

static struct block *block_of(void *p)
{
    return (struct block *)p - 1;
}

/* A block's first bytes; NULL: no memory. */
static struct block *cut(struct shard *s, size_t size)
{
    const size_t all = size + sizeof(struct block);
    if (all > PIECE / 4) return pages(all, PROT_READ | PROT_WRITE);
    if (all > s->left) {
        s->piece = pages(PIECE, PROT_READ | PROT_WRITE);
        s->left = s->piece ? PIECE : 0;
        if (!s->piece) return NULL;
    }
    struct block *b = (struct block *)(void *)s->piece;
    s->piece += all;
    s->left -= all;
    return b;
}

/* *fresh: it holds zeros. */
static void *allocate(size_t size, bool *fresh)
{
    *fresh = true;
    if (size > LARGEST) {
        struct block *b = size > PTRDIFF_MAX ? NULL
                                             : pages(size + sizeof *b, PROT_READ | PROT_WRITE);
        if (!b) return errno = ENOMEM, NULL;
        *b = (struct block){.class = OWN_PAGES, .size = whole_pages(size + sizeof *b) - sizeof *b};
        return b + 1;
    }
    const unsigned class = class_of(size);
    struct shard *s = own_shard();
    lock(&s->lock);
    struct spare *p = s->spare[class];
    struct block *b = NULL;
    if (p) s->spare[class] = p->next;
    else b = cut(s, size_of(class));
    unlock(&s->lock);
    if (b)
        *b = (struct block){
            .class = (uint16_t) class, .shard = (uint16_t)(s - shards), .size = size_of(class)};
    *fresh = !p;
    if (!p && !b) errno = ENOMEM;
    return p ? (void *)p : b ? (void *)(b + 1) : NULL;
}

void *heap_malloc(size_t size)
{
    bool fresh;
    return allocate(size, &fresh);
}

void *heap_calloc(size_t count, size_t size)
{
    bool fresh;
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) return errno = ENOMEM, NULL;
    void *p = allocate(all, &fresh);
    return p && !fresh ? memset(p, 0, all) : p;
}

void heap_free(void *p)
{
    if (!p) return;
    struct block *b = block_of(p);
    p = (char *)p - b->shift;
    b = block_of(p);
    assert(b->class <= OWN_PAGES && "memory of another heap");
    if (b->class == OWN_PAGES) {
        (void)heap_munmap(b, b->size + sizeof *b);
        return;
    }
    struct shard *s = &shards[b->shard];
    struct spare *spare = p;
    lock(&s->lock);
    spare->next = s->spare[b->class];
    s->spare[b->class] = spare;
    unlock(&s->lock);
}

void *heap_realloc(void *p, size_t size)
{
    if (!p) return heap_malloc(size);
    const size_t has = block_of(p)->size;
    if (size <= has && size >= has / 4) return p;
    void *to = heap_malloc(size);
    if (!to) return NULL;
    memcpy(to, p, size < has ? size : has);
    heap_free(p);
    return to;
}

void *heap_aligned_alloc(size_t align, size_t size)
{
    if (align <= ALIGN) return heap_malloc(size);
    char *p = size > PTRDIFF_MAX - align ? NULL : heap_malloc(size + align);
    const size_t shift = -(uintptr_t)p % align;
    if (!p || !shift) return p;
    const size_t has = block_of(p)->size;
    *block_of(p + shift) = (struct block){.shift = (uint32_t)shift, .size = has - shift};
    return p + shift;
}

char *heap_strdup(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *p = heap_malloc(size);
    return p ? memcpy(p, text, size) : NULL;
}

/* ---- sorting ----------------------------------------------------------------------------------------------- */

/* Two sorted parts, the first of which is copied away. */
static void merge(char *objects, size_t first, size_t count, size_t size, char *scratch,
                  int (*compare)(const void *, const void *))
{
    const char *a = scratch, *const a_end = scratch + first * size;
    const char *b = objects + first * size, *const b_end = objects + count * size;
    memcpy(scratch, objects, first * size);
    for (char *to = objects; a < a_end; to += size) {
        const bool second = b < b_end && compare(b, a) < 0;
        memcpy(to, second ? b : a, size);
        if (second) b += size;
        else a += size;
    }
}

static void sort(char *objects, size_t count, size_t size, char *scratch,
                 int (*compare)(const void *, const void *))
{
    if (count < 2) return;
    const size_t half = count / 2;
    sort(objects, half, size, scratch, compare);
    sort(objects + half * size, count - half, size, scratch, compare);
    merge(objects, half, count, size, scratch, compare);
}

void heap_qsort(void *objects, size_t count, size_t size,
                int (*compare)(const void *, const void *))
{
    if (count < 2 || !size) return;
    char *scratch = heap_malloc(count / 2 * size);
    if (!scratch) abort();
    sort(objects, count, size, scratch, compare);
    heap_free(scratch);
}
