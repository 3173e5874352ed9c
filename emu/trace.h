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
 * Not all CTAs are traced. Of a large grid the trace has the CTAs that a few SMs get (trace_sm_of is
 * below `sms_traced`), and of these the first ones. The choice depends on the grid alone, so a trace
 * is the same for any number of host threads. Of the other CTAs the trace has those whose warps
 * execute most (`heavy`).
 *
 * A warp's first instructions are traced one by one. After them the trace has *windows*: some
 * instructions in a row that stand for 2^level times as many, at a random place among these. Levels
 * grow with the number of instructions, so a trace grows with their logarithm and has samples of all
 * phases of a warp (Wunderlich et al., "SMARTS", ISCA 2003, sample in the same way). All warps have
 * their windows at the same numbers of instructions. Barriers are sampled by their number, so all
 * warps of a CTA have the same ones. Under an order: no windows, 32 times as many instructions. */
#ifndef HEDDLE_EMU_TRACE_H
#define HEDDLE_EMU_TRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_gpu;
struct ptx_op;

/* of a word, its low bits */
enum trace_tag {
    TRACE_BLOCK,  /* TRACE_BLOCK_WORD */
    TRACE_GLOBAL, /* site << 2; two more words: the first line's index; lines, lanes, rounds */
    TRACE_SHARED, /* site << 2; one more word: passes, lanes, rounds */
    TRACE_LOCAL,  /* site << 2; two more words as of TRACE_GLOBAL */
};
/* The last word of an access. `rounds`: of an atomic, the most lanes that name one element, else 1;
 * with TRACE_ELEMENTS, as many words follow as there are lanes: which element of 4 bytes each of
 * them names (of compare-and-swaps of global memory; with an order, of all atomics there; and as
 * enum trace_handoff says). */
enum { TRACE_ELEMENTS = 64 };
/* Of such a word: the compare-and-swap of the lane changed memory; or the exchange, if its result is read and the kernel polls.
 * (Files from before say it of compare-and-swaps alone.) */
#define TRACE_SWAPPED 0x80000000u
/* Who waits for which store. In a kernel with polling loops (ptx/polling.h) strong stores and atomics of global memory name
 * their elements, too: these accesses *publish*. A load that *polls* has a word for each lane instead: a bucket of elements,
 * and how many lanes had published to it before the load. The timing model lets the load wait for those that it needs
 * (model/timing_poll.c): all of them, if one value alone ends the loop (PTX_POLL_VALUE). Not under an order. */
enum trace_handoff {
    TRACE_HANDOFF_NONE,
    TRACE_PUBLISHES,
    TRACE_POLLS_MOVING, /* PTX_POLL_MOVING: it names nothing, and waits for nothing */
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
/* The word of a block: its number; level of the window, 2^level executions of the block are meant;
 * whether its barriers are left out; lanes that are not active in it (0 to 31), before guards. A program with more than
 * TRACE_BLOCKS blocks has no traces. TRACE_BARRIER: one barrier of the block, and nothing else. */
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
    uint64_t instructions; /* that the warp executed; under an order: that were traced */
    uint64_t folded;   /* of these, what windows of level 1 and more stand for, by their levels */
    uint32_t plain;    /* traced one by one */
    uint32_t recorded; /* instructions of these blocks */
    bool cut;          /* the warp executed more than was traced */
    /* while it is recorded: */
    bool on;               /* the block that was entered last is */
    uint8_t level;         /* of this window or the next */
    uint32_t length, most; /* instructions of this window; with so many it ends */
    uint32_t windows;      /* that ended */
    uint32_t barriers;     /* that the warp passed */
    uint64_t next;         /* the next window begins after so many instructions */
    uint64_t covered;      /* windows so far stand for the first so many */
    uint32_t poll;         /* one more than where its last load that polled is; 0: nowhere */
};

/* What an instruction in a window of level 1 and more stands for, beyond 2^level: the last window of a warp may end
 * before or after the warp did. */
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

/* Of lines that atomics of a launch name. */
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
    /* So many have results; later ones are still requests in the caches (emu/measure/cache.h). */
    uint32_t resolved;
    bool late; /* traced only if a warp executes much: emu/measure/trace_windows.c */
    /* By block: its barriers. NULL: the program has none; or under an order, where traces end. */
    const uint8_t *barriers;
    uint32_t barriers_all; /* so many of a warp are all recorded */
    bool windows;          /* not under an order */
    struct trace_cta *next;
};

struct trace_inst {              /* a PTX instruction */
    const struct ptx_op *op;     /* NULL: none */
    uint32_t reg, reads, writes; /* regs[reg ..]: those read, then those written */
    uint32_t place;              /* its number among emu_counts.instructions */
    bool dead_result;            /* an atomic whose result no instruction reads */
    bool
        combined; /* an atomic that machine code makes once for a warp (measure/trace_combined.h) */
    uint8_t pending; /* of cp.async.wait_group: groups that may be; of a branch: PTX_UNROLL() */
    uint8_t handoff; /* enum trace_handoff */
    bool waits;      /* it is in a loop that polls; not in files */
};
struct trace_block {
    uint32_t first, count; /* instructions */
};

struct emu_trace {
    uint32_t sms, sms_traced; /* of the launch */
    uint32_t recorded_sms;    /* sms_traced of the launch; that of a choice of its SMs is less */
    uint32_t cta_count;       /* traced ones, in the order of their linear index */
    const struct trace_cta **ctas;
    uint64_t instructions; /* warp instructions that these stand for */
    uint64_t recorded;     /* warp instructions that are there */
    /* Others, whose warps execute more than most: those with the longest warps. In the order of
     * their linear index. */
    uint32_t heavy_count;
    const struct trace_cta **heavy;
    /* By trace_atomic_bucket: requests of atomics of the whole launch. NULL: it has no atomics. */
    const uint64_t *atomics;
    bool cut;   /* of some warp only a part is traced */
    bool lanes; /* blocks say how many lanes are idle; files before version 5 do not */
    bool polls; /* the kernel has loops that wait for what other threads store (ptx/polling.h) */
    bool again; /* the device has run the kernel before: its code is in caches */
    const struct trace_inst *insts;
    const uint32_t *regs; /* numbers below reg_count, no two functions' alike */
    const struct trace_block *blocks;
    const uint32_t *site_inst; /* by site: its instruction */
    uint32_t inst_count, block_count, site_count, reg_count;
};

/* The SM of `sms` that a CTA is dealt to, if `sms_traced` are traced: if all are, round robin. If a
 * part of them is, each round begins at another SM: with a grid that is 16 CTAs wide on 80 SMs, round
 * robin would give each SM one column of CTAs, and the traced ones the border of a picture. */
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
/* Frees all traces in it. */
void trace_arena_reset(struct trace_arena *a);

enum { TRACE_HEAVY = 64 /* CTAs, at most */ };
struct trace { /* of a running launch */
    struct trace_arena *arena;
    uint32_t sms_traced, ctas_traced;
    uint32_t most; /* instructions of a warp that are traced one by one */
    const uint8_t
        *handoff; /* by site: enum trace_handoff; NULL: no loop polls, or there is an order */
    uint32_t *published;     /* by trace_poll_bucket: lanes that have published; NULL as handoff */
    bool windows;            /* not under an order */
    const uint8_t *barriers; /* by block */
    struct trace_cta *first; /* all that are recorded, in no order */
    struct trace_cta *heavy[TRACE_HEAVY]; /* likewise: a heap, the lightest first */
    uint32_t heavy_count;
};
/* Decides how much of the launch is traced; its traces go into the arena. */
void trace_plan(struct trace *t, struct trace_arena *a, const struct emu_machine *m,
                const struct emu_gpu *g);
/* Begins the CTA's trace; NULL: it is not traced. The caller locks. */
struct trace_cta *trace_begin(struct trace *t, const struct emu_machine *m, uint32_t linear);
/* The code of a program as traces need it; made once for all launches. */
struct trace_code {
    const struct trace_inst *insts;
    const uint32_t *regs;
    const struct trace_block *blocks;
    const uint32_t *site_inst;
    uint32_t inst_count, block_count, site_count, reg_count;
    const uint8_t *barriers; /* by block, how many it has; NULL: none has any */
    const uint8_t *handoff;  /* by site: enum trace_handoff; NULL: no loop polls */
    bool polls;              /* struct emu_trace */
    bool lockstep;           /* warps may run in lockstep; trace_turns.h serialises the trace */
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

/* The lanes of a load that polls, whose words follow (TRACE_POLL_WORD), before it is recorded. If it is another round of the
 * loop that the warp's last access was a round of, and the warp has not left the loop, that one is taken back: how many rounds
 * there are depends on when another warp stores. Its instructions count as recorded ones. (emu/measure/trace_poll.c) */
void trace_poll(const struct trace_code *code, struct trace_warp *w, uint32_t site,
                const uint32_t *words, uint32_t lanes);

/* ---- windows (emu/measure/trace_windows.c) ------------------------------------------------------------ */

/* The window of the warp has ended: when the next begins. */
void trace_next_window(const struct trace_cta *c, struct trace_warp *w);
/* The warp enters a block with so many barriers. `recorded`: the block is in a window, its word is the last one. */
void trace_barriers(struct trace_cta *c, struct trace_warp *w, uint32_t block, uint32_t count,
                    uint32_t idle, bool recorded);
/* Begins and ends the recording of a CTA's warps. */
void trace_windows_begin(const struct trace *t, struct trace_cta *c);
void trace_windows_end(struct trace_cta *c);
/* The instructions of its longest warp. */
uint64_t trace_longest(const struct trace_cta *c);
/* A CTA has ended, and its accesses have gone through the caches: it is kept if it is heavy. */
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
