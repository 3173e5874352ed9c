// Scoped and double atomics from clang for sm_60 and up: atom.cta/.sys, atom.add.f64.
// ARCH: 60 70 75
#include "device.h"

extern "C" __global__ void scoped(int *p, long long *q, double *d, float *f, int *o, double *e)
{
    o[0] = __nvvm_atom_cta_add_gen_i(p, 1);
    o[1] = __nvvm_atom_sys_add_gen_i(p, 1);
    o[2] = __nvvm_atom_cta_cas_gen_i(p, 1, 2);
    o[3] = __nvvm_atom_sys_max_gen_ll(q, 2);
    o[4] = __nvvm_atom_cta_xchg_gen_ll(q, 2);
    o[5] = __nvvm_atom_sys_inc_gen_ui((unsigned *)p, 2);
    e[0] = __nvvm_atom_add_gen_d(d, 1.5);
    e[1] = __nvvm_atom_cta_add_gen_d(d, 2.5);
    e[2] = __nvvm_atom_sys_add_gen_f(f, 2.5f);
}
