#include "cli/fidelity.h"

#include "cli/json.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t exact_of(const struct emu_fidelity_line *list, size_t n, uint64_t all)
{
    for (size_t i = 0; i < n; i++) all -= list[i].thread;
    return all;
}

void fidelity_print(struct emu_fidelity *f)
{
    size_t n;
    if (!f || !emu_fidelity_all(f).thread) return;
    const struct emu_fidelity_line all = emu_fidelity_all(f), *list = emu_fidelity_lines(f, &n);
    const uint64_t exact = exact_of(list, n, all.thread);
    printf("fidelity: %" PRIu64 " of %" PRIu64
           " thread instructions have one right result (%.4g %%)\n",
           exact, all.thread, 100 * (double)exact / (double)all.thread);
    if (n)
        printf("%14s  %-28s  %-11s  %s\n", "thread instr", "instruction", "result",
               "what PTX allows");
    for (size_t i = 0; i < n; i++)
        printf("%14" PRIu64 "  %-28s  %-11s  %s\n", list[i].thread, list[i].name, list[i].result,
               list[i].text);
}

json_t *fidelity_json(struct emu_fidelity *f)
{
    size_t n;
    json_t *o = json_object(), *lines = json_array();
    const struct emu_fidelity_line all = emu_fidelity_all(f), *list = emu_fidelity_lines(f, &n);
    for (size_t i = 0; i < n; i++) {
        json_t *l = json_object();
        json_object_set_new(l, "instruction", json_text(list[i].name));
        json_object_set_new(l, "result", json_string(list[i].result));
        json_object_set_new(l, "difference", json_text(list[i].text));
        json_object_set_new(l, "warp_instructions", json_count(list[i].warp));
        json_object_set_new(l, "thread_instructions", json_count(list[i].thread));
        json_array_append_new(lines, l);
    }
    json_object_set_new(o, "thread_instructions", json_count(all.thread));
    json_object_set_new(o, "exact", json_count(exact_of(list, n, all.thread)));
    json_object_set_new(o, "inexact", lines);
    return o;
}
