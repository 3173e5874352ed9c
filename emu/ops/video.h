/* emu/ops/video.h: the video instructions, one lane at a time (PTX ISA, "Video Instructions"). */
#ifndef HEDDLE_EMU_OPS_VIDEO_H
#define HEDDLE_EMU_OPS_VIDEO_H

#include "emu/ops/exec.h"

enum video_op {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_SHL,
    VIDEO_SHR,
    VIDEO_MAD,
    VIDEO_SET,
    VIDEO_AVERAGE
};
enum video_then { THEN_NOTHING, THEN_MERGE, THEN_ADD, THEN_MIN, THEN_MAX };

struct video_desc {
    u8 op;      /* enum video_op */
    u8 then;    /* enum video_then: the secondary operation with c */
    u8 compare; /* SET: 0-5: eq ne lt le gt ge */
    bool sign_d, sign_a, sign_b;
    bool sat, clamp; /* clamp: shift counts above 32 count as 32; else they wrap */
    bool minus_a, minus_b, minus_c, plus_one;
    u8 shift;                /* MAD: 0, 7, 15 */
    u8 sel_a, sel_b, sel_d;  /* enum ptx_sel of a byte or half; 0: the word */
    u8 parts;                /* SIMD: 2 or 4; 0: scalar */
    u8 mask;                 /* SIMD: which parts are written */
    u8 from_a[4], from_b[4]; /* SIMD: part i of each source is part [i] of b:a */
    u32 rows[3];
};

/* The result of one lane. */
u32 video_apply(const struct video_desc *v, u32 a, u32 b, u32 c);

#endif
