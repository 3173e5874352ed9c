/* tests/hardware/bits.h: what the kernels of kernels.h give on a device, as hashes.
 *
 *     struct hardware_bits *b = hardware_bits_new(&driver, done, self);
 *     hardware_bits_add(b, &kernel);                 // each; its results go to done() later
 *     hardware_bits_end(b);                          // the rest; frees b
 *
 * Of the threads that a kernel has on a GPU (input_count()) two groups of 128 are carried out. Which ones follows from the
 * instruction. */
#ifndef HEDDLE_TESTS_HARDWARE_BITS_H
#define HEDDLE_TESTS_HARDWARE_BITS_H

#include "cuda/cuda_types.h"
#include "tests/hardware/inputs.h"
#include "tests/hardware/kernels.h"

enum { HARDWARE_GROUPS = 2 };

/* The driver's functions: of the library that stands for the device. */
struct hardware_driver {
    CUresult (*module_load)(CUmodule *, const void *);
    CUresult (*module_unload)(CUmodule);
    CUresult (*function)(CUfunction *, CUmodule, const char *);
    CUresult (*alloc)(CUdeviceptr *, size_t);
    CUresult (*free)(CUdeviceptr);
    CUresult (*to_device)(CUdeviceptr, const void *, size_t);
    CUresult (*to_host)(void *, CUdeviceptr, size_t);
    CUresult (*fill)(CUdeviceptr, unsigned char, size_t);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, CUstream, void **, void **);
    CUresult (*synchronise)(void);
};

/* What a kernel gave. */
struct hardware_result {
    const char *form, *opcode; /* opcode: without operands */
    unsigned variant;
    CUresult error;
    uint32_t hash[HARDWARE_GROUPS]; /* of each group, if there is no error */
    const struct input_case *inputs;
    const uint64_t *in,
        *out; /* operands and results of both groups, each in slots of eight bytes */
    unsigned group[HARDWARE_GROUPS];
};

struct hardware_bits;
struct hardware_bits *hardware_bits_new(const struct hardware_driver *d,
                                        void (*done)(void *self, const struct hardware_result *r),
                                        void *self);
void hardware_bits_add(struct hardware_bits *b, const struct hardware_kernel *k);
void hardware_bits_end(struct hardware_bits *b);

/* The groups of threads that are carried out of `count` threads of an instruction. */
void hardware_groups(const char *form, const char *opcode, unsigned variant, unsigned count,
                     unsigned group[HARDWARE_GROUPS]);
uint32_t hardware_hash(const uint64_t *p, size_t n);

#endif
