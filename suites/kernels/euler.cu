// Compressible flow: the Euler equations on an unstructured mesh by finite volumes, three Runge-Kutta stages a step (CFD
// of the GPUDet thesis). A thread has one element; it has four faces. The variables of element e are density, momentum
// x, y, z and energy: variable[v * elements + e]. Normals point into the element.
// Products and sums are fused, as compilers do it by default.
enum { FACES = 4, VARIABLES = 5, WALL = -1 /* no flow through it; any other negative neighbour: the far field */ };

#define GAMMA 1.4f
#define SMOOTHING 0.2f

struct state {
    float density, momentum[3], energy, velocity[3], pressure, speed, sound;
};

__constant__ state far_field;

static __device__ state state_of(float density, float mx, float my, float mz, float energy)
{
    state s;
    s.density = density;
    s.momentum[0] = mx, s.momentum[1] = my, s.momentum[2] = mz;
    s.energy = energy;
    float squares = 0;
    for (int i = 0; i < 3; i++) {
        s.velocity[i] = s.momentum[i] / density;
        squares = fmaf(s.velocity[i], s.velocity[i], squares);
    }
    s.pressure = (GAMMA - 1.0f) * (energy - 0.5f * density * squares);
    s.speed = sqrtf(squares);
    s.sound = sqrtf(GAMMA * s.pressure / density);
    return s;
}

static __device__ state load(const float *variable, int elements, int e)
{
    return state_of(variable[e], variable[elements + e], variable[2 * elements + e], variable[3 * elements + e],
                    variable[4 * elements + e]);
}

extern "C" __global__ void euler_step_factor(int elements, const float *variable, const float *area, float *factor)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= elements) return;
    const state s = load(variable, elements, e);
    factor[e] = 0.5f / (sqrtf(area[e]) * (s.speed + s.sound));
}

extern "C" __global__ void euler_flux(int elements, const int *neighbour, const float *normal, const float *variable,
                                      float *flux)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= elements) return;
    const state a = load(variable, elements, e);
    float sum[VARIABLES] = {};
    for (int f = 0; f < FACES; f++) {
        const int other = neighbour[f * elements + e];
        float n[3], squares = 0;
        for (int i = 0; i < 3; i++) {
            n[i] = normal[(f * 3 + i) * elements + e];
            squares = fmaf(n[i], n[i], squares);
        }
        if (other == WALL) {
            for (int i = 0; i < 3; i++) sum[1 + i] = fmaf(n[i], a.pressure, sum[1 + i]);
            continue;
        }
        const state b = other >= 0 ? load(variable, elements, other) : far_field;
        if (other >= 0) { // artificial viscosity
            const float k = -sqrtf(squares) * SMOOTHING * 0.5f * (a.speed + b.speed + a.sound + b.sound);
            sum[0] = fmaf(k, a.density - b.density, sum[0]);
            for (int i = 0; i < 3; i++) sum[1 + i] = fmaf(k, a.momentum[i] - b.momentum[i], sum[1 + i]);
            sum[4] = fmaf(k, a.energy - b.energy, sum[4]);
        }
        for (int i = 0; i < 3; i++) {
            const float k = 0.5f * n[i];
            sum[0] = fmaf(k, b.momentum[i] + a.momentum[i], sum[0]);
            for (int j = 0; j < 3; j++) {
                float through = fmaf(b.velocity[i], b.momentum[j], a.velocity[i] * a.momentum[j]);
                if (i == j) through += b.pressure + a.pressure;
                sum[1 + j] = fmaf(k, through, sum[1 + j]);
            }
            sum[4] = fmaf(k, fmaf(b.velocity[i], b.energy + b.pressure, a.velocity[i] * (a.energy + a.pressure)), sum[4]);
        }
    }
    for (int v = 0; v < VARIABLES; v++) flux[v * elements + e] = sum[v];
}

// stage: 1, 2, 3
extern "C" __global__ void euler_time_step(int stage, int elements, const float *old, const float *factor, const float *flux,
                                           float *variable)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= elements) return;
    const float k = factor[e] / (float)(4 - stage);
    for (int v = 0; v < VARIABLES; v++)
        variable[v * elements + e] = old[v * elements + e] + k * flux[v * elements + e];
}
