/* Assigns the cells of a sweep to workers; the cache of results. */
#define _GNU_SOURCE
#include "cli/sweep_workers.h"

#include "cli/cli.h"

#include "base/buf.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the cache -------------------------------------------------------------------------------- */

static void cache_path(const char *cache, const char *id, char *path, size_t size)
{
    snprintf(path, size, "%s/%.2s/%s", cache, id, id + 2);
}

bool sweep_cached(const char *cache, const struct sweep_plan *p, const struct sweep_cell *c,
                  struct sweep_record *out)
{
    char path[4096];
    struct buf line = {0};
    if (!cache || !p->targets[c->target].can_be_cached) return false;
    cache_path(cache, c->id, path, sizeof path);
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
    cache_path(r->cache, c->id, path, sizeof path);
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
    struct sweep_workers *workers;
    size_t *next;             /* of each target: the next cell to look at */
    size_t *last;             /* behind its last one */
    double *seconds;          /* of each target: in all, */
    size_t *finished;         /* of so many cells */
    struct sweep_cell **back; /* cells that have not run though they were dealt */
    size_t back_count, back_cap;
    double began, shown;
    bool broken; /* the journal cannot be written, or no worker can be started */
};

static bool is_wanted(const struct sweep_cell *c)
{
    return c->state == SWEEP_MISSING;
}

/* The next cell: one that came back; of a target of which nothing is known yet, else of the one that takes longest. NULL: there is none. */
static struct sweep_cell *deal(struct dealing *d)
{
    struct sweep_cell *const cells = d->run->cells;
    size_t best = SIZE_MAX;
    double most = -1;
    if (d->back_count) return d->back[--d->back_count];
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

static void report_progress(struct dealing *d, bool last)
{
    const struct sweep_run *r = d->run;
    const double now = process_now(), spent = now - d->began;
    const bool line = isatty(STDERR_FILENO); /* one that is written again and again */
    if (r->quiet || (!last && now - d->shown < (line ? 0.5 : 10))) return;
    d->shown = now;
    fprintf(stderr, "%sheddle %s: %zu of %zu cells, %zu failed", line ? "\r" : "", r->command,
            r->done, r->done + r->left, r->failed);
    if (r->done > r->from_cache && r->left)
        fprintf(stderr, ", about %.0f s left",
                spent / (double)(r->done - r->from_cache) * (double)r->left);
    fprintf(stderr, "%s", !line ? "\n" : last ? "\033[K\n" : "\033[K");
    if (last) fprintf(stderr, "heddle %s: took %.2f s\n", r->command, spent);
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

static void give_back(struct dealing *d, struct sweep_cell *c)
{
    if (d->back_count == d->back_cap) {
        d->back_cap = d->back_cap ? 2 * d->back_cap : 16;
        d->back = realloc((void *)d->back, d->back_cap * sizeof *d->back);
        if (!d->back) abort();
    }
    d->back[d->back_count++] = c;
}

/* sweep_ended */
static void ended(void *self, const struct sweep_cell *c, const struct sweep_record *x)
{
    struct dealing *d = self;
    if (x) finish(d, c, x, false);
    else give_back(d, &d->run->cells[c - d->run->cells]);
}

/* Begins cells while there are some. */
static void fill(struct dealing *d)
{
    struct sweep_run *r = d->run;
    struct sweep_cell *c;
    while (!process_stop() && !d->broken && d->workers->free_slots(d->workers) && (c = deal(d))) {
        struct sweep_record x;
        if (sweep_cached(r->cache, r->plan, c, &x)) {
            finish(d, c, &x, true);
            continue;
        }
        const char *why = d->workers->begin(d->workers, c);
        if (why) {
            usage_error(r->command, "no cell can begin: %s", why);
            d->broken = true;
        }
    }
}

static void find_targets(struct dealing *d)
{
    const struct sweep_run *r = d->run;
    for (size_t i = r->count; i-- > 0;) d->next[r->cells[i].target] = i;
    for (size_t i = 0; i < r->count; i++) d->last[r->cells[i].target] = i + 1;
}

/* Those of the run, or processes of this host. */
static struct sweep_workers *workers_of(const struct sweep_run *r)
{
    const struct sweep_processes options = {.plan = r->plan,
                                            .program = r->program ? r->program : "/proc/self/exe",
                                            .jobs = r->jobs,
                                            .counts = r->counts,
                                            .keep = r->keep,
                                            .self = r->self};
    return r->workers ? r->workers : sweep_processes(&options);
}

static void deal_all(struct dealing *d)
{
    struct sweep_workers *w = d->workers;
    bool drained = false;
    while (!d->broken && !process_stop() && d->run->left) {
        fill(d);
        if (!d->run->left) break;
        report_progress(d, false);
        w->wait(w, 0.2, ended, d);
    }
    while (w->busy(w)) {
        if (!drained) w->drain(w);
        drained = true;
        report_progress(d, false);
        w->wait(w, 0.2, ended, d);
    }
}

int sweep_run(struct sweep_run *r)
{
    const size_t n = r->plan->target_count;
    struct arena *a = arena_new();
    struct dealing d = {.run = r,
                        .workers = workers_of(r),
                        .next = arena_array(a, size_t, n),
                        .last = arena_array(a, size_t, n),
                        .seconds = arena_array(a, double, n),
                        .finished = arena_array(a, size_t, n),
                        .began = process_now(),
                        .shown = process_now()};
    process_signals_begin();
    find_targets(&d);
    for (size_t i = 0; i < r->count; i++) r->left += is_wanted(&r->cells[i]);
    deal_all(&d);
    report_progress(&d, true);
    process_signals_end();
    d.workers->free(d.workers);
    free((void *)d.back);
    arena_free(a);
    if (d.broken) return EXIT_USAGE;
    if (!process_stop()) return EXIT_FINE;
    return process_stop() == SIGINT ? EXIT_INTERRUPTED : SWEEP_AGAIN;
}
