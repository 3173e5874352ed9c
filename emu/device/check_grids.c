/* Races between grids: see check_grids.h. */
#include "emu/device/check_grids.h"

#include "base/arena.h"
#include "base/buf.h"
#include "emu/device/child_grids.h"
#include "emu/memory.h"
#include "emu/sched/launch.h"
#include "emu/suppress.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_WORDS = 1 << 22, /* that are remembered */
    MOST_PAIRS = 256,     /* findings */
};

/* A grid. Times count launches and ends of grids; both and every access happen at a time. */
struct node {
    u32 parent, depth;
    u32 cta, launched,
        done; /* of which CTA of the parent, when; done 0: it has not ended with all below it */
    u64 stream;
    bool tail, keeps_order; /* keeps_order: its child grids run in the order of issue */
    const struct emu_program *program;
    struct emu_machine *machine; /* while it runs, or stands still */
    u32 grid[3], block[3];
    const char *by;
};

/* An access of some bytes of a word. */
struct touch {
    u32 grid, time, pc, cta, thread;
    u8 bytes; /* a mask; 0: there was none */
    bool strong;
    u8 kind, size;
};
enum { READ, WRITE };
struct word {
    u64 at;                  /* address / 4; 0: free */
    struct touch last[2][2]; /* [READ, WRITE][depth modulo 2] */
};

struct pair { /* a finding */
    const struct emu_program *program[2];
    u32 pc[2];
    size_t finding;
    bool suppressed;
};

struct check_grids {
    struct check *check;
    struct arena *arena;
    struct emu_observer observer;
    struct emu_machine *machine;
    struct node *nodes;
    size_t count, cap;
    u32 now, time;
    struct word *words; /* open addressing */
    size_t word_count, word_cap;
    bool full;
    struct pair pairs[MOST_PAIRS];
    size_t pair_count;
};

/* ---- the tree of grids -------------------------------------------------------------------------------------- */

u32 check_grids_launched(struct check_grids *k, const struct grid_task *t)
{
    k->nodes = arena_grow(k->arena, k->nodes, k->count, &k->cap, k->count + 1, sizeof *k->nodes);
    k->nodes[k->count] = (struct node){.parent = k->now,
                                       .depth = k->nodes[k->now].depth + 1,
                                       .cta = t->cta,
                                       .launched = ++k->time,
                                       .stream = t->stream,
                                       .tail = t->tail,
                                       .by = arena_copy(k->arena, t->by, strlen(t->by))};
    return (u32)k->count++;
}

void check_grids_keep_order(struct check_grids *k)
{
    k->nodes[k->now].keeps_order = true;
}

u32 check_grids_enter(struct check_grids *k, u32 number)
{
    const u32 outer = k->now;
    k->now = number;
    return outer;
}

void check_grids_leave(struct check_grids *k, u32 outer)
{
    k->nodes[k->now].done = ++k->time;
    k->now = outer;
    k->machine = k->nodes[outer].machine; /* it stood still meanwhile, or has ended */
}

/* Whether nothing orders what grid `a` did at a time with what grid `b` does now. */
static bool unordered(const struct check_grids *k, u32 a, u32 time, u32 b)
{
    const struct node *n = k->nodes;
    u32 x = a, y = b, below_x = a, below_y = b;
    while (n[x].depth > n[y].depth) below_x = x, x = n[x].parent;
    while (n[y].depth > n[x].depth) below_y = y, y = n[y].parent;
    while (x != y) below_x = x, below_y = y, x = n[x].parent, y = n[y].parent;
    const struct node *p = &n[below_x], *q = &n[below_y];
    if (x == b) return false; /* the child grid has ended and was waited for */
    if (x == a) return time >= q->launched && !q->tail;
    if (n[x].keeps_order || p->tail || q->tail) return false;
    if (p->done && p->done < q->launched) return false; /* it may have been waited for */
    return p->cta != q->cta || p->stream != q->stream || p->stream == GRIDS_FREE_STREAM;
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

static size_t place_of(u64 at, size_t cap)
{
    return (size_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (cap - 1);
}

static struct word *find(struct word *words, size_t cap, u64 at)
{
    size_t i = place_of(at, cap);
    while (words[i].at && words[i].at != at) i = (i + 1) & (cap - 1);
    return &words[i];
}

/* NULL: there are too many. */
static struct word *word_of(struct check_grids *k, u64 at)
{
    if (2 * (k->word_count + 1) > k->word_cap && k->word_count < MOST_WORDS) {
        const size_t cap = k->word_cap ? 2 * k->word_cap : 1024;
        struct word *words = calloc(cap, sizeof *words);
        if (!words) abort();
        for (size_t i = 0; i < k->word_cap; i++)
            if (k->words[i].at) *find(words, cap, k->words[i].at) = k->words[i];
        free(k->words);
        k->words = words;
        k->word_cap = cap;
    }
    struct word *w = find(k->words, k->word_cap, at);
    if (w->at) return w;
    if (k->word_count == MOST_WORDS) return NULL;
    k->word_count++;
    w->at = at;
    return w;
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* As if the grid ran: what descriptions of places and threads read of a machine. */
static struct emu_machine machine_of(const struct check_grids *k, const struct node *n,
                                     struct emu_launch *l)
{
    struct emu_machine m = *k->machine;
    *l = *m.launch;
    memcpy(l->grid, n->grid, sizeof l->grid);
    memcpy(l->block, n->block, sizeof l->block);
    m.launch = l;
    m.program = n->program;
    return m;
}

static struct emu_fault describe(struct buf *b, const struct check_grids *k, const struct touch *t,
                                 const char *and)
{
    const struct node *n = &k->nodes[t->grid];
    struct emu_launch l;
    const struct emu_machine m = machine_of(k, n, &l);
    struct emu_fault f = {0};
    u32 cta[3], thread[3];
    buf_printf(b, "  %s%s of %u bytes\n", and,
               t->kind == EMU_LOAD    ? "read"
               : t->kind == EMU_STORE ? "write"
                                      : "atomic operation",
               t->size);
    launch_thread_of(&m, t->cta, t->thread, cta, thread);
    launch_describe_place(b, &m, t->pc, &f);
    buf_printf(b, "  by thread (%u,%u,%u) of CTA (%u,%u,%u) of kernel '%s'", thread[0], thread[1],
               thread[2], cta[0], cta[1], cta[2], n->program->codes[0]->name);
    if (n->by) buf_printf(b, ", launched by %s", n->by);
    buf_puts(b, "\n");
    return f;
}

static bool is_suppressed(const struct check_grids *k, const struct touch *a, const struct touch *b)
{
    if (!k->check->suppressions) return false;
    struct buf one = {0}, other = {0};
    struct emu_launch l;
    struct emu_machine m = machine_of(k, &k->nodes[a->grid], &l);
    launch_name_place(&one, &m, a->pc);
    m = machine_of(k, &k->nodes[b->grid], &l);
    launch_name_place(&other, &m, b->pc);
    const bool match = suppressions_match(k->check->suppressions, EMU_RACE, one.data, other.data);
    buf_free(&one);
    buf_free(&other);
    return match;
}

/* `b` is what happens now. */
static void report(struct check_grids *k, const struct touch *a, const struct touch *b, u64 address)
{
    const struct emu_program *const program[2] = {k->nodes[a->grid].program,
                                                  k->nodes[b->grid].program};
    for (size_t i = 0; i < k->pair_count; i++) {
        const struct pair *p = &k->pairs[i];
        if (p->program[0] == program[0] && p->program[1] == program[1] && p->pc[0] == a->pc &&
            p->pc[1] == b->pc) {
            check_count_more(k->check, p->finding);
            return;
        }
    }
    if (k->pair_count == MOST_PAIRS) return;
    struct buf text = {0};
    struct emu_finding f = {.kind = EMU_RACE, .count = 1};
    const bool parent = k->nodes[b->grid].depth > k->nodes[a->grid].depth;
    buf_printf(&text, "%s: two unordered accesses to global memory at 0x%llx by %s\n",
               emu_fault_name(f.kind), (unsigned long long)address,
               parent
                   ? "a grid after it has launched another one, and by that one or a grid below it"
                   : "two grids that a kernel has launched");
    const struct emu_fault one = describe(&text, k, a, ""), other = describe(&text, k, b, "and ");
    f.line = one.line;
    f.line2 = other.line;
    f.source_file = one.source_file;
    f.source_file2 = other.source_file;
    f.source_line = one.source_line;
    f.source_line2 = other.source_line;
    mem_describe(k->machine->mem, address, &text);
    f.text = arena_copy(k->arena, text.data, text.size);
    buf_free(&text);
    k->pairs[k->pair_count++] = (struct pair){{program[0], program[1]},
                                              {a->pc, b->pc},
                                              check_add_text(k->check, f, is_suppressed(k, a, b)),
                                              false};
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

static void compare(struct check_grids *k, const struct touch *last, const struct touch *t, u64 at)
{
    const u8 both = last->bytes & t->bytes;
    if (!both || last->grid == t->grid || (last->strong && t->strong)) return;
    if (unordered(k, last->grid, last->time, t->grid))
        report(k, last, t, at * 4 + (u32)__builtin_ctz(both));
}

static void touch(struct check_grids *k, struct touch t, u64 address, u32 size)
{
    const u32 depth = k->nodes[k->now].depth & 1;
    for (u64 at = address / 4; at <= (address + size - 1) / 4; at++) {
        struct word *w = word_of(k, at);
        if (!w) {
            if (!k->full)
                emu_machine_note(
                    k->machine, EMU_RACE,
                    "race: grids that kernels launch access too many words of memory: not all accesses "
                    "of different grids were compared\n");
            k->full = true;
            return;
        }
        t.bytes = 0;
        for (u32 i = 0; i < 4; i++)
            t.bytes |= (u8)((at * 4 + i >= address && at * 4 + i < address + size) << i);
        for (u32 d = 0; d < 2; d++) {
            compare(k, &w->last[WRITE][d], &t, at);
            if (t.kind != EMU_LOAD) compare(k, &w->last[READ][d], &t, at);
        }
        struct touch *own = &w->last[t.kind == EMU_LOAD ? READ : WRITE][depth];
        if (own->grid == t.grid && own->time == t.time && own->strong == t.strong)
            t.bytes |= own->bytes;
        *own = t;
    }
}

static void check_grids_on_access(void *self, const struct emu_access *a)
{
    struct check_grids *k = self;
    if (a->space != PTX_SPACE_GLOBAL || k->count < 2) return; /* nothing has been launched yet */
    const u32 size = (u32)a->width * a->count;
    struct touch t = {.grid = k->now,
                      .time = k->time,
                      .pc = a->pc,
                      .cta = a->who->cta,
                      .strong = a->kind > EMU_STORE || a->flags & EMU_RELAXED,
                      .kind = a->kind,
                      .size = (u8)size};
    for (u32 m = a->lanes; m; m &= m - 1) {
        const u32 lane = (u32)__builtin_ctz(m);
        t.thread = a->who->warp * LANES + lane;
        touch(k, t, a->address[lane], size);
    }
}

static void check_grids_on_begin(void *self, struct emu_machine *m)
{
    struct check_grids *k = self;
    struct node *n = &k->nodes[k->now];
    k->machine = n->machine = m;
    n->program = m->program;
    memcpy(n->grid, m->launch->grid, sizeof n->grid);
    memcpy(n->block, m->launch->block, sizeof n->block);
}

static const struct emu_observer *check_grids_on_nested(void *self)
{
    return &((struct check_grids *)self)->observer; /* it knows all grids */
}

struct check_grids *check_grids_new(struct arena *arena, struct check *check)
{
    struct check_grids *k = arena_alloc(arena, sizeof *k);
    k->arena = arena;
    k->check = check;
    k->nodes = arena_grow(arena, NULL, 0, &k->cap, 1, sizeof *k->nodes);
    k->nodes[0] = (struct node){.launched = 0}; /* the host's */
    k->count = 1;
    k->observer = (struct emu_observer){.ignores_data = true,
                                        .self = k,
                                        .nested = check_grids_on_nested,
                                        .begin = check_grids_on_begin,
                                        .access = check_grids_on_access};
    return k;
}

void check_grids_free(struct check_grids *k)
{
    if (k) free(k->words);
}

const struct emu_observer *check_grids_observer(struct check_grids *k)
{
    return &k->observer;
}
