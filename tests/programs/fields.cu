// Textures and surfaces beyond planes: filtering, addressing, layers, cubes, mipmaps, 1D and 3D surfaces, gathers.
#include "self.cuh"

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter, cudaTextureAddressMode address,
                                      bool normalized)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaTextureDesc d = {};
    d.filterMode = filter;
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = address;
    d.normalizedCoords = normalized;
    cudaTextureObject_t t = 0;
    OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

static void fill(cudaArray_t to, const std::vector<float> &from, int w, int h, int d)
{
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr((void *)from.data(), w * sizeof(float), w, h);
    p.dstArray = to;
    p.extent = make_cudaExtent(w, h, d);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
}

__global__ void between(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2D<float>(t, 1 + threadIdx.x / 4.0f, 2.5f); }
__global__ void outside(cudaTextureObject_t t, float *out, float scale)
{
    out[threadIdx.x] = tex2D<float>(t, ((int)threadIdx.x - 16 + 0.5f) * scale, 0.5f * scale);
}
__global__ void layers(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x % 4 + 0.5f, 1.5f, threadIdx.x / 4); }
__global__ void cube(cudaTextureObject_t t, float *out)
{
    const float x[6] = {1, -1, 0.1f, 0.1f, 0.1f, 0.1f}, y[6] = {0.1f, 0.1f, 1, -1, 0.1f, 0.1f}, z[6] = {0.1f, 0.1f, 0.1f, 0.1f, 1, -1};
    out[threadIdx.x] = texCubemap<float>(t, x[threadIdx.x], y[threadIdx.x], z[threadIdx.x]);
}
__global__ void levels(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, threadIdx.x); }
__global__ void gather(cudaTextureObject_t t, float4 *out) { out[threadIdx.x] = tex2Dgather<float4>(t, threadIdx.x + 1.0f, 1.0f, 0); }
__global__ void boxes(cudaSurfaceObject_t s)
{
    int v;
    surf3Dread(&v, s, threadIdx.x * 4, threadIdx.y, threadIdx.z);
    surf3Dwrite(v * 2 + 1, s, threadIdx.x * 4, threadIdx.y, threadIdx.z);
}
__global__ void lines(cudaSurfaceObject_t s, ushort2 *out)
{
    out[threadIdx.x] = surf1Dread<ushort2>(s, (int)(threadIdx.x * sizeof(ushort2)) - 8, cudaBoundaryModeClamp);
    surf1Dwrite(make_ushort2(threadIdx.x, 7), s, threadIdx.x * sizeof(ushort2), cudaBoundaryModeZero);
}

int main()
{
    const int w = 8, h = 4;
    const cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    std::vector<float> plane(w * h);
    for (int i = 0; i < w * h; i++) plane[i] = draw(i) % 100;
    cudaArray_t a;
    OK(cudaMallocArray(&a, &one, w, h, cudaArrayTextureGather));
    OK(cudaMemcpy2DToArray(a, 0, 0, plane.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    room<float> out(32);
    cudaTextureObject_t t = texture_of(a, cudaFilterModeLinear, cudaAddressModeClamp, false);
    between<<<1, 16>>>(t, out);
    for (int i = 0; i < 16; i++) {
        const float x = 0.5f + i / 4.0f;
        const int k = (int)x;
        CHECK(std::fabs(out.get()[i] - (plane[2 * w + k] * (1 - (x - k)) + plane[2 * w + k + 1] * (x - k))) < 1e-3);
    }
    OK(cudaDestroyTextureObject(t));
    const cudaTextureAddressMode modes[] = {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap, cudaAddressModeMirror};
    for (int m = 0; m < 4; m++) {
        t = texture_of(a, cudaFilterModePoint, modes[m], m >= 2);
        outside<<<1, 32>>>(t, out, m >= 2 ? 1.0f / w : 1.0f);
        for (int i = 0; i < 32; i++) {
            const int x = i - 16, around = ((x % w) + w) % w, twice = ((x % (2 * w)) + 2 * w) % (2 * w);
            const float row0 = m >= 2 ? 0.5f / w * h : 0.5f;
            const int y = (int)row0;
            const float want = m == 0   ? plane[y * w + std::min(std::max(x, 0), w - 1)]
                               : m == 1 ? (x < 0 || x >= w ? 0 : plane[y * w + x])
                               : m == 2 ? plane[y * w + around]
                                        : plane[y * w + (twice < w ? twice : 2 * w - 1 - twice)];
            CHECK(out.get()[i] == want);
        }
        OK(cudaDestroyTextureObject(t));
    }
    t = texture_of(a, cudaFilterModePoint, cudaAddressModeClamp, false);
    room<float4> quads(6);
    gather<<<1, 6>>>(t, quads);
    for (int i = 0; i < 6; i++) {
        const float4 q = quads.get()[i];
        CHECK(q.x == plane[w + i] && q.y == plane[w + i + 1] && q.z == plane[i + 1] && q.w == plane[i]);
    }
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));

    std::vector<float> many(4 * 3 * 5);
    for (size_t i = 0; i < many.size(); i++) many[i] = i;
    OK(cudaMalloc3DArray(&a, &one, make_cudaExtent(4, 3, 5), cudaArrayLayered));
    fill(a, many, 4, 3, 5);
    t = texture_of(a, cudaFilterModePoint, cudaAddressModeClamp, false);
    layers<<<1, 20>>>(t, out);
    for (int i = 0; i < 20; i++) CHECK(out.get()[i] == i / 4 * 12 + 4 + i % 4);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));

    std::vector<float> faces(2 * 2 * 6);
    for (int i = 0; i < 24; i++) faces[i] = i / 4;
    OK(cudaMalloc3DArray(&a, &one, make_cudaExtent(2, 2, 6), cudaArrayCubemap));
    fill(a, faces, 2, 2, 6);
    t = texture_of(a, cudaFilterModePoint, cudaAddressModeClamp, true);
    cube<<<1, 6>>>(t, out);
    for (int i = 0; i < 6; i++) CHECK(out.get()[i] == i);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));

    cudaMipmappedArray_t mipmap;
    OK(cudaMallocMipmappedArray(&mipmap, &one, make_cudaExtent(8, 8, 0), 4));
    for (unsigned l = 0; l < 4; l++) {
        const int side = 8 >> l;
        OK(cudaGetMipmappedArrayLevel(&a, mipmap, l));
        fill(a, std::vector<float>(side * side, 10.0f * l), side, side, 1);
    }
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = mipmap;
    cudaTextureDesc d = {};
    d.normalizedCoords = 1;
    d.maxMipmapLevelClamp = 3;
    OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    levels<<<1, 5>>>(t, out);
    for (int i = 0; i < 5; i++) CHECK(out.get()[i] == 10.0f * std::min(i, 3));
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeMipmappedArray(mipmap));

    const cudaChannelFormatDesc whole = cudaCreateChannelDesc<int>(), pair = cudaCreateChannelDesc<ushort2>();
    std::vector<int> box(4 * 3 * 2), back(24);
    for (int i = 0; i < 24; i++) box[i] = i * i;
    OK(cudaMalloc3DArray(&a, &whole, make_cudaExtent(4, 3, 2), cudaArraySurfaceLoadStore));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(box.data(), 16, 4, 3);
    p.dstArray = a;
    p.extent = make_cudaExtent(4, 3, 2);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t s;
    OK(cudaCreateSurfaceObject(&s, &r));
    boxes<<<1, dim3(4, 3, 2)>>>(s);
    cudaMemcpy3DParms q = {};
    q.srcArray = a;
    q.dstPtr = make_cudaPitchedPtr(back.data(), 16, 4, 3);
    q.extent = make_cudaExtent(4, 3, 2);
    q.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&q));
    for (int i = 0; i < 24; i++) CHECK(back[i] == 2 * i * i + 1);
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(a));

    OK(cudaMallocArray(&a, &pair, 16, 0, cudaArraySurfaceLoadStore));
    std::vector<ushort2> line(16);
    for (int i = 0; i < 16; i++) line[i] = make_ushort2(i, 100 + i);
    OK(cudaMemcpy2DToArray(a, 0, 0, line.data(), 64, 64, 1, cudaMemcpyHostToDevice));
    r.res.array.array = a;
    OK(cudaCreateSurfaceObject(&s, &r));
    room<ushort2> pairs(32);
    lines<<<1, 1>>>(s, pairs);
    CHECK(pairs.get()[0].x == 0 && pairs.get()[0].y == 100);
    OK(cudaMemcpy2DFromArray(line.data(), 64, a, 0, 0, 64, 1, cudaMemcpyDeviceToHost));
    CHECK(line[0].x == 0 && line[0].y == 7 && line[1].y == 101);
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(a));
    return verdict();
}
