/* Lists of findings that are not reported. */
#define _GNU_SOURCE
#include "emu/suppress.h"
#include "cuda/device.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/heddle-supp-XXXXXX";

static void write_list(const char *text)
{
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void start(void)
{
    const int fd = mkstemp(path);
    cr_assert(fd >= 0 && close(fd) == 0);
}

static void stop(void)
{
    remove(path);
}

static bool matches(const char *list, enum emu_fault_kind kind, const char *one, const char *other)
{
    char *why;
    write_list(list);
    struct suppressions *s = suppressions_read(path, &why);
    cr_assert(s && !why, "%s", why);
    const bool match = suppressions_match(s, kind, one, other);
    suppressions_free(s);
    return match;
}

Test(suppress, patterns_are_found_in_places, .init = start, .fini = stop)
{
    const char *a = "sum (app.cu:7, from /opt/lib/scan.h:12): st.shared.u32 [%r1], %r2;",
               *b = "sum (app.cu:9): ld.shared.u32 %r3, [%r4];";
    cr_expect(matches("race:sum (app.cu", EMU_RACE, a, b));
    cr_expect(!matches("race:mus", EMU_RACE, a, b));
    cr_expect(!matches("race:lib/scan.h", EMU_RACE, a, b), "it has to fit both");
    cr_expect(matches("race:lib/*.h with ld.shared", EMU_RACE, a, b));
    cr_expect(matches("race:lib/*.h with ld.shared", EMU_RACE, b, a), "either way round");
    cr_expect(!matches("race:lib/*.h with st.shared", EMU_RACE, a, b));
    cr_expect(matches("race:s*m*.cu:*shared", EMU_RACE, a, b));
    cr_expect(matches("race:*", EMU_RACE, a, b));
    cr_expect(!matches("race:sum*sum", EMU_RACE, a, b));
    cr_expect(!matches("atomicity:sum", EMU_RACE, a, b));
    cr_expect(matches("# all\n\n  init: sum   # of it\natomicity:sum\r\n", EMU_MIXED, a, b));
    cr_expect(matches("init:app.cu:9", EMU_UNINITIALISED, b, NULL));
    cr_expect(!matches("init:app.cu:7", EMU_UNINITIALISED, b, NULL));
    cr_expect(!matches("", EMU_RACE, a, b));
}

/* As reports of CUDA 13's headers name places. */
Test(suppress, knows_nvidia_s_headers)
{
    const char
        *cg = "_Z4widePi (t.cu:84, from /usr/local/cuda/include/cooperative_groups/details/"
              "coalesced_reduce.h:66): ld.u32 %r42, [%rd11+32];",
        *own = "_Z4widePi (t.cu:85): st.u32 [%rd11+32], %r42;",
        *unique = "_ZN6thrust8cuda_cub4core6detail13_kernel_agentINS1_8__unique11UniqueAgent"
                  "IiEEEvv: st.global.u32 [%rd221], %r950;",
        *end = "_Z1kv (p.cu:32, from /usr/include/cccl/cuda/__barrier/barrier_block_scope.h:84"
               "): mbarrier.inval.shared.b64 [%r89];",
        *first = "_Z1kv (p.cu:20, from /usr/include/cccl/cuda/__barrier/barrier_block_scope.h:60"
                 "): mbarrier.init.shared.b64 [%r89], %r3;",
        *before =
            "_Z1kv (p.cu:9, from /usr/include/cuda_bf16.hpp:3804): ld.global.u32 %r38, [%rd1];",
        *cached =
            "_Z1kv (p.cu:9, from /usr/include/cuda_fp16.hpp:99): ld.global.nc.b16 %h1, [%rd1];",
        *own_load = "_Z1kv (p.cu:9): ld.global.u32 %r38, [%rd1];",
        *swap = "_Z1kv (p.cu:9, from /usr/include/device_atomic_functions.hpp:207): "
                "atom.global.cas.b32 %r7, [%rd1], %r38, %r26;",
        *arrive = "_Z1kv (p.cu:38): mbarrier.arrive.shared.b64 %rd18, [%r74];";
    char *why;
    struct suppressions *known = suppressions_read(NULL, &why),
                        *none = suppressions_read("none", &why);
    cr_expect(suppressions_match(known, EMU_RACE, cg, cg));
    cr_expect(!suppressions_match(known, EMU_RACE, cg, own),
              "the program's own part in it is reported");
    cr_expect(suppressions_match(known, EMU_RACE, unique, unique));
    cr_expect(suppressions_match(known, EMU_RACE, arrive, end));
    cr_expect(!suppressions_match(known, EMU_RACE, first, arrive), "nobody waited for its begin");
    cr_expect(suppressions_match(known, EMU_RACE, swap, before));
    cr_expect(!suppressions_match(known, EMU_RACE, swap, cached));
    cr_expect(!suppressions_match(known, EMU_RACE, swap, own_load));
    cr_expect(!suppressions_match(known, EMU_MIXED, unique, unique));
    cr_expect(!suppressions_match(none, EMU_RACE, cg, cg));
    suppressions_free(known);
    suppressions_free(none);
}

Test(suppress, wrong_lists_are_refused, .init = start, .fini = stop)
{
    static const struct {
        const char *list, *says;
    } wrong[] = {{"race", ":1: 'race' is not CHECK:PATTERN"},
                 {"\n# c\nraces:x\n", ":3: 'races:x' is not"},
                 {"race:\n", ":1: 'race:' is not"}};
    char *why;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_list(wrong[i].list);
        cr_expect(!suppressions_read(path, &why));
        cr_expect(why && strstr(why, wrong[i].says), "%s", why);
        free(why);
    }
    cr_expect(!suppressions_read("/no/such/list", &why));
    cr_expect(strstr(why, "cannot read '/no/such/list': No such file"), "%s", why);
    free(why);
}

/* Of four threads each writes one word of shared memory, and reads its neighbour's. */
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".shared .align 4 .b8 words[20];\n"
    ".visible .entry clash()\n{\n .reg .b32 %r<4>;\n"
    " mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, 4; mov.u32 %r3, words; add.u32 %r2, %r2, %r3;\n"
    " st.shared.u32 [%r2], %r1;\n ld.shared.u32 %r1, [%r2+4];\n st.shared.u32 [words], %r1;\n ret;\n}\n";

static size_t reported, hidden, said;
static void after(void *self, const char *kernel, const struct emu_launch *l,
                  const struct emu_report *r)
{
    (void)self, (void)kernel, (void)l;
    reported = r->finding_count;
    hidden = r->suppressed;
}
static void say(void *self, const char *text)
{
    (void)self;
    said += strstr(text, "race: ") != NULL;
}

static void launch(const char *list)
{
    CUcontext c;
    CUmodule m;
    CUfunction f;
    if (list) write_list(list);
    said = 0;
    cuda_device_configure(&(struct emu_config){
        .threads = 1, .memory = 1 << 26, .checks = EMU_CHECK_RACE, .suppress = list ? path : NULL});
    cuda_device_watch(&(struct cuda_watch){.after = after, .say = say});
    cr_assert(cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&c, 0) == CUDA_SUCCESS &&
              cuCtxSetCurrent(c) == CUDA_SUCCESS && cuModuleLoadData(&m, ptx) == CUDA_SUCCESS &&
              cuModuleGetFunction(&f, m, "clash") == CUDA_SUCCESS);
    cr_assert(cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS);
}

Test(suppress, findings_are_counted_and_not_reported, .init = start, .fini = stop)
{
    launch(NULL);
    const size_t all = reported;
    cr_assert(all >= 2 && hidden == 0 && said == all, "%zu", all);
    launch("race:ld.shared with [%r2], %r1;\n");
    cr_expect(reported == all - 1 && hidden == 1 && said == all - 1, "%zu, %zu", reported, hidden);
    launch("race:clash\n");
    cr_expect(reported == 0 && hidden == all && said == 0, "%zu, %zu", reported, hidden);
    cuda_device_configure(NULL);
}
