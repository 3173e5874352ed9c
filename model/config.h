/* model/config.h: GPU configurations as people write them, and what follows from their numbers.
 *
 *     struct emu_gpu g;
 *     const char *why = config_read(&g, CONFIG_sms, "80", 2);       // for each value of a file
 *     config_check(&g, complain, self);                             // does none contradict another?
 *
 * `struct emu_gpu` (emu/gpu.h, emu/gpu.def) is the configuration; this reads values into it and judges
 * them. The readers of files stand on it: cli/gpu_file.h for YAML, model/gpgpusim.h for gpgpusim.config. */
#ifndef HEDDLE_MODEL_CONFIG_H
#define HEDDLE_MODEL_CONFIG_H

#include "emu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config_key {
    const char *section, *key, *unit, *text;
    enum config_kind { CONFIG_COUNT, CONFIG_RATE, CONFIG_FLAG } kind;
    double least, most;
    bool optional; /* a file without it has 0 */
    size_t offset; /* in struct emu_gpu */
};
enum {
#define COUNT(section, key, field, ...) CONFIG_##field,
#define RATE(section, key, field, ...) CONFIG_##field,
#define FLAG(section, key, field, ...) CONFIG_##field,
#include "emu/gpu.def"
    CONFIG_KEYS
};
extern const struct config_key config_keys[CONFIG_KEYS];

/* The number of section.key; -1: there is none. */
int config_find(const char *section, const char *key);

double config_get(const struct emu_gpu *g, int key);
void config_put(struct emu_gpu *g, int key, double value);

/* Reads a value as files have it: "32", "1.5", "yes", "96 KB", "7.0" (device.capability). NULL, or what is
 * wrong with it: text that is good until the next call by the thread. */
const char *config_read(struct emu_gpu *g, int key, const char *text, size_t length);

/* How much of the text may be a GPU's name, which stands in tables, CSV and JSON: letters, digits, "-_." */
size_t config_name(const char *text, size_t length);

/* What in a complete configuration contradicts what. Calls `complain` with the key to blame and the reason;
 * false if it did. */
bool config_check(const struct emu_gpu *g, void (*complain)(void *self, int key, const char *why),
                  void *self);

/* What follows, in cycles of the SM's clock, for the whole device. */
double config_l2_rate(const struct emu_gpu *g);   /* 32-byte sectors/cycle: slices or network */
double config_dram_rate(const struct emu_gpu *g); /* 32-byte sectors/cycle */
double config_seconds(const struct emu_gpu *g, double cycles);

#endif
