/* Instructions and accesses as frames (emu/trace_events.h). docs/formats.md describes them.
 *
 * An access is written as the difference to the previous access of the same instruction, by any warp. The previous
 * accesses are reset at the beginning of a frame, so that each frame can be read by itself. */
#include "emu/trace_events.h"

#include "base/arena.h"
#include "emu/atomic.h"
#include "emu/machine_code.h"
#include "emu/measure/trace_code.h"
#include "emu/measure/trace_codec.h"
#include "emu/measure/trace_events.h"
#include "emu/trace.h"
#include "emu/trace_file.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

enum token {             /* the low three bits of a number */
             TOKEN_STEP, /* the warp issues so many instructions and one more, in a row */
             TOKEN_JUMP, /* signed: the distance to the instruction that it issues in place of the next one */
             TOKEN_MASK, /* a number follows: the warp's active lanes from now on */
             TOKEN_WARP, /* the warp in its CTA; signed: CTA, to the one before; number: SM */
             TOKEN_EXIT, /* signed: the CTA that ended, to that of the warp */
             TOKEN_SAME, /* an access like the one before of the instruction; signed: its address, to that one's */
             TOKEN_NEW, /* signed: the instruction, to the one that was issued last; a description follows */
             TOKENS
};
enum { TOKEN_BITS = 3, FRAME_FULL = 1 << 20 /* plain bytes of a frame; an event may go beyond */ };
enum form { FORM_ALL, FORM_STRIDE, FORM_CONTIGUOUS, FORMS };

struct site { /* the last access of an instruction in this frame */
    bool known;
    u8 kind, space, op, width, count, form;
    u32 lanes;
    u64 base, stride;
};
struct state { /* at the begin of a frame: no warp, all zero */
    bool warp_known;
    u32 cta, warp, sm;
    u32 next, lanes; /* the instruction that would be in sequence, the active lanes */
    struct site *sites;
    u32 site_count;
};

struct trace_events {
    FILE *file;
    bool failed;
    struct buf bytes;
    u64 steps; /* instructions in sequence that are not yet written */
    struct state s;
    u32 code; /* checksum of the code before; 0: none */
    u32 digest, frames;
    u64 instructions, accesses; /* of the launch */
};

static u64 zigzag(int64_t x)
{
    return (u64)x << 1 ^ (x < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(u64 x)
{
    return (int64_t)(x >> 1 ^ (x & 1 ? UINT64_MAX : 0));
}

static void forget(struct state *s)
{
    struct site *const sites = s->sites;
    const u32 n = s->site_count;
    if (n) memset(sites, 0, n * sizeof *sites);
    *s = (struct state){.sites = sites, .site_count = n};
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

struct trace_events *trace_events_new(FILE *file)
{
    struct trace_events *e = calloc(1, sizeof *e);
    if (!e) abort();
    e->file = file;
    return e;
}

static void put_token(struct trace_events *e, enum token t, u64 rest)
{
    put_number(&e->bytes, rest << TOKEN_BITS | t);
}

static void put_steps(struct trace_events *e)
{
    if (e->steps) put_token(e, TOKEN_STEP, e->steps - 1);
    e->steps = 0;
}

static void write_frame(struct trace_events *e, u8 type)
{
    const u32 crc = crc32c(crc32c(0, &type, 1), e->bytes.data, e->bytes.size);
    e->digest = type == TRACE_FRAME_EVENTS_BEGIN ? crc : e->digest * 31 + crc;
    e->failed |= !frame_write(e->file, type, &e->bytes);
}

static void write_events(struct trace_events *e)
{
    put_steps(e);
    if (e->bytes.size) write_frame(e, TRACE_FRAME_EVENTS), e->frames++;
    forget(&e->s);
}

void trace_events_begin(struct trace_events *e, const struct trace_launch *l)
{
    const struct emu_trace code = {
        .insts = l->insts, .inst_count = l->inst_count, .regs = l->regs, .reg_count = l->reg_count};
    trace_put_code(&e->bytes, &code);
    const u32 crc = crc32c(0, e->bytes.data, e->bytes.size);
    if (crc == e->code) buf_free(&e->bytes);
    else e->failed |= !frame_write(e->file, TRACE_FRAME_CODE, &e->bytes);
    buf_free(&e->bytes);
    e->code = crc;
    put_text(&e->bytes, l->kernel);
    put_number(&e->bytes, l->number);
    put_number(&e->bytes, l->stream);
    for (int i = 0; i < 3; i++) put_number(&e->bytes, l->grid[i]);
    for (int i = 0; i < 3; i++) put_number(&e->bytes, l->block[i]);
    put_number(&e->bytes, l->shared);
    put_number(&e->bytes, l->sms);
    put_number(&e->bytes, l->slots);
    for (u32 i = 0; i < l->inst_count; i++) put_number(&e->bytes, l->own[i]);
    write_frame(e, TRACE_FRAME_EVENTS_BEGIN);
    e->frames = 0;
    e->instructions = e->accesses = 0;
    free(e->s.sites);
    e->s = (struct state){.site_count = l->inst_count,
                          .sites = calloc((size_t)l->inst_count + 1, sizeof *e->s.sites)};
    if (!e->s.sites) abort();
}

static void put_warp(struct trace_events *e, const struct emu_warp *who)
{
    struct state *s = &e->s;
    if (s->warp_known && s->cta == who->cta && s->warp == who->warp && s->sm == who->sm) return;
    put_steps(e);
    put_token(e, TOKEN_WARP, who->warp);
    put_signed(&e->bytes, (int64_t)who->cta - s->cta);
    put_number(&e->bytes, who->sm);
    s->warp_known = true;
    s->cta = who->cta, s->warp = who->warp, s->sm = who->sm;
    s->next = 0, s->lanes = UINT32_MAX;
}

void trace_events_issue(struct trace_events *e, const struct emu_warp *who, u32 pc, u32 lanes)
{
    struct state *s = &e->s;
    if (e->bytes.size >= FRAME_FULL) write_events(e);
    put_warp(e, who);
    if (lanes != s->lanes) {
        put_steps(e);
        put_token(e, TOKEN_MASK, 0);
        put_number(&e->bytes, lanes);
        s->lanes = lanes;
    }
    if (pc == s->next) e->steps++;
    else {
        put_steps(e);
        put_token(e, TOKEN_JUMP, zigzag((int64_t)pc - s->next));
    }
    s->next = pc + 1;
    e->instructions++;
}

/* The addresses of these lanes as a base and a distance of lanes, if they are so. */
static bool is_regular(const struct emu_access *a, u64 *stride)
{
    const u32 first = (u32)__builtin_ctz(a->lanes);
    u32 m = a->lanes & (a->lanes - 1), before = first;
    *stride = 0;
    if (!m) return true;
    const u32 second = (u32)__builtin_ctz(m);
    const int64_t gap = (int64_t)(a->address[second] - a->address[first]);
    if (gap % (int64_t)(second - first)) return false;
    *stride = (u64)(gap / (int64_t)(second - first));
    for (; m; m &= m - 1) {
        const u32 l = (u32)__builtin_ctz(m);
        if (a->address[l] - a->address[before] != *stride * (l - before)) return false;
        before = l;
    }
    return true;
}

static struct site describe(const struct emu_access *a)
{
    struct site now = {.known = true,
                       .kind = a->kind,
                       .space = a->space,
                       .op = a->op,
                       .width = a->width,
                       .count = a->count,
                       .lanes = a->lanes};
    if (a->kind != EMU_ATOMIC && a->kind != EMU_RED) now.op = 0;
    const u32 first = a->lanes ? (u32)__builtin_ctz(a->lanes) : 0;
    now.base = a->contiguous ? a->address[0] : a->address[first];
    if (a->contiguous) now.form = FORM_CONTIGUOUS;
    else now.form = is_regular(a, &now.stride) ? FORM_STRIDE : FORM_ALL;
    if (now.form == FORM_ALL) now.stride = 0;
    return now;
}

static bool is_like(const struct site *a, const struct site *b)
{
    return a->known && a->kind == b->kind && a->space == b->space && a->op == b->op &&
           a->width == b->width && a->count == b->count && a->form == b->form &&
           a->lanes == b->lanes && a->stride == b->stride;
}

void trace_events_access(struct trace_events *e, const struct emu_access *a)
{
    struct state *s = &e->s;
    if (a->retry || !a->lanes || a->pc >= s->site_count) return;
    put_warp(e, a->who);
    put_steps(e);
    const struct site now = describe(a);
    struct site *const before = &s->sites[a->pc];
    const int64_t base = (int64_t)(now.base - before->base);
    if (is_like(before, &now) && a->pc + 1 == s->next) {
        put_token(e, TOKEN_SAME, 0);
        put_signed(&e->bytes, base);
    } else {
        put_token(e, TOKEN_NEW, zigzag((int64_t)a->pc + 1 - s->next));
        buf_putc(&e->bytes, (char)now.kind);
        buf_putc(&e->bytes, (char)now.space);
        buf_putc(&e->bytes, (char)now.op);
        buf_putc(&e->bytes, (char)now.width);
        buf_putc(&e->bytes, (char)now.count);
        buf_putc(&e->bytes, (char)now.form);
        put_number(&e->bytes, now.lanes);
        put_signed(&e->bytes, (int64_t)now.stride);
        put_signed(&e->bytes, base);
    }
    for (u32 m = now.form == FORM_ALL ? a->lanes & (a->lanes - 1) : 0,
             l = (u32)__builtin_ctz(a->lanes);
         m; m &= m - 1) {
        const u32 k = (u32)__builtin_ctz(m);
        put_signed(&e->bytes, (int64_t)(a->address[k] - a->address[l]));
        l = k;
    }
    *before = now;
    e->accesses++;
}

void trace_events_cta_exit(struct trace_events *e, const struct emu_warp *who)
{
    put_steps(e);
    put_token(e, TOKEN_EXIT, zigzag((int64_t)who->cta - e->s.cta));
}

void trace_events_end(struct trace_events *e)
{
    write_events(e);
    put_number(&e->bytes, e->frames);
    put_number(&e->bytes, e->digest);
    put_number(&e->bytes, e->instructions);
    put_number(&e->bytes, e->accesses);
    e->failed |= !frame_write(e->file, TRACE_FRAME_EVENTS_END, &e->bytes);
    e->failed |= fflush(e->file) != 0;
}

bool trace_events_free(struct trace_events *e)
{
    const bool ok = !e->failed;
    buf_free(&e->bytes);
    free(e->s.sites);
    free(e);
    return ok;
}

struct trace_launch trace_launch_of(struct emu_machine *m, u32 number, u32 stream, u8 **own)
{
    const struct emu_machine_size size = emu_machine_size(m);
    const struct emu_shape shape = emu_machine_shape(m);
    const struct trace_code *code = emu_machine_code(m);
    struct trace_launch l = {.kernel = emu_machine_kernel(m),
                             .number = number,
                             .stream = stream,
                             .shared = size.shared,
                             .sms = shape.sms,
                             .slots = shape.slots,
                             .inst_count = code->inst_count,
                             .reg_count = code->reg_count,
                             .insts = code->insts,
                             .regs = code->regs};
    memcpy(l.grid, size.grid, sizeof l.grid);
    memcpy(l.block, size.block, sizeof l.block);
    *own = malloc((size_t)code->inst_count + 1);
    if (!*own) abort();
    for (u32 i = 0; i < code->inst_count; i++)
        (*own)[i] = strcmp(emu_machine_location(m, i).function, l.kernel) == 0;
    l.own = *own;
    return l;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

bool trace_get_launch(struct cursor *c, struct arena *a, const struct emu_trace *code,
                      struct trace_launch *l)
{
    u64 ctas = 1;
    *l = (struct trace_launch){.inst_count = code->inst_count,
                               .reg_count = code->reg_count,
                               .insts = code->insts,
                               .regs = code->regs};
    l->kernel = get_text(c, a);
    l->number = get_below(c, UINT32_MAX);
    l->stream = get_below(c, UINT32_MAX);
    for (int i = 0; i < 3; i++) ctas *= l->grid[i] = get_below(c, INT32_MAX);
    for (int i = 0; i < 3; i++) l->block[i] = get_below(c, 1024);
    l->shared = get_below(c, UINT32_MAX);
    l->sms = get_below(c, 1024);
    l->slots = get_below(c, 1 << 20);
    u8 *own = arena_array(a, u8, (size_t)l->inst_count + 1);
    for (u32 i = 0; i < l->inst_count && !c->bad; i++) own[i] = (u8)get_below(c, 1);
    l->own = own;
    const u64 threads = (u64)l->block[0] * l->block[1] * l->block[2];
    return !c->bad && c->at == c->end && ctas && ctas <= UINT32_MAX && threads && threads <= 1024;
}

struct replay {
    struct cursor c;
    const struct trace_launch *l;
    const struct emu_observer *to;
    struct trace_events_sums *sums;
    struct state s;
    struct emu_warp who;
    u32 ctas, warps;
};

static void issue(struct replay *r, u64 pc)
{
    if (!r->s.warp_known || pc >= r->l->inst_count) {
        r->c.bad = true;
        return;
    }
    r->s.next = (u32)pc + 1;
    r->sums->instructions++;
    if (r->to && r->to->issue) r->to->issue(r->to->self, &r->who, (u32)pc, r->s.lanes);
}

static void steps(struct replay *r, u64 more)
{
    for (u64 i = 0; i <= more && !r->c.bad; i++) issue(r, r->s.next);
}

static void warp(struct replay *r, u64 number)
{
    struct state *s = &r->s;
    const u64 cta = (u64)s->cta + (u64)get_signed(&r->c);
    const u32 sm = get_below(&r->c, 1024);
    if (cta >= r->ctas || number >= r->warps) {
        r->c.bad = true;
        return;
    }
    s->warp_known = true;
    s->cta = (u32)cta, s->warp = (u32)number, s->sm = sm;
    s->next = 0, s->lanes = UINT32_MAX;
    r->who = (struct emu_warp){.cta = s->cta, .warp = s->warp, .sm = sm, .slot = sm};
}

static void cta_exit(struct replay *r, int64_t distance)
{
    const u64 cta = (u64)r->s.cta + (u64)distance;
    if (cta >= r->ctas) {
        r->c.bad = true;
        return;
    }
    struct emu_warp who = r->who;
    who.cta = (u32)cta;
    if (r->to && r->to->sync)
        r->to->sync(r->to->self, &(struct emu_sync){.who = &who, .kind = EMU_SYNC_CTA_EXIT});
}

static bool is_access(const struct site *s)
{
    return s->kind <= EMU_RED && s->space <= PTX_SPACE_TEX && s->op < ATOMIC_COUNT && s->width &&
           s->width <= 16 && s->count && s->count <= 8 && s->form < FORMS && s->lanes &&
           (s->form != FORM_CONTIGUOUS || s->lanes == UINT32_MAX);
}

static u8 byte(struct cursor *c)
{
    if (c->at == c->end) c->bad = true;
    return c->bad ? 0 : *c->at++;
}

static struct site get_site(struct cursor *c)
{
    struct site s = {.known = true};
    s.kind = byte(c);
    s.space = byte(c);
    s.op = byte(c);
    s.width = byte(c);
    s.count = byte(c);
    s.form = byte(c);
    s.lanes = get_below(c, UINT32_MAX);
    s.stride = (u64)get_signed(c);
    if (!is_access(&s)) c->bad = true;
    return s;
}

static void access(struct replay *r, u64 pc, bool same)
{
    struct cursor *c = &r->c;
    if (!r->s.warp_known || pc >= r->l->inst_count || (same && !r->s.sites[pc].known))
        c->bad = true;
    if (c->bad) return;
    struct site *const at = &r->s.sites[pc], now = same ? *at : get_site(c);
    const u64 base = at->base + (u64)get_signed(c);
    u64 address[32] = {0};
    if (c->bad) return;
    u32 m = now.lanes, before = (u32)__builtin_ctz(m);
    address[now.form == FORM_CONTIGUOUS ? 0 : before] = base;
    for (m &= m - 1; m && now.form != FORM_CONTIGUOUS; m &= m - 1) {
        const u32 l = (u32)__builtin_ctz(m);
        address[l] = address[before] +
                     (now.form == FORM_ALL ? (u64)get_signed(c) : now.stride * (l - before));
        before = l;
    }
    *at = now;
    at->base = base;
    r->sums->accesses++;
    const struct emu_access a = {.who = &r->who,
                                 .kind = now.kind,
                                 .space = now.space,
                                 .op = now.op,
                                 .width = now.width,
                                 .count = now.count,
                                 .contiguous = now.form == FORM_CONTIGUOUS,
                                 .lanes = now.lanes,
                                 .address = address,
                                 .pc = (u32)pc};
    if (!c->bad && r->to && r->to->access) r->to->access(r->to->self, &a);
}

bool trace_replay(struct cursor c, const struct trace_launch *l, const struct emu_observer *to,
                  struct trace_events_sums *sums)
{
    struct replay r = {.c = c,
                       .l = l,
                       .to = to,
                       .sums = sums,
                       .ctas = l->grid[0] * l->grid[1] * l->grid[2],
                       .warps = trace_launch_warps(l)};
    r.s = (struct state){.site_count = l->inst_count,
                         .sites = calloc((size_t)l->inst_count + 1, sizeof *r.s.sites)};
    if (!r.s.sites) abort();
    while (!r.c.bad && r.c.at < r.c.end) {
        const u64 word = get_number(&r.c), rest = word >> TOKEN_BITS;
        if (r.c.bad) break;
        switch ((enum token)(word & 7)) {
        case TOKEN_STEP: steps(&r, rest); break;
        case TOKEN_JUMP: issue(&r, (u64)r.s.next + (u64)unzigzag(rest)); break;
        case TOKEN_MASK: r.s.lanes = get_below(&r.c, UINT32_MAX); break;
        case TOKEN_WARP: warp(&r, rest); break;
        case TOKEN_EXIT: cta_exit(&r, unzigzag(rest)); break;
        case TOKEN_SAME: access(&r, (u64)r.s.next - 1, true); break;
        case TOKEN_NEW: access(&r, (u64)r.s.next - 1 + (u64)unzigzag(rest), false); break;
        case TOKENS: r.c.bad = true; break;
        }
    }
    free(r.s.sites);
    return !r.c.bad;
}
