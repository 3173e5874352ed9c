/* cuda/per_thread.h: the driver's functions for programs compiled with -default-stream per-thread. */
#ifndef HEDDLE_CUDA_PER_THREAD_H
#define HEDDLE_CUDA_PER_THREAD_H

typedef void entry_point(void); /* a function whose type its name says */

/* What such a program is to call instead; the function itself where there is no difference. */
entry_point *per_thread_of(entry_point *function);
/* The stub of a function that Heddle does not have: it ignores its arguments, reports its name and returns
 * CUDA_ERROR_NOT_SUPPORTED. NULL: the name is of no function of the driver API. */
entry_point *absent_entry_point(const char *name);

#endif
