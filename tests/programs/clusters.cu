// Clusters: their launch by attribute and by kernel, shared memory of other blocks, their barrier.
// FLAGS: -arch=compute_90
// NEEDS: 12
#include "self.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rotate(const int *in, int *out)
{
    __shared__ int mine[64];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), n = cluster.num_blocks();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    mine[threadIdx.x] = in[i];
    cluster.sync();
    const int *theirs = cluster.map_shared_rank(mine, (rank + 1) % n);
    out[i] = theirs[threadIdx.x] + 1000 * (int)rank;
    cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) histogram(const int *in, int *out, int n)
{
    __shared__ int bins[16];
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(cluster.map_shared_rank(&bins[in[i] / 2], in[i] % 2), 1);
    cluster.sync();
    if (threadIdx.x < 16) atomicAdd(&out[2 * threadIdx.x + cluster.block_rank()], bins[threadIdx.x]);
}

int main()
{
    const int n = 8 * 64;
    std::vector<int> in(n), want(n), bins(32);
    for (int i = 0; i < n; i++) in[i] = draw(i) % 32, bins[in[i]]++;
    room<int> from(in), to(n), counted(32);
    for (unsigned size = 1; size <= 8; size *= 2) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = size;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = 8;
        config.blockDim = 64;
        config.attrs = &attribute;
        config.numAttrs = 1;
        OK(cudaLaunchKernelEx(&config, rotate, (const int *)from.at, to.at));
        for (int i = 0; i < n; i++) {
            const int block = i / 64, first = block / (int)size * (int)size, rank = block - first;
            want[i] = in[(first + (rank + 1) % (int)size) * 64 + i % 64] + 1000 * rank;
        }
        CHECK(to.get() == want);
    }
    histogram<<<4, 64>>>(from, counted, n);
    CHECK(counted.get() == bins);
    histogram<<<3, 64>>>(from, counted, n);
    FAILS(cudaErrorInvalidClusterSize, cudaGetLastError());
    return verdict();
}
