/* cuda/caller.h: which call of CUDA's the host program is in, and where it made it.
 *
 *     struct caller c;
 *     caller_find(&c);
 *     driver_say("heddle: %s: ...\n%s", c.call, c.stack);
 *     caller_free(&c);
 *
 * Functions and lines come from addr2line, if it is installed and the program has them; else there are offsets. */
#ifndef HEDDLE_CUDA_CALLER_H
#define HEDDLE_CUDA_CALLER_H

#include <stdbool.h>

struct caller {
    char call[64];     /* "cudaMemcpy"; "": not known */
    bool from_runtime; /* the driver API's is called by the runtime API's */
    char *stack;       /* "  called by main at app.cu:33\n", as far as main */
};
void caller_find(struct caller *out);
/* Lines as in `stack`, of return addresses; to be freed. NULL: there are none. */
char *caller_lines(void *const *frames, int count);
void caller_name(struct caller *out); /* the call alone, which takes some microseconds */
void caller_free(struct caller *c);

/* The stack as it is now, to be printed later: a number, equal ones of equal stacks. 0: it is not known. */
unsigned caller_note(void);
const char *caller_noted(unsigned note); /* its lines, as in `stack`; "" of 0 */
void caller_drop_notes(void);

#endif
