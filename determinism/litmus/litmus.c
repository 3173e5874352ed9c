/* Litmus tests: reading them, making them stronger, and their PTX. */
#include "determinism/litmus/litmus.h"

#include "base/buf.h"

#include <string.h>

enum { SPACING = 256, RESULTS = 2048, LAST_VALUES = 3072 }; /* bytes of the buffer */

const char *const litmus_placements[] = {"grid", "block", "pairs", "shared", NULL};
const char *const litmus_variants[] = {
    "weak",         "rlx",         "rlx.cta", "fence.cta", "fence.gpu", "fence.sys", "fence.sc.cta",
    "fence.sc.gpu", "rel+acq.cta", "rel+acq", "atom.cta",  "atom",      NULL};
_Static_assert(sizeof litmus_variants / sizeof *litmus_variants == LITMUS_VARIANTS + 1,
               "each has a name");

/* ---- reading ---------------------------------------------------------------------------------- */

static const struct {
    char letter;
    uint8_t kind;
    bool location, operand, result;
} letters[] = {
    {'R', LITMUS_LOAD, true, false, true},      {'W', LITMUS_STORE, true, true, false},
    {'X', LITMUS_EXCHANGE, true, true, true},   {'A', LITMUS_ADD, true, true, true},
    {'D', LITMUS_REDUCE, true, true, false},    {'F', LITMUS_FENCE, false, false, false},
    {'B', LITMUS_BARRIER, false, false, false},
};

static const char *blanks(const char *p)
{
    while (*p == ' ' || *p == '\n') p++;
    return p;
}

/* Reads ".word" of the table, if it is there, and says which. */
static const char *suffix(const char *p, const char *const *words, int *which)
{
    for (int i = 0; *p == '.' && words[i]; i++) {
        const size_t n = strlen(words[i]);
        if (strncmp(p + 1, words[i], n) != 0 || (p[n + 1] >= 'a' && p[n + 1] <= 'z')) continue;
        *which = i;
        return p + n + 1;
    }
    return p;
}

static const char *read_operand(struct litmus_op *op, const char **at)
{
    const char *p = blanks(*at);
    const bool from = *p == 'r';
    int v = 0;
    p += from;
    if (*p < '0' || *p > '9') return "a number from 0 to 15, or r0, r1... is missing";
    while (*p >= '0' && *p <= '9' && v < 100) v = 10 * v + *p++ - '0';
    if (v > 15) return "the number is above 15";
    if (from) op->from = (int16_t)v;
    else op->value = (uint8_t)v;
    *at = p;
    return NULL;
}

static const char *check_strength(struct litmus_op *op, bool strong, bool scoped)
{
    const bool memory = op->kind < LITMUS_FENCE;
    if (op->kind == LITMUS_BARRIER) return strong || scoped ? "a barrier takes no suffix" : NULL;
    if (op->kind == LITMUS_FENCE && op->strength != LITMUS_ACQ_REL && op->strength != LITMUS_SC)
        return "a fence is F.ar or F.sc with a scope";
    if (memory && op->strength == LITMUS_SC) return "only fences are .sc";
    if (op->kind >= LITMUS_EXCHANGE && memory && !strong) op->strength = LITMUS_RELAXED;
    if (op->kind == LITMUS_LOAD && op->strength > LITMUS_ACQUIRE)
        return "a load is weak, .vol, .rlx or .acq";
    if (op->kind == LITMUS_STORE &&
        (op->strength == LITMUS_ACQUIRE || op->strength == LITMUS_ACQ_REL))
        return "a store is weak, .vol, .rlx or .rel";
    if (!scoped && op->strength > LITMUS_VOLATILE) op->scope = EMU_SCOPE_GPU;
    if (op->strength == LITMUS_VOLATILE) op->scope = EMU_SCOPE_SYS;
    return NULL;
}

static const char *read_op(struct litmus *t, uint32_t thread, const char **at)
{
    static const char *const strengths[] = {"weak", "vol", "rlx", "acq", "rel", "ar", "sc", NULL},
                             *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
    if (t->count[thread] == LITMUS_OPS) return "a thread has at most 12 operations";
    struct litmus_op *op = &t->ops[thread][t->count[thread]++];
    const char *p = *at, *why = NULL;
    size_t k = 0;
    int strength = -1, scope = -1;
    while (k < sizeof letters / sizeof *letters && letters[k].letter != *p) k++;
    if (k == sizeof letters / sizeof *letters) return "an operation is R, W, X, A, D, F or B";
    *op = (struct litmus_op){.kind = letters[k].kind, .from = -1, .result = -1};
    p = suffix(suffix(p + 1, strengths, &strength), scopes, &scope);
    if (strength >= 0) op->strength = (uint8_t)strength;
    if (scope >= 0) op->scope = (uint8_t)scope;
    if ((why = check_strength(op, strength >= 0, scope >= 0))) return why;
    if (letters[k].location) {
        static const char names[] = "xyzw";
        p = blanks(p);
        const char *name = *p ? strchr(names, *p) : NULL;
        if (!name) return "a location is x, y, z or w";
        op->location = (uint8_t)(name - names);
        if (op->location >= t->locations) t->locations = op->location + 1u;
        p++;
    }
    if (letters[k].operand) why = read_operand(op, &p);
    if (letters[k].result) op->result = (int16_t)t->reads++;
    *at = blanks(p);
    return why;
}

const char *litmus_parse(struct litmus *t, const char *text)
{
    const char *p = blanks(text);
    *t = (struct litmus){.threads = 1};
    while (*p) {
        const char *why = read_op(t, t->threads - 1, &p);
        if (why) return why;
        if (*p == ';') p = blanks(p + 1);
        else if (p[0] == '|' && p[1] == '|') {
            if (t->threads == LITMUS_THREADS) return "there are at most four threads";
            t->threads++;
            p = blanks(p + 2);
        } else if (*p) return "operations are separated by ';', threads by '||'";
    }
    if (t->reads + t->locations > 16) return "an outcome has at most 16 values";
    litmus_place(t, LITMUS_GRID);
    return NULL;
}

void litmus_place(struct litmus *t, enum litmus_placement where)
{
    for (uint32_t i = 0; i < t->threads; i++)
        t->cta[i] = where == LITMUS_GRID ? i : where == LITMUS_PAIRS ? i / 2 : 0;
    t->shared = where == LITMUS_SHARED;
}

/* ---- stronger --------------------------------------------------------------------------------- */

static const struct {
    uint8_t load, store, fence, scope, fence_scope;
    bool atomic;
} variants[] = {
    [LITMUS_ALL_RELAXED] = {LITMUS_RELAXED, LITMUS_RELAXED, 0, EMU_SCOPE_GPU, 0, false},
    [LITMUS_RELAXED_CTA] = {LITMUS_RELAXED, LITMUS_RELAXED, 0, EMU_SCOPE_CTA, 0, false},
    [LITMUS_FENCED_CTA] = {LITMUS_RELAXED, LITMUS_RELAXED, LITMUS_ACQ_REL, EMU_SCOPE_GPU,
                           EMU_SCOPE_CTA, false},
    [LITMUS_FENCED] = {LITMUS_RELAXED, LITMUS_RELAXED, LITMUS_ACQ_REL, EMU_SCOPE_GPU, EMU_SCOPE_GPU,
                       false},
    [LITMUS_FENCED_SYS] = {LITMUS_RELAXED, LITMUS_RELAXED, LITMUS_ACQ_REL, EMU_SCOPE_SYS,
                           EMU_SCOPE_SYS, false},
    [LITMUS_FENCED_SC_CTA] = {LITMUS_RELAXED, LITMUS_RELAXED, LITMUS_SC, EMU_SCOPE_GPU,
                              EMU_SCOPE_CTA, false},
    [LITMUS_FENCED_SC] = {LITMUS_RELAXED, LITMUS_RELAXED, LITMUS_SC, EMU_SCOPE_GPU, EMU_SCOPE_GPU,
                          false},
    [LITMUS_REL_ACQ_CTA] = {LITMUS_ACQUIRE, LITMUS_RELEASE, 0, EMU_SCOPE_CTA, 0, false},
    [LITMUS_REL_ACQ] = {LITMUS_ACQUIRE, LITMUS_RELEASE, 0, EMU_SCOPE_GPU, 0, false},
    [LITMUS_ATOMIC_CTA] = {LITMUS_RELAXED, LITMUS_RELAXED, 0, EMU_SCOPE_CTA, 0, true},
    [LITMUS_ATOMIC] = {LITMUS_RELAXED, LITMUS_RELAXED, 0, EMU_SCOPE_GPU, 0, true},
};

/* Numbers the values that are read anew. */
static void number(struct litmus *t)
{
    t->reads = 0;
    for (uint32_t i = 0; i < t->threads; i++)
        for (uint32_t k = 0; k < t->count[i]; k++)
            if (t->ops[i][k].result >= 0) t->ops[i][k].result = (int16_t)t->reads++;
}

void litmus_strengthen(struct litmus *t, enum litmus_variant how)
{
    if (how == LITMUS_AS_IS) return;
    for (uint32_t i = 0; i < t->threads; i++) {
        struct litmus_op out[LITMUS_OPS];
        uint32_t n = 0;
        for (uint32_t k = 0; k < t->count[i] && n < LITMUS_OPS; k++) {
            struct litmus_op op = t->ops[i][k];
            if (k && variants[how].fence && n + 1 < LITMUS_OPS)
                out[n++] = (struct litmus_op){.kind = LITMUS_FENCE,
                                              .strength = variants[how].fence,
                                              .scope = variants[how].fence_scope,
                                              .from = -1,
                                              .result = -1};
            const bool atomic = op.kind >= LITMUS_EXCHANGE && op.kind < LITMUS_FENCE;
            if (op.kind <= LITMUS_STORE && op.strength == LITMUS_WEAK) {
                op.strength = op.kind == LITMUS_LOAD ? variants[how].load : variants[how].store;
                op.scope = variants[how].scope;
                if (variants[how].atomic && op.kind == LITMUS_STORE) op.result = 0;
                if (variants[how].atomic)
                    op.kind = op.kind == LITMUS_LOAD ? LITMUS_ADD : LITMUS_EXCHANGE;
            } else if (atomic && op.strength == LITMUS_RELAXED) op.scope = variants[how].scope;
            if (atomic && variants[how].load == LITMUS_ACQUIRE) op.strength = LITMUS_ACQ_REL;
            out[n++] = op;
        }
        memcpy(t->ops[i], out, n * sizeof *out);
        t->count[i] = n;
    }
    number(t);
}

/* ---- text ------------------------------------------------------------------------------------- */

void litmus_print(struct buf *out, const struct litmus *t, uint64_t outcome)
{
    for (uint32_t i = 0; i < t->reads; i++)
        buf_printf(out, "%s%u", i ? " " : "", (unsigned)(outcome >> 4 * i & 15));
    buf_printf(out, ",");
    for (uint32_t i = 0; i < t->locations; i++)
        buf_printf(out, " %c=%u", "xyzw"[i], (unsigned)(outcome >> 4 * (t->reads + i) & 15));
}

/* ".acquire.gpu" */
static void print_strength(struct buf *out, const struct litmus_op *op)
{
    static const char *const strengths[] = {"weak",    "volatile", "relaxed", "acquire",
                                            "release", "acq_rel",  "sc"},
                             *const scopes[] = {"cta", "cluster", "gpu", "sys"};
    buf_printf(out, ".%s", strengths[op->strength]);
    if (op->strength > LITMUS_VOLATILE) buf_printf(out, ".%s", scopes[op->scope]);
}

static void print_op(struct buf *out, const struct litmus *t, uint32_t thread,
                     const struct litmus_op *op)
{
    static const char *const names[] = {"ld", "st", "atom", "atom", "red", "fence"};
    if (op->kind == LITMUS_BARRIER) {
        buf_printf(out, "    bar.sync 0;\n");
        return;
    }
    buf_printf(out, "    %s", names[op->kind]);
    print_strength(out, op);
    if (op->kind == LITMUS_FENCE) {
        buf_printf(out, ";\n");
        return;
    }
    const char *const types[] = {".u32", ".u32", ".exch.b32", ".add.u32", ".add.u32"};
    buf_printf(out, ".%s%s ", t->shared ? "shared" : "global", types[op->kind]);
    if (op->result >= 0) buf_printf(out, "%%v%d, ", op->result);
    buf_printf(out, "[%s+%d]", t->shared ? "places" : "%base", op->location * SPACING);
    int first = -1; /* the thread's first value */
    for (uint32_t k = t->count[thread]; k-- > 0;)
        if (t->ops[thread][k].result >= 0) first = t->ops[thread][k].result;
    if (op->kind != LITMUS_LOAD) {
        if (op->from >= 0) buf_printf(out, ", %%v%d", first + op->from);
        else buf_printf(out, ", %u", op->value);
    }
    buf_printf(out, ";\n");
}

/* The number of a thread's warp in its CTA. */
static uint32_t warp_of(const struct litmus *t, uint32_t thread)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < thread; i++) n += t->cta[i] == t->cta[thread];
    return n;
}

void litmus_ptx(struct buf *out, const struct litmus *t)
{
    buf_printf(out, ".version 8.0\n.target sm_90\n.address_size 64\n"
                    ".visible .entry litmus(.param .u64 p)\n{\n    .reg .pred %%q<4>;\n"
                    "    .reg .b32 %%i<4>, %%v<17>;\n    .reg .b64 %%base;\n");
    if (t->shared)
        buf_printf(out, "    .shared .align 16 .b8 places[%d];\n", SPACING * LITMUS_LOCATIONS);
    buf_printf(
        out,
        "    ld.param.u64 %%base, [p];\n    mov.u32 %%i0, %%tid.x;\n    and.b32 %%i1, %%i0, 31;\n"
        "    setp.ne.u32 %%q0, %%i1, 0;\n    @%%q0 ret;\n    shr.u32 %%i0, %%i0, 5;\n"
        "    mov.u32 %%i1, %%ctaid.x;\n    shl.b32 %%i1, %%i1, 8;\n    or.b32 %%i0, %%i0, %%i1;\n");
    for (uint32_t l = 0; t->shared && l < t->locations; l++)
        buf_printf(out, "    st.shared.u32 [places+%u], 0;\n", l * SPACING);
    if (t->shared) buf_printf(out, "    bar.sync 1;\n");
    for (uint32_t i = 0; i < t->threads; i++)
        buf_printf(out, "    setp.eq.u32 %%q0, %%i0, %u;\n    @%%q0 bra THREAD%u;\n",
                   t->cta[i] << 8 | warp_of(t, i), i);
    buf_printf(out, "    ret;\n");
    for (uint32_t i = 0; i < t->threads; i++) {
        buf_printf(out, "THREAD%u:\n", i);
        for (uint32_t k = 0; k < t->count[i]; k++) print_op(out, t, i, &t->ops[i][k]);
        for (uint32_t k = 0; k < t->count[i]; k++)
            if (t->ops[i][k].result >= 0)
                buf_printf(out, "    st.global.u32 [%%base+%d], %%v%d;\n",
                           RESULTS + 4 * t->ops[i][k].result, t->ops[i][k].result);
        if (t->shared) buf_printf(out, "    bar.sync 2;\n");
        for (uint32_t l = 0; t->shared && !i && l < t->locations; l++)
            buf_printf(
                out, "    ld.shared.u32 %%i2, [places+%u];\n    st.global.u32 [%%base+%u], %%i2;\n",
                l * SPACING, LAST_VALUES + 4 * l);
        buf_printf(out, "    ret;\n");
    }
    buf_printf(out, "}\n");
}
