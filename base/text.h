/* base/text.h: comparing what was written with what was meant. */
#ifndef HEDDLE_BASE_TEXT_H
#define HEDDLE_BASE_TEXT_H

#include <stddef.h>

/* The edit distance (insertions, deletions, replacements) of two texts; more than 64 if one of them is
 * longer than 63 bytes. */
size_t text_distance(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
