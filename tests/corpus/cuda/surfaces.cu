// Surface objects: suld/sust of each geometry, element width, vector size and boundary mode, sured, suq.
// KEEP: 80
template <typename T>
__device__ void copy2d(cudaSurfaceObject_t a, cudaSurfaceObject_t b, int x, int y)
{
    T v;
    surf2Dread(&v, a, x * (int)sizeof(T), y, cudaBoundaryModeTrap);
    surf2Dwrite(v, b, x * (int)sizeof(T), y, cudaBoundaryModeClamp);
    surf2Dread(&v, a, x * (int)sizeof(T), y + 1, cudaBoundaryModeZero);
    surf2Dwrite(v, b, x * (int)sizeof(T), y + 1, cudaBoundaryModeZero);
}

extern "C" __global__ void widths(cudaSurfaceObject_t a, cudaSurfaceObject_t b)
{
    int x = threadIdx.x, y = threadIdx.y;
    copy2d<char>(a, b, x, y);
    copy2d<short>(a, b, x, y);
    copy2d<int>(a, b, x, y);
    copy2d<long long>(a, b, x, y);
    copy2d<float>(a, b, x, y);
    copy2d<uchar2>(a, b, x, y);
    copy2d<ushort2>(a, b, x, y);
    copy2d<uint2>(a, b, x, y);
    copy2d<longlong2>(a, b, x, y);
    copy2d<uchar4>(a, b, x, y);
    copy2d<ushort4>(a, b, x, y);
    copy2d<float4>(a, b, x, y);
}

extern "C" __global__ void shapes(cudaSurfaceObject_t a, cudaSurfaceObject_t b)
{
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    surf1Dwrite(surf1Dread<int>(a, x * 4), b, x * 4);
    surf3Dwrite(surf3Dread<float4>(a, x * 16, y, z), b, x * 16, y, z);
    surf1DLayeredwrite(surf1DLayeredread<short2>(a, x * 4, 2), b, x * 4, 3);
    surf2DLayeredwrite(surf2DLayeredread<uint4>(a, x * 16, y, 2), b, x * 16, y, 3);
    surfCubemapwrite(surfCubemapread<float>(a, x * 4, y, 5), b, x * 4, y, 0);
    surfCubemapLayeredwrite(surfCubemapLayeredread<uchar4>(a, x * 4, y, 7), b, x * 4, y, 1);
}

extern "C" __global__ void direct(cudaSurfaceObject_t s, int *o)
{
    int x = threadIdx.x, w;
    asm volatile("sured.b.add.2d.s32.clamp [%0, {%1, %1}], %2;" ::"l"(s), "r"(x), "r"(3) : "memory");
    asm volatile("sured.p.max.1d.b32.trap [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(3) : "memory");
    asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %1}], {%2, %2, %2, %2};" ::"l"(s), "r"(x), "r"(3) : "memory");
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(w) : "l"(s));
    o[x] = w;
    asm volatile("suld.b.a1d.b32.zero %0, [%1, {%2, %3}];" : "=r"(w) : "l"(s), "r"(1), "r"(x * 4));
    o[x + 64] = w;
}
