// Races in the source that are not in the PTX: docs/races.md.
#pragma nv_diag_suppress 550
extern "C" __global__ void selected(int *m)
{
    const int v = m[0];
    if (threadIdx.x != 40) m[0] = v; // stores what it has read
    m[64 + threadIdx.x] = v;
}
extern "C" __global__ void dead(int *m)
{
    __shared__ int last;
    last = threadIdx.x; // nobody reads it
    m[64 + threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void merged(int *m)
{
    if (blockIdx.x) m[0] = 1;
    else {
        const int before = m[0], after = m[0]; // one load
        m[64] = before != after;
    }
}
