/* cuda/logs.h: what cuLogsDumpToMemory and its like give: calls that failed, kernels' faults. */
#ifndef HEDDLE_CUDA_LOGS_H
#define HEDDLE_CUDA_LOGS_H

/* A line for the log, and for registered callbacks. The lock is held, but not while callbacks run. */
void logs_add(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
