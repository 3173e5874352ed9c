/* model/what_if_rewrite.h: what the files of model/what_if.h share: changing the copy of a CTA's trace.
 *
 * A rewriter gets a CTA whose warps, words and lines are its own (malloc), and replaces them. New lines are appended:
 * an access names its lines by their index. What a trace stands for (trace_warp.instructions, folded) stays that of
 * the launch, so that the estimate is scaled as that of the launch is. */
#ifndef HEDDLE_MODEL_WHAT_IF_REWRITE_H
#define HEDDLE_MODEL_WHAT_IF_REWRITE_H

#include "emu/counts.h"
#include "emu/trace.h"
#include "model/what_if.h"

struct rewrite {
    const struct emu_counts *counts;
    const uint8_t *changes; /* by number among counts->instructions */
    struct what_if_counted *counted;
    uint32_t added; /* the first block that the rewrite adds to the code; the others follow */
};

static inline bool rewrite_is_block(uint32_t word)
{
    return (word & 3) == TRACE_BLOCK;
}
/* Words of what begins here: a block's word, or an access. */
static inline uint32_t rewrite_length(const uint32_t *words)
{
    return rewrite_is_block(words[0]) ? 1 : 1 + trace_access_words(words);
}
/* The instruction of an access: among the trace's, and among counts->instructions. */
static inline uint32_t rewrite_inst(const struct rewrite *r, uint32_t word)
{
    return r->counts->trace->site_inst[word >> 2];
}
static inline uint32_t rewrite_place(const struct rewrite *r, uint32_t word)
{
    return r->counts->trace->insts[rewrite_inst(r, word)].place;
}
/* Whether the access at `words` goes to global memory through the caches, and how. */
static inline bool rewrite_is_load(const struct trace_cta *c, const uint32_t *words)
{
    if ((words[0] & 3) != TRACE_GLOBAL || !TRACE_SIZE_N(words[2])) return false;
    const uint8_t how = c->lines[words[1]].how;
    return how == COUNT_LOAD || how == COUNT_LOAD_L2;
}

void *rewrite_copy(const void *from,
                   size_t size); /* of malloc; aborts without memory; NULL: zeros */

struct rewrite_words { /* of a warp that is written again */
    uint32_t *words;
    uint32_t count, cap;
};
void rewrite_put(struct rewrite_words *to, const uint32_t *words, uint32_t count);
/* The warp has these words from now on. */
void rewrite_end(struct trace_warp *w, struct rewrite_words *to);
uint32_t rewrite_add_line(struct trace_cta *c, struct trace_line line); /* its index */

/* A copy of the CTA, to be freed with rewrite_free. */
struct trace_cta *rewrite_cta(const struct trace_cta *c);
void rewrite_free(const struct trace_cta **list, uint32_t count);

void what_if_tile(const struct rewrite *r, struct trace_cta *c);
void what_if_shuffle(const struct rewrite *r, struct trace_cta *c);
void what_if_pack(const struct rewrite *r, struct trace_cta *c);

void what_if_widen(const struct rewrite *r, struct trace_cta *c);

/* ---- other code (model/what_if_code.c) -------------------------------------------------------------------------------- */

/* Without the instructions in `dropped`. `given`, by instruction: the one that gives its results from now on, itself or one
 * that is not dropped; NULL: nobody gives those of dropped ones. Their accesses must leave the warps' words too. */
struct shorter_code *shorter_code_new(const struct emu_trace *t, const bool *dropped,
                                      const uint32_t *given);
void shorter_code_free(struct shorter_code *code); /* NULL: nothing */
void shorter_code_use(const struct shorter_code *code, struct emu_trace *t);

/* An instruction that a rewrite adds. Its registers have numbers of their own, below REWRITE_REGS, first those that are read. */
enum { REWRITE_INSTS = 32, REWRITE_REGS = 8 };
struct rewrite_inst {
    const char *opcode; /* "ld.global.f32" */
    uint8_t reads, writes, regs[3];
};
/* Appends a block of these; its number. REWRITE_INSTS at most in all. The word of an access of instruction k of all that were
 * added has the site rewrite_added_site(trace, k). */
uint32_t shorter_code_add(struct shorter_code *code, const struct rewrite_inst *list,
                          uint32_t count);
static inline uint32_t rewrite_added_site(const struct emu_trace *t, uint32_t k)
{
    return t->site_count + k;
}

/* Without the loads that another one replaces. */
struct shorter_code *wide_code(const struct emu_counts *c, const uint8_t *changes);
/* With the instructions of a reduction by shuffles. */
struct shorter_code *shuffle_code(const struct emu_counts *c, const uint8_t *changes);
/* Without the instructions that only compute addresses of tiled loads, with those that load a tile. */
struct shorter_code *tile_code(const struct emu_counts *c, const uint8_t *changes);
/* Without the instructions whose results are used for the addresses of the changed instructions alone. */
struct shorter_code *code_without_addresses(const struct emu_counts *c, const uint8_t *changes,
                                            uint8_t change);

#endif
