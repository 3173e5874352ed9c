/* The other ranks: workers, which run the cells that rank 0 sends. */
#define _GNU_SOURCE
#include "cli/mpi/ranks.h"
#include "cli/mpi/ship.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds between two looks for messages: each time that there is none the next pause is twice as long. */
static const double SHORTEST = 1e-4, LONGEST = 16e-3;

struct waiting { /* a cell that was sent, or has begun */
    struct sweep_cell what;
    uint64_t cell;
    bool begun;
    struct waiting *next;
};

struct work {
    struct sweep_workers *processes; /* NULL: not begun yet */
    struct sweep_plan *plan;         /* NULL: not read */
    struct waiting *first, **last;
    struct silence silence;
    double lost_after, said;
    double pause; /* the next one */
    bool over;
    int lost;
};

static void send(enum rank_kind kind, uint64_t cell, const struct sweep_record *x)
{
    struct rank_message m = {.kind = kind, .cell = cell};
    if (x) m.record = *x;
    rank_send(0, &m);
}

/* Takes a cell out of the list and sends its result to rank 0. sweep_ended */
static void answer(void *self, const struct sweep_cell *c, const struct sweep_record *x)
{
    struct work *w = self;
    struct waiting **at = &w->first;
    while (&(*at)->what != c) at = &(*at)->next;
    struct waiting *gone = *at;
    send(x ? RANK_RESULT : RANK_BACK, gone->cell, x);
    w->pause = SHORTEST;
    *at = gone->next;
    if (!*at) w->last = at;
    free(gone);
}

static void add(struct work *w, const struct rank_message *m)
{
    struct waiting *x = calloc(1, sizeof *x);
    if (!x) abort();
    x->what = m->what;
    x->cell = m->cell;
    *w->last = x;
    w->last = &x->next;
}

static void give_back(struct work *w)
{
    for (struct waiting *x = w->first, *next; x; x = next) {
        next = x->next;
        if (!x->begun) answer(w, &x->what, NULL);
    }
}

static void begin(struct work *w)
{
    for (struct waiting *x = w->first, *next; x && w->processes->free_slots(w->processes);
         x = next) {
        next = x->next;
        if (x->begun) continue;
        x->begun = !w->processes->begin(w->processes, &x->what);
        if (!x->begun) return; /* the host has no process left now; the next look tries again */
    }
}

/* What rank 0 asked for first: receive the inputs if it sends them, read the plan, and compare it. */
static void start(struct work *w, const struct rank_message *m,
                  int (*read)(void *, struct sweep_plan **), void *self, const char *program)
{
    uint8_t own[32];
    struct rank_message reply = {.kind = RANK_OTHER};
    (void)gethostname(reply.host, sizeof reply.host - 1);
    w->lost_after = m->lost_after;
    if ((!m->ships || ship_receive()) && read(self, &w->plan) == EXIT_FINE &&
        ranks_digest(w->plan, program, own) && memcmp(own, m->digest, sizeof own) == 0) {
        const struct sweep_processes options = {.plan = w->plan, .program = program, .jobs = m->n};
        w->processes = sweep_processes(&options);
        reply.kind = RANK_READY;
    }
    rank_send(0, &reply);
}

static void look_after(struct work *w)
{
    const double now = process_now();
    silence_grow(&w->silence, now);
    if (w->silence.seconds > w->lost_after) {
        w->over = true;
        w->lost = -1;
    }
    if (now - w->said < w->lost_after / 4) return;
    w->said = now;
    send(RANK_ALIVE, 0, NULL);
}

int ranks_work(int (*read)(void *self, struct sweep_plan **plan), void *self, const char *program,
               double lost_after)
{
    struct work w = {.lost_after = 10 * lost_after}; /* rank 0 may have a long journal to read */
    struct rank_message m;
    w.last = &w.first;
    w.pause = SHORTEST;
    while (!w.over) {
        for (; !w.over && rank_receive(&m) == 0; w.pause = SHORTEST) {
            w.silence.seconds = 0;
            if (m.kind == RANK_START) start(&w, &m, read, self, program);
            else if (m.kind == RANK_CELL) add(&w, &m);
            else if (m.kind == RANK_DRAIN) give_back(&w);
            else if (m.kind == RANK_END) {
                w.over = true;
                w.lost = (int)m.n;
            }
        }
        if (!w.over) look_after(&w);
        if (w.over) break;
        if (w.processes) begin(&w);
        const double pause = w.pause;
        if (w.pause < LONGEST) w.pause *= 2;
        if (w.processes && w.processes->busy(w.processes))
            w.processes->wait(w.processes, pause, answer, &w);
        else process_sleep(pause);
    }
    if (w.processes) w.processes->free(w.processes);
    if (w.plan) arena_free(w.plan->arena); /* the plan, too */
    while (w.first) {
        struct waiting *next = w.first->next;
        free(w.first);
        w.first = next;
    }
    return w.lost;
}
