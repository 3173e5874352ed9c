/* Messages between the ranks of a sweep. */
#include "cli/mpi/ranks.h"

#include "cli/cli.h"

#include "base/sha256.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void add(struct sha256 *s, const char *text)
{
    sha256_add(s, text ? text : "", strlen(text ? text : "") + 1);
}

bool ranks_digest(const struct sweep_plan *p, const char *program, uint8_t digest[32])
{
    struct sha256 s;
    if (!sha256_file(program, digest)) {
        usage_error("sweep", "cannot read the program '%s': %s", program, strerror(errno));
        return false;
    }
    sha256_begin(&s);
    sha256_add(&s, digest, SHA256_BYTES);
    for (size_t i = 0; i < p->target_count; i++) {
        add(&s, p->targets[i].name);
        add(&s, p->targets[i].digest);
    }
    for (size_t i = 0; i < p->order_count; i++) add(&s, p->orders[i]);
    for (size_t i = 0; i < p->gpu_count; i++) {
        add(&s, p->gpus[i]);
        add(&s, p->gpu_digests[i]);
    }
    add(&s, p->memory);
    add(&s, p->instructions);
    sha256_add(&s, &p->measure, sizeof p->measure);
    sha256_add(&s, &p->timeout, sizeof p->timeout);
    sha256_add(&s, &p->repeat_failed, sizeof p->repeat_failed);
    sha256_end(&s, digest);
    return true;
}

/* MPI_Send() to a rank that has died may never return. So messages are copied, and nobody waits for them. */
struct sent {
    struct sent *next;
    MPI_Request request;
    struct rank_message message;
};
static struct sent *under_way;
static size_t since; /* so many were sent since the last look */
enum { LOOK_EVERY = 32 };

/* Frees what has arrived; how many have not. */
static size_t forget_arrived(void)
{
    size_t n = 0;
    for (struct sent **at = &under_way; *at;) {
        struct sent *s = *at;
        int arrived = 0;
        if (MPI_Test(&s->request, &arrived, MPI_STATUS_IGNORE) == MPI_SUCCESS && !arrived) {
            n++;
            at = &s->next;
            continue;
        }
        *at = s->next;
        free(s);
    }
    return n;
}

void rank_send(int to, const struct rank_message *m)
{
    struct sent *s = malloc(sizeof *s);
    if (!s) abort();
    if (++since == LOOK_EVERY) {
        (void)forget_arrived();
        since = 0;
    }
    s->message = *m;
    s->next = under_way;
    if (MPI_Isend(&s->message, sizeof *m, MPI_BYTE, to, RANK_TAG, MPI_COMM_WORLD, &s->request) ==
        MPI_SUCCESS)
        under_way = s;
    else free(s); /* as a message that a lost rank does not read */
}

void ranks_flush(double seconds)
{
    const double end = process_now() + seconds;
    while (forget_arrived() && process_now() < end) process_sleep(1e-3);
}

int rank_receive(struct rank_message *m)
{
    int there = 0;
    MPI_Status s;
    if (MPI_Iprobe(MPI_ANY_SOURCE, RANK_TAG, MPI_COMM_WORLD, &there, &s) != MPI_SUCCESS || !there)
        return -1;
    const int from = s.MPI_SOURCE;
    return MPI_Recv(m, sizeof *m, MPI_BYTE, from, RANK_TAG, MPI_COMM_WORLD, &s) == MPI_SUCCESS
               ? from
               : -1;
}

void silence_grow(struct silence *s, double now)
{
    const double gone = s->before > 0 ? now - s->before : 0;
    s->seconds += gone > 1 ? 1 : gone;
    s->before = now;
}
