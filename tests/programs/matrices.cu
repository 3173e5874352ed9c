// Matrices: tiled product, transpose with padded tiles, sparse matrix by vector, LU without pivots, 3D stencil.
#include "self.cuh"

template <class T, int TILE> __global__ void product(const T *a, const T *b, T *c, int m, int n, int k)
{
    __shared__ T x[TILE][TILE], y[TILE][TILE + 1];
    const int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (int t = 0; t < k; t += TILE) {
        x[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : T(0);
        y[threadIdx.y][threadIdx.x] = col < n && t + threadIdx.y < k ? b[(t + threadIdx.y) * n + col] : T(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++) sum += x[threadIdx.y][i] * y[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}

template <class T, int TILE> static void run_product(int m, int n, int k)
{
    std::vector<T> a(m * k), b(k * n), c(m * n);
    for (size_t i = 0; i < a.size(); i++) a[i] = (T)((int)(draw(i) % 21) - 10);
    for (size_t i = 0; i < b.size(); i++) b[i] = (T)((int)(draw(i + 77777) % 21) - 10);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++) c[i * n + j] += a[i * k + l] * b[l * n + j];
    room<T> x(a), y(b), z(m * n);
    product<T, TILE><<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(x, y, z, m, n, k);
    CHECK(z.get() == c);
}

__global__ void transpose(const double *in, double *out, int w, int h)
{
    __shared__ double tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    if (x < h && y < w) out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void sparse(const int *rows, const int *cols, const float *values, const float *x, float *y, int n)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float sum = 0;
    for (int i = rows[row] + lane; i < rows[row + 1]; i += 32) sum += values[i] * x[cols[i]];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) y[row] = sum;
}

__global__ void eliminate(double *a, int n, int k)
{
    const int i = k + 1 + blockIdx.x, j = k + 1 + threadIdx.x;
    const double f = a[i * n + k] / a[k * n + k];
    if (j < n) a[i * n + j] -= f * a[k * n + j];
    __syncthreads();
    if (threadIdx.x == 0) a[i * n + k] = f;
}

__global__ void stencil(const float *in, float *out, int nx, int ny, int nz)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    const int plane = nx * ny;
    float below = in[y * nx + x], here = in[plane + y * nx + x];
    for (int z = 1; z < nz - 1; z++) {
        const int i = z * plane + y * nx + x;
        const float above = in[i + plane];
        out[i] = 0.5f * here + 0.125f * (in[i - 1] + in[i + 1]) + 0.0625f * (in[i - nx] + in[i + nx] + below + above);
        below = here;
        here = above;
    }
}

int main()
{
    run_product<float, 16>(33, 50, 70);
    run_product<double, 8>(40, 17, 9);
    run_product<int, 32>(64, 64, 64);

    const int w = 50, h = 37;
    std::vector<double> in(w * h), turned(w * h);
    for (int i = 0; i < w * h; i++) in[i] = draw(i), turned[i % w * h + i / w] = in[i];
    room<double> from(in), to(w * h);
    transpose<<<dim3(4, 4), dim3(16, 16)>>>(from, to, w, h);
    CHECK(to.get() == turned);

    const int n = 100;
    std::vector<int> rows(1, 0), cols;
    std::vector<float> values, x(n), y(n);
    for (int i = 0; i < n; i++) x[i] = draw(i) % 10;
    for (int r = 0; r < n; r++) {
        for (unsigned k = 0; k < draw(r) % 60; k++) {
            cols.push_back(draw(r * 100 + k) % n);
            values.push_back(draw(r * 77 + k) % 9);
            y[r] += values.back() * x[cols.back()];
        }
        rows.push_back(cols.size());
    }
    room<int> dr(rows), dc(cols);
    room<float> dv(values), dx(x), dy(n);
    sparse<<<(n * 32 + 127) / 128, 128>>>(dr, dc, dv, dx, dy, n);
    CHECK(dy.get() == y);

    const int m = 32;
    std::vector<double> a(m * m);
    for (int i = 0; i < m * m; i++) a[i] = draw(i) % 100 + (i % (m + 1) == 0 ? 5000 : 0);
    room<double> da(a);
    for (int k = 0; k < m - 1; k++) eliminate<<<m - 1 - k, 32>>>(da, m, k);
    const std::vector<double> lu = da.get();
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int k = 0; k <= (i < j ? i : j); k++) sum += (k == i ? 1 : lu[i * m + k]) * lu[k * m + j];
            CHECK(near(sum, a[i * m + j], 1e-12));
        }

    const int nx = 20, ny = 18, nz = 9;
    std::vector<float> cube(nx * ny * nz), want(nx * ny * nz);
    for (size_t i = 0; i < cube.size(); i++) cube[i] = draw(i) % 64;
    for (int z = 1; z < nz - 1; z++)
        for (int yy = 1; yy < ny - 1; yy++)
            for (int xx = 1; xx < nx - 1; xx++) {
                const int i = (z * ny + yy) * nx + xx, p = nx * ny;
                want[i] = 0.5f * cube[i] + 0.125f * (cube[i - 1] + cube[i + 1]) +
                          0.0625f * (cube[i - nx] + cube[i + nx] + cube[i - p] + cube[i + p]);
            }
    room<float> cin(cube), cout(cube.size());
    stencil<<<dim3(3, 3), dim3(8, 8)>>>(cin, cout, nx, ny, nz);
    CHECK(cout.get() == want);
    return verdict();
}
