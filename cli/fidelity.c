#include "cli/fidelity.h"

#include "cli/json.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t exact_of(const struct emu_fidelity_line *list, size_t n, uint64_t all)
{
    for (size_t i = 0; i < n; i++) all -= list[i].thread;
    return all;
}

/* "control flow, memory"; "-": nothing. */
static const char *reaches_text(unsigned reaches, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", reaches ? "" : "-");
    for (unsigned k = 0; k < EMU_REACHES; k++)
        if (reaches >> k & 1 && n < size)
            n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", emu_reach_name(k));
    return text;
}

void fidelity_print(struct emu_fidelity *f)
{
    size_t n;
    char reaches[64];
    if (!f || !emu_fidelity_all(f).thread) return;
    const struct emu_fidelity_line all = emu_fidelity_all(f), *list = emu_fidelity_lines(f, &n);
    const uint64_t exact = exact_of(list, n, all.thread);
    printf("fidelity: %" PRIu64 " of %" PRIu64
           " thread instructions have one right result (%.4g %%)\n",
           exact, all.thread, 100 * (double)exact / (double)all.thread);
    if (!n) return;
    printf("%14s  %-28s  %-11s  %s\n", "thread instr", "instruction", "result", "what PTX allows");
    for (size_t i = 0; i < n; i++)
        printf("%14" PRIu64 "  %-28s  %-11s  %s\n%14s  %-28s  may reach: %s\n", list[i].thread,
               list[i].name, list[i].result, list[i].text, "", "",
               reaches_text(list[i].reaches, reaches, sizeof reaches));
    printf("what results may reach follows from the registers of each function, whatever their "
           "values are; behind 'memory'\n(stores, arguments and results of functions) values are "
           "not followed\n");
}

static json_t *reaches_json(unsigned reaches)
{
    json_t *list = json_array();
    for (unsigned k = 0; k < EMU_REACHES; k++)
        if (reaches >> k & 1) json_array_append_new(list, json_string(emu_reach_name(k)));
    return list;
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
        json_object_set_new(l, "may_reach", reaches_json(list[i].reaches));
        json_object_set_new(l, "warp_instructions", json_count(list[i].warp));
        json_object_set_new(l, "thread_instructions", json_count(list[i].thread));
        json_array_append_new(lines, l);
    }
    json_object_set_new(o, "thread_instructions", json_count(all.thread));
    json_object_set_new(o, "exact", json_count(exact_of(list, n, all.thread)));
    json_object_set_new(o, "inexact", lines);
    return o;
}
