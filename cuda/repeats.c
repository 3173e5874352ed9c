/* The list of findings that were reported before (cuda/repeats.h). */
#include "cuda/repeats.h"

#include "cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>

struct repeat {
    uint64_t key;
    uint64_t launches, times; /* launches: after the first; times: in these */
    char *text;               /* "kernel 'k': race at app.cu:5 and app.cu:7" */
};

static struct {
    struct repeat *list;
    size_t count, capacity;
} repeats;

static uint64_t mix(uint64_t h, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return (h ^ '\n') * UINT64_C(0x100000001b3);
}

static uint64_t key_of(const char *kernel, const struct emu_finding *f)
{
    static const char at[] = "  at ";
    uint64_t h = mix(UINT64_C(0xcbf29ce484222325) + f->kind, kernel, strlen(kernel));
    bool any = false;
    for (const char *line = f->text; *line;) {
        const size_t n = strcspn(line, "\n");
        if (strncmp(line, at, sizeof at - 1) == 0) h = mix(h, line, n), any = true;
        line += n + (line[n] != '\0');
    }
    return any ? h : mix(h, f->text, strlen(f->text));
}

static void name_line(char *out, size_t size, const char *file, uint32_t source, uint32_t line)
{
    if (file) snprintf(out, size, "%s:%u", file, source);
    else snprintf(out, size, "PTX line %u", line);
}

static char *name(const char *kernel, const struct emu_finding *f)
{
    char one[300], other[310] = "", text[1200];
    name_line(one, sizeof one, f->source_file, f->source_line, f->line);
    if (f->line2) {
        memcpy(other, " and ", 6);
        name_line(other + 5, sizeof other - 5, f->source_file2, f->source_line2, f->line2);
    }
    snprintf(text, sizeof text, "kernel '%s': %s at %s%s", kernel, emu_fault_name(f->kind), one,
             other);
    char *copy = malloc(strlen(text) + 1);
    if (!copy) abort();
    memcpy(copy, text, strlen(text) + 1);
    return copy;
}

bool repeats_add(const char *kernel, const struct emu_finding *f)
{
    const uint64_t key = key_of(kernel, f);
    for (size_t i = 0; i < repeats.count; i++)
        if (repeats.list[i].key == key) {
            repeats.list[i].launches++;
            repeats.list[i].times += f->count;
            return false;
        }
    if (repeats.count == repeats.capacity) {
        repeats.capacity = repeats.capacity ? 2 * repeats.capacity : 16;
        repeats.list = realloc(repeats.list, repeats.capacity * sizeof *repeats.list);
        if (!repeats.list) abort();
    }
    repeats.list[repeats.count++] = (struct repeat){.key = key, .text = name(kernel, f)};
    return true;
}

void repeats_say(void)
{
    for (size_t i = 0; i < repeats.count; i++) {
        const struct repeat *r = &repeats.list[i];
        if (r->launches)
            driver_say("heddle: %s: again in %llu later launch%s, %llu times\n", r->text,
                       (unsigned long long)r->launches, r->launches > 1 ? "es" : "",
                       (unsigned long long)r->times);
        free(r->text);
    }
    free(repeats.list);
    memset(&repeats, 0, sizeof repeats);
}
