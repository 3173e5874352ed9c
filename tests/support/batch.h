/* tests/support/batch.h: many instructions on many operands, in one kernel.
 *
 *     struct batch b = {.target = "sm_90"};
 *     batch_add(&b, 'f', add_ref, FP_RZ, 0, "add.rz.f32 %%fo, %%f1, %%f2");
 *     for (...) batch_row(&b, x, y, z);        // the words that %f1 %d1 %h1 %r1 %l1, then 2, then 3 hold
 *     batch_run(&b);                           // cr_expect, row by row, that fo == add_ref(case, row)
 *
 * A case is one instruction, or several: in braces, with registers of their own.
 *
 * Word k is in %lk (64 bits), %rk and %fk (32), %dk (as f64), %hk (16), %ck (8, .b8). Results go to %fo %do
 * %ho %ro %lo %co, %po (1 or 0) or %po and %qo ('q': the second 32 bits up). Three rows of four are
 * executed, among them whole warps; in the others the result must stay untouched. */
#ifndef HEDDLE_TESTS_SUPPORT_BATCH_H
#define HEDDLE_TESTS_SUPPORT_BATCH_H

#include <stddef.h>
#include <stdint.h>

enum { BATCH_BLOCK = 200 }; /* threads of a CTA */

struct batch_case;
typedef uint64_t batch_ref(const struct batch_case *c, const uint64_t *in);
struct batch_case {
    char text[320], out;
    batch_ref *ref;
    int x, y;
    const void *about; /* what else the reference wants to know; kept by the caller */
    double
        tolerance; /* not 0: results are floats ('f' or 'd') and may differ by this, relatively */
};
struct batch {
    const char *target;    /* "sm_90" */
    const char *version;   /* NULL: "8.8" */
    const char *variables; /* of the module, as text; NULL: none */
    struct batch_case *cases;
    size_t count;
    uint64_t (*rows)[3];
    size_t row_count;
};

struct batch_case *batch_add(struct batch *b, char out, batch_ref *ref, int x, int y,
                             const char *format, ...) __attribute__((format(printf, 6, 7)));
void batch_row(struct batch *b, uint64_t x, uint64_t y, uint64_t z);
/* Rows of a third (with sanitizers a fifth) of all triples of the values, each pair in them, and `more` of random bits. */
void batch_triples(struct batch *b, const uint64_t *values, size_t n, size_t more);
/* Rows of all pairs of the values, the third operands drawn from them, and `more` of random bits. */
void batch_rows(struct batch *b, const uint64_t *values, size_t n, size_t more, unsigned bits);
void batch_run(struct batch *b); /* and frees what it holds */

uint64_t batch_random(void); /* the same sequence in every process */

#endif
