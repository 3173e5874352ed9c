/* determinism/hardware/atomic_buffer.h: DAB's atomic buffer (MICRO 2020, sections IV-B and IV-C): when the buffer is
 * full, and the entry with which a flush begins.
 *
 * An entry has a lane's reduction: address, operand, operation. The order keeps entries with operands and finds entries
 * to fuse (IV-E) in a table. The timing model keeps only addresses. */
#ifndef HEDDLE_DETERMINISM_HARDWARE_ATOMIC_BUFFER_H
#define HEDDLE_DETERMINISM_HARDWARE_ATOMIC_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* number of the entry with which SMs of even number begin to flush (VI-B) */
    ATOMIC_BUFFER_OFFSET = 32,
    ATOMIC_BUFFER_SECTOR = 32, /* bytes of memory that one transaction may write to (IV-F) */
};

/* Whether a buffer with `entries` entries, of which `before` are in use, can grow to `after`. An empty buffer accepts
 * an instruction with more entries than any buffer has. */
static inline bool atomic_buffer_fits(uint32_t before, uint32_t after, uint32_t entries)
{
    return !before || after <= entries;
}

/* The entry with which a flush of the SM's buffer begins; after the last entry it continues with the first. */
static inline uint32_t atomic_buffer_first(bool offset, uint32_t sm, uint32_t count)
{
    return offset && sm % 2 == 0 && count > ATOMIC_BUFFER_OFFSET ? ATOMIC_BUFFER_OFFSET : 0;
}

#endif
