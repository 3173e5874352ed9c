/* cuda/logs.h: the log that cuLogsDumpToMemory() and the like return: failed calls and faults of kernels. */
#ifndef HEDDLE_CUDA_LOGS_H
#define HEDDLE_CUDA_LOGS_H

/* Adds a line to the log and calls registered callbacks. The caller holds the lock, which is released while they run. */
void logs_add(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
