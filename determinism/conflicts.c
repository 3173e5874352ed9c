/* Conflicting accesses, by word and by instruction. */
#include "determinism/conflicts.h"

#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 4096, INSTRUCTIONS = 4096, WORD_BYTES = 4 };

struct conflicts {
    struct word {
        uint64_t key; /* 0: free */
        struct who {
            uint64_t warp; /* 0: nobody */
            uint32_t pc;
        } writer, reader;
    } words[WORDS];
    bool marked[INSTRUCTIONS];
};

struct conflicts *conflicts_new(void)
{
    struct conflicts *c = calloc(1, sizeof *c);
    if (!c) abort();
    return c;
}

void conflicts_free(struct conflicts *c)
{
    free(c);
}

void conflicts_begin(struct conflicts *c)
{
    memset(c->words, 0, sizeof c->words);
}

/* Marks both instructions if the other one is of another warp. */
static void meet(struct conflicts *c, const struct who *other, const struct who *me)
{
    if (!other->warp || other->warp == me->warp) return;
    c->marked[other->pc % INSTRUCTIONS] = c->marked[me->pc % INSTRUCTIONS] = true;
}

static void note_word(struct conflicts *c, uint64_t key, const struct who *me, uint8_t kind)
{
    struct word *w = &c->words[(key ^ key >> 12 ^ key >> 24) % WORDS];
    if (w->key != key) *w = (struct word){.key = key};
    meet(c, &w->writer, me);
    if (kind != EMU_LOAD) meet(c, &w->reader, me);
    if (kind == EMU_LOAD) w->reader = *me;
    else w->writer = *me;
}

bool conflicts_note(struct conflicts *c, const struct emu_access *a)
{
    const bool shared = a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_SHARED_CLUSTER;
    const struct who me = {((uint64_t)a->who->cta << 32 | a->who->warp) + 1, a->pc};
    const uint64_t of = shared ? UINT64_C(1) << 63 | (uint64_t)a->who->cta << 32 : 0;
    uint64_t last = 0;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t key = (a->address[__builtin_ctz(m)] / WORD_BYTES + 1) ^ of;
        if (key != last) note_word(c, key, &me, a->kind);
        last = key;
    }
    return c->marked[a->pc % INSTRUCTIONS];
}
