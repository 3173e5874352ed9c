/* emu/device/check.h: the list of findings of a launch (a launch continues after a finding, but ends at a fault), and
 * EMU_CHECK_INIT. */
#ifndef HEDDLE_EMU_DEVICE_CHECK_H
#define HEDDLE_EMU_DEVICE_CHECK_H

#include "emu/ops/exec.h"
#include "emu/order.h"

struct arena;

enum { CHECK_LAST = 16 };
struct suppressions;

/* The findings of one launch. The caller holds the launch's lock. */
struct check {
    const struct suppressions *suppressions; /* NULL: none */
    struct emu_finding *list;
    struct check_place {
        const struct emu_program *program;
        u32 pc, pc2;
        bool suppressed, left_out; /* left_out: in check_end() */
        /* `places`: for each finding the instruction, and the second instruction of two (else the same) */
    } * places;
    size_t count, cap, place_cap;
    /* Hash table with open addressing, by kind and places: 1 + index of the finding. slot_count: a power of two, or
     * 0. */
    u32 *slots, slot_count;
    u32 last[CHECK_LAST]; /* 1 + indices of the findings that were counted last, by places */
    struct arena *arena;
};

/* To be called at the end of the launch: removes suppressed findings and returns their number; merges findings about
 * two accesses at the same source lines. */
size_t check_end(struct check *c);

/* Adds a finding, or adds one to the count of a finding about the same instruction. */
void check_add(struct check *c, const struct emu_machine *m, enum emu_fault_kind kind, u32 pc,
               const u32 cta[3], const u32 thread[3], u64 address, const char *what);

/* A finding about two places that are not both of the machine's program (check_grids.h); returns its index until check_end. */
size_t check_add_text(struct check *c, struct emu_finding finding, bool suppressed);
void check_count_more(struct check *c, size_t i);

/* EMU_CHECK_INIT: an observer that tracks which bytes of global and shared memory have been written. */
struct check_init;
struct check_init *check_init_new(struct arena *arena, struct check *c);
const struct emu_observer *check_init_observer(struct check_init *k);

/* EMU_CHECK_BOUNDS. (check_shared.c) */
const struct emu_observer *check_bounds_observer(struct arena *arena, struct check *c);

#endif
