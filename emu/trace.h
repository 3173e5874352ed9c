/* emu/trace.h: traces of warps, the input of the timing model.
 *
 *     struct emu_config c = {.count = true, .caches = true, .trace = true};
 *     const struct emu_trace *t = emu_launch(e, k, &l)->counts->trace;
 *
 * For each warp of some CTAs a trace has the basic blocks that the warp entered and, for each memory access, the cache
 * lines and the level of the hierarchy that served them (emu/measure/cache.h). The timing model needs only these and
 * the code. A trace has no times: model/timing.h computes them.
 *
 * A trace is serialised: one warp runs until it waits at a barrier, has used up its instruction budget or exits; then
 * the next warp runs. The accesses went through the caches in this order. Where warps run in lockstep, trace_turns.h
 * sorts the recorded events into this order; programs whose warps can observe their order do not run in lockstep.
 *
 * Not all CTAs are traced. Of a large grid the trace has the CTAs that are placed on a few SMs (trace_sm_of is below
 * `sms_traced`), and of these the first ones. The choice depends on the grid alone, so a trace is the same for any
 * number of host threads. Of the other CTAs the trace has those whose warps execute the most instructions (`heavy`).
 *
 * A warp's first instructions are traced one by one. After them the trace has *windows*: some consecutive instructions
 * that represent 2^level times as many, at a random position among these. Levels grow with the number of instructions,
 * so a trace grows with their logarithm and has samples of all phases of a warp (Wunderlich et al., "SMARTS", ISCA
 * 2003, sample in the same way). All warps have their windows at the same numbers of instructions. Barriers are sampled
 * by their number, so all warps of a CTA have the same ones. Under an order: no windows, 32 times as many
 * instructions. */
#ifndef HEDDLE_EMU_TRACE_H
#define HEDDLE_EMU_TRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_gpu;
struct ptx_op;

/* the two low bits of a word */
enum trace_tag {
    TRACE_BLOCK, /* TRACE_BLOCK_WORD */
    /* site << 2. Two words follow: index of the first line; numbers of lines, lanes and rounds. */
    TRACE_GLOBAL,
    TRACE_SHARED, /* site << 2; one word follows: numbers of passes, lanes and rounds */
    TRACE_LOCAL,  /* site << 2; two words follow, as for TRACE_GLOBAL */
};
/* Bits of the last word of an access. `rounds`: for an atomic, the largest number of lanes that access one element; for a
 * load of constants, the number of addresses that lanes access (1 in older files); else 1. With TRACE_ELEMENTS one word for
 * each lane follows: the number of the element of 4 bytes that the lane accesses. These words are recorded for
 * compare-and-swaps of global memory, under an order for all atomics of global memory, and where enum trace_handoff asks for
 * them. */
enum { TRACE_ELEMENTS = 64 };
/* Bit of an element's word: the lane's compare-and-swap changed memory, or its exchange did, if the result is read and
 * the kernel polls. (Older files have the bit for compare-and-swaps only.) */
#define TRACE_SWAPPED 0x80000000u
/* Which store a polling load waits for. In a kernel with polling loops (ptx/polling.h) strong stores and atomics of
 * global memory have element words, too: these accesses *publish*. A load that *polls* has another word for each lane:
 * a bucket of elements, and the number of lanes that had published to that bucket before the load. In the timing model
 * the load waits for the lanes that it needs (model/timing_poll.c): for all of them if only one value ends the loop
 * (PTX_POLL_VALUE). Not recorded under an order. */
enum trace_handoff {
    TRACE_HANDOFF_NONE,
    TRACE_PUBLISHES,
    TRACE_POLLS_MOVING, /* PTX_POLL_MOVING: the load has no element words and waits for no store */
    TRACE_POLLS_ANY,    /* PTX_POLL_ANY */
    TRACE_POLLS_VALUE,  /* PTX_POLL_VALUE */
};
enum { TRACE_POLL_BUCKETS = 1 << 12, TRACE_POLL_MOST = (1 << 20) - 1 };
#define TRACE_POLL_WORD(bucket, n) ((uint32_t)(bucket) << 20 | (uint32_t)(n))
#define TRACE_POLL_BUCKET_OF(word) ((word) >> 20)
#define TRACE_POLL_COUNT_OF(word) ((word)&TRACE_POLL_MOST)
static inline uint32_t trace_poll_bucket(uint32_t element)
{
    return element * 0x9e3779b1u >> 20;
}
#define TRACE_SIZE(n, lanes, rounds) ((uint32_t)(n) << 14 | (uint32_t)(lanes) << 7 | (rounds))
#define TRACE_SIZE_N(word) ((word) >> 14)
#define TRACE_SIZE_LANES(word) ((word) >> 7 & 127)
#define TRACE_SIZE_ROUNDS(word) ((word)&63)
/* The word of a basic block: number of the block; level of the window (the word represents 2^level executions of the
 * block), or TRACE_BARRIER: the word represents one barrier of the block and nothing else; TRACE_UNSYNCED if the
 * barriers of the block are left out; number of lanes that are not active in the block (0 to 31), before guards. A
 * program with more than TRACE_BLOCKS blocks has no traces. */
enum {
    TRACE_BARRIER = 31,
    TRACE_UNSYNCED = 4,
    TRACE_BLOCK_SHIFT = 8,
    TRACE_IDLE_SHIFT = 27,
    TRACE_BLOCKS = 1 << (TRACE_IDLE_SHIFT - TRACE_BLOCK_SHIFT)
};
#define TRACE_BLOCK_WORD(block, level, idle)                                                       \
    ((uint32_t)(idle) << TRACE_IDLE_SHIFT | (uint32_t)(block) << TRACE_BLOCK_SHIFT |               \
     (uint32_t)(level) << 3 | TRACE_BLOCK)
#define TRACE_BLOCK_OF(word) ((word) >> TRACE_BLOCK_SHIFT & (TRACE_BLOCKS - 1))
#define TRACE_LEVEL_OF(word) ((word) >> 3 & 31)
#define TRACE_IDLE_OF(word) ((word) >> TRACE_IDLE_SHIFT)
/* The number of words of an access after its first word, from its tag and its last fixed word. */
static inline uint32_t trace_words(uint32_t tag, uint32_t size)
{
    return (tag == TRACE_SHARED ? 1 : 2) + (size & TRACE_ELEMENTS ? TRACE_SIZE_LANES(size) : 0);
}

/* As trace_words, for the access that begins with this word. */
static inline uint32_t trace_access_words(const uint32_t *word)
{
    const uint32_t tag = word[0] & 3;
    return trace_words(tag, word[tag == TRACE_SHARED ? 1 : 2]);
}

struct trace_warp {
    uint32_t *words;
    uint32_t count, cap;
    /* instructions that the warp executed; under an order: that were traced */
    uint64_t instructions;
    /* Of these, the instructions that windows of level 1 and more represent, computed from the windows' levels. */
    uint64_t folded;
    uint32_t plain;    /* instructions that were traced one by one */
    uint32_t recorded; /* instructions of the recorded blocks */
    bool cut;          /* the warp executed more than was traced */
    /* the following members are used only while the warp is recorded */
    bool on;               /* the block that was entered last is recorded */
    uint8_t level;         /* level of this window or the next */
    uint32_t length, most; /* instructions of this window so far; number at which the window ends */
    uint32_t windows;      /* windows that have ended */
    uint32_t barriers;     /* barriers that the warp passed */
    uint64_t next;         /* number of instructions after which the next window begins */
    uint64_t covered;      /* number of first instructions that the windows so far represent */
    uint32_t poll;         /* 1 + index of the word of the last load that polled; 0: none */
};

/* Factor beyond 2^level of the instructions that an instruction in a window of level 1 and more represents: the last
 * window of a warp may end before or after the warp did. */
static inline double trace_warp_rest(const struct trace_warp *w)
{
    return w->folded ? (double)(w->instructions - w->plain) / (double)w->folded : 1;
}

/* how an access goes through the caches */
enum count_how {
    COUNT_LOAD,    /* L1, then L2 */
    COUNT_LOAD_L2, /* L2 alone: .cg, .cv, volatile, strong loads */
    COUNT_STORE,
    COUNT_ATOMIC,
    COUNT_CONSTANT, /* neither L1 nor L2 */
};

#define TRACE_LOCAL_LINES 0x80000000u
enum { TRACE_UNCACHED = 7 }; /* trace_line.how of lines that bypass the caches: .local memory */
struct trace_line {          /* a line of 128 bytes that an access touches */
    uint32_t line;
    uint8_t sectors;            /* mask */
    uint8_t how;                /* enum count_how, TRACE_UNCACHED */
    uint8_t from_l2, from_dram; /* sectors requested from L2, from DRAM */
};

/* Buckets, by hash, of the lines that atomics of a launch access. */
enum { TRACE_ATOMIC_BUCKETS = 1 << 12 };
static inline uint32_t trace_atomic_bucket(uint32_t line)
{
    return line * 0x9e3779b1u >> 20;
}

struct trace_arena;
struct trace_cta {
    uint32_t linear, warp_count;
    struct trace_arena *arena;
    struct trace_warp *warps;
    struct trace_line *lines;
    uint32_t line_count, line_cap;
    /* Number of lines whose cache results are known; later lines are still requests in the caches
     * (emu/measure/cache.h). */
    uint32_t resolved;
    bool late; /* traced only if a warp executes many instructions: emu/measure/trace_windows.c */
    /* Number of barriers of each block. NULL: the program has none, or the launch has an order (such traces end
     * early). */
    const uint8_t *barriers;
    uint32_t barriers_all; /* number of first barriers of a warp that are all recorded */
    bool windows;          /* not under an order */
    struct trace_cta *next;
};

struct trace_inst {          /* a PTX instruction */
    const struct ptx_op *op; /* NULL: none */
    /* regs[reg ..]: `reads` registers that are read, then `writes` that are written */
    uint32_t reg, reads, writes;
    uint32_t place;   /* index in emu_counts.instructions */
    bool dead_result; /* an atomic whose result no instruction reads */
    /* An atomic that machine code executes once for a warp (measure/trace_combined.h). */
    bool combined;
    /* cp.async.wait_group: number of groups that may stay pending. Branch: PTX_UNROLL(). */
    uint8_t pending;
    uint8_t handoff; /* enum trace_handoff */
    bool waits;      /* the instruction is in a polling loop; not stored in files */
};
struct trace_block {
    uint32_t first, count; /* instructions */
};

struct emu_trace {
    uint32_t sms, sms_traced; /* SMs of the launch; traced SMs */
    /* sms_traced of the recorded launch; sms_traced is less if only some of its SMs were chosen */
    uint32_t recorded_sms;
    uint32_t cta_count; /* traced CTAs, in the order of their linear index */
    const struct trace_cta **ctas;
    uint64_t instructions; /* warp instructions that the traced CTAs represent */
    uint64_t recorded;     /* warp instructions that are recorded */
    /* CTAs outside of the sample with the longest warps, in the order of their linear index. */
    uint32_t heavy_count;
    const struct trace_cta **heavy;
    /* Requests of atomics of the whole launch, by trace_atomic_bucket. NULL: the launch has no atomics. */
    const uint64_t *atomics;
    bool cut;   /* some warp is traced only in part */
    bool lanes; /* words of blocks have the number of idle lanes; not in files before version 5 */
    bool polls; /* the kernel has loops that wait for what other threads store (ptx/polling.h) */
    bool again; /* the device has run the kernel before, so its code is in caches */
    const struct trace_inst *insts;
    const uint32_t *regs; /* numbers below reg_count; functions have disjoint numbers */
    const struct trace_block *blocks;
    const uint32_t *site_inst; /* index of the instruction of each site */
    uint32_t inst_count, block_count, site_count, reg_count;
};

/* The SM, of `sms`, on which a CTA is placed if `sms_traced` SMs are traced. If all SMs are traced: round robin.
 * Otherwise each round begins at another SM: with a grid that is 16 CTAs wide on 80 SMs, round robin would place one
 * column of CTAs on each SM, and the traced SMs would get the border of an image. */
uint32_t trace_sm_of(uint32_t sms, uint32_t sms_traced, uint32_t linear);

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
/* Frees all traces in the arena. */
void trace_arena_reset(struct trace_arena *a);

enum { TRACE_HEAVY = 64 /* CTAs, at most */ };
struct trace { /* the traces of a running launch */
    struct trace_arena *arena;
    uint32_t sms_traced, ctas_traced;
    uint32_t most; /* number of instructions of a warp that are traced one by one */
    /* enum trace_handoff of each site. NULL: no loop polls, or the launch has an order. */
    const uint8_t *handoff;
    /* lanes that have published, by trace_poll_bucket; NULL as `handoff` */
    uint32_t *published;
    bool windows;                         /* not under an order */
    const uint8_t *barriers;              /* number of barriers of each block */
    struct trace_cta *first;              /* list of all CTAs that are recorded, unsorted */
    struct trace_cta *heavy[TRACE_HEAVY]; /* heavy CTAs: a heap with the lightest first */
    uint32_t heavy_count;
};
/* Decides which CTAs and instructions of the launch are traced. The traces are allocated in the arena. */
void trace_plan(struct trace *t, struct trace_arena *a, const struct emu_machine *m,
                const struct emu_gpu *g);
/* Begins the CTA's trace; NULL: it is not traced. Host threads may call it at once. */
struct trace_cta *trace_begin(struct trace *t, const struct emu_machine *m, uint32_t linear);
/* The code of a program for traces. It is made once for all launches of the program. */
struct trace_code {
    const struct trace_inst *insts;
    const uint32_t *regs;
    const struct trace_block *blocks;
    const uint32_t *site_inst;
    uint32_t inst_count, block_count, site_count, reg_count;
    const uint8_t *barriers; /* number of barriers of each block; NULL: no block has any */
    const uint8_t *handoff;  /* enum trace_handoff of each site; NULL: no loop polls */
    bool polls;              /* struct emu_trace */
    /* warps may run in lockstep; trace_turns.h then serialises the trace */
    bool lockstep;
};
const struct trace_code *trace_code_new(struct arena *a, const struct emu_program *p);
/* Returns the finished trace, allocated in the arena `a`. Its CTAs stay in the trace's own arena, its code in
 * m->program->traced. */
struct emu_trace *trace_end(struct arena *a, struct trace *t, const struct emu_machine *m);

void trace_grow_words(struct trace_cta *c, struct trace_warp *w);
/* Capacity for `count` lines. */
void trace_reserve_lines(struct trace_cta *c, uint32_t count);

/* Memory for the warp's next n words, n <= 64. The caller writes them and adds their number to w->count. */
static inline uint32_t *trace_reserve_words(struct trace_cta *c, struct trace_warp *w, uint32_t n)
{
    if (w->cap - w->count < n) trace_grow_words(c, w);
    return &w->words[w->count];
}

/* To be called before a load that polls is recorded; `words` are the words of its lanes (TRACE_POLL_WORD). If the
 * warp's last access was the same load in an earlier iteration of the loop, and the warp has not left the loop, the
 * earlier iteration is removed from the trace: the number of iterations depends on when another warp stores. The
 * instructions of the removed iteration count as recorded. (emu/measure/trace_poll.c) */
void trace_poll(const struct trace_code *code, struct trace_warp *w, uint32_t site,
                const uint32_t *words, uint32_t lanes);

/* ---- windows (emu/measure/trace_windows.c) ------------------------------------------------------------ */

/* The window of the warp has ended: determines where the next window begins. */
void trace_next_window(const struct trace_cta *c, struct trace_warp *w);
/* The warp enters a block with `count` barriers. `recorded`: the block is in a window, and its word is the warp's last
 * word. */
void trace_barriers(struct trace_cta *c, struct trace_warp *w, uint32_t block, uint32_t count,
                    uint32_t idle, bool recorded);
/* Begins and ends the recording of a CTA's warps. */
void trace_windows_begin(const struct trace *t, struct trace_cta *c);
void trace_windows_end(struct trace_cta *c);
/* The number of instructions of the CTA's longest warp. */
uint64_t trace_longest(const struct trace_cta *c);
/* A `late` CTA has ended, and its accesses have gone through the caches: its trace is kept if the CTA is heavy. */
void trace_late_ended(struct trace *t, struct trace_cta *c);

static inline void trace_block(struct trace_cta *c, uint32_t warp, uint32_t block, uint32_t count,
                               uint32_t idle)
{
    struct trace_warp *w = &c->warps[warp];
    if (w->on && w->length >= w->most) trace_next_window(c, w);
    w->on = w->instructions >= w->next;
    w->instructions += count;
    if (w->on) {
        w->length += count;
        *trace_reserve_words(c, w, 1) = TRACE_BLOCK_WORD(block, w->level, idle);
        w->count++;
    }
    if (c->barriers && c->barriers[block])
        trace_barriers(c, w, block, c->barriers[block], idle, w->on);
}

#endif
