/* cuda/run_events.h: events of a program's process, which `heddle run` reads from a file that both have open: launches,
 * messages, writes to watched places, lines of the profile.
 *
 *     run_event_launch(file, &(struct run_event){.name = "saxpy", ...});      // the program
 *     run_event_message(file, "heddle: ...\n");
 *     run_event_profile(file, profile);                                  // in the end
 *
 *     struct run_event t;                                                // heddle run
 *     for (size_t at = 0; run_event_next(bytes, size, &at, &t);) ...
 *
 * Each event is written at once, so it is there however the program ends. */
#ifndef HEDDLE_CUDA_RUN_EVENTS_H
#define HEDDLE_CUDA_RUN_EVENTS_H

#include "determinism/record/writes.h"
#include "emu/emu.h"
#include "emu/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of `heddle run`: the variable of the environment that holds the number of the file's descriptor. */
#define CUDA_RUN_EVENTS "HEDDLE_RUN_EVENTS"
/* Likewise: that there is to be a profile. */
#define CUDA_PROFILE "HEDDLE_PROFILE"

enum run_event_kind {
    RUN_EVENT_LAUNCH,
    RUN_EVENT_MESSAGE,         /* to the user: `text` */
    RUN_EVENT_PROFILE_LINE,    /* of a profile: `line_cost` */
    RUN_EVENT_WRITE,           /* to a watched place: `write` */
    RUN_EVENT_WRITES_LEFT_OUT, /* `findings`: the number of writes beyond RUN_EVENT_MOST_WRITES */
};
enum { RUN_EVENT_MOST_WRITES = 1 << 20 }; /* at most */
/* Its texts are in `text`, a line each: label, type, op, function, source_file. */
struct run_event_write {
    uint64_t address, before, after, launch;
    uint32_t kind, known, cta[3], thread[3], line, source_line;
};
struct run_event {
    uint64_t kind; /* enum run_event_kind */
    struct emu_profile_line line_cost;
    struct run_event_write write;
    uint32_t grid[3], block[3], cluster[3], shared;
    uint32_t fault, line; /* enum emu_fault_kind, and where */
    uint64_t warp_instructions, thread_instructions, findings, suppressed;
    double seconds;
    uint64_t name_size, text_size; /* bytes of the texts, with a NUL; for run_event_next */
    const char *name, *text;       /* the kernel's; of the fault */
};
void run_event_launch(int file, const char *kernel, const struct emu_launch *l,
                      const struct emu_report *r);
void run_event_message(int file, const char *text);
void run_event_write(int file, const char *label, const char *type, const struct write *e);
void run_event_writes_left_out(int file, uint64_t writes);
void run_event_profile(int file, struct emu_profile *p);

/* Cuts the text of a RUN_EVENT_WRITE into its parts. */
struct run_event_texts {
    char *label, *type, *op, *function, *source_file; /* "": none */
};
void run_event_write_texts(char *text, struct run_event_texts *out);

/* The texts point into `bytes`. false: no complete event is left. */
bool run_event_next(const char *bytes, size_t size, size_t *at, struct run_event *out);

#endif
