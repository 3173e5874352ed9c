// Two hash tables of unsigned keys; ~0 is no key. The lock is written so that a warp whose lanes wait for
// each other cannot hang: a lane that has the lock gives it back before the loop's end, where lanes wait.
// The empty asm keeps nvcc from moving what the lock protects behind the loop.

__device__ unsigned mix(unsigned key)
{
    key ^= key >> 16;
    key *= 0x7feb352du;
    key ^= key >> 15;
    key *= 0x846ca68bu;
    return key ^ key >> 16;
}

// Chains: heads[bucket] and next[node] are numbers of nodes, ~0 ends. Node i holds keys[i]; it is put
// in front of its chain unless the chain has its key, then next[i] stays ~1.
extern "C" __global__ void hash_chain(unsigned n, const unsigned *keys, unsigned buckets,
                                      unsigned *locks, unsigned *heads, unsigned *next)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i], b = mix(key) % buckets;
    volatile unsigned *head = &heads[b], *links = next;
    unsigned todo = 1;
    while (todo) {
        if (atomicCAS(&locks[b], 0, 1) == 0) {
            __threadfence();
            unsigned at = *head;
            while (at != ~0u && keys[at] != key) at = links[at];
            if (at == ~0u) {
                links[i] = *head;
                *head = i;
            }
            __threadfence();
            atomicExch(&locks[b], 0);
            todo = 0;
        }
        asm volatile("" : "+r"(todo));
    }
}

// Probing: the first free slot from the key's own on; counts how often each key came.
extern "C" __global__ void hash_probe(unsigned n, const unsigned *keys, unsigned slots_mask,
                                      unsigned *slots, unsigned *counts)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i], at = mix(key) & slots_mask;
    for (;;) {
        unsigned found = atomicCAS(&slots[at], ~0u, key);
        if (found == ~0u || found == key) break;
        at = (at + 1) & slots_mask;
    }
    atomicAdd(&counts[at], 1);
}

#include "lock.h"

// hash_chain with plain accesses: the lock alone orders them, so that a warp has no fences.
extern "C" __global__ void hash_chain_plain(unsigned n, const unsigned *keys, unsigned buckets,
                                            unsigned *locks, unsigned *heads, unsigned *next)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i], b = mix(key) % buckets;
    unsigned todo = 1;
    while (todo) {
        if (lock_try(&locks[b])) {
            unsigned at = heads[b];
            while (at != ~0u && keys[at] != key) at = next[at];
            if (at == ~0u) {
                next[i] = heads[b];
                heads[b] = i;
            }
            lock_give_back(&locks[b]);
            todo = 0;
        }
        asm volatile("" : "+r"(todo));
    }
}
