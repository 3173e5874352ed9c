/* emu/memory.h: the address map of a device and its allocations.
 *
 * Addresses as a guest sees them (generic, and .global, .local, .shared once converted by cvta):
 *
 *     0x0000_0000 .. 0x00ff_ffff   nothing: null pointers fault
 *     0x0100_0000 .. 0x020f_ffff   shared memory: windows of 1 MiB: the own CTA's, then those of the
 *                                  CTAs of the cluster by rank, which mapa gives
 *     0x0300_0000 .. 0x0fff_ffff   local memory of the accessing thread
 *     0x1000_0000 .. 0x100f_ffff   parameters of the kernel
 *     0x1010_0000 .. 0x1fff_ffff   code: a function's address is 0x1010_0000 + 16 * its number
 *     0x2000_0000 .. + memory      global memory: allocations and variables, .const ones included;
 *                                  from 0x8000_0000 on in a process whose heap is at low addresses
 *                                  and needs the host's own (mem_unify)
 *
 * So a module with 32-bit addresses works as long as its memory ends below 4 GiB. A .shared address
 * (not generic) is an offset from 0x0100_0000; a .local address an offset from 0x0300_0000; .const
 * and .global addresses are generic ones.
 *
 * Global memory is one reserved range of host addresses: host = base + (address - MEM_GLOBAL).
 * Blocks that the host shares are elsewhere, at mem_block.host: memory that mem_alloc_shared maps
 * for both, if possible at the block's own address, and host memory to which mem_adopt has given a
 * device address.
 *
 * Invariants. The guest reaches bytes of live blocks only. Between two allocations there are at
 * least MEM_GAP unused bytes, so a small overrun does not reach another allocation. */
#ifndef HEDDLE_EMU_MEMORY_H
#define HEDDLE_EMU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEM_SHARED UINT64_C(0x01000000)
#define MEM_SHARED_WINDOW UINT64_C(0x00100000) /* of one CTA of a cluster */
#define MEM_LOCAL UINT64_C(0x03000000)
#define MEM_PARAM UINT64_C(0x10000000)
#define MEM_CODE UINT64_C(0x10100000)
#define MEM_GLOBAL UINT64_C(0x20000000)

enum {
    MEM_ALIGN = 256, /* of allocations */
    MEM_GAP = 256,
    MEM_SHARED_ALIGN = 64 << 10, /* of memory that the host shares: whole pages on every host */
    MEM_MAX_SHARED = 227 * 1024, /* of a CTA on any GPU; the limit of one: emu_gpu_shared_limit */
    MEM_RESERVED_SHARED = 1024,  /* of a CTA, for the system: barriers of cooperative groups */
    MEM_MAX_LOCAL = 512 * 1024,  /* per thread */
    MEM_MAX_PARAMS = 32764,
};

enum mem_kind {
    MEM_OWN,          /* in the device's own range */
    MEM_SHARED_BLOCK, /* mapped for the host and the guest */
    MEM_ADOPTED,      /* the host's */
    MEM_RESERVED, /* addresses without memory: not allocated otherwise, and every access faults */
};

struct mem_block { /* one allocation or variable; released ones are kept for reports until reused */
    uint64_t address, size;
    uint8_t *host; /* its bytes; of a released block invalid */
    enum mem_kind kind;
    const char *name;
    const char *at, *by; /* of the guest's malloc: where in the code, and which thread; else NULL */
    const char *freed;   /* what released it; NULL: live, or unknown */
    uint32_t serial;     /* counts allocations from 1 */
    bool constant, live, variable;
    bool read_only; /* of mapped memory: neither the guest nor a copy may write */
    bool host_only; /* of memory that the host shares: the guest has no access */
};

struct mem; /* the global memory of a device */

struct mem *mem_new(uint64_t bytes);
void mem_free(struct mem *m);

/* The host address of device address MEM_GLOBAL, for memory in the device's own range. */
uint8_t *mem_base(const struct mem *m);
/* Whether no block is elsewhere. */
bool mem_is_plain(const struct mem *m);
/* Host address of a byte of a live block. */
uint8_t *mem_bytes(const struct mem *m, uint64_t address);
uint64_t mem_size(const struct mem *m);  /* bytes of device memory */
uint64_t mem_first(const struct mem *m); /* the least address of memory */
uint64_t
mem_space(const struct mem *m); /* all addresses are less than this many bytes above MEM_GLOBAL */

/* First fit by address, so addresses depend on the sequence of calls alone. Zeroed. 0: memory is
 * exhausted, or size 0. `align`: a power of two; at least MEM_ALIGN is used. Not while several
 * threads run CTAs. */
uint64_t mem_alloc(struct mem *m, uint64_t size, uint64_t align, const char *name, bool constant,
                   bool variable);
/* Reserves the host's own addresses of device memory for memory that it will share, so that no other
 * host pointer is a device address. Before the first allocation it may move the memory to addresses
 * from 0x80000000 on: where the host has something at those from MEM_GLOBAL on, and where its heap may
 * grow into them, as that of a program which is not position-independent. false: the host has
 * something there, too. */
bool mem_unify(struct mem *m);
/* As mem_alloc, of zeroed memory that the host may use, too, at mem_block.host: that is the address
 * itself unless the host has something else there. All of it counts as written. */
uint64_t mem_alloc_shared(struct mem *m, uint64_t size, const char *name, bool variable);
/* Whether the guest may access the live block that begins at `address`; at first it may. Not while the guest runs. */
void mem_set_guest_access(struct mem *m, uint64_t address, bool access);
/* A device address for host memory, which must stay there until the address is released. It has the
 * same offset in a page of 4096 bytes as `host`. All bytes count as written. */
uint64_t mem_adopt(struct mem *m, void *host, uint64_t size, const char *name);
/* Reserves addresses without memory at a multiple of `align`, above those of memory; at `at`, if
 * that is not 0 and they are free. 0: the address space, several times the size of memory, is
 * exhausted. mem_map and mem_unmap back parts of it with host memory. It can be released when no
 * part is mapped. */
uint64_t mem_reserve(struct mem *m, uint64_t size, uint64_t align, uint64_t at, const char *name);
/* false: some of the addresses are not reserved, or have memory. */
bool mem_map(struct mem *m, uint64_t address, void *host, uint64_t size, bool read_only,
             const char *name);
bool mem_unmap(struct mem *m, uint64_t address,
               const char *by); /* exactly what one mem_map mapped */

/* For the guest's malloc: `at` says where in the code, `by` which thread asked; both are copied. */
uint64_t mem_alloc_heap(struct mem *m, uint64_t size, const char *at, const char *by);
bool mem_release(struct mem *m, uint64_t address);
/* `by`: what releases it, for reports of its later use; copied. */
bool mem_release_by(struct mem *m, uint64_t address, const char *by);

/* From now on released addresses are not reused while others are free, so that a use of released
 * memory is found. */
void mem_never_reuse_addresses(struct mem *m);

/* The live block that holds `size` bytes from `address`, else NULL. Safe from several threads while
 * no thread allocates. O(log n). */
const struct mem_block *mem_find(const struct mem *m, uint64_t address, uint64_t size);

/* The number of releases so far: while it is unchanged, results of mem_find are valid. */
uint64_t mem_releases(const struct mem *m);

/* For reports: the live or released block that holds the address, else the nearest live one;
 * NULL. */
const struct mem_block *mem_near(const struct mem *m, uint64_t address);
/* Describes the address relative to that block, with what allocated and released it, in lines that
 * begin with two blanks. Appends nothing if there is no block. */
struct buf;
void mem_describe(const struct mem *m, uint64_t address, struct buf *out);

size_t mem_count(const struct mem *m);                         /* live blocks */
const struct mem_block *mem_at(const struct mem *m, size_t i); /* by address */
uint64_t mem_used(const struct mem *m);

/* 64-bit digest of addresses, sizes and bytes of all live blocks. Defined byte by byte: the same on
 * every host. Fast (several GB/s): pages never touched must not be read in (mincore), zero pages
 * count as zeros. */
uint64_t mem_digest(const struct mem *m);

/* Which bytes have been written, for EMU_CHECK_INIT: one bit a byte. Off unless mem_track was
 * called before the first allocation. */
void mem_track(struct mem *m);
uint8_t *mem_written_bits(const struct mem *m); /* bit (address - MEM_GLOBAL); NULL: not tracked */
void mem_mark_written(struct mem *m, uint64_t address, uint64_t size);

#endif
