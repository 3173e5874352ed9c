/* Makes the runs of the chosen items: each target, order and seed is a cell of a sweep. The numbers of a run are a JSON
 * object in DIR/cells/ID.json; for items that compare only results, they are the digest in DIR/journal.ndjson, which
 * lists the cells that have ended. */
#define _GNU_SOURCE
#include "cli/reproduce.h"

#include "base/replace.h"
#include "cli/cli.h"

#include "base/sha256.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PATH = 4096 };

static const unsigned sweep_measures[REPRODUCE_MEASURES] = {
    [REPRODUCE_ESTIMATE] = SWEEP_ESTIMATE,
    [REPRODUCE_COUNTS] = SWEEP_DIGEST | SWEEP_COUNTS,
    [REPRODUCE_DIGEST] = SWEEP_DIGEST,
};

/* ---- names -------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct sweep_cell *x = a, *y = b;
    const uint64_t p[] = {x->target, x->gpu, x->order, x->seed};
    const uint64_t q[] = {y->target, y->gpu, y->order, y->seed};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
    return 0;
}

static struct sweep_cell cell_of(const struct reproduce *r, const struct reproduce_item *i,
                                 uint32_t target, uint32_t input, uint32_t order, uint64_t seed)
{
    struct sweep_cell c = {.target = i->targets[target].inputs[input],
                           .order = i->orders[order].order,
                           .gpu = i->gpu,
                           .seed = seed};
    if (!sweep_order_has_seeds(r->plan.orders[c.order])) c.seed = 0;
    return c;
}

static void add_cells(struct reproduce *r, const struct reproduce_item *i)
{
    const enum reproduce_measure m = i->measure;
    size_t more = 0, inputs = 0;
    for (uint32_t t = 0; t < i->target_count; t++) inputs += i->targets[t].input_count;
    for (size_t o = 0; o < i->order_count; o++) more += i->orders[o].seed_count * inputs;
    r->cells[m] = realloc(r->cells[m], (r->cell_counts[m] + more + 1) * sizeof **r->cells);
    if (!r->cells[m]) abort();
    for (uint32_t t = 0; t < i->target_count; t++)
        for (uint32_t k = 0; k < i->targets[t].input_count; k++)
            for (uint32_t o = 0; o < i->order_count; o++)
                for (size_t s = 0; s < i->orders[o].seed_count; s++)
                    r->cells[m][r->cell_counts[m]++] = cell_of(r, i, t, k, o,
                                                               i->orders[o].seeds[s]);
}

/* Sorted, as sweep_run() wants them, and each once. */
static void sort_cells(struct reproduce *r, int m, const uint8_t *program)
{
    struct sweep_cell *cells = r->cells[m];
    size_t n = 0;
    if (!cells) return;
    qsort(cells, r->cell_counts[m], sizeof *cells, by_place);
    r->plan.measure = sweep_measures[m];
    for (size_t i = 0; i < r->cell_counts[m]; i++) {
        if (n && by_place(&cells[n - 1], &cells[i]) == 0) continue;
        cells[n] = cells[i];
        sweep_cell_name(&r->plan, &cells[n++], program);
    }
    r->cell_counts[m] = n;
    r->numbers[m] = arena_array(r->arena, struct json_t *, n + 1);
}

bool reproduce_cells_name(struct reproduce *r)
{
    uint8_t program[SHA256_BYTES];
    if (!sha256_file("/proc/self/exe", program)) {
        usage_error("reproduce", "cannot read Heddle's own program: %s", strerror(errno));
        return false;
    }
    for (size_t i = 0; i < r->count; i++)
        if (r->items[i].chosen) add_cells(r, &r->items[i]);
    for (int m = 0; m < REPRODUCE_MEASURES; m++) sort_cells(r, m, program);
    return true;
}

void reproduce_cells_free(struct reproduce *r)
{
    for (int m = 0; m < REPRODUCE_MEASURES; m++) {
        for (size_t i = 0; i < r->cell_counts[m] && r->numbers[m]; i++)
            json_decref(r->numbers[m][i]);
        free(r->cells[m]);
    }
}

const struct json_t *reproduce_numbers(const struct reproduce *r, const struct reproduce_item *i,
                                       uint32_t target, uint32_t input, uint32_t order,
                                       uint64_t seed)
{
    const struct sweep_cell key = cell_of(r, i, target, input, order, seed);
    const struct sweep_cell *c = r->cells[i->measure]
                                     ? bsearch(&key, r->cells[i->measure],
                                               r->cell_counts[i->measure], sizeof key, by_place)
                                     : NULL;
    return c ? r->numbers[i->measure][c - r->cells[i->measure]] : NULL;
}

/* ---- what a process printed ---------------------------------------------------------------------------- */

/* Of several launches the sum; of a greatest value the greatest. */
static void add_number(json_t *to, const char *name, double x)
{
    const size_t n = strlen(name);
    const bool most = n > 8 && strcmp(name + n - 8, ".longest") == 0;
    const double before = json_number_value(json_object_get(to, name));
    json_object_set_new(to, name, json_real(most ? fmax(before, x) : before + x));
}

static void add_object(json_t *to, json_t *from)
{
    const char *name;
    json_t *x;
    json_object_foreach(from, name, x)
    {
        if (json_is_number(x)) add_number(to, name, json_number_value(x));
    }
}

/* heddle-counts: counts of the phases, counts of the order. */
static bool add_counts(json_t *to, const char *path)
{
    size_t i, k;
    json_t *l, *phase, *counts = json_load_file(path, 0, NULL);
    (void)unlink(path);
    json_array_foreach(json_object_get(counts, "launches"), i, l)
    {
        add_object(to, json_object_get(l, "order_counts"));
        json_array_foreach(json_object_get(l, "phases"), k, phase)
            add_object(to, json_object_get(phase, "counts"));
    }
    json_decref(counts);
    return counts != NULL;
}

static void add_estimate(json_t *to, const json_t *printed)
{
    char part[80];
    const char *name;
    json_t *x;
    const json_t *total = json_object_get(json_array_get(json_object_get(printed, "gpus"), 0),
                                          "total");
    add_number(to, "cycles", json_number_value(json_object_get(total, "cycles")));
    add_number(to, "seconds", json_number_value(json_object_get(total, "seconds")));
    json_object_foreach(json_object_get(total, "parts"), name, x)
    {
        snprintf(part, sizeof part, "part.%s", name);
        add_number(to, part, json_number_value(x));
    }
}

static void cell_path(const struct reproduce *r, const struct sweep_cell *c, const char *suffix,
                      char path[MOST_PATH])
{
    snprintf(path, MOST_PATH, "%s/cells/%s%s", r->folder, c->id, suffix);
}

/* sweep_run.keep */
static bool keep(void *self, const struct sweep_cell *c, const struct json_t *printed)
{
    const struct reproduce *r = self;
    char counts[MOST_PATH], path[MOST_PATH];
    struct replacement f;
    const char *digest = json_string_value(json_object_get(printed, "read_back_digest"));
    if (!digest) digest = json_string_value(json_object_get(printed, "memory_digest"));
    if (r->plan.measure == SWEEP_DIGEST) return digest != NULL; /* the journal has it */
    json_t *numbers = json_object();
    snprintf(counts, sizeof counts, "%s/counts/%s.json", r->folder, c->id);
    cell_path(r, c, ".json", path);
    bool ok = add_counts(numbers, counts);
    if (r->plan.measure == SWEEP_ESTIMATE) add_estimate(numbers, printed);
    if (digest) json_object_set_new(numbers, "digest", json_string(digest));
    const bool opened = replacement_open(&f, path);
    ok = ok && opened && json_dumpf(numbers, f.out, JSON_INDENT(1) | JSON_SORT_KEYS) == 0;
    ok = replacement_close(&f, ok) && ok;
    json_decref(numbers);
    return ok;
}

/* ---- runs ----------------------------------------------------------------------------------------------- */

/* Reads the numbers of cells that have ended well. A cell without them runs again. */
static void read_numbers(struct reproduce *r, int m)
{
    char path[MOST_PATH];
    for (size_t i = 0; i < r->cell_counts[m]; i++) {
        struct sweep_cell *c = &r->cells[m][i];
        if (c->state == SWEEP_OK && !r->numbers[m][i] && m == REPRODUCE_DIGEST)
            r->numbers[m][i] = json_pack("{s:s+}", "digest", "0x", c->record->digest);
        else if (c->state == SWEEP_OK && !r->numbers[m][i]) {
            cell_path(r, c, ".json", path);
            r->numbers[m][i] = json_load_file(path, 0, NULL);
        }
        if (!r->numbers[m][i]) c->state = SWEEP_MISSING;
    }
}

static int run_measure(struct reproduce *r, int m, struct sweep_journal *j, const char *counts)
{
    struct sweep_run run = {.plan = &r->plan,
                            .cells = r->cells[m],
                            .count = r->cell_counts[m],
                            .journal = j,
                            .command = "reproduce",
                            .counts = m == REPRODUCE_DIGEST ? NULL : counts,
                            .keep = keep,
                            .self = r,
                            .jobs = r->jobs,
                            .quiet = r->quiet};
    if (!run.count) return EXIT_FINE;
    r->plan.measure = sweep_measures[m];
    sweep_cells_join(run.cells, run.count, j);
    read_numbers(r, m);
    const int status = sweep_run(&run);
    sweep_cells_join(run.cells, run.count, j);
    read_numbers(r, m);
    return status;
}

static void say_failed(const struct reproduce *r, int m)
{
    for (size_t i = 0; i < r->cell_counts[m]; i++) {
        const struct sweep_cell *c = &r->cells[m][i];
        if (r->numbers[m][i] || !c->record) continue;
        fprintf(stderr, "heddle reproduce: failed with status %d: heddle %s %s --order %s --gpu %s",
                c->record->exit, m == REPRODUCE_ESTIMATE ? "estimate" : "run",
                r->plan.targets[c->target].name, r->plan.orders[c->order], r->plan.gpus[c->gpu]);
        if (c->seed) fprintf(stderr, " --seed %" PRIu64, c->seed);
        fputs("\n", stderr);
    }
}

int reproduce_cells_run(struct reproduce *r)
{
    char path[MOST_PATH];
    struct sweep_journal j;
    int status = EXIT_FINE;
    static const char *const folders[] = {"cells", "counts"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", r->folder, folders[i]);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return usage_error("reproduce", "cannot make '%s': %s", path, strerror(errno));
    }
    if (!sweep_journal_open(&j, r->folder, true))
        return usage_error("reproduce", "cannot open the journal in '%s': %s", r->folder,
                           strerror(errno));
    /* Cells that take longest come first, so that the last ones are short. */
    for (int m = 0; m < REPRODUCE_MEASURES && status == EXIT_FINE; m++)
        status = run_measure(r, m, &j, path);
    for (int m = 0; m < REPRODUCE_MEASURES; m++) say_failed(r, m);
    sweep_journal_close(&j);
    return status;
}
