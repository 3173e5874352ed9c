/* determinism/litmus/litmus.h: litmus tests: small programs of a few threads that race on purpose, and their outcomes.
 *
 *     struct litmus t;
 *     const char *why = litmus_parse(&t, "W x 1; W.rel.gpu y 1 || R.acq.gpu y; R x");    // NULL: it is one
 *     litmus_place(&t, LITMUS_GRID);                             // each thread in a CTA of its own
 *     struct litmus_bench *b = litmus_bench_new(&t, &why);
 *     for (seed = 1; seed <= 1000; seed++) outcome = litmus_bench_run(b, order, &why);
 *
 * Threads are separated by "||", operations by ";". An operation is a letter, its strength and scope, its location (x, y, z
 * or w) and its operand: a number from 0 to 15, or rN, the N-th value that this thread has read (a data dependency).
 *
 *     W x 1   store               strength: none (weak), .rlx, .rel, .acq, .ar (acq_rel), .vol
 *     R x     load                scope: .cta .cluster .gpu .sys
 *     X x 1   atom.exch, A x 1 atom.add, D x 1 red.add         (relaxed where none is given)
 *     F.ar.gpu, F.sc.gpu          fence.acq_rel, fence.sc
 *     B       bar.sync 0 of the CTA's threads
 *
 * An outcome has four bits for each value that was read (R, X and A, in the order of threads and operations), and then for
 * the last value of each location. All locations are 0 at first.
 *
 * Each thread is lane 0 of a warp of its own. The names of shapes are those of Alglave, Maranget, Tautschnig, "Herding
 * cats", TOPLAS 2014. determinism/litmus/axioms.h computes the outcomes that PTX allows, independently of this code. */
#ifndef HEDDLE_DETERMINISM_LITMUS_LITMUS_H
#define HEDDLE_DETERMINISM_LITMUS_LITMUS_H

#include "emu/emu.h"
#include "emu/order.h"

struct buf;

enum { LITMUS_THREADS = 4, LITMUS_OPS = 12, LITMUS_LOCATIONS = 4 };

enum litmus_kind {
    LITMUS_LOAD,
    LITMUS_STORE,
    LITMUS_EXCHANGE,
    LITMUS_ADD,
    LITMUS_REDUCE, /* an addition without a result */
    LITMUS_FENCE,
    LITMUS_BARRIER,
};
enum litmus_strength {
    LITMUS_WEAK,
    LITMUS_VOLATILE,
    LITMUS_RELAXED,
    LITMUS_ACQUIRE,
    LITMUS_RELEASE,
    LITMUS_ACQ_REL,
    LITMUS_SC, /* only fences */
};
struct litmus_op {
    uint8_t kind;     /* enum litmus_kind */
    uint8_t strength; /* enum litmus_strength */
    uint8_t scope;    /* enum emu_scope, unless weak */
    uint8_t location;
    uint8_t value;
    /* index of the read value of this thread that it stores; -1: it stores `value` */
    int16_t from;
    int16_t result; /* index in the outcome of the value that it reads; -1: it reads none */
};
enum litmus_placement {
    LITMUS_GRID,   /* each thread in a CTA of its own */
    LITMUS_BLOCK,  /* all in one CTA */
    LITMUS_PAIRS,  /* threads 0 and 1 in one CTA, the others in another */
    LITMUS_SHARED, /* all in one CTA, locations in shared memory */
    LITMUS_PLACEMENTS
};
extern const char *const litmus_placements[]; /* their names */

struct litmus {
    uint32_t threads, reads, locations;
    uint32_t count[LITMUS_THREADS]; /* operations */
    struct litmus_op ops[LITMUS_THREADS][LITMUS_OPS];
    uint32_t cta[LITMUS_THREADS];
    bool shared; /* the locations are in shared memory */
};

/* Parses a test, in which each thread is in a CTA of its own. Returns NULL, or an error message (a literal). */
const char *litmus_parse(struct litmus *t, const char *text);
void litmus_place(struct litmus *t, enum litmus_placement where);

/* how weak accesses of a shape are strengthened */
enum litmus_variant {
    LITMUS_AS_IS,
    LITMUS_ALL_RELAXED,
    LITMUS_RELAXED_CTA,
    LITMUS_FENCED_CTA, /* relaxed.gpu with fence.acq_rel between any two accesses */
    LITMUS_FENCED,
    LITMUS_FENCED_SYS,
    LITMUS_FENCED_SC_CTA,
    LITMUS_FENCED_SC,
    LITMUS_REL_ACQ_CTA, /* st.release and ld.acquire */
    LITMUS_REL_ACQ,
    LITMUS_ATOMIC_CTA, /* atom.relaxed: exchanges, and additions of 0 */
    LITMUS_ATOMIC,
    LITMUS_VARIANTS
};
extern const char *const litmus_variants[]; /* their names: "weak", "rlx", ... */
void litmus_strengthen(struct litmus *t, enum litmus_variant how);

/* The shapes: their names, texts, and the outcome that no interleaving has, in the format of litmus_print. */
struct litmus_shape {
    const char *name, *text, *weak;
};
extern const struct litmus_shape litmus_shapes[];
extern const size_t litmus_shape_count;

/* Writes the name of a test, "MP+rlx@grid": shape, variant and placement. */
enum { LITMUS_NAME = 64 };
void litmus_name(char out[LITMUS_NAME], size_t shape, enum litmus_variant how,
                 enum litmus_placement where);
/* The test of a shape; the shapes' texts are valid. */
struct litmus litmus_of_shape(size_t shape, enum litmus_variant how, enum litmus_placement where);

/* Appends the text of a test in the format of litmus_parse: "W.rlx.gpu x 1; W.rlx.gpu y 1 || R.rlx.gpu y; R.rlx.gpu
 * x". */
void litmus_text(struct buf *out, const struct litmus *t);
/* "1 0, x=1 y=1": values read, then last values. */
void litmus_print(struct buf *out, const struct litmus *t, uint64_t outcome);
/* Appends the PTX of the kernel `litmus`, whose parameter is a buffer of 4 KiB of zeros. */
void litmus_ptx(struct buf *out, const struct litmus *t);

struct litmus_bench;
/* NULL: failed; *why is an error message (a literal). */
struct litmus_bench *litmus_bench_new(const struct litmus *t, const char **why);
void litmus_bench_free(struct litmus_bench *b);
/* Sets the observer of the launches from now on; NULL: none. */
void litmus_bench_observe(struct litmus_bench *b, const struct emu_observer *observer);
/* number of findings of the last launch */
size_t litmus_bench_findings(const struct litmus_bench *b);
/* Launches the test once. order NULL: native. false: *why is the fault's text, valid until the next launch. */
bool litmus_bench_run(struct litmus_bench *b, const struct emu_order *order, uint64_t *outcome,
                      const char **why);

#endif
