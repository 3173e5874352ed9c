#include "tests/support/broken.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "determinism/orders.h"
#include "emu/emu.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 65536, SMS = 4 };

const struct broken broken_programs[] = {
#define BROKEN(kernel, grid, block, right, bug) {#kernel, grid, block, right, bug},
#include "tests/broken/broken.def"
#undef BROKEN
};
const size_t broken_count = sizeof broken_programs / sizeof *broken_programs;

struct broken_bench {
    struct arena *arena;
    struct source source;
    struct diags diags;
    struct ptx_module *module;
    struct emu *emu;
    struct emu_image *image;
    struct buf text;
    uint64_t at;
};

struct broken_bench *broken_bench_new(void)
{
    struct broken_bench *b = calloc(1, sizeof *b);
    char *why = NULL;
    if (!b) abort();
    if (!buf_add_file(&b->text, "tests/broken/broken.ptx", 1 << 20)) {
        perror("tests/broken/broken.ptx");
        abort();
    }
    b->arena = arena_new();
    b->source = (struct source){"broken.ptx", b->text.data, (uint32_t)b->text.size};
    b->diags = (struct diags){.arena = b->arena, .source = &b->source};
    b->module = ptx_module_parse(b->arena, &b->source, &b->diags);
    b->emu = emu_new(
        &(struct emu_config){.max_instructions = 1000000, .sms = SMS, .memory = 1 << 20});
    b->image = ptx_module_check(b->module) ? emu_load(b->emu, &b->module, 1, &why) : NULL;
    b->at = emu_alloc(b->emu, BYTES, "m");
    if (!b->image || !b->at) {
        fprintf(stderr, "tests/broken/broken.ptx: %s\n", why ? why : "wrong");
        abort();
    }
    return b;
}

void broken_bench_free(struct broken_bench *b)
{
    emu_unload(b->image);
    emu_free(b->emu);
    ptx_module_end(b->module);
    arena_free(b->arena);
    buf_free(&b->text);
    free(b);
}

bool broken_run(struct broken_bench *b, size_t i, const char *order, uint64_t seed,
                uint32_t *result)
{
    static const uint8_t zeros[BYTES];
    const struct broken *p = &broken_programs[i];
    char *why = NULL;
    struct orders *o = order ? orders_new(order, seed, &why) : NULL;
    if (why) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    emu_copy_in(b->emu, b->at, zeros, BYTES);
    const struct emu_launch l = {.grid = {p->grid, 1, 1},
                                 .block = {p->block, 1, 1},
                                 .params = &b->at,
                                 .params_size = 8,
                                 .order = o ? orders_get(o) : NULL};
    const struct emu_report *report = emu_launch(b->emu, emu_kernel_find(b->image, p->kernel), &l);
    emu_copy_out(b->emu, result, b->at, sizeof *result);
    const bool fine = report->fault.kind == EMU_OK;
    orders_free(o);
    return fine;
}

static bool is_wrong(struct broken_bench *b, size_t i, const char *order, uint64_t seed)
{
    uint32_t result = 0;
    return !broken_run(b, i, order, seed, &result) || result != broken_programs[i].right;
}

uint64_t broken_first_wrong(struct broken_bench *b, size_t i, const char *order, uint64_t seeds)
{
    for (uint64_t seed = 1; seed <= seeds; seed++)
        if (is_wrong(b, i, order, seed)) return seed;
    return 0;
}

uint64_t broken_count_wrong(struct broken_bench *b, size_t i, const char *order, uint64_t seeds)
{
    uint64_t wrong = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) wrong += is_wrong(b, i, order, seed);
    return wrong;
}

static uint64_t wrong_of(const char *field, uint64_t launches)
{
    return strcmp(field, "hangs") == 0 ? launches : strtoull(field, NULL, 10);
}

bool broken_read_measured(const char *path, struct broken_measured *out)
{
    char line[256], kernel[64], alone[32], beside[32];
    unsigned long launches = 0;
    size_t count = 0;
    FILE *f = fopen(path, "r");
    if (!f) return perror(path), false;
    bool fine = broken_count <= BROKEN_MOST;
    while (fine && fgets(line, sizeof line, f)) {
        if (sscanf(line, "# %lu launches", &launches) == 1) out->launches = launches;
        if (*line == '#' || strncmp(line, "program\t", 8) == 0) continue;
        fine = out->launches && count < broken_count &&
               sscanf(line, "%63s %31s %31s", kernel, alone, beside) == 3 &&
               strcmp(kernel, broken_programs[count].kernel) == 0;
        if (!fine) break;
        out->alone[count] = wrong_of(alone, out->launches);
        out->beside[count++] = wrong_of(beside, out->launches);
    }
    fclose(f);
    fine = fine && count == broken_count;
    if (!fine) fprintf(stderr, "%s: not of the programs of tests/broken/broken.def\n", path);
    return fine;
}
