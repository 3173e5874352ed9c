/* Handlers from uops_row.def. */
#include "emu/ops/lane.h"

#include "emu/measure/count.h"

/* One value in the lanes that are on. */
#define FILL(T)                                                                                    \
    {                                                                                              \
        T *d = (T *)(void *)emu_row(g, sizeof(T), row) + w * LANES;                                \
        const T v = (T)value;                                                                      \
        if (on == ~0u) {                                                                           \
            LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = v;                                    \
        } else LANE_LOOP for (int l = 0; l < LANES; l++) d[l] = on >> l & 1 ? v : d[l];            \
    }

emu_fill_row OP_NAME(fill_row);
void OP_NAME(fill_row)(struct emu_group *g, unsigned bytes, u32 row, u64 value)
{
    for (u32 w = 0; w < g->warps; w++) {
        const u32 on = g->exec[w];
        if (!on) continue;
        if (bytes == 8) FILL(u64) else if (bytes == 4) FILL(u32) else FILL(u16)
    }
}
#undef FILL

emu_masks_of OP_NAME(masks_of);
void OP_NAME(masks_of)(const u32 *word, u32 warps, u32 *mask)
{
    for (u32 w = 0; w < warps; w++, word += LANES) {
#if defined __AVX512DQ__
        mask[w] = (u32)_mm512_movepi32_mask(_mm512_loadu_si512(word)) |
                  (u32)_mm512_movepi32_mask(_mm512_loadu_si512(word + 16)) << 16;
#elif defined __AVX2__
        u32 m = 0;
        for (u32 l = 0; l < LANES; l += 8)
            m |= (u32)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(const void *)(word + l)))
                 << l;
        mask[w] = m;
#elif defined __SSE2__ /* packing keeps signs */
        const __m128i *v = (const __m128i *)(const void *)word;
        u32 half[2];
        for (u32 h = 0; h < 2; h++, v += 4) {
            const __m128i low = _mm_packs_epi32(_mm_loadu_si128(v), _mm_loadu_si128(v + 1)),
                          high = _mm_packs_epi32(_mm_loadu_si128(v + 2), _mm_loadu_si128(v + 3));
            half[h] = (u32)_mm_movemask_epi8(_mm_packs_epi16(low, high));
        }
        mask[w] = half[0] | half[1] << 16;
#else
        mask[w] = 0;
        for (u32 l = 0; l < LANES; l++) mask[w] |= (word[l] & 1) << l;
#endif
    }
}

emu_words_differ OP_NAME(words_differ);
bool OP_NAME(words_differ)(const u32 *word, u32 count, u32 value)
{
    const host32 *v = (const host32 *)(const void *)word;
    host32 differ = {0};
    for (u32 i = 0; i < count / HOST_32; i += 2) differ |= (v[i] ^ value) | (v[i + 1] ^ value);
    return any((host64)differ);
}

OP(fill)
{
    OP_NAME(fill_row)(g, in->x, in->d, in->bits);
    return in + 1;
}

OP(local_address)
{
    OP_NAME(fill_row)(g, in->x, in->d, in->bits + g->files.top_local);
    return in + 1;
}

#define LANE1 LANE_HANDLER1
#define LANE2 LANE_HANDLER2
#define LANE3 LANE_HANDLER3
#define FAST(name)
#define WARP(name)
#include "emu/ops/uops_row.def"
