#define _GNU_SOURCE
#include "cli/recording.h"

#include "base/arena.h"
#include "cli/report.h"
#include "determinism/orders.h"
#include "determinism/record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is(struct piece p, const char *word)
{
    return strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

bool recording_read(struct recording *c, struct run_options *o, struct report *r)
{
    const struct run_option *record = run_option_find(o, OPTION_RECORD),
                            *replay = run_option_find(o, OPTION_REPLAY);
    *c = (struct recording){.report = r};
    if (record) c->record = arena_copy(o->arena, record->value.text, record->value.length);
    if (replay) c->replay = arena_copy(o->arena, replay->value.text, replay->value.length);
    for (size_t i = 0; replay && i < o->count; i++) {
        const struct piece name = o->list[i].name;
        if (is(name, "record") || is(name, "order") || is(name, "seed"))
            diag_error(
                &o->diags, name.at, name.length,
                "--%.*s cannot be used with --replay: the recording contains these decisions",
                (int)name.length, name.text);
    }
    return !o->diags.errors;
}

/* Opens the file, too. */
static bool can_be_recorded(struct recording *c, const struct heddle_device_options *device)
{
    char *why;
    const struct order_kind *kind;
    c->orders = orders_new(device->order, device->seed, &why);
    free(why); /* nothing: the order was looked at when it was read */
    if (!c->orders) {
        report_fail(c->report, EXIT_USAGE,
                    "heddle run: --record needs a random order, but this is native, which is "
                    "the same every time: add --order random\n");
        return false;
    }
    free(orders_check(device->order, &kind));
    if (!kind->recorded) {
        report_fail(c->report, EXIT_USAGE,
                    "heddle run: --record is for the order random; %s repeats a run given the same "
                    "--order and --seed\n",
                    kind->name);
        return false;
    }
    if (!replacement_open(&c->file, c->record)) {
        report_fail(c->report, EXIT_USAGE, "heddle run: cannot write '%s': %s\n", c->record,
                    strerror(errno));
        (void)replacement_close(&c->file, false);
        return false;
    }
    return true;
}

static bool begin_record(struct recording *c, const struct heddle_device_options *device)
{
    if (!can_be_recorded(c, device)) return false;
    char name[1024];
    snprintf(name, sizeof name, "%s, seed %" PRIu64, device->order, device->seed);
    c->recorder = recorder_new(orders_get(c->orders), name, c->file.out);
    return true;
}

static bool begin_replay(struct recording *c)
{
    c->in = fopen(c->replay, "rb");
    if (!c->in) {
        report_fail(c->report, EXIT_USAGE, "heddle run: cannot read '%s': %s\n", c->replay,
                    strerror(errno));
        return false;
    }
    char *why;
    c->player = player_new(c->in, &why);
    if (!c->player) report_fail(c->report, EXIT_INPUT, "heddle run: %s: %s\n", c->replay, why);
    free(why);
    return c->player;
}

bool recording_begin(struct recording *c, const struct heddle_device_options *device)
{
    if (!c) return true;
    if (c->replay) return begin_replay(c);
    return !c->record || begin_record(c, device);
}

/* How streams come between each other is drawn as it was: by the seed, which the recording's name has at its end. */
static void set_order_of(const struct player *p)
{
    static const char between[] = ", seed ";
    char name[1024];
    snprintf(name, sizeof name, "%s", player_name(p));
    char *seed = strstr(name, between);
    if (!seed) return;
    *seed = '\0';
    setenv("HEDDLE_ORDER", name, 1);
    setenv("HEDDLE_SEED", seed + strlen(between), 1);
}

/* The program may go to another folder. */
bool recording_of_program(struct recording *c, const struct heddle_device_options *device)
{
    if (c->replay) {
        if (!begin_replay(c)) return false;
        set_order_of(c->player);
        path_to_environment("HEDDLE_REPLAY", c->replay);
        player_free(c->player);
        c->player = NULL; /* its own process plays it */
    }
    if (c->record) {
        if (!can_be_recorded(c, device)) return false;
        (void)replacement_close(&c->file, false); /* it can be written */
        path_to_environment("HEDDLE_RECORD", c->record);
    }
    return true;
}

const struct emu_order *recording_order(const struct recording *c)
{
    if (c && c->recorder) return recorder_order(c->recorder);
    return c && c->player ? player_order(c->player) : NULL;
}

void recording_end(struct recording *c)
{
    if (c->recorder) {
        const bool ok = recorder_end(c->recorder);
        if (!replacement_close(&c->file, ok))
            report_fail(c->report, EXIT_USAGE, "heddle run: cannot write '%s': %s\n", c->record,
                        strerror(errno));
    }
    if (c->player) {
        const char *wrong = player_wrong(c->player), *why = player_end(c->player);
        if (why && (!wrong || !c->report->fault.kernel)) /* else the launch's fault has said it */
            report_fail(c->report, EXIT_INPUT, "heddle run: %s: %s\n", c->replay, why);
    }
    player_free(c->player);
    orders_free(c->orders);
    if (c->in) (void)fclose(c->in);
}
