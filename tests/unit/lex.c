/* Text to tokens: every kind, where it begins and ends, and what no token fits. */
#include "ptx/lex.h"
#include "base/diag.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Tokens as text, one letter of PTX_TOKENS and the bytes of each: "w<add.u32> p<;>"; END is "z<>". */
static char *spell(const char *text, size_t length)
{
    static const char marks[] = {
#define X(name, mark, what) mark,
        PTX_TOKENS(X)
#undef X
    };
    struct source s = {"lex", text, (uint32_t)length};
    struct ptx_lexer *l = ptx_lexer_new(&s, 0);
    char *out = calloc(1, 8 * length + 64), *p = out;
    struct ptx_token t;
    uint32_t last = 0;
    do {
        enum ptx_token_kind next = ptx_lex_peek(l);
        t = ptx_lex(l);
        cr_expect(t.kind == next, "peek says %s, lex says %s", ptx_token_kind_name(next),
                  ptx_token_kind_name(t.kind));
        cr_assert(t.at >= last && t.at + t.length <= length,
                  "token at %u of length %u in %zu bytes", t.at, t.length, length);
        cr_expect(t.c == (t.at < length ? text[t.at] : 0));
        cr_assert(t.length || t.kind == TOK_END, "an empty token at %u of '%s'", t.at, text);
        last = t.at + t.length;
        if (p > out) *p++ = ' ';
        *p++ = marks[t.kind];
        *p++ = '<';
        memcpy(p, text + t.at, t.length);
        p += t.length;
        *p++ = '>';
    } while (t.kind != TOK_END);
    ptx_lexer_free(l);
    return out;
}

static const struct {
    const char *text, *want; /* the z<> at the end is left out */
} cases[] = {
    {"", ""},
    {" \t\r\n\f ", ""},

    /* words: names with their dots and scopes */
    {"add", "w<add>"},
    {"add.u32", "w<add.u32>"},
    {"ld.global.L1::evict_last.v4.f32", "w<ld.global.L1::evict_last.v4.f32>"},
    {"a.b::c::d.e", "w<a.b::c::d.e>"},
    {"%r1 $L_1 _x %tid.x", "w<%r1> w<$L_1> w<_x> w<%tid.x>"},
    {"_", "w<_>"},
    {"__a$b%c", "w<__a$b> w<%c>"},
    {"a$", "w<a$>"},
    {"$", "x<$>"},
    {"%", "p<%>"},
    {"%%", "p<%> p<%>"},
    {"%1", "w<%1>"},
    {"a .b", "w<a> d<.b>"},
    {"a. b", "w<a> p<.> w<b>"},
    {"a..b", "w<a> p<.> d<.b>"},
    {"a::b", "w<a> p<:> p<:> w<b>"},
    {"a.b:c", "w<a.b> p<:> w<c>"},
    {"a.b::", "w<a.b> p<:> p<:>"},
    {"a.1", "w<a.1>"},
    {"_.x", "w<_.x>"},

    /* directives */
    {".reg", "d<.reg>"},
    {".reg.b32", "d<.reg.b32>"},
    {".reg .b32", "d<.reg> d<.b32>"},
    {".L1::evict_last", "d<.L1::evict_last>"},
    {".a.b::c.d", "d<.a.b::c.d>"},
    {".", "p<.>"},
    {"..", "p<.> p<.>"},
    {".a.", "d<.a> p<.>"},
    {".a::", "d<.a> p<:> p<:>"},
    {".v2.f32", "d<.v2.f32>"},
    {".$a", "p<.> w<$a>"},

    /* integers */
    {"0", "i<0>"},
    {"10", "i<10>"},
    {"0U 1U", "i<0U> i<1U>"},
    {"017", "i<017>"},
    {"0x1f 0XAbU", "i<0x1f> i<0XAbU>"},
    {"0b101 0B1U", "i<0b101> i<0B1U>"},
    {"1-2", "i<1> p<-> i<2>"},
    {"%r<100>", "w<%r> p<<> i<100> p<>>"},

    /* floating point */
    {"1.5", "f<1.5>"},
    {"1.", "f<1.>"},
    {".5", "f<.5>"},
    {"1e10 1E+3 1e-3 1.5e2", "f<1e10> f<1E+3> f<1e-3> f<1.5e2>"},
    {"0.0", "f<0.0>"},
    {"7.0", "f<7.0>"},
    {".5e-3", "f<.5e-3>"},
    {"0f3f800000 0Fabcdef01", "s<0f3f800000> s<0Fabcdef01>"},
    {"0d3ff0000000000000 0DABCDEF0123456789", "q<0d3ff0000000000000> q<0DABCDEF0123456789>"},

    /* malformed numbers, whole */
    {"08", "n<08>"},
    {"0x", "n<0x>"},
    {"0xg", "n<0xg>"},
    {"0b2", "n<0b2>"},
    {"0b", "n<0b>"},
    {"12a", "n<12a>"},
    {"1u", "n<1u>"},
    {"1UU", "n<1UU>"},
    {"1$", "n<1$>"},
    {"0f3f80000", "n<0f3f80000>"},
    {"0f3f8000000", "n<0f3f8000000>"},
    {"0d3ff000000000000", "n<0d3ff000000000000>"},
    {"1.5.2", "n<1.5.2>"},
    {"1.5x", "n<1.5x>"},
    {"0x1.5", "n<0x1.5>"},
    {"1e", "n<1e>"},
    {"1e+", "n<1e> p<+>"},

    /* comments */
    {"a//b\nc", "w<a> w<c>"},
    {"a//b", "w<a>"},
    {"a/b", "w<a> p</> w<b>"},
    {"a/*b*/c", "w<a> w<c>"},
    {"/**/a", "w<a>"},
    {"/***/a", "w<a>"},
    {"/****/a", "w<a>"},
    {"/* * / ** */a", "w<a>"},
    {"/*/a*/b", "w<b>"},
    {"/* /* */ a", "w<a>"},
    {"/* // */ a", "w<a>"},
    {"// /* \n a", "w<a>"},
    {"a /* \n\n */ b", "w<a> w<b>"},
    {"a*/b", "w<a> p<*> p</> w<b>"},
    {"a/* b", "w<a> c</*> w<b>"},
    {"/*", "c</*>"},
    {"/**", "c</*> p<*>"},
    {"/*/", "c</*> p</>"},

    /* strings */
    {"\"a b\"", "t<\"a b\">"},
    {"\"\"", "t<\"\">"},
    {"\"//\" \"/*\"", "t<\"//\"> t<\"/*\">"},
    {"\"\\\"", "t<\"\\\">"}, /* no escapes */
    {"\"a\nb\"", "t<\"a\nb\">"},
    {"\"abc", "u<\"abc>"},
    {"a\"", "w<a> u<\">"},

    /* line directives of a preprocessor are blanks */
    {"# 1 \"x.cu\"\na", "w<a>"},
    {"#line 3 \"x.cu\" 1 2\na", "w<a>"},
    {"# line 3 \"x.cu\"\r\na", "w<a>"},
    {"# 1 \"x.cu\"", ""},
    {"# 1 \"x.cu\" b\na", "x<#> i<1> t<\"x.cu\"> w<b> w<a>"},
    {"# 1\na", "x<#> i<1> w<a>"},
    {"#", "x<#>"},

    /* operators and punctuation */
    {"<<>><=>===!=&&||", "o<<<> o<>>> o<<=> o<>=> o<==> o<!=> o<&&> o<||>"},
    {"< > = ! & |", "p<<> p<>> p<=> p<!> p<&> p<|>"},
    {"[]{}(),;:@!|+-*/%?~&^< >.",
     "p<[> p<]> p<{> p<}> p<(> p<)> p<,> p<;> p<:> p<@> p<!> p<|> p<+> "
     "p<-> p<*> p</> p<%> p<?> p<~> p<&> p<^> p<<> p<>> p<.>"},
    {"<<<", "o<<<> p<<>"},
    {"===", "o<==> p<=>"},
    {"@%p1 @!p", "p<@> w<%p1> p<@> p<!> w<p>"},
    {"a|b", "w<a> p<|> w<b>"},

    /* bytes that PTX does not use */
    {"a\x01"
     "b",
     "w<a> x<\x01> w<b>"},
    {"\xc3\xa9", "x<\xc3> x<\xa9>"},
    {"`\\'", "x<`> x<\\> x<'>"},
    {"a\vb", "w<a> x<\v> w<b>"},
};

Test(lex, tokens)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *got = spell(cases[i].text, strlen(cases[i].text));
        size_t n = strlen(got) - strlen("z<>");
        cr_expect(strcmp(got + n, "z<>") == 0);
        got[n > 0 ? n - 1 : n] = '\0';
        cr_expect(strcmp(got, cases[i].want) == 0, "'%s': %s, not %s", cases[i].text, got,
                  cases[i].want);
        free(got);
    }
}

/* The text need not end in a NUL: here each case stands in memory of exactly its size. */
Test(lex, reads_no_further_than_the_text)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t n = 0; n <= strlen(cases[i].text); n++) {
            char *text = malloc(n ? n : 1);
            memcpy(text, cases[i].text, n);
            free(spell(text, n));
            free(text);
        }
}

Test(lex, a_nul_is_a_byte_like_others)
{
    char *got = spell("a\0b", 3);
    cr_expect(memcmp(got, "w<a> x<\0> w<b> z<>", 18) == 0);
    free(got);
}

Test(lex, end_comes_again)
{
    struct source s = {"lex", "a", 1};
    struct ptx_lexer *l = ptx_lexer_new(&s, 0);
    ptx_lex(l);
    for (int i = 0; i < 3; i++) {
        struct ptx_token t = ptx_lex(l);
        cr_expect(t.kind == TOK_END && t.at == 1 && t.length == 0 && t.c == 0);
    }
    ptx_lexer_free(l);
}

Test(lex, seeks)
{
    struct source s = {"lex", "abc def", 7};
    struct ptx_lexer *l = ptx_lexer_new(&s, 2);
    cr_expect(ptx_lex(l).at == 2);
    ptx_lexer_seek(l, 0);
    cr_expect(ptx_lex(l).length == 3);
    ptx_lexer_free(l);
}

/* However many blanks, comments and words follow each other: one match must not run out of steps. */
Test(lex, long_runs)
{
    static const char *const units[] = {"//\n", "/**/", "# 1 \"\"\n", " ", ".a"};
    enum { COUNT = 15000000 };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i]), count = i == 3 ? 10 : COUNT;
        char *text = malloc(count * n + 1);
        for (size_t k = 0; k < count; k++) memcpy(text + k * n, units[i], n);
        text[count * n] = ';';
        struct source s = {"lex", text, (uint32_t)(count * n + 1)};
        struct ptx_lexer *l = ptx_lexer_new(&s, 0);
        struct ptx_token t = ptx_lex(l);
        if (*units[i] == '.')
            cr_expect(t.kind == TOK_DOTS && t.length == count * n, "a word of %zu parts: %s", count,
                      ptx_token_kind_name(t.kind));
        else
            cr_expect(t.kind == TOK_PUNCT && t.at == count * n, "%zu times '%s': %s at %u", count,
                      units[i], ptx_token_kind_name(t.kind), t.at);
        ptx_lexer_free(l);
        free(text);
    }
}

static const struct {
    const char *text;
    int close; /* offset; -1: none */
} braces[] = {
    {"{}", 1},           {"{ {} { } }", 9},   {"{ a; } }", 5},      {"{", -1},
    {"{{}", -1},         {"{ // } \n }", 9},  {"{ /* } */ }", 10},  {"{ \"}\" }", 6},
    {"{ \"// }\" }", 9}, {"{ // \" \n }", 9}, {"{ /* \" */ }", 10}, {"{ /*/ } */ }", 11},
    {"{ /***/ }", 8},    {"{ / }", 4},        {"{ // }", -1},       {"{ /* }", -1},
    {"{ /*", -1},        {"{ /* *", -1},      {"{ \" }", -1},       {"{ \"", -1},
    {"{ /", -1},         {"{ [(<\n)] }", 9},
};

Test(lex, skip_braces)
{
    for (size_t i = 0; i < sizeof braces / sizeof *braces; i++) {
        size_t n = strlen(braces[i].text);
        char *text = malloc(n + 2); /* one byte ahead, none behind */
        text[0] = '}';
        memcpy(text + 1, braces[i].text, n);
        char *exact = malloc(n + 1);
        memcpy(exact, text, n + 1);
        struct source s = {"lex", exact, (uint32_t)(n + 1)};
        uint32_t want = braces[i].close < 0 ? s.length : (uint32_t)braces[i].close + 1;
        uint32_t got = ptx_lex_skip_braces(&s, 1);
        cr_expect(got == want, "'%s': %u, not %u", braces[i].text, got, want);
        free(text);
        free(exact);
    }
}
