/* nw (Rodinia): Needleman-Wunsch on tiles of 16 x 16, a launch for each of their diagonals. ./nw LAUNCH: the diagonal of
 * LAUNCH + 1 tiles. */
#include "launch.h"

enum { COLUMNS = 2049, T = 16, PENALTY = 10 };

__device__ int largest(int a, int b, int c)
{
    const int k = a <= b ? b : a;
    return k <= c ? c : k;
}

__global__ void scores(const int *reference, int *score, int tiles)
{
    __shared__ int temp[T + 1][T + 1], ref[T][T];
    const int x = threadIdx.x;
    const int corner = COLUMNS * T * (tiles - 1 - blockIdx.x) + T * blockIdx.x,
              inner = corner + COLUMNS + 1 + x;
    if (x == 0) temp[x][0] = score[corner];
    for (int y = 0; y < T; y++) ref[y][x] = reference[inner + COLUMNS * y];
    __syncthreads();
    temp[x + 1][0] = score[corner + COLUMNS + COLUMNS * x];
    __syncthreads();
    temp[0][x + 1] = score[corner + 1 + x];
    __syncthreads();
    for (int m = 0; m < T; m++) {
        if (x <= m) {
            const int i = m - x + 1, j = x + 1;
            temp[i][j] = largest(temp[i - 1][j - 1] + ref[i - 1][j - 1], temp[i][j - 1] - PENALTY,
                                 temp[i - 1][j] - PENALTY);
        }
        __syncthreads();
    }
    for (int m = T - 2; m >= 0; m--) {
        if (x <= m) {
            const int i = T - x, j = x + T - m;
            temp[i][j] = largest(temp[i - 1][j - 1] + ref[i - 1][j - 1], temp[i][j - 1] - PENALTY,
                                 temp[i - 1][j] - PENALTY);
        }
        __syncthreads();
    }
    for (int y = 0; y < T; y++) score[inner + COLUMNS * y] = temp[y + 1][x + 1];
}

int main(int argc, char **argv)
{
    const int tiles = launch_of(argc, argv) + 1;
    scores<<<tiles, T>>>(memory<int>(COLUMNS * COLUMNS), memory<int>(COLUMNS * COLUMNS), tiles);
    return finish();
}
