/* model/config.h: parses and checks the values of GPU configurations, and derives rates from them.
 *
 *     struct emu_gpu g;
 *     const char *why = config_read(&g, CONFIG_sms, "80", 2);       // for each value of a file
 *     config_check(&g, complain, self);                             // does none contradict another?
 *
 * `struct emu_gpu` (emu/gpu.h, emu/gpu.def) is the configuration. The readers of files use these functions:
 * model/gpu_file.h for YAML, model/gpgpusim.h for gpgpusim.config. */
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
    bool optional; /* the value is 0 if a file does not have the key */
    size_t offset; /* offset of the member in struct emu_gpu */
};
enum {
#define COUNT(section, key, field, ...) CONFIG_##field,
#define RATE(section, key, field, ...) CONFIG_##field,
#define FLAG(section, key, field, ...) CONFIG_##field,
#include "emu/gpu.def"
    CONFIG_KEYS
};
extern const struct config_key config_keys[CONFIG_KEYS];

/* The index of section.key in config_keys; -1: none. */
int config_find(const char *section, const char *key);

double config_get(const struct emu_gpu *g, int key);
void config_put(struct emu_gpu *g, int key, double value);

/* Parses a value in the notation of files: "32", "1.5", "yes", "96 KB", "7.0" (device.capability). Returns NULL, or
 * an error message that is valid until the next call by the thread. */
const char *config_read(struct emu_gpu *g, int key, const char *text, size_t length);

/* Length of the prefix that is allowed in the name of a GPU: letters, digits, "-_.". Names are printed in tables, CSV and JSON. */
size_t config_name(const char *text, size_t length);

/* Checks a complete configuration for contradictions. Calls `complain` with the key and the reason of each; returns
 * false if there are any. */
bool config_check(const struct emu_gpu *g, void (*complain)(void *self, int key, const char *why),
                  void *self);

/* Rates of the whole device, in cycles of the SM's clock. */
double config_l2_rate(const struct emu_gpu *g);   /* 32-byte sectors/cycle, by slices or network */
double config_dram_rate(const struct emu_gpu *g); /* 32-byte sectors/cycle */
double config_seconds(const struct emu_gpu *g, double cycles);

#endif
