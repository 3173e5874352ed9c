/* cli/memory_map.h: the file of `heddle run --memory-map FILE.yaml`: which partition holds which bytes (docs/run.md).
 *
 *     struct buf why = {0};
 *     if (!memory_map_read(arena, "map.yaml", &options, &why)) fprintf(stderr, "%s", why.data);      // the caller frees it */
#ifndef HEDDLE_CLI_MEMORY_MAP_H
#define HEDDLE_CLI_MEMORY_MAP_H

#include <stdbool.h>

struct arena;
struct buf;
struct placement_options;

/* Whether the text of the option names a file. */
bool memory_map_is_file(const char *text);
/* Sets map, grain and rules, which are the arena's. `o->partitions` is how many there are. false: `*why` says what is wrong. */
bool memory_map_read(struct arena *a, const char *path, struct placement_options *o,
                     struct buf *why);

#endif
