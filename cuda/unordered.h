/* cuda/unordered.h: finds operations of streams that nothing orders, of which one writes what the other touches.
 *
 * What orders operations: their stream, events, the default stream, and the host, where it has waited for the one before
 * it asked for the other. That is settled when they are asked for, by vector clocks, so a missing dependency is found
 * in one run, whichever of the two came first. The host counts as one, whatever its threads.
 *
 * A kernel that is launched to begin early (programmatic stream serialization) is not behind the kernel before it in
 * its stream until it waits for that (griddepcontrol.wait): early.h.
 *
 * Operations that the host has waited for are forgotten. A graph's launch is one operation here to others, and inside of
 * it the edges order its nodes. */
#ifndef HEDDLE_CUDA_UNORDERED_H
#define HEDDLE_CUDA_UNORDERED_H

#include "cuda/driver.h"
#include "cuda/touched.h"

struct stamp; /* when: which operations of each stream come before */

void stamp_release(struct stamp *s); /* NULL is allowed */
struct stamp *stamp_retain(struct stamp *s);
bool stamp_is_before(const struct stamp *a, const struct stamp *b); /* or the same; b may be NULL */
/* What the host has waited for; NULL: nothing. */
const struct stamp *unordered_host(void);

/* The stamp of a new operation of the stream; `awaited`: of what it waits for, or NULL. NULL: nobody looks, neither
 * the check of races nor a run log. */
struct stamp *unordered_submit(struct CUstream_st *s, const struct stamp *awaited);
/* It comes behind that one, too; either may be NULL. */
void unordered_await(struct stamp *s, const struct stamp *awaited);
/* The host has waited for it. */
void unordered_wait(const struct stamp *s);
void unordered_leave(
    struct CUstream_st *s);     /* it is destroyed: what it was asked for stays known */
void unordered_wait_gone(void); /* and the host has waited for that, too */
void unordered_end(void);       /* with the device, when streams have left */

/* Around the operation. Between the two calls its accesses are reported. */
void unordered_begin(const struct CUstream_st *s, struct stamp *stamp);
void unordered_name(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What goes on is a node of a graph that is launched, so deep in others; `run`: which time the graph is run. */
void unordered_node(size_t depth, const struct CUgraphNode_st *node, unsigned long long run);
void unordered_touch(uint64_t address, uint64_t size, enum touched_how how);
void unordered_kernel(bool is_early); /* it is one; it was launched to begin early */
struct emu_launch;
void unordered_join(struct emu_launch *l); /* of its kernel */
void unordered_done(void);

/* Around the time in which the host's thread is in the driver (cuda/host_access.h). A function of the host that a stream
 * calls is not guarded. */
void unordered_enter(void);
void unordered_exit(void);

#endif
