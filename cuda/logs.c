/* The log of errors: the newest lines, numbered from the start of the process. Callbacks of the program that get each line
 * must not call CUDA. */
#include "cuda/logs.h"
#include "cuda/driver.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINES = 100, LENGTH = 256, MOST = 25600 /* bytes of a dump, as CUDA has it */ };
static char lines[LINES][LENGTH]; /* line i is at i % LINES; each ends in a newline */
static CUlogIterator end;         /* lines there were */
static const char cut[] = "[older messages are lost]\n";

struct CUlogsCallbackEntry_st {
    struct CUlogsCallbackEntry_st *next;
    CUlogsCallback function;
    void *data;
};
static struct CUlogsCallbackEntry_st *callbacks;

static void write_line(const char *line)
{
    char copy[LENGTH];
    const size_t n = strlen(line);
    const bool inside = driver_is_host_function(); /* that made the call which failed */
    memcpy(copy, line, n + 1);
    for (struct CUlogsCallbackEntry_st *c = callbacks, *next; c; c = next) {
        next = c->next;
        driver_host_function(true);
        driver_unlock();
        c->function(c->data, CU_LOG_LEVEL_ERROR, copy, n);
        driver_lock();
        driver_host_function(inside);
    }
}

void logs_add(const char *format, ...)
{
    char *line = lines[end % LINES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, LENGTH - 1, format, args);
    va_end(args);
    line[strcspn(line, "\n")] = '\0';
    line[strlen(line) + 1] = '\0';
    line[strlen(line)] = '\n';
    end++;
    write_line(line);
}

CUresult cuLogsRegisterCallback(CUlogsCallback callback, void *data, CUlogsCallbackHandle *out)
{
    if (!callback) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    struct CUlogsCallbackEntry_st *c = calloc(1, sizeof *c);
    if (!c) abort();
    driver_lock();
    *c = (struct CUlogsCallbackEntry_st){callbacks, callback, data};
    callbacks = c;
    driver_unlock();
    if (out) *out = c;
    return CUDA_SUCCESS;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
    driver_lock();
    struct CUlogsCallbackEntry_st **at = &callbacks, *c;
    while (*at && *at != callback) at = &(*at)->next;
    c = *at;
    if (c) *at = c->next;
    driver_unlock();
    if (!c) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    free(c);
    return CUDA_SUCCESS;
}

CUresult cuLogsCurrent(CUlogIterator *out, unsigned flags)
{
    if (!out || flags) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    *out = end;
    driver_unlock();
    return CUDA_SUCCESS;
}

/* From which line on a dump is, so that no more than `size` bytes come of it; all its bytes. */
static CUlogIterator first_of(CUlogIterator from, size_t size, size_t *bytes)
{
    CUlogIterator i = end;
    const CUlogIterator oldest = end > LINES ? end - LINES : 0;
    *bytes = 0;
    while (i > from && i > oldest && *bytes + strlen(lines[(i - 1) % LINES]) <= size)
        *bytes += strlen(lines[--i % LINES]);
    return i;
}

/* The newest lines that fit, after a line that says how many are missing. */
static CUresult dump(CUlogIterator *iterator, char *to, size_t *size)
{
    const CUlogIterator from = iterator ? *iterator : 0;
    size_t left = *size < MOST ? *size - 1 : MOST, bytes, at = 0;
    CUlogIterator first = first_of(from, left, &bytes);
    *size = 0;
    to[0] = '\0';
    if (first > from && left >= sizeof cut - 1) {
        left -= at = sizeof cut - 1;
        memcpy(to, cut, sizeof cut);
        first = first_of(from, left, &bytes);
    }
    if (first == end && end > from) return to[0] = '\0', CUDA_ERROR_INVALID_VALUE;
    for (; first < end; first++) {
        const char *line = lines[first % LINES];
        memcpy(to + at, line, strlen(line) + 1);
        at += strlen(line);
    }
    if (iterator) *iterator = end;
    *size = at;
    return CUDA_SUCCESS;
}

CUresult cuLogsDumpToMemory(CUlogIterator *from, char *to, size_t *size, unsigned flags)
{
    if (!to || !size || !*size || flags) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    return driver_end(from && *from > end ? CUDA_ERROR_INVALID_VALUE : dump(from, to, size));
}

CUresult cuLogsDumpToFile(CUlogIterator *from, const char *path, unsigned flags)
{
    char text[MOST + 1];
    size_t size = sizeof text;
    FILE *f = path && !flags ? fopen(path, "w") : NULL;
    if (!f) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    const CUresult r = cuLogsDumpToMemory(from, text, &size, 0);
    const bool ok = r != CUDA_SUCCESS || fwrite(text, 1, size, f) == size;
    if (fclose(f) != 0 || !ok) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    return r;
}
