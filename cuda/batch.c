/* Copies between contexts, which are all on the one device, and batches of copies. */
#include "cuda/driver.h"
#include "cuda/work.h"

static CUresult check_contexts(CUcontext a, CUcontext b)
{
    CUresult r = driver_begin_without();
    if (r == CUDA_SUCCESS && (!object_check(a, OBJECT_CONTEXT) || !object_check(b, OBJECT_CONTEXT)))
        r = CUDA_ERROR_INVALID_CONTEXT;
    return driver_end(r);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t size, CUstream stream)
{
    const CUresult r = check_contexts(to_context, from_context);
    return r == CUDA_SUCCESS ? cuMemcpyDtoDAsync(to, from, size, stream) : r;
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t size)
{
    return cuMemcpyPeerAsync(to, to_context, from, from_context, size, NULL);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *p, CUstream stream)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    const CUresult r = check_contexts(p->dstContext, p->srcContext);
    if (r != CUDA_SUCCESS) return r;
    CUDA_MEMCPY3D c; /* the contexts are where it has something reserved */
    _Static_assert(sizeof c == sizeof *p, "ABI");
    memcpy(&c, p, sizeof c);
    c.reserved0 = c.reserved1 = NULL;
    return cuMemcpy3DAsync(&c, stream);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *p)
{
    return cuMemcpy3DPeerAsync(p, NULL);
}

/* ---- many at once ----------------------------------------------------------------------------------------- */

static bool order_ok(CUmemcpySrcAccessOrder order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* Attributes hold from an index of a copy on; the first from the first copy on. */
static bool attributes_ok(const CUmemcpyAttributes *list, const size_t *from, size_t n,
                          size_t count)
{
    if (!list || !from || !n || n > count || from[0]) return false;
    for (size_t i = 0; i < n; i++) {
        if (!order_ok(list[i].srcAccessOrder) || list[i].flags > 1) return false;
        if (i && (from[i] <= from[i - 1] || from[i] >= count)) return false;
    }
    return true;
}

static CUmemcpySrcAccessOrder order_of(const CUmemcpyAttributes *list, const size_t *from, size_t n,
                                       size_t i)
{
    size_t k = 0;
    while (k + 1 < n && from[k + 1] <= i) k++;
    return list[k].srcAccessOrder;
}

/* Sources are read in the order of the stream, which any order of access but one allows. */
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attributes, size_t *indices, size_t n,
                               CUstream stream)
{
    CUresult r = CUDA_SUCCESS;
    if (!to || !from || !sizes || !count || !attributes_ok(attributes, indices, n, count))
        return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) {
        const bool now = order_of(attributes, indices, n, i) ==
                         CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
        if (!sizes[i]) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
        r = now ? copy_from_source_now(to[i], from[i], sizes[i], stream)
                : cuMemcpyAsync(to[i], from[i], sizes[i], stream);
    }
    return r;
}

struct operand { /* one side of a box, as CUDA_MEMCPY3D has it; x in bytes */
    CUmemorytype type;
    CUdeviceptr address;
    CUarray array;
    size_t x, y, z, pitch, rows;
};

/* Bytes of an element of an array; 1: of memory; 0: there is no such array. */
static size_t element_of(const CUmemcpy3DOperand *o)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    struct texture_memory m;
    if (o->type != CU_MEMCPY_OPERAND_TYPE_ARRAY) return 1;
    if (cuArray3DGetDescriptor(&d, o->op.array.array) != CUDA_SUCCESS ||
        !texture_format(d.Format, d.NumChannels, &m))
        return 0;
    return m.channels * m.bits / 8u;
}

static bool read_operand(const CUmemcpy3DOperand *o, size_t element, struct operand *out)
{
    switch (o->type) {
    case CU_MEMCPY_OPERAND_TYPE_POINTER:
        *out = (struct operand){.type = CU_MEMORYTYPE_UNIFIED,
                                .address = o->op.ptr.ptr,
                                .pitch = o->op.ptr.rowLength * element,
                                .rows = o->op.ptr.layerHeight};
        return o->op.ptr.ptr;
    case CU_MEMCPY_OPERAND_TYPE_ARRAY:
        *out = (struct operand){.type = CU_MEMORYTYPE_ARRAY,
                                .array = o->op.array.array,
                                .x = o->op.array.offset.x * element,
                                .y = o->op.array.offset.y,
                                .z = o->op.array.offset.z};
        return true;
    default: return false;
    }
}

static CUresult copy_operands(const CUDA_MEMCPY3D_BATCH_OP *op, CUstream stream)
{
    struct operand from, to;
    const size_t a = element_of(&op->src), b = element_of(&op->dst), element = a > 1 ? a : b;
    if (!a || !b || (a > 1 && b > 1 && a != b)) return CUDA_ERROR_INVALID_VALUE;
    if (!order_ok(op->srcAccessOrder) || op->flags > 1 || !read_operand(&op->src, element, &from) ||
        !read_operand(&op->dst, element, &to))
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY3D c = {.srcXInBytes = from.x,
                             .srcY = from.y,
                             .srcZ = from.z,
                             .srcMemoryType = from.type,
                             .srcDevice = from.address,
                             .srcArray = from.array,
                             .srcPitch = from.pitch,
                             .srcHeight = from.rows,
                             .dstXInBytes = to.x,
                             .dstY = to.y,
                             .dstZ = to.z,
                             .dstMemoryType = to.type,
                             .dstDevice = to.address,
                             .dstArray = to.array,
                             .dstPitch = to.pitch,
                             .dstHeight = to.rows,
                             .WidthInBytes = op->extent.width * element,
                             .Height = op->extent.height,
                             .Depth = op->extent.depth};
    return cuMemcpy3DAsync(&c, stream);
}

CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *list,
                                 unsigned long long flags, CUstream stream)
{
    CUresult r = CUDA_SUCCESS;
    if (!count || !list || flags) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) r = copy_operands(&list[i], stream);
    return r;
}
