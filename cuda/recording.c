#define _GNU_SOURCE
#include "cuda/recording.h"

#include "determinism/record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    char *path, *unfinished; /* of what is recorded; NULL: nothing is */
    FILE *file;
    struct recorder *recorder;
    struct player *player;
} tape;

bool tape_record(const char *path)
{
    char name[4096];
    if (snprintf(name, sizeof name, "%s.new", path) >= (int)sizeof name) return false;
    tape.file = fopen(name, "wb");
    if (!tape.file) return false;
    tape.path = strdup(path);
    tape.unfinished = strdup(name);
    if (!tape.path || !tape.unfinished) abort();
    return true;
}

bool tape_replay(const char *path)
{
    char *why = NULL;
    tape.file = fopen(path, "rb");
    tape.player = tape.file ? player_new(tape.file, &why) : NULL;
    if (why) fprintf(stderr, "heddle: %s: %s\n", path, why);
    free(why);
    return tape.player;
}

const struct emu_order *tape_order(const struct emu_order *order, const char *name)
{
    if (tape.player) return player_order(tape.player);
    if (!tape.path || !order) return order;
    if (!tape.recorder) tape.recorder = recorder_new(order, name, tape.file);
    return recorder_order(tape.recorder);
}

static const char *end_recording(void)
{
    const bool ok = tape.recorder && recorder_end(tape.recorder);
    if (fclose(tape.file) == 0 && ok && rename(tape.unfinished, tape.path) == 0) return NULL;
    (void)remove(tape.unfinished);
    return "the recording could not be written";
}

const char *tape_end(void)
{
    if (tape.path) return end_recording();
    return tape.player ? player_end(tape.player) : NULL;
}
