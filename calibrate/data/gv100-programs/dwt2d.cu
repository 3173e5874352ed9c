/* dwt2d (Rodinia): the first launch, which takes 1024 x 1024 pixels of three bytes apart into three planes. ./dwt2d 0 */
#include "launch.h"

enum { PIXELS = 1024 * 1024, BLOCK = 256 };

__global__ void apart(int *r, int *g, int *b, const unsigned char *pixels)
{
    __shared__ unsigned char bytes[BLOCK * 3];
    const int x = threadIdx.x, at = blockIdx.x * BLOCK;
    if (x < BLOCK * 3 / 4) ((unsigned *)bytes)[x] = ((const unsigned *)(pixels + at * 3))[x];
    __syncthreads();
    if (at + x >= PIXELS) return;
    r[at + x] = bytes[x * 3] - 128;
    g[at + x] = bytes[x * 3 + 1] - 128;
    b[at + x] = bytes[x * 3 + 2] - 128;
}

int main(void)
{
    apart<<<PIXELS / BLOCK, BLOCK>>>(memory<int>(PIXELS), memory<int>(PIXELS), memory<int>(PIXELS),
                                     memory<unsigned char>(PIXELS * 3));
    return finish();
}
