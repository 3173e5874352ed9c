/* cuda/heap.h: a heap for Heddle in the process of another program, separate from that program's heap.
 *
 * libcuda.so.1 is linked so that its calls of malloc() and the like go to these functions, and its mappings come from
 * the same range of addresses. So the memory that Heddle needs for an order, a seed or a check does not change the
 * addresses of the program's heap and mappings. Other programs (heddle, the tests) do not use these functions.
 *
 * Memory of this heap must not be passed to free() of the host's library, nor the other way round. So the driver must not
 * use library functions whose results the caller frees (vasprintf, getline). The functions are thread-safe. */
#ifndef HEDDLE_CUDA_HEAP_H
#define HEDDLE_CUDA_HEAP_H

#include <stddef.h>
#include <sys/types.h>

/* Like the functions of the C library. */
void *heap_malloc(size_t size);
void *heap_calloc(size_t count, size_t size);
void *heap_realloc(void *p, size_t size);
void *heap_aligned_alloc(size_t align, size_t size);
char *heap_strdup(const char *text);
void heap_free(void *p); /* NULL is allowed */

/* A stable sort. The C library's qsort() would allocate from the program's heap. */
void heap_qsort(void *objects, size_t count, size_t size,
                int (*compare)(const void *, const void *));

/* Anonymous mappings without a fixed address come from the range; all others from the system. */
void *heap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);
int heap_munmap(void *at, size_t size);

#endif
