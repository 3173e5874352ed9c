/* emu/trace.h: what warps did, in order, for those who want to know when.
 *
 *     struct emu_config c = {.count = true, .caches = true, .trace = true};
 *     const struct emu_trace *t = emu_launch(e, k, &l)->counts->trace;
 *
 * A trace says for each warp of some CTAs which basic blocks it entered and what each of its accesses to
 * memory came to; with the code that is all that a model of time needs. It has no times: model/timing.h
 * makes them from it.
 *
 * It is as if each warp had run alone until it waited at a barrier, had used up its turn or ended, and then the next:
 * that is the order in which accesses went through the caches. Warps that run in lockstep are brought into it
 * (emu/measure/trace_turns.h); those of programs in which they see each other's order do run alone.
 *
 * Not all CTAs are traced. Of a large grid those are that a few SMs would be given if CTAs were dealt in
 * turn (linear index modulo SMs below `sms_traced`), and of these the first ones. Which they are depends
 * on the grid alone, so that a trace is the same for any number of host threads. A warp is followed for a
 * limited number of instructions. */
#ifndef HEDDLE_EMU_TRACE_H
#define HEDDLE_EMU_TRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_op;

enum trace_tag {               /* of a word, its low bits */
                 TRACE_BLOCK,  /* block << 2 */
                 TRACE_GLOBAL, /* site << 2; two more words: the first note; notes, lanes, rounds */
                 TRACE_SHARED, /* site << 2; one more word: passes, lanes, rounds */
                 TRACE_LOCAL,  /* site << 2; two more words as of TRACE_GLOBAL */
};
/* The last word of an access. `rounds`: of an atomic, the most lanes that name one element, else 1; with
 * TRACE_ELEMENTS, as many words follow as there are lanes: which element of 4 bytes each of them names (of
 * compare-and-swaps of global memory; with an order, of all atomics there). */
enum { TRACE_ELEMENTS = 64 };
#define TRACE_SIZE(n, lanes, rounds) ((uint32_t)(n) << 14 | (uint32_t)(lanes) << 7 | (rounds))
#define TRACE_SIZE_N(word) ((word) >> 14)
#define TRACE_SIZE_LANES(word) ((word) >> 7 & 127)
#define TRACE_SIZE_ROUNDS(word) ((word)&63)
/* How many words an access with that tag and last word has behind its first. */
static inline uint32_t trace_words(uint32_t tag, uint32_t size)
{
    return (tag == TRACE_SHARED ? 1 : 2) + (size & TRACE_ELEMENTS ? TRACE_SIZE_LANES(size) : 0);
}

/* The same of the access that begins with this word. */
static inline uint32_t trace_behind(const uint32_t *word)
{
    const uint32_t tag = word[0] & 3;
    return trace_words(tag, word[tag == TRACE_SHARED ? 1 : 2]);
}

struct trace_warp {
    uint32_t *words;
    uint32_t count, cap;
    uint32_t instructions; /* that the blocks have */
    bool cut;              /* it went on */
};

enum count_how {                /* how an access goes through the caches */
                 COUNT_LOAD,    /* L1, then L2 */
                 COUNT_LOAD_L2, /* L2 alone: .cg, .cv, volatile, strong loads */
                 COUNT_STORE,
                 COUNT_ATOMIC,
                 COUNT_CONSTANT, /* through neither */
};

#define TRACE_LOCAL_LINES 0x80000000u
enum {
    TRACE_AROUND = 7
};                  /* how of notes that do not go through emu/measure/cache.h: .local memory */
struct trace_note { /* a line of 128 bytes that an access touches */
    uint32_t line;
    uint8_t sectors; /* a bit each */
    uint8_t how;     /* enum count_how, TRACE_AROUND */
    uint8_t from_l2,
        from_dram; /* how many sectors were asked of L2, of DRAM (emu/measure/cache.h) */
};

struct trace_room;
struct trace_cta {
    uint32_t linear, warp_count;
    struct trace_room *room;
    struct trace_warp *warps;
    struct trace_note *notes;
    uint32_t note_count, note_cap;
    uint32_t
        settled; /* so many are there: the others are on their way through the caches (emu/measure/cache.h) */
    uint32_t most; /* instructions of a warp */
    struct trace_cta *next;
};

struct trace_inst {              /* a PTX instruction */
    const struct ptx_op *op;     /* NULL: none */
    uint32_t reg, reads, writes; /* regs[reg ..]: those read, then those written */
    bool dead_result;            /* an atomic of which nobody reads the result */
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
    bool cut;              /* some warp was followed for a part only */
    bool again;            /* the device has run the kernel before: its code is in caches */
    const struct trace_inst *insts;
    const uint32_t *regs; /* numbers below reg_count, no two functions' alike */
    const struct trace_block *blocks;
    const uint32_t *site_inst; /* by site: its instruction */
    uint32_t inst_count, block_count, site_count, reg_count;
};

/* ---- for those who record ----------------------------------------------------------------------------- */

struct arena;
struct emu_machine;
struct emu_program;

struct trace_room { /* what traces are in: pieces of 2^n bytes */
    struct cta_arena *cta_arena;
    pthread_mutex_t lock;
    void *free[32]; /* those of CTAs that have grown out of them, by n */
};
void trace_room_begin(struct trace_room *r, struct cta_arena *cta_arena);
/* Traces that are in it are no more. */
void trace_room_leave(struct trace_room *r);

struct trace { /* of a launch that runs */
    struct trace_room *room;
    uint32_t sms_traced, ctas_traced, most;
    struct trace_cta *first; /* all that are recorded, in no order */
};
/* How much of the launch is traced, into the room. */
void trace_plan(struct trace *t, struct trace_room *r, const struct emu_machine *m);
/* Room for the CTA's trace; NULL: it is not traced. Not for two host threads at once. */
struct trace_cta *trace_begin(struct trace *t, const struct emu_machine *m, uint32_t linear);
/* A program's code, once for all launches: what goes with every trace. */
struct trace_code {
    const struct trace_inst *insts;
    const uint32_t *regs;
    const struct trace_block *blocks;
    const uint32_t *site_inst;
    uint32_t inst_count, block_count, site_count, reg_count;
    bool
        lockstep; /* warps may run so and yet be traced as if each ran alone: emu/measure/trace_turns.h */
};
const struct trace_code *trace_code_new(struct arena *a, const struct emu_program *p);
/* The whole, in the arena. What it says of CTAs stays the trace's, what it says of code m->program->traced's. */
struct emu_trace *trace_end(struct arena *a, struct trace *t, const struct emu_machine *m);

void trace_grow_words(struct trace_cta *c, struct trace_warp *w);
/* Makes room for so many. */
void trace_room_for_notes(struct trace_cta *c, uint32_t count);

/* Where its next words go, at most 64 at once; who has put them there adds to w->count. */
static inline uint32_t *trace_room_for_words(struct trace_cta *c, struct trace_warp *w, uint32_t n)
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
    *trace_room_for_words(c, w, 1) = block << 2 | TRACE_BLOCK;
    w->count++;
}

#endif
