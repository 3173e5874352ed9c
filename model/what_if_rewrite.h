/* model/what_if_rewrite.h: functions that change the copy of a CTA's trace, for the files of model/what_if.h.
 *
 * A rewriter gets a CTA that owns its warps, words and lines (malloc), and replaces them. It appends new lines, because
 * accesses have indices of lines. The weights of a trace (trace_warp.instructions, folded) stay those of the launch, so
 * that the estimate is scaled in the same way. */
#ifndef HEDDLE_MODEL_WHAT_IF_REWRITE_H
#define HEDDLE_MODEL_WHAT_IF_REWRITE_H

#include "emu/counts.h"
#include "emu/trace.h"
#include "model/what_if.h"

struct rewrite {
    const struct emu_counts *counts;
    const uint8_t *changes; /* enum what_if_change for each of counts->instructions */
    struct what_if_counted *counted;
    uint32_t added; /* the first block that the rewrite adds to the code; the others follow */
};

static inline bool rewrite_is_block(uint32_t word)
{
    return (word & 3) == TRACE_BLOCK;
}
/* Number of words of the block or access that begins here. */
static inline uint32_t rewrite_length(const uint32_t *words)
{
    return rewrite_is_block(words[0]) ? 1 : 1 + trace_access_words(words);
}
/* The index of an access's instruction in the trace; rewrite_place(): in counts->instructions. */
static inline uint32_t rewrite_inst(const struct rewrite *r, uint32_t word)
{
    return r->counts->trace->site_inst[word >> 2];
}
static inline uint32_t rewrite_place(const struct rewrite *r, uint32_t word)
{
    return r->counts->trace->insts[rewrite_inst(r, word)].place;
}
/* Whether the access at `words` is a load of global memory through the caches. */
static inline bool rewrite_is_load(const struct trace_cta *c, const uint32_t *words)
{
    if ((words[0] & 3) != TRACE_GLOBAL || !TRACE_SIZE_N(words[2])) return false;
    const uint8_t how = c->lines[words[1]].how;
    return how == COUNT_LOAD || how == COUNT_LOAD_L2;
}

/* A copy from malloc(); from NULL: zeros. Aborts if there is no memory. */
void *rewrite_copy(const void *from, size_t size);

struct rewrite_words { /* the new words of a warp */
    uint32_t *words;
    uint32_t count, cap;
};
void rewrite_put(struct rewrite_words *to, const uint32_t *words, uint32_t count);
/* Replaces the words of the warp by these. */
void rewrite_end(struct trace_warp *w, struct rewrite_words *to);
uint32_t rewrite_add_line(struct trace_cta *c, struct trace_line line); /* its index */

/* A copy of the CTA; rewrite_free() frees it. */
struct trace_cta *rewrite_cta(const struct trace_cta *c);
void rewrite_free(const struct trace_cta **list, uint32_t count);

void what_if_tile(const struct rewrite *r, struct trace_cta *c);
void what_if_shuffle(const struct rewrite *r, struct trace_cta *c);
void what_if_pack(const struct rewrite *r, struct trace_cta *c);

void what_if_widen(const struct rewrite *r, struct trace_cta *c);

/* ---- other code (model/what_if_code.c) -------------------------------------------------------------------------------- */

/* The code of a trace without the instructions in dropped[]. given[], for each instruction: the instruction that computes
 * its results instead, itself or one that is not dropped; NULL: no instruction computes the results of dropped ones. The
 * caller also removes their accesses from the words of warps. */
struct shorter_code *shorter_code_new(const struct emu_trace *t, const bool *dropped,
                                      const uint32_t *given);
void shorter_code_free(struct shorter_code *code); /* NULL is allowed */
void shorter_code_use(const struct shorter_code *code, struct emu_trace *t);

/* An instruction that a rewrite adds. Its registers have separate numbers below REWRITE_REGS; registers that it reads come first. */
enum { REWRITE_INSTS = 32, REWRITE_REGS = 8 };
struct rewrite_inst {
    const char *opcode; /* "ld.global.f32" */
    uint8_t reads, writes, regs[3];
};
/* Appends a block of these instructions, and returns its number. There may be REWRITE_INSTS added instructions in all. The word
 * of an access of added instruction k has the site rewrite_added_site(trace, k). */
uint32_t shorter_code_add(struct shorter_code *code, const struct rewrite_inst *list,
                          uint32_t count);
static inline uint32_t rewrite_added_site(const struct emu_trace *t, uint32_t k)
{
    return t->site_count + k;
}

/* The code without loads that a vector load replaces. */
struct shorter_code *wide_code(const struct emu_counts *c, const uint8_t *changes);
/* The code with the instructions of a reduction by shuffles. */
struct shorter_code *shuffle_code(const struct emu_counts *c, const uint8_t *changes);
/* The code without instructions that only compute addresses of tiled loads, and with instructions that load a tile. */
struct shorter_code *tile_code(const struct emu_counts *c, const uint8_t *changes);
/* The code without instructions whose results are used only for addresses of the changed instructions. */
struct shorter_code *code_without_addresses(const struct emu_counts *c, const uint8_t *changes,
                                            uint8_t change);

#endif
