// Open-addressing hash table with 32-, 64- and 16-bit compare-and-swap: atom.cas, atom.exch, probing loops.
struct Slot {
    unsigned key, value;
};
constexpr unsigned EMPTY = 0xffffffffu;

__device__ unsigned hash(unsigned k)
{
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    k *= 0xc2b2ae35u;
    return k ^ k >> 16;
}

extern "C" __global__ void insert(Slot *table, unsigned mask, const unsigned *keys, const unsigned *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (unsigned at = hash(keys[i]);; at++) {
        Slot *s = &table[at & mask];
        unsigned old = atomicCAS(&s->key, EMPTY, keys[i]);
        if (old == EMPTY || old == keys[i]) {
            atomicExch(&s->value, values[i]);
            return;
        }
    }
}

extern "C" __global__ void insert_packed(unsigned long long *table, unsigned mask, const unsigned *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long want = (unsigned long long)keys[i] << 32 | i;
    unsigned at = hash(keys[i]) & mask;
    while (true) {
        unsigned long long old = atomicCAS(&table[at], ~0ull, want);
        if (old == ~0ull || old >> 32 == keys[i])
            break;
        at = (at + 1) & mask;
    }
}

extern "C" __global__ void insert_small(unsigned short *table, unsigned mask, const unsigned short *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned at = keys[i] & mask;
    while (atomicCAS(&table[at], (unsigned short)0, keys[i]) != 0)
        at = (at + 1) & mask;
}

extern "C" __global__ void lookup(const Slot *table, unsigned mask, const unsigned *keys, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned found = EMPTY;
    for (unsigned at = hash(keys[i]); table[at & mask].key != EMPTY; at++)
        if (table[at & mask].key == keys[i]) {
            found = table[at & mask].value;
            break;
        }
    out[i] = found;
}
