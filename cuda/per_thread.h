/* cuda/per_thread.h: the driver's functions for programs compiled with -default-stream per-thread. */
#ifndef HEDDLE_CUDA_PER_THREAD_H
#define HEDDLE_CUDA_PER_THREAD_H

typedef void entry_point(void); /* a function; its actual type follows from its name */

/* The function that such a program calls instead; the function itself if there is no difference. */
entry_point *per_thread_of(entry_point *function);
/* The stub of a function that Heddle lacks: the stub ignores its arguments, reports its name and returns
 * CUDA_ERROR_NOT_SUPPORTED. NULL: no function of the driver API has this name. */
entry_point *absent_entry_point(const char *name);

#endif
