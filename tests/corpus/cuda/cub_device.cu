// CUB device-wide algorithms, reduce and scan: decoupled look-back kernels, policies, many template instances.
// KEEP: 90
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

void run(void *temp, size_t bytes, const int *in, int *out, const float *f, float *g, int n)
{
    cub::DeviceReduce::Sum(temp, bytes, in, out, n);
    cub::DeviceReduce::ArgMin(temp, bytes, f, g, out, n);
    cub::DeviceScan::ExclusiveSum(temp, bytes, in, out, n);
    cub::DeviceSelect::Flagged(temp, bytes, f, in, g, out, n);
}
