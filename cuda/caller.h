/* cuda/caller.h: the CUDA call that the host program is in, and the call's place in the program.
 *
 *     struct caller c;
 *     caller_find(&c);
 *     driver_say("heddle: %s: ...\n%s", c.call, c.stack);
 *     caller_free(&c);
 *
 * addr2line gives functions and lines, if it is installed and the program has debug information; else offsets are printed. */
#ifndef HEDDLE_CUDA_CALLER_H
#define HEDDLE_CUDA_CALLER_H

#include <stdbool.h>

struct caller {
    char call[64];     /* name of the API function, "cudaMemcpy"; "": unknown */
    bool from_runtime; /* a function of the runtime API called the driver API */
    char *stack;       /* lines "  called by main at app.cu:33\n", up to main */
};
void caller_find(struct caller *out);
/* Lines as in `stack` for return addresses; the caller frees them. NULL: none. */
char *caller_lines(void *const *frames, int count);
void caller_name(struct caller *out); /* sets `call` only; takes some microseconds */
void caller_free(struct caller *c);

/* Stores the current stack for later printing. Returns a number, the same for equal stacks; 0: unknown. */
unsigned caller_note(void);
const char *caller_noted(unsigned note); /* lines of a stored stack, as in `stack`; 0: "" */
void caller_drop_notes(void);

#endif
