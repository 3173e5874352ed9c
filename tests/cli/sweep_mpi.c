/* heddle-mpi: a sweep on the ranks of an MPI job of this host. It lies beside the program that HEDDLE names; where it or
 * mpirun is missing the tests are skipped. Most cells are runs of a script that takes the place of heddle: it sleeps and
 * prints a result that follows from the seed.
 *
 * HEDDLE_KILLS=100 kills as often as that (8 without it), with cells that take longer: `make chaos`. */
#define _GNU_SOURCE
#include "tests/support/command.h"

#include "base/buf.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANKS = 64 };
#define MPIRUN "mpirun --oversubscribe --allow-run-as-root "

static bool is_here; /* heddle-mpi and mpirun */
static char two_hosts[4200];

static void shell(const char *command)
{
    cr_assert_eq(system(command), 0, "%s", command);
}

/* The script that takes the place of heddle. */
static void write_cell(const char *seconds)
{
    char script[300];
    snprintf(script, sizeof script,
             "#!/bin/sh\n"
             "for a; do case $a in --seed=*) seed=${a#--seed=} ;; esac; done\n"
             "sleep %s\n"
             "printf '{\"read_back_digest\":\"0x%%016x\",\"launches\":[]}' $seed\n",
             seconds);
    command_write("heddle", script);
}

/* The folder gets heddle-mpi, and as `heddle` the script. */
static void enter(void)
{
    char command[4200];
    const char *name = getenv("HEDDLE");
    char *program = realpath(name ? name : "./heddle", NULL), *script;
    cr_assert((script = realpath("tests/cli/two_hosts.sh", NULL)));
    snprintf(two_hosts, sizeof two_hosts, "unshare -rnupf --mount-proc --kill-child sh '%s'",
             script);
    free(script);
    command_enter();
    cr_assert(program);
    snprintf(command, sizeof command,
             "command -v mpirun >/dev/null && cp '%s-mpi' heddle-mpi 2>/dev/null", program);
    is_here = system(command) == 0;
    write_cell("0.02");
    command_write("plan.yaml",
                  "sweep: p\ntargets: [suite:saxpy]\norders: [random]\nseeds: 1-2000\n");
    shell("chmod +x heddle");
    free(program);
}

TestSuite(sweep_mpi, .init = enter, .fini = command_leave);

#define NEEDS_MPI()                                                                                \
    if (!is_here) {                                                                                \
        fputs("sweep_mpi: skipped, heddle-mpi or mpirun is not there\n", stderr);                  \
        return;                                                                                    \
    }

/* ---- a job ------------------------------------------------------------------------------------ */

/* Starts a command, whose output goes to the file `log`. */
static pid_t start(const char *command)
{
    char line[4400];
    snprintf(line, sizeof line, "exec %s >log 2>&1", command);
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", line, NULL);
        _exit(127);
    }
    return child;
}

/* Its exit status; -1: it was killed. */
static int finish(pid_t job)
{
    int status = 0;
    cr_assert_eq(waitpid(job, &status, 0), job);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void sleep_ms(uint64_t ms);

/* Open MPI's mpirun may hang for ever when a rank dies while the job begins: after five seconds it is killed. */
static void finish_killed(pid_t job)
{
    for (int i = 0; i < 500; i++) {
        if (waitpid(job, NULL, WNOHANG) == job) return;
        sleep_ms(10);
    }
    kill(job, SIGKILL);
    (void)waitpid(job, NULL, 0);
}

static void sleep_ms(uint64_t ms)
{
    const struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000L};
    nanosleep(&t, NULL);
}

/* Processes that mpirun has started: the ranks, in order. */
static size_t ranks_of(pid_t job, pid_t *out)
{
    char path[64];
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", job, job);
    FILE *f = fopen(path, "r");
    for (int pid; f && n < MOST_RANKS && fscanf(f, "%d", &pid) == 1;) out[n++] = pid;
    if (f) fclose(f);
    return n;
}

static char *text_of(const char *path)
{
    struct buf text = {0};
    buf_puts(&text, "");
    (void)buf_add_file(&text, path, 1 << 24);
    return text.data;
}

static size_t lines_of(const char *path)
{
    char *text = text_of(path);
    size_t n = 0;
    for (char *c = text; *c; c++) n += *c == '\n';
    free(text);
    return n;
}

static void wait_for_lines(pid_t job, size_t n)
{
    for (int i = 0;
         i < 6000 && lines_of("p.sweep/journal.ndjson") < n && waitpid(job, NULL, WNOHANG) == 0;
         i++)
        sleep_ms(10);
}

/* The journal has each of `count` cells once, each with the result of its seed. */
static void expect_each_once(unsigned count)
{
    char *text = text_of("p.sweep/journal.ndjson");
    unsigned *times = calloc(count + 1, sizeof *times), lines = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, lines++) {
        unsigned long long seed = 0;
        const char *digest = strstr(line, "\"digest\":\"");
        cr_assert(digest && sscanf(digest + 10, "%16llx", &seed) == 1, "%.*s", (int)(end - line),
                  line);
        cr_assert(seed >= 1 && seed <= count, "seed %llu", seed);
        times[seed]++;
    }
    cr_expect_eq(lines, count, "%u lines", lines);
    for (unsigned i = 1; i <= count; i++)
        cr_expect_eq(times[i], 1, "cell %u ran %u times", i, times[i]);
    free(times);
    free(text);
}

static void expect_log(const char *words)
{
    char *log = text_of("log");
    cr_expect(strstr(log, words), "'%s' is not in: %s", words, log);
    free(log);
}

/* ---- results ---------------------------------------------------------------------------------- */

/* With the real program: the same database from one process and from several ranks. */
Test(sweep_mpi, one_process_and_ranks_agree, .timeout = 300)
{
    static const char query[] =
        "query %s 'select id,target,order_name,seed,gpu,state,exit,digest,launches,warp_instructions,"
        "races,cycles from cells order by id'";
    struct buf alone = {0}, out = {0};
    char words[400], command[4300];
    NEEDS_MPI();
    const char *name = getenv("HEDDLE_RANKS");
    command_write("plan.yaml",
                  "sweep: p\ntargets: [suite:sum_atomic, suite:saxpy]\n"
                  "orders: [native, random, gpudet]\nseeds: 1-2\nmeasure: [digest, races]\n");
    cr_assert_eq(command_run("sweep plan.yaml --jobs 1 --quiet", &out), 6, "%s", out.data);
    snprintf(words, sizeof words, "sweep ");
    snprintf(words + 6, sizeof words - 6, query, "p.sweep");
    cr_assert_eq(command_run(words, &alone), 0, "%s", alone.data);
    shell("rm heddle && mv p.sweep one");
    snprintf(command, sizeof command, "ln -s '%s' heddle", command_program());
    shell(command);
    snprintf(command, sizeof command, MPIRUN "-n %s ./heddle-mpi sweep plan.yaml",
             name ? name : "6");
    cr_expect_eq(finish(start(command)), 6);
    expect_log("sum_atomic");
    cr_assert_eq(command_run(words, &out), 0, "%s", out.data);
    cr_expect_str_eq(out.data, alone.data);
    buf_free(&alone);
    buf_free(&out);
}

Test(sweep_mpi, ranks_with_another_plan_run_nothing, .timeout = 120)
{
    NEEDS_MPI();
    command_write("plan.yaml", "sweep: p\ntargets: [suite:saxpy]\norders: [random]\nseeds: 1-20\n");
    command_write("other.yaml",
                  "sweep: p\ntargets: [suite:sum_atomic]\norders: [random]\nseeds: 1-20\n");
    cr_expect_eq(
        finish(
            start(MPIRUN "-n 2 ./heddle-mpi sweep plan.yaml : -n 1 ./heddle-mpi sweep other.yaml")),
        6);
    expect_log("rank 2 on ");
    expect_log("does not take part: its plan, an input or Heddle differs");
    expect_each_once(20);
    shell("rm -r p.sweep");
    cr_expect_eq(
        finish(
            start(MPIRUN "-n 1 ./heddle-mpi sweep plan.yaml : -n 1 ./heddle-mpi sweep other.yaml")),
        2);
    expect_log("no cell can begin: there is no rank that takes part");
}

Test(sweep_mpi, errors_of_a_plan_come_once, .timeout = 120)
{
    NEEDS_MPI();
    command_write("plan.yaml", "targets: [suite:saxpi]\n");
    cr_expect_eq(finish(start(MPIRUN "-n 3 ./heddle-mpi sweep plan.yaml")), 1);
    char *log = text_of("log"), *first = strstr(log, "did you mean 'saxpy'?");
    cr_assert(first, "%s", log);
    cr_expect_null(strstr(first + 1, "did you mean"), "%s", log);
    free(log);
}

/* Open MPI leaves much behind when its plugins are unloaded; what heddle-mpi itself has allocated is free at the end. Leaks
 * are found by gcc's liblsan, which takes the place of malloc in any program. */
Test(sweep_mpi, ranks_free_their_memory, .timeout = 120)
{
    static const char with_lsan[] = MPIRUN
        "-n 3 env LD_PRELOAD=\"$(gcc -print-file-name=liblsan.so)\" "
        "LSAN_OPTIONS=log_path=\"$PWD/leaks\":exitcode=0:stack_trace_format='#%n%m+%o' "
        "./heddle-mpi sweep plan.yaml";
    NEEDS_MPI();
    if (system("test -e \"$(gcc -print-file-name=liblsan.so)\"") != 0) {
        fputs("sweep_mpi: skipped, there is no liblsan\n", stderr);
        return;
    }
    command_write("plan.yaml", "sweep: p\ntargets: [suite:saxpy]\norders: [random]\nseeds: 1-8\n");
    (void)finish(start(with_lsan));
    expect_each_once(8);
    shell("cat leaks.* >all; test -s all"); /* Open MPI's: so leaks were looked for */
    /* What lies behind the program's code is not the program: LSan takes plugins for it that are no longer loaded. */
    shell("readelf -lW ./heddle-mpi | grep ' R E ' >code");
    unsigned long begin = 0, size = 0;
    char *code = text_of("code"), *all = text_of("all");
    cr_assert_eq(sscanf(code, " LOAD %*x %lx %*x %*x %lx", &begin, &size), 2, "%s", code);
    for (char *line = strtok(all, "\n"); line; line = strtok(NULL, "\n")) {
        const char *at = strstr(line, "/heddle-mpi+");
        if (strncmp(line, "#1", 2) == 0 && at)
            cr_expect(strtoul(strchr(at, '+') + 1, NULL, 16) >= begin + size, "%s", line);
    }
    free(code);
    free(all);
}

/* ---- signals and lost ranks ------------------------------------------------------------------- */

Test(sweep_mpi, sigusr1_drains, .timeout = 120)
{
    NEEDS_MPI();
    command_write("plan.yaml",
                  "sweep: p\ntargets: [suite:saxpy]\norders: [random]\nseeds: 1-300\n");
    const pid_t job = start(MPIRUN "-n 3 ./heddle-mpi sweep plan.yaml");
    wait_for_lines(job, 5);
    kill(job, SIGUSR1);
    cr_expect_eq(finish(job), 75);
    const size_t before = lines_of("p.sweep/journal.ndjson");
    cr_expect(before >= 5 && before < 300, "%zu", before);
    cr_expect_eq(finish(start(MPIRUN "-n 3 ./heddle-mpi sweep plan.yaml")), 6);
    expect_each_once(300);
}

/* The job goes on without a rank that was killed, and with one that was stopped for a while. */
Test(sweep_mpi, a_lost_rank_costs_nothing, .timeout = 120)
{
    pid_t ranks[MOST_RANKS];
    NEEDS_MPI();
    command_write("plan.yaml",
                  "sweep: p\ntargets: [suite:saxpy]\norders: [random]\nseeds: 1-400\n");
    const pid_t job = start(MPIRUN
                            "--enable-recovery -n 5 ./heddle-mpi --lost-after 2 sweep plan.yaml");
    wait_for_lines(job, 20);
    cr_assert_eq(ranks_of(job, ranks), 5);
    kill(ranks[2], SIGKILL);
    kill(ranks[4], SIGSTOP);
    sleep_ms(4000);
    kill(ranks[4], SIGCONT);
    (void)finish(job); /* mpirun does not pass on the status of such a job */
    expect_each_once(400);
    expect_log("nothing from rank 2 on ");
    expect_log("nothing from rank 4 on ");
    expect_log(" cells run elsewhere");
}

/* One that stops again and again, each time for less than makes it a lost one, keeps its cells. */
Test(sweep_mpi, a_slow_rank_keeps_its_cells, .timeout = 120)
{
    pid_t ranks[MOST_RANKS];
    NEEDS_MPI();
    command_write("plan.yaml",
                  "sweep: p\ntargets: [suite:saxpy]\norders: [random]\nseeds: 1-100\n");
    const pid_t job = start(MPIRUN "-n 3 ./heddle-mpi sweep plan.yaml");
    wait_for_lines(job, 5);
    cr_assert_eq(ranks_of(job, ranks), 3);
    for (int i = 0; i < 6; i++) {
        kill(ranks[2], i % 2 ? SIGCONT : SIGSTOP);
        sleep_ms(200);
    }
    cr_expect_eq(finish(job), 6);
    expect_each_once(100);
    char *log = text_of("log");
    cr_expect_null(strstr(log, "nothing from rank"), "%s", log);
    free(log);
}

/* ---- inputs that are sent ---------------------------------------------------------------------- */

/* A script in the place of heddle: a cell's result is a checksum of two files in its current folder, whose name goes to
 * `folders`. */
static void write_cell_of_inputs(void)
{
    command_write("heddle", "#!/bin/sh\n"
                            "pwd >>\"$(dirname \"$0\")/folders\"\n"
                            "sum=$(cat sub/k.ptx sub/deeper/more | cksum | cut -d' ' -f1)\n"
                            "printf '{\"read_back_digest\":\"0x%016x\",\"launches\":[]}' $sum\n");
}

static const char plan_of_inputs[] = "sweep: p\ntargets: [{kernel: sub/k.ptx}, {program: ./app}]\n"
                                     "inputs: [sub/deeper/more]\norders: [random]\nseeds: 1-10\n";

/* Sends the inputs to `sent` hosts of one, and all cells run in the copy. */
static void expect_sent(int sent)
{
    char words[100], folder[4300];
    shell("rm -rf p.sweep folders");
    cr_expect_eq(finish(start("env TMPDIR=\"$PWD/copies\" " MPIRUN
                              "-n 4 ./heddle-mpi --ship sweep plan.yaml")),
                 0);
    snprintf(words, sizeof words, "sent 4 inputs (%zu bytes) to %d of 1 hosts\n",
             strlen(plan_of_inputs) + 7 + 5 + 9, sent); /* and k.ptx, more, app */
    expect_log(words);
    char *there = text_of("folders"), *here = realpath(".", NULL);
    snprintf(folder, sizeof folder, "%s/copies/heddle-inputs-%u/", here, (unsigned)getuid());
    cr_expect_eq(lines_of("folders"), 20);
    for (char *line = there, *end; (end = strchr(line, '\n')); line = end + 1) {
        cr_expect(strncmp(line, folder, strlen(folder)) == 0, "%.*s", (int)(end - line), line);
        cr_expect_eq((size_t)(end - line), strlen(folder) + 64);
    }
    free(here);
    free(there);
}

/* Three workers of one host: each input comes once, and again only where the copy has changed since. */
Test(sweep_mpi, inputs_are_sent_once_to_a_host, .timeout = 120)
{
    NEEDS_MPI();
    write_cell_of_inputs();
    shell(
        "mkdir -p sub/deeper copies && printf 'kernel\n' >sub/k.ptx && printf 'more\n' >sub/deeper/more");
    shell("printf '#!/bin/sh' >app && chmod +x app");
    command_write("plan.yaml", plan_of_inputs);
    expect_sent(1);
    shell("test -x copies/*/*/app && test ! -x copies/*/*/sub/k.ptx");
    expect_sent(0);
    shell("for f in copies/heddle-inputs-*/*/sub/deeper/more; do echo x >>$f; done");
    expect_sent(1);
    shell("chmod -x copies/heddle-inputs-*/*/app");
    expect_sent(1);
    shell("printf 'mofe\n' >sub/deeper/more");
    expect_sent(1);
}

Test(sweep_mpi, inputs_that_cannot_be_sent_are_refused, .timeout = 120)
{
    NEEDS_MPI();
    write_cell_of_inputs();
    shell("mkdir sub && printf 'kernel\n' >k.ptx && printf 'kernel\n' >sub/k.ptx");
    static const char *const paths[] = {"sub/../../%s/k.ptx", "../%s/k.ptx", "$PWD/k.ptx"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char line[300], path[200], folder[4096];
        cr_assert(getcwd(folder, sizeof folder));
        snprintf(path, sizeof path, paths[i], strrchr(folder, '/') + 1);
        snprintf(
            line, sizeof line,
            "rm -rf p.sweep; exec >plan.yaml; printf 'sweep: p\\ntargets: [{kernel: %%s}]\\n' \"%s\"",
            path);
        shell(line);
        cr_expect_eq(finish(start(MPIRUN "-n 2 ./heddle-mpi --ship sweep plan.yaml")), 2);
        expect_log("is not below the current folder: name it by a path there");
    }
    command_write("plan.yaml", "sweep: p\ntargets: [{kernel: sub/k.ptx}]\n");
    shell(
        "rm -rf p.sweep && mkdir full && chmod 700 full && ln -s /proc full/heddle-inputs-$(id -u)");
    cr_expect_eq(finish(start("env TMPDIR=\"$PWD/full\" " MPIRUN
                              "-n 2 ./heddle-mpi --ship sweep plan.yaml")),
                 2);
    expect_log("this host cannot keep the inputs in $TMPDIR (/tmp): Operation not permitted");
    expect_log("no cell can begin: there is no rank that takes part");
}

/* A host that the network loses: its cells run on the other one. */
Test(sweep_mpi, an_unreachable_host_costs_nothing, .timeout = 120)
{
    NEEDS_MPI();
    if (system(
            "unshare -rnupf --mount-proc ip link add near type veth peer name far >/dev/null 2>&1") !=
        0) {
        fputs("sweep_mpi: skipped, no network namespace or virtual cable can be made\n", stderr);
        return;
    }
    command_write("plan.yaml",
                  "sweep: p\ntargets: [suite:saxpy]\norders: [random]\nseeds: 1-100\n");
    shell(two_hosts);
    expect_log("sent 1 inputs (62 bytes) to 2 of 2 hosts");
    expect_each_once(100);
    expect_log("nothing from rank 2 on 'far'");
    expect_log("nothing from rank 3 on 'far'");
    expect_log("100 of 100 cells, 0 failed");
}

/* Kills ranks at random, rank 0 and mpirun itself too, with and without recovery, until the sweep is complete. */
Test(sweep_mpi, kills_lose_nothing_and_repeat_nothing, .timeout = 3000)
{
    enum { CELLS = 2000, RANKS = 6 };
    const char *most = getenv("HEDDLE_KILLS");
    const unsigned limit = most ? (unsigned)atoi(most) : 8;
    uint64_t g = 11;
    pid_t ranks[MOST_RANKS];
    unsigned kills = 0, lines = 0;
    NEEDS_MPI();
    if (limit > 20) write_cell("0.15"); /* else the cells come to an end before the kills */
    while (kills < limit) {
        const bool recovery = rng_below(&g, 2);
        const pid_t job = start(
            recovery ? MPIRUN "--enable-recovery -n 6 ./heddle-mpi --lost-after 2 sweep plan.yaml"
                     : MPIRUN "-n 6 ./heddle-mpi sweep plan.yaml");
        const unsigned victim = (unsigned)rng_below(&g, RANKS + 1);
        const size_t before = lines_of("p.sweep/journal.ndjson");
        for (int i = 0; i < 1000 && ranks_of(job, ranks) < RANKS; i++) sleep_ms(5);
        if (recovery || kills % 4) wait_for_lines(job, before + 2); /* else while it begins */
        sleep_ms(rng_below(&g, 200));
        const size_t n = ranks_of(job, ranks);
        if (victim >= n) kill(job, SIGKILL);
        else kill(ranks[victim], SIGKILL);
        kills++;
        if (recovery && victim && victim < n) { /* the job lives: rank 0 is next */
            sleep_ms(300);
            kill(ranks[0], SIGKILL);
            kills++;
        }
        finish_killed(job);
        const unsigned now = (unsigned)lines_of("p.sweep/journal.ndjson");
        cr_expect_geq(now, lines, "the journal lost lines");
        lines = now;
        if (lines >= CELLS) break;
    }
    fprintf(stderr, "sweep_mpi: %u kills over %u of %d cells\n", kills, lines, CELLS);
    for (int i = 0; i < 20; i++) { /* a rank 0 whose mpirun was killed may still hold the folder */
        if (finish(start(MPIRUN "-n 6 ./heddle-mpi sweep plan.yaml --jobs 2")) == 6) break;
        sleep_ms(500);
    }
    expect_each_once(CELLS);
}
