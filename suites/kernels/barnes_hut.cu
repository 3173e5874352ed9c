// Gravity by Barnes and Hut: an octree of the bodies, the mass and its centre for each cell, and for each body a walk of the
// tree that takes a far cell for one body. A node below n is a body, n + c is cell c; cell 0 is the root, a cube around 0.
// What a body feels does not depend on the sequence of insertion: a cell has a place in space, not in time.
enum { EMPTY = -1, LOCKED = -2, OCTANTS = 8, STACK = 256 };

struct bodies {
    const float *x, *y, *z;
};

struct place { // of a cell: its middle, and half the length of an edge
    float x, y, z, half;
};

static __device__ unsigned octant(const struct bodies &b, const struct place &p, unsigned body)
{
    return (b.x[body] >= p.x ? 1 : 0) | (b.y[body] >= p.y ? 2 : 0) | (b.z[body] >= p.z ? 4 : 0);
}

static __device__ void enter(struct place *p, unsigned octant)
{
    p->half = p->half * 0.5F;
    p->x += octant & 1 ? p->half : -p->half;
    p->y += octant & 2 ? p->half : -p->half;
    p->z += octant & 4 ? p->half : -p->half;
}

// Each child of a cell has a lock: its own value LOCKED. A body that comes to another one makes cells until the two part.
// used[0]: cells so far; used[1]: 1 if there were too few.
extern "C" __global__ void bh_build(unsigned n, unsigned most, float half, const float *x, const float *y,
                                    const float *z, volatile int *child, float *halves, unsigned *used)
{
    const struct bodies b = {x, y, z};
    const struct place root = {0, 0, 0, half};
    struct place p = root;
    unsigned cell = 0, body = blockIdx.x * blockDim.x + threadIdx.x;
    while (body < n) {
        unsigned slot = octant(b, p, body);
        int there = child[OCTANTS * cell + slot];
        if (there >= (int)n) {
            cell = there - n;
            enter(&p, slot);
            continue;
        }
        const unsigned lock = OCTANTS * cell + slot;
        if (there == LOCKED || atomicCAS((int *)&child[lock], there, LOCKED) != there) continue;
        int top = there == EMPTY ? (int)body : EMPTY;
        while (there != EMPTY) {
            const unsigned made = atomicAdd(&used[0], 1);
            if (made >= most) {
                used[1] = 1;
                top = there; // the body is left out, and the host told
                break;
            }
            if (top == EMPTY) top = n + made;
            else child[OCTANTS * cell + slot] = n + made;
            cell = made;
            enter(&p, slot);
            halves[cell] = p.half;
            slot = octant(b, p, body);
            const unsigned other = octant(b, p, there);
            child[OCTANTS * cell + other] = there;
            if (other == slot) continue;
            child[OCTANTS * cell + slot] = body;
            break;
        }
        __threadfence();
        child[lock] = top; // unlocks
        body += gridDim.x * blockDim.x;
        cell = 0;
        p = root;
    }
}

// A cell is made after its parent and has a greater number. So threads begin with the last ones; a cell waits for those
// among its children that are cells.
extern "C" __global__ void bh_masses(unsigned n, unsigned cells, const int *child, float *x, float *y, float *z,
                                     float *mass, volatile unsigned *ready)
{
    for (int cell = (int)cells - 1 - (int)(blockIdx.x * blockDim.x + threadIdx.x); cell >= 0;) {
        bool all = true;
        for (unsigned i = 0; i < OCTANTS; i++) {
            const int c = child[OCTANTS * cell + i];
            if (c >= (int)n && !ready[c - n]) all = false;
        }
        if (!all) continue;
        __threadfence();
        float m = 0, mx = 0, my = 0, mz = 0;
        for (unsigned i = 0; i < OCTANTS; i++) {
            const int c = child[OCTANTS * cell + i];
            if (c == EMPTY) continue;
            m += mass[c];
            mx = fmaf(mass[c], x[c], mx);
            my = fmaf(mass[c], y[c], my);
            mz = fmaf(mass[c], z[c], mz);
        }
        mass[n + cell] = m;
        x[n + cell] = mx / m;
        y[n + cell] = my / m;
        z[n + cell] = mz / m;
        __threadfence();
        ready[cell] = 1;
        cell -= gridDim.x * blockDim.x;
    }
}

// `near`: a cell counts as one body if its edge is shorter than that part of its distance.
extern "C" __global__ void bh_forces(unsigned n, float near, float soft, const int *child, const float *halves,
                                     const float *x, const float *y, const float *z, const float *mass, float *ax,
                                     float *ay, float *az)
{
    const unsigned body = blockIdx.x * blockDim.x + threadIdx.x;
    int stack[STACK];
    if (body >= n) return;
    float fx = 0, fy = 0, fz = 0;
    unsigned depth = 0;
    stack[depth++] = n;
    while (depth) {
        const int node = stack[--depth];
        const float dx = x[node] - x[body], dy = y[node] - y[body], dz = z[node] - z[body];
        const float d2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, soft)));
        if (node >= (int)n) {
            const float edge = 2 * halves[node - n];
            if (edge * edge >= near * near * d2) {
                for (int i = OCTANTS - 1; i >= 0; i--) {
                    const int c = child[OCTANTS * (node - n) + i];
                    if (c != EMPTY && depth < STACK) stack[depth++] = c;
                }
                continue;
            }
        }
        const float one = 1 / sqrtf(d2), pull = mass[node] * one * one * one;
        fx = fmaf(pull, dx, fx);
        fy = fmaf(pull, dy, fy);
        fz = fmaf(pull, dz, fz);
    }
    ax[body] = fx;
    ay[body] = fy;
    az[body] = fz;
}

extern "C" __global__ void bh_advance(unsigned n, float dt, const float *ax, const float *ay, const float *az,
                                      float *x, float *y, float *z, float *vx, float *vy, float *vz)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    vx[i] = fmaf(ax[i], dt, vx[i]);
    vy[i] = fmaf(ay[i], dt, vy[i]);
    vz[i] = fmaf(az[i], dt, vz[i]);
    x[i] = fmaf(vx[i], dt, x[i]);
    y[i] = fmaf(vy[i], dt, y[i]);
    z[i] = fmaf(vz[i], dt, z[i]);
}
