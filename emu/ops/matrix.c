/* Loads and stores of matrices, and movmatrix. Memory is accessed one line (a row, or a column of a column-major
 * matrix) at a time. A line must be in one allocation and be aligned to 16 bytes, or to its own size if that is less.
 * CUDA's wmma.h requires this alignment, and hardware faults without it; the ISA requires more.
 *
 * wmma.load and wmma.store require one address and stride for the warp. Lanes with other values, and lanes of a
 * diverged warp, move their own elements one by one. If a register of all lanes is a block of 8 lines (enum
 * matrix_form), and the lines are in the allocation that the instruction accessed last, blocks are copied. */
#include "emu/measure/count.h"
#include "emu/ops/exec.h"
#include "emu/ops/matrixops.h"
#include "emu/sched/notify.h"
#include "ptx/ptx.h"

#include <string.h>
#if defined __SSE2__
#include <emmintrin.h>
#endif

enum { ROW_BYTES = 16 }; /* of an 8x8 matrix of 16-bit elements */

static void note(struct emu_group *g, const struct emu_uop *in, u32 w)
{
    if (g->alive[w] & ~g->exec[w]) emu_note_sync(g, in, w, ~0u);
}

/* The lanes' addresses; of 32 bits they wrap. */
static void addresses(const struct emu_group *g, const struct matrix_desc *d, u32 w, u64 *at)
{
    if (d->address_bytes == 8) {
        const u64 *p = (const u64 *)(const void *)(g->r64 + d->address) + w * LANES;
        for (int l = 0; l < LANES; l++) at[l] = p[l] + (u64)d->offset;
    } else if (d->address_bytes == 4) {
        const u32 *p = (const u32 *)(const void *)(g->r32 + d->address) + w * LANES;
        for (int l = 0; l < LANES; l++) at[l] = p[l] + (u32)(u64)d->offset;
    } else
        for (int l = 0; l < LANES; l++) at[l] = (u64)d->offset;
}

static void count(struct emu_group *g, const struct emu_uop *in, u32 w, const u64 *at, u32 mask,
                  u32 size, bool write)
{
    const struct matrix_desc *d = in->ext;
    if (!g->worker->sites || !mask) return;
    emu_count_lanes(g, in, w, at, mask, size, d->space, write ? COUNT_STORE : COUNT_LOAD);
}

/* An access of the lanes of a mask, with an order or observers: `size` bytes of lane l at at[l], to or from
 * data[l]. false: a fault, or the warp sleeps. */
static bool watched(struct emu_group *g, const struct emu_uop *in, const u64 *at, u32 mask,
                    u32 size, bool write, u8 (*data)[64])
{
    const struct matrix_desc *d = in->ext;
    const u32 width = size < 4 ? size : 4;
    u64 generic[LANES] = {0};
    for (u32 m = mask; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        generic[l] = at[l];
        if (d->space == PTX_SPACE_SHARED) generic[l] += MEM_SHARED;
        if (write ? !emu_lane_host(g, in, 0, l, d->space, at[l], size, true)
                  : !emu_lane_read(g, in, 0, l, d->space, at[l], size, data[l]))
            return false;
    }
    struct emu_access a = {.kind = write ? EMU_STORE : EMU_LOAD,
                           .space = (u8)d->space,
                           .type = width == 4   ? PTX_b32
                                   : width == 2 ? PTX_b16
                                                : PTX_b8,
                           .width = (u8)width,
                           .count = (u8)(size / width),
                           .lanes = mask,
                           .address = generic,
                           .stride = 64,
                           .data = write ? data[0] : NULL,
                           .result = write ? NULL : data[0],
                           .pc = in->pc};
    u32 done;
    if (!emu_notify_spaces(g, in, &a, &done)) return false;
    for (u32 m = write ? mask & ~done : 0; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        if (!emu_lane_write(g, in, 0, l, d->space, at[l], size, data[l])) return false;
    }
    return true;
}

/* Host addresses of what is at at[i], `size` bytes, for the bits of a mask; false: a fault was raised, for
 * lane i (or, if `one` says so, for this lane). */
static bool find_host(struct emu_group *g, const struct emu_uop *in, u32 w, u32 mask,
                      const u32 *one, const u64 *at, u32 size, bool write, u8 **host)
{
    const struct matrix_desc *d = in->ext;
    for (u32 m = mask; m; m &= m - 1) {
        u32 i = (u32)__builtin_ctz(m);
        if (d->space == PTX_SPACE_SHARED && !(at[i] & (size - 1)) && at[i] < g->cta->shared_size &&
            g->cta->shared_size - at[i] >= size) {
            host[i] = g->cta->shared + at[i];
            continue;
        }
        host[i] = emu_lane_host(g, in, w, one ? *one : i, d->space, at[i], size, write);
        if (!host[i]) return false;
    }
    return true;
}

/* ---- ldmatrix, stmatrix, movmatrix --------------------------------------------------------------- */

/* Whether the rows at `at`, one of each lane of the mask, lie in shared memory if the address is generic. */
static bool rows_shared(struct emu_group *g, const struct emu_uop *in, u32 w, const u64 *at,
                        u32 mask)
{
    const struct matrix_desc *d = in->ext;
    if (d->space != PTX_SPACE_GENERIC) return true;
    for (u32 m = mask; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        if (emu_space_of(g, at[l]) == PTX_SPACE_SHARED) continue;
        emu_raise(g, in, EMU_WRONG_SPACE, w, l, at[l], ROW_BYTES,
                  "a row of the matrix is not in shared memory");
        return false;
    }
    return true;
}

static void give(struct emu_group *g, u32 row, u32 w, const u32 *v)
{
    u32 *p = (u32 *)(void *)(g->r32 + row) + w * LANES, exec = g->exec[w];
    if (exec == ~0u) {
        memcpy(p, v, LANES * sizeof *p);
        return;
    }
    for (int l = 0; l < LANES; l++) p[l] = exec >> l & 1 ? v[l] : p[l];
}

static void take(const struct emu_group *g, u32 row, u32 w, u32 *v)
{
    const u32 *p = (const u32 *)(const void *)(g->r32 + row) + w * LANES, exec = g->exec[w];
    for (int l = 0; l < LANES; l++) v[l] = exec >> l & 1 ? p[l] : 0;
}

/* 8 rows of 8 halves, as the lanes hold them: lane l has row l / 4, columns 2 (l % 4) and the next. */
static void transpose(u32 *v)
{
#if defined __SSE2__
    __m128i a[8], b[8];
    memcpy(a, v, sizeof a);
    for (int i = 0; i < 4; i++) { /* rows i and i + 4, half by half; three times */
        b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]);
        a[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
        b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    }
    memcpy(v, b, sizeof b);
#else
    u16 from[64], to[64];
    memcpy(from, v, sizeof from);
    for (int i = 0; i < 64; i++) to[i] = from[i % 8 * 8 + i / 8];
    memcpy(v, to, sizeof to);
#endif
}

/* The rows of the matrices, v[matrix][row * 4 + word], from or to memory. Rows of lanes that are not here are
 * neither read nor written. */
static bool move_rows(struct emu_group *g, const struct emu_uop *in, u32 w, bool write,
                      u32 (*v)[LANES])
{
    const struct matrix_desc *d = in->ext;
    const u32 mask = (d->regs == 4 ? ~0u : (1u << d->regs * 8) - 1) & g->exec[w];
    u64 at[LANES];
    if (!mask) return true;
    addresses(g, d, w, at);
    if (!rows_shared(g, in, w, at, mask)) return false;
    count(g, in, w, at, mask, ROW_BYTES, write);
    if (g->worker->machine->steps.watched) {
        u8 data[LANES][64];
        for (u32 l = 0; l < LANES; l++) memcpy(data[l], &v[l / 8][l % 8 * 4], ROW_BYTES);
        if (!watched(g, in, at, mask, ROW_BYTES, write, data)) return false;
        for (u32 m = mask; m && !write; m &= m - 1) {
            u32 l = (u32)__builtin_ctz(m);
            memcpy(&v[l / 8][l % 8 * 4], data[l], ROW_BYTES);
        }
        return true;
    }
    u8 *host[LANES];
    if (!find_host(g, in, w, mask, NULL, at, ROW_BYTES, write, host)) return false;
    for (u32 m = mask; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        if (write) memcpy(host[l], &v[l / 8][l % 8 * 4], ROW_BYTES);
        else memcpy(&v[l / 8][l % 8 * 4], host[l], ROW_BYTES);
    }
    return true;
}

const struct emu_uop *emu_op_ldmatrix(struct emu_group *g, const struct emu_uop *in)
{
    const struct matrix_desc *d = in->ext;
    if (!emu_notify_single_warp(g, in)) return NULL;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        note(g, in, w);
        u32 v[4][LANES] = {{0}};
        if (!move_rows(g, in, w, false, v)) return NULL;
        for (u32 r = 0; r < d->regs; r++) {
            if (d->trans) transpose(v[r]);
            give(g, d->rows[r], w, v[r]);
        }
    }
    return in + 1;
}

const struct emu_uop *emu_op_stmatrix(struct emu_group *g, const struct emu_uop *in)
{
    const struct matrix_desc *d = in->ext;
    if (!emu_notify_single_warp(g, in)) return NULL;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        note(g, in, w);
        u32 v[4][LANES] = {{0}};
        for (u32 r = 0; r < d->regs; r++) {
            take(g, d->rows[r], w, v[r]);
            if (d->trans) transpose(v[r]);
        }
        if (!move_rows(g, in, w, true, v)) return NULL;
    }
    return in + 1;
}

const struct emu_uop *emu_op_movmatrix(struct emu_group *g, const struct emu_uop *in)
{
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        note(g, in, w);
        u32 v[LANES];
        take(g, in->a, w, v);
        transpose(v);
        give(g, in->d, w, v);
    }
    return in + 1;
}

/* ---- wmma.load, wmma.store ----------------------------------------------------------------------- */

/* The space of a generic address must be one that the ISA allows. */
static bool space_fits(struct emu_group *g, const struct emu_uop *in, u32 w, u32 l, u64 a)
{
    const struct matrix_desc *d = in->ext;
    if (d->space != PTX_SPACE_GENERIC) return true;
    u32 space = emu_space_of(g, a);
    if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_SHARED || space == PTX_SPACE_GENERIC)
        return true;
    emu_raise(g, in, EMU_WRONG_SPACE, w, l, a, d->piece,
              "the matrix is not in global or shared memory");
    return false;
}

static void strides(const struct emu_group *g, const struct matrix_desc *d, u32 w, u32 *stride)
{
    for (int l = 0; l < LANES; l++) stride[l] = d->length;
    if (d->has_stride) memcpy(stride, g->r32 + d->stride + w * LANES * 4, LANES * sizeof *stride);
}

/* Between registers (words[r][lane]) and lines: `per` pieces of a register. */
#define MOVE(T, TO, FROM)                                                                          \
    for (u32 r = 0, n = 0; r < d->distinct; r++)                                                   \
        for (u32 l = 0; l < LANES; l++)                                                            \
            for (u32 e = 0; e < d->pieces; e++, n++) {                                             \
                u8 *word = (u8 *)&words[r][l] + e * sizeof(T);                                     \
                u8 *there = host[d->places[n].line] + d->places[n].from;                           \
                memcpy(TO, FROM, sizeof(T));                                                       \
            }
#define MOVE_EITHER(T)                                                                             \
    if (write) {                                                                                   \
        MOVE(T, there, word)                                                                       \
    } else {                                                                                       \
        MOVE(T, word, there)                                                                       \
    }

/* All elements between registers and lines in host memory. */
static void move_all(const struct matrix_desc *d, bool write, u64 (*words)[LANES], u8 *const *host)
{
    switch (d->piece) {
    case 1: MOVE_EITHER(u8); break;
    case 2: MOVE_EITHER(u16); break;
    case 4: MOVE_EITHER(u32); break;
    default: MOVE_EITHER(u64); break;
    }
}

static u32 line_bytes(const struct matrix_desc *d)
{
    return d->length * d->bits / 8u;
}

static void line_addresses(const struct matrix_desc *d, u64 a, u64 stride, u64 *at)
{
    at[0] = a;
    for (u32 i = 1; i < d->lines; i++) at[i] = a + stride * i * d->bits / 8;
}

/* What each lane is reported to access of the lines: a thirty-second of the matrix, side by side. */
static void thirty_seconds(const struct matrix_desc *d, const u64 *at, u64 *of)
{
    const u32 parts = LANES / d->lines, shift = (u32)__builtin_ctz(parts),
              part = line_bytes(d) / parts;
    for (u32 l = 0; l < LANES; l++) of[l] = at[l >> shift] + (l & (parts - 1)) * part;
}

/* The lines of a matrix, `bytes` each, in memory that is found at once: shared, or the allocation that the instruction found
 * last. false: find_host() has to look, which also raises faults. */
static bool find_lines(struct emu_group *g, const struct emu_uop *in, const u64 *at, u32 bytes,
                       bool write, u8 **host)
{
    const struct matrix_desc *d = in->ext;
    const u64 first = at[0], end = at[d->lines - 1] + bytes; /* strides are not negative */
    u64 low = 0, unaligned = 0;
    u8 *base = g->cta->shared;
    for (u32 i = 0; i < d->lines; i++) unaligned |= at[i];
    if (end < first || unaligned & ((bytes & -bytes) - 1) & 15) return false;
    if (d->space == PTX_SPACE_SHARED) {
        if (end > g->cta->shared_size) return false;
    } else {
        struct emu_bound *b = &g->worker->bounds[in->site];
        if ((first < b->low || end > b->high) && !emu_find_bound(g, in, first, write, b))
            return false;
        if (first < b->low || end > b->high) return false;
        base = b->host, low = b->low;
    }
    for (u32 i = 0; i < d->lines; i++) host[i] = base + (at[i] - low);
    return true;
}

/* Register r of a fragment in the lanes of warp w. */
static u32 *row_of(const struct emu_group *g, const struct matrix_desc *d, u32 r, u32 w)
{
    return (u32 *)(void *)(g->r32 + d->rows[r]) + w * LANES;
}

/* The blocks of registers between the lines and the rows of registers of warp w. */
static void move_blocks(struct emu_group *g, const struct matrix_desc *d, u32 w, bool write,
                        u8 *const *host)
{
    const bool pairs = d->form == MATRIX_PAIRS;
    for (u32 r = 0; r < d->distinct; r += pairs ? 2 : 1) {
        u32 *const row = row_of(g, d, r, w), *const next = pairs ? row_of(g, d, r + 1, w) : row;
        const struct matrix_block b = d->blocks[r];
        u8 *const *lines = host + b.line;
        u32 v[2 * LANES];
        if (write) {
            if (pairs)
                for (u32 l = 0; l < LANES; l++) v[2 * l] = row[l], v[2 * l + 1] = next[l];
            else memcpy(v, row, LANES * sizeof *v);
            if (d->form == MATRIX_COLUMNS) transpose(v);
        }
        if (pairs)
            for (u32 i = 0; i < 8; i++)
                if (write) memcpy(lines[i] + b.from, v + i * 8, 32);
                else memcpy(v + i * 8, lines[i] + b.from, 32);
        else
            for (u32 i = 0; i < 8; i++)
                if (write) memcpy(lines[i] + b.from, v + i * 4, 16);
                else memcpy(v + i * 4, lines[i] + b.from, 16);
        if (write) continue;
        if (d->form == MATRIX_COLUMNS) transpose(v);
        if (pairs)
            for (u32 l = 0; l < LANES; l++) row[l] = v[2 * l], next[l] = v[2 * l + 1];
        else memcpy(row, v, LANES * sizeof *v);
    }
    for (u32 r = d->distinct, from = 0; r < d->regs && !write; r++, from++)
        memcpy(row_of(g, d, r, w), row_of(g, d, from, w), LANES * sizeof(u32));
}

/* A warp of which all lanes are here and have one address and stride. Orders and observers, and the counts, see a
 * thirty-second of the matrix for each lane: what lies side by side in memory, in the order of the lines. */
static bool move_together(struct emu_group *g, const struct emu_uop *in, u32 w, u64 a, u64 stride,
                          bool write, u64 (*words)[LANES])
{
    const struct matrix_desc *d = in->ext;
    const u32 bytes = line_bytes(d), part = bytes * d->lines / LANES, first = 0;
    u64 at[LANES], of[LANES];
    u8 *host[LANES], data[LANES][64], line[LANES * 32];
    line_addresses(d, a, stride, at);
    thirty_seconds(d, at, of);
    count(g, in, w, of, ~0u, part, write);
    if (!g->worker->machine->steps.watched) {
        u32 mask = d->lines == LANES ? ~0u : (1u << d->lines) - 1;
        if (!find_host(g, in, w, mask, &first, at, bytes, write, host)) return false;
        move_all(d, write, words, host);
        return true;
    }
    for (u32 i = 0; i < d->lines; i++) host[i] = line + i * bytes;
    if (write) {
        move_all(d, true, words, host);
        for (u32 l = 0; l < LANES; l++) memcpy(data[l], line + l * part, part);
    }
    if (!watched(g, in, of, ~0u, part, write, data)) return false;
    if (write) return true;
    for (u32 l = 0; l < LANES; l++) memcpy(line + l * part, data[l], part);
    move_all(d, false, words, host);
    return true;
}

/* Moves a whole matrix between lines that are found at once and the registers of warp w, in blocks. false: it is none of
 * blocks, or move_warp() has to look closer. */
static bool move_at_once(struct emu_group *g, const struct emu_uop *in, u32 w, bool write)
{
    const struct matrix_desc *d = in->ext;
    u64 first = (u64)d->offset, other = 0, at[LANES];
    u32 stride = d->length, different = 0;
    u8 *host[LANES];
    if (d->form == MATRIX_PIECES || !d->lines || g->exec[w] != ~0u ||
        g->worker->machine->steps.watched)
        return false;
    if (d->address_bytes == 8) {
        const u64 *p = (const u64 *)(const void *)(g->r64 + d->address) + w * LANES;
        for (int l = 0; l < LANES; l++) other |= p[l] ^ p[0];
        first += p[0];
    } else if (d->address_bytes == 4) {
        const u32 *p = (const u32 *)(const void *)(g->r32 + d->address) + w * LANES;
        for (int l = 0; l < LANES; l++) different |= p[l] ^ p[0];
        first = p[0] + (u32)first;
    }
    if (d->has_stride) {
        const u32 *p = (const u32 *)(const void *)(g->r32 + d->stride) + w * LANES;
        for (int l = 0; l < LANES; l++) different |= p[l] ^ p[0];
        stride = p[0];
    }
    if (other || different) return false;
    line_addresses(d, first, stride, at);
    if (!find_lines(g, in, at, line_bytes(d), write, host)) return false;
    if (g->worker->sites) {
        u64 of[LANES];
        thirty_seconds(d, at, of);
        count(g, in, w, of, ~0u, line_bytes(d) * d->lines / LANES, write);
    }
    move_blocks(g, d, w, write, host);
    return true;
}

/* Moves all elements of a warp, reading or writing memory. */
static bool move_warp(struct emu_group *g, const struct emu_uop *in, u32 w, bool write,
                      u64 (*words)[LANES])
{
    const struct matrix_desc *d = in->ext;
    const u32 exec = g->exec[w], first = (u32)__builtin_ctz(exec);
    u64 own[LANES], other = 0;
    u32 stride[LANES];
    addresses(g, d, w, own);
    strides(g, d, w, stride);
    for (int l = 0; l < LANES; l++) other |= (own[l] ^ own[first]) | (stride[l] ^ stride[first]);
    if (exec == ~0u && !other)
        return space_fits(g, in, w, first, own[first]) &&
               move_together(g, in, w, own[first], stride[first], write, words);
    for (u32 m = exec; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        if (!space_fits(g, in, w, l, own[l])) return false;
    }
    for (u32 r = 0; r < d->distinct; r++)
        for (u32 e = 0; e < d->pieces; e++) {
            u64 at[LANES] = {0};
            u8 data[LANES][64], *host[LANES];
            for (u32 m = exec; m; m &= m - 1) {
                u32 l = (u32)__builtin_ctz(m);
                const struct matrix_place *q = &d->places[(r * LANES + l) * d->pieces + e];
                at[l] = own[l] + (u64)stride[l] * q->line * d->bits / 8 + q->from;
                memcpy(data[l], (u8 *)&words[r][l] + e * d->piece, d->piece);
            }
            count(g, in, w, at, exec, d->piece, write);
            if (g->worker->machine->steps.watched) {
                if (!watched(g, in, at, exec, d->piece, write, data)) return false;
            } else {
                if (!find_host(g, in, w, exec, NULL, at, d->piece, write, host)) return false;
                for (u32 m = exec; m; m &= m - 1) {
                    u32 l = (u32)__builtin_ctz(m);
                    if (write) memcpy(host[l], data[l], d->piece);
                    else memcpy(data[l], host[l], d->piece);
                }
            }
            for (u32 m = exec; m && !write; m &= m - 1) {
                u32 l = (u32)__builtin_ctz(m);
                memcpy((u8 *)&words[r][l] + e * d->piece, data[l], d->piece);
            }
        }
    return true;
}

const struct emu_uop *emu_op_wmma_load(struct emu_group *g, const struct emu_uop *in)
{
    const struct matrix_desc *d = in->ext;
    if (!emu_notify_single_warp(g, in)) return NULL;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        note(g, in, w);
        if (move_at_once(g, in, w, false)) continue;
        u64 words[MMA_REGS][LANES] = {{0}};
        if (!move_warp(g, in, w, false, words)) return NULL;
        for (u32 r = 0; r < d->regs; r++) {
            const u64 *v = words[r % d->distinct];
            const u32 exec = g->exec[w];
            if (d->bits == 64) {
                u64 *p = (u64 *)(void *)(g->r64 + d->rows[r]) + w * LANES;
                for (int l = 0; l < LANES; l++) p[l] = exec >> l & 1 ? v[l] : p[l];
            } else {
                u32 *p = (u32 *)(void *)(g->r32 + d->rows[r]) + w * LANES;
                for (int l = 0; l < LANES; l++) p[l] = exec >> l & 1 ? (u32)v[l] : p[l];
            }
        }
    }
    return in + 1;
}

const struct emu_uop *emu_op_wmma_store(struct emu_group *g, const struct emu_uop *in)
{
    const struct matrix_desc *d = in->ext;
    if (!emu_notify_single_warp(g, in)) return NULL;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        note(g, in, w);
        if (move_at_once(g, in, w, true)) continue;
        u64 words[MMA_REGS][LANES];
        for (u32 r = 0; r < d->regs; r++) {
            if (d->bits == 64) {
                memcpy(words[r], g->r64 + d->rows[r] + w * LANES * 8, sizeof words[r]);
                continue;
            }
            const u32 *p = (const u32 *)(const void *)(g->r32 + d->rows[r]) + w * LANES;
            for (int l = 0; l < LANES; l++) words[r][l] = p[l];
        }
        if (!move_warp(g, in, w, true, words)) return NULL;
    }
    return in + 1;
}
