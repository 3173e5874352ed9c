/* Fills: cuMemset*(). */
#include "cuda/queue.h"
#include "cuda/unordered.h"
#include "cuda/work.h"

CUresult fill_check(const CUDA_MEMSET_NODE_PARAMS *p)
{
    const unsigned width = p->elementSize;
    const uint64_t to = allocation_device_address(p->dst);
    if (width != 1 && width != 2 && width != 4) return CUDA_ERROR_INVALID_VALUE;
    if (to % width || (p->height > 1 && (p->pitch % width || p->pitch / width < p->width)))
        return CUDA_ERROR_INVALID_VALUE;
    if (p->width > SIZE_MAX / 4) return CUDA_ERROR_INVALID_VALUE;
    for (size_t y = 0; p->width && y < p->height; y++) {
        if (emu_has(driver.emu, to + y * p->pitch, p->width * width)) continue;
        allocation_say_outside("write", to + y * p->pitch, p->width * width);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult fill_execute(const CUDA_MEMSET_NODE_PARAMS *p)
{
    const size_t bytes = p->width * p->elementSize;
    const uint64_t to = allocation_device_address(p->dst);
    unordered_name("fill of %zu bytes", bytes * p->height);
    for (size_t y = 0; bytes && y < p->height; y++) {
        const uint64_t row = to + y * p->pitch;
        if (!emu_fill(driver.emu, row, &p->value, p->elementSize, p->width))
            return CUDA_ERROR_INVALID_VALUE;
        unordered_touch(row, bytes, TOUCHED_WRITE);
    }
    if (driver.reports.estimates)
        timeline_copy(&driver.reports.timeline, driver.config.gpu, bytes * p->height, TIMELINE_SMS);
    return CUDA_SUCCESS;
}

/* `waits`: where the host shares the memory, the call returns when it is filled. */
static CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned width, size_t count,
                     size_t rows, CUstream stream, bool waits)
{
    struct CUctx_st *c;
    struct work w;
    CUresult r = driver_begin_on(stream, &c);
    const CUDA_MEMSET_NODE_PARAMS p = {to, pitch, value, width, count, rows};
    if (r == CUDA_SUCCESS) r = work_fill(&w, c, &p);
    return stream_call(stream, r, c, &w, waits && host_shares(to));
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream)
{
    return fill(to, pitch, value, 1, width, height, stream, false);
}

CUresult cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream)
{
    return fill(to, pitch, value, 2, width, height, stream, false);
}

CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream)
{
    return fill(to, pitch, value, 4, width, height, stream, false);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    return fill(to, 0, value, 1, count, 1, stream, false);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    return fill(to, 0, value, 2, count, 1, stream, false);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    return fill(to, 0, value, 4, count, 1, stream, false);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count)
{
    return fill(to, 0, value, 1, count, 1, NULL, true);
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count)
{
    return fill(to, 0, value, 2, count, 1, NULL, true);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count)
{
    return fill(to, 0, value, 4, count, 1, NULL, true);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                         size_t height)
{
    return fill(to, pitch, value, 1, width, height, NULL, true);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                          size_t height)
{
    return fill(to, pitch, value, 2, width, height, NULL, true);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height)
{
    return fill(to, pitch, value, 4, width, height, NULL, true);
}
