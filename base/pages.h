/* base/pages.h: large zeroed arrays; the host allocates their pages at the first write.
 *
 *     struct event *list = pages_new(most * sizeof *list, PAGES_DENSE);
 *     pages_free(list, most * sizeof *list);                                                     */
#ifndef HEDDLE_BASE_PAGES_H
#define HEDDLE_BASE_PAGES_H

#include <stddef.h>

enum pages {
    PAGES_SPARSE, /* for arrays that are written at scattered indices */
    PAGES_DENSE,  /* for arrays that are written from the start; behind 2 MiB: huge pages */
};
/* Reserves addresses only, so the size may exceed the host's memory. Ends the program if there are no addresses left. */
void *pages_new(size_t size, enum pages how);
void pages_free(void *pages, size_t size); /* frees the whole array; NULL is allowed */

#endif
