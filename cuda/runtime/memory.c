/* Memory and variables: allocation, copies, fills, attributes of pointers. */
#include "cuda/runtime/runtime.h"

#include <stdint.h>
#include <string.h>

/* ---- allocation ---------------------------------------------------------------------------------------- */

/* Nothing is NULL, and that is no error. */
static unsigned allocate(void **out, size_t size, cudaStream_t stream, bool in_stream)
{
    CUdeviceptr address = 0;
    if (!out) return cudaErrorInvalidValue;
    if (!size) return *out = NULL, cudaSuccess;
    return runtime_give(in_stream ? cuMemAllocAsync(&address, size, stream)
                                  : cuMemAlloc(&address, size),
                        &address, out);
}

cudaError_t cudaMalloc(void **out, size_t size)
{
    RUNTIME_CALL(allocate(out, size, NULL, false));
}

cudaError_t cudaMallocAsync(void **out, size_t size, cudaStream_t stream)
{
    RUNTIME_CALL(allocate(out, size, stream, true));
}

static unsigned allocate_rows(void **out, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr address = 0;
    if (!out || !pitch) return cudaErrorInvalidValue;
    if (!width || !height) return *out = NULL, *pitch = 0, cudaSuccess;
    return runtime_give(cuMemAllocPitch(&address, pitch, width, height, 16), &address, out);
}

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    RUNTIME_CALL(allocate_rows(out, pitch, width, height));
}

static unsigned allocate_box(struct cudaPitchedPtr *out, struct cudaExtent e)
{
    if (!out || (e.depth && e.height > SIZE_MAX / e.depth)) return cudaErrorInvalidValue;
    *out = (struct cudaPitchedPtr){.xsize = e.width, .ysize = e.height};
    return allocate_rows(&out->ptr, &out->pitch, e.width, e.height * e.depth);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    RUNTIME_CALL(allocate_box(out, extent));
}

cudaError_t cudaHostAlloc(void **out, size_t size, unsigned flags)
{
    if (out && !size) return *out = NULL, cudaSuccess;
    RUNTIME_CALL(cuMemHostAlloc(out, size, flags));
}

cudaError_t cudaMallocHost(void **out, size_t size)
{
    return cudaHostAlloc(out, size, 0);
}

cudaError_t cudaHostRegister(void *host, size_t size, unsigned flags)
{
    RUNTIME_CALL(cuMemHostRegister(host, size, flags));
}

cudaError_t cudaHostUnregister(void *host)
{
    RUNTIME_CALL(cuMemHostUnregister(host));
}

cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned flags)
{
    CUdeviceptr address = 0;
    if (!out) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(runtime_give(cuMemHostGetDevicePointer(&address, host, flags), &address, out));
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    RUNTIME_CALL(cuMemHostGetFlags(flags, host));
}

cudaError_t cudaFree(void *address)
{
    RUNTIME_CALL(cuMemFree(runtime_address(address)));
}

cudaError_t cudaFreeAsync(void *address, cudaStream_t stream)
{
    RUNTIME_CALL(cuMemFreeAsync(runtime_address(address), stream));
}

cudaError_t cudaFreeHost(void *host)
{
    if (!host) return cudaSuccess;
    RUNTIME_CALL(cuMemFreeHost(host));
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    RUNTIME_CALL(cuMemGetInfo(free, total));
}

/* ---- what a pointer is -------------------------------------------------------------------------------- */

static CUresult describe(struct cudaPointerAttributes *out, const void *pointer)
{
    static const enum cudaMemoryType types[] = {
        [CU_MEMORYTYPE_HOST] = cudaMemoryTypeHost, [CU_MEMORYTYPE_DEVICE] = cudaMemoryTypeDevice};
    unsigned type = 0, managed = 0;
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER};
    void *device = NULL, *host = NULL, *values[] = {&type, &managed, &device, &host};
    const CUresult r = cuPointerGetAttributes(4, attributes, values, runtime_address(pointer));
    if (r != CUDA_SUCCESS) return r;
    *out = (struct cudaPointerAttributes){.device = type ? 0 : -2, .hostPointer = host};
    out->devicePointer = device;
    if (type && type <= CU_MEMORYTYPE_DEVICE) out->type = types[type];
    if (managed) out->type = cudaMemoryTypeManaged;
    if (!type) out->hostPointer = (void *)pointer;
    return CUDA_SUCCESS;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *pointer)
{
    if (!out) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(describe(out, pointer));
}

/* ---- copies --------------------------------------------------------------------------------------------- */

static unsigned copy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                     cudaStream_t stream)
{
    const CUdeviceptr d = runtime_address(to), s = runtime_address(from);
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!size) return cudaSuccess;
    switch (kind) {
    case cudaMemcpyHostToDevice: return cuMemcpyHtoDAsync(d, from, size, stream);
    case cudaMemcpyDeviceToHost: return cuMemcpyDtoHAsync(to, s, size, stream);
    case cudaMemcpyDeviceToDevice: return cuMemcpyDtoDAsync(d, s, size, stream);
    default: return cuMemcpyAsync(d, s, size, stream);
    }
}

/* What was submitted to the default stream is waited for. */
static cudaError_t waited(cudaError_t r)
{
    return r == cudaSuccess ? cudaStreamSynchronize(NULL) : r;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    RUNTIME_CALL(copy(to, from, size, kind, stream));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDeviceToDevice && size) /* the host waits for its own memory alone */
        RUNTIME_CALL(cuMemcpyDtoD(runtime_address(to), runtime_address(from), size));
    return waited(cudaMemcpyAsync(to, from, size, kind, NULL));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t size, cudaStream_t stream)
{
    if (to_device || from_device) return runtime_done(cudaErrorInvalidDevice);
    return cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size)
{
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, size, NULL);
}

/* Which memory a direction says that its two ends are in; what neither says is found by address. */
static CUmemorytype source_of(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost ? CU_MEMORYTYPE_HOST
           : kind == cudaMemcpyDefault                                    ? CU_MEMORYTYPE_UNIFIED
                                                                          : CU_MEMORYTYPE_DEVICE;
}
static CUmemorytype target_of(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost ? CU_MEMORYTYPE_HOST
           : kind == cudaMemcpyDefault                                    ? CU_MEMORYTYPE_UNIFIED
                                                                          : CU_MEMORYTYPE_DEVICE;
}

/* Bytes of an element of the array that takes part; 1: none does. */
static CUresult element_of(const struct cudaMemcpy3DParms *p, size_t *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    *bytes = 1;
    if (!p->srcArray && !p->dstArray) return CUDA_SUCCESS;
    const CUresult r = cuArray3DGetDescriptor(&d, p->srcArray ? p->srcArray : p->dstArray);
    if (r == CUDA_SUCCESS) *bytes = runtime_texel(d.Format) * d.NumChannels;
    return r;
}

struct side { /* of a copy of rows: memory, or an array */
    cudaArray_t array;
    CUmemorytype type; /* of memory */
    const void *memory;
    size_t x, y, z; /* x in bytes */
    size_t pitch, height;
};

static unsigned between(const struct side *from, const struct side *to, size_t width,
                        struct cudaExtent e, CUDA_MEMCPY3D *out)
{
    if ((!from->array && from->pitch < width) || (!to->array && to->pitch < width))
        return cudaErrorInvalidPitchValue;
    *out = (CUDA_MEMCPY3D){.srcXInBytes = from->x,
                           .srcY = from->y,
                           .srcZ = from->z,
                           .srcMemoryType = from->array ? CU_MEMORYTYPE_ARRAY : from->type,
                           .srcHost = from->memory,
                           .srcDevice = runtime_address(from->memory),
                           .srcArray = from->array,
                           .srcPitch = from->pitch,
                           .srcHeight = from->height,
                           .dstXInBytes = to->x,
                           .dstY = to->y,
                           .dstZ = to->z,
                           .dstMemoryType = to->array ? CU_MEMORYTYPE_ARRAY : to->type,
                           .dstHost = (void *)to->memory,
                           .dstDevice = runtime_address(to->memory),
                           .dstArray = to->array,
                           .dstPitch = to->pitch,
                           .dstHeight = to->height,
                           .WidthInBytes = width,
                           .Height = e.height,
                           .Depth = e.depth};
    return cudaSuccess;
}

static unsigned copy_between(const struct side *from, const struct side *to, size_t width,
                             struct cudaExtent e, cudaStream_t stream)
{
    CUDA_MEMCPY3D c;
    const unsigned r = between(from, to, width, e, &c);
    return r == cudaSuccess ? (unsigned)cuMemcpy3DAsync(&c, stream) : r;
}

/* `element`: bytes that x of an array counts. */
static struct side side_of(cudaArray_t array, struct cudaPos at, struct cudaPitchedPtr memory,
                           CUmemorytype type, size_t element)
{
    return (struct side){.array = array,
                         .type = type,
                         .memory = memory.ptr,
                         .x = array ? at.x * element : at.x,
                         .y = at.y,
                         .z = at.z,
                         .pitch = memory.pitch,
                         .height = memory.ysize};
}

unsigned runtime_copy(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out)
{
    size_t element;
    if (!p) return cudaErrorInvalidValue;
    if ((unsigned)p->kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    const CUresult r = element_of(p, &element);
    if (r != CUDA_SUCCESS) return r;
    const struct side from = side_of(p->srcArray, p->srcPos, p->srcPtr, source_of(p->kind),
                                     element),
                      to = side_of(p->dstArray, p->dstPos, p->dstPtr, target_of(p->kind), element);
    return between(&from, &to, p->extent.width * element, p->extent, out);
}

static enum cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to)
{
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
    if (from == CU_MEMORYTYPE_HOST)
        return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

static struct cudaPitchedPtr memory_of(CUmemorytype type, const void *host, CUdeviceptr device,
                                       size_t pitch, size_t width, size_t height)
{
    struct cudaPitchedPtr p = {(void *)host, pitch, width, height};
    if (type == CU_MEMORYTYPE_ARRAY) return (struct cudaPitchedPtr){0};
    if (type != CU_MEMORYTYPE_HOST) memcpy(&p.ptr, &device, sizeof p.ptr);
    return p;
}

unsigned runtime_copy_back(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *out)
{
    size_t element;
    *out = (struct cudaMemcpy3DParms){
        .srcArray = c->srcMemoryType == CU_MEMORYTYPE_ARRAY ? c->srcArray : NULL,
        .dstArray = c->dstMemoryType == CU_MEMORYTYPE_ARRAY ? c->dstArray : NULL};
    const unsigned r = element_of(out, &element);
    if (r != cudaSuccess) return r;
    out->srcPos = (struct cudaPos){c->srcXInBytes / (out->srcArray ? element : 1), c->srcY,
                                   c->srcZ};
    out->dstPos = (struct cudaPos){c->dstXInBytes / (out->dstArray ? element : 1), c->dstY,
                                   c->dstZ};
    out->srcPtr = memory_of(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcPitch,
                            c->WidthInBytes, c->srcHeight);
    out->dstPtr = memory_of(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstPitch,
                            c->WidthInBytes, c->dstHeight);
    out->extent = (struct cudaExtent){c->WidthInBytes / element, c->Height, c->Depth};
    out->kind = kind_of(c->srcMemoryType, c->dstMemoryType);
    return cudaSuccess;
}

static unsigned copy_box(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D c;
    if (p && (!p->extent.width || !p->extent.height || !p->extent.depth)) return cudaSuccess;
    const unsigned r = runtime_copy(p, &c);
    return r == cudaSuccess ? (unsigned)cuMemcpy3DAsync(&c, stream) : r;
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    RUNTIME_CALL(copy_box(p, stream));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return waited(cudaMemcpy3DAsync(p, NULL));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    const struct cudaMemcpy3DParms p = {.srcPtr = {(void *)from, from_pitch, width, height},
                                        .dstPtr = {to, to_pitch, width, height},
                                        .extent = {width, height, 1},
                                        .kind = kind};
    return cudaMemcpy3DAsync(&p, stream);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return waited(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL));
}

static unsigned copy_rows(const struct side *from, const struct side *to, size_t width,
                          size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!width || !height) return cudaSuccess;
    return copy_between(from, to, width, (struct cudaExtent){0, height, 1}, stream);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t from_pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const struct side s = {.type = source_of(kind), .memory = from, .pitch = from_pitch},
                      d = {.array = to, .x = x, .y = y};
    RUNTIME_CALL(copy_rows(&s, &d, width, height, kind, stream));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                                size_t from_pitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind)
{
    return waited(cudaMemcpy2DToArrayAsync(to, x, y, from, from_pitch, width, height, kind, NULL));
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t to_pitch, cudaArray_t from, size_t x,
                                       size_t y, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const struct side s = {.array = from, .x = x, .y = y},
                      d = {.type = target_of(kind), .memory = to, .pitch = to_pitch};
    RUNTIME_CALL(copy_rows(&s, &d, width, height, kind, stream));
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t to_pitch, cudaArray_t from, size_t x, size_t y,
                                  size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return waited(cudaMemcpy2DFromArrayAsync(to, to_pitch, from, x, y, width, height, kind, NULL));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     enum cudaMemcpyKind kind)
{
    const struct side s = {.array = from, .x = from_x, .y = from_y},
                      d = {.array = to, .x = to_x, .y = to_y};
    RUNTIME_CALL(copy_rows(&s, &d, width, height, kind, NULL));
}

/* Bytes of an array from a row and a byte in it on, row behind row. */
static CUresult offset_in(cudaArray_t array, size_t x, size_t y, size_t *offset)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    const CUresult r = cuArray3DGetDescriptor(&d, array);
    if (r == CUDA_SUCCESS) *offset = y * d.Width * runtime_texel(d.Format) * d.NumChannels + x;
    return r;
}

/* Whether what is on the other side of an array is the host's. */
static bool is_host(const void *memory, CUmemorytype said)
{
    unsigned type = 0;
    if (said != CU_MEMORYTYPE_UNIFIED) return said == CU_MEMORYTYPE_HOST;
    return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 runtime_address(memory)) != CUDA_SUCCESS ||
           type == CU_MEMORYTYPE_HOST;
}

/* Between an array and memory of the device, row by row from that byte of the array on. */
static unsigned copy_device_rows(cudaArray_t array, size_t offset, const void *memory, size_t size,
                                 bool to_it, cudaStream_t stream)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    unsigned r = cuArray3DGetDescriptor(&d, array);
    const size_t row = r == cudaSuccess ? d.Width * runtime_texel(d.Format) * d.NumChannels : 0;
    for (size_t done = 0, n; r == cudaSuccess && done < size; done += n) {
        const size_t at = offset + done, left = row - at % row;
        n = left < size - done ? left : size - done;
        const struct side a = {.array = array, .x = at % row, .y = at / row},
                          m = {.type = CU_MEMORYTYPE_DEVICE,
                               .memory = (const char *)memory + done,
                               .pitch = n};
        r = copy_between(to_it ? &m : &a, to_it ? &a : &m, n, (struct cudaExtent){0, 1, 1}, stream);
    }
    return r;
}

static unsigned to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t size,
                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
    size_t offset = 0;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    const CUresult r = offset_in(to, x, y, &offset);
    if (r != CUDA_SUCCESS || !size) return r;
    if (is_host(from, source_of(kind))) return cuMemcpyHtoAAsync(to, offset, from, size, stream);
    return copy_device_rows(to, offset, from, size, true, stream);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t size, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RUNTIME_CALL(to_array(to, x, y, from, size, kind, stream));
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t size,
                              enum cudaMemcpyKind kind)
{
    return waited(cudaMemcpyToArrayAsync(to, x, y, from, size, kind, NULL));
}

static unsigned from_array(void *to, cudaArray_t from, size_t x, size_t y, size_t size,
                           enum cudaMemcpyKind kind, cudaStream_t stream)
{
    size_t offset = 0;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    const CUresult r = offset_in(from, x, y, &offset);
    if (r != CUDA_SUCCESS || !size) return r;
    if (is_host(to, target_of(kind))) return cuMemcpyAtoHAsync(to, from, offset, size, stream);
    return copy_device_rows(from, offset, to, size, false, stream);
}

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_t from, size_t x, size_t y, size_t size,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RUNTIME_CALL(from_array(to, from, x, y, size, kind, stream));
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_t from, size_t x, size_t y, size_t size,
                                enum cudaMemcpyKind kind)
{
    return waited(cudaMemcpyFromArrayAsync(to, from, x, y, size, kind, NULL));
}

static unsigned array_to_array(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                               size_t from_x, size_t from_y, size_t size, enum cudaMemcpyKind kind)
{
    size_t t = 0, f = 0;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    CUresult r = offset_in(to, to_x, to_y, &t);
    if (r == CUDA_SUCCESS) r = offset_in(from, from_x, from_y, &f);
    return r == CUDA_SUCCESS && size ? cuMemcpyAtoA(to, t, from, f, size) : r;
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                   size_t from_x, size_t from_y, size_t size,
                                   enum cudaMemcpyKind kind)
{
    RUNTIME_CALL(array_to_array(to, to_x, to_y, from, from_x, from_y, size, kind));
}

/* ---- between devices, and many at once --------------------------------------------------------------------- */

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    if (!p) return runtime_done(cudaErrorInvalidValue);
    if (p->srcDevice || p->dstDevice) return runtime_done(cudaErrorInvalidDevice);
    const struct cudaMemcpy3DParms c = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                        p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDefault};
    return cudaMemcpy3DAsync(&c, stream);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return waited(cudaMemcpy3DPeerAsync(p, NULL));
}

cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes,
                                 size_t count, struct cudaMemcpyAttributes *attributes,
                                 size_t *indices, size_t n, cudaStream_t stream)
{
    RUNTIME_CALL(cuMemcpyBatchAsync((CUdeviceptr *)to, (CUdeviceptr *)from, (size_t *)sizes, count,
                                    attributes, indices, n, stream));
}

cudaError_t cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *list,
                                   unsigned long long flags, cudaStream_t stream)
{
    RUNTIME_CALL(cuMemcpy3DBatchAsync(count, list, flags, stream));
}

/* ---- fills ---------------------------------------------------------------------------------------------- */

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
    if (!size) return cudaSuccess;
    RUNTIME_CALL(cuMemsetD8Async(runtime_address(to), (unsigned char)value, size, stream));
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
    if (!size) return cudaSuccess;
    RUNTIME_CALL(cuMemsetD8(runtime_address(to), (unsigned char)value, size));
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    if (!width || !height) return cudaSuccess;
    RUNTIME_CALL(
        cuMemsetD2D8Async(runtime_address(to), pitch, (unsigned char)value, width, height, stream));
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    if (!width || !height) return cudaSuccess;
    RUNTIME_CALL(cuMemsetD2D8(runtime_address(to), pitch, (unsigned char)value, width, height));
}

/* `waits`: as cudaMemset does. */
static unsigned fill_box(struct cudaPitchedPtr p, int value, struct cudaExtent e,
                         cudaStream_t stream, bool waits)
{
    unsigned r = cudaSuccess;
    if (!e.width || !e.height) return r;
    if (e.depth > 1 && e.height > p.ysize) return cudaErrorInvalidValue;
    if (e.width > p.pitch && (e.height > 1 || e.depth > 1)) return cudaErrorInvalidPitchValue;
    for (size_t z = 0; r == cudaSuccess && z < e.depth; z++) {
        const CUdeviceptr at = runtime_address(p.ptr) + z * p.pitch * p.ysize;
        const unsigned char v = (unsigned char)value;
        r = waits ? cuMemsetD2D8(at, p.pitch, v, e.width, e.height)
                  : cuMemsetD2D8Async(at, p.pitch, v, e.width, e.height, stream);
    }
    return r;
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr memory, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
    RUNTIME_CALL(fill_box(memory, value, extent, stream, false));
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr memory, int value, struct cudaExtent extent)
{
    RUNTIME_CALL(fill_box(memory, value, extent, NULL, true));
}

/* ---- variables ------------------------------------------------------------------------------------------ */

static unsigned address_of(const void *symbol, void **out)
{
    CUdeviceptr address = 0;
    const unsigned r = runtime_variable(symbol, &address, NULL);
    return r == cudaSuccess ? runtime_give(CUDA_SUCCESS, &address, out) : r;
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
    if (!address) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(address_of(symbol, address));
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    if (!size) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(runtime_variable(symbol, NULL, size));
}

unsigned runtime_part_of(const void *symbol, size_t size, size_t offset, void **part)
{
    CUdeviceptr address = 0;
    size_t whole = 0;
    const unsigned r = runtime_variable(symbol, &address, &whole);
    if (r != cudaSuccess) return r;
    if (offset > whole || size > whole - offset) return cudaErrorInvalidValue;
    address += offset;
    return runtime_give(CUDA_SUCCESS, &address, part);
}

static unsigned to_symbol(const void *symbol, const void *from, size_t size, size_t offset,
                          enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *to = NULL;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    const unsigned r = runtime_part_of(symbol, size, offset, &to);
    return r == cudaSuccess ? copy(to, from, size, kind, stream) : r;
}

static unsigned from_symbol(void *to, const void *symbol, size_t size, size_t offset,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *from = NULL;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    const unsigned r = runtime_part_of(symbol, size, offset, &from);
    return r == cudaSuccess ? copy(to, from, size, kind, stream) : r;
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RUNTIME_CALL(to_symbol(symbol, from, size, offset, kind, stream));
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return waited(cudaMemcpyToSymbolAsync(symbol, from, size, offset, kind, NULL));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RUNTIME_CALL(from_symbol(to, symbol, size, offset, kind, stream));
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    return waited(cudaMemcpyFromSymbolAsync(to, symbol, size, offset, kind, NULL));
}
