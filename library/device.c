/* The public interface over emu/. */
#define _POSIX_C_SOURCE 200809L /* open_memstream, strdup */
#include "heddle.h"

#include "base/arena.h"
#include "base/buf.h"
#include "determinism/checks.h"
#include "determinism/orders.h"
#include "emu/counts.h"
#include "emu/emu.h"
#include "emu/files.h"
#include "emu/gpu.h"
#include "emu/order.h"
#include "emu/profile.h"
#include "emu/suppress.h"
#include "emu/unwritten.h"
#include "model/gpu_file.h"
#include "session/run_observer.h"

#include "library/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ptx_module *heddle_module_ptx(struct heddle_module *m); /* heddle.c */

struct heddle_device {
    struct emu *emu;
    struct checks *checks;
    struct orders *orders;
    char *wrong;         /* with the options' order, GPU or suppressions; NULL: nothing */
    struct arena *arena; /* what a file says of the GPU */
    struct emu_image *image;
    const struct emu_observer *observer; /* NULL: none */
    const struct emu_order *order;       /* in place of that in `orders`; NULL: that */
    char *error;
    struct buf text, leaks;
    struct launch_record last;            /* the last launch; kernel NULL: none yet */
    struct emu_profile *profile;          /* of all launches; NULL: not counting */
    const struct emu_profile_line *lines; /* of the profile, NULL: to be asked for again */
    size_t line_count;
    unsigned long long releases;
    struct device_watch watch;
    struct device_written written;
    struct device_recording recording;
    struct run_observer *run_observer; /* NULL: none */
    struct guest_files *files;         /* NULL: none */
};

/* NULL: it cannot be had, `*wrong` says why. */
static const struct emu_gpu *device_gpu(const struct heddle_device_options *o, struct arena *a,
                                        char **wrong)
{
    struct buf why = {0};
    const struct emu_gpu *g = gpu_find(o->gpu, a, &why);
    if (!g && !*wrong) *wrong = why.data;
    else buf_free(&why);
    return g;
}

struct emu_config device_config(const struct heddle_device_options *o, const struct emu_gpu *gpu)
{
    return (struct emu_config){.threads = o->threads,
                               .divergence = o->independent_threads ? EMU_ITS
                                             : o->strict_stack      ? EMU_STACK
                                                                    : EMU_YIELD,
                               .no_speculation = o->no_speculation,
                               .continue_after_faults = o->continue_after_faults,
                               .checks = (o->check_memory ? EMU_CHECK_MEMORY : 0u) |
                                         (o->check_init ? EMU_CHECK_INIT : 0u) |
                                         (o->check_bounds ? EMU_CHECK_BOUNDS : 0u) |
                                         (o->check_sync ? EMU_CHECK_SYNC : 0u) |
                                         (o->check_race ? EMU_CHECK_RACE : 0u) |
                                         (o->check_atomicity ? EMU_CHECK_ATOMICITY : 0u) |
                                         (o->check_api ? EMU_CHECK_API : 0u),
                               .count = o->count,
                               .caches = o->caches,
                               .trace = o->trace,
                               .phases = o->phases,
                               .gpu = gpu,
                               .suppress = o->suppress,
                               .max_instructions = o->max_instructions,
                               .timeout = o->timeout,
                               .memory = o->memory,
                               .print = o->print,
                               .print_self = o->print_self,
                               .progress = o->progress,
                               .progress_self = o->progress_self};
}

struct heddle_device *heddle_device_new(const struct heddle_device_options *o)
{
    static const struct heddle_device_options defaults;
    if (!o) o = &defaults;
    struct heddle_device *d = calloc(1, sizeof *d);
    if (!d) abort();
    d->arena = arena_new();
    d->orders = orders_new(o->order, o->seed, &d->wrong);
    struct emu_config c = device_config(o, device_gpu(o, d->arena, &d->wrong));
    if (!d->wrong) suppressions_free(suppressions_read(o->suppress, &d->wrong));
    if (o->files && !d->wrong) d->files = guest_files_open(o->files, o->files_bytes, &d->wrong);
    c.files = d->files;
    c.order = orders_get(d->orders);
    d->emu = emu_new(&c);
    d->checks = checks_new(c.checks);
    d->recording.order = strdup(o->order ? o->order : "native");
    d->recording.seed = o->seed;
    if (o->count || o->trace) d->profile = emu_profile_new();
    return d;
}

void heddle_device_free(struct heddle_device *d)
{
    if (!d) return;
    (void)heddle_device_recording_end(d);
    device_written_end(&d->written);
    free(d->recording.order);
    emu_unload(d->image);
    emu_free(d->emu);
    guest_files_close(d->files);
    checks_free(d->checks);
    orders_free(d->orders);
    emu_profile_free(d->profile);
    free(d->error);
    free(d->wrong);
    arena_free(d->arena);
    buf_free(&d->text);
    buf_free(&d->leaks);
    free(d);
}

/* The messages of the first module that has errors, to be freed; NULL: there is none. */
static char *errors_of(struct heddle_module *const *modules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!heddle_module_ok(modules[i])) return strdup(heddle_module_messages_text(modules[i]));
    return NULL;
}

bool heddle_device_load(struct heddle_device *d, struct heddle_module *const *modules, size_t count)
{
    struct ptx_module **list = calloc(count + 1, sizeof *list);
    if (!list) abort();
    for (size_t i = 0; i < count; i++) list[i] = heddle_module_ptx(modules[i]);
    free(d->error);
    d->error = d->wrong ? strdup(d->wrong) : errors_of(modules, count);
    if (!d->image && !d->error) d->image = emu_load(d->emu, list, count, &d->error);
    free(list);
    return d->image != NULL;
}

const char *heddle_device_error(const struct heddle_device *d)
{
    return d->error ? d->error : "";
}

uint64_t heddle_device_alloc(struct heddle_device *d, uint64_t size, const char *name)
{
    const uint64_t at = emu_alloc(d->emu, size, name);
    if (at) mem_zero(emu_memory(d->emu), at, size); /* include/heddle.h promises it */
    return at;
}

bool heddle_device_release(struct heddle_device *d, uint64_t address)
{
    char by[64], where[1024];
    snprintf(by, sizeof by, "heddle_device_release #%llu", ++d->releases);
    if (emu_release_by(d->emu, address, by)) return true;
    struct emu_allocation near;
    bool any = emu_allocation_near(d->emu, address, &near);
    emu_describe(d->emu, address, where, sizeof where);
    struct buf b = {0};
    buf_printf(&b, "%s of 0x%" PRIx64 ", %s\n%s", by, address,
               any && !near.live && near.address == address ? "which was released before"
                                                            : "where no allocation begins",
               where);
    free(d->error);
    d->error = b.data;
    return false;
}

const char *heddle_device_leaks(struct heddle_device *d, size_t *count)
{
    size_t n;
    const struct emu_finding *list = emu_leaks(d->emu, false, &n);
    d->leaks.size = 0;
    for (size_t i = 0; i < n; i++) buf_puts(&d->leaks, list[i].text);
    if (count) *count = n;
    return n ? d->leaks.data : "";
}

bool heddle_device_write(struct heddle_device *d, uint64_t to, const void *from, uint64_t size)
{
    return emu_copy_in(d->emu, to, from, size);
}

bool heddle_device_read(struct heddle_device *d, void *to, uint64_t from, uint64_t size)
{
    return emu_copy_out(d->emu, to, from, size);
}

uint64_t heddle_device_variable(struct heddle_device *d, const char *name, uint64_t *size)
{
    return d->image ? emu_variable(d->image, name, size) : 0;
}

uint64_t heddle_device_digest(struct heddle_device *d)
{
    return emu_digest(d->emu);
}

static struct emu_kernel *find(struct heddle_device *d, const char *kernel)
{
    return d->image ? emu_kernel_find(d->image, kernel) : NULL;
}

size_t heddle_device_param_count(struct heddle_device *d, const char *kernel)
{
    struct emu_kernel *k = find(d, kernel);
    return k ? emu_param_count(k) : SIZE_MAX;
}

uint32_t heddle_device_param_size(struct heddle_device *d, const char *kernel, size_t i)
{
    struct emu_kernel *k = find(d, kernel);
    return k && i < emu_param_count(k) ? emu_param_at(k, i).size : 0;
}

struct heddle_run heddle_device_launch(struct heddle_device *d, const char *kernel,
                                       const uint32_t grid[3], const uint32_t block[3],
                                       uint32_t shared, const uint64_t *args, size_t arg_count)
{
    return heddle_device_run(d, &(struct heddle_launch){.kernel = kernel,
                                                        .grid = {grid[0], grid[1], grid[2]},
                                                        .block = {block[0], block[1], block[2]},
                                                        .shared = shared,
                                                        .args = args,
                                                        .arg_count = arg_count});
}

static struct heddle_run run_of(struct heddle_device *d)
{
    const struct launch_record *l = &d->last;
    launch_record_text(l, &d->text);
    return (struct heddle_run){.fault = l->fault != EMU_OK,
                               .kind = l->fault ? emu_fault_name(l->fault) : "",
                               .line = l->fault_line,
                               .limit = launch_record_endless(l),
                               .text = d->text.size ? d->text.data : "",
                               .findings = (size_t)l->finding_count,
                               .suppressed = (size_t)l->suppressed,
                               .warp_instructions = l->warp_instructions,
                               .thread_instructions = l->thread_instructions,
                               .seconds = l->seconds};
}

/* A launch that cannot begin. */
static struct heddle_run refuse(struct heddle_device *d, const struct heddle_launch *launch,
                                const struct emu_kernel *k)
{
    struct buf why = {0};
    struct launch_record l = {
        .kernel = launch->kernel, .shared = launch->shared, .fault = EMU_BAD_LAUNCH};
    memcpy(l.grid, launch->grid, sizeof l.grid);
    memcpy(l.block, launch->block, sizeof l.block);
    memcpy(l.cluster, launch->cluster, sizeof l.cluster);
    if (!k) buf_printf(&why, "there is no kernel '%s'\n", launch->kernel);
    else
        buf_printf(&why, "kernel '%s' takes %zu arguments, not %zu\n", launch->kernel,
                   emu_param_count(k), launch->arg_count);
    l.fault_text = why.data;
    d->last = l;
    const struct heddle_run run = run_of(d);
    d->last.fault_text = run.text;
    buf_free(&why);
    return run;
}

struct heddle_run heddle_device_run(struct heddle_device *d, const struct heddle_launch *launch)
{
    struct emu_kernel *k = find(d, launch->kernel);
    d->text.size = 0;
    if (!k || launch->arg_count != emu_param_count(k)) return refuse(d, launch, k);
    uint8_t *params = calloc(1, (size_t)emu_params_size(k) + 8);
    if (!params) abort();
    for (size_t i = 0; i < launch->arg_count; i++) {
        struct emu_param p = emu_param_at(k, i);
        if (p.size > 8) memcpy(params + p.offset, (const void *)(uintptr_t)launch->args[i], p.size);
        else memcpy(params + p.offset, &launch->args[i], p.size);
    }
    struct emu_launch l = {.shared = launch->shared,
                           .params = params,
                           .params_size = emu_params_size(k),
                           .cooperative = launch->cooperative};
    memcpy(l.grid, launch->grid, sizeof l.grid);
    memcpy(l.block, launch->block, sizeof l.block);
    memcpy(l.cluster, launch->cluster, sizeof l.cluster);
    l.order = d->order;
    l.observers = &d->observer;
    l.observer_count = d->observer != NULL;
    if (d->watch.before) d->watch.before(d->watch.self, d->emu, launch->kernel, &l);
    checks_join(d->checks, &l);
    run_observer_join(d->run_observer, &l);
    const struct emu_report *r = emu_launch(d->emu, k, &l);
    if (d->watch.after) d->watch.after(d->watch.self, d->emu, launch->kernel, &l, r);
    free(params);
    d->last = launch_record_of(emu_kernel_name(k), &l, r);
    d->lines = NULL;
    if (r->counts) emu_profile_add(d->profile, r->counts);
    const char *note = checks_note(d->checks);
    if (note) buf_puts(&d->text, note);
    return run_of(d);
}

void device_watch(struct heddle_device *d, const struct device_watch *w)
{
    d->watch = w ? *w : (struct device_watch){0};
    if (d->watch.discards_files && d->files) guest_files_discard(d->files);
}

/* ---- counts ------------------------------------------------------------------------------------------ */

void device_observe(struct heddle_device *d, const struct emu_observer *o)
{
    d->observer = o;
}

void device_set_run_observer(struct heddle_device *d, struct run_observer *o)
{
    d->run_observer = o;
    run_observer_device(o, d->emu);
}

void device_set_order(struct heddle_device *d, const struct emu_order *o)
{
    d->order = o;
    if (o) mem_fill_unwritten(emu_memory(d->emu), o->unwritten); /* that of a recording */
}

const struct emu_order *device_order(const struct heddle_device *d)
{
    return orders_get(d->orders);
}

struct device_written *device_written(struct heddle_device *d)
{
    return &d->written;
}

struct device_recording *device_recording(struct heddle_device *d)
{
    return &d->recording;
}

void device_set_error(struct heddle_device *d, char *why)
{
    free(d->error);
    d->error = why;
}

struct emu *device_emu(struct heddle_device *d)
{
    return d->emu;
}

const struct launch_record *device_launched(const struct heddle_device *d)
{
    return &d->last;
}

struct wanted {
    const char *name;
    uint64_t sum;
    bool found;
};
static void look(void *self, const char *name, uint64_t value)
{
    struct wanted *w = self;
    if (strcmp(name, w->name) != 0) return;
    w->sum += value;
    w->found = true;
}

bool heddle_device_count(struct heddle_device *d, const char *name, uint64_t *value)
{
    struct wanted w = {.name = name};
    for (const struct emu_counts *c = d->last.counts; c; c = c->next) {
        for (size_t i = 0; i < c->number_count; i++)
            look(&w, c->numbers[i].name, c->numbers[i].value);
        for (size_t i = 0; i < c->phase_count; i++)
            emu_counts_visit(&c->phases[i].total, c->caches, look, &w);
    }
    if (w.found) *value = w.sum;
    return w.found;
}

char *heddle_device_counts(struct heddle_device *d)
{
    char *text = NULL;
    size_t size;
    if (!d->last.counts) return NULL;
    FILE *f = open_memstream(&text, &size);
    if (!f) abort();
    struct emu_counts_writer w;
    emu_counts_begin(&w, f);
    emu_counts_add(&w, d->last.counts);
    (void)emu_counts_end(&w);
    (void)fclose(f);
    return text;
}

size_t heddle_device_line_count(struct heddle_device *d)
{
    if (!d->profile) return 0;
    if (!d->lines) d->lines = emu_profile_lines(d->profile, &d->line_count);
    return d->line_count;
}

struct heddle_line heddle_device_line(struct heddle_device *d, size_t i)
{
    if (i >= heddle_device_line_count(d)) return (struct heddle_line){.file = ""};
    const struct emu_profile_line *l = &d->lines[i];
    return (struct heddle_line){.file = l->file,
                                .line = l->line,
                                .warp_instructions = l->warp,
                                .thread_instructions = l->thread,
                                .divergent = l->divergent,
                                .accesses = l->accesses,
                                .bytes = l->bytes,
                                .sectors = l->sectors,
                                .shared_accesses = l->shared,
                                .passes = l->passes,
                                .collisions = l->collisions,
                                .l1_sectors = l->cache.l1,
                                .l1_hits = l->cache.l1_hits,
                                .l2_sectors = l->cache.l2_loads,
                                .l2_hits = l->cache.l2_load_hits};
}

size_t heddle_gpu_count(void)
{
    return emu_gpu_count();
}

struct heddle_gpu heddle_gpu(size_t i)
{
    const struct emu_gpu *g = emu_gpu_at(i);
    return (struct heddle_gpu){g->name, g->title, g->capability, g->sms};
}

char *heddle_gpu_check(const char *gpu)
{
    struct arena *a = arena_new();
    struct buf why = {0};
    const bool ok = gpu_find(gpu, a, &why) != NULL;
    arena_free(a);
    if (!ok) return why.data;
    buf_free(&why);
    return NULL;
}
