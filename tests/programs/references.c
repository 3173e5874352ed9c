/* What nvcc 11's host code does for texture and surface references, by hand: `lin`, of floats; `img`, bytes that are
 * read as floats of 0 to 1; `surf`. Prints what is wrong. */
#include "cuda/runtime/runtime_api.h"

#include <stdio.h>

__asm__(".section .nv_fatbin, \"a\"\n.balign 8\ncontainer:\n.incbin \"" FATBIN "\"\n.previous\n");
extern const char container[];
static struct {
    int magic, version;
    const void *data, *more;
} wrapper = {0x466243b1, 1, container, NULL};

enum { N = 32, CLAMP = 1 };
static const struct cudaChannelFormatDesc floats = {32, 0, 0, 0, cudaChannelFormatKindFloat},
                                          bytes = {8, 0, 0, 0, cudaChannelFormatKindUnsigned},
                                          none = {24, 0, 0, 0, cudaChannelFormatKindFloat};
static struct textureReference lin = {.addressMode = {CLAMP, CLAMP, CLAMP}},
                               img = {.addressMode = {CLAMP, CLAMP, CLAMP}}, missing, unknown;
static struct surfaceReference surf;
static int bad;

static void look(float *out) /* stands for the kernel */
{
    (void)out;
}

__attribute__((constructor)) static void register_all(void)
{
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)look, (char *)look, "look", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterTexture(handle, &lin, (const void **)"space_lin", "::space::lin", 1, 0, 0);
    __cudaRegisterTexture(handle, &img, (const void **)"img", "::img", 2, 1, 0);
    __cudaRegisterTexture(handle, &missing, (const void **)"missing", "::missing", 2, 1, 0);
    __cudaRegisterSurface(handle, &surf, (const void **)"surf", "::surf", 2, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

static void is(const char *what, int got, int want)
{
    if (got != want) printf("%s: %d, not %d\n", what, got, want);
    bad += got != want;
}
#define IS(call, want) is(#call, (int)(call), (int)(want))
#define OK(call) IS(call, cudaSuccess)

static cudaError_t launch(float *out)
{
    return cudaLaunchKernel((const void *)look, (dim3){1, 1, 1}, (dim3){N, 1, 1}, (void *[]){&out},
                            0, NULL);
}

static void wrong_calls(float *memory, cudaArray_t array)
{
    size_t offset = 1;
    const struct textureReference *texture;
    const struct surfaceReference *surface;
    IS(cudaBindTexture(NULL, &unknown, memory, &floats, 128), cudaErrorInvalidTexture);
    IS(cudaBindTexture(NULL, &missing, memory, &floats, 128), cudaErrorInvalidTexture);
    IS(cudaBindTexture(NULL, NULL, memory, &floats, 128), cudaErrorInvalidTexture);
    IS(cudaBindTexture(NULL, &lin, NULL, &floats, 128), cudaErrorInvalidValue);
    IS(cudaBindTexture(NULL, &lin, memory, &none, 128), cudaErrorInvalidChannelDescriptor);
    IS(cudaBindTextureToArray(&img, NULL, &bytes), cudaErrorInvalidResourceHandle);
    IS(cudaBindSurfaceToArray((const void *)&img, array, &floats), cudaErrorInvalidSurface);
    IS(cudaBindTextureToArray((const void *)&surf, array, &floats), cudaErrorInvalidTexture);
    IS(cudaGetTextureAlignmentOffset(&offset, &img), cudaErrorInvalidTextureBinding);
    OK(cudaGetTextureAlignmentOffset(&offset, &lin));
    is("offset", (int)offset, 0);
    OK(cudaGetTextureReference(&texture, &lin));
    IS(cudaGetTextureReference(&texture, memory), cudaErrorInvalidTexture);
    OK(cudaGetSurfaceReference(&surface, &surf));
    is("references", texture != (void *)memory || surface != &surf, 0);
    (void)cudaGetLastError();
}

int main(void)
{
    void *memory, *out;
    float host[2 * N], got[2 * N];
    unsigned char pixels[2][N];
    cudaArray_t image, canvas;
    size_t offset = 1;
    for (int i = 0; i < 2 * N; i++) host[i] = (float)(i * i);
    for (int i = 0; i < 2 * N; i++) pixels[i / N][i % N] = (unsigned char)(3 * i);
    OK(cudaMalloc(&memory, sizeof host));
    OK(cudaMalloc(&out, sizeof got));
    OK(cudaMallocArray(&image, &bytes, N, 2, 0));
    OK(cudaMallocArray(&canvas, &floats, N, 2, 2));
    OK(cudaMemcpy(memory, host, sizeof host, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DToArray(image, 0, 0, pixels, N, N, 2, cudaMemcpyHostToDevice));
    OK(cudaBindTexture(&offset, &lin, memory, &floats, UINT32_MAX));
    OK(cudaBindTextureToArray(&img, image, &bytes));
    OK(cudaBindSurfaceToArray(&surf, canvas, &floats));
    is("offset", (int)offset, 0);
    OK(launch(out));
    OK(cudaBindTexture(NULL, &lin, (char *)memory + 4, &floats, sizeof host - 4));
    OK(launch((float *)out + N));
    wrong_calls(memory, image);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        is("lin + img", got[i] != host[i] + (float)(3 * (N + i)) / 255.0f, 0),
            is("another lin", got[N + i] != host[i + 1] + (float)(3 * (N + i)) / 255.0f, 0);
    OK(cudaMemcpy2DFromArray(got, 4 * N, canvas, 0, 0, 4 * N, 2, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) is("surf", got[N + i] != host[i + 1], 0);
    OK(cudaBindTexture2D(NULL, &img, memory, &bytes, 4, 2, 256 / 8)); /* of other memory */
    OK(cudaUnbindTexture(&lin));
    (void)launch(out); /* says so already where it runs at once */
    IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    printf("%d wrong\n", bad);
    return bad;
}
