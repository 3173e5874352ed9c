// Hash tables with open addresses, locks by spinning, SHA-256, CRC.
#include "self.cuh"
#include <map>

enum { SLOTS = 1 << 12, EMPTY = -1 };

__global__ void insert(int *keys, int *counts, const int *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned at = (unsigned)in[i] * 2654435761u % SLOTS;
    for (;; at = (at + 1) % SLOTS) {
        const int was = atomicCAS(&keys[at], EMPTY, in[i]);
        if (was == EMPTY || was == in[i]) break;
    }
    atomicAdd(&counts[at], 1);
}

__global__ void find(const int *keys, const int *counts, const int *wanted, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned at = (unsigned)wanted[i] * 2654435761u % SLOTS;
    while (keys[at] != EMPTY && keys[at] != wanted[i]) at = (at + 1) % SLOTS;
    out[i] = keys[at] == EMPTY ? 0 : counts[at];
}

__device__ int lock, guarded[2];

__global__ void spin()
{
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            volatile int *g = guarded;
            g[0] = g[0] + 1;
            g[1] = g[1] + g[0] % 2;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
}

__constant__ unsigned K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ unsigned turn(unsigned x, int n) { return __funnelshift_r(x, x, n); }

/* One block: a text of less than 56 bytes. */
__global__ void sha256(const char *texts, int length, unsigned *out)
{
    unsigned w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const char *text = texts + threadIdx.x * length;
    for (int i = 0; i < 16; i++) w[i] = 0;
    for (int i = 0; i <= length; i++) w[i / 4] |= (i < length ? (unsigned char)text[i] : 0x80u) << (24 - i % 4 * 8);
    w[15] = length * 8;
    for (int i = 16; i < 64; i++) {
        const unsigned a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        const unsigned b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    unsigned v[8];
    for (int i = 0; i < 8; i++) v[i] = h[i];
    for (int i = 0; i < 64; i++) {
        const unsigned s = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25), choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        const unsigned one = v[7] + s + choice + K[i] + w[i];
        const unsigned r = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22), most = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        for (int k = 7; k > 0; k--) v[k] = v[k - 1];
        v[4] += one;
        v[0] = one + r + most;
    }
    for (int i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = h[i] + v[i];
}

__global__ void crc32(const unsigned char *data, int n, unsigned *out)
{
    unsigned c = ~0u;
    for (int i = 0; i < n; i++) {
        c ^= data[i];
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (0xedb88320 & -(c & 1));
    }
    *out = ~c;
}

int main()
{
    const int n = 3000;
    std::vector<int> in(n), wanted;
    std::map<int, int> counts;
    for (int i = 0; i < n; i++) counts[in[i] = draw(i) % 1500]++;
    for (int i = 0; i < 1600; i++) wanted.push_back(i);
    room<int> keys(std::vector<int>(SLOTS, EMPTY)), values(SLOTS), from(in), ask(wanted), out(wanted.size());
    insert<<<(n + 127) / 128, 128>>>(keys, values, from, n);
    find<<<(wanted.size() + 127) / 128, 128>>>(keys, values, ask, out, wanted.size());
    const std::vector<int> got = out.get();
    for (int i = 0; i < 1600; i++) CHECK(got[i] == (counts.count(i) ? counts[i] : 0));

    spin<<<4, 32>>>();
    int g[2];
    OK(cudaMemcpyFromSymbol(g, guarded, sizeof g));
    CHECK(g[0] == 128 && g[1] == 64);

    room<char> texts(std::vector<char>{'a', 'b', 'c', 'a', 'b', 'c'});
    room<unsigned> digests(16), crc(1);
    sha256<<<1, 2>>>(texts, 3, digests);
    const unsigned abc[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    for (int i = 0; i < 16; i++) CHECK(digests.get()[i] == abc[i % 8]);
    room<unsigned char> nine(std::vector<unsigned char>{'1', '2', '3', '4', '5', '6', '7', '8', '9'});
    crc32<<<1, 1>>>(nine, 9, crc);
    CHECK(crc.get()[0] == 0xcbf43926);
    return verdict();
}
