/* The kernel files, taken into the program by the assembler. */
#include "suites/suite.h"

#include <string.h>

/* One word a kernel file. The files lie where `make` runs. */
/* clang-format off */
#define FILES(X)                                                                                   \
    X(aes) X(bank) X(barnes_hut) X(bfs) X(blur) X(cloth) X(conv) X(coulomb) X(cycles) X(euler)     \
    X(hash) X(histogram) X(hotspot) X(libor) X(litmus) X(mandelbrot) X(micro) X(micro_nested)      \
    X(nbody) X(order)                                                                              \
    X(pathfinder) X(push) X(racey) X(reduce) X(saxpy) X(scan) X(scatter) X(sgemm) X(spmv)          \
    X(srad) X(stencil) X(sum) X(ticket) X(transpose)
/* clang-format on */

#define INCLUDE(name)                                                                              \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl suite_ptx_" #name "\n"                                                         \
            ".hidden suite_ptx_" #name "\n"                                                        \
            "suite_ptx_" #name ":\n"                                                               \
            ".incbin \"suites/ptx/" #name ".ptx\"\n"                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char suite_ptx_##name[];
FILES(INCLUDE)

static const struct {
    const char *name, *text;
} files[] = {
#define ROW(name) {#name, suite_ptx_##name},
    FILES(ROW)};

const char *suite_ptx(const char *file)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, file) == 0) return files[i].text;
    return NULL;
}
