/* Prints the JSON document of `heddle communication` (docs/communication.md). */
#include "cli/communication.h"

#include "cli/json.h"

#include <jansson.h>

static json_t *histogram(const uint64_t *classes, size_t count)
{
    json_t *o = json_object();
    char from[24];
    for (size_t i = 0; i < count; i++) {
        if (!classes[i]) continue;
        snprintf(from, sizeof from, "%llu", 1ull << i);
        json_object_set_new(o, from, json_count(classes[i]));
    }
    return o;
}

static void set_counts(json_t *o, const char *const *names, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) json_object_set_new(o, names[i], json_count(values[i]));
}

static json_t *launch(const struct communication_result *r, const struct communication_launch *l)
{
    static const char *const names[] = {"loaded",       "stored",        "read",    "communicated",
                                        "stays",        "from_host",     "initial", "inside",
                                        "atomic_words", "several_words", "to_host", "written",
                                        "never_read"};
    const uint64_t values[] = {l->loaded,       l->stored,        l->read,    l->communicated,
                               l->stays,        l->from_host,     l->initial, l->inside,
                               l->atomic_words, l->several_words, l->to_host, l->written,
                               l->never_read};
    json_t *o = json_object();
    json_object_set_new(o, "kernel", json_text(r->kernels[l->kernel]));
    json_object_set_new(o, "stream", json_integer(l->stream));
    json_object_set_new(o, "grid",
                        json_pack("[iii]", (int)l->grid[0], (int)l->grid[1], (int)l->grid[2]));
    json_object_set_new(o, "block",
                        json_pack("[iii]", (int)l->block[0], (int)l->block[1], (int)l->block[2]));
    json_object_set_new(o, "nodes", json_integer(l->nodes));
    set_counts(o, names, values, sizeof values / sizeof *values);
    return o;
}

static json_t *pair(const struct communication_result *r, const struct communication_pair *p)
{
    static const char *const names[] = {
        "supersteps", "bytes",  "edges",      "transfers", "possible_edges", "point_to_point",
        "scatter",    "gather", "reductions", "within_1",  "within_8",       "within_row"};
    const uint64_t values[] = {p->supersteps, p->bytes,          p->edges,   p->transfers,
                               p->possible,   p->point_to_point, p->scatter, p->gather,
                               p->reductions, p->near_1,         p->near_8,  p->near_row};
    json_t *o = json_object();
    json_object_set_new(o, "from", json_text(r->kernels[p->from]));
    json_object_set_new(o, "to", json_text(r->kernels[p->to]));
    set_counts(o, names, values, sizeof values / sizeof *values);
    const double possible = p->possible ? (double)p->possible : 1;
    json_object_set_new(o, "transfer_density", json_real((double)p->edges / possible));
    json_object_set_new(o, "volume_density", json_real((double)p->bytes / possible));
    json_object_set_new(o, "transfer_sizes", histogram(p->sizes, COMMUNICATION_SIZES));
    json_object_set_new(o, "strides", histogram(p->strides, COMMUNICATION_SIZES));
    json_object_set_new(o, "in_degrees", histogram(p->in_degree, COMMUNICATION_DEGREES));
    json_object_set_new(o, "out_degrees", histogram(p->out_degree, COMMUNICATION_DEGREES));
    return o;
}

static json_t *partitions(const struct communication_call *c, const struct communication_result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->device_counts; i++) {
        struct partition p;
        if (!communication_partition(c, r, c->devices[i], &p)) continue;
        json_t *o = json_object(), *steps = json_array();
        static const char *const names[] = {
            "devices", "bytes", "crossing", "several", "most_in_superstep", "most_of_device"};
        const uint64_t values[] = {p.devices, p.bytes, p.crossing,
                                   p.several, p.most,  p.most_device};
        set_counts(o, names, values, sizeof values / sizeof *values);
        if (c->bandwidth > 0) json_object_set_new(o, "seconds", json_real(p.seconds));
        for (size_t k = 0; k < p.count; k++)
            json_array_append_new(steps,
                                  json_pack("{sIsIsI}", "launch", (json_int_t)p.list[k].launch,
                                            "crossing", (json_int_t)p.list[k].crossing,
                                            "most_of_device", (json_int_t)p.list[k].most_device));
        json_object_set_new(o, "supersteps", steps);
        json_array_append_new(list, o);
    }
    return list;
}

void communication_print_json(const struct communication_call *c,
                              const struct communication_result *r)
{
    json_t *launches = json_array(), *pairs = json_array();
    for (size_t i = 0; i < r->launch_count; i++)
        json_array_append_new(launches, launch(r, &r->launches[i]));
    for (size_t i = 0; i < r->pair_count; i++)
        if (r->pairs[i].bytes) json_array_append_new(pairs, pair(r, &r->pairs[i]));
    static const char *const units[] = {"kernel", "cta", "warp", "thread"};
    json_t *all = json_pack("{sssisssoso}", "format", "heddle-communication", "version", 1,
                            "granularity", units[r->unit], "launches", launches, "pairs", pairs);
    json_object_set_new(all, "host_shared_bytes", json_count(r->unseen));
    if (c->device_counts) json_object_set_new(all, "partitions", partitions(c, r));
    (void)json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    printf("\n");
    json_decref(all);
}
