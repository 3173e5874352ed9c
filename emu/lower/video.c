/* Video instructions. */
#include "emu/lower/lower.h"

#include "emu/ops/video.h"

#include <string.h>

/* Part numbers of a selector such as .h32 or .b7654, the highest part first; `low` if there is none. */
static void selected(const struct ptx_opnd *o, u32 parts, u32 low, u8 *from)
{
    char text[8] = "";
    for (u32 i = 0; i < parts; i++) from[i] = (u8)(low + i);
    if (o->sel != PTX_SEL_SIMD) return;
    ptx_selector_text(o, text);
    for (u32 i = 0; i < parts && strlen(text) == parts + 1; i++)
        from[i] = (u8)((u32)(text[parts - i] - 48) & (2 * parts - 1));
}

/* Which parts a result's selector names: .h0 .h1 .h10, .b0 .. .b3210. */
static u8 written(const struct ptx_opnd *o, u32 parts)
{
    if (!o->sel) return (u8)((1u << parts) - 1);
    char text[8] = "";
    u8 mask = 0;
    ptx_selector_text(o, text);
    for (const char *p = text + 1; *text && *p; p++) mask |= (u8)(1u << ((*p - '0') & 3));
    return mask;
}

/* A source without its selector or sign: those are the description's. */
static u32 word(struct lower *L, const struct ptx_opnd *o, unsigned type)
{
    struct ptx_opnd plain = *o;
    if (plain.kind == PTX_OPND_REG) {
        if (plain.sel) plain.offset = 0; /* the letters of the selector, and not a number to add */
        plain.sel = PTX_SEL_NONE;
        plain.negated = false;
    }
    return lower_source(L, &plain, type);
}

static bool lower_video(struct lower *L, const struct ptx_inst *i)
{
    static const char *const compare[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const struct ptx_op *op = i->op;
    u32 data = lower_data(L), parts = data >> 8 & 0xff;
    struct video_desc *v = lower_alloc(L, sizeof *v);
    v->op = (u8)data;
    v->parts = (u8)parts;
    bool set = v->op == VIDEO_SET;
    unsigned td = set ? PTX_u32 : op->type[0], ta = op->type[set ? 0 : 1],
             tb = op->type[set ? 1 : 2];
    v->sign_d = lower_type_signed(td);
    v->sign_a = lower_type_signed(ta);
    v->sign_b = lower_type_signed(tb);
    v->sat = ptx_op_has(op, "sat");
    v->clamp = ptx_op_has(op, "clamp");
    v->plus_one = ptx_op_has(op, "po");
    v->shift = ptx_op_has(op, "shr7") ? 7 : ptx_op_has(op, "shr15") ? 15 : 0;
    for (u32 k = 0; set && k < 6; k++)
        if (ptx_op_has(op, compare[k])) v->compare = (u8)k;
    const struct ptx_opnd *d = &i->opnds[0], *a = &i->opnds[1], *b = &i->opnds[2];
    bool has_c = i->count > 3;
    v->then = !has_c || v->op == VIDEO_MAD      ? THEN_NOTHING
              : ptx_op_has(op, "add")           ? THEN_ADD
              : !parts && ptx_op_has(op, "min") ? THEN_MIN
              : !parts && ptx_op_has(op, "max") ? THEN_MAX
                                                : THEN_MERGE;
    if (parts) {
        selected(a, parts, 0, v->from_a);
        selected(b, parts, parts, v->from_b);
        v->mask = written(d, parts);
    } else {
        v->sel_a = a->kind == PTX_OPND_REG ? a->sel : PTX_SEL_NONE;
        v->sel_b = b->kind == PTX_OPND_REG ? b->sel : PTX_SEL_NONE;
        v->sel_d = d->kind == PTX_OPND_REG ? d->sel : PTX_SEL_NONE;
        v->minus_a = a->kind == PTX_OPND_REG && a->negated;
        v->minus_b = b->kind == PTX_OPND_REG && b->negated;
        v->minus_c = has_c && i->opnds[3].kind == PTX_OPND_REG && i->opnds[3].negated;
    }
    u32 ra = word(L, a, ta), rb = word(L, b, tb), rc = has_c ? word(L, &i->opnds[3], td) : ra;
    struct ptx_opnd to = *d;
    to.sel = PTX_SEL_NONE;
    struct lower_dest e = lower_dest(L, &to, td);
    lower_emit(L, UOP_video, e.row, ra, rb, rc)->ext = v;
    lower_finish(L, &e);
    return true;
}

#define SCALAR(name, op)                                                                           \
    {PTX_F_##name, lower_video, op}, {PTX_F_##name##_merge, lower_video, op},                      \
    {                                                                                              \
        PTX_F_##name##_op, lower_video, op                                                         \
    }
#define SIMD(name, op)                                                                             \
    {PTX_F_##name##2, lower_video, op | 2 << 8},                                                   \
    {                                                                                              \
        PTX_F_##name##4, lower_video, op | 4 << 8                                                  \
    }
const struct lower_rule lower_video_rules[] = {SCALAR(vadd, VIDEO_ADD),
                                               SCALAR(vsub, VIDEO_SUB),
                                               SCALAR(vmin, VIDEO_MIN),
                                               SCALAR(vmax, VIDEO_MAX),
                                               SCALAR(vshl, VIDEO_SHL),
                                               SCALAR(vshr, VIDEO_SHR),
                                               SCALAR(vset, VIDEO_SET),
                                               {PTX_F_vabsdiff, lower_video, VIDEO_ABSDIFF},
                                               {PTX_F_vabsdiff_m, lower_video, VIDEO_ABSDIFF},
                                               {PTX_F_vabsdiff_op, lower_video, VIDEO_ABSDIFF},
                                               {PTX_F_vmad, lower_video, VIDEO_MAD},
                                               SIMD(vadd, VIDEO_ADD),
                                               SIMD(vsub, VIDEO_SUB),
                                               SIMD(vavrg, VIDEO_AVERAGE),
                                               SIMD(vabsdiff, VIDEO_ABSDIFF),
                                               SIMD(vmin, VIDEO_MIN),
                                               SIMD(vmax, VIDEO_MAX),
                                               SIMD(vset, VIDEO_SET),
                                               {0, NULL, 0}};
