/* The bits that Heddle gives against those that a GPU gave: tests/hardware/h200.bits, which tests/hardware/record.c wrote. Forms of
 * which they differ stand in tests/hardware/known.txt. */
#include "tests/hardware/bits.h"

#include "base/arena.h"
#include "cuda/cuda_api.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8192, MOST_KNOWN = 128 };

struct compared {
    struct hardware_bits *bits;
    unsigned count, known_count;
    uint32_t expected[MOST][HARDWARE_GROUPS];
    struct {
        char form[64], word[32]; /* word: of the opcode; "": any opcode of the form */
        bool differs;
    } known[MOST_KNOWN];
};

static void done(void *self, const struct hardware_result *r)
{
    struct compared *c = self;
    const uint32_t *expected = c->expected[c->count++];
    cr_expect(!r->error, "%s: error %d", r->opcode, r->error);
    for (unsigned i = 0; i < HARDWARE_GROUPS; i++) {
        if (r->hash[i] == expected[i]) continue;
        bool known = false;
        for (unsigned k = 0; k < c->known_count; k++)
            if (!strcmp(c->known[k].form, r->form) && strstr(r->opcode, c->known[k].word))
                known = c->known[k].differs = true;
        cr_expect(known, "%s (%s, variant %u): other bits than the GPU's in the threads from %u on",
                  r->opcode, r->form, r->variant, r->group[i] * HARDWARE_BLOCK);
    }
}

static void add(void *self, const struct hardware_kernel *k)
{
    hardware_bits_add(((struct compared *)self)->bits, k);
}

static void read_known(struct compared *c)
{
    FILE *f = fopen("tests/hardware/known.txt", "r");
    char line[256];
    cr_assert(f);
    while (fgets(line, sizeof line, f)) {
        if (*line == '#') continue;
        cr_assert(c->known_count < MOST_KNOWN);
        char *form = c->known[c->known_count].form, *word = c->known[c->known_count].word;
        cr_assert(sscanf(line, "%63[^/ ]/%31s", form, word) >= 1);
        c->known_count++;
    }
    fclose(f);
}

Test(h200, instructions_give_its_bits)
{
    const struct hardware_driver here = {.module_load = cuModuleLoadData,
                                         .module_unload = cuModuleUnload,
                                         .function = cuModuleGetFunction,
                                         .alloc = cuMemAlloc_v2,
                                         .free = cuMemFree_v2,
                                         .to_device = cuMemcpyHtoD_v2,
                                         .to_host = cuMemcpyDtoH_v2,
                                         .fill = cuMemsetD8_v2,
                                         .launch = cuLaunchKernel,
                                         .synchronise = cuCtxSynchronize};
    CUcontext context;
    cr_assert(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context));
    struct compared *c = calloc(1, sizeof *c);
    cr_assert(c);
    read_known(c);
    c->bits = hardware_bits_new(&here, done, c);
    struct arena *a = arena_new();
    struct ptx_isa *isa = hardware_isa(a);
    FILE *f = fopen("tests/hardware/h200.bits", "r");
    cr_assert(f);
    char line[256], form[64], opcode[128];
    unsigned variant, n = 0;
    while (fgets(line, sizeof line, f)) {
        if (*line == '#') continue;
        cr_assert(n < MOST);
        cr_assert(sscanf(line, "%63s %127s %u %x %x", form, opcode, &variant, &c->expected[n][0],
                         &c->expected[n][1]) == 5,
                  "%s", line);
        n++;
        cr_assert(hardware_kernel_of(isa, form, opcode, variant, add, c), "no %s %s", form, opcode);
    }
    fclose(f);
    hardware_bits_end(c->bits);
    cr_expect(c->count == n && n > 3000, "%u of %u", c->count, n);
    for (unsigned k = 0; k < c->known_count; k++)
        cr_expect(c->known[k].differs, "%s agrees: take it out of tests/hardware/known.txt",
                  c->known[k].form);
    arena_free(a);
    free(c);
}
