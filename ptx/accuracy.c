/* Which instructions have exactly defined results (ptx/accuracy.h): accuracy.def, and rules for matrices and textures. */
#include "ptx/accuracy.h"

#include "ptx/ptx.h"

#include <string.h>

#define ANY PTX_NO_TYPE
#define f32 PTX_f32
static const struct {
    enum ptx_accuracy_kind kind;
    enum ptx_type only; /* this type is not exact, others are; ANY: none is */
    const char *text;
} forms[PTX_FORM_COUNT] = {
#define BOUND(form, type, text) [PTX_F_##form] = {PTX_APPROXIMATE, type, text},
#define OPEN(form, text) [PTX_F_##form] = {PTX_LEFT_OPEN, ANY, text},
#define REGISTER(prefix, text)
#include "ptx/accuracy.def"
};
#undef f32

static const struct {
    const char *prefix, *text;
} registers[] = {
#define BOUND(form, type, text)
#define OPEN(form, text)
#define REGISTER(prefix, text) {prefix, text},
#include "ptx/accuracy.def"
};

static const char
    products[] =
        "sums of f16, bf16 and tf32 to f32 are rounded here as on an H200, others once; PTX leaves "
        "the order and the rounding of the sums to the hardware",
    filtered[] =
        "weights have 8 bits; the hardware's rounding is not documented (point sampling is exact)";

static bool is_float(uint8_t type)
{
    return ptx_types[type].kind == PTX_FLOAT;
}

static struct ptx_accuracy of_unit(const struct ptx_form_info *f, bool has_floats)
{
    struct ptx_accuracy a = {.kind = PTX_APPROXIMATE};
    if (f->unit == PTX_UNIT_TENSOR && f->cost == PTX_COST_TENSOR && has_floats) a.text = products;
    if (f->unit == PTX_UNIT_TEX && strncmp(f->name, "tex", 3) == 0) a.text = filtered;
    return a.text ? a : (struct ptx_accuracy){.kind = PTX_EXACT};
}

/* A type with a fraction, or a group of such types (words.def). */
static bool names_floats(const char *modifiers)
{
    for (const char *p = modifiers; (p = strchr(p, '.')); p++)
        if (strncmp(p, ".f16", 4) == 0 || strncmp(p, ".f32", 4) == 0 ||
            strncmp(p, ".f64", 4) == 0 || strncmp(p, ".bf", 3) == 0 || strncmp(p, ".tf", 3) == 0 ||
            strncmp(p, ".F8", 3) == 0)
            return true;
    return false;
}

struct ptx_accuracy ptx_form_accuracy(enum ptx_form form)
{
    if (!forms[form].text) return of_unit(&ptx_forms[form], names_floats(ptx_forms[form].mods));
    return (struct ptx_accuracy){.kind = forms[form].kind, .text = forms[form].text};
}

static struct ptx_accuracy of_op(const struct ptx_op *op)
{
    const enum ptx_form form = ptx_op_form(op);
    struct ptx_accuracy a = of_unit(op->form, is_float(op->type[0]));
    if (forms[form].text && (forms[form].only == ANY || forms[form].only == op->type[0]))
        a = (struct ptx_accuracy){.kind = forms[form].kind, .text = forms[form].text};
    a.name = op->text;
    a.name_length = op->text_length;
    return a;
}

struct ptx_accuracy ptx_inst_accuracy(const struct ptx_inst *inst)
{
    for (uint16_t i = 0; i < inst->count; i++) {
        const struct ptx_opnd *o = &inst->opnds[i];
        if (o->kind != PTX_OPND_SREG) continue;
        const struct ptx_name *name = o->sym->name;
        for (size_t k = 0; k < sizeof registers / sizeof *registers; k++) {
            const size_t n = strlen(registers[k].prefix);
            if (name->length >= n && memcmp(name->text, registers[k].prefix, n) == 0)
                return (struct ptx_accuracy){PTX_LEFT_OPEN, registers[k].text, name->text,
                                             (uint32_t)name->length};
        }
    }
    return of_op(inst->op);
}

const char *ptx_accuracy_name(enum ptx_accuracy_kind kind)
{
    static const char *const names[] = {
        [PTX_EXACT] = "exact", [PTX_APPROXIMATE] = "approximate", [PTX_LEFT_OPEN] = "left open"};
    return names[kind];
}
