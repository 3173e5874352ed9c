#include "base/text.h"

enum { LONGEST = 63 };

size_t text_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[LONGEST + 1];
    if (a_length > LONGEST || b_length > LONGEST) return LONGEST + 2;
    for (size_t j = 0; j <= b_length; j++) row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b_length];
}
