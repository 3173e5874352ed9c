/* Matrix instructions: what a loop of them is estimated to take, against the peaks that NVIDIA publishes. */
#include "emu/counts.h"
#include "emu/emu.h"
#include "emu/gpu.h"
#include "model/launch_estimate.h"
#include "model/machine.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Multiply-adds of an SM in a cycle. */
enum kind { F32, F16, TF32, I8, I4, B1, F8, F64, KINDS };

/* White papers' tera-operations/s, dense, without the clock, the SMs and the 2 of a multiply-add: A100 312, 156, 624,
 * 19.5 at 1410 MHz; H100 SXM 989.4, 494.7, 1978.9, 66.9 at 1830; V100 125 at 1530; RTX 4090 165.2, 330.3, 82.6, 660.6
 * at 2520; RTX 2080 Ti 53.8, 107.6, 215.2 at 1545. 0: it has none of these. */
static const struct {
    const char *gpu;
    double clock, sms, tera[KINDS];
} peaks[] = {
    {"v100", 1.53, 80, {[F32] = 125, [F16] = 125}},
    {"rtx2080ti", 1.545, 68, {[F32] = 53.8, [F16] = 107.6, [I8] = 215.2, [I4] = 430.3}},
    {"a100",
     1.41,
     108,
     {[F32] = 312, [F16] = 312, [TF32] = 156, [I8] = 624, [I4] = 1248, [B1] = 4992, [F64] = 19.5}},
    {"rtx4090",
     2.52,
     128,
     {[F32] = 165.2, [F16] = 330.3, [TF32] = 82.6, [I8] = 660.6, [I4] = 1321.2, [F8] = 330.3}},
    {"h100",
     1.83,
     132,
     {[F32] = 989.4, [F16] = 989.4, [TF32] = 494.7, [I8] = 1978.9, [F8] = 1978.9, [F64] = 66.9}},
};

static const struct {
    const char *op;
    enum kind kind;
    char result;      /* register: f32, f64, or r */
    char source;      /* likewise */
    unsigned a, b, c; /* registers */
    double work;      /* multiply-adds; of sparse ones, those that are done */
} instructions[] = {
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", F32, 'f', 'r', 8, 8, 8, 4096},
    {"wmma.mma.sync.aligned.row.col.m32n8k16.f16.f16", F16, 'r', 'r', 8, 8, 4, 4096},
    {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32", F32, 'f', 'r', 2, 8, 8, 4096},
    {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", TF32, 'f', 'r', 4, 4, 8, 2048},
    {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64", F64, 'd', 'd', 1, 1, 2, 256},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32", I8, 'r', 'r', 2, 2, 8, 4096},
    {"wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", I4, 'r', 'r', 1, 1, 2, 2048},
    {"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", B1, 'r', 'r', 1, 1, 2, 8192},
    {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", F32, 'f', 'r', 2, 2, 8, 1024},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", F32, 'f', 'r', 2, 1, 4, 1024},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", F32, 'f', 'r', 4, 2, 4, 2048},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", F16, 'r', 'r', 4, 2, 2, 2048},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", F32, 'f', 'r', 4, 2, 4, 2048},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", TF32, 'f', 'r', 2, 1, 4, 512},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", TF32, 'f', 'r', 4, 2, 4, 1024},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", F64, 'd', 'd', 1, 1, 2, 256},
    {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", F64, 'd', 'd', 8, 4, 4, 2048},
    {"mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32", I8, 'r', 'r', 1, 1, 2, 1024},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", I8, 'r', 'r', 4, 2, 4, 4096},
    {"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", I4, 'r', 'r', 4, 2, 4, 8192},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", B1, 'r', 'r', 4, 2, 4, 32768},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", F8, 'f', 'r', 4, 2, 4, 4096},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", F32, 'f', 'r', 4, 4, 4, 2048},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", TF32, 'f', 'r', 4, 4, 4, 1024},
    {"mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", I8, 'r', 'r', 4, 4, 4, 4096},
    {"mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32", F8, 'f', 'r', 4, 4, 4, 4096},
};
enum {
    INSTRUCTIONS = sizeof instructions / sizeof *instructions,
    CHAINS = 4,
    TIMES = 4,
    TURNS = 4
};

/* { %r0, %r1 } */
static int vector(char *to, char kind, char what, unsigned chain, unsigned count)
{
    int n = sprintf(to, "{");
    for (unsigned i = 0; i < count; i++)
        n += sprintf(to + n, "%s%%%c%c%u_%u", i ? ", " : "", kind, what, chain, i);
    return n + sprintf(to + n, "}, ");
}

static int declare(char *to, char kind, char what, unsigned chain, unsigned count)
{
    int n = 0;
    for (unsigned i = 0; i < count; i++)
        n += sprintf(to + n, ".reg .%s %%%c%c%u_%u; mov.%s %%%c%c%u_%u, 0%s; ",
                     kind == 'f'   ? "f32"
                     : kind == 'd' ? "f64"
                                   : "b32",
                     kind, what, chain, i,
                     kind == 'f'   ? "f32"
                     : kind == 'd' ? "f64"
                                   : "b32",
                     kind, what, chain, i,
                     kind == 'f'   ? "f00000000"
                     : kind == 'd' ? "d0000000000000000"
                                   : "");
    return n;
}

/* A loop of it, by chains that do not wait for each other. */
static const char *loop_of(size_t k)
{
    static char text[1 << 15];
    const bool sparse = strncmp(instructions[k].op, "mma.sp", 6) == 0;
    int n = sprintf(text, ".reg .u32 %%i, %%e; .reg .pred %%q; mov.u32 %%i, 0; mov.u32 %%e, "
                          "0x44444444; ");
    n += declare(text + n, instructions[k].source, 'a', 0, instructions[k].a);
    n += declare(text + n, instructions[k].source, 'b', 0, instructions[k].b);
    for (unsigned c = 0; c < CHAINS; c++)
        n += declare(text + n, instructions[k].result, 'c', c, instructions[k].c);
    n += sprintf(text + n, "L: ");
    for (unsigned i = 0; i < CHAINS * TIMES; i++) {
        const unsigned c = i % CHAINS;
        n += sprintf(text + n, "%s ", instructions[k].op);
        n += vector(text + n, instructions[k].result, 'c', c, instructions[k].c);
        n += vector(text + n, instructions[k].source, 'a', 0, instructions[k].a);
        n += vector(text + n, instructions[k].source, 'b', 0, instructions[k].b);
        n += vector(text + n, instructions[k].result, 'c', c, instructions[k].c) - 2;
        n += sprintf(text + n, "%s; ", sparse ? ", %e, 0" : "");
    }
    sprintf(text + n, "add.u32 %%i, %%i, 1; setp.lt.u32 %%q, %%i, %d; @%%q bra L; ret;", TURNS);
    return text;
}

static struct emu_gpu with_sms(const char *name, uint32_t sms)
{
    struct emu_gpu g = *emu_gpu_find(name);
    g.sms = sms;
    return g;
}

/* Two SMs of each GPU have so many warps that no chain of them is what they wait for. */
Test(estimate_matrix, no_loop_is_above_the_peak_and_each_comes_to_half_of_it)
{
    enum { SMS = 2, CTAS = 8 * SMS, WARPS = 8 };
    for (size_t k = 0; k < INSTRUCTIONS; k++) {
        const struct emu_gpu base = with_sms("h100", SMS);
        const char *ptx = emu_ptx(".param .u64 p", loop_of(k));
        struct parsed *parsed = parse_text("test.ptx", ptx, strlen(ptx));
        char *why = NULL;
        uint64_t param = 0;
        cr_assert(parsed->ok, "%s: %s", instructions[k].op, first_error(parsed));
        struct emu *e = emu_new(
            &(struct emu_config){.trace = true, .memory = 1 << 20, .gpu = &base});
        struct emu_image *image = emu_load(e, &parsed->module, 1, &why);
        cr_assert(image, "%s", why);
        const struct emu_launch l = {.grid = {CTAS, 1, 1},
                                     .block = {32 * WARPS, 1, 1},
                                     .params = &param,
                                     .params_size = sizeof param};
        const struct emu_report *r = emu_launch(e, emu_kernel_at(image, 0), &l);
        cr_assert(r->fault.kind == EMU_OK, "%s: %s", instructions[k].op, r->fault.text);
        for (size_t g = 0; g < sizeof peaks / sizeof *peaks; g++) {
            const struct emu_gpu gpu = with_sms(peaks[g].gpu, SMS);
            const double tera = peaks[g].tera[instructions[k].kind],
                         peak = tera * 1e3 / 2 / peaks[g].clock / peaks[g].sms,
                         issued = gpu.schedulers * instructions[k].work;
            struct emu_counts c = *r->counts;
            struct launch_estimate t;
            struct timing_machine m; /* what a launch costs is not what is looked for */
            if (!(tera > 0)) continue;
            c.gpu = &gpu;
            cr_assert(launch_estimate_of(&c, &t));
            (void)machine_of(&gpu, &m);
            const double rate = CTAS * WARPS * CHAINS * TIMES * TURNS * instructions[k].work /
                                (t.cycles - m.start) / SMS;
            cr_expect(rate <= 1.01 * peak, "%s, %s: %g a cycle, the peak is %g", peaks[g].gpu,
                      instructions[k].op, rate, peak);
            cr_expect(rate >= 0.5 * fmin(peak, issued), "%s, %s: %g a cycle, the peak is %g",
                      peaks[g].gpu, instructions[k].op, rate, peak);
        }
        emu_unload(image);
        emu_free(e);
        parsed_free(parsed);
    }
}
