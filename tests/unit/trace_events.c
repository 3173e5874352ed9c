/* Files with every instruction and access (emu/trace_events.h) and their index (emu/trace_file.h). What an observer of the
 * test hears is compared with what two readers find: Heddle's, and one that is written from docs/formats.md alone. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/arena.h"
#include "base/diag.h"
#include "determinism/record/access_trace.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "emu/trace_events.h"
#include "emu/trace_file.h"
#include "ptx/ptx.h"
#include "tests/support/support.h"
#include "tests/support/trace_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

TestSuite(trace_events, .timeout = 60);

/* A row, a column, a vector, addresses without a pattern in divergent lanes, atomics, shared memory, a call, a loop. */
static const char text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".func (.reg .u32 %o) twice(.reg .u32 %i) { add.u32 %o, %i, %i; ret; }\n"
    ".visible .entry work(.param .u64 p)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %d<6>; .reg .pred %q; .shared .u32 s[64];\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2;\n"
    "ld.global.u32 %r2, [%d2]; mul.wide.u32 %d3, %r1, 128; add.u64 %d3, %d1, %d3;\n"
    "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d3];\n"
    "mul.lo.u32 %r7, %r1, 2654435; and.b32 %r7, %r7, 8188; cvt.u64.u32 %d4, %r7; add.u64 %d4, %d1, %d4;\n"
    "mov.u32 %r8, 0;\n"
    "L: ld.global.u32 %r3, [%d2]; add.u64 %d2, %d2, 256; add.u32 %r8, %r8, 1;\n"
    "setp.lt.u32 %q, %r8, 3; @%q bra L;\n"
    "and.b32 %r2, %r1, 3; setp.eq.u32 %q, %r2, 1; @!%q bra E;\n"
    "st.global.u32 [%d4], %r1; ld.global.u8 %r3, [%d4+1]; atom.global.cas.b32 %r3, [%d1], 1, 2;\n"
    "E: call (%r3), twice, (%r1); red.global.add.u32 [%d1+8], %r3;\n"
    "cp.async.ca.shared.global [s+128], [%d1+32], 16; add.u32 %r3, %r3, 1; cp.async.commit_group;\n"
    "cp.async.wait_group 0;\n"
    "bar.sync 0; st.shared.u32 [s], %r3; st.global.u32 [%d2+4096], %r3;\n"
    "ret;\n}\n"
    ".visible .entry idle()\n{ ret; }\n";

enum { MOST = 1 << 14 };
struct heard { /* an instruction: lanes, pc; an access: lanes, pc, kind, ...; a CTA's end: cta */
    char what;
    uint32_t cta, warp, sm, pc, lanes, bytes;
    uint8_t kind, space, op;
    uint64_t address[32]; /* of lanes that take part, else 0 */
};
struct list {
    struct heard *e;
    size_t count;
};

static struct heard *more(struct list *l)
{
    cr_assert(l->count < MOST);
    return &l->e[l->count++];
}

static void hear_issue(void *self, const struct emu_warp *who, uint32_t pc, uint32_t lanes)
{
    *more(self) = (struct heard){
        .what = 'i', .cta = who->cta, .warp = who->warp, .sm = who->sm, .pc = pc, .lanes = lanes};
}

static void hear_access(void *self, const struct emu_access *a)
{
    struct heard *h = more(self);
    *h = (struct heard){.what = 'a',
                        .cta = a->who->cta,
                        .warp = a->who->warp,
                        .sm = a->who->sm,
                        .pc = a->pc,
                        .lanes = a->lanes,
                        .bytes = (uint32_t)a->width * a->count,
                        .kind = a->kind,
                        .space = a->space,
                        .op = a->kind >= EMU_ATOMIC ? a->op : 0};
    for (uint32_t l = 0; l < 32; l++)
        if (a->lanes >> l & 1)
            h->address[l] = a->contiguous ? a->address[0] + (uint64_t)l * h->bytes : a->address[l];
}

static void hear_sync(void *self, const struct emu_sync *s)
{
    if (s->kind == EMU_SYNC_CTA_EXIT) *more(self) = (struct heard){.what = 'e', .cta = s->who->cta};
}

static void expect_same(const struct list *got, const struct list *want)
{
    cr_assert(eq(sz, got->count, want->count));
    for (size_t i = 0; i < got->count; i++) {
        const struct heard *g = &got->e[i], *w = &want->e[i];
        cr_assert(g->what == w->what && g->cta == w->cta && g->warp == w->warp && g->sm == w->sm &&
                      g->pc == w->pc && g->lanes == w->lanes && g->bytes == w->bytes &&
                      g->kind == w->kind && g->space == w->space && g->op == w->op,
                  "event %zu, %c pc %u", i, w->what, w->pc);
        for (int l = 0; l < 32; l++)
            cr_assert(eq(u64, g->address[l], w->address[l]), "event %zu", i);
    }
}

/* ---- a launch, heard and written ------------------------------------------------------------------------------ */

struct bench {
    char path[64];
    struct list heard[3];
    char *bytes;
    size_t size;
};

static struct list list_new(void)
{
    struct list l = {calloc(MOST, sizeof *l.e), 0};
    cr_assert(l.e != NULL);
    return l;
}

/* Two launches of `work`, one of `idle`, on streams 0, 2 and 0. */
static struct bench bench_new(void)
{
    struct bench b = {0};
    char *why = NULL;
    struct arena *arena = arena_new();
    static struct source source;
    static struct diags diags;
    source = (struct source){"test.ptx", text, sizeof text - 1};
    diags = (struct diags){.arena = arena, .source = &source};
    struct ptx_module *module = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(module));
    struct emu *emu = emu_new(&(struct emu_config){.sms = 4});
    struct emu_image *image = emu_load(emu, &module, 1, &why);
    cr_assert(image != NULL, "%s", why);
    const uint64_t memory = emu_alloc(emu, 1 << 16, "p");
    snprintf(b.path, sizeof b.path, "/tmp/heddle-events-%d.hdt", (int)getpid());
    FILE *f = fopen(b.path, "w+b");
    struct trace_writer w = {.file = f, .promises = true};
    cr_assert(f && trace_file_run(&w, "a run"));
    fclose(f);
    struct access_trace *t = access_trace_new(b.path, ACCESS_TRACE_EVENTS, &access_trace_all);
    for (int i = 0; i < 3; i++) {
        b.heard[i] = list_new();
        const struct emu_observer listener = {
            .self = &b.heard[i], .issue = hear_issue, .access = hear_access, .sync = hear_sync};
        access_trace_stream(t, i == 1 ? 2 : 0);
        const struct emu_observer *list[] = {access_trace_observer(t), &listener};
        struct emu_launch l = {.grid = {2, 2, 1},
                               .block = {70, 1, 1},
                               .params = &memory,
                               .params_size = i < 2 ? 8 : 0,
                               .observers = list,
                               .observer_count = 2};
        const struct emu_report *r = emu_launch(emu, emu_kernel_at(image, i == 2), &l);
        cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
    }
    why = (char *)access_trace_end(t);
    cr_assert(why == NULL, "%s", why);
    f = fopen(b.path, "r+b");
    size_t launches = 0;
    cr_assert(f && trace_index_add(f, &launches) && launches == 3);
    b.size = (size_t)ftell(f);
    b.bytes = malloc(b.size);
    rewind(f);
    cr_assert(eq(sz, fread(b.bytes, 1, b.size, f), b.size));
    fclose(f);
    unlink(b.path);
    emu_unload(image);
    emu_free(emu);
    ptx_module_end(module);
    arena_free(arena);
    return b;
}

static void bench_free(struct bench *b)
{
    for (int i = 0; i < 3; i++) free(b->heard[i].e);
    free(b->bytes);
}

/* ---- Heddle's reader ------------------------------------------------------------------------------------------- */

struct found {
    struct list list[3];
    struct trace_launch launch[3];
    char kernel[3][8];
    size_t count;
    struct emu_observer observer;
};

static void found_begin(void *self, const struct trace_launch *l)
{
    struct found *f = self;
    cr_assert(f->count < 3);
    f->launch[f->count] = *l;
    snprintf(f->kernel[f->count], 8, "%s", l->kernel);
    f->observer = (struct emu_observer){.self = &f->list[f->count++],
                                        .issue = hear_issue,
                                        .access = hear_access,
                                        .sync = hear_sync};
}

static const struct emu_observer *found_observer(void *self)
{
    return &((struct found *)self)->observer;
}

Test(trace_events, what_is_read_is_what_an_observer_heard)
{
    struct bench b = bench_new();
    struct found f = {.list = {list_new(), list_new(), list_new()}};
    const struct trace_events_sink sink = {
        .self = &f, .begin = found_begin, .observer = found_observer};
    struct trace_file in = {
        .file = fmemopen(b.bytes, b.size, "rb"), .arena = arena_new(), .sink = &sink};
    cr_expect(trace_file_next(&in) == NULL && in.why == NULL, "%s", in.why);
    cr_expect(in.promised && in.indexed && in.events == 3 && f.count == 3);
    cr_expect(eq(str, (char *)in.run, (char *)"a run"));
    for (uint32_t i = 0; i < 3; i++) {
        const struct trace_launch *l = &f.launch[i];
        expect_same(&f.list[i], &b.heard[i]);
        cr_expect(l->number == i && l->stream == (i == 1 ? 2 : 0));
        cr_expect(l->grid[0] == 2 && l->grid[1] == 2 && l->block[0] == 70 && l->sms == 4);
        cr_expect(eq(str, f.kernel[i], (char *)(i == 2 ? "idle" : "work")));
        free(f.list[i].e);
    }
    cr_expect(b.heard[0].count > 200);
    fclose(in.file);
    arena_free(in.arena);
    bench_free(&b);
}

/* ---- a reader by the description alone ------------------------------------------------------------------------ */

static int64_t distance(struct bytes *b)
{
    return zigzag(bytes_number(b));
}

static unsigned char *frame(struct bytes *b, int *type, struct bytes *inside)
{
    *type = *b->at++;
    const size_t stored = bytes_number(b),
                 size = *type == 10 ? stored : (size_t)ZSTD_getFrameContentSize(b->at, stored);
    unsigned char *plain = malloc(size + 1);
    if (*type == 10) memcpy(plain, b->at, size);
    else cr_assert(eq(sz, ZSTD_decompress(plain, size, b->at, stored), size));
    b->at += stored + 4;
    *inside = (struct bytes){plain, plain + size};
    return plain;
}

struct at { /* the access before of an instruction */
    unsigned char head[6];
    uint32_t lanes;
    int64_t stride;
    uint64_t address;
};

static void read_access(struct bytes *b, struct at *p, bool fresh, struct heard *h)
{
    if (fresh) {
        memcpy(p->head, b->at, 6);
        b->at += 6;
        p->lanes = (uint32_t)bytes_number(b);
        p->stride = distance(b);
    }
    p->address += (uint64_t)distance(b);
    h->what = 'a';
    h->kind = p->head[0], h->space = p->head[1], h->op = p->head[2];
    h->bytes = (uint32_t)p->head[3] * p->head[4];
    h->lanes = p->lanes;
    const unsigned form = p->head[5];
    uint64_t address = p->address;
    int before = -1;
    for (int l = 0; l < 32; l++) {
        if (!(p->lanes >> l & 1)) continue;
        if (before >= 0)
            address += (uint64_t)(form == 2   ? (int64_t)h->bytes
                                  : form == 1 ? p->stride * (l - before)
                                              : distance(b));
        h->address[l] = address;
        before = l;
    }
}

static void read_events(struct bytes b, struct list *to)
{
    static struct at places[256];
    uint32_t cta = 0, warp = 0, sm = 0, next = 0, lanes = 0;
    memset(places, 0, sizeof places);
    while (b.at < b.end) {
        const uint64_t token = bytes_number(&b), rest = token / 8;
        uint64_t steps = 0;
        switch (token % 8) {
        case 0: steps = rest + 1; break;
        case 1: next = (uint32_t)(next + zigzag(rest)), steps = 1; break;
        case 2: lanes = (uint32_t)bytes_number(&b); break;
        case 3:
            warp = (uint32_t)rest, cta = (uint32_t)(cta + distance(&b)),
            sm = (uint32_t)bytes_number(&b);
            next = 0, lanes = ~0u;
            break;
        case 4:
            *more(to) = (struct heard){.what = 'e', .cta = (uint32_t)(cta + zigzag(rest))};
            break;
        default: {
            const uint32_t pc = (uint32_t)(next - 1 + (token % 8 == 6 ? zigzag(rest) : 0));
            struct heard *h = more(to);
            cr_assert(token % 8 < 7 && pc < 256);
            *h = (struct heard){.cta = cta, .warp = warp, .sm = sm, .pc = pc};
            read_access(&b, &places[pc], token % 8 == 6, h);
        }
        }
        for (; steps; steps--)
            *more(to) = (struct heard){
                .what = 'i', .cta = cta, .warp = warp, .sm = sm, .pc = next++, .lanes = lanes};
    }
}

Test(trace_events, are_what_their_description_says)
{
    struct bench b = bench_new();
    struct bytes file = {(unsigned char *)b.bytes, (unsigned char *)b.bytes + b.size};
    cr_assert(memcmp(file.at, "HEDDLETR\6\0\0\0\1\0\0\0", 16) == 0);
    file.at += 16;
    char types[64] = "";
    uint64_t begins[3] = {0}, index = 0;
    for (int launch = -1; file.at < file.end;) {
        int type;
        struct bytes inside;
        const uint64_t at = (uint64_t)((char *)file.at - b.bytes);
        unsigned char *plain = frame(&file, &type, &inside);
        types[strlen(types)] = (char)('0' + type);
        if (type == 6) begins[++launch] = at;
        if (type == 9) index = at;
        if (type == 7) {
            struct list got = list_new();
            read_events(inside, &got);
            expect_same(&got, &b.heard[launch]);
            free(got.e);
        }
        if (type == 9) { /* count; flag, launch, run, code, begin, ... */
            cr_assert(eq(u64, bytes_number(&inside), 3));
            for (uint64_t i = 0; i < 3; i++) {
                cr_expect(bytes_number(&inside) == 1 && bytes_number(&inside) == i);
                cr_expect(eq(u64, bytes_number(&inside), 16));
                (void)bytes_number(&inside);
                cr_expect(eq(u64, bytes_number(&inside), begins[i]));
                inside.at += bytes_number(&inside); /* the kernel's name */
                cr_expect(bytes_number(&inside) == 0 && bytes_number(&inside) == 0);
                cr_expect(bytes_number(&inside) == 4 && bytes_number(&inside) == 4); /* CTAs */
                uint64_t issued = 0;
                for (size_t k = 0; k < b.heard[i].count; k++) issued += b.heard[i].e[k].what == 'i';
                cr_expect(bytes_number(&inside) == issued && bytes_number(&inside) == issued);
            }
            cr_expect(eq(u64, bytes_number(&inside), strlen(types) - 1));
            cr_expect(eq(u64, bytes_number(&inside), index));
        }
        if (type == 10) {
            cr_expect(eq(u64, plain[0] + plain[1] * 256u + plain[2] * 65536u, index));
            cr_expect(memcmp(plain + 8, "HDTINDEX", 8) == 0);
            cr_expect(eq(u64, b.size - at, 22));
        }
        free(plain);
    }
    /* run; code once for both launches of `work`; three launches; index, trailer (':' is 10) */
    cr_expect(eq(str, types,
                 (char *)"126786782678"
                         "9:"));
    bench_free(&b);
}

/* ---- damage ---------------------------------------------------------------------------------------------------- */

/* Launches that are read; -1: refused. `complete`: with its index. */
static int read_all(char *bytes, size_t size, bool *complete)
{
    struct trace_file in = {.file = fmemopen(bytes, size, "rb"), .arena = arena_new()};
    while (trace_file_next(&in)) cr_fatal("no launch has a trace");
    *complete = in.promised && in.indexed;
    const int launches = in.why ? -1 : (int)in.events;
    fclose(in.file);
    arena_free(in.arena);
    return launches;
}

Test(trace_events, what_is_cut_off_is_not_taken_for_complete)
{
    struct bench b = bench_new();
    bool complete;
    for (size_t n = 1; n < b.size; n++) {
        const int got = read_all(b.bytes, n, &complete);
        cr_expect(got < 0 || !complete, "%zu bytes", n);
    }
    cr_expect(read_all(b.bytes, b.size, &complete) == 3 && complete);
    bench_free(&b);
}

Test(trace_events, what_is_flipped_is_refused_or_says_the_same)
{
    struct bench b = bench_new();
    uint64_t random = 1;
    int refused = 0;
    for (int i = 0; i < 10000 / THINNED; i++) {
        bool complete;
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t bit = (size_t)(random >> 20) % (8 * b.size);
        b.bytes[bit / 8] ^= (char)(1 << bit % 8);
        const int got = read_all(b.bytes, b.size, &complete);
        cr_expect(got == -1 || got == 3, "bit %zu", bit);
        refused += got == -1;
        struct trace_file in = {.file = fmemopen(b.bytes, b.size, "rb"), .arena = arena_new()};
        const struct trace_index *x = trace_index_read(&in);
        if (x) cr_expect(x->count == 3 && x->list[2].launch == 2, "bit %zu", bit);
        fclose(in.file);
        arena_free(in.arena);
        b.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    cr_expect(gt(int, refused, 9900 / THINNED));
    bench_free(&b);
}

/* ---- the index ------------------------------------------------------------------------------------------------- */

Test(trace_events, one_launch_is_read_though_another_is_damaged)
{
    struct bench b = bench_new();
    struct found f = {.list = {list_new()}};
    const struct trace_events_sink sink = {
        .self = &f, .begin = found_begin, .observer = found_observer};
    struct trace_file in = {
        .file = fmemopen(b.bytes, b.size, "rb"), .arena = arena_new(), .sink = &sink, .one = true};
    const struct trace_index *x = trace_index_read(&in);
    cr_assert(x && x->count == 3);
    cr_expect(x->list[0].code == x->list[1].code && x->list[2].code > x->list[1].begin);
    b.bytes[x->list[0].begin + 10] ^= 1;
    b.bytes[x->list[2].begin + 10] ^= 1;
    cr_assert(trace_file_seek(&in, &x->list[1]));
    cr_expect(trace_file_next(&in) == NULL && in.why == NULL, "%s", in.why);
    cr_assert(eq(sz, f.count, 1));
    cr_expect(eq(u32, f.launch[0].number, 1));
    expect_same(&f.list[0], &b.heard[1]);
    cr_assert(trace_file_seek(&in, &x->list[0]));
    cr_expect(trace_file_next(&in) == NULL && in.why != NULL);
    free(f.list[0].e);
    fclose(in.file);
    arena_free(in.arena);
    bench_free(&b);
}
