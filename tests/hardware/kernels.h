/* tests/hardware/kernels.h: kernels that carry out one instruction on operands from memory, for the comparison with a GPU.
 *
 *     hardware_kernels(see, self);        // calls see(self, &k) for each opcode of each form
 *
 * A kernel has three parameters: `in`, where each thread has one slot of eight bytes for each source, `out`, where it has
 * one for each result, and `mem`, where it has 32 bytes on which instructions of memory work. The bytes that such an
 * instruction leaves there are its last four results. */
#ifndef HEDDLE_TESTS_HARDWARE_KERNELS_H
#define HEDDLE_TESTS_HARDWARE_KERNELS_H

#include "base/buf.h"
#include "ptx/isa.h"

#include <stdbool.h>
#include <stdint.h>

enum { HARDWARE_SLOTS = 256, HARDWARE_BLOCK = 128 };

/* What a slot holds: a type, and whether it is a piece of a matrix. */
struct hardware_slot {
    uint8_t type; /* enum ptx_type */
    bool piece, meta;
};
struct hardware_kernel {
    const struct ptx_op *op;
    unsigned variant;  /* which constants and selectors it has */
    const char *body;  /* of the kernel, behind the declarations of its parameters */
    const char *shown; /* the instruction, with the constants and selectors */
    unsigned sources, results;
    struct hardware_slot source[HARDWARE_SLOTS], result[HARDWARE_SLOTS];
    uint8_t memory; /* enum ptx_type of the bytes in `mem`; PTX_NO_TYPE: it uses none */
};
/* Returns how many there are. */
size_t hardware_kernels(void (*see)(void *self, const struct hardware_kernel *k), void *self);

/* Whether it is one of those that are recorded: of families with many like opcodes only some are. */
bool hardware_is_recorded(const struct hardware_kernel *k);

/* The table of forms for hardware_kernel_of(). */
struct arena;
struct ptx_isa *hardware_isa(struct arena *a);
/* One of them, by its form, opcode and variant. false: the instruction table does not have it any more. */
bool hardware_kernel_of(struct ptx_isa *isa, const char *form, const char *opcode, unsigned variant,
                        void (*see)(void *self, const struct hardware_kernel *k), void *self);

#endif
