/* The two judges. Heddle runs in a forked child that is started again behind a text that ends it. ptxas
 * runs as a program, a few at a time, and its verdicts are kept in a file. */
#define _GNU_SOURCE /* sigtimedwait, pipe2, prlimit */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/ptx.h"
#include "tests/ptxas/diff.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
    HEDDLE_SECONDS = 20,
    PTXAS_SECONDS = 20,
    PTXAS_BYTES = 1 << 30,
};

static void judge_here(const struct trial *t, FILE *out) /* in the child */
{
    struct arena *a = arena_new();
    struct source s = {"module.ptx", t->text, (uint32_t)strlen(t->text)};
    struct diags d = {.arena = a, .source = &s, .max_errors = 8};
    struct ptx_module *m = ptx_module_parse(a, &s, &d);
    bool fine = ptx_module_check(m) && d.errors == 0;
    ptx_module_end(m);
    diags_sort(&d);
    const struct diag *first = NULL;
    for (size_t i = 0; i < d.count && !first; i++)
        if (d.list[i].kind == DIAG_ERROR) first = &d.list[i];
    struct buf text = {0};
    buf_puts(&text, first ? first->text : fine ? "" : "(no message)");
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '\n') text.data[i] = ' ';
    fprintf(out, "%d %u %s\n", fine ? ACCEPTS : REJECTS,
            first ? source_place(&s, first->at).line : 0, text.data);
    fflush(out);
    buf_free(&text);
    arena_free(a);
}

void heddle_judge(struct arena *a, struct trials *t)
{
    for (size_t i = 0; i < t->n;) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC)) diff_die("pipe: %s", strerror(errno));
        fflush(NULL);
        pid_t child = fork();
        if (child < 0) diff_die("fork: %s", strerror(errno));
        if (child == 0) {
            FILE *out = fdopen(ends[1], "w");
            for (; i < t->n; i++) {
                alarm(HEDDLE_SECONDS);
                judge_here(&t->v[i], out);
            }
            _exit(0);
        }
        close(ends[1]);
        FILE *in = fdopen(ends[0], "r");
        char *line = NULL;
        size_t cap = 0;
        for (ssize_t n; i < t->n && (n = getline(&line, &cap, in)) > 0 && line[n - 1] == '\n';
             i++) {
            int opinion, at = 0;
            line[n - 1] = '\0';
            if (sscanf(line, "%d %u %n", &opinion, &t->v[i].heddle_line, &at) < 2) break;
            t->v[i].heddle = (uint8_t)opinion;
            t->v[i].heddle_says = arena_copy(a, line + at, strlen(line + at));
        }
        free(line);
        fclose(in);
        int status;
        waitpid(child, &status, 0);
        if (i == t->n) break;
        t->v[i].heddle = CRASHES;
        t->v[i].heddle_says = !WIFSIGNALED(status)
                                  ? arena_printf(a, "exits with status %d", WEXITSTATUS(status))
                              : WTERMSIG(status) == SIGALRM
                                  ? "takes too long"
                                  : arena_printf(a, "killed by signal %d (%s)", WTERMSIG(status),
                                                 strsignal(WTERMSIG(status)));
        i++;
    }
}

/* What ptxas says when it is not the text that it objects to. */
static const char *const not_about_the_text[] = {"Internal",
                                                 "internal error",
                                                 "[Rr]egister allocation",
                                                 "too many registers",
                                                 "out of (memory|resources)",
                                                 "Call graph",
                                                 "stack size",
                                                 "Size of .* exceeds",
                                                 "uses too much",
                                                 "Memory allocation",
                                                 "cannot be allocated",
                                                 "elfLink",
                                                 "nvlink",
                                                 "Unsupported .* for relocation",
                                                 "(Feature|feature) .* not (yet )?supported by",
                                                 "C79[0-9][0-9]",
                                                 "Minimum allowed register count",
                                                 "cannot be compiled to future",
                                                 "SM version specified by .target is higher",
                                                 "not allowed for per-function compilation",
                                                 "^32-Bit compilation is no longer supported",
                                                 "^32-Bit ABI "};

static const char *arch_of(struct arena *a, const char *text)
{
    static const struct {
        unsigned sm;
        bool a, f;
    } have[] = {{75, 0, 0}, {80, 0, 0},  {86, 0, 0},  {87, 0, 0},  {88, 0, 0},  {89, 0, 0},
                {90, 1, 0}, {100, 1, 1}, {103, 1, 1}, {110, 1, 1}, {120, 1, 1}, {121, 1, 1}};
    const char *at = strstr(text, ".target");
    size_t length = at ? 7 + strspn(at + 7, " \n\t,_abcdefghijklmnopqrstuvwxyz0123456789") : 0;
    unsigned number = 0;
    char suffix = 0;
    for (size_t i = 0; i < length; i++) { /* the largest of those named */
        unsigned n;
        char c = 0;
        if (sscanf(at + i, "sm_%u%c", &n, &c) < 1 && sscanf(at + i, "compute_%u%c", &n, &c) < 1)
            continue;
        if (n < number) continue;
        number = n;
        suffix = c;
    }
    size_t i = 0;
    while (i + 1 < COUNT(have) && have[i].sm < number) i++;
    if (have[i].sm != number || !((suffix == 'a' && have[i].a) || (suffix == 'f' && have[i].f)))
        return arena_printf(a, "sm_%u", have[i].sm);
    return arena_printf(a, "sm_%u%c", have[i].sm, suffix);
}

/* -c, so that .extern functions need no definition; older modules cannot be compiled that way. */
static bool may_be_relocatable(const char *text)
{
    const char *at = strstr(text, ".version");
    unsigned major, minor;
    return !at || sscanf(at, ".version %u.%u", &major, &minor) != 2 || major * 10 + minor >= 31;
}

static pid_t spawn(const char *const *argv, const char *log)
{
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t pid;
    int rc = posix_spawnp(&pid, argv[0], &files, &attributes, (char *const *)(uintptr_t)argv,
                          environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return rc ? -1 : pid;
}

/* The first error in the log of ptxas; "ptxas FILE, line N; error : TEXT" or "ptxas fatal : TEXT". */
static const char *first_error(struct arena *a, char *log, uint32_t *line)
{
    char *save;
    *line = 0;
    for (char *l = strtok_r(log, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
        char *kind = strstr(l, "error   :");
        if (!kind) kind = strstr(l, "fatal   :");
        if (!kind) continue;
        const char *at = strstr(l, ", line ");
        if (at && at < kind) *line = (uint32_t)strtoul(at + 7, NULL, 10);
        kind += 9;
        while (*kind == ' ') kind++;
        if (strncmp(kind, "Ptx assembly aborted", 20) == 0) break;
        return arena_copy(a, kind, strlen(kind));
    }
    return NULL;
}

static void decide(struct ptxas *x, struct trial *t, int status, const char *log_path)
{
    size_t size;
    char *log = diff_read_file(x->arena, log_path, &size);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        t->ptxas = ACCEPTS;
        t->ptxas_says = "";
        return;
    }
    char *copy = arena_copy(x->arena, log, size);
    const char *says = first_error(x->arena, copy, &t->ptxas_line);
    const char *mix_up = strstr(log,
                                "Program uses 32-bit address"); /* a warning, but it ends badly */
    if (mix_up && says && strncmp(says, "32-Bit", 6) == 0)
        says = arena_copy(x->arena, mix_up, strcspn(mix_up, "\n"));
    bool killed = WIFSIGNALED(status) || WEXITSTATUS(status) >= 128;
    bool known = WIFEXITED(status) && WEXITSTATUS(status) == 255 && says;
    if (!says)
        says = size && !killed ? arena_copy(x->arena, log, strcspn(log, "\n"))
                               : arena_printf(x->arena, "killed, status %d", status);
    t->ptxas_says = says;
    t->ptxas = (killed && !known) || regexec(&x->aside, says, 0, NULL, 0) == 0 ? UNJUDGED : REJECTS;
}

static void remember(struct ptxas *x, const char *key, const char *verdict)
{
    if (!words_add(x->arena, &x->known, key, strlen(key))) return;
    x->verdict = arena_grow(x->arena, x->verdict, x->known.n - 1, &x->verdict_cap, x->known.n,
                            sizeof *x->verdict);
    x->verdict[x->known.n - 1] = arena_copy(x->arena, verdict, strlen(verdict));
}

static const char *key_of(struct ptxas *x, const struct trial *t, const char *arch)
{
    const char *all = arena_printf(x->arena, "%s\n%s %s\n", x->version, arch,
                                   may_be_relocatable(t->text) ? "-c" : "-w");
    uint64_t h[2] = {diff_digest(all, strlen(all), 11), diff_digest(all, strlen(all), 13)};
    for (unsigned i = 0; i < 2; i++) h[i] = diff_digest(t->text, strlen(t->text), h[i] + i);
    return arena_printf(x->arena, "%016llx%016llx", (unsigned long long)h[0],
                        (unsigned long long)h[1]);
}

bool ptxas_start(struct ptxas *x, struct arena *a, const char *cache, int jobs)
{
    sigset_t child; /* waited for in reap */
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    const char *tmp = getenv("TMPDIR");
    *x = (struct ptxas){.arena = a, .jobs = jobs};
    x->dir = arena_printf(a, "%s/ptxas-diff.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(x->dir)) diff_die("%s: %s", x->dir, strerror(errno));
    const char *log = arena_printf(a, "%s/version", x->dir);
    const char *argv[] = {"ptxas", "--version", NULL};
    pid_t pid = spawn(argv, log);
    int status = -1;
    if (pid > 0) waitpid(pid, &status, 0);
    if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) {
        unlink(log);
        rmdir(x->dir);
        return false;
    }
    size_t size;
    x->version = diff_read_file(a, log, &size);
    unlink(log);
    struct buf all = {0};
    for (size_t i = 0; i < COUNT(not_about_the_text); i++)
        buf_printf(&all, "%s%s", i ? "|" : "", not_about_the_text[i]);
    if (regcomp(&x->aside, all.data, REG_EXTENDED | REG_NOSUB))
        diff_die("bad pattern: %s", all.data);
    buf_free(&all);
    diff_make_dirs(cache);
    x->cache = arena_printf(a, "%s/verdicts", cache);
    FILE *f = fopen(x->cache, "r");
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; f && (n = getline(&line, &cap, f)) > 0;) {
        if (n < 36 || line[n - 1] != '\n' || line[32] != ' ') continue;
        line[n - 1] = line[32] = '\0';
        remember(x, line, line + 33);
    }
    free(line);
    if (f) fclose(f);
    return true;
}

struct job {
    pid_t pid; /* 0: free */
    struct trial *trial;
    const char *key, *input, *log, *cubin;
    struct timespec since;
};

static double seconds_since(const struct timespec *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + 1e-9 * (double)(now.tv_nsec - t->tv_nsec);
}

static void reap(struct ptxas *x, struct job *jobs, int n, FILE *cache)
{
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid == 0) {
            sigtimedwait(&child, NULL, &(struct timespec){.tv_nsec = 50000000});
            for (int i = 0; i < n; i++)
                if (jobs[i].pid && seconds_since(&jobs[i].since) > PTXAS_SECONDS)
                    kill(jobs[i].pid, SIGKILL);
            continue;
        }
        if (pid < 0) return;
        for (int i = 0; i < n; i++) {
            if (jobs[i].pid != pid) continue;
            jobs[i].pid = 0;
            decide(x, jobs[i].trial, status, jobs[i].log);
            const struct trial *t = jobs[i].trial;
            char *verdict = arena_printf(x->arena, "%d %u %s", t->ptxas, t->ptxas_line,
                                         t->ptxas_says);
            for (char *c = verdict; *c; c++)
                if (*c == '\n') *c = ' ';
            remember(x, jobs[i].key, verdict);
            if (cache) {
                fprintf(cache, "%s %s\n", jobs[i].key, verdict);
                fflush(cache);
            }
        }
        return;
    }
}

void ptxas_judge(struct ptxas *x, struct trials *t)
{
    struct job jobs[JOBS_MAX] = {{0}};
    FILE *cache = fopen(x->cache, "a");
    if (cache) setvbuf(cache, NULL, _IOFBF, 1 << 16);
    int running = 0;
    for (int i = 0; i < x->jobs; i++) {
        jobs[i].input = arena_printf(x->arena, "%s/%d.ptx", x->dir, i);
        jobs[i].log = arena_printf(x->arena, "%s/%d.log", x->dir, i);
        jobs[i].cubin = arena_printf(x->arena, "%s/%d.cubin", x->dir, i);
    }
    for (size_t i = 0; i < t->n; i++) {
        const char *arch = arch_of(x->arena, t->v[i].text), *key = key_of(x, &t->v[i], arch);
        size_t known = words_find(&x->known, key, strlen(key));
        if (known != SIZE_MAX) {
            int opinion = 0, at = 0;
            const char *v = x->verdict[known];
            if (sscanf(v, "%d %u %n", &opinion, &t->v[i].ptxas_line, &at) >= 2) {
                t->v[i].ptxas = (uint8_t)opinion;
                t->v[i].ptxas_says = v + at;
                continue;
            }
        }
        if (running == x->jobs) {
            reap(x, jobs, x->jobs, cache);
            running--;
        }
        struct job *j = jobs;
        while (j->pid) j++;
        FILE *f = fopen(j->input, "w");
        if (!f || fputs(t->v[i].text, f) < 0 || fclose(f))
            diff_die("%s: %s", j->input, strerror(errno));
        const char *mode = may_be_relocatable(t->v[i].text) ? "-c" : "-w";
        const char *argv[] = {"ptxas", "-O0", mode, "-arch", arch, "-o", j->cubin, j->input, NULL};
        j->trial = &t->v[i];
        j->key = key;
        clock_gettime(CLOCK_MONOTONIC, &j->since);
        j->pid = spawn(argv, j->log);
        if (j->pid < 0) diff_die("cannot run ptxas");
        /* Some texts make it eat memory without end. */
        prlimit(j->pid, RLIMIT_AS, &(struct rlimit){PTXAS_BYTES, PTXAS_BYTES}, NULL);
        running++;
        x->runs++;
    }
    while (running--) reap(x, jobs, x->jobs, cache);
    if (cache) fclose(cache);
}

void ptxas_end(struct ptxas *x)
{
    for (int i = 0; i < x->jobs; i++) {
        unlink(arena_printf(x->arena, "%s/%d.ptx", x->dir, i));
        unlink(arena_printf(x->arena, "%s/%d.log", x->dir, i));
        unlink(arena_printf(x->arena, "%s/%d.cubin", x->dir, i));
    }
    rmdir(x->dir);
    regfree(&x->aside);
}
