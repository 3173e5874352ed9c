// Textures and surfaces, each kernel with a twin that reads by one what the same launch has written, or has another
// race: its name ends in _racy. No launch but the one before makes the texture's cache hear of a write.
#include <cstdio>

enum { THREADS = 64 };

struct places {
    float *words;                    // THREADS of them, and as many behind, which no texture has
    cudaTextureObject_t fetched;     // tex1Dfetch: the first half
    cudaTextureObject_t rows;        // 2D, THREADS / 8 x 8 of the first half, linear filter
    cudaTextureObject_t nearest;     // the same without
    cudaTextureObject_t array, deep; // of arrays of THREADS / 8 x 8; of two levels
    cudaSurfaceObject_t surface, other, upper; // the array; another array; the second level of the deep one
    unsigned *out;
};

#define KERNEL extern "C" __global__ void
#define PAIR(name)                                                                                 \
    KERNEL name(places p) { name##_<true>(p); }                                                    \
    KERNEL name##_racy(places p) { name##_<false>(p); }
#define BODY template <bool ordered> __device__ void

// ---- linear memory

BODY fetched_(places p)
{
    const int i = threadIdx.x;
    p.words[(ordered ? THREADS : 0) + i] = i;
    __syncthreads();
    p.out[i] = tex1Dfetch<float>(p.fetched, i ^ 33);
}
PAIR(fetched)

BODY own_(places p)
{
    const int i = threadIdx.x;
    p.words[(ordered ? THREADS : 0) + i] = i;
    p.out[i] = tex1Dfetch<float>(p.fetched, i);
}
PAIR(own)

BODY fetched_before_(places p)
{
    const int i = threadIdx.x;
    const float x = tex1Dfetch<float>(p.fetched, i ^ 33);
    if (ordered) __syncthreads();
    p.words[i] = x;
}
PAIR(fetched_before)

BODY strong_(places p)
{
    const int i = threadIdx.x;
    atomicAdd(&p.words[(ordered ? THREADS : 0) + i], 1.0f);
    __threadfence();
    __syncthreads();
    p.out[i] = tex1Dfetch<float>(p.fetched, i ^ 33);
}
PAIR(strong)

// Texel (3, 3) alone is written; the filter takes it at (3.1, 3.1), and not at (2.4, 2.4).
BODY filtered_(places p)
{
    const int i = threadIdx.x;
    if (i == 0) p.words[3 * 8 + 3] = 1;
    __syncthreads();
    const float at = ordered ? 2.4f : 3.1f;
    p.out[i] = tex2D<float>(p.rows, at, at);
}
PAIR(filtered)

BODY nearest_(places p)
{
    const int i = threadIdx.x;
    if (i == 0) p.words[3 * 8 + 3] = 1;
    __syncthreads();
    const float at = ordered ? 2.9f : 3.1f;
    p.out[i] = tex2D<float>(p.nearest, at, at);
}
PAIR(nearest)

BODY gathered_(places p)
{
    const int i = threadIdx.x;
    if (i == 0) surf2Dwrite(1.0f, p.surface, 3 * 4, 3);
    __syncthreads();
    const float at = ordered ? 2.4f : 3.1f;
    const float4 x = tex2Dgather<float4>(p.array, at, at);
    p.out[i] = x.x + x.y + x.z + x.w;
}
PAIR(gathered)

// ---- arrays

BODY written_by_surface_(places p)
{
    const int i = threadIdx.x;
    surf2Dwrite((float)i, ordered ? p.other : p.surface, i % 8 * 4, i / 8);
    __syncthreads();
    p.out[i] = tex2D<float>(p.array, (i ^ 33) % 8, (i ^ 33) / 8);
}
PAIR(written_by_surface)

// Level 1 is written: level 0 does not have it, one between them does.
BODY level_(places p)
{
    const int i = threadIdx.x;
    if (i < 16) surf2Dwrite((float)i, p.upper, i % 4 * 4, i / 4);
    __syncthreads();
    p.out[i] = tex2DLod<float>(p.deep, 0.5f, 0.5f, ordered ? 0.0f : 0.5f);
}
PAIR(level)

BODY read_back_(places p)
{
    const int i = threadIdx.x, k = i ^ 33;
    surf2Dwrite((float)i, ordered ? p.other : p.surface, i % 8 * 4, i / 8);
    __syncthreads();
    p.out[i] = surf2Dread<float>(p.surface, k % 8 * 4, k / 8);
}
PAIR(read_back)

BODY read_before_(places p)
{
    const int i = threadIdx.x, k = i ^ 33;
    const float x = surf2Dread<float>(p.surface, k % 8 * 4, k / 8);
    if (ordered) __syncthreads();
    surf2Dwrite(x, p.surface, i % 8 * 4, i / 8);
}
PAIR(read_before)

BODY written_twice_(places p)
{
    const int i = threadIdx.x;
    surf2Dwrite((float)i, p.surface, i % 8 * 4, i / (ordered ? 8 : 16));
}
PAIR(written_twice)

BODY reduced_(places p)
{
    asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(p.surface), "r"(0), "r"(0), "r"(1));
    if (!ordered) surf2Dwrite(0u, p.surface, 0, 0);
}
PAIR(reduced)

struct kernel {
    const char *name;
    void (*run)(places);
};
#define BOTH(name) {#name, name}, {#name "_racy", name##_racy}

static cudaTextureObject_t texture(const cudaResourceDesc &r, cudaTextureFilterMode filter, bool levels = false)
{
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;
    d.filterMode = filter;
    d.mipmapFilterMode = cudaFilterModeLinear;
    d.normalizedCoords = levels;
    d.maxMipmapLevelClamp = levels;
    if (cudaCreateTextureObject(&t, &r, &d, nullptr)) printf("no texture\n");
    return t;
}

static cudaSurfaceObject_t surface(cudaArray_t a)
{
    cudaResourceDesc r = {};
    cudaSurfaceObject_t s = 0;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    if (cudaCreateSurfaceObject(&s, &r)) printf("no surface\n");
    return s;
}

int main()
{
    places p;
    cudaArray_t one, other, second;
    cudaMipmappedArray_t deep;
    const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaMalloc(&p.words, 2 * THREADS * sizeof *p.words);
    cudaMalloc(&p.out, THREADS * sizeof *p.out);
    cudaMallocArray(&one, &f, 8, 8, cudaArraySurfaceLoadStore | cudaArrayTextureGather);
    cudaMallocArray(&other, &f, 8, 8, cudaArraySurfaceLoadStore);
    cudaMallocMipmappedArray(&deep, &f, make_cudaExtent(8, 8, 0), 2, cudaArraySurfaceLoadStore);
    cudaGetMipmappedArrayLevel(&second, deep, 1);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = p.words;
    r.res.linear.desc = f;
    r.res.linear.sizeInBytes = THREADS * sizeof *p.words;
    p.fetched = texture(r, cudaFilterModePoint);
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = p.words;
    r.res.pitch2D.desc = f;
    r.res.pitch2D.width = r.res.pitch2D.height = 8;
    r.res.pitch2D.pitchInBytes = 32;
    p.rows = texture(r, cudaFilterModeLinear);
    p.nearest = texture(r, cudaFilterModePoint);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = one;
    p.array = texture(r, cudaFilterModePoint);
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = deep;
    p.deep = texture(r, cudaFilterModePoint, true);
    p.surface = surface(one);
    p.other = surface(other);
    p.upper = surface(second);
    const kernel list[] = {BOTH(fetched), BOTH(own), BOTH(fetched_before), BOTH(strong), BOTH(filtered), BOTH(nearest),
                           BOTH(gathered), BOTH(written_by_surface), BOTH(level), BOTH(read_back), BOTH(read_before),
                           BOTH(written_twice), BOTH(reduced)};
    for (const kernel &k : list) {
        k.run<<<1, THREADS>>>(p);
        const cudaError_t error = cudaDeviceSynchronize();
        printf("%s: %s\n", k.name, cudaGetErrorName(error));
        if (error) return 1;
    }
    return 0;
}
