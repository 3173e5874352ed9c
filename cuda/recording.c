#define _GNU_SOURCE
#include "cuda/recording.h"

#include "cuda/driver.h"

#include "determinism/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    char *path, *unfinished; /* of what is recorded; NULL: nothing is */
    FILE *file;
    struct recorder *recorder;
    struct player *player;
} state;

bool driver_record_to(const char *path)
{
    char name[4096];
    if (snprintf(name, sizeof name, "%s.new", path) >= (int)sizeof name) return false;
    state.file = fopen(name, "wb");
    if (!state.file) return false;
    state.path = strdup(path);
    state.unfinished = strdup(name);
    if (!state.path || !state.unfinished) abort();
    return true;
}

bool driver_replay_from(const char *path)
{
    char *why = NULL;
    state.file = fopen(path, "rb");
    state.player = state.file ? player_new(state.file, &why) : NULL;
    if (!state.file) driver_say("heddle: cannot read '%s': %s\n", path, strerror(errno));
    if (why) driver_say("heddle: %s: %s\n", path, why);
    free(why);
    return state.player;
}

const struct emu_order *driver_recorded_order(const struct emu_order *order, const char *name)
{
    if (state.player) return player_order(state.player);
    if (!state.path || !order) return order;
    if (!state.recorder) state.recorder = recorder_new(order, name, state.file);
    return recorder_order(state.recorder);
}

static const char *end_recording(void)
{
    const bool ok = state.recorder && recorder_end(state.recorder);
    if (fclose(state.file) == 0 && ok && rename(state.unfinished, state.path) == 0) return NULL;
    (void)remove(state.unfinished);
    return "the recording could not be written";
}

const char *driver_end_recording(void)
{
    if (state.path) return end_recording();
    return state.player ? player_end(state.player) : NULL;
}
