/* emu/ops/matrixops.h: matrices spread over the lanes of a warp: what emu/lower/matrix.c writes down for
 * matrix.c (loads, stores) and simd_matrix.c (products).
 *
 * Fragments. A register of 32 bits holds E = 32 / bits elements, one of f64 E = 1. Lane l is in group
 * g = l / 4, at place t = l % 4 in it. Sections 9.7.14.5.2 to 9.7.14.5.13 of the PTX ISA, for every
 * shape with 8 columns, come to this:
 *     A, 8 rows:   register r, element e: row g,               k = r * 4E + t * E + e
 *     A, 16 rows:                         row g + 8 * (r % 2), k = (r / 2) * 4E + t * E + e
 *     B:           register r, element e: k = r * 4E + t * E + e, column g
 *     C, D:        element i:             row g + 8 * (i / 2), column 2t + i % 2
 * (f16 elements i and i + 1 share a register), so a register of all lanes is a block of 8 rows or
 * columns with 4E elements side by side. wmma's fragments are left open by the ISA; here they are
 * several of these: A's 16 rows at a time, B's and C's 8 columns at a time, C's blocks by row, then by
 * column, whatever the layout in memory. An f16 fragment of A or B has eight registers whatever it
 * needs: if it needs fewer, the rest repeats them (as GPUs since sm_75 have it); products read the first.
 *
 * What lanes that are not here would hold counts as zero. (The ISA wants all lanes of a warp here.) */
#ifndef HEDDLE_EMU_OPS_MATRIXOPS_H
#define HEDDLE_EMU_OPS_MATRIXOPS_H

#include "emu/ops/exec.h"

enum { MMA_REGS = 8 };

struct mma_desc {
    u8 m, n;          /* multiples of 8; C has 256 elements at most */
    u16 k;            /* of B; a sparse A has half */
    u8 a, b, c, d;    /* enum ptx_type of the elements */
    u8 rnd;           /* enum fp_rnd, f64 */
    bool saturate;    /* .satfinite */
    bool conjunction; /* b1: .and, not .xor */
    bool sparse;
    bool a_col, b_col; /* m8n8k4.f16 */
    u8 selector;
    u32 a_rows[MMA_REGS], b_rows[MMA_REGS], c_rows[MMA_REGS], d_rows[MMA_REGS];
    u32 meta; /* row of the metadata */
};

struct matrix_place { /* of elements that go together: the line, and the byte in it */
    u8 line, from;
};

/* How the registers of a fragment of 32-bit registers lie in the lines of memory, for each register of all lanes. */
enum matrix_form {
    MATRIX_PIECES, /* as `places` says */
    MATRIX_ROWS,   /* 16 bytes of each of 8 lines, one line after the other in the order of lanes */
    MATRIX_COLUMNS, /* 8 16-bit elements of each of 8 lines, transposed */
    MATRIX_PAIRS /* two registers: 32 bytes of each of 8 lines, of which each lane has 4 in either */
};
struct matrix_block { /* of a register, or of two */
    u8 line, from;
};

struct matrix_desc {   /* ldmatrix, stmatrix, wmma.load, wmma.store */
    u8 space;          /* enum ptx_space */
    u8 address_bytes;  /* of the row of addresses; 0: `offset` alone */
    u8 regs, distinct; /* registers; the first so many, which the others repeat */
    bool trans;        /* ldmatrix, stmatrix */
    /* wmma: */
    u8 bits;          /* of an element */
    u8 lines, length; /* rows (column-major: columns), elements of each */
    u8 piece, pieces; /* bytes that go together, how many of them a register has */
    bool has_stride;  /* the row `stride`, else it is `length` */
    u32 address, stride;
    i64 offset;
    const struct matrix_place *places; /* [register][lane][piece] */
    u8 form;                           /* enum matrix_form */
    struct matrix_block
        blocks[MMA_REGS]; /* of a form but PIECES: where each register's lines begin */
    u32 rows[MMA_REGS];
};

#endif
