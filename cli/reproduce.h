/* cli/reproduce.h: figures, tables and claims of the papers on GPUDet and DAB, run again.
 *
 *     heddle reproduce thesis-6.1 -o out           # out/index.html, out/claims.csv, out/data/thesis-6.1.csv
 *
 * cli/reproduce/items.yaml lists the *items*: a figure or table of a paper, the workloads that stand for the paper's
 * programs, orders, and *claims*: what the paper says, the number it gives, and a formula over what was measured.
 * reproduce_items.c reads the list, reproduce_cells.c makes cells of it as a sweep does (cli/sweep.h: processes, journal,
 * resuming) and reads what was measured, reproduce_formula.c computes, reproduce_verdict.c judges, reproduce_page.c and
 * reproduce_svg.c write. Time lapses are made by reproduce_lapse.c. Nothing here depends on the number of processes. */
#ifndef HEDDLE_CLI_REPRODUCE_H
#define HEDDLE_CLI_REPRODUCE_H

#include "cli/sweep.h"

struct buf;
struct emu_gpu;

enum { REPRODUCE_MOST_SEEDS = 512 }; /* of an order of an item */

enum reproduce_measure {
    REPRODUCE_ESTIMATE, /* `heddle estimate` with --counts: cycles, their parts, counts */
    REPRODUCE_COUNTS,   /* `heddle run` with --counts */
    REPRODUCE_DIGEST,   /* `heddle run`: the digest of the results */
    REPRODUCE_MEASURES
};

struct reproduce_target {
    const char *name;       /* as in the paper's figure: "BFSr" */
    const uint32_t *inputs; /* targets of the plan; of several, numbers are the mean */
    uint32_t input_count;   /* at least 1 */
};

struct reproduce_order {
    const char *name; /* as formulas call it: "nondet" */
    uint32_t order;   /* of the plan */
    const uint64_t *seeds;
    size_t seed_count; /* above 1: a number is the median over the seeds */
};

struct reproduce_set { /* some of the item's targets, for mean[NAME](...) */
    const char *name;
    const uint32_t *targets; /* indices into the item's */
    size_t count;
};

enum reproduce_kind {
    REPRODUCE_RATIO, /* of times: its overhead or gain (ratio - 1) is compared, and the sign of that */
    REPRODUCE_COUNT, /* compared as it is */
    REPRODUCE_EXACT
};

struct reproduce_claim {
    const char *name, *says,
        *why; /* says: the paper's words; why: the cause of a difference (reproduce_text_take); "": none is known */
    const char *paper;  /* its number, as written: "2.05", "2..4", "<1.03", ">0.5" */
    double least, most; /* of a range or bound, else equal; -INFINITY, INFINITY: no bound */
    double tolerance;   /* relative, of overhead, gain or count */
    enum reproduce_kind kind;
    struct piece formula;
};

struct reproduce_series {
    const char *name;
    struct piece formula; /* evaluated for each target */
};

/* A time lapse: heat maps of SMs by time, one for each order, below each other. `heddle report --svg` draws it. */
struct reproduce_lapse {
    const char *name; /* of its file, behind the item's id */
    uint32_t target;  /* of the item */
    uint32_t *orders; /* of the item */
    size_t order_count;
    uint32_t interval; /* cycles */
    const char *svg;   /* the figure; NULL: it could not be made, or not yet */
};

struct reproduce_item {
    const char *id, *place, *title, *text;
    bool slow;   /* not part of --quick */
    bool chosen; /* by the command line */
    enum reproduce_measure measure;
    uint32_t gpu; /* of the plan */
    const struct emu_gpu *config;
    struct reproduce_target *targets;
    struct reproduce_order *orders;
    struct reproduce_set *sets;
    struct reproduce_claim *claims;
    size_t target_count, order_count, set_count, claim_count;
    bool stacked, logarithmic; /* of its figure */
    const char *unit;          /* of its figure */
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
    struct json_t *
        *numbers[REPRODUCE_MEASURES]; /* of each cell: an object; NULL: it failed or has not run */
};

/* The list that is built in. Made by the build from the files of cli/reproduce/. */
extern const char reproduce_yaml[];
/* Verdicts of the last recorded run: a claims.csv. */
extern const char reproduce_csv[];

/* Reads a list of items; errors, also those of formulas, are in the diags. */
bool reproduce_items_read(struct reproduce *r, struct diags *d);

/* ---- cells --------------------------------------------------------------------------------------- */

/* Names the cells of the chosen items. false: after a message. */
bool reproduce_cells_name(struct reproduce *r);
/* Runs what is missing and reads the numbers; an exit code. */
int reproduce_cells_run(struct reproduce *r);
void reproduce_cells_free(struct reproduce *r);
/* Makes the time lapses of the chosen items that the folder does not have yet, and reads all. EXIT_USAGE after a message
 * that names the command that failed. */
int reproduce_lapses_run(struct reproduce *r);
/* What was measured in a run of one of a target's inputs; NULL: it failed. */
const struct json_t *reproduce_numbers(const struct reproduce *r, const struct reproduce_item *i,
                                       uint32_t target, uint32_t input, uint32_t order,
                                       uint64_t seed);

/* ---- formulas ------------------------------------------------------------------------------------ */

/*     gpu.sm.warps                                     a number of the item's GPU (emu/gpu.def: section and key)
 *     cycles@gpudet / cycles@nondet                    for one target: of a figure's series
 *     mean(cycles@gpudet / cycles@nondet)              over all targets of the item
 *     mean[barriers](...), cycles@gpudet[AES]          over a set; of one target
 *     sum(gpudet.end.exit@base > gpudet.end.barrier@base)      how often it is so
 *
 * Also + - * ( ), numbers, geomean, least, most, min(a, b, ...), max(a, b, ...), three_digits(x), which rounds
 * up to three decimal digits, results@ORDER: how many different
 * results the seeds of an order gave. */
enum { REPRODUCE_NO_TARGET = UINT32_MAX, REPRODUCE_MEDIAN = UINT32_MAX };

/* Says in the diags what is wrong with a formula. `one_target`: it is for one target. */
bool reproduce_formula_check(const struct reproduce_item *i, struct piece formula, bool one_target,
                             struct diags *d);
/* Its value; NAN if a run failed. `seed`: the index of the seed that stands for all of an order, or REPRODUCE_MEDIAN. */
double reproduce_formula(const struct reproduce *r, const struct reproduce_item *i,
                         struct piece formula, uint32_t target, uint32_t seed);

/* Texts and causes may have formulas in braces: "without them it is {mean[others](...)}". Takes what stands before the next
 * one, and the formula, which is empty behind the last; `text` then is what stands behind both. */
void reproduce_text_take(const char **text, struct piece *before, struct piece *formula);

/* ---- verdicts ------------------------------------------------------------------------------------ */

enum reproduce_verdict { VERDICT_FAILED, VERDICT_SIGN, VERDICT_NO, VERDICT_YES, VERDICTS };
extern const char *const reproduce_verdict_names[VERDICTS];

/* Reads "2.05", "2..4", "<1.03" or ">0.5" into the claim. */
bool reproduce_paper_read(struct reproduce_claim *c);
enum reproduce_verdict reproduce_verdict(const struct reproduce_claim *c, double ours);

struct reproduce_result {
    double ours, least,
        most; /* of the median of seeds, and of each seed alone; least > most: one seed */
    enum reproduce_verdict verdict;
};
struct reproduce_result reproduce_judge(const struct reproduce *r, const struct reproduce_item *i,
                                        const struct reproduce_claim *c);
/* Ours divided by the paper's number, or its nearest bound. */
double reproduce_ratio(const struct reproduce_claim *c, double ours);

/* Prints the claims whose verdict is worse than in a recorded claims.csv; their number. */
size_t reproduce_worse(const struct reproduce *r, const char *recorded);
/* Whether the text is a claims.csv. */
bool reproduce_is_recorded(const char *csv);

/* ---- outputs ------------------------------------------------------------------------------------- */

/* Writes index.html, claims.csv, claims.md, data/ and figures/. false after a message. */
bool reproduce_write(const struct reproduce *r);
/* The table of verdicts, as text. */
void reproduce_print(const struct reproduce *r);
/* The figure of an item; nothing if it has none. */
void reproduce_svg(const struct reproduce *r, const struct reproduce_item *i, struct buf *out);

#endif
