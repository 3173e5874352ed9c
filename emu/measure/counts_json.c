/* Counts by name, and as JSON. */
#include "emu/counts.h"

#include "base/buf.h"
#include "emu/atomic.h"

#include <stdio.h>

const char *emu_count_space_name(enum emu_count_space space)
{
    static const char *const names[] = {"global", "shared", "local", "constant", "texture"};
    return names[space];
}

const char *emu_count_kind_name(enum emu_count_kind kind)
{
    static const char *const names[] = {"load", "store", "atomic"};
    return names[kind];
}

void emu_counts_visit(const struct emu_events *e, bool caches,
                      void (*visit)(void *self, const char *name, uint64_t value), void *self)
{
    static const char *const ops[] = {
        [ATOMIC_ADD] = "add", [ATOMIC_MIN] = "min",   [ATOMIC_MAX] = "max", [ATOMIC_INC] = "inc",
        [ATOMIC_DEC] = "dec", [ATOMIC_AND] = "and",   [ATOMIC_OR] = "or",   [ATOMIC_XOR] = "xor",
        [ATOMIC_CAS] = "cas", [ATOMIC_EXCH] = "exch",
    };
    char name[80];
#define EVENT(field, path, text) visit(self, path, e->field);
#include "emu/counts.def"
    for (int u = 0; u < PTX_UNIT_COUNT; u++) {
        char unit[32];
        snprintf(unit, sizeof unit, "%s", ptx_unit_name((enum ptx_unit)u));
        for (char *c = unit; *c; c++)
            if (*c == ' ') *c = '_';
        snprintf(name, sizeof name, "instructions.%s.warp", unit);
        visit(self, name, e->unit_warp[u]);
        snprintf(name, sizeof name, "instructions.%s.thread", unit);
        visit(self, name, e->unit_thread[u]);
    }
    for (int s = 0; s < EMU_COUNT_SPACES; s++)
        for (int k = 0; k < EMU_COUNT_KINDS; k++) {
            const struct emu_access_counts *a = &e->access[s][k];
            const char *space = emu_count_space_name((enum emu_count_space)s),
                       *kind = emu_count_kind_name((enum emu_count_kind)k);
#define ACCESS(field, text)                                                                        \
    snprintf(name, sizeof name, "memory.%s.%s." #field, space, kind);                              \
    visit(self, name, a->field);
#include "emu/counts.def"
        }
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (!ops[i]) continue;
        snprintf(name, sizeof name, "atomics.%s.warp", ops[i]);
        visit(self, name, e->atomic_warp[i]);
        snprintf(name, sizeof name, "atomics.%s.thread", ops[i]);
        visit(self, name, e->atomic_thread[i]);
        snprintf(name, sizeof name, "atomics.%s.collisions", ops[i]);
        visit(self, name, e->atomic_collisions[i]);
    }
    if (!caches) return;
#define CACHE(field, path, text) visit(self, path, e->cache.field);
#include "emu/counts.def"
}

/* 0 where nothing was counted. */
static double ratio(u64 a, u64 b)
{
    return b ? (double)a / (double)b : 0;
}

/* Active lanes of those issued, 0 .. 1. */
static double simd_efficiency(const struct emu_events *e)
{
    return ratio(e->thread_instructions - e->guarded_off, e->warp_instructions * 32);
}

/* Bytes that lanes asked for of those of the sectors touched; above 1 where lanes share bytes. */
static double coalescing(const struct emu_access_counts *a)
{
    return ratio(a->bytes, a->sectors * 32);
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

struct writer {
    struct buf *out;
    const char *between, *pad;
    size_t written;
    int indent;
};

static void write_number(void *self, const char *name, uint64_t value)
{
    struct writer *w = self;
    if (!value) return;
    buf_puts(w->out, w->written++ ? w->between : w->pad);
    buf_printf(w->out, "\"%s\": %llu", name, (unsigned long long)value);
}

static void text(struct buf *out, const char *s)
{
    buf_putc(out, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') buf_putc(out, '\\');
        if ((unsigned char)*s < 0x20) buf_printf(out, "\\u%04x", (unsigned)(unsigned char)*s);
        else buf_putc(out, *s);
    }
    buf_putc(out, '"');
}

static void derived(struct buf *out, const struct emu_events *e, bool caches, const char *pad)
{
    buf_printf(out, "%s\"simd_efficiency\": %.6g", pad, simd_efficiency(e));
    for (int k = 0; k < 2; k++)
        buf_printf(out, ", \"coalescing.%s\": %.6g", emu_count_kind_name((enum emu_count_kind)k),
                   coalescing(&e->access[EMU_GLOBAL][k]));
    u64 warp = 0, passes = 0;
    for (int k = 0; k < EMU_COUNT_KINDS; k++) {
        warp += e->access[EMU_SHARED][k].warp;
        passes += e->access[EMU_SHARED][k].passes;
    }
    buf_printf(out, ", \"shared_passes_per_access\": %.6g", ratio(passes, warp));
    if (!caches) return;
    buf_printf(out, ", \"l1_hit_rate\": %.6g, \"l2_hit_rate\": %.6g",
               ratio(e->cache.l1_hits, e->cache.l1),
               ratio(e->cache.l2_load_hits, e->cache.l2_loads));
}

void emu_counts_json(struct buf *out, const struct emu_counts *c, int indent)
{
    char pad[64], inner[80], deep[96];
    snprintf(pad, sizeof pad, ",\n%*s", indent + 2, "");
    snprintf(inner, sizeof inner, ",\n%*s", indent + 6, "");
    snprintf(deep, sizeof deep, ",\n%*s", indent + 8, "");
    buf_printf(out, "%*s{\n%*s\"kernel\": ", indent, "", indent + 2, "");
    text(out, c->kernel);
    buf_printf(out, "%s\"grid\": [%u, %u, %u]%s\"block\": [%u, %u, %u]%s\"cluster\": [%u, %u, %u]",
               pad, c->grid[0], c->grid[1], c->grid[2], pad, c->block[0], c->block[1], c->block[2],
               pad, c->cluster[0], c->cluster[1], c->cluster[2]);
    buf_printf(out, "%s\"shared_bytes\": %u%s\"gpu\": ", pad, c->shared, pad);
    text(out, c->gpu->name);
    buf_printf(out, "%s\"sms\": %u%s\"ctas\": %llu%s\"waves\": %llu", pad, c->sms, pad,
               (unsigned long long)c->ctas, pad, (unsigned long long)c->waves);
    buf_printf(out,
               "%s\"occupancy\": {\"ctas\": %u, \"warps\": %u, \"of_warps\": %u, \"registers\": "
               "%u, \"limited_by\": \"%s\"}",
               pad, c->occupancy.ctas, c->occupancy.warps, c->gpu->warps, c->occupancy.registers,
               emu_limit_name(c->occupancy.limit));
    buf_printf(out, "%s\"order\": ", pad);
    text(out, c->order);
    buf_printf(out, "%s\"execution\": ", pad);
    text(out, c->execution);
    struct writer numbers = {.out = out, .between = ", ", .pad = ""};
    if (c->number_count) buf_printf(out, "%s\"order_counts\": {", pad);
    for (size_t i = 0; i < c->number_count; i++)
        write_number(&numbers, c->numbers[i].name, c->numbers[i].value);
    if (c->number_count) buf_puts(out, "}");
    buf_printf(out, "%s\"phases\": [", pad);
    for (size_t i = 0; i < c->phase_count; i++) {
        const struct emu_phase *p = &c->phases[i];
        buf_printf(out, "%s\n%*s{\n%*s\"name\": ", i ? "," : "", indent + 4, "", indent + 6, "");
        text(out, p->name);
        if (p->times != 1) buf_printf(out, ", \"times\": %llu", (unsigned long long)p->times);
        buf_printf(out, "%s\"derived\": {", inner);
        derived(out, &p->total, c->caches, "");
        buf_printf(out, "}%s\"counts\": {", inner);
        struct writer w = {.out = out, .between = deep, .pad = deep + 1};
        emu_counts_visit(&p->total, c->caches, write_number, &w);
        buf_printf(out, "\n%*s}%s\"sms\": [", indent + 6, "", inner);
        bool first = true;
        for (u32 sm = 0; sm < c->sms; sm++) {
            if (!p->sm[sm].ctas && !p->sm[sm].warp_instructions) continue;
            buf_printf(out, "%s{\"sm\": %u", first ? deep + 1 : deep, sm);
            first = false;
            struct writer s = {.out = out, .between = ", ", .pad = ", "};
            emu_counts_visit(&p->sm[sm], c->caches, write_number, &s);
            buf_puts(out, "}");
        }
        buf_printf(out, "\n%*s]\n%*s}", indent + 6, "", indent + 4, "");
    }
    buf_printf(out, "\n%*s]\n%*s}", indent + 2, "", indent, "");
}

/* ---- a document of many launches ------------------------------------------------------------------------- */

enum { VERSION = 1 };

void emu_counts_begin(struct emu_counts_writer *w, FILE *out)
{
    *w = (struct emu_counts_writer){.out = out};
    fprintf(out, "{\n  \"schema\": \"heddle-counts\",\n  \"version\": %d,\n  \"launches\": [",
            VERSION);
}

void emu_counts_add(struct emu_counts_writer *w, const struct emu_counts *c)
{
    for (; c; c = c->next) {
        struct buf text = {0};
        emu_counts_json(&text, c, 4);
        fprintf(w->out, "%s\n%s", w->launches++ ? "," : "", text.data);
        buf_free(&text);
    }
}

bool emu_counts_end(struct emu_counts_writer *w)
{
    fprintf(w->out, "%s]\n}\n", w->launches ? "\n  " : "");
    return fflush(w->out) == 0 && !ferror(w->out);
}
