/* determinism/storage.h: the storage that the hardware of an order needs on a GPU, as a sum of bits.
 *
 *     struct order_storage s;
 *     char *why = orders_storage("dab:entries=32", emu_gpu_find("titanv"), &s);    // NULL: s is filled
 *
 * Each part is a number of equal entries that every SM, or every memory partition, has. Bits are those that the papers
 * name; logic, ports and layout are not counted, so this is no area in mm2. Where a paper gives no size, the part's
 * text says what was assumed. */
#ifndef HEDDLE_DETERMINISM_STORAGE_H
#define HEDDLE_DETERMINISM_STORAGE_H

#include <stdint.h>

struct emu_gpu;

enum order_storage_where {
    STORAGE_SM,        /* of each SM that gets CTAs */
    STORAGE_PARTITION, /* of each memory partition */
    STORAGE_BORROWED, /* space for which something that the GPU has is used: L2, device memory; of the whole GPU */
    STORAGE_PLACES
};

struct order_storage_part {
    enum order_storage_where where;
    uint64_t entries; /* in one SM, in one partition, or (STORAGE_BORROWED) in the whole GPU */
    uint64_t bits;    /* of an entry */
    const char *what, *source;
};

enum {
    ORDER_STORAGE_PARTS = 8,
    ORDER_STORAGE_ADDRESS =
        40, /* bits of an address: DAB's 5 bytes (IV-B). The thesis names no width. */
};
struct order_storage {
    uint32_t
        units[STORAGE_PLACES]; /* how many SMs and partitions there are; 1 for STORAGE_BORROWED */
    uint32_t count;
    struct order_storage_part parts[ORDER_STORAGE_PARTS];
    const char *note; /* what is not counted; NULL: nothing */
};

/* Bits of all parts of one SM, of one partition, or of what is borrowed. */
uint64_t order_storage_bits(const struct order_storage *s, enum order_storage_where where);

/* Fills `out` for the order that `text` names, on that GPU; an order without hardware has no part. NULL, or what is
 * wrong with the text, to be freed. */
char *orders_storage(const char *text, const struct emu_gpu *gpu, struct order_storage *out);

/* For the orders themselves. */
void order_storage_add(struct order_storage *s, struct order_storage_part part);
/* How many bits numbers from 0 to `most` take. */
uint32_t order_storage_width(uint64_t most);

#endif
