/* Some lanes of a warp do something and return, the others wait at barriers of the CTA: `if (...) { ...; return; }
 * __syncthreads();`. A barrier does not wait for threads that have ended (PTX ISA, "barrier"), whichever path stands first in
 * the text, and whether the paths share a `ret` or not. */
#include "heddle.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 80, CTAS = 3 };

/* Threads that are a multiple of 5 count in word 0 and leave; the others count in word 1 and, behind a barrier, all
 * but one of a CTA add what they read of shared memory. */
#define HEAD                                                                                       \
    ".version 7.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"          \
    ".reg .b64 %%d<4>; .reg .b32 %%r<9>; .reg .pred %%p<4>; .shared .b32 s;\n"                     \
    "ld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x; rem.u32 %%r2, %%r1, 5;\n"                    \
    "setp.eq.u32 %%p1, %%r2, 0; setp.ne.u32 %%p2, %%r2, 0; setp.eq.u32 %%p3, %%r1, 1;\n"
#define LEAVE "red.global.add.u32 [%%d1], 1;\n"
#define STAY                                                                                       \
    "red.global.add.u32 [%%d1+4], 1; @%%p3 st.shared.u32 [s], 7; bar.sync 0;\n"                    \
    "ld.shared.u32 %%r3, [s]; bar.sync 0; @%%p3 st.shared.u32 [s], 9; bar.sync 0;\n"               \
    "ld.shared.u32 %%r4, [s]; mad.lo.u32 %%r3, %%r3, 10, %%r4;\n"                                  \
    "red.global.add.u32 [%%d1+8], %%r3;\n"

static const struct {
    const char *name, *body;
} rows[] = {
    {"those that leave branch, one ret",
     "@%%p1 bra gone;\n" STAY "bra.uni end;\ngone:\n" LEAVE "end: ret;\n}\n"},
    {"those that leave branch, a ret each",
     "@%%p1 bra gone;\n" STAY "ret;\ngone:\n" LEAVE "ret;\n}\n"},
    {"those that stay branch, one ret",
     "@%%p2 bra stay;\n" LEAVE "bra.uni end;\nstay:\n" STAY "end: ret;\n}\n"},
    {"those that stay branch, a ret each",
     "@%%p2 bra stay;\n" LEAVE "ret;\nstay:\n" STAY "ret;\n}\n"},
    {"those that leave branch twice",
     "@%%p1 bra gone;\n" STAY
     "bra.uni end;\ngone: setp.lt.u32 %%p3, %%r1, 40; @%%p3 bra low;\n" LEAVE
     "bra.uni end;\nlow:\n" LEAVE "end: ret;\n}\n"},
};

Test(emu_early_return, barriers_do_not_wait_for_lanes_that_leave)
{
    static const char *const targets[] = {"sm_60", "sm_80"}, *const orders[] = {"native", "random",
                                                                                "gpudet", "dab"};
    enum { LEAVERS = THREADS / 5 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned v = 0; v < 8; v++) {
            char form[4096], text[4096];
            snprintf(form, sizeof form, "%s%s", HEAD, rows[i].body);
            /* the format has one %s, and %% for % */
            snprintf(text, sizeof text, form, targets[v / 4]);
            struct heddle_module *m = heddle_module_read("k.ptx", text, strlen(text), NULL);
            cr_assert(heddle_module_ok(m), "%s", heddle_module_messages_text(m));
            struct heddle_device *d = heddle_device_new(
                &(struct heddle_device_options){.order = orders[v % 4], .seed = 3});
            cr_assert(heddle_device_load(d, &m, 1), "%s", heddle_device_error(d));
            uint32_t out[4] = {0};
            const uint64_t at = heddle_device_alloc(d, sizeof out, "out");
            heddle_device_write(d, at, out, sizeof out);
            const struct heddle_run r = heddle_device_launch(
                d, "k", (uint32_t[]){CTAS, 1, 1}, (uint32_t[]){THREADS, 1, 1}, 0, &at, 1);
            cr_expect(!r.fault, "%s, %s, %s: %s", rows[i].name, targets[v / 4], orders[v % 4],
                      r.text);
            heddle_device_read(d, out, at, sizeof out);
            cr_expect(out[0] == CTAS * LEAVERS && out[1] == CTAS * (THREADS - LEAVERS) &&
                          out[2] == CTAS * (THREADS - LEAVERS) * 79,
                      "%s, %s: %u %u %u", rows[i].name, orders[v % 4], out[0], out[1], out[2]);
            heddle_device_free(d);
            heddle_module_free(m);
        }
}
