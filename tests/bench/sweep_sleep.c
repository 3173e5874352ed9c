/* heddle-mpi whose cells sleep in place of running: in place of cli/sweep_processes.c. BENCH_MS (default 50) is how long
 * each takes. So that a host with few cores can have many workers, and dealing itself can be timed (BENCH_MS=0). */
#include "cli/sweep_workers.h"

#include <stdlib.h>
#include <string.h>

struct sleeper { /* struct sweep_workers first */
    struct sweep_workers base;
    const struct sweep_cell *cell;
    double seconds, end;
};

static struct sleeper *of(struct sweep_workers *w)
{
    return (struct sleeper *)w;
}

static size_t free_slots(struct sweep_workers *w)
{
    return !of(w)->cell;
}

static size_t busy(struct sweep_workers *w)
{
    return of(w)->cell != NULL;
}

static const char *begin(struct sweep_workers *w, const struct sweep_cell *c)
{
    of(w)->cell = c;
    of(w)->end = process_now() + of(w)->seconds;
    return NULL;
}

static void wait(struct sweep_workers *w, double seconds, sweep_ended *ended, void *self)
{
    struct sleeper *s = of(w);
    struct sweep_record x = {.seconds = s->seconds, .digest = "1", .host = "bench"};
    const double left = s->end - process_now();
    const struct sweep_cell *c = s->cell;
    if (left > 0) process_sleep(left < seconds ? left : seconds);
    if (!c || process_now() < s->end) return;
    memcpy(x.id, c->id, sizeof x.id);
    memcpy(x.key, c->key, sizeof x.key);
    s->cell = NULL;
    ended(self, c, &x);
}

static void drain(struct sweep_workers *w)
{
    (void)w;
}

static void end(struct sweep_workers *w)
{
    free(w);
}

struct sweep_workers *sweep_processes(const struct sweep_processes *options)
{
    const char *ms = getenv("BENCH_MS");
    struct sleeper *s = calloc(1, sizeof *s);
    (void)options;
    if (!s) abort();
    s->base = (struct sweep_workers){free_slots, busy, begin, wait, drain, end};
    s->seconds = (ms ? atof(ms) : 50) / 1000;
    return &s->base;
}
