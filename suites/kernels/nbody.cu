// One step of n bodies under gravity: position x, y, z and mass w. Square root and division are IEEE.
enum { B = 128 };

extern "C" __global__ void nbody(unsigned n, float dt, const float4 *in, float4 *out, float4 *velocity)
{
    __shared__ float4 tile[B];
    const float softening = 1e-4f;
    unsigned i = blockIdx.x * B + threadIdx.x;
    float4 p = in[i];
    float ax = 0, ay = 0, az = 0;
    for (unsigned from = 0; from < n; from += B) {
        tile[threadIdx.x] = in[from + threadIdx.x];
        __syncthreads();
        for (unsigned k = 0; k < B; k++) {
            float4 q = tile[k];
            float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
            float d2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening)));
            float f = q.w / (d2 * sqrtf(d2));
            ax = fmaf(f, dx, ax);
            ay = fmaf(f, dy, ay);
            az = fmaf(f, dz, az);
        }
        __syncthreads();
    }
    float4 v = velocity[i];
    v.x = fmaf(ax, dt, v.x);
    v.y = fmaf(ay, dt, v.y);
    v.z = fmaf(az, dt, v.z);
    velocity[i] = v;
    p.x = fmaf(v.x, dt, p.x);
    p.y = fmaf(v.y, dt, p.y);
    p.z = fmaf(v.z, dt, p.z);
    out[i] = p;
}
