/* Memory orders by name. */
#include "determinism/orders.h"

#include <stdlib.h>
#include <string.h>

struct orders {
    struct random_order *random;
};

static const char *const names[] = {"native", "random"};

const char *order_name(size_t i)
{
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const char *order_strategy_name(size_t i)
{
    return i < RANDOM_STRATEGIES ? random_strategy_name((enum random_strategy)i) : NULL;
}

struct orders *orders_new(const char *name, const char *strategy, uint64_t seed)
{
    struct random_options r = {.seed = seed};
    if (!name || strcmp(name, "native") == 0) return NULL;
    for (size_t i = 0; strategy && order_strategy_name(i); i++)
        if (strcmp(order_strategy_name(i), strategy) == 0) r.strategy = (enum random_strategy)i;
    struct orders *o = calloc(1, sizeof *o);
    if (!o) abort();
    o->random = random_new(&r);
    return o;
}

void orders_free(struct orders *o)
{
    if (o) random_free(o->random);
    free(o);
}

const struct emu_order *orders_get(struct orders *o)
{
    return o ? random_order(o->random) : NULL;
}
