/* libFuzzer: whatever a trace file holds, its reader (emu/trace_file.h) refuses it or gives launches whose words, lines and
 * blocks are within their arrays.
 *
 *     input:  frames: type (1 byte), size (2 bytes, the low one first), plain bytes. This program compresses them and adds
 *             the checksums, as random changes of a file would never get behind these.
 *             "HEDDLETR...": a file as it is.
 *
 *     fuzz_trace --plain FILE.hdt OUT      writes a file's frames as such an input
 *
 * An END frame gets the number of CTAs and the digest that belong to the frames before, unless its first byte is 0. The end
 * of events likewise gets its numbers of frames and its digest; the numbers of instructions and accesses are the input's. */
#define _GNU_SOURCE
#include "base/arena.h"
#include "base/buf.h"
#include "emu/measure/trace_codec.h"
#include "emu/trace.h"
#include "emu/trace_events.h"
#include "emu/trace_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 16, MOST = 1 << 16 };

static struct {
    uint64_t inputs, launches, whole, sum;
} totals;

static void report(void)
{
    fprintf(stderr, "%llu inputs, %llu of them whole; %llu launches (sum %llx)\n",
            (unsigned long long)totals.inputs, (unsigned long long)totals.whole,
            (unsigned long long)totals.launches, (unsigned long long)totals.sum);
}

static int to_plain(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    if (!in || !out || fseek(in, HEAD, SEEK_SET) != 0) return 1;
    for (struct frame f; frame_read(in, TRACE_FRAME_MOST, &f) == 1; free(f.plain)) {
        if (f.size >= MOST) return 1;
        const uint8_t head[] = {f.type, (uint8_t)f.size, (uint8_t)(f.size >> 8)};
        (void)fwrite(head, 1, sizeof head, out);
        (void)fwrite(f.plain, 1, f.size, out);
    }
    return fclose(in) != 0 || fclose(out) != 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc == 4 && strcmp((*argv)[1], "--plain") == 0) exit(to_plain((*argv)[2], (*argv)[3]));
    (void)atexit(report);
    return 0;
}

static void write_frames(FILE *out, const uint8_t *data, size_t size)
{
    static const uint8_t head[HEAD] = {'H', 'E', 'D', 'D', 'L', 'E', 'T', 'R', TRACE_FILE_VERSION};
    uint32_t digest = 0, parts = 0;
    (void)fwrite(head, 1, sizeof head, out);
    while (size >= 3) {
        const uint8_t type = data[0];
        size_t n = data[1] | (size_t)data[2] << 8;
        data += 3, size -= 3;
        if (n > size) n = size;
        struct buf b = {0};
        const bool ends = type == TRACE_FRAME_END || type == TRACE_FRAME_EVENTS_END;
        if (ends && n && data[0]) {
            put_number(&b, parts);
            put_number(&b, digest);
            struct cursor c = {data, data + n, false};
            (void)get_number(&c), (void)get_number(&c);
            if (type == TRACE_FRAME_EVENTS_END)
                buf_add(&b, (const char *)c.at, (size_t)(c.end - c.at));
        } else buf_add(&b, (const char *)data, n);
        const uint32_t crc = crc32c(crc32c(0, &type, 1), b.data, b.size);
        if (type == TRACE_FRAME_LAUNCH || type == TRACE_FRAME_EVENTS_BEGIN) digest = crc, parts = 0;
        if (type == TRACE_FRAME_CTA || type == TRACE_FRAME_EVENTS)
            digest = digest * 31 + crc, parts++;
        if (type == TRACE_FRAME_TRAILER) (void)frame_write_raw(out, b.data, b.size);
        else (void)frame_write(out, type, &b);
        buf_free(&b);
        data += n, size -= n;
    }
}

/* Reads all that a user of the trace reads. */
static uint64_t sum_of(const struct emu_trace *t, const struct trace_cta *c)
{
    uint64_t sum = c->linear;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct trace_warp *warp = &c->warps[w];
        for (uint32_t at = 0; at < warp->count;) {
            const uint32_t *words = warp->words + at;
            if ((words[0] & 3) == TRACE_BLOCK) {
                const struct trace_block *b = &t->blocks[TRACE_BLOCK_OF(words[0])];
                for (uint32_t i = 0; i < b->count; i++) sum += t->insts[b->first + i].reads;
                at++;
                continue;
            }
            const uint32_t n = TRACE_SIZE_N(words[(words[0] & 3) == TRACE_SHARED ? 1 : 2]);
            sum += t->insts[t->site_inst[words[0] >> 2]].reg;
            for (uint32_t i = 0; (words[0] & 3) != TRACE_SHARED && i < n; i++)
                sum += c->lines[words[1] + i].sectors;
            at += 1 + trace_access_words(words);
        }
    }
    return sum;
}

/* What a converter uses of events. */
static void hear_issue(void *self, const struct emu_warp *who, uint32_t pc, uint32_t lanes)
{
    const struct trace_launch *const *l = self;
    totals.sum += (*l)->insts[pc].reg + (*l)->own[pc] + who->warp + lanes;
}

static void hear_access(void *self, const struct emu_access *a)
{
    (void)self;
    for (uint32_t m = a->contiguous ? 1 : a->lanes; m; m &= m - 1)
        totals.sum += a->address[__builtin_ctz(m)];
}

static const struct trace_launch *heard;
static const struct emu_observer listener = {
    .self = &heard, .issue = hear_issue, .access = hear_access};

static void hear_begin(void *self, const struct trace_launch *l)
{
    (void)self;
    heard = l;
    totals.launches++;
}

static const struct emu_observer *hear_observer(void *self)
{
    (void)self;
    return &listener;
}

static const struct trace_events_sink hearer = {.begin = hear_begin, .observer = hear_observer};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = NULL;
    size_t length = 0;
    uint64_t sum = 0;
    FILE *out = open_memstream(&bytes, &length);
    if (!out) abort();
    if (size >= 8 && memcmp(data, "HEDDLETR", 8) == 0) (void)fwrite(data, 1, size, out);
    else write_frames(out, data, size);
    (void)fclose(out);
    struct trace_file in = {.file = fmemopen(bytes, length, "rb"), .arena = arena_new()};
    if (!in.file) abort();
    in.sink = &hearer;
    for (const struct emu_counts *c; (c = trace_file_next(&in)); totals.launches++) {
        const struct emu_trace *t = c->trace;
        for (uint32_t i = 0; i < t->inst_count; i++)
            for (uint32_t k = 0; k < t->insts[i].reads + t->insts[i].writes; k++)
                sum += t->regs[t->insts[i].reg + k];
        for (uint32_t i = 0; i < t->cta_count; i++) sum += sum_of(t, t->ctas[i]);
        for (uint32_t i = 0; i < t->heavy_count; i++) sum += sum_of(t, t->heavy[i]);
        for (uint32_t i = 0; i < t->inst_count; i++) sum += c->instructions[t->insts[i].place].warp;
    }
    totals.inputs++;
    totals.sum += sum;
    totals.whole += !in.why;
    (void)fclose(in.file);
    arena_free(in.arena);
    free(bytes);
    return 0;
}
