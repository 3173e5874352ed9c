/* GPU configurations: those that are built in, YAML and gpgpusim.config as users write them. */
#define _GNU_SOURCE /* mkstemps */
#include "base/arena.h"
#include "base/diag.h"
#include "model/config.h"
#include "model/gpgpusim.h"
#include "model/machine.h"
#include "model/timing.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What `heddle gpus FILE` prints of a file with that text; exit status in *status. Free it. */
static char *gpus(const char *ending, const char *text, int *status)
{
    char path[64], command[256], *program = getenv("HEDDLE");
    snprintf(path, sizeof path, "/tmp/heddle-gpus-XXXXXX%s", ending);
    FILE *f = fdopen(mkstemps(path, (int)strlen(ending)), "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
    snprintf(command, sizeof command, "%s gpus %s 2>&1", program ? program : "./heddle", path);
    FILE *out = popen(command, "r");
    cr_assert(out);
    char *said = calloc(1, 1 << 16);
    cr_assert(said && fread(said, 1, (1 << 16) - 1, out) < (1 << 16) - 1);
    *status = pclose(out) / 256;
    unlink(path);
    return said;
}

static const struct emu_gpu *read_gpgpusim(struct arena *a, const char *text, char *error)
{
    struct source source = {"folder/SOME/gpgpusim.config", text, (uint32_t)strlen(text)};
    struct diags d = {.arena = a, .source = &source};
    struct emu_gpu *g = arena_array(a, struct emu_gpu, 1);
    struct buf out = {0};
    bool ok = gpgpusim_read(&d, g);
    diags_render(&d, &out);
    snprintf(error, 256, "%.255s", out.data ? out.data : "");
    buf_free(&out);
    return ok ? g : NULL;
}

/* The table that the build makes of the files holds what the strict reader reads in them. */
Test(gpus, built_in_ones_are_what_their_files_say)
{
    cr_assert(emu_gpu_count() >= 17);
    for (size_t i = 0; i < emu_gpu_count(); i++) {
        const struct emu_gpu *g = emu_gpu_at(i);
        int status;
        size_t sources = 0;
        for (const char *p = emu_gpu_text(i); (p = strstr(p, " # ")) != NULL; p++) sources++;
        cr_expect(sources == CONFIG_KEYS, "%s: %zu sources", g->name, sources);
        /* A changed comment is another file than the built-in one: it is printed as it was read. */
        char *said = gpus(".yaml", emu_gpu_text(i), &status);
        cr_assert(status == 0, "%s: %s", g->name, said);
        for (int k = 0; k < CONFIG_KEYS; k++) {
            char want[96];
            double value = config_get(g, k);
            if (config_keys[k].kind == CONFIG_FLAG)
                snprintf(want, sizeof want, "\n  %s: %s ", config_keys[k].key,
                         value > 0 ? "yes" : "no");
            else if (k == CONFIG_capability)
                snprintf(want, sizeof want, "\n  capability: %.1f ", value / 10);
            else snprintf(want, sizeof want, "\n  %s: %.10g ", config_keys[k].key, value);
            char section[32];
            snprintf(section, sizeof section, "\n%s:\n", config_keys[k].section);
            const char *in = strstr(said, section);
            cr_expect(in && strstr(in, want), "%s: no '%s' in %s", g->name, want + 1, section + 1);
        }
        free(said);
    }
}

/* V100: replaced in its text, and what is said of it. A line that begins with + is so many behind that of the name,
 * since sources above it come and go. */
Test(gpus, broken_files_are_refused_with_place_and_reason)
{
    static const struct {
        const char *what, *by, *line, *reason;
    } cases[] = {
        {"name: v100", "name: v 100", "+0:7", "a name has letters, digits, '-', '_' and '.'"},
        {"name: v100", "name: \"t\xff\"", "+0:8", "a name has letters"},
        {"  sms: 80", "  sms: 0", "+4:8", "device.sms is from 1 to 1024, not 0"},
        {"  sms: 80", "  sms: -1", "+4:8", "device.sms is from 1 to 1024, not -1"},
        {"  sms: 80", "  sms: -x", "+4:8", "device.sms is a number, not '-x'"},
        {"  sms: 80", "  sms: nan", "+4:8", "device.sms is a number, not 'nan'"},
        {"  sms: 80", "  sms: 80.5", "+4:8", "device.sms is a whole number, not 80.5"},
        {"  sms: 80", "  sms: 80 MB", "+4:8", "' MB' is behind the number"},
        {"  sms: 80", "  sns: 80", "+4:3", "a GPU has no 'sns' in device"},
        {"  sms: 80", "", "error:", "there is no device.sms (streaming multiprocessors)"},
        {"clock:", "clok:", "error: a GPU has no 'clok'", "did you mean 'clock'?"},
        {"  unified: yes", "  unified: 1", "error:", "l1.unified is yes or no, not '1'"},
        {"  l2: 193", "  l2: 20", "error:", "latency.l1: L1 is slower than L2"},
        {"  bandwidth: 900.1", "  bandwidth: 9001",
         "error:", "dram.bandwidth: not clock.dram * data_rate * bus / 8"},
        {"  shared: 96 KB", "  shared: 256 KB", "error:", "there is more of it"},
        {"  sector: 32", "  sector: 48", "error:", "a line is a whole number of sectors"},
        {"name: v100", "name: v100\nname: v100", "error:", "'name' is here twice"},
        {"  fp64: 32", "  fp64: 0", "error:", "f64 has a throughput and a latency, or neither"},
        {"clock:", "clock: {core: 1}", "+6:8", "a value is a number, yes, no or a name"},
        {"clock:", "clock: 5", "+6:8", "clock has keys, on lines of their own"},
        {"  sms: 80", "   sms: 80", "+4:4", "the keys of a section are indented alike"},
        {"  sms: 80", "\tsms: 80", "+4:1", "lines are indented by spaces"},
        {"  sms: 80", "  sms 80", "+4:3", "a line is 'key: value' or 'section:'"},
        {"  sms: 80", "  sms: '80", "+4:8", "quotes stand around a value"},
        {"name: v100", "  name: v100", "+0:3", "this is indented, and in no section"},
        {"\ndram:", "\nclock:", "error:", "'clock' is here twice"},
        {"name: v100", "name:", "+0:1", "it is a word"},
        {"  bus: 4096", "  bus: 4095", "error:", "dram.bus: not a whole number of bytes"},
        {"  bus: 4096", "  bus: 4104",
         "error:", "dram.channels: the bus (dram.bus) has not as many bytes for each"},
        {"  access: 32", "  access: 33", "error:", "dram.access: not a power of two"},
        {"  ways: 256", "  ways: 255", "error:", "l1.ways: its lines are no whole number of sets"},
        {"  ways: 16", "  ways: 11", "error:", "l2.ways: its lines are no whole number of sets"},
        {"  line: 128", "  line: 64", "error:", "l1.line: caches have lines of 128 bytes"},
        {"  sector: 32", "  sector: 16", "error:", "l1.sector: a sector is 32, 64 or 128 bytes"},
        {"  slices: 64", "  slices: 65", "error:", "l2.slices: not as much of L2 for each"},
        {"  schedulers: 4", "  schedulers: 3",
         "error:", "sm.schedulers: each scheduler has as many of the SM's warps (sm.warps)"},
        {"  shared_banks: 32", "  shared_banks: 33",
         "error:", "sm.shared_banks: 16 of them, or 32"},
    };
    const char *text = NULL;
    for (size_t i = 0; i < emu_gpu_count(); i++)
        if (strcmp(emu_gpu_at(i)->name, "v100") == 0) text = emu_gpu_text(i);
    cr_assert(text);
    unsigned name = 1;
    for (const char *c = text; c < strstr(text, "\nname:") + 1; c++) name += *c == '\n';
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = strstr(text, cases[i].what);
        struct buf b = {0};
        int status;
        cr_assert(at, "%s", cases[i].what);
        buf_add(&b, text, (size_t)(at - text));
        buf_puts(&b, cases[i].by);
        buf_puts(&b, at + strlen(cases[i].what));
        char *said = gpus(".yaml", b.data, &status), line[32], *column;
        const unsigned behind = (unsigned)strtoul(cases[i].line, &column, 10);
        if (cases[i].line[0] == '+')
            snprintf(line, sizeof line, ":%u%s: error:", name + behind, column);
        else snprintf(line, sizeof line, "%s", cases[i].line);
        cr_expect(status == 1 && strstr(said, cases[i].reason) && strstr(said, line), "%s: %d, %s",
                  cases[i].by, status, said);
        free(said);
        buf_free(&b);
    }
}

/* Values of a GTX 480 in the spelling of GPGPU-Sim 3, of a TITAN V in that of 4.2. */
static const char fermi[] =
    "# a comment\n-gpgpu_ptx_force_max_capability 20 \n-gpgpu_n_clusters 15\n"
    "-gpgpu_n_cores_per_cluster 1\n-gpgpu_n_mem 6\n-gpgpu_n_sub_partition_per_mchannel 2\n"
    "-gpgpu_clock_domains 700.0:700.0:700.0:924.0\n-gpgpu_shader_registers 32768\n"
    "-gpgpu_shader_core_pipeline 1536:32 \n-gpgpu_shader_cta 8\n-gpgpu_num_sp_units 2\n"
    "-gpgpu_num_sfu_units 1\n-ptx_opcode_latency_int 4,13,4,5,145\n"
    "-ptx_opcode_initiation_int 1,2,2,1,8\n-ptx_opcode_latency_fp 4,13,4,5,39\n"
    "-ptx_opcode_initiation_fp 1,2,1,1,4\n-ptx_opcode_latency_dp 8,19,8,8,330\n"
    "-ptx_opcode_initiation_dp 8,16,8,8,130\n-gpgpu_cache:dl1  32:128:4,L:L:m:N:H,A:32:8,8\n"
    "-gpgpu_shmem_size 49152\n-gpgpu_cache:dl2 64:128:8,L:B:m:W:L,A:32:4,4:0,32\n"
    "-gpgpu_cache:dl2_texture_only 0\n-gpgpu_shmem_num_banks 32\n-rop_latency 120\n"
    "-dram_latency 100\n-gpgpu_n_mem_per_ctrlr 2\n-gpgpu_dram_buswidth 4\n"
    "-gpgpu_dram_burst_length 8\n-dram_data_command_freq_ratio 4  # GDDR5 is QDR\n"
    "-gpgpu_dram_timing_opt \"nbk=16:CCD=2:RRD=6:RCD=12:RAS=28:RP=12:RC=40:\n"
    "       CL=12:WL=4:CDLR=5:WR=12:nbkgrp=4:CCDL=3:RTPL=2\"\n-gpgpu_num_sched_per_core 2\n";
static const char volta[] =
    "-gpgpu_compute_capability_major 7\n-gpgpu_compute_capability_minor 0\n-gpgpu_n_clusters 40\n"
    "-gpgpu_n_cores_per_cluster 2\n-gpgpu_n_mem 24\n-gpgpu_n_sub_partition_per_mchannel 2\n"
    "-gpgpu_clock_domains 1200.0:1200.0:1200.0:850.0\n-gpgpu_shader_registers 65536\n"
    "-gpgpu_shader_core_pipeline 2048:32\n-gpgpu_shader_cta 32\n-gpgpu_num_sp_units 4\n"
    "-gpgpu_num_sfu_units 4\n-gpgpu_num_dp_units 4\n-gpgpu_num_int_units 4\n"
    "-ptx_opcode_latency_int 4,13,4,5,145,32\n-ptx_opcode_initiation_int 2,2,2,2,8,4\n"
    "-ptx_opcode_initiation_fp 2,2,2,2,4\n-gpgpu_adaptive_cache_config 1\n-gpgpu_l1_banks 4\n"
    "-gpgpu_cache:dl1  S:1:128:256,L:L:s:N:L,A:256:8,16:0,32\n-gpgpu_shmem_size 98304\n"
    "-gpgpu_l1_latency 20\n-gpgpu_cache:dl2 S:32:128:24,L:B:m:L:P,A:192:4,32:0,32\n"
    "-gpgpu_cache:dl2_texture_only 0\n-icnt_flit_size 40\n-gpgpu_l2_rop_latency 160\n"
    "-dram_latency 100\n-gpgpu_dram_buswidth 16\n-gpgpu_dram_burst_length 2\n"
    "-gpgpu_dram_timing_opt 16:1:3:12:28:12:40:12:2:3:10:4:2:3\n-visualizer_enabled 0\n";

Test(gpus, both_spellings_of_gpgpusim_are_read)
{
    struct arena *a = arena_new();
    char error[256];
    const struct emu_gpu *f = read_gpgpusim(a, fermi, error);
    cr_assert(f, "%s", error);
    cr_expect(strcmp(f->name, "SOME") == 0);
    cr_expect(f->sms == 15 && f->warps == 48 && f->capability == 20 && f->l2 == 768 << 10);
    cr_expect(f->l1 == 16 << 10 && f->l1_sector == 128 && f->l1_ways == 4 && !f->unified);
    cr_expect(f->int_latency == 4 && f->mul_lanes == 32 && f->fp64_lanes == 4);
    cr_expect(f->dram_bus == 384 && f->dram_access == 64 && f->dram_row_cycle == 40);
    cr_expect(f->dram_latency == 221 && f->l2_latency == 121 && f->dram_banks == 16);
    const struct emu_gpu *v = read_gpgpusim(a, volta, error);
    cr_assert(v, "%s", error);
    cr_expect(v->sms == 80 && v->unified && v->l1 == 128 << 10 && v->l1_sector == 32);
    cr_expect(v->l2 == 4608 << 10 && v->l2_slices == 48 && v->l2_ways == 24);
    cr_expect(v->int_lanes == 64 && v->int_fp32_lanes == 128 && v->l2_latency == 180);
    cr_expect(v->dram_bandwidth > 652 && v->dram_bandwidth < 653 && v->dram_row_cycle == 40);
    arena_free(a);
}

/* The thesis's GTX 480 and GPGPU-Sim's: where both name a value they agree, but for these, of which
 * the thesis says otherwise (table 5.2) or of which GPGPU-Sim says what one configuration has. */
Test(gpus, the_gtx480_of_the_thesis_agrees_with_gpgpusim)
{
    static const int common[] = {CONFIG_capability,
                                 CONFIG_sms,
                                 CONFIG_core_mhz,
                                 CONFIG_interconnect_mhz,
                                 CONFIG_l2_mhz,
                                 CONFIG_dram_mhz,
                                 CONFIG_schedulers,
                                 CONFIG_warps,
                                 CONFIG_ctas,
                                 CONFIG_registers,
                                 CONFIG_shared,
                                 CONFIG_shared_banks,
                                 CONFIG_fp32_lanes,
                                 CONFIG_l1,
                                 CONFIG_l1_line,
                                 CONFIG_l1_ways,
                                 CONFIG_l2,
                                 CONFIG_l2_line,
                                 CONFIG_l2_ways,
                                 CONFIG_l2_slices,
                                 CONFIG_dram_channels,
                                 CONFIG_dram_bus,
                                 CONFIG_dram_data_rate,
                                 CONFIG_dram_banks,
                                 CONFIG_dram_row_cycle,
                                 CONFIG_sm_bandwidth};
    static const int differ[] = {CONFIG_dram_mhz, CONFIG_l1, CONFIG_l1_ways};
    struct arena *a = arena_new();
    char error[256];
    const struct emu_gpu *simulated = read_gpgpusim(a, fermi, error);
    const struct emu_gpu *thesis = emu_gpu_find("gtx480");
    cr_assert(simulated && thesis);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        bool may = false;
        for (size_t j = 0; j < sizeof differ / sizeof *differ; j++) may |= differ[j] == common[i];
        cr_expect((config_get(thesis, common[i]) == config_get(simulated, common[i])) == !may,
                  "%s.%s", config_keys[common[i]].section, config_keys[common[i]].key);
    }
    arena_free(a);
}

/* gtx480_thesis is gtx480 but for what table 5.2 says otherwise; its schedulers are "Loose Round Robin". */
Test(gpus, the_thesis_has_less_shared_memory_and_other_schedulers)
{
    const struct emu_gpu *g = emu_gpu_find("gtx480_thesis"), *hardware = emu_gpu_find("gtx480");
    struct timing_machine m, greedy;
    cr_assert(g && hardware);
    for (int k = 0; k < CONFIG_KEYS; k++) {
        const bool differs = k == CONFIG_shared || k == CONFIG_shared_cta || k == CONFIG_l1 ||
                             k == CONFIG_unified;
        cr_expect((config_get(g, k) == config_get(hardware, k)) == !differs, "%s.%s",
                  config_keys[k].section, config_keys[k].key);
    }
    cr_expect(g->shared == 16 << 10 && g->shared_cta == 16 << 10 && g->l1 == 48 << 10);
    cr_assert(machine_of(g, &m) && machine_of(hardware, &greedy));
    cr_expect(!m.oldest && greedy.oldest);
    cr_expect(m.l2_latency == greedy.l2_latency && m.dram_interval == greedy.dram_interval);
}

Test(gpus, broken_gpgpusim_files_are_refused_with_place_and_reason)
{
    static const struct {
        const char *what, *by, *want;
    } cases[] = {
        {"-gpgpu_n_mem 24", "-gpgpu_n_mem x", ":5:14: error: -gpgpu_n_mem: not a number"},
        {"-gpgpu_n_mem 24", "-gpgpu_n_mem 0", ":5:14: error: -gpgpu_n_mem: out of range"},
        {"-gpgpu_n_mem 24", "-gpgpu_n_mem", ":5:2: error: this option has no value"},
        {"-gpgpu_n_mem 24", "-gpgpu_n_mem 24 25", ":5:17: error: '-gpgpu_n_mem' has one value"},
        {"-gpgpu_n_mem 24", "", "error: there is no -gpgpu_n_mem"},
        {"-gpgpu_n_mem 24", "-gpgpu_n_mem 24\n-icnt \"", "error: this quote is never closed"},
        {"S:32:128:24", "S:32:128", "a cache is [S:|N:]sets:line:ways,policies"},
        {"S:32:128:24", "S:32:130:24", "a sectored line is a multiple of 32 bytes"},
        {"2048:32", "2048:64", "warps of other than 32 threads"},
        {"16:1:3:12", "nbk=16:RC", "it is name=number:name=number..."},
        {"1200.0:850.0", "1200.0", "not 4 numbers from 0 to 1e9 with ':' between"},
        {"2,2,2,2,8,4", "2,0,2,2,8,4", "intervals are 1 at least"},
        {"-gpgpu_shader_cta 32", "-gpgpu_shader_cta 1.5", "not a whole number"},
        {"-gpgpu_n_mem 24", "-gpgpu_n_mem 24\n-gpgpu_n_mem 23",
         ":6:2: error: '-gpgpu_n_mem' is here twice, with another value"},
        {"-gpgpu_l1_latency 20", "-gpgpu_l1_latency 20\n-l1_latency 28",
         "error: '-l1_latency' is here twice, with another value"},
        {"S:1:128:256", "S:1:64:256", ":20:19: error: l1.line: caches have lines of 128 bytes"},
        {"-gpgpu_shader_cta 32", "-gpgpu_shader_cta 32\n-gpgpu_num_sched_per_core 3",
         ":11:27: error: sm.schedulers: each scheduler has as many of the SM's warps"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *a = arena_new();
        struct buf b = {0};
        char error[256];
        const char *at = strstr(volta, cases[i].what);
        cr_assert(at, "%s", cases[i].what);
        buf_add(&b, volta, (size_t)(at - volta));
        buf_puts(&b, cases[i].by);
        buf_puts(&b, at + strlen(cases[i].what));
        cr_expect(!read_gpgpusim(a, b.data, error) && strstr(error, cases[i].want), "%s: %s",
                  cases[i].by, error);
        buf_free(&b);
        arena_free(a);
    }
}

static int status_of(const char *command, char *said, size_t size)
{
    FILE *out = popen(command, "r");
    cr_assert(out);
    said[fread(said, 1, size - 1, out)] = '\0';
    return pclose(out) / 256;
}

/* Wherever a GPU's name is taken. The job's file is beside it. */
Test(gpus, files_are_taken_for_names)
{
    const char *text = NULL, *program = getenv("HEDDLE");
    char folder[] = "/tmp/heddle-gpus-XXXXXX", path[64], command[1024], said[4096];
    if (!program) program = "./heddle";
    cr_assert(mkdtemp(folder));
    for (size_t i = 0; i < emu_gpu_count(); i++)
        if (strcmp(emu_gpu_at(i)->name, "a100") == 0) text = emu_gpu_text(i);
    cr_assert(text);
    const char *at = strstr(text, "  sms: 108");
    cr_assert(at);
    snprintf(path, sizeof path, "%s/own.yaml", folder);
    FILE *f = fopen(path, "w");
    fprintf(f, "---\n%.*s  sms: 3 %s", (int)(at - text), text, at + 10);
    fclose(f);
    snprintf(path, sizeof path, "%s/job.yaml", folder);
    f = fopen(path, "w");
    fprintf(f, "heddle: 1\nmodules: k.ptx\noptions:\n  gpu: ./own.yaml\nsteps:\n"
               "  - launch: k\n    grid: 1\n    block: 32\n");
    fclose(f);
    snprintf(path, sizeof path, "%s/k.ptx", folder);
    f = fopen(path, "w");
    fputs(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n", f);
    fclose(f);
    static const char *const calls[] = {"run --gpu %1$s/own.yaml --counts %1$s/c suite:saxpy",
                                        "run --counts %1$s/c %1$s/job.yaml",
                                        "estimate --gpu %1$s/own.yaml --format csv suite:saxpy"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char words[256];
        int n = snprintf(words, sizeof words, calls[i], folder);
        cr_assert(n > 0);
        snprintf(command, sizeof command, "%s %s 2>&1 && cat %s/c 2>&1", program, words, folder);
        cr_expect(status_of(command, said, sizeof said) == 0, "%s: %s", words, said);
        cr_expect(strstr(said, i < 2 ? "\"sms\": 3" : "\na100,0,"), "%s: %s", words, said);
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect(system(command) == 0);
}

/* A clock above boost is a question that users ask ("what if it were faster?"): a warning, and the time follows. */
Test(gpus, warns_of_a_clock_above_boost)
{
    const char *text = NULL;
    for (size_t i = 0; i < emu_gpu_count(); i++)
        if (strcmp(emu_gpu_at(i)->name, "v100") == 0) text = emu_gpu_text(i);
    cr_assert(text);
    const char *at = strstr(text, "  boost: 1530");
    cr_assert(at);
    struct buf b = {0};
    int status;
    buf_add(&b, text, (size_t)(at - text));
    buf_puts(&b, "  boost: 1000");
    buf_puts(&b, at + strlen("  boost: 1530"));
    char *said = gpus(".yaml", b.data, &status);
    cr_expect(status == 0 && strstr(said, "warning: clock.boost: less than clock.core"), "%d, %s",
              status, said);
    free(said);
    buf_free(&b);
}
