// FFT in shared memory and back, n-body, convolution with constant weights, game of life, Mandelbrot, histograms.
#include "self.cuh"

__global__ void fft(float2 *data, int n, float sign)
{
    extern __shared__ float2 tile[];
    const int bits = 31 - __clz(n);
    float2 *mine = data + blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) tile[__brev(i) >> (32 - bits)] = mine[i];
    for (int half = 1; half < n; half *= 2) {
        __syncthreads();
        for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
            const int k = i % half, at = i / half * 2 * half + k;
            float s, c;
            sincospif(sign * k / half, &s, &c);
            const float2 a = tile[at], b = tile[at + half];
            const float2 t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
            tile[at] = make_float2(a.x + t.x, a.y + t.y);
            tile[at + half] = make_float2(a.x - t.x, a.y - t.y);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = tile[i];
}

__global__ void forces(const float4 *bodies, float4 *out, int n)
{
    __shared__ float4 tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int t = 0; t < n; t += 64) {
        tile[threadIdx.x] = t + threadIdx.x < n ? bodies[t + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < 64; k++) {
            const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = tile[k].w * r * r * r;
            ax += dx * f, ay += dy * f, az += dz * f;
        }
        __syncthreads();
    }
    if (i < n) out[i] = make_float4(ax, ay, az, 0);
}

__constant__ float weights[9];

__global__ void convolve(const float *in, float *out, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int k = 0; k < 9; k++) {
        const int u = min(max(x + k % 3 - 1, 0), w - 1), v = min(max(y + k / 3 - 1, 0), h - 1);
        sum += weights[k] * in[v * w + u];
    }
    out[y * w + x] = sum;
}

__global__ void live(const unsigned char *in, unsigned char *out, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= n) return;
    int around = 0;
    for (int k = 0; k < 9; k++)
        if (k != 4) around += in[(y + k / 3 - 1 + n) % n * n + (x + k % 3 - 1 + n) % n];
    out[y * n + x] = around == 3 || (around == 2 && in[y * n + x]);
}

__host__ __device__ inline int escapes(double cx, double cy)
{
    double x = 0, y = 0;
    int i = 0;
    for (; i < 200 && x * x + y * y <= 4; i++) {
        const double t = fma(x, x, fma(-y, y, cx));
        y = fma(2 * x, y, cy);
        x = t;
    }
    return i;
}
__global__ void mandelbrot(int *out, int w)
{
    out[blockIdx.x * w + threadIdx.x] = escapes(threadIdx.x * 3.0 / w - 2.2, blockIdx.x * 2.0 / gridDim.x - 1);
}

__global__ void histogram(const unsigned char *in, int n, unsigned *bins)
{
    __shared__ unsigned mine[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    const uchar4 *four = (const uchar4 *)in;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        const uchar4 v = four[i];
        atomicAdd(&mine[v.x], 1u);
        atomicAdd(&mine[v.y], 1u);
        atomicAdd(&mine[v.z], 1u);
        atomicAdd(&mine[v.w], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

int main()
{
    const int n = 256;
    std::vector<float2> wave(2 * n);
    for (int i = 0; i < 2 * n; i++) wave[i] = make_float2(draw(i) % 100 - 50.0f, draw(i + 1000) % 100 - 50.0f);
    room<float2> data(wave);
    fft<<<2, 64, n * sizeof(float2)>>>(data, n, -1);
    const std::vector<float2> spectrum = data.get();
    for (int k = 0; k < n; k += 37)
        for (int batch = 0; batch < 2; batch++) {
            double re = 0, im = 0;
            for (int i = 0; i < n; i++) {
                const double angle = -2 * M_PI * k * i / n, c = std::cos(angle), s = std::sin(angle);
                re += wave[batch * n + i].x * c - wave[batch * n + i].y * s;
                im += wave[batch * n + i].x * s + wave[batch * n + i].y * c;
            }
            CHECK(std::fabs(spectrum[batch * n + k].x - re) < 0.01 && std::fabs(spectrum[batch * n + k].y - im) < 0.01);
        }
    fft<<<2, 64, n * sizeof(float2)>>>(data, n, 1);
    for (int i = 0; i < 2 * n; i++) CHECK(std::fabs(data.get()[i].x / n - wave[i].x) < 0.001);

    std::vector<float4> bodies(150);
    for (int i = 0; i < 150; i++)
        bodies[i] = make_float4(draw(i) % 100, draw(i + 200) % 100, draw(i + 400) % 100, 1 + draw(i + 600) % 5);
    room<float4> from(bodies), to(150);
    forces<<<3, 64>>>(from, to, 150);
    const std::vector<float4> f = to.get();
    for (int i = 0; i < 150; i++) {
        double ax = 0;
        for (const float4 &b : bodies) {
            const double dx = b.x - bodies[i].x, dy = b.y - bodies[i].y, dz = b.z - bodies[i].z;
            ax += b.w * dx * std::pow(dx * dx + dy * dy + dz * dz + 0.01, -1.5);
        }
        CHECK(std::fabs(f[i].x - ax) < 1e-4 * (1 + std::fabs(ax)));
    }

    const int w = 50, h = 30;
    const float kernel[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    std::vector<float> image(w * h), blurred(w * h);
    for (int i = 0; i < w * h; i++) image[i] = draw(i) % 256;
    for (int i = 0; i < w * h; i++)
        for (int k = 0; k < 9; k++) {
            const int u = std::min(std::max(i % w + k % 3 - 1, 0), w - 1), v = std::min(std::max(i / w + k / 3 - 1, 0), h - 1);
            blurred[i] += kernel[k] * image[v * w + u];
        }
    OK(cudaMemcpyToSymbol(weights, kernel, sizeof kernel));
    room<float> in(image), out(w * h);
    convolve<<<dim3(4, 4), dim3(16, 8)>>>(in, out, w, h);
    CHECK(out.get() == blurred);

    const int side = 48;
    std::vector<unsigned char> world(side * side), next(side * side);
    for (int i = 0; i < side * side; i++) world[i] = draw(i) % 3 == 0;
    room<unsigned char> a(world), b(side * side);
    for (int round = 0; round < 6; round++) {
        live<<<dim3(1, side), 64>>>(round % 2 ? b : a, round % 2 ? a : b, side);
        for (int i = 0; i < side * side; i++) {
            int around = 0;
            for (int k = 0; k < 9; k++)
                if (k != 4) around += world[(i / side + k / 3 - 1 + side) % side * side + (i % side + k % 3 - 1 + side) % side];
            next[i] = around == 3 || (around == 2 && world[i]);
        }
        world.swap(next);
    }
    CHECK(a.get() == world);

    room<int> picture(40 * 64);
    mandelbrot<<<40, 64>>>(picture, 64);
    const std::vector<int> seen = picture.get();
    for (int i = 0; i < 40 * 64; i++) CHECK(seen[i] == escapes(i % 64 * 3.0 / 64 - 2.2, i / 64 * 2.0 / 40 - 1));

    std::vector<unsigned char> bytes(8000);
    std::vector<unsigned> bins(256);
    for (int i = 0; i < 8000; i++) bins[bytes[i] = draw(i) % 200 * (draw(i + 7) % 2)]++;
    room<unsigned char> text(bytes);
    room<unsigned> counted(256);
    histogram<<<5, 96>>>(text, 8000, counted);
    CHECK(counted.get() == bins);
    return verdict();
}
