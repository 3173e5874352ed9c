/* session/launch_record.h: the record of one kernel launch, which all reports of Heddle print.
 *
 *     const struct emu_report *r = emu_launch(e, k, &launch);
 *     struct launch_record l = launch_record_of("saxpy", &launch, r);
 *     report_launch(report, &l, ...);                       // heddle run
 *     event_write(stream, &(struct event){.kind = EVENT_LAUNCH, .launch = l});
 *
 * The emulator describes a launch in two structures: the request (struct emu_launch) and the result
 * (struct emu_report). Only launch_record_of() joins them. Text and JSON reports, `heddle check` and
 * `heddle estimate` read only this record. The event stream (session/event_stream.h) carries it from the
 * process of a CUDA program to the command line.
 *
 * Ownership: a record owns no memory. Its pointers belong to the device's last launch and are valid
 * until the next launch; in a record from an event stream they point into the stream's bytes. A caller
 * that keeps a record longer copies its texts.
 *
 * A record has no digest of memory: these are separate events, because launches of several streams may
 * execute in another order than the program submitted them. */
#ifndef HEDDLE_SESSION_LAUNCH_RECORD_H
#define HEDDLE_SESSION_LAUNCH_RECORD_H

#include "emu/emu.h"

struct buf;

struct launch_record {
    /* The request. */
    const char *kernel;
    uint32_t grid[3], block[3]; /* CTAs of the grid; threads of a CTA */
    uint32_t cluster[3]; /* CTAs of a cluster; 0: not set by the launch (the kernel may set it) */
    uint32_t shared;     /* dynamic shared memory of a CTA in bytes */

    /* The end of the launch. */
    enum emu_fault_kind fault; /* EMU_OK: the launch ended without a fault */
    uint32_t fault_line;       /* line of the PTX with the fault; 0: unknown */
    uint32_t source_line;      /* line of the source with the fault, from .loc; 0: unknown */
    const char *source_file;   /* file of that line; NULL: unknown */
    const char *fault_text;    /* description of the fault, several lines; "": no fault */
    uint64_t finding_count;    /* findings of checks; those of one instruction count once */
    uint64_t suppressed;       /* findings that a suppression matched (emu/suppress.h) */

    /* Its cost. */
    uint64_t warp_instructions, thread_instructions; /* PTX instructions */
    enum emu_execution execution; /* whether it ran under its order, or by which speculation */
    double seconds; /* wall-clock time of the host; all other members are the same on every host */

    /* Only in the process that launched; NULL in a record from an event stream. */
    const struct emu_fault *fault_detail; /* thread, address; NULL: the launch did not begin */
    const struct emu_finding *findings;
    const struct emu_counts *counts; /* counts and trace of the launch; NULL: not counted */
};

struct launch_record launch_record_of(const char *kernel, const struct emu_launch *launch,
                                      const struct emu_report *report);

/* Whether the launch did not terminate: its fault is a limit or a deadlock. */
bool launch_record_endless(const struct launch_record *l);

/* Appends the texts of the findings and of the fault. Only for records of this process. */
void launch_record_text(const struct launch_record *l, struct buf *out);

#endif
