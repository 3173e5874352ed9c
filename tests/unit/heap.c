/* The heap that libcuda.so.1 keeps separate from the program's. That it does: tests/cuda/program.c. */
#define _GNU_SOURCE
#include "cuda/heap.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCKS = 500, STEPS = 40000 };

struct kept {
    unsigned char *at;
    size_t size;
    unsigned char fill;
};

static void expect_kept(const struct kept *k, size_t size)
{
    for (size_t i = 0; i < size; i++) cr_assert_eq(k->at[i], k->fill, "byte %zu", i);
}

static size_t some_size(uint64_t *rng)
{
    const size_t most = (size_t)1 << rng_below(rng, 14);
    return rng_below(rng, 400) ? rng_below(rng, (uint32_t)most + 1) : most << 10;
}

static void *allocate(uint64_t *rng, size_t size)
{
    const size_t align = (size_t)16 << rng_below(rng, 9);
    if (rng_below(rng, 8)) return heap_malloc(size);
    void *p = heap_aligned_alloc(align, size);
    cr_assert_eq((uintptr_t)p % align, 0);
    return p;
}

/* Nobody's bytes are another's, whatever is allocated, resized and freed, in whatever order. */
static void *churn(void *seed)
{
    static _Thread_local struct kept all[BLOCKS];
    uint64_t rng = *(const uint64_t *)seed;
    for (unsigned step = 0; step < STEPS; step++) {
        struct kept *k = &all[rng_below(&rng, BLOCKS)];
        const size_t size = some_size(&rng);
        if (k->at) expect_kept(k, k->size);
        if (!k->at) k->at = allocate(&rng, size);
        else if (rng_below(&rng, 3) == 0) {
            k->at = heap_realloc(k->at, size);
            expect_kept(k, size < k->size ? size : k->size);
        } else {
            heap_free(k->at);
            *k = (struct kept){0};
            continue;
        }
        cr_assert(k->at && (uintptr_t)k->at % 16 == 0);
        k->size = size;
        k->fill = (unsigned char)step;
        memset(k->at, k->fill, size);
    }
    for (size_t i = 0; i < BLOCKS; i++) heap_free(all[i].at);
    return NULL;
}

Test(heap, keeps_blocks_separate)
{
    uint64_t seeds[] = {1, 2, 3};
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, churn, &seeds[i]), 0);
    for (size_t i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

Test(heap, gives_zeros_when_asked)
{
    for (size_t size = 1; size < (size_t)1 << 25; size = size * 3 / 2 + 1)
        for (unsigned again = 0; again < 2; again++) {
            unsigned char *p = heap_calloc(1, size);
            for (size_t i = 0; i < size; i++) cr_assert_eq(p[i], 0, "%zu of %zu", i, size);
            memset(p, 0xff, size);
            heap_free(p);
        }
}

Test(heap, refuses_what_nobody_has)
{
    errno = 0;
    cr_expect_null(heap_malloc(SIZE_MAX - 100));
    cr_expect_eq(errno, ENOMEM);
    cr_expect_null(heap_calloc(SIZE_MAX / 2, 3));
    cr_expect_null(heap_aligned_alloc(4096, SIZE_MAX - 4096));
    cr_expect_eq(heap_mmap(NULL, (size_t)1 << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                 MAP_FAILED);
    heap_free(NULL);
    char *p = heap_realloc(NULL, 0);
    cr_expect(p);
    cr_expect_null(heap_realloc(p, SIZE_MAX - 100));
    heap_free(p);
}

/* Memory that one thread allocates and another frees is used again. */
static void *release(void *p)
{
    heap_free(p);
    return NULL;
}

Test(heap, takes_back_what_others_free)
{
    char *first = heap_malloc(100000);
    for (unsigned i = 0; i < 20; i++) {
        pthread_t thread;
        char *p = heap_malloc(100000);
        cr_assert_eq(pthread_create(&thread, NULL, release, p), 0);
        pthread_join(thread, NULL);
        cr_expect_eq(heap_malloc(100000), p);
        heap_free(p);
    }
    heap_free(first);
}

Test(heap, gives_mappings_back)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, both = PROT_READ | PROT_WRITE;
    char *a = heap_mmap(NULL, 3 << 20, both, flags, -1, 0);
    char *b = heap_mmap(NULL, 1 << 20, both, flags, -1, 0);
    memset(a, 1, 3 << 20);
    memset(b, 2, 1 << 20);
    cr_expect_eq(heap_munmap(a + (1 << 20), 1 << 20), 0); /* a part of it */
    char *c = heap_mmap(NULL, 1 << 20, both, flags, -1, 0);
    cr_expect_eq(c, a + (1 << 20));
    for (size_t i = 0; i < 1 << 20; i++) cr_assert(a[i] == 1 && b[i] == 2 && c[i] == 0);
    cr_expect_eq(heap_munmap(a, 3 << 20), 0);
    cr_expect_eq(heap_munmap(b, 1 << 20), 0);
    cr_expect_eq(heap_mmap(NULL, 4 << 20, both, flags, -1, 0), a, "the parts are one again");
    char *fixed = mmap(NULL, 4096, both, flags, -1, 0); /* the system's own */
    cr_expect_eq(heap_mmap(fixed, 4096, both, flags | MAP_FIXED, -1, 0), fixed);
    cr_expect_eq(heap_munmap(fixed, 4096), 0);
}

struct pair {
    int key, number;
};

static int by_key(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

Test(heap, sorts_and_keeps_equals_in_order)
{
    static struct pair list[1000];
    uint64_t rng = 1;
    for (size_t n = 0; n < 1000; n += 1 + n / 8) {
        for (size_t i = 0; i < n; i++)
            list[i] = (struct pair){(int)rng_below(&rng, (uint32_t)n / 3 + 1), (int)i};
        heap_qsort(list, n, sizeof *list, by_key);
        for (size_t i = 1; i < n; i++)
            cr_assert(list[i - 1].key < list[i].key ||
                      (list[i - 1].key == list[i].key && list[i - 1].number < list[i].number));
    }
}
