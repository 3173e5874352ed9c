/* Local and remote sectors of CTAs in a distributed memory: see placement.h. */
#include "determinism/placement/placement.h"

#include "emu/emu.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, MOST_CELLS = 1 << 26 };

struct placement {
    struct placement_options options;
    struct emu_observer observer;
    const struct emu *emu;
    uint64_t *cells;              /* by CTA and partition: sectors of the launch that runs */
    size_t capacity;              /* of cells */
    uint32_t ctas;                /* of the launch; 0: too many to count */
    uint64_t low, size;           /* the allocation that was accessed last */
    size_t first_rule, own_rules; /* its rules, which are adjacent */
    struct placement_rule *rules; /* by allocation */
    bool *used; /* of the root, by rule: an allocation of that name was accessed */
    uint64_t *
        traffic; /* of the one with the counts: sectors, by partition of the CTA and of the sector */
    struct placement *root;         /* who has the counts */
    struct placement_counts counts; /* of the root */
    struct placement *nested; /* of the grids that a launch waits for; NULL: there were none yet */
};

/* A number of bytes, as 256 or 64K; 0: it is none. */
static uint64_t read_bytes(const char *text)
{
    char *end;
    if (*text < '0' || *text > '9') return 0;
    const unsigned long long n = strtoull(text, &end, 10);
    const unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    if (end[shift != 0] || n > (UINT64_C(1) << 40)) return 0;
    return n << shift;
}

const char *placement_read_map(const char *text, struct placement_options *out)
{
    static const struct {
        const char *name;
        enum placement_map map;
    } maps[] = {{"interleave:", PLACEMENT_INTERLEAVE}, {"blockcyclic:", PLACEMENT_BLOCK_CYCLIC}};
    if (strcmp(text, "block") == 0) {
        out->map = PLACEMENT_BLOCK;
        return NULL;
    }
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        const size_t n = strlen(maps[i].name);
        if (strncmp(text, maps[i].name, n) != 0) continue;
        out->map = maps[i].map;
        out->grain = read_bytes(text + n);
        if (!out->grain || out->grain % SECTOR)
            return "the grain is a multiple of 32 bytes, as 256 or 64K";
        return NULL;
    }
    return "a memory map is interleave:BYTES, block or blockcyclic:BYTES";
}

/* ---- the network ------------------------------------------------------------------------------------------ */

const char *placement_read_topology(const char *text, struct placement_options *out)
{
    static const char *const names[] = {
        [PLACEMENT_CROSSBAR] = "crossbar", [PLACEMENT_MESH] = "mesh", [PLACEMENT_HTREE] = "htree"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i]) == 0) {
            out->topology = (enum placement_topology)i;
            return NULL;
        }
    return "a topology is crossbar, mesh or htree";
}

uint32_t placement_hops(const struct placement_options *o, uint32_t from, uint32_t to)
{
    uint32_t width = 1, hops = 0;
    if (o->topology == PLACEMENT_CROSSBAR) return from != to;
    if (o->topology == PLACEMENT_HTREE) {
        for (; from != to; from /= 4, to /= 4) hops += 2;
        return hops;
    }
    while (width * width < o->partitions) width++;
    const uint32_t x = from % width, y = from / width, to_x = to % width, to_y = to / width;
    return (x > to_x ? x - to_x : to_x - x) + (y > to_y ? y - to_y : to_y - y);
}

/* ---- rules ------------------------------------------------------------------------------------------------ */

bool placement_rules_overlap(const struct placement_rule *a, const struct placement_rule *b)
{
    return strcmp(a->allocation, b->allocation) == 0 && a->from < b->to && b->from < a->to;
}

static int by_allocation(const void *x, const void *y)
{
    const struct placement_rule *a = x, *b = y;
    const int names = strcmp(a->allocation, b->allocation);
    if (names) return names;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* ---- where an address is --------------------------------------------------------------------------------- */

/* Finds the allocation. false: there is none. */
static bool find(struct placement *p, uint64_t address)
{
    struct emu_allocation a;
    if (address - p->low < p->size) return true;
    if (!emu_allocation_near(p->emu, address, &a) || address - a.address >= a.size) return false;
    p->low = a.address;
    p->size = a.size;
    p->first_rule = p->own_rules = 0;
    for (size_t i = 0; i < p->options.rule_count; i++)
        if (strcmp(p->rules[i].allocation, a.name) == 0) {
            if (!p->own_rules++) p->first_rule = i;
            p->root->used[i] = true;
        }
    return true;
}

/* Byte `at` of the allocation that was found last; an address of INTERLEAVE. */
static uint32_t mapped(const struct placement *p, enum placement_map map, uint64_t grain,
                       uint64_t at)
{
    const uint32_t n = p->options.partitions;
    if (map != PLACEMENT_BLOCK) return (uint32_t)(at / grain % n);
    /* Parts of whole sectors, so that each sector is in one of them. */
    const uint64_t sectors = (p->size + SECTOR - 1) / SECTOR, part = (sectors + n - 1) / n;
    return (uint32_t)(at / SECTOR / part);
}

static uint32_t partition_of(struct placement *p, uint64_t address)
{
    const struct placement_options *o = &p->options;
    const bool by_address = o->map == PLACEMENT_INTERLEAVE;
    if (by_address && !o->rule_count) return mapped(p, o->map, o->grain, address);
    if (!find(p, address)) return by_address ? mapped(p, o->map, o->grain, address) : 0;
    const uint64_t at = address - p->low;
    for (size_t i = p->first_rule; i < p->first_rule + p->own_rules; i++) {
        const struct placement_rule *r = &p->rules[i];
        if (at < r->from || at >= r->to) continue;
        if (r->map == PLACEMENT_FIXED) return r->partition;
        return mapped(p, r->map, r->grain, r->map == PLACEMENT_INTERLEAVE ? address : at);
    }
    return mapped(p, o->map, o->grain, by_address ? address : at);
}

uint32_t placement_partition(struct placement *p, uint64_t address)
{
    return partition_of(p, address);
}

/* ---- counting ---------------------------------------------------------------------------------------------- */

static void placement_on_begin(void *self, struct emu_machine *m)
{
    struct placement *p = self;
    const uint32_t ctas = emu_machine_extent(m).ctas;
    const size_t cells = (size_t)ctas * p->options.partitions;
    p->ctas = cells <= MOST_CELLS ? ctas : 0;
    p->low = p->size = 0;
    if (!p->ctas) return;
    if (cells > p->capacity) {
        free(p->cells);
        p->cells = malloc(cells * sizeof *p->cells);
        if (!p->cells) abort();
        p->capacity = cells;
    }
    memset(p->cells, 0, cells * sizeof *p->cells);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void placement_on_access(void *self, const struct emu_access *a)
{
    enum { LANES = 32, MOST = 32 * (128 / SECTOR + 2) };
    struct placement *p = self;
    uint64_t sectors[MOST];
    size_t count = 0;
    if (a->space != PTX_SPACE_GLOBAL) return;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t from = a->address[__builtin_ctz(m)], bytes = (uint64_t)a->width * a->count;
        for (uint64_t s = from / SECTOR; s <= (from + bytes - 1) / SECTOR && count < MOST; s++)
            sectors[count++] = s;
    }
    qsort(sectors, count, sizeof *sectors, by_value);
    for (size_t i = 0; i < count; i++) {
        if (i && sectors[i] == sectors[i - 1]) continue;
        if (!p->ctas) p->root->counts.left_out++;
        else
            p->cells[(size_t)a->who->cta * p->options.partitions +
                     partition_of(p, sectors[i] * SECTOR)]++;
    }
}

/* The launch's CTAs get their partitions. */
static void placement_on_end(void *self)
{
    struct placement *p = self;
    const uint32_t n = p->options.partitions;
    for (uint32_t cta = 0; cta < p->ctas; cta++) {
        const uint64_t *of = p->cells + (size_t)cta * n;
        uint32_t home = p->options.nearest ? 0 : cta % n;
        uint64_t all = 0;
        for (uint32_t k = 0; k < n; k++) {
            all += of[k];
            if (p->options.nearest && of[k] > of[home]) home = k;
        }
        for (uint32_t k = 0; k < n; k++) {
            p->root->counts.hops[placement_hops(&p->options, home, k)] += of[k];
            p->root->traffic[(size_t)home * n + k] += of[k];
        }
        p->root->counts.local += of[home];
        p->root->counts.remote += all - of[home];
    }
}

/* Their CTAs get partitions as those of other launches. */
static const struct emu_observer *placement_on_nested(void *self)
{
    struct placement *p = self;
    if (!p->nested) p->nested = placement_new(&p->options);
    p->nested->emu = p->emu;
    p->nested->root = p->root;
    return &p->nested->observer;
}

/* What was allocated may have been released meanwhile. */
static void placement_on_resumed(void *self)
{
    struct placement *p = self;
    p->low = p->size = 0;
}

struct placement *placement_new(const struct placement_options *o)
{
    struct placement *p = calloc(1, sizeof *p);
    if (!p) abort();
    p->options = *o;
    p->root = p;
    p->rules = calloc(o->rule_count + 1, sizeof *p->rules);
    p->traffic = calloc((size_t)o->partitions * o->partitions, sizeof *p->traffic);
    p->used = calloc(o->rule_count + 1, sizeof *p->used);
    if (!p->rules || !p->traffic || !p->used) abort();
    if (o->rule_count) memcpy(p->rules, o->rules, o->rule_count * sizeof *o->rules);
    qsort(p->rules, o->rule_count, sizeof *p->rules, by_allocation);
    p->observer = (struct emu_observer){.self = p,
                                        .ignores_data = true,
                                        .nested = placement_on_nested,
                                        .resumed = placement_on_resumed,
                                        .begin = placement_on_begin,
                                        .access = placement_on_access,
                                        .end = placement_on_end};
    return p;
}

void placement_free(struct placement *p)
{
    if (!p) return;
    placement_free(p->nested);
    free(p->cells);
    free(p->rules);
    free(p->used);
    free(p->traffic);
    free(p);
}

void placement_device(struct placement *p, const struct emu *e)
{
    p->emu = e;
    p->low = p->size = 0;
}

const struct emu_observer *placement_observer(struct placement *p)
{
    return &p->observer;
}

const struct placement_counts *placement_counts(const struct placement *p)
{
    return &p->counts;
}

const char *placement_unused(const struct placement *p)
{
    for (size_t i = 0; i < p->options.rule_count; i++)
        if (!p->used[i]) return p->rules[i].allocation;
    return NULL;
}

/* ---- links ------------------------------------------------------------------------------------------------- */

struct links {
    struct placement_link *list;
    size_t count, cap;
};

static void cross(struct links *l, uint32_t level, uint32_t a, uint32_t b, uint64_t sectors)
{
    if (l->count == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->list = realloc(l->list, l->cap * sizeof *l->list);
        if (!l->list) abort();
    }
    l->list[l->count++] = (struct placement_link){level, a < b ? a : b, a < b ? b : a,
                                                  sectors * SECTOR};
}

/* One link after the other from partition to partition. */
static void route(struct links *l, const struct placement_options *o, uint32_t from, uint32_t to,
                  uint64_t sectors)
{
    uint32_t width = 1;
    if (o->topology == PLACEMENT_CROSSBAR) {
        cross(l, 0, from, from, sectors);
        cross(l, 0, to, to, sectors);
        return;
    }
    if (o->topology == PLACEMENT_HTREE) {
        for (uint32_t level = 0; from != to; level++, from /= 4, to /= 4) {
            cross(l, level, from, from, sectors);
            cross(l, level, to, to, sectors);
        }
        return;
    }
    while (width * width < o->partitions) width++;
    while (from != to) {
        const uint32_t x = from % width, to_x = to % width;
        uint32_t next = x < to_x    ? from + 1
                        : x > to_x  ? from - 1
                        : from < to ? from + width
                                    : from - width;
        if (next >= o->partitions) next = from - width; /* the last row ends there */
        cross(l, 0, from, next, sectors);
        from = next;
    }
}

static int by_place(const void *x, const void *y)
{
    const struct placement_link *a = x, *b = y;
    if (a->level != b->level) return a->level < b->level ? -1 : 1;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

static int by_bytes(const void *x, const void *y)
{
    const struct placement_link *a = x, *b = y;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    return by_place(x, y);
}

/* Each link once. */
static void sum_up(struct links *l)
{
    size_t n = 0;
    if (l->count) qsort(l->list, l->count, sizeof *l->list, by_place);
    for (size_t i = 0; i < l->count; i++)
        if (n && by_place(&l->list[n - 1], &l->list[i]) == 0)
            l->list[n - 1].bytes += l->list[i].bytes;
        else l->list[n++] = l->list[i];
    l->count = n;
}

struct placement_link *placement_links(const struct placement *p, size_t *count)
{
    enum { MANY = 1 << 16 }; /* before they are summed up */
    const uint32_t n = p->options.partitions;
    struct links l = {0};
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++) {
            const uint64_t sectors = p->traffic[(size_t)from * n + to];
            if (from == to || !sectors) continue;
            route(&l, &p->options, from, to, sectors);
            if (l.count >= MANY) sum_up(&l);
        }
    sum_up(&l);
    if (l.count) qsort(l.list, l.count, sizeof *l.list, by_bytes);
    *count = l.count;
    return l.list;
}
