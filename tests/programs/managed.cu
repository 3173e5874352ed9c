// Memory that the host and kernels use at one address: managed, pinned, registered, __managed__: checks itself.
#include <cstdio>
#include <cstdlib>

__managed__ int total = 5;
__device__ __managed__ float table[4] = {1, 2, 3};

struct node {
    int value;
    node *next;
};

__global__ void add(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
    if (i < n) atomicAdd(&total, 1);
}

__global__ void walk(const node *n, int *sum)
{
    for (*sum = 0; n; n = n->next) *sum += n->value;
}

__global__ void scale()
{
    table[threadIdx.x] *= 2;
}

static int bad;

static void variables()
{
    int copy = 0, *address;
    cudaPointerAttributes a;
    total += 2;
    int *in, *out;
    cudaMallocManaged(&in, 1000 * sizeof *in);
    cudaMallocManaged(&out, 1000 * sizeof *out);
    for (int i = 0; i < 1000; i++) in[i] = i;
    add<<<4, 256>>>(in, out, 1000);
    cudaDeviceSynchronize();
    for (int i = 0; i < 1000; i++) bad += out[i] != i + 1;
    bad += total != 1007;
    cudaMemcpyFromSymbol(&copy, total, sizeof copy);
    cudaGetSymbolAddress((void **)&address, total);
    bad += copy != 1007 || address != &total;
    copy = 9;
    cudaMemcpyToSymbol(total, &copy, sizeof copy);
    bad += total != 9;
    table[3] = 10;
    scale<<<1, 4>>>();
    cudaDeviceSynchronize();
    bad += table[0] != 2 || table[2] != 6 || table[3] != 20;
    cudaPointerGetAttributes(&a, in + 5);
    bad += a.type != cudaMemoryTypeManaged || a.hostPointer != in + 5 || a.devicePointer != in + 5;
    cudaPointerGetAttributes(&a, &total);
    bad += a.type != cudaMemoryTypeManaged;
    cudaFree(in);
    cudaFree(out);
}

// A list that the host builds and the device walks.
static void pointers()
{
    node *first = nullptr;
    int *sum;
    cudaMallocHost(&sum, sizeof *sum);
    for (int i = 1; i <= 50; i++) {
        node *n;
        cudaMallocManaged(&n, sizeof *n);
        n->value = i;
        n->next = first;
        first = n;
    }
    walk<<<1, 1>>>(first, sum);
    cudaDeviceSynchronize();
    bad += *sum != 1275;
    while (first) {
        node *next = first->next;
        cudaFree(first);
        first = next;
    }
    cudaFreeHost(sum);
}

static void pinned_and_registered()
{
    int *pinned, *device, *mine = (int *)malloc(1000 * sizeof *mine), *back;
    cudaPointerAttributes a;
    cudaHostAlloc(&pinned, 1000 * sizeof *pinned, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&device, pinned, 0);
    bad += device != pinned;
    for (int i = 0; i < 1000; i++) pinned[i] = 2 * i;
    bad += cudaHostRegister(mine, 1000 * sizeof *mine, cudaHostRegisterMapped) != cudaSuccess;
    bad += cudaHostRegister(mine + 1, 4, 0) != cudaErrorHostMemoryAlreadyRegistered;
    cudaHostGetDevicePointer(&device, mine, 0);
    add<<<4, 256>>>(pinned, device, 1000);
    cudaDeviceSynchronize();
    for (int i = 0; i < 1000; i++) bad += mine[i] != 2 * i + 1;
    cudaPointerGetAttributes(&a, mine + 3);
    bad += a.type != cudaMemoryTypeHost || a.hostPointer != mine + 3 || a.devicePointer != device + 3;
    // Copies find out what a pointer is.
    cudaMalloc(&back, 1000 * sizeof *back);
    cudaMemcpy(back, mine, 1000 * sizeof *mine, cudaMemcpyDefault);
    cudaMemset(mine, 0, 100 * sizeof *mine);
    cudaMemcpy(mine + 100, back + 100, 100 * sizeof *mine, cudaMemcpyDeviceToHost);
    bad += mine[99] != 0 || mine[100] != 201;
    bad += cudaHostUnregister(mine) != cudaSuccess;
    bad += cudaHostUnregister(mine) != cudaErrorHostMemoryNotRegistered;
    cudaGetLastError();
    free(mine);
    cudaFree(back);
    cudaFreeHost(pinned);
}

static void advice()
{
    char *p;
    const size_t size = 64 << 10;
    int yes = -1, where = -1, by[2] = {5, 5};
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
    cudaMallocManaged(&p, size);
    cudaMemAdvise(p, size, cudaMemAdviseSetReadMostly, device);
    cudaMemAdvise(p, size / 2, cudaMemAdviseSetPreferredLocation, device);
    cudaMemAdvise(p, size, cudaMemAdviseSetAccessedBy, host);
    cudaMemRangeGetAttribute(&yes, 4, cudaMemRangeAttributeReadMostly, p, size);
    cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributePreferredLocation, p, size / 2);
    cudaMemRangeGetAttribute(by, 8, cudaMemRangeAttributeAccessedBy, p, size);
    bad += yes != 1 || where != 0 || by[0] != cudaCpuDeviceId || by[1] != cudaInvalidDeviceId;
    cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributePreferredLocation, p, size);
    bad += where != cudaInvalidDeviceId;
    bad += cudaMemPrefetchAsync(p, size, host, 0) != cudaSuccess;
    cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributeLastPrefetchLocation, p + 5, 1);
    bad += where != cudaCpuDeviceId;
    bad += cudaMemPrefetchAsync(p, size + 1, host, 0) != cudaErrorInvalidValue;
    cudaGetLastError();
    cudaFree(p);
}

int main()
{
    variables();
    pointers();
    pinned_and_registered();
    advice();
    printf("%d wrong, %s\n", bad, cudaGetErrorName(cudaGetLastError()));
    return bad || cudaPeekAtLastError() != cudaSuccess;
}
