// self.cuh: what the programs check themselves with.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int wrong;

static inline void check(bool right, const char *what, int line)
{
    if (!right && wrong++ < 5) printf("line %d: not so: %s\n", line, what);
}
static inline void check_error(cudaError_t got, cudaError_t want, const char *call, int line)
{
    if (got != want && wrong++ < 5) printf("line %d: %s: %s\n", line, call, cudaGetErrorName(got));
}
#define CHECK(right) check((right), #right, __LINE__)
#define OK(call) check_error((call), cudaSuccess, #call, __LINE__)
#define FAILS(error, call) check_error((call), (error), #call, __LINE__)

// Of main: its exit status.
static inline int verdict()
{
    OK(cudaDeviceSynchronize());
    OK(cudaGetLastError());
    printf("%d wrong\n", wrong);
    return wrong != 0;
}

// An array of the device, copied from and to the host.
template <class T> struct room {
    T *at;
    size_t n;
    explicit room(size_t n) : n(n)
    {
        OK(cudaMalloc(&at, n * sizeof(T)));
        OK(cudaMemset(at, 0, n * sizeof(T)));
        OK(cudaDeviceSynchronize()); /* the host does not wait for a fill, and some streams do not either */
    }
    explicit room(const std::vector<T> &from) : n(from.size())
    {
        OK(cudaMalloc(&at, n * sizeof(T)));
        OK(cudaMemcpy(at, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    room(const room &) = delete;
    ~room() { OK(cudaFree(at)); }
    std::vector<T> get() const
    {
        std::vector<T> out(n);
        OK(cudaMemcpy(out.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }
    operator T *() const { return at; }
};

// Numbers that look like chance, the same everywhere.
static inline unsigned draw(unsigned i)
{
    i = (i ^ 61) ^ (i >> 16);
    i *= 9;
    i ^= i >> 4;
    i *= 0x27d4eb2d;
    return i ^ (i >> 15);
}

static inline bool near(double a, double b, double relative)
{
    return std::fabs(a - b) <= relative * std::fmax(1.0, std::fabs(b));
}
