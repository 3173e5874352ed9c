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

// Gradient of filters of 1 x 1 or 3 x 3 (zeros around the image), stride 1: a matrix product of filters times
// (channels, taps), over the pixels of all images. A region is REGION_K filters times REGION_C columns (channel, tap): 2048
// weights. CTA b does the regions b mod `sections`, + sections, ... over `chunk` pixels, and adds what it has by one
// reduction a weight at the end of each.
enum { REGION_K = 32, REGION_C = 64, DEPTH = 14 };

// Reads what a region needs of DEPTH pixels from p on: a has them of its filters' errors, b of its columns' inputs. b's
// rows are longer than REGION_C, against bank conflicts.
template <unsigned row_of_b>
__device__ void read_tile(unsigned t, unsigned k0, unsigned c0, unsigned p, unsigned pixels, unsigned side, unsigned taps,
                          const float *error, const float *in, float (*a)[REGION_K], float (*b)[row_of_b])
{
    for (unsigned i = t; i < DEPTH * REGION_K; i += 256)
        a[i % DEPTH][i / DEPTH] = error[(k0 + i / DEPTH) * pixels + p + i % DEPTH];
    for (unsigned i = t; i < DEPTH * REGION_C; i += 256) {
        unsigned column = c0 + i / DEPTH, q = p + i % DEPTH;
        unsigned channel = column, row = q / side, at = q % side;
        if (taps == 9) { // wraps below 0: then it is not below side either
            channel = column / 9;
            row += column % 9 / 3 - 1;
            at += column % 3 - 1;
        }
        b[i % DEPTH][i / DEPTH] = row < side && at < side ? in[channel * pixels + row * side + at] : 0;
    }
}

extern "C" __global__ void conv_filter(unsigned filters, unsigned channels, unsigned side, unsigned taps,
                                       unsigned images, unsigned sections, unsigned chunk,
                                       const float *in, const float *error, float *gradient)
{
    __shared__ float a[DEPTH][REGION_K], b[DEPTH][REGION_C + 1];
    unsigned t = threadIdx.x, x = t % 16, y = t / 16, pixels = side * side, columns = channels * taps;
    unsigned regions = (columns / REGION_C) * (filters / REGION_K);
    unsigned from = blockIdx.x / sections * chunk, image = from / pixels;
    from -= image * pixels;
    in += image * channels * pixels;
    error += image * filters * pixels;
    for (unsigned region = blockIdx.x % sections; region < regions; region += sections) {
        unsigned k0 = region / (columns / REGION_C) * REGION_K, c0 = region % (columns / REGION_C) * REGION_C;
        float sum[2][4] = {};
        for (unsigned p = from; p < from + chunk; p += DEPTH) {
            read_tile(t, k0, c0, p, pixels, side, taps, error, in, a, b);
            __syncthreads();
#pragma unroll
            for (unsigned i = 0; i < DEPTH; i++)
#pragma unroll
                for (unsigned m = 0; m < 2; m++)
#pragma unroll
                    for (unsigned n = 0; n < 4; n++)
                        sum[m][n] = __fmaf_rn(a[i][y + 16 * m], b[i][x + 16 * n], sum[m][n]);
            __syncthreads();
        }
#pragma unroll
        for (unsigned m = 0; m < 2; m++)
#pragma unroll
            for (unsigned n = 0; n < 4; n++)
                atomicAdd(&gradient[(k0 + y + 16 * m) * columns + c0 + x + 16 * n], sum[m][n]);
    }
}

// The same for the layers of DAB's table III. A thread has two filters times four columns that lie beside each other, as
// products of matrices in registers have them: it reads them from shared memory by one access each, and what the lanes
// of a warp add to at a time lies four weights apart (the paper: "atomic instructions in convolution access strided memory
// locations", VI-B3). A CTA's pixels may lie in two images or more.
extern "C" __global__ void conv_layer(unsigned filters, unsigned channels, unsigned side, unsigned taps,
                                      unsigned images, unsigned sections, unsigned chunk,
                                      const float *in, const float *error, float *gradient)
{
    __shared__ float2 a[DEPTH][REGION_K / 2];
    __shared__ float4 b[DEPTH][REGION_C / 4 + 1];
    float(*const a1)[REGION_K] = (float(*)[REGION_K])a, (*const b1)[REGION_C + 4] = (float(*)[REGION_C + 4])b;
    unsigned t = threadIdx.x, x = t % 16, y = t / 16, pixels = side * side, columns = channels * taps;
    unsigned regions = (columns / REGION_C) * (filters / REGION_K);
    unsigned from = blockIdx.x / sections * chunk, many = min(chunk, images * pixels - from);
    for (unsigned region = blockIdx.x % sections; region < regions; region += sections) {
        unsigned k0 = region / (columns / REGION_C) * REGION_K, c0 = region % (columns / REGION_C) * REGION_C;
        float sum[2][4] = {};
        unsigned p = from % pixels;
        const float *e = error + from / pixels * filters * pixels, *d = in + from / pixels * channels * pixels;
        for (unsigned done = 0; done < many; done += DEPTH, p += DEPTH) { // a row has DEPTH pixels or a multiple of it
            if (p == pixels) p = 0, e += filters * pixels, d += channels * pixels;
            read_tile(t, k0, c0, p, pixels, side, taps, e, d, a1, b1);
            __syncthreads();
#pragma unroll
            for (unsigned i = 0; i < DEPTH; i++) {
                const float2 u = a[i][y];
                const float4 v = b[i][x];
                const float left[2] = {u.x, u.y}, right[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
                for (unsigned m = 0; m < 2; m++)
#pragma unroll
                    for (unsigned n = 0; n < 4; n++) sum[m][n] = __fmaf_rn(left[m], right[n], sum[m][n]);
            }
            __syncthreads();
        }
#pragma unroll
        for (unsigned m = 0; m < 2; m++)
#pragma unroll
            for (unsigned n = 0; n < 4; n++)
                atomicAdd(&gradient[(k0 + 2 * y + m) * columns + c0 + 4 * x + n], sum[m][n]);
    }
}
