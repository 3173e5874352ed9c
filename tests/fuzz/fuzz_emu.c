/* libFuzzer: whatever a module and a launch are, the emulator does not crash, reach outside the device's
 * memory or hang, and ways of running that must give the same bits do.
 *
 *     input:  'T' + 7 bytes of settings + PTX text
 *             'G' + 7 bytes of settings + bytes that a kernel is made from (kernel.h)
 *
 * HEDDLE_SHOW=1 shows the module and what came of it. HEDDLE_OWN=1 says of a text that its threads keep to
 * memory of their own, so that the number of threads and lockstep must not matter either (to cut down
 * what a made kernel has shown). At the end the outcomes are counted on stderr. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/rng.h"
#include "emu/emu.h"
#include "emu/measure/count.h"
#include "emu/memory.h"
#include "emu/ops/exec.h"
#include "emu/order.h"
#include "emu/texture.h"
#include "ptx/ptx.h"
#include "tests/fuzz/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    HEAD = 8,
    PRINTED = 1 << 16,
    KERNELS = 4, /* that are launched of a module */
    LIMIT = 200000,
    SECONDS = 5,
};

struct settings {
    struct emu_config config;
    struct emu_launch launch;
    bool watch;
    uint64_t seed;
};

struct outcome {
    uint64_t digest, instructions;
    struct emu_fault fault;
    char text[2000], printed[PRINTED];
    size_t printed_size, findings;
    bool ran, timed_out;
};

static struct {
    uint64_t inputs, accepted, loaded, launches, compared, faults[EMU_FAULT_COUNT];
} totals;
static bool show, claimed;

static void report(void)
{
    fprintf(stderr,
            "outcomes: %llu inputs, %llu accepted, %llu loaded, %llu launches, %llu compared",
            (unsigned long long)totals.inputs, (unsigned long long)totals.accepted,
            (unsigned long long)totals.loaded, (unsigned long long)totals.launches,
            (unsigned long long)totals.compared);
    for (int k = 0; k < EMU_FAULT_COUNT; k++)
        fprintf(stderr, "; %s %llu", emu_fault_name((enum emu_fault_kind)k),
                (unsigned long long)totals.faults[k]);
    fputs("\n", stderr);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    show = getenv("HEDDLE_SHOW") != NULL;
    claimed = getenv("HEDDLE_OWN") != NULL;
    atexit(report);
    return 0;
}

static void print(void *self, const char *text, size_t length)
{
    struct outcome *o = self;
    if (length > PRINTED - o->printed_size) length = PRINTED - o->printed_size;
    memcpy(o->printed + o->printed_size, text, length);
    o->printed_size += length;
}

/* ---- the device's memory ----------------------------------------------------------------------- */

static void see_memory(void *self, struct emu_machine *m)
{
    *(struct mem **)self = m->mem;
}

/* Binds textures and a surface to the variables of a made kernel; their handles go to `handles`. */
static void bind_textures(struct emu *e, struct emu_image *im, uint64_t seed, uint64_t handles[2])
{
    struct mem *mem = NULL;
    struct emu_observer o = {.self = &mem, .begin = see_memory};
    const struct emu_observer *list = &o;
    struct emu_launch l = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .observers = &list, .observer_count = 1};
    emu_launch(e, emu_kernel_find(im, "empty"), &l);
    if (!mem) return;
    struct texture t;
    memset(&t, 0, sizeof t);
    static const u8 bits[] = {8, 16, 32}, channels[] = {1, 2, 4};
    uint64_t r = rng_next(&seed);
    struct texture_memory *m = &t.memory;
    m->width = 1 + (u32)(r % 9);
    m->height = r >> 8 & 1 ? 1 + (u32)(r >> 12 & 7) : 0;
    m->depth = m->height && (r >> 16 & 3) == 0 ? 3 : 0;
    m->layered = !m->depth && (r >> 20 & 3) == 0;
    m->layers = m->layered ? 5 : 0;
    if (m->height && !m->depth && (r >> 24 & 7) == 0) {
        m->cube = true;
        m->height = m->width;
        m->layers = m->layered ? 12 : 6;
    }
    m->levels = (r >> 28 & 3) == 0 ? 3 : 0;
    m->bits = bits[(r >> 32) % 3];
    m->channels = channels[(r >> 36) % 3];
    m->kind = (u8)((r >> 40) % 5);
    m->linear = !m->height && !m->layers && !m->levels && (r >> 44 & 1);
    t.level_max = 15;
    for (int i = 0; i < 3; i++) t.sampler.address[i] = (u8)(r >> (48 + 2 * i) & 3);
    t.sampler.linear_filter = r >> 56 & 1;
    t.sampler.linear_levels = r >> 57 & 1;
    t.sampler.normalised = r >> 58 & 1;
    t.as_float = r >> 59 & 1;
    t.srgb = (r >> 60 & 3) == 0;
    if (texture_layout(m) || m->bytes > 1 << 20) return;
    m->address = mem_alloc(mem, m->bytes, 0, "array", false, false);
    if (!m->address) return;
    u8 *base = mem_base(mem) + (m->address - MEM_GLOBAL);
    for (u64 i = 0; i < m->bytes; i++) base[i] = (u8)(i * 37 + r);
    const char *why;
    handles[0] = texture_create(mem, &t, &why);
    handles[1] = surface_create(mem, m, &why);
    uint64_t at;
    if (handles[0] && (at = emu_variable(im, "tex", NULL))) texture_bind(mem, at, handles[0]);
    if (handles[1] && (at = emu_variable(im, "sur", NULL))) texture_bind(mem, at, handles[1]);
}

/* ---- one run ----------------------------------------------------------------------------------- */

static struct ptx_module *read_module(struct arena *a, struct source *s, struct diags *d)
{
    *d = (struct diags){.arena = a, .source = s, .max_errors = 20};
    struct ptx_module *m = ptx_module_parse(a, s, d);
    ptx_module_check(m);
    if (show && (d->errors || d->warnings)) {
        struct buf b = {0};
        diags_render(d, &b);
        fputs(b.data, stderr);
        buf_free(&b);
    }
    return m;
}

/* Fills the parameters with addresses, numbers, and what is neither. */
static void make_params(const struct emu_kernel *k, uint64_t seed, const uint64_t at[3],
                        const uint64_t handles[2], uint8_t *params)
{
    static const uint64_t wild[] = {
        0,          1,          64,         0x1000000,          0x3000010,         0x10000000,
        0x10100010, 0x20000000, UINT64_MAX, 0x7fffffffffffffff, 0x3f8000003f800000};
    for (size_t i = 0; i < emu_param_count(k); i++) {
        struct emu_param p = emu_param_at(k, i);
        for (uint32_t b = 0; b < p.size; b += 8) {
            uint64_t r = rng_next(&seed), v;
            switch (r % 9) {
            case 8:
            case 0:
            case 1:
            case 2: v = at[r % 3]; break;
            case 3: v = at[r >> 8 & 1] + (r >> 16 & (r >> 30 & 7 ? 0x3f0 : 0x3ff)); break;
            case 4: v = handles[r >> 8 & 1]; break;
            case 5: v = wild[(r >> 8) % (sizeof wild / sizeof *wild)]; break;
            case 6: v = r >> 56; break;
            default: v = rng_next(&seed); break;
            }
            memcpy(params + p.offset + b, &v, p.size - b < 8 ? p.size - b : 8);
        }
    }
}

static void keep(struct outcome *o, const struct emu_report *r, const struct emu_config *c)
{
    totals.launches++;
    totals.faults[r->fault.kind]++;
    o->ran = true;
    o->timed_out |= r->fault.kind == EMU_LIMIT && r->seconds > c->timeout;
    o->instructions += r->warp_instructions;
    o->findings += r->finding_count;
    o->fault = r->fault;
    size_t n = strlen(o->text);
    snprintf(o->text + n, sizeof o->text - n, "%s", r->fault.kind ? r->fault.text : "");
    for (size_t i = 0; i < r->finding_count; i++)
        if (!r->findings[i].text) abort();
}

/* The module is read and launched; *o says what came of it. */
static void run(const char *text, size_t size, const struct settings *s, struct outcome *o)
{
    struct arena *a = arena_new();
    struct source source = {"fuzz.ptx", text, (uint32_t)size};
    struct diags diags;
    memset(o, 0, sizeof *o);
    struct ptx_module *m = read_module(a, &source, &diags);
    struct emu *e = NULL;
    struct emu_image *im = NULL;
    char *why = NULL;
    if (diags.errors) goto end;
    totals.accepted++;
    struct emu_config config = s->config;
    config.print = print;
    config.print_self = o;
    e = emu_new(&config);
    im = emu_load(e, &m, 1, &why);
    if (!im) {
        if (show) fputs(why, stderr);
        free(why);
        goto end;
    }
    totals.loaded++;
    uint64_t seed = s->seed, handles[2] = {0, 0};
    uint64_t at[3] = {emu_alloc(e, 4096, "first"), emu_alloc(e, 300, "second"),
                      emu_alloc(e, 64, "third")};
    for (int i = 0; i < 2; i++) {
        uint8_t *b = emu_bytes(e, at[i], i ? 300 : 4096);
        for (unsigned k = 0; b && k < (i ? 300u : 4096u); k++)
            b[k] = (uint8_t)(k * 73 + (unsigned)i);
    }
    if (emu_kernel_find(im, "empty")) bind_textures(e, im, seed, handles);
    uint8_t *params = malloc(1 << 16);
    for (size_t i = 0; i < emu_kernel_count(im) && i < KERNELS; i++) {
        struct emu_kernel *k = emu_kernel_at(im, i);
        struct emu_launch l = s->launch;
        struct emu_kernel_info info;
        if (emu_kernel_info(k, &info) && info.required_block[0])
            memcpy(l.block, info.required_block, sizeof l.block);
        l.params_size = emu_params_size(k);
        if (l.params_size > 1 << 15) continue;
        make_params(k, seed + i, at, handles, params);
        l.params = params;
        struct emu_observer nothing = {0};
        const struct emu_observer *list = &nothing;
        if (s->watch) l.observers = &list, l.observer_count = 1;
        const struct emu_report *r = emu_launch(e, k, &l);
        if (show)
            fprintf(stderr, "kernel %s: %llu instructions. %s\n", emu_kernel_name(k),
                    (unsigned long long)r->warp_instructions, r->fault.kind ? r->fault.text : "");
        keep(o, r, &config);
    }
    free(params);
    o->digest = emu_digest(e);
end:
    emu_unload(im);
    emu_free(e);
    ptx_module_end(m);
    arena_free(a);
}

/* ---- settings, and what must not matter --------------------------------------------------------- */

static struct settings settings_of(const uint8_t *h)
{
    static const unsigned groups[] = {4, 1, 2, 4};
    static const uint32_t grids[][3] = {{1, 1, 1}, {2, 1, 1}, {4, 1, 1},
                                        {2, 2, 1}, {1, 2, 2}, {3, 1, 1}};
    static const uint32_t blocks[][3] = {{32, 1, 1}, {64, 1, 1},  {96, 1, 1}, {40, 1, 1}, {1, 1, 1},
                                         {16, 3, 2}, {128, 1, 1}, {7, 5, 1},  {33, 2, 1}};
    struct settings s = {.seed = h[6]};
    s.config = (struct emu_config){.memory = 1 << 24,
                                   .divergence = h[1] & 1 ? EMU_ITS : EMU_STACK,
                                   .group_warps = groups[h[1] >> 1 & 3],
                                   .isa = (enum emu_isa)(h[1] >> 3 & 3),
                                   .count = h[1] >> 5 & 1,
                                   .threads = 1 + (h[1] >> 6 & 1),
                                   .sms = 1 + (h[2] & 3),
                                   .max_instructions = LIMIT,
                                   .timeout = SECONDS,
                                   .heap = 1 << 16};
    if (h[2] >> 5 == 7) s.config.checks = h[2] & 7;
    if (h[2] >> 5 == 6) s.watch = true;
    memcpy(s.launch.grid, grids[h[3] % 6], sizeof s.launch.grid);
    memcpy(s.launch.block, blocks[h[4] % 9], sizeof s.launch.block);
    static const uint32_t dynamic[] = {0, 64, 1024, 5000};
    s.launch.shared = dynamic[h[3] >> 4 & 3];
    s.launch.cooperative = h[1] >> 7;
    if (h[4] >> 5 == 1)
        s.launch.cluster[0] = s.launch.grid[0], s.launch.cluster[1] = 1, s.launch.cluster[2] = 1;
    return s;
}

/* The same by another way. `own`: also ways that may show in which order warps ran. false: there is none. */
static bool other_way(const uint8_t *h, bool own, const struct settings *s, struct settings *t)
{
    *t = *s;
    if (h[5] & 1)
        t->config.isa = s->config.isa == EMU_ISA_PORTABLE ? EMU_ISA_BEST : EMU_ISA_PORTABLE;
    if (h[5] & 2) t->config.count = !s->config.count;
    if (h[5] & 4) t->config.isa = EMU_ISA_AVX2;
    if (own && h[5] & 8) t->config.threads = 3 - s->config.threads;
    if (own && h[5] & 16) t->config.group_warps = s->config.group_warps == 1 ? 4 : 1;
    if (own && h[5] & 32) t->watch = !s->watch;
    return memcmp(s, t, sizeof *s) != 0;
}

static void differ(const char *what, const char *text, size_t size, const struct outcome *x,
                   const struct outcome *y)
{
    fprintf(stderr,
            "two ways differ: %s\n%.*s\nfirst: digest %llx, %llu instructions, %s\n"
            "second: digest %llx, %llu instructions, %s\n",
            what, (int)size, text, (unsigned long long)x->digest,
            (unsigned long long)x->instructions, x->text, (unsigned long long)y->digest,
            (unsigned long long)y->instructions, y->text);
    abort();
}

static void compare(const char *text, size_t size, bool exactly, const struct outcome *x,
                    const struct outcome *y)
{
    if (x->timed_out || y->timed_out || !x->ran) return;
    if (x->ran != y->ran) differ("whether it ran", text, size, x, y);
    if (!exactly && (x->fault.kind || y->fault.kind)) { /* others had come further or not so far */
        if ((x->fault.kind == EMU_OK) != (y->fault.kind == EMU_OK) && x->fault.kind != EMU_LIMIT &&
            y->fault.kind != EMU_LIMIT)
            differ("whether it failed", text, size, x, y);
        return;
    }
    totals.compared++;
    if (x->fault.kind != y->fault.kind || strcmp(x->text, y->text) != 0)
        differ("the fault", text, size, x, y);
    if (x->digest != y->digest) differ("memory", text, size, x, y);
    if (exactly && x->instructions != y->instructions) differ("instructions", text, size, x, y);
    if (x->printed_size != y->printed_size || memcmp(x->printed, y->printed, x->printed_size) != 0)
        differ("what it printed", text, size, x, y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD || (data[0] != 'T' && data[0] != 'G')) return -1;
    totals.inputs++;
    struct arena *a = arena_new();
    struct buf made = {0};
    const char *text = (const char *)data + HEAD;
    size_t length = size - HEAD;
    bool own = false;
    struct settings s = settings_of(data), t;
    if (data[0] == 'G') {
        struct fuzz_bytes b = {data + HEAD, data + size};
        own = data[7] & 1;
        fuzz_kernel(a, &b, own ? FUZZ_OWN : FUZZ_ANY, &made);
        text = made.data;
        length = made.size;
    }
    own |= claimed;
    if (show) fprintf(stderr, "%.*s\n//// end\n", (int)length, text);
    static struct outcome x, y;
    run(text, length, &s, &x);
    if (x.ran && (own || s.config.threads == 1) && other_way(data, own, &s, &t)) {
        bool exactly = s.config.threads == 1 && t.config.threads == 1 && s.watch == t.watch &&
                       s.config.group_warps == t.config.group_warps;
        run(text, length, &t, &y);
        compare(text, length, exactly, &x, &y);
    }
    buf_free(&made);
    arena_free(a);
    return 0;
}
