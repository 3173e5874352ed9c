/* Reads the rows of isa.def and resolves opcodes against them.
 *
 * The rows are compiled once in a process, and an opcode's spelling is resolved once per module: a
 * map from its text to the rows that fit. So the price of the notation does not depend on the length
 * of a program. */
#include "ptx/isa.h"

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

static const struct group {
    const char *name, *what, *words;
} groups[] = {
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

enum { MAX_WORDS = 32, MAX_SLOTS = 24, MAX_SHAPES = 16 };

struct slice {
    const char *text;
    size_t length;
};

struct gate {
    uint16_t since;
    struct slice sm;
};

enum order { ANY_PLACE, SPACE_ORDER, LAYOUT_ORDER };

struct choice { /* one word of a slot */
    struct slice word;
    struct gate gate;
    uint8_t type;  /* enum ptx_type, if the word is one */
    uint8_t order; /* words of one kind that must stand in the order of their slots */
};

struct slot {
    struct choice *choices;
    size_t count;
    const struct group *group; /* the one it is spelled with, if any */
    bool optional, is_type;
};

struct row { /* a compiled ptx_form_info */
    size_t slot_count;
    struct slot slots[MAX_SLOTS];
};

struct entry { /* of the map from opcode text to ops */
    const char *text;
    uint32_t length, hash;
    const struct ptx_op *ops;
};

struct ptx_isa {
    struct arena *arena;
    uint16_t version, sm;
    char suffix;
    struct entry *entries;
    size_t entry_count, entry_mask;
};

static bool same(struct slice a, struct slice b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static bool same_text(struct slice a, const char *b)
{
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
        if (same_text(word, groups[i].name)) return &groups[i];
    return NULL;
}

static enum ptx_space space_find(const char *text, size_t n)
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
        if (same_text((struct slice){text, n}, spaces[i].name)) return spaces[i].space;
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

static struct gate take_gate(const char **p)
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

static void add_choice(struct arena *a, struct slot *s, size_t *cap, struct slice word,
                       struct gate gate)
{
    s->choices = arena_grow(a, s->choices, s->count, cap, s->count + 1, sizeof *s->choices);
    enum ptx_type type = ptx_type_find(word.text, word.length);
    enum order order = space_find(word.text, word.length) != PTX_SPACE_COUNT ? SPACE_ORDER
                       : same_text(word, "row") || same_text(word, "col")    ? LAYOUT_ORDER
                                                                             : ANY_PLACE;
    s->choices[s->count++] = (struct choice){word, gate, (uint8_t)type, (uint8_t)order};
    if (type) s->is_type = true;
}

/* `.word` or `.GROUP`, each with an optional gate, appended to the choices of a slot. */
static const char *add_alternative(struct arena *a, struct slot *s, size_t *cap, const char **p)
{
    if (**p != '.') return "a modifier does not start with a dot";
    ++*p;
    struct slice word = take_word(p);
    struct gate gate = take_gate(p);
    if (word.length == 0) return "an empty modifier";
    const struct group *g = find_group(word);
    if (!g) {
        bool capitals = true;
        for (size_t i = 0; i < word.length; i++)
            capitals &= !islower((unsigned char)word.text[i]) && word.text[i] != ':';
        if (capitals && isupper((unsigned char)word.text[0]))
            return "a group that words.def does not have";
        add_choice(a, s, cap, word, gate);
        return NULL;
    }
    s->group = g;
    for (const char *q = g->words; *q;) {
        struct slice w = take_word(&q);
        struct gate own = take_gate(&q);
        if (!own.since) own.since = gate.since;
        if (!own.sm.length) own.sm = gate.sm;
        add_choice(a, s, cap, w, own);
        while (*q == ' ') q++;
    }
    return NULL;
}

static const char *compile_row(struct arena *a, const struct ptx_form_info *form, struct row *row)
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
                wrong = add_alternative(a, s, &cap, &p);
                if (*p != '|') break;
                p++;
            }
            if (!wrong && *p != '}') wrong = "a brace that does not close";
            if (!wrong) p++;
        } else {
            wrong = add_alternative(a, s, &cap, &p);
            while (!wrong && *p == '|') {
                p++;
                wrong = add_alternative(a, s, &cap, &p);
            }
        }
        if (wrong) return wrong;
    }
    return NULL;
}

/* What does not depend on a module: made once in a process, then only read. */
static struct {
    struct arena *arena;
    struct row rows[PTX_FORM_COUNT];
    uint16_t next[PTX_FORM_COUNT];    /* the next row of the same name, plus 1 */
    const char *mods[PTX_FORM_COUNT]; /* as a reader of the manual would write them */
    uint16_t *names;                  /* hash of name -> first row, plus 1 */
    size_t name_mask;
} table;
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
    table.arena = arena_new();
    table.name_mask = 1;
    while (table.name_mask < (size_t)2 * PTX_FORM_COUNT) table.name_mask *= 2;
    table.name_mask--;
    table.names = arena_array(table.arena, uint16_t, table.name_mask + 1);
    uint16_t *last = arena_array(table.arena, uint16_t, PTX_FORM_COUNT);
    for (size_t i = 0; i < PTX_FORM_COUNT; i++) {
        const char *name = ptx_forms[i].name;
        size_t h = hash_bytes(name, strlen(name)) & table.name_mask;
        while (table.names[h] && strcmp(ptx_forms[table.names[h] - 1].name, name) != 0)
            h = (h + 1) & table.name_mask;
        size_t first = table.names[h] ? (size_t)table.names[h] - 1 : i;
        if (table.names[h]) table.next[last[first]] = (uint16_t)(i + 1);
        else table.names[h] = (uint16_t)(i + 1);
        last[first] = (uint16_t)i;
        const char *wrong = compile_row(table.arena, &ptx_forms[i], &table.rows[i]);
        assert(!wrong); /* the tests run ptx_isa_self_check */
        (void)wrong;
        table.mods[i] = spell_mods(table.arena, &table.rows[i]);
    }
}

const char *ptx_form_modifiers(enum ptx_form form)
{
    pthread_once(&table_made, make_table);
    return table.mods[form];
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
static size_t first_row(struct slice name)
{
    size_t h = hash_bytes(name.text, name.length) & table.name_mask;
    for (; table.names[h]; h = (h + 1) & table.name_mask)
        if (same_text(name, ptx_forms[table.names[h] - 1].name)) return table.names[h];
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

static const char *gate_text(const struct ptx_isa *isa, struct gate g, const char *what)
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

struct words {
    struct slice at[MAX_WORDS];
    size_t count;
};

static bool split(const char *text, uint32_t length, struct words *w)
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

struct fit { /* how the words behind a name fill a row's slots */
    const struct choice *choice[MAX_SLOTS];
    uint8_t word[MAX_SLOTS]; /* which word */
    size_t bad_word;         /* the first word no slot takes; MAX_WORDS: none */
    const struct slot *missing;
    size_t taken;
};

static const struct choice *choice_of(const struct slot *s, struct slice word)
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
        listed |= same_text(w->at[word], idle[i]);
    for (size_t i = from; i < word; i++) before |= same(w->at[i], w->at[word]);
    return listed && before;
}

/* Words that are types go to the type slots from left to right; any other goes to the first slot
 * that is free and takes it. */
static bool fit_row(const struct row *row, const struct words *w, size_t from, struct fit *fit)
{
    *fit = (struct fit){.bad_word = MAX_WORDS};
    size_t next_type = 0;
    for (size_t i = from; i < w->count; i++) {
        size_t found = MAX_SLOTS;
        for (size_t s = 0; s < row->slot_count && found == MAX_SLOTS; s++) {
            const struct slot *slot = &row->slots[s];
            if (fit->choice[s] || (slot->is_type && s < next_type)) continue;
            const struct choice *c = choice_of(slot, w->at[i]);
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

/* ---- operands ---------------------------------------------------------------------------------- */

static bool skip(const char **p, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(*p, text, n) != 0) return false;
    *p += n;
    return true;
}

static enum ptx_type wide(enum ptx_type t)
{
    switch (t) {
    case PTX_u8: return PTX_u16;
    case PTX_u16: return PTX_u32;
    case PTX_u32: return PTX_u64;
    case PTX_s8: return PTX_s16;
    case PTX_s16: return PTX_s32;
    case PTX_s32: return PTX_s64;
    case PTX_b16: return PTX_b32;
    case PTX_b32: return PTX_b64;
    case PTX_b64: return PTX_b128;
    case PTX_f16: return PTX_f32;
    case PTX_f32: return PTX_f64;
    default: return PTX_NO_TYPE;
    }
}

/* The register type that holds a piece of a matrix of T. */
static enum ptx_type piece(enum ptx_type t)
{
    switch (t) {
    case PTX_f16: return PTX_f16x2;
    case PTX_bf16: return PTX_bf16x2;
    case PTX_tf32:
    case PTX_f32:
    case PTX_f64:
    case PTX_s32: return t;
    default: return PTX_b32;
    }
}

bool ptx_op_matrix(const struct ptx_op *op, unsigned *m, unsigned *n, unsigned *k)
{
    *m = *n = *k = 0;
    for (const char *p = op->text, *end = p + op->text_length; p < end; p++)
        if (*p == '.' && p[1] == 'm' && isdigit((unsigned char)p[2]) &&
            sscanf(p, ".m%un%uk%u", m, n, k) >= 2)
            return true;
    return false;
}

/* The dimensions of the opcode's geometry word, 0: it has none. `index`: its first coordinate is an
 * array index; `cube`: it is a cube; `extra`: it takes one more coordinate than it has dimensions. */
static unsigned geometry(const struct ptx_op *op, bool *index, bool *cube, bool *extra)
{
    static const struct {
        const char *word;
        unsigned dims;
        bool index, cube, extra;
    } words[] = {{"1d", 1, false, false, false}, {"2d", 2, false, false, false},
                 {"3d", 3, false, false, false}, {"4d", 4, false, false, false},
                 {"5d", 5, false, false, false}, {"a1d", 1, true, false, true},
                 {"a2d", 2, true, false, true},  {"cube", 3, false, true, false},
                 {"acube", 3, true, true, true}, {"2dms", 2, false, false, true},
                 {"a2dms", 2, true, false, true}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_op_has(op, words[i].word)) {
            *index = words[i].index;
            *cube = words[i].cube;
            *extra = words[i].extra;
            return words[i].dims;
        }
    return 0;
}

/* How long the vectors of a texture or tensor instruction are: what ptxas takes for each geometry. */
static const char *geometry_count(char what, const struct ptx_op *op, struct ptx_shape *s)
{
    bool index, cube, extra;
    unsigned dims = geometry(op, &index, &cube, &extra);
    if (!dims) return "a geometry count without a geometry word";
    unsigned exact = 0, least = dims;
    switch (what) {
    case 'G':
        least = dims + extra;
        if (index) s->flags |= PTX_LEADING_U32;
        break;
    case 'O': break;
    case 'D': exact = dims == 3 ? 4 : dims; break;
    case 'N': exact = dims; break;
    case 'I': exact = dims > 2 ? dims - 2 : 0; break;
    default: break;
    }
    if (exact) {
        s->counts[s->count_n++] = (uint16_t)exact;
        return NULL;
    }
    for (unsigned n = 1; n <= 4; n *= 2)
        if (n >= least) s->counts[s->count_n++] = (uint16_t)n;
    if (s->counts[0] == 1) s->counts[s->count_n++] = 0; /* braces are optional */
    return NULL;
}

/* The number of the opcode's x1 ... x128 word, 1 if it has none. */
static unsigned repeat(const struct ptx_op *op)
{
    unsigned n = 1;
    for (const char *p = op->text, *end = p + op->text_length; p < end; p++)
        if (*p == '.' && p[1] == 'x' && isdigit((unsigned char)p[2])) sscanf(p, ".x%u", &n);
    return n;
}

/* T, T2, P3, W or a type's name. NULL: what is wrong. */
static const char *read_type(const char **p, const struct ptx_op *op, struct ptx_shape *s,
                             enum ptx_type *element)
{
    const char *from = *p;
    while (isalnum((unsigned char)**p) || **p == '_') ++*p;
    size_t n = (size_t)(*p - from);
    char c = from[0];
    if (n >= 1 && n <= 2 && (c == 'T' || c == 'P' || c == 'W') &&
        (n == 1 || (from[1] >= '1' && from[1] <= '8'))) {
        size_t i = n == 2 ? (size_t)(from[1] - '1') : 0;
        enum ptx_type t = i < op->type_count ? op->type[i] : PTX_NO_TYPE;
        *element = t;
        if (c == 'W') t = wide(t);
        if (c == 'P') {
            t = piece(t);
            s->flags |= PTX_PIECE;
        }
        s->type = (uint8_t)t;
        return t == PTX_NO_TYPE ? "a type that the opcode does not have" : NULL;
    }
    *element = ptx_type_find(from, n);
    s->flags |= PTX_FIXED;
    s->type = (uint8_t)*element;
    return *element ? NULL : "a base that is no type";
}

/* The part of an operand behind `*`. `fits` becomes false if the opcode cannot have this vector. */
static const char *read_count(const char **p, const struct ptx_op *op, struct ptx_shape *s,
                              enum ptx_type element, bool *fits)
{
    unsigned m, n, k;
    if (**p == 'V') {
        ++*p;
        s->counts[s->count_n++] = op->vec > 1 ? op->vec : 0;
        if (op->vec * ptx_types[s->type].bits > 128) *fits = false;
        return NULL;
    }
    if (**p == 'L') {
        ++*p;
        s->counts[s->count_n++] = op->vec;
        if (op->vec * ptx_types[s->type].bits != 256) *fits = false;
        return NULL;
    }
    if (**p && strchr("GODNI", **p)) return geometry_count(*(*p)++, op, s);
    unsigned factor = 0;
    const char *q = *p;
    while (isdigit((unsigned char)*q)) factor = factor * 10 + (unsigned)(*q++ - '0');
    if (*q == 'X') {
        *p = q + 1;
        s->counts[s->count_n++] = (uint16_t)(repeat(op) * (factor ? factor : 1));
        return NULL;
    }
    if (**p == 'm' || **p == 'n') {
        if (!ptx_op_matrix(op, &m, &n, &k)) return "a matrix count without a shape word";
        unsigned area = skip(p, "mn") ? m * n : skip(p, "mk") ? m * k : skip(p, "nk") ? n * k : 0;
        unsigned half = skip(p, "/2") ? 2 : 1;
        unsigned threads = m == 64 ? 128 : 32;
        unsigned bits = element == PTX_f64 ? 64 : 32;
        s->counts[s->count_n++] = (uint16_t)(area * ptx_types[element].bits / threads / bits /
                                             half);
        return NULL;
    }
    do {
        if (!isdigit((unsigned char)**p) || s->count_n == 4) return "a count";
        char *end;
        unsigned long c = strtoul(*p, &end, 10);
        s->counts[s->count_n++] = (uint16_t)c;
        *p = end;
    } while (**p == '|' && isdigit((unsigned char)(*p)[1]) && ++*p);
    if (s->counts[0] == 1 && s->count_n > 1 && s->count_n < 4)
        s->counts[s->count_n++] = 0; /* braces are optional */
    return NULL;
}

static const char *read_bracket(const char **p, const struct ptx_op *op, struct ptx_shape *s,
                                bool *fits)
{
    static const struct {
        const char *word;
        enum ptx_base base;
    } bases[] = {{"tex", PTX_BASE_TEX},    {"surf", PTX_BASE_SURF},      {"map", PTX_BASE_MAP},
                 {"texref", PTX_BASE_REF}, {"samplerref", PTX_BASE_REF}, {"surfref", PTX_BASE_REF},
                 {"tmem", PTX_BASE_TMEM}};
    s->base = PTX_BASE_ADDR;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        size_t n = strlen(bases[i].word);
        if (strncmp(*p, bases[i].word, n) == 0 && ((*p)[n] == ' ' || (*p)[n] == ']')) {
            s->base = (uint8_t)bases[i].base;
            if (s->base == PTX_BASE_REF) s->type = (uint8_t)ptx_type_find(*p, n);
            *p += n;
            break;
        }
    }
    if (s->base == PTX_BASE_ADDR) {
        while (**p != ']') {
            size_t n = strcspn(*p, "|]");
            enum ptx_space space = space_find(*p, n);
            if (space == PTX_SPACE_COUNT) return "a state space";
            s->spaces |= (uint16_t)(1u << space);
            *p += n;
            if (**p == '|') ++*p;
        }
        ++*p;
        if (**p == 'u') {
            s->flags |= PTX_UNIFIED;
            ++*p;
        }
        return NULL;
    }
    if (**p == ' ') {
        ++*p;
        enum ptx_type element;
        if (strncmp(*p, "u32+", 4) == 0) {
            s->flags |= PTX_LEADING_U32;
            *p += 4;
        }
        const char *wrong = read_type(p, op, s, &element);
        if (wrong) return wrong;
        if (**p == '*') {
            ++*p;
            wrong = read_count(p, op, s, element, fits);
            if (wrong) return wrong;
        }
    }
    if (**p != ']') return "a bracket that does not close";
    ++*p;
    return NULL;
}

static const char *read_range(const char **p, struct ptx_shape *s)
{
    char *q;
    s->low = strtoll(*p, &q, 0);
    if (*q == '|') { /* (4|8|16) */
        s->values[s->value_n++] = (int16_t)s->low;
        while (*q == '|' && s->value_n < sizeof s->values / sizeof *s->values)
            s->values[s->value_n++] = (int16_t)strtoll(q + 1, &q, 0);
        *p = q + 1;
        return *q == ')' ? NULL : "a list of values";
    }
    if (*q != ':') return "a range";
    s->high = strtoll(q + 1, &q, 0);
    s->step = 1;
    if (*q == '/') s->step = strtoll(q + 1, &q, 0);
    else if (*q == '^') s->step = 0, q++;
    if (*q != ')' || s->step < 0) return "a range";
    s->flags |= PTX_RANGE;
    *p = q + 1;
    return NULL;
}

/* An operand's `:71/60`. */
static const char *read_gate(const struct ptx_isa *isa, const char **p, const char *what)
{
    struct gate g = take_gate(p);
    return isa ? gate_text(isa, g, what) : NULL;
}

/* One operand up to the comma behind it. `present` becomes false if its @word is not there. */
static const char *read_operand(const struct ptx_isa *isa, const char **p, const struct ptx_op *op,
                                struct ptx_shape *s, bool *present, bool *fits)
{
    static const struct {
        char c;
        uint16_t flag;
    } flags[] = {{'=', PTX_WRITTEN}, {'#', PTX_CONSTANT},  {'$', PTX_REGISTER},  {'~', PTX_WIDE},
                 {'%', PTX_SPECIAL}, {'_', PTX_SINKABLE},  {'!', PTX_NEGATABLE}, {'-', PTX_MINUS},
                 {'&', PTX_NAMED},   {'.', PTX_SELECTABLE}};
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
            if (**p == flags[i].c) {
                if (**p == '.' && s->flags & PTX_SELECTABLE) s->flags |= PTX_SIMD;
                s->flags |= flags[i].flag;
                ++*p;
                more = true;
            }
    }
    const char *wrong = NULL;
    enum ptx_type element = PTX_NO_TYPE;
    if (s->flags & PTX_SINKABLE && (!**p || strchr(",@:", **p))) s->base = PTX_BASE_SINK;
    else if (skip(p, "[")) wrong = read_bracket(p, op, s, fits);
    else if (skip(p, "label")) s->base = PTX_BASE_LABEL;
    else if (skip(p, "call")) s->base = PTX_BASE_CALL;
    else if (skip(p, "targets")) s->base = PTX_BASE_TARGETS;
    else wrong = read_type(p, op, s, &element);
    if (!wrong && skip(p, "(")) wrong = read_range(p, s);
    if (!wrong && skip(p, "*")) wrong = read_count(p, op, s, element, fits);
    if (!wrong && skip(p, "||pred")) s->flags |= PTX_SECOND | PTX_SECOND_NEEDED;
    if (!wrong && skip(p, "|pred")) s->flags |= PTX_SECOND;
    if (!wrong && skip(p, "|_pred")) s->flags |= PTX_SECOND | PTX_SECOND_SINK;
    if (!wrong && s->flags & PTX_SECOND) s->second_gate = read_gate(isa, p, "a second result");
    if (!wrong && skip(p, "@")) {
        const char *from = *p;
        while (isalnum((unsigned char)**p) || **p == ':' || **p == '_') ++*p;
        struct arena *scratch = arena_new();
        *present = ptx_op_has(op, arena_copy(scratch, from, (size_t)(*p - from)));
        arena_free(scratch);
    }
    if (!wrong && skip(p, "?")) s->flags |= PTX_OPTIONAL;
    if (!wrong) s->gate = read_gate(isa, p, "this operand");
    return wrong;
}

/* Fills the op's shapes. NULL: fine; else what is wrong with the row. */
static const char *read_operands(const struct ptx_isa *isa, struct ptx_op *op, bool *fits)
{
    struct ptx_shape shapes[MAX_SHAPES];
    size_t n = 0, min = 0;
    *fits = true;
    for (const char *p = op->form->opnds; *p;) {
        if (n == MAX_SHAPES) return "too many operands";
        bool present = true;
        shapes[n] = (struct ptx_shape){0};
        const char *wrong = read_operand(isa, &p, op, &shapes[n], &present, fits);
        if (wrong) return wrong;
        if (present) n++;
        min += present && !(shapes[n - 1].flags & PTX_OPTIONAL);
        if (*p == ',') p++;
        else if (*p) return "an operand that goes on";
        while (*p == ' ') p++;
    }
    struct ptx_shape *own = arena_array(isa->arena, struct ptx_shape, n);
    memcpy(own, shapes, n * sizeof *own);
    op->shapes = own;
    op->shape_count = (uint8_t)n;
    op->shape_min = (uint8_t)min;
    return NULL;
}

/* ---- opcodes ----------------------------------------------------------------------------------- */

static void add_gate(const struct ptx_isa *isa, struct ptx_op *op, struct gate g, struct slice what)
{
    if (op->gate) return;
    op->gate = gate_text(isa, g, arena_printf(isa->arena, "'%.*s'", (int)what.length, what.text));
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
        enum ptx_space space = space_find(c->word.text, c->word.length);
        if (space != PTX_SPACE_COUNT && !op->space) op->space = (uint8_t)space;
        add_gate(isa, op, c->gate, c->word);
        if (op->gate) word_gate = true;
    }
    if (!word_gate) {
        struct slice sm = {info->sm, strlen(info->sm)};
        add_gate(isa, op, (struct gate){info->since, sm}, text);
    }
    bool fits;
    const char *wrong = read_operands(isa, op, &fits);
    assert(!wrong); /* the tests run ptx_isa_self_check */
    (void)wrong;
    return fits ? op : NULL;
}

/* Where the words of a name end in the text. */
static struct slice name_of(const struct words *w, size_t count)
{
    const char *end = w->at[count - 1].text + w->at[count - 1].length;
    return (struct slice){w->at[0].text, (size_t)(end - w->at[0].text)};
}

static const struct ptx_op *resolve(struct ptx_isa *isa, struct slice text)
{
    struct words w;
    if (!split(text.text, (uint32_t)text.length, &w)) return NULL;
    struct ptx_op *gated = NULL, *first = NULL, **tail = &first, **gated_tail = &gated;
    for (size_t k = w.count; k > 0 && !first; k--) {
        for (size_t r = first_row(name_of(&w, k)); r; r = table.next[r - 1]) {
            struct fit fit;
            const struct row *row = &table.rows[r - 1];
            if (!fit_row(row, &w, k, &fit)) continue;
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
    if (first_row((struct slice){text, length})) return true;
    for (size_t i = 0; i < PTX_FORM_COUNT; i++)
        if (strncmp(ptx_forms[i].name, text, length) == 0 && ptx_forms[i].name[length] == '.')
            return true;
    return false;
}

/* ---- what is wrong with an opcode -------------------------------------------------------------- */

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
    return arena_printf(arena, "%s%s", ptx_forms[form].name, table.mods[form]);
}

/* "did you mean mul.lo, mul.hi?": names that go on behind this one and take the word; NULL: none. */
static const char *longer_names(struct arena *a, struct slice name, struct slice word)
{
    const char *list = NULL;
    size_t listed = 0;
    for (size_t i = 0; i < PTX_FORM_COUNT && listed < 6; i++) {
        const char *longer = ptx_forms[i].name;
        if (strncmp(longer, name.text, name.length) != 0 || longer[name.length] != '.') continue;
        bool takes = false;
        for (size_t s = 0; s < table.rows[i].slot_count; s++)
            takes |= choice_of(&table.rows[i].slots[s], word) != NULL;
        const char *quoted = arena_printf(a, " '%s'", longer);
        if (!takes || (list && strstr(list, quoted))) continue;
        list = arena_printf(a, "%s%s%s", list ? list : "did you mean", list ? "," : "", quoted);
        listed++;
    }
    return list ? arena_printf(a, "%s?", list) : NULL;
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
    if (!split(text, length, &w)) {
        x.message = "malformed instruction name";
        return x;
    }
    size_t k = w.count;
    while (k > 0 && !first_row(name_of(&w, k))) k--;
    if (k == 0) {
        x.length = (uint32_t)w.at[0].length;
        if (ptx_isa_is_name(text, x.length)) {
            const char *list = "";
            size_t listed = 0;
            for (size_t i = 0; i < PTX_FORM_COUNT && listed < 8; i++)
                if (strncmp(ptx_forms[i].name, text, x.length) == 0 &&
                    ptx_forms[i].name[x.length] == '.' &&
                    (i == 0 || strcmp(ptx_forms[i - 1].name, ptx_forms[i].name) != 0)) {
                    list = arena_printf(a, "%s %s", list, ptx_forms[i].name);
                    listed++;
                }
            x.length = length;
            x.message = arena_printf(a, "'%.*s' is no form of '%.*s'", (int)length, text,
                                     (int)w.at[0].length, w.at[0].text);
            x.note = arena_printf(a, "forms:%s", list);
            return x;
        }
        const char *close = closest_name(w.at[0]);
        x.message = arena_printf(a, "unknown instruction '%.*s'", (int)x.length, text);
        if (close) x.note = arena_printf(a, "did you mean '%s'?", close);
        return x;
    }
    /* The row that takes the most words is the one that was meant. */
    size_t best = 0;
    struct fit best_fit = {.bad_word = 0};
    struct slice name = name_of(&w, k);
    for (size_t r = first_row(name); r; r = table.next[r - 1]) {
        struct fit fit;
        fit_row(&table.rows[r - 1], &w, k, &fit);
        bool better = !best || fit.taken > best_fit.taken ||
                      (fit.taken == best_fit.taken && !fit.missing && best_fit.missing);
        if (better) {
            best = r;
            best_fit = fit;
        }
    }
    if (best_fit.bad_word == MAX_WORDS) { /* every word fits, so one is missing */
        if (best_fit.missing) {
            const char *what = best_fit.missing->group     ? best_fit.missing->group->what
                               : best_fit.missing->is_type ? "type"
                                                           : "modifier";
            x.message = arena_printf(a, "'%.*s' needs a %s: %s", (int)length, text, what,
                                     slot_text(a, best_fit.missing));
        } else {
            x.message = arena_printf(a, "'%.*s' makes a vector of more than 128 bits", (int)length,
                                     text);
        }
        return x;
    }
    struct slice bad = w.at[best_fit.bad_word];
    x.from = (uint32_t)(bad.text - text);
    x.length = (uint32_t)bad.length;
    if (x.from) { /* the dot too */
        x.from--;
        x.length++;
    }
    bool type = ptx_type_find(bad.text, bad.length) != PTX_NO_TYPE;
    size_t takers = 0;
    const char *list = "";
    for (size_t r = first_row(name); r && takers < 6; r = table.next[r - 1]) {
        const struct row *row = &table.rows[r - 1];
        bool takes = false;
        for (size_t s = 0; s < row->slot_count; s++)
            takes |= choice_of(&row->slots[s], bad) != NULL;
        if (!takes) continue;
        list = arena_printf(a, "%s%s %s", list, takers ? "," : "", spelling(a, r - 1));
        takers++;
    }
    if (!takers) {
        x.message = arena_printf(a, "'%.*s' has no %s '.%.*s'", (int)name.length, name.text,
                                 type ? "form for type" : "modifier", (int)bad.length, bad.text);
        x.note = longer_names(a, name, bad);
        if (x.note) return x;
        x.note = arena_printf(a, "a form of it: %s", spelling(a, best - 1));
    } else {
        x.message = arena_printf(a, "'%.*s' does not take '.%.*s'", (int)length, text,
                                 (int)bad.length, bad.text);
        x.note = arena_printf(a, "forms of '%.*s' that take it:%s", (int)name.length, name.text,
                              list);
    }
    return x;
}

/* ---- the table itself -------------------------------------------------------------------------- */

/* Every choice of every type slot, one at a time beside the first choices of the others, so that
 * each operand notation is read with types at hand. */
static const char *check_row(struct ptx_isa *isa, size_t form)
{
    const struct row *row = &table.rows[form];
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
            const char *wrong = read_operands(isa, &op, &fits);
            if (wrong) return arena_printf(isa->arena, "%s: %s", text, wrong);
        }
    }
    return NULL;
}

const char *ptx_isa_self_check(struct arena *arena)
{
    struct ptx_isa *isa = ptx_isa_new(arena, 90, 90, 0);
    const char *all = NULL;
    for (size_t i = 0; i < PTX_FORM_COUNT; i++) {
        struct row row = {0};
        const char *wrong = compile_row(arena, &ptx_forms[i], &row);
        if (!wrong) wrong = check_row(isa, i);
        if (wrong)
            all = arena_printf(arena, "%srow %s: %s\n", all ? all : "", ptx_forms[i].id, wrong);
    }
    return all;
}
