/* Files with a record for each access (determinism/record/access_trace.h), read by a reader that is written from the
 * description of the formats: figures 5.2 and 5.3 and table 5.1 of the thesis, and the comment at the head of
 * cuda-memtrace's format. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "base/arena.h"
#include "base/diag.h"
#include "determinism/record/access_trace.h"
#include "emu/emu.h"
#include "emu/memory.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(access_trace, .timeout = 60);

/* Every thread: a load of 8 bytes, all kinds of atomics, a store to shared memory, a store of 4 bytes at a stride of 12.
 * Lanes 0 to 2 do the first; the loads of a warp are adjacent. */
static const char text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry work(.param .u64 p)\n{\n"
    ".reg .b32 %r<4>; .reg .b64 %d<6>; .shared .u32 s[32];\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 8; add.u64 %d2, %d1, %d2;\n"
    "ld.global.u64 %d3, [%d2];\n"
    "atom.global.add.u32 %r2, [%d1+4096], 1; red.global.add.f32 [%d1+4100], 0f3f800000;\n"
    "atom.global.exch.b32 %r2, [%d1+4104], 1; atom.global.min.u32 %r2, [%d1+4108], 1;\n"
    "red.global.max.u32 [%d1+4112], 1; atom.global.inc.u32 %r2, [%d1+4116], 9;\n"
    "atom.global.dec.u32 %r2, [%d1+4120], 9; atom.global.cas.b32 %r2, [%d1+4124], 1, 2;\n"
    "atom.global.and.b32 %r2, [%d1+4128], 1; atom.global.or.b32 %r2, [%d1+4132], 1;\n"
    "red.global.xor.b32 [%d1+4136], 1;\n"
    "st.shared.u32 [s], %r1; mul.wide.u32 %d4, %r1, 12; add.u64 %d4, %d1, %d4;\n"
    "st.global.u32 [%d4+8192], %r1;\n"
    "ret;\n}\n"
    ".visible .entry idle()\n{ ret; }\n";

struct record {
    uint64_t address;
    uint32_t sm, kind, size, x, y, z;
};

struct reading {
    struct record list[4096];
    size_t count, runs;
    char kernels[8][32];
    size_t kernel_at[8], kernel_count;
};
static struct reading reading;

static uint64_t bits(const uint8_t *p, size_t count)
{
    uint64_t v = 0;
    for (size_t i = 0; i < count; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* A file of version 3: marks 00 (kernel), ff (record) and fe (record and count). */
static void read_v3(const uint8_t *p, const uint8_t *end)
{
    cr_assert(memcmp(p,
                     "\x1a"
                     "CUDATRACE",
                     10) == 0);
    for (p += 10; p < end;) {
        const uint8_t mark = *p++;
        if (mark == 0) {
            const size_t n = bits(p, 2);
            memcpy(reading.kernels[reading.kernel_count], p + 2, n);
            reading.kernel_at[reading.kernel_count++] = reading.count;
            p += 2 + n;
            continue;
        }
        cr_assert(mark == 0xff || mark == 0xfe);
        const uint64_t count = mark == 0xfe ? bits(p + 24, 2) : 1;
        struct record r = {bits(p + 8, 8),
                           (uint32_t)bits(p + 4, 4),
                           p[3] >> 4,
                           (uint32_t)bits(p, 4) & 0xfffffff,
                           (uint32_t)bits(p + 20, 4),
                           (uint32_t)bits(p + 18, 2),
                           (uint32_t)bits(p + 16, 2)};
        for (uint64_t i = 0; i < count; i++, r.address += r.size) reading.list[reading.count++] = r;
        reading.runs++;
        p += mark == 0xfe ? 26 : 24;
    }
}

/* A file of the thesis: length, LF; then for each launch name, LF, records, a record of zeros. Bit 0 of a record comes
 * first. */
static void read_thesis(const uint8_t *p, const uint8_t *end)
{
    cr_assert(p[0] == 24 && p[1] == '\n');
    for (p += 2; p < end;) {
        const uint8_t *lf = memchr(p, '\n', (size_t)(end - p));
        memcpy(reading.kernels[reading.kernel_count], p, (size_t)(lf - p));
        reading.kernel_at[reading.kernel_count++] = reading.count;
        for (p = lf + 1;; p += 24) {
            static const uint8_t zero[24];
            cr_assert(p + 24 <= end);
            if (memcmp(p, zero, 24) == 0) break;
            reading.list[reading.count++] = (struct record){bits(p + 8, 8),
                                                            (uint32_t)bits(p + 20, 4),
                                                            p[19] >> 4,
                                                            (uint32_t)bits(p + 16, 4) & 0xfffffff,
                                                            (uint32_t)bits(p + 4, 4),
                                                            (uint32_t)bits(p + 2, 2),
                                                            (uint32_t)bits(p, 2)};
        }
        p += 24;
    }
}

static void read_file(const char *path, enum access_trace_format format)
{
    static uint8_t bytes[1 << 18];
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL, "%s", path);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    memset(&reading, 0, sizeof reading);
    if (format == ACCESS_TRACE_THESIS) read_thesis(bytes, bytes + size);
    else read_v3(bytes, bytes + size);
}

struct bench {
    struct arena *arena;
    struct emu *emu;
    struct emu_image *image;
    struct ptx_module *module;
    uint64_t memory;
};

static void set_up(struct bench *b)
{
    char *why = NULL;
    static struct source source;
    static struct diags diags;
    b->arena = arena_new();
    source = (struct source){"test.ptx", text, sizeof text - 1};
    diags = (struct diags){.arena = b->arena, .source = &source};
    b->module = ptx_module_parse(b->arena, &source, &diags);
    cr_assert(ptx_module_check(b->module));
    b->emu = emu_new(&(struct emu_config){.sms = 4});
    b->image = emu_load(b->emu, &b->module, 1, &why);
    cr_assert(b->image != NULL, "%s", why);
    b->memory = emu_alloc(b->emu, 1 << 16, "p");
}

static void launch(struct bench *b, struct access_trace *t, size_t kernel, uint32_t x, uint32_t y,
                   uint32_t z)
{
    const struct emu_observer *list[] = {access_trace_observer(t)};
    struct emu_launch l = {.grid = {x, y, z},
                           .block = {3, 1, 1},
                           .params = &b->memory,
                           .params_size = kernel ? 0 : 8,
                           .observers = list,
                           .observer_count = 1};
    const struct emu_report *r = emu_launch(b->emu, emu_kernel_at(b->image, kernel), &l);
    cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
}

static void tear_down(struct bench *b)
{
    emu_unload(b->image);
    emu_free(b->emu);
    ptx_module_end(b->module);
    arena_free(b->arena);
}

static void expect_launch(const struct bench *b, enum access_trace_format format)
{
    /* Table 5.1: load 1, store 2, add 3, exch 5, min 6, max 7, inc 8, dec 9, cas 10, and 11, or 12, xor 13. */
    static const uint32_t kinds[] = {3, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    const bool thesis = format == ACCESS_TRACE_THESIS;
    cr_assert(eq(sz, reading.count, 6 * 13 * 3)); /* CTAs, accesses, lanes */
    for (size_t i = 0; i < reading.count; i++) {
        const struct record *r = &reading.list[i];
        const size_t n = i / 3 % 13, lane = i % 3, cta = i / 39;
        const uint64_t offset = !n ? 8 * lane : n == 12 ? 8192 + 12 * lane : 4096 + 4 * (n - 1);
        const uint32_t kind = !n        ? (uint32_t)thesis
                              : n == 12 ? 1u + thesis
                              : thesis  ? kinds[n - 1]
                                        : 2;
        cr_expect(eq(u64, r->address, b->memory + offset), "%zu", i);
        cr_expect(eq(u32, r->kind, kind), "%zu", i);
        cr_expect(eq(u32, r->size, n ? 4 : 8));
        cr_expect(r->x == cta % 3 && r->y == cta / 3 % 2 && r->z == 0, "%zu", i);
        cr_expect(eq(u32, r->sm, (uint32_t)cta % 4));
    }
}

static void check_format(enum access_trace_format format)
{
    struct bench b;
    char path[64], other[64];
    (void)snprintf(path, sizeof path, "/tmp/heddle-accesses-%d.t.trc", (int)getpid());
    (void)snprintf(other, sizeof other, "/tmp/heddle-accesses-%d.t-7.trc", (int)getpid());
    set_up(&b);
    struct access_trace *t = access_trace_new(path, format, &access_trace_all);
    launch(&b, t, 0, 3, 2, 1);
    access_trace_stream(t, 7);
    launch(&b, t, 1, 1, 1, 1);
    launch(&b, t, 0, 1, 1, 2);
    const char *why = access_trace_end(t);
    cr_expect(why == NULL, "%s", why ? why : "");
    read_file(path, format);
    expect_launch(&b, format);
    cr_expect(reading.kernel_count == 1 && strcmp(reading.kernels[0], "work") == 0);
    /* In each CTA one record for the loads, one for each of the 33 atomics and 3 stores; but the last lane of each of 10
     * atomics and the first of the next one are adjacent. */
    if (format == ACCESS_TRACE_V3) cr_expect(eq(sz, reading.runs, (size_t)6 * (1 + 33 + 3 - 10)));
    read_file(other, format);
    cr_assert(eq(sz, reading.kernel_count, 2));
    cr_expect(strcmp(reading.kernels[0], "idle") == 0 && strcmp(reading.kernels[1], "work") == 0);
    cr_expect(eq(sz, reading.kernel_at[1], 0));
    cr_expect(eq(sz, reading.count, 2 * 13 * 3));
    cr_expect(reading.list[reading.count - 1].z == 1 && reading.list[0].z == 0);
    (void)unlink(path);
    (void)unlink(other);
    tear_down(&b);
}

Test(access_trace, the_thesis_s_format)
{
    check_format(ACCESS_TRACE_THESIS);
}

Test(access_trace, version_3_of_cuda_memtrace)
{
    check_format(ACCESS_TRACE_V3);
}

Test(access_trace, what_cannot_be_written_is_said)
{
    struct bench b;
    set_up(&b);
    struct access_trace *t = access_trace_new("/dev/full", ACCESS_TRACE_V3, &access_trace_all);
    launch(&b, t, 0, 1, 1, 1);
    cr_expect(eq(str, (char *)access_trace_end(t), "'/dev/full': No space left on device"));
    t = access_trace_new("/none/x.trc", ACCESS_TRACE_THESIS, &access_trace_all);
    launch(&b, t, 0, 1, 1, 1);
    cr_expect(eq(str, (char *)access_trace_end(t), "'/none/x.trc': No such file or directory"));
    tear_down(&b);
}
