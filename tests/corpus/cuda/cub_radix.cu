// CUB device-wide radix sort: the onesweep kernels for one key type (very large functions).
// KEEP: 100
#include <cub/device/device_radix_sort.cuh>

void run(void *temp, size_t bytes, const unsigned *in, unsigned *out, int n)
{
    cub::DeviceRadixSort::SortKeys(temp, bytes, in, out, n);
}
