/* The buffers of a job: their sizes, addresses and contents. */
#include "cli/job_run.h"

#include "base/buf.h"
#include "base/diag.h"
#include "emu/emu.h"
#include "emu/memory.h"
#include "library/device.h"

#include <inttypes.h>

/* How many elements it has, if it does not say itself. */
static bool count(struct runner *r, struct job_buffer *b, uint64_t variable_size)
{
    struct diags *d = r->job->diags;
    uint64_t own = 0;
    if (b->variable) {
        own = variable_size / b->type->bytes;
        if (!b->count && variable_size % b->type->bytes == 0) b->count = own;
        if (b->count && b->count <= own) return true;
        diag_error(d, b->where.at, b->where.length,
                   "the variable '%s' has %" PRIu64 " bytes: no array of %" PRIu64 " %s",
                   b->variable, variable_size, b->count, b->type->name);
        return false;
    }
    bool has = pattern_count(&b->fill, b->type, &own);
    if (!b->count && has) b->count = own;
    if (b->count) return true;
    r->outside = b->fill.kind == PATTERN_FILE;
    diag_error(d, b->where.at, b->where.length,
               "the number of elements is missing: '%s' does not determine it%s", b->label,
               b->fill.kind == PATTERN_FILE ? ": the file is empty, or not there" : "");
    return false;
}

bool runner_place(struct runner *r, struct job_buffer *b)
{
    uint64_t size = 0;
    struct diags *d = r->job->diags;
    if (b->variable) {
        b->address = heddle_device_variable(r->device, b->variable, &size);
        if (!b->address) {
            diag_error(d, b->where.at, b->where.length, "no module has a variable '%s'",
                       b->variable);
            return false;
        }
    }
    if (!count(r, b, size)) return false;
    if (b->variable) return true;
    b->address = heddle_device_alloc(r->device, b->count * b->type->bytes, b->label);
    /* Without a `fill` it is as with `zero`: these zeros are its initial values. */
    if (b->address)
        mem_mark_written(emu_memory(device_emu(r->device)), b->address, b->count * b->type->bytes);
    if (b->address) return true;
    r->outside = true;
    diag_error(d, b->where.at, b->where.length,
               "out of device memory: '%s' wants %" PRIu64
               " bytes; the memory setting (8G without one) says how many there are",
               b->label, b->count * b->type->bytes);
    return false;
}

bool runner_fill(struct runner *r, struct job_buffer *b, const struct pattern *p, uint64_t first,
                 uint64_t n)
{
    struct filler f;
    struct buf why = {0};
    unsigned size = b->type->bytes;
    bool ok = filler_open(&f, p, b->type, n, &why);
    for (uint64_t i = 0, k; ok && i < n; i += k) {
        k = n - i < CHUNK ? n - i : CHUNK;
        ok = filler_next(&f, r->want, k, &why);
        if (ok &&
            !heddle_device_write(r->device, b->address + (first + i) * size, r->want, k * size)) {
            buf_printf(&why, "'%s' cannot be written", b->label);
            ok = false;
        }
    }
    filler_close(&f);
    if (!ok) {
        r->outside = p->kind == PATTERN_FILE;
        diag_error(r->job->diags, p->where.at, p->where.length, "%s", why.data ? why.data : "?");
    }
    buf_free(&why);
    return ok;
}
