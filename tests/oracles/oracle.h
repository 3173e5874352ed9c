/* tests/oracles/oracle.h: what a kernel computes, found out naively.
 *
 *     struct oracle o = {.module = m, .kernel = "k", .grid = {2, 1, 1}, .block = {33, 1, 1}};
 *     o.args[0] = oracle_buffer(&o, bytes, size);         // lies in place: read and written there
 *     o.args[1] = 42;
 *     if (!oracle_run(&o)) puts(o.why);
 *     oracle_end(&o);
 *
 * Reads the statements of a parsed module one after the other, for one thread until it ends or comes to
 * a barrier of its CTA, then for the next one; CTAs likewise. No warps, no blocks, nothing lowered; it
 * shares no line with emu/. It knows integers, f32 and f64 rounded to nearest, conversions, predicates,
 * branches, calls, memory in all spaces, and barriers that all threads come to. Threads must not race,
 * since another order would give something else. What it does not know ends the run with a message. */
#ifndef HEDDLE_TESTS_ORACLES_ORACLE_H
#define HEDDLE_TESTS_ORACLES_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_module;

struct oracle_buffer {
    uint64_t address, size;
    uint8_t *bytes;
    bool owned; /* a variable of the module */
};
struct oracle {
    const struct ptx_module *module;
    const char *kernel;
    uint32_t grid[3], block[3], shared; /* shared: dynamic, bytes */
    uint64_t args[16];                  /* of up to 8 bytes each */
    uint64_t most_steps;                /* of a thread; 0: ten million */
    /* filled in */
    char why[300];
    struct oracle_buffer buffers[64];
    unsigned buffer_count;
    struct oracle_var *vars; /* of the module */
    unsigned var_count;
};

/* The address that the kernel knows the bytes by. */
uint64_t oracle_buffer(struct oracle *o, void *bytes, size_t size);
bool oracle_run(struct oracle *o);
void oracle_end(struct oracle *o);

#endif
