/* Reads the file of --memory-map (cli/memory_map.h). */
#include "cli/memory_map.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "cli/yaml.h"
#include "determinism/placement/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, SECTOR = 32 };

struct reading {
    struct arena *arena;
    struct diags *d;
    struct placement_options *o;
    struct placement_rule *rules;
    size_t count, cap;
};

bool memory_map_is_file(const char *text)
{
    const char *end = strrchr(text, '.');
    return end && (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0);
}

static bool is(struct piece p, const char *text)
{
    return p.length == strlen(text) && memcmp(p.text, text, p.length) == 0;
}

/* A partition's number, or a map. */
static bool read_where(struct reading *r, const struct yaml *v, struct placement_rule *out)
{
    const char *text = arena_copy(r->arena, v->text.text, v->text.length);
    struct placement_options o = {.partitions = r->o->partitions};
    uint64_t n;
    if (*text >= '0' && *text <= '9') {
        if (!number_read(r->d, "a partition", v->text, r->o->partitions - 1, &n)) return false;
        out->map = PLACEMENT_FIXED;
        out->partition = (uint32_t)n;
        return true;
    }
    const char *why = placement_read_map(text, &o);
    if (why) diag_error(r->d, v->text.at, v->text.length, "%s, or the number of a partition", why);
    out->map = o.map;
    out->grain = o.grain;
    return !why;
}

/* "0-4095": both are in it. */
static bool read_range(struct reading *r, struct piece key, struct placement_rule *out)
{
    const char *text = arena_copy(r->arena, key.text, key.length);
    char *end, *last = NULL;
    errno = 0;
    const unsigned long long from = strtoull(text, &end, 0);
    const bool begins = end != text && *end == '-' && *text != '-';
    const unsigned long long to = begins ? strtoull(end + 1, &last, 0) : 0;
    if (!begins || last == end + 1 || *last || end[1] == '-' || errno || to < from ||
        to == UINT64_MAX) {
        diag_error(r->d, key.at, key.length,
                   "bytes of an allocation are FROM-TO, as 0-4095: both are in it");
        return false;
    }
    if (from % SECTOR || (to + 1) % SECTOR) {
        diag_error(r->d, key.at, key.length,
                   "bytes begin and end with a sector of 32 bytes, as 0-4095 do");
        return false;
    }
    out->from = from;
    out->to = to + 1;
    return true;
}

static void add_rule(struct reading *r, const struct placement_rule *rule, struct piece at)
{
    for (size_t i = 0; i < r->count; i++)
        if (placement_rules_overlap(&r->rules[i], rule)) {
            diag_error(r->d, at.at, at.length,
                       "the bytes overlap with %llu-%llu of '%s': each byte is in one partition",
                       (unsigned long long)r->rules[i].from, (unsigned long long)r->rules[i].to - 1,
                       rule->allocation);
            return;
        }
    r->rules = arena_grow(r->arena, r->rules, r->count, &r->cap, r->count + 1, sizeof *r->rules);
    r->rules[r->count++] = *rule;
}

static void read_allocation(struct reading *r, const struct yaml *v)
{
    struct placement_rule rule = {.allocation = arena_copy(r->arena, v->key.text, v->key.length),
                                  .to = UINT64_MAX};
    if (v->kind == YAML_SCALAR) {
        if (read_where(r, v, &rule)) add_rule(r, &rule, v->key);
        return;
    }
    if (v->kind == YAML_LIST) {
        diag_error(
            r->d, v->key.at, v->key.length,
            "an allocation has a partition, a map, or a list of bytes as 'FROM-TO: PARTITION'");
        return;
    }
    for (const struct yaml *x = v->first; x; x = x->next)
        if (read_range(r, x->key, &rule) && read_where(r, x, &rule)) add_rule(r, &rule, x->key);
}

static void read_root(struct reading *r, const struct yaml *root)
{
    bool any = false;
    if (root->kind != YAML_MAP) {
        diag_error(r->d, 0, 0, "a memory map has the keys 'default' and 'allocations'");
        return;
    }
    for (const struct yaml *v = root->first; v; v = v->next) {
        if (is(v->key, "default") && v->kind == YAML_SCALAR) {
            const char *why = placement_read_map(arena_copy(r->arena, v->text.text, v->text.length),
                                                 r->o);
            if (why) diag_error(r->d, v->text.at, v->text.length, "%s", why);
            any = true;
        } else if (is(v->key, "allocations") && v->kind == YAML_MAP) {
            for (const struct yaml *x = v->first; x; x = x->next) read_allocation(r, x);
        } else
            diag_error(r->d, v->key.at, v->key.length,
                       "a memory map has the keys 'default', a map, and 'allocations'");
    }
    if (!any) diag_error(r->d, 0, 0, "'default' says where all other bytes are");
}

bool memory_map_read(struct arena *a, const char *path, struct placement_options *o,
                     struct buf *why)
{
    struct buf text = {0};
    struct source source = {.name = path};
    struct diags d = {.arena = a, .source = &source, .max_errors = 20};
    if (!buf_add_file(&text, path, MOST_BYTES)) {
        buf_printf(why, "cannot read '%s': %s\n", path, strerror(errno));
        return false;
    }
    source.text = arena_copy(a, text.data ? text.data : "", text.size);
    source.length = (uint32_t)text.size;
    buf_free(&text);
    struct reading r = {.arena = a, .d = &d, .o = o};
    const struct yaml *root = yaml_read(&d);
    if (root) read_root(&r, root);
    o->rules = r.rules;
    o->rule_count = r.count;
    if (d.errors) diags_render(&d, why);
    return !d.errors;
}
