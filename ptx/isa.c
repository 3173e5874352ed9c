/* Compiles the rows of isa_arith.def, isa_memory.def and isa_warp.def and resolves opcodes against them.
 *
 * A process compiles the rows once. Each module resolves each opcode text once: a hash table maps the
 * text to the rows that fit. So the cost of reading the notation does not depend on the length of a
 * program. */
#include "ptx/isa_rows.h"

#include "base/arena.h"
#include "base/text.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct ptx_type_info ptx_types[PTX_TYPE_COUNT] = {
    [PTX_NO_TYPE] = {"", 0, PTX_BITS},
#define TYPE(id, bits, kind) [PTX_##id] = {#id, bits, PTX_##kind},
#include "ptx/types.def"
};

/* The effects as the rows write them. */
enum {
    READS = PTX_READS,
    WRITES = PTX_WRITES,
    ATOMIC = PTX_ATOMIC,
    FENCE = PTX_FENCE,
    BARRIER = PTX_BARRIER,
    FLOW = PTX_FLOW,
    LANES = PTX_LANES,
    EFFECT = PTX_EFFECT,
};

const struct ptx_form_info ptx_forms[PTX_FORM_COUNT] = {
#define FORM(id, name, mods, opnds, since, sm, unit, cost, effects)                                \
    REFUSED(id, name, mods, opnds, since, sm, unit, cost, effects, NULL)
#define REFUSED(id_, name_, mods_, opnds_, since_, sm_, unit_, cost_, effects_, why_)              \
    [PTX_F_##id_] = {.id = #id_,                                                                   \
                     .name = name_,                                                                \
                     .mods = mods_,                                                                \
                     .opnds = opnds_,                                                              \
                     .since = since_,                                                              \
                     .sm = sm_,                                                                    \
                     .unit = PTX_UNIT_##unit_,                                                     \
                     .cost = PTX_COST_##cost_,                                                     \
                     .effects = effects_,                                                          \
                     .refused = why_},
#include "ptx/isa.def"
};

static const struct group groups[] = {
#define GROUP(name, what, words) {#name, what, words},
#include "ptx/words.def"
};

const char *ptx_unit_name(enum ptx_unit unit)
{
    static const char *const names[PTX_UNIT_COUNT] = {
        "integer",     "integer multiply", "integer divide", "half",   "float",
        "double",      "special function", "convert",        "move",   "video",
        "memory",      "atomic",           "texture",        "tensor", "warp",
        "synchronise", "control",          "other"};
    return names[unit];
}

enum ptx_type ptx_type_find(const char *text, size_t length)
{
    for (int t = 1; t < PTX_TYPE_COUNT; t++)
        if (ptx_types[t].name[0] == text[0] && strlen(ptx_types[t].name) == length &&
            memcmp(ptx_types[t].name, text, length) == 0)
            return (enum ptx_type)t;
    return PTX_NO_TYPE;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static bool same(struct slice a, struct slice b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

bool isa_same_text(struct slice a, const char *b)
{
    if (a.length && *a.text != *b) return false; /* most differ there */
    return a.length == strlen(b) && memcmp(a.text, b, a.length) == 0;
}

static uint32_t hash_bytes(const char *text, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h ^ h >> 15;
}

static const struct group *find_group(struct slice word)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (isa_same_text(word, groups[i].name)) return &groups[i];
    return NULL;
}

enum ptx_space isa_space_find(const char *text, size_t n)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } spaces[] = {{"const", PTX_SPACE_CONST},
                  {"global", PTX_SPACE_GLOBAL},
                  {"local", PTX_SPACE_LOCAL},
                  {"param", PTX_SPACE_PARAM},
                  {"param::entry", PTX_SPACE_PARAM},
                  {"param::func", PTX_SPACE_PARAM},
                  {"shared", PTX_SPACE_SHARED},
                  {"shared::cta", PTX_SPACE_SHARED},
                  {"shared::cluster", PTX_SPACE_SHARED_CLUSTER},
                  {"generic", PTX_SPACE_GENERIC}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (isa_same_text((struct slice){text, n}, spaces[i].name)) return spaces[i].space;
    return PTX_SPACE_COUNT;
}

/* A word ends at a dot, brace, bar, blank or gate; its `::` belong to it. */
static struct slice take_word(const char **p)
{
    const char *from = *p, *q = from;
    for (; *q && !strchr(".{}| ", *q); q++) {
        if (*q != ':') continue;
        if (q[1] != ':') break;
        q++;
    }
    *p = q;
    return (struct slice){from, (size_t)(q - from)};
}

struct gate isa_take_gate(const char **p)
{
    struct gate g = {0, {"", 0}};
    if (**p != ':') return g;
    char *q;
    g.since = (uint16_t)strtoul(*p + 1, &q, 10);
    if (*q == '/') {
        const char *from = ++q;
        while (isalnum((unsigned char)*q)) q++;
        g.sm = (struct slice){from, (size_t)(q - from)};
    }
    *p = q;
    return g;
}

static struct choice choice_of(struct slice word, struct gate gate)
{
    enum ptx_type type = ptx_type_find(word.text, word.length);
    enum order order = isa_space_find(word.text, word.length) != PTX_SPACE_COUNT  ? SPACE_ORDER
                       : isa_same_text(word, "row") || isa_same_text(word, "col") ? LAYOUT_ORDER
                                                                                  : ANY_PLACE;
    return (struct choice){word, gate, (uint8_t)type, (uint8_t)order};
}

static void add_choice(struct arena *a, struct slot *s, size_t *cap, struct choice c)
{
    s->choices = arena_grow(a, s->choices, s->count, cap, s->count + 1, sizeof *s->choices);
    s->choices[s->count++] = c;
    if (c.type) s->is_type = true;
}

/* The words of each group, which many rows have: read once. */
struct words_of_group {
    struct choice *list;
    size_t count, cap;
};

static const struct words_of_group *words_of(struct arena *a, struct words_of_group *all,
                                             const struct group *g)
{
    struct words_of_group *w = &all[g - groups];
    if (w->list) return w;
    for (const char *q = g->words; *q;) {
        struct slice word = take_word(&q);
        struct gate own = isa_take_gate(&q);
        w->list = arena_grow(a, w->list, w->count, &w->cap, w->count + 1, sizeof *w->list);
        w->list[w->count++] = choice_of(word, own);
        while (*q == ' ') q++;
    }
    return w;
}

/* `.word` or `.GROUP`, each with an optional gate, appended to the choices of a slot. */
static const char *add_alternative(struct arena *a, struct words_of_group *all, struct slot *s,
                                   size_t *cap, const char **p)
{
    if (**p != '.') return "a modifier does not start with a dot";
    ++*p;
    struct slice word = take_word(p);
    struct gate gate = isa_take_gate(p);
    if (word.length == 0) return "an empty modifier";
    const struct group *g = islower((unsigned char)*word.text) ? NULL : find_group(word);
    if (!g) {
        bool capitals = true;
        for (size_t i = 0; i < word.length; i++)
            capitals &= !islower((unsigned char)word.text[i]) && word.text[i] != ':';
        if (capitals && isupper((unsigned char)word.text[0]))
            return "a group that words.def does not have";
        add_choice(a, s, cap, choice_of(word, gate));
        return NULL;
    }
    s->group = g;
    const struct words_of_group *words = words_of(a, all, g);
    for (size_t i = 0; i < words->count; i++) {
        struct choice c = words->list[i];
        if (!c.gate.since) c.gate.since = gate.since;
        if (!c.gate.sm.length) c.gate.sm = gate.sm;
        add_choice(a, s, cap, c);
    }
    return NULL;
}

static const char *compile_row(struct arena *a, struct words_of_group *all,
                               const struct ptx_form_info *form, struct row *row)
{
    for (const char *p = form->mods; *p;) {
        if (row->slot_count == MAX_SLOTS) return "too many modifiers";
        struct slot *s = &row->slots[row->slot_count++];
        size_t cap = 0;
        const char *wrong = NULL;
        if (*p == '{') {
            p++;
            s->optional = true;
            while (!wrong) {
                wrong = add_alternative(a, all, s, &cap, &p);
                if (*p != '|') break;
                p++;
            }
            if (!wrong && *p != '}') wrong = "a brace that does not close";
            if (!wrong) p++;
        } else {
            wrong = add_alternative(a, all, s, &cap, &p);
            while (!wrong && *p == '|') {
                p++;
                wrong = add_alternative(a, all, s, &cap, &p);
            }
        }
        if (wrong) return wrong;
    }
    return NULL;
}

struct isa_table isa_table;
static pthread_once_t table_made = PTHREAD_ONCE_INIT;

/* The modifiers of a row with its groups spelled out and without gates; a long group by its name. */
static const char *spell_mods(struct arena *a, const struct row *row)
{
    enum { MOST = 12 }; /* words of a slot that are listed */
    const char *text = "";
    for (size_t s = 0; s < row->slot_count; s++) {
        const struct slot *slot = &row->slots[s];
        text = arena_printf(a, "%s%s", text, slot->optional ? "{" : slot->count > 1 ? "(" : "");
        if (slot->group && slot->count > MOST)
            text = arena_printf(a, "%s.%s", text, slot->group->name);
        else
            for (size_t c = 0; c < slot->count; c++)
                text = arena_printf(a, "%s%s.%.*s", text, c ? "|" : "",
                                    (int)slot->choices[c].word.length, slot->choices[c].word.text);
        text = arena_printf(a, "%s%s", text, slot->optional ? "}" : slot->count > 1 ? ")" : "");
    }
    return text;
}

static void make_table(void)
{
    isa_table.arena = arena_new();
    isa_table.name_mask = 1;
    while (isa_table.name_mask < (size_t)2 * PTX_FORM_COUNT) isa_table.name_mask *= 2;
    isa_table.name_mask--;
    isa_table.names = arena_array(isa_table.arena, uint16_t, isa_table.name_mask + 1);
    uint16_t *last = arena_array(isa_table.arena, uint16_t, PTX_FORM_COUNT);
    struct words_of_group words[sizeof groups / sizeof *groups] = {0};
    for (size_t i = 0; i < PTX_FORM_COUNT; i++) {
        const char *name = ptx_forms[i].name;
        size_t h = hash_bytes(name, strlen(name)) & isa_table.name_mask;
        while (isa_table.names[h] && strcmp(ptx_forms[isa_table.names[h] - 1].name, name) != 0)
            h = (h + 1) & isa_table.name_mask;
        size_t first = isa_table.names[h] ? (size_t)isa_table.names[h] - 1 : i;
        if (isa_table.names[h]) isa_table.next[last[first]] = (uint16_t)(i + 1);
        else isa_table.names[h] = (uint16_t)(i + 1);
        last[first] = (uint16_t)i;
        const char *wrong = compile_row(isa_table.arena, words, &ptx_forms[i], &isa_table.rows[i]);
        assert(!wrong); /* the tests run ptx_isa_self_check */
        (void)wrong;
    }
}

/* Messages and `heddle isa` alone want them, and they take as long as the table. */
static pthread_once_t mods_spelled = PTHREAD_ONCE_INIT;
static void spell_table(void)
{
    pthread_once(&table_made, make_table);
    for (size_t i = 0; i < PTX_FORM_COUNT; i++)
        isa_table.mods[i] = spell_mods(isa_table.arena, &isa_table.rows[i]);
}

const char *ptx_form_modifiers(enum ptx_form form)
{
    pthread_once(&mods_spelled, spell_table);
    return isa_table.mods[form];
}

struct ptx_isa *ptx_isa_new(struct arena *arena, uint16_t version, uint16_t sm, char suffix)
{
    struct ptx_isa *isa = arena_alloc(arena, sizeof *isa);
    isa->arena = arena;
    isa->version = version;
    isa->sm = sm;
    isa->suffix = suffix;
    pthread_once(&table_made, make_table);
    isa->entry_mask = 255;
    isa->entries = arena_array(arena, struct entry, isa->entry_mask + 1);
    return isa;
}

/* The first row of a name, plus 1; 0: none. */
size_t isa_first_row(struct slice name)
{
    size_t h = hash_bytes(name.text, name.length) & isa_table.name_mask;
    for (; isa_table.names[h]; h = (h + 1) & isa_table.name_mask)
        if (isa_same_text(name, ptx_forms[isa_table.names[h] - 1].name)) return isa_table.names[h];
    return 0;
}

/* ---- gates ------------------------------------------------------------------------------------- */

/* Whether a target satisfies "", "70", "90a" or a list such as "100a 100f 120a". */
static bool target_allows(uint16_t have, char suffix, struct slice sm)
{
    if (sm.length == 0) return true;
    const char *p = sm.text, *end = sm.text + sm.length;
    while (p < end) {
        unsigned n = 0;
        bool below = *p == '<';
        p += below;
        for (; p < end && isdigit((unsigned char)*p); p++) n = n * 10 + (unsigned)(*p - '0');
        char want = p < end && *p != ' ' ? *p++ : 0;
        if (want == 0 && (below ? have < n : have >= n)) return true;
        if (want == 'a' && have == n && suffix == 'a') return true;
        if (want == 'f' && have >= n && have / 10 == n / 10 && suffix) return true;
        while (p < end && *p == ' ') p++;
    }
    return false;
}

static const char *targets_text(struct arena *a, struct slice sm)
{
    bool list = memchr(sm.text, ' ', sm.length) != NULL;
    if (sm.text[0] == '<')
        return arena_printf(a, "a target below sm_%.*s", (int)sm.length - 1, sm.text + 1);
    bool open = isdigit((unsigned char)sm.text[sm.length - 1]);
    return arena_printf(a, "%s%.*s%s", list ? "one of the targets sm_" : "target sm_",
                        (int)sm.length, sm.text, open && !list ? " or higher" : "");
}

const char *isa_gate_text(const struct ptx_isa *isa, struct gate g, const char *what)
{
    int since = g.since & 0xff, last = g.since >> 8;
    if (since > isa->version)
        return arena_printf(isa->arena, "%s needs PTX ISA version %d.%d, the module says %d.%d",
                            what, since / 10, since % 10, isa->version / 10, isa->version % 10);
    if (last && last < isa->version)
        return arena_printf(isa->arena,
                            "%s ended with PTX ISA version %d.%d, the module says %d.%d", what,
                            last / 10, last % 10, isa->version / 10, isa->version % 10);
    if (!target_allows(isa->sm, isa->suffix, g.sm))
        return arena_printf(isa->arena, "%s needs %s, the module is for sm_%d%.1s", what,
                            targets_text(isa->arena, g.sm), isa->sm,
                            isa->suffix ? &isa->suffix : "");
    return NULL;
}

/* ---- resolving --------------------------------------------------------------------------------- */

bool isa_split(const char *text, uint32_t length, struct words *w)
{
    w->count = 0;
    for (const char *p = text, *end = text + length; p <= end;) {
        const char *dot = memchr(p, '.', (size_t)(end - p));
        if (!dot) dot = end;
        if (w->count == MAX_WORDS || dot == p) return false;
        w->at[w->count++] = (struct slice){p, (size_t)(dot - p)};
        p = dot + 1;
    }
    return true;
}

const struct choice *isa_choice_of(const struct slot *s, struct slice word)
{
    for (size_t c = 0; c < s->count; c++)
        if (same(s->choices[c].word, word)) return &s->choices[c];
    return NULL;
}

/* ptxas passes over some modifiers that are given twice. */
static bool repeats(const struct words *w, size_t from, size_t word)
{
    static const char *const idle[] = {"sat", "sync", "approx",   "uni",       "relu",
                                       "NaN", "cc",   "shiftamt", "satfinite", "full"};
    bool listed = false, before = false;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        listed |= isa_same_text(w->at[word], idle[i]);
    for (size_t i = from; i < word; i++) before |= same(w->at[i], w->at[word]);
    return listed && before;
}

/* Words that are types go to the type slots from left to right; any other goes to the first slot
 * that is free and takes it. */
bool isa_fit_row(const struct row *row, const struct words *w, size_t from, struct fit *fit)
{
    *fit = (struct fit){.bad_word = MAX_WORDS};
    size_t next_type = 0;
    for (size_t i = from; i < w->count; i++) {
        size_t found = MAX_SLOTS;
        for (size_t s = 0; s < row->slot_count && found == MAX_SLOTS; s++) {
            const struct slot *slot = &row->slots[s];
            if (fit->choice[s] || (slot->is_type && s < next_type)) continue;
            const struct choice *c = isa_choice_of(slot, w->at[i]);
            if (c) {
                fit->choice[s] = c;
                fit->word[s] = (uint8_t)i;
                found = s;
                if (slot->is_type) next_type = s + 1;
            } else if (slot->is_type && !slot->optional &&
                       ptx_type_find(w->at[i].text, w->at[i].length)) {
                break;
            }
        }
        if (found < MAX_SLOTS || repeats(w, from, i)) fit->taken++;
        else if (fit->bad_word == MAX_WORDS) fit->bad_word = i;
    }
    uint8_t last[LAYOUT_ORDER + 1] = {0};
    for (size_t s = 0; s < row->slot_count && !fit->missing; s++) {
        if (!fit->choice[s] && !row->slots[s].optional) fit->missing = &row->slots[s];
        uint8_t order = fit->choice[s] ? fit->choice[s]->order : ANY_PLACE;
        if (order == ANY_PLACE) continue;
        if (fit->word[s] < last[order] && fit->bad_word == MAX_WORDS) fit->bad_word = fit->word[s];
        last[order] = fit->word[s];
    }
    return fit->bad_word == MAX_WORDS && !fit->missing;
}

enum ptx_form ptx_op_form(const struct ptx_op *op)
{
    return (enum ptx_form)(op->form - ptx_forms);
}

bool ptx_op_has(const struct ptx_op *op, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = op->text, *end = p + op->text_length; p < end;) {
        const char *dot = memchr(p, '.', (size_t)(end - p));
        if (!dot) dot = end;
        if ((size_t)(dot - p) == n && memcmp(p, word, n) == 0) return true;
        p = dot + 1;
    }
    return false;
}

/* ---- opcodes ----------------------------------------------------------------------------------- */

static void add_gate(const struct ptx_isa *isa, struct ptx_op *op, struct gate g, struct slice what)
{
    if (op->gate) return;
    op->gate = isa_gate_text(isa, g,
                             arena_printf(isa->arena, "'%.*s'", (int)what.length, what.text));
}

static struct ptx_op *make_op(struct ptx_isa *isa, size_t form, const struct row *row,
                              const struct fit *fit, struct slice text)
{
    struct ptx_op *op = arena_alloc(isa->arena, sizeof *op);
    const struct ptx_form_info *info = &ptx_forms[form];
    op->form = info;
    op->text = text.text;
    op->text_length = (uint32_t)text.length;
    op->vec = 1;
    bool word_gate = false;
    for (size_t s = 0; s < row->slot_count; s++) {
        const struct choice *c = fit->choice[s];
        if (row->slots[s].is_type) {
            assert(op->type_count < sizeof op->type);
            op->type[op->type_count++] = c ? c->type : PTX_NO_TYPE;
        }
        if (!c) continue;
        if (c->word.length == 2 && c->word.text[0] == 'v' && strchr("248", c->word.text[1]))
            op->vec = (uint8_t)(c->word.text[1] - '0');
        enum ptx_space space = isa_space_find(c->word.text, c->word.length);
        if (space != PTX_SPACE_COUNT && !op->space) op->space = (uint8_t)space;
        add_gate(isa, op, c->gate, c->word);
        if (op->gate) word_gate = true;
    }
    if (!word_gate) {
        struct slice sm = {info->sm, strlen(info->sm)};
        add_gate(isa, op, (struct gate){info->since, sm}, text);
    }
    bool fits;
    const char *wrong = isa_read_operands(isa, op, &fits);
    assert(!wrong); /* the tests run ptx_isa_self_check */
    (void)wrong;
    return fits ? op : NULL;
}

/* Where the words of a name end in the text. */
struct slice isa_name_of(const struct words *w, size_t count)
{
    const char *end = w->at[count - 1].text + w->at[count - 1].length;
    return (struct slice){w->at[0].text, (size_t)(end - w->at[0].text)};
}

static const struct ptx_op *resolve(struct ptx_isa *isa, struct slice text)
{
    struct words w;
    if (!isa_split(text.text, (uint32_t)text.length, &w)) return NULL;
    struct ptx_op *gated = NULL, *first = NULL, **tail = &first, **gated_tail = &gated;
    for (size_t k = w.count; k > 0 && !first; k--) {
        for (size_t r = isa_first_row(isa_name_of(&w, k)); r; r = isa_table.next[r - 1]) {
            struct fit fit;
            const struct row *row = &isa_table.rows[r - 1];
            if (!isa_fit_row(row, &w, k, &fit)) continue;
            struct ptx_op *op = make_op(isa, r - 1, row, &fit, text);
            if (!op) continue;
            struct ptx_op ***end = op->gate ? &gated_tail : &tail;
            **end = op;
            *end = (struct ptx_op **)&op->next;
        }
    }
    return first ? first : gated;
}

static void rehash(struct ptx_isa *isa)
{
    struct entry *old = isa->entries;
    size_t n = isa->entry_mask + 1;
    isa->entry_mask = 2 * n - 1;
    isa->entries = arena_array(isa->arena, struct entry, 2 * n);
    for (size_t i = 0; i < n; i++) {
        if (!old[i].text) continue;
        size_t h = old[i].hash & isa->entry_mask;
        while (isa->entries[h].text) h = (h + 1) & isa->entry_mask;
        isa->entries[h] = old[i];
    }
}

const struct ptx_op *ptx_isa_find(struct ptx_isa *isa, const char *text, uint32_t length)
{
    uint32_t hash = hash_bytes(text, length);
    size_t h = hash & isa->entry_mask;
    for (; isa->entries[h].text; h = (h + 1) & isa->entry_mask) {
        const struct entry *e = &isa->entries[h];
        if (e->hash == hash && e->length == length && memcmp(e->text, text, length) == 0)
            return e->ops;
    }
    const char *own = arena_copy(isa->arena, text, length);
    struct entry e = {own, length, hash, resolve(isa, (struct slice){own, length})};
    isa->entries[h] = e;
    if (++isa->entry_count * 2 > isa->entry_mask) rehash(isa);
    return e.ops;
}

bool ptx_isa_is_name(const char *text, uint32_t length)
{
    pthread_once(&table_made, make_table);
    if (isa_first_row((struct slice){text, length})) return true;
    for (size_t i = 0; i < PTX_FORM_COUNT; i++)
        if (strncmp(ptx_forms[i].name, text, length) == 0 && ptx_forms[i].name[length] == '.')
            return true;
    return false;
}

/* ---- the table itself -------------------------------------------------------------------------- */

/* Every choice of every type slot, one at a time beside the first choices of the others, so that
 * each operand notation is read with types at hand. */
static const char *check_row(struct ptx_isa *isa, size_t form)
{
    const struct row *row = &isa_table.rows[form];
    for (size_t vary = 0; vary <= row->slot_count; vary++) {
        size_t n = vary < row->slot_count ? row->slots[vary].count : 1;
        for (size_t c = 0; c < n; c++) {
            struct fit fit = {.bad_word = MAX_WORDS};
            const char *text = ptx_forms[form].name;
            for (size_t s = 0; s < row->slot_count; s++) {
                fit.choice[s] = &row->slots[s].choices[s == vary ? c : 0];
                text = arena_printf(isa->arena, "%s.%.*s", text, (int)fit.choice[s]->word.length,
                                    fit.choice[s]->word.text);
            }
            struct ptx_op op = {.form = &ptx_forms[form], .text = text, .vec = 1};
            op.text_length = (uint32_t)strlen(text);
            for (size_t s = 0; s < row->slot_count; s++)
                if (row->slots[s].is_type) op.type[op.type_count++] = fit.choice[s]->type;
            bool fits;
            const char *wrong = isa_read_operands(isa, &op, &fits);
            if (wrong) return arena_printf(isa->arena, "%s: %s", text, wrong);
        }
    }
    return NULL;
}

const char *ptx_isa_self_check(struct arena *arena)
{
    struct ptx_isa *isa = ptx_isa_new(arena, 90, 90, 0);
    struct words_of_group words[sizeof groups / sizeof *groups] = {0};
    const char *all = NULL;
    for (size_t i = 0; i < PTX_FORM_COUNT; i++) {
        struct row row = {0};
        const char *wrong = compile_row(arena, words, &ptx_forms[i], &row);
        if (!wrong) wrong = check_row(isa, i);
        if (wrong)
            all = arena_printf(arena, "%srow %s: %s\n", all ? all : "", ptx_forms[i].id, wrong);
    }
    return all;
}
