/* launch.h: what the programs share. Memory is neither copied nor filled, so that caches are empty, as a profiler has them. */
#include <cstdio>
#include <cstdlib>

template <class T> static T *memory(size_t count)
{
    T *p = NULL;
    if (cudaMalloc(&p, count * sizeof(T))) exit(1);
    return p;
}

static inline int launch_of(int argc, char **argv)
{
    return argc > 1 ? atoi(argv[1]) : 0;
}

static inline int finish(void)
{
    const cudaError_t e = cudaDeviceSynchronize();
    if (e) fprintf(stderr, "%s\n", cudaGetErrorString(e));
    return e != cudaSuccess;
}
