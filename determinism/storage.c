/* Sums of the storage of orders. */
#include "determinism/storage.h"

#include <stdlib.h>

void order_storage_add(struct order_storage *s, struct order_storage_part part)
{
    if (s->count == ORDER_STORAGE_PARTS) abort();
    s->parts[s->count++] = part;
}

uint32_t order_storage_width(uint64_t most)
{
    uint32_t bits = 0;
    for (; most; most >>= 1) bits++;
    return bits;
}

uint64_t order_storage_bits(const struct order_storage *s, enum order_storage_where where)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->parts[i].where == where) bits += s->parts[i].entries * s->parts[i].bits;
    return bits;
}
