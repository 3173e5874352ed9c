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

/* Whether a join with `from` would change nothing. Most joins are such: of 2.3 million of the workload bank 98 %. */
static bool contains(const struct view *v, const struct view *from)
{
    if (from->all > v->all || from->widened > v->widened) return false;
    for (uint32_t i = 0; i < from->writer_count; i++) {
        const struct view_writer *w = &from->writers[i];
        uint32_t k = 0;
        if (w->until <= v->all) continue;
        while (k < v->writer_count && v->writers[k].writer != w->writer) k++;
        if (k == v->writer_count || v->writers[k].until < w->until) return false;
    }
    uint32_t left = v->message_count;
    for (uint32_t i = from->message_count; i-- > 0 && from->messages[i] > v->all;) {
        while (left && v->messages[left - 1] > from->messages[i]) left--;
        if (!left || v->messages[--left] != from->messages[i]) return false;
    }
    return true;
}

void view_join(struct view *v, const struct view *from)
{
    if (contains(v, from)) return;
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

struct shared_view *shared_view_new(struct publication_pool *pool)
{
    struct shared_view *v = pool->spare_views;
    if (v) pool->spare_views = v->next;
    else if (!(v = malloc(sizeof *v))) abort();
    v->id = ++pool->ids;
    v->refs = 1;
    view_clear(&v->view);
    return v;
}

struct shared_view *shared_view_copy(struct publication_pool *pool, const struct view *from)
{
    struct shared_view *v = shared_view_new(pool);
    view_copy(&v->view, from);
    return v;
}

void shared_view_release(struct publication_pool *pool, struct shared_view *v)
{
    if (!v || --v->refs) return;
    v->next = pool->spare_views;
    pool->spare_views = v;
}

struct publication *publication_new(struct publication_pool *pool)
{
    struct publication *p = pool->spare;
    if (p) pool->spare = p->next;
    else if (!(p = malloc(sizeof *p))) abort();
    p->id = ++pool->ids;
    p->refs = 1;
    p->count = 0;
    p->newest = 0;
    p->is_widened = false;
    p->next = NULL;
    return p;
}

static uint64_t newest(const struct view *v)
{
    uint64_t most = v->all;
    for (uint32_t i = 0; i < v->writer_count; i++)
        if (v->writers[i].until > most) most = v->writers[i].until;
    if (v->message_count && v->messages[v->message_count - 1] > most)
        most = v->messages[v->message_count - 1];
    return most;
}

static void append(struct publication *p, const struct published *by)
{
    p->by[p->count++] = *by;
    p->is_widened |= by->is_widened;
    if (by->newest > p->newest) p->newest = by->newest;
}

void publication_begin(struct publication *p, struct published by)
{
    by.newest = newest(&by.narrow->view);
    by.is_widened = by.narrow->view.widened;
    append(p, &by);
}

/* `to` also contains `from` (NULL: nothing), a view of `by`: it becomes a view of its own where it did not. */
static void merge(struct publication_pool *pool, struct shared_view **to,
                  const struct shared_view *from, const struct published *by)
{
    if (!from || from == *to || view_contains_all_until(&(*to)->view, by->newest, by->is_widened) ||
        contains(&(*to)->view, &from->view))
        return;
    if ((*to)->refs > 1) {
        struct shared_view *own = shared_view_copy(pool, &(*to)->view);
        shared_view_release(pool, *to);
        *to = own;
    } else (*to)->id = ++pool->ids;
    view_join(&(*to)->view, &from->view);
}

/* What is full is merged into its last entry, which every thread may acquire then. */
void publication_add(struct publication_pool *pool, struct publication *p,
                     const struct published *by)
{
    if (p->count < PUBLISHED) {
        append(p, by);
        shared_view_reference(by->narrow);
        shared_view_reference(by->wide);
        return;
    }
    struct published *last = &p->by[PUBLISHED - 1];
    merge(pool, &last->narrow, last->wide, last);
    merge(pool, &last->narrow, by->narrow, by);
    merge(pool, &last->narrow, by->wide, by);
    shared_view_release(pool, last->wide);
    last->wide = NULL;
    last->is_anyones = true;
    if (by->newest > last->newest) last->newest = by->newest;
    last->is_widened = last->narrow->view.widened;
    p->is_widened |= last->is_widened;
    if (by->newest > p->newest) p->newest = by->newest;
}

void publication_add_all(struct publication_pool *pool, struct publication *p,
                         const struct publication *from)
{
    p->id = ++pool->ids;
    for (uint32_t i = 0; i < from->count; i++) publication_add(pool, p, &from->by[i]);
}

void publication_release(struct publication_pool *pool, struct publication *p)
{
    if (!p || --p->refs) return;
    for (uint32_t i = 0; i < p->count; i++) {
        shared_view_release(pool, p->by[i].narrow);
        shared_view_release(pool, p->by[i].wide);
    }
    p->next = pool->spare;
    pool->spare = p;
}

void publication_pool_free(struct publication_pool *pool)
{
    for (struct publication *p = pool->spare, *next; p; p = next) next = p->next, free(p);
    for (struct shared_view *v = pool->spare_views, *next; v; v = next) next = v->next, free(v);
    pool->spare = NULL;
    pool->spare_views = NULL;
}
