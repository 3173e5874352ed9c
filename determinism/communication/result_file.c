/* The result in a file (communication.h): a header with sizes, followed by the structures as they are in memory. */
#include "determinism/communication/communication.h"

#include "base/arena.h"

#include <string.h>

struct head {
    char magic[8];     /* "HDCOMM1" */
    uint64_t sizes[4]; /* of the structures */
    uint64_t names;    /* bytes of the kernels' names, each with a NUL behind */
    struct communication_result result;
};

static struct head head_of(const struct communication_result *r)
{
    struct head h = {.sizes = {sizeof *r, sizeof *r->launches, sizeof *r->pairs, sizeof *r->edges}};
    memcpy(h.magic, "HDCOMM1", sizeof h.magic);
    h.result = *r;
    return h;
}

bool communication_write(struct communication *c, FILE *f)
{
    const struct communication_result *const r = communication_result(c);
    struct head h = head_of(r);
    for (size_t i = 0; i < r->kernel_count; i++) h.names += strlen(r->kernels[i]) + 1;
    bool ok = fwrite(&h, sizeof h, 1, f) == 1;
    for (size_t i = 0; i < r->kernel_count; i++)
        ok &= fwrite(r->kernels[i], strlen(r->kernels[i]) + 1, 1, f) == 1;
    ok &= fwrite(r->launches, sizeof *r->launches, r->launch_count, f) == r->launch_count;
    ok &= fwrite(r->pairs, sizeof *r->pairs, r->pair_count, f) == r->pair_count;
    ok &= fwrite(r->edges, sizeof *r->edges, r->edge_count, f) == r->edge_count;
    return ok && fflush(f) == 0;
}

struct reading {
    struct arena *arena;
    const char *at;
    size_t left;
    bool ok;
};

/* A copy of the next `count` structures. */
static void *take(struct reading *r, size_t count, size_t size)
{
    if (!r->ok || (size && count > r->left / size)) {
        r->ok = false;
        return NULL;
    }
    void *copy = arena_alloc(r->arena, count * size + 1);
    if (count) memcpy(copy, r->at, count * size);
    r->at += count * size;
    r->left -= count * size;
    return copy;
}

const struct communication_result *communication_read(struct arena *a, const void *bytes,
                                                      size_t size)
{
    struct reading r = {a, bytes, size, true};
    const struct head *h = take(&r, 1, sizeof *h);
    if (!h) return NULL;
    struct head want = head_of(&h->result);
    if (memcmp(h->magic, want.magic, sizeof want.magic) != 0 ||
        memcmp(h->sizes, want.sizes, sizeof want.sizes) != 0)
        return NULL;
    struct communication_result *out = arena_alloc(a, sizeof *out);
    *out = h->result;
    const char *names = take(&r, (size_t)h->names, 1);
    const char **list = arena_array(a, const char *, out->kernel_count + 1);
    size_t left = (size_t)h->names;
    for (size_t i = 0; r.ok && i < out->kernel_count; i++) {
        const char *end = memchr(names, '\0', left);
        if (!end) return NULL;
        list[i] = names;
        left -= (size_t)(end + 1 - names);
        names = end + 1;
    }
    out->kernels = list;
    out->launches = take(&r, out->launch_count, sizeof *out->launches);
    out->pairs = take(&r, out->pair_count, sizeof *out->pairs);
    out->edges = take(&r, out->edge_count, sizeof *out->edges);
    return r.ok ? out : NULL;
}
