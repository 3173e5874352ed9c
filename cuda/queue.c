/* Queues of streams (cuda/queue.h): which operation runs next, and what the host waits for.
 *
 * Each call on a stream passes a struct work to submit(), and enqueue() makes a struct operation of the stream from it.
 * go_on() takes one step: it chooses a stream whose first operation is ready (is_ready), and executes that operation
 * (work_execute; one node for a launch of a graph). Without an adversary submit() executes all ready operations at once.
 * With an adversary an operation stays pending until the host waits (go_on_until, queue_wait_*), or until its stream is
 * drawn. A pending copy from pageable memory has a snapshot of its source (work_snapshot_source). All of this happens under
 * the driver's lock; wait_for_others() releases it while another host thread has to act first. */
#define _GNU_SOURCE
#include "cuda/queue.h"

#include "base/rng.h"
#include "cuda/capture.h"
#include "cuda/graph.h"
#include "cuda/launch_log.h"
#include "session/run_observer.h"

#include <pthread.h>
#include <stdlib.h>

struct awaited_event { /* of a node that waits: what the event stood for at the launch */
    CUevent event;
    struct operation *operation; /* NULL: nothing */
};

struct operation {
    struct operation *next; /* in its stream */
    struct CUstream_st *stream;
    unsigned long long id; /* in order of submission */
    struct work work;
    struct graph_run *run; /* of a launch of a graph; NULL: it has not begun */
    struct stamp *stamp;
    struct launch_log_entry *log_entry; /* NULL: this run has no log */
    struct operation *awaited;          /* by a wait for an event; NULL: it was done */
    struct awaited_event *node_waits;   /* of a launch of a graph */
    size_t node_wait_count;
    unsigned references; /* its queue's, waits', an event's */
    unsigned site;       /* where it was asked for (driver_site) */
    bool running, done;
    double submitted, done_at; /* of driver.reports.timeline */
    CUresult result;
};

static _Thread_local const struct operation *executing; /* that this thread took the last step of */

uint32_t queue_choose(uint32_t n)
{
    return driver.queues.adversary && n > 1 ? rng_below(&driver.queues.choices, n) : 0;
}

void operation_release(struct operation *o)
{
    if (!o || --o->references) return;
    operation_release(o->awaited);
    stamp_release(o->stamp);
    free(o);
}

static struct operation *retain(struct operation *o)
{
    if (o) o->references++;
    return o;
}

bool queue_records(const struct CUevent_st *e)
{
    return e->last == executing;
}

bool queue_event_has_come(const struct CUevent_st *e)
{
    for (size_t i = 0; i < executing->node_wait_count; i++) {
        const struct awaited_event *a = &executing->node_waits[i];
        if (a->event == e) return !a->operation || a->operation->done;
    }
    return true;
}

static void end_node_waits(struct operation *o)
{
    for (size_t i = 0; i < o->node_wait_count; i++) operation_release(o->node_waits[i].operation);
    free(o->node_waits);
    o->node_waits = NULL;
    o->node_wait_count = 0;
}

/* ---- which streams are at work ------------------------------------------------------------------------- */

static void add_busy(struct CUstream_st *s)
{
    if (driver.queues.busy_count == driver.queues.busy_cap) {
        driver.queues.busy_cap = driver.queues.busy_cap ? 2 * driver.queues.busy_cap : 8;
        driver.queues.busy = realloc((void *)driver.queues.busy,
                                     driver.queues.busy_cap * sizeof *driver.queues.busy);
        if (!driver.queues.busy) abort();
    }
    driver.queues.busy[driver.queues.busy_count++] = s;
}

static void remove_busy(const struct CUstream_st *s)
{
    size_t i = 0;
    while (driver.queues.busy[i] != s) i++;
    driver.queues.busy_count--;
    memmove((void *)&driver.queues.busy[i], (void *)&driver.queues.busy[i + 1],
            (driver.queues.busy_count - i) * sizeof *driver.queues.busy);
}

/* Whether the first operation of the one is to be done before that of the other. */
static bool holds_back(const struct CUstream_st *other, const struct CUstream_st *s)
{
    if (other == s || other->context != s->context || other->head->id > s->head->id) return false;
    return (s->legacy && !(other->flags & CU_STREAM_NON_BLOCKING)) ||
           (other->legacy && !(s->flags & CU_STREAM_NON_BLOCKING));
}

static bool is_ready(const struct CUstream_st *s)
{
    const struct operation *o = s->head;
    if (o->running || (o->awaited && !o->awaited->done)) return false;
    for (size_t i = 0; i < driver.queues.busy_count; i++)
        if (holds_back(driver.queues.busy[i], s)) return false;
    return true;
}

/* ---- the estimated GPU's time ---------------------------------------------------------------------------- */

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* The first step of an operation that executes now, behind all that it is behind. */
static void begin_on_timeline(struct operation *o)
{
    const struct CUstream_st *s = o->stream;
    const struct CUctx_st *c = s->context;
    double from = later(o->submitted, s->done_at);
    if (o->awaited) from = later(from, o->awaited->done_at);
    for (size_t i = 0; i < o->node_wait_count; i++)
        if (o->node_waits[i].operation) from = later(from, o->node_waits[i].operation->done_at);
    if (s->legacy) from = later(from, c->blocking_done);
    else if (!(s->flags & CU_STREAM_NON_BLOCKING)) from = later(from, c->legacy_done);
    driver.reports.timeline.stream = s->legacy ? 0 : (uint32_t)s->id;
    driver.reports.timeline.submitted = o->submitted;
    timeline_step(&driver.reports.timeline, from);
}

static void end_on_timeline(struct operation *o)
{
    struct CUstream_st *s = o->stream;
    struct CUctx_st *c = s->context;
    const double done = timeline_done(&driver.reports.timeline);
    o->done_at = s->done_at = done;
    if (s->legacy) c->legacy_done = later(c->legacy_done, done);
    else if (!(s->flags & CU_STREAM_NON_BLOCKING)) c->blocking_done = later(c->blocking_done, done);
}

static void wait_on_timeline(double until)
{
    timeline_wait(&driver.reports.timeline, until);
}

/* ---- doing --------------------------------------------------------------------------------------------- */

/* Ending the work may call functions of the host, with the lock given up: the stream is done with it before. */
static void finish(struct operation *o, CUresult r)
{
    struct CUstream_st *s = o->stream;
    struct work work = o->work;
    o->work = (struct work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
    o->done = true;
    o->result = r;
    launch_log_done(o->log_entry);
    o->log_entry = NULL;
    operation_release(o->awaited);
    o->awaited = NULL;
    end_node_waits(o);
    graph_run_end(o->run);
    o->run = NULL;
    s->head = o->next;
    if (!s->head) {
        s->tail = NULL;
        remove_busy(s);
        if (!s->object.kind) object_reuse(&s->object);
    }
    work_end(&work);
    operation_release(o);
}

static CUresult step_graph(struct operation *o)
{
    if (!o->run) {
        graph_begin(o->work.graph);
        o->run = graph_run_new(o->work.graph, 0);
    }
    return graph_run_done(o->run) ? CUDA_SUCCESS : graph_run_step(o->run);
}

/* In a context that a launch has broken nothing is done any more, but callbacks of cuStreamAddCallback hear of it. */
static CUresult step_broken(struct operation *o)
{
    const CUresult broken = o->work.context->broken;
    if (o->work.type != CU_GRAPH_NODE_TYPE_HOST || !o->work.host.what.callback) return broken;
    o->work.host.what.status = broken;
    return work_execute(&o->work) == CUDA_ERROR_NOT_READY ? CUDA_ERROR_NOT_READY : broken;
}

/* A step of the stream's first operation. NOT_READY: it cannot be done yet. */
static CUresult step(struct CUstream_st *s)
{
    struct operation *o = s->head;
    CUresult r;
    o->running = true;
    executing = o;
    begin_on_timeline(o);
    driver.site = o->site;
    run_observer_stream(driver_run_observer(), s->legacy ? 0 : (uint32_t)s->id);
    unordered_begin(s, o->stamp);
    if (o->work.context->broken) r = step_broken(o);
    else if (o->work.type == CU_GRAPH_NODE_TYPE_GRAPH) r = step_graph(o);
    else r = work_execute(&o->work);
    o->running = false;
    driver.site = 0;
    end_on_timeline(o);
    unordered_done();
    if (r == CUDA_ERROR_NOT_READY) {
        driver_wake(); /* the threads that saw a running operation */
        return r;
    }
    if (r != CUDA_SUCCESS || !o->run || graph_run_done(o->run)) finish(o, r);
    driver_wake();
    return r;
}

/* The streams that can go on; the caller's to free. */
static struct CUstream_st **ready_streams(uint32_t *count)
{
    struct CUstream_st **ready = malloc((driver.queues.busy_count + 1) * sizeof *ready);
    if (!ready) abort();
    *count = 0;
    for (size_t i = 0; i < driver.queues.busy_count; i++)
        if (is_ready(driver.queues.busy[i])) ready[(*count)++] = driver.queues.busy[i];
    return ready;
}

/* Some stream goes on. false: none can. While a function of the host is called other threads take steps, too: a stream that was
 * ready may not be so afterwards. */
static bool go_on(void)
{
    uint32_t n;
    bool done = false;
    struct CUstream_st **ready = ready_streams(&n);
    while (n && !done) {
        const uint32_t chosen = queue_choose(n);
        struct CUstream_st *s = ready[chosen];
        done = s->head && is_ready(s) && step(s) != CUDA_ERROR_NOT_READY;
        ready[chosen] = ready[--n]; /* it waits for a value */
    }
    free((void *)ready);
    return done;
}

static bool is_any_stream_running(void)
{
    for (size_t i = 0; i < driver.queues.busy_count; i++)
        if (driver.queues.busy[i]->head->running) return true;
    return false;
}

/* Somebody else is at it, or a value is still to be written by the host. */
static void wait_for_others(void)
{
    if (is_any_stream_running()) {
        driver_sleep();
        return;
    }
    driver_unlock();
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    driver_lock();
}

static void go_on_until(struct operation *o)
{
    retain(o);
    while (!o->done)
        if (!go_on()) wait_for_others();
    unordered_wait(o->stamp);
    wait_on_timeline(o->done_at);
    operation_release(o);
}

void queue_go_on(void)
{
    while (!driver.queues.adversary && driver.queues.busy_count && go_on()) {
    }
}

/* A program may look at memory that it shares with the device until something is done there, and call nothing
 * meanwhile: when it has called nothing for a second, all that can be done is done. */
static void *watch(void *unused)
{
    unsigned long long seen = 0;
    for (;;) {
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        driver_lock();
        while (driver.begun == seen && driver.queues.busy_count && go_on()) {
        }
        seen = driver.begun;
        driver_unlock();
    }
    return unused;
}

static void start_watch(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, watch, NULL) != 0) abort();
    pthread_detach(thread);
}

void queue_do_all(void)
{
    while (driver.queues.busy_count && go_on()) {
    }
}

void queue_settle(void)
{
    if (driver.reports.run_log) queue_do_all();
}

/* ---- submitting ---------------------------------------------------------------------------------------- */

/* Who waits for the event waits for the operation. */
static void records(struct operation *o, CUevent e)
{
    if (!object_check(e, OBJECT_EVENT)) return;
    operation_release(e->last);
    e->last = retain(o);
    e->recorded = true;
    e->captured = 0;
}

static void records_of_graph(struct operation *o, const struct CUgraph_st *g)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct work *w = &g->nodes[i]->work;
        if (w->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) records(o, w->event);
        if (w->type == CU_GRAPH_NODE_TYPE_GRAPH) records_of_graph(o, w->graph);
    }
}

/* Before the launch itself is what its events stand for. */
static void waits_of_graph(struct operation *o, const struct CUgraph_st *g)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct work *w = &g->nodes[i]->work;
        if (w->type == CU_GRAPH_NODE_TYPE_GRAPH) waits_of_graph(o, w->graph);
        if (w->type != CU_GRAPH_NODE_TYPE_WAIT_EVENT || !object_check(w->event, OBJECT_EVENT))
            continue;
        o->node_waits = realloc(o->node_waits, (o->node_wait_count + 1) * sizeof *o->node_waits);
        if (!o->node_waits) abort();
        o->node_waits[o->node_wait_count++] = (struct awaited_event){w->event,
                                                                     retain(w->event->last)};
    }
}

static struct operation *enqueue(struct CUstream_st *s, struct work *w)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct operation *o = calloc(1, sizeof *o);
    if (!o) abort();
    if (driver.queues.adversary ||
        driver.reports.run_log) /* a thread takes memory of the program's */
        pthread_once(&once, start_watch);
    *o = (struct operation){.stream = s,
                            .id = ++driver.serial,
                            .work = *w,
                            .references = 1,
                            .site = driver_site(),
                            .submitted = driver.reports.timeline.host};
    if (w->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) o->awaited = retain(w->event->last);
    if (w->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) records(o, w->event);
    if (w->type == CU_GRAPH_NODE_TYPE_GRAPH) {
        o->awaited = w->graph->last;
        w->graph->last = retain(o);
        waits_of_graph(o, w->graph);
        records_of_graph(o, w->graph);
    }
    graph_memory_ask(&o->work);
    o->stamp = unordered_submit(s, o->awaited ? o->awaited->stamp : NULL);
    for (size_t i = 0; i < o->node_wait_count; i++) /* its nodes before those that wait, too */
        if (o->node_waits[i].operation)
            unordered_await(o->stamp, o->node_waits[i].operation->stamp);
    o->log_entry = launch_log_submit(&o->work, o->stamp);
    if (s->tail) s->tail->next = o;
    else {
        s->head = o;
        add_busy(s);
    }
    s->tail = o;
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return o;
}

static CUresult submit(struct CUctx_st *c, CUstream handle, struct work *w, bool wait)
{
    struct CUstream_st *s = stream_of(c, handle);
    if (!s) {
        work_end(w);
        return CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult r = capture_use(s, wait);
    if (r != CUDA_SUCCESS) {
        work_end(w);
        return r;
    }
    if (s->capture) return capture_add(s, w);
    wait |= w->type == CU_GRAPH_NODE_TYPE_MEMCPY && copy_is_synchronous(&w->copy);
    if (!wait && (driver.queues.adversary || driver.queues.busy_count)) work_snapshot_source(w);
    struct operation *o = retain(enqueue(s, w));
    queue_go_on();
    if (wait) go_on_until(o);
    if (o->done) r = o->result;
    operation_release(o);
    return r;
}

CUresult stream_submit(struct CUctx_st *c, CUstream handle, struct work *w)
{
    return submit(c, handle, w, false);
}

CUresult stream_submit_and_wait(struct CUctx_st *c, CUstream handle, struct work *w)
{
    return submit(c, handle, w, true);
}

CUresult stream_call(CUstream handle, CUresult made, struct CUctx_st *c, struct work *w,
                     bool synchronous)
{
    return driver_end(made != CUDA_SUCCESS ? made : submit(c, handle, w, synchronous));
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

/* Who waits for the one waits for the other: the legacy stream stands for all that block. */
static bool stands_for(const struct CUstream_st *s, const struct CUstream_st *other)
{
    return s == other ||
           (s->legacy && other->context == s->context && !(other->flags & CU_STREAM_NON_BLOCKING));
}

/* Some of its work that is not done; NULL: there is none. */
static struct operation *work_of(const struct CUstream_st *s)
{
    for (size_t i = 0; i < driver.queues.busy_count; i++)
        if (stands_for(s, driver.queues.busy[i])) return driver.queues.busy[i]->tail;
    return NULL;
}

/* The host has waited for all of it. */
static void waited_for(const struct CUstream_st *s)
{
    unordered_wait(s->stamp);
    wait_on_timeline(s->done_at);
    if (!s->legacy) return;
    for (struct object *o = driver.objects.all[OBJECT_STREAM - OBJECT_CONTEXT]; o; o = o->next)
        if (o->kind == OBJECT_STREAM && stands_for(s, (const struct CUstream_st *)o))
            unordered_wait(((const struct CUstream_st *)o)->stamp);
    unordered_wait_gone();
    wait_on_timeline(s->context->blocking_done);
}

CUresult queue_wait_stream(struct CUstream_st *s)
{
    struct operation *o;
    while ((o = work_of(s))) go_on_until(o);
    waited_for(s);
    return s->context->broken;
}

/* The host has waited for what is done of it. */
static void waited_for_context(const struct CUctx_st *c)
{
    for (struct object *o = driver.objects.all[OBJECT_STREAM - OBJECT_CONTEXT]; o; o = o->next) {
        const struct CUstream_st *s = (struct CUstream_st *)o;
        if (c && s->context != c) continue;
        unordered_wait(s->stamp);
        wait_on_timeline(s->done_at);
    }
    unordered_wait_gone();
}

CUresult queue_wait_context(const struct CUctx_st *c)
{
    for (size_t i = 0; i < driver.queues.busy_count;) {
        struct CUstream_st *s = driver.queues.busy[i];
        if (!c || s->context == c) {
            go_on_until(s->tail);
            i = 0;
        } else i++;
    }
    waited_for_context(c);
    return c ? c->broken : CUDA_SUCCESS;
}

bool queue_end(void)
{
    while (driver.queues.busy_count)
        if (!go_on()) {
            if (!is_any_stream_running() && !callback_is_called()) break;
            wait_for_others();
        }
    waited_for_context(NULL);
    return !driver.queues.busy_count;
}

CUresult queue_wait_event(CUevent e)
{
    struct CUctx_st *c = e->context;
    if (e->last) go_on_until(e->last);
    return c->broken;
}

bool queue_poll_stream(struct CUstream_st *s)
{
    if (work_of(s)) go_on();
    if (work_of(s)) return false;
    waited_for(s);
    return true;
}

bool queue_poll_event(CUevent e)
{
    struct operation *o = retain(e->last);
    if (!o) return true;
    if (!o->done) go_on();
    const bool done = o->done;
    if (done) {
        unordered_wait(o->stamp);
        wait_on_timeline(o->done_at);
    }
    operation_release(o);
    return done;
}

void queue_leave(struct CUstream_st *s)
{
    s->object.kind = OBJECT_NONE;
    unordered_leave(s);
    if (!s->head) object_reuse(&s->object);
}

void queue_drop(void)
{
    while (driver.queues.busy_count) finish(driver.queues.busy[0]->head, CUDA_ERROR_DEINITIALIZED);
}
