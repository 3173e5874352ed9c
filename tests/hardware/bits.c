/* The kernels of kernels.c on a device: bits.h says how. */
#include "tests/hardware/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, THREADS = HARDWARE_GROUPS * HARDWARE_BLOCK };

struct entry {
    char form[64], opcode[128];
    unsigned variant, memory;
    struct input_case inputs;
};
struct hardware_bits {
    struct hardware_driver driver;
    void (*done)(void *self, const struct hardware_result *r);
    void *self;
    CUdeviceptr in, out, memory;
    CUresult error; /* of the allocations */
    unsigned count;
    struct buf text;
    struct entry entries[BATCH];
    uint64_t operands[THREADS * HARDWARE_SLOTS], results[THREADS * HARDWARE_SLOTS],
        own[THREADS * 4];
};

uint32_t hardware_hash(const uint64_t *p, size_t n)
{
    uint64_t h = 0;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * UINT64_C(0x9fb21c651e98df25);
        h ^= h >> 29;
    }
    return (uint32_t)(h ^ h >> 32);
}

void hardware_groups(const char *form, const char *opcode, unsigned variant, unsigned count,
                     unsigned group[HARDWARE_GROUPS])
{
    uint64_t h = variant;
    for (const char *p = form; *p; p++) h = input_mix(h + (unsigned char)*p);
    for (const char *p = opcode; *p; p++) h = input_mix(h + (unsigned char)*p);
    for (unsigned i = 0; i < HARDWARE_GROUPS; i++) { /* one of each part */
        const unsigned part = count / HARDWARE_BLOCK / HARDWARE_GROUPS;
        group[i] = i * part + (unsigned)(h % part);
        h = input_mix(h);
    }
}

struct hardware_bits *hardware_bits_new(const struct hardware_driver *d,
                                        void (*done)(void *self, const struct hardware_result *r),
                                        void *self)
{
    struct hardware_bits *b = calloc(1, sizeof *b);
    if (!b) abort();
    b->driver = *d;
    b->done = done;
    b->self = self;
    b->error = d->alloc(&b->in, sizeof b->operands);
    if (!b->error) b->error = d->alloc(&b->out, sizeof b->results);
    if (!b->error) b->error = d->alloc(&b->memory, sizeof b->own);
    return b;
}

static void fill(struct hardware_bits *b, const struct entry *e,
                 const unsigned group[HARDWARE_GROUPS])
{
    const struct input_case *c = &e->inputs;
    const unsigned count = input_count(c);
    for (unsigned i = 0; i < THREADS; i++) {
        const unsigned thread = group[i / HARDWARE_BLOCK] * HARDWARE_BLOCK + i % HARDWARE_BLOCK;
        for (unsigned s = 0; s < c->sources; s++)
            b->operands[i * c->sources + s] = input(c, count, thread, s);
        for (unsigned s = 0; s < 4; s++)
            b->own[i * 4 + s] = e->memory ? input(c, count, thread, c->sources + s) : 0;
    }
}

static void run(struct hardware_bits *b, CUmodule module, CUresult error, unsigned k)
{
    const struct hardware_driver *d = &b->driver;
    const struct entry *e = &b->entries[k];
    const size_t in = (size_t)THREADS * e->inputs.sources,
                 out = (size_t)THREADS * e->inputs.results;
    struct hardware_result r = {.form = e->form,
                                .opcode = e->opcode,
                                .variant = e->variant,
                                .inputs = &e->inputs,
                                .in = b->operands,
                                .out = b->results};
    char name[32];
    snprintf(name, sizeof name, "k%u", k);
    hardware_groups(e->form, e->opcode, e->variant, input_count(&e->inputs), r.group);
    fill(b, e, r.group);
    CUfunction f;
    void *args[] = {&b->in, &b->out, &b->memory};
    if (!error) error = d->function(&f, module, name);
    if (!error && in) error = d->to_device(b->in, b->operands, in * 8);
    if (!error) error = d->to_device(b->memory, b->own, sizeof b->own);
    if (!error) error = d->fill(b->out, 0, out * 8);
    if (!error)
        error = d->launch(f, HARDWARE_GROUPS, 1, 1, HARDWARE_BLOCK, 1, 1, 0, NULL, args, NULL);
    if (!error) error = d->synchronise();
    if (!error) error = d->to_host(b->results, b->out, out * 8);
    r.error = error;
    for (unsigned i = 0; !error && i < HARDWARE_GROUPS; i++)
        r.hash[i] = hardware_hash(b->results + i * out / HARDWARE_GROUPS, out / HARDWARE_GROUPS);
    b->done(b->self, &r);
}

static void run_batch(struct hardware_bits *b)
{
    CUmodule module = NULL;
    CUresult error = b->error;
    if (!b->count) return;
    if (!error) error = b->driver.module_load(&module, b->text.data);
    for (unsigned k = 0; k < b->count; k++) run(b, module, error, k);
    if (module) b->driver.module_unload(module);
    b->count = 0;
    b->text.size = 0;
}

static void slots(struct input_slot *to, const struct hardware_slot *from, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        snprintf(to[i].type, sizeof to[i].type, "%s", ptx_types[from[i].type].name);
        to[i].piece = from[i].piece;
        to[i].meta = from[i].meta;
    }
}

void hardware_bits_add(struct hardware_bits *b, const struct hardware_kernel *k)
{
    struct entry *e = &b->entries[b->count];
    if (!b->count) buf_puts(&b->text, ".version 8.8\n.target sm_90a\n.address_size 64\n");
    buf_printf(&b->text,
               ".visible .entry k%u(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n%s}\n",
               b->count, k->body);
    memset(e, 0, sizeof *e);
    snprintf(e->form, sizeof e->form, "%s", k->op->form->id);
    snprintf(e->opcode, sizeof e->opcode, "%.*s", (int)k->op->text_length, k->op->text);
    e->variant = k->variant;
    e->memory = k->memory;
    memcpy(e->inputs.form, e->form, sizeof e->form);
    snprintf(e->inputs.memory, sizeof e->inputs.memory, "%s",
             k->memory ? ptx_types[k->memory].name : "-");
    e->inputs.sources = k->sources;
    e->inputs.results = k->results;
    slots(e->inputs.source, k->source, k->sources);
    slots(e->inputs.result, k->result, k->results);
    if (++b->count == BATCH) run_batch(b);
}

void hardware_bits_end(struct hardware_bits *b)
{
    run_batch(b);
    b->driver.free(b->in);
    b->driver.free(b->out);
    b->driver.free(b->memory);
    buf_free(&b->text);
    free(b);
}
