/* cuda/watch_points.h: HEDDLE_WATCH: writes to places that a program's user wants to see.
 *
 *     if (!watching_read(list)) ...                 // "counter[2],cuMemAlloc #3:f32"
 *     watching_join(&launch);                       // before each
 *     watching_end();                               // when the program ends
 *
 * Several variables of one name are all watched, each for as long as it is there. */
#ifndef HEDDLE_CUDA_WATCH_POINTS_H
#define HEDDLE_CUDA_WATCH_POINTS_H

#include <stdbool.h>

struct emu_launch;

bool watching_read(const char *list); /* false: what is wrong was said */
void watching_join(struct emu_launch *l);
void watching_end(void);

#endif
