/* Error messages for opcodes that no row fits, or that the module's version or target does not allow. */
#include "base/arena.h"
#include "base/text.h"
#include "ptx/isa_rows.h"

#include <stdio.h>
#include <string.h>

static const char *closest_name(struct slice word)
{
    const char *best = NULL;
    size_t least = 3;
    for (size_t i = 0; i < PTX_FORM_COUNT; i++) {
        const char *name = ptx_forms[i].name;
        size_t d = text_distance(word.text, word.length, name, strlen(name));
        if (d < least) {
            least = d;
            best = name;
        }
    }
    return best;
}

static const char *slot_text(struct arena *a, const struct slot *s)
{
    const char *list = "";
    for (size_t i = 0; i < s->count && i < 12; i++)
        list = arena_printf(a, "%s%s.%.*s", list, i ? " " : "", (int)s->choices[i].word.length,
                            s->choices[i].word.text);
    if (s->count > 12) list = arena_printf(a, "%s ...", list);
    return list;
}

static const char *spelling(struct arena *arena, size_t form)
{
    return arena_printf(arena, "%s%s", ptx_forms[form].name,
                        ptx_form_modifiers((enum ptx_form)form));
}

static bool row_takes(const struct row *row, struct slice word)
{
    for (size_t s = 0; s < row->slot_count; s++)
        if (isa_choice_of(&row->slots[s], word)) return true;
    return false;
}

/* "did you mean mul.lo, mul.hi?": names that go on behind this one and take the word; NULL: none. */
static const char *longer_names(struct arena *a, struct slice name, struct slice word)
{
    const char *list = NULL;
    size_t listed = 0;
    for (size_t i = 0; i < PTX_FORM_COUNT && listed < 6; i++) {
        const char *longer = ptx_forms[i].name;
        if (strncmp(longer, name.text, name.length) != 0 || longer[name.length] != '.') continue;
        const char *quoted = arena_printf(a, " '%s'", longer);
        if (!row_takes(&isa_table.rows[i], word) || (list && strstr(list, quoted))) continue;
        list = arena_printf(a, "%s%s%s", list ? list : "did you mean", list ? "," : "", quoted);
        listed++;
    }
    return list ? arena_printf(a, "%s?", list) : NULL;
}

/* No row's name begins the opcode: it is part of a name, or unknown. */
static void explain_name(struct arena *a, const char *text, uint32_t length, struct slice first,
                         struct ptx_explanation *x)
{
    x->length = (uint32_t)first.length;
    if (!ptx_isa_is_name(text, x->length)) {
        const char *close = closest_name(first);
        x->message = arena_printf(a, "unknown instruction '%.*s'", (int)x->length, text);
        if (close) x->note = arena_printf(a, "did you mean '%s'?", close);
        return;
    }
    const char *list = "";
    size_t listed = 0;
    for (size_t i = 0; i < PTX_FORM_COUNT && listed < 8; i++)
        if (strncmp(ptx_forms[i].name, text, x->length) == 0 &&
            ptx_forms[i].name[x->length] == '.' &&
            (i == 0 || strcmp(ptx_forms[i - 1].name, ptx_forms[i].name) != 0)) {
            list = arena_printf(a, "%s %s", list, ptx_forms[i].name);
            listed++;
        }
    x->length = length;
    x->message = arena_printf(a, "'%.*s' is no form of '%.*s'", (int)length, text,
                              (int)first.length, first.text);
    x->note = arena_printf(a, "forms:%s", list);
}

/* The row that takes the most words is the one that was meant. Its number, plus 1. */
static size_t best_row(const struct words *w, size_t name_words, struct fit *best_fit)
{
    size_t best = 0;
    for (size_t r = isa_first_row(isa_name_of(w, name_words)); r; r = isa_table.next[r - 1]) {
        struct fit fit;
        isa_fit_row(&isa_table.rows[r - 1], w, name_words, &fit);
        if (!best || fit.taken > best_fit->taken ||
            (fit.taken == best_fit->taken && !fit.missing && best_fit->missing)) {
            best = r;
            *best_fit = fit;
        }
    }
    return best;
}

/* Every word fits, so one is missing. */
static const char *missing_word(struct arena *a, const char *text, uint32_t length,
                                const struct slot *missing)
{
    if (!missing)
        return arena_printf(a, "'%.*s' makes a vector of more than 128 bits", (int)length, text);
    const char *what = missing->group     ? missing->group->what
                       : missing->is_type ? "type"
                                          : "modifier";
    return arena_printf(a, "'%.*s' needs a %s: %s", (int)length, text, what, slot_text(a, missing));
}

/* A word fits no slot of the row that was meant. */
static void explain_word(struct arena *a, const char *text, uint32_t length, struct slice name,
                         struct slice bad, size_t best, struct ptx_explanation *x)
{
    x->from = (uint32_t)(bad.text - text);
    x->length = (uint32_t)bad.length;
    if (x->from) { /* the dot too */
        x->from--;
        x->length++;
    }
    size_t takers = 0;
    const char *list = "";
    for (size_t r = isa_first_row(name); r && takers < 6; r = isa_table.next[r - 1]) {
        if (!row_takes(&isa_table.rows[r - 1], bad)) continue;
        list = arena_printf(a, "%s%s %s", list, takers ? "," : "", spelling(a, r - 1));
        takers++;
    }
    if (takers) {
        x->message = arena_printf(a, "'%.*s' does not take '.%.*s'", (int)length, text,
                                  (int)bad.length, bad.text);
        x->note = arena_printf(a, "forms of '%.*s' that take it:%s", (int)name.length, name.text,
                               list);
        return;
    }
    const bool type = ptx_type_find(bad.text, bad.length) != PTX_NO_TYPE;
    x->message = arena_printf(a, "'%.*s' has no %s '.%.*s'", (int)name.length, name.text,
                              type ? "form for type" : "modifier", (int)bad.length, bad.text);
    x->note = longer_names(a, name, bad);
    if (!x->note) x->note = arena_printf(a, "a form of it: %s", spelling(a, best - 1));
}

struct ptx_explanation ptx_isa_explain(struct ptx_isa *isa, const char *text, uint32_t length)
{
    struct arena *a = isa->arena;
    struct ptx_explanation x = {0, length, NULL, NULL};
    const struct ptx_op *op = ptx_isa_find(isa, text, length);
    for (const struct ptx_op *o = op; o; o = o->next) { /* best a row whose version fits */
        int since = o->form->since & 0xff, last = o->form->since >> 8;
        if (!x.message || (since <= isa->version && (!last || last >= isa->version)))
            x.message = o->gate;
    }
    if (op) return x;
    struct words w;
    if (!isa_split(text, length, &w)) {
        x.message = "malformed instruction name";
        return x;
    }
    size_t k = w.count;
    while (k > 0 && !isa_first_row(isa_name_of(&w, k))) k--;
    if (k == 0) {
        explain_name(a, text, length, w.at[0], &x);
        return x;
    }
    struct fit fit = {.bad_word = 0};
    const size_t best = best_row(&w, k, &fit);
    if (fit.bad_word == MAX_WORDS) x.message = missing_word(a, text, length, fit.missing);
    else explain_word(a, text, length, isa_name_of(&w, k), w.at[fit.bad_word], best, &x);
    return x;
}
