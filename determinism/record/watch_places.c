/* Watched places: reading the text, finding the allocation, printing a write. */
#include "determinism/record/watch_places.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

bool watch_place_has_name(const struct watch_place *x, const char *name)
{
    return name && strlen(name) == x->name.length &&
           memcmp(x->name.text, name, x->name.length) == 0;
}

bool watch_place_is_address(const struct watch_place *x)
{
    return x->name.length > 2 && memcmp(x->name.text, "0x", 2) == 0;
}

/* ---- reading
 * -------------------------------------------------------------------------------------------- */

static struct piece cut(struct piece p, uint32_t from, uint32_t to)
{
    return (struct piece){p.text + from, to - from, p.at + from};
}

static bool read_index(struct watch_place *x, struct piece p, struct diags *d)
{
    uint32_t dots = 0;
    while (dots + 2 <= p.length && memcmp(p.text + dots, "..", 2) != 0) dots++;
    const bool range = dots + 2 <= p.length;
    x->indexed = true;
    if (!number_read(d, "--watch", cut(p, 0, range ? dots : p.length), UINT64_MAX / 64, &x->first))
        return false;
    x->last = x->first;
    if (!range) return true;
    const struct piece last = cut(p, dots + 2, p.length);
    if (!number_read(d, "--watch", last, UINT64_MAX / 64, &x->last)) return false;
    if (x->last >= x->first) return true;
    diag_error(d, p.at, p.length, "a range is FIRST..LAST, both included");
    return false;
}

bool watch_place_read(struct watch_place *x, struct piece p, struct diags *d)
{
    *x = (struct watch_place){.where = p};
    uint32_t end = p.length;
    for (uint32_t i = end; i-- > 0 && p.text[i] != ']';)
        if (p.text[i] == ':') {
            x->type = value_type_find(p.text + i + 1, end - i - 1);
            if (!x->type) {
                diag_error(d, p.at + i + 1, end - i - 1, "'%.*s' is not a type: %s",
                           (int)(end - i - 1), p.text + i + 1, value_type_names());
                return false;
            }
            end = i;
            break;
        }
    if (end && p.text[end - 1] == ']') {
        uint32_t open = end - 1;
        while (open && p.text[open] != '[') open--;
        if (p.text[open] == '[') {
            if (!read_index(x, cut(p, open + 1, end - 1), d)) return false;
            end = open;
        }
    }
    x->name = cut(p, 0, end);
    if (!end) diag_error(d, p.at, p.length, "--watch wants ADDRESS or NAME, [INDEX], :TYPE");
    if (!end) return false;
    return !watch_place_is_address(x) ||
           number_read(d, "--watch", x->name, UINT64_MAX / 2, &x->address);
}

/* ---- finding
 * ---------------------------------------------------------------------------------------------- */

bool watch_place_find(const struct watch_place *x, struct emu *e, size_t *from,
                      struct watch_range *t)
{
    struct emu_allocation a;
    if (watch_place_is_address(x)) {
        if ((*from)++ || !emu_allocation_near(e, x->address, &a) || !a.live ||
            x->address < a.address || x->address - a.address >= a.size)
            return false;
        *t = (struct watch_range){x->address, a.size - (x->address - a.address), NULL};
        return true;
    }
    while (*from < emu_allocation_count(e)) {
        a = emu_allocation_at(e, (*from)++);
        if (!watch_place_has_name(x, a.name)) continue;
        *t = (struct watch_range){a.address, a.size, NULL};
        return true;
    }
    return false;
}

bool watch_place_begin(struct watch_place *x, const struct watch_range *t, struct writes *w,
                       struct diags *d)
{
    const struct piece p = x->where;
    if (!x->type) x->type = t->type ? t->type : value_type_find("u32", 3);
    const uint64_t count = t->size / x->type->bytes;
    uint64_t last = x->last;
    x->found = true;
    x->address = t->address;
    if (!x->indexed && !watch_place_is_address(x)) last = count ? count - 1 : 0;
    if (last >= count) {
        diag_error(d, p.at, p.length,
                   "element %" PRIu64 " is not in '%.*s', which has %" PRIu64 " of type %s", last,
                   (int)x->name.length, x->name.text, count, x->type->name);
        return false;
    }
    if (last > x->last) x->last = last;
    if (writes_add(w, t->address + x->first * x->type->bytes, x->type->bytes, last - x->first + 1))
        return true;
    diag_error(d, p.at, p.length, "all that is watched has at most %d MiB",
               WRITES_MOST_BYTES >> 20);
    return false;
}

void watch_place_report_missing(const struct watch_place *x, struct emu *e, struct diags *d)
{
    struct text_nearest near = {.text = x->name.text, .length = x->name.length};
    for (size_t k = 0; e && k < emu_allocation_count(e); k++)
        text_nearest_try(&near, emu_allocation_at(e, k).name);
    if (watch_place_is_address(x)) {
        diag_error(d, x->where.at, x->where.length,
                   "nothing was allocated at %.*s when a kernel ran", (int)x->name.length,
                   x->name.text);
        return;
    }
    diag_error(d, x->where.at, x->where.length,
               "nothing to watch is called '%.*s': a buffer, a module variable or an "
               "allocation as reports name it",
               (int)x->name.length, x->name.text);
    if (near.best) diag_note(d, x->where.at, x->where.length, "did you mean '%s'?", near.best);
}

/* ---- printing
 * ---------------------------------------------------------------------------------------------- */

void watch_place_label(const struct watch_place *x, uint64_t element, struct buf *out)
{
    buf_add(out, x->name.text, x->name.length);
    if (x->last || x->indexed) buf_printf(out, "[%" PRIu64 "]", x->first + element);
}

void watch_place_print(const struct watch_place *x, const struct write *e, struct buf *out)
{
    watch_place_label(x, e->element, out);
    buf_puts(out, ": ");
    value_print(x->type, value_load(x->type, e->before), out);
    buf_puts(out, " -> ");
    value_print(x->type, value_load(x->type, e->after), out);
    if (e->kind == WRITE_BY_HOST)
        buf_printf(out, ", by the host before launch %" PRIu64 " of kernel '%s'\n", e->launch,
                   e->kernel);
    else {
        buf_printf(out, ", %s%s%s by ", write_kind_names[e->kind], e->op ? " " : "",
                   e->op ? e->op : "");
        if (e->thread_known)
            buf_printf(out, "thread (%u,%u,%u)", e->thread[0], e->thread[1], e->thread[2]);
        else buf_printf(out, "warp %u", e->warp);
        buf_printf(out, " of CTA (%u,%u,%u), launch %" PRIu64 " of kernel '%s', ", e->cta[0],
                   e->cta[1], e->cta[2], e->launch, e->kernel);
        if (strcmp(e->where.function, e->kernel) != 0)
            buf_printf(out, "function '%s', ", e->where.function);
        buf_printf(out, "PTX line %u", e->where.line);
        if (e->where.source_file)
            buf_printf(out, " (%s:%u)", e->where.source_file, e->where.source_line);
        buf_putc(out, '\n');
    }
}
