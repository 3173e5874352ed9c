/* Loads and stores: every type and vector, in each space and through generic addresses, into registers of every
 * width that may take it. */
#include "emu/gpu.h"
#include "tests/support/batch.h"
#include "tests/support/emu.h"

#include "ptx/isa.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Each thread has 32 bytes, which begin as its three words and zeros. */
enum { ROWS = 600 };
static const char variables[] =
    ".shared .align 32 .b8 sm[6400];\n.global .align 32 .b8 gm[25600];\n";
_Static_assert(BATCH_BLOCK * 32 == 6400 && (ROWS + BATCH_BLOCK) * 32 == 25600, "sizes in the text");

static const struct space {
    const char *name;    /* as the instruction says it; "": generic */
    const char *address; /* how %a comes to be the thread's bytes */
} spaces[] = {
    {".global", "mov.u64 %a,gm;mad.wide.u32 %a,%index,32,%a;"},
    {"", "mov.u64 %a,gm;mad.wide.u32 %a,%index,32,%a;"},
    {".shared", "mov.u64 %a,sm;mov.u32 %t,%tid.x;mad.wide.u32 %a,%t,32,%a;"},
    {"", "mov.u64 %a,sm;mov.u32 %t,%tid.x;mad.wide.u32 %a,%t,32,%a;cvta.shared.u64 %a,%a;"},
    {".local", ".local .align 32 .b8 lm[32];mov.u64 %a,lm;"},
    {"", ".local .align 32 .b8 lm[32];mov.u64 %a,lm;cvta.local.u64 %a,%a;"},
};

static const struct {
    const char *name;
    unsigned bytes;
    bool is_signed, is_float;
} types[] = {{"b8", 1, 0, 0},  {"b16", 2, 0, 0}, {"b32", 4, 0, 0}, {"b64", 8, 0, 0},
             {"u8", 1, 0, 0},  {"u16", 2, 0, 0}, {"u32", 4, 0, 0}, {"u64", 8, 0, 0},
             {"s8", 1, 1, 0},  {"s16", 2, 1, 0}, {"s32", 4, 1, 0}, {"s64", 8, 1, 0},
             {"f32", 4, 0, 1}, {"f64", 8, 0, 1}};

static const struct {
    char kind;
    unsigned bytes;
} registers[] = {{'c', 1}, {'h', 2}, {'r', 4}, {'l', 8}};

/* x: what is loaded: where | type << 8; y: bytes of the register */
static uint64_t loaded(const struct batch_case *c, const uint64_t *in)
{
    uint8_t memory[32] = {0};
    memcpy(memory, in, 24);
    unsigned at = c->x & 0xff, type = (unsigned)c->x >> 8, bytes = types[type].bytes;
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++) v |= (uint64_t)memory[at + i] << 8 * i;
    if (types[type].is_signed && v >> (8 * bytes - 1) & 1 && bytes < 8)
        v |= ~(uint64_t)0 << 8 * bytes;
    return c->y == 8 ? v : v & (((uint64_t)1 << 8 * c->y) - 1);
}

/* x: where | bytes of an element << 8 | elements << 16; y: which of the four words is looked at */
static uint64_t stored(const struct batch_case *c, const uint64_t *in)
{
    uint8_t memory[32] = {0};
    memcpy(memory, in, 24);
    unsigned at = c->x & 0xff, bytes = c->x >> 8 & 0xff, n = (unsigned)c->x >> 16;
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < bytes; i++)
            memory[at + k * bytes + i] = (uint8_t)(in[k % 3] >> 8 * i);
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++) v |= (uint64_t)memory[8 * c->y + i] << 8 * i;
    return v;
}

static void head(char *text, const struct space *s)
{
    sprintf(
        text,
        "{.reg .b64 %%a;.reg .b32 %%t;%sst%s.v2.b64 [%%a],{%%l1,%%l2};st%s.v2.b64 [%%a+16],{%%l3,0};",
        s->address, s->name, s->name);
}

static struct batch begin(void)
{
    struct batch b = {.target = "sm_90", .variables = variables};
    for (int i = 0; i < ROWS; i++)
        batch_row(&b, batch_random(), batch_random() | 0x8080808080808080, batch_random());
    return b;
}

/* The registers that a type fits: floats only their own width. */
static bool fits(unsigned type, unsigned bytes)
{
    return types[type].is_float ? bytes == types[type].bytes : bytes >= types[type].bytes;
}

static void loads(const char *modifier, size_t from_space, size_t to_space)
{
    struct batch b = begin();
    for (size_t s = from_space; s < to_space; s++)
        for (unsigned t = 0; t < COUNT(types); t++)
            for (unsigned n = 1; n <= 4 && n * types[t].bytes <= 16; n *= 2)
                for (size_t r = 0; r < COUNT(registers); r++)
                    for (unsigned k = 0; k < n; k++) {
                        if (!fits(t, registers[r].bytes)) continue;
                        char text[320], list[64] = "";
                        unsigned size = n * types[t].bytes,
                                 at = size * (unsigned)(batch_random() % (24 / size));
                        head(text, &spaces[s]);
                        for (unsigned i = 0; i < n; i++)
                            sprintf(list + strlen(list), i == k ? "%s%%%co" : "%s%%x%d",
                                    i ? "," : "", i == k ? registers[r].kind : (int)i);
                        sprintf(text + strlen(text),
                                ".reg .b%u %%x<4>;ld%s%s%s.%s %s%s%s,[%%a+%u];}",
                                8 * registers[r].bytes, modifier, spaces[s].name,
                                n == 1   ? ""
                                : n == 2 ? ".v2"
                                         : ".v4",
                                types[t].name, n > 1 ? "{" : "", list, n > 1 ? "}" : "", at);
                        batch_add(&b, registers[r].kind, loaded,
                                  (int)((at + k * types[t].bytes) | t << 8),
                                  (int)registers[r].bytes, "%s", text);
                    }
    batch_run(&b);
}

Test(emu_memory, loads)
{
    loads("", 0, COUNT(spaces));
}
Test(emu_memory, volatile_loads)
{
    loads(".volatile", 0, 4);
}
Test(emu_memory, relaxed_loads)
{
    loads(".relaxed.gpu", 0, 4);
}

Test(emu_memory, loads_of_what_all_threads_read)
{
    static const char *const kinds[] = {"ldu", "ldu.global", "ld.mmio.relaxed.sys",
                                        "ld.mmio.relaxed.sys.global"};
    struct batch b = begin();
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (unsigned t = 0; t < COUNT(types); t++)
            for (size_t r = 0; r < COUNT(registers); r++)
                for (unsigned n = 1; n <= (k < 2 && types[t].bytes < 8 ? 4u : 1); n *= 4) {
                    if (!fits(t, registers[r].bytes)) continue;
                    char text[320];
                    unsigned at = n * types[t].bytes, last = at + (n - 1) * types[t].bytes;
                    head(text, &spaces[0]);
                    sprintf(text + strlen(text),
                            n == 1 ? ".reg .b%u %%x;%s.%s %%%co,[%%a+%u];}"
                                   : ".reg .b%u %%x;%s.v4.%s {%%x,%%x,%%x,%%%co},[%%a+%u];}",
                            8 * registers[r].bytes, kinds[k], types[t].name, registers[r].kind, at);
                    batch_add(&b, registers[r].kind, loaded, (int)(last | t << 8),
                              (int)registers[r].bytes, "%s", text);
                }
    batch_run(&b);
}

static void stores(const char *modifier, size_t to_space)
{
    struct batch b = begin();
    for (size_t s = 0; s < to_space; s++)
        for (unsigned t = 0; t < COUNT(types); t++)
            for (unsigned n = 1; n <= 4 && n * types[t].bytes <= 16; n *= 2)
                for (size_t r = 0; r < COUNT(registers); r++) {
                    if (!fits(t, registers[r].bytes)) continue;
                    char text[320], list[64] = "";
                    unsigned size = n * types[t].bytes,
                             at = size * (unsigned)(batch_random() % (24 / size)),
                             look = (unsigned)(batch_random() % 4) ? at / 8
                                                                   : (unsigned)(batch_random() % 4);
                    head(text, &spaces[s]);
                    for (unsigned i = 0; i < n; i++)
                        sprintf(list + strlen(list), "%s%%%c%u", i ? "," : "", registers[r].kind,
                                i % 3 + 1);
                    sprintf(text + strlen(text),
                            "st%s%s%s.%s [%%a+%u],%s%s%s;ld%s.b64 %%lo,[%%a+%u];}", modifier,
                            spaces[s].name,
                            n == 1   ? ""
                            : n == 2 ? ".v2"
                                     : ".v4",
                            types[t].name, at, n > 1 ? "{" : "", list, n > 1 ? "}" : "",
                            spaces[s].name, 8 * look);
                    batch_add(&b, 'l', stored, (int)(at | types[t].bytes << 8 | n << 16), (int)look,
                              "%s", text);
                }
    batch_run(&b);
}

Test(emu_memory, stores)
{
    stores("", COUNT(spaces));
}
Test(emu_memory, volatile_stores)
{
    stores(".volatile", 4);
}
Test(emu_memory, release_stores)
{
    stores(".release.gpu", 4);
}

Test(emu_memory, stores_to_devices)
{
    struct batch b = begin();
    for (int generic = 0; generic < 2; generic++)
        for (unsigned t = 0; t < COUNT(types); t++)
            for (size_t r = 0; r < COUNT(registers); r++) {
                if (!fits(t, registers[r].bytes)) continue;
                char text[320];
                head(text, &spaces[0]);
                sprintf(text + strlen(text),
                        "st.mmio.relaxed.sys%s.%s [%%a+8],%%%c1;ld.b64 %%lo,[%%a+8];}",
                        generic ? "" : ".global", types[t].name, registers[r].kind);
                batch_add(&b, 'l', stored, (int)(8 | types[t].bytes << 8 | 1 << 16), 1, "%s", text);
            }
    batch_run(&b);
}

/* Where caches are named nothing else comes of it. */
Test(emu_memory, ways_through_caches)
{
    static const char *const to[] = {
        ".ca",       ".cg",  ".cs", ".lu", ".cv", ".L1::evict_last", ".L1::no_allocate",
        ".L2::128B", ".weak"};
    static const char *const from[] = {".wb", ".cg", ".cs", ".wt", ".L1::evict_first", ".weak"};
    for (size_t i = 0; i < COUNT(to); i++) loads(to[i], 0, 1);
    for (size_t i = 0; i < COUNT(from); i++) stores(from[i], 1);
}

/* x: which half */
static uint64_t half(const struct batch_case *c, const uint64_t *in)
{
    return in[c->x];
}
Test(emu_memory, values_of_128_bits)
{
    struct batch b = begin();
    for (size_t s = 0; s < COUNT(spaces); s++)
        for (int k = 0; k < 2; k++) {
            char text[320];
            head(text, &spaces[s]);
            sprintf(text + strlen(text),
                    ".reg .b128 %%q;.reg .b64 %%x;ld%s.b128 %%q,[%%a];mov.b128 {%s},%%q;}",
                    spaces[s].name, k ? "%x,%lo" : "%lo,%x");
            batch_add(&b, 'l', half, k, 0, "%s", text);
            head(text, &spaces[s]);
            sprintf(
                text + strlen(text),
                ".reg .b128 %%q;mov.b128 %%q,{%%l2,%%l1};st%s.b128 [%%a],%%q;ld%s.b64 %%lo,[%%a+%d];}",
                spaces[s].name, spaces[s].name, 8 * (1 - k));
            batch_add(&b, 'l', half, k, 0, "%s", text);
        }
    batch_run(&b);
}

/* Lanes of a warp at addresses of their own, which are out of order, in steps, or all the same. */
static uint64_t of_other(const struct batch_case *c, const uint64_t *in)
{
    uint32_t row = (uint32_t)in[2], other = c->x == 0   ? row ^ 21
                                            : c->x == 1 ? row * 7 % 200
                                            : c->x == 2 ? 3
                                                        : 199 - row;
    return (uint32_t)(other * 2654435761u) >> (c->y ? 24 : 0);
}
Test(emu_memory, lanes_read_anywhere)
{
    static const char *const of[] = {"xor.b32 %t,%r3,21;", "mul.lo.u32 %t,%r3,7;rem.u32 %t,%t,200;",
                                     "mov.u32 %t,3;", "sub.u32 %t,199,%r3;"};
    struct batch b = {.target = "sm_90",
                      .variables = ".global .b32 gm[256];\n.shared .b32 sm[256];\n"};
    for (uint32_t i = 0; i < 192; i++) batch_row(&b, 0, 0, i);
    /* who is on writes what all may read, so every value that anybody reads is written by all lanes */
    for (int space = 0; space < 2; space++)
        for (int k = 0; k < 4; k++)
            for (int byte = 0; byte < 2; byte++) {
                const char *s = space ? "shared" : "global", *v = space ? "sm" : "gm";
                batch_add(
                    &b, byte ? 'h' : 'r', of_other, k, byte,
                    "{.reg .b64 %%a,%%b;.reg .b32 %%t;.reg .pred %%p;mov.u64 %%b,%s;mov.u32 %%t,0;"
                    "L:mad.wide.u32 %%a,%%t,4,%%b;mul.lo.u32 %%ro,%%t,2654435761;st.%s.u32 [%%a],%%ro;"
                    "add.u32 %%t,%%t,1;setp.lt.u32 %%p,%%t,256;@%%p bra L;%smad.wide.u32 %%a,%%t,4,%%b;"
                    "ld.%s.%s,[%%a+%d];}",
                    v, s, of[k], s, byte ? "u8 %ho" : "u32 %ro", byte ? 3 : 0);
            }
    batch_run(&b);
}

/* What each lane stores at its address in shared memory, at[lane] + offset in 32 bits, and what it finds 8 bytes
 * further on. */
static bool store_in_shared(const uint32_t at[32], unsigned size, int offset, struct emu_run *r,
                            uint64_t *found, unsigned char memory[2048])
{
    static char body[2000];
    sprintf(
        body,
        ".shared .align 16 .b8 sm[2048]; .reg .u64 %%d<8>; .reg .u32 %%r<8>; .reg .pred %%p;\n"
        "mov.u32 %%r5, sm; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%d1, %%r1, 4; ld.param.u64 %%d2, [at];\n"
        "add.u64 %%d2, %%d2, %%d1; ld.global.u32 %%r2, [%%d2]; cvt.u64.u32 %%d3, %%r1;\n"
        "add.u64 %%d3, %%d3, 0x4142434445464700;\n"
        "st.shared.u%u [%%r2+%d], %%d3; ld.shared.u%u %%d4, [%%r2+%d];\n"
        "ld.param.u64 %%d2, [found]; mad.wide.u32 %%d2, %%r1, 8, %%d2; st.global.u64 [%%d2], %%d4;\n"
        "ld.param.u64 %%d2, [memory]; add.u64 %%d2, %%d2, %%d1; shl.b32 %%r3, %%r1, 2;\n"
        "L: ld.shared.u32 %%r4, [%%r3]; st.global.u32 [%%d2], %%r4; add.u64 %%d2, %%d2, 128;\n"
        "add.u32 %%r3, %%r3, 128; setp.lt.u32 %%p, %%r3, 2048; @%%p bra L; ret;",
        8 * size, offset, 8 * size, offset + 8);
    *r = (struct emu_run){.block = 32, .config = {.count = true}};
    r->ptx = emu_ptx(".param .u64 at, .param .u64 found, .param .u64 memory", body);
    r->args[0] = emu_in(r, at, 32 * sizeof *at);
    r->args[1] = emu_out(r, found, 32 * sizeof *found);
    r->args[2] = emu_out(r, memory, 2048);
    return emu_run(r);
}

Test(emu_memory, rows_and_tiles_in_shared_memory)
{
    /* lane l: a + l * step, from lane 16 on b + (l - 16) * step, in elements */
    static const struct {
        int a, b, step;
    } regular[] = {{0, 16, 1}, {3, 19, 1}, {2, 2, 0},  {2, 5, 0},   {5, 2, 0},  {8, 8, 1},
                   {0, 8, 1},  {8, 0, 1},  {40, 0, 1}, {0, 100, 1}, {0, 32, 2}, {31, 15, -1}};
    static struct emu_run r;
    static unsigned char memory[2048], expected[2048];
    uint64_t found[32];
    uint32_t at[32];
    for (unsigned size = 1; size <= 8; size *= 2)
        for (size_t i = 0; i < sizeof regular / sizeof *regular; i++)
            for (int offset = -16; offset <= 184; offset += 40) {
                const uint32_t first = offset > 64 ? 16 - 100u / size * size : 16; /* or below 0 */
                memset(expected, 0, sizeof expected);
                for (int l = 0; l < 32; l++) {
                    int e = l < 16 ? regular[i].a + l * regular[i].step
                                   : regular[i].b + (l - 16) * regular[i].step;
                    at[l] = first + (uint32_t)e * size;
                    uint64_t value = UINT64_C(0x4142434445464700) + (unsigned)l;
                    memcpy(expected + (uint32_t)(at[l] + (uint32_t)offset), &value, size);
                }
                cr_assert(store_in_shared(at, size, offset, &r, found, memory), "%s", r.fault);
                cr_expect(memcmp(memory, expected, sizeof memory) == 0,
                          "stores of %u bytes, pattern %zu, offset %d", size, i, offset);
                for (int l = 0; l < 32; l++) {
                    uint64_t value = 0;
                    memcpy(&value, expected + (uint32_t)(at[l] + (uint32_t)offset + 8), size);
                    cr_expect(found[l] == value, "loads of %u bytes, pattern %zu, lane %d", size, i,
                              l);
                }
            }
}

Test(emu_memory, rows_that_leave_shared_memory)
{
    static const struct {
        uint32_t a, b;
        int offset;
    } wrong[] = {{2048 - 120, 2048 - 56, -8},
                 {0, 2048 - 56, -8},
                 {2048 - 56, 0, -8},
                 {0xffffffc0, 0, 64},
                 {0, 0xffffffc0, 64},
                 {0, 64, -9},
                 {2, 66, 0},
                 {0, 66, 0},
                 {0, 64, -16}};
    static struct emu_run r;
    static unsigned char memory[2048];
    uint64_t found[32];
    uint32_t at[32];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (uint32_t step = 0; step <= 4; step += 4) {
            bool outside = false;
            for (uint32_t l = 0; l < 32; l++) {
                at[l] = (l < 16 ? wrong[i].a : wrong[i].b) + l % 16 * step;
                for (int k = 0; k <= 8; k += 8) {
                    const uint32_t x = at[l] + (uint32_t)(wrong[i].offset + k); /* it wraps */
                    outside |= x > 2048 - 4 || x % 4;
                }
            }
            const bool ran = store_in_shared(at, 4, wrong[i].offset, &r, found, memory);
            cr_expect(ran == !outside && (r.kind != 0) == outside, "case %zu, step %u: %s", i, step,
                      r.fault);
        }
}

/* nvcc has such: [%r4+68] of an index that is behind 0 by up to 64. */
Test(emu_memory, addresses_of_32_bits_wrap)
{
    uint32_t out[7][32];
    struct emu_run r = {.block = 32};
    r.ptx = emu_ptx(
        ".param .u64 out",
        ".shared .align 16 .b8 sm[1024]; .local .align 16 .b8 lm[256];\n"
        ".reg .b32 %t, %a, %b, %l, %v<8>; .reg .b64 %o, %g; .reg .pred %p;\n"
        "mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o;\n"
        "mov.u32 %a, sm; sub.u32 %a, %a, 256; mad.lo.u32 %b, %t, 8, %a; mad.lo.u32 %a, %t, 4, %a;\n"
        "mov.u32 %l, lm; sub.u32 %l, %l, 4096;\n"
        "st.shared.u32 [%a+256], %t; ld.shared.u32 %v0, [%a+256];\n"
        "add.u32 %v7, %t, 100; st.shared.v2.u32 [%b+512], {%t, %v7}; ld.shared.v2.u32 {%v2, %v1}, [%b+512];\n"
        "atom.shared.add.u32 %v2, [%a+256], 7; red.shared.add.u32 [%a+256], 1; ld.shared.u32 %v3, [%a+256];\n"
        "st.local.u32 [%l+4100], %v7; ld.local.u32 %v4, [%l+4100];\n"
        "setp.gt.u32 %p, %t, 9; mov.u32 %v5, 0; @%p ld.shared.u32 %v5, [%a+220];\n"
        "bar.sync 0; cvta.to.global.u64 %g, %o; cp.async.ca.shared.global [%a+1024], [%g], 4; cp.async.wait_all;\n"
        "bar.sync 0; ld.volatile.shared.u32 %v6, [%a+1024];\n"
        "st.global.u32 [%o], %v0; st.global.u32 [%o+128], %v1; st.global.u32 [%o+256], %v2;\n"
        "st.global.u32 [%o+384], %v3; st.global.u32 [%o+512], %v4; st.global.u32 [%o+640], %v5;\n"
        "st.global.u32 [%o+768], %v6; ret;");
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t t = 0; t < 32; t++) {
        const uint32_t expected[7] = {t, t + 100, t, t + 8, t + 100, t > 9 ? t - 9 + 8 : 0, 0};
        for (int i = 0; i < 7; i++)
            cr_expect(out[i][t] == expected[i], "lane %u, %d: %u, not %u", t, i, out[i][t],
                      expected[i]);
    }
}

/* Variables that functions declare: one for all threads and launches, with initial values, not seen elsewhere. */
Test(emu_memory, variables_of_functions)
{
    uint32_t out[4] = {0};
    struct emu_run r = {
        .ptx =
            ".version 8.7\n.target sm_90\n.address_size 64\n.global .u32 v = 1000;\n"
            ".func f()\n{\n.global .u32 v = 5, w[2] = {6, 7};\n.reg .b32 %r;\n"
            "ld.global.u32 %r, [w+4];\nred.global.add.u32 [v], %r;\nret;\n}\n"
            ".func (.reg .b32 r) g()\n{\n.const .align 8 .u32 c[3] = {40, 50, 60};\n.reg .b64 %d;\n"
            "mov.u64 %d, c;\nld.const.u32 r, [c+8];\nret;\n}\n"
            ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %d<3>; .reg .b32 %r<3>; .global .u64 at = v;\n"
            "ld.param.u64 %d1, [p]; call f; bar.sync 0; call (%r1), g;\nst.global.u32 [%d1], %r1;\n"
            "ld.global.u64 %d2, [at]; ld.u32 %r2, [%d2]; st.global.u32 [%d1+4], %r2;\n"
            "ret;\n}\n",
        .kernel = "k",
        .block = 33};
    r.args[0] = emu_inout(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    cr_expect(out[0] == 60 && out[1] == 1000, "%u %u", out[0], out[1]);
}

/* PTX ISA, special registers: the offset where the system's shared memory begins, where it ends, how much it is,
 * and two places in it. Variables lie elsewhere. */
Test(emu_memory, of_the_system_lies_beside_shared_variables)
{
    uint32_t out[8];
    struct emu_run r = {
        .ptx = emu_ptx(
            ".param .u64 out",
            ".shared .b32 mine[5]; .reg .b32 %r<9>; .reg .b64 %rd<3>;"
            " ld.param.u64 %rd1, [out];"
            " mov.u32 %r0, 7; mov.u32 %r1, %reserved_smem_offset_begin; mov.u32 %r2, %reserved_smem_offset_end;"
            " mov.u32 %r3, %reserved_smem_offset_cap; mov.u32 %r4, %reserved_smem_offset_0;"
            " mov.u32 %r5, %reserved_smem_offset_1; mov.u32 %r6, %total_smem_size;"
            " mov.u32 %r7, %aggr_smem_size;"
            " st.shared.u32 [mine + 16], %r0; st.shared.u32 [%r4], %r1; st.shared.u32 [%r5 + 284], %r1;"
            " ld.shared.u32 %r0, [mine + 16];"
            " ld.shared.u32 %r1, [%r5 + 8]; add.u32 %r1, %r1, %r4;"
            " st.global.v4.u32 [%rd1], {%r0, %r1, %r2, %r3};"
            " st.global.v4.u32 [%rd1 + 16], {%r4, %r5, %r6, %r7};"),
        .grid = 1,
        .block = 1,
        .config.checks = EMU_CHECK_MEMORY | EMU_CHECK_INIT};
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    cr_expect_eq(r.findings, 0, "%s", r.finding); /* it begins as zeros */
    cr_expect_eq(out[0], 7);
    cr_expect(out[1] >= 20 && out[2] == out[1] + out[3] && out[4] >= out[1], "%u %u %u %u", out[1],
              out[2], out[3], out[4]);
    cr_expect(out[5] >= out[1] && out[5] + 288 <= out[2], "%u", out[5]);
    cr_expect(out[6] >= 20 && out[6] < out[7], "%u %u", out[6], out[7]);
}

/* PTX ISA, special registers: %total_smem_size is what the CTA has of static and dynamic shared memory, in multiples of 128
 * bytes on sm_2x and from sm_8x on, of 256 in between; %aggr_smem_size is with what the system has of it. */
Test(emu_memory, sizes_of_shared_memory)
{
    static const struct {
        const char *gpu;
        uint32_t dynamic, total;
    } cases[] = {{"h100", 0, 128},    {"h100", 96, 128},  {"h100", 97, 256},  {"a100", 992, 1024},
                 {"v100", 0, 256},    {"v100", 224, 256}, {"v100", 225, 512}, {"gtx680", 0, 256},
                 {"gtx480", 96, 128}, {"gtx480", 97, 256}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[3];
        struct emu_run r = {
            .ptx = emu_ptx(".param .u64 out",
                           ".shared .b32 mine[8]; .reg .b32 %r<3>; .reg .b64 %rd1;"
                           " ld.param.u64 %rd1, [out]; mov.u32 %r0, mine;"
                           " mov.u32 %r0, %total_smem_size;"
                           " mov.u32 %r1, %dynamic_smem_size;"
                           " mov.u32 %r2, %aggr_smem_size;"
                           " st.global.u32 [%rd1], %r0; st.global.u32 [%rd1+4], %r1;"
                           " st.global.u32 [%rd1+8], %r2;"),
            .grid = 1,
            .block = 1,
            .shared = cases[i].dynamic,
            .config.gpu = emu_gpu_find(cases[i].gpu)};
        r.args[0] = emu_out(&r, out, sizeof out);
        cr_assert(emu_run(&r), "%s", r.fault);
        cr_expect(out[0] == cases[i].total && out[1] == cases[i].dynamic &&
                      out[2] == cases[i].total + 1024,
                  "%s: %u %u %u", cases[i].gpu, out[0], out[1], out[2]);
    }
}

/* Lanes move four words each, from and to global and shared memory: in order, rotated, backwards, by halves, and all from one place. */
Test(emu_memory, four_words_of_each_lane)
{
    static const uint32_t ways[][3] = {{1, 0, 0}, {1, 1, 0}, {1, 0, 31}, {1, 0, 16}, {0, 5, 0}};
    static uint32_t x[128], y[256];
    for (uint32_t i = 0; i < 128; i++) x[i] = i * 2654435761u;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char body[1000];
        snprintf(
            body, sizeof body,
            ".reg .u64 %%d<6>; .reg .u32 %%r<16>; .shared .align 16 .b8 s[512];\n"
            "ld.param.u64 %%d1, [x]; ld.param.u64 %%d2, [y]; mov.u32 %%r0, %%tid.x;\n"
            "mul.wide.u32 %%d3, %%r0, 16; add.u64 %%d4, %%d1, %%d3; add.u64 %%d5, %%d2, %%d3;\n"
            "mov.u32 %%r1, s; mad.lo.u32 %%r2, %%r0, 16, %%r1;\n"
            "mad.lo.u32 %%r3, %%r0, %u, %u; xor.b32 %%r3, %%r3, %u; and.b32 %%r3, %%r3, 31;\n"
            "mad.lo.u32 %%r4, %%r3, 16, %%r1; mul.wide.u32 %%d3, %%r3, 16; add.u64 %%d1, %%d1, %%d3;\n"
            "ld.global.v4.u32 {%%r5, %%r6, %%r7, %%r8}, [%%d4];\n"
            "st.shared.v4.u32 [%%r2], {%%r5, %%r6, %%r7, %%r8}; bar.sync 0;\n"
            "ld.shared.v4.u32 {%%r5, %%r6, %%r7, %%r8}, [%%r4];\n"
            "ld.global.v4.u32 {%%r9, %%r10, %%r11, %%r12}, [%%d1];\n"
            "st.global.v4.u32 [%%d5], {%%r5, %%r6, %%r7, %%r8};\n"
            "st.global.v4.u32 [%%d5+512], {%%r9, %%r10, %%r11, %%r12}; ret;",
            ways[i][0], ways[i][1], ways[i][2]);
        struct emu_run r = {.block = 32};
        r.ptx = emu_ptx(".param .u64 x, .param .u64 y", body);
        r.args[0] = emu_in(&r, x, sizeof x);
        r.args[1] = emu_out(&r, y, sizeof y);
        cr_assert(emu_run(&r), "%s", r.fault);
        for (uint32_t w = 0; w < 128; w++) {
            const uint32_t from = ((w / 4 * ways[i][0] + ways[i][1]) ^ ways[i][2]) & 31,
                           want = x[from * 4 + w % 4];
            cr_assert(y[w] == want && y[128 + w] == want, "way %zu, word %u: %x and %x, not %x", i,
                      w, y[w], y[128 + w], want);
        }
    }
}

/* Four warps move four words of each lane to shared memory and back, some in order and some backwards, or beyond its end. */
Test(emu_memory, four_words_of_several_warps)
{
    static uint32_t x[512], y[512], shared[128];
    for (uint32_t i = 0; i < 512; i++) x[i] = i * 2654435761u;
    for (uint32_t way = 0; way < 20; way++) {
        const uint32_t backwards = way & 15, beyond = way & 16;
        char body[1000];
        snprintf(
            body, sizeof body,
            ".reg .u64 %%d<6>; .reg .u32 %%r<16>; .shared .align 16 .b8 s[2048];\n"
            "ld.param.u64 %%d1, [x]; ld.param.u64 %%d2, [y]; mov.u32 %%r0, %%tid.x;\n"
            "mul.wide.u32 %%d3, %%r0, 16; add.u64 %%d4, %%d1, %%d3; add.u64 %%d5, %%d2, %%d3;\n"
            "shr.u32 %%r1, %%r0, 5; mov.u32 %%r2, %u; shr.u32 %%r2, %%r2, %%r1; and.b32 %%r2, %%r2, 1;\n"
            "mul.lo.u32 %%r2, %%r2, 31; xor.b32 %%r3, %%r0, %%r2; xor.b32 %%r4, %%r3, 31;\n"
            "mov.u32 %%r1, s; mad.lo.u32 %%r3, %%r3, 16, %%r1; mad.lo.u32 %%r4, %%r4, 16, %%r1;\n"
            "ld.global.v4.u32 {%%r5, %%r6, %%r7, %%r8}, [%%d4];\n"
            "st.shared.v4.u32 [%%r3], {%%r5, %%r6, %%r7, %%r8}; bar.sync 0;\n"
            "ld.shared.v4.u32 {%%r5, %%r6, %%r7, %%r8}, [%%r4+%u];\n"
            "st.global.v4.u32 [%%d5], {%%r5, %%r6, %%r7, %%r8}; ret;",
            backwards, beyond);
        struct emu_run r = {.block = 128};
        r.ptx = emu_ptx(".param .u64 x, .param .u64 y", body);
        r.args[0] = emu_in(&r, x, sizeof x);
        r.args[1] = emu_out(&r, y, sizeof y);
        if (beyond) {
            cr_assert(!emu_run(&r) && r.kind == EMU_OUT_OF_BOUNDS, "way %u: %s", way, r.fault);
            continue;
        }
        cr_assert(emu_run(&r), "%s", r.fault);
        for (uint32_t t = 0; t < 128; t++) shared[t ^ (backwards >> t / 32 & 1 ? 31 : 0)] = t;
        for (uint32_t t = 0; t < 128; t++) {
            const uint32_t from = shared[t ^ (backwards >> t / 32 & 1 ? 0 : 31)];
            cr_assert(!memcmp(y + 4 * t, x + 4 * from, 16), "way %u, thread %u", way, t);
        }
    }
}

/* A subscript counts elements of the array's scalar type, whatever its dimensions and vectors are, as an unsigned number of 32
 * bits: ptxas makes the same machine code of each line as of the address beside it. */
Test(emu_memory, subscripts_count_elements)
{
    static const struct {
        const char *subscript, *plain; /* both give %v */
    } cases[] = {
        {"ld.shared.u32 %v, w[3];", "ld.shared.u32 %v, [w+12];"},
        {"ld.shared.u32 %v, pairs[1];", "ld.shared.u32 %v, [pairs+4];"},
        {"ld.shared.u32 %v, table[1];", "ld.shared.u32 %v, [table+4];"},
        {"ld.shared.u32 %v, table[5];", "ld.shared.u32 %v, [table+20];"},
        {"ld.shared.u16 %h, halves[1]; cvt.u32.u16 %v, %h;",
         "ld.shared.u16 %h, [halves+2]; cvt.u32.u16 %v, %h;"},
        {"ld.shared.u64 %x, longs[2]; cvt.u32.u64 %v, %x;",
         "ld.shared.u64 %x, [longs+16]; cvt.u32.u64 %v, %x;"},
        {"ld.shared.u8 %v, bytes[5];", "ld.shared.u8 %v, [bytes+5];"},
        {"ld.shared.u32 %v, w[%i];", "shl.b32 %j, %i, 2; mov.u32 %v, w; add.u32 %j, %j, %v; "
                                     "ld.shared.u32 %v, [%j];"},
        {"ld.shared.u32 %v, pairs[%i+1];", "mov.u32 %v, pairs; mad.lo.u32 %v, %i, 4, %v; "
                                           "ld.shared.u32 %v, [%v+4];"},
        {"ld.global.u32 %v, g[2];", "ld.global.u32 %v, [g+8];"},
        {"ld.global.u32 %v, g[1073741825];", "ld.global.u32 %v, [g+4];"},
        {"ld.global.u32 %v, g[%i];", "mov.u64 %x, g; shl.b32 %j, %i, 2; cvt.u64.u32 %y, %j; "
                                     "add.u64 %x, %x, %y; ld.global.u32 %v, [%x];"},
        {"ld.global.u32 %v, g[%i+-1];",
         "mov.u64 %x, g; add.u32 %j, %i, -1; shl.b32 %j, %j, 2; cvt.u64.u32 %y, %j; "
         "add.u64 %x, %x, %y; ld.global.u32 %v, [%x];"},
        {"ld.global.u32 %v, g[%l];", /* the low half of a register of 64 bits */
         "mov.u64 %x, g; cvt.u32.u64 %j, %l; shl.b32 %j, %j, 2; cvt.u64.u32 %y, %j; "
         "add.u64 %x, %x, %y; ld.global.u32 %v, [%x];"},
        {"mov.u32 %v, w[2];", "mov.u32 %v, w+8;"},
        {"mov.u32 %v, longs[1];", "mov.u32 %v, longs+8;"},
        {"mov.u32 %v, w[%i+1];", "mov.u32 %v, w; add.u32 %j, %i, 1; mad.lo.u32 %v, %j, 4, %v;"},
        {"mov.u64 %x, g[%i]; cvt.u32.u64 %v, %x;",
         "mov.u64 %x, g; shl.b32 %j, %i, 2; cvt.u64.u32 %y, %j; add.u64 %x, %x, %y; "
         "cvt.u32.u64 %v, %x;"},
        {"ld.param.u32 %v, p[2];", "ld.param.u32 %v, [p+8];"},
        {"ld.const.u32 %v, c[3];", "ld.const.u32 %v, [c+12];"},
        {"st.local.u32 l[%i], %i; ld.local.u32 %v, l[%i+1];",
         "mov.b32 %v, l; shl.b32 %j, %i, 2; add.u32 %v, %v, %j; st.local.u32 [%v], %i; "
         "ld.local.u32 %v, [%v+4];"},
        {"st.shared.u32 w[2], 77; ld.shared.u32 %v, [w+8];",
         "st.shared.u32 [w+8], 77; ld.shared.u32 %v, [w+8];"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t out[2][8];
        char text[3000];
        struct emu_run r = {.block = 8};
        for (int plain = 0; plain < 2; plain++) {
            snprintf(
                text, sizeof text,
                ".version 9.0\n.target sm_80\n.address_size 64\n"
                ".global .u32 g[9] = {100, 101, 102, 103, 104, 105, 106, 107, 108};\n"
                ".const .u32 c[4] = {200, 201, 202, 203};\n"
                ".entry k(.param .u64 out, .param .u64 p_, .param .u32 p[4])\n{\n"
                ".shared .align 8 .u32 w[16]; .shared .align 8 .v2 .u32 pairs[8];\n"
                ".shared .align 8 .u32 table[4][4]; .shared .align 8 .u16 halves[32];\n"
                ".shared .u64 longs[8]; .shared .b8 bytes[64]; .local .u32 l[16];\n"
                ".reg .b32 %%i, %%j, %%v, %%t<4>; .reg .b64 %%o, %%x, %%y, %%l; .reg .b16 %%h;\n"
                "mov.u32 %%t1, w; mov.u32 %%t1, pairs; mov.u32 %%t1, table; mov.u32 %%t1, halves;\n"
                "mov.u32 %%t1, longs; mov.u32 %%t1, bytes;\n" /* so that all have a place */
                "mov.u32 %%t0, %%tid.x; mov.u32 %%t1, 0;\n" /* fill shared memory: each byte is its place */
                "FILL: st.shared.u8 [%%t1], %%t1; add.u32 %%t1, %%t1, 1;\n"
                ".reg .pred %%p; setp.lt.u32 %%p, %%t1, 384; @%%p bra FILL;\n"
                "add.u32 %%i, %%t0, 1; cvt.u64.u32 %%l, %%t0; or.b64 %%l, %%l, 0x500000000;\n"
                "mov.u32 %%v, 0; st.local.u32 [l+4], 9;\nbar.sync 0;\n%s\n"
                "ld.param.u64 %%o, [out]; mad.wide.u32 %%o, %%t0, 4, %%o;\n"
                "st.global.u32 [%%o], %%v; ret;\n}\n",
                plain ? cases[i].plain : cases[i].subscript);
            r = (struct emu_run){.block = 8, .ptx = text, .in_turn = true};
            r.args[0] = emu_out(&r, out[plain], sizeof out[plain]);
            r.args[2] = UINT64_C(0x1234567800000001);
            cr_assert(emu_run(&r), "%s: %s", plain ? cases[i].plain : cases[i].subscript, r.fault);
        }
        for (int t = 0; t < 8; t++)
            cr_expect(out[0][t] == out[1][t], "%s lane %d: %u, not %u", cases[i].subscript, t,
                      out[0][t], out[1][t]);
    }
}

/* Loads whose result nobody reads are checked as others are. */
Test(emu_memory, loads_that_nobody_reads_are_checked)
{
    static const char *const loads[] = {
        "ld.global.u32 %v, [%o+4096];", "ld.shared.u32 %v, [s+64];",
        "ld.u32 %v, [%o+4096];",        "ld.local.u32 %v, [l+64];",
        "ld.global.u32 %v, [%o+2];",    "ld.global.nc.u32 %v, [%o+4096];",
    };
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        uint32_t out[4];
        char body[400];
        struct emu_run r = {.block = 1};
        snprintf(body, sizeof body,
                 ".shared .b32 s[16]; .local .b32 l[16]; .reg .b32 %%v; .reg .b64 %%o;\n"
                 "ld.param.u64 %%o, [out];\n%s\nret;",
                 loads[i]);
        r.ptx = emu_ptx(".param .u64 out", body);
        r.args[0] = emu_out(&r, out, sizeof out);
        cr_expect(!emu_run(&r) && r.fault[0], "%s: no fault", loads[i]);
    }
}
