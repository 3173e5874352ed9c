/* determinism/orders.h: the memory orders by name, for those who launch. */
#ifndef HEDDLE_DETERMINISM_ORDERS_H
#define HEDDLE_DETERMINISM_ORDERS_H

#include "determinism/random.h"

#include <stddef.h>

/* The orders' names, "native" first, and the strategies' of "random", "any" first; NULL: there are no more. */
const char *order_name(size_t i);
const char *order_strategy_name(size_t i);

struct orders; /* an order, with what it draws from */

/* NULL for native, which needs none; NULL as a name stands for the first. The names must be known. */
struct orders *orders_new(const char *name, const char *strategy, uint64_t seed);
void orders_free(struct orders *o);                   /* NULL is allowed */
const struct emu_order *orders_get(struct orders *o); /* NULL gives NULL */

#endif
