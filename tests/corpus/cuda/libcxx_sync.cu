// libcu++ barrier, latch, semaphores and cuda::pipeline in shared and global memory: mbarrier, try_wait loops, cp.async.
// KEEP: 75 80 90
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cooperative_groups.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

extern "C" __global__ void block_barrier(int *data)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        auto token = bar.arrive();
        data[threadIdx.x] += i;
        bar.wait(std::move(token));
    }
    bar.arrive_and_wait();
    bar.arrive_and_drop();
}

extern "C" __global__ void staged_copy(const int4 *in, int4 *out, int n)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ alignas(16) int4 buffer[256];
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&buffer[threadIdx.x], &in[blockIdx.x * 256 + threadIdx.x], cuda::aligned_size_t<16>(16), bar);
    bar.arrive_and_wait();
    out[blockIdx.x * 256 + threadIdx.x] = buffer[255 - threadIdx.x];
}

extern "C" __global__ void thread_pipeline(const float4 *in, float4 *out, int n)
{
    __shared__ float4 stage[2][128];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(&stage[0][t], &in[t], cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
    for (int i = 1; i < n; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stage[i & 1][t], &in[i * 128 + t], cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        out[(i - 1) * 128 + t] = stage[(i - 1) & 1][t];
        pipe.consumer_release();
    }
    pipe.consumer_wait();
    out[(n - 1) * 128 + t] = stage[(n - 1) & 1][t];
    pipe.consumer_release();
}

extern "C" __global__ void block_pipeline(const int *in, int *out, int n)
{
    auto block = cooperative_groups::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    extern __shared__ int tile[];
    auto pipe = cuda::make_pipeline(block, &state);
    for (int i = 0; i < n; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, tile, in + i * 256, 256 * sizeof(int), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        block.sync();
        out[i * 256 + threadIdx.x] = tile[255 - threadIdx.x];
        block.sync();
        pipe.consumer_release();
    }
}

__device__ cuda::counting_semaphore<cuda::thread_scope_device, 4> pool{4};
__device__ cuda::latch<cuda::thread_scope_device> gate{64};

extern "C" __global__ void limited(int *data)
{
    pool.acquire();
    data[blockIdx.x]++;
    pool.release();
    gate.arrive_and_wait();
    if (pool.try_acquire()) {
        data[1]++;
        pool.release();
    }
    gate.count_down();
    data[2] = gate.try_wait();
}
