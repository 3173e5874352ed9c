/* tests/ptxas/diff.c: does Heddle accept what ptxas accepts, and nothing else?
 *
 *     ptxas-diff [--seed N] [--count N] [--jobs N] [--at-least PERCENT] [--cache DIR] [--out DIR]
 *                [--known FILE] [--kind NAME] FILE|DIR ...
 *
 * Small modules are cut out of good ones: a few statements around an instruction whose form was not
 * seen before, with the declarations they need; short functions and short files are taken whole.
 * Every module is then mutated once, by a row of the table `mutators`, and both programs judge the
 * result. A run is a function of the files, the seed and the count.
 *
 * Heddle runs in a forked child, so that a crash on a mutant is a finding and not the end of the
 * run. The verdicts of ptxas are kept in the cache and looked up by a digest of text, architecture
 * and ptxas version. Failures of ptxas that do not judge the text (registers, resources, internal
 * errors) are counted and set aside.
 *
 * Exit status: 0 if the agreement is high enough and no unmutated module is rejected by exactly one
 * of the two, or if there is no ptxas; 1 if not; 2 for a usage error. */
#define _GNU_SOURCE /* strtok_r */
#include "tests/ptxas/diff.h"

#include "base/arena.h"
#include "base/buf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- report ---- */

struct known {
    const char *pattern, *explanation;
    regex_t re;
    size_t hits;
};

struct knowns {
    struct known *v;
    size_t n, cap;
};

/* Lines of `pattern => explanation`; blank ones and those with # at their start are skipped. */
static void read_known(struct arena *a, const char *path, struct knowns *out)
{
    size_t size;
    char *text = diff_read_file(a, path, &size), *save;
    for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
        char *arrow = strstr(l, " => ");
        if (*l == '#' || !arrow) continue;
        *arrow = '\0';
        out->v = arena_grow(a, out->v, out->n, &out->cap, out->n + 1, sizeof *out->v);
        struct known *k = &out->v[out->n++];
        *k = (struct known){.pattern = l, .explanation = arrow + 4};
        if (regcomp(&k->re, l, REG_EXTENDED | REG_NOSUB)) diff_die("%s: bad pattern: %s", path, l);
    }
}

static bool differs(const struct trial *t)
{
    if (t->heddle == CRASHES) return true;
    return t->ptxas != UNJUDGED && t->heddle != t->ptxas;
}

/* Numbers become N and quoted names '..', so that one cause makes one group. */
static const char *generalise(struct arena *a, const char *text)
{
    struct buf b = {0};
    for (const char *p = text; *p;) {
        const char *end = *p == '\'' ? strchr(p + 1, '\'') : NULL;
        if (end) {
            buf_puts(&b, "'..'");
            p = end + 1;
        } else if (*p >= '0' && *p <= '9' &&
                   (p == text || !strchr("abcdefghijklmnopqrstuvwxyz_", p[-1]))) {
            while (*p >= '0' && *p <= '9') p++;
            buf_putc(&b, 'N');
        } else {
            buf_putc(&b, *p++);
        }
    }
    const char *made = arena_copy(a, b.data ? b.data : "", b.size);
    buf_free(&b);
    return made;
}

/* The lines of the mutant that the unmutated module has not, or has otherwise. */
static const char *changed_line(struct arena *a, const struct trial *t, bool before)
{
    const char *x = t->base->text, *y = t->text;
    if (!t->kind) return "";
    size_t n = 0, xe = strlen(x), ye = strlen(y);
    while (x[n] && x[n] == y[n]) n++;
    while (n && y[n - 1] != '\n') n--;
    while (xe > n && ye > n && x[xe - 1] == y[ye - 1]) xe--, ye--;
    while (x[xe] && x[xe] != '\n') xe++;
    while (y[ye] && y[ye] != '\n') ye++;
    const char *from = before ? x + n : y + n;
    size_t length = before ? xe - n : ye - n;
    char *line = arena_copy(a, from, length > 300 ? 300 : length);
    for (char *p = line; *p; p++)
        if (*p == '\n') *p = ' ';
    return line;
}

struct group {
    const char *title;
    size_t count;
    const struct trial *first;
    size_t known; /* index + 1; 0: unexplained */
};

static int by_count(const void *x, const void *y)
{
    const struct group *a = x, *b = y;
    if ((a->known == 0) != (b->known == 0)) return a->known ? 1 : -1;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return strcmp(a->title, b->title);
}

static const char *verdict_line(struct arena *a, const struct trial *t)
{
    static const char *const says[] = {"?", "accepts", "rejects", "CRASHES", "no verdict"};
    return arena_printf(a, "heddle %s%s%s; ptxas %s%s%s", says[t->heddle],
                        t->heddle_says[0] ? ": " : "", t->heddle_says, says[t->ptxas],
                        t->ptxas_says[0] ? ": " : "", t->ptxas_says);
}

static void write_out(struct arena *a, const char *dir, const struct trials *t)
{
    diff_make_dirs(dir);
    struct words stale = {0};
    diff_list_files(a, dir, &stale);
    for (size_t i = 0; i < stale.n; i++) {
        const char *name = stale.v[i] + strlen(dir) + 1;
        if (!strncmp(name, "heddle-", 7) || !strncmp(name, "ptxas-", 6) ||
            !strncmp(name, "crash-", 6))
            unlink(stale.v[i]);
    }
    for (size_t i = 0; i < t->n; i++) {
        const struct trial *r = &t->v[i];
        if (!differs(r)) continue;
        const char *side = r->heddle == CRASHES   ? "crash"
                           : r->heddle == ACCEPTS ? "heddle"
                                                  : "ptxas";
        const char *path = arena_printf(a, "%s/%s-%05zu-%s.ptx", dir, side, i,
                                        r->kind ? r->kind : "unmutated");
        FILE *f = fopen(path, "w");
        if (!f) diff_die("%s: %s", path, strerror(errno));
        fprintf(f, "// %s of %s: %s\n%s", r->kind ? r->kind : "unmutated", r->base->origin,
                verdict_line(a, r), r->text);
        fclose(f);
    }
}

struct row {
    const char *kind;
    size_t n, both, neither, heddle, ptxas, aside;
};

static void print_table(struct arena *a, const struct trials *t)
{
    struct row *rows = arena_array(a, struct row, mutator_count + 2);
    size_t last = mutator_count + 1;
    rows[0].kind = "(unmutated)";
    for (size_t k = 0; k < mutator_count; k++) rows[k + 1].kind = mutator_name(k);
    rows[last].kind = "all mutants";
    for (size_t i = 0; i < t->n; i++) {
        const struct trial *r = &t->v[i];
        size_t k = 0;
        for (size_t j = 0; r->kind && j < mutator_count; j++)
            if (mutator_name(j) == r->kind) k = j + 1;
        for (unsigned pass = 0; pass < 1u + (k > 0); pass++) {
            struct row *w = &rows[pass ? last : k];
            w->n++;
            if (r->ptxas == UNJUDGED) w->aside++;
            else if (r->heddle == ACCEPTS) *(r->ptxas == ACCEPTS ? &w->both : &w->heddle) += 1;
            else *(r->ptxas == ACCEPTS ? &w->ptxas : &w->neither) += 1;
        }
    }
    printf("%-20s %8s %8s %8s %8s %8s %8s %8s\n", "kind", "modules", "accepted", "rejected",
           "heddle", "ptxas", "unjudged", "agree %");
    printf("%-20s %8s %8s %8s %8s %8s\n", "", "", "by both", "by both", "alone", "alone");
    for (size_t k = 0; k <= last; k++) {
        const struct row *w = &rows[k];
        size_t judged = w->n - w->aside;
        if (!w->n) continue;
        printf("%-20s %8zu %8zu %8zu %8zu %8zu %8zu %8.2f\n", w->kind, w->n, w->both, w->neither,
               w->heddle, w->ptxas, w->aside,
               judged ? 100.0 * (double)(w->both + w->neither) / (double)judged : 100.0);
    }
}

static void print_groups(struct arena *a, const struct trials *t, struct knowns *knowns)
{
    struct words titles = {0};
    struct group *groups = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct trial *r = &t->v[i];
        if (!differs(r)) continue;
        const char *side = r->heddle == CRASHES   ? "heddle crashes"
                           : r->heddle == ACCEPTS ? "only heddle accepts"
                                                  : "only ptxas accepts";
        const char *says = r->heddle == ACCEPTS ? r->ptxas_says : r->heddle_says;
        const char *where = changed_line(a, r, false);
        const char *subject = arena_printf(a, "%s: %s: %s: %s", side,
                                           r->kind ? r->kind : "unmutated", says, where);
        size_t known = 0;
        for (size_t k = 0; k < knowns->n && !known; k++)
            if (regexec(&knowns->v[k].re, subject, 0, NULL, 0) == 0) {
                known = k + 1;
                knowns->v[k].hits++;
            }
        const char *title = known
                                ? arena_printf(a, "explained: %s", knowns->v[known - 1].explanation)
                                : arena_printf(a, "%s: %s", side, generalise(a, says));
        if (words_add(a, &titles, title, strlen(title))) {
            groups = arena_grow(a, groups, n, &cap, n + 1, sizeof *groups);
            groups[n++] = (struct group){
                .title = titles.v[titles.n - 1], .first = r, .known = known};
        }
        groups[words_find(&titles, title, strlen(title))].count++;
    }
    if (n) qsort(groups, n, sizeof *groups, by_count);
    for (size_t i = 0; i < n; i++) {
        const struct trial *r = groups[i].first;
        printf("\n%zu  %s\n", groups[i].count, groups[i].title);
        printf("    %s of %s; %s\n", r->kind ? r->kind : "unmutated", r->base->origin,
               verdict_line(a, r));
        if (r->kind)
            printf("    was: %s\n    now: %s\n", changed_line(a, r, true),
                   changed_line(a, r, false));
    }
}

/* ---- main ---- */

static int by_digest(const void *x, const void *y)
{
    const char *a = *(char *const *)x, *b = *(char *const *)y;
    uint64_t i = diff_digest(a, strlen(a), 7), k = diff_digest(b, strlen(b), 7);
    return i < k ? -1 : i > k;
}

struct options {
    uint64_t seed;
    size_t count;
    int jobs;
    double at_least;
    const char *cache, *out, *known, *kind;
};

static const char *option(const char *arg, const char *name, char **argv, int *i)
{
    size_t n = strlen(name);
    if (strncmp(arg, name, n) != 0) return NULL;
    if (arg[n] == '=') return arg + n + 1;
    if (arg[n]) return NULL;
    if (!argv[*i + 1]) diff_die("%s needs a value", name);
    return argv[++*i];
}

int main(int argc, char **argv)
{
    struct options o = {
        .seed = 1, .count = 5000, .jobs = 2, .at_least = 99, .cache = "build/ptxas-cache"};
    struct arena *a = arena_new();
    struct words files = {0};
    for (int i = 1; i < argc; i++) {
        const char *v;
        if ((v = option(argv[i], "--seed", argv, &i))) o.seed = strtoull(v, NULL, 0);
        else if ((v = option(argv[i], "--count", argv, &i))) o.count = strtoull(v, NULL, 0);
        else if ((v = option(argv[i], "--jobs", argv, &i))) o.jobs = atoi(v);
        else if ((v = option(argv[i], "--at-least", argv, &i))) o.at_least = strtod(v, NULL);
        else if ((v = option(argv[i], "--cache", argv, &i))) o.cache = v;
        else if ((v = option(argv[i], "--out", argv, &i))) o.out = v;
        else if ((v = option(argv[i], "--known", argv, &i))) o.known = v;
        else if ((v = option(argv[i], "--kind", argv, &i))) o.kind = v;
        else if (argv[i][0] == '-') diff_die("unknown option %s", argv[i]);
        else diff_list_files(a, argv[i], &files);
    }
    if (o.jobs < 1 || o.jobs > JOBS_MAX) diff_die("--jobs takes 1 to %d", JOBS_MAX);
    if (!files.n) diff_die("no files to cut modules from");
    struct knowns knowns = {0};
    if (o.known) read_known(a, o.known, &knowns);

    struct ptxas x;
    if (!ptxas_start(&x, a, o.cache, o.jobs)) {
        printf("ptxas-diff: ptxas is not installed, nothing was compared\n");
        arena_free(a);
        return 0;
    }

    struct corpus c = {.arena = a};
    qsort(files.v, files.n, sizeof *files.v, by_digest); /* architectures and sources mixed */
    for (size_t i = 0; i < files.n; i++) corpus_add_file(&c, files.v[i]);
    if (!c.base_n) diff_die("no modules could be cut from %zu files", files.n);

    /* Unmutated modules first: what both reject was cut badly and is no ground to stand on. */
    for (size_t i = 0; i < c.base_n; i++) c.bases[i].drawn = o.count == 0;
    for (size_t i = 0; i < o.count; i++)
        c.bases[diff_mix(diff_mix(o.seed) + i) % c.base_n].drawn = true;
    struct trials plain = {arena_array(a, struct trial, c.base_n), 0};
    for (size_t i = 0; i < c.base_n; i++)
        if (c.bases[i].drawn)
            plain.v[plain.n++] = (struct trial){.text = c.bases[i].text, .base = &c.bases[i]};
    heddle_judge(a, &plain);
    ptxas_judge(&x, &plain);
    size_t good = 0, badly = 0, split = 0;
    for (size_t i = 0; i < plain.n; i++) {
        struct trial t = plain.v[i];
        bool both = t.heddle == REJECTS && t.ptxas == REJECTS;
        ((struct base *)(uintptr_t)t.base)->bad = t.ptxas != ACCEPTS;
        badly += both;
        split += differs(&t);
        good += t.ptxas == ACCEPTS;
    }
    if (!good) diff_die("ptxas accepts none of the unmutated modules");

    struct trials all = {arena_array(a, struct trial, plain.n + o.count), 0};
    for (size_t i = 0; i < plain.n; i++)
        if (plain.v[i].heddle != REJECTS || plain.v[i].ptxas != REJECTS)
            all.v[all.n++] = plain.v[i];
    struct trials made = {all.v + all.n, 0};
    for (size_t i = 0; i < o.count; i++) {
        uint64_t r = diff_mix(o.seed) + i;
        const struct base *b;
        struct trial *t = &made.v[made.n];
        for (size_t k = 0, tries = 0; tries < 64 && !t->kind; k++) {
            b = &c.bases[(diff_mix(r) + k) % c.base_n];
            if (b->bad || !b->drawn) continue;
            mutant_make(a, &c, o.kind, b, diff_mix(r ^ 0x5eed) + k, t);
            tries++;
        }
        made.n += t->kind != NULL;
    }
    heddle_judge(a, &made);
    ptxas_judge(&x, &made);
    all.n += made.n;

    printf(
        "%zu files, %zu modules cut, %zu of them drawn, %zu cut badly; seed %llu; ptxas ran %zu times\n\n",
        files.n, c.base_n, plain.n, badly, (unsigned long long)o.seed, x.runs);
    print_table(a, &all);
    print_groups(a, &all, &knowns);
    if (o.out) write_out(a, o.out, &all);

    size_t judged = 0, agree = 0, crashes = 0;
    for (size_t i = 0; i < made.n; i++) {
        crashes += made.v[i].heddle == CRASHES;
        if (made.v[i].ptxas == UNJUDGED) continue;
        judged++;
        agree += !differs(&made.v[i]);
    }
    double percent = judged ? 100.0 * (double)agree / (double)judged : 100.0;
    bool fine = percent >= o.at_least && split == 0 && crashes == 0;
    printf(
        "\n%s: agreement %.2f %% of %zu mutants (wanted %.2f %%), %zu unmutated modules rejected by one alone, "
        "%zu crashes\n",
        fine ? "ok" : "FAILED", percent, judged, o.at_least, split, crashes);
    ptxas_end(&x);
    arena_free(a);
    return fine ? 0 : 1;
}
