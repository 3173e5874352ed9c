/* The journal of a sweep: a line for each cell that has ended, with a checksum at its end. A line that was cut short or
 * altered does not count. */
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

bool sweep_record_read(const char *line, size_t length, struct sweep_record *r)
{
    char text[MOST_LINE], again[MOST_LINE];
    int ok = 0;
    *r = (struct sweep_record){0};
    if (length >= sizeof text) return false;
    memcpy(text, line, length);
    text[length] = '\0';
    const char *digest = strstr(text, "\"digest\":\""), *rest = strstr(text, "\"n\":[");
    if (!digest || !rest ||
        sscanf(text, "{\"id\":\"%32[0-9a-f]\",\"key\":\"%16[0-9a-f]\",\"ok\":%d,\"exit\":%d,",
               r->id, r->key, &ok, &r->exit) != 4)
        return false;
    (void)sscanf(digest, "\"digest\":\"%16[0-9a-f]\"", r->digest);
    if (sscanf(rest, "\"n\":[%" SCNu64 ",%" SCNu64 ",%" SCNu64 "],\"cycles\":%lf,\"s\":%lf",
               &r->launches, &r->warp_instructions, &r->races, &r->cycles, &r->seconds) != 5)
        return false;
    const char *host = strstr(rest, ",\"h\":\"");
    if (host) (void)sscanf(host, ",\"h\":\"%12[^\"]\"", r->host);
    r->failed = !ok;
    sweep_record_print(r, again, sizeof again);
    return strcmp(text, again) == 0; /* also its checksum */
}

/* ---- by key ----------------------------------------------------------------------------------- */

static size_t place_of(const struct sweep_journal *j, const char *key)
{
    size_t i = (size_t)(strtoull(key, NULL, 16) & (j->table_cap - 1));
    while (j->table[i] && strcmp(j->records[j->table[i] - 1].key, key) != 0)
        i = (i + 1) & (j->table_cap - 1);
    return i;
}

static void keep(struct sweep_journal *j, const struct sweep_record *r)
{
    if (2 * (j->count + 1) > j->table_cap) {
        free(j->table);
        j->table_cap = j->table_cap ? 2 * j->table_cap : 1024;
        j->table = calloc(j->table_cap, sizeof *j->table);
        if (!j->table) abort();
        for (size_t i = 0; i < j->count; i++)
            j->table[place_of(j, j->records[i].key)] = (uint32_t)i + 1;
    }
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
