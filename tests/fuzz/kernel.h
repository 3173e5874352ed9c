/* tests/fuzz/kernel.h: kernels made from bytes.
 *
 *     struct fuzz_bytes b = {data, data + size};
 *     struct buf text = {0};
 *     fuzz_kernel(arena, &b, FUZZ_OWN, &text);          // a module with the kernels `k` and `empty`
 *
 * The instructions are forms of the instruction table, with random modifiers and operands of the right
 * kind; between them stand branches, loops, calls, tables of branches. Where the bytes end, so does the
 * kernel. Most of what comes out passes the checks. */
#ifndef HEDDLE_TESTS_FUZZ_KERNEL_H
#define HEDDLE_TESTS_FUZZ_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;

struct fuzz_bytes {
    const uint8_t *at, *end;
};
unsigned fuzz_byte(struct fuzz_bytes *b);              /* 0 behind the end */
unsigned fuzz_below(struct fuzz_bytes *b, unsigned n); /* 0 .. n - 1 */

enum fuzz_kind {
    FUZZ_ANY, /* any address, any order: what comes out may depend on which warp was first */
    FUZZ_OWN, /* each thread keeps to memory of its own: the order of warps cannot be seen */
};

void fuzz_kernel(struct arena *a, struct fuzz_bytes *b, enum fuzz_kind kind, struct buf *out);

#endif
