#define _GNU_SOURCE
#include "cuda/caller.h"

#include "base/buf.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FRAMES = 64, MOST_SHOWN = 16 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_runtime(const Dl_info *in)
{
    return strncmp(base_name(in->dli_fname), "libcudart.so", 12) == 0;
}

/* ---- names of places ----------------------------------------------------------------------------------- */

/* What addr2line prints for an address of a file; false: nothing that helps. */
static bool ask(const char *file, uintptr_t address, char *out, size_t size)
{
    static const char *const needless[] = {" at ??:", " at :?", " (discriminator "};
    char text[32];
    char *argv[] = {"addr2line", "-Cfpe", (char *)(uintptr_t)file, text, NULL};
    int ends[2], status;
    pid_t child;
    size_t n = 0;
    posix_spawn_file_actions_t actions;
    snprintf(text, sizeof text, "%#jx", (uintmax_t)address);
    if (pipe(ends) != 0) return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    const bool begun = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    for (ssize_t got = 1; begun && got > 0 && n + 1 < size; n += got > 0 ? (size_t)got : 0)
        got = read(ends[0], out + n, size - 1 - n);
    close(ends[0]);
    if (begun) (void)waitpid(child, &status, 0);
    out[n] = '\0';
    out[strcspn(out, "\n")] = '\0';
    for (size_t i = 0; i < sizeof needless / sizeof *needless; i++) {
        char *from = strstr(out, needless[i]);
        if (from) *from = '\0';
    }
    return *out && strncmp(out, "??", 2) != 0;
}

/* Of the instruction before the address to which a call returns. */
static void name_place(struct buf *b, const void *to)
{
    Dl_info in;
    struct link_map *map = NULL;
    char text[512];
    const uintptr_t at = (uintptr_t)to - 1;
    if (!dladdr1((const void *)at, &in, (void **)(void *)&map, RTLD_DL_LINKMAP) || !in.dli_fname)
        buf_printf(b, "  called from %#jx\n", (uintmax_t)at);
    else if (ask(in.dli_fname, at - (map ? map->l_addr : 0), text, sizeof text))
        buf_printf(b, "  called by %s\n", text);
    else if (in.dli_sname)
        buf_printf(b, "  called by %s in %s\n", in.dli_sname, base_name(in.dli_fname));
    else
        buf_printf(b, "  called from %s+%#jx\n", base_name(in.dli_fname),
                   (uintmax_t)(at - (uintptr_t)in.dli_fbase));
}

/* ---- the stack ------------------------------------------------------------------------------------------ */

static bool is_call_by(const char *line, const char *function)
{
    static const char by[] = "  called by ";
    return strncmp(line, by, strlen(by)) == 0 &&
           strncmp(line + strlen(by), function, strlen(function)) == 0;
}

/* What nvcc puts between <<<...>>> and the runtime: the stub that is named as the kernel remains. */
static bool is_of_compiler(const char *line)
{
    return is_call_by(line, "__cudaLaunchKernel_helper") || is_call_by(line, "__device_stub_");
}

/* The program's frames, behind those of CUDA's libraries, which go to `out`; how many. */
static int take(void **frames, struct caller *out)
{
    void *all[MOST_FRAMES];
    Dl_info in, own;
    const int n = backtrace(all, MOST_FRAMES);
    int first = 0;
    *out = (struct caller){.call = ""};
    if (!dladdr((const void *)(uintptr_t)caller_find, &own)) return 0;
    for (; first < n; first++) {
        const bool known = dladdr((const char *)all[first] - 1, &in) && in.dli_fname;
        if (!known || (in.dli_fbase != own.dli_fbase && !is_runtime(&in))) break;
        out->from_runtime |= is_runtime(&in);
        const char *name = in.dli_sname ? in.dli_sname + strspn(in.dli_sname, "_") : "";
        if (strncmp(name, "cu", 2) == 0) snprintf(out->call, sizeof out->call, "%s", name);
    }
    const int count = n - first < MOST_SHOWN ? n - first : MOST_SHOWN;
    memcpy((void *)frames, (void *)&all[first], (size_t)count * sizeof *frames);
    return count;
}

void caller_name(struct caller *out)
{
    void *frames[MOST_SHOWN];
    (void)take(frames, out);
}

static struct buf lines_of(void *const *frames, int count)
{
    struct buf b = {0};
    for (int i = 0; i < count; i++) {
        const size_t before = b.size;
        name_place(&b, frames[i]);
        const char *line = b.data + before;
        if (is_call_by(line, "main\n") || is_call_by(line, "main at ")) break;
        if (is_of_compiler(line)) b.data[b.size = before] = '\0';
    }
    return b;
}

void caller_find(struct caller *out)
{
    void *frames[MOST_SHOWN];
    const int count = take(frames, out);
    out->stack = lines_of(frames, count).data;
}

char *caller_lines(void *const *frames, int count)
{
    return lines_of(frames, count).data;
}

void caller_free(struct caller *c)
{
    struct buf b = {.data = c->stack};
    buf_free(&b);
}

/* ---- stacks for later ----------------------------------------------------------------------------------- */

struct note {
    void *frames[MOST_SHOWN]; /* NULL behind the last */
    unsigned next;            /* of its bucket, from 1 */
    struct buf lines;         /* once they were asked for */
};
enum { BUCKETS = 1024 };

static struct {
    struct note *list;
    unsigned count, capacity, first[BUCKETS];
} notes; /* the driver's lock guards them */

static unsigned bucket_of(void *const *frames)
{
    uint64_t h = 0;
    for (int i = 0; i < MOST_SHOWN; i++)
        h = (h ^ (uintptr_t)frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(h >> 40) % BUCKETS;
}

unsigned caller_note(void)
{
    struct note n = {.lines = {0}};
    struct caller c;
    if (!take(n.frames, &c)) return 0;
    unsigned *first = &notes.first[bucket_of(n.frames)];
    for (unsigned i = *first; i; i = notes.list[i - 1].next)
        if (memcmp((void *)notes.list[i - 1].frames, (void *)n.frames, sizeof n.frames) == 0)
            return i;
    if (notes.count == notes.capacity) {
        notes.capacity = notes.capacity ? 2 * notes.capacity : 16;
        notes.list = realloc(notes.list, notes.capacity * sizeof *notes.list);
        if (!notes.list) abort();
    }
    n.next = *first;
    notes.list[notes.count++] = n;
    return *first = notes.count;
}

const char *caller_noted(unsigned note)
{
    if (!note) return "";
    struct note *n = &notes.list[note - 1];
    int count = 0;
    while (count < MOST_SHOWN && n->frames[count]) count++;
    if (!n->lines.data) n->lines = lines_of(n->frames, count);
    return n->lines.data ? n->lines.data : "";
}

void caller_drop_notes(void)
{
    for (unsigned i = 0; i < notes.count; i++) buf_free(&notes.list[i].lines);
    free(notes.list);
    memset(&notes, 0, sizeof notes);
}
