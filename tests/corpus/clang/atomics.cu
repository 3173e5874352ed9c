// Atomics from clang: __nvvm_atom_* builtins and C11-style __atomic/__sync operations that become atom.* and loops.
// ARCH: 30 35 50
#include "device.h"

extern "C" __global__ void builtins(int *p, long long *q, float *f, int *o)
{
    o[0] = __nvvm_atom_add_gen_i(p, 1);
    o[1] = __nvvm_atom_max_gen_i(p, 2);
    o[2] = __nvvm_atom_min_gen_ui((unsigned *)p, 3);
    o[3] = __nvvm_atom_and_gen_i(p, 4);
    o[4] = __nvvm_atom_or_gen_i(p, 5);
    o[5] = __nvvm_atom_xor_gen_i(p, 6);
    o[6] = __nvvm_atom_xchg_gen_i(p, 7);
    o[7] = __nvvm_atom_cas_gen_i(p, 8, 9);
    o[8] = __nvvm_atom_inc_gen_ui((unsigned *)p, 10);
    o[9] = __nvvm_atom_dec_gen_ui((unsigned *)p, 11);
    o[10] = __nvvm_atom_add_gen_f(f, 1.5f);
    o[11] = __nvvm_atom_add_gen_ll(q, 1);
    o[12] = __nvvm_atom_cas_gen_ll(q, 1, 2);
    o[13] = __nvvm_atom_xchg_gen_ll(q, 4);
}

extern "C" __global__ void generic(int *p, unsigned long *q, int *o)
{
    __shared__ int s;
    o[0] = __atomic_fetch_add(p, 3, __ATOMIC_RELAXED);
    o[1] = __atomic_fetch_sub(p, 3, __ATOMIC_RELAXED);
    o[2] = __sync_fetch_and_or(p, 3);
    o[3] = __atomic_exchange_n(q, 9, __ATOMIC_RELAXED);
    o[4] = __sync_val_compare_and_swap(p, 1, 2);
    o[5] = __sync_bool_compare_and_swap(q, 1ul, 2ul);
    o[7] = __sync_fetch_and_add(&s, 1);
    o[8] = __sync_fetch_and_umax((unsigned *)p, 8u);
    __nvvm_membar_gl();
    __nvvm_membar_cta();
    __nvvm_membar_sys();
    o[9] = s;
}
