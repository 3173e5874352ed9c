/* emu/trace_events.h: every instruction and access of a launch in a file of traces (emu/trace_file.h), so that the
 * launch can be converted to the formats of other tools without running the kernel again. docs/formats.md describes the
 * frames.
 *
 *     struct trace_events *e = trace_events_new(file);          // the file's head must be there (trace_file_run)
 *     trace_events_begin(e, &launch);                           // then what observers get, in that order:
 *     trace_events_issue(e, who, pc, lanes);
 *     trace_events_access(e, access);
 *     trace_events_cta_exit(e, who);
 *     trace_events_end(e);
 *     bool ok = trace_events_free(e);
 *
 * A reader passes a struct trace_events_sink to trace_file_next(); its callbacks are called with the same events.
 *
 * The writer's memory is a frame of about a megabyte and some words for each instruction of the kernel, independent of
 * the length of the launch. Values of memory are not recorded. */
#ifndef HEDDLE_EMU_TRACE_EVENTS_H
#define HEDDLE_EMU_TRACE_EVENTS_H

#include "emu/order.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace_inst;
struct trace_events_sums;

/* A launch as the formats of other tools need it. */
struct trace_launch {
    const char *kernel;
    uint32_t number; /* number of the launch in the run, from 0 on */
    uint32_t stream; /* CUDA stream; 0: the default one */
    uint32_t grid[3], block[3];
    uint32_t shared;     /* shared memory of a CTA, bytes */
    uint32_t sms, slots; /* CTAs that are resident at once, on all SMs */
    uint32_t inst_count, reg_count;
    const struct trace_inst *insts; /* by pc */
    const uint32_t *regs;
    /* For each pc: 1: an instruction of the kernel itself; 0: of a function that it calls. */
    const uint8_t *own;
};
/* Threads, and warps, of a CTA. */
static inline uint32_t trace_launch_threads(const struct trace_launch *l)
{
    return l->block[0] * l->block[1] * l->block[2];
}
static inline uint32_t trace_launch_warps(const struct trace_launch *l)
{
    return (trace_launch_threads(l) + 31) / 32;
}
/* The launch of a running machine. *own is the array that the result's `own` points to; the caller frees it. */
struct trace_launch trace_launch_of(struct emu_machine *m, uint32_t number, uint32_t stream,
                                    uint8_t **own);

struct trace_events;
struct trace_events *trace_events_new(FILE *file); /* the caller closes the file */
void trace_events_begin(struct trace_events *e, const struct trace_launch *l);
void trace_events_issue(struct trace_events *e, const struct emu_warp *who, uint32_t pc,
                        uint32_t lanes);
void trace_events_access(struct trace_events *e, const struct emu_access *a);
void trace_events_cta_exit(struct trace_events *e, const struct emu_warp *who);
void trace_events_end(struct trace_events *e);
/* false: something could not be written (errno). */
bool trace_events_free(struct trace_events *e);

/* Receives the events of a launch that is read from a file. Any callback may be NULL. In struct emu_access only who,
 * kind, space, op, width, count, contiguous, lanes, address and pc are set; in struct emu_sync only who and kind
 * (EMU_SYNC_CTA_EXIT). */
struct trace_events_sink {
    void *self;
    void (*begin)(void *self, const struct trace_launch *l);
    /* Called after begin(): returns an observer whose issue, access, sync and end are called. */
    const struct emu_observer *(*observer)(void *self);
    /* The launch was read to its end. */
    void (*end)(void *self, const struct trace_launch *l, const struct trace_events_sums *sums);
};

#endif
