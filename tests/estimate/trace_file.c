/* `.hdt` files: against a reader of their own, written from docs/formats.md, and damaged in every way. */
#define _GNU_SOURCE /* fmemopen */
#include "emu/trace_file.h"
#include "base/arena.h"
#include "determinism/orders.h"
#include "emu/trace.h"
#include "model/launch_estimate.h"
#include "model/time_lapse.h"
#include "tests/support/emu.h"
#include "tests/support/timing.h"
#include "tests/support/trace_bytes.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* A ticket for each warp, in the order of the last one first: a load polls, and a store publishes. */
static const char tickets[] =
    ".reg .u64 %a; .reg .u32 %t, %n, %w, %c, %v; .reg .pred %p; ld.param.u64 %a, [p];"
    "mov.u32 %t, %tid.x; shr.u32 %t, %t, 5; mov.u32 %n, %ntid.x; shr.u32 %n, %n, 5;"
    "mov.u32 %c, %ctaid.x; mov.u32 %w, %nctaid.x; sub.u32 %c, %w, %c; sub.u32 %c, %c, 1;"
    "mad.lo.u32 %t, %c, %n, %t;"
    "L: ld.volatile.global.u32 %v, [%a]; setp.ne.u32 %p, %v, %t; @%p bra L;"
    "add.u32 %v, %v, 1; st.volatile.global.u32 [%a], %v; ret;";

static const char body[] =
    ".reg .u64 %a, %b; .reg .u32 %t, %c, %n, %r<9>; .reg .pred %q; .shared .u32 s[32];"
    "ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x;"
    "mad.lo.u32 %t, %c, %n, %t; mul.wide.u32 %b, %t, 4; add.u64 %b, %a, %b;"
    "ld.global.u32 %r1, [%b]; st.shared.u32 [s], %r1; bar.sync 0;"
    "L: add.u32 %r1, %r1, 7; setp.lt.u32 %q, %r1, 40; @%q bra L;"
    "atom.global.cas.b32 %r3, [%a], %r1, %r1; red.global.add.u32 [%b], 1; st.global.u32 [%b+256], %r3; ret;";

struct file {
    struct orders *order;
    struct device device;
    const struct emu_counts *counts;
    char *bytes;
    size_t size;
};

static struct file file_of(const char *body, const char *order, uint32_t grid, uint32_t times)
{
    struct file f = {0};
    char *why = NULL;
    f.order = orders_new(order, 1, &why);
    cr_assert(why == NULL, "%s", why);
    f.device = device_new(emu_ptx(".param .u64 p", body),
                          (struct emu_config){.threads = 1, .order = orders_get(f.order)});
    f.counts = counts_of(&f.device, grid, 96);
    FILE *to = open_memstream(&f.bytes, &f.size);
    struct trace_writer w = {.file = to};
    cr_assert(trace_file_run(&w, "a run"));
    for (uint32_t i = 0; i < times; i++) cr_assert(trace_file_add(&w, f.counts));
    fclose(to);
    return f;
}

static struct file file_new(const char *order, uint32_t grid, uint32_t times)
{
    return file_of(body, order, grid, times);
}

static void file_free(struct file *f)
{
    free(f->bytes);
    device_free(&f->device);
    orders_free(f->order);
}

/* ---- a reader by the description alone ------------------------------------------------------------------ */

static uint32_t castagnoli(uint32_t crc, const unsigned char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int bit = 0; bit < 8; bit++) {
            const bool low = (crc ^ (uint32_t)at[i] >> bit) & 1;
            crc = crc / 2 ^ (low ? 0x82f63b78u : 0);
        }
    return crc;
}

/* The next frame's plain bytes, in a block of memory that the caller frees. */
static int frame(struct bytes *b, unsigned char **plain, struct bytes *inside)
{
    const unsigned char type = *b->at++;
    const size_t stored = bytes_number(b), size = (size_t)ZSTD_getFrameContentSize(b->at, stored);
    *plain = malloc(size + 1);
    cr_assert(eq(sz, ZSTD_decompress(*plain, size, b->at, stored), size));
    b->at += stored;
    const uint32_t want = ~castagnoli(castagnoli(~0u, &type, 1), *plain, size);
    const uint32_t got = b->at[0] + b->at[1] * 256u + b->at[2] * 65536u + b->at[3] * 16777216u;
    cr_expect(eq(u32, got, want));
    b->at += 4;
    *inside = (struct bytes){*plain, *plain + size};
    return type;
}

/* The same words, lines and elements, as the description says them. */
static void expect_warp(struct bytes *b, const struct trace_cta *c, const struct trace_warp *w,
                        int64_t *before)
{
    const uint64_t tokens = bytes_number(b);
    uint32_t at = 0;
    cr_expect(eq(u64, bytes_number(b), w->instructions));
    cr_expect(eq(u64, bytes_number(b), w->folded));
    cr_expect(eq(u64, bytes_number(b), w->plain));
    cr_expect(eq(u64, bytes_number(b), w->recorded));
    cr_expect(eq(u64, bytes_number(b), w->cut));
    for (uint64_t i = 0; i < tokens; i++) {
        const uint64_t word = bytes_number(b);
        cr_assert(eq(u64, word, w->words[at]));
        at++;
        if (word % 4 == 0) continue;
        const bool shared = word % 4 == 2;
        const uint32_t first = shared ? 0 : w->words[at++];
        const uint64_t size = bytes_number(b), lines = shared ? 0 : size >> 14,
                       lanes = size >> 7 & 127;
        cr_expect(eq(u64, size, w->words[at]));
        at++;
        for (uint64_t k = 0; k < lines; k++) {
            const struct trace_line *n = &c->lines[first + k];
            before[word / 4] += zigzag(bytes_number(b));
            cr_expect(eq(u64, (uint64_t)before[word / 4], n->line));
            const unsigned how = *b->at++, from = *b->at++;
            cr_expect(how % 16 == n->sectors && how / 16 == n->how);
            cr_expect(from % 16 == n->from_l2 && from / 16 == n->from_dram);
        }
        int64_t element = 0;
        for (uint64_t k = 0; size & 64 && k < lanes; k++)
            cr_expect(eq(u64, (uint64_t)(element += zigzag(bytes_number(b))), w->words[at++]));
    }
    cr_expect(eq(u32, at, w->count));
}

static void expect_cta(struct bytes *b, const struct emu_trace *t, uint32_t k)
{
    const struct trace_cta *c = t->ctas[k];
    int64_t *before = calloc(t->site_count, sizeof *before);
    cr_expect(eq(u64, bytes_number(b), 0)); /* not heavy */
    cr_expect(eq(u64, bytes_number(b), c->linear));
    cr_assert(eq(u64, bytes_number(b), c->warp_count));
    for (uint32_t w = 0; w < c->warp_count; w++) expect_warp(b, c, &c->warps[w], before);
    cr_expect(b->at == b->end);
    free(before);
}

Test(trace_file, is_what_its_description_says)
{
    static const char *const orders[] = {"native", "gpudet", "dab"};
    for (size_t o = 0; o < 3; o++) {
        struct file f = file_new(orders[o], 9, 1);
        struct bytes b = {(unsigned char *)f.bytes, (unsigned char *)f.bytes + f.size};
        cr_assert(memcmp(b.at, "HEDDLETR\6\0\0\0\0\0\0\0", 16) == 0);
        b.at += 16;
        char types[64] = "";
        uint32_t ctas = 0;
        while (b.at < b.end) {
            unsigned char *plain;
            struct bytes inside;
            const int type = frame(&b, &plain, &inside);
            cr_assert(lt(sz, strlen(types), sizeof types - 1));
            types[strlen(types)] = (char)('0' + type);
            if (type == 4) expect_cta(&inside, f.counts->trace, ctas++);
            free(plain);
        }
        cr_expect(eq(str, types, "1234444444445"));
        cr_expect(eq(u32, ctas, f.counts->trace->cta_count));
        file_free(&f);
    }
}

/* ---- reading, and writing again --------------------------------------------------------------------------- */

Test(trace_file, what_is_read_is_written_alike_and_takes_the_same_time)
{
    static const struct {
        const char *body, *order;
    } runs[] = {{body, "native"},
                {body, "gpudet:quantum=20"},
                {body, "dab:entries=32"},
                {tickets, "native"}};
    for (size_t o = 0; o < sizeof runs / sizeof *runs; o++) {
        struct file f = file_of(runs[o].body, runs[o].order, 50, 2);
        struct trace_file in = {.file = fmemopen(f.bytes, f.size, "r"), .arena = arena_new()};
        char *again;
        size_t size;
        FILE *to = open_memstream(&again, &size);
        struct trace_writer w = {.file = to};
        struct launch_estimate before, after;
        cr_assert(trace_file_run(&w, "a run"));
        cr_assert(launch_estimate_of(f.counts, &before));
        for (uint32_t i = 0; i < 2; i++) {
            const struct emu_counts *c = trace_file_next(&in);
            cr_assert(c != NULL, "%s", in.why);
            cr_expect(eq(u32, in.launch, i));
            cr_expect(eq(str, (char *)c->order, (char *)f.counts->order));
            cr_assert(launch_estimate_of(c, &after));
            cr_expect(eq(dbl, after.cycles, before.cycles));
            cr_expect(memcmp(before.part, after.part, sizeof after.part) == 0);
            cr_expect(eq(u64, after.thread_instructions, before.thread_instructions));
            cr_expect(eq(u32, after.warnings, before.warnings));
            cr_expect(eq(str, after.gpu, before.gpu));
            cr_assert(trace_file_add(&w, c));
        }
        cr_expect(trace_file_next(&in) == NULL && in.why == NULL);
        fclose(to);
        cr_assert(eq(sz, size, f.size));
        cr_expect(memcmp(again, f.bytes, size) == 0);
        free(again);
        fclose(in.file);
        arena_free(in.arena);
        file_free(&f);
    }
}

/* How many launches are read; -1: the file is refused. */
static int read_all(char *bytes, size_t size)
{
    struct trace_file in = {.file = fmemopen(bytes, size, "r"), .arena = arena_new()};
    int launches = 0;
    while (trace_file_next(&in)) launches++;
    if (in.why) launches = -1;
    fclose(in.file);
    arena_free(in.arena);
    return launches;
}

Test(trace_file, what_is_cut_off_is_refused)
{
    struct file f = file_new("native", 3, 2);
    int whole = 0;
    for (size_t n = 1; n < f.size; n++) {
        const int got = read_all(f.bytes, n);
        cr_expect(got <= 1, "%zu bytes", n);
        whole += got >= 0;
    }
    cr_expect(eq(int, whole, 3)); /* behind the head, the run and the first launch */
    cr_expect(eq(int, read_all(f.bytes, f.size), 2));
    file_free(&f);
}

Test(trace_file, what_is_flipped_is_refused_or_says_the_same, .timeout = 120)
{
    struct file f = file_new("gpudet", 4, 2);
    uint64_t random = 1;
    int refused = 0;
    for (int i = 0; i < 10000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t bit = (size_t)(random >> 20) % (8 * f.size);
        f.bytes[bit / 8] ^= (char)(1 << bit % 8);
        const int got = read_all(f.bytes, f.size);
        cr_expect(got == -1 || got == 2, "bit %zu", bit);
        refused += got == -1;
        f.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    cr_expect(gt(int, refused, 9900));
    file_free(&f);
}

/* The plain bytes as a frame of this type. */
static void put_frame(FILE *to, unsigned char type, const unsigned char *plain, size_t n)
{
    const size_t bound = ZSTD_compressBound(n);
    unsigned char *packed = malloc(bound);
    const size_t stored = ZSTD_compress(packed, bound, plain, n, 1);
    const uint32_t crc = ~castagnoli(castagnoli(~0u, &type, 1), plain, n);
    fputc(type, to);
    for (size_t x = stored;; x /= 128) {
        fputc((int)(x % 128 + (x >= 128) * 128), to);
        if (x < 128) break;
    }
    fwrite(packed, 1, stored, to);
    for (int k = 0; k < 4; k++) fputc((int)(crc >> 8 * k & 255), to);
    free(packed);
}

/* With a right checksum, but numbers that cannot be. */
Test(trace_file, wrong_numbers_in_whole_frames_do_no_harm, .timeout = 120)
{
    struct file f = file_new("native", 2, 1);
    uint64_t random = 7;
    for (int i = 0; i < 3000; i++) {
        struct bytes b = {(unsigned char *)f.bytes + 16, (unsigned char *)f.bytes + f.size};
        char *out;
        size_t size;
        FILE *to = open_memstream(&out, &size);
        fwrite(f.bytes, 1, 16, to);
        for (int k = 0; b.at < b.end; k++) {
            unsigned char *plain;
            struct bytes inside;
            const unsigned char type = (unsigned char)frame(&b, &plain, &inside);
            const size_t n = (size_t)(inside.end - inside.at);
            random = random * 6364136223846793005u + 1442695040888963407u;
            if (i % 6 == k) plain[(random >> 33) % n] = (unsigned char)(random >> 20);
            put_frame(to, type, plain, n);
            free(plain);
        }
        fclose(to);
        cr_expect(le(int, read_all(out, size), 1));
        free(out);
    }
    file_free(&f);
}

enum { OPTIONAL = 1 + 8 * 8 /* bytes of the GPU's optional numbers, and of how many there are */ };

/* As an older version had it, whose launch ends before the flag of lanes (4) or the optional numbers (5). Its digest begins
 * with another checksum. */
static char *older(const struct file *f, char version, size_t *size)
{
    struct bytes b = {(unsigned char *)f->bytes + 16, (unsigned char *)f->bytes + f->size};
    char *out, head[16] = "HEDDLETR";
    FILE *to = open_memstream(&out, size);
    uint32_t digest = 0;
    head[8] = version;
    fwrite(head, 1, sizeof head, to);
    while (b.at < b.end) {
        unsigned char *plain, end[20];
        struct bytes inside;
        const unsigned char type = (unsigned char)frame(&b, &plain, &inside);
        size_t n = (size_t)(inside.end - inside.at);
        if (type == 3) {
            n -= OPTIONAL;
            cr_expect(eq(int, plain[n], 8));
            cr_expect(eq(int, plain[n - 1], 1));
            n -= version < 5;
        }
        const uint32_t crc = ~castagnoli(castagnoli(~0u, &type, 1), plain, n);
        if (type == 3) digest = crc;
        if (type == 4) digest = digest * 31 + crc;
        if (type == 5) {
            uint64_t x = digest;
            (void)bytes_number(&inside);
            n = (size_t)(inside.at - plain);
            memcpy(end, plain, n);
            for (; x >= 128; x /= 128) end[n++] = (unsigned char)(x % 128 + 128);
            end[n++] = (unsigned char)x;
        }
        put_frame(to, type, type == 5 ? end : plain, n);
        free(plain);
    }
    fclose(to);
    return out;
}

/* The GPU is the default, but for the numbers that may be missing. */
Test(trace_file, version_5_is_read_without_optional_numbers)
{
    const struct emu_gpu *g = emu_gpu_find("h200");
    struct file f = file_new("native", 5, 1);
    size_t size;
    struct emu_counts of_h200 = *f.counts;
    of_h200.gpu = g;
    char *text;
    FILE *to = open_memstream(&text, &size);
    struct trace_writer w = {.file = to};
    cr_assert(trace_file_run(&w, "a run"));
    cr_assert(trace_file_add(&w, &of_h200));
    fclose(to);
    free(f.bytes);
    f.bytes = text, f.size = size;
    char *old = older(&f, 5, &size);
    const char *const files[] = {f.bytes, old};
    const size_t sizes[] = {f.size, size};
    for (int k = 0; k < 2; k++) {
        struct trace_file in = {.file = fmemopen((void *)files[k], sizes[k], "r"),
                                .arena = arena_new()};
        const struct emu_counts *c = trace_file_next(&in);
        cr_assert(c != NULL, "%s", in.why);
        const struct emu_gpu *r = c->gpu;
        const double one = k ? 0 : 1;
        cr_expect(c->trace->lanes);
        cr_expect(eq(dbl, r->sfu_lanes, g->sfu_lanes));
        cr_expect(eq(dbl, r->divide_f32_lanes, one * g->divide_f32_lanes));
        cr_expect(eq(dbl, r->sqrt_f32_lanes, one * g->sqrt_f32_lanes));
        cr_expect(eq(dbl, r->rcp_f32_lanes, one * g->rcp_f32_lanes));
        cr_expect(eq(dbl, r->divide_f32_latency, one * g->divide_f32_latency));
        cr_expect(eq(dbl, r->sqrt_f32_latency, one * g->sqrt_f32_latency));
        cr_expect(eq(dbl, r->rcp_f32_latency, one * g->rcp_f32_latency));
        cr_expect(eq(dbl, r->fence_latency, one * g->fence_latency));
        cr_expect(eq(dbl, r->l2_attempt, one * g->l2_attempt));
        fclose(in.file);
        arena_free(in.arena);
    }
    free(old);
    file_free(&f);
}

Test(trace_file, version_4_is_read_without_lanes)
{
    struct file f = file_new("native", 5, 1);
    size_t size;
    char *out = older(&f, 4, &size);
    struct trace_file in = {.file = fmemopen(out, size, "r"), .arena = arena_new()};
    const struct emu_counts *c = trace_file_next(&in);
    cr_assert(c != NULL, "%s", in.why);
    cr_expect(f.counts->trace->lanes && !c->trace->lanes);
    struct time_lapse lapse = {0};
    struct lapse_whole whole;
    struct launch_estimate estimate;
    cr_assert(launch_estimate_lapse(c, false, &lapse, &whole, &estimate));
    cr_expect(lapse.lanes == false && lapse.intervals > 0);
    for (uint32_t i = 0; i < lapse.intervals; i++) {
        for (int k = 0; k < LAPSE_LANE_BINS; k++)
            cr_expect(eq(u64, time_lapse_lanes(&lapse, i)[k], 0));
        cr_expect(eq(u64, time_lapse_sm(&lapse, i, 0)[LAPSE_THREADS], 0));
    }
    time_lapse_free(&lapse);
    fclose(in.file);
    arena_free(in.arena);
    free(out);
    file_free(&f);
}

/* ---- CTAs by the index -------------------------------------------------------------------------------------------- */

/* The CTAs are where the index says, read as docs/formats.md describes it. */
static void expect_index(const struct bytes *file, struct bytes index, const struct emu_trace *t,
                         uint32_t launches)
{
    uint64_t begin[2], traced[2];
    cr_assert(eq(u64, bytes_number(&index), launches));
    for (uint32_t i = 0; i < launches; i++) {
        uint64_t x[5];
        for (int k = 0; k < 5; k++) x[k] = bytes_number(&index);
        begin[i] = x[4];
        for (int k = 0; k < 3; k++) {
            const uint64_t length = bytes_number(&index);
            index.at += length;
        }
        cr_expect(eq(u64, bytes_number(&index), t->cta_count)); /* of the grid */
        traced[i] = bytes_number(&index);
        cr_expect(eq(u64, traced[i], t->cta_count));
        for (int k = 0; k < 2; k++) (void)bytes_number(&index);
    }
    for (int k = 0; k < 2; k++) (void)bytes_number(&index);
    for (uint32_t i = 0; i < launches; i++) {
        int64_t linear = 0;
        for (uint32_t k = 0; k < traced[i]; k++) {
            unsigned char *plain;
            struct bytes inside;
            linear += zigzag(bytes_number(&index));
            begin[i] += bytes_number(&index);
            struct bytes at = {file->at + begin[i], file->end};
            cr_expect(eq(int, frame(&at, &plain, &inside), 4));
            cr_expect(eq(i64, linear, (int64_t)t->ctas[k]->linear));
            expect_cta(&inside, t, k);
            free(plain);
        }
    }
    cr_expect(index.at == index.end);
}

static void expect_same_cta(const struct trace_cta *a, const struct trace_cta *b)
{
    cr_assert(a->linear == b->linear && a->warp_count == b->warp_count);
    cr_assert(eq(u32, a->line_count, b->line_count));
    for (uint32_t w = 0; w < a->warp_count; w++) {
        cr_assert(eq(u32, a->warps[w].count, b->warps[w].count));
        cr_expect(memcmp(a->warps[w].words, b->warps[w].words,
                         a->warps[w].count * sizeof *a->warps[w].words) == 0);
    }
}

Test(trace_file, each_cta_is_read_alone_by_the_index)
{
    enum { LAUNCHES = 2, CTAS = 9 };
    struct file f = file_new("native", CTAS, LAUNCHES);
    FILE *file = tmpfile();
    size_t launches = 0;
    cr_assert(fwrite(f.bytes, 1, f.size, file) == f.size);
    cr_assert(trace_index_add(file, &launches) && launches == LAUNCHES);
    const size_t size = (size_t)ftell(file);
    unsigned char *bytes = malloc(size);
    rewind(file);
    cr_assert(eq(sz, fread(bytes, 1, size, file), size));
    struct trace_file in = {.file = file, .arena = arena_new()};
    const struct trace_index *x = trace_index_read(&in);
    cr_assert(x && x->count == LAUNCHES, "%s", in.why);
    struct trace_file whole = {.file = fmemopen(bytes, size, "r"), .arena = arena_new()};
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        const struct emu_counts *want = trace_file_next(&whole);
        for (uint32_t k = 0; k < CTAS; k++) {
            const uint64_t before = in.frames;
            const struct emu_counts *c = trace_file_cta(&in, &x->list[i], k);
            cr_assert(c && c->trace->cta_count == 1, "%s", in.why);
            cr_expect(eq(u32, in.launch, i));
            cr_expect(eq(u64, in.frames - before, 4)); /* run, code, launch, CTA */
            expect_same_cta(c->trace->ctas[0], want->trace->ctas[k]);
        }
    }
    fclose(whole.file);
    arena_free(whole.arena);
    cr_expect(trace_file_cta(&in, &x->list[0], CTAS) == NULL && in.why == NULL);
    struct bytes all = {bytes, bytes + size}, index = {bytes + x->bytes, bytes + size};
    unsigned char *plain;
    struct bytes inside;
    cr_assert(eq(int, frame(&index, &plain, &inside), 9));
    expect_index(&all, inside, f.counts->trace, LAUNCHES);
    free(plain);
    /* a damaged CTA is refused, and only that */
    bytes[x->list[0].cta[3].begin + 8] ^= 1;
    rewind(file);
    cr_assert(fwrite(bytes, 1, size, file) == size);
    cr_expect(trace_file_cta(&in, &x->list[0], 4) != NULL);
    cr_expect(trace_file_cta(&in, &x->list[0], 3) == NULL && in.why != NULL);
    fclose(file);
    free(bytes);
    arena_free(in.arena);
    file_free(&f);
}

/* With a right checksum, but places and numbers that cannot be: a CTA is refused, or it is the one of that number. */
Test(trace_file, wrong_places_in_an_index_do_no_harm, .timeout = 120)
{
    struct file f = file_new("native", 5, 2);
    FILE *file = tmpfile();
    size_t launches;
    cr_assert(fwrite(f.bytes, 1, f.size, file) == f.size && trace_index_add(file, &launches));
    const size_t size = (size_t)ftell(file);
    unsigned char *bytes = malloc(size), *plain;
    rewind(file);
    cr_assert(eq(sz, fread(bytes, 1, size, file), size));
    fclose(file);
    struct bytes at = {bytes + f.size, bytes + size}, index;
    cr_assert(eq(int, frame(&at, &plain, &index), 9));
    const size_t n = (size_t)(index.end - index.at), trailer = (size_t)(at.end - at.at);
    uint64_t random = 5;
    int refused = 0;
    for (int i = 0; i < 1000; i++) {
        char *out;
        size_t all;
        FILE *to = open_memstream(&out, &all);
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned char *const byte = &plain[(random >> 33) % n], was = *byte;
        *byte = (unsigned char)(random >> 20);
        fwrite(bytes, 1, f.size, to);
        put_frame(to, 9, plain, n);
        fwrite(at.at, 1, trailer, to);
        fclose(to);
        *byte = was;
        struct trace_file in = {.file = fmemopen(out, all, "r"), .arena = arena_new()};
        const struct trace_index *x = trace_index_read(&in);
        for (size_t l = 0; x && l < x->count && l < 4; l++)
            for (uint64_t k = 0; k < x->list[l].traced && k < 8; k++) {
                const struct emu_counts *c = trace_file_cta(&in, &x->list[l], k);
                if (c) cr_expect(lt(u32, c->trace->ctas[0]->linear, 5));
                refused += !c;
                in.why = NULL;
            }
        fclose(in.file);
        arena_free(in.arena);
        free(out);
    }
    cr_expect(gt(int, refused, 300));
    free(plain);
    free(bytes);
    file_free(&f);
}
