/* cuda/unwritten.h: with the check `init`, finds copies of uninitialised device memory to the host.
 *
 *     struct unwritten u = {0};
 *     unwritten_add(&u, row, width);       // for each row of a copy, before the copy
 *     unwritten_say(&u);                   // one finding, if any byte was never written
 *
 * The emulator records the bytes that a kernel, a copy or a fill wrote (emu_unwritten). Memory that the host shares
 * counts as written. */
#ifndef HEDDLE_CUDA_UNWRITTEN_H
#define HEDDLE_CUDA_UNWRITTEN_H

#include <stddef.h>
#include <stdint.h>

struct unwritten {
    uint64_t copied, bytes; /* bytes of the copy; those among them that were never written */
    uint64_t first;         /* address of the first byte that was never written */
};
void unwritten_add(struct unwritten *u, uint64_t address, size_t size);
void unwritten_say(const struct unwritten *u);

#endif
