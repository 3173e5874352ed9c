/* nn (Rodinia): distances of 42764 places from one. ./nn 0 */
#include "launch.h"

enum { PLACES = 42764 };

struct place {
    float x, y; /* each loaded by itself */
};

__global__ void distances(const struct place *place, float *to, float x, float y)
{
    const int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    if (i < PLACES)
        to[i] = sqrtf((x - place[i].x) * (x - place[i].x) + (y - place[i].y) * (y - place[i].y));
}

int main(void)
{
    distances<<<(PLACES + 255) / 256, 256>>>(memory<struct place>(PLACES), memory<float>(PLACES),
                                             30, 90);
    return finish();
}
