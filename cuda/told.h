/* cuda/told.h: what the process of a program tells `heddle run` of its launches, in a file that both have open.
 *
 *     told_launch(file, &(struct told){.name = "saxpy", ...});      // the program
 *     told_message(file, "heddle: ...\n");
 *     told_profile(file, profile);                                  // in the end
 *
 *     struct told t;                                                // heddle run
 *     for (size_t at = 0; told_next(bytes, size, &at, &t);) ...
 *
 * Each is written at once, so what was told is there however the program ends. */
#ifndef HEDDLE_CUDA_TOLD_H
#define HEDDLE_CUDA_TOLD_H

#include "emu/emu.h"
#include "emu/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of `heddle run`: the variable of the environment that holds the number of the file's descriptor. */
#define CUDA_TOLD "HEDDLE_TOLD"
/* Likewise: that there is to be a profile. */
#define CUDA_PROFILE "HEDDLE_PROFILE"

enum told_kind {
    TOLD_LAUNCH,
    TOLD_MESSAGE, /* to the user: `text` */
    TOLD_LINE,    /* of a profile: `line_cost` */
};
struct told {
    uint64_t kind; /* enum told_kind */
    struct emu_profile_line line_cost;
    uint32_t grid[3], block[3], cluster[3], shared;
    uint32_t fault, line; /* enum emu_fault_kind, and where */
    uint64_t warp_instructions, thread_instructions, findings, suppressed;
    double seconds;
    uint64_t name_size, text_size; /* bytes of the texts, with a NUL; for told_next */
    const char *name, *text;       /* the kernel's; of the fault */
};
void told_launch(int file, const char *kernel, const struct emu_launch *l,
                 const struct emu_report *r);
void told_message(int file, const char *text);
void told_profile(int file, struct emu_profile *p);

/* The texts are in `bytes`. false: there is none more that is whole. */
bool told_next(const char *bytes, size_t size, size_t *at, struct told *out);

#endif
