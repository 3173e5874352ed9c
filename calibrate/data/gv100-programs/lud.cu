/* lud (Rodinia): factors of a matrix of 2048 x 2048 in tiles of 16 x 16, three launches for each tile of the diagonal: it,
 * those beside and below it, all others. ./lud LAUNCH: tile LAUNCH / 3. */
#include "launch.h"

enum { N = 2048, T = 16 };

__global__ void diagonal(float *m, int offset)
{
    __shared__ float tile[T][T];
    const int x = threadIdx.x;
    int at = offset * N + offset;
    for (int i = 0; i < T; i++, at += N) tile[i][x] = m[at + x];
    __syncthreads();
    for (int i = 0; i < T - 1; i++) {
        if (x > i) {
            for (int j = 0; j < i; j++) tile[x][i] -= tile[x][j] * tile[j][i];
            tile[x][i] /= tile[i][i];
        }
        __syncthreads();
        if (x > i)
            for (int j = 0; j < i + 1; j++) tile[i + 1][x] -= tile[i + 1][j] * tile[j][x];
        __syncthreads();
    }
    at = (offset + 1) * N + offset;
    for (int i = 1; i < T; i++, at += N) m[at + x] = tile[i][x];
}

/* Half of the warp has a tile beside the diagonal's, the other half one below. */
__global__ void border(float *m, int offset)
{
    __shared__ float dia[T][T], row[T][T], column[T][T];
    const int x = threadIdx.x % T, b = (blockIdx.x + 1) * T;
    const bool beside = threadIdx.x < T;
    if (beside) {
        int at = offset * N + offset;
        for (int i = 0; i < T / 2; i++, at += N) dia[i][x] = m[at + x];
        at = offset * N + offset + b;
        for (int i = 0; i < T; i++, at += N) row[i][x] = m[at + x];
    } else {
        int at = (offset + T / 2) * N + offset;
        for (int i = T / 2; i < T; i++, at += N) dia[i][x] = m[at + x];
        at = (offset + b) * N + offset;
        for (int i = 0; i < T; i++, at += N) column[i][x] = m[at + x];
    }
    __syncthreads();
    if (beside) {
#pragma unroll
        for (int i = 1; i < T; i++)
#pragma unroll
            for (int j = 0; j < i; j++) row[i][x] -= dia[i][j] * row[j][x];
    } else {
#pragma unroll
        for (int i = 0; i < T; i++) {
#pragma unroll
            for (int j = 0; j < i; j++) column[x][i] -= column[x][j] * dia[j][i];
            column[x][i] /= dia[i][i];
        }
    }
    __syncthreads();
    if (beside) {
        int at = (offset + 1) * N + offset + b;
        for (int i = 1; i < T; i++, at += N) m[at + x] = row[i][x];
    } else {
        int at = (offset + b) * N + offset;
        for (int i = 0; i < T; i++, at += N) m[at + x] = column[i][x];
    }
}

__global__ void inner(float *m, int offset)
{
    __shared__ float row[T][T], column[T][T];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i = offset + (blockIdx.y + 1) * T, j = offset + (blockIdx.x + 1) * T;
    row[y][x] = m[(offset + y) * N + j + x];
    column[y][x] = m[(i + y) * N + offset + x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < T; k++) sum += column[y][k] * row[k][x];
    m[(i + y) * N + j + x] -= sum;
}

int main(int argc, char **argv)
{
    float *m = memory<float>(N * N);
    const int launch = launch_of(argc, argv), step = launch / 3, left = N / T - 1 - step;
    if (launch % 3 == 0) diagonal<<<1, T>>>(m, step * T);
    else if (launch % 3 == 1) border<<<left, 2 * T>>>(m, step * T);
    else inner<<<dim3(left, left), dim3(T, T)>>>(m, step * T);
    return finish();
}
