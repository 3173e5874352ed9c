#include "cli/counts.h"

#include "cli/fidelity.h"
#include "cli/json.h"
#include "session/event_stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_SHOWN = 20, TEXT_SHOWN = 60 };

bool counts_begin(struct counts *c, const char *path, bool profile, bool fidelity)
{
    *c = (struct counts){.path = path, .estimates = c->estimates, .traces = c->traces};
    if (c->estimates) c->times = estimate_cache_new();
    if (c->traces && !(c->writer_of_traces.file = fopen(c->traces, "ab"))) return false;
    if (profile) c->profile = emu_profile_new();
    if (fidelity) c->fidelity = emu_fidelity_new();
    if (!path) return true;
    if (!replacement_open(&c->file, path)) return replacement_close(&c->file, false);
    emu_counts_begin(&c->writer, c->file.out);
    return true;
}

static void write_estimate(void *counts, struct launch_estimate *t, bool ended)
{
    const struct counts *c = counts;
    if (!ended) launch_estimate_cut(t);
    event_write(c->estimates, &(struct event){.kind = EVENT_ESTIMATE, .estimate = *t});
}

static void estimate(struct counts *c, const struct emu_counts *counts, bool ended)
{
    struct launch_estimate *t = NULL;
    if (c->queue && estimate_queue_add(c->queue, counts, ended)) return;
    const size_t n = estimate_cache_get_all(c->times, counts, &t);
    for (size_t i = 0; i < n; i++) write_estimate(c, &t[i], ended);
    free(t);
}

void counts_overlap(struct counts *c)
{
    if (c && c->estimates) c->queue = estimate_queue_new(c->times, write_estimate, c);
}

void counts_settle(struct counts *c)
{
    if (!c) return;
    estimate_queue_free(c->queue);
    c->queue = NULL;
}

void counts_launch(struct counts *c, const struct emu_counts *counts, bool ended)
{
    if (!c || !counts) return;
    if (c->path) emu_counts_add(&c->writer, counts);
    if (c->profile) emu_profile_add(c->profile, counts);
    if (c->fidelity) emu_fidelity_add(c->fidelity, counts);
    if (c->estimates) estimate(c, counts, ended);
    for (; counts && c->writer_of_traces.file; counts = counts->next)
        (void)trace_file_add(&c->writer_of_traces, counts);
}

bool counts_end(struct counts *c, bool ok)
{
    if (!c->path || !c->file.out) return true;
    bool written = emu_counts_end(&c->writer);
    return replacement_close(&c->file, written && ok) || !ok;
}

void counts_free(struct counts *c)
{
    counts_settle(c);
    emu_profile_free(c->profile);
    emu_fidelity_free(c->fidelity);
    estimate_cache_free(c->times);
    if (c->writer_of_traces.file) (void)fclose(c->writer_of_traces.file);
}

bool counts_profiling(const struct counts *c)
{
    return c && c->profile;
}

/* ---- the profile ---------------------------------------------------------------------------------- */

/* A line of a file as it stands there, without blanks around it; "" if it cannot be read. */
static void text_of(const struct emu_profile_line *l, char *text, size_t size)
{
    FILE *f = fopen(l->file, "r");
    char line[512] = "";
    uint32_t at = 0;
    while (f && at < l->line && fgets(line, sizeof line, f)) at += strchr(line, '\n') != NULL;
    if (f) (void)fclose(f);
    const char *p = at == l->line ? line + strspn(line, " \t") : "";
    size_t n = strcspn(p, "\r\n");
    if (n >= size) n = size - 1;
    memcpy(text, p, n);
    text[n] = '\0';
}

static void print_ratio(int width, int digits, uint64_t a, uint64_t b, double scale)
{
    if (b) printf(" %*.*f", width, digits, (double)a / (double)b * scale);
    else printf(" %*s", width, "-");
}

static void print_profile(const struct counts *c)
{
    size_t n;
    uint64_t all = 0;
    const struct emu_profile_line *lines = emu_profile_lines(c->profile, &n);
    for (size_t i = 0; i < n; i++) all += lines[i].warp;
    printf("%7s %14s %6s %8s %8s %6s %6s %7s  %s\n", "share %", "warp instr", "lanes", "diverge",
           "sectors", "used %", "L1 %", "passes", "line");
    for (size_t i = 0; i < n && i < LINES_SHOWN; i++) {
        const struct emu_profile_line *l = &lines[i];
        char text[TEXT_SHOWN];
        text_of(l, text, sizeof text);
        printf("%7.1f %14" PRIu64, all ? 100.0 * (double)l->warp / (double)all : 0, l->warp);
        print_ratio(6, 1, l->thread, l->warp, 1);
        printf(" %8" PRIu64, l->divergent);
        print_ratio(8, 1, l->sectors, l->accesses, 1);
        print_ratio(6, 0, l->bytes, l->sectors, 100.0 / 32);
        print_ratio(6, 0, l->cache.l1_hits, l->cache.l1, 100);
        print_ratio(7, 1, l->passes, l->shared, 1);
        printf("  %s:%u%s%s\n", l->file, l->line, *text ? "  " : "", text);
    }
    if (n > LINES_SHOWN) printf("%zu lines more\n", n - LINES_SHOWN);
}

void counts_print(const struct counts *c)
{
    if (counts_profiling(c)) print_profile(c);
    if (c) fidelity_print(c->fidelity);
}

static void set(json_t *o, const char *key, uint64_t value)
{
    json_object_set_new(o, key, json_integer((json_int_t)value));
}

json_t *counts_profile_json(const struct counts *c)
{
    size_t n;
    const struct emu_profile_line *lines = emu_profile_lines(c->profile, &n);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct emu_profile_line *l = &lines[i];
        json_t *o = json_object();
        json_object_set_new(o, "file", json_text(l->file));
        set(o, "line", l->line);
        set(o, "warp_instructions", l->warp);
        set(o, "thread_instructions", l->thread);
        set(o, "divergent", l->divergent);
        set(o, "accesses", l->accesses);
        set(o, "bytes", l->bytes);
        set(o, "sectors", l->sectors);
        set(o, "shared_accesses", l->shared);
        set(o, "passes", l->passes);
        set(o, "collisions", l->collisions);
        set(o, "l1_sectors", l->cache.l1);
        set(o, "l1_hits", l->cache.l1_hits);
        set(o, "l2_sectors", l->cache.l2_loads);
        set(o, "l2_hits", l->cache.l2_load_hits);
        json_array_append_new(list, o);
    }
    return list;
}
