/* The keys of GPU configurations; parses and checks their values (model/config.h). */
#include "model/config.h"

#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct config_key config_keys[CONFIG_KEYS] = {
#define ROW(section, key, field, kind, least, most, optional, unit, text)                          \
    [CONFIG_##field] = {                                                                           \
        #section, #key, unit, text, kind, least, most, optional, offsetof(struct emu_gpu, field)},
#define COUNT(section, key, field, least, most, unit, text)                                        \
    ROW(section, key, field, CONFIG_COUNT, least, most, false, unit, text)
#define RATE(section, key, field, least, most, unit, text)                                         \
    ROW(section, key, field, CONFIG_RATE, least, most, false, unit, text)
#define OPTIONAL(section, key, field, least, most, unit, text)                                     \
    ROW(section, key, field, CONFIG_RATE, least, most, true, unit, text)
#define FLAG(section, key, field, text) ROW(section, key, field, CONFIG_FLAG, 0, 1, false, "", text)
#include "emu/gpu.def"
};

int config_find(const char *section, const char *key)
{
    for (int k = 0; k < CONFIG_KEYS; k++)
        if (strcmp(config_keys[k].section, section) == 0 && strcmp(config_keys[k].key, key) == 0)
            return k;
    return -1;
}

double config_get(const struct emu_gpu *g, int key)
{
    const char *at = (const char *)g + config_keys[key].offset;
    return config_keys[key].kind == CONFIG_RATE ? *(const double *)(const void *)at
                                                : *(const uint32_t *)(const void *)at;
}

void config_put(struct emu_gpu *g, int key, double value)
{
    char *at = (char *)g + config_keys[key].offset;
    if (config_keys[key].kind == CONFIG_RATE) *(double *)(void *)at = value;
    else *(uint32_t *)(void *)at = (uint32_t)value;
}

static _Thread_local char reason[160];

#define REFUSE(...) (snprintf(reason, sizeof reason, __VA_ARGS__), reason)

size_t config_name(const char *text, size_t length)
{
    static const char may[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t n = 0;
    while (n < length && text[n] && strchr(may, text[n])) n++;
    return n;
}

const char *config_read(struct emu_gpu *g, int key, const char *text, size_t length)
{
    const struct config_key *k = &config_keys[key];
    char word[64], *end;
    if (length >= sizeof word) return REFUSE("too long for a value");
    memcpy(word, text, length);
    word[length] = 0;
    if (k->kind == CONFIG_FLAG) {
        if (strcmp(word, "yes") != 0 && strcmp(word, "no") != 0)
            return REFUSE("%s.%s is yes or no, not '%s'", k->section, k->key, word);
        config_put(g, key, word[0] == 'y');
        return NULL;
    }
    double value = decimal_read(word, &end);
    const char first = word[word[0] == '-'];
    if (end == word || !(first >= '0' && first <= '9') || strpbrk(word, "xXnN"))
        return REFUSE("%s.%s is a number, not '%s'", k->section, k->key, word);
    if (strcmp(k->unit, "bytes") == 0 && strcmp(end, " KB") == 0) value *= 1024, end += 3;
    if (*end) return REFUSE("'%s' is behind the number of %s.%s", end, k->section, k->key);
    if (key == CONFIG_capability) value = round(value * 10);
    if (k->kind == CONFIG_COUNT && value != floor(value))
        return REFUSE("%s.%s is a whole number, not %s", k->section, k->key, word);
    if (!(value >= k->least && value <= k->most))
        return REFUSE("%s.%s is from %g to %g%s%s, not %s", k->section, k->key, k->least, k->most,
                      *k->unit ? " " : "", k->unit, word);
    config_put(g, key, value);
    return NULL;
}

struct judge {
    void (*complain)(void *self, int key, const char *why);
    void *self;
    bool ok;
};

static void blame(struct judge *j, bool wrong, int key, const char *why)
{
    if (!wrong) return;
    j->complain(j->self, key, why);
    j->ok = false;
}

static void check_shared(struct judge *j, const struct emu_gpu *g)
{
    blame(j, g->shared_cta > g->shared, CONFIG_shared_cta, "a CTA cannot have more than its SM");
    blame(j, g->unified && g->shared > g->l1, CONFIG_shared,
          "shared memory is taken from L1 (l1.unified), but there is more of it");
    blame(j, g->shared_unit > g->shared, CONFIG_shared_unit, "more than there is");
    blame(j, g->register_unit > g->registers, CONFIG_register_unit, "more than there are");
    blame(j, g->warps % g->schedulers != 0, CONFIG_schedulers,
          "each scheduler has as many of the SM's warps (sm.warps)");
    blame(j, g->shared_banks != 16 && g->shared_banks != 32, CONFIG_shared_banks,
          "16 of them, or 32: a pass serves a half-warp or a warp");
}

struct cache_keys {
    int bytes, line, sector, ways;
};

/* `other`: bytes that it has, too, if shared memory has the rest; 0: none. */
static void check_cache(struct judge *j, const struct emu_gpu *g, struct cache_keys k,
                        uint32_t other)
{
    const uint32_t bytes = (uint32_t)config_get(g, k.bytes), line = (uint32_t)config_get(g, k.line),
                   sector = (uint32_t)config_get(g, k.sector),
                   ways = (uint32_t)config_get(g, k.ways);
    if (!bytes) return;
    blame(j, !line || !sector || !ways, k.bytes, "a cache has lines, sectors and ways");
    if (!line || !sector || !ways) return;
    blame(j, line != EMU_LINE_BYTES, k.line, "caches have lines of 128 bytes");
    blame(j, line % sector != 0, k.sector, "a line is a whole number of sectors");
    blame(j, sector % EMU_SECTOR_BYTES != 0, k.sector, "a sector is 32, 64 or 128 bytes");
    blame(j, bytes % line != 0, k.bytes, "not a whole number of lines");
    blame(j, bytes % (line * ways) != 0 && (!other || other % (line * ways) != 0), k.ways,
          "its lines are no whole number of sets of so many");
}

/* Up to compute capability 3 shared memory and L1 change their sizes for each other's. */
static uint32_t other_l1(const struct emu_gpu *g)
{
    return g->unified && g->capability < 40 ? g->shared : 0;
}

static void check_memory(struct judge *j, const struct emu_gpu *g)
{
    const double bandwidth = g->dram_mhz * g->dram_data_rate * g->dram_bus / 8e3;
    static const struct cache_keys l1 = {CONFIG_l1, CONFIG_l1_line, CONFIG_l1_sector,
                                         CONFIG_l1_ways},
                                   l2 = {CONFIG_l2, CONFIG_l2_line, CONFIG_l2_sector,
                                         CONFIG_l2_ways};
    check_cache(j, g, l1, other_l1(g));
    check_cache(j, g, l2, 0);
    blame(j, g->l2 % g->l2_slices != 0, CONFIG_l2_slices, "not as much of L2 for each");
    blame(j, g->dram_bus % 8 != 0, CONFIG_dram_bus, "not a whole number of bytes");
    blame(j, g->dram_bus % (8 * g->dram_channels) != 0, CONFIG_dram_channels,
          "the bus (dram.bus) has not as many bytes for each");
    blame(j, (g->dram_access & (g->dram_access - 1)) != 0, CONFIG_dram_access,
          "not a power of two");
    blame(j, g->l1 && !(g->l1_latency > 0 && g->l1_bandwidth > 0), CONFIG_l1_latency,
          "there is an L1, so it has a latency and a bandwidth");
    blame(j, g->l1_latency > g->l2_latency, CONFIG_l1_latency, "L1 is slower than L2");
    blame(j, g->l2_latency > g->dram_latency, CONFIG_l2_latency, "L2 is slower than DRAM");
    blame(j, fabs(bandwidth - g->dram_bandwidth) > 0.02 * bandwidth, CONFIG_dram_bandwidth,
          "not clock.dram * data_rate * bus / 8");
}

static void check_units(struct judge *j, const struct emu_gpu *g)
{
    blame(j, (g->half_lanes > 0) != (g->half_latency > 0), CONFIG_half_latency,
          "f16 has a throughput and a latency, or neither");
    blame(j, (g->fp64_lanes > 0) != (g->fp64_latency > 0), CONFIG_fp64_latency,
          "f64 has a throughput and a latency, or neither");
    blame(j, (g->tensor_lanes > 0) != (g->tensor_latency > 0), CONFIG_tensor_latency,
          "matrix instructions have a throughput and a latency, or neither");
    blame(j, (g->shuffle_lanes > 0) != (g->shuffle_latency > 0), CONFIG_shuffle_latency,
          "shuffles have a throughput and a latency, or neither");
    blame(j, g->int_fp32_lanes > g->int_lanes + g->fp32_lanes, CONFIG_int_fp32_lanes,
          "more than integer and f32 lanes together");
}

bool config_check(const struct emu_gpu *g, void (*complain)(void *self, int key, const char *why),
                  void *self)
{
    struct judge j = {complain, self, true};
    check_shared(&j, g);
    check_memory(&j, g);
    check_units(&j, g);
    return j.ok;
}

double config_dram_rate(const struct emu_gpu *g)
{
    return g->dram_bandwidth * 1e3 / g->core_mhz / 32;
}

double config_l2_rate(const struct emu_gpu *g)
{
    const double slices = g->l2_slices * g->l2_bandwidth * g->l2_mhz;
    const double ports = g->sms * g->sm_bandwidth * g->interconnect_mhz;
    return fmin(slices, ports) / g->core_mhz / 32;
}

double config_seconds(const struct emu_gpu *g, double cycles)
{
    return cycles / (g->core_mhz * 1e6);
}
