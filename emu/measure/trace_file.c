/* Launches as frames: code, launch, CTAs, end. docs/formats.md describes each frame.
 *
 * A CTA's frame has the words of its warps, and with each access its lines; a line is written as the difference to the
 * previous line of the same site. Indices of lines are not stored, since lines are in the order of accesses. */
#include "emu/trace_file.h"

#include "base/arena.h"
#include "emu/measure/trace_code.h"
#include "emu/measure/trace_codec.h"
#include "emu/measure/trace_events.h"
#include "emu/trace.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

static const char magic[8] = {'H', 'E', 'D', 'D', 'L', 'E', 'T', 'R'};
static const char damaged[] = "it is cut off or damaged";
enum { HEAD = 16 /* bytes in front of the frames: magic, version, flags (0) */ };
enum {
    EVENTS = sizeof(struct emu_events) / sizeof(u64),
    CACHE = sizeof(struct cache_events) / sizeof(u64)
};
_Static_assert(sizeof(struct emu_events) % sizeof(u64) == 0, "all members are uint64_t");

/* Opcodes are looked up as a module of the newest version and target would. */
static struct ptx_isa *newest(struct arena *a)
{
    return ptx_isa_new(a, 90, 121, 'a');
}

void trace_file_prepare(void)
{
    struct arena *a = arena_new();
    (void)newest(a);
    arena_free(a);
}

/* ---- writing: one frame after the other ------------------------------------------------------------------- */

static bool put_head(struct trace_writer *w)
{
    if (w->begun) return true;
    w->begun = true;
    if (fseek(w->file, 0, SEEK_END) == 0 && ftell(w->file) > 0) return true;
    const unsigned char rest[8] = {[0] = TRACE_FILE_VERSION, [4] = w->promises};
    return fwrite(magic, 1, sizeof magic, w->file) == sizeof magic &&
           fwrite(rest, 1, sizeof rest, w->file) == sizeof rest;
}

bool trace_file_origin(struct trace_writer *w, const struct trace_origin *o)
{
    struct buf b = {0};
    put_text(&b, o->run);
    put_text(&b, o->version ? o->version : HEDDLE_VERSION);
    put_number(&b, o->input_count);
    for (size_t i = 0; i < o->input_count; i++) {
        put_text(&b, o->inputs[i].file);
        put_text(&b, o->inputs[i].digest);
    }
    return put_head(w) && frame_write(w->file, TRACE_FRAME_RUN, &b);
}

bool trace_file_run(struct trace_writer *w, const char *run)
{
    return trace_file_origin(w, &(struct trace_origin){.run = run});
}

/* Which of the rows of one spelling it is. */
static u32 rank_of(struct ptx_isa *isa, const struct ptx_op *op)
{
    u32 rank = 0;
    for (const struct ptx_op *o = ptx_isa_find(isa, op->text, op->text_length); o;
         o = o->next, rank++)
        if (o->form == op->form) return rank;
    return 0;
}

static void put_inst(struct buf *b, struct ptx_isa *isa, const struct trace_inst *i)
{
    put_number(b, i->op ? i->op->text_length : 0);
    if (i->op) buf_add(b, i->op->text, i->op->text_length);
    if (i->op) put_number(b, rank_of(isa, i->op));
    put_number(b, i->reg);
    put_number(b, i->reads);
    put_number(b, i->writes);
    put_number(b, i->place);
    put_number(b, i->dead_result | (u32)i->combined << 1 | (u32)i->handoff << 2);
    put_number(b, i->pending);
}

void trace_put_code(struct buf *b, const struct emu_trace *t)
{
    struct arena *scratch = arena_new();
    struct ptx_isa *isa = newest(scratch);
    u32 regs = 0;
    put_number(b, t->inst_count);
    for (u32 i = 0; i < t->inst_count; i++) {
        const struct trace_inst *inst = &t->insts[i];
        if (inst->reg + inst->reads + inst->writes > regs)
            regs = inst->reg + inst->reads + inst->writes;
        put_inst(b, isa, inst);
    }
    put_number(b, regs);
    for (u32 i = 0; i < regs; i++) put_number(b, t->regs[i]);
    put_number(b, t->reg_count);
    put_number(b, t->block_count);
    for (u32 i = 0; i < t->block_count; i++) {
        put_number(b, t->blocks[i].first);
        put_number(b, t->blocks[i].count);
    }
    put_number(b, t->site_count);
    for (u32 i = 0; i < t->site_count; i++) put_number(b, t->site_inst[i]);
    arena_free(scratch);
}

static void put_gpu(struct buf *b, const struct emu_gpu *g)
{
    put_text(b, g->name);
    put_text(b, g->title);
#define COUNT(section, key, field, least, most, unit, text) put_number(b, g->field);
#define RATE(section, key, field, least, most, unit, text) put_real(b, g->field);
#define FLAG(section, key, field, text) put_number(b, g->field);
#define OPTIONAL(section, key, field, least, most, unit, text)
#define EMU_GPU_WITHOUT_LINK
#include "emu/gpu.def"
}

/* Those that files before version 6 do not have, but for the section `link`. */
static void put_optional(struct buf *b, const struct emu_gpu *g)
{
    const double values[] = {
#define RATE(section, key, field, least, most, unit, text)
#define OPTIONAL(section, key, field, least, most, unit, text) g->field,
#define EMU_GPU_WITHOUT_LINK
#include "emu/gpu.def"
    };
    const size_t count = sizeof values / sizeof *values;
    put_number(b, count);
    for (size_t i = 0; i < count; i++) put_real(b, values[i]);
}

static void put_numbers(struct buf *b, const struct emu_number *list, size_t count)
{
    put_number(b, count);
    for (size_t i = 0; i < count; i++) {
        put_text(b, list[i].name);
        put_number(b, list[i].value);
    }
}

static void put_words(struct buf *b, const void *from, size_t count)
{
    const char *at = from;
    for (u64 x; count; count--, at += sizeof x) {
        memcpy(&x, at, sizeof x);
        put_number(b, x);
    }
}

/* Files are named once: the text, or the distance to the instruction that named it before, and one. */
static void put_instruction(struct buf *b, const struct emu_instruction *list, size_t i)
{
    const struct emu_instruction *x = &list[i], *before = i ? x - 1 : x;
    const bool same = i && ((before->file && x->file && strcmp(before->file, x->file) == 0) ||
                            (!before->file && !x->file));
    put_number(b, same);
    if (!same) put_text(b, x->file);
    const bool alike = i && strcmp(before->function, x->function) == 0 &&
                       strcmp(before->module, x->module) == 0;
    put_number(b, alike);
    if (!alike) put_text(b, x->function), put_text(b, x->module);
    put_number(b, x->line);
    put_number(b, x->source_line);
    const u64 counts[] = {x->warp,  x->thread,  x->off,    x->divergent, x->accesses,
                          x->bytes, x->sectors, x->shared, x->passes,    x->collisions};
    put_words(b, counts, sizeof counts / sizeof *counts);
    put_words(b, &x->cache, CACHE);
}

static void put_nesting(struct buf *b, const struct emu_counts *c)
{
    const struct emu_nesting *n = &c->nesting;
    put_number(b, n->number);
    if (n->number) {
        put_number(b, n->parent);
        put_number(b, n->cta);
        put_number(b, n->at);
        put_number(b, n->stream);
        put_number(b, n->is_free | (u32)n->is_tail << 1 | (u32)n->in_order << 2);
        put_number(b, n->wait);
    }
    put_number(b, c->wait_count);
    for (size_t i = 0; i < c->wait_count; i++) {
        put_number(b, c->waits[i].cta);
        put_number(b, c->waits[i].at);
    }
}

static void put_launch(struct buf *b, const struct emu_counts *c)
{
    const struct emu_trace *t = c->trace;
    put_text(b, c->kernel);
    put_gpu(b, c->gpu);
    for (int i = 0; i < 3; i++) put_number(b, c->grid[i]);
    for (int i = 0; i < 3; i++) put_number(b, c->block[i]);
    for (int i = 0; i < 3; i++) put_number(b, c->cluster[i]);
    put_number(b, c->shared);
    put_number(b, c->sms);
    put_number(b, c->occupancy.ctas);
    put_number(b, c->occupancy.warps);
    put_number(b, c->occupancy.registers);
    put_number(b, c->occupancy.limit);
    put_number(b, c->ctas);
    put_number(b, c->waves);
    put_text(b, c->order);
    put_text(b, c->execution);
    put_numbers(b, c->numbers, c->number_count);
    put_numbers(b, c->options, c->option_count);
    put_number(b, EVENTS);
    put_words(b, &c->phases[0].total, EVENTS);
    put_number(b, c->instruction_count);
    for (size_t i = 0; i < c->instruction_count; i++) put_instruction(b, c->instructions, i);
    put_number(b, t->sms);
    put_number(b, t->sms_traced);
    put_number(b, t->instructions);
    put_number(b, t->recorded);
    put_number(b, t->cut);
    put_number(b, t->again);
    put_number(b, t->polls);
    put_number(b, c->busy_waits);
    put_number(b, t->atomics ? TRACE_ATOMIC_BUCKETS : 0);
    if (t->atomics) put_words(b, t->atomics, TRACE_ATOMIC_BUCKETS);
    put_nesting(b, c);
    put_number(b, t->lanes);
    put_optional(b, c->gpu);
}

static void put_access(struct buf *b, const struct trace_cta *c, const u32 *words, u32 *last)
{
    const u32 tag = words[0] & 3, size = words[tag == TRACE_SHARED ? 1 : 2],
              more = size & TRACE_ELEMENTS ? TRACE_SIZE_LANES(size) : 0;
    u32 *before = &last[words[0] >> 2];
    put_number(b, size);
    for (u32 i = 0; tag != TRACE_SHARED && i < TRACE_SIZE_N(size); i++) {
        const struct trace_line *n = &c->lines[words[1] + i];
        put_signed(b, (int64_t)n->line - *before);
        *before = n->line;
        const char two[] = {(char)(n->sectors | n->how << 4),
                            (char)(n->from_l2 | n->from_dram << 4)};
        if (b->cap - b->size > 2) { /* as put_number does */
            memcpy(b->data + b->size, two, 2);
            b->size += 2, b->data[b->size] = '\0';
        } else buf_add(b, two, 2);
    }
    u32 element = 0;
    for (u32 i = 0; i < more; i++) {
        const u32 x = words[(tag == TRACE_SHARED ? 2 : 3) + i];
        put_signed(b, (int64_t)x - element);
        element = x;
    }
}

static void put_cta(struct buf *b, const struct trace_cta *c, u32 sites, bool heavy)
{
    u32 *last = calloc(sites + 1, sizeof *last);
    if (!last) abort();
    put_number(b, heavy);
    put_number(b, c->linear);
    put_number(b, c->warp_count);
    for (u32 w = 0; w < c->warp_count; w++) {
        const struct trace_warp *warp = &c->warps[w];
        u32 tokens = 0;
        for (u32 at = 0; at < warp->count; tokens++)
            at += (warp->words[at] & 3) == TRACE_BLOCK ? 1
                                                       : 1 + trace_access_words(warp->words + at);
        put_number(b, tokens);
        put_number(b, warp->instructions);
        put_number(b, warp->folded);
        put_number(b, warp->plain);
        put_number(b, warp->recorded);
        put_number(b, warp->cut);
        for (u32 at = 0; at < warp->count;) {
            const u32 *words = warp->words + at;
            put_number(b, words[0]);
            if ((words[0] & 3) == TRACE_BLOCK) {
                at++;
                continue;
            }
            put_access(b, c, words, last);
            at += 1 + trace_access_words(words);
        }
    }
    free(last);
}

static u32 frame_crc(u8 type, const struct buf *b)
{
    return crc32c(crc32c(0, &type, 1), b->data, b->size);
}

bool trace_file_add(struct trace_writer *w, const struct emu_counts *c)
{
    const struct emu_trace *t = c->trace;
    struct buf b = {0};
    if (!t || !t->cta_count) return true;
    bool ok = put_head(w);
    trace_put_code(&b, t);
    const u32 code = crc32c(0, b.data, b.size);
    if (code == w->code) buf_free(&b);
    else ok = ok && frame_write(w->file, TRACE_FRAME_CODE, &b);
    buf_free(&b);
    w->code = code;
    put_launch(&b, c);
    u32 digest = frame_crc(TRACE_FRAME_LAUNCH, &b);
    ok = ok && frame_write(w->file, TRACE_FRAME_LAUNCH, &b);
    const u32 ctas = t->cta_count + t->heavy_count;
    for (u32 i = 0; ok && i < ctas; i++) {
        const bool heavy = i >= t->cta_count;
        put_cta(&b, heavy ? t->heavy[i - t->cta_count] : t->ctas[i], t->site_count, heavy);
        digest = digest * 31 + frame_crc(TRACE_FRAME_CTA, &b);
        ok = frame_write(w->file, TRACE_FRAME_CTA, &b);
    }
    put_number(&b, ctas);
    put_number(&b, digest);
    ok = ok && frame_write(w->file, TRACE_FRAME_END, &b);
    buf_free(&b);
    return ok;
}

/* ---- reading: each number that becomes an index or a size is checked --------------------------------------- */

struct reader {
    struct cursor c;
    struct arena *arena;
};

static bool get_inst(struct reader *r, struct ptx_isa *isa, struct trace_inst *i)
{
    struct cursor *c = &r->c;
    const u32 n = get_count(c, 1);
    if (c->bad || (size_t)(c->end - c->at) < n) return false;
    if (n) {
        const char *text = arena_copy(r->arena, (const char *)c->at, n);
        c->at += n;
        const struct ptx_op *op = ptx_isa_find(isa, text, n);
        for (u32 rank = get_below(c, 1000); op && rank; rank--) op = op->next;
        if (!op) return false;
        i->op = op;
    }
    i->reg = get_below(c, UINT32_MAX);
    i->reads = get_below(c, UINT16_MAX);
    i->writes = get_below(c, UINT16_MAX);
    i->place = get_below(c, UINT32_MAX);
    const u32 flags = get_below(c, TRACE_POLLS_VALUE << 2 | 3);
    i->dead_result = flags & 1, i->combined = flags >> 1 & 1, i->handoff = (u8)(flags >> 2);
    i->pending = (u8)get_below(c, UINT8_MAX);
    return !c->bad;
}

static bool get_regs(struct reader *r, struct emu_trace *t)
{
    const u32 n = get_count(&r->c, 1);
    u32 *regs = arena_array(r->arena, u32, n), most = 0;
    for (u32 i = 0; i < n; i++) {
        regs[i] = get_below(&r->c, UINT32_MAX - 1);
        if (regs[i] >= most) most = regs[i] + 1;
    }
    t->regs = regs;
    t->reg_count = get_below(&r->c, 1 << 24);
    for (u32 i = 0; i < t->inst_count; i++) {
        const struct trace_inst *x = &t->insts[i];
        if (x->reg > n || x->reads + x->writes > n - x->reg || x->place >= t->inst_count)
            return false;
    }
    return most <= t->reg_count;
}

static const struct emu_trace *get_code(struct reader *r)
{
    struct emu_trace *t = arena_alloc(r->arena, sizeof *t);
    struct ptx_isa *isa = newest(r->arena);
    t->inst_count = get_count(&r->c, 7);
    struct trace_inst *insts = arena_array(r->arena, struct trace_inst, t->inst_count);
    t->insts = insts;
    for (u32 i = 0; i < t->inst_count; i++)
        if (!get_inst(r, isa, &insts[i])) return NULL;
    if (!get_regs(r, t)) return NULL;
    t->block_count = get_count(&r->c, 2);
    struct trace_block *blocks = arena_array(r->arena, struct trace_block, t->block_count);
    for (u32 i = 0; i < t->block_count; i++) {
        blocks[i].first = get_below(&r->c, t->inst_count);
        blocks[i].count = get_below(&r->c, t->inst_count - blocks[i].first);
    }
    t->blocks = blocks;
    t->site_count = get_count(&r->c, 1);
    u32 *sites = arena_array(r->arena, u32, t->site_count);
    for (u32 i = 0; i < t->site_count; i++)
        sites[i] = get_below(&r->c, t->inst_count ? t->inst_count - 1 : 0);
    t->site_inst = sites;
    return r->c.bad || r->c.at != r->c.end ? NULL : t;
}

static struct emu_gpu *get_gpu(struct reader *r)
{
    struct emu_gpu *g = arena_alloc(r->arena, sizeof *g);
    struct cursor *c = &r->c;
    *g = (struct emu_gpu){0}; /* traces do not have the section `link` */
    g->name = get_text(c, r->arena);
    g->title = get_text(c, r->arena);
#define COUNT(section, key, field, least, most, unit, text)                                        \
    g->field = get_below(c, most);                                                                 \
    if ((double)g->field < (least)) c->bad = true;
#define RATE(section, key, field, least, most, unit, text)                                         \
    g->field = get_real(c);                                                                        \
    if (!(g->field >= (least) && g->field <= (most))) c->bad = true;
#define FLAG(section, key, field, text) g->field = get_below(c, 1);
#define OPTIONAL(section, key, field, least, most, unit, text)
#define EMU_GPU_WITHOUT_LINK
#include "emu/gpu.def"
    return g;
}

static void get_optional(struct cursor *c, struct emu_gpu *g)
{
    size_t count = get_count(c, sizeof(double));
#define RATE(section, key, field, least, most, unit, text)
#define OPTIONAL(section, key, field, least, most, unit, text)                                     \
    g->field = count ? get_real(c) : 0;                                                            \
    count -= count > 0;                                                                            \
    if (!(g->field >= (least) && g->field <= (most))) c->bad = true;
#define EMU_GPU_WITHOUT_LINK
#include "emu/gpu.def"
}

static const struct emu_number *get_numbers(struct reader *r, size_t *count)
{
    *count = get_count(&r->c, 2);
    struct emu_number *list = arena_array(r->arena, struct emu_number, *count);
    for (size_t i = 0; i < *count; i++) {
        list[i].name = get_text(&r->c, r->arena);
        list[i].value = get_number(&r->c);
    }
    return list;
}

static void get_words(struct cursor *c, void *to, size_t count)
{
    char *at = to;
    for (; count; count--, at += sizeof(u64)) {
        const u64 x = get_number(c);
        memcpy(at, &x, sizeof x);
    }
}

static void get_instruction(struct reader *r, struct emu_instruction *list, size_t i)
{
    struct emu_instruction *x = &list[i];
    struct cursor *c = &r->c;
    u64 counts[10];
    if (get_below(c, i != 0)) x->file = x[-1].file;
    else x->file = get_text(c, r->arena);
    if (x->file && !*x->file) x->file = NULL;
    if (get_below(c, i != 0)) x->function = x[-1].function, x->module = x[-1].module;
    else x->function = get_text(c, r->arena), x->module = get_text(c, r->arena);
    x->line = get_below(c, UINT32_MAX);
    x->source_line = get_below(c, UINT32_MAX);
    get_words(c, counts, 10);
    x->warp = counts[0], x->thread = counts[1], x->off = counts[2], x->divergent = counts[3];
    x->accesses = counts[4], x->bytes = counts[5], x->sectors = counts[6];
    x->shared = counts[7], x->passes = counts[8], x->collisions = counts[9];
    get_words(c, &x->cache, CACHE);
}

static void get_shape(struct cursor *c, struct emu_counts *out)
{
    u64 all = 1;
    for (int i = 0; i < 3; i++) all *= out->grid[i] = get_below(c, INT32_MAX);
    if (!all) c->bad = true;
    for (int i = 0; i < 3; i++) out->block[i] = get_below(c, 1024);
    for (int i = 0; i < 3; i++) out->cluster[i] = get_below(c, 1024);
    out->shared = get_below(c, UINT32_MAX);
    out->sms = get_below(c, 1024);
    out->occupancy.ctas = get_below(c, 1024);
    out->occupancy.warps = get_below(c, 1024);
    out->occupancy.registers = get_below(c, 65536);
    out->occupancy.limit = (enum emu_limit)get_below(c, EMU_LIMIT_SHARED);
    out->ctas = get_number(c);
    out->waves = get_number(c);
    if (!out->sms) c->bad = true;
}

static const u64 *get_atomics(struct reader *r)
{
    const u32 n = get_count(&r->c, 1);
    if (!n) return NULL;
    if (n != TRACE_ATOMIC_BUCKETS) return r->c.bad = true, NULL;
    u64 *all = arena_array(r->arena, u64, n);
    for (u32 i = 0; i < n; i++) all[i] = get_number(&r->c);
    return all;
}

static void get_nesting(struct reader *r, struct emu_counts *out)
{
    struct emu_nesting *n = &out->nesting;
    struct cursor *c = &r->c;
    n->number = get_below(c, UINT32_MAX);
    if (n->number) {
        n->parent = get_below(c, n->number - 1);
        n->cta = get_below(c, UINT32_MAX);
        n->at = get_number(c);
        n->stream = get_number(c);
        const u32 flags = get_below(c, 7);
        n->is_free = flags & 1, n->is_tail = flags >> 1 & 1, n->in_order = flags >> 2;
        n->wait = get_below(c, UINT32_MAX);
    }
    out->wait_count = get_count(c, 2);
    struct emu_grid_wait *waits = arena_array(r->arena, struct emu_grid_wait, out->wait_count);
    for (size_t i = 0; i < out->wait_count; i++)
        waits[i] = (struct emu_grid_wait){.cta = get_below(c, UINT32_MAX), .at = get_number(c)};
    out->waits = waits;
}

/* The launch but for its CTAs. NULL: something in it cannot be. */
static struct emu_counts *get_launch(struct reader *r, const struct emu_trace *code)
{
    struct emu_counts *out = arena_alloc(r->arena, sizeof *out);
    struct emu_phase *phase = arena_alloc(r->arena, sizeof *phase);
    struct emu_trace *t = arena_alloc(r->arena, sizeof *t);
    struct cursor *c = &r->c;
    *t = *code;
    out->kernel = get_text(c, r->arena);
    struct emu_gpu *gpu = get_gpu(r);
    out->gpu = gpu;
    get_shape(c, out);
    out->order = get_text(c, r->arena);
    out->execution = get_text(c, r->arena);
    out->numbers = get_numbers(r, &out->number_count);
    out->options = get_numbers(r, &out->option_count);
    if (get_number(c) != EVENTS) c->bad = true;
    get_words(c, &phase->total, EVENTS);
    out->instruction_count = get_count(c, 14 + CACHE);
    struct emu_instruction *list = arena_array(r->arena, struct emu_instruction,
                                               out->instruction_count);
    for (size_t i = 0; i < out->instruction_count && !c->bad; i++) get_instruction(r, list, i);
    out->instructions = list;
    t->sms = get_below(c, 1024);
    t->sms_traced = get_below(c, t->sms);
    t->recorded_sms = t->sms_traced;
    t->instructions = get_number(c);
    t->recorded = get_number(c);
    t->cut = get_below(c, 1);
    t->again = get_below(c, 1);
    t->polls = get_below(c, 1);
    out->busy_waits = get_number(c);
    t->atomics = get_atomics(r);
    if (c->at != c->end) get_nesting(r, out);        /* before version 4 there is nothing, */
    if (c->at != c->end) t->lanes = get_below(c, 1); /* before version 5 no more */
    if (c->at != c->end) get_optional(c, gpu);       /* before version 6 */
    phase->name = out->order, phase->times = 1;
    out->caches = true;
    out->phase_count = 1, out->phases = phase, out->trace = t;
    const bool fits = !out->instruction_count || out->instruction_count == t->inst_count;
    return c->bad || c->at != c->end || !t->sms_traced || !fits ? NULL : out;
}

/* A CTA that is read: words and lines grow. */
struct growing {
    struct trace_cta *cta;
    size_t line_cap, word_cap;
    u32 *words, count;
    u32 *last; /* by site */
};

static void add_word(struct growing *g, u32 word)
{
    if (g->count == g->word_cap) {
        g->word_cap = g->word_cap ? 2 * g->word_cap : 256;
        g->words = realloc(g->words, g->word_cap * sizeof *g->words);
        if (!g->words) abort();
    }
    g->words[g->count++] = word;
}

static void get_line(struct reader *r, struct growing *g, u32 site)
{
    struct trace_cta *cta = g->cta;
    struct cursor *c = &r->c;
    if (cta->line_count == g->line_cap)
        cta->lines = arena_grow(r->arena, cta->lines, cta->line_count, &g->line_cap,
                                cta->line_count + 1, sizeof *cta->lines);
    struct trace_line *n = &cta->lines[cta->line_count++];
    n->line = g->last[site] += (u32)get_signed(c);
    const u32 how = c->end - c->at < 2 ? 0 : *c->at, from = how ? c->at[1] : 0;
    if (c->end - c->at < 2) c->bad = true;
    else c->at += 2;
    n->sectors = how & 15, n->how = (u8)(how >> 4);
    n->from_l2 = from & 15, n->from_dram = (u8)(from >> 4);
    if (n->how > TRACE_UNCACHED || n->from_l2 > 4 || n->from_dram > 4) c->bad = true;
}

static bool get_access(struct reader *r, struct growing *g, u32 word)
{
    struct cursor *c = &r->c;
    const u32 tag = word & 3, size = get_below(c, UINT32_MAX), site = word >> 2;
    const u32 lines = tag == TRACE_SHARED ? 0 : TRACE_SIZE_N(size),
              more = size & TRACE_ELEMENTS ? TRACE_SIZE_LANES(size) : 0;
    if (lines > (size_t)(c->end - c->at) / 3) c->bad = true;
    add_word(g, word);
    if (tag != TRACE_SHARED) add_word(g, g->cta->line_count);
    add_word(g, size);
    for (u32 i = 0; i < lines && !c->bad; i++) get_line(r, g, site);
    for (u32 i = 0, element = 0; i < more && !c->bad; i++)
        add_word(g, element += (u32)get_signed(c));
    return !c->bad;
}

static bool get_warp(struct reader *r, struct growing *g, const struct emu_trace *t,
                     struct trace_warp *w)
{
    struct cursor *c = &r->c;
    const u32 tokens = get_count(c, 1);
    g->count = 0;
    w->instructions = get_number(c);
    w->folded = get_number(c);
    w->plain = get_below(c, UINT32_MAX);
    w->recorded = get_below(c, UINT32_MAX);
    if (w->plain > w->instructions) c->bad = true;
    w->cut = get_below(c, 1);
    for (u32 i = 0; i < tokens && !c->bad; i++) {
        const u32 word = get_below(c, UINT32_MAX);
        if ((word & 3) == TRACE_BLOCK) {
            if (TRACE_BLOCK_OF(word) >= t->block_count) return false;
            add_word(g, word);
        } else if (word >> 2 >= t->site_count || !get_access(r, g, word)) return false;
    }
    w->count = w->cap = g->count;
    w->words = arena_array(r->arena, u32, g->count);
    if (g->count) memcpy(w->words, g->words, g->count * sizeof *w->words);
    return !c->bad;
}

static const struct trace_cta *get_cta(struct reader *r, const struct emu_counts *l, bool *heavy)
{
    const struct emu_trace *t = l->trace;
    const u32 threads = l->block[0] * l->block[1] * l->block[2];
    struct growing g = {.cta = arena_alloc(r->arena, sizeof *g.cta),
                        .last = calloc((size_t)t->site_count + 1, sizeof *g.last)};
    if (!g.last) abort();
    *heavy = get_below(&r->c, 1);
    g.cta->linear = get_below(&r->c, UINT32_MAX);
    g.cta->warp_count = get_below(&r->c, 32);
    bool ok = !r->c.bad && g.cta->warp_count == (threads + 31) / 32;
    if (ok) g.cta->warps = arena_array(r->arena, struct trace_warp, g.cta->warp_count);
    for (u32 w = 0; ok && w < g.cta->warp_count; w++) ok = get_warp(r, &g, t, &g.cta->warps[w]);
    g.cta->line_cap = g.cta->resolved = g.cta->line_count;
    free(g.words);
    free(g.last);
    return ok && r->c.at == r->c.end ? g.cta : NULL;
}

/* ---- reading: frames ------------------------------------------------------------------------------------------ */

static bool next_frame(struct trace_file *f, struct frame *frame)
{
    f->at = ftell(f->file);
    if (f->progress && f->at >= 0) f->progress(f->progress_self, (u64)f->at);
    const int got = frame_read(f->file, TRACE_FRAME_MOST, frame);
    if (got < 0) f->why = damaged;
    if (got <= 0) return false;
    f->frames++;
    f->bytes += frame->stored;
    f->full += frame->size;
    return true;
}

static bool read_head(struct trace_file *f)
{
    unsigned char head[HEAD];
    const size_t n = fread(head, 1, sizeof head, f->file);
    f->begun = true;
    f->launch = UINT32_MAX;
    if (!n) return false;
    if (n < sizeof head || memcmp(head, magic, sizeof magic) != 0)
        f->why = "it is no file of traces";
    else if (head[8] < 2 || head[8] > TRACE_FILE_VERSION || head[9] || head[10] || head[11])
        f->why = "its version is not 2 to 6, which this Heddle reads";
    else
        for (int i = 12; i < HEAD; i++)
            if (head[i] > (i == 12 && head[8] > 2)) f->why = damaged;
    f->promised = head[12];
    return !f->why;
}

static bool is_end(struct cursor *c, u32 ctas, u32 digest)
{
    const bool same = get_number(c) == ctas && get_number(c) == digest;
    return same && !c->bad && c->at == c->end;
}

struct cta_list {
    const struct trace_cta **list;
    size_t count, cap;
};

/* false: it is not behind those before. */
static bool add_cta(struct trace_file *f, struct cta_list *l, const struct trace_cta *cta)
{
    if (l->count && l->list[l->count - 1]->linear >= cta->linear) return false;
    l->list = arena_grow(f->arena, l->list, l->count, &l->cap, l->count + 1, sizeof *l->list);
    l->list[l->count++] = cta;
    return true;
}

/* The CTAs of a launch, until its end: those of the SMs, then heavy ones. */
static bool read_ctas(struct trace_file *f, const struct emu_counts *l, struct emu_trace *t,
                      u32 digest)
{
    struct cta_list lists[2] = {{0}, {0}};
    for (struct frame frame; next_frame(f, &frame);) {
        struct reader r = {{frame.plain, frame.plain + frame.size, false}, f->arena};
        const struct trace_cta *cta = NULL;
        bool heavy = false;
        const u32 count = (u32)(lists[0].count + lists[1].count);
        if (frame.type == TRACE_FRAME_CTA) cta = get_cta(&r, l, &heavy);
        const bool whole = frame.type == TRACE_FRAME_END && is_end(&r.c, count, digest) &&
                           lists[0].count;
        free(frame.plain);
        if (whole) {
            t->ctas = lists[0].list, t->cta_count = (u32)lists[0].count;
            t->heavy = lists[1].list, t->heavy_count = (u32)lists[1].count;
            return true;
        }
        if (!cta || (!heavy && lists[1].count) || !add_cta(f, &lists[heavy], cta)) break;
        digest = digest * 31 + frame.crc;
    }
    f->why = damaged;
    return false;
}

static bool read_run(struct trace_file *f, struct reader *r)
{
    struct trace_origin *o = arena_alloc(f->arena, sizeof *o);
    struct cursor *c = &r->c;
    *o = (struct trace_origin){.run = get_text(c, f->arena), .version = get_text(c, f->arena)};
    if (!c->bad && c->at != c->end) { /* files were not named */
        o->input_count = get_count(c, 2);
        struct trace_input *list = arena_array(f->arena, struct trace_input, o->input_count);
        for (size_t i = 0; i < o->input_count; i++)
            list[i] = (struct trace_input){get_text(c, f->arena), get_text(c, f->arena)};
        o->inputs = list;
    }
    f->run = o->run;
    f->origin = o;
    f->launch = UINT32_MAX;
    return !c->bad && o->run && o->version && c->at == c->end;
}

static bool read_code(struct trace_file *f, struct reader *r)
{
    f->code = get_code(r);
    return f->code;
}

/* The events of a launch, until its end. */
static bool read_events(struct trace_file *f, const struct trace_launch *l, u32 digest)
{
    const struct trace_events_sink *sink = f->sink;
    struct trace_events_sums sums = {0};
    const struct emu_observer *to = NULL;
    bool whole = false;
    u32 frames = 0;
    if (sink && sink->begin) sink->begin(sink->self, l);
    if (sink && sink->observer) to = sink->observer(sink->self);
    for (struct frame frame; !whole && next_frame(f, &frame);) {
        struct cursor c = {frame.plain, frame.plain + frame.size, false};
        const bool events = frame.type == TRACE_FRAME_EVENTS && trace_replay(c, l, to, &sums);
        whole = frame.type == TRACE_FRAME_EVENTS_END && get_number(&c) == frames &&
                get_number(&c) == digest && get_number(&c) == sums.instructions &&
                get_number(&c) == sums.accesses && !c.bad && c.at == c.end;
        free(frame.plain);
        if (!events) break;
        digest = digest * 31 + frame.crc;
        frames++;
    }
    if (!whole) f->why = damaged;
    if (to && to->end) to->end(to->self);
    f->events += whole;
    if (whole && sink && sink->end) sink->end(sink->self, l, &sums);
    return whole;
}

static bool read_events_begin(struct trace_file *f, struct reader *r, u32 crc)
{
    struct arena *arena = arena_new();
    struct trace_launch l;
    const bool ok = f->code && trace_get_launch(&r->c, arena, f->code, &l) &&
                    read_events(f, &l, crc);
    arena_free(arena);
    return ok;
}

/* A frame that belongs to no launch, or the events of one. `*l`: it begins a launch with a trace. */
static bool read_frame(struct trace_file *f, const struct frame *frame, struct emu_counts **l)
{
    struct reader r = {{frame->plain, frame->plain + frame->size, false}, f->arena};
    f->indexed = false;
    switch ((enum trace_frame)frame->type) {
    case TRACE_FRAME_RUN: return read_run(f, &r);
    case TRACE_FRAME_CODE: return read_code(f, &r);
    case TRACE_FRAME_LAUNCH: return f->code && (*l = get_launch(&r, f->code)) != NULL;
    case TRACE_FRAME_EVENTS_BEGIN: return read_events_begin(f, &r, frame->crc);
    case TRACE_FRAME_INDEX:
        f->index_at = (u64)f->at;
        return trace_get_index(&r.c, f->arena) != NULL;
    case TRACE_FRAME_TRAILER:
        return f->indexed = f->index_at && trace_get_trailer(&r.c) == f->index_at;
    case TRACE_FRAME_CTA:
    case TRACE_FRAME_END:
    case TRACE_FRAME_EVENTS:
    case TRACE_FRAME_EVENTS_END:
    case TRACE_FRAMES: break;
    }
    return false;
}

const struct emu_counts *trace_file_next(struct trace_file *f)
{
    if (f->why || (!f->begun && !read_head(f))) return NULL;
    bool fresh = false; /* code without a launch so far */
    for (struct frame frame; next_frame(f, &frame);) {
        struct emu_counts *l = NULL;
        const bool ok = read_frame(f, &frame, &l);
        free(frame.plain);
        if (!ok) break;
        fresh = frame.type == TRACE_FRAME_CODE;
        if (!l && f->one && frame.type == TRACE_FRAME_EVENTS_BEGIN) return NULL;
        if (!l) continue;
        f->launch++;
        return read_ctas(f, l, (struct emu_trace *)l->trace, frame.crc) ? l : NULL;
    }
    if (fresh || !feof(f->file) || ferror(f->file)) f->why = damaged;
    return NULL;
}

/* ---- reading one launch --------------------------------------------------------------------------------------- */

const struct emu_trace *trace_get_code(struct cursor c, struct arena *a)
{
    return get_code(&(struct reader){c, a});
}

const struct emu_counts *trace_get_counts(struct cursor c, struct arena *a,
                                          const struct emu_trace *code)
{
    return get_launch(&(struct reader){c, a}, code);
}

const struct emu_counts *trace_file_cta(struct trace_file *f, const struct trace_index_entry *e,
                                        uint64_t cta)
{
    struct frame frame = {0};
    struct emu_counts *l = NULL;
    bool heavy = false;
    if (!e->cta || cta >= e->traced || !trace_file_seek(f, e)) return NULL;
    const bool begins = next_frame(f, &frame) && frame.type == TRACE_FRAME_LAUNCH &&
                        read_frame(f, &frame, &l);
    free(frame.plain);
    f->launch = e->launch;
    const struct trace_cta **list = arena_alloc(f->arena, sizeof *list);
    *list = NULL;
    frame.plain = NULL;
    if (begins && fseek(f->file, (long)e->cta[cta].begin, SEEK_SET) == 0 && next_frame(f, &frame) &&
        frame.type == TRACE_FRAME_CTA) {
        struct reader r = {{frame.plain, frame.plain + frame.size, false}, f->arena};
        *list = get_cta(&r, l, &heavy);
    }
    free(frame.plain);
    if (!*list || (*list)->linear != e->cta[cta].linear) {
        f->why = damaged;
        return NULL;
    }
    struct emu_trace *t = (struct emu_trace *)l->trace;
    t->ctas = t->heavy = list;
    t->cta_count = !heavy, t->heavy_count = heavy;
    return l;
}

bool trace_file_seek(struct trace_file *f, const struct trace_index_entry *e)
{
    const u64 places[] = {e->run, e->code};
    if (f->why || (!f->begun && !read_head(f))) return false;
    for (int i = 0; i < 2; i++) {
        struct frame frame = {0};
        struct emu_counts *l = NULL;
        if (!places[i]) continue; /* a file whose launches belong to no run */
        const bool ok = fseek(f->file, (long)places[i], SEEK_SET) == 0 && next_frame(f, &frame) &&
                        frame.type == (i ? TRACE_FRAME_CODE : TRACE_FRAME_RUN) &&
                        read_frame(f, &frame, &l);
        free(frame.plain);
        if (!ok) f->why = damaged;
        if (!ok) return false;
    }
    f->launch = e->launch - 1;
    return fseek(f->file, (long)e->begin, SEEK_SET) == 0;
}
