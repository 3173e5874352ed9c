/* Finds missing dependencies between streams, and between nodes of graphs (cuda/unordered.h). */
#include "cuda/unordered.h"
#include "cuda/caller.h"
#include "cuda/early.h"
#include "cuda/graph.h"
#include "cuda/host_access.h"
#include "cuda/launch_log.h"

#include "emu/emu.h"
#include "emu/order.h"
#include "session/run_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_RECORDS = 1024, MOST_OBSERVERS = 8 };

struct stamp {
    unsigned references;
    uint32_t slot, count; /* of its stream; numbers there are */
    uint32_t settled;     /* operations of its stream that are before it whatever that has to say */
    uint32_t at[]; /* by slot: how many operations of that stream come before, itself included */
};

struct node_run { /* in a graph; looked into while it is launched */
    const struct CUgraphNode_st *node;
    unsigned long long run;
};
struct record {
    struct record *next;
    struct stamp *stamp;
    struct touched *touched;
    struct early *early;   /* of a kernel that may begin early; NULL: it does not */
    struct node_run *path; /* of a node, from the outermost graph in */
    size_t depth;
    bool is_kernel;
    struct host_pages
        *pages;    /* with the check `sync`: of memory that the host shares; NULL: none */
    unsigned site; /* where it was asked for; 0: not known */
    char name[160], stream[96];
};

struct reported_pair { /* two operations of the same names are reported once */
    struct reported_pair *next;
    char text[640];
};

static struct {
    struct stamp *host; /* what the host has waited for; NULL: nothing */
    struct stamp *gone; /* what streams were asked for that are no more */
    uint32_t slots;
    struct record *records, *now; /* the newest first; the one that goes on */
    size_t count;
    struct reported_pair *reported;
} state; /* the driver's lock guards it */

/* ---- stamps ----------------------------------------------------------------------------------------- */

struct stamp *stamp_retain(struct stamp *s)
{
    if (s) s->references++;
    return s;
}

void stamp_release(struct stamp *s)
{
    if (s && --s->references == 0) free(s);
}

static struct stamp *stamp_new(uint32_t count)
{
    struct stamp *s = calloc(1, sizeof *s + count * sizeof *s->at);
    if (!s) abort();
    s->references = 1;
    s->count = count;
    return s;
}

static void join(struct stamp *s, const struct stamp *other)
{
    for (uint32_t i = 0; other && i < other->count; i++)
        if (other->at[i] > s->at[i]) s->at[i] = other->at[i];
}

bool stamp_is_before(const struct stamp *a, const struct stamp *b)
{
    return b && a->slot < b->count && b->at[a->slot] >= a->at[a->slot];
}

const struct stamp *unordered_host(void)
{
    return state.host;
}

static bool is_watched(void)
{
    return (driver.config.checks & (EMU_CHECK_RACE | EMU_CHECK_SYNC)) != 0;
}

/* The legacy default stream orders those that block. */
static bool are_ordered(const struct CUstream_st *a, const struct CUstream_st *b)
{
    if (a == b) return true;
    if (a->context != b->context || !(a->legacy || b->legacy)) return false;
    return !((a->legacy ? b : a)->flags & CU_STREAM_NON_BLOCKING);
}

struct stamp *unordered_submit(struct CUstream_st *s, const struct stamp *awaited)
{
    if (!is_watched() && !driver.reports.run_log) return NULL;
    if (!s->slot) s->slot = ++state.slots;
    struct stamp *new = stamp_new(state.slots + 1);
    new->slot = s->slot;
    join(new, state.host);
    join(new, awaited);
    if (s->legacy) join(new, state.gone);
    for (struct object *o = driver.objects.all[OBJECT_STREAM - OBJECT_CONTEXT]; o; o = o->next) {
        const struct CUstream_st *other = (const struct CUstream_st *)o;
        if (other != s && other->stamp && are_ordered(s, other)) join(new, other->stamp);
    }
    new->settled = new->at[new->slot];
    join(new, s->stamp);
    new->at[new->slot]++;
    stamp_release(s->stamp);
    s->stamp = stamp_retain(new);
    return new;
}

void unordered_await(struct stamp *s, const struct stamp *awaited)
{
    if (s) join(s, awaited);
}

/* ---- records ---------------------------------------------------------------------------------------- */

static void drop(struct record *r)
{
    stamp_release(r->stamp);
    touched_free(r->touched);
    early_free(r->early);
    host_pages_free(r->pages);
    free(r->path);
    free(r);
}

/* What everything to come is behind, once nothing else is to be done. */
static void forget(void)
{
    struct record **at = &state.records;
    while (*at) {
        struct record *r = *at;
        if (!stamp_is_before(r->stamp, state.host)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        state.count--;
        drop(r);
    }
}

void unordered_wait(const struct stamp *s)
{
    if (!s) return;
    struct stamp *host = stamp_new(state.slots + 1);
    join(host, state.host);
    join(host, s);
    stamp_release(state.host);
    state.host = host;
    if (!driver.queues.busy_count) forget();
    if (driver.reports.run_log) launch_log_wait();
}

void unordered_leave(struct CUstream_st *s)
{
    if (!s->stamp) return;
    struct stamp *gone = stamp_new(state.slots + 1);
    join(gone, state.gone);
    join(gone, s->stamp);
    stamp_release(state.gone);
    stamp_release(s->stamp);
    state.gone = gone;
    s->stamp = NULL;
}

void unordered_wait_gone(void)
{
    unordered_wait(state.gone);
}

void unordered_end(void)
{
    while (state.records) {
        struct record *r = state.records;
        state.records = r->next;
        drop(r);
    }
    while (state.reported) {
        struct reported_pair *t = state.reported;
        state.reported = t->next;
        free(t);
    }
    if (state.now) drop(state.now);
    stamp_release(state.host);
    stamp_release(state.gone);
    memset(&state, 0, sizeof state);
}

void unordered_begin(const struct CUstream_st *s, struct stamp *stamp)
{
    if (!stamp || state.now || !is_watched()) return;
    struct record *r = state.now = calloc(1, sizeof *r);
    if (!r) abort();
    r->stamp = stamp_retain(stamp);
    r->touched = touched_new();
    r->site = driver.site;
    if (s->legacy) snprintf(r->stream, sizeof r->stream, "the default stream");
    else if (s->thread)
        snprintf(r->stream, sizeof r->stream, "the default stream of thread %llu", s->thread);
    else snprintf(r->stream, sizeof r->stream, "stream %llu", s->id);
}

void unordered_name(const char *format, ...)
{
    va_list args;
    if (!state.now || *state.now->name) return;
    va_start(args, format);
    vsnprintf(state.now->name, sizeof state.now->name, format, args);
    va_end(args);
}

void unordered_node(size_t depth, const struct CUgraphNode_st *node, unsigned long long run)
{
    struct record *r = state.now;
    if (!r) return;
    r->path = realloc(r->path, (depth + 1) * sizeof *r->path);
    if (!r->path) abort();
    r->path[depth] = (struct node_run){node, run};
    r->depth = depth + 1;
}

void unordered_touch(uint64_t address, uint64_t size, enum touched_how how)
{
    if (state.now) touched_range(state.now->touched, address, size, how);
}

void unordered_kernel(bool is_early)
{
    if (!state.now || state.now->depth) return; /* edges order a graph's */
    state.now->is_kernel = true;
    if (is_early) state.now->early = early_new();
}

void unordered_join(struct emu_launch *l)
{
    static const struct emu_observer *list[MOST_OBSERVERS];
    if (!state.now || l->observer_count + 2 > MOST_OBSERVERS) return;
    for (size_t i = 0; i < l->observer_count; i++) list[i] = l->observers[i];
    l->observers = list;
    list[l->observer_count++] = touched_observer(state.now->touched);
    if (state.now->early) list[l->observer_count++] = early_observer(state.now->early);
}

static bool is_news(const char *text)
{
    for (const struct reported_pair *t = state.reported; t; t = t->next)
        if (strcmp(t->text, text) == 0) return false;
    struct reported_pair *t = calloc(1, sizeof *t);
    if (!t) abort();
    snprintf(t->text, sizeof t->text, "%s", text);
    t->next = state.reported;
    state.reported = t;
    return true;
}

/* The same two come out the same, whichever was first. */
static bool is_first(const struct record *a, const struct record *b)
{
    const int names = strcmp(a->name, b->name);
    if (names) return names < 0;
    return a->stamp == b->stamp ? strcmp(a->stream, b->stream) < 0
                                : a->stamp->slot < b->stamp->slot;
}

static void report(const struct record *a, const struct record *b, const struct touched_meeting *m)
{
    static const char *const ways[] = {[TOUCHED_READ] = "reads",
                                       [TOUCHED_STRONG_READ] = "reads",
                                       [TOUCHED_WRITE] = "writes",
                                       [TOUCHED_ATOMIC] = "changes"};
    const bool nodes = a->stamp == b->stamp;
    char text[640], where[1024], would[320], all[2304];
    snprintf(text, sizeof text, "  %s in %s %s it\n  and %s in %s %s it\n", a->name, a->stream,
             ways[m->one], b->name, b->stream, ways[m->other]);
    if (!is_news(text)) return;
    emu_describe(driver.emu, m->address, where, sizeof where);
    if (!nodes && a->stamp->slot == b->stamp->slot)
        snprintf(
            would, sizeof would,
            "  griddepcontrol.wait (cudaGridDependencySynchronize) before that in %s would, which was "
            "launched to begin early\n",
            stamp_is_before(a->stamp, b->stamp) ? b->name : a->name);
    else
        snprintf(would, sizeof would, "%s",
                 nodes ? "  edges from the one to the other would\n"
                       : "  an event, one stream, or a wait of the host between them would\n");
    snprintf(all, sizeof all, "race of %s: nothing orders two operations on 0x%" PRIx64 "\n%s%s%s",
             nodes ? "graph nodes" : "streams", m->address, text, where, would);
    if (driver.reports.run_log) run_log_host_finding(driver.reports.run_log, EMU_RACE, all);
    else driver_say("heddle: %s", all);
    driver_found();
}

/* Of one launch of a graph: the node of `a`, which was done first, is before that of `b`, or in an earlier round of a
 * loop, or the same. `before`: by depth, what graph_before said of `b`; NULL: it was not asked. */
static bool graph_orders(const struct record *a, const struct record *b, bool **before)
{
    for (size_t i = 0; i < a->depth && i < b->depth; i++) {
        if (a->path[i].run != b->path[i].run) return true;
        if (a->path[i].node == b->path[i].node) continue;
        if (!before[i]) before[i] = graph_before(b->path[i].node);
        return before[i][a->path[i].node->index];
    }
    return true;
}

/* The kernel just before this one in its stream; NULL: that is another operation, or it is before whatever the stream
 * has to say. */
static const struct record *kernel_before(const struct record *r)
{
    const uint32_t slot = r->stamp->slot, number = r->stamp->at[slot] - 1;
    if (number <= r->stamp->settled) return NULL;
    for (const struct record *a = state.records; a; a = a->next)
        if (a->stamp->slot == slot && a->stamp->at[slot] == number) return a->is_kernel ? a : NULL;
    return NULL;
}

/* `r` may have begun before `a` was over, which comes before it in the stream. */
static bool is_overtaken(const struct record *a, const struct record *r)
{
    while (r && r->early) {
        r = kernel_before(r);
        if (r == a) return r != NULL;
        if (r && r->early && !early_is_open(r->early)) return false;
    }
    return false;
}

static bool is_before(const struct record *a, const struct record *b, bool **before)
{
    return a->stamp == b->stamp
               ? graph_orders(a, b, before)
               : stamp_is_before(a->stamp, b->stamp) || stamp_is_before(b->stamp, a->stamp);
}

/* "node 2.0 of a graph in stream 5": by their places in their graphs. */
static void name_node(struct record *r)
{
    char path[32] = "", stream[sizeof r->stream];
    if (!r->depth) return;
    for (size_t i = 0, n = 0; i < r->depth && n < sizeof path; i++)
        n += (size_t)snprintf(path + n, sizeof path - n, "%s%zu", i ? "." : "",
                              r->path[i].node->index);
    memcpy(stream, r->stream, sizeof stream);
    snprintf(r->stream, sizeof r->stream, "node %s of a graph in %.40s", path, stream);
}

static void compare(const struct record *other, const struct record *r,
                    const struct touched *touched)
{
    struct touched_meeting m;
    if (!(driver.config.checks & EMU_CHECK_RACE)) return;
    if (!touched_meet(other->touched, touched, &m)) return;
    if (is_first(other, r)) report(other, r, &m);
    else report(r, other, &(struct touched_meeting){m.address, m.other, m.one});
}

void unordered_done(void)
{
    struct record *r = state.now;
    if (!r) return;
    state.now = NULL;
    name_node(r);
    bool **before = calloc(r->depth + 1, sizeof *before);
    if (!before) abort();
    for (const struct record *other = state.records; other; other = other->next)
        if (!is_before(other, r, before)) compare(other, r, r->touched);
        else if (r->early && is_overtaken(other, r)) compare(other, r, early_touched(r->early));
    for (size_t i = 0; i < r->depth; i++) free(before[i]);
    free((void *)before);
    if (driver.config.checks & EMU_CHECK_SYNC) r->pages = host_pages_new(r->touched);
    r->next = state.records;
    state.records = r;
    if (++state.count <= MOST_RECORDS) return;
    struct record **at = &state.records;
    while ((*at)->next) at = &(*at)->next;
    drop(*at);
    *at = NULL;
    state.count--;
}

/* ---- accesses of the host ------------------------------------------------------------------------------- */

/* The first byte of the access that the operation used, and not both just read; false: there is none. */
static bool first_met(const struct touched *t, const struct host_access *a, uint64_t *address,
                      bool *writes)
{
    for (uint64_t i = 0; i < a->size; i++) {
        *address = a->address + i;
        if (touched_has(t, *address, writes) && (*writes || a->writes)) return true;
    }
    return false;
}

static void say_access(const struct host_access *a)
{
    const struct record *r = a->of;
    uint64_t address;
    bool writes;
    char text[640], where[1024], all[8192];
    if (!first_met(r->touched, a, &address, &writes)) return;
    char *stack = caller_lines(a->frames, a->frame_count);
    snprintf(text, sizeof text, "  %s in %s %s it\n%.200s  and the host %s it\n", r->name,
             r->stream, writes ? "writes" : "reads", caller_noted(r->site),
             a->writes ? "writes" : "reads");
    emu_describe(driver.emu, address, where, sizeof where);
    snprintf(
        all, sizeof all,
        "race of the host: it has not waited for an operation on 0x%" PRIx64 "\n"
        "  %s in %s %s it\n%s  and the host %s it\n%s%s"
        "  a wait for the stream (cudaStreamSynchronize) or the device before that would order them\n",
        address, r->name, r->stream, writes ? "writes" : "reads", caller_noted(r->site),
        a->writes ? "writes" : "reads", stack ? stack : "", where);
    free(stack);
    if (!is_news(text)) return;
    if (driver.reports.run_log) run_log_host_finding(driver.reports.run_log, EMU_RACE, all);
    else driver_say("heddle: %s", all);
    driver_found();
}

void unordered_enter(void)
{
    if (driver.config.checks & EMU_CHECK_SYNC) host_access_release(say_access);
}

void unordered_exit(void)
{
    if (!(driver.config.checks & EMU_CHECK_SYNC)) return;
    for (const struct record *r = state.records; r; r = r->next)
        if (!stamp_is_before(r->stamp, state.host)) host_access_guard(r->pages, r);
}
