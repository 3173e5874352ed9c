/* Sums by opcode (emu/fidelity.h): a program has few inexact opcodes, so a list suffices. */
#include "emu/fidelity.h"

#include "base/arena.h"
#include "ptx/accuracy.h"
#include "ptx/flow.h"

#include <stdlib.h>
#include <string.h>

struct emu_fidelity {
    struct arena *arena;
    struct emu_fidelity_line all, *lines;
    size_t count, cap;
};

_Static_assert((int)EMU_REACHES == (int)PTX_INFLUENCES,
               "a bit of `reaches` is one of an influence");

const char *emu_reach_name(unsigned number)
{
    return ptx_influence_name(1u << number);
}

struct emu_fidelity *emu_fidelity_new(void)
{
    struct emu_fidelity *f = calloc(1, sizeof *f);
    if (!f) abort();
    f->arena = arena_new();
    return f;
}

void emu_fidelity_free(struct emu_fidelity *f)
{
    if (f) arena_free(f->arena);
    free(f);
}

void emu_fidelity_add_line(struct emu_fidelity *f, const struct emu_fidelity_line *l)
{
    struct emu_fidelity_line *to = &f->all;
    if (l->name) {
        size_t i = 0;
        while (i < f->count && strcmp(f->lines[i].name, l->name) != 0) i++;
        if (i == f->count) {
            f->lines = arena_grow(f->arena, f->lines, f->count, &f->cap, f->count + 1,
                                  sizeof *f->lines);
            f->lines[f->count++] = (struct emu_fidelity_line){
                .name = arena_copy(f->arena, l->name, strlen(l->name)),
                .text = arena_copy(f->arena, l->text, strlen(l->text)),
                .result = arena_copy(f->arena, l->result, strlen(l->result))};
        }
        to = &f->lines[i];
    }
    to->reaches |= l->reaches;
    to->warp += l->warp;
    to->thread += l->thread;
}

void emu_fidelity_add(struct emu_fidelity *f, const struct emu_counts *c)
{
    for (; c; c = c->next)
        for (size_t i = 0; i < c->instruction_count; i++) {
            const struct emu_instruction *k = &c->instructions[i];
            struct emu_fidelity_line l = {.warp = k->warp, .thread = k->thread};
            emu_fidelity_add_line(f, &l);
            l.name = k->inexact, l.text = k->left_open, l.reaches = k->influence;
            l.result = ptx_accuracy_name((enum ptx_accuracy_kind)k->accuracy);
            if (l.name) emu_fidelity_add_line(f, &l);
        }
}

struct emu_fidelity_line emu_fidelity_all(const struct emu_fidelity *f)
{
    return f->all;
}

static int by_count(const void *a, const void *b)
{
    const struct emu_fidelity_line *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? 1 : -1;
    return strcmp(x->name, y->name);
}

const struct emu_fidelity_line *emu_fidelity_lines(struct emu_fidelity *f, size_t *count)
{
    if (f->count) qsort(f->lines, f->count, sizeof *f->lines, by_count);
    *count = f->count;
    return f->lines;
}
