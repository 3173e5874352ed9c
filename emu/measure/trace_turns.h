/* emu/measure/trace_turns.h: warps of a traced CTA in lockstep, and a trace as if each had run alone.
 *
 * Alone, a warp runs until it waits at a barrier, has used up its turn or ends, and then the next does: so are traces
 * defined, and in that order go accesses through the caches. A group's warps would mix theirs. So each warp keeps what
 * it notes, cut where it would have stopped, and the pieces are put in order as soon as they are there. That is for
 * programs whose warps wait at barriers of all threads and for nothing else (trace_turns_fit). */
#ifndef HEDDLE_EMU_MEASURE_TRACE_TURNS_H
#define HEDDLE_EMU_MEASURE_TRACE_TURNS_H

#include "emu/measure/cache.h"
#include "emu/ops/exec.h"
#include "emu/trace.h"

/* how a piece ends */
enum trace_turn { TURN_OVER, TURN_BARRIER, TURN_EXIT };
enum { TURN_LENGTH = 1 << 16 }; /* warp instructions of a group before the next one */

struct trace_piece {
    size_t requests; /* where it ends in the warp's, */
    u32 words;       /* and in its words */
    u32 traced;      /* notes that the trace has */
    u32 ended;       /* lanes that ended in it */
    u32 arrive;      /* at the barrier */
    u8 end;          /* enum trace_turn */
};

struct trace_turns {          /* of a CTA */
    struct trace_cta *cta;    /* NULL: none, or all of it is in order */
    struct cache_port *ports; /* by warp: what it has noted */
    struct turns_warp {
        i64 left;      /* of its turn */
        u32 traced;    /* notes in the piece that it is in */
        u32 alive;     /* lanes when that began */
        bool over;     /* it has ended */
        bool in_order; /* all of it is */
        bool waits;    /* pieces of others come first */
        struct trace_piece *pieces;
        u32 count, cap, done; /* pieces; so many of them are in order, */
        size_t requests_done; /* and what they have */
        u32 words_done;
    } * warps;
    u32 count, cap, at; /* warps; whose turn it is */
    u32 arrived, living;
};

/* Whether the program's warps stop nowhere else, and do not see each other's order. */
bool trace_turns_fit(const struct emu_program *p);
void trace_turns_begin(struct trace_turns *t, struct trace_cta *c, u32 threads);
/* The warp stops here; so many of its lanes live on. */
void trace_turns_cut(struct trace_turns *t, u32 warp, enum trace_turn end, u32 arrive, u32 alive);
/* The group may have ended, or some of its warps. */
void trace_turns_look(struct trace_turns *t, const struct emu_group *g);
/* Puts what is there in order: it goes through the port. */
void trace_turns_go(struct trace_turns *t, struct cache_port *to);
/* The CTA goes no further; what is left of it goes through no cache. */
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
