/* cuda/unordered.h: finds data races between operations of streams: unordered operations with conflicting accesses.
 *
 * Operations are ordered by their stream, by events, by the default stream, and by the host, if it has waited for one
 * operation before it submits the other. Vector clocks hold this order from the submission on, so one run finds a missing
 * dependency, in whichever order the two operations execute. All threads of the host count as one.
 *
 * A kernel that was launched with programmatic stream serialization is not ordered after the previous kernel of its
 * stream until it executes griddepcontrol.wait: early.h.
 *
 * The accesses of operations that the host has waited for are discarded. A launch of a graph is one operation with respect
 * to others; inside the graph the edges order its nodes. */
#ifndef HEDDLE_CUDA_UNORDERED_H
#define HEDDLE_CUDA_UNORDERED_H

#include "cuda/driver.h"
#include "cuda/touched.h"

struct stamp; /* a vector clock: how many operations of each stream are ordered before */

void stamp_release(struct stamp *s); /* NULL is allowed */
struct stamp *stamp_retain(struct stamp *s);
bool stamp_is_before(const struct stamp *a, const struct stamp *b); /* or equal; b may be NULL */
/* The vector clock of the host: the operations that it has waited for; NULL: none. */
const struct stamp *unordered_host(void);

/* The stamp of a new operation of the stream; `awaited`: the stamp of the operation that it waits for, or NULL. Returns
 * NULL if neither the check of races nor a run log needs stamps. */
struct stamp *unordered_submit(struct CUstream_st *s, const struct stamp *awaited);
/* Orders s after `awaited` as well (join); either may be NULL. */
void unordered_await(struct stamp *s, const struct stamp *awaited);
/* The host has waited for the operation with this stamp (join). */
void unordered_wait(const struct stamp *s);
/* The stream is destroyed; its operations stay recorded until unordered_wait_gone(). */
void unordered_leave(struct CUstream_st *s);
void unordered_wait_gone(void); /* the host has waited for operations of destroyed streams */
void unordered_end(void);       /* at the end of the device, when all streams are destroyed */

/* unordered_begin() and unordered_done() are called around an operation. Between them its accesses are reported. */
void unordered_begin(const struct CUstream_st *s, struct stamp *stamp);
void unordered_name(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The operation that executes is a node of a launched graph at this nesting depth; `run`: number of the graph's run. */
void unordered_node(size_t depth, const struct CUgraphNode_st *node, unsigned long long run);
void unordered_touch(uint64_t address, uint64_t size, enum touched_how how);
void unordered_kernel(bool is_early); /* it is a kernel; with programmatic serialization */
struct emu_launch;
void unordered_join(struct emu_launch *l); /* adds an observer to the launch of the kernel */
void unordered_done(void);

/* To be called when the host's thread enters and leaves the driver (cuda/host_access.h). Host functions that streams call
 * are not checked. */
void unordered_enter(void);
void unordered_exit(void);

#endif
