#define _POSIX_C_SOURCE 200809L /* pread */
#include "cli/memory_file.h"

#include "base/arena.h"

#include <sys/types.h>
#include <unistd.h>

char *memory_file_read(struct arena *a, int file, uint64_t from, size_t *size)
{
    const off_t end = lseek(file, 0, SEEK_END);
    const size_t n = end > (off_t)from ? (size_t)end - (size_t)from : 0;
    char *all = arena_alloc(a, n + 1);
    *size = 0;
    while (*size < n) {
        const ssize_t got = pread(file, all + *size, n - *size, (off_t)(from + *size));
        if (got <= 0) break;
        *size += (size_t)got;
    }
    return all;
}
