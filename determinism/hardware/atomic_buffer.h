/* determinism/hardware/atomic_buffer.h: DAB's atomic buffer (MICRO 2020, sections IV-B and IV-C): when it is full, and
 * with which entry a flush begins.
 *
 * An entry has a lane's reduction: address, operand, operation. The order keeps entries with operands and finds those
 * to be fused (IV-E) in a table. The timing model keeps addresses alone. */
#ifndef HEDDLE_DETERMINISM_HARDWARE_ATOMIC_BUFFER_H
#define HEDDLE_DETERMINISM_HARDWARE_ATOMIC_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ATOMIC_BUFFER_OFFSET = 32, /* entries: where SMs of even number begin to flush (VI-B) */
    ATOMIC_BUFFER_SECTOR = 32, /* bytes of memory that one transaction may write to (IV-F) */
};

/* Whether a buffer of `entries` that has `before` may have `after`. An instruction that no buffer could hold fits an
 * empty one. */
static inline bool atomic_buffer_fits(uint32_t before, uint32_t after, uint32_t entries)
{
    return !before || after <= entries;
}

/* The entry that a flush of the SM's buffer begins with; after the last one it goes on with the first. */
static inline uint32_t atomic_buffer_first(bool offset, uint32_t sm, uint32_t count)
{
    return offset && sm % 2 == 0 && count > ATOMIC_BUFFER_OFFSET ? ATOMIC_BUFFER_OFFSET : 0;
}

#endif
