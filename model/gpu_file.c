/* Reads GPU configurations from YAML files (model/gpu_file.h). */
#include "model/gpu_file.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/text.h"
#include "model/config.h"
#include "model/gpgpusim.h"
#include "model/plain_yaml.h"

#include <stdio.h>
#include <string.h>

struct gpu_reader {
    struct diags *diags;
    struct emu_gpu *gpu;
    struct yaml_piece at[CONFIG_KEYS]; /* their values; text NULL: not seen */
    const char *section, *seen[32];    /* NULL: none, or an unknown one */
    size_t seen_count;
    uint32_t indent; /* of the section's keys; 0: not known yet */
    bool inside;     /* lines that are indented belong to a section */
};

static bool is(struct yaml_piece p, const char *word)
{
    return p.length == strlen(word) && memcmp(p.text, word, p.length) == 0;
}

static void error(struct gpu_reader *r, struct yaml_piece p, const char *text)
{
    diag_error(r->diags, p.at, p.length, "%s", text);
}

static void unknown(struct gpu_reader *r, const char *section, struct yaml_piece key)
{
    struct text_nearest near = {.text = key.text, .length = key.length};
    for (int k = 0; k < CONFIG_KEYS; k++)
        if (!section) text_nearest_try(&near, config_keys[k].section);
        else if (strcmp(config_keys[k].section, section) == 0)
            text_nearest_try(&near, config_keys[k].key);
    diag_error(r->diags, key.at, key.length, "a GPU has no '%.*s'%s%s", (int)key.length, key.text,
               section ? " in " : "", section ? section : "");
    if (near.best) diag_note(r->diags, key.at, key.length, "did you mean '%s'?", near.best);
}

static void twice(struct gpu_reader *r, struct yaml_piece key)
{
    diag_error(r->diags, key.at, key.length, "'%.*s' is here twice", (int)key.length, key.text);
}

static void take_value(struct gpu_reader *r, struct yaml_piece key, struct yaml_piece value)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(key.length < 31 ? key.length : 31), key.text);
    const int k = config_find(r->section, name);
    if (k < 0) {
        unknown(r, r->section, key);
        return;
    }
    if (r->at[k].text) twice(r, key);
    r->at[k] = value;
    const char *why = config_read(r->gpu, k, value.text, value.length);
    if (why) error(r, value, why);
}

static void take_section(struct gpu_reader *r, struct yaml_piece key)
{
    r->section = NULL;
    r->indent = 0;
    r->inside = true;
    for (int k = 0; k < CONFIG_KEYS && !r->section; k++)
        if (is(key, config_keys[k].section)) r->section = config_keys[k].section;
    if (!r->section) {
        unknown(r, NULL, key);
        return;
    }
    for (size_t i = 0; i < r->seen_count; i++)
        if (strcmp(r->seen[i], r->section) == 0) {
            twice(r, key);
            return;
        }
    if (r->seen_count < sizeof r->seen / sizeof *r->seen) r->seen[r->seen_count++] = r->section;
}

/* name and title, and sections. */
static void take_outer(struct gpu_reader *r, struct yaml_piece key, struct yaml_piece value)
{
    const char **text = is(key, "name") ? &r->gpu->name : is(key, "title") ? &r->gpu->title : NULL;
    r->inside = false;
    if (!text && !value.length) {
        take_section(r, key);
        return;
    }
    if (!text) {
        for (int k = 0; k < CONFIG_KEYS; k++)
            if (is(key, config_keys[k].section)) {
                diag_error(r->diags, value.at, value.length, "%s has keys, on lines of their own",
                           config_keys[k].section);
                return;
            }
        unknown(r, NULL, key);
    } else if (*text) twice(r, key);
    else if (!value.length) error(r, key, "it is a word");
    else if (text == &r->gpu->name && config_name(value.text, value.length) < value.length)
        error(r, value, "a name has letters, digits, '-', '_' and '.'");
    else *text = arena_copy(r->diags->arena, value.text, value.length);
}

static void take_line(struct gpu_reader *r, const struct yaml_line *l)
{
    if (!l->indent) take_outer(r, l->key, l->value);
    else if (!r->inside) error(r, l->key, "this is indented, and in no section");
    else if (r->indent && l->indent != r->indent)
        error(r, l->key, "the keys of a section are indented alike");
    else {
        r->indent = l->indent;
        if (r->section) take_value(r, l->key, l->value);
    }
}

static void complain(void *self, int key, const char *why)
{
    struct gpu_reader *r = self;
    diag_error(r->diags, r->at[key].at, r->at[key].length, "%s.%s: %s", config_keys[key].section,
               config_keys[key].key, why);
}

static void check_complete(struct gpu_reader *r)
{
    if (!r->gpu->name) diag_error(r->diags, 0, 0, "there is no name");
    if (!r->gpu->title) r->gpu->title = r->gpu->name;
    for (int k = 0; k < CONFIG_KEYS; k++)
        if (!r->at[k].text && !config_keys[k].optional)
            diag_error(r->diags, 0, 0, "there is no %s.%s (%s)", config_keys[k].section,
                       config_keys[k].key, config_keys[k].text);
}

bool gpu_file_read(struct diags *d, struct emu_gpu *g)
{
    struct gpu_reader r = {.diags = d, .gpu = g};
    struct yaml_line line;
    *g = (struct emu_gpu){0};
    for (uint32_t at = 0; plain_yaml_next(d, &at, &line);) take_line(&r, &line);
    if (!d->errors) check_complete(&r);
    if (!d->errors) config_check(g, complain, &r);
    if (!d->errors && g->boost_mhz < g->core_mhz)
        diag_warning(d, r.at[CONFIG_boost_mhz].at, r.at[CONFIG_boost_mhz].length,
                     "clock.boost: less than clock.core: the GPU does not run that fast");
    return !d->errors;
}

/* ---- files and names --------------------------------------------------------------------------------------- */

static bool ends(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static const struct emu_gpu *of_file(const char *path, struct arena *a, struct buf *why)
{
    const struct source *source = plain_yaml_load(path, a, why);
    if (!source) return NULL;
    struct diags d = {.arena = a, .source = source, .max_errors = 50};
    struct emu_gpu *g = arena_array(a, struct emu_gpu, 1);
    const bool ok = ends(path, ".config") ? gpgpusim_read(&d, g) : gpu_file_read(&d, g);
    diags_render(&d, why);
    return ok ? g : NULL;
}

bool gpu_is_file(const char *name)
{
    return strpbrk(name, "./") != NULL;
}

const struct emu_gpu *gpu_find(const char *name, struct arena *a, struct buf *why)
{
    const struct emu_gpu *g = emu_gpu_find(name);
    if (!name || g) return g;
    if (gpu_is_file(name)) return of_file(name, a, why);
    struct text_nearest near = {.text = name, .length = strlen(name)};
    buf_printf(why, "there is no GPU '%s'", name);
    for (size_t i = 0; i < emu_gpu_count(); i++) text_nearest_try(&near, emu_gpu_at(i)->name);
    if (near.best) buf_printf(why, "; did you mean '%s'?", near.best);
    else
        for (size_t i = 0; i < emu_gpu_count(); i++)
            buf_printf(why, "%s%s", i ? ", " : "; there are ", emu_gpu_at(i)->name);
    buf_puts(why, " (a file's name has a '.' or a '/')\n");
    return NULL;
}
