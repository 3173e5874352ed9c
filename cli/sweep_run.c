/* The cells of a sweep: what they are, and the processes that run them. */
#define _GNU_SOURCE
#include "cli/sweep.h"

#include "cli/cli.h"

#include "base/buf.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_AGAIN = 75 }; /* EX_TEMPFAIL of sysexits.h */

/* ---- cells ------------------------------------------------------------------------------------ */

static void hex(char *to, const uint8_t *digest, int digits)
{
    for (int i = 0; i < digits; i += 2) snprintf(to + i, 3, "%02x", digest[i / 2]);
}

void sweep_cell_name(const struct sweep_plan *p, struct sweep_cell *c, const uint8_t *program)
{
    struct sha256 s;
    uint8_t digest[SHA256_BYTES];
    char text[64];
    const struct sweep_target *t = &p->targets[c->target];
    const char *parts[] = {t->name,   p->orders[c->order], p->gpus[c->gpu],
                           p->memory, p->instructions,     text};
    snprintf(text, sizeof text, "%" PRIu64 " %u", c->seed, p->measure);
    sha256_begin(&s);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i]) sha256_add(&s, parts[i], strlen(parts[i]) + 1);
        else sha256_add(&s, "", 1);
    const struct sha256 before = s;
    sha256_end(&s, digest);
    hex(c->key, digest, SWEEP_KEY);
    s = before;
    sha256_add(&s, program, SHA256_BYTES);
    sha256_add(&s, t->digest, strlen(t->digest) + 1);
    sha256_add(&s, p->gpu_digests[c->gpu], strlen(p->gpu_digests[c->gpu]) + 1);
    sha256_end(&s, digest);
    hex(c->id, digest, SWEEP_ID);
}

bool sweep_order_has_seeds(const char *order)
{
    return strncmp(order, "native", 6) != 0;
}

struct sweep_cell *sweep_cells(const struct sweep_plan *p, size_t *count)
{
    uint8_t program[SHA256_BYTES];
    size_t n = 0, variants = 0;
    if (!sha256_file("/proc/self/exe", program)) {
        usage_error("sweep", "cannot read Heddle's own program: %s", strerror(errno));
        return NULL;
    }
    for (size_t o = 0; o < p->order_count; o++)
        variants += sweep_order_has_seeds(p->orders[o]) ? p->seed_count : 1;
    *count = p->target_count * p->gpu_count * variants;
    struct sweep_cell *cells = calloc(*count + 1, sizeof *cells);
    if (!cells) abort();
    for (uint32_t t = 0; t < p->target_count; t++)
        for (uint32_t g = 0; g < p->gpu_count; g++)
            for (uint32_t o = 0; o < p->order_count; o++)
                for (size_t s = 0; s < (sweep_order_has_seeds(p->orders[o]) ? p->seed_count : 1);
                     s++) {
                    struct sweep_cell *c = &cells[n++];
                    *c = (struct sweep_cell){.target = t, .order = o, .gpu = g};
                    if (sweep_order_has_seeds(p->orders[o])) c->seed = p->seeds[s];
                    sweep_cell_name(p, c, program);
                }
    return cells;
}

void sweep_cells_join(struct sweep_cell *cells, size_t count, const struct sweep_journal *j)
{
    for (size_t i = 0; i < count; i++) {
        struct sweep_cell *c = &cells[i];
        c->record = sweep_journal_find(j, c->key);
        c->state = !c->record                          ? SWEEP_MISSING
                   : strcmp(c->record->id, c->id) != 0 ? SWEEP_STALE
                   : c->record->failed                 ? SWEEP_FAILED
                                                       : SWEEP_OK;
    }
}

/* ---- one process ------------------------------------------------------------------------------ */

struct slot {
    pid_t pid; /* 0: free */
    struct sweep_cell *cell;
    bool estimates, late;
    unsigned tries;
    int out; /* what it prints */
    double began, deadline;
    struct sweep_record record;
};

static double now_is(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile sig_atomic_t stop; /* the signal that asks for an end */

static void on_signal(int signal)
{
    if (signal != SIGCHLD) stop = signal;
}

static void run_cell(const struct sweep_run *r, const struct slot *s)
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
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setpgid(0, 0);
    const int nowhere = open("/dev/null", O_RDWR);
    (void)dup2(nowhere, STDIN_FILENO);
    (void)dup2(s->out, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    execv("/proc/self/exe", argv);
    _exit(EXIT_USAGE);
}

static bool begin(const struct sweep_run *r, struct slot *s, struct sweep_cell *c, bool estimates)
{
    const struct sweep_plan *p = r->plan;
    s->cell = c;
    s->estimates = estimates;
    s->late = false;
    s->out = memfd_create("heddle-cell", MFD_CLOEXEC);
    s->deadline = p->timeout > 0 ? now_is() + p->timeout : INFINITY;
    (void)fflush(NULL);
    s->pid = s->out < 0 ? -1 : fork();
    if (s->pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        run_cell(r, s);
    }
    if (s->pid > 0) return true;
    if (s->out >= 0) close(s->out);
    s->pid = 0;
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
        hex(r->digest, digest, 16);
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

static bool take_output(const struct sweep_run *r, struct slot *s)
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

/* ---- the cache -------------------------------------------------------------------------------- */

static void cache_path(const struct sweep_run *r, const char *id, char *path, size_t size)
{
    snprintf(path, size, "%s/%.2s/%s", r->cache, id, id + 2);
}

static bool cache_get(const struct sweep_run *r, const struct sweep_cell *c,
                      struct sweep_record *out)
{
    char path[4096];
    struct buf line = {0};
    if (!r->cache || !r->plan->targets[c->target].can_be_cached) return false;
    cache_path(r, c->id, path, sizeof path);
    const bool ok = buf_add_file(&line, path, 1000) && line.size &&
                    sweep_record_read(line.data, line.size, out) && strcmp(out->id, c->id) == 0;
    buf_free(&line);
    return ok;
}

static void cache_put(const struct sweep_run *r, const struct sweep_cell *c,
                      const struct sweep_record *x)
{
    char path[4096], temporary[4200], line[400];
    if (!r->cache || x->failed || !r->plan->targets[c->target].can_be_cached) return;
    snprintf(path, sizeof path, "%s/%.2s", r->cache, c->id);
    (void)mkdir(r->cache, 0777);
    (void)mkdir(path, 0777);
    cache_path(r, c->id, path, sizeof path);
    snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid());
    sweep_record_print(x, line, sizeof line);
    FILE *f = fopen(temporary, "w");
    const bool ok = f && fputs(line, f) >= 0;
    if ((!f || fclose(f) == 0) && ok) (void)rename(temporary, path);
    else (void)unlink(temporary); /* the cache only saves time */
}

/* ---- dealing ---------------------------------------------------------------------------------- */

struct dealing {
    struct sweep_run *run;
    struct slot *slots;
    size_t *next;     /* of each target: the next cell to look at */
    size_t *last;     /* behind its last one */
    double *seconds;  /* of each target: in all, */
    size_t *finished; /* of so many cells */
    double began, shown;
    bool broken; /* the journal cannot be written */
};

static bool is_wanted(const struct sweep_cell *c)
{
    return c->state == SWEEP_MISSING;
}

/* The next cell: of a target of which nothing is known yet, else of the one that takes longest. NULL: there is none. */
static struct sweep_cell *deal(struct dealing *d)
{
    struct sweep_cell *const cells = d->run->cells;
    size_t best = SIZE_MAX;
    double most = -1;
    for (size_t t = 0; t < d->run->plan->target_count; t++) {
        while (d->next[t] < d->last[t] && !is_wanted(&cells[d->next[t]])) d->next[t]++;
        if (d->next[t] == d->last[t]) continue;
        const double mean = d->finished[t] ? d->seconds[t] / (double)d->finished[t] : INFINITY;
        if (mean > most) {
            most = mean;
            best = t;
        }
    }
    return best == SIZE_MAX ? NULL : &cells[d->next[best]++];
}

static void tell(struct dealing *d, bool last)
{
    const struct sweep_run *r = d->run;
    const double now = now_is(), spent = now - d->began;
    if (r->quiet || (!last && now - d->shown < (isatty(STDERR_FILENO) ? 0.5 : 10))) return;
    d->shown = now;
    fprintf(stderr, "heddle %s: %zu of %zu cells, %zu failed", r->command, r->done,
            r->done + r->left, r->failed);
    if (r->done > r->from_cache && r->left)
        fprintf(stderr, ", about %.0f s left",
                spent / (double)(r->done - r->from_cache) * (double)r->left);
    fprintf(stderr, "\n");
}

static void finish(struct dealing *d, const struct sweep_cell *c, const struct sweep_record *x,
                   bool cached)
{
    struct sweep_run *r = d->run;
    r->done++;
    r->left--;
    r->failed += x->failed;
    r->from_cache += cached;
    if (cached) r->saved += x->seconds;
    else {
        d->seconds[c->target] += x->seconds;
        d->finished[c->target]++;
        cache_put(r, c, x);
    }
    if (sweep_journal_add(r->journal, x, !r->left)) return;
    if (!d->broken)
        usage_error(
            r->command,
            "cannot write the journal: %s (what it has is good: run the same command again)",
            strerror(errno));
    d->broken = true;
}

static void ended(struct dealing *d, struct slot *s, int status)
{
    const struct sweep_plan *p = d->run->plan;
    const bool ok = WIFEXITED(status) && !s->late;
    const int exit = s->late ? EXIT_LIMIT : ok ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    struct sweep_record *x = &s->record;
    (void)kill(-s->pid, SIGKILL); /* what it has started */
    s->pid = 0;
    const bool read = take_output(d->run, s);
    x->exit = exit;
    /* A race that was looked for is a result. */
    x->failed = !read || (exit != EXIT_FINE &&
                          !(exit == EXIT_FAULT && p->measure & SWEEP_RACES && x->races));
    x->seconds += now_is() - s->began;
    if (x->failed && s->tries++ < p->repeat_failed && !stop) {
        const double before = x->seconds;
        *x = (struct sweep_record){.seconds = before};
        snprintf(x->id, sizeof x->id, "%s", s->cell->id);
        snprintf(x->key, sizeof x->key, "%s", s->cell->key);
        s->began = now_is();
        if (begin(d->run, s, s->cell, !(p->measure & SWEEP_DIGEST))) return;
    }
    if (!x->failed && !s->estimates && p->measure & SWEEP_ESTIMATE) {
        s->began = now_is();
        if (begin(d->run, s, s->cell, true)) return;
        x->failed = true;
    }
    finish(d, s->cell, x, false);
}

/* Begins cells while there are some. */
static void fill(struct dealing *d)
{
    struct sweep_run *r = d->run;
    for (unsigned i = 0; i < r->jobs && !stop && !d->broken; i++) {
        struct slot *s = &d->slots[i];
        struct sweep_cell *c;
        while (!s->pid && (c = deal(d))) {
            s->record = (struct sweep_record){0};
            if (cache_get(r, c, &s->record)) {
                finish(d, c, &s->record, true);
                continue;
            }
            snprintf(s->record.id, sizeof s->record.id, "%s", c->id);
            snprintf(s->record.key, sizeof s->record.key, "%s", c->key);
            s->tries = 0;
            s->began = now_is();
            if (begin(r, s, c, !(r->plan->measure & SWEEP_DIGEST))) continue;
            usage_error(r->command, "cannot start a process: %s", strerror(errno));
            d->broken = true;
            return;
        }
    }
}

/* Takes what has ended, and ends what is late. */
static void look(struct dealing *d)
{
    for (unsigned i = 0; i < d->run->jobs; i++) {
        struct slot *s = &d->slots[i];
        int status;
        if (!s->pid) continue;
        if (!s->late && now_is() > s->deadline) {
            s->late = true;
            (void)kill(-s->pid, SIGKILL);
            (void)kill(s->pid, SIGKILL);
        }
        if (waitpid(s->pid, &status, WNOHANG) == s->pid) ended(d, s, status);
    }
}

static bool is_running(const struct dealing *d)
{
    for (unsigned i = 0; i < d->run->jobs; i++)
        if (d->slots[i].pid) return true;
    return false;
}

static void find_targets(struct dealing *d)
{
    const struct sweep_run *r = d->run;
    for (size_t i = r->count; i-- > 0;) d->next[r->cells[i].target] = i;
    for (size_t i = 0; i < r->count; i++) d->last[r->cells[i].target] = i + 1;
}

int sweep_run(struct sweep_run *r)
{
    const size_t n = r->plan->target_count;
    struct arena *a = arena_new();
    struct dealing d = {.run = r,
                        .slots = arena_array(a, struct slot, r->jobs),
                        .next = arena_array(a, size_t, n),
                        .last = arena_array(a, size_t, n),
                        .seconds = arena_array(a, double, n),
                        .finished = arena_array(a, size_t, n),
                        .began = now_is(),
                        .shown = now_is()};
    struct sigaction how = {.sa_handler = on_signal};
    sigset_t ours, outside;
    sigemptyset(&how.sa_mask);
    sigemptyset(&ours);
    static const int signals[] = {SIGINT, SIGTERM, SIGCHLD};
    for (size_t i = 0; i < 3; i++) {
        sigaction(signals[i], &how, NULL);
        sigaddset(&ours, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &ours, &outside); /* they come while poll sleeps */
    find_targets(&d);
    for (size_t i = 0; i < r->count; i++) r->left += is_wanted(&r->cells[i]);
    for (fill(&d); is_running(&d); fill(&d)) {
        const struct timespec most = {0, 200000000};
        tell(&d, false);
        (void)ppoll(NULL, 0, &most, &outside);
        look(&d);
    }
    tell(&d, true);
    sigprocmask(SIG_SETMASK, &outside, NULL);
    arena_free(a);
    if (d.broken) return EXIT_USAGE;
    return stop == SIGTERM ? EXIT_AGAIN : stop ? EXIT_INTERRUPTED : EXIT_FINE;
}
