/* cli/check_difference.h: finds where the results of two runs first differ, and the last writer of that memory.
 *
 * Both runs are repeated up to that launch, and all memory is written to a file; then once more with an observer,
 * determinism/record/last_writers.h. The results of native runs may change under an observer: then no writer is named. */
#ifndef HEDDLE_CLI_CHECK_DIFFERENCE_H
#define HEDDLE_CLI_CHECK_DIFFERENCE_H

#include "cli/check.h"
#include "determinism/record/last_writers.h"

enum { MOST_WORDS = 4096 }; /* the most differing words that are examined */

enum parting_kind {
    DIFFER_MEMORY,
    DIFFER_ALLOCATIONS, /* the sets of allocations differ */
    DIFFER_PRINTED,
    DIFFER_FILES,    /* the contents of files that kernels wrote (--files) */
    DIFFER_LAUNCHES, /* the numbers of launches differ */
    DIFFER_BACK,     /* the bytes copied to the host */
    DIFFER_UNKNOWN,  /* a run could not be repeated */
};

struct part_word {             /* a word that differs between the runs */
    uint64_t address;          /* multiple of LAST_WRITERS_WORD */
    unsigned char bytes[2][8]; /* in each run, the aligned 8 bytes that contain the word */
    uint64_t adds[2], others[2];
    double size[2];
};

struct float_difference {   /* differences of the words as floating-point elements of the type */
    uint64_t elements, ulp; /* ulp, relative: the maximum; ulp UINT64_MAX: an element is a NaN */
    double relative;
    bool order_only; /* the order of additions alone may explain the differences */
};

struct check_difference {
    enum parting_kind kind;
    struct {
        const struct check_row *row;
        size_t run;
        bool known; /* the last writer was found, and the repeated run had the same result */
        struct last_writer writer; /* of the first differing byte; launch 0: no kernel wrote it */
        const char *value, *printed;
    } side[2];
    size_t launch; /* index of the launch, from 0 */
    const char *kernel;
    uint64_t address, offset, size; /* address: of the element with the first differing byte */
    const char *allocation;
    const struct value_type *type; /* type of the elements; NULL: unknown */
    bool guessed;                  /* the type was derived from the last access */
    uint64_t differing;            /* number of differing bytes */
    struct part_word *words;
    size_t word_count;
    bool more_words;
    bool has_floats;
    struct float_difference floats;
};

/* Finds for each row where its results first differ from each other or from the reference's. */
void check_find_differences(struct check *c);

struct check_cause {
    const char *name;   /* the name in the JSON document: "order of additions" */
    const char *what;   /* a text to print after "likely cause: " */
    const char *remedy; /* the usual remedy, as text */
};
/* The likely cause (cli/check_cause.c), after check_judge(). NULL: unknown, because the race check did not cover all
 * launches, some races are suppressed, or the runs could not be repeated. */
const struct check_cause *check_cause(const struct check *c, const struct check_difference *p);

/* A text that describes the last writer in one of the runs. */
char *check_writer_text(struct arena *a, const struct check_difference *p, int side);

/* Compares two snapshots and two files of output; false: they are equal. Sets all members but the writers. */
struct snapshot;
bool part_compare(struct arena *a, const struct snapshot *const both[2], const int files[2],
                  struct check_difference *p);

#endif
