/* Whatever bytes a job file has, reading it ends, with a job or with messages about places in it. */
#include "cli/job.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    const char *text = arena_copy(a, (const char *)data, size);
    struct source source = {"job.yaml", text, (uint32_t)size};
    struct diags diags = {.arena = a, .source = &source, .max_errors = 20};
    struct job job = {.arena = a, .diags = &diags, .folder = ""};
    struct buf messages = {0};
    bool ok = job_read(&job);
    if (ok == (diags.errors != 0)) abort();
    for (size_t i = 0; i < diags.count; i++)
        if (diags.list[i].at > size) abort();
    diags_render(&diags, &messages);
    buf_free(&messages);
    arena_free(a);
    return 0;
}
