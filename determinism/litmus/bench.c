/* Litmus tests: launching them. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "determinism/litmus/litmus.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096, SPACING = 256, RESULTS = 2048, LAST_VALUES = 3072, SMS = 4 };

struct litmus_bench {
    struct litmus test;
    struct arena *arena;
    struct source source;
    struct diags diags;
    struct ptx_module *module;
    struct emu *emu;
    struct emu_image *image;
    uint64_t at;
    uint32_t grid, block;
    const struct emu_observer *observer; /* NULL: none */
    size_t findings;
    char *why;
};

struct litmus_bench *litmus_bench_new(const struct litmus *t, const char **why)
{
    struct litmus_bench *b = calloc(1, sizeof *b);
    if (!b) abort();
    struct buf text = {0};
    litmus_ptx(&text, t);
    b->test = *t;
    b->arena = arena_new();
    b->source = (struct source){"litmus.ptx", arena_printf(b->arena, "%s", text.data),
                                (uint32_t)text.size};
    buf_free(&text);
    b->diags = (struct diags){.arena = b->arena, .source = &b->source};
    b->module = ptx_module_parse(b->arena, &b->source, &b->diags);
    for (uint32_t i = 0, in_cta[LITMUS_THREADS] = {0}; i < t->threads; i++) {
        if (t->cta[i] >= b->grid) b->grid = t->cta[i] + 1;
        if (32 * ++in_cta[t->cta[i]] > b->block) b->block = 32 * in_cta[t->cta[i]];
    }
    *why = "the generated PTX is wrong";
    if (ptx_module_check(b->module)) {
        b->emu = emu_new(
            &(struct emu_config){.max_instructions = 100000, .sms = SMS, .memory = 1 << 20});
        b->image = emu_load(b->emu, &b->module, 1, &b->why);
        b->at = emu_alloc(b->emu, BYTES, "locations");
        if (b->image && b->at) return b;
        *why = "the emulator does not load it";
    }
    litmus_bench_free(b);
    return NULL;
}

void litmus_bench_free(struct litmus_bench *b)
{
    if (!b) return;
    if (b->image) emu_unload(b->image);
    if (b->emu) emu_free(b->emu);
    if (b->module) ptx_module_end(b->module);
    arena_free(b->arena);
    free(b->why);
    free(b);
}

void litmus_bench_observe(struct litmus_bench *b, const struct emu_observer *observer)
{
    b->observer = observer;
}

size_t litmus_bench_findings(const struct litmus_bench *b)
{
    return b->findings;
}

bool litmus_bench_run(struct litmus_bench *b, const struct emu_order *order, uint64_t *outcome,
                      const char **why)
{
    static const uint32_t zeros[BYTES / 4];
    uint32_t words[BYTES / 4];
    const struct litmus *t = &b->test;
    emu_copy_in(b->emu, b->at, zeros, BYTES);
    const struct emu_launch l = {.grid = {b->grid, 1, 1},
                                 .block = {b->block, 1, 1},
                                 .params = &b->at,
                                 .params_size = 8,
                                 .order = order,
                                 .observers = &b->observer,
                                 .observer_count = b->observer ? 1 : 0};
    const struct emu_report *report = emu_launch(b->emu, emu_kernel_at(b->image, 0), &l);
    if (report->fault.kind != EMU_OK) {
        *why = report->fault.text;
        return false;
    }
    b->findings = report->finding_count;
    emu_copy_out(b->emu, words, b->at, BYTES);
    *outcome = 0;
    for (uint32_t i = 0; i < t->reads; i++)
        *outcome |= (uint64_t)(words[RESULTS / 4 + i] & 15) << 4 * i;
    for (uint32_t i = 0; i < t->locations; i++)
        *outcome |= (uint64_t)(words[t->shared ? LAST_VALUES / 4 + i : i * SPACING / 4] & 15)
                    << 4 * (t->reads + i);
    return true;
}
