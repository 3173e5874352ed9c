/* Findings, and the observer that finds reads of memory that was never written. */
#include "emu/device/check.h"

#include "base/arena.h"
#include "base/buf.h"
#include "emu/sched/launch.h"
#include "emu/suppress.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static u32 slot_of(const struct check *c, unsigned kind, u32 pc, u32 pc2)
{
    const u64 places = (u64)pc2 << 32 | pc;
    return (u32)(((places ^ kind) * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (c->slot_count - 1);
}

static bool is_it(const struct check *c, u32 i, const struct emu_machine *m, unsigned kind, u32 pc,
                  u32 pc2)
{
    return c->list[i].kind == (enum emu_fault_kind)kind && c->places[i].pc == pc &&
           c->places[i].pc2 == pc2 && c->places[i].program == m->program;
}

/* Counts more of a finding that there is; false: there is none. */
static bool again(struct check *c, const struct emu_machine *m, unsigned kind, u32 pc, u32 pc2,
                  u64 more)
{
    if (!c->count) return false;
    u32 *last = &c->last[(pc ^ pc2 << 2) % CHECK_LAST];
    if (*last < c->count && is_it(c, *last, m, kind, pc, pc2)) {
        c->list[*last].count += more;
        return true;
    }
    for (u32 s = slot_of(c, kind, pc, pc2); c->slots[s]; s = (s + 1) & (c->slot_count - 1)) {
        const u32 i = c->slots[s] - 1;
        if (!is_it(c, i, m, kind, pc, pc2)) continue;
        c->list[i].count += more;
        *last = i;
        return true;
    }
    return false;
}

static void put_in_slot(struct check *c, u32 i)
{
    u32 s = slot_of(c, c->list[i].kind, c->places[i].pc, c->places[i].pc2);
    while (c->slots[s]) s = (s + 1) & (c->slot_count - 1);
    c->slots[s] = i + 1;
}

static void more_slots(struct check *c)
{
    c->slot_count = c->slot_count ? 2 * c->slot_count : 32;
    c->slots = arena_alloc(c->arena, c->slot_count * sizeof *c->slots);
    for (u32 i = 0; i < c->count; i++) put_in_slot(c, i);
}

static bool is_suppressed(const struct check *c, const struct emu_machine *m,
                          enum emu_fault_kind kind, u32 pc, u32 pc2)
{
    struct buf one = {0}, other = {0};
    if (!c->suppressions || pc == UINT32_MAX) return false; /* of no place */
    launch_name_place(&one, m, pc);
    if (kind == EMU_RACE || kind == EMU_MIXED) launch_name_place(&other, m, pc2);
    const bool match = suppressions_match(c->suppressions, kind, one.data, other.data);
    buf_free(&one);
    buf_free(&other);
    return match;
}

static void add(struct check *c, const struct emu_machine *m, u32 pc, u32 pc2,
                struct emu_finding finding)
{
    if (2 * (c->count + 1) > c->slot_count) more_slots(c);
    c->list = arena_grow(c->arena, c->list, c->count, &c->cap, c->count + 1, sizeof *c->list);
    c->places = arena_grow(c->arena, c->places, c->count, &c->place_cap, c->count + 1,
                           sizeof *c->places);
    c->list[c->count] = finding;
    c->places[c->count] = (struct check_place){m ? m->program : NULL, pc, pc2,
                                               is_suppressed(c, m, finding.kind, pc, pc2), false};
    put_in_slot(c, (u32)c->count++);
}

size_t check_add_text(struct check *c, struct emu_finding finding, bool suppressed)
{
    const u32 number = (u32)c->count; /* in place of an instruction: no two are the same */
    add(c, NULL, UINT32_MAX, number, finding);
    c->places[number].suppressed = suppressed;
    return number;
}

void check_count_more(struct check *c, size_t i)
{
    c->list[i].count++;
}

/* Whether two instructions are of one line of the source, inlined at one place. */
static bool same_source(const struct check_place *a, u32 pc, const struct check_place *b, u32 pc2)
{
    const struct emu_place_of *x = &a->program->places[pc], *y = &b->program->places[pc2];
    if (!x->source_file || !y->source_file || x->source_line != y->source_line ||
        strcmp(x->source_file, y->source_file) != 0)
        return false;
    if (!x->from_file || !y->from_file) return x->from_file == y->from_file;
    return x->from_line == y->from_line && strcmp(x->from_file, y->from_file) == 0;
}

/* Whether two findings about pairs of accesses are about the same lines of one kernel: one bug, which unrolled loops and
 * read-modify-writes show at several instructions. */
static bool same_lines(const struct check *c, size_t i, size_t k)
{
    const struct check_place *a = &c->places[i], *b = &c->places[k];
    const enum emu_fault_kind kind = c->list[i].kind;
    if ((kind != EMU_RACE && kind != EMU_MIXED) || c->list[k].kind != kind) return false;
    if (a->pc == UINT32_MAX || b->pc == UINT32_MAX) return false; /* of no place */
    if (a->program->codes[0] != b->program->codes[0]) return false;
    return (same_source(a, a->pc, b, b->pc) && same_source(a, a->pc2, b, b->pc2)) ||
           (same_source(a, a->pc, b, b->pc2) && same_source(a, a->pc2, b, b->pc));
}

/* Adds the findings of the same lines to the first of them, whose text says how many there were. */
static void merge_lines(struct check *c, size_t first)
{
    size_t merged = 0;
    for (size_t k = first + 1; k < c->count; k++) {
        if (c->places[k].left_out || !same_lines(c, first, k)) continue;
        c->list[first].count += c->list[k].count;
        c->places[k].left_out = true;
        merged++;
    }
    if (!merged) return;
    struct buf b = {0};
    buf_printf(&b, "%s  %zu more pair%s of instructions at these lines: counted here\n",
               c->list[first].text, merged, merged > 1 ? "s" : "");
    c->list[first].text = arena_copy(c->arena, b.data, b.size);
    buf_free(&b);
}

size_t check_end(struct check *c)
{
    size_t kept = 0, suppressed = 0;
    for (size_t i = 0; i < c->count; i++) {
        suppressed += c->places[i].suppressed;
        c->places[i].left_out = c->places[i].suppressed;
    }
    for (size_t i = 0; i < c->count; i++)
        if (!c->places[i].left_out) merge_lines(c, i);
    for (size_t i = 0; i < c->count; i++)
        if (!c->places[i].left_out) c->list[kept++] = c->list[i];
    c->count = kept;
    return suppressed;
}

void check_add(struct check *c, const struct emu_machine *m, enum emu_fault_kind kind, u32 pc,
               const u32 cta[3], const u32 thread[3], u64 address, const char *what)
{
    struct emu_fault f = {.kind = kind, .address = address};
    f.kind = launch_kind_of_fault(m, &f);
    if (again(c, m, f.kind, pc, pc, 1)) return;
    memcpy(f.cta, cta, sizeof f.cta);
    memcpy(f.thread, thread, sizeof f.thread);
    launch_describe_fault(m, pc, &f, what, c->arena);
    add(c, m, pc, pc,
        (struct emu_finding){.kind = f.kind, .count = 1, .line = f.line, .text = f.text});
}

static struct emu_fault describe_party(struct buf *b, const struct emu_machine *m,
                                       const struct emu_access_site *p)
{
    struct emu_fault f = {0};
    u32 cta[3], t[3];
    launch_thread_of(m, p->cta, p->thread, cta, t);
    launch_describe_place(b, m, p->pc, &f);
    buf_printf(b, "  by thread (%u,%u,%u) of CTA (%u,%u,%u) of kernel '%s'\n", t[0], t[1], t[2],
               cta[0], cta[1], cta[2], m->program->codes[0]->name);
    return f;
}

bool emu_machine_is_reported(struct emu_machine *m, unsigned kind, uint32_t pc, uint32_t pc2,
                             uint64_t more)
{
    return again(m->check, m, kind, pc < pc2 ? pc : pc2, pc < pc2 ? pc2 : pc, more);
}

void emu_machine_report(struct emu_machine *m, unsigned kind, const char *what,
                        const struct emu_access_site *first, const struct emu_access_site *second,
                        u64 address)
{
    const bool swap = first->pc > second->pc; /* a pair has one order, whichever came first */
    const u32 low = swap ? second->pc : first->pc, high = swap ? first->pc : second->pc;
    if (again(m->check, m, kind, low, high, 1)) return;
    struct buf b = {0};
    struct emu_finding f = {.kind = (enum emu_fault_kind)kind, .count = 1};
    buf_printf(&b, "%s: %s\n  %s\n", emu_fault_name(f.kind), what, first->what);
    const struct emu_fault one = describe_party(&b, m, first);
    buf_printf(&b, "  %s\n", second->what);
    const struct emu_fault other = describe_party(&b, m, second);
    f.line = one.line;
    f.line2 = other.line;
    f.source_file = one.source_file;
    f.source_file2 = other.source_file;
    f.source_line = one.source_line;
    f.source_line2 = other.source_line;
    if (address >= MEM_GLOBAL) mem_describe(m->mem, address, &b);
    f.text = arena_copy(m->check->arena, b.data, b.size);
    buf_free(&b);
    add(m->check, m, low, high, f);
}

void emu_machine_note(struct emu_machine *m, unsigned kind, const char *text)
{
    if (again(m->check, m, kind, UINT32_MAX, UINT32_MAX, 1)) return;
    add(m->check, m, UINT32_MAX, UINT32_MAX,
        (struct emu_finding){.kind = (enum emu_fault_kind)kind,
                             .count = 1,
                             .text = arena_copy(m->check->arena, text, strlen(text))});
}

/* ---- reads of what nobody wrote ----------------------------------------------------------------------- */

/* Of a resident CTA: a bit for each byte of its shared memory that was written. */
struct shared_bits {
    u32 cta;
    bool used;
    u8 bits[MEM_MAX_SHARED / 8 + 1];
};

struct check_init {
    struct check *check;
    struct emu_machine *machine;
    struct emu_observer observer;
    struct shared_bits **ctas;
    size_t count, cap;
    struct arena *arena;
    struct check_init *nested; /* NULL: there was no need of one yet */
};

static struct shared_bits *shared_of(struct check_init *k, u32 cta)
{
    struct shared_bits *spare = NULL;
    for (size_t i = 0; i < k->count; i++) {
        if (k->ctas[i]->used && k->ctas[i]->cta == cta) return k->ctas[i];
        if (!k->ctas[i]->used) spare = k->ctas[i];
    }
    if (!spare) {
        k->ctas = arena_grow(k->arena, k->ctas, k->count, &k->cap, k->count + 1, sizeof *k->ctas);
        spare = k->ctas[k->count++] = arena_alloc(k->arena, sizeof *spare);
    }
    memset(spare->bits, 0, sizeof spare->bits);
    spare->used = true;
    spare->cta = cta;
    return spare;
}

static bool was_written(const u8 *bits, u64 at, u32 size)
{
    for (u32 i = 0; i < size; i++)
        if (!(bits[(at + i) / 8] >> (at + i) % 8 & 1)) return false;
    return true;
}

/* Of an address of shared memory: the CTA that it is of, and where there. */
static u32 shared_at(const struct check_init *k, u32 cta, u64 *at)
{
    if (*at >= MEM_SHARED) *at -= MEM_SHARED;
    const u64 window = *at / MEM_SHARED_WINDOW;
    *at %= MEM_SHARED_WINDOW;
    return window ? emu_machine_cluster_cta(k->machine, cta, (u32)window - 1) : cta;
}

static void check_on_access(void *self, const struct emu_access *a)
{
    struct check_init *k = self;
    const bool shared = a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_SHARED_CLUSTER,
               global = a->space == PTX_SPACE_GLOBAL;
    if (!shared && !global) return;
    u32 size = (u32)a->width * a->count;
    u8 *bits = shared ? NULL : mem_written_bits(k->machine->mem);
    const u32 own = k->machine->shared_own;
    if (!shared && !bits) return;
    for (u32 m = a->lanes, was = UINT32_MAX; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        u64 at = a->address[l];
        if (shared) {
            const u32 cta = shared_at(k, a->who->cta, &at);
            if (at + size > own) continue; /* the system's begins as zeros */
            if (cta != was || !bits) bits = shared_of(k, was = cta)->bits;
        } else at -= MEM_GLOBAL;
        if (a->kind != EMU_STORE && !was_written(bits, at, size)) {
            char what[160];
            snprintf(what, sizeof what,
                     "read of %u bytes of %s memory at 0x%llx that nothing wrote", size,
                     shared ? "shared" : "global", (unsigned long long)a->address[l]);
            u32 cta[3], thread[3];
            launch_thread_of(k->machine, a->who->cta, a->who->warp * LANES + l, cta, thread);
            check_add(k->check, k->machine, EMU_UNINITIALISED, a->pc, cta, thread,
                      global ? a->address[l] : 0, what);
        }
        if (a->kind != EMU_LOAD)
            for (u32 i = 0; i < size; i++) bits[(at + i) / 8] |= (u8)(1u << (at + i) % 8);
    }
}

static void check_on_begin(void *self, struct emu_machine *m)
{
    ((struct check_init *)self)->machine = m;
}

static void check_on_sync(void *self, const struct emu_sync *s)
{
    struct check_init *k = self;
    if (s->kind != EMU_SYNC_CTA_EXIT) return;
    for (size_t i = 0; i < k->count; i++)
        if (k->ctas[i]->used && k->ctas[i]->cta == s->who->cta) k->ctas[i]->used = false;
}

/* What is written of global memory, the memory itself keeps. */
static const struct emu_observer *check_on_nested(void *self)
{
    struct check_init *k = self;
    if (!k->nested) k->nested = check_init_new(k->arena, k->check);
    return &k->nested->observer;
}

struct check_init *check_init_new(struct arena *arena, struct check *c)
{
    struct check_init *k = arena_alloc(arena, sizeof *k);
    k->arena = arena;
    k->check = c;
    k->observer = (struct emu_observer){.ignores_data = true,
                                        .self = k,
                                        .nested = check_on_nested,
                                        .begin = check_on_begin,
                                        .access = check_on_access,
                                        .sync = check_on_sync};
    return k;
}

const struct emu_observer *check_init_observer(struct check_init *k)
{
    return &k->observer;
}
