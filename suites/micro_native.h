/* suites/micro_native.h: the kernels of suites/kernels/micro.cu in C: one thread of the host does the work of `threads`
 * threads, as an optimising compiler compiles it. `out` has 2^22 words. */
#ifndef HEDDLE_SUITES_MICRO_NATIVE_H
#define HEDDLE_SUITES_MICRO_NATIVE_H

#define NATIVE(name) void native_##name(unsigned *out, unsigned threads, unsigned n, unsigned k);
NATIVE(int)
NATIVE(fma)
NATIVE(sfu)
NATIVE(f64)
NATIVE(convert)
NATIVE(call_direct)
NATIVE(call_indirect)
NATIVE(call_recursive)
NATIVE(branch)
NATIVE(switch)
NATIVE(nested)
NATIVE(coalesced)
NATIVE(strided)
NATIVE(random)
NATIVE(shared)
NATIVE(constant)
NATIVE(atomic)
#undef NATIVE

#endif
