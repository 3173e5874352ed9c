/* Devices and launches through heddle.h. */
#include "heddle.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 hello[4] = {72, 105, 10, 0};\n"
    ".visible .entry say()\n{\n.reg .b64 %rd<3>;\n.param .b64 f; .param .b64 a; .param .b32 r;\n"
    "mov.u64 %rd1, hello; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, 0;\n"
    "st.param.b64 [f], %rd1; st.param.b64 [a], %rd2;\ncall (r), vprintf, (f, a);\nret;\n}\n"
    ".visible .entry spin()\n{\n.reg .b64 %n; .reg .pred %p; mov.u64 %n, 0;\n"
    "again: add.u64 %n, %n, 1; setp.ne.u64 %p, %n, 0; @%p bra again;\nret;\n}\n"
    ".visible .entry cluster(.param .u64 out)\n{\n.reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %cluster_nctaid.x;\nst.global.u32 [%rd1], %r1;\nret;\n}\n";

struct seen {
    char text[64];
    unsigned called;
    uint64_t instructions;
};

static void print(void *self, const char *text, size_t length)
{
    strncat(((struct seen *)self)->text, text, length);
}

static void progress(void *self, uint64_t warp_instructions, double seconds)
{
    struct seen *s = self;
    cr_expect(seconds > 0 && warp_instructions >= s->instructions);
    s->instructions = warp_instructions;
    s->called++;
}

static struct heddle_device *open_device(struct heddle_module **m, struct seen *s)
{
    struct heddle_device_options o = {.timeout = 1.0,
                                      .count = true,
                                      .threads = 1,
                                      .print = print,
                                      .print_self = s,
                                      .progress = progress,
                                      .progress_self = s};
    *m = heddle_module_read("k.ptx", kernels, strlen(kernels), NULL);
    cr_assert(heddle_module_ok(*m), "%s", heddle_module_messages_text(*m));
    struct heddle_device *d = heddle_device_new(&o);
    cr_assert(heddle_device_load(d, m, 1), "%s", heddle_device_error(d));
    return d;
}

Test(device, launches_say_how_they_went)
{
    struct seen s = {0};
    struct heddle_module *m;
    struct heddle_device *d = open_device(&m, &s);
    struct heddle_launch l = {.kernel = "say", .grid = {2, 1, 1}, .block = {1, 1, 1}};
    struct heddle_run r = heddle_device_run(d, &l);
    cr_expect(!r.fault && !*r.kind && !*r.text && strcmp(s.text, "Hi\nHi\n") == 0, "%s%s", s.text,
              r.text);
    cr_expect(s.called == 0);

    l.kernel = "spin";
    r = heddle_device_run(d, &l);
    cr_expect(r.fault && r.limit && r.line == 18 && *r.kind, "%s line %u", r.kind, r.line);
    cr_expect(s.called > 0 && s.called < 20 && s.instructions > 0, "called %u times", s.called);

    l.kernel = "none";
    r = heddle_device_run(d, &l);
    cr_expect(r.fault && strcmp(r.kind, "impossible launch") == 0, "%s", r.kind);

    uint64_t out = heddle_device_alloc(d, 4, "out");
    uint32_t got = 0;
    l = (struct heddle_launch){.kernel = "cluster",
                               .grid = {4, 1, 1},
                               .block = {1, 1, 1},
                               .cluster = {2, 1, 1},
                               .args = &out,
                               .arg_count = 1};
    r = heddle_device_run(d, &l);
    cr_expect(!r.fault && heddle_device_read(d, &got, out, 4) && got == 2, "%s%u", r.text, got);
    heddle_device_free(d);
    heddle_module_free(m);
}

Test(device, counts_by_name_and_line)
{
    struct seen s = {0};
    struct heddle_module *m;
    struct heddle_device *d = open_device(&m, &s);
    uint64_t n = 7;
    cr_expect(!heddle_device_count(d, "instructions.warp", &n) && !heddle_device_counts(d));
    uint64_t out = heddle_device_alloc(d, 4, "out"), args[] = {out};
    struct heddle_launch l = {.kernel = "cluster",
                              .grid = {4, 1, 1},
                              .block = {1, 1, 1},
                              .cluster = {2, 1, 1},
                              .args = args,
                              .arg_count = 1};
    for (int i = 0; i < 2; i++) cr_assert(!heddle_device_run(d, &l).fault);
    cr_expect(heddle_device_count(d, "instructions.warp", &n) && n == 4 * 4);
    cr_expect(heddle_device_count(d, "memory.global.store.bytes", &n) && n == 16);
    cr_expect(heddle_device_count(d, "memory.shared.load.passes", &n) && n == 0);
    cr_expect(!heddle_device_count(d, "memory.nowhere", &n));
    char *text = heddle_device_counts(d);
    cr_expect(strstr(text, "\"kernel\": \"cluster\"") && strstr(text, "\"cluster\": [2, 1, 1]"));
    free(text);
    size_t lines = heddle_device_line_count(d);
    uint64_t sum = 0;
    for (size_t i = 0; i < lines; i++) {
        struct heddle_line line = heddle_device_line(d, i);
        cr_expect_str_eq(line.file, "k.ptx");
        sum += line.warp_instructions;
    }
    cr_expect(lines >= 4 && sum == 2 * 4 * 4, "%zu lines, %llu", lines, (unsigned long long)sum);
    heddle_device_free(d);
    heddle_module_free(m);
}

/* A GPU that there is not makes no device that runs anything, one of a file does. */
Test(device, gpus_by_name_and_file)
{
    static const struct {
        const char *gpu, *why;
    } wrong[] = {{"titn", "did you mean 'titanv'?"},
                 {"/nonexistent/gpu.yaml", "cannot read '/nonexistent/gpu.yaml'"},
                 {"Makefile.yaml/", "cannot read"}};
    struct heddle_module *m = heddle_module_read("k.ptx", kernels, strlen(kernels), NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *why = heddle_gpu_check(wrong[i].gpu);
        struct heddle_device *d = heddle_device_new(
            &(struct heddle_device_options){.gpu = wrong[i].gpu});
        cr_expect(why && strstr(why, wrong[i].why), "%s", why ? why : "");
        cr_expect(!heddle_device_load(d, &m, 1));
        cr_expect_str_eq(heddle_device_error(d), why ? why : "");
        heddle_device_free(d);
        free(why);
    }
    static const char *const right[] = {"titanv", "model/gpus/rtx3070.yaml", NULL};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        struct heddle_device *d = heddle_device_new(
            &(struct heddle_device_options){.gpu = right[i]});
        cr_expect(heddle_gpu_check(right[i]) == NULL);
        cr_expect(heddle_device_load(d, &m, 1), "%s", heddle_device_error(d));
        heddle_device_free(d);
    }
    heddle_module_free(m);
}

/* An order that there is not makes no device that runs anything. */
Test(device, orders_by_name)
{
    struct heddle_module *m = heddle_module_read("k.ptx", kernels, strlen(kernels), NULL);
    struct heddle_device *d = heddle_device_new(&(struct heddle_device_options){.order = "randon"});
    cr_expect(!heddle_device_load(d, &m, 1));
    cr_expect(strstr(heddle_device_error(d), "did you mean 'random'?"), "%s",
              heddle_device_error(d));
    heddle_device_free(d);
    d = heddle_device_new(&(struct heddle_device_options){.order = "random:strategy=lag"});
    cr_expect(heddle_device_load(d, &m, 1), "%s", heddle_device_error(d));
    heddle_device_free(d);
    heddle_module_free(m);
    cr_expect_str_eq(heddle_order(0).name, "native");
    for (size_t i = 0; i < heddle_order_count(); i++)
        for (size_t k = 0; k < heddle_order(i).option_count; k++) {
            const struct heddle_order_option o = heddle_order_option(i, k);
            char word[128];
            snprintf(word, sizeof word, "%s:%s=%s", heddle_order(i).name, o.name, o.preset);
            char *why = heddle_order_check(word);
            cr_expect(!why, "%s: %s", word, why);
            free(why);
        }
}
