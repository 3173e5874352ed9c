#include "cli/gpu_file.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/yaml.h"
#include "model/config.h"
#include "model/gpgpusim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct gpu_reader {
    struct diags *diags;
    struct emu_gpu *gpu;
    struct piece at[CONFIG_KEYS]; /* text NULL: not seen */
};

static bool is(struct piece p, const char *word)
{
    return p.length == strlen(word) && memcmp(p.text, word, p.length) == 0;
}

static void unknown(struct gpu_reader *r, const char *section, struct piece key)
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

static void take_value(struct gpu_reader *r, const char *section, const struct yaml *v)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)(v->key.length < 31 ? v->key.length : 31),
             v->key.text);
    int key = config_find(section, name);
    if (key < 0) {
        unknown(r, section, v->key);
        return;
    }
    r->at[key] = v->text;
    if (v->kind != YAML_SCALAR) {
        diag_error(r->diags, v->text.at, v->text.length, "%s.%s is one value", section, name);
        return;
    }
    const char *why = config_read(r->gpu, key, v->text.text, v->text.length);
    if (why) diag_error(r->diags, v->text.at, v->text.length, "%s", why);
}

static const char *section_named(struct piece key)
{
    for (int k = 0; k < CONFIG_KEYS; k++)
        if (is(key, config_keys[k].section)) return config_keys[k].section;
    return NULL;
}

static void take_section(struct gpu_reader *r, const struct yaml *v)
{
    const char *section = section_named(v->key);
    const char **text = is(v->key, "name")    ? &r->gpu->name
                        : is(v->key, "title") ? &r->gpu->title
                                              : NULL;
    if (text && v->kind == YAML_SCALAR && v->text.length)
        *text = arena_copy(r->diags->arena, v->text.text, v->text.length);
    else if (text) diag_error(r->diags, v->key.at, v->key.length, "it is a word");
    else if (!section) unknown(r, NULL, v->key);
    else if (v->kind != YAML_MAP)
        diag_error(r->diags, v->key.at, v->key.length, "%s has keys", section);
    else
        for (const struct yaml *w = v->first; w; w = w->next) take_value(r, section, w);
}

static void complain(void *self, int key, const char *why)
{
    struct gpu_reader *r = self;
    diag_error(r->diags, r->at[key].at, r->at[key].length, "%s.%s: %s", config_keys[key].section,
               config_keys[key].key, why);
}

static void check_complete(struct gpu_reader *r, const struct yaml *root)
{
    if (!r->gpu->name) diag_error(r->diags, root->text.at, 0, "there is no name");
    if (!r->gpu->title) r->gpu->title = r->gpu->name;
    for (int k = 0; k < CONFIG_KEYS; k++)
        if (!r->at[k].text)
            diag_error(r->diags, root->text.at, 0, "there is no %s.%s (%s)", config_keys[k].section,
                       config_keys[k].key, config_keys[k].text);
}

bool gpu_file_read(struct diags *d, struct emu_gpu *g)
{
    struct gpu_reader r = {.diags = d, .gpu = g};
    const struct yaml *root = yaml_read(d);
    *g = (struct emu_gpu){0};
    if (!root) return false;
    if (root->kind != YAML_MAP) diag_error(d, root->text.at, 0, "a GPU is sections with keys");
    else
        for (const struct yaml *v = root->first; v; v = v->next) take_section(&r, v);
    if (!d->errors) check_complete(&r, root);
    if (!d->errors) config_check(g, complain, &r);
    return !d->errors;
}

static const struct source *load(const char *command, const char *path, struct arena *a)
{
    enum { MOST = 1 << 20 };
    FILE *f = fopen(path, "rb");
    char *text = arena_alloc(a, MOST + 1);
    const size_t n = f ? fread(text, 1, MOST + 1, f) : 0;
    const bool fine = f && !ferror(f) && n <= MOST;
    if (!fine)
        fprintf(stderr, "heddle %s: cannot read '%s': %s\n", command, path,
                f && !ferror(f) ? "larger than 1 MB" : strerror(errno));
    if (f) fclose(f);
    if (!fine) return NULL;
    struct source *s = arena_array(a, struct source, 1);
    *s = (struct source){path, text, (uint32_t)n};
    return s;
}

static bool ends(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static const struct emu_gpu *gpu_of_file(const char *command, const char *path, struct arena *a,
                                         int *status)
{
    const struct source *source = load(command, path, a);
    if (!source) {
        *status = EXIT_USAGE;
        return NULL;
    }
    struct diags d = {.arena = a, .source = source, .max_errors = 50};
    struct emu_gpu *g = arena_array(a, struct emu_gpu, 1);
    const bool ok = ends(path, ".config") ? gpgpusim_read(&d, g) : gpu_file_read(&d, g);
    struct buf out = {0};
    diags_render(&d, &out);
    if (out.data) fputs(out.data, stderr);
    buf_free(&out);
    if (!ok) *status = EXIT_INPUT;
    return ok ? g : NULL;
}

const struct emu_gpu *gpu_named(const char *command, const char *name, struct arena *a, int *status)
{
    if (strpbrk(name, "./")) return gpu_of_file(command, name, a, status);
    const struct emu_gpu *g = emu_gpu_find(name);
    if (g) return g;
    struct text_nearest near = {.text = name, .length = strlen(name)};
    for (size_t i = 0; i < emu_gpu_count(); i++) text_nearest_try(&near, emu_gpu_at(i)->name);
    *status = usage_error(command, "there is no GPU '%s'%s%s%s", name,
                          near.best ? "; did you mean '" : "", near.best ? near.best : "",
                          near.best ? "'?" : " ('heddle gpus' lists them)");
    return NULL;
}
