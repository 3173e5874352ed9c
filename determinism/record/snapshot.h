/* determinism/record/snapshot.h: all memory of a device in a part of a file, which a child process
 * of `heddle check` writes and the parent reads.
 *
 * It has the list of allocations, then, from a page on, their bytes; pages of zeros are holes. */
#ifndef HEDDLE_DETERMINISM_RECORD_SNAPSHOT_H
#define HEDDLE_DETERMINISM_RECORD_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct emu;

struct snapshot {
    uint64_t digest; /* the one that was given to snapshot_write() */
    size_t count;
    struct snapshot_allocation {
        uint64_t address, size;
        const char *name;
        uint64_t place; /* offset of its bytes in the file */
    } * list;
    const char *printed; /* text that kernels have printed so far */
};

/* `from`: where in the file it begins, a multiple of a page. Nothing is behind it. */
bool snapshot_write(struct emu *e, const struct buf *printed, uint64_t digest, int file,
                    uint64_t from);
struct snapshot *snapshot_read(struct arena *a, int file, uint64_t from); /* NULL: it is none */

#endif
