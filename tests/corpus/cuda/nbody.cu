// All-pairs gravity, plain and with -use_fast_math: rsqrt, sqrt.rn versus sqrt.approx, div forms, .ftz.
// VARIANT: fast -use_fast_math
extern "C" __global__ void forces(const float4 *body, float4 *accel, int n, float eps)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[min(i, n - 1)];
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += 256) {
        tile[threadIdx.x] = base + threadIdx.x < n ? body[base + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 256; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float r2 = dx * dx + dy * dy + dz * dz + eps;
            float inv = rsqrtf(r2);
            float f = tile[j].w * inv * inv * inv;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        __syncthreads();
    }
    if (i < n)
        accel[i] = make_float4(ax, ay, az, sqrtf(ax * ax + ay * ay + az * az) / me.w);
}

extern "C" __global__ void energy(const float4 *body, const float3 *speed, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float3 v = speed[i];
    double e = 0.5 * body[i].w * ((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
    for (int j = 0; j < i; j++) {
        double dx = body[i].x - body[j].x, dy = body[i].y - body[j].y, dz = body[i].z - body[j].z;
        e -= body[i].w * body[j].w / sqrt(dx * dx + dy * dy + dz * dz);
    }
    atomicAdd(out, (float)e > 0 ? e : -e);
}
