// Speckle reducing anisotropic diffusion of an image (Yu and Acton, 2002). One kernel computes for each pixel the
// differences to its neighbours and the diffusion coefficient, one changes the image. As in Rodinia's
// program, the neighbours of a tile, the tile and the results pass through shared memory one after another, with a barrier
// behind each.
// The image is treated as if the pixels beyond its edge were those at the edge. Its sides are multiples of B.
enum { B = 16 };

extern "C" __global__ void srad_coefficients(int width, int height, float q0, const float *image, float *north, float *south,
                                             float *west, float *east, float *coefficient)
{
    __shared__ float tile[B][B], above[B], below[B], left[B], right[B], result[B][B];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty, i = y * width + x;
    if (ty == 0) above[tx] = image[y > 0 ? i - width : i];
    if (ty == B - 1) below[tx] = image[y < height - 1 ? i + width : i];
    __syncthreads();
    if (tx == 0) left[ty] = image[x > 0 ? i - 1 : i];
    if (tx == B - 1) right[ty] = image[x < width - 1 ? i + 1 : i];
    __syncthreads();
    tile[ty][tx] = image[i];
    __syncthreads();
    const float here = tile[ty][tx];
    const float n = (ty > 0 ? tile[ty - 1][tx] : above[tx]) - here;
    const float s = (ty < B - 1 ? tile[ty + 1][tx] : below[tx]) - here;
    const float w = (tx > 0 ? tile[ty][tx - 1] : left[ty]) - here;
    const float e = (tx < B - 1 ? tile[ty][tx + 1] : right[ty]) - here;
    const float gradient = (n * n + s * s + w * w + e * e) / (here * here);
    const float laplacian = (n + s + w + e) / here;
    const float divisor = 1.0f + 0.25f * laplacian;
    const float q = (0.5f * gradient - 0.0625f * (laplacian * laplacian)) / (divisor * divisor);
    const float c = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    result[ty][tx] = c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
    __syncthreads();
    north[i] = n;
    south[i] = s;
    west[i] = w;
    east[i] = e;
    coefficient[i] = result[ty][tx];
}

extern "C" __global__ void srad_update(int width, int height, float rate, const float *north, const float *south,
                                       const float *west, const float *east, const float *coefficient, float *image)
{
    __shared__ float tile[B][B], below[B], right[B], result[B][B];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * B + tx, y = blockIdx.y * B + ty, i = y * width + x;
    if (ty == B - 1) below[tx] = coefficient[y < height - 1 ? i + width : i];
    __syncthreads();
    if (tx == B - 1) right[ty] = coefficient[x < width - 1 ? i + 1 : i];
    __syncthreads();
    tile[ty][tx] = coefficient[i];
    __syncthreads();
    const float here = tile[ty][tx];
    const float down = ty < B - 1 ? tile[ty + 1][tx] : below[tx], beside = tx < B - 1 ? tile[ty][tx + 1] : right[ty];
    const float divergence = here * north[i] + down * south[i] + here * west[i] + beside * east[i];
    result[ty][tx] = image[i] + 0.25f * rate * divergence;
    __syncthreads();
    image[i] = result[ty][tx];
}
