#include "model/counter_fit_file.h"

#include "base/diag.h"
#include "model/key_table.h"

#include <string.h>

struct in_file {
    struct counter_fit k;
    double in_sample[7]; /* not kept */
};

#define IN(field) offsetof(struct in_file, field)
#define EACH(array, i) IN(array) + (i) * sizeof(double)
#define FIGURE(section, field, at)                                                                 \
    {                                                                                              \
        section, #field, KEY_NUMBER, -1, 1e6, at, ""                                               \
    }
#define ERROR(field) FIGURE("error", field, IN(k.field))
#define IN_SAMPLE(field, i) FIGURE("in_sample", field, EACH(in_sample, i))
static const struct table_key keys[] = {
#define WEIGHT(id, before, spread, text)                                                           \
    {"weight", #id, KEY_NUMBER, 1e-9, 1e9, EACH(k.weight, WEIGHT_##id), text},
#include "model/counter_weights.def"
#define FEATURE(id, text, value)                                                                   \
    {"least", #id, KEY_NUMBER, 0, 1e18, EACH(k.least, COUNTER_FEATURE_##id), text},
#include "model/counter_features.def"
#define FEATURE(id, text, value)                                                                   \
    {"most", #id, KEY_NUMBER, 0, 1e18, EACH(k.most, COUNTER_FEATURE_##id), text},
#include "model/counter_features.def"
    ERROR(mean),
    ERROR(median),
    ERROR(p90),
    ERROR(worst),
    ERROR(by_application),
    ERROR(pearson),
    ERROR(rank),
    {"interval", "low", KEY_NUMBER, 1e-6, 1e6, IN(k.low), ""},
    {"interval", "high", KEY_NUMBER, 1e-6, 1e6, IN(k.high), ""},
    IN_SAMPLE(mean, 0),
    IN_SAMPLE(median, 1),
    IN_SAMPLE(p90, 2),
    IN_SAMPLE(worst, 3),
    IN_SAMPLE(by_application, 4),
    IN_SAMPLE(pearson, 5),
    IN_SAMPLE(rank, 6),
};
enum { KEYS = sizeof keys / sizeof *keys };

bool counter_fit_file_read(struct diags *d, struct counter_fit *out)
{
    bool seen[KEYS] = {0};
    struct in_file in = {{0}, {0}};
    struct key_reader r = {.diags = d, .keys = keys, .count = KEYS, .seen = seen, .out = &in};
    struct yaml_line l;
    for (uint32_t at = 0; plain_yaml_next(d, &at, &l);)
        if (l.indent) key_table_value(&r, l.key, l.value);
        else if (in.k.gpu || strcmp(key_table_text(&r, l.key), "gpu") != 0)
            key_table_section(&r, l.key, l.value);
        else in.k.gpu = key_table_text(&r, l.value);
    if (!in.k.gpu) diag_error(d, 0, 0, "there is no gpu");
    if (!d->errors) key_table_complete(&r);
    *out = in.k;
    return !d->errors;
}
