/* `heddle run --locks`. The numbers are derived by hand. In a warp of 32 lanes whose lanes all try at once, one lane acquires the
 * word in each round, and the others fail: 31 + 30 + ... + 0 = 496 failures in 528 attempts. In a loop of L instructions
 * each failure costs L, up to and including the next attempt. */
#define _GNU_SOURCE /* realpath */
#include "tests/support/programs.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD                                                                                       \
    ".version 7.0\n.target sm_75\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 lock, .param .u64 sum)\n{\n"                                    \
    " .shared .align 4 .b8 own[8]; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n"         \
    " ld.param.u64 %rd1, [lock]; ld.param.u64 %rd2, [sum]; mov.u32 %r5, 0; mov.u64 %rd3, own;\n"

/* Adds one to the sum. */
#define ADD                                                                                        \
    " membar.gl; ld.global.u32 %r3, [%rd2]; add.u32 %r3, %r3, 1; st.global.u32 [%rd2], %r3; membar.gl;\n"
#define UNTIL_DONE " mov.u32 %r5, 1;\nend: setp.eq.u32 %p2, %r5, 0;\n @%p2 bra loop;\n ret;\n}\n"

/* L = 5: setp, bra, setp, bra and the attempt. */
static const char by_cas[] = HEAD
    "loop: atom.global.cas.b32 %r1, [%rd1], 0, 1;\n setp.ne.u32 %p1, %r1, 0;\n"
    " @%p1 bra end;\n" ADD " atom.global.exch.b32 %r2, [%rd1], 0;\n" UNTIL_DONE;
static const char by_exch[] = HEAD
    "loop: atom.global.exch.b32 %r1, [%rd1], 7;\n setp.ne.u32 %p1, %r1, 0;\n"
    " @%p1 bra end;\n" ADD " st.volatile.global.u32 [%rd1], 0;\n" UNTIL_DONE;
static const char in_shared[] = HEAD
    " mov.u32 %r6, %tid.x; setp.ne.u32 %p3, %r6, 0; @%p3 bra join; st.shared.u32 [%rd3+4], 0;\njoin: bar.sync 0;\n"
    "loop: atom.shared.cas.b32 %r1, [%rd3+4], 0, 1;\n setp.ne.u32 %p1, %r1, 0;\n @%p1 bra end;\n"
    " red.global.add.u32 [%rd2], 1;\n st.volatile.shared.u32 [%rd3+4], 0;\n" UNTIL_DONE;
/* L = 5: setp, bra, mov, add and the attempt. */
static const char update[] = HEAD
    " ld.global.u32 %r1, [%rd1];\n"
    "loop: mov.u32 %r2, %r1; add.u32 %r3, %r2, 1;\n"
    " atom.global.cas.b32 %r1, [%rd1], %r2, %r3;\n setp.ne.u32 %p1, %r1, %r2;\n"
    " @%p1 bra loop;\n ret;\n}\n";
/* A ticket lock: tickets at lock[0], whose turn it is at lock[1]. L = 5, as above. */
#define TICKET HEAD " atom.global.add.u32 %r4, [%rd1], 1; add.u32 %r2, %r4, 1;\n"
#define AFTER_TICKET " setp.ne.u32 %p1, %r1, %r4;\n @%p1 bra end;\n" ADD
static const char by_ticket[] = TICKET "loop: ld.volatile.global.u32 %r1, [%rd1+4];\n" AFTER_TICKET
                                       " st.volatile.global.u32 [%rd1+4], %r2;\n" UNTIL_DONE;
static const char by_atomic_ticket[] = TICKET
    "loop: atom.global.add.u32 %r1, [%rd1+4], 0;\n" AFTER_TICKET
    " red.global.add.u32 [%rd1+4], 1;\n" UNTIL_DONE;
/* Slots of a list by an atomic, which each thread then reads and writes: no lock, though slot 0 holds 0. */
static const char appends[] = HEAD
    " atom.global.add.u32 %r4, [%rd1], 1; mul.wide.u32 %rd4, %r4, 4; add.u64 %rd4, %rd4, %rd2;\n"
    " ld.global.u32 %r1, [%rd4]; add.u32 %r1, %r1, 1; st.global.u32 [%rd4], %r1; ld.global.u32 %r2, [%rd4];\n"
    " st.global.u32 [%rd4], %r2; ret;\n}\n";
/* A number from an atomic, then a lock that is read before it is tried: it holds 0, as the number of lane 0. L = 8. */
static const char number_then_lock[] = HEAD
    " atom.global.add.u32 %r4, [%rd2+8], 1; st.global.u32 [%rd2+12], %r4;\n"
    "loop: ld.volatile.global.u32 %r1, [%rd1];\n setp.ne.u32 %p1, %r1, 0;\n @%p1 bra end;\n"
    " atom.global.cas.b32 %r1, [%rd1], 0, 1;\n setp.ne.u32 %p1, %r1, 0;\n"
    " @%p1 bra end;\n" ADD " atom.global.exch.b32 %r2, [%rd1], 0;\n" UNTIL_DONE;
/* Tries once; reads by a compare-and-swap that changes nothing; gives the lock back by a compare-and-swap. */
static const char tries[] = HEAD
    " atom.global.cas.b32 %r4, [%rd1], 5, 5;\n"
    " atom.global.cas.b32 %r1, [%rd1], 0, 1;\n setp.ne.u32 %p1, %r1, 0;\n @%p1 bra end;\n"
    " atom.global.cas.b32 %r2, [%rd1], 1, 0; st.global.u32 [%rd2+4], %r2;\n"
    "end: st.global.u32 [%rd2+8], %r4;\n ret;\n}\n";

static void start(void)
{
    const char *name = getenv("HEDDLE");
    char path[PATH_MAX];
    program_start();
    cr_assert(realpath(name ? name : "heddle", path) && getcwd(here, sizeof here));
    cr_assert((size_t)snprintf(heddle, sizeof heddle, "%s", path) < sizeof heddle);
}

TestSuite(locks, .init = start, .fini = program_stop);

static void run(const char *ptx, const char *options)
{
    write_file("k.ptx", ptx, strlen(ptx));
    cr_assert_eq(sh("'%s' run k.ptx --arg 'lock=buf:u32[4]' --arg 'sum=buf:u32[4]' --locks %s",
                    heddle, options),
                 0, "%s", said.data);
}

static void expect_word(const char *kind, unsigned failed, unsigned acquired, unsigned released,
                        unsigned spin, unsigned waiting)
{
    char text[100];
    snprintf(text, sizeof text, "\"kind\": \"%s\"", kind);
    expect_output(text);
    const struct {
        const char *key;
        unsigned is;
    } numbers[] = {{"failed", failed},
                   {"acquired", acquired},
                   {"released", released},
                   {"spin_instructions", spin},
                   {"most_waiting", waiting}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(text, sizeof text, "\"%s\": %u,", numbers[i].key, numbers[i].is);
        expect_output(text);
    }
}

Test(locks, an_uncontended_lock_never_fails)
{
    run(by_cas, "--grid 8 --block 1 --format json");
    expect_word("lock", 0, 8, 8, 0, 0);
    run(by_cas, "--grid 8 --block 1");
    expect_output("1 contended word: 0 of 8 attempts fail, 0 of ");
}

Test(locks, lanes_of_a_warp_contend)
{
    run(by_cas, "--block 32 --format json --expect 'sum=list(32,0,0,0)'");
    expect_word("lock", 496, 32, 32, 496 * 5, 31);
    expect_output("\"line\": 8,");
    expect_output("\"allocation\": \"lock\"");
    run(by_exch, "--block 32 --format json --expect 'sum=list(32,0,0,0)'");
    expect_word("lock", 496, 32, 32, 496 * 5, 31);
}

/* All thread instructions of the launch: 4 before the loop, the loop's 5 for each attempt, 7 more for each acquisition (two
 * membar, ld, add, st, exch, mov), and ret. */
Test(locks, spin_share_is_of_all_thread_instructions)
{
    run(by_cas, "--block 32");
    char text[100];
    snprintf(text, sizeof text, "496 of 528 attempts fail, 2480 of %d thread instructions spin",
             32 * 4 + 528 * 5 + 32 * 7 + 32);
    expect_output(text);
}

Test(locks, each_cta_has_a_lock_in_shared_memory)
{
    run(in_shared, "--grid 3 --block 32 --format json --expect 'sum=list(96,0,0,0)'");
    expect_word("lock", 3 * 496, 96, 96, 3 * 496 * 5, 31);
    expect_output("\"space\": \"shared\"");
    expect_output("\"offset\": 4,");
}

/* A failed update tries again with what it has found: one lane succeeds in each round. */
Test(locks, updates_without_a_lock_are_none)
{
    run(update, "--block 32 --format json --expect 'lock=list(32,0,0,0)'");
    expect_word("update", 496, 32, 0, 496 * 5, 31);
}

/* 32 lanes try once: the first acquires it, the others leave. Who waits is forgotten when the warp ends. */
Test(locks, a_single_try_does_not_spin)
{
    run(tries, "--grid 2 --block 32 --format json");
    expect_word("lock", 62, 2, 2, 0, 31);
}

/* All lanes take their tickets at once. In each round one lane has its turn, and the others look in vain. */
Test(locks, ticket_locks_are_followed)
{
    run(by_ticket, "--block 32 --format json --expect 'sum=list(32,0,0,0)'");
    expect_word("ticket", 496, 32, 32, 496 * 5, 31);
    expect_output("\"offset\": 4,");
    run(by_atomic_ticket, "--block 32 --format json --expect 'sum=list(32,0,0,0)'");
    expect_word("ticket", 496, 32, 32, 496 * 5, 31);
    run(by_ticket, "--grid 8 --block 1 --format json");
    expect_word("ticket", 0, 8, 8, 0, 0);
    run(by_ticket, "--grid 4 --block 64 --order random --seed 3 --format json");
    expect_output("\"acquired\": 256,");
    expect_output("\"released\": 256,");
}

Test(locks, numbers_from_an_atomic_are_no_tickets)
{
    run(appends, "--block 4");
    expect_output("0 contended words");
    run(number_then_lock, "--block 32 --format json");
    expect_word("lock", 496, 32, 32, 496 * 8, 31);
}

/* Threads of several CTAs: how often they fail depends on the order, how often they succeed does not. */
Test(locks, each_acquisition_is_counted_under_every_order)
{
    static const char *const orders[] = {
        "native",
        "random --seed 7",
        "random:model=ptx --seed 8",
        "random:model=tso --seed 9",
        "gpudet",
        "dab",
        "gpudet --speculate off",
        "random --divergence its",
    };
    char options[200];
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        snprintf(options, sizeof options,
                 "--grid 4 --block 64 --format json --expect 'sum=list(256,0,0,0)' --order %s",
                 orders[i]);
        run(by_cas, options);
        expect_output("\"acquired\": 256,");
        expect_output("\"released\": 256,");
    }
}
