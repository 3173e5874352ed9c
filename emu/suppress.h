/* emu/suppress.h: lists of known findings, which are counted and not reported.
 *
 *     struct suppressions *s = suppressions_read("races.supp", &why);     // a file; "none"; NULL: the built-in list
 *     if (suppressions_match(s, EMU_RACE, one, other)) ...
 *     suppressions_free(s);
 *
 * A list is text. A line is CHECK:PATTERN, or CHECK:PATTERN with PATTERN; # begins a comment. CHECK
 * is race, atomicity, init, sync or memory. A pattern matches anywhere in the description of a
 * place, and its * matches any text:
 *
 *     FUNCTION (FILE:LINE, from HEADER:LINE): INSTRUCTION
 *
 * with the PTX name of the function and the known parts of the source position. For a finding with two places a single
 * pattern must match both; of two patterns each must match one. The built-in list (emu/device/suppress.def) has
 * findings in NVIDIA's headers; a file adds to it. */
#ifndef HEDDLE_EMU_SUPPRESS_H
#define HEDDLE_EMU_SUPPRESS_H

#include "emu/emu.h"

struct suppressions;

/* NULL: the list cannot be read or has an error; *why is the message, which the caller frees. */
struct suppressions *suppressions_read(const char *path, char **why);
void suppressions_free(struct suppressions *s); /* NULL is allowed */

/* Whether the list has the finding. `one`, `other`: descriptions of its places; `other` is NULL if it has one place. */
bool suppressions_match(const struct suppressions *s, enum emu_fault_kind kind, const char *one,
                        const char *other);

#endif
