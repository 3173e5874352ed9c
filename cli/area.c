/* heddle area ORDER: prints the storage that the hardware of an order needs, as a table of sums. */
#include "base/arena.h"
#include "cli/command.h"
#include "cli/gpu_file.h"
#include "determinism/storage.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

static const char command[] = "area";
enum { VERSION = 1 };

static const struct command_option options[] = {
    {.name = "gpu",
     .argument = "GPU|FILE",
     .standard = "v100",
     .help = "the GPU whose SMs, warps and schedulers count: a name of `heddle gpus`, or a file.",
     .id = 'g'},
    {.name = "format",
     .argument = "text|json",
     .standard = "text",
     .help = "json: one document.",
     .id = 'f'},
};

static const struct {        /* by enum order_storage_where */
    const char *key, *units; /* units NULL: of the whole GPU */
} places[STORAGE_PLACES] = {
    {"sm", "SMs"},
    {"partition", "memory partitions"},
    {"borrowed", NULL},
};

static double bytes(uint64_t bits)
{
    return (double)bits / 8;
}

static void print_place(const struct order_storage *s, enum order_storage_where where)
{
    const uint64_t bits = order_storage_bits(s, where);
    if (!bits) return;
    if (places[where].units) printf("\neach of %u %s\n", s->units[where], places[where].units);
    else printf("\nspace in memory that the GPU has anyway, in the whole GPU\n");
    printf("  %12s  %8s  %6s\n", "bytes", "entries", "bits");
    for (uint32_t i = 0; i < s->count; i++) {
        const struct order_storage_part *p = &s->parts[i];
        if (p->where != where) continue;
        printf("  %12.10g  %8" PRIu64 "  %6" PRIu64 "  %s\n", bytes(p->entries * p->bits),
               p->entries, p->bits, p->what);
        printf("  %12s  %8s  %6s    [%s]\n", "", "", "", p->source);
    }
    printf("  %12.10g  total", bytes(bits));
    if (s->units[where] > 1) printf(", %.10g bytes in the GPU", bytes(bits * s->units[where]));
    printf("\n");
}

static void print_text(const char *order, const struct emu_gpu *g, const struct order_storage *s)
{
    printf("%s on %s: storage that its hardware needs\n", order, g->name);
    if (!s->count) printf("none\n");
    for (enum order_storage_where w = 0; w < STORAGE_PLACES; w++) print_place(s, w);
    if (s->note) printf("\n%s\n", s->note);
}

static void print_json(const char *order, const struct emu_gpu *g, const struct order_storage *s)
{
    json_t *parts = json_array(), *totals = json_object();
    for (uint32_t i = 0; i < s->count; i++) {
        const struct order_storage_part *p = &s->parts[i];
        json_array_append_new(parts,
                              json_pack("{ss, ss, sI, sI, ss}", "where", places[p->where].key,
                                        "what", p->what, "entries", (json_int_t)p->entries, "bits",
                                        (json_int_t)p->bits, "source", p->source));
    }
    for (enum order_storage_where w = 0; w < STORAGE_PLACES; w++)
        json_object_set_new(totals, places[w].key,
                            json_pack("{si, sI}", "units", (int)s->units[w], "bits_each",
                                      (json_int_t)order_storage_bits(s, w)));
    json_t *d = json_pack("{ss, si, ss, ss, so, so, ss?}", "format", "heddle-area", "version",
                          VERSION, "order", order, "gpu", g->name, "parts", parts, "totals", totals,
                          "note", s->note);
    json_dumpf(d, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(d);
}

static int show(const char *order, const char *gpu, bool json)
{
    struct arena *a = arena_new();
    int status = EXIT_FINE;
    const struct emu_gpu *g = gpu_named(command, gpu, a, &status);
    struct order_storage s;
    char *why = g ? orders_storage(order, g, &s) : NULL;
    if (why) status = usage_error(command, "%s", why);
    else if (g && json) print_json(order, g, &s);
    else if (g) print_text(order, g, &s);
    free(why);
    arena_free(a);
    return status;
}

static int area(int argc, char **argv)
{
    bool json = false;
    const char *gpu = "v100";
    struct words w = {.command = &command_area, .argc = argc, .argv = argv};
    for (int id; (id = words_next(&w));) {
        if (id == 'f' && !option_format(command, w.value, &json)) return EXIT_USAGE;
        if (id == 'g') gpu = w.value;
    }
    if (w.wrong) return EXIT_USAGE;
    if (w.operands != 1)
        return usage_error(command, "one ORDER is needed, as gpudet or dab:entries=32");
    return finish_output(command, show(argv[1], gpu, json));
}

const struct command command_area = {
    .name = "area",
    .summary = "add up the storage that the hardware of GPUDet or DAB needs",
    .usage = "area [options] ORDER",
    .description =
        "The bits of storage that the hardware of a memory order adds to each SM and to each memory "
        "partition of a GPU, part by part, with the place in the paper. ORDER is one of `heddle orders`, with its "
        "options. Bits that the papers name are added; logic, ports and layout are not, so this is no area in mm2.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status = "  0  success\n  1  the GPU's file has errors\n  2  a wrong call",
    .examples =
        "  heddle area dab:queue=l2 --gpu titanv\n  heddle area gpudet:bloom=512 --gpu gtx480",
    .run = area,
};
