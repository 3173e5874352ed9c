/* cli/recording.h: `heddle run --record FILE` and `--replay FILE`: what an order decided, kept and done again. */
#ifndef HEDDLE_CLI_RECORDING_H
#define HEDDLE_CLI_RECORDING_H

#include "base/replace.h"
#include "cli/run_options.h"

struct emu_order;
struct report;

struct recording {
    struct report *report;
    const char *record, *replay; /* files; NULL: not asked for */
    struct replacement file;
    FILE *in;
    struct orders *orders; /* what is recorded */
    struct recorder *recorder;
    struct player *player;
};

/* The options' --record and --replay. false after errors. */
bool recording_read(struct recording *c, struct run_options *o, struct report *r);
/* Before the first launch, with all settings. false after an error, which is printed. c may be NULL here and below. */
bool recording_begin(struct recording *c, const struct heddle_device_options *device);
/* Of a program, whose process records and replays: sets its environment. false: likewise. */
bool recording_of_program(struct recording *c, const struct heddle_device_options *device);
const struct emu_order *recording_order(const struct recording *c); /* NULL: as ever */
/* All launches are done. c is not NULL. */
void recording_end(struct recording *c);

#endif
