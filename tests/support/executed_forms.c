/* The list is a file, a byte for each form, because each test has a process of its own. */
#define _GNU_SOURCE
#include "tests/support/executed_forms.h"

#include "base/diag.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char variable[] = "HEDDLE_FORMS_RAN";

/* NULL: nobody asked. */
static volatile uint8_t *list(void)
{
    static volatile uint8_t *ran;
    const char *path = getenv(variable);
    if (ran || !path) return ran;
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *p = file < 0 ? MAP_FAILED
                       : mmap(NULL, PTX_FORM_COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (p != MAP_FAILED) ran = p;
    return ran;
}

void ran_begin(void)
{
    char path[] = "/tmp/heddle-ran.XXXXXX";
    int file = mkstemp(path);
    if (file < 0 || ftruncate(file, PTX_FORM_COUNT) != 0) {
        perror(path);
        exit(2);
    }
    close(file);
    setenv(variable, path, 1);
}

bool ran_end(void)
{
    size_t missing = 0;
    for (unsigned f = 0; f < PTX_FORM_COUNT; f++) {
        if (ptx_forms[f].refused || list()[f]) continue;
        missing++;
        fprintf(stderr, "no test executes %s: '%s%s' %s\n", ptx_forms[f].id, ptx_forms[f].name,
                ptx_forms[f].mods, ptx_forms[f].opnds);
    }
    unlink(getenv(variable));
    return missing == 0;
}

/* Calls see(self, instruction, k) for each: it is the k-th of its line. */
static void each(const struct ptx_module *m,
                 void (*see)(void *self, const struct ptx_inst *i, uint32_t line, uint32_t k),
                 void *self)
{
    uint32_t at = 0, line = 1, k = 0;
    for (size_t f = 0; f < m->func_count; f++) {
        const struct ptx_body *body = m->funcs[f]->body;
        for (size_t s = 0; body && s < body->count; s++) {
            const struct ptx_inst *i = body->stmts[s].inst;
            if (body->stmts[s].kind != PTX_STMT_INST || !i->op) continue;
            if (i->at < at) at = 0, line = 1; /* declared before others, defined behind them */
            for (k++; at < i->at; at++)
                if (m->source->text[at] == '\n') line++, k = 0;
            see(self, i, line, k);
        }
    }
}

static void miss(void *self, const struct ptx_inst *i, uint32_t line, uint32_t k)
{
    (void)line, (void)k;
    *(bool *)self |= !list()[ptx_op_form(i->op)];
}

bool ran_misses(const struct ptx_module *m)
{
    bool misses = false;
    if (list()) each(m, miss, &misses);
    return misses;
}

static void add(void *self, const struct ptx_inst *i, uint32_t line, uint32_t k)
{
    for (const struct emu_counts *c = self; c; c = c->next) {
        uint32_t nth = 0;
        for (size_t n = 0; n < c->instruction_count; n++)
            if (c->instructions[n].line == line && nth++ == k && c->instructions[n].thread)
                list()[ptx_op_form(i->op)] = 1;
    }
}

void ran_add(const struct ptx_module *m, const struct emu_counts *c)
{
    if (list()) each(m, add, (void *)(uintptr_t)c);
}
