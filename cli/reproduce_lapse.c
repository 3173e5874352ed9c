/* Time lapses of `heddle reproduce`: `heddle report --svg` draws each in a child process. DIR/cells keeps the figures under
 * the digest of their command and of the program, so that a resumed run does not draw them again. */
#define _GNU_SOURCE
#include "cli/reproduce.h"

#include "cli/cli.h"
#include "cli/processes.h"

#include "base/buf.h"
#include "base/sha256.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PATH = 4096, MOST_FIGURE = 16 << 20, WORDS = 16 };

/* ORDER,ORDER,...: of the plan. */
static const char *orders_of(const struct reproduce *r, const struct reproduce_item *i,
                             const struct reproduce_lapse *l)
{
    struct buf b = {0};
    for (size_t k = 0; k < l->order_count; k++)
        buf_printf(&b, "%s%s", k ? "," : "", r->plan.orders[i->orders[l->orders[k]].order]);
    const char *copy = arena_copy(r->arena, b.data, b.size);
    buf_free(&b);
    return copy;
}

/* Fills in the command, which ends with the path of the figure. */
static void command_of(const struct reproduce *r, const struct reproduce_item *i,
                       const struct reproduce_lapse *l, const char *words[WORDS], char interval[16],
                       char path[MOST_PATH])
{
    uint8_t digest[SHA256_BYTES] = {0};
    struct sha256 all;
    snprintf(interval, 16, "%u", l->interval);
    const char *const command[] = {"heddle",
                                   "report",
                                   r->plan.targets[*i->targets[l->target].inputs].name,
                                   "--gpu",
                                   r->plan.gpus[i->gpu],
                                   "--order",
                                   orders_of(r, i, l),
                                   "--interval",
                                   interval,
                                   "--all-sms",
                                   "--svg",
                                   path,
                                   NULL};
    memcpy(words, command, sizeof command);
    (void)sha256_file("/proc/self/exe", digest);
    sha256_begin(&all);
    sha256_add(&all, digest, sizeof digest);
    for (size_t k = 0; words[k] != path; k++) sha256_add(&all, words[k], strlen(words[k]) + 1);
    sha256_end(&all, digest);
    const int n = snprintf(path, MOST_PATH - 64, "%s/cells/lapse-", r->folder);
    sha256_hex(digest, 32, path + n);
    snprintf(path + n + 32, 5, ".svg");
}

/* What the command prints goes nowhere. An exit code, -1: it could not begin or a signal ended it, it or this program. */
static int execute(const char *const *words)
{
    struct process p;
    int status = SIGKILL;
    if (process_begin(&p, true, 0)) {
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (nowhere >= 0) {
            (void)dup2(nowhere, STDOUT_FILENO);
            (void)dup2(nowhere, STDERR_FILENO);
        }
        execv("/proc/self/exe", (char *const *)(uintptr_t)words);
        _exit(127);
    }
    while (p.pid && !process_ended(&p, &status) && !process_stop()) process_sleep(1);
    if (!p.pid && WIFEXITED(status)) return WEXITSTATUS(status);
    process_end(&p);
    return -1;
}

static void say_failed(const char *const *words, int status)
{
    fprintf(stderr, "heddle reproduce: failed with status %d:", status);
    for (; *words; words++) fprintf(stderr, " %s", *words);
    fputs("\n", stderr);
}

static const char *read_figure(struct reproduce *r, const char *path)
{
    struct buf text = {0};
    const char *copy = NULL;
    if (buf_add_file(&text, path, MOST_FIGURE) && text.size)
        copy = arena_copy(r->arena, text.data, text.size);
    buf_free(&text);
    return copy;
}

/* An exit code. */
static int draw(struct reproduce *r, const struct reproduce_item *item, struct reproduce_lapse *l)
{
    const char *words[WORDS];
    char interval[16], path[MOST_PATH];
    command_of(r, item, l, words, interval, path);
    if ((l->svg = read_figure(r, path))) return EXIT_FINE;
    const int status = execute(words);
    if (status == 0 && (l->svg = read_figure(r, path))) return EXIT_FINE;
    if (process_stop()) return process_stop() == SIGINT ? EXIT_INTERRUPTED : SWEEP_AGAIN;
    say_failed(words, status);
    return EXIT_USAGE;
}

int reproduce_lapses_run(struct reproduce *r)
{
    int status = EXIT_FINE;
    process_signals_begin();
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; r->items[i].chosen && k < r->items[i].lapse_count && !status; k++)
            status = draw(r, &r->items[i], &r->items[i].lapses[k]);
    process_signals_end();
    return status;
}
