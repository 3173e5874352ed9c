#include "calibrate/traces.h"

#include "base/arena.h"
#include "base/buf.h"
#include "emu/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 5 };

const char *traces_read(struct traces *t, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return strerror(errno);
    struct trace_file in = {.file = f, .arena = t->arena};
    for (const struct emu_counts *c; (c = trace_file_next(&in));) {
        if (strcmp(c->order, "native") != 0) continue; /* no GPU has the order */
        t->list = arena_grow(t->arena, t->list, t->count, &t->cap, t->count + 1, sizeof *t->list);
        t->list[t->count++] = (struct trace_of){in.run ? in.run : "", in.launch, c};
    }
    (void)fclose(f);
    return in.why;
}

static int in_order(const void *a, const void *b)
{
    const struct trace_of *x = a, *y = b;
    const int by_run = strcmp(x->run, y->run);
    return by_run ? by_run : (x->launch > y->launch) - (x->launch < y->launch);
}

/* Those on the GPU, in order of run and launch. */
static struct trace_of *sorted(const struct traces *t, const char *gpu, size_t *count)
{
    struct trace_of *list = arena_array(t->arena, struct trace_of, t->count);
    *count = 0;
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->list[i].counts->gpu->name, gpu) == 0) list[(*count)++] = t->list[i];
    if (*count) qsort(list, *count, sizeof *list, in_order);
    return list;
}

/* Those of which there is no row. */
static void forget_applications(struct rows *rows)
{
    size_t *number = arena_array(rows->arena, size_t, rows->application_count), count = 0;
    for (size_t i = 0; i < rows->count; i++) number[rows->list[i].application] = 1;
    for (size_t k = 0; k < rows->application_count; k++) {
        if (!number[k]) continue;
        number[k] = count;
        rows->applications[count++] = rows->applications[k];
    }
    for (size_t i = 0; i < rows->count; i++)
        rows->list[i].application = number[rows->list[i].application];
    rows->application_count = count;
}

bool traces_match(const struct traces *t, struct rows *rows, const struct emu_counts **launch,
                  struct buf *said)
{
    size_t count, kept = 0, missing = 0;
    const struct trace_of *list = sorted(t, rows->gpu->name, &count);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[i];
        const struct trace_of want = {row->run, row->launch, NULL};
        const struct trace_of *found = bsearch(&want, list, count, sizeof *list, in_order);
        if (!found && missing++ < NAMED)
            buf_printf(said, "%s:%u: no trace of launch %u of '%s' on %s\n", row->file, row->line,
                       row->launch, want.run, rows->gpu->name);
        if (!found) continue;
        launch[kept] = found->counts;
        rows->list[kept++] = *row;
    }
    rows->count = kept;
    forget_applications(rows);
    if (missing > NAMED) buf_printf(said, "... and %zu more\n", missing - NAMED);
    return kept > 0;
}
