/* cli/memory_map.h: reads the file of `heddle run --memory-map FILE.yaml`: the partition of each byte (docs/run.md).
 *
 *     struct buf why = {0};
 *     if (!memory_map_read(arena, "map.yaml", &options, &why)) fprintf(stderr, "%s", why.data);      // the caller frees it */
#ifndef HEDDLE_CLI_MEMORY_MAP_H
#define HEDDLE_CLI_MEMORY_MAP_H

#include <stdbool.h>

struct arena;
struct buf;
struct placement_options;

/* Whether the value of the option is the name of a file. */
bool memory_map_is_file(const char *text);
/* Sets map, grain and rules of *o, in the arena; o->partitions must be set before. false: `why` has an error message. */
bool memory_map_read(struct arena *a, const char *path, struct placement_options *o,
                     struct buf *why);

#endif
