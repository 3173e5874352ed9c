/* Host threads take CTAs many at once (emu/sched/launch.c); what becomes visible in the order of CTAs does not depend on
 * it. Each run is compared with that of one host thread, whose results are compared with what the kernels say. */
#include "heddle.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { CTAS = 1481, TURNS = 12 };

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    ".global .b8 format[4] = {37, 117, 32, 0};\n" /* "%u " */
    /* Each CTA marks its word; from some CTA on, which takes long, some print. */
    ".visible .entry late_text(.param .u64 p, .param .u32 from)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .local .align 8 .b8 args[8];\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; add.u32 %r3, %r1, 1;\n"
    "mov.u32 %r5, 0; some: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 500; @%p2 bra some;\n"
    "st.global.u32 [%d2], %r3; setp.ne.u32 %p1, %r2, 0; @%p1 ret;\n"
    "ld.param.u32 %r6, [from]; setp.lt.u32 %p2, %r1, %r6; @%p2 ret;\n"
    "rem.u32 %r4, %r1, 37; setp.ne.u32 %p3, %r4, 0; @%p3 ret;\n"
    "mov.u32 %r5, 0; setp.ne.u32 %p1, %r1, %r6; @%p1 bra soon;\n"
    "late: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 100000; @%p2 bra late;\nsoon:\n"
    "st.local.u32 [args], %r1; mov.u64 %d3, format; cvta.global.u64 %d3, %d3;\n"
    "mov.u64 %d4, args; cvta.local.u64 %d4, %d4;\n"
    "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %d3;\n"
    "st.param.b64 [a], %d4; call.uni (r), vprintf, (f, a); }\nret;\n}\n"
    /* The sum of floats so different that their order matters, from CTA 700 on. */
    ".visible .entry late_sum(.param .u64 p)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; setp.lt.u32 %p1, %r1, 700; @%p1 ret;\n"
    "mul.lo.u32 %r2, %r1, 7919; and.b32 %r3, %r2, 31; add.u32 %r3, %r3, 117; shl.b32 %r3, %r3, 23;\n"
    "and.b32 %r4, %r2, 0x7fffff; or.b32 %r3, %r3, %r4; mov.b32 %f1, %r3;\n"
    "red.global.add.f32 [%d1], %f1; ret;\n}\n"
    /* CTAs 350, 450, ... fail. */
    ".visible .entry late_fault(.param .u64 p)\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x;\n"
    "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; add.u32 %r3, %r1, 1;\n"
    "st.global.u32 [%d2], %r3; setp.lt.u32 %p1, %r1, 333; @%p1 ret;\n"
    "rem.u32 %r4, %r1, 100; setp.ne.u32 %p2, %r4, 50; @%p2 ret; mov.u64 %d3, 16;\n"
    "st.global.u32 [%d3], %r1; ret;\n}\n";

struct printed {
    char text[4096];
    size_t size;
};

static void print(void *self, const char *t, size_t size)
{
    struct printed *p = self;
    cr_assert(p->size + size < sizeof p->text);
    memcpy(p->text + p->size, t, size);
    p->size += size;
}

struct outcome {
    struct printed printed;
    uint32_t words[CTAS];
    bool fault;
    char said[512];
};

static struct outcome run(const char *kernel, unsigned threads, bool counts, uint64_t from)
{
    struct outcome out = {0};
    struct heddle_module *m = heddle_module_read("test.ptx", text, strlen(text), NULL);
    cr_assert(heddle_module_ok(m), "%s", heddle_module_messages_text(m));
    struct heddle_device *d = heddle_device_new(&(struct heddle_device_options){
        .threads = threads, .count = counts, .print = print, .print_self = &out.printed});
    cr_assert(heddle_device_load(d, &m, 1), "%s", heddle_device_error(d));
    const uint64_t words = heddle_device_alloc(d, sizeof out.words, "words");
    memset(out.words, 0, sizeof out.words);
    heddle_device_write(d, words, out.words, sizeof out.words);
    const uint64_t args[2] = {words, from};
    const struct heddle_run r = heddle_device_launch(d, kernel, (uint32_t[]){CTAS, 1, 1},
                                                     (uint32_t[]){32, 1, 1}, 0, args,
                                                     strcmp(kernel, "late_text") == 0 ? 2 : 1);
    out.fault = r.fault;
    snprintf(out.said, sizeof out.said, "%s", r.fault ? r.text : "");
    heddle_device_read(d, out.words, words, sizeof out.words);
    heddle_device_free(d);
    heddle_module_free(m);
    return out;
}

static const unsigned threads[] = {2, 3, 7, 64};
enum { THREADS = sizeof threads / sizeof *threads };

/* Of the last one alone, too, which is printed after all other host threads have ended. */
Test(emu_batches, text_comes_in_the_order_of_ctas)
{
    for (uint32_t from = 0; from < CTAS; from += 740) /* 1480: only the last */ {
        char want[4096];
        size_t size = 0;
        for (uint32_t i = from; i < CTAS; i++)
            if (i % 37 == 0) size += (size_t)snprintf(want + size, sizeof want - size, "%u ", i);
        for (unsigned i = 0; i < TURNS; i += THINNED) {
            const struct outcome o = run("late_text", threads[i % THREADS], i & 1, from);
            cr_assert(!o.fault, "%s", o.said);
            cr_expect_str_eq(o.printed.text, want, "%u threads", threads[i % THREADS]);
            for (uint32_t c = 0; c < CTAS; c++) cr_assert_eq(o.words[c], c + 1);
        }
    }
}

Test(emu_batches, reductions_come_in_the_order_of_ctas)
{
    float sum = 0, other = 0;
    for (uint32_t i = 700; i < CTAS; i++)
        for (uint32_t lane = 0; lane < 32; lane++) {
            const uint32_t bits = ((i * 7919 & 31) + 117) << 23 | (i * 7919 & 0x7fffff);
            float f;
            memcpy(&f, &bits, sizeof f);
            sum += f;
        }
    for (uint32_t i = CTAS; i-- > 700;)
        for (uint32_t lane = 0; lane < 32; lane++) {
            const uint32_t bits = ((i * 7919 & 31) + 117) << 23 | (i * 7919 & 0x7fffff);
            float f;
            memcpy(&f, &bits, sizeof f);
            other += f;
        }
    cr_assert_neq(sum, other);
    for (unsigned i = 0; i < TURNS; i++) {
        const struct outcome o = run("late_sum", threads[i % THREADS], i & 1, 0);
        float got;
        memcpy(&got, o.words, sizeof got);
        cr_assert(!o.fault, "%s", o.said);
        cr_expect_eq(got, sum, "%u threads: %a, not %a", threads[i % THREADS], (double)got,
                     (double)sum);
    }
}

Test(emu_batches, the_first_fault_is_reported)
{
    for (unsigned i = 0; i < TURNS; i++) {
        const struct outcome o = run("late_fault", threads[i % THREADS], i & 1, 0);
        cr_assert(o.fault);
        cr_expect(strstr(o.said, "CTA (350,0,0)"), "%u threads: %s", threads[i % THREADS], o.said);
        for (uint32_t c = 0; c < 350; c++) cr_assert_eq(o.words[c], c + 1, "CTA %u", c);
    }
}
