/* The module level: versions, variables, heads of functions. Bodies are stepped over. */
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

static struct ptx_item *add_item(struct ptx_parser *p, enum ptx_item_kind kind, uint32_t at)
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
    bool dot = i > 0 && i < p->t.length && text[i] == '.';
    for (i++; dot && i < p->t.length && isdigit((unsigned char)text[i]) && minor < 1000; i++)
        minor = minor * 10 + (unsigned)(text[i] - '0');
    if (p->t.kind != TOK_FLOAT || !dot || i != p->t.length) {
        ptx_unexpected(p, "a version such as 8.0");
        return false;
    }
    unsigned v = minor < 10 ? major * 10 + minor : 0;
    if (!version_exists(v)) {
        diag_error(p->d, p->t.at, p->t.length, "there is no PTX ISA version %.*s%s",
                   (int)p->t.length, text,
                   major * 10 + minor > 90 ? " yet: 9.0 is the newest known" : "");
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

/* ---- directives -------------------------------------------------------------------------------- */

static bool pragma_is(const struct ptx_directive *d, const char *word)
{
    size_t n = strlen(word);
    return d->text_length >= n && memcmp(d->text, word, n) == 0 &&
           (d->text_length == n || d->text[n] == ' ');
}

/* Pragmas that speak of a statement or a body cannot stand elsewhere. */
static void check_pragma_scope(struct ptx_parser *p, const struct ptx_directive *list,
                               const char *where)
{
    static const char *const inner[] = {"used_bytes_mask", "frequency", "enable_smem_spilling"};
    for (const struct ptx_directive *d = list; d; d = d->next)
        for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
            if (pragma_is(d, inner[i]))
                diag_error(p->d, d->at, d->text_length + 2,
                           ".pragma \"%s\" belongs into a function, not %s", inner[i], where);
}

static void check_pragma_value(struct ptx_parser *p, const struct ptx_directive *d)
{
    bool frequency = pragma_is(d, "frequency"), mask = pragma_is(d, "used_bytes_mask");
    const char *word = frequency ? "frequency" : "used_bytes_mask";
    if (!frequency && !mask) return;
    if (d->text_length == strlen(word)) {
        diag_error(p->d, d->at, d->text_length + 2, ".pragma \"%s\" needs a value", word);
        return;
    }
    if (mask && (p->m->version < 83 || p->m->target.sm < 50))
        diag_error(p->d, d->at, d->text_length + 2,
                   ".pragma \"used_bytes_mask\" needs PTX ISA version 8.3 and target sm_50");
    if (frequency && p->m->version < 90)
        diag_error(p->d, d->at, d->text_length + 2,
                   ".pragma \"frequency\" needs PTX ISA version 9.0");
    for (uint32_t i = (uint32_t)strlen(word) + 1; frequency && i < d->text_length; i++)
        if (d->text[i] != ' ' && !isdigit((unsigned char)d->text[i])) {
            diag_error(p->d, d->at, d->text_length + 2, ".pragma \"frequency\" takes a number");
            return;
        }
}

/* The string of .pragma, without its quotes, and any further ones behind commas. */
bool ptx_parse_pragma(struct ptx_parser *p, struct ptx_directive **out)
{
    struct ptx_directive **tail = out;
    *out = NULL;
    if (p->m->version < 20) diag_error(p->d, p->t.at, 1, ".pragma needs PTX ISA version 2.0");
    do {
        if (p->t.kind != TOK_STRING) {
            ptx_unexpected(p, "a string");
            return false;
        }
        struct ptx_directive *d = arena_alloc(p->arena, sizeof *d);
        d->word = "pragma";
        d->at = p->t.at;
        d->text = ptx_text(p, p->t.at + 1);
        d->text_length = p->t.length >= 2 ? p->t.length - 2 : 0;
        check_pragma_value(p, d);
        *tail = d;
        tail = &d->next;
        ptx_advance(p);
    } while (ptx_take_punct(p, ','));
    return ptx_expect(p, ';', "behind .pragma");
}

static const struct directive_info {
    const char *word;
    uint8_t least, most; /* numbers */
    uint8_t since;       /* PTX ISA version times ten */
    uint8_t sm;
    bool on_func; /* allowed on .func, else only on .entry */
} directive_infos[] = {
    {"maxnreg", 1, 1, 13, 10, false},         {"maxntid", 1, 3, 13, 10, false},
    {"reqntid", 1, 3, 21, 10, false},         {"minnctapersm", 1, 1, 20, 10, false},
    {"maxnctapersm", 1, 1, 13, 10, false},    {"noreturn", 0, 0, 64, 30, true},
    {"explicitcluster", 0, 0, 78, 90, false}, {"reqnctapercluster", 1, 3, 78, 90, false},
    {"maxclusterrank", 1, 1, 78, 90, false},  {"blocksareclusters", 0, 0, 90, 90, false},
    {"abi_preserve", 1, 1, 90, 80, true},     {"abi_preserve_control", 1, 1, 90, 80, true},
};

struct ptx_directive *ptx_parse_directive(struct ptx_parser *p)
{
    const char *text;
    uint32_t n = ptx_dot_word(p, &text), at = p->t.at;
    const struct directive_info *info = NULL;
    for (size_t i = 0; n && i < sizeof directive_infos / sizeof *directive_infos; i++)
        if (strlen(directive_infos[i].word) == n && memcmp(directive_infos[i].word, text, n) == 0)
            info = &directive_infos[i];
    if (!info) {
        ptx_unexpected(p, "a performance directive or '{'");
        return NULL;
    }
    if (p->m->version < info->since || p->m->target.sm < info->sm) {
        diag_error(p->d, at, n + 1, ".%s needs PTX ISA version %d.%d and target sm_%d", info->word,
                   info->since / 10, info->since % 10, info->sm);
        return NULL;
    }
    if (strcmp(info->word, "maxnctapersm") == 0 && p->m->version >= 21) {
        diag_error(p->d, at, n + 1,
                   ".maxnctapersm ended with PTX ISA version 2.1: use .minnctapersm");
        return NULL;
    }
    ptx_drop_dot(p);
    struct ptx_directive *d = arena_alloc(p->arena, sizeof *d);
    d->word = info->word;
    d->at = at;
    for (unsigned i = 0; i < info->most; i++) {
        if (i > 0 && !ptx_take_punct(p, ',')) break;
        struct ptx_value v = {.bits = 32};
        uint32_t value_at = p->t.at;
        if (p->t.kind == TOK_WORD && p->t.length == 7 &&
            memcmp(ptx_text(p, p->t.at), "WARP_SZ", 7) == 0) {
            ptx_advance(p);
        } else if (p->t.kind != TOK_INT) {
            ptx_unexpected(p, "a number");
            return NULL;
        } else if (!ptx_const_literal(p, &v)) {
            return NULL;
        }
        if (v.bits > UINT32_MAX) {
            diag_error(p->d, value_at, p->last_end - value_at, "number too large: limit %u",
                       UINT32_MAX);
            return NULL;
        }
        d->value[d->count++] = v.bits;
    }
    return d;
}

static struct ptx_directive *find_directive(struct ptx_directive *list, const char *word)
{
    for (; list; list = list->next)
        if (strcmp(list->word, word) == 0) return list;
    return NULL;
}

static void check_directives(struct ptx_parser *p, const struct ptx_func *f)
{
    for (struct ptx_directive *d = f->directives; d; d = d->next) {
        if (strcmp(d->word, "pragma") == 0) continue;
        const struct directive_info *info = directive_infos;
        while (strcmp(info->word, d->word) != 0) info++;
        uint32_t n = (uint32_t)strlen(d->word) + 1;
        if (!f->is_entry && !info->on_func)
            diag_error(p->d, d->at, n, ".%s is for kernels (.entry)", d->word);
        if (f->is_entry && strcmp(d->word, "noreturn") == 0)
            diag_error(p->d, d->at, n, ".noreturn is for functions (.func)");
        if (!f->is_entry && find_directive(d->next, d->word))
            diag_error(p->d, find_directive(d->next, d->word)->at, n, ".%s is given twice",
                       d->word);
        if (strncmp(d->word, "abi", 3) == 0 && find_directive(d->next, "noreturn"))
            diag_error(p->d, d->at, n, ".noreturn must stand before .%s", d->word);
        if (f->is_entry && strncmp(d->word, "abi", 3) == 0)
            diag_error(p->d, d->at, n, ".%s is for functions (.func)", d->word);
        bool zero = strncmp(d->word, "abi", 3) == 0 || strcmp(d->word, "maxclusterrank") == 0 ||
                    strcmp(d->word, "reqnctapercluster") == 0;
        for (unsigned i = 0; i < d->count; i++)
            if (d->value[i] == 0 && !zero)
                diag_error(p->d, d->at, n, ".%s must be positive", d->word);
        if (strcmp(d->word, "minnctapersm") == 0 && !find_directive(f->directives, "maxntid") &&
            !find_directive(f->directives, "reqntid"))
            diag_warning(p->d, d->at, n, ".minnctapersm without .maxntid or .reqntid is ignored");
    }
    struct ptx_directive *max = find_directive(f->directives, "maxntid");
    struct ptx_directive *req = find_directive(f->directives, "reqntid");
    if (max && req)
        diag_error(p->d, max->at > req->at ? max->at : req->at, 8,
                   ".maxntid and .reqntid exclude each other");
    struct ptx_directive *rank = find_directive(f->directives, "maxclusterrank");
    struct ptx_directive *cluster = find_directive(f->directives, "reqnctapercluster");
    struct ptx_directive *blocks = find_directive(f->directives, "blocksareclusters");
    if (rank && cluster)
        diag_error(p->d, rank->at, 15, ".maxclusterrank and .reqnctapercluster exclude each other");
    if (blocks && (!req || !cluster))
        diag_error(p->d, blocks->at, 18,
                   ".blocksareclusters needs .reqntid and .reqnctapercluster");
}

/* ---- functions --------------------------------------------------------------------------------- */

static bool same_params(struct ptx_var **a, unsigned na, struct ptx_var **b, unsigned nb)
{
    if (na != nb) return false;
    for (unsigned i = 0; i < na; i++) {
        const struct ptx_var *x = a[i], *y = b[i];
        if (x->sym->type != y->sym->type || x->sym->vec != y->sym->vec || x->in_reg != y->in_reg ||
            ptx_param_align(x) != ptx_param_align(y) || x->dim_count != y->dim_count)
            return false;
        for (unsigned d = 0; d < x->dim_count; d++)
            if (x->dims[d] != y->dims[d]) return false;
    }
    return true;
}

bool ptx_proto_equal(const struct ptx_proto *a, const struct ptx_proto *b)
{
    return same_params(a->rets, a->ret_count, b->rets, b->ret_count) &&
           same_params(a->params, a->param_count, b->params, b->param_count);
}

/* A second head of a function: one of them may have the body. Returns the function that is meant. */
static struct ptx_func *merge_func(struct ptx_parser *p, struct ptx_func *f, bool has_body)
{
    struct ptx_func *old = f->sym->name->sym->func;
    struct ptx_name *n = f->sym->name;
    const char *wrong = NULL;
    if (old->is_entry != f->is_entry) wrong = "is declared both as kernel and as function";
    else if (!ptx_proto_equal(&old->proto, &f->proto))
        wrong = "is declared again with other parameters";
    else if (old->proto.noreturn != f->proto.noreturn)
        wrong = "is declared again with another .noreturn";
    else if (old->is_defined)
        wrong = has_body ? "is defined twice" : "is declared after its definition";
    else if (old->linkage != f->linkage &&
             !(f->linkage == PTX_LINK_NONE && old->linkage != PTX_LINK_EXTERN))
        wrong = "is declared again with another linkage";
    if (wrong) {
        diag_error(p->d, f->sym->at, n->length, "'%.*s' %s", (int)n->length, n->text, wrong);
        diag_note(p->d, old->sym->at, n->length, "the first declaration is here");
        return NULL;
    }
    return old;
}

static bool check_param_sizes(struct ptx_parser *p, const struct ptx_func *f)
{
    if (!f->is_entry) return true;
    uint64_t size = 0, limit = p->m->version >= 81 && p->m->target.sm >= 70 ? 32764 : 4352;
    for (unsigned i = 0; i < f->proto.param_count; i++) {
        uint64_t align = ptx_var_align(f->proto.params[i]), n = ptx_var_size(f->proto.params[i]);
        size = (size + align - 1) / align * align;
        if (__builtin_add_overflow(size, n, &size) || size > limit) {
            diag_error(p->d, f->proto.params[i]->sym->at, f->proto.params[i]->sym->name->length,
                       "parameters of a kernel may take %llu bytes", (unsigned long long)limit);
            return false;
        }
    }
    return true;
}

/* Behind the ABI (PTX 3.0) values of fewer than 32 bits are not passed as such. */
static bool check_abi(struct ptx_parser *p, const struct ptx_var *v, bool result)
{
    enum ptx_type_kind kind = (enum ptx_type_kind)ptx_types[v->sym->type].kind;
    if (v->dim_count || v->sym->vec > 1 || ptx_types[v->sym->type].bits >= 32 || kind == PTX_BITS ||
        kind == PTX_FLOAT || p->m->version < 20 || p->m->target.sm < 20)
        return true;
    diag_error(p->d, v->sym->at, v->sym->name->length,
               "a function cannot %s a .%s: use .b32 or an array of .b8",
               result ? "return" : "take", ptx_types[v->sym->type].name);
    return false;
}

bool ptx_check_proto(struct ptx_parser *p, const struct ptx_proto *q)
{
    for (unsigned i = 0; i < q->ret_count; i++) {
        q->rets[i]->role = q->rets[i]->in_reg ? PTX_PARAM_NONE : PTX_PARAM_RESULT;
        if (q->ret_count > 1 && !q->rets[i]->in_reg) {
            diag_error(p->d, q->rets[i]->sym->at, q->rets[i]->sym->name->length,
                       "several results must be in .reg");
            return false;
        }
        if (!check_abi(p, q->rets[i], true)) return false;
    }
    for (unsigned i = 0; i < q->param_count; i++) {
        if (!q->params[i]->in_reg && (p->m->version < 20 || p->m->target.sm < 20)) {
            diag_error(p->d, q->params[i]->sym->at, q->params[i]->sym->name->length,
                       "a function's .param needs PTX ISA version 2.0 and target sm_20");
            return false;
        }
        if (!check_abi(p, q->params[i], false)) return false;
    }
    return true;
}

static bool check_params(struct ptx_parser *p, struct ptx_func *f)
{
    struct ptx_proto *q = &f->proto;
    if (!f->is_entry && !ptx_check_proto(p, q)) return false;
    for (unsigned i = 0; i < q->param_count + q->ret_count; i++) {
        struct ptx_var *v = i < q->param_count ? q->params[i] : q->rets[i - q->param_count];
        if (v->dim_count && v->dims[0] == 0 && i + 1u != q->param_count) {
            diag_error(p->d, v->sym->at, v->sym->name->length, "an array parameter needs a size");
            return false;
        }
    }
    return check_param_sizes(p, f);
}

/* The rest of a function behind .entry or .func. */
static bool parse_function(struct ptx_parser *p, bool is_entry, enum ptx_linkage linkage,
                           uint32_t at)
{
    struct ptx_func *f = arena_alloc(p->arena, sizeof *f);
    f->is_entry = is_entry;
    f->linkage = (uint8_t)linkage;
    f->at = at;
    if (!is_entry && ptx_take_dot(p, "attribute")) { /* .attribute(.unified(a, b)) */
        uint64_t a, b;
        if (!ptx_expect(p, '(', "behind .attribute")) return false;
        if (!ptx_take_dot(p, "unified")) {
            ptx_unexpected(p, ".unified");
            return false;
        }
        if (!ptx_expect(p, '(', "behind .unified") || !ptx_const_uint(p, &a, "an identifier") ||
            !ptx_expect(p, ',', "between the identifiers") ||
            !ptx_const_uint(p, &b, "an identifier") || !ptx_expect(p, ')', "behind .unified") ||
            !ptx_expect(p, ')', "behind .attribute"))
            return false;
        f->has_unified = true;
        f->unified[0] = a;
        f->unified[1] = b;
    }
    if (!is_entry && ptx_at_punct(p, '(') &&
        !ptx_parse_param_list(p, false, &f->proto.rets, &f->proto.ret_count))
        return false;
    uint32_t name_at;
    struct ptx_name *name;
    if (!ptx_parse_name(p, &name, &name_at)) return false;
    if (ptx_at_punct(p, '(')) {
        f->has_param_list = true;
        if (!ptx_parse_param_list(p, is_entry, &f->proto.params, &f->proto.param_count))
            return false;
        if (is_entry && f->proto.param_count && p->m->version < 14)
            diag_error(p->d, f->proto.params[0]->sym->at, 1,
                       "a kernel's parameter list needs PTX ISA version 1.4");
    }
    f->sym = ptx_sym_new(p, PTX_SYM_FUNC, name, name_at);
    f->sym->func = f;
    if (!check_params(p, f)) return false;
    struct ptx_directive **tail = &f->directives;
    while (!ptx_at_punct(p, '{') && !ptx_at_punct(p, ';')) {
        struct ptx_directive *d;
        if (is_entry && ptx_take_dot(p, "pragma")) {
            if (!ptx_parse_pragma(p, &d)) return false;
            check_pragma_scope(p, d, "on a kernel");
        } else if (!(d = ptx_parse_directive(p))) {
            return false;
        }
        if (strcmp(d->word, "noreturn") == 0) f->proto.noreturn = true;
        *tail = d;
        while (*tail) tail = &(*tail)->next;
    }
    check_directives(p, f);
    if (is_entry && f->directives && ptx_at_punct(p, ';'))
        diag_error(p->d, f->directives->at, 1, "a kernel's declaration takes no directives");
    if (f->proto.noreturn && f->proto.ret_count)
        diag_error(p->d, name_at, name->length, "a .noreturn function returns no value");
    f->head_end = p->t.at;
    bool has_body = ptx_at_punct(p, '{');
    if (has_body && linkage == PTX_LINK_EXTERN) {
        diag_error(p->d, at, 7, "an .extern function cannot have a body");
        p->t.at = ptx_lex_skip_braces(p->m->source, p->t.at);
        ptx_lexer_seek(p->lex, p->t.at);
        ptx_advance(p);
        ptx_advance(p);
        return true;
    }

    struct ptx_func *meant = f;
    bool known = name->sym && name->sym->kind == PTX_SYM_FUNC;
    bool ok = true;
    if (known) {
        meant = merge_func(p, f, has_body);
        if (!meant) ok = false;
    } else {
        ok = ptx_declare(p, f->sym);
    }
    if (ok) {
        struct ptx_module *m = p->m;
        if (!known) {
            m->funcs = arena_grow(p->arena, m->funcs, m->func_count, &m->func_cap,
                                  m->func_count + 1, sizeof *m->funcs);
            m->funcs[m->func_count++] = f;
        }
        add_item(p, PTX_ITEM_FUNC, at)->func = f;
        if (has_body) { /* the definition's names and directives count */
            meant->is_defined = true;
            if (meant != f) {
                f->sym = meant->sym;
                f->is_defined = true;
                meant->definition = f;
            }
        }
    }
    if (!has_body) {
        ptx_advance(p);
        return true;
    }
    f->body_at = p->t.at;
    f->body_end = ptx_lex_skip_braces(p->m->source, p->t.at);
    if (f->body_end == p->m->source->length) {
        diag_error(p->d, f->body_at, 1, "this '{' is never closed");
        p->unclosed = true;
    }
    ptx_lexer_seek(p->lex, f->body_end);
    ptx_advance(p);
    if (!p->unclosed) ptx_advance(p);
    p->last_end = f->body_end + 1;
    return true;
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
    add_item(p, PTX_ITEM_FILE, at)->file = f;
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
    add_item(p, PTX_ITEM_SECTION, at)->section = s;
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
    add_item(p, PTX_ITEM_ALIAS, at)->alias = a;
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
    add_item(p, PTX_ITEM_RAW, r->from)->raw = r;
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
    if (may_be_function && ptx_take_dot(p, "entry")) return parse_function(p, true, linkage, at);
    if (may_be_function && ptx_take_dot(p, "func")) return parse_function(p, false, linkage, at);
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
        check_pragma_scope(p, d, "at module level");
        for (struct ptx_directive *q = d; q; q = q->next)
            if (!pragma_is(q, "nounroll") && !pragma_is(q, "unroll"))
                diag_error(p->d, q->at, q->text_length + 2, "unknown .pragma \"%.*s\"",
                           q->text_length < 60 ? (int)q->text_length : 60, q->text);
        for (; d; d = d->next) add_item(p, PTX_ITEM_PRAGMA, d->at)->pragma = d;
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
    return m->diags->errors == 0;
}

bool ptx_func_parse(struct ptx_module *m, struct ptx_func *f)
{
    if (f->definition) f = f->definition;
    struct ptx_parser *p = m->parser;
    if (!f->body && f->body_at && p && !p->gave_up && !p->unclosed) ptx_parse_body(p, f);
    return m->diags->errors == 0;
}
