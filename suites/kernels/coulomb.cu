// The electric potential of point charges on one slice of a grid, by direct summation (CP of the GPUDet thesis). A
// launch adds the charges that lie in constant memory. A thread has POINTS points of a row, blockDim.x apart, so that
// neighbouring threads store neighbouring words.
enum { ATOMS = 4000, POINTS = 8 };

__constant__ float4 atoms[ATOMS]; // x, y, the square of the distance from the slice, charge

extern "C" __global__ void coulomb_slice(int count, float spacing, int width, float *potential)
{
    const int x = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const float step = spacing * (float)blockDim.x;
    float sum[POINTS] = {};
    for (int i = 0; i < count; i++) {
        const float4 a = atoms[i];
        const float dy = spacing * (float)y - a.y, rest = dy * dy + a.z;
        float dx = spacing * (float)x - a.x;
#pragma unroll
        for (int k = 0; k < POINTS; k++) {
            sum[k] += a.w / sqrtf(dx * dx + rest);
            dx += step;
        }
    }
#pragma unroll
    for (int k = 0; k < POINTS; k++) potential[y * width + x + k * (int)blockDim.x] += sum[k];
}

// The same as the published program's compiler made it (Bakhoda et al., ISPASS 2009, whose CP has fused multiply-adds and
// more than 10 % instructions of the special function unit): approximate reciprocal square roots.
extern "C" __global__ void coulomb_slice_approximate(int count, float spacing, int width, float *potential)
{
    const int x = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const float step = spacing * (float)blockDim.x;
    float sum[POINTS] = {};
    for (int i = 0; i < count; i++) {
        const float4 a = atoms[i];
        const float dy = __fmaf_rn(spacing, (float)y, -a.y), rest = __fmaf_rn(dy, dy, a.z);
        float dx = __fmaf_rn(spacing, (float)x, -a.x);
#pragma unroll
        for (int k = 0; k < POINTS; k++) {
            sum[k] = __fmaf_rn(a.w, rsqrtf(__fmaf_rn(dx, dx, rest)), sum[k]);
            dx += step;
        }
    }
#pragma unroll
    for (int k = 0; k < POINTS; k++) potential[y * width + x + k * (int)blockDim.x] += sum[k];
}
