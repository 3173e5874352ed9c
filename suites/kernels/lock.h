// A spin lock by acquire and release. What it protects may be plain accesses: neither nvcc nor the GPU moves them out of
// the locked part, and no fence is needed.
#pragma once

// Takes the lock (from 0 to 1) if it is free.
static __device__ __forceinline__ bool lock_try(unsigned *lock)
{
    unsigned was;
    asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], 0, 1;" : "=r"(was) : "l"(lock) : "memory");
    return was == 0;
}

static __device__ __forceinline__ void lock_give_back(unsigned *lock)
{
    asm volatile("{ .reg .b32 was; atom.release.gpu.exch.b32 was, [%0], 0; }" ::"l"(lock)
                 : "memory");
}
