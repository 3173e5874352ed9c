/* Views and publications (determinism/views/view.h) against sets of messages written out.
 *
 * In each trial, views get random writers, messages and joins; a list of messages says what each must have. A view may cover
 * more only if it was full (widened). Then publications are filled, shared and merged: whoever may acquire what was added
 * gets all of it. */
#include <criterion/criterion.h>

#include "base/rng.h"
#include "determinism/views/view.h"

#include <string.h>

enum { VIEWS = 6, WRITERS = 12, TIMES = 160, TRIALS = 4000, STEPS = 60, CTAS = 3 };

static uint32_t writer_at[TIMES + 1]; /* of the message born then */

struct model {
    bool has[TIMES + 1];
};

static void check(const struct view *v, const struct model *m)
{
    for (uint32_t t = 1; t <= TIMES; t++) {
        const bool covers = view_covers(v, writer_at[t], t);
        cr_assert(covers || !m->has[t], "message %u is lost", t);
        cr_assert(v->widened || !covers || m->has[t],
                  "message %u is covered in a view that was not full", t);
    }
}

static void join(struct view *v, struct model *m, const struct view *from, const struct model *n)
{
    view_join(v, from);
    for (uint32_t t = 1; t <= TIMES; t++) m->has[t] |= n->has[t];
}

static void step(struct view *v, struct model *m, uint64_t *state)
{
    const uint32_t time = 1 + rng_below(state, TIMES), kind = rng_below(state, 16);
    if (kind == 0 && !rng_below(state, 4)) {
        view_add_all(v, time / 4);
        for (uint32_t t = 1; t <= time / 4; t++) m->has[t] = true;
    } else if (kind < 5) {
        view_add_writer(v, writer_at[time], time);
        for (uint32_t t = 1; t <= time; t++) m->has[t] |= writer_at[t] == writer_at[time];
    } else {
        view_add_message(v, time);
        m->has[time] = true;
    }
}

static void draw_writers(uint64_t *state)
{
    const uint32_t writers = 1 + rng_below(state, WRITERS);
    for (uint32_t t = 1; t <= TIMES; t++) writer_at[t] = rng_below(state, writers);
}

Test(views, joins_lose_no_message)
{
    static struct view views[VIEWS];
    static struct model models[VIEWS];
    uint64_t state = 1;
    uint32_t exact = 0;
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        draw_writers(&state);
        for (uint32_t i = 0; i < VIEWS; i++) view_clear(&views[i]);
        memset(models, 0, sizeof models);
        for (uint32_t s = 1 + rng_below(&state, STEPS); s; s--) {
            const uint32_t i = rng_below(&state, VIEWS), k = rng_below(&state, VIEWS);
            if (rng_below(&state, 3) || i == k) step(&views[i], &models[i], &state);
            else join(&views[i], &models[i], &views[k], &models[k]);
        }
        for (uint32_t i = 0; i < VIEWS; i++) {
            check(&views[i], &models[i]);
            exact += !views[i].widened;
        }
    }
    cr_assert_gt(exact, TRIALS); /* not all were full */
}

/* What the publication gives a thread of the CTA for an acquire of the GPU's scope. */
static bool gives(const struct publication *p, uint32_t cta, uint32_t time)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct published *by = &p->by[i];
        const struct shared_view *v = by->is_anyones || by->cta == cta ? by->narrow : by->wide;
        if (!v) continue;
        cr_assert(time <= by->newest || !view_covers(&v->view, writer_at[time], time));
        cr_assert(by->newest <= p->newest);
        cr_assert(by->is_widened == by->narrow->view.widened && by->is_widened <= p->is_widened);
        if (view_covers(&v->view, writer_at[time], time)) return true;
    }
    return false;
}

static void fill(struct view *v, struct model *m, uint64_t *state)
{
    view_clear(v);
    memset(m, 0, sizeof *m);
    for (uint32_t s = rng_below(state, 20); s; s--) step(v, m, state);
}

Test(views, publications_lose_no_message)
{
    static struct publication_pool pool;
    static struct model must[VIEWS][CTAS];
    struct publication *all[VIEWS];
    uint64_t state = 1;
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        draw_writers(&state);
        memset(must, 0, sizeof must);
        for (uint32_t i = 0; i < VIEWS; i++) {
            struct model m;
            const bool wide = rng_below(&state, 2);
            struct published by = {.cta = rng_below(&state, CTAS),
                                   .narrow = shared_view_new(&pool)};
            fill(&by.narrow->view, &m, &state);
            if (wide) by.wide = shared_view_reference(by.narrow);
            for (uint32_t c = 0; c < CTAS; c++)
                if (wide || c == by.cta) must[i][c] = m;
            all[i] = publication_new(&pool);
            publication_begin(all[i], by);
        }
        for (uint32_t s = rng_below(&state, 12); s; s--) {
            const uint32_t to = rng_below(&state, VIEWS), from = rng_below(&state, VIEWS);
            if (to == from) continue;
            publication_add_all(&pool, all[to], all[from]);
            for (uint32_t c = 0; c < CTAS; c++)
                for (uint32_t t = 1; t <= TIMES; t++) must[to][c].has[t] |= must[from][c].has[t];
        }
        for (uint32_t i = 0; i < VIEWS; i++)
            for (uint32_t c = 0; c < CTAS; c++)
                for (uint32_t t = 1; t <= TIMES; t++)
                    cr_assert(!must[i][c].has[t] || gives(all[i], c, t));
        for (uint32_t i = 0; i < VIEWS; i++) publication_release(&pool, all[i]);
    }
    publication_pool_free(&pool);
}
