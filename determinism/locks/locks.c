/* Contended words: see locks.h.
 *
 * A launch has a table of its words and of its living warps; when it ends, its words are added to the rows of their
 * kernel. The value of a word is tracked from the first attempt on: observers are notified of all stores and atomics,
 * in the order in which threads execute them. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "determinism/locks/locks.h"

#include "emu/atomic.h"
#include "emu/emu.h"
#include "emu/memory.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 }; /* of warps */

struct word {
    uint64_t address; /* shared memory: the offset */
    uint32_t cta;     /* shared memory: of this CTA, plus one; 0: global memory */
    uint32_t width;   /* bytes: 2, 4 or 8 */
    uint32_t pc;      /* of the first attempt */
    bool swaps;       /* some attempt was a compare-and-swap */
    bool serves;      /* threads with tickets wait for it */
    bool has_free;    /* `free` is known */
    uint64_t free, value;
    uint64_t attempts, failures, releases, spin, waiting, most_waiting;
};

struct warp {
    uint64_t key;
    struct warp *next;
    uint32_t failed; /* lanes whose last attempt has failed */
    uint32_t pc[LANES], spins_at[LANES],
        waits_for[LANES];   /* words: their number plus one; 0: none */
    uint64_t since[LANES];  /* instructions after that attempt */
    uint32_t waits, serves; /* lanes that have a ticket and wait; whose turn it is */
    struct ticket {
        uint64_t number, address; /* the word that it polls; 0: none yet */
        uint64_t looks, spin;     /* at that word, before it is followed */
        uint32_t cta, word;       /* as of struct word; that has served it, plus one */
    } ticket[LANES];
};

struct locks {
    struct emu_observer observer;
    struct emu_machine *machine; /* of the launch that runs */
    const struct emu *emu;
    struct word *words;
    uint32_t *word_index; /* a hash table: numbers of words plus one */
    size_t word_count, word_cap, index_size;
    struct warp *warps[BUCKETS];
    struct lock_row *rows, *sorted;
    uint32_t *row_index;
    size_t row_count, row_cap, row_index_size;
    uint64_t instructions;
    bool tickets; /* threads of the launch have taken some */
    struct locks *nested,
        *sum; /* of the grids that a launch waits for, or NULL; who has its rows */
};

static void *must(void *p)
{
    if (!p) abort();
    return p;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9fb21c651e98df25);
    return h ^ h >> 29;
}

/* ---- words and warps ------------------------------------------------------------------------------------- */

static uint32_t *word_slot(const struct locks *k, uint64_t address, uint32_t cta)
{
    size_t h = (size_t)mix(cta, address) & (k->index_size - 1);
    for (; k->word_index[h]; h = (h + 1) & (k->index_size - 1)) {
        const struct word *w = &k->words[k->word_index[h] - 1];
        if (w->address == address && w->cta == cta) break;
    }
    return &k->word_index[h];
}

static void index_words(struct locks *k)
{
    k->index_size = k->index_size ? 2 * k->index_size : 256;
    free(k->word_index);
    k->word_index = must(calloc(k->index_size, sizeof *k->word_index));
    for (size_t i = 0; i < k->word_count; i++)
        *word_slot(k, k->words[i].address, k->words[i].cta) = (uint32_t)i + 1;
}

/* The number of a word plus one; 0: nobody has tried to acquire it. */
static uint32_t word_find(const struct locks *k, uint64_t address, uint32_t cta)
{
    return k->word_count ? *word_slot(k, address, cta) : 0;
}

static uint32_t word_new(struct locks *k, uint64_t address, uint32_t cta, uint32_t width,
                         uint32_t pc)
{
    if (k->word_count == k->word_cap) {
        k->word_cap = k->word_cap ? 2 * k->word_cap : 64;
        k->words = must(realloc(k->words, k->word_cap * sizeof *k->words));
    }
    if (2 * (k->word_count + 1) > k->index_size) index_words(k);
    k->words[k->word_count++] = (struct word){
        .address = address, .cta = cta, .width = width, .pc = pc};
    return *word_slot(k, address, cta) = (uint32_t)k->word_count;
}

static struct warp **warp_slot(struct locks *k, const struct emu_warp *who)
{
    const uint64_t key = (uint64_t)who->cta << 32 | who->warp;
    struct warp **at = &k->warps[mix(0, key) % BUCKETS];
    while (*at && (*at)->key != key) at = &(*at)->next;
    return at;
}

static struct warp *warp_of(struct locks *k, const struct emu_warp *who)
{
    struct warp **at = warp_slot(k, who);
    if (!*at) {
        *at = must(calloc(1, sizeof **at));
        (*at)->key = (uint64_t)who->cta << 32 | who->warp;
    }
    return *at;
}

static void end_wait(struct locks *k, struct warp *w, uint32_t lane)
{
    if (w->waits_for[lane]) k->words[w->waits_for[lane] - 1].waiting--;
    w->waits_for[lane] = 0;
}

/* ---- accesses -------------------------------------------------------------------------------------------- */

struct attempt { /* an access by one lane */
    struct locks *k;
    const struct emu_access *a;
    uint32_t lane, cta; /* cta: as in struct word */
    uint64_t address;
    uint32_t number;                   /* of the word plus one; 0: it is none yet */
    uint64_t operand, comparand, held; /* held: what was in memory */
};

static uint64_t value_at(const uint8_t *p, uint32_t width)
{
    uint64_t v = 0;
    memcpy(&v, p, width);
    return v;
}

static struct word *word_of(struct attempt *t)
{
    if (!t->number) t->number = word_new(t->k, t->address, t->cta, t->a->width, t->a->pc);
    return &t->k->words[t->number - 1];
}

/* One thread has tried to acquire the word. */
static void tried(struct attempt *t, bool success)
{
    struct warp *w = warp_of(t->k, t->a->who);
    struct word *x = word_of(t);
    const uint32_t lane = t->lane, bit = 1u << lane;
    if (w->failed & bit && w->pc[lane] == t->a->pc && w->spins_at[lane])
        t->k->words[w->spins_at[lane] - 1].spin += w->since[lane];
    w->failed &= ~bit;
    if (success || w->waits_for[lane] != t->number) end_wait(t->k, w, lane);
    x->attempts++;
    if (success) return;
    x->failures++;
    w->failed |= bit;
    w->pc[lane] = t->a->pc;
    w->spins_at[lane] = t->number;
    w->since[lane] = 0;
    if (w->waits_for[lane]) return;
    w->waits_for[lane] = t->number;
    if (++x->waiting > x->most_waiting) x->most_waiting = x->waiting;
}

/* A word that is followed has got another value. */
static void changed(struct word *x, uint64_t to)
{
    x->releases += x->has_free && to == x->free && x->value != x->free;
    x->value = to;
}

static void swap(struct attempt *t)
{
    const struct word *known = t->number ? &t->k->words[t->number - 1] : NULL;
    const bool success = t->held == t->comparand,
               releases = known && known->has_free && t->operand == known->free;
    if (t->operand == t->comparand) return; /* it reads */
    if (!releases) {
        tried(t, success);
        struct word *x = word_of(t);
        x->swaps = true;
        if (success && !x->has_free) {
            x->has_free = true;
            x->free = t->held;
        }
    }
    struct word *x = word_of(t);
    x->value = t->held;
    if (success) changed(x, t->operand);
}

static void exchange(struct attempt *t)
{
    struct word *x = word_of(t);
    x->value = t->held;
    if (!x->has_free && t->held != t->operand) {
        x->has_free = true;
        x->free = t->held;
    }
    if (!x->has_free || t->operand != x->free) tried(t, x->has_free && t->held == x->free);
    changed(word_of(t), t->operand);
}

/* What an atomic leaves in a word that holds `value`. */
static uint64_t applied(const struct emu_access *a, uint64_t value, uint64_t operand)
{
    uint8_t memory[16], with[16];
    memcpy(memory, &value, 8);
    memcpy(with, &operand, 8);
    atomic_apply(a->op, a->type, memory, with, NULL, NULL);
    return value_at(memory, a->width);
}

/* ---- ticket locks ---------------------------------------------------------------------------------------- */

static uint64_t cut(uint64_t value, uint32_t width)
{
    return width < 8 ? value & ((UINT64_C(1) << 8 * width) - 1) : value;
}

/* An atomic has added 1, and its result is read: a ticket, if the thread then waits until another word has that number. */
static void take_ticket(struct attempt *t)
{
    const struct emu_access *a = t->a;
    struct warp *w = warp_of(t->k, a->who);
    const uint32_t bit = 1u << t->lane;
    uint64_t number = t->held;
    for (uint32_t l = 0; l < t->lane && !a->buffered; l++)
        if (a->lanes >> l & 1 && a->address[l] == a->address[t->lane]) number++;
    w->waits |= bit;
    w->serves &= ~bit;
    w->ticket[t->lane] = (struct ticket){.number = cut(number, a->width)};
    t->k->tickets = true;
}

/* A thread that has a ticket reads a word that holds `value`. It is the one that it waits for if it has its number, if others
 * have waited for it, or if it is read twice. */
static void look(struct attempt *t, uint64_t value)
{
    struct warp *const w = *warp_slot(t->k, t->a->who);
    const uint32_t lane = t->lane, bit = 1u << lane;
    if (!w || !(w->waits & bit)) return;
    struct ticket *x = &w->ticket[lane];
    const bool again = x->looks && x->address == t->address && x->cta == t->cta,
               served = value == cut(x->number, t->a->width);
    if (!again && x->looks > 1) return; /* it polls another one */
    const uint32_t known = word_find(t->k, t->address, t->cta);
    if (known && !t->k->words[known - 1].serves) return; /* a lock of another kind */
    if (!again) {
        x->address = t->address, x->cta = t->cta;
        x->looks = 0;
        if (!served && !(known && t->k->words[known - 1].serves)) {
            x->looks = 1;
            w->failed |= bit;
            w->pc[lane] = t->a->pc, w->since[lane] = 0;
            w->spins_at[lane] = 0;
            return;
        }
    }
    t->number = known;
    struct word *word = word_of(t);
    word->serves = true;
    if (x->looks == 1) { /* the first look counts, too */
        word->attempts++, word->failures++;
        w->spins_at[lane] = t->number;
    }
    x->looks = 2;
    tried(t, served);
    if (!served) return;
    w->waits &= ~bit;
    w->serves |= bit;
    x->word = t->number;
}

/* Whose turn it was makes it the next one's: it adds 1, by a store or an atomic. */
static void pass_on(struct attempt *t)
{
    struct warp *const w = *warp_slot(t->k, t->a->who);
    const uint32_t lane = t->lane, bit = 1u << lane;
    if (!w || !(w->serves & bit) || w->ticket[lane].word != t->number) return;
    const uint32_t width = t->a->width;
    const uint64_t next = t->a->kind == EMU_STORE || t->a->op == ATOMIC_EXCH
                              ? cut(w->ticket[lane].number + 1, width)
                              : 1;
    if (t->operand != next) return;
    t->k->words[t->number - 1].releases++;
    w->serves &= ~bit;
}

/* The word is tried by a compare-and-swap or an exchange: it is a lock of another kind, which somebody with a number has read. */
static void no_ticket(struct word *x, uint32_t pc)
{
    x->serves = false;
    x->pc = pc;
    x->attempts = x->failures = x->releases = x->spin = 0;
    x->most_waiting = x->waiting;
}

/* Of a load, or an atomic that changes nothing. */
static void look_at(struct attempt *t)
{
    const struct emu_access *a = t->a;
    uint64_t value = 0;
    if (a->buffered && a->result)
        value = value_at(a->result + (size_t)a->stride * t->lane, a->width);
    else if (!t->cta) {
        if (!emu_machine_load(t->k->machine, t->address, &value, a->width)) return;
    } else emu_machine_load_shared(t->k->machine, a->who, a->address[t->lane], &value, a->width);
    look(t, value);
}

static bool takes_ticket(const struct attempt *t)
{
    const struct emu_access *a = t->a;
    return t->operand == 1 && a->kind == EMU_ATOMIC && a->op == ATOMIC_ADD;
}

static bool only_reads(const struct attempt *t, bool cas)
{
    const struct emu_access *a = t->a;
    return cas ? t->operand == t->comparand
               : a->kind == EMU_ATOMIC && a->op == ATOMIC_ADD && !t->operand;
}

/* What an atomic whose result is read has found. An order that has carried it out gives each lane that; else lanes before this
 * one have changed it. */
static uint64_t found(const struct attempt *t, const struct word *x)
{
    const struct emu_access *a = t->a;
    for (uint32_t l = 0; x && !a->buffered && l < t->lane; l++)
        if (a->lanes >> l & 1 && a->address[l] == a->address[t->lane]) return x->value;
    return value_at(a->result + (size_t)a->stride * t->lane, a->width);
}

/* A store, or an atomic whose result nobody reads, of a word that is followed. */
static void written(const struct attempt *t, struct word *x, bool cas)
{
    const struct emu_access *a = t->a;
    const bool replaces = a->kind == EMU_STORE || a->op == ATOMIC_EXCH;
    if (a->width != x->width) return;
    if (!replaces && !cas) changed(x, applied(a, x->value, t->operand));
    else if (replaces || x->value == t->comparand) changed(x, t->operand);
}

static void access_lane(struct attempt *t)
{
    const struct emu_access *a = t->a;
    const uint8_t *data = a->data + (size_t)a->stride * t->lane;
    const bool atomic = a->kind == EMU_ATOMIC, cas = a->kind > EMU_STORE && a->op == ATOMIC_CAS,
               read = atomic && a->result && !(a->flags & EMU_DEAD_RESULT);
    t->number = word_find(t->k, t->address, t->cta);
    struct word *x = t->number ? &t->k->words[t->number - 1] : NULL;
    t->operand = value_at(data + (cas ? 32 : 0), a->width);
    t->comparand = cas ? value_at(data, a->width) : 0;
    if (read) t->held = found(t, x);
    if (t->k->tickets && read && only_reads(t, cas)) {
        look(t, t->held);
        return;
    }
    if (x && x->serves && (cas || a->op == ATOMIC_EXCH) && a->kind > EMU_STORE) no_ticket(x, a->pc);
    if (x && x->serves) {
        pass_on(t);
        return;
    }
    if (read && takes_ticket(t)) take_ticket(t);
    if (cas && read) swap(t);
    else if (read && a->op == ATOMIC_EXCH) exchange(t);
    else if (x) written(t, x, cas);
}

/* Where the lane's address is. false: in memory that no other thread sees. */
static bool locate(struct attempt *t)
{
    const struct emu_access *a = t->a;
    uint64_t at = a->address[t->lane];
    t->address = at;
    t->cta = 0;
    if (a->space == PTX_SPACE_GLOBAL) return true;
    if (a->space != PTX_SPACE_SHARED && a->space != PTX_SPACE_SHARED_CLUSTER) return false;
    if (at >= MEM_SHARED) at -= MEM_SHARED;
    const uint64_t window = at / MEM_SHARED_WINDOW;
    const uint32_t cta = a->who->cta;
    t->cta = 1 + (window ? emu_machine_cluster_cta(t->k->machine, cta, (uint32_t)window - 1) : cta);
    t->address = at % MEM_SHARED_WINDOW;
    return true;
}

static void locks_on_access(void *self, const struct emu_access *a)
{
    struct locks *k = self;
    const bool load = a->kind == EMU_LOAD;
    if (a->count != 1 || a->width < 2 || a->width > 8 || (!load && !a->data)) return;
    if (a->kind == EMU_STORE && !k->word_count) return;
    if (load && !k->tickets) return;
    const struct warp *w = load ? *warp_slot(k, a->who) : NULL;
    for (uint32_t left = load ? a->lanes & (w ? w->waits : 0) : a->lanes; left; left &= left - 1) {
        struct attempt t = {.k = k, .a = a, .lane = (uint32_t)__builtin_ctz(left)};
        if (!locate(&t)) continue;
        if (load) look_at(&t);
        else access_lane(&t);
    }
}

static void locks_on_issue(void *self, const struct emu_warp *who, uint32_t pc, uint32_t lanes)
{
    struct locks *k = self;
    (void)pc;
    k->instructions += (uint32_t)__builtin_popcount(lanes);
    if (!k->word_count && !k->tickets) return;
    struct warp *w = *warp_slot(k, who);
    for (uint32_t left = w ? lanes & w->failed : 0; left; left &= left - 1)
        w->since[__builtin_ctz(left)]++;
}

static void locks_on_sync(void *self, const struct emu_sync *s)
{
    struct locks *k = self;
    if (s->kind != EMU_SYNC_WARP_EXIT) return;
    struct warp **at = warp_slot(k, s->who), *w = *at;
    if (!w) return;
    for (uint32_t lane = 0; lane < LANES; lane++) end_wait(k, w, lane);
    *at = w->next;
    free(w);
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

static uint64_t row_hash(const struct lock_row *r)
{
    uint64_t h = mix(r->shared, r->shared ? r->offset : r->address);
    for (const char *p = r->kernel; *p; p++) h = mix(h, (unsigned char)*p);
    return h;
}

static bool is_same(const struct lock_row *a, const struct lock_row *b)
{
    return a->shared == b->shared && a->address == b->address && a->offset == b->offset &&
           strcmp(a->kernel, b->kernel) == 0;
}

static uint32_t *row_slot(const struct locks *k, const struct lock_row *r)
{
    size_t h = (size_t)row_hash(r) & (k->row_index_size - 1);
    while (k->row_index[h] && !is_same(&k->rows[k->row_index[h] - 1], r))
        h = (h + 1) & (k->row_index_size - 1);
    return &k->row_index[h];
}

static void index_rows(struct locks *k)
{
    k->row_index_size = k->row_index_size ? 2 * k->row_index_size : 64;
    free(k->row_index);
    k->row_index = must(calloc(k->row_index_size, sizeof *k->row_index));
    for (size_t i = 0; i < k->row_count; i++) *row_slot(k, &k->rows[i]) = (uint32_t)i + 1;
}

static const char *copy(const char *text)
{
    return text ? must(strdup(text)) : NULL;
}

void locks_add(struct locks *k, const struct lock_row *row)
{
    if (2 * (k->row_count + 1) > k->row_index_size) index_rows(k);
    uint32_t *at = row_slot(k, row);
    if (*at) {
        struct lock_row *to = &k->rows[*at - 1];
        to->attempts += row->attempts;
        to->failures += row->failures;
        to->releases += row->releases;
        to->spin_instructions += row->spin_instructions;
        if (row->most_waiting > to->most_waiting) to->most_waiting = row->most_waiting;
        return;
    }
    if (k->row_count == k->row_cap) {
        k->row_cap = k->row_cap ? 2 * k->row_cap : 32;
        k->rows = must(realloc(k->rows, k->row_cap * sizeof *k->rows));
    }
    struct lock_row *to = &k->rows[k->row_count++];
    *to = *row;
    to->kernel = copy(row->kernel);
    to->allocation = copy(row->allocation);
    to->function = copy(row->function);
    to->source_file = copy(row->source_file);
    *at = (uint32_t)k->row_count;
}

void locks_add_instructions(struct locks *k, uint64_t thread_instructions)
{
    k->instructions += thread_instructions;
}

static void add_word(struct locks *k, const struct word *w)
{
    const struct emu_location at = emu_machine_location(k->machine, w->pc);
    struct emu_allocation in = {.name = ""};
    struct lock_row row = {.kernel = emu_machine_kernel(k->machine),
                           .allocation = "",
                           .address = w->cta ? 0 : w->address,
                           .offset = w->address,
                           .attempts = w->attempts,
                           .failures = w->failures,
                           .releases = w->releases,
                           .spin_instructions = w->spin,
                           .most_waiting = w->most_waiting,
                           .function = at.function,
                           .source_file = at.source_file,
                           .line = at.line,
                           .source_line = at.source_line,
                           .shared = w->cta != 0,
                           .serves = w->serves};
    if (!row.shared && k->emu && emu_allocation_near(k->emu, w->address, &in) &&
        w->address - in.address < in.size) {
        row.allocation = in.name;
        row.offset = w->address - in.address;
    }
    locks_add(k->sum, &row);
}

static void locks_on_begin(void *self, struct emu_machine *m)
{
    ((struct locks *)self)->machine = m;
}

static void end_launch(void *self)
{
    struct locks *k = self;
    for (size_t i = 0; i < k->word_count; i++) {
        const struct word *w = &k->words[i];
        const bool taken = w->failures || w->attempts > 1; /* else nobody knows what it is */
        if (w->serves ? w->releases && taken
                      : w->attempts && (w->releases || (w->swaps && w->failures)))
            add_word(k, w);
    }
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct warp *w = k->warps[i], *next; w; w = next) {
            next = w->next;
            free(w);
        }
    memset(k->warps, 0, sizeof k->warps);
    free(k->words);
    free(k->word_index);
    k->words = NULL;
    k->word_index = NULL;
    k->word_count = k->word_cap = k->index_size = 0;
    k->tickets = false;
    k->machine = NULL;
    if (k->sum == k) return;
    k->sum->instructions += k->instructions;
    k->instructions = 0;
}

/* Threads of the launch that stands still hold and await no word of the nested grids' tables: these are another launch. */
static const struct emu_observer *locks_on_nested(void *self)
{
    struct locks *k = self;
    if (!k->nested) k->nested = locks_new();
    k->nested->emu = k->emu;
    k->nested->sum = k->sum;
    return &k->nested->observer;
}

/* The nested grids may have changed words. */
static void locks_on_resumed(void *self)
{
    struct locks *k = self;
    for (size_t i = 0; i < k->word_count; i++) {
        struct word *x = &k->words[i];
        uint64_t value = 0;
        if (!x->cta && emu_machine_load(k->machine, x->address, &value, x->width)) x->value = value;
    }
}

static int by_failures(const void *a, const void *b)
{
    const struct lock_row *x = a, *y = b;
    if (x->failures != y->failures) return x->failures < y->failures ? 1 : -1;
    if (x->attempts != y->attempts) return x->attempts < y->attempts ? 1 : -1;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return strcmp(x->kernel, y->kernel);
}

const struct lock_row *locks_rows(struct locks *k, size_t *count)
{
    free(k->sorted);
    k->sorted = must(malloc((k->row_count + 1) * sizeof *k->sorted));
    if (k->row_count) memcpy(k->sorted, k->rows, k->row_count * sizeof *k->rows);
    qsort(k->sorted, k->row_count, sizeof *k->sorted, by_failures);
    *count = k->row_count;
    return k->sorted;
}

uint64_t locks_thread_instructions(const struct locks *k)
{
    return k->instructions;
}

/* ---- begin and end --------------------------------------------------------------------------------------- */

struct locks *locks_new(void)
{
    struct locks *k = must(calloc(1, sizeof *k));
    k->sum = k;
    k->observer = (struct emu_observer){.self = k,
                                        .in_commit_order = true,
                                        .nested = locks_on_nested,
                                        .resumed = locks_on_resumed,
                                        .begin = locks_on_begin,
                                        .issue = locks_on_issue,
                                        .access = locks_on_access,
                                        .sync = locks_on_sync,
                                        .end = end_launch};
    return k;
}

void locks_free(struct locks *k)
{
    if (!k) return;
    locks_free(k->nested);
    free(k->words);
    free(k->word_index);
    for (size_t i = 0; i < k->row_count; i++) {
        free((void *)(uintptr_t)k->rows[i].kernel);
        free((void *)(uintptr_t)k->rows[i].allocation);
        free((void *)(uintptr_t)k->rows[i].function);
        free((void *)(uintptr_t)k->rows[i].source_file);
    }
    free(k->rows);
    free(k->sorted);
    free(k->row_index);
    free(k);
}

void locks_device(struct locks *k, const struct emu *e)
{
    k->emu = e;
}

const struct emu_observer *locks_observer(struct locks *k)
{
    return &k->observer;
}
