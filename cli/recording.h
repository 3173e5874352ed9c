/* cli/recording.h: `heddle run --record FILE` and `--replay FILE`: records and replays the decisions of an order. */
#ifndef HEDDLE_CLI_RECORDING_H
#define HEDDLE_CLI_RECORDING_H

#include "base/replace.h"
#include "cli/run_options.h"

struct emu_order;
struct report;

struct recording {
    struct report *report;
    const char *record, *replay; /* paths of files; NULL: not asked for */
    struct replacement file;
    FILE *in;
    struct orders *orders; /* the order that is recorded */
    struct recorder *recorder;
    struct player *player;
};

/* Reads the options --record and --replay. false after errors. */
bool recording_read(struct recording *c, struct run_options *o, struct report *r);
/* To be called before the first launch, with all settings. false after a message. c may be NULL here and below. */
bool recording_begin(struct recording *c, const struct heddle_device_options *device);
/* For a program, whose own process records and replays: sets its environment. false after a message. */
bool recording_of_program(struct recording *c, const struct heddle_device_options *device);
const struct emu_order *recording_order(const struct recording *c); /* NULL: the device's order */
/* To be called after all launches. c must not be NULL. */
void recording_end(struct recording *c);

#endif
