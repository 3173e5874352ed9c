/* Every way to spell an instruction form. */
#include "tests/support/forms.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct walk {
    enum ptx_form form;
    struct ptx_isa *isa;
    struct arena *arena;
    char text[128];
    void (*see)(void *self, const struct ptx_op *op);
    void *self;
    size_t count;
};

const char *form_group_words(const char *name, size_t n)
{
    static const struct {
        const char *name, *words;
    } groups[] = {
#define GROUP(name, what, words) {#name, words},
#include "ptx/words.def"
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strlen(groups[i].name) == n && memcmp(groups[i].name, name, n) == 0)
            return groups[i].words;
    return NULL;
}

size_t form_word_length(const char *p)
{
    size_t n = 0;
    while (p[n] && !strchr(".{}| ", p[n]) && (p[n] != ':' || p[n + 1] == ':'))
        n += p[n] == ':' ? 2 : 1;
    return n;
}

static void expand(struct walk *w, const char *p, size_t at);

static void with_word(struct walk *w, const char *word, const char *next, size_t at)
{
    size_t n = form_word_length(word);
    if (at + 1 + n >= sizeof w->text) abort();
    w->text[at] = '.';
    memcpy(w->text + at + 1, word, n);
    expand(w, next, at + 1 + n);
}

/* The slots from p on, behind the `at` characters that are there. */
static void expand(struct walk *w, const char *p, size_t at)
{
    if (!*p) {
        const char *text = arena_copy(w->arena, w->text, at);
        for (const struct ptx_op *op = ptx_isa_find(w->isa, text, (uint32_t)at); op; op = op->next)
            if (!op->gate && op->form == &ptx_forms[w->form]) {
                w->see(w->self, op);
                w->count++;
                break;
            }
        return;
    }
    bool optional = *p == '{';
    p += optional;
    const char *end = p;
    do end += 1 + strcspn(end + 1, ".{}|");
    while (*end == '|' && end++);
    const char *next = end + optional;
    if (optional) expand(w, next, at);
    while (p < end) {
        const char *words = form_group_words(p + 1, strcspn(p + 1, ".{}|:"));
        if (!words) with_word(w, p + 1, next, at);
        for (; words; words = (words = strchr(words, ' ')) ? words + 1 : NULL)
            with_word(w, words, next, at);
        p += 1 + strcspn(p + 1, ".{}|");
        p += *p == '|';
    }
}

size_t form_spellings(enum ptx_form form, const char *target,
                      void (*see)(void *self, const struct ptx_op *op), void *self)
{
    struct walk w = {.form = form, .arena = arena_new(), .see = see, .self = self};
    char *suffix;
    uint16_t sm = (uint16_t)strtoul(target, &suffix, 10);
    w.isa = ptx_isa_new(w.arena, 88, sm, *suffix);
    size_t n = strlen(ptx_forms[form].name);
    memcpy(w.text, ptx_forms[form].name, n);
    expand(&w, ptx_forms[form].mods, n);
    arena_free(w.arena);
    return w.count;
}
