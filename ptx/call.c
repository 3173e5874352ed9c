/* Checks calls: the arguments and results against the prototype of the callee. */
#include "base/diag.h"
#include "ptx/parser.h"

static const struct ptx_proto *callee_proto(struct ptx_parser *p, const struct ptx_opnd *callee,
                                            const struct ptx_opnd *proto)
{
    if (callee->kind == PTX_OPND_SYM && callee->sym->kind == PTX_SYM_FUNC && !callee->offset) {
        if (callee->sym->func->is_entry) {
            diag_error(p->d, callee->at, callee->length, "a kernel cannot be called");
            return NULL;
        }
        if (proto) {
            diag_error(p->d, proto->at, proto->length, "a direct call takes no prototype");
            return NULL;
        }
        if (p->without_abi && callee->sym->func->linkage == PTX_LINK_EXTERN) {
            diag_error(p->d, callee->at, callee->length,
                       "a module in which a function has several results calls no .extern "
                       "function: return them in one .param array");
            return NULL;
        }
        return &callee->sym->func->proto;
    }
    if (callee->kind != PTX_OPND_REG || callee->sel) {
        if (callee->kind == PTX_OPND_LABEL && !callee->sym)
            diag_error(p->d, callee->at, callee->length, "undeclared function '%.*s'",
                       (int)callee->name->length, callee->name->text);
        else diag_error(p->d, callee->at, callee->length, "expected a function to call");
        return NULL;
    }
    unsigned bits = ptx_types[callee->sym->type].bits;
    if (!ptx_type_fits(bits == 32 ? PTX_u32 : PTX_u64, (enum ptx_type)callee->sym->type, false)) {
        diag_error(p->d, callee->at, callee->length,
                   "an indirect call needs a function's address in a .u32 or .u64 register");
        return NULL;
    }
    if (p->without_abi) {
        diag_error(p->d, callee->at, callee->length,
                   "a module in which a function has several results has no indirect calls: "
                   "return them in one .param array");
        return NULL;
    }
    if (!proto) {
        diag_error(p->d, callee->at, callee->length,
                   "an indirect call needs a prototype (.callprototype) or targets (.calltargets)");
        return NULL;
    }
    if (proto->kind != PTX_OPND_LABEL) {
        diag_error(p->d, proto->at, proto->length, "expected the name of a call prototype");
        return NULL;
    }
    if (!proto->sym) {
        diag_error(p->d, proto->at, proto->length, "undeclared call prototype '%.*s'",
                   (int)proto->name->length, proto->name->text);
        return NULL;
    }
    if (proto->sym->kind == PTX_SYM_PROTO) return proto->sym->proto;
    if (proto->sym->kind == PTX_SYM_TARGETS && proto->sym->targets->calls) {
        const struct ptx_targets *t = proto->sym->targets;
        const struct ptx_proto *first = &t->labels[0].sym->func->proto;
        for (uint32_t i = 1; i < t->count; i++)
            if (!ptx_proto_equal(first, &t->labels[i].sym->func->proto)) {
                diag_error(p->d, proto->at, proto->length,
                           "'%.*s' and '%.*s' take other parameters", (int)t->labels[0].length,
                           ptx_text(p, t->labels[0].at), (int)t->labels[i].length,
                           ptx_text(p, t->labels[i].at));
                return NULL;
            }
        return first;
    }
    diag_error(p->d, proto->at, proto->length, "expected the name of a call prototype");
    return NULL;
}

static bool constant_fits(const struct ptx_opnd *o, enum ptx_type type)
{
    enum ptx_type_kind kind = (enum ptx_type_kind)ptx_types[type].kind;
    if (o->kind == PTX_OPND_INT) return kind == PTX_BITS || ptx_type_is_int(type);
    return kind == PTX_BITS || type == PTX_f32 || type == PTX_f64;
}

/* One argument or result against a formal parameter: a variable in .param, a register or a constant,
 * of the parameter's size and kind. */
static void check_argument(struct ptx_parser *p, const struct ptx_opnd *o, const struct ptx_var *v,
                           bool written)
{
    const char *name = v->sym->name->text;
    int n = (int)v->sym->name->length;
    enum ptx_type type = (enum ptx_type)v->sym->type;
    if (o->kind == PTX_OPND_LABEL && !o->sym) {
        diag_error(p->d, o->at, o->length, "undeclared name '%.*s'", (int)o->name->length,
                   o->name->text);
        return;
    }
    bool fits = false;
    if (o->kind == PTX_OPND_SYM && o->sym->kind == PTX_SYM_VAR &&
        o->sym->space == PTX_SPACE_PARAM) {
        const struct ptx_var *have = o->sym->var;
        if (o->offset || o->indexed) {
            diag_error(p->d, o->at, o->length, "no offset may follow an argument");
            return;
        }
        if (have->role != PTX_PARAM_LOCAL) {
            diag_error(p->d, o->at, o->length,
                       "'%.*s' is a parameter of this function: copy it into "
                       "a .param variable of the body",
                       (int)o->length, ptx_text(p, o->at));
            return;
        }
        bool unsized = v->dim_count && v->dims[0] == 0;
        fits = (v->dim_count || ptx_type_fits(type, (enum ptx_type)have->sym->type, false)) &&
               (v->dim_count > 0) == (have->dim_count > 0) &&
               (unsized || ptx_var_size(have) == ptx_var_size(v)) &&
               ptx_param_align(have) == ptx_param_align(v);
        if (!fits) {
            diag_error(p->d, o->at, o->length,
                       "'%.*s' does not match parameter '%.*s' in type, size or alignment",
                       (int)o->length, ptx_text(p, o->at), n, name);
            diag_note(p->d, o->sym->at, o->sym->name->length, "'%.*s' is declared here",
                      (int)o->sym->name->length, o->sym->name->text);
        }
        return;
    }
    switch ((enum ptx_opnd_kind)o->kind) {
    case PTX_OPND_REG: {
        enum ptx_type reg = o->sym->type == PTX_f16x2 ? PTX_b32 : (enum ptx_type)o->sym->type;
        fits = !o->sel && !o->negated && !o->offset && o->sym->vec == v->sym->vec &&
               ptx_type_fits(type, reg, false) &&
               (type == PTX_pred || ptx_types[reg].bits / 8u * o->sym->vec == ptx_param_align(v));
        break;
    }
    case PTX_OPND_INT:
    case PTX_OPND_FLOAT:
    case PTX_OPND_F32:
    case PTX_OPND_F64: fits = !written && constant_fits(o, type); break;
    case PTX_OPND_SINK: fits = written; break;
    default: break;
    }
    if (v->dim_count || !fits)
        diag_error(p->d, o->at, o->length, "does not match parameter '%.*s' of .%s", n, name,
                   ptx_types[type].name);
}

static void check_list(struct ptx_parser *p, const struct ptx_inst *inst,
                       const struct ptx_opnd *list, struct ptx_var **formal, unsigned n,
                       bool written)
{
    unsigned have = list ? list->count : 0;
    bool variadic = n && formal[n - 1]->dim_count && formal[n - 1]->dims[0] == 0 && !written;
    if (have != n && !(variadic && have + 1 == n)) {
        const struct ptx_opnd *at = list ? list : &inst->opnds[0];
        diag_error(p->d, at->at, at->length, "the callee has %u %s%s, this passes %u", n,
                   written ? "result" : "parameter", n == 1 ? "" : "s", have);
        return;
    }
    for (unsigned i = 0; i < have; i++) check_argument(p, &list->elem[i], formal[i], written);
}

/* call (results), callee, (arguments), prototype; every part but the callee may be missing. */
void ptx_check_call(struct ptx_parser *p, struct ptx_inst *inst)
{
    struct ptx_opnd *rets = NULL, *callee = NULL, *args = NULL, *proto = NULL;
    size_t i = 0;
    if (i < inst->count && inst->opnds[i].kind == PTX_OPND_LIST) rets = &inst->opnds[i++];
    if (i < inst->count && inst->opnds[i].kind != PTX_OPND_LIST) callee = &inst->opnds[i++];
    if (i < inst->count && inst->opnds[i].kind == PTX_OPND_LIST) args = &inst->opnds[i++];
    if (i < inst->count && inst->opnds[i].kind != PTX_OPND_LIST) proto = &inst->opnds[i++];
    if (!callee || i != inst->count) {
        diag_error(p->d, inst->at, 4, "expected call (results), function, (arguments), prototype");
        return;
    }
    const struct ptx_proto *q = callee_proto(p, callee, proto);
    if (!q) return;
    check_list(p, inst, rets, q->rets, q->ret_count, true);
    check_list(p, inst, args, q->params, q->param_count, false);
}
