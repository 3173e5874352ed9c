// A cloth of particles that are joined by springs (after cloth simulations with distance constraints, as Fung et al.
// have one in MICRO 2011). A step: cloth_integrate moves the particles, cloth_solve computes for each spring how far its
// ends must move and adds that to both under their locks, cloth_write_back moves the particles by these sums. The sums are
// integers, in units of 2^-16, so that their order does not matter.
//
// A thread has EACH particles or springs. In CL they lie beside each other, so the lanes of a warp access memory EACH
// elements apart; in CLopt (the kernels with _opt) lanes lie beside each other.
#include "lock.h"

enum { EACH = 8, UNIT = 65536 };

template <bool opt> __device__ unsigned element(unsigned k)
{
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    return opt ? k * gridDim.x * blockDim.x + t : t * EACH + k;
}

// Verlet: the velocity is the way of the step before. `fixed` particles stay.
template <bool opt>
__device__ void integrate(unsigned n, const unsigned *fixed, float *x, float *y, float *z, float *old_x, float *old_y,
                          float *old_z)
{
    for (unsigned k = 0; k < EACH; k++) {
        const unsigned i = element<opt>(k);
        if (i >= n || fixed[i]) continue;
        const float px = x[i], py = y[i], pz = z[i];
        x[i] = px + (px - old_x[i]) * 0.99f;
        y[i] = py + (py - old_y[i]) * 0.99f - 0.002f;
        z[i] = pz + (pz - old_z[i]) * 0.99f + 0.0005f;
        old_x[i] = px;
        old_y[i] = py;
        old_z[i] = pz;
    }
}

// A lane that does not get its second lock gives back the first before it tries again, so lanes of a warp cannot block
// each other; the empty asm keeps nvcc from moving what the locks protect behind the loop.
__device__ void add_to_both(unsigned a, unsigned b, int dx, int dy, int dz, unsigned *locks, volatile int *move_x,
                            volatile int *move_y, volatile int *move_z)
{
    const unsigned low = min(a, b), high = max(a, b);
    unsigned todo = 1;
    while (todo) {
        if (atomicCAS(&locks[low], 0, 1) == 0) {
            if (atomicCAS(&locks[high], 0, 1) == 0) {
                __threadfence();
                move_x[a] = move_x[a] + dx;
                move_y[a] = move_y[a] + dy;
                move_z[a] = move_z[a] + dz;
                move_x[b] = move_x[b] - dx;
                move_y[b] = move_y[b] - dy;
                move_z[b] = move_z[b] - dz;
                __threadfence();
                atomicExch(&locks[high], 0);
                todo = 0;
            }
            atomicExch(&locks[low], 0);
        }
        asm volatile("" : "+r"(todo));
    }
}

// The same with plain accesses to the sums: the locks alone order them, so that a warp has no fences.
__device__ void add_to_both_plain(unsigned a, unsigned b, int dx, int dy, int dz, unsigned *locks, int *move_x,
                                  int *move_y, int *move_z)
{
    const unsigned low = min(a, b), high = max(a, b);
    unsigned todo = 1;
    while (todo) {
        if (lock_try(&locks[low])) {
            if (lock_try(&locks[high])) {
                move_x[a] += dx;
                move_y[a] += dy;
                move_z[a] += dz;
                move_x[b] -= dx;
                move_y[b] -= dy;
                move_z[b] -= dz;
                lock_give_back(&locks[high]);
                todo = 0;
            }
            lock_give_back(&locks[low]);
        }
        asm volatile("" : "+r"(todo));
    }
}

template <bool opt, bool plain>
__device__ void solve(unsigned springs, const unsigned *ends_a, const unsigned *ends_b, const float *rest, const float *x,
                      const float *y, const float *z, unsigned *locks, int *move_x, int *move_y, int *move_z)
{
    for (unsigned k = 0; k < EACH; k++) {
        const unsigned i = element<opt>(k);
        if (i >= springs) continue;
        const unsigned a = ends_a[i], b = ends_b[i];
        const float dx = x[b] - x[a], dy = y[b] - y[a], dz = z[b] - z[a];
        const float length = sqrtf(dx * dx + dy * dy + dz * dz);
        const float share = 0.5f * UNIT * (length - rest[i]) / length;
        const int x_way = __float2int_rn(dx * share), y_way = __float2int_rn(dy * share), z_way = __float2int_rn(dz * share);
        if (plain)
            add_to_both_plain(a, b, x_way, y_way, z_way, locks, move_x, move_y, move_z);
        else
            add_to_both(a, b, x_way, y_way, z_way, locks, move_x, move_y, move_z);
    }
}

// A particle has up to eight springs: a quarter of the sum keeps the cloth from swinging.
template <bool opt>
__device__ void write_back(unsigned n, const unsigned *fixed, int *move_x, int *move_y, int *move_z, float *x, float *y,
                           float *z)
{
    for (unsigned k = 0; k < EACH; k++) {
        const unsigned i = element<opt>(k);
        if (i >= n) continue;
        if (!fixed[i]) {
            x[i] += (float)move_x[i] * (0.25f / UNIT);
            y[i] += (float)move_y[i] * (0.25f / UNIT);
            z[i] += (float)move_z[i] * (0.25f / UNIT);
        }
        move_x[i] = move_y[i] = move_z[i] = 0;
    }
}

#define SOLVE(suffix, opt, plain)                                                                                         \
    extern "C" __global__ void cloth_solve##suffix(unsigned springs, const unsigned *ends_a, const unsigned *ends_b,     \
                                                   const float *rest, const float *x, const float *y, const float *z,    \
                                                   unsigned *locks, int *move_x, int *move_y, int *move_z)               \
    {                                                                                                                     \
        solve<opt, plain>(springs, ends_a, ends_b, rest, x, y, z, locks, move_x, move_y, move_z);                         \
    }
#define KERNELS(suffix, opt)                                                                                              \
    extern "C" __global__ void cloth_integrate##suffix(unsigned n, const unsigned *fixed, float *x, float *y, float *z,  \
                                                       float *old_x, float *old_y, float *old_z)                         \
    {                                                                                                                     \
        integrate<opt>(n, fixed, x, y, z, old_x, old_y, old_z);                                                           \
    }                                                                                                                     \
    extern "C" __global__ void cloth_write_back##suffix(unsigned n, const unsigned *fixed, int *move_x, int *move_y,     \
                                                        int *move_z, float *x, float *y, float *z)                       \
    {                                                                                                                     \
        write_back<opt>(n, fixed, move_x, move_y, move_z, x, y, z);                                                       \
    }                                                                                                                     \
    SOLVE(suffix, opt, false)
KERNELS(, false)
KERNELS(_opt, true)
SOLVE(_plain, false, true)
SOLVE(_opt_plain, true, true)
