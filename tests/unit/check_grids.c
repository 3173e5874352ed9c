/* Races between a grid and the grids that it launches, and among these: emu/device/check_grids.h. What is ordered follows
 * from the CUDA programming guide (dynamic parallelism): a child grid sees what its thread did before the launch, nothing
 * orders it with what comes behind; grids in a stream of a CTA run in their order, tail launches come last. */
#include "heddle.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define DECLARE                                                                                      \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                                                \
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 "   \
    ".b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"                                        \
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"        \
    ".extern .func (.param .b32 r) __cudaCDP2StreamCreateWithFlags(.param .b64 s, .param .b32 f);\n" \
    ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n"

/* start(kernel, stream, out, v): one CTA of one thread of a kernel (u64 out, u32 v). */
#define START                                                                                             \
    ".func start(.param .b64 k, .param .b64 st, .param .b64 out, .param .b32 v)\n{\n"                     \
    " .reg .b64 %d<5>; .reg .b32 %r<4>;\n .param .b64 f; .param .align 4 .b8 g[12];"                      \
    " .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 buf; .param .b32 err;\n"                      \
    " ld.param.u64 %d1, [k]; st.param.b64 [f], %d1; st.param.b32 [g], 1; st.param.b32 [g+4], 1;"          \
    " st.param.b32 [g+8], 1;\n st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;"        \
    " st.param.b32 [s], 0;\n call (buf), __cudaCDP2GetParameterBufferV2, (f, g, b, s);"                   \
    " ld.param.b64 %d2, [buf];\n ld.param.u64 %d3, [out]; st.u64 [%d2], %d3; ld.param.u32 %r2, [v];"      \
    " st.u32 [%d2+8], %r2;\n ld.param.u64 %d4, [st]; { .param .b64 p; .param .b64 q;"                     \
    " st.param.b64 [p], %d2; st.param.b64 [q], %d4;\n call (err), __cudaCDP2LaunchDeviceV2, (p, q); }\n " \
    "ret;\n}\n"

#define LAUNCH(k, st, v)                                                                           \
    " { .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 e; mov.u64 %d7, " k               \
    "; st.param.b64 [a], %d7;\n mov.u64 %d7, " st "; st.param.b64 [b], %d7; st.param.b64 [c], "    \
    "%d1; st.param.b32 [e], " v ";\n call start, (a, b, c, e); }\n"
#define HEAD(name)                                                                                 \
    ".visible .entry " name "(.param .u64 out, .param .u32 v)\n{\n"                                \
    " .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<9>; .local .align 8 .b8 streams[16];\n"      \
    " ld.param.u64 %d1, [out]; ld.param.u32 %r1, [v]; mov.u32 %r3, %ctaid.x;\n"

#define WAIT " { .param .b32 r; call (r), cudaDeviceSynchronize, (); }\n"
#define READ " ld.global.u32 %r5, [%d1];\n"
#define WRITE " st.global.u32 [%d1], 5;\n"
#define ADD " red.global.add.u32 [%d1], 1;\n"
#define STRONG " st.relaxed.gpu.global.u32 [%d1], 6;\n"
#define LOW " st.global.u8 [%d1], 1;\n"
#define HIGH " st.global.u16 [%d1+2], 2;\n"
#define TWO_STREAMS                                                                                \
    " mov.u64 %d5, streams; cvta.local.u64 %d5, %d5; { .param .b64 a; .param .b32 f, r;\n"         \
    " st.param.b64 [a], %d5; st.param.b32 [f], 1; call (r), __cudaCDP2StreamCreateWithFlags, "     \
    "(a, f);\n add.u64 %d6, %d5, 8; st.param.b64 [a], %d6; call (r), "                             \
    "__cudaCDP2StreamCreateWithFlags, (a, f); }\n ld.u64 %d3, [%d5]; ld.u64 %d4, [%d5+8];\n"

/* What a child does, by v: 0 read, 1 write, 2 add, 3 strong, 4 low, 5 high, 6: a child of its own writes. */
#define CHILD(name, body) HEAD(name) body " ret;\n}\n"
static const char children[] = DECLARE START CHILD("read", READ) CHILD("write", WRITE)
    CHILD("add", ADD) CHILD("strong", STRONG) CHILD("low", LOW) CHILD("high", HIGH)
        CHILD("idle", "") CHILD("deep", LAUNCH("write", "0", "0"))
            CHILD("waits", LAUNCH("write", "0", "0") WAIT);

static const struct {
    const char *name, *body;
    uint32_t ctas;
    size_t races;
    const char *says[2];
} rows[] = {
    {"written before, read by the child", WRITE LAUNCH("read", "0", "0"), 1, 0, {0}},
    {"written between two launches, read by the second child",
     LAUNCH("idle", "0", "0") WRITE LAUNCH("read", "0", "0"),
     1,
     0,
     {0}},
    {"written behind, read by the child",
     LAUNCH("read", "0", "0") WRITE,
     1,
     1,
     {"write of 4 bytes", "and read of 4 bytes"}},
    {"read behind, written by the child",
     LAUNCH("write", "0", "0") READ,
     1,
     1,
     {"read of 4 bytes",
      "of kernel 'write', launched by thread (0,0,0) of CTA (0,0,0) of kernel 'parent'"}},
    {"read by the parent behind a wait", LAUNCH("write", "0", "0") WAIT READ, 1, 0, {0}},
    {"written before the wait", LAUNCH("read", "0", "0") WRITE WAIT, 1, 1, {"write of 4 bytes"}},
    {"written behind a wait, and behind another launch",
     LAUNCH("read", "0", "0") WAIT WRITE LAUNCH("read", "0", "0") WRITE WAIT,
     1,
     1,
     {"write of 4 bytes"}},
    {"siblings in two streams, one behind a wait for the other",
     TWO_STREAMS LAUNCH("write", "%d3", "0") WAIT LAUNCH("read", "%d4", "0") WAIT,
     1,
     0,
     {0}},
    {"two siblings that are waited for",
     TWO_STREAMS LAUNCH("write", "%d3", "0") LAUNCH("read", "%d4", "0") WAIT,
     1,
     1,
     {"by two grids that a kernel has launched"}},
    {"a child that waits for its own", LAUNCH("waits", "0", "0") WAIT READ, 1, 0, {0}},
    {"read by both", LAUNCH("read", "0", "0") READ, 1, 0, {0}},
    {"atomics", LAUNCH("add", "0", "0") ADD, 1, 0, {0}},
    {"strong stores", LAUNCH("strong", "0", "0") STRONG, 1, 0, {0}},
    {"an atomic and a weak store", LAUNCH("write", "0", "0") ADD, 1, 1, {"atomic operation"}},
    {"other bytes of the word", LAUNCH("high", "0", "0") LOW, 1, 0, {0}},
    {"one byte of several", LAUNCH("write", "0", "0") LOW, 1, 1, {"write of 1 bytes"}},
    {"a tail launch comes when the grid has ended", LAUNCH("write", "3", "0") WRITE, 1, 0, {0}},
    {"siblings in one stream", LAUNCH("write", "0", "0") LAUNCH("read", "0", "0"), 1, 0, {0}},
    {"siblings in two streams",
     TWO_STREAMS LAUNCH("write", "%d3", "0") LAUNCH("read", "%d4", "0"),
     1,
     1,
     {"by two grids that a kernel has launched"}},
    {"siblings of no stream", LAUNCH("write", "4", "0") LAUNCH("add", "4", "0"), 1, 1, {0}},
    {"siblings of two CTAs", LAUNCH("write", "0", "0"), 2, 1, {0}},
    {"a tail launch and a sibling", LAUNCH("write", "0", "0") LAUNCH("read", "3", "0"), 1, 0, {0}},
    {"a tail launch and a sibling in another stream",
     TWO_STREAMS LAUNCH("write", "%d3", "0") LAUNCH("read", "3", "0"),
     1,
     0,
     {0}},
    {"a child of the child, and a sibling behind it in a stream",
     TWO_STREAMS LAUNCH("deep", "%d3", "0") LAUNCH("read", "%d3", "0"),
     1,
     0,
     {0}},
    {"another CTA, later", /* CTA 1 runs after CTA 0, and could not have waited for CTA 0's child */
     " setp.ne.u32 %p1, %r3, 0; @%p1 bra other;\n" LAUNCH("write", "0",
                                                          "0") " ret;\nother:\n" WRITE,
     2,
     1,
     {"CTA (1,0,0) of kernel 'parent'"}},
    {"a child of the child",
     LAUNCH("deep", "0", "0") READ,
     1,
     1,
     {"launched by thread (0,0,0) of CTA (0,0,0) of kernel 'deep'"}},
    {"a child of the child, and a sibling behind it in the stream",
     LAUNCH("deep", "0", "0") LAUNCH("read", "0", "0"),
     1,
     0,
     {0}},
};

static const char *const orders[] = {NULL, "random", "gpudet"};

Test(check_grids, finds_what_nothing_orders)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t o = 0; o < 3; o++) {
            char text[16384];
            cr_assert((size_t)snprintf(text, sizeof text, "%s%s%s ret;\n}\n", children,
                                       HEAD("parent"), rows[i].body) < sizeof text);
            struct heddle_module *m = heddle_module_read("grids.ptx", text, strlen(text), NULL);
            cr_assert(heddle_module_ok(m), "%s", heddle_module_messages_text(m));
            struct heddle_device *d = heddle_device_new(
                &(struct heddle_device_options){.check_race = true, .order = orders[o]});
            cr_assert(heddle_device_load(d, &m, 1), "%s", heddle_device_error(d));
            const uint64_t args[2] = {heddle_device_alloc(d, 64, "words"), 0};
            const struct heddle_run r = heddle_device_launch(
                d, "parent", (uint32_t[]){rows[i].ctas, 1, 1}, (uint32_t[]){1, 1, 1}, 0, args, 2);
            cr_assert(!r.fault, "%s: %s", rows[i].name, r.text);
            const size_t n = heddle_device_finding_count(d);
            if (orders[o] && strcmp(rows[i].name, "another CTA, later") == 0)
                cr_expect(n <= 1); /* it may come first, and then it may have been waited for */
            else
                cr_expect_eq(n, rows[i].races, "%s, %s: %zu findings\n%s", rows[i].name,
                             orders[o] ? orders[o] : "native", n,
                             n ? heddle_device_finding(d, 0).text : "");
            if (n && !orders[o])
                for (size_t s = 0; s < 2 && rows[i].says[s]; s++)
                    cr_expect(strstr(heddle_device_finding(d, 0).text, rows[i].says[s]), "%s:\n%s",
                              rows[i].name, heddle_device_finding(d, 0).text);
            if (n) cr_expect_eq(heddle_device_finding(d, 0).kind, HEDDLE_RACE);
            heddle_device_free(d);
            heddle_module_free(m);
        }
}
