/* cuda/event_stream.h: what the process of a program tells `heddle run` of its launches, in a file that both have open.
 *
 *     told_launch(file, &(struct told){.name = "saxpy", ...});      // the program
 *     told_message(file, "heddle: ...\n");
 *     told_profile(file, profile);                                  // in the end
 *
 *     struct told t;                                                // heddle run
 *     for (size_t at = 0; told_next(bytes, size, &at, &t);) ...
 *
 * Each is written at once, so what was told is there however the program ends. */
#ifndef HEDDLE_CUDA_EVENT_STREAM_H
#define HEDDLE_CUDA_EVENT_STREAM_H

#include "determinism/record/writes.h"
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
    TOLD_WRITE,   /* that is watched: `write` */
    TOLD_LEFT,    /* writes that are too many to be told: `findings` */
};
enum { TOLD_WRITES = 1 << 20 }; /* at most */
/* Its texts are in `text`, a line each: label, type, op, function, source_file. */
struct told_write {
    uint64_t address, before, after, launch;
    uint32_t kind, known, cta[3], thread[3], line, source_line;
};
struct told {
    uint64_t kind; /* enum told_kind */
    struct emu_profile_line line_cost;
    struct told_write write;
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
void told_write(int file, const char *label, const char *type, const struct write *e);
void told_left_out(int file, uint64_t writes);
void told_profile(int file, struct emu_profile *p);

/* Of a write: what it was told with, its texts cut out of `t->text` and type by name. */
struct told_texts {
    char *label, *type, *op, *function, *source_file; /* "": none */
};
void told_write_texts(char *text, struct told_texts *out);

/* The texts are in `bytes`. false: there is none more that is whole. */
bool told_next(const char *bytes, size_t size, size_t *at, struct told *out);

#endif
