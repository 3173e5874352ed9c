/* cuda/unwritten.h: with the check `init`, copies to the host of device memory that nothing wrote.
 *
 *     struct unwritten u = {0};
 *     unwritten_add(&u, row, width);       // each row of the copy, before it is copied
 *     unwritten_say(&u);                   // one finding, if any byte was never written
 *
 * Bytes that a kernel, a copy or a fill wrote are known to the emulator (emu_unwritten). Memory that the host shares
 * counts as written. */
#ifndef HEDDLE_CUDA_UNWRITTEN_H
#define HEDDLE_CUDA_UNWRITTEN_H

#include <stddef.h>
#include <stdint.h>

struct unwritten {
    uint64_t copied, bytes; /* of the copy; of these never written */
    uint64_t first;         /* address of the first of them */
};
void unwritten_add(struct unwritten *u, uint64_t address, size_t size);
void unwritten_say(const struct unwritten *u);

#endif
