/* Reads the command line of `heddle check`, and makes the command lines of its runs. */
#define _GNU_SOURCE
#include "base/replace.h"
#include "cli/check_output.h"
#include "cli/check_program.h"
#include "emu/order.h"

#include "base/arena.h"
#include "base/buf.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 20, RACE_RUNS = 3, MOST_RUNS = 1000000, MOST_JOBS = 1024 };
enum { SEARCH_RUNS = 100000, SEARCH_SECONDS = 60 };

static bool is(struct piece p, const char *word)
{
    return strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

static size_t cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 0 ? (size_t)n : 1;
}

/* One of some words; its number. */
static bool choice(struct diags *d, const struct run_option *x, const char *const *words,
                   const char *all, unsigned *out)
{
    for (unsigned i = 0; words[i]; i++)
        if (is(x->value, words[i])) {
            *out = i;
            return true;
        }
    diag_error(d, x->value.at, x->value.length, "--%.*s is %s, not '%.*s'", (int)x->name.length,
               x->name.text, all, (int)x->value.length, x->value.text);
    return false;
}

/* A percentage between 0 and 100, with or without its sign, as a part of 1. */
static bool read_percent(struct diags *d, const struct run_option *x, double *out)
{
    const struct value_type *f64 = value_type_find("f64", 3);
    const uint32_t n = x->value.length;
    const bool sign = n && x->value.text[n - 1] == '%';
    uint64_t bits = 0;
    const bool ok = value_read(f64, x->value.text, n - sign, &bits);
    const double percent = value_double(f64, bits);
    if (ok && percent > 0 && percent < 100) {
        *out = percent / 100;
        return true;
    }
    diag_error(d, x->value.at, n, "--%.*s wants a percentage above 0 and below 100, not '%.*s'",
               (int)x->name.length, x->name.text, (int)n, x->value.text);
    return false;
}

/* --runs, or --chance and --confidence in its place. */
static bool read_runs(struct check *c)
{
    struct run_options *o = c->request.options;
    const struct run_option *runs = run_option_find(o, OPTION_RUNS),
                            *chance = run_option_find(o, OPTION_CHANCE),
                            *confidence = run_option_find(o, OPTION_CONFIDENCE);
    uint64_t n = RUNS;
    double p = 0;
    c->request.confidence = VERDICT_CONFIDENCE;
    if (confidence && !read_percent(&o->diags, confidence, &c->request.confidence)) return false;
    if (runs && !number_read(&o->diags, "--runs", runs->value, MOST_RUNS, &n)) return false;
    if (!n) diag_error(&o->diags, runs->value.at, runs->value.length, "--runs wants at least 1");
    c->request.runs = c->request.free_runs = (size_t)n;
    if (!chance) return n > 0;
    if (runs)
        diag_error(&o->diags, runs->value.at, runs->value.length,
                   "--runs and --chance are two ways to say one thing");
    if (runs || !read_percent(&o->diags, chance, &p)) return false;
    const double needed = verdict_runs_for(p, c->request.confidence);
    if (needed > MOST_RUNS)
        diag_error(&o->diags, chance->value.at, chance->value.length,
                   "--chance %.*s takes %.0f runs; there may be %d", (int)chance->value.length,
                   chance->value.text, needed, MOST_RUNS);
    c->request.free_runs = needed > MOST_RUNS ? 1 : (size_t)needed;
    return needed <= MOST_RUNS;
}

static void add_row(struct check *c, const char *order, bool reference)
{
    struct check_row *row = &c->rows[c->row_count++];
    const size_t runs = reference                                   ? (check_of_program(c) ? 2 : 1)
                        : orders_promise(order) == ORDER_NO_PROMISE ? c->request.free_runs
                                                                    : c->request.runs;
    *row = (struct check_row){.order = order,
                              .promise = orders_promise(order),
                              .reference = reference,
                              .wanted = runs,
                              .asked = runs,
                              .runs = arena_array(c->arena, struct check_run, runs)};
}

/* The native run, then those of a list, or of all orders that there are for it. */
static bool read_orders(struct check *c, bool its)
{
    struct diags *d = &c->request.options->diags;
    const struct run_option *x = run_option_find(c->request.options, OPTION_ORDERS);
    const char *const native = order_kind_at(0)->name;
    size_t most = 1;
    for (size_t i = 0; order_kind_at(i); i++) most++;
    for (uint32_t i = 0; x && i < x->value.length; i++) most += x->value.text[i] == ',';
    c->rows = arena_array(c->arena, struct check_row, most + 1);
    add_row(c, native, true);
    for (size_t i = 1; !x && order_kind_at(i); i++)
        if (!its || !order_kind_at(i)->stack_only) add_row(c, order_kind_at(i)->name, false);
    for (uint32_t i = 0, n; x && i <= x->value.length; i += n + 1) {
        const char *from = x->value.text + i, *comma = memchr(from, ',', x->value.length - i);
        n = comma ? (uint32_t)(comma - from) : x->value.length - i;
        const char *order = arena_copy(c->arena, from, n);
        const struct order_kind *kind;
        char *why = orders_check(order, &kind);
        if (why) diag_error(d, x->value.at + i, n, "%s", why);
        free(why);
        if (why) return false;
        if (its && kind->stack_only) {
            diag_error(d, x->value.at + i, n, EMU_STACK_ONLY, kind->name);
            return false;
        }
        for (size_t k = 1; k < c->row_count; k++)
            if (strcmp(c->rows[k].order, order) == 0) {
                diag_error(d, x->value.at + i, n, "order '%s' is named twice", order);
                return false;
            }
        if (strcmp(order, native) != 0) add_row(c, order, false);
    }
    return true;
}

/* --check as each run has it: races are looked for in a run of their own. */
static bool read_checks(struct check *c)
{
    const struct run_option *x = run_option_find(c->request.options, OPTION_CHECK);
    struct settings s = {0};
    struct buf rest = {0};
    if (!x) return true;
    if (!setting_read(setting_find("check", 5), &c->request.options->diags, x->value, &s))
        return false;
    if (s.checks & EMU_CHECK_MEMORY) buf_puts(&rest, ",memory");
    if (s.checks & EMU_CHECK_INIT) buf_puts(&rest, ",init");
    if (s.checks & EMU_CHECK_SYNC) buf_puts(&rest, ",sync");
    if (s.checks & EMU_CHECK_BOUNDS) buf_puts(&rest, ",bounds");
    if (s.checks & EMU_CHECK_API) buf_puts(&rest, ",api");
    if (rest.size) c->request.checks = arena_copy(c->arena, rest.data + 1, rest.size - 1);
    buf_free(&rest);
    return true;
}

static bool read_floats(struct check *c)
{
    bool ok = true;
    for (size_t i = 0; i < c->request.options->count; i++) {
        const struct run_option *x = &c->request.options->list[i];
        if (x->id != OPTION_FLOAT) continue;
        const char *equals = memrchr(x->value.text, '=', x->value.length);
        const size_t n = equals ? (size_t)(equals - x->value.text) : 0;
        const struct value_type *t = equals ? value_type_find(equals + 1, x->value.length - n - 1)
                                            : NULL;
        if (n && t && t->kind == 'f') continue;
        ok = false;
        diag_error(&c->request.options->diags, x->value.at, x->value.length,
                   "--float wants an allocation's name or an address, and its type: y=f32, not "
                   "'%.*s'",
                   (int)x->value.length, x->value.text);
    }
    return ok;
}

/* --exhaustive with what limits it. It takes no options of the runs that it replaces. */
static bool read_search(struct check *c)
{
    struct run_options *o = c->request.options;
    struct check_search *s = &c->request.search;
    const struct run_option *runs = run_option_find(o, OPTION_RUNS),
                            *seconds = run_option_find(o, OPTION_SEARCH_TIME),
                            *files = run_option_find(o, OPTION_RECORDINGS);
    s->wanted = run_option_find(o, OPTION_SEARCH) != NULL;
    s->most_runs = runs ? c->request.runs : SEARCH_RUNS;
    s->most_seconds = SEARCH_SECONDS;
    bool ok = !seconds ||
              seconds_read(&o->diags, "--search-time", seconds->value, &s->most_seconds);
    if (files) s->directory = arena_copy(c->arena, files->value.text, files->value.length);
    for (size_t i = 0; i < o->count; i++) {
        const struct run_option *x = &o->list[i];
        const bool own = x->id == OPTION_SEARCH_TIME || x->id == OPTION_RECORDINGS,
                   both = x->id == OPTION_SEARCH || x->id == OPTION_RUNS || x->id == OPTION_CHECK ||
                          (x->id < OPTION_CHECK && x->id != OPTION_FIDELITY);
        if (s->wanted ? own || both : !own) continue;
        diag_error(&o->diags, x->name.at, x->name.length,
                   s->wanted
                       ? "--%.*s does not go with --exhaustive, which makes all choices of random"
                       : "--%.*s limits or describes a search: add --exhaustive",
                   (int)x->name.length, x->name.text);
        ok = false;
    }
    if (s->wanted && c->request.format == CHECK_GITHUB) {
        const struct run_option *x = run_option_find(o, OPTION_FORMAT);
        diag_error(&o->diags, x->value.at, x->value.length, "--exhaustive prints text or json");
        ok = false;
    }
    return ok;
}

/* Whether --check asks for races. */
static bool checks_races(struct run_options *o)
{
    struct settings s = {0};
    const struct run_option *x = run_option_find(o, OPTION_CHECK);
    return setting_read(setting_find("check", 5), &o->diags, x->value, &s) &&
           s.checks & (EMU_CHECK_RACE | EMU_CHECK_ATOMICITY);
}

bool check_options(struct check *c)
{
    static const char *const stops[] = {"many", "different", "never", NULL};
    static const char *const formats[] = {"text", "json", "github", NULL};
    struct run_options *o = c->request.options;
    struct diags *d = &o->diags;
    const struct run_option *x;
    struct settings settings = {0};
    uint64_t jobs = cores(), race_runs = RACE_RUNS;
    unsigned word = 0;
    bool ok = run_options_settings(o, &settings);
    c->request.first_seed = 1;
    ok &= read_runs(c);
    x = run_option_find(o, OPTION_JOBS);
    if (x && number_read(d, "--jobs", x->value, MOST_JOBS, &jobs) && !jobs)
        diag_error(d, x->value.at, x->value.length, "--jobs wants at least 1");
    x = run_option_find(o, OPTION_RACE_RUNS);
    if (x) ok &= number_read(d, "--race-runs", x->value, MOST_RUNS, &race_runs);
    x = run_option_find(o, OPTION_FIRST_SEED);
    if (x) ok &= number_read(d, "--seed", x->value, UINT64_MAX - MOST_RUNS, &c->request.first_seed);
    x = run_option_find(o, OPTION_RUN_TIMEOUT);
    if (x) ok &= seconds_read(d, "--run-timeout", x->value, &c->request.run_timeout);
    x = run_option_find(o, OPTION_STOP);
    if (x && choice(d, x, stops, "many, different or never", &word))
        c->request.stop = (enum check_stop)word;
    x = run_option_find(o, OPTION_FORMAT);
    if (x && choice(d, x, formats, "text, json or github", &word))
        c->request.format = (enum check_format)word;
    x = run_option_find(o, OPTION_JUNIT);
    if (x) c->request.junit = arena_copy(c->arena, x->value.text, x->value.length);
    if (x && !replacement_possible(c->request.junit))
        diag_error(d, x->value.at, x->value.length, "cannot write '%s': %s", c->request.junit,
                   strerror(errno));
    c->request.no_race = run_option_find(o, OPTION_NO_RACE) != NULL;
    for (size_t i = 0; c->request.no_race && i < o->count; i++)
        if (o->list[i].id == OPTION_RACE_RUNS || (o->list[i].id == OPTION_CHECK && checks_races(o)))
            diag_error(d, o->list[i].name.at, o->list[i].name.length,
                       "--no-race makes no runs that look for races");
    c->request.no_init = run_option_find(o, OPTION_NO_INIT) != NULL;
    c->request.fidelity = run_option_find(o, OPTION_FIDELITY) != NULL;
    c->request.quiet = o->quiet;
    c->request.jobs = (size_t)jobs;
    c->request.race_runs = (size_t)race_runs;
    check_races_begin(c);
    ok &= read_search(c);
    return ok && !d->errors && read_orders(c, settings.independent_threads) && read_checks(c) &&
           read_floats(c) && check_output_options(c);
}

/* ---- command lines of runs ------------------------------------------------------------------------ */

static bool handed_on(const struct run_option *x)
{
    return x->id < OPTION_CHECK && x->id != OPTION_FORMAT && x->id != OPTION_QUIET &&
           x->id != OPTION_FIDELITY;
}

static const char *word_of(struct arena *a, const struct run_option *x)
{
    if (!x->value.text) return arena_printf(a, "--%.*s", (int)x->name.length, x->name.text);
    return arena_printf(a, "--%.*s=%.*s", (int)x->name.length, x->name.text, (int)x->value.length,
                        x->value.text);
}

char **check_words(const struct check *c, struct arena *a, const char *order, uint64_t seed,
                   const char *checks, int *added, int *argc)
{
    const struct run_options *o = c->request.options;
    const char **words = arena_array(a, const char *, o->count + 8);
    int n = 0;
    words[n++] = "check";
    if (checks) words[n++] = arena_printf(a, "--check=%s", checks);
    words[n++] = "--threads=1";
    words[n++] = arena_printf(a, "--order=%s", order);
    if (strcmp(order, order_kind_at(0)->name) != 0)
        words[n++] = arena_printf(a, "--seed=%llu", (unsigned long long)seed);
    *added = n - 1;
    words[n++] = c->request.name;
    for (size_t i = 0; i < o->count; i++)
        if (handed_on(&o->list[i])) words[n++] = word_of(a, &o->list[i]);
    *argc = n;
    return (char **)(void *)words;
}

/* As a shell reads one word. */
static void quote(struct buf *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=,+@%^";
    if (*word && strspn(word, plain) == strlen(word)) {
        buf_puts(b, word);
        return;
    }
    buf_putc(b, '\'');
    for (; *word; word++)
        if (*word == '\'') buf_puts(b, "'\\''");
        else buf_putc(b, *word);
    buf_putc(b, '\'');
}

/* "heddle run TARGET" and the options that runs have */
static void add_command(struct buf *b, const struct check *c)
{
    const struct run_options *o = c->request.options;
    buf_puts(b, "heddle run");
    if (!check_of_program(c)) {
        buf_putc(b, ' ');
        quote(b, c->request.name);
    }
    for (size_t i = 0; i < o->count; i++) {
        if (!handed_on(&o->list[i])) continue;
        buf_putc(b, ' ');
        quote(b, word_of(c->arena, &o->list[i]));
    }
}

char *check_replay_command(const struct check *c, const char *file)
{
    struct buf b = {0};
    add_command(&b, c);
    buf_puts(&b, " --replay ");
    quote(&b, file);
    char *text = arena_copy(c->arena, b.data, b.size);
    buf_free(&b);
    return text;
}

char *check_command_of(const struct check *c, const char *order, uint64_t seed, const char *checks)
{
    struct buf b = {0};
    add_command(&b, c);
    if (*checks) buf_printf(&b, " --check %s", checks);
    if (strcmp(order, order_kind_at(0)->name) == 0) buf_puts(&b, " --order native --threads 1");
    else buf_printf(&b, " --order %s --seed %llu", order, (unsigned long long)seed);
    for (size_t i = 0; check_of_program(c) && c->request.program.argv[i]; i++) {
        buf_putc(&b, ' ');
        quote(&b, i ? c->request.program.argv[i] : c->request.program.name);
    }
    char *text = arena_copy(c->arena, b.data, b.size);
    buf_free(&b);
    return text;
}

char *check_command(const struct check *c, const struct check_row *row, size_t run)
{
    return check_command_of(c, row->order, check_seed(c, run),
                            c->request.checks ? c->request.checks : "");
}
