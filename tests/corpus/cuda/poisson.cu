// Poisson variates through cuRAND: double math library inside rejection loops.
// KEEP: no
#include <curand_kernel.h>

extern "C" __global__ void poisson(curandStatePhilox4_32_10_t *s, unsigned *o, double lambda)
{
    o[threadIdx.x] = curand_poisson(&s[threadIdx.x], lambda);
}
