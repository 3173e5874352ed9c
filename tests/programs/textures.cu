// Arrays, textures of arrays, rows and linear memory, a surface, a three-dimensional array: checks itself.
#include <cstdio>

__global__ void read2d(cudaTextureObject_t t, float *out, int width, int height)
{
    const int x = threadIdx.x, y = blockIdx.x;
    if (x < width && y < height) out[y * width + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}

__global__ void read1d(cudaTextureObject_t t, int *out, int n)
{
    if (threadIdx.x < n) out[threadIdx.x] = tex1Dfetch<int>(t, n - 1 - threadIdx.x);
}

__global__ void normalized(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex2D<float>(t, (threadIdx.x + 0.5f) / 16, 0.5f);
}

__global__ void read3d(cudaTextureObject_t t, uchar4 *out)
{
    out[threadIdx.x + 4 * threadIdx.y + 12 * threadIdx.z] =
        tex3D<uchar4>(t, threadIdx.x, threadIdx.y, threadIdx.z);
}

__global__ void store(cudaSurfaceObject_t s, int width)
{
    surf2Dwrite((float)(threadIdx.x + 100 * blockIdx.x), s, threadIdx.x * sizeof(float), blockIdx.x);
}

static int bad;

static void planes()
{
    const int width = 20, height = 10;
    float in[width * height], back[width * height], *out;
    for (int i = 0; i < width * height; i++) in[i] = i;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>(), asked;
    cudaArray_t array;
    cudaExtent extent;
    unsigned flags;
    cudaMallocArray(&array, &desc, width, height, cudaArraySurfaceLoadStore);
    cudaArrayGetInfo(&asked, &extent, &flags, array);
    bad += asked.x != 32 || asked.y || asked.f != cudaChannelFormatKindFloat || extent.width != width;
    cudaMemcpy2DToArray(array, 0, 0, in, width * 4, width * 4, height, cudaMemcpyHostToDevice);
    cudaMalloc(&out, sizeof in);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    read2d<<<height, 32>>>(t, out, width, height);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (int i = 0; i < width * height; i++) bad += back[i] != in[i];
    cudaSurfaceObject_t s;
    cudaCreateSurfaceObject(&s, &r);
    store<<<height, width>>>(s, width);
    cudaMemcpy2DFromArray(back, width * 4, array, 0, 0, width * 4, height, cudaMemcpyDeviceToHost);
    for (int i = 0; i < width * height; i++) bad += back[i] != i % width + 100 * (i / width);
    cudaDestroyTextureObject(t);
    cudaDestroySurfaceObject(s);
    cudaFreeArray(array);
    cudaFree(out);
}

static void linear()
{
    int in[32], back[32], *memory, *out;
    for (int i = 0; i < 32; i++) in[i] = 7 * i - 50;
    cudaMalloc(&memory, sizeof in);
    cudaMalloc(&out, sizeof in);
    cudaMemcpy(memory, in, sizeof in, cudaMemcpyHostToDevice);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = memory;
    r.res.linear.desc = cudaCreateChannelDesc<int>();
    r.res.linear.sizeInBytes = sizeof in;
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    read1d<<<1, 32>>>(t, out, 32);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++) bad += back[i] != in[31 - i];
    cudaDestroyTextureObject(t);
}

static void rows()
{
    unsigned char in[16];
    float back[16], *out;
    void *memory;
    size_t pitch;
    for (int i = 0; i < 16; i++) in[i] = 17 * i;
    cudaMallocPitch(&memory, &pitch, 16, 1);
    cudaMalloc(&out, sizeof back);
    cudaMemcpy2D(memory, pitch, in, 16, 16, 1, cudaMemcpyHostToDevice);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
    r.res.pitch2D.width = 16;
    r.res.pitch2D.height = 1;
    r.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc d = {};
    d.readMode = cudaReadModeNormalizedFloat;
    d.normalizedCoords = 1;
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    normalized<<<1, 16>>>(t, out);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 16; i++) bad += back[i] != in[i] / 255.0f;
}

static void boxes()
{
    uchar4 in[24], back[24], *out;
    for (int i = 0; i < 24; i++) in[i] = make_uchar4(i, 2 * i, 3 * i, 4 * i);
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<uchar4>();
    cudaArray_t array;
    cudaMalloc3DArray(&array, &desc, make_cudaExtent(4, 3, 2));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(in, 4 * sizeof *in, 4, 3);
    p.dstArray = array;
    p.extent = make_cudaExtent(4, 3, 2);
    p.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&p);
    cudaMalloc(&out, sizeof in);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    read3d<<<1, dim3(4, 3, 2)>>>(t, out);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 24; i++) bad += back[i].x != i || back[i].y != 2 * i || back[i].z != 3 * i || back[i].w != 4 * i;
}

int main()
{
    planes();
    linear();
    rows();
    boxes();
    printf("%d wrong, %s\n", bad, cudaGetErrorName(cudaGetLastError()));
    return bad || cudaPeekAtLastError() != cudaSuccess;
}
