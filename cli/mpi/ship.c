/* Sends input files to the hosts of an MPI job. */
#define _GNU_SOURCE
#include "cli/mpi/ship.h"

#include "cli/cli.h"

#include "base/sha256.h"
#include "model/gpu_file.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHIP_TAG = 28, BLOCK = 1 << 20, PATH = 4096 };

static MPI_Comm host = MPI_COMM_NULL; /* the workers of this host; the first one receives */
static int *receivers;                /* of rank 0: one rank of each host */
static int receiver_count;

struct input {
    char path[PATH];
    uint64_t size; /* bytes */
    uint32_t mode;
    uint8_t digest[SHA256_BYTES];
};

struct heading { /* what is sent first */
    uint8_t digest[SHA256_BYTES];
    uint64_t count;
};

struct shipment {
    struct input *list;
    size_t count;
};

void ship_begin(void)
{
    MPI_Comm workers = MPI_COMM_NULL;
    int rank = 0, size = 1, first = 1, receives = 0;
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
    (void)MPI_Comm_split(MPI_COMM_WORLD, rank ? 0 : MPI_UNDEFINED, rank, &workers);
    if (workers != MPI_COMM_NULL) {
        (void)MPI_Comm_split_type(workers, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
        (void)MPI_Comm_free(&workers);
        (void)MPI_Comm_rank(host, &first);
        receives = first == 0;
    }
    int *all = calloc((size_t)size, sizeof *all);
    if (!all) abort();
    (void)MPI_Gather(&receives, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 1; i < size; i++)
        if (all[i]) all[receiver_count++] = i;
    receivers = all;
}

/* ---- what is sent ----------------------------------------------------------------------------- */

/* A relative path that does not leave the folder. */
static bool stays_below(const char *path)
{
    if (*path == '/' || !*path) return false;
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2])) return false;
    }
    return true;
}

static bool add(struct shipment *s, const char *path)
{
    struct stat st;
    struct input *x = &s->list[s->count];
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->list[i].path, path) == 0) return true;
    if (!stays_below(path) || strlen(path) >= sizeof x->path) {
        usage_error("sweep",
                    "--ship: '%s' is not below the current folder: name it by a path there", path);
        return false;
    }
    if (stat(path, &st) != 0 || !sha256_file(path, x->digest)) {
        usage_error("sweep", "cannot read '%s': %s", path, strerror(errno));
        return false;
    }
    snprintf(x->path, sizeof x->path, "%s", path);
    x->size = (uint64_t)st.st_size;
    x->mode = st.st_mode & 0777;
    s->count++;
    return true;
}

struct shipment *ship_read(const struct sweep_plan *p)
{
    struct shipment *s = calloc(1, sizeof *s);
    const size_t most = 1 + p->target_count + p->gpu_count + p->input_count;
    bool ok = true;
    if (!s || !(s->list = calloc(most, sizeof *s->list))) abort();
    if (p->file) ok = add(s, p->file);
    for (size_t i = 0; ok && i < p->target_count; i++)
        if (*p->targets[i].digest) ok = add(s, p->targets[i].words[0]);
    for (size_t i = 0; ok && i < p->gpu_count; i++)
        if (gpu_is_file(p->gpus[i])) ok = add(s, p->gpus[i]);
    for (size_t i = 0; ok && i < p->input_count; i++) ok = add(s, p->inputs[i]);
    if (ok) return s;
    ship_free(s);
    return NULL;
}

void ship_free(struct shipment *s)
{
    free(s->list);
    free(s);
}

static void digest_of(const struct input *list, size_t count, uint8_t digest[SHA256_BYTES])
{
    struct sha256 s;
    sha256_begin(&s);
    for (size_t i = 0; i < count; i++) {
        const uint8_t executable = (list[i].mode & 0100) != 0;
        sha256_add(&s, list[i].path, strlen(list[i].path) + 1);
        sha256_add(&s, &executable, 1);
        sha256_add(&s, list[i].digest, SHA256_BYTES);
    }
    sha256_end(&s, digest);
}

static void send(const void *data, size_t size, int to)
{
    (void)MPI_Send(data, (int)size, MPI_BYTE, to, SHIP_TAG, MPI_COMM_WORLD);
}

static void receive(void *data, size_t size, int from)
{
    (void)MPI_Recv(data, (int)size, MPI_BYTE, from, SHIP_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A file that was cut short since is sent with zeros: then its digest is another one, and the host keeps nothing. */
static void send_file(const struct input *x, char *block, int to)
{
    const int file = open(x->path, O_RDONLY | O_CLOEXEC);
    for (uint64_t done = 0; done < x->size; done += BLOCK) {
        const size_t n = x->size - done < BLOCK ? (size_t)(x->size - done) : BLOCK;
        memset(block, 0, n);
        for (size_t k = 0; k < n;) {
            const ssize_t got = file < 0 ? 0 : read(file, block + k, n - k);
            if (got <= 0) break;
            k += (size_t)got;
        }
        send(block, n, to);
    }
    if (file >= 0) (void)close(file);
}

void ship_send(const struct shipment *s)
{
    struct heading h = {.count = s->count};
    uint64_t bytes = 0;
    int sent = 0;
    char *block = malloc(BLOCK);
    if (!block) abort();
    digest_of(s->list, s->count, h.digest);
    for (size_t i = 0; i < s->count; i++) bytes += s->list[i].size;
    for (int i = 0; i < receiver_count; i++) {
        uint8_t wants = 0;
        send(&h, sizeof h, receivers[i]);
        send(s->list, s->count * sizeof *s->list, receivers[i]);
        receive(&wants, 1, receivers[i]);
        for (size_t k = 0; wants && k < s->count; k++) send_file(&s->list[k], block, receivers[i]);
        sent += wants;
    }
    free(block);
    fprintf(stderr, "heddle sweep: sent %zu inputs (%llu bytes) to %d of %d hosts\n", s->count,
            (unsigned long long)bytes, sent, receiver_count);
}

/* ---- a host's copy ---------------------------------------------------------------------------- */

/* The folder of all copies, which nobody else can write. false: errno says why. */
static bool enter_copies(void)
{
    char path[PATH];
    struct stat st;
    const char *temporary = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/heddle-inputs-%u", temporary && *temporary ? temporary : "/tmp",
             (unsigned)getuid());
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
    if (lstat(path, &st) != 0) return false;
    if (S_ISDIR(st.st_mode) && st.st_uid == getuid() && !(st.st_mode & 022))
        return chdir(path) == 0;
    errno = EPERM;
    return false;
}

/* Whether all inputs are in the current folder as they were sent. */
static bool are_here(const struct input *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t digest[SHA256_BYTES];
        struct stat st;
        if (!sha256_file(list[i].path, digest) ||
            memcmp(digest, list[i].digest, sizeof digest) != 0 || stat(list[i].path, &st) != 0 ||
            (st.st_mode & 0100) != (list[i].mode & 0100))
            return false;
    }
    return true;
}

/* Makes the folders above a file. */
static void make_folders(const char *path)
{
    char folder[PATH];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *at = strchr(folder, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(folder, 0700);
        *at = '/';
    }
}

/* false: errno says why. Takes all blocks in any case, as rank 0 sends them. */
static bool receive_file(const struct input *x, char *block)
{
    make_folders(x->path);
    const int file = open(x->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                          (x->mode & 0100) | 0600);
    int why = file < 0 ? errno : 0;
    for (uint64_t done = 0; done < x->size; done += BLOCK) {
        const size_t n = x->size - done < BLOCK ? (size_t)(x->size - done) : BLOCK;
        receive(block, n, 0);
        for (size_t k = 0; !why && k < n;) {
            const ssize_t put = write(file, block + k, n - k);
            if (put < 0) why = errno;
            else k += (size_t)put;
        }
    }
    if (file >= 0 && close(file) != 0 && !why) why = errno;
    errno = why;
    return !why;
}

/* Receives all into a new folder, which then takes the place of `name`. NULL, or what went wrong. */
static const char *receive_all(const struct input *list, size_t count, const char *name)
{
    char fresh[] = "new-XXXXXX", changed[] = "old-XXXXXX";
    char *block = malloc(BLOCK);
    int why = 0;
    if (!block) abort();
    if (!mkdtemp(fresh) || chdir(fresh) != 0) why = errno;
    for (size_t i = 0; i < count; i++)
        if (!receive_file(&list[i], block) && !why) why = errno;
    free(block);
    if (why) return strerror(why);
    if (!are_here(list, count)) return "an input has changed while it was sent";
    if (chdir("..") != 0) return strerror(errno);
    /* One that was changed is put aside, since another sweep may work in it. */
    if (access(name, F_OK) == 0 && (!mkdtemp(changed) || rename(name, changed) != 0))
        return strerror(errno);
    if (rename(fresh, name) == 0) return NULL;
    const int why_not = errno; /* another sweep may have put the same there since */
    return chdir(name) == 0 && are_here(list, count) ? NULL : strerror(why_not);
}

/* The worker that receives for its host: the name of the folder, and whether it has the inputs. */
static bool receive_inputs(char name[2 * SHA256_BYTES + 1])
{
    struct heading h;
    receive(&h, sizeof h, 0);
    struct input *list = calloc(h.count + 1, sizeof *list);
    if (!list) abort();
    receive(list, h.count * sizeof *list, 0);
    sha256_hex(h.digest, 2 * SHA256_BYTES, name);
    const char *why = enter_copies() ? NULL : strerror(errno);
    const bool known = !why && chdir(name) == 0 && are_here(list, h.count);
    const uint8_t wants = !why && !known;
    send(&wants, 1, 0);
    if (wants) {
        if (!enter_copies()) why = strerror(errno);
        const char *wrong = receive_all(list, h.count, name);
        if (!why) why = wrong;
    }
    free(list);
    if (why)
        fprintf(stderr, "heddle sweep: this host cannot keep the inputs in $TMPDIR (/tmp): %s\n",
                why);
    return !why;
}

bool ship_receive(void)
{
    int rank = 0, ok = 1;
    char name[2 * SHA256_BYTES + 1] = "";
    (void)MPI_Comm_rank(host, &rank);
    if (rank == 0) ok = receive_inputs(name);
    (void)MPI_Bcast(&ok, 1, MPI_INT, 0, host);
    (void)MPI_Bcast(name, sizeof name, MPI_BYTE, 0, host);
    return ok && enter_copies() && chdir(name) == 0;
}
