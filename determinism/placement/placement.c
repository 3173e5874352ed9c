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
    uint64_t *cells;    /* by CTA and partition: sectors of the launch that runs */
    size_t capacity;    /* of cells */
    uint32_t ctas;      /* of the launch; 0: too many to count */
    uint64_t low, size; /* the allocation that was accessed last */
    struct placement_counts counts, *sum; /* sum: its own, or of the launch that waits for these */
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

/* ---- where an address is --------------------------------------------------------------------------------- */

/* Finds the allocation. false: there is none. */
static bool find(struct placement *p, uint64_t address)
{
    struct emu_allocation a;
    if (address - p->low < p->size) return true;
    if (!emu_allocation_near(p->emu, address, &a) || address - a.address >= a.size) return false;
    p->low = a.address;
    p->size = a.size;
    return true;
}

static uint32_t partition_of(struct placement *p, uint64_t address)
{
    const struct placement_options *o = &p->options;
    if (o->map == PLACEMENT_INTERLEAVE) return (uint32_t)(address / o->grain % o->partitions);
    if (!find(p, address)) return 0;
    const uint64_t at = address - p->low;
    if (o->map == PLACEMENT_BLOCK_CYCLIC) return (uint32_t)(at / o->grain % o->partitions);
    /* Parts of whole sectors, so that each sector is in one of them. */
    const uint64_t sectors = (p->size + SECTOR - 1) / SECTOR,
                   part = (sectors + o->partitions - 1) / o->partitions;
    return (uint32_t)(at / SECTOR / part);
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
        if (!p->ctas) p->sum->left_out++;
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
        for (uint32_t k = 0; k < n; k++)
            p->sum->hops[placement_hops(&p->options, home, k)] += of[k];
        p->sum->local += of[home];
        p->sum->remote += all - of[home];
    }
}

/* Their CTAs get partitions as those of other launches. */
static const struct emu_observer *placement_on_nested(void *self)
{
    struct placement *p = self;
    if (!p->nested) p->nested = placement_new(&p->options);
    p->nested->emu = p->emu;
    p->nested->sum = p->sum;
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
    p->sum = &p->counts;
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
    free(p);
}

void placement_device(struct placement *p, const struct emu *e)
{
    p->emu = e;
}

const struct emu_observer *placement_observer(struct placement *p)
{
    return &p->observer;
}

const struct placement_counts *placement_counts(const struct placement *p)
{
    return &p->counts;
}
