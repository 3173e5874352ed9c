/* The words of global memory that the warps of a deadlocked kernel poll.
 *
 * Called when it is proved that warps repeat their states for ever (deadlock.c, livelock.c). A warp then runs up to its
 * next access of global memory. The instructions that it executes change nothing; otherwise the proof would have
 * failed. */
#include "emu/sched/launch_context.h"

#include "base/buf.h"
#include "emu/atomic.h"
#include "emu/memory.h"
#include "ptx/ptx.h"

#include <string.h>

enum {
    SOON = 4096,    /* micro-operations until the access */
    MOST_WORDS = 3, /* that are listed */
};

struct polled {
    u64 address;
    u32 size;
};

/* Whether the micro-operation is a load or atomic of global memory, and which word its first lane accesses. */
static bool accesses(const struct emu_group *g, const struct emu_uop *in, struct polled *word)
{
    const struct ptx_op *op = g->worker->machine->program->places[in->pc].inst->op;
    struct lane_address at;
    u32 w = 0;
    while (w + 1 < g->warps && !g->exec[w]) w++;
    if (!g->exec[w] || !op || !in->ext) return false;
    if (atomic_is_uop(in)) {
        const struct atomic_desc *v = in->ext;
        at = v->at;
        word->size = (u32)v->width * v->count;
    } else if (strcmp(op->form->name, "ld") == 0) {
        const struct mem_desc *v = in->ext;
        at = (struct lane_address){v->space, in->x, in->a, in->imm};
        word->size = (u32)v->width * v->count;
    } else return false;
    word->address = lane_address(g, &at, w, (u32)__builtin_ctz(g->exec[w]));
    return at.space == PTX_SPACE_GLOBAL ||
           (at.space == PTX_SPACE_GENERIC && emu_space_of(g, word->address) == PTX_SPACE_GLOBAL);
}

static bool find_polled(struct emu_group *g, struct polled *word)
{
    const struct emu_uop *in = g->pc;
    if (g->state != GROUP_READY) return false;
    g->budget = SOON;
    for (u32 n = 0; in && n < SOON; n++) {
        if (accesses(g, in, word)) return true;
        in = in->run(g, in);
    }
    return false;
}

void deadlock_describe_polled(struct buf *b, const struct emu_cta *c)
{
    const struct mem *mem = c->groups[0].worker->machine->mem;
    if (c->groups[0].worker->machine->launch->order) return; /* the order knows what runs */
    struct polled words[MOST_WORDS];
    u32 count = 0;
    for (u32 k = 0; k < c->group_count && count < MOST_WORDS; k++) {
        struct emu_group *g = &c->groups[c->group_at[k]];
        bool again = false;
        if (!find_polled(g, &words[count])) continue;
        for (u32 i = 0; i < count; i++) again |= words[i].address == words[count].address;
        if (again) continue;
        buf_printf(
            b, "\n  warp %u polls %u bytes at 0x%llx, which no warp of the launch will write:\n",
            g->first, words[count].size, (unsigned long long)words[count].address);
        mem_describe(mem, words[count].address, b);
        while (b->size && b->data[b->size - 1] == '\n') b->size--;
        count++;
    }
    if (count)
        buf_puts(b,
                 "\n  The host, or a kernel of another stream, could write it later; but a launch "
                 "runs to its end before those go on. Let them write first, or join the kernels");
}
