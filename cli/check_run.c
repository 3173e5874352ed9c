/* What a run came to, as its process wrote it. */
#define _POSIX_C_SOURCE 200809L /* pread */
#include "cli/check.h"
#include "cli/check_record.h"

#include "base/arena.h"
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

bool check_run_failed(const struct check_run *r)
{
    return r->state == RUN_DIED || (r->state == RUN_ENDED && r->status != EXIT_FINE);
}

struct reader {
    struct arena *arena;
    const char *at, *end;
    bool short_of;
};

static uint64_t number(struct reader *r)
{
    uint64_t n = 0;
    if ((size_t)(r->end - r->at) < sizeof n) r->short_of = true;
    else {
        memcpy(&n, r->at, sizeof n);
        r->at += sizeof n;
    }
    return n;
}

static const char *text(struct reader *r)
{
    const char *from = r->at, *nul = memchr(from, '\0', (size_t)(r->end - from));
    if (!nul) {
        r->short_of = true;
        return "";
    }
    r->at = nul + 1;
    return from;
}

static size_t count(struct reader *r)
{
    uint64_t n = number(r);
    if (n > (uint64_t)(r->end - r->at)) r->short_of = true; /* an element has a byte at least */
    return r->short_of ? 0 : (size_t)n;
}

static struct check_finding finding(struct reader *r)
{
    struct check_finding f = {.race = number(r) != 0, .mixed = number(r) != 0};
    f.count = number(r);
    f.line = (uint32_t)number(r);
    f.line2 = (uint32_t)number(r);
    f.source_line = (uint32_t)number(r);
    f.source_line2 = (uint32_t)number(r);
    f.source_file = text(r);
    f.source_file2 = text(r);
    f.text = text(r);
    return f;
}

char *check_file_read(struct arena *a, int file, size_t *size)
{
    off_t n = lseek(file, 0, SEEK_END);
    char *all = arena_alloc(a, n > 0 ? (size_t)n + 1 : 1);
    *size = 0;
    while (n > 0 && *size < (size_t)n) {
        ssize_t got = pread(file, all + *size, (size_t)n - *size, (off_t)*size);
        if (got <= 0) break;
        *size += (size_t)got;
    }
    return all;
}

bool check_run_read(struct arena *a, int file, struct check_run *out)
{
    size_t size;
    char *all = check_file_read(a, file, &size);
    struct reader r = {.arena = a, .at = all, .end = all + size};
    if (number(&r) != RECORD_BEGIN) return false;
    out->status = (int)number(&r);
    out->last = number(&r);
    out->memory = number(&r);
    out->read_back = number(&r);
    out->messages = text(&r);
    out->fault.kind = text(&r);
    out->fault.kernel = text(&r);
    out->fault.source_file = text(&r);
    out->fault.line = (uint32_t)number(&r);
    out->fault.source_line = (uint32_t)number(&r);
    const size_t kernels = count(&r);
    const char **names = arena_array(a, const char *, kernels + 1);
    for (size_t i = 0; i < kernels; i++) names[i] = text(&r);
    out->launch_count = count(&r);
    out->launches = arena_array(a, struct check_launch, out->launch_count);
    out->id = out->last;
    for (size_t i = 0; i < out->launch_count; i++) {
        const uint64_t kernel = number(&r);
        out->launches[i].digest = number(&r);
        out->launches[i].kernel = kernel < kernels ? names[kernel] : "";
        out->id = record_mix(out->id, out->launches[i].digest);
    }
    out->finding_count = count(&r);
    out->findings = arena_array(a, struct check_finding, out->finding_count);
    for (size_t i = 0; i < out->finding_count; i++) out->findings[i] = finding(&r);
    return number(&r) == RECORD_END && !r.short_of;
}

size_t check_runs_part(const struct check_run *a, const struct check_run *b)
{
    for (size_t i = 0; i < a->launch_count && i < b->launch_count; i++)
        if (a->launches[i].digest != b->launches[i].digest) return i;
    if (a->launch_count != b->launch_count)
        return a->launch_count < b->launch_count ? a->launch_count : b->launch_count;
    return a->last == b->last ? SIZE_MAX : a->launch_count;
}
