/* Records, each with its length in front and a sum behind it. */
#include "emu/trace_file.h"

#include "base/arena.h"
#include "base/buf.h"
#include "emu/trace.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

enum { RECORD_RUN = 0x6e757248, RECORD_LAUNCH = 0x656e6948, LONGEST = 1 << 30, VERSION = 4 };

/* What a reader must agree in. */
static u32 layout(void)
{
    return (u32)(sizeof(struct emu_gpu) ^ sizeof(struct emu_events) << 12 ^
                 sizeof(struct trace_line) << 24 ^ PTX_FORM_COUNT << 2 ^ VERSION << 28);
}

static u64 sum_of(const char *bytes, size_t n)
{
    u64 sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return sum;
}

struct head {
    u32 kind, layout;
    u64 length, sum;
};

static bool put_record(FILE *to, u32 kind, struct buf *b)
{
    const struct head h = {kind, layout(), b->size, sum_of(b->data, b->size)};
    const bool ok = fwrite(&h, sizeof h, 1, to) == 1 && fwrite(b->data, 1, b->size, to) == b->size;
    buf_free(b);
    return ok;
}

bool trace_file_run(FILE *to, const char *run)
{
    struct buf b = {0};
    buf_add(&b, run, strlen(run) + 1);
    return put_record(to, RECORD_RUN, &b);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void put(struct buf *b, const void *from, size_t size)
{
    if (size) buf_add(b, from, size);
}

static void put_u32(struct buf *b, u32 x)
{
    put(b, &x, sizeof x);
}

static void put_text(struct buf *b, const char *text)
{
    const u32 n = (u32)strlen(text) + 1;
    put_u32(b, n);
    put(b, text, n);
}

static void put_code(struct buf *b, const struct emu_trace *t)
{
    put_u32(b, t->inst_count);
    u32 regs = 0;
    for (u32 i = 0; i < t->inst_count; i++) {
        struct trace_inst inst = t->insts[i];
        const u32 form = inst.op ? (u32)(inst.op->form - ptx_forms) : UINT32_MAX;
        if (inst.reg + inst.reads + inst.writes > regs) regs = inst.reg + inst.reads + inst.writes;
        put_u32(b, form);
        if (inst.op) put_u32(b, inst.op->text_length);
        if (inst.op) put(b, inst.op->text, inst.op->text_length);
        inst.op = NULL;
        put(b, &inst, sizeof inst);
    }
    put_u32(b, regs);
    put(b, t->regs, regs * sizeof *t->regs);
    put_u32(b, t->block_count);
    put(b, t->blocks, t->block_count * sizeof *t->blocks);
    put_u32(b, t->site_count);
    put(b, t->site_inst, t->site_count * sizeof *t->site_inst);
}

static void put_cta(struct buf *b, const struct trace_cta *c)
{
    put_u32(b, c->linear);
    put_u32(b, c->warp_count);
    for (u32 w = 0; w < c->warp_count; w++) {
        put_u32(b, c->warps[w].count);
        put(b, &c->warps[w].instructions, sizeof c->warps[w].instructions);
        put(b, &c->warps[w].folded, sizeof c->warps[w].folded);
        put_u32(b, c->warps[w].plain);
        put_u32(b, c->warps[w].recorded);
        put_u32(b, c->warps[w].cut);
        put(b, c->warps[w].words, c->warps[w].count * sizeof(u32));
    }
    put_u32(b, c->line_count);
    put(b, c->lines, c->line_count * sizeof *c->lines);
}

bool trace_file_add(FILE *to, const struct emu_counts *c)
{
    const struct emu_trace *t = c->trace;
    struct buf b = {0};
    if (!t || !t->cta_count || strcmp(c->order, "native") != 0) return true;
    put_text(&b, c->kernel);
    put_text(&b, c->gpu->name);
    put_text(&b, c->gpu->title);
    put(&b, c->gpu, sizeof *c->gpu);
    put(&b, c->grid, sizeof c->grid);
    put(&b, c->block, sizeof c->block);
    put(&b, &c->occupancy, sizeof c->occupancy);
    put(&b, &c->ctas, sizeof c->ctas);
    put_u32(&b, c->shared);
    put_u32(&b, c->sms);
    put(&b, &c->phases[0].total, sizeof c->phases[0].total);
    put(&b, t, sizeof *t);
    put_code(&b, t);
    for (u32 i = 0; i < t->cta_count; i++) put_cta(&b, t->ctas[i]);
    for (u32 i = 0; i < t->heavy_count; i++) put_cta(&b, t->heavy[i]);
    return put_record(to, RECORD_LAUNCH, &b);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

struct reader { /* of a record whose sum is right */
    const char *at;
    struct arena *arena;
};

static void get(struct reader *r, void *to, size_t size)
{
    if (size) memcpy(to, r->at, size);
    r->at += size;
}

static u32 get_u32(struct reader *r)
{
    u32 x;
    get(r, &x, sizeof x);
    return x;
}

static void *get_array(struct reader *r, u32 count, size_t size)
{
    void *list = arena_alloc_n(r->arena, count, size);
    get(r, list, count * size);
    return list;
}

static const char *get_text(struct reader *r)
{
    const u32 n = get_u32(r);
    return get_array(r, n, 1);
}

static void get_code(struct reader *r, struct emu_trace *t)
{
    struct trace_inst *insts = arena_array(r->arena, struct trace_inst, t->inst_count);
    struct ptx_op *ops = arena_array(r->arena, struct ptx_op, t->inst_count);
    (void)get_u32(r);
    for (u32 i = 0; i < t->inst_count; i++) {
        const u32 form = get_u32(r);
        if (form != UINT32_MAX) {
            ops[i].form = &ptx_forms[form];
            ops[i].text_length = get_u32(r);
            ops[i].text = get_array(r, ops[i].text_length, 1);
        }
        get(r, &insts[i], sizeof insts[i]);
        if (form != UINT32_MAX) insts[i].op = &ops[i];
    }
    t->insts = insts;
    const u32 regs = get_u32(r);
    t->regs = get_array(r, regs, sizeof(u32));
    const u32 blocks = get_u32(r);
    t->blocks = get_array(r, blocks, sizeof *t->blocks);
    const u32 sites = get_u32(r);
    t->site_inst = get_array(r, sites, sizeof(u32));
}

static struct trace_cta *get_cta(struct reader *r)
{
    struct trace_cta *c = arena_alloc(r->arena, sizeof *c);
    c->linear = get_u32(r);
    c->warp_count = get_u32(r);
    c->warps = arena_array(r->arena, struct trace_warp, c->warp_count);
    for (u32 w = 0; w < c->warp_count; w++) {
        struct trace_warp *warp = &c->warps[w];
        warp->count = warp->cap = get_u32(r);
        get(r, &warp->instructions, sizeof warp->instructions);
        get(r, &warp->folded, sizeof warp->folded);
        warp->plain = get_u32(r);
        warp->recorded = get_u32(r);
        warp->cut = get_u32(r);
        warp->words = get_array(r, warp->count, sizeof(u32));
    }
    c->line_count = c->line_cap = c->resolved = get_u32(r);
    c->lines = get_array(r, c->line_count, sizeof *c->lines);
    return c;
}

static struct emu_counts *get_launch(struct reader *r)
{
    struct emu_counts *c = arena_alloc(r->arena, sizeof *c);
    struct emu_gpu *gpu = arena_alloc(r->arena, sizeof *gpu);
    struct emu_phase *phase = arena_alloc(r->arena, sizeof *phase);
    struct emu_trace *t = arena_alloc(r->arena, sizeof *t);
    c->kernel = get_text(r);
    const char *name = get_text(r), *title = get_text(r);
    get(r, gpu, sizeof *gpu);
    gpu->name = name, gpu->title = title;
    get(r, c->grid, sizeof c->grid);
    get(r, c->block, sizeof c->block);
    get(r, &c->occupancy, sizeof c->occupancy);
    get(r, &c->ctas, sizeof c->ctas);
    c->shared = get_u32(r);
    c->sms = get_u32(r);
    get(r, &phase->total, sizeof phase->total);
    get(r, t, sizeof *t);
    get_code(r, t);
    const struct trace_cta **ctas = arena_array(r->arena, const struct trace_cta *, t->cta_count),
                           **heavy = arena_array(r->arena, const struct trace_cta *,
                                                 t->heavy_count);
    for (u32 i = 0; i < t->cta_count; i++) ctas[i] = get_cta(r);
    for (u32 i = 0; i < t->heavy_count; i++) heavy[i] = get_cta(r);
    t->ctas = ctas;
    t->heavy = heavy;
    *phase = (struct emu_phase){.name = "native", .times = 1, .total = phase->total};
    c->gpu = gpu, c->order = "native", c->caches = true;
    c->phase_count = 1, c->phases = phase, c->trace = t;
    return c;
}

const struct emu_counts *trace_file_next(struct trace_file *f)
{
    struct head h;
    for (;;) {
        const size_t n = fread(&h, 1, sizeof h, f->file);
        if (!n) return NULL;
        const bool known = n == sizeof h && (h.kind == RECORD_RUN || h.kind == RECORD_LAUNCH);
        if (!known) return f->why = "it is no file of traces", NULL;
        if (h.layout != layout()) return f->why = "another version of Heddle wrote it", NULL;
        char *bytes = h.length <= LONGEST ? malloc(h.length + 1) : NULL;
        const bool whole = bytes && fread(bytes, 1, h.length, f->file) == h.length &&
                           sum_of(bytes, h.length) == h.sum;
        struct reader r = {bytes, f->arena};
        const struct emu_counts *c = NULL;
        if (!whole) f->why = "it is cut off or damaged";
        else if (h.kind == RECORD_RUN) {
            f->run = arena_copy(f->arena, bytes, strlen(bytes));
            f->launch = UINT32_MAX;
        } else {
            c = get_launch(&r);
            f->launch++;
        }
        free(bytes);
        if (c || f->why) return c;
    }
}
