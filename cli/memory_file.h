/* cli/memory_file.h: reads files in memory (memfd_create) to which another process has written. */
#ifndef HEDDLE_CLI_MEMORY_FILE_H
#define HEDDLE_CLI_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>

struct arena;

/* The contents of the file from offset `from` on, NUL-terminated, in the arena. */
char *memory_file_read(struct arena *a, int file, uint64_t from, size_t *size);

#endif
