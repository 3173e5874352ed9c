/* The estimated GPU's time: copies over the link, streams side by side (cuda/timeline.h). Expected times are arithmetic on
 * the configuration: bytes / bandwidth + latency. */
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "cuda/driver.h"
#include "emu/gpu.h"
#include "model/estimate_cache.h"

#include <criterion/criterion.h>
#include <math.h>

enum { BYTES = 1 << 20 };

static const struct emu_gpu *gpu;
static CUcontext context;
static CUdeviceptr there, back;
static void *from, *to;
static CUstream streams[2];

#define OK(call) cr_assert_eq((call), CUDA_SUCCESS, "%s", #call)

static void set_up(void)
{
    gpu = emu_gpu_find("gv100");
    CUdevice device;
    cuda_device_configure(&(struct emu_config){
        .count = true, .caches = true, .trace = true, .threads = 1, .gpu = gpu});
    OK(cuInit(0));
    driver.reports.estimates = estimate_cache_new();
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate_v2(&context, 0, device));
    OK(cuMemAlloc(&there, BYTES));
    OK(cuMemAlloc(&back, BYTES));
    OK(cuMemAllocHost(&from, BYTES));
    OK(cuMemAllocHost(&to, BYTES));
    for (int i = 0; i < 2; i++) OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
}

static void tear_down(void)
{
    cuda_device_reset();
}

static double seconds(void)
{
    return driver.reports.timeline.sums.seconds;
}

static double of_copy(double bytes)
{
    return bytes / (gpu->link_bandwidth * 1e9) + gpu->link_latency * 1e-6;
}

#define EXPECT_SECONDS(want)                                                                       \
    cr_expect(fabs(seconds() - (want)) < 1e-12, "%.9g seconds, not %.9g", seconds(), (want))

/* 15.754 GB/s and 8 us: the figures of the file, once in numbers. */
Test(timeline, a_copy_takes_its_bytes_and_the_latency, .init = set_up, .fini = tear_down)
{
    OK(cuMemcpyHtoD(there, from, BYTES));
    cr_expect(fabs(seconds() - (1048576 / 15.754e9 + 8e-6)) < 1e-12, "%.9g", seconds());
}

Test(timeline, copies_of_one_stream_follow_each_other, .init = set_up, .fini = tear_down)
{
    OK(cuMemcpyHtoDAsync(there, from, BYTES, streams[0]));
    OK(cuMemcpyDtoHAsync(to, back, BYTES / 2, streams[0]));
    EXPECT_SECONDS(of_copy(BYTES) + of_copy(BYTES / 2));
}

Test(timeline, both_directions_overlap_in_two_streams, .init = set_up, .fini = tear_down)
{
    OK(cuMemcpyHtoDAsync(there, from, BYTES, streams[0]));
    OK(cuMemcpyDtoHAsync(to, back, BYTES / 2, streams[1]));
    EXPECT_SECONDS(of_copy(BYTES));
}

Test(timeline, one_direction_has_one_engine, .init = set_up, .fini = tear_down)
{
    OK(cuMemcpyHtoDAsync(there, from, BYTES, streams[0]));
    OK(cuMemcpyHtoDAsync(back, from, BYTES, streams[1]));
    EXPECT_SECONDS(2 * of_copy(BYTES));
}

Test(timeline, an_event_orders_two_streams, .init = set_up, .fini = tear_down)
{
    CUevent e;
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    OK(cuMemcpyHtoDAsync(there, from, BYTES, streams[0]));
    OK(cuEventRecord(e, streams[0]));
    OK(cuStreamWaitEvent(streams[1], e, 0));
    OK(cuMemcpyDtoHAsync(to, back, BYTES, streams[1]));
    EXPECT_SECONDS(2 * of_copy(BYTES));
}

Test(timeline, the_host_waits_for_a_stream, .init = set_up, .fini = tear_down)
{
    OK(cuMemcpyHtoDAsync(there, from, BYTES, streams[0]));
    OK(cuStreamSynchronize(streams[0]));
    OK(cuMemcpyDtoHAsync(to, back, BYTES, streams[1]));
    EXPECT_SECONDS(2 * of_copy(BYTES));
}

/* A fill writes its bytes; a copy inside the device reads them, too. */
Test(timeline, the_default_stream_waits_for_blocking_streams, .init = set_up, .fini = tear_down)
{
    CUstream blocking;
    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuMemcpyHtoDAsync(there, from, BYTES, blocking));
    OK(cuMemsetD8Async(there, 0, BYTES, NULL));
    OK(cuMemcpyDtoDAsync(back, there, BYTES, blocking));
    EXPECT_SECONDS(of_copy(BYTES) + 3.0 * BYTES / (gpu->dram_bandwidth * 1e9));
}

static const char spin[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry spin()\n{\n .reg .pred %p; .reg .b32 %r<2>; mov.u32 %r1, 0;\n"
    "loop: add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, 2000; @%p bra loop; ret;\n}\n";

/* A launch and a copy side by side take as long as the longer; events see it. */
Test(timeline, a_launch_hides_behind_a_copy, .init = set_up, .fini = tear_down)
{
    CUmodule module;
    CUfunction f;
    CUevent begin, end;
    float ms;
    OK(cuModuleLoadData(&module, spin));
    OK(cuModuleGetFunction(&f, module, "spin"));
    OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    OK(cuEventRecord(begin, streams[0]));
    OK(cuMemcpyHtoDAsync(there, from, BYTES, streams[0]));
    OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, streams[1], NULL, NULL));
    OK(cuEventRecord(end, streams[0]));
    const double launch = driver.reports.timeline.sums.busy[TIMELINE_SMS];
    cr_expect(launch > 0);
    EXPECT_SECONDS(fmax(launch, of_copy(BYTES)));
    OK(cuEventElapsedTime_v2(&ms, begin, end));
    cr_expect(fabs((double)ms * 1e-3 - of_copy(BYTES)) < 1e-9, "%g ms", (double)ms);
}

static struct event_operation logged[16];
static size_t logged_count;

static void log_operation(const struct event_operation *o)
{
    cr_assert(logged_count < 16);
    logged[logged_count++] = *o;
}

static void expect_operation(size_t i, enum operation_kind kind, double submitted, double begin,
                             double end, uint64_t bytes)
{
    const struct event_operation *o = &logged[i];
    cr_assert(i < logged_count);
    cr_expect(o->kind == kind && o->bytes == bytes, "%zu: kind %u, %llu bytes", i, o->kind,
              (unsigned long long)o->bytes);
    cr_expect(fabs(o->submitted - submitted) < 1e-12 && fabs(o->begin - begin) < 1e-12 &&
                  fabs(o->end - end) < 1e-12,
              "%zu: %g, %g to %g", i, o->submitted, o->begin, o->end);
}

/* Two streams copy down, where there is one engine; the first copies up beside the second; the host waits for the second. */
Test(timeline, each_operation_is_listed_with_its_times, .init = set_up, .fini = tear_down)
{
    const double down = of_copy(BYTES), up = of_copy(BYTES / 2);
    driver.reports.timeline.log = log_operation;
    OK(cuMemcpyHtoDAsync(there, from, BYTES, streams[0]));
    OK(cuMemcpyHtoDAsync(back, from, BYTES, streams[1]));
    OK(cuMemcpyDtoHAsync(to, there, BYTES / 2, streams[0]));
    OK(cuStreamSynchronize(streams[1]));
    OK(cuMemsetD8Async(there, 0, BYTES, streams[0]));
    expect_operation(0, OPERATION_TO_DEVICE, 0, 0, down, BYTES);
    expect_operation(1, OPERATION_TO_DEVICE, 0, down, 2 * down, BYTES);
    expect_operation(2, OPERATION_TO_HOST, 0, down, down + up, BYTES / 2);
    expect_operation(3, OPERATION_WAIT, 0, 0, 2 * down, 0);
    expect_operation(4, OPERATION_INSIDE, 2 * down, 2 * down,
                     2 * down + BYTES / (gpu->dram_bandwidth * 1e9), BYTES);
    cr_expect_eq(logged_count, 5);
    cr_expect(logged[0].stream != logged[1].stream && logged[0].stream == logged[2].stream &&
              logged[0].stream == logged[4].stream);
}
