/* The mutators: each changes one thing in a module and returns false where it cannot. Lists of texts to
 * choose from are one string with ` between them. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/lex.h"
#include "tests/ptxas/diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mutant {
    struct arena *arena;
    const struct corpus *corpus;
    struct pieces p;
    struct stmts s;
    const char *focus;
    uint64_t state; /* of the generator */
};

static size_t below(struct mutant *m, size_t n) /* 0 .. n-1 */
{
    m->state = diff_mix(m->state);
    return n ? (size_t)(m->state % n) : 0;
}

static const char *one_of(struct mutant *m, const char *const *list, size_t n)
{
    return list[below(m, n)];
}
#define ONE_OF(m, list) one_of((m), (list), COUNT(list))

/* One of the texts in a string that ` separates. */
static const char *text_from(struct mutant *m, const char *list)
{
    size_t n = 1;
    for (const char *p = list; *p; p++) n += *p == '`';
    for (size_t k = below(m, n); k; k--) list = strchr(list, '`') + 1;
    return arena_copy(m->arena, list, strcspn(list, "`"));
}

static const char *a_word(struct mutant *m, const struct words *w)
{
    return w->n ? w->v[below(m, w->n)] : "x";
}

/* Replaces pieces from .. to by one with that text; NULL: by nothing. */
static bool put(struct mutant *m, size_t from, size_t to, const char *text)
{
    if (from > to || to > m->p.n) return false;
    size_t add = text != NULL;
    struct piece put = {text, text ? (uint32_t)strlen(text) : 0, TOK_WORD, text ? text[0] : 0, ' '};
    if (from < m->p.n) put.lead = m->p.v[from].lead;
    if (from == to && !put.lead) put.lead = ' ';
    m->p.v = arena_grow(m->arena, m->p.v, m->p.n, &m->p.cap, m->p.n + 1, sizeof *m->p.v);
    memmove(m->p.v + from + add, m->p.v + to, (m->p.n - to) * sizeof *m->p.v);
    m->p.n = m->p.n - (to - from) + add;
    if (add) m->p.v[from] = put;
    /* What follows must not run into what is before it. */
    if (from + add < m->p.n && from + add > 0 && !m->p.v[from + add].lead &&
        m->p.v[from + add].kind != TOK_PUNCT && m->p.v[from + add - 1].kind != TOK_PUNCT)
        m->p.v[from + add].lead = ' ';
    return true;
}

static const char *text_of(struct mutant *m, size_t from, size_t to)
{
    struct buf b = {0};
    pieces_render(m->p.v + from, to - from, &b);
    const char *text = arena_copy(m->arena, b.data, b.size - 1);
    buf_free(&b);
    return text;
}

static const char *piece_text(struct mutant *m, size_t i)
{
    return arena_copy(m->arena, m->p.v[i].text, m->p.v[i].length);
}

static bool swap_spans(struct mutant *m, struct span a, struct span b) /* a before b */
{
    if (a.to > b.from) return false;
    const char *x = text_of(m, a.from, a.to), *y = text_of(m, b.from, b.to);
    return put(m, b.from, b.to, x) && put(m, a.from, a.to, y);
}

#define KIND(k) (1u << (k))

static struct stmt *pick(struct mutant *m, unsigned kinds)
{
    size_t n = 0;
    if (kinds == KIND(ST_INST) && m->focus && below(m, 3))
        for (size_t i = 0; i < m->s.n; i++)
            if (m->s.v[i].kind == ST_INST && piece_is_text(&m->p.v[m->s.v[i].op], m->focus))
                return &m->s.v[i];
    for (size_t i = 0; i < m->s.n; i++) n += (kinds >> m->s.v[i].kind) & 1;
    if (!n) return NULL;
    size_t k = below(m, n);
    for (size_t i = 0;; i++)
        if (((kinds >> m->s.v[i].kind) & 1) && k-- == 0) return &m->s.v[i];
}

static struct stmt *pick_inst(struct mutant *m)
{
    return pick(m, KIND(ST_INST));
}

static bool pick_operand(struct mutant *m, struct span *o)
{
    struct stmt *s = pick_inst(m);
    if (!s || !s->operands) return false;
    *o = s->operand[below(m, s->operands)];
    return o->from < o->to;
}

/* One piece of a random statement of these kinds for which `test` holds. */
static bool pick_piece(struct mutant *m, unsigned kinds, bool (*test)(const struct piece *),
                       size_t *at)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        struct stmt *s = pick(m, kinds);
        if (!s) return false;
        size_t n = 0;
        for (size_t i = s->from; i < s->to; i++) n += test(&m->p.v[i]);
        if (!n) continue;
        size_t k = below(m, n);
        for (size_t i = s->from; i < s->to; i++)
            if (test(&m->p.v[i]) && k-- == 0) {
                *at = i;
                return true;
            }
    }
    return false;
}

static bool is_number(const struct piece *p)
{
    return p->kind == TOK_INT || p->kind == TOK_FLOAT || p->kind == TOK_HEX_F32 ||
           p->kind == TOK_HEX_F64;
}
static bool is_int(const struct piece *p)
{
    return p->kind == TOK_INT;
}
static bool is_any(const struct piece *p)
{
    return p->kind != TOK_BAD_BYTE;
}
static bool is_word(const struct piece *p)
{
    return p->kind == TOK_WORD;
}
static bool is_dots(const struct piece *p)
{
    return p->kind == TOK_DOTS;
}
static bool is_comma(const struct piece *p)
{
    return piece_is(p, ',');
}
static bool is_bracket(const struct piece *p)
{
    return piece_opens(p) || piece_closes(p);
}
static bool is_mark(const struct piece *p)
{
    return p->kind == TOK_PUNCT && strchr(";,:.@!+-|<>=", p->c);
}
static bool is_percent(const struct piece *p)
{
    return p->kind == TOK_WORD && p->c == '%';
}

/* -- words of an opcode -- */

static const char *const type_words[] = {
#define TYPE(id, bits, kind) #id,
#include "ptx/types.def"
};
static const char *const plain_types[] = {"u8",  "u16", "u32",  "u64",  "s8",   "s16",   "s32",
                                          "s64", "b8",  "b16",  "b32",  "b64",  "f16",   "f16x2",
                                          "f32", "f64", "pred", "b128", "bf16", "bf16x2"};

enum { WORDS_MAX = 32 };
struct opcode {
    size_t at; /* the piece */
    size_t n;
    const char *w[WORDS_MAX]; /* w[0] is the name */
    size_t type_n, type[WORDS_MAX];
};

static bool split_opcode(struct mutant *m, size_t at, struct opcode *o)
{
    const struct piece *p = &m->p.v[at];
    *o = (struct opcode){.at = at};
    for (uint32_t from = 0; from <= p->length && o->n < WORDS_MAX - 1;) {
        const char *dot = memchr(p->text + from, '.', p->length - from);
        uint32_t to = dot ? (uint32_t)(dot - p->text) : p->length;
        o->w[o->n] = arena_copy(m->arena, p->text + from, to - from);
        for (size_t k = 0; k < COUNT(type_words); k++)
            if (o->n && strcmp(o->w[o->n], type_words[k]) == 0) o->type[o->type_n++] = o->n;
        o->n++;
        from = to + 1;
    }
    return o->n > 0;
}

static bool pick_opcode(struct mutant *m, struct opcode *o)
{
    struct stmt *s = pick_inst(m);
    return s && split_opcode(m, s->op, o);
}

static bool put_opcode(struct mutant *m, const struct opcode *o)
{
    struct buf b = {0};
    for (size_t i = 0; i < o->n; i++) {
        if (i) buf_putc(&b, '.');
        buf_puts(&b, o->w[i]);
    }
    const char *text = arena_copy(m->arena, b.data, b.size);
    buf_free(&b);
    return put(m, o->at, o->at + 1, text);
}

static void erase_word(struct opcode *o, size_t i)
{
    memmove(&o->w[i], &o->w[i + 1], (o->n - i - 1) * sizeof *o->w);
    o->n--;
}

static void insert_word(struct opcode *o, size_t i, const char *word)
{
    if (o->n == WORDS_MAX) return;
    memmove(&o->w[i + 1], &o->w[i], (o->n - i) * sizeof *o->w);
    o->w[i] = word;
    o->n++;
}

static bool type_change(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o) || !o.type_n) return false;
    o.w[o.type[below(m, o.type_n)]] = below(m, 4) ? ONE_OF(m, plain_types) : ONE_OF(m, type_words);
    return put_opcode(m, &o);
}

static bool type_swap(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o) || o.type_n < 2) return false;
    const char *first = o.w[o.type[0]];
    o.w[o.type[0]] = o.w[o.type[1]];
    o.w[o.type[1]] = first;
    return put_opcode(m, &o);
}

static bool type_drop(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o) || !o.type_n) return false;
    erase_word(&o, o.type[below(m, o.type_n)]);
    return put_opcode(m, &o);
}

static bool type_add(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o)) return false;
    insert_word(&o, o.n, ONE_OF(m, plain_types));
    return put_opcode(m, &o);
}

static bool mod_drop(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o) || o.n < 2) return false;
    erase_word(&o, 1 + below(m, o.n - 1));
    return put_opcode(m, &o);
}

static bool mod_double(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o) || o.n < 2) return false;
    size_t i = 1 + below(m, o.n - 1);
    insert_word(&o, below(m, 2) ? i : 1 + below(m, o.n), o.w[i]);
    return put_opcode(m, &o);
}

static bool mod_swap(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o) || o.n < 3) return false;
    size_t i = 1 + below(m, o.n - 2), k = i + 1;
    if (below(m, 3) == 0) k = 1 + below(m, o.n - 1);
    const char *word = o.w[i];
    o.w[i] = o.w[k];
    o.w[k] = word;
    return put_opcode(m, &o);
}

/* A modifier that the corpus has on the same opcode. */
static const char *related_word(struct mutant *m, const char *name)
{
    const struct words *forms = &m->corpus->forms;
    size_t length = strlen(name), n = 0;
    for (size_t i = 0; i < forms->n; i++)
        n += strncmp(forms->v[i], name, length) == 0 && forms->v[i][length] == '.';
    if (!n) return a_word(m, &m->corpus->mods);
    size_t k = below(m, n), i = 0;
    for (;; i++)
        if (strncmp(forms->v[i], name, length) == 0 && forms->v[i][length] == '.' && k-- == 0)
            break;
    const char *words[WORDS_MAX], *from = forms->v[i] + length + 1;
    size_t count = 0;
    while (count < WORDS_MAX) {
        const char *dot = strchr(from, '.');
        words[count++] = arena_copy(m->arena, from, dot ? (size_t)(dot - from) : strlen(from));
        if (!dot) break;
        from = dot + 1;
    }
    return words[below(m, count)];
}

static bool mod_add(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o)) return false;
    insert_word(&o, 1 + below(m, o.n), a_word(m, &m->corpus->mods));
    return put_opcode(m, &o);
}

static bool mod_add_related(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o)) return false;
    insert_word(&o, 1 + below(m, o.n), related_word(m, o.w[0]));
    return put_opcode(m, &o);
}

static bool mod_change(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o) || o.n < 2) return false;
    o.w[1 + below(m, o.n - 1)] = a_word(m, &m->corpus->mods);
    return put_opcode(m, &o);
}

static bool mod_change_related(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o) || o.n < 2) return false;
    o.w[1 + below(m, o.n - 1)] = related_word(m, o.w[0]);
    return put_opcode(m, &o);
}

/* A modifier of the same family: what differs in a corpus form that is equal elsewhere. */
static bool mod_variant(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o)) return false;
    const struct words *forms = &m->corpus->forms;
    size_t length = strlen(o.w[0]), n = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        size_t k = pass ? below(m, n) : 0;
        for (size_t i = 0; i < forms->n; i++) {
            if (strncmp(forms->v[i], o.w[0], length) != 0) continue;
            if (forms->v[i][length] && forms->v[i][length] != '.') continue;
            if (!pass) n++;
            else if (k-- == 0) return put(m, o.at, o.at + 1, forms->v[i]);
        }
        if (!n) return false;
    }
    return false;
}

static bool mod_case(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o)) return false;
    size_t i = below(m, o.n), n = strlen(o.w[i]);
    if (!n) return false;
    char *word = arena_copy(m->arena, o.w[i], n);
    size_t k = below(m, n);
    switch (below(m, 4)) {
    case 0: word[k] = (char)(word[k] ^ 0x20); break;
    case 1: word[k] = (char)('a' + below(m, 26)); break;
    case 2: memmove(word + k, word + k + 1, n - k); break;
    default: word = arena_printf(m->arena, "%.*s%c%s", (int)k, word, word[k], word + k);
    }
    o.w[i] = word;
    return put_opcode(m, &o);
}

static bool opcode_other(struct mutant *m)
{
    struct opcode o;
    if (!pick_opcode(m, &o)) return false;
    o.w[0] = a_word(m, &m->corpus->ops);
    return put_opcode(m, &o);
}

static bool opcode_any_form(struct mutant *m)
{
    struct stmt *s = pick_inst(m);
    return s && put(m, s->op, s->op + 1, a_word(m, &m->corpus->forms));
}

/* -- operands -- */

static bool operand_drop(struct mutant *m)
{
    struct stmt *s = pick_inst(m);
    if (!s || !s->operands) return false;
    size_t i = below(m, s->operands);
    struct span o = s->operand[i];
    if (i > 0) o.from--;
    else if (s->operands > 1) o.to++;
    return put(m, o.from, o.to, NULL);
}

static bool operand_double(struct mutant *m)
{
    struct span o;
    if (!pick_operand(m, &o)) return false;
    const char *text = text_of(m, o.from, o.to);
    return put(m, o.to, o.to, arena_printf(m->arena, ", %s", text));
}

static bool operand_swap(struct mutant *m)
{
    struct stmt *s = pick_inst(m);
    if (!s || s->operands < 2) return false;
    size_t i = below(m, s->operands - 1), k = i + 1 + below(m, s->operands - 1 - i);
    return swap_spans(m, s->operand[i], s->operand[k]);
}

static const char ints[] =
    "0`1`-1`2`3`4`5`7`8`12`15`16`17`31`32`33`63`64`100`127`128`255`256`1023`1024`32767`32768`"
    "65535`65536`2147483647`2147483648`4294967295`4294967296`-128`-129`-32768`-32769`-2147483648`"
    "-2147483649`9223372036854775807`9223372036854775808`-9223372036854775808`"
    "18446744073709551615`18446744073709551616`99999999999999999999999`0x1FFFFFFFF`0xFFFFFFFF`"
    "0x80000000`0xFFFFFFFFFFFFFFFF`0x1FFFFFFFFFFFFFFFF`017`0b101`1U`0xFU`WARP_SZ`(1 + 2)`~0`!1`"
    "7 / 0";
static const char floats[] = "1.5`0.0`-2.25`1e10`1.0e-400`1.0e400`1.`.5`1e5`-0.0`3.14159265358979";
static const char hex_floats[] =
    "0f3F800000`0f7FC00000`0d3FF0000000000000`0dFFF0000000000000`-0f3F800000`0F3f800000`"
    "0D3FF0000000000000";
static const char bad_numbers[] =
    "08`0x`0f3F8`0d3FF0`1.5f`0b2`1e`0xG`1u`0f3F8000000`1__2`0o17`1.2.3";
static const char *const special[] = {
#define SREG(name, type, narrowest, vec, since, sm) name,
#define SREG_SET(name, count, type, narrowest, vec, since, sm) name "0",
#include "ptx/sregs.def"
    "%tid.x", "%tid.y", "%ntid.x", "%ctaid.z", "%nctaid.x", "%clusterid.x", "%tid.w", "%laneid.x"};
static const char components[] = ".x`.y`.z`.w`.b0`.b3`.h0`.h1`.r`.a`.lo`.s0`.v";

static const char *register_of(struct mutant *m) /* that occurs in an instruction */
{
    size_t i;
    return pick_piece(m, KIND(ST_INST), is_percent, &i) ? piece_text(m, i) : "%r1";
}

static const char *variable_of(struct mutant *m)
{
    size_t i;
    return pick_piece(m, KIND(ST_VAR) | KIND(ST_DECL) | KIND(ST_HEAD), is_word, &i)
               ? piece_text(m, i)
               : "nowhere";
}

/* The registers of `.reg .b32 %r<5>` and `.reg .b32 a, b`: any of them. */
static const char *declared_register(struct mutant *m)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        struct stmt *s = pick(m, KIND(ST_DECL));
        if (!s || !piece_is_text(&m->p.v[s->from], ".reg")) continue;
        size_t n = 0;
        for (size_t i = s->from; i < s->to; i++) n += is_word(&m->p.v[i]);
        if (!n) continue;
        size_t k = below(m, n), i = s->from;
        for (;; i++)
            if (is_word(&m->p.v[i]) && k-- == 0) break;
        if (piece_is(&m->p.v[i + 1], '<'))
            return arena_printf(m->arena, "%s%u", piece_text(m, i), (unsigned)below(m, 2));
        return piece_text(m, i);
    }
    return register_of(m);
}

static bool put_operand(struct mutant *m, const char *text)
{
    struct span o;
    return pick_operand(m, &o) && put(m, o.from, o.to, text);
}

static bool operand_add(struct mutant *m)
{
    struct stmt *s = pick_inst(m);
    if (!s) return false;
    const char *text = below(m, 2) ? declared_register(m) : text_from(m, ints);
    if (!s->operands) return put(m, s->to - 1, s->to - 1, text);
    if (below(m, 2)) {
        size_t at = s->operand[s->operands - 1].to;
        return put(m, at, at, arena_printf(m->arena, ", %s", text));
    }
    size_t at = s->operand[below(m, s->operands)].from;
    return put(m, at, at, arena_printf(m->arena, "%s,", text));
}

static bool operand_register(struct mutant *m)
{
    return put_operand(m, declared_register(m));
}
static bool operand_int(struct mutant *m)
{
    return put_operand(m, text_from(m, ints));
}
static bool operand_float(struct mutant *m)
{
    return put_operand(m, text_from(m, floats));
}
static bool operand_hex_float(struct mutant *m)
{
    return put_operand(m, text_from(m, hex_floats));
}
static bool operand_bad_number(struct mutant *m)
{
    return put_operand(m, text_from(m, bad_numbers));
}
static bool operand_variable(struct mutant *m)
{
    return put_operand(m, variable_of(m));
}
static bool operand_special(struct mutant *m)
{
    return put_operand(m, ONE_OF(m, special));
}
static bool operand_sink(struct mutant *m)
{
    return put_operand(m, "_");
}

static bool operand_foreign(struct mutant *m) /* another instruction's operand, as it is */
{
    struct span o;
    return pick_operand(m, &o) && put_operand(m, text_of(m, o.from, o.to));
}

static bool operand_negate(struct mutant *m)
{
    struct span o;
    if (!pick_operand(m, &o)) return false;
    static const char signs[] = "-`!`~`+";
    return put(m, o.from, o.to,
               arena_printf(m->arena, "%s%s", text_from(m, signs), text_of(m, o.from, o.to)));
}

static bool operand_offset(struct mutant *m)
{
    struct stmt *s = pick_inst(m);
    if (!s) return false;
    static const char offsets[] =
        "+4`+0`+-8`-4`+2147483648`+4294967296`+%r1`+1.5`+ 0x10`[4]`+1`+3`*4`+4+4`-2147483648";
    for (size_t i = 0; i < s->operands; i++) {
        struct span o = s->operand[i];
        if (!piece_is(&m->p.v[o.from], '[') && below(m, 3)) continue;
        if (piece_is(&m->p.v[o.to - 1], ']')) o.to--;
        return put(m, o.to, o.to, text_from(m, offsets));
    }
    return false;
}

static bool operand_wrap(struct mutant *m)
{
    struct span o;
    if (!pick_operand(m, &o)) return false;
    const char *text = text_of(m, o.from, o.to);
    const char *second = below(m, 2) ? text : declared_register(m);
    const char *made[] = {
        arena_printf(m->arena, "[%s]", text),
        arena_printf(m->arena, "{%s}", text),
        arena_printf(m->arena, "(%s)", text),
        arena_printf(m->arena, "{%s, %s}", text, second),
        arena_printf(m->arena, "[%s, %s]", text, second),
        arena_printf(m->arena, "%s|%s", text, second),
        arena_printf(m->arena, "{%s, _}", text),
    };
    return put(m, o.from, o.to, ONE_OF(m, made));
}

static bool operand_unwrap(struct mutant *m)
{
    struct stmt *s = pick_inst(m);
    if (!s) return false;
    for (size_t i = below(m, s->operands + 1); i < s->operands; i++) {
        struct span o = s->operand[i];
        if (o.to - o.from < 2 || !piece_opens(&m->p.v[o.from]) || !piece_closes(&m->p.v[o.to - 1]))
            continue;
        return put(m, o.to - 1, o.to, NULL) && put(m, o.from, o.from + 1, NULL);
    }
    return false;
}

/* The parts between the commas of a list; how many. */
static size_t split_list(const struct mutant *m, size_t from, size_t to, struct span *e)
{
    size_t n = 0;
    while (from < to && n < OPERANDS_MAX) {
        size_t comma = pieces_find(m->p.v, to, from, ',');
        e[n++] = (struct span){from, comma};
        from = comma + 1;
    }
    return n;
}

/* Takes one part out of a list, with a comma. */
static bool drop_part(struct mutant *m, const struct span *e, size_t n, size_t k)
{
    return put(m, k ? e[k].from - 1 : e[k].from, !k && n > 1 ? e[k].to + 1 : e[k].to, NULL);
}

/* Elements of {..}, (..) and [..] operands. */
static bool element_change(struct mutant *m)
{
    struct stmt *s = pick_inst(m);
    if (!s) return false;
    for (size_t i = below(m, s->operands + 1); i < s->operands; i++) {
        struct span o = s->operand[i];
        if (o.to - o.from < 3 || !piece_opens(&m->p.v[o.from])) continue;
        struct span e[OPERANDS_MAX];
        size_t n = split_list(m, o.from + 1, o.to - 1, e);
        if (!n) continue;
        size_t k = below(m, n);
        switch (below(m, 6)) {
        case 0: return drop_part(m, e, n, k);
        case 1:
            return put(m, e[k].to, e[k].to,
                       arena_printf(m->arena, ", %s", text_of(m, e[k].from, e[k].to)));
        case 2: return put(m, e[k].from, e[k].to, declared_register(m));
        case 3: return put(m, e[k].from, e[k].to, text_from(m, ints));
        case 4: return put(m, e[k].from, e[k].to, "_");
        default: return put(m, e[k].from, e[k].to, variable_of(m));
        }
    }
    return false;
}

static bool operand_component(struct mutant *m)
{
    size_t i;
    if (!pick_piece(m, KIND(ST_INST), is_percent, &i)) return false;
    return put(m, i, i + 1,
               arena_printf(m->arena, "%s%s", piece_text(m, i), text_from(m, components)));
}

static bool operand_pair(struct mutant *m)
{
    struct span o;
    if (!pick_operand(m, &o)) return false;
    for (size_t i = o.from; i < o.to; i++)
        if (piece_is(&m->p.v[i], '|')) return put(m, i, o.to, NULL);
    return put(m, o.to, o.to, arena_printf(m->arena, "|%s", declared_register(m)));
}

static bool register_number(struct mutant *m) /* %r3 -> %r4, out of the declared range at times */
{
    size_t i;
    if (!pick_piece(m, KIND(ST_INST), is_percent, &i)) return false;
    const char *text = piece_text(m, i);
    size_t n = strcspn(text, "0123456789.");
    static const char numbers[] = "0`1`2`9`99`01`1000000``-1`4294967296";
    return put(m, i, i + 1, arena_printf(m->arena, "%.*s%s", (int)n, text, text_from(m, numbers)));
}

/* -- labels, guards, statements, scopes -- */

static bool label_double(struct mutant *m)
{
    struct stmt *l = pick(m, KIND(ST_LABEL)), *s = pick(m, KIND(ST_INST) | KIND(ST_DECL));
    return l && s && put(m, s->from, s->from, text_of(m, l->from, l->to));
}

static bool label_drop(struct mutant *m)
{
    struct stmt *l = pick(m, KIND(ST_LABEL));
    return l && put(m, l->from, l->to, NULL);
}

static bool label_rename(struct mutant *m)
{
    struct stmt *l = pick(m, KIND(ST_LABEL));
    if (!l) return false;
    const char *name = below(m, 3) == 0   ? "elsewhere"
                       : below(m, 2) == 0 ? variable_of(m)
                                          : register_of(m);
    return put(m, l->from, l->from + 1, name);
}

static bool label_add(struct mutant *m)
{
    struct stmt *s = pick(m, KIND(ST_INST) | KIND(ST_DECL) | KIND(ST_CLOSE) | KIND(ST_OPEN));
    if (!s) return false;
    const char *name = below(m, 2)   ? "newlabel:"
                       : below(m, 2) ? arena_printf(m->arena, "%s:", variable_of(m))
                                     : arena_printf(m->arena, "%s:", register_of(m));
    return put(m, s->from, s->from, name);
}

static bool branch_add(struct mutant *m)
{
    struct stmt *s = pick(m, KIND(ST_INST) | KIND(ST_CLOSE)), *l = pick(m, KIND(ST_LABEL));
    if (!s) return false;
    const char *to = l && below(m, 4) ? piece_text(m, l->from) : variable_of(m);
    static const char ways[] = "bra`bra.uni`call`call.uni`@%p1 bra`brx.idx %r1,`mov.u64 %rd1,";
    return put(m, s->from, s->from, arena_printf(m->arena, "%s %s;", text_from(m, ways), to));
}

static bool guard_change(struct mutant *m)
{
    struct stmt *s = pick_inst(m);
    if (!s) return false;
    const char *reg = declared_register(m);
    if (s->op == s->from) {
        static const char before[] = "@`@!`@ `@-`!@`@@`@!!`@_";
        static const char after[] = "`````.x`|%p1`+1";
        return put(
            m, s->from, s->from,
            arena_printf(m->arena, "%s%s%s", text_from(m, before), reg, text_from(m, after)));
    }
    switch (below(m, 4)) {
    case 0: return put(m, s->from, s->op, NULL);
    case 1: return put(m, s->op - 1, s->op, reg);
    case 2: return put(m, s->from + 1, s->from + 1, "!");
    default: return put(m, s->op - 1, s->op, ONE_OF(m, special));
    }
}

static bool stmt_drop(struct mutant *m)
{
    struct stmt *s = pick(m, KIND(ST_INST) | KIND(ST_OTHER) | KIND(ST_LINE));
    return s && put(m, s->from, s->to, NULL);
}

static bool stmt_double(struct mutant *m)
{
    struct stmt *s = pick(m, KIND(ST_INST) | KIND(ST_OTHER) | KIND(ST_LINE));
    return s && put(m, s->to, s->to, text_of(m, s->from, s->to));
}

static bool stmt_move(struct mutant *m)
{
    unsigned kinds = KIND(ST_INST) | KIND(ST_OTHER) | KIND(ST_DECL) | KIND(ST_VAR) | KIND(ST_LABEL);
    struct stmt *s = pick(m, kinds), *t = pick(m, kinds | KIND(ST_OPEN) | KIND(ST_CLOSE));
    if (!s || !t || s->from == t->from) return false;
    const char *text = text_of(m, s->from, s->to);
    if (t->from < s->from) return put(m, s->from, s->to, NULL) && put(m, t->from, t->from, text);
    return put(m, t->from, t->from, text) && put(m, s->from, s->to, NULL);
}

static bool scope_add(struct mutant *m)
{
    unsigned kinds = KIND(ST_INST) | KIND(ST_DECL) | KIND(ST_LABEL);
    struct stmt *s = pick(m, kinds), *t = pick(m, kinds);
    if (!s || !t) return false;
    if (t < s) {
        struct stmt *x = s;
        s = t;
        t = x;
    }
    return put(m, t->to, t->to, "}") && put(m, s->from, s->from, "{");
}

static bool brace_add(struct mutant *m)
{
    struct stmt *s = pick(m, ~0u);
    static const char marks[] = "{`}`;`{ }`:";
    return s && put(m, s->from, s->from, text_from(m, marks));
}

/* -- declarations -- */

enum { DECLARATIONS = KIND(ST_DECL) | KIND(ST_VAR) };

/* Rather a variable than registers, of which there are many more. */
static struct stmt *pick_variable(struct mutant *m, unsigned kinds)
{
    struct stmt *s = NULL;
    for (unsigned tries = 0; tries < 12; tries++) {
        s = pick(m, kinds);
        if (!s || !piece_is_text(&m->p.v[s->from], ".reg")) break;
    }
    return s;
}

static bool decl_drop(struct mutant *m)
{
    struct stmt *s = pick(m, DECLARATIONS);
    return s && put(m, s->from, s->to, NULL);
}

static bool decl_double(struct mutant *m)
{
    struct stmt *s = pick(m, DECLARATIONS), *t = pick(m, DECLARATIONS | KIND(ST_INST));
    if (!s || !t) return false;
    const char *text = text_of(m, s->from, s->to);
    return below(m, 2) ? put(m, s->to, s->to, text) : put(m, t->from, t->from, text);
}

static bool is_type_dots(const struct piece *p)
{
    if (p->kind != TOK_DOTS) return false;
    for (size_t i = 0; i < COUNT(type_words); i++)
        if (strlen(type_words[i]) + 1 == p->length &&
            memcmp(p->text + 1, type_words[i], p->length - 1) == 0)
            return true;
    return false;
}

static const char *dotted_type(struct mutant *m)
{
    return arena_printf(m->arena, ".%s",
                        below(m, 6) ? ONE_OF(m, plain_types) : ONE_OF(m, type_words));
}

static bool decl_type(struct mutant *m)
{
    size_t i;
    return pick_piece(m, DECLARATIONS, is_type_dots, &i) && put(m, i, i + 1, dotted_type(m));
}

static bool reg_type(struct mutant *m) /* of a register that an instruction names */
{
    for (unsigned tries = 0; tries < 6; tries++) {
        struct stmt *s = pick(m, KIND(ST_DECL));
        if (!s || !piece_is_text(&m->p.v[s->from], ".reg") || !is_type_dots(&m->p.v[s->from + 1]))
            continue;
        return put(m, s->from + 1, s->from + 2, dotted_type(m));
    }
    return false;
}

static bool reg_count(struct mutant *m)
{
    for (unsigned tries = 0; tries < 6; tries++) {
        struct stmt *s = pick(m, KIND(ST_DECL));
        if (!s) return false;
        for (size_t i = s->from; i + 1 < s->to; i++)
            if (piece_is(&m->p.v[i], '<')) {
                static const char counts[] =
                    "1`2`3`0`-1`100`16777216`4294967295`010`0x10`5U`1.5`n`2+3`(4)";
                return put(m, i + 1, i + 2, text_from(m, counts));
            }
    }
    return false;
}

static bool decl_align(struct mutant *m)
{
    struct stmt *s = pick(m, DECLARATIONS | KIND(ST_HEAD));
    if (!s) return false;
    static const char aligns[] =
        "0`1`2`3`4`8`16`32`128`256`512`-4`1.0`4294967296`0x8`4U`WARP_SZ`2*2";
    for (size_t i = s->from; i + 1 < s->to; i++)
        if (piece_is_text(&m->p.v[i], ".align")) return put(m, i + 1, i + 2, text_from(m, aligns));
    size_t n = 0;
    for (size_t i = s->from; i < s->to; i++) n += is_type_dots(&m->p.v[i]);
    if (!n) return false;
    size_t k = below(m, n);
    for (size_t i = s->from;; i++)
        if (is_type_dots(&m->p.v[i]) && k-- == 0)
            return put(m, i, i, arena_printf(m->arena, ".align %s", text_from(m, aligns)));
}

static bool decl_size(struct mutant *m)
{
    static const char sizes[] =
        "[]`[0]`[1]`[2]`[-1]`[3][4]`[][2]`[2][]`[65536]`[4294967296]`[1.5]`[n]`[2+2]`[0x10]`[4U]`"
        "[9223372036854775807]";
    for (unsigned tries = 0; tries < 6; tries++) {
        struct stmt *s = pick_variable(m, DECLARATIONS | KIND(ST_HEAD));
        if (!s) return false;
        for (size_t i = s->from; i + 1 < s->to; i++) {
            if (!is_word(&m->p.v[i]) || i == s->op) {
                if (i != s->op || s->kind == ST_HEAD) continue;
            }
            size_t to = i + 1;
            while (to < s->to && piece_is(&m->p.v[to], '['))
                to = pieces_closing(m->p.v, s->to, to) + 1;
            if (to > s->to) return false;
            return put(m, i + 1, to, text_from(m, sizes));
        }
    }
    return false;
}

static bool is_space_dots(const struct piece *p)
{
    return p->kind == TOK_DOTS && piece_is_one_of(p, piece_spaces, COUNT(piece_spaces));
}

static bool decl_space(struct mutant *m)
{
    size_t i;
    return pick_piece(m, DECLARATIONS | KIND(ST_HEAD), is_space_dots, &i) &&
           put(m, i, i + 1, ONE_OF(m, piece_spaces));
}

static bool decl_word_add(struct mutant *m)
{
    static const char words[] =
        ".extern`.visible`.weak`.common`.v2`.v4`.v3`.v8`.attribute(.managed)`"
        ".attribute(.unified(1, 2))`.ptr`.ptr .global .align 8`.noreturn`.u32`.const`.mangled";
    size_t i;
    return pick_piece(m, DECLARATIONS | KIND(ST_HEAD), is_dots, &i) &&
           put(m, i, i, text_from(m, words));
}

static bool decl_word_drop(struct mutant *m)
{
    size_t i;
    return pick_piece(m, DECLARATIONS | KIND(ST_HEAD), is_dots, &i) && put(m, i, i + 1, NULL);
}

static bool decl_rename(struct mutant *m)
{
    size_t i;
    if (!pick_piece(m, DECLARATIONS | KIND(ST_HEAD), is_word, &i)) return false;
    static const char names[] = "other`_`%tid`add`x.y`$x`_x`%`1x`WARP_SZ`main`%f1";
    return put(m, i, i + 1, below(m, 4) ? text_from(m, names) : variable_of(m));
}

static bool decl_init(struct mutant *m)
{
    struct stmt *s = pick_variable(m, DECLARATIONS);
    if (!s || s->to - s->from < 2) return false;
    static const char inits[] =
        "= 1`= {1}`= {1, 2, 3, 4, 5, 6, 7, 8, 9}`= 1.5`= {}`= {1, {2}}`= 0f3F800000`= -1`"
        "= 4294967296`= {0, -1, 300}`= nowhere`= {1,}`= 0xFF(1)`= generic(1)`= {{1,2},{3,4}}`"
        "= 0d3FF0000000000000";
    size_t equals = pieces_find(m->p.v, s->to, s->from, '=');
    const char *text = text_from(m, inits);
    if (below(m, 4) == 0) text = arena_printf(m->arena, "= %s", variable_of(m));
    if (equals < s->to && below(m, 3) == 0) text = NULL;
    return put(m, equals < s->to ? equals : s->to - 1, s->to - 1, text);
}

/* -- functions -- */

static bool params_of(struct mutant *m, struct span *list)
{
    struct stmt *s = pick(m, KIND(ST_HEAD));
    if (!s) return false;
    size_t n = 0;
    for (size_t i = s->from; i < s->to; i++) n += piece_is(&m->p.v[i], '(');
    size_t k = below(m, n);
    for (size_t i = s->from; i < s->to; i++)
        if (piece_is(&m->p.v[i], '(') && k-- == 0) {
            *list = (struct span){i + 1, pieces_closing(m->p.v, s->to, i)};
            return list->to < s->to;
        }
    return false;
}

static bool param_change(struct mutant *m)
{
    static const char params[] =
        ".param .b32 extra`.param .u64 extra`.reg .b32 extra`.param .align 8 .b8 extra[12]`"
        ".param .f16 extra`.param .pred extra`.param .b8 extra[]`.param .u64 .ptr .global extra`"
        ".param .b32 extra[2]`.param .v4 .f32 extra`.param .texref extra`.param .b128 extra`"
        ".param .u64 .ptr .align 3 extra`...";
    struct span list;
    if (!params_of(m, &list)) return false;
    struct span e[OPERANDS_MAX];
    size_t n = split_list(m, list.from, list.to, e);
    if (!n) return put(m, list.from, list.from, text_from(m, params));
    size_t k = below(m, n);
    switch (below(m, 5)) {
    case 0: return drop_part(m, e, n, k);
    case 1:
        return put(m, e[k].to, e[k].to,
                   arena_printf(m->arena, ", %s", text_of(m, e[k].from, e[k].to)));
    case 2: return put(m, e[k].from, e[k].to, text_from(m, params));
    case 3: return put(m, list.to, list.to, arena_printf(m->arena, ", %s", text_from(m, params)));
    default: return put(m, e[k].to, e[k].to, below(m, 2) ? "[4]" : "= 1");
    }
}

static bool param_type(struct mutant *m)
{
    size_t i;
    return pick_piece(m, KIND(ST_HEAD), is_type_dots, &i) && put(m, i, i + 1, dotted_type(m));
}

static bool head_change(struct mutant *m)
{
    struct stmt *s = pick(m, KIND(ST_HEAD));
    if (!s) return false;
    switch (below(m, 4)) {
    case 0: {
        static const char kinds[] =
            ".func`.entry`.visible .func`.extern .func`.weak .entry`.visible`.func ()`"
            ".func (.param .b32 r)`.func (.reg .u32 r)`.entry (.param .b32 r)";
        for (size_t i = s->from; i < s->to; i++)
            if (piece_is_text(&m->p.v[i], ".func") || piece_is_text(&m->p.v[i], ".entry"))
                return put(m, i, i + 1, text_from(m, kinds));
        return false;
    }
    case 1: return put(m, s->from, s->from + 1, NULL);
    case 2: { /* a declaration before or a second definition */
        const char *text = text_of(m, s->from, s->to);
        return put(m, s->from, s->from,
                   arena_printf(m->arena, "%s%s", text, below(m, 3) ? ";" : "{ ret; }"));
    }
    default: {
        static const char links[] =
            ".extern`.visible`.weak`.common`.attribute(.unified(1,2))`.noreturn";
        return put(m, s->from, s->from, text_from(m, links));
    }
    }
}

static bool directive_add(struct mutant *m)
{
    static const char words[] =
        ".maxntid 128`.maxntid 128, 1, 1`.maxntid 0`.maxntid 1025`.maxntid 32, 32, 2`"
        ".maxntid 1,2,3,4`.maxntid -1`.reqntid 32`.reqntid 64, 2`.minnctapersm 2`.maxnctapersm 2`"
        ".maxnreg 32`.maxnreg 0`.maxnreg 300`.reqnctapercluster 2`.reqnctapercluster 2, 1, 1`"
        ".maxclusterrank 8`.maxclusterrank 17`.explicitcluster`.blocksareclusters`.noreturn`"
        ".pragma \"nounroll\";`.pragma \"unknown\";`.pragma nounroll;`.abi_preserve 8`"
        ".abi_preserve_control 2`.maxntid`.minnctapersm 1,2`.language 1`.noinline`.alwaysinline`"
        ".maxntid 1.5`.pragma \"enable_smem_spilling\";`.pragma \"used_bytes_mask 1\";`"
        ".pragma \"frequency 2\";`.retval`.blockparams";
    struct stmt *s = pick(m, KIND(ST_HEAD));
    if (!s || s->to == s->from) return false;
    size_t at = piece_is(&m->p.v[s->to - 1], ';') ? s->to - 1 : s->to;
    const char *text = text_from(m, words);
    if (below(m, 3) == 0) text = arena_printf(m->arena, "%s %s", text, text_from(m, words));
    return put(m, at, at, text);
}

static bool body_directive(struct mutant *m)
{
    static const char words[] =
        ".pragma \"nounroll\";`.pragma \"x\", \"y\";`.pragma \"used_bytes_mask 0xf\";`.loc 1 2 3`"
        ".loc 1 2`.loc 1`.file 1 \"a.cu\"`.file 1 \"a.cu\", 1, 2`.reg .b32 fresh;`"
        ".reg .b32 fresh<3>;`.reg .v2 .b32 fresh;`.reg .pred fresh[2];`"
        ".local .align 4 .b8 fresh[8];`.shared .u32 fresh = 1;`.param .b32 fresh;`"
        ".param .align 16 .b8 fresh[16];`.global .u32 fresh;`.const .u32 fresh = 5;`"
        ".local .u32 fresh[];`.tex .u32 fresh;`.extern .shared .b8 fresh[];`ret;`exit;`trap;`;`"
        ".entry x;`.version 9.0`.reg .texref fresh;`.reg .b8 fresh;`.reg .b128 fresh;`"
        ".reg .f16x2 fresh, fresh2, fresh<2>;`.reg .bf16 fresh;`.reg .u32 fresh,;`.reg fresh;`"
        ".branchtargets a;`l: .callprototype _ ();`l: .calltargets k;`l: .branchtargets l;`"
        ".local .v2 .u32 fresh[2];`mov.b32 fresh, 1;`nop;`bar.sync 0;`brkpt;`pmevent 1;`@%p1 ret;`"
        "call.uni _, vprintf, ();`membar.gl;`bra done; done:";
    struct stmt *s = pick(m, KIND(ST_INST) | KIND(ST_DECL) | KIND(ST_CLOSE) | KIND(ST_LABEL));
    return s && put(m, s->from, s->from, text_from(m, words));
}

static bool call_change(struct mutant *m)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        struct stmt *s = pick(m, KIND(ST_INST));
        if (!s || piece_stem(&m->p.v[s->op]) != 4 || memcmp(m->p.v[s->op].text, "call", 4) != 0)
            continue;
        if (!s->operands) return false;
        struct span o = s->operand[below(m, s->operands)];
        switch (below(m, 9)) {
        case 0: return put(m, s->op, s->op + 1, below(m, 2) ? "call" : "call.uni");
        case 1: return put(m, o.from, o.to, "()");
        case 2: return put(m, o.from, o.to, "_");
        case 3: return put(m, o.from, o.to, "(_)");
        case 4: return put(m, o.from, o.to, arena_printf(m->arena, "(%s)", declared_register(m)));
        case 5: return put(m, o.from, o.to, variable_of(m));
        case 6: return put(m, o.from, o.to, arena_printf(m->arena, "(%s)", text_from(m, ints)));
        case 7: return put(m, o.from, o.to, declared_register(m));
        default:
            if (o.to - o.from < 3) continue;
            return put(m, o.to - 1, o.to - 1, arena_printf(m->arena, ", %s", declared_register(m)));
        }
    }
    return false;
}

/* -- the module's head -- */

static const char versions[] =
    "1.0`1.3`1.4`1.5`2.0`2.3`3.0`3.1`3.2`4.0`4.1`4.2`4.3`5.0`6.0`6.1`6.2`6.3`6.4`6.5`7.0`7.1`7.2`"
    "7.3`7.4`7.5`7.6`7.7`7.8`8.0`8.1`8.2`8.3`8.4`8.5`8.6`8.7`8.8`9.0`9.1`10.0`7`7.00`07.0`0x7.0`"
    "7.0.0`\"7.0\"`-7.0";
static const char targets[] =
    "sm_10`sm_13`sm_20`sm_30`sm_32`sm_35`sm_37`sm_50`sm_52`sm_53`sm_60`sm_61`sm_62`sm_70`sm_72`"
    "sm_75`sm_80`sm_86`sm_87`sm_88`sm_89`sm_90`sm_90a`sm_100`sm_100a`sm_100f`sm_103`sm_103a`"
    "sm_110`sm_110a`sm_120`sm_120a`sm_120f`sm_121`sm_121a`sm_90f`sm_80a`sm_101a`sm_14`sm_1000`"
    "compute_80`SM_80`80`texmode_unified";

static bool header_argument(struct mutant *m, const char *directive, const char *text)
{
    for (size_t i = 0; i + 1 < m->p.n; i++)
        if (piece_is_text(&m->p.v[i], directive)) return put(m, i + 1, i + 2, text);
    return false;
}

static bool version_change(struct mutant *m)
{
    return header_argument(m, ".version", text_from(m, versions));
}
static bool target_change(struct mutant *m)
{
    return header_argument(m, ".target", text_from(m, targets));
}

static bool target_word(struct mutant *m)
{
    static const char words[] =
        "debug`texmode_unified`texmode_independent`map_f64_to_f32`sm_75`debug, debug`nonsense`"
        "texmode_independent, texmode_unified`sm_100`";
    for (size_t i = 0; i + 1 < m->p.n; i++)
        if (piece_is_text(&m->p.v[i], ".target"))
            return put(m, i + 2, i + 2, arena_printf(m->arena, ", %s", text_from(m, words)));
    return false;
}

static bool header_change(struct mutant *m)
{
    struct stmt *s = pick(m, KIND(ST_HEADER)),
                *t = pick(m, KIND(ST_HEADER) | KIND(ST_HEAD) | KIND(ST_VAR));
    if (!s || !t) return false;
    static const char sizes[] = "32`64`16`128`0x40`64U`064`64.0`-64`sixty`32, 64";
    switch (below(m, 4)) {
    case 0: return put(m, s->from, s->to, NULL);
    case 1:
        return put(m, t->from, t->from, arena_printf(m->arena, "%s\n", text_of(m, s->from, s->to)));
    case 2:
        return t->from > s->from && t->kind == ST_HEADER &&
               swap_spans(m, (struct span){s->from, s->to}, (struct span){t->from, t->to});
    default: return header_argument(m, ".address_size", text_from(m, sizes));
    }
}

static bool item_add(struct mutant *m)
{
    static const char items[] =
        ".global .u32 fresh;`.global .u32 fresh = 5;`.extern .global .u32 fresh;`"
        ".visible .const .f32 fresh[4] = {1.0, 2, 0f3F800000};`.extern .func fresh();`"
        ".extern .func (.param .b32 r) fresh(.param .b32 a, .reg .b32 b);`.func fresh;`"
        ".visible .func fresh() { ret; }`.weak .entry fresh { ret; }`.pragma \"x\";`"
        ".file 1 \"a.cu\"`.loc 1 2 3`.reg .b32 fresh;`.reg .b32 fresh<3>;`.local .u32 fresh;`"
        ".param .u32 fresh;`.shared .align 16 .b8 fresh[16];`.extern .shared .b8 fresh[];`"
        ".global .texref fresh;`.global .samplerref fresh;`"
        ".global .samplerref fresh = { addr_mode_0 = wrap, filter_mode = linear };`"
        ".tex .u32 fresh;`.common .global .u32 fresh;`.alias fresh, other;`"
        ".section .debug_str { fresh: .b8 1, 2, 0 }`.global .b8 fresh[] = {1,2,3};`"
        ".global .b8 fresh[] = \"text\";`.global .pred fresh;`.global .f16x2 fresh;`"
        ".global .u64 fresh = fresh;`.global .u32 fresh, other;`.global .u32 fresh = other;`"
        ".global .attribute(.managed) .u32 fresh;`.version 8.0`.target sm_80`.address_size 64`;`"
        "ret;`{ }`.global .v2 .u32 fresh = {1, 2};`.global .v4 .f64 fresh;`"
        ".global .v4 .f32 fresh[2];`.sreg .u32 fresh;`.noinline`@@DWARF .byte 1`"
        ".const .u32 fresh[20000];`.global .u8 fresh[2] = {256, -1};`"
        ".global .u8 fresh[4] = {mask(1)};";
    struct stmt *s = pick(m, KIND(ST_HEAD) | KIND(ST_VAR));
    return s && put(m, s->from, s->from, arena_printf(m->arena, "%s\n", text_from(m, items)));
}

/* -- tokens -- */

static bool mark_drop(struct mutant *m)
{
    size_t i;
    return pick_piece(m, ~0u, is_mark, &i) && put(m, i, i + 1, NULL);
}

static bool comma_drop(struct mutant *m)
{
    size_t i;
    return pick_piece(m, ~0u, is_comma, &i) && put(m, i, i + 1, NULL);
}

static bool bracket_drop(struct mutant *m)
{
    size_t i;
    return pick_piece(m, ~0u, is_bracket, &i) && put(m, i, i + 1, NULL);
}

static bool mark_double(struct mutant *m)
{
    size_t i;
    return pick_piece(m, ~0u, is_mark, &i) && put(m, i, i, piece_text(m, i));
}

static bool token_drop(struct mutant *m)
{
    size_t i;
    return pick_piece(m, ~0u, is_any, &i) && put(m, i, i + 1, NULL);
}

static bool token_insert(struct mutant *m)
{
    size_t i;
    return pick_piece(m, ~0u, is_any, &i) && put(m, i, i, a_word(m, &m->corpus->tokens));
}

static bool token_change(struct mutant *m)
{
    size_t i;
    return pick_piece(m, ~0u, is_any, &i) && put(m, i, i + 1, a_word(m, &m->corpus->tokens));
}

static bool token_swap(struct mutant *m)
{
    size_t i;
    if (!pick_piece(m, ~0u, is_any, &i) || i + 1 >= m->p.n) return false;
    return swap_spans(m, (struct span){i, i + 1}, (struct span){i + 1, i + 2});
}

static bool number_change(struct mutant *m)
{
    size_t i;
    if (!pick_piece(m, ~(unsigned)KIND(ST_HEADER), is_number, &i)) return false;
    return put(m, i, i + 1, text_from(m, ints));
}

static bool number_form(struct mutant *m) /* the same value, written in another way, or nearly so */
{
    size_t i;
    if (!pick_piece(m, ~(unsigned)KIND(ST_HEADER), is_int, &i)) return false;
    static const char forms[] =
        "0x%llx`0%llo`%lluU`0x%llxU`0X%llX`%llu.0`%llue0`0%llu`(%llu)`-%llu`--%llu`+%llu`~%llu`"
        "!%llu`%llu + 0`%lluL`%llu.`(%llu + 1)`%llu ? 1 : 2`(u64)%llu`(.s64)%llu`%llu * 2";
    unsigned long long v = strtoull(piece_text(m, i), NULL, 0);
    char text[64];
    const char *form = text_from(m, forms);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, form, v);
#pragma GCC diagnostic pop
    return put(m, i, i + 1, arena_copy(m->arena, text, strlen(text)));
}

static bool name_change(struct mutant *m) /* one character of a name */
{
    size_t i;
    if (!pick_piece(m, ~0u, is_word, &i)) return false;
    char *text = arena_copy(m->arena, m->p.v[i].text, m->p.v[i].length);
    static const char alphabet[] = "abxyzAZ019_$%.-";
    text[below(m, m->p.v[i].length)] = alphabet[below(m, sizeof alphabet - 1)];
    return put(m, i, i + 1, text);
}

static bool blank_change(struct mutant *m) /* a comment or a blank where none was */
{
    static const char *const blanks[] = {"/* c */", "// c\n",   "/* c", "//",     "\\",
                                         "\t",      "\"text\"", "/**/", "/*//*/", "#"};
    size_t i;
    return pick_piece(m, ~0u, is_any, &i) && put(m, i, i, ONE_OF(m, blanks));
}

static bool blank_inside(struct mutant *m) /* a blank inside a token */
{
    size_t i;
    if (!pick_piece(m, ~0u, is_any, &i) || m->p.v[i].length < 2) return false;
    const char *text = piece_text(m, i);
    size_t k = 1 + below(m, m->p.v[i].length - 1);
    return put(m, i, i + 1, arena_printf(m->arena, "%.*s %s", (int)k, text, text + k));
}

static const struct mutator {
    const char *name;
    bool (*apply)(struct mutant *m); /* false: not possible here */
    unsigned weight;
} mutators[] = {
    {"type_change", type_change, 50},
    {"type_swap", type_swap, 8},
    {"type_drop", type_drop, 8},
    {"type_add", type_add, 8},
    {"mod_drop", mod_drop, 30},
    {"mod_double", mod_double, 10},
    {"mod_swap", mod_swap, 20},
    {"mod_add", mod_add, 20},
    {"mod_add_related", mod_add_related, 30},
    {"mod_change", mod_change, 20},
    {"mod_change_related", mod_change_related, 40},
    {"mod_variant", mod_variant, 40},
    {"mod_case", mod_case, 10},
    {"opcode_other", opcode_other, 20},
    {"opcode_any_form", opcode_any_form, 15},
    {"operand_drop", operand_drop, 20},
    {"operand_double", operand_double, 10},
    {"operand_swap", operand_swap, 20},
    {"operand_add", operand_add, 15},
    {"operand_register", operand_register, 40},
    {"operand_int", operand_int, 30},
    {"operand_float", operand_float, 12},
    {"operand_hex_float", operand_hex_float, 12},
    {"operand_bad_number", operand_bad_number, 6},
    {"operand_variable", operand_variable, 20},
    {"operand_special", operand_special, 20},
    {"operand_sink", operand_sink, 20},
    {"operand_foreign", operand_foreign, 20},
    {"operand_negate", operand_negate, 15},
    {"operand_offset", operand_offset, 15},
    {"operand_wrap", operand_wrap, 15},
    {"operand_unwrap", operand_unwrap, 10},
    {"operand_component", operand_component, 12},
    {"operand_pair", operand_pair, 10},
    {"element_change", element_change, 25},
    {"register_number", register_number, 10},
    {"label_double", label_double, 5},
    {"label_drop", label_drop, 5},
    {"label_rename", label_rename, 6},
    {"label_add", label_add, 6},
    {"branch_add", branch_add, 8},
    {"guard_change", guard_change, 20},
    {"stmt_drop", stmt_drop, 5},
    {"stmt_double", stmt_double, 6},
    {"stmt_move", stmt_move, 10},
    {"scope_add", scope_add, 12},
    {"brace_add", brace_add, 5},
    {"decl_drop", decl_drop, 8},
    {"decl_double", decl_double, 10},
    {"decl_type", decl_type, 20},
    {"reg_type", reg_type, 40},
    {"reg_count", reg_count, 8},
    {"decl_align", decl_align, 10},
    {"decl_size", decl_size, 10},
    {"decl_space", decl_space, 12},
    {"decl_word_add", decl_word_add, 12},
    {"decl_word_drop", decl_word_drop, 8},
    {"decl_rename", decl_rename, 8},
    {"decl_init", decl_init, 12},
    {"param_change", param_change, 15},
    {"param_type", param_type, 12},
    {"head_change", head_change, 12},
    {"directive_add", directive_add, 15},
    {"body_directive", body_directive, 15},
    {"call_change", call_change, 15},
    {"version_change", version_change, 20},
    {"target_change", target_change, 20},
    {"target_word", target_word, 6},
    {"header_change", header_change, 8},
    {"item_add", item_add, 12},
    {"mark_drop", mark_drop, 6},
    {"comma_drop", comma_drop, 4},
    {"bracket_drop", bracket_drop, 6},
    {"mark_double", mark_double, 6},
    {"token_drop", token_drop, 6},
    {"token_insert", token_insert, 8},
    {"token_change", token_change, 8},
    {"token_swap", token_swap, 8},
    {"number_change", number_change, 15},
    {"number_form", number_form, 15},
    {"name_change", name_change, 6},
    {"blank_change", blank_change, 5},
    {"blank_inside", blank_inside, 5},
};

const size_t mutator_count = COUNT(mutators);

const char *mutator_name(size_t i)
{
    return mutators[i].name;
}

void mutant_make(struct arena *a, const struct corpus *c, const char *kind, const struct base *b,
                 uint64_t seed, struct trial *t)
{
    struct source s = {"base", b->text, (uint32_t)strlen(b->text)};
    struct pieces p = {0};
    struct stmts st = {0};
    pieces_lex(a, &s, &p);
    stmts_read(a, &p, &st);
    unsigned total = 0;
    for (size_t i = 0; i < COUNT(mutators); i++) total += mutators[i].weight;
    *t = (struct trial){.base = b};
    for (uint64_t tries = 0; tries < 100 && !t->kind; tries++) {
        struct mutant m = {
            .arena = a, .corpus = c, .focus = b->focus, .state = seed + (tries << 48)};
        m.s = st;
        m.p.v = arena_array(a, struct piece, p.n + 16);
        memcpy(m.p.v, p.v, p.n * sizeof *p.v);
        m.p.n = p.n;
        m.p.cap = p.n + 16;
        size_t w = below(&m, total), k = 0;
        while (w >= mutators[k].weight) w -= mutators[k++].weight;
        if (kind) k = 0;
        while (kind && k + 1 < COUNT(mutators) && strcmp(kind, mutators[k].name) != 0) k++;
        if (!mutators[k].apply(&m)) continue;
        struct buf text = {0};
        pieces_render(m.p.v, m.p.n, &text);
        if (strcmp(text.data, b->text) != 0 && text.size < 4 * MODULE_MAX) {
            t->text = arena_copy(a, text.data, text.size);
            t->kind = mutators[k].name;
        }
        buf_free(&text);
    }
}
