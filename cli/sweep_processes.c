/* Runs the cells of a sweep in processes of this host: `heddle run` for each cell, and then `heddle estimate` if the plan
 * asks for cycles. */
#define _GNU_SOURCE
#include "cli/sweep_workers.h"

#include "cli/cli.h"

#include "base/sha256.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- one process ------------------------------------------------------------------------------ */

struct slot {
    struct process process; /* of pid 0: free */
    const struct sweep_cell *cell;
    bool estimates;
    unsigned tries;
    int out; /* what it prints */
    double began;
    struct sweep_record record;
};

struct processes { /* struct sweep_workers first */
    struct sweep_workers base;
    struct sweep_processes with;
    size_t busy;
    char host[sizeof((struct sweep_record *)0)->host];
    struct slot slots[];
};

static void run_cell(const struct sweep_processes *r, const struct slot *s)
{
    enum { MOST = 24 };
    const struct sweep_plan *p = r->plan;
    const struct sweep_target *t = &p->targets[s->cell->target];
    char seed[32], order[512], gpu[512], memory[128], instructions[128], counts[4200];
    size_t words = 0, n = 0;
    while (t->words[words]) words++;
    char **argv = calloc(words + MOST, sizeof *argv);
    if (!argv) _exit(EXIT_USAGE);
    snprintf(seed, sizeof seed, "--seed=%" PRIu64, s->cell->seed);
    snprintf(order, sizeof order, "--order=%s", p->orders[s->cell->order]);
    snprintf(gpu, sizeof gpu, "--gpu=%s", p->gpus[s->cell->gpu]);
    argv[n++] = (char *)"heddle";
    argv[n++] = (char *)(s->estimates ? "estimate" : "run");
    argv[n++] = (char *)"--format=json";
    argv[n++] = order;
    argv[n++] = gpu;
    if (sweep_order_has_seeds(p->orders[s->cell->order])) argv[n++] = seed;
    if (p->memory) snprintf(memory, sizeof memory, "--memory=%s", p->memory), argv[n++] = memory;
    if (p->instructions) {
        snprintf(instructions, sizeof instructions, "--max-instructions=%s", p->instructions);
        argv[n++] = instructions;
    }
    if (!s->estimates && p->measure & SWEEP_RACES) argv[n++] = (char *)"--check=race";
    if (r->counts) {
        snprintf(counts, sizeof counts, "--counts=%s/%s.json", r->counts, s->cell->id);
        argv[n++] = counts;
    }
    if (!t->is_program) argv[n++] = (char *)"--threads=1";
    for (size_t i = 0; i < words; i++) argv[n++] = t->words[i];
    const int nowhere = open("/dev/null", O_RDWR);
    (void)dup2(nowhere, STDIN_FILENO);
    (void)dup2(s->out, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    execv(r->program, argv);
    _exit(EXIT_USAGE);
}

static bool start(const struct sweep_processes *r, struct slot *s, const struct sweep_cell *c,
                  bool estimates)
{
    const struct sweep_plan *p = r->plan;
    s->cell = c;
    s->estimates = estimates;
    s->out = memfd_create("heddle-cell", MFD_CLOEXEC);
    if (s->out < 0) return false;
    if (process_begin(&s->process, true, p->timeout)) run_cell(r, s);
    if (s->process.pid) return true;
    close(s->out);
    return false;
}

/* ---- what it printed -------------------------------------------------------------------------- */

static void take_digest(struct sweep_record *r, const json_t *o)
{
    const char *text = json_string_value(json_object_get(o, "read_back_digest"));
    if (!text) text = json_string_value(json_object_get(o, "memory_digest"));
    const char *printed = json_string_value(json_object_get(o, "printed"));
    if (text)
        snprintf(r->digest, sizeof r->digest, "%.16s",
                 strncmp(text, "0x", 2) == 0 ? text + 2 : text);
    else if (printed) {
        struct sha256 s;
        uint8_t digest[SHA256_BYTES];
        sha256_begin(&s);
        sha256_add(&s, printed, strlen(printed));
        sha256_end(&s, digest);
        sha256_hex(digest, sizeof r->digest - 1, r->digest);
    }
}

static void take_run(struct sweep_record *r, const json_t *o)
{
    size_t i;
    const json_t *l;
    take_digest(r, o);
    json_array_foreach(json_object_get(o, "launches"), i, l)
    {
        r->launches += (uint64_t)json_integer_value(json_object_get(l, "launches"));
        r->warp_instructions += (uint64_t)json_integer_value(
            json_object_get(l, "warp_instructions"));
        r->races += (uint64_t)json_integer_value(json_object_get(l, "findings"));
    }
}

static void take_estimate(struct sweep_record *r, const json_t *o)
{
    const json_t *gpu = json_array_get(json_object_get(o, "gpus"), 0);
    r->cycles = json_number_value(json_object_get(json_object_get(gpu, "total"), "cycles"));
}

static bool take_output(const struct sweep_processes *r, struct slot *s)
{
    FILE *f = lseek(s->out, 0, SEEK_SET) == 0 ? fdopen(s->out, "r") : NULL;
    json_t *o = f ? json_loadf(f, 0, NULL) : NULL;
    if (f) (void)fclose(f);
    if (o && s->estimates) take_estimate(&s->record, o);
    else if (o) take_run(&s->record, o);
    const bool ok = o && (!r->keep || r->keep(r->self, s->cell, o));
    json_decref(o);
    return ok;
}

/* ---- workers ---------------------------------------------------------------------------------- */

static struct processes *of(struct sweep_workers *w)
{
    return (struct processes *)w;
}

/* The first letters of the host's name; what could end a text of the journal is replaced. */
static void put_host(char *to, size_t size)
{
    char name[256] = "";
    (void)gethostname(name, sizeof name - 1);
    snprintf(to, size, "%s", *name ? name : "?");
    for (char *c = to; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-_.", *c)) *c = '?';
}

/* Forgets all but the time of an earlier try. */
static void reset_record(const struct processes *r, struct slot *s, double seconds)
{
    s->record = (struct sweep_record){.seconds = seconds};
    memcpy(s->record.id, s->cell->id, sizeof s->record.id);
    memcpy(s->record.key, s->cell->key, sizeof s->record.key);
    memcpy(s->record.host, r->host, sizeof s->record.host);
    s->began = process_now();
}

/* The process of a slot has ended. true: and so has its cell. */
static bool cell_ended(const struct processes *all, struct slot *s, int status)
{
    const struct sweep_processes *with = &all->with;
    const struct sweep_plan *p = with->plan;
    const bool late = s->process.late, ok = WIFEXITED(status) && !late;
    const int exit = late ? EXIT_LIMIT : ok ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    struct sweep_record *x = &s->record;
    const bool read = take_output(with, s);
    x->exit = exit;
    /* A race that was looked for is a result. */
    x->failed = !read || (exit != EXIT_FINE &&
                          !(exit == EXIT_FAULT && p->measure & SWEEP_RACES && x->races));
    x->seconds += process_now() - s->began;
    if (x->failed && s->tries++ < p->repeat_failed && !process_stop()) {
        reset_record(all, s, x->seconds);
        if (start(with, s, s->cell, !(p->measure & SWEEP_DIGEST))) return false;
        x->failed = true;
    }
    if (!x->failed && !s->estimates && p->measure & SWEEP_ESTIMATE) {
        s->began = process_now();
        if (start(with, s, s->cell, true)) return false;
        x->failed = true;
    }
    return true;
}

static size_t processes_free_slots(struct sweep_workers *w)
{
    return of(w)->with.jobs - of(w)->busy;
}

static size_t processes_busy(struct sweep_workers *w)
{
    return of(w)->busy;
}

static const char *processes_begin(struct sweep_workers *w, const struct sweep_cell *c)
{
    struct processes *p = of(w);
    struct slot *s = p->slots;
    while (s->process.pid) s++;
    s->cell = c;
    s->tries = 0;
    reset_record(p, s, 0);
    if (!start(&p->with, s, c, !(p->with.plan->measure & SWEEP_DIGEST))) return strerror(errno);
    p->busy++;
    return NULL;
}

/* Takes what has ended, and ends what is late. */
static size_t look(struct processes *p, sweep_ended *ended, void *self)
{
    size_t n = 0;
    for (unsigned i = 0; i < p->with.jobs; i++) {
        struct slot *s = &p->slots[i];
        int status;
        if (!s->process.pid || !process_ended(&s->process, &status)) continue;
        if (!cell_ended(p, s, status)) continue; /* it goes on with another process */
        p->busy--;
        n++;
        ended(self, s->cell, &s->record);
    }
    return n;
}

/* A process may have ended before the signals were held: so there is a look first. */
static void processes_wait(struct sweep_workers *w, double seconds, sweep_ended *ended, void *self)
{
    if (look(of(w), ended, self)) return;
    process_sleep(seconds);
    (void)look(of(w), ended, self);
}

static void processes_drain(struct sweep_workers *w)
{
    (void)w; /* each cell here runs */
}

static void processes_free(struct sweep_workers *w)
{
    free(w);
}

struct sweep_workers *sweep_processes(const struct sweep_processes *options)
{
    struct processes *p = calloc(1, sizeof *p + options->jobs * sizeof *p->slots);
    if (!p) abort();
    p->with = *options;
    put_host(p->host, sizeof p->host);
    p->base = (struct sweep_workers){.free_slots = processes_free_slots,
                                     .busy = processes_busy,
                                     .begin = processes_begin,
                                     .wait = processes_wait,
                                     .drain = processes_drain,
                                     .free = processes_free};
    return &p->base;
}
