/* emu_launch(): a launch by the host and all grids that its kernels launch.
 *
 * For each grid: check sizes and limits, lower the kernel for the order and observers, set up the
 * machine (struct emu_machine), and run it: with speculation (emu/speculate/) if that applies and
 * succeeds, else with emu/sched/. Then add its counters to the report, and run its child grids
 * (child_grids.h), depth first. */
#define _GNU_SOURCE
#include "emu/device/device.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "emu/atomic.h"
#include "emu/device/check.h"
#include "emu/device/check_grids.h"
#include "emu/device/child_grids.h"
#include "emu/files.h"
#include "emu/machine_code.h"
#include "emu/measure/cache.h"
#include "emu/measure/count.h"
#include "emu/measure/report.h"
#include "emu/ops/memops.h"
#include "emu/order_fast.h"
#include "emu/speculate/speculation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_HEAP = 8 << 20 };

static const struct emu_report *refuse(struct emu *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const struct emu_report *refuse(struct emu *e, const char *format, ...)
{
    char text[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    e->report.fault.kind = EMU_BAD_LAUNCH;
    e->report.fault.text = arena_printf(e->launch_arena, "%s: %s\n", emu_fault_name(EMU_BAD_LAUNCH),
                                        text);
    return &e->report;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The caches. L1 has what the shared memory of a fully occupied SM leaves. */
static struct caches *caches_new(struct emu *e, const struct emu_machine *m,
                                 const struct emu_occupancy *o, struct arena *a)
{
    struct caches *c = arena_alloc(a, sizeof *c);
    const u32 used = o->ctas * m->shared_size, left = e->gpu->l1 > used ? e->gpu->l1 - used : 0;
    if (!e->l1) e->l1 = calloc(e->sms, sizeof(struct cache *));
    if (!e->l1) abort();
    if (!e->l2) e->l2 = cache_new(e->gpu->l2, e->gpu->l2_ways);
    *c = (struct caches){.gpu = e->gpu,
                         .l1_bytes = e->gpu->unified ? left : e->gpu->l1,
                         .sms = m->sms,
                         .l1 = e->l1,
                         .l1_begun = arena_array(a, bool, m->sms),
                         .l2 = e->l2,
                         .sm = arena_array(a, struct cache_events, m->sms),
                         .site = arena_array(a, struct cache_events, m->program->site_count),
                         .site_count = m->program->site_count,
                         .carry_out = m->counting->carry_out};
    for (u32 i = 1; i < m->program->site_count && e->config.trace && !c->atomics; i++)
        if (m->program->sites[i].kind == SITE_ATOMIC)
            c->atomics = arena_array(e->launch_arena, u64, TRACE_ATOMIC_BUCKETS);
    return c;
}

static const unsigned order_wants = EMU_WANT_LOADS | EMU_WANT_STORES | EMU_WANT_SHARED |
                                    EMU_WANT_LATE_LOADS; /* without fast paths */

/* What the launch's order asks to be called for: enum emu_want, enum emu_fast_want. */
static unsigned wants_of(const struct emu_launch *l, struct emu_kernel *k)
{
    const struct emu_order *o = l->order;
    const struct emu_config *config = &k->image->emu->config;
    if (!o) return 0;
    /* A launch that goes on after wrong accesses could not be rolled back when it meets one. */
    const bool plain = config->no_speculation || config->continue_after_faults;
    unsigned wants = o->wants;
    const bool lane_accesses_only = emu_kernel_plain(k);
    if (o->fast && o->fast->wants)
        wants = o->fast->wants(
            o->self, &(struct emu_launch_traits){.counted = config->count,
                                                 .observed = l->observer_count || o->wrapper,
                                                 .lane_accesses_only = lane_accesses_only,
                                                 .has_narrow_atomics = k->has_narrow_atomics,
                                                 .speculates = !plain});
    return plain ? wants & order_wants : wants;
}

static const u32 most_grid[3] = {INT32_MAX, 65535, 65535}, most_block[3] = {1024, 1024, 64};

struct counts_list {
    const struct emu_counts *first, **last; /* last: where the next one goes */
};

struct grid_tree {      /* a launch by the host and all child grids */
    struct grids grids; /* the first member: run_nested() finds the tree by it */
    struct emu *emu;
    const struct emu_launch *host;
    /* Counters of grids that the grid that runs has waited for: they come behind its own, when it has ended. */
    struct counts_list nested;
    struct emu_nesting next; /* how the grid that begins next was launched */
    struct check check;
    double deadline; /* 0: none */
    u64 warp_instructions, thread_instructions;
    const struct emu_counts **last_counts; /* where the counters of the next grid go */
};

static bool ignore_data(const struct emu_launch *l)
{
    for (size_t i = 0; i < l->observer_count; i++)
        if (!l->observers[i]->ignores_data) return false;
    return true;
}

/* The shared memory of a CTA without the system's part, in bytes. */
static u64 own_shared(const struct emu_program *p, u32 dynamic)
{
    return dynamic ? (u64)p->shared_dynamic + dynamic : p->shared_static;
}

static u32 with_reserved(const struct emu_program *p, u32 own)
{
    return p->reserves ? (own + 15) / 16 * 16 + MEM_RESERVED_SHARED : own;
}

/* Checks the launch against the limits of CUDA, the kernel and the GPU. NULL: ok; else the report
 * with the error. */
static const struct emu_report *check_sizes(struct emu *e, struct emu_kernel *k,
                                            const struct emu_launch *l,
                                            const struct emu_kernel_info *info, u64 shared,
                                            u64 *threads, u64 *ctas)
{
    *threads = *ctas = 1;
    for (int i = 0; i < 3; i++) {
        if (l->grid[i] == 0 || l->grid[i] > most_grid[i])
            return refuse(e, "grid of %u x %u x %u CTAs: %s", l->grid[0], l->grid[1], l->grid[2],
                          l->grid[i] ? "at most 2147483647 x 65535 x 65535"
                                     : "no dimension may be 0");
        if (l->block[i] == 0 || l->block[i] > most_block[i])
            return refuse(e, "block of %u x %u x %u threads: %s", l->block[0], l->block[1],
                          l->block[2],
                          l->block[i] ? "at most 1024 x 1024 x 64" : "no dimension may be 0");
        *threads *= l->block[i];
        *ctas *= l->grid[i];
    }
    if (*threads > info->max_threads)
        return refuse(e, "block of %llu threads: kernel '%s' takes at most %u",
                      (unsigned long long)*threads, k->name, info->max_threads);
    if (info->required_block[0])
        for (int i = 0; i < 3; i++)
            if (l->block[i] != info->required_block[i])
                return refuse(e, "block of %u x %u x %u threads: kernel '%s' needs %u x %u x %u",
                              l->block[0], l->block[1], l->block[2], k->name,
                              info->required_block[0], info->required_block[1],
                              info->required_block[2]);
    if (*ctas > UINT32_MAX / 2)
        return refuse(e, "grid of %llu CTAs is too large", (unsigned long long)*ctas);
    if (l->params_size != k->params.size)
        return refuse(e, "kernel '%s' takes %u bytes of parameters, not %u", k->name,
                      k->params.size, l->params_size);
    if (shared > emu_gpu_shared_limit(e->gpu))
        return refuse(e, "%llu bytes of shared memory: a CTA on GPU %s has at most %u",
                      (unsigned long long)shared, e->gpu->name, emu_gpu_shared_limit(e->gpu));
    if (emu_kernel_lacks_registers(k, (u32)*threads))
        return refuse(e,
                      "block of %llu threads with about %u registers each: an SM of GPU %s has %u "
                      "(__launch_bounds__ makes a compiler use fewer)",
                      (unsigned long long)*threads, info->registers, e->gpu->name,
                      e->gpu->registers);
    return NULL;
}

/* Sets the cluster's shape from the launch or the kernel. NULL: ok; else the report with the
 * error. */
static const struct emu_report *set_clusters(struct emu *e, struct emu_machine *m,
                                             const struct emu_kernel_info *info)
{
    const struct emu_launch *l = m->launch;
    m->cluster_size = 1;
    m->explicit_cluster = l->cluster[0] || info->cluster[0];
    for (int i = 0; i < 3; i++) {
        m->cluster[i] = l->cluster[0] ? l->cluster[i] : info->cluster[0] ? info->cluster[i] : 1;
        if (!m->cluster[i]) m->cluster[i] = 1;
    }
    for (u32 i = 0; i < 3; i++) {
        if (m->cluster[i] > 16 || l->grid[i] % m->cluster[i])
            return refuse(e, "clusters of %u x %u x %u CTAs do not fill the grid", m->cluster[0],
                          m->cluster[1], m->cluster[2]);
        m->cluster_size *= m->cluster[i];
    }
    if (m->cluster_size > 16) return refuse(e, "clusters of %u CTAs: at most 16", m->cluster_size);
    return NULL;
}

/* Whether the order can run on this machine. NULL: ok; else the report with the error. */
static const struct emu_report *check_order(struct emu *e, const struct emu_machine *m)
{
    const struct emu_order *o = m->launch->order;
    if (o && o->stack_only && m->threads.its) return refuse(e, EMU_STACK_ONLY, o->name);
    if (o && m->cluster_size > m->slots_per_sm * m->sms)
        return refuse(e, "clusters of %u CTAs: %u CTAs can be resident", m->cluster_size,
                      m->slots_per_sm * m->sms);
    return NULL;
}

/* Parameters, and the workspace of a cooperative launch. Grids run one after the other, but for those that stand still (run_nested),
 * and have one place for their parameters: clearing a new one took a third of the time of an empty launch. */
static void set_params(struct emu *e, struct emu_machine *m)
{
    const struct emu_launch *l = m->launch;
    if (!e->params && !(e->params = calloc(1, MEM_MAX_PARAMS + 64))) abort();
    if (e->params_used) memset(e->params, 0, e->params_used);
    m->params = e->params;
    e->params_used = l->params_size;
    if (l->params_size) memcpy(m->params, l->params, l->params_size);
    if (l->cooperative) {
        static const u32 workspace[2] = {8, 0};
        m->grid_workspace = emu_alloc(e, 8, "workspace of a cooperative launch");
        emu_copy_in(e, m->grid_workspace, workspace, sizeof workspace);
    }
}

/* Sets up phases and traces, if they are requested. */
static void set_up_phases(struct emu *e, struct emu_machine *m, struct emu_program *program,
                          struct arena *a)
{
    const struct emu_launch *l = m->launch;
    if (e->config.count && e->config.phases && l->order)
        m->phases = launch_phases_new(a, program, e->sms);
    if (e->config.trace && !l->observer_count) {
        m->trace = arena_alloc(e->launch_arena, sizeof *m->trace);
        if (!e->traces.cta_arena) trace_arena_begin(&e->traces, cta_arena_sibling(e->cta_arena));
        if (!program->traced) program->traced = trace_code_new(m->loaded->arena, program);
        trace_plan(m->trace, &e->traces, m, e->gpu);
    }
}

/* As its order has it, lowering to its observers. */
static void run_observed(struct emu *e, struct emu_machine *m, struct arena *a,
                         struct launch_counts *counts)
{
    const struct emu_launch *l = m->launch;
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->begin) l->observers[i]->begin(l->observers[i]->self, m);
    launch_run(m, &e->config, a, e->config.threads, &e->report.fault, counts);
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->end) l->observers[i]->end(l->observers[i]->self);
}

/* Adds the counters of the grid to the report. */
static void keep_counts(struct emu *e, struct emu_kernel *k, struct emu_machine *m,
                        const struct emu_occupancy *occupancy, struct launch_counts *counts,
                        enum emu_execution path, struct grid_tree *tree,
                        const struct emu_nesting *nesting)
{
    const struct grids *q = &tree->grids;
    struct emu_counts *c = emu_counts_make(e->launch_arena, m, e->gpu, occupancy, counts);
    struct emu_grid_wait *waits = arena_array(e->launch_arena, struct emu_grid_wait, q->wait_count);
    if (q->wait_count) memcpy(waits, q->waits, q->wait_count * sizeof *waits);
    c->nesting = *nesting;
    c->waits = waits;
    c->wait_count = q->wait_count;
    c->execution = emu_execution_name(path);
    if (m->trace) {
        struct emu_trace *trace = trace_end(e->launch_arena, m->trace, m);
        trace->again = k->ran;
        c->trace = trace;
    }
    k->ran = true;
    *tree->last_counts = c;
    tree->last_counts = &c->next;
    if (!tree->nested.first) return;
    c->next = tree->nested.first;
    tree->last_counts = tree->nested.last;
    tree->nested = (struct counts_list){0};
}

static const struct emu_report *launch_grid(struct emu *e, struct emu_kernel *k,
                                            const struct emu_launch *l, struct grid_tree *tree,
                                            struct arena *a)
{
    const bool watched = l->order || l->observer_count;
    struct emu_nesting nesting = tree->next;
    nesting.number = tree->grids.running = tree->grids.begun++;
    tree->grids.wait_count = 0;
    const bool its = e->config.divergence == EMU_ITS;
    const bool stack_only = l->order && l->order->stack_only;
    const unsigned wants = wants_of(l, k), lowering = emu_kernel_lowering(l, wants, its);
    /* It may be that no other is needed. */
    struct emu_program *program = emu_kernel_program(
        k, speculation_applies(e, k, l, wants) && !e->config.count ? LOWER_TAGGED : lowering);
    struct emu_kernel_info info;
    if (!program || !emu_kernel_info(k, &info))
        return refuse(e, "kernel '%s': %s", k->name, k->failed);
    u64 threads, ctas;
    const u64 shared = own_shared(program, l->shared);
    const struct emu_report *refused = check_sizes(e, k, l, &info, shared, &threads, &ctas);
    if (refused) return refused;
    struct emu_machine m = {
        .emu = e,
        .check = &tree->check,
        .grids = &tree->grids,
        .loaded = k->image,
        .deadline = tree->deadline,
        .spent = tree->warp_instructions,
        .program = program,
        .launch = l,
        .mem = e->mem,
        .cta_arena = e->cta_arena,
        .image = k->image->image,
        .params_size = l->params_size,
        .threads_per_cta = (u32)threads,
        .warps_per_cta = (u32)(threads + LANES - 1) / LANES,
        .cta_count = (u32)ctas,
        .shared_size = with_reserved(program, (u32)shared),
        .shared_own = (u32)shared,
        .grid_id = ++e->grids,
        .sms = e->sms,
        .heap = {.used = &e->heap_used,
                 .size = e->config.heap ? e->config.heap : DEFAULT_HEAP,
                 .survives_bad_frees = (e->config.checks & EMU_CHECK_MEMORY) != 0},
        .threads = {.its = its, .yields = program->yields && !stack_only},
        .steps = {.watched = watched,
                  .blind = ignore_data(l),
                  .issues = l->order ? emu_launch_step(l, its) == EMU_STEP_INSTRUCTION
                                     : lowering & LOWER_ISSUES,
                  .step = (u8)emu_launch_step(l, its),
                  .wants = wants},
        .counting = e->handlers.counting};
    m.group_warps = l->order || !m.steps.blind || lowering & LOWER_ISSUES || m.threads.its ||
                            program->launches || program->has_files
                        ? 1
                        : e->config.group_warps;
    if ((refused = set_clusters(e, &m, &info))) return refused;
    struct emu_occupancy occupancy = emu_occupancy(e->gpu, m.threads_per_cta, info.registers,
                                                   m.shared_own);
    if (e->config.count && e->config.caches) m.caches = caches_new(e, &m, &occupancy, a);
    struct launch_counts *counts = arena_alloc(a, sizeof *counts);
    counts->arena = a;
    counts->sms = e->sms;
    m.slots_per_sm = occupancy.ctas ? occupancy.ctas : 1;
    m.schedulers = e->gpu->schedulers;
    m.narrow_banks = e->gpu->shared_banks < LANES;
    if ((refused = check_order(e, &m))) return refused;
    set_params(e, &m);
    set_up_phases(e, &m, program, a);
    enum emu_execution path = speculation_run(e, k, &m, counts);
    if (path == EMU_NATIVE || path == EMU_ROLLED_BACK) {
        if (path == EMU_NATIVE && l->order) path = EMU_ORDERED;
        m.program = emu_kernel_program(k, lowering);
        if (!m.program) return refuse(e, "kernel '%s': %s", k->name, k->failed);
        run_observed(e, &m, a, counts);
    }
    if (!tree->grids.depth) e->report.execution = path;
    cta_arena_reset(e->cta_arena);
    if (m.grid_workspace) emu_release(e, m.grid_workspace);
    tree->warp_instructions += counts->instructions;
    tree->thread_instructions += counts->thread_instructions;
    if (e->config.count) keep_counts(e, k, &m, &occupancy, counts, path, tree, &nesting);
    return &e->report;
}

static u64 digest_of(u64 h, const void *data, size_t n)
{
    const u8 *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

const struct trace_code *emu_machine_code(struct emu_machine *m)
{
    struct emu_program *p = (struct emu_program *)m->program;
    if (!p->traced) p->traced = trace_code_new(m->loaded->arena, p);
    return p->traced;
}

struct emu_machine_size emu_machine_size(const struct emu_machine *m)
{
    struct emu_machine_size s = {.shared = m->shared_own};
    memcpy(s.grid, m->launch->grid, sizeof s.grid);
    memcpy(s.block, m->launch->block, sizeof s.block);
    return s;
}

void emu_machine_identity(struct emu_machine *m, struct emu_identity *out)
{
    const struct emu_launch *l = m->launch;
    const struct ptx_program *p = m->image->program;
    const u64 start = UINT64_C(0xcbf29ce484222325);
    *out = (struct emu_identity){.kernel = emu_machine_kernel(m),
                                 .gpu = m->emu->gpu->name,
                                 .shared = l->shared,
                                 .sms = m->sms,
                                 .slots = m->sms * m->slots_per_sm,
                                 .cooperative = l->cooperative,
                                 .its = m->threads.its,
                                 .program = start,
                                 .params = digest_of(start, l->params, l->params_size),
                                 .memory = emu_digest(m->emu)};
    memcpy(out->grid, l->grid, sizeof out->grid);
    memcpy(out->block, l->block, sizeof out->block);
    memcpy(out->cluster, m->cluster, sizeof out->cluster);
    for (size_t i = 0; i < p->count; i++) {
        const struct source *s = p->modules[i]->source;
        out->program = digest_of(out->program, s->text, s->length);
    }
}

/* ---- grids that kernels launch
 * --------------------------------------------------------------------- */

struct emu_kernel *grids_kernel(const struct emu_machine *m, u64 address)
{
    if (address < MEM_CODE || address % 16) return NULL;
    const struct ptx_func *func = image_func_at(m->image, (address - MEM_CODE) / 16).func;
    if (func && func->definition) func = func->definition;
    for (size_t i = 0; func && i < m->loaded->kernel_count; i++)
        if (m->loaded->kernels[i].func == func) return &m->loaded->kernels[i];
    return NULL;
}

const char *grids_check(const struct emu_machine *m, struct emu_kernel *k, const u32 grid[3],
                        const u32 block[3], u32 shared, u32 *error)
{
    enum { INVALID_CONFIGURATION = 9 }; /* cudaErrorInvalidConfiguration */
    struct emu_kernel_info info;
    *error = 0;
    const struct emu_program *p = emu_kernel_program(
        k, emu_kernel_lowering(m->launch, m->steps.wants, m->threads.its));
    if (!p || !emu_kernel_info(k, &info)) return k->failed;
    if (k->params.size > GRIDS_PARAMS) return "a kernel with more than 4096 bytes of parameters";
    bool ok = true;
    u64 threads = 1, ctas = 1;
    for (int i = 0; i < 3; i++) {
        ok &= grid[i] && grid[i] <= most_grid[i] && block[i] && block[i] <= most_block[i];
        ok &= !info.required_block[0] || block[i] == info.required_block[i];
        ok &= !info.cluster[i] || grid[i] % info.cluster[i] == 0;
        threads *= block[i];
        ctas *= grid[i];
    }
    ok = ok && threads <= info.max_threads && ctas <= UINT32_MAX / 2;
    ok &= own_shared(p, shared) <= emu_gpu_shared_limit(m->emu->gpu);
    *error = ok ? 0 : INVALID_CONFIGURATION;
    return ok ? NULL : "an impossible configuration";
}

static bool run_tasks(struct emu *e, const struct emu_launch *host, struct grid_tree *tree);

/* false: the launch ends here, with a fault. */
static bool run_one(struct emu *e, const struct grid_task *t, const struct emu_launch *host,
                    struct grid_tree *tree)
{
    struct emu_fault *f = &e->report.fault;
    struct arena *a = arena_new(), *whole = e->launch_arena;
    if (t->kernel) {
        struct emu_launch l = {.shared = t->shared,
                               .params = t->params,
                               .params_size = t->kernel->params.size,
                               .order = host->order,
                               .observers = host->observers,
                               .observer_count = host->observer_count};
        memcpy(l.grid, t->grid, sizeof l.grid);
        memcpy(l.block, t->block, sizeof l.block);
        tree->next = t->nesting;
        launch_grid(e, t->kernel, &l, tree, a);
    } else if (!(t->fills ? emu_fill(e, t->to, &t->value, 1, t->size)
                          : emu_copy(e, t->to, t->from, t->size))) {
        u64 at = emu_bytes(e, t->to, t->size) ? t->from : t->to;
        struct buf where = {0};
        mem_describe(e->mem, at, &where);
        *f = (struct emu_fault){.kind = EMU_OUT_OF_BOUNDS, .address = at};
        f->text = arena_printf(
            whole, "%s: %s of %llu bytes at 0x%llx by the device runtime\n%s",
            emu_fault_name(f->kind), t->fills ? "cudaMemsetAsync" : "cudaMemcpyAsync",
            (unsigned long long)t->size, (unsigned long long)at, where.data ? where.data : "");
        buf_free(&where);
    }
    bool ok = f->kind == EMU_OK;
    if (!ok) f->text = arena_printf(whole, "%s  launched by %s\n", f->text, t->by);
    arena_free(a);
    return ok && run_tasks(e, host, tree);
}

/* The same, and reports races between grids. */
static bool run_task(struct emu *e, const struct grid_task *t, const struct emu_launch *host,
                     struct grid_tree *tree)
{
    struct check_grids *const k = t->kernel ? tree->grids.check : NULL;
    const u32 outer = k ? check_grids_enter(k, t->number) : 0;
    const bool ok = run_one(e, t, host, tree);
    if (k) check_grids_leave(k, outer);
    return ok;
}

/* Runs the child grids of the grid that has just ended, depth first, up to GRIDS_DEPTH levels. */
static bool run_tasks(struct emu *e, const struct emu_launch *host, struct grid_tree *tree)
{
    size_t n;
    if (!tree->grids.count) return true;
    struct grid_task *tasks = grids_take(&tree->grids, host->order, &n);
    bool ok = true;
    tree->grids.depth++;
    for (size_t i = 0; i < n && ok; i++) {
        ok = run_task(e, &tasks[i], host, tree);
        tree->grids.pending--;
    }
    tree->grids.depth--;
    grids_drop(tasks, n);
    return ok;
}

/* grids.run_nested. The CTA arena of the grid that stands still keeps its CTAs, so the nested grids have another one, and another
 * place for parameters. */
static struct emu_fault run_nested(struct grids *q, const struct grid_task *tasks, size_t count)
{
    struct grid_tree *tree = (struct grid_tree *)q;
    struct emu *e = tree->emu;
    struct cta_arena *const outer_arena = e->cta_arena;
    u8 *const outer_params = e->params;
    const u32 outer_params_used = e->params_used;
    const struct emu_counts **const outer_last = tree->last_counts;
    const struct counts_list outer_nested = tree->nested;
    struct counts_list counts = {.last = &counts.first};
    const struct emu_launch *const outer_host = tree->host;
    struct emu_launch host = *outer_host;
    if (host.order) host.order = host.order->nested(host.order->nested_of);
    const struct emu_observer **observers = arena_array(
        e->launch_arena, const struct emu_observer *, host.observer_count);
    for (size_t i = 0; i < host.observer_count; i++)
        observers[i] = host.observers[i]->nested(host.observers[i]->self);
    host.observers = observers;
    bool ok = true;
    tree->host = &host;
    e->cta_arena = cta_arena_new();
    e->params = NULL;
    e->params_used = 0;
    tree->last_counts = &counts.first;
    tree->nested = (struct counts_list){0};
    q->depth++;
    for (size_t i = 0; i < count; i++) {
        ok = ok && run_task(e, &tasks[i], tree->host, tree);
        q->pending--;
    }
    q->depth--;
    counts.last = tree->last_counts;
    tree->host = outer_host;
    for (size_t i = 0; i < outer_host->observer_count; i++) {
        const struct emu_observer *const o = outer_host->observers[i];
        if (o->resumed) o->resumed(o->self);
    }
    tree->last_counts = outer_last;
    tree->nested = outer_nested;
    if (counts.first) {
        if (tree->nested.first) *tree->nested.last = counts.first;
        else tree->nested.first = counts.first;
        tree->nested.last = counts.last;
    }
    cta_arena_free(e->cta_arena);
    e->cta_arena = outer_arena;
    free(e->params);
    e->params = outer_params;
    e->params_used = outer_params_used;
    const struct emu_fault fault = e->report.fault;
    e->report.fault = (struct emu_fault){0}; /* launch_run() sets that of the grid that goes on */
    return fault;
}

/* Writes the files that the launch has changed, also if it ended with a fault. */
static void commit_files(struct emu *e)
{
    char *why = e->config.files ? guest_files_commit(e->config.files) : NULL;
    if (why && e->report.fault.kind == EMU_OK)
        e->report.fault = (struct emu_fault){
            .kind = EMU_BAD_FILE,
            .text = arena_printf(e->launch_arena, "%s: %s", emu_fault_name(EMU_BAD_FILE), why)};
    free(why);
}

/* Whether kernels of the program may launch grids. */
static bool may_launch(const struct emu_kernel *k)
{
    static const char *const names[] = {"cudaLaunchDevice", "__cudaCDP2LaunchDevice"};
    const struct ptx_program *p = k->image->image->program;
    for (size_t i = 0; i < p->count; i++)
        for (size_t f = 0; f < p->modules[i]->func_count; f++)
            for (size_t n = 0; n < 2; n++) {
                const struct ptx_name *name = p->modules[i]->funcs[f]->sym->name;
                const size_t length = strlen(names[n]);
                if (name->length >= length && memcmp(name->text, names[n], length) == 0)
                    return true;
            }
    return false;
}

/* Checks that are observers come before the caller's observers. */
static void join_checks(struct emu *e, const struct emu_kernel *k, struct grid_tree *tree,
                        struct emu_launch *l)
{
    struct arena *a = e->launch_arena;
    const bool grids = e->config.checks & EMU_CHECK_RACE && may_launch(k);
    if (!grids && !(e->config.checks & (EMU_CHECK_INIT | EMU_CHECK_BOUNDS))) return;
    const struct emu_observer **list = arena_array(a, const struct emu_observer *,
                                                   l->observer_count + 3);
    size_t n = 0;
    if (e->config.checks & EMU_CHECK_INIT)
        list[n++] = check_init_observer(check_init_new(a, &tree->check));
    if (e->config.checks & EMU_CHECK_BOUNDS) list[n++] = check_bounds_observer(a, &tree->check);
    if (grids) {
        tree->grids.check = check_grids_new(a, &tree->check);
        list[n++] = check_grids_observer(tree->grids.check);
    }
    for (size_t i = 0; i < l->observer_count; i++) list[n++] = l->observers[i];
    l->observers = list;
    l->observer_count = n;
}

const struct emu_report *emu_launch(struct emu *e, struct emu_kernel *k, const struct emu_launch *l)
{
    double start = seconds();
    emu_drop_launch(e);
    struct arena *a = e->launch_arena = arena_new();
    e->report = (struct emu_report){0};
    struct grid_tree tree = {.check = {.arena = a, .suppressions = e->suppressions},
                             .last_counts = &e->report.counts,
                             .emu = e,
                             .grids = {.run_nested = run_nested},
                             .deadline = e->config.timeout > 0 ? start + e->config.timeout : 0};
    struct emu_launch watched_launch = *l;
    if (!l->order) watched_launch.order = e->config.order;
    join_checks(e, k, &tree, &watched_launch);
    l = &watched_launch;
    tree.host = l;
    launch_grid(e, k, l, &tree, a);
    if (e->report.fault.kind == EMU_OK) run_tasks(e, l, &tree);
    struct check_grids *const between = tree.grids.check;
    grids_end(&tree.grids, e->mem);
    check_grids_free(between);
    commit_files(e);
    e->report.suppressed = check_end(&tree.check);
    e->report.findings = tree.check.list;
    e->report.finding_count = tree.check.count;
    e->report.warp_instructions = tree.warp_instructions;
    e->report.thread_instructions = tree.thread_instructions;
    e->report.seconds = seconds() - start;
    return &e->report;
}
