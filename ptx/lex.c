/* The lexer. This is the only file that includes PCRE2. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "ptx/lex.h"

#include "base/diag.h"

#include <assert.h>
#include <pcre2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every quantifier is possessive: no input makes the match backtrack, so it takes linear time. \K
 * puts the match's start behind the skipped blanks. The commonest kinds come first. */
static const char pattern[] =
    "(?:[ \\t\\n\\r\\f]++|//[^\\n]*+|"
    "#[ \\t]*+(?:line[ \\t]++)?+\\d++[ \\t]++\"[^\"\\n]*+\"[ \\t\\d\\r]*+(?=\\n|\\z)|"
    "/\\*[^*]*+\\*++(?:[^/*][^*]*+\\*++)*+/)*+\\K(?:"
    "(?:[A-Za-z][\\w$]*+|[%$_][\\w$]++|_)(?:\\.\\w++(?:::\\w++)*+)*+(*MARK:w)|"
    "\\d(?:"
    "(?<=0)[fF][[:xdigit:]]{8}+(?![\\w$])(*MARK:s)|"
    "(?<=0)[dD][[:xdigit:]]{16}+(?![\\w$])(*MARK:q)|"
    "(?<=0)(?:[xX][[:xdigit:]]++|[bB][01]++|[0-7]*+)U?+(?![\\w$.])(*MARK:i)|"
    "(?<!0)\\d*+U?+(?![\\w$.])(*MARK:i)|"
    "\\d*+(?:\\.\\d*+(?:[eE][-+]?+\\d++)?+|[eE][-+]?+\\d++)(?![\\w$.])(*MARK:f)|"
    "[\\w$.]*+(*MARK:n))|"
    "\\.\\d++(?:[eE][-+]?+\\d++)?+(?![\\w$.])(*MARK:f)|"
    "(?:\\.[A-Za-z_]\\w*+(?:::\\w++)*+)++(*MARK:d)|"
    "(?:<<|>>|[<>=!]=|&&|\\|\\|)(*MARK:o)|"
    "/\\*(*MARK:c)|"
    "[][{}(),;:@!|+\\-*/%?~&^<>=.](*MARK:p)|"
    "\"[^\"]*+(?:\"(*MARK:t)|(*MARK:u))|"
    "\\z(*MARK:z)|"
    "(?s:.)(*MARK:x))";

struct ptx_lexer {
    const char *text;
    uint32_t length, at;
    pcre2_match_data *match;
};

static pcre2_general_context *memory;
static pcre2_code *code; /* immutable once compiled */
static bool jit;
static pcre2_match_context *context;
static uint8_t kind_of_mark[128];
static pthread_once_t compiled = PTHREAD_ONCE_INIT;

/* The library's memory is of this one's heap, which may not be the program's (cuda/heap.h). */
static void *get(size_t size, void *unused)
{
    (void)unused;
    return malloc(size);
}

static void give(void *p, void *unused)
{
    (void)unused;
    free(p);
}

static void compile(void)
{
    int error;
    PCRE2_SIZE at;
    memory = pcre2_general_context_create(get, give, NULL);
    pcre2_compile_context *how = pcre2_compile_context_create(memory);
    code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_ANCHORED, &error, &at,
                         how);
    pcre2_compile_context_free(how);
    if (!code) {
        fprintf(stderr, "heddle: token pattern, offset %zu: PCRE2 error %d\n", at, error);
        abort();
    }
    jit = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0; /* else the interpreter does the same */
    /* The pattern takes linear time, so no limit is needed; the usual one would end long tokens. */
    context = pcre2_match_context_create(memory);
    if (context) pcre2_set_match_limit(context, UINT32_MAX);
#define X(name, mark, text) kind_of_mark[mark] = TOK_##name;
    PTX_TOKENS(X)
#undef X
}

struct ptx_lexer *ptx_lexer_new(const struct source *source, uint32_t from)
{
    pthread_once(&compiled, compile);
    struct ptx_lexer *l = malloc(sizeof *l);
    pcre2_match_data *match = pcre2_match_data_create(1, memory);
    if (!l || !match) {
        fprintf(stderr, "heddle: out of memory\n");
        abort();
    }
    *l = (struct ptx_lexer){source->text, source->length, from, match};
    return l;
}

void ptx_lexer_free(struct ptx_lexer *l)
{
    if (!l) return;
    pcre2_match_data_free(l->match);
    free(l);
}

void ptx_lexer_seek(struct ptx_lexer *l, uint32_t at)
{
    l->at = at;
}

struct ptx_token ptx_lex(struct ptx_lexer *l)
{
    PCRE2_SPTR text = (PCRE2_SPTR)l->text;
    int rc = jit ? pcre2_jit_match(code, text, l->length, l->at, 0, l->match, context)
                 : pcre2_match(code, text, l->length, l->at, 0, l->match, context);
    if (rc < 0) { /* cannot happen with this pattern but for limits of the library */
        uint32_t at = l->at;
        l->at = l->length;
        return (struct ptx_token){TOK_BAD_BYTE, at < l->length ? l->text[at] : 0, at,
                                  at < l->length};
    }
    const PCRE2_SIZE *where = pcre2_get_ovector_pointer(l->match);
    PCRE2_SPTR mark = pcre2_get_mark(l->match);
    assert(mark && mark[0] < 128);
    struct ptx_token t = {
        .kind = kind_of_mark[mark[0]],
        .c = where[0] < l->length ? l->text[where[0]] : 0,
        .at = (uint32_t)where[0],
        .length = (uint32_t)(where[1] - where[0]),
    };
    l->at = (uint32_t)where[1];
    return t;
}

enum ptx_token_kind ptx_lex_peek(struct ptx_lexer *l)
{
    uint32_t at = l->at;
    struct ptx_token t = ptx_lex(l);
    l->at = at;
    return (enum ptx_token_kind)t.kind;
}

const char *ptx_token_kind_name(enum ptx_token_kind kind)
{
    static const char *const names[] = {
#define X(name, mark, text) text,
        PTX_TOKENS(X)
#undef X
    };
    return names[kind];
}

uint32_t ptx_lex_skip_braces(const struct source *source, uint32_t open)
{
    const char *p = source->text + open, *end = source->text + source->length;
    size_t depth = 0;
    for (; p < end; p++) {
        switch (*p) {
        case '{': depth++; break;
        case '}':
            if (--depth == 0) return (uint32_t)(p - source->text);
            break;
        case '"':
            p = memchr(p + 1, '"', (size_t)(end - p - 1));
            if (!p) return source->length;
            break;
        case '/':
            if (p + 1 < end && p[1] == '/') {
                p = memchr(p, '\n', (size_t)(end - p));
                if (!p) return source->length;
            } else if (p + 1 < end && p[1] == '*') {
                p += 2;
                while (p < end && !(*p == '*' && p + 1 < end && p[1] == '/')) p++;
                p++;
            }
            break;
        default: break;
        }
    }
    return source->length;
}
