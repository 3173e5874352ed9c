// libcu++: atomics and references to them, barriers, latches, semaphores, containers.
// FLAGS: -arch=compute_80
#include "self.cuh"
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>

template <class A> __global__ void counts(A *a, int *plain)
{
    a->fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(plain[0]).fetch_max((int)threadIdx.x);
    cuda::atomic_ref<int, cuda::thread_scope_device>(plain[1]).fetch_or(1 << threadIdx.x % 8);
    int seen = plain[2];
    cuda::atomic_ref<int> third(plain[2]);
    while (!third.compare_exchange_weak(seen, seen + 2)) {
    }
}

// A value is handed over: release and acquire.
__global__ void hand_over(int *value, cuda::atomic<int, cuda::thread_scope_device> *flag, int *out)
{
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            *value = 42;
            flag->store(1, cuda::memory_order_release);
            flag->notify_all();
        }
    } else if (threadIdx.x == 0) {
        flag->wait(0, cuda::memory_order_acquire);
        out[blockIdx.x] = *value;
    }
}

__global__ void phases(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> meet;
    __shared__ int tile[96];
    const int i = threadIdx.x;
    if (i == 0) init(&meet, blockDim.x);
    __syncthreads();
    int v = i;
    for (int round = 0; round < 5; round++) {
        tile[i] = v;
        auto token = meet.arrive();
        const int mine = v * 2;
        meet.wait(cuda::std::move(token));
        v = (mine + tile[(i + 1) % 96]) % 1000;
        meet.arrive_and_wait();
    }
    out[i] = v;
}

__global__ void gates(int *out)
{
    typedef cuda::latch<cuda::thread_scope_block> latch;
    typedef cuda::counting_semaphore<cuda::thread_scope_block, 4> semaphore;
    __shared__ alignas(latch) char latch_room[sizeof(latch)];
    __shared__ alignas(semaphore) char semaphore_room[sizeof(semaphore)];
    __shared__ int value;
    latch &ready = *(latch *)latch_room;
    semaphore &places = *(semaphore *)semaphore_room;
    if (threadIdx.x == 0) {
        new (latch_room) latch(blockDim.x / 32);
        new (semaphore_room) semaphore(2);
        value = 0;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        places.acquire();
        atomicAdd(&value, 1);
        places.release();
        ready.count_down();
        ready.wait();
        out[threadIdx.x / 32] = atomicAdd(&value, 0);
    }
}

__global__ void containers(double *out)
{
    cuda::std::array<double, 3> a = {1, 2, 3};
    double sum = 0;
    for (double v : a) sum += v;
    const auto t = cuda::std::make_tuple(sum, 2.5, 7);
    const cuda::std::complex<double> z = cuda::std::complex<double>(1, 2) * cuda::std::complex<double>(3, -1);
    out[0] = cuda::std::get<0>(t) + cuda::std::get<2>(t);
    out[1] = z.real();
    out[2] = z.imag();
    out[3] = abs(cuda::std::complex<double>(3, 4));
}

int main()
{
    typedef cuda::atomic<int, cuda::thread_scope_device> device_int;
    room<device_int> count(1), flag(1);
    room<int> plain(3), value(1), out(96), seen(8);
    counts<<<4, 64>>>(count.at, plain.at);
    int total = 0;
    OK(cudaMemcpy(&total, count.at, sizeof total, cudaMemcpyDeviceToHost));
    CHECK(total == 256 && plain.get() == (std::vector<int>{63, 255, 512}));
    hand_over<<<8, 32>>>(value, flag.at, seen);
    CHECK(seen.get() == (std::vector<int>{0, 42, 42, 42, 42, 42, 42, 42}));
    phases<<<1, 96>>>(out);
    std::vector<int> v(96), tile;
    for (int i = 0; i < 96; i++) v[i] = i;
    for (int round = 0; round < 5; round++) {
        tile = v;
        for (int i = 0; i < 96; i++) v[i] = (2 * v[i] + tile[(i + 1) % 96]) % 1000;
    }
    CHECK(out.get() == v);
    gates<<<1, 128>>>(out);
    for (int w = 0; w < 4; w++) CHECK(out.get()[w] == 4);
    room<double> numbers(4);
    containers<<<1, 1>>>(numbers);
    CHECK(numbers.get() == (std::vector<double>{13, 5, 5, 5}));
    return verdict();
}
