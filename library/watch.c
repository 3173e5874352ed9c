/* heddle.h: writes to watched memory. */
#include "heddle.h"

#include "determinism/record/writes.h"
#include "emu/emu.h"
#include "library/device.h"

_Static_assert((int)HEDDLE_WRITE_STORE == (int)WRITE_STORE &&
                   (int)HEDDLE_WRITE_ATOMIC == (int)WRITE_ATOMIC &&
                   (int)HEDDLE_WRITE_REDUCTION == (int)WRITE_RED &&
                   (int)HEDDLE_WRITE_COPY == (int)WRITE_COPY &&
                   (int)HEDDLE_WRITE_BY_HOST == (int)WRITE_BY_HOST,
               "enum heddle_write_kind differs from enum write_kind");

static void report(void *self, const struct write *w)
{
    const struct device_written *to = self;
    to->written(to->self,
                &(struct heddle_write){.kind = (enum heddle_write_kind)w->kind,
                                       .address = w->address,
                                       .element = w->element,
                                       .width = w->width,
                                       .before = w->before,
                                       .after = w->after,
                                       .operation = w->op,
                                       .kernel = w->kernel,
                                       .launch = w->launch,
                                       .thread_known = w->thread_known,
                                       .cta = {w->cta[0], w->cta[1], w->cta[2]},
                                       .thread = {w->thread[0], w->thread[1], w->thread[2]},
                                       .line = w->where.line,
                                       .source_line = w->where.source_line,
                                       .source_file = w->where.source_file});
}

bool heddle_device_watch(struct heddle_device *d, uint64_t address, uint32_t width, uint64_t count,
                         void (*written)(void *self, const struct heddle_write *w), void *self)
{
    struct device_written *to = device_written(d);
    if (!width || width > WRITES_MOST_WIDTH || count > WRITES_MOST_BYTES / width ||
        !emu_has(device_emu(d), address, width * count))
        return false;
    if (!to->writes) to->writes = writes_new(report, to);
    if (!writes_add(to->writes, address, width, count)) return false;
    to->written = written;
    to->self = self;
    device_observe(d, writes_observer(to->writes));
    return true;
}

void device_written_end(struct device_written *to)
{
    writes_free(to->writes);
}
