#include "session/launch_record.h"

#include "base/buf.h"

#include <string.h>

struct launch_record launch_record_of(const char *kernel, const struct emu_launch *launch,
                                      const struct emu_report *report)
{
    const struct emu_fault *f = &report->fault;
    struct launch_record l = {.kernel = kernel,
                              .shared = launch->shared,
                              .fault = f->kind,
                              .fault_line = f->line,
                              .source_line = f->source_line,
                              .source_file = f->source_file,
                              .fault_text = f->kind && f->text ? f->text : "",
                              .finding_count = report->finding_count,
                              .suppressed = report->suppressed,
                              .warp_instructions = report->warp_instructions,
                              .thread_instructions = report->thread_instructions,
                              .execution = report->execution,
                              .seconds = report->seconds,
                              .fault_detail = f->kind ? f : NULL,
                              .findings = report->findings,
                              .counts = report->counts};
    memcpy(l.grid, launch->grid, sizeof l.grid);
    memcpy(l.block, launch->block, sizeof l.block);
    memcpy(l.cluster, launch->cluster, sizeof l.cluster);
    return l;
}

bool launch_record_endless(const struct launch_record *l)
{
    return l->fault == EMU_LIMIT || l->fault == EMU_DEADLOCK;
}

void launch_record_text(const struct launch_record *l, struct buf *out)
{
    for (uint64_t i = 0; l->findings && i < l->finding_count; i++) {
        buf_puts(out, l->findings[i].text);
        if (l->findings[i].count > 1)
            buf_printf(out, "  ... and %llu more of this instruction\n",
                       (unsigned long long)l->findings[i].count - 1);
    }
    buf_puts(out, l->fault_text);
}
