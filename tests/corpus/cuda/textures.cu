// Texture objects: tex of each geometry and element type, lod, grad, gather (tld4), layered, cube, integer coordinates.
// KEEP: 75 90
extern "C" __global__ void fetches(cudaTextureObject_t t, float4 *o, float u, float v, float w)
{
    o += threadIdx.x * 32;
    o[0].x = tex1Dfetch<float>(t, threadIdx.x);
    o[1] = tex1Dfetch<float4>(t, threadIdx.x);
    o[2].x = tex1D<float>(t, u);
    o[3] = tex2D<float4>(t, u, v);
    o[4] = tex3D<float4>(t, u, v, w);
    o[5] = tex1DLayered<float4>(t, u, 2);
    o[6] = tex2DLayered<float4>(t, u, v, 3);
    o[7] = texCubemap<float4>(t, u, v, w);
    o[8] = texCubemapLayered<float4>(t, u, v, w, 1);
    o[9] = tex1DLod<float4>(t, u, w);
    o[10] = tex2DLod<float4>(t, u, v, w);
    o[11] = tex3DLod<float4>(t, u, v, w, 1.5f);
    o[12] = tex2DLayeredLod<float4>(t, u, v, 1, w);
    o[13] = texCubemapLod<float4>(t, u, v, w, 2.0f);
    o[14] = tex1DGrad<float4>(t, u, v, w);
    o[15] = tex2DGrad<float4>(t, u, v, make_float2(u, w), make_float2(v, w));
    o[16] = tex3DGrad<float4>(t, u, v, w, make_float4(u, v, w, 0), make_float4(w, v, u, 0));
    o[17] = tex2DLayeredGrad<float4>(t, u, v, 1, make_float2(u, w), make_float2(v, w));
    o[18] = tex2Dgather<float4>(t, u, v);
    o[19] = tex2Dgather<float4>(t, u, v, 1);
    o[20] = tex2Dgather<float4>(t, u, v, 2);
    o[21] = tex2Dgather<float4>(t, u, v, 3);
    o[22] = texCubemapGrad<float4>(t, u, v, w, make_float4(u, v, w, 0), make_float4(w, v, u, 0));
}

extern "C" __global__ void integers(cudaTextureObject_t t, int4 *o, float u, float v)
{
    o[0] = tex2D<int4>(t, u, v);
    uint4 a = tex2D<uint4>(t, u, v);
    char4 b = tex2D<char4>(t, u, v);
    ushort2 c = tex2D<ushort2>(t, u, v);
    unsigned char d = tex2D<unsigned char>(t, u, v);
    int2 e = tex1Dfetch<int2>(t, 5);
    uint4 f = tex2Dgather<uint4>(t, u, v, 1);
    o[1] = make_int4(a.x + a.w, b.y, c.y, d);
    o[2] = make_int4(e.x, e.y, f.x, f.w);
}

extern "C" __global__ void sparse(cudaTextureObject_t t, float4 *o, float u, float v)
{
    bool resident;
    o[0] = tex2D<float4>(t, u, v, &resident);
    o[1].x = resident;
    o[2] = tex2DLod<float4>(t, u, v, 1.0f, &resident);
    o[3].x = resident;
    o[4] = tex3D<float4>(t, u, v, u, &resident);
    o[5].x = resident;
}

extern "C" __global__ void multisample(cudaTextureObject_t t, float4 *o, int x, int y)
{
    float4 r;
    asm volatile("tex.2dms.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];" : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "l"(t), "r"(1), "r"(x), "r"(y));
    o[0] = r;
    asm volatile("tex.a2dms.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %5, %6, %7}];" : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "l"(t), "r"(1), "r"(x), "r"(y));
    o[1] = r;
    unsigned long long w;
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(x) : "l"(t));
    asm volatile("txq.level.height.b32 %0, [%1], %2;" : "=r"(y) : "l"(t), "r"(1));
    o[2].x = x + y;
    unsigned q;
    asm volatile("txq.num_samples.b32 %0, [%1];" : "=r"(q) : "l"(t));
    asm volatile("tld4.g.2d.v4.u32.f32 {%0, _, _, _}, [%1, {%2, %2}];" : "=r"(q) : "l"(t), "f"(0.5f));
    w = q;
    o[2].y = w;
}
