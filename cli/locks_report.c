#include "cli/locks_report.h"

#include "base/buf.h"
#include "cli/json.h"
#include "session/event_stream.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_LINES = 20 }; /* of the table */

void locks_report_add(struct locks *k, const struct event *e)
{
    if (!k) return;
    if (e->kind == EVENT_LOCK) locks_add(k, &e->lock);
    if (e->kind == EVENT_LOCK_INSTRUCTIONS) locks_add_instructions(k, e->count);
}

void locks_report_read(struct locks *k, const struct event_stream *s)
{
    struct buf bytes = {0};
    struct event_reader reader = event_reader_open(s, &bytes);
    for (struct event e; k && event_next(&reader, &e);) locks_report_add(k, &e);
    buf_free(&bytes);
}

static const char *kind_of(const struct lock_row *r)
{
    return !r->releases ? "update" : r->serves ? "ticket" : "lock";
}

struct sums {
    uint64_t attempts, failures, spin;
};

static struct sums sums_of(const struct lock_row *rows, size_t n)
{
    struct sums s = {0};
    for (size_t i = 0; i < n; i++) {
        s.attempts += rows[i].attempts;
        s.failures += rows[i].failures;
        s.spin += rows[i].spin_instructions;
    }
    return s;
}

static double percent(uint64_t part, uint64_t all)
{
    return all ? 100 * (double)part / (double)all : 0;
}

static void print_row(const struct lock_row *r, uint64_t all)
{
    char word[200], place[200];
    if (r->shared) snprintf(word, sizeof word, "shared+%" PRIu64, r->offset);
    else snprintf(word, sizeof word, "%.150s+%" PRIu64, r->allocation, r->offset);
    if (r->source_file) snprintf(place, sizeof place, "%s:%u", r->source_file, r->source_line);
    else snprintf(place, sizeof place, "%s, PTX line %u", r->function, r->line);
    printf("%10" PRIu64 "  %10" PRIu64 "  %6.2f  %7" PRIu64 "  %-6s  %-20s  %-16s  %s\n",
           r->failures, r->attempts - r->failures, percent(r->spin_instructions, all),
           r->most_waiting, kind_of(r), word, r->kernel, place);
}

void locks_report_print(struct locks *k)
{
    size_t n;
    if (!k) return;
    const struct lock_row *rows = locks_rows(k, &n);
    const struct sums s = sums_of(rows, n);
    const uint64_t all = locks_thread_instructions(k);
    printf("%zu contended word%s: %" PRIu64 " of %" PRIu64 " attempts fail, %" PRIu64 " of %" PRIu64
           " thread instructions spin (%.2f %%)\n",
           n, n == 1 ? "" : "s", s.failures, s.attempts, s.spin, all, percent(s.spin, all));
    if (!n) return;
    printf("%10s  %10s  %6s  %7s  %-6s  %-20s  %-16s  %s\n", "failed", "acquired", "spin %",
           "waiting", "kind", "word", "kernel", "first attempt");
    for (size_t i = 0; i < n && i < MOST_LINES; i++) print_row(&rows[i], all);
    if (n > MOST_LINES) printf("and %zu more\n", n - MOST_LINES);
}

json_t *locks_report_json(struct locks *k)
{
    size_t n;
    const struct lock_row *rows = locks_rows(k, &n);
    json_t *o = json_object(), *words = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct lock_row *r = &rows[i];
        json_t *w = json_object();
        json_object_set_new(w, "kind", json_string(kind_of(r)));
        json_object_set_new(w, "kernel", json_text(r->kernel));
        json_object_set_new(w, "space", json_string(r->shared ? "shared" : "global"));
        json_object_set_new(w, "allocation", r->shared ? json_null() : json_text(r->allocation));
        json_object_set_new(w, "address", r->shared ? json_null() : json_hex(r->address));
        json_object_set_new(w, "offset", json_count(r->offset));
        json_object_set_new(w, "failed", json_count(r->failures));
        json_object_set_new(w, "acquired", json_count(r->attempts - r->failures));
        json_object_set_new(w, "released", json_count(r->releases));
        json_object_set_new(w, "spin_instructions", json_count(r->spin_instructions));
        json_object_set_new(w, "most_waiting", json_count(r->most_waiting));
        json_object_set_new(w, "function", json_text(r->function));
        json_object_set_new(w, "line", json_count(r->line));
        json_object_set_new(w, "source_file",
                            r->source_file ? json_text(r->source_file) : json_null());
        json_object_set_new(w, "source_line", json_count(r->source_line));
        json_array_append_new(words, w);
    }
    json_object_set_new(o, "thread_instructions", json_count(locks_thread_instructions(k)));
    json_object_set_new(o, "spin_instructions", json_count(sums_of(rows, n).spin));
    json_object_set_new(o, "words", words);
    return o;
}
