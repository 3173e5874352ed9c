/* What a run came to, as its process wrote it. */
#define _POSIX_C_SOURCE 200809L /* pread */
#include "cli/check.h"

#include "base/arena.h"
#include "base/buf.h"
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

enum { MOST_MESSAGES = 1 << 16 };

bool check_run_failed(const struct check_run *r)
{
    return check_run_lost(r) || (r->state == RUN_ENDED && r->status != EXIT_FINE);
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

static void add_finding(struct arena *a, struct check_run *r, size_t *cap,
                        const struct run_log_entry *e)
{
    if (e->what != EMU_RACE && e->what != EMU_MIXED) return;
    r->findings = arena_grow(a, r->findings, r->finding_count, cap, r->finding_count + 1,
                             sizeof *r->findings);
    r->findings[r->finding_count++] = (struct check_finding){.race = e->what == EMU_RACE,
                                                             .mixed = e->what == EMU_MIXED,
                                                             .count = e->count,
                                                             .line = e->line,
                                                             .line2 = e->line2,
                                                             .source_line = e->source_line,
                                                             .source_line2 = e->source_line2,
                                                             .source_file = e->source_file,
                                                             .source_file2 = e->source_file2,
                                                             .kernel = e->name,
                                                             .text = e->text};
}

static void add_launch(struct arena *a, struct check_run *r, size_t *cap,
                       const struct run_log_entry *e)
{
    r->launches = arena_grow(a, r->launches, r->launch_count, cap, r->launch_count + 1,
                             sizeof *r->launches);
    r->launches[r->launch_count++] = (struct check_launch){e->digest, e->name};
}

bool check_run_read(struct arena *a, int file, struct check_run *out)
{
    size_t size, launch_cap = 0, finding_cap = 0;
    const char *all = check_file_read(a, file, &size);
    struct run_log_reader text = {all, size};
    struct run_log_entry e;
    uint64_t printed = 0;
    bool ended = false;
    struct buf said = {0};
    *out = (struct check_run){.fault = {"", "", "", 0, 0, false}};
    while (run_log_next(&text, &e)) switch (e.kind) {
        case RUN_LOG_KERNEL_BEGIN: out->going = e.name; break;
        case RUN_LOG_KERNEL_END:
            out->gone = out->going;
            out->going = NULL;
            out->over++;
            break;
        case RUN_LOG_LAUNCH: add_launch(a, out, &launch_cap, &e); break;
        case RUN_LOG_FINDING: add_finding(a, out, &finding_cap, &e); break;
        case RUN_LOG_FAULT:
            out->fault = (struct check_fault){.kind = emu_fault_name(e.what),
                                              .kernel = e.name,
                                              .source_file = e.source_file,
                                              .line = e.line,
                                              .source_line = e.source_line,
                                              .limit = e.what == EMU_LIMIT ||
                                                       e.what == EMU_DEADLOCK};
            break;
        case RUN_LOG_MESSAGE:
            if (said.size < MOST_MESSAGES) buf_puts(&said, e.text);
            break;
        case RUN_LOG_OTHER_LAUNCHES: /* as if they were one with the last */
            if (e.digest && out->launch_count)
                out->launches[out->launch_count - 1].digest = e.digest;
            break;
        case RUN_LOG_MEMORY: out->memory += e.digest; break; /* of each process */
        case RUN_LOG_PRINTED: printed += e.digest; break;
        case RUN_LOG_COPIED: out->read_back += e.digest; break;
        case RUN_LOG_FINDING_COUNT: out->found += e.count; break;
        case RUN_LOG_SUPPRESSED_COUNT: out->suppressed += e.count; break;
        case RUN_LOG_STATUS:
            out->status = (int)e.count;
            ended = true;
            break;
        default: break;
        }
    out->messages = arena_copy(a, said.data ? said.data : "", said.size);
    buf_free(&said);
    out->last = run_log_mix_digest(run_log_mix_digest(out->memory, printed), out->read_back);
    out->id = out->last;
    for (size_t i = 0; i < out->launch_count; i++)
        out->id = run_log_mix_digest(out->id, out->launches[i].digest);
    return ended;
}

size_t check_runs_part(const struct check_run *a, const struct check_run *b)
{
    for (size_t i = 0; i < a->launch_count && i < b->launch_count; i++)
        if (a->launches[i].digest != b->launches[i].digest) return i;
    if (a->launch_count != b->launch_count)
        return a->launch_count < b->launch_count ? a->launch_count : b->launch_count;
    return a->last == b->last ? SIZE_MAX : a->launch_count;
}
