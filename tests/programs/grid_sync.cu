// A grid that meets many times: relaxation of a line, launched cooperatively at full occupancy.
#include "self.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void relax(double *a, double *b, int n, int rounds)
{
    const cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = i == 0 || i == n - 1 ? a[i] : 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
        grid.sync();
        double *other = a;
        a = b;
        b = other;
    }
}

__global__ void shape(int *out)
{
    const cg::grid_group grid = cg::this_grid();
    if (grid.thread_rank() == 0) {
        out[0] = grid.is_valid();
        out[1] = grid.num_blocks();
        out[2] = grid.num_threads();
    }
    if (grid.block_rank() == 3 && threadIdx.x == 0) out[3] = grid.block_index().x + 10 * grid.block_index().y;
}

int main()
{
    int n = 1000, rounds = 7, per_sm = 0, sms = 0, can = 0;
    std::vector<double> host(n), next(n);
    for (int i = 0; i < n; i++) host[i] = draw(i) % 1000;
    room<double> a(host), b(n);
    OK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, relax, 64, 0));
    CHECK(can == 1 && sms > 0 && per_sm > 0);
    void *args[] = {&a.at, &b.at, &n, &rounds};
    OK(cudaLaunchCooperativeKernel((void *)relax, 12, 64, args, 0, 0));
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            next[i] = i == 0 || i == n - 1 ? host[i] : 0.25 * host[i - 1] + 0.5 * host[i] + 0.25 * host[i + 1];
        host.swap(next);
    }
    CHECK(b.get() == host);
    FAILS(cudaErrorCooperativeLaunchTooLarge,
          cudaLaunchCooperativeKernel((void *)relax, per_sm * sms + 1, 64, args, 0, 0));
    CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    room<int> out(4);
    void *shape_args[] = {&out.at};
    OK(cudaLaunchCooperativeKernel((void *)shape, dim3(2, 2), 32, shape_args, 0, 0));
    CHECK(out.get() == (std::vector<int>{1, 4, 128, 11}));
    return verdict();
}
