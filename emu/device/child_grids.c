/* The device runtime's calls around launches: see child_grids.h. Error codes are those of cudaError_t. */
#include "emu/device/child_grids.h"

#include "emu/device/check_grids.h"
#include "emu/order.h"
#include "emu/sched/launch.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INVALID_VALUE = 1,
    NO_MEMORY = 2,
    INVALID_CONFIGURATION = 9,
    DEPTH_EXCEEDED = 65,
    PENDING_EXCEEDED = 69,
    INVALID_FUNCTION = 98,
    INVALID_HANDLE = 400,
};
enum {
    NON_BLOCKING = 1,
    LEGACY = 1,
    PER_THREAD = 2,
    TAIL = 3,
    FIRE_AND_FORGET = GRIDS_FREE_STREAM
};
enum { FIRST_HANDLE = 0x1000, HANDLE_STEP = 16 };

/* The last error of a thread. */
static u32 *last_error(struct emu_group *g, u32 w, u32 lane)
{
    struct emu_cta *c = g->cta;
    if (!c->runtime) c->runtime = calloc(c->threads, sizeof(u32));
    if (!c->runtime) abort();
    return (u32 *)c->runtime + (g->first + w) * LANES + lane;
}

static void *grow(void *list, size_t count, size_t *cap, size_t size)
{
    if (count < *cap) return list;
    *cap = *cap ? 2 * *cap : 16;
    list = realloc(list, *cap * size);
    if (!list) abort();
    return list;
}

static struct grid_task *task_new(struct emu_group *g, u32 w, u32 lane, u64 stream)
{
    const struct emu_machine *m = g->worker->machine;
    struct grids *q = m->grids;
    u32 cta[3], t[3];
    q->tasks = grow(q->tasks, q->count, &q->cap, sizeof *q->tasks);
    struct grid_task *task = &q->tasks[q->count++];
    *task = (struct grid_task){
        .cta = g->cta->linear,
        .tail = stream == TAIL,
        .stream = stream == FIRE_AND_FORGET || stream >= FIRST_HANDLE ? stream : 0};
    task->nesting = (struct emu_nesting){.parent = q->running,
                                         .cta = task->cta,
                                         .at = g->instructions,
                                         .stream = task->stream,
                                         .is_free = stream == FIRE_AND_FORGET,
                                         .is_tail = task->tail};
    launch_thread_of(m, g->cta->linear, (g->first + w) * LANES + lane, cta, t);
    snprintf(task->by, sizeof task->by, "thread (%u,%u,%u) of CTA (%u,%u,%u) of kernel '%.80s'",
             t[0], t[1], t[2], cta[0], cta[1], cta[2], m->program->codes[0]->name);
    q->pending++;
    return task;
}

static bool handle_ok(const struct grids *q, u64 h)
{
    return h >= FIRST_HANDLE && h % HANDLE_STEP == 0 &&
           (h - FIRST_HANDLE) / HANDLE_STEP < q->handles;
}

static bool stream_ok(const struct grids *q, u64 s)
{
    return s <= FIRE_AND_FORGET || handle_ok(q, s);
}

/* What keeps a launch or copy from being queued; 0: nothing. */
static u32 cannot_queue(const struct grids *q, u64 stream)
{
    if (!stream_ok(q, stream)) return INVALID_HANDLE;
    if (q->depth >= GRIDS_DEPTH) return DEPTH_EXCEEDED;
    return q->pending >= GRIDS_PENDING ? PENDING_EXCEEDED : 0;
}

/* ---- buffers of parameters ------------------------------------------------------------------------------ */

static u64 buffer_new(const struct emu_machine *m, const struct grid_buffer *like, u32 *error)
{
    struct grids *q = m->grids;
    /* Buffers that are never launched count, too: nothing else bounds them. */
    if (q->pending + q->buffer_count >= GRIDS_PENDING) {
        *error = PENDING_EXCEEDED;
        return 0;
    }
    u64 address = mem_alloc(m->mem, GRIDS_PARAMS, MEM_ALIGN, "parameters of a launch", false,
                            false);
    if (!address) {
        *error = NO_MEMORY;
        return 0;
    }
    q->buffers = grow(q->buffers, q->buffer_count, &q->buffer_cap, sizeof *q->buffers);
    struct grid_buffer *b = &q->buffers[q->buffer_count++];
    *b = *like;
    b->address = address;
    return address;
}

static struct grid_buffer *buffer_at(struct grids *q, u64 address)
{
    for (size_t i = q->buffer_count; i-- > 0;)
        if (q->buffers[i].address == address) return &q->buffers[i];
    return NULL;
}

static void buffer_free(struct emu_group *g, struct grid_buffer *b)
{
    struct emu_machine *m = g->worker->machine;
    struct grids *q = m->grids;
    mem_release_by(m->mem, b->address, "its launch");
    memset(g->worker->bounds, 0, m->program->site_count * sizeof *g->worker->bounds);
    *b = q->buffers[--q->buffer_count];
}

/* ---- launches --------------------------------------------------------------------------------------------- */

/* false: the machine cannot run that kernel, and a fault says why. */
static bool check(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
                  struct emu_kernel *k, const u32 grid[3], const u32 block[3], u32 shared,
                  u32 *error)
{
    *error = INVALID_FUNCTION;
    if (!k) return true;
    const char *why = grids_check(g->worker->machine, k, grid, block, shared, error);
    if (!why || *error) return true;
    emu_raise(g, in, EMU_UNSUPPORTED, w, lane, 0, 0, "a launch by the kernel: %s", why);
    return false;
}

static u32 launch(struct emu_group *g, u32 w, u32 lane, struct grid_buffer *b, u64 stream)
{
    const struct emu_machine *m = g->worker->machine;
    u32 error = cannot_queue(m->grids, stream);
    if (!error) {
        struct grid_task *t = task_new(g, w, lane, stream);
        t->kernel = b->kernel;
        memcpy(t->grid, b->grid, sizeof t->grid);
        memcpy(t->block, b->block, sizeof t->block);
        t->shared = b->shared;
        t->params = malloc(GRIDS_PARAMS);
        if (!t->params) abort();
        memcpy(t->params, mem_bytes(m->mem, b->address), GRIDS_PARAMS);
        if (m->grids->check) t->number = check_grids_launched(m->grids->check, t);
    }
    buffer_free(g, b);
    return error;
}

static u32 copy(struct emu_group *g, u32 w, u32 lane, enum runtime_call call, const u64 arg[6])
{
    bool fills = call == RUNTIME_MEMSET;
    u64 stream = arg[fills ? 3 : 4];
    u32 error = cannot_queue(g->worker->machine->grids, stream);
    if (error || !arg[2]) return error;
    struct grid_task *t = task_new(g, w, lane, stream);
    t->to = arg[0];
    t->from = fills ? 0 : arg[1];
    t->value = (u8)arg[1];
    t->size = arg[2];
    t->fills = fills;
    return 0;
}

/* A handle that the thread gets, at the address it gave. */
static bool give(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u64 at, u64 value,
                 u32 size)
{
    return emu_lane_write(g, in, w, lane, PTX_SPACE_GENERIC, at, size, &value);
}

/* A buffer of parameters for the launch that it describes (cudaGetParameterBufferV2). *buffer: 0 with an error. false:
 * a fault. */
static bool parameters_of_launch(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
                                 const u64 arg[6], const u32 dim[2][3], u64 *buffer, u32 *error)
{
    const struct emu_machine *m = g->worker->machine;
    struct grid_buffer like = {.kernel = grids_kernel(m, arg[0]), .shared = (u32)arg[3]};
    memcpy(like.grid, dim[0], sizeof like.grid);
    memcpy(like.block, dim[1], sizeof like.block);
    if (!check(g, in, w, lane, like.kernel, like.grid, like.block, like.shared, error))
        return false;
    if (!*error && m->grids->depth >= GRIDS_DEPTH) *error = DEPTH_EXCEEDED;
    if (!*error) *buffer = buffer_new(m, &like, error);
    return true;
}

/* cudaLaunchDevice: the launch is described by its arguments, the parameters by a buffer. false: a fault. */
static bool launch_with_buffer(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
                               const u64 arg[6], const u32 dim[2][3], u32 *error)
{
    const struct emu_machine *m = g->worker->machine;
    struct grid_buffer *b = buffer_at(m->grids, arg[1]);
    if (!b) {
        *error = INVALID_VALUE;
        return true;
    }
    b->kernel = grids_kernel(m, arg[0]);
    memcpy(b->grid, dim[0], sizeof b->grid);
    memcpy(b->block, dim[1], sizeof b->block);
    b->shared = (u32)arg[4];
    if (!check(g, in, w, lane, b->kernel, b->grid, b->block, b->shared, error)) return false;
    if (!*error) *error = launch(g, w, lane, b, arg[5]);
    return true;
}

/* ---- the order of tasks ----------------------------------------------------------------------------------- */

/* The last task in front of this one in its stream: its place plus one; 0: there is none. */
static size_t behind(const struct grid_task *tasks, size_t i)
{
    if (tasks[i].stream == FIRE_AND_FORGET) return 0;
    for (size_t k = i; k-- > 0;)
        if (tasks[k].cta == tasks[i].cta && tasks[k].stream == tasks[i].stream) return k + 1;
    return 0;
}

/* Puts the tasks, which are in the order of CTAs and of issue with tails last, into one that the order chooses. */
static void choose_sequence(struct grid_task *tasks, size_t n, const struct emu_order *o)
{
    struct grid_task *from = calloc(n + 1, sizeof *from);
    size_t *after = calloc(n + 1, sizeof *after), tails = n;
    bool *done = calloc(n + 1, 1);
    if (!from || !after || !done) abort();
    memcpy(from, tasks, n * sizeof *from);
    while (tails && from[tails - 1].tail) tails--;
    for (size_t i = 0; i < tails; i++) after[i] = behind(from, i);
    for (size_t at = 0; at < tails; at++) { /* tails stay where they are */
        uint32_t count = 0;
        for (size_t i = 0; i < tails; i++) count += !done[i] && (!after[i] || done[after[i] - 1]);
        uint32_t chosen = count > 1 ? o->choose_grid(o->self, count) : 0;
        for (size_t i = 0; i < tails; i++) {
            if (done[i] || (after[i] && !done[after[i] - 1]) || chosen--) continue;
            tasks[at] = from[i];
            done[i] = true;
            break;
        }
    }
    free(from);
    free(after);
    free(done);
}

/* ---- calls ------------------------------------------------------------------------------------------------- */

/* The tasks of a CTA, without tails, in the order of issue. To be freed with grids_drop. */
static struct grid_task *take_of_cta(struct grids *q, u32 cta, size_t *count)
{
    struct grid_task *out = calloc(q->count + 1, sizeof *out);
    size_t left = 0;
    if (!out) abort();
    *count = 0;
    for (size_t i = 0; i < q->count; i++) {
        const struct grid_task t = q->tasks[i];
        if (t.cta == cta && !t.tail) out[(*count)++] = t;
        else q->tasks[left++] = t;
    }
    q->count = left;
    return out;
}

/* For the timing model: the CTA waits for these tasks. */
static void note_wait(struct grids *q, const struct emu_group *g, struct grid_task *tasks,
                      size_t count)
{
    q->waits = grow(q->waits, q->wait_count, &q->wait_cap, sizeof *q->waits);
    q->waits[q->wait_count++] = (struct emu_grid_wait){.cta = g->cta->linear,
                                                       .at = g->instructions};
    for (size_t i = 0; i < count; i++) {
        tasks[i].nesting.wait = (u32)q->wait_count;
        tasks[i].nesting.in_order = q->event_waits;
    }
}

/* Why a kernel of the launch cannot wait; NULL: it can. */
static const char *why_not_nested(const struct emu_launch *l)
{
    for (size_t i = 0; i < l->observer_count; i++)
        if (!l->observers[i]->nested) return l->observers[i]->not_nested;
    return l->order && !l->order->nested ? "in recordings and exhaustive checks" : NULL;
}

/* cudaDeviceSynchronize: runs what the CTA has launched. false: a fault was raised. */
static bool synchronise(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane)
{
    struct emu_machine *m = g->worker->machine;
    struct grids *q = m->grids;
    const struct emu_order *o = m->launch->order;
    const char *why = why_not_nested(m->launch);
    if (why) {
        emu_raise(
            g, in, EMU_UNSUPPORTED, w, lane, 0, 0,
            "a kernel waits for the grids that it has launched (cudaDeviceSynchronize), which is not possible %s",
            why);
        return false;
    }
    size_t count;
    struct grid_task *tasks = take_of_cta(q, g->cta->linear, &count);
    if (count) note_wait(q, g, tasks, count);
    if (o && o->choose_grid && !q->event_waits) choose_sequence(tasks, count, o);
    const struct grids outer = *q;
    q->tasks = NULL;
    q->count = q->cap = 0;
    q->waits = NULL;
    q->wait_count = q->wait_cap = 0;
    q->event_waits = false;
    const struct emu_fault f = count ? q->run_nested(q, tasks, count) : (struct emu_fault){0};
    grids_drop(q->tasks, q->count); /* of a launch that a fault has ended */
    q->tasks = outer.tasks;
    q->count = outer.count;
    q->cap = outer.cap;
    free(q->waits);
    q->waits = outer.waits;
    q->wait_count = outer.wait_count;
    q->wait_cap = outer.wait_cap;
    q->running = outer.running;
    q->event_waits = outer.event_waits;
    grids_drop(tasks, count);
    /* Grids may have released memory. */
    memset(g->worker->bounds, 0, m->program->site_count * sizeof *g->worker->bounds);
    if (f.kind)
        emu_raise(g, in, f.kind, w, lane, f.address, f.size,
                  "a grid that the kernel has launched and waits for failed:\n%s", f.text);
    return !f.kind;
}

bool grids_call(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane,
                enum runtime_call call, const u64 arg[6], const u32 dim[2][3], u64 *value)
{
    const struct emu_machine *m = g->worker->machine;
    struct grids *q = m->grids;
    struct grid_buffer *b;
    u32 error = 0, *last = last_error(g, w, lane);
    *value = 0;
    switch (call) {
    case RUNTIME_PARAMETERS_2:
        if (!parameters_of_launch(g, in, w, lane, arg, dim, value, &error)) return false;
        if (error) *last = error;
        return true; /* NULL shows the error */
    case RUNTIME_PARAMETERS:
        if (arg[1] > GRIDS_PARAMS || arg[0] > MEM_ALIGN) error = INVALID_VALUE;
        else *value = buffer_new(m, &(struct grid_buffer){0}, &error);
        if (error) *last = error;
        return true;
    case RUNTIME_LAUNCH_2:
        b = buffer_at(q, arg[0]);
        error = b && b->kernel ? launch(g, w, lane, b, arg[1]) : INVALID_VALUE;
        break;
    case RUNTIME_LAUNCH:
        if (!launch_with_buffer(g, in, w, lane, arg, dim, &error)) return false;
        break;
    case RUNTIME_LAST_ERROR:
        *value = *last;
        *last = 0;
        return true;
    case RUNTIME_PEEK_ERROR: *value = *last; return true;
    case RUNTIME_STREAM_CREATE:
        if (arg[1] != NON_BLOCKING) error = INVALID_VALUE;
        /* fall through */
    case RUNTIME_EVENT_CREATE:
        if (!error && !give(g, in, w, lane, arg[0], FIRST_HANDLE + HANDLE_STEP * q->handles++, 8))
            return false;
        break;
    case RUNTIME_STREAM_DESTROY:
    case RUNTIME_EVENT_DESTROY:
        if (!handle_ok(q, arg[0])) error = INVALID_HANDLE;
        break;
    case RUNTIME_STREAM_WAIT: /* what was issued before is done before */
        if (!stream_ok(q, arg[0]) || !handle_ok(q, arg[1])) error = INVALID_HANDLE;
        q->event_waits = true;
        if (q->check) check_grids_keep_order(q->check);
        break;
    case RUNTIME_EVENT_RECORD:
        if (!handle_ok(q, arg[0]) || !stream_ok(q, arg[1])) error = INVALID_HANDLE;
        break;
    case RUNTIME_SYNCHRONISE:
        if (!synchronise(g, in, w, lane)) return false;
        break;
    case RUNTIME_GET_DEVICE:
    case RUNTIME_GET_DEVICE_COUNT:
        if (!give(g, in, w, lane, arg[0], call == RUNTIME_GET_DEVICE_COUNT, 4)) return false;
        break;
    case RUNTIME_SET_CONDITIONAL: /* the handle is an address (cuda/graph_nodes.c) */
        if (!give(g, in, w, lane, arg[0], (u32)arg[1], 4)) return false;
        break;
    case RUNTIME_CUDA_MALLOC: {
        u64 at = launch_heap_alloc(g, in, w, lane, arg[1]);
        if (!at && arg[1]) error = NO_MEMORY;
        if (!give(g, in, w, lane, arg[0], at, 8)) return false;
        break;
    }
    case RUNTIME_CUDA_FREE:
        if (arg[0] && !launch_heap_free(g, in, w, lane, arg[0])) return false;
        break;
    default: error = copy(g, w, lane, call, arg); break;
    }
    if (error) *last = error;
    *value = error;
    return true;
}

/* ---- when the grid has ended ------------------------------------------------------------------------------ */

struct grid_task *grids_take(struct grids *q, const struct emu_order *o, size_t *count)
{
    size_t n = q->count, at = 0;
    struct grid_task *out = calloc(n + 1, sizeof *out);
    if (!out) abort();
    /* By CTA, each one's in the order of issue; tails last. The CTAs that launched are few: take the lowest
     * that is left, and all of it. */
    for (int tail = 0; tail < 2; tail++)
        for (u64 next = 0; next <= UINT32_MAX;) {
            u64 lowest = (u64)UINT32_MAX + 1;
            for (size_t i = 0; i < n; i++) {
                const struct grid_task *t = &q->tasks[i];
                if (t->tail != (tail != 0) || t->cta < next) continue;
                if (t->cta < lowest) lowest = t->cta;
            }
            for (size_t i = 0; i < n; i++)
                if (q->tasks[i].tail == (tail != 0) && q->tasks[i].cta == lowest)
                    out[at++] = q->tasks[i];
            next = lowest + 1;
        }
    free(q->tasks);
    q->tasks = NULL;
    q->count = q->cap = 0;
    if (o && o->choose_grid && !q->event_waits) choose_sequence(out, n, o);
    for (size_t i = 0; i < n; i++) out[i].nesting.in_order = q->event_waits;
    q->event_waits = false;
    *count = n;
    return out;
}

void grids_drop(struct grid_task *tasks, size_t count)
{
    for (size_t i = 0; i < count; i++) free(tasks[i].params);
    free(tasks);
}

void grids_end(struct grids *q, struct mem *m)
{
    for (size_t i = 0; i < q->buffer_count; i++) mem_release(m, q->buffers[i].address);
    free(q->buffers);
    free(q->waits);
    grids_drop(q->tasks, q->count);
    *q = (struct grids){0};
}
