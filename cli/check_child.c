/* One run of the target in a process of its own, which writes events after each launch. */
#define _GNU_SOURCE
#include "cli/check_program.h"
#include "cli/check_search.h"

#include "base/arena.h"
#include "base/buf.h"
#include "cli/counts.h"
#include "cli/report.h"
#include "cli/run.h"
#include "library/device.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

struct child {
    struct event_stream *events;
    struct run_log *log;
    struct report *report;
    const struct emu_order *order; /* of all launches; NULL: that of the options */
    size_t printed;                /* of the report's text, sent so far */
};

static void before(void *self, struct emu *e, const char *kernel, struct emu_launch *launch)
{
    const struct child *c = self;
    (void)e;
    if (c->order) launch->order = c->order;
    run_log_begin_launch(c->log, kernel, launch);
}

static void tell_printed(struct child *c)
{
    const struct buf *b = &c->report->printed;
    if (b->size > c->printed) run_log_printed(c->log, b->data + c->printed, b->size - c->printed);
    c->printed = b->size;
}

static void after(void *self, struct emu *e, const char *kernel, const struct emu_launch *launch,
                  const struct emu_report *r)
{
    struct child *c = self;
    const struct launch_record l = launch_record_of(kernel, launch, r);
    tell_printed(c);
    event_totals_add(event_stream_totals(c->events), &l);
    run_log_end_launch(c->log, e, &l);
}

static void send_result(struct child *c)
{
    const struct buf *m = &c->report->messages;
    if (m->size) run_log_message(c->log, m->data);
    tell_printed(c);
    run_log_end(c->log);
    event_write(c->events, &(struct event){.kind = EVENT_END_DIGESTS,
                                           .end = {.copied = c->report->read_back}});
    event_write(c->events,
                &(struct event){.kind = EVENT_STATUS, .count = (uint64_t)c->report->status});
}

/* It ends with its parent, and what it says goes to a file. */
static void settle(const struct check_task *t)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(t->err, STDERR_FILENO);
}

bool check_run_here(const struct check *check, const struct check_task *t,
                    const struct emu_order *order)
{
    struct arena *a = arena_new();
    struct child c = {.events = t->events, .log = run_log_open(t->events), .order = order};
    struct device_watch watch = {
        .self = &c, .before = before, .after = after, .discards_files = true};
    struct run_options o = {.arena = a, .module = check->request.options->module};
    const char *checks = check->request.checks;
    if (t->checks)
        checks = arena_printf(a, "%s%s%s", checks ? checks : "", checks ? "," : "", t->checks);
    int argc;
    char **words = check_words(check, a, t->order, t->seed, checks, &o.added, &argc);
    bool ok = run_options_read(&o, argc, words);
    struct counts counts = {.list_fidelity = t->fidelity};
    struct report r = {.arena = a,
                       .json = true, /* what is printed is kept */
                       .counts = t->fidelity ? &counts : NULL,
                       .kind = run_target_name(o.kind),
                       .name = check->request.name,
                       .watch = &watch};
    c.report = &r;
    report_begin(&r);
    if (ok) run_target(&r, &o);
    else {
        struct buf text = {0};
        diags_render(&o.diags, &text);
        report_fail(&r, EXIT_USAGE, "%s", text.data);
        buf_free(&text);
    }
    event_write_fidelity(t->events, counts.fidelity);
    counts_free(&counts);
    const bool runs = run_log_writes_events(c.log);
    if (runs) send_result(&c);
    buf_free(&r.messages);
    buf_free(&r.printed);
    arena_free(a);
    return runs;
}

void check_child(const struct check *check, const struct check_task *t)
{
    if (check_of_program(check)) check_program_begin(check, t);
    settle(t);
    _exit(!check_run_here(check, t, NULL));
}
