/* tests/support/emu.h: runs small kernels in tests.
 *
 *     struct emu_run r = {.ptx = text, .kernel = "k", .grid = 1, .block = 32};
 *     r.args[0] = emu_in(&r, input, sizeof input);           // a buffer; its address is the argument
 *     r.args[1] = emu_out(&r, output, sizeof output);        // copied back after the launch
 *     r.args[2] = 42;
 *     cr_assert(emu_run(&r), "%s", r.fault);
 *     emu_done(&r);
 *
 * Parameters are 64-bit words or what the kernel says: argument i fills parameter i's bytes. Every run
 * is made on each host instruction set that there is and with lockstep groups of 4 warps and of 1, and with
 * the orders gpudet, dab and random, and the outputs compared: they must have the same bytes. A fault must have the same
 * text on each instruction set. */
#ifndef HEDDLE_TESTS_SUPPORT_EMU_H
#define HEDDLE_TESTS_SUPPORT_EMU_H

#include "emu/emu.h"

struct emu_buffer {
    const void *in;
    void *out;
    size_t size;
};
struct emu_run {
    const char *ptx, *kernel; /* a whole module; kernel NULL: its only one */
    uint32_t grid, block, shared;
    uint32_t grid_yz[2], block_yz[2]; /* 0: 1 */
    uint32_t cluster;
    uint64_t args[16];
    struct emu_config config;
    bool in_turn; /* what it gives depends on which warp is first: not with orders */
    bool mixes;   /* atomic and plain accesses of the same bytes: not with dab */
    bool once;    /* only with the best instruction set and groups of 4 */
    /* filled in */
    bool unseen;      /* it ran a form that no test ran yet: tests/support/executed_forms.h */
    char fault[2000]; /* of the last run; "" */
    enum emu_fault_kind kind;
    struct emu_fault where;
    size_t findings; /* of config.checks, and what the first one is */
    enum emu_fault_kind finding_kind;
    uint64_t finding_count;
    uint32_t finding_line;
    char finding[2000];
    struct emu_found { /* the first ones */
        enum emu_fault_kind kind;
        uint32_t line, line2;
        uint64_t count;
    } found[16];
    char printed[4096];
    uint64_t warp_instructions, thread_instructions; /* with config.count */
    char counts[1 << 18]; /* with config.count: as JSON. All runs must count the same */
    struct emu_buffer buffers[16];
    unsigned buffer_count;
};

/* A number of the launch's first phase, 0 if it is not there:
 * emu_counted(&r, "memory.global.load.sectors"). */
uint64_t emu_counted(const struct emu_run *r, const char *name);

uint64_t emu_in(struct emu_run *r, const void *data, size_t size);
uint64_t emu_out(struct emu_run *r, void *data, size_t size); /* starts as zeros */
uint64_t emu_inout(struct emu_run *r, void *data, size_t size);

/* Whether all runs ended without a fault and agree. */
bool emu_run(struct emu_run *r);

/* The text of a module for sm_90 with one kernel `k` of the given parameters and body. Not to be freed;
 * good until the fourth next call. */
const char *emu_ptx(const char *params, const char *body);

#endif
