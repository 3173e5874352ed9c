/* Iterations of polling loops in traces. */
#include "emu/trace.h"

typedef uint32_t u32;

/* Whether the access is of the site, and its lanes poll the same buckets. */
static bool is_round(const u32 *access, u32 site, const u32 *words, u32 lanes)
{
    if (access[0] != (site << 2 | TRACE_GLOBAL) || TRACE_SIZE_LANES(access[2]) != lanes)
        return false;
    for (u32 l = 0; l < lanes; l++)
        if (TRACE_POLL_BUCKET_OF(access[3 + l]) != TRACE_POLL_BUCKET_OF(words[l])) return false;
    return true;
}

void trace_poll(const struct trace_code *code, struct trace_warp *w, uint32_t site,
                const uint32_t *words, uint32_t lanes)
{
    const u32 from = w->poll - 1, plain = w->plain + w->recorded;
    u32 count = 0;
    const bool any = w->poll && !w->cut;
    w->poll = w->count + 1;
    if (!any || !is_round(w->words + from, site, words, lanes)) return;
    for (u32 at = from + 1 + trace_access_words(w->words + from); at < w->count; at++) {
        if ((w->words[at] & 3) != TRACE_BLOCK) return; /* an access came between */
        const struct trace_block *b = &code->blocks[TRACE_BLOCK_OF(w->words[at])];
        if (!b->count || !code->insts[b->first].waits) return; /* the warp has left the loop */
        count += b->count;
    }
    if (count > w->length || plain > UINT32_MAX / 2) return;
    w->length -= count;
    w->plain += count, w->recorded += count;
    w->count = from;
    w->poll = from + 1;
}
