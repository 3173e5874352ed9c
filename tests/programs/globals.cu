// Objects whose constructors use the device before main, and whose destructors do after it; variables of all kinds.
#include "self.cuh"

__device__ int counter = 7;
__constant__ double factors[3] = {0.5, 1.5, 2.5};
__device__ struct {
    int a;
    double b;
    const char *text;
} record = {1, 2.5, "text"};
__device__ int *pointer = &counter;
static __device__ short hidden[4] = {1, -2, 3, -4};
namespace inner {
__device__ float value = 1.25f;
}

__global__ void bump(int *out, int k)
{
    *out += k + counter;
}

__global__ void look(double *out)
{
    out[0] = factors[2];
    out[1] = record.a + record.b;
    out[2] = record.text[3];
    out[3] = *pointer;
    out[4] = hidden[0] + hidden[1] * 10 + hidden[2] * 100 + hidden[3] * 1000;
    out[5] = inner::value;
    (*pointer)++;
}

struct early {
    int *memory = nullptr, k;
    explicit early(int k) : k(k)
    {
        OK(cudaMalloc(&memory, sizeof(int)));
        OK(cudaMemset(memory, 0, sizeof(int)));
        bump<<<1, 1>>>(memory, k);
        OK(cudaGetLastError());
    }
    ~early()
    {
        int value = 0;
        const cudaError_t r = cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost);
        // NVIDIA's runtime may be gone by now, and says so
        if ((r != cudaSuccess || value != k + 7) && r != cudaErrorCudartUnloading) _Exit(9);
        (void)cudaFree(memory);
    }
};
static early one(1), two(2);

int main()
{
    room<double> out(6);
    look<<<1, 1>>>(out);
    CHECK(out.get() == (std::vector<double>{2.5, 3.5, 't', 7, 1 - 20 + 300 - 4000, 1.25}));
    int now = 0, *where = nullptr;
    size_t size = 0;
    OK(cudaMemcpyFromSymbol(&now, counter, sizeof now));
    CHECK(now == 8);
    const double others[2] = {10, 20};
    OK(cudaMemcpyToSymbol(factors, others, sizeof others, sizeof(double)));
    OK(cudaGetSymbolAddress((void **)&where, counter));
    OK(cudaGetSymbolSize(&size, factors));
    CHECK(size == 24);
    OK(cudaMemset(where, 0, sizeof(int)));
    look<<<1, 1>>>(out);
    CHECK(out.get()[0] == 20 && out.get()[3] == 0);
    const float f = 9;
    OK(cudaMemcpyToSymbolAsync(inner::value, &f, sizeof f, 0, cudaMemcpyHostToDevice, 0));
    look<<<1, 1>>>(out);
    CHECK(out.get()[5] == 9 && out.get()[3] == 1);
    for (const early *e : {&one, &two}) {
        int value = 0;
        OK(cudaMemcpy(&value, e->memory, sizeof value, cudaMemcpyDeviceToHost));
        CHECK(value == e->k + 7);
    }
    return verdict();
}
