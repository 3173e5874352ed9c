/* Files, sets of words, and a module as a row of tokens with its statements. */
#define _GNU_SOURCE /* strdup */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/rng.h"
#include "ptx/lex.h"
#include "tests/ptxas/diff.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void diff_die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "ptxas-diff: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(2);
}

uint64_t diff_mix(uint64_t x)
{
    return rng_mix(x + RNG_STEP);
}

uint64_t diff_digest(const char *text, size_t n, uint64_t h)
{
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return diff_mix(h);
}

static uint32_t *words_slot(const struct words *w, const char *text, size_t n)
{
    size_t i = diff_digest(text, n, 1) & (w->slot_n - 1);
    for (;; i = (i + 1) & (w->slot_n - 1)) {
        const char *have = w->slot[i] ? w->v[w->slot[i] - 1] : NULL;
        if (!have || (strncmp(have, text, n) == 0 && !have[n])) return &w->slot[i];
    }
}

size_t words_find(const struct words *w, const char *text, size_t n) /* SIZE_MAX: not there */
{
    uint32_t s = w->slot_n ? *words_slot(w, text, n) : 0;
    return s ? s - 1 : SIZE_MAX;
}

/* Whether the word is new. */
bool words_add(struct arena *a, struct words *w, const char *text, size_t n)
{
    if (2 * (w->n + 1) > w->slot_n) {
        w->slot_n = w->slot_n ? 2 * w->slot_n : 64;
        w->slot = arena_array(a, uint32_t, w->slot_n);
        for (size_t i = 0; i < w->n; i++)
            *words_slot(w, w->v[i], strlen(w->v[i])) = (uint32_t)i + 1;
    }
    uint32_t *slot = words_slot(w, text, n);
    if (*slot) return false;
    w->v = arena_grow(a, w->v, w->n, &w->cap, w->n + 1, sizeof *w->v);
    w->v[w->n++] = arena_copy(a, text, n);
    *slot = (uint32_t)w->n;
    return true;
}

char *diff_read_file(struct arena *a, const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) diff_die("%s: %s", path, strerror(errno));
    struct buf b = {0};
    char block[1 << 16];
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;) buf_add(&b, block, n);
    fclose(f);
    while (b.size && b.data[b.size - 1] == '\0') b.size--;
    *size = b.size;
    char *text = arena_copy(a, b.size ? b.data : "", b.size);
    buf_free(&b);
    return text;
}

void diff_list_files(struct arena *a, const char *path, struct words *out)
{
    struct stat st;
    if (stat(path, &st)) diff_die("%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) {
        words_add(a, out, path, strlen(path));
        return;
    }
    DIR *d = opendir(path);
    if (!d) diff_die("%s: %s", path, strerror(errno));
    for (struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n < 5 || strcmp(e->d_name + n - 4, ".ptx") != 0) continue;
        char *file = arena_printf(a, "%s/%s", path, e->d_name);
        words_add(a, out, file, strlen(file));
    }
    closedir(d);
}

void diff_make_dirs(const char *path)
{
    char *copy = strdup(path);
    for (char *p = copy + 1; copy && *p; p++)
        if (*p == '/') {
            *p = '\0';
            mkdir(copy, 0777);
            *p = '/';
        }
    mkdir(path, 0777);
    free(copy);
}

void pieces_lex(struct arena *a, const struct source *s, struct pieces *out)
{
    struct ptx_lexer *l = ptx_lexer_new(s, 0);
    uint32_t end = 0;
    for (struct ptx_token t = ptx_lex(l); t.kind != TOK_END;
         end = t.at + t.length, t = ptx_lex(l)) {
        char lead = end == t.at ? 0 : memchr(s->text + end, '\n', t.at - end) ? '\n' : ' ';
        if (t.length == 0) break;
        out->v = arena_grow(a, out->v, out->n, &out->cap, out->n + 1, sizeof *out->v);
        out->v[out->n++] = (struct piece){s->text + t.at, t.length, t.kind, t.c, lead};
    }
    ptx_lexer_free(l);
}

void pieces_render(const struct piece *p, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i].lead && out->size) buf_putc(out, p[i].lead);
        buf_add(out, p[i].text, p[i].length);
    }
    buf_putc(out, '\n');
}

bool piece_is(const struct piece *p, char c)
{
    return p->kind == TOK_PUNCT && p->c == c;
}

bool piece_is_text(const struct piece *p, const char *text)
{
    return strlen(text) == p->length && memcmp(p->text, text, p->length) == 0;
}

bool piece_is_one_of(const struct piece *p, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (piece_is_text(p, list[i])) return true;
    return false;
}

/* Bytes before the first dot. */
uint32_t piece_stem(const struct piece *p)
{
    const char *dot = memchr(p->text, '.', p->length);
    return dot ? (uint32_t)(dot - p->text) : p->length;
}

bool piece_opens(const struct piece *p)
{
    return p->kind == TOK_PUNCT && strchr("([{", p->c);
}

bool piece_closes(const struct piece *p)
{
    return p->kind == TOK_PUNCT && strchr(")]}", p->c);
}

/* The first piece from i on at depth 0 that is the character c; n if none. */
size_t pieces_find(const struct piece *p, size_t n, size_t i, char c)
{
    size_t depth = 0;
    for (; i < n; i++) {
        if (depth == 0 && piece_is(&p[i], c)) return i;
        if (piece_opens(&p[i])) depth++;
        if (piece_closes(&p[i]) && depth) depth--;
    }
    return n;
}

/* The bracket that closes the one at i; n if none. */
size_t pieces_closing(const struct piece *p, size_t n, size_t i)
{
    size_t depth = 0;
    for (; i < n; i++) {
        if (piece_opens(&p[i])) depth++;
        if (piece_closes(&p[i]) && --depth == 0) return i;
    }
    return n;
}

static size_t line_end(const struct piece *p, size_t n, size_t i)
{
    for (i++; i < n && p[i].lead != '\n'; i++) {
    }
    return i;
}

const char *const piece_spaces[14] = {".global", ".const",   ".shared", ".local", ".param",
                                      ".reg",    ".tex",     ".sreg",   ".surf",  ".sampler",
                                      ".extern", ".visible", ".weak",   ".common"};
static const char *const line_words[] = {".file", ".loc"};
static const char *const header_words[] = {".version", ".target", ".address_size"};

/* A statement of a function's body. */
size_t stmt_read(const struct piece *p, size_t n, size_t i, struct stmt *s)
{
    *s = (struct stmt){.kind = ST_OTHER, .from = i, .to = i + 1};
    if (piece_is(&p[i], '{') || piece_is(&p[i], '}')) {
        s->kind = p[i].c == '{' ? ST_OPEN : ST_CLOSE;
    } else if (p[i].kind == TOK_DOTS) {
        if (piece_is_one_of(&p[i], line_words, COUNT(line_words))) {
            s->kind = ST_LINE;
            s->to = line_end(p, n, i);
        } else {
            if (piece_is_one_of(&p[i], piece_spaces, COUNT(piece_spaces))) s->kind = ST_DECL;
            s->to = pieces_find(p, n, i, ';') + 1;
        }
    } else if (p[i].kind == TOK_WORD && i + 1 < n && piece_is(&p[i + 1], ':')) {
        s->kind = ST_LABEL;
        s->to = i + 2;
    } else if (p[i].kind == TOK_WORD || piece_is(&p[i], '@')) {
        size_t op = i;
        if (piece_is(&p[i], '@')) op += i + 1 < n && piece_is(&p[i + 1], '!') ? 3 : 2;
        size_t end = pieces_find(p, n, i, ';');
        if (op >= n || end >= n || p[op].kind != TOK_WORD) goto out;
        s->kind = ST_INST;
        s->op = op;
        s->to = end + 1;
        for (size_t from = op + 1; from < end && s->operands < OPERANDS_MAX;) {
            size_t comma = pieces_find(p, end, from, ',');
            s->operand[s->operands++] = (struct span){from, comma};
            from = comma + 1;
        }
    }
out:
    if (s->to > n) s->to = n;
    return s->to;
}

/* Something at module level; of a function with a body the head alone. */
size_t stmt_read_item(const struct piece *p, size_t n, size_t i, struct stmt *s)
{
    *s = (struct stmt){.kind = ST_OTHER, .from = i, .to = i + 1};
    bool at_line = p[i].kind == TOK_DOTS && piece_is_one_of(&p[i], line_words, COUNT(line_words));
    bool header = p[i].kind == TOK_DOTS &&
                  piece_is_one_of(&p[i], header_words, COUNT(header_words));
    if (at_line || header || piece_is(&p[i], '@')) {
        s->kind = header ? ST_HEADER : ST_LINE;
        s->to = line_end(p, n, i);
    } else if (piece_is_text(&p[i], ".section")) {
        s->kind = ST_LINE;
        size_t open = pieces_find(p, n, i, '{');
        s->to = open < n ? pieces_closing(p, n, open) + 1 : n;
    } else if (piece_is_text(&p[i], ".pragma") || piece_is_text(&p[i], ".alias")) {
        s->to = pieces_find(p, n, i, ';') + 1;
    } else {
        size_t semicolon = pieces_find(p, n, i, ';'), word = i;
        bool function = false;
        for (; word < semicolon && p[word].kind == TOK_DOTS; word++) {
            if (!piece_is_text(&p[word], ".func") && !piece_is_text(&p[word], ".entry")) continue;
            function = true;
            if (word + 1 < n && piece_is(&p[word + 1], '(')) word = pieces_closing(p, n, word + 1);
        }
        if (function) {
            size_t brace = pieces_find(p, n, i, '{');
            s->kind = ST_HEAD;
            s->to = brace < semicolon ? brace : semicolon + 1;
            if (word < s->to && p[word].kind == TOK_WORD) s->op = word;
        } else {
            s->kind = ST_VAR;
            s->to = semicolon + 1;
            for (size_t k = i, depth = 0; k < s->to && k < n && !s->op; k++) {
                if (piece_opens(&p[k])) depth++;
                if (piece_closes(&p[k]) && depth) depth--;
                if (depth == 0 && p[k].kind == TOK_WORD) s->op = k;
            }
        }
    }
    if (s->to > n) s->to = n;
    return s->to;
}

void stmts_read(struct arena *a, const struct pieces *p, struct stmts *out)
{
    bool body = false;
    size_t depth = 0;
    for (size_t i = 0; i < p->n;) {
        struct stmt s;
        if (!body && piece_is(&p->v[i], '{')) body = true;
        i = body ? stmt_read(p->v, p->n, i, &s) : stmt_read_item(p->v, p->n, i, &s);
        if (s.kind == ST_OPEN) depth++;
        if (s.kind == ST_CLOSE && (depth == 0 || --depth == 0)) body = false;
        out->v = arena_grow(a, out->v, out->n, &out->cap, out->n + 1, sizeof *out->v);
        out->v[out->n++] = s;
    }
}
