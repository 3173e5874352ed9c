/* The runs of `heddle check` with checks, and their findings (struct check_races). */
#include "cli/check.h"

#include "base/arena.h"

#include <string.h>

/* No store is late and no strong load is stale: the race detector takes a strong load for one of the newest write
 * (docs/races.md). All warps go on alike: where some wait for a lock, other strategies take many times longer. */
#define RACE_ORDER "random:strategy=uniform:late-stores=off:stale-strong=off"
#define RACE_CHECKS "race,atomicity"
#define INIT_CHECKS "init,sync"

void check_races_begin(struct check *c)
{
    const size_t n = c->request.no_race ? 0 : CHECK_RANDOM_RUNS + c->request.race_runs;
    c->races = (struct check_races){
        .asked = n, .wanted = n, .runs = arena_array(c->arena, struct check_run, n + 1)};
    if (n && c->request.no_init) /* it counts as made, and found nothing */
        c->races.runs[CHECK_INIT_RUN] = (struct check_run){.state = RUN_ENDED,
                                                           .fault = {"", "", "", 0, 0, false}};
}

static const char *order_of(const struct check *c, size_t run)
{
    return run >= CHECK_RANDOM_RUNS ? RACE_ORDER : c->rows[0].order;
}

static uint64_t seed_of(const struct check *c, size_t run)
{
    return run >= CHECK_RANDOM_RUNS ? check_seed(c, run - CHECK_RANDOM_RUNS) : 0;
}

static const char *checks_of(size_t run)
{
    return run == CHECK_INIT_RUN ? INIT_CHECKS : RACE_CHECKS;
}

struct check_task check_races_task(const struct check *c, size_t run)
{
    return (struct check_task){
        .order = order_of(c, run), .seed = seed_of(c, run), .checks = checks_of(run)};
}

char *check_races_command(const struct check *c, size_t run)
{
    const char *checks = c->request.checks;
    checks = arena_printf(c->arena, "%s%s%s", checks ? checks : "", checks ? "," : "",
                          checks_of(run));
    return check_command_of(c, order_of(c, run), seed_of(c, run), checks);
}

static bool found_races(const struct check_run *r)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].kind == EMU_RACE) return true;
    return false;
}

void check_races_look(struct check *c)
{
    struct check_races *x = &c->races;
    while (x->ended < x->wanted && x->runs[x->ended].state >= RUN_ENDED) {
        const struct check_run *r = &x->runs[x->ended++];
        if (check_run_lost(r)) x->wanted = x->ended;
        else if (found_races(r))
            x->wanted = x->ended < CHECK_RANDOM_RUNS ? CHECK_RANDOM_RUNS : x->ended;
    }
}

const struct check_run *check_races_lost(const struct check *c)
{
    for (size_t i = 0; i < c->races.ended; i++)
        if (check_run_lost(&c->races.runs[i])) return &c->races.runs[i];
    return NULL;
}

/* ---- findings --------------------------------------------------------------------------------------- */

/* Of the lines of the source: the instructions of an unrolled loop are one finding. */
static bool same_source(const struct check_finding *f, const struct check_finding *g)
{
    const char *const *a = (const char *[]){f->source_file, f->source_file2};
    const char *const *b = (const char *[]){g->source_file, g->source_file2};
    const unsigned x[] = {f->source_line, f->source_line2}, y[] = {g->source_line, g->source_line2};
    if (!*a[0] || !*a[1]) return false;
    for (int turned = 0; turned < 2; turned++)
        if (x[0] == y[turned] && x[1] == y[!turned] && strcmp(a[0], b[turned]) == 0 &&
            strcmp(a[1], b[!turned]) == 0)
            return true;
    return false;
}

/* Whichever access came first. Modules of a program have lines of the same numbers. */
static bool same_finding(const struct check_finding *f, const struct check_finding *g)
{
    const bool same = f->line == g->line && f->line2 == g->line2,
               turned = f->line == g->line2 && f->line2 == g->line;
    return f->kind == g->kind && (same || turned || same_source(f, g)) &&
           strcmp(f->kernel, g->kernel) == 0 && (f->line || strcmp(f->text, g->text) == 0);
}

/* Launches of one kernel find the same again, and so do other runs. */
static void add_finding(struct check_races *x, const struct check_finding *f, size_t run)
{
    size_t k = 0;
    while (k < x->finding_count && !same_finding(&x->findings[k], f)) k++;
    if (k == x->finding_count) {
        x->findings[x->finding_count++] = *f;
        x->findings[k].run = run;
    } else if (x->findings[k].run == run) x->findings[k].count += f->count;
}

void check_races_sum_up(struct check *c)
{
    struct check_races *x = &c->races;
    size_t all = 0;
    for (size_t i = 0; i < x->ended; i++) all += x->runs[i].finding_count;
    x->findings = arena_array(c->arena, struct check_finding, all + 1);
    for (size_t i = 0; i < x->ended; i++) {
        const struct check_run *r = &x->runs[i];
        if (i == CHECK_INIT_RUN) x->init_examined = r->state == RUN_ENDED && !c->request.no_init;
        else x->examined += r->state == RUN_ENDED;
        uint64_t *const suppressed = i == CHECK_INIT_RUN ? &x->init_suppressed : &x->suppressed;
        if (r->suppressed > *suppressed) *suppressed = r->suppressed;
        for (size_t k = 0; k < r->finding_count; k++) add_finding(x, &r->findings[k], i);
    }
}
