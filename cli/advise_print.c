/* Prints advice as text and as JSON. */
#include "cli/advise.h"
#include "cli/json.h"

#include "base/buf.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST = 1 /* percent of all cycles: less is not worth a line */ };

static const struct {
    const char *name, *unit;
    const char *counted; /* a format for before and after, of one access */
    const char *text;
} kinds[ADVICE_KINDS] = {
    [ADVICE_COALESCE] =
        {"coalesce", "sectors", "%.1f sectors for each access, %.1f would do",
         "Lanes of a warp access addresses that lie in many sectors, and each sector of 32 bytes is moved for a few "
         "of them: let consecutive lanes access consecutive addresses, by another layout or through a tile in "
         "shared memory."},
    [ADVICE_BANKS] =
        {"bank-conflicts", "passes", "%.1f passes for each access, %.1f would do",
         "Lanes of a warp access different words of one bank of shared memory, which serves them one after another: pad "
         "the rows of the array by one element, or swizzle its columns."},
    [ADVICE_ATOMICS] =
        {"atomics", "rounds", "%.1f rounds for each access, %.1f would do",
         "Lanes of a warp, or warps of a CTA, change one address by atomics, which L2 carries out one after another: add up in registers or "
         "in shared memory first, and do one atomic for each CTA. The saving is that of all such lines of the kernel."},
    [ADVICE_TILES] =
        {"tiles", "sectors", "%.1f sectors of global memory for each load, %.1f would do",
         "Threads of a CTA load the same words from global memory again and again: let the CTA load a tile of them once, "
         "side by side, into shared memory, and read it there after a barrier."},
    [ADVICE_WIDER] =
        {"wider", "loads", "%.1f loads of words side by side, %.1f would do",
         "A thread loads consecutive words by one instruction each, and each instruction asks for the same sectors: load "
         "them as one vector (float2, float4), whose address must be a multiple of its size."},
    [ADVICE_DIVERGENCE] =
        {"divergence", "warp instructions",
         "%.2f of the warp instructions would do, with all lanes active",
         "Lanes of a warp are idle while others execute more iterations or another branch: share the iterations of a "
         "thread among the lanes of a warp, or give lanes of a warp work of the same length. The saving is that of "
         "all such lines of the kernel; iterations that need the result of the one before cannot be shared."},
    [ADVICE_GRID] = {"grid", "CTAs", "%.0f CTAs, where the GPU has an SM for each of %.0f",
                     "SMs have no CTA: split the work into more CTAs, each with fewer iterations."},
    [ADVICE_OCCUPANCY] =
        {"occupancy", "CTAs", "%.0f CTAs are resident on an SM, %.0f could be: ",
         "Resident warps do not hide the latency of each other: with one CTA more on each SM a scheduler finds more "
         "warps that can issue. That the code needs fewer registers or less shared memory is not counted."},
};

/* The other way to do it, whose saving is `saved_otherwise`. */
static const char *const other_ways[ADVICE_KINDS] = {
    [ADVICE_ATOMICS] = "with a reduction of each CTA by shuffles",
    [ADVICE_TILES] = "with a quarter of the CTAs, each thread with four results",
};

static bool has_other_way(const struct advice *x)
{
    return other_ways[x->kind] && x->otherwise && !x->not_otherwise;
}

static bool is_worth_it(const struct advices *a, const struct advice *x)
{
    return x->saved * 100 >= LEAST * a->cycles;
}

static void print_counted(const struct advice *x)
{
    const double each = x->accesses > 0 ? x->accesses : 1;
    printf("  ");
    switch (x->kind) {
    case ADVICE_DIVERGENCE: printf(kinds[x->kind].counted, x->after / x->before); break;
    case ADVICE_OCCUPANCY:
        printf(kinds[x->kind].counted, x->before / each, x->after / each);
        printf("%s", x->detail);
        break;
    default: printf(kinds[x->kind].counted, x->before / each, x->after / each);
    }
    printf("\n");
}

void advices_print(const struct advices *a)
{
    size_t shown = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct advice *x = &a->list[i];
        if (!is_worth_it(a, x)) continue;
        printf("%s:%u, %s: up to %.0f of %.0f cycles (%.0f %%)\n", x->file, x->line, x->kernel,
               x->saved, a->cycles, 100 * x->saved / a->cycles);
        print_counted(x);
        if (has_other_way(x))
            printf("  %s: %s %.0f cycles\n", other_ways[x->kind],
                   x->saved_otherwise > 0 ? "saves" : "costs", fabs(x->saved_otherwise));
        printf("  %s\n", kinds[x->kind].text);
        shown++;
    }
    if (!shown) printf("nothing to gain: less than %d %% of the cycles for each line\n", LEAST);
}

static json_t *json_list(const struct advices *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->count; i++) {
        const struct advice *x = &a->list[i];
        if (!is_worth_it(a, x)) continue;
        json_t *one = json_pack("{sososisssfsIsIsIssss*ss}", "kernel", json_text(x->kernel), "file",
                                json_text(x->file), "line", (int)x->line, "advice",
                                kinds[x->kind].name, "saved_cycles", x->saved, "accesses",
                                (json_int_t)x->accesses, "before", (json_int_t)x->before, "after",
                                (json_int_t)x->after, "unit", kinds[x->kind].unit, "detail",
                                x->detail, "text", kinds[x->kind].text);
        if (has_other_way(x))
            json_object_set_new(one, "other_way",
                                json_pack("{sssf}", "text", other_ways[x->kind], "saved_cycles",
                                          x->saved_otherwise));
        json_array_append_new(list, one);
    }
    return list;
}

void advices_put_json(const struct advices *a, struct buf *out)
{
    json_t *list = json_list(a);
    char *text = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(10));
    buf_puts(out, text);
    free(text);
    json_decref(list);
}

void advices_print_json(const struct advices *a)
{
    json_t *d = json_pack("{sssisssfso}", "format", "heddle-advice", "version", 2, "gpu", a->gpu,
                          "cycles", a->cycles, "advice", json_list(a));
    (void)json_dumpf(d, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    printf("\n");
    json_decref(d);
}
