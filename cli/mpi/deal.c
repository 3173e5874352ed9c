/* Rank 0: makes the other ranks available as workers of sweep_run(). */
#include "cli/mpi/ranks.h"

#include "cli/cli.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* So many seconds of work wait at a worker beside what it runs, so that it has the next cell at once. */
static const double AHEAD = 0.1;
enum { MOST_AHEAD = 64 }; /* cells for each process */

struct rank {
    bool ready, lost;
    bool other;  /* its plan, inputs or Heddle are others: it runs nothing */
    size_t busy; /* cells that it has */
    struct silence silence;
    char host[64];
};

struct ranks { /* struct sweep_workers first */
    struct sweep_workers base;
    const struct sweep_cell *cells;
    size_t count;
    uint32_t *at; /* of each cell: the rank that has it; 0: none */
    struct rank *list;
    int size; /* of the job; list[0] is rank 0 itself and not used */
    unsigned jobs;
    size_t busy, ended;
    double seconds; /* that the cells that ended took */
    double lost_after, said;
    bool drained;
};

static unsigned lost_ranks;
static bool *is_lost; /* by rank; NULL: none is */

unsigned ranks_lost(void)
{
    return lost_ranks;
}

static struct ranks *of(struct sweep_workers *w)
{
    return (struct ranks *)w;
}

static void send_all(const struct ranks *r, const struct rank_message *m)
{
    for (int i = 1; i < r->size; i++)
        if (!r->list[i].lost) rank_send(i, m);
}

/* Cells that a rank may have: those that it runs, and some that wait. */
static size_t depth(const struct ranks *r)
{
    const double mean = r->ended ? r->seconds / (double)r->ended : 1;
    const double ahead = mean * MOST_AHEAD > AHEAD ? AHEAD / mean : MOST_AHEAD;
    return r->jobs + (size_t)(ahead * r->jobs + (mean < 10 * AHEAD ? 1 : 0));
}

/* Whether no rank is left that could run cells. */
static bool is_alone(const struct ranks *r)
{
    for (int i = 1; i < r->size; i++)
        if (!r->list[i].lost && !r->list[i].other) return false;
    return true;
}

static size_t ranks_free_slots(struct sweep_workers *w)
{
    const struct ranks *r = of(w);
    size_t n = 0;
    for (int i = 1; i < r->size; i++)
        if (r->list[i].ready && !r->list[i].lost && r->list[i].busy < depth(r))
            n += depth(r) - r->list[i].busy;
    if (r->drained) return 0;
    return is_alone(r) ? 1 : n; /* for ranks_begin() to say so */
}

static size_t ranks_busy(struct sweep_workers *w)
{
    return of(w)->busy;
}

/* The rank that has the fewest cells. */
static int least_busy(const struct ranks *r)
{
    int best = 0;
    for (int i = 1; i < r->size; i++) {
        const struct rank *x = &r->list[i];
        if (x->ready && !x->lost && (!best || x->busy < r->list[best].busy)) best = i;
    }
    return best;
}

static const char *ranks_begin(struct sweep_workers *w, const struct sweep_cell *c)
{
    struct ranks *r = of(w);
    const int to = least_busy(r);
    const size_t cell = (size_t)(c - r->cells);
    const struct rank_message m = {.kind = RANK_CELL, .cell = cell, .what = *c};
    if (!to) return "there is no rank that takes part";
    rank_send(to, &m);
    r->at[cell] = (uint32_t)to;
    r->list[to].busy++;
    r->busy++;
    return NULL;
}

/* ---- what workers send ------------------------------------------------------------------------ */

/* A rank does not have the cell any more. */
static void take_from(struct ranks *r, int rank, size_t cell)
{
    r->at[cell] = 0;
    r->list[rank].busy--;
    r->busy--;
}

static void be_ready(struct ranks *r, int from, const struct rank_message *m)
{
    struct rank *x = &r->list[from];
    snprintf(x->host, sizeof x->host, "%.*s", (int)sizeof m->host - 1, m->host);
    x->ready = m->kind == RANK_READY;
    x->other = !x->ready;
    if (x->ready) return;
    fprintf(stderr,
            "heddle sweep: rank %d on '%s' does not take part: its plan, an input or Heddle "
            "differs from rank 0's\n",
            from, x->host);
}

/* A rank that was thought lost is back: its cells have been dealt again, so that what it still has does not count. */
static void be_heard(struct ranks *r, int from)
{
    struct rank *x = &r->list[from];
    x->silence.seconds = 0;
    if (!x->lost || !x->ready) return;
    x->lost = false;
    lost_ranks--;
    fprintf(stderr, "heddle sweep: rank %d on '%s' is back\n", from, x->host);
}

static void take(struct ranks *r, int from, const struct rank_message *m, sweep_ended *ended,
                 void *self)
{
    be_heard(r, from);
    if (m->kind == RANK_READY || m->kind == RANK_OTHER) be_ready(r, from, m);
    if (m->kind != RANK_RESULT && m->kind != RANK_BACK) return;
    if (m->cell >= r->count || r->at[m->cell] != (uint32_t)from) return; /* dealt again since */
    take_from(r, from, m->cell);
    if (m->kind == RANK_RESULT) {
        r->ended++;
        r->seconds += m->record.seconds;
    }
    ended(self, &r->cells[m->cell], m->kind == RANK_RESULT ? &m->record : NULL);
}

/* ---- ranks that are lost ---------------------------------------------------------------------- */

static void lose(struct ranks *r, int rank, sweep_ended *ended, void *self)
{
    struct rank *x = &r->list[rank];
    fprintf(stderr,
            "heddle sweep: nothing from rank %d on '%s' for %.0f s: its %zu cells run elsewhere\n",
            rank, x->host, x->silence.seconds, x->busy);
    x->lost = true;
    lost_ranks++;
    for (size_t i = 0; x->busy && i < r->count; i++)
        if (r->at[i] == (uint32_t)rank) {
            take_from(r, rank, i);
            ended(self, &r->cells[i], NULL);
        }
}

static void look_after(struct ranks *r, sweep_ended *ended, void *self)
{
    const double now = process_now();
    for (int i = 1; i < r->size; i++) {
        struct rank *x = &r->list[i];
        silence_grow(&x->silence, now);
        if (!x->lost && x->silence.seconds > r->lost_after) lose(r, i, ended, self);
    }
    if (now - r->said < r->lost_after / 4) return;
    const struct rank_message m = {.kind = RANK_ALIVE};
    r->said = now;
    send_all(r, &m);
}

static void ranks_wait(struct sweep_workers *w, double seconds, sweep_ended *ended, void *self)
{
    struct ranks *r = of(w);
    struct rank_message m;
    const double end = process_now() + seconds;
    double pause = 50e-6;
    const int stop = process_stop();
    look_after(r, ended, self);
    for (bool any = false; !any && process_stop() == stop && process_now() < end;) {
        for (int from; (from = rank_receive(&m)) >= 0; any = true) take(r, from, &m, ended, self);
        if (!any) process_sleep(pause);
        if (pause < 2e-3) pause *= 2;
    }
}

static void ranks_drain(struct sweep_workers *w)
{
    const struct rank_message m = {.kind = RANK_DRAIN};
    of(w)->drained = true;
    send_all(of(w), &m);
}

void ranks_end(void)
{
    static bool ended;
    struct rank_message m = {.kind = RANK_END, .n = lost_ranks};
    int size = 0;
    (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < size && !ended; i++)
        if (!is_lost || !is_lost[i]) rank_send(i, &m);
    if (!ended) ranks_flush(1);
    ended = true;
}

static void ranks_free(struct sweep_workers *w)
{
    struct ranks *r = of(w);
    is_lost = calloc((size_t)r->size, sizeof *is_lost);
    if (!is_lost) abort();
    for (int i = 1; i < r->size; i++) is_lost[i] = r->list[i].lost;
    ranks_end();
    free(is_lost);
    is_lost = NULL;
    free(r->at);
    free(r->list);
    free(r);
}

struct sweep_workers *ranks_deal(const struct sweep_cell *cells, size_t count,
                                 const uint8_t digest[32], unsigned jobs, double lost_after,
                                 bool ships)
{
    struct rank_message m = {
        .kind = RANK_START, .n = jobs, .lost_after = lost_after, .ships = ships};
    struct ranks *r = calloc(1, sizeof *r);
    if (!r) abort();
    *r = (struct ranks){.base = {.free_slots = ranks_free_slots,
                                 .busy = ranks_busy,
                                 .begin = ranks_begin,
                                 .wait = ranks_wait,
                                 .drain = ranks_drain,
                                 .free = ranks_free},
                        .cells = cells,
                        .count = count,
                        .jobs = jobs,
                        .lost_after = lost_after,
                        .said = process_now()};
    (void)MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    r->at = calloc(count + 1, sizeof *r->at);
    r->list = calloc((size_t)r->size, sizeof *r->list);
    if (!r->at || !r->list) abort();
    memcpy(m.digest, digest, sizeof m.digest);
    send_all(r, &m);
    return &r->base;
}
