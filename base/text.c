#include "base/text.h"

#include <string.h>

enum { LONGEST = 63 };

size_t text_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[LONGEST + 1], before[LONGEST + 1] = {0}; /* the row before it */
    if (a_length > LONGEST || b_length > LONGEST) return LONGEST + 2;
    for (size_t j = 0; j <= b_length; j++) row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0], upper = 0; /* two up and two to the left */
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && upper + 1 < best)
                best = upper + 1;
            upper = before[j - 1];
            before[j - 1] = diagonal;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b_length];
}

void text_nearest_try(struct text_nearest *n, const char *name)
{
    size_t distance = text_distance(n->text, n->length, name, strlen(name));
    if (distance > (n->length < 3 ? 1 : n->length < 6 ? 2 : 3) || distance >= n->length) return;
    if (n->best && distance >= n->distance) return;
    n->best = name;
    n->distance = distance;
}
