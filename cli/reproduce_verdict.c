/* Verdicts: compares the numbers of a paper with those of our runs. */
#include "cli/reproduce.h"

#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const reproduce_verdict_names[VERDICTS] = {"failed", "sign", "no", "yes"};

/* A number that is the whole text from `at` to `end`. */
static bool read_number(const char *at, const char *end, double *out)
{
    char text[40], *rest;
    const size_t n = (size_t)(end - at);
    if (!n || n >= sizeof text) return false;
    memcpy(text, at, n);
    text[n] = '\0';
    *out = strtod(text, &rest);
    return !*rest && isfinite(*out);
}

bool reproduce_paper_read(struct reproduce_claim *c)
{
    const char *text = c->paper, *end = text + strlen(text), *dots = strstr(text, "..");
    const bool below = *text == '<', above = *text == '>';
    if (dots)
        return read_number(text, dots, &c->least) && read_number(dots + 2, end, &c->most) &&
               c->least <= c->most;
    if (!read_number(text + (below || above), end, &c->least)) return false;
    c->most = above ? INFINITY : below ? nextafter(c->least, -INFINITY) : c->least;
    if (above) c->least = nextafter(c->least, INFINITY); /* the bound itself is outside */
    if (below) c->least = -INFINITY;
    return true;
}

/* The bound of the paper that is nearest to our number, which is outside of it. */
static double nearest_bound(const struct reproduce_claim *c, double ours)
{
    return ours < c->least ? c->least : ours > c->most ? c->most : ours;
}

double reproduce_ratio(const struct reproduce_claim *c, double ours)
{
    return ours / nearest_bound(c, ours);
}

/* A ratio that differs by less than this from 1 is printed as 1: neither a gain nor a loss. */
static const double no_difference = 0.0005;

enum reproduce_verdict reproduce_verdict(const struct reproduce_claim *c, double ours)
{
    const bool is_range = c->least < c->most;
    if (isnan(ours)) return VERDICT_FAILED;
    if (ours >= c->least && ours <= c->most) return VERDICT_YES;
    if (c->kind == REPRODUCE_EXACT || (is_range && c->kind == REPRODUCE_COUNT)) return VERDICT_NO;
    const double paper = nearest_bound(c, ours);
    if (c->kind == REPRODUCE_COUNT)
        return fabs(ours - paper) <= c->tolerance * fabs(paper) ? VERDICT_YES : VERDICT_NO;
    if ((c->least > 1 && ours < 1 - no_difference) || (c->most < 1 && ours > 1 + no_difference))
        return VERDICT_SIGN;
    if (is_range) return VERDICT_NO;
    return fabs(ours - paper) <= c->tolerance * fabs(paper - 1) ? VERDICT_YES : VERDICT_NO;
}

struct reproduce_result reproduce_judge(const struct reproduce *r, const struct reproduce_item *i,
                                        const struct reproduce_claim *c)
{
    struct reproduce_result x = {.least = INFINITY, .most = -INFINITY};
    uint32_t seeds = 1;
    x.ours = reproduce_formula(r, i, c->formula, REPRODUCE_NO_TARGET, REPRODUCE_MEDIAN);
    for (size_t o = 0; o < i->order_count && i->measure == REPRODUCE_ESTIMATE; o++)
        if (i->orders[o].seed_count > seeds) seeds = (uint32_t)i->orders[o].seed_count;
    for (uint32_t s = 0; s < seeds && seeds > 1 && !isnan(x.ours); s++) {
        const double one = reproduce_formula(r, i, c->formula, REPRODUCE_NO_TARGET, s);
        x.least = fmin(x.least, one);
        x.most = fmax(x.most, one);
    }
    x.verdict = reproduce_verdict(c, x.ours);
    return x;
}

/* ---- against recorded ones -------------------------------------------------------------------------- */

/* The verdict of a claim in a claims.csv: its rows begin "ITEM/NAME,", and the verdict is the sixth field. No field
 * before it contains a comma. */
static int recorded_verdict(const char *csv, const char *item, const char *name)
{
    const size_t a = strlen(item), b = strlen(name);
    for (const char *line = csv; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        if (strncmp(line, item, a) != 0 || line[a] != '/' || strncmp(line + a + 1, name, b) != 0 ||
            line[a + 1 + b] != ',')
            continue;
        for (int comma = 0; comma < 5 && line; comma++, line += line != NULL)
            line = strchr(line, ',');
        for (int v = 0; line && v < VERDICTS; v++)
            if (strncmp(line, reproduce_verdict_names[v], strlen(reproduce_verdict_names[v])) == 0)
                return v;
        break;
    }
    return VERDICT_FAILED;
}

size_t reproduce_worse(const struct reproduce *r, const char *recorded)
{
    size_t worse = 0;
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; r->items[i].chosen && k < r->items[i].claim_count; k++) {
            const struct reproduce_item *item = &r->items[i];
            const struct reproduce_result x = reproduce_judge(r, item, &item->claims[k]);
            const int before = recorded_verdict(recorded, item->id, item->claims[k].name);
            if ((int)x.verdict >= before) continue;
            worse++;
            fprintf(stderr, "heddle reproduce: %s/%s: %s, was %s\n", item->id, item->claims[k].name,
                    reproduce_verdict_names[x.verdict], reproduce_verdict_names[before]);
        }
    return worse;
}
