/* cli/memory_file.h: files in memory that another process has written to, as its output. */
#ifndef HEDDLE_CLI_MEMORY_FILE_H
#define HEDDLE_CLI_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>

struct arena;

/* All that is in the file from this place on, with a NUL behind it. */
char *memory_file_read(struct arena *a, int file, uint64_t from, size_t *size);

#endif
