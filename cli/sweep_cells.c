/* The cells of a sweep: their names, and their records in the journal. */
#include "cli/sweep.h"

#include "cli/cli.h"

#include "base/sha256.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 100000000 };

void sweep_cell_name(const struct sweep_plan *p, struct sweep_cell *c, const uint8_t *program)
{
    struct sha256 s;
    uint8_t digest[SHA256_BYTES];
    char text[64];
    const struct sweep_target *t = &p->targets[c->target];
    const char *parts[] = {t->name,   p->orders[c->order], p->gpus[c->gpu],
                           p->memory, p->instructions,     text};
    snprintf(text, sizeof text, "%" PRIu64 " %u", c->seed, p->measure);
    sha256_begin(&s);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i]) sha256_add(&s, parts[i], strlen(parts[i]) + 1);
        else sha256_add(&s, "", 1);
    const struct sha256 before = s;
    sha256_end(&s, digest);
    sha256_hex(digest, SWEEP_KEY, c->key);
    s = before;
    sha256_add(&s, program, SHA256_BYTES);
    sha256_add(&s, t->digest, strlen(t->digest) + 1);
    sha256_add(&s, p->gpu_digests[c->gpu], strlen(p->gpu_digests[c->gpu]) + 1);
    sha256_end(&s, digest);
    sha256_hex(digest, SWEEP_ID, c->id);
}

bool sweep_order_has_seeds(const char *order)
{
    return strncmp(order, "native", 6) != 0;
}

struct sweep_cell *sweep_cells(const struct sweep_plan *p, const char *program, size_t *count)
{
    uint8_t digest[SHA256_BYTES];
    size_t n = 0, variants = 0;
    if (!sha256_file(program, digest)) {
        usage_error("sweep", "cannot read the program '%s': %s", program, strerror(errno));
        return NULL;
    }
    for (size_t o = 0; o < p->order_count; o++)
        variants += sweep_order_has_seeds(p->orders[o]) ? p->seed_count : 1;
    *count = p->target_count * p->gpu_count * variants; /* below 2^53: sweep_plan.c limits each */
    if (*count > MOST_CELLS) {
        usage_error("sweep", "a sweep has at most %d cells, not %zu", MOST_CELLS, *count);
        return NULL;
    }
    struct sweep_cell *cells = calloc(*count + 1, sizeof *cells);
    if (!cells) abort();
    for (uint32_t t = 0; t < p->target_count; t++)
        for (uint32_t g = 0; g < p->gpu_count; g++)
            for (uint32_t o = 0; o < p->order_count; o++)
                for (size_t s = 0; s < (sweep_order_has_seeds(p->orders[o]) ? p->seed_count : 1);
                     s++) {
                    struct sweep_cell *c = &cells[n++];
                    *c = (struct sweep_cell){.target = t, .order = o, .gpu = g};
                    if (sweep_order_has_seeds(p->orders[o])) c->seed = p->seeds[s];
                    sweep_cell_name(p, c, digest);
                }
    return cells;
}

void sweep_cells_join(struct sweep_cell *cells, size_t count, const struct sweep_journal *j)
{
    for (size_t i = 0; i < count; i++) {
        struct sweep_cell *c = &cells[i];
        c->record = sweep_journal_find(j, c->key);
        c->state = !c->record                          ? SWEEP_MISSING
                   : strcmp(c->record->id, c->id) != 0 ? SWEEP_STALE
                   : c->record->failed                 ? SWEEP_FAILED
                                                       : SWEEP_OK;
    }
}
