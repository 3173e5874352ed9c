/* session/launch_record.h: one launch of a kernel, as all reports of Heddle know it.
 *
 *     const struct emu_report *r = emu_launch(e, k, &launch);
 *     struct launch_record l = launch_record_of("saxpy", &launch, r);
 *     report_launch(report, &l, ...);                       // heddle run
 *     event_write(stream, &(struct event){.kind = EVENT_LAUNCH, .launch = l});
 *
 * The emulator describes a launch in two structures: what was asked for (struct emu_launch) and
 * what came of it (struct emu_report). launch_record_of() is the only place that joins them. Text
 * and JSON reports, `heddle check`, `heddle estimate` and the event stream
 * (session/event_stream.h), which carries the record from the process of a CUDA program to the
 * command line, read nothing else.
 *
 * Ownership: a record owns nothing. Its pointers belong to the device's last launch and are good
 * until the next one; in a record from an event stream they point into the stream's bytes. Who
 * keeps a record longer copies the texts.
 *
 * A record holds no guest memory: digests of memory are events of their own, because launches of
 * several streams may be done in another order than they were asked for. */
#ifndef HEDDLE_SESSION_LAUNCH_RECORD_H
#define HEDDLE_SESSION_LAUNCH_RECORD_H

#include "emu/emu.h"

struct buf;

struct launch_record {
    /* What was launched. */
    const char *kernel;
    uint32_t grid[3], block[3]; /* CTAs of the grid; threads of a CTA */
    uint32_t cluster[3]; /* CTAs of a cluster; 0: the launch asked for none (the kernel may say) */
    uint32_t shared;     /* dynamic shared memory of a CTA, in bytes */

    /* How it ended. */
    enum emu_fault_kind fault; /* EMU_OK: it reached its end */
    uint32_t fault_line;       /* of the PTX; 0: unknown */
    uint32_t source_line;      /* of the source, from .loc; 0: unknown */
    const char *source_file;   /* likewise; NULL: unknown */
    const char *fault_text;    /* several lines; "": no fault */
    uint64_t finding_count;    /* by instruction: two of one instruction are one */
    uint64_t suppressed;       /* findings that a list of known ones left out */

    /* What it took. */
    uint64_t warp_instructions, thread_instructions; /* PTX instructions */
    enum emu_execution execution; /* under its order, or by which speculation without it */
    double seconds; /* of the host, wall-clock time: all else is the same on every host */

    /* In the process that launched only; NULL in a record from an event stream. */
    const struct emu_fault *fault_detail; /* thread, address; NULL: the launch could not begin */
    const struct emu_finding *findings;
    const struct emu_counts *counts; /* with their trace; NULL: nothing was counted */
};

struct launch_record launch_record_of(const char *kernel, const struct emu_launch *launch,
                                      const struct emu_report *report);

/* The fault is that the launch did not come to an end: a limit, or a deadlock. */
bool launch_record_endless(const struct launch_record *l);

/* The findings' texts and the fault's. For records of this process. */
void launch_record_text(const struct launch_record *l, struct buf *out);

#endif
