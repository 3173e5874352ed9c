/* Atomics and reductions: their operations, and their execution by a warp.
 *
 * Global memory has three cases. If a result is read, one host thread runs all CTAs (emu_program.talks), so plain host
 * accesses suffice. Commutative integer reductions go to memory at once if the program has no reductions of another
 * kind; with several host threads, by atomics of the host, or combined in each thread before (emu/sched/combine.h). All
 * other reductions stay in the CTA's outbox until the CTA's turn. So the final contents of memory do not depend on the
 * number of host threads. */
#include "emu/atomic.h"

#include "emu/measure/count.h"
#include "emu/ops/atomicops.h"
#include "emu/ops/fp.h"
#include "emu/sched/combine.h"
#include "emu/sched/notify.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <string.h>

/* ---- the operations ---------------------------------------------------------------------------- */

/* Those without handlers of their own. Halves keep subnormals (.noftz). */
struct two {
    u64 low, high;
};
#define RARE_OPS(OP)                                                                               \
    OP(add_ftz_f32, f32, add_ftz(m, b))                                                            \
    OP(add_f16, u16, fp_add_f16(m, b))                                                             \
    OP(add_bf16, u16, fp_add_bf16(m, b))                                                           \
    OP(min_f16, u16, fp_min_f16(m, b))                                                             \
    OP(min_bf16, u16, fp_min_bf16(m, b))                                                           \
    OP(max_f16, u16, fp_max_f16(m, b))                                                             \
    OP(max_bf16, u16, fp_max_bf16(m, b))                                                           \
    OP(add_f16x2, u32, HALVES(fp_add_f16))                                                         \
    OP(add_bf16x2, u32, HALVES(fp_add_bf16))                                                       \
    OP(min_f16x2, u32, HALVES(fp_min_f16))                                                         \
    OP(min_bf16x2, u32, HALVES(fp_min_bf16))                                                       \
    OP(max_f16x2, u32, HALVES(fp_max_f16))                                                         \
    OP(max_bf16x2, u32, HALVES(fp_max_bf16))                                                       \
    OP(cas_b16, u16, m == c ? b : m)                                                               \
    OP(exch_b128, struct two, b)                                                                   \
    OP(cas_b128, struct two, m.low == c.low && m.high == c.high ? b : m)
#define HALVES(f) (f((u16)m, (u16)b) | (u32)f((u16)(m >> 16), (u16)(b >> 16)) << 16)

#define PURE(name, T)                                                                              \
    static void name##_apply(void *memory, const void *operand, const void *comparand, void *old)  \
    {                                                                                              \
        T m, b, c = {0};                                                                           \
        memcpy(&m, memory, sizeof m);                                                              \
        memcpy(&b, operand, sizeof b);                                                             \
        if (comparand) memcpy(&c, comparand, sizeof c);                                            \
        if (old) memcpy(old, &m, sizeof m);                                                        \
        m = name##_of(m, b, c, false);                                                             \
        memcpy(memory, &m, sizeof m);                                                              \
    }                                                                                              \
    static void name##_apply_each(void *const *memory, const void *const *operand, u32 count)      \
    {                                                                                              \
        for (u32 i = 0; i < count; i++) {                                                          \
            T m, b, c = {0};                                                                       \
            memcpy(&m, memory[i], sizeof m);                                                       \
            memcpy(&b, operand[i], sizeof b);                                                      \
            m = name##_of(m, b, c, false);                                                         \
            memcpy(memory[i], &m, sizeof m);                                                       \
        }                                                                                          \
    }
#define OWN(name, T, commutes, ...) PURE(name, T)
#define RARE(name, T, ...) ATOMIC_DEFINE(name, T, false, __VA_ARGS__) PURE(name, T)
ATOMIC_OPS(OWN)
RARE_OPS(RARE)

#define BOTH(name)                                                                                 \
    {                                                                                              \
        name##_apply, name##_apply_each                                                            \
    }
#define SIGNS(op, width, unsign, sign)                                                             \
    [ATOMIC_##op][PTX_u##width] = unsign, [ATOMIC_##op][PTX_s##width] = sign
#define BITS(op, name)                                                                             \
    [ATOMIC_##op][PTX_b32] = BOTH(name##_b32), [ATOMIC_##op][PTX_u32] = BOTH(name##_b32),          \
    [ATOMIC_##op][PTX_s32] = BOTH(name##_b32), [ATOMIC_##op][PTX_b64] = BOTH(name##_b64),          \
    [ATOMIC_##op][PTX_u64] = BOTH(name##_b64), [ATOMIC_##op][PTX_s64] = BOTH(name##_b64)
#define HALF(op, name)                                                                             \
    [ATOMIC_##op][PTX_f16] = BOTH(name##_f16), [ATOMIC_##op][PTX_bf16] = BOTH(name##_bf16),        \
    [ATOMIC_##op][PTX_f16x2] = BOTH(name##_f16x2), [ATOMIC_##op][PTX_bf16x2] = BOTH(name##_bf16x2)
static const struct {
    atomic_fn *one;
    atomic_each_fn *each;
} functions[ATOMIC_COUNT][PTX_TYPE_COUNT] = {
    SIGNS(ADD, 32, BOTH(add_u32), BOTH(add_u32)),
    SIGNS(ADD, 64, BOTH(add_u64), BOTH(add_u64)),
    SIGNS(MIN, 32, BOTH(min_u32), BOTH(min_s32)),
    SIGNS(MIN, 64, BOTH(min_u64), BOTH(min_s64)),
    SIGNS(MAX, 32, BOTH(max_u32), BOTH(max_s32)),
    SIGNS(MAX, 64, BOTH(max_u64), BOTH(max_s64)),
    BITS(AND, and),
    BITS(OR, or),
    BITS(XOR, xor),
    BITS(EXCH, exch),
    BITS(CAS, cas),
    HALF(ADD, add),
    HALF(MIN, min),
    HALF(MAX, max),
    [ATOMIC_ADD][PTX_f32] = BOTH(add_f32),
    [ATOMIC_ADD][PTX_f64] = BOTH(add_f64),
    [ATOMIC_ADD_FTZ][PTX_f32] = BOTH(add_ftz_f32),
    [ATOMIC_INC][PTX_u32] = BOTH(inc_u32),
    [ATOMIC_DEC][PTX_u32] = BOTH(dec_u32),
    [ATOMIC_CAS][PTX_b16] = BOTH(cas_b16),
    [ATOMIC_EXCH][PTX_b128] = BOTH(exch_b128),
    [ATOMIC_CAS][PTX_b128] = BOTH(cas_b128),
};

atomic_fn *atomic_function(unsigned op, unsigned type)
{
    return op < ATOMIC_COUNT && type < PTX_TYPE_COUNT ? functions[op][type].one : NULL;
}

atomic_each_fn *atomic_function_each(unsigned op, unsigned type)
{
    assert(op < ATOMIC_CAS && type < PTX_TYPE_COUNT);
    return functions[op][type].each;
}

void atomic_apply(unsigned op, unsigned type, void *memory, const void *operand,
                  const void *comparand, void *old)
{
    atomic_fn *fn = atomic_function(op, type);
    assert(fn && (comparand || op != ATOMIC_CAS));
    fn(memory, operand, comparand, old);
}

u32 atomic_packed_bytes(unsigned op, unsigned type)
{
    u32 width = ptx_types[type].bits / 8u;
    return op == ATOMIC_CAS ? 2 * width : width;
}

void atomic_apply_packed(unsigned op, unsigned type, void *memory, const void *packed)
{
    const u8 *p = packed;
    bool cas = op == ATOMIC_CAS;
    atomic_apply(op, type, memory, cas ? p + ptx_types[type].bits / 8u : p, cas ? p : NULL, NULL);
}

bool atomic_commutes(unsigned op, unsigned type)
{
    unsigned kind = ptx_types[type].kind;
    bool integer = kind == PTX_UINT || kind == PTX_SINT || kind == PTX_BITS;
    return integer && (op == ATOMIC_ADD || op == ATOMIC_MIN || op == ATOMIC_MAX ||
                       op == ATOMIC_AND || op == ATOMIC_OR || op == ATOMIC_XOR);
}

bool atomic_is_global(const struct emu_group *g, u32 space, u64 address)
{
    if (space == PTX_SPACE_GENERIC) space = emu_space_of(g, address);
    return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST;
}

#define HOST_ATOMIC(T)                                                                             \
    {                                                                                              \
        T *p = (T *)(void *)host, was = __atomic_load_n(p, __ATOMIC_RELAXED), now;                 \
        do {                                                                                       \
            now = was;                                                                             \
            fn(&now, operand, NULL, NULL);                                                         \
        } while (now != was && !__atomic_compare_exchange_n(p, &was, now, true, __ATOMIC_RELAXED,  \
                                                            __ATOMIC_RELAXED));                    \
    }

void atomic_reduce_now(u8 *host, unsigned op, unsigned type, const void *operand)
{
    atomic_fn *const fn = atomic_function(op, type);
    if (ptx_types[type].bits == 32) HOST_ATOMIC(u32)
    else HOST_ATOMIC(u64)
}

void atomic_reduce(struct emu_group *g, const struct emu_uop *in, bool global, u64 address,
                   u8 *host, unsigned op, unsigned type, const void *operand, const void *comparand)
{
    atomic_fn *fn = atomic_function(op, type);
    assert(fn);
    if (!global) {
        fn(host, operand, comparand, NULL);
    } else if (atomic_commutes(op, type) && !g->worker->machine->program->mixes) {
        if (!g->worker->machine->threads.parallel) fn(host, operand, comparand, NULL);
        else atomic_reduce_now(host, op, type, operand);
    } else {
        u8 packed[32];
        u32 width = ptx_types[type].bits / 8u;
        bool cas = op == ATOMIC_CAS;
        if (cas) memcpy(packed, comparand, width);
        memcpy(packed + (cas ? width : 0), operand, width);
        if (!emu_defer_red(g, in, address, (u8)op, (u8)type, packed))
            fn(host, operand, comparand, NULL);
    }
}

/* ---- lanes ------------------------------------------------------------------------------------- */

void lane_take(const struct emu_group *g, u32 row, u32 width, u32 w, u32 lane, void *to)
{
    u64 v[2];
    v[0] = emu_get(g, width > 8 ? 8 : width < 2 ? 2 : width, row, w, lane);
    if (width > 8) v[1] = emu_get(g, 8, row + ROW * 8, w, lane);
    if (width == 1) *(u8 *)to = (u8)v[0];
    else if (width == 2) memcpy(to, &(u16){(u16)v[0]}, 2);
    else if (width == 4) memcpy(to, &(u32){(u32)v[0]}, 4);
    else memcpy(to, v, width);
}

void lane_give(struct emu_group *g, u32 row, u32 width, u32 w, u32 lane, const void *from)
{
    u64 v[2] = {0};
    if (width == 1) v[0] = *(const u8 *)from;
    else if (width == 2) {
        u16 h;
        memcpy(&h, from, 2);
        v[0] = h;
    } else if (width == 4) {
        u32 i;
        memcpy(&i, from, 4);
        v[0] = i;
    } else memcpy(v, from, width);
    emu_put(g, width > 8 ? 8 : width < 2 ? 2 : width, row, w, lane, v[0]);
    if (width > 8) emu_put(g, 8, row + ROW * 8, w, lane, v[1]);
}

/* ---- handlers ---------------------------------------------------------------------------------- */

/* Whether a generic address leads to the thread's own .local memory. PTX leaves open what an atomic does there; libcu++ of
 * CUDA 13 emits such for automatic variables, and only the thread itself can see the result. */
static bool is_local(const struct emu_group *g, const struct atomic_desc *v, u64 address)
{
    return v->at.space == PTX_SPACE_GENERIC && emu_space_of(g, address) == PTX_SPACE_LOCAL;
}

/* The atomic of one lane in its .local memory. */
static bool local_atomic(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, u64 at)
{
    const struct atomic_desc *v = in->ext;
    const u32 width = v->width, size = width * v->count;
    u8 m[64], b[16], c[16], old[16];
    emu_note_undefined(g, in, EMU_CHECK_MEMORY, EMU_WRONG_SPACE, w, l, at,
                       "an atomic on .local memory: PTX leaves open what it does");
    if (!emu_lane_read(g, in, w, l, v->at.space, at, size, m)) return false;
    for (u32 k = 0; k < v->count; k++) {
        lane_take(g, v->operand[k], width, w, l, b);
        if (v->op == ATOMIC_CAS) lane_take(g, v->comparand[k], width, w, l, c);
        atomic_apply(atomic_op_in(v, false), v->type, m + k * width, b,
                     v->op == ATOMIC_CAS ? c : NULL, old);
        if (!v->red && !(v->flags & EMU_DEAD_RESULT)) lane_give(g, v->result[k], width, w, l, old);
    }
    return emu_lane_write(g, in, w, l, v->at.space, at, size, m);
}

/* Where a lane's element in global or generic memory lies; what is outside of the allocation that the
 * instruction touched last. */
static u8 *find(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u64 a, u32 size)
{
    const struct atomic_desc *v = in->ext;
    struct emu_bound *b = &g->worker->bounds[in->site];
    const struct emu_cta *c = g->cta;
    if (v->at.space == PTX_SPACE_GENERIC &&
        element_inside(a, MEM_SHARED, MEM_SHARED + c->shared_size, size))
        return c->shared + (a - MEM_SHARED);
    if (atomic_is_global(g, v->at.space, a)) emu_find_bound(g, in, a, true, b);
    return emu_lane_host(g, in, w, lane, v->at.space, a, size, true);
}

/* Whether reductions that commute need no care, and the others; with an order nothing waits for its CTA's turn. */
static inline bool goes_at_once(const struct emu_machine *m, bool commutes)
{
    return m->launch->order || (commutes && !m->threads.parallel && !m->program->mixes);
}

/* Whether those that commute go to memory while other host threads are at it. */
static inline bool meets_others(const struct emu_machine *m)
{
    return m->threads.parallel && !m->program->mixes;
}

/* What may keep reductions of so many lanes; NULL: they go to memory at once. */
static struct combine *combine_of(const struct emu_worker *k, u32 lanes)
{
    struct combine *const c = k->combine;
    return c && combine_begins(c, (u32)__builtin_popcount(lanes)) ? c : NULL;
}

/* Whether the lanes' elements are adjacent and aligned, in [low, high). */
static inline bool is_run(const u64 at[LANES], u64 low, u64 high, u32 size)
{
    if (at[LANES - 1] - at[0] != (LANES - 1) * (u64)size) return false;
    u64 off = at[0] & (size - 1);
    for (u32 l = 0; l < LANES; l++) off |= at[l] ^ (at[0] + (u64)l * size);
    return !off && at[0] >= low && at[0] <= high && high - at[0] >= (u64)LANES * size;
}

#define ROW_OF(T, row) ((T *)(void *)((sizeof(T) == 8 ? g->r64 : g->r32) + (row)) + w * LANES)

/* Exchanges name their elements where the kernel polls. */
static void trace_swaps(const struct emu_group *g, const struct emu_uop *in, u32 w, u32 swapped)
{
    const struct atomic_desc *const v = in->ext;
    if (v->op == ATOMIC_CAS || emu_handoff_of(g, in) != TRACE_HANDOFF_NONE)
        emu_trace_swaps(g, w, swapped);
}

/* Known when the handlers are compiled. A trace says which compare-and-swaps and exchanges changed memory. */
#define MAY_SWAP(name)                                                                             \
    (__builtin_strncmp(#name, "cas", 3) == 0 || __builtin_strncmp(#name, "exch", 4) == 0)

#define HANDLERS(name, T, commutes, ...)                                                           \
    const struct emu_uop *emu_op_atom_##name(struct emu_group *g, const struct emu_uop *in)        \
    {                                                                                              \
        const struct emu_bound *const k = &g->worker->bounds[in->site];                            \
        const struct atomic_desc *const v = in->ext;                                               \
        const bool careful = !in->y && !goes_at_once(g->worker->machine, commutes);                \
        const bool meets = careful && meets_others(g->worker->machine);                            \
        for (u32 w = 0; w < g->warps; w++) {                                                       \
            u64 at[LANES];                                                                         \
            if (!g->exec[w]) continue;                                                             \
            lane_addresses(g, &v->at, w, at);                                                      \
            if (g->worker->sites)                                                                  \
                emu_count_lanes(g, in, w, at, g->exec[w], (u32)v->width * v->count, v->at.space,   \
                                COUNT_ATOMIC);                                                     \
            const T *b = ROW_OF(const T, in->b), *const c = ROW_OF(const T, in->c);                \
            struct combine *const kept = (commutes) && careful ? combine_of(g->worker, g->exec[w]) \
                                                               : NULL;                             \
            T *const d = ROW_OF(T, in->d), sum[LANES];                                             \
            u32 left = g->exec[w], swapped = 0;                                                    \
            if (careful && (commutes) && same(at, left) &&                                         \
                !is_local(g, v, at[__builtin_ctz(left)])) { /* one for all */                      \
                const u32 first = (u32)__builtin_ctz(left);                                        \
                sum[first] = b[first];                                                             \
                for (u32 rest = left & (left - 1); rest; rest &= rest - 1)                         \
                    sum[first] = name##_of(sum[first], b[__builtin_ctz(rest)], c[first], true);    \
                left = 1u << first;                                                                \
                b = sum;                                                                           \
            }                                                                                      \
            if (!careful && left == ~0u && is_run(at, k->low, k->high, sizeof(T))) {               \
                u8 *const m = k->host + (at[0] - k->low);                                          \
                T was[LANES], is[LANES];                                                           \
                memcpy(was, m, sizeof was);                                                        \
                for (int l = 0; l < LANES; l++) is[l] = name##_of(was[l], b[l], c[l], true);       \
                memcpy(m, is, sizeof is);                                                          \
                for (int l = 0; MAY_SWAP(name) && l < LANES; l++)                                  \
                    swapped |= (u32)(is[l] != was[l]) << l;                                        \
                if (in->y) memcpy(d, was, sizeof was);                                             \
                if (MAY_SWAP(name)) trace_swaps(g, in, w, swapped);                                \
                continue;                                                                          \
            }                                                                                      \
            if (!careful && left == ~0u && lanes_inside(at, ~0u, k->low, k->high, sizeof(T))) {    \
                for (int l = 0; l < LANES; l++) {                                                  \
                    T *const m = (T *)(void *)(k->host + (at[l] - k->low)), was = *m;              \
                    *m = name##_of(was, b[l], c[l], true);                                         \
                    if (MAY_SWAP(name)) swapped |= (u32)(*m != was) << l;                          \
                    if (in->y) d[l] = was;                                                         \
                }                                                                                  \
                if (MAY_SWAP(name)) trace_swaps(g, in, w, swapped);                                \
                continue;                                                                          \
            }                                                                                      \
            for (; left; left &= left - 1) {                                                       \
                const u32 l = (u32)__builtin_ctz(left);                                            \
                bool global = true;                                                                \
                u8 *p = kept ? combine_at(kept, at[l], sizeof(T)) : NULL;                          \
                if (p) {                                                                           \
                    T *const m = (T *)(void *)p;                                                   \
                    *m = name##_of(*m, b[l], c[l], true);                                          \
                    continue;                                                                      \
                }                                                                                  \
                if (__builtin_expect(element_inside(at[l], k->low, k->high, sizeof(T)), 1))        \
                    p = k->host + (at[l] - k->low);                                                \
                else if (is_local(g, v, at[l])) {                                                  \
                    if (!local_atomic(g, in, w, l, at[l])) return NULL;                            \
                    continue;                                                                      \
                } else {                                                                           \
                    if (!(p = find(g, in, w, l, at[l], sizeof(T)))) return NULL;                   \
                    global = atomic_is_global(g, v->at.space, at[l]);                              \
                }                                                                                  \
                if (kept && global && combine_first(g->worker, at[l], p, v->op, v->type, &b[l]))   \
                    continue;                                                                      \
                if ((commutes) && meets && global) {                                               \
                    T *const m = (T *)(void *)p, was, now;                                         \
                    __atomic_load(m, &was, __ATOMIC_RELAXED);                                      \
                    do now = name##_of(was, b[l], c[l], true);                                     \
                    while (now != was &&                                                           \
                           !__atomic_compare_exchange(m, &was, &now, true, __ATOMIC_RELAXED,       \
                                                      __ATOMIC_RELAXED));                          \
                    continue;                                                                      \
                }                                                                                  \
                if (careful) {                                                                     \
                    atomic_reduce(g, in, global, at[l], p, atomic_op_in(v, global), v->type,       \
                                  &b[l], &c[l]);                                                   \
                    continue;                                                                      \
                }                                                                                  \
                T *const m = (T *)(void *)p, was = *m;                                             \
                *m = name##_of(was, b[l], c[l], global);                                           \
                if (MAY_SWAP(name)) swapped |= (u32)(*m != was) << l;                              \
                if (in->y) d[l] = was;                                                             \
            }                                                                                      \
            if (MAY_SWAP(name)) trace_swaps(g, in, w, swapped);                                    \
        }                                                                                          \
        return in + 1;                                                                             \
    }

static inline bool same(const u64 *at, u32 mask)
{
    const u64 first = at[__builtin_ctz(mask)];
    for (u32 left = mask; left; left &= left - 1)
        if (at[__builtin_ctz(left)] != first) return false;
    return true;
}

#ifndef __clang_analyzer__
ATOMIC_OPS(HANDLERS)
#else /* looks at every path of each, for seconds: of one that commutes and one that does not, it has seen all */
HANDLERS(add_u32, u32, true, )
HANDLERS(cas_b64, u64, false, )
#endif

const struct emu_uop *emu_op_atom(struct emu_group *g, const struct emu_uop *in)
{
    const struct atomic_desc *const v = in->ext;
    const u32 width = v->width;
    const bool cas = v->op == ATOMIC_CAS, swaps = cas || v->op == ATOMIC_EXCH;
    const bool wanted = !v->red && !(v->flags & EMU_DEAD_RESULT);
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        u64 at[LANES];
        lane_addresses(g, &v->at, w, at);
        if (g->worker->sites)
            emu_count_lanes(g, in, w, at, g->exec[w], (u32)v->width * v->count, v->at.space,
                            COUNT_ATOMIC);
        u32 swapped = 0;
        for (u32 left = g->exec[w]; left; left &= left - 1) {
            const u32 l = (u32)__builtin_ctz(left);
            u8 b[64], c[16], old[64];
            if (is_local(g, v, at[l])) {
                if (!local_atomic(g, in, w, l, at[l])) return NULL;
                continue;
            }
            u8 *p = emu_lane_host(g, in, w, l, v->at.space, at[l], width * v->count, true);
            if (!p) return NULL;
            const bool global = atomic_is_global(g, v->at.space, at[l]);
            if (v->count > 1 && !global) /* "only with .global and generic addresses of it" */
                return emu_raise(g, in, EMU_WRONG_SPACE, w, l, at[l], width * v->count,
                                 "a vector atomic outside of global memory");
            const unsigned op = atomic_op_in(v, global);
            for (u32 k = 0; k < v->count; k++)
                lane_take(g, v->operand[k], width, w, l, b + k * width);
            if (cas) lane_take(g, v->comparand[0], width, w, l, c);
            for (u32 k = 0; k < v->count; k++) {
                const u32 o = k * width;
                if (wanted) atomic_apply(op, v->type, p + o, b + o, cas ? c : NULL, old + o);
                else
                    atomic_reduce(g, in, global, at[l] + o, p + o, op, v->type, b + o,
                                  cas ? c : NULL);
            }
            if (!wanted) continue;
            if (swaps) swapped |= (u32)(memcmp(p, old, width * v->count) != 0) << l;
            for (u32 k = 0; k < v->count; k++)
                lane_give(g, v->result[k], width, w, l, old + k * width);
        }
        if (swaps) trace_swaps(g, in, w, swapped);
    }
    return in + 1;
}

/* Of a compare-and-swap observers hear what is there, and so whether it fails. */
static bool tells_data(const struct emu_group *g, const struct atomic_desc *v)
{
    return v->op == ATOMIC_CAS && g->worker->machine->launch->observer_count;
}

/* As of loads and stores (access.c): the access is sure to fault not, and no observer looks at other data. */
static bool found(struct emu_group *g, const struct emu_uop *in, u32 w, struct emu_lanes *lanes,
                  struct emu_access *a)
{
    const struct atomic_desc *const v = in->ext;
    const struct emu_machine *m = g->worker->machine;
    if (!m->steps.blind || v->count > 1 || !g->exec[w]) return false;
    if (tells_data(g, v) && m->launch->order) return false;
    const u32 space = m->counting->find_lanes(g, &v->at, w, v->width, &g->worker->bounds[in->site],
                                              lanes);
    if (space == PTX_SPACE_GENERIC || (tells_data(g, v) && space != PTX_SPACE_GLOBAL)) return false;
    *a = (struct emu_access){.kind = v->red ? EMU_RED : EMU_ATOMIC,
                             .space = (u8)space,
                             .flags = v->flags,
                             .scope = v->scope,
                             .op = (u8)atomic_op_in(v, space == PTX_SPACE_GLOBAL),
                             .type = v->type,
                             .width = v->width,
                             .count = 1,
                             .contiguous = lanes->run,
                             .lanes = g->exec[w],
                             .address = lanes->at,
                             .common_bits = lanes->alike,
                             .rows = lanes->rows,
                             .low16 = lanes->low,
                             .standalone = space == PTX_SPACE_GLOBAL,
                             .pc = in->pc};
    return true;
}

/* Of compare-and-swaps, as emu_access.data has them. */
static inline __attribute__((always_inline)) void
put_pairs(u8 *scratch, const u8 *comparands, const u8 *operands, const u32 width, u32 lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        const u32 l = (u32)__builtin_ctz(lanes);
        memcpy(scratch + 64 * l, comparands + width * l, width);
        memcpy(scratch + 64 * l + 32, operands + width * l, width);
    }
}

/* The operands as an order has them: the row, or put together in `scratch`, 64 bytes a lane. */
static const u8 *operands(const struct emu_group *g, const struct atomic_desc *v, u8 *scratch,
                          u32 *stride)
{
    const bool cas = v->op == ATOMIC_CAS;
    *stride = v->width;
    if (!cas && v->width >= 2 && v->width <= 8) return emu_row(g, v->width, v->operand[0]);
    *stride = 64;
    if (cas && (v->width == 4 || v->width == 8)) {
        const u8 *const b = emu_row(g, v->width, v->operand[0]);
        const u8 *const c = emu_row(g, v->width, v->comparand[0]);
        if (v->width == 4) put_pairs(scratch, c, b, 4, g->exec[0]);
        else put_pairs(scratch, c, b, 8, g->exec[0]);
        return scratch;
    }
    for (u32 m = g->exec[0]; m; m &= m - 1) {
        const u32 l = (u32)__builtin_ctz(m);
        if (cas) lane_take(g, v->comparand[0], v->width, 0, l, scratch + 64 * l);
        lane_take(g, v->operand[0], v->width, 0, l, scratch + 64 * l + (cas ? 32 : 0));
    }
    return scratch;
}

static bool is_wanted(const struct atomic_desc *v)
{
    return !v->red && !(v->flags & EMU_DEAD_RESULT);
}

/* The order may look at operands. */
static bool is_looked_at(const struct emu_machine *m, const struct atomic_desc *v)
{
    return m->launch->order && !(m->steps.wants & EMU_BRIEF_RETRIES && is_wanted(v));
}

/* All of a group's warps, where observers alone take part. */
static const struct emu_uop *tell_group(struct emu_group *g, const struct emu_uop *in)
{
    const struct atomic_desc *const v = in->ext;
    struct emu_lanes lanes[GROUP];
    struct emu_access a[GROUP];
    if (tells_data(g, v)) { /* which other warps change */
        emu_notify_single_warp(g, in);
        return NULL;
    }
    for (u32 w = 0; w < g->warps; w++)
        if (g->exec[w] && !found(g, in, w, &lanes[w], &a[w])) {
            const u64 first = lane_address(g, &v->at, w, (u32)__builtin_ctz(g->exec[w]));
            if (!atomic_is_global(g, v->at.space, first) ||
                !emu_find_bound(g, in, first, true, &g->worker->bounds[in->site]) ||
                !found(g, in, w, &lanes[w], &a[w])) {
                emu_notify_single_warp(g, in);
                return NULL;
            }
        }
    for (u32 w = 0; w < g->warps; w++)
        if (g->exec[w]) emu_notify_observers(g, w, &a[w]);
    return v->plain(g, in);
}

/* What a watched atomic has read before it is reported: a lane has 64 bytes of each. Of a compare-and-swap the
 * comparand is at 0 and the new value at 32 of `data`. */
struct atomic_operands {
    struct emu_lanes lanes;
    u8 data[LANES * 64], old[LANES * 64];
    bool global; /* the last lane's address is in global memory */
    u32 local;   /* lanes whose address leads to .local memory */
};

/* All lanes name one allocation, and the access is in its bounds. */
static const struct emu_uop *atom_watched_at_once(struct emu_group *g, const struct emu_uop *in,
                                                  struct atomic_operands *o, struct emu_access *a)
{
    const struct atomic_desc *const v = in->ext;
    struct emu_machine *const m = g->worker->machine;
    const u32 mask = g->exec[0];
    enum emu_verdict verdict;
    const bool reports_data = tells_data(g, v);
    if (is_looked_at(m, v) || reports_data) a->data = operands(g, v, o->data, &a->stride);
    if (!v->red) a->result = o->old;
    if (reports_data) emu_machine_fetch(m, a);
    if (!emu_notify_access(g, in, a, &verdict)) return NULL;
    if (verdict == EMU_PROCEED) return v->plain(g, in);
    if (g->worker->sites)
        emu_count_lanes(g, in, 0, o->lanes.at, mask, v->width * v->count, v->at.space,
                        COUNT_ATOMIC);
    for (u32 left = is_wanted(v) ? mask : 0; left; left &= left - 1) {
        const u32 l = (u32)__builtin_ctz(left);
        lane_give(g, v->result[0], v->width, 0, l, o->old + a->stride * l);
    }
    return in + 1;
}

/* Addresses, operands and old values of all lanes. false: a lane's address is wrong, which is a fault. */
static bool atom_read_lanes(struct emu_group *g, const struct emu_uop *in,
                            struct atomic_operands *o)
{
    const struct atomic_desc *const v = in->ext;
    const u32 width = v->width, size = width * v->count;
    const bool cas = v->op == ATOMIC_CAS;
    o->local = 0;
    for (u32 left = g->exec[0]; left; left &= left - 1) {
        const u32 l = (u32)__builtin_ctz(left);
        u8 *b = o->data + 64 * l;
        const u64 at = o->lanes.at[l] = lane_address(g, &v->at, 0, l);
        if (is_local(g, v, at)) { /* no other thread can see it */
            o->local |= 1u << l;
            continue;
        }
        const u8 *p = emu_lane_host(g, in, 0, l, v->at.space, at, size, true);
        if (!p) return false;
        o->global = atomic_is_global(g, v->at.space, at);
        if (o->global && g->worker->machine->steps.blind)
            emu_find_bound(g, in, at, true, &g->worker->bounds[in->site]);
        if (v->count > 1 && !o->global) {
            emu_raise(g, in, EMU_WRONG_SPACE, 0, l, at, size,
                      "a vector atomic outside of global memory");
            return false;
        }
        if (cas) lane_take(g, v->comparand[0], width, 0, l, b);
        for (u32 k = 0; k < v->count; k++)
            lane_take(g, v->operand[k], width, 0, l, b + k * width + (cas ? 32 : 0));
        memcpy(o->old + 64 * l, p, size);
    }
    return true;
}

/* Executes the lanes that the order has not executed (`done`), and gives all lanes their results. */
static void atom_apply_lanes(struct emu_group *g, const struct emu_uop *in,
                             struct atomic_operands *o, u32 done)
{
    const struct atomic_desc *const v = in->ext;
    const u32 width = v->width, size = width * v->count;
    const bool cas = v->op == ATOMIC_CAS, wanted = is_wanted(v);
    const bool at_once = wanted ||
                         g->worker->machine->launch->order; /* not deferred to its CTA's turn */
    for (u32 left = g->exec[0] & ~o->local; left; left &= left - 1) {
        const u32 l = (u32)__builtin_ctz(left);
        const u64 at = o->lanes.at[l];
        const u8 *b = o->data + 64 * l;
        u8 *p = done >> l & 1 ? NULL : emu_lane_host(g, in, 0, l, v->at.space, at, size, true);
        const bool global = p && atomic_is_global(g, v->at.space, at);
        const u32 op = p ? atomic_op_in(v, global) : 0;
        for (u32 k = 0; k < v->count; k++) {
            const u32 part = k * width;
            const u8 *operand = cas ? b + 32 : b + part, *comparand = cas ? b : NULL;
            u8 *result = o->old + 64 * l + part;
            if (p && at_once) atomic_apply(op, v->type, p + part, operand, comparand, result);
            else if (p)
                atomic_reduce(g, in, global, at + part, p + part, op, v->type, operand, comparand);
            if (wanted) lane_give(g, v->result[k], width, 0, l, result);
        }
    }
}

/* Where an order or observers take part. Without an order the result is the one without observers. */
const struct emu_uop *emu_op_atom_watched(struct emu_group *g, const struct emu_uop *in)
{
    const struct atomic_desc *const v = in->ext;
    struct emu_machine *const m = g->worker->machine;
    struct atomic_operands o;
    struct emu_access a;
    if (!emu_notify_step(g, in)) return NULL;
    if (g->turn.asked) return emu_notify_retry(g, in, EMU_ATOMIC, v->flags, v->plain);
    if (g->warps > 1) return tell_group(g, in);
    if (m->steps.wants & EMU_SKIP_COMMUTING_SHARED && v->at.space == PTX_SPACE_SHARED &&
        m->program->shared_commutes)
        return v->plain(g, in);
    if (found(g, in, 0, &o.lanes, &a)) return atom_watched_at_once(g, in, &o, &a);
    o.global = false;
    if (!atom_read_lanes(g, in, &o)) return NULL;
    a = (struct emu_access){.kind = v->red ? EMU_RED : EMU_ATOMIC,
                            .space = (u8)v->at.space,
                            .flags = v->flags,
                            .scope = v->scope,
                            .op = (u8)atomic_op_in(v, o.global),
                            .type = v->type,
                            .width = v->width,
                            .count = v->count,
                            .lanes = g->exec[0] & ~o.local,
                            .address = o.lanes.at,
                            .stride = 64,
                            .data = o.data,
                            .result = v->red ? NULL : o.old,
                            .pc = in->pc};
    u32 done = 0;
    if (a.lanes && !emu_notify_spaces(g, in, &a, &done)) return NULL;
    for (u32 left = o.local; left; left &= left - 1) {
        const u32 l = (u32)__builtin_ctz(left);
        if (!local_atomic(g, in, 0, l, o.lanes.at[l])) return NULL;
    }
    if (g->worker->sites)
        emu_count_lanes(g, in, 0, o.lanes.at, g->exec[0], v->width * v->count, v->at.space,
                        COUNT_ATOMIC);
    atom_apply_lanes(g, in, &o, done);
    return in + 1;
}
