/* The journal of a sweep: a line for each cell that has ended, with a checksum at its end. Incomplete and altered lines are
 * ignored. */
#define _GNU_SOURCE
#include "cli/sweep.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { MOST_LINE = 400 };

void sweep_record_print(const struct sweep_record *r, char *line, size_t size)
{
    int n = snprintf(
        line, size,
        "{\"id\":\"%s\",\"key\":\"%s\",\"ok\":%d,\"exit\":%d,\"digest\":\"%s\",\"n\":[%" PRIu64
        ",%" PRIu64 ",%" PRIu64 "],\"cycles\":%.10g,\"s\":%.3f",
        r->id, r->key, !r->failed, r->exit, r->digest, r->launches, r->warp_instructions, r->races,
        r->cycles, r->seconds);
    if (*r->host) n += snprintf(line + n, size - (size_t)n, ",\"h\":\"%s\"", r->host);
    n += snprintf(line + n, size - (size_t)n, ",\"crc\":\"");
    const uLong sum = crc32(0, (const Bytef *)line, (uInt)n);
    snprintf(line + n, size - (size_t)n, "%08lx\"}", sum);
}

/* ---- a line, read from left to right: false, and no further, where another text stands --------- */

static bool skip(const char **at, const char *text)
{
    const size_t n = strlen(text);
    if (strncmp(*at, text, n) != 0) return false;
    *at += n;
    return true;
}

/* A string up to its quotation mark, of at most `most` characters. */
static bool read_text(const char **at, char *to, size_t most)
{
    const char *end = strchr(*at, '"');
    if (!end || (size_t)(end - *at) > most) return false;
    memcpy(to, *at, (size_t)(end - *at));
    to[end - *at] = '\0';
    *at = end;
    return true;
}

static bool read_integer(const char **at, uint64_t *to)
{
    char *end = NULL;
    *to = strtoull(*at, &end, 10);
    const bool ok = end > *at;
    *at = end;
    return ok;
}

static bool read_number(const char **at, double *to)
{
    char *end = NULL;
    *to = strtod(*at, &end);
    const bool ok = end > *at;
    *at = end;
    return ok;
}

static bool read_outcome(const char **at, struct sweep_record *r)
{
    uint64_t ok = 0, status = 0;
    const bool whole = skip(at, ",\"ok\":") && read_integer(at, &ok) && skip(at, ",\"exit\":") &&
                       read_integer(at, &status);
    r->failed = !ok;
    r->exit = (int)(int64_t)status; /* strtoull takes a sign, too */
    return whole;
}

static bool read_numbers(const char **at, struct sweep_record *r)
{
    return skip(at, ",\"n\":[") && read_integer(at, &r->launches) && skip(at, ",") &&
           read_integer(at, &r->warp_instructions) && skip(at, ",") &&
           read_integer(at, &r->races) && skip(at, "],\"cycles\":") &&
           read_number(at, &r->cycles) && skip(at, ",\"s\":") && read_number(at, &r->seconds);
}

/* The line's end is its checksum in eight digits, a quotation mark and a brace. The sum is of all before it. */
static bool is_whole(const char *text, size_t length)
{
    enum { SUM = 8, END = SUM + 2 };
    char sum[END + 1];
    if (length < END) return false;
    snprintf(sum, sizeof sum, "%08lx\"}", crc32(0, (const Bytef *)text, (uInt)(length - END)));
    return memcmp(text + length - END, sum, END) == 0;
}

bool sweep_record_read(const char *line, size_t length, struct sweep_record *r)
{
    char text[MOST_LINE];
    const char *at = text;
    *r = (struct sweep_record){0};
    if (length >= sizeof text || !is_whole(line, length)) return false;
    memcpy(text, line, length);
    text[length] = '\0';
    if (!skip(&at, "{\"id\":\"") || !read_text(&at, r->id, SWEEP_ID) ||
        !skip(&at, "\",\"key\":\"") || !read_text(&at, r->key, SWEEP_KEY) || !skip(&at, "\"") ||
        !read_outcome(&at, r) || !skip(&at, ",\"digest\":\"") ||
        !read_text(&at, r->digest, sizeof r->digest - 1) || !skip(&at, "\"") ||
        !read_numbers(&at, r))
        return false;
    if (skip(&at, ",\"h\":\"") &&
        (!read_text(&at, r->host, sizeof r->host - 1) || !skip(&at, "\"")))
        return false;
    return skip(&at, ",\"crc\":\"");
}

/* ---- by key ----------------------------------------------------------------------------------- */

static size_t place_of(const struct sweep_journal *j, const char *key)
{
    size_t i = (size_t)(strtoull(key, NULL, 16) & (j->table_cap - 1));
    while (j->table[i] && strcmp(j->records[j->table[i] - 1].key, key) != 0)
        i = (i + 1) & (j->table_cap - 1);
    return i;
}

/* Makes the table so large that half of it stays empty with so many records. */
static void grow_table(struct sweep_journal *j, size_t records)
{
    if (2 * records <= j->table_cap) return;
    if (!j->table_cap) j->table_cap = 1024;
    while (2 * records > j->table_cap) j->table_cap *= 2;
    free(j->table);
    j->table = calloc(j->table_cap, sizeof *j->table);
    if (!j->table) abort();
    for (size_t i = 0; i < j->count; i++)
        j->table[place_of(j, j->records[i].key)] = (uint32_t)i + 1;
}

static void keep(struct sweep_journal *j, const struct sweep_record *r)
{
    grow_table(j, j->count + 1);
    const size_t at = place_of(j, r->key);
    if (j->table[at]) {
        j->records[j->table[at] - 1] = *r;
        return;
    }
    if (j->count == j->cap) {
        j->cap = j->cap ? 2 * j->cap : 256;
        j->records = realloc(j->records, j->cap * sizeof *j->records);
        if (!j->records) abort();
    }
    j->records[j->count++] = *r;
    j->table[at] = (uint32_t)j->count;
}

struct sweep_record *sweep_journal_find(const struct sweep_journal *j, const char *key)
{
    if (!j->count) return NULL;
    const uint32_t i = j->table[place_of(j, key)];
    return i ? &j->records[i - 1] : NULL;
}

/* ---- the file --------------------------------------------------------------------------------- */

/* The bytes of whole lines that were read. */
static void read_all(struct sweep_journal *j, FILE *f)
{
    char *line = NULL;
    size_t cap = 0;
    struct sweep_record r;
    for (ssize_t n; (n = getline(&line, &cap, f)) > 0;) {
        const bool whole = line[n - 1] == '\n';
        if (whole && sweep_record_read(line, (size_t)n - 1, &r)) keep(j, &r);
        else j->torn++;
    }
    free(line);
}

bool sweep_journal_open(struct sweep_journal *j, const char *folder, bool write)
{
    char path[4096], last = '\n';
    *j = (struct sweep_journal){.file = -1};
    snprintf(path, sizeof path, "%s/journal.ndjson", folder);
    j->file = open(path, write ? O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC : O_RDONLY | O_CLOEXEC,
                   0666);
    if (j->file < 0) return false;
    FILE *f = fopen(path, "r");
    if (!f) return false;
    read_all(j, f);
    (void)fclose(f);
    /* A line that was cut short ends here. */
    const off_t size = lseek(j->file, 0, SEEK_END);
    if (write && size > 0 && pread(j->file, &last, 1, size - 1) == 1 && last != '\n')
        return ftruncate(j->file, size) == 0 && (size_t)pwrite(j->file, "\n", 1, size) == 1;
    return true;
}

static double now_is(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line that does not fit on the disk leaves nothing, so that the next line does not continue it. */
static bool append(int file, const char *line, size_t n)
{
    const off_t size = lseek(file, 0, SEEK_END);
    const ssize_t written = write(file, line, n);
    if (written == (ssize_t)n) return true;
    const int why = written < 0 ? errno : ENOSPC;
    if (written > 0 && size >= 0) (void)ftruncate(file, size);
    errno = why;
    return false;
}

bool sweep_journal_add(struct sweep_journal *j, const struct sweep_record *r, bool now)
{
    char line[MOST_LINE];
    sweep_record_print(r, line, sizeof line - 1);
    const size_t n = strlen(line) + 1;
    line[n - 1] = '\n'; /* there is a byte behind it */
    if (!append(j->file, line, n)) return false;
    keep(j, r);
    if (!now && now_is() - j->synced < 1) return true;
    j->synced = now_is();
    return fdatasync(j->file) == 0;
}

size_t sweep_journal_merge(struct sweep_journal *j, const struct sweep_journal *other)
{
    size_t n = 0;
    for (size_t i = 0; i < other->count; i++) {
        const struct sweep_record *r = &other->records[i], *own = sweep_journal_find(j, r->key);
        if (own && strcmp(own->id, r->id) == 0 && (r->failed || !own->failed)) continue;
        if (!sweep_journal_add(j, r, i + 1 == other->count)) break;
        n++;
    }
    return n;
}

void sweep_journal_close(struct sweep_journal *j)
{
    if (j->file >= 0) {
        (void)fdatasync(j->file);
        close(j->file);
    }
    free(j->records);
    free(j->table);
    *j = (struct sweep_journal){.file = -1};
}
