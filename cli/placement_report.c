#include "cli/placement_report.h"

#include "base/arena.h"
#include "base/buf.h"
#include "cli/json.h"
#include "cli/memory_map.h"
#include "cli/run_options.h"
#include "determinism/placement/placement.h"
#include "emu/emu.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* device_watch.before: adds the observer to those of the launch. */
static void before(void *self, struct emu *e, const char *kernel, struct emu_launch *l)
{
    struct placement_report *p = self;
    size_t n = 0;
    (void)kernel;
    placement_device(p->placement, e);
    if (p->estimates) return; /* there are no traces of launches with observers */
    free((void *)p->list);
    p->list = calloc(l->observer_count + 1, sizeof *p->list);
    if (!p->list) abort();
    for (; n < l->observer_count; n++) p->list[n] = l->observers[n];
    p->list[n++] = placement_observer(p->placement);
    l->observers = p->list;
    l->observer_count = n;
}

/* The text of an option; NULL: it was not given. */
static const char *value_of(const struct run_options *o, enum run_option_id id, struct piece *at)
{
    const struct run_option *option = run_option_find(o, id);
    if (!option) return NULL;
    *at = option->value;
    return arena_copy(o->arena, option->value.text, option->value.length);
}

static bool is_wrong(struct run_options *o, struct piece at, const char *why)
{
    diag_error(&o->diags, at.at, at.length, "%s", why);
    return false;
}

/* ---- hops of estimates ------------------------------------------------------------------------------------- */

/* A crossing of the network takes 5 cycles of its clock: table 5.2 of the GPUDet thesis ("Interconnect Latency 5 Cycle
 * (Interconnect Clock)"), a crossbar in each direction. */
enum { HOP_CYCLES = 5, HOP_CYCLES_MOST = 1000000 };

static uint32_t hops_partition(void *self, uint64_t address)
{
    const struct placement_report *p = self;
    return placement_partition(p->placement, address);
}

static uint32_t hops_between(void *self, uint32_t from, uint32_t to)
{
    const struct placement_report *p = self;
    return placement_hops(
        &(struct placement_options){.partitions = (uint32_t)p->partitions, .topology = p->network},
        from, to);
}

/* The model's network is a crossbar already: its one hop is a part of the latency of L2. */
static void use_hops(struct placement_report *p, const struct placement_options *o, uint64_t cycles)
{
    p->network = o->topology;
    p->hops = (struct timing_hops){.self = p,
                                   .partition = hops_partition,
                                   .between = hops_between,
                                   .partitions = o->partitions,
                                   .nearest = o->nearest,
                                   .cycles = o->topology == PLACEMENT_CROSSBAR ? 0
                                                                               : (double)cycles};
    if (p->topology) timing_use_hops(&p->hops);
}

/* ---- options ----------------------------------------------------------------------------------------------- */

/* The cycles of a hop. false after an error. */
static bool read_hop_cycles(struct run_options *o, const char *topology, bool estimates,
                            uint64_t *cycles)
{
    struct piece at = {0};
    *cycles = HOP_CYCLES;
    if (!value_of(o, OPTION_HOP_CYCLES, &at)) return true;
    if (!topology) return is_wrong(o, at, "--hop-cycles needs --topology");
    if (!estimates) return is_wrong(o, at, "--hop-cycles is for 'heddle estimate'");
    return number_read(&o->diags, "--hop-cycles", at, HOP_CYCLES_MOST, cycles);
}

bool placement_report_read(struct placement_report *p, struct run_options *o)
{
    struct piece at = {0}, at_distribute = {0}, at_partitions = {0}, at_topology = {0};
    uint64_t hop_cycles;
    struct placement_options options = {.partitions = 4, .nearest = true};
    const char *map = value_of(o, OPTION_MEMORY_MAP, &at);
    const char *distribute = value_of(o, OPTION_DISTRIBUTE, &at_distribute);
    const char *partitions = value_of(o, OPTION_PARTITIONS, &at_partitions);
    const char *topology = value_of(o, OPTION_TOPOLOGY, &at_topology);
    if (!read_hop_cycles(o, topology, p->estimates, &hop_cycles)) return false;
    if (!map && (distribute || partitions || topology))
        return is_wrong(o,
                        distribute   ? at_distribute
                        : partitions ? at_partitions
                                     : at_topology,
                        "it needs --memory-map");
    if (!map) return true;
    uint64_t n = options.partitions;
    if (partitions && !number_read(&o->diags, "--partitions", at_partitions, PLACEMENT_MOST, &n))
        return false;
    if (!n) return is_wrong(o, at_partitions, "there is at least one partition");
    options.partitions = (uint32_t)n;
    const char *why = NULL;
    if (memory_map_is_file(map)) {
        struct buf wrong = {0};
        const bool ok = memory_map_read(o->arena, map, &options, &wrong);
        if (!ok) fprintf(stderr, "%s", wrong.data);
        buf_free(&wrong);
        if (!ok) return is_wrong(o, at, "the memory map is wrong");
    } else why = placement_read_map(map, &options);
    if (why) return is_wrong(o, at, why);
    why = topology ? placement_read_topology(topology, &options) : NULL;
    if (why) return is_wrong(o, at_topology, why);
    if (distribute && strcmp(distribute, "nearest") != 0 && strcmp(distribute, "round-robin") != 0)
        return is_wrong(o, at_distribute, "--distribute is nearest or round-robin");
    options.nearest = !distribute || strcmp(distribute, "nearest") == 0;
    *p = (struct placement_report){.estimates = p->estimates,
                                   .placement = placement_new(&options),
                                   .watch = {.self = p, .before = before},
                                   .map = map,
                                   .topology = topology,
                                   .distribute = options.nearest ? "nearest" : "round-robin",
                                   .partitions = (unsigned long)n};
    if (p->estimates) use_hops(p, &options, hop_cycles);
    return true;
}

void placement_report_free(struct placement_report *p)
{
    if (timing_hops_in_use() == &p->hops) timing_use_hops(NULL);
    placement_free(p->placement);
    free((void *)p->list);
}

/* Over all sectors. */
static double mean_hops(const struct placement_counts *c)
{
    uint64_t sum = 0, all = 0;
    for (uint64_t h = 0; h < PLACEMENT_HOPS; h++) sum += h * c->hops[h], all += c->hops[h];
    return all ? (double)sum / (double)all : 0;
}

static void print_hops(const struct placement_report *p, const struct placement_counts *c)
{
    const char *before = "";
    printf("%s, %.3f hops in the mean; sectors by hops: ", p->topology, mean_hops(c));
    for (int h = 0; h < PLACEMENT_HOPS; h++)
        if (c->hops[h]) {
            printf("%s%d: %" PRIu64, before, h, c->hops[h]);
            before = ", ";
        }
    printf("%s\n", *before ? "" : "none");
}

/* "3-4", of a crossbar and a tree "3", of a tree's level above the partitions "level 1: 0". */
static void name_link(const struct placement_report *p, const struct placement_link *l,
                      char out[40])
{
    if (strcmp(p->topology, "mesh") == 0) snprintf(out, 40, "%u-%u", l->a, l->b);
    else if (l->level) snprintf(out, 40, "level %u: %u", l->level, l->a);
    else snprintf(out, 40, "%u", l->a);
}

static void print_links(const struct placement_report *p)
{
    size_t n;
    struct placement_link *const l = placement_links(p->placement, &n);
    uint64_t bytes = 0;
    char name[40];
    for (size_t i = 0; i < n; i++) bytes += l[i].bytes;
    if (n) {
        name_link(p, l, name);
        printf("%zu links carry %" PRIu64 " bytes; most, %" PRIu64 ", the link %s\n", n, bytes,
               l->bytes, name);
    }
    free(l);
}

void placement_report_print(const struct placement_report *p)
{
    if (!p || !p->placement || p->estimates) return;
    const struct placement_counts *c = placement_counts(p->placement);
    const uint64_t all = c->local + c->remote;
    printf("%lu partitions, %s, CTAs %s: %" PRIu64 " sectors local, %" PRIu64 " remote (%.2f %%)\n",
           p->partitions, p->map, p->distribute, c->local, c->remote,
           all ? 100 * (double)c->remote / (double)all : 0);
    if (p->topology) {
        print_hops(p, c);
        print_links(p);
    }
    const char *unused = placement_unused(p->placement);
    if (unused)
        printf("note: no launch accesses an allocation called '%s', which %s has\n", unused,
               p->map);
    if (c->left_out)
        printf("%" PRIu64 " sectors of launches with too many CTAs are left out\n", c->left_out);
}

json_t *placement_report_json(const struct placement_report *p)
{
    if (!p || !p->placement || p->estimates) return NULL;
    const struct placement_counts *c = placement_counts(p->placement);
    json_t *o = json_pack("{ss, ss, si, so, so, so}", "memory_map", p->map, "distribute",
                          p->distribute, "partitions", (int)p->partitions, "local_sectors",
                          json_count(c->local), "remote_sectors", json_count(c->remote),
                          "left_out_sectors", json_count(c->left_out));
    const char *unused = placement_unused(p->placement);
    if (unused) json_object_set_new(o, "unused_allocation", json_text(unused));
    if (!p->topology) return o;
    int most = 0;
    for (int h = 0; h < PLACEMENT_HOPS; h++)
        if (c->hops[h]) most = h;
    json_t *hops = json_array();
    for (int h = 0; h <= most; h++) json_array_append_new(hops, json_count(c->hops[h]));
    json_object_set_new(o, "topology", json_string(p->topology));
    json_object_set_new(o, "sectors_by_hops", hops);
    json_object_set_new(o, "mean_hops", json_real(mean_hops(c)));
    size_t n;
    struct placement_link *const l = placement_links(p->placement, &n);
    json_t *links = json_array();
    for (size_t i = 0; i < n; i++) {
        char name[40];
        name_link(p, &l[i], name);
        json_array_append_new(links,
                              json_pack("{ss, so}", "link", name, "bytes", json_count(l[i].bytes)));
    }
    free(l);
    json_object_set_new(o, "links", links);
    return o;
}
