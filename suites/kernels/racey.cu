// GPU-Racey, after Hill and Xu's Racey: threads race on small arrays of cells with plain loads and stores.
// A thread's signature says which cell it reads next; what it reads changes the signature, and the
// signature what it writes. So the signatures depend on the order of every access. A word's lowest byte
// follows from the rest of it: whatever the order, every word is one that some thread made.
enum { CELLS = 64, THREADS = 128 };

__device__ unsigned word(unsigned x)
{
    x &= ~255u;
    return x | x * 0x9e3779b1u >> 24;
}

__device__ unsigned mix(unsigned a, unsigned b)
{
    unsigned x = a ^ (b << 13 | b >> 19);
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return word(x ^ x >> 16);
}

__device__ unsigned race(unsigned *cells, unsigned steps, unsigned seed)
{
    unsigned own = mix(seed, 0x2545f491);
    for (unsigned i = 0; i < steps; i++) {
        own = mix(own, cells[own / 256 % CELLS]);
        unsigned *cell = &cells[own / 256 % CELLS];
        *cell = mix(*cell, own);
    }
    return own;
}

// All threads on one array.
extern "C" __global__ void racey_global(unsigned steps, unsigned *cells, unsigned *signatures)
{
    unsigned t = blockIdx.x * THREADS + threadIdx.x;
    signatures[t] = race(cells, steps, t);
}

// The threads of a block on an array in shared memory, which starts as the block's cells and ends there.
extern "C" __global__ void racey_shared(unsigned steps, unsigned *cells, unsigned *signatures)
{
    __shared__ unsigned own[CELLS];
    unsigned t = blockIdx.x * THREADS + threadIdx.x, *of_block = &cells[blockIdx.x * CELLS];
    if (threadIdx.x < CELLS) own[threadIdx.x] = of_block[threadIdx.x];
    __syncthreads();
    signatures[t] = race(own, steps, t);
    __syncthreads();
    if (threadIdx.x < CELLS) of_block[threadIdx.x] = own[threadIdx.x];
}

// An array for each warp: only lanes of one warp race.
extern "C" __global__ void racey_lanes(unsigned steps, unsigned *cells, unsigned *signatures)
{
    unsigned t = blockIdx.x * THREADS + threadIdx.x;
    signatures[t] = race(&cells[t / 32 * CELLS], steps, t);
}

// An array for each number of a lane: no two lanes of one warp race.
extern "C" __global__ void racey_warps(unsigned steps, unsigned *cells, unsigned *signatures)
{
    unsigned t = blockIdx.x * THREADS + threadIdx.x;
    signatures[t] = race(&cells[t % 32 * CELLS], steps, t);
}
