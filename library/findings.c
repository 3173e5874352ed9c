/* heddle.h: findings and faults of a device's last launch, as structures. */
#include "heddle.h"

#include "emu/emu.h"
#include "library/device.h"

#include <string.h>

/* The public list is the emulator's, in its order. */
_Static_assert((int)HEDDLE_NO_FAULT == (int)EMU_OK &&
                   (int)HEDDLE_BAD_LAUNCH == (int)EMU_BAD_LAUNCH &&
                   (int)HEDDLE_OUT_OF_BOUNDS == (int)EMU_OUT_OF_BOUNDS &&
                   (int)HEDDLE_FREED == (int)EMU_FREED && (int)HEDDLE_TRAP == (int)EMU_TRAP &&
                   (int)HEDDLE_BARRIER == (int)EMU_BARRIER && (int)HEDDLE_LIMIT == (int)EMU_LIMIT &&
                   (int)HEDDLE_LEAK == (int)EMU_LEAK && (int)HEDDLE_RACE == (int)EMU_RACE &&
                   (int)HEDDLE_MIXED_ATOMICITY == (int)EMU_MIXED &&
                   (int)HEDDLE_BAD_ORDER == (int)EMU_BAD_ORDER &&
                   (int)HEDDLE_BAD_FILE + 1 == (int)EMU_FAULT_COUNT,
               "enum heddle_finding_kind differs from enum emu_fault_kind");

const char *heddle_finding_name(enum heddle_finding_kind kind)
{
    if (kind <= HEDDLE_NO_FAULT || kind > HEDDLE_BAD_FILE) return "";
    return emu_fault_name((enum emu_fault_kind)kind);
}

size_t heddle_device_finding_count(const struct heddle_device *d)
{
    return (size_t)device_launched(d)->finding_count;
}

struct heddle_finding heddle_device_finding(const struct heddle_device *d, size_t i)
{
    if (i >= heddle_device_finding_count(d)) return (struct heddle_finding){.name = "", .text = ""};
    const struct emu_finding *f = &device_launched(d)->findings[i];
    const enum heddle_finding_kind kind = (enum heddle_finding_kind)f->kind;
    return (struct heddle_finding){.kind = kind,
                                   .name = heddle_finding_name(kind),
                                   .count = f->count,
                                   .line = f->line,
                                   .line2 = f->line2,
                                   .source_file = f->source_file,
                                   .source_file2 = f->source_file2,
                                   .source_line = f->source_line,
                                   .source_line2 = f->source_line2,
                                   .text = f->text};
}

size_t heddle_device_findings_of(const struct heddle_device *d, enum heddle_finding_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < heddle_device_finding_count(d); i++)
        n += heddle_device_finding(d, i).kind == kind;
    return n;
}

struct heddle_fault heddle_device_fault(const struct heddle_device *d)
{
    const struct launch_record *l = device_launched(d);
    if (l->fault == EMU_OK) return (struct heddle_fault){.name = "", .text = ""};
    const enum heddle_finding_kind kind = (enum heddle_finding_kind)l->fault;
    struct heddle_fault out = {.kind = kind,
                               .name = heddle_finding_name(kind),
                               .line = l->fault_line,
                               .source_file = l->source_file,
                               .source_line = l->source_line,
                               .text = l->fault_text};
    const struct emu_fault *f = l->fault_detail;
    if (!f) return out;
    memcpy(out.cta, f->cta, sizeof out.cta);
    memcpy(out.thread, f->thread, sizeof out.thread);
    out.address = f->address;
    out.size = f->size;
    return out;
}
