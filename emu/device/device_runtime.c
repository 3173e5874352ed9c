/* The functions of CUDA's device runtime: vprintf, malloc, free and __assertfail. Calls of launches are in
 * child_grids.c, calls of files in file_calls.c. A program that uses malloc or free runs its CTAs on one host thread
 * (emu/lower/flow.c), so addresses do not depend on the number of threads. */
#include "emu/sched/control.h"

#include "base/buf.h"
#include "emu/device/child_grids.h"
#include "emu/device/file_calls.h"
#include "emu/sched/launch.h"
#include "emu/sched/notify.h"
#include "ptx/ptx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_TEXT = 4096,  /* bytes of a format or of a string that is printed */
    MOST_WIDTH = 1024, /* of a field */
};

/* Up to 8 bytes of an argument in memory, from a byte on. */
static u64 bytes_of(const struct emu_group *g, const struct pass *p, u32 from, u32 w, u32 lane)
{
    u64 v = 0;
    for (u32 i = 0; i + from < p->size && i < 8; i++) {
        u32 at = p->local + from + i;
        v |= (u64)g->local[((size_t)(at / 4) * ROW + w * LANES + lane) * 4 + at % 4] << 8 * i;
    }
    return v;
}

/* The bytes of an argument of a lane, as a number. */
static u64 argument(const struct emu_group *g, const struct pass *p, u32 w, u32 lane)
{
    if (p->in_reg) return emu_get(g, p->row_bytes == 16 ? 8 : p->row_bytes, p->row, w, lane);
    return bytes_of(g, p, 0, w, lane);
}

static void result(struct emu_group *g, const struct pass *p, u32 w, u32 lane, u64 value)
{
    if (p->in_reg) {
        emu_put(g, p->row_bytes == 16 ? 8 : p->row_bytes, p->row, w, lane, value);
        return;
    }
    for (u32 i = 0; i < p->size && i < 8; i++) {
        u32 at = p->local + i;
        g->local[((size_t)(at / 4) * ROW + w * LANES + lane) * 4 + at % 4] = (u8)(value >> 8 * i);
    }
}

struct caller {
    struct emu_group *g;
    const struct emu_uop *in;
    u32 w, lane;
};

static bool read_text(const struct caller *c, u64 address, struct buf *b)
{
    if (!address) {
        buf_puts(b, "(null)");
        return true;
    }
    for (u32 n = 0; n < MOST_TEXT; n++) {
        char ch;
        if (!emu_lane_read(c->g, c->in, c->w, c->lane, PTX_SPACE_GENERIC, address + n, 1, &ch))
            return false;
        emu_charge(c->g, 1);
        if (!ch) return true;
        buf_putc(b, ch);
    }
    return true;
}

struct varargs { /* what printf is given behind the format */
    u64 at, taken;
};

/* The next one, of 4 or 8 bytes. */
static bool take_argument(const struct caller *c, struct varargs *args, u32 size, u64 *out)
{
    const u64 at = (args->at + size - 1) & ~(u64)(size - 1);
    *out = 0;
    args->at = at + size;
    args->taken++;
    return emu_lane_read(c->g, c->in, c->w, c->lane, PTX_SPACE_GENERIC, at, size, out);
}

/* A decimal number of a field, or `*`: an argument. */
static bool number(const struct caller *c, const char **f, struct varargs *args, int *out)
{
    *out = 0;
    if (**f == '*') {
        ++*f;
        u64 v;
        if (!take_argument(c, args, 4, &v)) return false;
        *out = (i32)v > MOST_WIDTH ? MOST_WIDTH : (i32)v < -MOST_WIDTH ? -MOST_WIDTH : (i32)v;
        return true;
    }
    while (**f >= '0' && **f <= '9') {
        if (*out < MOST_WIDTH) *out = *out * 10 + (**f - '0');
        ++*f;
    }
    if (*out > MOST_WIDTH) *out = MOST_WIDTH;
    return true;
}

/* A conversion of a format: `%-8.3lld`. */
struct conversion {
    char spec[64]; /* the same for the host's printf, up to the precision */
    size_t length; /* of spec */
    char kind;     /* the last letter; 0: the format ends before it */
    bool wide;     /* l, j, z or t: an integer of 8 bytes */
    unsigned cut;  /* upper bits of 32 that h (16) and hh (24) remove */
};

/* Reads the conversion at the % sign and moves *format behind it. false: an argument could not be read. */
static bool read_conversion(const struct caller *c, const char **format, struct varargs *args,
                            struct conversion *k)
{
    const char *f = *format + 1;
    *k = (struct conversion){.spec = "%", .length = 1};
    while (*f && strchr("-+ #0", *f)) {
        if (k->length < 8) k->spec[k->length++] = *f;
        f++;
    }
    int width = 0, precision = -1;
    if (!number(c, &f, args, &width)) return false;
    if (width < 0) {
        k->spec[k->length++] = '-';
        width = -width;
    }
    if (*f == '.') {
        f++;
        if (!number(c, &f, args, &precision)) return false;
    }
    for (; *f && strchr("hljztL", *f); f++) {
        k->wide |= *f == 'l' || *f == 'j' || *f == 'z' || *f == 't';
        if (*f == 'h') k->cut = k->cut ? 24 : 16;
    }
    k->kind = *f;
    *format = f + (*f != 0);
    if (width)
        k->length += (size_t)snprintf(k->spec + k->length, sizeof k->spec - k->length, "%d", width);
    if (precision >= 0)
        k->length += (size_t)snprintf(k->spec + k->length, sizeof k->spec - k->length, ".%d",
                                      precision);
    return true;
}

/* As the C library of the host formats it (CUDA programming guide), in the program's locale. */
static void print_float(const char *spec, double d, struct buf *out)
{
    const int n = snprintf(NULL, 0, spec, d);
    char *text = n < 0 ? NULL : malloc((size_t)n + 1);
    if (!text) return;
    (void)snprintf(text, (size_t)n + 1, spec, d);
    buf_puts(out, text);
    free(text);
}

static void print_integer(const struct conversion *k, u64 v, struct buf *out)
{
    char spec[80];
    snprintf(spec, sizeof spec, "%sll%c", k->spec, k->kind);
    if (!k->wide) v = (u32)v << k->cut >> k->cut;
    if (k->kind != 'd' && k->kind != 'i') buf_printf(out, spec, (unsigned long long)v);
    else
        buf_printf(out, spec,
                   k->wide ? (long long)(i64)v : (long long)((i32)((u32)v << k->cut) >> k->cut));
}

/* One conversion, at the % sign. false: an argument or a text could not be read. */
static bool convert(const struct caller *c, const char **format, struct varargs *args,
                    struct buf *out)
{
    struct conversion k;
    if (!read_conversion(c, format, args, &k)) return false;
    if (k.kind == '%') {
        buf_putc(out, '%');
        return true;
    }
    if (!k.kind || !strchr("diouxXcpseEfFgGaA", k.kind)) {
        buf_puts(out, "(invalid format)");
        return true;
    }
    const bool is_float = strchr("eEfFgGaA", k.kind) != NULL;
    u64 v;
    if (!take_argument(c, args, is_float || k.kind == 's' || k.kind == 'p' || k.wide ? 8 : 4, &v))
        return false;
    char spec[80];
    snprintf(spec, sizeof spec, "%s%c", k.spec, k.kind);
    if (is_float) {
        double d;
        memcpy(&d, &v, sizeof d);
        print_float(spec, d, out);
    } else if (k.kind == 's') {
        struct buf text = {0};
        const bool ok = read_text(c, v, &text);
        if (ok) buf_printf(out, spec, text.data ? text.data : "");
        buf_free(&text);
        return ok;
    } else if (k.kind == 'c') buf_printf(out, spec, (int)(u8)v);
    else if (k.kind == 'p') buf_printf(out, "0x%" PRIx64, v);
    else print_integer(&k, v, out);
    return true;
}

/* `count`: of the arguments that were used. */
static bool print(const struct caller *c, u64 format, u64 at, u64 *count)
{
    struct buf f = {0}, out = {0};
    struct varargs args = {.at = at};
    bool ok = read_text(c, format, &f);
    for (const char *p = f.data; ok && p && *p;) {
        if (*p == '%') ok = convert(c, &p, &args, &out);
        else buf_putc(&out, *p++);
    }
    *count = args.taken;
    emu_charge(c->g, out.size / 8);
    if (ok && out.size) emu_print(c->g, out.data, out.size);
    buf_free(&f);
    buf_free(&out);
    return ok;
}

static const struct emu_uop *fail_assert(const struct caller *c, const struct call_desc *d)
{
    u64 v[5] = {0};
    for (u32 i = 0; i < d->arg_count && i < 5; i++)
        v[i] = argument(c->g, &d->args[i], c->w, c->lane);
    struct buf message = {0}, file = {0}, function = {0};
    const struct emu_uop *next = NULL;
    if (read_text(c, v[0], &message) && read_text(c, v[1], &file) && read_text(c, v[3], &function))
        next = emu_raise(c->g, c->in, EMU_ASSERT, c->w, c->lane, 0, 0,
                         "%s:%u: %s: Assertion `%s' failed.", file.data ? file.data : "", (u32)v[2],
                         function.data ? function.data : "", message.data ? message.data : "");
    buf_free(&message);
    buf_free(&file);
    buf_free(&function);
    return next;
}

/* A call of the part that child_grids.c has: numbers and dim3s in separate arrays. */
static bool call_grids(const struct caller *c, const struct call_desc *d, u64 *value)
{
    u64 arg[6] = {0};
    u32 dim[2][3] = {{0}}, dims = 0;
    for (u32 i = 0; i < d->arg_count && i < 6; i++) {
        const struct pass *p = &d->args[i];
        arg[i] = argument(c->g, p, c->w, c->lane);
        if (p->in_reg || p->size != 12 || dims == 2) continue;
        for (u32 k = 0; k < 3; k++) dim[dims][k] = (u32)bytes_of(c->g, p, 4 * k, c->w, c->lane);
        dims++;
    }
    return grids_call(c->g, c->in, c->w, c->lane, d->runtime, arg, (const u32(*)[3])dim, value);
}

static bool call_file(const struct caller *c, const struct call_desc *d, u64 *value)
{
    u64 arg[4] = {0};
    for (u32 i = 0; i < d->arg_count && i < 4; i++)
        arg[i] = argument(c->g, &d->args[i], c->w, c->lane);
    return file_call(c->g, c->in, c->w, c->lane, d->runtime, arg, value);
}

const struct emu_uop *emu_op_call_runtime(struct emu_group *g, const struct emu_uop *in)
{
    const struct call_desc *d = in->ext;
    if (!emu_notify_single_warp(g, in)) return NULL;
    if (g->worker->machine->steps.watched &&
        !emu_notify_sync(g, in, &(struct emu_sync){.kind = EMU_SYNC_RUNTIME}))
        return NULL;
    for (u32 w = 0; w < g->warps; w++)
        for (u32 m = g->exec[w]; m; m &= m - 1) {
            struct caller c = {g, in, w, (u32)__builtin_ctz(m)};
            u64 a = d->arg_count > 0 ? argument(g, &d->args[0], w, c.lane) : 0;
            u64 b = d->arg_count > 1 ? argument(g, &d->args[1], w, c.lane) : 0, value = 0;
            switch (d->runtime) {
            case RUNTIME_VPRINTF:
                if (!print(&c, a, b, &value)) return NULL;
                break;
            case RUNTIME_MALLOC:
                value = launch_heap_alloc(g, in, w, c.lane, a);
                if (value) emu_charge(g, a / 64); /* it is cleared */
                break;
            case RUNTIME_FREE:
                if (a && !launch_heap_free(g, in, w, c.lane, a)) return NULL;
                break;
            case RUNTIME_ASSERTFAIL: return fail_assert(&c, d);
            default:
                if (!(d->runtime < RUNTIME_GRIDS ? call_file : call_grids)(&c, d, &value))
                    return NULL;
            }
            if (d->result_count) result(g, &d->results[0], w, c.lane, value);
        }
    return in + 1;
}
