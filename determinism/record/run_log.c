/* What the launches of a run came to. */
#define _POSIX_C_SOURCE 200809L /* pread */
#include "determinism/record/run_log.h"

#include "base/buf.h"
#include "determinism/record/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* ---- entries: numbers of 64 bits, then texts with a NUL behind each ----------------------------------- */

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

void account_write(int file, const struct account_entry *e)
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

bool account_next(struct account_text *t, struct account_entry *out)
{
    uint64_t n[NUMBERS];
    const char *texts[TEXTS];
    if (t->left < sizeof n) return false;
    memcpy(n, t->at, sizeof n);
    if (n[0] < sizeof n || n[0] > t->left || n[1] >= ACCOUNT_KINDS) return false;
    const char *at = t->at + sizeof n, *end = t->at + n[0];
    for (size_t i = 0; i < TEXTS; i++) {
        texts[i] = at;
        const char *nul = memchr(at, '\0', (size_t)(end - at));
        if (!nul) return false;
        at = nul + 1;
    }
    *out = (struct account_entry){(enum account_kind)n[1],
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

uint64_t account_mix(uint64_t digest, uint64_t next)
{
    digest = (digest ^ next) * UINT64_C(0x9fb21c651e98df25);
    return digest ^ digest >> 29;
}

/* ---- tasks -------------------------------------------------------------------------------------------- */

enum { TASK_NUMBERS = 4 };

bool account_task_write(int file, const struct account_task *t)
{
    const uint64_t numbers[TASK_NUMBERS] = {t->work, t->launch, t->first, t->place_count};
    struct buf b = {0};
    buf_add(&b, (const char *)numbers, sizeof numbers);
    if (t->place_count) buf_add(&b, (const char *)t->places, t->place_count * sizeof *t->places);
    const bool ok = write_all(file, &b);
    buf_free(&b);
    return ok;
}

bool account_task_read(int file, struct account_task *out, uint64_t **places)
{
    uint64_t n[TASK_NUMBERS];
    *places = NULL;
    if (pread(file, n, sizeof n, 0) != (ssize_t)sizeof n || n[0] > ACCOUNT_WRITERS ||
        n[3] > SIZE_MAX / sizeof **places / 2)
        return false;
    const size_t size = (size_t)n[3] * sizeof **places;
    *places = calloc(1, size + 1);
    if (!*places) abort();
    *out = (struct account_task){(enum account_work)n[0], n[1], *places, (size_t)n[3], n[2]};
    return pread(file, *places, size, sizeof n) == (ssize_t)size;
}

/* ---- a run -------------------------------------------------------------------------------------------- */

struct account {
    struct account_task task;
    uint64_t *places;
    int file;
    pid_t process;
    size_t launches;
    uint64_t found, suppressed;
    struct buf text;                        /* all that was printed */
    uint64_t memory, printed, copied, rest; /* digests */
    bool fault;                             /* one was told: the first is */
    struct writers *writers;                /* NULL: nobody asked */
    const struct emu_observer *observers[8];
};

static uint64_t digest_on(uint64_t digest, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t word;
    for (; size >= sizeof word; size -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        digest = account_mix(digest, word);
    }
    for (; size; size--) digest = account_mix(digest, *p++);
    return digest;
}

struct account *account_new(const struct account_task *t, int file)
{
    struct account *a = calloc(1, sizeof *a);
    const size_t size = t->place_count * sizeof *t->places;
    if (!a || !(a->places = calloc(1, size + 1))) abort();
    a->task = *t;
    if (size) memcpy(a->places, t->places, size);
    a->task.places = a->places;
    a->file = file;
    a->process = getpid();
    if (t->work == ACCOUNT_WRITERS) a->writers = writers_new(a->places, t->place_count);
    return a;
}

void account_before(struct account *a, const char *kernel, struct emu_launch *launch)
{
    enum { MOST = sizeof a->observers / sizeof *a->observers };
    if (a->task.work == ACCOUNT_RUN)
        account_write(a->file, &(struct account_entry){.kind = ACCOUNT_BEGUN, .name = kernel});
    if (!a->writers || launch->observer_count + 1 > MOST) return;
    for (size_t i = 0; i < launch->observer_count; i++) a->observers[i] = launch->observers[i];
    a->observers[launch->observer_count] = writers_observer(a->writers);
    launch->observers = a->observers;
    launch->observer_count++;
}

void account_printed(struct account *a, const char *text, size_t size)
{
    buf_add(&a->text, text, size);
    for (size_t i = 0; i < size; i++) /* whatever the pieces: byte for byte */
        a->printed = (a->printed ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
}

void account_copied(struct account *a, const void *bytes, size_t size)
{
    a->copied += digest_on(size, bytes, size);
}

void account_said(struct account *a, const char *text)
{
    if (a->task.work == ACCOUNT_RUN)
        account_write(a->file, &(struct account_entry){.kind = ACCOUNT_SAID, .text = text});
}

void account_found(struct account *a)
{
    a->found++;
}

/* The launch that was waited for has ended. */
static void stop(struct account *a, struct emu *e, uint64_t digest)
{
    const struct account_task *t = &a->task;
    const bool ok = t->work == ACCOUNT_SNAPSHOT
                        ? snapshot_write(e, &a->text, digest, a->file)
                        : writers_write(a->writers, t->first, digest, a->file);
    _exit(!ok);
}

static void tell_findings(const struct account *a, const char *kernel, const struct emu_report *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const struct emu_finding *f = &r->findings[i];
        account_write(a->file, &(struct account_entry){.kind = ACCOUNT_FINDING,
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

static void tell_fault(struct account *a, const char *kernel, const struct emu_fault *f)
{
    if (f->kind == EMU_OK || a->fault) return;
    a->fault = true;
    account_write(a->file, &(struct account_entry){.kind = ACCOUNT_FAULT,
                                                   .what = f->kind,
                                                   .line = f->line,
                                                   .source_line = f->source_line,
                                                   .name = kernel,
                                                   .source_file = f->source_file});
}

void account_checked(struct account *a, const char *kernel, const struct emu_report *r)
{
    if (a->task.work != ACCOUNT_RUN) return;
    a->suppressed += r->suppressed;
    account_write(a->file, &(struct account_entry){.kind = ACCOUNT_OVER});
    tell_findings(a, kernel, r);
    tell_fault(a, kernel, &r->fault);
}

uint64_t account_digest(struct account *a, struct emu *e, uint64_t launch)
{
    a->memory = emu_digest(e);
    const uint64_t digest = account_mix(a->memory, a->printed);
    if (a->task.work != ACCOUNT_RUN && launch == a->task.launch) stop(a, e, digest);
    return digest;
}

void account_launch(struct account *a, const char *kernel, uint64_t digest)
{
    if (a->task.work != ACCOUNT_RUN) return;
    if (a->launches++ < ACCOUNT_LAUNCHES)
        account_write(a->file, &(struct account_entry){
                                   .kind = ACCOUNT_LAUNCH, .digest = digest, .name = kernel});
    else a->rest = account_mix(a->rest, digest);
}

void account_race(struct account *a, const char *text)
{
    if (a->task.work == ACCOUNT_RUN)
        account_write(a->file,
                      &(struct account_entry){
                          .kind = ACCOUNT_FINDING, .what = EMU_RACE, .count = 1, .text = text});
}

void account_after(struct account *a, struct emu *e, const char *kernel, const struct emu_report *r)
{
    const uint64_t digest = account_digest(a, e, a->launches);
    if (a->task.work != ACCOUNT_RUN) a->launches++;
    account_launch(a, kernel, digest);
    account_checked(a, kernel, r);
}

void account_end(struct account *a)
{
    if (!a) return;
    const struct account_entry last[] = {{.kind = ACCOUNT_REST, .digest = a->rest},
                                         {.kind = ACCOUNT_MEMORY, .digest = a->memory},
                                         {.kind = ACCOUNT_PRINTED, .digest = a->printed},
                                         {.kind = ACCOUNT_COPIED, .digest = a->copied},
                                         {.kind = ACCOUNT_FOUND, .count = a->found},
                                         {.kind = ACCOUNT_SUPPRESSED, .count = a->suppressed}};
    if (a->task.work == ACCOUNT_RUN && a->process == getpid())
        for (size_t i = 0; i < sizeof last / sizeof *last; i++) account_write(a->file, &last[i]);
    writers_free(a->writers);
    buf_free(&a->text);
    free(a->places);
    free(a);
}
