/* determinism/record/last_writers.h: an observer that keeps who wrote some words last, and what reductions added to them.
 *
 *     struct writers *w = writers_new(places, n);          // addresses of words, ascending
 *     ... launches with writers_observer(w) among their observers
 *     const struct writer *last = writers_last(w, address);
 *     writers_free(w);
 *
 * What an order held back counts from when it can be seen, with the thread that made it. */
#ifndef HEDDLE_DETERMINISM_RECORD_LAST_WRITERS_H
#define HEDDLE_DETERMINISM_RECORD_LAST_WRITERS_H

#include "emu/order.h"

enum { WRITERS_WORD = 4 }; /* bytes of a word; addresses are multiples of it */

struct writer {      /* of a byte */
    uint32_t launch; /* that it wrote in, from 1 on; 0: no kernel wrote the byte */
    uint32_t cta[3], thread[3];
    bool thread_known; /* else cta is, and where */
    bool reduces;      /* an atomic or reduction */
    const char *op;    /* of those: "add" */
    const char *type;  /* "f32" */
    uint32_t line, source_line;
    const char *function, *source_file; /* source_file NULL: unknown */
};

struct writers_word {
    uint64_t adds;    /* additions of floating-point numbers, by atomics or reductions */
    uint64_t others;  /* all other writes */
    double size;      /* the sum of what was added, without signs */
    const char *type; /* of the last write */
};

struct writers;
struct writers *writers_new(const uint64_t *words, size_t n); /* copied */
void writers_free(struct writers *w);
const struct emu_observer *writers_observer(struct writers *w);
/* Between launches. `address` is a byte of one of the words. */
const struct writer *writers_last(struct writers *w, uint64_t address);
/* In order of the words; what is counted begins anew with each launch. */
const struct writers_word *writers_words(const struct writers *w);
size_t writers_count(const struct writers *w); /* of words */

/* Of all words, and of one byte, in a file: who asked for it reads it in another process. `digest` says of what run. */
struct arena;
struct writers_told {
    uint64_t digest;
    struct writer last;
    struct writers_word *words; /* their types are not told */
    size_t word_count;
};
bool writers_write(struct writers *w, uint64_t address, uint64_t digest, int file);
bool writers_read(struct arena *a, const char *bytes, size_t size, struct writers_told *out);

#endif
