// Binomial blur of 5 x 5 texels of an image of four bytes a pixel, read through a texture that wraps at its edges.
extern "C" __global__ void blur(cudaTextureObject_t image, unsigned width, unsigned height, uchar4 *out)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const unsigned weight[5] = {1, 4, 6, 4, 1};
    uint4 sum = make_uint4(128, 128, 128, 128);
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++) {
            uchar4 c = tex2D<uchar4>(image, ((float)(int)(x + dx) - 1.5f) / width,
                                     ((float)(int)(y + dy) - 1.5f) / height);
            unsigned w = weight[dx] * weight[dy];
            sum.x += w * c.x;
            sum.y += w * c.y;
            sum.z += w * c.z;
            sum.w += w * c.w;
        }
    out[y * width + x] = make_uchar4(sum.x / 256, sum.y / 256, sum.z / 256, sum.w / 256);
}
