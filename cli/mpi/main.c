/* heddle-mpi: `heddle sweep` with the ranks of an MPI job as workers. The program `heddle` in the same folder runs the cells,
 * so that their names and results are those of a sweep without MPI. */
#define _GNU_SOURCE
#include "cli/mpi/ranks.h"
#include "cli/mpi/ship.h"

#include "cli/command.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: mpirun [...] heddle-mpi [--ship] [--lost-after SECONDS] sweep PLAN.yaml [options]\n"
    "       mpirun [...] heddle-mpi [--ship] [--lost-after SECONDS] sweep TARGET... [options]\n"
    "\n"
    "Runs a sweep with the ranks of an MPI job: rank 0 deals the cells and writes the folder, every other rank\n"
    "runs cells with the program 'heddle' that lies beside heddle-mpi. Options are those of 'heddle sweep';\n"
    "--jobs (default: 1) is for each rank. Without --ship all ranks must find plan and inputs at the same paths.\n"
    "\n"
    "  --ship                Send the plan and its inputs once to each host, which keeps them in $TMPDIR (/tmp).\n"
    "  --lost-after SECONDS  A rank of which nothing was heard for so long is lost (default: 60). Its cells run\n"
    "                        elsewhere, if 'mpirun --enable-recovery' keeps the job alive.\n"
    "\n"
    "docs/sweep.md says more.\n";

struct job {
    char program[4096]; /* Heddle */
    double lost_after;
    bool ships;
    int argc, rank, size;
    char **argv;
};

/* The plain program in the folder of this one. */
static bool find_program(char *path, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", path, size - sizeof "/heddle");
    if (n <= 0) return false;
    path[n] = '\0';
    memcpy(strrchr(path, '/'), "/heddle", sizeof "/heddle");
    return access(path, X_OK) == 0;
}

/* struct sweep_cluster.workers */
static struct sweep_workers *workers(void *self, const struct sweep_plan *p,
                                     const struct sweep_cell *cells, size_t count, unsigned jobs)
{
    const struct job *j = self;
    uint8_t digest[32];
    struct shipment *s = NULL;
    if (!ranks_digest(p, j->program, digest) || (j->ships && !(s = ship_read(p)))) return NULL;
    struct sweep_workers *w = ranks_deal(cells, count, digest, jobs, j->lost_after, j->ships);
    if (s) {
        ship_send(s);
        ship_free(s);
    }
    return w;
}

static int read_plan(void *self, struct sweep_plan **plan)
{
    const struct job *j = self;
    return sweep_read(j->argc, j->argv, plan);
}

static int finalize(int status, bool complete)
{
    (void)fflush(NULL);
    if (!complete) _exit(status); /* a rank that is lost does not come to MPI_Finalize */
    (void)MPI_Finalize();
    return status;
}

static int deal(struct job *j)
{
    const struct sweep_cluster cluster = {j->program, j->size > 1 ? workers : NULL, j};
    const int status = sweep_main(j->argc, j->argv, &cluster);
    ranks_end();
    return finalize(status, !ranks_lost());
}

static int work(struct job *j)
{
    const int lost = ranks_work(read_plan, j, j->program, j->lost_after);
    return finalize(EXIT_FINE, lost == 0);
}

static int run(struct job *j)
{
    process_signals_begin(); /* the threads of MPI inherit what is blocked */
    /* Ranks sleep while there is nothing to do. On a host with fewer cores than ranks Open MPI would also give the core
     * away in each look for messages. */
    (void)setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS) return EXIT_USAGE;
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &j->rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &j->size);
    if (j->ships) ship_begin();
    return j->rank ? work(j) : deal(j);
}

/* A wrong call of this program. */
static int refuse(const char *why)
{
    fprintf(stderr, "heddle-mpi: %s\nTry 'heddle-mpi --help'.\n", why);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    struct job j = {.lost_after = 60};
    int at = 1;
    for (; argc > at && strcmp(argv[at], "sweep") != 0 && strcmp(argv[at], "--help") != 0; at++) {
        char *end;
        if (strcmp(argv[at], "--ship") == 0) j.ships = true;
        else if (argc > at + 1 && strcmp(argv[at], "--lost-after") == 0) {
            j.lost_after = strtod(argv[++at], &end);
            if (*end || !(j.lost_after >= 1 && j.lost_after <= 1e6))
                return refuse("--lost-after is a number of seconds from 1 to 1000000");
        } else break;
    }
    if (argc > at && strcmp(argv[at], "--help") == 0) return fputs(help, stdout) < 0;
    if (argc <= at || strcmp(argv[at], "sweep") != 0) {
        fputs(help, stderr);
        return EXIT_USAGE;
    }
    if (!find_program(j.program, sizeof j.program))
        return refuse("the program 'heddle' is not beside it: install both in one folder");
    j.argc = argc - at;
    j.argv = argv + at;
    return run(&j);
}
