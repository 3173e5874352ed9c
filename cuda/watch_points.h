/* cuda/watch_points.h: HEDDLE_WATCH: reports writes to places of device memory that the user names.
 *
 *     if (!watch_points_read(list)) ...                 // "counter[2],cuMemAlloc #3:f32"
 *     watch_points_join(&launch);                       // before each launch
 *     watch_points_end();                               // when the program ends
 *
 * If several variables have one name, all of them are watched, each while it is allocated. */
#ifndef HEDDLE_CUDA_WATCH_POINTS_H
#define HEDDLE_CUDA_WATCH_POINTS_H

#include <stdbool.h>

struct emu_launch;

bool watch_points_read(const char *list); /* false after an error message */
void watch_points_join(struct emu_launch *l);
void watch_points_end(void);

#endif
