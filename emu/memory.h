/* emu/memory.h: the address map of a device and its allocations.
 *
 * Generic addresses of the guest (.global, .local and .shared addresses after conversion by cvta):
 *
 *     0x0000_0000 .. 0x00ff_ffff   unmapped: null pointers fault
 *     0x0100_0000 .. 0x020f_ffff   shared memory: windows of 1 MiB: first the accessing CTA's own, then
 *                                  those of the CTAs of its cluster by rank, which mapa returns
 *     0x0300_0000 .. 0x0fff_ffff   local memory of the accessing thread
 *     0x1000_0000 .. 0x100f_ffff   parameters of the kernel
 *     0x1010_0000 .. 0x1fff_ffff   code: a function's address is 0x1010_0000 + 16 * its number
 *     0x2000_0000 .. + memory      global memory: allocations and variables, .const ones included;
 *                                  from 0x8000_0000 on if the host process uses the low addresses
 *                                  for its heap and shares memory with the device (mem_unify)
 *
 * A module with 32-bit addresses works if its memory ends below 4 GiB. A .shared address (not generic) is an offset
 * from 0x0100_0000; a .local address an offset from 0x0300_0000; .const and .global addresses are generic ones.
 *
 * Global memory is one reserved range of host addresses: host = base + (address - MEM_GLOBAL). Blocks that the host
 * shares are elsewhere, at mem_block.host: memory that mem_alloc_shared maps for host and guest, if possible at the
 * same address, and host memory to which mem_adopt has given a device address.
 *
 * Invariants. The guest can access only bytes of live blocks. Between two allocations there are at least MEM_GAP unused
 * bytes, so a small overrun does not reach another allocation. */
#ifndef HEDDLE_EMU_MEMORY_H
#define HEDDLE_EMU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEM_SHARED UINT64_C(0x01000000)
#define MEM_SHARED_WINDOW UINT64_C(0x00100000) /* window of one CTA of a cluster */
#define MEM_LOCAL UINT64_C(0x03000000)
#define MEM_PARAM UINT64_C(0x10000000)
#define MEM_CODE UINT64_C(0x10100000)
#define MEM_GLOBAL UINT64_C(0x20000000)

enum {
    MEM_ALIGN = 256, /* alignment of allocations */
    MEM_GAP = 256,
    /* alignment of memory shared with the host: whole pages on every host */
    MEM_SHARED_ALIGN = 64 << 10,
    /* most bytes of a CTA on any GPU; for one GPU: emu_gpu_shared_limit */
    MEM_MAX_SHARED = 227 * 1024,
    MEM_RESERVED_SHARED = 1024, /* bytes of a CTA for the system: barriers of cooperative groups */
    MEM_MAX_LOCAL = 512 * 1024, /* bytes of a thread */
    MEM_MAX_PARAMS = 32764,
};

enum mem_kind {
    MEM_OWN,          /* in the device's own range */
    MEM_SHARED_BLOCK, /* mapped for the host and the guest */
    MEM_ADOPTED,      /* host memory with a device address (mem_adopt) */
    /* addresses without memory: not used for other allocations; every access faults */
    MEM_RESERVED,
};

/* one allocation or variable. Released blocks are kept for reports until their addresses are reused */
struct mem_block {
    uint64_t address, size;
    uint8_t *host; /* host address of its bytes; invalid after the release */
    enum mem_kind kind;
    const char *name;
    const char *at, *by; /* guest's malloc: position in the code, and thread; else NULL */
    const char *freed;   /* names the call that released it; NULL: live, or unknown */
    uint32_t serial;     /* number of the allocation, from 1 on */
    bool constant, live, variable;
    bool read_only; /* mapped memory that neither the guest nor a copy may write */
    bool host_only; /* memory shared with the host to which the guest has no access */
};

struct mem; /* the global memory of a device */

struct mem *mem_new(uint64_t bytes);
void mem_free(struct mem *m);

/* The host address of device address MEM_GLOBAL, for memory in the device's own range. */
uint8_t *mem_base(const struct mem *m);
/* Whether all blocks are in the device's own range. */
bool mem_is_plain(const struct mem *m);
/* Host address of a byte of a live block. */
uint8_t *mem_bytes(const struct mem *m, uint64_t address);
uint64_t mem_size(const struct mem *m);  /* bytes of device memory */
uint64_t mem_first(const struct mem *m); /* the least address of memory */
/* All addresses are less than MEM_GLOBAL plus this number of bytes. */
uint64_t mem_space(const struct mem *m);

/* Allocates zeroed memory, first fit by address, so addresses depend on the sequence of calls alone. Returns the device
 * address. 0: memory is exhausted, or size is 0. `align`: a power of two; at least MEM_ALIGN is used. Must not be
 * called while several threads run CTAs. */
uint64_t mem_alloc(struct mem *m, uint64_t size, uint64_t align, const char *name, bool constant,
                   bool variable);
/* Reserves the range of device addresses in the host's address space, for memory shared with the host, so that no other
 * host pointer equals a device address. To be called before the first allocation. Moves device memory to addresses from
 * 0x80000000 on if the host uses addresses from MEM_GLOBAL on, or its heap may grow into them (as in a program that is
 * not position-independent). false: the host uses those addresses, too. */
bool mem_unify(struct mem *m);
/* As mem_alloc, for zeroed memory that the host may use, too, at mem_block.host. The host address equals the device
 * address unless the host already uses it. All bytes count as written. */
uint64_t mem_alloc_shared(struct mem *m, uint64_t size, const char *name, bool variable);
/* Sets whether the guest may access the live block that begins at `address`; initially it may. Must not be called while
 * the guest runs. */
void mem_set_guest_access(struct mem *m, uint64_t address, bool access);
/* Returns a device address for host memory, which must stay allocated until the address is released. The address has
 * the same offset in a page of 4096 bytes as `host`. All bytes count as written. */
uint64_t mem_adopt(struct mem *m, void *host, uint64_t size, const char *name);
/* Reserves addresses without memory, above the addresses of memory, at a multiple of `align`; at `at` if that is not 0
 * and the range is free. 0: the address space, several times the size of memory, is exhausted. mem_map and mem_unmap
 * back parts of the range with host memory. The range can be released when no part is mapped. */
uint64_t mem_reserve(struct mem *m, uint64_t size, uint64_t align, uint64_t at, const char *name);
/* false: some of the addresses are not reserved, or have memory. */
bool mem_map(struct mem *m, uint64_t address, void *host, uint64_t size, bool read_only,
             const char *name);
/* The range must be exactly that of one mem_map. */
bool mem_unmap(struct mem *m, uint64_t address, const char *by);

/* For the guest's malloc. `at`: position of the call in the code; `by`: the calling thread. Both are copied. */
uint64_t mem_alloc_heap(struct mem *m, uint64_t size, const char *at, const char *by);
bool mem_release(struct mem *m, uint64_t address);
/* `by`: names the releasing call, for reports of later uses of the memory; copied. */
bool mem_release_by(struct mem *m, uint64_t address, const char *by);

/* From now on released addresses are not reused while others are free, so that uses of released memory are found. */
void mem_never_reuse_addresses(struct mem *m);

/* The live block that contains the `size` bytes from `address` on; NULL: none. Safe from several threads while no
 * thread allocates. O(log n). */
const struct mem_block *mem_find(const struct mem *m, uint64_t address, uint64_t size);

/* The number of releases so far: while it is unchanged, results of mem_find are valid. */
uint64_t mem_releases(const struct mem *m);

/* For reports: the live or released block that contains the address, else the nearest live one. NULL: there is no
 * block. */
const struct mem_block *mem_near(const struct mem *m, uint64_t address);
/* Appends a description of the address relative to that block, with the calls that allocated and released it, in lines
 * that begin with two blanks. Appends nothing if there is no block. */
struct buf;
void mem_describe(const struct mem *m, uint64_t address, struct buf *out);

size_t mem_count(const struct mem *m);                         /* live blocks */
const struct mem_block *mem_at(const struct mem *m, size_t i); /* by address */
uint64_t mem_used(const struct mem *m);

/* 64-bit digest of addresses, sizes and bytes of all live blocks. Defined byte by byte: the same on every host. Fast
 * (several GB/s): pages that were never touched are not paged in (mincore), and count as zeros. */
uint64_t mem_digest(const struct mem *m);

/* Tracks which bytes have been written, one bit for each byte, for EMU_CHECK_INIT. Off unless mem_track was called
 * before the first allocation. */
void mem_track(struct mem *m);
uint8_t *mem_written_bits(const struct mem *m); /* bit (address - MEM_GLOBAL); NULL: not tracked */
void mem_mark_written(struct mem *m, uint64_t address, uint64_t size);

#endif
