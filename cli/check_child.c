/* One run of the target in a process of its own, looked at after every launch. */
#define _GNU_SOURCE
#include "cli/check.h"
#include "cli/check_part.h"
#include "cli/check_record.h"

#include "base/arena.h"
#include "base/buf.h"
#include "cli/report.h"
#include "cli/run.h"
#include "heddle_device.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MOST_MESSAGES = 1 << 16, MOST_KERNELS = 1 << 12 };

struct child {
    const struct check_task *task;
    struct arena *arena;
    struct report *report;
    struct buf launches, kernels, findings;
    const char *names[MOST_KERNELS];
    size_t name_count, launch_count, seen, finding_count;
    uint64_t memory, printed; /* digests: after the last launch; of all text so far */
    size_t printed_size;
    struct check_fault fault;
    uint64_t last_digest;
    struct writers *writers; /* NULL: nobody asked */
};

static void put(struct buf *b, uint64_t n)
{
    buf_add(b, (const char *)&n, sizeof n);
}

static void put_text(struct buf *b, const char *text)
{
    buf_add(b, text ? text : "", (text ? strlen(text) : 0) + 1);
}

static void write_all(int file, const struct buf *b)
{
    for (size_t done = 0; done < b->size;) {
        ssize_t n = write(file, b->data + done, b->size - done);
        if (n <= 0) break;
        done += (size_t)n;
    }
}

/* A kernel's number; those beyond the most that are told apart share the last. */
static uint64_t kernel_number(struct child *c, const char *kernel)
{
    for (size_t i = c->name_count; i-- > 0;)
        if (strcmp(c->names[i], kernel) == 0) return i;
    if (c->name_count == MOST_KERNELS) return MOST_KERNELS - 1;
    c->names[c->name_count] = arena_copy(c->arena, kernel, strlen(kernel));
    return c->name_count++;
}

static uint64_t printed(struct child *c)
{
    const struct buf *b = &c->report->printed;
    for (; c->printed_size < b->size; c->printed_size++)
        c->printed = (c->printed ^ (unsigned char)b->data[c->printed_size]) *
                     UINT64_C(0x100000001b3);
    return c->printed;
}

static void find(struct child *c, const struct emu_report *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct emu_finding *f = &r->findings[i];
        struct buf *b = &c->findings;
        if (f->kind != EMU_RACE && f->kind != EMU_MIXED) continue;
        put(b, f->kind == EMU_RACE);
        put(b, f->kind == EMU_MIXED);
        put(b, f->count);
        put(b, f->line);
        put(b, f->line2);
        put(b, f->source_line);
        put(b, f->source_line2);
        put_text(b, f->source_file);
        put_text(b, f->source_file2);
        put_text(b, f->text);
        c->finding_count++;
    }
}

static void before(void *self, struct emu *e, const char *kernel, struct emu_launch *launch)
{
    static const struct emu_observer *list[1];
    struct child *c = self;
    (void)e, (void)kernel;
    if (!c->writers) return;
    list[0] = writers_observer(c->writers);
    launch->observers = list; /* there are no others: checks join later */
    launch->observer_count = 1;
}

/* The launch that was waited for has ended. */
static void work(struct child *c, struct emu *e, uint64_t digest)
{
    const struct check_task *t = c->task;
    if (t->work == WORK_SNAPSHOT) part_write_snapshot(e, &c->report->printed, digest, t->out);
    else part_write_writers(c->writers, t->places, t->place_count, t->first, digest, t->out);
    _exit(0);
}

static void after(void *self, struct emu *e, const char *kernel, const struct emu_launch *launch,
                  const struct emu_report *r)
{
    struct child *c = self;
    (void)launch;
    c->memory = emu_digest(e);
    uint64_t digest = record_mix(c->memory, printed(c));
    if (c->seen++ < MOST_LAUNCHES) {
        put(&c->launches, kernel_number(c, kernel));
        put(&c->launches, digest);
        c->launch_count++;
    } else { /* what comes after is told as one with the last */
        digest = record_mix(c->last_digest, digest);
        memcpy(c->launches.data + c->launches.size - sizeof digest, &digest, sizeof digest);
    }
    c->last_digest = digest;
    if (c->task->work != WORK_RUN && c->seen > c->task->launch) work(c, e, digest);
    find(c, r);
    if (r->fault.kind == EMU_OK || *c->fault.kind) return;
    c->fault.kind = emu_fault_name(r->fault.kind);
    c->fault.kernel = arena_copy(c->arena, kernel, strlen(kernel));
    c->fault.line = r->fault.line;
    c->fault.source_line = r->fault.source_line;
    if (r->fault.source_file)
        c->fault.source_file = arena_copy(c->arena, r->fault.source_file,
                                          strlen(r->fault.source_file));
}

static void tell(struct child *c)
{
    struct buf b = {0};
    const struct buf *m = &c->report->messages;
    put(&b, RECORD_BEGIN);
    put(&b, (uint64_t)c->report->status);
    put(&b, record_mix(record_mix(c->memory, printed(c)), c->report->read_back));
    put(&b, c->memory);
    put(&b, c->report->read_back);
    buf_add(&b, m->data ? m->data : "", m->size < MOST_MESSAGES ? m->size : MOST_MESSAGES);
    buf_putc(&b, '\0');
    put_text(&b, c->fault.kind);
    put_text(&b, c->fault.kernel);
    put_text(&b, c->fault.source_file);
    put(&b, c->fault.line);
    put(&b, c->fault.source_line);
    put(&b, c->name_count);
    for (size_t i = 0; i < c->name_count; i++) put_text(&b, c->names[i]);
    put(&b, c->launch_count);
    buf_add(&b, c->launches.data ? c->launches.data : "", c->launches.size);
    put(&b, c->finding_count);
    buf_add(&b, c->findings.data ? c->findings.data : "", c->findings.size);
    put(&b, RECORD_END);
    write_all(c->task->out, &b);
}

/* It ends with its parent, and what it says goes to a file. */
static void settle(const struct check_task *t)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(t->err, STDERR_FILENO);
}

void check_child(const struct check *check, const struct check_task *t)
{
    settle(t);
    struct arena *a = arena_new();
    struct child c = {.task = t, .arena = a, .fault = {"", "", "", 0, 0}};
    struct device_watch watch = {.self = &c, .before = before, .after = after};
    if (t->work == WORK_WRITERS) c.writers = writers_new(t->places, t->place_count);
    struct run_options o = {.arena = a, .module = check->options->module};
    const char *checks = check->checks;
    if (t->race)
        checks = arena_printf(a, "%s%srace,atomicity", checks ? checks : "", checks ? "," : "");
    int argc;
    char **words = check_words(check, t->order, t->seed, checks, &argc);
    bool ok = run_options_read(&o, argc, words);
    struct report r = {.arena = a,
                       .json = true, /* what is printed is kept */
                       .kind = run_target_name(o.kind),
                       .name = check->name,
                       .watch = &watch};
    c.report = &r;
    report_begin(&r);
    if (ok) run_target(&r, &o);
    else {
        struct buf text = {0};
        diags_render(&o.diags, &text);
        report_fail(&r, EXIT_USAGE, "%s", text.data);
    }
    if (t->work == WORK_RUN) tell(&c);
    _exit(t->work != WORK_RUN);
}
