/* heddle.h: findings, estimates, watched memory, recordings and checks through the public interface. */
#define _GNU_SOURCE /* mkstemp, MAP_ANONYMOUS */
#include "heddle.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* store: thread t of CTA b stores b + 1 to out[t], so CTAs race. add: each thread adds 1 to out[0]. far: a store behind
 * the end. once: thread 0 alone stores 7. */
static const char kernels[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry store(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; add.u32 %r2, %r2, 1;\n"
    "mad.wide.u32 %rd2, %r1, 4, %rd1;\n"
    "st.global.u32 [%rd2], %r2;\nret;\n}\n" /* line 9 */
    ".visible .entry add(.param .u64 out)\n{\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [out]; red.global.add.u32 [%rd1], 1;\nret;\n}\n"
    ".visible .entry far(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;\n"
    "st.global.u32 [%rd2+4], %r1;\nret;\n}\n" /* line 22 */
    ".visible .entry once(.param .u64 out)\n{\n.reg .b32 %r<2>; .reg .pred %p; .reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0; @%p bra done;\n"
    "st.global.u32 [%rd1], 7;\ndone: ret;\n}\n";

struct opened {
    struct heddle_module *m;
    struct heddle_device *d;
    uint64_t out; /* 64 words */
};

static struct opened open_with(const struct heddle_device_options *o)
{
    struct opened x = {.m = heddle_module_read("k.ptx", kernels, strlen(kernels), NULL)};
    cr_assert(heddle_module_ok(x.m), "%s", heddle_module_messages_text(x.m));
    x.d = heddle_device_new(o);
    cr_assert(heddle_device_load(x.d, &x.m, 1), "%s", heddle_device_error(x.d));
    x.out = heddle_device_alloc(x.d, 256, "out");
    return x;
}

static void close_it(struct opened *x)
{
    heddle_device_free(x->d);
    heddle_module_free(x->m);
}

static struct heddle_run launch(struct opened *x, const char *kernel, uint32_t ctas,
                                uint32_t threads)
{
    return heddle_device_launch(x->d, kernel, (uint32_t[]){ctas, 1, 1}, (uint32_t[]){threads, 1, 1},
                                0, &x->out, 1);
}

Test(library, modules_with_errors_are_not_loaded)
{
    static const char wrong[] =
        ".version 8.0\n.target sm_70\n.entry k()\n{\n frobnicate; ret;\n}\n";
    struct heddle_module *list[] = {
        heddle_module_read("k.ptx", kernels, strlen(kernels), NULL),
        heddle_module_read_file("/no/such/file.ptx", NULL),
        heddle_module_read("wrong.ptx", wrong, strlen(wrong), NULL),
    };
    static const char *const why[] = {"cannot read", "frobnicate"};
    struct heddle_device *d = heddle_device_new(NULL);
    for (size_t i = 0; i < 2; i++) {
        cr_expect(!heddle_device_load(d, &list[i + 1], 1));
        cr_expect(strstr(heddle_device_error(d), why[i]), "%s", heddle_device_error(d));
    }
    cr_expect(!heddle_device_load(d, list, 3));
    cr_expect(heddle_device_load(d, list, 1), "%s", heddle_device_error(d));
    heddle_device_free(d);
    for (size_t i = 0; i < 3; i++) heddle_module_free(list[i]);
}

/* A gigabyte of NULs behind a module counts as little as one. */
Test(library, a_text_is_copied_whatever_follows_it)
{
    const size_t size = (1u << 30) + (1u << 16);
    char *text = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    cr_assert(text != MAP_FAILED);
    memcpy(text, kernels, strlen(kernels));
    struct heddle_module *m = heddle_module_read("k.ptx", text, size, NULL);
    cr_assert_eq(munmap(text, size), 0);
    cr_expect(heddle_module_ok(m), "%s", heddle_module_messages_text(m));
    char *again = heddle_module_print(m);
    cr_expect(strstr(again, ".entry once"));
    free(again);
    heddle_module_free(m);
}

Test(library, findings_are_structures)
{
    struct opened x = open_with(&(struct heddle_device_options){.check_race = true});
    struct heddle_run r = launch(&x, "store", 2, 32);
    cr_expect(!r.fault && r.findings == 1);
    cr_assert_eq(heddle_device_finding_count(x.d), 1);
    struct heddle_finding f = heddle_device_finding(x.d, 0);
    cr_expect_eq(f.kind, HEDDLE_RACE);
    cr_expect_str_eq(f.name, "race");
    cr_expect(f.line == 9 && f.line2 == 9, "%u %u", f.line, f.line2);
    cr_expect(strstr(f.text, "st.global.u32"));
    cr_expect_eq(heddle_device_findings_of(x.d, HEDDLE_RACE), 1);
    cr_expect_eq(heddle_device_findings_of(x.d, HEDDLE_MIXED_ATOMICITY), 0);
    cr_expect_eq(heddle_device_finding(x.d, 1).kind, HEDDLE_NO_FAULT);
    cr_expect_eq(heddle_device_fault(x.d).kind, HEDDLE_NO_FAULT);
    launch(&x, "store", 1, 32);
    cr_expect_eq(heddle_device_finding_count(x.d), 0, "the last launch's only");
    close_it(&x);
}

Test(library, a_fault_names_its_thread_and_address)
{
    struct opened x = open_with(NULL);
    cr_expect_eq(heddle_device_fault(x.d).kind, HEDDLE_NO_FAULT, "before the first launch");
    launch(&x, "far", 1, 64); /* thread 63 stores to bytes 256 to 259 of 256 */
    struct heddle_fault f = heddle_device_fault(x.d);
    cr_expect_eq(f.kind, HEDDLE_OUT_OF_BOUNDS);
    cr_expect_str_eq(f.name, "out of bounds");
    cr_expect(f.thread[0] == 63 && f.cta[0] == 0 && f.line == 22, "%u %u", f.thread[0], f.line);
    cr_expect(f.address == x.out + 256 && f.size == 4);
    launch(&x, "none", 1, 1);
    cr_expect_eq(heddle_device_fault(x.d).kind, HEDDLE_BAD_LAUNCH);
    cr_expect(strstr(heddle_device_fault(x.d).text, "there is no kernel 'none'"));
    close_it(&x);
}

Test(library, each_kind_of_finding_has_a_name_of_its_own)
{
    cr_expect_str_eq(heddle_finding_name(HEDDLE_NO_FAULT), "");
    cr_expect_str_eq(heddle_finding_name((enum heddle_finding_kind)99), "");
    for (int a = 1; a <= HEDDLE_BAD_ORDER; a++)
        for (int b = 1; b < a; b++)
            cr_expect_str_neq(heddle_finding_name((enum heddle_finding_kind)a),
                              heddle_finding_name((enum heddle_finding_kind)b));
}

Test(library, an_estimate_is_that_of_its_parts)
{
    struct opened x = open_with(&(struct heddle_device_options){
        .count = true, .caches = true, .trace = true, .gpu = "titanv"});
    struct heddle_estimate e;
    cr_expect(!heddle_device_estimate(x.d, 0, &e), "nothing was launched");
    launch(&x, "add", 80, 64);
    cr_assert(heddle_device_estimate(x.d, 0, &e));
    cr_expect(!heddle_device_estimate(x.d, 1, &e), "there is one grid");
    cr_assert(heddle_device_estimate(x.d, 0, &e));
    double sum = 0;
    for (size_t i = 0; e.parts[i].name; i++) sum += e.parts[i].cycles;
    cr_expect(e.cycles > 100 && fabs(sum - e.cycles) < 1e-6 * e.cycles, "%f %f", sum, e.cycles);
    cr_expect(e.low <= e.cycles && e.cycles <= e.high);
    cr_expect_str_eq(e.kernel, "add");
    cr_expect_str_eq(e.gpu, "titanv");
    cr_expect(e.grid[0] == 80 && e.block[0] == 64);
    /* 80 CTAs of two warps: ld.param, red, ret */
    cr_expect_eq(e.thread_instructions, 3 * 80 * 64);
    cr_expect_null(heddle_estimate_warning(1u << 31));
    cr_expect(heddle_estimate_warning(1));
    close_it(&x);
}

static void remember(void *self, const struct heddle_write *w)
{
    struct heddle_write *list = self;
    while (list->width) list++;
    *list = *w;
}

Test(library, writes_to_watched_words_are_reported)
{
    struct opened x = open_with(&(struct heddle_device_options){.order = "random", .seed = 3});
    struct heddle_write list[40] = {0};
    cr_expect(!heddle_device_watch(x.d, x.out + 252, 4, 2, remember, list), "behind the end");
    cr_expect(!heddle_device_watch(x.d, x.out, 0, 1, remember, list), "no width");
    cr_expect(!heddle_device_watch(x.d, x.out, 32, 1, remember, list), "too wide");
    cr_assert(heddle_device_watch(x.d, x.out, 4, 1, remember, list));
    launch(&x, "once", 1, 32);
    cr_assert_eq(list[0].width, 4);
    cr_expect_eq(list[0].kind, HEDDLE_WRITE_STORE);
    cr_expect(list[0].thread_known && list[0].thread[0] == 0 && list[0].address == x.out);
    cr_expect_eq(list[1].width, 0, "one write");
    launch(&x, "add", 1, 32);
    for (int i = 1; i <= 32; i++)
        cr_expect(list[i].kind == HEDDLE_WRITE_REDUCTION && strcmp(list[i].operation, "add") == 0);
    cr_expect_eq(list[33].width, 0, "a write for each of 32 lanes");
    close_it(&x);
}

Test(library, recordings_repeat_a_run)
{
    char path[] = "/tmp/heddle-recording-XXXXXX";
    uint32_t first[64], again[64], other[64];
    bool differ = false;
    close(mkstemp(path));
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct opened x = open_with(
            &(struct heddle_device_options){.order = "random", .seed = seed});
        cr_assert(heddle_device_record(x.d, path), "%s", heddle_device_error(x.d));
        cr_expect(!heddle_device_replay(x.d, path), "one at a time");
        launch(&x, "store", 8, 64);
        cr_expect(heddle_device_recording_end(x.d), "%s", heddle_device_error(x.d));
        heddle_device_read(x.d, first, x.out, 256);
        close_it(&x);
        x = open_with(&(struct heddle_device_options){.order = "random", .seed = seed + 100});
        cr_assert(heddle_device_replay(x.d, path), "%s", heddle_device_error(x.d));
        launch(&x, "store", 8, 64);
        cr_expect(heddle_device_recording_end(x.d), "%s", heddle_device_error(x.d));
        heddle_device_read(x.d, again, x.out, 256);
        cr_expect_arr_eq(first, again, 256);
        launch(&x, "store", 8, 64); /* by its own seed again */
        heddle_device_read(x.d, other, x.out, 256);
        differ |= memcmp(first, other, 256) != 0;
        close_it(&x);
    }
    cr_expect(differ, "no seed had another result: a replay would show nothing");
    struct opened x = open_with(&(struct heddle_device_options){.order = "gpudet"});
    cr_expect(!heddle_device_record(x.d, path) && strstr(heddle_device_error(x.d), "gpudet"));
    cr_expect(!heddle_device_replay(x.d, "/no/such/file") && *heddle_device_error(x.d));
    cr_expect(heddle_device_recording_end(x.d), "nothing was begun");
    close_it(&x);
    unlink(path);
}

struct program {
    const char *kernel;
    uint32_t ctas;
    unsigned runs, checked;
};

static struct heddle_check_outcome once(void *self, const struct heddle_device_options *o)
{
    struct program *p = self;
    struct opened x = open_with(o);
    p->runs++;
    p->checked += o->check_race;
    struct heddle_run r = launch(&x, p->kernel, p->ctas, 64);
    struct heddle_check_outcome out = {.digest = heddle_device_digest(x.d),
                                       .failed = r.fault,
                                       .races = heddle_device_findings_of(x.d, HEDDLE_RACE)};
    close_it(&x);
    return out;
}

Test(library, checks_give_the_verdict_that_the_program_deserves)
{
    const struct heddle_check_options o = {.runs = 5};
    struct program racy = {"store", 8, 0, 0}, fine = {"add", 8, 0, 0}, fails = {"far", 1, 0, 0};
    struct heddle_check_result r = heddle_check(&o, once, &racy);
    cr_expect_eq(r.verdict, HEDDLE_VERDICT_RACY, "%s", r.name);
    cr_expect(r.races == 1 && racy.checked == 1 && racy.runs == 2 + 3 * 5);
    cr_assert_eq(r.order_count, 4);
    cr_expect_str_eq(r.orders[2].order, "gpudet");
    cr_expect(r.orders[1].results > 1 && r.orders[2].results == 1);
    r = heddle_check(&o, once, &fine);
    cr_expect_eq(r.verdict, HEDDLE_VERDICT_DETERMINISTIC, "%s", r.name);
    cr_expect(fabs(r.unseen - (1 - pow(0.05, 0.2))) < 1e-12);
    r = heddle_check(&o, once, &fails);
    cr_expect_eq(r.verdict, HEDDLE_VERDICT_FAILED, "%s", r.name);
    r = heddle_check(
        &(struct heddle_check_options){.orders = (const char *[]){"randon"}, .order_count = 1},
        once, &fine);
    cr_expect_eq(r.verdict, HEDDLE_VERDICT_UNKNOWN);
}
