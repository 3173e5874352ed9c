/* heddle.h: recordings of what an order decides, and their replay. The file is determinism/record/record.h's. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "heddle.h"

#include "base/buf.h"
#include "determinism/orders.h"
#include "determinism/record/record.h"
#include "library/device.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail(struct heddle_device *d, char *why)
{
    device_set_error(d, why);
    return false;
}

static bool cannot(struct heddle_device *d, const char *what, const char *path)
{
    struct buf b = {0};
    buf_printf(&b, "cannot %s '%s': %s", what, path, strerror(errno));
    return fail(d, b.data);
}

bool heddle_device_record(struct heddle_device *d, const char *path)
{
    struct device_recording *r = device_recording(d);
    const struct order_kind *kind = NULL;
    free(orders_check(r->order, &kind));
    if (r->recorder || r->player) return fail(d, strdup("a recording has begun already"));
    if (!kind || !kind->recorded) {
        struct buf b = {0};
        buf_printf(&b, "order '%s' is not recorded: it repeats by itself",
                   kind ? kind->name : "native");
        return fail(d, b.data);
    }
    char name[1024];
    snprintf(name, sizeof name, "%s, seed %" PRIu64, r->order, r->seed);
    r->file = fopen(path, "wb");
    if (!r->file) return cannot(d, "write", path);
    r->recorder = recorder_new(device_order(d), name, r->file);
    device_set_order(d, recorder_order(r->recorder));
    return true;
}

bool heddle_device_replay(struct heddle_device *d, const char *path)
{
    struct device_recording *r = device_recording(d);
    char *why = NULL;
    if (r->recorder || r->player) return fail(d, strdup("a recording has begun already"));
    r->file = fopen(path, "rb");
    if (!r->file) return cannot(d, "read", path);
    r->player = player_new(r->file, &why);
    if (!r->player) {
        (void)fclose(r->file);
        r->file = NULL;
        return fail(d, why);
    }
    device_set_order(d, player_order(r->player));
    return true;
}

bool heddle_device_recording_end(struct heddle_device *d)
{
    struct device_recording *r = device_recording(d);
    bool ok = true;
    if (r->recorder) {
        ok = recorder_end(r->recorder);
        ok &= fclose(r->file) == 0;
        if (!ok) (void)fail(d, strdup("the recording could not be written"));
    } else if (r->player) {
        const char *why = player_wrong(r->player) ? player_wrong(r->player) : player_end(r->player);
        ok = !why;
        if (why) (void)fail(d, strdup(why));
        player_free(r->player);
        (void)fclose(r->file);
    }
    if (r->recorder || r->player) device_set_order(d, NULL);
    r->recorder = NULL;
    r->player = NULL;
    r->file = NULL;
    return ok;
}
