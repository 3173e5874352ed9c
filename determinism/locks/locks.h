/* determinism/locks/locks.h: the words that threads contend for: failed compare-and-swaps and exchanges, acquisitions,
 * and the instructions of spinning threads (`heddle run --locks`).
 *
 *     struct locks *k = locks_new();
 *     launch.observers = (const struct emu_observer *[]){locks_observer(k)};
 *     locks_device(k, emu);                          // before each launch: whose allocations they are
 *     ... launches ...
 *     size_t n;
 *     const struct lock_row *row = locks_rows(k, &n);
 *     locks_free(k);
 *
 * An *attempt* is one thread's compare-and-swap that would change the word, or its exchange (of global memory). It
 * fails if the word does not have the comparand, or, as an exchange, if it has another value than the free one. The
 * *free value* of a word is the value that the first successful attempt of a launch found. A thread that later writes
 * the free value, by a store or an atomic, *releases* the word: it is a lock. A word that is never released belongs to
 * a loop that updates it without a lock, and is reported if attempts have failed.
 *
 * A thread *spins* from a failed attempt to its next attempt at the same instruction. It *waits* from a failed attempt until it
 * acquires the word, tries another one, or its warp ends.
 *
 * Ticket locks: a thread adds 1 to a word by an atomic whose result is read, which is its ticket, and then reads
 * another word until that has its number. Each such read (a load, an atomic that changes nothing) is an attempt on the
 * word that is read, and fails if the word has another number. The thread whose turn it is releases the word by
 * incrementing it. A word for which no thread had to wait and that was acquired only once is not reported.
 *
 * Not recognised: locks with other contents (a bit for each waiting thread, queues), and exchanges in shared memory. */
#ifndef HEDDLE_DETERMINISM_LOCKS_H
#define HEDDLE_DETERMINISM_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word of global memory, or an offset in the shared memory of the CTAs of a kernel, over all launches of a kernel.
 * Numbers count threads, not warps. */
struct lock_row {
    const char *kernel;
    const char *allocation;      /* "" for shared memory */
    uint64_t address, offset;    /* shared memory: 0 and the offset in the CTA's */
    uint64_t attempts, failures; /* successful attempts acquire the word */
    uint64_t releases;           /* 0: the word is no lock */
    uint64_t spin_instructions;  /* PTX instructions of threads that spin */
    /* most threads that wait at one time; shared memory: threads of one CTA */
    uint64_t most_waiting;
    /* position of the first attempt; source_file NULL: unknown */
    const char *function, *source_file;
    uint32_t line, source_line; /* PTX line and source line; 0: unknown */
    bool shared;
    bool serves; /* a word for which threads with tickets wait */
};

struct locks;
struct emu;
struct emu_observer;

struct locks *locks_new(void);
void locks_free(struct locks *k); /* NULL is allowed */
void locks_device(struct locks *k, const struct emu *e);
const struct emu_observer *locks_observer(struct locks *k);

/* Adds a row of another process. Texts are copied. */
void locks_add(struct locks *k, const struct lock_row *row);
void locks_add_instructions(struct locks *k, uint64_t thread_instructions);

/* The rows of all launches that have ended, sorted by failures, then attempts, then address. Valid until the next
 * launch. */
const struct lock_row *locks_rows(struct locks *k, size_t *count);
/* PTX instructions of all threads in these launches. */
uint64_t locks_thread_instructions(const struct locks *k);

#endif
