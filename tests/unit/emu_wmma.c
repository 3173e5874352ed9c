/* ldmatrix, stmatrix, movmatrix and wmma: as in emu_matrix.c, with matrices in memory; and what orders and observers hear of
 * their accesses. */
#include "tests/support/matrix.h"

#include "base/arena.h"
#include "base/diag.h"
#include "emu/order.h"

/* ---- ldmatrix, stmatrix, movmatrix --------------------------------------------------------------- */

enum { BYTES = 16384 };

/* Copies BYTES from parameter `in` to shared memory `sm` and, at the end, back to `out`. 32 threads. */
static void say_shared_in(void)
{
    say("mov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 4;\nld.param.u64 %%rd1, [in];\nadd.s64 %%rd1, %%rd1, %%rd0;\n"
        "mov.u32 %%r1, sm;\nshl.b32 %%r2, %%r0, 2;\nadd.u32 %%r1, %%r1, %%r2;\n");
    for (int i = 0; i < BYTES; i += 128)
        say("ld.global.u32 %%r3, [%%rd1+%d];\nst.shared.u32 [%%r1+%d], %%r3;\n", i, i);
}
static void say_shared_out(void)
{
    say("ld.param.u64 %%rd1, [out];\nadd.s64 %%rd1, %%rd1, %%rd0;\n");
    for (int i = 0; i < BYTES; i += 128)
        say("ld.shared.u32 %%r3, [%%r1+%d];\nst.global.u32 [%%rd1+%d], %%r3;\n", i, i);
}

/* Each lane's address is `sm` + its word of `at`; registers %v0.. are loaded from and stored to `v`. */
static bool run_matrix(const char *op, int regs, bool store, bool generic, const uint16_t *memory,
                       uint16_t *after, const uint32_t *at, uint32_t (*v)[32], struct emu_run *r)
{
    begin("8.0", "sm_90");
    say(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 at, .param .u64 v)\n{\n"
        ".reg .b64 %%rd<10>;\n.reg .b32 %%r<10>, %%v<8>;\n.shared .align 128 .b8 sm[%d];\n",
        BYTES);
    say_shared_in();
    say("ld.param.u64 %%rd2, [at];\nadd.s64 %%rd2, %%rd2, %%rd0;\nld.global.u32 %%r4, [%%rd2];\nmov.u32 %%r5, sm;\n"
        "add.u32 %%r4, %%r4, %%r5;\ncvt.u64.u32 %%rd3, %%r4;\ncvta.shared.u64 %%rd3, %%rd3;\n"
        "ld.param.u64 %%rd4, [v];\nadd.s64 %%rd4, %%rd4, %%rd0;\n");
    for (int i = 0; i < regs; i++) say("ld.global.u32 %%v%d, [%%rd4+%d];\n", i, i * 128);
    const char *address = generic ? "%rd3" : "%r4";
    say("%s ", op);
    if (store) say("[%s+16], ", address);
    say_vector("v", regs);
    if (!store) say(", [%s+16]", address);
    say(";\n");
    for (int i = 0; i < regs; i++) say("st.global.u32 [%%rd4+%d], %%v%d;\n", i * 128, i);
    say_shared_out();
    say("ret;\n}\n");
    *r = (struct emu_run){.ptx = text, .grid = 1, .block = 32};
    r->args[0] = emu_in(r, memory, BYTES);
    r->args[1] = emu_out(r, after, BYTES);
    r->args[2] = emu_in(r, at, 32 * 4);
    r->args[3] = emu_inout(r, v, (size_t)regs * 128);
    return emu_run(r);
}

Test(emu_matrix, ldmatrix_and_stmatrix)
{
    uint64_t seed = 1;
    for (int way = 0; way < 24; way++) {
        bool store = way & 1, trans = way & 2, generic = way & 4;
        int n = 1 << way / 8;
        static uint16_t memory[BYTES / 2], after[BYTES / 2], want[BYTES / 2];
        uint32_t at[32], v[4][32], before[4][32];
        for (int i = 0; i < BYTES / 2; i++) memory[i] = want[i] = (uint16_t)rng_next(&seed);
        for (int l = 0; l < 32; l++)
            at[l] = ((uint32_t)l * 7 % 32 * 5 + 3) * 16;     /* not side by side, in no order */
        for (int l = n * 8; l < 32; l++) at[l] = 0x7fffffff; /* nobody looks at these */
        for (int i = 0; i < 4; i++)
            for (int l = 0; l < 32; l++) v[i][l] = before[i][l] = (uint32_t)rng_next(&seed);
        char op[200];
        snprintf(op, sizeof op, "%s.sync.aligned.m8n8.x%d%s%s.b16", store ? "stmatrix" : "ldmatrix",
                 n, trans ? ".trans" : "",
                 generic   ? ""
                 : way & 8 ? ".shared"
                           : ".shared::cta");
        struct emu_run r;
        cr_assert(run_matrix(op, n, store, generic, memory, after, at, v, &r), "%s\n%s", op,
                  r.fault);
        for (int i = 0; i < n; i++)
            for (int l = 0; l < 32; l++)
                for (int h = 0; h < 2; h++) {
                    int row = l / 4, col = l % 4 * 2 + h; /* of the fragment */
                    uint32_t place = at[i * 8 + (trans ? col : row)] / 2 + 8 +
                                     (uint32_t)(trans ? row : col);
                    if (store) want[place] = (uint16_t)(before[i][l] >> h * 16);
                    else
                        cr_assert_eq((uint16_t)(v[i][l] >> h * 16), memory[place],
                                     "%s: matrix %d lane %d", op, i, l);
                }
        cr_assert(!memcmp(after, want, BYTES), "%s: memory", op);
    }
}

Test(emu_matrix, rows_must_be_in_shared_memory)
{
    static uint16_t memory[BYTES / 2], after[BYTES / 2];
    uint32_t at[32], v[4][32] = {{0}};
    struct emu_run r;
    const char *op = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
    for (int l = 0; l < 32; l++) at[l] = (uint32_t)l * 16;
    cr_assert(run_matrix(op, 4, false, false, memory, after, at, v, &r), "%s", r.fault);
    at[17] = 8;
    cr_assert_not(run_matrix(op, 4, false, false, memory, after, at, v, &r));
    cr_assert_eq(r.kind, EMU_MISALIGNED, "%s", r.fault);
    cr_assert_eq(r.where.thread[0], 17);
    at[17] = BYTES - 16;
    cr_assert_not(run_matrix(op, 4, false, false, memory, after, at, v, &r));
    cr_assert_eq(r.kind, EMU_OUT_OF_BOUNDS, "%s", r.fault);
    cr_assert_not(run_matrix("stmatrix.sync.aligned.m8n8.x4.shared.b16", 4, true, false, memory,
                             after, at, v, &r));
    cr_assert_eq(r.kind, EMU_OUT_OF_BOUNDS, "%s", r.fault);
    at[17] = 0xf0000000; /* as a generic address it is global memory */
    cr_assert_not(
        run_matrix("ldmatrix.sync.aligned.m8n8.x4.b16", 4, false, true, memory, after, at, v, &r));
    cr_assert_eq(r.kind, EMU_WRONG_SPACE, "%s", r.fault);
}

Test(emu_matrix, movmatrix_transposes)
{
    uint64_t seed = 2;
    uint32_t v[32], out[32];
    for (int l = 0; l < 32; l++) v[l] = (uint32_t)rng_next(&seed);
    begin("8.0", "sm_90");
    say(".visible .entry k(.param .u64 v, .param .u64 out)\n{\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<4>;\n"
        "mov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 4;\nld.param.u64 %%rd1, [v];\nadd.s64 %%rd1, %%rd1, %%rd0;\n"
        "ld.global.u32 %%r1, [%%rd1];\nmovmatrix.sync.aligned.m8n8.trans.b16 %%r1, %%r1;\n"
        "ld.param.u64 %%rd1, [out];\nadd.s64 %%rd1, %%rd1, %%rd0;\nst.global.u32 [%%rd1], %%r1;\nret;\n}\n");
    struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
    r.args[0] = emu_in(&r, v, sizeof v);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (int row = 0; row < 8; row++)
        for (int col = 0; col < 8; col++) {
            uint32_t from = v[row * 4 + col / 2] >> col % 2 * 16 & 0xffff,
                     to = out[col * 4 + row / 2] >> row % 2 * 16 & 0xffff;
            cr_assert_eq(to, from, "row %d column %d", row, col);
        }
}

/* ---- wmma ---------------------------------------------------------------------------------------- */

struct wmma {
    const char *version, *target;
    int m, n, k;
    enum type ab, c, d;
    bool a_col, b_col, c_col, d_col;
    int regs_a, regs_b;
    int pad;           /* elements more than a line has; 0: no stride is given */
    const char *space; /* ".global", ".shared", "" */
    const char *mma;   /* words between wmma.mma and the shape, and behind the types */
    const char *tail;
    bool old, dc_only; /* no .aligned; only D's and C's types are named */
    unsigned range;    /* of struct product */
    int draw;
};

struct memory {       /* of one matrix: lines with padding; sub-byte elements low first */
    int offset, line; /* in bytes; bytes of a line with its padding */
    bool col;
    int bits;
};

static uint8_t bytes[16384], result[16384];

static uint64_t *none;
static void poke(const struct memory *q, int row, int col, uint64_t bits)
{
    int line = q->col ? col : row, from = q->col ? row : col,
        at = (q->offset + line * q->line) * 8 + from * q->bits;
    for (int i = 0; i < q->bits; i++) {
        uint8_t *b = &bytes[(at + i) / 8], one = (uint8_t)(1 << (at + i) % 8);
        *b = (uint8_t)(bits >> i & 1 ? *b | one : *b & ~one);
    }
    (void)none;
}
static uint64_t peek(const struct memory *q, int row, int col)
{
    int line = q->col ? col : row, from = q->col ? row : col,
        at = (q->offset + line * q->line) * 8 + from * q->bits;
    uint64_t v = 0;
    for (int i = 0; i < q->bits; i++)
        v |= (uint64_t)(result[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return v;
}

static struct memory lay(int *top, int rows, int cols, bool col, int bits, int pad)
{
    int lines = col ? cols : rows, length = col ? rows : cols;
    struct memory q = {.offset = *top, .line = (length + pad) * bits / 8, .col = col, .bits = bits};
    *top += lines * q.line;
    *top = (*top + 255) / 256 * 256;
    return q;
}

static void check_wmma(struct wmma f, bool small)
{
    static struct product x;
    x = (struct product){.m = f.m,
                         .n = f.n,
                         .k = f.k,
                         .a = f.ab,
                         .b = f.ab,
                         .c = f.c,
                         .d = f.d,
                         .small = small,
                         .range = f.range,
                         .draw = f.draw,
                         .saturate = strstr(f.tail, "satfinite") != NULL,
                         .round = FE_TONEAREST};
    x.op = strstr(f.mma, "xor") ? XOR : strstr(f.mma, "and") ? AND : MULTIPLY;
    x.round = strstr(f.tail, ".rz") || strstr(f.mma, ".rz") ? FE_TOWARDZERO : FE_TONEAREST;
    uint64_t seed = (uint64_t)f.m * 7 + (uint64_t)f.ab * 3 + (uint64_t)f.a_col +
                    2 * (uint64_t)f.b_col + (uint64_t)f.pad + (uint64_t)f.draw * 7919;
    fill_product(&x, &seed);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)rng_next(&seed);
    int top = 0, bits = types[f.ab].bits, pad = f.pad;
    struct memory a = lay(&top, f.m, f.k, f.a_col, bits, pad * 16 / bits * (bits < 16 ? 1 : 1)),
                  b = lay(&top, f.k, f.n, f.b_col, bits, pad * 16 / bits),
                  c = lay(&top, f.m, f.n, f.c_col, types[f.c].bits, pad),
                  d = lay(&top, f.m, f.n, f.d_col, types[f.d].bits, pad);
    cr_assert_lt(top, (int)sizeof bytes);
    for (int i = 0; i < f.m; i++)
        for (int j = 0; j < f.k; j++) poke(&a, i, j, x.am[i][j]);
    for (int i = 0; i < f.k; i++)
        for (int j = 0; j < f.n; j++) poke(&b, i, j, x.bm[i][j]);
    for (int i = 0; i < f.m; i++)
        for (int j = 0; j < f.n; j++) poke(&c, i, j, x.cm[i][j]);
    int regs_c = f.m * f.n / 32 / per(f.c), regs_d = f.m * f.n / 32 / per(f.d);
    const char *aligned = f.old ? "" : ".aligned";
    bool shared = !strcmp(f.space, ".shared");
    char shape[40], stride[4][30] = {""};
    snprintf(shape, sizeof shape, ".m%dn%dk%d", f.m, f.n, f.k);
    const struct memory *all[] = {&a, &b, &c, &d};
    for (int i = 0; i < 4; i++)
        if (pad) snprintf(stride[i], sizeof stride[i], ", %d", all[i]->line * 8 / all[i]->bits);
    begin(f.version, f.target);
    say(".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %%rd<10>;\n.reg .b32 %%r<10>;\n"
        ".reg .u32 %%s;\n.reg %s %%a<8>, %%b<8>;\n.reg %s %%c<8>;\n.reg %s %%d<8>;\n",
        reg_type(f.ab == TF32 ? S32 : f.ab), reg_type(f.c), reg_type(f.d));
    if (shared) {
        say(".shared .align 256 .b8 sm[%d];\n", BYTES);
        cr_assert_leq(top, BYTES);
        say_shared_in();
        say("mov.u64 %%rd5, sm;\nmov.u64 %%rd6, sm;\n");
    } else say("ld.param.u64 %%rd5, [in];\nld.param.u64 %%rd6, [out];\n");
    say("wmma.load.a.sync%s%s%s%s.%s ", aligned, f.a_col ? ".col" : ".row", shape, f.space,
        types[f.ab].name);
    say_vector("a", f.regs_a);
    say(", [%%rd5+%d]%s;\n", a.offset, stride[0]);
    say("wmma.load.b.sync%s%s%s%s.%s ", aligned, f.b_col ? ".col" : ".row", shape, f.space,
        types[f.ab].name);
    say_vector("b", f.regs_b);
    say(", [%%rd5+%d]%s;\n", b.offset, stride[1]);
    if (pad) say("mov.u32 %%s%s;\n", stride[2]); /* a register for once */
    say("wmma.load.c.sync%s%s%s%s.%s ", aligned, f.c_col ? ".col" : ".row", shape, f.space,
        types[f.c].name);
    say_vector("c", regs_c);
    say(", [%%rd5+%d]%s;\n", c.offset, pad ? ", %s" : "");
    say("wmma.mma%s.sync%s%s%s%s", f.mma, aligned, f.a_col ? ".col" : ".row",
        f.b_col ? ".col" : ".row", shape);
    if (f.dc_only) say(".%s.%s%s ", types[f.d].name, types[f.c].name, f.tail);
    else if (f.ab == F64) say("%s.f64.f64.f64.f64 ", f.tail);
    else
        say(".%s.%s.%s.%s%s ", types[f.d].name, types[f.ab].name, types[f.ab].name, types[f.c].name,
            f.tail);
    say_vector("d", regs_d);
    say(", ");
    say_vector("a", f.regs_a);
    say(", ");
    say_vector("b", f.regs_b);
    say(", ");
    say_vector("c", regs_c);
    say(";\nwmma.store.d.sync%s%s%s%s.%s [%%rd6+%d], ", aligned, f.d_col ? ".col" : ".row", shape,
        f.space, types[f.d].name, d.offset);
    say_vector("d", regs_d);
    say("%s;\n", stride[3]);
    if (shared) say_shared_out();
    say("ret;\n}\n");
    struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
    memcpy(result, bytes, sizeof bytes);
    r.args[0] = emu_in(&r, bytes, shared ? BYTES : sizeof bytes);
    r.args[1] = emu_inout(&r, result, shared ? BYTES : sizeof result);
    cr_assert(emu_run(&r), "%s\n%s", text, r.fault);
    char name[200];
    snprintf(name, sizeof name, "wmma%s %s %s pad %d%s", shape, types[f.ab].name, types[f.d].name,
             f.pad, f.space);
    for (int i = 0; i < f.m; i++)
        for (int j = 0; j < f.n; j++) expect_product(&x, i, j, peek(&d, i, j), name);
    /* nothing else was written */
    memcpy(bytes + d.offset, result + d.offset, (size_t)((d.col ? f.n : f.m) * d.line));
    for (int i = 0; i < (d.col ? f.n : f.m) && pad; i++)
        for (int j = (d.col ? f.m : f.n) * d.bits / 8; j < d.line; j++)
            bytes[d.offset + i * d.line + j] = result[d.offset + i * d.line + j];
    cr_assert(!memcmp(bytes, result, (size_t)(shared ? BYTES : (int)sizeof bytes)),
              "%s: memory beside D", name);
}

static const struct {
    int m, n, k;
} wmma_shapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};

Test(emu_matrix, wmma_f16, .timeout = 300)
{
    static const char *const spaces[] = {".global", ".shared", ""};
    for (int way = 0; way < 48; way++) {
        int s = way % 3;
        struct wmma f = {.version = "6.3",
                         .target = "sm_70",
                         .m = wmma_shapes[s].m,
                         .n = wmma_shapes[s].n,
                         .k = 16,
                         .ab = F16,
                         .c = way & 1 ? F16 : F32,
                         .d = way & 2 ? F16 : F32,
                         .a_col = way & 4,
                         .b_col = way & 8,
                         .c_col = way & 16,
                         .d_col = !(way & 4),
                         .regs_a = 8,
                         .regs_b = 8,
                         .pad = way % 5 == 0 ? 0 : 8,
                         .space = spaces[way / 3 % 3],
                         .mma = "",
                         .tail = way % 7 == 0 ? ".satfinite" : "",
                         .dc_only = true};
        if (way % 4 == 1) f.version = "6.1", f.old = true;
        check_wmma(f, way % 2);
    }
}

/* Several tiles of columns, and strips of rows: see mma_cut_by_chains. */
Test(emu_matrix, wmma_cut_by_chains)
{
    for (int way = 0; way < 96; way++) {
        struct wmma f = {.version = "6.3",
                         .target = "sm_70",
                         .m = wmma_shapes[way % 3].m,
                         .n = wmma_shapes[way % 3].n,
                         .k = 16,
                         .ab = F16,
                         .c = F32,
                         .d = F32,
                         .regs_a = 8,
                         .regs_b = 8,
                         .space = ".global",
                         .mma = "",
                         .tail = "",
                         .dc_only = true,
                         .range = way < 64 ? ONE_SIGN : FEW_BITS,
                         .draw = way / 3};
        check_wmma(f, false);
    }
}

Test(emu_matrix, wmma_bf16_tf32_f64)
{
    for (int way = 0; way < 16; way++) {
        struct wmma f = {.version = "8.0",
                         .target = "sm_80",
                         .ab = BF16,
                         .c = F32,
                         .d = F32,
                         .k = 16,
                         .a_col = way & 1,
                         .b_col = way & 2,
                         .c_col = way & 4,
                         .d_col = way & 2,
                         .pad = way & 8 ? 16 : 0,
                         .space = way & 1 ? ".shared" : ".global",
                         .mma = "",
                         .tail = ""};
        for (int s = 0; s < 3; s++) {
            f.m = wmma_shapes[s].m;
            f.n = wmma_shapes[s].n;
            f.regs_a = f.m * 16 / 64;
            f.regs_b = f.n * 16 / 64;
            check_wmma(f, way & 1);
        }
        f.ab = TF32;
        f.m = f.n = 16;
        f.k = 8;
        f.regs_a = f.regs_b = 4;
        check_wmma(f, way & 1);
        f.ab = f.c = f.d = F64;
        f.m = f.n = 8;
        f.k = 4;
        f.regs_a = f.regs_b = 1;
        f.tail = way & 2 ? ".rz" : "";
        check_wmma(f, way & 1);
    }
}

Test(emu_matrix, wmma_integers)
{
    for (int way = 0; way < 32; way++) {
        struct wmma f = {.version = "8.0",
                         .target = "sm_80",
                         .c = S32,
                         .d = S32,
                         .a_col = way & 1,
                         .b_col = way & 2,
                         .c_col = way & 4,
                         .d_col = way & 1,
                         .pad = way & 8 ? 16 : 0,
                         .space = way & 4 ? "" : ".shared",
                         .mma = "",
                         .tail = way & 16 ? ".satfinite" : ""};
        for (int s = 0; s < 3; s++) {
            f.ab = way & 2 ? S8 : U8;
            f.m = wmma_shapes[s].m;
            f.n = wmma_shapes[s].n;
            f.k = 16;
            f.regs_a = f.m * 16 / 128;
            f.regs_b = f.n * 16 / 128;
            check_wmma(f, true);
        }
        f.a_col = false;
        f.b_col = true;
        f.m = f.n = 8;
        f.regs_a = f.regs_b = 1;
        f.ab = way & 2 ? S4 : U4;
        f.k = 32;
        check_wmma(f, true);
        f.ab = B1;
        f.k = 128;
        f.mma = way & 1 ? ".xor.popc" : ".and.popc";
        f.tail = "";
        check_wmma(f, true);
    }
}

/* The fragment that code sees: as of mma, and an f16 one of A or B that needs fewer than eight registers twice. */
Test(emu_matrix, wmma_fragments)
{
    uint16_t matrix[256];
    uint32_t out[2][8][32];
    for (int i = 0; i < 256; i++) matrix[i] = (uint16_t)i;
    begin("7.0", "sm_80");
    say(".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<4>, %%a<8>, %%b<8>;\n"
        "ld.param.u64 %%rd1, [in];\nld.param.u64 %%rd2, [out];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 4;\n"
        "add.s64 %%rd2, %%rd2, %%rd0;\nwmma.load.a.sync.aligned.row.m16n16k16.global.f16 ");
    say_vector("a", 8);
    say(", [%%rd1];\nwmma.load.b.sync.aligned.row.m16n16k16.global.f16 ");
    say_vector("b", 8);
    say(", [%%rd1];\n");
    for (int i = 0; i < 8; i++)
        say("st.global.u32 [%%rd2+%d], %%a%d;\nst.global.u32 [%%rd2+%d], %%b%d;\n", i * 128, i,
            1024 + i * 128, i);
    say("ret;\n}\n");
    struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
    r.args[0] = emu_in(&r, matrix, sizeof matrix);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 16; i++) {
            struct spot p = a_place(16, 16, 16, l, i % 8), q = b_place(16, 16, l, i % 4);
            cr_assert_eq(out[0][i / 2][l] >> i % 2 * 16 & 0xffff, (uint32_t)(p.row * 16 + p.col),
                         "A: lane %d element %d", l, i);
            cr_assert_eq(out[1][i / 2][l] >> i % 2 * 16 & 0xffff,
                         (uint32_t)(q.row * 16 + q.col + i % 8 / 4 * 8), "B: lane %d element %d", l,
                         i);
        }
}

/* Lanes that are not here hold zeros, and get nothing. */
Test(emu_matrix, absent_lanes_count_as_zero)
{
    uint32_t in[32], out[4][32];
    for (int l = 0; l < 32; l++) in[l] = 0x3c003c00; /* 1, 1 */
    begin("7.0", "sm_80");
    say(".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<4>;\n.reg .f32 %%d<4>;\n.reg .pred p;\n"
        "ld.param.u64 %%rd1, [in];\nld.param.u64 %%rd2, [out];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 4;\n"
        "add.s64 %%rd2, %%rd2, %%rd0;\nadd.s64 %%rd1, %%rd1, %%rd0;\nld.global.u32 %%r1, [%%rd1];\nsetp.lt.u32 p, %%r0, 16;\n"
        "mov.f32 %%d0, 0f40000000;\nmov.f32 %%d1, 0f40000000;\nmov.f32 %%d2, 0f40000000;\nmov.f32 %%d3, 0f40000000;\n"
        "@p mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%%d0,%%d1,%%d2,%%d3}, {%%r1,%%r1}, {%%r1}, {%%d0,%%d1,%%d2,%%d3};\n");
    for (int i = 0; i < 4; i++) say("st.global.f32 [%%rd2+%d], %%d%d;\n", i * 128, i);
    say("ret;\n}\n");
    struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
    r.args[0] = emu_in(&r, in, sizeof in);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 4; i++) {
            /* lanes 0-15 have rows 0-3 and 8-11 of A, and columns 0-3 of B */
            int col = l % 4 * 2 + i % 2;
            float want = l >= 16 || col >= 4 ? 2.0f : 10.0f, got;
            memcpy(&got, &out[i][l], 4);
            cr_assert_eq(got, want, "lane %d element %d: %g", l, i, got);
        }
}

/* Lanes with addresses and strides of their own, and lanes that stay away: each moves its own elements. */
Test(emu_matrix, wmma_lane_by_lane)
{
    enum { HALVES = 2048 };
    static uint16_t in[HALVES], stored[HALVES];
    uint32_t out[8][32];
    for (int way = 0; way < 8; way++) {
        bool own = way & 1, some = way & 2, col = way & 4;
        for (int i = 0; i < HALVES; i++) in[i] = (uint16_t)(i * 31), stored[i] = 0;
        begin("7.0", "sm_80");
        say(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 st)\n{\n.reg .b64 %%rd<6>;\n"
            ".reg .b32 %%r<6>, %%a<8>;\n.reg .pred p;\nld.param.u64 %%rd1, [in];\nld.param.u64 %%rd2, [out];\n"
            "ld.param.u64 %%rd3, [st];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 4;\n"
            "add.s64 %%rd2, %%rd2, %%rd0;\nsetp.lt.u32 p, %%r0, 20;\nmov.u32 %%r1, 16;\n");
        for (int i = 0; i < 4; i++) say("mov.u32 %%a%d, 0x%x;\n", i, 0x10001 * i);
        if (own)
            say("and.b32 %%r2, %%r0, 1;\nmul.wide.u32 %%rd4, %%r2, 2048;\nadd.s64 %%rd1, %%rd1, %%rd4;\n"
                "add.s64 %%rd3, %%rd3, %%rd4;\nmul.lo.u32 %%r2, %%r2, 8;\nadd.u32 %%r1, %%r1, %%r2;\n");
        say("%s wmma.load.c.sync.aligned.%s.m16n16k16.global.f16 ", some ? "@p" : "",
            col ? "col" : "row");
        say_vector("a", 4);
        say(", [%%rd1], %%r1;\n%s wmma.store.d.sync.aligned.%s.m16n16k16.f16 [%%rd3], ",
            some ? "@p" : "", col ? "col" : "row");
        say_vector("a", 4);
        say(", %%r1;\n");
        for (int i = 0; i < 4; i++) say("st.global.u32 [%%rd2+%d], %%a%d;\n", i * 128, i);
        say("ret;\n}\n");
        struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
        r.args[0] = emu_in(&r, in, sizeof in);
        r.args[1] = emu_out(&r, out, sizeof out);
        r.args[2] = emu_out(&r, stored, sizeof stored);
        cr_assert(emu_run(&r), "%s", r.fault);
        static uint16_t want[HALVES];
        memset(want, 0, sizeof want);
        for (int l = 0; l < 32; l++)
            for (int i = 0; i < 8; i++) {
                struct spot p = c_place(l, i % 4);
                int row = p.row, column = p.col + i / 4 * 8, stride = own ? 16 + l % 2 * 8 : 16;
                int at = (own ? l % 2 * 1024 : 0) +
                         (col ? column * stride + row : row * stride + column);
                uint32_t expect = (uint32_t)(i / 2);
                if (!some || l < 20) expect = want[at] = in[at];
                cr_assert_eq(out[i / 2][l] >> i % 2 * 16 & 0xffff, expect,
                             "way %d lane %d element %d", way, l, i);
            }
        cr_assert(!memcmp(want, stored, sizeof want), "way %d", way);
    }
}

Test(emu_matrix, wmma_faults)
{
    static const struct {
        const char *body;
        enum emu_fault_kind kind;
    } cases[] = {
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 V8, [%rd1+32];", EMU_OUT_OF_BOUNDS},
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 V8, [%rd1], 0x7fffffff;",
         EMU_MISALIGNED},
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 V8, [%rd1], 0x70000000;",
         EMU_OUT_OF_BOUNDS},
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 V8, [%rd1], 0xfffffff0;",
         EMU_OUT_OF_BOUNDS},
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 V8, [%rd1+2];", EMU_MISALIGNED},
        {"wmma.load.a.sync.aligned.row.m16n16k16.f16 V8, [%rd4];", EMU_OUT_OF_BOUNDS},
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 V8, [sm];", EMU_OUT_OF_BOUNDS},
        {"wmma.load.a.sync.aligned.row.m16n16k16.f16 V8, [%rd3];", EMU_WRONG_SPACE},
        {"wmma.load.c.sync.aligned.row.m16n16k16.f16 V4, [%rd1];\n"
         "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [sm+16], V4;",
         EMU_OUT_OF_BOUNDS},
        {"wmma.load.c.sync.aligned.row.m16n16k16.f16 V4, [%rd1];\n"
         "wmma.store.d.sync.aligned.row.m16n16k16.f16 [%rd5], V4;",
         EMU_READ_ONLY},
    };
    static uint8_t memory[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[400] = "";
        for (const char *p = cases[i].body; *p; p++) {
            size_t n = strlen(body);
            if (!strncmp(p, "V8", 2)) strcat(body, "{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}"), p++;
            else if (!strncmp(p, "V4", 2)) strcat(body, "{%a0,%a1,%a2,%a3}"), p++;
            else body[n] = *p, body[n + 1] = '\0';
        }
        begin("7.0", "sm_80");
        say(".const .align 32 .b8 fixed[512];\n"
            ".visible .entry k(.param .u64 in)\n{\n.reg .b64 %%rd<6>;\n.reg .b32 %%a<8>;\n.local .align 32 .b8 own[512];\n"
            ".shared .align 32 .b8 sm[256];\nld.param.u64 %%rd1, [in];\nmov.u64 %%rd2, own;\ncvta.local.u64 %%rd3, %%rd2;\n"
            "mov.u64 %%rd4, 0;\nmov.u64 %%rd5, fixed;\ncvta.const.u64 %%rd5, %%rd5;\n"
            "%s\nst.global.u32 [%%rd1], %%a0;\nret;\n}\n",
            body);
        struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
        r.args[0] = emu_in(&r, memory, sizeof memory);
        cr_expect_not(emu_run(&r), "%s", cases[i].body);
        cr_expect_eq(r.kind, cases[i].kind, "%s\n%d: %s", cases[i].body, (int)r.kind, r.fault);
    }
}

/* ---- orders and observers ------------------------------------------------------------------------ */

struct seen { /* bytes that accesses named, of a buffer at `low` or of shared memory */
    uint64_t low;
    uint8_t read[2048], written[2048], shared_read[2048];
    unsigned accesses;
    bool hold; /* stores are not carried out */
};

static void see(struct seen *s, const struct emu_access *a)
{
    s->accesses++;
    for (int l = 0; l < 32; l++)
        for (int i = 0; a->lanes >> l & 1 && i < a->width * a->count; i++) {
            uint64_t at = a->address[l] + (uint64_t)i - s->low;
            uint64_t shared = a->address[l] + (uint64_t)i - 0x01000000;
            if (at < sizeof s->read) (a->kind == EMU_LOAD ? s->read : s->written)[at]++;
            else if (shared < sizeof s->shared_read && a->kind == EMU_LOAD)
                s->shared_read[shared]++;
        }
}
static void observe(void *self, const struct emu_access *a)
{
    see(self, a);
}
static enum emu_verdict decide(void *self, const struct emu_access *a)
{
    struct seen *s = self;
    if (!s->hold || a->address[0] < s->low) return EMU_PROCEED;
    for (int l = 0; a->kind == EMU_LOAD && l < 32; l++)
        memset(a->result + a->stride * (unsigned)l, 0x11, (size_t)a->width * a->count);
    return EMU_DONE;
}

static void run_watched(uint8_t *memory, struct seen *s, bool order)
{
    struct arena *arena = arena_new();
    struct source source = {"test.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m));
    struct emu *e = emu_new(&(struct emu_config){.threads = 1});
    char *why = NULL;
    struct emu_image *im = emu_load(e, &m, 1, &why);
    cr_assert(im, "%s", why);
    uint64_t at = s->low = emu_alloc(e, 2048, "buffer");
    emu_copy_in(e, at, memory, 2048);
    struct emu_observer o = {.self = s, .access = observe};
    struct emu_order decides = {
        .self = s, .wants = EMU_WANT_LOADS | EMU_WANT_STORES, .access = decide};
    const struct emu_observer *observers[] = {&o};
    struct emu_launch l = {.grid = {1, 1, 1},
                           .block = {32, 1, 1},
                           .params = &at,
                           .params_size = 8,
                           .observers = observers,
                           .observer_count = 1,
                           .order = order ? &decides : NULL};
    const struct emu_report *r = emu_launch(e, emu_kernel_at(im, 0), &l);
    cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
    emu_copy_out(e, memory, at, 2048);
    emu_unload(im);
    emu_free(e);
    ptx_module_end(m);
    arena_free(arena);
}

/* What is named are the bytes of the matrix, each once, and they get there as without an observer. */
Test(emu_matrix, accesses_are_reported)
{
    begin("8.0", "sm_90");
    say(".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd<6>;\n.reg .b32 %%a<8>, %%r<4>;\n.shared .align 32 .b8 sm[1024];\n"
        "ld.param.u64 %%rd1, [p];\nmov.u32 %%r0, %%tid.x;\nshl.b32 %%r1, %%r0, 4;\nmov.u32 %%r2, sm;\nadd.u32 %%r2, %%r2, %%r1;\n"
        "wmma.load.c.sync.aligned.col.m16n16k16.global.f16 {%%a0, %%a1, %%a2, %%a3}, [%%rd1], 24;\n"
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%%r2], {%%a0, %%a1, %%a2, %%a3};\n"
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%%a2, %%a3}, [%%r2];\n"
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%%rd1+1024], {%%a2, %%a3, %%a0, %%a1}, 16;\nret;\n}\n");
    static uint8_t memory[2048], before[2048];
    uint64_t seed = 3;
    for (int i = 0; i < 2048; i++) memory[i] = before[i] = (uint8_t)rng_next(&seed);
    static struct seen s;
    run_watched(memory, &s, false);
    cr_assert_eq(s.accesses, 4);
    for (int i = 0; i < 1024; i++) {
        cr_assert_eq(s.read[i], i / 48 < 16 && i % 48 < 32, "byte %d read", i);
        cr_assert_eq(s.written[i + 1024], i < 512, "byte %d written", i);
        cr_assert_eq(s.shared_read[i], i < 256, "byte %d of shared memory", i);
    }
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < 16; col++) {
            int to = 1024 + (row * 16 + col) * 2, from = (col % 8 * 24 + row) * 2;
            cr_assert_eq(memory[to], before[from], "row %d column %d", row, col);
            cr_assert_eq(memory[to + 1], before[from + 1], "row %d column %d", row, col);
        }
    /* an order that answers loads and keeps stores to itself */
    memcpy(memory, before, sizeof memory);
    s = (struct seen){.hold = true};
    run_watched(memory, &s, true);
    cr_assert(!memcmp(memory, before, sizeof memory));
}
