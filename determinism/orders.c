/* Memory orders by name, and their options. */
#define _GNU_SOURCE
#include "determinism/orders.h"

#include "base/buf.h"
#include "base/text.h"
#include "determinism/dab/dab.h"
#include "determinism/gpudet/gpudet.h"
#include "determinism/random.h"
#include "determinism/storage.h"
#include "emu/counts.h"
#include "emu/order.h"

#include <stdlib.h>
#include <string.h>

struct orders {
    const struct order_kind *kind;
    struct emu_order *order;
    struct emu_number *options;
    char *text;
    uint64_t seed;
    struct orders *inner; /* emu_order.nested; NULL: it was not needed yet */
};

static struct emu_order *make_none(const void *options, uint64_t seed)
{
    (void)options, (void)seed;
    return NULL;
}

static enum order_promise promise_all(const void *options)
{
    (void)options;
    return ORDER_STRONG;
}

static const struct order_kind native = {
    .name = "native",
    .what = "CTAs in linear order, the same interleaving every time: the fastest",
    .promise = promise_all,
    .make = make_none,
};
static const struct order_kind *const kinds[] = {&native, &random_kind, &gpudet_kind, &dab_kind};

const char *const order_off_on[] = {"off", "on", NULL};

const struct order_kind *order_kind_at(size_t i)
{
    return i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

struct word {
    const char *text;
    size_t length;
};

static bool is(struct word w, const char *name)
{
    return strlen(name) == w.length && memcmp(name, w.text, w.length) == 0;
}

/* Up to `mark` or the end; moves *p behind it. */
static struct word word_until(const char **p, char mark)
{
    const char *end = strchr(*p, mark);
    struct word w = {*p, end ? (size_t)(end - *p) : strlen(*p)};
    *p += w.length + (end != NULL);
    return w;
}

static const struct order_kind *find_kind(struct word w, struct buf *why)
{
    struct text_nearest near = {.text = w.text, .length = w.length};
    for (size_t i = 0; order_kind_at(i); i++) {
        if (is(w, order_kind_at(i)->name)) return order_kind_at(i);
        text_nearest_try(&near, order_kind_at(i)->name);
    }
    buf_printf(why, "there is no order '%.*s'; there are ", (int)w.length, w.text);
    for (size_t i = 0; order_kind_at(i); i++)
        buf_printf(why, "%s%s", i ? ", " : "", order_kind_at(i)->name);
    if (near.best) buf_printf(why, "; did you mean '%s'?", near.best);
    return NULL;
}

static const struct order_option *find_option(const struct order_kind *k, struct word w,
                                              struct buf *why)
{
    struct text_nearest near = {.text = w.text, .length = w.length};
    for (size_t i = 0; i < k->option_count; i++) {
        if (is(w, k->options[i].name)) return &k->options[i];
        text_nearest_try(&near, k->options[i].name);
    }
    buf_printf(why, "order %s has no option '%.*s'", k->name, (int)w.length, w.text);
    for (size_t i = 0; i < k->option_count; i++)
        buf_printf(why, "%s%s", i ? ", " : "; it has ", k->options[i].name);
    if (near.best) buf_printf(why, "; did you mean '%s'?", near.best);
    return NULL;
}

static bool read_number(struct word w, uint32_t *out)
{
    uint64_t n = 0;
    for (size_t i = 0; i < w.length; i++) {
        if (w.text[i] < '0' || w.text[i] > '9' || n > UINT32_MAX) return false;
        n = 10 * n + (uint64_t)(w.text[i] - '0');
    }
    *out = (uint32_t)n;
    return w.length && n <= UINT32_MAX;
}

static bool read_value(const struct order_kind *k, const struct order_option *o, struct word w,
                       uint32_t *out, struct buf *why)
{
    for (uint32_t i = 0; o->words && o->words[i]; i++)
        if (is(w, o->words[i])) {
            *out = i;
            return true;
        }
    if (!o->words && read_number(w, out) && *out >= o->least && *out <= o->most) return true;
    buf_printf(why, "%s of order %s is ", o->name, k->name);
    for (uint32_t i = 0; o->words && o->words[i]; i++)
        buf_printf(why, "%s%s", !i ? "" : o->words[i + 1] ? ", " : " or ", o->words[i]);
    if (!o->words) buf_printf(why, "a number from %u to %u", o->least, o->most);
    buf_printf(why, ", not '%.*s'", (int)w.length, w.text);
    return false;
}

static uint32_t *value_of(void *options, const struct order_option *o)
{
    return (uint32_t *)(void *)((char *)options + o->offset);
}

/* The options of a text, to be freed; NULL: something is wrong with it. */
static void *read_order(const char *text, const struct order_kind **kind, struct buf *why)
{
    const char *const all = text;
    const struct order_kind *k = *kind = find_kind(word_until(&text, ':'), why);
    if (!k) return NULL;
    if (all[strlen(all) - 1] == ':') buf_printf(why, "there is no option behind '%s'", all);
    void *options = calloc(1, k->size ? k->size : 1);
    if (!options) abort();
    uint64_t given = 0;
    for (size_t i = 0; i < k->option_count; i++)
        *value_of(options, &k->options[i]) = k->options[i].preset;
    while (*text && !why->size) {
        struct word value = word_until(&text, ':');
        const char *p = value.text, *equals = memchr(p, '=', value.length);
        const struct word name = {p, equals ? (size_t)(equals - p) : value.length};
        const struct order_option *o = find_option(k, name, why);
        if (!o) break;
        const uint64_t bit = UINT64_C(1) << (o - k->options);
        value = equals ? (struct word){equals + 1, value.length - name.length - 1}
                       : (struct word){"", 0};
        if (given & bit) buf_printf(why, "%s of order %s is given twice", o->name, k->name);
        else read_value(k, o, value, value_of(options, o), why);
        given |= bit;
    }
    char *conflict = why->size || !k->conflict ? NULL : k->conflict(options);
    if (conflict) buf_puts(why, conflict);
    free(conflict);
    if (!why->size) return options;
    free(options);
    return NULL;
}

static char *take(struct buf *b)
{
    char *text = b->size ? strdup(b->data) : NULL;
    buf_free(b);
    return text;
}

char *orders_check(const char *text, const struct order_kind **kind)
{
    struct buf why = {0};
    const struct order_kind *k;
    free(read_order(text, &k, &why));
    if (kind) *kind = k;
    return take(&why);
}

enum order_promise orders_promise(const char *text)
{
    struct buf why = {0};
    const struct order_kind *k;
    void *options = read_order(text, &k, &why);
    enum order_promise p = options && k->promise ? k->promise(options) : ORDER_NO_PROMISE;
    free(options);
    buf_free(&why);
    return p;
}

char *orders_storage(const char *text, const struct emu_gpu *gpu, struct order_storage *out)
{
    struct buf why = {0};
    const struct order_kind *k;
    void *options = read_order(text, &k, &why);
    *out = (struct order_storage){.units = {[STORAGE_SM] = gpu->sms, [STORAGE_BORROWED] = 1}};
    if (options && k->storage) k->storage(options, gpu, out);
    free(options);
    return take(&why);
}

/* To those who reckon its time. */
static void tell_options(struct orders *o, const void *options)
{
    const struct order_kind *k = o->kind;
    o->options = calloc(k->option_count + 1, sizeof *o->options);
    if (!o->options) abort();
    for (size_t i = 0; i < k->option_count; i++)
        o->options[i] = (struct emu_number){
            k->options[i].name, *(const uint32_t *)((const char *)options + k->options[i].offset)};
    o->order->options = o->options;
    o->order->option_count = k->option_count;
}

static const struct emu_order *nested(void *of)
{
    struct orders *o = of;
    char *why = NULL;
    if (!o->inner) o->inner = orders_new(o->text, o->seed * UINT64_C(0x5851f42d4c957f2d) + 1, &why);
    free(why);
    return orders_get(o->inner);
}

struct orders *orders_new(const char *text, uint64_t seed, char **why)
{
    struct buf wrong = {0};
    const struct order_kind *k = order_kind_at(0);
    void *options = text ? read_order(text, &k, &wrong) : NULL;
    struct emu_order *order = options ? k->make(options, seed) : NULL;
    *why = take(&wrong);
    struct orders *o = order ? calloc(1, sizeof *o) : NULL;
    if (order) {
        if (!o) abort();
        o->kind = k;
        o->order = order;
        order->stack_only = k->stack_only;
        tell_options(o, options);
        o->seed = seed;
        o->text = strdup(text);
        if (!o->text) abort();
        if (k->nests) order->nested = nested;
        order->nested_of = o;
    }
    free(options);
    return o;
}

void orders_free(struct orders *o)
{
    if (!o) return;
    orders_free(o->inner);
    free(o->text);
    o->kind->free(o->order);
    free(o->options);
    free(o);
}

const struct emu_order *orders_get(const struct orders *o)
{
    return o ? o->order : NULL;
}

uint64_t orders_execution(const struct emu_order *o)
{
    const struct order_kind *k;
    for (size_t i = 0; o && (k = order_kind_at(i)); i++)
        if (k->name == o->name && k->execution) return k->execution(o);
    return ORDER_EXECUTION_UNKNOWN;
}

void order_option_print(struct buf *out, const struct order_option *o, uint32_t value)
{
    if (o->words) buf_puts(out, o->words[value]);
    else buf_printf(out, "%u", value);
}
