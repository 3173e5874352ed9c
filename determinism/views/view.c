/* Views and publications: sets of messages of bounded size. */
#include "determinism/views/view.h"

#include <stdlib.h>
#include <string.h>

void view_clear(struct view *v)
{
    v->all = 0;
    v->widened = false;
    v->writer_count = v->message_count = 0;
}

void view_add_all(struct view *v, uint64_t until)
{
    uint32_t n = 0;
    if (until <= v->all) return;
    v->all = until;
    for (uint32_t i = 0; i < v->writer_count; i++)
        if (v->writers[i].until > until) v->writers[n++] = v->writers[i];
    v->writer_count = n;
    n = 0;
    for (uint32_t i = 0; i < v->message_count; i++)
        if (v->messages[i] > until) v->messages[n++] = v->messages[i];
    v->message_count = n;
}

void view_add_writer(struct view *v, uint32_t writer, uint64_t until)
{
    if (until <= v->all) return;
    uint32_t oldest = 0;
    for (uint32_t i = 0; i < v->writer_count; i++) {
        if (v->writers[i].writer == writer) {
            if (v->writers[i].until < until) v->writers[i].until = until;
            return;
        }
        if (v->writers[i].until < v->writers[oldest].until) oldest = i;
    }
    if (v->writer_count == VIEW_WRITERS) {
        const uint64_t least = v->writers[oldest].until;
        v->widened = true;
        view_add_all(v, least < until ? least : until);
        if (v->all >= until) return;
    }
    v->writers[v->writer_count++] = (struct view_writer){until, writer};
}

void view_add_message(struct view *v, uint64_t born)
{
    if (born <= v->all) return;
    uint32_t at = v->message_count;
    while (at && v->messages[at - 1] > born) at--;
    if (at && v->messages[at - 1] == born) return;
    if (v->message_count == VIEW_MESSAGES) {
        v->widened = true;
        if (!at) {
            view_add_all(v, born);
            return;
        }
        view_add_all(v, v->messages[0]); /* one at least is free then */
        at = v->message_count;
        while (at && v->messages[at - 1] > born) at--;
    }
    memmove(v->messages + at + 1, v->messages + at, (v->message_count++ - at) * sizeof born);
    v->messages[at] = born;
}

/* Merges the messages of both; the newest ones are kept. */
static void join_messages(struct view *v, const struct view *from)
{
    uint64_t both[2 * VIEW_MESSAGES];
    uint32_t n = 0, i = 0, k = 0;
    while (i < v->message_count || k < from->message_count) {
        const uint64_t a = i < v->message_count ? v->messages[i] : UINT64_MAX,
                       b = k < from->message_count ? from->messages[k] : UINT64_MAX,
                       least = a < b ? a : b;
        i += a == least;
        k += b == least;
        if (least > v->all) both[n++] = least;
    }
    const uint32_t skip = n > VIEW_MESSAGES ? n - VIEW_MESSAGES : 0;
    v->message_count = n - skip;
    memcpy(v->messages, both + skip, v->message_count * sizeof *both);
    v->widened |= skip > 0;
    if (skip) view_add_all(v, both[skip - 1]);
}

void view_join(struct view *v, const struct view *from)
{
    v->widened |= from->widened;
    view_add_all(v, from->all);
    for (uint32_t i = 0; i < from->writer_count; i++)
        view_add_writer(v, from->writers[i].writer, from->writers[i].until);
    if (from->message_count) join_messages(v, from);
}

void view_copy(struct view *v, const struct view *from)
{
    v->all = from->all;
    v->widened = from->widened;
    v->writer_count = from->writer_count;
    v->message_count = from->message_count;
    memcpy(v->writers, from->writers, v->writer_count * sizeof *v->writers);
    memcpy(v->messages, from->messages, v->message_count * sizeof *v->messages);
}

/* ---- publications ------------------------------------------------------------------------------------------- */

struct publication *publication_new(struct publication_pool *pool)
{
    struct publication *p = pool->spare;
    if (p) pool->spare = p->next;
    else if (!(p = malloc(sizeof *p))) abort();
    p->id = ++pool->ids;
    p->refs = 1;
    p->count = 0;
    p->next = NULL;
    return p;
}

/* What is full is merged into its last entry, which every thread may acquire then. */
void publication_add(struct publication *p, const struct published *by)
{
    if (p->count < PUBLISHED) {
        struct published *to = &p->by[p->count++];
        to->cta = by->cta;
        to->is_anyones = by->is_anyones;
        to->has_wide = by->has_wide;
        view_copy(&to->narrow, &by->narrow);
        if (by->has_wide) view_copy(&to->wide, &by->wide);
        return;
    }
    struct published *last = &p->by[PUBLISHED - 1];
    if (last->has_wide) view_join(&last->narrow, &last->wide);
    view_join(&last->narrow, &by->narrow);
    if (by->has_wide) view_join(&last->narrow, &by->wide);
    last->is_anyones = true;
    last->has_wide = false;
}

void publication_release(struct publication_pool *pool, struct publication *p)
{
    if (!p || --p->refs) return;
    p->next = pool->spare;
    pool->spare = p;
}

void publication_pool_free(struct publication_pool *pool)
{
    for (struct publication *p = pool->spare, *next; p; p = next) next = p->next, free(p);
    pool->spare = NULL;
}
