// The programs whose cycles and counts gv100-programs.csv has: a line `// ==== NAME ====` begins each file. tools/measured.sh
// takes them apart.
// ==== 3DConvolution.cu ====
/* 3DConvolution (PolyBench): 3 x 3 x 3 points, 11 of which count, of one plane of 256 x 256. ./3DConvolution LAUNCH: 0 to 99,
 * plane LAUNCH + 1. */
#include "launch.h"

enum { N = 256 };

__device__ float at(const float *a, int i, int j, int k)
{
    return a[(i * N + j) * N + k];
}

__global__ void convolve(const float *a, float *b, int i)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (j < 1 || j >= N - 1 || k < 1 || k >= N - 1) return;
    b[(i * N + j) * N + k] = -1 * at(a, i - 1, j - 1, k - 1) + 21 * at(a, i + 1, j - 1, k - 1) -
                             3 * at(a, i, j - 1, k) + 6 * at(a, i, j, k) - 9 * at(a, i, j + 1, k) +
                             2 * at(a, i - 1, j - 1, k + 1) + 4 * at(a, i + 1, j - 1, k + 1) +
                             5 * at(a, i - 1, j, k + 1) + 7 * at(a, i + 1, j, k + 1) -
                             8 * at(a, i - 1, j + 1, k + 1) + 10 * at(a, i + 1, j + 1, k + 1);
}

int main(int argc, char **argv)
{
    convolve<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(
        memory<float>(N * N * N), memory<float>(N * N * N), launch_of(argc, argv) + 1);
    return finish();
}
// ==== 3mm.cu ====
/* 3mm (PolyBench): a product of matrices of 512 x 512, a thread for an element, the sum in memory. ./3mm LAUNCH: 0 to 2,
 * which are alike. */
#include "launch.h"

enum { N = 512 };

__global__ void product(const float *a, const float *b, float *c)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < N)
        for (int k = 0; k < N; k++) c[i * N + j] += a[i * N + k] * b[k * N + j];
}

int main(void)
{
    product<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(memory<float>(N * N), memory<float>(N * N),
                                                  memory<float>(N * N));
    return finish();
}
// ==== atax.cu ====
/* atax (PolyBench): t = A x, then y = A' t, for 4096 columns and rows, a thread for an element of the result, which is in
 * memory all the time. ./atax LAUNCH: 0 or 1. */
#include "launch.h"

enum { N = 4096 };

__global__ void rows(const float *a, const float *x, float *t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        for (int j = 0; j < N; j++) t[i] += a[i * N + j] * x[j];
}

__global__ void columns(const float *a, const float *t, float *y)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < N)
        for (int i = 0; i < N; i++) y[j] += a[i * N + j] * t[i];
}

int main(int argc, char **argv)
{
    float *a = memory<float>(N * N), *x = memory<float>(N), *y = memory<float>(N);
    if (launch_of(argc, argv) == 0) rows<<<N / 256, 256>>>(a, x, y);
    else columns<<<N / 256, 256>>>(a, x, y);
    return finish();
}
// ==== cfd.cu ====
/* cfd (Rodinia, euler3d): a flow on 97024 cells, the kernels that do not go by the mesh: variables set to those at rest, the step
 * of each cell, and the step itself. ./cfd LAUNCH: 0 to 2, 3, and 5, 7, 9. */
#include "launch.h"

enum { CELLS = 97024, ROOM = 97152, VARIABLES = 5 };

__constant__ float at_rest[VARIABLES];

__global__ void set(float *variables)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (int j = 0; j < VARIABLES; j++) variables[i + j * ROOM] = at_rest[j];
}

__global__ void step_of(const float *variables, const float *areas, float *step)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    const float density = variables[i], mx = variables[i + ROOM], my = variables[i + 2 * ROOM],
                mz = variables[i + 3 * ROOM], energy = variables[i + 4 * ROOM];
    const float vx = mx / density, vy = my / density, vz = mz / density;
    const float speed2 = vx * vx + vy * vy + vz * vz;
    const float pressure = 0.4f * (energy - 0.5f * density * speed2);
    const float sound = sqrtf(1.4f * pressure / density);
    step[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(speed2) + sound));
}

__global__ void advance(int j, const float *old, float *variables, const float *step,
                        const float *fluxes)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= CELLS) return;
    const float factor = step[i] / (float)(3 + 1 - j);
    for (int k = 0; k < VARIABLES; k++)
        variables[i + k * ROOM] = old[i + k * ROOM] + factor * fluxes[i + k * ROOM];
}

int main(int argc, char **argv)
{
    float *variables = memory<float>(VARIABLES * ROOM), *old = memory<float>(VARIABLES * ROOM),
          *fluxes = memory<float>(VARIABLES * ROOM), *step = memory<float>(ROOM);
    const int launch = launch_of(argc, argv);
    if (launch < 3) set<<<ROOM / 128, 128>>>(variables);
    else if (launch == 3) step_of<<<ROOM / 192, 192>>>(variables, old, step);
    else advance<<<(CELLS + 255) / 256, 256>>>(launch / 2 - 1, old, variables, step, fluxes);
    return finish();
}
// ==== dwt2d.cu ====
/* dwt2d (Rodinia): the first launch, which takes 1024 x 1024 pixels of three bytes apart into three planes. ./dwt2d 0 */
#include "launch.h"

enum { PIXELS = 1024 * 1024, BLOCK = 256 };

__global__ void apart(int *r, int *g, int *b, const unsigned char *pixels)
{
    __shared__ unsigned char bytes[BLOCK * 3];
    const int x = threadIdx.x, at = blockIdx.x * BLOCK;
    if (x < BLOCK * 3 / 4) ((unsigned *)bytes)[x] = ((const unsigned *)(pixels + at * 3))[x];
    __syncthreads();
    if (at + x >= PIXELS) return;
    r[at + x] = bytes[x * 3] - 128;
    g[at + x] = bytes[x * 3 + 1] - 128;
    b[at + x] = bytes[x * 3 + 2] - 128;
}

int main(void)
{
    apart<<<PIXELS / BLOCK, BLOCK>>>(memory<int>(PIXELS), memory<int>(PIXELS), memory<int>(PIXELS),
                                     memory<unsigned char>(PIXELS * 3));
    return finish();
}
// ==== gaussian.cu ====
/* gaussian (Rodinia): elimination of a matrix of 1024 x 1024, two launches for each column: the factors of its rows, then
 * the rows. ./gaussian LAUNCH: column LAUNCH / 2. */
#include "launch.h"

enum { N = 1024 };

__global__ void factors(float *m, const float *a, int t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N - 1 - t) return;
    m[N * (i + t + 1) + t] = a[N * (i + t + 1) + t] / a[N * t + t];
}

__global__ void rows(float *m, float *a, float *b, int t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= N - 1 - t || j >= N - t) return;
    a[N * (i + 1 + t) + j + t] -= m[N * (i + 1 + t) + t] * a[N * t + j + t];
    if (j == 0) b[i + 1 + t] -= m[N * (i + 1 + t) + t] * b[t];
}

int main(int argc, char **argv)
{
    float *m = memory<float>(N * N), *a = memory<float>(N * N), *b = memory<float>(N);
    const int launch = launch_of(argc, argv), t = launch / 2;
    if (launch % 2 == 0) factors<<<N / 128, 128>>>(m, a, t);
    else rows<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(m, a, b, t);
    return finish();
}
// ==== gesummv.cu ====
/* gesummv (PolyBench): y = alpha A x + beta B x for 4096 rows, a thread for each, sums in memory. ./gesummv 0 */
#include "launch.h"

enum { N = 4096 };

__global__ void gesummv(float *a, float *b, float *x, float *y, float *t)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    for (int j = 0; j < N; j++) {
        t[i] = a[i * N + j] * x[j] + t[i];
        y[i] = b[i * N + j] * x[j] + y[i];
    }
    y[i] = 43532.0f * t[i] + 12313.0f * y[i];
}

int main(void)
{
    gesummv<<<N / 256, 256>>>(memory<float>(N * N), memory<float>(N * N), memory<float>(N),
                              memory<float>(N), memory<float>(N));
    return finish();
}
// ==== launch.h ====
/* launch.h: what the programs share. Memory is neither copied nor filled, so that caches are empty, as a profiler has them. */
#include <cstdio>
#include <cstdlib>

template <class T> static T *memory(size_t count)
{
    T *p = NULL;
    if (cudaMalloc(&p, count * sizeof(T))) exit(1);
    return p;
}

static inline int launch_of(int argc, char **argv)
{
    return argc > 1 ? atoi(argv[1]) : 0;
}

static inline int finish(void)
{
    const cudaError_t e = cudaDeviceSynchronize();
    if (e) fprintf(stderr, "%s\n", cudaGetErrorString(e));
    return e != cudaSuccess;
}
// ==== lud.cu ====
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
// ==== nn.cu ====
/* nn (Rodinia): distances of 42764 places from one. ./nn 0 */
#include "launch.h"

enum { PLACES = 42764 };

struct place {
    float x, y; /* each loaded by itself */
};

__global__ void distances(const struct place *place, float *to, float x, float y)
{
    const int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    if (i < PLACES)
        to[i] = sqrtf((x - place[i].x) * (x - place[i].x) + (y - place[i].y) * (y - place[i].y));
}

int main(void)
{
    distances<<<(PLACES + 255) / 256, 256>>>(memory<struct place>(PLACES), memory<float>(PLACES),
                                             30, 90);
    return finish();
}
// ==== nw.cu ====
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
