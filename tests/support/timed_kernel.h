/* tests/support/timed_kernel.h: kernels whose launches are estimated.
 *
 *     struct kernel k = kernel_new("ld.param.u64 %a, [p]; ... ret;", emu_gpu_find("titanv"));
 *     double t = cycles(&k, 80, 256, 0, 100);
 *     kernel_free(&k);
 *
 * A kernel has two parameters: `p`, the address of 128 MiB of memory, and `q`, a number. */
#ifndef HEDDLE_TESTS_SUPPORT_TIMED_KERNEL_H
#define HEDDLE_TESTS_SUPPORT_TIMED_KERNEL_H

#include "emu/counts.h"
#include "emu/emu.h"
#include "emu/gpu.h"
#include "model/launch_estimate.h"
#include "model/machine.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <string.h>

struct kernel {
    struct parsed *parsed;
    struct emu *emu;
    struct emu_image *image;
    uint64_t params[2]; /* memory, iterations */
};

/* The first kernel of a module. */
static inline struct kernel kernel_of_module(const char *ptx, const struct emu_gpu *g)
{
    struct kernel k = {.parsed = parse_text("test.ptx", ptx, strlen(ptx))};
    char *why = NULL;
    cr_assert(k.parsed->ok, "%s", first_error(k.parsed));
    k.emu = emu_new(&(struct emu_config){.trace = true, .memory = 256 << 20, .gpu = g});
    k.image = emu_load(k.emu, &k.parsed->module, 1, &why);
    cr_assert(k.image != NULL, "%s", why ? why : "");
    k.params[0] = emu_alloc(k.emu, 128 << 20, "memory");
    return k;
}

static inline struct kernel kernel_new(const char *body, const struct emu_gpu *g)
{
    return kernel_of_module(emu_ptx(".param .u64 p, .param .u64 q", body), g);
}

/* Of a launch, beyond what it costs to launch something. */
static inline double cycles(struct kernel *k, uint32_t grid, uint32_t block, uint32_t shared,
                            uint64_t iterations)
{
    struct timing_machine m;
    struct launch_estimate t;
    k->params[1] = iterations;
    const struct emu_launch l = {.grid = {grid, 1, 1},
                                 .block = {block, 1, 1},
                                 .shared = shared,
                                 .params = k->params,
                                 .params_size = sizeof k->params};
    const struct emu_report *r = emu_launch(k->emu, emu_kernel_at(k->image, 0), &l);
    cr_assert(r->fault.kind == EMU_OK, "%s", r->fault.text);
    cr_assert(launch_estimate_of(r->counts, &t));
    (void)machine_of(r->counts->gpu, &m);
    return t.cycles - m.start;
}

static inline void kernel_free(struct kernel *k)
{
    emu_unload(k->image);
    emu_free(k->emu);
    parsed_free(k->parsed);
}

#endif
