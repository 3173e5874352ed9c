/* cli/check_record.h: how a run's process writes what it came to, and check_run.c reads it: numbers of 64 bits and
 * texts with a NUL behind them, between two numbers by which a whole record is known. */
#ifndef HEDDLE_CLI_CHECK_RECORD_H
#define HEDDLE_CLI_CHECK_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define RECORD_BEGIN UINT64_C(0x486564646c653031)
#define RECORD_END UINT64_C(0x656e64206f662069)

enum { MOST_LAUNCHES = 1 << 16 };

static inline uint64_t record_mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9fb21c651e98df25);
    return h ^ h >> 29;
}

struct arena;
/* All that is in a file in memory, with a NUL behind it. */
char *check_file_read(struct arena *a, int file, size_t *size);

#endif
