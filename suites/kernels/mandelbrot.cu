// Steps until z = z^2 + c leaves the circle of radius 2, at most `most`.
extern "C" __global__ void mandelbrot(unsigned w, unsigned h, float left, float top, float step,
                                      unsigned most, unsigned *out)
{
    unsigned px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float cx = fmaf((float)px, step, left), cy = fmaf((float)py, step, top), x = 0, y = 0;
    unsigned i = 0;
    while (i < most) {
        float x2 = x * x, y2 = y * y;
        if (x2 + y2 > 4.0f) break;
        y = fmaf(2.0f * x, y, cy);
        x = x2 - y2 + cx;
        i++;
    }
    out[py * w + px] = i;
}
