/* Parses the module level: versions, variables, heads of functions. Skips function bodies. */
#include "base/arena.h"
#include "base/diag.h"
#include "ptx/parser.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *ptx_space_name(enum ptx_space space)
{
    static const char *const names[PTX_SPACE_COUNT] = {
        "generic", "reg",   "sreg",   "const",           "global",
        "local",   "param", "shared", "shared::cluster", "tex"};
    return names[space];
}

struct ptx_item *ptx_add_item(struct ptx_parser *p, enum ptx_item_kind kind, uint32_t at)
{
    struct ptx_module *m = p->m;
    m->items = arena_grow(p->arena, m->items, m->item_count, &m->item_cap, m->item_count + 1,
                          sizeof *m->items);
    struct ptx_item *item = &m->items[m->item_count++];
    *item = (struct ptx_item){.kind = (uint8_t)kind, .at = at};
    return item;
}

/* ---- .version .target .address_size ------------------------------------------------------------ */

/* Every PTX ISA version there is. */
static bool version_exists(unsigned v)
{
    static const uint8_t known[] = {10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 30, 31, 32, 40, 41,
                                    42, 43, 50, 51, 60, 61, 62, 63, 64, 65, 70, 71, 72, 73, 74,
                                    75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};
    for (size_t i = 0; i < sizeof known; i++)
        if (known[i] == v) return true;
    return false;
}

/* The PTX ISA version each target came with ("Release Notes" of the PTX ISA). */
static const struct {
    const char *name;
    uint8_t since;
} targets[] = {{"10", 10},  {"11", 10},   {"12", 12},   {"13", 12},  {"20", 20},   {"21", 20},
               {"30", 30},  {"32", 40},   {"35", 31},   {"37", 41},  {"50", 40},   {"52", 41},
               {"53", 42},  {"60", 50},   {"61", 50},   {"62", 50},  {"70", 51},   {"72", 61},
               {"75", 63},  {"80", 70},   {"82", 62},   {"86", 71},  {"87", 74},   {"88", 73},
               {"89", 78},  {"90", 78},   {"90a", 80},  {"100", 86}, {"100a", 86}, {"100f", 88},
               {"101", 86}, {"101a", 86}, {"101f", 88}, {"103", 88}, {"103a", 88}, {"103f", 88},
               {"110", 90}, {"110a", 90}, {"110f", 90}, {"120", 87}, {"120a", 87}, {"120f", 88},
               {"121", 88}, {"121a", 88}, {"121f", 88}};

static bool parse_version(struct ptx_parser *p)
{
    uint32_t at = p->t.at;
    if (!ptx_take_dot(p, "version")) {
        p->m->is_no_ptx = true;
        ptx_unexpected(p, ".version at the start of the module");
        return false;
    }
    const char *text = ptx_text(p, p->t.at);
    for (uint32_t i = at + 8; p->t.kind == TOK_FLOAT && i < p->t.at; i++)
        if (*ptx_text(p, i) != ' ' && *ptx_text(p, i) != '\t') {
            diag_error(p->d, at, 8, "only blanks may stand between .version and the version");
            return false;
        }
    unsigned major = 0, minor = 0;
    uint32_t i = 0;
    for (; i < p->t.length && isdigit((unsigned char)text[i]) && major < 1000; i++)
        major = major * 10 + (unsigned)(text[i] - '0');
    bool dot = i > 0 && i + 1 < p->t.length && text[i] == '.';
    for (i++; dot && i < p->t.length && isdigit((unsigned char)text[i]) && minor < 1000; i++)
        minor = minor * 10 + (unsigned)(text[i] - '0');
    if (p->t.kind != TOK_FLOAT || !dot || i != p->t.length) {
        ptx_unexpected(p, "a version such as 8.0");
        return false;
    }
    unsigned v = minor < 10 ? major * 10 + minor : 0;
    if (!version_exists(v)) {
        p->m->is_too_new = major > 9 || (major == 9 && minor > 0);
        diag_error(p->d, p->t.at, p->t.length, "there is no PTX ISA version %.*s%s",
                   (int)p->t.length, text, p->m->is_too_new ? " yet: 9.0 is the newest known" : "");
        v = major < 1 ? 10 : 90;
    }
    p->m->version = (uint16_t)v;
    ptx_advance(p);
    return true;
}

static bool parse_target_name(struct ptx_parser *p, struct ptx_target *t, unsigned *since)
{
    const char *text = ptx_text(p, p->t.at);
    uint32_t n = p->t.length, skip = 0;
    if (n > 3 && memcmp(text, "sm_", 3) == 0) skip = 3;
    if (n > 8 && memcmp(text, "compute_", 8) == 0) skip = 8;
    for (size_t i = 0; skip && i < sizeof targets / sizeof *targets; i++) {
        const char *name = targets[i].name;
        if (strlen(name) != n - skip || memcmp(name, text + skip, n - skip) != 0) continue;
        t->sm = 0;
        for (; isdigit((unsigned char)*name); name++)
            t->sm = (uint16_t)(t->sm * 10 + (*name - '0'));
        t->suffix = *name;
        *since = targets[i].since;
        return true;
    }
    return false;
}

static bool parse_target(struct ptx_parser *p, struct ptx_target *t)
{
    bool named = false;
    unsigned since = 0;
    uint32_t name_at = p->t.at, name_length = 0;
    do {
        const char *text = ptx_text(p, p->t.at);
        uint32_t n = p->t.length, at = p->t.at;
        if (p->t.kind != TOK_WORD) {
            ptx_unexpected(p, "a target such as sm_80");
            return false;
        }
        if (parse_target_name(p, t, &since)) {
            named = true;
            name_at = at;
            name_length = n;
        } else if (!named && !p->m->target.sm) {
            break;
        } else if (n == 19 && memcmp(text, "texmode_independent", n) == 0) {
            t->texmode_independent = true;
            if (p->texmode_unified)
                diag_error(p->d, at, n, "texmode_independent contradicts texmode_unified");
        } else if (n == 15 && memcmp(text, "texmode_unified", n) == 0) {
            p->texmode_unified = true;
            if (t->texmode_independent)
                diag_error(p->d, at, n, "texmode_unified contradicts texmode_independent");
        } else if (n == 5 && memcmp(text, "debug", n) == 0) {
            t->debug = true;
            if (p->m->version < 30)
                diag_error(p->d, at, n, "target option debug needs PTX ISA version 3.0");
        } else if (n == 14 && memcmp(text, "map_f64_to_f32", n) == 0) {
            t->map_f64_to_f32 = true;
            if (t->sm >= 13) diag_error(p->d, at, n, "map_f64_to_f32 is for targets below sm_13");
        } else {
            diag_error(p->d, at, n, "unknown target '%.*s'", n < 60 ? (int)n : 60, text);
            named = true; /* said once */
            if (!t->sm) t->sm = 121;
        }
        ptx_advance(p);
    } while (ptx_take_punct(p, ','));
    if (!named && !t->sm) {
        diag_error(p->d, name_at, name_length ? name_length : 1,
                   ".target must begin with an architecture such as sm_80");
        t->sm = 121;
        return false;
    }
    if (!named) return true; /* options alone: the architecture was named before */
    p->target_since = since;
    p->target_at = name_at;
    p->target_length = name_length;
    return true;
}

static void parse_address_size(struct ptx_parser *p)
{
    uint32_t at = p->t.at;
    if (!ptx_take_dot(p, "address_size")) return;
    uint64_t v;
    uint32_t value_at = p->t.at;
    p->m->address_size_given = true;
    if (p->m->version < 23) diag_error(p->d, at, 13, ".address_size needs PTX ISA version 2.3");
    struct ptx_value value = {0};
    bool literal = p->t.kind == TOK_INT && ptx_const_literal(p, &value);
    v = value.bits;
    if (!literal || (v != 32 && v != 64)) {
        diag_error(p->d, value_at, 1, ".address_size must be 32 or 64");
        return;
    }
    p->m->address_size = (uint8_t)v;
}

/* ---- debug information and the rest ------------------------------------------------------------ */

static bool parse_file(struct ptx_parser *p, uint32_t at)
{
    uint64_t index;
    struct ptx_file *f = arena_alloc(p->arena, sizeof *f);
    if (p->t.kind != TOK_INT) {
        ptx_unexpected(p, "a file number");
        return false;
    }
    uint32_t index_at = p->t.at;
    struct ptx_value number;
    if (!ptx_const_literal(p, &number)) return false;
    index = number.bits;
    f->index = (uint32_t)index;
    if (index > UINT32_MAX) {
        diag_error(p->d, index_at, p->last_end - index_at, "file number too large: limit %u",
                   UINT32_MAX);
        return false;
    }
    if (!ptx_note(p, ".file", f->index, 0, 0, f)) {
        diag_error(p->d, index_at, p->last_end - index_at, "file %u is declared twice", f->index);
        return false;
    }
    if (p->t.kind != TOK_STRING) {
        ptx_unexpected(p, "a file name");
        return false;
    }
    f->name = ptx_text(p, p->t.at + 1);
    f->name_length = p->t.length - 2;
    ptx_advance(p);
    if (ptx_take_punct(p, ',')) {
        f->has_time = true;
        if (p->m->version < 32)
            diag_error(p->d, at, 5, "a time stamp in .file needs PTX ISA version 3.2");
        if (!ptx_const_uint(p, &f->time, "a time stamp")) return false;
        if (ptx_take_punct(p, ',') && !ptx_const_uint(p, &f->size, "a file size")) return false;
    }
    ptx_add_item(p, PTX_ITEM_FILE, at)->file = f;
    return true;
}

/* Labels of debug sections have names of their own. */
static bool declare_section_label(struct ptx_parser *p)
{
    struct ptx_name *name = ptx_intern(p, ptx_text(p, p->t.at), p->t.length);
    if (name->section_label) {
        diag_error(p->d, p->t.at, p->t.length, "label '%.*s' is declared twice", (int)name->length,
                   name->text);
        return false;
    }
    name->section_label = true;
    ptx_advance(p);
    return ptx_expect(p, ':', "behind the label");
}

/* .b8 1, -2    .b32 label    .b64 label+4    .b32 label1-label2 */
static bool parse_section_data(struct ptx_parser *p, unsigned bits)
{
    do {
        uint32_t at = p->t.at;
        if (p->t.kind == TOK_WORD || p->t.kind == TOK_DOTS) {
            if (bits < 32) {
                diag_error(p->d, at, p->t.length, "an address needs .b32 or .b64");
                return false;
            }
            ptx_advance(p);
            if (ptx_take_punct(p, '-')) {
                if (p->t.kind != TOK_WORD && p->t.kind != TOK_DOTS) {
                    ptx_unexpected(p, "a label");
                    return false;
                }
                ptx_advance(p);
            } else if (ptx_take_punct(p, '+')) {
                struct ptx_value v;
                if (p->t.kind != TOK_INT) {
                    ptx_unexpected(p, "an offset");
                    return false;
                }
                if (!ptx_const_literal(p, &v)) return false;
            }
            continue;
        }
        bool minus = ptx_take_punct(p, '-');
        struct ptx_value v;
        if (p->t.kind != TOK_INT) {
            ptx_unexpected(p, "an integer or a label");
            return false;
        }
        if (!ptx_const_literal(p, &v)) return false;
        uint64_t most = bits < 64 ? (UINT64_C(1) << (minus ? bits - 1 : bits)) - !minus
                                  : UINT64_MAX;
        if (v.bits > most) {
            diag_error(p->d, at, p->last_end - at, "value out of the range of .b%u", bits);
            return false;
        }
    } while (ptx_take_punct(p, ','));
    return true;
}

static bool parse_section(struct ptx_parser *p, uint32_t at)
{
    struct ptx_section *s = arena_alloc(p->arena, sizeof *s);
    if (p->m->version < 20) diag_error(p->d, at, 8, ".section needs PTX ISA version 2.0");
    if (p->t.kind != TOK_DOTS) {
        ptx_unexpected(p, "a section name such as .debug_info");
        return false;
    }
    s->name = ptx_text(p, p->t.at);
    s->name_length = p->t.length;
    ptx_advance(p);
    if (!ptx_at_punct(p, '{')) {
        ptx_unexpected(p, "'{'");
        return false;
    }
    s->from = p->t.at + 1;
    ptx_advance(p);
    while (!ptx_at_punct(p, '}')) {
        static const unsigned widths[] = {8, 16, 32, 64};
        static const char *const words[] = {"b8", "b16", "b32", "b64"};
        unsigned bits = 0;
        for (size_t i = 0; i < 4 && !bits; i++)
            if (ptx_take_dot(p, words[i])) bits = widths[i];
        if (bits) {
            if (!parse_section_data(p, bits)) return false;
        } else if (p->t.kind == TOK_WORD) {
            if (!declare_section_label(p)) return false;
        } else {
            ptx_unexpected(p, ".b8, .b16, .b32, .b64 or a label");
            return false;
        }
    }
    s->to = p->t.at;
    ptx_advance(p);
    p->has_debug_data = true;
    ptx_add_item(p, PTX_ITEM_SECTION, at)->section = s;
    return true;
}

static struct ptx_sym *parse_alias_name(struct ptx_parser *p)
{
    if (p->t.kind != TOK_WORD) {
        ptx_unexpected(p, "a function's name");
        return NULL;
    }
    uint32_t at = p->t.at, n = p->t.length;
    struct ptx_sym *sym = ptx_lookup(p, ptx_intern(p, ptx_text(p, at), n));
    ptx_advance(p);
    if (!sym || sym->kind != PTX_SYM_FUNC || sym->func->is_entry) {
        diag_error(p->d, at, n,
                   sym ? "'%.*s' is a %s, .alias takes functions" : "undeclared function '%.*s'",
                   (int)n, ptx_text(p, at), sym ? ptx_sym_kind_name(sym) : "");
        return NULL;
    }
    return sym;
}

static bool parse_alias(struct ptx_parser *p, uint32_t at)
{
    if (p->m->version < 63 || p->m->target.sm < 30) {
        diag_error(p->d, at, 6, ".alias needs PTX ISA version 6.3 and target sm_30");
        return false;
    }
    struct ptx_alias *a = arena_alloc(p->arena, sizeof *a);
    uint32_t name_at = p->t.at;
    if (!(a->alias = parse_alias_name(p)) || !ptx_expect(p, ',', "behind the alias") ||
        !(a->aliasee = parse_alias_name(p)) || !ptx_expect(p, ';', "behind .alias"))
        return false;
    const char *wrong = NULL;
    struct ptx_func *f = a->alias->func, *to = a->aliasee->func;
    if (f->is_defined) wrong = "has a definition of its own";
    else if (f->alias_of) wrong = "is an alias already";
    else if (to->linkage == PTX_LINK_EXTERN || to->linkage == PTX_LINK_WEAK)
        wrong = "may not stand for an .extern or .weak function";
    else if (!ptx_proto_equal(&f->proto, &to->proto)) wrong = "has other parameters";
    if (wrong) {
        diag_error(p->d, name_at, a->alias->name->length, "alias '%.*s' %s",
                   (int)a->alias->name->length, a->alias->name->text, wrong);
        return false;
    }
    f->alias_of = to;
    ptx_add_item(p, PTX_ITEM_ALIAS, at)->alias = a;
    return true;
}

/* @@DWARF .byte 0x12, ...: the debug data of PTX 1.x, a line each. */
static bool parse_raw_line(struct ptx_parser *p)
{
    const struct source *s = p->m->source;
    struct ptx_raw *r = arena_alloc(p->arena, sizeof *r);
    r->from = p->t.at;
    const char *nl = memchr(s->text + r->from, '\n', s->length - r->from);
    r->to = nl ? (uint32_t)(nl - s->text) : s->length;
    if (r->to - r->from < 9 || memcmp(s->text + r->from, "@@DWARF", 7) != 0) {
        ptx_unexpected(p, "a declaration");
        return false;
    }
    if (p->m->version >= 20) {
        diag_error(p->d, r->from, 7, "@@DWARF ended with PTX ISA version 2.0: use .section");
        return false;
    }
    p->has_debug_data = true;
    ptx_add_item(p, PTX_ITEM_RAW, r->from)->raw = r;
    ptx_lexer_seek(p->lex, r->to);
    ptx_advance(p);
    return true;
}

/* ---- the module -------------------------------------------------------------------------------- */

static bool take_linkage(struct ptx_parser *p, enum ptx_linkage *linkage)
{
    static const struct {
        const char *word;
        enum ptx_linkage linkage;
    } words[] = {{"extern", PTX_LINK_EXTERN},
                 {"visible", PTX_LINK_VISIBLE},
                 {"weak", PTX_LINK_WEAK},
                 {"common", PTX_LINK_COMMON}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (ptx_take_dot(p, words[i].word)) {
            *linkage = words[i].linkage;
            return true;
        }
    return false;
}

static bool parse_declaration(struct ptx_parser *p)
{
    uint32_t at = p->t.at;
    enum ptx_linkage linkage = PTX_LINK_NONE;
    p->early = NULL;
    if ((ptx_at_dot(p, "align") || ptx_at_dot(p, "attribute")) && !ptx_parse_early_spec(p))
        return false;
    bool linked = take_linkage(p, &linkage);
    if (linked && p->early) {
        diag_error(p->d, at, 1, "the linkage stands before .align");
        return false;
    }
    if (linked && (ptx_at_dot(p, "align") || ptx_at_dot(p, "attribute")) &&
        !ptx_parse_early_spec(p))
        return false;
    if (linkage == PTX_LINK_WEAK && p->m->version < 31)
        diag_error(p->d, at, 5, ".weak needs PTX ISA version 3.1");
    if (linkage == PTX_LINK_COMMON && p->m->version < 50)
        diag_error(p->d, at, 7, ".common needs PTX ISA version 5.0");
    bool may_be_function = linkage != PTX_LINK_COMMON && !p->early;
    if (may_be_function && ptx_take_dot(p, "entry"))
        return ptx_parse_function(p, true, linkage, at);
    if (may_be_function && ptx_take_dot(p, "func"))
        return ptx_parse_function(p, false, linkage, at);
    static const struct {
        const char *word;
        enum ptx_space space;
    } spaces[] = {{"global", PTX_SPACE_GLOBAL},
                  {"const", PTX_SPACE_CONST},
                  {"shared", PTX_SPACE_SHARED},
                  {"local", PTX_SPACE_LOCAL}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        uint32_t space_at = p->t.at;
        if (ptx_take_dot(p, spaces[i].word))
            return ptx_parse_variable(p, spaces[i].space, linkage, space_at);
    }
    if (ptx_at_dot(p, "tex")) {
        ptx_drop_dot(p);
        if (p->m->version >= 15) {
            diag_error(p->d, at, 4, ".tex variables ended with PTX ISA version 1.5: use .texref");
            return false;
        }
        return ptx_parse_variable(p, PTX_SPACE_TEX, linkage, at);
    }
    if (ptx_at_dot(p, "reg") || ptx_at_dot(p, "param")) {
        diag_error(p->d, p->t.at, ptx_at_dot(p, "reg") ? 4 : 6,
                   "%s at module level: it belongs into a function",
                   ptx_at_dot(p, "reg") ? "a register" : "a parameter");
        return false;
    }
    ptx_unexpected(p, linked ? "a variable or function" : "a declaration");
    return false;
}

static bool parse_item(struct ptx_parser *p)
{
    uint32_t at = p->t.at;
    if (ptx_at_punct(p, '@')) return parse_raw_line(p);
    if (ptx_take_dot(p, "file")) return parse_file(p, at);
    if (ptx_take_dot(p, "section")) return parse_section(p, at);
    if (ptx_take_dot(p, "alias")) return parse_alias(p, at);
    if (ptx_take_dot(p, "pragma")) {
        struct ptx_directive *d;
        if (!ptx_parse_pragma(p, &d)) return false;
        ptx_check_pragma_scope(p, d, "at module level");
        for (struct ptx_directive *q = d; q; q = q->next)
            if (!ptx_pragma_is(q, "nounroll") && !ptx_pragma_is(q, "unroll"))
                diag_error(p->d, q->at, q->text_length + 2, "unknown .pragma \"%.*s\"",
                           q->text_length < 60 ? (int)q->text_length : 60, q->text);
        for (; d; d = d->next) ptx_add_item(p, PTX_ITEM_PRAGMA, d->at)->pragma = d;
        return true;
    }
    return parse_declaration(p);
}

/* PTX is ASCII without control characters, in comments and strings too. */
static bool check_bytes(struct ptx_parser *p)
{
    const struct source *s = p->m->source;
    const unsigned char *text = (const unsigned char *)s->text;
    uint32_t i = 0;
    for (; i + 64 <= s->length; i += 64) {
        unsigned char odd = 0;
        for (uint32_t k = 0; k < 64; k++)
            odd |= text[i + k] & 0x80 ||
                   (text[i + k] < ' ' && (text[i + k] < '\t' || text[i + k] > '\r'));
        if (odd) break;
    }
    while (i < s->length && text[i] < 0x80 &&
           (text[i] >= ' ' || (text[i] >= '\t' && text[i] <= '\r')))
        i++;
    if (i == s->length) return true;
    diag_error(p->d, i, 1, "byte 0x%02x: PTX is ASCII text", text[i]);
    return false;
}

/* All .const variables of a module lie in one bank of 64 KiB; PTX 2.1 and before had eleven. */
static void check_constants(const struct ptx_module *m)
{
    const uint64_t limit = 1 << 16;
    uint64_t size[12] = {0};
    for (size_t i = 0; i < m->var_count; i++) {
        const struct ptx_var *v = m->vars[i];
        if (v->sym->space != PTX_SPACE_CONST || v->linkage == PTX_LINK_EXTERN) continue;
        uint64_t *used = &size[v->bank < 12 ? v->bank : 0], align = ptx_var_align(v);
        *used = (*used + align - 1) / align * align;
        if (!__builtin_add_overflow(*used, ptx_var_size(v), used) && *used <= limit) continue;
        diag_error(m->diags, v->sym->at, v->sym->name->length,
                   "'%.*s' does not fit: a module has at most %llu bytes of .const memory",
                   (int)v->sym->name->length, v->sym->name->text, (unsigned long long)limit);
        return;
    }
}

struct ptx_module *ptx_module_parse(struct arena *arena, const struct source *source,
                                    struct diags *diags)
{
    struct ptx_module *m = arena_alloc(arena, sizeof *m);
    struct ptx_parser *p = arena_alloc(arena, sizeof *p);
    m->arena = arena;
    m->source = source;
    m->diags = diags;
    m->version = 90;
    m->address_size = 32; /* what PTX says where nothing is given */
    m->parser = p;
    p->m = m;
    p->arena = arena;
    p->d = diags;
    p->lex = ptx_lexer_new(source, 0);
    ptx_advance(p);
    bool ok = check_bytes(p) && parse_version(p);
    if (ok && !ptx_take_dot(p, "target")) {
        ptx_unexpected(p, ".target behind .version");
        ok = false;
    }
    ok = ok && parse_target(p, &m->target);
    while (ok && ptx_take_dot(p, "target")) ok = parse_target(p, &m->target);
    if (!ok) {
        if (!m->target.sm) m->target.sm = 10;
        p->gave_up = true; /* nothing further can be judged */
        ptx_advance(p);
        return m;
    }
    parse_address_size(p);
    p->isa = ptx_isa_new(arena, m->version, m->target.sm, m->target.suffix);
    ptx_declare_sregs(p);
    while (p->t.kind != TOK_END && !p->unclosed) {
        uint32_t at = p->t.at;
        if (parse_item(p)) continue;
        /* Behind an error: at the next `;`, or behind the body of what was not understood. */
        bool brace = false;
        while (p->t.kind != TOK_END && !ptx_at_punct(p, ';') && !brace) {
            if (ptx_at_punct(p, '{')) {
                uint32_t end = ptx_lex_skip_braces(source, p->t.at);
                ptx_lexer_seek(p->lex, end);
                ptx_advance(p);
                brace = true;
            } else {
                ptx_advance(p);
            }
        }
        if (p->t.kind != TOK_END && (brace || p->t.at >= at)) ptx_advance(p);
    }
    for (size_t i = 0; i < m->item_count; i++)
        if (m->items[i].kind == PTX_ITEM_FUNC && !m->items[i].func->is_entry)
            ptx_check_small(p, &m->items[i].func->proto);
    check_constants(m);
    if (p->target_since > m->version && m->item_count)
        diag_error(p->d, p->target_at, p->target_length,
                   "sm_%u%.1s needs PTX ISA version %u.%u, the module says %u.%u", m->target.sm,
                   m->target.suffix ? &m->target.suffix : "", p->target_since / 10,
                   p->target_since % 10, m->version / 10, m->version % 10);
    if (m->target.debug && !p->has_debug_data)
        diag_error(p->d, p->target_at, p->target_length,
                   "target option debug without debug information (.section or @@DWARF)");
    return m;
}

void ptx_module_end(struct ptx_module *m)
{
    if (!m->parser) return;
    ptx_lexer_free(m->parser->lex);
    m->parser = NULL;
}

struct ptx_func *ptx_module_find(const struct ptx_module *m, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < m->func_count; i++) {
        const struct ptx_name *f = m->funcs[i]->sym->name;
        if (f->length == n && memcmp(f->text, name, n) == 0) return m->funcs[i];
    }
    return NULL;
}

/* A declared function may be found in another module if it is .extern; any other must be here. */
static void check_defined(struct ptx_module *m)
{
    for (size_t i = 0; i < m->func_count; i++) {
        const struct ptx_func *f = m->funcs[i];
        if (f->is_defined || f->alias_of || f->linkage == PTX_LINK_EXTERN) continue;
        diag_error(m->diags, f->sym->at, f->sym->name->length,
                   "'%.*s' is declared, never defined, and not .extern", (int)f->sym->name->length,
                   f->sym->name->text);
    }
}

bool ptx_module_check(struct ptx_module *m)
{
    struct ptx_parser *p = m->parser;
    for (size_t i = 0; p && i < m->item_count && !p->gave_up; i++)
        if (m->items[i].kind == PTX_ITEM_FUNC) ptx_func_parse(m, m->items[i].func);
    check_defined(m);
    if (m->diags->errors == 0) ptx_check_shared(m);
    return m->diags->errors == 0;
}

bool ptx_func_parse(struct ptx_module *m, struct ptx_func *f)
{
    if (f->definition) f = f->definition;
    struct ptx_parser *p = m->parser;
    if (!f->body && f->body_at && p && !p->gave_up && !p->unclosed) ptx_parse_body(p, f);
    return m->diags->errors == 0;
}
