/* cuda/heap.h: memory of Heddle's own in the process of another program.
 *
 * libcuda.so.1 is linked so that its malloc() and the like are these, and its mappings come from the same range of
 * addresses. So what Heddle needs for an order, a seed or a check moves nothing that the program allocates: its heap and
 * its mappings lie where they would lie under any other. In other programs (heddle, the tests) nobody calls these.
 *
 * Nothing that is allocated here may be given to free() of the host's library, nor the other way round; functions of
 * that library whose results are to be freed (vasprintf, getline) are not for the driver. Threads may call at once. */
#ifndef HEDDLE_CUDA_HEAP_H
#define HEDDLE_CUDA_HEAP_H

#include <stddef.h>
#include <sys/types.h>

/* As those of the C library. */
void *heap_malloc(size_t size);
void *heap_calloc(size_t count, size_t size);
void *heap_realloc(void *p, size_t size);
void *heap_aligned_alloc(size_t align, size_t size);
char *heap_strdup(const char *text);
void heap_free(void *p); /* NULL is allowed */

/* Stable. The library's takes memory of the program's heap. */
void heap_qsort(void *objects, size_t count, size_t size,
                int (*compare)(const void *, const void *));

/* Those for nobody's file and at no certain address come from the range; all else is the system's. */
void *heap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);
int heap_munmap(void *at, size_t size);

#endif
