// A table-driven block cipher round: __constant__ byte and word tables, bfe/bfi, rotates (shf), prmt, xor trees.
__constant__ unsigned char sbox[256] = {
    99,  124, 119, 123, 242, 107, 111, 197, 48,  1,   103, 43,  254, 215, 171, 118, 202, 130, 201, 125, 250, 89,
    71,  240, 173, 212, 162, 175, 156, 164, 114, 192, 183, 253, 147, 38,  54,  63,  247, 204, 52,  165, 229, 241,
    113, 216, 49,  21,  4,   199, 35,  195, 24,  150, 5,   154, 7,   18,  128, 226, 235, 39,  178, 117};
__constant__ unsigned round_word[10] = {0x01000000u, 0x02000000u, 0x04000000u, 0x08000000u, 0x10000000u,
                                        0x20000000u, 0x40000000u, 0x80000000u, 0x1b000000u, 0x36000000u};
__device__ unsigned key_schedule[44];

__device__ unsigned rotl(unsigned x, int k) { return x << k | x >> (32 - k); }

__device__ unsigned substitute(unsigned x)
{
    return sbox[x & 255] | sbox[x >> 8 & 255] << 8 | sbox[x >> 16 & 255] << 16 | (unsigned)sbox[x >> 24] << 24;
}

__device__ unsigned mix(unsigned x)
{
    unsigned twice = (x & 0x7f7f7f7fu) << 1 ^ ((x & 0x80808080u) >> 7) * 0x1b;
    return twice ^ rotl(x ^ twice, 8) ^ rotl(x, 16) ^ rotl(x, 24);
}

extern "C" __global__ void expand_key(const uint4 *key)
{
    unsigned *w = key_schedule;
    w[0] = key->x;
    w[1] = key->y;
    w[2] = key->z;
    w[3] = key->w;
    for (int i = 4; i < 44; i++) {
        unsigned t = w[i - 1];
        if (i % 4 == 0)
            t = substitute(rotl(t, 8)) ^ round_word[i / 4 - 1];
        w[i] = w[i - 4] ^ t;
    }
}

extern "C" __global__ void encrypt(const uint4 *in, uint4 *out, int n)
{
    __shared__ unsigned key[44];
    if (threadIdx.x < 44)
        key[threadIdx.x] = key_schedule[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 s = in[i];
    for (int r = 0; r < 10; r++) {
        s.x ^= key[4 * r];
        s.y ^= key[4 * r + 1];
        s.z ^= key[4 * r + 2];
        s.w ^= key[4 * r + 3];
        unsigned a = substitute(s.x & 0xffu | s.y & 0xff00u | s.z & 0xff0000u | s.w & 0xff000000u);
        unsigned b = substitute(s.y & 0xffu | s.z & 0xff00u | s.w & 0xff0000u | s.x & 0xff000000u);
        unsigned c = substitute(s.z & 0xffu | s.w & 0xff00u | s.x & 0xff0000u | s.y & 0xff000000u);
        unsigned d = substitute(s.w & 0xffu | s.x & 0xff00u | s.y & 0xff0000u | s.z & 0xff000000u);
        s = r < 9 ? make_uint4(mix(a), mix(b), mix(c), mix(d)) : make_uint4(a, b, c, d);
    }
    s.x ^= key[40];
    s.y ^= key[41];
    s.z ^= key[42];
    s.w ^= key[43];
    out[i] = s;
}
