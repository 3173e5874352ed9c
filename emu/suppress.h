/* emu/suppress.h: findings that nobody wants to hear of: they are counted, and not told.
 *
 *     struct suppressions *s = suppressions_read("races.supp", &why);     // a file; "none"; NULL: the known ones
 *     if (suppressions_match(s, EMU_RACE, one, other)) ...
 *     suppressions_free(s);
 *
 * A list is text. A line is CHECK:PATTERN, or CHECK:PATTERN with PATTERN; # begins a comment. CHECK is race, atomicity,
 * init, sync or memory. A pattern is found anywhere in what a place is called, and its * stands for anything:
 *
 *     FUNCTION (FILE:LINE, from HEADER:LINE): INSTRUCTION
 *
 * with PTX's name of the function and what is known of the source. Of a finding with two places one pattern has to fit
 * both, two patterns one each. Those known beforehand (emu/device/suppress.def) are in NVIDIA's headers; a list comes on top of
 * them. */
#ifndef HEDDLE_EMU_SUPPRESS_H
#define HEDDLE_EMU_SUPPRESS_H

#include "emu/emu.h"

struct suppressions;

/* NULL: it cannot be read, or is wrong; *why says so, the caller frees it. */
struct suppressions *suppressions_read(const char *path, char **why);
void suppressions_free(struct suppressions *s); /* NULL is allowed */

/* `other`: NULL if there is one place. */
bool suppressions_match(const struct suppressions *s, enum emu_fault_kind kind, const char *one,
                        const char *other);

#endif
