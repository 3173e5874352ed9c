/* tests/support/run.h: tests of `heddle run` in a folder of their own, which holds
 *     k.ptx      kernels: twice, y[i] = 2 x[i] + 1 of n elements (u32); spin, which never ends; and others (run.c)
 *     bad.ptx    a module with an error
 *     four.bin   1, 3, 5 and 7 as u32
 * The environment's HEDDLE names the program; without it, ./heddle. */
#ifndef HEDDLE_TESTS_SUPPORT_RUN_H
#define HEDDLE_TESTS_SUPPORT_RUN_H

#include <stdbool.h>
#include <stddef.h>

extern char run_folder[], *run_program;
/* Before and after each test. */
void run_set_up(void);
void run_tear_down(void);

void run_write(const char *name, const char *text);
void run_write_bytes(const char *name, const void *bytes, size_t n);
/* Expects these bytes in a file of the folder. */
void run_file_is(const char *name, const void *want, size_t size);

struct run_result {
    int status; /* -1: ended by a signal */
    char *out, *err;
};
/* Runs `heddle run` in the folder. `args` is for the shell. Drop the result. */
struct run_result run_heddle(const char *args);
void run_drop(struct run_result *r);

struct run_call {
    const char *args;
    int status;
    const char *out, *err; /* parts; "": nothing comes; NULL: anything */
};
bool run_fits(const char *got, const char *want);
void run_check_calls(const struct run_call *calls, size_t count);
#define CHECK_CALLS(calls) run_check_calls(calls, sizeof(calls) / sizeof *(calls))

/* A call without its second buffer and the number of elements. */
#define TWICE "k.ptx --kernel twice --block 32 --arg 'buf:u32[4]=iota' "

#endif
