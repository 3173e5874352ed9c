/* What is printed reads back equal, and "equal" notices every difference. */
#include "heddle.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- the corpus -------------------------------------------------------------------------------- */

/* As fat binaries hold PTX: no comments, no blanks at the start of a line, runs of blanks squeezed to
 * one, no empty lines, NULs at the end. Strings stay. Returns the length with the NULs. */
static size_t squeeze(const char *text, size_t length, char *out)
{
    char *p = out;
    for (size_t i = 0; i < length;) {
        char c = text[i];
        if (c == '"') {
            do *p++ = text[i++];
            while (i < length && text[i] != '"');
            *p++ = text[i++];
        } else if (c == '/' && text[i + 1] == '/') {
            while (i < length && text[i] != '\n') i++;
        } else if (c == '/' && text[i + 1] == '*') {
            i = (size_t)(strstr(text + i + 2, "*/") - text) + 2;
            if (p > out && !isspace((unsigned char)p[-1])) *p++ = ' ';
        } else if (isspace((unsigned char)c)) {
            bool first = p == out || isspace((unsigned char)p[-1]);
            if (!first) *p++ = c == '\n' ? '\n' : ' ';
            else if (c == '\n' && p > out) p[-1] = '\n';
            i++;
        } else {
            *p++ = c;
            i++;
        }
    }
    for (int i = 0; i < 3; i++) *p++ = '\0';
    return (size_t)(p - out);
}

static void same(const char *path, const char *how, struct heddle_module *m, const char *text,
                 size_t n)
{
    struct heddle_module *again = heddle_module_read(how, text, n, NULL);
    cr_expect(heddle_module_ok(again), "%s, %s: %s", path, how, heddle_module_messages_text(again));
    const char *difference = heddle_module_ok(again) ? heddle_module_difference(m, again) : NULL;
    cr_expect(!difference, "%s, %s: differs in %s", path, how, difference);
    heddle_module_free(again);
}

static void round_trip(const char *path, void *arg)
{
    (void)arg;
    size_t length;
    char *text = read_file(path, &length);
    struct heddle_module *m = heddle_module_read(path, text, length, NULL);
    cr_expect(heddle_module_ok(m), "%s: %s", path, heddle_module_messages_text(m));
    cr_expect(heddle_module_warning_count(m) == 0, "%s: %s", path, heddle_module_messages_text(m));
    if (heddle_module_ok(m)) {
        char *printed = heddle_module_print(m);
        same(path, "printed", m, printed, strlen(printed));
        struct heddle_module *second = heddle_module_read(path, printed, strlen(printed), NULL);
        char *twice = heddle_module_print(second);
        cr_expect(strcmp(printed, twice) == 0, "%s: printed again, it reads otherwise", path);
        heddle_module_free(second);
        free(twice);
        free(printed);
        char *small = malloc(length + 4);
        size_t n = squeeze(text, length, small);
        same(path, "squeezed", m, small, n);
        free(small);
    }
    heddle_module_free(m);
    free(text);
}

Test(roundtrip, hand_corpus, .timeout = 120)
{
    cr_assert(each_file("tests/corpus/hand", ".ptx", round_trip, NULL) > 20);
}

Test(roundtrip, compiler_corpus, .timeout = 240)
{
    cr_assert(each_file("build/corpus", ".ptx", round_trip, NULL) > 100);
}

Test(roundtrip, squeezes)
{
    static const char text[] = "\n\n a /* b\nc */ d\t\t e // f\n\n  \"g  // h\" i/**/j \n";
    char out[sizeof text + 3];
    size_t n = squeeze(text, sizeof text - 1, out);
    cr_expect(strcmp(out, "a d e\n\"g  // h\" i j\n") == 0, "'%s'", out);
    cr_expect(n == strlen(out) + 3);
}

/* ---- differences ------------------------------------------------------------------------------- */

#define MODULE ".version 9.0\n.target sm_90\n.address_size 64\n"

/* Two modules that differ in one thing. In `frame`, # is replaced by each of the two. */
static const char in_body[] = MODULE
    ".file 1 \"a.cu\"\n.file 2 \"b.cu\"\n.global .u32 g[8]; .global .u32 h[8]; .shared .u32 s[8];\n"
    ".global .texref tex;\n.extern .func f(.param .b32 a);\n.extern .func e(.param .b32 a);\n"
    ".visible .entry k(.param .u64 p, .param .u64 q)\n{\n.reg .pred %p, %q; .reg .b16 %h<4>;\n"
    ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %d<4>; .reg .b64 %rd<9>; .reg .v4 .b32 v;\n"
    ".loc 1 1 1\n#\nl: m: ret;\n}\n";
static const char at_module[] = MODULE "#\n";
static const struct pair {
    const char *frame, *what, *a, *b;
} pairs[] = {
    {in_body, "nothing there", "", "ret;"},
    {in_body, "order", "add.u32 %r1, %r2, %r3; sub.u32 %r1, %r2, %r3;",
     "sub.u32 %r1, %r2, %r3; add.u32 %r1, %r2, %r3;"},
    {in_body, "guard", "add.u32 %r1, %r2, %r3;", "@%p add.u32 %r1, %r2, %r3;"},
    {in_body, "which guard", "@%q add.u32 %r1, %r2, %r3;", "@%p add.u32 %r1, %r2, %r3;"},
    {in_body, "guard's negation", "@!%p add.u32 %r1, %r2, %r3;", "@%p add.u32 %r1, %r2, %r3;"},
    {in_body, "opcode", "add.u32 %r1, %r2, %r3;", "sub.u32 %r1, %r2, %r3;"},
    {in_body, "type", "add.u32 %r1, %r2, %r3;", "add.s32 %r1, %r2, %r3;"},
    {in_body, "modifier", "add.f32 %f1, %f2, %f3;", "add.ftz.f32 %f1, %f2, %f3;"},
    {in_body, "other modifier", "add.rz.f32 %f1, %f2, %f3;", "add.rn.f32 %f1, %f2, %f3;"},
    {in_body, "space", "ld.global.u32 %r1, [%rd1];", "ld.shared.u32 %r1, [%rd1];"},
    {in_body, "vector", "ld.v2.u32 {%r1, %r2}, [%rd1];", "ld.u32 %r1, [%rd1];"},
    {in_body, "vector element", "ld.v2.u32 {%r1, %r2}, [%rd1];", "ld.v2.u32 {%r1, %r3}, [%rd1];"},
    {in_body, "dropped element", "ld.v2.u32 {%r1, _}, [%rd1];", "ld.v2.u32 {%r1, %r3}, [%rd1];"},
    {in_body, "result", "add.u32 %r1, %r2, %r3;", "add.u32 %r4, %r2, %r3;"},
    {in_body, "operand", "add.u32 %r1, %r2, %r3;", "add.u32 %r1, %r2, %r4;"},
    {in_body, "operands swapped", "add.u32 %r1, %r2, %r3;", "add.u32 %r1, %r3, %r2;"},
    {in_body, "number of operands", "bar.sync 0;", "bar.sync 0, 32;"},
    {in_body, "register or constant", "add.u32 %r1, %r2, %r3;", "add.u32 %r1, %r2, 3;"},
    {in_body, "integer", "add.u32 %r1, %r2, 3;", "add.u32 %r1, %r2, 4;"},
    {in_body, "sign of an integer", "add.u32 %r1, %r2, 3;", "add.u32 %r1, %r2, -3;"},
    {in_body, "high bits", "add.u64 %rd1, %rd2, 4294967296;", "add.u64 %rd1, %rd2, 0;"},
    {in_body, "f32 bits", "mov.f32 %f1, 0f3f800000;", "mov.f32 %f1, 0f3f800001;"},
    {in_body, "f64 bits", "mov.f64 %d1, 0d3ff0000000000000;", "mov.f64 %d1, 0d3ff0000000000001;"},
    {in_body, "zero's sign", "mov.f32 %f1, 0f00000000;", "mov.f32 %f1, 0f80000000;"},
    {in_body, "decimal", "mov.f64 %d1, 1.5;", "mov.f64 %d1, 1.25;"},
    {in_body, "f32 or f64", "mov.f32 %f1, 0f00000000;", "mov.f32 %f1, 0d0000000000000000;"},
    {in_body, "special register", "mov.u32 %r1, %tid.x;", "mov.u32 %r1, %ctaid.x;"},
    {in_body, "its component", "mov.u32 %r1, %tid.x;", "mov.u32 %r1, %tid.y;"},
    {in_body, "component", "mov.b32 %r1, v.x;", "mov.b32 %r1, v.w;"},
    {in_body, "selector", "vadd.u32.u32.u32 %r1, %r2.b0, %r3;",
     "vadd.u32.u32.u32 %r1, %r2.b1, %r3;"},
    {in_body, "no selector", "vadd.u32.u32.u32 %r1, %r2.b0, %r3;",
     "vadd.u32.u32.u32 %r1, %r2, %r3;"},
    {in_body, "byte selection", "vadd4.u32.u32.u32 %r1, %r2.b0123, %r3, %r4;",
     "vadd4.u32.u32.u32 %r1, %r2.b0122, %r3, %r4;"},
    {in_body, "minus", "vmad.s32.s32.s32 %r1, %r2, %r3, %r4;",
     "vmad.s32.s32.s32 %r1, %r2, %r3, -%r4;"},
    {in_body, "negated operand", "selp.u32 %r1, %r2, %r3, %p; and.pred %p, %p, %q;",
     "selp.u32 %r1, %r2, %r3, %p; and.pred %p, %p, !%q;"},
    {in_body, "second result", "setp.eq.u32 %p, %r1, 0;", "setp.eq.u32 %p|%q, %r1, 0;"},
    {in_body, "which second result", "setp.eq.u32 %p|%p, %r1, 0;", "setp.eq.u32 %p|%q, %r1, 0;"},
    {in_body, "dropped result", "atom.global.add.u32 _, [%rd1], 1;",
     "atom.global.add.u32 %r1, [%rd1], 1;"},
    {in_body, "address", "ld.u32 %r1, [%rd1];", "ld.u32 %r1, [%rd2];"},
    {in_body, "offset", "ld.u32 %r1, [%rd1+4];", "ld.u32 %r1, [%rd1+8];"},
    {in_body, "no offset", "ld.u32 %r1, [%rd1+4];", "ld.u32 %r1, [%rd1];"},
    {in_body, "offset's sign", "ld.u32 %r1, [%rd1+4];", "ld.u32 %r1, [%rd1+-4];"},
    {in_body, "variable", "ld.global.u32 %r1, [g];", "ld.global.u32 %r1, [h];"},
    {in_body, "variable's offset", "ld.global.u32 %r1, [g+4];", "ld.global.u32 %r1, [g+8];"},
    {in_body, "offset of an address", "mov.u64 %rd1, g+4;", "mov.u64 %rd1, g+8;"},
    {in_body, "absolute address", "ld.local.u32 %r1, [4];", "ld.local.u32 %r1, [8];"},
    {in_body, "index register", "ld.global.u32 %r1, g[%r2];", "ld.global.u32 %r1, g[%r3];"},
    {in_body, "index offset", "ld.global.u32 %r1, g[%r2+4];", "ld.global.u32 %r1, g[%r2+8];"},
    {in_body, "parameter", "ld.param.u64 %rd1, [p];", "ld.param.u64 %rd1, [q];"},
    {in_body, "unified", "ld.global.u32 %r1, [%rd1].unified;", "ld.global.u32 %r1, [%rd1];"},
    {in_body, "coordinates", "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [tex, {%r1}];",
     "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [tex, {%r2}];"},
    {in_body, "target", "bra l;", "bra m;"},
    {in_body, "uni", "bra l;", "bra.uni l;"},
    {in_body, "label", "n:", "o:"},
    {in_body, "label's place", "n: add.u32 %r1, %r2, %r3;", "add.u32 %r1, %r2, %r3; n:"},
    {in_body, "labels' order", "n: o:", "o: n:"},
    {in_body, "scope", "add.u32 %r1, %r2, %r3;", "{ add.u32 %r1, %r2, %r3; }"},
    {in_body, "scope's extent", "{ bar.sync 0; } ret;", "{ bar.sync 0; ret; }"},
    {in_body, "register declared", ".reg .b32 x;", ".reg .b32 y;"},
    {in_body, "register's type", ".reg .b32 x;", ".reg .u32 x;"},
    {in_body, "vector register", ".reg .b32 x;", ".reg .v2 .b32 x;"},
    {in_body, "registers of a range", ".reg .b32 x<4>;", ".reg .b32 x<5>;"},
    {in_body, "range or register", ".reg .b32 x<1>;", ".reg .b32 x0;"},
    {in_body, "which register a name means", "{ .reg .b32 x; { .reg .b32 y; mov.b32 x, 1; } }",
     "{ .reg .b32 x; { .reg .b32 x; mov.b32 x, 1; } }"},
    {in_body, "inner or outer register", "{ .reg .b32 x; { mov.b32 x, 1; .reg .b32 x; } }",
     "{ .reg .b32 x; { .reg .b32 x; mov.b32 x, 1; } }"},
    {in_body, "local variable", ".local .b32 x;", ".shared .b32 x;"},
    {in_body, "variable's alignment", ".local .align 8 .b32 x;", ".local .b32 x;"},
    {in_body, "variable's size", ".local .b32 x[2];", ".local .b32 x[3];"},
    {in_body, ".loc file", ".loc 1 2 3", ".loc 2 2 3"},
    {in_body, ".loc line", ".loc 1 2 3", ".loc 1 3 3"},
    {in_body, ".loc column", ".loc 1 2 3", ".loc 1 2 4"},
    {in_body, ".loc", ".loc 1 2 3", ""},
    {in_body, "inlined", ".loc 1 2 3", ".loc 1 2 3, function_name l, inlined_at 1 1 1"},
    {in_body, "inlined where", ".loc 1 3 3\n.loc 1 2 3, function_name l, inlined_at 1 3 3",
     ".loc 1 3 3\n.loc 1 2 3, function_name l, inlined_at 1 1 1"},
    {in_body, "inlined function", ".loc 1 2 3, function_name m, inlined_at 1 1 1",
     ".loc 1 2 3, function_name l, inlined_at 1 1 1"},
    {in_body, "inlined function's offset", ".loc 1 2 3, function_name l+4, inlined_at 1 1 1",
     ".loc 1 2 3, function_name l, inlined_at 1 1 1"},
    {in_body, ".pragma", ".pragma \"nounroll\";", ".pragma \"other\";"},
    {in_body, "no .pragma", ".pragma \"nounroll\";", ""},
    {in_body, "callee", "{ .param .b32 a; call f, (a); }", "{ .param .b32 a; call e, (a); }"},
    {in_body, "call.uni", "{ .param .b32 a; call f, (a); }", "{ .param .b32 a; call.uni f, (a); }"},
    {in_body, "argument", "{ .param .b32 a, b; call f, (a); }",
     "{ .param .b32 a, b; call f, (b); }"},
    {in_body, "prototype", "t: .callprototype _ (.param .b32 a);",
     "t: .callprototype _ (.param .b64 a);"},
    {in_body, "prototype's result", "t: .callprototype _ (.param .b32 a);",
     "t: .callprototype (.param .b32 r) _ (.param .b32 a);"},
    {in_body, "prototype's attribute", "t: .callprototype _ ();",
     "t: .callprototype _ () .noreturn;"},
    {in_body, "branch targets", "t: .branchtargets l, m;", "t: .branchtargets m, l;"},
    {in_body, "number of branch targets", "t: .branchtargets l, m;", "t: .branchtargets l;"},
    {in_body, "call targets", "t: .calltargets f;", "t: .calltargets e;"},

    {"#\n.target sm_90", ".version", ".version 8.0", ".version 8.1"},
    {".version 8.0\n.target #", ".target", "sm_80", "sm_90"},
    {".version 8.0\n.target #", "target suffix", "sm_90a", "sm_90"},
    {".version 8.0\n.target #\n.section .debug_str { .b8 1 }", "target option", "sm_90, debug",
     "sm_90"},
    {".version 8.0\n.target #", "texture mode", "sm_90, texmode_independent", "sm_90"},
    {".version 8.0\n.target sm_80\n#", ".address_size", ".address_size 64", ".address_size 32"},
    {".version 8.0\n.target sm_80\n#", "no .address_size", ".address_size 32", ""},
    {at_module, "variable", ".global .u32 g;", ""},
    {at_module, "variable's name", ".global .u32 g;", ".global .u32 h;"},
    {at_module, "variable's space", ".global .u32 g;", ".const .u32 g;"},
    {at_module, "variable's type", ".global .u32 g;", ".global .s32 g;"},
    {at_module, "vector variable", ".global .u32 g;", ".global .v2 .u32 g;"},
    {at_module, "alignment", ".global .u32 g;", ".global .align 16 .u32 g;"},
    {at_module, "how much alignment", ".global .align 8 .u32 g;", ".global .align 16 .u32 g;"},
    {at_module, "array", ".global .u32 g;", ".global .u32 g[1];"},
    {at_module, "array's size", ".global .u32 g[2];", ".global .u32 g[3];"},
    {at_module, "dimensions", ".global .u32 g[2][3];", ".global .u32 g[3][2];"},
    {at_module, "number of dimensions", ".global .u32 g[2][3];", ".global .u32 g[6];"},
    {at_module, "unsized", ".extern .global .u32 g[];", ".extern .global .u32 g[2];"},
    {at_module, "linkage", ".global .u32 g;", ".visible .global .u32 g;"},
    {at_module, "weak", ".weak .global .u32 g;", ".visible .global .u32 g;"},
    {at_module, "common", ".weak .global .u32 g;", ".common .global .u32 g;"},
    {at_module, "extern", ".extern .global .u32 g;", ".visible .global .u32 g;"},
    {at_module, "managed", ".global .u32 g;", ".global .attribute(.managed) .u32 g;"},
    {at_module, "unified", ".global .attribute(.unified(1, 2)) .u32 g;",
     ".global .attribute(.unified(1, 3)) .u32 g;"},
    {at_module, "initial value", ".global .u32 g = 1;", ".global .u32 g = 2;"},
    {at_module, "no initial value", ".global .u32 g = 1;", ".global .u32 g;"},
    {at_module, "element", ".global .u32 g[3] = {1, 2, 3};", ".global .u32 g[3] = {1, 2, 4};"},
    {at_module, "number of elements", ".global .u32 g[3] = {1, 2, 3};",
     ".global .u32 g[3] = {1, 2};"},
    {at_module, "nested element", ".global .u32 g[2][2] = {{1, 2}, {3, 4}};",
     ".global .u32 g[2][2] = {{1, 2}, {3, 5}};"},
    {at_module, "float element", ".global .f32 g = 0f3f800000;", ".global .f32 g = 0f3f800001;"},
    {at_module, "decimal element", ".global .f64 g = 1.5;", ".global .f64 g = 1.25;"},
    {at_module, "address element", ".global .u32 x, y; .global .u64 g = x;",
     ".global .u32 x, y; .global .u64 g = y;"},
    {at_module, "its offset", ".global .u32 x, y; .global .u64 g = x;",
     ".global .u32 x, y; .global .u64 g = x+4;"},
    {at_module, "generic address", ".global .u32 x; .global .u64 g = x;",
     ".global .u32 x; .global .u64 g = generic(x);"},
    {at_module, "mask", ".global .u32 x; .global .u8 g[] = {0xff(x)};",
     ".global .u32 x; .global .u8 g[] = {0xff00(x)};"},
    {".version 8.0\n.target sm_80, texmode_independent\n#", "sampler fields",
     ".global .samplerref g = {addr_mode_0 = wrap};",
     ".global .samplerref g = {addr_mode_0 = mirror};"},
    {at_module, "order of variables", ".global .u32 g; .global .u32 h;",
     ".global .u32 h; .global .u32 g;"},
    {at_module, "kind of item", ".global .u32 g;", ".func g(){ret;}"},
    {at_module, "function or kernel", ".func g(){ret;}", ".entry g(){ret;}"},
    {at_module, "function's name", ".func g(){ret;}", ".func f(){ret;}"},
    {at_module, "function's linkage", ".func g(){ret;}", ".visible .func g(){ret;}"},
    {at_module, "body", ".extern .func g();", ".visible .func g(){ret;}"},
    {at_module, "result", ".func g(){ret;}", ".func (.param .b32 r) g(){ret;}"},
    {at_module, "result's type", ".func (.param .b64 r) g(){ret;}",
     ".func (.param .b32 r) g(){ret;}"},
    {at_module, "parameter's name", ".func g(.param .b32 a){ret;}", ".func g(.param .b32 b){ret;}"},
    {at_module, "parameter's type", ".func g(.param .b32 a){ret;}", ".func g(.param .b64 a){ret;}"},
    {at_module, "register parameter", ".func g(.param .b32 a){ret;}", ".func g(.reg .b32 a){ret;}"},
    {at_module, "parameter's alignment", ".func g(.param .align 8 .b8 a[8]){ret;}",
     ".func g(.param .align 4 .b8 a[8]){ret;}"},
    {at_module, "parameter's size", ".func g(.param .b8 a[8]){ret;}",
     ".func g(.param .b8 a[4]){ret;}"},
    {at_module, "parameters' order", ".entry g(.param .b32 a, .param .b64 b){ret;}",
     ".entry g(.param .b64 b, .param .b32 a){ret;}"},
    {at_module, "number of parameters", ".entry g(.param .b32 a, .param .b64 b){ret;}",
     ".entry g(.param .b32 a){ret;}"},
    {at_module, "empty parameters", ".entry g(){ret;}", ".entry g {ret;}"},
    {at_module, ".ptr", ".entry g(.param .u64 a){ret;}", ".entry g(.param .u64 .ptr a){ret;}"},
    {at_module, ".ptr's space", ".entry g(.param .u64 .ptr .global a){ret;}",
     ".entry g(.param .u64 .ptr .shared a){ret;}"},
    {at_module, ".ptr's alignment", ".entry g(.param .u64 .ptr .align 4 a){ret;}",
     ".entry g(.param .u64 .ptr .align 8 a){ret;}"},
    {at_module, "directive", ".entry g() .maxntid 128 {ret;}", ".entry g() {ret;}"},
    {at_module, "its number", ".entry g() .maxntid 128 {ret;}", ".entry g() .maxntid 64 {ret;}"},
    {at_module, "its numbers", ".entry g() .maxntid 128, 2 {ret;}",
     ".entry g() .maxntid 128, 2, 2 {ret;}"},
    {at_module, "which directive", ".entry g() .maxntid 128 {ret;}",
     ".entry g() .reqntid 128 {ret;}"},
    {at_module, "directives' order", ".entry g() .maxntid 128 .maxnreg 32 {ret;}",
     ".entry g() .maxnreg 32 .maxntid 128 {ret;}"},
    {at_module, "noreturn", ".func g() {trap;}", ".func g() .noreturn {trap;}"},
    {at_module, "function's pragma", ".entry g() .pragma \"nounroll\"; {ret;}",
     ".entry g() .pragma \"other\"; {ret;}"},
    {at_module, "module's pragma", ".pragma \"nounroll\";", ""},
    {at_module, "file's name", ".file 1 \"a.cu\"", ".file 1 \"b.cu\""},
    {at_module, "file's number", ".file 1 \"a.cu\"", ".file 2 \"a.cu\""},
    {at_module, "file's time", ".file 1 \"a.cu\", 1, 2", ".file 1 \"a.cu\", 2, 2"},
    {at_module, "file's size", ".file 1 \"a.cu\", 1, 2", ".file 1 \"a.cu\", 1, 3"},
    {at_module, "no file time", ".file 1 \"a.cu\", 0, 0", ".file 1 \"a.cu\""},
    {at_module, "section's name", ".section .debug_str { .b8 1 }",
     ".section .debug_info { .b8 1 }"},
    {at_module, "section's data", ".section .debug_str { .b8 1 }", ".section .debug_str { .b8 2 }"},
    {at_module, "section's numbers", ".section .debug_str { .b8 1, 11 }",
     ".section .debug_str { .b8 11, 1 }"},
    {at_module, "alias",
     ".visible .func a(){ret;} .visible .func b(){ret;} .visible .func c(); .alias c, a;",
     ".visible .func a(){ret;} .visible .func b(){ret;} .visible .func c(); .alias c, b;"},
};

static struct parsed *fill(const char *frame, const char *with, char **text)
{
    const char *hash = strchr(frame, '#');
    struct buf b = {0};
    buf_add(&b, frame, (size_t)(hash - frame));
    buf_puts(&b, with);
    buf_puts(&b, hash + 1);
    *text = b.data;
    return parse_text("difference", b.data, b.size);
}

Test(roundtrip, differences_are_seen)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct pair *t = &pairs[i];
        char *text[3];
        struct parsed *a = fill(t->frame, t->a, &text[0]), *b = fill(t->frame, t->b, &text[1]),
                      *again = fill(t->frame, t->a, &text[2]);
        cr_expect(a->ok, "%s: '%s': %s", t->what, t->a, first_error(a));
        cr_expect(b->ok, "%s: '%s': %s", t->what, t->b, first_error(b));
        if (a->ok && b->ok) {
            const char *none = ptx_module_difference(a->module, again->module);
            cr_expect(!none, "%s: '%s' differs from itself in %s", t->what, t->a, none);
            cr_expect(ptx_module_difference(a->module, b->module), "%s: '%s' and '%s' are the same",
                      t->what, t->a, t->b);
            cr_expect(ptx_module_difference(b->module, a->module), "%s: '%s' and '%s' are the same",
                      t->what, t->b, t->a);
            for (int k = 0; k < 2; k++) { /* and each survives printing */
                struct buf out = {0};
                struct parsed *one = k ? b : a;
                ptx_print(one->module, &out);
                struct parsed *back = parse_text("printed", out.data, out.size);
                const char *d = ptx_module_difference(one->module, back->module);
                cr_expect(back->ok && !d, "%s: '%s' printed: %s\n%s", t->what, k ? t->b : t->a,
                          back->ok ? d : first_error(back), out.data);
                parsed_free(back);
                buf_free(&out);
            }
        }
        parsed_free(a);
        parsed_free(b);
        parsed_free(again);
        for (int k = 0; k < 3; k++) free(text[k]);
    }
}

/* What carries no meaning is no difference. */
static const struct pair alike[] = {
    {in_body, "blanks", "add.u32 %r1,%r2,%r3;", " add.u32\t%r1 , %r2\n, %r3 ;"},
    {in_body, "comments", "add.u32 %r1, %r2, %r3;", "add.u32 /* x */ %r1, // y\n %r2, %r3;"},
    {in_body, "blanks in an opcode", "ld.global.u32 %r1, [g];", "ld .global .u32 %r1, [g];"},
    {in_body, "spelling of numbers", "add.u32 %r1, %r2, 255;", "add.u32 %r1, %r2, 0xffU;"},
    {in_body, "constant expressions", "add.u32 %r1, %r2, 14;", "add.u32 %r1, %r2, 2 + 3 * 4;"},
    {in_body, "WARP_SZ", "add.u32 %r1, %r2, 32;", "add.u32 %r1, %r2, WARP_SZ;"},
    {in_body, "decimals", "mov.f64 %d1, 1.5;", "mov.f64 %d1, 15e-1;"},
    {in_body, "lists of registers", ".reg .b32 x, y;", ".reg .b32 x; .reg .b32 y;"},
    {in_body, "components", "mov.b32 %r1, v.x;", "mov.b32 %r1, v.r;"},
    {at_module, "lists of variables", ".global .u32 g, h;", ".global .u32 g; .global .u32 h;"},
    {at_module, "computed values", ".global .u32 g = 6;", ".global .u32 g = 2*3;"},
    {at_module, "section blanks", ".section .debug_str { .b8 1,2 }",
     ".section .debug_str\n{\n.b8 1, 2\n}"},
};

Test(roundtrip, spelling_is_no_difference)
{
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
        const struct pair *t = &alike[i];
        char *text[2];
        struct parsed *a = fill(t->frame, t->a, &text[0]), *b = fill(t->frame, t->b, &text[1]);
        cr_expect(a->ok && b->ok, "%s: %s%s", t->what, first_error(a), first_error(b));
        const char *d = a->ok && b->ok ? ptx_module_difference(a->module, b->module) : NULL;
        cr_expect(!d, "%s: '%s' and '%s' differ in %s", t->what, t->a, t->b, d);
        parsed_free(a);
        parsed_free(b);
        for (int k = 0; k < 2; k++) free(text[k]);
    }
}
