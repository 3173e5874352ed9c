/* cuda/logs.h: what cuLogsDumpToMemory and its like tell: calls that failed, kernels' faults. */
#ifndef HEDDLE_CUDA_LOGS_H
#define HEDDLE_CUDA_LOGS_H

/* A line for the log, and for those who have asked to be told. The lock is held, and not while they are told. */
void logs_add(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
