/* determinism/store_buffers.h: total store order, for `random:model=tso`: each warp has a store buffer.
 *
 * After P. Sewell, S. Sarkar, S. Owens, F. Zappa Nardelli, M. Myreen, "x86-TSO: A Rigorous and Usable Programmer's
 * Model for x86 Multiprocessors", CACM 2010. A store goes into the buffer of its warp. Buffers are first in, first out;
 * the oldest store of a randomly chosen warp reaches memory at a random time. For each byte, a load returns the newest
 * store in its own warp's buffer, else the contents of memory. Atomics, fence.sc, barriers and all other
 * synchronisation first drain the warp's buffer; fence.acq_rel and the exit of the warp do not.
 *
 *     store_buffers_begin(b, m, drain_one_in, &state);
 *     verdict = store_buffers_access(b, a);      // of emu_order.access
 *     store_buffers_sync(b, s);                  // of emu_order.sync
 *     store_buffers_step(b);                     // to be called often: a store may reach memory
 *
 * Stores to shared memory are not buffered: they drain the buffer and are executed at once. Lanes of a warp share a
 * buffer. */
#ifndef HEDDLE_DETERMINISM_STORE_BUFFERS_H
#define HEDDLE_DETERMINISM_STORE_BUFFERS_H

#include "emu/order.h"

struct store_buffers;

struct store_buffers *store_buffers_new(void);
void store_buffers_free(struct store_buffers *b); /* NULL is allowed */
/* state: state of the random number generator (base/rng.h). drain_one_in > 0: at one of drain_one_in steps, on average,
 * a store of some warp reaches memory. */
void store_buffers_begin(struct store_buffers *b, struct emu_machine *m, uint32_t drain_one_in,
                         uint64_t *state);
enum emu_verdict store_buffers_access(struct store_buffers *b, const struct emu_access *a);
void store_buffers_sync(struct store_buffers *b, const struct emu_sync *s);
void store_buffers_step(struct store_buffers *b);
/* Drains all buffers. Whether there were any buffered stores. */
bool store_buffers_drain(struct store_buffers *b);
/* A launch has failed: discards the buffered stores. */
void store_buffers_lose(struct store_buffers *b);

#endif
