/* emu/unwritten.h: memory that nothing has written, as an adversary fills it (emu_order.unwritten).
 *
 *     mem_fill_unwritten(m, order->unwritten);   // when the device is made
 *
 * From then on a block of the device's own memory that is no variable and not constant begins with bytes drawn from the seed
 * and its address, not with zeros: up to MEM_FILLED of them. emu/sched/cta.c does the same with shared and local memory.
 * Which bytes are written is tracked, as for EMU_CHECK_INIT, and mem_digest takes the others for zeros: a program that does
 * not read them has the same digests as without. */
#ifndef HEDDLE_EMU_UNWRITTEN_H
#define HEDDLE_EMU_UNWRITTEN_H

#include "emu/memory.h"

enum { MEM_FILLED = 64 << 20 };

/* Blocks that there are already count as written. seed 0: no effect. */
void mem_fill_unwritten(struct mem *m, uint64_t seed);
bool mem_fills(const struct mem *m);
/* Bytes for memory outside of blocks: those of shared and local memory. The same for the same seed and `place`. Only with
 * mem_fills. */
void mem_unwritten_bytes(const struct mem *m, uint64_t place, uint8_t *to, size_t size);
/* A block holds zeros after all, because somebody promises that. They do not count as written. */
void mem_zero(struct mem *m, uint64_t address, uint64_t size);
/* Copies bytes of one live block as mem_digest takes them. */
void mem_digested_bytes(const struct mem *m, uint64_t address, uint8_t *to, size_t size);

/* Whether a byte of global memory is marked as written. Only with mem_fills or mem_track. */
bool mem_is_written(const struct mem *m, uint64_t address);
/* Marks as written `size` bytes of each of 32 lanes whose bit is set in `lanes`. Addresses outside of global memory are left
 * aside. Several threads may do so at once. No effect without mem_fills, nor with EMU_CHECK_INIT, which marks by itself. */
void mem_mark_lanes(struct mem *m, const uint64_t address[32], uint32_t lanes, uint32_t size);
/* `size` bytes from `to` have been copied from `from`: those that were not written there count as not written here,
 * either; memory that the host shares always does. Not while several threads run CTAs. */
void mem_copy_written(struct mem *m, uint64_t to, uint64_t from, uint64_t size);

#endif
