#define _POSIX_C_SOURCE 200809L
#include "emu/suppress.h"

#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    unsigned kinds;    /* a bit for each enum emu_fault_kind */
    char *one, *other; /* patterns; other NULL: the same */
};
struct suppressions {
    struct rule *rules;
    size_t count;
};

static const struct {
    const char *name;
    unsigned kinds;
} checks[] = {
    {"race", 1u << EMU_RACE},          {"atomicity", 1u << EMU_MIXED},
    {"init", 1u << EMU_UNINITIALISED}, {"bounds", 1u << EMU_OUT_OF_BOUNDS | 1u << EMU_FREED},
    {"sync", 1u << EMU_BAD_LANES},     {"memory", 1u << EMU_DOUBLE_FREE | 1u << EMU_BAD_FREE},
};

/* From the start of the text; * stands for anything. */
static bool begins(const char *pattern, const char *end, const char *text)
{
    for (; pattern < end; pattern++, text++) {
        if (*pattern == '*') {
            for (;; text++) {
                if (begins(pattern + 1, end, text)) return true;
                if (!*text) return false;
            }
        }
        if (*pattern != *text) return false;
    }
    return true;
}

static bool fits(const char *pattern, const char *text)
{
    const char *end = pattern + strlen(pattern);
    for (;; text++) {
        if (begins(pattern, end, text)) return true;
        if (!*text) return false;
    }
}

bool suppressions_match(const struct suppressions *s, enum emu_fault_kind kind, const char *one,
                        const char *other)
{
    for (size_t i = 0; s && i < s->count; i++) {
        const struct rule *r = &s->rules[i];
        if (!(r->kinds >> kind & 1)) continue;
        if (!other && fits(r->one, one) && !r->other) return true;
        if (!other) continue;
        const char *second = r->other ? r->other : r->one;
        if ((fits(r->one, one) && fits(second, other)) ||
            (fits(r->one, other) && fits(second, one)))
            return true;
    }
    return false;
}

/* ---- lists ----------------------------------------------------------------------------------------- */

static char *trimmed(const char *from, size_t length)
{
    while (length && (*from == ' ' || *from == '\t')) from++, length--;
    while (length && strchr(" \t\r", from[length - 1])) length--;
    char *copy = malloc(length + 1);
    if (!copy) abort();
    memcpy(copy, from, length);
    copy[length] = '\0';
    return copy;
}

static void add(struct suppressions *s, unsigned kinds, const char *patterns)
{
    static const char with[] = " with ";
    const char *second = strstr(patterns, with);
    s->rules = realloc(s->rules, (s->count + 1) * sizeof *s->rules);
    if (!s->rules) abort();
    s->rules[s->count++] = (struct rule){
        kinds, trimmed(patterns, second ? (size_t)(second - patterns) : strlen(patterns)),
        second ? trimmed(second + strlen(with), strlen(second + strlen(with))) : NULL};
}

/* false: it is no line of a list. */
static bool read_line(struct suppressions *s, const char *line)
{
    const char *colon = strchr(line, ':');
    if (!*line) return true;
    for (size_t i = 0; colon && colon[1] && i < sizeof checks / sizeof *checks; i++)
        if (strlen(checks[i].name) == (size_t)(colon - line) &&
            memcmp(checks[i].name, line, (size_t)(colon - line)) == 0)
            return add(s, checks[i].kinds, colon + 1), true;
    return false;
}

static bool read_text(struct suppressions *s, const char *path, const char *text, struct buf *wrong)
{
    for (unsigned number = 1; *text && !wrong->size; number++) {
        char *line = trimmed(text, strcspn(text, "#\n"));
        if (!read_line(s, line))
            buf_printf(wrong,
                       "%s:%u: '%s' is not CHECK:PATTERN; checks are race, atomicity, init, sync "
                       "and memory",
                       path, number, line);
        free(line);
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return !wrong->size;
}

static bool read_file(struct suppressions *s, const char *path, char **why)
{
    struct buf wrong = {0}, all = {0};
    if (!buf_add_file(&all, path, SIZE_MAX))
        buf_printf(&wrong, "cannot read '%s': %s", path, strerror(errno));
    const bool ok = !wrong.size && (!all.size || read_text(s, path, all.data, &wrong));
    *why = ok ? NULL : strdup(wrong.data);
    buf_free(&wrong);
    buf_free(&all);
    return ok;
}

struct suppressions *suppressions_read(const char *path, char **why)
{
    static const char *const known[] = {
#define KNOWN(line, reason) line,
#include "emu/device/suppress.def"
#undef KNOWN
    };
    struct suppressions *s = calloc(1, sizeof *s);
    if (!s) abort();
    *why = NULL;
    if (path && strcmp(path, "none") == 0) return s;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!read_line(s, known[i])) abort();
    if (!path || read_file(s, path, why)) return s;
    suppressions_free(s);
    return NULL;
}

void suppressions_free(struct suppressions *s)
{
    for (size_t i = 0; s && i < s->count; i++) {
        free(s->rules[i].one);
        free(s->rules[i].other);
    }
    if (s) free(s->rules);
    free(s);
}
