/* One run of the timing model: prepares its parts, lets the SM whose event is next run on, and adds up.
 *
 * Runs do not depend on each other; host threads may have runs at the same time. */
#include "model/timing_internal.h"

#include "emu/trace.h"

typedef uint32_t u32;
typedef uint8_t u8;

static void prepare_copies(struct timing *c)
{
    size_t of_cta, of_warp = timing_async_size(&of_cta);
    u8 *steps = timing_take(&c->storage, c->t->inst_count, 1);
    if (!timing_async_steps(c->t, steps)) return;
    c->code.steps = steps;
    c->copies = timing_take(&c->storage, (size_t)c->sms * c->warps_per_sm, of_warp);
    c->batches = timing_take(&c->storage, (size_t)c->sms * c->slots, of_cta);
}

static void sum_up(struct timing *c)
{
    struct timing_result *out = c->out;
    out->cycles = c->end;
    issue_bins_columns(&c->issued, c->end, c->scheduler_count, out->issue_share);
    for (u32 s = 0; s < c->scheduler_count; s++) {
        struct timing_scheduler *x = &c->schedulers[s];
        if (c->end > x->last) x->part[TIMING_IDLE] += c->end - x->last;
        if (c->lapse) time_lapse_part(c, s, TIMING_IDLE, x->last, c->end);
        for (u32 p = 0; p < TIMING_PARTS; p++) out->part[p] += x->part[p] / c->scheduler_count;
        for (u32 u = 0; u < TIMING_UNITS; u++)
            out->by_unit[u] += x->by_unit[u] / c->scheduler_count;
    }
}

static void run(const struct emu_trace *t, const struct timing_machine *m,
                const struct timing_order *o, const struct timing_share *share, uint32_t slots,
                uint32_t l1_bytes, struct time_lapse *lapse, struct timing_result *out)
{
    static const struct timing_order_hooks *const hooks[] = {NULL, &timing_gpudet_hooks,
                                                             &timing_dab_hooks};
    *out = (struct timing_result){0};
    if (!t->cta_count) return;
    struct timing c = {.t = t,
                       .m = m,
                       .out = out,
                       .lapse = lapse,
                       .running = UINT32_MAX,
                       .stepping = UINT32_MAX,
                       .fold = 1};
    c.sms = t->sms_traced;
    c.issue_cycles = 1.0 / (m->issue ? m->issue : 1);
    c.warps_per_cta = t->ctas[0]->warp_count;
    const u32 most = (t->cta_count + c.sms - 1) / c.sms;
    c.slots = slots && slots < most ? slots : most;
    c.warps_per_sm = c.slots * c.warps_per_cta;
    c.hooks = hooks[o->kind];
    c.storage = timing_storage();
    issue_bins_begin(&c.issued);
    timing_prepare_code(&c);
    timing_prepare_sms(&c);
    timing_prepare_memory(&c, share, l1_bytes);
    prepare_copies(&c);
    timing_prepare_locks(&c);
    timing_prepare_polls(&c);
    /* A lapse also gets what SMs do in the sequence in which they do it. */
    c.foresees = !c.hooks && !c.mem.locks && !c.mem.polled && !c.lapse;
    if (c.hooks) c.hooks->begin(&c, o);
    if (c.lapse) time_lapse_begin(&c);
    for (u32 k = 0; k < c.slots; k++)
        for (u32 sm = 0; sm < c.sms; sm++) {
            /* A GPU that starts one CTA after another gives SMs theirs in turn. */
            const double turn = m->cta_launch > 0 ? (double)sm * t->sms / c.sms / m->sms : 0;
            timing_place_cta(&c, sm * c.slots + k, m->start + floor((k + turn) * m->cta_interval),
                             TIMING_START);
        }
    for (;;) {
        const double now = c.key[1].when;
        if (now == TIMING_NEVER) {
            if (!(c.hooks && c.hooks->idle(&c)) && !timing_unblock(&c, c.end)) break;
            continue;
        }
        timing_run_sm(&c, c.key[1].sm, now);
    }
    sum_up(&c);
    if (c.lapse) time_lapse_end(&c);
    if (c.hooks) c.hooks->end(&c);
    timing_give_back(&c.storage);
}

void timing_run_lapse(const struct emu_trace *t, const struct timing_machine *m,
                      const struct timing_order *o, const struct timing_share *share,
                      uint32_t slots, uint32_t l1_bytes, struct time_lapse *lapse,
                      struct timing_result *out)
{
    run(t, m, o, share, slots, l1_bytes, lapse, out);
    if (!lapse || !time_lapse_is_coarse(lapse)) return;
    const bool issues = lapse->wants_issues;
    time_lapse_clear(lapse);
    lapse->wants_issues = issues, lapse->from_one = true;
    run(t, m, o, share, slots, l1_bytes, lapse, out);
}

void timing_run_launch(const struct emu_trace *t, const struct timing_machine *m,
                       const struct timing_order *o, const struct timing_share *share,
                       uint32_t slots, uint32_t l1_bytes, struct timing_result *out)
{
    timing_run_lapse(t, m, o, share, slots, l1_bytes, NULL, out);
}

void timing_run(const struct emu_trace *t, const struct timing_machine *m, uint32_t slots,
                uint32_t l1_bytes, struct timing_result *out)
{
    timing_run_launch(t, m, &(struct timing_order){.kind = TIMING_NATIVE}, NULL, slots, l1_bytes,
                      out);
}
