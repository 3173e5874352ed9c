/* base/text.h: comparing what was written with what was meant. */
#ifndef HEDDLE_BASE_TEXT_H
#define HEDDLE_BASE_TEXT_H

#include <stddef.h>

/* The edit distance (insertions, deletions, replacements) of two texts; more than 64 if one of them is
 * longer than 63 bytes. */
size_t text_distance(const char *a, size_t a_length, const char *b, size_t b_length);

/* Looks for the name that was meant among some:
 *     struct text_nearest n = {.text = word, .length = length};
 *     for (...) text_nearest_try(&n, name);
 *     if (n.best) printf("did you mean '%s'?", n.best);                                          */
struct text_nearest {
    const char *text;
    size_t length;
    const char *best; /* NULL: none is near enough; of equals, the first */
    size_t distance;
};
void text_nearest_try(struct text_nearest *n, const char *name);

#endif
