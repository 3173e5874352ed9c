#define _GNU_SOURCE
#include "cli/run_options.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/compile.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct option_kind {
    const char *name;
    enum run_option_id id;
    unsigned targets; /* that it goes with: enum run_target */
    bool flag;        /* it has no value */
    bool repeated;    /* it may be given several times */
} kinds[] = {
    {"kernel", OPTION_KERNEL, TARGET_PTX, false, false},
    {"grid", OPTION_GRID, TARGET_PTX, false, false},
    {"block", OPTION_BLOCK, TARGET_PTX, false, false},
    {"cluster", OPTION_CLUSTER, TARGET_PTX, false, false},
    {"shared", OPTION_SHARED, TARGET_PTX, false, false},
    {"cooperative", OPTION_COOPERATIVE, TARGET_PTX, true, false},
    {"arg", OPTION_ARG, TARGET_PTX, false, true},
    {"expect", OPTION_EXPECT, TARGET_PTX | TARGET_JOB, false, true},
    {"tolerance", OPTION_TOLERANCE, TARGET_PTX | TARGET_JOB, false, false},
    {"dump", OPTION_DUMP, TARGET_PTX | TARGET_JOB, false, true},
    {"data-seed", OPTION_SEED, TARGET_SUITE, false, false},
    {"graph", OPTION_GRAPH, TARGET_SUITE, false, false},
    {"format", OPTION_FORMAT, TARGET_ANY, false, false},
    {"quiet", OPTION_QUIET, TARGET_ANY, true, false},
    {"counts", OPTION_COUNTS, TARGET_ANY, false, false},
    {"profile", OPTION_PROFILE, TARGET_ANY, true, false},
    {"watch", OPTION_WATCH, TARGET_ANY, false, true},
    {"record", OPTION_RECORD, TARGET_ANY, false, false},
    {"replay", OPTION_REPLAY, TARGET_ANY, false, false},
    {"threads", OPTION_SETTING, TARGET_ANY, false, false},
    {"max-instructions", OPTION_SETTING, TARGET_ANY, false, false},
    {"timeout", OPTION_SETTING, TARGET_ANY, false, false},
    {"check", OPTION_SETTING, TARGET_ANY, false, false},
    {"divergence", OPTION_SETTING, TARGET_ANY, false, false},
    {"suppress", OPTION_SETTING, TARGET_ANY, false, false},
    {"memory", OPTION_SETTING, TARGET_ANY, false, false},
    {"gpu", OPTION_SETTING, TARGET_ANY, false, false},
    {"order", OPTION_SETTING, TARGET_ANY, false, false},
    {"seed", OPTION_SETTING, TARGET_ANY, false, false},
};
/* What `heddle check` has beside these, or in their place. */
static const struct option_kind check_kinds[] = {
    {"order", OPTION_ORDERS, TARGET_ANY, false, false},
    {"seed", OPTION_FIRST_SEED, TARGET_ANY, false, false},
    {"check", OPTION_CHECK, TARGET_ANY, false, false},
    {"runs", OPTION_RUNS, TARGET_ANY, false, false},
    {"jobs", OPTION_JOBS, TARGET_ANY, false, false},
    {"stop", OPTION_STOP, TARGET_ANY, false, false},
    {"no-race", OPTION_NO_RACE, TARGET_ANY, true, false},
    {"junit", OPTION_JUNIT, TARGET_ANY, false, false},
    {"format", OPTION_FORMAT, TARGET_ANY, false, false},
    {"float", OPTION_FLOAT, TARGET_ANY, false, true},
    {"run-timeout", OPTION_RUN_TIMEOUT, TARGET_ANY, false, false},
};
static const char *const run_only[] = {"dump",  "counts", "profile", "threads",
                                       "watch", "record", "replay"};
enum {
    KIND_COUNT = sizeof kinds / sizeof *kinds,
    CHECK_COUNT = sizeof check_kinds / sizeof *check_kinds,
    ALL_COUNT = KIND_COUNT + CHECK_COUNT
};

static bool is(struct piece p, const char *word)
{
    return strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

/* Kinds that the command has, those of `check` first; NULL: it has no such one. */
static const struct option_kind *kind_at(const struct run_options *o, size_t i)
{
    if (i < CHECK_COUNT) return o->check ? &check_kinds[i] : NULL;
    const struct option_kind *k = &kinds[i - CHECK_COUNT];
    for (size_t n = 0; o->check && n < sizeof run_only / sizeof *run_only; n++)
        if (strcmp(k->name, run_only[n]) == 0) return NULL;
    return k;
}

static const struct option_kind *kind_of(const struct run_options *o, struct piece name)
{
    for (size_t i = 0; i < ALL_COUNT; i++)
        if (kind_at(o, i) && is(name, kind_at(o, i)->name)) return kind_at(o, i);
    return NULL;
}

/* Returns the option that was meant; NULL: who knows. */
static const struct option_kind *unknown(struct run_options *o, struct piece word,
                                         struct piece name)
{

    struct text_nearest near = {.text = name.text, .length = name.length};
    diag_error(&o->diags, word.at, word.length, "unknown option '%.*s'", (int)word.length,
               word.text);
    for (size_t i = 0; o->check && i < sizeof run_only / sizeof *run_only; i++)
        if (is(name, run_only[i])) {
            diag_note(&o->diags, word.at, word.length, "--%s is of 'heddle run'", run_only[i]);
            for (size_t k = 0; k < KIND_COUNT; k++)
                if (is(name, kinds[k].name)) return &kinds[k];
        }
    for (size_t i = 0; i < ALL_COUNT; i++)
        if (kind_at(o, i)) text_nearest_try(&near, kind_at(o, i)->name);
    if (!near.best) return NULL;
    diag_note(&o->diags, word.at, word.length, "did you mean '--%s'?", near.best);
    return kind_of(o, (struct piece){near.best, (uint32_t)strlen(near.best), 0});
}

/* "--name value" or "--name=value"; returns how many words it is. */
static int read_option(struct run_options *o, const struct piece *words, int count)
{
    struct piece word = words[0], name = {word.text + 2, word.length - 2, word.at + 2}, value = {0};
    const char *equals = memchr(name.text, '=', name.length);
    if (equals) {
        uint32_t n = (uint32_t)(equals - name.text);
        value = (struct piece){equals + 1, name.length - n - 1, name.at + n + 1};
        name.length = n;
    }
    const struct option_kind *k = word.text[1] == '-' ? kind_of(o, name) : NULL;
    if (!k) { /* with the value that it would have, which is no target */
        k = unknown(o, word, name);
        return 1 + (k && !k->flag && !equals && count > 1 && *words[1].text != '-');
    }
    bool apart = !k->flag && !equals;
    if (apart && count < 2) {
        diag_error(&o->diags, word.at, word.length, "--%s wants a value", k->name);
        return 1;
    }
    if (k->flag && equals)
        diag_error(&o->diags, value.at, value.length, "--%s takes no value", k->name);
    if (apart) value = words[1];
    o->list = arena_grow(o->arena, o->list, o->count, &o->cap, o->count + 1, sizeof *o->list);
    o->list[o->count++] = (struct run_option){k->id, name, value};
    return 1 + apart;
}

static void add_word(struct buf *line, char before, const char *word, struct piece *where)
{
    *where = (struct piece){.at = (uint32_t)line->size + 1, .length = (uint32_t)strlen(word)};
    buf_printf(line, "%c%s", before, word);
}

/* The command line as one text, and where its words are in it: those that were typed in its first line, the others in a
 * second one. */
static struct piece *words_of(struct run_options *o, int argc, char **argv)
{
    struct piece *words = arena_array(o->arena, struct piece, (size_t)argc + 1);
    struct buf line = {0};
    buf_puts(&line, "heddle");
    add_word(&line, ' ', argv[0], &words[0]);
    for (int i = 1 + o->added; i < argc; i++) add_word(&line, ' ', argv[i], &words[i]);
    const uint32_t typed = (uint32_t)line.size;
    for (int i = 1; i <= o->added; i++) add_word(&line, i > 1 ? ' ' : '\n', argv[i], &words[i]);
    const char *text = arena_copy(o->arena, line.data, line.size);
    for (int i = 0; i < argc; i++) words[i].text = text + words[i].at;
    o->source = (struct source){"command line", text, (uint32_t)line.size};
    o->typed = typed;
    o->diags = (struct diags){.arena = o->arena, .source = &o->source, .max_errors = 20};
    buf_free(&line);
    return words;
}

/* A program, or an executable script that runs one. */
static bool is_program(struct piece target)
{
    char path[4096], head[4] = "";
    struct stat s;
    if (target.length >= sizeof path) return false;
    snprintf(path, sizeof path, "%.*s", (int)target.length, target.text);
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode)) return false;
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    if (f) (void)fclose(f);
    if (n < sizeof head) return false;
    return memcmp(head, "\177ELF", 4) == 0 ||
           (memcmp(head, "#!", 2) == 0 && access(path, X_OK) == 0);
}

enum run_target run_target_kind(struct piece target)
{
    char path[4096];
    if (target.length >= 6 && memcmp(target.text, "suite:", 6) == 0) return TARGET_SUITE;
    if (target.length > 4 && memcmp(target.text + target.length - 4, ".yml", 4) == 0)
        return TARGET_JOB;
    if (target.length > 5 && memcmp(target.text + target.length - 5, ".yaml", 5) == 0)
        return TARGET_JOB;
    const char *name = target.length < sizeof path ? path : "";
    snprintf(path, sizeof path, "%.*s", (int)target.length, target.text);
    return compile_is_source(name) || is_program(target) ? TARGET_PROGRAM : TARGET_PTX;
}

static void check_targets(struct run_options *o)
{
    static const char *const names[] = {[TARGET_PTX] = "a kernel file",
                                        [TARGET_JOB] = "a job file",
                                        [TARGET_SUITE] = "a workload",
                                        [TARGET_PROGRAM] = "a program"};
    for (size_t i = 0; i < o->count; i++) {
        const struct run_option *x = &o->list[i];
        const struct option_kind *k = kind_of(o, x->name);
        if (!(k->targets & o->kind))
            diag_error(&o->diags, x->name.at, x->name.length, "--%s does not go with %s%s", k->name,
                       names[o->kind], k->id == OPTION_WATCH ? " yet" : "");
        for (size_t j = 0; j < i && !k->repeated; j++)
            if (kind_of(o, o->list[j].name) == k) {
                diag_error(&o->diags, x->name.at, x->name.length, "--%s is given twice", k->name);
                break;
            }
    }
}

const struct run_option *run_option_find(const struct run_options *o, enum run_option_id id)
{
    for (size_t i = o->count; i-- > 0;)
        if (o->list[i].id == id) return &o->list[i];
    return NULL;
}

bool run_options_read(struct run_options *o, int argc, char **argv)
{
    struct piece *words = words_of(o, argc, argv);
    o->command = argv[0];
    for (int i = 1; i < argc;) {
        if (words[i].length > 1 && *words[i].text == '-') {
            i += read_option(o, &words[i], argc - i);
            continue;
        }
        if (o->target.text)
            diag_error(&o->diags, words[i].at, words[i].length,
                       "one target is run, not also '%.*s'", (int)words[i].length, words[i].text);
        else {
            o->target = words[i];
            o->kind = run_target_kind(o->target);
            o->rest = i;
            if (o->kind == TARGET_PROGRAM) break;
        }
        i++;
    }
    if (!o->target.text)
        diag_error(
            &o->diags, o->typed, 0,
            "what is to run? A kernel file (.ptx), a job file (.yaml), suite:NAME, or a program");
    else check_targets(o);
    o->quiet = run_option_find(o, OPTION_QUIET) != NULL;
    const struct run_option *f = o->check ? NULL : run_option_find(o, OPTION_FORMAT);
    o->json = f && f->value.length == 4 && memcmp(f->value.text, "json", 4) == 0;
    if (f && !o->json && (f->value.length != 4 || memcmp(f->value.text, "text", 4) != 0))
        diag_error(&o->diags, f->value.at, f->value.length, "--format is text or json, not '%.*s'",
                   (int)f->value.length, f->value.text);
    return !o->diags.errors;
}
