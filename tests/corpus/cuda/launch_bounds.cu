// Performance directives: .maxntid, .minnctapersm, .maxnreg, .reqntid, .maxclusterrank, .reqnctapercluster, big parameters.
// KEEP: 75 90
// ARCH: 75 80 90 100
struct Params {
    float matrix[4][4];
    int counts[3];
    char name[13];
    const float *data;
};

extern "C" __global__ void __launch_bounds__(256) bound1(float *x) { x[threadIdx.x] *= 2; }
extern "C" __global__ void __launch_bounds__(128, 4) bound2(float *x) { x[threadIdx.x] *= 3; }
extern "C" __global__ void __maxnreg__(32) registers(float *x) { x[threadIdx.x] *= 4; }
extern "C" __global__ void by_value(Params p, char c, short s, double d, float3 v, bool b, float *x)
{
    x[c] = p.matrix[s & 3][threadIdx.x & 3] * d + v.y + p.counts[c % 3] + p.name[s % 13] + p.data[3] + b;
}
extern "C" __global__ void constant(const __grid_constant__ Params p, float *x)
{
    const float *row = p.matrix[threadIdx.x & 3];
    x[threadIdx.x] = row[x[0] > 0 ? 1 : 2];
}
extern "C" __global__ void restricted(const int *__restrict__ a, int *__restrict__ b) { b[threadIdx.x] = a[threadIdx.x] + a[0]; }
extern "C" __global__ void nothing() {}
struct Large { int v[1000]; };
extern "C" __global__ void full(const __grid_constant__ Large big, int *o) { *o = big.v[*o]; }

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __launch_bounds__(64, 2, 4) clustered(float *x) { x[threadIdx.x] += 1; }
extern "C" __global__ void __cluster_dims__(2, 2, 1) fixed_cluster(float *x) { x[threadIdx.x] += 2; }
extern "C" __global__ void __block_size__((128, 2, 1)) sized(float *x) { x[threadIdx.x] += 3; }
extern "C" __global__ void __block_size__((64, 1, 1), (2, 1, 1)) sized_cluster(float *x) { x[threadIdx.x] += 4; }
#endif
