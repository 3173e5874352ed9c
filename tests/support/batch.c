/* The harness of tests/support/batch.h. */
#include "tests/support/batch.h"
#include "base/rng.h"

#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = BATCH_BLOCK, AT_ONCE = 100 };

uint64_t batch_random(void)
{
    static uint64_t state;
    return rng_next(&state);
}

struct batch_case *batch_add(struct batch *b, char out, batch_ref *ref, int x, int y,
                             const char *format, ...)
{
    b->cases = realloc(b->cases, (b->count + 1) * sizeof *b->cases);
    struct batch_case *c = &b->cases[b->count++];
    *c = (struct batch_case){.out = out, .ref = ref, .x = x, .y = y};
    va_list args;
    va_start(args, format);
    vsnprintf(c->text, sizeof c->text, format, args);
    va_end(args);
    return c;
}

void batch_row(struct batch *b, uint64_t x, uint64_t y, uint64_t z)
{
    b->rows = realloc(b->rows, (b->row_count + 1) * sizeof *b->rows);
    memcpy(b->rows[b->row_count++], (uint64_t[3]){x, y, z}, sizeof *b->rows);
}

void batch_triples(struct batch *b, const uint64_t *values, size_t n, size_t more)
{
    for (size_t i = 0; i < n * n * n; i += SANITIZED ? 5 : 3) /* each pair of values occurs */
        batch_row(b, values[i % n], values[i / n % n], values[i / n / n]);
    for (size_t i = 0; i < more; i += THINNED)
        batch_row(b, batch_random(), batch_random(), batch_random());
}

void batch_rows(struct batch *b, const uint64_t *values, size_t n, size_t more, unsigned bits)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            batch_row(b, values[i], values[k], values[batch_random() % n]);
    for (size_t i = 0; i < more; i += THINNED)
        batch_row(b, batch_random() >> (64 - bits), batch_random() >> (64 - bits),
                  batch_random() >> (64 - bits));
}

/* Whether row i is executed: all of the first quarter, one warp in four not at all. */
static bool is_on(const struct batch *b, size_t i)
{
    if (i < b->row_count / 4) return true;
    return i / 32 % 4 != 1 && i * 7 % 11 > 1;
}

static size_t rounded_up(const struct batch *b)
{
    return (b->row_count + BLOCK - 1) / BLOCK * BLOCK;
}

/* Before PTX ISA 1.4 kernels had no list of parameters: the buffer is where the first one lies. */
static bool is_old(const struct batch *b)
{
    return b->version && strcmp(b->version, "1.4") < 0;
}

static size_t text_of(const struct batch *b, size_t from, size_t to, char *text, size_t capacity)
{
    size_t n = (size_t)snprintf(
        text, capacity,
        ".version %s\n.target %s\n%s%s.entry k%s"
        ".reg .pred %%pon, %%po, %%qo, %%p1;\n.reg .u32 %%index, %%block, %%cta;\n.reg .u64 %%in, %%out, %%at;\n"
        ".reg .f32 %%f<4>, %%fo, %%fon;\n.reg .f64 %%d<4>, %%do;\n.reg .b32 %%r<4>, %%ro;\n"
        ".reg .b64 %%l<4>, %%lo;\n.reg .b16 %%h<4>, %%ho;\n.reg .b8 %%c<4>, %%co;\n"
        "%s;\n"
        "mov.u32 %%index, %%tid.x;\nmov.u32 %%block, %%ntid.x;\nmov.u32 %%cta, %%ctaid.x;\n"
        "mad.lo.u32 %%index, %%cta, %%block, %%index;\n"
        "mad.wide.u32 %%at, %%index, 32, %%in;\n"
        "ld.global.f32 %%fon, [%%at+24];\n",
        b->version ? b->version : "8.8", b->target, b->version ? "" : ".address_size 64\n",
        b->variables ? b->variables : "", is_old(b) ? "\n{\n" : "(.param .u64 p)\n{\n",
        is_old(b) ? "mov.u64 %in, 0x20000000" : "ld.param.u64 %in, [p]");
    for (int k = 1; k <= 3; k++) {
        static const char *const types[] = {"f32 %f", "f64 %d", "b32 %r",
                                            "b64 %l", "b16 %h", "b8 %c"};
        for (int t = 0; t < 6; t++)
            n += (size_t)snprintf(text + n, capacity - n, "ld.global.%s%d, [%%at+%d];\n", types[t],
                                  k, 8 * k - 8);
    }
    n += (size_t)snprintf(text + n, capacity - n,
                          "mad.wide.u32 %%out, %%index, %zu, %%in;\nadd.u64 %%out, %%out, %zu;\n"
                          "setp.eq.f32 %%pon, %%fon, 0f3f800000;\n@!%%pon bra END;\n"
                          "setp.gt.f32 %%p1, %%f3, 0f00000000;\n",
                          8 * (to - from), 32 * rounded_up(b));
    for (size_t i = from; i < to; i++) {
        const struct batch_case *c = &b->cases[i];
        static const char kinds[] = "fdrlhc";
        static const char *const types[] = {"f32", "f64", "b32", "b64", "b16", "b8"};
        const char *kind = strchr(kinds, c->out);
        size_t at = 8 * (i - from);
        n += (size_t)snprintf(text + n, capacity - n, "%s%s\n", c->text,
                              *c->text == '{' ? "" : ";");
        if (kind) {
            n += (size_t)snprintf(text + n, capacity - n, "st.global.%s [%%out+%zu], %%%co;\n",
                                  types[kind - kinds], at, c->out);
            continue;
        }
        n += (size_t)snprintf(text + n, capacity - n, "@%%po st.global.u32 [%%out+%zu], 1;\n", at);
        if (c->out == 'q')
            n += (size_t)snprintf(text + n, capacity - n, "@%%qo st.global.u32 [%%out+%zu], 1;\n",
                                  at + 4);
    }
    return n + (size_t)snprintf(text + n, capacity - n, "END:\nret;\n}\n");
}

static double value_of(char out, uint64_t bits)
{
    float f;
    double d;
    memcpy(&f, &bits, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return out == 'f' ? (double)f : d;
}

static bool is_equal(const struct batch_case *c, uint64_t got, uint64_t want)
{
    if (got == want) return true;
    if (c->tolerance == 0) return false;
    double g = value_of(c->out, got), w = value_of(c->out, want), gap = g > w ? g - w : w - g;
    return gap <= c->tolerance * (w < 0 ? -w : w);
}

static void run_some(struct batch *b, size_t from, size_t to)
{
    size_t n = rounded_up(b), width = to - from, size = n * (32 + 8 * width);
    uint64_t(*in)[4] = calloc(1, size), *out = (uint64_t *)(in + n); /* in one buffer */
    for (size_t i = 0; i < b->row_count; i++) {
        memcpy(in[i], b->rows[i], sizeof *b->rows);
        in[i][3] = is_on(b, i) ? 0x3f800000 : 0;
    }
    size_t capacity = 10000 + 500 * width;
    char *text = malloc(capacity);
    text_of(b, from, to, text, capacity);
    struct emu_run r = {.ptx = text, .kernel = "k", .grid = (uint32_t)(n / BLOCK), .block = BLOCK};
    r.args[0] = emu_inout(&r, in, size);
    cr_expect(emu_run(&r), "%s", r.fault);
    for (size_t k = 0; k < width && !r.fault[0]; k++) {
        const struct batch_case *c = &b->cases[from + k];
        size_t wrong = 0;
        for (size_t i = 0; i < b->row_count; i++) {
            uint64_t got = out[i * width + k], want = is_on(b, i) ? c->ref(c, b->rows[i]) : 0;
            if (!is_equal(c, got, want) && wrong++ < 4)
                cr_log_error("%s of %llx %llx %llx: %llx, not %llx%s", c->text,
                             (unsigned long long)b->rows[i][0], (unsigned long long)b->rows[i][1],
                             (unsigned long long)b->rows[i][2], (unsigned long long)got,
                             (unsigned long long)want, is_on(b, i) ? "" : " (lane is off)");
        }
        cr_expect(wrong == 0, "%s: %zu of %zu rows differ", c->text, wrong, b->row_count);
    }
    free(in), free(text);
}

void batch_run(struct batch *b)
{
    for (size_t i = 0; i < b->count; i += AT_ONCE)
        run_some(b, i, i + AT_ONCE < b->count ? i + AT_ONCE : b->count);
    free(b->cases), free(b->rows);
}
