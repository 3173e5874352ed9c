/* The run log: entries, tasks, and the writer of both. */
#define _POSIX_C_SOURCE 200809L /* pread */
#include "determinism/record/run_log.h"

#include "base/buf.h"
#include "determinism/record/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* ---- entries: numbers of 64 bits, then texts with a NUL behind each
 * ----------------------------------- */

enum { NUMBERS = 9, TEXTS = 4 };

static bool write_all(int file, const struct buf *b)
{
    for (size_t done = 0; done < b->size;) {
        ssize_t n = write(file, b->data + done, b->size - done);
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

void run_log_write(int file, const struct run_log_entry *e)
{
    const char *const texts[TEXTS] = {e->name, e->text, e->source_file, e->source_file2};
    uint64_t numbers[NUMBERS] = {0,       e->kind,  e->what,        e->digest,      e->count,
                                 e->line, e->line2, e->source_line, e->source_line2};
    struct buf b = {0};
    buf_add(&b, (const char *)numbers, sizeof numbers);
    for (size_t i = 0; i < TEXTS; i++) {
        buf_puts(&b, texts[i] ? texts[i] : "");
        buf_putc(&b, '\0');
    }
    numbers[0] = b.size;
    memcpy(b.data, numbers, sizeof numbers[0]);
    (void)write_all(file, &b); /* at once: others may write to the file */
    buf_free(&b);
}

bool run_log_next(struct run_log_reader *t, struct run_log_entry *out)
{
    uint64_t n[NUMBERS];
    const char *texts[TEXTS];
    if (t->left < sizeof n) return false;
    memcpy(n, t->at, sizeof n);
    if (n[0] < sizeof n || n[0] > t->left || n[1] >= RUN_LOG_KINDS) return false;
    const char *at = t->at + sizeof n, *end = t->at + n[0];
    for (size_t i = 0; i < TEXTS; i++) {
        texts[i] = at;
        const char *nul = memchr(at, '\0', (size_t)(end - at));
        if (!nul) return false;
        at = nul + 1;
    }
    *out = (struct run_log_entry){(enum run_log_kind)n[1],
                                  (enum emu_fault_kind)n[2],
                                  n[3],
                                  n[4],
                                  (uint32_t)n[5],
                                  (uint32_t)n[6],
                                  (uint32_t)n[7],
                                  (uint32_t)n[8],
                                  texts[0],
                                  texts[1],
                                  texts[2],
                                  texts[3]};
    t->at = end;
    t->left -= (size_t)n[0];
    return true;
}

uint64_t run_log_mix_digest(uint64_t digest, uint64_t next)
{
    digest = (digest ^ next) * UINT64_C(0x9fb21c651e98df25);
    return digest ^ digest >> 29;
}

/* ---- tasks
 * -------------------------------------------------------------------------------------------- */

enum { TASK_NUMBERS = 4 };

bool run_log_task_write(int file, const struct run_log_task *t)
{
    const uint64_t numbers[TASK_NUMBERS] = {t->work, t->launch, t->first, t->place_count};
    struct buf b = {0};
    buf_add(&b, (const char *)numbers, sizeof numbers);
    if (t->place_count) buf_add(&b, (const char *)t->places, t->place_count * sizeof *t->places);
    const bool ok = write_all(file, &b);
    buf_free(&b);
    return ok;
}

bool run_log_task_read(int file, struct run_log_task *out, uint64_t **places)
{
    uint64_t n[TASK_NUMBERS];
    *places = NULL;
    if (pread(file, n, sizeof n, 0) != (ssize_t)sizeof n || n[0] > RUN_LOG_WRITE_LAST_WRITERS ||
        n[3] > SIZE_MAX / sizeof **places / 2)
        return false;
    const size_t size = (size_t)n[3] * sizeof **places;
    *places = calloc(1, size + 1);
    if (!*places) abort();
    *out = (struct run_log_task){(enum run_log_work)n[0], n[1], *places, (size_t)n[3], n[2]};
    return pread(file, *places, size, sizeof n) == (ssize_t)size;
}

/* ---- a run
 * -------------------------------------------------------------------------------------------- */

struct run_log {
    struct run_log_task task;
    uint64_t *places;
    int file;
    pid_t process;
    size_t launches;
    uint64_t found, suppressed;
    struct buf text;                        /* all that was printed */
    uint64_t memory, printed, copied, rest; /* digests */
    bool fault;                             /* one was told: the first is */
    struct last_writers *writers;           /* NULL: nobody asked */
    const struct emu_observer *observers[8];
};

static uint64_t digest_on(uint64_t digest, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t word;
    for (; size >= sizeof word; size -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        digest = run_log_mix_digest(digest, word);
    }
    for (; size; size--) digest = run_log_mix_digest(digest, *p++);
    return digest;
}

struct run_log *run_log_new(const struct run_log_task *t, int file)
{
    struct run_log *log = calloc(1, sizeof *log);
    const size_t size = t->place_count * sizeof *t->places;
    if (!log || !(log->places = calloc(1, size + 1))) abort();
    log->task = *t;
    if (size) memcpy(log->places, t->places, size);
    log->task.places = log->places;
    log->file = file;
    log->process = getpid();
    if (t->work == RUN_LOG_WRITE_LAST_WRITERS)
        log->writers = last_writers_new(log->places, t->place_count);
    return log;
}

void run_log_begin_launch(struct run_log *log, const char *kernel, struct emu_launch *launch)
{
    enum { MOST = sizeof log->observers / sizeof *log->observers };
    if (log->task.work == RUN_LOG_WRITE_ENTRIES)
        run_log_write(log->file,
                      &(struct run_log_entry){.kind = RUN_LOG_KERNEL_BEGIN, .name = kernel});
    if (!log->writers || launch->observer_count + 1 > MOST) return;
    for (size_t i = 0; i < launch->observer_count; i++) log->observers[i] = launch->observers[i];
    log->observers[launch->observer_count] = last_writers_observer(log->writers);
    launch->observers = log->observers;
    launch->observer_count++;
}

void run_log_printed(struct run_log *log, const char *text, size_t size)
{
    buf_add(&log->text, text, size);
    for (size_t i = 0; i < size; i++) /* whatever the pieces: byte for byte */
        log->printed = (log->printed ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
}

void run_log_copied(struct run_log *log, const void *bytes, size_t size)
{
    log->copied += digest_on(size, bytes, size);
}

void run_log_message(struct run_log *log, const char *text)
{
    if (log->task.work == RUN_LOG_WRITE_ENTRIES)
        run_log_write(log->file, &(struct run_log_entry){.kind = RUN_LOG_MESSAGE, .text = text});
}

void run_log_status(struct run_log *log, uint64_t status)
{
    if (log->task.work == RUN_LOG_WRITE_ENTRIES)
        run_log_write(log->file, &(struct run_log_entry){.kind = RUN_LOG_STATUS, .count = status});
}

void run_log_count_finding(struct run_log *log)
{
    log->found++;
}

/* The launch that was waited for has ended. */
static void stop(struct run_log *log, struct emu *e, uint64_t digest)
{
    const struct run_log_task *t = &log->task;
    const bool ok = t->work == RUN_LOG_WRITE_SNAPSHOT
                        ? snapshot_write(e, &log->text, digest, log->file)
                        : last_writers_write(log->writers, t->first, digest, log->file);
    _exit(!ok);
}

static void write_findings(const struct run_log *log, const char *kernel,
                           const struct emu_report *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct emu_finding *f = &r->findings[i];
        run_log_write(log->file, &(struct run_log_entry){.kind = RUN_LOG_FINDING,
                                                         .what = f->kind,
                                                         .count = f->count,
                                                         .line = f->line,
                                                         .line2 = f->line2,
                                                         .source_line = f->source_line,
                                                         .source_line2 = f->source_line2,
                                                         .name = kernel,
                                                         .text = f->text,
                                                         .source_file = f->source_file,
                                                         .source_file2 = f->source_file2});
    }
}

static void write_fault(struct run_log *log, const char *kernel, const struct emu_fault *f)
{
    if (f->kind == EMU_OK || log->fault) return;
    log->fault = true;
    run_log_write(log->file, &(struct run_log_entry){.kind = RUN_LOG_FAULT,
                                                     .what = f->kind,
                                                     .line = f->line,
                                                     .source_line = f->source_line,
                                                     .name = kernel,
                                                     .source_file = f->source_file});
}

void run_log_report(struct run_log *log, const char *kernel, const struct emu_report *r)
{
    if (log->task.work != RUN_LOG_WRITE_ENTRIES) return;
    log->suppressed += r->suppressed;
    run_log_write(log->file, &(struct run_log_entry){.kind = RUN_LOG_KERNEL_END});
    write_findings(log, kernel, r);
    write_fault(log, kernel, &r->fault);
}

uint64_t run_log_digest(struct run_log *log, struct emu *e, uint64_t launch)
{
    log->memory = emu_digest(e);
    const uint64_t digest = run_log_mix_digest(log->memory, log->printed);
    if (log->task.work != RUN_LOG_WRITE_ENTRIES && launch == log->task.launch) stop(log, e, digest);
    return digest;
}

void run_log_launch(struct run_log *log, const char *kernel, uint64_t digest)
{
    if (log->task.work != RUN_LOG_WRITE_ENTRIES) return;
    if (log->launches++ < RUN_LOG_MOST_LAUNCHES)
        run_log_write(log->file, &(struct run_log_entry){
                                     .kind = RUN_LOG_LAUNCH, .digest = digest, .name = kernel});
    else log->rest = run_log_mix_digest(log->rest, digest);
}

void run_log_host_race(struct run_log *log, const char *text)
{
    if (log->task.work == RUN_LOG_WRITE_ENTRIES)
        run_log_write(log->file,
                      &(struct run_log_entry){
                          .kind = RUN_LOG_FINDING, .what = EMU_RACE, .count = 1, .text = text});
}

void run_log_end_launch(struct run_log *log, struct emu *e, const char *kernel,
                        const struct emu_report *r)
{
    const uint64_t digest = run_log_digest(log, e, log->launches);
    if (log->task.work != RUN_LOG_WRITE_ENTRIES) log->launches++;
    run_log_launch(log, kernel, digest);
    run_log_report(log, kernel, r);
}

void run_log_end(struct run_log *log)
{
    if (!log) return;
    const struct run_log_entry last[] = {
        {.kind = RUN_LOG_OTHER_LAUNCHES, .digest = log->rest},
        {.kind = RUN_LOG_MEMORY, .digest = log->memory},
        {.kind = RUN_LOG_PRINTED, .digest = log->printed},
        {.kind = RUN_LOG_COPIED, .digest = log->copied},
        {.kind = RUN_LOG_FINDING_COUNT, .count = log->found},
        {.kind = RUN_LOG_SUPPRESSED_COUNT, .count = log->suppressed}};
    if (log->task.work == RUN_LOG_WRITE_ENTRIES && log->process == getpid())
        for (size_t i = 0; i < sizeof last / sizeof *last; i++) run_log_write(log->file, &last[i]);
    last_writers_free(log->writers);
    buf_free(&log->text);
    free(log->places);
    free(log);
}
