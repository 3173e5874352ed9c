/* Linked modules with addresses: initial values, layouts, numbers of functions. Bytes and offsets that
 * are written here come from the cubins that ptxas 13.0 makes of the same text. */
#include "emu/device/image.h"
#include "emu/memory.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.3\n.target sm_80\n.address_size 64\n"

enum { MOST = 3 };
struct loaded {
    struct parsed *parsed[MOST];
    struct ptx_module *modules[MOST];
    size_t count;
    struct mem *mem;
    struct image *image; /* NULL: `why` says why */
    char *why;
};

static struct loaded load_into(uint64_t memory, const char *head, const char *const *texts,
                               size_t most)
{
    struct loaded l = {.mem = mem_new(memory)};
    for (; l.count < most && texts[l.count]; l.count++) {
        char name[16], *whole = malloc(strlen(head) + strlen(texts[l.count]) + 1);
        snprintf(name, sizeof name, "m%zu.ptx", l.count);
        strcpy(whole, head);
        strcat(whole, texts[l.count]);
        struct parsed *p = calloc(1, sizeof *p);
        p->arena = arena_new();
        p->source = (struct source){arena_printf(p->arena, "%s", name), whole,
                                    (uint32_t)strlen(whole)};
        p->diags = (struct diags){.arena = p->arena, .source = &p->source};
        p->module = ptx_module_parse(p->arena, &p->source, &p->diags);
        cr_assert(p->diags.errors == 0, "%.500s: %s", texts[l.count], first_error(p));
        l.parsed[l.count] = p;
        l.modules[l.count] = p->module;
    }
    l.image = image_new(l.mem, l.modules, l.count, &l.why);
    cr_assert(!l.image == (l.why != NULL));
    return l;
}

static struct loaded load(const char *const *texts, size_t most)
{
    struct loaded l = load_into(UINT64_C(1) << 30, HEAD, texts, most);
    cr_assert(l.image, "%s", l.why);
    return l;
}

static struct loaded load1(const char *text)
{
    return load(&text, 1);
}

static void unload(struct loaded *l)
{
    image_free(l->image);
    cr_expect(mem_count(l->mem) == 0, "something stays in memory");
    mem_free(l->mem);
    free(l->why);
    for (size_t i = 0; i < l->count; i++) {
        ptx_module_end(l->modules[i]);
        free((char *)l->parsed[i]->source.text);
        parsed_free(l->parsed[i]);
    }
}

static struct ptx_sym *symbol(const struct ptx_module *m, const char *name)
{
    for (size_t i = 0; i < m->var_count; i++) {
        const struct ptx_name *n = m->vars[i]->sym->name;
        if (n->length == strlen(name) && memcmp(n->text, name, n->length) == 0)
            return m->vars[i]->sym;
    }
    struct ptx_func *f = ptx_module_find(m, name);
    return f ? f->sym : NULL;
}

static uint64_t address(const struct loaded *l, size_t module, const char *name)
{
    struct ptx_sym *s = symbol(l->modules[module], name);
    cr_assert(s, "%s", name);
    return image_address(l->image, module, s);
}

static const uint8_t *bytes_of(const struct loaded *l, const char *name)
{
    const struct image_var *v = image_var_find(l->image, name);
    cr_assert(v, "%s", name);
    return mem_base(l->mem) + (v->address - MEM_GLOBAL);
}

/* ---- initial values ---------------------------------------------------------------------------- */

static const struct {
    const char *text, *bytes; /* of x, in hexadecimal */
} values[] = {
    {".global .f32 x = 1.5;", "0000c03f"},
    {".global .f32 x = 0d3FF8000000000001;", "0000c03f"},
    {".global .f32 x = 0f7fc01234;", "3412c07f"},
    {".global .f32 x[3] = {1e300, -0.1, 1e-40};", "0000807f cdccccbd c2160100"},
    {".global .f32 x = 0d7ff0000000000001;", "0000c07f"},
    {".global .f32 x = 0dfff8123456789abc;", "a291c0ff"},
    {".global .f64 x = 1.5;", "000000000000f83f"},
    {".global .f64 x = 0f3fc00000;", "0000c03f00000000"},
    {".global .f64 x[2] = {0.1, 0d7ff0000000000001};", "9a9999999999b93f 010000000000f07f"},
    {".global .b32 x = 1.5;", "0000c03f"},
    {".global .b32 x = 1.1;", "cdcc8c3f"},
    {".global .b32 x = 0f3fc00000;", "0000c03f"},
    {".global .b32 x = 0d3ff8000000000000;", "0000c03f"},
    {".global .b64 x = 1.5;", "000000000000f83f"},
    {".global .b64 x = 0f3fc00000;", "0000c03f00000000"},
    {".global .b64 x = 0d3ff8000000000000;", "000000000000f83f"},
    {".global .b16 x = 1.1;", "9a99"},
    {".global .b16 x = 0f3fc01234;", "3412"},
    {".global .b16 x = 0d3ff199999999999a;", "9a99"},
    {".global .b8 x = 1.1;", "9a"},
    {".global .b8 x = 0f3fc01234;", "34"},
    {".global .b128 x = 1.1;",
     "9a9999999999f13f 0000000000000000"}, /* ptxas: high bytes undefined */
    {".global .u32 x = -1;", "ffffffff"},
    {".global .u8 x[4] = {1, 300, -2, 0x1ff};", "012cfeff"},
    {".global .s16 x[3] = {-1, 70000, 5};", "ffff70110500"},
    {".global .u32 x = 0x1FFFFFFFF;", "ffffffff"},
    {".global .b128 x = 5;", "0500000000000000 0000000000000000"},
    {".global .b128 x = -5;", "fbffffffffffffff 0000000000000000"},
    {".global .b128 x[2] = {0xffffffffffffffff, 1};",
     "ffffffffffffffff 0000000000000000 0100000000000000 0000000000000000"},
    {".global .v4 .u8 x = {1,2,3,4};", "01020304"},
    {".global .v2 .f64 x[2] = {{1.0,2.0},{3.0,4.0}};",
     "000000000000f03f 0000000000000040 0000000000000840 0000000000001040"},
    {".global .v2 .b16 x[2][2] = {{{1,2},{3,4}},{{5,6}}};", "01000200 03000400 05000600 00000000"},
    {".global .u32 x;", "00000000"},
    {".const .u32 x[2] = {7};", "07000000 00000000"},
    {".global .u8 x[] = {1, 2, 3};", "010203"},
    /* From the PTX ISA, 5.4.4: short lists are filled up with zeros. ptxas packs all values instead. */
    {".global .u16 x[2][3] = {{1,2},{4}};", "0100 0200 0000 0400 0000 0000"},
    {".global .s32 x[3][2] = {{1,2},{3}};",
     "01000000 02000000 03000000 00000000 00000000 00000000"},
    {".global .u32 x[2][2][2] = {{{1},{2}},{{3,4}}};",
     "01000000 00000000 02000000 00000000 03000000 04000000 00000000 00000000"},
    {".global .u32 x = WARP_SZ;", "20000000"},
    {".global .u64 x = 0xff00(0x123456);", "3400000000000000"},
    {".common .global .u32 x = 7;", "07000000"},
};

static void hex(const uint8_t *p, size_t n, char *to)
{
    for (size_t i = 0; i < n; i++) sprintf(to + 2 * i, "%02x", p[i]);
}

Test(image, initial_values)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct loaded l = load1(values[i].text);
        const struct image_var *v = image_var_find(l.image, "x");
        cr_assert(v && v->size <= 32, "%s", values[i].text);
        char got[65], want[65];
        hex(bytes_of(&l, "x"), v->size, got);
        size_t n = 0;
        for (const char *c = values[i].bytes; *c; c++)
            if (*c != ' ') want[n++] = *c;
        want[n] = '\0';
        cr_expect(strcmp(got, want) == 0, "%s: %s", values[i].text, got);
        unload(&l);
    }
}

/* What nvcc 13.0 makes of the declarations below, but for its names' dollar signs; the host's compiler
 * says what the bytes are. */
static const char from_nvcc[] =
    ".global .align 4 .b8 target[32] = {1, 0, 0, 0, 2, 0, 0, 0, 3};\n"
    ".const .align 4 .b8 weights[24] = {0, 0, 0, 63, 0, 0, 160, 191, 230, 177, 97, 127, 194, 22, 1, 0,"
    " 205, 204, 204, 61};\n"
    ".const .align 8 .u64 m[6] = {4294836344, 4591870180066957722, 9223372037924323328, 0,"
    " 81985529216486895, generic(target)+12};\n"
    ".global .align 8 .u64 ms[12] = {131073, 4613937818241073152, 1082130432, 0, 5, generic(target),"
    " 121, 0, 0, 0, 0, 0};\n"
    ".global .align 8 .b8 dbl[24] = {85, 85, 85, 85, 85, 85, 213, 63, 156, 117, 0, 136, 60, 228, 55,"
    " 254, 1};\n"
    ".global .align 1 .b8 bytes[6] = {104, 101, 108, 108, 111};\n"
    ".global .align 2 .b8 half[10] = {255, 255, 1, 0, 0, 128};\n"
    ".global .align 8 .b8 big[16] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,"
    " 255, 255, 127};\n"
    ".global .align 1 .b8 $str[4] = {111, 110, 101};\n"
    ".global .align 1 .b8 $str$1[4] = {116, 119, 111};\n"
    ".global .align 8 .u64 text[2] = {generic($str), generic($str$1)};\n"
    ".global .align 1 .b8 flags[3] = {1, 0, 1};\n"
    ".global .align 16 .b8 vec[16] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64};\n"
    ".global .align 4 .f32 inf = 0f7F800000;\n";

struct record {
    char c;
    short s;
    double d;
    float f[3];
    long long q;
    uint64_t p; /* const int *: a device address */
};

static void expect_bytes(const struct loaded *l, const char *name, const void *want, size_t n)
{
    const struct image_var *v = image_var_find(l->image, name);
    cr_assert(v && v->size == n, "%s", name);
    cr_expect(memcmp(bytes_of(l, name), want, n) == 0, "%s", name);
}

Test(image, what_nvcc_writes_is_what_c_means)
{
    struct loaded l = load1(from_nvcc);
    uint64_t target = address(&l, 0, "target");
    static const int ints[8] = {1, 2, 3};
    static const float weights[2][3] = {{0.5f, -1.25f, 3e38f}, {1e-40f, 0.1f}};
    struct record m, ms[2]; /* padding is zero in a cubin */
    memset(&m, 0, sizeof m);
    memset(ms, 0, sizeof ms);
    m.c = 'x', m.s = -2, m.d = 0.1, m.f[0] = 1.5f, m.f[1] = -0.0f, m.q = 0x123456789abcdef;
    m.p = target + 3 * sizeof(int);
    ms[0].c = 1, ms[0].s = 2, ms[0].d = 3.0, ms[0].f[0] = 4, ms[0].q = 5, ms[0].p = target;
    ms[1].c = 'y';
    static const double dbl[3] = {1.0 / 3, -1e300, 5e-324};
    static const uint16_t half[5] = {0xffff, 1, 0x8000};
    static const long long big[2] = {-1, 0x7fffffffffffffff};
    static const float vec[4] = {1, 2, 3, 4};
    float inf = 1e38f * 10;
    uint64_t text[2] = {address(&l, 0, "$str"), address(&l, 0, "$str$1")};
    expect_bytes(&l, "target", ints, sizeof ints);
    expect_bytes(&l, "weights", weights, sizeof weights);
    expect_bytes(&l, "m", &m, sizeof m);
    expect_bytes(&l, "ms", ms, sizeof ms);
    expect_bytes(&l, "dbl", dbl, sizeof dbl);
    expect_bytes(&l, "bytes", "hello", 6);
    expect_bytes(&l, "half", half, sizeof half);
    expect_bytes(&l, "big", big, sizeof big);
    expect_bytes(&l, "text", text, sizeof text);
    expect_bytes(&l, "$str$1", "two", 4);
    expect_bytes(&l, "flags", "\1\0\1", 3);
    expect_bytes(&l, "vec", vec, sizeof vec);
    expect_bytes(&l, "inf", &inf, sizeof inf);
    const struct mem_block *b = mem_find(l.mem, address(&l, 0, "weights"), 24);
    cr_expect(b && b->constant && b->variable && strcmp(b->name, "weights") == 0);
    b = mem_find(l.mem, target, 32);
    cr_expect(b && !b->constant && b->variable);
    unload(&l);
}

static uint64_t value_of(const struct loaded *l, const char *name, size_t from, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v |= (uint64_t)bytes_of(l, name)[from + i] << 8 * i;
    return v;
}

/* Where ptxas puts relocations of a whole address, or of a byte of it, with these addends. */
Test(image, addresses_as_values)
{
    struct loaded l = load1(
        ".global .u32 t[4]; .const .u32 c[4] = {1,2,3,4}; .func f() { ret; }\n"
        ".func g();\n.global .u64 p0 = t;\n"
        ".global .u64 p1 = generic(t)+8; .global .u64 p2 = f;\n"
        ".global .u64 p3 = generic(c)+4; .global .u32 p4 = t;\n"
        ".global .u8 p5[4] = {0xff(t), 0xff00(t+4), 0xff0000(generic(t)+4), 0xff000000(c)};\n"
        ".global .u32 p6 = 0xff00(t); .global .u64 p7 = 0xff00(t+3);\n"
        ".global .u64 p8 = t+-4; .global .u64 p9[3] = {0, g};\n"
        ".func g() { ret; }\n");
    uint64_t t = address(&l, 0, "t"), c = address(&l, 0, "c");
    cr_expect(value_of(&l, "p0", 0, 8) == t && value_of(&l, "p1", 0, 8) == t + 8);
    cr_expect(value_of(&l, "p2", 0, 8) == MEM_CODE && value_of(&l, "p9", 8, 8) == MEM_CODE + 16);
    cr_expect(value_of(&l, "p3", 0, 8) == c + 4 && value_of(&l, "p4", 0, 4) == t);
    cr_expect(value_of(&l, "p5", 0, 1) == (t & 0xff));
    cr_expect(value_of(&l, "p5", 1, 1) == ((t + 4) >> 8 & 0xff));
    cr_expect(value_of(&l, "p5", 2, 1) == ((t + 4) >> 16 & 0xff));
    cr_expect(value_of(&l, "p5", 3, 1) == c >> 24);
    cr_expect(value_of(&l, "p6", 0, 4) == (t >> 8 & 0xff));
    cr_expect(value_of(&l, "p7", 0, 8) == ((t + 3) >> 8 & 0xff));
    cr_expect(value_of(&l, "p8", 0, 8) == t - 4);
    unload(&l);
}

/* ---- linking ----------------------------------------------------------------------------------- */

Test(image, names_of_other_modules)
{
    static const char *const texts[] = {
        ".extern .global .u32 g[]; .extern .global .u32 nobody; .global .u32 own = 1;\n"
        ".weak .global .u32 w = 2; .common .global .align 2 .b8 c[2]; .visible .const .u32 k = 3;\n"
        ".global .u64 p[4] = {g, w, c, own};",
        ".visible .global .align 8 .u32 g[3] = {4, 5, 6}; .global .u32 own = 7;\n"
        ".visible .global .u32 w = 8; .common .global .align 64 .b8 c[1]; .extern .const .u32 k;\n"
        ".global .u64 q[4] = {g, w, c, own}; .global .u64 r = k;",
        ".weak .global .u32 w = 9, v = 10; .common .global .b8 c[5]; .extern .global .u32 g[3];"};
    struct loaded l = load(texts, 3);
    for (size_t i = 0; i < 3; i++) {
        cr_expect(address(&l, i, "w") == address(&l, 0, "w"));
        cr_expect(address(&l, i, "c") == address(&l, 0, "c"));
        cr_expect(address(&l, i, "g") == address(&l, 0, "g"));
    }
    cr_expect(address(&l, 1, "k") == address(&l, 0, "k"));
    cr_expect(address(&l, 1, "own") != address(&l, 0, "own"));
    cr_expect(address(&l, 0, "nobody") == 0 && !image_var_find(l.image, "nobody"));
    cr_expect(value_of(&l, "w", 0, 4) == 8 && value_of(&l, "g", 8, 4) == 6);
    cr_expect(value_of(&l, "v", 0, 4) == 10 && value_of(&l, "own", 0, 4) == 1);
    const struct image_var *c = image_var_find(l.image, "c");
    cr_expect(c->size == 5 && c->align == 64 && c->module == 2);
    cr_expect(image_var_find(l.image, "g")->align == 8 &&
              image_var_find(l.image, "g")->module == 1);
    static const char *const order[] = {"g", "w", "c", "own"};
    for (size_t i = 0; i < 4; i++) {
        cr_expect(value_of(&l, "p", 8 * i, 8) == address(&l, 0, order[i]), "%s", order[i]);
        cr_expect(value_of(&l, "q", 8 * i, 8) == address(&l, 1, order[i]), "%s", order[i]);
    }
    cr_expect(value_of(&l, "r", 0, 8) == address(&l, 0, "k"));
    cr_expect(mem_count(l.mem) == l.image->var_count && l.image->var_count == 10);
    for (size_t i = 0; i < l.image->var_count; i++)
        cr_expect(l.image->vars[i].address % l.image->vars[i].align == 0);
    unload(&l);
}

Test(image, a_name_for_all_is_found_before_a_modules_own)
{
    static const char *const texts[] = {".global .u32 x = 1; .func f() {ret;} .entry k() {ret;}",
                                        ".visible .global .u32 x = 2; .visible .entry k() {ret;}"};
    struct loaded l = load(texts, 2);
    cr_expect(image_var_find(l.image, "x")->module == 1);
    cr_expect(!image_var_find(l.image, "f") && !image_var_find(l.image, ""));
    uint32_t k = image_kernel_find(l.image, "k");
    cr_expect(k == 2 && image_func_at(l.image, k).module == 1);
    cr_expect(image_kernel_find(l.image, "f") == UINT32_MAX);
    cr_expect(image_kernel_find(l.image, "x") == UINT32_MAX);
    unload(&l);
}

/* As nvlink 13.0 has it. */
Test(image, a_common_variable_with_a_value_is_the_one)
{
    static const char *const plain = ".common .global .align 4 .b8 x[4];",
                             *const with = ".common .global .align 4 .b8 x[4] = {1,2,3,4};",
                             *const larger = ".common .global .align 4 .b8 x[8];";
    const char *const good[][2] = {{plain, with}, {with, plain}};
    for (size_t i = 0; i < 2; i++) {
        struct loaded l = load(good[i], 2);
        cr_expect(value_of(&l, "x", 0, 4) == 0x04030201 && image_var_find(l.image, "x")->size == 4);
        cr_expect(address(&l, 0, "x") == address(&l, 1, "x"));
        unload(&l);
    }
    const char *const bad[][2] = {{larger, with}, {with, larger}, {with, with}};
    for (size_t i = 0; i < 3; i++) {
        struct loaded l = load_into(UINT64_C(1) << 20, HEAD, bad[i], 2);
        cr_assert(!l.image, "%zu", i);
        cr_expect(strstr(l.why, i == 2 ? "already" : "larger") != NULL, "%s", l.why);
        unload(&l);
    }
}

static const struct {
    const char *texts[MOST];
    const char *why; /* part of it */
} failures[] = {
    {{".visible .global .u32 x;", ".visible .global .u32 x;"},
     "m1.ptx:4:23: error: 'x' is defined already in m0.ptx"},
    {{".extern .global .u32 y; .global .u64 x = y;"}, "m0.ptx:4:42: error: no module defines 'y'"},
    {{".global .u32 small; .global .b8 x[0x10000000];"},
     "m0.ptx:4:33: error: device memory is too small for 268435456 bytes of 'x': 4 are in use"},
    {{".global .b8 x[0xffffffffffffffff];"}, "device memory is too small"},
    {{".global .b64 x[0xffffffff][0x7fffffff];"}, "device memory is too small"},
    {{".global .b64 x[0x3fffffffffffffff];"}, "device memory is too small"},
    {{".global .texref x[0x0fffffffffffffff];"}, "device memory is too small"},
    {{".global .texref x[0x0400000000000000];"}, "device memory is too small"},
    {{".global .align 2147483648 .b8 x;"}, "device memory is too small"},
    {{".global .b8 a; .global .b8 b[0x100000]; .extern .global .u32 y; .global .u64 c[2] = {a, y};"},
     "no module defines 'y'"},
};

Test(image, what_cannot_be_loaded)
{
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct loaded l = load_into(UINT64_C(1) << 27, HEAD, failures[i].texts, MOST);
        cr_assert(!l.image, "%zu", i);
        cr_expect(strstr(l.why, failures[i].why) != NULL, "%s", l.why);
        unload(&l);
    }
}

/* An error of one link is not one of the next. */
Test(image, a_module_can_be_loaded_again)
{
    static const char *const texts[] = {".visible .global .u32 x = 5;", ".visible .global .u32 x;"};
    struct loaded l = load_into(UINT64_C(1) << 20, HEAD, texts, 2);
    cr_assert(!l.image);
    char *why;
    struct image *a = image_new(l.mem, &l.modules[1], 1, &why), *b = NULL;
    cr_assert(a);
    b = image_new(l.mem, &l.modules[1], 1, &why);
    cr_assert(b);
    cr_expect(image_var_find(a, "x")->address != image_var_find(b, "x")->address);
    image_free(a);
    image_free(b);
    image_free(NULL);
    unload(&l);
}

Test(image, nothing_at_all)
{
    char *why;
    struct mem *m = mem_new(1 << 20);
    struct image *im = image_new(m, NULL, 0, &why);
    cr_assert(im);
    cr_expect(!image_var_find(im, "x") && image_kernel_find(im, "k") == UINT32_MAX);
    cr_expect(!image_func_at(im, 0).func);
    image_free(im);
    mem_free(m);
}

Test(image, addresses_of_32_bits)
{
    static const char head[] = ".version 8.3\n.target sm_80\n.address_size 32\n";
    static const char *const fits =
        ".global .u32 t[2] = {1, 2}; .global .u32 p[2] = {t+4, t+-0x30000000};";
    struct loaded l = load_into(UINT64_C(1) << 20, head, &fits, 1);
    cr_assert(l.image, "%s", l.why);
    cr_expect(value_of(&l, "p", 0, 4) == address(&l, 0, "t") + 4);
    cr_expect(value_of(&l, "p", 4, 4) == ((address(&l, 0, "t") - 0x30000000) & 0xffffffff));
    unload(&l);
    static const char *const beyond =
        ".global .b8 big[0xe0000000]; .global .u32 t; .global .u32 p = t;";
    l = load_into(UINT64_C(1) << 33, head, &beyond, 1);
    cr_assert(!l.image);
    cr_expect(strstr(l.why, "the address of 't', 0x100000100, does not fit .u32") != NULL, "%s",
              l.why);
    unload(&l);
}

Test(image, variables_count_as_written)
{
    static const char text[] = HEAD ".global .b8 x[100];";
    struct parsed *p = parse_text("m.ptx", text, sizeof text - 1);
    struct mem *m = mem_new(1 << 20);
    mem_track(m);
    char *why;
    struct image *im = image_new(m, &p->module, 1, &why);
    cr_assert(im);
    const uint8_t *bits = mem_written_bits(m) + (image_var_find(im, "x")->address - MEM_GLOBAL) / 8;
    for (int i = 0; i < 12; i++) cr_expect(bits[i] == 0xff);
    cr_expect(bits[12] == 0x0f && bits[13] == 0);
    image_free(im);
    mem_free(m);
    parsed_free(p);
}

Test(image, textures)
{
    static const char head[] =
        ".version 8.3\n.target sm_80, texmode_independent\n.address_size 64\n";
    static const char *const text =
        ".global .texref t[3] = {{width = 5, height = 6}, {width=7}}; .global .surfref s;\n"
        ".global .samplerref a = { filter_mode = nearest }; .global .texref m[2][2] = {{{width=1}},"
        " {{width=2}, {width=3}}}; .global .u32 x; .global .u64 p[2] = {t, m};";
    struct loaded l = load_into(UINT64_C(1) << 20, head, &text, 1);
    cr_assert(l.image, "%s", l.why);
    static const struct {
        const char *name;
        size_t element;
        const char *fields;
    } fields[] = {{"t", 0, "width = 5, height = 6"},
                  {"t", 1, "width=7"},
                  {"t", 2, NULL},
                  {"t", 3, NULL},
                  {"s", 0, NULL},
                  {"a", 0, " filter_mode = nearest "},
                  {"m", 0, "width=1"},
                  {"m", 1, NULL},
                  {"m", 2, "width=2"},
                  {"m", 3, "width=3"},
                  {"m", 4, NULL},
                  {"x", 0, NULL}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t n = 0;
        const char *got = image_var_fields(image_var_find(l.image, fields[i].name),
                                           fields[i].element, &n);
        cr_expect(fields[i].fields ? got && n == strlen(fields[i].fields) &&
                                         memcmp(got, fields[i].fields, n) == 0
                                   : !got,
                  "%zu: %.*s", i, (int)n, got ? got : "");
    }
    cr_expect(image_var_find(l.image, "t")->size == 3 * IMAGE_HANDLE);
    cr_expect(image_var_find(l.image, "s")->size == IMAGE_HANDLE);
    cr_expect(mem_find(l.mem, address(&l, 0, "t"), 192)->constant);
    cr_expect(value_of(&l, "p", 0, 8) == address(&l, 0, "t"));
    unload(&l);
}

/* ---- functions --------------------------------------------------------------------------------- */

Test(image, functions_have_numbers)
{
    static const char *const texts[] = {
        ".extern .func f(); .extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".func own(); .func own() {ret;} .visible .entry k() {ret;} .weak .func w() {ret;}",
        ".visible .func f() {ret;} .func own() {ret;} .visible .func w() {ret;}\n"
        ".visible .func a(); .alias a, f;"};
    struct loaded l = load(texts, 2);
    static const struct {
        size_t module;
        const char *name;
        uint32_t number;
    } functions[] = {{0, "f", 0}, {0, "vprintf", 1}, {0, "own", 2}, {0, "k", 3}, {0, "w", 4},
                     {1, "f", 0}, {1, "own", 5},     {1, "w", 4},   {1, "a", 0}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        struct ptx_func *f = ptx_module_find(l.modules[functions[i].module], functions[i].name);
        uint32_t n = image_func_number(l.image, functions[i].module, f);
        cr_expect(n == functions[i].number, "%zu: %u", i, n);
        cr_expect(address(&l, functions[i].module, functions[i].name) == MEM_CODE + 16 * n);
    }
    cr_expect(l.image->func_count == 6 && !image_func_at(l.image, 6).func);
    cr_expect(!image_func_at(l.image, UINT64_MAX).func);
    static const char *const names[] = {"f", "vprintf", "own", "k", "w", "own"};
    static const size_t modules[] = {1, 0, 0, 0, 1, 1};
    for (uint32_t i = 0; i < 6; i++) {
        struct ptx_place at = image_func_at(l.image, i);
        cr_expect(at.module == modules[i] && (at.func->body_at > 0) == (i != 1), "%u", i);
        cr_expect(strlen(names[i]) == at.func->sym->name->length &&
                  memcmp(names[i], at.func->sym->name->text, strlen(names[i])) == 0);
        cr_expect(image_func_number(l.image, at.module, at.func) == i);
    }
    cr_expect(image_kernel_find(l.image, "k") == 3);
    struct ptx_reach r = ptx_program_reach(l.image->program, 0, ptx_module_find(l.modules[0], "w"));
    cr_expect(r.count == 1 && image_func_number(l.image, 0, r.funcs[0].func) == 4);
    unload(&l);
}

/* ---- shared memory ----------------------------------------------------------------------------- */

/* The kernel k of the first module: its variables in order, and where they lie. */
static const struct {
    const char *what, *texts[2];
    const char *layout; /* NULL: too much */
    uint32_t size, dynamic;
    bool has_dynamic;
} layouts[] = {
    {"nothing", {".shared .u32 a; .entry k() {ret;}"}, "", 0, 0, false},
    {"in order of declaration",
     {".shared .u8 a[3]; .shared .u64 unused; .shared .u32 b; .shared .align 32 .b8 c[4];\n"
      ".entry k() {.reg .u32 r; mov.u32 r, c; st.shared.u32 [b], r; ld.shared.u8 r, [a+1]; ret;}"},
     "a@0 b@4 c@32",
     36,
     48,
     false},
    {"those of a body lie behind",
     {".shared .u8 z; .entry k() {.reg .u32 r; .shared .u16 x; .shared .u32 never;\n"
      "{ .shared .u8 x; st.shared.u8 [x], r; } st.shared.u16 [x], 1; ld.shared.u8 r, [z]; ret;}"},
     "z@0 x@2 x@4",
     5,
     16,
     false},
    {"of functions that are called",
     {".shared .u32 a; .shared .u32 b; .func g() {.shared .u32 c; st.shared.u32 [c], 1; ret;}\n"
      ".func f() {st.shared.u32 [a], 1; call g; ret;} .func no() {st.shared.u32 [b], 1; ret;}\n"
      ".entry k() {call f; ret;}"},
     "a@0 c@4",
     8,
     16,
     false},
    {"module variables first",
     {".func f() {.shared .u32 c; st.shared.u32 [c], 1; ret;} .shared .u32 z;\n"
      ".entry k() {call f; st.shared.u32 [z], 1; ret;}"},
     "z@0 c@4",
     8,
     16,
     false},
    {"dynamic ones begin together behind the rest",
     {".extern .shared .align 4 .b8 d[]; .shared .align 8 .b8 s[20]; .extern .shared .align 64 .b8 e[];\n"
      ".extern .shared .align 128 .b8 unused[];\n"
      ".entry k() {.reg .u32 r; mov.u32 r, d; mov.u32 r, e; mov.u32 r, s; ret;}"},
     "d@64 s@0 e@64",
     20,
     64,
     true},
    {"dynamic alone",
     {".extern .shared .align 1 .b8 d[]; .entry k() {.reg .u32 r; mov.u32 r, d; ret;}"},
     "d@0",
     0,
     0,
     true},
    {"16 bytes at least",
     {".shared .b8 s; .extern .shared .u32 d[]; .entry k() {.reg .u32 r; mov.u32 r, d; mov.u32 r, s; ret;}"},
     "s@0 d@16",
     1,
     16,
     true},
    {"a definition of another module",
     {".extern .shared .u32 x[]; .shared .u16 own; .extern .func f();\n"
      ".entry k() {.reg .u32 r; mov.u32 r, x; mov.u32 r, own; call f; ret;}",
      ".visible .shared .u32 x[3]; .shared .u8 own; .visible .func f() {\n"
      ".reg .u32 r; mov.u32 r, own; mov.u32 r, x; ret;}"},
     "own@0 x@4 own@16",
     17,
     32,
     false},
    {"in every kind of operand",
     {".shared .align 8 .b64 a, b, c, e; .shared .align 16 .b8 d[64]; .global .b8 g[16];\n"
      ".shared .b8 f[16];\n"
      ".entry k() {.reg .u32 r; .reg .u64 l; .reg .pred p; cvta.shared.u64 l, a;\n"
      "@p st.shared.v2.u32 [d+8], {r, r}; atom.shared.add.u32 r, [b], 1; mov.u32 r, e;\n"
      "mbarrier.init.shared.b64 [c], 1; mov.u64 l, g; cp.async.ca.shared.global [f], [l], 16; ret;}"},
     "a@0 b@8 c@16 e@24 d@32 f@96",
     112,
     112,
     false},
    {"a range of variables",
     {".shared .u8 a<12>; .entry k() {.reg .u32 r; mov.u32 r, a11; mov.u32 r, a2; mov.u32 r, a10; ret;}"},
     "a2@0 a10@1 a11@2",
     3,
     16,
     false},
    {"as much as there is",
     {".shared .b8 a[232447]; .shared .b8 b; .entry k() {.reg .u32 r; mov.u32 r, a; mov.u32 r, b; ret;}"},
     "a@0 b@232447",
     232448,
     232448,
     false},
    {"a byte more",
     {".shared .b8 a[232447]; .shared .b8 b[2]; .entry k() {.reg .u32 r; mov.u32 r, a; mov.u32 r, b; ret;}"},
     NULL,
     0,
     0,
     false},
    {"much more",
     {".shared .b64 a[0xffffffff][0xffffffff]; .entry k() {.reg .u32 r; mov.u32 r, a; ret;}"},
     NULL,
     0,
     0,
     false},
    {"more than 2^32 together",
     {".shared .b8 a; .shared .b8 b[0xffffffff]; .entry k() {.reg .u32 r; mov.u32 r, a; mov.u32 r, b; ret;}"},
     NULL,
     0,
     0,
     false},
    {"an alignment that has no place",
     {".shared .b8 a; .shared .align 2147483648 .b8 b; .entry k() {.reg .u32 r; mov.u32 r, a; mov.u32 r, b;"
      " ret;}"},
     NULL,
     0,
     0,
     false},
    {"nor has a dynamic one",
     {".shared .b8 a; .extern .shared .align 1048576 .b8 b[]; .entry k() {.reg .u32 r; mov.u32 r, a;"
      " mov.u32 r, b; ret;}"},
     NULL,
     0,
     0,
     false},
};

Test(image, shared_layouts)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        struct loaded l = load(layouts[i].texts, 2);
        struct ptx_reach r = ptx_program_reach(l.image->program, 0,
                                               ptx_module_find(l.modules[0], "k"));
        cr_assert(r.ok, "%s: %s", layouts[i].what, first_error(l.parsed[0]));
        struct arena *a = arena_new();
        char *why = NULL;
        struct image_shared *s = image_shared_new(l.image, a, &r, &why);
        cr_expect(!s == !layouts[i].layout && !s == (why != NULL), "%s: %s", layouts[i].what, why);
        if (s && layouts[i].layout) {
            const char *got = "";
            for (size_t k = 0; k < s->count; k++) {
                struct ptx_sym *sym = s->vars[k].var->sym;
                got = arena_printf(a, "%s%s%.*s@%u", got, k ? " " : "", (int)sym->name->length,
                                   sym->name->text, s->vars[k].offset);
                size_t module = sym->name->text - l.parsed[0]->source.text <
                                            (ptrdiff_t)l.parsed[0]->source.length &&
                                        sym->name->text >= l.parsed[0]->source.text
                                    ? 0
                                    : l.count - 1;
                cr_expect(image_shared_offset(s, module, sym) == s->vars[k].offset);
            }
            cr_expect(strcmp(got, layouts[i].layout) == 0, "%s: %s", layouts[i].what, got);
            cr_expect(s->size == layouts[i].size && s->dynamic == layouts[i].dynamic &&
                          s->has_dynamic == layouts[i].has_dynamic,
                      "%s: %u, %u", layouts[i].what, s->size, s->dynamic);
        }
        free(why);
        arena_free(a);
        unload(&l);
    }
}

Test(image, shared_variables_that_are_not_there)
{
    struct loaded l = load1(".shared .u32 a; .shared .u32 b; .global .u32 g; .func f() {ret;}\n"
                            ".entry k() {st.shared.u32 [a], 1; ret;}");
    struct ptx_reach r = ptx_program_reach(l.image->program, 0, ptx_module_find(l.modules[0], "k"));
    struct arena *a = arena_new();
    char *why;
    struct image_shared *s = image_shared_new(l.image, a, &r, &why);
    cr_assert(s);
    cr_expect(image_shared_offset(s, 0, symbol(l.modules[0], "a")) == 0);
    cr_expect(image_shared_offset(s, 0, symbol(l.modules[0], "b")) == UINT32_MAX);
    cr_expect(image_shared_offset(s, 0, symbol(l.modules[0], "g")) == UINT32_MAX);
    cr_expect(image_shared_offset(s, 0, symbol(l.modules[0], "f")) == UINT32_MAX);
    cr_expect(address(&l, 0, "a") == 0 && !image_var(l.image, 0, symbol(l.modules[0], "a")));
    arena_free(a);
    unload(&l);
}

/* ---- parameters -------------------------------------------------------------------------------- */

/* The offsets of kernels are those that ptxas notes in .nv.info (EIATTR_KPARAM_INFO), but for opaque
 * parameters, which it binds by name, and alignments above 32: it counts these from the beginning of
 * the constant bank, where other things lie before the parameters. */
static const struct {
    const char *text, *offsets; /* of f; NULL: too much */
    uint32_t size, align;
} params[] = {
    {".entry f() {ret;}", "", 0, 1},
    {".entry f(.param .u8 a, .param .align 8 .u32 b, .param .u64 c, .param .align 4 .b8 d[7],\n"
     ".param .align 1 .u16 e, .param .align 16 .b8 g[5], .param .u8 h) {ret;}",
     "0+1 8+4 16+8 24+7 32+2 48+5 53+1", 54, 16},
    {".entry f(.param .u64 a, .param .u32 b) {ret;}", "0+8 8+4", 12, 8},
    {".entry f(.param .u8 a, .param .u64 .ptr .global .align 16 b) {ret;}", "0+1 8+8", 16, 8},
    {".entry f(.param .b8 a[3], .param .b16 b[2], .param .b128 c) {ret;}", "0+3 4+4 16+16", 32, 16},
    {".entry f(.param .u32 a, .param .texref b, .param .u32 c) {ret;}", "0+4 8+8 16+4", 20, 8},
    {".entry f(.param .align 256 .b8 a[1], .param .align 256 .b8 b[1]) {ret;}", "0+1 256+1", 257,
     256},
    {".func f(.reg .u32 a, .reg .b64 c, .param .b32 d) {ret;}", "0+4 8+8 16+4", 20, 8},
    {".func f(.param .b32 a, .param .align 8 .b8 b[]) {ret;}", "0+4 8+0", 8, 8},
    {".entry f(.param .b8 a[32760], .param .b32 b) {ret;}", "0+32760 32760+4", 32764, 4},
    {".func f(.param .b8 a[32764], .param .b8 b) {ret;}", NULL, 0, 0},
    {".func f(.param .b8 a, .param .b64 b[0x1fffffffffffffff]) {ret;}", NULL, 0, 0},
    {".func f(.param .b8 a, .param .b64 b[0x2000000000000001]) {ret;}", NULL, 0, 0},
};

Test(image, parameter_layouts)
{
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        struct loaded l = load1(params[i].text);
        struct ptx_func *f = ptx_module_find(l.modules[0], "f");
        struct arena *a = arena_new();
        struct image_params p;
        char *why = NULL;
        bool ok = image_params_layout(a, f->proto.params, f->proto.param_count, MEM_MAX_PARAMS, &p,
                                      &why);
        cr_expect(ok == (params[i].offsets != NULL) && ok == !why, "%s: %s", params[i].text, why);
        if (ok && params[i].offsets) {
            const char *got = "";
            for (uint32_t k = 0; k < p.count; k++)
                got = arena_printf(a, "%s%s%u+%u", got, k ? " " : "", p.list[k].offset,
                                   p.list[k].size);
            cr_expect(strcmp(got, params[i].offsets) == 0, "%s: %s", params[i].text, got);
            cr_expect(p.size == params[i].size && p.align == params[i].align, "%s: %u %u",
                      params[i].text, p.size, p.align);
        }
        free(why);
        arena_free(a);
        unload(&l);
    }
}

/* ---- hostile modules --------------------------------------------------------------------------- */

Test(image, many_variables, .timeout = 60)
{
    enum { COUNT = 100000 };
    struct buf b = {0};
    buf_puts(&b, ".global .u64 v0;\n");
    for (int i = 1; i < COUNT; i++)
        buf_printf(&b, ".global .align %d .u64 v%d = v%d;\n", i % 3 ? 8 : 4096, i, i - 1);
    struct loaded l = load_into(UINT64_C(1) << 33, HEAD, (const char *const *)&b.data, 1);
    cr_assert(l.image, "%s", l.why);
    cr_assert(l.image->var_count == COUNT);
    for (size_t i = 1; i < COUNT; i++) {
        const struct image_var *v = &l.image->vars[i];
        cr_assert(v->address % v->align == 0);
        cr_assert(memcmp(mem_base(l.mem) + (v->address - MEM_GLOBAL), &v[-1].address, 8) == 0);
    }
    unload(&l);
    buf_free(&b);
}
