/* Parses directives and the heads of functions: results, name, parameters, directives. The parser skips bodies here;
 * body.c parses a body when ptx_func_parse() asks for it. */
#include "base/arena.h"
#include "base/diag.h"
#include "ptx/parser.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- directives -------------------------------------------------------------------------------- */

bool ptx_pragma_is(const struct ptx_directive *d, const char *word)
{
    size_t n = strlen(word);
    return d->text_length >= n && memcmp(d->text, word, n) == 0 &&
           (d->text_length == n || d->text[n] == ' ');
}

/* Pragmas that speak of a statement or a body cannot stand elsewhere. */
void ptx_check_pragma_scope(struct ptx_parser *p, const struct ptx_directive *list,
                            const char *where)
{
    static const char *const inner[] = {"used_bytes_mask", "frequency", "enable_smem_spilling"};
    for (const struct ptx_directive *d = list; d; d = d->next)
        for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
            if (ptx_pragma_is(d, inner[i]))
                diag_error(p->d, d->at, d->text_length + 2,
                           ".pragma \"%s\" belongs into a function, not %s", inner[i], where);
}

static void check_pragma_value(struct ptx_parser *p, const struct ptx_directive *d)
{
    bool frequency = ptx_pragma_is(d, "frequency"), mask = ptx_pragma_is(d, "used_bytes_mask");
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

/* Under the ABI (PTX 3.0) values of fewer than 32 bits are not passed as such. ptxas compiles a module without the ABI if
 * a function of it has several results. */
static bool check_abi(struct ptx_parser *p, const struct ptx_var *v, bool result)
{
    enum ptx_type_kind kind = (enum ptx_type_kind)ptx_types[v->sym->type].kind;
    if (v->dim_count || v->sym->vec > 1 || ptx_types[v->sym->type].bits >= 32 || kind == PTX_BITS ||
        kind == PTX_FLOAT || p->m->version < 20 || p->m->target.sm < 20 || p->without_abi)
        return true;
    diag_error(p->d, v->sym->at, v->sym->name->length,
               "a function cannot %s a .%s: use .b32 or an array of .b8",
               result ? "return" : "take", ptx_types[v->sym->type].name);
    return false;
}

bool ptx_check_small(struct ptx_parser *p, const struct ptx_proto *q)
{
    for (unsigned i = 0; i < q->ret_count; i++)
        if (!check_abi(p, q->rets[i], true)) return false;
    for (unsigned i = 0; i < q->param_count; i++)
        if (!check_abi(p, q->params[i], false)) return false;
    return true;
}

bool ptx_check_proto(struct ptx_parser *p, const struct ptx_proto *q)
{
    p->without_abi |= q->ret_count > 1;
    for (unsigned i = 0; i < q->ret_count; i++) {
        q->rets[i]->role = q->rets[i]->in_reg ? PTX_PARAM_NONE : PTX_PARAM_RESULT;
        if (q->ret_count > 1 && !q->rets[i]->in_reg) {
            diag_error(p->d, q->rets[i]->sym->at, q->rets[i]->sym->name->length,
                       "several results must be in .reg");
            return false;
        }
    }
    for (unsigned i = 0; i < q->param_count; i++) {
        if (!q->params[i]->in_reg && (p->m->version < 20 || p->m->target.sm < 20)) {
            diag_error(p->d, q->params[i]->sym->at, q->params[i]->sym->name->length,
                       "a function's .param needs PTX ISA version 2.0 and target sm_20");
            return false;
        }
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

/* `.attribute(.unified(a, b))`, behind .attribute. */
static bool parse_unified(struct ptx_parser *p, struct ptx_func *f)
{
    uint64_t a, b;
    if (!ptx_expect(p, '(', "behind .attribute")) return false;
    if (!ptx_take_dot(p, "unified")) {
        ptx_unexpected(p, ".unified");
        return false;
    }
    if (!ptx_expect(p, '(', "behind .unified") || !ptx_const_uint(p, &a, "an identifier") ||
        !ptx_expect(p, ',', "between the identifiers") || !ptx_const_uint(p, &b, "an identifier") ||
        !ptx_expect(p, ')', "behind .unified") || !ptx_expect(p, ')', "behind .attribute"))
        return false;
    f->has_unified = true;
    f->unified[0] = a;
    f->unified[1] = b;
    return true;
}

/* Results, name and parameters. */
static bool parse_signature(struct ptx_parser *p, struct ptx_func *f)
{
    if (!f->is_entry && ptx_at_punct(p, '(') &&
        !ptx_parse_param_list(p, false, &f->proto.rets, &f->proto.ret_count))
        return false;
    uint32_t name_at;
    struct ptx_name *name;
    if (!ptx_parse_name(p, &name, &name_at)) return false;
    if (ptx_at_punct(p, '(')) {
        f->has_param_list = true;
        if (!ptx_parse_param_list(p, f->is_entry, &f->proto.params, &f->proto.param_count))
            return false;
        if (f->is_entry && f->proto.param_count && p->m->version < 14)
            diag_error(p->d, f->proto.params[0]->sym->at, 1,
                       "a kernel's parameter list needs PTX ISA version 1.4");
    }
    f->sym = ptx_sym_new(p, PTX_SYM_FUNC, name, name_at);
    f->sym->func = f;
    return check_params(p, f);
}

/* Whether the current token begins another item of the module, or none follows: then the function's head is a prototype
 * without its `;`, as nvcc wrote them up to CUDA 4.0. ptxas takes them in every version. */
static bool at_next_item(const struct ptx_parser *p)
{
    static const char *const items[] = {"func",    "entry", "extern", "visible", "weak", "common",
                                        "global",  "const", "shared", "local",   "tex",  "file",
                                        "section", "alias", "align",  "pragma"};
    if (p->t.kind == TOK_END) return true;
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (ptx_at_dot(p, items[i])) return true;
    return false;
}

/* The directives between the signature and the body or `;`. */
static bool parse_directives(struct ptx_parser *p, struct ptx_func *f)
{
    struct ptx_directive **tail = &f->directives;
    while (!ptx_at_punct(p, '{') && !ptx_at_punct(p, ';') && !(!f->is_entry && at_next_item(p))) {
        struct ptx_directive *d;
        if (f->is_entry && ptx_take_dot(p, "pragma")) {
            if (!ptx_parse_pragma(p, &d)) return false;
            ptx_check_pragma_scope(p, d, "on a kernel");
        } else if (!(d = ptx_parse_directive(p))) {
            return false;
        }
        if (strcmp(d->word, "noreturn") == 0) f->proto.noreturn = true;
        *tail = d;
        while (*tail) tail = &(*tail)->next;
    }
    check_directives(p, f);
    if (f->is_entry && f->directives && ptx_at_punct(p, ';'))
        diag_error(p->d, f->directives->at, 1, "a kernel's declaration takes no directives");
    if (f->proto.noreturn && f->proto.ret_count)
        diag_error(p->d, f->sym->at, f->sym->name->length, "a .noreturn function returns no value");
    return true;
}

/* Makes the function known under its name, or joins it with a declaration before it. */
static void declare_function(struct ptx_parser *p, struct ptx_func *f, bool has_body)
{
    const struct ptx_name *name = f->sym->name;
    const bool known = name->sym && name->sym->kind == PTX_SYM_FUNC;
    struct ptx_func *meant = known ? merge_func(p, f, has_body) : f;
    if (!meant || (!known && !ptx_declare(p, f->sym))) return;
    struct ptx_module *m = p->m;
    if (!known) {
        m->funcs = arena_grow(p->arena, m->funcs, m->func_count, &m->func_cap, m->func_count + 1,
                              sizeof *m->funcs);
        m->funcs[m->func_count++] = f;
    }
    ptx_add_item(p, PTX_ITEM_FUNC, f->at)->func = f;
    if (!has_body) return;
    meant->is_defined = true; /* the definition's names and directives count */
    if (meant != f) {
        f->sym = meant->sym;
        f->is_defined = true;
        meant->definition = f;
    }
}

/* Steps over a body, which ptx_func_parse() reads later. */
static void skip_body(struct ptx_parser *p, struct ptx_func *f)
{
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
}

/* The rest of a function behind .entry or .func. */
bool ptx_parse_function(struct ptx_parser *p, bool is_entry, enum ptx_linkage linkage, uint32_t at)
{
    struct ptx_func *f = arena_alloc(p->arena, sizeof *f);
    f->is_entry = is_entry;
    f->linkage = (uint8_t)linkage;
    f->at = at;
    if (!is_entry && ptx_take_dot(p, "attribute") && !parse_unified(p, f)) return false;
    if (!parse_signature(p, f) || !parse_directives(p, f)) return false;
    f->head_end = p->t.at;
    const bool has_body = ptx_at_punct(p, '{');
    if (has_body && linkage == PTX_LINK_EXTERN) {
        diag_error(p->d, at, 7, "an .extern function cannot have a body");
        p->t.at = ptx_lex_skip_braces(p->m->source, p->t.at);
        ptx_lexer_seek(p->lex, p->t.at);
        ptx_advance(p);
        ptx_advance(p);
        return true;
    }
    declare_function(p, f, has_body);
    if (has_body) skip_body(p, f);
    else if (ptx_at_punct(p, ';')) ptx_advance(p);
    return true;
}
