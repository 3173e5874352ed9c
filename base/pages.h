/* base/pages.h: large arrays of zeros, for which the host gives memory where they are first written to.
 *
 *     struct event *list = pages_new(most * sizeof *list, PAGES_DENSE);
 *     pages_free(list, most * sizeof *list);                                                     */
#ifndef HEDDLE_BASE_PAGES_H
#define HEDDLE_BASE_PAGES_H

#include <stddef.h>

enum pages {
    PAGES_SPARSE, /* written to here and there */
    PAGES_DENSE,  /* from the beginning on: behind 2 MiB the host may give 2 MiB at once */
};
/* Only addresses are taken, so there may be far more of them than memory. Ends the program if there are none. */
void *pages_new(size_t size, enum pages how);
void pages_free(void *pages, size_t size); /* all of it; NULL is nothing */

#endif
