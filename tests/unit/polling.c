/* ptx/polling.h: which loops wait for memory. */
#include "ptx/polling.h"
#include "ptx/flow.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *body;
    enum ptx_poll poll;
} cases[] = {
    /* a flag, in one block and with a pause in another */
    {"L: ld.volatile.global.u32 %r0, [%a]; setp.eq.u32 %p, %r0, 0; @%p bra L;", PTX_POLL_ANY},
    {"L: ld.acquire.gpu.global.u32 %r0, [%a]; setp.ne.u32 %p, %r0, 0; @%p bra E;"
     "nanosleep.u32 20; bra L; E:",
     PTX_POLL_ANY},
    {"L: ld.relaxed.gpu.u32 %r0, [%a]; sub.u32 %r1, %r0, %r2; setp.lt.s32 %p, %r1, 0; @%p bra L;",
     PTX_POLL_ANY},
    {"L: atom.global.exch.b32 %r0, [%a], 1; setp.ne.u32 %p, %r0, 0; @%p bra L;", PTX_POLL_VALUE},
/* a lock that is tried in each round of a loop that a counter ends; no lock: nobody looks, another value or place in each round,
     * an addition */
#define TRY(attempt, value)                                                                        \
    "L: " attempt "; setp.ne.u32 %p, " value ", 0; @%p bra M; add.u32 %r1, %r1, 1;"                \
    "M: setp.lt.u32 %q, %r1, 9; @%q bra L;"
    {TRY("atom.global.exch.b32 %r0, [%a], 1", "%r0"), PTX_POLL_ANY},
    {TRY("atom.global.exch.b32 %r0, [%a], 1", "%r2"), PTX_POLL_NONE},
    {TRY("atom.global.exch.b32 %r0, [%a], %r1", "%r0"), PTX_POLL_NONE},
    {TRY("add.u64 %a, %a, 4; atom.global.exch.b32 %r0, [%a], 1", "%r0"), PTX_POLL_NONE},
    {TRY("atom.global.add.u32 %r0, [%a], 1", "%r0"), PTX_POLL_NONE},
    /* one value alone ends it: a ticket, by each sense of the comparison, the guard and the branch */
    {"L: ld.volatile.global.u32 %r0, [%a]; setp.ne.u32 %p, %r0, %r2; @%p bra L;", PTX_POLL_VALUE},
    {"L: ld.volatile.global.u32 %r0, [%a]; setp.eq.u32 %p, %r2, %r0; @!%p bra L;", PTX_POLL_VALUE},
    {"L: ld.volatile.global.u32 %r0, [%a]; setp.eq.u32 %p, %r0, %r2; @%p bra E; bra L; E:",
     PTX_POLL_VALUE},
    {"L: ld.volatile.global.u32 %r0, [%a]; setp.ne.u32 %p, %r0, %r2; @!%p bra E; bra L; E:",
     PTX_POLL_VALUE},
    /* not one value: another one in each round, as of a compare-and-swap that is tried again; a part of it, a limit, any
     * other one */
    {"L: ld.volatile.global.u32 %r0, [%a]; atom.global.cas.b32 %r1, [%a], %r0, %r2;"
     "setp.ne.u32 %p, %r1, %r0; @%p bra L;",
     PTX_POLL_ANY},
    {"L: add.u32 %r2, %r2, 1; ld.volatile.global.u32 %r0, [%a]; setp.ne.u32 %p, %r0, %r2; @%p bra L;",
     PTX_POLL_ANY},
    {"L: ld.volatile.global.u32 %r0, [%a]; and.b32 %r1, %r0, 1; setp.ne.u32 %p, %r1, 0; @%p bra L;",
     PTX_POLL_ANY},
    {"L: ld.volatile.global.u32 %r0, [%a]; setp.lt.u32 %p, %r0, %r2; @%p bra L;", PTX_POLL_ANY},
    {"L: ld.volatile.global.u32 %r0, [%a]; setp.ne.u32 %p, %r0, %r2; @!%p bra L;", PTX_POLL_ANY},
    /* a list that is followed, an address that is computed in each round */
    {"L: ld.volatile.global.u64 %a, [%a]; setp.ne.u64 %p, %a, 0; @%p bra L;", PTX_POLL_MOVING},
    {"L: cvt.u64.u32 %b, %r1; ld.volatile.global.u32 %r0, [%b]; setp.ne.u32 %p, %r0, 0; @%p bra L;",
     PTX_POLL_MOVING},
    /* a counter decides, the load does not */
    {"L: ld.volatile.global.u32 %r0, [%a]; add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 9; @%p bra L;",
     PTX_POLL_NONE},
    /* weak loads, shared memory, no loop, work that is handed out */
    {"L: ld.global.u32 %r0, [%a]; setp.eq.u32 %p, %r0, 0; @%p bra L;", PTX_POLL_NONE},
    {"L: ld.volatile.shared.u32 %r0, [s]; setp.eq.u32 %p, %r0, 0; @%p bra L;", PTX_POLL_NONE},
    {"ld.volatile.global.u32 %r0, [%a]; setp.eq.u32 %p, %r0, 0; @%p bra E; add.u32 %r1, %r1, 1; E:",
     PTX_POLL_NONE},
    {"L: atom.global.add.u32 %r0, [%a], 1; setp.lt.u32 %p, %r0, 99; @%p bra L;", PTX_POLL_NONE},
    /* a branch inside of the loop that does not leave it */
    {"L: ld.volatile.global.u32 %r0, [%a]; setp.eq.u32 %p, %r0, 0; @%p bra M; add.u32 %r2, %r2, 1;"
     "M: add.u32 %r1, %r1, 1; setp.lt.u32 %q, %r1, 9; @%q bra L;",
     PTX_POLL_NONE},
};

Test(polling, of_hand_written_loops)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            ".version 7.0\n.target sm_70\n.address_size 64\n.shared .u32 s;\n"
            ".func f (.param .u64 n) { .reg .u64 %%a, %%b; .reg .u32 %%r<3>; .reg .pred %%p, %%q;\n"
            "ld.param.u64 %%a, [n]; %s st.global.u32 [%%a], %%r0; ret; }\n",
            cases[i].body);
        struct parsed *p = parse_text("test", text, strlen(text));
        cr_assert(p->ok, "%s", first_error(p));
        const struct ptx_flow *f = ptx_flow_new(
            p->arena, ptx_cfg_new(p->arena, ptx_module_find(p->module, "f")));
        const uint8_t *polls = ptx_find_polls(p->arena, f);
        enum ptx_poll most = PTX_POLL_NONE;
        for (uint32_t k = 0; polls && k < f->func->body->count; k++)
            if (polls[k] > most) most = polls[k];
        cr_expect(ptx_polls(p->arena, f) == (cases[i].poll != PTX_POLL_NONE), "%s", cases[i].body);
        cr_expect(most == cases[i].poll, "%s: %d", cases[i].body, most);
        parsed_free(p);
    }
}
