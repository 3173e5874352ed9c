#include "cli/run_suite.h"

#include "base/arena.h"
#include "base/text.h"
#include "cli/counts.h"
#include "cli/placement_report.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/report.h"
#include "cli/run_options.h"
#include "cli/watch_report.h"

#include "cuda/device.h"
#include "determinism/orders.h"
#include "library/device.h"
#include "model/gpu_file.h"
#include "suites/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *workload_nearest(const char *name)
{
    struct text_nearest near = {.text = name, .length = strlen(name)};
    for (size_t i = 0; i < suite_count(); i++) text_nearest_try(&near, suite_at(i)->name);
    return near.best;
}

char *workload_inputs(const struct suite_workload *w)
{
    struct buf text = {0};
    buf_puts(&text, "a workload is small, medium or large");
    if (*w->inputs) buf_printf(&text, ", '%s' also ", w->name);
    for (const char *c = w->inputs; *c; c++) {
        const size_t n = strcspn(c + 1, "|"); /* of the next word: numbers are joined by ':' */
        if (*c == '|' && c[n] == '=') buf_puts(&text, ":");
        else buf_printf(&text, "%c%s", *c, *c == '=' ? "COUNT" : "");
    }
    return text.data;
}

char *workload_graph_check(const struct suite_workload *w, const char *graph)
{
    struct buf why = {0};
    if (graph && !w->wants_graph) buf_printf(&why, "'%s' takes no graph", w->name);
    else if (graph && access(graph, R_OK) != 0)
        buf_printf(&why, "cannot read '%s': %s", graph, strerror(errno));
    return why.data;
}

/* NAME[:SIZE] */
static const struct suite_workload *workload(struct run_options *o, struct suite_options *out)
{
    struct piece p = {o->target.text + 6, o->target.length - 6, o->target.at + 6};
    const char *colon = memchr(p.text, ':', p.length);
    uint32_t n = colon ? (uint32_t)(colon - p.text) : p.length;
    const char *name = arena_copy(o->arena, p.text, n);
    const char *size = colon ? arena_copy(o->arena, colon + 1, p.length - n - 1) : "";
    const struct suite_workload *w = suite_find(name);
    if (w && colon && !suite_input_read(w, size, out)) {
        char *what = workload_inputs(w);
        diag_error(&o->diags, p.at + n + 1, p.length - n - 1, "%s, not '%s'", what, size);
        free(what);
        return NULL;
    }
    if (w) return w;
    const char *near = workload_nearest(name);
    diag_error(&o->diags, p.at, n, "there is no workload '%s' ('heddle suite list' names them)",
               name);
    if (strcmp(name, "litmus") == 0 && !o->check)
        diag_note(&o->diags, p.at, n, "suite:litmus --table runs litmus tests");
    else if (near) diag_note(&o->diags, p.at, n, "did you mean '%s'?", near);
    return NULL;
}

/* cuda_watch.before */
static void before(void *self, const char *kernel, struct emu_launch *l)
{
    struct report *r = self;
    static const struct emu_observer *list[1];
    list[0] = watch_report_observer(r->watches);
    if (list[0]) {
        (void)watch_report_find(r->watches, cuda_device_emu(),
                                NULL); /* its errors are printed in the end */
        l->observers = list;
        l->observer_count = 1;
    }
    if (r->placement && r->placement->placement)
        r->placement->watch.before(r->placement, cuda_device_emu(), kernel, l);
    if (r->watch && r->watch->before)
        r->watch->before(r->watch->self, cuda_device_emu(), kernel, l);
}

/* cuda_watch.after */
static void after(void *self, const char *kernel, const struct emu_launch *l,
                  const struct emu_report *e)
{
    struct report *r = self;
    struct buf text = {0};
    if (r->watch && r->watch->after)
        r->watch->after(r->watch->self, cuda_device_emu(), kernel, l, e);
    const struct launch_record record = launch_record_of(kernel, l, e);
    const char *note = cuda_device_note();
    if (note) buf_puts(&text, note);
    launch_record_text(&record, &text);
    if (r->progress) progress_launch(r->progress, e->warp_instructions, e->seconds);
    report_launch(r, &record, text.data ? text.data : "");
    buf_free(&text);
}

/* What was run, in messages: "small", "n=4096", "cnv2_1". */
static const char *what_was_run(const struct suite_options *s)
{
    return s->input ? s->input : suite_size_name(s->size);
}

int suite_target_run(struct run_options *o, const struct heddle_device_options *device,
                     struct report *r)
{
    struct suite_options options = {.size = SUITE_SMALL, .seed = 1};
    const struct suite_workload *w = workload(o, &options);
    const struct run_option *seed = run_option_find(o, OPTION_SEED);
    const struct run_option *graph = run_option_find(o, OPTION_GRAPH);
    if (seed) (void)number_read(&o->diags, "--data-seed", seed->value, UINT64_MAX, &options.seed);
    if (graph) options.graph = arena_copy(o->arena, graph->value.text, graph->value.length);
    char *why_not = w && graph ? workload_graph_check(w, options.graph) : NULL;
    if (graph && why_not)
        diag_error(&o->diags, graph->value.at, graph->value.length, "%s", why_not);
    free(why_not);
    if (o->diags.errors) return EXIT_USAGE;
    if (!recording_begin(r->recording, device)) return r->status;
    char *why; /* nothing: the order was looked at when it was read */
    struct orders *orders = orders_new(device->order, device->seed, &why);
    struct buf why_gpu = {0}; /* likewise nothing */
    struct emu_config config = device_config(device, gpu_find(device->gpu, o->arena, &why_gpu));
    buf_free(&why_gpu);
    config.order = orders_get(orders);
    if (recording_order(r->recording)) config.order = recording_order(r->recording);
    cuda_device_configure(&config);
    cuda_device_watch(&(struct cuda_watch){.self = r,
                                           .before = before,
                                           .after = after,
                                           .quiet = true,
                                           .run_observer = r->run_observer});
    if (device->threads != 1) counts_overlap(r->counts);
    struct suite_result result = suite_run(w, &options);
    counts_settle(r->counts);
    if (watch_report_observer(r->watches)) watch_report_check_found(r->watches, cuda_device_emu());
    cuda_device_watch(NULL);
    cuda_device_reset();
    orders_free(orders);
    if (result.bad_input) report_fail(r, EXIT_USAGE, "heddle run: %s\n", result.message);
    else if (!result.passed)
        report_fail(r, EXIT_DIFFERS, "%s (%s): %s\n", w->name, what_was_run(&options),
                    result.message);
    else {
        r->read_back = result.digest;
        r->note = arena_printf(o->arena, "%s (%s): passed%s%s", w->name, what_was_run(&options),
                               *result.message ? ": " : "", result.message);
    }
    return r->status;
}
