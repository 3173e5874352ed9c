/* Compiles the files of model/gpus, model/counters and model/timing into a C file, at build time:
 *
 *     compile_gpus model/gpus/NAME.yaml ... model/counters/NAME.yaml ... model/timing/NAME.yaml ... > gpus.c
 *
 * The folder says what a file is. The readers are those of the program itself (model/gpu_file.h,
 * model/counter_fit_file.h, model/timing_file.h), so a file that `heddle gpus FILE` refuses stops the build with the
 * same message. The output defines emu_gpus and emu_gpu_texts (emu/gpu.h), counter_fits
 * (model/counter_fit.h) and timing_fits (model/machine.h), in the order of the arguments. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "model/counter_fit_file.h"
#include "model/gpu_file.h"
#include "model/plain_yaml.h"
#include "model/timing_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GPUS = 256 };

static struct emu_gpu gpus[MOST_GPUS]; /* those read so far */
static size_t gpu_count;

/* The program has these in emu/device/gpu.c, over the table that is made here. A file of timings names its GPU. */
size_t emu_gpu_count(void)
{
    return gpu_count;
}

const struct emu_gpu *emu_gpu_at(size_t i)
{
    return &gpus[i];
}

const struct emu_gpu *emu_gpu_find(const char *name)
{
    for (size_t i = 0; i < gpu_count; i++)
        if (strcmp(gpus[i].name, name) == 0) return &gpus[i];
    return NULL;
}

/* ---- C source -------------------------------------------------------------------------------------------- */

/* So that it reads back as the same number. */
static void put_number(const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) < value || strtod(text, NULL) > value)
        snprintf(text, sizeof text, "%.17g", value);
    printf("     .%s = %s,\n", name, text);
}

static void put_string(const char *text, size_t length)
{
    putchar('"');
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\n') printf("\\n");
        else if (text[i] == '"' || text[i] == '\\') printf("\\%c", text[i]);
        else putchar(text[i]);
    putchar('"');
}

static void put_name(const char *name, const char *text)
{
    printf("     .%s = ", name);
    put_string(text, strlen(text));
    printf(",\n");
}

static void put_text(const struct source *s)
{
    for (const char *line = s->text, *end = s->text + s->length; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line)),
                   *next = newline ? newline + 1 : end;
        printf("     ");
        put_string(line, (size_t)(next - line));
        printf("\n");
        line = next;
    }
    printf("     ,\n");
}

static void put_gpu(const struct emu_gpu *g)
{
    put_name("name", g->name);
    put_name("title", g->title);
#define COUNT(section, key, field, ...) put_number(#field, g->field);
#define RATE COUNT
#define FLAG COUNT
#include "emu/gpu.def"
}

static void put_counter_fit(const struct counter_fit *k)
{
    put_name("gpu", k->gpu);
#define WEIGHT(id, ...) put_number("weight[WEIGHT_" #id "]", k->weight[WEIGHT_##id]);
#include "model/counter_weights.def"
#define FEATURE(id, ...)                                                                           \
    put_number("least[COUNTER_FEATURE_" #id "]", k->least[COUNTER_FEATURE_##id]);                  \
    put_number("most[COUNTER_FEATURE_" #id "]", k->most[COUNTER_FEATURE_##id]);
#include "model/counter_features.def"
#define FIGURE(field) put_number(#field, k->field)
    FIGURE(mean), FIGURE(median), FIGURE(p90), FIGURE(worst), FIGURE(by_application);
    FIGURE(pearson), FIGURE(rank), FIGURE(low), FIGURE(high);
}

static void put_fit(const struct timing_fit *k)
{
    const struct timing_machine *m = &k->machine;
    put_name("gpu", k->gpu);
    if (k->measured) put_name("measured", k->measured);
    FIGURE(mean), FIGURE(median), FIGURE(p90), FIGURE(worst), FIGURE(by_program), FIGURE(rank);
    FIGURE(alone_low), FIGURE(alone_high);
#define REGIME(id, text)                                                                           \
    put_number("low[REGIME_" #id "]", k->low[REGIME_##id]);                                        \
    put_number("high[REGIME_" #id "]", k->high[REGIME_##id]);
#include "model/regimes.def"
#define FEATURE(id, ...)                                                                           \
    put_number("least[TIMING_FEATURE_" #id "]", k->least[TIMING_FEATURE_##id]);                    \
    put_number("most[TIMING_FEATURE_" #id "]", k->most[TIMING_FEATURE_##id]);
#include "model/timing_features.def"
#define MACHINE(field) put_number("machine." #field, m->field);
#define RATE(name, field, ...) MACHINE(field)
#define COUNT(name, field, ...) MACHINE(field)
#define FLAG(name, field, ...) MACHINE(field)
#include "model/timing_numbers.def"
#define COST(id, ...) MACHINE(latency[PTX_COST_##id]) MACHINE(interval[PTX_COST_##id])
#include "ptx/costs.def"
#define UNIT(id) MACHINE(units[TIMING_UNIT_##id])
    UNIT(INT) UNIT(FP32) UNIT(FP64) UNIT(SFU) UNIT(TENSOR) UNIT(MEMORY)
}

/* ---- files ------------------------------------------------------------------------------------------------ */

static bool is_in(const char *path, const char *folder)
{
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* NULL after a message. */
static const struct source *load(const char *path, struct arena *a)
{
    struct buf why = {0};
    const struct source *s = plain_yaml_load(path, a, &why);
    if (!s) fputs(why.data, stderr);
    buf_free(&why);
    return s;
}

static bool is_fine(struct diags *d)
{
    struct buf said = {0};
    diags_render(d, &said);
    if (said.data) fputs(said.data, stderr);
    buf_free(&said);
    return !d->errors && !d->warnings;
}

static bool read_gpus(char *const *paths, struct arena *a)
{
    for (; *paths; paths++) {
        if (!is_in(*paths, "model/gpus/")) continue;
        struct diags d = {.arena = a, .source = load(*paths, a)};
        if (!d.source || gpu_count == MOST_GPUS) return false;
        (void)gpu_file_read(&d, &gpus[gpu_count++]);
        if (!is_fine(&d)) return false;
    }
    return true;
}

static bool put_all_counter_fits(char *const *paths, struct arena *a)
{
    for (; *paths; paths++) {
        if (!is_in(*paths, "model/counters/")) continue;
        struct diags d = {.arena = a, .source = load(*paths, a)};
        struct counter_fit k;
        if (!d.source) return false;
        (void)counter_fit_file_read(&d, &k);
        if (!is_fine(&d)) return false;
        printf("    {\n"), put_counter_fit(&k), printf("    },\n");
    }
    return true;
}

static bool put_all_fits(char *const *paths, struct arena *a)
{
    for (; *paths; paths++) {
        if (!is_in(*paths, "model/timing/")) continue;
        struct diags d = {.arena = a, .source = load(*paths, a)};
        struct timing_fit fit;
        if (!d.source) return false;
        (void)timing_file_read(&d, NULL, &fit);
        if (!is_fine(&d)) return false;
        printf("    {\n"), put_fit(&fit), printf("    },\n");
    }
    return true;
}

static bool put_all_gpus(char *const *paths, struct arena *a)
{
    printf("const struct emu_gpu emu_gpus[] = {\n");
    for (size_t i = 0; i < gpu_count; i++) printf("    {\n"), put_gpu(&gpus[i]), printf("    },\n");
    printf("};\nconst size_t emu_gpu_total = %zu;\nconst char *const emu_gpu_texts[] = {\n",
           gpu_count);
    for (; *paths; paths++) {
        if (!is_in(*paths, "model/gpus/")) continue;
        const struct source *s = load(*paths, a);
        if (!s) return false;
        put_text(s);
    }
    printf("};\n");
    return true;
}

int main(int argc, char **argv)
{
    struct arena *a = arena_new();
    (void)argc;
    bool ok = read_gpus(argv + 1, a);
    printf("#include \"emu/gpu.h\"\n#include \"model/counter_fit.h\"\n"
           "#include \"model/machine.h\"\n");
    ok = ok && put_all_gpus(argv + 1, a);
    printf("const struct counter_fit counter_fits[] = {\n");
    ok = ok && put_all_counter_fits(argv + 1, a);
    printf("};\nconst size_t counter_fit_count = sizeof counter_fits / "
           "sizeof *counter_fits;\n");
    printf("const struct timing_fit timing_fits[] = {\n");
    ok = ok && put_all_fits(argv + 1, a);
    printf("};\nconst size_t timing_fit_count = sizeof timing_fits / sizeof *timing_fits;\n");
    arena_free(a);
    return ok && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
