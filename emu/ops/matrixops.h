/* emu/ops/matrixops.h: matrices in the registers of a warp: descriptions that emu/lower/matrix.c writes for matrix.c
 * (loads, stores) and simd_matrix.c (products).
 *
 * Fragments. A register of 32 bits holds E = 32 / bits elements, one of f64 E = 1. Lane l is in group
 * g = l / 4, at place t = l % 4 in it. Sections 9.7.14.5.2 to 9.7.14.5.13 of the PTX ISA, for every
 * shape with 8 columns, come to this:
 *     A, 8 rows:   register r, element e: row g,               k = r * 4E + t * E + e
 *     A, 16 rows:                         row g + 8 * (r % 2), k = (r / 2) * 4E + t * E + e
 *     B:           register r, element e: k = r * 4E + t * E + e, column g
 *     C, D:        element i:             row g + 8 * (i / 2), column 2t + i % 2
 * (f16 elements i and i + 1 share a register), so a register of all lanes is a block of 8 rows or columns with 4E
 * adjacent elements. The ISA does not define wmma's fragments; here they consist of several of these: A's 16 rows at a
 * time, B's and C's 8 columns at a time, C's blocks by row, then by column, whatever the layout in memory. An f16
 * fragment of A or B always has eight registers: if it needs fewer, the others repeat them (as on GPUs since sm_75);
 * products read the first ones.
 *
 * Elements of inactive lanes count as zero. (The ISA requires that all lanes of a warp are active.) */
#ifndef HEDDLE_EMU_OPS_MATRIXOPS_H
#define HEDDLE_EMU_OPS_MATRIXOPS_H

#include "emu/ops/exec.h"

enum { MMA_REGS = 8 };

struct mma_desc {
    u8 m, n;          /* multiples of 8; C has 256 elements at most */
    u16 k;            /* rows of B; a sparse A has half as many columns */
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

struct matrix_place { /* position of adjacent elements: line, and byte in the line */
    u8 line, from;
};

/* The layout in memory of a register of all lanes, for fragments of 32-bit registers. */
enum matrix_form {
    MATRIX_PIECES,  /* given by `places` */
    MATRIX_ROWS,    /* 16 bytes of each of 8 lines; lanes are in the order of lines */
    MATRIX_COLUMNS, /* 8 16-bit elements of each of 8 lines, transposed */
    /* two registers: 32 bytes of each of 8 lines; each lane has 4 bytes in each register */
    MATRIX_PAIRS
};
struct matrix_block { /* position of the block of a register, or of two */
    u8 line, from;
};

struct matrix_desc { /* ldmatrix, stmatrix, wmma.load, wmma.store */
    u8 space;        /* enum ptx_space */
    /* bytes of an address in the row `address`; 0: no row, the address is `offset` */
    u8 address_bytes;
    u8 regs, distinct; /* registers; number of the first ones, which the others repeat */
    bool trans;        /* ldmatrix, stmatrix */
    /* wmma: */
    u8 bits;          /* of an element */
    u8 lines, length; /* rows (column-major: columns), elements of each */
    u8 piece, pieces; /* bytes of a piece of adjacent elements; pieces of a register */
    bool has_stride;  /* the stride is in row `stride`; false: it is `length` */
    u32 address, stride;
    i64 offset;
    const struct matrix_place *places; /* [register][lane][piece] */
    u8 form;                           /* enum matrix_form */
    /* forms other than PIECES: the position of each register's block */
    struct matrix_block blocks[MMA_REGS];
    u32 rows[MMA_REGS];
};

#endif
