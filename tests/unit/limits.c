/* Bad and huge input: an error with its place or a limit, soon and without much memory. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A second each, up to two for good text of HUGE_BYTES; ten times as much in sanitized builds, which get shorter
 * inputs too. A slow host gets more: host_factor() times a fixed piece of work. Memory in bytes of the arena. */
static const double seconds_allowed = SANITIZED ? 10 : 1;
enum {
    HUGE_BYTES = SANITIZED ? 4000000 : 100000000,
    LARGE_BYTES = HUGE_BYTES / 5,
    BYTES_PER_BYTE = 25,
    BYTES_EXTRA = 16000000
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Touches fresh memory and hashes it byte by byte, as a reader of text does. Returns the host's time for that in
 * multiples of the 0.12 s of a fast host, at least 1. */
static double host_factor(void)
{
    static double factor;
    if (factor) return factor;
    const size_t size = 100000000;
    double start = cpu_seconds();
    unsigned char *bytes = malloc(size);
    cr_assert(bytes);
    memset(bytes, 1, size);
    volatile uint32_t sink = 0;
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 16777619U;
    sink = hash;
    (void)sink;
    free(bytes);
    factor = (cpu_seconds() - start) / 0.12;
    if (getenv("LIMITS_VERBOSE")) fprintf(stderr, "host_factor %.2f\n", factor);
    return factor = factor < 1 ? 1 : factor;
}

struct outcome {
    bool ok, placed; /* no error; the first error has a place in the text or names a limit */
    char first[256]; /* its text */
    double seconds;
    size_t memory, rendered; /* bytes of the arena, and of all messages as text */
};

/* Reads, checks and reports as heddle_module_read does. */
static struct outcome run(const char *text, size_t length)
{
    struct outcome o = {0};
    double start = cpu_seconds();
    struct arena *a = arena_new();
    struct source source = {"limits.ptx", text, (uint32_t)length};
    struct diags d = {.arena = a, .source = &source, .max_errors = 50};
    struct ptx_module *m = ptx_module_parse(a, &source, &d);
    o.ok = ptx_module_check(m);
    ptx_module_end(m);
    struct buf out = {0};
    diags_render(&d, &out);
    o.seconds = cpu_seconds() - start;
    o.memory = arena_footprint(a);
    o.rendered = out.size;
    for (size_t i = 0; i < d.count && !o.placed; i++) {
        if (d.list[i].kind != DIAG_ERROR) continue;
        snprintf(o.first, sizeof o.first, "%s", d.list[i].text);
        o.placed = d.list[i].at > 0 || d.list[i].length > 0 || strstr(d.list[i].text, "limit") ||
                   length == 0;
        break;
    }
    buf_free(&out);
    arena_free(a);
    return o;
}

static void within_limits(const char *name, size_t length, const struct outcome *o)
{
    if (getenv("LIMITS_VERBOSE"))
        fprintf(stderr, "%-28s %6.3f s %7.1f MB for %6.1f MB, %zu bytes of messages: %s\n", name,
                o->seconds, (double)o->memory / 1e6, (double)length / 1e6, o->rendered,
                o->ok ? "fine" : o->first);
    cr_expect(o->ok || o->placed, "%s: '%s' has no place", name, o->first);
    double allowed = seconds_allowed * host_factor() *
                     (o->ok ? 1 + (double)length / HUGE_BYTES : 1);
    cr_expect(o->seconds <= allowed, "%s: took %.2f s", name, o->seconds);
    cr_expect(o->memory <= BYTES_PER_BYTE * length + BYTES_EXTRA, "%s: took %zu bytes for %zu",
              name, o->memory, length);
    cr_expect(o->rendered <= 100000, "%s: %zu bytes of messages", name, o->rendered);
}

/* ---- one thing, very often --------------------------------------------------------------------- */

#define MODULE ".version 9.0\n.target sm_90\n.address_size 64\n"
#define BODY MODULE ".entry k()\n{\n.reg .b32 %r<9>;\n.reg .pred p;\n"

/* head, unit `count` times, middle, close `count` times, tail. '#' in a unit is replaced by its number.
 * HUGELY and LARGELY: as often as fits so many bytes. */
enum { HUGELY, LARGELY };
static const struct repeated {
    const char *name;
    const char *head, *unit;
    size_t count;
    const char *middle, *close, *tail;
    const char *want; /* a part of the first error; NULL: fine */
} repeated[] = {
    {"letters", "", "a", HUGELY, "", "", "", "limit"},
    {"digits", "", "7", HUGELY, "", "", "", ".version"},
    {"parentheses", "", "(", HUGELY, "", "", "", ".version"},
    {"braces", "", "{", HUGELY, "", "", "", ".version"},
    {"quotes", "", "\"", HUGELY, "", "", "", ".version"},
    {"dots", "", ".", HUGELY, "", "", "", ".version"},
    {"dot words", "", ".a", LARGELY, "", "", "", "limit"},
    {"scope words", "", "a::", LARGELY, "", "", "", ".version"},
    {"blanks", MODULE, " ", LARGELY, "", "", "", NULL},
    {"empty lines", MODULE, "\n", LARGELY, "", "", "", NULL},
    {"nul bytes", MODULE, "\x01", LARGELY, "", "", "", ""},
    {"high bytes", MODULE, "\xff", LARGELY, "", "", "", ""},
    {"long comment", MODULE "/*", "x", HUGELY, "*/", "", "", NULL},
    {"starry comment", MODULE "/*", "* /", LARGELY, "*/", "", "", NULL},
    {"open comment", MODULE "/*", "*", HUGELY, "", "", "", "comment"},
    {"open comments", MODULE, "/* ", LARGELY, "", "", "", "comment"},
    {"line comment", MODULE "//", "/", LARGELY, "\n", "", "", NULL},
    {"line comments", MODULE, "//\n", HUGELY, "", "", "", NULL},
    {"line directives", MODULE, "# 1 \"x\"\n", LARGELY, "", "", "", NULL},
    {"open string", MODULE ".pragma \"", "x", LARGELY, "", "", "", "string"},
    {"long string", MODULE ".file 1 \"", "x", LARGELY, "\"\n", "", "", NULL},
    {"semicolons", MODULE, ";", LARGELY, "", "", "", ""},

    {"letters in a body", BODY, "a", HUGELY, ";}", "", "", "limit"},
    {"digits in a body", BODY "mov.b32 %r1, ", "7", HUGELY, ";}", "", "", "64 bits"},
    {"zeros in a body", BODY "mov.b32 %r1, ", "0", LARGELY, ";}", "", "", NULL},
    {"fraction in a body", BODY "mov.b32 %r1, 1.", "0", LARGELY, ";}", "", "", "limit"},
    {"parentheses in a body", BODY "mov.b32 %r1, ", "(", LARGELY, "", "", "", ""},
    {"braces in a body", BODY, "{", LARGELY, "", "", "", ""},
    {"bars in a body", BODY "mov.b32 %r1", "|%r1", LARGELY, ";}", "", "", ""},
    {"signs in a constant", BODY "mov.b32 %r1, ", "-", LARGELY, "1;}", "", "", "limit"},
    {"negations in a constant", BODY "mov.b32 %r1, ", "!", LARGELY, "1;}", "", "", "limit"},
    {"opcode of many words", BODY "a", ".a", HUGELY, " %r1;}", "", "", "limit"},
    {"opcode of many tokens", BODY "add", " .a", 32000, " %r1;}", "", "", ""},
    {"opcodes of many tokens", BODY, "add .aaaaaaa .aaaaaaa .aaaaaaa .aaaaaaa .aaaaaaa .aaaaaaa;\n",
     100000, "}", "", "", ""},
    {"wrong lines in a body", BODY, "add.u32 %r1;\n", 100000, "}", "", "", ""},
    {"unknown opcodes", BODY, "op#.u32 %r1;\n", 100000, "}", "", "", ""},
    {"labels never declared", BODY, "bra l#;\n", 100000, "}", "", "", "undeclared"},
    {"sums", BODY "mov.b32 %r1, 1", "+1", 1000000, ";}", "", "", NULL},
    {"conditions", BODY "mov.b32 %r1, ", "1?1:", 100000, "1;}", "", "", "limit"},
    {"open conditions", BODY "mov.b32 %r1, ", "1?", 100000, "1", ":1", ";}", "limit"},
    {"deep parentheses", BODY "mov.b32 %r1, ", "(", 100000, "1", ")", ";}", "limit"},
    {"casts", BODY "mov.b32 %r1, ", "(.s64)", 50000, "1;}", "", "", "limit"},
    {"deep scopes", BODY, "{", 100000, "", "}", "}", "limit"},
    {"deep vectors", BODY "mov.b32 %r1, ", "{", 100000, "%r1", "}", ";}", "limit"},
    {"deep addresses", BODY "ld.b32 %r1, ", "[", 100000, "%r1", "]", ";}", "limit"},
    {"deep indices", MODULE ".global .b32 g[9];.entry k(){.reg .b32 %r1; ld.b32 %r1, ", "g[",
     100000, "%r1", "]", ";}", ""},
    {"long vector", BODY "mov.b32 %r1, {%r1", ",%r1", 1000000, "};}", "", "", "limit"},
    {"many operands", BODY "mov.b32 %r1", ",%r1", 1000000, ";}", "", "", ""},
    {"many arguments", MODULE ".extern .func f();.entry k(){.reg .b32 %r1; call f, (%r1", ",%r1",
     1000000, ");}", "", "", "limit"},
    {"many targets", BODY "l: t: .branchtargets l", ",l", 1000000, "; brx.idx %r1, t; }", "", "",
     "limit"},

    {"initialiser list", MODULE ".global .u8 g[] = {0", ",0", LARGELY, "};", "", "", NULL},
    {"initialiser of names", MODULE ".global .u64 x, g[] = {0", ",x", 1000000, "};", "", "", NULL},
    {"deep initialiser", MODULE ".global .u8 g[1] = ", "{", 100000, "0", "}", ";", ""},
    {"masks in an initialiser", MODULE ".global .u8 g[1] = {", "0xff(", 100000, "g", ")", "};", ""},
    {"generics in an initialiser", MODULE ".global .u64 g[1] = {", "generic(", 100000, "g", ")",
     "};", ""},
    {"dimensions", MODULE ".global .u8 g", "[1]", 100000, ";", "", "", "limit"},
    {"zero dimensions", MODULE ".global .u8 g", "[]", 100000, ";", "", "", ""},
    {"variables", MODULE, ".global .u32 g#;\n", 100000, "", "", "", NULL},
    {"variables in one directive", MODULE ".global .u32 g", ", variable_#", 100000, ";", "", "",
     NULL},
    {"one variable again", MODULE, ".global .u32 g;\n", 100000, "", "", "", ""},
    {"pragmas", MODULE, ".pragma \"nounroll\";\n", 100000, "", "", "", NULL},
    {"files", MODULE, ".file # \"x.cu\"\n", 60000, "", "", "", NULL},
    {"one file again", MODULE, ".file 1 \"x.cu\"\n", 500000, "", "", "", ""},
    {"sections", MODULE, ".section .debug_str { .b8 0 }\n", 100000, "", "", "", NULL},
    {"section data", MODULE ".section .debug_str { .b8 0", ",0", LARGELY, "}", "", "", NULL},
    {"aliases", MODULE ".visible .func f(){ret;}", ".visible .func a#();.alias a#, f;\n", 100000,
     "", "", "", NULL},

    {"labels", BODY, "l#:\n", 1000000, "ret;}", "", "", NULL},
    {"one label again", BODY, "l:\n", 1000000, "ret;}", "", "", ""},
    {"jumps", BODY, "l#: @p bra l#;\n", 100000, "ret;}", "", "", NULL},
    {"registers in one list", BODY ".reg .b32 x", ", x#", 1000000, ";ret;}", "", "", NULL},
    {"register directives", BODY, ".reg .b32 x#;\n", 100000, "ret;}", "", "", NULL},
    {"register ranges", BODY, ".reg .b32 x#_<4294967295>;\n", 40000, "ret;}", "", "", NULL},
    {"members of a range", BODY ".reg .b32 %x<100000>;\n", "mov.b32 %x#, 1;\n", 100000, "ret;}", "",
     "", NULL},
    {"statements", BODY, "add.u32 %r1, %r2, %r3;\n", 1000000, "ret;}", "", "", NULL},
    {"stores", BODY ".reg .u64 a;", "st.global.v4.b32 [a+#], {%r1, %r2, %r3, %r4};\n", 100000,
     "ret;}", "", "", NULL},
    {"locations", MODULE ".file 1 \"x.cu\"\n.entry k(){", ".loc 1 # 1\n", 100000, "ret;}", "", "",
     NULL},
    {"scopes", BODY, "{.reg .b32 %r1;}\n", 100000, "ret;}", "", "", NULL},
    {"local variables", BODY, ".local .b32 v#;\n", 100000, "ret;}", "", "", NULL},
    {"prototypes", BODY, "p#: .callprototype _ ();\n", 100000, "ret;}", "", "", NULL},
    {"parameters of a kernel", MODULE ".entry k(.param .u8 p", ", .param .u8 p#", 100000, "){ret;}",
     "", "", "limit"},
    {"parameters of a function", MODULE ".func f(.reg .u32 p", ", .reg .u32 p#", 100000, "){ret;}",
     "", "", "limit"},
    {"parameters of a prototype", BODY "q: .callprototype _ (.param .u32 p", ", .param .u32 p#",
     100000, ");}", "", "", "limit"},
    {"functions", MODULE, ".func f#(){ret;}\n", 100000, "", "", "", NULL},
    {"one function again", MODULE, ".extern .func f();\n", 100000, "", "", "", NULL},
    {"one kernel again", MODULE, ".entry k(){ret;}\n", 100000, "", "", "", ""},
    {"chain of calls", MODULE ".func f0;\n", ".func f#(){call f0;ret;}\n", 100000, "", "", "",
     NULL},
    {"directives of a kernel", MODULE ".entry k() ", ".maxnreg 32 ", 100000, "{ret;}", "", "",
     NULL},
    {"jumps ahead", BODY, "bra a#;\na#:\n", 100000, "ret;}", "", "", NULL},
};

static void add_repeated(struct buf *b, const char *unit, size_t i)
{
    char number[24];
    size_t n = (size_t)snprintf(number, sizeof number, "%zu", i);
    for (const char *p = unit; *p; p++) {
        if (*p == '#' && unit[0] != '#') buf_add(b, number, n);
        else buf_putc(b, *p);
    }
}

static void add_fast(struct buf *b, const char *unit, size_t count)
{
    size_t n = strlen(unit), total = n * count, have = n;
    char *text = malloc(total + 1);
    memcpy(text, unit, n);
    for (; have < total; have *= 2)
        memcpy(text + have, text, have < total - have ? have : total - have);
    buf_add(b, text, total);
    free(text);
}

static void build(const struct repeated *r, struct buf *b)
{
    size_t n = strlen(r->unit), count = r->count == HUGELY    ? HUGE_BYTES / n
                                        : r->count == LARGELY ? LARGE_BYTES / n
                                                              : r->count;
    size_t most = strcmp(r->name, "many targets") == 0
                      ? 300000
                      : 100000; /* more than their limit of targets */
    if (SANITIZED && r->count > LARGELY && count > most) count = most;
    buf_puts(b, r->head);
    if (strchr(r->unit, '#') && r->unit[0] != '#')
        for (size_t i = 0; i < count; i++) add_repeated(b, r->unit, i);
    else add_fast(b, r->unit, count);
    buf_puts(b, r->middle);
    if (*r->close) add_fast(b, r->close, count);
    buf_puts(b, r->tail);
}

static void run_repeated(size_t from, size_t step)
{
    for (size_t i = from; i < sizeof repeated / sizeof *repeated; i += step) {
        const struct repeated *r = &repeated[i];
        struct buf text = {0};
        if (getenv("LIMITS_VERBOSE")) fprintf(stderr, "%s...\n", r->name);
        build(r, &text);
        struct outcome o = run(text.data, text.size);
        within_limits(r->name, text.size, &o);
        cr_expect(o.ok == !r->want, "%s: %s", r->name, o.ok ? "is accepted" : o.first);
        if (r->want)
            cr_expect(strstr(o.first, r->want) || o.ok, "%s: says '%s', not '%s'", r->name, o.first,
                      r->want);
        buf_free(&text);
    }
}

/* Two processes, for two cores. */
Test(limits, even_repetitions, .timeout = 300)
{
    run_repeated(0, 2);
}
Test(limits, odd_repetitions, .timeout = 300)
{
    run_repeated(1, 2);
}

/* ---- numbers and names at their ends ----------------------------------------------------------- */

static const struct extreme {
    const char *text, *want; /* behind MODULE; a part of the first error, NULL: fine */
} extremes[] = {
    {".entry k(){.reg .b32 %r<4294967295>; mov.b32 %r4294967294, %r0; ret;}", NULL},
    {".entry k(){.reg .b32 %r<4294967295>; mov.b32 %r4294967295, %r0; ret;}", "%r4294967295"},
    {".entry k(){.reg .b32 %r<4294967296>; ret;}", "4294967295"},
    {".entry k(){.reg .b32 %r<18446744073709551617>; ret;}", ""},
    {".entry k(){.reg .b32 %r<100000000000000000000>; ret;}", "64 bits"},
    {".entry k(){.reg .b32 %r<2>; mov.b32 %r18446744073709551617, %r0; ret;}", ""},
    {".entry k(){.reg .b32 %r<2>; mov.b32 %r00000000000000000001, %r0; ret;}", ""},
    {".global .u32 g[9223372036854775807];", ""},
    {".global .u8 g[18446744073709551615];", ""},
    {".global .u8 g[18446744073709551616];", ""},
    {".global .u8 g[100000000000000000000];", "64 bits"},
    {".global .u32 g[4294967296][4294967296];", "too large"},
    {".global .u32 g[65536][65536][65536][65536];", "too large"},
    {".global .u64 g[2147483648][2147483648][2147483648][2147483648][2147483648];", "too large"},
    {".global .align 18446744073709551615 .u32 g;", ""},
    {".global .align 4294967296 .u32 g;", ""},
    {".global .align 3 .u32 g;", ""},
    {".global .align 0 .u32 g;", ""},
    {".global .f64 g = 1e309;", "range"},
    {".global .f64 g = 1e999999999999999999999;", "range"},
    {".global .u64 g = 0xffffffffffffffff;", NULL},
    {".global .u64 g = 0xfffffffffffffffff;", "64 bits"},
    {".global .u64 g = 0b11111111111111111111111111111111111111111111111111111111111111111;",
     "64 bits"},
    {".global .s64 g = -9223372036854775807 - 1;", NULL},
    {".global .s64 g = (-9223372036854775807 - 1) / -1;", ""},
    {".global .s64 g = (-9223372036854775807 - 1) % -1;", ""},
    {".global .s64 g = 1 / 0;", "zero"},
    {".global .s64 g = 1 % 0;", "zero"},
    {".global .s64 g = 1 << 64;", ""},
    {".global .s64 g = 1 << -1;", ""},
    {".global .s64 g = 1 >> 18446744073709551615;", ""},
    {".global .u64 g[2]; .global .u64 p = g + 9223372036854775807;", ""},
    {".entry k() .maxntid 4294967296 {ret;}", ""},
    {".entry k() .maxntid 65536, 65536, 65536 {ret;}", ""},
    {".entry k() .maxnreg 18446744073709551615 {ret;}", ""},
    {".entry k(.param .b8 p[18446744073709551615]){ret;}", ""},
    {".entry k(.param .b8 p[4294967296]){ret;}", ""},
    {".entry k(){.local .b8 l[1099511627776]; ret;}", ""},
    {".entry k(){.shared .b8 s[1099511627776]; ret;}", ""},
    {".file 18446744073709551615 \"x\"", ""},
    {".file 1 \"x\" .entry k(){.loc 1 18446744073709551615 0 ret;}", ""},
    {".entry k(){.reg .u64 a; .reg .b32 x; ld.b32 x, [a+9223372036854775807]; ret;}", ""},
    {".entry k(){bra k; ret;}", ""},
    {".func f(){call f; ret;} .entry k(){call f; ret;}", NULL},
    {".func g(); .func f(){call g; ret;} .func g(){call f; ret;} .entry k(){call f; ret;}", NULL},
    {".global .u64 f = f;", ""},
    {".global .u64 a[1] = {a};", "undeclared"},
};

/* Whether the verdict is right is for tests/verdicts; here "" also allows none. */
Test(limits, extremes)
{
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
        struct buf text = {0};
        buf_printf(&text, MODULE "%s\n", extremes[i].text);
        struct outcome o = run(text.data, text.size);
        within_limits(extremes[i].text, text.size, &o);
        const char *want = extremes[i].want;
        if (!want) cr_expect(o.ok, "%s: says '%s'", extremes[i].text, o.first);
        else if (*want)
            cr_expect(!o.ok && strstr(o.first, want), "%s: says '%s', not '%s'", extremes[i].text,
                      o.first, want);
        buf_free(&text);
    }
}

/* Names of many sizes, wherever a name may stand. `#` is the name. */
Test(limits, long_names)
{
    static const char *const places[] = {
        ".global .u32 #;",
        ".func #(){ret;}",
        ".entry k(){#: bra #; }",
        ".entry k(.param .u32 #){ret;}",
        ".entry k(){.reg .b32 #; mov.b32 #, 1; ret;}",
        ".entry k(){.reg .b32 #<3>; ret;}",
        ".entry k(){# 1; ret;}",
        ".entry k(){mov.# 1; ret;}",
        ".entry k(){bra #; }",
        ".# 1",
        ".pragma \"#\";",
    };
    static const size_t sizes[] = {1000, 65535, 65536, 65537, 1000000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            struct buf text = {0};
            buf_puts(&text, MODULE);
            for (const char *p = places[i]; *p; p++) {
                if (*p == '#') add_fast(&text, "x", sizes[k]);
                else buf_putc(&text, *p);
            }
            struct outcome o = run(text.data, text.size);
            within_limits(places[i], text.size, &o);
            if (i < 6)
                cr_expect(o.ok == (sizes[k] <= PTX_MAX_NAME), "%s with %zu: %s", places[i],
                          sizes[k], o.ok ? "fine" : o.first);
            if (i < 9 && sizes[k] > PTX_MAX_NAME)
                cr_expect(strstr(o.first, "limit"), "%s with %zu: %s", places[i], sizes[k],
                          o.first);
            buf_free(&text);
        }
}

/* ---- cut off, and garbled ---------------------------------------------------------------------- */

static const char whole[] = MODULE
    "// a little of everything\n.file 1 \"a.cu\"\n.global .align 8 .u32 g[4] = {1, 0x2U, -3, 4};\n"
    ".const .f32 c[] = {1.5, 0f3f800000};\n.extern .func (.param .b32 r) f(.param .b64 p);\n"
    ".visible .entry k(.param .u64 .ptr .global .align 4 p, .param .u32 n)\n.maxntid 128, 1, 1\n{\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .v2 .f32 v;\n.reg .b64 %rd<4>;\n.shared .u8 s[64];\n"
    ".loc 1 3 5\nld.param.u64 %rd1, [p];\n/* and a comment */ mov.u32 %r1, %tid.x;\n"
    "setp.lt.u32 %p1|%p2, %r1, 7;\n@!%p1 bra $end;\nmad.lo.u32 %r2, %r1, (4 + 2) * 3, %r1;\n"
    "st.global.v4.b32 [%rd1+16], {%r1, %r2, %r1, 0};\nmov.f32 v.x, 0f00000000;\n"
    "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %rd1;\ncall.uni (b), f, (a);\n"
    "ld.param.b32 %r3, [b]; }\n.pragma \"nounroll\";\natom.global.add.u32 %r4, [g+4], 1;\n$end:\nret;\n}";

/* Every prefix of a module that is cut within its last function is an error with a place. */
Test(limits, every_prefix, .timeout = 120)
{
    size_t entry = (size_t)(strstr(whole, ".visible") - whole);
    for (size_t n = 0; n < sizeof whole; n++) {
        char *text = malloc(n ? n
                              : 1); /* of exactly this size, so that reading beyond it is seen */
        memcpy(text, whole, n);
        struct outcome o = run(text, n);
        char name[32];
        snprintf(name, sizeof name, "prefix of %zu", n);
        within_limits(name, n, &o);
        if (n > entry + 1) cr_expect(o.ok == (n == sizeof whole - 1), "%s: %s", name, o.first);
        free(text);
    }
}

/* Each byte of the module replaced by each of some that matter, or left out, or doubled. */
Test(limits, every_wrong_byte, .timeout = 240)
{
    static const char bytes[] = "\0 \n\"{}()[]<>,;:.%$/*-!@0x\xff";
    char text[sizeof whole + 1];
    for (size_t i = sizeof MODULE; i + 1 < sizeof whole; i += SANITIZED ? 7 : 1)
        for (size_t k = 0; k < sizeof bytes + 1; k++) {
            size_t n = sizeof whole - 1;
            memcpy(text, whole, n);
            if (k < sizeof bytes - 1) text[i] = bytes[k];
            else if (k == sizeof bytes - 1) memmove(text + i, text + i + 1, n-- - i - 1);
            else memmove(text + i + 1, whole + i, n++ - i);
            struct outcome o = run(text, n);
            char name[48];
            snprintf(name, sizeof name, "change %zu of byte %zu", k, i);
            within_limits(name, n, &o);
        }
}

static void cut_file(const char *path, void *count)
{
    size_t length;
    if ((*(size_t *)count)++ % 8 != 0) return; /* every eighth file */
    char *text = read_file(path, &length);
    for (size_t i = 1; i < 8; i++) {
        size_t n = length * i / 8;
        char *copy = malloc(n);
        memcpy(copy, text, n);
        struct outcome o = run(copy, n);
        within_limits(path, n, &o);
        free(copy);
    }
    free(text);
}

Test(limits, cut_files, .timeout = 120)
{
    size_t count = 0;
    cr_assert(each_file("build/corpus", ".ptx", cut_file, &count) > 8);
}

static uint64_t seed = 1;
static uint32_t dice(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

/* Bytes, and words of PTX, in any order. */
Test(limits, garbage, .timeout = 120)
{
    static const char *const words[] = {
        ".entry",
        ".func",
        "k",
        "(",
        ")",
        "{",
        "}",
        ";",
        ",",
        ".reg",
        ".b32",
        "%r",
        "<",
        "9",
        ">",
        "%r1",
        "add.u32",
        "mov.b32",
        "@",
        "!",
        "p",
        "[",
        "]",
        "+",
        "-",
        "\"",
        "ld.global.u32",
        ".param",
        "l:",
        "bra",
        "call",
        ".global",
        "=",
        "0f3f800000",
        "1.5",
        ".align",
        "8",
        ".v2",
        ".visible",
        ".extern",
        ".loc",
        ".file",
        "|",
        "_",
        ".section",
        ".pragma",
        "\"x\"",
        ".callprototype",
        ".branchtargets",
        "t:",
        "::",
        ".version",
        "9.0",
        ".target",
        "sm_90",
        ".address_size",
        "64",
        "//",
        "/*",
        "*/",
        "\n",
        "generic",
        "%tid.x",
        ".maxntid",
        ".alias",
        ".weak",
        ".common",
        "*",
        "?",
        ":",
        "<<",
        "&&",
        "0xff",
        ".ptr",
        "\xc3",
    };
    for (size_t round = 0; round < 2000 / (SANITIZED ? 10 : 1); round++) {
        struct buf text = {0};
        if (round % 2) buf_puts(&text, round % 4 == 1 ? MODULE : BODY);
        for (uint32_t i = dice(2000); i > 0; i--) {
            if (round % 3 == 0) buf_putc(&text, (char)dice(256));
            else buf_puts(&text, words[dice(sizeof words / sizeof *words)]);
            if (round % 3 == 1) buf_putc(&text, ' ');
        }
        if (text.size) {
            struct outcome o = run(text.data, text.size);
            char name[32];
            snprintf(name, sizeof name, "garbage %zu", round);
            within_limits(name, text.size, &o);
        }
        buf_free(&text);
    }
}
