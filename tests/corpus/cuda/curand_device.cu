// cuRAND device generators: XORWOW, MRG32k3a, Philox, Sobol; uniform, normal, log-normal and Poisson; skip-ahead tables.
// KEEP: 80
#include <curand_kernel.h>

extern "C" __global__ void xorwow(curandStateXORWOW_t *s, float *f, double *d, int n)
{
    curandStateXORWOW_t r = s[threadIdx.x];
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += curand_uniform(&r) + curand_normal(&r) + curand_log_normal(&r, 0.0f, 1.0f);
    f[threadIdx.x] = sum + curand(&r);
    d[threadIdx.x] = curand_uniform_double(&r) + curand_normal_double(&r);
    s[threadIdx.x] = r;
}

extern "C" __global__ void philox(unsigned long long seed, float4 *f, uint4 *u)
{
    curandStatePhilox4_32_10_t r;
    curand_init(seed, threadIdx.x, 0, &r);
    u[threadIdx.x] = curand4(&r);
    f[threadIdx.x] = curand_normal4(&r);
    f[threadIdx.x + 32] = curand_uniform4(&r);
}

extern "C" __global__ void mrg(curandStateMRG32k3a_t *s, double *d)
{
    curandStateMRG32k3a_t r = s[threadIdx.x];
    d[threadIdx.x] = curand_uniform_double(&r) + curand(&r);
    s[threadIdx.x] = r;
}

extern "C" __global__ void sobol(curandStateSobol32_t *s, float *f)
{
    f[threadIdx.x] = curand_uniform(&s[threadIdx.x]);
    f[threadIdx.x + 32] = curand_normal(&s[threadIdx.x]);
}

extern "C" __global__ void seed(curandStateXORWOW_t *s, unsigned long long k) { curand_init(k, threadIdx.x, 0, &s[threadIdx.x]); }
