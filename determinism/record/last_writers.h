/* determinism/record/last_writers.h: an observer that records the last writer of each byte of some words, and the sums
 * of the operands of atomic additions to them.
 *
 *     struct last_writers *w = last_writers_new(places, n); // addresses of words, ascending
 *     ... launches with last_writers_observer(w) among their observers
 *     const struct last_writer *last = last_writers_of_byte(w, address);
 *     last_writers_free(w);
 *
 * A store that an order buffers counts when it becomes visible, as a write of the thread that issued it. */
#ifndef HEDDLE_DETERMINISM_RECORD_LAST_WRITERS_H
#define HEDDLE_DETERMINISM_RECORD_LAST_WRITERS_H

#include "emu/order.h"

enum { LAST_WRITERS_WORD = 4 }; /* bytes of a word; addresses are multiples of it */

struct last_writer { /* the last writer of a byte */
    uint32_t launch; /* launch of the write, from 1 on; 0: no kernel wrote the byte */
    uint32_t cta[3], thread[3];
    bool thread_known; /* false: only CTA and instruction are known */
    bool reduces;      /* the write was an atomic or reduction */
    const char *op;    /* operation of an atomic or reduction: "add" */
    const char *type;  /* "f32" */
    uint32_t line, source_line;
    const char *function, *source_file; /* source_file NULL: unknown */
};

struct word_writes {
    uint64_t adds;    /* additions of floating-point numbers, by atomics or reductions */
    uint64_t others;  /* all other writes */
    double size;      /* sum of the absolute values of the operands of these additions */
    const char *type; /* type of the last write */
};

struct last_writers;
struct last_writers *last_writers_new(const uint64_t *words, size_t n); /* copied */
void last_writers_free(struct last_writers *w);
const struct emu_observer *last_writers_observer(struct last_writers *w);
/* To be called between launches. `address`: a byte of one of the words. */
const struct last_writer *last_writers_of_byte(struct last_writers *w, uint64_t address);
/* In the order of the words; counts are reset at the beginning of each launch. */
const struct word_writes *last_writers_words(const struct last_writers *w);
size_t last_writers_count(const struct last_writers *w); /* number of words */

/* The counts of all words and the last writer of one byte, in a file that another process reads. `digest`: digest of
 * memory at that time, by which the reader checks that the file is of the requested run. */
struct arena;
struct last_writers_file {
    uint64_t digest;
    struct last_writer last;
    struct word_writes *words; /* their types are NULL */
    size_t word_count;
};
bool last_writers_write(struct last_writers *w, uint64_t address, uint64_t digest, int file,
                        uint64_t from);
bool last_writers_read(struct arena *a, const char *bytes, size_t size,
                       struct last_writers_file *out);

#endif
