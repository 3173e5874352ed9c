#include "model/timing_order.h"

#include "emu/counts.h"
#include "emu/gpu.h"
#include "model/timing_internal.h"
#include "ptx/isa.h"

#include <string.h>

static uint32_t option(const struct emu_counts *c, const char *name)
{
    for (size_t i = 0; i < c->option_count; i++)
        if (strcmp(c->options[i].name, name) == 0) return (uint32_t)c->options[i].value;
    return 0;
}

/* 650 MHz where L2 has 700 (thesis, table 5.2). */
static double z_interval(const struct emu_gpu *g)
{
    return g->core_mhz / (g->l2_mhz * 650 / 700);
}

bool timing_order_of(const struct emu_counts *c, struct timing_order *out)
{
    *out = (struct timing_order){.kind = TIMING_NATIVE};
    if (strcmp(c->order, "native") == 0 || strcmp(c->order, "random") == 0) return true;
    if (strcmp(c->order, "gpudet") == 0) {
        out->kind = TIMING_GPUDET;
        out->z_interval = z_interval(c->gpu);
#define READ(field) out->gpudet.field = option(c, #field);
        GPUDET_OPTION_FIELDS(READ)
#undef READ
        return out->gpudet.buffer;
    }
    if (strcmp(c->order, "dab") != 0) return false;
    out->kind = TIMING_DAB;
#define READ(field, name) out->dab.field = option(c, name);
    DAB_OPTION_FIELDS(READ)
#undef READ
    return true;
}

/* ---- instructions ---------------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_strong(const struct ptx_op *op)
{
    static const char *const words[] = {"volatile", "relaxed", "acquire", "release", "mmio"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_op_has(op, words[i])) return true;
    return false;
}

static enum timing_kind kind_of(const struct trace_inst *i)
{
    const struct ptx_op *op = i->op;
    if (!op) return TIMING_PLAIN;
    if (begins(op->text, "fence") || begins(op->text, "membar")) return TIMING_FENCE;
    if (begins(op->text, "red.") && (op->form->effects & PTX_ATOMIC)) return TIMING_REDUCTION;
    if (op->form->effects & PTX_ATOMIC) return i->dead_result ? TIMING_REDUCTION : TIMING_FETCHING;
    if (op->form->unit != PTX_UNIT_MEM) return TIMING_PLAIN;
    if (is_strong(op)) return TIMING_STRONG;
    return op->form->effects & PTX_WRITES ? TIMING_STORE : TIMING_PLAIN;
}

uint8_t *timing_kinds(const struct emu_trace *t)
{
    uint8_t *kinds = timing_calloc(t->inst_count, 1);
    for (uint32_t i = 0; i < t->inst_count; i++) kinds[i] = (uint8_t)kind_of(&t->insts[i]);
    return kinds;
}
