/* mma and mma.sp: whole matrices are spread over the lanes as the index formulas of the PTX ISA say (9.7.14.5), multiplied
 * by one instruction, and gathered again. ldmatrix, wmma and their kin are in emu_wmma.c. */
#include "tests/support/matrix.h"

static struct product products[WARPS];

/* A dense or sparse mma of type words, shapes and so on; `extra` stands where .satfinite or the rounding does. */
static void check_mma(const char *version, const char *op, struct product like, int select_range)
{
    uint64_t seed = (uint64_t)like.m * 1000 + (uint64_t)like.k * 100 + like.a * 10 + like.d +
                    like.small + (uint64_t)like.draw * 7919;
    for (const char *p = op; *p; p++) seed = seed * 31 + (unsigned char)*p;
    struct frag a = {.type = like.a}, b = {.type = like.b}, c = {.type = like.c},
                d = {.type = like.d}, e = {.regs = 1, .type = S32};
    int kept = like.kept ? like.kept : like.k;
    a.regs = like.m * kept / 32 / per(like.a);
    b.regs = like.k * 8 / 32 / per(like.b);
    c.regs = like.m * 8 / 32 / per(like.c);
    d.regs = like.m * 8 / 32 / per(like.d);
    int selector = select_range ? (int)(rng_next(&seed) % (uint64_t)select_range) : 0;
    for (int t = 0; t < THREADS; t++) e.word[0][t] = (uint32_t)rng_next(&seed);
    for (int w = 0; w < WARPS; w++) {
        struct product *x = &products[w];
        *x = like;
        fill_product(x, &seed);
        for (int l = 0; l < 32; l++) {
            int t = w * 32 + l;
            for (int i = 0; i < a.regs * per(a.type); i++) {
                struct spot p = a_place(like.m, kept, types[a.type].bits, l, i);
                put(&a, t, i, x->am[p.row][p.col]);
            }
            for (int i = 0; i < b.regs * per(b.type); i++) {
                struct spot p = b_place(like.k, types[b.type].bits, l, i);
                put(&b, t, i, x->bm[p.row][p.col]);
            }
            for (int i = 0; i < c.regs * per(c.type); i++) {
                struct spot p = c_place(l, i);
                put(&c, t, i, x->cm[p.row][p.col]);
            }
        }
        if (!like.kept) continue;
        /* Which of a chunk are there: two of four, for four-bit types two pairs of four; of tf32 one of two. */
        int bits = types[like.a].bits, size = bits == 32 ? 2 : bits == 4 ? 8 : 4;
        bool ordered = strstr(op, "ordered") != NULL;
        for (int row = 0; row < 16; row++)
            for (int q = 0; q < like.k / size; q++) {
                int i = (int)(rng_next(&seed) % 4),
                    j = (int)((unsigned)i + 1 + rng_next(&seed) % 3) % 4;
                if (ordered && i > j) {
                    int swap = i;
                    i = j;
                    j = swap;
                }
                if (size == 2) i = i < 2 ? 0 : 2, j = i + 1; /* 0b0100, 0b1110 */
                int *at = &x->at[row][q * size / 2];
                if (size == 2) at[0] = q * 2 + i / 2;
                if (size == 4) at[0] = q * 4 + i, at[1] = q * 4 + j;
                if (size == 8)
                    at[0] = q * 8 + i * 2, at[1] = at[0] + 1, at[2] = q * 8 + j * 2,
                    at[3] = at[2] + 1;
                /* Figures 119, 122, 125, 127: T0: [3..0] [7..4] [11..8] [15..12] for four chunks of row g,
                 * [19..16] and so on of row g + 8; T1 for the next four chunks. Figures 129, 136, 137, 139,
                 * 146, 147: T0 has eight chunks of row g, T1 of row g + 8, T2 and T3 the next eight. */
                int threads = like.k / size / 4, holder, shift;
                if (bits >= 16) holder = q / 4, shift = row / 8 * 16 + q % 4 * 4;
                else holder = row / 8 + q / 8 * 2, shift = q % 8 * 4;
                uint64_t *word = &e.word[0][w * 32 + row % 8 * 4 + selector * threads + holder];
                *word = (*word & ~(15ull << shift)) | (uint64_t)(i | j << 2) << shift;
            }
    }
    run_mma(version, "sm_90", op, &d, &a, &b, &c, like.kept ? &e : NULL, selector);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < d.regs * per(d.type); i++) {
            struct spot p = c_place(t % 32, i);
            expect_product(&products[t / 32], p.row, p.col, get(&d, t, i), op);
        }
}

static void check_dense(const char *extra, int m, int k, enum type d, enum type a, enum type b,
                        enum type c, const char *end)
{
    char op[200];
    snprintf(op, sizeof op, "mma.sync.aligned.m%dn8k%d.row.col%s.%s.%s.%s.%s%s", m, k, extra,
             types[d].name, types[a].name, types[b].name, types[c].name, end);
    struct product x = {.m = m,
                        .n = 8,
                        .k = k,
                        .a = a,
                        .b = b,
                        .c = c,
                        .d = d,
                        .saturate = !strcmp(extra, ".satfinite")};
    x.op = strstr(end, ".xor") ? XOR : strstr(end, ".and") ? AND : MULTIPLY;
    x.round = !strcmp(extra, ".rz")   ? FE_TOWARDZERO
              : !strcmp(extra, ".rm") ? FE_DOWNWARD
              : !strcmp(extra, ".rp") ? FE_UPWARD
                                      : FE_TONEAREST;
    for (int small = 0; small < 2; small++) {
        x.small = small;
        check_mma("8.7", op, x, 0);
    }
}

Test(emu_matrix, mma_f16_bf16_tf32)
{
    for (int k = 8; k <= 16; k += 8) {
        check_dense("", 16, k, F16, F16, F16, F16, "");
        check_dense("", 16, k, F32, F16, F16, F32, "");
        check_dense("", 16, k, F32, BF16, BF16, F32, "");
    }
    check_dense("", 16, 4, F32, TF32, TF32, F32, "");
    check_dense("", 16, 8, F32, TF32, TF32, F32, "");
}

/* Products of all types that are cut, in a range. */
static void check_cut(unsigned range, int draws)
{
    static const struct {
        enum type type;
        int k;
    } cases[] = {{F16, 8}, {F16, 16}, {BF16, 8}, {BF16, 16}, {TF32, 4}, {TF32, 8}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int draw = 0; draw < draws; draw++) {
            char op[200];
            const char *name = types[cases[i].type].name;
            snprintf(op, sizeof op, "mma.sync.aligned.m16n8k%d.row.col.f32.%s.%s.f32", cases[i].k,
                     name, name);
            check_mma("8.7", op,
                      (struct product){.m = 16,
                                       .n = 8,
                                       .k = cases[i].k,
                                       .a = cases[i].type,
                                       .b = cases[i].type,
                                       .c = F32,
                                       .d = F32,
                                       .range = range,
                                       .draw = draw},
                      0);
        }
}

/* Where products are computed with integers, and around where they are not. */
Test(emu_matrix, mma_cut_of_finite_numbers)
{
    for (unsigned range = FULL_SUMS; range <= ZEROS_AND_GREAT; range++) check_cut(range, 1);
}

/* Where they are computed by chains of multiply-adds, and around where they are not. */
Test(emu_matrix, mma_cut_by_chains)
{
    check_cut(ONE_SIGN, 32);
    check_cut(FEW_BITS, 16);
}

Test(emu_matrix, mma_f8)
{
    static const enum type f8[] = {E4M3, E5M2};
    for (int i = 0; i < 4; i++)
        for (int k = 16; k <= 32; k += 16) {
            check_dense("", 16, k, F32, f8[i / 2], f8[i % 2], F32, "");
            check_dense("", 16, k, F16, f8[i / 2], f8[i % 2], F16, "");
        }
}

Test(emu_matrix, mma_f64)
{
    static const char *const rounding[] = {"", ".rn", ".rz", ".rm", ".rp"};
    for (int i = 0; i < 5; i++) {
        check_dense(rounding[i], 8, 4, F64, F64, F64, F64, "");
        for (int k = 4; k <= 16; k *= 2) check_dense(rounding[i], 16, k, F64, F64, F64, F64, "");
    }
}

Test(emu_matrix, mma_integers)
{
    static const enum type eight[] = {S8, U8}, four[] = {S4, U4};
    static const struct {
        int m, k;
    } shapes[] = {{8, 16}, {16, 16}, {16, 32}};
    for (int i = 0; i < 4; i++)
        for (int s = 0; s < 3; s++)
            for (int sat = 0; sat < 2; sat++) {
                const char *extra = sat ? ".satfinite" : "";
                check_dense(extra, shapes[s].m, shapes[s].k, S32, eight[i / 2], eight[i % 2], S32,
                            "");
                check_dense(extra, shapes[s].m, shapes[s].k * 2, S32, four[i / 2], four[i % 2], S32,
                            "");
            }
}

/* Sums beyond 32 bits: C at the ends of the range, all products of one sign. */
Test(emu_matrix, integers_wrap_or_saturate)
{
    for (int sat = 0; sat < 2; sat++) {
        struct frag a = {.regs = 4, .type = S8}, b = {.regs = 2, .type = U8},
                    c = {.regs = 4, .type = S32}, d = {.regs = 4, .type = S32};
        for (int t = 0; t < THREADS; t++) {
            for (int r = 0; r < 4; r++)
                a.word[r][t] = t < 32 ? 0x80808080 : 0x7f7f7f7f,
                c.word[r][t] = t < 32 ? 0x80000000 + (r == 0 ? 40000000u : 0) : 0x7fffffff;
            b.word[0][t] = b.word[1][t] = 0xffffffff;
        }
        run_mma("8.0", "sm_80",
                sat ? "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32"
                    : "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32",
                &d, &a, &b, &c, NULL, 0);
        for (int t = 0; t < THREADS; t++)
            for (int r = 0; r < 4; r++) {
                int64_t sum = (int64_t)(int32_t)c.word[r][t] + 32ll * 255 * (t < 32 ? -128 : 127);
                if (sat) sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
                cr_assert_eq((uint32_t)d.word[r][t], (uint32_t)sum);
            }
    }
}

Test(emu_matrix, mma_bits)
{
    static const char *const end[] = {".xor.popc", ".and.popc"};
    for (int i = 0; i < 2; i++) {
        check_dense("", 8, 128, S32, B1, B1, S32, end[i]);
        check_dense("", 16, 128, S32, B1, B1, S32, end[i]);
        check_dense("", 16, 256, S32, B1, B1, S32, end[i]);
    }
}

static void check_sparse(int k, enum type d, enum type a, enum type b, enum type c, int selectors)
{
    for (int way = 0; way < 8; way++) {
        bool saturate = d == S32 && way & 4;
        char op[200];
        snprintf(op, sizeof op, "mma.sp%s.sync.aligned.m16n8k%d.row.col%s.%s.%s.%s.%s",
                 way & 1 ? "::ordered_metadata" : "", k, saturate ? ".satfinite" : "",
                 types[d].name, types[a].name, types[b].name, types[c].name);
        struct product x = {.m = 16,
                            .n = 8,
                            .k = k,
                            .a = a,
                            .b = b,
                            .c = c,
                            .d = d,
                            .kept = k / 2,
                            .small = way & 2,
                            .saturate = saturate};
        check_mma("8.7", op, x, selectors);
    }
}

Test(emu_matrix, mma_sparse)
{
    for (int more = 0; more < 2; more++) {
        int selectors = more ? 2 : 4;
        check_sparse(16 << more, F16, F16, F16, F16, selectors);
        check_sparse(16 << more, F32, F16, F16, F32, selectors);
        check_sparse(16 << more, F32, BF16, BF16, F32, selectors);
        check_sparse(8 << more, F32, TF32, TF32, F32, selectors);
        static const enum type eight[] = {S8, U8}, four[] = {S4, U4}, f8[] = {E4M3, E5M2};
        selectors = more ? 1 : 2;
        for (int i = 0; i < 4; i++) {
            check_sparse(32 << more, S32, eight[i / 2], eight[i % 2], S32, selectors);
            check_sparse(64 << more, S32, four[i / 2], four[i % 2], S32, selectors);
            if (more) check_sparse(64, F32, f8[i / 2], f8[i % 2], F32, 1);
        }
    }
}

/* Four products at once, each of lanes 4q..4q+3 and 4q+16..4q+19. */
Test(emu_matrix, mma_m8n8k4_f16)
{
    static struct product quads[WARPS * 4];
    for (int way = 0; way < 24; way++) {
        bool a_col = way & 1, b_col = way & 2;
        bool small = way & 4;
        enum type d = way / 8 == 0 ? F16 : F32, c = way / 8 == 2 ? F32 : F16;
        char op[200];
        snprintf(op, sizeof op, "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s",
                 a_col ? "col" : "row", b_col ? "col" : "row", types[d].name, types[c].name);
        uint64_t seed = (uint64_t)way;
        struct frag fa = {.regs = 2, .type = F16}, fb = {.regs = 2, .type = F16},
                    fc = {.regs = c == F16 ? 4 : 8, .type = c},
                    fd = {.regs = d == F16 ? 4 : 8, .type = d};
        for (int q = 0; q < WARPS * 4; q++) {
            quads[q] = (struct product){
                .m = 8, .n = 8, .k = 4, .a = F16, .b = F16, .c = c, .d = d, .small = small};
            fill_product(&quads[q], &seed);
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int t = 0; t < THREADS; t++) {
                int lane = t % 32;
                struct product *x = &quads[t / 32 * 4 + lane % 16 / 4];
                int high = lane < 16 ? 0 : 4;
                for (int i = 0; i < 4 && !pass; i++) {
                    int row = a_col ? i % 4 + high : lane % 4 + high, col = a_col ? lane % 4 : i;
                    put(&fa, t, i, x->am[row][col]);
                    row = b_col ? i : lane % 4;
                    col = b_col ? lane % 4 + high : i + high;
                    put(&fb, t, i, x->bm[row][col]);
                }
                for (int i = 0; i < 8; i++) {
                    enum type which = pass ? d : c;
                    int row = lane % 4 + high, col = i;
                    if (which == F32) {
                        row = (lane & 1) + (i & 2) + high;
                        col = (i & 4) + (lane & 2) + (i & 1);
                    }
                    if (pass) expect_product(x, row, col, get(&fd, t, i), op);
                    else put(&fc, t, i, x->cm[row][col]);
                }
            }
            if (!pass) run_mma("7.0", "sm_70", op, &fd, &fa, &fb, &fc, NULL, 0);
        }
    }
}
