/* base/text.h: edit distance of texts, for "did you mean" hints in messages. */
#ifndef HEDDLE_BASE_TEXT_H
#define HEDDLE_BASE_TEXT_H

#include <stddef.h>

/* The edit distance (insertions, deletions, replacements, swaps of neighbours) of two texts; 65 if one of them is
 * longer than 63 bytes. */
size_t text_distance(const char *a, size_t a_length, const char *b, size_t b_length);

/* Finds the candidate with the smallest edit distance to a misspelled word:
 *     struct text_nearest n = {.text = word, .length = length};
 *     for (...) text_nearest_try(&n, name);
 *     if (n.best) printf("did you mean '%s'?", n.best);                                          */
struct text_nearest {
    const char *text;
    size_t length;
    const char *best; /* the nearest name, the first of several; NULL: none is near enough */
    size_t distance;
};
void text_nearest_try(struct text_nearest *n, const char *name);

#endif
