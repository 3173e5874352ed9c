/* `heddle gpus`: lists the known GPUs, or prints the configuration of one. */
#include "base/arena.h"
#include "cli/command.h"
#include "cli/gpu_file.h"
#include "model/config.h"
#include "model/counter_fit.h"
#include "model/machine.h"

#include <inttypes.h>
#include <string.h>

/* What was fitted for the GPU: the timing model of 'heddle estimate', the counter model of 'heddle calibrate --predict';
 * the latter also for another board with the same chip. */
static void fitted(const struct emu_gpu *g, char *text, size_t size)
{
    bool borrowed;
    struct timing_machine m;
    const struct counter_fit *k = counter_fit_for(g, &borrowed);
    const struct emu_gpu *of = k ? emu_gpu_find(k->gpu) : NULL;
    const bool own = k && !borrowed,
               alike = of && of->capability == g->capability && of->sms == g->sms;
    const char *timing = machine_of(g, &m) ? "timing" : "";
    snprintf(text, size, "%s%s%s%s", timing, *timing && (own || alike) ? ", " : "",
             own || alike ? "counters" : "", own || !alike ? "" : " of ");
    if (alike && !own) strncat(text, k->gpu, size - strlen(text) - 1);
}

static void list(void)
{
    printf("%-13s %-22s %4s %5s %7s %9s %8s  %s\n", "name", "GPU", "cc", "SMs", "MHz", "GB/s", "L2",
           "fitted to measured cycles");
    for (uint32_t capability = 0; capability < 130; capability++)
        for (size_t i = 0; i < emu_gpu_count(); i++) {
            const struct emu_gpu *g = emu_gpu_at(i);
            if (g->capability != capability) continue;
            char measured[64];
            fitted(g, measured, sizeof measured);
            printf("%-13s %-22s %2u.%u %5u %7.0f %9.1f %5u KB  %s\n", g->name, g->title,
                   g->capability / 10, g->capability % 10, g->sms, g->core_mhz, g->dram_bandwidth,
                   g->l2 / 1024, measured);
        }
}

static void print_value(const struct emu_gpu *g, int key)
{
    const struct config_key *k = &config_keys[key];
    const double value = config_get(g, key);
    char text[64];
    if (k->kind == CONFIG_FLAG) snprintf(text, sizeof text, "%s", value > 0 ? "yes" : "no");
    else if (key == CONFIG_capability) snprintf(text, sizeof text, "%.1f", value / 10);
    else snprintf(text, sizeof text, "%.10g", value);
    printf("  %s: %-*s # %s%s%s\n", k->key, (int)(26 - strlen(k->key)), text, k->unit,
           *k->unit ? ", " : "", k->text);
}

/* Of a file: as YAML, with what each value means. */
static void print_gpu(const struct emu_gpu *g)
{
    printf("name: %s\ntitle: %s\n", g->name, g->title);
    for (int k = 0; k < CONFIG_KEYS; k++) {
        if (!k || strcmp(config_keys[k].section, config_keys[k - 1].section) != 0)
            printf("\n%s:\n", config_keys[k].section);
        print_value(g, k);
    }
}

static int show(const char *name)
{
    struct arena *a = arena_new();
    int status = EXIT_FINE;
    const struct emu_gpu *g = gpu_named("gpus", name, a, &status);
    size_t i = 0;
    while (i < emu_gpu_count() && emu_gpu_at(i) != g) i++;
    if (g && i < emu_gpu_count()) fputs(emu_gpu_text(i), stdout);
    else if (g) print_gpu(g);
    arena_free(a);
    return status;
}

static int gpus(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] == '-') return bad_option(&command_gpus, argv[1]);
    if (argc > 2) return usage_error("gpus", "one GPU at a time");
    int status = EXIT_FINE;
    if (argc == 2) status = show(argv[1]);
    else list();
    return finish_output("gpus", status);
}

const struct command command_gpus = {
    .name = "gpus",
    .summary = "list the GPUs that are known, show all numbers of one",
    .usage = "gpus [NAME|FILE]",
    .description =
        "Without a name, lists the GPUs that --gpu takes. With one, prints its numbers as YAML, "
        "with the "
        "source of each: a file to start from for a GPU of your own.\n"
        "FILE has a '.' or a '/': YAML like that, or GPGPU-Sim's gpgpusim.config (*.config). It "
        "is read "
        "strictly, and printed as YAML.",
    .exit_status =
        "  0  success\n  1  the file has errors\n  2  a wrong call, or a file that cannot be read",
    .run = gpus,
};
