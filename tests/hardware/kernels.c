/* Kernels of one instruction: kernels.h says how. */
#define _GNU_SOURCE
#include "tests/hardware/kernels.h"

#include "ptx/ptx.h"
#include "tests/support/forms.h"

#include <stdlib.h>
#include <string.h>

struct maker {
    struct hardware_kernel k;
    struct buf declare, before, inst, after; /* the parts of the kernel */
    unsigned registers, v;
    bool failed;
    void (*see)(void *self, const struct hardware_kernel *k);
    void *self;
    size_t count;
};

static bool begins(const char *s, const char *start)
{
    return strncmp(s, start, strlen(start)) == 0;
}
static bool has(const struct ptx_op *op, const char *text)
{
    return memmem(op->text, op->text_length, text, strlen(text)) != NULL;
}

/* Forms that need more than operands in registers and 32 bytes of memory. */
static bool is_left_out(const struct ptx_form_info *f)
{
    static const char *const names[] = {
        "bra",      "brx",           "call",      "ret",          "exit",    "trap",
        "brkpt",    "bar",           "griddep",   "nanosleep",    "pmevent", "wmma",
        "cvta",     "isspacep",      "mapa",      "getctarank",   "alloca",  "stack",
        "prefetch", "applypriority", "discard",   "createpolicy", "cp.",     "mbarrier",
        "membar",   "fence",         "tex",       "tld4",         "txq",     "su",
        "st.async", "red.async",     "tensormap", "setmaxnreg",   "multimem"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(f->name, names[i]) && strcmp(f->name, "sub") && !begins(f->name, "sub"))
            return true;
    return false;
}
/* Of memory instructions: one scope, no hints, and the spaces where a thread has bytes of its own. */
static bool is_wanted(const struct ptx_op *op)
{
    static const char *const words[] = {"L1::",   "L2::",      ".ca.",     ".cs.",     ".lu.",
                                        ".cv.",   ".wb.",      ".wt.",     ".weak",    ".cta.",
                                        ".sys.",  ".cluster.", ".acquire", ".release", ".acq_rel",
                                        ".param", ".const",    "shared::", ".mmio"};
    if (!strcmp(op->form->id, "fma_bf16") && !has(op, ".rn."))
        return false; /* Heddle refuses them when they are carried out */
    if (op->form->unit != PTX_UNIT_MEM && op->form->unit != PTX_UNIT_ATOM) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has(op, words[i])) return false;
    if (op->form->unit == PTX_UNIT_MEM && has(op, ".v8")) return false; /* ptxas 13.0 crashes */
    return true;
}

static const char *bits_of(unsigned bits)
{
    return bits <= 8 ? "8" : bits <= 16 ? "16" : bits <= 32 ? "32" : bits <= 64 ? "64" : "128";
}
static struct hardware_slot *slot(struct maker *m, bool result, unsigned type)
{
    unsigned *n = result ? &m->k.results : &m->k.sources;
    struct hardware_slot *s = &(result ? m->k.result : m->k.source)[(*n)++];
    if (*n >= HARDWARE_SLOTS) m->failed = true, *n = 1;
    *s = (struct hardware_slot){.type = (uint8_t)type};
    return s;
}

/* A register with a source of this type loaded, or one whose value is stored behind the instruction. */
static void element(struct maker *m, const struct ptx_shape *s, unsigned type)
{
    const bool result = s->flags & PTX_WRITTEN;
    unsigned bits = ptx_types[type].bits, r = m->registers++;
    if (s->flags & PTX_PIECE && bits < 32) bits = 32;
    if (bits < 8 && type != PTX_pred) bits = 8;
    if (bits == 8 && s->flags & PTX_WIDE) bits = 16;
    if (bits == 8 && ptx_types[type].kind == PTX_PACK) bits = 16;
    const unsigned at = 8 * (result ? m->k.results : m->k.sources);
    struct hardware_slot *x = slot(m, result, type);
    x->piece = s->flags & PTX_PIECE;
    if (type == PTX_pred) {
        buf_printf(&m->declare, "\t.reg .pred %%r%u;\n\t.reg .b32 %%p%u;\n", r, r);
        if (result)
            buf_printf(&m->after,
                       "\tselp.b32 %%p%u, 1, 0, %%r%u;\n\tst.global.b32 [%%out+%u], %%p%u;\n", r, r,
                       at, r);
        else
            buf_printf(
                &m->before,
                "\tld.global.b32 %%p%u, [%%in+%u];\n\tand.b32 %%p%u, %%p%u, 1;\n\tsetp.ne.b32 %%r%u, %%p%u, 0;\n",
                r, at, r, r, r, r);
    } else if (bits == 128) {
        slot(m, result, PTX_b64);
        buf_printf(&m->declare, "\t.reg .b128 %%r%u;\n\t.reg .b64 %%l%u, %%h%u;\n", r, r, r);
        if (result)
            buf_printf(
                &m->after,
                "\tmov.b128 {%%l%u, %%h%u}, %%r%u;\n\tst.global.b64 [%%out+%u], %%l%u;\n\tst.global.b64 [%%out+%u], %%h%u;\n",
                r, r, r, at, r, at + 8, r);
        else
            buf_printf(
                &m->before,
                "\tld.global.b64 %%l%u, [%%in+%u];\n\tld.global.b64 %%h%u, [%%in+%u];\n\tmov.b128 %%r%u, {%%l%u, %%h%u};\n",
                r, at, r, at + 8, r, r, r);
    } else {
        const char *b = bits_of(bits), *kind = "b";
        if (type == PTX_f32 && bits == 32) kind = "f";
        if (type == PTX_f64) kind = "f";
        buf_printf(&m->declare, "\t.reg .%s%s %%r%u;\n", kind, b, r);
        if (result) buf_printf(&m->after, "\tst.global.b%s [%%out+%u], %%r%u;\n", b, at, r);
        else buf_printf(&m->before, "\tld.global.b%s %%r%u, [%%in+%u];\n", b, r, at);
    }
    buf_printf(&m->inst, "%%r%u", r);
}

static unsigned vary(struct maker *m, unsigned n, unsigned salt)
{
    return (m->v * 2654435761u + salt * 40503u * (m->v + 1)) / 97 % n;
}
static void selector(struct maker *m, const struct ptx_shape *s, const struct ptx_op *op,
                     unsigned i)
{
    if (m->v == 0) return;
    const char *name = op->form->name;
    const bool bytes = name[strlen(name) - 1] == '4';
    if (!(s->flags & PTX_SIMD)) {
        static const char *const one[] = {"b0", "b1", "b2", "b3", "h0", "h1"};
        buf_printf(&m->inst, ".%s", one[(m->v + i * 5 + op->text_length) % 6]);
    } else if (s->flags & PTX_WRITTEN) {
        static const char *const halves[] = {"h0", "h1", "h10"};
        static const char *const lanes[] = {"b0", "b3", "b10", "b210", "b3210", "b31", "b1"};
        buf_printf(&m->inst, ".%s",
                   bytes ? lanes[(m->v + op->text_length) % 7]
                         : halves[(m->v + op->text_length) % 3]);
    } else if (bytes) {
        buf_printf(&m->inst, ".b%u%u%u%u", vary(m, 8, i), vary(m, 8, i + 7), vary(m, 8, i + 3),
                   vary(m, 8, i + 11));
    } else buf_printf(&m->inst, ".h%u%u", vary(m, 4, i), vary(m, 4, i + 5));
}

static void value(struct maker *m, const struct ptx_op *op, const struct ptx_shape *s, unsigned i)
{
    static const unsigned luts[] = {0x96, 0xe8, 0x1b, 0x40, 0xfe, 0x00, 0xff, 0xca};
    const bool written = s->flags & PTX_WRITTEN;
    if (!written && s->flags & PTX_CONSTANT) {
        if (begins(op->form->name, "lop3")) buf_printf(&m->inst, "%u", luts[m->v]);
        else if (begins(op->form->name, "mma")) buf_printf(&m->inst, "%u", m->v);
        else m->failed = true;
        return;
    }
    if (!written && op->form->effects & PTX_LANES && i + 1 == op->shape_min &&
        op->form->unit == PTX_UNIT_WARP && has(op, ".sync")) {
        buf_puts(&m->inst, "-1"); /* the lanes that take part */
        return;
    }
    unsigned n = s->count_n ? s->counts[0] : 0;
    if (n) {
        buf_putc(&m->inst, '{');
        for (unsigned k = 0; k < n; k++) {
            if (k) buf_puts(&m->inst, ", ");
            element(m, s, s->type);
        }
        buf_putc(&m->inst, '}');
        return;
    }
    if (s->flags & PTX_MINUS && m->v == i && !has(op, ".po")) buf_putc(&m->inst, '-');
    element(m, s, s->type);
    if (!written && s->type == PTX_b32 && begins(op->form->name, "mma"))
        m->k.source[m->k.sources - 1].meta = true;
    if (s->flags & PTX_SELECTABLE) selector(m, s, op, i);
    if (written && s->flags & (PTX_SECOND | PTX_SECOND_NEEDED) && !s->second_gate) {
        buf_putc(&m->inst, '|');
        struct ptx_shape second = {.flags = PTX_WRITTEN};
        element(m, &second, PTX_pred);
    }
}

static void address(struct maker *m, const struct ptx_op *op)
{
    const bool shared = has(op, ".shared") || begins(op->form->name, "ldmatrix") ||
                        begins(op->form->name, "stmatrix");
    const bool local = has(op, ".local");
    static const char *const copy_in =
        "\t.reg .b32 %w<8>;\n\tld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%mem];\n\tld.global.v4.b32 {%w4, %w5, %w6, %w7}, [%mem+16];\n";
    if (m->k.memory) m->failed = true;
    m->k.memory = op->type_count ? op->type[0] : PTX_b32;
    if (shared || local) {
        const char *space = shared ? "shared" : "local";
        if (shared) buf_puts(&m->declare, "\t.shared .align 32 .b8 own[4096];\n");
        else buf_puts(&m->declare, "\t.local .align 32 .b8 own[32];\n");
        buf_puts(&m->declare, "\t.reg .b32 %at;\n");
        buf_puts(&m->before, "\tmov.u32 %at, own;\n");
        if (shared) buf_puts(&m->before, "\tmad.lo.u32 %at, %n, 32, %at;\n");
        buf_puts(&m->before, copy_in);
        buf_printf(
            &m->before,
            "\tst.%s.v4.b32 [%%at], {%%w0, %%w1, %%w2, %%w3};\n\tst.%s.v4.b32 [%%at+16], {%%w4, %%w5, %%w6, %%w7};\n\tbar.warp.sync -1;\n",
            space, space);
        const bool generic = shared && !has(op, ".shared");
        if (generic)
            buf_puts(&m->before,
                     "\t.reg .b64 %g;\n\tcvt.u64.u32 %g, %at;\n\tcvta.shared.u64 %g, %g;\n");
        buf_puts(&m->inst, generic ? "[%g]" : "[%at]");
    } else buf_puts(&m->inst, "[%mem]");
    if (op->form->effects & (PTX_WRITES | PTX_ATOMIC)) {
        const char *space = shared  ? "shared"
                            : local ? "local"
                                    : "global",
                   *at = shared || local ? "at" : "mem";
        buf_puts(&m->declare, "\t.reg .b64 %left;\n");
        buf_puts(&m->after, "\tbar.warp.sync -1;\n");
        for (unsigned i = 0; i < 4; i++) {
            buf_printf(
                &m->after,
                local
                    ? "\tld.%s.b64 %%left, [%%%s+%u];\n\tst.global.b64 [%%out+%%last+%u], %%left;\n"
                    : "\tld.volatile.%s.b64 %%left, [%%%s+%u];\n\tst.global.b64 [%%out+%%last+%u], %%left;\n",
                space, at, i * 8, i * 8);
        }
    }
}

/* The carry flag comes from a source and goes to a result. */
static void carry(struct maker *m, const struct ptx_op *op)
{
    const bool borrow = begins(op->form->name, "sub");
    buf_printf(&m->declare, "\t.reg .b32 %%c<4>;\n");
    buf_printf(&m->before, "\tld.global.b32 %%c0, [%%in+%u];\n\tand.b32 %%c0, %%c0, 1;\n",
               8 * m->k.sources);
    slot(m, false, PTX_pred);
    buf_printf(&m->before,
               borrow ? "\tsub.cc.u32 %%c1, 0, %%c0;\n" : "\tadd.cc.u32 %%c1, %%c0, 0xffffffff;\n");
    if (has(op, ".cc")) {
        struct buf more = {0};
        buf_printf(&more, "\t%s.u32 %%c2, 0, 0;\n\tst.global.b32 [%%out+%u], %%c2;\n",
                   borrow ? "subc" : "addc", 8 * m->k.results);
        buf_puts(&more, m->after.data ? m->after.data : "");
        buf_free(&m->after);
        m->after = more;
        slot(m, true, PTX_u32);
    }
}

static void replace_last(struct buf *b, unsigned at)
{
    for (char *p; b->data && (p = strstr(b->data, "+%last+"));) {
        struct buf n = {0};
        buf_add(&n, b->data, (size_t)(p - b->data));
        char *end;
        unsigned long more = strtoul(p + 7, &end, 10);
        buf_printf(&n, "+%lu", at + more);
        buf_puts(&n, end);
        buf_free(b);
        *b = n;
    }
}

static void one(struct maker *m, const struct ptx_op *op, unsigned v)
{
    m->declare.size = m->before.size = m->inst.size = m->after.size = 0;
    if (m->declare.data) *m->declare.data = 0;
    if (m->before.data) *m->before.data = 0;
    if (m->after.data) *m->after.data = 0;
    m->k = (struct hardware_kernel){.op = op, .variant = v};
    m->registers = 0;
    m->v = v;
    m->failed = false;
    buf_printf(&m->inst, "%.*s ", (int)op->text_length, op->text);
    for (unsigned i = 0; i < op->shape_min; i++) {
        const struct ptx_shape *s = &op->shapes[i];
        if (i) buf_puts(&m->inst, ", ");
        if (s->base == PTX_BASE_VALUE) value(m, op, s, i);
        else if (s->base == PTX_BASE_ADDR) address(m, op);
        else m->failed = true;
    }
    if (has(op, ".cc") || begins(op->form->name, "addc") || begins(op->form->name, "subc") ||
        begins(op->form->name, "madc"))
        carry(m, op);
    if (m->k.memory && op->form->effects & (PTX_WRITES | PTX_ATOMIC)) {
        replace_last(&m->after, 8 * m->k.results);
        for (unsigned i = 0; i < 4; i++) slot(m, true, PTX_b64);
    }
    if (m->failed || !m->k.results) return;
    struct buf body = {0};
    buf_puts(&body, m->declare.data ? m->declare.data : "");
    buf_puts(
        &body,
        "\t.reg .b32 %i, %n;\n\t.reg .b64 %in, %out, %mem, %o;\n\tmov.u32 %i, %ctaid.x;\n\tmov.u32 %n, %tid.x;\n"
        "\tmad.lo.u32 %i, %i, 128, %n;\n\tld.param.u64 %in, [a];\n\tld.param.u64 %out, [b];\n\tld.param.u64 %mem, [c];\n");
    buf_printf(&body, "\tmul.wide.u32 %%o, %%i, %u;\n\tadd.u64 %%in, %%in, %%o;\n",
               8 * m->k.sources);
    buf_printf(&body, "\tmul.wide.u32 %%o, %%i, %u;\n\tadd.u64 %%out, %%out, %%o;\n",
               8 * m->k.results);
    buf_puts(&body, "\tmul.wide.u32 %o, %i, 32;\n\tadd.u64 %mem, %mem, %o;\n");
    buf_puts(&body, m->before.data ? m->before.data : "");
    buf_printf(&body, "\t%s;\n", m->inst.data);
    buf_puts(&body, m->after.data ? m->after.data : "");
    buf_puts(&body, "\tret;\n");
    m->k.body = body.data;
    m->k.shown = m->inst.data;
    m->see(m->self, &m->k);
    m->count++;
    buf_free(&body);
}

static void spelled(void *self, const struct ptx_op *op)
{
    struct maker *m = self;
    if (!is_wanted(op)) return;
    const char *name = op->form->name;
    unsigned variants = 1;
    if (op->form->unit == PTX_UNIT_VIDEO) variants = 4;
    if (begins(name, "lop3")) variants = 8;
    if (begins(name, "mma"))
        for (unsigned i = 0; i < op->shape_min; i++)
            if (op->shapes[i].flags & PTX_CONSTANT && op->shapes[i].flags & PTX_RANGE)
                variants = (unsigned)op->shapes[i].high + 1;
    for (unsigned v = 0; v < variants; v++) one(m, op, v);
}

static void maker_free(struct maker *m)
{
    buf_free(&m->declare);
    buf_free(&m->before);
    buf_free(&m->inst);
    buf_free(&m->after);
}

bool hardware_is_recorded(const struct hardware_kernel *k)
{
    static const struct {
        const char *name;
        unsigned one_of;
    } some[] = {{"setp", 4}, {"set", 8}, {"v", 6}, {"ld", 12}, {"st", 12}, {"atom", 6}, {"red", 6}};
    const char *name = k->op->form->name;
    if (begins(name, "vote") || begins(name, "redux") || begins(name, "ldmatrix") ||
        begins(name, "stmatrix"))
        return true;
    uint32_t h = k->variant;
    for (uint32_t i = 0; i < k->op->text_length; i++)
        h = (h ^ (unsigned char)k->op->text[i]) * 16777619u;
    h ^= h >> 15;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (begins(name, some[i].name)) return h % some[i].one_of == 0;
    return true;
}

struct ptx_isa *hardware_isa(struct arena *a)
{
    return ptx_isa_new(a, 88, 90, 'a');
}

bool hardware_kernel_of(struct ptx_isa *isa, const char *form, const char *opcode, unsigned variant,
                        void (*see)(void *self, const struct hardware_kernel *k), void *self)
{
    struct maker m = {.see = see, .self = self};
    const struct ptx_op *op = ptx_isa_find(isa, opcode, (uint32_t)strlen(opcode));
    while (op && (op->gate || strcmp(op->form->id, form) != 0)) op = op->next;
    if (op) one(&m, op, variant);
    maker_free(&m);
    return m.count == 1;
}

size_t hardware_kernels(void (*see)(void *self, const struct hardware_kernel *k), void *self)
{
    struct maker m = {.see = see, .self = self};
    for (unsigned f = 0; f < PTX_FORM_COUNT; f++)
        if (!ptx_forms[f].refused && !is_left_out(&ptx_forms[f]))
            form_spellings(f, "90a", spelled, &m);
    maker_free(&m);
    return m.count;
}
