/* tests/support/nested_ptx.h: pieces of PTX of kernels that launch grids and wait for them, as CUDA 11 and earlier compile them. */
#ifndef HEDDLE_TESTS_SUPPORT_NESTED_PTX_H
#define HEDDLE_TESTS_SUPPORT_NESTED_PTX_H

#define DECLARE                                                                                         \
    ".version 6.0\n.target sm_60\n.address_size 64\n"                                                   \
    ".extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], " \
    ".param .align 4 .b8 b[12], .param .b32 s);\n"                                                      \
    ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 p, .param .b64 s);\n"                 \
    ".extern .func (.param .b32 r) cudaGetLastError();\n"                                               \
    ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n"                                          \
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"

/* start(kernel, CTAs, threads, stream, out, v): launches kernel(out, v). The launch's error, or 1000 and the last error where
 * there is no buffer for its parameters. */
#define START                                                                                                  \
    ".func (.param .b32 e) start(.param .b64 k, .param .b32 gx, .param .b32 bx, .param .b64 st, "              \
    ".param .b64 out, .param .b32 v)\n{\n"                                                                     \
    " .reg .b64 %d<5>; .reg .b32 %r<4>; .reg .pred %p;\n .param .b64 f; .param .align 4 .b8 g[12];"            \
    " .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 buf; .param .b32 err;\n"                           \
    " ld.param.u64 %d1, [k]; st.param.b64 [f], %d1;\n"                                                         \
    " ld.param.u32 %r1, [gx]; st.param.b32 [g], %r1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;\n"          \
    " ld.param.u32 %r1, [bx]; st.param.b32 [b], %r1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;\n"          \
    " st.param.b32 [s], 0; call (buf), cudaGetParameterBufferV2, (f, g, b, s); ld.param.b64 %d2, [buf];\n"     \
    " setp.ne.u64 %p, %d2, 0; @%p bra go;\n call (err), cudaGetLastError, ();\n"                               \
    " ld.param.b32 %r1, [err]; add.u32 %r1, %r1, 1000; st.param.b32 [e], %r1; ret;\n"                          \
    "go:\n ld.param.u64 %d3, [out]; st.u64 [%d2], %d3; ld.param.u32 %r2, [v]; st.u32 [%d2+8], %r2;\n"          \
    " ld.param.u64 %d4, [st]; { .param .b64 p; .param .b64 q; st.param.b64 [p], %d2; st.param.b64 [q], %d4;\n" \
    " call (err), cudaLaunchDeviceV2, (p, q); }\n ld.param.b32 %r1, [err]; st.param.b32 [e], %r1; ret;\n}\n"

#define LAUNCH(k, gx, bx, st, out, v)                                                                               \
    " { .param .b64 a; .param .b32 b; .param .b32 c; .param .b64 d; .param .b64 e; .param .b32 f; .param .b32 r;\n" \
    " st.param.b64 [a], " k "; st.param.b32 [b], " gx "; st.param.b32 [c], " bx                                     \
    "; st.param.b64 [d], " st "; st.param.b64 [e], " out "; st.param.b32 [f], " v                                   \
    ";\n call (r), start, (a, b, c, d, e, f); ld.param.b32 %e, [r]; }\n"
#define WAIT " { .param .b32 r; call (r), cudaDeviceSynchronize, (); ld.param.b32 %r7, [r]; }\n"

#define ENTRY(name)                                                                                \
    ".visible .entry " name "(.param .u64 out, .param .u32 v)\n{\n"                                \
    " .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .b32 %e; .reg .pred %p<3>; .reg .f32 %f<3>;\n"        \
    " ld.param.u64 %d1, [out]; ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;\n"
/* Appends a register to the list at out, whose first word counts. */
#define APPEND(r)                                                                                     \
    " atom.global.inc.u32 %r4, [%d1], 0x7fffffff; mul.wide.u32 %d2, %r4, 4; add.u64 %d2, %d1, %d2;\n" \
    " st.global.u32 [%d2+4], " r ";\n"
#define NOTE ENTRY("note") APPEND("%r1") " ret;\n}\n"

#endif
