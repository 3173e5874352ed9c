/* Removes instructions from the code of a trace and adds others; finds instructions that only compute addresses. */
#include "base/arena.h"
#include "model/timing_internal.h"
#include "model/what_if_rewrite.h"
#include "ptx/isa.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;

struct shorter_code {
    struct trace_inst *insts;
    struct trace_block *blocks;
    u32 *regs, *site_inst;
    u32 inst_count, block_count, site_count, reg_count;
    u32 reg, added;      /* used of `regs`; instructions that were added */
    struct arena *arena; /* of the opcodes of these; NULL: none */
    struct ptx_isa *isa;
};

static u32 end_of_registers(const struct emu_trace *t)
{
    u32 most = 0;
    for (u32 i = 0; i < t->inst_count; i++) {
        const u32 end = t->insts[i].reg + t->insts[i].reads + t->insts[i].writes;
        if (end > most) most = end;
    }
    return most;
}

/* ---- without some instructions ------------------------------------------------------------------------------------------ */

struct shortening {
    const struct emu_trace *trace;
    const bool *dropped;
    const u32 *given;
    struct shorter_code *code;
    u32 *moved; /* by instruction: its new number */
    u32 reg, next;
};

/* The registers of an instruction, and the results of those that it gives. */
static void put_instruction(struct shortening *s, u32 inst)
{
    const struct emu_trace *t = s->trace;
    struct trace_inst i = t->insts[inst];
    u32 *regs = s->code->regs + s->reg;
    memcpy(regs, t->regs + i.reg, (i.reads + i.writes) * sizeof *regs);
    i.reg = s->reg;
    for (u32 k = 0; k < t->inst_count && s->given; k++) {
        const struct trace_inst *x = &t->insts[k];
        if (k == inst || s->given[k] != inst) continue;
        memcpy(regs + i.reads + i.writes, t->regs + x->reg + x->reads, x->writes * sizeof *regs);
        i.writes += x->writes;
    }
    s->reg += i.reads + i.writes;
    s->code->insts[s->code->inst_count++] = i;
}

static void put_until(struct shortening *s, u32 end)
{
    for (; s->next < end; s->next++) {
        s->moved[s->next] = s->code->inst_count;
        if (!s->dropped[s->next]) put_instruction(s, s->next);
    }
}

struct shorter_code *shorter_code_new(const struct emu_trace *t, const bool *dropped,
                                      const uint32_t *given)
{
    struct shorter_code *code = timing_calloc(1, sizeof *code);
    struct shortening s = {.trace = t, .dropped = dropped, .given = given, .code = code};
    code->regs = timing_calloc(2 * (size_t)end_of_registers(t) + REWRITE_INSTS * REWRITE_REGS,
                               sizeof *code->regs);
    code->insts = timing_calloc(t->inst_count + REWRITE_INSTS, sizeof *code->insts);
    code->blocks = timing_calloc(t->block_count + REWRITE_INSTS, sizeof *code->blocks);
    code->site_inst = timing_calloc(t->site_count + REWRITE_INSTS, sizeof *code->site_inst);
    memcpy(code->blocks, t->blocks, t->block_count * sizeof *t->blocks);
    memcpy(code->site_inst, t->site_inst, t->site_count * sizeof *t->site_inst);
    code->block_count = t->block_count;
    code->site_count = t->site_count;
    code->reg_count = t->reg_count + REWRITE_REGS;
    s.moved = timing_calloc(t->inst_count, sizeof *s.moved);
    for (u32 b = 0; b < t->block_count; b++) { /* in the order of their instructions */
        put_until(&s, t->blocks[b].first);
        code->blocks[b].first = code->inst_count;
        put_until(&s, t->blocks[b].first + t->blocks[b].count);
        code->blocks[b].count = code->inst_count - code->blocks[b].first;
    }
    put_until(&s, t->inst_count);
    for (u32 i = 0; i < t->site_count; i++)
        if (t->site_inst[i] < t->inst_count) code->site_inst[i] = s.moved[t->site_inst[i]];
    free(s.moved);
    code->reg = s.reg;
    return code;
}

uint32_t shorter_code_add(struct shorter_code *code, const struct rewrite_inst *list,
                          uint32_t count)
{
    const u32 regs = code->reg_count - REWRITE_REGS;
    if (!code->arena) {
        code->arena = arena_new();
        code->isa = ptx_isa_new(code->arena, 90, 90, 'a');
    }
    assert(code->added + count <= REWRITE_INSTS);
    code->blocks[code->block_count] = (struct trace_block){code->inst_count, count};
    for (u32 i = 0; i < count; i++) {
        const struct rewrite_inst *x = &list[i];
        code->insts[code->inst_count] = (struct trace_inst){
            .op = ptx_isa_find(code->isa, x->opcode, (u32)strlen(x->opcode)),
            .reg = code->reg,
            .reads = x->reads,
            .writes = x->writes};
        for (u32 k = 0; k < (u32)x->reads + x->writes; k++)
            code->regs[code->reg++] = regs + x->regs[k];
        code->site_inst[code->site_count++] = code->inst_count++;
        code->added++;
    }
    return code->block_count++;
}

void shorter_code_free(struct shorter_code *code)
{
    if (!code) return;
    free(code->insts);
    free(code->blocks);
    free(code->regs);
    free(code->site_inst);
    if (code->arena) arena_free(code->arena);
    free(code);
}

void shorter_code_use(const struct shorter_code *code, struct emu_trace *t)
{
    t->insts = code->insts, t->inst_count = code->inst_count;
    t->blocks = code->blocks, t->block_count = code->block_count;
    t->regs = code->regs, t->reg_count = code->reg_count;
    t->site_inst = code->site_inst, t->site_count = code->site_count;
}

/* ---- instructions that only compute addresses ---------------------------------------------------------------------------- */

/* By register: whether something but the changed loads and the instructions in `only` reads it, and whether anything does. */
static void find_readers(const struct emu_trace *t, const uint8_t *changes, uint8_t change,
                         const bool *only, bool *other, bool *any)
{
    memset(other, 0, t->reg_count * sizeof *other);
    for (u32 i = 0; i < t->inst_count; i++) {
        const struct trace_inst *x = &t->insts[i];
        const bool counts = !only[i] && changes[x->place] != change;
        for (u32 k = 0; k < x->reads; k++) {
            any[t->regs[x->reg + k]] = true;
            if (counts) other[t->regs[x->reg + k]] = true;
        }
    }
}

/* The largest set of instructions without other effects whose results only they and the changed loads read. */
static void find_addresses(const struct emu_trace *t, const uint8_t *changes, uint8_t change,
                           bool *only)
{
    bool *other = timing_calloc(2 * (size_t)t->reg_count, sizeof *other),
         *any = other + t->reg_count;
    for (u32 i = 0; i < t->inst_count; i++) {
        const struct ptx_op *op = t->insts[i].op;
        only[i] = op && !op->form->effects && t->insts[i].writes;
    }
    for (bool again = true; again;) {
        again = false;
        find_readers(t, changes, change, only, other, any);
        for (u32 i = 0; i < t->inst_count; i++) {
            const struct trace_inst *x = &t->insts[i];
            for (u32 k = 0; k < x->writes && only[i]; k++) {
                const u32 reg = t->regs[x->reg + x->reads + k];
                if (!other[reg] && any[reg]) continue;
                only[i] = false, again = true;
            }
        }
    }
    free(other);
}

struct shorter_code *code_without_addresses(const struct emu_counts *c, const uint8_t *changes,
                                            uint8_t change)
{
    bool *only = timing_calloc(c->trace->inst_count, sizeof *only);
    find_addresses(c->trace, changes, change, only);
    struct shorter_code *code = shorter_code_new(c->trace, only, NULL);
    free(only);
    return code;
}
