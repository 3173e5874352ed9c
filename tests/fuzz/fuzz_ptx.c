/* libFuzzer: any bytes are read without a crash, hang or leak, and a module that is accepted prints
 * as text that reads back to an equal one, and can be analysed. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/cfg.h"
#include "ptx/flow.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ptx_module *read_module(struct arena *a, struct source *s, struct diags *d)
{
    *d = (struct diags){.arena = a, .source = s, .max_errors = 20};
    struct ptx_module *m = ptx_module_parse(a, s, d);
    ptx_module_check(m);
    ptx_module_end(m);
    return m;
}

static void analyse(struct arena *a, const struct ptx_module *m)
{
    for (size_t i = 0; i < m->func_count; i++) {
        const struct ptx_func *f = m->funcs[i]->definition ? m->funcs[i]->definition : m->funcs[i];
        if (!f->body) continue;
        const struct ptx_flow *flow = ptx_flow_new(a, ptx_cfg_new(a, f));
        uint32_t *dead;
        ptx_live_dead_atoms(a, ptx_live_new(a, flow, NULL), &dead);
    }
    ptx_registers_estimate(a, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    struct source first = {"first", (const char *)data, (uint32_t)size};
    struct diags d, e;
    struct buf out = {0};
    struct ptx_module *m = read_module(a, &first, &d);
    diags_render(&d, &out);
    if (d.errors == 0) {
        out.size = 0;
        ptx_print(m, &out);
        struct source second = {"second", out.data, (uint32_t)out.size};
        struct ptx_module *n = read_module(a, &second, &e);
        const char *difference = e.errors ? "it has errors" : ptx_module_difference(m, n);
        if (difference) {
            fprintf(stderr, "printed text differs: %s\n%.*s\n", difference, (int)out.size,
                    out.data);
            struct buf why = {0};
            diags_render(&e, &why);
            fprintf(stderr, "%s", why.data ? why.data : "");
            abort();
        }
        analyse(a, m);
    }
    buf_free(&out);
    arena_free(a);
    return 0;
}
