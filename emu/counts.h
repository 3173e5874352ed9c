/* emu/counts.h: counters of events in a launch.
 *
 *     const struct emu_counts *c = report->counts;                // config.count was on
 *     c->phases[0].total.access[EMU_GLOBAL][EMU_LOADS].sectors
 *     emu_counts_visit(&c->phases[0].total, print_one, file);     // by name: "memory.global.load.sectors"
 *
 * There are counters for each phase of a launch (native order: one), for each SM, and for each
 * instruction. They are the same for any number of host threads, any instruction set of the host
 * and any compiler. counts.def defines every counter; docs/counts.md lists them for users.
 * emu/measure/ counts, the model reads. */
#ifndef HEDDLE_EMU_COUNTS_H
#define HEDDLE_EMU_COUNTS_H

#include "emu/gpu.h"
#include "emu/measure/cache.h"
#include "ptx/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum emu_count_space {
    EMU_GLOBAL,
    EMU_SHARED,
    EMU_LOCAL,
    EMU_CONSTANT,
    EMU_TEXTURE, /* and surfaces */
    EMU_COUNT_SPACES
};
enum emu_count_kind { EMU_LOADS, EMU_STORES, EMU_ATOMICS, EMU_COUNT_KINDS };
const char *emu_count_space_name(enum emu_count_space space); /* "global" */
const char *emu_count_kind_name(enum emu_count_kind kind);    /* "load" */

struct emu_access_counts { /* of one space and kind */
#define ACCESS(field, text) uint64_t field;
#include "emu/counts.def"
};

struct emu_events {
#define EVENT(field, name, text) uint64_t field;
#include "emu/counts.def"
    uint64_t unit_warp[PTX_UNIT_COUNT], unit_thread[PTX_UNIT_COUNT]; /* instructions by unit */
    struct emu_access_counts access[EMU_COUNT_SPACES][EMU_COUNT_KINDS];
    uint64_t atomic_warp[16], atomic_thread[16], atomic_collisions[16]; /* by enum emu_atomic */
    struct cache_events cache;
};

struct emu_phase {
    const char *name; /* the name of the order, or of its phase */
    uint64_t times;   /* phases of that name */
    struct emu_events total;
    struct emu_events *sm; /* by SM */
};

struct emu_instruction {           /* a PTX instruction of the kernel or of what it calls */
    const char *function, *module; /* module: the name of the PTX text */
    const char *file;              /* of the source, from .loc; NULL: unknown */
    uint32_t line, source_line;    /* of the PTX; of the source, 0: unknown */
    /* ptx/accuracy.h: the kind; of what is not exact its name ("ex2.approx.f32", "%clock") and what is left open. */
    uint8_t accuracy;
    uint8_t influence; /* of what is not exact: what its results may decide (enum ptx_influence) */
    const char *inexact, *left_open; /* NULL: it is exact */
    uint64_t warp, thread;           /* times it was issued; lanes that executed it */
    uint64_t off;                    /* lanes that its guard predicate disabled */
    uint64_t divergent;              /* of a branch: times that lanes of a warp diverged */
    uint64_t accesses, bytes,
        sectors;               /* global memory: warp accesses; bytes requested; sectors touched */
    uint64_t shared, passes;   /* shared memory: warp accesses; passes over the banks */
    uint64_t collisions;       /* of an atomic: lanes whose address an earlier lane has */
    struct cache_events cache; /* dram_writes: not by instruction */
};

struct emu_number { /* of an order */
    const char *name;
    uint64_t value;
};

/* How a kernel launched the grid. Grids of one launch by the host have numbers in the order in which they began, 0 is the
 * host's. */
struct emu_nesting {
    uint32_t number, parent; /* of the host's grid: 0, 0 */
    uint32_t cta;            /* of the parent's, that launched it */
    uint64_t at;             /* warp instructions that the launching warp had executed */
    uint64_t stream;         /* it runs behind what this CTA has put into the same one before it */
    bool is_free;            /* fire and forget: behind nothing */
    bool is_tail;            /* behind its parent, and all else that this has launched */
    bool in_order; /* streams wait for events: behind what the parent has launched before it */
    uint32_t wait; /* emu_counts.waits of the parent: its place plus one; 0: none is for it */
};
struct emu_grid_wait { /* a CTA has waited for grids that it had launched */
    uint32_t cta;
    uint64_t at; /* as of emu_nesting */
};

struct emu_counts {
    const char *kernel;
    uint32_t grid[3], block[3], cluster[3], shared; /* shared: bytes of a CTA, static and dynamic */
    const struct emu_gpu *gpu;
    uint32_t sms;
    struct emu_occupancy occupancy;
    uint64_t ctas,
        waves;         /* rounds of full occupancy that the CTAs need, rounded up; 0: no CTA fits */
    bool caches;       /* config.caches was on */
    const char *order; /* "native" */
    const char *execution; /* emu_execution_name: "native", "ordered" */
    size_t number_count;
    const struct emu_number *numbers; /* counted by the order itself: "gpudet.quanta" */
    size_t option_count;
    const struct emu_number *options; /* of the order: "quantum" */
    size_t phase_count;
    const struct emu_phase *phases;
    size_t instruction_count;
    const struct emu_instruction *instructions; /* in the order of the PTX, function by function */
    /* How often the emulator found a group in a loop that waits for others. What waits in another way is not found. */
    uint64_t busy_waits;
    const struct emu_trace *trace; /* NULL: config.trace was off, or there was an observer */
    struct emu_nesting nesting;
    size_t wait_count;
    const struct emu_grid_wait *waits; /* of each CTA in the order of its program */
    const struct emu_counts
        *next; /* of the next grid that the kernel launched, in the order of execution */
};

/* Each number of `e` in a fixed order with its name, as "memory.global.load.sectors". */
void emu_counts_visit(const struct emu_events *e, bool caches,
                      void (*visit)(void *self, const char *name, uint64_t value), void *self);

struct buf;
/* Appends the counts of one launch as a JSON object, the schema of docs/counts.md: numbers that are
 * 0 are left out. `indent`: blanks before its lines. */
void emu_counts_json(struct buf *out, const struct emu_counts *c, int indent);

/* A document of the launches of a run, as docs/counts.md says:
 *     struct emu_counts_writer w;
 *     emu_counts_begin(&w, file);
 *     emu_counts_add(&w, report->counts);              // after each launch; NULL adds nothing
 *     if (!emu_counts_end(&w)) perror(path);           // the file is the caller's to close */
struct emu_counts_writer {
    FILE *out;
    size_t launches;
};
void emu_counts_begin(struct emu_counts_writer *w, FILE *out);
void emu_counts_add(struct emu_counts_writer *w, const struct emu_counts *c);
bool emu_counts_end(struct emu_counts_writer *w);

#endif
