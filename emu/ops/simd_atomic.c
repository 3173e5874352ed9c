/* Atomics in the CTA's own shared memory. Lanes execute one after another; addresses, checks and counters are computed
 * with vectors. */
#include "emu/ops/lane.h"

#include "emu/measure/count.h"
#include "emu/ops/atomicops.h"
#include "ptx/ptx.h"

#define ROW_OF(T, row) ((T *)(void *)((sizeof(T) == 8 ? g->r64 : g->r32) + (row)) + w * LANES)

/* The usual case: all lanes are on, their addresses have 32 bits and lie inside. Then `at` are offsets in
 * shared memory. */
static inline bool all_inside(const struct emu_group *g, const struct lane_address *a, u32 w,
                              u32 size, u32 at[LANES])
{
    const u32 limit = g->cta->shared_size;
    if (g->exec[w] != ~0u || a->bytes != 4 || limit < size || (u64)a->offset > limit - size)
        return false;
    const u32 offset = (u32)a->offset, last = limit - size - offset;
    const u32 *p = (const u32 *)(const void *)(g->r32 + a->row) + w * LANES;
    u32 bad = 0;
    LANE_LOOP for (int l = 0; l < LANES; l++)
    {
        at[l] = p[l] + offset;
        bad |= (p[l] > last ? ~0u : 0) | (at[l] & (size - 1));
    }
    return !bad;
}

#define HANDLERS(name, T, commutes, ...)                                                           \
    OP(atom_shared_##name)                                                                         \
    {                                                                                              \
        const struct atomic_desc *const v = in->ext;                                               \
        u8 *const shared = g->cta->shared;                                                         \
        for (u32 w = 0; w < g->warps; w++) {                                                       \
            if (!g->exec[w]) continue;                                                             \
            const T *const b = ROW_OF(const T, in->b), *const c = ROW_OF(const T, in->c);          \
            T *const d = ROW_OF(T, in->d);                                                         \
            _Alignas(64) u32 near[LANES];                                                          \
            if (all_inside(g, &v->at, w, sizeof(T), near)) {                                       \
                if (g->worker->sites) COUNTING.shared_atomics(g, in, w, near, sizeof(T));          \
                if (in->y) {                                                                       \
                    for (int l = 0; l < LANES; l++) {                                              \
                        T *const m = (T *)(void *)(shared + near[l]), was = *m;                    \
                        *m = name##_of(was, b[l], c[l], false);                                    \
                        d[l] = was;                                                                \
                    }                                                                              \
                } else                                                                             \
                    for (int l = 0; l < LANES; l++) {                                              \
                        T *const m = (T *)(void *)(shared + near[l]);                              \
                        *m = name##_of(*m, b[l], c[l], false);                                     \
                    }                                                                              \
                continue;                                                                          \
            }                                                                                      \
            u64 at[LANES];                                                                         \
            lane_addresses(g, &v->at, w, at);                                                      \
            if (g->worker->sites)                                                                  \
                COUNTING.lanes(g, in, w, at, g->exec[w], sizeof(T), PTX_SPACE_SHARED,              \
                               COUNT_ATOMIC);                                                      \
            for (u32 left = g->exec[w]; left; left &= left - 1) {                                  \
                const u32 l = (u32)__builtin_ctz(left);                                            \
                u8 *p = element_inside(at[l], 0, g->cta->shared_size, sizeof(T))                   \
                            ? shared + at[l]                                                       \
                            : emu_lane_host(g, in, w, l, PTX_SPACE_SHARED, at[l], sizeof(T),       \
                                            true);                                                 \
                if (!p) return NULL;                                                               \
                T *const m = (T *)(void *)p, was = *m;                                             \
                *m = name##_of(was, b[l], c[l], false);                                            \
                if (in->y) d[l] = was;                                                             \
            }                                                                                      \
        }                                                                                          \
        return in + 1;                                                                             \
    }
ATOMIC_OPS(HANDLERS)
