/* cli/reproduce.h: reproduces figures, tables and claims of the papers on GPUDet and DAB.
 *
 *     heddle reproduce thesis-6.1 -o out           # out/index.html, out/claims.csv, out/data/thesis-6.1.csv
 *
 * cli/reproduce/items.yaml lists the *items*: a figure or table of a paper, the workloads that stand for the paper's
 * programs, orders, and *claims*: a statement of the paper, its number, and a formula over the results of runs.
 * reproduce_items.c reads the list; reproduce_cells.c makes cells from it as a sweep does (cli/sweep.h: processes, journal,
 * resuming) and reads their results; reproduce_formula.c evaluates formulas; reproduce_verdict.c judges claims;
 * reproduce_lapse.c makes time lapses; reproduce_page.c and reproduce_svg.c write the outputs. The results do not depend on
 * the number of processes. */
#ifndef HEDDLE_CLI_REPRODUCE_H
#define HEDDLE_CLI_REPRODUCE_H

#include "cli/sweep.h"

struct buf;
struct emu_gpu;

enum { REPRODUCE_MOST_SEEDS = 512 }; /* for an order of an item */

enum reproduce_measure {
    REPRODUCE_ESTIMATE, /* `heddle estimate` with --counts: cycles, their parts, counts */
    REPRODUCE_COUNTS,   /* `heddle run` with --counts */
    REPRODUCE_DIGEST,   /* `heddle run`: digest of the results */
    REPRODUCE_MEASURES
};

struct reproduce_target {
    const char *name;       /* name in the paper's figure: "BFSr" */
    const uint32_t *inputs; /* indices of the plan's targets; numbers are their mean */
    uint32_t input_count;   /* at least 1 */
};

struct reproduce_order {
    const char *name; /* name in formulas: "nondet" */
    uint32_t order;   /* index of the plan's order */
    const uint64_t *seeds;
    size_t seed_count; /* if above 1, numbers are medians over the seeds */
};

struct reproduce_set { /* a set of the item's targets, for mean[NAME](...) */
    const char *name;
    const uint32_t *targets; /* indices of the item's targets */
    size_t count;
};

enum reproduce_kind {
    REPRODUCE_RATIO, /* a ratio of times: ratio - 1 (overhead or gain) and its sign are compared */
    REPRODUCE_COUNT, /* the number itself is compared */
    REPRODUCE_EXACT
};

struct reproduce_claim {
    /* says: the paper's words. why: the cause of a difference (reproduce_text_take); "": unknown. */
    const char *name, *says, *why;
    const char *paper;  /* the paper's number as text: "2.05", "2..4", "<1.03", ">0.5" */
    double least, most; /* its range or bound, equal for a number; -INFINITY, INFINITY: no bound */
    double tolerance;   /* relative tolerance of the overhead, gain or count */
    enum reproduce_kind kind;
    struct piece formula;
};

struct reproduce_series {
    const char *name;
    struct piece formula; /* evaluated for each target */
};

/* A time lapse: a heat map of SMs over time for each order, one below the other. `heddle report --svg` draws it. */
struct reproduce_lapse {
    const char *name; /* suffix of its file's name, behind the item's id */
    uint32_t target;  /* index of the item's target */
    uint32_t *orders; /* indices of the item's orders */
    size_t order_count;
    uint32_t interval; /* cycles */
    const char *svg;   /* the figure; NULL: not made */
};

struct reproduce_item {
    const char *id, *place, *title, *text;
    bool slow;   /* --quick omits the item */
    bool chosen; /* the command line asks for the item */
    enum reproduce_measure measure;
    uint32_t gpu; /* index of the plan's GPU */
    const struct emu_gpu *config;
    struct reproduce_target *targets;
    struct reproduce_order *orders;
    struct reproduce_set *sets;
    struct reproduce_claim *claims;
    size_t target_count, order_count, set_count, claim_count;
    bool stacked, logarithmic; /* properties of its figure */
    const char *unit;          /* unit of its figure */
    struct reproduce_series *series;
    size_t series_count; /* 0: no figure */
    struct reproduce_lapse *lapses;
    size_t lapse_count;
};

struct reproduce {
    struct arena *arena;
    struct sweep_plan plan; /* all targets, orders and GPUs */
    struct reproduce_item *items;
    size_t count;
    const char *folder;
    unsigned jobs;
    bool quiet;
    struct sweep_cell *cells[REPRODUCE_MEASURES];
    size_t cell_counts[REPRODUCE_MEASURES];
    /* For each cell a JSON object of numbers; NULL: the cell failed or has not run. */
    struct json_t **numbers[REPRODUCE_MEASURES];
};

/* The built-in list. The build generates it from the files of cli/reproduce/. */
extern const char reproduce_yaml[];
/* The verdicts of the last recorded run, as a claims.csv. */
extern const char reproduce_csv[];

/* Reads a list of items. Errors, including those of formulas, are in the diags. */
bool reproduce_items_read(struct reproduce *r, struct diags *d);

/* ---- cells --------------------------------------------------------------------------------------- */

/* Makes the cells of the chosen items. false after a message. */
bool reproduce_cells_name(struct reproduce *r);
/* Runs missing cells and reads their numbers; returns an exit code. */
int reproduce_cells_run(struct reproduce *r);
void reproduce_cells_free(struct reproduce *r);
/* Makes the missing time lapses of the chosen items, and reads all. Returns an exit code: EXIT_USAGE after a message that
 * names the command that failed. */
int reproduce_lapses_run(struct reproduce *r);
/* The numbers of the run of one of a target's inputs; NULL: the run failed. */
const struct json_t *reproduce_numbers(const struct reproduce *r, const struct reproduce_item *i,
                                       uint32_t target, uint32_t input, uint32_t order,
                                       uint64_t seed);

/* ---- formulas ------------------------------------------------------------------------------------ */

/*     gpu.sm.warps                                     a number of the item's GPU (emu/gpu.def: section and key)
 *     cycles@gpudet / cycles@nondet                    for one target: in a figure's series
 *     mean(cycles@gpudet / cycles@nondet)              over all targets of the item
 *     mean[barriers](...), cycles@gpudet[AES]          over a set of targets; for one target
 *     sum(gpudet.end.exit@base > gpudet.end.barrier@base)      number of targets for which it is true
 *
 * Also + - * ( ), numbers, geomean, least, most, min(a, b, ...), max(a, b, ...), three_digits(x), which rounds
 * up to three decimal digits, and results@ORDER: the number of different results over the seeds of an order. */
enum { REPRODUCE_NO_TARGET = UINT32_MAX, REPRODUCE_MEDIAN = UINT32_MAX };

/* Checks a formula; errors are in the diags. `one_target`: the formula is for one target. */
bool reproduce_formula_check(const struct reproduce_item *i, struct piece formula, bool one_target,
                             struct diags *d);
/* The value of a formula; NAN if a run failed. `seed`: index of the seed to use for each order, or REPRODUCE_MEDIAN. */
double reproduce_formula(const struct reproduce *r, const struct reproduce_item *i,
                         struct piece formula, uint32_t target, uint32_t seed);

/* Texts and causes may have formulas in braces: "without them it is {mean[others](...)}". Takes the text before the next
 * formula, and the formula, which is empty behind the last one; *text becomes the rest. */
void reproduce_text_take(const char **text, struct piece *before, struct piece *formula);

/* ---- verdicts ------------------------------------------------------------------------------------ */

enum reproduce_verdict { VERDICT_FAILED, VERDICT_SIGN, VERDICT_NO, VERDICT_YES, VERDICTS };
extern const char *const reproduce_verdict_names[VERDICTS];

/* Reads "2.05", "2..4", "<1.03" or ">0.5" into the claim. */
bool reproduce_paper_read(struct reproduce_claim *c);
enum reproduce_verdict reproduce_verdict(const struct reproduce_claim *c, double ours);

struct reproduce_result {
    /* ours: by the median over seeds. least, most: over the seeds one by one; least > most: one seed. */
    double ours, least, most;
    enum reproduce_verdict verdict;
};
struct reproduce_result reproduce_judge(const struct reproduce *r, const struct reproduce_item *i,
                                        const struct reproduce_claim *c);
/* Our number divided by the paper's number, or by the nearest bound. */
double reproduce_ratio(const struct reproduce_claim *c, double ours);

/* Prints the claims whose verdict is worse than in a recorded claims.csv; returns their number. */
size_t reproduce_worse(const struct reproduce *r, const char *recorded);
/* Whether the text is a claims.csv. */
bool reproduce_is_recorded(const char *csv);

/* ---- outputs ------------------------------------------------------------------------------------- */

/* Writes index.html, claims.csv, claims.md, data/ and figures/. false after a message. */
bool reproduce_write(const struct reproduce *r);
/* Prints the table of verdicts as text. */
void reproduce_print(const struct reproduce *r);
/* Appends the figure of an item; nothing if it has none. */
void reproduce_svg(const struct reproduce *r, const struct reproduce_item *i, struct buf *out);

#endif
