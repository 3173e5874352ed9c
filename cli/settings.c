/* Reads the settings among the options of `heddle run` and `heddle check`, and dimensions. */
#include "cli/run_options.h"

#include "emu/emu.h"

#include <string.h>

bool dimensions_read(struct diags *d, struct piece text, uint32_t out[3])
{
    const struct value_type *u32 = value_type_find("u32", 3);
    out[0] = out[1] = out[2] = 1;
    const char *p = text.text, *end = text.text + text.length;
    for (int i = 0; i < 3; i++) {
        const char *stop = p;
        uint64_t n;
        while (stop < end && *stop != ',' && *stop != 'x') stop++;
        if (*p == '-' || !value_read(u32, p, (size_t)(stop - p), &n)) break;
        out[i] = (uint32_t)n;
        if (stop == end) return true;
        p = stop + 1;
    }
    diag_error(d, text.at, text.length, "a size is X, X,Y or X,Y,Z, not '%.*s'", (int)text.length,
               text.text);
    return false;
}

bool run_options_settings(struct run_options *o, struct settings *out)
{
    bool ok = true;
    for (size_t i = 0; i < o->count; i++) {
        const struct run_option *x = &o->list[i];
        if (x->id == OPTION_SETTING)
            ok &= setting_read(setting_find(x->name.text, x->name.length), &o->diags, x->value,
                               out);
    }
    return ok;
}

void settings_to_device(const struct settings *s, struct heddle_device_options *out)
{
    out->threads = s->threads;
    out->independent_threads = s->independent_threads;
    out->strict_stack = s->strict_stack;
    out->no_speculation = s->no_speculation;
    out->continue_after_faults = s->continue_after_faults;
    out->check_memory = s->checks & EMU_CHECK_MEMORY;
    out->check_init = s->checks & EMU_CHECK_INIT;
    out->check_bounds = s->checks & EMU_CHECK_BOUNDS;
    out->check_sync = s->checks & EMU_CHECK_SYNC;
    out->check_race = s->checks & EMU_CHECK_RACE;
    out->check_atomicity = s->checks & EMU_CHECK_ATOMICITY;
    out->check_api = s->checks & EMU_CHECK_API;
    out->gpu = s->gpu_name;
    out->order = s->order;
    out->seed = s->seed;
    out->suppress = s->suppress;
    out->max_instructions = s->max_instructions;
    out->timeout = s->timeout;
    out->memory = s->memory;
    out->files = s->files;
    out->files_bytes = s->files_bytes;
}
