/* cfd (Rodinia, euler3d): a flow on 97024 cells, the kernels that do not go by the mesh: variables set to those at rest, the step
 * of each cell, and the step itself. ./cfd LAUNCH: 0 to 2, 3, and 5, 7, 9. */
#include "launch.h"

enum { CELLS = 97024, ROOM = 97152, VARIABLES = 5 };

__constant__ float at_rest[VARIABLES];

__global__ void set(float *variables)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (int j = 0; j < VARIABLES; j++) variables[i + j * ROOM] = at_rest[j];
}

__global__ void step_of(const float *variables, const float *areas, float *step)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    const float density = variables[i], mx = variables[i + ROOM], my = variables[i + 2 * ROOM],
                mz = variables[i + 3 * ROOM], energy = variables[i + 4 * ROOM];
    const float vx = mx / density, vy = my / density, vz = mz / density;
    const float speed2 = vx * vx + vy * vy + vz * vz;
    const float pressure = 0.4f * (energy - 0.5f * density * speed2);
    const float sound = sqrtf(1.4f * pressure / density);
    step[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(speed2) + sound));
}

__global__ void advance(int j, const float *old, float *variables, const float *step,
                        const float *fluxes)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= CELLS) return;
    const float factor = step[i] / (float)(3 + 1 - j);
    for (int k = 0; k < VARIABLES; k++)
        variables[i + k * ROOM] = old[i + k * ROOM] + factor * fluxes[i + k * ROOM];
}

int main(int argc, char **argv)
{
    float *variables = memory<float>(VARIABLES * ROOM), *old = memory<float>(VARIABLES * ROOM),
          *fluxes = memory<float>(VARIABLES * ROOM), *step = memory<float>(ROOM);
    const int launch = launch_of(argc, argv);
    if (launch < 3) set<<<ROOM / 128, 128>>>(variables);
    else if (launch == 3) step_of<<<ROOM / 192, 192>>>(variables, old, step);
    else advance<<<(CELLS + 255) / 256, 256>>>(launch / 2 - 1, old, variables, step, fluxes);
    return finish();
}
