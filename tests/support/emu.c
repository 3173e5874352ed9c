/* The harness of tests/support/emu.h. */
#define _GNU_SOURCE
#include "tests/support/emu.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "determinism/checks.h"
#include "determinism/orders.h"
#include "emu/counts.h"
#include "ptx/ptx.h"
#include "tests/support/executed_forms.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 30 }; /* arguments from here on name a buffer until it has an address */
#define BUFFER_TAG UINT64_C(0xb0ffe70000000000)

static uint64_t add(struct emu_run *r, const void *in, void *out, size_t size)
{
    r->buffers[r->buffer_count] = (struct emu_buffer){in, out, size};
    return BUFFER_TAG + r->buffer_count++;
}

uint64_t emu_in(struct emu_run *r, const void *data, size_t size)
{
    return add(r, data, NULL, size);
}
uint64_t emu_out(struct emu_run *r, void *data, size_t size)
{
    return add(r, NULL, data, size);
}
uint64_t emu_inout(struct emu_run *r, void *data, size_t size)
{
    return add(r, data, data, size);
}

struct printed {
    char *text;
    size_t size, cap;
};
static void print(void *self, const char *text, size_t length)
{
    struct printed *p = self;
    if (length > p->cap - 1 - p->size) length = p->cap - 1 - p->size;
    memcpy(p->text + p->size, text, length);
    p->size += length;
    p->text[p->size] = '\0';
}

static uint32_t or1(uint32_t n)
{
    return n ? n : 1;
}

struct way { /* of running it */
    enum emu_isa isa;
    unsigned warps, threads; /* of a group; of the host, 0: as the run says */
    const char *order;       /* determinism/orders.h; NULL: native */
    uint64_t seed;
    const char *name;
};
static const struct way usual = {.isa = EMU_ISA_BEST, .warps = 4};

/* One run; the outputs go to `result`, which holds the buffers one behind the other. */
static bool run_once(struct emu_run *r, const struct way *way, uint8_t *result)
{
    struct arena *a = arena_new();
    struct source source = {"test.ptx", r->ptx, (uint32_t)strlen(r->ptx)};
    struct diags diags = {.arena = a, .source = &source};
    struct ptx_module *m = ptx_module_parse(a, &source, &diags);
    ptx_module_check(m);
    struct printed out = {r->printed, 0, sizeof r->printed};
    r->printed[0] = r->fault[0] = '\0';
    struct emu_config config = r->config;
    config.isa = way->isa;
    char *unknown;
    struct orders *order = way->order ? orders_new(way->order, way->seed, &unknown) : NULL;
    if (way->threads) config.threads = way->threads;
    config.group_warps = config.group_warps ? config.group_warps : way->warps;
    config.print = print;
    config.print_self = &out;
    bool ok = false;
    struct emu *e = NULL;
    struct emu_image *im = NULL;
    struct checks *checks = NULL;
    if (diags.errors) {
        struct buf b = {0};
        diags_render(&diags, &b);
        snprintf(r->fault, sizeof r->fault, "%s", b.data);
        buf_free(&b);
        goto end;
    }
    e = emu_new(&config);
    char *why = NULL;
    im = emu_load(e, &m, 1, &why);
    if (!im) {
        snprintf(r->fault, sizeof r->fault, "%s", why);
        free(why);
        goto end;
    }
    struct emu_kernel *k = r->kernel ? emu_kernel_find(im, r->kernel) : emu_kernel_at(im, 0);
    uint64_t at[16] = {0};
    for (unsigned i = 0; i < r->buffer_count; i++) {
        at[i] = emu_alloc(e, r->buffers[i].size, "buffer");
        if (r->buffers[i].in) emu_copy_in(e, at[i], r->buffers[i].in, r->buffers[i].size);
    }
    uint8_t params[4096] = {0};
    for (size_t i = 0; i < emu_param_count(k) && i < 16; i++) {
        struct emu_param p = emu_param_at(k, i);
        uint64_t v = r->args[i];
        if (v >= BUFFER_TAG && v < BUFFER_TAG + r->buffer_count) v = at[v - BUFFER_TAG];
        memcpy(params + p.offset, &v, p.size < 8 ? p.size : 8);
    }
    struct emu_launch l = {.grid = {or1(r->grid), or1(r->grid_yz[0]), or1(r->grid_yz[1])},
                           .block = {or1(r->block), or1(r->block_yz[0]), or1(r->block_yz[1])},
                           .cluster = {r->cluster, r->cluster ? 1 : 0, r->cluster ? 1 : 0},
                           .shared = r->shared,
                           .params = params,
                           .params_size = emu_params_size(k),
                           .order = orders_get(order)};
    checks = checks_new(config.checks);
    checks_join(checks, &l);
    const struct emu_report *report = emu_launch(e, k, &l);
    r->kind = report->fault.kind;
    r->where = report->fault;
    r->where.text = r->where.source_file = NULL;
    r->findings = report->finding_count;
    r->finding_kind = report->finding_count ? report->findings[0].kind : EMU_OK;
    r->finding[0] = '\0';
    if (r->findings) {
        r->finding_count = report->findings[0].count;
        r->finding_line = report->findings[0].line;
        snprintf(r->finding, sizeof r->finding, "%s", report->findings[0].text);
    }
    for (size_t i = 0; i < r->findings && i < sizeof r->found / sizeof *r->found; i++)
        r->found[i] = (struct emu_found){report->findings[i].kind, report->findings[i].line,
                                         report->findings[i].line2, report->findings[i].count};
    r->warp_instructions = report->warp_instructions;
    r->thread_instructions = report->thread_instructions;
    if (r->kind) snprintf(r->fault, sizeof r->fault, "%s", report->fault.text);
    bool agrees = true;
    r->counts[0] = '\0';
    r->unseen = ran_misses(m);
    if (report->counts) {
        uint64_t warps = 0, threads = 0;
        for (const struct emu_counts *c = report->counts; c; c = c->next)
            for (size_t i = 0; i < c->phase_count; i++) {
                warps += c->phases[i].total.warp_instructions;
                threads += c->phases[i].total.thread_instructions;
            }
        agrees = warps == r->warp_instructions && threads == r->thread_instructions;
        if (!agrees) snprintf(r->fault, sizeof r->fault, "the counts have other instructions");
        if (!r->kind || r->kind == EMU_TRAP) ran_add(m, report->counts);
        struct buf b = {0};
        emu_counts_json(&b, report->counts, 0);
        snprintf(r->counts, sizeof r->counts, "%s", b.data);
        buf_free(&b);
    }
    for (unsigned i = 0; i < r->buffer_count; i++) {
        emu_copy_out(e, result, at[i], r->buffers[i].size);
        result += r->buffers[i].size;
    }
    ok = r->kind == EMU_OK && agrees;
end:
    orders_free(order);
    emu_unload(im);
    emu_free(e);
    checks_free(checks);
    ptx_module_end(m);
    arena_free(a);
    return ok;
}

/* Once more with counts, so that what it executes is known. */
static bool run_counted(struct emu_run *r, uint8_t *result, bool ok)
{
    struct emu_run *counted = malloc(sizeof *counted);
    *counted = *r;
    counted->config.count = true;
    bool same = run_once(counted, &usual, result) == ok;
    if (!same)
        snprintf(r->fault, sizeof r->fault, "with counts it %s: %.1000s",
                 ok ? "does not end well" : "ends well", counted->fault);
    free(counted);
    return same;
}

/* Not every order runs every kernel, nor gives all of them the same bytes. */
static bool is_for(const struct way *way, const struct emu_run *r)
{
    if (!way->order) return true;
    const struct order_kind *kind;
    free(orders_check(way->order, &kind));
    if (r->mixes && strcmp(kind->name, "dab") == 0) return false;
    return !r->in_turn && !(kind->stack_only && r->config.divergence == EMU_ITS);
}

bool emu_run(struct emu_run *r)
{
    size_t size = 1;
    for (unsigned i = 0; i < r->buffer_count; i++) size += r->buffers[i].size;
    uint8_t *first = calloc(1, size), *other = calloc(1, size);
    bool ok = run_once(r, &usual, first);
    char *counts = strdup(r->counts);
    if (r->unseen && !r->config.count) {
        ok = run_counted(r, other, ok) && ok;
        if (ok && memcmp(first, other, size) != 0) {
            snprintf(r->fault, sizeof r->fault, "with counts it gives other bytes");
            ok = false;
        }
    }
    static const struct way ways[] = {
        {EMU_ISA_BEST, 1, .name = "single warps"},
        {EMU_ISA_AVX2, 4, .name = "AVX2"},
        {EMU_ISA_PORTABLE, 4, .name = "portable"},
        {EMU_ISA_PORTABLE, 1, 3, .name = "portable, single warps, 3 threads"},
        {EMU_ISA_BEST, 1, .order = "gpudet", .seed = 1, .name = "gpudet"},
        {EMU_ISA_BEST, 1, .order = "dab", .seed = 1, .name = "dab"},
        {EMU_ISA_BEST, 1, .order = "random", .seed = 1, .name = "a random order"},
        {EMU_ISA_BEST, 1, .order = "random", .seed = 2, .name = "another random order"}};
    static size_t turn;
    const bool natively = getenv("HEDDLE_NATIVE") != NULL; /* under no order */
    for (size_t w = turn++ % THINNED; ok && !r->once && w < sizeof ways / sizeof *ways;
         w += THINNED) {
        if (!is_for(&ways[w], r) || (natively && ways[w].order)) continue;
        ok = run_once(r, &ways[w], other);
        if (ok && !ways[w].order && strcmp(counts, r->counts) != 0) {
            size_t at = 0;
            while (counts[at] == r->counts[at]) at++;
            while (at && counts[at] != '\n') at--;
            snprintf(r->fault, sizeof r->fault, "%s counts%.60s, not%.60s", ways[w].name,
                     r->counts + at, counts + at);
            ok = false;
        }
        if (ok && memcmp(first, other, size) != 0) {
            size_t at = 0;
            while (first[at] == other[at]) at++;
            snprintf(r->fault, sizeof r->fault,
                     "%s gives other bytes, first at offset %zu of the buffers", ways[w].name, at);
            ok = false;
        }
    }
    if (!ok && r->kind && r->kind != EMU_LIMIT && !r->once && r->fault[0]) {
        char fault[sizeof r->fault];
        memcpy(fault, r->fault, sizeof fault);
        for (size_t w = 1; w < 3; w++) {
            run_once(r, &(struct way){.isa = ways[w].isa, .warps = ways[w].warps}, other);
            if (strcmp(fault, r->fault) == 0) continue;
            char both[sizeof fault];
            snprintf(both, sizeof both, "%s has another fault: %.900s\nnot %.900s", ways[w].name,
                     r->fault, fault);
            memcpy(r->fault, both, sizeof both);
            r->kind = EMU_FAULT_COUNT;
            break;
        }
    }
    uint8_t *p = first;
    for (unsigned i = 0; i < r->buffer_count; i++) {
        if (r->buffers[i].out) memcpy(r->buffers[i].out, p, r->buffers[i].size);
        p += r->buffers[i].size;
    }
    free(first);
    free(other);
    free(counts);
    return ok;
}

uint64_t emu_counted(const struct emu_run *r, const char *name)
{
    char key[128];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(r->counts, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

const char *emu_ptx(const char *params, const char *body)
{
    static char text[4][1 << 16];
    static unsigned next;
    char *t = text[next++ % 4];
    snprintf(t, sizeof text[0],
             ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(%s)\n{\n%s\n}\n",
             params, body);
    return t;
}
