/* tests/support/support.h: what several tests need. */
#ifndef HEDDLE_TESTS_SUPPORT_SUPPORT_H
#define HEDDLE_TESTS_SUPPORT_SUPPORT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/ptx.h"

/* Sanitized builds are several times slower, and one of many like cases finds what they are for: of those
 * they take every THINNED-th. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif
enum { THINNED = SANITIZED ? 5 : 1 };

/* A module read and checked, with all that belongs to it. */
struct parsed {
    struct arena *arena;
    struct source source;
    struct diags diags;
    struct ptx_module *module;
    bool ok;
};
struct parsed *parse_text(const char *name, const char *text, size_t length);
void parsed_free(struct parsed *p);
const char *first_error(struct parsed *p); /* "" if there is none */

/* A whole file, NUL behind it; aborts the test if it cannot be read. Free it. */
char *read_file(const char *path, size_t *length);

/* Calls f for every file below a folder whose name ends like this, in order of name; returns how many. */
size_t each_file(const char *folder, const char *ending, void (*f)(const char *path, void *arg),
                 void *arg);

#endif
