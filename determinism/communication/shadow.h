/* determinism/communication/shadow.h: the last writer of each byte of global memory.
 *
 * A word (4 bytes) has a *slot*: the launch and the node that wrote it last, and whether it has been read since. A word
 * whose bytes have different writers has a slot that names a record of four slots. Slots lie in chunks of 1 MiB of
 * guest memory, which exist where something was written or read. */
#ifndef HEDDLE_DETERMINISM_COMMUNICATION_SHADOW_H
#define HEDDLE_DETERMINISM_COMMUNICATION_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SHADOW_CHUNK_BITS = 20,
    SHADOW_CHUNK = 1 << SHADOW_CHUNK_BITS,
    SHADOW_WORDS = SHADOW_CHUNK / 4,
    SHADOW_PAGE = 4096,
};

/* A slot: the launch in the high half; bit 31: the word has been read; below it the node. */
#define SLOT_READ (UINT64_C(1) << 31)
#define SLOT_INITIAL UINT64_C(0)        /* launch 0: no launch */
#define SLOT_HOST UINT64_C(1)           /* likewise */
#define SLOT_SPLIT UINT64_C(0xffffffff) /* as launch: the low half is the number of a record */
static inline uint64_t slot_of(uint32_t launch, uint32_t node)
{
    return (uint64_t)launch << 32 | node;
}
static inline uint32_t slot_launch(uint64_t slot)
{
    return (uint32_t)(slot >> 32);
}
static inline uint32_t slot_node(uint64_t slot)
{
    return (uint32_t)slot & 0x7fffffff;
}
static inline bool slot_is_split(uint64_t slot)
{
    return slot >> 32 == SLOT_SPLIT;
}

struct shadow_chunk {
    uint64_t slots[SHADOW_WORDS];
    /* For the running launch: bytes that one node other than the writer has read, and bytes that several such nodes
     * have read. */
    uint64_t read_once[SHADOW_CHUNK / 64], read_again[SHADOW_CHUNK / 64];
    /* pages with bits in read_once or read_again */
    uint64_t marked[SHADOW_CHUNK / SHADOW_PAGE / 64];
    uint64_t touched[SHADOW_CHUNK / SHADOW_PAGE / 64]; /* pages with slots */
    bool is_marked;
};

struct shadow {
    struct shadow_chunk **chunks; /* index: (address - MEM_GLOBAL) >> 20; NULL: no slots */
    size_t chunk_count;
    uint64_t (*records)[4];
    uint32_t record_count, record_cap, free_record; /* free_record: 1 + number; 0: none */
    uint64_t pages;                                 /* touched */
};

void shadow_free(struct shadow *s);
/* The chunk of an offset from MEM_GLOBAL; created if it does not exist. */
struct shadow_chunk *shadow_chunk_new(struct shadow *s, uint64_t offset);
static inline struct shadow_chunk *shadow_chunk(struct shadow *s, uint64_t offset)
{
    const uint64_t i = offset >> SHADOW_CHUNK_BITS;
    struct shadow_chunk *c = i < s->chunk_count ? s->chunks[i] : NULL;
    return c ? c : shadow_chunk_new(s, offset);
}
static inline uint64_t *shadow_slot(struct shadow *s, uint64_t offset)
{
    return &shadow_chunk(s, offset)->slots[offset % SHADOW_CHUNK / 4];
}

/* The writer of one byte. */
uint64_t shadow_byte(struct shadow *s, uint64_t offset);

/* `lost` is called for each slot that a write replaces, with the number of its bytes that are replaced. */
typedef void shadow_lost(void *self, uint64_t slot, uint32_t bytes);
void shadow_write(struct shadow *s, uint64_t offset, uint64_t size, uint64_t slot,
                  shadow_lost *lost, void *self);

/* Calls `part` for the longest ranges of [offset, offset + size) with one writer, in order of addresses. Marks slots of
 * other launches than `now` as read. */
typedef void shadow_part(void *self, uint64_t offset, uint32_t size, uint64_t slot);
void shadow_read(struct shadow *s, uint64_t offset, uint64_t size, uint32_t now, shadow_part *part,
                 void *self);

/* A node other than the writer has read these bytes in this launch. Adds to *first the number of bytes without such a
 * read before, and to *second the number of bytes with one such read before. */
void shadow_mark(struct shadow *s, uint64_t offset, uint64_t size, uint64_t *first,
                 uint64_t *second);
void shadow_forget_marks(struct shadow *s);

/* Calls `lost` for all slots. */
void shadow_all(struct shadow *s, shadow_lost *lost, void *self);
uint64_t shadow_memory(const struct shadow *s); /* bytes of host memory */

#endif
