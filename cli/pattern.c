#define _POSIX_C_SOURCE 200809L /* fileno, fstat */
#include "cli/pattern.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/rng.h"
#include "base/value.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/* ---- reading ------------------------------------------------------------------------------------ */

static struct piece trimmed(struct piece p)
{
    while (p.length && (*p.text == ' ' || *p.text == '\n' || *p.text == '\t'))
        p.text++, p.length--, p.at++;
    while (p.length && strchr(" \n\t", p.text[p.length - 1])) p.length--;
    return p;
}

/* Cuts the text up to the next comma off. */
static bool next_item(struct piece *rest, struct piece *item)
{
    if (!rest->text) return false;
    const char *comma = memchr(rest->text, ',', rest->length);
    *item = *rest;
    if (comma) item->length = (uint32_t)(comma - rest->text);
    *rest = comma ? (struct piece){comma + 1, rest->length - item->length - 1,
                                   rest->at + item->length + 1}
                  : (struct piece){NULL, 0, 0};
    *item = trimmed(*item);
    return true;
}

static bool read_number(struct diags *d, const struct value_type *t, struct piece p, uint64_t *bits)
{
    if (value_read(t, p.text, p.length, bits)) return true;
    diag_error(d, p.at, p.length, "'%.*s' is not a valid %s", (int)p.length, p.text, t->name);
    return false;
}

bool pattern_add(struct diags *d, const struct value_type *t, struct piece p, struct pattern *out)
{
    out->kind = PATTERN_LIST;
    out->list = arena_grow(d->arena, out->list, out->list_count, &out->list_cap,
                           out->list_count + 1, sizeof *out->list);
    return read_number(d, t, p, &out->list[out->list_count++]);
}

static bool read_list(struct diags *d, const struct value_type *t, struct piece rest,
                      struct pattern *out)
{
    struct piece item;
    while (next_item(&rest, &item))
        if (!pattern_add(d, t, item, out)) return false;
    return true;
}

static bool read_iota(struct diags *d, const struct value_type *t, struct piece rest,
                      struct pattern *out)
{
    struct piece item;
    bool ok = value_read(t, "1", 1, &out->step);
    if (!rest.length) return ok;
    ok = next_item(&rest, &item) && read_number(d, t, item, &out->value);
    if (ok && next_item(&rest, &item)) ok = read_number(d, t, item, &out->step);
    if (ok && rest.text) {
        diag_error(d, rest.at, rest.length, "iota takes a start and a step");
        ok = false;
    }
    return ok;
}

static const struct word {
    const char *name;
    enum pattern_kind kind;
    bool may_have, must_have; /* something in parentheses */
} words[] = {
    {"zero", PATTERN_ZERO, false, false}, {"iota", PATTERN_IOTA, true, false},
    {"const", PATTERN_CONST, true, true}, {"random", PATTERN_RANDOM, true, false},
    {"file", PATTERN_FILE, true, true},   {"list", PATTERN_LIST, true, true},
};

bool pattern_read(struct diags *d, const char *folder, const struct value_type *t, struct piece all,
                  struct pattern *out)
{
    all = trimmed(all);
    *out = (struct pattern){.where = all};
    const char *open = memchr(all.text, '(', all.length);
    size_t name = open ? (size_t)(open - all.text) : all.length;
    struct piece in = {"", 0, all.at};
    if (open)
        in = (struct piece){open + 1, all.length - (uint32_t)name - 1, all.at + (uint32_t)name + 1};
    const struct word *w = words, *end = words + sizeof words / sizeof *words;
    while (w < end && (strlen(w->name) != name || memcmp(w->name, all.text, name) != 0)) w++;
    if (w == end) {
        diag_error(
            d, all.at, all.length,
            "'%.*s' is not a pattern: zero, iota, iota(START, STEP), const(N), random(SEED), "
            "file(PATH), list(N, N, ...)",
            (int)all.length, all.text);
        return false;
    }
    if (open && (!in.length || in.text[in.length - 1] != ')')) {
        diag_error(d, all.at, all.length, "the parenthesis of '%s' is not closed", w->name);
        return false;
    }
    if (open) in.length--;
    if (w->kind != PATTERN_FILE) in = trimmed(in);
    if ((in.length && !w->may_have) || (!in.length && w->must_have)) {
        diag_error(d, all.at, all.length,
                   in.length ? "'%s' takes nothing in parentheses"
                             : "'%s' needs a value in parentheses",
                   w->name);
        return false;
    }
    out->kind = w->kind;
    switch (w->kind) {
    case PATTERN_ZERO: return true;
    case PATTERN_IOTA: return read_iota(d, t, in, out);
    case PATTERN_CONST: return read_number(d, t, in, &out->value);
    case PATTERN_RANDOM:
        out->seed = 1;
        return !in.length || read_number(d, value_type_find("u64", 3), in, &out->seed);
    case PATTERN_LIST: return read_list(d, t, in, out);
    case PATTERN_FILE:
        out->path = arena_printf(d->arena, "%s%.*s", *in.text == '/' ? "" : folder, (int)in.length,
                                 in.text);
    }
    return true;
}

bool pattern_count(const struct pattern *p, const struct value_type *t, uint64_t *count)
{
    struct stat s;
    *count = p->list_count;
    if (p->kind == PATTERN_LIST) return true;
    if (p->kind != PATTERN_FILE || stat(p->path, &s) != 0 || !S_ISREG(s.st_mode)) return false;
    *count = (uint64_t)s.st_size / t->bytes;
    return true;
}

/* ---- filling ------------------------------------------------------------------------------------ */

static uint64_t element(const struct pattern *p, const struct value_type *t, uint64_t i)
{
    switch (p->kind) {
    case PATTERN_CONST: return p->value;
    case PATTERN_LIST: return p->list[i];
    case PATTERN_IOTA:
        if (t->kind != 'f') return p->value + i * p->step;
        return value_of_double(t, value_double(t, p->value) + (double)i * value_double(t, p->step));
    case PATTERN_RANDOM: {
        uint64_t x = rng_mix(p->seed + (i + 1) * RNG_STEP);
        unsigned n = value_fraction_bits(t) + 1;
        return t->kind != 'f'
                   ? x
                   : value_of_double(t, (double)(x >> (64 - n)) / (double)(UINT64_C(1) << n));
    }
    default: return 0;
    }
}

bool filler_open(struct filler *f, const struct pattern *p, const struct value_type *t,
                 uint64_t count, struct buf *why)
{
    *f = (struct filler){.pattern = p, .type = t, .count = count};
    if (p->kind == PATTERN_LIST && p->list_count != count) {
        buf_printf(why, "the list has %zu elements, the buffer %" PRIu64, p->list_count, count);
        return false;
    }
    if (p->kind != PATTERN_FILE) return true;
    struct stat s;
    f->file = fopen(p->path, "rb");
    if (!f->file) {
        buf_printf(why, "cannot read '%s': %s", p->path, strerror(errno));
        return false;
    }
    if (fstat(fileno(f->file), &s) == 0 && S_ISREG(s.st_mode) &&
        (uint64_t)s.st_size != count * t->bytes) {
        buf_printf(why, "'%s' has %" PRIu64 " bytes, %" PRIu64 " of %s are %" PRIu64, p->path,
                   (uint64_t)s.st_size, count, t->name, count * t->bytes);
        filler_close(f);
        return false;
    }
    return true;
}

bool filler_next(struct filler *f, unsigned char *to, uint64_t n, struct buf *why)
{
    const struct value_type *t = f->type;
    if (f->pattern->kind == PATTERN_ZERO) memset(to, 0, n * t->bytes);
    else if (f->file) {
        size_t got = fread(to, 1, n * t->bytes, f->file);
        bool last = f->next + n == f->count;
        if (ferror(f->file))
            buf_printf(why, "cannot read '%s': %s", f->pattern->path, strerror(errno));
        else if (got < n * t->bytes || (last && fgetc(f->file) != EOF))
            buf_printf(why, "'%s' does not have %" PRIu64 " bytes, as %" PRIu64 " of %s are",
                       f->pattern->path, f->count * t->bytes, f->count, t->name);
        else goto done;
        return false;
    } else
        for (uint64_t i = 0; i < n; i++) {
            uint64_t bits = element(f->pattern, t, f->next + i);
            memcpy(to + i * t->bytes, &bits, t->bytes);
        }
done:
    f->next += n;
    return true;
}

void filler_close(struct filler *f)
{
    if (f->file) (void)fclose(f->file);
    f->file = NULL;
}
