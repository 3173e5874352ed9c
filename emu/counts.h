/* emu/counts.h: counters of events in a launch.
 *
 *     const struct emu_counts *c = report->counts;                // config.count was on
 *     c->phases[0].total.access[EMU_GLOBAL][EMU_LOADS].sectors
 *     emu_counts_visit(&c->phases[0].total, print_one, file);     // by name: "memory.global.load.sectors"
 *
 * There are counters for each phase of a launch (native order: one), for each SM, and for each instruction. Their
 * values do not depend on the number of host threads, the host's instruction set or the compiler. counts.def defines
 * every counter; docs/counts.md lists them for users. emu/measure/ writes the counters, model/ reads them. */
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
    EMU_TEXTURE, /* textures and surfaces */
    EMU_COUNT_SPACES
};
enum emu_count_kind { EMU_LOADS, EMU_STORES, EMU_ATOMICS, EMU_COUNT_KINDS };
const char *emu_count_space_name(enum emu_count_space space); /* "global" */
const char *emu_count_kind_name(enum emu_count_kind kind);    /* "load" */

struct emu_access_counts { /* counters of one state space and kind of access */
#define ACCESS(field, text) uint64_t field;
#include "emu/counts.def"
};

struct emu_events {
#define EVENT(field, name, text) uint64_t field;
#include "emu/counts.def"
    uint64_t unit_warp[PTX_UNIT_COUNT], unit_thread[PTX_UNIT_COUNT]; /* instructions by unit */
    struct emu_access_counts access[EMU_COUNT_SPACES][EMU_COUNT_KINDS];
    /* atomics, by enum emu_atomic */
    uint64_t atomic_warp[16], atomic_thread[16], atomic_collisions[16];
    struct cache_events cache;
};

struct emu_phase {
    const char *name; /* the name of the order, or of its phase */
    uint64_t times;   /* number of phases with that name */
    struct emu_events total;
    struct emu_events *sm; /* events of each SM */
};

/* a PTX instruction of the kernel or of a function that it calls */
struct emu_instruction {
    const char *function, *module; /* module: the name of the PTX text */
    const char *file;              /* source file, from .loc; NULL: unknown */
    uint32_t line, source_line;    /* PTX line; source line, 0: unknown */
    /* Kind of accuracy (ptx/accuracy.h). Instructions that are not exact have a name in `inexact` ("ex2.approx.f32",
     * "%clock"), and in `left_open` the freedom that the ISA leaves. */
    uint8_t accuracy;
    uint8_t influence;               /* not exact: enum ptx_influence of its results */
    const char *inexact, *left_open; /* NULL: the instruction is exact */
    uint64_t warp, thread;           /* issues (warp instructions); lanes that executed it */
    uint64_t off;                    /* lanes that the guard predicate disabled */
    uint64_t divergent;              /* branch: issues at which lanes of the warp diverged */
    uint64_t accesses, bytes,
        sectors;               /* global memory: warp accesses; bytes requested; sectors touched */
    uint64_t shared, passes;   /* shared memory: warp accesses; passes over the banks */
    uint64_t collisions;       /* atomic: lanes whose address an earlier lane has */
    struct cache_events cache; /* dram_writes is not counted by instruction */
};

struct emu_number { /* a counter or option of an order */
    const char *name;
    uint64_t value;
};

/* How a kernel launched a child grid. The grids of one launch by the host are numbered in the order in which they
 * began; number 0 is the grid that the host launched. */
struct emu_nesting {
    uint32_t number, parent; /* 0 and 0 for the grid that the host launched */
    uint32_t cta;            /* CTA of the parent that launched this grid */
    uint64_t at;             /* warp instructions that the launching warp had executed before */
    /* The grid runs after earlier grids that this CTA launched into the same stream. */
    uint64_t stream;
    bool is_free; /* fire-and-forget stream: the grid waits for no other grid */
    /* tail-launch stream: the grid runs after its parent and the parent's other child grids */
    bool is_tail;
    /* Streams wait for events: the grid runs after all grids that the parent launched earlier. */
    bool in_order;
    /* 1 + index in the parent's emu_counts.waits of the wait for this grid; 0: no CTA waited for it */
    uint32_t wait;
};
struct emu_grid_wait { /* a CTA waited for its child grids */
    uint32_t cta;
    uint64_t at; /* as in struct emu_nesting */
};

struct emu_counts {
    const char *kernel;
    uint32_t grid[3], block[3], cluster[3], shared; /* shared: bytes of a CTA, static and dynamic */
    const struct emu_gpu *gpu;
    uint32_t sms;
    struct emu_occupancy occupancy;
    /* waves: rounds of full occupancy that the CTAs need, rounded up; 0: no CTA fits on an SM */
    uint64_t ctas, waves;
    bool caches;           /* config.caches was on */
    const char *order;     /* "native" */
    const char *execution; /* emu_execution_name: "native", "ordered" */
    size_t number_count;
    const struct emu_number *numbers; /* counters of the order itself: "gpudet.quanta" */
    size_t option_count;
    const struct emu_number *options; /* options of the order: "quantum" */
    size_t phase_count;
    const struct emu_phase *phases;
    size_t instruction_count;
    const struct emu_instruction *instructions; /* in the order of the PTX, function by function */
    /* How often the emulator found a group of warps in a loop that waits for other warps. Warps that wait in another
     * way are not found. */
    uint64_t busy_waits;
    const struct emu_trace *trace; /* NULL: config.trace was off, or there was an observer */
    struct emu_nesting nesting;
    size_t wait_count;
    const struct emu_grid_wait *waits; /* those of one CTA are in program order */
    /* Counts of the next child grid, in the order of execution. NULL: the last one. */
    const struct emu_counts *next;
};

/* Calls `visit` for each counter of `e` in a fixed order, with its name, as "memory.global.load.sectors". */
void emu_counts_visit(const struct emu_events *e, bool caches,
                      void (*visit)(void *self, const char *name, uint64_t value), void *self);

struct buf;
/* Appends the counts of one launch as a JSON object with the schema of docs/counts.md; counters that are 0 are left
 * out. `indent`: number of blanks before each line. */
void emu_counts_json(struct buf *out, const struct emu_counts *c, int indent);

/* Writes a JSON document of the launches of a run (docs/counts.md):
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
