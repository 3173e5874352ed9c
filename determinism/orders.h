/* determinism/orders.h: the memory orders by name, for the code that launches kernels.
 *
 * An order is written as one word: its name, then each option that differs from its preset, behind a colon:
 *
 *     native     random:strategy=pct     gpudet:quantum=1000:bta=off
 *
 *     struct orders *o = orders_new("gpudet", 7, &why);     // or NULL, and why not
 *     config.order = orders_get(o);                         // each launch draws from where the last one stopped
 *     ...
 *     orders_free(o); */
#ifndef HEDDLE_DETERMINISM_ORDERS_H
#define HEDDLE_DETERMINISM_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct emu_gpu;
struct emu_order;
struct order_storage;

struct order_option { /* of an order */
    const char *name, *what;
    size_t offset; /* of a uint32_t in the order's struct of options */
    const char *const
        *words; /* its values by name, from 0 on, NULL behind them; NULL: it is a number */
    uint32_t least, most; /* of a number */
    uint32_t preset;
};
extern const char *const order_off_on[]; /* the words of a switch: "off", "on" */

/* what it guarantees a program for every seed */
enum order_promise {
    ORDER_NO_PROMISE,
    ORDER_WEAK,   /* weak determinism: the same bits if it is free of races and strongly atomic */
    ORDER_STRONG, /* strong determinism: the same bits */
};

struct order_kind {
    const char *name, *what;
    const struct order_option *options;
    size_t option_count;
    size_t size;     /* of its struct of options */
    bool stack_only; /* not with independent thread scheduling: emu_order.stack_only */
    bool
        nests; /* what its warps have stored is in memory when they call the device runtime: emu_order.nested */
    bool
        recorded; /* determinism/record/record.h can: it deals no CTAs, puts no warps to rest and lets no time run out */
    /* Why these options do not go together: a message to be freed, which names them. NULL: they do. May be NULL. */
    char *(*conflict)(const void *options);
    /* What it guarantees with these options: some of them break the guarantee. NULL: nothing. */
    enum order_promise (*promise)(const void *options);
    /* Adds the parts of its hardware (determinism/storage.h); `out` has the GPU's units. NULL: it has none. */
    void (*storage)(const void *options, const struct emu_gpu *gpu, struct order_storage *out);
    /* NULL: the launch goes without one (native). */
    struct emu_order *(*make)(const void *options, uint64_t seed);
    void (*free)(struct emu_order *o);
    uint64_t (*execution)(
        const struct emu_order *o); /* orders_execution; NULL: it is never known */
};

/* "native" first; NULL: there are no more. */
const struct order_kind *order_kind_at(size_t i);

struct orders; /* an order, with what it draws from */

/* NULL for native (`*why` NULL), or for a text that is no order: then `*why` says what is wrong, to be freed.
 * NULL as text stands for the first kind. */
struct orders *orders_new(const char *text, uint64_t seed, char **why);
void orders_free(struct orders *o);                         /* NULL is allowed */
const struct emu_order *orders_get(const struct orders *o); /* NULL gives NULL */

enum { ORDER_EXECUTION_UNKNOWN, ORDER_CONFLICT_FREE };
/* Which execution the launches so far were: equal numbers if conflicting accesses came in the same order (views_execution).
 * ORDER_CONFLICT_FREE: all launches were speculated as free of conflicts, so that no order of accesses has another result.
 * `o` is what orders_get() has given, or another order or NULL: then it is unknown. */
uint64_t orders_execution(const struct emu_order *o);

/* What is wrong with the text, to be freed; NULL: nothing. `kind` may be NULL. */
char *orders_check(const char *text, const struct order_kind **kind);

/* Of a text that is an order. */
enum order_promise orders_promise(const char *text);

/* The options' values as they are in a text, presets among them: "strategy=any late-stores=on". */
void order_option_print(struct buf *out, const struct order_option *o, uint32_t value);

#endif
