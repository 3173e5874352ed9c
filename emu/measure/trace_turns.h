/* emu/measure/trace_turns.h: the trace of a CTA whose warps run in lockstep, as if each warp had run alone.
 *
 * A trace is defined by serialised warps: one warp runs until it waits at a barrier, has used up its turn or exits;
 * then the next warp runs. Accesses go through the caches in this order. Warps of a group in lockstep interleave their
 * accesses. So each warp's events are recorded separately and cut into pieces where the warp would have stopped, and
 * the pieces are sorted into the serialised order as soon as they are complete. This works for programs whose warps
 * wait only at barriers of all threads (trace_turns_fit). */
#ifndef HEDDLE_EMU_MEASURE_TRACE_TURNS_H
#define HEDDLE_EMU_MEASURE_TRACE_TURNS_H

#include "emu/measure/cache.h"
#include "emu/ops/exec.h"
#include "emu/trace.h"

/* the end of a piece */
enum trace_turn { TURN_OVER, TURN_BARRIER, TURN_EXIT };
enum { TURN_LENGTH = 1 << 16 }; /* warp instructions of a turn */

struct trace_piece {
    size_t requests; /* end of the piece in the warp's requests */
    u32 words;       /* end of the piece in the warp's words */
    u32 traced;      /* number of its requests that are traced */
    u32 ended;       /* number of lanes that exited in the piece */
    u32 arrive;      /* number of lanes that arrive at the barrier */
    u8 end;          /* enum trace_turn */
};

struct trace_turns {          /* the pieces of a CTA */
    struct trace_cta *cta;    /* NULL: no trace, or the whole trace is sorted */
    struct cache_port *ports; /* for each warp: its requests */
    struct turns_warp {
        i64 left;      /* instructions left of its turn */
        u32 traced;    /* traced requests in the current piece */
        u32 alive;     /* live lanes when the current piece began */
        bool over;     /* the warp has exited */
        bool in_order; /* all its pieces are sorted */
        bool waits;    /* pieces of other warps come first */
        struct trace_piece *pieces;
        u32 count, cap, done; /* number of pieces, capacity, number of sorted pieces */
        size_t requests_done; /* requests of the sorted pieces */
        u32 words_done;
    } * warps;
    u32 count, cap, at; /* number of warps, capacity, warp whose turn it is */
    u32 arrived, living;
};

/* Whether the program's warps wait only at barriers of all threads, and cannot observe their order. */
bool trace_turns_fit(const struct emu_program *p);
void trace_turns_begin(struct trace_turns *t, struct trace_cta *c, u32 threads);
/* Ends the warp's piece; `alive`: its live lanes after that. */
void trace_turns_cut(struct trace_turns *t, u32 warp, enum trace_turn end, u32 arrive, u32 alive);
/* To be called when the group, or some of its warps, may have exited. */
void trace_turns_look(struct trace_turns *t, const struct emu_group *g);
/* Sorts the complete pieces and passes their requests to the port. */
void trace_turns_go(struct trace_turns *t, struct cache_port *to);
/* The CTA runs no further; its remaining requests are dropped. */
void trace_turns_drop(struct trace_turns *t);
void trace_turns_free(struct trace_turns *t);

/* A warp enters a block. */
static inline void trace_turns_block(struct trace_turns *t, u32 warp, u32 instructions, u32 alive)
{
    struct turns_warp *w = &t->warps[warp];
    if (w->left <= 0) trace_turns_cut(t, warp, TURN_OVER, 0, alive);
    w->left -= instructions;
}

#endif
