/* determinism/views/view.h: the writes of a launch that a thread must see.
 *
 * A write to memory is a *message*: its writer and the time at which it was born, which is unique in a launch. A view is
 * the set of messages that precede the thread's next operation in the causality order of the PTX ISA ("Memory Consistency
 * Model", Causality Order). A read may not return a value that is older than a message in the thread's view.
 *
 *     view_add_message(&v, born);                   // a strong read has observed the message
 *     view_add_writer(&v, warp, now);               // all writes of this warp so far
 *     view_join(&v, &published);                    // an acquire pattern has read from a release pattern
 *     if (view_covers(&v, writer, born)) ...
 *
 * A view has a bounded size. When it is full, its oldest entry is replaced by "everything born until then", which contains
 * it. So a view may contain more than causality order demands, never less: outcomes are lost, none is added. */
#ifndef HEDDLE_DETERMINISM_VIEWS_VIEW_H
#define HEDDLE_DETERMINISM_VIEWS_VIEW_H

#include <stdbool.h>
#include <stdint.h>

enum { VIEW_WRITERS = 8, VIEW_MESSAGES = 40 };

struct view {
    uint64_t all; /* every message born until this time */
    bool widened; /* the view was full: it may contain more than causality order demands */
    uint32_t writer_count, message_count;
    struct view_writer {
        uint64_t until;
        uint32_t writer;
    } writers[VIEW_WRITERS];          /* all messages of one writer born until `until` */
    uint64_t messages[VIEW_MESSAGES]; /* birth times of single messages, ascending */
};

static inline bool view_covers(const struct view *v, uint32_t writer, uint64_t born)
{
    if (born <= v->all) return true;
    for (uint32_t i = 0; i < v->writer_count; i++)
        if (v->writers[i].writer == writer && born <= v->writers[i].until) return true;
    for (uint32_t i = v->message_count; i-- > 0 && v->messages[i] >= born;)
        if (v->messages[i] == born) return true;
    return false;
}

void view_clear(struct view *v);
void view_copy(struct view *v, const struct view *from);
void view_add_all(struct view *v, uint64_t until);
void view_add_writer(struct view *v, uint32_t writer, uint64_t until);
void view_add_message(struct view *v, uint64_t born);
void view_join(struct view *v, const struct view *from);
/* Whether a join with a view changes nothing; `newest`: no message of that view was born later; is_widened: of that
 * view. false: unknown. */
static inline bool view_contains_all_until(const struct view *v, uint64_t newest, bool is_widened)
{
    return newest <= v->all && is_widened <= v->widened;
}

/* ---- what release patterns publish ------------------------------------------------------------------------- */

/* A view that several publications share, with a reference count. It does not change after it is published, so a view
 * that has joined it need not join it again: views only grow. */
struct shared_view {
    uint64_t id; /* unique, not 0 */
    uint32_t refs;
    struct shared_view *next; /* of those that are not in use */
    struct view view;
};

enum { PUBLISHED = 3 };

/* The views of the release patterns (ISA, "Release and Acquire Patterns") that a strong write belongs to: its own and,
 * if the write is an atomic, those of the previous write (observation order continues through atomics). Publications
 * are shared and have a reference count. */
struct publication {
    uint64_t id;     /* unique */
    uint64_t newest; /* birth time of the newest message in all views */
    bool is_widened; /* some view is widened */
    uint32_t refs, count;
    struct published {
        uint32_t cta;    /* CTA of the releasing thread */
        bool is_anyones; /* merged from several publications: every thread may acquire `narrow` */
        bool is_widened; /* `narrow` is widened */
        /* No message in `narrow` was born after this time. `narrow` contains `wide`. */
        uint64_t newest;
        /* Views of the last release whose scope is at least the CTA, and at least the cluster (NULL: none). The scope
         * of a cluster is treated as that of the GPU. Each holds a reference. */
        struct shared_view *narrow, *wide;
    } by[PUBLISHED];
    struct publication *next; /* of those that are not in use */
};

struct publication_pool {
    struct publication *spare;
    struct shared_view *spare_views;
    uint64_t ids;
};
/* Creates an empty view with one reference. */
struct shared_view *shared_view_new(struct publication_pool *pool);
/* Creates a copy with one reference; it may be changed until it is published. */
struct shared_view *shared_view_copy(struct publication_pool *pool, const struct view *from);
static inline struct shared_view *shared_view_reference(struct shared_view *v) /* NULL is allowed */
{
    if (v) v->refs++;
    return v;
}
void shared_view_release(struct publication_pool *pool,
                         struct shared_view *v); /* NULL is allowed */

/* Creates an empty publication with one reference. */
struct publication *publication_new(struct publication_pool *pool);
/* Adds the first element of `p` and takes over the caller's references. by.newest and by.is_widened need not be set. */
void publication_begin(struct publication *p, struct published by);
/* Adds an element to `p`, with references of its own to the views of `by`. */
void publication_add(struct publication_pool *pool, struct publication *p,
                     const struct published *by);
/* Adds all elements of `from` to `p`, which gets a new id. */
void publication_add_all(struct publication_pool *pool, struct publication *p,
                         const struct publication *from);
void publication_release(struct publication_pool *pool,
                         struct publication *p); /* NULL is allowed */
void publication_pool_free(struct publication_pool *pool);

#endif
