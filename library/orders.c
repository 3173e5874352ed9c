/* heddle.h: memory orders by name. */
#include "heddle.h"

#include "base/buf.h"
#include "determinism/orders.h"

#include <stdio.h>

size_t heddle_order_count(void)
{
    size_t n = 0;
    while (order_kind_at(n)) n++;
    return n;
}

struct heddle_order heddle_order(size_t i)
{
    const struct order_kind *k = order_kind_at(i);
    return (struct heddle_order){k->name, k->what, k->option_count};
}

struct heddle_order_option heddle_order_option(size_t order, size_t i)
{
    static _Thread_local char values[256], preset[32];
    const struct order_option *o = &order_kind_at(order)->options[i];
    struct buf list = {0}, first = {0};
    for (size_t w = 0; o->words && o->words[w]; w++)
        buf_printf(&list, "%s%s", w ? ", " : "", o->words[w]);
    if (!o->words) buf_printf(&list, "%u to %u", o->least, o->most);
    order_option_print(&first, o, o->preset);
    snprintf(values, sizeof values, "%s", list.data);
    snprintf(preset, sizeof preset, "%s", first.data);
    buf_free(&list);
    buf_free(&first);
    return (struct heddle_order_option){o->name, o->what, values, preset};
}

char *heddle_order_check(const char *order)
{
    return orders_check(order, NULL);
}
