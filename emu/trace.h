/* emu/trace.h: traces of warps, the input of the timing model.
 *
 *     struct emu_config c = {.count = true, .caches = true, .trace = true};
 *     const struct emu_trace *t = emu_launch(e, k, &l)->counts->trace;
 *
 * For each warp of some CTAs a trace has the basic blocks that the warp entered and, for each
 * memory access, the lines and where the caches (emu/measure/cache.h) had them. With the code, that
 * is all that the timing model needs. A trace has no times: model/timing.h computes them.
 *
 * The order of a trace is serialised: each warp runs alone until it waits at a barrier, has used up
 * its turn or ends; then the next warp runs. Accesses went through the caches in this order. Where
 * warps run in lockstep, trace_turns.h rearranges what they recorded; programs whose warps can
 * observe their order do not run in lockstep.
 *
 * Not all CTAs are traced. Of a large grid the trace has the CTAs that a few SMs would get if CTAs
 * were dealt round robin (linear index modulo SMs below `sms_traced`), and of these the first ones.
 * The choice depends on the grid alone, so a trace is the same for any number of host threads. A
 * warp is traced for a limited number of instructions. */
#ifndef HEDDLE_EMU_TRACE_H
#define HEDDLE_EMU_TRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_op;

enum trace_tag {              /* of a word, its low bits */
                 TRACE_BLOCK, /* block << 2 */
                 TRACE_GLOBAL, /* site << 2; two more words: the first line's index; lines, lanes, rounds */
                 TRACE_SHARED, /* site << 2; one more word: passes, lanes, rounds */
                 TRACE_LOCAL,  /* site << 2; two more words as of TRACE_GLOBAL */
};
/* The last word of an access. `rounds`: of an atomic, the most lanes that name one element, else 1;
 * with TRACE_ELEMENTS, as many words follow as there are lanes: which element of 4 bytes each of
 * them names (of compare-and-swaps of global memory; with an order, of all atomics there). */
enum { TRACE_ELEMENTS = 64 };
#define TRACE_SIZE(n, lanes, rounds) ((uint32_t)(n) << 14 | (uint32_t)(lanes) << 7 | (rounds))
#define TRACE_SIZE_N(word) ((word) >> 14)
#define TRACE_SIZE_LANES(word) ((word) >> 7 & 127)
#define TRACE_SIZE_ROUNDS(word) ((word)&63)
/* The number of words of an access after its first, from its tag and last word. */
static inline uint32_t trace_words(uint32_t tag, uint32_t size)
{
    return (tag == TRACE_SHARED ? 1 : 2) + (size & TRACE_ELEMENTS ? TRACE_SIZE_LANES(size) : 0);
}

/* The same for the access that begins with this word. */
static inline uint32_t trace_access_words(const uint32_t *word)
{
    const uint32_t tag = word[0] & 3;
    return trace_words(tag, word[tag == TRACE_SHARED ? 1 : 2]);
}

struct trace_warp {
    uint32_t *words;
    uint32_t count, cap;
    uint32_t instructions; /* of these blocks */
    bool cut;              /* the warp executed more than was traced */
};

enum count_how {                /* how an access goes through the caches */
                 COUNT_LOAD,    /* L1, then L2 */
                 COUNT_LOAD_L2, /* L2 alone: .cg, .cv, volatile, strong loads */
                 COUNT_STORE,
                 COUNT_ATOMIC,
                 COUNT_CONSTANT, /* through neither */
};

#define TRACE_LOCAL_LINES 0x80000000u
enum { TRACE_UNCACHED = 7 }; /* trace_line.how of lines that bypass the caches: .local memory */
struct trace_line {          /* a line of 128 bytes that an access touches */
    uint32_t line;
    uint8_t sectors;            /* mask */
    uint8_t how;                /* enum count_how, TRACE_UNCACHED */
    uint8_t from_l2, from_dram; /* sectors requested from L2, from DRAM */
};

struct trace_arena;
struct trace_cta {
    uint32_t linear, warp_count;
    struct trace_arena *arena;
    struct trace_warp *warps;
    struct trace_line *lines;
    uint32_t line_count, line_cap;
    /* So many have results; later ones are still requests in the caches (emu/measure/cache.h). */
    uint32_t resolved;
    uint32_t most; /* instructions of a warp */
    struct trace_cta *next;
};

struct trace_inst {              /* a PTX instruction */
    const struct ptx_op *op;     /* NULL: none */
    uint32_t reg, reads, writes; /* regs[reg ..]: those read, then those written */
    bool dead_result;            /* an atomic whose result no instruction reads */
    uint8_t pending;             /* cp.async.wait_group: groups that it does not wait for */
};
struct trace_block {
    uint32_t first, count; /* instructions */
};

struct emu_trace {
    uint32_t sms, sms_traced; /* of the launch */
    uint32_t cta_count;       /* traced ones, in the order of their linear index */
    const struct trace_cta **ctas;
    uint64_t instructions; /* warp instructions of these */
    bool cut;              /* of some warp only a part is traced */
    bool again;            /* the device has run the kernel before: its code is in caches */
    const struct trace_inst *insts;
    const uint32_t *regs; /* numbers below reg_count, no two functions' alike */
    const struct trace_block *blocks;
    const uint32_t *site_inst; /* by site: its instruction */
    uint32_t inst_count, block_count, site_count, reg_count;
};

/* ---- recording (emu only)
 * ----------------------------------------------------------------------------- */

struct arena;
struct emu_machine;
struct emu_program;

struct trace_arena { /* the memory of traces: blocks of 2^n bytes */
    struct cta_arena *cta_arena;
    pthread_mutex_t lock;
    void *free[32]; /* free lists, by n */
};
void trace_arena_begin(struct trace_arena *a, struct cta_arena *cta_arena);
/* Frees all traces in it. */
void trace_arena_reset(struct trace_arena *a);

struct trace { /* of a running launch */
    struct trace_arena *arena;
    uint32_t sms_traced, ctas_traced, most;
    struct trace_cta *first; /* all that are recorded, in no order */
};
/* Decides how much of the launch is traced; its traces go into the arena. */
void trace_plan(struct trace *t, struct trace_arena *a, const struct emu_machine *m);
/* Begins the CTA's trace; NULL: it is not traced. The caller locks. */
struct trace_cta *trace_begin(struct trace *t, const struct emu_machine *m, uint32_t linear);
/* The code of a program as traces need it; made once for all launches. */
struct trace_code {
    const struct trace_inst *insts;
    const uint32_t *regs;
    const struct trace_block *blocks;
    const uint32_t *site_inst;
    uint32_t inst_count, block_count, site_count, reg_count;
    bool lockstep; /* warps may run in lockstep; trace_turns.h serialises the trace */
};
const struct trace_code *trace_code_new(struct arena *a, const struct emu_program *p);
/* The finished trace, in the arena `a`. CTAs stay in the trace's own arena, code in
 * m->program->traced. */
struct emu_trace *trace_end(struct arena *a, struct trace *t, const struct emu_machine *m);

void trace_grow_words(struct trace_cta *c, struct trace_warp *w);
/* Capacity for `count` lines. */
void trace_reserve_lines(struct trace_cta *c, uint32_t count);

/* Where the warp's next words go, at most 64. The caller writes them and adds their number to
 * w->count. */
static inline uint32_t *trace_reserve_words(struct trace_cta *c, struct trace_warp *w, uint32_t n)
{
    if (w->cap - w->count < n) trace_grow_words(c, w);
    return &w->words[w->count];
}

static inline void trace_block(struct trace_cta *c, uint32_t warp, uint32_t block, uint32_t count)
{
    struct trace_warp *w = &c->warps[warp];
    w->cut |= w->instructions >= c->most;
    if (w->cut) return;
    w->instructions += count;
    *trace_reserve_words(c, w, 1) = block << 2 | TRACE_BLOCK;
    w->count++;
}

#endif
