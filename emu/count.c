/* Counts: what one access comes to, and what a launch comes to. */
#include "emu/count.h"

#include "base/arena.h"
#include "emu/launch.h"
#include "ptx/ptx.h"

#include <string.h>

/* Distinct values among the lanes of a mask: each is compared with those before it. */
static u32 distinct(const u64 *v, u32 mask)
{
    u32 n = 0;
    u64 seen[2 * LANES];
    u64 last = ~(u64)0;
    for (; mask; mask &= mask - 1) {
        u64 x = v[__builtin_ctz(mask)];
        if (x == last && n) continue;
        last = x;
        u32 k = 0, hit = 0;
        for (; k < n; k++) hit |= seen[k] == x;
        if (!hit) seen[n++] = x;
    }
    return n;
}

/* Passes over 32 banks of 4 bytes: the most distinct words that lanes want of one bank. Accesses of 8 or
 * 16 bytes are made by half- and quarter-warps, as hardware does. */
static u32 passes(const u64 *at, u32 mask, u32 size)
{
    u32 parts = size <= 4 ? 1 : size <= 8 ? 2 : 4, lanes = LANES / parts, total = 0;
    for (u32 p = 0; p < parts; p++) {
        u32 m = mask & (parts == 1 ? ~0u : ((1u << lanes) - 1) << (p * lanes));
        if (!m) continue;
        u64 words[LANES][4];
        u8 used[LANES] = {0};
        u32 most = 1, words_each = size < 4 ? 1 : size / 4;
        if (words_each > 4) words_each = 4;
        u64 spill = 0;
        for (; m; m &= m - 1) {
            u64 a = at[__builtin_ctz(m)] / 4;
            for (u32 k = 0; k < words_each; k++) {
                u32 bank = (u32)((a + k) % LANES), i = 0;
                while (i < used[bank] && i < 4 && words[bank][i] != a + k) i++;
                if (i < used[bank] && i < 4) continue;
                if (used[bank] < 4) words[bank][used[bank]] = a + k;
                else spill++;
                used[bank]++;
                if (used[bank] > most) most = used[bank];
            }
        }
        (void)spill;
        total += most;
    }
    return total ? total : 1;
}

void emu_count_access(struct emu_group *g, const struct emu_uop *in, const u64 *at, u32 mask,
                      u32 size, bool follow, bool same, u32 space)
{
    struct emu_site *s = &g->worker->sites[in->site];
    s->warps++;
    s->lanes += (u32)__builtin_popcount(mask);
    if (space == PTX_SPACE_SHARED) {
        u32 n = same || (follow && size <= 4) ? 1 : follow ? size / 4 : passes(at, mask, size);
        s->sectors += n;
        return;
    }
    u32 first = (u32)__builtin_ctz(mask), last = 31 - (u32)__builtin_clz(mask);
    if (same) {
        s->sectors += ((at[first] + size - 1) >> 5) - (at[first] >> 5) + 1;
        s->lines++;
    } else if (follow && mask == ~0u) {
        s->sectors += ((at[last] + size - 1) >> 5) - (at[first] >> 5) + 1;
        s->lines += ((at[last] + size - 1) >> 7) - (at[first] >> 7) + 1;
    } else {
        u64 sector[LANES], line[LANES];
        for (int l = 0; l < LANES; l++) sector[l] = at[l] >> 5, line[l] = at[l] >> 7;
        s->sectors += distinct(sector, mask);
        s->lines += distinct(line, mask);
    }
}

void launch_counts_add(struct launch_counts *out, u32 sm, const struct emu_site *sites,
                       const struct emu_block_count *blocks, const struct emu_program *p)
{
    if (!out->sites) {
        out->sites = arena_array(out->arena, struct emu_site *, out->sms);
        out->blocks = arena_array(out->arena, struct emu_block_count *, out->sms);
    }
    if (!out->sites[sm]) {
        out->sites[sm] = arena_array(out->arena, struct emu_site, p->site_count);
        out->blocks[sm] = arena_array(out->arena, struct emu_block_count, p->block_count);
    }
    for (u32 i = 0; i < p->site_count; i++) {
        out->sites[sm][i].warps += sites[i].warps;
        out->sites[sm][i].lanes += sites[i].lanes;
        out->sites[sm][i].sectors += sites[i].sectors;
        out->sites[sm][i].lines += sites[i].lines;
    }
    for (u32 i = 0; i < p->block_count; i++) {
        out->blocks[sm][i].warps += blocks[i].warps;
        out->blocks[sm][i].lanes += blocks[i].lanes;
    }
}

void emu_count_report(struct emu_report *r, const struct launch_counts *c,
                      const struct emu_machine *m, struct arena *arena)
{
    (void)arena;
    const struct emu_program *p = m->program;
    r->warp_instructions = 0;
    for (u32 sm = 0; c->blocks && sm < c->sms; sm++)
        for (u32 b = 0; c->blocks[sm] && b < p->block_count; b++) {
            r->warp_instructions += c->blocks[sm][b].warps * p->blocks[b].count;
            r->thread_instructions += c->blocks[sm][b].lanes * p->blocks[b].count;
        }
}
