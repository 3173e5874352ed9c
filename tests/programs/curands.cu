// curand's device API: XORWOW, Philox, MRG32k3a, Sobol; Philox against its paper.
#include "self.cuh"
#include <curand_kernel.h>

template <class S> __host__ __device__ static void numbers(S &s, unsigned *bits, float *uniform, float *normal)
{
    for (int k = 0; k < 4; k++) bits[k] = curand(&s);
    for (int k = 0; k < 4; k++) uniform[k] = curand_uniform(&s);
    for (int k = 0; k < 4; k++) normal[k] = curand_normal(&s);
}

template <class S> __global__ void draws(S *states, unsigned *bits, float *uniform, float *normal)
{
    const int i = threadIdx.x;
    curand_init(1234ull, i, 10 * i, &states[i]);
    S mine = states[i];
    numbers(mine, bits + 4 * i, uniform + 4 * i, normal + 4 * i);
    states[i] = mine;
}

__global__ void pi(unsigned long long *inside, int each)
{
    curandStatePhilox4_32_10_t s;
    curand_init(42, blockIdx.x * blockDim.x + threadIdx.x, 0, &s);
    unsigned n = 0;
    for (int i = 0; i < each; i++) {
        const float4 v = curand_uniform4(&s);
        n += (v.x * v.x + v.y * v.y < 1) + (v.z * v.z + v.w * v.w < 1);
    }
    atomicAdd(inside, (unsigned long long)n);
}

__global__ void poisson(unsigned *out)
{
    curandState s;
    curand_init(5, threadIdx.x, 0, &s);
    unsigned sum = 0;
    for (int i = 0; i < 50; i++) sum += curand_poisson(&s, 4.0);
    out[threadIdx.x] = sum;
}

template <class S> static void run()
{
    const int n = 32;
    room<S> states(n);
    room<unsigned> bits(4 * n);
    room<float> uniform(4 * n), normal(4 * n);
    draws<S><<<1, n>>>(states, bits, uniform, normal);
    const std::vector<unsigned> b = bits.get();
    const std::vector<float> u = uniform.get(), g = normal.get();
    int equal = 0;
    for (int i = 1; i < 4 * n; i++) equal += b[i] == b[i - 1];
    CHECK(equal == 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < 4 * n; i++) {
        CHECK(u[i] > 0 && u[i] <= 1);
        sum += g[i];
        squares += g[i] * g[i];
    }
    CHECK(std::fabs(sum / (4 * n)) < 0.4 && std::fabs(squares / (4 * n) - 1) < 0.5);
}

static unsigned rotated(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x * y) >> 32); }

/* Philox4x32-10 (Salmon et al., 2011), written out. */
static void philox(unsigned c[4], unsigned k0, unsigned k1)
{
    for (int r = 0; r < 10; r++) {
        const unsigned a = rotated(0xd2511f53, c[0]), b = 0xd2511f53 * c[0];
        const unsigned d = rotated(0xcd9e8d57, c[2]), e = 0xcd9e8d57 * c[2];
        const unsigned next[4] = {d ^ c[1] ^ k0, e, a ^ c[3] ^ k1, b};
        memcpy(c, next, sizeof next);
        k0 += 0x9e3779b9, k1 += 0xbb67ae85;
    }
}

int main()
{
    run<curandStateXORWOW_t>();
    run<curandStatePhilox4_32_10_t>();
    run<curandStateMRG32k3a_t>();

    const int n = 32;
    room<curandStatePhilox4_32_10_t> states(n);
    room<unsigned> bits(4 * n);
    room<float> uniform(4 * n), normal(4 * n);
    draws<<<1, n>>>(states.at, bits.at, uniform.at, normal.at);
    const std::vector<unsigned> got = bits.get();
    for (unsigned i = 0; i < (unsigned)n; i++)
        for (unsigned k = 0; k < 4; k++) {
            const unsigned at = 10 * i + k;
            unsigned c[4] = {at / 4, 0, i, 0};
            philox(c, 1234, 0);
            CHECK(got[4 * i + k] == c[at % 4]);
        }

    room<unsigned long long> inside(1);
    pi<<<4, 64>>>(inside, 50);
    CHECK(std::fabs(4.0 * inside.get()[0] / (4 * 64 * 50 * 2) - M_PI) < 0.05);
    room<unsigned> sums(64);
    poisson<<<1, 64>>>(sums);
    double mean = 0;
    for (unsigned s : sums.get()) mean += s / 50.0 / 64;
    CHECK(std::fabs(mean - 4) < 0.2);
    return verdict();
}
