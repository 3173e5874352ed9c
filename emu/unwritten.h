/* emu/unwritten.h: contents of unwritten memory under an adversarial order (emu_order.unwritten).
 *
 *     mem_fill_unwritten(m, order->unwritten);   // when the device is made
 *
 * From then on a block of the device's own memory that is neither a variable nor constant initially holds pseudo-random
 * bytes instead of zeros, up to MEM_FILLED of them. They are a function of the seed and the address. emu/sched/cta.c
 * does the same for shared and local memory. Written bytes are tracked, as for EMU_CHECK_INIT, and mem_digest counts
 * unwritten bytes as zeros: a program that does not read them has the same digests as without an adversary. */
#ifndef HEDDLE_EMU_UNWRITTEN_H
#define HEDDLE_EMU_UNWRITTEN_H

#include "emu/memory.h"

enum { MEM_FILLED = 64 << 20 };

/* Existing blocks count as written. seed 0: no effect. */
void mem_fill_unwritten(struct mem *m, uint64_t seed);
bool mem_fills(const struct mem *m);
/* Bytes for memory outside of blocks: shared and local memory. They are the same for the same seed and `place`. Only
 * with mem_fills. */
void mem_unwritten_bytes(const struct mem *m, uint64_t place, uint8_t *to, size_t size);
/* Fills part of a block with zeros, for memory that an API defines as zeroed. The bytes do not count as written. */
void mem_zero(struct mem *m, uint64_t address, uint64_t size);
/* Copies bytes of one live block as mem_digest counts them: unwritten bytes as zeros. */
void mem_digested_bytes(const struct mem *m, uint64_t address, uint8_t *to, size_t size);

/* Whether a byte of global memory is marked as written. Only with mem_fills or mem_track. */
bool mem_is_written(const struct mem *m, uint64_t address);
/* Marks as written `size` bytes of each of 32 lanes whose bit is set in `lanes`. Addresses outside of global memory are
 * ignored. Several threads may call it at once. No effect without mem_fills, nor with EMU_CHECK_INIT, whose observer
 * marks bytes itself. */
void mem_mark_lanes(struct mem *m, const uint64_t address[32], uint32_t lanes, uint32_t size);
/* `size` bytes have been copied from `from` to `to`: from now on the copies count as written exactly where the source
 * bytes do. Memory that the host shares always counts as written. Must not be called while several threads run CTAs. */
void mem_copy_written(struct mem *m, uint64_t to, uint64_t from, uint64_t size);

#endif
