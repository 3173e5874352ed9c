// Gradient of the weights of a convolution with filters of 1 x 1: gradient[k][c] += sum over the pixels p of
// error[k][p] * in[c][p]. A block has 16 x 16 weights and some of the pixels; it sums in registers and adds
// what it has by one atomic a weight, as convolutions of libraries do that are quick but in no order.
enum { TILE = 16, STEP = 28, CHUNK = 196 };

extern "C" __global__ void conv_gradient(unsigned channels, unsigned pixels, const float *in,
                                         const float *error, float *gradient)
{
    __shared__ float a[TILE][STEP + 1], b[TILE][STEP + 1];
    unsigned c = blockIdx.x * TILE, k = blockIdx.y * TILE, from = blockIdx.z * CHUNK;
    unsigned x = threadIdx.x, y = threadIdx.y, t = y * TILE + x;
    float sum = 0;
    for (unsigned p = from; p < from + CHUNK; p += STEP) {
        for (unsigned i = t; i < TILE * STEP; i += TILE * TILE) {
            a[i / STEP][i % STEP] = error[(k + i / STEP) * pixels + p + i % STEP];
            b[i / STEP][i % STEP] = in[(c + i / STEP) * pixels + p + i % STEP];
        }
        __syncthreads();
        for (unsigned i = 0; i < STEP; i++) sum += a[y][i] * b[x][i];
        __syncthreads();
    }
    atomicAdd(&gradient[(k + y) * channels + c + x], sum);
}
