/* Reads the options of gpgpusim.config, then makes the configuration from them. */
#include "model/gpgpusim.h"

#include "base/arena.h"
#include "base/decimal.h"
#include "base/diag.h"
#include "base/text.h"
#include "model/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The options that are used, each with its other spelling and preset ("": it must be there). */
#define OPTIONS(X)                                                                                 \
    X(clusters, "gpgpu_n_clusters", NULL, "")                                                      \
    X(cores, "gpgpu_n_cores_per_cluster", NULL, "")                                                \
    X(memories, "gpgpu_n_mem", NULL, "")                                                           \
    X(parts, "gpgpu_n_sub_partition_per_mchannel", NULL, "1")                                      \
    X(clocks, "gpgpu_clock_domains", NULL, "")                                                     \
    X(registers, "gpgpu_shader_registers", NULL, "")                                               \
    X(pipeline, "gpgpu_shader_core_pipeline", NULL, "")                                            \
    X(ctas, "gpgpu_shader_cta", NULL, "")                                                          \
    X(most_capability, "gpgpu_ptx_force_max_capability", NULL, "0")                                \
    X(major, "gpgpu_compute_capability_major", NULL, "0")                                          \
    X(minor, "gpgpu_compute_capability_minor", NULL, "0")                                          \
    X(schedulers, "gpgpu_num_sched_per_core", NULL, "1")                                           \
    X(issue, "gpgpu_max_insn_issue_per_warp", NULL, "2")                                           \
    X(sp_units, "gpgpu_num_sp_units", NULL, "")                                                    \
    X(sfu_units, "gpgpu_num_sfu_units", NULL, "")                                                  \
    X(dp_units, "gpgpu_num_dp_units", NULL, "0")                                                   \
    X(int_units, "gpgpu_num_int_units", NULL, "0")                                                 \
    X(tensor_units, "gpgpu_num_tensor_core_units", NULL, "0")                                      \
    X(latency_int, "ptx_opcode_latency_int", NULL, "1,1,19,25,145,32")                             \
    X(latency_fp, "ptx_opcode_latency_fp", NULL, "1,1,1,1,30")                                     \
    X(latency_dp, "ptx_opcode_latency_dp", NULL, "8,8,8,8,335")                                    \
    X(latency_sfu, "ptx_opcode_latency_sfu", NULL, "8")                                            \
    X(latency_tensor, "ptx_opcode_latency_tesnor", "ptx_opcode_latency_tensor", "64")              \
    X(interval_int, "ptx_opcode_initiation_int", NULL, "1,1,4,4,32,4")                             \
    X(interval_fp, "ptx_opcode_initiation_fp", NULL, "1,1,1,1,5")                                  \
    X(interval_dp, "ptx_opcode_initiation_dp", NULL, "8,8,8,8,130")                                \
    X(interval_sfu, "ptx_opcode_initiation_sfu", NULL, "8")                                        \
    X(interval_tensor, "ptx_opcode_initiation_tensor", NULL, "64")                                 \
    X(dl1, "gpgpu_cache:dl1", NULL, "none")                                                        \
    X(dl2, "gpgpu_cache:dl2", NULL, "")                                                            \
    X(dl2_texture, "gpgpu_cache:dl2_texture_only", NULL, "1")                                      \
    X(adaptive, "gpgpu_adaptive_cache_config", "adaptive_cache_config", "0")                       \
    X(skip_l1, "gpgpu_gmem_skip_L1D", "gmem_skip_L1D", "0")                                        \
    X(l1_banks, "gpgpu_l1_banks", "l1_banks", "1")                                                 \
    X(shared, "gpgpu_shmem_size", NULL, "16384")                                                   \
    X(shared_cta, "gpgpu_shmem_per_block", NULL, "49152")                                          \
    X(banks, "gpgpu_shmem_num_banks", NULL, "16")                                                  \
    X(l1_latency, "gpgpu_l1_latency", "l1_latency", "1")                                           \
    X(shared_latency, "gpgpu_smem_latency", "smem_latency", "3")                                   \
    X(rop_latency, "gpgpu_l2_rop_latency", "rop_latency", "85")                                    \
    X(dram_latency, "dram_latency", NULL, "30")                                                    \
    X(flit, "icnt_flit_size", NULL, "32")                                                          \
    X(chips, "gpgpu_n_mem_per_ctrlr", NULL, "1")                                                   \
    X(bus, "gpgpu_dram_buswidth", NULL, "4")                                                       \
    X(burst, "gpgpu_dram_burst_length", NULL, "4")                                                 \
    X(ratio, "dram_data_command_freq_ratio", NULL, "2")                                            \
    X(timing, "gpgpu_dram_timing_opt", NULL, "4:2:8:12:21:13:34:9:4:5:13:1:0:0")

enum option_id {
#define X(id, name, other, preset) O_##id,
    OPTIONS(X)
#undef X
        OPTION_COUNT
};

static const struct {
    const char *name, *other, *preset;
} options[OPTION_COUNT] = {
#define X(id, name, other, preset) [O_##id] = {name, other, preset},
    OPTIONS(X)
#undef X
};

struct word {
    const char *text;
    uint32_t at, length;
};

struct config {
    struct diags *diags;
    struct word value[OPTION_COUNT]; /* text NULL: not said */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next word, quotes around it removed; false at the end. */
static bool next_word(struct diags *d, uint32_t *at, struct word *w)
{
    const struct source *s = d->source;
    uint32_t i = *at;
    while (i < s->length && (is_space(s->text[i]) || s->text[i] == '#'))
        if (s->text[i] != '#') i++;
        else
            while (i < s->length && s->text[i] != '\n') i++;
    const uint32_t from = i;
    if (i == s->length) return false;
    if (s->text[i] == '"') {
        while (++i < s->length && s->text[i] != '"') continue;
        if (i == s->length) diag_error(d, from, 1, "this quote is never closed");
        *w = (struct word){s->text + from + 1, from + 1, i - from - 1};
        *at = i == s->length ? i : i + 1;
        return true;
    }
    while (i < s->length && !is_space(s->text[i])) i++;
    *w = (struct word){s->text + from, from, i - from};
    *at = i;
    return true;
}

static bool is_option(struct word w)
{
    return w.length > 1 && w.text[0] == '-' && (w.text[1] < '0' || w.text[1] > '9');
}

static bool is(struct word w, const char *name)
{
    return name && w.length == strlen(name) && memcmp(w.text, name, w.length) == 0;
}

/* GPGPU-Sim takes the last of those that were said: nobody sees that the others are of no use. */
static void take_value(struct config *c, struct word *known, struct word name, struct word value)
{
    const bool same = known->text && known->length == value.length &&
                      memcmp(known->text, value.text, value.length) == 0;
    if (known->text && !same) {
        diag_error(c->diags, name.at, name.length, "'-%.*s' is here twice, with another value",
                   (int)name.length, name.text);
        diag_note(c->diags, known->at, known->length, "the first one");
    }
    *known = value;
}

static void take(struct config *c, struct word name, struct word value)
{
    struct text_nearest near = {.text = name.text, .length = name.length};
    for (int o = 0; o < OPTION_COUNT; o++) {
        if (is(name, options[o].name) || is(name, options[o].other)) {
            take_value(c, &c->value[o], name, value);
            return;
        }
        if (name.length > 10) text_nearest_try(&near, options[o].name);
    }
    if (near.best && near.distance <= 1 && !is(name, "gpgpu_cache:il1"))
        diag_warning(c->diags, name.at, name.length, "'-%.*s' is passed over; is it '-%s'?",
                     (int)name.length, name.text, near.best);
}

static void read_options(struct config *c)
{
    uint32_t at = 0;
    struct word w, name = {0};
    bool wants = false;
    while (next_word(c->diags, &at, &w)) {
        if (is_option(w)) {
            if (wants) diag_error(c->diags, name.at, name.length, "this option has no value");
            name = (struct word){w.text + 1, w.at + 1, w.length - 1};
            wants = true;
        } else if (!name.text) {
            diag_error(c->diags, w.at, w.length, "an option begins with '-'");
            return;
        } else if (wants) {
            take(c, name, w);
            wants = false;
        } else {
            diag_error(c->diags, w.at, w.length, "'-%.*s' has one value", (int)name.length,
                       name.text);
        }
    }
    if (wants) diag_error(c->diags, name.at, name.length, "this option has no value");
    for (int o = 0; o < OPTION_COUNT; o++)
        if (!c->value[o].text && !*options[o].preset)
            diag_error(c->diags, c->diags->source->length, 0, "there is no -%s", options[o].name);
}

/* ---- values ---------------------------------------------------------------------------------------- */

static struct word value_of(const struct config *c, enum option_id o)
{
    if (c->value[o].text) return c->value[o];
    const char *preset = options[o].preset;
    return (struct word){preset, c->diags->source->length, (uint32_t)strlen(preset)};
}

static void wrong(struct config *c, enum option_id o, const char *what)
{
    struct word w = value_of(c, o);
    diag_error(c->diags, w.at, c->value[o].text ? w.length : 0, "-%s: %s", options[o].name, what);
}

/* Up to `most` numbers between `separator`s, each from 0 to 1e9; how many there were, 0 after an error. */
static size_t numbers(struct config *c, enum option_id o, char separator, double *out, size_t least,
                      size_t most)
{
    struct word w = value_of(c, o);
    char text[256], *at = text, *end;
    size_t n = 0;
    if (w.length < sizeof text) memcpy(text, w.text, w.length);
    text[w.length < sizeof text ? w.length : 0] = 0;
    for (; n < most; at = end + 1) {
        double x = decimal_read(at, &end);
        if (end == at || !(*at >= '0' && *at <= '9') || !(x >= 0 && x <= 1e9)) break;
        out[n++] = x;
        if (*end != separator || !end[1]) {
            at = end;
            break;
        }
    }
    if (n >= least && (!*at || n == most)) return n;
    char why[80] = "not a number from 0 to 1e9";
    if (least > 1)
        snprintf(why, sizeof why, "not %zu%s numbers from 0 to 1e9 with '%c' between", least,
                 least < most ? " or more" : "", separator);
    wrong(c, o, why);
    return 0;
}

static double number(struct config *c, enum option_id o, double least, double most)
{
    double x = least;
    if (!numbers(c, o, ':', &x, 1, 1)) return least;
    if (x >= least && x <= most) return x;
    wrong(c, o, "out of range");
    return least;
}

static uint32_t count(struct config *c, enum option_id o, double least, double most)
{
    double x = number(c, o, least, most);
    if (x != floor(x)) wrong(c, o, "not a whole number");
    return (uint32_t)x;
}

struct cache_geometry {
    bool sectored;
    uint32_t sets, line, ways;
};

/* "S:32:128:24,L:B:..." or "64:128:8,L:B:...": kind, sets, bytes of a line, ways. "none": no sets. */
static struct cache_geometry geometry(struct config *c, enum option_id o)
{
    struct cache_geometry g = {0};
    struct word w = value_of(c, o);
    char text[256] = "", *at = text, *end;
    if (is(w, "none")) return g;
    if (w.length < sizeof text) memcpy(text, w.text, w.length);
    if (*at == 'S' || *at == 'N') {
        g.sectored = *at == 'S';
        if (*++at == ':') at++;
    }
    uint32_t *const part[] = {&g.sets, &g.line, &g.ways};
    for (int i = 0; i < 3; i++) {
        const unsigned long n = strtoul(at, &end, 10);
        const char want = i < 2 ? ':' : ',';
        if (end == at || *at < '0' || *at > '9' || !n || n > 1 << 20 || *end != want) {
            wrong(c, o, "a cache is [S:|N:]sets:line:ways,policies");
            return (struct cache_geometry){0};
        }
        *part[i] = (uint32_t)n;
        at = end + 1;
    }
    if (g.line > 4096 || (double)g.sets * g.line * g.ways > 1e9) wrong(c, o, "too large a cache");
    if (g.sectored && g.line % 32) wrong(c, o, "a sectored line is a multiple of 32 bytes");
    return g;
}

/* nbk and RC of "nbk=16:CCD=2:..." or "16:2:..." */
static void read_timing(struct config *c, struct emu_gpu *g)
{
    struct word w = value_of(c, O_timing);
    double x[14];
    if (w.length && *w.text >= '0' && *w.text <= '9') {
        if (!numbers(c, O_timing, ':', x, 11, 14)) return;
        g->dram_banks = (uint32_t)x[0];
        g->dram_row_cycle = x[6];
        return;
    }
    char text[512] = "";
    if (w.length < sizeof text) memcpy(text, w.text, w.length);
    double banks = 0, row = 0;
    for (char *at = text; *at;) {
        while (is_space(*at)) at++;
        char *equals = strchr(at, '='), *end;
        double n = equals ? decimal_read(equals + 1, &end) : 0;
        if (!equals || end == equals + 1 || (*end && *end != ':')) {
            wrong(c, O_timing, "it is name=number:name=number...");
            return;
        }
        if (strncmp(at, "nbk=", 4) == 0) banks = n;
        if (strncmp(at, "RC=", 3) == 0) row = n;
        at = *end ? end + 1 : end;
    }
    if (!(banks >= 1 && banks <= 4096) || !(row > 0 && row <= 1000))
        wrong(c, O_timing, "nbk or RC is missing or out of range");
    g->dram_banks = (uint32_t)banks;
    g->dram_row_cycle = row;
}

/* ---- the machine ----------------------------------------------------------------------------------- */

static void read_capability(struct config *c, struct emu_gpu *g)
{
    const uint32_t major = count(c, O_major, 0, 12), minor = count(c, O_minor, 0, 9);
    g->capability = major ? 10 * major + minor : count(c, O_most_capability, 0, 129);
    if (g->capability < 10) wrong(c, O_most_capability, "no compute capability is said");
}

static void read_sm(struct config *c, struct emu_gpu *g)
{
    double pipeline[2] = {1024, 32};
    numbers(c, O_pipeline, ':', pipeline, 2, 2);
    if (pipeline[1] != 32) wrong(c, O_pipeline, "warps of other than 32 threads");
    if (pipeline[0] < 32 || fmod(pipeline[0], 32) != 0) wrong(c, O_pipeline, "not whole warps");
    g->sms = count(c, O_clusters, 1, 1024) * count(c, O_cores, 1, 64);
    g->schedulers = count(c, O_schedulers, 1, 64);
    g->issue = count(c, O_issue, 1, 8);
    g->warps = (uint32_t)(pipeline[0] / 32);
    g->ctas = count(c, O_ctas, 1, 1024);
    g->registers = count(c, O_registers, 32, 1 << 24);
    g->register_unit = 128; /* it rounds a thread's to multiples of 4 */
    g->shared = count(c, O_shared, 1, 1 << 28);
    g->shared_cta = count(c, O_shared_cta, 1, 1 << 28);
    if (g->shared_cta > g->shared) g->shared_cta = g->shared;
    g->shared_unit = 1;
    g->shared_banks = count(c, O_banks, 1, 1024);
}

enum { ADD, MAX, MUL, MAD, DIV, SHUFFLE };

static void read_units(struct config *c, struct emu_gpu *g)
{
    double li[6] = {0}, lf[5] = {0}, ld[5] = {0}, ii[6] = {0}, fi[5] = {0}, di[5] = {0};
    const double sp = count(c, O_sp_units, 1, 64), sfu = count(c, O_sfu_units, 1, 64);
    const double dp = count(c, O_dp_units, 0, 64), integer = count(c, O_int_units, 0, 64);
    const double tensor = count(c, O_tensor_units, 0, 64);
    if (numbers(c, O_latency_int, ',', li, 5, 6) < 6) li[SHUFFLE] = 32;
    if (numbers(c, O_interval_int, ',', ii, 5, 6) < 6) ii[SHUFFLE] = 4;
    numbers(c, O_latency_fp, ',', lf, 5, 5);
    numbers(c, O_interval_fp, ',', fi, 5, 5);
    numbers(c, O_latency_dp, ',', ld, 5, 5);
    numbers(c, O_interval_dp, ',', di, 5, 5);
    for (int i = 0; i < 5; i++)
        if (ii[i] < 1 || fi[i] < 1 || di[i] < 1) {
            wrong(c,
                  ii[i] < 1   ? O_interval_int
                  : fi[i] < 1 ? O_interval_fp
                              : O_interval_dp,
                  "intervals are 1 at least");
            return;
        }
    const double of_int = integer > 0 ? integer : sp, of_dp = dp > 0 ? dp : sfu;
    g->int_lanes = of_int * 32 / ii[ADD];
    g->mul_lanes = of_int * 32 / ii[MUL];
    g->divide_lanes = sfu * 32 / ii[DIV];
    g->fp32_lanes = g->half_lanes = sp * 32 / fi[ADD];
    g->int_fp32_lanes = integer > 0 ? g->int_lanes + g->fp32_lanes
                                    : fmax(g->int_lanes, g->fp32_lanes);
    g->fp64_lanes = of_dp * 32 / di[ADD];
    g->sfu_lanes = sfu * 32 / number(c, O_interval_sfu, 1, 1000);
    g->convert_lanes = g->int_lanes;
    g->shuffle_lanes = g->capability >= 30 ? 32 : 0;
    g->memory_lanes = 32;
    /* mma.m16n16k16: 4096 multiply-adds in an interval of two instructions' steps */
    g->tensor_lanes = g->tensor_f16_lanes = tensor * 4096 / number(c, O_interval_tensor, 1, 1000);
    g->int_latency = g->convert_latency = li[ADD];
    g->mul_latency = li[MUL];
    g->divide_latency = li[DIV];
    g->fp32_latency = g->half_latency = lf[ADD];
    g->fp64_latency = ld[ADD];
    g->sfu_latency = number(c, O_latency_sfu, 1, 10000);
    g->shuffle_latency = g->capability >= 30 ? li[SHUFFLE] : 0;
    g->tensor_latency = tensor > 0 ? number(c, O_latency_tensor, 1, 10000) : 0;
}

static void read_l1(struct config *c, struct emu_gpu *g)
{
    const struct cache_geometry l1 = geometry(c, O_dl1);
    g->unified = number(c, O_adaptive, 0, 1) > 0 && l1.sets;
    g->l1 = l1.sets * l1.line * l1.ways + (g->unified ? g->shared : 0);
    g->l1_global = l1.sets && number(c, O_skip_l1, 0, 1) < 1;
    g->l1_line = l1.line;
    g->l1_sector = l1.sectored ? 32 : l1.line;
    g->l1_ways = l1.ways;
    g->l1_bandwidth = l1.sets ? g->l1_sector * number(c, O_l1_banks, 1, 64) : 0;
    g->shared_latency = number(c, O_shared_latency, 1, 10000);
    g->l1_latency = l1.sets ? number(c, O_l1_latency, 1, 10000) : 0;
    g->constant_latency = g->l1_latency > 0 ? g->l1_latency : 1;
}

static void read_memory(struct config *c, struct emu_gpu *g)
{
    const struct cache_geometry l2 = geometry(c, O_dl2);
    const uint32_t chips = count(c, O_chips, 1, 64), bus = count(c, O_bus, 1, 1024);
    g->dram_channels = count(c, O_memories, 1, 1024);
    g->l2_slices = g->dram_channels * count(c, O_parts, 1, 64);
    if (l2.sets && number(c, O_dl2_texture, 0, 1) < 1) {
        const double bytes = (double)g->l2_slices * l2.sets * l2.line * l2.ways;
        if (bytes > 2147483648.0) wrong(c, O_dl2, "too large a cache");
        else g->l2 = (uint32_t)bytes;
        g->l2_line = l2.line;
        g->l2_sector = 32;
        g->l2_ways = l2.ways;
    }
    g->l2_bandwidth = 32;
    g->l2_atomics = g->l2_atomic_conflict = 1;
    g->sm_bandwidth = number(c, O_flit, 1, 65536) / number(c, O_cores, 1, 64);
    g->dram_bus = g->dram_channels * chips * bus * 8;
    if (g->dram_bus > 65536) wrong(c, O_bus, "the bus is wider than 65536 bits");
    g->dram_data_rate = number(c, O_ratio, 1, 64);
    g->dram_bandwidth = g->dram_mhz * g->dram_data_rate * g->dram_bus / 8e3;
    g->dram_access = chips * bus * count(c, O_burst, 1, 64);
    g->l2_latency = g->l1_latency + number(c, O_rop_latency, 0, 5000);
    g->dram_latency = g->l2_latency + number(c, O_dram_latency, 0, 5000);
    g->atomic_latency = fmax(1, g->l2_latency);
    read_timing(c, g);
}

static void read_clocks(struct config *c, struct emu_gpu *g)
{
    double mhz[4] = {1, 1, 1, 1};
    numbers(c, O_clocks, ':', mhz, 4, 4);
    for (int i = 0; i < 4; i++)
        if (mhz[i] < 1 || mhz[i] > 100000) {
            wrong(c, O_clocks, "a clock in MHz is from 1 to 100000");
            break;
        }
    g->core_mhz = g->boost_mhz = mhz[0];
    g->interconnect_mhz = mhz[1];
    g->l2_mhz = mhz[2];
    g->dram_mhz = mhz[3];
}

/* As its file or folder is called, as far as a name can be. */
static void name_it(struct diags *d, struct emu_gpu *g)
{
    const char *from = d->source->name, *slash = strrchr(from, '/');
    const char *base = slash ? slash + 1 : from, *end = strstr(base, ".config");
    if (slash && strcmp(base, "gpgpusim.config") == 0)
        for (end = slash, base = slash; base > from && base[-1] != '/';) base--;
    const size_t length = end ? (size_t)(end - base) : strlen(base);
    char *name = arena_copy(d->arena, base, length);
    for (size_t n; (n = config_name(name, length)) < length;) name[n] = '_';
    g->name = g->title = name;
}

/* The option that a key's value came from, of those that can be at odds with others. */
static enum option_id option_of(int key)
{
    static const struct {
        int key;
        enum option_id option;
    } from[] = {{CONFIG_schedulers, O_schedulers},
                {CONFIG_register_unit, O_registers},
                {CONFIG_shared, O_shared},
                {CONFIG_shared_unit, O_shared},
                {CONFIG_shared_cta, O_shared_cta},
                {CONFIG_shared_banks, O_banks},
                {CONFIG_l1, O_dl1},
                {CONFIG_l1_line, O_dl1},
                {CONFIG_l1_sector, O_dl1},
                {CONFIG_l1_ways, O_dl1},
                {CONFIG_l1_latency, O_l1_latency},
                {CONFIG_l2, O_dl2},
                {CONFIG_l2_line, O_dl2},
                {CONFIG_l2_sector, O_dl2},
                {CONFIG_l2_ways, O_dl2},
                {CONFIG_l2_slices, O_dl2},
                {CONFIG_l2_latency, O_rop_latency},
                {CONFIG_dram_access, O_burst},
                {CONFIG_dram_channels, O_memories},
                {CONFIG_dram_bus, O_bus}};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        if (from[i].key == key) return from[i].option;
    return OPTION_COUNT;
}

static void complain(void *self, int key, const char *why)
{
    struct config *c = self;
    const enum option_id o = option_of(key);
    const bool said = o < OPTION_COUNT && c->value[o].text;
    diag_error(c->diags, said ? c->value[o].at : 0, said ? c->value[o].length : 0, "%s.%s: %s",
               config_keys[key].section, config_keys[key].key, why);
}

bool gpgpusim_read(struct diags *d, struct emu_gpu *g)
{
    struct config c = {.diags = d};
    *g = (struct emu_gpu){0};
    name_it(d, g);
    read_options(&c);
    if (d->errors) return false;
    read_capability(&c, g);
    read_clocks(&c, g);
    read_sm(&c, g);
    read_units(&c, g);
    read_l1(&c, g);
    read_memory(&c, g);
    if (!d->errors) config_check(g, complain, &c);
    return !d->errors;
}
