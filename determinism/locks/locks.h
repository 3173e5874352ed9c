/* determinism/locks/locks.h: which words threads contend for: compare-and-swaps and exchanges that fail, acquisitions, and
 * what threads execute while they spin (`heddle run --locks`).
 *
 *     struct locks *k = locks_new();
 *     launch.observers = (const struct emu_observer *[]){locks_observer(k)};
 *     locks_device(k, emu);                          // before each launch: whose allocations they are
 *     ... launches ...
 *     size_t n;
 *     const struct lock_row *row = locks_rows(k, &n);
 *     locks_free(k);
 *
 * An *attempt* is one thread's compare-and-swap that would change the word, or its exchange (of global memory). It fails if the
 * word does not have the comparand, or, as an exchange, if it has another value than the free one. The *free value* of a word
 * is what its first successful attempt of a launch has found. Who then writes the free value back, by a store or an atomic,
 * *releases* it: the word is a lock. A word that is never released belongs to a loop that updates it without a lock, and is
 * reported if attempts have failed.
 *
 * A thread *spins* from a failed attempt to its next attempt at the same instruction. It *waits* from a failed attempt until it
 * acquires the word, tries another one, or its warp ends.
 *
 * Ticket locks: a thread adds 1 to a word by an atomic whose result is read, which is its ticket, and then reads another word
 * until that has its number. Each such read (a load, an atomic that changes nothing) is an attempt on the word that is read, and
 * fails if the word has another number. It is released by the thread whose turn it is, when this makes it one more. A word
 * that nobody had to wait for and that was taken once is not reported.
 *
 * Not seen: locks whose words hold anything else (a bit of each waiting thread, queues), and exchanges in shared memory. */
#ifndef HEDDLE_DETERMINISM_LOCKS_H
#define HEDDLE_DETERMINISM_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word of global memory, or an offset in the shared memory of the CTAs of a kernel, over all launches of a kernel. Numbers
 * are of threads. */
struct lock_row {
    const char *kernel;
    const char *allocation;             /* "" of shared memory */
    uint64_t address, offset;           /* shared memory: 0 and the offset in the CTA's */
    uint64_t attempts, failures;        /* attempts that succeed acquire the word */
    uint64_t releases;                  /* 0: it is no lock */
    uint64_t spin_instructions;         /* PTX instructions of threads that spin */
    uint64_t most_waiting;              /* threads at once, of one CTA in shared memory */
    const char *function, *source_file; /* of the first attempt; source_file NULL: unknown */
    uint32_t line, source_line;         /* of the PTX; 0: unknown */
    bool shared;
    bool serves; /* of a ticket lock */
};

struct locks;
struct emu;
struct emu_observer;

struct locks *locks_new(void);
void locks_free(struct locks *k); /* NULL is allowed */
void locks_device(struct locks *k, const struct emu *e);
const struct emu_observer *locks_observer(struct locks *k);

/* Adds what another process has found. Texts are copied. */
void locks_add(struct locks *k, const struct lock_row *row);
void locks_add_instructions(struct locks *k, uint64_t thread_instructions);

/* Of all launches that have ended, by failures, then attempts, then address. Valid until the next launch. */
const struct lock_row *locks_rows(struct locks *k, size_t *count);
/* PTX instructions of all threads in these launches. */
uint64_t locks_thread_instructions(const struct locks *k);

#endif
