/* Finds where the results of two runs first differ (cli/check_difference.h). */
#define _GNU_SOURCE
#include "cli/check_difference.h"

#include "base/arena.h"
#include "base/buf.h"
#include "cli/compare.h"
#include "cli/memory_file.h"
#include "determinism/record/snapshot.h"
#include "session/event_stream.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- elements ----------------------------------------------------------------------------------------- */

static const struct value_type *type_of_ptx(const char *name)
{
    if (!name || !*name) return NULL;
    if (*name == 'b' && name[1] != 'f') /* .b32 and the like say nothing of what it is */
        return name[1] == '8'   ? value_type_find("u8", 2)
               : name[1] == '1' ? value_type_find("u16", 3)
               : name[1] == '3' ? value_type_find("u32", 3)
                                : value_type_find("u64", 3);
    return value_type_find(name, strlen(name));
}

/* "f32[1000]=iota" is what a buffer of the command line is called that has no other name. */
static const struct value_type *type_of_label(const char *name)
{
    const char *open = strchr(name, '[');
    return open ? value_type_find(name, (size_t)(open - name)) : NULL;
}

/* --float PLACE=TYPE, where PLACE is an allocation's name or an address in it */
static const struct value_type *type_of_option(const struct check *c,
                                               const struct check_difference *p)
{
    for (size_t i = 0; i < c->request.options->count; i++) {
        const struct run_option *x = &c->request.options->list[i];
        if (x->id != OPTION_FLOAT) continue;
        const char *equals = memrchr(x->value.text, '=', x->value.length);
        const size_t n = (size_t)(equals - x->value.text);
        const struct value_type *t = value_type_find(equals + 1, x->value.length - n - 1);
        const uint64_t base = p->address - p->offset;
        uint64_t at;
        if (strlen(p->allocation) == n && memcmp(p->allocation, x->value.text, n) == 0) return t;
        if (value_read(value_type_find("u64", 3), x->value.text, n, &at) && at >= base &&
            at - base < p->size)
            return t;
    }
    return NULL;
}

static void settle_type(const struct check *c, struct check_difference *p)
{
    p->type = type_of_option(c, p);
    if (!p->type) p->type = type_of_label(p->allocation);
    for (int i = 0; i < 2 && !p->type; i++)
        if (p->side[i].known && p->side[i].writer.launch) {
            p->type = type_of_ptx(p->side[i].writer.type);
            p->guessed = true;
        }
    if (!p->type) return;
    const uint64_t past = p->offset % p->type->bytes; /* to the element's begin */
    p->offset -= past;
    p->address -= past;
}

static void show_values(struct arena *a, struct check_difference *p)
{
    const struct part_word *w = &p->words[0];
    for (int i = 0; i < 2; i++) {
        struct buf b = {0};
        if (p->type) value_print(p->type, value_load(p->type, w->bytes[i] + p->address % 8), &b);
        else buf_printf(&b, "0x%02x", w->bytes[i][p->address % 8]);
        p->side[i].value = arena_copy(a, b.data, b.size);
        buf_free(&b);
    }
}

/* One element of a word, or of two. */
static void element(struct check_difference *p, const struct part_word *w, unsigned at)
{
    const struct value_type *t = p->type;
    struct float_difference *f = &p->floats;
    const uint64_t x = value_load(t, w->bytes[0] + at), y = value_load(t, w->bytes[1] + at);
    if (x == y) return;
    const double a = value_double(t, x), b = value_double(t, y), off = fabs(a - b);
    const double most = fmax(fabs(a), fabs(b));
    const uint64_t ulps = value_ulps(t, x, y);
    f->elements++;
    if (ulps > f->ulp) f->ulp = ulps;
    if (most > 0 && !(off / most <= f->relative)) /* of infinities and NaNs there is none */
        f->relative = isfinite(off / most) ? off / most : INFINITY;
    else if (ulps == UINT64_MAX) f->relative = INFINITY;
    /* Each of n additions is off by 2^-p of a partial sum at most, which is no larger than all sizes together. */
    uint64_t adds = 0;
    double size = 0;
    for (int i = 0; i < 2; i++) {
        if (!p->side[i].known) continue;
        if (w->others[i] || !w->adds[i]) f->order_only = false;
        if (w->adds[i] > adds) adds = w->adds[i];
        if (w->size[i] > size) size = w->size[i];
    }
    const double unit = ldexp(1, -(int)value_fraction_bits(t) - 1);
    if (!(off <= 2 * (double)adds * unit * (2 * size + most))) f->order_only = false;
}

static void compare_floats(struct check_difference *p)
{
    if (!p->type || p->type->kind != 'f') return;
    p->has_floats = true;
    p->floats.order_only = p->side[0].known || p->side[1].known;
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; i < p->word_count; i++) {
        const struct part_word *w = &p->words[i];
        const unsigned bytes = p->type->bytes, at = (unsigned)(w->address % 8);
        if (bytes == 8) {
            if (w->address / 8 != last) element(p, w, 0);
            last = w->address / 8;
        } else
            for (unsigned k = 0; k < LAST_WRITERS_WORD; k += bytes) element(p, w, at + k);
    }
}

/* ---- making runs again -------------------------------------------------------------------------------- */

static void close_both(struct check_task t[2])
{
    for (int i = 0; i < 2; i++) event_stream_close(t[i].events);
}

static uint64_t digest_of(const struct check_difference *p, int i)
{
    const struct check_run *r = &p->side[i].row->runs[p->side[i].run];
    return p->launch < r->launch_count ? r->launches[p->launch].digest : 0;
}

static void take_writers(struct check *c, struct check_difference *p, int side,
                         const struct event_stream *events)
{
    struct last_writers_file result;
    struct event_attachment at;
    size_t size;
    if (!events || !event_stream_attachment(events, &at)) return;
    const char *all = memory_file_read(c->arena, at.file, at.offset, &size);
    if (!last_writers_read(c->arena, all, size, &result) || result.digest != digest_of(p, side) ||
        result.word_count != p->word_count)
        return;
    for (size_t i = 0; i < p->word_count; i++) {
        p->words[i].adds[side] = result.words[i].adds;
        p->words[i].others[side] = result.words[i].others;
        p->words[i].size[side] = result.words[i].size;
    }
    p->side[side].writer = result.last;
    p->side[side].known = true;
}

static void find_writers(struct check *c, struct check_difference *p, struct check_task t[2])
{
    uint64_t *words = arena_array(c->arena, uint64_t, p->word_count);
    for (size_t i = 0; i < p->word_count; i++) words[i] = p->words[i].address;
    for (int i = 0; i < 2; i++) {
        t[i].log_task.work = RUN_LOG_WRITE_LAST_WRITERS;
        t[i].log_task.places = words;
        t[i].log_task.place_count = p->word_count;
        t[i].log_task.first = p->address;
    }
    (void)check_pair(c, &t[0], &t[1]);
    for (int i = 0; i < 2; i++) take_writers(c, p, i, t[i].events);
    close_both(t);
}

static void look_at(struct check *c, struct check_difference *p)
{
    struct check_task t[2];
    for (int i = 0; i < 2; i++)
        t[i] = (struct check_task){
            .log_task = {.work = RUN_LOG_WRITE_SNAPSHOT, .launch = p->launch},
            .order = p->side[i].row->order,
            .seed = check_seed(c, p->side[i].run)};
    p->kind = DIFFER_UNKNOWN;
    struct event_attachment at[2];
    if (check_pair(c, &t[0], &t[1]) && event_stream_attachment(t[0].events, &at[0]) &&
        event_stream_attachment(t[1].events, &at[1])) {
        const int files[2] = {at[0].file, at[1].file};
        const struct snapshot *const both[2] = {snapshot_read(c->arena, at[0].file, at[0].offset),
                                                snapshot_read(c->arena, at[1].file, at[1].offset)};
        const bool again = both[0] && both[1] && both[0]->digest == digest_of(p, 0) &&
                           both[1]->digest == digest_of(p, 1);
        /* Digests are of memory, of what is printed and of files. */
        if (!again) p->kind = DIFFER_UNKNOWN;
        else if (!part_compare(c->arena, both, files, p)) p->kind = DIFFER_FILES;
    }
    close_both(t);
    if (p->kind != DIFFER_MEMORY) return;
    find_writers(c, p, t);
    settle_type(c, p);
    show_values(c->arena, p);
    compare_floats(p);
}

static void compare_runs(struct check *c, struct check_row *row, const struct check_row *first_row,
                         size_t first, size_t second)
{
    const struct check_run *a = &first_row->runs[first], *b = &row->runs[second];
    struct check_difference *p = row->difference = arena_array(c->arena, struct check_difference,
                                                               1);
    p->side[0].row = first_row;
    p->side[0].run = first;
    p->side[1].row = row;
    p->side[1].run = second;
    p->launch = check_runs_differ_at(a, b);
    const struct check_run *longer = a->launch_count > b->launch_count ? a : b;
    p->kernel = p->launch < longer->launch_count ? longer->launches[p->launch].kernel : "";
    if (p->launch < a->launch_count && p->launch < b->launch_count) look_at(c, p);
    else p->kind = a->launch_count == b->launch_count ? DIFFER_BACK : DIFFER_LAUNCHES;
}

void check_find_differences(struct check *c)
{
    const struct check_row *reference = &c->rows[0];
    const size_t rows = c->facts.varies ? 1 : c->row_count;
    for (size_t i = 0; i < rows && !c->interrupted; i++) {
        struct check_row *row = &c->rows[i];
        if (row->class_count > 1) { /* the most frequent, and what leaves it first */
            const size_t first = row->classes[0].first;
            size_t best = row->classes[1].first, least = SIZE_MAX;
            for (size_t k = 1; k < row->class_count; k++) {
                size_t at = check_runs_differ_at(&row->runs[first],
                                                 &row->runs[row->classes[k].first]);
                if (at < least) {
                    least = at;
                    best = row->classes[k].first;
                }
            }
            compare_runs(c, row, row, first, best);
        } else if (i && row->class_count && reference->class_count &&
                   row->runs[row->classes[0].first].id != reference->runs[0].id)
            compare_runs(c, row, reference, 0, row->classes[0].first);
    }
}
