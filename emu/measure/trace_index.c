/* The index at the end of a file of traces (emu/trace_file.h): the offsets of each launch and of its CTAs, and the data
 * that `heddle trace info` prints. The trailer after the index has a fixed size, so that a reader finds the index from
 * the end of the file. */
#include "base/arena.h"
#include "emu/measure/trace_code.h"
#include "emu/measure/trace_codec.h"
#include "emu/measure/trace_events.h"
#include "emu/trace.h"
#include "emu/trace_file.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

static const char magic[8] = {'H', 'D', 'T', 'I', 'N', 'D', 'E', 'X'};
enum {
    FILE_HEAD = 16,
    TRAILER = 16,                    /* offset of the index, magic */
    TRAILER_FRAME = 2 + TRAILER + 4, /* type, length, checksum */
    ENTRY_LEAST = 12                 /* bytes */
};
_Static_assert((int)FRAME_RAW == (int)TRACE_FRAME_TRAILER, "the trailer is not compressed");

/* ---- writing ----------------------------------------------------------------------------------------------------- */

struct scan {
    FILE *file;
    struct arena *arena, *code_arena;
    const struct emu_trace *code;
    struct trace_index index;
    size_t cap, cta_cap;
    u64 run, code_at; /* where the frames begin */
    u32 launch, traced;
    struct trace_index_entry *open; /* the launch that has begun; NULL: none */
};

static struct trace_index_entry *add(struct scan *s, u64 at)
{
    struct trace_index *x = &s->index;
    x->list = arena_grow(s->arena, x->list, x->count, &s->cap, x->count + 1, sizeof *x->list);
    s->open = &x->list[x->count++];
    s->cta_cap = 0;
    *s->open = (struct trace_index_entry){
        .run = s->run, .code = s->code_at, .begin = at, .gpu = "", .order = ""};
    return s->open;
}

static bool add_launch(struct scan *s, struct cursor c, u64 at)
{
    struct arena *scratch = arena_new();
    const struct emu_counts *l = s->code ? trace_get_counts(c, scratch, s->code) : NULL;
    if (l) {
        struct trace_index_entry *e = add(s, at);
        e->launch = s->launch++;
        e->kernel = arena_copy(s->arena, l->kernel, strlen(l->kernel));
        e->gpu = arena_copy(s->arena, l->gpu->name, strlen(l->gpu->name));
        e->order = arena_copy(s->arena, l->order, strlen(l->order));
        e->ctas = l->ctas;
        e->instructions = l->phases[0].total.warp_instructions;
        e->recorded = l->trace->recorded;
    }
    arena_free(scratch);
    return l;
}

static bool add_events(struct scan *s, struct cursor c, u64 at)
{
    struct arena *scratch = arena_new();
    struct trace_launch l;
    const bool ok = s->code && trace_get_launch(&c, scratch, s->code, &l);
    if (ok) {
        struct trace_index_entry *e = add(s, at);
        e->events = true;
        e->launch = l.number;
        e->kernel = arena_copy(s->arena, l.kernel, strlen(l.kernel));
        e->ctas = e->traced = (u64)l.grid[0] * l.grid[1] * l.grid[2];
    }
    arena_free(scratch);
    return ok;
}

static bool end_launch(struct scan *s, struct cursor c)
{
    struct trace_index_entry *const e = s->open;
    s->open = NULL;
    if (!e) return false;
    const u64 n = get_number(&c), digest = get_number(&c);
    (void)digest;
    if (!e->events) return !c.bad && n == e->traced;
    e->recorded = e->instructions = get_number(&c);
    return !c.bad;
}

static bool add_frame(struct scan *s, const struct frame *f, u64 at)
{
    const struct cursor c = {f->plain, f->plain + f->size, false};
    switch ((enum trace_frame)f->type) {
    case TRACE_FRAME_RUN: s->run = at, s->launch = 0; return true;
    case TRACE_FRAME_CODE:
        arena_free(s->code_arena);
        s->code_arena = arena_new();
        s->code_at = at;
        return (s->code = trace_get_code(c, s->code_arena)) != NULL;
    case TRACE_FRAME_LAUNCH: return add_launch(s, c, at);
    case TRACE_FRAME_EVENTS_BEGIN: return add_events(s, c, at);
    case TRACE_FRAME_END:
    case TRACE_FRAME_EVENTS_END: return end_launch(s, c);
    case TRACE_FRAME_INDEX: /* of what was there before */
    case TRACE_FRAME_TRAILER: return true;
    case TRACE_FRAME_CTA:
    case TRACE_FRAME_EVENTS:
    case TRACE_FRAMES: break;
    }
    return false;
}

/* A CTA of the open launch. Only the begin of its frame is decompressed. */
static bool add_cta(struct scan *s, u64 at)
{
    unsigned char start[8];
    size_t got;
    struct trace_index_entry *const e = s->open;
    if (!e || e->events || !frame_peek(s->file, start, sizeof start, &got)) return false;
    struct cursor c = {start, start + got, false};
    (void)get_below(&c, 1); /* it is heavy */
    const u32 linear = get_below(&c, UINT32_MAX);
    e->cta = arena_grow(s->arena, e->cta, e->traced, &s->cta_cap, e->traced + 1, sizeof *e->cta);
    e->cta[e->traced++] = (struct trace_index_cta){linear, at};
    return !c.bad;
}

/* Frames in the file, until its end or one that is not whole. */
static bool scan_frames(struct scan *s)
{
    for (;;) {
        const long at = ftell(s->file);
        const int type = getc(s->file);
        if (type == EOF) return !s->open;
        (void)ungetc(type, s->file);
        s->index.frames++;
        if (type == TRACE_FRAME_CTA || type == TRACE_FRAME_EVENTS) {
            if (type == TRACE_FRAME_CTA ? !add_cta(s, (u64)at) : !frame_skip(s->file)) return false;
            continue;
        }
        struct frame f;
        if (frame_read(s->file, TRACE_FRAME_MOST, &f) != 1) return false;
        const bool ok = add_frame(s, &f, (u64)at);
        free(f.plain);
        if (!ok) return false;
    }
}

static void put_entry(struct buf *b, const struct trace_index_entry *e)
{
    put_number(b, e->events);
    put_number(b, e->launch);
    put_number(b, e->run);
    put_number(b, e->code);
    put_number(b, e->begin);
    put_text(b, e->kernel);
    put_text(b, e->gpu);
    put_text(b, e->order);
    put_number(b, e->ctas);
    put_number(b, e->traced);
    put_number(b, e->instructions);
    put_number(b, e->recorded);
}

static void put_ctas(struct buf *b, const struct trace_index_entry *e)
{
    u64 at = e->begin;
    u32 linear = 0;
    for (u64 i = 0; e->cta && i < e->traced; i++) {
        put_signed(b, (int64_t)e->cta[i].linear - linear);
        put_number(b, e->cta[i].begin - at);
        at = e->cta[i].begin, linear = e->cta[i].linear;
    }
}

static bool write_index(FILE *f, const struct trace_index *x)
{
    struct buf b = {0};
    unsigned char trailer[TRAILER];
    if (fseek(f, 0, SEEK_END) != 0) return false;
    const u64 at = (u64)ftell(f);
    put_number(&b, x->count);
    for (size_t i = 0; i < x->count; i++) put_entry(&b, &x->list[i]);
    put_number(&b, x->frames);
    put_number(&b, at);
    for (size_t i = 0; i < x->count; i++) put_ctas(&b, &x->list[i]);
    for (int i = 0; i < 8; i++) trailer[i] = (unsigned char)(at >> 8 * i);
    memcpy(trailer + 8, magic, sizeof magic);
    return frame_write(f, TRACE_FRAME_INDEX, &b) && frame_write_raw(f, trailer, sizeof trailer) &&
           fflush(f) == 0;
}

bool trace_index_add(FILE *f, size_t *launches)
{
    struct scan s = {.file = f, .arena = arena_new(), .code_arena = arena_new()};
    const bool ok = fseek(f, FILE_HEAD, SEEK_SET) == 0 && scan_frames(&s) &&
                    write_index(f, &s.index);
    *launches = s.index.count;
    arena_free(s.code_arena);
    arena_free(s.arena);
    return ok;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static bool get_entry(struct cursor *c, struct arena *a, struct trace_index_entry *e)
{
    e->events = get_below(c, 1);
    e->launch = get_below(c, UINT32_MAX);
    e->run = get_number(c);
    e->code = get_number(c);
    e->begin = get_number(c);
    e->kernel = get_text(c, a);
    e->gpu = get_text(c, a);
    e->order = get_text(c, a);
    e->ctas = get_number(c);
    e->traced = get_number(c);
    e->instructions = get_number(c);
    e->recorded = get_number(c);
    return !c->bad && e->code >= FILE_HEAD && e->begin > e->code && e->begin < INT64_MAX;
}

static bool get_ctas(struct cursor *c, struct arena *a, struct trace_index_entry *e)
{
    u64 at = e->begin;
    u32 linear = 0;
    if (e->events) return true;
    if (e->traced > (size_t)(c->end - c->at) / 2) return false;
    e->cta = arena_array(a, struct trace_index_cta, e->traced);
    for (u64 i = 0; i < e->traced; i++) {
        linear += (u32)get_signed(c), at += get_number(c);
        if (c->bad || at <= e->begin || at >= INT64_MAX) return false;
        e->cta[i] = (struct trace_index_cta){linear, at};
    }
    return true;
}

const struct trace_index *trace_get_index(struct cursor *c, struct arena *a)
{
    struct trace_index *x = arena_alloc(a, sizeof *x);
    x->count = get_count(c, ENTRY_LEAST);
    x->list = arena_array(a, struct trace_index_entry, x->count);
    for (size_t i = 0; i < x->count; i++)
        if (!get_entry(c, a, &x->list[i])) return NULL;
    x->frames = get_number(c);
    x->bytes = get_number(c);
    const bool ctas = c->at != c->end; /* indexes had none */
    for (size_t i = 0; ctas && i < x->count; i++)
        if (!get_ctas(c, a, &x->list[i])) return NULL;
    return c->bad || c->at != c->end ? NULL : x;
}

u64 trace_get_trailer(struct cursor *c)
{
    u64 at = 0;
    if (c->end - c->at != TRAILER || memcmp(c->at + 8, magic, sizeof magic) != 0) return 0;
    for (int i = 0; i < 8; i++) at |= (u64)c->at[i] << 8 * i;
    return at;
}

/* The frame of this type that begins there. */
static bool frame_at(FILE *f, long at, int from, int type, struct frame *out)
{
    *out = (struct frame){0};
    return fseek(f, at, from) == 0 && frame_read(f, TRACE_FRAME_MOST, out) == 1 &&
           out->type == type;
}

const struct trace_index *trace_index_read(struct trace_file *f)
{
    const struct trace_index *x = NULL;
    struct frame trailer, index = {0};
    u64 at = 0;
    if (frame_at(f->file, -TRAILER_FRAME, SEEK_END, TRACE_FRAME_TRAILER, &trailer)) {
        struct cursor c = {trailer.plain, trailer.plain + trailer.size, false};
        at = trace_get_trailer(&c);
    }
    free(trailer.plain);
    if (at && at < INT64_MAX && frame_at(f->file, (long)at, SEEK_SET, TRACE_FRAME_INDEX, &index)) {
        struct cursor c = {index.plain, index.plain + index.size, false};
        x = trace_get_index(&c, f->arena);
    }
    free(index.plain);
    if (at && (!x || x->bytes != at)) f->why = "its index is damaged";
    clearerr(f->file);
    rewind(f->file);
    return f->why ? NULL : x;
}
