// Programmatic dependent launches. Each pair of kernels has a second one that may begin before the first one is over; those
// whose name says so touch what the first one does before it is.
// FLAGS: -arch=compute_90 -diag-suppress 20054
// NEEDS: 12
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>

namespace cg = cooperative_groups;

enum { BLOCKS = 8, THREADS = 64, COUNT = BLOCKS * THREADS };

struct memory {
    int made[COUNT], weights[COUNT], result[COUNT], sum;
};

__device__ static int me()
{
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

// Another thread's, of the same block of the first kernel or of another one.
__device__ static int other()
{
    return (me() + 5) % COUNT;
}

#define KERNEL(name) extern "C" __global__ void name(memory *m)

/* ---- first ones ---- */

KERNEL(make)
{
    cudaTriggerProgrammaticLaunchCompletion();
    m->made[me()] = me();
}

KERNEL(make_and_say_nothing)
{
    m->made[me()] = me();
}

KERNEL(take)
{
    cudaTriggerProgrammaticLaunchCompletion();
    m->result[me()] = m->made[me()];
}

KERNEL(add)
{
    cudaTriggerProgrammaticLaunchCompletion();
    atomicAdd(&m->sum, 1);
}

/* ---- between ---- */

KERNEL(let_before_waiting)
{
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
    m->weights[me()] = m->made[other()];
}

KERNEL(let_after_waiting)
{
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    m->weights[me()] = m->made[other()];
}

/* ---- second ones ---- */

KERNEL(all_wait)
{
    cudaGridDependencySynchronize();
    m->result[me()] = m->made[other()];
}

KERNEL(none_waits_racy)
{
    m->result[me()] = m->made[other()];
}

KERNEL(none_waits_for_silent_racy)
{
    m->result[me()] = m->made[other()];
}

KERNEL(not_early)
{
    m->result[me()] = m->made[other()];
}

KERNEL(behind_the_host)
{
    m->result[me()] = m->made[other()];
}

KERNEL(letting_others_is_no_wait_racy)
{
    cudaTriggerProgrammaticLaunchCompletion();
    m->result[me()] = m->made[other()];
}

KERNEL(one_waits_and_all_meet)
{
    if (threadIdx.x == 0) cudaGridDependencySynchronize();
    __syncthreads();
    m->result[me()] = m->made[other()];
}

KERNEL(one_waits_racy)
{
    if (threadIdx.x == 0) cudaGridDependencySynchronize();
    m->result[me()] = m->made[other()];
}

KERNEL(one_waits_behind_the_barrier_racy)
{
    __syncthreads();
    if (threadIdx.x == 0) cudaGridDependencySynchronize();
    m->result[me()] = m->made[other()];
}

KERNEL(one_of_each_warp_waits)
{
    if (threadIdx.x % 32 == 0) cudaGridDependencySynchronize();
    __syncwarp();
    m->result[me()] = m->made[other()];
}

KERNEL(one_warp_waits_racy)
{
    if (threadIdx.x == 0) cudaGridDependencySynchronize();
    __syncwarp();
    m->result[me()] = m->made[other()];
}

KERNEL(one_block_waits_racy)
{
    if (blockIdx.x == 0) cudaGridDependencySynchronize();
    __syncthreads();
    m->result[me()] = m->made[other()];
}

KERNEL(one_waits_and_arrives)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0) init(&b, THREADS);
    __syncthreads();
    if (threadIdx.x == 7) cudaGridDependencySynchronize();
    b.arrive_and_wait();
    m->result[me()] = m->made[other()];
}

KERNEL(some_wait_and_meet_by_name)
{
    if (threadIdx.x < 32) {
        cudaGridDependencySynchronize();
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    } else asm volatile("barrier.sync 1, 64;" ::: "memory");
    m->result[me()] = m->made[other()];
}

KERNEL(some_wait_and_arrive_racy)
{
    if (threadIdx.x < 32) {
        asm volatile("barrier.sync 1, 64;" ::: "memory");
        cudaGridDependencySynchronize();
    } else {
        asm volatile("barrier.arrive 1, 64;" ::: "memory");
        m->result[me()] = m->made[other()];
    }
}

KERNEL(__cluster_dims__(2) one_of_a_cluster_waits)
{
    if (cg::this_cluster().thread_rank() == 0) cudaGridDependencySynchronize();
    cg::this_cluster().sync();
    m->result[me()] = m->made[other()];
}

KERNEL(reads_before_waiting_racy)
{
    const int x = *(volatile int *)&m->made[other()];
    cudaGridDependencySynchronize();
    m->result[me()] = x;
}

KERNEL(prepares_before_waiting)
{
    const int x = m->weights[other()];
    cudaGridDependencySynchronize();
    m->result[me()] = x + m->made[other()];
}

KERNEL(writes_what_is_read_racy)
{
    m->made[other()] = 1;
    cudaGridDependencySynchronize();
}

KERNEL(writes_what_was_read)
{
    cudaGridDependencySynchronize();
    m->made[other()] = 1;
}

KERNEL(adds_too)
{
    atomicAdd(&m->sum, 2);
}

KERNEL(sets_what_is_added_to_racy)
{
    if (me() == 0) m->sum = 0;
}

KERNEL(reaches_past_one_racy)
{
    const int x = *(volatile int *)&m->made[other()];
    cudaGridDependencySynchronize();
    m->result[me()] = x + m->weights[other()];
}

KERNEL(reaches_past_one_that_waited)
{
    const int x = *(volatile int *)&m->made[other()];
    cudaGridDependencySynchronize();
    m->result[me()] = x + m->weights[other()];
}

static cudaStream_t stream;
static memory *room;

static void launch(void (*kernel)(memory *), bool early)
{
    cudaLaunchAttribute a;
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t c = {};
    c.gridDim = BLOCKS;
    c.blockDim = THREADS;
    c.stream = stream;
    c.attrs = &a;
    c.numAttrs = early;
    cudaLaunchKernelEx(&c, kernel, room);
}

static void finish(const char *name)
{
    const cudaError_t e = cudaStreamSynchronize(stream);
    printf("%s: %s\n", name, cudaGetErrorName(e));
}

#define PAIR(first, second)                                                                        \
    do {                                                                                           \
        launch(first, false);                                                                      \
        launch(second, true);                                                                      \
        finish(#second);                                                                           \
    } while (0)
#define THREE(first, between, last)                                                                \
    do {                                                                                           \
        launch(first, false);                                                                      \
        launch(between, true);                                                                     \
        launch(last, true);                                                                        \
        finish(#last);                                                                             \
    } while (0)

int main()
{
    cudaMalloc(&room, sizeof *room);
    cudaMemset(room, 0, sizeof *room);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    PAIR(make, all_wait);
    PAIR(make, none_waits_racy);
    PAIR(make_and_say_nothing, none_waits_for_silent_racy);
    launch(make, false);
    launch(not_early, false);
    finish("not_early");
    launch(make, false);
    cudaStreamSynchronize(stream);
    launch(behind_the_host, true);
    finish("behind_the_host");
    PAIR(make, letting_others_is_no_wait_racy);
    PAIR(make, one_waits_and_all_meet);
    PAIR(make, one_waits_racy);
    PAIR(make, one_waits_behind_the_barrier_racy);
    PAIR(make, one_of_each_warp_waits);
    PAIR(make, one_warp_waits_racy);
    PAIR(make, one_block_waits_racy);
    PAIR(make, one_waits_and_arrives);
    PAIR(make, some_wait_and_meet_by_name);
    PAIR(make, some_wait_and_arrive_racy);
    PAIR(make, one_of_a_cluster_waits);
    PAIR(make, reads_before_waiting_racy);
    PAIR(make, prepares_before_waiting);
    PAIR(take, writes_what_is_read_racy);
    PAIR(take, writes_what_was_read);
    PAIR(add, adds_too);
    PAIR(add, sets_what_is_added_to_racy);
    THREE(make, let_before_waiting, reaches_past_one_racy);
    THREE(make, let_after_waiting, reaches_past_one_that_waited);
    return 0;
}
