// Mandelbrot and Julia sets: data-dependent loop exits, fp64 and fixed-point 64-bit arithmetic, mul.wide, log2.
extern "C" __global__ void mandelbrot(unsigned char *out, int w, int h, double x0, double y0, double step, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    double cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0;
    int i = 0;
    while (x * x + y * y <= 4.0 && i < limit) {
        double t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        i++;
    }
    out[py * w + px] = i == limit ? 0 : 1 + i % 255;
}

extern "C" __global__ void mandelbrot_fixed(unsigned short *out, int w, int h, int x0, int y0, int step, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    int cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0, i;
    for (i = 0; i < limit; i++) {
        long long xx = (long long)x * x >> 28, yy = (long long)y * y >> 28;
        if (xx + yy > (4LL << 28))
            break;
        int t = (int)(xx - yy) + cx;
        y = (int)((long long)x * y >> 27) + cy;
        x = t;
    }
    out[py * w + px] = i;
}

extern "C" __global__ void julia_smooth(float *out, int w, int h, float2 c)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    float x = 3.0f * px / w - 1.5f, y = 2.0f * py / h - 1.0f, m;
    int i = 0;
    do {
        float t = x * x - y * y + c.x;
        y = 2 * x * y + c.y;
        x = t;
        m = x * x + y * y;
    } while (m < 256.0f && ++i < 500);
    out[py * w + px] = i - log2f(log2f(m)) + 3.0f;
}
