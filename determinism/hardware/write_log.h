/* determinism/hardware/write_log.h: GPUDet's store buffer of a warp (thesis, section 4.3): a linear write log, and the
 * Bloom filter by which loads know whether to search it.
 *
 * An entry of the log has the bytes that one store instruction writes to one chunk of 128 bytes. The filter has
 * sub-arrays, each with a hash function of its own. The order keeps entries with data and counts the queries that pass
 * the filter. The timing model keeps entries without data. */
#ifndef HEDDLE_DETERMINISM_HARDWARE_WRITE_LOG_H
#define HEDDLE_DETERMINISM_HARDWARE_WRITE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WRITE_LOG_CHUNK = 128,      /* bytes */
    WRITE_LOG_MOST_CHUNKS = 64, /* most chunks of one store instruction: two for each lane */
};

/* Whether parallel mode must end before the next store, because the log may have no space for it. An empty log accepts
 * any store. */
static inline bool write_log_is_full(uint32_t entries, uint32_t capacity)
{
    return entries && entries + WRITE_LOG_MOST_CHUNKS > capacity;
}

/* The order hashes the numbers of chunks by multiplication. The timing model hashes a trace's 32-bit numbers of lines,
 * as its reference results do. */
enum bloom_hash { BLOOM_HASH_CHUNK, BLOOM_HASH_LINE };
struct bloom { /* the shape of all filters of a launch; each owner stores the bits of its filter */
    uint32_t subarrays, subarray_bits;
    enum bloom_hash hash;
};
static inline struct bloom bloom_of(uint32_t bits, uint32_t subarrays, enum bloom_hash hash)
{
    return (struct bloom){subarrays, bits / subarrays, hash};
}
static inline size_t bloom_words(uint32_t bits)
{
    return (bits + 63) / 64;
}
static inline uint32_t bloom_hash_line(uint32_t line, uint32_t subarray)
{
    uint32_t x = line + subarray * 0x9e3779b9u;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}
static inline uint32_t bloom_bit(const struct bloom *f, uint64_t chunk, uint32_t subarray)
{
    static const uint64_t factors[] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xc2b2ae3d27d4eb4f),
                                       UINT64_C(0x165667b19e3779f9), UINT64_C(0xd6e8feb86659fd93),
                                       UINT64_C(0xff51afd7ed558ccd), UINT64_C(0xc4ceb9fe1a85ec53),
                                       UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db)};
    const uint32_t bits = f->subarray_bits;
    const uint32_t bit = f->hash == BLOOM_HASH_LINE
                             ? bloom_hash_line((uint32_t)chunk, subarray) % bits
                             : (uint32_t)((chunk * factors[subarray] >> 32) * bits >> 32);
    return subarray * bits + bit;
}
static inline void bloom_add(const struct bloom *f, uint64_t *filter, uint64_t chunk)
{
    for (uint32_t k = 0; k < f->subarrays; k++) {
        const uint32_t b = bloom_bit(f, chunk, k);
        filter[b / 64] |= UINT64_C(1) << b % 64;
    }
}
/* false: no store to the chunk is in the log. true: there may be one. */
static inline bool bloom_may_have(const struct bloom *f, const uint64_t *filter, uint64_t chunk)
{
    for (uint32_t k = 0; k < f->subarrays; k++) {
        const uint32_t b = bloom_bit(f, chunk, k);
        if (!(filter[b / 64] >> b % 64 & 1)) return false;
    }
    return true;
}

#endif
