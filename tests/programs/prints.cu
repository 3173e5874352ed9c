// printf of the device: every conversion, many arguments, strings, its result.
#include "self.cuh"

__global__ void says(int *out, const char *text)
{
    out[0] = printf("%d %i %u %x %X %o %c %%\n", -5, 6, 7u, 255, 255, 8, 'q');
    out[1] = printf("%ld %lld %llu %llx %hd %hhd\n", -5000000000l, -6000000000ll, ~0ull, 1ull << 40, (short)-3, (char)-2);
    out[2] = printf("%f %.2f %10.3e %-8g| %G %a\n", 1.5, 2.345, 12345.678, 0.0001, 1e20, 1.0);
    out[3] = printf("[%s] [%10s] [%-6s] [%.2s]\n", text, "right", "left", "cut off");
    out[4] = printf("%5d|%-5d|%05d|%+d|% d|%#x|%*d\n", 42, 42, 42, 42, 42, 42, 6, 42);
    out[5] = printf("nothing\n");
    out[6] = printf("%s %d %s %f %c %lld %u %d %d %d\n", "many", 1, "of", 2.5, 'x', 3ll, 4u, 5, 6, 7);
}

__global__ void each(void)
{
    if (threadIdx.x < 3) printf("thread %d of block %d\n", threadIdx.x, blockIdx.x);
}

__device__ const char text[] = "of the device";

int main()
{
    room<int> out(7);
    const char *at = nullptr;
    OK(cudaGetSymbolAddress((void **)&at, text));
    says<<<1, 1>>>(out, at);
    CHECK(out.get() == (std::vector<int>{7, 6, 6, 4, 8, 0, 10}));
    each<<<1, 32>>>();
    OK(cudaDeviceSynchronize());
    printf("%d %i %u %x %X %o %c %%\n", -5, 6, 7u, 255, 255, 8, 'q');
    return verdict();
}
