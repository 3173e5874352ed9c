/* A search over all choices of a launch, depth first. */
#include "determinism/exhaustive.h"

#include "determinism/views/views.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { CHOICES = 1024, WORDS = 1024, WORD_BYTES = 4 };

struct exhaustive {
    struct emu_order order;
    struct views *views;
    struct emu_machine *m;
    uint64_t no_chance;
    struct choice {
        uint32_t chosen, count;
    } choices[CHOICES];
    uint32_t depth, at; /* choices of the run so far; those that are repeated come first */
    uint32_t turn;      /* of a run that is cut short */
    bool cut, ended;
    bool may_switch; /* another warp may go on now */
    uint64_t last;   /* the warp that goes on */
    struct word {    /* that has been accessed in some run */
        uint64_t key, warp;
        bool is_written, is_common, is_shared; /* by several warps; and written */
    } words[WORDS];
    uint32_t word_count;
    bool found; /* a word is shared that was not before: begin anew */
};

static uint32_t choose(void *self, uint32_t count)
{
    struct exhaustive *x = self;
    if (count < 2) return 0;
    if (x->at == CHOICES) {
        x->cut = true;
        return x->turn++ % count;
    }
    if (x->at == x->depth) x->choices[x->depth++] = (struct choice){0, count};
    return x->choices[x->at++].chosen;
}

/* ---- words that several warps access ---------------------------------------------------------------------- */

static uint64_t name_of(const struct emu_warp *w)
{
    return ((uint64_t)w->cta << 32 | w->warp) + 1;
}

static struct word *find_word(struct exhaustive *x, uint64_t key)
{
    for (uint32_t i = 0; i < x->word_count; i++)
        if (x->words[i].key == key) return &x->words[i];
    if (x->word_count == WORDS) return NULL;
    x->words[x->word_count] = (struct word){.key = key};
    return &x->words[x->word_count++];
}

/* Whether the word is shared. Too many words: all of them are. */
static bool note_word(struct exhaustive *x, uint64_t key, uint64_t warp, bool writes)
{
    struct word *w = find_word(x, key);
    if (!w) return true;
    if (!w->warp) w->warp = warp;
    w->is_common |= w->warp != warp;
    w->is_written |= writes;
    if (w->is_shared || !w->is_common || !w->is_written) return w->is_shared;
    return w->is_shared = x->found = true;
}

static enum emu_verdict access(void *self, const struct emu_access *a)
{
    struct exhaustive *x = self;
    const bool shared = a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_SHARED_CLUSTER;
    const uint64_t of = shared ? UINT64_C(1) << 63 | (uint64_t)a->who->cta << 40 : 0;
    const uint32_t size = (uint32_t)a->width * a->count;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)];
        for (uint64_t k = at / WORD_BYTES; k <= (at + size - 1) / WORD_BYTES; k++)
            x->may_switch |= note_word(x, k ^ of, name_of(a->who), a->kind != EMU_LOAD);
    }
    return views_access(x->views, a);
}

static enum emu_verdict sync(void *self, const struct emu_sync *s)
{
    struct exhaustive *x = self;
    x->may_switch |= s->kind == EMU_SYNC_FENCE && s->sc;
    views_sync(x->views, s);
    return EMU_PROCEED;
}

/* ---- runs -------------------------------------------------------------------------------------------------- */

static int pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct exhaustive *x = self;
    *burst = 1;
    for (size_t i = 0; i < count && !x->may_switch; i++)
        if (name_of(&ready[i]) == x->last) return (int)i;
    x->may_switch = false;
    const uint32_t i = choose(x, (uint32_t)count);
    x->last = name_of(&ready[i]);
    return (int)i;
}

static bool idle(void *self)
{
    views_settle(((struct exhaustive *)self)->views);
    return false;
}

static void settle(void *self)
{
    views_settle(((struct exhaustive *)self)->views);
}

static void begin(void *self, struct emu_machine *m)
{
    struct exhaustive *x = self;
    const struct emu_shape shape = emu_machine_shape(m);
    x->m = m;
    x->at = 0;
    x->last = 0;
    x->may_switch = true;
    views_begin(x->views, m,
                &(struct views_settings){.late_for = 1,
                                         .fresh_one_in = 1,
                                         .stale_one_in = 1,
                                         .has_shared = shape.cluster == 1,
                                         .choose = choose,
                                         .choose_self = x},
                &x->no_chance);
}

bool exhaustive_next(struct exhaustive *x)
{
    if (x->found) { /* what was searched so far had too few choices */
        x->found = x->cut = false;
        x->depth = 0;
        return true;
    }
    while (x->depth && x->choices[x->depth - 1].chosen + 1 == x->choices[x->depth - 1].count)
        x->depth--;
    x->ended = !x->depth;
    if (x->depth) x->choices[x->depth - 1].chosen++;
    return !x->ended;
}

bool exhaustive_is_complete(const struct exhaustive *x)
{
    return x->ended && !x->cut;
}

struct exhaustive *exhaustive_new(void)
{
    struct exhaustive *x = calloc(1, sizeof *x);
    if (!x) abort();
    x->views = views_new();
    x->order = (struct emu_order){.self = x,
                                  .name = "exhaustive",
                                  .wants = EMU_WANT_LOADS | EMU_WANT_STORES | EMU_WANT_SHARED,
                                  .step = EMU_STEP_EVENT,
                                  .begin = begin,
                                  .pick = pick,
                                  .access = access,
                                  .sync = sync,
                                  .idle = idle,
                                  .end = settle,
                                  .quiesce = settle};
    return x;
}

void exhaustive_free(struct exhaustive *x)
{
    if (!x) return;
    views_free(x->views);
    free(x);
}

const struct emu_order *exhaustive_order(struct exhaustive *x)
{
    return &x->order;
}
