/* Constant expressions (PTX ISA, "Constant Expressions"): C's operators on 64-bit integers, signed
 * unless a literal is too large for a signed one or has a U; floating point takes only a sign. */
#include "base/decimal.h"
#include "base/diag.h"
#include "ptx/parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Like ptxas, a value wraps at 64 bits, and is an overflow only if a digit follows a value with its
 * top bit set: 2^64 passes as 0, 10^20 does not. */
static uint64_t digits(const char *text, uint32_t n, unsigned base, bool *overflow)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < n; i++) {
        char c = text[i];
        unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
        if (v >> 63) *overflow = true;
        v = v * base + digit;
    }
    return v;
}

static bool int_literal(struct ptx_parser *p, struct ptx_value *v)
{
    const char *text = ptx_text(p, p->t.at);
    uint32_t n = p->t.length;
    bool overflow = false;
    *v = (struct ptx_value){.kind = PTX_OPND_INT};
    if (text[n - 1] == 'U') {
        v->is_unsigned = true;
        n--;
    }
    if (n > 2 && (text[1] | 32) == 'x') v->bits = digits(text + 2, n - 2, 16, &overflow);
    else if (n > 2 && (text[1] | 32) == 'b') v->bits = digits(text + 2, n - 2, 2, &overflow);
    else if (n > 1 && text[0] == '0') v->bits = digits(text + 1, n - 1, 8, &overflow);
    else v->bits = digits(text, n, 10, &overflow);
    if (v->bits > INT64_MAX) v->is_unsigned = true;
    if (overflow) diag_error(p->d, p->t.at, p->t.length, "integer constant does not fit 64 bits");
    ptx_advance(p);
    return !overflow;
}

static bool float_literal(struct ptx_parser *p, struct ptx_value *v)
{
    const char *text = ptx_text(p, p->t.at);
    bool overflow = false;
    *v = (struct ptx_value){.is_float = true};
    if (p->t.kind == TOK_HEX_F32) {
        v->kind = PTX_OPND_F32;
        v->bits = digits(text + 2, 8, 16, &overflow);
    } else if (p->t.kind == TOK_HEX_F64) {
        v->kind = PTX_OPND_F64;
        v->bits = digits(text + 2, 16, 16, &overflow);
    } else {
        v->kind = PTX_OPND_FLOAT;
        char copy[512];
        if (p->t.length >= sizeof copy) {
            diag_error(p->d, p->t.at, p->t.length, "number too long: limit %zu characters",
                       sizeof copy - 1);
            ptx_advance(p);
            return false;
        }
        memcpy(copy, text, p->t.length);
        copy[p->t.length] = '\0';
        errno = 0;
        double x = decimal_read(copy, NULL);
        if (errno == ERANGE) {
            diag_error(p->d, p->t.at, p->t.length, "constant out of the range of .f64");
            ptx_advance(p);
            return false;
        }
        memcpy(&v->bits, &x, sizeof x);
    }
    ptx_advance(p);
    return true;
}

static bool ternary(struct ptx_parser *p, struct ptx_value *v);

static bool need_int(struct ptx_parser *p, const struct ptx_value *v, uint32_t at)
{
    if (!v->is_float) return true;
    diag_error(p->d, at, p->last_end - at, "expected an integer constant");
    return false;
}

static bool primary(struct ptx_parser *p, struct ptx_value *v);

/* What recurses counts its depth. A constant that is too deep ends the reading: what comes behind it
 * is more of the same. */
static bool nested(struct ptx_parser *p, struct ptx_value *v,
                   bool (*read)(struct ptx_parser *p, struct ptx_value *v))
{
    if (++p->nesting > PTX_MAX_NESTING) {
        if (!p->gave_up)
            diag_error(p->d, p->t.at, 1, "expression nests too deeply: limit %d", PTX_MAX_NESTING);
        p->gave_up = true;
        p->nesting--;
        return false;
    }
    bool ok = read(p, v);
    p->nesting--;
    return ok;
}

static bool primary(struct ptx_parser *p, struct ptx_value *v)
{
    switch (p->t.kind) {
    case TOK_INT: return int_literal(p, v);
    case TOK_FLOAT:
    case TOK_HEX_F32:
    case TOK_HEX_F64: return float_literal(p, v);
    case TOK_BAD_NUMBER: ptx_advance(p); return false;
    case TOK_WORD:
        if (p->t.length == 7 && memcmp(ptx_text(p, p->t.at), "WARP_SZ", 7) == 0) {
            *v = (struct ptx_value){.kind = PTX_OPND_INT, .bits = 32};
            ptx_advance(p);
            return true;
        }
        break;
    case TOK_PUNCT:
        if (p->t.c == '(') {
            ptx_advance(p);
            if (ptx_at_dot(p, "s64") || ptx_at_dot(p, "u64")) { /* a cast */
                bool to_unsigned = ptx_at_dot(p, "u64") != 0;
                ptx_drop_dot(p);
                uint32_t at = p->t.at;
                if (!ptx_expect(p, ')', "behind the type") || !nested(p, v, primary) ||
                    !need_int(p, v, at))
                    return false;
                v->is_unsigned = to_unsigned;
                return true;
            }
            return ternary(p, v) && ptx_expect(p, ')', "at the end of the expression");
        }
        if (strchr("-+!~", p->t.c)) {
            char op = p->t.c;
            ptx_advance(p);
            uint32_t at = p->t.at;
            if (!nested(p, v, primary)) return false;
            if (v->is_float) {
                if (v->kind == PTX_OPND_F32) {
                    diag_error(p->d, at, p->last_end - at, "a 0f constant takes no sign");
                    return false;
                }
                if (op == '-') v->bits ^= UINT64_C(1) << 63;
                else if (op != '+') return need_int(p, v, at);
            } else if (op == '-') {
                v->bits = -v->bits;
            } else if (op == '!') {
                v->bits = !v->bits;
                v->is_unsigned = false;
            } else if (op == '~') {
                v->bits = ~v->bits;
            }
            return true;
        }
        break;
    default: break;
    }
    ptx_unexpected(p, "a constant");
    return false;
}

enum { LOWEST = 1, HIGHEST = 10 };

/* The binary operator at the current token as one character, and its precedence; 0: none. */
static char binary_at(const struct ptx_parser *p, int *level)
{
    static const struct {
        const char *text;
        char as;
        int level;
    } ops[] = {{"*", '*', 10}, {"/", '/', 10}, {"%", '%', 10}, {"+", '+', 9}, {"-", '-', 9},
               {"<<", 'l', 8}, {">>", 'r', 8}, {"<", '<', 7},  {">", '>', 7}, {"<=", 'm', 7},
               {">=", 'n', 7}, {"==", 'e', 6}, {"!=", 'u', 6}, {"&", '&', 5}, {"^", '^', 4},
               {"|", '|', 3},  {"&&", 'a', 2}, {"||", 'o', 1}};
    if (p->t.kind != TOK_OPERATOR && (p->t.kind != TOK_PUNCT || !strchr("*/%+-<>&^|", p->t.c)))
        return 0;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strlen(ops[i].text) == p->t.length &&
            memcmp(ops[i].text, ptx_text(p, p->t.at), p->t.length) == 0) {
            *level = ops[i].level;
            return ops[i].as;
        }
    return 0;
}

static double as_double(const struct ptx_value *v)
{
    double x;
    memcpy(&x, &v->bits, sizeof x);
    return x;
}

static bool apply_float(struct ptx_parser *p, char op, struct ptx_value *a, struct ptx_value b,
                        uint32_t at)
{
    double x = as_double(a), y = as_double(&b), r;
    if (a->kind == PTX_OPND_F32 || b.kind == PTX_OPND_F32) {
        diag_error(p->d, at, 1, "no operators take a 0f constant");
        return false;
    }
    bool truth;
    switch (op) {
    case '+': r = x + y; break;
    case '-': r = x - y; break;
    case '*': r = x * y; break;
    case '/':
        if (y == 0) {
            diag_error(p->d, at, 1, "division by zero in a constant");
            return false;
        }
        r = x / y;
        break;
    default:
        switch (op) {
        case '<': truth = x < y; break;
        case '>': truth = x > y; break;
        case 'm': truth = x <= y; break;
        case 'n': truth = x >= y; break;
        case 'e': truth = x == y; break;
        case 'u': truth = x != y; break;
        default: diag_error(p->d, at, 1, "this operator takes integers"); return false;
        }
        *a = (struct ptx_value){.kind = PTX_OPND_INT, .bits = truth};
        return true;
    }
    *a = (struct ptx_value){.kind = PTX_OPND_FLOAT, .is_float = true};
    memcpy(&a->bits, &r, sizeof r);
    return true;
}

static bool apply(struct ptx_parser *p, char op, struct ptx_value *a, struct ptx_value b,
                  uint32_t at)
{
    if (a->is_float != b.is_float) {
        diag_error(p->d, at, 1, "integer and floating point mixed in a constant");
        return false;
    }
    if (a->is_float) return apply_float(p, op, a, b, at);
    bool u = a->is_unsigned || b.is_unsigned;
    uint64_t x = a->bits, y = b.bits;
    int64_t s = (int64_t)x, t = (int64_t)y;
    switch (op) {
    case '*': x *= y; break;
    case '/':
    case '%':
        if (y == 0) {
            diag_error(p->d, at, 1, "division by zero in a constant");
            return false;
        }
        if (u) x = op == '/' ? x / y : x % y;
        else if (t == -1) x = op == '/' ? -x : 0; /* INT64_MIN / -1 wraps */
        else x = (uint64_t)(op == '/' ? s / t : s % t);
        break;
    case '+': x += y; break;
    case '-': x -= y; break;
    case 'l':
        x = y < 64 ? x << y : 0;
        u = a->is_unsigned;
        break;
    case 'r':
        u = a->is_unsigned;
        if (u) x = y < 64 ? x >> y : 0;
        else x = (uint64_t)(s >> (y < 64 ? y : 63));
        break;
    case '<': x = u ? x < y : s < t; break;
    case '>': x = u ? x > y : s > t; break;
    case 'm': x = u ? x <= y : s <= t; break;
    case 'n': x = u ? x >= y : s >= t; break;
    case 'e': x = x == y; break;
    case 'u': x = x != y; break;
    case '&': x &= y; break;
    case '^': x ^= y; break;
    case '|': x |= y; break;
    case 'a': x = x && y; break;
    default: x = x || y; break;
    }
    a->bits = x;
    a->is_unsigned = strchr("<>mneuao", op) ? false : u;
    return true;
}

static bool binary(struct ptx_parser *p, struct ptx_value *v, int lowest)
{
    if (!primary(p, v)) return false;
    int level;
    for (char op; (op = binary_at(p, &level)) && level >= lowest;) {
        uint32_t op_at = p->t.at;
        ptx_advance(p);
        struct ptx_value right;
        if (!binary(p, &right, level + 1)) return false;
        if (!apply(p, op, v, right, op_at)) return false;
    }
    return true;
}

static bool conditional(struct ptx_parser *p, struct ptx_value *v)
{
    uint32_t at = p->t.at;
    bool ok = binary(p, v, LOWEST);
    if (ok && ptx_at_punct(p, '?')) {
        struct ptx_value a, b;
        ok = need_int(p, v, at);
        ptx_advance(p);
        ok = ok && ternary(p, &a) && ptx_expect(p, ':', "in the conditional expression") &&
             ternary(p, &b) && need_int(p, &a, at) && need_int(p, &b, at);
        if (ok) {
            bool u = a.is_unsigned || b.is_unsigned;
            *v = v->bits ? a : b;
            v->is_unsigned = u;
        }
    }
    return ok;
}

static bool ternary(struct ptx_parser *p, struct ptx_value *v)
{
    return nested(p, v, conditional);
}

bool ptx_const_literal(struct ptx_parser *p, struct ptx_value *v)
{
    return p->t.kind == TOK_INT ? int_literal(p, v) : float_literal(p, v);
}

bool ptx_const_expr(struct ptx_parser *p, struct ptx_value *v)
{
    return ternary(p, v);
}

bool ptx_const_uint(struct ptx_parser *p, uint64_t *v, const char *what)
{
    struct ptx_value value;
    uint32_t at = p->t.at;
    if (!ptx_const_expr(p, &value)) return false;
    if (value.is_float || (!value.is_unsigned && (int64_t)value.bits < 0)) {
        diag_error(p->d, at, p->last_end - at, "%s must be a non-negative integer", what);
        return false;
    }
    *v = value.bits;
    return true;
}
