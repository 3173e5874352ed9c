// Speckle reducing anisotropic diffusion of an image (Yu and Acton, 2002). One kernel computes for each pixel the
// differences to its neighbours and the diffusion coefficient, one changes the image. The image is treated as if the
// pixels beyond its edge were those at the edge. Its sides are multiples of B.
enum { B = 16 };

extern "C" __global__ void srad_coefficients(int width, int height, float q0, const float *image, float *north, float *south,
                                             float *west, float *east, float *coefficient)
{
    __shared__ float tile[B + 2][B + 2];
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y, i = y * width + x;
    const float here = image[i];
    tile[ty][tx] = here;
    if (ty == 1) tile[0][tx] = image[y > 0 ? i - width : i];
    if (ty == B) tile[B + 1][tx] = image[y < height - 1 ? i + width : i];
    if (tx == 1) tile[ty][0] = image[x > 0 ? i - 1 : i];
    if (tx == B) tile[ty][B + 1] = image[x < width - 1 ? i + 1 : i];
    __syncthreads();
    const float n = tile[ty - 1][tx] - here, s = tile[ty + 1][tx] - here;
    const float w = tile[ty][tx - 1] - here, e = tile[ty][tx + 1] - here;
    const float gradient = (n * n + s * s + w * w + e * e) / (here * here);
    const float laplacian = (n + s + w + e) / here;
    const float divisor = 1.0f + 0.25f * laplacian;
    const float q = (0.5f * gradient - 0.0625f * (laplacian * laplacian)) / (divisor * divisor);
    const float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    north[i] = n;
    south[i] = s;
    west[i] = w;
    east[i] = e;
    coefficient[i] = c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
}

extern "C" __global__ void srad_update(int width, int height, float rate, const float *north, const float *south,
                                       const float *west, const float *east, const float *coefficient, float *image)
{
    __shared__ float tile[B + 1][B + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty, i = y * width + x;
    const float here = coefficient[i];
    tile[ty][tx] = here;
    if (ty == B - 1) tile[B][tx] = coefficient[y < height - 1 ? i + width : i];
    if (tx == B - 1) tile[ty][B] = coefficient[x < width - 1 ? i + 1 : i];
    __syncthreads();
    const float divergence =
        here * north[i] + tile[ty + 1][tx] * south[i] + here * west[i] + tile[ty][tx + 1] * east[i];
    image[i] += 0.25f * rate * divergence;
}
