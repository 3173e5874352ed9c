// CSR matrix-vector product and breadth-first search: indirect loads, nested loops, atomicCAS, atomicMin.
extern "C" __global__ void spmv_scalar(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    double sum = 0;
    for (int j = ptr[r]; j < ptr[r + 1]; j++)
        sum += val[j] * __ldg(x + col[j]);
    y[r] = sum;
}

extern "C" __global__ void spmv_warp(int rows, const int *__restrict__ ptr, const int *__restrict__ col,
                                     const float *__restrict__ val, const float *__restrict__ x, float *__restrict__ y)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    if (r >= rows)
        return;
    float sum = 0;
    for (int j = ptr[r] + lane; j < ptr[r + 1]; j += warpSize)
        sum = fmaf(val[j], x[col[j]], sum);
    for (int d = warpSize / 2; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        y[r] = sum;
}

extern "C" __global__ void bfs_step(const int *ptr, const int *edge, int *level, const int *front, int size, int *next,
                                    int *next_size, int depth)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= size)
        return;
    int v = front[t];
    for (int j = ptr[v]; j < ptr[v + 1]; j++) {
        int w = edge[j];
        if (atomicCAS(&level[w], -1, depth) == -1)
            next[atomicAdd(next_size, 1)] = w;
    }
}

extern "C" __global__ void relax(const int *ptr, const int *edge, const int *cost, int *dist, int n, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || dist[v] == 0x7fffffff)
        return;
    for (int j = ptr[v]; j < ptr[v + 1]; j++)
        if (atomicMin(&dist[edge[j]], dist[v] + cost[j]) > dist[v] + cost[j])
            *changed = 1;
}
