/* blur_texture: an image blurred through a texture, compared byte by byte. */
#include "suites/suite.h"

#include <string.h>

static void destroy_texture(void *p)
{
    CUtexObject t;
    memcpy(&t, p, sizeof t);
    cuTexObjectDestroy(t);
}

static void destroy_array(void *p)
{
    cuArrayDestroy(p);
}

/* One byte of the result; the image goes on behind its edges from the other side. */
static uint8_t blurred(const uint8_t *image, unsigned width, unsigned height, unsigned x,
                       unsigned y, unsigned channel)
{
    static const unsigned weight[5] = {1, 4, 6, 4, 1};
    unsigned sum = 128;
    for (unsigned dy = 0; dy < 5; dy++)
        for (unsigned dx = 0; dx < 5; dx++) {
            size_t row = (y + dy + height - 2) % height, column = (x + dx + width - 2) % width;
            sum += weight[dx] * weight[dy] * image[(row * width + column) * 4 + channel];
        }
    return (uint8_t)(sum / 256);
}

void suite_run_blur_texture(struct suite_context *ctx)
{
    unsigned width = (unsigned)suite_pick(ctx, 128, 1024,
                                          4096); /* powers of two: x / width is exact */
    unsigned height = (unsigned)suite_pick(ctx, 128, 2048, 4096);
    size_t bytes = (size_t)width * height * 4;
    struct suite_random r = suite_random(ctx->seed);
    uint8_t *image = suite_host(ctx, uint8_t, bytes), *got = suite_host(ctx, uint8_t, bytes);
    for (size_t i = 0; i < bytes; i++) image[i] = (uint8_t)suite_random_u64(&r);
    CUarray array;
    CUtexObject *texture = suite_host(ctx, CUtexObject, 1);
    suite_check(ctx, cuArrayCreate(&array, &(CUDA_ARRAY_DESCRIPTOR){
                                               width, height, CU_AD_FORMAT_UNSIGNED_INT8, 4}));
    suite_at_end(ctx, destroy_array, array);
    suite_check(ctx, cuMemcpy2D(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                                 .srcHost = image,
                                                 .srcPitch = (size_t)width * 4,
                                                 .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                                 .dstArray = array,
                                                 .WidthInBytes = (size_t)width * 4,
                                                 .Height = height}));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_TEXTURE_DESC d = {.addressMode = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_WRAP},
                           .flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES};
    suite_check(ctx, cuTexObjectCreate(texture, &resource, &d, NULL));
    suite_at_end(ctx, destroy_texture, texture);
    CUdeviceptr out = suite_alloc(ctx, bytes);
    suite_launch(ctx, suite_kernel(ctx, "blur"), suite_2d(width / 32, height / 8), suite_2d(32, 8),
                 0, texture, &width, &height, &out);
    suite_read(ctx, got, out, bytes);
    for (size_t i = 0; i < bytes; i++) {
        unsigned x = (unsigned)(i / 4 % width), y = (unsigned)(i / 4 / width);
        uint8_t want = blurred(image, width, height, x, y, i % 4);
        if (got[i] != want)
            suite_fail(ctx, "pixel (%u, %u), channel %u: %u, should be %u", x, y, (unsigned)(i % 4),
                       got[i], want);
    }
}
