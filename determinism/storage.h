/* determinism/storage.h: the storage that the hardware of an order needs on a GPU, as a sum of bits.
 *
 *     struct order_storage s;
 *     char *why = orders_storage("dab:entries=32", emu_gpu_find("titanv"), &s);    // NULL: s is filled
 *
 * Each part is a number of equal entries that every SM, or every memory partition, has. Only bits that the papers name
 * are counted, not logic, ports and layout, so the result is no area in mm2. If a paper gives no size, the part's text
 * names the assumption. */
#ifndef HEDDLE_DETERMINISM_STORAGE_H
#define HEDDLE_DETERMINISM_STORAGE_H

#include <stdint.h>

struct emu_gpu;

enum order_storage_where {
    STORAGE_SM,        /* in each SM that gets CTAs */
    STORAGE_PARTITION, /* in each memory partition */
    STORAGE_BORROWED,  /* space in existing memories of the whole GPU: L2, device memory */
    STORAGE_PLACES
};

struct order_storage_part {
    enum order_storage_where where;
    /* entries in one SM, in one partition, or (STORAGE_BORROWED) in the whole GPU */
    uint64_t entries;
    uint64_t bits; /* bits of an entry */
    const char *what, *source;
};

enum {
    ORDER_STORAGE_PARTS = 8,
    ORDER_STORAGE_ADDRESS =
        40, /* bits of an address: DAB's 5 bytes (IV-B). The thesis names no width. */
};
struct order_storage {
    /* numbers of SMs and partitions; 1 for STORAGE_BORROWED */
    uint32_t units[STORAGE_PLACES];
    uint32_t count;
    struct order_storage_part parts[ORDER_STORAGE_PARTS];
    const char *note; /* names parts that are not counted; NULL: none */
};

/* Bits of all parts of one SM, of one partition, or of STORAGE_BORROWED. */
uint64_t order_storage_bits(const struct order_storage *s, enum order_storage_where where);

/* Computes `out` for the order with that text, on that GPU; an order without hardware has no parts. NULL: success; else
 * an error message, which the caller frees. */
char *orders_storage(const char *text, const struct emu_gpu *gpu, struct order_storage *out);

/* The following functions are for the orders. */
void order_storage_add(struct order_storage *s, struct order_storage_part part);
/* The number of bits of a number from 0 to `most`. */
uint32_t order_storage_width(uint64_t most);

#endif
