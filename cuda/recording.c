#define _GNU_SOURCE
#include "cuda/recording.h"

#include "cuda/driver.h"

#include "base/replace.h"
#include "determinism/record/record.h"
#include "session/event_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct replacement record; /* out NULL: nothing is recorded */
    FILE *replay;
    struct recorder *recorder;
    struct player *player;
} state;

bool driver_record_to(const char *path)
{
    if (state.record.out || replacement_open(&state.record, path)) return true;
    (void)replacement_close(&state.record, false);
    return false;
}

bool driver_replay_from(const char *path)
{
    char *why = NULL;
    state.replay = fopen(path, "rb");
    state.player = state.replay ? player_new(state.replay, &why) : NULL;
    if (!state.replay) driver_say("heddle: cannot read '%s': %s\n", path, strerror(errno));
    if (why) driver_say("heddle: %s: %s\n", path, why);
    free(why);
    return state.player;
}

const struct emu_order *driver_recorded_order(const struct emu_order *order, const char *name)
{
    if (state.player) return player_order(state.player);
    if (!state.record.out || !order) return order;
    if (!state.recorder) state.recorder = recorder_new(order, name, state.record.out);
    return recorder_order(state.recorder);
}

void driver_end_recording(void)
{
    struct event_totals *const t = event_stream_totals(driver.reports.events);
    if (state.record.out) {
        const bool ok = state.recorder && recorder_end(state.recorder);
        if (replacement_close(&state.record, ok)) return;
        t->bad_output++;
        driver_say("heddle: the recording could not be written\n");
        return;
    }
    const char *why = state.player ? player_end(state.player) : NULL;
    if (!why) return;
    t->bad_recording++;
    driver_say("heddle: %s\n", why);
}

void driver_recording_of_parent(void)
{
    if (state.record.out) __fpurge(state.record.out);
    if (state.replay)
        __fpurge(
            state.replay); /* exit() moves the place where both read back by what is buffered */
}
