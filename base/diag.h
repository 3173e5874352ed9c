/* base/diag.h: errors, warnings and notes about a source text, printed as compilers print them.
 *
 *     struct diags d = {.arena = a, .source = &src};
 *     diag_error(&d, at, len, "%s does not take .%s", name, word);
 *     diag_note(&d, at, len, "forms that take it: %s", list);      // belongs to the previous error
 *     diags_render(&d, &out);
 *
 * A place is a byte offset and a length; diags_render() computes lines and columns. It prints errors and
 * warnings in the order of their places, and each note behind its error. */
#ifndef HEDDLE_BASE_DIAG_H
#define HEDDLE_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;

struct source {
    const char *name; /* as the user wrote it */
    const char *text; /* `length` arbitrary bytes */
    uint32_t length;
};

enum diag_kind { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag {
    enum diag_kind kind;
    uint32_t at, length; /* range of the source in bytes; length 0: a place between characters */
    uint32_t serial;     /* number of the error or warning; a note has the number of its error */
    const char *text;    /* the message, in the arena */
};

struct diags {
    struct arena *arena;
    const struct source *source;
    struct diag *list;
    size_t count, cap;
    unsigned errors, warnings;
    unsigned max_errors; /* the most errors that are stored, others are counted; 0: no limit */
    bool sorted;
};

void diag_error(struct diags *d, uint32_t at, uint32_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_warning(struct diags *d, uint32_t at, uint32_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_note(struct diags *d, uint32_t at, uint32_t length, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether max_errors errors were stored, so that a parser may stop. */
bool diags_full(const struct diags *d);

/* Sorts the reports by place. */
void diags_sort(struct diags *d);

/* Appends each report as `name:line:column: kind: text`, the line and a caret. */
void diags_render(struct diags *d, struct buf *out);

struct place {
    uint32_t line, column; /* from 1; columns count bytes */
};
struct place source_place(const struct source *s, uint32_t at);
uint32_t source_newlines(const struct source *s, uint32_t from, uint32_t to); /* in [from, to) */

#endif
