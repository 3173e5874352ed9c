/* Recording an order, and playing it back: determinism/record/record.h.
 *
 * The emulator calls the recorder and the player in the same sequence, so the file needs only the
 * answers. Most answers are predictable: an access gets the verdict that the last access of the
 * same instruction got, and a load gets the contents of memory. Predicted answers are only counted.
 * Every other answer is a token, which also has the number of predicted answers since the last
 * token, so the player knows when it is due. An action of the order during a call (it drains a
 * store or wakes a warp) is a token before the token of the answer. */
#define _GNU_SOURCE
#include "determinism/record/record.h"

#include "base/buf.h"
#include "emu/atomic.h"
#include "emu/order_fast.h"
#include "ptx/ptx.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 6, OLDEST_VERSION = 2, BLOCK = 1 << 16, EXPECTED = 1 << 12, MOST_NAME = 1 << 12 };
static const char magic[8] = {'H', 'E', 'D', 'D', 'L', 'R', 'E', 'C'};
#define CHECK_START UINT64_C(0xcbf29ce484222325)

enum token {
    PICK,     /* warp, burst: the first in the list of that CTA and warp */
    PICK_NTH, /* warp, burst, which of several contexts of the warp */
    PICK_NONE,
    PLACE,   /* slot + 1; 0: none */
    STORE,   /* issuer, address, size, data */
    REDUCE,  /* issuer, address, op, type, operand */
    WAKE,    /* warp, slot */
    VERDICT, /* of an access or sync, other than expected */
    ANSWER,  /* DONE: lanes whose result differs from memory, and their bytes */
    IDLE,    /* 1: it did something */
    SETTLE,
    LAUNCH,     /* its identity */
    LAUNCH_END, /* memory's digest */
    FINISH,     /* no launch follows */
    GRID,       /* which of the grids that kernels have launched runs next */
    TOKENS
};
enum { SKIP_SHIFT = 4, SKIP_MOST = 15 };

static uint64_t check(uint64_t h, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* The predicted verdict of an access or a sync, by instruction. It depends on nothing but the
 * sequence of calls. */
struct expected {
    uint8_t verdict[EXPECTED];
};
static uint8_t *expected_at(struct expected *e, uint32_t pc, bool sync)
{
    return &e->verdict[(pc * 2 + sync) % EXPECTED];
}

/* The bytes of a lane's result. */
static uint32_t lane_size(const struct emu_access *a)
{
    return (uint32_t)a->width * a->count;
}
static bool has_result(const struct emu_access *a)
{
    return a->result && (a->kind == EMU_LOAD || a->kind == EMU_ATOMIC);
}

/* ---- recording
 * ------------------------------------------------------------------------------------------ */

struct recorder {
    struct emu_order order;
    const struct emu_order *in;
    struct emu_machine *m;
    struct emu_shape shape;
    FILE *out;
    bool failed;
    uint8_t block[BLOCK];
    size_t used;
    uint64_t check, skip, address;
    struct expected expected;
};

static void put_out(struct recorder *r, const void *p, size_t n)
{
    r->failed |= fwrite(p, 1, n, r->out) != n;
}

static void put_number(struct recorder *r, uint64_t n, size_t bytes)
{
    uint8_t b[8];
    for (size_t i = 0; i < bytes; i++) b[i] = (uint8_t)(n >> 8 * i);
    put_out(r, b, bytes);
}

static void flush(struct recorder *r)
{
    if (!r->used) return;
    r->check = check(r->check, r->block, r->used);
    put_number(r, r->used, 4);
    put_out(r, r->block, r->used);
    put_number(r, r->check, 8);
    r->used = 0;
}

static void put_byte(struct recorder *r, uint8_t b)
{
    if (r->used == BLOCK) flush(r);
    r->block[r->used++] = b;
}
static void put_bytes(struct recorder *r, const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++) put_byte(r, ((const uint8_t *)p)[i]);
}
static void put(struct recorder *r, uint64_t n)
{
    for (; n > 127; n >>= 7) put_byte(r, (uint8_t)(n | 128));
    put_byte(r, (uint8_t)n);
}
static void put_text(struct recorder *r, const char *text)
{
    put(r, strlen(text));
    put_bytes(r, text, strlen(text));
}

static void put_token(struct recorder *r, enum token t)
{
    const uint64_t few = r->skip < SKIP_MOST ? r->skip : SKIP_MOST;
    put_byte(r, (uint8_t)(t | few << SKIP_SHIFT));
    if (few == SKIP_MOST) put(r, r->skip - SKIP_MOST);
    r->skip = 0;
}

static void put_warp(struct recorder *r, uint32_t cta, uint32_t warp)
{
    put(r, (uint64_t)cta * r->shape.warps_per_cta + warp);
}

static void put_identity(struct recorder *r, const struct emu_identity *d)
{
    const uint64_t digests[] = {d->program, d->params, d->memory};
    put_text(r, d->kernel);
    put_text(r, d->gpu);
    for (int i = 0; i < 3; i++) put(r, d->grid[i]), put(r, d->block[i]), put(r, d->cluster[i]);
    put(r, d->shared);
    put(r, d->sms);
    put(r, d->slots);
    put(r, (uint64_t)d->cooperative | (uint64_t)d->its << 1);
    for (int i = 0; i < 3; i++) put(r, digests[i]);
}

static unsigned record_wants(void *self, const struct emu_launch_traits *next)
{
    struct recorder *r = self;
    return r->in->fast->wants(r->in->self, next);
}

static void record_begin(void *self, struct emu_machine *m)
{
    struct recorder *r = self;
    struct emu_identity d;
    r->m = m;
    r->shape = emu_machine_shape(m);
    memset(&r->expected, 0, sizeof r->expected);
    r->address = 0;
    emu_machine_identity(m, &d);
    put_token(r, LAUNCH);
    put_identity(r, &d);
    if (r->in->begin) r->in->begin(r->in->self, m);
}

static void record_end(void *self)
{
    struct recorder *r = self;
    struct emu_identity d;
    if (r->in->end) r->in->end(r->in->self);
    emu_machine_identity(r->m, &d);
    put_token(r, LAUNCH_END);
    put(r, d.memory);
}

static int record_pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct recorder *r = self;
    const int at = r->in->pick(r->in->self, ready, count, burst);
    if (at < 0) {
        put_token(r, PICK_NONE);
        return at;
    }
    uint64_t nth = 0;
    for (int i = 0; i < at; i++)
        nth += ready[i].cta == ready[at].cta && ready[i].warp == ready[at].warp;
    put_token(r, nth ? PICK_NTH : PICK);
    put_warp(r, ready[at].cta, ready[at].warp);
    put(r, *burst);
    if (nth) put(r, nth);
    return at;
}

static int record_place(void *self, uint32_t cta, const uint32_t *free_slots, size_t count)
{
    struct recorder *r = self;
    const int at = r->in->place(r->in->self, cta, free_slots, count);
    put_token(r, PLACE);
    put(r, at < 0 ? 0 : (uint64_t)free_slots[at] + 1);
    return at;
}

static uint32_t record_choose_grid(void *self, uint32_t count)
{
    struct recorder *r = self;
    const uint32_t chosen = r->in->choose_grid(r->in->self, count);
    put_token(r, GRID);
    put(r, chosen);
    return chosen;
}

static void put_verdict(struct recorder *r, uint8_t *expected, uint8_t verdict)
{
    if (*expected == verdict) {
        r->skip++;
        return;
    }
    put_token(r, VERDICT);
    put(r, verdict);
    *expected = verdict;
}

/* Lanes whose results differ from the contents of memory; all lanes where that is not known (other
 * than global loads). */
static uint32_t lanes_that_differ(struct recorder *r, const struct emu_access *a)
{
    uint8_t now[LANES * 64];
    struct emu_access b = *a;
    uint32_t differ = 0;
    if (a->space != PTX_SPACE_GLOBAL || a->kind != EMU_LOAD) return a->lanes;
    b.result = now;
    b.stride = lane_size(a);
    emu_machine_fetch(r->m, &b);
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        if (memcmp(now + b.stride * l, a->result + a->stride * l, b.stride) != 0) differ |= 1u << l;
    }
    return differ;
}

static enum emu_verdict record_access(void *self, const struct emu_access *a)
{
    struct recorder *r = self;
    const enum emu_verdict v = r->in->access(r->in->self, a);
    if (v != EMU_DONE || !has_result(a)) {
        put_verdict(r, expected_at(&r->expected, a->pc, false), (uint8_t)v);
        return v;
    }
    const uint32_t differ = lanes_that_differ(r, a);
    if (!differ) {
        put_verdict(r, expected_at(&r->expected, a->pc, false), EMU_PROCEED);
        return v;
    }
    put_token(r, ANSWER);
    put(r, differ);
    for (uint32_t m = differ; m; m &= m - 1)
        put_bytes(r, a->result + a->stride * (uint32_t)__builtin_ctz(m), lane_size(a));
    return v;
}

static enum emu_verdict record_sync(void *self, const struct emu_sync *s)
{
    struct recorder *r = self;
    const enum emu_verdict v = r->in->sync(r->in->self, s);
    put_verdict(r, expected_at(&r->expected, s->pc, true), (uint8_t)v);
    return v;
}

static bool record_idle(void *self)
{
    struct recorder *r = self;
    const bool any = r->in->idle(r->in->self);
    put_token(r, IDLE);
    put(r, any);
    return any;
}

static void record_quiesce(void *self)
{
    struct recorder *r = self;
    r->in->livelock->quiesce(r->in->self);
    put_token(r, SETTLE);
}

static const struct emu_order_livelock record_livelock = {.quiesce = record_quiesce};

static void record_drained(void *self, const struct emu_drained *s)
{
    struct recorder *r = self;
    const uint64_t step = s->address - r->address;
    put_token(r, s->reduces ? REDUCE : STORE);
    put_warp(r, s->by.cta, s->by.warp);
    put(r, s->by.pc);
    put(r, s->by.serial);
    put(r, step << 1 ^ (step >> 63 ? ~UINT64_C(0) : 0));
    r->address = s->address;
    if (!s->reduces) put(r, s->size);
    else {
        put(r, s->op);
        put(r, s->type);
    }
    put_bytes(r, s->data, s->size);
    if (s->reduces && s->op == ATOMIC_CAS) put_bytes(r, s->data + 32, s->size);
}

static void record_woken(void *self, const struct emu_warp *who)
{
    struct recorder *r = self;
    put_token(r, WAKE);
    put_warp(r, who->cta, who->warp);
    put(r, who->slot);
}

static void record_numbers(void *self, void (*add)(void *to, const char *name, uint64_t value),
                           void *to)
{
    struct recorder *r = self;
    r->in->numbers(r->in->self, add, to);
}

static const struct emu_order_fast record_fast = {.wants = record_wants};
static const struct emu_order_wrapper record_wrapper = {.drained = record_drained,
                                                        .woken = record_woken};

struct recorder *recorder_new(const struct emu_order *in, const char *name, FILE *out)
{
    struct recorder *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->in = in;
    r->out = out;
    r->check = CHECK_START;
    r->order = (struct emu_order){.self = r,
                                  .name = in->name,
                                  .wants = in->wants,
                                  .step = in->step,
                                  .unwritten = in->unwritten,
                                  .fast = in->fast && in->fast->wants ? &record_fast : NULL,
                                  .begin = record_begin,
                                  .pick = in->pick ? record_pick : NULL,
                                  .place = in->place ? record_place : NULL,
                                  .choose_grid = in->choose_grid ? record_choose_grid : NULL,
                                  .access = in->access ? record_access : NULL,
                                  .sync = in->sync ? record_sync : NULL,
                                  .idle = in->idle ? record_idle : NULL,
                                  .livelock = in->livelock ? &record_livelock : NULL,
                                  .end = record_end,
                                  .wrapper = &record_wrapper,
                                  .numbers = in->numbers ? record_numbers : NULL};
    put_out(r, magic, sizeof magic);
    put(r, VERSION);
    put_text(r, name);
    put(r, in->wants);
    put(r, in->step);
    put(r, in->unwritten);
    put(r, (in->pick ? 1u : 0) | (in->place ? 2u : 0) | (in->access ? 4u : 0) |
               (in->sync ? 8u : 0) | (in->idle ? 16u : 0) | (in->livelock ? 32u : 0) |
               (in->choose_grid ? 64u : 0));
    return r;
}

const struct emu_order *recorder_order(const struct recorder *r)
{
    return &r->order;
}

bool recorder_end(struct recorder *r)
{
    put_token(r, FINISH);
    flush(r);
    put_number(r, 0, 4);
    r->failed |= fflush(r->out) != 0;
    const bool ok = !r->failed;
    free(r);
    return ok;
}

/* ---- replay
 * ---------------------------------------------------------------------------------------------- */

struct player {
    struct emu_order order;
    struct emu_machine *m;
    struct emu_shape shape;
    FILE *in;
    struct buf wrong;
    uint8_t block[BLOCK];
    size_t used, size;
    bool ended; /* the last block of the file was read */
    uint64_t check, address, launches;
    uint64_t skip; /* predicted answers before the token is due */
    enum token token;
    struct expected expected;
    char name[MOST_NAME];
};

__attribute__((format(printf, 2, 3))) static void refuse(struct player *p, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (p->wrong.size) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_puts(&p->wrong, text);
}

static bool get_in(struct player *p, uint64_t *n, size_t bytes)
{
    uint8_t b[8];
    *n = 0;
    if (fread(b, 1, bytes, p->in) != bytes) return false;
    for (size_t i = 0; i < bytes; i++) *n |= (uint64_t)b[i] << 8 * i;
    return true;
}

static void next_block(struct player *p)
{
    uint64_t size = 0, mark = 0;
    p->used = p->size = 0;
    if (!get_in(p, &size, 4)) refuse(p, "the recording ends early: it was cut off");
    else if (!size) p->ended = true;
    else if (size > BLOCK || fread(p->block, 1, size, p->in) != size || !get_in(p, &mark, 8))
        refuse(p, "the recording ends early, or is damaged");
    else {
        p->check = check(p->check, p->block, size);
        if (p->check != mark) refuse(p, "the recording is damaged: wrong checksum");
        else p->size = size;
    }
}

/* 0 after an error; every later call returns 0, too. */
static uint8_t get_byte(struct player *p)
{
    if (p->used == p->size && !p->ended && !p->wrong.size) next_block(p);
    if (p->ended) refuse(p, "the recording ends in the middle of what was recorded");
    return p->wrong.size ? 0 : p->block[p->used++];
}
static void get_bytes(struct player *p, void *to, size_t n)
{
    for (size_t i = 0; i < n; i++) ((uint8_t *)to)[i] = get_byte(p);
}
static uint64_t get(struct player *p)
{
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t b = get_byte(p);
        n |= (uint64_t)(b & 127) << shift;
        if (!(b & 128)) return n;
    }
    refuse(p, "the recording is damaged: a number does not end");
    return 0;
}
static uint32_t get_small(struct player *p)
{
    const uint64_t n = get(p);
    if (n > UINT32_MAX) refuse(p, "the recording is damaged: a number is too large");
    return p->wrong.size ? 0 : (uint32_t)n;
}
static void get_text(struct player *p, char *to, size_t size)
{
    const uint64_t n = get(p);
    if (n >= size) refuse(p, "the recording is damaged: a name is too long");
    *to = '\0';
    if (p->wrong.size) return;
    get_bytes(p, to, n);
    to[p->wrong.size ? 0 : n] = '\0';
}

/* Reads the next token ahead of its use. */
static void next_token(struct player *p)
{
    const uint8_t b = get_byte(p);
    p->token = (enum token)(b & ((1 << SKIP_SHIFT) - 1));
    p->skip = b >> SKIP_SHIFT;
    if (p->skip == SKIP_MOST) p->skip += get(p);
    if (p->token >= TOKENS) refuse(p, "the recording is damaged: no token has number %d", p->token);
}

static const char *question(enum token t)
{
    switch (t) {
    case PICK:
    case PICK_NTH:
    case PICK_NONE: return "the next warp is chosen";
    case PLACE: return "a CTA is placed";
    case VERDICT:
    case ANSWER: return "an access, fence or barrier";
    case IDLE: return "all warps wait";
    case SETTLE: return "buffered stores are drained for the livelock proof";
    case LAUNCH: return "a launch begins";
    case LAUNCH_END: return "the launch ends";
    case FINISH: return "no launch follows";
    case GRID: return "a grid that a kernel has launched is chosen";
    default: return "a store becomes visible";
    }
}

static void refuse_difference(struct player *p, const char *now)
{
    refuse(p, "launch %llu differs from the recording: here %s, there %s",
           (unsigned long long)p->launches, now, question(p->token));
}

static struct emu_issuer get_issuer(struct player *p)
{
    const uint64_t warp = get(p);
    struct emu_issuer by = {.pc = get_small(p)};
    by.serial = get(p);
    by.cta = (uint32_t)(warp / p->shape.warps_per_cta);
    by.warp = (uint32_t)(warp % p->shape.warps_per_cta);
    if (warp / p->shape.warps_per_cta >= p->shape.ctas || by.pc >= emu_machine_location_count(p->m))
        refuse(p, "the recording is damaged: a store without an issuer");
    return by;
}

static void play_shown(struct player *p, bool reduces)
{
    uint8_t data[64] = {0};
    const struct emu_issuer by = get_issuer(p);
    const uint64_t step = get(p);
    p->address += step >> 1 ^ (step & 1 ? ~UINT64_C(0) : 0);
    uint32_t size = reduces ? 0 : get_small(p);
    const uint32_t op = reduces ? get_small(p) : 0, type = reduces ? get_small(p) : 0;
    if (size > sizeof data) refuse(p, "the recording is damaged: a store of %u bytes", size);
    if (reduces && (op >= ATOMIC_COUNT || type >= PTX_TYPE_COUNT || !atomic_function(op, type)))
        refuse(p, "the recording is damaged: there is no such reduction");
    if (p->wrong.size) return;
    if (reduces) size = ptx_types[type].bits / 8u;
    get_bytes(p, data, size);
    if (reduces && op == ATOMIC_CAS) get_bytes(p, data + 32, size);
    if (p->wrong.size) return;
    if (reduces) emu_machine_reduce(p->m, by, p->address, (uint8_t)op, (uint8_t)type, data, NULL);
    else if (size) emu_machine_store(p->m, by, p->address, data, size);
}

static void play_wake(struct player *p)
{
    const uint64_t warp = get(p);
    const struct emu_warp who = {.cta = (uint32_t)(warp / p->shape.warps_per_cta),
                                 .warp = (uint32_t)(warp % p->shape.warps_per_cta),
                                 .slot = get_small(p)};
    if (!p->wrong.size) emu_machine_wake(p->m, &who);
}

/* The actions of the order before its answer. */
static void play_before(struct player *p)
{
    while (!p->wrong.size && !p->skip) {
        if (p->token == STORE || p->token == REDUCE) play_shown(p, p->token == REDUCE);
        else if (p->token == WAKE) play_wake(p);
        else return;
        next_token(p);
    }
}

static int play_pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct player *p = self;
    play_before(p);
    const enum token t = p->token;
    if (p->skip || t > PICK_NONE) refuse_difference(p, question(PICK));
    if (p->wrong.size) return -1;
    if (t == PICK_NONE) {
        next_token(p);
        return -1;
    }
    const uint64_t warp = get(p);
    *burst = get_small(p);
    uint64_t nth = t == PICK_NTH ? get(p) : 0;
    next_token(p);
    for (size_t i = 0; i < count && !p->wrong.size; i++)
        if ((uint64_t)ready[i].cta * p->shape.warps_per_cta + ready[i].warp == warp && !nth--)
            return (int)i;
    refuse(
        p,
        "launch %llu differs from the recording, where warp %llu of CTA %llu runs next: here it cannot",
        (unsigned long long)p->launches, (unsigned long long)(warp % p->shape.warps_per_cta),
        (unsigned long long)(warp / p->shape.warps_per_cta));
    return -1;
}

static int play_place(void *self, uint32_t cta, const uint32_t *free_slots, size_t count)
{
    struct player *p = self;
    (void)cta;
    play_before(p);
    if (p->skip || p->token != PLACE) refuse_difference(p, question(PLACE));
    if (p->wrong.size) return -1;
    const uint64_t slot = get(p);
    next_token(p);
    if (!slot) return -1;
    for (size_t i = 0; i < count && !p->wrong.size; i++)
        if (free_slots[i] == slot - 1) return (int)i;
    refuse(
        p,
        "launch %llu differs from the recording, where a CTA goes to slot %llu, which is not free here",
        (unsigned long long)p->launches, (unsigned long long)slot - 1);
    return -1;
}

static uint32_t play_choose_grid(void *self, uint32_t count)
{
    struct player *p = self;
    if (p->skip || p->token != GRID) refuse_difference(p, question(GRID));
    if (p->wrong.size) return 0;
    const uint32_t chosen = get_small(p);
    next_token(p);
    if (chosen < count) return chosen;
    refuse(p, "the recording is damaged: there is no grid %u of %u", chosen, count);
    return 0;
}

static enum emu_verdict play_verdict(struct player *p, uint8_t *expected)
{
    if (p->skip) {
        p->skip--;
        return (enum emu_verdict) * expected;
    }
    if (p->token != VERDICT) refuse_difference(p, question(VERDICT));
    const uint32_t v = get_small(p);
    if (v > EMU_SLEEP && v != EMU_LATER)
        refuse(p, "the recording is damaged: there is no verdict %u", v);
    if (p->wrong.size) return EMU_PROCEED;
    next_token(p);
    return (enum emu_verdict)(*expected = (uint8_t)v);
}

static enum emu_verdict play_answer(struct player *p, const struct emu_access *a)
{
    const uint32_t lanes = get_small(p);
    if (lanes & ~a->lanes || !has_result(a)) refuse_difference(p, question(VERDICT));
    if (p->wrong.size) return EMU_PROCEED;
    if (a->space == PTX_SPACE_GLOBAL) emu_machine_fetch(p->m, a);
    for (uint32_t m = lanes; m; m &= m - 1)
        get_bytes(p, a->result + a->stride * (uint32_t)__builtin_ctz(m), lane_size(a));
    next_token(p);
    return EMU_DONE;
}

static enum emu_verdict play_access(void *self, const struct emu_access *a)
{
    struct player *p = self;
    play_before(p);
    if (p->wrong.size) return EMU_PROCEED;
    if (!p->skip && p->token == ANSWER) return play_answer(p, a);
    const enum emu_verdict v = play_verdict(p, expected_at(&p->expected, a->pc, false));
    if (v == EMU_DONE && has_result(a)) { /* a damaged file's: results are those of memory */
        refuse_difference(p, question(VERDICT));
        return EMU_PROCEED;
    }
    if (v == EMU_LATER && !a->may_be_late) {
        refuse_difference(p, question(VERDICT));
        return EMU_PROCEED;
    }
    return v;
}

static enum emu_verdict play_sync(void *self, const struct emu_sync *s)
{
    struct player *p = self;
    play_before(p);
    if (p->wrong.size) return EMU_PROCEED;
    return play_verdict(p, expected_at(&p->expected, s->pc, true));
}

static bool play_idle(void *self)
{
    struct player *p = self;
    play_before(p);
    if (p->wrong.size) return false;
    if (p->skip || p->token != IDLE) refuse_difference(p, question(IDLE));
    const bool any = get(p) & 1;
    if (p->wrong.size) return false;
    next_token(p);
    return any;
}

static void compare(struct player *p, const char *what, uint64_t is, uint64_t was)
{
    if (is != was)
        refuse(p, "launch %llu is not the recorded one: its %s is %llu, not %llu",
               (unsigned long long)p->launches, what, (unsigned long long)is,
               (unsigned long long)was);
}

static void compare_text(struct player *p, const char *what, const char *is)
{
    char was[MOST_NAME];
    get_text(p, was, sizeof was);
    if (strcmp(is, was) != 0)
        refuse(p, "launch %llu is not the recorded one: its %s is '%s', not '%s'",
               (unsigned long long)p->launches, what, is, was);
}

static void compare_digest(struct player *p, const char *what, uint64_t is)
{
    if (get(p) != is)
        refuse(p, "launch %llu is not the recorded one: %s other", (unsigned long long)p->launches,
               what);
}

static void play_begin(void *self, struct emu_machine *m)
{
    static const char axes[] = "xyz";
    struct player *p = self;
    struct emu_identity d;
    p->m = m;
    p->shape = emu_machine_shape(m);
    p->address = 0;
    p->launches++;
    memset(&p->expected, 0, sizeof p->expected);
    if (p->skip || p->token != LAUNCH) refuse_difference(p, question(LAUNCH));
    if (p->wrong.size) return;
    emu_machine_identity(m, &d);
    compare_text(p, "kernel", d.kernel);
    compare_text(p, "GPU", d.gpu);
    for (int i = 0; i < 3; i++) {
        char what[16];
        snprintf(what, sizeof what, "grid.%c", axes[i]);
        compare(p, what, d.grid[i], get(p));
        snprintf(what, sizeof what, "block.%c", axes[i]);
        compare(p, what, d.block[i], get(p));
        snprintf(what, sizeof what, "cluster.%c", axes[i]);
        compare(p, what, d.cluster[i], get(p));
    }
    compare(p, "dynamic shared memory", d.shared, get(p));
    compare(p, "number of SMs", d.sms, get(p));
    const uint64_t slots = get(p), flags = get(p);
    compare(p, "cooperative", d.cooperative, flags & 1);
    compare(p, "divergence (0 stack, 1 its)", d.its, flags >> 1);
    compare_digest(p, "the modules' text is", d.program);
    compare(p, "number of CTAs that are resident on the GPU", d.slots, slots);
    compare_digest(p, "its arguments are", d.params);
    compare_digest(p, "what is in memory (the inputs) is", d.memory);
    next_token(p);
}

static void play_end(void *self)
{
    struct player *p = self;
    struct emu_identity d;
    if (p->wrong.size) return;
    play_before(p);
    if (p->skip || p->token != LAUNCH_END) refuse_difference(p, question(LAUNCH_END));
    if (p->wrong.size) return;
    emu_machine_identity(p->m, &d);
    if (get(p) != d.memory)
        refuse(p, "launch %llu left other memory than the recorded one",
               (unsigned long long)p->launches);
    next_token(p);
}

static void play_quiesce(void *self)
{
    struct player *p = self;
    play_before(p);
    if (p->skip || p->token != SETTLE) refuse_difference(p, question(SETTLE));
    if (!p->wrong.size) next_token(p);
}

static const struct emu_order_livelock play_livelock = {.quiesce = play_quiesce};

static const char *play_failure(void *self)
{
    return player_wrong(self);
}

struct player *player_new(FILE *in, char **why)
{
    struct player *p = calloc(1, sizeof *p);
    if (!p) abort();
    char start[sizeof magic];
    p->in = in;
    p->check = CHECK_START;
    if (fread(start, 1, sizeof start, in) != sizeof start ||
        memcmp(start, magic, sizeof start) != 0)
        refuse(p, "this is no recording of 'heddle run --record'");
    const uint64_t version = get(p);
    if (version < OLDEST_VERSION || version > VERSION)
        refuse(p, "the recording has version %llu, and this reads versions %d to %d",
               (unsigned long long)version, OLDEST_VERSION, VERSION);
    get_text(p, p->name, sizeof p->name);
    const uint32_t wants = get_small(p), step = get_small(p);
    const uint64_t unwritten = version >= 4 ? get(p) : 0;
    const uint32_t has = get_small(p);
    if (wants &
            ~(unsigned)(EMU_WANT_LOADS | EMU_WANT_STORES | EMU_WANT_SHARED | EMU_WANT_LATE_LOADS) ||
        step > EMU_STEP_EVENT || has > 127)
        refuse(p, "the recording is damaged: there is no such order");
    next_token(p);
    if (p->wrong.size) {
        *why = strdup(p->wrong.data);
        if (!*why) abort();
        player_free(p);
        return NULL;
    }
    p->order = (struct emu_order){.self = p,
                                  .name = "replay",
                                  .wants = wants,
                                  .step = (uint8_t)step,
                                  .unwritten = unwritten,
                                  .begin = play_begin,
                                  .pick = has & 1 ? play_pick : NULL,
                                  .place = has & 2 ? play_place : NULL,
                                  .choose_grid = has & 64 ? play_choose_grid : NULL,
                                  .access = has & 4 ? play_access : NULL,
                                  .sync = has & 8 ? play_sync : NULL,
                                  .idle = has & 16 ? play_idle : NULL,
                                  .livelock = has & 32 ? &play_livelock : NULL,
                                  .end = play_end,
                                  .failure = play_failure};
    *why = NULL;
    return p;
}

void player_free(struct player *p)
{
    if (!p) return;
    buf_free(&p->wrong);
    free(p);
}

const struct emu_order *player_order(const struct player *p)
{
    return &p->order;
}

const char *player_name(const struct player *p)
{
    return p->name;
}

const char *player_wrong(const struct player *p)
{
    return p->wrong.size ? p->wrong.data : NULL;
}

const char *player_end(struct player *p)
{
    if (!p->wrong.size && (p->skip || p->token != FINISH))
        refuse(p, "the recording has more launches than this run, which ended after launch %llu",
               (unsigned long long)p->launches);
    if (!p->wrong.size && p->used == p->size) next_block(p);
    if (!p->wrong.size && (!p->ended || fgetc(p->in) != EOF))
        refuse(p, "the recording is damaged: something follows its end");
    return player_wrong(p);
}
