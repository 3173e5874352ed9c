/* heddle reproduce: reads the list of items, runs missing cells, writes figures and verdicts. */
#define _GNU_SOURCE
#include "cli/reproduce.h"

#include "base/replace.h"
#include "cli/command.h"

#include "base/buf.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_JOBS = 1024, MOST_LIST = 1 << 22, MOST_FOLDER = 3840 }; /* paths of files have 4096 */

static const struct command_option options[] = {
    {.name = "output",
     .argument = "DIR",
     .standard = "reproduce",
     .help = "The folder of journal, data and page.",
     .id = 'o'},
    {.name = "quick", .help = "Leave out items that take long.", .id = 'q'},
    {.name = "jobs",
     .argument = "N",
     .standard = "one for each core",
     .help = "Processes at a time. The numbers do not depend on it.",
     .id = 'j'},
    {.name = "list", .help = "Print the items and do no more.", .id = 'l'},
    {.name = "items",
     .argument = "FILE",
     .standard = "built in",
     .help = "The list of items, as YAML (docs/reproduce.md).",
     .id = 'i'},
    {.name = "recorded",
     .argument = "FILE",
     .standard = "built in",
     .help = "A claims.csv: the status is 4 if a verdict is worse than there.",
     .id = 'r'},
    {.name = "quiet", .help = "No progress and no table.", .id = 'Q'},
};

struct request {
    struct reproduce all;
    const char *items, *recorded;
    unsigned long jobs;
    bool quick, list;
};

static bool take_option(struct request *q, int id, const char *value)
{
    switch (id) {
    case 'o': q->all.folder = value; return true;
    case 'q': return q->quick = true;
    case 'l': return q->list = true;
    case 'i': q->items = value; return true;
    case 'r': q->recorded = value; return true;
    case 'Q': return q->all.quiet = true;
    default: return option_number("reproduce", "--jobs", value, MOST_JOBS, &q->jobs) && q->jobs;
    }
}

/* The text of a file, or what is built in; NULL after a message. */
static const char *text_of(struct request *q, const char *path, const char *built_in)
{
    struct buf text = {0};
    if (!path) return built_in;
    const bool ok = buf_add_file(&text, path, MOST_LIST);
    if (!ok) usage_error("reproduce", "cannot read '%s': %s", path, strerror(errno));
    const char *copy = ok ? arena_copy(q->all.arena, text.data ? text.data : "", text.size) : NULL;
    buf_free(&text);
    return copy;
}

static int read_items(struct request *q)
{
    const char *text = text_of(q, q->items, reproduce_yaml);
    if (!text) return EXIT_USAGE;
    struct source source = {q->items ? q->items : "items.yaml", text, (uint32_t)strlen(text)};
    struct diags d = {.arena = q->all.arena, .source = &source, .max_errors = 20};
    q->all.plan.arena = q->all.arena;
    if (reproduce_items_read(&q->all, &d)) return EXIT_FINE;
    struct buf say = {0};
    diags_render(&d, &say);
    if (say.data) fputs(say.data, stderr);
    buf_free(&say);
    return EXIT_INPUT;
}

/* An item by its id, or all whose ids begin with the word and '-': "thesis". */
static bool choose(struct reproduce *r, const char *word)
{
    const size_t n = strlen(word);
    struct text_nearest near = {.text = word, .length = n};
    bool any = false;
    for (size_t i = 0; i < r->count; i++) {
        const char *id = r->items[i].id;
        text_nearest_try(&near, id);
        if (strncmp(id, word, n) != 0 || (id[n] && id[n] != '-')) continue;
        r->items[i].chosen = any = true;
    }
    if (!any)
        usage_error("reproduce", "there is no item '%s'%s%s%s", word,
                    near.best ? "; did you mean '" : "", near.best ? near.best : "",
                    near.best ? "'?" : " ('heddle reproduce --list' names them)");
    return any;
}

static bool choose_all(struct request *q, char **words, int count)
{
    struct reproduce *r = &q->all;
    for (int i = 0; i < count; i++)
        if (!choose(r, words[i])) return false;
    for (size_t i = 0; i < r->count; i++) {
        if (!count) r->items[i].chosen = true;
        if (q->quick && r->items[i].slow) r->items[i].chosen = false;
    }
    return true;
}

/* One run at a time in a folder. The file stays open until the process ends. */
static bool open_folder(const char *folder)
{
    char path[4096];
    if (strlen(folder) > MOST_FOLDER) {
        usage_error("reproduce", "the name of the folder is too long: at most %d bytes",
                    MOST_FOLDER);
        return false;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        usage_error("reproduce", "cannot make '%s': %s", folder, strerror(errno));
        return false;
    }
    snprintf(path, sizeof path, "%s/lock", folder);
    FILE *f = fopen(path, "we");
    if (f && flock(fileno(f), LOCK_EX | LOCK_NB) == 0) return true;
    if (errno == EWOULDBLOCK) usage_error("reproduce", "another run is under way in '%s'", folder);
    else usage_error("reproduce", "cannot write in '%s': %s", folder, strerror(errno));
    return false;
}

static int run_and_write(struct request *q, const char *recorded)
{
    struct reproduce *r = &q->all;
    if (!reproduce_cells_name(r)) return EXIT_USAGE;
    int status = reproduce_cells_run(r);
    if (status == EXIT_USAGE) return status;
    if (status == EXIT_FINE) status = reproduce_lapses_run(r);
    if (!reproduce_write(r)) return EXIT_USAGE;
    if (!r->quiet) reproduce_print(r);
    if (status != EXIT_FINE) return status;
    return reproduce_worse(r, recorded) ? EXIT_DIFFERS : EXIT_FINE;
}

static int run(struct request *q, char **words, int count)
{
    int status = read_items(q);
    if (status != EXIT_FINE) return status;
    if (!choose_all(q, words, count)) return EXIT_USAGE;
    if (q->list) {
        for (size_t i = 0; i < q->all.count; i++)
            if (q->all.items[i].chosen)
                printf("%-14s %-5s %s (%s)\n", q->all.items[i].id,
                       q->all.items[i].slow ? "slow" : "", q->all.items[i].title,
                       q->all.items[i].place);
        return EXIT_FINE;
    }
    const char *recorded = text_of(q, q->recorded, reproduce_csv);
    if (!recorded) return EXIT_USAGE;
    if (!reproduce_is_recorded(recorded))
        return usage_error("reproduce", "'%s' is no claims.csv of this command", q->recorded);
    if (!open_folder(q->all.folder)) return EXIT_USAGE;
    q->all.jobs = (unsigned)q->jobs;
    status = run_and_write(q, recorded);
    reproduce_cells_free(&q->all);
    return status;
}

static int reproduce(int argc, char **argv)
{
    struct request q = {.all = {.arena = arena_new(), .folder = "reproduce"}};
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int status = EXIT_FINE;
    q.jobs = cores > 0 ? (unsigned long)cores : 1;
    struct words w = {.command = &command_reproduce, .argc = argc, .argv = argv};
    for (int id; status == EXIT_FINE && (id = words_next(&w));)
        if (!take_option(&q, id, w.value)) status = EXIT_USAGE;
    if (w.wrong) status = EXIT_USAGE;
    if (status == EXIT_FINE) status = run(&q, argv + 1, w.operands);
    arena_free(q.all.arena);
    return finish_output("reproduce", status);
}

const struct command command_reproduce = {
    .name = "reproduce",
    .summary = "figures, tables and claims of the papers on GPUDet and DAB, run again",
    .usage = "reproduce [options] [ITEM...]",
    .description =
        "Runs the workloads of figures and tables of the papers on GPUDet and DAB, and compares what the papers claim "
        "with what Heddle measures. DIR/index.html has each figure with its table and verdicts; DIR/claims.csv has all "
        "verdicts, DIR/data the numbers, DIR/claims.md is the page docs/claims.md. Without ITEM: all items; 'thesis' and "
        "'dab' are those of one paper.\n"
        "A run that was stopped goes on where it was: the same command again. docs/reproduce.md describes the list of "
        "items.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status = "  0  success\n  1  the list of items has errors\n"
                   "  2  a wrong call, or a file that cannot be read or written\n"
                   "  4  a verdict is worse than the recorded one\n"
                   "  75  SIGTERM came: run the same command again\n  130  it was interrupted",
    .examples = "  heddle reproduce --quick\n  heddle reproduce thesis-6.1 --output out",
    .run = reproduce,
};
