/* determinism/orders.h: the memory orders by name, for the code that launches kernels.
 *
 * The text form of an order is its name, followed by each option that differs from its preset, after a colon:
 *
 *     native     random:strategy=pct     gpudet:quantum=1000:bta=off
 *
 *     struct orders *o = orders_new("gpudet", 7, &why);     // NULL: an error (why), or native
 *     config.order = orders_get(o);                         // all launches share one sequence of random numbers
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

struct order_option { /* an option of an order */
    const char *name, *what;
    size_t offset; /* offset of its uint32_t in the order's struct of options */
    const char *const
        *words; /* Names of its values, from 0 on, ending in NULL. NULL: the option is a number. */
    uint32_t least, most; /* range of a number */
    uint32_t preset;
};
extern const char *const order_off_on[]; /* the words of a switch: "off", "on" */

/* what an order guarantees for every seed */
enum order_promise {
    ORDER_NO_PROMISE,
    /* weak determinism: the same bits for programs that are race-free and strongly atomic */
    ORDER_WEAK,
    ORDER_STRONG, /* strong determinism: the same bits for all programs */
};

struct order_kind {
    const char *name, *what;
    const struct order_option *options;
    size_t option_count;
    size_t size;     /* size of its struct of options, bytes */
    bool stack_only; /* the order needs the SIMT stack: emu_order.stack_only */
    /* Stores of a warp are in memory when it calls the device runtime, so child grids can run nested:
     * emu_order.nested. */
    bool nests;
    /* determinism/record/record.h can record it: the order has no place_any(), and does not call emu_machine_sleep or
     * emu_machine_time_out. */
    bool recorded;
    /* A message about options that exclude each other, which the caller frees. NULL: the options are compatible. The
     * callback may be NULL. */
    char *(*conflict)(const void *options);
    /* The guarantee with these options; some options break it. NULL: ORDER_NO_PROMISE. */
    enum order_promise (*promise)(const void *options);
    /* Adds the parts of its hardware (determinism/storage.h); out->units is set. NULL: the order has no hardware. */
    void (*storage)(const void *options, const struct emu_gpu *gpu, struct order_storage *out);
    /* NULL: launches have no order (native). */
    struct emu_order *(*make)(const void *options, uint64_t seed);
    void (*free)(struct emu_order *o);
    uint64_t (*execution)(
        const struct emu_order *o); /* For orders_execution. NULL: always unknown. */
};

/* The i-th kind of order; the first is "native". NULL: there are no more. */
const struct order_kind *order_kind_at(size_t i);

struct orders; /* an order with the state of its random numbers */

/* NULL for native (*why is NULL), or for an invalid text: then *why is an error message, which the caller frees. text
 * NULL: the first kind. */
struct orders *orders_new(const char *text, uint64_t seed, char **why);
void orders_free(struct orders *o);                         /* NULL is allowed */
const struct emu_order *orders_get(const struct orders *o); /* NULL gives NULL */

enum { ORDER_EXECUTION_UNKNOWN, ORDER_CONFLICT_FREE };
/* Identifies the execution of the launches so far: equal numbers if conflicting accesses came in the same order
 * (views_execution). ORDER_CONFLICT_FREE: all launches were found to be conflict-free, so that their results do not
 * depend on the order of accesses. `o`: a result of orders_get(). For NULL and for any other order:
 * ORDER_EXECUTION_UNKNOWN. */
uint64_t orders_execution(const struct emu_order *o);

/* An error message about the text, which the caller frees; NULL: the text is valid. `kind` may be NULL. */
char *orders_check(const char *text, const struct order_kind **kind);

/* The guarantee of the order with that text, which must be valid. */
enum order_promise orders_promise(const char *text);

/* Appends the value of an option in text form: its name, or a number. */
void order_option_print(struct buf *out, const struct order_option *o, uint32_t value);

#endif
