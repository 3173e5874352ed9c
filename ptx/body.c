/* Parses the statements and operands of a function's body. */
#include "base/arena.h"
#include "base/diag.h"
#include "ptx/parser.h"

#include <stdio.h>
#include <string.h>

static struct ptx_stmt *add_stmt(struct ptx_parser *p, enum ptx_stmt_kind kind, uint32_t at)
{
    struct ptx_body *b = p->body;
    b->stmts = arena_grow(p->arena, b->stmts, b->count, &b->cap, b->count + 1, sizeof *b->stmts);
    struct ptx_stmt *s = &b->stmts[b->count++];
    *s = (struct ptx_stmt){.kind = (uint8_t)kind, .at = at};
    return s;
}

/* ---- operands ---------------------------------------------------------------------------------- */

static enum ptx_sel selector(const char *text, uint32_t n)
{
    if (n == 1) {
        switch (text[0]) {
        case 'x':
        case 'r': return PTX_SEL_X;
        case 'y':
        case 'g': return PTX_SEL_Y;
        case 'z':
        case 'b': return PTX_SEL_Z;
        case 'w':
        case 'a': return PTX_SEL_W;
        default: return PTX_SEL_BAD;
        }
    }
    if (n == 2 && text[0] == 'b' && text[1] >= '0' && text[1] <= '3')
        return (enum ptx_sel)(PTX_SEL_B0 + (text[1] - '0'));
    if (n == 2 && text[0] == 'h' && text[1] >= '0' && text[1] <= '1')
        return (enum ptx_sel)(PTX_SEL_H0 + (text[1] - '0'));
    bool simd = (n == 3 && text[0] == 'h') || (n >= 3 && n <= 5 && text[0] == 'b');
    for (uint32_t i = 1; simd && i < n; i++) simd = text[i] >= '0' && text[i] <= '7';
    return simd ? PTX_SEL_SIMD : PTX_SEL_BAD;
}

/* Elements up to the closing character, in the arena. */
static bool parse_operand(struct ptx_parser *p, struct ptx_opnd *o);

static bool parse_elements(struct ptx_parser *p, struct ptx_opnd *o, char close)
{
    ptx_advance(p);
    if (++p->nesting > PTX_MAX_NESTING) {
        diag_error(p->d, o->at, 1, "operands nest too deeply: limit %d", PTX_MAX_NESTING);
        p->nesting--;
        return false;
    }
    size_t base = p->stack_count;
    bool ok = true;
    if (!ptx_at_punct(p, close)) {
        do {
            struct ptx_opnd e = {0};
            if (!(ok = parse_operand(p, &e))) break;
            if (p->stack_count - base >= PTX_MAX_OPERANDS) {
                diag_error(p->d, e.at, e.length, "too many operands: limit %d", PTX_MAX_OPERANDS);
                ok = false;
                break;
            }
            p->stack = arena_grow(p->arena, p->stack, p->stack_count, &p->stack_cap,
                                  p->stack_count + 1, sizeof *p->stack);
            p->stack[p->stack_count++] = e;
        } while (ptx_take_punct(p, ','));
    }
    p->nesting--;
    if (ok) {
        o->count = (uint32_t)(p->stack_count - base);
        o->elem = arena_array(p->arena, struct ptx_opnd, o->count);
        if (o->count) memcpy(o->elem, p->stack + base, o->count * sizeof *o->elem);
        ok = ptx_expect(p, close, "behind the operands");
    }
    p->stack_count = base;
    return ok;
}

static bool constant(struct ptx_parser *p, struct ptx_opnd *o)
{
    struct ptx_value v;
    if (!ptx_const_expr(p, &v)) return false;
    o->kind = v.is_float ? v.kind : PTX_OPND_INT;
    o->bits = v.bits;
    return true;
}

/* `+ constant` behind a name or register; in PTX a minus stands behind the plus. */
static bool parse_offset(struct ptx_parser *p, struct ptx_opnd *o)
{
    ptx_advance(p);
    struct ptx_value v;
    uint32_t at = p->t.at;
    if (!ptx_const_expr(p, &v)) return false;
    if (v.is_float) {
        diag_error(p->d, at, p->last_end - at, "expected an integer offset");
        return false;
    }
    o->offset = (int64_t)v.bits;
    return true;
}

/* name[register+offset]; the current token is the register. */
static bool parse_register_index(struct ptx_parser *p, struct ptx_opnd *o)
{
    struct ptx_opnd *pair = arena_array(p->arena, struct ptx_opnd, 2);
    pair[0] = *o;
    p->nesting++;
    bool ok = parse_operand(p, &pair[1]);
    p->nesting--;
    if (!ok) return false;
    if (pair[1].kind != PTX_OPND_REG) {
        diag_error(p->d, pair[1].at, pair[1].length, "expected a register or a constant");
        return false;
    }
    o->kind = PTX_OPND_ADDR;
    o->indexed = true;
    o->elem = pair;
    o->count = 2;
    o->offset = pair[1].offset;
    return ptx_expect(p, ']', "behind the index");
}

/* A name as an operand. What it may be is decided by the instruction. */
static bool parse_named(struct ptx_parser *p, struct ptx_opnd *o)
{
    const char *text = ptx_text(p, p->t.at);
    const char *dot = memchr(text, '.', p->t.length);
    uint32_t n = dot ? (uint32_t)(dot - text) : p->t.length;
    if (n == 1 && text[0] == '_' && !dot) {
        o->kind = PTX_OPND_SINK;
        ptx_advance(p);
        return true;
    }
    struct ptx_name *name = ptx_intern(p, text, n);
    struct ptx_sym *sym = ptx_lookup(p, name);
    if (!sym && n == 7 && memcmp(text, "WARP_SZ", 7) == 0 && !dot) return constant(p, o);
    struct ptx_token component = {0}; /* may be a token of its own: %v .x */
    if (sym && !dot && (sym->kind == PTX_SYM_REG || sym->kind == PTX_SYM_SREG) && sym->vec > 1 &&
        ptx_lex_peek(p->lex) == TOK_DOTS) {
        ptx_advance(p);
        component = p->t;
        o->sel = (uint8_t)selector(ptx_text(p, component.at) + 1, component.length - 1);
        if (o->sel == PTX_SEL_BAD) {
            ptx_unexpected(p, "a component such as .x");
            return false;
        }
    }
    if (dot) {
        o->sel = (uint8_t)selector(dot + 1, p->t.length - n - 1);
        if (o->sel == PTX_SEL_SIMD) memcpy(&o->offset, dot + 1, p->t.length - n - 1);
        if (o->sel == PTX_SEL_BAD) {
            diag_error(p->d, o->at + n, p->t.length - n, "unknown component '%.*s'",
                       (int)(p->t.length - n), dot);
            ptx_advance(p);
            return false;
        }
    }
    ptx_advance(p);
    if (!sym) {
        o->kind = PTX_OPND_LABEL;
        o->name = name;
        return true;
    }
    o->sym = sym;
    switch ((enum ptx_sym_kind)sym->kind) {
    case PTX_SYM_REG: o->kind = PTX_OPND_REG; break;
    case PTX_SYM_SREG: o->kind = PTX_OPND_SREG; break;
    case PTX_SYM_LABEL:
    case PTX_SYM_PROTO:
    case PTX_SYM_TARGETS:
        o->kind = PTX_OPND_LABEL;
        o->name = name;
        break;
    case PTX_SYM_VAR:
    case PTX_SYM_FUNC:
    case PTX_SYM_RANGE: o->kind = PTX_OPND_SYM; break;
    }
    if (dot && o->kind != PTX_OPND_REG && o->kind != PTX_OPND_SREG) {
        diag_error(p->d, o->at, p->last_end - o->at, "a %s has no components",
                   ptx_sym_kind_name(sym));
        return false;
    }
    if (o->kind != PTX_OPND_SYM) return true;
    if (ptx_at_punct(p, '+')) return parse_offset(p, o);
    if (ptx_at_punct(p, '[') && p->nesting == 0) { /* a[4], a[%r1+4]: an element's address */
        ptx_advance(p);
        if (p->t.kind == TOK_WORD) return parse_register_index(p, o);
        struct ptx_value v;
        uint32_t at = p->t.at;
        if (!ptx_const_expr(p, &v)) return false;
        if (v.is_float) {
            diag_error(p->d, at, p->last_end - at, "expected an integer index");
            return false;
        }
        o->indexed = true;
        o->offset = (int64_t)v.bits;
        return ptx_expect(p, ']', "behind the index");
    }
    return true;
}

/* [address], [register+4], [texture, {coordinates}] */
static bool parse_bracket(struct ptx_parser *p, struct ptx_opnd *o)
{
    o->kind = PTX_OPND_BRACKET;
    if (!parse_elements(p, o, ']')) return false;
    if (o->count == 0) {
        diag_error(p->d, o->at, p->last_end - o->at, "expected an address");
        return false;
    }
    struct ptx_opnd *e = &o->elem[0];
    bool address = e->kind == PTX_OPND_REG || e->kind == PTX_OPND_SYM || e->kind == PTX_OPND_INT ||
                   e->kind == PTX_OPND_SREG;
    if (o->count == 1 && address) {
        o->kind = PTX_OPND_ADDR;
        o->offset = e->offset;
        if (e->kind == PTX_OPND_INT) o->offset = (int64_t)e->bits;
    } else if (o->count == 1 && e->kind == PTX_OPND_LABEL && !e->sym) {
        diag_error(p->d, e->at, e->length, "undeclared name '%.*s'", (int)e->name->length,
                   e->name->text);
        return false;
    }
    if (ptx_at_dot(p, "unified")) {
        ptx_drop_dot(p);
        o->unified = true;
    }
    return true;
}

static bool parse_primary(struct ptx_parser *p, struct ptx_opnd *o)
{
    switch (p->t.kind) {
    case TOK_WORD:
        if (!parse_named(p, o)) return false;
        if ((o->kind == PTX_OPND_REG || (o->kind == PTX_OPND_SREG && p->nesting > 0)) &&
            ptx_at_punct(p, '+'))
            return parse_offset(p, o);
        return true;
    case TOK_PUNCT:
        switch (p->t.c) {
        case '[': return parse_bracket(p, o);
        case '{': o->kind = PTX_OPND_VEC; return parse_elements(p, o, '}');
        case '!':
        case '-': {
            struct ptx_token sign = p->t;
            if (ptx_lex_peek(p->lex) != TOK_WORD) return constant(p, o);
            ptx_advance(p);
            if (p->t.length == 7 && memcmp(ptx_text(p, p->t.at), "WARP_SZ", 7) == 0) {
                if (!constant(p, o)) return false;
                o->bits = sign.c == '-' ? -o->bits : !o->bits;
                return true;
            }
            if (!parse_named(p, o)) return false;
            if (o->kind != PTX_OPND_REG && o->kind != PTX_OPND_SREG) {
                diag_error(p->d, sign.at, 1, "'%c' can stand before a register only", sign.c);
                return false;
            }
            if ((sign.c == '!') != (o->sym->type == PTX_pred)) {
                diag_error(p->d, sign.at, 1,
                           sign.c == '!' ? "'!' needs a predicate"
                                         : "a predicate is negated with '!'");
                return false;
            }
            o->negated = true;
            return true;
        }
        case '(':
            if (p->in_call && p->nesting == 0) {
                o->kind = PTX_OPND_LIST;
                return parse_elements(p, o, ')');
            }
            return constant(p, o);
        default: break;
        }
        if (p->t.c == '+' || p->t.c == '~') return constant(p, o);
        break;
    case TOK_INT:
    case TOK_FLOAT:
    case TOK_HEX_F32:
    case TOK_HEX_F64:
    case TOK_BAD_NUMBER: return constant(p, o);
    default: break;
    }
    ptx_unexpected(p, "an operand");
    return false;
}

static bool parse_operand(struct ptx_parser *p, struct ptx_opnd *o)
{
    *o = (struct ptx_opnd){.at = p->t.at};
    if (!parse_primary(p, o)) return false;
    o->length = p->last_end - o->at;
    if (!ptx_at_punct(p, '|')) return true;
    /* p|q: two results */
    struct ptx_opnd *pair = arena_array(p->arena, struct ptx_opnd, 2);
    pair[0] = *o;
    ptx_advance(p);
    pair[1] = (struct ptx_opnd){.at = p->t.at};
    if (!parse_primary(p, &pair[1])) return false;
    pair[1].length = p->last_end - pair[1].at;
    *o = (struct ptx_opnd){.kind = PTX_OPND_PAIR, .at = pair[0].at, .count = 2, .elem = pair};
    o->length = p->last_end - o->at;
    return true;
}

/* ---- instructions ------------------------------------------------------------------------------ */

static bool parse_guard(struct ptx_parser *p, struct ptx_sym **guard, bool *negated)
{
    ptx_advance(p);
    if (ptx_take_punct(p, '!')) *negated = true;
    if (p->t.kind != TOK_WORD) {
        ptx_unexpected(p, "a predicate register");
        return false;
    }
    uint32_t at = p->t.at, n = p->t.length;
    struct ptx_sym *sym = ptx_lookup(p, ptx_intern(p, ptx_text(p, at), n));
    ptx_advance(p);
    if (!sym || (sym->kind != PTX_SYM_REG && sym->kind != PTX_SYM_SREG) || sym->type != PTX_pred) {
        if (!sym) {
            diag_error(p->d, at, n, "undeclared predicate '%.*s'", (int)n, ptx_text(p, at));
            ptx_note_range(p, ptx_intern(p, ptx_text(p, at), n));
        } else diag_error(p->d, at, n, "'%.*s' is no predicate register", (int)n, ptx_text(p, at));
        return false;
    }
    *guard = sym;
    return true;
}

/* The opcode with its modifiers; blanks may stand before each dot. */
static const char *parse_opcode(struct ptx_parser *p, struct ptx_token first, uint32_t *length)
{
    const char *text = ptx_text(p, first.at);
    *length = first.length;
    bool banked = p->m->version < 22 && *length > 6 && !memcmp(text + *length - 6, ".const", 6);
    if (banked &&
        ptx_take_punct(p, '[')) { /* ld.const[2] of PTX 2.1: the variable knows its bank */
        uint64_t bank;
        if (!ptx_const_uint(p, &bank, "a constant bank") || !ptx_expect(p, ']', "behind the bank"))
            return NULL;
    }
    enum { MOST_PARTS = 64 };
    for (unsigned parts = 0; p->t.kind == TOK_DOTS; parts++) {
        if (*length + p->t.length > PTX_MAX_NAME || parts == MOST_PARTS) {
            diag_error(p->d, first.at, 1, "opcode too long: limit %d bytes in %d parts",
                       PTX_MAX_NAME, MOST_PARTS);
            return NULL;
        }
        text = arena_printf(p->arena, "%.*s%.*s", (int)*length, text, (int)p->t.length,
                            ptx_text(p, p->t.at));
        *length += p->t.length;
        ptx_advance(p);
    }
    return text;
}

static void report_opcode(struct ptx_parser *p, const char *text, uint32_t length, uint32_t at)
{
    struct ptx_explanation x = ptx_isa_explain(p->isa, text, length);
    diag_error(p->d, at + x.from, x.length, "%s", x.message);
    if (x.note) diag_note(p->d, at + x.from, x.length, "%s", x.note);
}

/* `word` is the opcode; the current token stands behind it. */
static bool parse_instruction(struct ptx_parser *p, struct ptx_token word, struct ptx_sym *guard,
                              bool negated)
{
    uint32_t length;
    const char *text = parse_opcode(p, word, &length);
    if (!text) return false;
    const struct ptx_op *ops = ptx_isa_find(p->isa, text, length);
    if (!ops || ops->gate) {
        report_opcode(p, text, length, word.at);
        return false;
    }
    size_t base = p->stack_count;
    p->in_call = (ops->form->effects & PTX_FLOW) && length >= 4 && memcmp(text, "call", 4) == 0;
    p->nesting = 0;
    bool ok = true;
    if (!ptx_at_punct(p, ';')) {
        do {
            struct ptx_opnd o;
            if (!(ok = parse_operand(p, &o))) break;
            if (p->stack_count - base >= 64) {
                diag_error(p->d, o.at, o.length, "too many operands");
                ok = false;
                break;
            }
            p->stack = arena_grow(p->arena, p->stack, p->stack_count, &p->stack_cap,
                                  p->stack_count + 1, sizeof *p->stack);
            p->stack[p->stack_count++] = o;
        } while (ptx_take_punct(p, ','));
    }
    size_t count = p->stack_count - base;
    p->stack_count = base;
    p->nesting = 0;
    if (!ok) return false;
    if (!ptx_at_punct(p, ';')) {
        ptx_unexpected(p, "',' or ';'");
        return false;
    }
    ptx_advance(p);
    struct ptx_inst *inst = arena_alloc(p->arena, sizeof *inst + count * sizeof *inst->opnds);
    inst->opnds = (struct ptx_opnd *)(inst + 1);
    if (count) memcpy(inst->opnds, p->stack + base, count * sizeof *inst->opnds);
    inst->count = (uint16_t)count;
    inst->at = word.at;
    inst->guard = guard;
    inst->guard_not = negated;
    add_stmt(p, PTX_STMT_INST, word.at)->inst = inst;
    p->body->inst_count++;
    ptx_check_inst(p, inst, ops);
    return true;
}

/* ---- labels and what they can name ------------------------------------------------------------- */

/* label: .branchtargets A, B;    label: .calltargets f, g; */
static bool parse_targets(struct ptx_parser *p, struct ptx_name *name, uint32_t at, bool calls)
{
    struct ptx_targets *t = arena_alloc(p->arena, sizeof *t);
    t->calls = calls;
    if (p->m->version < (calls ? 21 : 51) || p->m->target.sm < (calls ? 20 : 30))
        diag_error(p->d, at, name->length, "%s",
                   calls ? ".calltargets needs PTX ISA version 2.1 and target sm_20"
                         : ".branchtargets needs PTX ISA version 5.1 and target sm_30");
    size_t base = p->stack_count;
    do {
        if (p->t.kind != TOK_WORD) {
            ptx_unexpected(p, calls ? "a function's name" : "a label");
            p->stack_count = base;
            return false;
        }
        if (p->stack_count - base >= PTX_MAX_TARGETS) {
            diag_error(p->d, p->t.at, p->t.length, "too many targets: limit %d", PTX_MAX_TARGETS);
            p->stack_count = base;
            return false;
        }
        struct ptx_opnd o = {.kind = PTX_OPND_LABEL, .at = p->t.at, .length = p->t.length};
        o.name = ptx_intern(p, ptx_text(p, p->t.at), p->t.length);
        struct ptx_sym *sym = ptx_lookup(p, o.name);
        if (calls) {
            if (!sym || sym->kind != PTX_SYM_FUNC) {
                diag_error(p->d, o.at, o.length, "'%.*s' is no function that was declared",
                           (int)o.length, o.name->text);
                p->stack_count = base;
                return false;
            }
            o.kind = PTX_OPND_SYM;
            o.sym = sym;
            o.offset = 0;
        } else if (sym && sym->kind == PTX_SYM_LABEL) {
            o.sym = sym;
        }
        p->stack = arena_grow(p->arena, p->stack, p->stack_count, &p->stack_cap, p->stack_count + 1,
                              sizeof *p->stack);
        p->stack[p->stack_count++] = o;
        ptx_advance(p);
        if (!calls && ptx_at_punct(p, '<')) { /* N<3> is N0, N1, N2 */
            uint64_t n;
            ptx_advance(p);
            struct ptx_value v = {0};
            bool literal = p->t.kind == TOK_INT && ptx_const_literal(p, &v);
            n = v.bits;
            if (!literal || !ptx_expect(p, '>', "behind the count")) {
                p->stack_count = base;
                return false;
            }
            p->stack_count--;
            for (uint64_t i = 0; i < n && i < PTX_MAX_OPERANDS; i++) {
                const char *text = arena_printf(p->arena, "%.*s%llu", (int)o.length, o.name->text,
                                                (unsigned long long)i);
                struct ptx_opnd member = o;
                member.name = ptx_intern(p, text, (uint32_t)strlen(text));
                member.sym = NULL;
                p->stack = arena_grow(p->arena, p->stack, p->stack_count, &p->stack_cap,
                                      p->stack_count + 1, sizeof *p->stack);
                p->stack[p->stack_count++] = member;
            }
        }
    } while (ptx_take_punct(p, ','));
    t->count = (uint32_t)(p->stack_count - base);
    t->labels = arena_array(p->arena, struct ptx_opnd, t->count);
    memcpy(t->labels, p->stack + base, t->count * sizeof *t->labels);
    p->stack_count = base;
    for (uint32_t i = 0; i < t->count; i++)
        if (!calls && !t->labels[i].sym) ptx_pend(p, &t->labels[i], PTX_SYM_LABEL);
    struct ptx_sym *sym = ptx_sym_new(p, PTX_SYM_TARGETS, name, at);
    sym->targets = t;
    add_stmt(p, PTX_STMT_TARGETS, at)->sym = sym;
    return ptx_expect(p, ';', "behind the targets") && ptx_declare(p, sym);
}

/* label: .callprototype (rets) _ (params) directives; */
static bool parse_prototype(struct ptx_parser *p, struct ptx_name *name, uint32_t at)
{
    struct ptx_proto *q = arena_alloc(p->arena, sizeof *q);
    if (p->m->version < 21 || p->m->target.sm < 20)
        diag_error(p->d, at, name->length,
                   ".callprototype needs PTX ISA version 2.1 and target sm_20");
    if (ptx_at_punct(p, '(') && !ptx_parse_param_list(p, false, &q->rets, &q->ret_count))
        return false;
    if (p->t.kind != TOK_WORD || p->t.length != 1 || p->t.c != '_') {
        ptx_unexpected(p, "'_' in place of the function's name");
        return false;
    }
    ptx_advance(p);
    if (ptx_at_punct(p, '(') && !ptx_parse_param_list(p, false, &q->params, &q->param_count))
        return false;
    struct ptx_directive **tail = &q->directives;
    while (p->t.kind == TOK_DOTS) {
        struct ptx_directive *d = ptx_parse_directive(p);
        if (!d) return false;
        if (strcmp(d->word, "noreturn") == 0) q->noreturn = true;
        *tail = d;
        tail = &d->next;
    }
    if (q->noreturn && q->ret_count) {
        diag_error(p->d, at, name->length, "a .noreturn function returns no value");
        return false;
    }
    if (!ptx_check_proto(p, q) || !ptx_check_small(p, q)) return false;
    struct ptx_sym *sym = ptx_sym_new(p, PTX_SYM_PROTO, name, at);
    sym->proto = q;
    add_stmt(p, PTX_STMT_PROTO, at)->sym = sym;
    ptx_take_punct(p, ';'); /* which ptxas does not ask for */
    return ptx_declare(p, sym);
}

static bool parse_label(struct ptx_parser *p, struct ptx_token word)
{
    struct ptx_name *name = ptx_intern(p, ptx_text(p, word.at), word.length);
    if (!ptx_name_allowed(name->text, name->length)) {
        diag_error(p->d, word.at, word.length, "this cannot be a label's name");
        return false;
    }
    if (ptx_take_dot(p, "branchtargets")) return parse_targets(p, name, word.at, false);
    if (ptx_take_dot(p, "calltargets")) return parse_targets(p, name, word.at, true);
    if (ptx_take_dot(p, "callprototype")) return parse_prototype(p, name, word.at);
    struct ptx_sym *sym = ptx_sym_new(p, PTX_SYM_LABEL, name, word.at);
    sym->id = (uint32_t)p->body->count;
    add_stmt(p, PTX_STMT_LABEL, word.at)->sym = sym;
    ptx_declare(p, sym);
    return true;
}

/* ---- .loc -------------------------------------------------------------------------------------- */

static bool loc_number(struct ptx_parser *p, uint32_t *v)
{
    if (p->t.kind != TOK_INT) {
        ptx_unexpected(p, "a number");
        return false;
    }
    struct ptx_value value;
    uint32_t at = p->t.at;
    if (!ptx_const_literal(p, &value)) return false;
    *v = (uint32_t)value.bits;
    if (value.bits <= UINT32_MAX) return true;
    diag_error(p->d, at, p->last_end - at, "number too large: limit %u", UINT32_MAX);
    return false;
}

static bool take_word(struct ptx_parser *p, const char *word)
{
    if (p->t.kind != TOK_WORD || p->t.length != strlen(word) ||
        memcmp(ptx_text(p, p->t.at), word, p->t.length) != 0) {
        char text[64];
        snprintf(text, sizeof text, "'%s'", word);
        ptx_unexpected(p, text);
        return false;
    }
    ptx_advance(p);
    return true;
}

/* .loc file line column [, function_name label[+offset], inlined_at file line column] */
static bool parse_loc(struct ptx_parser *p, uint32_t at)
{
    struct ptx_loc *l = arena_alloc(p->arena, sizeof *l);
    if (!loc_number(p, &l->file) || !loc_number(p, &l->line) || !loc_number(p, &l->column))
        return false;
    if (ptx_take_punct(p, ',')) {
        if (p->m->version < 70) diag_error(p->d, at, 4, "inlined_at needs PTX ISA version 7.0");
        if (!take_word(p, "function_name")) return false;
        if (p->t.kind != TOK_WORD) {
            ptx_unexpected(p, "a label of .debug_str");
            return false;
        }
        l->function = ptx_intern(p, ptx_text(p, p->t.at), p->t.length);
        ptx_advance(p);
        if (ptx_take_punct(p, '+') && !ptx_const_uint(p, &l->function_offset, "an offset"))
            return false;
        l->inlined = true;
        if (!ptx_expect(p, ',', "before inlined_at") || !take_word(p, "inlined_at")) return false;
        uint32_t in_at = p->t.at;
        if (!loc_number(p, &l->in_file) || !loc_number(p, &l->in_line) ||
            !loc_number(p, &l->in_column))
            return false;
        l->in = ptx_noted(p, ".loc", l->in_file, l->in_line, l->in_column);
        if (!l->in) {
            diag_error(p->d, in_at, p->last_end - in_at,
                       "no .loc before this one names the place given by inlined_at");
            return false;
        }
    }
    ptx_note(p, ".loc", l->file, l->line, l->column, l);
    add_stmt(p, PTX_STMT_LOC, at)->loc = l;
    return true;
}

/* ---- statements -------------------------------------------------------------------------------- */

static bool parse_directive(struct ptx_parser *p)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } spaces[] = {{"shared", PTX_SPACE_SHARED},
                  {"param", PTX_SPACE_PARAM},
                  {"local", PTX_SPACE_LOCAL},
                  {"global", PTX_SPACE_GLOBAL},
                  {"const", PTX_SPACE_CONST}};
    uint32_t at = p->t.at;
    p->early = NULL;
    if (ptx_at_dot(p, "align") && !ptx_parse_early_spec(p)) return false;
    if (ptx_take_dot(p, "reg")) return ptx_parse_registers(p, at);
    if (ptx_take_dot(p, "loc")) return parse_loc(p, at);
    if (ptx_take_dot(p, "target")) { /* ptxas passes over one here */
        if (p->t.kind == TOK_WORD) ptx_advance(p);
        return true;
    }
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (ptx_take_dot(p, spaces[i].word))
            return ptx_parse_variable(p, spaces[i].space, PTX_LINK_NONE, at);
    if (ptx_take_dot(p, "pragma")) {
        struct ptx_directive *d;
        if (!ptx_parse_pragma(p, &d)) return false;
        for (; d; d = d->next) add_stmt(p, PTX_STMT_PRAGMA, at)->directive = d;
        return true;
    }
    const char *text;
    uint32_t n = ptx_dot_word(p, &text);
    diag_error(p->d, at, n + 1, "'.%.*s' cannot stand in a function", n < 60 ? (int)n : 60, text);
    return false;
}

static bool parse_statement(struct ptx_parser *p)
{
    uint32_t at = p->t.at;
    struct ptx_sym *guard = NULL;
    bool negated = false;
    switch (p->t.kind) {
    case TOK_DOTS: return parse_directive(p);
    case TOK_PUNCT:
        if (p->t.c == '{') {
            if (!ptx_scope_open(p, at)) {
                p->gave_up = true;
                return false;
            }
            add_stmt(p, PTX_STMT_OPEN, at);
            ptx_advance(p);
            return true;
        }
        if (p->t.c == '@') {
            if (!parse_guard(p, &guard, &negated)) return false;
            if (p->t.kind == TOK_WORD) break;
            ptx_unexpected(p, "an instruction behind the predicate");
            return false;
        }
        ptx_unexpected(p, "a statement");
        return false;
    case TOK_WORD: break;
    default: ptx_unexpected(p, "a statement"); return false;
    }
    struct ptx_token word = p->t;
    ptx_advance(p);
    if (ptx_at_punct(p, ':') && !guard) {
        ptx_advance(p);
        return parse_label(p, word);
    }
    return parse_instruction(p, word, guard, negated);
}

static void declare_params(struct ptx_parser *p, struct ptx_var **list, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct ptx_sym *sym = list[i]->sym;
        if (list[i]->in_reg) sym->kind = PTX_SYM_REG;
        ptx_declare(p, sym);
    }
}

void ptx_parse_body(struct ptx_parser *p, struct ptx_func *f)
{
    struct ptx_body *b = arena_alloc(p->arena, sizeof *b);
    f->body = b;
    p->func = f;
    p->body = b;
    ptx_lexer_seek(p->lex, f->body_at + 1);
    ptx_advance(p);
    ptx_scope_open(p, f->body_at);
    declare_params(p, f->proto.rets, f->proto.ret_count);
    declare_params(p, f->proto.params, f->proto.param_count);
    unsigned outermost = p->depth;
    while (p->t.kind != TOK_END && !(ptx_at_punct(p, '}') && p->depth == outermost)) {
        if (ptx_at_punct(p, '}')) {
            add_stmt(p, PTX_STMT_CLOSE, p->t.at);
            ptx_scope_close(p);
            ptx_advance(p);
        } else {
            uint32_t at = p->t.at;
            if (!parse_statement(p)) {
                ptx_resync(p);
                if (p->t.at == at && p->t.kind != TOK_END && !ptx_at_punct(p, '}')) ptx_advance(p);
            }
        }
    }
    if (p->gave_up) /* what is pending would be reported as undeclared */
        for (unsigned i = 0; i <= p->depth; i++) p->scopes[i].pending = NULL;
    while (p->depth >= outermost) ptx_scope_close(p);
    p->func = NULL;
    p->body = NULL;
}
