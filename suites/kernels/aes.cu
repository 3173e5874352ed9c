// AES-128, electronic code book: a thread enciphers one block. Words are little endian: byte 0 of a
// column is its lowest. Tables: te[256] for the first row (the others are its rotations), sbox[256].
enum { ROUNDS = 10 };

__constant__ unsigned round_keys[4 * (ROUNDS + 1)];

__device__ unsigned rotate(unsigned x, int bits)
{
    return __funnelshift_l(x, x, bits);
}

extern "C" __global__ void aes(unsigned blocks, const unsigned *te_in, const unsigned *sbox_in,
                               const uint4 *in, uint4 *out)
{
    __shared__ unsigned te[256], sbox[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        te[i] = te_in[i];
        sbox[i] = sbox_in[i];
    }
    __syncthreads();
    unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks) return;
    uint4 text = in[b];
    unsigned s[4] = {text.x ^ round_keys[0], text.y ^ round_keys[1], text.z ^ round_keys[2],
                     text.w ^ round_keys[3]};
    unsigned t[4];
    for (int r = 1; r < ROUNDS; r++) {
        for (int c = 0; c < 4; c++)
            t[c] = te[s[c] & 255] ^ rotate(te[s[(c + 1) % 4] >> 8 & 255], 8) ^
                   rotate(te[s[(c + 2) % 4] >> 16 & 255], 16) ^ rotate(te[s[(c + 3) % 4] >> 24], 24) ^
                   round_keys[4 * r + c];
        for (int c = 0; c < 4; c++) s[c] = t[c];
    }
    for (int c = 0; c < 4; c++)
        t[c] = (sbox[s[c] & 255] | sbox[s[(c + 1) % 4] >> 8 & 255] << 8 |
                sbox[s[(c + 2) % 4] >> 16 & 255] << 16 | sbox[s[(c + 3) % 4] >> 24] << 24) ^
               round_keys[4 * ROUNDS + c];
    out[b] = make_uint4(t[0], t[1], t[2], t[3]);
}

// A thread has one column of a block. Columns are exchanged through shared memory. Rounds take turns with two copies of
// the state, so a round has one barrier: a copy is stored to again only after the barrier of the other. A CTA has 64
// blocks.
extern "C" __global__ void aes_columns(unsigned blocks, const unsigned *te_in, const unsigned *sbox_in,
                                       const unsigned *in, unsigned *out)
{
    __shared__ unsigned te[256], sbox[256], states[2][256];
    unsigned t = threadIdx.x, c = t % 4, first = t - c;
    te[t] = te_in[t];
    sbox[t] = sbox_in[t];
    unsigned i = blockIdx.x * blockDim.x + t;
    unsigned own = i < 4 * blocks ? in[i] ^ round_keys[c] : 0;
#pragma unroll
    for (int r = 1; r <= ROUNDS; r++) {
        unsigned *state = states[r % 2];
        state[t] = own;
        __syncthreads();
        unsigned s1 = state[first + (c + 1) % 4], s2 = state[first + (c + 2) % 4];
        unsigned s3 = state[first + (c + 3) % 4];
        if (r < ROUNDS)
            own = te[own & 255] ^ rotate(te[s1 >> 8 & 255], 8) ^ rotate(te[s2 >> 16 & 255], 16) ^
                  rotate(te[s3 >> 24], 24);
        else
            own = sbox[own & 255] | sbox[s1 >> 8 & 255] << 8 | sbox[s2 >> 16 & 255] << 16 |
                  sbox[s3 >> 24] << 24;
        own ^= round_keys[4 * r + c];
    }
    if (i < 4 * blocks) out[i] = own;
}
