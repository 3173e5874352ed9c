#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE, madvise */
#include "base/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE = 2 << 20 };

void *pages_new(size_t size, enum pages how)
{
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "heddle: no memory for an array of %zu bytes: ", size);
        perror(NULL);
        abort();
    }
    /* A hint: hosts that cannot do without */
    if (how == PAGES_DENSE && size > HUGE) (void)madvise(p + HUGE, size - HUGE, MADV_HUGEPAGE);
    return p;
}

void pages_free(void *pages, size_t size)
{
    if (pages) munmap(pages, size);
}
