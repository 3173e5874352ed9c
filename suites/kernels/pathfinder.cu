// The cheapest way from the top of a grid to each cell, a step down moves by at most one column. A
// block of 256 threads does `rows` rows; it reads `rows` columns more on either side than it writes.
enum { B = 256 };

extern "C" __global__ void pathfinder(int rows, int columns, const int *wall, const int *in, int *out)
{
    __shared__ int now[B], next[B];
    int t = threadIdx.x;
    int x = (int)blockIdx.x * (B - 2 * rows) + t - rows;
    bool here = x >= 0 && x < columns;
    if (here) now[t] = in[x];
    __syncthreads();
    int left = x > 0 ? t - 1 : t, right = x < columns - 1 ? t + 1 : t;
    for (int r = 0; r < rows; r++) {
        bool valid = here && t > r && t < B - 1 - r;
        if (valid) next[t] = min(min(now[left], now[t]), now[right]) + wall[r * columns + x];
        __syncthreads();
        if (valid) now[t] = next[t];
        __syncthreads();
    }
    if (here && t >= rows && t < B - rows) out[x] = now[t];
}
