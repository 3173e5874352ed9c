/* How mistakes are reported: the form of a report, and the words of the commonest ones. */
#include "heddle.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one report -------------------------------------------------------------------------------- */

static const struct rendering {
    const char *text;
    uint32_t at, length;
    const char *want; /* behind "t.ptx:" */
} renderings[] = {
    {"abc\ndef\n", 0, 3, "1:1: error: x\n    1 | abc\n      | ^~~\n"},
    {"abc\ndef\n", 4, 1, "2:1: error: x\n    2 | def\n      | ^\n"},
    {"abc\ndef\n", 5, 2, "2:2: error: x\n    2 | def\n      |  ^~\n"},
    {"abc\ndef\n", 5, 0, "2:2: error: x\n    2 | def\n      |  ^\n"},    /* between characters */
    {"abc\ndef\n", 5, 100, "2:2: error: x\n    2 | def\n      |  ^~\n"}, /* marks its line only */
    {"abc\ndef\n", 3, 1, "1:4: error: x\n    1 | abc\n      |    ^\n"},  /* the line's end */
    {"abc\ndef\n", 8, 0, "3:1: error: x\n    3 | \n      | ^\n"},        /* the text's end */
    {"abc\ndef\n", 1000, 5, "3:1: error: x\n    3 | \n      | ^\n"},     /* beyond it */
    {"abc\ndef", 4, 3, "2:1: error: x\n    2 | def\n      | ^~~\n"},     /* no newline */
    {"abc\ndef", 7, 0, "2:4: error: x\n    2 | def\n      |    ^\n"},
    {"", 0, 0, "1:1: error: x\n    1 | \n      | ^\n"},
    {"\n\n\n", 2, 1, "3:1: error: x\n    3 | \n      | ^\n"},
    {"\ta\tbc\td", 3, 2,
     "1:4: error: x\n    1 | \ta\tbc\td\n      | \t \t^~\n"}, /* tabs are copied */
    {"\t\tabc", 0, 5, "1:1: error: x\n    1 | \t\tabc\n      | ^~~~~\n"},
    {"abc\r\ndef\r\n", 5, 3, "2:1: error: x\n    2 | def\n      | ^~~\n"}, /* no CR in the report */
    {"abc\r\ndef\r\n", 1, 9, "1:2: error: x\n    1 | abc\n      |  ^~\n"},
    {"abc\r\ndef", 3, 1, "1:4: error: x\n    1 | abc\n      |    ^\n"},
    {"a\x01\x1b\x7f"
     "b",
     1, 3, "1:2: error: x\n    1 | a???b\n      |  ^~~\n"}, /* would garble a terminal */
    {"\xc3\xa9 x", 3, 1, "1:4: error: x\n    1 | ?? x\n      |    ^\n"},
};

static char *render(struct diags *d)
{
    struct buf out = {0};
    diags_render(d, &out);
    buf_add(&out, "", 0);
    return out.data;
}

Test(diag, line_and_caret)
{
    for (size_t i = 0; i < sizeof renderings / sizeof *renderings; i++) {
        const struct rendering *r = &renderings[i];
        struct source s = {"t.ptx", r->text, (uint32_t)strlen(r->text)};
        struct diags d = {.arena = arena_new(), .source = &s};
        diag_error(&d, r->at, r->length, "x");
        char *got = render(&d);
        cr_expect(strncmp(got, "t.ptx:", 6) == 0 && strcmp(got + 6, r->want) == 0,
                  "row %zu:\n%snot\n%s", i, got + 6, r->want);
        free(got);
        arena_free(d.arena);
    }
}

Test(diag, a_nul_is_shown_as_another_byte)
{
    struct source s = {"t.ptx", "a\0b", 3};
    struct diags d = {.arena = arena_new(), .source = &s};
    diag_error(&d, 2, 1, "x");
    char *got = render(&d);
    cr_expect(strcmp(got, "t.ptx:1:3: error: x\n    1 | a?b\n      |   ^\n") == 0, "%s", got);
    free(got);
    arena_free(d.arena);
}

/* A long line is cut around the place; the caret still stands below it. */
Test(diag, long_lines_are_cut)
{
    static const uint32_t places[] = {0, 1, 79, 80, 81, 500, 9919, 9920, 9998, 9999, 10000};
    char text[10001];
    for (size_t i = 0; i < 10000; i++) text[i] = (char)('a' + i % 26);
    text[10000] = '\n';
    struct source s = {"t.ptx", text, sizeof text};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (uint32_t length = 1; length <= 1000; length += 333) {
            struct diags d = {.arena = arena_new(), .source = &s};
            diag_error(&d, places[i], length, "x");
            char *got = render(&d), *line = strchr(got, '\n') + 1,
                 *caret_line = strchr(line, '\n') + 1;
            char *caret = strchr(caret_line, '^');
            cr_assert(caret, "%s", got);
            cr_expect(strlen(got) < 500, "%s", got);
            cr_expect(line[7] == ' ' && caret_line[6] == '|', "%s", got);
            if (places[i] < 10000)
                cr_expect(line[caret - caret_line] == text[places[i]],
                          "at %u: caret below '%c'\n%s", places[i], line[caret - caret_line], got);
            bool left = strncmp(line + 8, "...", 3) == 0, right = caret_line[-2] == '.';
            cr_expect(left == (places[i] > 80), "at %u:\n%s", places[i], got);
            cr_expect(right == (places[i] < 9920), "at %u:\n%s", places[i], got);
            free(got);
            arena_free(d.arena);
        }
}

/* ---- several reports --------------------------------------------------------------------------- */

Test(diag, in_order_of_place_with_notes_behind)
{
    struct source s = {"t.ptx", "abcdefgh", 8};
    struct diags d = {.arena = arena_new(), .source = &s};
    diag_error(&d, 6, 1, "third");
    diag_note(&d, 0, 1, "its note");
    diag_note(&d, 7, 1, "its other note");
    diag_warning(&d, 2, 1, "first");
    diag_note(&d, 5, 1, "its note");
    diag_error(&d, 4, 1, "second");
    diag_error(&d, 6, 1, "fourth, at the same place");
    cr_expect(d.errors == 3 && d.warnings == 1);
    static const char *const want[] = {"1:3: warning: first",
                                       "1:6: note: its note",
                                       "1:5: error: second",
                                       "1:7: error: third",
                                       "1:1: note: its note",
                                       "1:8: note: its other note",
                                       "1:7: error: fourth, at the same place"};
    for (int twice = 0; twice < 2; twice++) { /* rendering changes nothing */
        char *got = render(&d), *p = got;
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            cr_expect(strncmp(p, "t.ptx:", 6) == 0 &&
                          strncmp(p + 6, want[i], strlen(want[i])) == 0 &&
                          p[6 + strlen(want[i])] == '\n',
                      "report %zu is not '%s':\n%s", i, want[i], got);
            for (int line = 0; line < 3; line++) p = strchr(p, '\n') + 1;
        }
        cr_expect(*p == '\0', "more: %s", p);
        free(got);
    }
    arena_free(d.arena);
}

Test(diag, counts_what_it_does_not_keep)
{
    struct source s = {"t.ptx", "abcdefgh", 8};
    struct diags d = {.arena = arena_new(), .source = &s, .max_errors = 2};
    for (uint32_t i = 0; i < 5; i++) {
        cr_expect(diags_full(&d) == (i >= 2));
        diag_error(&d, 7 - i, 1, "error %u", i);
        diag_note(&d, i, 1, "note %u", i);
    }
    cr_expect(d.errors == 5);
    cr_expect(d.count == 4, "%zu are kept", d.count);
    char *got = render(&d);
    for (unsigned i = 0; i < 5; i++) {
        char error[16], note[16];
        snprintf(error, sizeof error, "error %u", i);
        snprintf(note, sizeof note, "note %u", i);
        cr_expect(!strstr(got, error) == (i >= 2), "%s in\n%s", error, got);
        cr_expect(!strstr(got, note) == (i >= 2), "%s in\n%s", note, got);
    }
    free(got);
    arena_free(d.arena);
}

Test(diag, places)
{
    struct source s = {"t.ptx", "ab\n\ncd", 6};
    static const struct place want[] = {{1, 1}, {1, 2}, {1, 3}, {2, 1},
                                        {3, 1}, {3, 2}, {3, 3}, {3, 3}};
    for (uint32_t at = 0; at < sizeof want / sizeof *want; at++) {
        struct place p = source_place(&s, at);
        cr_expect(p.line == want[at].line && p.column == want[at].column, "%u is %u:%u", at, p.line,
                  p.column);
    }
}

/* A message may be long, and may hold percent signs of the input. */
Test(diag, long_messages_end)
{
    struct source s = {"t.ptx", "a", 1};
    struct diags d = {.arena = arena_new(), .source = &s};
    char *name = malloc(100001);
    memset(name, 'x', 100000);
    name[100000] = '\0';
    diag_error(&d, 0, 1, "'%s'", name);
    diag_error(&d, 0, 1, "%s", "%n%s%d");
    cr_expect(strlen(d.list[0].text) < 5000);
    cr_expect(strcmp(d.list[1].text, "%n%s%d") == 0);
    free(name);
    arena_free(d.arena);
}

/* ---- the words --------------------------------------------------------------------------------- */

static void same_text(const char *what, const char *got, const char *want)
{
    size_t same = 0, line = 1;
    for (; got[same] && got[same] == want[same]; same++) line += got[same] == '\n';
    cr_expect(strcmp(got, want) == 0, "%s: line %zu of the messages is another:\n%s", what, line,
              got);
}

Test(diag, the_demonstration)
{
    static const char want[] =
        "tests/demo/wrong.ptx:16:16: error: 'mul.wide.u32' wants a register of .u64 as operand 1, '%r2' is .b32\n"
        "   16 | \tmul.wide.u32 \t%r2, %r1, 4;\n"
        "      | \t             \t^~~\n"
        "tests/demo/wrong.ptx:9:13: note: '%r2' is declared here\n"
        "    9 | \t.reg .b32 \t%r<4>;\n"
        "      | \t          \t^~~\n"
        "tests/demo/wrong.ptx:19:5: error: 'add.sat.u32' does not take '.sat'\n"
        "   19 | \tadd.sat.u32 \t%r3, %r1, 1;\n"
        "      | \t   ^~~~\n"
        "tests/demo/wrong.ptx:19:5: note: forms of 'add' that take it: add.sat.s32, add{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32, add{.rn}{.ftz}{.sat}(.f16|.f16x2), add{.rn|.rz|.rm|.rp}{.sat}.f32.f16, add{.rn|.rz|.rm|.rp}{.sat}.f32.bf16\n"
        "   19 | \tadd.sat.u32 \t%r3, %r1, 1;\n"
        "      | \t   ^~~~\n"
        "tests/demo/wrong.ptx:20:24: error: 'mul.rn.f32' wants a register or constant of .f32 as operand 3, this is an integer\n"
        "   20 | \tmul.rn.f32 \t%f3, %f2, 2;\n"
        "      | \t           \t          ^\n"
        "tests/demo/wrong.ptx:21:12: error: undeclared label '$L__done'\n"
        "   21 | \t@%p1 bra \t$L__done;\n"
        "      | \t         \t^~~~~~~~\n"
        "tests/demo/wrong.ptx:23:1: note: did you mean '$L_done'?\n"
        "   23 | $L_done:\n"
        "      | ^~~~~~~\n";
    struct heddle_module *m = heddle_module_read_file("tests/demo/wrong.ptx", NULL);
    same_text("tests/demo/wrong.ptx", heddle_module_messages_text(m), want);
    heddle_module_free(m);
}

static const char head[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func f(.param .b32 a);\n"
    ".global .u32 g[4];\n.entry k(.param .u64 p)\n{\n"
    ".reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %rd<3>;\n";
/* One mistake on a line of its own. `want`: what is marked, the message, and notes behind bars. */
static const struct mistake {
    const char *line, *marked, *message, *note;
} mistakes[] = {
    {"addd.u32 %r1, %r2, %r3;", "addd", "unknown instruction 'addd'", "did you mean 'add'?"},
    {"ad.u32 %r1, %r2, %r3;", "ad", "unknown instruction 'ad'", "did you mean 'add'?"},
    {"add.sat.u32 %r1, %r2, %r3;", ".sat", "'add.sat.u32' does not take '.sat'",
     "forms of 'add' that take it: add.sat.s32, add{.rn|.rz|.rm|.rp}{.ftz}{.sat}.f32, add{.rn}{.ftz}{.sat}(.f16|.f16x2), add{.rn|.rz|.rm|.rp}{.sat}.f32.f16, add{.rn|.rz|.rm|.rp}{.sat}.f32.bf16"},
    {"add.foo.u32 %r1, %r2, %r3;", ".foo", "'add' has no modifier '.foo'",
     "a form of it: add(.u16|.u32|.u64|.s16|.s32|.s64)"},
    {"add.b32 %r1, %r2, %r3;", ".b32", "'add' has no form for type '.b32'",
     "a form of it: add(.u16|.u32|.u64|.s16|.s32|.s64)"},
    {"add %r1, %r2, %r3;", "add", "'add' needs a type: .u16 .u32 .u64 .s16 .s32 .s64", ""},
    {"cvt.f16.f32 %h1, %f1;", "cvt.f16.f32",
     "'cvt.f16.f32' needs a rounding modifier: .rn .rz .rm .rp", ""},
    {"setp.u32 %p1, %r1, %r2;", "setp.u32",
     "'setp.u32' needs a comparison: .eq .ne .lt .le .gt .ge .lo .ls .hi .hs", ""},
    {"bar 0;", "bar", "'bar' needs a modifier: .sync", ""},
    {"mul24.u32 %r1, %r2, %r3;", "mul24.u32", "'mul24.u32' is no form of 'mul24'",
     "forms: mul24.hi mul24.lo"},
    {"ld.shared.v4.u64 {%rd1, %rd2, %rd1, %rd2}, [%rd1];", "ld.shared.v4.u64",
     "'ld.shared.v4.u64' makes a vector of more than 128 bits", ""},
    {"add.u32 %rd1, %r2, %r3;", "%rd1",
     "'add.u32' wants a register of .u32 as operand 1, '%rd1' is .b64", "'%rd1' is declared here"},
    {"add.u32 %r1, %r2, %rd1;", "%rd1",
     "'add.u32' wants a register or constant of .u32 as operand 3, '%rd1' is .b64",
     "'%rd1' is declared here"},
    {"add.f32 %f1, %f2, 2;", "2",
     "'add.f32' wants a register or constant of .f32 as operand 3, this is an integer", ""},
    {"add.u32 %r1, %r2, 1.5;", "1.5",
     "'add.u32' wants a register or constant of .u32 as operand 3, this is a floating-point constant",
     ""},
    {"add.u32 %r1, %r2;", "add.u32", "'add.u32' takes 3 operands, this has 2",
     "next would be a register or constant of .u32"},
    {"add.u32 %r1, %r2, %r3, %r3;", "%r3", "'add.u32' takes 3 operands, this has 4", ""},
    {"add.u32;", "add.u32", "'add.u32' takes 3 operands, this has 0",
     "next would be a register of .u32"},
    {"ret 1;", "1", "'ret' takes 0 operands, this has 1", ""},
    {"mov.u32 %r1, %r9;", "%r9", "undeclared name '%r9'", "these registers go from %r0 to %r3"},
    {"mov.u32 %r1, x;", "x", "undeclared name 'x'", ""},
    {"mov.u32 %x, %r1;", "%x", "undeclared name '%x'", ""},
    {"bra nowhere;", "nowhere", "undeclared label 'nowhere'", ""},
    {"call nothing;", "nothing", "undeclared function 'nothing'", ""},
    {"@%p9 ret;", "%p9", "undeclared predicate '%p9'", "these registers go from %p0 to %p2"},
    {"@%r1 ret;", "%r1", "'%r1' is no predicate register", ""},
    {".reg .b32 %r1;", "%r1", "'%r1' is declared twice",
     "the first declaration, a register range, is here"},
    {".reg .b64 %r<9>;", "%r", "'%r' is declared twice",
     "the first declaration, a register range, is here"},
    {".reg .b32 x, x;", "x", "'x' is declared twice", "the first declaration, a register, is here"},
    {"l: l:", "l", "'l' is declared twice", "the first declaration, a label, is here"},
    {"ld.global.u32 %r1, %rd1;", "%rd1",
     "'ld.global.u32' wants an address in brackets as operand 2", ""},
    {"ld.global.u32 %r1, [%r2];", "%r2",
     "an address in .global or a generic one has 64 bits in this module", ""},
    {"ld.global.u32 %r1, [%f1];", "%f1", "'%f1' is .f32 and cannot be an address", ""},
    {"ld.shared.u32 %r1, [g];", "g", "'ld.shared.u32' reaches .shared, 'g' is in .global",
     "'g' is declared here"},
    {"ld.global.v2.u32 %r1, [%rd1];", "%r1",
     "'ld.global.v2.u32' wants {2 registers} of .u32 as operand 1", ""},
    {"ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", "{%r1, %r2, %r3}",
     "'ld.global.v2.u32' wants {2 registers} of .u32 as operand 1, this list has 3", ""},
    {"st.global.u32 %r1, [%rd1];", "%r1",
     "'st.global.u32' wants an address in brackets as operand 1", ""},
    {"add.u32 %r1, %r2, {%r3};", "{%r3}",
     "'add.u32' wants a register or constant of .u32 as operand 3, this list has 1", ""},
    {"add.u32 1, %r2, %r3;", "1", "operand 1 of 'add.u32' is written and must be a register", ""},
    {"mov.u32 %tid.x, %r1;", "%tid.x", "operand 1 of 'mov.u32' is written and must be a register",
     ""},
    {"mov.u32 %r1 %r2;", "%r2", "expected ',' or ';' before '%r2'", ""},
    {"mov.u32 %r1, %r2 %r3;", "%r3", "expected ',' or ';' before '%r3'", ""},
    {"mov.u32 %r1, ;", ";", "expected an operand before ';'", ""},
    {"mov.u32 %r1, 08;", "08", "malformed number '08'", ""},
    {"mov.u32 %r1, (1 + 2;", ";", "expected ')' at the end of the expression before ';'", ""},
    {".reg .u33 x;", ".u33", "expected a type before '.u33'", ""},
    {".reg b32 x;", "b32", "expected a type before 'b32'", ""},
    {".local .u32 x[;", ";", "expected an array size before ';'", ""},
    {"and.pred %p1, %p2, %r1;", "%r1",
     "'and.pred' wants a register or constant of .pred as operand 3, '%r1' is .b32",
     "'%r1' is declared here"},
    {"add.u32 %r1, !%r2, %r3;", "!", "'!' needs a predicate", ""},
    {"bar.sync 99;", "99", "operand 1 of 'bar.sync' must lie in 0 to 15", ""},
    {"call f;", "f", "the callee has 1 parameter, this passes 0", ""},
    {"shfl.sync.up.b64 %rd1, %rd2, 1, 0, -1;", ".b64", "'shfl' has no form for type '.b64'",
     "a form of it: shfl.sync(.up|.down|.bfly|.idx).b32"},
    {"wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned",
     "'wgmma.fence.sync.aligned' needs target sm_90a, the module is for sm_80", ""},
    {"cp.async.bulk.commit_group;", "cp.async.bulk.commit_group",
     "'cp.async.bulk.commit_group' needs target sm_90 or higher, the module is for sm_80", ""},
    {"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", "cvt.rn.satfinite.e4m3x2.f32",
     "'cvt.rn.satfinite.e4m3x2.f32' needs target sm_90 or higher, the module is for sm_80", ""},
    {".param .u64 p;", "p", "'p' is declared twice", "the first declaration, a parameter, is here"},
    {".maxntid 1;", ".maxntid", "'.maxntid' cannot stand in a function", ""},
    {".entry j() {}", ".entry", "'.entry' cannot stand in a function", ""},
    {"#", "#", "unexpected byte 0x23", ""},
};

Test(diag, typical_mistakes)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *t = &mistakes[i];
        struct buf b = {0};
        buf_printf(&b, "%s%s\nret;\n}\n", head, t->line);
        struct parsed *p = parse_text("t.ptx", b.data, b.size);
        diags_sort(&p->diags);
        cr_expect(p->diags.errors == 1, "%s: %u errors", t->line, p->diags.errors);
        cr_assert(p->diags.count > 0, "%s: no message", t->line);
        const struct diag *g = &p->diags.list[0];
        cr_expect(g->length == strlen(t->marked) &&
                      memcmp(b.data + g->at, t->marked, g->length) == 0,
                  "%s: marks '%.*s'", t->line, (int)g->length, b.data + g->at);
        cr_expect(strcmp(g->text, t->message) == 0, "%s: says '%s'", t->line, g->text);
        const char *note = p->diags.count > 1 ? g[1].text : "";
        cr_expect(strcmp(note, t->note) == 0, "%s: note '%s'", t->line, note);
        parsed_free(p);
        buf_free(&b);
    }
}

/* One mistake does not hide the next, nor make others of itself. */
Test(diag, goes_on_behind_a_mistake)
{
    static const struct {
        const char *body;
        unsigned errors;
    } bodies[] = {
        {"addd.u32 %r1, %r1; addd.u32 %r1, %r1;", 2},
        {"mov.u32 %r1, %zz; mov.u32 %zz, %r1;", 2},
        {"add.u32 %r1 %r2; add.u32 %r1, %r2;", 2},
        {"add.u32 %r1, (1; add.u32 %r1, %r2;", 2},
        {"ld.u32 %r1, [%rd1; add.u32 %r1, %r2;", 2},
        {".reg .foo x; add.u32 %r1, %r2;", 2},
        {"%; add.u32 %r1, %r2;", 2},
        {"l: l: add.u32 %r1, %r2;", 2},
        {"{ add.u32 %r1, %r2; } add.u32 %r1, %r2;", 2},
        {"bra a; bra b; bra c;", 3},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct buf b = {0};
        buf_printf(&b, "%s%s\nret;\n}\n.entry last() { addd.u32 1; }", head, bodies[i].body);
        struct parsed *p = parse_text("t.ptx", b.data, b.size);
        struct buf out = {0};
        diags_render(&p->diags, &out);
        cr_expect(p->diags.errors == bodies[i].errors + 1, "%s: %u errors\n%s", bodies[i].body,
                  p->diags.errors, out.data);
        buf_free(&out);
        parsed_free(p);
        buf_free(&b);
    }
}
