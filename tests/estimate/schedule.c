/* Instructions as an assembler orders them: what must stay behind what, by rules of the test's own. */
#include "model/schedule.h"
#include "cuda/device.h"
#include "emu/counts.h"
#include "emu/trace.h"
#include "ptx/isa.h"
#include "suites/suite.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"
#include "tests/support/timing.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;

/* ---- dependences -------------------------------------------------------------------------------------------- */

static const char *text_of(const struct trace_inst *i, char to[256])
{
    snprintf(to, 256, "%.*s", i->op ? (int)i->op->text_length : 0, i->op ? i->op->text : "");
    return to;
}

/* "g", "s", "l": memory that a load or store reaches; "gsl": any; "": none that is written. */
static const char *memory_of(const char *text)
{
    if (strstr(text, ".param") || strstr(text, ".const") || strstr(text, ".nc.")) return "";
    return strstr(text, ".shared")   ? "s"
           : strstr(text, ".local")  ? "l"
           : strstr(text, ".global") ? "g"
                                     : "gsl";
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool stays(const char *text) /* with regard to all memory */
{
    static const char *const words[] = {"bar",  "membar",   "fence", "atom",
                                        "red.", "mbarrier", "cp."};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins(text, words[i])) return true;
    return strstr(text, ".volatile") != NULL;
}

static bool named(const struct emu_trace *t, const struct trace_inst *i, u32 from, u32 to, u32 reg)
{
    for (u32 k = from; k < to; k++)
        if (t->regs[i->reg + k] == reg) return true;
    return false;
}

static bool depends(const struct emu_trace *t, const struct trace_inst *a,
                    const struct trace_inst *b)
{
    char x[256], y[256];
    for (u32 k = 0; k < a->reads + a->writes; k++) {
        const u32 reg = t->regs[a->reg + k];
        if (named(t, b, b->reads, b->reads + b->writes, reg)) return true;
        if (k >= a->reads && named(t, b, 0, b->reads, reg)) return true;
    }
    text_of(a, x), text_of(b, y);
    /* Barriers order no load of memory that stays the same while a kernel runs. */
    const bool is_a = (begins(x, "ld") || begins(x, "st")) && *memory_of(x),
               is_b = (begins(y, "ld") || begins(y, "st")) && *memory_of(y);
    if ((stays(x) && (is_b || stays(y))) || (stays(y) && is_a)) return true;
    return is_a && is_b && (begins(x, "st") || begins(y, "st")) &&
           strpbrk(memory_of(x), memory_of(y)) != NULL;
}

/* place[i]: where instruction i of the trace is in the schedule. Alike ones are in their order. */
static void find_places(const struct emu_trace *t, const struct emu_trace *s, u32 *place)
{
    for (u32 b = 0; b < t->block_count; b++) {
        const u32 first = t->blocks[b].first, end = first + t->blocks[b].count;
        bool *taken = calloc(end - first + 1, 1);
        for (u32 i = first; i < end; i++) {
            u32 k = first;
            while (k < end &&
                   (taken[k - first] || memcmp(&s->insts[k], &t->insts[i], sizeof *t->insts) != 0))
                k++;
            cr_assert(lt(u32, k, end), "instruction %u is lost", i);
            taken[k - first] = true;
            place[i] = k;
        }
        free(taken);
    }
}

static u32 behind_its_place(const struct emu_trace *t, const u32 *place)
{
    u32 moved = 0;
    for (u32 b = 0; b < t->block_count; b++) {
        const u32 first = t->blocks[b].first, end = first + t->blocks[b].count;
        for (u32 i = first; i < end; i++) {
            moved += place[i] != i;
            for (u32 k = i + 1; k < end; k++) {
                char x[256], y[256];
                if (place[k] > place[i] || !depends(t, &t->insts[i], &t->insts[k])) continue;
                cr_expect(false, "%s is before %s, on which it depends", text_of(&t->insts[k], y),
                          text_of(&t->insts[i], x));
            }
        }
    }
    return moved;
}

/* ---- accesses ----------------------------------------------------------------------------------------------- */

/* What a warp's words say, whatever the order of a block's accesses. */
static u64 content(const struct emu_trace *t, const struct trace_warp *w, const u32 *place,
                   bool in_order)
{
    u64 sum = 0, block = 0;
    u32 last = 0;
    for (u32 at = 0; at < w->count;) {
        if ((w->words[at] & 3) == TRACE_BLOCK) {
            block = (block + w->words[at++] + 1) * 0x9e3779b97f4a7c15u;
            last = 0;
            continue;
        }
        const u32 inst = t->site_inst[w->words[at] >> 2], now = place ? place[inst] : inst;
        if (in_order) cr_expect(now >= last, "an access before its turn");
        last = now;
        u64 hash = block ^ now * 0xff51afd7ed558ccdu;
        const u32 size = 1 + trace_access_words(w->words + at);
        for (u32 k = 1; k < size; k++) hash = (hash ^ w->words[at + k]) * 0xc4ceb9fe1a85ec53u;
        sum += hash ^ hash >> 29;
        at += size;
    }
    return sum + block;
}

static void compare(const struct emu_trace *t, u32 *moved)
{
    struct schedule s;
    schedule_take(t, &s);
    u32 *place = calloc(t->inst_count + 1, sizeof *place);
    find_places(t, &s.trace, place);
    *moved += behind_its_place(t, place);
    cr_assert(eq(u32, s.trace.cta_count, t->cta_count));
    for (u32 c = 0; c < t->cta_count; c++)
        for (u32 w = 0; w < t->ctas[c]->warp_count; w++) {
            const struct trace_warp *a = &t->ctas[c]->warps[w], *b = &s.trace.ctas[c]->warps[w];
            cr_assert(eq(u32, a->count, b->count));
            cr_expect(content(t, a, place, false) == content(&s.trace, b, NULL, true),
                      "CTA %u, warp %u has other accesses", c, w);
        }
    free(place);
    schedule_free(&s);
}

static void after(void *self, const char *kernel, const struct emu_launch *l,
                  const struct emu_report *report)
{
    (void)kernel, (void)l;
    if (report->counts && report->counts->trace) compare(report->counts->trace, self);
}

Test(schedule, what_depends_on_something_stays_behind_it)
{
    u32 moved = 0;
    cuda_device_configure(
        &(struct emu_config){.threads = 1, .trace = true, .gpu = emu_gpu_find("v100")});
    cuda_device_watch(&(struct cuda_watch){.self = &moved, .after = after, .quiet = true});
    for (size_t i = 0; i < suite_count(); i += THINNED)
        (void)suite_run(suite_at(i), &(struct suite_options){.seed = 1});
    cuda_device_watch(NULL);
    cuda_device_reset();
    cr_expect(gt(u32, moved, 1000));
}

/* Blocks with calls: what the callee accesses is between the caller's. */
Test(schedule, accesses_stay_in_their_block_around_calls)
{
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".func (.reg .f32 r) sum(.reg .u64 a)\n{\n .reg .f32 %f<6>;\n"
        " ld.global.f32 %f1, [a]; add.f32 %f2, %f1, %f1; ld.global.f32 %f3, [a+4];\n"
        " st.global.f32 [a+8], %f2; ld.global.nc.f32 %f4, [a+128]; ld.global.nc.f32 %f5, [a+256];\n"
        " add.f32 %f2, %f2, %f3; add.f32 %f4, %f4, %f5; add.f32 r, %f2, %f4; ret;\n}\n"
        ".entry k(.param .u64 p)\n{\n .reg .u64 %a<3>; .reg .f32 %f<9>; .reg .u32 %t;\n"
        " .reg .b64 %l; .local .align 8 .b8 own[64]; mov.u64 %l, own;\n"
        " ld.param.u64 %a1, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %a1, %t, 512, %a1;\n"
        " st.local.f32 [%l], 0f3F800000; st.local.f32 [%l+4], 0f3F800000;\n"
        " call (%f1), sum, (%a1);\n"
        " ld.local.f32 %f2, [%l]; add.f32 %f3, %f1, %f2; ld.local.f32 %f4, [%l+4];\n"
        " st.global.f32 [%a1+384], %f3; ld.local.f32 %f5, [%l+4]; add.f32 %f4, %f4, %f5;\n"
        " call (%f6), sum, (%a1);\n"
        " add.f32 %f6, %f6, %f4; ld.local.f32 %f7, [%l]; st.local.f32 [%l+8], %f6;\n"
        " add.f32 %f7, %f7, %f6; st.global.f32 [%a1+388], %f7; ret;\n}\n";
    struct device d = device_new(text, (struct emu_config){.sms = 1, .threads = 1});
    u32 moved = 0;
    compare(trace_of(&d, 2, 64), &moved);
    cr_expect(gt(u32, moved, 0));
    device_free(&d);
}

/* ---- time ----------------------------------------------------------------------------------------------------- */

/* So many loads from DRAM into shared memory: one after the other, or all at once. */
static double copies(int count, bool scheduled)
{
    static char text[1 << 15];
    struct timing_machine m = machine_new();
    size_t at = (size_t)sprintf(text,
                                ".shared .b8 sm[4096]; .reg .u64 %%a; .reg .u32 %%s, %%r<%d>;"
                                "ld.param.u64 %%a, [p]; mov.u32 %%s, sm;",
                                count);
    for (int i = 0; i < count; i++)
        at += (size_t)sprintf(text + at,
                              "ld.global.u32 %%r%d, [%%a+%d]; st.shared.u32 [%%s+%d], %%r%d;", i,
                              256 * i, 4 * i, i);
    sprintf(text + at, "bar.sync 0; ret;");
    struct device d = device_new(emu_ptx(".param .u64 p", text),
                                 (struct emu_config){.sms = m.sms, .threads = 1});
    const struct emu_trace *t = trace_of(&d, 1, 1);
    struct schedule s = {.trace = *t};
    struct timing_result times;
    if (scheduled) schedule_take(t, &s);
    timing_run(&s.trace, &m, 1, 16384, &times);
    schedule_free(&s);
    device_free(&d);
    return times.cycles;
}

Test(schedule, loads_do_not_wait_for_stores_of_other_memory)
{
    const double one = copies(1, false), more = copies(16, false) - one, alike = copies(1, true),
                 scheduled = copies(16, true) - alike;
    cr_expect(one <= alike && alike <= one);
    cr_expect(gt(dbl, more, 5 * scheduled));
}

/* Not more loads are under way than there are registers for. */
Test(schedule, loads_under_way_are_limited)
{
    const double some = copies(SCHEDULE_LOADS, true), twice = copies(2 * SCHEDULE_LOADS, true),
                 one = copies(1, true);
    cr_expect(gt(dbl, twice - some, 0.5 * one));
}
