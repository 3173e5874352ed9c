/* Liveness of rows: the rows that a micro-operation and its successors may read (emu_code.live). */
#include "emu/lower/context.h"

#include "base/arena.h"
#include "ptx/flow.h"
#include "ptx/ptx.h"

/* Bits of rows side by side. */
static u64 row_bits(const struct emu_code *c, unsigned bytes, u32 row, u32 count)
{
    u64 bits = 0;
    for (u32 i = 0; i < count; i++) bits |= emu_row_bit(&c->frame, bytes, row + i * ROW * bytes);
    return bits;
}

static u64 bits_of_temps(const struct lower *L, const struct lower_at *at)
{
    u64 bits = 0;
    for (u32 class = 0; class < 4; class ++)
        for (u32 i = 0; i < at->temps[class]; i++)
            bits |= row_bits(L->code, class > 1 ? 8 : 2u << class, L->temps[class].rows[i],
                             class > 2 ? 2 : 1);
    return bits;
}

void lower_live_rows(struct lower *L)
{
    struct emu_code *const c = L->code;
    const u32 statements = (u32)L->body->count + 1;
    u64 *const of = arena_array(L->scratch, u64, statements);
    for (u32 r = 0; r < L->flow->reg_count; r++) {
        const struct lower_reg *const x = &L->regs[r];
        if (x->alias || x->fixed || x->first == UINT32_MAX) continue;
        const u64 bits = row_bits(c, x->bytes > 8 ? 8 : x->bytes, x->row,
                                  x->bytes > 8 ? 2u * x->vec : x->vec);
        for (u32 s = x->first; s <= x->last && s < statements; s++) of[s] |= bits;
    }
    for (u32 i = 0; i < L->late.count; i++)
        for (u32 s = L->late.list[i].load; s <= L->late.list[i].until && s < statements; s++)
            of[s] |= row_bits(c, 8, L->late.list[i].row, 1);
    c->live = arena_array(L->arena, u64, c->uop_count);
    for (u32 i = 0; i < c->uop_count; i++) {
        const struct lower_at *const at = &L->out.at[i];
        c->live[i] = of[at->stmt];
        if (i && at->stmt == at[-1].stmt) c->live[i] |= bits_of_temps(L, at);
    }
}
